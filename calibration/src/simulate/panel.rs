//! Judges whose errors are not their own: on some items all of a panel say the same.

use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;

use super::{EFFECTIVE_JUDGES, Planted, Simulated, chance};
use crate::judgement::{Judgement, Verdict};
use crate::log::Log;

/// Each judge errs with the same probability; on some items one draw decides for all of them, on the others each draws its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PanelOfJudges {
    /// Items, half of them right.
    pub n_items: u32,
    /// Judges.
    pub n_judges: u32,
    /// Probability of an error.
    pub error: f64,
    /// Probability that an item is decided by one draw for all; also the correlation of two judges' errors.
    pub shared: f64,
}

impl PanelOfJudges {
    /// Returns a log of this panel.
    #[must_use]
    pub fn log(&self, seed: u64) -> Simulated {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut log = Log::default();
        for item in 0..self.n_items {
            let is_good = chance(&mut rng, 0.5);
            let common = chance(&mut rng, self.shared).then(|| chance(&mut rng, self.error));
            for judge in 0..self.n_judges {
                let errs = common.unwrap_or_else(|| chance(&mut rng, self.error));
                let judgement = Judgement {
                    item: item.to_string().into(),
                    judge: format!("judge {}", judge + 1).into(),
                    verdict: Some(if is_good == errs { Verdict::Reject } else { Verdict::Accept }),
                    label: Some(if is_good { "1" } else { "0" }.into()),
                    ..Judgement::default()
                };
                log.push(&judgement, 0);
            }
        }
        Simulated { log, planted: self.planted() }
    }

    /// Errors correlate by the share that is common: k judges are worth k/(1 + (k − 1)ρ) independent ones (Kish 1965).
    fn planted(&self) -> Vec<Planted> {
        let k = f64::from(self.n_judges);
        vec![
            Planted::new("accuracy", 1.0 - self.error, "errors"),
            Planted::new(EFFECTIVE_JUDGES, k / (1.0 + (k - 1.0) * self.shared), "errors that all judges share"),
        ]
    }
}
