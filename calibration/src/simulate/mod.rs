//! Judges whose faults are known because they were planted: logs to try an audit on.
//!
//! Every simulated judge comes with what an audit of it must find ([`Planted`]): the expectation of a measure over all logs it could have
//! written, worked out by hand from its parameters. Nothing here imitates a real model; the point is that the truth is known.

mod choices;
mod panel;
mod scores;
mod verdicts;

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;

use crate::log::Log;

pub use choices::ChoiceJudge;
pub use panel::PanelOfJudges;
pub use scores::ScoreJudge;
pub use verdicts::VerdictJudge;

/// What [`Planted::measure`] says of how many independent judges a panel is worth, which is a figure of the panel and not of a judge.
pub const EFFECTIVE_JUDGES: &str = "n_effective";

/// The true value of a measure of a simulated judge.
#[derive(Clone, Debug, PartialEq)]
pub struct Planted {
    /// The measure's id, or [`EFFECTIVE_JUDGES`].
    pub measure: &'static str,
    /// Its expectation.
    pub value: f64,
    /// What was planted, in words.
    pub fault: String,
}

impl Planted {
    fn new(measure: &'static str, value: f64, fault: &str) -> Self {
        Self { measure, value, fault: fault.to_owned() }
    }
}

/// A log, and what is true of the judge that wrote it.
#[derive(Clone, Debug)]
pub struct Simulated {
    /// The judgements.
    pub log: Log,
    /// True values, one a measure.
    pub planted: Vec<Planted>,
}

/// Returns true with probability `p`.
fn chance(rng: &mut ChaCha8Rng, p: f64) -> bool {
    rng.random::<f64>() < p
}

/// Returns a draw from the standard normal distribution (by its quantile, so that one uniform makes one).
fn normal(rng: &mut ChaCha8Rng) -> f64 {
    // Never 0, whose quantile is infinite.
    crate::distribution::normal_quantile(1.0 - rng.random::<f64>() * (1.0 - 1e-12))
}
