//! Dawid and Skene's model: each rater has a table of how often it gives each category when another is true, estimated
//! together with the items' categories; and the one-coin model, in which a rater has an accuracy only.
//!
//! Given an item's category, ratings are independent. The likelihood is climbed by EM from the majority's shares. It has other
//! peaks: where most raters are wrong, the highest may have categories exchanged, and the start decides which is found.
//!
//! Source: Dawid & Skene 1979, *Applied Statistics* 28, equations 2.3 to 2.5; Zhang, Chen, Zhou & Jordan 2016 for one coin. Tests
//! agree with the paper's anaesthetists, and with crowd-kit 1.4.2 to 1e-9 after the same number of iterations. crowd-kit stops
//! by a bound that counts the class prior once a rating, which may stop it early; here it is the log-likelihood.

use super::patterns::Merged;
use super::{EmConfig, Posterior, Ratings, majority, normalise_logs};

/// A probability of something that was seen is not below this, before it is normalised: EM cannot leave a 0. As in crowd-kit.
const FLOOR: f64 = 1e-10;

/// How to fit [`dawid_skene`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DawidSkeneConfig {
    /// When to stop.
    pub em: EmConfig,
    /// Added to each rater's expected count of each pair of categories, true and given. 0 (as is what is not positive) gives the
    /// maximum of the likelihood, as in the paper; .01 keeps a rater with few ratings from being certain of anything.
    pub pseudo_count: f64,
}

impl Default for DawidSkeneConfig {
    /// The paper's: no pseudo-count.
    fn default() -> Self {
        Self { em: EmConfig::default(), pseudo_count: 0.0 }
    }
}

/// What [`dawid_skene`] found.
#[derive(Clone, Debug, PartialEq)]
pub struct DawidSkene {
    /// Each item's probabilities of the categories. Those of an item without ratings are the class prior.
    pub posterior: Posterior,
    /// Each category's share of the rated items; 0 for one that nobody gave.
    pub prior: Vec<f64>,
    /// For each iteration, the log-likelihood (in nats) of the parameters that it started from. Without a pseudo-count it never falls
    /// but by rounding and by the floor of 1e-10.
    pub log_likelihood: Vec<f64>,
    /// Whether it converged before the last iteration allowed.
    pub converged: bool,
    tables: Tables,
}

impl DawidSkene {
    /// Returns how many iterations were made.
    #[must_use]
    pub fn n_iterations(&self) -> usize {
        self.log_likelihood.len()
    }

    /// Returns a rater's probabilities of giving each category, categories (true) × categories (given), row-major; rows sum to 1.
    ///
    /// A row whose [`Self::expected_items`] is near 0 says nothing of the rater. Undefined (`None`): no such rater, or one
    /// without ratings.
    #[must_use]
    pub fn confusion(&self, rater_idx: usize) -> Option<Vec<f64>> {
        self.tables.confusion(rater_idx)
    }

    /// Returns, for each category, how many of a rater's ratings are expected to be of items of that category.
    ///
    /// Undefined (`None`): no such rater, or one without ratings.
    #[must_use]
    pub fn expected_items(&self, rater_idx: usize) -> Option<&[f64]> {
        self.tables.uses_of(rater_idx)?;
        let n_categories = self.tables.n_categories;
        Some(&self.tables.support[rater_idx * n_categories..(rater_idx + 1) * n_categories])
    }

    /// Returns the probability that a rater is right about an item drawn from the class prior, 0..=1.
    ///
    /// Undefined (`None`): no such rater, or one without ratings.
    #[must_use]
    pub fn accuracy(&self, rater_idx: usize) -> Option<f64> {
        let confusion = self.confusion(rater_idx)?;
        let diagonal = confusion.iter().step_by(self.tables.n_categories + 1);
        Some(self.prior.iter().zip(diagonal).map(|(share, right)| share * right).sum())
    }
}

/// The tables of errors. Only categories that a rater gave have a row, so that there are no more rows than ratings.
#[derive(Clone, Debug, PartialEq)]
struct Tables {
    n_categories: usize,
    pseudo_count: f64,
    /// Where each rater's uses begin, and the end; each use's category. See [`Ratings`].
    use_starts: Vec<usize>,
    use_categories: Vec<u32>,
    /// Uses × true categories: the probability of the use.
    probability: Vec<f64>,
    /// Raters × true categories: expected ratings.
    support: Vec<f64>,
    /// The log-density of the pseudo-counts, but for a constant.
    penalty: f64,
}

impl Tables {
    fn new(ratings: &Ratings, pseudo_count: f64) -> Self {
        let n_categories = ratings.n_categories;
        Self {
            n_categories,
            pseudo_count: if pseudo_count > 0.0 && pseudo_count.is_finite() { pseudo_count } else { 0.0 },
            use_starts: ratings.use_starts.clone(),
            use_categories: ratings.use_categories.clone(),
            probability: vec![0.0; ratings.use_categories.len() * n_categories],
            support: vec![0.0; ratings.n_raters * n_categories],
            penalty: 0.0,
        }
    }

    /// Returns where a rater's uses are, if it has any.
    fn uses_of(&self, rater_idx: usize) -> Option<std::ops::Range<usize>> {
        let uses = *self.use_starts.get(rater_idx)?..*self.use_starts.get(rater_idx + 1)?;
        (!uses.is_empty()).then_some(uses)
    }

    fn confusion(&self, rater_idx: usize) -> Option<Vec<f64>> {
        let uses = self.uses_of(rater_idx)?;
        let k = self.n_categories;
        let mut confusion = vec![0.0; k * k];
        for truth in 0..k {
            let row = &mut confusion[truth * k..(truth + 1) * k];
            row.fill(self.unused(rater_idx, truth));
            for use_idx in uses.clone() {
                row[self.use_categories[use_idx] as usize] = self.probability[use_idx * k + truth];
            }
        }
        Some(confusion)
    }

    /// Returns the probability of a category that a rater never gave.
    fn unused(&self, rater_idx: usize, truth: usize) -> f64 {
        let k = self.n_categories;
        self.pseudo_count / (self.support[rater_idx * k + truth] + k as f64 * self.pseudo_count).max(FLOOR)
    }

    /// Sets the tables to the most likely ones, given the patterns' probabilities.
    fn maximise(&mut self, merged: &Merged, posterior: &Posterior) {
        let (k, ratings) = (self.n_categories, &merged.ratings);
        self.probability.fill(0.0);
        let mut counted = vec![0.0; k];
        for (pattern_idx, n) in merged.n_items.iter().enumerate() {
            for (count, share) in counted.iter_mut().zip(posterior.of_item(pattern_idx)) {
                *count = n * share;
            }
            for use_id in &ratings.uses[ratings.starts[pattern_idx]..ratings.starts[pattern_idx + 1]] {
                let use_idx = *use_id as usize;
                for (sum, count) in self.probability[use_idx * k..(use_idx + 1) * k].iter_mut().zip(&counted) {
                    *sum += count;
                }
            }
        }
        self.support.fill(0.0);
        self.penalty = 0.0;
        let mut totals = vec![0.0; k];
        for rater_idx in 0..ratings.n_raters {
            let uses = self.use_starts[rater_idx]..self.use_starts[rater_idx + 1];
            let support = &mut self.support[rater_idx * k..(rater_idx + 1) * k];
            totals.fill((k - uses.len()) as f64 * self.pseudo_count);
            let counts = &mut self.probability[uses.start * k..uses.end * k];
            for row in counts.chunks_exact_mut(k) {
                for ((count, sum), total) in row.iter_mut().zip(&mut *support).zip(&mut totals) {
                    *sum += *count;
                    *count = (*count + self.pseudo_count).max(FLOOR);
                    *total += *count;
                }
            }
            for row in counts.chunks_exact_mut(k) {
                for (count, total) in row.iter_mut().zip(&totals) {
                    *count /= total;
                }
            }
            if self.pseudo_count > 0.0 && !uses.is_empty() {
                let of_used: f64 = self.probability[uses.start * k..uses.end * k].iter().map(|p| p.ln()).sum();
                let of_unused: f64 = totals.iter().map(|total| (self.pseudo_count / total).ln()).sum();
                self.penalty += self.pseudo_count * (of_used + (k - uses.len()) as f64 * of_unused);
            }
        }
    }

    /// Sets the patterns' probabilities to those that follow from the tables; returns the log-likelihood.
    fn expect(&self, merged: &Merged, prior: &[f64], posterior: &mut Posterior) -> f64 {
        let (k, ratings) = (self.n_categories, &merged.ratings);
        let log_prior: Vec<f64> = prior.iter().map(|share| share.ln()).collect();
        let logs: Vec<f64> = self.probability.iter().map(|probability| probability.ln()).collect();
        let mut log_likelihood = 0.0;
        for (pattern_idx, n) in merged.n_items.iter().enumerate() {
            let row = posterior.of_item_mut(pattern_idx);
            row.copy_from_slice(&log_prior);
            for use_id in &ratings.uses[ratings.starts[pattern_idx]..ratings.starts[pattern_idx + 1]] {
                let use_idx = *use_id as usize;
                for (sum, log) in row.iter_mut().zip(&logs[use_idx * k..(use_idx + 1) * k]) {
                    *sum += log;
                }
            }
            let log_sum = normalise_logs(row);
            if ratings.is_rated(pattern_idx) {
                log_likelihood += n * log_sum;
            }
        }
        log_likelihood
    }
}

/// Returns the class prior: the items' mean, with a floor for categories that somebody gave.
fn class_prior(merged: &Merged, posterior: &Posterior, is_used: &[bool]) -> Vec<f64> {
    let mut prior = merged.mean(posterior);
    for (share, is_used) in prior.iter_mut().zip(is_used) {
        *share = if *is_used { share.max(FLOOR) } else { 0.0 };
    }
    prior
}

/// Fits Dawid and Skene's model by EM, from the majority's shares.
///
/// Always defined. A rater that gave one rating gets a table that is certain of it. A category that nobody gave has a prior and
/// posterior of 0. Where all raters agree the posterior is certain to about 1e-10. Where raters have few ratings of a category,
/// the likelihood may be highest where their tables are all certain, and posteriors are then too near 0 and 1.
///
/// Cost of an iteration: ratings × categories.
#[must_use]
pub fn dawid_skene(ratings: &Ratings, config: DawidSkeneConfig) -> DawidSkene {
    let merged = Merged::new(ratings);
    let is_used = ratings.used_categories();
    let mut posterior = majority(&merged.ratings);
    let mut prior = class_prior(&merged, &posterior, &is_used);
    let mut tables = Tables::new(ratings, config.pseudo_count);
    tables.maximise(&merged, &posterior);
    let (mut log_likelihood, mut climbed) = (Vec::new(), Vec::new());
    let mut converged = false;
    for _ in 0..config.em.max_iterations.max(1) {
        log_likelihood.push(tables.expect(&merged, &prior, &mut posterior));
        climbed.push(log_likelihood[log_likelihood.len() - 1] + tables.penalty);
        prior = class_prior(&merged, &posterior, &is_used);
        tables.maximise(&merged, &posterior);
        converged = config.em.has_converged(&climbed, ratings.n_ratings());
        if converged {
            break;
        }
    }
    DawidSkene { posterior: merged.posterior_of_items(&posterior), prior, log_likelihood, converged, tables }
}

/// What [`one_coin`] found.
#[derive(Clone, Debug, PartialEq)]
pub struct OneCoin {
    /// Each item's probabilities of the categories. Those of an item without ratings are the class prior.
    pub posterior: Posterior,
    /// Each category's share of the rated items; 0 for one that nobody gave.
    pub prior: Vec<f64>,
    /// Each rater's probability of being right, 0..=1; `None` without ratings.
    pub accuracy: Vec<Option<f64>>,
    /// For each iteration, the log-likelihood (in nats) of the parameters that it started from. It never falls but by rounding and by
    /// the floor of 1e-10.
    pub log_likelihood: Vec<f64>,
    /// Whether it converged before the last iteration allowed.
    pub converged: bool,
}

/// Fits the model in which a rater is right with one probability, whatever the category, and else gives any other category alike;
/// by EM, from the majority's shares.
///
/// Always defined. For raters with few ratings it is steadier than [`dawid_skene`], and wrong for raters that lean to a category.
/// A category that nobody gave has a prior and posterior of 0, but counts among the wrong ones that could be given.
///
/// Cost of an iteration: ratings + items × categories.
#[must_use]
pub fn one_coin(ratings: &Ratings, config: EmConfig) -> OneCoin {
    let merged = Merged::new(ratings);
    let is_used = ratings.used_categories();
    let n_wrong = (ratings.n_categories - 1) as f64;
    let counts = ratings.n_by_rater();
    let mut posterior = majority(&merged.ratings);
    let mut prior = class_prior(&merged, &posterior, &is_used);
    let mut accuracy = accuracies(&merged, &posterior, &counts);
    let mut log_likelihood = Vec::new();
    let mut converged = false;
    for _ in 0..config.max_iterations.max(1) {
        let log_prior: Vec<f64> = prior.iter().map(|share| share.ln()).collect();
        let logs: Vec<(f64, f64)> = accuracy
            .iter()
            .map(|right| {
                let wrong = ((1.0 - right) / n_wrong).clamp(FLOOR, 1.0 - FLOOR);
                (wrong.ln(), right.clamp(FLOOR, 1.0 - FLOOR).ln() - wrong.ln())
            })
            .collect();
        let mut sum = 0.0;
        let patterns = &merged.ratings;
        for (pattern_idx, n) in merged.n_items.iter().enumerate() {
            let row = posterior.of_item_mut(pattern_idx);
            row.copy_from_slice(&log_prior);
            let mut all_wrong = 0.0;
            for rating_idx in patterns.starts[pattern_idx]..patterns.starts[pattern_idx + 1] {
                let (wrong, gain) = logs[patterns.raters[rating_idx] as usize];
                all_wrong += wrong;
                row[patterns.categories[rating_idx] as usize] += gain;
            }
            let log_sum = normalise_logs(row);
            if patterns.is_rated(pattern_idx) {
                sum += n * (all_wrong + log_sum);
            }
        }
        log_likelihood.push(sum);
        prior = class_prior(&merged, &posterior, &is_used);
        accuracy = accuracies(&merged, &posterior, &counts);
        converged = config.has_converged(&log_likelihood, ratings.n_ratings());
        if converged {
            break;
        }
    }
    let accuracy = accuracy.iter().zip(&counts).map(|(right, &n)| (n > 0).then_some(*right)).collect();
    OneCoin { posterior: merged.posterior_of_items(&posterior), prior, accuracy, log_likelihood, converged }
}

/// Returns each rater's mean probability of being right; 0 without ratings.
fn accuracies(merged: &Merged, posterior: &Posterior, counts: &[usize]) -> Vec<f64> {
    let ratings = &merged.ratings;
    let mut right = vec![0.0; ratings.n_raters];
    for (pattern_idx, n) in merged.n_items.iter().enumerate() {
        let shares = posterior.of_item(pattern_idx);
        for rating_idx in ratings.starts[pattern_idx]..ratings.starts[pattern_idx + 1] {
            right[ratings.raters[rating_idx] as usize] += n * shares[ratings.categories[rating_idx] as usize];
        }
    }
    right.iter().zip(counts).map(|(sum, &n)| sum / n.max(1) as f64).collect()
}
