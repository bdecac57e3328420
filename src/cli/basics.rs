//! What every command that measures a log is told: its columns, which outcome, on which scale, how sure; and the layers
//! that flags, variables, the settings file and what is built in make.

use std::path::{Path, PathBuf};

use assize_calibration::audit::{AuditConfig, BadSetting, CompareConfig};
use assize_calibration::gate::Gate;
use assize_calibration::judgement::OutcomeKind;

use super::printer::Printer;
use super::reading::{self, refused};
use super::status::Failure;
use super::values::{Outcome, scale, seed, word};
use crate::config::{Settings, read_gate, read_settings};
use crate::formats::columns::ColumnMap;

/// Flags of every command that measures a log.
#[derive(Debug, clap::Args)]
pub(super) struct Basics {
    /// Which columns mean what: a mapping, or a .toml file with a [columns] table
    #[arg(long, value_name = "MAP|FILE.toml")]
    columns: Option<String>,
    /// File of settings
    #[arg(long, value_name = "FILE.toml", env = "ASSIZE_CONFIG", hide_env_values = true)]
    config: Option<PathBuf>,
    /// Which outcome, when rows carry several [default: choice, else verdict, score, category]
    #[arg(long, value_name = "KIND", help_heading = "What to measure")]
    outcome: Option<Outcome>,
    /// Lowest and highest score possible, as 1-10 or -1..1 [default: the lowest and highest seen]
    #[arg(long, value_name = "LOW-HIGH", value_parser = scale, allow_hyphen_values = true, help_heading = "What to measure")]
    scale: Option<[f64; 2]>,
    /// A score of at least this accepts
    #[arg(long, value_name = "SCORE", allow_hyphen_values = true, help_heading = "What to measure")]
    accept_at: Option<f64>,
    /// A label of at least this says that the item is good
    #[arg(long, value_name = "LABEL", allow_hyphen_values = true, help_heading = "What to measure")]
    good_at: Option<f64>,
    /// Confidence level of all intervals [default: 0.95]
    #[arg(
        long,
        value_name = "LEVEL",
        env = "ASSIZE_LEVEL",
        hide_env_values = true,
        allow_negative_numbers = true,
        help_heading = "How to measure"
    )]
    level: Option<f64>,
    /// Seed of what draws at random [default: 1]
    #[arg(long, env = "ASSIZE_SEED", hide_env_values = true, value_parser = seed, allow_negative_numbers = true, help_heading = "How to measure")]
    seed: Option<u64>,
}

/// A flag of the command line, and its value where it was given.
pub(super) type Word = (&'static str, Option<String>);

impl Basics {
    /// Puts flags, variables, the settings file and what is built in together, the first counting.
    pub(super) fn layers(&self, printer: &Printer) -> Result<Layers, Failure> {
        let settings = match &self.config {
            Some(path) => {
                printer.detail(&format!("settings: {}", path.display()));
                read_settings(path).map_err(refused)?
            }
            None => Settings::default(),
        };
        let mut audit = settings.audit;
        audit.level = self.level.unwrap_or(audit.level);
        audit.seed = self.seed.unwrap_or(audit.seed);
        audit.outcome = self.outcome.map(OutcomeKind::from).or(audit.outcome);
        audit.scale = self.scale.or(audit.scale);
        audit.accept_at = self.accept_at.or(audit.accept_at);
        audit.good_at = self.good_at.or(audit.good_at);
        let columns = match &self.columns {
            Some(stated) => reading::columns(stated)?,
            None => settings.columns.unwrap_or_default(),
        };
        Ok(Layers { audit, compare: settings.compare, columns, gate: settings.gate })
    }

    /// Returns the flags as the words of a command line, also those given by variables.
    pub(super) fn words(&self) -> [Word; 8] {
        [
            ("--columns", self.columns.clone()),
            ("--config", file(self.config.as_deref())),
            ("--outcome", self.outcome.as_ref().and_then(word)),
            ("--scale", self.scale.map(|[low, high]| format!("{low}..{high}"))),
            ("--accept-at", number(self.accept_at)),
            ("--good-at", number(self.good_at)),
            ("--level", number(self.level)),
            ("--seed", self.seed.map(|seed| seed.to_string())),
        ]
    }
}

/// The layers put together; a command lays flags of its own over them, and checks.
pub(super) struct Layers {
    pub(super) audit: AuditConfig,
    pub(super) compare: CompareConfig,
    pub(super) columns: ColumnMap,
    gate: Option<Gate>,
}

impl Layers {
    /// Says which flag is wrong, if a setting is out of its range.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let settings = self.audit.check().and_then(|()| self.compare.check());
        settings.map_err(|BadSetting { field, must }| Failure::usage(format!("{} {must}", flag(field))))
    }

    /// Returns the gate: that of the file, else that of the settings, else the built-in one.
    pub(super) fn gate(&mut self, stated: Option<&Path>, printer: &Printer) -> Result<Gate, Failure> {
        let gate = match (stated, self.gate.take()) {
            (Some(path), _) => read_gate(path).map_err(refused)?,
            (None, Some(gate)) => gate,
            (None, None) => Gate::built_in(),
        };
        printer.detail(&format!("gate: {}", gate.name));
        Ok(gate)
    }
}

/// Returns the flag that sets a field of the configuration.
fn flag(field: &str) -> String {
    match field {
        "false_accept_cap" => "--cap".to_owned(),
        "stability_repeats" => "--repeats".to_owned(),
        "label_sampling" => "--labels-are".to_owned(),
        "tuned_on_items" => "--tuned-here".to_owned(),
        other => format!("--{}", other.replace('_', "-")),
    }
}

/// Returns the words of the flags that were given.
pub(super) fn given(words: impl IntoIterator<Item = Word>) -> Vec<String> {
    words.into_iter().filter_map(|(name, value)| Some([name.to_owned(), value?])).flatten().collect()
}

pub(super) fn number(number: Option<f64>) -> Option<String> {
    number.map(|number| number.to_string())
}

pub(super) fn file(path: Option<&Path>) -> Option<String> {
    path.map(|path| path.display().to_string())
}

pub(super) fn names(sources: &[PathBuf]) -> Vec<String> {
    sources.iter().map(|source| source.display().to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_about_settings_name_flags_that_exist() {
        let command = <super::super::Cli as clap::CommandFactory>::command();
        let audit = command.find_subcommand("audit").unwrap();
        for field in [
            "level",
            "base_rate",
            "false_accept_cap",
            "accept_at",
            "good_at",
            "scale",
            "stability_repeats",
            "costs",
            "label_sampling",
            "tuned_on_items",
            "windows",
        ] {
            let flag = flag(field);
            assert!(audit.get_arguments().any(|arg| arg.get_long() == flag.strip_prefix("--")), "{flag}");
        }
    }
}
