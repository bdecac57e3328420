//! Means over items crossed with sets: each item answered under several choices of something (sets of anchors in the prompt), where
//! the items and the sets at hand both stand for more of their kind.
//!
//! An interval over items alone speaks of these sets only. Here the mean's variance has two parts, that of clusters of items and that
//! between sets, each with degrees of freedom of its own. What is not done: sets that differ in kind (those are arms), and more than two
//! ways of grouping.

use crate::distribution::f_upper_tail;

/// The value of one unit under one set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CrossedValue {
    /// The value.
    pub value: f64,
    /// What it counts; not negative.
    pub weight: f64,
    /// The cluster of its unit.
    pub cluster: u32,
    /// The set, by any number.
    pub set: u32,
}

/// A mean over clusters crossed with sets, and the variance components of it.
///
/// With d the influence of a value on the mean (weight share × distance from the mean), summed over clusters, over sets, or left in each cell
/// of both and centred twice: the three mean squares of a two-way analysis of variance, over the number of values, where all is complete.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CrossedMean {
    /// The weighted mean.
    pub estimate: f64,
    /// Variance of the mean over clusters: m/(m−1) Σ (influence of a cluster)².
    pub of_clusters: f64,
    /// The same over sets.
    pub of_sets: f64,
    /// The part of both that is neither's: of cells, centred by cluster and set, times mS/((m−1)(S−1)).
    pub residual: f64,
    /// Clusters, m.
    pub n_clusters: u64,
    /// Sets, S.
    pub n_sets: u64,
}

/// With so few sets, what chance within a set explains cannot be told from what sets differ by, and nothing is taken off.
const TOO_FEW_TO_PART: u64 = 2;

impl CrossedMean {
    /// Returns what sets add to the variance of the mean: `of_sets − residual`, at least 0; with two sets all of `of_sets`, since the
    /// difference would be 0 in half of all cases however much sets differ.
    #[must_use]
    pub fn between_sets(&self) -> f64 {
        if self.n_sets <= TOO_FEW_TO_PART { self.of_sets } else { (self.of_sets - self.residual).max(0.0) }
    }

    /// Returns the estimated standard deviation of the means of sets, were there no end of items: by how much another set moves the
    /// mean. 0 where the sets differ by no more than chance explains. `None` with fewer than two sets.
    #[must_use]
    pub fn set_deviation(&self) -> Option<f64> {
        (self.n_sets > 1).then(|| ((self.of_sets - self.residual).max(0.0) * self.n_sets as f64).sqrt())
    }

    /// Returns the p value of "the sets do not differ": F = `of_sets`/`residual` with S − 1 and (m − 1)(S − 1) degrees of freedom, the
    /// test of a two-way analysis of variance without repeats. `None` where undefined.
    #[must_use]
    pub fn p_sets(&self) -> Option<f64> {
        let (m, s) = (self.n_clusters as f64, self.n_sets as f64);
        (m > 1.0 && s > 1.0 && self.residual > 0.0)
            .then(|| f_upper_tail(self.of_sets / self.residual, s - 1.0, (m - 1.0) * (s - 1.0)))
    }
}

/// Returns the mean of `values` with its variance over clusters and over sets. Cells of both may be missing.
///
/// `None` without values that count. Values of one cluster must follow one another. Agrees with the mean squares of statsmodels
/// `anova_lm` (0.15) where every cluster has one value a set.
///
/// Source: analysis of variance of a two-way layout, both factors random; as the sandwich over two ways of clustering in Cameron, Gelbach
/// and Miller 2011, with each part corrected for its number of groups.
#[must_use]
pub fn crossed_mean(values: &[CrossedValue]) -> Option<CrossedMean> {
    let total: f64 = values.iter().map(|one| one.weight).sum();
    if !(total > 0.0 && total.is_finite()) {
        return None;
    }
    let estimate = values.iter().map(|one| one.weight / total * one.value).sum::<f64>();
    if !estimate.is_finite() {
        return None;
    }
    let mut sets: Vec<u32> = values.iter().map(|one| one.set).collect();
    sets.sort_unstable();
    sets.dedup();
    let n_sets = sets.len();
    let mut of_set = vec![0.0; n_sets];
    let influence = |one: &CrossedValue| one.weight / total * (one.value - estimate);
    let place = |set: u32| sets.partition_point(|known| *known < set);
    for one in values {
        of_set[place(one.set)] += influence(one);
    }
    let m = values.chunk_by(|a, b| a.cluster == b.cluster).count() as f64;
    let s = n_sets as f64;
    let (mut clusters, mut residual) = (0.0, 0.0);
    let mut row = vec![0.0; n_sets];
    for of_cluster in values.chunk_by(|a, b| a.cluster == b.cluster) {
        row.fill(0.0);
        for one in of_cluster {
            row[place(one.set)] += influence(one);
        }
        let sum: f64 = row.iter().sum();
        clusters += sum * sum;
        residual += row.iter().zip(&of_set).map(|(cell, of_set)| (cell - sum / s - of_set / m).powi(2)).sum::<f64>();
    }
    let corrected = |squares: f64, n: f64| if n > 1.0 { squares * n / (n - 1.0) } else { 0.0 };
    Some(CrossedMean {
        estimate,
        of_clusters: corrected(clusters, m),
        of_sets: corrected(of_set.iter().map(|sum| sum * sum).sum(), s),
        residual: corrected(corrected(residual, m), s),
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        n_clusters: m as u64,
        n_sets: n_sets as u64,
    })
}
