//! An estimate that can give its interval at any level: what gates and corrections for many limits need.

use crate::distribution::{chi_squared_quantile, normal_quantile, t_quantile};
use crate::paired::paired_proportions_interval;
use crate::proportion::{ClusteredProportion, Interval, clopper_pearson};

/// How an estimate varies from sample to sample, in a form from which an interval can be made at any level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Spread {
    /// No interval is defined.
    None,
    /// A proportion of clustered trials.
    Proportion(ClusteredProportion),
    /// Estimate ± t · standard error, clipped to the range possible.
    Student {
        /// The standard error.
        standard_error: f64,
        /// Degrees of freedom: clusters − 1.
        degrees: f64,
        /// The lowest and highest value possible.
        range: [f64; 2],
    },
    /// A proportion of clustered trials under several sets, others of which might have been chosen ([`crate::crossed`]): at each level the
    /// variance is that over clusters and the one between sets, this by the square of t of its degrees over t of the clusters'.
    ProportionOfSets {
        /// The proportion under the sets at hand.
        proportion: ClusteredProportion,
        /// What sets add to its variance.
        between: f64,
        /// Degrees of freedom of it: sets − 1.
        degrees: f64,
    },
    /// Estimate ± √((t · standard error)² + t′² · variance between sets), clipped to the range possible: squares of the half widths of
    /// both parts, each with its own t, add up (Banerjee 1960).
    StudentOfSets {
        /// The standard error over clusters.
        standard_error: f64,
        /// Degrees of freedom of it: clusters − 1.
        degrees: f64,
        /// What sets add to the variance.
        between: f64,
        /// Degrees of freedom of it: sets − 1.
        set_degrees: f64,
        /// The lowest and highest value possible.
        range: [f64; 2],
    },
    /// The mean of values that cannot be negative, of which many may be 0: the gamma interval of Fay and Feuer (1997), whose
    /// upper end reckons with one cluster more like the largest seen. With few clusters its variance is enlarged by the
    /// square of t over z. A t interval misses high: its upper end is below the truth when the large values are rare.
    Gamma {
        /// The variance of the mean.
        variance: f64,
        /// What the largest cluster adds to the mean.
        largest: f64,
        /// Degrees of freedom: clusters − 1.
        degrees: f64,
        /// The highest value possible.
        most: f64,
    },
    /// Student's t on the scale of atanh: for coefficients that end at 1 (and, mirrored, at −1).
    FisherZ {
        /// The standard error on the scale of atanh.
        standard_error: f64,
        /// Degrees of freedom.
        degrees: f64,
    },
    /// Student's t on the scale of log(1 + (k−1)ρ) − log(1 − ρ), the log of the F ratio: for intraclass correlations.
    LogF {
        /// The number of draws k of the F ratio.
        draws: f64,
        /// The standard error on that scale.
        standard_error: f64,
        /// Degrees of freedom.
        degrees: f64,
    },
    /// The intraclass correlation of a mean of draws: the interval of the single draw's, transformed.
    MeanOfDraws {
        /// The k of the single draw's F ratio.
        single: f64,
        /// The draws averaged.
        draws: f64,
        /// The standard error of the log of the F ratio.
        standard_error: f64,
        /// Degrees of freedom.
        degrees: f64,
    },
    /// Student's t on the log scale: for standard deviations and other positive quantities.
    Log {
        /// The standard error of the log.
        standard_error: f64,
        /// Degrees of freedom.
        degrees: f64,
    },
    /// Student's t on the scale of log(1 − x): for coefficients that end at 1 and have no lower end, as Cronbach's alpha.
    FromOne {
        /// The standard error on that scale.
        standard_error: f64,
        /// Degrees of freedom.
        degrees: f64,
    },
    /// Student's t on the logit scale: for areas under curves.
    Logit {
        /// The standard error of the logit.
        standard_error: f64,
        /// Degrees of freedom.
        degrees: f64,
    },
    /// Nothing was seen of something that could have been: 0 of m clusters, or m of m. The far end is `size` times the
    /// Clopper–Pearson bound of 0 of m.
    Unseen {
        /// Clusters.
        n_clusters: f64,
        /// What one event would amount to. Negative: the estimate is at its top and the interval goes down.
        size: f64,
    },
    /// All clusters show the same value. Both ends are `size` times the Clopper–Pearson bound of 0 of m away.
    Constant {
        /// Clusters.
        n_clusters: f64,
        /// How far another value could be away.
        size: f64,
        /// The lowest and highest value possible.
        range: [f64; 2],
    },
    /// A sum of two proportions with weights that are not negative: MOVER (Zou & Donner 2008), with the correlation that shared clusters
    /// give the two estimates.
    Sum {
        /// The first proportion.
        first: ClusteredProportion,
        /// The second.
        second: ClusteredProportion,
        /// What each is multiplied by.
        weights: [f64; 2],
        /// Correlation of both estimates, −1..=1.
        correlation: f64,
    },
    /// A mean of shares less a proportion of the same clusters: MOVER (Zou & Donner 2008) of the mean's t interval and the proportion's own,
    /// which keeps its meaning where the proportion is next to 0 or 1 and a t interval of the difference would end too soon.
    Difference {
        /// The standard error of the mean.
        standard_error: f64,
        /// Degrees of freedom: clusters − 1.
        degrees: f64,
        /// The proportion taken off.
        taken: ClusteredProportion,
        /// Correlation of mean and proportion, −1..=1.
        correlation: f64,
    },
    /// An interval made at one level by a method of its own; none at any other level, so that no gate can rest on it.
    AtLevel {
        /// The interval.
        interval: Interval,
        /// Its level.
        level: f64,
    },
    /// The difference of two proportions of the same independent items, first less second: Tango's score interval.
    PairedProportions {
        /// Items in which only the first is a success.
        only_first: u64,
        /// Items in which only the second is.
        only_second: u64,
        /// Items.
        n: u64,
    },
    /// A predictive value at a fixed base rate, 1 / (1 + ratio · odds), where the ratio is that of two proportions and
    /// its interval is MOVER-R (Donner & Zou 2012), which keeps its meaning at 0 of n.
    Predictive {
        /// The proportion in the numerator: wrong items judged like the right ones.
        error: ClusteredProportion,
        /// The proportion in the denominator.
        success: ClusteredProportion,
        /// Base rate of the error's items over that of the success's.
        odds: f64,
    },
}

impl Spread {
    /// Returns the spread of a coefficient between −1 and 1 on the scale of atanh, from its standard error on its own scale.
    /// [`Spread::None`] at either end, or where nothing varies but by rounding.
    #[must_use]
    pub fn fisher_z(estimate: f64, standard_error: f64, degrees: f64) -> Self {
        const ROUNDING: f64 = 1e-12;
        if standard_error > ROUNDING && estimate.abs() < 1.0 {
            Self::FisherZ { standard_error: standard_error / (1.0 - estimate * estimate), degrees }
        } else {
            Self::None
        }
    }

    /// Returns the interval around `estimate` at a two-sided level, or `None` where none is defined.
    #[must_use]
    pub fn interval(&self, estimate: f64, level: f64) -> Option<Interval> {
        let upper = 0.5 + level / 2.0;
        let student = |standard_error: f64, degrees: f64| {
            (degrees >= 1.0 && standard_error.is_finite()).then(|| t_quantile(upper, degrees) * standard_error)
        };
        match *self {
            Self::None => None,
            Self::Proportion(proportion) => proportion.interval(level),
            Self::Student { standard_error, degrees, range } => student(standard_error, degrees)
                .map(|half| Interval { low: (estimate - half).max(range[0]), high: (estimate + half).min(range[1]) }),
            Self::ProportionOfSets { proportion, between, degrees } => {
                let of_clusters = (proportion.n_clusters > 1.0).then(|| t_quantile(upper, proportion.n_clusters - 1.0));
                let factor = of_clusters.map_or(1.0, |of_clusters| t_quantile(upper, degrees) / of_clusters);
                let variance = proportion.variance + between * factor * factor;
                ClusteredProportion { variance, ..proportion }.interval(level)
            }
            Self::StudentOfSets { standard_error, degrees, between, set_degrees, range } => {
                let (of_clusters, of_sets) = (student(standard_error, degrees)?, student(between.sqrt(), set_degrees)?);
                let half = of_clusters.hypot(of_sets);
                Some(Interval { low: (estimate - half).max(range[0]), high: (estimate + half).min(range[1]) })
            }
            Self::Gamma { variance, largest, degrees, most } => {
                let inflated = (degrees >= 1.0 && variance.is_finite())
                    .then(|| variance * (t_quantile(upper, degrees) / normal_quantile(upper)).powi(2))?;
                let (mean, more) = (estimate + largest, inflated + largest * largest);
                let low = gamma_quantile(1.0 - upper, estimate, inflated);
                Some(Interval { low, high: gamma_quantile(upper, mean, more).min(most).max(estimate) })
            }
            Self::FisherZ { standard_error, degrees } => student(standard_error, degrees)
                .map(|half| Interval { low: (estimate.atanh() - half).tanh(), high: (estimate.atanh() + half).tanh() }),
            Self::LogF { draws, standard_error, degrees } => student(standard_error, degrees).map(|half| {
                let back = |log_ratio: f64| {
                    let ratio = log_ratio.exp();
                    if ratio.is_infinite() { 1.0 } else { (ratio - 1.0) / (ratio + draws - 1.0) }
                };
                let centre = log_f(estimate, draws);
                Interval { low: back(centre - half), high: back(centre + half) }
            }),
            Self::MeanOfDraws { single, draws, standard_error, degrees } => {
                let rho = estimate / (draws - (draws - 1.0) * estimate);
                let interval = Self::LogF { draws: single, standard_error, degrees }.interval(rho, level)?;
                // At ρ = −1/(k − 1) the mean of k draws says nothing of the item; below it the formula turns over.
                let mean = |rho: f64| {
                    let divisor = 1.0 + (draws - 1.0) * rho;
                    if divisor > 0.0 { draws * rho / divisor } else { f64::NEG_INFINITY }
                };
                Some(Interval { low: mean(interval.low), high: mean(interval.high) })
            }
            Self::Log { standard_error, degrees } => student(standard_error, degrees)
                .map(|half| Interval { low: estimate * (-half).exp(), high: estimate * half.exp() }),
            // What does not vary from cluster to cluster has shown nothing of its error.
            Self::FromOne { standard_error, .. } if standard_error <= 0.0 => None,
            Self::FromOne { standard_error, degrees } => student(standard_error, degrees).map(|half| Interval {
                low: 1.0 - (1.0 - estimate) * half.exp(),
                high: 1.0 - (1.0 - estimate) * (-half).exp(),
            }),
            Self::Logit { standard_error, degrees } => student(standard_error, degrees).map(|half| {
                let logit = (estimate / (1.0 - estimate)).ln();
                let back = |value: f64| 1.0 / (1.0 + (-value).exp());
                Interval { low: back(logit - half), high: back(logit + half) }
            }),
            Self::Unseen { n_clusters, size } => clopper_pearson(0.0, n_clusters, level).map(|bound| {
                // A coefficient or share ends at 1 on either side.
                let far =
                    if size < 0.0 { (estimate + size * bound.high).max(-1.0) } else { estimate + size * bound.high };
                Interval { low: estimate.min(far), high: estimate.max(far) }
            }),
            Self::Constant { n_clusters, size, range } => {
                clopper_pearson(0.0, n_clusters, level).map(|bound| Interval {
                    low: (estimate - size * bound.high).max(range[0]),
                    high: (estimate + size * bound.high).min(range[1]),
                })
            }
            Self::Sum { first, second, weights, correlation } => {
                let (one, other) = (first.interval(level)?, second.interval(level)?);
                let together = |a: f64, b: f64| {
                    let (a, b) = (a * weights[0], b * weights[1]);
                    (a * a + b * b + 2.0 * correlation * a * b).max(0.0).sqrt()
                };
                let down = together(first.estimate - one.low, second.estimate - other.low);
                let up = together(one.high - first.estimate, other.high - second.estimate);
                Some(Interval { low: (estimate - down).max(0.0), high: (estimate + up).min(weights[0] + weights[1]) })
            }
            Self::Difference { standard_error, degrees, taken, correlation } => {
                let of_mean = student(standard_error, degrees)?;
                let rate = taken.interval(level)?;
                let apart =
                    |end: f64| (of_mean * of_mean + end * end - 2.0 * correlation * of_mean * end).max(0.0).sqrt();
                Some(Interval {
                    low: (estimate - apart(rate.high - taken.estimate)).max(-1.0),
                    high: (estimate + apart(taken.estimate - rate.low)).min(1.0),
                })
            }
            Self::AtLevel { interval, level: made_at } => (level.total_cmp(&made_at).is_eq()).then_some(interval),
            Self::PairedProportions { only_first, only_second, n } => {
                paired_proportions_interval(only_first, only_second, n, level).map(|(low, high)| Interval { low, high })
            }
            Self::Predictive { error, success, odds } => {
                let ratio = mover_ratio(&error, &success, level)?;
                let value = |ratio: f64| 1.0 / (1.0 + ratio * odds);
                Some(Interval { low: value(ratio.high), high: value(ratio.low) })
            }
        }
    }

    /// Returns the one-sided p value of "the truth is at most `limit`": the smallest tail probability at which the lower
    /// bound still exceeds the limit. Small when the truth is shown to lie above.
    ///
    /// From e⁻²⁷ (2 in 10¹²) to ½, which stand for all that is smaller and larger: ½ also where the estimate is no higher than
    /// the limit. Undefined (`None`) where there is no interval: without a spread, or with fewer clusters than its method needs.
    #[must_use]
    pub fn p_at_most(&self, estimate: f64, limit: f64) -> Option<f64> {
        self.p_beyond(estimate, |interval| interval.low > limit)
    }

    /// Returns the one-sided p value of "the truth is at least `limit`": the smallest tail probability at which the upper bound
    /// is still below the limit. Small when the truth is shown to lie below.
    ///
    /// From e⁻²⁷ (2 in 10¹²) to ½, which stand for all that is smaller and larger: ½ also where the estimate is no lower than the
    /// limit. Undefined (`None`) as [`Self::p_at_most`].
    #[must_use]
    pub fn p_at_least(&self, estimate: f64, limit: f64) -> Option<f64> {
        self.p_beyond(estimate, |interval| interval.high < limit)
    }

    /// Bisects the tail probability at which the bound passes the limit. Bounds move outward as the tail shrinks.
    fn p_beyond(&self, estimate: f64, beyond: impl Fn(&Interval) -> bool) -> Option<f64> {
        let passes = |tail: f64| self.interval(estimate, 1.0 - 2.0 * tail).map(|interval| beyond(&interval));
        if !passes(0.4999)? {
            return Some(0.5);
        }
        // Bisect the logarithm: what matters is the order of magnitude of small tails.
        let (mut low, mut high) = (-27.0_f64, 0.4999_f64.ln());
        if passes(low.exp())? {
            return Some(low.exp());
        }
        for _ in 0..50 {
            let middle = f64::midpoint(low, high);
            if passes(middle.exp())? {
                high = middle;
            } else {
                low = middle;
            }
        }
        Some(high.exp())
    }
}

/// Returns the quantile of a gamma variable with this mean and variance; the mean itself without variance.
fn gamma_quantile(p: f64, mean: f64, variance: f64) -> f64 {
    let degrees = 2.0 * mean * mean / variance;
    if degrees > 1e8 {
        // Normal to more digits than anyone reads.
        return mean + normal_quantile(p) * variance.sqrt();
    }
    variance / (2.0 * mean) * chi_squared_quantile(p, degrees)
}

/// Returns log(F) of an intraclass correlation of single draws: log((1 + (k−1)ρ)/(1 − ρ)).
#[must_use]
pub fn log_f(rho: f64, draws: f64) -> f64 {
    ((1.0 + (draws - 1.0) * rho) / (1.0 - rho)).ln()
}

/// Returns the MOVER-R interval of `numerator / denominator` (Donner & Zou 2012, eq. 8 and 9) from the intervals of both.
fn mover_ratio(numerator: &ClusteredProportion, denominator: &ClusteredProportion, level: f64) -> Option<Interval> {
    let (top, bottom) = (numerator.interval(level)?, denominator.interval(level)?);
    let (a, b) = (numerator.estimate, denominator.estimate);
    let product = a * b;
    let low_root = product * product - top.low * bottom.high * (2.0 * a - top.low) * (2.0 * b - bottom.high);
    let low = (product - low_root.max(0.0).sqrt()) / (bottom.high * (2.0 * b - bottom.high));
    let high_root = product * product - top.high * bottom.low * (2.0 * a - top.high) * (2.0 * b - bottom.low);
    let high = (product + high_root.max(0.0).sqrt()) / (bottom.low * (2.0 * b - bottom.low));
    // A denominator that may be 0 leaves the ratio without an upper end.
    Some(Interval {
        low: if low.is_finite() { low.max(0.0) } else { 0.0 },
        high: if bottom.low > 0.0 && high.is_finite() && high >= 0.0 { high } else { f64::INFINITY },
    })
}
