//! Estimates from clustered data: weighted means with the variance between clusters, and the delete-one-cluster jackknife.
//!
//! A tally is what a cluster adds to a sum. Every statistic here is a function of summed tallies, so that the tallies of
//! a log's shards add up to those of the whole.

/// A weighted mean over units, with clusters as the independent draws.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClusteredMean {
    /// Σ w y / Σ w.
    pub estimate: f64,
    /// The linearised variance, `m/(m−1) · Σ_c (Σ_{i∈c} wᵢ(yᵢ − ȳ))² / (Σ w)²`. NaN with one cluster.
    pub variance: f64,
    /// Units with positive weight.
    pub n_units: u64,
    /// Clusters with a unit.
    pub n_clusters: u64,
    /// Clusters whose weighted sum is above zero.
    pub n_clusters_with_event: u64,
    /// Clusters with a unit below one.
    pub n_clusters_with_absence: u64,
    /// What the cluster with the largest sum adds to the mean; 0 where every sum is negative.
    pub largest_share: f64,
}

/// One unit's value, its weight and its cluster.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnitValue {
    /// The value.
    pub value: f64,
    /// Its weight; one that is not positive takes the unit out.
    pub weight: f64,
    /// Its cluster, a small integer.
    pub cluster: u32,
}

/// Returns the weighted mean of `units` (a ratio estimator; Cochran 1977, 9A) with its variance between clusters.
///
/// `None` without units of positive weight. Cost is linear where units come in order of clusters.
#[must_use]
pub fn clustered_mean(units: &[UnitValue]) -> Option<ClusteredMean> {
    let mut sums = ClusteredSums::default();
    if units.is_sorted_by_key(|unit| unit.cluster) {
        for unit in units {
            sums.push(*unit);
        }
    } else {
        let mut sorted = units.to_vec();
        sorted.sort_by_key(|unit| unit.cluster);
        for unit in sorted {
            sums.push(unit);
        }
    }
    sums.mean()
}

/// A [`ClusteredMean`] in the making. The units of a cluster must follow one another; nothing else is remembered of them
/// than their sums.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClusteredSums {
    /// The first value: deviations are taken from it, so that equal values differ by exactly 0 and large ones lose no digits.
    origin: f64,
    varies: bool,
    open: Option<ClusterSum>,
    n_units: u64,
    n_clusters: u64,
    n_clusters_with_event: u64,
    n_clusters_with_absence: u64,
    /// Σ w y and Σ w.
    sum: f64,
    weight: f64,
    largest_sum: f64,
    /// Over clusters, of the deviations' weighted sum d and the weight w: Σ d², Σ d w, Σ w².
    deviation_squares: f64,
    products: f64,
    weight_squares: f64,
}

/// The units of one cluster.
#[derive(Clone, Copy, Debug, Default)]
struct ClusterSum {
    cluster: u32,
    sum: f64,
    deviation: f64,
    weight: f64,
    event: bool,
    absence: bool,
}

impl ClusteredSums {
    /// Adds a unit.
    #[inline]
    pub fn push(&mut self, unit: UnitValue) {
        let UnitValue { value, weight, cluster } = unit;
        if weight.is_nan() || weight <= 0.0 {
            return;
        }
        if self.n_units == 0 {
            self.origin = value;
        }
        if self.open.as_ref().is_none_or(|open| open.cluster != cluster) {
            self.close();
        }
        let open = self.open.get_or_insert(ClusterSum { cluster, ..ClusterSum::default() });
        self.n_units += 1;
        self.varies |= !same(value, self.origin);
        open.sum += weight * value;
        open.deviation += weight * (value - self.origin);
        open.weight += weight;
        open.event |= value > 0.0;
        open.absence |= value < 1.0;
    }

    /// Adds `n` clusters of one unit of weight 1 each, all of this value.
    #[inline]
    pub fn push_alike(&mut self, value: f64, n: u64) {
        if n == 0 {
            return;
        }
        self.close();
        if self.n_units == 0 {
            self.origin = value;
        }
        let (count, deviation) = (n as f64, value - self.origin);
        self.varies |= !same(value, self.origin);
        self.n_units += n;
        self.n_clusters += n;
        self.n_clusters_with_event += if value > 0.0 { n } else { 0 };
        self.n_clusters_with_absence += if value < 1.0 { n } else { 0 };
        self.sum += count * value;
        self.weight += count;
        self.largest_sum = self.largest_sum.max(value);
        self.deviation_squares += count * deviation * deviation;
        self.products += count * deviation;
        self.weight_squares += count;
    }

    #[inline]
    fn close(&mut self) {
        let Some(ClusterSum { sum, deviation, weight, event, absence, .. }) = self.open.take() else { return };
        self.n_clusters += 1;
        self.n_clusters_with_event += u64::from(event);
        self.n_clusters_with_absence += u64::from(absence);
        self.sum += sum;
        self.weight += weight;
        self.largest_sum = self.largest_sum.max(sum);
        self.deviation_squares += deviation * deviation;
        self.products += deviation * weight;
        self.weight_squares += weight * weight;
    }

    /// Adds the units of `other`, none of which may be of a cluster that is here.
    pub fn merge(&mut self, mut other: Self) {
        if other.is_empty() {
            return;
        }
        if self.is_empty() {
            *self = other;
            return;
        }
        self.close();
        other.close();
        // The other's deviations, taken from this origin: d + shift · w.
        let shift = other.origin - self.origin;
        self.deviation_squares +=
            other.deviation_squares + 2.0 * shift * other.products + shift * shift * other.weight_squares;
        self.products += other.products + shift * other.weight_squares;
        self.weight_squares += other.weight_squares;
        self.varies |= other.varies || !same(self.origin, other.origin);
        self.n_units += other.n_units;
        self.n_clusters += other.n_clusters;
        self.n_clusters_with_event += other.n_clusters_with_event;
        self.n_clusters_with_absence += other.n_clusters_with_absence;
        self.sum += other.sum;
        self.weight += other.weight;
        self.largest_sum = self.largest_sum.max(other.largest_sum);
    }

    /// Returns whether no unit of positive weight was pushed.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.n_units == 0
    }

    /// Returns the mean of the units pushed, or `None` without any.
    #[must_use]
    pub fn mean(mut self) -> Option<ClusteredMean> {
        if self.is_empty() {
            return None;
        }
        self.close();
        let estimate = self.sum / self.weight;
        let shift = estimate - self.origin;
        // Σ (d − shift · w)². The origin is a value of the data, so that little of it cancels: a relative error of at most
        // about 1e-16 times the number of clusters.
        let squares = self.deviation_squares - 2.0 * shift * self.products + shift * shift * self.weight_squares;
        let m = self.n_clusters as f64;
        let variance = match self.n_clusters {
            1 => f64::NAN,
            // A constant has no variance; what rounding leaves of it is not information.
            _ if !self.varies => 0.0,
            _ => m / (m - 1.0) * squares.max(0.0) / (self.weight * self.weight),
        };
        Some(ClusteredMean {
            estimate,
            variance,
            n_units: self.n_units,
            n_clusters: self.n_clusters,
            n_clusters_with_event: self.n_clusters_with_event,
            n_clusters_with_absence: self.n_clusters_with_absence,
            largest_share: self.largest_sum / self.weight,
        })
    }
}

fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-15 * a.abs().max(b.abs())
}

/// What each cluster adds to the sums a statistic is made of: `D` sums a cluster.
#[derive(Clone, Debug)]
pub struct Tallies<const D: usize> {
    by_cluster: Vec<[f64; D]>,
    seen: Vec<bool>,
}

impl<const D: usize> Tallies<D> {
    /// Returns empty tallies for clusters 0..`n_clusters`.
    #[must_use]
    pub fn new(n_clusters: usize) -> Self {
        Self { by_cluster: vec![[0.0; D]; n_clusters], seen: vec![false; n_clusters] }
    }

    /// Adds to one cluster's tally.
    ///
    /// # Panics
    /// Panics when the cluster is not below the number given to [`Tallies::new`].
    pub fn add(&mut self, cluster: u32, tally: [f64; D]) {
        let sums = &mut self.by_cluster[cluster as usize];
        for (sum, part) in sums.iter_mut().zip(tally) {
            *sum += part;
        }
        self.seen[cluster as usize] = true;
    }

    /// Adds another shard's tallies, cluster by cluster.
    ///
    /// # Panics
    /// Panics when the shards know different numbers of clusters.
    pub fn merge(&mut self, other: &Self) {
        assert_eq!(self.by_cluster.len(), other.by_cluster.len(), "shards share one numbering of clusters");
        for (cluster, (tally, seen)) in other.by_cluster.iter().zip(&other.seen).enumerate() {
            if *seen {
                self.add(u32::try_from(cluster).expect("clusters are numbered by u32"), *tally);
            }
        }
    }

    /// Returns how many clusters have a tally.
    #[must_use]
    pub fn n_clusters(&self) -> u64 {
        self.seen.iter().filter(|seen| **seen).count() as u64
    }

    /// Returns the sums over all clusters.
    #[must_use]
    pub fn total(&self) -> [f64; D] {
        let mut total = [0.0; D];
        for tally in &self.by_cluster {
            for (sum, part) in total.iter_mut().zip(tally) {
                *sum += part;
            }
        }
        total
    }

    /// Returns `statistic` of the sums and its standard error by the delete-one-cluster jackknife (Efron 1982, 3.6):
    /// √((m−1)/m · Σ (θ₋c − θ̄)²).
    ///
    /// `None` when the statistic is undefined for all data. The error is NaN with fewer than two clusters, or when some
    /// cluster's removal leaves the statistic undefined.
    pub fn jackknife(&self, statistic: impl Fn(&[f64; D]) -> Option<f64>) -> Option<(f64, f64)> {
        self.jackknife_and_reach(statistic).map(|(estimate, standard_error, _)| (estimate, standard_error))
    }

    /// Returns what [`Tallies::jackknife`] does, and what the cluster that lowers the statistic most takes off it, and the one that
    /// raises it most adds: (m−1)/m · (max θ₋c − θ̄) and (m−1)/m · (θ̄ − min θ₋c). Both are NaN where the error is.
    pub fn jackknife_and_reach(&self, statistic: impl Fn(&[f64; D]) -> Option<f64>) -> Option<(f64, f64, [f64; 2])> {
        let total = self.total();
        let estimate = statistic(&total)?;
        let m = self.n_clusters() as f64;
        if m < 2.0 {
            return Some((estimate, f64::NAN, [f64::NAN; 2]));
        }
        // Sums around the estimate itself, so that large values lose no digits.
        let (mut sum, mut squares, mut least, mut most) = (0.0, 0.0, 0.0_f64, 0.0_f64);
        for (tally, _) in self.by_cluster.iter().zip(&self.seen).filter(|(_, seen)| **seen) {
            let mut left = total;
            for (sum, part) in left.iter_mut().zip(tally) {
                *sum -= part;
            }
            let Some(value) = statistic(&left) else { return Some((estimate, f64::NAN, [f64::NAN; 2])) };
            least = least.min(value - estimate);
            most = most.max(value - estimate);
            sum += value - estimate;
            squares += (value - estimate) * (value - estimate);
        }
        let variance = (m - 1.0) / m * (squares - sum * sum / m);
        let reach = [most - sum / m, sum / m - least].map(|reach| (m - 1.0) / m * reach.max(0.0));
        Some((estimate, variance.max(0.0).sqrt(), reach))
    }
}

/// Returns the standard error from influence values: `√(m/(m−1) · Σ_c (Σ_{i∈c} influence)²)`, the infinitesimal jackknife.
///
/// `influence` sums to about zero and is already divided by the total weight. NaN with fewer than two clusters.
#[must_use]
pub fn influence_standard_error(influence: impl Iterator<Item = (u32, f64)>, n_clusters: usize) -> (f64, u64) {
    let mut sums = vec![f64::NAN; n_clusters];
    for (cluster, value) in influence {
        let sum = &mut sums[cluster as usize];
        *sum = if sum.is_nan() { value } else { *sum + value };
    }
    let (mut m, mut squares) = (0_u64, 0.0);
    for sum in sums.into_iter().filter(|sum| !sum.is_nan()) {
        m += 1;
        squares += sum * sum;
    }
    let n = m as f64;
    ((n / (n - 1.0) * squares).sqrt(), m)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definition, unit by unit.
    fn by_definition(units: &[UnitValue]) -> (f64, f64) {
        let weight: f64 = units.iter().map(|unit| unit.weight).sum();
        let mean = units.iter().map(|unit| unit.weight * unit.value).sum::<f64>() / weight;
        let mut residuals = std::collections::BTreeMap::new();
        for unit in units {
            *residuals.entry(unit.cluster).or_insert(0.0) += unit.weight * (unit.value - mean);
        }
        let m = residuals.len() as f64;
        let squares: f64 = residuals.values().map(|residual| residual * residual).sum();
        (mean, m / (m - 1.0) * squares / (weight * weight))
    }

    proptest! {
        #[test]
        fn the_variance_is_that_of_the_definition(
            units in prop::collection::vec((0_u32..9, -5.0..5.0_f64, 0.1..3.0_f64), 2..40), far in prop::sample::select(vec![0.0, 1e6]),
        ) {
            let units: Vec<UnitValue> = units
                .into_iter()
                .map(|(cluster, value, weight)| UnitValue { value: value + far, weight, cluster })
                .collect();
            let (mean, variance) = by_definition(&units);
            let found = clustered_mean(&units).unwrap();
            prop_assert!((found.estimate - mean).abs() <= 1e-13 * (1.0 + mean.abs()));
            if found.n_clusters > 1 {
                // Far from zero the values themselves are known to 1e-10 only.
                prop_assert!((found.variance - variance).abs() <= (1e-12 + 1e-15 * far) * (1.0 + variance));
            } else {
                prop_assert!(found.variance.is_nan());
            }
        }
    }

    proptest! {
        #[test]
        fn parts_merge_into_the_whole(
            units in prop::collection::vec((0_u32..9, 0.0..1.0_f64, 0.1..3.0_f64), 1..40), first in 0_u32..9,
        ) {
            let units: Vec<UnitValue> =
                units.into_iter().map(|(cluster, value, weight)| UnitValue { value, weight, cluster }).collect();
            let sums = |keep: &dyn Fn(u32) -> bool| {
                let mut kept: Vec<UnitValue> = units.iter().copied().filter(|unit| keep(unit.cluster)).collect();
                kept.sort_by_key(|unit| unit.cluster);
                let mut sums = ClusteredSums::default();
                for unit in kept {
                    sums.push(unit);
                }
                sums
            };
            let mut merged = sums(&|cluster| cluster < first);
            merged.merge(sums(&|cluster| cluster >= first));
            let (merged, whole) = (merged.mean().unwrap(), clustered_mean(&units).unwrap());
            prop_assert!((merged.estimate - whole.estimate).abs() < 1e-13);
            prop_assert!((merged.variance - whole.variance).abs() < 1e-13 || whole.variance.is_nan());
            prop_assert_eq!(merged.n_clusters, whole.n_clusters);
            prop_assert!((merged.largest_share - whole.largest_share).abs() < 1e-13);
        }
    }

    #[test]
    fn clusters_alike_are_clusters_one_by_one() {
        let values = [0.25, 0.25, 1.0, 0.0, 0.25, 1.0];
        let (mut together, mut one_by_one) = (ClusteredSums::default(), ClusteredSums::default());
        for (cluster, value) in (0..).zip(values) {
            one_by_one.push(UnitValue { value, weight: 1.0, cluster });
        }
        for (value, n) in [(0.25, 3), (1.0, 2), (0.0, 1), (7.0, 0)] {
            together.push_alike(value, n);
        }
        assert_eq!(together.mean(), one_by_one.mean());
    }

    #[test]
    fn a_constant_does_not_vary_and_weightless_units_do_not_count() {
        let unit = |cluster, weight| UnitValue { value: 0.1, weight, cluster };
        let found = clustered_mean(&[unit(0, 1.0), unit(1, 0.7), unit(2, 0.0)]).unwrap();
        assert_eq!((found.variance, found.n_units, found.n_clusters), (0.0, 2, 2));
        assert_eq!(clustered_mean(&[unit(0, 0.0), unit(1, -1.0), unit(2, f64::NAN)]), None);
    }
}
