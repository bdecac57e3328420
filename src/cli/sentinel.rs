//! `assize sentinel`: whether a judge still answers the same items as it did.

use std::path::PathBuf;

use assize_calibration::audit::result::{Sentinel, Steadiness};
use assize_calibration::audit::{SentinelConfig, sentinel};

use super::basics::{Basics, names};
use super::compare::{Flags, failed, sides, sources_of};
use super::printer::{Form, Printer};
use super::progress::{Gauge, Progress};
use super::reading;
use super::render::{Format, render_sentinel};
use super::status::{Failure, Status};

/// Notice that a judge has changed, from the same items judged again
///
/// Holds new answers to fixed items against a baseline of the same items: whether the answers changed by more than the judge's own noise, on the
/// whole and item by item, and whether what may have changed lies within a margin. It says nothing of other items: that is what audit and
/// compare are for. Items asked at least twice, both times, tell most.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assize sentinel baseline.csv today.csv
  assize sentinel baseline.csv today.csv --margin 0.03 --md >> summary.md
  assize sentinel runs.jsonl --before gpt-4o:march --now gpt-4o:april

Exit status: 0 unchanged, 1 changed, 2 undecided, 3 they could not be compared.")]
pub(super) struct Args {
    /// Log of the baseline; - reads standard input
    #[arg(value_name = "BASELINE")]
    first: PathBuf,
    /// Log of the same items judged again [default: the baseline's, with --before and --now]
    #[arg(value_name = "NEW")]
    second: Option<PathBuf>,
    /// Who is meant in the baseline: a judge, an arm, or judge:arm [default: the only one]
    #[arg(long, value_name = "NAME", help_heading = "What to compare")]
    before: Option<String>,
    /// Who is meant in the new log
    #[arg(long, value_name = "NAME", help_heading = "What to compare")]
    now: Option<String>,
    /// Changes up to this share (of the scale's width, for scores) do not matter
    #[arg(
        long,
        value_name = "SHARE",
        default_value = "0.05",
        allow_negative_numbers = true,
        help_heading = "How to decide"
    )]
    margin: f64,
    /// Print Markdown, for a comment
    #[arg(long, conflicts_with = "json")]
    md: bool,
    #[command(flatten)]
    basics: Basics,
}

const FLAGS: Flags = Flags { name: ["--before", "--now"], who: "A is the baseline and B the new log; " };

pub(super) fn run(args: Args, printer: &mut Printer) -> Result<Status, Failure> {
    let mut layers = args.basics.layers(printer)?;
    // Who is meant is said by --before and --now.
    (layers.audit.judge, layers.audit.arm) = (None, None);
    layers.check()?;
    let (config, columns) = (layers.audit, layers.columns);
    let sources = sources_of(args.first, args.second);
    let (sides, readings) = sides(&sources, args.before, args.now, FLAGS, &columns, printer)?;
    let progress = Progress::start(printer, "comparing".to_owned(), Gauge::default());
    let found = sentinel(sides, &config, &SentinelConfig { margin: args.margin });
    drop(progress);
    let read: Vec<_> = readings.into_iter().flat_map(|reading| reading.problems.into_vec()).collect();
    let mut found = match found {
        Ok(found) => found,
        Err(error) => {
            reading::tell(&read, printer);
            return Err(failed(error, FLAGS).with_problems(read));
        }
    };
    found.problems.splice(0..0, read);
    reading::tell(&found.problems, printer);
    env!("CARGO_PKG_VERSION").clone_into(&mut found.version);
    let files = names(&sources);
    found.before.source.files = files.iter().take(1).cloned().collect();
    found.now.source.files = files.last().cloned().into_iter().collect();
    print(&found, args.md, printer)?;
    Ok(match found.steadiness {
        Steadiness::Unchanged => Status::Done,
        Steadiness::Changed => Status::Unfit,
        Steadiness::Undecided => Status::Inconclusive,
    })
}

fn print(found: &Sentinel, is_markdown: bool, printer: &mut Printer) -> Result<(), Failure> {
    match printer.form() {
        Form::Json => printer.data(&render_sentinel(found, Format::Json)?),
        Form::Text if is_markdown => printer.data(&render_sentinel(found, Format::Md)?),
        Form::Text => printer.summary(&render_sentinel(found, Format::Terminal)?),
    }
}
