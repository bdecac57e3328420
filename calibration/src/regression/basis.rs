//! A design made orthonormal, around its means and on its own scales.

use super::Design;
use super::symmetric::Square;

/// A column whose part that the columns before it do not explain is smaller than this, relative to it, is explained by them.
const ALIASED: f64 = 1e-9;
/// What varies less than this, relative to its size, is constant.
const CONSTANT: f64 = 1e-12;
/// The most columns.
const MOST_COLUMNS: usize = 32;

/// The design around its means and on its own scales, made orthonormal under the weights: Σ w q q' = I.
pub(super) struct Basis<'a> {
    pub(super) n_rows: usize,
    pub(super) weights: Option<&'a [f64]>,
    /// Rows × columns kept, the intercept first.
    pub(super) q: Vec<f64>,
    pub(super) n_kept: usize,
    /// Rows × columns kept: each column of the design as a combination of the orthonormal ones (upper triangular), by column.
    pub(super) r: Vec<Vec<f64>>,
    /// The design's column of each column kept but the intercept.
    pub(super) kept: Vec<usize>,
    pub(super) n_columns: usize,
    pub(super) means: Vec<f64>,
    pub(super) scales: Vec<f64>,
    pub(super) outcomes: Vec<f64>,
    pub(super) outcome_mean: f64,
    pub(super) outcome_scale: f64,
    /// Σ w² q q'.
    pub(super) squares: Square,
}

impl<'a> Basis<'a> {
    pub(super) fn new(design: &Design<'a>) -> Option<Self> {
        let n_rows = design.outcomes.len();
        let fits = design.columns.iter().all(|column| column.len() == n_rows)
            && design.weights.is_none_or(|weights| weights.len() == n_rows)
            && design.clusters.is_none_or(|clusters| clusters.len() == n_rows);
        let is_finite = design.outcomes.iter().chain(design.columns.iter().flatten()).all(|value| value.is_finite());
        let is_weighted_well =
            design.weights.is_none_or(|weights| weights.iter().all(|weight| weight.is_finite() && *weight > 0.0));
        if n_rows == 0 || design.columns.len() > MOST_COLUMNS || !fits || !is_finite || !is_weighted_well {
            return None;
        }
        let weight = |row: usize| design.weights.map_or(1.0, |weights| weights[row]);
        let total: f64 = (0..n_rows).map(weight).sum();
        let dot = |a: &[f64], b: &[f64]| (0..n_rows).map(|row| weight(row) * a[row] * b[row]).sum::<f64>();
        // The mean is taken twice, so that a large one loses nothing.
        let standard = |values: &[f64]| {
            let mean = |shift: f64| (0..n_rows).map(|row| weight(row) * (values[row] - shift)).sum::<f64>() / total;
            let first = mean(0.0);
            let centre = first + mean(first);
            let most = values.iter().fold(0.0_f64, |most, value| most.max((value - centre).abs()));
            let is_constant = most <= CONSTANT * centre.abs();
            let scale = if is_constant || most == 0.0 { 1.0 } else { most };
            let scaled = values.iter().map(|value| if is_constant { 0.0 } else { (value - centre) / scale }).collect();
            (centre, scale, scaled)
        };
        let (outcome_mean, outcome_scale, outcomes) = standard(design.outcomes);
        let mut columns = vec![vec![1.0 / total.sqrt(); n_rows]];
        // The intercept as a column is its orthonormal one times the root of the total weight.
        let mut r = vec![vec![total.sqrt()]];
        let (mut kept, mut means, mut scales) = (Vec::new(), Vec::new(), Vec::new());
        for (idx, column) in design.columns.iter().enumerate() {
            let (mean, scale, mut left): (f64, f64, Vec<f64>) = standard(column);
            let norm = dot(&left, &left).sqrt();
            let mut parts = vec![0.0; columns.len()];
            // Twice is enough (Giraud, Langou & Rozložník 2005).
            for _ in 0..2 {
                for (part, known) in parts.iter_mut().zip(&columns) {
                    let share = dot(known, &left);
                    *part += share;
                    left.iter_mut().zip(known).for_each(|(left, known)| *left -= share * known);
                }
            }
            let own = dot(&left, &left).sqrt();
            if norm == 0.0 || own <= ALIASED * norm {
                continue;
            }
            for left in &mut left {
                *left /= own;
            }
            parts.push(own);
            columns.push(left);
            r.push(parts);
            kept.push(idx);
            means.push(mean);
            scales.push(scale);
        }
        let n_kept = columns.len();
        let mut q = vec![0.0; n_rows * n_kept];
        for (idx, column) in columns.iter().enumerate() {
            column.iter().enumerate().for_each(|(row, value)| q[row * n_kept + idx] = *value);
        }
        let mut squares = Square::identity(n_kept);
        if design.weights.is_some() {
            squares = Square::zero(n_kept);
            for row in 0..n_rows {
                squares.add_outer(&q[row * n_kept..(row + 1) * n_kept], weight(row) * weight(row));
            }
        }
        Some(Self {
            n_rows,
            weights: design.weights,
            q,
            n_kept,
            r,
            kept,
            n_columns: design.columns.len(),
            means,
            scales,
            outcomes,
            outcome_mean,
            outcome_scale,
            squares,
        })
    }

    pub(super) fn row(&self, row: usize) -> &[f64] {
        &self.q[row * self.n_kept..(row + 1) * self.n_kept]
    }

    pub(super) fn weight(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[row])
    }

    /// Returns the coefficients of the orthonormal columns.
    pub(super) fn theta(&self) -> Vec<f64> {
        let mut theta = vec![0.0; self.n_kept];
        for row in 0..self.n_rows {
            let of = self.weight(row) * self.outcomes[row];
            theta.iter_mut().zip(self.row(row)).for_each(|(sum, value)| *sum += of * value);
        }
        theta
    }

    pub(super) fn residual(&self, row: usize, theta: &[f64]) -> f64 {
        self.outcomes[row] - self.row(row).iter().zip(theta).map(|(value, of)| value * of).sum::<f64>()
    }

    /// Returns the products, with their weights, of the last column and of what the others leave of the outcome.
    pub(super) fn last_scores(&self, theta: &[f64]) -> Vec<f64> {
        let last = self.n_kept - 1;
        let score = |row: usize| {
            let q = self.row(row)[last];
            self.weight(row) * q * (self.residual(row, theta) + theta[last] * q)
        };
        (0..self.n_rows).map(score).collect()
    }

    /// Returns what makes the design's coefficients of the orthonormal ones: a row of weights for the intercept and each column kept.
    pub(super) fn contrasts(&self) -> Vec<Vec<f64>> {
        let p = self.n_kept;
        // The inverse of R, column by column, by substitution from the last row up.
        let mut inverse = vec![vec![0.0; p]; p];
        #[expect(clippy::needless_range_loop, reason = "the indices are those of the formula")]
        for target in 0..p {
            for row in (0..=target).rev() {
                let known: f64 = (row + 1..=target).map(|idx| self.r[idx][row] * inverse[idx][target]).sum();
                let unit = if row == target { 1.0 } else { 0.0 };
                inverse[row][target] = (unit - known) / self.r[row][row];
            }
        }
        for (row, scale) in inverse.iter_mut().skip(1).zip(&self.scales) {
            for value in row.iter_mut() {
                *value *= self.outcome_scale / scale;
            }
        }
        for value in &mut inverse[0] {
            *value *= self.outcome_scale;
        }
        // At 0 of every column, not at its mean.
        let (first, others) = inverse.split_at_mut(1);
        for (row, mean) in others.iter().zip(&self.means) {
            first[0].iter_mut().zip(row).for_each(|(sum, value)| *sum -= mean * value);
        }
        inverse
    }
}
