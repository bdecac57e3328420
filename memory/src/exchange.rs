//! JSON Lines: one [`Experience`] a line, which is all that is needed to move a store or to keep it under review.
//!
//! What is exported and imported into an empty store is exported again byte for byte.

use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, BufRead, Read as _};

use serde::Serialize;

use crate::entry::{Digest, Entry, ExperienceError, Redaction};
use crate::experience::Experience;
use crate::store::{Added, Store, StoreError};

/// Longest line, in bytes: an experience with every text at its longest, each character escaped, fits.
pub const MAX_LINE_BYTES: u64 = 64 << 20;
/// How many refused lines and secrets are told one by one; the rest is counted.
pub const MAX_TOLD: usize = 100;
/// How many entries are written at once: few enough that other writers do not wait long.
const BATCH_ENTRIES: usize = 500;
/// How many bytes of lines are gathered before they are written.
const BATCH_BYTES: usize = 8 << 20;

/// Why a line is no experience.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LineError {
    /// It is not JSON, or not of the right shape.
    #[error("{message} (column {column})")]
    Shape {
        /// What is wrong.
        message: String,
        /// Where, in bytes counted from 1.
        column: usize,
    },
    /// It is longer than [`MAX_LINE_BYTES`].
    #[error("the line is longer than {MAX_LINE_BYTES} bytes")]
    TooLong,
    /// It is an experience that cannot be stored.
    #[error(transparent)]
    Experience(#[from] ExperienceError),
}

/// Returns a line with an experience, without its end.
pub fn to_line(experience: &Experience) -> String {
    serde_json::to_string(experience).expect("names, texts and finite numbers are always JSON")
}

/// Reads a line.
///
/// # Errors
/// Says what is wrong with it and where.
pub fn from_line(line: &[u8]) -> Result<Entry, LineError> {
    let experience: Experience = serde_json::from_slice(line).map_err(|error| {
        let place = format!(" at line {} column {}", error.line(), error.column());
        let message = error.to_string();
        LineError::Shape {
            message: message.strip_suffix(&place).unwrap_or(&message).to_owned(),
            column: error.column(),
        }
    })?;
    Ok(Entry::new(experience)?)
}

/// Whether an import changes the store.
#[derive(Debug)]
pub enum Target<'a> {
    /// It does.
    Write(&'a mut Store),
    /// It only says what it would do.
    Compare(&'a Store),
    /// It only says what it would do to a store that does not exist yet.
    CompareEmpty,
}

/// A line that was not taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Rejection {
    /// Which line, counted from 1.
    pub line: u64,
    /// Why.
    pub message: String,
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

/// A key that was taken out of a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RedactedLine {
    /// Which line, counted from 1.
    pub line: u64,
    /// What was taken out.
    #[serde(flatten)]
    pub redaction: Redaction,
}

impl fmt::Display for RedactedLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.redaction)
    }
}

/// What an import came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Imported {
    /// How many experiences are new.
    pub n_added: u64,
    /// How many were there already, in the store or on an earlier line.
    pub n_already_there: u64,
    /// How many lines were not taken.
    pub n_rejected: u64,
    /// The first [`MAX_TOLD`] of those.
    pub rejected: Vec<Rejection>,
    /// How many keys were taken out.
    pub n_redacted: u64,
    /// The first [`MAX_TOLD`] of those.
    pub redacted: Vec<RedactedLine>,
}

/// Why an import ended early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The input could not be read further.
    #[error("failed to read line {line}")]
    Read {
        /// Which line, counted from 1.
        line: u64,
        /// Why.
        source: io::Error,
    },
    /// The store did not take it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Imports JSON Lines. Lines that are no experience are left out and counted; blank ones are passed over.
///
/// Written in batches: an import that ends early leaves the batches before, and the same import again adds the rest.
///
/// # Errors
/// Fails when the input cannot be read or the store not be written.
pub fn import(input: &mut dyn BufRead, mut target: Target<'_>) -> Result<Imported, ImportError> {
    let mut imported = Imported::default();
    let mut seen = BTreeSet::new();
    let mut batch: Vec<Entry> = Vec::new();
    let mut n_batch_bytes = 0;
    let mut line = Vec::new();
    let mut line_number = 0;
    loop {
        line_number += 1;
        let read = read_line(input, &mut line).map_err(|source| ImportError::Read { line: line_number, source })?;
        let text = if line_number == 1 { line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&line) } else { &line };
        let entry = match read {
            LineRead::End => break,
            LineRead::TooLong => Err(LineError::TooLong),
            LineRead::Line if text.trim_ascii().is_empty() => continue,
            LineRead::Line => from_line(text),
        };
        match entry {
            Ok(entry) => {
                imported.tell_redactions(line_number, &entry);
                n_batch_bytes += line.len();
                batch.push(entry);
            }
            Err(error) => {
                imported.n_rejected += 1;
                if imported.rejected.len() < MAX_TOLD {
                    imported.rejected.push(Rejection { line: line_number, message: error.to_string() });
                }
            }
        }
        if batch.len() >= BATCH_ENTRIES || n_batch_bytes >= BATCH_BYTES {
            imported.count(&take(&batch, &mut target, &mut seen)?);
            batch.clear();
            n_batch_bytes = 0;
        }
    }
    imported.count(&take(&batch, &mut target, &mut seen)?);
    Ok(imported)
}

/// Stores the entries, or finds out what would become of them.
fn take(batch: &[Entry], target: &mut Target<'_>, seen: &mut BTreeSet<Digest>) -> Result<Vec<Added>, StoreError> {
    let store = match target {
        Target::Write(store) => return if batch.is_empty() { Ok(Vec::new()) } else { store.add(batch) },
        Target::Compare(store) => Some(&**store),
        Target::CompareEmpty => None,
    };
    let would_be = |entry: &Entry| {
        let is_stored = store.map(|store| store.contains(entry.digest())).transpose()?.unwrap_or(false);
        Ok(if seen.insert(entry.digest()) && !is_stored { Added::New } else { Added::AlreadyThere })
    };
    batch.iter().map(would_be).collect()
}

impl Imported {
    fn count(&mut self, added: &[Added]) {
        for added in added {
            match added {
                Added::New => self.n_added += 1,
                Added::AlreadyThere => self.n_already_there += 1,
            }
        }
    }

    fn tell_redactions(&mut self, line: u64, entry: &Entry) {
        self.n_redacted += entry.redactions().len() as u64;
        let n_left = MAX_TOLD - self.redacted.len();
        let told = entry.redactions().iter().take(n_left);
        self.redacted.extend(told.map(|redaction| RedactedLine { line, redaction: redaction.clone() }));
    }
}

enum LineRead {
    Line,
    /// It was passed over.
    TooLong,
    End,
}

/// Reads the next line into `line`.
fn read_line(input: &mut dyn BufRead, line: &mut Vec<u8>) -> io::Result<LineRead> {
    line.clear();
    let n_read = input.take(MAX_LINE_BYTES + 1).read_until(b'\n', line)?;
    if n_read == 0 {
        return Ok(LineRead::End);
    }
    if n_read as u64 <= MAX_LINE_BYTES {
        return Ok(LineRead::Line);
    }
    if line.last() != Some(&b'\n') {
        input.skip_until(b'\n')?;
    }
    line.clear();
    Ok(LineRead::TooLong)
}
