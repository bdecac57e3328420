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

use super::logistic::Logistic;
use super::patterns::Merged;
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
    let mut fit = Fit::new(Merged::new(ratings));
    let mut objective = Vec::new();
    let mut converged = false;
    for _ in 0..config.max_iterations.max(1) {
        let log_likelihood = fit.expect();
        objective.push(log_likelihood + fit.log_prior());
        converged = config.has_converged(&objective, ratings.n_ratings());
        if converged {
            break;
        }
        fit.maximise();
    }
    let log_likelihood = fit.expect();
    let counts = ratings.n_by_rater();
    let ability = fit.ability.iter().zip(&counts).map(|(ability, &n)| (n > 0).then_some(*ability)).collect();
    let patterns = &fit.merged.ratings;
    let easiness: Vec<Option<f64>> =
        (0..).zip(&fit.log_easiness).map(|(idx, log)| patterns.is_rated(idx).then(|| log.exp())).collect();
    let posterior = fit.merged.posterior_of_items(&fit.posterior);
    Glad { ability, easiness: fit.merged.of_items(&easiness), posterior, objective, log_likelihood, converged }
}

/// All of it by pattern: items that were rated alike are equally easy.
struct Fit {
    merged: Merged,
    ability: Vec<f64>,
    log_easiness: Vec<f64>,
    posterior: Posterior,
    /// Each rating's pattern, how many items that has, and its probability of being right.
    patterns: Vec<u32>,
    n_alike: Vec<f64>,
    right: Vec<f64>,
    point: Point,
}

/// Of each rating, at the present abilities and difficulties: the chance of being right and log(1 + exp(logit)). Whatever moves
/// leaves them up to date, so that no point is evaluated twice.
struct Point {
    logistic: Logistic,
    chance: Vec<f64>,
    softplus: Vec<f64>,
}

impl Fit {
    fn new(merged: Merged) -> Self {
        let ratings = &merged.ratings;
        let (mut patterns, mut n_alike) = (Vec::new(), Vec::new());
        for ((pattern, bounds), &n) in (0_u32..).zip(ratings.starts.windows(2)).zip(&merged.n_items) {
            patterns.resize(bounds[1], pattern);
            n_alike.resize(bounds[1], n);
        }
        let logistic = Logistic::new();
        let (chance, softplus) = logistic.of(PRIOR_MEAN * PRIOR_MEAN.exp());
        let point = Point { logistic, chance: vec![chance; patterns.len()], softplus: vec![softplus; patterns.len()] };
        Self {
            ability: vec![PRIOR_MEAN; ratings.n_raters],
            log_easiness: vec![PRIOR_MEAN; ratings.n_items],
            posterior: majority(ratings),
            right: vec![0.0; patterns.len()],
            patterns,
            n_alike,
            point,
            merged,
        }
    }

    fn log_prior(&self) -> f64 {
        let of = |value: &f64| -0.5 * (value - PRIOR_MEAN).powi(2);
        let of_items: f64 = self.log_easiness.iter().zip(&self.merged.n_items).map(|(log, n)| n * of(log)).sum();
        self.ability.iter().map(of).sum::<f64>() + of_items
    }

    /// Sets the patterns' probabilities and the ratings' of being right; returns the log-likelihood.
    fn expect(&mut self) -> f64 {
        let ratings = &self.merged.ratings;
        let log_prior = -(ratings.n_categories as f64).ln();
        let log_others = ((ratings.n_categories - 1) as f64).ln();
        let mut log_likelihood = 0.0;
        for (pattern_idx, n) in self.merged.n_items.iter().enumerate() {
            let row = self.posterior.of_item_mut(pattern_idx);
            row.fill(log_prior);
            let easiness = self.log_easiness[pattern_idx].exp();
            let of_pattern = ratings.starts[pattern_idx]..ratings.starts[pattern_idx + 1];
            let mut all_wrong = 0.0;
            for rating_idx in of_pattern.clone() {
                let logit = self.ability[ratings.raters[rating_idx] as usize] * easiness;
                all_wrong -= self.point.softplus[rating_idx] + log_others;
                row[ratings.categories[rating_idx] as usize] += logit + log_others;
            }
            let log_sum = normalise_logs(row);
            if !of_pattern.is_empty() {
                log_likelihood += n * (all_wrong + log_sum);
            }
            for rating_idx in of_pattern {
                self.right[rating_idx] = row[ratings.categories[rating_idx] as usize];
            }
        }
        log_likelihood
    }

    fn maximise(&mut self) {
        let Self { merged, patterns, n_alike, right, point, .. } = self;
        let n_patterns = &merged.n_items;
        for _ in 0..STEPS {
            let easiness: Vec<f64> = self.log_easiness.iter().map(|log| log.exp()).collect();
            let of_raters = Sides { owners: &merged.ratings.raters, partners: &easiness, partner_of: patterns };
            step(&mut self.ability, false, None, &of_raters, n_alike, right, point);
            let of_items = Sides { owners: patterns, partners: &self.ability, partner_of: &merged.ratings.raters };
            step(&mut self.log_easiness, true, Some(n_patterns), &of_items, n_alike, right, point);
        }
    }
}

/// Of each rating, whose value moves and whose stays.
struct Sides<'a> {
    owners: &'a [u32],
    /// The factors that stay, by partner.
    partners: &'a [f64],
    partner_of: &'a [u32],
}

/// Moves each owner's value one scoring step up, the partners' factors fixed. A rating's logit is the owner's factor (the value, or
/// its exponential) times the partner's. `n_owners` is how many share each value, one where not given; `n_alike` how many ratings
/// each one stands for.
fn step(
    values: &mut [f64],
    is_log: bool,
    n_owners: Option<&Vec<f64>>,
    sides: &Sides<'_>,
    n_alike: &[f64],
    right: &[f64],
    point: &mut Point,
) {
    let factor = |value: f64| if is_log { value.exp() } else { value };
    let n = values.len();
    let prior = |owner: usize| n_owners.map_or(1.0, |n_owners| n_owners[owner]);
    let ratings = || {
        let partners = sides.partner_of.iter().map(|partner| sides.partners[*partner as usize]);
        sides.owners.iter().map(|owner| *owner as usize).zip(partners).zip(right.iter().zip(n_alike))
    };
    let mut gradient: Vec<f64> = (0..n).map(|owner| prior(owner) * (PRIOR_MEAN - values[owner])).collect();
    let mut information: Vec<f64> = (0..n).map(prior).collect();
    let height_of_prior = |owner: usize, value: f64| -0.5 * prior(owner) * (value - PRIOR_MEAN).powi(2);
    let mut height: Vec<f64> = (0..n).map(|owner| height_of_prior(owner, values[owner])).collect();
    let factors: Vec<f64> = values.iter().map(|value| factor(*value)).collect();
    let at_point = point.chance.iter().zip(&point.softplus);
    for (((owner, partner), (right, n_alike)), (chance, softplus)) in ratings().zip(at_point) {
        let logit = factors[owner] * partner;
        let slope = if is_log { logit } else { partner };
        gradient[owner] += n_alike * (right - chance) * slope;
        information[owner] += n_alike * chance * (1.0 - chance) * slope * slope;
        height[owner] += n_alike * (right * logit - softplus);
    }
    let mut moves: Vec<f64> = gradient.iter().zip(&information).map(|(gradient, total)| gradient / total).collect();
    let mut is_open = vec![true; n];
    // The last time nothing moves, and what is open returns to where it was.
    for halving in 0..=HALVINGS + 1 {
        let trials: Vec<f64> = values.iter().zip(&moves).map(|(value, change)| factor(value + change)).collect();
        let mut reached: Vec<f64> = (0..n).map(|owner| height_of_prior(owner, values[owner] + moves[owner])).collect();
        let at_point = point.chance.iter_mut().zip(&mut point.softplus);
        for (((owner, partner), (right, n_alike)), (chance, softplus)) in ratings().zip(at_point) {
            if is_open[owner] {
                let logit = trials[owner] * partner;
                (*chance, *softplus) = point.logistic.of(logit);
                reached[owner] += n_alike * (right * logit - *softplus);
            }
        }
        let mut any_open = false;
        for owner in 0..n {
            if is_open[owner] && reached[owner] >= height[owner] {
                is_open[owner] = false;
            } else if is_open[owner] {
                // What is not finite is no height either.
                moves[owner] = if halving >= HALVINGS { 0.0 } else { 0.5 * moves[owner] };
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
