//! Errors that go together: every two raters' errors on the items both rated, and what the majority would be worth if they did
//! not.
//!
//! Errors may go together for two reasons: raters lean to the same category, or they fail on the same items. The first is
//! in each rater's table of errors and shows in [`PairOfErrors::correlation`] alone, the second remains in
//! [`PairOfErrors::within_label`], where each rater's mean error among items of a label is taken out.
//!
//! Source: the correlation of two binary variables (phi); its standard error is the infinitesimal jackknife over clusters. Kuncheva,
//! Whitaker, Shipp & Duin 2003, *Pattern Analysis and Applications* 6, on what correlated errors make of a majority.

use std::collections::BTreeMap;

use rand::seq::SliceRandom;
use rand::{RngExt as _, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::ballots::Ballots;
use super::{Ratings, TIE};
use crate::rank::pearson;

/// What is below this of a variance is rounding.
const ROUNDING: f64 = 1e-12;

/// Two raters' errors on the labelled items that both rated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairOfErrors {
    /// The first rater.
    pub first: usize,
    /// The second, later in order.
    pub second: usize,
    /// Labelled items that both rated.
    pub n_items: usize,
    /// Clusters of these.
    pub n_clusters: usize,
    /// Share of these on which both are wrong.
    pub both_wrong: f64,
    /// The product of their shares of errors: what `both_wrong` is of errors that know nothing of each other.
    pub expected: f64,
    /// The correlation of their errors, −1..=1.
    pub correlation: f64,
    /// Its standard error; `None` with fewer than two clusters.
    pub standard_error: Option<f64>,
    /// The correlation within labels: of errors less each rater's mean error among the shared items of that label. `None` where nothing
    /// varies within labels.
    pub within_label: Option<f64>,
}

/// Returns the pairs of `raters` that share labelled items and both err on some of them and not on all, in order.
///
/// Each rater must have rated an item at most once; of several ratings the last counts. `labels` and `clusters` have one entry an item;
/// without clusters each item is its own. Undefined (empty): lengths that differ.
///
/// Cost: pairs × items that a rater rated.
#[must_use]
pub fn error_pairs(
    ratings: &Ratings,
    labels: &[Option<u32>],
    raters: &[usize],
    clusters: Option<&[u32]>,
) -> Vec<PairOfErrors> {
    if labels.len() != ratings.n_items || clusters.is_some_and(|clusters| clusters.len() != labels.len()) {
        return Vec::new();
    }
    let mut errors: Vec<Vec<(usize, f64)>> = vec![Vec::new(); ratings.n_raters];
    for (item_idx, label) in labels.iter().enumerate() {
        let Some(label) = label else { continue };
        for rating_idx in ratings.starts[item_idx]..ratings.starts[item_idx + 1] {
            let error = f64::from(u8::from(ratings.categories[rating_idx] != *label));
            let of_rater = &mut errors[ratings.raters[rating_idx] as usize];
            match of_rater.last_mut() {
                Some((last, known)) if *last == item_idx => *known = error,
                _ => of_rater.push((item_idx, error)),
            }
        }
    }
    let known: Vec<usize> = raters.iter().copied().filter(|&rater| rater < ratings.n_raters).collect();
    let pairs: Vec<(usize, usize)> =
        (0..known.len()).flat_map(|b| (0..b).map(move |a| (a, b))).map(|(a, b)| (known[a], known[b])).collect();
    pairs
        .par_iter()
        .filter_map(|&(first, second)| pair([first, second], [&errors[first], &errors[second]], labels, clusters))
        .collect()
}

fn pair(
    [first, second]: [usize; 2],
    [of_first, of_second]: [&[(usize, f64)]; 2],
    labels: &[Option<u32>],
    clusters: Option<&[u32]>,
) -> Option<PairOfErrors> {
    let mut shared = (Vec::new(), Vec::new(), Vec::new());
    let mut others = of_second.iter().peekable();
    for &(item, error) in of_first {
        while others.next_if(|(other, _)| *other < item).is_some() {}
        if let Some(&(_, other_error)) = others.next_if(|(other, _)| *other == item) {
            shared.0.push(item);
            shared.1.push(error);
            shared.2.push(other_error);
        }
    }
    let (items, x, y) = shared;
    let found = pearson(&x, &y, None)?;
    let n = items.len() as f64;
    let share = |errors: &[f64]| errors.iter().sum::<f64>() / n;
    let ids: Vec<u32> =
        items.iter().zip(0..).map(|(&item, own)| clusters.map_or(own, |clusters| clusters[item])).collect();
    let error = found.standard_error(Some(&ids));
    let n_clusters = error.map_or(1, |(_, n_clusters)| n_clusters);
    Some(PairOfErrors {
        first,
        second,
        n_items: items.len(),
        n_clusters,
        both_wrong: x.iter().zip(&y).map(|(x, y)| x * y).sum::<f64>() / n,
        expected: share(&x) * share(&y),
        correlation: found.estimate,
        standard_error: error.map(|(standard_error, _)| standard_error),
        within_label: within_label(&items, &x, &y, labels),
    })
}

/// Returns the pooled correlation of errors about their means within each label.
fn within_label(items: &[usize], x: &[f64], y: &[f64], labels: &[Option<u32>]) -> Option<f64> {
    // By label: items, sums of both, and of the products (errors are their own squares).
    let mut sums: BTreeMap<u32, [f64; 4]> = BTreeMap::new();
    for ((&item, x), y) in items.iter().zip(x).zip(y) {
        let sum = sums.entry(labels[item]?).or_default();
        for (total, part) in sum.iter_mut().zip([1.0, *x, *y, x * y]) {
            *total += part;
        }
    }
    let (mut product, mut squares) = (0.0, [0.0; 2]);
    for [n, x, y, both] in sums.into_values() {
        product += both - x * y / n;
        squares[0] += x - x * x / n;
        squares[1] += y - y * y / n;
    }
    let scale = (squares[0] * squares[1]).sqrt();
    (squares[0] > ROUNDING && squares[1] > ROUNDING).then(|| (product / scale).clamp(-1.0, 1.0))
}

/// The majority's accuracy were errors independent given the label.
#[derive(Clone, Debug, PartialEq)]
pub struct IndependentVote {
    /// Mean over the shuffles, 0..=1.
    pub accuracy: f64,
    /// Each shuffle's accuracy, ascending.
    pub shuffles: Vec<f64>,
}

/// Returns the accuracy that the majority has when each rater's ratings are shuffled among the labelled items of one label that it rated:
/// each keeps its table of errors, and who rated what stays as it is, but errors no longer meet on the same items.
///
/// Ties count in parts: 1/t where the label is one of t commonest. `labels` has one entry an item. Undefined (`None`): no
/// labelled item with a rating, no shuffles, or another number of labels.
///
/// Cost: shuffles × ratings.
#[must_use]
pub fn independent_vote(
    ratings: &Ratings,
    labels: &[Option<u32>],
    n_shuffles: u32,
    seed: u64,
) -> Option<IndependentVote> {
    if labels.len() != ratings.n_items {
        return None;
    }
    independent_ballots(&Ballots::of(ratings), labels, &|_| 1.0, n_shuffles, seed)
}

/// Returns [`independent_vote`] of ballots, those for several categories being shuffled whole, each item counting by its weight. Where
/// weights are uneven each answer is drawn afresh from the lot by the weights of the items it was given to: a shuffle would give each
/// rater the accuracy that it has without weights.
pub(crate) fn independent_ballots(
    ballots: &Ballots,
    labels: &[Option<u32>],
    weight_of: &(dyn Fn(usize) -> f64 + Sync),
    n_shuffles: u32,
    seed: u64,
) -> Option<IndependentVote> {
    // The places of ratings that may be exchanged, by rater and label, and where each lot ends.
    let mut places: Vec<(u32, u32, usize)> = Vec::new();
    let mut weights = vec![0.0; ballots.said.len()];
    for (item_idx, label) in labels.iter().enumerate() {
        let Some(label) = label else { continue };
        let of_item = ballots.starts[item_idx]..ballots.starts[item_idx + 1];
        weights[of_item.clone()].fill(weight_of(item_idx));
        places.extend(of_item.map(|ballot_idx| (ballots.raters[ballot_idx], *label, ballot_idx)));
    }
    if places.is_empty() || n_shuffles == 0 {
        return None;
    }
    places.sort_unstable();
    let is_uneven = places.iter().any(|(.., ballot_idx)| weights[*ballot_idx].total_cmp(&weights[places[0].2]).is_ne());
    let base = ChaCha8Rng::seed_from_u64(seed);
    let mut shuffles: Vec<f64> = (0..n_shuffles)
        .into_par_iter()
        .map(|shuffle_idx| {
            let mut rng = base.clone();
            rng.set_stream(u64::from(shuffle_idx));
            let mut said = ballots.said.clone();
            let (mut lot, mut sums) = (Vec::new(), Vec::new());
            for same in places.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
                if is_uneven {
                    sums.clear();
                    sums.extend(same.iter().scan(0.0, |sum, (.., ballot_idx)| {
                        *sum += weights[*ballot_idx];
                        Some(*sum)
                    }));
                    let total = sums.last().copied().unwrap_or(0.0);
                    for &(.., ballot_idx) in same {
                        let at = total * rng.random::<f64>();
                        let drawn = sums.partition_point(|sum| *sum <= at).min(same.len() - 1);
                        said[ballot_idx] = ballots.said[same[drawn].2];
                    }
                    continue;
                }
                lot.clear();
                lot.extend(same.iter().map(|&(_, _, ballot_idx)| ballots.said[ballot_idx]));
                lot.shuffle(&mut rng);
                for (&(_, _, ballot_idx), one) in same.iter().zip(&lot) {
                    said[ballot_idx] = *one;
                }
            }
            majority_accuracy(ballots, &said, labels, weight_of)
        })
        .collect();
    shuffles.sort_unstable_by(f64::total_cmp);
    Some(IndependentVote { accuracy: shuffles.iter().sum::<f64>() / shuffles.len() as f64, shuffles })
}

fn majority_accuracy(
    ballots: &Ballots,
    said: &[u32],
    labels: &[Option<u32>],
    weight_of: &(dyn Fn(usize) -> f64 + Sync),
) -> f64 {
    let mut votes = vec![0.0; ballots.n_categories()];
    let (mut right, mut total) = (0.0, 0.0);
    for (item_idx, label) in labels.iter().enumerate() {
        let Some(label) = label.filter(|_| ballots.n_of_item(item_idx) > 0) else { continue };
        ballots.count(said, item_idx, &mut votes);
        let weight = weight_of(item_idx);
        right += weight * share_of_greatest(&votes, label);
        total += weight;
    }
    right / total
}

/// Returns 1/t if `category` is one of the t greatest, which are those within 1e-9 of the greatest, else 0.
#[must_use]
pub fn share_of_greatest(weights: &[f64], category: u32) -> f64 {
    let greatest = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let is_greatest = |weight: f64| weight > greatest - TIE;
    let is_among = weights.get(category as usize).is_some_and(|weight| is_greatest(*weight));
    if is_among { 1.0 / weights.iter().filter(|weight| is_greatest(**weight)).count() as f64 } else { 0.0 }
}
