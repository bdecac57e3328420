//! Judges put to use: confidences, costs of errors, pass rates of items without labels.

use assize_calibration::audit::AuditConfig;
use assize_calibration::judgement::{Judgement, Verdict};
use assize_calibration::log::Log;
use assize_calibration::prevalence::LabelSampling;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::{Scenario, hit, item, scenario};

pub(super) fn all() -> Vec<Scenario> {
    let mut all = confidences();
    all.extend(costs());
    all.extend(costs_of_groups());
    all.extend(pass_rates());
    all.extend(pass_rates_of_groups());
    all
}

/// How far a confidence is from the probability of which it is made.
#[derive(Clone, Copy)]
enum Shape {
    /// It says what is so.
    True,
    /// Its odds are those of the truth to the power of 2.5.
    Sharp,
    /// The root of the truth: always too high.
    Root,
}

impl Shape {
    fn stated(self, p: f64) -> f64 {
        match self {
            Self::True => p,
            Self::Sharp => p.powf(2.5) / (p.powf(2.5) + (1.0 - p).powf(2.5)),
            Self::Root => p.sqrt(),
        }
    }
}

/// Items that are good with a probability between `low` and .98.
fn confidences() -> Vec<Scenario> {
    let mut all = Vec::new();
    for (m, per_group) in [(30, 1), (100, 1), (400, 1), (40, 5)] {
        for (shape, word, low) in [
            (Shape::True, "as it is", 0.02),
            (Shape::Sharp, "too sharp", 0.02),
            (Shape::Root, "too high", 0.02),
            (Shape::Sharp, "too sharp, of mostly good items", 0.8),
        ] {
            let probability = move |u: f64| low + (0.98 - low) * u;
            let mean = |of: &dyn Fn(f64, f64) -> f64| {
                let steps = 20_000;
                let at = |idx: u32| probability((f64::from(idx) + 0.5) / f64::from(steps));
                (0..steps).map(|idx| of(at(idx), shape.stated(at(idx)))).sum::<f64>() / f64::from(steps)
            };
            for (measure, truth) in [
                ("overconfidence", mean(&|p, c| c - p)),
                ("brier_score", mean(&|p, c| p * (1.0 - c).powi(2) + (1.0 - p) * c * c)),
                ("log_loss", mean(&|p, c| -p * c.ln() - (1.0 - p) * (1.0 - c).ln())),
            ] {
                let name = if per_group == 1 {
                    format!("{m} items, confidence {word}")
                } else {
                    format!("{m} groups of {per_group} items of one probability, confidence {word}")
                };
                all.push(scenario(measure, name, m, truth, move |rng| {
                    let mut log = Log::default();
                    for group in 0..m {
                        let p = probability(rng.random());
                        for own in 0..per_group {
                            let row = Judgement {
                                verdict: Some(if p > 0.5 { Verdict::Accept } else { Verdict::Reject }),
                                confidence: Some(shape.stated(p)),
                                label: Some(if hit(rng, p) { "1" } else { "0" }.into()),
                                group: (per_group > 1).then(|| format!("g{group}").into()),
                                ..item(group * per_group + own)
                            };
                            log.push(&row, 0);
                        }
                    }
                    log
                }));
            }
        }
    }
    all
}

fn push(log: &mut Log, idx: u32, accepts: bool, label: Option<bool>, group: Option<u32>) {
    let row = Judgement {
        verdict: Some(if accepts { Verdict::Accept } else { Verdict::Reject }),
        label: label.map(|label| if label { "1" } else { "0" }.into()),
        group: group.map(|group| format!("g{group}").into()),
        ..item(idx)
    };
    log.push(&row, 0);
}

fn costs() -> Vec<Scenario> {
    let mut all = Vec::new();
    for m in [40, 100, 400] {
        for (far, frr) in [(0.1, 0.1), (0.02, 0.3), (0.3, 0.02)] {
            let name =
                format!("{m} items, half of them right, false accepts {far} at 5, rejects {frr} at 1, base rate 0.3");
            let mut made = scenario("expected_cost", name, m, 0.7 * 5.0 * far + 0.3 * frr, move |rng| {
                let mut log = Log::default();
                for idx in 0..m {
                    let good = idx % 2 == 0;
                    let accepts = hit(rng, if good { 1.0 - frr } else { far });
                    push(&mut log, idx, accepts, Some(good), None);
                }
                log
            });
            made.config = AuditConfig { costs: Some([5.0, 1.0]), base_rate: Some(0.3), ..AuditConfig::default() };
            all.push(made);
        }
    }
    all
}

/// Groups on which the judge is lenient or strict: both rates move, in opposite directions; or hard ones, in the same.
fn costs_of_groups() -> Vec<Scenario> {
    let mut all = Vec::new();
    for m in [20, 60] {
        for (word, slope) in [("lenient or strict", -1.0), ("easy or hard", 1.0)] {
            let name = format!(
                "{m} groups of 6 items, {word}, errors of 0.05 to 0.45 on either side, costs 2 and 1, base rate 0.5"
            );
            let mut made = scenario("expected_cost", name, m, 0.5 * 2.0 * 0.25 + 0.5 * 0.25, move |rng| {
                let mut log = Log::default();
                for group in 0..m {
                    let shift = if hit(rng, 0.5) { 0.2 } else { -0.2 };
                    for own in 0..6 {
                        let good = own % 2 == 0;
                        let error = if good { 0.25 + slope * shift } else { 0.25 + shift };
                        push(&mut log, 6 * group + own, hit(rng, error) != good, Some(good), Some(group));
                    }
                }
                log
            });
            made.config = AuditConfig { costs: Some([2.0, 1.0]), base_rate: Some(0.5), ..AuditConfig::default() };
            all.push(made);
        }
    }
    all
}

fn pass_rates() -> Vec<Scenario> {
    let mut all = Vec::new();
    for (right, sensitivity, specificity, open, n) in
        [(0.5, 0.9, 0.8, 200, 50), (0.8, 0.95, 0.7, 100, 40), (0.95, 0.8, 0.7, 300, 40), (0.1, 0.85, 0.9, 300, 100)]
    {
        let name = format!(
            "{n} labels a class, {open} without, true accepts {sensitivity}, true rejects {specificity}, {right} of them right"
        );
        all.push(scenario("corrected_pass_rate", name, 2 * n + open, right, move |rng| {
            let mut log = Log::default();
            let accepts = |rng: &mut ChaCha8Rng, good| hit(rng, if good { sensitivity } else { 1.0 - specificity });
            for idx in 0..2 * n {
                let good = idx % 2 == 0;
                let accepted = accepts(rng, good);
                push(&mut log, idx, accepted, Some(good), None);
            }
            for idx in 2 * n..2 * n + open {
                let good = hit(rng, right);
                let accepted = accepts(rng, good);
                push(&mut log, idx, accepted, None, None);
            }
            log
        }));
        let name = format!(
            "{n} of {} at random labelled, true accepts {sensitivity}, true rejects {specificity}, {right} of them right",
            n + open
        );
        let mut made = scenario("corrected_pass_rate_ppi", name, n + open, right, move |rng| {
            let mut log = Log::default();
            for idx in 0..n + open {
                let good = hit(rng, right);
                let accepted = hit(rng, if good { sensitivity } else { 1.0 - specificity });
                push(&mut log, idx, accepted, (idx < n).then_some(good), None);
            }
            log
        });
        made.config.label_sampling = LabelSampling::Random;
        all.push(made);
    }
    all
}

/// Groups that hold items of every sort, on which the judge is lenient or strict.
fn pass_rates_of_groups() -> Vec<Scenario> {
    [30, 80]
        .into_iter()
        .map(|m| {
            let name = format!("{m} groups of 3 labels a class and 6 without, lenient or strict, 0.6 of them right");
            scenario("corrected_pass_rate", name, m, 0.6, move |rng| {
                let mut log = Log::default();
                for group in 0..m {
                    let shift = if hit(rng, 0.5) { 0.1 } else { -0.1 };
                    for own in 0..12 {
                        let good = if own < 6 { own % 2 == 0 } else { hit(rng, 0.6) };
                        let accepts = hit(rng, if good { 0.85 } else { 0.2 } + shift);
                        push(&mut log, 12 * group + own, accepts, (own < 6).then_some(good), Some(group));
                    }
                }
                log
            })
        })
        .collect()
}
