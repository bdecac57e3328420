//! Intraclass correlation: the six forms of a complete table, and the one-way form of unbalanced repeats.
//!
//! How much of the variance of scores lies between items rather than within them. A high value needs varied items as
//! much as a steady judge, so it is always to be read beside the within-item standard deviation.

use crate::distribution::{f_quantile, f_upper_tail};

/// The model behind an intraclass correlation. Shrout & Fleiss 1979, `McGraw` & Wong 1996.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IccModel {
    /// ICC(1): each item has its own raters.
    OneWay,
    /// ICC(2), ICC(A): the raters are a sample of raters; their differences in level count as disagreement.
    TwoWayRandom,
    /// ICC(3), ICC(C): differences in level between raters do not count.
    TwoWayMixed,
}

/// What is reliable: one rating, or the mean of all raters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IccUnit {
    /// One rating.
    Single,
    /// The mean of the k ratings in the table.
    Mean,
}

/// An intraclass correlation with its interval and F test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Icc {
    /// At most 1, not truncated below 0.
    pub estimate: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// F against "no variance between items"; infinite without residual variance.
    pub f: f64,
    /// Its degrees of freedom.
    pub df: (f64, f64),
    /// Its p value.
    pub p_value: f64,
}

/// Mean squares of a complete table of items × raters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanSquares {
    /// Items.
    pub n_items: usize,
    /// Raters, k.
    pub n_raters: usize,
    /// Between items: MSB, MSR.
    pub items: f64,
    /// Between raters: MSC.
    pub raters: f64,
    /// Residual of the two-way model: MSE.
    pub residual: f64,
    /// Within items: MSW.
    pub within: f64,
}

/// Returns the mean squares of a complete table, items × raters, row-major.
///
/// Undefined (`None`): fewer than two items or two raters; a ragged table; a score that is not finite.
#[must_use]
pub fn mean_squares(scores: &[f64], n_raters: usize) -> Option<MeanSquares> {
    if n_raters < 2 || !scores.len().is_multiple_of(n_raters) || scores.len() < 2 * n_raters {
        return None;
    }
    if !scores.iter().all(|score| score.is_finite()) {
        return None;
    }
    let n_items = scores.len() / n_raters;
    let (n, k) = (n_items as f64, n_raters as f64);
    // From the first score, so that equal scores differ by exactly 0.
    let first = scores[0];
    let grand_mean = scores.iter().map(|score| score - first).sum::<f64>() / (n * k);
    let mut rater_sums = vec![0.0; n_raters];
    let (mut items, mut within, mut total) = (0.0, 0.0, 0.0);
    for row in scores.chunks_exact(n_raters) {
        let row = || row.iter().map(|score| score - first);
        let mean = row().sum::<f64>() / k;
        items += k * (mean - grand_mean).powi(2);
        for (rater_sum, score) in rater_sums.iter_mut().zip(row()) {
            *rater_sum += score - grand_mean;
            within += (score - mean).powi(2);
            total += (score - grand_mean).powi(2);
        }
    }
    let raters: f64 = rater_sums.iter().map(|sum| sum * sum / n).sum();
    // Squares within the rounding of the total are none.
    let clean = |squares: f64| if squares > total * 8.0 * f64::EPSILON { squares } else { 0.0 };
    let (residual, raters, within) = (clean(within - raters), clean(raters), clean(within));
    Some(MeanSquares {
        n_items,
        n_raters,
        items: items / (n - 1.0),
        raters: raters / (k - 1.0),
        residual: residual / ((n - 1.0) * (k - 1.0)),
        within: within / (n * (k - 1.0)),
    })
}

/// Returns an intraclass correlation of a complete table with its F-based interval at `level` (0..1, two-sided).
///
/// Undefined (`None`): no variance at all, or a level outside 0..1.
///
/// Source: Shrout & Fleiss 1979, pages 423 to 426; `McGraw` & Wong 1996, tables 4 and 7 (their interval of ICC(A,1)
/// uses Satterthwaite degrees of freedom). Tests agree with pingouin 0.6 (estimates) and with the F formulas.
#[must_use]
pub fn icc(squares: &MeanSquares, model: IccModel, unit: IccUnit, level: f64) -> Option<Icc> {
    if !(level > 0.0 && level < 1.0) {
        return None;
    }
    let (n, k) = (squares.n_items as f64, squares.n_raters as f64);
    let upper = 0.5 * (1.0 + level);
    let between = squares.items;
    let (error, df_error) = match model {
        IccModel::OneWay => (squares.within, n * (k - 1.0)),
        IccModel::TwoWayRandom | IccModel::TwoWayMixed => (squares.residual, (n - 1.0) * (k - 1.0)),
    };
    let df = (n - 1.0, df_error);
    let level_difference = match model {
        IccModel::TwoWayRandom => k * (squares.raters - error) / n,
        IccModel::OneWay | IccModel::TwoWayMixed => 0.0,
    };
    let single = ratio(between - error, between + (k - 1.0) * error + level_difference)?;
    let (low, high) = if model == IccModel::TwoWayRandom {
        // Satterthwaite, multiplied through by 1 − ρ so that ρ = 1 is no special case.
        let a = k * single / n;
        let b = (1.0 - single) + k * single * (n - 1.0) / n;
        let (from_raters, from_error) = (a * squares.raters, b * error);
        let spread = from_raters.powi(2) / (k - 1.0) + from_error.powi(2) / df_error;
        let df_levels = if spread > 0.0 { (from_raters + from_error).powi(2) / spread } else { df_error };
        let levels = k * squares.raters + (k * n - k - n) * error;
        let (q_low, q_high) = (f_quantile(upper, df.0, df_levels), f_quantile(upper, df_levels, df.0));
        (
            ratio(n * (between - q_low * error), q_low * levels + n * between)?,
            ratio(n * (q_high * between - error), levels + n * q_high * between)?,
        )
    } else {
        let (q_low, q_high) = (f_quantile(upper, df.0, df.1), f_quantile(upper, df.1, df.0));
        (
            ratio(between - q_low * error, between + (k - 1.0) * q_low * error)?,
            ratio(q_high * between - error, q_high * between + (k - 1.0) * error)?,
        )
    };
    let f = if error > 0.0 { between / error } else { f64::INFINITY };
    let p_value = if error > 0.0 { f_upper_tail(f, df.0, df.1) } else { 0.0 };
    match unit {
        IccUnit::Single => Some(Icc { estimate: single, low, high, f, df, p_value }),
        IccUnit::Mean => {
            let step_up = |rho: f64| icc_mean(rho, k).unwrap_or(f64::NEG_INFINITY);
            Some(Icc { estimate: step_up(single), low: step_up(low), high: step_up(high), f, df, p_value })
        }
    }
}

/// Returns numerator / denominator, of which rounding may not make more than 1; `None` where the denominator is not positive.
fn ratio(numerator: f64, denominator: f64) -> Option<f64> {
    (denominator > 0.0).then(|| (numerator / denominator).min(1.0))
}

/// Returns the reliability of the mean of `k` ratings, kρ/(1 + (k − 1)ρ), from that of one. Spearman 1910; Brown 1910.
///
/// Undefined (`None`) where ρ ≤ −1/(k − 1), or k is not positive.
#[must_use]
pub fn icc_mean(rho: f64, k: f64) -> Option<f64> {
    if k.is_nan() || k <= 0.0 || rho.is_nan() {
        return None;
    }
    ratio(k * rho, 1.0 + (k - 1.0) * rho)
}

/// What the one-way model needs of a set of items with any number of scores each; tallies add and subtract.
///
/// The sums lose digits when scores are far from 0 compared with their spread: subtract a common centre first.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OneWayTally {
    /// Items with a score, m.
    pub n_items: f64,
    /// Scores, N = Σnᵢ.
    pub n: f64,
    /// Σnᵢ².
    pub n_squared: f64,
    /// Σ1/nᵢ.
    pub inverse_n: f64,
    /// Σ of all scores.
    pub sum: f64,
    /// Σ (sum of the item)²/nᵢ.
    pub squared_sums: f64,
    /// Σ of squared deviations from the item's mean.
    pub within: f64,
    /// Σ of item means.
    pub means: f64,
    /// Σ of squared item means.
    pub squared_means: f64,
}

/// The one-way analysis of variance of unbalanced repeats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OneWay {
    /// Between-item mean square, MSB.
    pub between: f64,
    /// Within-item mean square, MSW.
    pub within: f64,
    /// The size that stands for all items, n₀ = (N − Σnᵢ²/N)/(m − 1).
    pub n0: f64,
    /// (MSB − MSW)/(MSB + (n₀ − 1)MSW), not truncated.
    pub rho: f64,
}

impl OneWayTally {
    /// Returns the tally of one item with `n` scores, their sum and their sum of squares. All zero when `n` is 0.
    #[must_use]
    pub fn of_item(n: u32, sum: f64, sum_of_squares: f64) -> Self {
        if n == 0 {
            return Self::default();
        }
        let n = f64::from(n);
        let mean = sum / n;
        Self {
            n_items: 1.0,
            n,
            n_squared: n * n,
            inverse_n: 1.0 / n,
            sum,
            squared_sums: sum * mean,
            within: (sum_of_squares - sum * mean).max(0.0),
            means: mean,
            squared_means: mean * mean,
        }
    }

    /// Returns the sum of two tallies.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        self.combined(other, 1.0)
    }

    /// Returns what is left of this tally without `other`.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        self.combined(other, -1.0)
    }

    fn combined(self, other: Self, sign: f64) -> Self {
        Self {
            n_items: self.n_items + sign * other.n_items,
            n: self.n + sign * other.n,
            n_squared: self.n_squared + sign * other.n_squared,
            inverse_n: self.inverse_n + sign * other.inverse_n,
            sum: self.sum + sign * other.sum,
            squared_sums: self.squared_sums + sign * other.squared_sums,
            within: self.within + sign * other.within,
            means: self.means + sign * other.means,
            squared_means: self.squared_means + sign * other.squared_means,
        }
    }

    /// Returns the tally as nine numbers, for [`crate::bootstrap`].
    #[must_use]
    pub fn to_array(self) -> [f64; 9] {
        [
            self.n_items,
            self.n,
            self.n_squared,
            self.inverse_n,
            self.sum,
            self.squared_sums,
            self.within,
            self.means,
            self.squared_means,
        ]
    }

    /// Returns the tally of nine numbers as given by [`Self::to_array`], or of their sums; `None` for another length.
    #[must_use]
    pub fn from_slice(tally: &[f64]) -> Option<Self> {
        let &[n_items, n, n_squared, inverse_n, sum, squared_sums, within, means, squared_means] = tally else {
            return None;
        };
        Some(Self { n_items, n, n_squared, inverse_n, sum, squared_sums, within, means, squared_means })
    }

    /// Returns the one-way analysis of variance.
    ///
    /// Undefined (`None`): fewer than two items; no item with two scores; no variance at all (MSB = MSW = 0).
    ///
    /// Source: Donner 1986, "A review of inference procedures for the intraclass correlation coefficient", section 2.
    #[must_use]
    pub fn one_way(self) -> Option<OneWay> {
        if self.n_items < 1.5 || self.n - self.n_items < 0.5 {
            return None;
        }
        let rounding = 4.0 * f64::EPSILON * self.n * self.squared_sums.abs();
        let clean = |squares: f64| if squares > rounding { squares } else { 0.0 };
        let between = clean(self.squared_sums - self.sum * self.sum / self.n) / (self.n_items - 1.0);
        let within = clean(self.within) / (self.n - self.n_items);
        let n0 = (self.n - self.n_squared / self.n) / (self.n_items - 1.0);
        let rho = ratio(between - within, between + (n0 - 1.0) * within)?;
        Some(OneWay { between, within, n0, rho })
    }

    /// Returns the interval of Thomas & Hultquist 1978 for the intraclass correlation at `level` (0..1, two-sided).
    ///
    /// It rests on the unweighted variance of item means, with the harmonic mean size; exact when sizes are equal.
    /// Undefined (`None`) as in [`Self::one_way`], or for a level outside 0..1.
    ///
    /// Source: Thomas & Hultquist 1978, "Interval estimation for the unbalanced case of the one-way random effects
    /// model", equation 2.8.
    #[must_use]
    pub fn thomas_hultquist(self, level: f64) -> Option<(f64, f64)> {
        if !(level > 0.0 && level < 1.0) {
            return None;
        }
        let within = self.one_way()?.within;
        let (df_between, df_within) = (self.n_items - 1.0, self.n - self.n_items);
        let harmonic_mean = self.n_items / self.inverse_n;
        let squares = (self.squared_means - self.means * self.means / self.n_items).max(0.0);
        let between = harmonic_mean * squares / df_between;
        let bound = |p: f64| {
            let scaled = between / f_quantile(p, df_between, df_within);
            ratio(scaled - within, scaled + (harmonic_mean - 1.0) * within)
        };
        Some((bound(0.5 * (1.0 + level))?, bound(0.5 * (1.0 - level))?))
    }
}
