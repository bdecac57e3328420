//! A gate held against answers drawn afresh: only what its limits need is measured.

use crate::gate::{Gate, LimitState};
use crate::judgement::OutcomeKind;

use super::decide::decide;
use super::gate_ends::GateEnds;
use crate::audit::AuditConfig;
use crate::audit::accuracy::{ranking, truth};
use crate::audit::biases::position;
use crate::audit::catalogue::{Family, info};
use crate::audit::data::table::{Subject, Table};
use crate::audit::estimate::Measured;
use crate::audit::noise::{parsing, scores, stability};
use crate::audit::result::Fitness;

/// One limit, in the order of [`decide`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tried {
    pub(crate) measure: String,
    pub(crate) side: String,
    pub(crate) limit: f64,
    pub(crate) state: LimitState,
    /// NaN where it was not measured.
    pub(crate) estimate: f64,
    /// The interval.
    pub(crate) ends: Option<[f64; 2]>,
    /// The end of the interval that must keep the limit, with unparsed replies counted against the judge.
    pub(crate) worse_end: f64,
}

impl Tried {
    /// Returns whether the estimate itself is beyond the limit.
    pub(crate) fn is_past(&self) -> bool {
        if self.side == "min" { self.estimate < self.limit } else { self.estimate > self.limit }
    }
}

/// What a gate makes of a judge's answers.
#[derive(Clone, Debug)]
pub(crate) struct Rejudged {
    pub(crate) fitness: Fitness,
    pub(crate) limits: Vec<Tried>,
}

/// Measures what the gate's limits are about, and decides.
pub(crate) fn rejudge(table: &Table<'_>, subject: &Subject, config: &AuditConfig, gate: &Gate) -> Rejudged {
    let measured = measure(table, subject, config, gate);
    let (fitness, _, results) = decide(gate, &measured, table.kind, config.gate_level(), None);
    let limits = results.into_iter().map(|result| {
        let value = measured.values.get(result.measure.as_str());
        let ends = value.and_then(|value| value.spread.interval(value.estimate, config.gate_level()));
        let worse = value.map(|value| value.worst.as_deref().unwrap_or(value));
        let worse = worse.and_then(|value| GateEnds::of(&result.measure, value).interval(config.gate_level()));
        let worse_end = worse.map_or(f64::NAN, |ends| if result.side == "min" { ends.low } else { ends.high });
        Tried {
            estimate: value.map_or(f64::NAN, |value| value.estimate),
            ends: ends.map(|ends| [ends.low, ends.high]),
            worse_end,
            measure: result.measure,
            side: result.side,
            limit: result.limit,
            state: result.state,
        }
    });
    Rejudged { fitness, limits: limits.collect() }
}

fn measure(table: &Table<'_>, subject: &Subject, config: &AuditConfig, gate: &Gate) -> Measured {
    let asked = || gate.limits.iter().filter(|(_, limit)| limit.is_for(table.kind)).map(|(id, _)| id.as_str());
    let wants = |family: Family| asked().any(|id| info(id).is_some_and(|info| info.family == family));
    let (units, mut measured) = (&subject.units, Measured::default());
    if wants(Family::Parsing) {
        parsing::measure(subject, units, &mut measured);
    }
    if wants(Family::Stability) {
        stability::measure(table, subject, units, config, &mut measured);
    }
    if asked().any(|id| id.starts_with("icc_")) {
        stability::measure_intraclass(table, subject, units, config, &mut measured);
    }
    if wants(Family::Position) {
        position::measure(table, subject, units, None, &mut measured);
    }
    if wants(Family::Truth) {
        truth::measure(table, subject, units, config, &mut measured);
        scores::measure(table, subject, units, &mut measured);
    }
    if table.kind == OutcomeKind::Score && asked().any(|id| id == "top_of_group_accuracy") {
        ranking::measure(table, subject, units, &mut measured);
    }
    measured
}
