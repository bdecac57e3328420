//! The audit: a log in, what it says about each judge out. A pure function of its arguments.

mod accuracy;
mod anchors;
mod biases;
pub mod catalogue;
mod compare;
mod confidence;
mod config;
mod crowd;
mod data;
mod decision;
mod difference;
mod drift;
mod escalate;
mod estimate;
mod figures;
mod ledger;
mod lots;
mod noise;
mod plan;
pub mod result;
mod sentinel;
mod settings;
mod side_by_side;
mod subject;

use rayon::prelude::*;

use crate::gate::Gate;
use crate::judgement::OutcomeKind;
use crate::log::Log;
use crate::problem::Problems;

pub use config::{AuditConfig, BadSetting, LookOrder};
use data::table::{Subject, Table};
pub use drift::{Calendar, Windows};
pub use escalate::{EscalateConfig, escalate};
pub use ledger::record_looks;
pub use plan::plan_study;
use result::{Audit, Data, Fitness, JudgeAudit, Source};
pub use sentinel::{SentinelConfig, sentinel};
pub use side_by_side::{CompareConfig, CompareError, Side, Sides, compare_sides};
use subject::{Extent, audit_subject, count_distinct, measure_all, measure_to_compare};

/// Why a log cannot be audited.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// There are no judgements at all.
    #[error("the log holds no judgements{}", .0.as_deref().map(|why| format!(": {why}")).unwrap_or_default())]
    Empty(Option<String>),
    /// No row has an outcome of the kind asked for.
    #[error("no row has a {0} column; outcomes present: {1}")]
    NoOutcome(&'static str, String),
    /// The judge or arm asked for is not in the log.
    #[error("the log has no {0} named {1:?}; it has: {has}", has = if .2.is_empty() { "none" } else { .2 })]
    Unknown(&'static str, String, String),
    /// Items have weights, and what was asked for cannot reckon with them.
    #[error(
        "the log weighs its items, and {0} cannot reckon with weights; leave that column out: --columns 'ignore=[\"weight\"]'"
    )]
    Weighted(&'static str),
    /// A setting is out of its range.
    #[error(transparent)]
    Config(#[from] BadSetting),
}

/// Audits a log: what it says about each judge under each arm, and whether each keeps the gate's limits.
///
/// The result depends on the arguments alone: not on the time, the machine or the number of threads. Problems found by a
/// reader of files, the source and the version of the tool are the caller's to fill in.
///
/// # Errors
/// Returns an error when there is nothing to audit or a setting is out of range.
pub fn audit(log: &Log, config: &AuditConfig, gate: &Gate) -> Result<Audit, AuditError> {
    config.check()?;
    let kind = outcome_kind(log, config)?;
    let mut problems = Problems::default();
    let apart = anchors::told_apart(log);
    let mut table = Table::new(&apart, kind, config, &mut problems);
    if table.is_weighted && config.look_order().is_some() {
        return Err(AuditError::Weighted("evidence that allows a look after every item"));
    }
    select(&mut table, config)?;
    settings::report(&table, config, &mut problems);
    drift::report(&table, &mut problems);
    let people = crowd::people::People::of(&table);
    let mut judges: Vec<JudgeAudit> = table
        .subjects
        .par_iter()
        .map(|subject| audit_subject(&table, people.as_ref(), subject, config, gate))
        .collect();
    let fitness = judges.iter().map(|judge| judge.fitness).max().unwrap_or(Fitness::Inconclusive);
    let comparisons = compare::comparisons(&table, config, &mut problems);
    let anchors = anchors::studies(&table, log, &mut judges, config, &mut problems);
    Ok(Audit {
        schema: result::SCHEMA.to_owned(),
        version: String::new(),
        source: Source::default(),
        config: config.clone(),
        gate: gate.clone(),
        data: data(&table, config),
        problems: problems.into_vec(),
        fitness,
        comparisons,
        anchors,
        agreement: crowd::panel::agreement(&table, config),
        panels: crowd::panels(&table, config),
        judges,
    })
}

/// Returns the kind of outcome to audit: the one asked for, else choice, verdict, score, category, the first that occurs.
fn outcome_kind(log: &Log, config: &AuditConfig) -> Result<OutcomeKind, AuditError> {
    const PREFERENCE: [OutcomeKind; 4] =
        [OutcomeKind::Choice, OutcomeKind::Verdict, OutcomeKind::Score, OutcomeKind::Category];
    if log.is_empty() {
        return Err(AuditError::Empty(None));
    }
    let present: Vec<OutcomeKind> = PREFERENCE.into_iter().filter(|kind| log.has(*kind)).collect();
    match (config.outcome, present.first()) {
        (Some(kind), _) if log.has(kind) => Ok(kind),
        (Some(kind), _) => {
            let names: Vec<&str> = present.iter().map(|kind| kind.column()).collect();
            Err(AuditError::NoOutcome(kind.column(), names.join(", ")))
        }
        (None, Some(kind)) => Ok(*kind),
        (None, None) => {
            let why = "no answer could be read from any row (all are unparsed); if the answers are words of their own, say \
                       what they mean: --columns \"values={good=accept, bad=reject}\"";
            Err(AuditError::Empty(Some(why.to_owned())))
        }
    }
}

/// Keeps the judge and arm asked for.
fn select(table: &mut Table<'_>, config: &AuditConfig) -> Result<(), AuditError> {
    let list = |names: &crate::names::Names| {
        let shown: Vec<&str> = names.iter().take(20).collect();
        format!("{}{}", shown.join(", "), if names.len() > 20 { ", …" } else { "" })
    };
    let log = table.log;
    if let Some(judge) = &config.judge {
        let id = log.judges.id(judge).ok_or_else(|| AuditError::Unknown("judge", judge.clone(), list(&log.judges)))?;
        table.subjects.retain(|subject| subject.judge == id);
    }
    if let Some(arm) = &config.arm {
        let id = log.arms.id(arm).ok_or_else(|| AuditError::Unknown("arm", arm.clone(), list(&log.arms)))?;
        table.subjects.retain(|subject| subject.arm == id);
    }
    if table.subjects.is_empty() && table.raters.is_empty() {
        return Err(AuditError::Empty(Some("no row is by the judge and arm asked for".to_owned())));
    }
    Ok(())
}

fn data(table: &Table<'_>, config: &AuditConfig) -> Data {
    let count = |subjects: &[Subject]| subjects.iter().map(|subject| subject.draws.len() as u64).sum();
    let log = table.log;
    Data {
        n_rows: log.len() as u64,
        n_bad_rows: 0,
        n_duplicates: table.n_duplicates,
        n_conflicts: table.n_conflicts,
        n_judgements: count(&table.subjects),
        n_ratings: count(&table.raters),
        n_items: log.items.len() as u64,
        n_groups: table.n_groups as u64,
        n_labelled: table.n_labelled_items,
        label_source: table.label_source.to_owned(),
        scale: table.scale,
        scale_source: table.scale.map(|_| if config.scale.is_some() { "declared" } else { "inferred" }.to_owned()),
        price: (log.price.1 > 0).then_some(log.price.0),
        tokens: (log.tokens.2 > 0).then_some([log.tokens.0, log.tokens.1]),
    }
}
