//! Raters' categories of items.

use serde::{Deserialize, Serialize};

use super::Counts;
use crate::raters::{Rating, Ratings, RatingsError};

/// Item, rater, category.
type Key = (u64, u64, u32);

/// Which rater gave which item which category, how often. Merges exactly; see the module.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RatingTally(Counts<Key>);

/// Ratings with the numbers that their positions stand for, ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedRatings {
    /// What the models take.
    pub ratings: Ratings,
    /// Each item's number, as given to [`RatingTally::add`].
    pub items: Vec<u64>,
    /// Each rater's number, as given to [`RatingTally::add`].
    pub raters: Vec<u64>,
}

impl RatingTally {
    /// Counts one rating.
    pub fn add(&mut self, item: u64, rater: u64, category: u32) {
        self.0.add((item, rater, category), 1);
    }

    /// Adds another shard's ratings.
    pub fn merge(&mut self, other: Self) {
        self.0.merge(other.0);
    }

    /// Returns how many ratings were counted.
    #[must_use]
    pub fn n_ratings(&self) -> u64 {
        self.0.total()
    }

    /// Returns the ratings, repeats included.
    ///
    /// # Errors
    /// As [`Ratings::new`]: no ratings, fewer than two categories, a category out of range, too many cells.
    pub fn ratings(&self, n_categories: usize) -> Result<NamedRatings, RatingsError> {
        let distinct = |of: fn(&Key) -> u64| {
            let mut ids: Vec<u64> = self.0.0.keys().map(of).collect();
            ids.sort_unstable();
            ids.dedup();
            ids
        };
        let (items, raters) = (distinct(|key| key.0), distinct(|key| key.1));
        let place = |ids: &[u64], id: u64| {
            u32::try_from(ids.partition_point(|other| *other < id)).expect("items and raters are fewer than 2^32")
        };
        let mut list = Vec::new();
        for ((item, rater, category), n) in &self.0.0 {
            let rating = Rating { item: place(&items, *item), rater: place(&raters, *rater), category: *category };
            list.extend((0..*n).map(|_| rating));
        }
        Ok(NamedRatings { ratings: Ratings::new(&list, items.len(), raters.len(), n_categories)?, items, raters })
    }
}
