//! What every table has in common: cells, rows, and the complaints made while reading them.
//!
//! A reader of a table format ([`super::delimited`], [`super::json`], …) knows nothing of judgements: it hands rows to a
//! [`RowSink`]. What the cells mean is decided in [`super::plan`].

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::Path;

use assize_calibration::problem::{Problem, Severity};

use super::fields::Field;
use super::{ReadError, Sink};

/// One cell of a row. Text is trimmed and never empty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cell<'a> {
    /// No such column, an empty field, or a JSON `null`.
    Empty,
    /// A word or a number as text.
    Text(&'a str),
    /// A whole number of a typed table.
    Int(i64),
    /// A number of a typed table.
    Number(f64),
    /// A truth value of a typed table.
    Truth(bool),
}

impl<'a> Cell<'a> {
    /// Returns the cell of a piece of text: trimmed, empty if nothing is left.
    #[inline]
    pub(super) fn of(text: &'a str) -> Self {
        let bytes = text.as_bytes();
        match (bytes.first(), bytes.last()) {
            // Most cells need no trimming, which is cheaper to see than to do.
            (Some(first), Some(last)) if first.is_ascii_graphic() && last.is_ascii_graphic() => Self::Text(text),
            (None, _) => Self::Empty,
            _ => match text.trim() {
                "" => Self::Empty,
                trimmed => Self::Text(trimmed),
            },
        }
    }

    /// Returns the cell as text, or `None` if it is empty.
    #[inline]
    pub(super) fn text(self) -> Option<Cow<'a, str>> {
        Some(match self {
            Self::Empty => return None,
            Self::Text(text) => Cow::Borrowed(text),
            Self::Int(number) => Cow::Owned(number.to_string()),
            Self::Number(number) => Cow::Owned(number.to_string()),
            Self::Truth(truth) => Cow::Borrowed(if truth { "true" } else { "false" }),
        })
    }

    /// Returns the cell as a number, or `None` if it is not one. May be NaN or infinite.
    #[inline]
    pub(super) fn number(self) -> Option<f64> {
        match self {
            Self::Empty | Self::Truth(_) => None,
            Self::Text(text) => match text.as_bytes() {
                // A scale of one digit is what most logs have.
                [digit @ b'0'..=b'9'] => Some(f64::from(digit - b'0')),
                _ => text.parse().ok(),
            },
            Self::Int(number) => Some(number as f64),
            Self::Number(number) => Some(number),
        }
    }

    /// Returns the cell as a whole number of at least 0, or `None` if it is not one.
    #[inline]
    pub(super) fn whole(self) -> Option<u64> {
        match self {
            Self::Empty | Self::Truth(_) => None,
            Self::Int(number) => u64::try_from(number).ok(),
            Self::Text(text) => text.parse().ok().or_else(|| text.parse().ok().and_then(whole)),
            Self::Number(number) => whole(number),
        }
    }

    /// Returns the cell as the number of a repeat, counted from 0 or from 1, or `None` if it is not one.
    pub(super) fn repeat(self) -> Option<u32> {
        // The largest is the log's mark of absence.
        self.whole().and_then(|number| u32::try_from(number).ok()).filter(|&number| number < u32::MAX)
    }

    /// Returns whether the cell is a number with more digits than a number keeps: as names, two such may be one.
    pub(super) fn is_inexact(self) -> bool {
        // From 2^53 on, neighbouring whole numbers are one and the same floating-point number.
        const LARGEST_EXACT: f64 = 9_007_199_254_740_992.0;
        matches!(self, Self::Number(number) if number.abs() >= LARGEST_EXACT)
    }
}

/// Returns a number as a whole one, if it is that. Typed tables often store counts as floats.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range and the fraction are checked")]
#[inline]
fn whole(number: f64) -> Option<u64> {
    ((0.0..9e15).contains(&number) && number.fract() == 0.0).then_some(number as u64)
}

/// A row: its cells by the position of their column.
pub(super) trait Cells {
    /// Returns the cell of a column.
    fn cell(&self, column_idx: usize) -> Cell<'_>;
}

/// Separates (and ends) the elements of a list that stands in one cell of a JSON or Parquet table.
pub(super) const LIST_END: char = '\u{1f}';

/// Which columns a [`RowSink`] will look at.
#[derive(Clone, Debug, Default)]
pub(super) struct Needs {
    /// All of them, with their names. In an open table some may stand beyond the columns given.
    pub columns: BTreeMap<usize, String>,
    /// In an open table, the fields whose other names may turn up in a later row, each with its column.
    pub by_name: Vec<(Field, usize)>,
    /// Names that are not wanted in a later row either.
    pub ignored: Vec<String>,
}

/// A column that was not seen when the columns were settled, and has one of a field's names.
#[derive(Clone, Copy, Debug)]
pub(super) struct LateColumn {
    /// The name, as [`Field::names`] has it.
    pub name: &'static str,
    pub field: Field,
    /// The field's column so far.
    pub column_idx: usize,
    /// Whether the row has the other column too, which then counts.
    pub is_beside: bool,
    /// Another late name, which this row has too and which came before it: that counts.
    pub after: Option<&'static str>,
}

/// What takes rows.
pub(super) trait Rows {
    /// Takes one row.
    fn row<C: Cells>(&mut self, cells: &C, line: u64) -> Result<(), ReadError>;

    /// Learns that a row could not be read at all.
    fn bad_row(&mut self, code: &'static str, line: u64, message: impl FnOnce() -> String);
}

/// Rows that never come.
impl Rows for Infallible {
    fn row<C: Cells>(&mut self, _cells: &C, _line: u64) -> Result<(), ReadError> {
        match *self {}
    }

    fn bad_row(&mut self, _code: &'static str, _line: u64, _message: impl FnOnce() -> String) {
        match *self {}
    }
}

/// Where the rows of a table go.
pub(super) trait RowSink: Rows + Send {
    /// Takes some of the rows on a thread of its own.
    type Part: Rows + Send;

    /// Takes the names of the columns, before any row, and returns which of them matter.
    ///
    /// `open` columns may be absent from any row (JSON objects); the rest stand in every row.
    fn start(&mut self, columns: &[String], open: bool) -> Result<Needs, ReadError>;

    /// Learns that a row has a column that no row had when the columns were settled.
    fn late_column(&mut self, late: LateColumn, line: u64);

    /// Learns that the table ends where it should not. `line` is that of its last row.
    fn cut_short(&mut self, line: u64, message: &str);

    /// Returns an empty part for some of the rows, or `None` if the rows have to come one by one.
    fn part(&mut self) -> Option<Self::Part>;

    /// Takes a part back. Parts come in the order of their rows.
    fn append(&mut self, part: Self::Part) -> Result<(), ReadError>;
}

/// Complaints, gathered so that a million of one kind cost one message.
#[derive(Debug, Default)]
pub(super) struct Complaints {
    file: String,
    seen: Vec<(&'static str, Option<usize>, Problem)>,
}

impl Complaints {
    pub(super) fn new(path: &Path) -> Self {
        Self { file: path.display().to_string(), seen: Vec::new() }
    }

    /// Adds a complaint about a row, and a column of it. The message is made for the first one only.
    pub(super) fn add(
        &mut self,
        severity: Severity,
        code: &'static str,
        line: u64,
        column: Option<(usize, &str)>,
        message: impl FnOnce() -> String,
    ) {
        let column_idx = column.map(|(idx, _)| idx);
        if let Some((_, _, problem)) = self.seen.iter_mut().find(|(c, idx, _)| *c == code && *idx == column_idx) {
            problem.count += 1;
            return;
        }
        let problem = Problem::new(severity, code, message()).in_file(&self.file).at_line(line);
        let problem = match column {
            Some((_, name)) => problem.in_column(name),
            None => problem,
        };
        self.seen.push((code, column_idx, problem));
    }

    /// Returns an empty collection about the same file.
    pub(super) fn for_part(&self) -> Self {
        Self { file: self.file.clone(), seen: Vec::new() }
    }

    /// Adds the complaints about the rows that follow.
    pub(super) fn append(&mut self, next: Self) {
        for (code, column_idx, problem) in next.seen {
            match self.seen.iter_mut().find(|(c, idx, _)| *c == code && *idx == column_idx) {
                Some((_, _, known)) => known.count += problem.count,
                None => self.seen.push((code, column_idx, problem)),
            }
        }
    }

    /// Returns a complaint about the file as a whole.
    pub(super) fn about_file(&self, severity: Severity, code: &str, count: u64, message: String) -> Problem {
        Problem::new(severity, code, message).times(count).in_file(&self.file)
    }

    /// Hands all complaints to the sink, in the order they were first made.
    pub(super) fn flush(&mut self, sink: &mut dyn Sink) {
        for (_, _, problem) in self.seen.drain(..) {
            sink.problem(problem);
        }
    }
}

/// Returns `text` cut to a length that fits a message, on one line.
pub(super) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 60;
    let mut out: String = text.chars().take(LONGEST).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(LONGEST).is_some() {
        out.push('…');
    }
    out
}
