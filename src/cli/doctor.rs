//! `assize doctor`: what this build and this machine can do.

use std::num::ParseFloatError;
use std::path::PathBuf;

use assize_calibration::audit::{AuditConfig, BadSetting};
use serde_json::json;

use super::files::{Existing, OutDir, Pending};
use super::printer::{self, Form, Printer, env};
use super::reading::refused;
use super::status::{Failure, Status};
use super::values::seed;
use crate::config::{read_gate, read_settings};

/// Variables that change what assize does.
const VARIABLES: [&str; 6] =
    ["ASSIZE_CONFIG", "ASSIZE_GATE", "ASSIZE_LEVEL", "ASSIZE_SEED", "ASSIZE_STORE", "NO_COLOR"];

/// Check what this build and this machine can do
///
/// Checks the variables that audits obey and the files they name, and writes and removes a file in the directory asked about.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assize doctor
  assize doctor --out assize-report --json")]
pub(super) struct Args {
    /// Also check that a report can be written into this directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Returns an error where every audit would refuse the level.
fn check_level(value: &str) -> Result<(), String> {
    let level = value.parse().map_err(|_not_one: ParseFloatError| "must be a number, such as 0.95".to_owned())?;
    AuditConfig { level, ..AuditConfig::default() }.check().map_err(|BadSetting { must, .. }| must)
}

fn unfit(name: &str, value: &str, must: &str) -> Failure {
    Failure::usage(format!("{name}={value}: {must}")).help(format!("set it anew, or take it away with `unset {name}`"))
}

pub(super) fn run(args: &Args, printer: &mut Printer) -> Result<Status, Failure> {
    let variables: Vec<(&str, String)> =
        VARIABLES.into_iter().filter_map(|name| env(name).map(|value| (name, value))).collect();
    for (name, value) in &variables {
        let path = PathBuf::from(value);
        match *name {
            "ASSIZE_CONFIG" => drop(read_settings(&path).map_err(refused)?),
            "ASSIZE_GATE" => drop(read_gate(&path).map_err(refused)?),
            "ASSIZE_LEVEL" => check_level(value).map_err(|must| unfit(name, value, &must))?,
            "ASSIZE_SEED" => drop(seed(value).map_err(|must| unfit(name, value, &must))?),
            _ => {}
        }
    }
    if let Some(dir) = &args.out {
        let out = OutDir::open(dir, Existing::Keep)?;
        // Not finished, so that nothing remains.
        drop(Pending::with_text(&out.path("report.md"), "a test\n")?);
    }
    let n_threads = std::thread::available_parallelism().map_or(1, usize::from);
    let memory = cfg!(feature = "memory");
    let (parquet, colour, unicode, width) =
        (cfg!(feature = "parquet"), printer::colour(), printer::unicode(), printer::width());
    let version = env!("CARGO_PKG_VERSION");
    let text = match printer.form() {
        Form::Json => {
            let set: serde_json::Map<_, _> =
                variables.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
            let object = json!({
                "version": version,
                "features": { "memory": memory, "parquet": parquet },
                "threads": n_threads,
                "terminal": { "colour": colour, "unicode": unicode, "width": width },
                "variables": set,
                "out_writable": args.out.as_ref().map(|_| true),
            });
            format!("{object:#}\n")
        }
        Form::Text => {
            let yes_no = |yes| if yes { "yes" } else { "no" };
            let mut lines = vec![
                format!("assize {version}"),
                format!("reads Parquet: {}", yes_no(parquet)),
                format!("has a memory: {}", yes_no(memory)),
                format!("threads: {n_threads}"),
                format!("terminal: {width} columns, colour {}, unicode {}", yes_no(colour), yes_no(unicode)),
            ];
            lines.extend(variables.iter().map(|(name, value)| format!("{name}={value}")));
            lines.extend(args.out.iter().map(|dir| format!("{} can be written", dir.display())));
            lines.join("\n") + "\n"
        }
    };
    printer.data(&text)?;
    Ok(Status::Done)
}
