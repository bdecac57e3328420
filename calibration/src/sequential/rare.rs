//! The looks of a plan at a rate whose events are few: counted out instead of taken for a Brownian motion.
//!
//! Few events come in lumps. Of 100 clusters at a rate of 5 %, no event at all by the 80th is less likely than the error that a plan allows
//! by then, and before the 72nd nothing is: whoever spends by the normal law has given away by then what could never have been lost.

use super::spending::spent_by;
use crate::distribution::{beta_cdf, binomial_point};

/// Counts up to this many, less one, are followed; with more the normal law serves.
pub(crate) const N_COUNTS: usize = 10;

/// p values of whole counts are found to more digits than this.
const ROUNDING: f64 = 1e-6;

/// The count of events up to which a plan shows a rate to be below its limit, look by look, at one error.
#[derive(Clone, Debug)]
struct CountBoundary {
    alpha: f64,
    /// The probability of each count of events at the latest look, the rate being at its limit and nothing shown before.
    going_on: [f64; N_COUNTS],
    /// The probability of having shown it by now.
    shown: f64,
    /// The largest count that shows it at the latest look, and its p value; 0 where none does.
    most: Option<usize>,
    tail: f64,
    /// The p value of the next count.
    next_tail: f64,
}

/// The same at several errors together.
#[derive(Clone, Debug)]
pub(crate) struct RareLooks {
    limit: f64,
    n_trials: u64,
    /// From the largest error.
    boundaries: Vec<CountBoundary>,
}

impl RareLooks {
    /// Begins the looks at a rate that is to be shown below `limit`, in 0..1, at each of `errors`, from the largest.
    pub(crate) fn new(limit: f64, errors: impl Iterator<Item = f64>) -> Self {
        let mut going_on = [0.0; N_COUNTS];
        going_on[0] = 1.0;
        let boundaries = errors
            .map(|alpha| CountBoundary { alpha, going_on, shown: 0.0, most: None, tail: 0.0, next_tail: 0.0 })
            .collect();
        Self { limit, n_trials: 0, boundaries }
    }

    /// Takes a look at `n_trials` independent trials, `fraction` of the plan.
    pub(crate) fn look(&mut self, n_trials: u64, fraction: f64) {
        let more = n_trials.saturating_sub(self.n_trials);
        self.n_trials += more;
        let points: Vec<f64> = (0..N_COUNTS as u64).map(|count| binomial_point(count, more, self.limit)).collect();
        // The probability of at most so many events among the trials so far.
        let (limit, n_trials) = (self.limit, self.n_trials);
        let at_most = |n_events: usize| {
            let others = n_trials.saturating_sub(n_events as u64) as f64;
            if others > 0.0 { beta_cdf(1.0 - limit, others, n_events as f64 + 1.0) } else { 1.0 }
        };
        for boundary in &mut self.boundaries {
            let before = boundary.going_on;
            for (count, now) in boundary.going_on.iter_mut().enumerate() {
                *now = (0..=count).map(|earlier| before[earlier] * points[count - earlier]).sum();
            }
            let may_be_shown = spent_by(fraction, boundary.alpha);
            boundary.most = None;
            for count in 0..N_COUNTS {
                // Counts below are past their own look: they have been shown already.
                if boundary.shown + boundary.going_on[count] > may_be_shown {
                    break;
                }
                boundary.shown += boundary.going_on[count];
                boundary.going_on[count] = 0.0;
                boundary.most = Some(count);
            }
            boundary.tail = boundary.most.map_or(0.0, at_most);
            boundary.next_tail = at_most(boundary.most.map_or(0, |most| most + 1));
        }
    }

    /// Returns the smallest error at which the latest look shows the rate to be below its limit, by the number of trials with an event or by a p value
    /// that knows of events in parts; 1 where it does at none. `tails` are those of the normal law, at the same errors.
    ///
    /// A p value between those of two whole counts comes of parts. No whole count is there, so that up to the next one the normal law's
    /// tail may be used as well.
    pub(super) fn p_of_all(&self, n_events: u64, p: f64, tails: impl Iterator<Item = f64>) -> f64 {
        let shows = |(boundary, tail): &(&CountBoundary, f64)| {
            let between = tail.min(boundary.next_tail * (1.0 - ROUNDING));
            boundary.most.is_some_and(|most| n_events <= most as u64) || p < boundary.tail.max(between)
        };
        // From the largest error: those that are shown come first.
        self.boundaries
            .iter()
            .zip(tails)
            .take_while(shows)
            .last()
            .map_or(1.0, |(boundary, _)| boundary.alpha * (1.0 - 1e-12))
    }
}
