//! Judges swayed by length or by who made an item, and logs whose mix is not that of production.

use assize_calibration::judgement::{Judgement, Verdict};
use assize_calibration::log::Log;

use super::{Rates, Scenario, hit, item, normal, scenario};

/// Scores that rise with length beside quality; noise even, or larger for longer texts; items alone or in groups that err alike.
pub(super) fn lengths() -> Vec<Scenario> {
    let mut all = Vec::new();
    for (n_groups, size) in [(30, 1), (100, 1), (12, 5), (40, 5)] {
        for is_even in [true, false] {
            let noise = if is_even { "noise even" } else { "noise growing with length" };
            let name = match size {
                1 => format!("{n_groups} items, {noise}"),
                _ => format!("{n_groups} groups of {size} items, {noise}, half of the variance the group's"),
            };
            all.push(scenario("length_effect", name, n_groups, 0.3, move |rng| {
                let mut log = Log::default();
                for group in 0..n_groups {
                    let (shared, shared_length) = (normal(rng), normal(rng));
                    for part in 0..size {
                        let length = 7.0 + 0.7 * shared_length + 0.7 * normal(rng);
                        let is_good = hit(rng, 0.5);
                        let spread = if is_even { 1.0 } else { (length / 7.0).powi(4) };
                        let own = if size == 1 { normal(rng) } else { 0.7 * (shared + normal(rng)) };
                        let score = 0.3 * length + f64::from(u8::from(is_good)) + spread * own;
                        let row = Judgement {
                            score: Some(score),
                            length_a: Some(length.exp2()),
                            label: Some(if is_good { "1" } else { "0" }.into()),
                            group: (size > 1).then(|| format!("g{group}").into()),
                            ..item(group * size + part)
                        };
                        log.push(&row, 0);
                    }
                }
                log
            }));
        }
    }
    all
}

/// Scores of two judges on items of which some are the first judge's own.
pub(super) fn own_items() -> Vec<Scenario> {
    [(20, 10), (60, 30), (60, 6), (200, 20)]
        .into_iter()
        .map(|(m, n_own)| {
            let name = format!("two judges, {m} items, {n_own} of them its own");
            scenario("self_preference", name, m, 0.5, move |rng| {
                let mut log = Log::default();
                for idx in 0..m {
                    let quality = normal(rng);
                    let (is_own, generator) = if idx < n_own { (1.0, "m") } else { (0.0, "n") };
                    for (judge, bonus) in [("m", 0.5), ("x", 0.0)] {
                        let score = Some(quality + normal(rng) + bonus * is_own);
                        let row =
                            Judgement { score, judge: judge.into(), generator: Some(generator.into()), ..item(idx) };
                        log.push(&row, 0);
                    }
                }
                log
            })
        })
        .collect()
}

/// The rate of false accepts in a mix of which a tenth is hard, from logs of which half is.
pub(super) fn weighted_rates() -> Vec<Scenario> {
    let mut all = Vec::new();
    for (m, easy, hard) in [(40, 0.1, 0.4), (100, 0.1, 0.4), (100, 0.02, 0.3), (400, 0.02, 0.3)] {
        for k in [1, 5] {
            let name = format!("{m} items × {k}, weights 0.2 and 1.8, rates {hard} and {easy}");
            let truth = 0.1 * hard + 0.9 * easy;
            let [of_easy, of_hard] = [easy, hard].map(|rate| Rates::new(rate, if k > 1 { 0.5 } else { 0.0 }));
            all.push(scenario("false_accept_rate", name, m, truth, move |rng| {
                let mut log = Log::default();
                for idx in 0..m {
                    let is_hard = hit(rng, 0.5);
                    let rate = if is_hard { &of_hard } else { &of_easy }.draw(rng);
                    for _ in 0..k {
                        let verdict = Some(if hit(rng, rate) { Verdict::Accept } else { Verdict::Reject });
                        let weight = Some(if is_hard { 0.2 } else { 1.8 });
                        log.push(&Judgement { verdict, label: Some("0".into()), weight, ..item(idx) }, 0);
                    }
                }
                log
            }));
        }
    }
    all
}
