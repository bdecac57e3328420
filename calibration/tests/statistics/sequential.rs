use assize_calibration::sequential::{Boundary, ConfidenceSequence, SequenceError};
use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::golden::{golden, numbers, rows};

const BOUNDARIES: [Boundary; 3] =
    [Boundary::Betting { n_grid: 100 }, Boundary::EmpiricalBernstein, Boundary::NormalMixture { planned: 100 }];

#[test]
fn sequences_agree_with_confseq_at_every_look() {
    for set in golden("sequential")["sets"].as_array().unwrap() {
        let integer = |key: &str| set[key].as_u64().unwrap();
        for (boundary, key) in [
            (Boundary::Betting { n_grid: integer("n_grid") as usize }, "betting"),
            (Boundary::EmpiricalBernstein, "bernstein"),
            (Boundary::NormalMixture { planned: integer("planned") }, "mixture"),
        ] {
            let mut sequence = ConfidenceSequence::new(boundary, [0.0, 1.0], set["level"].as_f64().unwrap()).unwrap();
            let expected = rows(&set[key]);
            for (t, value) in numbers(&set["values"]).into_iter().enumerate() {
                sequence.update(value).unwrap();
                let interval = sequence.interval().unwrap();
                for (actual, expected) in [(interval.low, expected[0][t]), (interval.high, expected[1][t])] {
                    assert!((actual - expected).abs() < 1e-9, "{key} after {}: {actual} {expected}", t + 1);
                }
            }
        }
    }
}

#[test]
fn what_cannot_be_sequenced_is_said() {
    for level in [0.0, 1.0, f64::NAN] {
        assert!(ConfidenceSequence::new(Boundary::EmpiricalBernstein, [0.0, 1.0], level).is_err());
    }
    for range in [[1.0, 1.0], [1.0, 0.0], [0.0, f64::INFINITY], [f64::NAN, 1.0]] {
        assert!(ConfidenceSequence::new(Boundary::EmpiricalBernstein, range, 0.95).is_err());
    }
    for boundary in [Boundary::Betting { n_grid: 1 }, Boundary::NormalMixture { planned: 0 }] {
        let error = ConfidenceSequence::new(boundary, [0.0, 1.0], 0.95).unwrap_err();
        assert_eq!(error, SequenceError::Settings { low: 0.0, high: 1.0, level: 0.95 });
    }
    for boundary in BOUNDARIES {
        let mut sequence = ConfidenceSequence::new(boundary, [0.0, 1.0], 0.95).unwrap();
        let empty = sequence.clone();
        let interval = sequence.interval().unwrap();
        assert_eq!((interval.low, interval.high, sequence.mean(), sequence.n()), (0.0, 1.0, None, 0));
        assert_eq!(sequence.update(1.1), Err(SequenceError::OutOfRange(1.1)));
        assert!(sequence.update(f64::NAN).is_err());
        assert_eq!(sequence, empty);
    }
}

/// First all wrong, then all right: no one mean does that at random, and in the end nothing is left.
#[test]
fn a_mean_that_moves_leaves_nothing() {
    for boundary in BOUNDARIES {
        let mut sequence = ConfidenceSequence::new(boundary, [0.0, 1.0], 0.95).unwrap();
        for i in 0..6_000 {
            sequence.update(f64::from(u8::from(i >= 300))).unwrap();
        }
        assert_eq!(sequence.interval(), None, "{boundary:?}");
        sequence.update(0.5).unwrap();
        assert_eq!(sequence.interval(), None);
    }
}

#[test]
fn betting_is_narrowest_on_rates_near_one() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let values: Vec<f64> = (0..300).map(|_| f64::from(u8::from(rng.random::<f64>() < 0.95))).collect();
    let widths = BOUNDARIES.map(|boundary| {
        let mut sequence = ConfidenceSequence::new(boundary, [0.0, 1.0], 0.95).unwrap();
        for value in &values {
            sequence.update(*value).unwrap();
        }
        let interval = sequence.interval().unwrap();
        interval.high - interval.low
    });
    assert!(widths[0] < widths[1] && widths[1] < widths[2], "{widths:?}");
}

/// The example of docs/explanation/stopping-early.md: every 25th item wrong, the limit .9.
#[test]
fn the_worked_example_stops_at_the_140th_item() {
    let mut sequence = ConfidenceSequence::new(Boundary::Betting { n_grid: 1_000 }, [0.0, 1.0], 0.95).unwrap();
    let mut stopped = None;
    for i in 1..=400_u64 {
        sequence.update(f64::from(u8::from(i % 25 != 0))).unwrap();
        let interval = sequence.interval().unwrap();
        if stopped.is_none() && interval.low > 0.9 {
            stopped = Some(i);
        }
        let expected = match i {
            50 => (0.839, 1.0),
            100 => (0.889, 1.0),
            200 => (0.914, 0.995),
            400 => (0.928, 0.987),
            _ => continue,
        };
        assert!((interval.low - expected.0).abs() < 1e-9 && (interval.high - expected.1).abs() < 1e-9, "{interval:?}");
    }
    assert_eq!(stopped, Some(140));
}

/// The share of sequences that miss the truth at any look. `draw` gives one item's value.
fn misses(boundary: Boundary, truth: f64, n_items: u32, n_runs: u32, draw: impl Fn(&mut ChaCha8Rng) -> f64) -> f64 {
    let mut rng = ChaCha8Rng::seed_from_u64(2021);
    let mut n_missed = 0;
    for _ in 0..n_runs {
        let mut sequence = ConfidenceSequence::new(boundary, [0.0, 1.0], 0.95).unwrap();
        for _ in 0..n_items {
            sequence.update(draw(&mut rng)).unwrap();
        }
        // The running intersection holds the truth exactly if every look's interval did.
        let holds = sequence.interval().is_some_and(|interval| interval.low <= truth && truth <= interval.high);
        n_missed += u32::from(!holds);
    }
    f64::from(n_missed) / f64::from(n_runs)
}

/// At all looks together, .05 may miss; less three Monte-Carlo standard errors.
#[test]
fn all_looks_together_keep_the_level() {
    let most = 0.05 + 3.0 * (0.05 * 0.95 / 200.0_f64).sqrt();
    let boundaries =
        [Boundary::Betting { n_grid: 20 }, Boundary::EmpiricalBernstein, Boundary::NormalMixture { planned: 100 }];
    for boundary in boundaries {
        for truth in [0.5, 0.9] {
            let missed = misses(boundary, truth, 200, 200, |rng| f64::from(u8::from(rng.random::<f64>() < truth)));
            assert!(missed <= most, "{boundary:?} {truth}: {missed}");
        }
        // The mean of four repeats of an item, whose chance is 1 or ½: the truth is .75.
        let missed = misses(boundary, 0.75, 200, 200, |rng| {
            let chance = if rng.random::<f64>() < 0.5 { 1.0 } else { 0.5 };
            (0..4).map(|_| f64::from(u8::from(rng.random::<f64>() < chance))).sum::<f64>() / 4.0
        });
        assert!(missed <= most, "{boundary:?} repeats: {missed}");
    }
}

/// Why only completed items may be fed: eight repeats each of items that are all right or all wrong.
#[test]
fn single_judgements_break_the_level() {
    let mut rng = ChaCha8Rng::seed_from_u64(36);
    let mut n_missed = 0;
    for _ in 0..100 {
        let mut sequence = ConfidenceSequence::new(Boundary::EmpiricalBernstein, [0.0, 1.0], 0.95).unwrap();
        for _ in 0..100 {
            let item = f64::from(u8::from(rng.random::<f64>() < 0.5));
            for _ in 0..8 {
                sequence.update(item).unwrap();
            }
        }
        n_missed += u32::from(sequence.interval().is_none_or(|interval| interval.low > 0.5 || interval.high < 0.5));
    }
    assert!(n_missed > 15, "{n_missed} of 100");
}

proptest! {
    #[test]
    fn intervals_only_shrink_and_follow_the_scale(
        values in prop::collection::vec(0.0..=1.0_f64, 1..60), low in -5.0..5.0_f64, width in 0.1..10.0_f64,
    ) {
        for boundary in BOUNDARIES {
            let mut sequence = ConfidenceSequence::new(boundary, [0.0, 1.0], 0.9).unwrap();
            let mut mirrored = sequence.clone();
            let mut stretched = ConfidenceSequence::new(boundary, [low, low + width], 0.9).unwrap();
            let (mut last_low, mut last_high) = (0.0, 1.0);
            for value in &values {
                sequence.update(*value).unwrap();
                mirrored.update(1.0 - value).unwrap();
                stretched.update((low + width * value).clamp(low, low + width)).unwrap();
                let Some(interval) = sequence.interval() else { return Ok(()) };
                prop_assert!(interval.low >= last_low && interval.high <= last_high);
                (last_low, last_high) = (interval.low, interval.high);
            }
            prop_assert!((stretched.mean().unwrap() - (low + width * sequence.mean().unwrap())).abs() < 1e-9);
            if boundary == BOUNDARIES[0] {
                // Rounding may move a bound of the grid by a step.
                continue;
            }
            let (mirror, stretch) = (mirrored.interval().unwrap(), stretched.interval().unwrap());
            prop_assert!((mirror.low + last_high - 1.0).abs() < 1e-9 && (mirror.high + last_low - 1.0).abs() < 1e-9);
            prop_assert!((stretch.low - (low + width * last_low)).abs() < 1e-7 * (1.0 + width));
            prop_assert!((stretch.high - (low + width * last_high)).abs() < 1e-7 * (1.0 + width));
        }
    }
}

mod limit {
    use assize_calibration::proportion::clopper_pearson;
    use assize_calibration::sequential::{LimitTest, spent};

    use super::*;

    fn p_values(limit: f64, values: impl IntoIterator<Item = f64>) -> (f64, f64) {
        let mut test = LimitTest::new(limit, [0.0, 1.0]).unwrap();
        values.into_iter().for_each(|value| test.update(value).unwrap());
        (test.p_at_most(), test.p_at_least())
    }

    /// Sixty-four bets on paper: after one hit at limit ½, a share c of the largest bet makes 1 + c of 1; their mean is 1½.
    #[test]
    fn one_answer_says_what_its_odds_say() {
        let (at_most, at_least) = p_values(0.5, [1.0]);
        assert!((at_most - 1.0 / 1.5).abs() < 1e-12, "{at_most}");
        assert_eq!(at_least, 1.0);
        // At limit ¼ a hit pays 3 to 1: the mean capital is 1 + 3 · ½.
        let (at_most, _) = p_values(0.25, [1.0]);
        assert!((at_most - 1.0 / 2.5).abs() < 1e-12, "{at_most}");
        // Two hits at ½: the mean of (1 + c)², c = (j + ½)/64.
        let expected: f64 = (0..64).map(|j| (1.0 + (f64::from(j) + 0.5) / 64.0).powi(2)).sum::<f64>() / 64.0;
        assert!((p_values(0.5, [1.0, 1.0]).0 - 1.0 / expected).abs() < 1e-12);
    }

    /// A judge without one false accept: the exact interval looked at once needs 36 items to show less than 10 %.
    #[test]
    fn a_clean_run_is_shown_soon() {
        let needed = |is_shown: &dyn Fn(u32) -> bool| (1..200).find(|n| is_shown(*n)).unwrap();
        let once = needed(&|n| clopper_pearson(0.0, f64::from(n), 0.95).unwrap().high <= 0.1);
        let always = needed(&|n| p_values(0.1, (0..n).map(|_| 0.0)).1 < 0.025);
        assert_eq!((once, always), (36, 51));
    }

    /// The error over 400 looks together, where it is largest: at the limit itself.
    #[test]
    fn looking_at_every_item_keeps_the_error() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        for rate in [0.05, 0.1, 0.5, 0.8] {
            let n_runs = 2_000;
            let (mut n_above, mut n_below) = (0, 0);
            for _ in 0..n_runs {
                let (at_most, at_least) =
                    p_values(rate, (0..400).map(|_| f64::from(u8::from(rng.random::<f64>() < rate))));
                n_above += u32::from(at_most < 0.025);
                n_below += u32::from(at_least < 0.025);
            }
            for n in [n_above, n_below] {
                assert!(
                    f64::from(n) / f64::from(n_runs) <= 0.025 + 2.6 * (0.025_f64 * 0.975 / 2_000.0).sqrt(),
                    "{rate}: {n}"
                );
            }
        }
    }

    #[test]
    fn limits_at_and_beyond_the_ends_are_defined() {
        // Nothing is above 1 or below 0, and everything above −1.
        assert_eq!(p_values(1.0, [1.0; 50]), (1.0, 1.0));
        assert_eq!(p_values(0.0, [0.0; 50]), (1.0, 1.0));
        assert_eq!(p_values(-1.0, [0.0; 1]), (0.0, 1.0));
        assert_eq!(p_values(2.0, [0.0; 1]), (1.0, 0.0));
        assert_eq!(p_values(2.0, []), (1.0, 1.0));
        // One answer below 1 shows that the mean is below.
        let (at_most, at_least) = p_values(1.0, [0.5; 1]);
        assert_eq!((at_most, at_least), (1.0, 0.0));
        assert!(LimitTest::new(f64::NAN, [0.0, 1.0]).is_err());
        assert!(LimitTest::new(0.5, [1.0, 1.0]).is_err());
        let mut test = LimitTest::new(0.5, [0.0, 1.0]).unwrap();
        let empty = test.clone();
        assert_eq!(test.update(f64::NAN).unwrap_err().to_string(), SequenceError::OutOfRange(f64::NAN).to_string());
        test.update(-0.1).unwrap_err();
        assert_eq!(test, empty);
        // A long run does not overflow.
        assert_eq!(p_values(0.001, (0..20_000).map(|_| 1.0)).1, 1.0);
    }

    #[test]
    fn looks_spend_no_more_than_there_is() {
        let all: f64 = (0..100_000).map(spent).sum();
        assert!(all < 1.0 && all > 0.99, "{all}");
    }

    proptest! {
        /// Scale and direction do not matter.
        #[test]
        fn sides_and_scales_mirror(values in prop::collection::vec(0.0..1.0_f64, 0..60), limit in 0.05..0.95_f64) {
            let (at_most, at_least) = p_values(limit, values.iter().copied());
            let mirrored = p_values(1.0 - limit, values.iter().map(|value| 1.0 - value));
            prop_assert!((at_most - mirrored.1).abs() < 1e-9 && (at_least - mirrored.0).abs() < 1e-9);
            let mut wide = LimitTest::new(2.0 * limit - 1.0, [-1.0, 1.0]).unwrap();
            for value in &values {
                wide.update(2.0 * value - 1.0).unwrap();
            }
            prop_assert!((wide.p_at_most() - at_most).abs() < 1e-9 && (wide.p_at_least() - at_least).abs() < 1e-9);
            prop_assert!(at_most > 0.0 && at_most <= 1.0 && at_least > 0.0 && at_least <= 1.0);
        }
    }
}
