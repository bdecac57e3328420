use assize_calibration::recalibration::{
    CrossFitError, Isotonic, Method, Platt, Recalibration, assign_folds, cross_fitted,
};
use assize_calibration::reliability::{Binning, Forecasts, brier_parts};
use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::golden::{assert_close, golden, numbers};

const METHODS: [Method; 2] = [Method::Isotonic, Method::Platt];

#[test]
fn isotonic_agrees_with_scikit_learn() {
    for set in golden("recalibration")["sets"].as_array().unwrap() {
        let [scores, outcomes, weights] = ["scores", "outcomes", "weights"].map(|key| numbers(&set[key]));
        for (weights, key) in [(None, "isotonic"), (Some(weights.as_slice()), "weighted_isotonic")] {
            let fit = Isotonic::fit(&scores, &outcomes, weights).unwrap();
            for (score, expected) in scores.iter().zip(numbers(&set[key])) {
                assert!((fit.apply(*score) - expected).abs() < 1e-9, "{key} at {score}");
            }
        }
    }
}

#[test]
fn platt_is_the_optimum_and_close_to_scikit_learn() {
    for set in golden("recalibration")["sets"].as_array().unwrap() {
        let [scores, outcomes, weights] = ["scores", "outcomes", "weights"].map(|key| numbers(&set[key]));
        let shift = set["shift"].as_f64().unwrap();
        for (weights, key) in [(None, "platt"), (Some(weights.as_slice()), "weighted_platt")] {
            let fit = Platt::fit(&scores, &outcomes, weights).unwrap();
            let expected = numbers(&set[key]);
            assert_close(fit.slope, expected[0], 1e-9, key);
            assert_close(fit.intercept, expected[1], 1e-9, key);
        }
        let fit = Platt::fit(&scores, &outcomes, None).unwrap();
        let sklearn = numbers(&set["sklearn"]);
        // Its optimiser stops at about 1e-6.
        assert_close(fit.slope, sklearn[0], 1e-5, "slope");
        assert_close(fit.intercept + fit.slope * shift, sklearn[1], 1e-5, "intercept");
    }
}

/// Ayer et al.: 1, 3, 2, 4 becomes 1, 2.5, 2.5, 4 (here over 4), and two of one score are one.
#[test]
fn neighbours_out_of_order_are_pooled() {
    let fit = Isotonic::fit(&[1.0, 2.0, 3.0, 4.0], &[0.25, 0.75, 0.5, 1.0], None).unwrap();
    assert_eq!(fit.steps().collect::<Vec<_>>(), [(1.0, 0.25), (2.0, 0.625), (4.0, 1.0)]);
    let tied = Isotonic::fit(&[1.0, 1.0, 2.0], &[1.0, 0.0, 1.0], None).unwrap();
    assert_eq!(tied.steps().collect::<Vec<_>>(), [(1.0, 0.5), (2.0, 1.0)]);
    // A step holds from its lowest score up to the next one's; below all, the first.
    for (score, expected) in [(-9.0, 0.25), (1.9, 0.25), (2.0, 0.625), (3.9, 0.625), (4.0, 1.0), (f64::INFINITY, 1.0)] {
        assert_eq!(fit.apply(score), expected);
    }
    assert!(fit.apply(f64::NAN).is_nan());
}

#[test]
fn one_class_or_one_score_has_no_slope() {
    // Two events: (2 + 1)/(2 + 2).
    let events = Platt::fit(&[1.0, 2.0], &[1.0, 1.0], None).unwrap();
    assert!(events.slope.abs() < 1e-9);
    assert_close(events.apply(1.0), 0.75, 1e-9, "two events");
    // One of each: targets 2/3 and 1/3, their mean.
    let constant = Platt::fit(&[7.0, 7.0], &[1.0, 0.0], None).unwrap();
    assert_eq!(constant.slope, 0.0);
    assert_close(constant.apply(7.0), 0.5, 1e-12, "one of each");
    assert_close(constant.apply(f64::INFINITY), 0.5, 1e-12, "no slope");
    assert!(constant.apply(f64::NAN).is_nan());
    assert_eq!(Isotonic::fit(&[1.0, 2.0], &[1.0, 1.0], None).unwrap().apply(0.0), 1.0);
}

#[test]
fn classes_apart_stay_finite() {
    let fit = Platt::fit(&[1.0, 2.0, 3.0, 4.0], &[0.0, 0.0, 1.0, 1.0], None).unwrap();
    assert!(fit.slope.is_finite() && fit.slope > 0.0);
    assert!(fit.apply(4.0) < 1.0 && fit.apply(1.0) > 0.0);
}

#[test]
fn what_cannot_be_fitted_is_undefined() {
    type Case<'a> = (&'a [f64], &'a [f64], Option<&'a [f64]>);
    let cases: [Case<'_>; 6] = [
        (&[], &[], None),
        (&[1.0], &[1.0, 0.0], None),
        (&[f64::NAN], &[1.0], None),
        (&[1.0], &[1.5], None),
        (&[1.0], &[1.0], Some(&[0.0])),
        (&[1.0], &[1.0], Some(&[-1.0])),
    ];
    for (scores, outcomes, weights) in cases {
        for method in METHODS {
            assert_eq!(Recalibration::fit(method, scores, outcomes, weights), None);
        }
    }
    assert_eq!(Platt::fit(&[1.0, f64::INFINITY], &[0.0, 1.0], None), None);
    assert!(Isotonic::fit(&[1.0, f64::INFINITY], &[0.0, 1.0], None).is_some());
}

#[test]
fn folds_keep_clusters_together_and_even() {
    let clusters: Vec<u32> = (0..60).map(|i| i / 3 * 1_000_003).collect();
    let folds = assign_folds(&clusters, 5, 1).unwrap();
    assert!(folds.chunks(3).all(|item| item.iter().all(|fold| *fold == item[0])));
    for fold in 0..5 {
        assert_eq!(folds.iter().filter(|other| **other == fold).count(), 12);
    }
    assert_eq!(assign_folds(&clusters, 5, 1).unwrap(), folds);
    assert_ne!(assign_folds(&clusters, 5, 2).unwrap(), folds);
    // The order of observations does not matter.
    let back: Vec<u32> = clusters.iter().rev().copied().collect();
    assert!(assign_folds(&back, 5, 1).unwrap().iter().rev().eq(folds.iter()));
    assert_eq!(assign_folds(&clusters, 21, 1), None);
    assert_eq!(assign_folds(&clusters, 1, 1), None);
    assert_eq!(assign_folds(&[], 2, 1), None);
}

#[test]
fn what_cannot_be_cross_fitted_is_said() {
    let (scores, outcomes) = ([1.0, 2.0, 3.0, 4.0], [0.0, 1.0, 0.0, 1.0]);
    let fit = |weights: Option<&[f64]>, clusters: Option<&[u32]>, folds: &[usize]| {
        cross_fitted(Method::Platt, &scores, &outcomes, weights, clusters, folds)
    };
    assert_eq!(fit(None, None, &[0, 1, 0]), Err(CrossFitError::Malformed));
    assert_eq!(fit(None, Some(&[1]), &[0, 1, 0, 1]), Err(CrossFitError::Malformed));
    assert_eq!(fit(None, None, &[3, 3, 3, 3]), Err(CrossFitError::OneFold));
    assert_eq!(fit(None, Some(&[5, 5, 6, 7]), &[0, 1, 0, 1]), Err(CrossFitError::SplitCluster(5)));
    assert_eq!(fit(Some(&[1.0, 1.0, 0.0, 0.0]), None, &[0, 0, 1, 1]), Err(CrossFitError::NothingLeft(0)));
    let infinite = [f64::INFINITY, 2.0, 3.0, 4.0];
    let folds = [0, 0, 1, 1];
    assert_eq!(cross_fitted(Method::Platt, &infinite, &outcomes, None, None, &folds), Err(CrossFitError::Malformed));
    assert!(cross_fitted(Method::Isotonic, &infinite, &outcomes, None, None, &folds).is_ok());
}

/// Each half is predicted by the other's map.
#[test]
fn a_fold_is_predicted_by_the_others() {
    let (scores, outcomes) = ([1.0, 2.0, 1.0, 2.0], [0.0, 1.0, 0.5, 0.75]);
    let predicted = cross_fitted(Method::Isotonic, &scores, &outcomes, None, None, &[9, 9, 4, 4]).unwrap();
    assert_eq!(predicted, [0.5, 0.75, 0.0, 1.0]);
}

/// On scores that say nothing, a map judged by its own items shows resolution; cross-fitted, the score is not better than the base rate's.
#[test]
fn judging_a_map_by_its_own_items_flatters_it() {
    let mut rng = ChaCha8Rng::seed_from_u64(2002);
    let scores: Vec<f64> = (0..200).map(|_| rng.random::<f64>()).collect();
    let outcomes: Vec<f64> = (0..200).map(|_| f64::from(u8::from(rng.random::<f64>() < 0.5))).collect();
    let own = Isotonic::fit(&scores, &outcomes, None).unwrap();
    let own: Vec<f64> = scores.iter().map(|score| own.apply(*score)).collect();
    let clusters: Vec<u32> = (0..200).collect();
    let folds = assign_folds(&clusters, 5, 3).unwrap();
    let crossed = cross_fitted(Method::Isotonic, &scores, &outcomes, None, Some(&clusters), &folds).unwrap();
    let parts = |confidences: &[f64]| {
        let forecasts = Forecasts { confidences, outcomes: &outcomes, weights: None, clusters: None };
        brier_parts(&forecasts, Binning::EqualMass, 10).unwrap()
    };
    let (own, crossed) = (parts(&own), parts(&crossed));
    assert!(own.score < own.uncertainty, "{own:?}");
    assert!(crossed.score > crossed.uncertainty, "{crossed:?}");
}

proptest! {
    #[test]
    fn maps_never_fall_and_stay_within_bounds(
        rows in prop::collection::vec(((-4..5_i8).prop_map(f64::from), 0..=1_u8, 0.1..3.0_f64), 1..40),
    ) {
        let scores: Vec<f64> = rows.iter().map(|row| row.0).collect();
        let outcomes: Vec<f64> = rows.iter().map(|row| f64::from(row.1)).collect();
        let weights: Vec<f64> = rows.iter().map(|row| row.2).collect();
        let isotonic = Isotonic::fit(&scores, &outcomes, Some(&weights)).unwrap();
        let steps: Vec<(f64, f64)> = isotonic.steps().collect();
        prop_assert!(steps.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1));
        prop_assert!(steps.iter().all(|step| (0.0..=1.0).contains(&step.1)));
        // Pooling keeps the mean.
        let sum = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>();
        let fitted = sum(&mut scores.iter().zip(&weights).map(|(score, weight)| weight * isotonic.apply(*score)));
        let seen = sum(&mut outcomes.iter().zip(&weights).map(|(outcome, weight)| weight * outcome));
        prop_assert!((fitted - seen).abs() < 1e-9);
        // A fit of its own values is itself.
        let values: Vec<f64> = scores.iter().map(|score| isotonic.apply(*score)).collect();
        let again = Isotonic::fit(&scores, &values, Some(&weights)).unwrap();
        prop_assert!(scores.iter().all(|score| (again.apply(*score) - isotonic.apply(*score)).abs() < 1e-12));

        let platt = Platt::fit(&scores, &outcomes, Some(&weights)).unwrap();
        prop_assert!(scores.iter().all(|score| platt.apply(*score) > 0.0 && platt.apply(*score) < 1.0));
        // The unit of the scores does not matter.
        let stretched: Vec<f64> = scores.iter().map(|score| 1e4 * score - 3e5).collect();
        let stretched_fit = Platt::fit(&stretched, &outcomes, Some(&weights)).unwrap();
        for (score, stretched) in scores.iter().zip(&stretched) {
            prop_assert!((platt.apply(*score) - stretched_fit.apply(*stretched)).abs() < 1e-7);
        }
    }
}
