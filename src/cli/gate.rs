//! `assize gate`: the limits a judge must keep, to read, save and check.

use std::fmt::Write as _;
use std::path::PathBuf;

use assize_calibration::audit::catalogue::{Better, Family, MEASURES, MeasureInfo, Unit};
use assize_calibration::gate::Gate;
use serde_json::json;

use super::printer::{Form, Printer};
use super::reading::refused;
use super::status::{Failure, Status};
use crate::config::{built_in_gate_text, gate_text, read_gate};

/// Print the built-in gate, check a gate file, or list what can be limited
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assize gate > gate.toml
  assize gate gate.toml
  assize gate --measures")]
pub(super) struct Args {
    /// Gate file to check and print as it is understood [default: the built-in gate]
    #[arg(value_name = "FILE.toml", conflicts_with = "measures")]
    file: Option<PathBuf>,
    /// List the measures with what they say
    #[arg(long)]
    measures: bool,
}

pub(super) fn run(args: &Args, printer: &mut Printer) -> Result<Status, Failure> {
    let text = match (args.measures, &args.file, printer.form()) {
        (true, _, Form::Text) => measures_text(),
        (true, _, Form::Json) => measures_json(),
        (false, Some(path), Form::Text) => gate_text(&read_gate(path).map_err(refused)?),
        (false, Some(path), Form::Json) => gate_json(&read_gate(path).map_err(refused)?),
        (false, None, Form::Text) => built_in_gate_text(),
        (false, None, Form::Json) => gate_json(&Gate::built_in()),
    };
    printer.data(&text)?;
    Ok(Status::Done)
}

fn gate_json(gate: &Gate) -> String {
    format!("{:#}\n", json!(gate))
}

fn family(info: &MeasureInfo) -> &'static str {
    match info.family {
        Family::Parsing => "parsing",
        Family::Stability => "stability",
        Family::Position => "position",
        Family::Bias => "bias",
        Family::Truth => "truth",
        Family::Scale => "scale",
        Family::People => "people",
    }
}

fn unit(info: &MeasureInfo) -> &'static str {
    match info.unit {
        Unit::Share => "share",
        Unit::Points => "points",
        Unit::Coefficient => "coefficient",
        Unit::Loss => "loss",
    }
}

fn better(info: &MeasureInfo) -> String {
    match info.better {
        Better::Higher => "higher is better".to_owned(),
        Better::Lower => "lower is better".to_owned(),
        Better::Near(value) => format!("best near {value}"),
    }
}

fn measures_text() -> String {
    let mut text = String::new();
    let mut line = |line: std::fmt::Arguments<'_>| {
        let _infallible = writeln!(text, "{line}");
    };
    let mut last_family = None;
    for info in MEASURES {
        if last_family != Some(info.family) {
            let gap = if last_family.is_some() { "\n" } else { "" };
            line(format_args!("{gap}{}", family(info)));
            last_family = Some(info.family);
        }
        line(format_args!("  {} ({}, {})", info.id, unit(info), better(info)));
        line(format_args!("      {}", info.explanation));
        if let Some(reason) = info.ungatable {
            line(format_args!("      No limit can be set on it: {reason}."));
        }
    }
    text
}

fn measures_json() -> String {
    let measures: Vec<_> = MEASURES
        .iter()
        .map(|info| {
            json!({
                "id": info.id,
                "title": info.title,
                "explanation": info.explanation,
                "family": family(info),
                "unit": unit(info),
                "better": better(info),
                "ungatable": info.ungatable,
            })
        })
        .collect();
    format!("{:#}\n", json!(measures))
}
