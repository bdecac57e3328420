//! Reading sources: options shared by commands that read logs, and what becomes of the rows.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use anyhow::Context as _;
use assize_calibration::judgement::Judgement;
use assize_calibration::problem::{Problem, Problems, Severity};

use super::printer::Printer;
use super::progress::{Gauge, Progress};
use super::status::Failure;
use crate::config::{self, ConfigError};
use crate::formats::columns::ColumnMap;
use crate::formats::{ReadError, ReadOptions, ReadSummary, Sink};
use crate::shim::{columns_from_text, read};

/// Takes rows as they are read.
pub(super) trait Rows {
    /// Takes one row, the `line`th of its file.
    fn take(&mut self, judgement: &Judgement<'_>, line: u64) -> Result<(), ReadError>;
}

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

/// Reads all sources into `rows`, in the order given.
pub(super) fn read_sources(
    sources: &[PathBuf],
    columns: &ColumnMap,
    rows: &mut dyn Rows,
    printer: &Printer,
) -> Result<Reading, Failure> {
    if sources.iter().filter(|source| *source == Path::new("-")).count() > 1 {
        return Err(Failure::usage("standard input can be read only once").help("give `-` once"));
    }
    let mut reading = Reading::default();
    for source in sources {
        let name = if source == Path::new("-") { "standard input".to_owned() } else { source.display().to_string() };
        let total_bytes = fs::metadata(source).ok().filter(fs::Metadata::is_file).map(|known| known.len());
        let gauge = Gauge { total_bytes, ..Gauge::default() };
        let options = ReadOptions { columns: columns.clone(), n_bytes_read: Some(Arc::clone(&gauge.bytes)) };
        let progress = Progress::start(printer, format!("reading {name}"), gauge.clone());
        let mut sink = Counted { rows, problems: &mut reading.problems, gauge: &gauge };
        let read = read(source, &options, &mut sink);
        drop(progress);
        let summary = read.map_err(unreadable)?;
        let (n_rows, n_bad_rows) = (summary.n_rows, summary.n_bad_rows);
        printer.detail(&format!("{name}: {}, {n_rows} rows, {n_bad_rows} left out", summary.format));
        reading.summaries.push(summary);
    }
    Ok(reading)
}

fn unreadable(error: ReadError) -> Failure {
    let not_found = matches!(&error, ReadError::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound);
    let failure = Failure::from(anyhow::Error::from(error));
    if not_found { failure.help("check the path; `-` reads standard input") } else { failure }
}

struct Counted<'a> {
    rows: &'a mut dyn Rows,
    problems: &'a mut Problems,
    gauge: &'a Gauge,
}

impl Sink for Counted<'_> {
    fn judgement(&mut self, judgement: &Judgement<'_>, line: u64) -> Result<(), ReadError> {
        self.gauge.rows.fetch_add(1, Ordering::Relaxed);
        self.rows.take(judgement, line)
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
    let read = columns_from_text(stated).map_err(anyhow::Error::msg).context("--columns does not say what is where")?;
    Ok(read)
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
    Err(Failure::usage(message).help("mend the input, or leave out --strict to set these rows aside and count them"))
}

/// Returns a problem as a line: where, what, how often.
pub(super) fn described(problem: &Problem) -> String {
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
