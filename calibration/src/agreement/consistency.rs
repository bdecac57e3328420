//! Whether several scores of one item say the same thing: the mean correlation of dimensions, the share of their one direction,
//! and Cronbach's alpha, all of *signed* correlations. (An alpha from absolute ones is large for noise.)
//!
//! Source: Cronbach 1951, *Psychometrika* 16; tests agree with pingouin 0.7.0 and numpy 2.4.6.

use crate::cluster::influence_standard_error;
use crate::rank::pearson;

/// Items × dimensions, row-major, complete; and what they show.
#[derive(Clone, Debug, PartialEq)]
pub struct Consistency {
    /// The mean of the correlations of every two dimensions, −1..=1.
    pub mean_correlation: f64,
    /// Each item's influence on it; see [`crate::influence`].
    pub influence: Vec<f64>,
    /// The largest eigenvalue of the correlation matrix over the number of dimensions, 1/dimensions..=1.
    pub one_factor_share: f64,
    /// Cronbach's alpha, at most 1; `None` where the sums of items do not vary.
    pub cronbach_alpha: Option<f64>,
}

/// Returns how alike the dimensions of items are.
///
/// Undefined (`None`): fewer than two dimensions or three items, a ragged table, a dimension that does not vary, values that are not
/// finite. Cost: items × dimensions².
#[must_use]
pub fn consistency(scores: &[f64], n_dimensions: usize) -> Option<Consistency> {
    if n_dimensions < 2 || !scores.len().is_multiple_of(n_dimensions) || !scores.iter().all(|score| score.is_finite()) {
        return None;
    }
    let n = scores.len() / n_dimensions;
    if n < 3 {
        return None;
    }
    let column = |idx: usize| -> Vec<f64> { scores.iter().skip(idx).step_by(n_dimensions).copied().collect() };
    let columns: Vec<Vec<f64>> = (0..n_dimensions).map(column).collect();
    let mut matrix = vec![0.0; n_dimensions * n_dimensions];
    let mut influence = vec![0.0; n];
    let n_pairs = (n_dimensions * (n_dimensions - 1) / 2) as f64;
    let mut sum = 0.0;
    for b in 0..n_dimensions {
        matrix[b * n_dimensions + b] = 1.0;
        for a in 0..b {
            let found = pearson(&columns[a], &columns[b], None)?;
            matrix[a * n_dimensions + b] = found.estimate;
            matrix[b * n_dimensions + a] = found.estimate;
            sum += found.estimate;
            for (total, part) in influence.iter_mut().zip(&found.influence) {
                *total += part / n_pairs;
            }
        }
    }
    Some(Consistency {
        mean_correlation: sum / n_pairs,
        influence,
        one_factor_share: largest_eigenvalue(&matrix, n_dimensions) / n_dimensions as f64,
        cronbach_alpha: cronbach_alpha(scores, n_dimensions),
    })
}

/// Returns Cronbach's alpha of a complete table, items (subjects) × dimensions (questions), row-major: k/(k − 1) · (1 − Σ variances /
/// variance of the sum). At most 1, and below 0 where dimensions go against each other.
///
/// Undefined (`None`): fewer than two dimensions or items, a ragged table, sums that do not vary, values that are not finite.
#[must_use]
pub fn cronbach_alpha(scores: &[f64], n_dimensions: usize) -> Option<f64> {
    if n_dimensions < 2 || !scores.len().is_multiple_of(n_dimensions) || scores.len() / n_dimensions < 2 {
        return None;
    }
    let origins = &scores[..n_dimensions];
    let mut sums = vec![[0.0; 2]; n_dimensions + 1];
    for row in scores.chunks_exact(n_dimensions) {
        let mut total = 0.0;
        for ((score, origin), sum) in row.iter().zip(origins).zip(&mut sums) {
            let from_origin = score - origin;
            total += from_origin;
            sum[0] += from_origin;
            sum[1] += from_origin * from_origin;
        }
        sums[n_dimensions][0] += total;
        sums[n_dimensions][1] += total * total;
    }
    alpha_of_sums(&sums.concat(), scores.len() as f64 / n_dimensions as f64)
}

/// Returns alpha from sums and sums of squares, of each dimension and last of the items' sums.
fn alpha_of_sums(sums: &[f64], n: f64) -> Option<f64> {
    let k = (sums.len() / 2 - 1) as f64;
    let centred = |idx: usize| (sums[2 * idx + 1] - sums[2 * idx] * sums[2 * idx] / n).max(0.0);
    let n_dimensions = sums.len() / 2 - 1;
    let total = centred(n_dimensions);
    let parts: f64 = (0..n_dimensions).map(centred).sum();
    let is_there = n > 1.0 && total > 1e-12 * sums[2 * n_dimensions + 1] && total.is_finite();
    is_there.then(|| k / (k - 1.0) * (1.0 - parts / total))
}

/// Returns the standard error of log(1 − alpha) by the delete-one-cluster jackknife, and the number of clusters. `clusters` has
/// one id an item, below `n_clusters`.
///
/// Undefined (`None`): where alpha is, or 1, or so without some cluster; fewer than two clusters; lengths that differ.
#[must_use]
pub fn cronbach_standard_error(
    scores: &[f64],
    n_dimensions: usize,
    clusters: &[u32],
    n_clusters: usize,
) -> Option<(f64, u64)> {
    let alpha = cronbach_alpha(scores, n_dimensions)?;
    let n = scores.len() / n_dimensions;
    if clusters.len() != n || alpha >= 1.0 - 1e-12 {
        return None;
    }
    let origins = &scores[..n_dimensions];
    let n_sums = 2 * (n_dimensions + 1);
    let mut by_cluster = vec![0.0; (n_sums + 1) * n_clusters];
    let mut totals = vec![0.0; n_sums + 1];
    for (row, &cluster) in scores.chunks_exact(n_dimensions).zip(clusters) {
        let own = by_cluster.get_mut(cluster as usize * (n_sums + 1)..(cluster as usize + 1) * (n_sums + 1))?;
        let mut add = |idx: usize, value: f64| {
            own[idx] += value;
            totals[idx] += value;
        };
        let mut total = 0.0;
        for (idx, (score, origin)) in row.iter().zip(origins).enumerate() {
            let from_origin = score - origin;
            total += from_origin;
            add(2 * idx, from_origin);
            add(2 * idx + 1, from_origin * from_origin);
        }
        add(n_sums - 2, total);
        add(n_sums - 1, total * total);
        add(n_sums, 1.0);
    }
    let whole = (1.0 - alpha).ln();
    let mut values = Vec::new();
    for own in by_cluster.chunks_exact(n_sums + 1).filter(|own| own[n_sums] > 0.0) {
        let left: Vec<f64> = totals.iter().zip(own).map(|(total, own)| total - own).collect();
        let without = alpha_of_sums(&left[..n_sums], left[n_sums])?;
        values.push((1.0 - without).ln() - whole);
    }
    let m = values.len() as f64;
    let mean = values.iter().sum::<f64>() / m;
    let variance = (m - 1.0) / m * values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    (m > 1.0 && variance.is_finite()).then(|| (variance.sqrt(), values.len() as u64))
}

/// Returns the largest eigenvalue of a correlation matrix, by Jacobi's rotations, which find all.
fn largest_eigenvalue(matrix: &[f64], n: usize) -> f64 {
    let mut a = matrix.to_vec();
    for _ in 0..100 {
        let off: f64 = (0..n).flat_map(|q| (0..q).map(move |p| (p, q))).map(|(p, q)| a[p * n + q].powi(2)).sum();
        if off < 1e-24 {
            break;
        }
        for q in 1..n {
            for p in 0..q {
                let apq = a[p * n + q];
                if apq.abs() < 1e-15 {
                    continue;
                }
                let theta = (a[q * n + q] - a[p * n + p]) / (2.0 * apq);
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let c = 1.0 / (t * t + 1.0).sqrt();
                let s = t * c;
                for i in 0..n {
                    let (ip, iq) = (a[i * n + p], a[i * n + q]);
                    a[i * n + p] = c * ip - s * iq;
                    a[i * n + q] = s * ip + c * iq;
                }
                for i in 0..n {
                    let (pi, qi) = (a[p * n + i], a[q * n + i]);
                    a[p * n + i] = c * pi - s * qi;
                    a[q * n + i] = s * pi + c * qi;
                }
            }
        }
    }
    (0..n).map(|i| a[i * n + i]).fold(f64::NEG_INFINITY, f64::max)
}

/// Returns the standard error of a mean correlation from its influence, over clusters.
#[must_use]
pub fn mean_correlation_standard_error(found: &Consistency, clusters: &[u32], n_clusters: usize) -> (f64, u64) {
    influence_standard_error(clusters.iter().copied().zip(found.influence.iter().copied()), n_clusters)
}
