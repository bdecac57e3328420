//! What commands that measure a log without auditing it are told: its columns, the gate, how to measure.

use std::path::PathBuf;

use anyhow::Context as _;
use assize_calibration::audit::{AuditConfig, AuditError};
use assize_calibration::gate::Gate;
use assize_calibration::log::Log;

use super::basics::{Basics, names};
use super::printer::Printer;
use super::reading::{self, read_sources};
use super::status::Failure;
use crate::formats::Collector;
use crate::formats::columns::ColumnMap;

/// Flags as `assize audit` has them.
#[derive(Debug, clap::Args)]
pub(super) struct Measuring {
    #[command(flatten)]
    basics: Basics,
    /// Limits the judge must keep; `assize gate` prints the built-in ones
    #[arg(long, value_name = "FILE.toml", env = "ASSIZE_GATE", hide_env_values = true)]
    gate: Option<PathBuf>,
    /// The judge, where the log has several [default: the first]
    #[arg(long, value_name = "NAME", help_heading = "What to measure")]
    judge: Option<String>,
    /// The arm, where the log has several [default: the first]
    #[arg(long, value_name = "NAME", help_heading = "What to measure")]
    arm: Option<String>,
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
        let mut layers = self.basics.layers(printer)?;
        layers.audit.judge = self.judge.take().or(layers.audit.judge);
        layers.audit.arm = self.arm.take().or(layers.audit.arm);
        layers.check()?;
        let gate = layers.gate(self.gate.as_deref(), printer)?;
        Ok(Measures { config: layers.audit, gate, columns: layers.columns })
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
    let found = measure(&collector.log).with_context(|| format!("failed to measure {}", names(sources).join(", ")));
    found.map_err(|error| Failure::from(error).with_problems(reading.problems.into_vec()))
}
