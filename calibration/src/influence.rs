//! An estimate with each observation's influence on it, from which clustered standard errors follow.
//!
//! The influence of observation i is its weight times the derivative of the estimate by that weight (the infinitesimal
//! jackknife). Influences sum to 0, add over the observations of a cluster, and for one estimate less another (paired
//! comparison) they subtract.
//!
//! Source: Jaeckel 1972, "The infinitesimal jackknife"; Efron 1982, section 6; Cameron & Miller 2015 for the m/(m − 1).

use crate::distribution::t_quantile;

/// An estimate and what each observation contributes to its variance.
#[derive(Clone, Debug, PartialEq)]
pub struct WithInfluence {
    /// The estimate.
    pub estimate: f64,
    /// One value an observation, in the order given. Proportional to the observation's weight: observations that are
    /// equal may be merged into one with their total weight, and their influence be shared out again.
    pub influence: Vec<f64>,
}

impl WithInfluence {
    /// Returns the standard error and the number of clusters m: √(m/(m − 1) · Σ over clusters of (Σ influence)²).
    ///
    /// `clusters` gives each observation's cluster; `None` makes each observation its own.
    /// Undefined (`None`): fewer than two clusters, or a number of ids that differs from that of the observations.
    #[must_use]
    pub fn standard_error(&self, clusters: Option<&[u32]>) -> Option<(f64, usize)> {
        standard_error_of_sums(&sums_by_cluster(&self.influence, clusters)?)
    }
}

/// Returns the same of clusters' sums of influence.
pub(crate) fn standard_error_of_sums(sums: &[f64]) -> Option<(f64, usize)> {
    let m = sums.len();
    if m < 2 {
        return None;
    }
    let squares: f64 = sums.iter().map(|sum| sum * sum).sum();
    Some(((squares * m as f64 / (m - 1) as f64).sqrt(), m))
}

/// Returns the interval of a correlation at `level` (0..1, two-sided) on the scale of Fisher's z, with Student's t on m − 1
/// degrees of freedom.
///
/// Undefined (`None`): an estimate of ±1 or outside, for which the scale has no spread; fewer than two clusters;
/// a level outside 0..1.
#[must_use]
pub fn fisher_interval(estimate: f64, standard_error: f64, n_clusters: usize, level: f64) -> Option<(f64, f64)> {
    let is_usable = estimate.abs() < 1.0 && standard_error >= 0.0 && n_clusters >= 2 && level > 0.0 && level < 1.0;
    if !is_usable {
        return None;
    }
    let t = t_quantile(0.5 * (1.0 + level), (n_clusters - 1) as f64);
    let half_width = t * standard_error / (1.0 - estimate * estimate);
    let z = estimate.atanh();
    Some(((z - half_width).tanh(), (z + half_width).tanh()))
}

/// Returns each cluster's sum of `values`, in ascending order of ids; `None` where the lengths differ.
pub(crate) fn sums_by_cluster(values: &[f64], clusters: Option<&[u32]>) -> Option<Vec<f64>> {
    let Some(clusters) = clusters else { return Some(values.to_vec()) };
    if clusters.len() != values.len() {
        return None;
    }
    let (positions, n_clusters) = cluster_positions(clusters);
    let mut sums = vec![0.0; n_clusters];
    for (&position, value) in positions.iter().zip(values) {
        sums[position] += value;
    }
    Some(sums)
}

/// Returns each observation's cluster as a position among the ids present, and how many there are.
pub(crate) fn cluster_positions(clusters: &[u32]) -> (Vec<usize>, usize) {
    let largest = clusters.iter().copied().max().map_or(0, |id| id as usize);
    if largest < 4 * clusters.len() + 64 {
        // Ids that are nearly dense need no sorting.
        let mut position_of = vec![usize::MAX; largest + 1];
        for &id in clusters {
            position_of[id as usize] = 0;
        }
        let mut n_clusters = 0;
        for position in position_of.iter_mut().filter(|position| **position == 0) {
            *position = n_clusters;
            n_clusters += 1;
        }
        return (clusters.iter().map(|&id| position_of[id as usize]).collect(), n_clusters);
    }
    let mut ids = clusters.to_vec();
    ids.sort_unstable();
    ids.dedup();
    let positions = clusters.iter().map(|id| ids.partition_point(|other| other < id)).collect();
    (positions, ids.len())
}
