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
