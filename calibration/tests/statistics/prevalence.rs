use assize_calibration::cluster::{UnitValue, clustered_mean};
use assize_calibration::prevalence::{
    CorrectedRate, LabelSampling, Labelled, PowerTuning, PpiError, PpiMean, Trials, Unlabelled, ppi_mean, rogan_gladen,
};
use assize_calibration::proportion::ClusteredProportion;
use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::golden::{assert_close, golden, numbers};

fn corrected(counts: &[f64], level: f64) -> CorrectedRate {
    let trials = |i: usize| Trials::counted(counts[i], counts[i + 1]).unwrap();
    rogan_gladen(trials(0), trials(2), trials(4), level).unwrap()
}

fn labelled<'a>(truths: &'a [f64], judged: &'a [f64]) -> Labelled<'a> {
    Labelled { truths, judged, weights: None, clusters: None }
}

fn unlabelled(judged: &[f64]) -> Unlabelled<'_> {
    Unlabelled { judged, weights: None, clusters: None }
}

fn ppi(truths: &[f64], judged: &[f64], open: &[f64], tuning: PowerTuning) -> PpiMean {
    ppi_mean(labelled(truths, judged), unlabelled(open), LabelSampling::Random, tuning, 0.95).unwrap()
}

#[test]
fn corrected_rates_agree_with_judgy_and_the_paper() {
    for set in golden("prevalence")["rogan_gladen"].as_array().unwrap() {
        let actual = corrected(&numbers(&set["counts"]), set["level"].as_f64().unwrap());
        assert_close(actual.estimate.unwrap(), set["estimate"].as_f64().unwrap(), 1e-9, "estimate");
        let interval = numbers(&set["interval"]);
        assert_close(actual.interval.low, interval[0], 1e-9, "low");
        assert_close(actual.interval.high, interval[1], 1e-9, "high");
        let mover = numbers(&set["mover"]);
        assert_close(actual.mover.low, mover[0], 1e-9, "low, by recovered variances");
        assert_close(actual.mover.high, mover[1], 1e-9, "high, by recovered variances");
        assert_close(actual.youden_low, set["youden_low"].as_f64().unwrap(), 1e-9, "bound of J");
        assert!(actual.is_identified);
    }
}

#[test]
fn a_judge_that_may_be_guessing_identifies_nothing() {
    // 6 of 10 and 6 of 10: J is .2, its bound far below 0.
    let guessing = corrected(&[50.0, 100.0, 6.0, 10.0, 6.0, 10.0], 0.95);
    assert!(!guessing.is_identified && guessing.youden_low < 0.0);
    assert_eq!((guessing.interval.low, guessing.interval.high), (0.0, 1.0));
    assert_close(guessing.estimate.unwrap(), 0.5, 1e-12, "(.5 + .6 − 1) / .2");
    // At J = 0 there is no estimate either.
    assert_eq!(corrected(&[50.0, 100.0, 5.0, 10.0, 5.0, 10.0], 0.95).estimate, None);
}

#[test]
fn a_rate_that_cannot_be_is_printed_as_it_is() {
    // It passes 2 % of the stream and 20 % of the wrong items: (.02 + .8 − 1) / .7.
    let raw = corrected(&[2.0, 100.0, 90.0, 100.0, 80.0, 100.0], 0.95);
    assert_close(raw.estimate.unwrap(), -0.18 / 0.7, 1e-12, "raw");
    assert!(raw.interval.low >= 0.0 && raw.is_identified);
}

#[test]
fn a_perfect_judge_needs_no_correction() {
    let perfect = corrected(&[300.0, 1_000.0, 500.0, 500.0, 500.0, 500.0], 0.95);
    assert_close(perfect.estimate.unwrap(), 0.3, 1e-12, "as it is");
    assert!(perfect.interval.low < 0.3 && perfect.interval.high > 0.3);
}

#[test]
fn trials_that_cannot_be_counted_are_undefined() {
    for (successes, trials) in [(0.0, 0.0), (2.0, 1.0), (-1.0, 1.0), (f64::NAN, 1.0), (1.0, f64::INFINITY)] {
        assert_eq!(Trials::counted(successes, trials), None);
    }
    let trials = Trials::counted(8.0, 10.0).unwrap();
    assert_eq!((trials.rate(), trials.n()), (0.8, 10.0));
    for level in [0.0, 1.0, f64::NAN] {
        assert_eq!(rogan_gladen(trials, trials, trials, level), None);
    }
}

/// Five copies of every judgement are five judgements, not five items.
#[test]
fn repeats_do_not_narrow_a_corrected_rate() {
    let clustered = |n_items: u32, n_right: u32, n_repeats: u32| {
        let units: Vec<UnitValue> = (0..n_items * n_repeats)
            .map(|i| (i / n_repeats, f64::from(u8::from(i / n_repeats < n_right))))
            .map(|(cluster, value)| UnitValue { value, weight: 1.0, cluster })
            .collect();
        let mean = clustered_mean(&units).unwrap();
        let proportion = ClusteredProportion {
            estimate: mean.estimate,
            variance: mean.variance,
            n_observations: mean.n_units as f64,
            n_clusters: mean.n_clusters as f64,
            n_clusters_with_event: mean.n_clusters_with_event,
            n_clusters_with_absence: mean.n_clusters_with_absence,
        };
        Trials::effective(&proportion, 0.95).unwrap()
    };
    let width = |repeats: u32| {
        let rate =
            rogan_gladen(clustered(80, 50, repeats), clustered(60, 48, repeats), clustered(60, 45, repeats), 0.95)
                .unwrap();
        rate.interval.high - rate.interval.low
    };
    assert!(width(5) >= 0.97 * width(1), "{} {}", width(5), width(1));
}

#[test]
fn powered_means_agree_with_ppi_python() {
    for set in golden("prevalence")["ppi"].as_array().unwrap() {
        let [truths, judged, open, weights, open_weights] =
            ["truths", "judged", "unlabelled", "weights", "unlabelled_weights"].map(|key| numbers(&set[key]));
        let (n, size) = (truths.len() as f64, open.len() as f64);
        let tuned = ppi(&truths, &judged, &open, PowerTuning::Tuned);
        // ppi-python divides the covariance by n and the variance by n − 1; here both by n − 1.
        let expected = (set["lambda"].as_f64().unwrap() * n / (n - 1.0)).min(1.0);
        assert_close(tuned.lambda, expected, 1e-9, "lambda");
        for lambda in [0.0, 0.6, 1.0] {
            let reference = &set[format!("fixed_{lambda:.1}")];
            let fixed = ppi(&truths, &judged, &open, PowerTuning::Fixed(lambda));
            assert_close(fixed.estimate, reference["estimate"].as_f64().unwrap(), 1e-9, "estimate");
            let population = fixed.labelled_variance * (n - 1.0) / n + fixed.unlabelled_variance * (size - 1.0) / size;
            assert_close(population.sqrt(), reference["standard_error"].as_f64().unwrap(), 1e-9, "standard error");
            let weighted = ppi_mean(
                Labelled { truths: &truths, judged: &judged, weights: Some(&weights), clusters: None },
                Unlabelled { judged: &open, weights: Some(&open_weights), clusters: None },
                LabelSampling::Random,
                PowerTuning::Fixed(lambda),
                0.95,
            );
            assert_close(weighted.unwrap().estimate, reference["weighted"].as_f64().unwrap(), 1e-9, "weighted");
        }
    }
}

#[test]
fn labels_that_are_no_random_sample_are_refused() {
    let values = [0.0, 1.0, 1.0, 0.0];
    for sampling in [LabelSampling::ByLabel, LabelSampling::Unknown] {
        let refused = ppi_mean(labelled(&values, &values), unlabelled(&values), sampling, PowerTuning::Tuned, 0.95);
        assert_eq!(refused, Err(PpiError::NotRandom(sampling)));
        assert!(refused.unwrap_err().to_string().contains(sampling.name()));
    }
}

#[test]
fn what_makes_no_powered_mean_is_said() {
    let v = [0.0, 1.0, 1.0, 0.0];
    let mean = |labelled: Labelled<'_>, unlabelled: Unlabelled<'_>, tuning: PowerTuning, level: f64| {
        ppi_mean(labelled, unlabelled, LabelSampling::Random, tuning, level)
    };
    let tuned = PowerTuning::Tuned;
    for (truths, open) in [(&v[..1], &v[..]), (&v[..], &v[..1]), (&v[..0], &v[..]), (&v[..], &v[..0])] {
        let result = mean(labelled(truths, &v[..truths.len()]), unlabelled(open), tuned, 0.95);
        assert_eq!(result, Err(PpiError::TooFew));
    }
    let one = Labelled { clusters: Some(&[7, 7, 7, 7]), ..labelled(&v, &v) };
    assert_eq!(mean(one, unlabelled(&v), tuned, 0.95), Err(PpiError::TooFew));
    for level in [0.0, 1.0, f64::NAN] {
        assert_eq!(mean(labelled(&v, &v), unlabelled(&v), tuned, level), Err(PpiError::Malformed));
    }
    for lambda in [-0.1, 1.1, f64::NAN] {
        assert_eq!(mean(labelled(&v, &v), unlabelled(&v), PowerTuning::Fixed(lambda), 0.95), Err(PpiError::Malformed));
    }
    for bad in [
        labelled(&v[..3], &v),
        labelled(&v, &[0.0, 1.0, 1.0, 1.1]),
        labelled(&v, &[0.0, 1.0, 1.0, f64::NAN]),
        Labelled { weights: Some(&[1.0]), ..labelled(&v, &v) },
        Labelled { weights: Some(&[1.0, 1.0, 1.0, -1.0]), ..labelled(&v, &v) },
        Labelled { clusters: Some(&[1]), ..labelled(&v, &v) },
    ] {
        assert_eq!(mean(bad, unlabelled(&v), tuned, 0.95), Err(PpiError::Malformed));
    }
}

#[test]
fn a_judge_that_always_says_the_same_adds_nothing() {
    let truths = [1.0, 0.0, 1.0, 1.0, 0.0, 1.0];
    let mean = ppi(&truths, &[1.0; 6], &[1.0; 50], PowerTuning::Tuned);
    assert_eq!((mean.lambda, mean.n_clusters_in_error), (0.0, 2));
    assert_close(mean.estimate, 4.0 / 6.0, 1e-12, "the labels alone");
    assert_close(mean.standard_error, mean.classical_standard_error, 1e-12, "the labels alone");
}

#[test]
fn nothing_that_varies_is_not_certainty() {
    let mean = ppi(&[1.0; 20], &[1.0; 20], &[1.0; 100], PowerTuning::Tuned);
    // As 0 of 20: 1 − .025^(1/20).
    assert_close(mean.interval.low, 0.025_f64.powf(0.05), 1e-9, "0 of 20");
    assert_eq!((mean.estimate, mean.interval.high), (1.0, 1.0));
}

#[test]
fn copies_in_clusters_do_not_narrow_a_powered_mean() {
    let set = &golden("prevalence")["ppi"][1];
    let [truths, judged, open] = ["truths", "judged", "unlabelled"].map(|key| numbers(&set[key]));
    let thrice = |values: &[f64]| values.iter().flat_map(|value| [*value; 3]).collect::<Vec<f64>>();
    let ids = |n: usize| (0..3 * n as u32).map(|i| i / 3).collect::<Vec<u32>>();
    let once = ppi(&truths, &judged, &open, PowerTuning::Tuned);
    let repeated = ppi_mean(
        Labelled {
            truths: &thrice(&truths),
            judged: &thrice(&judged),
            weights: None,
            clusters: Some(&ids(truths.len())),
        },
        Unlabelled { judged: &thrice(&open), weights: None, clusters: Some(&ids(open.len())) },
        LabelSampling::Random,
        PowerTuning::Tuned,
        0.95,
    )
    .unwrap();
    for (actual, expected) in [
        (repeated.lambda, once.lambda),
        (repeated.estimate, once.estimate),
        (repeated.standard_error, once.standard_error),
        (repeated.interval.low, once.interval.low),
    ] {
        assert_close(actual, expected, 1e-9, "thrice");
    }
    assert_eq!(repeated.n_labelled_clusters, once.n_labelled_clusters);
    assert_eq!(repeated.n_clusters_in_error, once.n_clusters_in_error);
}

fn coin(rng: &mut ChaCha8Rng, p: f64) -> f64 {
    f64::from(u8::from(rng.random::<f64>() < p))
}

fn heads(rng: &mut ChaCha8Rng, n: u32, p: f64) -> f64 {
    (0..n).map(|_| coin(rng, p)).sum()
}

/// Asserts that of `n` intervals at least .945 hold the truth, and neither tail misses more than .03 of the time, less three
/// Monte-Carlo standard errors.
fn check(n: u32, truth: f64, mut interval: impl FnMut(&mut ChaCha8Rng) -> (f64, f64)) {
    let mut rng = ChaCha8Rng::seed_from_u64(1978);
    let (mut above, mut below) = (0, 0);
    for _ in 0..n {
        let (low, high) = interval(&mut rng);
        above += u32::from(low > truth);
        below += u32::from(high < truth);
    }
    let (above, below) = (f64::from(above) / f64::from(n), f64::from(below) / f64::from(n));
    let error = |p: f64| 3.0 * (p * (1.0 - p) / f64::from(n)).sqrt();
    assert!(above + below <= 0.055 + error(0.055), "above {above}, below {below}");
    assert!(above.max(below) <= 0.03 + error(0.03), "above {above}, below {below}");
}

#[test]
fn lang_reiczigel_covers() {
    for (prevalence, sensitivity, specificity, n, n_labelled) in
        [(0.5, 0.9, 0.8, 200, 50), (0.8, 0.95, 0.7, 100, 40), (0.1, 0.85, 0.9, 300, 100)]
    {
        let passing = prevalence * sensitivity + (1.0 - prevalence) * (1.0 - specificity);
        check(500, prevalence, |rng| {
            let (n, m) = (f64::from(n), f64::from(n_labelled));
            let passed = heads(rng, n as u32, passing);
            let counts = [passed, n, heads(rng, n_labelled, sensitivity), m, heads(rng, n_labelled, specificity), m];
            let interval = corrected(&counts, 0.95).interval;
            (interval.low, interval.high)
        });
    }
}

/// Also where Lang and Reiczigel's misses too often on one side.
#[test]
fn recovered_variances_cover_on_both_sides() {
    for (prevalence, sensitivity, specificity, n, n_labelled) in
        [(0.5, 0.9, 0.8, 200, 50), (0.95, 0.8, 0.7, 300, 40), (0.3, 0.7, 0.65, 500, 50), (0.1, 0.85, 0.9, 300, 100)]
    {
        let passing = prevalence * sensitivity + (1.0 - prevalence) * (1.0 - specificity);
        check(1_000, prevalence, |rng| {
            let (n, m) = (f64::from(n), f64::from(n_labelled));
            let passed = heads(rng, n as u32, passing);
            let counts = [passed, n, heads(rng, n_labelled, sensitivity), m, heads(rng, n_labelled, specificity), m];
            let interval = corrected(&counts, 0.95).mover;
            (interval.low, interval.high)
        });
    }
}

fn stream(rng: &mut ChaCha8Rng, n: usize, right: f64) -> (Vec<f64>, Vec<f64>) {
    (0..n)
        .map(|_| {
            let truth = coin(rng, right);
            (truth, coin(rng, if truth > 0.0 { 0.85 } else { 0.25 }))
        })
        .unzip()
}

#[test]
fn powered_means_cover_on_random_samples() {
    for (right, n, size) in [(0.7, 60, 200), (0.5, 100, 100), (0.8, 100, 300), (0.7, 30, 100), (0.9, 30, 300)] {
        check(1_000, right, |rng| {
            let ((truths, judged), (_, open)) = (stream(rng, n, right), stream(rng, size, right));
            let interval = ppi(&truths, &judged, &open, PowerTuning::Tuned).interval;
            (interval.low, interval.high)
        });
    }
}

/// Why other samples are refused: half right, half wrong, in a stream that is right 80 % of the time.
#[test]
fn powered_means_miss_on_labels_balanced_by_class() {
    let mut rng = ChaCha8Rng::seed_from_u64(2023);
    let mut held = 0;
    for _ in 0..200 {
        let (_, open) = stream(&mut rng, 300, 0.8);
        let truths: Vec<f64> = (0..100).map(|i| f64::from(i % 2)).collect();
        let judged: Vec<f64> = truths.iter().map(|truth| coin(&mut rng, 0.25 + 0.6 * truth)).collect();
        let interval = ppi(&truths, &judged, &open, PowerTuning::Tuned).interval;
        held += u32::from(interval.low <= 0.8 && interval.high >= 0.8);
    }
    assert!(held < 12, "{held} of 200");
}

proptest! {
    #[test]
    fn corrected_intervals_stay_within_bounds(
        counts in prop::array::uniform3((1_u32..60, 0.0..=1.0_f64)), level in 0.5..0.999_f64,
    ) {
        let counts: Vec<f64> =
            counts.iter().flat_map(|(n, share)| [(f64::from(*n) * share).floor(), f64::from(*n)]).collect();
        let rate = corrected(&counts, level);
        prop_assert!(rate.interval.low <= rate.interval.high);
        prop_assert!((0.0..=1.0).contains(&rate.interval.low) && (0.0..=1.0).contains(&rate.interval.high));
        prop_assert!(rate.mover.low <= rate.mover.high);
        prop_assert!((0.0..=1.0).contains(&rate.mover.low) && (0.0..=1.0).contains(&rate.mover.high));
        prop_assert!(rate.youden_low <= rate.youden + 1e-12);
        prop_assert!(rate.is_identified || rate.interval.high - rate.interval.low >= 1.0);
    }

    /// More passes never mean a lower rate, where anything is identified.
    #[test]
    fn corrected_rates_rise_with_passes(passed in 0_u32..99, accepted in 40_u32..=50, rejected in 40_u32..=50) {
        let rate = |passed: u32| {
            corrected(&[f64::from(passed), 100.0, f64::from(accepted), 50.0, f64::from(rejected), 50.0], 0.95)
        };
        let (fewer, more) = (rate(passed), rate(passed + 1));
        prop_assert!(more.estimate.unwrap() > fewer.estimate.unwrap());
    }

    #[test]
    fn powered_means_do_not_depend_on_order_and_reflect(
        known in prop::collection::vec((0..=1_u8, 0..=4_u8), 3..30), open in prop::collection::vec(0..=4_u8, 3..30),
    ) {
        let truths: Vec<f64> = known.iter().map(|pair| f64::from(pair.0)).collect();
        let judged: Vec<f64> = known.iter().map(|pair| f64::from(pair.1) / 4.0).collect();
        let open: Vec<f64> = open.iter().map(|value| f64::from(*value) / 4.0).collect();
        let mean = ppi(&truths, &judged, &open, PowerTuning::Tuned);
        prop_assert!((0.0..=1.0).contains(&mean.lambda) && mean.interval.low <= mean.interval.high);
        let back = |values: &[f64]| values.iter().rev().copied().collect::<Vec<f64>>();
        let reversed = ppi(&back(&truths), &back(&judged), &back(&open), PowerTuning::Tuned);
        prop_assert!((reversed.estimate - mean.estimate).abs() < 1e-12);
        let mirror = |values: &[f64]| values.iter().map(|value| 1.0 - value).collect::<Vec<f64>>();
        let mirrored = ppi(&mirror(&truths), &mirror(&judged), &mirror(&open), PowerTuning::Tuned);
        prop_assert!((mirrored.estimate + mean.estimate - 1.0).abs() < 1e-9);
        prop_assert!((mirrored.interval.low + mean.interval.high - 1.0).abs() < 1e-9);
    }
}
