//! `assize audit`: a log in, a verdict and a report out.

use std::path::PathBuf;

use anyhow::Context as _;
use assize_calibration::audit::result::{Audit, Fitness, Source};
use assize_calibration::audit::{AuditConfig, BadSetting, Calendar, LookOrder, Windows};
use assize_calibration::gate::Gate;
use assize_calibration::judgement::OutcomeKind;
use assize_calibration::prevalence::LabelSampling;
use clap::ValueEnum;

use super::files::{Existing, OutDir, Pending, REPORT_FILES, spare_inputs};
use super::ledger::Ledger;
use super::printer::{Form, Printer};
use super::progress::{Gauge, Progress};
use super::reading::{self, Reading, read_sources, refused};
use super::render::{Format, render};
use super::status::{Failure, Status};
use crate::config::{Settings, read_gate, read_settings};
use crate::formats::columns::ColumnMap;
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
    /// Which columns mean what: a mapping, or a .toml file with a [columns] table
    #[arg(long, value_name = "MAP|FILE.toml")]
    columns: Option<String>,
    /// Limits the judge must keep; `assize gate` prints the built-in ones
    #[arg(long, value_name = "FILE.toml", env = "ASSIZE_GATE", hide_env_values = true)]
    gate: Option<PathBuf>,
    /// File of settings
    #[arg(long, value_name = "FILE.toml", env = "ASSIZE_CONFIG", hide_env_values = true)]
    config: Option<PathBuf>,
    /// Write report.html, report.md, report.json, junit.xml and judgements.jsonl into this directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Write into a directory that holds something else
    #[arg(long, requires = "out")]
    force: bool,
    /// Audit only this judge
    #[arg(long, value_name = "NAME", help_heading = "What to audit")]
    judge: Option<String>,
    /// Audit only this arm
    #[arg(long, value_name = "NAME", help_heading = "What to audit")]
    arm: Option<String>,
    /// Which outcome, when rows carry several [default: choice, else verdict, score, category]
    #[arg(long, value_name = "KIND", help_heading = "What to audit")]
    outcome: Option<Outcome>,
    /// Lowest and highest score possible, as 1-10 or -1..1 [default: the lowest and highest seen]
    #[arg(long, value_name = "LOW-HIGH", value_parser = scale, allow_hyphen_values = true, help_heading = "What to audit")]
    scale: Option<[f64; 2]>,
    /// A score of at least this accepts
    #[arg(long, value_name = "SCORE", allow_hyphen_values = true, help_heading = "What to audit")]
    accept_at: Option<f64>,
    /// A label of at least this says that the item is good
    #[arg(long, value_name = "LABEL", allow_hyphen_values = true, help_heading = "What to audit")]
    good_at: Option<f64>,
    /// Share of good items where the judge will work, between 0 and 1 [default: that of the labels]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, help_heading = "How to measure")]
    base_rate: Option<f64>,
    /// Confidence level of all intervals [default: 0.95]
    #[arg(
        long,
        value_name = "LEVEL",
        env = "ASSIZE_LEVEL",
        hide_env_values = true,
        allow_negative_numbers = true,
        help_heading = "How to measure"
    )]
    level: Option<f64>,
    /// Seed of what draws at random [default: 1]
    #[arg(long, env = "ASSIZE_SEED", hide_env_values = true, value_parser = seed, allow_negative_numbers = true, help_heading = "How to measure")]
    seed: Option<u64>,
    /// Most false accepts that the chosen threshold may have, from 0 to less than 1 [default: 0.1]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, help_heading = "How to measure")]
    cap: Option<f64>,
    /// What a false accept and a false reject cost, as 5:1
    #[arg(long, value_name = "FA:FR", value_parser = costs, help_heading = "How to measure")]
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

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Outcome {
    Score,
    Verdict,
    Choice,
    Category,
}

impl From<Outcome> for OutcomeKind {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Score => Self::Score,
            Outcome::Verdict => Self::Verdict,
            Outcome::Choice => Self::Choice,
            Outcome::Category => Self::Category,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Anytime {
    /// As the log completes them
    Log,
    /// Shuffled by the seed
    Shuffled,
}

impl From<Anytime> for LookOrder {
    fn from(order: Anytime) -> Self {
        match order {
            Anytime::Log => Self::Log,
            Anytime::Shuffled => Self::Shuffled,
        }
    }
}

/// How the labelled items were chosen.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum LabelsAre {
    /// A random sample of the stream that the other items are from
    Random,
    /// Chosen by their labels, such as half right and half wrong
    ByLabel,
    /// Nobody knows
    Unknown,
}

impl From<LabelsAre> for LabelSampling {
    fn from(chosen: LabelsAre) -> Self {
        match chosen {
            LabelsAre::Random => Self::Random,
            LabelsAre::ByLabel => Self::ByLabel,
            LabelsAre::Unknown => Self::Unknown,
        }
    }
}

/// Reads `5:1`; what range the numbers must be in the configuration says.
pub(super) fn costs(text: &str) -> Result<[f64; 2], String> {
    let parts = text.split_once(':').or_else(|| text.split_once(','));
    let numbers = parts.and_then(|(fa, fr)| Some([fa.trim().parse().ok()?, fr.trim().parse().ok()?]));
    numbers.ok_or_else(|| "write the cost of a false accept and that of a false reject, such as 5:1".to_owned())
}

/// Reads `1-10`, `-5..5`, `0,1`.
pub(super) fn scale(text: &str) -> Result<[f64; 2], String> {
    let hyphen = |text: &str| text.char_indices().skip(1).find(|&(_, character)| character == '-').map(|(at, _)| at);
    let parts = text
        .split_once("..")
        .or_else(|| text.split_once([',', ':']))
        .or_else(|| hyphen(text).map(|at| (&text[..at], &text[at + 1..])));
    let numbers = parts.and_then(|(low, high)| Some([low.trim().parse().ok()?, high.trim().parse().ok()?]));
    let scale: [f64; 2] = numbers.ok_or("write the lowest and the highest score, such as 1-10")?;
    if scale[0] < scale[1] { Ok(scale) } else { Err("the lowest score must come first".to_owned()) }
}

/// Reads `day`, `week` or a number of windows.
fn windows(text: &str) -> Result<Windows, String> {
    match text.trim() {
        "day" | "days" => Ok(Windows::Calendar(Calendar::Day)),
        "week" | "weeks" => Ok(Windows::Calendar(Calendar::Week)),
        number => number
            .parse()
            .ok()
            .filter(|n| *n > 0)
            .map(Windows::Count)
            .ok_or_else(|| "write day, week, or a whole number of at least 1".to_owned()),
    }
}

/// Reads a seed.
pub(super) fn seed(text: &str) -> Result<u64, String> {
    text.trim().parse().map_err(|_not_one| format!("write a whole number from 0 to {}", u64::MAX))
}

/// The layers put together.
struct Plan {
    config: AuditConfig,
    gate: Gate,
    columns: ColumnMap,
}

impl Plan {
    fn new(args: &mut Args, printer: &Printer) -> Result<Self, Failure> {
        let settings = match &args.config {
            Some(path) => {
                printer.detail(&format!("settings: {}", path.display()));
                read_settings(path).map_err(refused)?
            }
            None => Settings::default(),
        };
        let mut config = settings.audit;
        config.level = args.level.unwrap_or(config.level);
        config.seed = args.seed.unwrap_or(config.seed);
        config.outcome = args.outcome.map(OutcomeKind::from).or(config.outcome);
        config.scale = args.scale.or(config.scale);
        config.accept_at = args.accept_at.or(config.accept_at);
        config.good_at = args.good_at.or(config.good_at);
        config.base_rate = args.base_rate.or(config.base_rate);
        config.stability_repeats = args.repeats.unwrap_or(config.stability_repeats);
        config.false_accept_cap = args.cap.unwrap_or(config.false_accept_cap);
        config.anytime = args.anytime.map(LookOrder::from).or(config.anytime);
        config.planned_looks = args.planned_looks.or(config.planned_looks);
        config.epsilon = args.epsilon.or(config.epsilon);
        config.costs = args.costs.or(config.costs);
        config.label_sampling = args.labels_are.map_or(config.label_sampling, LabelSampling::from);
        config.tuned_on_items |= args.tuned_here;
        if !args.anchor_items.is_empty() {
            config.anchor_items = std::mem::take(&mut args.anchor_items);
        }
        config.windows = args.windows.or(config.windows);
        config.judge = args.judge.take().or(config.judge);
        config.arm = args.arm.take().or(config.arm);
        config.gate_risk |= args.gate_risk;
        config.check().map_err(|BadSetting { field, must }| Failure::usage(format!("{} {must}", flag(field))))?;
        let gate = match (&args.gate, settings.gate) {
            (Some(path), _) => read_gate(path).map_err(refused)?,
            (None, Some(gate)) => gate,
            (None, None) => Gate::built_in(),
        };
        printer.detail(&format!("gate: {}", gate.name));
        let columns = match &args.columns {
            Some(stated) => reading::columns(stated)?,
            None => settings.columns.unwrap_or_default(),
        };
        Ok(Self { config, gate, columns })
    }
}

/// Returns the flag that sets a field of the configuration.
pub(super) fn flag(field: &str) -> String {
    match field {
        "false_accept_cap" => "--cap".to_owned(),
        "stability_repeats" => "--repeats".to_owned(),
        "label_sampling" => "--labels-are".to_owned(),
        "tuned_on_items" => "--tuned-here".to_owned(),
        other => format!("--{}", other.replace('_', "-")),
    }
}

pub(super) fn run(mut args: Args, printer: &mut Printer) -> Result<Status, Failure> {
    let options = deciding(&args);
    let plan = Plan::new(&mut args, printer)?;
    // The directory comes before the reading, so that a wrong one is told at once.
    if let Some(dir) = &args.out {
        let files = REPORT_FILES.map(|name| dir.join(name));
        spare_inputs(&files, &args.sources, &plan.columns, "choose another directory with --out")?;
    }
    if let Some(path) = &args.looks {
        spare_inputs(std::slice::from_ref(path), &args.sources, &plan.columns, "name another file with --looks")?;
    }
    let ledger = args.looks.as_deref().map(|path| Ledger::read(path, printer)).transpose()?;
    let existing = if args.force { Existing::Replace } else { Existing::Keep };
    let out = args.out.as_deref().map(|dir| OutDir::open(dir, existing)).transpose()?;
    let mut copy = out.as_ref().map(begin_copy).transpose()?;

    let mut collector = Collector::default();
    let reading = match &mut copy {
        Some((_, writer)) => {
            let mut both = Tee { first: &mut collector, second: writer };
            read_sources(&args.sources, &plan.columns, &mut both, printer)?
        }
        None => read_sources(&args.sources, &plan.columns, &mut collector, printer)?,
    };
    let log = collector.log;

    let progress = Progress::start(printer, format!("measuring {} judgements", log.len()), Gauge::default());
    let audited = assize_calibration::audit::audit(&log, &plan.config, &plan.gate);
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
    looks.map(Pending::finish).transpose()?;
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
    let file = |path: Option<&PathBuf>| path.map(|path| path.display().to_string());
    let number = |number: Option<f64>| number.map(|number| number.to_string());
    let outcome = args.outcome.and_then(|outcome| outcome.to_possible_value());
    let labels_are = args.labels_are.and_then(|chosen| chosen.to_possible_value());
    let options = [
        ("--columns", args.columns.clone()),
        ("--config", file(args.config.as_ref())),
        ("--gate", file(args.gate.as_ref())),
        ("--judge", args.judge.clone()),
        ("--arm", args.arm.clone()),
        ("--outcome", outcome.map(|outcome| outcome.get_name().to_owned())),
        ("--scale", args.scale.map(|[low, high]| format!("{low}..{high}"))),
        ("--accept-at", number(args.accept_at)),
        ("--good-at", number(args.good_at)),
        ("--base-rate", number(args.base_rate)),
        ("--level", number(args.level)),
        ("--seed", args.seed.map(|seed| seed.to_string())),
        ("--cap", number(args.cap)),
        ("--repeats", args.repeats.map(|repeats| repeats.to_string())),
        ("--planned-looks", args.planned_looks.map(|planned| planned.to_string())),
        ("--epsilon", number(args.epsilon)),
        ("--costs", args.costs.map(|[accept, reject]| format!("{accept}:{reject}"))),
        ("--labels-are", labels_are.map(|chosen| chosen.get_name().to_owned())),
        ("--windows", args.windows.map(window_words)),
        ("--anchor-items", (!args.anchor_items.is_empty()).then(|| args.anchor_items.join(","))),
    ];
    let given = options.into_iter().filter_map(|(name, value)| Some([name.to_owned(), value?]));
    let mut words: Vec<String> = given.flatten().collect();
    words.extend(args.tuned_here.then(|| "--tuned-here".to_owned()));
    words.extend(args.gate_risk.then(|| "--gate-risk".to_owned()));
    let order = args.anytime.and_then(|order| order.to_possible_value());
    words.extend(order.map(|order| format!("--anytime={}", order.get_name())));
    words
}

fn window_words(windows: Windows) -> String {
    match windows {
        Windows::Calendar(Calendar::Day) => "day".to_owned(),
        Windows::Calendar(Calendar::Week) => "week".to_owned(),
        Windows::Count(n) => n.to_string(),
    }
}

pub(super) fn names(sources: &[PathBuf]) -> Vec<String> {
    sources.iter().map(|source| source.display().to_string()).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_are_read_with_negative_ends() {
        assert_eq!(scale("1-10"), Ok([1.0, 10.0]));
        assert_eq!(scale("-5..5"), Ok([-5.0, 5.0]));
        assert_eq!(scale("-5--1"), Ok([-5.0, -1.0]));
        assert_eq!(scale("0, 1"), Ok([0.0, 1.0]));
        for wrong in ["", "5", "10-1", "1-", "nan-1", "a-b", "1-1"] {
            scale(wrong).unwrap_err();
        }
    }

    #[test]
    fn costs_are_two_numbers() {
        assert_eq!(costs("5:1"), Ok([5.0, 1.0]));
        assert_eq!(costs("0.5, 2"), Ok([0.5, 2.0]));
        for wrong in ["", "5", "5:", ":1", "a:b"] {
            costs(wrong).unwrap_err();
        }
    }

    #[test]
    fn complaints_about_settings_name_flags_that_exist() {
        let command = <super::super::Cli as clap::CommandFactory>::command();
        let audit = command.find_subcommand("audit").unwrap();
        for field in [
            "level",
            "base_rate",
            "false_accept_cap",
            "accept_at",
            "good_at",
            "scale",
            "stability_repeats",
            "costs",
            "label_sampling",
            "tuned_on_items",
            "windows",
        ] {
            let flag = flag(field);
            assert!(audit.get_arguments().any(|arg| arg.get_long() == flag.strip_prefix("--")), "{flag}");
        }
    }
}
