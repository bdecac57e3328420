use assize_calibration::roc::{AucFlag, auc, roc_points};
use proptest::prelude::*;
use serde_json::Value;

use crate::golden::{assert_close, golden, numbers};

fn bools(value: &Value) -> Vec<bool> {
    value.as_array().unwrap().iter().map(|v| v.as_bool().unwrap()).collect()
}

#[test]
fn areas_and_errors_agree_with_the_references() {
    for set in golden("rank")["auc"].as_array().unwrap() {
        let (scores, positive, weights) = (numbers(&set["scores"]), bools(&set["positive"]), numbers(&set["weights"]));
        let clusters: Vec<u32> = numbers(&set["clusters"]).into_iter().map(|id| id as u32).collect();
        let value = |key: &str| set[key].as_f64().unwrap();
        let plain = auc(&scores, &positive, None, None).unwrap();
        assert_close(plain.estimate, value("auc"), 1e-9, "auc");
        assert_close(plain.standard_error.unwrap(), value("delong"), 1e-9, "delong");
        let clustered = auc(&scores, &positive, None, Some(&clusters)).unwrap();
        assert_close(clustered.standard_error.unwrap(), value("obuchowski"), 1e-9, "obuchowski");
        let weighted = auc(&scores, &positive, Some(&weights), None).unwrap();
        assert_close(weighted.estimate, value("weighted_auc"), 1e-9, "weighted auc");

        let points = roc_points(&scores, &positive, None).unwrap();
        let (fpr, tpr) = (numbers(&set["false_positive_rate"]), numbers(&set["true_positive_rate"]));
        assert_eq!(points.len(), fpr.len());
        for (point, (fpr, tpr)) in points.iter().zip(fpr.iter().zip(&tpr)) {
            assert_close(point.false_positive_rate, *fpr, 1e-9, "false positive rate");
            assert_close(point.true_positive_rate, *tpr, 1e-9, "true positive rate");
        }
    }
}

#[test]
fn area_is_undefined_without_both_classes() {
    assert_eq!(auc(&[], &[], None, None), None);
    assert_eq!(auc(&[1.0, 2.0], &[true, true], None, None), None);
    assert_eq!(auc(&[1.0, 2.0], &[true], None, None), None);
    assert_eq!(auc(&[1.0, f64::NAN], &[true, false], None, None), None);
    assert_eq!(auc(&[1.0, 2.0], &[true, false], Some(&[1.0, 0.0]), None), None);
    assert_eq!(auc(&[1.0, 2.0], &[true, false], None, Some(&[1])), None);
    assert_eq!(roc_points(&[1.0], &[true], None), None);
    assert_eq!(roc_points(&[1.0], &[], None), None);
}

#[test]
fn separated_and_small_classes_are_flagged() {
    let separated = auc(&[1.0, 2.0, 3.0, 4.0], &[false, false, true, true], None, None).unwrap();
    assert_eq!(separated.estimate, 1.0);
    assert_eq!(separated.flag, Some(AucFlag::Separated));
    assert_eq!(separated.logit_interval(0.95), None);
    let one_each = auc(&[1.0, 1.0], &[false, true], None, None).unwrap();
    assert_eq!((one_each.estimate, one_each.standard_error, one_each.flag), (0.5, None, None));
    let scores: Vec<f64> = (0..40).map(f64::from).collect();
    let mut positive: Vec<bool> = (0..40).map(|i| i >= 20).collect();
    positive.swap(19, 20);
    let high = auc(&scores, &positive, None, None).unwrap();
    assert_eq!(high.flag, Some(AucFlag::FewAndHigh));
    let (low, top) = high.logit_interval(0.95).unwrap();
    assert!(low > 0.9 && low < high.estimate && high.estimate < top && top < 1.0);
}

#[test]
fn constant_scores_have_area_one_half() {
    let flat = auc(&[0.1; 7], &[true, false, true, false, true, false, false], None, None).unwrap();
    assert!((flat.estimate - 0.5).abs() < 1e-12);
    assert!(flat.standard_error.unwrap() < 1e-12);
}

proptest! {
    #[test]
    fn influence_is_weight_times_derivative(
        rows in prop::collection::vec(((0..7_i8).prop_map(f64::from), any::<bool>(), 0.2..2.0_f64), 4..40),
        i in 0..40_usize,
    ) {
        let scores: Vec<f64> = rows.iter().map(|row| row.0).collect();
        let positive: Vec<bool> = rows.iter().map(|row| row.1).collect();
        let weights: Vec<f64> = rows.iter().map(|row| row.2).collect();
        let i = i % rows.len();
        if let Some(actual) = auc(&scores, &positive, Some(&weights), None) {
            prop_assert!((0.0..=1.0).contains(&actual.estimate));
            let moved = |step: f64| {
                let mut weights = weights.clone();
                weights[i] += step;
                auc(&scores, &positive, Some(&weights), None).unwrap().estimate
            };
            let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            prop_assert!((actual.influence[i] - weights[i] * slope).abs() < 1e-6);
            let swapped: Vec<bool> = positive.iter().map(|positive| !positive).collect();
            let other = auc(&scores, &swapped, Some(&weights), None).unwrap();
            prop_assert!((other.estimate + actual.estimate - 1.0).abs() < 1e-9);
        }
    }

    /// The trapezes under the points are the area.
    #[test]
    fn points_enclose_the_area(rows in prop::collection::vec(((0..7_i8).prop_map(f64::from), any::<bool>()), 4..40)) {
        let (scores, positive): (Vec<f64>, Vec<bool>) = rows.into_iter().unzip();
        if let Some(points) = roc_points(&scores, &positive, None) {
            let area: f64 = points.windows(2).map(|pair| {
                0.5 * (pair[0].true_positive_rate + pair[1].true_positive_rate)
                    * (pair[1].false_positive_rate - pair[0].false_positive_rate)
            }).sum();
            prop_assert!((area - auc(&scores, &positive, None, None).unwrap().estimate).abs() < 1e-9);
        }
    }

    #[test]
    fn the_area_sees_only_the_order_of_scores(
        rows in prop::collection::vec(((-3..4_i8).prop_map(f64::from), any::<bool>(), 0.2..2.0_f64), 4..40),
    ) {
        let scores: Vec<f64> = rows.iter().map(|row| row.0).collect();
        let positive: Vec<bool> = rows.iter().map(|row| row.1).collect();
        let weights: Vec<f64> = rows.iter().map(|row| row.2).collect();
        let of = |scores: &[f64]| auc(scores, &positive, Some(&weights), None).map(|found| found.estimate);
        if let Some(actual) = of(&scores) {
            let rising: Vec<f64> = scores.iter().map(|score| score.exp() + score.powi(3)).collect();
            let falling: Vec<f64> = rising.iter().map(|score| -score).collect();
            prop_assert!((of(&rising).unwrap() - actual).abs() < 1e-9);
            prop_assert!((of(&falling).unwrap() + actual - 1.0).abs() < 1e-9);
        }
    }
}
