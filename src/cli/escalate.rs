//! `assize escalate`: the items that a person should look at.

use std::path::PathBuf;

use anyhow::Context as _;
use assize_calibration::audit::result::{Escalation, Picked, Purpose};
use assize_calibration::audit::{EscalateConfig, escalate};

use super::measuring::{Measuring, measured};
use super::printer::{Form, Printer};
use super::render::{Format, render_escalation};
use super::status::{Failure, Status};
use super::values::count;

/// List the items that a person should look at
///
/// Items without a label whose label would tell most of the judge, and labels that the judges, steady and together, speak
/// against. Labels of ranked items are no random sample; --random adds items drawn by lot.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assize escalate judgements.csv --top 20
  assize escalate judgements.csv --top 30 --random 50 --csv > labels.csv
  assize audit judgements.csv --columns 'labels={file=labels.csv, item=item, label=label}'")]
pub(super) struct Args {
    /// Logs; - reads standard input
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<PathBuf>,
    /// Most items to label, and most labels to check
    #[arg(long, value_name = "N", value_parser = count::<usize>, default_value = "50")]
    top: usize,
    /// Items to label drawn by lot besides, for an unbiased part
    #[arg(long, value_name = "N", value_parser = count::<usize>, default_value = "0")]
    random: usize,
    /// Print a CSV file with an empty column for labels
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    #[command(flatten)]
    measuring: Measuring,
}

pub(super) fn run(mut args: Args, printer: &mut Printer) -> Result<Status, Failure> {
    let measures = args.measuring.resolve(printer)?;
    let how = EscalateConfig { top: args.top, random: args.random };
    let mut found = measured(&args.sources, &measures.columns, printer, |log| {
        escalate(log, &measures.config, &measures.gate, how)
    })?;
    env!("CARGO_PKG_VERSION").clone_into(&mut found.version);
    found.source = args.sources.iter().map(|source| source.display().to_string()).collect();
    if args.csv {
        printer.data(&csv(&found)?)?;
        for note in &found.notes {
            printer.note(&format!("note: {note}"));
        }
        return Ok(Status::Done);
    }
    match printer.form() {
        Form::Json => printer.data(&render_escalation(&found, Format::Json)?)?,
        Form::Text => printer.data(&render_escalation(&found, Format::Terminal)?)?,
    }
    Ok(Status::Done)
}

/// Returns the list as a table in which people write labels. Where labels are to be checked the old one stands beside.
pub(super) fn csv(found: &Escalation) -> Result<String, Failure> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut write = |row: [&str; 10]| writer.write_record(row).context("failed to write the list as CSV");
    write(["item", "dimension", "group", "label", "old_label", "purpose", "picked", "score", "why", "changes"])?;
    for item in &found.items {
        let text = |text: &'_ Option<String>| text.clone().unwrap_or_default();
        let purpose = if item.purpose == Purpose::Check { "check" } else { "label" };
        let picked = if item.picked == Picked::Random { "random" } else { "ranked" };
        let (dimension, group, label) = (text(&item.dimension), text(&item.group), text(&item.label));
        let score = format!("{:.4}", item.score);
        write([&item.item, &dimension, &group, "", &label, purpose, picked, &score, &item.why, &item.changes])?;
    }
    let bytes =
        writer.into_inner().map_err(|error| anyhow::anyhow!("{error}")).context("failed to write the list as CSV")?;
    Ok(String::from_utf8(bytes).context("failed to write the list as CSV")?)
}
