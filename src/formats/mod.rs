//! Reading logs: the plain log in any table format, and other tools' own files, recognised by content.
//!
//! Everything that reads a judgement ends in a [`Sink`]; nothing here keeps a log or computes a figure.

use std::path::{Path, PathBuf};

use assize_calibration::judgement::Judgement;
use assize_calibration::problem::Problem;

pub mod columns;
mod foreign;

/// Where a reader's rows and complaints go.
pub trait Sink {
    /// Takes one judgement. `line` is its line (or element of the array, or row of the table) counted from 1.
    ///
    /// # Errors
    /// Returns an error when the judgement cannot be taken (a full disk, say); the reader stops.
    fn judgement(&mut self, judgement: &Judgement<'_>, line: u64) -> Result<(), ReadError>;

    /// Takes a complaint about the input that does not end the reading.
    fn problem(&mut self, problem: Problem);
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
/// # Errors
/// See [`ReadError`]. Bad rows are not errors: they go to the sink as problems.
pub fn read(path: &Path, options: &ReadOptions, sink: &mut dyn Sink) -> Result<ReadSummary, ReadError> {
    use std::io::Read as _;
    let _ = options;
    let io = |source| ReadError::Io { path: path.to_path_buf(), source };
    let mut head = Vec::new();
    std::fs::File::open(path).map_err(io)?.take(256 << 10).read_to_end(&mut head).map_err(io)?;
    let file_name = path.file_name().and_then(|name| name.to_str()).unwrap_or("-");
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("-").to_owned();
    let Some(format) = foreign::recognise(&foreign::Head { file_name, bytes: &head }) else {
        return Err(ReadError::Unusable { path: path.to_path_buf(), message: "no reader".to_owned() });
    };
    let reader = Box::new(std::io::BufReader::new(std::fs::File::open(path).map_err(io)?));
    format.read(&mut foreign::Input { path: path.to_path_buf(), stem, reader }, sink)
}
