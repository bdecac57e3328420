//! Weights of items: how much each counts where the judge will work.
//!
//! A log seldom holds items in the mix of production: hard ones are sought out, labels are balanced. A weight an item undoes that
//! for every rate and mean; what is not one, such as an intraclass correlation, stays that of the log, and says so.

use crate::log::{Log, number};
use crate::problem::{Problem, Problems, Severity};

use crate::audit::estimate::Measured;

/// Measures that weights do not change: most are no mean over items, the others reckon each item the same.
const UNWEIGHTED: [&str; 13] = [
    "within_item_sd",
    "within_item_range_max",
    "icc_single",
    "icc_mean",
    "repeat_alpha",
    "place_slope",
    "top_of_group_accuracy",
    "corrected_pass_rate_ppi",
    "brier_score",
    "log_loss",
    "overconfidence",
    "ece",
    "ece_excess",
];

/// What is said of a measure that weights do not change.
pub(in crate::audit) const NOT_USED: &str = "the weights of items do not enter it";

/// Returns the weight of each item; empty where the log states none. Items without a weight, or with two, count 1.
pub(in crate::audit) fn of_items(log: &Log, problems: &mut Problems) -> Vec<f64> {
    if log.weight.is_empty() {
        return Vec::new();
    }
    let mut weights = vec![f64::NAN; log.items.len()];
    let mut is_contradicted = vec![false; log.items.len()];
    let mut conflicts: Option<usize> = None;
    for (row_idx, &item) in log.item.iter().enumerate() {
        let Some(weight) = number(&log.weight, row_idx) else { continue };
        let known = &mut weights[item as usize];
        if known.is_nan() {
            *known = weight;
        } else if known.total_cmp(&weight).is_ne() {
            is_contradicted[item as usize] = true;
            conflicts.get_or_insert(row_idx);
        }
    }
    if let Some(row_idx) = conflicts {
        let count = is_contradicted.iter().filter(|is| **is).count() as u64;
        let item = log.items.name(log.item[row_idx]);
        let message = format!("items carry two different weights and count 1 (first: item {item:?})");
        let problem = Problem::new(Severity::Error, "conflicting-weights", message);
        problems.add(log.locate(row_idx, problem.times(count).in_column("weight")));
    }
    let n_missing = weights.iter().filter(|weight| weight.is_nan()).count() as u64;
    if n_missing > 0 {
        let message = "items have no weight, while others do; they count 1";
        problems.add(Problem::new(Severity::Warning, "missing-weight", message).times(n_missing).in_column("weight"));
    }
    for (weight, _) in weights.iter_mut().zip(&is_contradicted).filter(|(weight, is)| **is || weight.is_nan()) {
        *weight = 1.0;
    }
    weights
}

/// Says of each measure that weights do not change that it does not use them.
pub(in crate::audit) fn caution(measured: &mut Measured) {
    for id in UNWEIGHTED {
        if let Some(value) = measured.values.get_mut(id)
            && !value.cautions.iter().any(|known| known == NOT_USED)
        {
            value.cautions.push(NOT_USED.to_owned());
        }
    }
}
