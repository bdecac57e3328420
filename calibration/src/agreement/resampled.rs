//! Bootstrap distributions of agreement: of two raters' kappa and its kin, and of Krippendorff's alpha.
//!
//! Both depend on the data through counts only: how often each pair of categories, or each combination of a unit's values,
//! occurred. What is resampled are therefore kinds of clusters ([`crate::bootstrap`]), so that a resample of a million pairs on a
//! five-point scale costs 25 binomial draws. The distribution is that of drawing the clusters themselves, and the replicates do
//! not depend on the order of units or on the number of threads.
//!
//! The chance correction, and the ordinal metric's distances, are those of each resample. No percentile interval is given here:
//! take [`Bootstrap::bca`], or the standard error.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use crate::bootstrap::{Bootstrap, BootstrapConfig, Patterns, bootstrap};

use super::alpha::{IntervalTally, Metric, add_coincidences, alpha_from_coincidences};
use super::kappa::{Chance, Weighting, chance_corrected};

/// The most categories of kappa, and values of alpha but for the interval metric: each resample holds a table of their square.
const MOST_CATEGORIES: usize = 1_000;

/// What a unit adds to which sums, in ascending order.
type Entries = Vec<(u32, f64)>;

/// Returns the bootstrap distribution of a chance-corrected agreement of two raters.
///
/// `pairs` holds both raters' categories, each in 0..`n_categories`; pairs of one of `clusters` (one number a pair; `None`: each
/// pair is one) are drawn together. A replicate is undefined as [`chance_corrected`] is.
///
/// Undefined (`None`): no pairs; fewer than two categories or more than 1,000; a category out of range; clusters of another
/// number; weights that are undefined.
///
/// Cost: pairs (n log n with clusters) + resamples × (distinct clusters + categories²), over all threads. Tests agree in
/// distribution with scikit-learn 1.9.
#[must_use]
pub fn kappa_bootstrap(
    pairs: &[(u32, u32)],
    clusters: Option<&[u32]>,
    n_categories: usize,
    chance: Chance,
    weighting: &Weighting,
    config: BootstrapConfig,
) -> Option<Bootstrap> {
    if !(2..=MOST_CATEGORIES).contains(&n_categories) || weighting.matrix(n_categories).is_none() {
        return None;
    }
    let n = u32::try_from(n_categories).ok()?;
    if pairs.iter().any(|&(first, second)| first >= n || second >= n) {
        return None;
    }
    let kinds: Vec<u32> = pairs.iter().map(|(first, second)| first * n + second).collect();
    let entries: Vec<Entries> = (0..n * n).map(|cell| vec![(cell, 1.0)]).collect();
    let patterns = patterns(&kinds, &entries, clusters, n_categories * n_categories)?;
    let statistic = |table: &[f64]| Some(chance_corrected(table, n_categories, chance, weighting)?.kappa);
    bootstrap(&[patterns], &[&statistic], config)?.pop()
}

/// Returns the bootstrap distribution of Krippendorff's alpha.
///
/// `counts` is units × values, row-major: how often each unit received each value; units with fewer than two values are drawn too,
/// and add nothing. `values` are the distinct values, ascending. Units of one of `clusters` (one number a unit; `None`: each unit is
/// one) are drawn together. A replicate is undefined as [`alpha_from_coincidences`] is.
///
/// Undefined (`None`): no units; a ragged table; values that are not finite or not ascending, or negative under the ratio metric;
/// more than 1,000 values, but for the interval metric; clusters of another number.
///
/// Cost: units × values (and n log n with clusters) + resamples × (distinct clusters + values²), over all threads. Tests agree
/// in distribution with krippendorff 0.9.
#[must_use]
pub fn alpha_bootstrap(
    counts: &[u32],
    values: &[f64],
    metric: Metric,
    clusters: Option<&[u32]>,
    config: BootstrapConfig,
) -> Option<Bootstrap> {
    let n_values = values.len();
    if n_values == 0 || counts.is_empty() || !counts.len().is_multiple_of(n_values) {
        return None;
    }
    let is_ascending = values.iter().all(|value| value.is_finite()) && values.is_sorted();
    let is_interval = metric == Metric::Interval;
    if !is_ascending || (metric == Metric::Ratio && values[0] < 0.0) || (!is_interval && n_values > MOST_CATEGORIES) {
        return None;
    }
    let (kinds, units) = distinct(counts.chunks_exact(n_values));
    // Sums of squares lose no digits around a centre.
    let centre = values[n_values / 2];
    let mut matrix = vec![0.0; if is_interval { 0 } else { n_values * n_values }];
    let entries: Vec<Entries> = units
        .iter()
        .map(|unit| {
            if is_interval {
                let sum_of = |f: &dyn Fn(f64) -> f64| -> f64 {
                    unit.iter().zip(values).map(|(&count, value)| f64::from(count) * f(value - centre)).sum()
                };
                let tally = IntervalTally::of_unit(unit.iter().sum(), sum_of(&|x| x), sum_of(&|x| x * x));
                return (0..).zip(tally.to_array()).collect();
            }
            add_coincidences(unit, &mut matrix);
            let mut entries = Entries::new();
            for row_idx in (0..n_values).filter(|&row_idx| unit[row_idx] > 0) {
                for column_idx in (0..n_values).filter(|&column_idx| unit[column_idx] > 0) {
                    let cell_idx = row_idx * n_values + column_idx;
                    let cell = std::mem::take(&mut matrix[cell_idx]);
                    if cell > 0.0 {
                        entries.push((u32::try_from(cell_idx).expect("a table has at most 1e6 cells"), cell));
                    }
                }
            }
            entries
        })
        .collect();
    let n_dims = if is_interval { 4 } else { n_values * n_values };
    let patterns = patterns(&kinds, &entries, clusters, n_dims)?;
    let by_matrix = |matrix: &[f64]| alpha_from_coincidences(matrix, values, metric);
    let by_sums = |sums: &[f64]| IntervalTally::from_slice(sums)?.alpha();
    if is_interval {
        bootstrap(&[patterns], &[&by_sums], config)?.pop()
    } else {
        bootstrap(&[patterns], &[&by_matrix], config)?.pop()
    }
}

/// Returns each row's kind, and the kinds: the distinct rows, ascending.
fn distinct<'a>(rows: impl Iterator<Item = &'a [u32]>) -> (Vec<u32>, Vec<&'a [u32]>) {
    // The map is only asked, never listed.
    let mut ids: HashMap<&[u32], u32, RandomState> = HashMap::default();
    let mut found: Vec<&[u32]> = Vec::new();
    let first_seen: Vec<u32> = rows
        .map(|row| {
            *ids.entry(row).or_insert_with(|| {
                found.push(row);
                u32::try_from(found.len() - 1).expect("units are numbered by u32")
            })
        })
        .collect();
    let mut order: Vec<usize> = (0..found.len()).collect();
    order.sort_unstable_by_key(|&idx| found[idx]);
    let mut place = vec![0; found.len()];
    for (kind, &idx) in (0..).zip(&order) {
        place[idx] = kind;
    }
    let kinds = first_seen.iter().map(|&idx| place[idx as usize]).collect();
    (kinds, order.iter().map(|&idx| found[idx]).collect())
}

/// Returns the patterns of clusters of units, from each unit's kind and what each kind adds.
fn patterns(kinds: &[u32], entries: &[Entries], clusters: Option<&[u32]>, n_dims: usize) -> Option<Patterns> {
    if kinds.is_empty() {
        return None;
    }
    let Some(clusters) = clusters else {
        let mut counts = vec![0; entries.len()];
        for &kind in kinds {
            counts[kind as usize] += 1;
        }
        let seen = entries.iter().map(Vec::as_slice).zip(counts).filter(|(_, count)| *count > 0);
        return Some(Patterns::of_entries(seen, n_dims));
    };
    if clusters.len() != kinds.len() {
        return None;
    }
    let mut sorted: Vec<(u32, u32)> = clusters.iter().copied().zip(kinds.iter().copied()).collect();
    sorted.sort_unstable();
    let of_clusters: Vec<Vec<u32>> = sorted
        .chunk_by(|(cluster, _), (next, _)| cluster == next)
        .map(|units| units.iter().map(|(_, kind)| *kind).collect())
        .collect();
    let (ids, distinct) = distinct(of_clusters.iter().map(Vec::as_slice));
    let mut counts = vec![0; distinct.len()];
    for id in ids {
        counts[id as usize] += 1;
    }
    let sums: Vec<Entries> = distinct.iter().map(|kinds| sum(kinds, entries)).collect();
    Some(Patterns::of_entries(sums.iter().map(Vec::as_slice).zip(counts), n_dims))
}

/// Returns what units of these kinds add together.
fn sum(kinds: &[u32], entries: &[Entries]) -> Entries {
    let mut all: Entries = kinds.iter().flat_map(|kind| entries[*kind as usize].iter().copied()).collect();
    // Stable, so that amounts are added in the order of kinds.
    all.sort_by_key(|(dim, _)| *dim);
    all.dedup_by(|next, kept| {
        let is_same = next.0 == kept.0;
        if is_same {
            kept.1 += next.1;
        }
        is_same
    });
    all
}
