//! The threshold that costs least, and what it costs to have chosen it from these data.

use rayon::prelude::*;

use crate::interval::Spread;
use crate::proportion::Interval;

use super::costs::{Costs, Shared};
use super::thresholds::{Chosen, FOLDS, Folds, Labelled};
use crate::audit::AuditConfig;
use crate::audit::estimate::{Estimated, Values};
use crate::audit::result::{CostedThreshold, ThresholdCosts, ThresholdPoint};

/// Returns what errors cost at each threshold, or `None` where no costs are stated.
pub(in crate::audit) fn threshold_costs(
    labelled: &Labelled<'_>,
    points: &[ThresholdPoint],
    chosen: &Chosen,
    folds: Option<&Folds>,
    config: &AuditConfig,
) -> Option<ThresholdCosts> {
    let weight = |good: bool| {
        labelled.units.iter().filter(|unit| unit.is_good == good).map(|unit| unit.unit.weight).sum::<f64>()
    };
    let costs = Costs::of(config, weight(true), weight(false))?;
    let by_threshold: Vec<f64> = points
        .iter()
        .map(|point| costs.at(point.false_accept_rate.estimate, point.false_reject_rate.estimate))
        .collect();
    let candidates: Vec<f64> = points.iter().map(|point| point.threshold).collect();
    let nothing = costs.at(0.0, 1.0);
    let everywhere = |threshold: Option<f64>| [threshold; FOLDS];
    let costed = |threshold: Option<f64>, without: Option<[Option<f64>; FOLDS]>| {
        let judged = |by_fold: &[Option<f64>; FOLDS]| judged(labelled, folds, by_fold, costs, config.level);
        let crossed = folds.and(without).and_then(|without| judged(&without));
        Some(CostedThreshold {
            threshold,
            expected_cost: judged(&everywhere(threshold))?.measure(config.level),
            cross_validated: crossed.map(|mut value| {
                value.method =
                    format!("{}; on clusters that did not choose the threshold, {FOLDS} folds", value.method);
                value.measure(config.level)
            }),
        })
    };
    let cheapest = cheapest(&candidates, &by_threshold, nothing);
    let without = folds.map(|folds| cheapest_without(labelled, &candidates, folds, costs));
    Some(ThresholdCosts {
        costs: [costs.false_accept, costs.false_reject],
        base_rate: costs.base_rate,
        cheapest: costed(cheapest, without)?,
        by_cap: costed(chosen.of_all, Some(chosen.without))?,
        by_threshold,
        without_looking: [costs.at(1.0, 0.0), nothing],
    })
}

/// Returns the threshold of least cost, the strictest of several; none where accepting nothing costs no more.
fn cheapest(candidates: &[f64], costs: &[f64], nothing: f64) -> Option<f64> {
    let mut best = (None, nothing);
    for (threshold, cost) in candidates.iter().zip(costs).rev() {
        if *cost < best.1 - 1e-12 * nothing.abs() {
            best = (Some(*threshold), *cost);
        }
    }
    best.0
}

/// Returns for each fold the threshold that costs least on the others.
fn cheapest_without(labelled: &Labelled<'_>, candidates: &[f64], folds: &Folds, costs: Costs) -> [Option<f64>; FOLDS] {
    // By fold, of wrong and of right items: the sum of error rates, and how many.
    let sums: Vec<[[[f64; 2]; 2]; FOLDS]> = candidates
        .par_iter()
        .map(|&threshold| {
            let mut sums = [[[0.0; 2]; 2]; FOLDS];
            for unit in labelled.units.iter().filter(|unit| !unit.draws.is_empty()) {
                let sum = &mut sums[folds.of(unit.unit)][usize::from(unit.is_good)];
                sum[0] += labelled.error_rate(unit, threshold);
                sum[1] += 1.0;
            }
            sums
        })
        .collect();
    std::array::from_fn(|left_out| {
        let rate = |by_fold: &[[[f64; 2]; 2]; FOLDS], class: usize| {
            let others = by_fold.iter().enumerate().filter(|(fold, _)| *fold != left_out);
            let [sum, n] = others.fold([0.0; 2], |all, (_, of)| [all[0] + of[class][0], all[1] + of[class][1]]);
            if n > 0.0 { sum / n } else { 0.0 }
        };
        let by_threshold: Vec<f64> = sums.iter().map(|sums| costs.at(rate(sums, 0), rate(sums, 1))).collect();
        cheapest(candidates, &by_threshold, costs.at(0.0, 1.0))
    })
}

/// Returns the cost of judging each fold by its threshold; without one nothing is accepted.
fn judged(
    labelled: &Labelled<'_>,
    folds: Option<&Folds>,
    by_fold: &[Option<f64>; FOLDS],
    costs: Costs,
    level: f64,
) -> Option<Estimated> {
    let error_rate = |unit: &super::thresholds::LabelledUnit<'_>| {
        let fold = folds.map_or(0, |folds| folds.of(unit.unit));
        labelled.error_rate(unit, by_fold[fold].unwrap_or(f64::INFINITY))
    };
    let parsed = || labelled.units.iter().filter(|unit| !unit.draws.is_empty());
    let [mut wrong, mut right] = [Values::default(), Values::default()];
    for unit in parsed() {
        if unit.is_good { &mut right } else { &mut wrong }.push(unit.unit, error_rate(unit), unit.draws.len());
    }
    let (false_accepts, false_rejects) = (wrong.proportion("")?, right.proportion("")?);
    let units = parsed().map(|unit| (unit.unit.cluster, unit.is_good, error_rate(unit)));
    let shared = Shared::of(units, false_accepts.estimate, false_rejects.estimate);
    let mut value = costs.expected(&false_accepts, &false_rejects, shared)?;
    if by_fold.iter().all(Option::is_none) {
        // What accepts nothing costs this, whatever the answers.
        let interval = Interval { low: value.estimate, high: value.estimate };
        value.spread = Spread::AtLevel { interval, level };
        "what accepting nothing costs, known without any answer".clone_into(&mut value.method);
    }
    Some(value)
}
