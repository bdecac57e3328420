//! What is said to be undefined is, and what is said to have a value at the edge has it.

use assize_calibration::agreement::kappa::{self, Weighting};
use assize_calibration::agreement::multi::{brennan_prediger, fleiss_kappa, gwet_ac, percent_agreement};
use assize_calibration::interval::Spread;
use assize_calibration::rank::{kendall_tau_b, pearson, spearman};

use crate::small_logs::close;

/// Three units rated by two, all of them a: nobody disagrees, but the margins leave no room for chance to.
#[test]
fn ratings_of_one_category_agree_where_chance_is_not_told_from_the_margins() {
    let (counts, unweighted) = ([2, 0, 2, 0, 2, 0], Weighting::Unweighted);
    assert_eq!(fleiss_kappa(&counts, 2, &unweighted), None);
    for coefficient in [gwet_ac, brennan_prediger] {
        close(coefficient(&counts, 2, &unweighted).unwrap().agreement.kappa, 1.0, 1e-12);
    }
    close(percent_agreement(&counts, 2, &unweighted).unwrap().estimate, 1.0, 1e-12);
    let table = [3.0, 0.0, 0.0, 0.0];
    assert_eq!(kappa::cohen_kappa(&table, 2, &unweighted), None);
    close(kappa::brennan_prediger(&table, 2, &unweighted).unwrap().kappa, 1.0, 1e-12);
    // Categories of one value are one category to the weights.
    let alike = Weighting::LinearByValue(vec![1.0, 1.0, 2.0]);
    assert_eq!(fleiss_kappa(&[1, 1, 0, 1, 1, 0], 3, &alike), None);
}

#[test]
fn agreement_of_nothing_is_undefined() {
    let unweighted = Weighting::Unweighted;
    // No counts; no whole number of units; single ratings; one category; weights of another number of categories.
    let by_value = Weighting::LinearByValue(vec![1.0]);
    let cases: [(&[u32], usize, &Weighting); 5] = [
        (&[], 2, &unweighted),
        (&[1, 1, 1], 2, &unweighted),
        (&[1, 0, 0, 1], 2, &unweighted),
        (&[2, 2], 1, &unweighted),
        (&[1, 1], 2, &by_value),
    ];
    for (counts, n_categories, weighting) in cases {
        assert_eq!(percent_agreement(counts, n_categories, weighting), None, "{counts:?}");
        for coefficient in [fleiss_kappa, gwet_ac, brennan_prediger] {
            assert_eq!(coefficient(counts, n_categories, weighting), None, "{counts:?}");
        }
    }
    for table in [&[1.0; 3][..], &[0.0; 4], &[1.0, -1.0, 1.0, 1.0], &[1.0, f64::NAN, 1.0, 1.0]] {
        assert_eq!(kappa::brennan_prediger(table, 2, &unweighted), None, "{table:?}");
    }
}

/// The third observation alone makes `x` or `y` vary, and weighs nothing.
#[test]
fn what_weighs_nothing_makes_no_variance() {
    for correlation in [pearson, spearman, kendall_tau_b] {
        assert_eq!(correlation(&[1.0, 1.0, 2.0], &[1.0, 2.0, 3.0], Some(&[1.0, 1.0, 0.0])), None);
        assert_eq!(correlation(&[1.0, 2.0, 3.0], &[1.0, 1.0, 2.0], Some(&[1.0, 1.0, 0.0])), None);
        assert_eq!(correlation(&[1.0, 2.0], &[1.0, 2.0], Some(&[1.0])), None);
        assert_eq!(correlation(&[1.0, 2.0], &[1.0, 2.0], Some(&[1.0, f64::INFINITY])), None);
        assert_eq!(correlation(&[1.0, f64::INFINITY], &[1.0, 2.0], None), None);
    }
}

/// P(T > 1) with 3 degrees is ½ − (1/π)(√3/4 + π/6) = .1955.
#[test]
fn one_sided_p_values_go_from_next_to_nothing_to_a_half() {
    let pi = std::f64::consts::PI;
    let tail = 0.5 - (3.0_f64.sqrt() / 4.0 + pi / 6.0) / pi;
    let range = [f64::NEG_INFINITY, f64::INFINITY];
    let spread = |standard_error: f64, degrees: f64| Spread::Student { standard_error, degrees, range };
    close(spread(1.0, 3.0).p_at_most(1.0, 0.0).unwrap(), tail, 1e-9);
    close(spread(1.0, 3.0).p_at_least(-1.0, 0.0).unwrap(), tail, 1e-9);
    // On the other side of the limit, and at it.
    for limit in [1.0, 2.0] {
        assert_eq!(spread(1.0, 3.0).p_at_most(1.0, limit), Some(0.5));
        assert_eq!(spread(1.0, 3.0).p_at_least(1.0, 2.0 - limit), Some(0.5));
    }
    let least = (-27.0_f64).exp();
    assert_eq!(spread(1e-9, 300.0).p_at_most(1.0, 0.0), Some(least));
    assert_eq!(spread(1e-9, 300.0).p_at_least(-1.0, 0.0), Some(least));
    // One cluster has no standard error.
    for spread in [Spread::None, spread(1.0, 0.0), spread(f64::NAN, 3.0)] {
        assert_eq!(spread.p_at_most(1.0, 0.0), None);
        assert_eq!(spread.p_at_least(-1.0, 0.0), None);
    }
}
