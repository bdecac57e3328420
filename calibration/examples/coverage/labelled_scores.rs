//! Scores held against labels that are scores: correlations, errors, pairs, levels in use, and halo.

use assize_calibration::judgement::Judgement;
use assize_calibration::log::Log;
use assize_calibration::rank::{kendall_tau_b, pearson, spearman};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::f64::consts::PI;
use std::sync::Arc;

use super::{Scenario, hit, item, normal, scenario};

pub(super) fn all() -> Vec<Scenario> {
    let mut all = normal_pairs();
    all.extend(levels());
    all.extend(halo());
    all
}

fn push(log: &mut Log, idx: u32, score: f64, label: f64, group: Option<u32>) {
    let group = group.map(|group| format!("g{group}").into());
    log.push(&Judgement { score: Some(score), label: Some(label.to_string().into()), group, ..item(idx) }, 0);
}

/// Scores and labels of one normal distribution, scores half a point too high; half of what is not the label's is the draw's.
fn normal_pairs() -> Vec<Scenario> {
    let mut all = Vec::new();
    for (m, k) in [(20, 1), (50, 1), (50, 3), (200, 1)] {
        for rho in [0.3_f64, 0.6, 0.9] {
            let name = format!("{m} items × {k}, normal scores and labels, correlation {rho}");
            let draw = Arc::new(move |rng: &mut ChaCha8Rng| {
                let mut log = Log::default();
                let rest = ((1.0 - rho * rho) / 2.0).sqrt();
                for idx in 0..m {
                    let label = normal(rng);
                    let mean = 0.5 + rho * label + rest * normal(rng);
                    (0..k).for_each(|_| push(&mut log, idx, mean + rest * normal(rng), label, None));
                }
                log
            });
            // The difference of score and label is normal about .5, with variance 2(1 − ρ).
            let sd = (2.0 * (1.0 - rho)).sqrt();
            let z = 0.5 / sd;
            let density = (-z * z / 2.0).exp() / (2.0 * PI).sqrt();
            let below = assize_calibration::distribution::normal_cdf(-z);
            for (measure, truth) in [
                ("pearson", rho),
                ("spearman", 6.0 / PI * (rho / 2.0).asin()),
                ("kendall", 2.0 / PI * rho.asin()),
                ("mean_error", 0.5),
                ("mean_absolute_error", 2.0 * sd * density + 0.5 * (1.0 - 2.0 * below)),
            ] {
                let draw = Arc::clone(&draw);
                all.push(scenario(measure, name.clone(), m, truth, move |rng| draw(rng)));
            }
        }
    }
    all
}

/// What labels occur how often, and by how much scores are off: −2, −1, 0, 1, 2, cut at the ends of 1 to 5.
#[derive(Clone, Copy)]
struct Mix {
    labels: [f64; 5],
    off: [f64; 5],
    word: &'static str,
}

const MIXES: [Mix; 3] = [
    Mix { labels: [0.2; 5], off: [0.02, 0.13, 0.6, 0.2, 0.05], word: "labels even, .6 of the scores theirs" },
    Mix {
        labels: [0.02, 0.03, 0.1, 0.25, 0.6],
        off: [0.02, 0.13, 0.6, 0.2, 0.05],
        word: "labels mostly 5, .6 of the scores theirs",
    },
    Mix { labels: [0.2; 5], off: [0.01, 0.02, 0.94, 0.02, 0.01], word: "labels even, .94 of the scores theirs" },
];

fn pick(rng: &mut ChaCha8Rng, shares: &[f64; 5]) -> usize {
    let mut left: f64 = rng.random();
    for (idx, share) in shares.iter().enumerate() {
        left -= share;
        if left < 0.0 {
            return idx;
        }
    }
    4
}

/// The score, from 0 to 4, of a label at this place.
fn score_of(label: usize, off: usize) -> usize {
    (label + off).saturating_sub(2).min(4)
}

impl Mix {
    /// Labels, scores and their probabilities.
    fn cells(self) -> Vec<(f64, f64, f64)> {
        let places = (0..5).flat_map(|label| (0..5).map(move |off| (label, off)));
        places
            .map(|(label, off)| {
                (label as f64 + 1.0, score_of(label, off) as f64 + 1.0, self.labels[label] * self.off[off])
            })
            .collect()
    }

    fn mean(self, of: impl Fn(f64, f64) -> f64) -> f64 {
        self.cells().iter().map(|(label, score, p)| p * of(*label, *score)).sum()
    }

    fn pairwise_accuracy(self) -> f64 {
        let cells = self.cells();
        let at = |epsilon: f64| -> f64 {
            let right = |one: &(f64, f64, f64), other: &(f64, f64, f64)| {
                let called = if (one.1 - other.1).abs() <= epsilon { 0.0 } else { (one.1 - other.1).signum() };
                let is = if (one.0 - other.0).abs() < 0.5 { 0.0 } else { (one.0 - other.0).signum() };
                if (called - is).abs() < 0.5 { one.2 * other.2 } else { 0.0 }
            };
            cells.iter().map(|one| cells.iter().map(|other| right(one, other)).sum::<f64>()).sum()
        };
        (0..5).map(|epsilon| at(f64::from(epsilon))).fold(0.0, f64::max)
    }

    fn truths(self) -> [(&'static str, f64); 8] {
        let cells = self.cells();
        let (labels, scores): (Vec<f64>, Vec<f64>) = cells.iter().map(|cell| (cell.0, cell.1)).unzip();
        let shares: Vec<f64> = cells.iter().map(|cell| cell.2).collect();
        let mut of_scores = [0.0; 5];
        for (idx, share) in (1_u32..).zip(&mut of_scores) {
            *share = cells.iter().filter(|cell| (cell.1 - f64::from(idx)).abs() < 0.5).map(|cell| cell.2).sum();
        }
        let centre = self.mean(f64::midpoint);
        let apart = self.mean(|label, score| (score - label) * (score - label));
        let about = self.mean(|label, score| (label - centre).powi(2) + (score - centre).powi(2));
        let weights = Some(shares.as_slice());
        [
            ("pearson", pearson(&scores, &labels, weights).expect("both vary").estimate),
            ("spearman", spearman(&scores, &labels, weights).expect("both vary").estimate),
            ("kendall", kendall_tau_b(&scores, &labels, weights).expect("both vary").estimate),
            ("mean_error", self.mean(|label, score| score - label)),
            ("mean_absolute_error", self.mean(|label, score| (score - label).abs())),
            ("alpha_with_labels", 1.0 - apart / about),
            ("pairwise_accuracy", self.pairwise_accuracy()),
            ("effective_levels", of_scores.iter().filter(|p| **p > 0.0).map(|p| -p * p.ln()).sum::<f64>().exp()),
        ]
    }
}

/// Whole scores and labels from 1 to 5, alone or in groups half of whose items are like the group's first.
fn levels() -> Vec<Scenario> {
    let mut all = Vec::new();
    for (m, size, k) in [(30, 1, 1), (100, 1, 1), (100, 1, 3), (300, 1, 1), (20, 6, 1), (60, 6, 1)] {
        for mix in MIXES {
            let what = if size == 1 {
                format!("{m} items × {k}")
            } else {
                format!("{m} groups of {size} items, half of them alike")
            };
            let name = format!("{what}, {}", mix.word);
            let draw = Arc::new(move |rng: &mut ChaCha8Rng| {
                let mut log = Log::default();
                for group in 0..m {
                    let first = (pick(rng, &mix.labels), pick(rng, &mix.off));
                    for own in 0..size {
                        let (label, off) = if size > 1 && hit(rng, 0.5) {
                            first
                        } else {
                            (pick(rng, &mix.labels), pick(rng, &mix.off))
                        };
                        for _ in 0..k {
                            // A repeat departs from the item's own score now and then.
                            let off = if k == 1 || hit(rng, 0.7) { off } else { pick(rng, &mix.off) };
                            let (score, label) = (score_of(label, off) as f64 + 1.0, label as f64 + 1.0);
                            push(&mut log, group * size + own, score, label, (size > 1).then_some(group));
                        }
                    }
                }
                log
            });
            for (measure, truth) in mix.truths() {
                let draw = Arc::clone(&draw);
                let mut made = scenario(measure, name.clone(), m, truth, move |rng| draw(rng));
                made.config.scale = Some([1.0, 5.0]);
                all.push(made);
            }
        }
    }
    all
}

/// Three dimensions of an item, of which labels share .3 of their variance, and scores beside what the labels give them .5 of the rest.
fn halo() -> Vec<Scenario> {
    let mut all = Vec::new();
    for m in [20, 50, 200] {
        for is_skewed in [false, true] {
            let name = format!(
                "{m} items, three dimensions, impressions {}",
                if is_skewed { "exponential" } else { "normal" }
            );
            all.push(scenario("halo_excess", name, m, 0.36 * 0.3 + 0.64 * 0.5 - 0.3, move |rng| {
                let mut log = Log::default();
                for idx in 0..m {
                    let common = normal(rng);
                    let impression = if is_skewed { -(1.0 - rng.random::<f64>()).ln() - 1.0 } else { normal(rng) };
                    for dimension in ["a", "b", "c"] {
                        let label = 0.3_f64.sqrt() * common + 0.7_f64.sqrt() * normal(rng);
                        let own = 0.5_f64.sqrt() * (impression + normal(rng));
                        let row = Judgement {
                            score: Some(0.6 * label + 0.8 * own),
                            label: Some(label.to_string().into()),
                            dimension: Some(dimension.into()),
                            ..item(idx)
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
