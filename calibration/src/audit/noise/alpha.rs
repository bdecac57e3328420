//! Krippendorff's alpha from clusters' tallies, with an interval: of repeats, of people, of different judges.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use crate::agreement::alpha::{IntervalTally, Metric, alpha_from_coincidences};
use crate::interval::Spread;
use crate::judgement::OutcomeKind;

use crate::audit::accuracy::chance::FEW_CLUSTERS;
use crate::audit::accuracy::chance::MOST_CATEGORIES;
use crate::audit::estimate::Estimated;

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
        counts: SmallVec<[f64; 4]>,
    },
}

impl Tally {
    fn merge(&mut self, other: &Self) {
        match (self, other) {
            (Self::Interval(sums), Self::Interval(more)) => *sums = sums.plus(*more),
            (Self::Nominal { disagreement, counts }, Self::Nominal { disagreement: more, counts: others }) => {
                *disagreement += more;
                if counts.len() < others.len() {
                    counts.resize(others.len(), 0.0);
                }
                counts.iter_mut().zip(others).for_each(|(count, other)| *count += other);
            }
            _ => {}
        }
    }
}

/// Sums for alpha: the interval metric for scores, the nominal one for everything else.
pub(crate) struct AlphaSums {
    /// In the order added; a cluster may stand twice until the end.
    by_cluster: Vec<(u32, Tally)>,
    is_score: bool,
    centre: f64,
    /// Whether there were more than [`MOST_CATEGORIES`], answers that are texts rather than categories.
    has_too_many: bool,
    /// Coincidences of scores with few values, for the ordinal metric.
    ordinal: Option<Coincidences>,
}

/// A matrix over the distinct values seen so far, in the order first seen.
struct Coincidences {
    values: Vec<f64>,
    /// Row-major, with room for [`MOST_VALUES`] values.
    matrix: Vec<f64>,
}

impl Coincidences {
    fn new() -> Self {
        Self { values: Vec::new(), matrix: vec![0.0; MOST_VALUES * MOST_VALUES] }
    }

    /// Returns the place of a value; `None` when there are too many.
    #[inline]
    fn place(&mut self, value: f64) -> Option<usize> {
        let known = self.values.iter().position(|known| known.total_cmp(&value).is_eq());
        known.or_else(|| {
            self.values.push(value);
            (self.values.len() <= MOST_VALUES).then(|| self.values.len() - 1)
        })
    }

    /// Adds the ordered pairs of `sorted` values, each with weight 1/(n − 1). `None` when there are too many values.
    #[inline]
    fn add(&mut self, sorted: &[f64]) -> Option<()> {
        let weight = 1.0 / (sorted.len() - 1) as f64;
        let runs = || sorted.chunk_by(|a, b| a.total_cmp(b).is_eq());
        for row in runs() {
            let (place, n) = (self.place(row[0])?, row.len() as f64);
            for column in runs() {
                let other = self.place(column[0])?;
                let pairs = if other == place { n * (n - 1.0) } else { n * column.len() as f64 };
                self.matrix[place * MOST_VALUES + other] += pairs * weight;
            }
        }
        Some(())
    }

    fn alpha(&self, metric: Metric) -> Option<f64> {
        let mut order: Vec<usize> = (0..self.values.len()).collect();
        order.sort_by(|&x, &y| self.values[x].total_cmp(&self.values[y]));
        let matrix: Vec<f64> = order
            .iter()
            .flat_map(|row| order.iter().map(move |column| self.matrix[row * MOST_VALUES + column]))
            .collect();
        let values: Vec<f64> = order.iter().map(|&idx| self.values[idx]).collect();
        alpha_from_coincidences(&matrix, &values, metric)
    }
}

impl AlphaSums {
    /// `centre` is subtracted from scores before they are squared; any value near the middle of the scale serves.
    pub(crate) fn new(kind: OutcomeKind, centre: f64) -> Self {
        let is_score = kind == OutcomeKind::Score;
        Self {
            by_cluster: Vec::new(),
            is_score,
            centre,
            has_too_many: false,
            ordinal: is_score.then(Coincidences::new),
        }
    }

    /// Adds a unit of at least two sorted values.
    #[inline]
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
        if let Some(ordinal) = &mut self.ordinal
            && ordinal.add(sorted).is_none()
        {
            self.ordinal = None;
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
        let mut shares: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for (judge_idx, values) in judges.iter().enumerate() {
            for answer in *values {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "codes of answers are small ids"
                )]
                let code = *answer as u32;
                shares.entry(code).or_insert_with(|| vec![0.0; judges.len()])[judge_idx] += 1.0 / values.len() as f64;
            }
        }
        let n = judges.len() as f64;
        let same: f64 = shares
            .values()
            .map(|of| of.iter().sum::<f64>().powi(2) - of.iter().map(|share| share * share).sum::<f64>())
            .sum();
        let disagreement = (n * (n - 1.0) - same) / (n - 1.0);
        let totals: Vec<(f64, f64)> = shares.iter().map(|(&code, of)| (f64::from(code), of.iter().sum())).collect();
        self.add_nominal(cluster, disagreement, totals.into_iter());
    }

    /// Returns the tally of a cluster: the last one's, or a new one.
    #[inline]
    fn tally(&mut self, cluster: u32, new: impl FnOnce() -> Tally) -> &mut Tally {
        if self.by_cluster.last().is_none_or(|(last, _)| *last != cluster) {
            self.by_cluster.push((cluster, new()));
        }
        &mut self.by_cluster.last_mut().expect("one was just pushed").1
    }

    #[inline]
    fn add_interval(&mut self, cluster: u32, tally: IntervalTally) {
        if let Tally::Interval(sums) = self.tally(cluster, || Tally::Interval(IntervalTally::default())) {
            *sums = sums.plus(tally);
        }
    }

    #[inline]
    fn add_nominal(&mut self, cluster: u32, more: f64, values: impl Iterator<Item = (f64, f64)>) {
        let new = || Tally::Nominal { disagreement: 0.0, counts: SmallVec::new() };
        let Tally::Nominal { disagreement, counts } = self.tally(cluster, new) else { return };
        *disagreement += more;
        let mut too_many = false;
        for (answer, n) in values {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "codes of answers are small ids"
            )]
            let idx = answer as usize;
            if idx >= MOST_CATEGORIES {
                too_many = true;
                break;
            }
            if counts.len() <= idx {
                counts.resize(idx + 1, 0.0);
            }
            counts[idx] += n;
        }
        self.has_too_many |= too_many;
    }

    /// Brings tallies of one cluster together.
    fn gather(&mut self) {
        if self.by_cluster.is_sorted_by(|a, b| a.0 < b.0) {
            return;
        }
        self.by_cluster.sort_by_key(|(cluster, _)| *cluster);
        let mut gathered: Vec<(u32, Tally)> = Vec::new();
        for (cluster, tally) in self.by_cluster.drain(..) {
            match gathered.last_mut() {
                Some((last, known)) if *last == cluster => known.merge(&tally),
                _ => gathered.push((cluster, tally)),
            }
        }
        self.by_cluster = gathered;
    }

    /// Returns alpha with the interval of the delete-one-cluster jackknife. `None` when nothing varies or nothing is paired.
    pub(crate) fn finish(mut self, basis: Counts, what: &str) -> Option<Estimated> {
        if self.has_too_many {
            return None;
        }
        self.gather();
        let n_clusters = self.by_cluster.len() as u64;
        let (estimate, expected, left_out) = if self.is_score { self.interval()? } else { self.nominal()? };
        let m = n_clusters as f64;
        let mean = left_out.iter().sum::<f64>() / m;
        let variance = (m - 1.0) / m * left_out.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>();
        let jackknifed = variance.sqrt();
        let least = self.least_error(estimate, expected).filter(|_| jackknifed.is_finite());
        let standard_error = least.map_or(jackknifed, |least| jackknifed.max(least));
        let metric = if self.is_score { "interval" } else { "nominal" };
        let spread = if estimate >= 1.0 - 1e-12 {
            // What one disagreement is worth is known only where categories have no distance.
            if self.is_score { Spread::None } else { Spread::Unseen { n_clusters: m, size: -1.0 / expected } }
        } else {
            match Spread::fisher_z(estimate, standard_error, m - 1.0) {
                // Where a few items score far from the rest, samples with few of them are too low, and show too little variance.
                Spread::FisherZ { standard_error, degrees, .. } if self.is_score => {
                    let least = left_out.iter().copied().fold(f64::INFINITY, f64::min);
                    let up = (m - 1.0) / m * (mean - least).max(0.0) / (1.0 - estimate * estimate);
                    Spread::FisherZ { standard_error, reach: [0.0, up], shift: up, degrees }
                }
                spread => spread,
            }
        };
        let mut estimated = Estimated {
            estimate,
            spread,
            n: basis.n,
            n_items: basis.n_items,
            n_clusters,
            method: format!(
                "Krippendorff's alpha ({metric}), {what}; cluster jackknife on the scale of atanh{}",
                if self.is_score {
                    ", its upper end with one cluster more like the one that raises it most"
                } else {
                    ""
                }
            ),
            cautions: Vec::new(),
            details: [("expected_disagreement".to_owned(), expected)].into(),
            worst: None,
        };
        if let Some(ordinal) = self.ordinal.and_then(|matrix| matrix.alpha(Metric::Ordinal)) {
            estimated = estimated.detail("alpha_ordinal", ordinal);
        }
        Some(estimated)
    }

    /// Returns the standard error of categories in which each cluster counts as one trial at most, where fewer than ten clusters disagree:
    /// then their variance is hardly seen.
    fn least_error(&self, estimate: f64, expected: f64) -> Option<f64> {
        let disagrees = |tally: &Tally| matches!(tally, Tally::Nominal { disagreement, .. } if *disagreement > 0.0);
        let n_that_disagree = self.by_cluster.iter().filter(|(_, tally)| disagrees(tally)).count();
        if self.is_score || n_that_disagree >= FEW_CLUSTERS {
            return None;
        }
        let observed = (1.0 - estimate) * expected;
        let spread = (observed * (1.0 - observed)).max(0.0) / self.by_cluster.len() as f64;
        Some(spread.sqrt() / expected)
    }

    /// Returns alpha, its expected disagreement, and alpha without each cluster (NaN where that is undefined).
    fn interval(&self) -> Option<(f64, f64, Vec<f64>)> {
        let tallies = || {
            self.by_cluster.iter().map(|(_, tally)| match tally {
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
        for (_, tally) in &self.by_cluster {
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
        Some((estimate, expected, self.by_cluster.iter().map(|(_, tally)| without(tally)).collect()))
    }
}
