//! The power of a limit: how often the interval of a figure will keep, or break, it.
//!
//! For rates the rule is the bound of Korn and Graubard against the limit; its closed form counts the effective sample as binomial.
//! [`simulated_power`] applies the rule itself to drawn items, and tests hold the two together.

use rand::RngExt as _;
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use statrs::function::gamma::ln_gamma;

use crate::cluster::{ClusteredSums, UnitValue};
use crate::distribution::{beta_cdf, normal_quantile, t_cdf, t_quantile};
use crate::proportion::{ClusteredProportion, Interval};

/// A value this near to a limit is on it.
pub(crate) const ON_LIMIT: f64 = 1e-12;

/// The side of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitSide {
    /// At least so much.
    Min,
    /// At most so much.
    Max,
}

/// A figure under a design.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// The truth planned for.
    pub truth: f64,
    /// The variance of the mean.
    pub variance: f64,
    /// Independent clusters.
    pub n_clusters: f64,
    /// Judgements.
    pub n_judgements: f64,
    /// Of a rate: the share of clusters expected to show the event, and its absence. The rule is more careful where they are few.
    pub clusters_that_show: [f64; 2],
}

/// Returns the share of clusters in which a rate's event is expected at least once: clusters of `n_items` items of `k` answers each,
/// items' shares Beta with mean `p` and the intraclass correlation `icc`, items independent. In 0..=1.
#[must_use]
pub fn share_with_event(p: f64, icc: f64, k: f64, n_items: f64) -> f64 {
    if p <= 0.0 || p >= 1.0 || icc >= 1.0 {
        return 1.0 - (1.0 - p).clamp(0.0, 1.0).powf(n_items);
    }
    let none = if icc <= 0.0 {
        (1.0 - p).powf(k)
    } else {
        // Γ(b + k)Γ(s)/(Γ(b)Γ(s + k)), s = a + b.
        let s = 1.0 / icc - 1.0;
        let b = (1.0 - p) * s;
        (ln_gamma(b + k) + ln_gamma(s) - ln_gamma(b) - ln_gamma(s + k)).exp()
    };
    1.0 - none.clamp(0.0, 1.0).powf(n_items)
}

impl Sample {
    /// Returns the interval to expect for a rate: that of Korn and Graubard at the truth.
    #[must_use]
    pub fn rate_interval(&self, level: f64) -> Option<Interval> {
        self.proportion().interval(level)
    }

    /// Returns the interval to expect for a mean: t over clusters. `None` for fewer than two.
    #[must_use]
    pub fn mean_interval(&self, level: f64) -> Option<Interval> {
        let half = self.half_width(level)?;
        Some(Interval { low: self.truth - half, high: self.truth + half })
    }

    fn half_width(&self, level: f64) -> Option<f64> {
        (self.n_clusters >= 2.0).then(|| t_quantile(0.5 + level / 2.0, self.n_clusters - 1.0) * self.variance.sqrt())
    }

    fn proportion(&self) -> ClusteredProportion {
        let p = self.truth;
        let events = |share: f64| -> u64 {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
            let n = (self.n_clusters * share).round() as u64;
            n
        };
        ClusteredProportion {
            estimate: p,
            variance: self.variance,
            n_observations: self.n_judgements,
            n_clusters: self.n_clusters,
            n_clusters_with_event: events(self.clusters_that_show[0]),
            n_clusters_with_absence: events(self.clusters_that_show[1]),
        }
    }
}

/// Returns the power of a limit on a rate: how often the bound at `level` keeps it, or, where the truth is beyond it, breaks it. In 0..=1.
///
/// The bound is Clopper–Pearson's at the effective sample size n: the limit is kept by counts up to the x at which the bound
/// reaches it, and P(X ≤ x) is binomial. 0 where the truth is the limit.
#[must_use]
pub fn rate_power(sample: &Sample, limit: f64, side: LimitSide, level: f64) -> f64 {
    // What must not be exceeded mirrors what must be reached; breaking mirrors keeping.
    let (p, limit) = match side {
        LimitSide::Max => (sample.truth, limit),
        LimitSide::Min => (1.0 - sample.truth, 1.0 - limit),
    };
    let n = sample.proportion().effective_sample_size(level);
    let is_defined = n.is_finite() && n > 0.0 && (0.0..=1.0).contains(&p) && (p - limit).abs() > ON_LIMIT;
    if !is_defined {
        return 0.0;
    }
    let tail = (1.0 - level) / 2.0;
    // Counts are whole where the answers of a cluster are alike: each item answers once, or always the same.
    let m = sample.n_clusters;
    let is_alike = p <= 0.0 || p >= 1.0 || (sample.variance * m / (p * (1.0 - p)) - 1.0).abs() < 1e-9;
    let whole = Some(m).filter(|m| is_alike && (m - m.round()).abs() < 1e-6);
    if p < limit { below(n, p, limit, tail, whole) } else { below(n, 1.0 - p, 1.0 - limit, tail, whole) }
}

/// Returns P(the upper bound of X/n is at most `limit`), X binomial with chance p < limit; of `whole` clusters, where these are counted.
fn below(n: f64, p: f64, limit: f64, tail: f64, whole: Option<f64>) -> f64 {
    if limit >= 1.0 {
        return 1.0;
    }
    // The bound of Clopper and Pearson is at most the limit where its beta has that much mass below it.
    let is_kept = |x: f64| x < n && beta_cdf(limit, x + 1.0, n - x) >= 1.0 - tail;
    if !is_kept(0.0) {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, n * limit);
    while high - low > 1e-9 * (1.0 + high) {
        let middle = f64::midpoint(low, high);
        if is_kept(middle) { low = middle } else { high = middle }
    }
    // A rate of many answers an item moves in smaller steps than one: between counts its distribution is continuous.
    let (x, n) = whole.map_or((low - 0.5, n), |m| ((low * m / n + 1e-6).floor(), m));
    if x < -0.5 { 0.0 } else { 1.0 - beta_cdf(p, x + 1.0, n - x) }
}

/// Returns how many clusters, none of which shows the event, it takes until the bound at `level` is within `gap` of 0: 72 for .05 at
/// .95, since each side has half of the error. 1 at least.
pub(crate) fn clusters_without_event(gap: f64, level: f64) -> f64 {
    let tail = (1.0 - level) / 2.0;
    // 1 − tail^(1/n) ≤ gap; what is whole but for rounding is not one more.
    (tail.ln() / (-gap).ln_1p() - 1e-9).ceil().max(1.0)
}

/// Returns the power of a limit on a mean: how often the t bound keeps it, or, where the truth is beyond it, breaks it. 0 at the limit
/// itself and with fewer than two clusters.
#[must_use]
pub fn mean_power(sample: &Sample, limit: f64, level: f64) -> f64 {
    let (gap, error) = ((sample.truth - limit).abs(), sample.variance.sqrt());
    if sample.n_clusters < 2.0 || gap == 0.0 || gap.is_nan() {
        return 0.0;
    }
    if error <= 0.0 {
        return 1.0;
    }
    let degrees = sample.n_clusters - 1.0;
    t_cdf(gap / error - t_quantile(0.5 + level / 2.0, degrees), degrees)
}

/// Returns how many items decide with so much power: `n = deff · [z√(L(1−L)) + z_power √(p(1−p))]² / (p−L)²`, deff the variance of an
/// item's figure over p(1−p). A first guess for the exact search, and the formula the gate's further items use. Where the truth is 0 or 1
/// nothing is left to chance, and n is what the bound itself takes.
///
/// `None`: at p = L no number decides.
#[must_use]
pub fn items_for_rate(p: f64, limit: f64, item_variance: f64, level: f64, power: f64) -> Option<f64> {
    let (z, z_power) = (normal_quantile(0.5 + level / 2.0), normal_quantile(power));
    let sd = |p: f64| (p * (1.0 - p)).max(0.0).sqrt();
    let gap = p - limit;
    if gap == 0.0 || !gap.is_finite() {
        return None;
    }
    if p <= 0.0 || p >= 1.0 {
        return Some(clusters_without_event(gap.abs(), level));
    }
    let deff = item_variance / (p * (1.0 - p));
    Some(deff * (z * sd(limit) + z_power * sd(p)).powi(2) / (gap * gap))
}

/// Items that answer several times, drawn to hold a rule to its promise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Simulated {
    /// The rate.
    pub rate: f64,
    /// The correlation of two answers of an item: shares of items are Beta with this intraclass correlation.
    pub icc: f64,
    /// Items.
    pub n_items: u32,
    /// Answers an item.
    pub repeats: u32,
    /// Replicates.
    pub n_replicates: u32,
    /// The seed of all streams.
    pub seed: u64,
}

/// Returns how often the bound of Korn and Graubard keeps the limit (or breaks it, where the rate is beyond it), items drawn from a
/// beta distribution: the decision rule itself. The same on any number of threads.
#[must_use]
pub fn simulated_power(simulated: &Simulated, limit: f64, side: LimitSide, level: f64) -> f64 {
    let base = ChaCha8Rng::seed_from_u64(simulated.seed);
    let is_kept = match side {
        LimitSide::Max => simulated.rate <= limit,
        LimitSide::Min => simulated.rate >= limit,
    };
    let decided = |replicate: u32| {
        let mut rng = base.clone();
        rng.set_stream(u64::from(replicate));
        let Some(interval) = drawn(simulated, &mut rng).and_then(|proportion| proportion.interval(level)) else {
            return false;
        };
        match (side, is_kept) {
            (LimitSide::Max, true) => interval.high <= limit,
            (LimitSide::Max, false) => interval.low > limit,
            (LimitSide::Min, true) => interval.low >= limit,
            (LimitSide::Min, false) => interval.high < limit,
        }
    };
    let n = (0..simulated.n_replicates).into_par_iter().filter(|replicate| decided(*replicate)).count();
    n as f64 / f64::from(simulated.n_replicates.max(1))
}

fn drawn(simulated: &Simulated, rng: &mut ChaCha8Rng) -> Option<ClusteredProportion> {
    let (p, k) = (simulated.rate, simulated.repeats);
    let s = 1.0 / simulated.icc - 1.0;
    let mut sums = ClusteredSums::default();
    for item in 0..simulated.n_items {
        // Answers of an item whose share is Beta, one after another: each teaches what the share is (Pólya's urn).
        let mut hits = 0_u32;
        for drawn in 0..k {
            let chance = match (simulated.icc, drawn) {
                (icc, _) if icc <= 0.0 => p,
                (icc, 1..) if icc >= 1.0 => f64::from(u8::from(hits > 0)),
                (_, 0) => p,
                (_, drawn) => (p * s + f64::from(hits)) / (s + f64::from(drawn)),
            };
            hits += u32::from(rng.random::<f64>() < chance);
        }
        sums.push(UnitValue { value: f64::from(hits) / f64::from(k), weight: 1.0, cluster: item });
    }
    let mean = sums.mean()?;
    Some(ClusteredProportion {
        estimate: mean.estimate.clamp(0.0, 1.0),
        variance: mean.variance,
        n_observations: f64::from(simulated.n_items) * f64::from(k),
        n_clusters: mean.n_clusters as f64,
        n_clusters_with_event: mean.n_clusters_with_event,
        n_clusters_with_absence: mean.n_clusters_with_absence,
    })
}
