//! Tallies that merge: a log counted in shards, wherever they are counted, and its statistics from the sum.
//!
//! What is kept is *how often* each thing was seen, by cluster and item: whole numbers in the order of their keys. Merging adds
//! them, so that it is associative and commutative exactly, an empty tally changes nothing, and the statistics of merged shards are
//! those of the whole to the last bit, however the log was cut. A shard may hold some of an item's draws only, or some of a
//! cluster's items: nothing is averaged before all of it is there.
//!
//! - [`DrawTally`]: answers by cluster, item and cell; flip rate, mean, unparsed rate, within-item deviation, intraclass
//!   correlation, alpha.
//! - [`LabelTally`]: answers beside labels; accuracy, error rates, confusion table, kappa.
//! - [`ScoreTally`]: scores or confidences beside outcomes; area under the curve, reliability curve, Brier score.
//! - [`RatingTally`]: raters' categories of items; what [`crate::raters`] and many-rater agreement start from.
//!
//! Clusters, items, cells and raters are numbers that all shards must give alike: ids, or 64-bit digests of names. Statistics are
//! those of [`crate::audit`] where it has them. Sums for clusters that are whole already, as one machine's pass over sorted rows
//! has them, are in [`crate::cluster`]; they take less room and merge to rounding.
//!
//! Nothing here reads a log or draws resamples. Room and time grow with the number of *different* entries, a logarithm for their
//! order: a million draws of items on a short scale are at most as many as items × answers given.

mod draws;
mod labels;
mod ratings;
mod scores;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use draws::{CellCounts, DrawTally};
pub use labels::{ClusteredKappa, LabelTally};
pub use ratings::{NamedRatings, RatingTally};
pub use scores::ScoreTally;

/// How often each key was seen, in their order. Written as a list of entries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<(K, u64)>", into = "Vec<(K, u64)>", bound(serialize = "K: Serialize + Clone"))]
struct Counts<K: Ord + Clone>(BTreeMap<K, u64>);

impl<K: Ord + Clone> Default for Counts<K> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<K: Ord + Clone> From<Vec<(K, u64)>> for Counts<K> {
    fn from(entries: Vec<(K, u64)>) -> Self {
        let mut counts = Self::default();
        for (key, n) in entries {
            counts.add(key, n);
        }
        counts
    }
}

impl<K: Ord + Clone> From<Counts<K>> for Vec<(K, u64)> {
    fn from(counts: Counts<K>) -> Self {
        counts.0.into_iter().collect()
    }
}

impl<K: Ord + Clone> Counts<K> {
    fn add(&mut self, key: K, n: u64) {
        if n > 0 {
            let count = self.0.entry(key).or_insert(0);
            // No log is so long; a made-up tally must not wrap around.
            *count = count.saturating_add(n);
        }
    }

    fn merge(&mut self, other: Self) {
        if self.0.is_empty() {
            *self = other;
            return;
        }
        for (key, n) in other.0 {
            self.add(key, n);
        }
    }

    fn total(&self) -> u64 {
        self.0.values().fold(0, |total, n| total.saturating_add(*n))
    }
}

/// An answer as a key in the order of numbers: −0 is 0, every NaN is the same and comes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Answer(u64);

const SIGN: u64 = 1 << 63;

impl Answer {
    fn new(value: f64) -> Self {
        let bits = if value.is_nan() { f64::NAN.abs().to_bits() } else { (value + 0.0).to_bits() };
        Self(if bits & SIGN == 0 { bits | SIGN } else { !bits })
    }

    fn value(self) -> f64 {
        f64::from_bits(if self.0 & SIGN == 0 { !self.0 } else { self.0 & !SIGN })
    }
}

/// Returns runs of entries whose keys begin alike.
fn runs<'a, K: Ord + Clone, P: PartialEq>(
    counts: &'a Counts<K>,
    prefix: impl Fn(&K) -> P + 'a,
) -> impl Iterator<Item = Vec<(&'a K, u64)>> + 'a {
    let mut entries = counts.0.iter().map(|(key, n)| (key, *n)).peekable();
    std::iter::from_fn(move || {
        let first = entries.next()?;
        let here = prefix(first.0);
        let mut run = vec![first];
        while let Some(next) = entries.next_if(|(key, _)| prefix(key) == here) {
            run.push(next);
        }
        Some(run)
    })
}

/// Numbers ids that come in ascending order from 0 on.
#[derive(Default)]
struct Numbering {
    last: Option<u64>,
    n: u32,
}

impl Numbering {
    fn number(&mut self, id: u64) -> u32 {
        if self.last.replace(id).is_some_and(|last| last != id) {
            self.n += 1;
        }
        self.n
    }
}
