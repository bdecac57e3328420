//! A judge that scores, inflates, and follows length and its own work besides quality.

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::{Planted, Simulated, normal};
use crate::judgement::{Judgement, LabelText};
use crate::log::Log;

/// The judge's name, which some items carry as the model that made them.
const JUDGE: &str = "simulated";

/// An item has a quality, which is its label, a length, and a maker: the judge itself or another. A score is the sum of quality, inflation,
/// `per_doubling` a doubling of length, `own` for its own work, an opinion of the item, and noise of the answer. Scores are not rounded,
/// so that every planted value is exact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoreJudge {
    /// Items.
    pub n_items: u32,
    /// Answers an item.
    pub n_repeats: u32,
    /// Points above the label.
    pub inflation: f64,
    /// Points a doubling of length.
    pub per_doubling: f64,
    /// Points more for an item it made itself.
    pub own: f64,
    /// SD of its opinion of an item about all that.
    pub opinion_sd: f64,
    /// SD of an answer about its opinion.
    pub noise_sd: f64,
}

/// Mean and SD of quality.
const QUALITY: [f64; 2] = [6.0, 1.5];
/// SD of length, in doublings about 200.
const DOUBLINGS: f64 = 1.0;

impl ScoreJudge {
    /// Returns a log of this judge.
    #[must_use]
    pub fn log(&self, seed: u64) -> Simulated {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut log = Log::default();
        for item in 0..self.n_items {
            let quality = QUALITY[0] + QUALITY[1] * normal(&mut rng);
            let doublings = DOUBLINGS * normal(&mut rng);
            let is_own = rng.random::<bool>();
            let own = if is_own { self.own } else { 0.0 };
            let opinion =
                quality + self.inflation + self.per_doubling * doublings + own + self.opinion_sd * normal(&mut rng);
            for repeat in 1..=self.n_repeats {
                let judgement = Judgement {
                    item: item.to_string().into(),
                    judge: JUDGE.into(),
                    score: Some(opinion + self.noise_sd * normal(&mut rng)),
                    repeat: Some(repeat),
                    label: Some(LabelText::from(quality.to_string())),
                    length_a: Some(200.0 * doublings.exp2()),
                    generator: Some(if is_own { JUDGE } else { "another" }.into()),
                    ..Judgement::default()
                };
                log.push(&judgement, 0);
            }
        }
        Simulated { log, planted: self.planted() }
    }

    fn planted(&self) -> Vec<Planted> {
        // Half of the items are its own.
        let between = QUALITY[1].powi(2)
            + (self.per_doubling * DOUBLINGS).powi(2)
            + (0.5 * self.own).powi(2)
            + self.opinion_sd.powi(2);
        let within = self.noise_sd.powi(2);
        vec![
            Planted::new("mean_error", self.inflation + 0.5 * self.own, "inflation"),
            // Two normal draws differ by 2σ/√π on average.
            Planted::new("mean_abs_difference", self.noise_sd * std::f64::consts::FRAC_2_SQRT_PI, "noise"),
            Planted::new("icc_single", between / (between + within), "noise"),
            Planted::new("length_effect", self.per_doubling, "points for length"),
            Planted::new("self_preference", self.own, "points for its own work"),
        ]
    }
}
