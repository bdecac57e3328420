//! `assize report`: an earlier audit in another format.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use assize_calibration::audit::result::{Audit, SCHEMA};
use clap::ValueEnum as _;

use super::files::{Pending, REPORT_JSON};
use super::printer::{Form, Printer};
use super::render::{Format, render};
use super::status::{Failure, Status};

/// Write an earlier audit again, in another format
///
/// Reads report.json and computes nothing. The exit status says whether it was written, not what the verdict is.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assize report assize-report
  assize report assize-report --format md >> $GITHUB_STEP_SUMMARY
  assize report old/report.json --format html --out report.html")]
pub(super) struct Args {
    /// Directory that audit wrote with --out, or the report.json in it
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// Format to write [default: terminal; json with --json]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// File to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(super) fn run(args: &Args, printer: &mut Printer) -> Result<Status, Failure> {
    if printer.form() == Form::Json
        && let Some(format) = args.format.filter(|&format| format != Format::Json)
        && let Some(name) = format.to_possible_value()
    {
        let message = format!("--json and --format {} ask for two formats", name.get_name());
        return Err(Failure::usage(message).help("give one of them"));
    }
    let audit = read(&args.run)?;
    let format = args.format.unwrap_or(match printer.form() {
        Form::Json => Format::Json,
        Form::Text => Format::Terminal,
    });
    let text = render(&audit, format)?;
    match &args.out {
        Some(path) => {
            // The report is what the other forms are made from.
            let same = |source: &Path| {
                fs::canonicalize(path).is_ok_and(|out| fs::canonicalize(source).is_ok_and(|s| s == out))
            };
            if format != Format::Json && same(&source_of(&args.run)) {
                let message = format!("{} is the report itself", path.display());
                return Err(Failure::usage(message).help("write the other form to another file"));
            }
            Pending::with_text(path, &text)?.finish()?;
        }
        None => printer.data(&text)?,
    }
    Ok(Status::Done)
}

/// Returns the `report.json` that a run's directory or file stands for.
fn source_of(run: &Path) -> PathBuf {
    if run.is_dir() { run.join(REPORT_JSON) } else { run.to_path_buf() }
}

fn read(run: &Path) -> Result<Audit, Failure> {
    let path = source_of(run);
    let unread = || format!("failed to read {}", path.display());
    let help = "give the directory that `assize audit … --out DIR` wrote, or the report.json in it";
    let text = fs::read_to_string(&path).with_context(unread).map_err(|error| Failure::from(error).help(help))?;
    // What the file says it is comes first: the shape of another schema would only be a riddle.
    let value: serde_json::Value =
        serde_json::from_str(&text).with_context(unread).map_err(|error| Failure::from(error).help(help))?;
    match value.get("schema").and_then(serde_json::Value::as_str) {
        Some(SCHEMA) => {}
        Some(other) => {
            let message = format!("{} is of schema {other}; this version reads {SCHEMA}", path.display());
            return Err(Failure::usage(message).help("audit the log again with this version"));
        }
        None => {
            return Err(Failure::usage(format!("{} is not a report of assize", path.display())).help(help));
        }
    }
    let audit = serde_json::from_str(&text).with_context(unread)?;
    Ok(audit)
}
