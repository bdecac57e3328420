//! The cluster bootstrap, fast and exact.
//!
//! A statistic that depends on clusters only through the sum of their tallies does not care *which* of several clusters
//! with equal tallies was drawn. Clusters with equal tallies are therefore one *pattern*, and a resample draws how often
//! each pattern occurs: a multinomial, drawn as a sequence of binomials. The distribution is that of drawing clusters one by
//! one, at a cost that depends on the number of patterns only. Rare patterns are drawn one by one after all, which is cheaper.
//!
//! Each resample has its own `ChaCha` stream, so results do not depend on the number of threads. Strata (say, right and wrong
//! items) are resampled apart and their sums added.
//!
//! Percentile intervals are too short for rare rates (.88–.93 coverage at 95 %); use an exact interval for those.
//!
//! Source: Efron 1979, 1987. Tests agree in distribution with scipy 1.17.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::distribution::{binomial_point, normal_cdf, normal_quantile};

/// A statistic of summed tallies; `None` where undefined. A result that is not finite counts as undefined too.
pub type Statistic<'a> = &'a (dyn Fn(&[f64]) -> Option<f64> + Sync);

/// Patterns of fewer clusters than this are drawn one cluster at a time: a binomial costs about as much as this many draws.
const RARE_BELOW: u64 = 16;

/// How to resample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BootstrapConfig {
    /// Resamples; 2,000 give interval ends to about 1 % of the interval's width.
    pub n_resamples: u32,
    /// The seed of all streams.
    pub seed: u64,
}

/// The clusters of one stratum, those with equal tallies merged.
#[derive(Clone, Debug, PartialEq)]
pub struct Patterns {
    n_dims: usize,
    /// Where each pattern's entries begin, and the end.
    starts: Vec<usize>,
    /// What a pattern adds to which sum; zeros are left out, since most of a table of pairs is empty.
    entries: Vec<(u32, f64)>,
    counts: Vec<u64>,
    /// Patterns drawn by binomials.
    common: Vec<usize>,
    /// The pattern of each cluster that is drawn one by one.
    rare: Vec<usize>,
}

impl Patterns {
    /// Returns the patterns of clusters' tallies, clusters × dims, row-major.
    ///
    /// Undefined (`None`): no dims, a ragged table, or a tally that is not finite. No clusters are allowed.
    ///
    /// Cost: n log n.
    #[must_use]
    pub fn of_clusters(tallies: &[f64], n_dims: usize) -> Option<Self> {
        if n_dims == 0 || !tallies.len().is_multiple_of(n_dims) {
            return None;
        }
        Self::of_counts(tallies, &vec![1; tallies.len() / n_dims], n_dims)
    }

    /// Returns the patterns of tallies of which each occurs in `counts` clusters.
    ///
    /// Undefined (`None`) as in [`Self::of_clusters`], and where the lengths do not fit.
    #[must_use]
    pub fn of_counts(tallies: &[f64], counts: &[u64], n_dims: usize) -> Option<Self> {
        if n_dims == 0 || Some(tallies.len()) != counts.len().checked_mul(n_dims) {
            return None;
        }
        if !tallies.iter().all(|tally| tally.is_finite()) {
            return None;
        }
        let row = |i: usize| &tallies[i * n_dims..(i + 1) * n_dims];
        let compare =
            |i: usize, j: usize| row(i).iter().zip(row(j)).map(|(a, b)| a.total_cmp(b)).find(|order| order.is_ne());
        let mut order: Vec<usize> = (0..counts.len()).filter(|&i| counts[i] > 0).collect();
        order.sort_unstable_by(|&i, &j| compare(i, j).unwrap_or(std::cmp::Ordering::Equal));
        let mut merged = Self::empty(n_dims);
        let mut previous = None;
        for i in order {
            match merged.counts.last_mut() {
                Some(count) if previous.is_some_and(|previous| compare(previous, i).is_none()) => *count += counts[i],
                _ => merged.push((0_u32..).zip(row(i).iter().copied()).filter(|(_, tally)| *tally != 0.0), counts[i]),
            }
            previous = Some(i);
        }
        merged.split();
        Some(merged)
    }

    /// Returns patterns of which each is given by what it adds to which of `n_dims` sums, and how many clusters have it (some).
    /// All sums are finite, no two patterns are alike, and their order does not depend on that of the clusters.
    pub(crate) fn of_entries<'a>(patterns: impl Iterator<Item = (&'a [(u32, f64)], u64)>, n_dims: usize) -> Self {
        let mut all = Self::empty(n_dims);
        for (entries, count) in patterns {
            all.push(entries.iter().copied(), count);
        }
        all.split();
        all
    }

    fn empty(n_dims: usize) -> Self {
        Self { n_dims, starts: vec![0], entries: Vec::new(), counts: Vec::new(), common: Vec::new(), rare: Vec::new() }
    }

    fn push(&mut self, entries: impl Iterator<Item = (u32, f64)>, count: u64) {
        self.entries.extend(entries);
        self.starts.push(self.entries.len());
        self.counts.push(count);
    }

    /// Splits the patterns into common and rare ones.
    fn split(&mut self) {
        for (pattern_idx, &count) in self.counts.iter().enumerate() {
            if count >= RARE_BELOW {
                self.common.push(pattern_idx);
            } else {
                self.rare.extend((0..count).map(|_| pattern_idx));
            }
        }
    }

    /// Returns how many distinct tallies there are.
    #[must_use]
    pub fn n_patterns(&self) -> usize {
        self.counts.len()
    }

    /// Returns how many clusters there are.
    #[must_use]
    pub fn n_clusters(&self) -> u64 {
        self.counts.iter().sum()
    }

    fn row(&self, pattern_idx: usize) -> &[(u32, f64)] {
        &self.entries[self.starts[pattern_idx]..self.starts[pattern_idx + 1]]
    }

    fn add(&self, pattern_idx: usize, times: f64, sums: &mut [f64]) {
        for &(dim, tally) in self.row(pattern_idx) {
            sums[dim as usize] += times * tally;
        }
    }

    fn add_all(&self, sums: &mut [f64]) {
        for (pattern_idx, &count) in self.counts.iter().enumerate() {
            self.add(pattern_idx, count as f64, sums);
        }
    }

    /// Adds the tallies of as many clusters, drawn with replacement, as there are.
    fn add_resample(&self, rng: &mut ChaCha8Rng, sums: &mut [f64]) {
        let mut draws_left = self.n_clusters();
        let mut clusters_left = draws_left;
        for &pattern_idx in &self.common {
            let count = self.counts[pattern_idx];
            let times = if count == clusters_left {
                draws_left
            } else {
                draw_binomial(draws_left, count as f64 / clusters_left as f64, rng)
            };
            self.add(pattern_idx, times as f64, sums);
            draws_left -= times;
            clusters_left -= count;
        }
        if self.rare.is_empty() {
            return;
        }
        for _ in 0..draws_left {
            let cluster_idx = rng.random_range(0..self.rare.len());
            self.add(self.rare[cluster_idx], 1.0, sums);
        }
    }
}

/// Draws from a binomial distribution, exactly.
fn draw_binomial(n: u64, p: f64, rng: &mut ChaCha8Rng) -> u64 {
    if n == 0 || p <= 0.0 {
        return 0;
    }
    if p >= 1.0 {
        return n;
    }
    if p > 0.5 {
        return n - draw_binomial(n, 1.0 - p, rng);
    }
    if n as f64 * p < 10.0 { draw_binomial_by_inversion(n, p, rng) } else { draw_binomial_by_rejection(n, p, rng) }
}

/// Inversion by search from 0, for small means. Kachitvichyanukul & Schmeiser 1988, algorithm BINV.
fn draw_binomial_by_inversion(n: u64, p: f64, rng: &mut ChaCha8Rng) -> u64 {
    let odds = p / (1.0 - p);
    let scale = (n as f64 + 1.0) * odds;
    let mut point = (n as f64 * (-p).ln_1p()).exp();
    let mut left: f64 = rng.random();
    let mut k = 0;
    while left > point && k < n {
        left -= point;
        k += 1;
        point *= scale / k as f64 - odds;
    }
    k
}

/// Transformed rejection, for means of 10 and more and p ≤ ½. Hörmann 1993, algorithm BTRS.
fn draw_binomial_by_rejection(n: u64, p: f64, rng: &mut ChaCha8Rng) -> u64 {
    let trials = n as f64;
    let sd = (trials * p * (1.0 - p)).sqrt();
    let b = 1.15 + 2.53 * sd;
    let a = -0.0873 + 0.0248 * b + 0.01 * p;
    let centre = trials * p + 0.5;
    let alpha = (2.83 + 5.1 / b) * sd;
    let accept_at_once = 0.92 - 4.2 / b;
    loop {
        let u = rng.random::<f64>() - 0.5;
        let v: f64 = rng.random();
        let edge = 0.5 - u.abs();
        let candidate = ((2.0 * a / edge + b) * u + centre).floor();
        if !(candidate >= 0.0 && candidate <= trials) {
            continue;
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number in 0..=n")]
        let k = candidate as u64;
        if edge >= 0.07 && v <= accept_at_once {
            return k;
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number in 0..=n")]
        let mode = ((trials + 1.0) * p).floor() as u64;
        let scaled = v * alpha / (a / (edge * edge) + b);
        if scaled <= binomial_point(k, n, p) / binomial_point(mode, n, p) {
            return k;
        }
    }
}

/// A statistic's bootstrap distribution.
#[derive(Clone, Debug, PartialEq)]
pub struct Bootstrap {
    /// The statistic of the data themselves.
    pub estimate: Option<f64>,
    /// The replicates that are defined, ascending.
    pub replicates: Vec<f64>,
    /// Replicates that are not defined.
    pub n_undefined: u32,
    /// Acceleration, for [`Self::bca`]; `None` where leaving out one cluster leaves the statistic undefined.
    acceleration: Option<f64>,
}

impl Bootstrap {
    /// Returns the percentile interval at `level` (0..1, two-sided) of the defined replicates.
    ///
    /// Undefined (`None`) without replicates, or for a level outside 0..1.
    #[must_use]
    pub fn percentile(&self, level: f64) -> Option<(f64, f64)> {
        let is_usable = level > 0.0 && level < 1.0 && !self.replicates.is_empty();
        is_usable.then(|| (self.quantile(0.5 * (1.0 - level)), self.quantile(0.5 * (1.0 + level))))
    }

    /// Returns the bias-corrected and accelerated interval at `level` (0..1, two-sided). Efron 1987.
    ///
    /// Undefined (`None`): as for [`Self::percentile`], without an estimate, with all replicates on one side of it, or with an
    /// acceleration that is undefined.
    #[must_use]
    pub fn bca(&self, level: f64) -> Option<(f64, f64)> {
        let (estimate, acceleration) = (self.estimate?, self.acceleration?);
        if self.replicates.is_empty() || !(level > 0.0 && level < 1.0) {
            return None;
        }
        let below = self.replicates.partition_point(|&replicate| replicate < estimate);
        let up_to = self.replicates.partition_point(|&replicate| replicate <= estimate);
        let bias = normal_quantile((below + up_to) as f64 / (2 * self.replicates.len()) as f64);
        if !bias.is_finite() {
            return None;
        }
        let adjusted = |p: f64| {
            let z = bias + normal_quantile(p);
            normal_cdf(bias + z / (1.0 - acceleration * z))
        };
        Some((self.quantile(adjusted(0.5 * (1.0 - level))), self.quantile(adjusted(0.5 * (1.0 + level)))))
    }

    /// Returns the replicates' standard deviation; `None` for fewer than two.
    #[must_use]
    pub fn standard_error(&self) -> Option<f64> {
        let n = self.replicates.len();
        if n < 2 {
            return None;
        }
        let mean = self.replicates.iter().sum::<f64>() / n as f64;
        let squares: f64 = self.replicates.iter().map(|replicate| (replicate - mean).powi(2)).sum();
        Some((squares / (n - 1) as f64).sqrt())
    }

    /// Returns a quantile of the replicates, between order statistics in proportion (Hyndman & Fan's type 7).
    fn quantile(&self, p: f64) -> f64 {
        let last = self.replicates.len() - 1;
        let position = p.clamp(0.0, 1.0) * last as f64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a position in 0..=last")]
        let lower = position.floor() as usize;
        let upper = (lower + 1).min(last);
        let (low, high) = (self.replicates[lower], self.replicates[upper]);
        low + (position - lower as f64) * (high - low)
    }
}

/// Returns the bootstrap distributions of several statistics over the same resamples.
///
/// Each stratum is resampled within itself. Undefined (`None`): no strata, or strata of different dims.
///
/// Cost: resamples × (common patterns + clusters in rare ones), over all threads.
#[must_use]
pub fn bootstrap(strata: &[Patterns], statistics: &[Statistic<'_>], config: BootstrapConfig) -> Option<Vec<Bootstrap>> {
    let n_dims = strata.first()?.n_dims;
    if strata.iter().any(|patterns| patterns.n_dims != n_dims) {
        return None;
    }
    let compute = |statistic: Statistic<'_>, sums: &[f64]| statistic(sums).filter(|value| value.is_finite());
    let mut totals = vec![0.0; n_dims];
    for patterns in strata {
        patterns.add_all(&mut totals);
    }
    let base = ChaCha8Rng::seed_from_u64(config.seed);
    let replicates: Vec<Vec<Option<f64>>> = (0..config.n_resamples)
        .into_par_iter()
        .map(|resample_idx| {
            let mut rng = base.clone();
            rng.set_stream(u64::from(resample_idx));
            let mut sums = vec![0.0; n_dims];
            for patterns in strata {
                patterns.add_resample(&mut rng, &mut sums);
            }
            statistics.iter().map(|statistic| compute(statistic, &sums)).collect()
        })
        .collect();
    let of_statistic = |statistic_idx: usize| {
        let statistic = statistics[statistic_idx];
        let mut defined: Vec<f64> = replicates.iter().filter_map(|replicate| replicate[statistic_idx]).collect();
        defined.sort_unstable_by(f64::total_cmp);
        let n_undefined = config.n_resamples - u32::try_from(defined.len()).unwrap_or(config.n_resamples);
        let without = |sums: &[f64]| compute(statistic, sums);
        Bootstrap {
            estimate: compute(statistic, &totals),
            replicates: defined,
            n_undefined,
            acceleration: acceleration(strata, &totals, &without),
        }
    };
    Some((0..statistics.len()).map(of_statistic).collect())
}

/// Returns the acceleration from the statistic without each cluster in turn, each stratum about its own mean. Efron 1987,
/// equation 6.6; Davison & Hinkley 1997, equation 5.27 for strata.
fn acceleration(strata: &[Patterns], totals: &[f64], statistic: Statistic<'_>) -> Option<f64> {
    let (mut squares, mut cubes) = (0.0, 0.0);
    let mut sums = totals.to_vec();
    for patterns in strata {
        let n = patterns.n_clusters() as f64;
        if n < 2.0 {
            // A lone cluster is in every resample.
            continue;
        }
        let mut left_out = Vec::with_capacity(patterns.n_patterns());
        for pattern_idx in 0..patterns.n_patterns() {
            for &(dim, tally) in patterns.row(pattern_idx) {
                sums[dim as usize] = totals[dim as usize] - tally;
            }
            left_out.push(statistic(&sums)?);
            for &(dim, _) in patterns.row(pattern_idx) {
                sums[dim as usize] = totals[dim as usize];
            }
        }
        let weighted = |f: &dyn Fn(f64) -> f64| -> f64 {
            left_out.iter().zip(&patterns.counts).map(|(value, &count)| count as f64 * f(*value)).sum()
        };
        let mean = weighted(&|value| value) / n;
        let scale = (n - 1.0) / n;
        squares += weighted(&|value| (scale * (mean - value)).powi(2));
        cubes += weighted(&|value| (scale * (mean - value)).powi(3));
    }
    Some(if squares > 0.0 { cubes / (6.0 * squares.powf(1.5)) } else { 0.0 })
}
