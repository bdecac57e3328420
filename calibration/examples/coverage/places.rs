//! Scores and verdicts that move with the order or the place in which items are shown.

use assize_calibration::judgement::{Judgement, Order, Verdict};
use assize_calibration::log::Log;

use super::{Rates, Scenario, hit, item, normal, scenario};

pub(super) fn all() -> Vec<Scenario> {
    let mut all = shifts_of_scores();
    all.extend(shifts_of_verdicts());
    all.extend(slopes());
    all
}

/// Scores .3 higher in order ab, more on some items than on others.
fn shifts_of_scores() -> Vec<Scenario> {
    let mut all = Vec::new();
    for (m, size, k) in [(20, 1, 1), (50, 1, 3), (200, 1, 1), (20, 5, 1)] {
        let what = if size == 1 { format!("{m} items × {k}") } else { format!("{m} groups of {size} items") };
        for own in [0.5, 2.0] {
            let name = format!("{what}, scores 0.3 higher in order ab, SD over items {own}");
            all.push(scenario("order_shift", name, m, 0.3, move |rng| {
                let mut log = Log::default();
                for group in 0..m {
                    let shared = normal(rng);
                    for part in 0..size {
                        let mean = normal(rng);
                        let spread = if size == 1 { normal(rng) } else { 0.5_f64.sqrt() * (shared + normal(rng)) };
                        let shift = 0.3 + own * spread;
                        for (order, half) in [(Order::Ab, 0.5), (Order::Ba, -0.5)] {
                            for _ in 0..k {
                                let row = Judgement {
                                    score: Some(mean + half * shift + 0.5 * normal(rng)),
                                    order: Some(order),
                                    group: (size > 1).then(|| format!("g{group}").into()),
                                    ..item(group * size + part)
                                };
                                log.push(&row, 0);
                            }
                        }
                    }
                }
                log
            }));
        }
    }
    all
}

/// Verdicts of which some items are accepted in order ab alone.
fn shifts_of_verdicts() -> Vec<Scenario> {
    let mut all = Vec::new();
    for (m, k) in [(20, 1), (50, 3), (200, 1)] {
        for (steady, word) in [(0.9, "sure"), (0.3, "wavering")] {
            for swayed in [0.05, 0.3] {
                let rates = Rates::new(0.6, steady);
                let name = format!("{m} items × {k}, a {word} judge, {swayed} of them accepted in order ab alone");
                all.push(scenario("order_shift", name, m, swayed, move |rng| {
                    let mut log = Log::default();
                    for idx in 0..m {
                        let rate = rates.draw(rng);
                        let (ab, ba) = if hit(rng, swayed) { (1.0, 0.0) } else { (rate, rate) };
                        for (order, rate) in [(Order::Ab, ab), (Order::Ba, ba)] {
                            for _ in 0..k {
                                let verdict = Some(if hit(rng, rate) { Verdict::Accept } else { Verdict::Reject });
                                log.push(&Judgement { verdict, order: Some(order), ..item(idx) }, 0);
                            }
                        }
                    }
                    log
                }));
            }
        }
    }
    all
}

/// Items shown at the places 1 to 4, or at two of them, that score .2 less a place.
fn slopes() -> Vec<Scenario> {
    let mut all = Vec::new();
    for (m, size) in [(20, 1), (60, 1), (200, 1), (20, 5)] {
        let what = if size == 1 { format!("{m} items") } else { format!("{m} groups of {size} items") };
        for (own, is_even) in [(0.1, true), (0.6, false)] {
            let places = if is_even { "at four places" } else { "at two or four places" };
            let name = format!("{what} {places}, slope −0.2, SD over items {own}");
            all.push(scenario("place_slope", name, m, -0.2, move |rng| {
                let mut log = Log::default();
                for group in 0..m {
                    let shared = normal(rng);
                    for part in 0..size {
                        let mean = normal(rng);
                        let spread = if size == 1 { normal(rng) } else { 0.5_f64.sqrt() * (shared + normal(rng)) };
                        let slope = -0.2 + own * spread;
                        let step = if is_even || hit(rng, 0.5) { 1 } else { 2 };
                        for place in (1..=4_u32).step_by(step) {
                            let row = Judgement {
                                score: Some(mean + slope * f64::from(place) + 0.5 * normal(rng)),
                                place: Some(place),
                                group: (size > 1).then(|| format!("g{group}").into()),
                                ..item(group * size + part)
                            };
                            log.push(&row, 0);
                        }
                    }
                }
                log
            }));
        }
    }
    all
}
