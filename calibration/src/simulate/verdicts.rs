//! A judge that accepts and rejects, errs on some items for good, and wavers on all.

use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;

use super::{Planted, Simulated, chance};
use crate::judgement::{Judgement, Verdict};
use crate::log::Log;

/// Every item has a label and a standing opinion of the judge, wrong with a probability that depends on the label; each answer
/// departs from the opinion with a probability of its own, and some replies cannot be read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VerdictJudge {
    /// Items.
    pub n_items: u32,
    /// Answers an item.
    pub n_repeats: u32,
    /// Share of right items.
    pub base_rate: f64,
    /// Probability that its opinion of a wrong item is to accept.
    pub lenient: f64,
    /// Probability that its opinion of a right item is to reject.
    pub strict: f64,
    /// Probability that an answer is not its opinion.
    pub noise: f64,
    /// Probability that a reply cannot be read, whatever it holds.
    pub unparsed: f64,
}

impl VerdictJudge {
    /// Returns a log of this judge.
    #[must_use]
    pub fn log(&self, seed: u64) -> Simulated {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut log = Log::default();
        for item in 0..self.n_items {
            let is_good = chance(&mut rng, self.base_rate);
            let errs = chance(&mut rng, if is_good { self.strict } else { self.lenient });
            for repeat in 1..=self.n_repeats {
                let accepts = (is_good != errs) != chance(&mut rng, self.noise);
                let verdict = if accepts { Verdict::Accept } else { Verdict::Reject };
                let judgement = Judgement {
                    item: item.to_string().into(),
                    judge: "simulated".into(),
                    verdict: (!chance(&mut rng, self.unparsed)).then_some(verdict),
                    repeat: Some(repeat),
                    label: Some(if is_good { "1" } else { "0" }.into()),
                    ..Judgement::default()
                };
                log.push(&judgement, 0);
            }
        }
        Simulated { log, planted: self.planted() }
    }

    /// An answer errs if opinion or answer slips, not both.
    fn planted(&self) -> Vec<Planted> {
        let noise = self.noise;
        let errs = |opinion: f64| opinion * (1.0 - noise) + (1.0 - opinion) * noise;
        let (false_accepts, false_rejects) = (errs(self.lenient), errs(self.strict));
        let accuracy = 1.0 - (self.base_rate * false_rejects + (1.0 - self.base_rate) * false_accepts);
        vec![
            Planted::new("flip_rate", 2.0 * noise * (1.0 - noise), "noise"),
            Planted::new("false_accept_rate", false_accepts, "leniency"),
            Planted::new("false_reject_rate", false_rejects, "strictness"),
            Planted::new("accuracy", accuracy, "all of these together"),
            Planted::new("unparsed_rate", self.unparsed, "replies that cannot be read"),
        ]
    }
}
