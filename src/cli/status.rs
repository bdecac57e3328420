//! How a command ends: its exit status, and what is said when it fails.

use std::process::ExitCode;

use assize_calibration::problem::Problem;

/// What a command tells its caller by its exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Status {
    /// Done, or every judge is fit.
    Done = 0,
    /// A limit of the gate is broken.
    Unfit = 1,
    /// The data decide neither way.
    Inconclusive = 2,
    /// The command line, a setting, an input or an output is wrong.
    Usage = 3,
    /// The tool itself failed.
    Internal = 70,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(status as u8)
    }
}

/// Why a command did not do what it was asked, and what to do about it.
#[derive(Debug)]
pub(super) struct Failure {
    /// The status the process ends with.
    pub status: Status,
    /// What was attempted, with the causes behind it.
    pub error: anyhow::Error,
    /// What to do, as a sentence or command. Absent when the message says it.
    pub help: Option<String>,
    /// What is wrong with the input, where that was looked at: likely to be why. Told as text already, unless `--json`.
    pub problems: Vec<Problem>,
}

impl Failure {
    /// Returns a failure of usage or configuration with a message of its own.
    pub(super) fn usage(message: impl Into<String>) -> Self {
        anyhow::Error::msg(message.into()).into()
    }

    /// Adds what to do.
    #[must_use]
    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds what is wrong with the input.
    #[must_use]
    pub(super) fn with_problems(mut self, problems: Vec<Problem>) -> Self {
        self.problems = problems;
        self
    }

    /// Returns the messages of the causes, the nearest first.
    ///
    /// A cause that only repeats the end of what was said before it adds nothing and is left out.
    #[must_use]
    pub(super) fn causes(&self) -> Vec<String> {
        let mut said = self.error.to_string();
        let mut causes = Vec::new();
        for cause in self.error.chain().skip(1) {
            let message = cause.to_string();
            if !said.ends_with(&message) {
                causes.push(message.clone());
            }
            said = message;
        }
        causes
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self { status: Status::Usage, error, help: None, problems: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_that_was_already_said_is_not_repeated() {
        let error = anyhow::anyhow!("disk full").context("failed to write x: disk full").context("failed to report");
        assert_eq!(Failure::from(error).causes(), ["failed to write x: disk full"]);
    }
}
