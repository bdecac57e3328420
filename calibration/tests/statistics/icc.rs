use assize_calibration::agreement::alpha::IntervalTally;
use assize_calibration::icc::{IccModel, IccUnit, OneWayTally, icc, icc_mean, mean_squares};
use proptest::prelude::*;

use crate::golden::{assert_close, golden, numbers, rows};

const FORMS: [(IccModel, IccUnit); 6] = [
    (IccModel::OneWay, IccUnit::Single),
    (IccModel::TwoWayRandom, IccUnit::Single),
    (IccModel::TwoWayMixed, IccUnit::Single),
    (IccModel::OneWay, IccUnit::Mean),
    (IccModel::TwoWayRandom, IccUnit::Mean),
    (IccModel::TwoWayMixed, IccUnit::Mean),
];

fn item_tally(scores: &[f64]) -> OneWayTally {
    OneWayTally::of_item(scores.len() as u32, scores.iter().sum(), scores.iter().map(|x| x * x).sum())
}

#[test]
fn six_forms_agree_with_pingouin_and_the_f_formulas() {
    for set in golden("icc")["complete"].as_array().unwrap() {
        let scores = rows(&set["scores"]);
        let squares = mean_squares(&scores.concat(), scores[0].len()).unwrap();
        for (form_idx, (model, unit)) in FORMS.into_iter().enumerate() {
            let what = format!("{model:?} {unit:?}");
            let actual = icc(&squares, model, unit, 0.95).unwrap();
            assert_close(actual.estimate, numbers(&set["estimates"])[form_idx], 1e-9, &what);
            assert_close(actual.f, numbers(&set["f"])[form_idx], 1e-9, &what);
            assert_close(actual.p_value, numbers(&set["p_value"])[form_idx], 1e-9, &what);
            let interval = &rows(&set["intervals"])[form_idx];
            assert_close(actual.low, interval[0], 1e-9, &what);
            assert_close(actual.high, interval[1], 1e-9, &what);
            // The package rounds to two decimals.
            let rounded = &rows(&set["pingouin_intervals"])[form_idx];
            assert!((actual.low - rounded[0]).abs() < 0.00501 && (actual.high - rounded[1]).abs() < 0.00501, "{what}");
        }
    }
}

#[test]
fn shrout_and_fleiss_1979() {
    let scores = rows(&golden("icc")["complete"][0]["scores"]);
    let squares = mean_squares(&scores.concat(), 4).unwrap();
    let expected = [0.165_742, 0.289_764, 0.714_841, 0.442_797, 0.620_051, 0.909_316];
    for ((model, unit), expected) in FORMS.into_iter().zip(expected) {
        assert!((icc(&squares, model, unit, 0.95).unwrap().estimate - expected).abs() < 5e-7);
    }
}

#[test]
fn unbalanced_one_way_agrees_with_numpy() {
    for set in golden("icc")["unbalanced"].as_array().unwrap() {
        let tally = rows(&set["items"]).iter().fold(OneWayTally::default(), |sum, item| sum.plus(item_tally(item)));
        let actual = tally.one_way().unwrap();
        for (key, value) in
            [("between", actual.between), ("within", actual.within), ("n0", actual.n0), ("rho", actual.rho)]
        {
            assert_close(value, set[key].as_f64().unwrap(), 1e-9, key);
        }
        let interval = tally.thomas_hultquist(0.95).unwrap();
        let expected = numbers(&set["thomas_hultquist"]);
        assert_close(interval.0, expected[0], 1e-9, "low");
        assert_close(interval.1, expected[1], 1e-9, "high");
        assert_eq!(OneWayTally::from_slice(&tally.to_array()), Some(tally));
    }
}

#[test]
fn no_variance_is_undefined() {
    assert_eq!(mean_squares(&[], 2), None);
    assert_eq!(mean_squares(&[1.0, 2.0], 2), None);
    assert_eq!(mean_squares(&[1.0, 2.0, 3.0], 2), None);
    assert_eq!(mean_squares(&[1.0, 2.0, f64::NAN, 1.0], 2), None);
    let constant = mean_squares(&[0.1; 12], 3).unwrap();
    for (model, unit) in FORMS {
        assert_eq!(icc(&constant, model, unit, 0.95), None);
    }
    let once = item_tally(&[0.3]).plus(item_tally(&[0.7]));
    assert_eq!(once.one_way(), None);
    let same = item_tally(&[0.3, 0.3, 0.3]).plus(item_tally(&[0.3, 0.3]));
    assert_eq!(same.one_way(), None);
    assert_eq!(same.thomas_hultquist(0.95), None);
    assert_eq!(OneWayTally::of_item(0, 0.0, 0.0), OneWayTally::default());
    assert_eq!(icc_mean(-0.5, 3.0), None);
    assert_eq!(icc_mean(0.5, 0.0), None);
}

#[test]
fn perfect_repeats_have_correlation_one() {
    let squares = mean_squares(&[1.0, 1.0, 2.0, 2.0, 5.0, 5.0], 2).unwrap();
    for (model, unit) in FORMS {
        let actual = icc(&squares, model, unit, 0.95).unwrap();
        assert_eq!((actual.estimate, actual.low, actual.high, actual.p_value), (1.0, 1.0, 1.0, 0.0));
    }
    let tally = item_tally(&[1.0, 1.0]).plus(item_tally(&[4.0, 4.0, 4.0]));
    assert_eq!(tally.one_way().unwrap().rho, 1.0);
    assert_eq!(tally.thomas_hultquist(0.95), Some((1.0, 1.0)));
}

proptest! {
    /// In a complete table alpha with the interval metric is a function of the one-way mean squares.
    #[test]
    fn interval_alpha_follows_from_mean_squares(scores in prop::collection::vec(0..9_u8, 12..36)) {
        let k = 3;
        let scores: Vec<f64> = scores[..scores.len() / k * k].iter().map(|&score| f64::from(score)).collect();
        let squares = mean_squares(&scores, k).unwrap();
        let (n, raters) = (squares.n_items as f64, k as f64);
        let alpha = scores.chunks(k).fold(IntervalTally::default(), |tally, unit| {
            tally.plus(IntervalTally::of_unit(3, unit.iter().sum(), unit.iter().map(|x| x * x).sum()))
        }).alpha();
        if let Some(alpha) = alpha {
            let total = (n - 1.0) * squares.items + n * (raters - 1.0) * squares.within;
            prop_assert!((alpha - (1.0 - (n * raters - 1.0) * squares.within / total)).abs() < 1e-9);
        }
    }

    /// Equal sizes: the unbalanced form, its interval and ICC(1,1) are the same thing.
    #[test]
    fn balanced_one_way_is_icc_1(scores in prop::collection::vec(-5.0..5.0_f64, 8..40)) {
        let scores = &scores[..scores.len() / 4 * 4];
        let squares = mean_squares(scores, 4).unwrap();
        let tally = scores.chunks(4).fold(OneWayTally::default(), |sum, item| sum.plus(item_tally(item)));
        let expected = icc(&squares, IccModel::OneWay, IccUnit::Single, 0.95).unwrap();
        prop_assert!((tally.one_way().unwrap().rho - expected.estimate).abs() < 1e-9);
        let (low, high) = tally.thomas_hultquist(0.95).unwrap();
        prop_assert!((low - expected.low).abs() < 1e-9 && (high - expected.high).abs() < 1e-9);
        prop_assert!(expected.low <= expected.estimate && expected.estimate <= expected.high);
    }

    #[test]
    fn tallies_subtract(scores in prop::collection::vec(-5.0..5.0_f64, 12)) {
        let parts: Vec<OneWayTally> = scores.chunks(3).map(item_tally).collect();
        let whole = parts.iter().fold(OneWayTally::default(), |sum, part| sum.plus(*part));
        let rest = parts[1].plus(parts[2]).plus(parts[3]);
        let (a, b) = (whole.minus(parts[0]).one_way().unwrap(), rest.one_way().unwrap());
        prop_assert!((a.rho - b.rho).abs() < 1e-9);
    }

    /// Neither the order of items nor that of raters is information; no coefficient exceeds 1, and none of one rating is below −1/(k − 1).
    #[test]
    fn items_and_raters_may_be_reordered(
        rows in prop::collection::vec(prop::collection::vec((0..9_u8).prop_map(f64::from), 3), 3..12),
        raters in Just(vec![0_usize, 1, 2]).prop_shuffle(),
    ) {
        let squares = mean_squares(&rows.concat(), 3).unwrap();
        let turned: Vec<f64> = rows.iter().rev().flat_map(|row| raters.iter().map(|&rater| row[rater])).collect();
        let turned = mean_squares(&turned, 3).unwrap();
        for (model, unit) in FORMS {
            let (a, b) = (icc(&squares, model, unit, 0.95), icc(&turned, model, unit, 0.95));
            prop_assert_eq!(a.is_some(), b.is_some(), "{:?} {:?}", model, unit);
            let (Some(a), Some(b)) = (a, b) else { continue };
            // The reliability of a mean has no lower end, and next to its pole no digits.
            let is_far = |estimate: f64| estimate < -1e3;
            prop_assert!(
                (a.estimate - b.estimate).abs() < 1e-6 * (1.0 + a.estimate.abs()) || is_far(a.estimate) && is_far(b.estimate),
                "{model:?} {unit:?}",
            );
            prop_assert!(a.estimate <= 1.0 + 1e-12 && a.high <= 1.0 + 1e-12, "{model:?} {unit:?}");
            if unit == IccUnit::Single && model != IccModel::TwoWayRandom {
                prop_assert!(a.estimate >= -0.5 - 1e-9, "{model:?} {}", a.estimate);
            }
        }
    }
}
