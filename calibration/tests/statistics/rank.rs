use assize_calibration::influence::{WithInfluence, fisher_interval};
use assize_calibration::rank::{kendall_tau_b, pearson, spearman};
use proptest::prelude::*;

use crate::golden::{assert_close, golden, numbers};

type Correlation = fn(&[f64], &[f64], Option<&[f64]>) -> Option<WithInfluence>;

const CORRELATIONS: [(&str, Correlation); 3] =
    [("pearson", pearson), ("spearman", spearman), ("kendall", kendall_tau_b)];

#[test]
fn correlations_agree_with_scipy() {
    for set in golden("rank")["correlation"].as_array().unwrap() {
        let (x, y) = (numbers(&set["x"]), numbers(&set["y"]));
        for (name, correlation) in CORRELATIONS {
            let actual = correlation(&x, &y, None).unwrap().estimate;
            assert_close(actual, set[name].as_f64().unwrap(), 1e-9, name);
        }
    }
    let set = &golden("rank")["weighted"];
    let (x, y, weights) = (numbers(&set["x"]), numbers(&set["y"]), numbers(&set["weights"]));
    for (name, correlation) in CORRELATIONS {
        let actual = correlation(&x, &y, Some(&weights)).unwrap().estimate;
        assert_close(actual, set[name].as_f64().unwrap(), 1e-9, name);
    }
}

#[test]
fn influence_is_close_to_the_delete_one_jackknife() {
    let set = &golden("rank")["correlation"][4];
    let (x, y) = (numbers(&set["x"]), numbers(&set["y"]));
    let n = x.len();
    let without = |values: &[f64], i: usize| [&values[..i], &values[i + 1..]].concat();
    for (name, correlation) in CORRELATIONS {
        let whole = correlation(&x, &y, None).unwrap();
        let largest = whole.influence.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
        let mut squares = 0.0;
        for i in 0..n {
            let left = correlation(&without(&x, i), &without(&y, i), None).unwrap().estimate;
            let jackknifed = (whole.estimate - left) * (n - 1) as f64 / n as f64;
            squares += jackknifed * jackknifed;
            // They differ by terms of order 1/n relative to the largest.
            assert!((whole.influence[i] - jackknifed).abs() < 0.05 * largest, "{name} {i}");
        }
        let jackknife = (squares * n as f64 / (n - 1) as f64).sqrt();
        let (standard_error, m) = whole.standard_error(None).unwrap();
        assert_eq!(m, n);
        assert!((standard_error / jackknife - 1.0).abs() < 0.02, "{name}: {standard_error} {jackknife}");
    }
}

#[test]
fn copies_in_clusters_do_not_narrow_the_error() {
    let set = &golden("rank")["correlation"][2];
    let (x, y) = (numbers(&set["x"]), numbers(&set["y"]));
    let thrice = |values: &[f64]| values.iter().flat_map(|value| [*value; 3]).collect::<Vec<f64>>();
    // Ids both dense and sparse.
    for step in [1, 1_000_003] {
        let clusters: Vec<u32> = (0..3 * x.len() as u32).map(|i| i / 3 * step).collect();
        let weights = vec![1.0 / 3.0; clusters.len()];
        for (name, correlation) in CORRELATIONS {
            let once = correlation(&x, &y, None).unwrap();
            let repeated = correlation(&thrice(&x), &thrice(&y), Some(&weights)).unwrap();
            assert_close(repeated.estimate, once.estimate, 1e-9, name);
            let (expected, m) = once.standard_error(None).unwrap();
            let (actual, clustered_m) = repeated.standard_error(Some(&clusters)).unwrap();
            assert_close(actual, expected, 1e-9, name);
            assert_eq!(m, clustered_m);
        }
    }
}

/// More than 256 distinct values are sorted, fewer are counted and merged: adding a far larger set of pairs of no weight changes the way, not
/// the result.
#[test]
fn many_values_and_few_give_the_same() {
    let set = &golden("rank")["correlation"][4];
    let (mut x, mut y) = (numbers(&set["x"]), numbers(&set["y"]));
    let n = x.len();
    let few: Vec<WithInfluence> = CORRELATIONS.map(|(_, correlation)| correlation(&x, &y, None).unwrap()).into();
    x.extend((0..1_000).map(|i| f64::from(i) - 500.5));
    y.extend((0..1_000).map(|i| f64::from(i) * 0.7 - 300.3));
    let weights: Vec<f64> = (0..x.len()).map(|i| f64::from(u8::from(i < n))).collect();
    for ((name, correlation), few) in CORRELATIONS.into_iter().zip(few) {
        let many = correlation(&x, &y, Some(&weights)).unwrap();
        assert_close(many.estimate, few.estimate, 1e-9, name);
        for (many, few) in many.influence.iter().zip(&few.influence) {
            assert!((many - few).abs() < 1e-12, "{name}");
        }
    }
}

#[test]
fn correlations_are_undefined_without_variance() {
    for (_, correlation) in CORRELATIONS {
        assert_eq!(correlation(&[], &[], None), None);
        assert_eq!(correlation(&[1.0], &[1.0], None), None);
        assert_eq!(correlation(&[1.0, 2.0], &[1.0], None), None);
        assert_eq!(correlation(&[0.1; 5], &[1.0, 2.0, 3.0, 4.0, 5.0], None), None);
        assert_eq!(correlation(&[1.0, f64::NAN], &[1.0, 2.0], None), None);
        assert_eq!(correlation(&[1.0, 2.0], &[1.0, 2.0], Some(&[1.0, 0.0])), None);
        assert_eq!(correlation(&[1.0, 2.0], &[1.0, 2.0], Some(&[1.0, -1.0])), None);
        assert_eq!(correlation(&[1.0, 2.0], &[1.0, 2.0], Some(&[0.0, 0.0])), None);
        assert_eq!(correlation(&[-0.0, 0.0], &[1.0, 2.0], None), None);
        let perfect = correlation(&[1.0, 2.0, 3.0], &[2.0, 4.0, 6.0], None).unwrap();
        assert!((perfect.estimate - 1.0).abs() < 1e-12);
    }
    let one = WithInfluence { estimate: 0.5, influence: vec![0.1, -0.1] };
    assert_eq!(one.standard_error(Some(&[3, 3])), None);
    assert_eq!(one.standard_error(Some(&[3])), None);
}

#[test]
fn fisher_interval_is_that_of_z() {
    let (low, high) = fisher_interval(0.5, 0.1, 1_000_000, 0.95).unwrap();
    let half_width = 1.959_965 * 0.1 / 0.75;
    assert!((low.atanh() - (0.5_f64.atanh() - half_width)).abs() < 1e-5);
    assert!((high.atanh() - (0.5_f64.atanh() + half_width)).abs() < 1e-5);
    assert_eq!(fisher_interval(1.0, 0.0, 10, 0.95), None);
    assert_eq!(fisher_interval(0.5, 0.1, 1, 0.95), None);
    assert_eq!(fisher_interval(f64::NAN, 0.1, 10, 0.95), None);
}

fn pairs() -> impl Strategy<Value = Vec<(f64, f64, f64)>> {
    prop::collection::vec(((0..6_i8).prop_map(f64::from), (0..4_i8).prop_map(f64::from), 0.2..3.0_f64), 4..40)
}

type Columns = (Vec<f64>, Vec<f64>, Vec<f64>);

fn columns(pairs: &[(f64, f64, f64)]) -> Columns {
    (pairs.iter().map(|p| p.0).collect(), pairs.iter().map(|p| p.1).collect(), pairs.iter().map(|p| p.2).collect())
}

/// Every pair compared.
fn kendall_by_pairs(x: &[f64], y: &[f64], w: &[f64]) -> f64 {
    let sign = |a: f64, b: f64| f64::from(i8::from(a > b) - i8::from(a < b));
    let (mut t, mut tx, mut ty) = (0.0, 0.0, 0.0);
    for i in 0..x.len() {
        for j in 0..x.len() {
            let (a, b) = (sign(x[i], x[j]), sign(y[i], y[j]));
            t += w[i] * w[j] * a * b;
            tx += w[i] * w[j] * a * a;
            ty += w[i] * w[j] * b * b;
        }
    }
    t / (tx * ty).sqrt()
}

proptest! {
    #[test]
    fn kendall_is_that_of_all_pairs(pairs in pairs()) {
        let (x, y, w) = columns(&pairs);
        if let Some(actual) = kendall_tau_b(&x, &y, Some(&w)) {
            prop_assert!((actual.estimate - kendall_by_pairs(&x, &y, &w)).abs() < 1e-9);
        }
    }

    #[test]
    fn influence_is_weight_times_derivative(pairs in pairs(), i in 0..40_usize) {
        let (x, y, w) = columns(&pairs);
        let i = i % x.len();
        for (name, correlation) in CORRELATIONS {
            let Some(actual) = correlation(&x, &y, Some(&w)) else { continue };
            prop_assert!(actual.influence.iter().sum::<f64>().abs() < 1e-9);
            prop_assert!(actual.estimate.abs() <= 1.0);
            let moved = |step: f64| {
                let mut w = w.clone();
                w[i] += step;
                correlation(&x, &y, Some(&w)).unwrap().estimate
            };
            let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            prop_assert!((actual.influence[i] - w[i] * slope).abs() < 1e-6 * (1.0 + slope.abs()), "{name} {} {}", actual.influence[i], w[i] * slope);
        }
    }

    #[test]
    fn order_and_direction(pairs in pairs()) {
        let (x, y, _) = columns(&pairs);
        let (x_back, y_back): (Vec<f64>, Vec<f64>) = pairs.iter().rev().map(|p| (p.0, p.1)).unzip();
        let negative: Vec<f64> = x.iter().map(|value| -value).collect();
        for (_, correlation) in CORRELATIONS {
            let Some(actual) = correlation(&x, &y, None) else { continue };
            prop_assert!((correlation(&x_back, &y_back, None).unwrap().estimate - actual.estimate).abs() < 1e-9);
            prop_assert!((correlation(&negative, &y, None).unwrap().estimate + actual.estimate).abs() < 1e-9);
            prop_assert!((correlation(&y, &x, None).unwrap().estimate - actual.estimate).abs() < 1e-9);
        }
    }

    /// Ranks see no more of values than their order.
    #[test]
    fn rank_correlations_see_only_order_and_pearson_only_lines(pairs in pairs()) {
        let (x, y, w) = columns(&pairs);
        let curved: Vec<f64> = x.iter().map(|value| value.exp()).collect();
        let line: Vec<f64> = x.iter().map(|value| 3.0 * value - 7.0).collect();
        for (name, correlation) in CORRELATIONS {
            let Some(actual) = correlation(&x, &y, Some(&w)) else { continue };
            let map = if name == "pearson" { &line } else { &curved };
            let mapped = correlation(map, &y, Some(&w)).unwrap().estimate;
            prop_assert!((mapped - actual.estimate).abs() < 1e-9, "{name}");
            prop_assert!(mapped.abs() <= 1.0, "{name}");
        }
    }
}
