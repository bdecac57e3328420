//! Least squares with errors that hold for clusters, few ones too.
//!
//! The covariance is the bias-reduced one of Bell and McCaffrey (CR2): the residuals of each cluster are enlarged so that, were the
//! errors independent and equal, their squares would have the right mean. Tests and intervals take Student's t with the degrees of
//! freedom of Satterthwaite, which fall well under the number of clusters where few of them carry a coefficient. With one row a
//! cluster it is HC2; the jackknife beside it (CR3) is then HC3. Nothing here chooses columns: what a regression is of is the
//! caller's business.
//!
//! Columns are made orthonormal first, around their means and on their own scales, so that large scores lose no digits. Of a cluster
//! only cross products are kept: time and memory are linear in the rows, whatever the size of the clusters.
//!
//! Sources: Bell & McCaffrey 2002; Pustejovsky & Tipton 2018, eq. 5 to 12, the working model being equal independent errors;
//! MacKinnon & White 1985 for HC2 and HC3. Tests agree with statsmodels 0.15 (HC2, HC3), with the definitions written out in numpy,
//! and with figures that Stata prints.

mod basis;
mod sandwich;
mod symmetric;

use basis::Basis;
use sandwich::{Cluster, Sums};

/// What a regression is of. An intercept always stands before the columns.
#[derive(Clone, Copy, Debug)]
pub struct Design<'a> {
    /// The outcome of each row.
    pub outcomes: &'a [f64],
    /// The columns beside the intercept, each as long as the outcomes; at most 32.
    pub columns: &'a [Vec<f64>],
    /// Positive weights of the rows: sampling weights. The working model of the errors stays that of equal variances. `None`: all 1.
    pub weights: Option<&'a [f64]>,
    /// The cluster of each row, in any order. `None`: each row is one.
    pub clusters: Option<&'a [u32]>,
}

/// How residuals make up for having been fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adjustment {
    /// Bell and McCaffrey's: HC2 of single rows. Degrees of freedom are Satterthwaite's.
    Cr2,
    /// The jackknife's: HC3 of single rows. It errs on the safe side; degrees of freedom are the clusters less one.
    Cr3,
}

/// One coefficient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coefficient {
    /// Its estimate.
    pub estimate: f64,
    /// Its standard error: NaN with fewer than two clusters, 0 where the fit leaves nothing but rounding.
    pub standard_error: f64,
    /// The degrees of freedom of its t: NaN where the error is NaN or no cluster carries the coefficient.
    pub degrees: f64,
}

/// A fitted regression.
#[derive(Clone, Debug, PartialEq)]
pub struct Regression {
    /// The intercept: the outcome expected where every column is 0.
    pub intercept: Coefficient,
    /// One entry a column; `None` for those that the intercept and the columns before them explain.
    pub coefficients: Vec<Option<Coefficient>>,
    /// Rows.
    pub n_rows: usize,
    /// Clusters.
    pub n_clusters: usize,
}

impl Regression {
    /// Returns the columns, by position, that others explain and that were left out.
    #[must_use]
    pub fn aliased(&self) -> Vec<usize> {
        (0..self.coefficients.len()).filter(|&idx| self.coefficients[idx].is_none()).collect()
    }
}

/// Fits a regression.
///
/// `None` without rows, with more than 32 columns, where lengths differ, a number is not finite or a weight not positive.
///
/// Cost: linear in the rows, cubic in the columns for each cluster of several rows.
#[must_use]
pub fn least_squares(design: &Design<'_>, adjustment: Adjustment) -> Option<Regression> {
    let basis = Basis::new(design)?;
    let theta = basis.theta();
    Some(fit(design, &basis, &theta, adjustment))
}

/// Fits a regression, and returns with it what each row adds to the last column's coefficient, up to a factor, were that 0: the product
/// of what the other columns leave of the outcome and of the column, with the row's weight. `None` for it where others explain the
/// last column, or there is none.
///
/// `None` and cost as [`least_squares`].
#[must_use]
pub fn least_squares_and_scores(design: &Design<'_>, adjustment: Adjustment) -> Option<(Regression, Option<Vec<f64>>)> {
    let basis = Basis::new(design)?;
    let theta = basis.theta();
    let regression = fit(design, &basis, &theta, adjustment);
    let is_kept = regression.coefficients.last().is_some_and(Option::is_some);
    Some((regression, is_kept.then(|| basis.last_scores(&theta))))
}

fn fit(design: &Design<'_>, basis: &Basis<'_>, theta: &[f64], adjustment: Adjustment) -> Regression {
    let order = by_cluster(design.clusters, basis.n_rows);
    let mut sums = Sums::new(basis);
    let mut cluster = Cluster::new(basis);
    let mut start = 0;
    while start < order.len() {
        let id = |at: usize| design.clusters.map_or(order[at], |clusters| clusters[order[at] as usize]);
        let end = start + (start..order.len()).take_while(|&at| id(at) == id(start)).count();
        if end - start == 1 {
            sums.add_row(basis, theta, order[start] as usize, adjustment);
        } else {
            cluster.gather(basis, theta, &order[start..end]);
            sums.add(&cluster, basis, adjustment);
        }
        start = end;
    }
    sums.finish(basis, theta, adjustment)
}

/// Returns the rows in order of their clusters, those of a cluster as they stand.
fn by_cluster(clusters: Option<&[u32]>, n_rows: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..u32::try_from(n_rows).expect("rows are numbered by u32")).collect();
    if let Some(clusters) = clusters
        && !clusters.is_sorted()
    {
        order.sort_by_key(|&row| clusters[row as usize]);
    }
    order
}
