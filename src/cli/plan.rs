//! `assize plan`: how many items and answers a study takes, from a pilot or from assumptions.

use std::path::PathBuf;

use assize_calibration::audit::plan_study;
use assize_calibration::planning::assumed::{Assumed, BadAssumption};
use assize_calibration::planning::plan;
use assize_calibration::planning::result::{Costs, Plan, Wishes};

use super::files::{Pending, spare_inputs};
use super::measuring::{Measuring, measured};
use super::printer::{Form, Printer};
use super::render::{Format, render_plan};
use super::status::{Failure, Status};
use crate::config::nearest;

/// Plan a study: how many items, how often each, to decide the gate
///
/// From a pilot (a small log, audited as `assize audit` would) or from assumptions: the intervals to expect, the power of each limit
/// of the gate and of all together, the cheapest design that decides, and what a comparison of two judges takes.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assize plan pilot.csv --gate gate.toml
  assize plan pilot.csv --cost-label 2 --cost-call 0.01 --out plan.html
  assize plan --assume 'far=0.05, frr=0.1, icc=0.7'
  assize plan --assume 'far=0.05, frr=0.1, flip=0.05, items per group=4, right share=0.3'

Assumptions, shares from 0 to 1: far, frr, accuracy, flip, unparsed (rates of the judge); right share (of items
labelled right, 0.5); icc (of two answers to an item about its being right, 0.7; from flip where that is stated);
items per group (1); group icc (0.1).")]
pub(super) struct Args {
    /// The pilot's logs; - reads standard input
    #[arg(required_unless_present = "assume", value_name = "PILOT")]
    sources: Vec<PathBuf>,
    /// What to assume instead of a pilot: 'far=0.05, frr=0.1, icc=0.7'
    #[arg(long, value_name = "WHAT", conflicts_with = "sources")]
    assume: Option<String>,
    /// The chance with which all limits are to be decided together
    #[arg(long, value_name = "SHARE", default_value = "0.8", value_parser = power, allow_negative_numbers = true)]
    power: f64,
    /// What the label of one item costs [default: ten judgements]
    #[arg(long, value_name = "COST", value_parser = cost, allow_negative_numbers = true)]
    cost_label: Option<f64>,
    /// What one judgement costs [default: as the log's prices say, else 1]
    #[arg(long, value_name = "COST", value_parser = cost, allow_negative_numbers = true)]
    cost_call: Option<f64>,
    /// Write the plan as one HTML page with charts
    #[arg(long, value_name = "FILE.html")]
    out: Option<PathBuf>,
    #[command(flatten)]
    measuring: Measuring,
}

fn power(text: &str) -> Result<f64, String> {
    let power: f64 = text.trim().parse().map_err(|_not_one| "write a share such as 0.8".to_owned())?;
    if power > 0.0 && power < 1.0 {
        Ok(power)
    } else {
        Err("write a share above 0 and below 1, such as 0.8".to_owned())
    }
}

/// Costs beyond this, in whatever unit, are a slip.
const MOST_COST: f64 = 1e9;

fn cost(text: &str) -> Result<f64, String> {
    let cost: f64 = text.trim().parse().map_err(|_not_one| "write a number".to_owned())?;
    let is_cost = (0.0..=MOST_COST).contains(&cost) && (cost <= 0.0 || cost >= 1.0 / MOST_COST);
    if is_cost { Ok(cost) } else { Err("write 0, or a number from 0.000000001 to 1000000000".to_owned()) }
}

/// A label costs as much as so many judgements, where nothing is said.
const LABEL_PER_CALL: f64 = 10.0;

fn costs(args: &Args, price: Option<f64>) -> Costs {
    let price = price.filter(|price| *price > 0.0);
    let call = args.cost_call.or(price).unwrap_or(1.0);
    let label = args.cost_label.unwrap_or(LABEL_PER_CALL * call);
    let from = if args.cost_call.is_none() && price.is_some() { ", as the log’s prices say" } else { "" };
    let assumed = if args.cost_label.is_none() { " (assumed: ten judgements; --cost-label)" } else { "" };
    let basis = format!("a label costing {}{assumed} and a judgement {}{from}", short(label), short(call));
    Costs { label, call, basis }
}

/// Returns a cost to four significant digits: a mean of prices has no more to say.
fn short(cost: f64) -> f64 {
    format!("{cost:.3e}").parse().unwrap_or(cost)
}

pub(super) fn run(mut args: Args, printer: &mut Printer) -> Result<Status, Failure> {
    let measures = args.measuring.resolve(printer)?;
    if let Some(out) = &args.out {
        spare_inputs(std::slice::from_ref(out), &args.sources, &measures.columns, "write the plan to another file")?;
    }
    let wishes = |price| Wishes { level: measures.config.level, power: args.power, costs: costs(&args, price) };
    let mut planned: Plan = if let Some(text) = &args.assume {
        let pilot = assumptions(text)?
            .pilot(&measures.gate)
            .map_err(|BadAssumption { name, must }| Failure::usage(format!("--assume: {name} {must}")))?;
        plan(pilot, &wishes(None), &measures.gate.name)
    } else {
        measured(&args.sources, &measures.columns, printer, |log| {
            let price = (log.price.1 > 0).then(|| log.price.0 / log.price.1 as f64);
            plan_study(log, &measures.config, &measures.gate, &wishes(price))
        })?
    };
    planned.source = match &args.assume {
        Some(text) => vec![text.clone()],
        None => args.sources.iter().map(|source| source.display().to_string()).collect(),
    };
    env!("CARGO_PKG_VERSION").clone_into(&mut planned.version);
    if let Some(out) = &args.out {
        Pending::with_text(out, &render_plan(&planned, Format::Html)?)?.finish()?;
    }
    match printer.form() {
        Form::Json => printer.data(&render_plan(&planned, Format::Json)?)?,
        Form::Text => printer.data(&render_plan(&planned, Format::Terminal)?)?,
    }
    if let Some(out) = &args.out {
        printer.note(&format!("plan: {}", out.display()));
    }
    Ok(Status::Done)
}

/// Reads `far=0.05, items per group=4`.
fn assumptions(text: &str) -> Result<Assumed, Failure> {
    const KEYS: [&str; 9] =
        ["far", "frr", "accuracy", "flip", "unparsed", "right_share", "icc", "group_icc", "items_per_group"];
    let mut assumed = Assumed::default();
    let mut seen: Vec<String> = Vec::new();
    for part in text.split([',', ';']).map(str::trim).filter(|part| !part.is_empty()) {
        let refused = |why: String| Failure::usage(format!("--assume: {why}"));
        let (name, value) = part
            .split_once('=')
            .ok_or_else(|| refused(format!("`{part}` is no assumption")).help("write name=value, such as far=0.05"))?;
        let key = name.trim().to_lowercase().replace([' ', '-'], "_");
        let number: f64 =
            value.trim().parse().map_err(|_not_one| refused(format!("`{}` is no number", value.trim())))?;
        if seen.contains(&key) {
            return Err(refused(format!("{} is stated twice", name.trim())));
        }
        match key.as_str() {
            "far" | "false_accept_rate" => assumed.far = Some(number),
            "frr" | "false_reject_rate" => assumed.frr = Some(number),
            "accuracy" => assumed.accuracy = Some(number),
            "flip" | "flip_rate" => assumed.flip = Some(number),
            "unparsed" | "unparsed_rate" => assumed.unparsed = Some(number),
            "right_share" => assumed.right_share = number,
            "icc" => assumed.icc = Some(number),
            "group_icc" => assumed.group_icc = number,
            "items_per_group" => assumed.items_per_group = number,
            other => {
                let failure = refused(format!("`{}` is nothing that can be assumed", name.trim()));
                let known = KEYS.map(|key| key.replace('_', " ")).join(", ");
                return Err(match nearest(other, KEYS) {
                    Some(meant) => failure.help(format!("did you mean `{}`?", meant.replace('_', " "))),
                    None => failure.help(format!("known: {known}")),
                });
            }
        }
        seen.push(key);
    }
    Ok(assumed)
}
