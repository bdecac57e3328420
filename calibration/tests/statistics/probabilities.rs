//! What an audit says of confidences, and what recalibration would make of them and of scores.

use assize_calibration::audit::result::{JudgeAudit, RecalibrationMap};
use assize_calibration::audit::{AuditConfig, audit};
use assize_calibration::bootstrap::BootstrapConfig;
use assize_calibration::gate::Gate;
use assize_calibration::judgement::{Choice, Judgement, Verdict};
use assize_calibration::reliability::{
    Binning, Forecasts, brier_parts, calibration_error, null_ece, reliability_curve,
};
use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

use crate::golden::{assert_close, golden, numbers, rows};
use crate::small_logs::Rows;

fn judged(rows: &Rows, config: &AuditConfig) -> JudgeAudit {
    audit(&rows.0, config, &Gate::built_in()).unwrap().judges.remove(0)
}

/// A verdict with a confidence that the item is good.
fn stated<'a>(confidence: f64, accepts: bool, label: Option<bool>) -> Judgement<'a> {
    Judgement {
        verdict: Some(if accepts { Verdict::Accept } else { Verdict::Reject }),
        confidence: Some(confidence),
        label: label.map(|label| if label { "1" } else { "0" }.into()),
        ..Judgement::default()
    }
}

#[test]
fn confidences_of_verdicts_are_no_scores_and_the_area_says_so() {
    let of = |confidence: Option<f64>| {
        let mut log = Rows::default();
        (0..20).for_each(|item| {
            let row = stated(0.5, item % 3 == 0, Some(item % 2 == 0));
            log.push(item, Judgement { confidence, ..row });
        });
        let judge = log.judge();
        assert!(!judge.measures.contains_key("auc"));
        judge.unmeasured.into_iter().find(|unmeasured| unmeasured.id == "auc")
    };
    let found = of(Some(0.7)).unwrap();
    assert!(found.reason.contains("Brier") && found.needs == ["score"], "{found:?}");
    assert_eq!(of(None), None);
}

/// Item, group, confidence, label, verdict.
fn log_of(set: &Value) -> Rows {
    let mut log = Rows::default();
    for row in rows(&set["rows"]) {
        let judgement = stated(row[2], row[4] > 0.5, Some(row[3] > 0.5));
        log.push(row[0] as usize, Judgement { group: Some(format!("g{}", row[1]).into()), ..judgement });
    }
    log
}

#[test]
fn confidences_agree_with_reference_packages() {
    for set in golden("probabilities")["sets"].as_array().unwrap() {
        let config = AuditConfig { costs: Some([5.0, 2.0]), base_rate: Some(0.3), ..AuditConfig::default() };
        let judge = judged(&log_of(set), &config);
        for id in ["brier_score", "log_loss", "ece", "overconfidence"] {
            assert_close(judge.measures[id].estimate, set[id].as_f64().unwrap(), 1e-9, id);
        }
        let cost = judge.measures["expected_cost"].estimate;
        assert_close(cost, set["expected_cost_5_2_at_0.3"].as_f64().unwrap(), 1e-9, "expected cost");
        let [confidence] = judge.reliability.as_slice() else { panic!("confidences alone") };
        let [isotonic, platt] = confidence.recalibrations.as_slice() else { panic!("two ways") };
        let RecalibrationMap::Isotonic(steps) = &isotonic.map else { panic!("steps") };
        for (value, expected) in numbers(&set["values"]).into_iter().zip(numbers(&set["isotonic"])) {
            let step = steps.iter().rev().find(|[from, _]| *from <= value).unwrap();
            assert!((step[1] - expected).abs() < 1e-9, "{value}: {} is not {expected}", step[1]);
        }
        let RecalibrationMap::Platt(sigmoid) = platt.map else { panic!("a sigmoid") };
        for (actual, expected) in sigmoid.into_iter().zip(numbers(&set["platt"])) {
            // scipy stops where the gradient is 1e-10.
            assert_close(actual, expected, 1e-6, "sigmoid");
        }
    }
}

/// The audit works on tallies, the library on observations.
#[test]
fn curves_are_those_of_the_library() {
    for set in golden("probabilities")["sets"].as_array().unwrap() {
        let judge = judged(&log_of(set), &AuditConfig::default());
        let rows = rows(&set["rows"]);
        let n_repeats = rows.iter().filter(|row| row[0] == 0.0).count() as f64;
        let column = |idx: usize| rows.iter().map(|row| row[idx]).collect::<Vec<f64>>();
        let (confidences, outcomes) = (column(2), column(3));
        let clusters: Vec<u32> = rows.iter().map(|row| row[1] as u32).collect();
        let weights = vec![1.0 / n_repeats; rows.len()];
        let forecasts = Forecasts {
            confidences: &confidences,
            outcomes: &outcomes,
            weights: Some(&weights),
            clusters: Some(&clusters),
        };
        let curves = &judge.reliability[0].as_stated.as_ref().unwrap().curves;
        for (curve, binning) in curves.iter().zip([Binning::EqualWidth, Binning::EqualMass]) {
            let expected = reliability_curve(&forecasts, binning, 10).unwrap();
            assert_eq!((curve.bins.len(), curve.binning.as_str()), (expected.len(), binning.name()));
            for (bin, expected) in curve.bins.iter().zip(&expected) {
                assert_eq!((bin.low, bin.high), (expected.low, expected.high));
                assert_eq!(bin.event_rate.n_clusters, expected.n_clusters as u64);
                assert!((bin.mean_confidence - expected.mean_confidence).abs() < 1e-12);
                assert!((bin.event_rate.estimate - expected.event_rate).abs() < 1e-12);
                assert!((bin.share - expected.share).abs() < 1e-12);
            }
            let error = calibration_error(&expected).unwrap();
            assert!((curve.ece_debiased - error.expected_debiased).abs() < 1e-12);
            assert!((curve.squared_debiased - error.squared_debiased).abs() < 1e-12);
            let parts = brier_parts(&forecasts, binning, 10).unwrap();
            for (actual, expected) in [
                (curve.reliability, parts.reliability),
                (curve.resolution, parts.resolution),
                (curve.uncertainty, parts.uncertainty),
                (curve.within_bins, parts.within_bins),
            ] {
                assert!((actual - expected).abs() < 1e-12, "{actual} is not {expected}");
            }
            let null = null_ece(&forecasts, binning, 10, BootstrapConfig { n_resamples: 4_000, seed: 3 }).unwrap();
            assert_close(curve.ece_of_perfect, null.mean, 0.06, "of a perfect judge");
            assert_close(curve.ece_of_perfect_upper, null.upper, 0.1, "of a perfect judge, 95 %");
        }
    }
}

/// A judge that means what it says, or is twice as sure as it should be in log odds.
fn draws(rng: &mut ChaCha8Rng, n: usize, sharpness: f64) -> Vec<(f64, bool)> {
    (0..n)
        .map(|_| {
            let p: f64 = rng.random_range(0.02..0.98);
            let stated = p.powf(sharpness) / (p.powf(sharpness) + (1.0 - p).powf(sharpness));
            (stated, rng.random::<f64>() < p)
        })
        .collect()
}

fn log_of_draws(draws: &[(f64, bool)]) -> Rows {
    let mut log = Rows::default();
    for (item, &(confidence, label)) in draws.iter().enumerate() {
        log.push(item, stated(confidence, confidence > 0.5, Some(label)));
    }
    log
}

#[test]
fn a_judge_that_is_too_sure_is_found_and_mended() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let judge = judged(&log_of_draws(&draws(&mut rng, 800, 2.5)), &AuditConfig::default());
    let ece = &judge.measures["ece"];
    assert!(ece.estimate > ece.details["of_perfect_upper"] && ece.low.is_none(), "{ece:?}");
    let found = judge.findings.iter().find(|finding| finding.what.contains("does not mean what it says")).unwrap();
    assert!(found.advice.contains("Map its confidences"), "{found:?}");
    for audit in &judge.reliability[0].recalibrations {
        assert!(audit.brier_gain.as_ref().unwrap().low.unwrap() > 0.0, "{}", audit.method);
        let curve = &audit.scores.curves[0];
        assert!(curve.ece < curve.ece_of_perfect_upper * 1.3 && curve.ece < 0.5 * ece.estimate);
    }
}

#[test]
fn a_judge_that_means_what_it_says_is_left_alone() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let judge = judged(&log_of_draws(&draws(&mut rng, 600, 1.0)), &AuditConfig::default());
    let ece = &judge.measures["ece"];
    assert!(ece.estimate < ece.details["of_perfect_upper"]);
    assert!(judge.findings.iter().any(|finding| finding.what.starts_with("Nothing shows that its confidence")));
}

/// Fitted and judged on the same items, isotonic regression would show skill.
#[test]
fn recalibration_finds_nothing_in_noise() {
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    let noise: Vec<(f64, bool)> = (0..400).map(|_| (rng.random(), rng.random())).collect();
    let judge = judged(&log_of_draws(&noise), &AuditConfig::default());
    let curve = &judge.reliability[0].as_stated.as_ref().unwrap().curves[0];
    for audit in &judge.reliability[0].recalibrations {
        let brier = audit.scores.brier_score.estimate;
        assert!(brier > curve.uncertainty - 0.002, "{}: {brier}", audit.method);
    }
}

/// More values than are told apart: groups of neighbours, and normal bins for the perfect judge.
#[test]
fn large_logs_are_measured_in_groups() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let draws = draws(&mut rng, 21_000, 1.5);
    let judge = judged(&log_of_draws(&draws), &AuditConfig::default());
    let reliability = &judge.reliability[0];
    assert!(reliability.is_grouped && reliability.n_values <= 20_000);
    let (confidences, outcomes): (Vec<f64>, Vec<f64>) =
        draws.iter().map(|(confidence, label)| (confidence, f64::from(u8::from(*label)))).unzip();
    let forecasts = Forecasts { confidences: &confidences, outcomes: &outcomes, weights: None, clusters: None };
    for (curve, binning) in
        reliability.as_stated.as_ref().unwrap().curves.iter().zip([Binning::EqualWidth, Binning::EqualMass])
    {
        let expected = calibration_error(&reliability_curve(&forecasts, binning, 10).unwrap()).unwrap();
        // Bins of equal mass are cut between groups.
        assert_close(curve.ece, expected.expected, 1e-3, "calibration error");
        let null = null_ece(&forecasts, binning, 10, BootstrapConfig { n_resamples: 200, seed: 3 }).unwrap();
        assert_close(curve.ece_of_perfect, null.mean, 0.06, "of a perfect judge");
        assert_close(curve.ece_of_perfect_upper, null.upper, 0.08, "of a perfect judge, 95 %");
    }
    let gain = reliability.recalibrations[0].brier_gain.as_ref().unwrap();
    assert!(gain.low.unwrap() > 0.0);
}

#[test]
fn scores_are_no_probabilities() {
    let mut log = Rows::default();
    for item in 0..60 {
        let label = if item % 3 == 0 { "0" } else { "1" };
        let score = if item % 3 == 0 { (item % 5) as f64 } else { 2.0 + (item % 4) as f64 };
        log.push(item, Judgement { score: Some(score), label: Some(label.into()), ..Judgement::default() });
    }
    let judge = log.judge();
    let [score] = judge.reliability.as_slice() else { panic!("scores alone") };
    assert!(score.of == "score" && score.as_stated.is_none() && score.recalibrations.len() == 2);
    assert!(score.recalibrations.iter().all(|audit| audit.brier_gain.is_none()));
    let missing = judge.unmeasured.iter().find(|missing| missing.id == "ece").unwrap();
    assert_eq!(missing.needs, ["confidence"]);
}

/// Of mostly good items few are wrong, and a sample may hold none of them.
#[test]
fn overconfidence_covers_where_little_goes_wrong() {
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    let sharp = |p: f64| p.powf(2.5) / (p.powf(2.5) + (1.0 - p).powf(2.5));
    let steps = 20_000;
    let at = |idx: u32| 0.8 + 0.18 * (f64::from(idx) + 0.5) / f64::from(steps);
    let truth = (0..steps).map(|idx| sharp(at(idx)) - at(idx)).sum::<f64>() / f64::from(steps);
    let (mut below, mut above) = (0, 0);
    for _ in 0..300 {
        let draws: Vec<(f64, bool)> = (0..30)
            .map(|_| {
                let p = rng.random_range(0.8..0.98);
                (sharp(p), rng.random::<f64>() < p)
            })
            .collect();
        let judge = judged(&log_of_draws(&draws), &AuditConfig::default());
        let measure = &judge.measures["overconfidence"];
        below += u32::from(measure.high.unwrap() < truth);
        above += u32::from(measure.low.unwrap() > truth);
    }
    // At most .03 of 300 on either side, and three standard errors.
    assert!(below <= 18 && above <= 18, "{below} {above}");
}

#[test]
fn a_choice_is_right_or_not() {
    let mut log = Rows::default();
    for item in 0..20 {
        let choice = Some(if item % 4 == 0 { Choice::B } else { Choice::A });
        let row = Judgement { choice, confidence: Some(0.9), label: Some("a".into()), ..Judgement::default() };
        log.push(item, row);
    }
    let judge = log.judge();
    assert!((judge.measures["overconfidence"].estimate - 0.15).abs() < 1e-12);
    assert_eq!(judge.reliability[0].event, "the answer is right");
}

#[test]
fn certainty_that_was_wrong_has_no_finite_loss() {
    let mut log = Rows::default();
    for item in 0..30 {
        log.push(item, stated(1.0, true, Some(item > 0)));
    }
    let judge = log.judge();
    let missing = judge.unmeasured.iter().find(|missing| missing.id == "log_loss").unwrap();
    assert!(missing.reason.contains("infinite"));
    assert!((judge.measures["brier_score"].estimate - 1.0 / 30.0).abs() < 1e-12);
    assert!(judge.reliability[0].as_stated.as_ref().unwrap().log_loss.is_none());
}

#[test]
fn a_confidence_of_the_verdict_is_told_from_one_of_the_item() {
    let mut log = Rows::default();
    for item in 0..40 {
        log.push(item, stated(0.9, item % 2 == 0, Some(item % 2 == 0)));
    }
    let judge = log.judge();
    assert!(judge.findings.iter().any(|finding| finding.what.contains("contradict themselves")));
}

#[test]
fn confidences_without_labels_say_nothing() {
    let mut log = Rows::default();
    for item in 0..40 {
        log.push(item, stated(0.9, true, None));
    }
    let judge = log.judge();
    assert!(judge.reliability.is_empty());
    let missing = judge.unmeasured.iter().find(|missing| missing.id == "brier_score").unwrap();
    assert_eq!(missing.needs, ["label"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn nothing_is_ever_no_number(
        rows in prop::collection::vec((0_usize..12, 0..=10_u8, prop::bool::ANY, prop::option::of(0_u8..2)), 1..60),
        is_grouped in prop::bool::ANY,
    ) {
        let mut log = Rows::default();
        for (item, confidence, accepts, label) in rows {
            // One label an item.
            let label = label.map(|_| item % 2 == 0);
            let group = is_grouped.then(|| format!("g{}", item % 3).into());
            log.push(item, Judgement { group, ..stated(f64::from(confidence) / 10.0, accepts, label) });
        }
        let config = AuditConfig { costs: Some([3.0, 1.0]), ..AuditConfig::default() };
        let judge = judged(&log, &config);
        for (id, measure) in &judge.measures {
            prop_assert!(measure.estimate.is_finite(), "{id}");
            let ends = (measure.low.unwrap_or(f64::MIN), measure.high.unwrap_or(f64::MAX));
            prop_assert!(ends.0 <= ends.1, "{id}: {ends:?}");
        }
        let text = serde_json::to_string(&judge.reliability).unwrap();
        // JSON has no NaN: it is written as null. Absent ends of intervals are too.
        for reliability in &judge.reliability {
            for scores in reliability.as_stated.iter().chain(reliability.recalibrations.iter().map(|audit| &audit.scores)) {
                for curve in &scores.curves {
                    prop_assert!(curve.ece.is_finite() && curve.ece_of_perfect.is_finite() && curve.ece_debiased.is_finite(), "{text}");
                    prop_assert!(curve.within_bins.is_finite() && (0.0..=1.0).contains(&curve.ece));
                }
            }
        }
    }
}
