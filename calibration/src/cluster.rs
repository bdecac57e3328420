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
}

/// One unit's value, its weight and its cluster.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnitValue {
    /// The value.
    pub value: f64,
    /// Its weight, positive.
    pub weight: f64,
    /// Its cluster, a small integer.
    pub cluster: u32,
}

/// Returns the weighted mean of `units` (a ratio estimator; Cochran 1977, 9A) with its variance between clusters.
///
/// `None` without units of positive weight. Cost is linear in units plus the largest cluster number.
#[must_use]
pub fn clustered_mean(units: &[UnitValue]) -> Option<ClusteredMean> {
    let total: f64 = units.iter().map(|unit| unit.weight).sum();
    if total <= 0.0 {
        return None;
    }
    let estimate = units.iter().map(|unit| unit.weight * unit.value).sum::<f64>() / total;
    let mut mean = ClusteredMean {
        estimate,
        variance: 0.0,
        n_units: 0,
        n_clusters: 0,
        n_clusters_with_event: 0,
        n_clusters_with_absence: 0,
    };
    let mut squares = 0.0;
    let mut close = |sum: ClusterSum, mean: &mut ClusteredMean| {
        mean.n_clusters += 1;
        mean.n_clusters_with_event += u64::from(sum.event);
        mean.n_clusters_with_absence += u64::from(sum.absence);
        squares += sum.residual * sum.residual;
    };
    let weighted = || units.iter().filter(|unit| unit.weight > 0.0);
    if units.is_sorted_by_key(|unit| unit.cluster) {
        // The usual case, without a table of clusters: each is a run.
        let mut open: Option<(u32, ClusterSum)> = None;
        for unit in weighted() {
            mean.n_units += 1;
            match &mut open {
                Some((cluster, sum)) if *cluster == unit.cluster => sum.add(unit, estimate),
                _ => {
                    let mut sum = ClusterSum::default();
                    sum.add(unit, estimate);
                    if let Some((_, done)) = open.replace((unit.cluster, sum)) {
                        close(done, &mut mean);
                    }
                }
            }
        }
        if let Some((_, done)) = open {
            close(done, &mut mean);
        }
    } else {
        let largest = units.iter().map(|unit| unit.cluster).max().unwrap_or(0);
        let mut sums = vec![ClusterSum::default(); largest as usize + 1];
        for unit in weighted() {
            mean.n_units += 1;
            sums[unit.cluster as usize].add(unit, estimate);
        }
        for sum in sums.into_iter().filter(|sum| sum.seen) {
            close(sum, &mut mean);
        }
    }
    let m = mean.n_clusters as f64;
    mean.variance = m / (m - 1.0) * squares / (total * total);
    // A constant has no variance; what rounding leaves of it is not information.
    if mean.n_clusters > 1 && units.iter().all(|unit| unit.weight <= 0.0 || same(unit.value, units[0].value)) {
        mean.variance = 0.0;
    }
    Some(mean)
}

fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-15 * a.abs().max(b.abs())
}

#[derive(Clone, Copy, Default)]
struct ClusterSum {
    residual: f64,
    event: bool,
    absence: bool,
    seen: bool,
}

impl ClusterSum {
    fn add(&mut self, unit: &UnitValue, estimate: f64) {
        self.residual += unit.weight * (unit.value - estimate);
        self.event |= unit.value > 0.0;
        self.absence |= unit.value < 1.0;
        self.seen = true;
    }
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
        let total = self.total();
        let estimate = statistic(&total)?;
        let m = self.n_clusters() as f64;
        if m < 2.0 {
            return Some((estimate, f64::NAN));
        }
        // Sums around the estimate itself, so that large values lose no digits.
        let (mut sum, mut squares) = (0.0, 0.0);
        for (tally, _) in self.by_cluster.iter().zip(&self.seen).filter(|(_, seen)| **seen) {
            let mut left = total;
            for (sum, part) in left.iter_mut().zip(tally) {
                *sum -= part;
            }
            let Some(value) = statistic(&left) else { return Some((estimate, f64::NAN)) };
            sum += value - estimate;
            squares += (value - estimate) * (value - estimate);
        }
        let variance = (m - 1.0) / m * (squares - sum * sum / m);
        Some((estimate, variance.max(0.0).sqrt()))
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
