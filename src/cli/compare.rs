//! `assize compare`: two judges on the same items, and whether the second may take the first one's place.

use std::path::{Path, PathBuf};

use assize_calibration::audit::result::{SideBySide, Source, Standing};
use assize_calibration::audit::{CompareError, Side, Sides, compare_sides};

use super::basics::{Basics, Layers, given, names, number};
use super::files::{COMPARE_FILES, Existing, OutDir, Pending, spare_inputs};
use super::printer::{Form, Printer};
use super::progress::{Gauge, Progress};
use super::reading::{self, Reading, read_sources};
use super::render::{Format, render_comparison};
use super::status::{Failure, Status};
use super::values::costs;
use crate::formats::Collector;
use crate::formats::columns::ColumnMap;

/// Say whether one judge may take another's place
///
/// Compares two judges, or two versions of one, on the items both judged: every measure that both have, item by item, with
/// the interval of the difference. B is better, worse, equivalent (the difference lies within a margin that does not
/// matter) or undecided, and then it is said how many more items would decide.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assize compare old.csv new.csv
  assize compare runs.jsonl --a gpt-4o --b gpt-4.1 --out comparison
  assize compare log.csv --a judge:0-shot --b judge:2-shot --margin 0.03
  assize compare old.csv new.csv --primary accuracy,flip_rate

Settings, the upper one counting: flags; the variables named above; the file given with --config,
which may hold [audit], [columns] and [compare]; what is built in.

Exit status: 0 B is better or equivalent, 1 B is worse, 2 undecided, 3 they could not be compared.")]
pub(super) struct Args {
    /// Log of A, the judge that is there already; - reads standard input
    #[arg(value_name = "A")]
    first: PathBuf,
    /// Log of B, the judge that might replace it [default: A's log, with --a and --b]
    #[arg(value_name = "B")]
    second: Option<PathBuf>,
    /// Who A is: a judge, an arm, or judge:arm [default: the only one in its log]
    #[arg(long, value_name = "NAME", help_heading = "What to compare")]
    a: Option<String>,
    /// Who B is
    #[arg(long, value_name = "NAME", help_heading = "What to compare")]
    b: Option<String>,
    #[command(flatten)]
    basics: Basics,
    /// Write compare.html, compare.md, compare.json and junit.xml into this directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Write into a directory that holds something else
    #[arg(long, requires = "out")]
    force: bool,
    /// What a false accept and a false reject cost, as 5:1
    #[arg(long, value_name = "FA:FR", value_parser = costs, allow_hyphen_values = true, help_heading = "How to measure")]
    costs: Option<[f64; 2]>,
    /// Measures that the decision rests on, with commas between [default: by the labels there are]
    #[arg(long, value_name = "MEASURES", value_delimiter = ',', help_heading = "How to decide")]
    primary: Vec<String>,
    /// Differences up to this share (of the scale's width, for scores) do not matter [default: 0.02]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, help_heading = "How to decide")]
    margin: Option<f64>,
    /// The same for coefficients such as kappa [default: 0.05]
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true, help_heading = "How to decide")]
    coefficient_margin: Option<f64>,
    /// Give up on rows that cannot be read or contradict each other
    #[arg(long)]
    strict: bool,
}

/// The flags by which a command names its two sides, and what to say of who they are.
#[derive(Clone, Copy)]
pub(super) struct Flags {
    pub(super) name: [&'static str; 2],
    /// Before the help of an error that calls them A and B; may be empty.
    pub(super) who: &'static str,
}

const FLAGS: Flags = Flags { name: ["--a", "--b"], who: "" };

/// Lays the flags over the settings.
fn layers(args: &Args, printer: &Printer) -> Result<Layers, Failure> {
    let mut layers = args.basics.layers(printer)?;
    layers.audit.costs = args.costs.or(layers.audit.costs);
    // Who is meant is said by --a and --b.
    (layers.audit.judge, layers.audit.arm) = (None, None);
    let compare = &mut layers.compare;
    compare.margin = args.margin.unwrap_or(compare.margin);
    compare.coefficient_margin = args.coefficient_margin.unwrap_or(compare.coefficient_margin);
    if !args.primary.is_empty() {
        compare.primary.clone_from(&args.primary);
    }
    layers.check()?;
    Ok(layers)
}

pub(super) fn run(args: Args, printer: &mut Printer) -> Result<Status, Failure> {
    let options = deciding(&args);
    let layers = layers(&args, printer)?;
    let Args { first, second, a, b, out, force, strict, .. } = args;
    let sources = sources_of(first, second);
    if let Some(dir) = &out {
        let files = COMPARE_FILES.map(|name| dir.join(name));
        spare_inputs(&files, &sources, &layers.columns, "choose another directory with --out")?;
    }
    let existing = if force { Existing::Replace } else { Existing::Keep };
    let out = out.as_deref().map(|dir| OutDir::open(dir, existing)).transpose()?;
    let (sides, readings) = sides(&sources, a, b, FLAGS, &layers.columns, printer)?;
    let progress = Progress::start(printer, "comparing".to_owned(), Gauge::default());
    let compared = compare_sides(sides, &layers.audit, &layers.compare);
    drop(progress);
    let mut compared = match compared {
        Ok(compared) => compared,
        Err(error) => {
            // What is wrong with the rows is likely to be why.
            let problems: Vec<_> = readings.into_iter().flat_map(|reading| reading.problems.into_vec()).collect();
            reading::tell(&problems, printer);
            return Err(failed(error, FLAGS).with_problems(problems));
        }
    };
    complete(&mut compared, &sources, &options, readings);
    if strict {
        reading::strict(&compared.problems)?;
    }
    reading::tell(&compared.problems, printer);
    if let Some(out) = &out {
        write_files(out, &compared, printer)?;
    }
    match printer.form() {
        Form::Json => printer.data(&render_comparison(&compared, Format::Json)?)?,
        Form::Text => printer.summary(&render_comparison(&compared, Format::Terminal)?)?,
    }
    match (&out, printer.form()) {
        (Some(out), Form::Text) => {
            printer.summary(&format!("report: {}\n", out.absolute("compare.html").display()))?;
        }
        (Some(out), Form::Json) => printer.note(&format!("report: {}", out.absolute("compare.html").display())),
        (None, Form::Text) => printer.note("add --out DIR for the HTML report"),
        (None, Form::Json) => {}
    }
    Ok(match compared.standing {
        Standing::Better | Standing::Equivalent => Status::Done,
        Standing::Worse => Status::Unfit,
        Standing::Undecided | Standing::Different => Status::Inconclusive,
    })
}

/// Returns the logs given.
pub(super) fn sources_of(first: PathBuf, second: Option<PathBuf>) -> Vec<PathBuf> {
    [first].into_iter().chain(second).collect()
}

/// Reads both sides, each from its log or both from one.
pub(super) fn sides(
    sources: &[PathBuf],
    a: Option<String>,
    b: Option<String>,
    flags: Flags,
    columns: &ColumnMap,
    printer: &Printer,
) -> Result<(Sides, Vec<Reading>), Failure> {
    let read = |source: &Path| {
        let mut collector = Collector::default();
        let reading = read_sources(&[source.to_path_buf()], columns, &mut collector, printer)?;
        Ok::<_, Failure>((collector.log, reading))
    };
    match sources {
        [first, second] => {
            if [first, second].into_iter().all(|source| source == Path::new("-")) {
                return Err(Failure::usage("standard input can be read only once").help("give `-` once"));
            }
            let ((log_a, reading_a), (log_b, reading_b)) = (read(first)?, read(second)?);
            let sides = Sides::Apart(Box::new(Side { log: log_a, name: a }), Box::new(Side { log: log_b, name: b }));
            Ok((sides, vec![reading_a, reading_b]))
        }
        [only, ..] => {
            let (Some(a), Some(b)) = (a, b) else {
                let message = "one log was given, and not which two in it are to be compared";
                let [first, second] = flags.name;
                return Err(Failure::usage(message).help(format!(
                    "name them with {first} and {second} (a judge, an arm, or judge:arm), or give the log of the second"
                )));
            };
            let (log, reading) = read(only)?;
            Ok((Sides::Together(Box::new(log), a, b), vec![reading]))
        }
        [] => Err(Failure::usage("no log was given")),
    }
}

pub(super) fn failed(error: CompareError, flags: Flags) -> Failure {
    let help = match &error {
        CompareError::Several { side, .. } | CompareError::Unknown { side, .. } | CompareError::Ambiguous { side, .. } => {
            let [first, second] = flags.name;
            Some(format!("name it with {}", if *side == 'A' { first } else { second }))
        }
        CompareError::NothingShared(..) => {
            Some("items are matched by their names: both logs must call an item the same; --columns \"item=…\" says which column it is".to_owned())
        }
        CompareError::Scales { a, b } => Some(format!(
            "bring both to one scale, as by (score − lowest) / (highest − lowest); if they share one, say so: --scale {}..{}",
            a[0].min(b[0]).floor(),
            a[1].max(b[1]).ceil()
        )),
        CompareError::Dimensions(..) => {
            Some("both logs must call a dimension the same; --columns \"dimension=…\" says which column it is".to_owned())
        }
        CompareError::Kinds(..) => Some("say which outcome to compare with --outcome, or which column holds it with --columns".to_owned()),
        _ => None,
    };
    let failure = Failure::from(anyhow::Error::from(error));
    match help {
        Some(help) => failure.help(format!("{}{help}", flags.who)),
        None => failure,
    }
}

/// Adds what only the reading knows.
fn complete(compared: &mut SideBySide, sources: &[PathBuf], options: &[String], readings: Vec<Reading>) {
    env!("CARGO_PKG_VERSION").clone_into(&mut compared.version);
    let mut problems = Vec::new();
    let mut known: Vec<Source> = Vec::new();
    for (source, reading) in sources.iter().zip(readings) {
        let formats = reading.summaries.into_iter().map(|summary| summary.format).collect();
        known.push(Source { files: names(std::slice::from_ref(source)), formats, options: options.to_vec() });
        problems.extend(reading.problems.into_vec());
    }
    compared.problems.splice(0..0, problems);
    let last = known.last().cloned().unwrap_or_default();
    compared.a.source = known.into_iter().next().unwrap_or_default();
    compared.b.source = last;
}

/// Returns the options that decide the figures, also those given by variables, as the words of a command line.
fn deciding(args: &Args) -> Vec<String> {
    let own = [
        ("--a", args.a.clone()),
        ("--b", args.b.clone()),
        ("--costs", args.costs.map(|[accept, reject]| format!("{accept}:{reject}"))),
        ("--primary", (!args.primary.is_empty()).then(|| args.primary.join(","))),
        ("--margin", number(args.margin)),
        ("--coefficient-margin", number(args.coefficient_margin)),
    ];
    given(args.basics.words().into_iter().chain(own))
}

/// Writes the files of the comparison. All are complete on the disk before the first takes its name.
fn write_files(out: &OutDir, compared: &SideBySide, printer: &Printer) -> Result<(), Failure> {
    let _progress = Progress::start(printer, "writing the report".to_owned(), Gauge::default());
    let files = COMPARE_FILES
        .into_iter()
        .zip([Format::Html, Format::Md, Format::Junit, Format::Json])
        .map(|(name, format)| Pending::with_text(&out.path(name), &render_comparison(compared, format)?))
        .collect::<Result<Vec<_>, Failure>>()?;
    files.into_iter().try_for_each(Pending::finish)
}
