//! Audits of public recordings, held against the figures that other packages computed from the same files.
//!
//! The recordings are not part of the project. The tests run on the folder named by the environment variable
//! `ASSIZE_DATA` and say so when it is not set. Every `*.ref.json` there has a ledger or stands in [`NO_LEDGER`] with the
//! reason; every figure of those that have one is either compared or set aside, with a reason, as not an audit's: a figure
//! that is neither fails the test.

mod ledger;
mod pairs;
mod panels;
mod ratings;
mod scores;

use std::path::{Path, PathBuf};

use assize::formats::columns::ColumnMap;
use assize::formats::{Collector, ReadError, ReadOptions, Sink, read};
use assize_calibration::audit::result::{Audit, JudgeAudit, Measure};
use assize_calibration::audit::{AuditConfig, audit};
use assize_calibration::gate::Gate;
use assize_calibration::judgement::Judgement;
use assize_calibration::log::Log;
use assize_calibration::problem::Problem;

/// Files of reference figures that no audit is held against, and why.
const NO_LEDGER: [(&str, &str); 2] = [
    (
        "clustering",
        "agreement of a clustering with topics under other names: ARI, NMI and the like, which judges have no use for",
    ),
    ("openapi_docs", "counts of what specifications leave undescribed: there is no judge"),
];

#[test]
fn every_file_of_reference_figures_has_a_ledger_or_a_reason() {
    let Some(folder) = data() else { return };
    let sources =
        [include_str!("reference/pairs.rs"), include_str!("reference/ratings.rs"), include_str!("reference/scores.rs")];
    let mut names: Vec<String> = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        names.extend(name.strip_suffix(".ref.json").map(str::to_owned));
    }
    let is_compared =
        |name: &str| sources.iter().any(|source| source.contains(&format!("Ledger::read(&folder, {name:?})")));
    let is_set_aside = |name: &str| NO_LEDGER.iter().any(|(known, _)| *known == name);
    let forgotten: Vec<&String> = names.iter().filter(|name| is_compared(name) == is_set_aside(name)).collect();
    assert!(!names.is_empty() && forgotten.is_empty(), "{forgotten:?}");
}

/// Returns the folder of recordings, or `None` with a message when there is none.
fn data() -> Option<PathBuf> {
    let folder = std::env::var_os("ASSIZE_DATA").map(PathBuf::from);
    if folder.is_none() {
        tell("skipped: set ASSIZE_DATA to the folder of recordings to compare audits with their reference figures");
    }
    folder
}

/// Writes past the capture of the test's output, so that a test that did nothing does not pass in silence.
#[expect(clippy::explicit_write, reason = "what eprintln! writes is captured")]
fn tell(message: &str) {
    use std::io::Write as _;
    let thread = std::thread::current();
    writeln!(std::io::stderr(), "{}: {message}", thread.name().unwrap_or("reference")).unwrap();
}

/// Keeps the judgements that a closure keeps, changed as it likes.
struct Filtered<'a> {
    rows: Collector,
    keep: &'a mut (dyn FnMut(&mut Judgement<'static>) -> bool + Send),
}

impl Sink for Filtered<'_> {
    fn judgement(&mut self, judgement: &Judgement<'_>, line: u64) -> Result<(), ReadError> {
        let mut judgement = owned(judgement);
        if (self.keep)(&mut judgement) { self.rows.judgement(&judgement, line) } else { Ok(()) }
    }

    fn problem(&mut self, problem: Problem) {
        self.rows.problem(problem);
    }
}

/// Returns a copy with the fields these recordings use.
fn owned(judgement: &Judgement<'_>) -> Judgement<'static> {
    let text = |text: &std::borrow::Cow<'_, str>| std::borrow::Cow::Owned(text.clone().into_owned());
    Judgement {
        item: text(&judgement.item),
        judge: text(&judgement.judge),
        score: judgement.score,
        verdict: judgement.verdict,
        choice: judgement.choice,
        category: judgement.category.as_ref().map(text),
        repeat: judgement.repeat,
        order: judgement.order,
        arm: judgement.arm.as_ref().map(text),
        dimension: judgement.dimension.as_ref().map(text),
        label: judgement.label.as_ref().map(|label| label.0.clone().into_owned().into()),
        rater: judgement.rater.as_ref().map(text),
        group: judgement.group.as_ref().map(text),
        generator: judgement.generator.as_ref().map(text),
        ..Judgement::default()
    }
}

/// Reads a recording with a column mapping, keeping the judgements that `keep` keeps.
pub(crate) fn log_where(
    file: &Path,
    columns: &str,
    mut keep: impl FnMut(&mut Judgement<'static>) -> bool + Send,
) -> Log {
    let options = ReadOptions { columns: columns.parse::<ColumnMap>().unwrap() };
    let mut sink = Filtered { rows: Collector::default(), keep: &mut keep };
    read(file, &options, &mut sink).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let errors: Vec<&Problem> = sink.rows.problems.as_slice().iter().filter(|p| is_error(p)).collect();
    assert!(errors.is_empty(), "{}: {errors:?}", file.display());
    sink.rows.log
}

fn is_error(problem: &Problem) -> bool {
    problem.severity == assize_calibration::problem::Severity::Error
}

pub(crate) fn log_of(file: &Path, columns: &str) -> Log {
    log_where(file, columns, |_| true)
}

pub(crate) fn audited(log: &Log, config: &AuditConfig) -> Audit {
    audit(log, config, &Gate::built_in()).unwrap()
}

/// Audits a log with one judge under one arm.
pub(crate) fn only(log: &Log, config: &AuditConfig) -> JudgeAudit {
    let audit = audited(log, config);
    assert_eq!(audit.judges.len(), 1, "{:?}", audit.judges.iter().map(|judge| &judge.judge).collect::<Vec<_>>());
    audit.judges.into_iter().next().unwrap()
}

/// Returns a measure.
#[track_caller]
pub(crate) fn measure<'a>(judge: &'a JudgeAudit, id: &str) -> &'a Measure {
    judge.measures.get(id).unwrap_or_else(|| panic!("{} has no {id}: {:?}", judge.judge, judge.unmeasured))
}

/// Returns a detail of a measure, or `None` where it is not stated.
pub(crate) fn detail(measure: &Measure, name: &str) -> Option<f64> {
    measure.details.get(name).copied()
}

/// Returns a count that a measure states.
#[track_caller]
fn count(judge: &JudgeAudit, id: &str, name: &str) -> u64 {
    let value = detail(measure(judge, id), name).unwrap_or_else(|| panic!("{id} states no {name}"));
    whole(value)
}

/// Returns a number that should be whole as a count.
#[track_caller]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be a small whole number")]
fn whole(value: f64) -> u64 {
    assert!((value - value.round()).abs() < 1e-6 && value > -0.5, "{value} is no count");
    value.round() as u64
}

/// Returns the figure in which unparsed replies are an answer of their own; where nothing is unparsed, the estimate.
fn with_unparsed(measure: &Measure) -> f64 {
    detail(measure, "unparsed_as_an_answer").unwrap_or(measure.estimate)
}

/// Returns how often an answer was given.
fn answers(judge: &JudgeAudit, answer: &str) -> u64 {
    judge.answers.iter().find(|share| share.answer == answer).map_or(0, |share| share.n)
}

pub(crate) fn config() -> AuditConfig {
    AuditConfig::default()
}
