//! Stands in for the parts that other branches bring, until they are merged.
#![expect(
    dead_code,
    unreachable_pub,
    clippy::unnecessary_wraps,
    clippy::unwrap_used,
    clippy::map_err_ignore,
    reason = "goes when the parts come"
)]

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use assize_calibration::audit::AuditConfig;
use assize_calibration::audit::result::{Audit, Data, Fitness, JudgeAudit, Measure, SCHEMA, Source};
use assize_calibration::gate::{Gate, Limit};
use assize_calibration::judgement::{Judgement, OutcomeKind, Verdict};
use assize_calibration::log::{Answer, Log};
use assize_calibration::problem::{Problem, Problems, Severity};

use crate::formats::columns::ColumnMap;
use crate::formats::{ReadError, ReadOptions, ReadSummary, Sink};

/// The built-in gate.
pub trait BuiltIn {
    /// Returns it.
    fn built_in() -> Gate;
}

impl BuiltIn for Gate {
    fn built_in() -> Self {
        let limits = [
            ("unparsed_rate", Limit { max: Some(0.05), ..Limit::default() }),
            ("accuracy", Limit { min: Some(0.8), ..Limit::default() }),
        ];
        Self {
            name: "built in".to_owned(),
            limits: limits.into_iter().map(|(id, limit)| (id.to_owned(), limit)).collect(),
            truth_optional: false,
        }
    }
}

/// Why a log could not be audited.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// Nothing in it.
    #[error("the log holds no judgement")]
    Empty,
}

/// Audits.
///
/// # Errors
/// An empty log.
pub fn audit(log: &Log, config: &AuditConfig, gate: &Gate) -> Result<Audit, AuditError> {
    if log.is_empty() {
        return Err(AuditError::Empty);
    }
    let (mut right, mut n) = (0_u64, 0_u64);
    for row_idx in 0..log.len() {
        let Some(Answer::Verdict(answer)) = log.answer(row_idx, OutcomeKind::Verdict) else { continue };
        let label = log.label.at(row_idx);
        if label == assize_calibration::log::NONE {
            continue;
        }
        n += 1;
        right += u64::from(Verdict::parse(log.labels.name(label)) == Some(answer));
    }
    let (n_f, p) = (n as f64, if n == 0 { 0.5 } else { right as f64 / n as f64 });
    let z2 = 3.84 / n_f.max(1.0);
    let (mid, half) = ((p + z2 / 2.0) / (1.0 + z2), (p * (1.0 - p) * z2 + z2 * z2 / 4.0).sqrt() / (1.0 + z2));
    let limit = gate.limits.get("accuracy").and_then(|limit| limit.min).unwrap_or(0.0);
    let fitness = match (mid - half >= limit, mid + half < limit) {
        (true, _) => Fitness::Fit,
        (_, true) => Fitness::Unfit,
        _ => Fitness::Inconclusive,
    };
    let measure = Measure {
        estimate: p,
        low: Some(mid - half),
        high: Some(mid + half),
        level: config.level,
        n,
        n_items: n,
        n_clusters: n,
        method: "Wilson".to_owned(),
        cautions: vec![],
        details: BTreeMap::new(),
    };
    let judge = JudgeAudit {
        judge: log.judges.iter().next().unwrap_or_default().to_owned(),
        arm: None,
        outcome: OutcomeKind::Verdict,
        n_judgements: log.len() as u64,
        n_items: log.items.len() as u64,
        n_clusters: n,
        n_unparsed: 0,
        n_labelled: n,
        repeats: [1, 1],
        fitness,
        why: String::new(),
        limits: vec![],
        findings: vec![],
        measures: BTreeMap::from([("accuracy".to_owned(), measure)]),
        unmeasured: vec![],
        answers: vec![],
        unparsed_by: vec![],
        voting: None,
        thresholds: None,
        confusion: None,
        baselines: vec![],
        error_clusters: None,
        worst_items: vec![],
        dimensions: vec![],
    };
    Ok(Audit {
        schema: SCHEMA.to_owned(),
        version: String::new(),
        source: Source::default(),
        config: config.clone(),
        gate: gate.clone(),
        data: Data { n_rows: log.len() as u64, ..Data::default() },
        problems: vec![],
        fitness,
        judges: vec![judge],
        comparisons: vec![],
        agreement: vec![],
    })
}

/// Reads a small CSV.
///
/// # Errors
/// As the real one.
pub fn read(path: &Path, _options: &ReadOptions, sink: &mut dyn Sink) -> Result<ReadSummary, ReadError> {
    let file: Box<dyn std::io::Read + Send> = if path == Path::new("-") {
        Box::new(std::io::stdin())
    } else {
        Box::new(std::fs::File::open(path).map_err(|source| ReadError::Io { path: path.to_path_buf(), source })?)
    };
    read_from(path, file, sink)
}

fn read_from(path: &Path, file: impl std::io::Read, sink: &mut dyn Sink) -> Result<ReadSummary, ReadError> {
    let mut reader = csv::Reader::from_reader(file);
    let headers = reader.headers().unwrap().clone();
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut summary = ReadSummary { format: "csv".to_owned(), ..ReadSummary::default() };
    for record in reader.records() {
        let record = record.unwrap();
        let line = record.position().map_or(0, csv::Position::line);
        summary.n_rows += 1;
        let cell = |name: &str| headers.iter().position(|header| header == name).map(|at| &record[at]);
        if cell("item").unwrap_or_default().is_empty() {
            summary.n_bad_rows += 1;
            sink.problem(Problem {
                severity: Severity::Error,
                code: "bad-row".to_owned(),
                message: "no item".to_owned(),
                count: 1,
                file: Some(path.display().to_string()),
                line: Some(line),
                column: Some("item".to_owned()),
            });
            continue;
        }
        let mut judgement = Judgement { item: cell("item").unwrap_or_default().into(), ..Judgement::default() };
        judgement.judge = cell("judge").unwrap_or(&stem).into();
        judgement.verdict = cell("verdict").and_then(Verdict::parse);
        judgement.label = cell("label").map(Into::into);
        judgement.score = match cell("score").map(str::parse) {
            Some(Err(_)) => {
                summary.n_bad_rows += 1;
                sink.problem(Problem {
                    severity: Severity::Error,
                    code: "bad-row".to_owned(),
                    message: "score is not a number".to_owned(),
                    count: 1,
                    file: Some(path.display().to_string()),
                    line: Some(line),
                    column: Some("score".to_owned()),
                });
                continue;
            }
            score => score.and_then(Result::ok),
        };
        sink.judgement(&judgement, line)?;
    }
    Ok(summary)
}

/// Renderer's error.
#[derive(Debug, thiserror::Error)]
#[error("cannot render")]
pub struct RenderError;

/// Options.
#[derive(Clone, Debug, Default)]
pub struct HtmlOptions {}

/// Whether colours are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// ANSI colours.
    Ansi,
    /// None.
    Plain,
}

/// Which characters are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charset {
    /// Any.
    Unicode,
    /// ASCII only.
    Ascii,
}

/// Options.
#[derive(Clone, Debug)]
pub struct TerminalOptions {
    /// Columns.
    pub width: usize,
    /// Colours.
    pub colour: Colour,
    /// Characters.
    pub charset: Charset,
}

/// Renders.
///
/// # Errors
/// None.
pub fn html(audit: &Audit, _options: &HtmlOptions) -> Result<String, RenderError> {
    Ok(format!("<!doctype html><title>{}</title>\n", audit.judges[0].judge))
}

/// Renders.
pub fn markdown(audit: &Audit) -> String {
    format!("# {}\n", audit.judges[0].judge)
}

/// Renders.
///
/// # Errors
/// None.
pub fn junit(audit: &Audit) -> Result<String, RenderError> {
    Ok(format!("<testsuites name=\"{}\"/>\n", audit.judges[0].judge))
}

/// Renders.
pub fn terminal(audit: &Audit, options: &TerminalOptions) -> String {
    let verdict = format!("{:?}", audit.fitness).to_uppercase();
    if options.colour == Colour::Ansi { format!("\u{1b}[1m{verdict}\u{1b}[0m\n") } else { format!("{verdict}\n") }
}

/// Renders.
///
/// # Errors
/// None.
pub fn json(audit: &Audit) -> Result<String, RenderError> {
    serde_json::to_string_pretty(audit).map(|text| text + "\n").map_err(|_| RenderError)
}

impl std::str::FromStr for ColumnMap {
    type Err = ReadError;

    fn from_str(text: &str) -> Result<Self, ReadError> {
        if text.contains('=') { Ok(Self {}) } else { Err(ReadError::Columns(format!("`{text}` maps nothing"))) }
    }
}

impl<'de> serde::Deserialize<'de> for ColumnMap {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        toml::Table::deserialize(deserializer).map(|_| Self {})
    }
}

/// Reads a stream.
///
/// # Errors
/// As the real one.
pub fn read_stream(
    path: &Path,
    stream: Box<dyn std::io::Read + Send>,
    _options: &ReadOptions,
    sink: &mut dyn Sink,
) -> Result<ReadSummary, ReadError> {
    read_from(path, stream, sink)
}

/// Collects.
#[derive(Debug, Default)]
pub struct Collector {
    /// Log.
    pub log: Log,
    /// Problems.
    pub problems: Problems,
}

impl Sink for Collector {
    fn judgement(&mut self, judgement: &Judgement<'_>, line: u64) -> Result<(), ReadError> {
        self.log.push(judgement, line);
        Ok(())
    }

    fn problem(&mut self, problem: Problem) {
        self.problems.add(problem);
    }
}

/// Two sinks.
pub struct Tee<'a> {
    /// First.
    pub first: &'a mut dyn Sink,
    /// Second.
    pub second: &'a mut dyn Sink,
}

impl Sink for Tee<'_> {
    fn judgement(&mut self, judgement: &Judgement<'_>, line: u64) -> Result<(), ReadError> {
        self.first.judgement(judgement, line)?;
        self.second.judgement(judgement, line)
    }

    fn problem(&mut self, problem: Problem) {
        self.first.problem(problem);
    }
}

/// Formats.
pub enum OutputFormat {
    /// JSON Lines.
    Jsonl,
}

/// Writes.
pub struct LogWriter {
    path: std::path::PathBuf,
    file: Option<tempfile::NamedTempFile>,
    stream: Box<dyn Write + Send>,
    /// Problems.
    pub problems: Problems,
    n_rows: u64,
}

impl LogWriter {
    /// Starts.
    ///
    /// # Errors
    /// No.
    pub fn create(path: &Path) -> Result<Self, ReadError> {
        let file = tempfile::Builder::new().prefix(".assize-").suffix(".tmp").tempfile_in(path.parent().unwrap());
        let file = file.unwrap();
        let stream = Box::new(std::io::BufWriter::new(file.reopen().unwrap()));
        Ok(Self { path: path.to_path_buf(), file: Some(file), stream, problems: Problems::default(), n_rows: 0 })
    }

    /// Starts.
    ///
    /// # Errors
    /// No.
    pub fn to_stream(path: &Path, stream: Box<dyn Write + Send>, _format: OutputFormat) -> Result<Self, ReadError> {
        let stream = Box::new(std::io::BufWriter::new(stream));
        Ok(Self { path: path.to_path_buf(), file: None, stream, problems: Problems::default(), n_rows: 0 })
    }

    /// Ends.
    ///
    /// # Errors
    /// Full.
    pub fn finish(mut self) -> Result<u64, ReadError> {
        self.stream.flush().map_err(|source| ReadError::Write { path: self.path.clone(), source })?;
        if let Some(file) = self.file {
            file.persist(&self.path).unwrap();
        }
        Ok(self.n_rows)
    }
}

impl Sink for LogWriter {
    fn judgement(&mut self, judgement: &Judgement<'_>, _line: u64) -> Result<(), ReadError> {
        self.n_rows += 1;
        serde_json::to_writer(&mut self.stream, judgement)
            .map_err(std::io::Error::from)
            .and_then(|()| self.stream.write_all(b"\n"))
            .map_err(|source| ReadError::Write { path: self.path.clone(), source })
    }

    fn problem(&mut self, problem: Problem) {
        self.problems.add(problem);
    }
}
