//! What a log says against the settings it is audited with.

use std::collections::BTreeMap;

use unicode_normalization::UnicodeNormalization as _;

use super::config::AuditConfig;
use super::data::table::Table;
use crate::judgement::OutcomeKind;
use crate::log::Log;
use crate::prevalence::LabelSampling;
use crate::problem::{Problem, Problems, Severity};

/// Reports items whose names are the same text in two Unicode forms, such as one `é` of one character and one of two. They are told
/// apart as they are written: which of them is meant, no one knows here.
fn report_names(log: &Log, problems: &mut Problems) {
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    let mut alike: Option<&str> = None;
    let mut n_alike = 0;
    for name in log.items.iter().filter(|name| !name.is_ascii()) {
        if seen.insert(name.nfc().collect(), name).is_some_and(|other| other != name) {
            n_alike += 1;
            alike.get_or_insert(name);
        }
    }
    if let Some(name) = alike {
        let message = format!(
            "items have names that look the same and are written in two Unicode forms (first: item {name:?}); they are taken as different \
             items: write them in one form, such as NFC"
        );
        problems.add(Problem::new(Severity::Warning, "names-in-two-forms", message).times(n_alike).in_column("item"));
    }
}

/// Reports settings that change nothing here, and scores that contradict the scale.
pub(super) fn report(table: &Table<'_>, config: &AuditConfig, problems: &mut Problems) {
    report_names(table.log, problems);
    let kind = table.kind.column();
    if table.kind != OutcomeKind::Score {
        let given = [
            ("accept_at", config.accept_at.is_some()),
            ("good_at", config.good_at.is_some()),
            ("scale", config.scale.is_some()),
        ];
        for (name, _) in given.into_iter().filter(|(_, is_given)| *is_given) {
            let message = format!(
                "`{name}` is about scores and changes nothing: {kind} is audited; leave it out, or audit scores \
                 (outcome = score)"
            );
            problems.add(Problem::new(Severity::Warning, "setting-unused", message).in_column(kind));
        }
    }
    for judge in config.own_generators.keys().filter(|judge| table.log.judges.id(judge).is_none()) {
        let message =
            format!("`own_generators` names a judge that is not in the log, {judge:?}, and changes nothing for it");
        problems.add(Problem::new(Severity::Warning, "setting-unused", message).in_column("judge"));
    }
    if !matches!(table.kind, OutcomeKind::Score | OutcomeKind::Verdict) {
        let given =
            [("costs", config.costs.is_some()), ("label_sampling", config.label_sampling != LabelSampling::Unknown)];
        let names: Vec<&str> = given.iter().filter(|(_, is_given)| *is_given).map(|(name, _)| *name).collect();
        if !names.is_empty() {
            // One problem for both: problems of one kind are counted, and only the first is told.
            let message = format!(
                "`{}` is about answers that accept or reject and changes nothing: {kind} is audited; leave it out, or audit \
                 verdicts",
                names.join("`, `")
            );
            let problem = Problem::new(Severity::Warning, "setting-unused", message).times(names.len() as u64);
            problems.add(problem.in_column(kind));
        }
    }
    // Squares of these are no numbers, or nought.
    let is_extreme = |score: &&f64| score.abs() > 1e75 || (**score != 0.0 && score.abs() < 1e-75);
    let n_extreme = table.log.score.iter().filter(is_extreme).count() as u64;
    if table.kind == OutcomeKind::Score && n_extreme > 0 {
        let message = "scores beyond 1e75, or closer to 0 than 1e-75, cannot be squared: standard deviations, intraclass \
                       correlations and alphas of them mean nothing; scale them";
        let problem = Problem::new(Severity::Warning, "scores-extreme", message);
        problems.add(problem.times(n_extreme).in_column(kind));
    }
    if let (OutcomeKind::Score, Some([low, high])) = (table.kind, config.scale) {
        let draws = table.subjects.iter().flat_map(|subject| &subject.draws);
        let n_outside = draws.filter(|draw| **draw < low || **draw > high).count() as u64;
        if n_outside > 0 {
            let message = format!(
                "scores lie outside the declared scale, {low} to {high}; they are used as they are: correct the scale, or \
                 the scores"
            );
            let problem = Problem::new(Severity::Warning, "score-outside-scale", message);
            problems.add(problem.times(n_outside).in_column(kind));
        }
    }
}
