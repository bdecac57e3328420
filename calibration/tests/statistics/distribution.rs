use assize_calibration::distribution::{
    beta_cdf, beta_quantile, chi_squared_cdf, chi_squared_quantile, chi_squared_upper_tail, f_cdf, f_quantile,
    f_upper_tail, normal_cdf, normal_quantile, t_cdf, t_quantile,
};
use proptest::prelude::*;

use crate::golden::{golden, rows};

/// A golden row: where, the value here, the value there.
type Compared = (String, f64, f64);

/// Asserts relative agreement, tails of 1e-300 included, and names the worst row.
fn check(compared: &[Compared], tolerance: f64) {
    assert!(!compared.is_empty());
    let error = |row: &Compared| {
        if row.1.to_bits() == row.2.to_bits() {
            return 0.0;
        }
        let relative = ((row.1 - row.2) / row.2).abs();
        // An x of exactly 0 has quantile 0; a cdf may round to 0 only there.
        if relative.is_nan() { f64::INFINITY } else { relative }
    };
    let worst = compared.iter().max_by(|a, b| error(a).total_cmp(&error(b))).unwrap();
    assert!(error(worst) <= tolerance, "{}: {:e} is not {:e} (relative {:e})", worst.0, worst.1, worst.2, error(worst));
}

fn compare(set: &str, actual: impl Fn(&[f64]) -> Vec<f64>) -> Vec<Compared> {
    let mut compared = Vec::new();
    for row in rows(&golden("distribution")[set]) {
        let values = actual(&row);
        let expected = &row[row.len() - values.len()..];
        for (value, expected) in values.iter().zip(expected) {
            compared.push((format!("{set} {row:?}"), *value, *expected));
        }
    }
    compared
}

#[test]
fn beta_tails_agree_with_mpmath() {
    check(&compare("beta", |r| vec![beta_cdf(r[0], r[1], r[2]), r[4]]), 1e-9);
}

#[test]
fn t_tails_agree_with_mpmath() {
    check(&compare("t", |r| vec![t_cdf(r[0], r[1])]), 1e-9);
}

#[test]
fn f_tails_agree_with_mpmath() {
    check(&compare("f", |r| vec![f_cdf(r[0], r[1], r[2]), f_upper_tail(r[0], r[1], r[2])]), 1e-9);
}

#[test]
fn chi_squared_tails_agree_with_mpmath() {
    check(&compare("chi_squared", |r| vec![chi_squared_cdf(r[0], r[1]), chi_squared_upper_tail(r[0], r[1])]), 1e-9);
}

#[test]
fn normal_tails_agree_with_mpmath() {
    check(&compare("normal", |r| vec![normal_cdf(r[0])]), 1e-12);
}

#[test]
fn quantiles_agree_with_scipy() {
    check(&compare("normal_quantile", |r| vec![normal_quantile(r[0])]), 1e-12);
    check(&compare("beta_quantile", |r| vec![beta_quantile(r[0], r[1], r[2])]), 1e-9);
    check(&compare("t_quantile", |r| vec![t_quantile(r[0], r[1])]), 1e-9);
    check(&compare("f_quantile", |r| vec![f_quantile(r[0], r[1], r[2])]), 1e-9);
    check(&compare("chi_squared_quantile", |r| vec![chi_squared_quantile(r[0], r[1])]), 1e-9);
}

#[test]
fn arguments_outside_the_domain_give_nan() {
    for value in [
        normal_quantile(-0.1),
        normal_quantile(f64::NAN),
        beta_cdf(0.5, 0.0, 1.0),
        beta_cdf(f64::NAN, 1.0, 1.0),
        beta_quantile(1.1, 1.0, 1.0),
        t_cdf(0.0, 0.0),
        t_quantile(0.5, -1.0),
        f_cdf(1.0, 1.0, f64::INFINITY),
        chi_squared_cdf(1.0, f64::NAN),
        chi_squared_quantile(2.0, 1.0),
    ] {
        assert!(value.is_nan());
    }
}

#[test]
fn ends_are_exact() {
    assert_eq!(normal_quantile(0.0), f64::NEG_INFINITY);
    assert_eq!(normal_quantile(1.0), f64::INFINITY);
    assert_eq!(normal_quantile(0.5), 0.0);
    assert_eq!(beta_cdf(-1.0, 2.0, 3.0), 0.0);
    assert_eq!(beta_cdf(2.0, 2.0, 3.0), 1.0);
    assert_eq!(beta_quantile(0.0, 2.0, 3.0), 0.0);
    assert_eq!(beta_quantile(1.0, 2.0, 3.0), 1.0);
    assert_eq!(t_cdf(f64::INFINITY, 3.0), 1.0);
    assert_eq!(t_quantile(1.0, 3.0), f64::INFINITY);
    assert_eq!(t_quantile(0.0, 3.0), f64::NEG_INFINITY);
    assert_eq!(t_quantile(0.5, 3.0), 0.0);
    assert_eq!(f_quantile(1.0, 3.0, 4.0), f64::INFINITY);
    assert_eq!(chi_squared_quantile(1.0, 3.0), f64::INFINITY);
    assert_eq!(t_quantile(0.975, f64::INFINITY), normal_quantile(0.975));
}

proptest! {
    #[test]
    fn beta_quantile_inverts_beta_cdf(p in 0.0..1.0_f64, log_a in -6.9..12.0_f64, log_b in -6.9..12.0_f64) {
        let (a, b) = (log_a.exp(), log_b.exp());
        let x = beta_quantile(p, a, b);
        prop_assert!((0.0..=1.0).contains(&x));
        // Where the quantile falls between two doubles near 1, or below the smallest, no double maps back to p.
        if x > 1e-300 && x < 0.999 {
            prop_assert!((beta_cdf(x, a, b) - p).abs() <= 1e-9 * p.max(1e-3), "{x} {a} {b} {p}");
        }
    }

    #[test]
    fn beta_cdf_mirrors(x in 0.0..1.0_f64, log_a in -3.0..8.0_f64, log_b in -3.0..8.0_f64) {
        let (a, b) = (log_a.exp(), log_b.exp());
        prop_assert!((beta_cdf(x, a, b) + beta_cdf(1.0 - x, b, a) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn t_quantile_inverts_t_cdf(p in 1e-9..1.0_f64, log_df in -1.0..13.0_f64) {
        let df = log_df.exp();
        let back = t_cdf(t_quantile(p, df), df);
        prop_assert!((back - p).abs() <= 1e-9 * p, "{p} {df} {back}");
    }

    #[test]
    fn chi_squared_quantile_inverts(p in 1e-9..1.0_f64, log_df in -3.0..13.0_f64) {
        let df = log_df.exp();
        let x = chi_squared_quantile(p, df);
        if x > 1e-300 {
            prop_assert!((chi_squared_cdf(x, df) - p).abs() <= 1e-9 * p);
        }
    }
}
