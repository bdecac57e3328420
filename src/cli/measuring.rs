//! What commands that measure a log without auditing it are told: its columns, the gate, how to measure.

use std::path::PathBuf;

use anyhow::Context as _;
use assize_calibration::audit::{AuditConfig, AuditError, BadSetting};
use assize_calibration::gate::Gate;
use assize_calibration::judgement::OutcomeKind;
use assize_calibration::log::Log;

use super::audit::{Outcome, flag, scale, seed};
use super::printer::Printer;
use super::reading::{self, read_sources, refused};
use super::status::Failure;
use crate::config::{Settings, read_gate, read_settings};
use crate::formats::Collector;
use crate::formats::columns::ColumnMap;

/// Flags as `assize audit` has them.
#[derive(Debug, clap::Args)]
pub(super) struct Measuring {
    /// Which columns mean what: a mapping, or a .toml file with a [columns] table
    #[arg(long, value_name = "MAP|FILE.toml")]
    pub(super) columns: Option<String>,
    /// Limits the judge must keep; `assize gate` prints the built-in ones
    #[arg(long, value_name = "FILE.toml", env = "ASSIZE_GATE", hide_env_values = true)]
    gate: Option<PathBuf>,
    /// File of settings
    #[arg(long, value_name = "FILE.toml", env = "ASSIZE_CONFIG", hide_env_values = true)]
    config: Option<PathBuf>,
    /// The judge, where the log has several [default: the first]
    #[arg(long, value_name = "NAME", help_heading = "What to measure")]
    judge: Option<String>,
    /// The arm, where the log has several [default: the first]
    #[arg(long, value_name = "NAME", help_heading = "What to measure")]
    arm: Option<String>,
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

/// The layers put together.
pub(super) struct Measures {
    pub(super) config: AuditConfig,
    pub(super) gate: Gate,
    pub(super) columns: ColumnMap,
}

impl Measuring {
    /// Puts flags, variables, the settings file and what is built in together, the first counting.
    pub(super) fn resolve(&mut self, printer: &Printer) -> Result<Measures, Failure> {
        let settings = match &self.config {
            Some(path) => read_settings(path).map_err(refused)?,
            None => Settings::default(),
        };
        let mut config = settings.audit;
        config.level = self.level.unwrap_or(config.level);
        config.seed = self.seed.unwrap_or(config.seed);
        config.outcome = self.outcome.map(OutcomeKind::from).or(config.outcome);
        config.scale = self.scale.or(config.scale);
        config.accept_at = self.accept_at.or(config.accept_at);
        config.good_at = self.good_at.or(config.good_at);
        config.judge = self.judge.take().or(config.judge);
        config.arm = self.arm.take().or(config.arm);
        config.check().map_err(|BadSetting { field, must }| Failure::usage(format!("{} {must}", flag(field))))?;
        let gate = match (&self.gate, settings.gate) {
            (Some(path), _) => read_gate(path).map_err(refused)?,
            (None, Some(gate)) => gate,
            (None, None) => Gate::built_in(),
        };
        printer.detail(&format!("gate: {}", gate.name));
        let columns = match &self.columns {
            Some(stated) => reading::columns(stated)?,
            None => settings.columns.unwrap_or_default(),
        };
        Ok(Measures { config, gate, columns })
    }
}

/// Reads the log and measures it, telling what is wrong with it.
pub(super) fn measured<T>(
    sources: &[PathBuf],
    columns: &ColumnMap,
    printer: &Printer,
    measure: impl FnOnce(&Log) -> Result<T, AuditError>,
) -> Result<T, Failure> {
    let mut collector = Collector::default();
    let reading = read_sources(sources, columns, &mut collector, printer)?;
    reading::tell(reading.problems.as_slice(), printer);
    let names: Vec<String> = sources.iter().map(|source| source.display().to_string()).collect();
    let found = measure(&collector.log).with_context(|| format!("failed to measure {}", names.join(", ")));
    found.map_err(|error| Failure::from(error).with_problems(reading.problems.into_vec()))
}

/// Reads a count.
pub(super) fn count<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.trim().parse().map_err(|_not_one| "write a whole number of at least 0, such as 50".to_owned())
}
