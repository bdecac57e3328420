//! What wrong labels could do: how many would turn a limit, and what accuracy would be.
//!
//! The labels that turn a limit soonest are taken first, those that move the mean most: an accepted item labelled right becomes a false
//! accept when its label is wrong, a false accept becomes right. The count is the smallest found in that order; clusters could make a
//! slightly smaller one. Items alone in their cluster are counted by what was said of them, so that a million cost what a thousand do.

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use rayon::prelude::*;

use crate::gate::{LimitResult, LimitState};
use crate::judgement::OutcomeKind;

use super::truth::{Accepts, Hits, is_right};
use crate::audit::AuditConfig;
use crate::audit::data::table::{Subject, Table, Unit};
use crate::audit::estimate::{Estimated, Measured, Values};
use crate::audit::result::{AssumedNoise, LabelNoise, LabelsToTurn};

/// The most items that share clusters; each trial of a number of labels goes through all of them.
const MOST_CLUSTERED: usize = 50_000;
/// Assumed shares of wrong labels.
const ASSUMED: [f64; 4] = [0.01, 0.02, 0.05, 0.10];

/// A labelled unit, or several alike that are alone in their clusters.
struct Said {
    unit: Unit,
    n_units: u64,
    n: usize,
    n_unparsed: usize,
    /// Of answers that accept: whether the label says right, and the share that accepts.
    accepted: Option<(bool, f64)>,
    /// The share of answers that are right, and would be under the label that changes most.
    right: [f64; 2],
}

impl Said {
    /// Returns the unit's part in a rate while its label stands, and once it is turned; `None`: not of the class that the rate is of.
    fn parts(&self, measure: &str) -> [Option<f64>; 2] {
        match (measure, self.accepted) {
            ("false_accept_rate", Some((good, share))) => [(!good).then_some(share), good.then_some(share)],
            ("false_reject_rate", Some((good, share))) => [good.then_some(1.0 - share), (!good).then_some(1.0 - share)],
            _ => self.right.map(Some),
        }
    }
}

/// Returns what wrong labels could do, or `None` without labels that say right or wrong.
pub(crate) fn label_noise(
    table: &Table<'_>,
    subject: &Subject,
    config: &AuditConfig,
    limits: &[LimitResult],
    measured: &Measured,
) -> Option<LabelNoise> {
    let accuracy = measured.values.get("accuracy")?;
    let (said, n_labelled) = said(table, subject, config);
    let turned = limits
        .par_iter()
        .filter(|limit| ["accuracy", "false_accept_rate", "false_reject_rate"].contains(&limit.measure.as_str()))
        .filter(|limit| matches!(limit.state, LimitState::Met | LimitState::Broken))
        .filter_map(|limit| {
            let value = measured.values.get(limit.measure.as_str())?;
            let n_labels = labels_to_turn(limit, value, said.as_ref()?, config.gate_level());
            Some(LabelsToTurn {
                measure: limit.measure.clone(),
                side: limit.side.clone(),
                limit: limit.limit,
                state: limit.state,
                n_labels,
                share: n_labels.map(|n| n as f64 / n_labelled as f64),
            })
        })
        .collect();
    let n_categories = match table.kind {
        OutcomeKind::Category => table.categories.len().max(2),
        OutcomeKind::Choice => 3,
        _ => 2,
    };
    Some(LabelNoise {
        n_labelled,
        limits: turned,
        accuracy: ASSUMED.iter().map(|rate| assumed(accuracy.estimate, *rate, n_categories)).collect(),
    })
}

fn assumed(observed: f64, error_rate: f64, n_categories: usize) -> AssumedNoise {
    // A wrong label is each other category alike: observed = a(1 − e) + (1 − a)e/(K − 1).
    let by_chance = error_rate / (n_categories as f64 - 1.0);
    let slope = 1.0 - error_rate - by_chance;
    AssumedNoise {
        error_rate,
        low: (observed - error_rate).max(0.0),
        high: (observed + error_rate).min(1.0),
        if_independent: (slope > 0.0).then(|| ((observed - by_chance) / slope).clamp(0.0, 1.0)),
    }
}

/// Returns what was said of labelled units, in order of clusters (`None` where too many share clusters), and how many there are.
fn said(table: &Table<'_>, subject: &Subject, config: &AuditConfig) -> (Option<Vec<Said>>, u64) {
    let accepts = Accepts::of(table, config);
    let right = is_right(table, accepts);
    let mut alone: HashMap<[u64; 4], Said, RandomState> = HashMap::default();
    let mut together = Vec::new();
    let (mut n_labelled, mut n_together) = (0, 0);
    let all = &subject.units;
    for (idx, unit) in all.iter().enumerate() {
        if right(unit, 0.0).is_none() {
            continue;
        }
        n_labelled += 1;
        let hits = Hits::of(subject, unit, None, |draw| right(unit, draw) == Some(true));
        if hits.n == 0 {
            continue;
        }
        let share = hits.n_met as f64 / hits.n as f64;
        let good = unit.truth.good == Some(true);
        let (accepted, turned) = if accepts.is_some() {
            (Some((good, if good { share } else { 1.0 - share })), 1.0 - share)
        } else if share > 0.5 {
            // Another label makes right answers wrong, or the commonest wrong answer right.
            (None, 0.0)
        } else {
            (None, best_other(subject, unit, &right))
        };
        let one = || Said {
            unit: unit.clone(),
            n_units: 1,
            n: hits.n,
            n_unparsed: hits.n_unparsed,
            accepted,
            right: [share, turned],
        };
        let is_alone = (idx == 0 || all[idx - 1].cluster != unit.cluster)
            && all.get(idx + 1).is_none_or(|next| next.cluster != unit.cluster);
        if is_alone {
            // The label's side matters where answers accept.
            let side = u64::from(accepted.is_some_and(|(good, _)| good));
            let key = [share.to_bits(), turned.to_bits(), (hits.n as u64) << 1 | side, hits.n_unparsed as u64];
            alone.entry(key).and_modify(|known| known.n_units += 1).or_insert_with(one);
        } else {
            n_together += 1;
            if n_together <= MOST_CLUSTERED {
                together.push(one());
            }
        }
    }
    // In an order that no hash decides.
    let mut alone: Vec<([u64; 4], Said)> = alone.into_iter().collect();
    alone.sort_unstable_by_key(|(key, _)| *key);
    let said = together.into_iter().chain(alone.into_iter().map(|(_, said)| said)).collect();
    ((n_together <= MOST_CLUSTERED).then_some(said), n_labelled)
}

/// Returns the share of the commonest wrong answer.
fn best_other(subject: &Subject, unit: &Unit, right: &impl Fn(&Unit, f64) -> Option<bool>) -> f64 {
    let mut wrong: Vec<f64> = subject.parsed_of(unit).filter(|draw| right(unit, *draw) != Some(true)).collect();
    wrong.sort_unstable_by(f64::total_cmp);
    let most = wrong.chunk_by(|a, b| a.total_cmp(b).is_eq()).map(<[f64]>::len).max().unwrap_or(0);
    most as f64 / subject.parsed_of(unit).count().max(1) as f64
}

/// Returns how many labels turn a limit, by bisection over the order in which they move the rate most.
fn labels_to_turn(limit: &LimitResult, value: &Estimated, units: &[Said], level: f64) -> Option<u64> {
    // Up: the rate has to rise for the limit to turn.
    let up = (limit.side == "max") == (limit.state == LimitState::Met);
    let mean = value.estimate;
    let gain = |one: &Said| {
        let [before, after] = one.parts(&limit.measure).map(|value| value.map_or(0.0, |value| value - mean));
        let gain = after - before;
        if up { gain } else { -gain }
    };
    let mut order: Vec<usize> = (0..units.len()).filter(|&idx| gain(&units[idx]) > 1e-12).collect();
    order.sort_by(|&a, &b| gain(&units[b]).total_cmp(&gain(&units[a])));
    let most: u64 = order.iter().map(|&idx| units[idx].n_units).sum();
    // The limit's p value counts the other limits (Holm) by the same factor however its own labels stand.
    let p_of = |estimated: &Estimated| match limit.side.as_str() {
        "max" => estimated.spread.p_at_most(estimated.estimate, limit.limit),
        _ => estimated.spread.p_at_least(estimated.estimate, limit.limit),
    };
    let factor = match (limit.p_broken, p_of(value)) {
        (Some(corrected), Some(own)) if own > 0.0 => (corrected / own).max(1.0),
        _ => 1.0,
    };
    let stands = |n_labels: u64| {
        let mut turned = vec![0; units.len()];
        let mut left = n_labels;
        for &idx in &order {
            turned[idx] = left.min(units[idx].n_units);
            left -= turned[idx];
        }
        let Some(found) = rate(units, &turned, &limit.measure) else { return false };
        match limit.state {
            LimitState::Broken => p_of(&found).is_some_and(|p| p * factor < (1.0 - level) / 2.0),
            _ => keeps(limit, &found, level) && found.worst.as_deref().is_none_or(|worst| keeps(limit, worst, level)),
        }
    };
    if !stands(0) || stands(most) {
        return None;
    }
    let (mut low, mut high) = (0, most);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if stands(middle) { low = middle } else { high = middle }
    }
    Some(high)
}

fn keeps(limit: &LimitResult, value: &Estimated, level: f64) -> bool {
    value.spread.interval(value.estimate, level).is_some_and(|interval| match limit.side.as_str() {
        "max" => interval.high <= limit.limit,
        _ => interval.low >= limit.limit,
    })
}

/// Returns the rate with `turned` labels of each of the units turned. Unparsed replies count as hits against the judge where hits are
/// errors.
fn rate(units: &[Said], turned: &[u64], measure: &str) -> Option<Estimated> {
    let is_error = measure != "accuracy";
    let has_unparsed = units.iter().any(|one| one.n_unparsed > 0);
    let (mut parsed, mut against) = (Values::default(), Values::default());
    for (one, &n_turned) in units.iter().zip(turned) {
        let [before, after] = one.parts(measure);
        for (value, n_units) in [(after, n_turned), (before, one.n_units - n_turned)] {
            let Some(value) = value.filter(|_| n_units > 0) else { continue };
            let all = one.n + one.n_unparsed;
            let n_hits = value * one.n as f64 + if is_error { one.n_unparsed as f64 } else { 0.0 };
            let worst = n_hits / all as f64;
            if one.n_units == 1 {
                parsed.push(&one.unit, value, one.n);
                against.push(&one.unit, worst, all);
            } else {
                parsed.push_alike(value, one.n, n_units);
                against.push_alike(worst, all, n_units);
            }
        }
    }
    let mut value = parsed.proportion("")?;
    if has_unparsed {
        value.worst = against.proportion("").map(Box::new);
    }
    Some(value)
}
