use assize_calibration::paired::{
    McNemarTest, benjamini_hochberg, equivalence, equivalence_of_paired_proportions, equivalence_of_proportions, holm,
    mcnemar, paired_mean,
};
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
fn equivalence_of_proportions_agrees_with_statsmodels_and_tango() {
    for set in golden("equivalence")["independent"].as_array().unwrap() {
        let (counts, margins, p) = (numbers(&set["counts"]), numbers(&set["margins"]), numbers(&set["p"]));
        let (first, second) = ((counts[0], counts[1]), (counts[2], counts[3]));
        let tost = equivalence_of_proportions(first, second, margins[0], margins[1]).unwrap();
        assert_close(tost.p_above_low, p[0], 1e-9, "above low");
        assert_close(tost.p_below_high, p[1], 1e-9, "below high");
        assert_close(tost.p_value, p[2], 1e-9, "both");
    }
    for set in golden("equivalence")["paired"].as_array().unwrap() {
        let (counts, margins, p) = (numbers(&set["counts"]), numbers(&set["margins"]), numbers(&set["p"]));
        let [b, c, n] = [0, 1, 2].map(|i: usize| counts[i] as u64);
        let tost = equivalence_of_paired_proportions(b, c, n, margins[0], margins[1]).unwrap();
        assert_close(tost.p_above_low, p[0], 1e-9, "above low");
        assert_close(tost.p_below_high, p[1], 1e-9, "below high");
        // Exchanging the judges mirrors the margins.
        let mirrored = equivalence_of_paired_proportions(c, b, n, -margins[1], -margins[0]).unwrap();
        assert_close(mirrored.p_value, tost.p_value, 1e-9, "mirrored");
    }
}

#[test]
fn no_difference_seen_in_few_pairs_is_no_equivalence() {
    // 0 of n discordant: Z = √(n δ/(1 − δ)) at a margin of δ.
    for n in [10, 30, 100] {
        let p = equivalence_of_paired_proportions(0, 0, n, -0.1, 0.1).unwrap().p_value;
        let z = (n as f64 * 0.1 / 0.9).sqrt();
        assert_close(p, assize_calibration::distribution::normal_cdf(-z), 1e-9, "none of n");
    }
    assert!(equivalence_of_paired_proportions(0, 0, 10, -0.1, 0.1).unwrap().p_value > 0.05);
    assert_eq!(equivalence_of_paired_proportions(0, 0, 0, -0.1, 0.1), None);
    assert_eq!(equivalence_of_paired_proportions(2, 2, 3, -0.1, 0.1), None);
    assert_eq!(equivalence_of_paired_proportions(u64::MAX, 1, 3, -0.1, 0.1), None);
    for (low, high) in [(0.1, -0.1), (0.1, 0.1), (-1.0, 0.1), (-0.1, f64::NAN)] {
        assert_eq!(equivalence_of_paired_proportions(1, 1, 10, low, high), None);
        assert_eq!(equivalence_of_proportions((1.0, 10.0), (1.0, 10.0), low, high), None);
    }
    for bad in [(1.0, 0.0), (2.0, 1.0), (-1.0, 2.0), (f64::NAN, 1.0)] {
        assert_eq!(equivalence_of_proportions(bad, (1.0, 10.0), -0.1, 0.1), None);
        assert_eq!(equivalence_of_proportions((1.0, 10.0), bad, -0.1, 0.1), None);
    }
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
