//! Pairwise accuracy with tie calibration: of pairs of items, how many does a score order, or call tied, as the labels do?
//!
//! Scores hardly ever tie and labels often do. So two items count as tied in score where their scores differ by at most
//! epsilon, and epsilon is the value that makes the accuracy highest. Deutsch, Foster & Freitag 2023,
//! "Ties Matter: Meta-Evaluating Modern Metrics with Pairwise Accuracy and Tie Calibration", *EMNLP*.

/// Differences of scores that are this share of the largest score apart are equal: what is below is rounding.
const ROUNDING: f64 = 1e-12;

/// A score held against a label.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rated {
    /// The score.
    pub score: f64,
    /// The label.
    pub label: f64,
    /// What it counts, at least 0; a pair counts the product.
    pub weight: f64,
    /// Its item. Two scores of one item are no pair.
    pub item: u32,
    /// Its cluster: what is drawn independently.
    pub cluster: u32,
}

/// A pairwise accuracy at the epsilon that makes it highest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairwiseAccuracy {
    /// The share of pairs ordered or called tied as the labels have it, 0..=1.
    pub accuracy: f64,
    /// The greatest difference of scores that counts as a tie, at least 0: of those that are best the smallest.
    pub epsilon: f64,
    /// The accuracy where only equal scores are ties.
    pub at_zero: f64,
    /// The accuracy of calling all pairs tied: the share tied in label.
    pub all_tied: f64,
    /// The accuracy at an epsilon chosen on one half of the clusters, of pairs in the other half: both ways, pooled.
    /// `None` where either half has no pair or one label only.
    pub cross_fitted: Option<f64>,
    /// Pairs of scores of different items.
    pub n_pairs: u64,
    /// Clusters.
    pub n_clusters: u64,
    /// Delete-one-cluster jackknife at this epsilon. `None` with fewer than three clusters, or where one holds all pairs.
    pub standard_error: Option<f64>,
}

/// Returns the tie-calibrated pairwise accuracy. Cost: n² log n for n scores.
///
/// Undefined (`None`): a number that is not finite, or scores too far apart to subtract; a negative weight; no pair of different items;
/// labels that do not vary between items, where an epsilon large enough is always right.
#[must_use]
pub fn pairwise_accuracy(ratings: &[Rated]) -> Option<PairwiseAccuracy> {
    let rounding = rounding(ratings)?;
    let search = Search::of(ratings, rounding)?;
    let mut ids: Vec<u32> = ratings.iter().map(|rated| rated.cluster).collect();
    ids.sort_unstable();
    ids.dedup();
    let cluster_of: Vec<usize> =
        ratings.iter().map(|rated| ids.partition_point(|cluster| *cluster < rated.cluster)).collect();
    Some(PairwiseAccuracy {
        accuracy: search.accuracy,
        epsilon: search.epsilon,
        at_zero: search.at_zero,
        all_tied: search.all_tied,
        cross_fitted: cross_fitted(ratings, &cluster_of, rounding),
        n_pairs: search.n_pairs,
        n_clusters: ids.len() as u64,
        standard_error: jackknife(ratings, &cluster_of, ids.len(), search.epsilon + rounding),
    })
}

/// Returns the pairwise accuracy where scores at most `epsilon` apart are ties.
///
/// Undefined (`None`): as [`pairwise_accuracy`], except that labels need not vary; an epsilon that is negative or NaN.
#[must_use]
pub fn pairwise_accuracy_at(ratings: &[Rated], epsilon: f64) -> Option<f64> {
    if epsilon.is_nan() || epsilon < 0.0 {
        return None;
    }
    let rounding = rounding(ratings)?;
    let (right, all) = counts(ratings, epsilon + rounding);
    (all > 0.0).then(|| right / all)
}

/// Returns how far apart equal differences may be. `None` for numbers that cannot be reckoned with.
fn rounding(ratings: &[Rated]) -> Option<f64> {
    let is_sound = |rated: &Rated| {
        rated.score.is_finite() && rated.label.is_finite() && rated.weight.is_finite() && rated.weight >= 0.0
    };
    let largest = ratings.iter().map(|rated| rated.score.abs()).fold(0.0, f64::max);
    (ratings.iter().all(is_sound) && largest < f64::MAX / 2.0).then_some(largest * ROUNDING)
}

/// Calls `visit` with the positions of the two of each pair of different items, with their weight.
fn for_pairs(ratings: &[Rated], mut visit: impl FnMut(usize, usize, f64)) {
    for (i, first) in ratings.iter().enumerate() {
        for (j, second) in ratings.iter().enumerate().skip(i + 1) {
            let weight = first.weight * second.weight;
            if first.item != second.item && weight > 0.0 {
                visit(i, j, weight);
            }
        }
    }
}

fn is_right(first: &Rated, second: &Rated, epsilon: f64) -> bool {
    let (score, label) = (first.score - second.score, first.label - second.label);
    if label == 0.0 { score.abs() <= epsilon } else { score.abs() > epsilon && (score > 0.0) == (label > 0.0) }
}

/// Returns the weight of pairs that are right, and of all.
fn counts(ratings: &[Rated], epsilon: f64) -> (f64, f64) {
    let (mut right, mut all) = (0.0, 0.0);
    for_pairs(ratings, |i, j, weight| {
        all += weight;
        if is_right(&ratings[i], &ratings[j], epsilon) {
            right += weight;
        }
    });
    (right, all)
}

/// The best epsilon.
struct Search {
    epsilon: f64,
    accuracy: f64,
    at_zero: f64,
    all_tied: f64,
    n_pairs: u64,
}

impl Search {
    /// From the closest pair to the farthest: a tie in label becomes right, a right order becomes a tie that is wrong.
    fn of(ratings: &[Rated], rounding: f64) -> Option<Self> {
        let mut gains: Vec<(f64, f64)> = Vec::new();
        let (mut all, mut tied, mut right, mut n_pairs) = (0.0, 0.0, 0.0, 0);
        for_pairs(ratings, |i, j, weight| {
            let (score, label) = (ratings[i].score - ratings[j].score, ratings[i].label - ratings[j].label);
            all += weight;
            n_pairs += 1;
            if label == 0.0 {
                tied += weight;
                gains.push((score.abs(), weight));
            } else if score != 0.0 && (score > 0.0) == (label > 0.0) {
                right += weight;
                gains.push((score.abs(), -weight));
            }
        });
        // All tied, or none.
        if n_pairs == 0 || tied >= all {
            return None;
        }
        gains.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let mut position = 0;
        let mut include = |right: &mut f64, end: f64| {
            while let Some((_, gain)) = gains.get(position).filter(|(difference, _)| *difference <= end) {
                *right += gain;
                position += 1;
            }
            gains.get(position).map(|(difference, _)| *difference)
        };
        let mut next = include(&mut right, rounding);
        let at_zero = right;
        let (mut best, mut epsilon) = (right, 0.0);
        while let Some(difference) = next {
            next = include(&mut right, difference + rounding);
            // What rounding adds to a sum makes no epsilon better.
            if right > best + all * ROUNDING {
                (best, epsilon) = (right, difference);
            }
        }
        let share = |right: f64| (right / all).clamp(0.0, 1.0);
        Some(Self { epsilon, accuracy: share(best), at_zero: share(at_zero), all_tied: share(tied), n_pairs })
    }
}

/// Every other cluster is one half.
fn cross_fitted(ratings: &[Rated], cluster_of: &[usize], rounding: f64) -> Option<f64> {
    let half = |rest: usize| -> Vec<Rated> {
        ratings.iter().zip(cluster_of).filter(|(_, cluster)| *cluster % 2 == rest).map(|(rated, _)| *rated).collect()
    };
    let (first, second) = (half(0), half(1));
    let (from_first, from_second) = (Search::of(&first, rounding)?, Search::of(&second, rounding)?);
    let (a, b) = (counts(&second, from_first.epsilon + rounding), counts(&first, from_second.epsilon + rounding));
    Some(((a.0 + b.0) / (a.1 + b.1)).clamp(0.0, 1.0))
}

/// Leaves out each cluster with all pairs that it is part of.
fn jackknife(ratings: &[Rated], cluster_of: &[usize], n_clusters: usize, epsilon: f64) -> Option<f64> {
    if n_clusters < 3 {
        return None;
    }
    // Of pairs that a cluster is part of: those that are right, and all.
    let mut own = vec![[0.0; 2]; n_clusters];
    let mut total = [0.0; 2];
    for_pairs(ratings, |i, j, weight| {
        let right = if is_right(&ratings[i], &ratings[j], epsilon) { weight } else { 0.0 };
        let (first, second) = (cluster_of[i], cluster_of[j]);
        for (sum, part) in total.iter_mut().zip([right, weight]) {
            *sum += part;
        }
        for cluster in [Some(first), (second != first).then_some(second)].into_iter().flatten() {
            own[cluster][0] += right;
            own[cluster][1] += weight;
        }
    });
    let estimate = total[0] / total[1];
    let (mut sum, mut squares) = (0.0, 0.0);
    for [right, all] in own {
        let left = total[1] - all;
        if left <= total[1] * ROUNDING {
            return None;
        }
        let moved = (total[0] - right) / left - estimate;
        sum += moved;
        squares += moved * moved;
    }
    let m = n_clusters as f64;
    Some(((m - 1.0) / m * (squares - sum * sum / m)).max(0.0).sqrt())
}
