//! Distribution functions and quantiles: normal, beta, Student t, F and chi-squared.
//!
//! statrs supplies `ln_gamma` and a start for the normal quantile. Its error function is right to only 1e-10, and its
//! incomplete beta and gamma functions stop after a fixed number of terms and take differences of large `ln_gamma`
//! values, which costs all digits for parameters from about 1e5 on. So these are computed here: continued fractions
//! (Didonato & Morris 1992; Press et al. 2007, 6.2) behind saddle-point prefactors that do not cancel (Loader 2000, "Fast
//! and accurate computation of binomial probabilities"). Quantiles solve these by guarded Newton steps on the logarithms
//! of the tail and of its argument.
//!
//! Relative error is at most 1e-9 for beta parameters from 1e-3 to 1e7 and degrees of freedom up to 1e6, in either
//! tail. The golden values are from scipy and mpmath. Arguments outside a function's domain, and NaN, give NaN; nothing panics.
//!
//! Cost: of the order of the square root of the larger parameter.

use std::f64::consts::{LN_2, PI, SQRT_2};

use statrs::function::erf::erfc_inv;
use statrs::function::gamma::ln_gamma;

/// Degrees of freedom from which Student's t is taken to be normal: their
/// probabilities differ by less than 1e-10 there.
const T_IS_NORMAL_FROM: f64 = 1e10;

/// Terms after which a continued fraction or series is cut; enough for parameters of 1e10.
const MAX_TERMS: u32 = 1_000_000;

/// Newton steps or bisections after which a quantile is returned as it is; doubles need about 60 bisections.
const MAX_STEPS: u32 = 200;

/// Returns the probability that a standard normal variable is at most `x`.
#[must_use]
pub fn normal_cdf(x: f64) -> f64 {
    // erfc from the incomplete gamma function of shape ½: x is squared, so either tail keeps its digits.
    if x.is_nan() {
        return f64::NAN;
    }
    let (within, beyond) = gamma_tails(0.5 * x * x, 0.5);
    if x <= 0.0 { 0.5 * beyond } else { 0.5 + 0.5 * within }
}

/// Returns the `x` that a standard normal variable does not exceed with probability `p`.
///
/// `p` is 0..=1; 0 and 1 give the infinities.
#[must_use]
pub fn normal_quantile(p: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    if p <= 0.0 {
        return f64::NEG_INFINITY;
    }
    if p >= 1.0 {
        return f64::INFINITY;
    }
    // The upper half is mirrored with an exact 1 − p; the lower tail keeps its digits.
    let (tail, sign) = if p <= 0.5 { (p, 1.0) } else { (1.0 - p, -1.0) };
    let mut x = -SQRT_2 * erfc_inv(2.0 * tail);
    // One Halley step, in units of the tail itself so that 1e-300 is as good as .3.
    let density_over_tail = (-0.5 * x * x - tail.ln()).exp() / (2.0 * PI).sqrt();
    if density_over_tail.is_finite() && density_over_tail > 0.0 {
        let step = (normal_cdf(x) / tail - 1.0) / density_over_tail;
        if step.is_finite() {
            x -= step / (1.0 + 0.5 * x * step);
        }
    }
    sign * x
}

/// Returns the probability that a beta variable with shapes `a` and `b` is at most `x`: the regularised incomplete
/// beta function.
///
/// Shapes are positive and finite. Below 0 the result is 0, above 1 it is 1.
#[must_use]
pub fn beta_cdf(x: f64, a: f64, b: f64) -> f64 {
    if x.is_nan() || !is_positive(a) || !is_positive(b) {
        return f64::NAN;
    }
    beta_tails(x, 1.0 - x, a, b).0
}

/// Returns the `x` that a beta variable with shapes `a` and `b` does not exceed with probability `p`.
///
/// `p` is 0..=1; shapes are positive and finite. The quantile may be so small that it is 0, or so near 1 that it is 1.
#[must_use]
pub fn beta_quantile(p: f64, a: f64, b: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) || !is_positive(a) || !is_positive(b) {
        return f64::NAN;
    }
    beta_quantile_pair(p, 1.0 - p, a, b).0
}

/// Returns the probability that a Student t variable with `df` degrees of freedom is at most `t`.
///
/// `df` is positive, need not be whole, and may be infinite.
#[must_use]
pub fn t_cdf(t: f64, df: f64) -> f64 {
    if t.is_nan() || df.is_nan() || df <= 0.0 {
        return f64::NAN;
    }
    if df >= T_IS_NORMAL_FROM {
        return normal_cdf(t);
    }
    if t.is_infinite() {
        return if t > 0.0 { 1.0 } else { 0.0 };
    }
    // x = df/(df + t²) and 1 − x, neither from the other, so that both keep their digits.
    let ratio = t * t / df;
    let x = 1.0 / (1.0 + ratio);
    let y = if ratio.is_finite() { ratio / (1.0 + ratio) } else { 1.0 };
    let half_tail = 0.5 * beta_tails(x, y, 0.5 * df, 0.5).0;
    if t <= 0.0 { half_tail } else { 1.0 - half_tail }
}

/// Returns the `t` that a Student t variable with `df` degrees of freedom does not exceed with probability `p`.
///
/// `p` is 0..=1; 0 and 1 give the infinities. `df` is positive, need not be whole, and may be infinite.
#[must_use]
pub fn t_quantile(p: f64, df: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) || df.is_nan() || df <= 0.0 {
        return f64::NAN;
    }
    if df >= T_IS_NORMAL_FROM {
        return normal_quantile(p);
    }
    // 1 − p is exact for p in .5..=1, and so is 1 − 2p for p in .25..=.5.
    let (tail, sign) = if p <= 0.5 { (p, -1.0) } else { (1.0 - p, 1.0) };
    let (x, y) = beta_quantile_pair(2.0 * tail, 1.0 - 2.0 * tail, 0.5 * df, 0.5);
    sign * (df * (y / x)).sqrt()
}

/// Returns the probability that an F variable with `df1` and `df2` degrees of freedom is at most `f`.
///
/// Degrees of freedom are positive and finite. At or below 0 the result is 0.
#[must_use]
pub fn f_cdf(f: f64, df1: f64, df2: f64) -> f64 {
    f_tails(f, df1, df2).0
}

/// Returns the probability that an F variable with `df1` and `df2` degrees of freedom exceeds `f`, without the
/// cancellation of `1 − f_cdf`.
#[must_use]
pub fn f_upper_tail(f: f64, df1: f64, df2: f64) -> f64 {
    f_tails(f, df1, df2).1
}

fn f_tails(f: f64, df1: f64, df2: f64) -> (f64, f64) {
    if f.is_nan() || !is_positive(df1) || !is_positive(df2) {
        return (f64::NAN, f64::NAN);
    }
    if f <= 0.0 {
        return (0.0, 1.0);
    }
    let ratio = df1 / df2 * f;
    let x = if ratio.is_finite() { ratio / (1.0 + ratio) } else { 1.0 };
    beta_tails(x, 1.0 / (1.0 + ratio), 0.5 * df1, 0.5 * df2)
}

/// Returns the `f` that an F variable with `df1` and `df2` degrees of freedom does not exceed with probability `p`.
///
/// `p` is 0..=1; 1 gives infinity. Degrees of freedom are positive and finite.
#[must_use]
pub fn f_quantile(p: f64, df1: f64, df2: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) || !is_positive(df1) || !is_positive(df2) {
        return f64::NAN;
    }
    let (x, y) = beta_quantile_pair(p, 1.0 - p, 0.5 * df1, 0.5 * df2);
    if x <= 0.0 { 0.0 } else { df2 / df1 * (x / y) }
}

/// Returns the probability that a chi-squared variable with `df` degrees of freedom is at most `x`.
///
/// `df` is positive and finite. At or below 0 the result is 0.
#[must_use]
pub fn chi_squared_cdf(x: f64, df: f64) -> f64 {
    if x.is_nan() || !is_positive(df) {
        return f64::NAN;
    }
    gamma_tails(0.5 * x, 0.5 * df).0
}

/// Returns the probability that a chi-squared variable with `df` degrees of freedom exceeds `x`, without the
/// cancellation of `1 − chi_squared_cdf`.
#[must_use]
pub fn chi_squared_upper_tail(x: f64, df: f64) -> f64 {
    if x.is_nan() || !is_positive(df) {
        return f64::NAN;
    }
    gamma_tails(0.5 * x, 0.5 * df).1
}

/// Returns the `x` that a chi-squared variable with `df` degrees of freedom does not exceed with probability `p`.
///
/// `p` is 0..=1; 1 gives infinity. `df` is positive and finite.
#[must_use]
pub fn chi_squared_quantile(p: f64, df: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) || !is_positive(df) {
        return f64::NAN;
    }
    if p <= 0.0 {
        return 0.0;
    }
    if p >= 1.0 {
        return f64::INFINITY;
    }
    let a = 0.5 * df;
    // Wilson & Hilferty 1931; where it is below the small-x power law (a small, p small) the power law is right.
    let third = 1.0 / (9.0 * a);
    let cube_root = 1.0 - third + normal_quantile(p) * third.sqrt();
    let power_law = (p.ln() + ln_gamma(a + 1.0)) / a;
    let start = if cube_root > 0.3 { a.ln() + 3.0 * cube_root.ln() } else { power_law };
    let log_x = solve_log_tail(p, 1.0 - p, start, (-760.0, 710.0), |log_x| {
        let x = log_x.exp();
        let (lower, upper) = gamma_tails(x, a);
        // The density of ln x.
        (lower, upper, a * poisson_point(a, x))
    });
    2.0 * log_x.exp()
}

/// Returns the probability of exactly `k` successes in `n` trials of probability `p`. Loader 2000.
///
/// `p` is 0..=1; 0 where `k` exceeds `n`.
#[must_use]
pub fn binomial_point(k: u64, n: u64, p: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    if k > n {
        return 0.0;
    }
    if k == 0 {
        return if p >= 1.0 { f64::from(u8::from(n == 0)) } else { (n as f64 * (-p).ln_1p()).exp() };
    }
    if k == n {
        return p.powf(n as f64);
    }
    let (successes, failures) = (k as f64, (n - k) as f64);
    beta_power(p, 1.0 - p, successes, failures) * ((successes + failures) / successes / failures)
}

/// Whether a shape or degrees of freedom can be used.
fn is_positive(value: f64) -> bool {
    value > 0.0 && value.is_finite()
}

/// Returns ln Γ(x + 1) less Stirling's approximation to it: (x + ½) ln x − x + ½ ln 2π. Loader 2000.
fn stirling_error(x: f64) -> f64 {
    if x < 16.0 {
        return ln_gamma(x + 1.0) - (x + 0.5) * x.ln() + x - 0.5 * (2.0 * PI).ln();
    }
    let inverse_square = 1.0 / (x * x);
    // Stirling's series; the first term left out is below 1e-17 from 16 on.
    const COEFFICIENTS: [f64; 7] =
        [1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0, -1.0 / 1680.0, 1.0 / 1188.0, -691.0 / 360_360.0, 1.0 / 156.0];
    COEFFICIENTS.iter().rev().fold(0.0, |sum, coefficient| sum * inverse_square + coefficient) / x
}

/// Returns the deviance x ln(x/m) + m − x without cancellation where x is near m, given also x − m. Loader 2000.
fn deviance(x: f64, m: f64, difference: f64) -> f64 {
    if difference.abs() < 0.1 * (x + m) {
        let v = difference / (x + m);
        let mut sum = difference * v;
        let mut term = 2.0 * x * v;
        let v_squared = v * v;
        let mut odd = 3.0;
        loop {
            term *= v_squared;
            let next = sum + term / odd;
            if next.to_bits() == sum.to_bits() || odd > 2000.0 {
                return next;
            }
            sum = next;
            odd += 2.0;
        }
    }
    x * (x / m).ln() + m - x
}

/// Returns x^a e^−x / Γ(a + 1).
fn poisson_point(a: f64, x: f64) -> f64 {
    if x <= 0.0 || !x.is_finite() {
        return 0.0;
    }
    if a < 1e-300 * x {
        return (-x).exp();
    }
    (-stirling_error(a) - deviance(a, x, a - x)).exp() / (2.0 * PI * a).sqrt()
}

/// Returns x^a y^b / B(a, b), where y = 1 − x is given apart from x.
fn beta_power(x: f64, y: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || y <= 0.0 {
        return 0.0;
    }
    let n = a + b;
    // a − n x, in the form that keeps its digits.
    let difference = a * y - b * x;
    let exponent = stirling_error(n)
        - stirling_error(a)
        - stirling_error(b)
        - deviance(a, n * x, difference)
        - deviance(b, n * y, -difference);
    exponent.exp() * (a / n * b / (2.0 * PI)).sqrt()
}

/// Returns the two tails of the beta distribution at x, where y = 1 − x is given apart from x.
fn beta_tails(x: f64, y: f64, a: f64, b: f64) -> (f64, f64) {
    if x <= 0.0 {
        return (0.0, 1.0);
    }
    if y <= 0.0 {
        return (1.0, 0.0);
    }
    let power = beta_power(x, y, a, b);
    // The fraction converges fast on the near side of the mean.
    if x * (a + b + 2.0) < a + 1.0 {
        let lower = (power / beta_fraction(x, y, a, b)).clamp(0.0, 1.0);
        (lower, 1.0 - lower)
    } else {
        let upper = (power / beta_fraction(y, x, b, a)).clamp(0.0, 1.0);
        (1.0 - upper, upper)
    }
}

/// Returns the continued fraction of the incomplete beta function, by which [`beta_power`] is divided.
///
/// Didonato & Morris 1992, equation 9, by the modified Lentz method; a y − b x keeps its digits where n x − a would not.
fn beta_fraction(x: f64, y: f64, a: f64, b: f64) -> f64 {
    let n = a + b;
    let shift = a * y - b * x + 1.0;
    let mut fraction = nonzero(a * shift / (a + 1.0));
    let mut c = fraction;
    let mut d = 0.0;
    for term_idx in 1..MAX_TERMS {
        let m = f64::from(term_idx);
        let twice = a + 2.0 * m;
        let numerator = (a + m - 1.0) / (twice - 1.0) * ((n + m - 1.0) / (twice - 1.0)) * (m * (b - m)) * (x * x);
        let denominator = m + m * (b - m) * x / (twice - 1.0) + (a + m) * (shift + m * (1.0 + y)) / (twice + 1.0);
        d = 1.0 / nonzero(denominator + numerator * d);
        c = nonzero(denominator + numerator / c);
        let factor = c * d;
        fraction *= factor;
        if (factor - 1.0).abs() < 1e-15 {
            break;
        }
    }
    fraction
}

/// Returns the two tails of the gamma distribution with shape `a` and scale 1 at `x`.
fn gamma_tails(x: f64, a: f64) -> (f64, f64) {
    if x <= 0.0 {
        return (0.0, 1.0);
    }
    if !x.is_finite() {
        return (1.0, 0.0);
    }
    let power = poisson_point(a, x);
    if x < a + 1.0 {
        let mut term = 1.0;
        let mut sum = 1.0;
        for term_idx in 1..MAX_TERMS {
            term *= x / (a + f64::from(term_idx));
            sum += term;
            if term < sum * 1e-17 {
                break;
            }
        }
        let lower = (power * sum).clamp(0.0, 1.0);
        return (lower, 1.0 - lower);
    }
    let mut b = x + 1.0 - a;
    let mut c = 1e300;
    let mut d = 1.0 / nonzero(b);
    let mut h = d;
    for term_idx in 1..MAX_TERMS {
        let i = f64::from(term_idx);
        let numerator = -i * (i - a);
        b += 2.0;
        d = 1.0 / nonzero(numerator * d + b);
        c = nonzero(b + numerator / c);
        let factor = d * c;
        h *= factor;
        if (factor - 1.0).abs() < 1e-15 {
            break;
        }
    }
    let upper = (power * a * h).clamp(0.0, 1.0);
    (1.0 - upper, upper)
}

/// Keeps a denominator of a continued fraction off 0, as Lentz's method asks.
fn nonzero(value: f64) -> f64 {
    if value.abs() < 1e-300 { 1e-300 } else { value }
}

/// Returns the beta quantile x and 1 − x, each with its own digits. `q` = 1 − `p`.
fn beta_quantile_pair(p: f64, q: f64, a: f64, b: f64) -> (f64, f64) {
    if p <= 0.0 {
        return (0.0, 1.0);
    }
    if q <= 0.0 {
        return (1.0, 0.0);
    }
    // Solve on the side of ½ where the quantile lies: its logarithm is then well scaled.
    let (lower_half, upper_half) = beta_tails(0.5, 0.5, a, b);
    let is_below_half = if p <= 0.5 { p <= lower_half } else { q >= upper_half };
    if is_below_half {
        let x = small_beta_quantile(p, q, a, b);
        (x, 1.0 - x)
    } else {
        let y = small_beta_quantile(q, p, b, a);
        (1.0 - y, y)
    }
}

/// Returns the beta quantile where it is known to be at most ½.
fn small_beta_quantile(p: f64, q: f64, a: f64, b: f64) -> f64 {
    // ln(a B(a, b)) = ln Γ(a + 1) + ln Γ(b) − ln Γ(a + b), in the form that does not cancel.
    let log_a_beta =
        if b > 16.0 { ln_gamma(a + 1.0) - a * (a + b).ln() } else { ln_gamma(a + 1.0) + ln_gamma(b) - ln_gamma(a + b) };
    let power_law = (p.ln() + log_a_beta) / a;
    let start = if a > 1.0 && b > 1.0 {
        // Abramowitz & Stegun 26.5.22.
        let z = -normal_quantile(p);
        let lambda = (z * z - 3.0) / 6.0;
        let (inverse_a, inverse_b) = (1.0 / (2.0 * a - 1.0), 1.0 / (2.0 * b - 1.0));
        let h = 2.0 / (inverse_a + inverse_b);
        let w = if h + lambda > 0.0 {
            z * (h + lambda).sqrt() / h - (inverse_b - inverse_a) * (lambda + 5.0 / 6.0 - 2.0 / (3.0 * h))
        } else {
            f64::NAN
        };
        let log_odds = (a / b).ln() - 2.0 * w;
        if log_odds.is_finite() { log_odds - log_odds.exp().ln_1p() } else { power_law }
    } else {
        power_law
    };
    solve_log_tail(p, q, start, (-760.0, -LN_2), |log_x| {
        let x = log_x.exp();
        let y = -log_x.exp_m1();
        let (lower, upper) = beta_tails(x, y, a, b);
        (lower, upper, beta_power(x, y, a, b) / y)
    })
    .exp()
}

/// Returns the u in `bounds` at which a distribution's lower tail is `p` and its upper tail `q`.
///
/// `tails(u)` gives both tails and the density of u. Newton steps on the logarithm of the smaller tail, which is
/// nearly straight in u; a step that leaves the bracket is replaced by a bisection.
fn solve_log_tail(p: f64, q: f64, start: f64, bounds: (f64, f64), tails: impl Fn(f64) -> (f64, f64, f64)) -> f64 {
    let (mut low, mut high) = bounds;
    let mut u = if start > low && start < high { start } else { start.clamp(low, high) };
    if u.is_nan() {
        u = 0.5 * (low + high);
    }
    let mut previous_step = f64::INFINITY;
    for _ in 0..MAX_STEPS {
        let (lower, upper, density) = tails(u);
        // The residual's sign is that of u − solution; its scale is relative to the tail that is small.
        let (residual, slope) =
            if p <= q { ((lower / p).ln(), density / lower) } else { (-(upper / q).ln(), density / upper) };
        if residual > 0.0 {
            high = u;
        } else if residual < 0.0 {
            low = u;
        } else {
            return u;
        }
        let newton = u - residual / slope;
        let is_inside = newton.is_finite() && newton > low && newton < high;
        let next = if is_inside && (newton - u).abs() <= previous_step { newton } else { 0.5 * (low + high) };
        previous_step = (next - u).abs();
        u = next;
        if previous_step <= 1e-16 * u.abs().max(1.0) || high - low <= 1e-16 * u.abs().max(1.0) {
            break;
        }
    }
    u
}
