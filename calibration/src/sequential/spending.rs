//! Group-sequential looks at a planned number of items: the error is spent look by look, and all of it by the end of the plan.
//!
//! A plan buys power: who knows beforehand when the last look is need not be right at every look for ever. What it needs is a
//! statistic that grows like a Brownian motion in the information seen, as estimates from independent clusters do but for few of them.

use super::rare::RareLooks;
use crate::distribution::normal_cdf;

/// Steps of the grid on which the paths that go on are kept; even, for Simpson's rule.
const N_STEPS: usize = 240;
/// Paths this many standard deviations below nothing are left out: they do not come back.
const FAR: f64 = 6.0;

/// Returns how much of the error `alpha` may be spent by a share of the plan: α t^1.5 (Kim & `DeMets` 1987, power family). Between Pocock's
/// looks (about α t) and those of O'Brien and Fleming (next to nothing before half of the plan).
#[must_use]
pub fn spent_by(fraction: f64, alpha: f64) -> f64 {
    alpha * fraction.clamp(0.0, 1.0).powf(1.5)
}

/// The one-sided tail that a look's p value has to stay under, so that all looks of a plan together err with probability `alpha` at most.
///
/// Lan & `DeMets` 1983: looks may come at any shares of the plan that do not depend on what was seen. Tails follow by Armitage,
/// `McPherson` & Rowe (1969), integrated numerically. Agrees with published boundaries (`DeMets` & Lan 1994).
#[derive(Clone, Debug)]
pub struct SpendingBoundary {
    alpha: f64,
    fraction: f64,
    /// Where the paths are that have not crossed, on the scale of the Brownian motion, and the probability each point stands for.
    at: Vec<f64>,
    mass: Vec<f64>,
}

impl SpendingBoundary {
    /// Begins the looks of a plan that may err with probability `alpha`, in 0..=0.5.
    #[must_use]
    pub fn new(alpha: f64) -> Self {
        Self { alpha: alpha.clamp(0.0, 0.5), fraction: 0.0, at: vec![0.0], mass: vec![1.0] }
    }

    /// Takes the next look, when `fraction` of the plan is there, and returns the tail under which a p value is significant at it.
    ///
    /// `None` unless the fraction is larger than at the look before; more than the whole plan is the whole.
    pub fn look(&mut self, fraction: f64) -> Option<f64> {
        self.look_spending(fraction, spent_by)
    }

    /// The same with another spending function.
    pub fn look_spending(&mut self, fraction: f64, spent_by: impl Fn(f64, f64) -> f64) -> Option<f64> {
        let now = fraction.min(1.0);
        let is_later = now > self.fraction;
        if !is_later {
            return None;
        }
        let spend = spent_by(now, self.alpha) - spent_by(self.fraction, self.alpha);
        let step = (now - self.fraction).sqrt();
        let beyond = |bound: f64| dot(&self.mass, self.at.iter().map(|at| normal_cdf((at - bound) / step)));
        // The more is beyond, the lower the bound.
        let (mut low, mut high) = (-FAR, 2.0 * FAR);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if beyond(middle) > spend { low = middle } else { high = middle }
        }
        let first = -FAR * now.sqrt();
        let width = (high - first).max(0.0) / N_STEPS as f64;
        let at: Vec<f64> = (0..=N_STEPS).map(|idx| first + width * idx as f64).collect();
        let mass = at.iter().enumerate().map(|(idx, point)| {
            let simpson = if idx == 0 || idx == N_STEPS { 1.0 } else { 2.0 + 2.0 * (idx % 2) as f64 };
            let density = dot(&self.mass, self.at.iter().map(|from| normal_density((point - from) / step)));
            simpson * width / 3.0 * density / step
        });
        self.mass = mass.collect();
        self.at = at;
        self.fraction = now;
        Some(normal_cdf(-high / now.sqrt()))
    }
}

fn dot(weights: &[f64], values: impl Iterator<Item = f64>) -> f64 {
    weights.iter().zip(values).map(|(weight, value)| weight * value).sum()
}

fn normal_density(z: f64) -> f64 {
    // Beyond that it adds nothing, and most points are.
    if z.abs() > 9.0 { 0.0 } else { (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt() }
}

/// The looks of a plan at several errors together, so that the p value of a look gives one of all looks.
#[derive(Clone, Debug)]
pub struct PlannedLooks {
    /// Errors, from the largest, each with its boundary and the tail of the latest look.
    boundaries: Vec<(f64, SpendingBoundary, f64)>,
    fraction: f64,
}

impl PlannedLooks {
    /// Begins the looks of a plan at the error `alpha`, and at `alpha` shared among up to `n_limits` limits, as Holm asks.
    #[must_use]
    pub fn new(alpha: f64, n_limits: usize) -> Self {
        let shared = (1..=n_limits.max(1)).map(|n| alpha / n as f64);
        // Beyond what is decided by, for reading.
        let least = alpha / n_limits.max(1) as f64;
        let others = [0.5, 0.25, 0.1]
            .into_iter()
            .filter(|error| *error > alpha)
            .chain([0.1, 0.01, 1e-4].map(|share| share * least));
        let mut errors: Vec<f64> = shared.chain(others).collect();
        errors.sort_by(|a, b| b.total_cmp(a));
        let boundaries = errors.into_iter().map(|error| (error, SpendingBoundary::new(error), 0.0)).collect();
        Self { boundaries, fraction: 0.0 }
    }

    /// Returns the looks at a rate whose events are few, which is to be shown below `limit` at the same errors.
    pub(crate) fn rare(&self, limit: f64) -> RareLooks {
        RareLooks::new(limit, self.boundaries.iter().map(|(error, ..)| *error))
    }

    /// Returns the p value of all looks that such a rate comes to, by the number of trials with an event and the p value of the latest look.
    pub(crate) fn p_of_rare(&self, rare: &RareLooks, n_events: u64, p: f64) -> f64 {
        rare.p_of_all(n_events, p, self.boundaries.iter().map(|(_, _, tail)| *tail))
    }

    /// Takes the next look, when `fraction` of the plan is there. Returns whether there is one: it has to be later than the one before.
    pub fn look(&mut self, fraction: f64) -> bool {
        let mut is_later = false;
        for (_, boundary, tail) in &mut self.boundaries {
            if let Some(next) = boundary.look(fraction) {
                *tail = next;
                is_later = true;
            }
        }
        if is_later {
            self.fraction = fraction.min(1.0);
        }
        is_later
    }

    /// Returns the share of the plan at the latest look; 0 before the first.
    #[must_use]
    pub const fn fraction(&self) -> f64 {
        self.fraction
    }

    /// Returns the tail under which a p value of the latest look is significant at the error `alpha`, one of those begun with.
    /// 0 for any other, and before the first look.
    #[must_use]
    pub fn tail(&self, alpha: f64) -> f64 {
        let is_it = |error: f64| error.total_cmp(&alpha).is_eq();
        self.boundaries.iter().find(|(error, ..)| is_it(*error)).map_or(0.0, |(_, _, tail)| *tail)
    }

    /// Returns the p value, at all looks of the plan together, that the p value of the latest look amounts to: the smallest error at
    /// which it is significant, on the logarithm between those begun with. 1 for what is significant at none, and before the first look.
    #[must_use]
    pub fn p_of_all(&self, p: f64) -> f64 {
        // The boundary at an error has a tail no larger than that at a larger one.
        let n_passed = self.boundaries.partition_point(|(_, _, tail)| p < *tail);
        let Some((smaller, _, tail)) = n_passed.checked_sub(1).and_then(|idx| self.boundaries.get(idx)) else {
            return 1.0;
        };
        let Some((next, _, next_tail)) = self.boundaries.get(n_passed) else { return *smaller };
        // p lies between both tails.
        let share = if *next_tail > 0.0 { (p / next_tail).ln() / (tail / next_tail).ln() } else { 1.0 };
        // Never as much as the error it is significant at, which rounding could make of it.
        (next * (smaller / next).powf(share.clamp(0.0, 1.0))).min(smaller * (1.0 - 1e-12))
    }
}
