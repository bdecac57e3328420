use assize_calibration::bootstrap::BootstrapConfig;
use assize_calibration::reliability::{
    Binning, BrierParts, Forecasts, brier_parts, brier_score, calibration_error, log_loss, null_ece, reliability_curve,
};
use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::golden::{assert_close, golden, numbers};

const BINNINGS: [(Binning, &str); 2] = [(Binning::EqualWidth, "uniform"), (Binning::EqualMass, "quantile")];

fn plain<'a>(confidences: &'a [f64], outcomes: &'a [f64]) -> Forecasts<'a> {
    Forecasts { confidences, outcomes, weights: None, clusters: None }
}

fn simulations(n_resamples: u32) -> BootstrapConfig {
    BootstrapConfig { n_resamples, seed: 7 }
}

fn sum(parts: &BrierParts) -> f64 {
    parts.reliability - parts.resolution + parts.uncertainty + parts.within_bins
}

#[test]
fn curves_and_errors_agree_with_the_packages() {
    for set in golden("reliability")["sets"].as_array().unwrap() {
        let (confidences, outcomes) = (numbers(&set["confidences"]), numbers(&set["outcomes"]));
        let n_bins = set["n_bins"].as_u64().unwrap() as usize;
        let forecasts = plain(&confidences, &outcomes);
        for (binning, key) in BINNINGS {
            let expected = &set[key];
            if expected.is_null() {
                continue;
            }
            let curve = reliability_curve(&forecasts, binning, n_bins).unwrap();
            let (rates, means, counts) =
                (numbers(&expected["rates"]), numbers(&expected["means"]), numbers(&expected["counts"]));
            assert_eq!(curve.len(), rates.len(), "{key}");
            for (k, bin) in curve.iter().enumerate() {
                assert_close(bin.event_rate, rates[k], 1e-9, "event rate");
                assert_close(bin.mean_confidence, means[k], 1e-9, "mean confidence");
                assert_eq!(bin.n as f64, counts[k]);
            }
            let error = calibration_error(&curve).unwrap();
            let number = |key: &str| expected[key].as_f64();
            assert_close(error.expected, number("ece").unwrap(), 1e-9, "ECE");
            assert_close(error.squared, number("squared").unwrap(), 1e-9, "squared");
            if let (Some(squared), Some(ece)) = (number("squared_debiased"), number("ece_debiased")) {
                assert_close(error.squared_debiased, squared, 1e-9, "squared, debiased");
                assert_close(error.expected_debiased, ece, 1e-9, "ECE, debiased");
            }
            let parts = brier_parts(&forecasts, binning, n_bins).unwrap();
            let murphy = [parts.reliability, parts.resolution, parts.uncertainty, parts.within_bins];
            for (actual, expected) in murphy.iter().zip(numbers(&expected["murphy"])) {
                assert!((actual - expected).abs() < 1e-12, "{actual} {expected}");
            }
            assert_close(parts.score, set["brier"].as_f64().unwrap(), 1e-9, "Brier");
            assert_close(sum(&parts), parts.score, 1e-9, "parts");
        }
        let weights = numbers(&set["weights"]);
        let weighted = Forecasts { weights: Some(&weights), ..forecasts };
        for (actual, key) in [
            (brier_score(&forecasts), "brier"),
            (brier_score(&weighted), "weighted_brier"),
            (log_loss(&forecasts), "log_loss"),
            (log_loss(&weighted), "weighted_log_loss"),
        ] {
            assert_close(actual.unwrap().estimate, set[key].as_f64().unwrap(), 1e-9, key);
        }
    }
}

/// The exact expectation is that of the Poisson-binomial counts of each bin.
#[test]
fn the_null_value_is_that_of_the_exact_distribution() {
    for set in golden("reliability")["sets"].as_array().unwrap() {
        let confidences = numbers(&set["confidences"]);
        let n_bins = set["n_bins"].as_u64().unwrap() as usize;
        for (binning, key) in BINNINGS {
            let Some(exact) = set[key]["null"].as_f64() else { continue };
            let null = null_ece(&plain(&confidences, &confidences), binning, n_bins, simulations(400)).unwrap();
            assert!((null.mean - exact).abs() < 4.0 * null.simulation_error, "{} {exact}", null.mean);
            assert!(null.simulation_error < 0.002, "{}", null.simulation_error);
            assert!((null.by_formula / exact - 1.0).abs() < 0.1, "{} {exact}", null.by_formula);
            let upper = set[key]["null_upper"].as_f64().unwrap();
            assert!((null.upper - upper).abs() < 0.08 * upper, "{} {upper}", null.upper);
        }
    }
}

/// The rule: .10 at 100 items and .05 at 500, for a judge without fault.
#[test]
fn a_perfect_judge_has_an_error_of_a_tenth_at_a_hundred_items() {
    for (n, expected) in [(100, 0.10), (500, 0.05)] {
        let confidences: Vec<f64> = (0..n).map(|i| (f64::from(i) + 0.5) / f64::from(n)).collect();
        let null = null_ece(&plain(&confidences, &confidences), Binning::EqualWidth, 10, simulations(300)).unwrap();
        assert!((null.mean - expected).abs() < 0.006, "{n}: {}", null.mean);
    }
}

#[test]
fn debiasing_takes_the_squared_error_of_a_perfect_judge_to_nothing() {
    let mut rng = ChaCha8Rng::seed_from_u64(2019);
    let (mut plain_sum, mut debiased, mut squared) = (0.0, 0.0, 0.0);
    let n_runs = 200;
    for _ in 0..n_runs {
        let confidences: Vec<f64> = (0..200).map(|_| rng.random::<f64>()).collect();
        let outcomes: Vec<f64> = confidences.iter().map(|p| f64::from(u8::from(rng.random::<f64>() < *p))).collect();
        let curve = reliability_curve(&plain(&confidences, &outcomes), Binning::EqualMass, 10).unwrap();
        let error = calibration_error(&curve).unwrap();
        plain_sum += error.expected / f64::from(n_runs);
        debiased += error.expected_debiased / f64::from(n_runs);
        squared += error.squared_debiased / f64::from(n_runs);
    }
    assert!(plain_sum > 0.06, "{plain_sum}");
    // The absolute value has a kink at 0, so that 2 − √2 of the bias stays; the square has none.
    assert!((debiased / plain_sum - (2.0 - 2.0_f64.sqrt())).abs() < 0.06, "{debiased} of {plain_sum}");
    assert!(squared.abs() < 0.0007, "{squared}");
}

#[test]
fn repeats_of_an_item_do_not_make_it_two() {
    let set = &golden("reliability")["sets"][0];
    let (confidences, outcomes) = (numbers(&set["confidences"]), numbers(&set["outcomes"]));
    let thrice = |values: &[f64]| values.iter().flat_map(|value| [*value; 3]).collect::<Vec<f64>>();
    let clusters: Vec<u32> = (0..3 * confidences.len() as u32).map(|i| i / 3).collect();
    let (tripled, tripled_outcomes) = (thrice(&confidences), thrice(&outcomes));
    let repeated = Forecasts { clusters: Some(&clusters), ..plain(&tripled, &tripled_outcomes) };
    let once = plain(&confidences, &outcomes);
    let errors = [repeated, once]
        .map(|forecasts| calibration_error(&reliability_curve(&forecasts, Binning::EqualWidth, 10).unwrap()).unwrap());
    assert_close(errors[0].expected_debiased, errors[1].expected_debiased, 1e-9, "debiased");
    assert_close(errors[0].squared_debiased, errors[1].squared_debiased, 1e-9, "debiased");
    let nulls = [repeated, once].map(|f| null_ece(&f, Binning::EqualWidth, 10, simulations(50)).unwrap());
    assert_close(nulls[0].mean, nulls[1].mean, 1e-9, "null");
    assert_close(nulls[0].by_formula, nulls[1].by_formula, 1e-9, "null by formula");
    let scores = [repeated, once].map(|forecasts| brier_score(&forecasts).unwrap());
    assert_close(scores[0].variance, scores[1].variance, 1e-9, "variance");
}

#[test]
fn equal_confidences_stay_in_one_bin() {
    let confidences = [0.1, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.95];
    let curve = reliability_curve(&plain(&confidences, &[1.0; 8]), Binning::EqualMass, 4).unwrap();
    let bins: Vec<(f64, f64, usize)> = curve.iter().map(|bin| (bin.low, bin.high, bin.n)).collect();
    assert_eq!(bins, [(0.1, 0.1, 1), (0.9, 0.9, 6), (0.95, 0.95, 1)]);
    // An edge belongs to the bin below it.
    let edges = [0.0, 0.1, 0.2, 0.3, 0.6, 0.7, 1.0];
    let curve = reliability_curve(&plain(&edges, &[1.0; 7]), Binning::EqualWidth, 10).unwrap();
    let counts: Vec<usize> = curve.iter().map(|bin| bin.n).collect();
    assert_eq!(counts, [2, 1, 1, 1, 1, 1]);
}

/// By hand: four answers of .8, three of them right, and one sure and right.
#[test]
fn a_small_case_by_hand() {
    let forecasts = plain(&[0.8, 0.8, 0.8, 0.8, 1.0], &[1.0, 1.0, 1.0, 0.0, 1.0]);
    let curve = reliability_curve(&forecasts, Binning::EqualWidth, 5).unwrap();
    let error = calibration_error(&curve).unwrap();
    assert_close(error.expected, 0.8 * 0.05, 1e-12, "ECE");
    assert_close(error.maximum, 0.05, 1e-12, "maximum");
    assert_close(error.squared_debiased, 0.8 * (0.0025 - 0.75 * 0.25 / 3.0), 1e-12, "squared");
    let parts = brier_parts(&forecasts, Binning::EqualWidth, 5).unwrap();
    assert_close(parts.score, (3.0 * 0.04 + 0.64) / 5.0, 1e-12, "Brier");
    assert_close(parts.resolution, 0.8 * 0.0025 + 0.2 * 0.04, 1e-12, "resolution");
    assert_close(parts.uncertainty, 0.16, 1e-12, "uncertainty");
    assert!(parts.within_bins.abs() < 1e-15);
}

#[test]
fn a_judge_that_knows_has_no_error() {
    let values = [0.0, 1.0, 1.0, 0.0];
    for (binning, _) in BINNINGS {
        let error = calibration_error(&reliability_curve(&plain(&values, &values), binning, 10).unwrap()).unwrap();
        assert_eq!((error.expected, error.expected_debiased, error.squared_debiased), (0.0, 0.0, 0.0));
        let null = null_ece(&plain(&values, &values), binning, 10, simulations(10)).unwrap();
        assert_eq!((null.mean, null.upper, null.by_formula), (0.0, 0.0, 0.0));
    }
    assert_eq!(brier_score(&plain(&values, &values)).unwrap().estimate, 0.0);
    assert_eq!(log_loss(&plain(&values, &values)).unwrap().estimate, 0.0);
}

#[test]
fn certain_and_wrong_is_an_infinite_loss() {
    assert_eq!(log_loss(&plain(&[1.0, 0.5], &[0.0, 1.0])).unwrap().estimate, f64::INFINITY);
    assert_eq!(log_loss(&plain(&[0.0, 0.5], &[1.0, 1.0])).unwrap().estimate, f64::INFINITY);
}

#[test]
fn what_is_no_forecast_is_undefined() {
    let good = [0.2, 0.4];
    for forecasts in [
        plain(&[], &[]),
        plain(&good, &good[..1]),
        plain(&[0.2, 1.2], &good),
        plain(&good, &[0.2, -0.1]),
        plain(&[0.2, f64::NAN], &good),
        Forecasts { weights: Some(&[1.0]), ..plain(&good, &good) },
        Forecasts { weights: Some(&[0.0, 0.0]), ..plain(&good, &good) },
        Forecasts { weights: Some(&[1.0, -1.0]), ..plain(&good, &good) },
        Forecasts { clusters: Some(&[1]), ..plain(&good, &good) },
    ] {
        for (binning, _) in BINNINGS {
            assert_eq!(reliability_curve(&forecasts, binning, 10), None);
            assert_eq!(brier_parts(&forecasts, binning, 10), None);
            assert_eq!(null_ece(&forecasts, binning, 10, simulations(10)), None);
        }
        assert_eq!(brier_score(&forecasts), None);
        assert_eq!(log_loss(&forecasts), None);
    }
    assert_eq!(reliability_curve(&plain(&good, &good), Binning::EqualMass, 0), None);
    assert_eq!(null_ece(&plain(&good, &good), Binning::EqualMass, 10, simulations(0)), None);
    assert_eq!(calibration_error(&[]), None);
}

/// What weighs nothing is in no bin.
#[test]
fn weightless_observations_do_not_count() {
    let forecasts = Forecasts { weights: Some(&[1.0, 1.0, 0.0]), ..plain(&[0.2, 0.25, 0.9], &[0.0, 1.0, 0.0]) };
    let curve = reliability_curve(&forecasts, Binning::EqualWidth, 10).unwrap();
    assert_eq!(curve.iter().map(|bin| bin.n).sum::<usize>(), 2);
}

fn observations() -> impl Strategy<Value = Vec<(f64, f64, f64)>> {
    prop::collection::vec((0.0..=1.0_f64, (0..=1_u8).prop_map(f64::from), 0.1..3.0_f64), 1..60)
}

proptest! {
    #[test]
    fn parts_add_up_and_errors_are_bounded(rows in observations(), n_bins in 1_usize..20) {
        let confidences: Vec<f64> = rows.iter().map(|row| row.0).collect();
        let outcomes: Vec<f64> = rows.iter().map(|row| row.1).collect();
        let weights: Vec<f64> = rows.iter().map(|row| row.2).collect();
        let forecasts = Forecasts { weights: Some(&weights), ..plain(&confidences, &outcomes) };
        for (binning, _) in BINNINGS {
            let parts = brier_parts(&forecasts, binning, n_bins).unwrap();
            prop_assert!((sum(&parts) - parts.score).abs() < 1e-12);
            prop_assert!((parts.score - brier_score(&forecasts).unwrap().estimate).abs() < 1e-12);
            prop_assert!(parts.resolution <= parts.uncertainty + 1e-12);
            let curve = reliability_curve(&forecasts, binning, n_bins).unwrap();
            prop_assert!((curve.iter().map(|bin| bin.share).sum::<f64>() - 1.0).abs() < 1e-12);
            prop_assert!(curve.windows(2).all(|pair| pair[0].high < pair[1].low));
            let error = calibration_error(&curve).unwrap();
            prop_assert!((parts.reliability - error.squared).abs() < 1e-12);
            prop_assert!(error.expected <= error.maximum + 1e-12 && error.maximum <= 1.0);
            // Jensen: the mean gap is at most the root of the mean squared gap.
            prop_assert!(error.expected * error.expected <= error.squared + 1e-12);
            // Rounding aside, what is taken away is not negative.
            prop_assert!(error.expected_debiased <= error.expected + 1e-12);
            prop_assert!(error.squared_debiased <= error.squared + 1e-12);
        }
    }

    #[test]
    fn order_does_not_matter(rows in observations()) {
        let error = |rows: &[(f64, f64, f64)], binning| {
            let confidences: Vec<f64> = rows.iter().map(|row| row.0).collect();
            let outcomes: Vec<f64> = rows.iter().map(|row| row.1).collect();
            calibration_error(&reliability_curve(&plain(&confidences, &outcomes), binning, 7).unwrap()).unwrap()
        };
        let back: Vec<_> = rows.iter().rev().copied().collect();
        for (binning, _) in BINNINGS {
            prop_assert!((error(&rows, binning).expected - error(&back, binning).expected).abs() < 1e-12);
            prop_assert!((error(&rows, binning).expected_debiased - error(&back, binning).expected_debiased).abs() < 1e-12);
        }
    }
}
