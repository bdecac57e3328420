use assize_calibration::bootstrap::{Bootstrap, BootstrapConfig, Patterns, bootstrap};

use crate::golden::{golden, numbers};

const CONFIG: BootstrapConfig = BootstrapConfig { n_resamples: 20_000, seed: 11 };

/// Undefined where nothing was drawn that counts.
fn ratio(sums: &[f64]) -> Option<f64> {
    (sums[1] > 0.0).then(|| sums[0] / sums[1])
}

fn of(tallies: &[f64], n_dims: usize, config: BootstrapConfig) -> Bootstrap {
    let patterns = Patterns::of_clusters(tallies, n_dims).unwrap();
    bootstrap(&[patterns], &[&ratio], config).unwrap().remove(0)
}

/// Asserts that an interval is another's to within the Monte-Carlo error of its ends: at 20,000 resamples the standard error
/// of a 2.5 % quantile is about .02 standard errors of the estimate; five of them, and the grid of a discrete statistic.
fn assert_alike(actual: (f64, f64), expected: &[f64], standard_error: f64, grid: f64) {
    let tolerance = 0.1 * standard_error + grid;
    assert!(
        (actual.0 - expected[0]).abs() < tolerance && (actual.1 - expected[1]).abs() < tolerance,
        "{actual:?} {expected:?}"
    );
}

#[test]
fn intervals_agree_with_scipy() {
    for set in golden("paired")["bootstrap"].as_array().unwrap() {
        let tallies: Vec<f64> =
            numbers(&set["y"]).into_iter().zip(numbers(&set["x"])).flat_map(|(y, x)| [y, x]).collect();
        let actual = of(&tallies, 2, CONFIG);
        let standard_error = set["standard_error"].as_f64().unwrap();
        assert_eq!(actual.n_undefined, 0);
        assert!((actual.standard_error().unwrap() / standard_error - 1.0).abs() < 0.03);
        let is_discrete = tallies.iter().all(|tally| tally.fract() == 0.0);
        let n: f64 = numbers(&set["x"]).iter().sum();
        let grid = if is_discrete { 1.0 / n } else { 0.0 };
        assert_alike(actual.percentile(0.95).unwrap(), &numbers(&set["percentile"]), standard_error, grid);
        assert_alike(actual.bca(0.95).unwrap(), &numbers(&set["bca"]), standard_error, grid);
    }
}

/// Common patterns are drawn by binomials, rare ones by cluster. Adding a third tally that differs between clusters but does
/// not enter the statistic makes all of them rare: the two ways of drawing must agree.
#[test]
fn drawing_patterns_is_drawing_clusters() {
    let n = 400;
    let mut merged = Vec::new();
    let mut apart = Vec::new();
    for i in 0..n {
        let tally =
            [f64::from(u8::from(i % 7 == 0)) + f64::from(u8::from(i % 50 == 0)), 1.0 + f64::from(u8::from(i % 3 == 0))];
        merged.extend(tally);
        apart.extend([tally[0], tally[1], f64::from(i)]);
    }
    assert!(Patterns::of_clusters(&merged, 2).unwrap().n_patterns() < 10);
    assert_eq!(Patterns::of_clusters(&apart, 3).unwrap().n_patterns(), 400);
    let config = BootstrapConfig { n_resamples: 4_000, seed: 5 };
    let (by_pattern, by_cluster) = (of(&merged, 2, config), of(&apart, 3, config));
    // Kolmogorov–Smirnov between two samples of 4,000; 1.95/√2000 has a probability of .001.
    let mut distance: f64 = 0.0;
    for replicate in &by_pattern.replicates {
        let other = by_cluster.replicates.partition_point(|value| value <= replicate);
        let own = by_pattern.replicates.partition_point(|value| value <= replicate);
        distance = distance.max((own as f64 - other as f64).abs() / 4_000.0);
    }
    assert!(distance < 1.95 / 2_000.0_f64.sqrt(), "{distance}");
    let (a, b) = (by_pattern.standard_error().unwrap(), by_cluster.standard_error().unwrap());
    assert!((a / b - 1.0).abs() < 0.06);
}

/// With two patterns the replicates are binomial: both samplers against the exact mean, variance and tails.
#[test]
fn pattern_counts_are_binomial() {
    for (ones, n) in [(20_u64, 1_000_u64), (17, 10_000), (500, 1_000), (900, 1_000), (300_000, 1_000_000)] {
        let patterns = Patterns::of_counts(&[1.0, 0.0], &[ones, n - ones], 1).unwrap();
        let sum = |sums: &[f64]| Some(sums[0]);
        let drawn = bootstrap(&[patterns], &[&sum], CONFIG).unwrap().remove(0);
        let p = ones as f64 / n as f64;
        let sd = (n as f64 * p * (1.0 - p)).sqrt();
        let mean = drawn.replicates.iter().sum::<f64>() / 20_000.0;
        assert!((mean - ones as f64).abs() < 4.0 * sd / 20_000.0_f64.sqrt(), "{ones}/{n}: {mean}");
        assert!((drawn.standard_error().unwrap() / sd - 1.0).abs() < 0.025);
        // Exact distribution function at a few points.
        for z in [-2.0, -1.0, 0.0, 1.0, 2.0_f64] {
            let k = (ones as f64 + z * sd).floor();
            let share = drawn.replicates.partition_point(|&value| value <= k) as f64 / 20_000.0;
            let exact = 1.0 - assize_calibration::distribution::beta_cdf(p, k + 1.0, n as f64 - k);
            assert!(
                (share - exact).abs() < 4.5 * (exact * (1.0 - exact) / 20_000.0).sqrt(),
                "{ones}/{n} {k}: {share} {exact}"
            );
        }
    }
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let tallies: Vec<f64> = (0..300).flat_map(|i| [f64::from(i % 4), f64::from(1 + i % 3)]).collect();
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| of(&tallies, 2, BootstrapConfig { n_resamples: 500, seed: 3 }))
    };
    assert_eq!(on(1), on(2));
    let backwards: Vec<f64> = tallies.chunks(2).rev().flatten().copied().collect();
    assert_eq!(of(&backwards, 2, BootstrapConfig { n_resamples: 500, seed: 3 }), on(1));
    assert_ne!(of(&tallies, 2, BootstrapConfig { n_resamples: 500, seed: 4 }), on(1));
}

#[test]
fn strata_keep_their_sizes() {
    let right = Patterns::of_clusters(&[1.0, 0.0, 1.0, 0.0, 1.0, 0.0], 2).unwrap();
    let wrong = Patterns::of_counts(&[0.0, 1.0, 0.0, 1.0], &[30, 5], 2).unwrap();
    let first = |sums: &[f64]| Some(sums[0]);
    let second = |sums: &[f64]| Some(sums[1]);
    let results = bootstrap(&[right, wrong], &[&first, &second], CONFIG).unwrap();
    assert!(results[0].replicates.iter().all(|&sum| sum == 3.0));
    assert!(results[1].replicates.iter().all(|&sum| sum == 35.0));
    assert_eq!(results[0].bca(0.95), Some((3.0, 3.0)));
    // A stratum of one cluster adds a constant.
    let tallies: Vec<f64> = (0..30).flat_map(|i| [f64::from(i % 4), 1.0]).collect();
    let many = || Patterns::of_clusters(&tallies, 2).unwrap();
    let lone = Patterns::of_clusters(&[100.0, 0.0], 2).unwrap();
    let alone = bootstrap(&[many()], &[&first], CONFIG).unwrap()[0].bca(0.95).unwrap();
    let shifted = bootstrap(&[many(), lone], &[&first], CONFIG).unwrap()[0].bca(0.95).unwrap();
    assert!((shifted.0 - alone.0 - 100.0).abs() < 1e-9 && (shifted.1 - alone.1 - 100.0).abs() < 1e-9);
}

#[test]
fn undefined_replicates_are_counted() {
    // Right with probability (9/10)^10 no cluster with a denominator is drawn.
    let mut tallies = vec![0.0; 20];
    tallies[0] = 1.0;
    tallies[1] = 1.0;
    let actual = of(&tallies, 2, CONFIG);
    let share = f64::from(actual.n_undefined) / 20_000.0;
    assert!((share - 0.9_f64.powi(10)).abs() < 0.02, "{share}");
    assert_eq!(actual.estimate, Some(1.0));
    assert_eq!(actual.percentile(0.95), Some((1.0, 1.0)));
    assert_eq!(actual.bca(0.95), None);
    let empty = bootstrap(&[Patterns::of_clusters(&[], 2).unwrap()], &[&ratio], CONFIG).unwrap().remove(0);
    assert_eq!((empty.estimate, empty.n_undefined, empty.percentile(0.95)), (None, 20_000, None));
}

#[test]
fn tallies_that_cannot_be_used_are_refused() {
    assert_eq!(Patterns::of_clusters(&[1.0], 0), None);
    assert_eq!(Patterns::of_clusters(&[1.0, 2.0, 3.0], 2), None);
    assert_eq!(Patterns::of_clusters(&[f64::NAN], 1), None);
    assert_eq!(Patterns::of_counts(&[1.0, 2.0], &[1], 1), None);
    assert_eq!(bootstrap(&[], &[&ratio], CONFIG), None);
    let (one, two) = (Patterns::of_clusters(&[1.0], 1).unwrap(), Patterns::of_clusters(&[1.0, 1.0], 2).unwrap());
    assert_eq!(bootstrap(&[one, two], &[&ratio], CONFIG), None);
}
