//! MACE: each rater either knows an item's category and gives it, or does not look and draws a category from habits of its own.
//!
//! A rating by rater j is right with probability θⱼ (its *competence*) and else drawn from ξⱼ (its *strategy*), which may hit the
//! truth by chance. Categories are equally likely a priori. The objective has many peaks: it is climbed from random starts, and
//! the highest end is kept.
//!
//! Source: Hovy, Berg-Kirkpatrick, Vaswani & Hovy 2013, NAACL, section 2. Priors and the range of the random start are those of
//! crowd-kit 1.4.2, with which tests agree on posteriors, competences, strategies and likelihood once both have converged.
//! (crowd-kit starts all its restarts from the same numbers, so that they are one, and mixes up raters or labels that do not first
//! come in sorted order.)

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use statrs::function::gamma::{digamma, ln_gamma};

use super::patterns::Merged;
use super::{EmConfig, Posterior, Ratings, normalise_logs};

/// Both parameters of the beta prior of a competence: most raters know or do not.
const COMPETENCE_PRIOR: f64 = 0.5;

/// The parameter of the Dirichlet prior of a strategy, one a category: habits are near even.
const STRATEGY_PRIOR: f64 = 10.0;

/// Spread over a strategy's categories, and over knowing and not knowing, by [`MaceMethod::SmoothedEm`].
const SMOOTHING: f64 = 0.01;

/// How parameters are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MaceMethod {
    /// Variational Bayes with a Beta(½, ½) prior of each competence and a Dirichlet(10, …) prior of each strategy. The objective
    /// is the evidence's lower bound.
    #[default]
    VariationalBayes,
    /// EM with .01/K added to each expected count. The objective is the log-likelihood plus the log-density of these counts, but for
    /// a constant.
    SmoothedEm,
}

/// How to fit [`mace`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MaceConfig {
    /// When each restart stops.
    pub em: EmConfig,
    /// How parameters are found.
    pub method: MaceMethod,
    /// Random starts; 0 counts as 1.
    pub n_restarts: u32,
    /// The seed; restart i draws from stream i.
    pub seed: u64,
}

impl MaceConfig {
    /// Returns the usual settings with a seed: variational Bayes, 10 restarts, [`EmConfig::default`].
    #[must_use]
    pub fn with_seed(seed: u64) -> Self {
        Self { em: EmConfig::default(), method: MaceMethod::default(), n_restarts: 10, seed }
    }
}

/// What [`mace`] found in the restart with the highest objective, the first of them where they are equal.
#[derive(Clone, Debug, PartialEq)]
pub struct Mace {
    /// Each item's probabilities of the categories; all alike for an item without ratings.
    pub posterior: Posterior,
    /// Each rater's probability of knowing, 0..=1, the mean of its posterior; `None` without ratings. One that is 0 may still be
    /// right by chance.
    pub competence: Vec<Option<f64>>,
    /// Raters × categories, row-major: what a rater gives that does not look; rows sum to 1. Those of raters without ratings are even.
    pub strategy: Vec<f64>,
    /// For each iteration, what is climbed (see [`MaceMethod`]), of the parameters that it started from; it never falls but by
    /// rounding. In nats.
    pub objective: Vec<f64>,
    /// The log-likelihood, in nats, at `competence` and `strategy`.
    pub log_likelihood: f64,
    /// Whether it converged before the last iteration allowed.
    pub converged: bool,
    /// The objective that each restart ended at. Where few come near the highest, more restarts may find a higher one.
    pub restarts: Vec<f64>,
}

/// Fits MACE from random starts, on all threads; the result does not depend on their number.
///
/// Always defined. Where every rater is as likely to know as not, several solutions differ by an exchange of categories; a majority of
/// raters that know, as the strategies' prior expects, decides for the usual one. A rater with one rating has a competence of about
/// what the prior says, ½.
///
/// Cost of an iteration of one restart: ratings + items × categories.
#[must_use]
pub fn mace(ratings: &Ratings, config: MaceConfig) -> Mace {
    let merged = Merged::new(ratings);
    let n_by_use = merged.n_by_use();
    let base = ChaCha8Rng::seed_from_u64(config.seed);
    let fits: Vec<Fit> = (0..config.n_restarts.max(1))
        .into_par_iter()
        .map(|restart_idx| {
            let mut rng = base.clone();
            rng.set_stream(u64::from(restart_idx));
            Fit::new(&merged.ratings, config.method, &mut rng).climb(&merged, &n_by_use, config.em)
        })
        .collect();
    let restarts: Vec<f64> = fits.iter().map(Fit::height).collect();
    let best = fits.into_iter().reduce(|best, fit| if fit.height() > best.height() { fit } else { best });
    let best = best.expect("there is a restart");
    best.finish(&merged, &n_by_use, ratings.n_by_rater(), restarts)
}

/// Parameters of all raters; those of variational Bayes sum to less than 1.
#[derive(Clone, Debug, Default)]
struct Parameters {
    /// Raters: the probability of not knowing, and of knowing.
    guesses: Vec<f64>,
    knows: Vec<f64>,
    /// Uses (see [`Ratings`]): the probability of a category, of a rater that does not know.
    strategy: Vec<f64>,
}

/// One restart.
#[derive(Clone, Debug)]
struct Fit {
    method: MaceMethod,
    parameters: Parameters,
    posterior: Posterior,
    /// Expected ratings: not known, by use; known, by rater.
    guessed: Vec<f64>,
    known: Vec<f64>,
    /// What the priors add to the objective at the present parameters.
    penalty: f64,
    objective: Vec<f64>,
    converged: bool,
}

impl Fit {
    /// Draws the parameters: shares of numbers between 1 and 2.5.
    fn new(ratings: &Ratings, method: MaceMethod, rng: &mut ChaCha8Rng) -> Self {
        let mut draw = || 1.0 + 1.5 * rng.random::<f64>();
        let mut parameters = Parameters::default();
        for rater_idx in 0..ratings.n_raters {
            let (guesses, knows) = (draw(), draw());
            parameters.guesses.push(guesses / (guesses + knows));
            parameters.knows.push(knows / (guesses + knows));
            let drawn: Vec<f64> = (0..ratings.n_categories).map(|_| draw()).collect();
            let total: f64 = drawn.iter().sum();
            for &category in &ratings.use_categories[ratings.use_starts[rater_idx]..ratings.use_starts[rater_idx + 1]] {
                parameters.strategy.push(drawn[category as usize] / total);
            }
        }
        Self {
            method,
            parameters,
            posterior: Posterior::new(ratings),
            guessed: vec![0.0; ratings.use_categories.len()],
            known: vec![0.0; ratings.n_raters],
            penalty: f64::NEG_INFINITY,
            objective: Vec::new(),
            converged: false,
        }
    }

    fn height(&self) -> f64 {
        self.objective.last().copied().unwrap_or(f64::NEG_INFINITY)
    }

    fn climb(mut self, merged: &Merged, n_by_use: &[f64], em: EmConfig) -> Self {
        // The random start has no place under the priors: the objective begins after it.
        self.expect(merged, n_by_use);
        for _ in 0..em.max_iterations.max(1) {
            self.maximise(&merged.ratings);
            let log_likelihood = self.expect(merged, n_by_use);
            self.objective.push(log_likelihood + self.penalty);
            self.converged = em.has_converged(&self.objective, merged.n_ratings);
            if self.converged {
                break;
            }
        }
        self
    }

    /// Sets the patterns' probabilities and the expected counts; returns the log-likelihood.
    fn expect(&mut self, merged: &Merged, n_by_use: &[f64]) -> f64 {
        let ratings = &merged.ratings;
        let Parameters { guesses, knows, strategy } = &self.parameters;
        let log_prior = -(ratings.n_categories as f64).ln();
        // There are few uses: no logarithm is taken by rating.
        let mut gains = Vec::with_capacity(strategy.len());
        let mut log_likelihood = 0.0;
        for (rater_idx, bounds) in ratings.use_starts.windows(2).enumerate() {
            for use_idx in bounds[0]..bounds[1] {
                let by_guess = guesses[rater_idx] * strategy[use_idx];
                gains.push((knows[rater_idx] / by_guess).ln_1p());
                log_likelihood += n_by_use[use_idx] * by_guess.ln();
            }
        }
        // First the expected ratings, by use, that are right.
        self.guessed.fill(0.0);
        for (pattern_idx, n) in merged.n_items.iter().enumerate() {
            let row = self.posterior.of_item_mut(pattern_idx);
            row.fill(log_prior);
            let of_pattern = ratings.starts[pattern_idx]..ratings.starts[pattern_idx + 1];
            let (uses, categories) = (&ratings.uses[of_pattern.clone()], &ratings.categories[of_pattern]);
            for (&use_id, &category) in uses.iter().zip(categories) {
                row[category as usize] += gains[use_id as usize];
            }
            let log_sum = normalise_logs(row);
            if !uses.is_empty() {
                log_likelihood += n * log_sum;
            }
            for (&use_id, &category) in uses.iter().zip(categories) {
                self.guessed[use_id as usize] += n * row[category as usize];
            }
        }
        for (rater_idx, bounds) in ratings.use_starts.windows(2).enumerate() {
            self.known[rater_idx] = 0.0;
            for use_idx in bounds[0]..bounds[1] {
                let by_guess = guesses[rater_idx] * strategy[use_idx];
                let known = self.guessed[use_idx] * knows[rater_idx] / (by_guess + knows[rater_idx]);
                self.known[rater_idx] += known;
                self.guessed[use_idx] = (n_by_use[use_idx] - known).max(0.0);
            }
        }
        log_likelihood
    }

    /// Sets the parameters from the expected counts, and the penalty that goes with them.
    fn maximise(&mut self, ratings: &Ratings) {
        let k = ratings.n_categories as f64;
        self.penalty = 0.0;
        for rater_idx in 0..ratings.n_raters {
            let uses = ratings.use_starts[rater_idx]..ratings.use_starts[rater_idx + 1];
            let guessed: f64 = self.guessed[uses.clone()].iter().sum();
            let known = self.known[rater_idx];
            let parameters = &mut self.parameters;
            match self.method {
                MaceMethod::VariationalBayes => {
                    let prior = COMPETENCE_PRIOR;
                    let log_total = digamma(guessed + known + 2.0 * prior);
                    let logs = [digamma(guessed + prior) - log_total, digamma(known + prior) - log_total];
                    parameters.guesses[rater_idx] = logs[0].exp();
                    parameters.knows[rater_idx] = logs[1].exp();
                    self.penalty -= ln_gamma(guessed + known + 2.0 * prior)
                        - ln_gamma(2.0 * prior)
                        - excess(guessed, prior, logs[0])
                        - excess(known, prior, logs[1]);
                    let log_total = digamma(guessed + k * STRATEGY_PRIOR);
                    self.penalty -= ln_gamma(guessed + k * STRATEGY_PRIOR) - ln_gamma(k * STRATEGY_PRIOR);
                    for use_idx in uses {
                        let log = digamma(self.guessed[use_idx] + STRATEGY_PRIOR) - log_total;
                        parameters.strategy[use_idx] = log.exp();
                        self.penalty += excess(self.guessed[use_idx], STRATEGY_PRIOR, log);
                    }
                }
                MaceMethod::SmoothedEm => {
                    let added = SMOOTHING / k;
                    let total = guessed + known + 2.0 * added;
                    let shares = [(guessed + added) / total, (known + added) / total];
                    parameters.guesses[rater_idx] = shares[0];
                    parameters.knows[rater_idx] = shares[1];
                    let total = guessed + SMOOTHING;
                    let mut log_sum = shares[0].ln() + shares[1].ln();
                    log_sum += (k - uses.len() as f64) * (added / total).ln();
                    for use_idx in uses {
                        parameters.strategy[use_idx] = (self.guessed[use_idx] + added) / total;
                        log_sum += parameters.strategy[use_idx].ln();
                    }
                    self.penalty += added * log_sum;
                }
            }
        }
    }

    /// Replaces the parameters by their posterior means, and takes the likelihood there. The items keep the probabilities from
    /// before, which are the method's.
    fn finish(mut self, merged: &Merged, n_by_use: &[f64], n_by_rater: Vec<usize>, restarts: Vec<f64>) -> Mace {
        let ratings = &merged.ratings;
        let (k, n_categories) = (ratings.n_categories as f64, ratings.n_categories);
        let (of_knowing, of_strategy) = match self.method {
            MaceMethod::VariationalBayes => (COMPETENCE_PRIOR, STRATEGY_PRIOR),
            MaceMethod::SmoothedEm => (SMOOTHING / k, SMOOTHING / k),
        };
        let mut strategy = vec![0.0; ratings.n_raters * n_categories];
        for rater_idx in 0..ratings.n_raters {
            let uses = ratings.use_starts[rater_idx]..ratings.use_starts[rater_idx + 1];
            let guessed: f64 = self.guessed[uses.clone()].iter().sum();
            let known = self.known[rater_idx];
            let knows = (known + of_knowing) / (guessed + known + 2.0 * of_knowing);
            self.parameters.guesses[rater_idx] = 1.0 - knows;
            self.parameters.knows[rater_idx] = knows;
            let row = &mut strategy[rater_idx * n_categories..(rater_idx + 1) * n_categories];
            row.fill(of_strategy / (guessed + k * of_strategy));
            for use_idx in uses {
                let share = (self.guessed[use_idx] + of_strategy) / (guessed + k * of_strategy);
                self.parameters.strategy[use_idx] = share;
                row[ratings.use_categories[use_idx] as usize] = share;
            }
        }
        let posterior = merged.posterior_of_items(&self.posterior);
        let log_likelihood = self.expect(merged, n_by_use);
        let competence =
            self.parameters.knows.iter().zip(n_by_rater).map(|(knows, n)| (n > 0).then_some(*knows)).collect();
        Mace {
            posterior,
            competence,
            strategy,
            objective: self.objective,
            log_likelihood,
            converged: self.converged,
            restarts,
        }
    }
}

/// Returns what one of a Dirichlet distribution's parameters, `prior + count`, adds to −KL from the prior; `log` is the
/// expectation of the share's logarithm.
fn excess(count: f64, prior: f64, log: f64) -> f64 {
    ln_gamma(prior + count) - ln_gamma(prior) - count * log
}
