//! A threshold on the score: what each would do, the lowest that keeps a cap on false accepts, and what choosing it from
//! these data costs.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::judgement::OutcomeKind;

use super::AuditConfig;
use super::estimate::Values;
use super::result::{CrossValidated, ThresholdPoint, Thresholds};
use super::table::{Subject, Table, Unit};
use super::truth::{agreement_rate, error_rate};

/// The most thresholds swept; beyond it, quantiles of the scores seen.
const MOST_THRESHOLDS: usize = 40;
const FOLDS: u32 = 5;

/// Returns the sweep, or `None` unless scores have items labelled right and items labelled wrong.
pub(crate) fn thresholds(table: &Table<'_>, subject: &Subject, config: &AuditConfig) -> Option<Thresholds> {
    if table.kind != OutcomeKind::Score {
        return None;
    }
    let labelled: Vec<Unit> = subject.units.iter().filter(|unit| unit.truth.good.is_some()).cloned().collect();
    let candidates = candidates(subject, &labelled);
    let points: Option<Vec<ThresholdPoint>> =
        candidates.par_iter().map(|&threshold| point(subject, &labelled, threshold, config.level)).collect();
    let points = points.filter(|points| !points.is_empty())?;
    let wrong = WrongItems::new(subject, &labelled);
    Some(Thresholds {
        chosen: wrong.choose(&candidates, config, |_| true),
        cap: config.false_accept_cap,
        cross_validated: cross_validate(subject, &labelled, &wrong, &candidates, config),
        points,
    })
}

/// The distinct scores of labelled units, or quantiles of them, ascending.
fn candidates(subject: &Subject, labelled: &[Unit]) -> Vec<f64> {
    let mut scores: Vec<f64> = labelled.iter().flat_map(|unit| subject.parsed_of(unit)).collect();
    scores.sort_unstable_by(f64::total_cmp);
    let mut distinct = scores.clone();
    distinct.dedup();
    if distinct.len() <= MOST_THRESHOLDS {
        return distinct;
    }
    let mut quantiles: Vec<f64> =
        (0..MOST_THRESHOLDS).map(|idx| scores[idx * (scores.len() - 1) / (MOST_THRESHOLDS - 1)]).collect();
    quantiles.dedup();
    quantiles
}

fn point(subject: &Subject, labelled: &[Unit], threshold: f64, level: f64) -> Option<ThresholdPoint> {
    let accepts = |draw: f64| draw >= threshold;
    let right = |unit: &Unit, draw: f64| unit.truth.good.map(|good| accepts(draw) == good);
    let false_accepts = error_rate(subject, labelled, accepts, false, "accepting / parsed answers of a wrong item")?;
    let false_rejects = error_rate(subject, labelled, accepts, true, "rejecting / parsed answers of a right item")?;
    let accuracy = agreement_rate(subject, labelled, None, right, "right / parsed answers of an item")?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts were stored as whole numbers")]
    let count = |estimated: &super::estimate::Estimated, name: &str| estimated.details[name] as u64;
    let (fp, negatives) = (count(&false_accepts, "n_hits"), count(&false_accepts, "n_parsed"));
    let (fn_, positives) = (count(&false_rejects, "n_hits"), count(&false_rejects, "n_parsed"));
    Some(ThresholdPoint {
        threshold,
        counts: [positives - fn_, fp, negatives - fp, fn_],
        false_accept_rate: false_accepts.measure(level),
        false_reject_rate: false_rejects.measure(level),
        accuracy: accuracy.measure(level),
    })
}

/// The draws of items labelled wrong, sorted within each, for counting those that reach a threshold.
struct WrongItems<'a> {
    units: Vec<(&'a Unit, std::ops::Range<usize>)>,
    draws: Vec<f64>,
}

impl<'a> WrongItems<'a> {
    fn new(subject: &Subject, labelled: &'a [Unit]) -> Self {
        let mut wrong = Self { units: Vec::new(), draws: Vec::new() };
        for unit in labelled.iter().filter(|unit| unit.truth.good == Some(false)) {
            let start = wrong.draws.len();
            wrong.draws.extend(subject.parsed_of(unit));
            wrong.draws[start..].sort_unstable_by(f64::total_cmp);
            if wrong.draws.len() > start {
                wrong.units.push((unit, start..wrong.draws.len()));
            }
        }
        wrong
    }

    /// Searches from the strictest threshold down and stops at the first whose upper bound on false accepts exceeds the
    /// cap (Learn then Test, Angelopoulos et al. 2021, with fixed-sequence testing), on the items `is_used` keeps.
    /// `None` when the strictest does already.
    fn choose(&self, candidates: &[f64], config: &AuditConfig, is_used: impl Fn(&Unit) -> bool) -> Option<f64> {
        let mut chosen = None;
        for &threshold in candidates.iter().rev() {
            let mut values = Values::default();
            for (unit, draws) in self.units.iter().filter(|(unit, _)| is_used(unit)) {
                let draws = &self.draws[draws.clone()];
                let n_below = draws.iter().take_while(|draw| **draw < threshold).count();
                values.push(unit, (draws.len() - n_below) as f64 / draws.len() as f64, draws.len());
            }
            let high = values.proportion("").and_then(|value| value.measure(config.level).high)?;
            if high > config.false_accept_cap {
                break;
            }
            chosen = Some(threshold);
        }
        chosen
    }
}

/// Chooses on four fifths of the clusters and judges on the fifth.
fn cross_validate(
    subject: &Subject,
    labelled: &[Unit],
    wrong: &WrongItems<'_>,
    candidates: &[f64],
    config: &AuditConfig,
) -> Option<CrossValidated> {
    let mut clusters: Vec<u32> = labelled.iter().map(|unit| unit.cluster).collect();
    clusters.sort_unstable();
    clusters.dedup();
    if clusters.len() < 2 * FOLDS as usize {
        return None;
    }
    clusters.shuffle(&mut ChaCha8Rng::seed_from_u64(config.seed));
    let mut fold_of = vec![0_u32; clusters.iter().max().map_or(0, |largest| *largest as usize + 1)];
    for (fold, cluster) in (0..FOLDS).cycle().zip(&clusters) {
        fold_of[*cluster as usize] = fold;
    }
    let fold = |unit: &Unit| fold_of[unit.cluster as usize];
    let chosen: Vec<Option<f64>> = (0..FOLDS)
        .into_par_iter()
        .map(|held_out| wrong.choose(candidates, config, |unit| fold(unit) != held_out))
        .collect();
    let (mut false_accepts, mut false_rejects) = (Values::default(), Values::default());
    for unit in labelled {
        // Without a threshold nothing is accepted.
        let threshold = chosen[fold(unit) as usize].unwrap_or(f64::INFINITY);
        let good = unit.truth.good == Some(true);
        let (errors, n) = subject
            .parsed_of(unit)
            .fold((0_usize, 0_usize), |(errors, n), draw| (errors + usize::from((draw >= threshold) != good), n + 1));
        if n > 0 {
            let values = if good { &mut false_rejects } else { &mut false_accepts };
            values.push(unit, errors as f64 / n as f64, n);
        }
    }
    let rate = |values: &Values, what: &str| {
        values
            .proportion(&format!("{what} on clusters that did not choose the threshold, {FOLDS} folds"))
            .map(|value| value.measure(config.level))
    };
    Some(CrossValidated {
        folds: FOLDS,
        false_accept_rate: rate(&false_accepts, "false accepts")?,
        false_reject_rate: rate(&false_rejects, "false rejects")?,
        n_folds_without: u32::try_from(chosen.iter().filter(|threshold| threshold.is_none()).count())
            .expect("there are few folds"),
    })
}
