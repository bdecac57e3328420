//! Items that were rated alike, merged.
//!
//! Given their parameters, all models here say the same of two items with the same ratings, and add the same to every sum. The
//! models therefore run on *patterns* and count how many items have each; what they find is that of the items one by one, but for
//! the rounding of sums.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use super::{Posterior, Ratings};

/// Ratings of patterns, as if each were one item, and how many items have each pattern.
#[derive(Clone, Debug)]
pub(super) struct Merged {
    /// The patterns' ratings, each pattern's sorted by use. Raters, categories and uses are those of the items' ratings.
    pub(super) ratings: Ratings,
    /// Items of each pattern.
    pub(super) n_items: Vec<f64>,
    /// Each item's pattern.
    pattern_of: Vec<u32>,
    /// Ratings of all items.
    pub(super) n_ratings: usize,
}

impl Merged {
    /// Merges items; patterns are in the order of their first items.
    pub(super) fn new(items: &Ratings) -> Self {
        // The map is only asked, never listed.
        let mut ids: HashMap<Vec<u32>, u32, RandomState> = HashMap::default();
        let (mut n_items, mut starts) = (Vec::new(), vec![0]);
        let (mut raters, mut categories, mut uses) = (Vec::new(), Vec::new(), Vec::new());
        let mut pattern_of = Vec::with_capacity(items.n_items);
        let mut rater_of_use = vec![0; items.use_categories.len()];
        for (rater, bounds) in (0_u32..).zip(items.use_starts.windows(2)) {
            rater_of_use[bounds[0]..bounds[1]].fill(rater);
        }
        let mut key = Vec::new();
        for bounds in items.starts.windows(2) {
            key.clear();
            key.extend_from_slice(&items.uses[bounds[0]..bounds[1]]);
            key.sort_unstable();
            let pattern = if let Some(&pattern) = ids.get(key.as_slice()) {
                pattern
            } else {
                let pattern = u32::try_from(n_items.len()).expect("items are numbered by u32");
                ids.insert(key.clone(), pattern);
                for &use_id in &key {
                    raters.push(rater_of_use[use_id as usize]);
                    categories.push(items.use_categories[use_id as usize]);
                    uses.push(use_id);
                }
                starts.push(uses.len());
                n_items.push(0.0);
                pattern
            };
            n_items[pattern as usize] += 1.0;
            pattern_of.push(pattern);
        }
        let ratings = Ratings {
            n_items: n_items.len(),
            n_raters: items.n_raters,
            n_categories: items.n_categories,
            starts,
            raters,
            categories,
            uses,
            use_starts: items.use_starts.clone(),
            use_categories: items.use_categories.clone(),
        };
        Self { ratings, n_items, pattern_of, n_ratings: items.n_ratings() }
    }

    /// Returns what is true of each item, from what is true of its pattern.
    pub(super) fn of_items<T: Clone>(&self, of_patterns: &[T]) -> Vec<T> {
        self.pattern_of.iter().map(|&pattern| of_patterns[pattern as usize].clone()).collect()
    }

    /// Returns the items' probabilities from the patterns'.
    pub(super) fn posterior_of_items(&self, of_patterns: &Posterior) -> Posterior {
        let mut shares = Vec::with_capacity(self.pattern_of.len() * of_patterns.n_categories);
        for &pattern in &self.pattern_of {
            shares.extend_from_slice(of_patterns.of_item(pattern as usize));
        }
        Posterior { n_categories: of_patterns.n_categories, shares, is_rated: self.of_items(&of_patterns.is_rated) }
    }

    /// Returns each use's number of ratings.
    pub(super) fn n_by_use(&self) -> Vec<f64> {
        let mut counts = vec![0.0; self.ratings.use_categories.len()];
        for (bounds, n) in self.ratings.starts.windows(2).zip(&self.n_items) {
            for &use_id in &self.ratings.uses[bounds[0]..bounds[1]] {
                counts[use_id as usize] += n;
            }
        }
        counts
    }

    /// Returns the mean over rated items of their probabilities, from the patterns'.
    pub(super) fn mean(&self, of_patterns: &Posterior) -> Vec<f64> {
        let mut mean = vec![0.0; of_patterns.n_categories];
        let mut n_rated = 0.0;
        for (pattern_idx, n) in self.n_items.iter().enumerate().filter(|(idx, _)| of_patterns.is_rated[*idx]) {
            n_rated += n;
            for (sum, share) in mean.iter_mut().zip(of_patterns.of_item(pattern_idx)) {
                *sum += n * share;
            }
        }
        for sum in &mut mean {
            *sum /= n_rated;
        }
        mean
    }
}
