//! GLAD: raters differ in ability, items in difficulty. Rater i is right about item j with probability 1/(1 + exp(−αᵢβⱼ)), and
//! else gives any other category alike.
//!
//! Ability αᵢ is any number: 0 guesses one time in two, and one that is negative knows and says otherwise. Easiness βⱼ > 0 is the paper's
//! 1/difficulty. **Priors**: αᵢ ~ N(1, 1), log βⱼ ~ N(1, 1), categories equally likely; those of the authors' program and of
//! crowd-kit. Without them an item on which all agree would be infinitely easy.
//!
//! The paper's EM climbs, in its second step, the expected log-density by gradients. Here that is done by scoring steps, all
//! abilities and then all difficulties at once, since within either each stands alone; a step is halved until it does not go down.
//! So the penalised log-likelihood never falls.
//!
//! Source: Whitehill, Ruvolo, Wu, Bergsma & Movellan 2009, NIPS 22, section 3. Tests agree with crowd-kit 1.4.2, run until it has
//! converged, on labels, parameters and the penalised log-likelihood.

use super::{EmConfig, Posterior, Ratings, majority, normalise_logs};

/// The mean of the normal priors of α and of log β; their standard deviation is 1.
const PRIOR_MEAN: f64 = 1.0;

/// Steps of abilities and difficulties between two looks at the items' categories.
const STEPS: u32 = 5;

/// Times that a step is halved before it is given up: then it is of the size of rounding.
const HALVINGS: u32 = 40;

/// What [`glad`] found.
#[derive(Clone, Debug, PartialEq)]
pub struct Glad {
    /// Each item's probabilities of the categories; all alike for an item without ratings.
    pub posterior: Posterior,
    /// Each rater's ability α; `None` without ratings.
    pub ability: Vec<Option<f64>>,
    /// Each item's easiness β > 0, 1/difficulty; `None` without ratings.
    pub easiness: Vec<Option<f64>>,
    /// For each iteration, the log-likelihood plus the log-density of the priors but for a constant, in nats, of the parameters that it
    /// started from. It never falls but by rounding.
    pub objective: Vec<f64>,
    /// The log-likelihood, in nats, of the parameters returned.
    pub log_likelihood: f64,
    /// Whether it converged before the last iteration allowed.
    pub converged: bool,
}

/// Fits GLAD by EM, from α = 1 and log β = 1.
///
/// Always defined. Where raters rated few items each, α and β are mostly their priors. Few ratings an item do not tell a hard item
/// from one that poor raters met: read difficulties as an order, not as numbers.
///
/// Cost of an iteration: ratings + items × categories.
#[must_use]
pub fn glad(ratings: &Ratings, config: EmConfig) -> Glad {
    let mut fit = Fit::new(ratings);
    let mut objective = Vec::new();
    let mut converged = false;
    for _ in 0..config.max_iterations.max(1) {
        let log_likelihood = fit.expect(ratings);
        objective.push(log_likelihood + fit.log_prior());
        converged = config.has_converged(&objective, ratings.n_ratings());
        if converged {
            break;
        }
        fit.maximise();
    }
    let log_likelihood = fit.expect(ratings);
    let counts = ratings.n_by_rater();
    let ability = fit.ability.iter().zip(&counts).map(|(ability, &n)| (n > 0).then_some(*ability)).collect();
    let easiness = (0..).zip(&fit.log_easiness).map(|(item_idx, log)| ratings.is_rated(item_idx).then(|| log.exp()));
    Glad { ability, easiness: easiness.collect(), posterior: fit.posterior, objective, log_likelihood, converged }
}

struct Fit {
    ability: Vec<f64>,
    log_easiness: Vec<f64>,
    posterior: Posterior,
    /// Each rating's item, rater, and probability of being right.
    items: Vec<u32>,
    raters: Vec<u32>,
    right: Vec<f64>,
}

impl Fit {
    fn new(ratings: &Ratings) -> Self {
        let mut items = Vec::with_capacity(ratings.n_ratings());
        for (item, bounds) in (0_u32..).zip(ratings.starts.windows(2)) {
            items.resize(bounds[1], item);
        }
        Self {
            ability: vec![PRIOR_MEAN; ratings.n_raters],
            log_easiness: vec![PRIOR_MEAN; ratings.n_items],
            posterior: majority(ratings),
            items,
            raters: ratings.raters.clone(),
            right: vec![0.0; ratings.n_ratings()],
        }
    }

    fn log_prior(&self) -> f64 {
        let of = |values: &[f64]| values.iter().map(|value| -0.5 * (value - PRIOR_MEAN).powi(2)).sum::<f64>();
        of(&self.ability) + of(&self.log_easiness)
    }

    /// Sets the items' probabilities and the ratings' of being right; returns the log-likelihood.
    fn expect(&mut self, ratings: &Ratings) -> f64 {
        let log_prior = -(ratings.n_categories as f64).ln();
        let log_others = ((ratings.n_categories - 1) as f64).ln();
        let mut log_likelihood = 0.0;
        for item_idx in 0..ratings.n_items {
            let row = self.posterior.of_item_mut(item_idx);
            row.fill(log_prior);
            let easiness = self.log_easiness[item_idx].exp();
            let of_item = ratings.starts[item_idx]..ratings.starts[item_idx + 1];
            let mut all_wrong = 0.0;
            for rating_idx in of_item.clone() {
                let logit = self.ability[ratings.raters[rating_idx] as usize] * easiness;
                all_wrong -= softplus(logit) + log_others;
                row[ratings.categories[rating_idx] as usize] += logit + log_others;
            }
            let log_sum = normalise_logs(row);
            if !of_item.is_empty() {
                log_likelihood += all_wrong + log_sum;
            }
            for rating_idx in of_item {
                self.right[rating_idx] = row[ratings.categories[rating_idx] as usize];
            }
        }
        log_likelihood
    }

    fn maximise(&mut self) {
        for _ in 0..STEPS {
            let easiness: Vec<f64> = self.log_easiness.iter().map(|log| log.exp()).collect();
            step(&mut self.ability, false, &self.raters, &easiness, &self.items, &self.right);
            step(&mut self.log_easiness, true, &self.items, &self.ability, &self.raters, &self.right);
        }
    }
}

/// Moves each owner's value one scoring step up, the partners' factors fixed. A rating's logit is the owner's factor (the value, or
/// its exponential) times the partner's.
fn step(values: &mut [f64], is_log: bool, owners: &[u32], partners: &[f64], partner_of: &[u32], right: &[f64]) {
    let factor = |value: f64| if is_log { value.exp() } else { value };
    let n = values.len();
    let (mut gradient, mut information, mut height) = (vec![0.0; n], vec![1.0; n], vec![0.0; n]);
    for (owner, value) in values.iter().enumerate() {
        gradient[owner] = PRIOR_MEAN - value;
        height[owner] = -0.5 * (value - PRIOR_MEAN).powi(2);
    }
    let factors: Vec<f64> = values.iter().map(|value| factor(*value)).collect();
    for ((&owner, &partner), right) in owners.iter().zip(partner_of).zip(right) {
        let (owner, partner) = (owner as usize, partners[partner as usize]);
        let logit = factors[owner] * partner;
        let slope = if is_log { logit } else { partner };
        let chance = 1.0 / (1.0 + (-logit).exp());
        gradient[owner] += (right - chance) * slope;
        information[owner] += chance * (1.0 - chance) * slope * slope;
        height[owner] += right * logit - softplus(logit);
    }
    let mut moves: Vec<f64> = gradient.iter().zip(&information).map(|(gradient, total)| gradient / total).collect();
    let mut is_open = vec![true; n];
    for halving in 0..=HALVINGS {
        let trials: Vec<f64> = values.iter().zip(&moves).map(|(value, change)| factor(value + change)).collect();
        let mut reached: Vec<f64> =
            values.iter().zip(&moves).map(|(value, change)| -0.5 * (value + change - PRIOR_MEAN).powi(2)).collect();
        for ((&owner, &partner), right) in owners.iter().zip(partner_of).zip(right) {
            let owner = owner as usize;
            if is_open[owner] {
                let logit = trials[owner] * partners[partner as usize];
                reached[owner] += right * logit - softplus(logit);
            }
        }
        let mut any_open = false;
        for owner in 0..n {
            if is_open[owner] && reached[owner] >= height[owner] {
                is_open[owner] = false;
            } else if is_open[owner] {
                // What is not finite is no height either.
                moves[owner] = if halving == HALVINGS { 0.0 } else { 0.5 * moves[owner] };
                any_open = true;
            }
        }
        if !any_open {
            break;
        }
    }
    for (value, change) in values.iter_mut().zip(&moves) {
        *value += change;
    }
}

/// Returns log(1 + exp(x)).
fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}
