//! Two judges or conditions on the same items: `McNemar`'s test, the paired mean with its interval, equivalence, and
//! corrections for many comparisons.
//!
//! With repeats, compare item means ([`paired_mean`]): a `McNemar` table of pooled repeats rejects true nulls.

use crate::distribution::{
    beta_cdf, binomial_point, chi_squared_upper_tail, normal_cdf, normal_quantile, t_cdf, t_quantile,
};
use crate::influence::sums_by_cluster;
use crate::rank::shares;

/// Which form of `McNemar`'s test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum McNemarTest {
    /// The exact test with half of the observed point's probability: nearly exact size, more power. Fagerland, Lydersen &
    /// Laake 2013.
    #[default]
    MidP,
    /// The exact binomial test; conservative.
    Exact,
    /// Chi-squared with Edwards's continuity correction.
    Corrected,
    /// Chi-squared as in `McNemar` 1947.
    Uncorrected,
}

impl McNemarTest {
    /// Returns the test's name, to be printed beside its p value.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::MidP => "McNemar mid-p",
            Self::Exact => "McNemar exact",
            Self::Corrected => "McNemar chi-squared, continuity corrected",
            Self::Uncorrected => "McNemar chi-squared",
        }
    }
}

/// Returns the two-sided p value of no difference, from the numbers of discordant pairs of either kind.
///
/// Without discordant pairs nothing speaks against the null: 1. Tests agree with statsmodels 0.15.
#[must_use]
pub fn mcnemar(only_first: u64, only_second: u64, test: McNemarTest) -> f64 {
    let n = only_first + only_second;
    if n == 0 {
        return 1.0;
    }
    let smaller = only_first.min(only_second);
    let difference = only_first.abs_diff(only_second) as f64;
    match test {
        McNemarTest::Exact | McNemarTest::MidP => {
            let point = binomial_point(smaller, n, 0.5);
            let is_exact = test == McNemarTest::Exact;
            if only_first == only_second {
                return if is_exact { 1.0 } else { 1.0 - 0.5 * point };
            }
            // P(X ≤ k) of a binomial is a beta tail.
            let tail = beta_cdf(0.5, (n - smaller) as f64, smaller as f64 + 1.0);
            let p = if is_exact { 2.0 * tail } else { 2.0 * tail - point };
            p.min(1.0)
        }
        McNemarTest::Corrected => {
            let corrected = (difference - 1.0).max(0.0);
            chi_squared_upper_tail(corrected * corrected / n as f64, 1.0)
        }
        McNemarTest::Uncorrected => chi_squared_upper_tail(difference * difference / n as f64, 1.0),
    }
}

/// A mean difference with Student's interval over clusters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairedMean {
    /// The (weighted) mean of the differences.
    pub estimate: f64,
    /// Its standard error over clusters.
    pub standard_error: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Differences.
    pub n: usize,
    /// Clusters, m; the interval has m − 1 degrees of freedom.
    pub n_clusters: usize,
    /// Two-sided p value of a true mean of 0.
    pub p_value: f64,
}

/// Returns the mean of differences taken item by item, with a t interval at `level` (0..1, two-sided) over clusters.
///
/// `weights` let an item count for more or less, `clusters` group items that are not independent; `None` makes each
/// difference its own cluster. Where all differences are equal the interval is a point, and p is 0 unless that point is 0.
/// Undefined (`None`): fewer than two clusters, lengths that differ, a value or weight that is not finite, a level outside 0..1.
///
/// Source: Student 1908; Liang & Zeger 1986 for clusters, with m/(m − 1).
#[must_use]
pub fn paired_mean(
    differences: &[f64],
    weights: Option<&[f64]>,
    clusters: Option<&[u32]>,
    level: f64,
) -> Option<PairedMean> {
    let n = differences.len();
    if n < 2 || !differences.iter().all(|difference| difference.is_finite()) || !(level > 0.0 && level < 1.0) {
        return None;
    }
    let shares = shares(n, weights)?;
    // From the first difference, so that equal ones have no spread.
    let origin = differences[0];
    let offset: f64 = shares.iter().zip(differences).map(|(share, value)| share * (value - origin)).sum();
    let influence: Vec<f64> =
        shares.iter().zip(differences).map(|(share, value)| share * (value - origin - offset)).collect();
    let sums = sums_by_cluster(&influence, clusters)?;
    let n_clusters = sums.len();
    if n_clusters < 2 {
        return None;
    }
    let (estimate, df) = (origin + offset, (n_clusters - 1) as f64);
    let squares: f64 = sums.iter().map(|sum| sum * sum).sum();
    let standard_error = (squares * n_clusters as f64 / df).sqrt();
    let half_width = t_quantile(0.5 * (1.0 + level), df) * standard_error;
    let p_value = two_sided_p(estimate, standard_error, df);
    Some(PairedMean {
        estimate,
        standard_error,
        low: estimate - half_width,
        high: estimate + half_width,
        n,
        n_clusters,
        p_value,
    })
}

fn two_sided_p(estimate: f64, standard_error: f64, df: f64) -> f64 {
    if standard_error > 0.0 {
        2.0 * t_cdf(-(estimate / standard_error).abs(), df)
    } else {
        f64::from(u8::from(estimate.abs() <= 0.0))
    }
}

/// Two one-sided tests that a mean difference lies between two margins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Equivalence {
    /// p value of "not above the lower margin".
    pub p_above_low: f64,
    /// p value of "not below the upper margin".
    pub p_below_high: f64,
    /// The larger of both: equivalence is shown at α where it is at most α.
    pub p_value: f64,
}

/// Returns the two one-sided tests of equivalence within `margin_low..margin_high`.
///
/// At α they succeed exactly when the 1 − 2α interval lies inside the margins. Undefined (`None`): margins that are not
/// finite or not ascending.
///
/// Source: Schuirmann 1987. Tests agree with statsmodels 0.15.
#[must_use]
pub fn equivalence(mean: &PairedMean, margin_low: f64, margin_high: f64) -> Option<Equivalence> {
    let is_ascending = margin_low.is_finite() && margin_high.is_finite() && margin_low < margin_high;
    if !is_ascending {
        return None;
    }
    let df = (mean.n_clusters - 1) as f64;
    // P(T ≥ t), with 0/0 on the side of the null.
    let tail = |distance: f64| {
        if mean.standard_error > 0.0 {
            t_cdf(-distance / mean.standard_error, df)
        } else {
            f64::from(u8::from(distance <= 0.0))
        }
    };
    let p_above_low = tail(mean.estimate - margin_low);
    let p_below_high = tail(margin_high - mean.estimate);
    Some(one_sided(p_above_low, p_below_high))
}

/// Returns the two one-sided tests that the difference of two paired proportions, first less second, lies within
/// `margin_low..margin_high`, from the numbers of pairs in which only the first, or only the second, is a success, of `n` pairs.
///
/// Score tests: the variance is the one at the margin, so that pairs which never differ do not show equivalence by themselves. Pairs are
/// independent; with repeats or clusters take item means, [`paired_mean`] and [`equivalence`].
///
/// Undefined (`None`): no pairs, more discordant pairs than pairs, margins that are not ascending within −1..1.
///
/// Source: Schuirmann 1987 for the pair of tests; Tango 1998, "Equivalence test and confidence interval for the difference in
/// proportions for the paired-sample design", equations 7 to 10.
#[must_use]
pub fn equivalence_of_paired_proportions(
    only_first: u64,
    only_second: u64,
    n: u64,
    margin_low: f64,
    margin_high: f64,
) -> Option<Equivalence> {
    let are_margins = margin_low > -1.0 && margin_low < margin_high && margin_high < 1.0;
    if n == 0 || only_first.checked_add(only_second)? > n || !are_margins {
        return None;
    }
    let (b, c, n) = (only_first as f64, only_second as f64, n as f64);
    Some(one_sided(normal_cdf(-paired_score(b, c, n, margin_low)), normal_cdf(paired_score(b, c, n, margin_high))))
}

/// Returns Tango's score of the difference of two paired proportions being `margin`: standard normal if it is.
fn paired_score(b: f64, c: f64, n: f64, margin: f64) -> f64 {
    // The probability of "only the second" that is likeliest at this difference: 2n p² + B p + C = 0.
    let linear = (2.0 * n - b + c) * margin - b - c;
    let constant = -c * margin * (1.0 - margin);
    let root = (linear * linear - 8.0 * n * constant).max(0.0).sqrt();
    let p = (root - linear) / (4.0 * n);
    let variance = n * (2.0 * p + margin * (1.0 - margin));
    let distance = b - c - n * margin;
    // 0/0 is on the side of the null.
    if variance > 0.0 { distance / variance.sqrt() } else { 0.0 }
}

/// Returns the score interval at `level` (0..1, two-sided) of the difference of two paired proportions, first less second: the
/// differences that [`equivalence_of_paired_proportions`] does not reject.
///
/// It has a width also where no pair differs. Undefined (`None`): no pairs, more discordant pairs than pairs, a level outside 0..1.
///
/// Source: Tango 1998, section 3. Tests agree with a numerical maximum of the likelihood by scipy 1.17.
#[must_use]
pub fn paired_proportions_interval(only_first: u64, only_second: u64, n: u64, level: f64) -> Option<(f64, f64)> {
    if n == 0 || only_first.checked_add(only_second)? > n || !(level > 0.0 && level < 1.0) {
        return None;
    }
    let (b, c, n) = (only_first as f64, only_second as f64, n as f64);
    let (estimate, z) = ((b - c) / n, normal_quantile(0.5 * (1.0 + level)));
    // The score falls as the difference supposed grows.
    let end = |target: f64, mut low: f64, mut high: f64| {
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if paired_score(b, c, n, middle) > target {
                low = middle;
            } else {
                high = middle;
            }
        }
        f64::midpoint(low, high)
    };
    Some((end(z, -1.0, estimate), end(-z, estimate, 1.0)))
}

/// Returns the two one-sided tests that the difference of two independent proportions, first less second, lies within
/// `margin_low..margin_high`.
///
/// Counts need not be whole: with clusters give effective sample sizes. Undefined (`None`): no trials, more successes than trials, a
/// number that is negative or not finite, margins that are not ascending within −1..1.
///
/// Source: Schuirmann 1987; Agresti & Caffo 2000 for the variance (one success and one failure added to either). Agrees with
/// statsmodels 0.15 `tost_proportions_2indep(method="agresti-caffo")`.
#[must_use]
pub fn equivalence_of_proportions(
    first: (f64, f64),
    second: (f64, f64),
    margin_low: f64,
    margin_high: f64,
) -> Option<Equivalence> {
    let is_count =
        |(successes, trials): (f64, f64)| trials > 0.0 && trials.is_finite() && successes >= 0.0 && successes <= trials;
    let are_margins = margin_low > -1.0 && margin_low < margin_high && margin_high < 1.0;
    if !is_count(first) || !is_count(second) || !are_margins {
        return None;
    }
    let adjusted = |(successes, trials): (f64, f64)| {
        let p = (successes + 1.0) / (trials + 2.0);
        (p, p * (1.0 - p) / (trials + 2.0))
    };
    let ((p, v), (q, w)) = (adjusted(first), adjusted(second));
    let (difference, standard_error) = (p - q, (v + w).sqrt());
    Some(one_sided(
        normal_cdf((margin_low - difference) / standard_error),
        normal_cdf((difference - margin_high) / standard_error),
    ))
}

fn one_sided(p_above_low: f64, p_below_high: f64) -> Equivalence {
    Equivalence { p_above_low, p_below_high, p_value: p_above_low.max(p_below_high) }
}

/// Returns p values adjusted so that any false rejection among them has at most the nominal probability. Holm 1979.
///
/// NaN stays NaN and does not count as a comparison. The order is that of the input.
#[must_use]
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let order = ascending(p_values);
    let mut adjusted = vec![f64::NAN; p_values.len()];
    let mut largest: f64 = 0.0;
    for (rank, &i) in order.iter().enumerate() {
        largest = largest.max(p_values[i] * (order.len() - rank) as f64).min(1.0);
        adjusted[i] = largest;
    }
    adjusted
}

/// Returns p values adjusted so that at most the nominal share of rejections is false. Benjamini & Hochberg 1995.
///
/// For independent or positively dependent tests. NaN stays NaN and does not count as a comparison. The order is that of
/// the input.
#[must_use]
pub fn benjamini_hochberg(p_values: &[f64]) -> Vec<f64> {
    benjamini_hochberg_with(p_values, 1.0)
}

fn benjamini_hochberg_with(p_values: &[f64], factor: f64) -> Vec<f64> {
    let order = ascending(p_values);
    let mut adjusted = vec![f64::NAN; p_values.len()];
    let mut smallest: f64 = 1.0;
    for (rank, &i) in order.iter().enumerate().rev() {
        smallest = smallest.min(p_values[i] * order.len() as f64 * factor / (rank + 1) as f64);
        adjusted[i] = smallest;
    }
    adjusted
}

/// Returns p values adjusted so that at most the nominal share of rejections is false, whatever the tests' dependence. Benjamini &
/// Yekutieli 2001: Benjamini and Hochberg's times 1 + 1/2 + … + 1/m.
///
/// NaN stays NaN and does not count as a comparison. The order is that of the input.
#[must_use]
pub fn benjamini_yekutieli(p_values: &[f64]) -> Vec<f64> {
    let n = p_values.iter().filter(|p| !p.is_nan()).count();
    let harmonic: f64 = (1..=n).map(|rank| 1.0 / rank as f64).sum();
    benjamini_hochberg_with(p_values, harmonic)
}

fn ascending(p_values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p_values.len()).filter(|&i| !p_values[i].is_nan()).collect();
    order.sort_by(|&i, &j| p_values[i].total_cmp(&p_values[j]));
    order
}
