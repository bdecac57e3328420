//! Arms of one judge, and judges under one arm, compared item by item on the items they share.

use std::collections::BTreeMap;

use crate::log::NONE;
use crate::paired::holm;
use crate::problem::{Problem, Problems, Severity};

use super::AuditConfig;
use super::catalogue::{Better, info};
use super::data::table::{Subject, Table};
use super::difference::{difference, shared_units};
use super::figures::{Figure, figures};
use super::result::Comparison;

/// Up to this many subjects of a kind, all pairs are compared; beyond it, each with the first.
const ALL_PAIRS: usize = 16;

/// What every two are compared by. `assize compare` compares two by all that both have.
const COMPARED: [&str; 6] =
    ["accuracy", "false_accept_rate", "false_reject_rate", "mean_score", "flip_rate", "swap_consistency"];

pub(crate) fn comparisons(table: &Table<'_>, config: &AuditConfig, problems: &mut Problems) -> Vec<Comparison> {
    let (mut by_judge, mut by_arm): (BTreeMap<u32, Vec<usize>>, BTreeMap<u32, Vec<usize>>) = Default::default();
    for (idx, subject) in table.subjects.iter().enumerate() {
        by_judge.entry(subject.judge).or_default().push(idx);
        by_arm.entry(subject.arm.wrapping_add(1)).or_default().push(idx);
    }
    let mut found = Vec::new();
    for (what, sets) in [("arms", by_judge), ("judges", by_arm)] {
        let mut of_kind = Vec::new();
        for set in sets.into_values() {
            if set.len() > ALL_PAIRS {
                let message = format!(
                    "{} {what} are too many to compare every two of them: each is compared with the first; audit those that \
                     matter in a log of their own",
                    set.len()
                );
                problems.add(Problem::new(Severity::Note, "comparisons-limited", message));
            }
            for (position, &b) in set.iter().enumerate() {
                let firsts = if set.len() <= ALL_PAIRS { &set[..position] } else { &set[..position.min(1)] };
                for &a in firsts {
                    of_kind.extend(compare(table, what, &table.subjects[a], &table.subjects[b], config));
                }
            }
        }
        correct(&mut of_kind, 1.0 - config.level);
        found.extend(of_kind);
    }
    found
}

fn compare(table: &Table<'_>, what: &str, a: &Subject, b: &Subject, config: &AuditConfig) -> Vec<Comparison> {
    let name = |subject: &Subject| {
        let name = |names: &crate::names::Names, id: u32| if id == NONE { "" } else { names.name(id) }.to_owned();
        if what == "arms" {
            let arm = name(&table.log.arms, subject.arm);
            let judge = name(&table.log.judges, subject.judge);
            if table.log.judges.len() > 1 { format!("{judge}: {arm}") } else { arm }
        } else {
            name(&table.log.judges, subject.judge)
        }
    };
    let shared = shared_units(a, b);
    let of_interest = |figure: &Figure<'_>| COMPARED.contains(&figure.id);
    figures(table, config)
        .into_iter()
        .filter(of_interest)
        .filter_map(|figure| {
            let found = difference(table, &figure, [a, b], &shared)?;
            let more_is_better = match info(figure.id).map(|info| info.better) {
                Some(Better::Higher) => Some(true),
                Some(Better::Lower) => Some(false),
                Some(Better::Near(_)) | None => None,
            };
            let better = match more_is_better {
                None => "neither",
                Some(more) if (found.estimated.estimate > 0.0) == more => "b",
                Some(_) => "a",
            };
            Some(Comparison {
                what: what.to_owned(),
                a: name(a),
                b: name(b),
                measure: figure.id.to_owned(),
                mean_a: found.means[0],
                mean_b: found.means[1],
                difference: found.estimated.measure(config.level),
                p_value: found.p_value,
                test: found.test.to_owned(),
                p_holm: None,
                better: better.to_owned(),
            })
        })
        .collect()
}

/// Corrects p values for the number of pairs and withdraws what does not hold. Each measure is a question of its own, and
/// accuracy is made of the errors of either side: the pairs asked about are what grows with the log.
fn correct(comparisons: &mut [Comparison], alpha: f64) {
    let mut by_measure: BTreeMap<String, Vec<&mut Comparison>> = BTreeMap::new();
    for comparison in comparisons {
        by_measure.entry(comparison.measure.clone()).or_default().push(comparison);
    }
    for asked in by_measure.into_values() {
        correct_pairs(asked, alpha);
    }
}

fn correct_pairs(comparisons: Vec<&mut Comparison>, alpha: f64) {
    // NaN stands for a test that is undefined; it takes no part.
    let p_values: Vec<f64> = comparisons.iter().map(|comparison| comparison.p_value.unwrap_or(f64::NAN)).collect();
    for (comparison, adjusted) in comparisons.into_iter().zip(holm(&p_values)) {
        comparison.p_holm = (!adjusted.is_nan()).then_some(adjusted);
        if comparison.p_holm.is_none_or(|p| p >= alpha) && comparison.better != "neither" {
            "undecided".clone_into(&mut comparison.better);
        }
    }
}
