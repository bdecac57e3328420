//! Quadratic weighted kappa with labels and between judges, and what else is said of scores of several raters.

use assize_calibration::agreement::concordance::{PairSums, quadratic_kappa};
use assize_calibration::audit::{AuditConfig, audit};
use assize_calibration::gate::Gate;
use assize_calibration::icc::{IccModel, IccUnit, icc, mean_squares};
use assize_calibration::judgement::Judgement;
use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::golden::{assert_close, golden, numbers};
use crate::small_logs::{Rows, close};

fn scored(score: f64, label: f64) -> Judgement<'static> {
    Judgement { score: Some(score), label: Some(label.to_string().into()), ..Judgement::default() }
}

#[test]
fn on_whole_numbers_it_is_scikit_learns() {
    for case in golden("concordance")["whole"].as_array().unwrap() {
        let (scores, labels) = (numbers(&case["score"]), numbers(&case["label"]));
        let expected = case["quadratic"].as_f64().unwrap();
        assert_close(quadratic_kappa(&scores, &labels).unwrap().kappa, expected, 1e-12, "library");
        let mut log = Rows::default();
        for (item, (score, label)) in scores.iter().zip(&labels).enumerate() {
            log.push(item, scored(*score, *label));
        }
        let judge = log.judge();
        let measure = &judge.measures["weighted_kappa"];
        assert_close(measure.estimate, expected, 1e-12, "audit");
        for (detail, key) in
            [("linear_weights", "linear"), ("unweighted", "unweighted"), ("by_position_of_levels", "by_position")]
        {
            assert_close(measure.details[detail], case[key].as_f64().unwrap(), 1e-12, detail);
        }
        let share = scores.iter().filter(|score| **score == 3.0).count() as f64 / scores.len() as f64;
        close(measure.details["answer_share.3"], share, 1e-12);
    }
}

#[test]
fn on_any_numbers_it_is_lins_concordance() {
    for case in golden("concordance")["real"].as_array().unwrap() {
        let found = quadratic_kappa(&numbers(&case["x"]), &numbers(&case["y"])).unwrap();
        assert_close(found.kappa, case["lin"].as_f64().unwrap(), 1e-9, "Lin");
        assert_close(found.kappa, case["pairs"].as_f64().unwrap(), 1e-9, "all pairs");
    }
}

#[test]
fn draws_of_an_item_share_its_weight() {
    let mut log = Rows::default();
    for (item, scores, label) in [(0, vec![1.0, 3.0], 1.0), (1, vec![4.0], 5.0), (2, vec![2.0, 2.0], 2.0)] {
        for score in scores {
            log.push(item, scored(score, label));
        }
    }
    let single = quadratic_kappa(&[1.0, 3.0, 4.0, 4.0, 2.0, 2.0], &[1.0, 1.0, 5.0, 5.0, 2.0, 2.0]).unwrap();
    close(log.judge().measures["weighted_kappa"].estimate, single.kappa, 1e-12);
}

#[test]
fn what_is_perfect_or_constant_is_said_as_such() {
    let (mut perfect, mut constant, mut binary) = (Rows::default(), Rows::default(), Rows::default());
    for item in 0..40_usize {
        let value = (item % 4) as f64 + 1.0;
        perfect.push(item, scored(value, value));
        constant.push(item, scored(3.0, 3.0));
        binary.push(item, scored(value, (item % 2) as f64));
    }
    let measure = perfect.judge().measures.remove("weighted_kappa").unwrap();
    close(measure.estimate, 1.0, 1e-12);
    // One pair at both ends of 1 to 4 in 40 items, against an expected square of 2.5.
    assert!(measure.low.unwrap() < 0.9 && measure.low.unwrap() > 0.6 && measure.high == Some(1.0), "{measure:?}");
    let reason = |log: &Rows| {
        let judge = log.judge();
        assert!(!judge.measures.contains_key("weighted_kappa"));
        judge.unmeasured.iter().find(|missing| missing.id == "weighted_kappa").unwrap().reason.clone()
    };
    assert_eq!(reason(&constant), "scores and labels do not vary");
    assert_eq!(reason(&binary), "no item has a label that is a score");
}

#[test]
fn two_judges_and_several_have_coefficients_for_scores() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let (mut log, mut table) = (Rows::default(), Vec::new());
    for item in 0..60_usize {
        let quality: f64 = rng.random_range(1.0..9.0);
        for (judge, shift) in [("a", 0.0), ("b", 0.8), ("c", -0.4)] {
            let score = (quality + shift + rng.random_range(-1.5..1.5_f64)).round().clamp(1.0, 10.0);
            table.push(score);
            log.push(item, Judgement { judge: judge.into(), score: Some(score), ..Judgement::default() });
        }
    }
    let config = AuditConfig { scale: Some([1.0, 10.0]), ..AuditConfig::default() };
    let audit = audit(&log.0, &config, &Gate::built_in()).unwrap();
    let of = |among: &str| &audit.agreement.iter().find(|found| found.among == among).unwrap().measures;
    let squares = mean_squares(&table, 3).unwrap();
    for (id, model) in [("icc_agreement", IccModel::TwoWayRandom), ("icc_consistency", IccModel::TwoWayMixed)] {
        let (found, expected) = (&of("judges")[id], icc(&squares, model, IccUnit::Single, 0.95).unwrap());
        assert_close(found.estimate, expected.estimate, 1e-9, id);
        assert_close(found.details["f_interval_low"], expected.low, 1e-9, id);
        assert!(found.low.unwrap() < found.estimate && found.estimate < found.high.unwrap(), "{found:?}");
    }
    let rater = |idx: usize| table.iter().skip(idx).step_by(3).copied().collect::<Vec<f64>>();
    let pair = &of("a and b")["weighted_kappa"];
    close(pair.estimate, quadratic_kappa(&rater(0), &rater(1)).unwrap().kappa, 1e-12);
    // AC2 by hand: weighted agreement over pairs, and Gwet's chance with the ten levels of the scale.
    let squared = |x: f64, y: f64| 1.0 - (x - y) * (x - y) / 81.0;
    let observed = rater(0).iter().zip(rater(1)).map(|(x, y)| squared(*x, y)).sum::<f64>() / 60.0;
    let levels: Vec<f64> = (1..=10).map(f64::from).collect();
    let weights: f64 = levels.iter().flat_map(|x| levels.iter().map(move |y| squared(*x, *y))).sum();
    let shares = levels.iter().map(|level| {
        let n = rater(0).iter().chain(&rater(1)).filter(|score| *score == level).count();
        n as f64 / 120.0
    });
    let expected = weights / 90.0 * shares.map(|share| share * (1.0 - share)).sum::<f64>();
    close(of("a and b")["ac2"].estimate, (observed - expected) / (1.0 - expected), 1e-12);
}

/// The interval of the two-way correlations holds the truth: raters a sample, levels of their own, noise not normal.
#[test]
fn intervals_of_consistency_hold_the_truth() {
    let (replicates, m) = (300_u32, 60_usize);
    let (mut held, mut n) = (0_u32, 0_u32);
    for replicate in 0..replicates {
        let mut rng = ChaCha8Rng::seed_from_u64(11);
        rng.set_stream(u64::from(replicate));
        let mut log = Rows::default();
        for item in 0..m {
            let quality: f64 = rng.random_range(-1.0..1.0);
            for (judge, level) in [("a", 0.0), ("b", 0.5), ("c", -0.3)] {
                let score = quality + level + rng.random_range(-1.0..1.0) * 0.5_f64.sqrt();
                log.push(item, Judgement { judge: judge.into(), score: Some(score), ..Judgement::default() });
            }
        }
        let audit = log.audit();
        let found = audit.agreement.iter().find(|found| found.among == "judges").unwrap();
        let measure = &found.measures["icc_consistency"];
        n += 1;
        held += u32::from(measure.low.unwrap() <= 2.0 / 3.0 && 2.0 / 3.0 <= measure.high.unwrap());
    }
    let share = f64::from(held) / f64::from(n);
    assert!((0.945 - 3.0 * (0.945 * 0.055 / 300.0_f64).sqrt()..=1.0).contains(&share), "{share}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn shift_and_unit_change_nothing_and_order_of_raters_neither(
        pairs in prop::collection::vec((0_u8..5, 0_u8..5), 2..40), shift in -50_i32..50, unit in 1_i32..9,
    ) {
        let side = |of: fn(&(u8, u8)) -> u8| pairs.iter().map(|pair| f64::from(of(pair))).collect::<Vec<f64>>();
        let (x, y) = (side(|pair| pair.0), side(|pair| pair.1));
        let moved = |values: &[f64]| values.iter().map(|v| v * f64::from(unit) + f64::from(shift)).collect::<Vec<f64>>();
        let (plain, other) = (quadratic_kappa(&x, &y), quadratic_kappa(&moved(&y), &moved(&x)));
        prop_assert_eq!(plain.is_some(), other.is_some());
        if let (Some(plain), Some(other)) = (plain, other) {
            prop_assert!((plain.kappa - other.kappa).abs() < 1e-9);
            prop_assert!((-1.0..=1.0).contains(&plain.kappa));
        }
    }

    /// Nothing in a log makes a coefficient that is no number.
    #[test]
    fn coefficients_of_scores_are_numbers_or_absent(
        data in prop::collection::vec(
            (0_usize..6, 0_u8..3, prop::sample::select(vec![-1e200, -1.0, 0.0, 1.0, 2.0, 1e200, 1e-300]),
             prop::sample::select(vec![-1e300, 0.0, 2.0, 7.0, 1e300])),
            1..30,
        ),
    ) {
        let mut log = Rows::default();
        for (item, judge, score, label) in data {
            log.push(item, Judgement { judge: ["m", "n", "x"][judge as usize].into(), ..scored(score, label) });
        }
        let audit = log.audit();
        let of_judges = audit.judges.iter().filter_map(|judge| judge.measures.get("weighted_kappa"));
        for measure in of_judges.chain(audit.agreement.iter().flat_map(|found| found.measures.values())) {
            prop_assert!(measure.estimate.is_finite());
            prop_assert!(measure.low.is_none_or(f64::is_finite) && measure.high.is_none_or(f64::is_finite));
            prop_assert!(measure.details.values().all(|value| value.is_finite()));
        }
    }
}

#[test]
fn sums_of_nothing_are_undefined() {
    assert_eq!(PairSums::default().concordance(), None);
    assert_eq!(quadratic_kappa(&[], &[]), None);
    assert_eq!(quadratic_kappa(&[1.0, f64::NAN], &[1.0, 2.0]), None);
    assert_eq!(quadratic_kappa(&[1.0, 2.0], &[1.0]), None);
}
