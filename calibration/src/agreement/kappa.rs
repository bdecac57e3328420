//! Agreement of two raters from their table: Cohen's kappa (plain and weighted), Scott's pi, Gwet's AC1 and AC2, and
//! Brennan and Prediger's coefficient.
//!
//! A table is square and row-major, rows the first rater's categories, columns the second's; cells are any
//! nonnegative weights, so that items with several judgements can count once. All coefficients are
//! (observed − expected)/(1 − expected) of the weighted agreement. None of them should be read without both margins:
//! at fixed error rates kappa falls with prevalence.
//!
//! Asymptotic standard errors hold for tables of independent counts. For repeated or clustered judgements sum
//! [`cell_influence`] over each cluster instead.

/// How much a pair of categories agrees: 1 on the diagonal, less off it.
#[derive(Clone, Debug, PartialEq)]
pub enum Weighting {
    /// 0 off the diagonal.
    Unweighted,
    /// 1 − |i − j|/(q − 1) by the categories' positions. Cohen 1968; Cicchetti & Allison 1971.
    Linear,
    /// 1 − (i − j)²/(q − 1)² by the categories' positions. Fleiss & Cohen 1973.
    Quadratic,
    /// 1 − |x − y|/(max − min) by the categories' values.
    LinearByValue(Vec<f64>),
    /// 1 − (x − y)²/(max − min)² by the categories' values.
    QuadraticByValue(Vec<f64>),
}

impl Weighting {
    /// Returns the agreement weights, `n_categories` squared, row-major, each in 0..=1.
    ///
    /// Undefined (`None`): fewer than two categories; values whose number differs, that are not finite or all equal.
    #[must_use]
    pub fn matrix(&self, n_categories: usize) -> Option<Vec<f64>> {
        if n_categories < 2 {
            return None;
        }
        let positions: Vec<f64>;
        let values = match self {
            Self::Unweighted | Self::Linear | Self::Quadratic => {
                positions = (0..n_categories).map(|category_idx| category_idx as f64).collect();
                &positions
            }
            Self::LinearByValue(values) | Self::QuadraticByValue(values) => values,
        };
        if values.len() != n_categories || !values.iter().all(|value| value.is_finite()) {
            return None;
        }
        let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let min = values.iter().copied().fold(f64::INFINITY, f64::min);
        if max <= min {
            return None;
        }
        let mut weights = Vec::with_capacity(n_categories * n_categories);
        for (row_idx, row) in values.iter().enumerate() {
            for (column_idx, column) in values.iter().enumerate() {
                let distance = (row - column).abs() / (max - min);
                weights.push(match self {
                    Self::Unweighted => f64::from(u8::from(row_idx == column_idx)),
                    Self::Linear | Self::LinearByValue(_) => 1.0 - distance,
                    Self::Quadratic | Self::QuadraticByValue(_) => 1.0 - distance * distance,
                });
            }
        }
        Some(weights)
    }
}

/// What agreement by chance is taken to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chance {
    /// Both raters draw from their own margins. Cohen 1960, 1968.
    Cohen,
    /// Both raters draw from the mean of the margins. Scott 1955.
    Scott,
    /// Chance acts on the ratings that are hard only. Gwet 2008, equations 4 to 6; AC1 unweighted, AC2 weighted.
    Gwet,
    /// Every category is equally likely. Brennan & Prediger 1981.
    BrennanPrediger,
}

/// A chance-corrected agreement with its parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kappa {
    /// (observed − expected)/(1 − expected), at most 1.
    pub kappa: f64,
    /// Observed (weighted) agreement, 0..=1.
    pub observed: f64,
    /// (Weighted) agreement expected by chance, 0..1.
    pub expected: f64,
}

/// Standard errors of a coefficient from a table of independent counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KappaStandardError {
    /// For an interval. Fleiss, Cohen & Everitt 1969, equation 8 (13 for weights).
    pub asymptotic: f64,
    /// For a test of independence. Fleiss, Cohen & Everitt 1969, equation 9 (14 for weights).
    pub under_independence: f64,
}

/// A table as shares, with its margins.
struct Shares {
    cells: Vec<f64>,
    rows: Vec<f64>,
    columns: Vec<f64>,
    total: f64,
}

impl Shares {
    fn new(table: &[f64], n_categories: usize) -> Option<Self> {
        if n_categories < 2 || table.len() != n_categories * n_categories {
            return None;
        }
        if !table.iter().all(|&cell| cell >= 0.0 && cell.is_finite()) {
            return None;
        }
        let total: f64 = table.iter().sum();
        if total <= 0.0 || !total.is_finite() {
            return None;
        }
        let cells: Vec<f64> = table.iter().map(|cell| cell / total).collect();
        let rows = cells.chunks_exact(n_categories).map(|row| row.iter().sum()).collect();
        let columns =
            (0..n_categories).map(|column_idx| cells.iter().skip(column_idx).step_by(n_categories).sum()).collect();
        Some(Self { cells, rows, columns, total })
    }
}

/// Returns the expected agreement and its derivative by each cell's share (as a function of row and column).
fn expected_agreement(shares: &Shares, weights: &[f64], chance: Chance) -> (f64, Vec<f64>) {
    let q = shares.rows.len();
    match chance {
        Chance::BrennanPrediger => {
            let expected = weights.iter().sum::<f64>() / (q * q) as f64;
            (expected, vec![0.0; q * q])
        }
        Chance::Gwet => {
            let scale = weights.iter().sum::<f64>() / (q * (q - 1)) as f64;
            let means: Vec<f64> =
                shares.rows.iter().zip(&shares.columns).map(|(row, column)| 0.5 * (row + column)).collect();
            let expected = scale * means.iter().map(|mean| mean * (1.0 - mean)).sum::<f64>();
            let slopes: Vec<f64> = means.iter().map(|mean| 0.5 * scale * (1.0 - 2.0 * mean)).collect();
            (expected, sums_of_pairs(&slopes, &slopes))
        }
        Chance::Scott => {
            let means: Vec<f64> =
                shares.rows.iter().zip(&shares.columns).map(|(row, column)| 0.5 * (row + column)).collect();
            let row_means = row_means(weights, &means);
            let expected = means.iter().zip(&row_means).map(|(mean, row_mean)| mean * row_mean).sum();
            // The weights are symmetric, so both raters' slopes are the same.
            (expected, sums_of_pairs(&row_means, &row_means))
        }
        Chance::Cohen => {
            let by_row = row_means(weights, &shares.columns);
            let by_column = row_means(weights, &shares.rows);
            let expected = shares.rows.iter().zip(&by_row).map(|(row, mean)| row * mean).sum();
            (expected, sums_of_pairs(&by_row, &by_column))
        }
    }
}

/// Returns each row's sum of weights times the margin.
fn row_means(weights: &[f64], margin: &[f64]) -> Vec<f64> {
    weights
        .chunks_exact(margin.len())
        .map(|row| row.iter().zip(margin).map(|(weight, share)| weight * share).sum())
        .collect()
}

/// Returns the sum of each pair of an `a` and a `b`, row-major.
fn sums_of_pairs(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().flat_map(|row| b.iter().map(move |column| row + column)).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Returns a chance-corrected agreement of two raters.
///
/// Undefined (`None`): fewer than two categories; a table that is not `n_categories` squared, is empty, or has a cell
/// that is negative or not finite; weights that are undefined; an expected agreement of 1 (for Cohen and Scott: both
/// raters constant and equal).
///
/// The number of categories counts for Gwet and Brennan–Prediger: give all categories that could be used, not only
/// those that were.
#[must_use]
pub fn chance_corrected(table: &[f64], n_categories: usize, chance: Chance, weighting: &Weighting) -> Option<Kappa> {
    let shares = Shares::new(table, n_categories)?;
    let weights = weighting.matrix(n_categories)?;
    let observed = dot(&shares.cells, &weights);
    let (expected, _) = expected_agreement(&shares, &weights, chance);
    corrected(observed, expected)
}

pub(super) fn corrected(observed: f64, expected: f64) -> Option<Kappa> {
    // Shares that sum to 1 do so to a few units in the last place.
    let is_defined = 1.0 - expected > 1e-14;
    is_defined.then(|| Kappa { kappa: (observed - expected) / (1.0 - expected), observed, expected })
}

/// Returns Cohen's kappa. Undefined as in [`chance_corrected`].
///
/// Source: Cohen 1960; Cohen 1968 for weights. Tests agree with scikit-learn 1.9 and statsmodels 0.15.
#[must_use]
pub fn cohen_kappa(table: &[f64], n_categories: usize, weighting: &Weighting) -> Option<Kappa> {
    chance_corrected(table, n_categories, Chance::Cohen, weighting)
}

/// Returns Scott's pi of two raters. Undefined as in [`chance_corrected`]. Source: Scott 1955.
#[must_use]
pub fn scott_pi(table: &[f64], n_categories: usize, weighting: &Weighting) -> Option<Kappa> {
    chance_corrected(table, n_categories, Chance::Scott, weighting)
}

/// Returns Gwet's AC1 of two raters. Undefined as in [`chance_corrected`]. Source: Gwet 2008.
#[must_use]
pub fn gwet_ac1(table: &[f64], n_categories: usize) -> Option<Kappa> {
    chance_corrected(table, n_categories, Chance::Gwet, &Weighting::Unweighted)
}

/// Returns Gwet's AC2 of two raters. Undefined as in [`chance_corrected`]. Source: Gwet 2014, chapter 3.
#[must_use]
pub fn gwet_ac2(table: &[f64], n_categories: usize, weighting: &Weighting) -> Option<Kappa> {
    chance_corrected(table, n_categories, Chance::Gwet, weighting)
}

/// Returns Brennan and Prediger's coefficient of two raters; at most 1. Source: Brennan & Prediger 1981.
///
/// Undefined (`None`): fewer than two categories; a table that is not `n_categories` squared, is empty, or has a cell that is
/// negative or not finite; weights that are undefined. Its expected agreement is always less than 1, so that two raters who
/// are constant and equal have 1.
#[must_use]
pub fn brennan_prediger(table: &[f64], n_categories: usize, weighting: &Weighting) -> Option<Kappa> {
    chance_corrected(table, n_categories, Chance::BrennanPrediger, weighting)
}

/// Returns each cell's influence on a coefficient: how the coefficient changes, to first order and relative to the
/// weight added, when weight is added to that cell. Row-major, like the table.
///
/// The table-weighted mean of influences is 0. A cluster's influence is
/// the sum of its cells times their influence, divided by the table's total; the coefficient's variance is m/(m − 1)
/// times the sum of the m clusters' squared influences. With
/// independent single judgements that is the asymptotic variance of Fleiss, Cohen & Everitt 1969.
///
/// Undefined as in [`chance_corrected`].
#[must_use]
pub fn cell_influence(table: &[f64], n_categories: usize, chance: Chance, weighting: &Weighting) -> Option<Vec<f64>> {
    let shares = Shares::new(table, n_categories)?;
    let weights = weighting.matrix(n_categories)?;
    let observed = dot(&shares.cells, &weights);
    let (expected, slopes) = expected_agreement(&shares, &weights, chance);
    let _defined: Kappa = corrected(observed, expected)?;
    let mean_slope = dot(&shares.cells, &slopes);
    let influence = weights.iter().zip(&slopes).map(|(weight, slope)| {
        ((weight - observed) * (1.0 - expected) - (slope - mean_slope) * (1.0 - observed)) / (1.0 - expected).powi(2)
    });
    Some(influence.collect())
}

/// Returns the standard errors of Cohen's kappa for a table of counts of independent pairs.
///
/// Undefined as in [`chance_corrected`]. Do not use it for repeated judgements of the same items.
///
/// Source: Fleiss, Cohen & Everitt 1969. Tests agree with statsmodels 0.15.
#[must_use]
pub fn cohen_kappa_standard_error(
    table: &[f64],
    n_categories: usize,
    weighting: &Weighting,
) -> Option<KappaStandardError> {
    let influence = cell_influence(table, n_categories, Chance::Cohen, weighting)?;
    let shares = Shares::new(table, n_categories)?;
    let weights = weighting.matrix(n_categories)?;
    let (expected, slopes) = expected_agreement(&shares, &weights, Chance::Cohen);
    let asymptotic: f64 = shares.cells.iter().zip(&influence).map(|(share, value)| share * value * value).sum();
    let mut null = -expected * expected;
    for (row_idx, row) in shares.rows.iter().enumerate() {
        for (column_idx, column) in shares.columns.iter().enumerate() {
            let cell_idx = row_idx * n_categories + column_idx;
            null += row * column * (weights[cell_idx] - slopes[cell_idx]).powi(2);
        }
    }
    Some(KappaStandardError {
        asymptotic: (asymptotic / shares.total).sqrt(),
        under_independence: (null.max(0.0) / shares.total).sqrt() / (1.0 - expected),
    })
}
