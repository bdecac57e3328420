//! `assize report`: an earlier result in another format.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use assize_calibration::audit::result::{
    Audit, COMPARE_SCHEMA, ESCALATION_SCHEMA, Escalation, SCHEMA as AUDIT_SCHEMA, SENTINEL_SCHEMA, Sentinel, SideBySide,
};
use assize_calibration::planning::result::{Plan, SCHEMA as PLAN_SCHEMA};
use assize_calibration::self_test::{SCHEMA as SELF_TEST_SCHEMA, SelfTest};
use clap::ValueEnum as _;
use serde_json::Value;

use super::files::{COMPARE_JSON, Pending, REPORT_JSON};
use super::printer::{Form, Printer};
use super::render::{
    Format, render, render_comparison, render_escalation, render_plan, render_self_test, render_sentinel,
};
use super::status::{Failure, Status};

/// Write an earlier result again, in another format
///
/// Reads what audit or compare wrote with --out, or what audit, compare, sentinel, plan, escalate or self-test printed with --json, and computes
/// nothing. The exit status says whether it was written, not what the verdict is.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assize report assize-report
  assize report assize-report --format md >> $GITHUB_STEP_SUMMARY
  assize report old/report.json --format html --out report.html
  assize report plan.json --format html --out plan.html")]
pub(super) struct Args {
    /// Directory that audit or compare wrote with --out, or a file of a result in JSON
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// Format to write; a plan has html, a list of items csv, neither has md or junit [default: terminal; json with --json]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// File to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// What an earlier run came to.
enum Earlier {
    Audit(Box<Audit>),
    Comparison(Box<SideBySide>),
    Sentinel(Box<Sentinel>),
    Plan(Box<Plan>),
    Escalation(Box<Escalation>),
    SelfTest(Box<SelfTest>),
}

/// The schemas of results, as `assize.audit/1`.
const SCHEMAS: [&str; 6] =
    [AUDIT_SCHEMA, COMPARE_SCHEMA, SENTINEL_SCHEMA, PLAN_SCHEMA, ESCALATION_SCHEMA, SELF_TEST_SCHEMA];

pub(super) fn run(args: &Args, printer: &mut Printer) -> Result<Status, Failure> {
    if printer.form() == Form::Json
        && let Some(format) = args.format.filter(|&format| format != Format::Json)
        && let Some(name) = format.to_possible_value()
    {
        let message = format!("--json and --format {} ask for two formats", name.get_name());
        return Err(Failure::usage(message).help("give one of them"));
    }
    let source = source_of(&args.run)?;
    let earlier = read(&source)?;
    let format = args.format.unwrap_or(match printer.form() {
        Form::Json => Format::Json,
        Form::Text => Format::Terminal,
    });
    let text = match &earlier {
        Earlier::Audit(audit) => render(audit, format)?,
        Earlier::Comparison(compared) => render_comparison(compared, format)?,
        Earlier::Sentinel(found) => render_sentinel(found, format)?,
        Earlier::Plan(plan) => render_plan(plan, format)?,
        Earlier::Escalation(found) => render_escalation(found, format)?,
        Earlier::SelfTest(result) => render_self_test(result, format)?,
    };
    match &args.out {
        Some(path) => {
            // The result is what the other forms are made from.
            let is_same = fs::canonicalize(path).is_ok_and(|out| fs::canonicalize(&source).is_ok_and(|s| s == out));
            if format != Format::Json && is_same {
                let message = format!("{} is the result itself", path.display());
                return Err(Failure::usage(message).help("write the other form to another file"));
            }
            Pending::with_text(path, &text)?.finish()?;
        }
        None => printer.data(&text)?,
    }
    Ok(Status::Done)
}

/// Returns the file that a run's directory or file stands for.
fn source_of(run: &Path) -> Result<PathBuf, Failure> {
    if !run.is_dir() {
        return Ok(run.to_path_buf());
    }
    let [audit, comparison] = [REPORT_JSON, COMPARE_JSON].map(|name| run.join(name));
    match (audit.exists(), comparison.exists()) {
        (true, true) => {
            let message = format!("{} holds an audit and a comparison", run.display());
            Err(Failure::usage(message).help(format!("name one: {} or {}", audit.display(), comparison.display())))
        }
        (false, true) => Ok(comparison),
        _ => Ok(audit),
    }
}

fn read(path: &Path) -> Result<Earlier, Failure> {
    let unread = || format!("failed to read {}", path.display());
    let help = "give the directory that `assize audit … --out DIR` or `assize compare … --out DIR` wrote, the file of a result in it, or what \
                a command printed with --json";
    let text = fs::read_to_string(path).with_context(unread).map_err(|error| Failure::from(error).help(help))?;
    // What the file says it is comes first: the shape of another schema would only be a riddle.
    let value: Value =
        serde_json::from_str(&text).with_context(unread).map_err(|error| Failure::from(error).help(help))?;
    let Some(schema) = value.get("schema").and_then(Value::as_str) else {
        return Err(Failure::usage(format!("{} is not a result of assize", path.display())).help(help));
    };
    let malformed = |error: serde_json::Error| {
        let message = format!("{} says that it is {schema}, and does not hold what that has", path.display());
        Failure::from(anyhow::Error::from(error).context(message)).help("it was changed or cut; make it again")
    };
    // From the text, whose numbers are then read once.
    let earlier = match schema {
        AUDIT_SCHEMA => Earlier::Audit(serde_json::from_str(&text).map_err(malformed)?),
        COMPARE_SCHEMA => Earlier::Comparison(serde_json::from_str(&text).map_err(malformed)?),
        SENTINEL_SCHEMA => Earlier::Sentinel(serde_json::from_str(&text).map_err(malformed)?),
        PLAN_SCHEMA => Earlier::Plan(serde_json::from_str(&text).map_err(malformed)?),
        ESCALATION_SCHEMA => Earlier::Escalation(serde_json::from_str(&text).map_err(malformed)?),
        SELF_TEST_SCHEMA => Earlier::SelfTest(serde_json::from_str(&text).map_err(malformed)?),
        other => return Err(unknown(path, other)),
    };
    Ok(earlier)
}

/// Returns the failure of a schema that this version does not read: of another version, or of nothing that can be rendered.
fn unknown(path: &Path, schema: &str) -> Failure {
    let family = |schema: &str| schema.split_once('/').map(|(family, _)| family.to_owned());
    let known = SCHEMAS.into_iter().find(|known| family(known) == family(schema));
    if let Some(known) = known {
        let message = format!("{} is of schema {schema}; this version reads {known}", path.display());
        return Failure::usage(message)
            .help("make it again with this version, or read it with the version that made it");
    }
    let message = format!("{} is of schema {schema}, which is none of a result of assize", path.display());
    Failure::usage(message).help(format!("known: {}", SCHEMAS.join(", ")))
}
