//! Scores held against people's grades.

use assize_calibration::judgement::Judgement;
use assize_calibration::log::Log;
use rand::RngExt;

use super::{Scenario, hit, item, normal, scenario};

/// Quadratic weighted kappa: grades of five levels, and numbers that are not whole.
pub(super) fn weighted_kappas() -> Vec<Scenario> {
    let mut all = Vec::new();
    for (m, k) in [(30, 1), (50, 5), (100, 1), (300, 1)] {
        for (miss, lopsided) in [(0.5, false), (0.1, false), (0.5, true), (0.1, true)] {
            all.push(levels(m, k, miss, lopsided));
        }
        all.push(numbers(m, k));
    }
    all
}

/// Labels 1 to 5; a score is off by one to either side with probability `miss`, where the scale allows. Half of the items' misses are
/// the item's own, and come with every draw.
fn levels(m: u32, k: u32, miss: f64, is_lopsided: bool) -> Scenario {
    let shares = if is_lopsided { [0.02, 0.03, 0.05, 0.2, 0.7] } else { [0.1, 0.2, 0.4, 0.2, 0.1] };
    // What a score is: level and probability, of each label.
    let scores = |label: usize| {
        let mut of = [0.0; 5];
        of[label] += 1.0 - miss;
        of[label.saturating_sub(1)] += miss / 2.0;
        of[(label + 1).min(4)] += miss / 2.0;
        of
    };
    let mut margin = [0.0; 5];
    let mut observed = 0.0;
    for (label, share) in shares.iter().enumerate() {
        for (score, probability) in scores(label).into_iter().enumerate() {
            margin[score] += share * probability;
            observed += share * probability * (score as f64 - label as f64).powi(2);
        }
    }
    let squared = |(a, x): (usize, &f64)| {
        shares.iter().enumerate().map(|(b, y)| x * y * (a as f64 - b as f64).powi(2)).sum::<f64>()
    };
    let expected: f64 = margin.iter().enumerate().map(squared).sum();
    let mix = if is_lopsided { "lopsided" } else { "even" };
    let name = format!("{m} items × {k}, five {mix} levels, {miss} of scores off by one");
    scenario("weighted_kappa", name, m, 1.0 - observed / expected, move |rng| {
        let mut log = Log::default();
        for idx in 0..m {
            let mut at = rng.random::<f64>();
            let label = shares.iter().position(|share| {
                at -= share;
                at < 0.0
            });
            let label = label.unwrap_or(4);
            let step = |up: bool| if up { (label + 1).min(4) } else { label.saturating_sub(1) };
            let is_own = hit(rng, 0.5);
            let (own_miss, own_up) = (hit(rng, miss), hit(rng, 0.5));
            for _ in 0..k {
                let (misses, up) = if is_own { (own_miss, own_up) } else { (hit(rng, miss), hit(rng, 0.5)) };
                let score = if misses { step(up) } else { label };
                let row = Judgement {
                    score: Some(score as f64 + 1.0),
                    label: Some((label + 1).to_string().into()),
                    ..item(idx)
                };
                log.push(&row, 0);
            }
        }
        log
    })
}

/// Normal labels, and scores stretched by .8, half a point up, with noise of the item and of the draw.
fn numbers(m: u32, k: u32) -> Scenario {
    let (stretch, shift, of_item, of_draw) = (0.8, 0.5, 0.4, 0.4);
    let spread: f64 = stretch * stretch + of_item * of_item + of_draw * of_draw;
    let truth = 2.0 * stretch / (1.0 + spread + shift * shift);
    scenario("weighted_kappa", format!("{m} items × {k}, normal numbers, half a point up"), m, truth, move |rng| {
        let mut log = Log::default();
        for idx in 0..m {
            let label = normal(rng);
            let mean = stretch * label + shift + of_item * normal(rng);
            for _ in 0..k {
                let score = Some(mean + of_draw * normal(rng));
                log.push(&Judgement { score, label: Some(label.to_string().into()), ..item(idx) }, 0);
            }
        }
        log
    })
}
