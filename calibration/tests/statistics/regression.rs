//! Least squares with clustered errors, against statsmodels, Stata and the definitions.

use assize_calibration::distribution::{normal_quantile, t_quantile};
use assize_calibration::regression::{
    Adjustment, Coefficient, Design, Regression, least_squares, least_squares_and_scores,
};
use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

use crate::golden::{assert_close, golden, numbers, rows};

const TOLERANCE: f64 = 1e-9;

fn all_of(fit: &Regression) -> Vec<Coefficient> {
    std::iter::once(fit.intercept).chain(fit.coefficients.iter().map(|found| found.unwrap())).collect()
}

fn ids(value: &Value) -> Vec<u32> {
    numbers(value).into_iter().map(|id| id as u32).collect()
}

#[test]
fn errors_and_degrees_are_those_of_the_definition() {
    for case in golden("regression")["cases"].as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let (columns, outcomes, clusters) =
            (rows(&case["columns"]), numbers(&case["outcomes"]), ids(&case["clusters"]));
        let weights = case["weights"].is_array().then(|| numbers(&case["weights"]));
        let weights = weights.as_deref();
        let design = Design { outcomes: &outcomes, columns: &columns, weights, clusters: Some(&clusters) };
        for (adjustment, key) in [(Adjustment::Cr2, "cr2"), (Adjustment::Cr3, "cr3")] {
            let found = all_of(&least_squares(&design, adjustment).unwrap());
            let (estimates, errors) = (numbers(&case["estimates"]), numbers(&case[key]));
            let degrees = numbers(&case["degrees"]);
            for (idx, coefficient) in found.iter().enumerate() {
                let what = format!("{name}, {key}, {idx}");
                assert_close(coefficient.estimate, estimates[idx], TOLERANCE, &what);
                assert_close(coefficient.standard_error, errors[idx], TOLERANCE, &what);
                if adjustment == Adjustment::Cr2 {
                    assert_close(coefficient.degrees, degrees[idx], TOLERANCE, &what);
                }
            }
        }
    }
}

#[test]
fn single_rows_give_hc2_and_hc3() {
    let golden = golden("regression");
    let case = &golden["cases"][0];
    let (columns, outcomes) = (rows(&case["columns"]), numbers(&case["outcomes"]));
    let design = Design { outcomes: &outcomes, columns: &columns, weights: None, clusters: None };
    for (adjustment, kind) in [(Adjustment::Cr2, "HC2"), (Adjustment::Cr3, "HC3")] {
        let expected = numbers(&golden["statsmodels"][kind]);
        for (found, expected) in all_of(&least_squares(&design, adjustment).unwrap()).iter().zip(expected) {
            assert_close(found.standard_error, expected, TOLERANCE, kind);
        }
    }
}

#[test]
fn figures_that_stata_prints() {
    let stata = &golden("regression")["stata"];
    let (columns, outcomes) = (vec![numbers(&stata["column"])], numbers(&stata["outcomes"]));
    let design = Design { outcomes: &outcomes, columns: &columns, weights: None, clusters: None };
    let found = all_of(&least_squares(&design, Adjustment::Cr2).unwrap());
    // Printed with ten decimals.
    for (idx, (estimate, error)) in numbers(&stata["estimates"]).iter().zip(numbers(&stata["hc2"])).enumerate() {
        assert!((found[idx].estimate - estimate).abs() < 6e-11);
        assert!((found[idx].standard_error - error).abs() < 6e-11);
    }
}

/// The closed form for a mean: Pustejovsky & Tipton's package tests itself by it.
#[test]
fn a_mean_has_the_closed_form() {
    let golden = golden("regression");
    let case =
        golden["cases"].as_array().unwrap().iter().find(|case| case["columns"] == serde_json::json!([])).unwrap();
    let (outcomes, clusters) = (numbers(&case["outcomes"]), ids(&case["clusters"]));
    let design = Design { outcomes: &outcomes, columns: &[], weights: None, clusters: Some(&clusters) };
    let found = least_squares(&design, Adjustment::Cr2).unwrap().intercept;
    assert_close(found.standard_error, golden["mean_of_clusters"]["se"].as_f64().unwrap(), TOLERANCE, "se");
    assert_close(found.degrees, golden["mean_of_clusters"]["degrees"].as_f64().unwrap(), TOLERANCE, "degrees");
}

#[test]
fn a_column_that_others_explain_is_left_out_and_named() {
    let x: Vec<f64> = (0..12).map(|i| f64::from(i * i)).collect();
    let twice: Vec<f64> = x.iter().map(|x| 2.0 * x - 3.0).collect();
    let outcomes: Vec<f64> = (0..12).map(|i| f64::from(i % 5)).collect();
    let columns = [vec![4.0; 12], x.clone(), twice, vec![1e9; 12]];
    let fit = least_squares(
        &Design { outcomes: &outcomes, columns: &columns, weights: None, clusters: None },
        Adjustment::Cr2,
    )
    .unwrap();
    assert_eq!(fit.aliased(), [0, 2, 3]);
    let alone = Design { outcomes: &outcomes, columns: &[x], weights: None, clusters: None };
    let alone = least_squares(&alone, Adjustment::Cr2).unwrap();
    assert_eq!(fit.coefficients[1], alone.coefficients[0]);
}

#[test]
fn what_cannot_be_fitted_has_no_fit_and_what_fits_exactly_no_error() {
    let fit = |outcomes: &[f64], columns: &[Vec<f64>], weights: Option<&[f64]>, clusters: Option<&[u32]>| {
        least_squares(&Design { outcomes, columns, weights, clusters }, Adjustment::Cr2)
    };
    assert_eq!(fit(&[], &[], None, None), None);
    assert_eq!(fit(&[1.0, f64::NAN], &[], None, None), None);
    assert_eq!(fit(&[1.0, 2.0], &[vec![1.0]], None, None), None);
    assert_eq!(fit(&[1.0, 2.0], &[], Some(&[1.0, 0.0]), None), None);
    assert_eq!(fit(&[1.0, 2.0], &[vec![1.0, f64::INFINITY]], None, None), None);
    assert_eq!(fit(&[1.0, 2.0], &vec![vec![1.0, 2.0]; 33], None, None), None);
    let one = fit(&[1.0, 2.0, 4.0], &[vec![1.0, 2.0, 3.0]], None, Some(&[5, 5, 5])).unwrap();
    assert!(one.intercept.standard_error.is_nan() && one.n_clusters == 1);
    let exact = fit(&[0.1, 0.3, 0.5, 0.7], &[vec![1.0, 2.0, 3.0, 4.0]], None, None).unwrap();
    assert_eq!(exact.coefficients[0].unwrap().standard_error, 0.0);
    assert!((exact.coefficients[0].unwrap().estimate - 0.2).abs() < 1e-14);
    let constant = fit(&[3.0; 5], &[vec![1.0, 2.0, 3.0, 4.0, 9.0]], None, None).unwrap();
    assert_eq!(constant.coefficients[0].unwrap().estimate, 0.0);
    assert_eq!(constant.intercept.estimate, 3.0);
}

proptest! {
    /// Where the numbers lie and in which unit they are changes nothing.
    #[test]
    fn far_and_large_numbers_lose_nothing(
        data in prop::collection::vec((-3.0..3.0_f64, -3.0..3.0_f64, 0_u32..6), 8..40),
        far in prop::sample::select(vec![0.0, 1e6, -1e9]), by in prop::sample::select(vec![1.0, 1e-8, 1e60]),
    ) {
        let clusters: Vec<u32> = data.iter().map(|row| row.2).collect();
        let (x, y): (Vec<f64>, Vec<f64>) = data.iter().map(|row| (row.0, row.1 + 0.3 * row.0)).unzip();
        let fit = |x: Vec<f64>, y: &[f64]| {
            let design = Design { outcomes: y, columns: &[x], weights: None, clusters: Some(&clusters) };
            least_squares(&design, Adjustment::Cr2).unwrap().coefficients[0]
        };
        let (near, moved) = (
            fit(x.clone(), &y),
            fit(x.iter().map(|x| x + far).collect(), &y.iter().map(|y| (y - far) * by).collect::<Vec<_>>()),
        );
        let (Some(near), Some(moved)) = (near, moved) else { return Ok(()) };
        // The numbers themselves keep 1e-16 of `far`.
        let tolerance = 1e-10 + 1e-14 * far.abs();
        prop_assert!((near.estimate - moved.estimate / by).abs() <= tolerance * (1.0 + near.estimate.abs()));
        if near.standard_error.is_finite() && near.standard_error > 1e-6 {
            prop_assert!((near.standard_error - moved.standard_error / by).abs() <= tolerance * 10.0 * (1.0 + near.standard_error));
            prop_assert!(moved.degrees.is_nan() || moved.degrees > 0.99);
        }
    }

    /// Of one column: the weighted product of both deviations from the mean, up to a factor. Their sum has the coefficient's sign.
    #[test]
    fn scores_are_products_of_what_the_others_leave(
        data in prop::collection::vec((-3.0..3.0_f64, -3.0..3.0_f64, 0.1..4.0_f64), 3..30),
    ) {
        let x: Vec<f64> = data.iter().map(|row| row.0).collect();
        let y: Vec<f64> = data.iter().map(|row| row.1).collect();
        let w: Vec<f64> = data.iter().map(|row| row.2).collect();
        let columns = [x.clone()];
        let design = Design { outcomes: &y, columns: &columns, weights: Some(&w), clusters: None };
        let (fit, scores) = least_squares_and_scores(&design, Adjustment::Cr2).unwrap();
        let (Some(scores), Some(coefficient)) = (scores, fit.coefficients[0]) else { return Ok(()) };
        let total: f64 = w.iter().sum();
        let mean = |of: &[f64]| of.iter().zip(&w).map(|(value, w)| value * w).sum::<f64>() / total;
        let (of_x, of_y) = (mean(&x), mean(&y));
        let expected: Vec<f64> = (0..x.len()).map(|i| w[i] * (x[i] - of_x) * (y[i] - of_y)).collect();
        let largest = (0..x.len()).max_by(|a, b| expected[*a].abs().total_cmp(&expected[*b].abs())).unwrap();
        prop_assume!(expected[largest].abs() > 1e-3);
        let factor = scores[largest] / expected[largest];
        prop_assert!(factor > 0.0);
        for (score, expected) in scores.iter().zip(&expected) {
            prop_assert!((score - factor * expected).abs() <= 1e-9 * factor * (1.0 + expected.abs()));
        }
        let sum: f64 = scores.iter().sum();
        prop_assert!(sum * coefficient.estimate >= -1e-9);
    }
}

/// Six clusters that carry a column and six that do not: the normal interval would hold the truth about .9 of the time.
#[test]
fn intervals_hold_with_few_clusters() {
    let (n, mut held) = (2_000, 0);
    let clusters: Vec<u32> = (0..60).map(|i| i / 5).collect();
    let column: Vec<f64> = clusters.iter().map(|c| f64::from(c % 2)).collect();
    for replicate in 0..n {
        let mut rng = ChaCha8Rng::seed_from_u64(11);
        rng.set_stream(replicate);
        let mut normal = || normal_quantile(rng.random_range(1e-12..1.0));
        let effects: Vec<f64> = (0..12).map(|_| normal()).collect();
        let outcomes: Vec<f64> =
            clusters.iter().zip(&column).map(|(c, x)| 0.5 * x + effects[*c as usize] + normal()).collect();
        let design = Design {
            outcomes: &outcomes,
            columns: std::slice::from_ref(&column),
            weights: None,
            clusters: Some(&clusters),
        };
        let found = least_squares(&design, Adjustment::Cr2).unwrap().coefficients[0].unwrap();
        let half = t_quantile(0.975, found.degrees) * found.standard_error;
        held += u32::from((found.estimate - 0.5).abs() <= half);
    }
    let share = f64::from(held) / n as f64;
    assert!((0.935..=0.965).contains(&share), "{share}");
}
