//! Models of raters who label the same items with categories: who is right how often, and what the items' labels probably
//! are, with or without known labels.
//!
//! [`dawid_skene`] gives each rater a table of errors, [`mace`] a share of ratings given without looking, [`glad`] an ability
//! against items of unequal difficulty; [`effective`] says how many independent raters a panel is worth. [`majority`] and
//! [`weighted_majority`] are what they have to beat. [`correlated`] finds errors that go together, and [`alternative`] asks whether a judge may
//! take a person's place.
//!
//! Everything starts from [`Ratings`], a sparse list that is checked once: any rating may be missing. Nothing here reads names,
//! measures against a gate or resamples; the models assume that, given an item's category, raters err independently, and do
//! not notice when they copy each other (`docs/explanation/raters.md`).
//!
//! No model tells items apart that were rated alike: they are one *pattern*, and iterations cost what patterns cost. Three
//! raters and two categories make 8 patterns, of a million items too. An iteration costs ratings + items × categories of the
//! patterns, and Dawid and Skene's ratings × categories.

pub mod alternative;
pub(crate) mod ballots;
pub mod correlated;
pub mod dawid_skene;
pub mod effective;
pub mod glad;
mod logistic;
pub mod mace;
mod patterns;

use thiserror::Error;

/// Categories whose probabilities differ by less than this tie: it is beyond what the order of summation can change.
const TIE: f64 = 1e-9;

/// Most items × categories, and most ratings × categories, that are held: a table of so many numbers takes 4 GiB.
const MOST_CELLS: usize = 1 << 29;

/// One rating: a rater gave an item a category. All three are positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rating {
    /// The item, in 0..`n_items`.
    pub item: u32,
    /// The rater, in 0..`n_raters`.
    pub rater: u32,
    /// The category, in 0..`n_categories`.
    pub category: u32,
}

/// Why a list of ratings is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RatingsError {
    /// The list is empty.
    #[error("there are no ratings")]
    NoRatings,
    /// Raters that can only say one thing cannot be told apart.
    #[error("ratings need two or more categories, not {n_categories}")]
    TooFewCategories {
        /// As given.
        n_categories: usize,
    },
    /// A position is not below its count.
    #[error("rating {rating_idx} names {what} {position}, but there are {count}")]
    OutOfRange {
        /// The rating, from 0.
        rating_idx: usize,
        /// `item`, `rater` or `category`.
        what: &'static str,
        /// The position it names.
        position: u32,
        /// As given.
        count: usize,
    },
    /// The tables of the models would not fit into memory.
    #[error("{n_items} items and {n_ratings} ratings of {n_categories} categories are too many")]
    TooLarge {
        /// As given.
        n_items: usize,
        /// As given.
        n_ratings: usize,
        /// As given.
        n_categories: usize,
    },
}

/// Ratings whose positions are in range, sorted by item; at least one, of at least two categories.
///
/// A rater may rate an item more than once, alike or not: each rating counts as one more draw of that rater, given the item's
/// category. Repeats that are copies, as of a cache, should be left out before. Items and raters may have no rating.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ratings {
    n_items: usize,
    n_raters: usize,
    n_categories: usize,
    /// Where each item's ratings begin, and the end.
    starts: Vec<usize>,
    /// Each rating's rater and category, by item, in the order given.
    raters: Vec<u32>,
    categories: Vec<u32>,
    /// Each rating's *use*: a category that a rater used. Uses are sorted by rater, then category.
    uses: Vec<u32>,
    /// Where each rater's uses begin, and the end.
    use_starts: Vec<usize>,
    /// Each use's category.
    use_categories: Vec<u32>,
}

impl Ratings {
    /// Checks and sorts `ratings`.
    ///
    /// Counts may exceed what is used: `n_categories` should be all that could be given, since [`mace`], [`glad`] and the one-coin
    /// model ask how likely a wrong category is by chance.
    ///
    /// # Errors
    /// [`RatingsError`]: no ratings, fewer than two categories, a position out of range, or too many cells.
    ///
    /// Cost: n log n.
    pub fn new(ratings: &[Rating], n_items: usize, n_raters: usize, n_categories: usize) -> Result<Self, RatingsError> {
        if ratings.is_empty() {
            return Err(RatingsError::NoRatings);
        }
        if n_categories < 2 {
            return Err(RatingsError::TooFewCategories { n_categories });
        }
        let fits = |rows: usize| rows.checked_mul(n_categories).is_some_and(|cells| cells <= MOST_CELLS);
        if !fits(n_items) || !fits(n_raters) || !fits(ratings.len()) {
            return Err(RatingsError::TooLarge { n_items, n_ratings: ratings.len(), n_categories });
        }
        let mut starts = vec![0; n_items + 1];
        let mut keys = Vec::with_capacity(ratings.len());
        let key = |rating: &Rating| u64::from(rating.rater) << 32 | u64::from(rating.category);
        for (rating_idx, rating) in ratings.iter().enumerate() {
            let places = [
                ("item", rating.item, n_items),
                ("rater", rating.rater, n_raters),
                ("category", rating.category, n_categories),
            ];
            for (what, position, count) in places {
                if position as usize >= count {
                    return Err(RatingsError::OutOfRange { rating_idx, what, position, count });
                }
            }
            starts[rating.item as usize + 1] += 1;
            keys.push(key(rating));
        }
        for item_idx in 0..n_items {
            starts[item_idx + 1] += starts[item_idx];
        }
        keys.sort_unstable();
        keys.dedup();
        let mut use_starts = vec![0; n_raters + 1];
        let mut use_categories = Vec::with_capacity(keys.len());
        for key in &keys {
            use_starts[(key >> 32) as usize + 1] += 1;
            #[expect(clippy::cast_possible_truncation, reason = "the lower half is the category")]
            use_categories.push(*key as u32);
        }
        for rater_idx in 0..n_raters {
            use_starts[rater_idx + 1] += use_starts[rater_idx];
        }
        let mut next = starts.clone();
        let mut sorted = Self {
            n_items,
            n_raters,
            n_categories,
            starts,
            raters: vec![0; ratings.len()],
            categories: vec![0; ratings.len()],
            uses: vec![0; ratings.len()],
            use_starts,
            use_categories,
        };
        for rating in ratings {
            let place = &mut next[rating.item as usize];
            sorted.raters[*place] = rating.rater;
            sorted.categories[*place] = rating.category;
            // Among the rater's own uses, which are few.
            let own = sorted.use_starts[rating.rater as usize]..sorted.use_starts[rating.rater as usize + 1];
            let before = keys[own.clone()].partition_point(|other| *other < key(rating));
            sorted.uses[*place] =
                u32::try_from(own.start + before).expect("uses are at most cells, of which 2^29 are held");
            *place += 1;
        }
        Ok(sorted)
    }

    /// Returns how many items there are, with ratings or without.
    #[must_use]
    pub fn n_items(&self) -> usize {
        self.n_items
    }

    /// Returns how many raters there are, with ratings or without.
    #[must_use]
    pub fn n_raters(&self) -> usize {
        self.n_raters
    }

    /// Returns how many categories could be given.
    #[must_use]
    pub fn n_categories(&self) -> usize {
        self.n_categories
    }

    /// Returns how many ratings there are, repeats included.
    #[must_use]
    pub fn n_ratings(&self) -> usize {
        self.raters.len()
    }

    /// Returns each rater's number of ratings. What a model says of a rater with few is a guess.
    #[must_use]
    pub fn n_by_rater(&self) -> Vec<usize> {
        let mut counts = vec![0; self.n_raters];
        for &rater in &self.raters {
            counts[rater as usize] += 1;
        }
        counts
    }

    /// Returns how many ratings an item has.
    ///
    /// # Panics
    /// Panics when there is no such item.
    #[must_use]
    pub fn n_of_item(&self, item_idx: usize) -> usize {
        self.starts[item_idx + 1] - self.starts[item_idx]
    }

    /// Returns an item's ratings, as rater and category, in the order given.
    ///
    /// # Panics
    /// Panics when there is no such item.
    pub fn of_item(&self, item_idx: usize) -> impl Iterator<Item = (u32, u32)> + '_ {
        let of_item = self.starts[item_idx]..self.starts[item_idx + 1];
        of_item.map(|rating_idx| (self.raters[rating_idx], self.categories[rating_idx]))
    }

    /// Returns whether an item has a rating.
    fn is_rated(&self, item_idx: usize) -> bool {
        self.starts[item_idx] < self.starts[item_idx + 1]
    }

    /// Returns which categories anyone gave.
    fn used_categories(&self) -> Vec<bool> {
        let mut used = vec![false; self.n_categories];
        for &category in &self.use_categories {
            used[category as usize] = true;
        }
        used
    }
}

/// When an iteration ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EmConfig {
    /// Iterations after which it ends in any case; 0 counts as 1.
    pub max_iterations: u32,
    /// It has converged when an iteration gains no more than this in what it climbs (a log-likelihood, in nats), per rating. With 0
    /// it goes on until nothing is gained, with less than 0 to the last iteration.
    pub tolerance: f64,
}

impl Default for EmConfig {
    /// 100 iterations, 1e-5.
    fn default() -> Self {
        Self { max_iterations: 100, tolerance: 1e-5 }
    }
}

impl EmConfig {
    /// Returns whether the last step of `trace` gained too little to go on.
    fn has_converged(&self, trace: &[f64], n_ratings: usize) -> bool {
        match trace {
            [.., before, last] => last - before <= self.tolerance * n_ratings as f64,
            _ => false,
        }
    }
}

/// Each item's probabilities of the categories.
#[derive(Clone, Debug, PartialEq)]
pub struct Posterior {
    n_categories: usize,
    /// Items × categories, row-major.
    shares: Vec<f64>,
    is_rated: Vec<bool>,
}

impl Posterior {
    fn new(ratings: &Ratings) -> Self {
        Self {
            n_categories: ratings.n_categories,
            shares: vec![0.0; ratings.n_items * ratings.n_categories],
            is_rated: (0..ratings.n_items).map(|item_idx| ratings.is_rated(item_idx)).collect(),
        }
    }

    /// Returns an item's probabilities, one a category, that sum to 1. For an item without ratings they are what the model
    /// says of any item.
    ///
    /// # Panics
    /// Panics when there is no such item.
    #[must_use]
    pub fn of_item(&self, item_idx: usize) -> &[f64] {
        &self.shares[item_idx * self.n_categories..(item_idx + 1) * self.n_categories]
    }

    fn of_item_mut(&mut self, item_idx: usize) -> &mut [f64] {
        &mut self.shares[item_idx * self.n_categories..(item_idx + 1) * self.n_categories]
    }

    /// Returns how many items there are.
    #[must_use]
    pub fn n_items(&self) -> usize {
        self.is_rated.len()
    }

    /// Returns how many categories there are.
    #[must_use]
    pub fn n_categories(&self) -> usize {
        self.n_categories
    }

    /// Returns an item's most probable category. `None` for an item without ratings, and where two or more are within 1e-9 of
    /// the greatest: a rule that chose one of them would favour a category for its place.
    ///
    /// # Panics
    /// Panics when there is no such item.
    #[must_use]
    pub fn label(&self, item_idx: usize) -> Option<u32> {
        let row = self.of_item(item_idx);
        let greatest = row.iter().copied().fold(0.0, f64::max);
        let mut near = (0..).zip(row).filter(|&(_, &share)| share > greatest - TIE).map(|(category, _)| category);
        let first = near.next();
        first.filter(|_| self.is_rated[item_idx] && near.next().is_none())
    }

    /// Returns each item's [`Self::label`].
    #[must_use]
    pub fn labels(&self) -> Vec<Option<u32>> {
        (0..self.n_items()).map(|item_idx| self.label(item_idx)).collect()
    }
}

/// Returns each item's shares of the ratings it has; all categories alike for an item without.
///
/// [`Posterior::label`] is then the plurality, `None` where it ties. Tests agree with crowd-kit 1.4.2.
#[must_use]
pub fn majority(ratings: &Ratings) -> Posterior {
    voted(ratings, None)
}

/// Returns each item's shares of the weight of its ratings, a rating weighing what its rater does; all categories alike for an
/// item without weight.
///
/// `weights` has one for each rater. With log((K − 1)a/(1 − a)) for a rater that is right with probability a and else gives any of
/// the K − 1 other categories, the most weighty category is the most probable one (Nitzan & Paroush 1982), as long as no rater does
/// worse than chance; see [`log_odds_weight`].
///
/// Undefined (`None`): not one weight a rater; a weight that is negative or not finite. Tests agree with crowd-kit 1.4.2.
#[must_use]
pub fn weighted_majority(ratings: &Ratings, weights: &[f64]) -> Option<Posterior> {
    let is_usable = weights.len() == ratings.n_raters && weights.iter().all(|w| *w >= 0.0 && w.is_finite());
    is_usable.then(|| voted(ratings, Some(weights)))
}

/// Returns the best weight of a vote: log((K − 1)a/(1 − a)) for accuracy `a`, 0..=1, among K categories.
///
/// The accuracy is kept within 1e-6..=1 − 1e-6, since no record is long enough to show more, and a rater that does worse than
/// chance weighs 0. Undefined (`None`): an accuracy outside 0..=1; fewer than two categories. Source: Nitzan & Paroush 1982.
#[must_use]
pub fn log_odds_weight(accuracy: f64, n_categories: usize) -> Option<f64> {
    let is_usable = (0.0..=1.0).contains(&accuracy) && n_categories >= 2;
    is_usable.then(|| {
        let kept = accuracy.clamp(1e-6, 1.0 - 1e-6);
        ((n_categories - 1) as f64 * kept / (1.0 - kept)).ln().max(0.0)
    })
}

fn voted(ratings: &Ratings, weights: Option<&[f64]>) -> Posterior {
    let mut posterior = Posterior::new(ratings);
    for item_idx in 0..ratings.n_items {
        let row = posterior.of_item_mut(item_idx);
        for rating_idx in ratings.starts[item_idx]..ratings.starts[item_idx + 1] {
            let weight = weights.map_or(1.0, |weights| weights[ratings.raters[rating_idx] as usize]);
            row[ratings.categories[rating_idx] as usize] += weight;
        }
        let total: f64 = row.iter().sum();
        for share in &mut *row {
            *share = if total > 0.0 { *share / total } else { 1.0 / ratings.n_categories as f64 };
        }
    }
    posterior
}

/// Turns log-weights into shares that sum to 1 and returns the log of the weights' sum. Some weight must be above 0.
fn normalise_logs(logs: &mut [f64]) -> f64 {
    let greatest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut sum = 0.0;
    for log in &mut *logs {
        *log = (*log - greatest).exp();
        sum += *log;
    }
    for log in &mut *logs {
        *log /= sum;
    }
    greatest + sum.ln()
}
