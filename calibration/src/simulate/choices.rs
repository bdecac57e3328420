//! A judge that chooses between two candidates, and on some pairs looks at the place alone.

use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;

use super::{Planted, Simulated, chance};
use crate::judgement::{Choice, Judgement, Order};
use crate::log::Log;

/// On some pairs it chooses whichever is shown first; on the others it has a standing opinion, right or wrong. Each answer departs from
/// that with a probability of its own. Pairs are shown in both orders.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChoiceJudge {
    /// Pairs.
    pub n_items: u32,
    /// Answers in either order.
    pub n_repeats: u32,
    /// Probability that its opinion is right.
    pub right: f64,
    /// Probability that a pair is decided by place.
    pub swayed: f64,
    /// Probability that an answer is another than it would be without noise.
    pub noise: f64,
}

impl ChoiceJudge {
    /// Returns a log of this judge.
    #[must_use]
    pub fn log(&self, seed: u64) -> Simulated {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut log = Log::default();
        let other = |choice| if choice == Choice::A { Choice::B } else { Choice::A };
        for item in 0..self.n_items {
            let better = if chance(&mut rng, 0.5) { Choice::A } else { Choice::B };
            let is_swayed = chance(&mut rng, self.swayed);
            let opinion = if chance(&mut rng, self.right) { better } else { other(better) };
            for (order, first) in [(Order::Ab, Choice::A), (Order::Ba, Choice::B)] {
                for repeat in 1..=self.n_repeats {
                    let meant = if is_swayed { first } else { opinion };
                    let judgement = Judgement {
                        item: item.to_string().into(),
                        judge: "simulated".into(),
                        choice: Some(if chance(&mut rng, self.noise) { other(meant) } else { meant }),
                        order: Some(order),
                        repeat: Some(repeat),
                        label: Some(if better == Choice::A { "a" } else { "b" }.into()),
                        ..Judgement::default()
                    };
                    log.push(&judgement, 0);
                }
            }
        }
        Simulated { log, planted: self.planted() }
    }

    /// With noise ν, a swayed pair gets the first shown with probability 1 − ν in either order: the excess of such a pair is (1 − 2ν)², its
    /// direction 1 − 2ν, and that of another pair 0.
    fn planted(&self) -> Vec<Planted> {
        let Self { swayed, noise, right, .. } = *self;
        let differ = 2.0 * noise * (1.0 - noise);
        let keeps = right * (1.0 - noise) + (1.0 - right) * noise;
        vec![
            Planted::new("position_excess", swayed * (1.0 - 2.0 * noise).powi(2), "choices by place"),
            Planted::new("position_direction", swayed * (1.0 - 2.0 * noise), "choices by place"),
            Planted::new("first_position_preference", 0.5 + swayed * (0.5 - noise), "choices by place"),
            Planted::new("swap_consistency", (1.0 - swayed) * (1.0 - differ) + swayed * differ, "choices by place"),
            Planted::new("flip_rate", differ, "noise"),
            Planted::new("accuracy", (1.0 - swayed) * keeps + swayed * 0.5, "all of these together"),
        ]
    }
}
