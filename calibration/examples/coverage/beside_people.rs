//! A judge beside people who rate the same items.

use assize_calibration::judgement::{Judgement, Verdict};
use assize_calibration::log::Log;
use rand_chacha::ChaCha8Rng;
use std::f64::consts::PI;
use std::sync::Arc;

use super::{Scenario, hit, item, normal, scenario};

pub(super) fn all() -> Vec<Scenario> {
    let mut all = verdicts();
    all.extend(distances());
    all
}

/// Probabilities that a person and that the judge is right, on easy and on hard items, and the share of hard ones.
#[derive(Clone, Copy)]
struct Crowd {
    person: [f64; 2],
    judge: [f64; 2],
    hard: f64,
    word: &'static str,
}

const CROWDS: [Crowd; 2] = [
    Crowd { person: [0.9, 0.6], judge: [0.85, 0.6], hard: 0.3, word: "items easy or hard" },
    Crowd { person: [0.99, 0.6], judge: [0.98, 0.9], hard: 0.05, word: "nearly all items easy" },
];

/// The vote of most, in parts where votes tie: 1 for right, 0 for wrong.
fn majority(n_right: u32, n: u32) -> f64 {
    match (2 * n_right).cmp(&n) {
        std::cmp::Ordering::Greater => 1.0,
        std::cmp::Ordering::Equal => 0.5,
        std::cmp::Ordering::Less => 0.0,
    }
}

impl Crowd {
    /// The expectation of a figure of how many of `n_people` and of `k` answers are right.
    fn mean(self, n_people: u32, k: u32, of: impl Fn(u32, u32) -> f64) -> f64 {
        let binomial = |n: u32, k: u32, p: f64| {
            let ways: f64 = (0..k).map(|idx| f64::from(n - idx) / f64::from(idx + 1)).product();
            ways * p.powi(k.cast_signed()) * (1.0 - p).powi((n - k).cast_signed())
        };
        let at = |kind: usize| -> f64 {
            let pairs = (0..=n_people).flat_map(|people| (0..=k).map(move |judge| (people, judge)));
            pairs
                .map(|(people, judge)| {
                    binomial(n_people, people, self.person[kind])
                        * binomial(k, judge, self.judge[kind])
                        * of(people, judge)
                })
                .sum()
        };
        (1.0 - self.hard) * at(0) + self.hard * at(1)
    }

    fn truths(self, n_people: u32, k: u32) -> [(&'static str, f64); 4] {
        // Where a right person is left out, and where a wrong one is, the majority of the others.
        let left = move |people: u32| {
            let without = move |is_right: bool| majority(people - u32::from(is_right), n_people - 1);
            (without, f64::from(people) / f64::from(n_people))
        };
        let judge = self.mean(n_people, k, |people, judge| {
            let (without, right) = left(people);
            let others = if people > 0 { right * without(true) } else { 0.0 }
                + if people < n_people { (1.0 - right) * without(false) } else { 0.0 };
            let own = f64::from(judge) / f64::from(k);
            own * others + (1.0 - own) * (1.0 - others)
        });
        let person = self.mean(n_people, k, |people, _| {
            let (without, right) = left(people);
            let agree_right = if people > 0 { right * without(true) } else { 0.0 };
            let agree_wrong = if people < n_people { (1.0 - right) * (1.0 - without(false)) } else { 0.0 };
            agree_right + agree_wrong
        });
        let bias = self.mean(n_people, k, |people, judge| {
            let (people, own) = (majority(people, n_people), majority(judge, k));
            1.0 - people * own - (1.0 - people) * (1.0 - own)
        });
        let variance = self.mean(n_people, k, |_, judge| {
            let right = f64::from(judge) / f64::from(k);
            let of_right = if judge > 0 { right * majority(judge - 1, k - 1) } else { 0.0 };
            let of_wrong = if judge < k { (1.0 - right) * (1.0 - majority(judge, k - 1)) } else { 0.0 };
            1.0 - of_right - of_wrong
        });
        [
            ("agreement_with_people", judge),
            ("agreement_gap", judge - person),
            ("bias_from_people", bias),
            ("variance_of_draws", variance),
        ]
    }
}

fn verdicts() -> Vec<Scenario> {
    let mut all = Vec::new();
    for (m, n_people) in [(30, 3), (100, 3), (100, 5), (300, 3)] {
        for crowd in CROWDS {
            let name = format!("{m} items × 3, {n_people} people, {}", crowd.word);
            let draw = Arc::new(move |rng: &mut ChaCha8Rng| {
                let mut log = Log::default();
                for idx in 0..m {
                    let kind = usize::from(hit(rng, crowd.hard));
                    let truth = hit(rng, 0.5);
                    let says = |is_right: bool| Some(if truth == is_right { Verdict::Accept } else { Verdict::Reject });
                    for person in 0..n_people {
                        let verdict = says(hit(rng, crowd.person[kind]));
                        let rater = Some(format!("p{person}").into());
                        log.push(&Judgement { verdict, rater, ..item(idx) }, 0);
                    }
                    for _ in 0..3 {
                        let verdict = says(hit(rng, crowd.judge[kind]));
                        log.push(&Judgement { verdict, judge: "j".into(), ..item(idx) }, 0);
                    }
                }
                log
            });
            for (measure, truth) in crowd.truths(n_people, 3) {
                let draw = Arc::clone(&draw);
                all.push(scenario(measure, name.clone(), m, truth, move |rng| draw(rng)));
            }
        }
    }
    all
}

/// The mean of |x| for normal x.
fn folded(mean: f64, sd: f64) -> f64 {
    let z = mean / sd;
    let below = assize_calibration::distribution::normal_cdf(-z);
    sd * (2.0 / PI).sqrt() * (-z * z / 2.0).exp() + mean * (1.0 - 2.0 * below)
}

/// Scores about an item's quality; on some items people and judge are three times as far apart.
fn distances() -> Vec<Scenario> {
    let mut all = Vec::new();
    for (m, n_people) in [(30, 3), (100, 3), (300, 5)] {
        for far in [0.1, 0.5] {
            let name = format!("{m} items × 2, {n_people} people, {far} of them scored three times as far apart");
            let others = f64::from(n_people) - 1.0;
            let over = |of: &dyn Fn(f64) -> f64| (1.0 - far) * of(1.0) + far * of(3.0);
            let person = over(&|spread| folded(0.0, spread * (1.0 + 1.0 / others).sqrt()));
            let judge = over(&|spread| folded(0.3, spread * (0.8_f64.powi(2) + 1.0 / others).sqrt()));
            let draw = Arc::new(move |rng: &mut ChaCha8Rng| {
                let mut log = Log::default();
                for idx in 0..m {
                    let quality = 2.0 * normal(rng);
                    let spread = if hit(rng, far) { 3.0 } else { 1.0 };
                    for person in 0..n_people {
                        let score = Some(quality + spread * normal(rng));
                        log.push(&Judgement { score, rater: Some(format!("p{person}").into()), ..item(idx) }, 0);
                    }
                    for _ in 0..2 {
                        let score = Some(quality + 0.3 + 0.8 * spread * normal(rng));
                        log.push(&Judgement { score, judge: "j".into(), ..item(idx) }, 0);
                    }
                }
                log
            });
            for (measure, truth) in [("distance_to_people", judge), ("distance_gap", judge - person)] {
                let draw = Arc::clone(&draw);
                all.push(scenario(measure, name.clone(), m, truth, move |rng| draw(rng)));
            }
        }
    }
    all
}
