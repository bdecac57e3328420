//! `assize memory add`: one experience, from flags or as JSON.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use assize_memory::entry::Entry;
use assize_memory::exchange::{MAX_LINE_BYTES, from_line};
use assize_memory::experience::{Evidence, Experience, Issue, Origin, Severity, Trust};
use assize_memory::store::{Added, Opening};
use assize_memory::time::Time;
use serde_json::{Value, json};

use super::{Place, refused, severity, source, trust};
use crate::cli::printer::{Form, Printer};
use crate::cli::status::{Failure, Status};

/// Add one experience
///
/// What is there already is not added again. Texts that look like keys (sk-…, AKIA…, ghp_…, private keys, passwords in
/// URLs) are replaced before anything is written, and that is said.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assize memory add --dimension clarity --description 'no example' --fix 'add one' --task 'write a guide'
  assize memory add --dimension 准确性 --description 数字错误 --fix 核对来源 --task 周报 --trust person
  echo '{\"issue\":{\"dimension\":\"clarity\",\"severity\":\"low\",\"description\":\"no example\"},
    \"fix\":\"add one\",\"origin\":{\"task\":\"write a guide\"}}' | assize memory add -

`assize schema experience` describes the JSON; `time` may be left out of it.")]
pub(in crate::cli) struct Args {
    /// File with the experience as one JSON object, instead of flags; - reads standard input
    #[arg(value_name = "FILE.json", conflicts_with = "Flags")]
    source: Option<PathBuf>,
    #[command(flatten)]
    flags: Flags,
}

#[derive(Debug, clap::Args)]
#[group(id = "Flags", multiple = true)]
struct Flags {
    /// Quality that was wanting, such as clarity
    #[arg(long, value_name = "NAME", required_unless_present = "source", help_heading = "Issue")]
    dimension: Option<String>,
    /// How much it matters
    #[arg(long, value_name = "WORD", value_parser = severity(), default_value = "medium", help_heading = "Issue")]
    severity: Severity,
    /// What was wrong
    #[arg(long, value_name = "TEXT", required_unless_present = "source", help_heading = "Issue")]
    description: Option<String>,
    /// Where it was
    #[arg(long, value_name = "TEXT", help_heading = "Issue")]
    location: Option<String>,
    /// What the judge proposed
    #[arg(long, value_name = "TEXT", help_heading = "Issue")]
    suggestion: Option<String>,
    /// What mended it
    #[arg(long, value_name = "TEXT", required_unless_present = "source", help_heading = "Fix")]
    fix: Option<String>,
    /// File with the text before the fix
    #[arg(long, value_name = "FILE", help_heading = "Fix")]
    before: Option<PathBuf>,
    /// File with the text after the fix
    #[arg(long, value_name = "FILE", help_heading = "Fix")]
    after: Option<PathBuf>,
    /// What shows that it helped
    #[arg(long, value_name = "TEXT", help_heading = "Evidence")]
    evidence: Option<String>,
    /// Score before the fix
    #[arg(long, value_name = "SCORE", allow_hyphen_values = true, help_heading = "Evidence")]
    score_before: Option<f64>,
    /// Score after the fix
    #[arg(long, value_name = "SCORE", allow_hyphen_values = true, help_heading = "Evidence")]
    score_after: Option<f64>,
    /// Who says so
    #[arg(long, value_name = "WHO", value_parser = trust(), default_value = "model", help_heading = "Evidence")]
    trust: Trust,
    /// What was to be done
    #[arg(long, value_name = "TEXT", required_unless_present = "source", help_heading = "Origin")]
    task: Option<String>,
    /// Kind of task, such as api-docs
    #[arg(long, value_name = "NAME", help_heading = "Origin")]
    family: Option<String>,
    /// Loop that met the issue
    #[arg(long = "loop", value_name = "ID", help_heading = "Origin")]
    loop_id: Option<String>,
    /// Round of the loop
    #[arg(long, value_name = "N", help_heading = "Origin")]
    round: Option<u32>,
    /// Model that made the text
    #[arg(long, value_name = "NAME", help_heading = "Origin")]
    model: Option<String>,
    /// When it was made, as 2026-11-30T20:53:32Z [default: now]
    #[arg(long, value_name = "TIME", help_heading = "Origin")]
    time: Option<Time>,
    /// Short name to find it by; may be given several times
    #[arg(long = "tag", value_name = "NAME", help_heading = "Origin")]
    tags: Vec<String>,
}

pub(super) fn run(args: Args, place: &Place, printer: &mut Printer) -> Result<Status, Failure> {
    let entry = match args.source {
        Some(path) => from_json(&path)?,
        None => Entry::new(from_flags(args.flags)?).context("failed to add the experience")?,
    };
    let mut store = place.open(Opening::Create, printer)?;
    let added = store.add(std::slice::from_ref(&entry)).map_err(refused)?[0];
    let digest = entry.digest().to_string();
    match printer.form() {
        Form::Json => {
            let object = json!({ "digest": digest, "added": added, "redacted": entry.redactions() });
            printer.data(&format!("{object:#}\n"))?;
        }
        Form::Text => {
            for redaction in entry.redactions() {
                printer.note(&format!("warning: {redaction}"));
            }
            let said = match added {
                Added::New => "added",
                Added::AlreadyThere => "already there:",
            };
            printer.summary(&format!("{said} {}\n", &digest[..super::read::SHORT_DIGEST]))?;
        }
    }
    Ok(Status::Done)
}

fn from_flags(flags: Flags) -> Result<Experience, Failure> {
    let text = |path: Option<PathBuf>| path.as_deref().map(read_text).transpose();
    let stated = |text: Option<String>| text.expect("clap asks for it where no file is given");
    Ok(Experience {
        time: flags.time.map_or_else(now, Ok)?,
        trust: flags.trust,
        issue: Issue {
            dimension: stated(flags.dimension),
            location: flags.location,
            severity: flags.severity,
            description: stated(flags.description),
            suggestion: flags.suggestion,
        },
        fix: stated(flags.fix),
        before: text(flags.before)?,
        after: text(flags.after)?,
        evidence: Evidence { text: flags.evidence, score_before: flags.score_before, score_after: flags.score_after },
        origin: Origin {
            task: stated(flags.task),
            task_family: flags.family,
            loop_id: flags.loop_id,
            round: flags.round,
            model: flags.model,
        },
        tags: BTreeSet::from_iter(flags.tags),
    })
}

/// Reads one JSON object, whose time may be missing.
fn from_json(path: &Path) -> Result<Entry, Failure> {
    let (text, name) = read_limited(path)?;
    let failed = || format!("failed to understand {name}");
    let help = |error| {
        Failure::from(error).help("`assize schema experience` says what is expected; `assize memory import` takes many")
    };
    let value: Value = serde_json::from_str(&text).with_context(failed).map_err(help)?;
    let text = match value.as_object().filter(|object| !object.contains_key("time")) {
        Some(object) => with_time(&text, object.is_empty())?,
        None => text,
    };
    from_line(text.as_bytes()).with_context(failed).map_err(help)
}

/// Adds the time to the text of a JSON object. The text stays, since a key that stands twice in it must be seen.
fn with_time(object: &str, is_empty: bool) -> Result<String, Failure> {
    let fields = object.trim_end().strip_suffix('}').expect("the text of an object ends with a brace");
    let comma = if is_empty { "" } else { "," };
    Ok(format!("{fields}{comma}\"time\":{}}}", json!(now()?)))
}

fn read_text(path: &Path) -> Result<String, Failure> {
    Ok(read_limited(path)?.0)
}

/// Returns the text of a source and how it is called.
fn read_limited(path: &Path) -> Result<(String, String), Failure> {
    let (input, name) = source(path)?;
    let mut text = String::new();
    let n_read =
        input.take(MAX_LINE_BYTES + 1).read_to_string(&mut text).with_context(|| format!("failed to read {name}"))?;
    if n_read as u64 > MAX_LINE_BYTES {
        return Err(
            Failure::usage(format!("{name} is longer than {MAX_LINE_BYTES} bytes")).help("cut it to what matters")
        );
    }
    Ok((text, name))
}

/// Returns what time it is.
#[expect(clippy::disallowed_methods, reason = "the command line reads the clock so that nothing below it does")]
fn now() -> Result<Time, Failure> {
    let since_1970 = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).ok();
    let unix_ms = since_1970.and_then(|since_1970| i64::try_from(since_1970.as_millis()).ok());
    unix_ms
        .and_then(Time::from_unix_ms)
        .ok_or_else(|| Failure::usage("the clock of this machine is not set").help("say the time with --time"))
}
