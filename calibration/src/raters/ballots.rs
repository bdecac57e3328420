//! What raters said of items, where a rater's own answers may tie: such a ballot counts in equal parts.

use std::collections::BTreeMap;

use super::Ratings;

/// Ballots, one a rater and item, in order of items.
pub(crate) struct Ballots {
    n_categories: usize,
    pub(super) starts: Vec<usize>,
    pub(super) raters: Vec<u32>,
    /// A category, or, from `n_categories` on, a set of tied ones.
    pub(super) said: Vec<u32>,
    /// What each number of `said` stands for.
    stands_for: Vec<Vec<u32>>,
    sets: BTreeMap<Vec<u32>, u32>,
}

impl Ballots {
    /// Returns no ballots of no items.
    pub(crate) fn new(n_categories: usize) -> Self {
        let stands_for = (0..).take(n_categories).map(|category| vec![category]).collect();
        let (raters, said) = (Vec::new(), Vec::new());
        Self { n_categories, starts: vec![0], raters, said, stands_for, sets: BTreeMap::new() }
    }

    /// Returns ratings as ballots for one category each.
    pub(super) fn of(ratings: &Ratings) -> Self {
        Self {
            starts: ratings.starts.clone(),
            raters: ratings.raters.clone(),
            said: ratings.categories.clone(),
            ..Self::new(ratings.n_categories)
        }
    }

    /// Adds a ballot for these categories, ascending, to the item that [`Self::end_item`] will end.
    pub(crate) fn push(&mut self, rater: u32, categories: &[u32]) {
        let said = match categories {
            [] => return,
            [category] => *category,
            tied => *self.sets.entry(tied.to_vec()).or_insert_with(|| {
                self.stands_for.push(tied.to_vec());
                u32::try_from(self.stands_for.len() - 1)
                    .expect("sets are no more than ballots, which are numbered by u32")
            }),
        };
        self.raters.push(rater);
        self.said.push(said);
    }

    /// Ends an item.
    pub(crate) fn end_item(&mut self) {
        self.starts.push(self.said.len());
    }

    /// Returns how many ballots there are.
    pub(crate) fn len(&self) -> usize {
        self.said.len()
    }

    /// Returns how many ballots are for several categories.
    pub(crate) fn n_tied(&self) -> usize {
        self.said.iter().filter(|said| **said as usize >= self.n_categories).count()
    }

    /// Returns how many ballots an item has.
    pub(crate) fn n_of_item(&self, item_idx: usize) -> usize {
        self.starts[item_idx + 1] - self.starts[item_idx]
    }

    /// Returns an item's ballots, as rater and categories.
    pub(crate) fn of_item(&self, item_idx: usize) -> impl Iterator<Item = (u32, &[u32])> + '_ {
        let of_item = self.starts[item_idx]..self.starts[item_idx + 1];
        of_item.map(|idx| (self.raters[idx], self.stands_for[self.said[idx] as usize].as_slice()))
    }

    /// Returns each of so many raters' number of ballots.
    pub(crate) fn n_by_rater(&self, n_raters: usize) -> Vec<usize> {
        let mut counts = vec![0; n_raters];
        for &rater in &self.raters {
            counts[rater as usize] += 1;
        }
        counts
    }

    /// Counts these of an item's ballots into `votes`, one a category; `said` may be any shuffle of what was said.
    pub(super) fn count(&self, said: &[u32], item_idx: usize, votes: &mut [f64]) {
        votes.fill(0.0);
        for &said in &said[self.starts[item_idx]..self.starts[item_idx + 1]] {
            add(votes, &self.stands_for[said as usize], 1.0);
        }
    }

    /// Counts an item's ballots into `votes`, one a category.
    pub(crate) fn votes(&self, item_idx: usize, votes: &mut [f64]) {
        self.count(&self.said, item_idx, votes);
    }

    /// Returns how many categories there are.
    pub(crate) fn n_categories(&self) -> usize {
        self.n_categories
    }
}

/// Adds a ballot of this weight to `votes`, in equal parts for each of its categories.
pub(crate) fn add(votes: &mut [f64], categories: &[u32], weight: f64) {
    for category in categories {
        votes[*category as usize] += weight / categories.len() as f64;
    }
}

/// Returns the part of a ballot that is for this category.
pub(crate) fn part(categories: &[u32], category: u32) -> f64 {
    if categories.contains(&category) { 1.0 / categories.len() as f64 } else { 0.0 }
}
