//! Scores held against labels: do right items score higher, do scores rank and meet the labels?
//!
//! An observation is one draw; an item's draws share its weight, so that items count the same however often they were
//! judged.

use std::collections::BTreeMap;

use crate::cluster::Tallies;
use crate::influence::{WithInfluence, standard_error_of_sums, sums_by_cluster};
use crate::interval::Spread;
use crate::judgement::OutcomeKind;
use crate::rank::{kendall_tau_b, spearman, spearman_kendall_pearson};
use crate::roc::{AucFlag, auc};

use crate::audit::accuracy::weighted_kappa;
use crate::audit::data::table::{Subject, Table, Unit, is};
use crate::audit::estimate::{Estimated, Measured, Values};

const LABEL: &[&str] = &["label"];
const SPEARMAN: &str = "Spearman's rank correlation";
const KENDALL: &str = "Kendall's tau-b";
/// What is below this is rounding.
const NOTHING: f64 = 1e-12;

pub(crate) fn measure(table: &Table<'_>, subject: &Subject, units: &[Unit], measured: &mut Measured) {
    if table.kind != OutcomeKind::Score {
        if !table.log.confidence.is_empty() {
            let reason = "it is of scores, and the answers are none; how far confidences tell apart what comes true is the resolution of the Brier score";
            measured.unmeasured("auc", reason, &["score"]);
        }
        return;
    }
    area(subject, units, measured);
    let observed = Observed::new(subject, units, |unit| unit.truth.value);
    if observed.scores.is_empty() {
        let reason = "no item has a label that is a score";
        for id in [
            "spearman",
            "kendall",
            "pearson",
            "mean_error",
            "mean_absolute_error",
            "alpha_with_labels",
            "weighted_kappa",
        ] {
            measured.unmeasured(id, reason, LABEL);
        }
        return;
    }
    let correlations = spearman_kendall_pearson(&observed.scores, &observed.labels, Some(&observed.weights));
    let names = [("spearman", SPEARMAN), ("kendall", KENDALL), ("pearson", "Pearson's correlation")];
    for ((id, name), found) in names.into_iter().zip(correlations) {
        let jackknifed = if id == "pearson" { observed.pearson_jackknife() } else { None };
        let value = found.and_then(|found| observed.correlation(&found, name, jackknifed));
        measured.record(id, value, "scores or labels do not vary", &[]);
    }
    errors(table, subject, units, measured);
    weighted_kappa::measure(table, subject, units, measured);
}

/// Draws of labelled units as observations.
#[derive(Default)]
struct Observed {
    scores: Vec<f64>,
    labels: Vec<f64>,
    weights: Vec<f64>,
    clusters: Vec<u32>,
    n: u64,
    n_items: u64,
}

impl Observed {
    /// Equal draws of a unit become one observation with their weight.
    fn new(subject: &Subject, units: &[Unit], label: impl Fn(&Unit) -> Option<f64>) -> Self {
        let mut observed = Self::default();
        let mut draws = Vec::new();
        let mut last_item = None;
        for unit in units {
            let Some(label) = label(unit) else { continue };
            draws.clear();
            draws.extend(subject.parsed_of(unit));
            if draws.is_empty() {
                continue;
            }
            draws.sort_unstable_by(f64::total_cmp);
            observed.n += draws.len() as u64;
            observed.n_items += u64::from(last_item.replace(unit.item) != Some(unit.item));
            for run in draws.chunk_by(|a, b| a.total_cmp(b).is_eq()) {
                observed.scores.push(run[0]);
                observed.labels.push(label);
                observed.weights.push(unit.weight * run.len() as f64 / draws.len() as f64);
                observed.clusters.push(unit.cluster);
            }
        }
        observed
    }

    /// Adds what others report instead of the area: correlations with labels of 0 and 1, and the mean score of either class.
    fn beside_area(&self, value: Estimated) -> Estimated {
        let Self { scores, labels, weights, .. } = &self.merged();
        let of = |found: Option<WithInfluence>| found.map_or(f64::NAN, |found| found.estimate);
        let mean = |label: f64| {
            let own = || labels.iter().zip(weights).zip(scores).filter(|((l, _), _)| is(**l, label));
            own().map(|((_, weight), score)| weight * score).sum::<f64>() / own().map(|((_, w), _)| w).sum::<f64>()
        };
        value
            .detail("spearman_with_labels", of(spearman(scores, labels, Some(weights))))
            .detail("kendall_with_labels", of(kendall_tau_b(scores, labels, Some(weights))))
            .detail("mean_score_of_right_items", mean(1.0))
            .detail("mean_score_of_wrong_items", mean(0.0))
    }

    /// Returns equal observations as one, which is enough for estimates without their errors.
    fn merged(&self) -> Self {
        let mut known: hashbrown::HashMap<[u64; 2], usize, foldhash::fast::RandomState> = hashbrown::HashMap::default();
        let mut merged = Self::default();
        for ((score, label), weight) in self.scores.iter().zip(&self.labels).zip(&self.weights) {
            let idx = *known.entry([score.to_bits(), label.to_bits()]).or_insert_with(|| {
                merged.scores.push(*score);
                merged.labels.push(*label);
                merged.weights.push(0.0);
                merged.weights.len() - 1
            });
            merged.weights[idx] += weight;
        }
        merged
    }

    /// Returns the standard error of Pearson's correlation on the scale of atanh, and what one cluster more could do to it there, by leaving
    /// out a cluster at a time: the infinitesimal jackknife is too short for it. `None` where leaving one out leaves nothing that varies.
    fn pearson_jackknife(&self) -> Option<(f64, [f64; 2])> {
        let origin = (*self.scores.first()?, *self.labels.first()?);
        let n_clusters = self.clusters.iter().copied().max()? as usize + 1;
        let mut sums: Tallies<6> = Tallies::new(n_clusters);
        for (idx, &cluster) in self.clusters.iter().enumerate() {
            let (w, x, y) = (self.weights[idx], self.scores[idx] - origin.0, self.labels[idx] - origin.1);
            sums.add(cluster, [w, w * x, w * y, w * x * x, w * y * y, w * x * y]);
        }
        let on_z = |sums: &[f64; 6]| {
            let [w, x, y, xx, yy, xy] = *sums;
            let (of_x, of_y) = (xx - x * x / w, yy - y * y / w);
            // What rounding leaves of no variation is none.
            let varies = of_x > NOTHING * xx && of_y > NOTHING * yy;
            Some((xy - x * y / w) / (of_x * of_y).sqrt()).filter(|r| varies && r.abs() < 1.0 - NOTHING).map(f64::atanh)
        };
        let (_, standard_error, reach) = sums.jackknife_and_reach(on_z)?;
        (standard_error > NOTHING && standard_error.is_finite()).then_some((standard_error, reach))
    }

    fn correlation(&self, found: &WithInfluence, name: &str, jackknifed: Option<(f64, [f64; 2])>) -> Option<Estimated> {
        let estimate = found.estimate;
        let by_cluster = sums_by_cluster(&found.influence, Some(&self.clusters))?;
        let (standard_error, n_clusters) = standard_error_of_sums(&by_cluster)?;
        let degrees = n_clusters as f64 - 1.0;
        let spread = if estimate.abs() >= 1.0 - NOTHING {
            // No disordered pair among half as many independent ones as there are clusters: tau is 1 − 2 P(disordered),
            // and Spearman's correlation is at least (3 tau − 1)/2 (Daniels 1950; Durbin & Stuart 1951).
            let size = match name {
                SPEARMAN => 3.0,
                KENDALL => 2.0,
                _ => f64::NAN,
            };
            if size.is_nan() {
                Spread::None
            } else {
                Spread::Unseen { n_clusters: (n_clusters / 2) as f64, size: -estimate.signum() * size }
            }
        } else if let Some((standard_error, reach)) = jackknifed {
            Spread::FisherZ { standard_error, reach, shift: 0.0, degrees }
        } else {
            let least = by_cluster.iter().copied().fold(0.0, f64::min);
            let most = by_cluster.iter().copied().fold(0.0, f64::max);
            Spread::fisher_z_and_reach(estimate, standard_error, [-least, most], degrees)
        };
        let jackknife = if jackknifed.is_some() { "jackknife" } else { "infinitesimal jackknife" };
        Some(Estimated {
            estimate,
            spread,
            n: self.n,
            n_items: self.n_items,
            n_clusters: n_clusters as u64,
            method: format!(
                "{name} of single scores with labels; {jackknife} over clusters, scale of atanh, either end with one cluster more like \
                 the one that moves it most"
            ),
            cautions: Vec::new(),
            details: [("standard_error".to_owned(), standard_error)].into(),
            worst: None,
        })
    }
}

/// The probability that a right item scores higher than a wrong one.
fn area(subject: &Subject, units: &[Unit], measured: &mut Measured) {
    let observed = Observed::new(subject, units, |unit| unit.truth.good.map(|good| f64::from(u8::from(good))));
    let is_good: Vec<bool> = observed.labels.iter().map(|label| *label > 0.5).collect();
    let value = auc(&observed.scores, &is_good, Some(&observed.weights), Some(&observed.clusters)).map(|found| {
        let n_clusters = observed.clusters.chunk_by(|a, b| a == b).count() as u64;
        let estimate = found.estimate;
        // The smaller class bounds what is known: so many pairs of a right and a wrong item are independent.
        let n_pairs = found.n_positive_clusters.min(found.n_negative_clusters) as f64;
        let few = found.flag.is_some();
        let standard_error = found.standard_error.map(|standard_error| {
            // Few disordered pairs say little of their variance: then each cluster counts as one observation at most.
            let least = if few { hanley_mcneil(estimate, found.n_positive_clusters, found.n_negative_clusters) } else { 0.0 };
            if standard_error > NOTHING { standard_error.max(least) } else { standard_error }
        });
        let spread = match standard_error {
            _ if estimate >= 1.0 => Spread::Unseen { n_clusters: n_pairs, size: -1.0 },
            _ if estimate <= 0.0 => Spread::Unseen { n_clusters: n_pairs, size: 1.0 },
            // What rounding leaves of no variation is no standard error.
            Some(standard_error) if standard_error > NOTHING => {
                Spread::Logit { standard_error: standard_error / (estimate * (1.0 - estimate)), degrees: n_pairs - 1.0 }
            }
            _ => Spread::None,
        };
        let cautions = match found.flag {
            None => Vec::new(),
            Some(AucFlag::Separated) => vec![
                "the classes are apart: the interval is that of no disordered pair among as many as the smaller class"
                    .to_owned(),
            ],
            Some(_) => {
                vec![
                    "a class has fewer than 30 clusters and the area exceeds .9: each cluster counts as one observation at most"
                        .to_owned(),
                ]
            }
        };
        Estimated {
            estimate,
            spread,
            n: observed.n,
            n_items: observed.n_items,
            n_clusters,
            method: "area under the ROC curve, ties half; DeLong variance, Obuchowski's over clusters, logit scale"
                .to_owned(),
            cautions,
            details: [
                ("n_right_clusters".to_owned(), found.n_positive_clusters as f64),
                ("n_wrong_clusters".to_owned(), found.n_negative_clusters as f64),
            ]
            .into(),
            worst: None,
        }
    });
    let value = value.map(|value| {
        let value = observed.beside_area(value);
        [("right", true), ("wrong", false)].into_iter().fold(value, |value, (name, good)| {
            let of_class = || units.iter().filter(|unit| unit.truth.good == Some(good));
            let (sum, n) = of_class()
                .flat_map(|unit| subject.parsed_of(unit))
                .fold((0.0, 0.0), |(sum, n), draw| (sum + draw, n + 1.0));
            value.detail(&format!("pooled_mean_score_of_{name}_items"), sum / n)
        })
    });
    measured.record("auc", value, "needs items labelled right and items labelled wrong", LABEL);
}

/// Returns the standard error of an area between so many right and wrong items if scores are exponential (Hanley & `McNeil` 1982).
fn hanley_mcneil(area: f64, n_right: usize, n_wrong: usize) -> f64 {
    let (n_right, n_wrong) = (n_right as f64, n_wrong as f64);
    let of_right = area / (2.0 - area) - area * area;
    let of_wrong = 2.0 * area * area / (1.0 + area) - area * area;
    let variance = area * (1.0 - area) + (n_right - 1.0) * of_right + (n_wrong - 1.0) * of_wrong;
    (variance / (n_right * n_wrong)).max(0.0).sqrt()
}

/// How far scores are from labels, and alpha between them.
fn errors(table: &Table<'_>, subject: &Subject, units: &[Unit], measured: &mut Measured) {
    let (mut signed, mut absolute) = (Values::default(), Values::default());
    let centre = table.scale.map_or(0.0, |[low, high]| f64::midpoint(low, high));
    // Units, squared difference, sum and sum of squares of both values.
    let mut sums: Tallies<4> = Tallies::new(table.n_clusters);
    let (mut n_all, mut n_items) = (0_u64, 0_u64);
    let (mut n_units, mut weight) = (0.0, 0.0);
    for unit in units {
        let Some(label) = unit.truth.value else { continue };
        let (mut n, mut error, mut distance, mut squares) = (0.0, 0.0, 0.0, 0.0);
        let (mut sum, mut sum_squares) = (0.0, 0.0);
        for draw in subject.parsed_of(unit) {
            n += 1.0;
            error += draw - label;
            distance += (draw - label).abs();
            squares += (draw - label) * (draw - label);
            sum += draw - centre;
            sum_squares += (draw - centre) * (draw - centre);
        }
        if n > 0.0 {
            let own = label - centre;
            let count = subject.parsed_of(unit).count();
            signed.push(unit, error / n, count);
            absolute.push(unit, distance / n, count);
            let tally = [1.0, squares / n, sum / n + own, sum_squares / n + own * own];
            sums.add(unit.cluster, tally.map(|part| unit.weight * part));
            n_units += 1.0;
            weight += unit.weight;
            n_all += count as u64;
            n_items += 1;
        }
    }
    let any = [f64::NEG_INFINITY, f64::INFINITY];
    let width = table.trusted_width();
    measured.record("mean_error", signed.mean("score less label, mean over items", any, None), "", &[]);
    let value = absolute.mean("|score less label|, mean over items", [0.0, f64::INFINITY], width);
    measured.record("mean_absolute_error", value, "", &[]);
    // Weights count as so many units as there are.
    let even = n_units / weight;
    let alpha = |sums: &[f64; 4]| {
        let [units, squares, sum, sum_squares] = sums.map(|sum| even * sum);
        let n = 2.0 * units;
        let expected = 2.0 * (sum_squares - sum * sum / n) / (n - 1.0);
        (units > 1.0 && expected > NOTHING * sum_squares / n).then(|| 1.0 - squares / units / expected)
    };
    let value = sums.jackknife_and_reach(alpha).map(|(estimate, standard_error, reach)| Estimated {
        estimate,
        spread: Spread::fisher_z_and_reach(estimate, standard_error, reach, sums.n_clusters() as f64 - 1.0),
        n: n_all,
        n_items,
        n_clusters: sums.n_clusters(),
        method: "Krippendorff's alpha (interval) of score and label; cluster jackknife on the scale of atanh, \
                 either end with one cluster more like the one that moves it most"
            .to_owned(),
        cautions: Vec::new(),
        details: BTreeMap::new(),
        worst: None,
    });
    measured.record("alpha_with_labels", value, "scores and labels do not vary", &[]);
}
