use assize_calibration::agreement::alpha::{Metric, krippendorff_alpha};
use assize_calibration::agreement::kappa::{Chance, Weighting, cohen_kappa};
use assize_calibration::agreement::resampled::{alpha_bootstrap, kappa_bootstrap};
use assize_calibration::bootstrap::{Bootstrap, BootstrapConfig};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

use crate::golden::{assert_close, golden, numbers, rows};

fn config(n_resamples: u32, seed: u64) -> BootstrapConfig {
    BootstrapConfig { n_resamples, seed }
}

fn whole(numbers: &[f64]) -> Vec<u32> {
    numbers.iter().map(|number| *number as u32).collect()
}

/// The packages' distribution is known from 20,000 replicates and so is ours: standard errors agree to 2 %, quantiles to a tenth of
/// a standard error (the outer ones, where replicates are thin) — four Monte-Carlo errors of the difference at most.
#[track_caller]
fn assert_distribution(found: &Bootstrap, expected: &Value, what: &str) {
    let standard_error = expected["standard_error"].as_f64().unwrap();
    assert_close(found.standard_error().unwrap(), standard_error, 0.02, what);
    let middle = [0.5, 0.95].map(|level| found.percentile(level).unwrap());
    let quantiles = numbers(&expected["quantiles"]);
    for (actual, expected) in [(middle[1].0, 0), (middle[0].0, 1), (middle[0].1, 3), (middle[1].1, 4)] {
        let far = (actual - quantiles[expected]).abs() / standard_error;
        assert!(far < 0.1, "{what}: quantile {expected} is {far} standard errors off");
    }
}

#[test]
fn kappa_resampled_agrees_with_scikit_learn() {
    let golden = golden("resampled");
    let pairs: Vec<(u32, u32)> = rows(&golden["pairs"]).iter().map(|pair| (pair[0] as u32, pair[1] as u32)).collect();
    let clusters = whole(&numbers(&golden["clusters"]));
    for expected in golden["kappas"].as_array().unwrap() {
        let name = expected["weights"].as_str().unwrap();
        let weighting = match name {
            "linear" => Weighting::Linear,
            "quadratic" => Weighting::Quadratic,
            _ => Weighting::Unweighted,
        };
        for (key, clusters) in [("alone", None), ("clustered", Some(clusters.as_slice()))] {
            let found = kappa_bootstrap(&pairs, clusters, 4, Chance::Cohen, &weighting, config(20_000, 1)).unwrap();
            assert_close(found.estimate.unwrap(), expected["estimate"].as_f64().unwrap(), 1e-9, name);
            assert_distribution(&found, &expected[key], &format!("{name}, {key}"));
        }
    }
}

#[test]
fn alpha_resampled_agrees_with_krippendorff() {
    let golden = golden("resampled");
    let counts = whole(&rows(&golden["counts"]).concat());
    let clusters = whole(&numbers(&golden["unit_clusters"]));
    for expected in golden["alphas"].as_array().unwrap() {
        let name = expected["metric"].as_str().unwrap();
        let metric = match name {
            "nominal" => Metric::Nominal,
            "ordinal" => Metric::Ordinal,
            "interval" => Metric::Interval,
            _ => Metric::Ratio,
        };
        for (key, clusters) in [("alone", None), ("clustered", Some(clusters.as_slice()))] {
            let found = alpha_bootstrap(&counts, &[1.0, 2.0, 3.0, 4.0], metric, clusters, config(20_000, 1)).unwrap();
            assert_close(found.estimate.unwrap(), expected["estimate"].as_f64().unwrap(), 1e-9, name);
            assert_distribution(&found, &expected[key], &format!("{name}, {key}"));
        }
    }
}

#[test]
fn order_and_threads_do_not_change_a_replicate() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut rows: Vec<(u32, u32, u32)> =
        (0..300).map(|_| (rng.random_range(0..60), rng.random_range(0..5), rng.random_range(0..5))).collect();
    let compute = |rows: &[(u32, u32, u32)]| {
        let pairs: Vec<(u32, u32)> = rows.iter().map(|row| (row.1, row.2)).collect();
        let clusters: Vec<u32> = rows.iter().map(|row| row.0).collect();
        let mut counts = vec![0; 5 * rows.len()];
        for (row, counts) in rows.iter().zip(counts.chunks_exact_mut(5)) {
            counts[row.1 as usize] += 1;
            counts[row.2 as usize] += 1;
        }
        let weighting = Weighting::Quadratic;
        [None, Some(clusters.as_slice())].map(|clusters| {
            (
                kappa_bootstrap(&pairs, clusters, 5, Chance::Cohen, &weighting, config(200, 9)).unwrap(),
                alpha_bootstrap(&counts, &[1.0, 2.0, 3.0, 4.0, 5.0], Metric::Ordinal, clusters, config(200, 9))
                    .unwrap(),
            )
        })
    };
    let pool = |n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
    let (one, four) = (pool(1).install(|| compute(&rows)), pool(4).install(|| compute(&rows)));
    assert_eq!(one, four);
    rows.reverse();
    rows.rotate_left(77);
    assert_eq!(compute(&rows), one);
}

#[test]
fn what_cannot_be_resampled_is_undefined() {
    let of = |pairs: &[(u32, u32)], clusters: Option<&[u32]>, n| {
        kappa_bootstrap(pairs, clusters, n, Chance::Cohen, &Weighting::Linear, config(50, 1))
    };
    assert!(of(&[], None, 2).is_none());
    assert!(of(&[(0, 1)], None, 1).is_none() && of(&[(0, 1)], None, 1_001).is_none());
    assert!(of(&[(0, 2)], None, 2).is_none());
    assert!(of(&[(0, 1)], Some(&[]), 2).is_none());
    let constant = of(&[(1, 1); 30], None, 3).unwrap();
    assert!(constant.estimate.is_none() && constant.replicates.is_empty() && constant.n_undefined == 50);
    let lone = of(&[(0, 1), (1, 1), (0, 0)], Some(&[4, 4, 4]), 2).unwrap();
    assert!(lone.replicates.iter().all(|replicate| Some(*replicate) == lone.estimate));

    let of = |counts: &[u32], values: &[f64], metric, clusters: Option<&[u32]>| {
        alpha_bootstrap(counts, values, metric, clusters, config(50, 1))
    };
    for metric in [Metric::Nominal, Metric::Ordinal, Metric::Interval, Metric::Ratio] {
        assert!(of(&[], &[1.0, 2.0], metric, None).is_none());
        assert!(of(&[1, 1, 1], &[1.0, 2.0], metric, None).is_none());
        assert!(of(&[1, 1], &[2.0, 1.0], metric, None).is_none());
        assert!(of(&[1, 1], &[1.0, f64::NAN], metric, None).is_none());
        assert!(of(&[1, 1], &[1.0, 2.0], metric, Some(&[1, 2])).is_none());
        // Nothing is paired; nothing varies.
        for counts in [[1, 0, 0, 1], [2, 0, 2, 0]] {
            let found = of(&counts, &[1.0, 2.0], metric, None).unwrap();
            assert!(found.estimate.is_none() && found.replicates.is_empty(), "{metric:?}");
        }
        let huge = of(&[1, 1, 2, 0, 0, 2], &[0.0, 1e300], metric, None).unwrap();
        assert!(huge.replicates.iter().all(|replicate| replicate.is_finite()), "{metric:?}");
    }
    assert!(of(&[1, 1], &[-1.0, 1.0], Metric::Ratio, None).is_none());
    let many: Vec<f64> = (0..1_001).map(f64::from).collect();
    assert!(of(&vec![1; 1_001], &many, Metric::Ordinal, None).is_none());
    assert!(of(&vec![1; 1_001], &many, Metric::Interval, None).is_some());
}

/// Bias-corrected intervals of 60 clusters of three pairs, whose kappa and alpha are known from 200,000 of them. 400 simulations: a
/// Monte-Carlo error of .011. At least .945 less two of them; each tail at most .03 and two of its own (.009).
#[test]
fn intervals_of_resampled_agreement_hold_the_truth() {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let draw = |n_clusters: u32, rng: &mut ChaCha8Rng| {
        let (mut pairs, mut clusters) = (Vec::new(), Vec::new());
        for cluster in 0..n_clusters {
            let level = rng.random_range(0..4_u32);
            for _ in 0..3 {
                let mut grade = || (level + rng.random_range(0..3)).saturating_sub(1).min(3);
                pairs.push((grade(), grade()));
                clusters.push(cluster);
            }
        }
        (pairs, clusters)
    };
    let counted = |pairs: &[(u32, u32)]| {
        let mut counts = vec![0; 4 * pairs.len()];
        for (pair, counts) in pairs.iter().zip(counts.chunks_exact_mut(4)) {
            counts[pair.0 as usize] += 1;
            counts[pair.1 as usize] += 1;
        }
        counts
    };
    let values = [1.0, 2.0, 3.0, 4.0];
    let (all, _) = draw(200_000, &mut rng);
    let mut table = vec![0.0; 16];
    for (first, second) in &all {
        table[(4 * first + second) as usize] += 1.0;
    }
    let truths = [
        cohen_kappa(&table, 4, &Weighting::Quadratic).unwrap().kappa,
        krippendorff_alpha(&counted(&all), &values, Metric::Ordinal).unwrap(),
    ];
    let (mut above, mut below) = ([0; 2], [0; 2]);
    for seed in 0..400 {
        let (pairs, clusters) = draw(60, &mut rng);
        let of_kappa =
            kappa_bootstrap(&pairs, Some(&clusters), 4, Chance::Cohen, &Weighting::Quadratic, config(500, seed));
        let of_alpha = alpha_bootstrap(&counted(&pairs), &values, Metric::Ordinal, Some(&clusters), config(500, seed));
        for (idx, found) in [of_kappa, of_alpha].into_iter().enumerate() {
            let (low, high) = found.unwrap().bca(0.95).unwrap();
            above[idx] += i32::from(low > truths[idx]);
            below[idx] += i32::from(high < truths[idx]);
        }
    }
    for idx in 0..2 {
        let held = 1.0 - f64::from(above[idx] + below[idx]) / 400.0;
        assert!(held >= 0.945 - 0.022 && above[idx] <= 16 && below[idx] <= 16, "{idx}: {held}, {above:?}, {below:?}");
    }
}
