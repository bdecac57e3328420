//! Seeded simulations: 95 % intervals hold the truth about 95 % of the time.

use assize_calibration::agreement::kappa::{Chance, Weighting, cell_influence, cohen_kappa};
use assize_calibration::agreement::multi::gwet_ac;
use assize_calibration::bootstrap::{BootstrapConfig, Patterns, bootstrap};
use assize_calibration::distribution::{normal_cdf, normal_quantile, t_quantile};
use assize_calibration::icc::OneWayTally;
use assize_calibration::influence::{WithInfluence, fisher_interval};
use assize_calibration::paired::paired_mean;
use assize_calibration::rank::{kendall_tau_b, spearman};
use assize_calibration::roc::auc;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn normal(rng: &mut ChaCha8Rng) -> f64 {
    normal_quantile(rng.random_range(1e-12..1.0))
}

/// Asserts that of `n` intervals between .945 and .985, less three Monte-Carlo standard errors, hold `truth`, and that neither
/// tail misses more than .03 of the time, more three.
fn check(n: u32, truth: f64, mut interval: impl FnMut(&mut ChaCha8Rng) -> Option<(f64, f64)>) {
    let mut rng = ChaCha8Rng::seed_from_u64(2024);
    let (mut above, mut below) = (0, 0);
    for _ in 0..n {
        let (low, high) = interval(&mut rng).unwrap();
        above += u32::from(low > truth);
        below += u32::from(high < truth);
    }
    let (above, below) = (f64::from(above) / f64::from(n), f64::from(below) / f64::from(n));
    let error = |p: f64| 3.0 * (p * (1.0 - p) / f64::from(n)).sqrt();
    let coverage = 1.0 - above - below;
    assert!(coverage >= 0.945 - error(0.945) && coverage <= 0.985 + error(0.985), "{coverage}: {above} {below}");
    assert!(above.max(below) <= 0.03 + error(0.03), "{coverage}: {above} {below}");
}

fn t_interval(estimate: f64, standard_error: f64, n_clusters: usize) -> (f64, f64) {
    let half_width = t_quantile(0.975, (n_clusters - 1) as f64) * standard_error;
    (estimate - half_width, estimate + half_width)
}

#[test]
fn paired_mean_with_clusters() {
    let clusters: Vec<u32> = (0..75).map(|i| i / 3).collect();
    check(1_000, 0.3, |rng| {
        let effects: Vec<f64> = (0..25).map(|_| normal(rng)).collect();
        let differences: Vec<f64> = clusters.iter().map(|&c| 0.3 + effects[c as usize] + normal(rng)).collect();
        paired_mean(&differences, None, Some(&clusters), 0.95).map(|mean| (mean.low, mean.high))
    });
}

#[test]
fn area_with_clusters() {
    // 60 items with 3 judgements each, item effect as large as the noise: the scores' difference has variance 4.
    let clusters: Vec<u32> = (0..180).map(|i| i / 3).collect();
    let positive: Vec<bool> = clusters.iter().map(|c| c % 2 == 0).collect();
    check(1_000, normal_cdf(1.5 / 2.0), |rng| {
        let effects: Vec<f64> = (0..60).map(|_| normal(rng)).collect();
        let scores: Vec<f64> = clusters
            .iter()
            .zip(&positive)
            .map(|(&c, &positive)| effects[c as usize] + normal(rng) + if positive { 1.5 } else { 0.0 })
            .collect();
        auc(&scores, &positive, None, Some(&clusters)).unwrap().logit_interval(0.95)
    });
}

#[test]
fn thomas_hultquist() {
    check(1_000, 0.5, |rng| {
        let mut tally = OneWayTally::default();
        for item in 0..40 {
            let effect = normal(rng);
            let scores: Vec<f64> = (0..=item % 5).map(|_| effect + normal(rng)).collect();
            let squares = scores.iter().map(|score| score * score).sum();
            tally = tally.plus(OneWayTally::of_item(scores.len() as u32, scores.iter().sum(), squares));
        }
        tally.thomas_hultquist(0.95)
    });
}

#[test]
fn rank_correlations_on_the_z_scale() {
    // Both are known functions of a normal pair's correlation.
    let pi = std::f64::consts::PI;
    let spearman_truth = 6.0 / pi * 0.3_f64.asin();
    let kendall_truth = 2.0 / pi * 0.6_f64.asin();
    let draw = |rng: &mut ChaCha8Rng| {
        let x: Vec<f64> = (0..80).map(|_| normal(rng)).collect();
        let y: Vec<f64> = x.iter().map(|x| 0.6 * x + 0.8 * normal(rng)).collect();
        (x, y)
    };
    let interval = |correlation: &WithInfluence| {
        let (standard_error, m) = correlation.standard_error(None).unwrap();
        fisher_interval(correlation.estimate, standard_error, m, 0.95)
    };
    check(1_000, spearman_truth, |rng| {
        let (x, y) = draw(rng);
        interval(&spearman(&x, &y, None).unwrap())
    });
    check(1_000, kendall_truth, |rng| {
        let (x, y) = draw(rng);
        interval(&kendall_tau_b(&x, &y, None).unwrap())
    });
}

/// Draws 100 items that two raters see with 4 judgements each: cells agree more within an item.
#[test]
fn kappa_with_clusters() {
    // Half the items true; each rater's rate of "yes" is .5 ± .35 by item. P(both yes) = ½(.85² + .15²).
    let both = 0.5 * (0.85_f64.powi(2) + 0.15_f64.powi(2));
    let truth = (2.0 * both - 0.5) / 0.5;
    check(1_000, truth, |rng| {
        let mut tables = Vec::new();
        for _ in 0..100 {
            let rate = if rng.random::<f64>() < 0.5 { 0.85 } else { 0.15 };
            let mut table = [0.0; 4];
            for _ in 0..4 {
                let rating = |rng: &mut ChaCha8Rng| usize::from(rng.random::<f64>() < rate);
                table[rating(rng) * 2 + rating(rng)] += 1.0;
            }
            tables.push(table);
        }
        let total: Vec<f64> = (0..4).map(|cell| tables.iter().map(|table| table[cell]).sum()).collect();
        let influence = cell_influence(&total, 2, Chance::Cohen, &Weighting::Unweighted)?;
        let by_item = tables.iter().map(|table| table.iter().zip(&influence).map(|(n, value)| n * value / 400.0).sum());
        let estimate = cohen_kappa(&total, 2, &Weighting::Unweighted)?.kappa;
        let (standard_error, m) = WithInfluence { estimate, influence: by_item.collect() }.standard_error(None)?;
        Some(t_interval(estimate, standard_error, m))
    });
}

#[test]
fn gwet_of_many_raters() {
    // Five raters, three categories, right with probability .7: pairs agree with .7² + 2 · .15².
    let observed = 0.7_f64.powi(2) + 2.0 * 0.15_f64.powi(2);
    let truth = (observed - 1.0 / 3.0) / (2.0 / 3.0);
    check(1_000, truth, |rng| {
        let mut counts = vec![0; 3 * 60];
        for unit in 0..60 {
            let right = rng.random_range(0..3);
            for _ in 0..5 {
                let u: f64 = rng.random();
                let off = usize::from(u >= 0.7) + usize::from(u >= 0.85);
                counts[3 * unit + (right + off) % 3] += 1;
            }
        }
        let gwet = gwet_ac(&counts, 3, &Weighting::Unweighted)?;
        Some(t_interval(gwet.agreement.kappa, gwet.standard_error()?, gwet.n_units))
    });
}

#[test]
fn bca_of_a_ratio() {
    check(400, 0.3, |rng| {
        let mut tallies = Vec::new();
        for _ in 0..120 {
            let n = rng.random_range(1..4_u32);
            let rate = if rng.random::<f64>() < 0.5 { 0.1 } else { 0.5 };
            let events: u32 = (0..n).map(|_| u32::from(rng.random::<f64>() < rate)).sum();
            tallies.extend([f64::from(events), f64::from(n)]);
        }
        let patterns = Patterns::of_clusters(&tallies, 2)?;
        let ratio = |sums: &[f64]| (sums[1] > 0.0).then(|| sums[0] / sums[1]);
        let config = BootstrapConfig { n_resamples: 500, seed: rng.random() };
        bootstrap(&[patterns], &[&ratio], config)?[0].bca(0.95)
    });
}
