//! A threshold on the score: what each would do, the lowest that keeps a cap on false accepts, and what choosing it from
//! these data costs.

use std::ops::Range;

use rayon::prelude::*;

use crate::judgement::OutcomeKind;

use super::threshold_costs::threshold_costs;
use super::truth::{Hits, accept_rates};
use crate::audit::AuditConfig;
use crate::audit::data::table::{Subject, Table, Unit};
use crate::audit::estimate::Values;
use crate::audit::lots::deal;
use crate::audit::result::{CrossValidated, ThresholdPoint, Thresholds};

/// The most thresholds swept; beyond it, quantiles of the scores seen.
const MOST_THRESHOLDS: usize = 40;
pub(in crate::audit) const FOLDS: usize = 5;

/// Returns the sweep, or `None` unless scores have items labelled right and items labelled wrong.
pub(crate) fn thresholds(table: &Table<'_>, subject: &Subject, config: &AuditConfig) -> Option<Thresholds> {
    if table.kind != OutcomeKind::Score {
        return None;
    }
    let labelled = Labelled::new(subject);
    let candidates = candidates(&labelled.draws);
    let points: Option<Vec<ThresholdPoint>> =
        candidates.par_iter().map(|&threshold| labelled.point(threshold, config.level)).collect();
    let points = points.filter(|points| !points.is_empty())?;
    let folds = Folds::new(table, &labelled, config.seed);
    let chosen = labelled.choose(&candidates, config, folds.as_ref());
    Some(Thresholds {
        costs: threshold_costs(&labelled, &points, &chosen, folds.as_ref(), config),
        chosen: chosen.of_all,
        cap: config.false_accept_cap,
        cross_validated: folds.and_then(|folds| labelled.cross_validated(&folds, &chosen.without, config.level)),
        points,
    })
}

/// The distinct scores, or quantiles of them, ascending.
fn candidates(scores: &[f64]) -> Vec<f64> {
    if let Some(few) = few_distinct(scores) {
        return few;
    }
    let mut scores = scores.to_vec();
    scores.sort_unstable_by(f64::total_cmp);
    let mut quantiles: Vec<f64> =
        (0..MOST_THRESHOLDS).map(|idx| scores[idx * (scores.len() - 1) / (MOST_THRESHOLDS - 1)]).collect();
    quantiles.dedup();
    quantiles
}

/// Returns the distinct values, ascending, or `None` if there are more than [`MOST_THRESHOLDS`].
fn few_distinct(values: &[f64]) -> Option<Vec<f64>> {
    let mut distinct: Vec<f64> = Vec::new();
    for value in values {
        if let Err(place) = distinct.binary_search_by(|known| known.total_cmp(value)) {
            if distinct.len() == MOST_THRESHOLDS {
                return None;
            }
            distinct.insert(place, *value);
        }
    }
    Some(distinct)
}

/// The units labelled right or wrong, with their parsed draws.
pub(in crate::audit) struct Labelled<'a> {
    subject: &'a Subject,
    pub units: Vec<LabelledUnit<'a>>,
    /// Sorted within each unit.
    draws: Vec<f64>,
}

pub(in crate::audit) struct LabelledUnit<'a> {
    pub unit: &'a Unit,
    pub is_good: bool,
    pub draws: Range<usize>,
    n_unparsed: usize,
}

impl<'a> Labelled<'a> {
    fn new(subject: &'a Subject) -> Self {
        let mut labelled = Self { subject, units: Vec::new(), draws: Vec::with_capacity(subject.draws.len()) };
        for unit in &subject.units {
            let Some(is_good) = unit.truth.good else { continue };
            let start = labelled.draws.len();
            labelled.draws.extend(subject.parsed_of(unit));
            labelled.draws[start..].sort_unstable_by(f64::total_cmp);
            let n_unparsed = subject.cells_of(unit).iter().map(|cell| cell.n_unparsed).sum();
            labelled.units.push(LabelledUnit { unit, is_good, draws: start..labelled.draws.len(), n_unparsed });
        }
        labelled
    }

    /// Returns the answers of a unit that reach a threshold.
    fn accepted(&self, unit: &LabelledUnit<'_>, threshold: f64) -> Hits {
        let draws = &self.draws[unit.draws.clone()];
        let n_below = draws.iter().take_while(|draw| **draw < threshold).count();
        Hits { n_met: draws.len() - n_below, n: draws.len(), n_unparsed: unit.n_unparsed }
    }

    /// Returns the share of a unit's parsed answers that a threshold judges wrongly.
    pub(in crate::audit) fn error_rate(&self, unit: &LabelledUnit<'_>, threshold: f64) -> f64 {
        let Hits { n_met, n, .. } = self.accepted(unit, threshold);
        let n_errors = if unit.is_good { n - n_met } else { n_met };
        n_errors as f64 / n as f64
    }

    fn point(&self, threshold: f64, level: f64) -> Option<ThresholdPoint> {
        let accepted = self.units.iter().map(|unit| (unit.unit, self.accepted(unit, threshold)));
        let rates = accept_rates(self.subject, accepted);
        let (false_accepts, false_rejects, accuracy) = (rates.false_accepts?, rates.false_rejects?, rates.accuracy?);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "counts were stored as whole numbers"
        )]
        let count = |estimated: &crate::audit::estimate::Estimated, name: &str| estimated.details[name] as u64;
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

    /// Searches from the strictest threshold down and stops at the first whose upper bound on false accepts exceeds the
    /// cap (Learn then Test, Angelopoulos et al. 2021, with fixed-sequence testing): on all items, and on those outside
    /// each fold.
    fn choose(&self, candidates: &[f64], config: &AuditConfig, folds: Option<&Folds>) -> Chosen {
        // The last search leaves out a fold that is none.
        const ALL: usize = FOLDS;
        let mut searches: [Search; FOLDS + 1] = [Search::default(); FOLDS + 1];
        if folds.is_none() {
            searches[..FOLDS].iter_mut().for_each(|search| search.is_over = true);
        }
        for &threshold in candidates.iter().rev() {
            if searches.iter().all(|search| search.is_over) {
                break;
            }
            let mut by_fold: [Values; FOLDS] = [Values::default(); FOLDS];
            for unit in self.units.iter().filter(|unit| !unit.is_good && !unit.draws.is_empty()) {
                let hits = self.accepted(unit, threshold);
                let fold = folds.map_or(0, |folds| folds.of(unit.unit));
                by_fold[fold].push(unit.unit, hits.n_met as f64 / hits.n as f64, hits.n);
            }
            for (left_out, search) in searches.iter_mut().enumerate() {
                let mut values = Values::default();
                by_fold.iter().enumerate().filter(|(fold, _)| *fold != left_out).for_each(|(_, of)| values.merge(*of));
                search.take(threshold, &values, config);
            }
        }
        Chosen { of_all: searches[ALL].chosen, without: std::array::from_fn(|fold| searches[fold].chosen) }
    }

    /// Judges each fold by the threshold that the other folds chose.
    fn cross_validated(&self, folds: &Folds, chosen: &[Option<f64>; FOLDS], level: f64) -> Option<CrossValidated> {
        let (mut false_accepts, mut false_rejects) = (Values::default(), Values::default());
        for unit in self.units.iter().filter(|unit| !unit.draws.is_empty()) {
            // Without a threshold nothing is accepted.
            let threshold = chosen[folds.of(unit.unit)].unwrap_or(f64::INFINITY);
            let Hits { n_met, n, .. } = self.accepted(unit, threshold);
            let (values, n_errors) =
                if unit.is_good { (&mut false_rejects, n - n_met) } else { (&mut false_accepts, n_met) };
            values.push(unit.unit, n_errors as f64 / n as f64, n);
        }
        let rate = |values: &Values, what: &str| {
            values
                .proportion(&format!("{what} on clusters that did not choose the threshold, {FOLDS} folds"))
                .map(|value| value.measure(level))
        };
        let n_without = chosen.iter().filter(|threshold| threshold.is_none()).count();
        Some(CrossValidated {
            folds: u32::try_from(FOLDS).expect("there are few folds"),
            false_accept_rate: rate(&false_accepts, "false accepts")?,
            false_reject_rate: rate(&false_rejects, "false rejects")?,
            n_folds_without: u32::try_from(n_without).expect("there are few folds"),
        })
    }
}

/// The thresholds chosen: on all items, and on those outside each fold. `None` where the strictest exceeds the cap.
pub(in crate::audit) struct Chosen {
    pub of_all: Option<f64>,
    pub without: [Option<f64>; FOLDS],
}

/// One search for a threshold.
#[derive(Clone, Copy, Default)]
struct Search {
    chosen: Option<f64>,
    is_over: bool,
}

impl Search {
    fn take(&mut self, threshold: f64, wrong_items: &Values, config: &AuditConfig) {
        if self.is_over {
            return;
        }
        match wrong_items.proportion("").and_then(|value| value.measure(config.level).high) {
            Some(high) if high <= config.false_accept_cap => self.chosen = Some(threshold),
            Some(_) => self.is_over = true,
            None => *self = Self { chosen: None, is_over: true },
        }
    }
}

/// Clusters dealt out at random.
pub(in crate::audit) struct Folds(Vec<u8>);

impl Folds {
    /// Returns `None` when there are too few clusters to deal out.
    fn new(table: &Table<'_>, labelled: &Labelled<'_>, seed: u64) -> Option<Self> {
        let mut clusters: Vec<u32> = labelled.units.iter().map(|unit| unit.unit.cluster).collect();
        clusters.dedup();
        let largest = *clusters.last().filter(|_| clusters.len() >= 2 * FOLDS)?;
        let mut fold_of = vec![0; largest as usize + 1];
        for (cluster, fold) in clusters.iter().zip(deal(table, &clusters, FOLDS, seed)) {
            fold_of[*cluster as usize] = u8::try_from(fold).expect("there are few folds");
        }
        Some(Self(fold_of))
    }

    pub(in crate::audit) fn of(&self, unit: &Unit) -> usize {
        usize::from(self.0[unit.cluster as usize])
    }
}
