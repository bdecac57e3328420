//! Where readers put judgements and complaints, with the counting and the wording they share.

use std::path::Path;

use assize_calibration::judgement::Judgement;
use assize_calibration::problem::{Problem, Severity};

use super::{ForeignFormat, Input, ReadError, ReadSummary, Sink};

/// Why a record gave no judgement.
pub(super) enum Trouble {
    /// The record is bad: what is wrong, as a lower-case fragment.
    Bad(String),
    /// The reading as a whole must end.
    Stop(ReadError),
}

impl From<ReadError> for Trouble {
    fn from(error: ReadError) -> Self {
        Self::Stop(error)
    }
}

/// Returns trouble with a record, for `?`.
pub(super) fn bad<T>(message: impl Into<String>) -> Result<T, Trouble> {
    Err(Trouble::Bad(message.into()))
}

/// The way out of a reader.
pub(super) struct Out<'s> {
    sink: &'s mut dyn Sink,
    file: String,
    stem: String,
    summary: ReadSummary,
    n_judgements: u64,
    damage: Option<String>,
}

impl<'s> Out<'s> {
    pub(super) fn new(format: &dyn ForeignFormat, input: &Input, sink: &'s mut dyn Sink) -> Self {
        Self {
            sink,
            file: input.path.display().to_string(),
            stem: input.stem.clone(),
            summary: ReadSummary { format: format.name().to_owned(), ..ReadSummary::default() },
            n_judgements: 0,
            damage: None,
        }
    }

    /// Counts a record seen.
    pub(super) fn row(&mut self) {
        self.summary.n_rows += 1;
    }

    /// Hands on a judgement. One without a judge gets the file's stem.
    pub(super) fn put(&mut self, mut judgement: Judgement<'_>, line: u64) -> Result<(), ReadError> {
        if judgement.judge.is_empty() {
            judgement.judge = self.stem.clone().into();
        }
        self.n_judgements += 1;
        self.sink.judgement(&judgement, line)
    }

    /// Reports a record that is left out.
    pub(super) fn bad(&mut self, line: u64, message: &str) {
        self.summary.n_bad_rows += 1;
        self.problem(Severity::Error, "bad-row", line, format!("{message}; the record was left out"));
    }

    /// Reports something that needs care but leaves nothing unused.
    pub(super) fn warn(&mut self, code: &str, line: u64, message: &str) {
        self.problem(Severity::Warning, code, line, message.to_owned());
    }

    /// Reports something worth knowing.
    pub(super) fn note(&mut self, code: &str, line: u64, message: &str) {
        self.problem(Severity::Note, code, line, message.to_owned());
    }

    /// Reports that the file cannot be read any further, after `n_elements` elements.
    pub(super) fn damaged(&mut self, n_elements: u64, place: &str) {
        self.damage = Some(place.to_owned());
        if n_elements > 0 {
            let message = format!(
                "the file is damaged or cut short after element {n_elements} ({place}); what came before was read"
            );
            self.problem(Severity::Error, "damaged-file", n_elements, message);
        }
    }

    /// Reports what a record's trouble was.
    ///
    /// # Errors
    /// Returns the error that ends the reading.
    pub(super) fn settle(&mut self, result: Result<(), Trouble>, line: u64) -> Result<(), ReadError> {
        match result {
            Ok(()) => Ok(()),
            Err(Trouble::Bad(message)) => {
                self.bad(line, &message);
                Ok(())
            }
            Err(Trouble::Stop(error)) => Err(error),
        }
    }

    /// Ends the reading.
    ///
    /// # Errors
    /// Returns [`ReadError::Unusable`] when there was no judgement at all. `hint` says what to do then.
    pub(super) fn finish(self, path: &Path, hint: &str) -> Result<ReadSummary, ReadError> {
        if self.n_judgements > 0 {
            return Ok(self.summary);
        }
        let ReadSummary { format, n_rows, n_bad_rows, .. } = self.summary;
        let what = match self.damage {
            Some(place) => format!("damaged or cut short ({place})"),
            None if n_rows == 0 => "it holds no records".to_owned(),
            None if n_bad_rows == n_rows => format!("none of its {n_rows} records could be read"),
            None => format!("its {n_rows} records hold no judgement"),
        };
        Err(ReadError::Unusable {
            path: path.to_path_buf(),
            message: format!("looks like {format}, but {what}; {hint}"),
        })
    }

    fn problem(&mut self, severity: Severity, code: &str, line: u64, message: String) {
        self.sink.problem(Problem::new(severity, code, message).in_file(&self.file).at_line(line));
    }
}
