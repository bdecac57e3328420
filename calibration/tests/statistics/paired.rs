use assize_calibration::paired::{McNemarTest, benjamini_hochberg, equivalence, holm, mcnemar, paired_mean};
use proptest::prelude::*;

use crate::golden::{assert_close, golden, numbers};

#[test]
fn mcnemar_agrees_with_statsmodels() {
    for set in golden("paired")["mcnemar"].as_array().unwrap() {
        let count = |key: &str| set[key].as_u64().unwrap();
        for (key, test) in [
            ("exact", McNemarTest::Exact),
            ("mid_p", McNemarTest::MidP),
            ("corrected", McNemarTest::Corrected),
            ("uncorrected", McNemarTest::Uncorrected),
        ] {
            // statsmodels corrects equal counts to a difference of −1; here they are as alike as can be.
            let expected =
                if key == "corrected" && count("b") == count("c") { 1.0 } else { set[key].as_f64().unwrap() };
            assert_close(mcnemar(count("b"), count("c"), test), expected, 1e-9, key);
            assert_close(mcnemar(count("c"), count("b"), test), expected, 1e-9, key);
        }
    }
}

#[test]
fn mcnemar_of_5_and_14() {
    assert_close(mcnemar(5, 14, McNemarTest::Exact), 0.063_568_115_234_375, 1e-12, "exact");
    assert_close(mcnemar(5, 14, McNemarTest::Corrected), 0.066_457_420_016_931_2, 1e-12, "corrected");
    assert!((mcnemar(5, 14, McNemarTest::default()) - 0.0414).abs() < 5e-5);
    assert!((mcnemar(5, 14, McNemarTest::Uncorrected) - 0.0389).abs() < 5e-5);
    for test in [McNemarTest::Exact, McNemarTest::MidP, McNemarTest::Corrected, McNemarTest::Uncorrected] {
        assert_eq!(mcnemar(0, 0, test), 1.0);
    }
}

#[test]
fn paired_means_agree_with_the_packages() {
    for set in golden("paired")["paired_mean"].as_array().unwrap() {
        let differences = numbers(&set["differences"]);
        let clusters: Vec<u32> = numbers(&set["clusters"]).into_iter().map(|id| id as u32).collect();
        let plain = paired_mean(&differences, None, None, 0.95).unwrap();
        let clustered = paired_mean(&differences, Some(&numbers(&set["weights"])), Some(&clusters), 0.95).unwrap();
        for (actual, key) in [(&plain, "plain"), (&clustered, "clustered")] {
            let actual = [actual.estimate, actual.standard_error, actual.low, actual.high, actual.p_value];
            for (actual, expected) in actual.iter().zip(numbers(&set[key])) {
                assert_close(*actual, expected, 1e-9, key);
            }
        }
        let tost = equivalence(&plain, -0.5, 0.6).unwrap();
        let actual = [tost.p_above_low, tost.p_below_high, tost.p_value];
        for (actual, expected) in actual.iter().zip(numbers(&set["tost"])) {
            assert_close(*actual, expected, 1e-9, "tost");
        }
    }
}

#[test]
fn a_mean_needs_two_clusters() {
    assert_eq!(paired_mean(&[], None, None, 0.95), None);
    assert_eq!(paired_mean(&[1.0], None, None, 0.95), None);
    assert_eq!(paired_mean(&[1.0, 2.0], None, Some(&[4, 4]), 0.95), None);
    assert_eq!(paired_mean(&[1.0, f64::NAN], None, None, 0.95), None);
    assert_eq!(paired_mean(&[1.0, 2.0], None, None, 1.0), None);
    let same = paired_mean(&[0.1; 5], None, None, 0.95).unwrap();
    assert_eq!((same.low, same.high, same.p_value), (0.1, 0.1, 0.0));
    assert_eq!(equivalence(&same, -0.2, 0.2).unwrap().p_value, 0.0);
    assert_eq!(equivalence(&same, 0.1, 0.2).unwrap().p_value, 1.0);
    assert_eq!(equivalence(&same, 0.2, 0.1), None);
    assert_eq!(paired_mean(&[0.0; 5], None, None, 0.95).unwrap().p_value, 1.0);
}

#[test]
fn corrections_agree_with_statsmodels() {
    let set = &golden("paired")["multiple"];
    let p = numbers(&set["p"]);
    for (adjusted, key) in [(holm(&p), "holm"), (benjamini_hochberg(&p), "bh")] {
        for (actual, expected) in adjusted.iter().zip(numbers(&set[key])) {
            assert_close(*actual, expected, 1e-9, key);
        }
    }
    assert!(holm(&[]).is_empty());
    let with_gap = holm(&[0.02, f64::NAN, 0.03]);
    assert_eq!((with_gap[0], with_gap[2]), (0.04, 0.04));
    assert!(with_gap[1].is_nan());
}

proptest! {
    #[test]
    fn mid_p_is_below_exact(b in 0..200_u64, c in 0..200_u64) {
        let (exact, mid_p) = (mcnemar(b, c, McNemarTest::Exact), mcnemar(b, c, McNemarTest::MidP));
        prop_assert!(mid_p <= exact && (0.0..=1.0).contains(&mid_p));
    }

    /// TOST at α succeeds exactly when the 1 − 2α interval lies inside the margins.
    #[test]
    fn equivalence_is_an_interval_inside_the_margins(
        differences in prop::collection::vec(-1.0..1.0_f64, 3..20), low in -1.0..-0.01_f64, high in 0.01..1.0_f64,
    ) {
        let mean = paired_mean(&differences, None, None, 0.90).unwrap();
        let shown = equivalence(&mean, low, high).unwrap().p_value < 0.05;
        let margin = (mean.low - low).abs().min((high - mean.high).abs());
        if margin > 1e-9 {
            prop_assert_eq!(shown, mean.low > low && mean.high < high);
        }
    }

    #[test]
    fn corrections_never_lower_a_p_value(p in prop::collection::vec(0.0..1.0_f64, 0..20)) {
        for ((p, holm), bh) in p.iter().zip(holm(&p)).zip(benjamini_hochberg(&p)) {
            prop_assert!(*p <= bh + 1e-15 && bh <= holm + 1e-15 && holm <= 1.0);
        }
    }
}
