//! Reading logs: the plain log in any table format, and other tools' own files, recognised by content.
//!
//! Everything that reads a judgement ends in a [`Sink`]; nothing here keeps a log or computes a figure.

use std::any::Any;
use std::io::Read;
use std::path::{Path, PathBuf};

use assize_calibration::judgement::Judgement;
use assize_calibration::problem::Problem;

mod answers;
mod blocks;
mod collect;
mod column_text;
pub mod columns;
mod delimited;
mod fields;
mod foreign;
mod json;
mod json_row;
mod labels;
mod ordinary;
#[cfg(feature = "parquet")]
mod parquet_table;
mod plan;
mod rare;
mod rows;
mod source;
mod table;
#[cfg(test)]
mod tests;
mod write;

pub use collect::{Collector, Tee};
pub use write::{LogWriter, OutputFormat};

use rows::PlainRows;
use source::{Container, Source};
use table::RowSink;

/// Where a reader's rows and complaints go.
pub trait Sink: Send {
    /// Takes one judgement. `line` is its line (or element of the array, or row of the table) counted from 1.
    ///
    /// # Errors
    /// Returns an error when the judgement cannot be taken (a full disk, say); the reader stops.
    fn judgement(&mut self, judgement: &Judgement<'_>, line: u64) -> Result<(), ReadError>;

    /// Takes a complaint about the input that does not end the reading.
    fn problem(&mut self, problem: Problem);

    /// Is told that what follows comes from the file `name`.
    fn begin_source(&mut self, _name: &str) {}

    /// Returns how this sink is filled by several threads, or `None` if it has to see the rows one by one.
    fn parts(&mut self) -> Option<&mut dyn Parts> {
        None
    }
}

/// A sink that can be filled in parts, so that a large table is read on all cores.
pub trait Parts {
    /// Returns an empty sink for some of the rows.
    fn part(&mut self) -> Box<dyn Part>;

    /// Takes what a part was given. Parts come back in the order of their rows.
    ///
    /// # Errors
    /// As [`Sink::judgement`].
    fn append(&mut self, part: Box<dyn Part>) -> Result<(), ReadError>;
}

/// Some of a sink's rows. It knows the type of its whole, which takes it back as [`Any`].
pub trait Part: Sink + Any {}

impl<S: Sink + Any> Part for S {}

/// Returns the part as what its maker made it.
///
/// # Panics
/// Panics when it was made by another kind of sink, which no reader does.
pub fn own_part<S: Part>(part: Box<dyn Part>) -> S {
    let part: Box<dyn Any> = part;
    *part.downcast().expect("a part returns to the sink that made it")
}

/// What was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadSummary {
    /// The format it was recognised as, such as `csv` or `LLMBar result.json`.
    pub format: String,
    /// Rows seen, bad ones included.
    pub n_rows: u64,
    /// Rows that could not be read and were left out; each was reported as a problem.
    pub n_bad_rows: u64,
    /// The file's stem, where rows that name no judge were taken as by a judge of that name.
    pub judge_by_file_name: Option<String>,
}

/// Why a source could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The file could not be opened or read.
    #[error("failed to read {path}", path = .path.display())]
    Io {
        /// The file, or `standard input`.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// What was read could not be written on.
    #[error("failed to write {path}", path = .path.display())]
    Write {
        /// The file being written.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The source as a whole is not a log that can be read.
    #[error("{path}: {message}", path = .path.display())]
    Unusable {
        /// The file, or `standard input`.
        path: PathBuf,
        /// What is wrong and what to do.
        message: String,
    },
    /// The source holds no row.
    #[error("{path}: {message}", path = .path.display())]
    NoRows {
        /// The file, or `standard input`.
        path: PathBuf,
        /// What it holds instead.
        message: String,
    },
    /// The column mapping does not fit.
    #[error("column mapping: {0}")]
    Columns(String),
}

/// How to read a source.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// Which columns mean what. Empty: recognised by their names.
    pub columns: columns::ColumnMap,
}

/// Reads one source (a file, or `-` for standard input) into `sink`.
///
/// Compression, encoding and format are told from the content. Problems that concern rows are handed to the sink at the
/// end, one a kind, also when the reading fails.
///
/// # Errors
/// See [`ReadError`]. Bad rows are not errors: they go to the sink as problems.
pub fn read(path: &Path, options: &ReadOptions, sink: &mut dyn Sink) -> Result<ReadSummary, ReadError> {
    read_source(source::open(path)?, options, source::ROW_BYTES, sink)
}

/// Reads a stream into `sink`. `path` is what it is called in messages; its stem names the judge where no column does.
///
/// # Errors
/// As [`read`].
pub fn read_stream(
    path: &Path,
    stream: Box<dyn Read + Send>,
    options: &ReadOptions,
    sink: &mut dyn Sink,
) -> Result<ReadSummary, ReadError> {
    read_source(source::from_stream(path, stream)?, options, source::ROW_BYTES, sink)
}

fn read_source(
    mut source: Source,
    options: &ReadOptions,
    row_bytes: usize,
    sink: &mut dyn Sink,
) -> Result<ReadSummary, ReadError> {
    sink.begin_source(&source.path.display().to_string());
    for assumption in source.assumptions.drain(..) {
        sink.problem(assumption);
    }
    // Whoever names columns knows the table better than a guess from its content.
    if options.columns.is_empty() {
        let head = foreign::Head { file_name: &source.file_name, bytes: &source.head };
        if let Some(format) = foreign::recognise(&head) {
            let Source { path, stem, reader, .. } = source;
            let mut summary = format.read(&mut foreign::Input { path, stem, reader }, sink)?;
            if summary.format.is_empty() {
                format.name().clone_into(&mut summary.format);
            }
            return Ok(summary);
        }
    }
    let (path, stem) = (source.path.clone(), source.stem.clone());
    let mut rows = PlainRows::new(&path, &stem, &options.columns, sink);
    let format = read_table(source, row_bytes, &mut rows);
    let summary = rows.finish();
    Ok(ReadSummary { format: format?.to_owned(), ..summary })
}

/// Reads the rows of a table in any format and returns the format's name.
fn read_table<R: RowSink>(source: Source, row_bytes: usize, rows: &mut R) -> Result<&'static str, ReadError> {
    let unusable = |message: &str| ReadError::Unusable { path: source.path.clone(), message: message.to_owned() };
    match source.container {
        Container::Zip if source.head.windows(3).any(|word| word == b"xl/") => {
            Err(unusable("is an Excel workbook; save the sheet as CSV (UTF-8) and name that"))
        }
        Container::Zip => Err(unusable("is a zip file that no reader knows; unpack it and name the log inside")),
        #[cfg(feature = "parquet")]
        Container::Parquet => parquet_table::read(source, rows),
        #[cfg(not(feature = "parquet"))]
        Container::Parquet => {
            Err(unusable("is a Parquet table, and this build leaves Parquet out; save it as CSV or JSONL"))
        }
        Container::Text if source.head.trim_ascii().is_empty() => {
            Err(ReadError::NoRows { path: source.path, message: "is empty".to_owned() })
        }
        Container::Text if source.looks_binary() => {
            Err(unusable("is not text, nor any format that is known; save the log as CSV, JSONL or Parquet"))
        }
        Container::Text if json::recognises(&source.head) => json::read(source, row_bytes, rows),
        Container::Text => delimited::read(source, row_bytes, rows),
    }
}
