use assize_calibration::proportion::{Interval, agresti_coull, clopper_pearson, jeffreys, wilson};
use proptest::prelude::*;

use crate::golden::{assert_close, golden, numbers};

type Method = fn(f64, f64, f64) -> Option<Interval>;

const METHODS: [(&str, Method); 4] =
    [("wilson", wilson), ("beta", clopper_pearson), ("jeffreys", jeffreys), ("agresti_coull", agresti_coull)];

#[test]
fn intervals_agree_with_statsmodels() {
    for set in golden("proportion")["intervals"].as_array().unwrap() {
        let value = |key: &str| set[key].as_f64().unwrap();
        let (successes, trials, level) = (value("successes"), value("trials"), value("level"));
        for (name, method) in METHODS {
            let what = format!("{name} {successes}/{trials} at {level}");
            let (actual, expected) = (method(successes, trials, level).unwrap(), numbers(&set[name]));
            assert_close(actual.low, expected[0], 1e-9, &what);
            assert_close(actual.high, expected[1], 1e-9, &what);
        }
    }
}

#[test]
fn no_trials_have_no_interval() {
    for (_, method) in METHODS {
        assert_eq!(method(0.0, 0.0, 0.95), None);
        assert_eq!(method(2.0, 1.0, 0.95), None);
        assert_eq!(method(-1.0, 1.0, 0.95), None);
        assert_eq!(method(f64::NAN, 1.0, 0.95), None);
        assert_eq!(method(0.0, f64::NAN, 0.95), None);
    }
}

proptest! {
    #[test]
    fn intervals_are_bounded_nested_and_mirrored(trials in 1..400_u32, share in 0.0..=1.0_f64) {
        let n = f64::from(trials);
        let k = (share * n).round();
        for (name, method) in METHODS {
            let (narrow, wide) = (method(k, n, 0.8).unwrap(), method(k, n, 0.95).unwrap());
            prop_assert!(0.0 <= wide.low && wide.high <= 1.0, "{name}");
            prop_assert!(wide.low <= narrow.low && narrow.low <= narrow.high && narrow.high <= wide.high, "{name}");
            // Only Jeffreys' own, with no event or nothing else, leaves out the share seen.
            if name != "jeffreys" {
                prop_assert!(wide.low <= k / n + 1e-12 && k / n <= wide.high + 1e-12, "{name}");
            }
            let mirrored = method(n - k, n, 0.95).unwrap();
            prop_assert!((mirrored.low - (1.0 - wide.high)).abs() < 1e-9, "{name}");
            prop_assert!((mirrored.high - (1.0 - wide.low)).abs() < 1e-9, "{name}");
        }
    }
}
