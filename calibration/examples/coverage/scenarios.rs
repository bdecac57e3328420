//! Judges whose truth is known: each scenario draws a log, and says what the measure would be on all items there could be.

#[path = "beside_people.rs"]
mod beside_people;
#[path = "biases.rs"]
mod biases;
#[path = "grades.rs"]
mod grades;
#[path = "in_use.rs"]
mod in_use;
#[path = "labelled_scores.rs"]
mod labelled_scores;
#[path = "places.rs"]
mod places;

use std::f64::consts::PI;

use assize_calibration::audit::AuditConfig;
use assize_calibration::distribution::{beta_quantile, normal_cdf, normal_quantile};
use assize_calibration::judgement::{Choice, Judgement, Order, Verdict};
use assize_calibration::log::Log;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// A judge and a set of items, drawn anew for each replicate.
pub(crate) struct Scenario {
    /// The measure whose interval is put to the test.
    pub(crate) measure: &'static str,
    /// What is drawn, in words.
    pub(crate) name: String,
    /// Independent clusters drawn.
    pub(crate) n_clusters: u32,
    /// The value of the measure over all items there could be.
    pub(crate) truth: f64,
    pub(crate) config: AuditConfig,
    pub(crate) draw: Box<dyn Fn(&mut ChaCha8Rng) -> Log + Sync>,
}

fn scenario(
    measure: &'static str,
    name: String,
    n_clusters: u32,
    truth: f64,
    draw: impl Fn(&mut ChaCha8Rng) -> Log + Sync + 'static,
) -> Scenario {
    Scenario { measure, name, n_clusters, truth, config: AuditConfig::default(), draw: Box::new(draw) }
}

fn normal(rng: &mut ChaCha8Rng) -> f64 {
    normal_quantile(rng.random_range(1e-12..1.0))
}

fn hit(rng: &mut ChaCha8Rng, probability: f64) -> bool {
    rng.random::<f64>() < probability
}

/// A draw of a beta distribution with mean `p` and intraclass correlation `rho` of its trials; the mean itself at 0.
struct Rates {
    /// Quantiles at even steps: exact enough, and quick to draw from.
    quantiles: Vec<f64>,
}

impl Rates {
    const STEPS: usize = 4_000;

    fn new(p: f64, rho: f64) -> Self {
        if rho <= 0.0 {
            return Self { quantiles: vec![p] };
        }
        let size = 1.0 / rho - 1.0;
        let step = |idx: usize| (idx as f64 + 0.5) / Self::STEPS as f64;
        Self { quantiles: (0..Self::STEPS).map(|idx| beta_quantile(step(idx), p * size, (1.0 - p) * size)).collect() }
    }

    fn draw(&self, rng: &mut ChaCha8Rng) -> f64 {
        self.quantiles[rng.random_range(0..self.quantiles.len())]
    }

    /// The mean of what is drawn, free of the steps' error.
    fn mean(&self, value: impl Fn(f64) -> f64) -> f64 {
        self.quantiles.iter().map(|&p| value(p)).sum::<f64>() / self.quantiles.len() as f64
    }
}

fn item(idx: u32) -> Judgement<'static> {
    Judgement { item: idx.to_string().into(), ..Judgement::default() }
}

fn verdict(log: &mut Log, idx: u32, accepts: bool, label: bool, group: Option<u32>) {
    let verdict = if accepts { Verdict::Accept } else { Verdict::Reject };
    let label = if label { "1" } else { "0" };
    let group = group.map(|group| format!("g{group}").into());
    log.push(&Judgement { verdict: Some(verdict), label: Some(label.into()), group, ..item(idx) }, 0);
}

fn score(log: &mut Log, idx: u32, score: f64, label: Option<bool>, group: Option<u32>) {
    let label = label.map(|label| if label { "1" } else { "0" }.into());
    log.push(&Judgement { score: Some(score), label, group: group.map(|g| format!("g{g}").into()), ..item(idx) }, 0);
}

fn choice(log: &mut Log, idx: u32, is_a: bool, order: Option<Order>) {
    let choice = Some(if is_a { Choice::A } else { Choice::B });
    log.push(&Judgement { choice, order, ..item(idx) }, 0);
}

/// Every scenario, by family.
pub(crate) fn all() -> Vec<Scenario> {
    let mut all = rates();
    all.extend(grouped_rates());
    all.extend(flips());
    all.extend(differences());
    all.extend(moved());
    all.extend(swaps());
    all.extend(intraclass());
    all.extend(repeat_alpha());
    all.extend(chance_corrected());
    all.extend(predictive_values());
    all.extend(areas());
    all.extend(grades::weighted_kappas());
    all.extend(spreads());
    all.extend(in_use::all());
    all.extend(biases::lengths());
    all.extend(biases::own_items());
    all.extend(biases::weighted_rates());
    all.extend(labelled_scores::all());
    all.extend(places::all());
    all.extend(beside_people::all());
    all
}

/// The rate of false accepts, items err with different probabilities.
fn rates() -> Vec<Scenario> {
    let mut all = Vec::new();
    for (m, k) in [(20, 1), (20, 5), (50, 5), (200, 1), (200, 5)] {
        for p in [0.01, 0.05, 0.2, 0.5] {
            for rho in [0.1, 0.5] {
                if k == 1 && rho < 0.5 {
                    continue;
                }
                let rates = Rates::new(p, rho);
                let truth = rates.mean(|p| p);
                let name = format!("{m} items × {k}, rate {p}, correlation within an item {rho}");
                all.push(scenario("false_accept_rate", name, m, truth, move |rng| {
                    let mut log = Log::default();
                    for idx in 0..m {
                        let rate = rates.draw(rng);
                        (0..k).for_each(|_| verdict(&mut log, idx, hit(rng, rate), false, None));
                    }
                    log
                }));
            }
        }
    }
    all
}

/// The same with items in groups of 1 to 9 that share their rate.
fn grouped_rates() -> Vec<Scenario> {
    let mut all = Vec::new();
    for m in [20, 50, 150] {
        for p in [0.05, 0.3] {
            let rates = Rates::new(p, 0.3);
            let truth = rates.mean(|p| p);
            let name = format!("{m} groups of 1 to 9 items × 1, rate {p}, correlation within a group 0.3");
            all.push(scenario("false_accept_rate", name, m, truth, move |rng| {
                let mut log = Log::default();
                let mut idx = 0;
                for group in 0..m {
                    let rate = rates.draw(rng);
                    for _ in 0..rng.random_range(1..10) {
                        verdict(&mut log, idx, hit(rng, rate), false, Some(group));
                        idx += 1;
                    }
                }
                log
            }));
        }
    }
    all
}

/// Two draws differ: only some items are in doubt.
fn flips() -> Vec<Scenario> {
    let mut all = Vec::new();
    for (m, k) in [(20, 3), (20, 8), (50, 5), (200, 5)] {
        for doubtful in [0.05, 0.2, 0.6] {
            let name = format!("{m} items × {k}, {doubtful} of them with a uniform probability of either answer");
            all.push(scenario("flip_rate", name, m, doubtful / 3.0, move |rng| {
                let mut log = Log::default();
                for idx in 0..m {
                    let p = if hit(rng, doubtful) { rng.random::<f64>() } else { 1.0 };
                    (0..k).for_each(|_| choice(&mut log, idx, hit(rng, p), None));
                }
                log
            }));
        }
    }
    all
}

/// Normal scores of items whose spread differs: half have none.
fn differences() -> Vec<Scenario> {
    let mut all = Vec::new();
    for (m, k) in [(20, 3), (50, 5), (100, 5), (300, 5)] {
        for noisy in [0.05, 0.1, 0.5, 1.0] {
            let name = format!("{m} items × {k}, {noisy} of them with a spread of 0.5 or 1.5 points, else none");
            let truth = noisy * (0.5 + 1.5) / 2.0 * 2.0 / PI.sqrt();
            all.push(scenario("mean_abs_difference", name, m, truth, move |rng| {
                let mut log = Log::default();
                for idx in 0..m {
                    let sd = match (hit(rng, noisy), hit(rng, 0.5)) {
                        (false, _) => 0.0,
                        (true, true) => 0.5,
                        (true, false) => 1.5,
                    };
                    let mean = 5.0 + 2.0 * normal(rng);
                    (0..k).for_each(|_| score(&mut log, idx, mean + sd * normal(rng), None, None));
                }
                log
            }));
        }
    }
    all
}

/// Five draws span more than a point: some items waver between two scores two apart.
fn moved() -> Vec<Scenario> {
    let mut all = Vec::new();
    for (m, k) in [(10, 5), (20, 8), (50, 5), (200, 5)] {
        for wavering in [0.1_f64, 0.4] {
            let name = format!("{m} items × {k}, {wavering} of them waver evenly between 5 and 7");
            let truth = wavering * (1.0 - 2.0 * 0.5_f64.powi(5));
            all.push(scenario("moved_over_one_point", name, m, truth, move |rng| {
                let mut log = Log::default();
                for idx in 0..m {
                    let wavers = hit(rng, wavering);
                    for _ in 0..k {
                        let value = if wavers && hit(rng, 0.5) { 7.0 } else { 5.0 };
                        score(&mut log, idx, value, None, None);
                    }
                }
                log
            }));
        }
    }
    all
}

/// Both orders, some items following the place. The rest choose with a probability that the order does not move.
fn swaps() -> Vec<Scenario> {
    let mut all = Vec::new();
    for (m, k) in [(20, 3), (50, 2), (50, 5), (96, 3), (200, 3)] {
        for swayed in [0.0, 0.05, 0.3] {
            let steady = Rates::new(0.5, 0.6);
            let name =
                format!("{m} items × {k} in both orders, {swayed} of them choosing the first shown .9 of the time");
            let draw = move |rng: &mut ChaCha8Rng| {
                let mut log = Log::default();
                for idx in 0..m {
                    let p = steady.draw(rng);
                    let (ab, ba) = if hit(rng, swayed) { (0.9, 0.1) } else { (p, p) };
                    for _ in 0..k {
                        choice(&mut log, idx, hit(rng, ab), Some(Order::Ab));
                        choice(&mut log, idx, hit(rng, ba), Some(Order::Ba));
                    }
                }
                log
            };
            let steady = Rates::new(0.5, 0.6);
            let same = steady.mean(|p| p * p + (1.0 - p) * (1.0 - p));
            let draw = std::sync::Arc::new(draw);
            for (measure, truth) in [
                ("position_excess", swayed * 0.64),
                ("position_direction", swayed * 0.8),
                ("swap_consistency", swayed * 0.18 + (1.0 - swayed) * same),
            ] {
                let draw = std::sync::Arc::clone(&draw);
                all.push(scenario(measure, name.clone(), m, truth, move |rng| draw(rng)));
            }
        }
    }
    all
}

/// How items differ from one another.
#[derive(Clone, Copy)]
enum Between {
    Normal,
    /// Most items score alike, a few far higher.
    Skewed,
    /// Two camps, as of right and wrong answers.
    TwoCamps,
}

/// A draw with mean 0 and variance 1.
fn between(rng: &mut ChaCha8Rng, shape: Between) -> f64 {
    match shape {
        Between::Normal => normal(rng),
        Between::Skewed => -(1.0 - rng.random::<f64>()).ln() - 1.0,
        Between::TwoCamps => {
            if hit(rng, 0.5) {
                1.0
            } else {
                -1.0
            }
        }
    }
}

fn intraclass() -> Vec<Scenario> {
    let mut all = Vec::new();
    let shapes = [(Between::Normal, "normal"), (Between::Skewed, "exponential"), (Between::TwoCamps, "two camps")];
    for (m, k) in [(20, 3), (50, 3), (50, 8), (200, 5)] {
        for rho in [0.5_f64, 0.9] {
            for (shape, word) in shapes {
                for noise in ["even", "uneven"] {
                    let name = format!("{m} items × {k}, ICC {rho}, items {word}, noise {noise}");
                    let is_even = noise == "even";
                    all.push(scenario("icc_single", name, m, rho, move |rng| {
                        let mut log = Log::default();
                        for idx in 0..m {
                            let mean = rho.sqrt() * between(rng, shape);
                            // Uneven: two thirds of the items have no noise, the others three times the variance.
                            let sd = if is_even {
                                1.0
                            } else if hit(rng, 1.0 / 3.0) {
                                3.0_f64.sqrt()
                            } else {
                                0.0
                            };
                            let sd = sd * (1.0 - rho).sqrt();
                            (0..k).for_each(|_| score(&mut log, idx, mean + sd * normal(rng), None, None));
                        }
                        log
                    }));
                }
            }
        }
    }
    for m in [20, 60] {
        let name = format!("{m} groups of 4 items × 3, ICC 0.8, half of it shared by the group");
        all.push(scenario("icc_single", name, m, 0.8, move |rng| {
            let mut log = Log::default();
            for group in 0..m {
                let shared = 0.4_f64.sqrt() * normal(rng);
                for own in 0..4 {
                    let mean = shared + 0.4_f64.sqrt() * normal(rng);
                    for _ in 0..3 {
                        let value = mean + 0.2_f64.sqrt() * normal(rng);
                        score(&mut log, 4 * group + own, value, None, Some(group));
                    }
                }
            }
            log
        }));
    }
    all
}

fn repeat_alpha() -> Vec<Scenario> {
    let mut all = Vec::new();
    for (m, k) in [(20, 3), (50, 5), (200, 5)] {
        for (shape, word) in [(Between::Normal, "normal"), (Between::Skewed, "exponential")] {
            let name = format!("{m} items × {k}, scores, items {word}, alpha 0.8");
            all.push(scenario("repeat_alpha", name, m, 0.8, move |rng| {
                let mut log = Log::default();
                for idx in 0..m {
                    let mean = 0.8_f64.sqrt() * between(rng, shape);
                    (0..k).for_each(|_| score(&mut log, idx, mean + 0.2_f64.sqrt() * normal(rng), None, None));
                }
                log
            }));
        }
        for (p, rho) in [(0.5, 0.6), (0.5, 0.9), (0.1, 0.8)] {
            let rates = Rates::new(p, rho);
            let mean = rates.mean(|p| p);
            let truth = 1.0 - rates.mean(|p| p * (1.0 - p)) / (mean * (1.0 - mean));
            let name = format!("{m} items × {k}, share of one answer {p}, alpha {truth:.2}");
            all.push(scenario("repeat_alpha", name, m, truth, move |rng| {
                let mut log = Log::default();
                for idx in 0..m {
                    let rate = rates.draw(rng);
                    (0..k).for_each(|_| choice(&mut log, idx, hit(rng, rate), None));
                }
                log
            }));
        }
    }
    all
}

/// A judge with these rates of right answers on right and on wrong items, the same judge measured three ways.
fn chance_corrected() -> Vec<Scenario> {
    let mut all = Vec::new();
    for (m, k) in [(30, 1), (50, 5), (100, 1), (300, 1)] {
        for (good, sensitivity, specificity) in [(0.5, 0.9, 0.8), (0.2, 0.9, 0.9), (0.5, 0.97, 0.95)] {
            let observed = good * sensitivity + (1.0 - good) * specificity;
            let accepted = good * sensitivity + (1.0 - good) * (1.0 - specificity);
            let expected = good * accepted + (1.0 - good) * (1.0 - accepted);
            let mean: f64 = f64::midpoint(good, accepted);
            let of = |expected: f64| (observed - expected) / (1.0 - expected);
            for (measure, truth) in [
                ("kappa", of(expected)),
                ("ac1", of(2.0 * mean * (1.0 - mean))),
                ("alpha_with_labels", of(mean * mean + (1.0 - mean) * (1.0 - mean))),
            ] {
                let [right, wrong] = [sensitivity, 1.0 - specificity].map(|rate| Rates::new(rate, 0.4));
                let name = format!(
                    "{m} items × {k}, {good} of them right, accepted {sensitivity} and {:.2}",
                    1.0 - specificity
                );
                all.push(scenario(measure, name, m, truth, move |rng| {
                    let mut log = Log::default();
                    for idx in 0..m {
                        let is_good = hit(rng, good);
                        let rate = if is_good { &right } else { &wrong }.draw(rng);
                        (0..k).for_each(|_| verdict(&mut log, idx, hit(rng, rate), is_good, None));
                    }
                    log
                }));
            }
        }
    }
    all
}

fn predictive_values() -> Vec<Scenario> {
    let mut all = Vec::new();
    for (m, k) in [(40, 1), (100, 1), (100, 5), (400, 1)] {
        for (far, frr, base) in [(0.1, 0.1, 0.5), (0.05, 0.2, 0.1), (0.3, 0.05, 0.5)] {
            let [wrong, right] = [far, 1.0 - frr].map(|rate| Rates::new(rate, 0.4));
            let truth = (1.0 - frr) * base / ((1.0 - frr) * base + far * (1.0 - base));
            let name =
                format!("{m} items × {k}, half of them right, false accepts {far}, rejects {frr}, base rate {base}");
            let mut made = scenario("precision", name, m, truth, move |rng| {
                let mut log = Log::default();
                for idx in 0..m {
                    let is_good = idx % 2 == 0;
                    let rate = if is_good { &right } else { &wrong }.draw(rng);
                    (0..k).for_each(|_| verdict(&mut log, idx, hit(rng, rate), is_good, None));
                }
                log
            });
            made.config.base_rate = Some(base);
            all.push(made);
        }
    }
    all
}

fn areas() -> Vec<Scenario> {
    let mut all = Vec::new();
    for (m, k) in [(40, 1), (40, 5), (100, 1), (300, 3)] {
        for area in [0.7, 0.85, 0.95] {
            let distance = normal_quantile(area) * 2.0_f64.sqrt();
            let truth = normal_cdf(distance / 2.0_f64.sqrt());
            let name = format!("{m} items × {k}, half of them right, area {area}, half of the variance the item's");
            all.push(scenario("auc", name, m, truth, move |rng| {
                let mut log = Log::default();
                for idx in 0..m {
                    let is_good = idx % 2 == 0;
                    let mean = 0.5_f64.sqrt() * normal(rng) + if is_good { distance } else { 0.0 };
                    (0..k).for_each(|_| {
                        score(&mut log, idx, mean + 0.5_f64.sqrt() * normal(rng), Some(is_good), None);
                    });
                }
                log
            }));
        }
    }
    all
}

/// The pooled spread, whose interval is known to be too short where items differ.
fn spreads() -> Vec<Scenario> {
    [(50, 5, true), (50, 5, false), (200, 5, false)]
        .into_iter()
        .map(|(m, k, is_even)| {
            let name = format!("{m} items × {k}, noise {}", if is_even { "even" } else { "in a tenth of the items" });
            let truth = if is_even { 1.0 } else { 0.1_f64.sqrt() };
            scenario("within_item_sd", name, m, truth, move |rng| {
                let mut log = Log::default();
                for idx in 0..m {
                    let sd = if is_even || hit(rng, 0.1) { 1.0 } else { 0.0 };
                    let mean = normal(rng);
                    (0..k).for_each(|_| score(&mut log, idx, mean + sd * normal(rng), None, None));
                }
                log
            })
        })
        .collect()
}
