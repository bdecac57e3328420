//! Files of settings (TOML), read strictly: a key that is not known is an error that says which one was meant.
//!
//! Layers, the upper one counting: flags, `ASSIZE_*` variables, a settings file, what is built in. The command line
//! puts the layers together; here files are read and checked.

mod document;
mod gate;
#[cfg(feature = "live")]
mod judge;
mod nearest;
mod settings;

use std::path::PathBuf;

pub use gate::{built_in_gate_text, gate_text, read_gate};
#[cfg(feature = "live")]
pub use judge::{JudgeSettings, read_judge};
pub use nearest::nearest;
pub use settings::{Settings, read_columns, read_settings};

/// Why a file of settings was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file could not be read.
    #[error("failed to read {path}", path = .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// Something in the file is wrong.
    #[error("{path}:{line}:{column}: {message}", path = .path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// Its line, counted from 1.
        line: usize,
        /// The character in the line, counted from 1.
        column: usize,
        /// What is wrong.
        message: String,
        /// What to do about it.
        help: Option<String>,
    },
}

impl ConfigError {
    /// Returns what to do about it, where that is not in the message.
    #[must_use]
    pub fn help(&self) -> Option<&str> {
        match self {
            Self::Read { .. } => None,
            Self::Refused { help, .. } => help.as_deref(),
        }
    }
}

#[cfg(test)]
impl ConfigError {
    /// Checks that a file was refused at this line and character, and what was said and advised.
    #[track_caller]
    fn check_refused(&self, place: (usize, usize), said: &str, helped: &str) {
        let Self::Refused { line, column, message, help, .. } = self else { panic!("{self}") };
        assert_eq!((*line, *column), place, "{self}");
        assert!(message.contains(said), "{message:?} does not say {said:?}");
        let help = help.as_deref().unwrap_or_default();
        assert!(help.contains(helped), "{help:?} does not say {helped:?}");
    }
}
