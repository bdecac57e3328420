//! `assize audit`: a log in, a verdict and a report out.

use std::path::PathBuf;

use anyhow::Context as _;
use assize_calibration::audit::result::{Audit, Fitness, Source};
use assize_calibration::audit::{LookOrder, Windows};
use assize_calibration::prevalence::LabelSampling;
use clap::ValueEnum as _;

use super::basics::{Basics, Layers, file, given, names, number};
use super::files::{Existing, OutDir, Pending, REPORT_FILES, spare_inputs};
use super::ledger::{Ledger, Recorded};
use super::printer::{Form, Printer};
use super::progress::{Gauge, Progress};
use super::reading::{self, Reading, read_sources};
use super::render::{Format, render};
use super::status::{Failure, Status};
use super::values::{Anytime, LabelsAre, costs, window_words, windows, word};
use crate::formats::{Collector, Tee};
use crate::formats::{LogWriter, OutputFormat};

/// Give a verdict on a judge from a log of its judgements
///
/// Reads logs (csv, tsv, jsonl, json, parquet, also .gz and .zst, and other tools' own files), measures how stable,
/// unbiased and right the judge is, and compares the measures with the limits of a gate: fit, unfit or inconclusive.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assize audit judgements.csv
  assize audit judgements.csv --out report
  assize audit runs/*.jsonl --scale 1-10 --accept-at 8 --gate gate.toml
  assize audit table.csv --columns 'item=id, repeats=s1..s8, label=human'
  zcat log.csv.gz | assize audit - --json | jq '.judges[].measures.flip_rate'

Settings, the upper one counting: flags; the variables named above; the file given with --config,
which may hold [audit], [columns] and [gate]; what is built in.

Exit status: 0 every judge is fit, 1 one is unfit, 2 inconclusive, 3 the audit could not be made.")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(super) struct Args {
    /// Logs to audit together; - reads standard input
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<PathBuf>,
    #[command(flatten)]
    basics: Basics,
    /// Limits the judge must keep; `assize gate` prints the built-in ones
    #[arg(long, value_name = "FILE.toml", env = "ASSIZE_GATE", hide_env_values = true)]
    gate: Option<PathBuf>,
    /// Write report.html, report.md, report.json, junit.xml and judgements.jsonl into this directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Write into a directory that holds something else
    #[arg(long, requires = "out")]
    force: bool,
    /// Audit only this judge
    #[arg(long, value_name = "NAME", help_heading = "What to measure")]
    judge: Option<String>,
    /// Audit only this arm
    #[arg(long, value_name = "NAME", help_heading = "What to measure")]
    arm: Option<String>,
    /// Share of good items where the judge will work, between 0 and 1 [default: that of the labels]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, help_heading = "How to measure")]
    base_rate: Option<f64>,
    /// Most false accepts that the chosen threshold may have, from 0 to less than 1 [default: 0.1]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, help_heading = "How to measure")]
    cap: Option<f64>,
    /// What a false accept and a false reject cost, as 5:1
    #[arg(long, value_name = "FA:FR", value_parser = costs, allow_hyphen_values = true, help_heading = "How to measure")]
    costs: Option<[f64; 2]>,
    /// How the labelled items were chosen [default: unknown]
    #[arg(long, value_name = "HOW", help_heading = "How to measure")]
    labels_are: Option<LabelsAre>,
    /// The judge's prompt was tuned on these items
    #[arg(long, help_heading = "How to measure")]
    tuned_here: bool,
    /// Items that stand in the prompt as anchors, with commas between; they and their groups are left out of what they were shown for
    #[arg(long, value_name = "ITEMS", value_delimiter = ',', help_heading = "How to measure")]
    anchor_items: Vec<String>,
    /// Repeats for which figures that grow with repeats are stated [default: 5]
    #[arg(long, value_name = "K0", allow_negative_numbers = true, help_heading = "How to measure")]
    repeats: Option<u32>,
    /// Judge the gate by evidence that allows a look after every item, in the order of the log, or shuffled
    #[arg(
        long,
        value_name = "ORDER",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "log",
        help_heading = "How to measure"
    )]
    anytime: Option<Anytime>,
    /// How many items are planned at most: judge the gate by evidence that allows a look at every twentieth of them, and say when going on is futile
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "How to measure")]
    planned_items: Option<u64>,
    /// How many looks at a growing log are planned; each limit is tested that much more strictly, so that all looks hold together
    #[arg(long, value_name = "K", allow_negative_numbers = true, help_heading = "How to measure")]
    planned_looks: Option<u32>,
    /// Record this look in a file of looks (JSON Lines), and say what earlier looks recorded there make of it
    #[arg(long, value_name = "FILE.jsonl")]
    looks: Option<PathBuf>,
    /// How much less often than a person the judge may be nearest to the other people and still take a person's place [default: 0.2]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, help_heading = "How to measure")]
    epsilon: Option<f64>,
    /// How time is cut to look for drift: day, week, or how many windows [default: by the span of the log]
    #[arg(long, value_name = "day|week|N", value_parser = windows, help_heading = "How to measure")]
    windows: Option<Windows>,
    /// Find out how often the gate would come out otherwise if the same items were judged again
    #[arg(long, help_heading = "How to measure")]
    gate_risk: bool,
    /// Give up on rows that cannot be read or contradict each other
    #[arg(long)]
    strict: bool,
}

/// Lays the flags over the settings.
fn layers(args: &mut Args, printer: &Printer) -> Result<Layers, Failure> {
    let mut layers = args.basics.layers(printer)?;
    let config = &mut layers.audit;
    config.base_rate = args.base_rate.or(config.base_rate);
    config.stability_repeats = args.repeats.unwrap_or(config.stability_repeats);
    config.false_accept_cap = args.cap.unwrap_or(config.false_accept_cap);
    config.anytime = args.anytime.map(LookOrder::from).or(config.anytime);
    config.planned_items = args.planned_items.or(config.planned_items);
    config.planned_looks = args.planned_looks.or(config.planned_looks);
    config.epsilon = args.epsilon.or(config.epsilon);
    config.costs = args.costs.or(config.costs);
    config.label_sampling = args.labels_are.map_or(config.label_sampling, LabelSampling::from);
    config.tuned_on_items |= args.tuned_here;
    if !args.anchor_items.is_empty() {
        config.anchor_items = std::mem::take(&mut args.anchor_items);
    }
    config.windows = args.windows.or(config.windows);
    config.judge = args.judge.take().or(config.judge.take());
    config.arm = args.arm.take().or(config.arm.take());
    config.gate_risk |= args.gate_risk;
    layers.check()?;
    Ok(layers)
}

/// Returns an error where an order of looks was written as a word of its own, `--anytime shuffled`, which is the name of a log.
fn no_order_for_a_log(args: &Args) -> Result<(), Failure> {
    if args.anytime.is_none() {
        return Ok(());
    }
    for order in Anytime::value_variants().iter().filter_map(word) {
        if args.sources.iter().any(|source| source.as_os_str() == order.as_str() && !source.exists()) {
            let message = format!("there is no log `{order}`, and an order of looks follows --anytime with `=`");
            return Err(Failure::usage(message).help(format!("write --anytime={order}, and the logs after it")));
        }
    }
    Ok(())
}

pub(super) fn run(mut args: Args, printer: &mut Printer) -> Result<Status, Failure> {
    let options = deciding(&args);
    no_order_for_a_log(&args)?;
    let mut layers = layers(&mut args, printer)?;
    let gate = layers.gate(args.gate.as_deref(), printer)?;
    // The directory comes before the reading, so that a wrong one is told at once.
    if let Some(dir) = &args.out {
        let files = REPORT_FILES.map(|name| dir.join(name));
        spare_inputs(&files, &args.sources, &layers.columns, "choose another directory with --out")?;
    }
    if let Some(path) = &args.looks {
        spare_inputs(std::slice::from_ref(path), &args.sources, &layers.columns, "name another file with --looks")?;
    }
    let ledger = args.looks.as_deref().map(|path| Ledger::read(path, printer)).transpose()?;
    let existing = if args.force { Existing::Replace } else { Existing::Keep };
    let out = args.out.as_deref().map(|dir| OutDir::open(dir, existing)).transpose()?;
    let mut copy = out.as_ref().map(begin_copy).transpose()?;

    let mut collector = Collector::default();
    let reading = match &mut copy {
        Some((_, writer)) => {
            let mut both = Tee { first: &mut collector, second: writer };
            read_sources(&args.sources, &layers.columns, &mut both, printer)?
        }
        None => read_sources(&args.sources, &layers.columns, &mut collector, printer)?,
    };
    let log = collector.log;

    let progress = Progress::start(printer, format!("measuring {} judgements", log.len()), Gauge::default());
    let audited = assize_calibration::audit::audit(&log, &layers.audit, &gate);
    drop(progress);
    let audited = audited.with_context(|| format!("failed to audit {}", names(&args.sources).join(", ")));
    let mut audit = match audited {
        Ok(audit) => audit,
        Err(error) => {
            // What is wrong with the rows is likely to be why.
            reading::tell(reading.problems.as_slice(), printer);
            return Err(Failure::from(error).with_problems(reading.problems.into_vec()));
        }
    };
    let looks = ledger.map(|ledger| ledger.record(&mut audit, &log)).transpose()?.flatten();
    drop(log);
    complete(&mut audit, &args.sources, options, reading);
    if args.strict {
        reading::strict(&audit.problems)?;
    }
    reading::tell(&audit.problems, printer);

    if let (Some(out), Some((file, writer))) = (&out, copy) {
        writer.finish().map_err(anyhow::Error::from)?;
        write_report(out, file, &audit, printer)?;
    }
    // Who has not been told has not looked: the ledger is written when the report is.
    looks.map(Recorded::finish).transpose()?;
    match printer.form() {
        Form::Json => printer.data(&render(&audit, Format::Json)?)?,
        Form::Text => printer.summary(&render(&audit, Format::Terminal)?)?,
    }
    match (&out, printer.form()) {
        (Some(out), Form::Text) => {
            printer.summary(&format!("report: {}\n", out.absolute("report.html").display()))?;
        }
        (Some(out), Form::Json) => printer.note(&format!("report: {}", out.absolute("report.html").display())),
        (None, Form::Text) => printer.note("add --out DIR for the HTML report"),
        (None, Form::Json) => {}
    }
    Ok(match audit.fitness {
        Fitness::Fit => Status::Done,
        Fitness::Unfit => Status::Unfit,
        Fitness::Inconclusive => Status::Inconclusive,
    })
}

/// Adds to the audit what only the reading knows.
fn complete(audit: &mut Audit, sources: &[PathBuf], options: Vec<String>, reading: Reading) {
    env!("CARGO_PKG_VERSION").clone_into(&mut audit.version);
    audit.data.n_rows = reading.n_rows();
    audit.data.n_bad_rows = reading.n_bad_rows();
    let Reading { summaries, problems } = reading;
    let formats = summaries.into_iter().map(|summary| summary.format).collect();
    audit.source = Source { files: names(sources), formats, options };
    audit.problems.splice(0..0, problems.into_vec());
}

/// Returns the options that decide the figures, also those given by variables, as the words of a command line.
fn deciding(args: &Args) -> Vec<String> {
    let own = [
        ("--gate", file(args.gate.as_deref())),
        ("--judge", args.judge.clone()),
        ("--arm", args.arm.clone()),
        ("--base-rate", number(args.base_rate)),
        ("--cap", number(args.cap)),
        ("--repeats", args.repeats.map(|repeats| repeats.to_string())),
        ("--planned-items", args.planned_items.map(|items| items.to_string())),
        ("--planned-looks", args.planned_looks.map(|planned| planned.to_string())),
        ("--epsilon", number(args.epsilon)),
        ("--costs", args.costs.map(|[accept, reject]| format!("{accept}:{reject}"))),
        ("--labels-are", args.labels_are.as_ref().and_then(word)),
        ("--windows", args.windows.map(window_words)),
        ("--anchor-items", (!args.anchor_items.is_empty()).then(|| args.anchor_items.join(","))),
    ];
    let mut words = given(args.basics.words().into_iter().chain(own));
    words.extend(args.tuned_here.then(|| "--tuned-here".to_owned()));
    words.extend(args.gate_risk.then(|| "--gate-risk".to_owned()));
    let order = args.anytime.as_ref().and_then(word);
    words.extend(order.map(|order| format!("--anytime={order}")));
    words
}

/// Begins the plain log that goes beside the report.
fn begin_copy(out: &OutDir) -> Result<(Pending, LogWriter), Failure> {
    let [judgements, ..] = REPORT_FILES;
    let path = out.path(judgements);
    let file = Pending::create(&path)?;
    let writer = LogWriter::to_stream(&path, Box::new(file.handle()?), OutputFormat::Jsonl);
    Ok((file, writer.map_err(anyhow::Error::from)?))
}

/// Writes the files of the report beside the `judgements`. All are complete on the disk before the first takes its name.
fn write_report(out: &OutDir, judgements: Pending, audit: &Audit, printer: &Printer) -> Result<(), Failure> {
    let _progress = Progress::start(printer, "writing the report".to_owned(), Gauge::default());
    let mut files = vec![judgements.complete()?];
    let [_judgements, rendered @ ..] = REPORT_FILES;
    for (name, format) in rendered.into_iter().zip([Format::Html, Format::Md, Format::Junit, Format::Json]) {
        files.push(Pending::with_text(&out.path(name), &render(audit, format)?)?);
    }
    files.into_iter().try_for_each(Pending::finish)
}
