//! Krippendorff's alpha from clusters' tallies, with an interval: of repeats, of people, of different judges.

use std::collections::BTreeMap;

use crate::agreement::alpha::{IntervalTally, Metric, alpha_from_coincidences};
use crate::interval::Spread;
use crate::judgement::OutcomeKind;

use super::estimate::Estimated;

/// The most distinct values for which ordinal alpha is worked out: its matrix is their square.
const MOST_VALUES: usize = 100;

/// What a coefficient rests on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub n: u64,
    pub n_items: u64,
}

/// What one cluster adds: sums for the interval metric, or coincidences for the nominal one.
#[derive(Clone, Debug)]
enum Tally {
    Interval(IntervalTally),
    /// Weighted disagreeing pairs, and pairable values by category.
    Nominal {
        disagreement: f64,
        counts: Vec<f64>,
    },
}

/// Sums for alpha: the interval metric for scores, the nominal one for everything else.
pub(crate) struct AlphaSums {
    by_cluster: BTreeMap<u32, Tally>,
    is_score: bool,
    centre: f64,
    /// Coincidences of scores with few values, for the ordinal metric.
    ordinal: Option<Coincidences>,
}

/// A matrix over the distinct values seen so far.
#[derive(Default)]
struct Coincidences(BTreeMap<(u64, u64), f64>);

/// A total order of scores as keys: the sign bit flipped for positive numbers, all bits for negative ones.
fn key(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}

fn value(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 1 { key & !(1 << 63) } else { !key })
}

impl Coincidences {
    /// Adds the ordered pairs of `sorted` values, each with weight 1/(n − 1).
    fn add(&mut self, sorted: &[f64]) {
        let weight = 1.0 / (sorted.len() - 1) as f64;
        let runs: Vec<(u64, f64)> =
            sorted.chunk_by(|a, b| a.total_cmp(b).is_eq()).map(|run| (key(run[0]), run.len() as f64)).collect();
        for &(row, n) in &runs {
            for &(column, others) in &runs {
                let pairs = if row == column { n * (n - 1.0) } else { n * others };
                if pairs > 0.0 {
                    *self.0.entry((row, column)).or_insert(0.0) += pairs * weight;
                }
            }
        }
    }

    fn alpha(&self, metric: Metric) -> Option<f64> {
        let mut keys: Vec<u64> = self.0.keys().flat_map(|(row, column)| [*row, *column]).collect();
        keys.sort_unstable();
        keys.dedup();
        let n = keys.len();
        let place = |key: &u64| keys.binary_search(key).expect("every key was listed");
        let mut matrix = vec![0.0; n * n];
        for ((row, column), weight) in &self.0 {
            matrix[place(row) * n + place(column)] += weight;
        }
        let values: Vec<f64> = keys.iter().map(|&key| value(key)).collect();
        alpha_from_coincidences(&matrix, &values, metric)
    }

    fn n_values(&self) -> usize {
        self.0.keys().filter(|(row, column)| row == column).count()
    }
}

impl AlphaSums {
    /// `centre` is subtracted from scores before they are squared; any value near the middle of the scale serves.
    pub(crate) fn new(kind: OutcomeKind, centre: f64) -> Self {
        let is_score = kind == OutcomeKind::Score;
        Self { by_cluster: BTreeMap::new(), is_score, centre, ordinal: is_score.then(Coincidences::default) }
    }

    /// Adds a unit of at least two sorted values.
    pub(crate) fn add(&mut self, cluster: u32, sorted: &[f64]) {
        let n = sorted.len() as f64;
        if !self.is_score {
            let same: f64 =
                sorted.chunk_by(|a, b| a.total_cmp(b).is_eq()).map(|run| (run.len() * (run.len() - 1)) as f64).sum();
            let disagreement = (n * (n - 1.0) - same) / (n - 1.0);
            self.add_nominal(cluster, disagreement, sorted.iter().map(|value| (*value, 1.0)));
            return;
        }
        let (sum, squares) = sorted.iter().fold((0.0, 0.0), |(sum, squares), value| {
            let x = value - self.centre;
            (sum + x, squares + x * x)
        });
        let n = u32::try_from(sorted.len()).expect("a unit has fewer than 2^32 values");
        let mut tally = IntervalTally::of_unit(n, sum, squares);
        if sorted[0].total_cmp(&sorted[sorted.len() - 1]).is_eq() {
            // Equal values disagree by nothing, whatever rounding leaves.
            tally.disagreement = 0.0;
        }
        self.add_interval(cluster, tally);
        if let Some(ordinal) = &mut self.ordinal {
            ordinal.add(sorted);
            if ordinal.n_values() > MOST_VALUES {
                self.ordinal = None;
            }
        }
    }

    /// Adds a unit for pairs of different judges only: each judge's values.
    pub(crate) fn add_between(&mut self, cluster: u32, judges: &[Vec<f64>]) {
        let judges: Vec<&Vec<f64>> = judges.iter().filter(|values| !values.is_empty()).collect();
        if judges.len() < 2 {
            return;
        }
        self.ordinal = None;
        if self.is_score {
            let sums: Vec<(u32, f64, f64)> = judges
                .iter()
                .map(|values| {
                    let n = u32::try_from(values.len()).expect("a unit has fewer than 2^32 values");
                    let centred = values.iter().map(|value| value - self.centre);
                    (n, centred.clone().sum(), centred.map(|x| x * x).sum())
                })
                .collect();
            self.add_interval(cluster, IntervalTally::of_unit_between(&sums));
            return;
        }
        // One of each judge's answers, at random: the expected number of disagreeing ordered pairs over n − 1.
        let mut shares: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for (judge_idx, values) in judges.iter().enumerate() {
            for answer in *values {
                shares.entry(key(*answer)).or_insert_with(|| vec![0.0; judges.len()])[judge_idx] +=
                    1.0 / values.len() as f64;
            }
        }
        let n = judges.len() as f64;
        let same: f64 = shares
            .values()
            .map(|of| of.iter().sum::<f64>().powi(2) - of.iter().map(|share| share * share).sum::<f64>())
            .sum();
        let disagreement = (n * (n - 1.0) - same) / (n - 1.0);
        let totals: Vec<(f64, f64)> = shares.iter().map(|(&key, of)| (value(key), of.iter().sum())).collect();
        self.add_nominal(cluster, disagreement, totals.into_iter());
    }

    fn add_interval(&mut self, cluster: u32, tally: IntervalTally) {
        let known = self.by_cluster.entry(cluster).or_insert_with(|| Tally::Interval(IntervalTally::default()));
        if let Tally::Interval(sums) = known {
            *sums = sums.plus(tally);
        }
    }

    fn add_nominal(&mut self, cluster: u32, more: f64, values: impl Iterator<Item = (f64, f64)>) {
        let new = || Tally::Nominal { disagreement: 0.0, counts: Vec::new() };
        let Tally::Nominal { disagreement, counts } = self.by_cluster.entry(cluster).or_insert_with(new) else {
            return;
        };
        *disagreement += more;
        for (answer, n) in values {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "codes of answers are small ids"
            )]
            let idx = answer as usize;
            if counts.len() <= idx {
                counts.resize(idx + 1, 0.0);
            }
            counts[idx] += n;
        }
    }

    /// Returns alpha with the interval of the delete-one-cluster jackknife. `None` when nothing varies or nothing is paired.
    pub(crate) fn finish(self, basis: Counts, what: &str) -> Option<Estimated> {
        let n_clusters = self.by_cluster.len() as u64;
        let (estimate, expected, left_out) = if self.is_score { self.interval()? } else { self.nominal()? };
        let m = n_clusters as f64;
        let mean = left_out.iter().sum::<f64>() / m;
        let variance = (m - 1.0) / m * left_out.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>();
        let standard_error = variance.sqrt();
        let metric = if self.is_score { "interval" } else { "nominal" };
        let spread = if estimate >= 1.0 - 1e-12 {
            // What one disagreement is worth is known only where categories have no distance.
            if self.is_score { Spread::None } else { Spread::Unseen { n_clusters: m, size: -1.0 / expected } }
        } else if standard_error > 0.0 && n_clusters > 1 {
            Spread::FisherZ { standard_error: standard_error / (1.0 - estimate * estimate), degrees: m - 1.0 }
        } else {
            Spread::None
        };
        let mut estimated = Estimated {
            estimate,
            spread,
            n: basis.n,
            n_items: basis.n_items,
            n_clusters,
            method: format!("Krippendorff's alpha ({metric}), {what}; cluster jackknife on the scale of atanh"),
            cautions: Vec::new(),
            details: [("expected_disagreement".to_owned(), expected)].into(),
            worst: None,
        };
        if let Some(ordinal) = self.ordinal.and_then(|matrix| matrix.alpha(Metric::Ordinal)) {
            estimated = estimated.detail("alpha_ordinal", ordinal);
        }
        Some(estimated)
    }

    /// Returns alpha, its expected disagreement, and alpha without each cluster (NaN where that is undefined).
    fn interval(&self) -> Option<(f64, f64, Vec<f64>)> {
        let tallies = || {
            self.by_cluster.values().map(|tally| match tally {
                Tally::Interval(sums) => *sums,
                Tally::Nominal { .. } => IntervalTally::default(),
            })
        };
        let total = tallies().fold(IntervalTally::default(), IntervalTally::plus);
        let left_out = tallies().map(|tally| total.minus(tally).alpha().unwrap_or(f64::NAN)).collect();
        let expected = 2.0 * (total.sum_of_squares - total.sum * total.sum / total.n) / (total.n - 1.0);
        Some((total.alpha()?, expected, left_out))
    }

    fn nominal(&self) -> Option<(f64, f64, Vec<f64>)> {
        let alpha = |disagreement: f64, n: f64, squares: f64| {
            let expected = (n * n - squares) / (n * (n - 1.0));
            (n > 1.0 && expected > 1e-12).then(|| (1.0 - disagreement / n / expected, expected))
        };
        let (mut disagreement_all, mut totals) = (0.0, Vec::new());
        for tally in self.by_cluster.values() {
            if let Tally::Nominal { disagreement, counts } = tally {
                disagreement_all += disagreement;
                if totals.len() < counts.len() {
                    totals.resize(counts.len(), 0.0);
                }
                totals.iter_mut().zip(counts).for_each(|(total, count)| *total += count);
            }
        }
        let n: f64 = totals.iter().sum();
        let squares: f64 = totals.iter().map(|total| total * total).sum();
        let (estimate, expected) = alpha(disagreement_all, n, squares)?;
        let without = |tally: &Tally| {
            let Tally::Nominal { disagreement, counts } = tally else { return f64::NAN };
            let own: f64 = counts.iter().sum();
            let change: f64 = totals.iter().zip(counts).map(|(total, count)| count * (count - 2.0 * total)).sum();
            alpha(disagreement_all - disagreement, n - own, squares + change).map_or(f64::NAN, |(alpha, _)| alpha)
        };
        Some((estimate, expected, self.by_cluster.values().map(without).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_the_order_of_scores() {
        let scores = [-3.5, -1.0, -0.0, 0.0, 0.25, 7.0];
        assert!(scores.windows(2).all(|pair| key(pair[0]) < key(pair[1])));
        assert!(scores.iter().all(|&score| value(key(score)).to_bits() == score.to_bits()));
    }
}
