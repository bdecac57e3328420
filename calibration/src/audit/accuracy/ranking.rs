//! Groups of items of which exactly one is right: is it the one that scores highest?
//!
//! With repeated scores, the mean of k draws is taken over all k-subsets exactly: the distribution of each item's sum is
//! worked out, and items are independent.

use std::collections::BTreeMap;

use crate::audit::AuditConfig;
use crate::audit::data::table::{Subject, Table, Unit};
use crate::audit::estimate::{Estimated, Measured, Values};
use crate::audit::result::{Voting, VotingPoint};

const NEEDS: &[&str] = &["group", "label", "score"];

/// The units of each group that holds exactly one right and at least one wrong item.
fn contests<'a>(table: &Table<'_>, units: &'a [Unit]) -> Vec<Vec<&'a Unit>> {
    if !table.cluster_is_group {
        return Vec::new();
    }
    let mut groups: BTreeMap<(u32, u32), Vec<&Unit>> = BTreeMap::new();
    for unit in units {
        groups.entry((unit.cluster, unit.dimension)).or_default().push(unit);
    }
    groups
        .into_values()
        .filter(|units| {
            let n_good = units.iter().filter(|unit| unit.truth.good == Some(true)).count();
            n_good == 1 && units.len() > 1 && units.iter().all(|unit| unit.truth.good.is_some())
        })
        .collect()
}

/// Puts the right item first.
fn right_first<'a>(units: &[&'a Unit]) -> Vec<&'a Unit> {
    let mut ordered = units.to_vec();
    ordered.sort_by_key(|unit| unit.truth.good != Some(true));
    ordered
}

/// Measures how often the right item of a group has strictly the highest mean of all its draws.
pub(crate) fn measure(table: &Table<'_>, subject: &Subject, units: &[Unit], measured: &mut Measured) {
    let mut values = Values::default();
    let (mut n_tied, mut n_right, mut n_top_tied) = (0.0, 0.0, 0.0);
    for units in contests(table, units) {
        let units = right_first(&units);
        let means: Vec<f64> = units
            .iter()
            .map(|unit| {
                // Divided before they are added: the sum of large scores may not be a number.
                let n = subject.parsed_of(unit).count() as f64;
                if n > 0.0 { subject.parsed_of(unit).map(|draw| draw / n).sum() } else { f64::NAN }
            })
            .collect();
        if means.iter().any(|mean| mean.is_nan()) {
            continue;
        }
        let best_wrong = means[1..].iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // Means that are equal but for rounding tie.
        let rounding = 1e-12 * means.iter().fold(0.0_f64, |most, mean| most.max(mean.abs()));
        let is_right = means[0] - best_wrong > rounding;
        n_right += f64::from(u8::from(is_right));
        n_tied += f64::from(u8::from((means[0] - best_wrong).abs() <= rounding));
        let top = best_wrong.max(means[0]);
        n_top_tied += f64::from(u8::from(means.iter().filter(|mean| top - **mean <= rounding).count() > 1));
        let n = units.iter().map(|unit| subject.parsed_of(unit).count()).sum();
        values.push(units[0], f64::from(u8::from(is_right)), n);
    }
    let value = values.proportion("groups whose right item has strictly the highest mean score; ties count as wrong");
    let value =
        value.map(|value| value.detail("n_right", n_right).detail("n_tied", n_tied).detail("n_top_tied", n_top_tied));
    measured.record("top_of_group_accuracy", value, "no group holds exactly one right item among others", NEEDS);
}

/// Steps from the lowest to the highest score of a group, so that equal sums are found equal.
///
/// Decimals such as 8.5 are counted in units of their last digit, which is exact. Other scores are set on a grid so fine that
/// only rounding is lost; on a coarser one, of 20,000 steps, where an item has so many different draws that nearly every
/// subset would have a sum of its own.
struct Grid {
    lowest: f64,
    step: f64,
}

impl Grid {
    /// With up to this many steps, sums are few however many draws there are.
    const FEW_STEPS: f64 = 20_000.0;
    /// Up to this many different subsets, sums are few whatever they are.
    const FEW_SUBSETS: f64 = 65_536.0;
    /// The most steps: sums of 25 of them fit a whole number.
    const MOST_STEPS: f64 = (1_u64 << 45) as f64;
    /// Beyond this many digits, decimals are no longer told from other numbers.
    const MOST_DIGITS: i32 = 9;

    fn new(draws: &[Vec<f64>]) -> Self {
        let all = || draws.iter().flatten().copied();
        let (lowest, highest) = (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
        // Halves, since the difference of two large scores may not be a number.
        let half_range = highest / 2.0 - lowest / 2.0;
        let is_whole = |value: f64| (value - value.round()).abs() <= 1e-9 * value.abs();
        let is_few = draws.iter().all(|draws| n_subsets(draws) <= Self::FEW_SUBSETS);
        let most_steps = if is_few { Self::MOST_STEPS } else { Self::FEW_STEPS };
        let decimal = (0..=Self::MOST_DIGITS).find(|&digits| all().all(|draw| is_whole(draw * 10_f64.powi(digits))));
        let step = match decimal.map(|digits| 10_f64.powi(-digits)) {
            Some(unit) if half_range / unit <= most_steps / 2.0 => unit,
            _ => half_range / (most_steps / 2.0),
        };
        Self { lowest, step }
    }

    #[expect(clippy::cast_possible_truncation, reason = "there are at most 2^45 steps")]
    fn place(&self, score: f64) -> i64 {
        // All scores alike, or so close that no step lies between them.
        if self.step <= 0.0 { 0 } else { ((score / 2.0 - self.lowest / 2.0) / self.step * 2.0).round() as i64 }
    }
}

/// Returns how many subsets differ in the values they hold.
fn n_subsets(draws: &[f64]) -> f64 {
    let mut sorted = draws.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.chunk_by(|a, b| a.total_cmp(b).is_eq()).map(|run| run.len() as f64 + 1.0).product()
}

/// Returns how many k-subsets of `draws` have each sum, for k = 0..=`k_max`, as probabilities.
fn sums_of_subsets(draws: &[f64], grid: &Grid, k_max: usize) -> Vec<BTreeMap<i64, f64>> {
    let mut ways: Vec<BTreeMap<i64, f64>> = vec![BTreeMap::new(); k_max + 1];
    ways[0].insert(0, 1.0);
    for &draw in draws {
        let place = grid.place(draw);
        for k in (1..=k_max).rev() {
            let added: Vec<(i64, f64)> = ways[k - 1].iter().map(|(sum, ways)| (sum + place, *ways)).collect();
            for (sum, more) in added {
                *ways[k].entry(sum).or_insert(0.0) += more;
            }
        }
    }
    for sums in &mut ways {
        let total: f64 = sums.values().sum();
        for ways in sums.values_mut() {
            *ways /= total;
        }
    }
    ways
}

/// Probabilities that the first item's sum is highest.
#[derive(Default)]
struct FirstWins {
    /// Ties in equal parts.
    split: f64,
    /// Alone.
    alone: f64,
    /// With others.
    tied: f64,
}

fn first_wins(sums: &[&BTreeMap<i64, f64>]) -> FirstWins {
    let mut wins = FirstWins::default();
    for (&sum, &p) in sums[0] {
        // Of the others: the probability of each number of ties, none above.
        let mut ties = vec![1.0];
        for other in &sums[1..] {
            let below: f64 = other.range(..sum).map(|(_, p)| p).sum();
            let equal = other.get(&sum).copied().unwrap_or(0.0);
            let mut next = vec![0.0; ties.len() + 1];
            for (idx, p) in ties.iter().enumerate() {
                next[idx] += p * below;
                next[idx + 1] += p * equal;
            }
            ties = next;
        }
        wins.split += p * ties.iter().enumerate().map(|(tied, p)| p / (tied + 1) as f64).sum::<f64>();
        wins.alone += p * ties[0];
        wins.tied += p * ties[1..].iter().sum::<f64>();
    }
    wins
}

/// Returns the curve of the best-of-group choice by the mean of k draws, or `None` when there are no such groups.
pub(crate) fn voting(table: &Table<'_>, subject: &Subject, config: &AuditConfig) -> Option<Voting> {
    let contests = contests(table, &subject.units);
    let n_parsed = |unit: &&Unit| subject.parsed_of(unit).count();
    let lengths = contests.iter().map(|units| units.iter().map(n_parsed).min().unwrap_or(0));
    let mut sorted: Vec<usize> = lengths.clone().collect();
    sorted.sort_unstable();
    let k_max = sorted.get(sorted.len() / 10).copied().filter(|&k| k >= 2)?.min(25);
    let mut values: Vec<Values> = vec![Values::default(); k_max + 1];
    let (mut ties, mut strict) = (vec![0.0; k_max + 1], vec![0.0; k_max + 1]);
    let mut n_used = 0_u64;
    let mut gained = Values::default();
    for (units, shortest) in contests.iter().zip(lengths) {
        if shortest < k_max {
            continue;
        }
        n_used += 1;
        let units = right_first(units);
        let draws: Vec<Vec<f64>> = units.iter().map(|unit| subject.parsed_of(unit).collect()).collect();
        let grid = Grid::new(&draws);
        let sums: Vec<Vec<BTreeMap<i64, f64>>> =
            draws.iter().map(|draws| sums_of_subsets(draws, &grid, k_max)).collect();
        let mut of_one = 0.0;
        for k in 1..=k_max {
            let at_k: Vec<&BTreeMap<i64, f64>> = sums.iter().map(|sums| &sums[k]).collect();
            let wins = first_wins(&at_k);
            values[k].push(units[0], wins.split, k * units.len());
            ties[k] += wins.tied;
            strict[k] += wins.alone;
            if k == 1 {
                of_one = wins.split;
            }
            if k == k_max {
                gained.push(units[0], wins.split - of_one, k * units.len());
            }
        }
    }
    let points = (1..=k_max)
        .map(|k| VotingPoint {
            k: u32::try_from(k).expect("few draws are considered"),
            accuracy: values[k]
                .proportion(&format!(
                    "the right item of its group has the highest mean of {k} draws, over all {k}-subsets"
                ))
                .map(|value: Estimated| {
                    // What other tie rules make of the same draws: more votes can look worse by one and better by another.
                    let value = value.detail("ties_wrong", strict[k] / n_used as f64);
                    let value = value.detail("ties_dropped", strict[k] / (n_used as f64 - ties[k]));
                    value.measure(config.level)
                }),
            false_accept_rate: None,
            false_reject_rate: None,
            flip_rate: None,
            tie_share: ties[k] / n_used as f64,
            empty_share: 0.0,
        })
        .collect();
    Some(Voting {
        tie_rule: "the right item tied with others for the highest mean counts in equal parts".to_owned(),
        k_max: u32::try_from(k_max).expect("few draws are considered"),
        n_items: n_used,
        n_items_left_out: contests.len() as u64 - n_used,
        points,
        gain: crate::audit::noise::voting::gain(&gained, k_max, config.level),
    })
}
