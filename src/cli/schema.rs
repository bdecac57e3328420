//! `assize schema`: JSON Schemas of the files that assize reads and writes, made from the types themselves.

use assize_calibration::audit::result::{Audit, Escalation, Look, Sentinel, SideBySide};
use assize_calibration::gate::Gate;
use assize_calibration::judgement::Judgement;
use assize_calibration::planning::result::Plan;
use clap::ValueEnum;

use super::printer::Printer;
use super::status::{Failure, Status};

/// Print the JSON Schema of a file that assize reads or writes
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assize schema audit > audit.schema.json
  assize schema log | jq '.properties | keys'")]
pub(super) struct Args {
    /// Which file
    #[arg(value_name = "WHAT")]
    what: What,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum What {
    /// report.json
    Audit,
    /// compare.json
    Compare,
    /// A line of the plain log
    Log,
    /// A gate file
    Gate,
    /// `plan --json`
    Plan,
    /// `escalate --json`
    Escalation,
    /// `sentinel --json`
    Sentinel,
    /// A line of the file of `audit --looks`
    Look,
    /// A line of `memory export`
    #[cfg(feature = "memory")]
    Experience,
}

pub(super) fn run(args: &Args, printer: &mut Printer) -> Result<Status, Failure> {
    let schema = match args.what {
        What::Audit => schemars::schema_for!(Audit),
        What::Compare => schemars::schema_for!(SideBySide),
        What::Log => schemars::schema_for!(Judgement<'_>),
        What::Gate => schemars::schema_for!(Gate),
        What::Plan => schemars::schema_for!(Plan),
        What::Escalation => schemars::schema_for!(Escalation),
        What::Sentinel => schemars::schema_for!(Sentinel),
        What::Look => schemars::schema_for!(Look),
        #[cfg(feature = "memory")]
        What::Experience => schemars::schema_for!(assize_memory::experience::Experience),
    };
    printer.data(&format!("{:#}\n", schema.to_value()))?;
    Ok(Status::Done)
}
