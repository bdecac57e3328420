//! Krippendorff's alpha, with the nominal, ordinal, interval and ratio metrics.
//!
//! Alpha is a function of the *coincidence matrix*, to which each unit adds its own part: the matrices of clusters can
//! be added and subtracted, which makes jackknife and bootstrap cheap. For the interval metric four sums do the same
//! ([`IntervalTally`]), whatever the number of distinct values.
//!
//! Two kinds of pairs are offered and never mixed: all pairs of a unit's values ([`add_coincidences`]), and pairs of
//! values of *different* judges only ([`add_coincidences_between`]), for logs in which judges repeat themselves.
//!
//! Source: Krippendorff 1970, "Estimating the reliability, systematic error and random error of interval data";
//! Krippendorff 2011, "Computing Krippendorff's alpha-reliability". Tests agree with the Python package krippendorff 0.9.

/// How far apart two values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// 1 for different values.
    Nominal,
    /// By the number of ratings between them: the squared difference of their midranks.
    Ordinal,
    /// (c − k)².
    Interval,
    /// ((c − k)/(c + k))², for values that are not negative.
    Ratio,
}

/// Adds one unit's coincidences to `matrix`: each ordered pair of its values counts 1/(n − 1).
///
/// `unit_counts` holds how often the unit received each value; `matrix` is row-major, `unit_counts.len()` squared.
/// A unit with fewer than two values has no pairs and adds nothing. Nothing is added either if `matrix` has another size.
pub fn add_coincidences(unit_counts: &[u32], matrix: &mut [f64]) {
    let n_values = unit_counts.len();
    let n_ratings: u64 = unit_counts.iter().map(|&count| u64::from(count)).sum();
    if n_ratings < 2 || matrix.len() != n_values * n_values {
        return;
    }
    let weight = 1.0 / (n_ratings - 1) as f64;
    for (row_idx, &row_count) in unit_counts.iter().enumerate() {
        if row_count == 0 {
            continue;
        }
        let row = &mut matrix[row_idx * n_values..(row_idx + 1) * n_values];
        for (column_idx, &column_count) in unit_counts.iter().enumerate() {
            let others = if column_idx == row_idx { column_count - 1 } else { column_count };
            if others > 0 {
                row[column_idx] += f64::from(row_count) * f64::from(others) * weight;
            }
        }
    }
}

/// Adds one unit's coincidences of *different* judges to `matrix`.
///
/// `judge_counts` is judges × values, row-major: how often each judge gave the unit each value. The part added is the
/// expectation of [`add_coincidences`] when one of each judge's answers is drawn at random, so a judge that repeats
/// itself more often weighs no more, and with one answer a judge it is [`add_coincidences`] itself. A unit answered by
/// fewer than two judges adds nothing; nor is anything added when the sizes do not fit.
pub fn add_coincidences_between(judge_counts: &[u32], n_values: usize, matrix: &mut [f64]) {
    if n_values == 0 || !judge_counts.len().is_multiple_of(n_values) || matrix.len() != n_values * n_values {
        return;
    }
    let mut shares_of_all = vec![0.0; n_values];
    let mut judges: Vec<Vec<(usize, f64)>> = Vec::new();
    for counts in judge_counts.chunks_exact(n_values) {
        let n_answers: u64 = counts.iter().map(|&count| u64::from(count)).sum();
        if n_answers == 0 {
            continue;
        }
        let shares: Vec<(usize, f64)> = counts
            .iter()
            .enumerate()
            .filter(|&(_, &count)| count > 0)
            .map(|(value_idx, &count)| (value_idx, f64::from(count) / n_answers as f64))
            .collect();
        for &(value_idx, share) in &shares {
            shares_of_all[value_idx] += share;
        }
        judges.push(shares);
    }
    if judges.len() < 2 {
        return;
    }
    let weight = 1.0 / (judges.len() - 1) as f64;
    for shares in &judges {
        for &(row_idx, share) in shares {
            let row = &mut matrix[row_idx * n_values..(row_idx + 1) * n_values];
            for (cell, &all) in row.iter_mut().zip(&shares_of_all) {
                *cell += share * all * weight;
            }
            for &(column_idx, own) in shares {
                row[column_idx] -= share * own * weight;
            }
        }
    }
}

/// Returns the coincidence matrix of `counts`, units × values, row-major: `n_values` squared, row-major.
///
/// Empty when `n_values` is 0 or `counts` is not a whole number of rows.
///
/// Cost: units × values², less where most counts are 0.
#[must_use]
pub fn coincidences(counts: &[u32], n_values: usize) -> Vec<f64> {
    if n_values == 0 || !counts.len().is_multiple_of(n_values) {
        return Vec::new();
    }
    let mut matrix = vec![0.0; n_values * n_values];
    for unit_counts in counts.chunks_exact(n_values) {
        add_coincidences(unit_counts, &mut matrix);
    }
    matrix
}

/// Returns alpha from counts, units × values, row-major; -1..=1 but for tiny samples.
///
/// `values` are the distinct values, ascending (for the nominal metric only their number matters).
/// Undefined (`None`) as in [`alpha_from_coincidences`].
#[must_use]
pub fn krippendorff_alpha(counts: &[u32], values: &[f64], metric: Metric) -> Option<f64> {
    alpha_from_coincidences(&coincidences(counts, values.len()), values, metric)
}

/// Returns alpha = 1 − observed/expected disagreement, from a coincidence matrix (row-major).
///
/// Undefined (`None`): no pairs; no expected disagreement (all values equal); a matrix that is not `values.len()`
/// squared; values that are not finite or not ascending; a negative value under the ratio metric.
///
/// Source: Krippendorff 2011, section C. Ordinal distances are taken from this matrix's own margins.
///
/// Cost: values².
#[must_use]
pub fn alpha_from_coincidences(matrix: &[f64], values: &[f64], metric: Metric) -> Option<f64> {
    let n_values = values.len();
    if n_values == 0 || matrix.len() != n_values * n_values {
        return None;
    }
    if metric != Metric::Nominal {
        let is_ascending = values.iter().all(|value| value.is_finite()) && values.is_sorted();
        if !is_ascending || (metric == Metric::Ratio && values[0] < 0.0) {
            return None;
        }
    }
    let margins: Vec<f64> = matrix.chunks_exact(n_values).map(|row| row.iter().sum()).collect();
    let n: f64 = margins.iter().sum();
    // Mass at or below each value: the ordinal metric counts the ratings between two values.
    let mut below = 0.0;
    let ranks: Vec<f64> = margins
        .iter()
        .map(|margin| {
            below += margin;
            below - 0.5 * margin
        })
        .collect();
    let distance = |c: usize, k: usize| match metric {
        Metric::Nominal => 1.0,
        Metric::Ordinal => (ranks[c] - ranks[k]).powi(2),
        Metric::Interval => (values[c] - values[k]).powi(2),
        Metric::Ratio => {
            let sum = values[c] + values[k];
            if sum > 0.0 { ((values[c] - values[k]) / sum).powi(2) } else { 0.0 }
        }
    };
    let mut observed = 0.0;
    let mut expected = 0.0;
    for c in 0..n_values {
        for k in c + 1..n_values {
            let distance = distance(c, k);
            observed += 0.5 * (matrix[c * n_values + k] + matrix[k * n_values + c]) * distance;
            expected += margins[c] * margins[k] * distance;
        }
    }
    // `n` is at least 2 as soon as one unit has a pair; subtracting matrices may leave crumbs of rounding.
    if n.is_nan() || n < 1.5 || expected.is_nan() || expected <= 0.0 {
        return None;
    }
    Some(1.0 - (n - 1.0) * observed / expected)
}

/// What the interval metric needs of a set of units; tallies add and subtract.
///
/// The sums lose digits when values are far from 0 compared with their spread: subtract a common centre first (alpha
/// does not depend on it).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct IntervalTally {
    /// Values that have a partner in their unit.
    pub n: f64,
    /// Half of the units' disagreement: the sum over units of (n Σx² − (Σx)²)/(n − 1).
    pub disagreement: f64,
    /// Σx of the values counted in `n`.
    pub sum: f64,
    /// Σx² of the values counted in `n`.
    pub sum_of_squares: f64,
}

impl IntervalTally {
    /// Returns the tally of one unit with `n` values, their sum and their sum of squares. All zero for fewer than two values.
    #[must_use]
    pub fn of_unit(n: u32, sum: f64, sum_of_squares: f64) -> Self {
        if n < 2 {
            return Self::default();
        }
        let n = f64::from(n);
        let disagreement = (n * sum_of_squares - sum * sum).max(0.0) / (n - 1.0);
        Self { n, disagreement, sum, sum_of_squares }
    }

    /// Returns the tally of one unit for pairs of different judges only, from each judge's number of answers, their sum
    /// and their sum of squares. All zero for fewer than two judges with an answer.
    ///
    /// Like [`add_coincidences_between`], the expectation when one of each judge's answers is drawn.
    #[must_use]
    pub fn of_unit_between(judges: &[(u32, f64, f64)]) -> Self {
        let mut n_judges = 0.0;
        let (mut means, mut squared_means, mut mean_squares) = (0.0, 0.0, 0.0);
        for &(n, sum, sum_of_squares) in judges.iter().filter(|judge| judge.0 > 0) {
            let n = f64::from(n);
            n_judges += 1.0;
            means += sum / n;
            squared_means += (sum / n).powi(2);
            mean_squares += sum_of_squares / n;
        }
        if n_judges < 2.0 {
            return Self::default();
        }
        let products = (means * means - squared_means) / (n_judges - 1.0);
        let disagreement = (mean_squares - products).max(0.0);
        Self { n: n_judges, disagreement, sum: means, sum_of_squares: mean_squares }
    }

    /// Returns the sum of two tallies.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            n: self.n + other.n,
            disagreement: self.disagreement + other.disagreement,
            sum: self.sum + other.sum,
            sum_of_squares: self.sum_of_squares + other.sum_of_squares,
        }
    }

    /// Returns what is left of this tally without `other`.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self {
            n: self.n - other.n,
            disagreement: self.disagreement - other.disagreement,
            sum: self.sum - other.sum,
            sum_of_squares: self.sum_of_squares - other.sum_of_squares,
        }
    }

    /// Returns the tally as four numbers, for [`crate::bootstrap`].
    #[must_use]
    pub fn to_array(self) -> [f64; 4] {
        [self.n, self.disagreement, self.sum, self.sum_of_squares]
    }

    /// Returns the tally of four numbers as given by [`Self::to_array`], or of their sums; `None` for another length.
    #[must_use]
    pub fn from_slice(tally: &[f64]) -> Option<Self> {
        let &[n, disagreement, sum, sum_of_squares] = tally else { return None };
        Some(Self { n, disagreement, sum, sum_of_squares })
    }

    /// Returns interval alpha. Undefined (`None`) without pairs or without variance.
    #[must_use]
    pub fn alpha(self) -> Option<f64> {
        let expected = self.sum_of_squares - self.sum * self.sum / self.n;
        // A variance within the rounding of its parts is no variance.
        let is_defined = self.n > 1.5 && expected > self.sum_of_squares * self.n * 4.0 * f64::EPSILON;
        is_defined.then(|| 1.0 - self.disagreement * (self.n - 1.0) / self.n / expected)
    }
}
