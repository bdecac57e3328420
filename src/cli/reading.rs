//! Reading sources: options shared by commands that read logs, and what becomes of the rows.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Context as _;
use assize_calibration::judgement::Judgement;
use assize_calibration::problem::{Problem, Problems, Severity};

use super::printer::{Form, Printer};
use super::progress::{Gauge, Progress};
use super::status::Failure;
use crate::config::{self, ConfigError};
use crate::formats::columns::ColumnMap;
use crate::formats::{Part, Parts, ReadError, ReadOptions, ReadSummary, Sink, own_part};
use crate::formats::{read, read_stream};

/// What reading all sources came to.
#[derive(Debug, Default)]
pub(super) struct Reading {
    /// What was read of each source, in the order given.
    pub(super) summaries: Vec<ReadSummary>,
    /// What is wrong with them.
    pub(super) problems: Problems,
}

impl Reading {
    /// Returns how many rows were seen.
    pub(super) fn n_rows(&self) -> u64 {
        self.summaries.iter().map(|summary| summary.n_rows).sum()
    }

    /// Returns how many rows were left out because they could not be read.
    pub(super) fn n_bad_rows(&self) -> u64 {
        self.summaries.iter().map(|summary| summary.n_bad_rows).sum()
    }
}

/// Reads all sources, in the order given: judgements go to `rows`, problems are gathered in what is returned.
pub(super) fn read_sources(
    sources: &[PathBuf],
    columns: &ColumnMap,
    rows: &mut dyn Sink,
    printer: &Printer,
) -> Result<Reading, Failure> {
    if sources.iter().filter(|source| *source == Path::new("-")).count() > 1 {
        return Err(Failure::usage("standard input can be read only once").help("give `-` once"));
    }
    let options = ReadOptions { columns: columns.clone() };
    let mut reading = Reading::default();
    for source in sources {
        let name = if source == Path::new("-") { "standard input".to_owned() } else { source.display().to_string() };
        let total_bytes = fs::metadata(source).ok().filter(fs::Metadata::is_file).map(|known| known.len());
        let gauge = Gauge { total_bytes, ..Gauge::default() };
        let progress = Progress::start(printer, format!("reading {name}"), gauge.clone());
        let mut sink = Counted { rows, problems: &mut reading.problems, gauge: &gauge };
        let read = match countable(source) {
            Some(file) => {
                let stream = CountedFile { file, n_bytes: Arc::clone(&gauge.bytes) };
                read_stream(source, Box::new(stream), &options, &mut sink)
            }
            None => read(source, &options, &mut sink),
        };
        drop(progress);
        let summary = match read {
            Ok(summary) => summary,
            Err(error) => {
                tell(reading.problems.as_slice(), printer);
                return Err(unreadable(error).with_problems(reading.problems.into_vec()));
            }
        };
        let (n_rows, n_bad_rows) = (summary.n_rows, summary.n_bad_rows);
        printer.detail(&format!("{name}: {}, {n_rows} rows, {n_bad_rows} left out", summary.format));
        reading.summaries.push(summary);
    }
    if let Some(problem) = namesakes(sources, &reading.summaries) {
        reading.problems.add(problem);
    }
    Ok(reading)
}

/// Returns what is to be said of files that name no judge and are called alike: their judgements are one judge's.
fn namesakes(sources: &[PathBuf], summaries: &[ReadSummary]) -> Option<Problem> {
    let mut by_name: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (source, summary) in sources.iter().zip(summaries) {
        if let Some(name) = &summary.judge_by_file_name {
            by_name.entry(name).or_default().push(source.display().to_string());
        }
    }
    let (name, files) = by_name.into_iter().find(|(_, files)| files.len() > 1)?;
    let message = format!(
        "{} name no judge and were all taken as by `{name}`; if they are different judges, rename the files or add a \
         judge column",
        files.join(", ")
    );
    let problem = Problem::new(Severity::Warning, "judges-of-one-name", message);
    Some(problem.times(files.len() as u64).in_column("judge"))
}

fn unreadable(error: ReadError) -> Failure {
    let not_found = matches!(&error, ReadError::Io { source, .. } if source.kind() == io::ErrorKind::NotFound);
    let no_rows = matches!(&error, ReadError::NoRows { .. });
    let failure = Failure::from(anyhow::Error::from(error));
    if not_found {
        failure.help("check the path; `-` reads standard input")
    } else if no_rows {
        failure.help(
            "a log has one judgement a row, with at least an item and the judge's answer (item, verdict or item, score); \
             check that what writes the file has run to its end",
        )
    } else {
        failure
    }
}

/// Opens a file whose bytes can be counted as they are read. Parquet is read from its end, and whatever is no plain file
/// or cannot be opened is left to the readers, who say what is wrong.
fn countable(source: &Path) -> Option<File> {
    // A pipe is opened once only, by its reader: whoever writes to it ends when the first reader goes away.
    if !fs::metadata(source).ok()?.is_file() {
        return None;
    }
    let mut file = File::open(source).ok()?;
    let mut magic = [0; 4];
    let is_parquet = file.read_exact(&mut magic).is_ok() && &magic == b"PAR1";
    file.rewind().ok()?;
    (!is_parquet).then_some(file)
}

/// A file that tells how much of it was read.
struct CountedFile {
    file: File,
    n_bytes: Arc<AtomicU64>,
}

impl Read for CountedFile {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let n_read = self.file.read(bytes)?;
        self.n_bytes.fetch_add(n_read as u64, Ordering::Relaxed);
        Ok(n_read)
    }
}

/// Counts rows and keeps problems.
struct Counted<'a> {
    rows: &'a mut dyn Sink,
    problems: &'a mut Problems,
    gauge: &'a Gauge,
}

impl Sink for Counted<'_> {
    fn judgement(&mut self, judgement: &Judgement<'_>, line: u64) -> Result<(), ReadError> {
        self.gauge.rows.fetch_add(1, Ordering::Relaxed);
        self.rows.judgement(judgement, line)
    }

    fn problem(&mut self, problem: Problem) {
        self.problems.add(problem);
    }

    fn begin_source(&mut self, name: &str) {
        self.rows.begin_source(name);
    }

    fn parts(&mut self) -> Option<&mut dyn Parts> {
        self.rows.parts().is_some().then_some(self)
    }
}

const HAS_PARTS: &str = "counted rows have parts only where the rows have";

impl Parts for Counted<'_> {
    fn part(&mut self) -> Box<dyn Part> {
        let rows = self.rows.parts().expect(HAS_PARTS).part();
        Box::new(CountedPart { rows, problems: Problems::default(), n_rows: 0 })
    }

    fn append(&mut self, part: Box<dyn Part>) -> Result<(), ReadError> {
        let CountedPart { rows, problems, n_rows } = own_part(part);
        self.gauge.rows.fetch_add(n_rows, Ordering::Relaxed);
        self.problems.append(problems);
        self.rows.parts().expect(HAS_PARTS).append(rows)
    }
}

/// Some of the rows that are counted.
struct CountedPart {
    rows: Box<dyn Part>,
    problems: Problems,
    n_rows: u64,
}

impl Sink for CountedPart {
    fn judgement(&mut self, judgement: &Judgement<'_>, line: u64) -> Result<(), ReadError> {
        self.n_rows += 1;
        self.rows.judgement(judgement, line)
    }

    fn problem(&mut self, problem: Problem) {
        self.problems.add(problem);
    }
}

/// Returns the columns that `--columns` states: a mapping, or the `[columns]` table of a file named `*.toml`.
pub(super) fn columns(stated: &str) -> Result<ColumnMap, Failure> {
    if Path::new(stated).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml")) {
        return config::read_columns(Path::new(stated)).map_err(refused);
    }
    Ok(stated.parse::<ColumnMap>().context("failed to understand --columns")?)
}

/// Returns the failure that a refused file of settings is.
pub(super) fn refused(error: ConfigError) -> Failure {
    let help = error.help().map(str::to_owned);
    Failure { help, ..Failure::from(anyhow::Error::from(error)) }
}

/// Returns an error that lists the problems that `--strict` does not let pass, if there are any.
pub(super) fn strict(problems: &[Problem]) -> Result<(), Failure> {
    let errors: Vec<&Problem> = problems.iter().filter(|problem| problem.severity == Severity::Error).collect();
    if errors.is_empty() {
        return Ok(());
    }
    let mut message = "--strict: the input has errors".to_owned();
    for problem in errors {
        message.push_str("\n  ");
        message.push_str(&described(problem));
    }
    Err(Failure::usage(message)
        .help("mend the input, or leave out --strict to set these rows aside and count them")
        .with_problems(problems.to_vec()))
}

/// Prints what is wrong with the input; with `--json` or where it is only worth a note, when verbose.
pub(super) fn tell(problems: &[Problem], printer: &Printer) {
    for problem in problems {
        let message = described(problem);
        match (problem.severity, printer.form()) {
            // What was left aside may be what was meant.
            (Severity::Note, Form::Text) if problem.code == "columns-ignored" => {
                printer.note(&format!("note: {message}"));
            }
            (Severity::Note, _) | (_, Form::Json) => printer.detail(&format!("note: {message}")),
            // Rows set aside are no failure of the command: `error:` is kept for those.
            (Severity::Warning | Severity::Error, Form::Text) => printer.note(&format!("warning: {message}")),
        }
    }
}

/// Returns a problem as a line: where, what, how often.
fn described(problem: &Problem) -> String {
    let place = match (problem.file.as_deref(), problem.line) {
        (Some(file), Some(line)) => format!("{file}:{line}: "),
        (Some(file), None) => format!("{file}: "),
        (None, Some(line)) => format!("line {line}: "),
        (None, None) => String::new(),
    };
    let column = problem.column.as_ref().map_or_else(String::new, |column| format!("column `{column}`: "));
    let count =
        if problem.count > 1 { format!(" ({} times; this is the first)", problem.count) } else { String::new() };
    format!("{place}{column}{}{count}", problem.message)
}
