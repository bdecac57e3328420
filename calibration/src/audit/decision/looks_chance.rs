//! How likely one look at all items planned is to decide a limit, given what was seen of them: predictive power (Spiegelhalter,
//! Freedman & Blackburn 1986), with a prior that says next to nothing.
//!
//! It decides nothing about the judge; it says when to give up.

use statrs::function::gamma::ln_gamma;

use crate::distribution::{beta_cdf, normal_cdf, normal_quantile};
use crate::interval::Spread;
use crate::proportion::ClusteredProportion;

use crate::audit::estimate::Estimated;

/// Up to as many trials still to come are counted out; more are normal enough.
const MOST_COUNTED: f64 = 2000.0;
/// Fewest clusters with and without the event from which their number no longer bounds the effective sample size.
const FEW: f64 = 10.0;

/// Returns the chance that one look at the whole plan, of which `fraction` (0..1) was seen, shows the truth to lie below `limit` (or above),
/// with an error of `alpha` on that side. 1 where nothing is known of it.
pub(in crate::audit) fn chance_beyond(value: &Estimated, limit: f64, is_below: bool, fraction: f64, alpha: f64) -> f64 {
    if let Spread::Proportion(proportion) = value.spread {
        let (proportion, limit) = if is_below { (proportion, limit) } else { (absence(proportion), 1.0 - limit) };
        if let Some(chance) = of_counts(&proportion, limit, fraction, alpha) {
            return chance;
        }
    }
    // What the estimate is worth now, in standard errors on the side in question.
    let below = value.spread.p_at_least(value.estimate, limit);
    let above = value.spread.p_at_most(value.estimate, limit);
    let (Some(wanted), Some(other)) = (if is_below { (below, above) } else { (above, below) }) else { return 1.0 };
    let z = if wanted < 0.5 { -normal_quantile(wanted) } else { normal_quantile(other) };
    // A flat prior on the drift of a Brownian motion.
    normal_cdf((z / fraction.sqrt() + normal_quantile(alpha)) / ((1.0 - fraction) / fraction).sqrt())
}

fn absence(proportion: ClusteredProportion) -> ClusteredProportion {
    ClusteredProportion {
        estimate: 1.0 - proportion.estimate,
        n_clusters_with_event: proportion.n_clusters_with_absence,
        n_clusters_with_absence: proportion.n_clusters_with_event,
        ..proportion
    }
}

/// The chance of a small enough count among the trials to come: beta-binomial, from Jeffreys' prior. `None` where they are many.
fn of_counts(proportion: &ClusteredProportion, limit: f64, fraction: f64, alpha: f64) -> Option<f64> {
    if !(limit > 0.0 && limit < 1.0) {
        return None;
    }
    // Where the plan will show enough clusters of either kind, their number will no longer bound the effective sample size.
    let will_be = |n: u64| if n as f64 / fraction >= FEW { u64::MAX } else { n };
    let then = ClusteredProportion {
        n_clusters_with_event: will_be(proportion.n_clusters_with_event),
        n_clusters_with_absence: will_be(proportion.n_clusters_with_absence),
        ..*proportion
    };
    let now = then.effective_sample_size(1.0 - 2.0 * alpha);
    let all = now / fraction;
    let to_come = (all - now).round();
    if !(1.0..=MOST_COUNTED).contains(&to_come) {
        return None;
    }
    let seen = proportion.estimate * now;
    // The most events among all of which Clopper and Pearson's upper bound keeps the limit.
    let keeps = |events: f64| beta_cdf(limit, events + 1.0, all - events) >= 1.0 - alpha;
    if !keeps(0.0) {
        return Some(0.0);
    }
    let (mut most, mut too_many) = (0.0, all);
    for _ in 0..50 {
        let middle = f64::midpoint(most, too_many);
        if keeps(middle) { most = middle } else { too_many = middle }
    }
    Some(beta_binomial_cdf((most - seen + 1e-9).floor(), to_come, seen + 0.5, now - seen + 0.5))
}

/// Returns the probability of at most `most` events in `n` trials whose chance has a Beta(a, b) distribution.
fn beta_binomial_cdf(most: f64, n: f64, a: f64, b: f64) -> f64 {
    if most < 0.0 {
        return 0.0;
    }
    if most >= n {
        return 1.0;
    }
    let ln_beta = |a: f64, b: f64| ln_gamma(a) + ln_gamma(b) - ln_gamma(a + b);
    let mut log_point = ln_beta(a, b + n) - ln_beta(a, b);
    let mut sum = 0.0;
    let mut events = 0.0;
    while events <= most {
        sum += log_point.exp();
        log_point += ((n - events) / (events + 1.0) * (a + events) / (b + n - events - 1.0)).ln();
        events += 1.0;
    }
    sum.clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `betabinom.cdf` of scipy 1.17.1.
    #[test]
    fn chances_of_counts_are_those_of_scipy() {
        // Logarithms of gamma functions of 1,500 are right to some 1e-12, and so is what is made of them.
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-11, "{a} {b}");
        close(beta_binomial_cdf(0.0, 80.0, 0.5, 20.5), 0.449_454_972_921_887_2);
        close(beta_binomial_cdf(7.0, 60.0, 3.5, 37.5), 0.784_970_825_532_814_7);
        close(beta_binomial_cdf(400.0, 1500.0, 120.5, 380.5), 0.883_711_318_784_401_2);
        close(beta_binomial_cdf(10.0, 10.0, 1.0, 1.0), 1.0);
    }
}
