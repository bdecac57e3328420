//! What is wrong with a log, said so that a person can mend it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much a [`Problem`] matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; every row is used.
    Note,
    /// Rows were set aside or a figure needs care.
    Warning,
    /// Rows contradict each other or could not be read; `--strict` ends here.
    Error,
}

/// One kind of trouble found in a log: how often, and where it was first seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    /// How much it matters.
    pub severity: Severity,
    /// A stable word for the kind, such as `bad-row` or `conflicting-rows`.
    pub code: String,
    /// What is wrong and what to do about it, for a person.
    pub message: String,
    /// How many rows (or items, as the message says) it concerns.
    pub count: u64,
    /// The file of the first one, as given on the command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line of the first one, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The column of the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
}

impl Problem {
    /// Returns a problem met once, at no known place.
    #[must_use]
    pub fn new(severity: Severity, code: &str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { severity, code: code.to_owned(), message, count: 1, file: None, line: None, column: None }
    }

    /// Returns it as met `count` times.
    #[must_use]
    pub fn times(self, count: u64) -> Self {
        Self { count, ..self }
    }

    /// Returns it as first met in `file`.
    #[must_use]
    pub fn in_file(self, file: &str) -> Self {
        Self { file: Some(file.to_owned()), ..self }
    }

    /// Returns it as first met at `line`, counted from 1; 0 is unknown.
    #[must_use]
    pub fn at_line(self, line: u64) -> Self {
        Self { line: (line > 0).then_some(line), ..self }
    }

    /// Returns it as about `column`.
    #[must_use]
    pub fn in_column(self, column: &str) -> Self {
        Self { column: Some(column.to_owned()), ..self }
    }
}

/// Problems gathered while reading: one entry a code, file and column, with a count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// Adds a problem, or counts it to an earlier one of the same code, file and column.
    pub fn add(&mut self, problem: Problem) {
        let same = |p: &&mut Problem| p.code == problem.code && p.file == problem.file && p.column == problem.column;
        match self.0.iter_mut().find(same) {
            Some(known) => known.count += problem.count,
            None => self.0.push(problem),
        }
    }

    /// Adds all of `other`, in their order.
    pub fn append(&mut self, other: Self) {
        other.0.into_iter().for_each(|problem| self.add(problem));
    }

    /// Returns the problems in the order they were first seen.
    #[must_use]
    pub fn as_slice(&self) -> &[Problem] {
        &self.0
    }

    /// Returns the problems, consuming the collection.
    #[must_use]
    pub fn into_vec(self) -> Vec<Problem> {
        self.0
    }
}
