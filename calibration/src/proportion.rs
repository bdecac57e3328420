//! Intervals for a proportion: independent trials, and trials that come in clusters.
//!
//! Counts are real numbers where a formula allows it, since clustered data have an effective sample size that is no
//! integer. All levels are two-sided, in 0..1.

use crate::distribution::{beta_quantile, normal_quantile, t_quantile};

/// A lower and an upper end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// Returns the score interval of Wilson (1927) for `successes` of `trials`.
///
/// `None` without trials. Agrees with statsmodels `proportion_confint(method="wilson")`.
#[must_use]
pub fn wilson(successes: f64, trials: f64, level: f64) -> Option<Interval> {
    if !is_count(successes, trials) {
        return None;
    }
    let z = normal_quantile(0.5 + level / 2.0);
    let p = successes / trials;
    let denominator = 1.0 + z * z / trials;
    let centre = (p + z * z / (2.0 * trials)) / denominator;
    let half = z / denominator * (p * (1.0 - p) / trials + z * z / (4.0 * trials * trials)).sqrt();
    Some(Interval {
        low: if successes == 0.0 { 0.0 } else { (centre - half).max(0.0) },
        high: if successes >= trials { 1.0 } else { (centre + half).min(1.0) },
    })
}

/// Returns the exact interval of Clopper and Pearson (1934).
///
/// `None` without trials. With integer counts it covers at least `level`. Agrees with statsmodels `method="beta"`.
#[must_use]
pub fn clopper_pearson(successes: f64, trials: f64, level: f64) -> Option<Interval> {
    if !is_count(successes, trials) {
        return None;
    }
    let tail = (1.0 - level) / 2.0;
    let failures = trials - successes;
    Some(Interval {
        low: if successes <= 0.0 { 0.0 } else { beta_quantile(tail, successes, failures + 1.0) },
        high: if failures <= 0.0 { 1.0 } else { beta_quantile(1.0 - tail, successes + 1.0, failures) },
    })
}

/// Returns the equal-tailed interval of Jeffreys' prior, Beta(½, ½).
///
/// `None` without trials. Agrees with statsmodels `method="jeffreys"`.
#[must_use]
pub fn jeffreys(successes: f64, trials: f64, level: f64) -> Option<Interval> {
    if !is_count(successes, trials) {
        return None;
    }
    let tail = (1.0 - level) / 2.0;
    let (a, b) = (successes + 0.5, trials - successes + 0.5);
    Some(Interval { low: beta_quantile(tail, a, b), high: beta_quantile(1.0 - tail, a, b) })
}

/// Returns the interval of Agresti and Coull (1998).
///
/// `None` without trials. Clipped to 0..=1, as statsmodels `method="agresti_coull"` is.
#[must_use]
pub fn agresti_coull(successes: f64, trials: f64, level: f64) -> Option<Interval> {
    if !is_count(successes, trials) {
        return None;
    }
    let z = normal_quantile(0.5 + level / 2.0);
    let n = trials + z * z;
    let p = (successes + z * z / 2.0) / n;
    let half = z * (p * (1.0 - p) / n).sqrt();
    Some(Interval { low: (p - half).max(0.0), high: (p + half).min(1.0) })
}

fn is_count(successes: f64, trials: f64) -> bool {
    trials > 0.0 && successes >= 0.0 && successes <= trials
}

/// A proportion estimated from clusters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClusteredProportion {
    /// The estimate, 0..=1.
    pub estimate: f64,
    /// Its variance, clusters taken as the independent units.
    pub variance: f64,
    /// Judgements it rests on.
    pub n_observations: f64,
    /// Clusters.
    pub n_clusters: f64,
    /// Clusters that show the event.
    pub n_clusters_with_event: u64,
    /// Clusters that show its absence.
    pub n_clusters_with_absence: u64,
}

/// The fewest clusters showing the event, and its absence, for which the effective sample size may exceed the number of clusters.
const GUARD: u64 = 10;

impl ClusteredProportion {
    /// Returns the effective sample size of Korn and Graubard (1998) at this level:
    /// `min(N, p(1−p)/v · (t_{N−1}/t_{m−1})²)`, at most m while fewer than 10 clusters show the event or its absence.
    ///
    /// With p = 0 or 1 it is the number of clusters: 0 of 10 texts judged five times are 10 trials, not 50.
    #[must_use]
    pub fn effective_sample_size(&self, level: f64) -> f64 {
        let (n, m) = (self.n_observations, self.n_clusters);
        let spread = self.estimate * (1.0 - self.estimate);
        if m < 2.0 || spread <= 0.0 {
            return m.min(n);
        }
        let upper = 0.5 + level / 2.0;
        let effective = if self.variance > 0.0 {
            let degrees = t_quantile(upper, n - 1.0) / t_quantile(upper, m - 1.0);
            (spread / self.variance * degrees * degrees).min(n)
        } else {
            n
        };
        if self.n_clusters_with_event < GUARD || self.n_clusters_with_absence < GUARD {
            effective.min(m)
        } else {
            effective
        }
    }

    /// Returns the interval of Korn and Graubard: Clopper–Pearson at the effective sample size.
    ///
    /// `None` without clusters.
    #[must_use]
    pub fn interval(&self, level: f64) -> Option<Interval> {
        let n = self.effective_sample_size(level);
        clopper_pearson(self.estimate * n, n, level)
    }
}
