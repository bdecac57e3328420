//! The receiver operating characteristic: its points, the area under it, and that area's standard error.
//!
//! The area is the probability that a right item scores above a wrong one, ties counting half. Observations may carry
//! weights (an item judged n times gives n of weight 1/n) and clusters, which may hold items of both classes.

use crate::distribution::normal_quantile;
use crate::influence::cluster_positions;
use crate::rank::{TieGroups, groups, shares};

/// Why an area's interval is not to be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AucFlag {
    /// The area is 0 or 1: the classes are apart, the standard error is 0, and there is no interval.
    Separated,
    /// A class has fewer than 30 clusters and the area exceeds .9: logit intervals are too short there.
    FewAndHigh,
}

/// An area under the curve with its standard error.
#[derive(Clone, Debug, PartialEq)]
pub struct Auc {
    /// 0..=1.
    pub estimate: f64,
    /// Standard error; `None` where a class has fewer than two clusters.
    pub standard_error: Option<f64>,
    /// Each observation's influence, as in [`crate::influence`].
    pub influence: Vec<f64>,
    /// Clusters with a positive observation.
    pub n_positive_clusters: usize,
    /// Clusters with a negative observation.
    pub n_negative_clusters: usize,
    /// What to beware of.
    pub flag: Option<AucFlag>,
}

impl Auc {
    /// Returns the interval at `level` (0..1, two-sided) on the logit scale.
    ///
    /// Undefined (`None`): an area of 0 or 1, no standard error, or a level outside 0..1.
    ///
    /// Source: Pepe 2003, section 5.2.5; Qin & Hotilovac 2008 find its coverage good except for small, well-separated samples.
    #[must_use]
    pub fn logit_interval(&self, level: f64) -> Option<(f64, f64)> {
        let variance_unit = self.estimate * (1.0 - self.estimate);
        if variance_unit <= 0.0 || !(level > 0.0 && level < 1.0) {
            return None;
        }
        let half_width = normal_quantile(0.5 * (1.0 + level)) * self.standard_error? / variance_unit;
        let logit = (self.estimate / (1.0 - self.estimate)).ln();
        let back = |logit: f64| 1.0 / (1.0 + (-logit).exp());
        Some((back(logit - half_width), back(logit + half_width)))
    }
}

/// Returns the area under the curve with `DeLong`'s standard error, or Obuchowski's where `clusters` are given.
///
/// `is_positive` says which observations are right; `weights` apply within each class. Clusters may span both classes.
/// Undefined (`None`): a class without weight, lengths that differ, a score that is NaN, a weight that is negative or not
/// finite. Infinite scores are the highest and lowest.
///
/// Source: `DeLong`, `DeLong` & Clarke-Pearson 1988; Obuchowski 1997, "Nonparametric analysis of clustered ROC curve data",
/// equations 4 to 7. The area agrees with scikit-learn 1.9.
///
/// Cost: n log n.
#[must_use]
pub fn auc(scores: &[f64], is_positive: &[bool], weights: Option<&[f64]>, clusters: Option<&[u32]>) -> Option<Auc> {
    let n = scores.len();
    if is_positive.len() != n || clusters.is_some_and(|clusters| clusters.len() != n) {
        return None;
    }
    let (scores, class_shares) = checked(scores, is_positive, weights)?;
    let (group_of, n_groups) = groups(&scores);
    let mut masses = vec![[0.0; 2]; n_groups];
    for i in 0..n {
        masses[group_of[i]][usize::from(is_positive[i])] += class_shares[i];
    }
    // Of an observation of each group and class: the mass of the other class that it is on the right side of, ties half.
    let (mut negatives_below, mut positives_below) = (0.0, 0.0);
    let placements: Vec<[f64; 2]> = masses
        .iter()
        .map(|[negatives, positives]| {
            let placement = [1.0 - positives_below - 0.5 * positives, negatives_below + 0.5 * negatives];
            negatives_below += negatives;
            positives_below += positives;
            placement
        })
        .collect();
    let placement = |i: usize| placements[group_of[i]][usize::from(is_positive[i])];
    let estimate: f64 = masses.iter().zip(&placements).map(|(mass, placement)| mass[1] * placement[1]).sum();
    // Both classes' means are the area; rounding must not carry it past its ends.
    let estimate = estimate.clamp(0.0, 1.0);
    let snap = |value: f64| if value > 4.0 * f64::EPSILON * n as f64 { value } else { 0.0 };
    let estimate = if snap(1.0 - estimate) > 0.0 { snap(estimate) } else { 1.0 };
    let influence: Vec<f64> = (0..n).map(|i| class_shares[i] * (placement(i) - estimate)).collect();

    let (positions, n_clusters) = match clusters {
        Some(clusters) => cluster_positions(clusters),
        None => ((0..n).collect(), n),
    };
    let mut by_cluster = vec![ClusterParts::default(); n_clusters];
    for i in 0..n {
        if class_shares[i] > 0.0 {
            by_cluster[positions[i]].add(is_positive[i], influence[i]);
        }
    }
    let n_positive_clusters = by_cluster.iter().filter(|parts| parts.has_positive).count();
    let n_negative_clusters = by_cluster.iter().filter(|parts| parts.has_negative).count();
    let standard_error = obuchowski_variance(&by_cluster, n_positive_clusters, n_negative_clusters).map(f64::sqrt);
    let flag = if estimate <= 0.0 || estimate >= 1.0 {
        Some(AucFlag::Separated)
    } else if estimate > 0.9 && n_positive_clusters.min(n_negative_clusters) < 30 {
        Some(AucFlag::FewAndHigh)
    } else {
        None
    };
    Some(Auc { estimate, standard_error, influence, n_positive_clusters, n_negative_clusters, flag })
}

/// What one cluster adds to the area, by class.
#[derive(Clone, Copy, Debug, Default)]
struct ClusterParts {
    positive: f64,
    negative: f64,
    has_positive: bool,
    has_negative: bool,
}

impl ClusterParts {
    fn add(&mut self, is_positive: bool, influence: f64) {
        if is_positive {
            self.positive += influence;
            self.has_positive = true;
        } else {
            self.negative += influence;
            self.has_negative = true;
        }
    }
}

/// Returns Obuchowski's variance, which without shared clusters is `DeLong`'s.
fn obuchowski_variance(by_cluster: &[ClusterParts], n_positive: usize, n_negative: usize) -> Option<f64> {
    if n_positive < 2 || n_negative < 2 {
        return None;
    }
    let used = by_cluster.iter().filter(|parts| parts.has_positive || parts.has_negative).count();
    let correction = |m: usize| m as f64 / (m - 1) as f64;
    let sum = |part: &dyn Fn(&ClusterParts) -> f64| by_cluster.iter().map(part).sum::<f64>();
    let variance = correction(n_positive) * sum(&|parts| parts.positive * parts.positive)
        + correction(n_negative) * sum(&|parts| parts.negative * parts.negative)
        + 2.0 * correction(used) * sum(&|parts| parts.positive * parts.negative);
    // Different corrections may leave a negative crumb where the parts cancel.
    Some(variance.max(0.0))
}

/// Returns the scores with −0 as 0, and each observation's share of its class's weight.
fn checked(scores: &[f64], is_positive: &[bool], weights: Option<&[f64]>) -> Option<(Vec<f64>, Vec<f64>)> {
    if scores.is_empty() || scores.iter().any(|score| score.is_nan()) {
        return None;
    }
    let overall = shares(scores.len(), weights)?;
    let mass = |class: bool| -> f64 {
        overall.iter().zip(is_positive).filter(|&(_, &positive)| positive == class).map(|(share, _)| share).sum()
    };
    let (positive_mass, negative_mass) = (mass(true), mass(false));
    if positive_mass <= 0.0 || negative_mass <= 0.0 {
        return None;
    }
    let class_shares = overall
        .iter()
        .zip(is_positive)
        .map(|(share, &positive)| share / if positive { positive_mass } else { negative_mass })
        .collect();
    Some((scores.iter().map(|score| score + 0.0).collect(), class_shares))
}

/// One point of the curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RocPoint {
    /// Accept when the score is at least this; infinite at the first point, which accepts nothing.
    pub threshold: f64,
    /// Share of negatives accepted, 0..=1.
    pub false_positive_rate: f64,
    /// Share of positives accepted, 0..=1.
    pub true_positive_rate: f64,
}

/// Returns the curve's points from the strictest threshold down, one a distinct score, after the point that accepts nothing.
///
/// Undefined (`None`) as in [`auc`].
#[must_use]
pub fn roc_points(scores: &[f64], is_positive: &[bool], weights: Option<&[f64]>) -> Option<Vec<RocPoint>> {
    if is_positive.len() != scores.len() {
        return None;
    }
    let (scores, class_shares) = checked(scores, is_positive, weights)?;
    let groups = TieGroups::new(&scores);
    let mut point = RocPoint { threshold: f64::INFINITY, false_positive_rate: 0.0, true_positive_rate: 0.0 };
    let mut points = vec![point];
    for group_idx in (0..groups.n_groups()).rev() {
        for &i in groups.members(group_idx) {
            point.threshold = scores[i];
            if is_positive[i] {
                point.true_positive_rate += class_shares[i];
            } else {
                point.false_positive_rate += class_shares[i];
            }
        }
        points.push(RocPoint {
            threshold: point.threshold,
            false_positive_rate: point.false_positive_rate.min(1.0),
            true_positive_rate: point.true_positive_rate.min(1.0),
        });
    }
    if let Some(last) = points.last_mut() {
        // The lowest threshold accepts everything, whatever rounding says.
        (last.false_positive_rate, last.true_positive_rate) = (1.0, 1.0);
    }
    Some(points)
}
