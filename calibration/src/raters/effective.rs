//! How many independent raters a panel is worth: from the correlation of raters' errors.
//!
//! The mean of n raters whose errors have a common variance and correlation ρ is as steady as that of
//! n / (1 + (n − 1)ρ) independent ones: the design effect of a cluster of n. ρ is the *mean correlation*, Σ over pairs of raters of
//! their errors' covariance, over Σ of the mean of their variances: then the formula holds for unequal variances as well, and raters that
//! make no error count. Pairs weigh by the items they share.
//!
//! Source: Kish 1965, *Survey Sampling*, 5.4 (design effect 1 + (n − 1)ρ); the interval is the delete-one-cluster jackknife (Efron 1982) of
//! log((1 + (n − 1)ρ)/(1 − ρ)), as for the intraclass correlation, which keeps both ends possible. Its upper end for ρ (the lower end of
//! the effective number) is at least that of the same data with one more item on which two raters err: where errors are rare they may
//! not have met by chance, and without it the interval held the truth in as few as .61 of simulations.

use thiserror::Error;

use super::{Posterior, Ratings};
use crate::distribution::t_quantile;
use crate::influence::cluster_positions;
use crate::interval::log_f;
use crate::proportion::Interval;

/// Most pairs of raters: their sums take 400 MB.
const MOST_PAIRS: usize = 1 << 22;

/// A spread or a correlation this near its end is there but for rounding.
const ROUNDING: f64 = 1e-12;

/// What raters' errors are measured against.
#[derive(Clone, Copy, Debug)]
pub enum Truth<'a> {
    /// Each item's category, where known: an error is 1, a right rating 0.
    Known(&'a [Option<u32>]),
    /// Each item's probabilities: an error is the probability that the rating is wrong. These come from the same ratings, so that the
    /// correlation may be off either way: errors that most raters share look right, and an item whose label is unsure gives each of
    /// its raters part of an error.
    Estimated(&'a Posterior),
}

/// Why there is no effective number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum EffectiveError {
    /// The truth has another number of items than the ratings.
    #[error("the truth has {n_found} items, the ratings {n_items}")]
    OtherItems {
        /// In the truth.
        n_found: usize,
        /// In the ratings.
        n_items: usize,
    },
    /// Another number of clusters' ids than of items.
    #[error("there are {n_found} clusters' ids for {n_items} items")]
    OtherClusters {
        /// Ids.
        n_found: usize,
        /// In the ratings.
        n_items: usize,
    },
    /// The level is not within 0..1.
    #[error("the level of the interval is not between 0 and 1")]
    Level,
    /// Fewer than two raters rated an item whose truth is known.
    #[error("there are fewer than two raters")]
    TooFewRaters,
    /// No two raters share two items.
    #[error("no two raters rated the same two items")]
    NothingShared,
    /// On shared items every rater errs always or never.
    #[error("no rater's errors vary")]
    NoVariation,
    /// The pairs' sums would not fit into memory.
    #[error("{n_raters} raters have too many pairs")]
    TooManyRaters {
        /// Raters with a rating that counts.
        n_raters: usize,
    },
}

/// What a panel is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effective {
    /// Raters that rated an item whose truth is known, n.
    pub n_raters: usize,
    /// The mean correlation ρ of two raters' errors, −1..=1; with all ratings present at least −1/(n − 1).
    pub correlation: f64,
    /// Its interval; `None` with fewer than two clusters, at ρ = 1 and at ρ ≤ −1/(n − 1), or where that is so without some cluster.
    pub correlation_interval: Option<Interval>,
    /// n / (1 + (n − 1)ρ): 1 for copies, n for independent raters, more for raters that err apart. `None` at ρ ≤ −1/(n − 1), where
    /// errors cancel out.
    pub n_effective: Option<f64>,
    /// Its interval, from that of ρ.
    pub n_effective_interval: Option<Interval>,
    /// The plain mean of the pairs' own correlations, where both raters' errors vary; `None` without such a pair. With equal error rates
    /// and nothing missing it is about `correlation`.
    pub mean_of_pairs: Option<f64>,
    /// Pairs of raters that share two or more items.
    pub n_pairs: usize,
    /// Items with two or more raters and a known truth.
    pub n_items: usize,
    /// Clusters of these items.
    pub n_clusters: usize,
}

/// Returns how many independent raters a panel is worth, with jackknife intervals at `level` (0..1, two-sided).
///
/// A rater's error on an item is the mean over its ratings of the item. `clusters` gives each item's cluster; `None` makes each item its
/// own.
///
/// # Errors
/// [`EffectiveError`]: lengths that differ; a level outside 0..1; fewer than two raters, no two of which share two items; errors that do
/// not vary; too many raters.
///
/// Cost: Σ over items of the square of the item's raters, and memory for all pairs of raters.
pub fn effective_raters(
    ratings: &Ratings,
    truth: Truth<'_>,
    clusters: Option<&[u32]>,
    level: f64,
) -> Result<Effective, EffectiveError> {
    let n_items = ratings.n_items;
    let n_found = match truth {
        Truth::Known(labels) => labels.len(),
        Truth::Estimated(posterior) => posterior.n_items(),
    };
    if n_found != n_items {
        return Err(EffectiveError::OtherItems { n_found, n_items });
    }
    if let Some(clusters) = clusters.filter(|clusters| clusters.len() != n_items) {
        return Err(EffectiveError::OtherClusters { n_found: clusters.len(), n_items });
    }
    if !(level > 0.0 && level < 1.0) {
        return Err(EffectiveError::Level);
    }
    let errors = Errors::new(ratings, truth);
    let n = errors.n_raters;
    if n < 2 {
        return Err(EffectiveError::TooFewRaters);
    }
    let n_pairs = n * (n - 1) / 2;
    if n_pairs > MOST_PAIRS {
        return Err(EffectiveError::TooManyRaters { n_raters: n });
    }
    let mut pairs = vec![Pair::default(); n_pairs];
    for item_idx in 0..n_items {
        errors.add_item(item_idx, |pair_idx, first, second| pairs[pair_idx].add(first, second));
    }
    if pairs.iter().all(|pair| pair.n < 2.0) {
        return Err(EffectiveError::NothingShared);
    }
    let (mut products, mut squares) = (0.0, 0.0);
    let (mut sum_of_pairs, mut n_correlated) = (0.0, 0.0);
    for pair in &pairs {
        let (product, first, second) = pair.centred();
        products += product;
        squares += 0.5 * (first + second);
        if first > ROUNDING && second > ROUNDING {
            sum_of_pairs += product / (first * second).sqrt();
            n_correlated += 1.0;
        }
    }
    if squares <= ROUNDING {
        return Err(EffectiveError::NoVariation);
    }
    let correlation = (products / squares).clamp(-1.0, 1.0);
    let scale = |correlation: f64| {
        let is_inside = correlation < 1.0 - ROUNDING && 1.0 + (n as f64 - 1.0) * correlation > ROUNDING;
        is_inside.then(|| log_f(correlation, n as f64))
    };
    let shared: Vec<u32> =
        (0..).zip(0..n_items).filter(|&(_, idx)| errors.of_item(idx).len() > 1).map(|(id, _)| id).collect();
    let ids: Vec<u32> = shared.iter().map(|&item| clusters.map_or(item, |clusters| clusters[item as usize])).collect();
    let (positions, n_clusters) = cluster_positions(&ids);
    let mut by_cluster: Vec<(usize, u32)> = positions.into_iter().zip(shared.iter().copied()).collect();
    by_cluster.sort_unstable();
    let sums = Sums { products, squares };
    let ends = |pairs: &[Pair], sums: Sums, more: Option<f64>| {
        let centre = scale(sums.products / sums.squares)?;
        let mut left_out = left_out(&errors, &by_cluster, pairs, sums, &scale)?;
        left_out.extend(more);
        let m = left_out.len() as f64;
        let mean = left_out.iter().sum::<f64>() / m;
        let error = ((m - 1.0) / m * left_out.iter().map(|value| (value - mean).powi(2)).sum::<f64>()).sqrt();
        let half = t_quantile(f64::midpoint(1.0, level), (n_clusters - 1) as f64) * error;
        (n_clusters > 1).then_some((centre - half, centre + half))
    };
    let logs = ends(&pairs, sums, None).map(|(low, high)| {
        // Errors that seldom meet may not have met by chance: the upper end reckons with one meeting more.
        let (one_more, more_sums) = with_one_meeting(&pairs, sums);
        let more = ends(&one_more, more_sums, scale(correlation)).map_or(high, |(_, more)| more);
        (low, high.max(more))
    });
    let n_raters = n as f64;
    let back = |log: f64| (log.exp() - 1.0) / (log.exp() + n_raters - 1.0);
    let worth = |correlation: f64| n_raters / (1.0 + (n_raters - 1.0) * correlation);
    let correlation_interval = logs.map(|(low, high)| Interval { low: back(low), high: back(high) });
    Ok(Effective {
        n_raters: n,
        correlation,
        correlation_interval,
        n_effective: (1.0 + (n_raters - 1.0) * correlation > ROUNDING).then(|| worth(correlation)),
        n_effective_interval: correlation_interval
            .map(|interval| Interval { low: worth(interval.high), high: worth(interval.low) }),
        mean_of_pairs: (n_correlated > 0.0).then(|| sum_of_pairs / n_correlated),
        n_pairs: pairs.iter().filter(|pair| pair.n >= 2.0).count(),
        n_items: shared.len(),
        n_clusters,
    })
}

/// Sums over pairs of raters: of the products, and of the mean of both squares, about the means.
#[derive(Clone, Copy, Debug)]
struct Sums {
    products: f64,
    squares: f64,
}

/// Returns the pairs with one more item on which two raters err, the two that share most items.
fn with_one_meeting(pairs: &[Pair], sums: Sums) -> (Vec<Pair>, Sums) {
    let mut more = pairs.to_vec();
    let most = pairs.iter().map(|pair| pair.n).fold(0.0, f64::max);
    let Some(pair) = more.iter_mut().find(|pair| pair.n >= most) else { return (more, sums) };
    let before = pair.centred();
    pair.add(1.0, 1.0);
    let after = pair.centred();
    let sums = Sums {
        products: sums.products + after.0 - before.0,
        squares: sums.squares + 0.5 * (after.1 + after.2 - before.1 - before.2),
    };
    (more, sums)
}

/// Returns what each cluster's removal leaves of the scaled correlation, found from the pairs it touches; `None` where that is not
/// defined for some cluster. `by_cluster` has the shared items, sorted.
fn left_out(
    errors: &Errors,
    by_cluster: &[(usize, u32)],
    pairs: &[Pair],
    sums: Sums,
    scale: &impl Fn(f64) -> Option<f64>,
) -> Option<Vec<f64>> {
    let mut values = Vec::new();
    let mut removed = vec![Pair::default(); pairs.len()];
    let mut touched = Vec::new();
    for items in by_cluster.chunk_by(|(cluster, _), (other, _)| cluster == other) {
        for &(_, item) in items {
            errors.add_item(item as usize, |pair_idx, first, second| {
                if removed[pair_idx].n <= 0.0 {
                    touched.push(pair_idx);
                }
                removed[pair_idx].add(first, second);
            });
        }
        let Sums { mut products, mut squares } = sums;
        for &pair_idx in &touched {
            let (before, after) = (pairs[pair_idx].centred(), pairs[pair_idx].without(&removed[pair_idx]).centred());
            products -= before.0 - after.0;
            squares -= 0.5 * (before.1 + before.2 - after.1 - after.2);
            removed[pair_idx] = Pair::default();
        }
        touched.clear();
        values.push((squares > ROUNDING).then(|| scale(products / squares)).flatten()?);
    }
    Some(values)
}

/// Each item's raters, ascending and renumbered, with their mean errors.
struct Errors {
    n_raters: usize,
    starts: Vec<usize>,
    by_item: Vec<(u32, f64)>,
}

impl Errors {
    fn new(ratings: &Ratings, truth: Truth<'_>) -> Self {
        let mut starts = vec![0];
        let mut errors: Vec<(u32, f64)> = Vec::with_capacity(ratings.n_ratings());
        let mut of_item: Vec<(u32, f64)> = Vec::new();
        for item_idx in 0..ratings.n_items {
            of_item.clear();
            for rating_idx in ratings.starts[item_idx]..ratings.starts[item_idx + 1] {
                let category = ratings.categories[rating_idx];
                let error = match truth {
                    Truth::Known(labels) => labels[item_idx].map(|label| f64::from(u8::from(label != category))),
                    Truth::Estimated(posterior) => {
                        posterior.of_item(item_idx).get(category as usize).map(|right| 1.0 - right)
                    }
                };
                of_item.extend(error.map(|error| (ratings.raters[rating_idx], error)));
            }
            of_item.sort_by_key(|(rater, _)| *rater);
            for repeats in of_item.chunk_by(|(rater, _), (other, _)| rater == other) {
                let mean = repeats.iter().map(|(_, error)| error).sum::<f64>() / repeats.len() as f64;
                errors.push((repeats[0].0, mean));
            }
            starts.push(errors.len());
        }
        let mut place = vec![u32::MAX; ratings.n_raters];
        for (rater, _) in &errors {
            place[*rater as usize] = 0;
        }
        let mut n_raters = 0;
        for place in place.iter_mut().filter(|place| **place == 0) {
            *place = n_raters;
            n_raters += 1;
        }
        for (rater, _) in &mut errors {
            *rater = place[*rater as usize];
        }
        Self { n_raters: n_raters as usize, starts, by_item: errors }
    }

    fn of_item(&self, item_idx: usize) -> &[(u32, f64)] {
        &self.by_item[self.starts[item_idx]..self.starts[item_idx + 1]]
    }

    /// Calls `add` with each pair of the item's raters and their errors.
    fn add_item(&self, item_idx: usize, mut add: impl FnMut(usize, f64, f64)) {
        let errors = self.of_item(item_idx);
        for (place, &(second, of_second)) in errors.iter().enumerate() {
            let second = second as usize;
            for &(first, of_first) in &errors[..place] {
                // The triangle below the diagonal, row by row.
                add(second * (second - 1) / 2 + first as usize, of_first, of_second);
            }
        }
    }
}

/// Sums over the items that two raters share.
#[derive(Clone, Copy, Debug, Default)]
struct Pair {
    n: f64,
    first: f64,
    second: f64,
    first_squares: f64,
    second_squares: f64,
    products: f64,
}

impl Pair {
    fn add(&mut self, first: f64, second: f64) {
        self.n += 1.0;
        self.first += first;
        self.second += second;
        self.first_squares += first * first;
        self.second_squares += second * second;
        self.products += first * second;
    }

    fn without(&self, other: &Self) -> Self {
        Self {
            n: self.n - other.n,
            first: self.first - other.first,
            second: self.second - other.second,
            first_squares: self.first_squares - other.first_squares,
            second_squares: self.second_squares - other.second_squares,
            products: self.products - other.products,
        }
    }

    /// Returns the sums of products and of both squares about the means; 0 for fewer than two items.
    fn centred(&self) -> (f64, f64, f64) {
        if self.n < 2.0 {
            return (0.0, 0.0, 0.0);
        }
        (
            self.products - self.first * self.second / self.n,
            (self.first_squares - self.first * self.first / self.n).max(0.0),
            (self.second_squares - self.second * self.second / self.n).max(0.0),
        )
    }
}
