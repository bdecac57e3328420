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

mod symmetric;

use symmetric::{Square, eigen};

/// A column whose part that the columns before it do not explain is smaller than this, relative to it, is explained by them.
const ALIASED: f64 = 1e-9;
/// What varies less than this, relative to its size, is constant.
const CONSTANT: f64 = 1e-12;
/// An eigenvalue below this is 0 and has no inverse.
const SINGULAR: f64 = 1e-10;
/// Residuals smaller than this, relative to the outcomes' spread, are rounding.
const ROUNDING: f64 = 1e-12;
/// The most columns.
const MOST_COLUMNS: usize = 32;

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
    let order = by_cluster(design.clusters, basis.n_rows);
    let mut sums = Sums::new(&basis);
    let mut cluster = Cluster::new(&basis);
    let mut start = 0;
    while start < order.len() {
        let id = |at: usize| design.clusters.map_or(order[at], |clusters| clusters[order[at] as usize]);
        let end = start + (start..order.len()).take_while(|&at| id(at) == id(start)).count();
        if end - start == 1 {
            sums.add_row(&basis, &theta, order[start] as usize, adjustment);
        } else {
            cluster.gather(&basis, &theta, &order[start..end]);
            sums.add(&cluster, &basis, adjustment);
        }
        start = end;
    }
    Some(sums.finish(&basis, &theta, adjustment))
}

/// Returns the residuals of outcomes (or of any numbers) on an intercept and columns, in the rows' order.
///
/// `None` as [`least_squares`].
#[must_use]
pub fn residuals(design: &Design<'_>) -> Option<Vec<f64>> {
    let basis = Basis::new(design)?;
    let theta = basis.theta();
    Some((0..basis.n_rows).map(|row| basis.outcome_scale * basis.residual(row, &theta)).collect())
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

/// The design around its means and on its own scales, made orthonormal under the weights: Σ w q q' = I.
struct Basis<'a> {
    n_rows: usize,
    weights: Option<&'a [f64]>,
    /// Rows × columns kept, the intercept first.
    q: Vec<f64>,
    n_kept: usize,
    /// Rows × columns kept: each column of the design as a combination of the orthonormal ones (upper triangular), by column.
    r: Vec<Vec<f64>>,
    /// The design's column of each column kept but the intercept.
    kept: Vec<usize>,
    n_columns: usize,
    means: Vec<f64>,
    scales: Vec<f64>,
    outcomes: Vec<f64>,
    outcome_mean: f64,
    outcome_scale: f64,
    /// Σ w² q q'.
    squares: Square,
}

impl<'a> Basis<'a> {
    fn new(design: &Design<'a>) -> Option<Self> {
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

    fn row(&self, row: usize) -> &[f64] {
        &self.q[row * self.n_kept..(row + 1) * self.n_kept]
    }

    fn weight(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[row])
    }

    /// Returns the coefficients of the orthonormal columns.
    fn theta(&self) -> Vec<f64> {
        let mut theta = vec![0.0; self.n_kept];
        for row in 0..self.n_rows {
            let of = self.weight(row) * self.outcomes[row];
            theta.iter_mut().zip(self.row(row)).for_each(|(sum, value)| *sum += of * value);
        }
        theta
    }

    fn residual(&self, row: usize, theta: &[f64]) -> f64 {
        self.outcomes[row] - self.row(row).iter().zip(theta).map(|(value, of)| value * of).sum::<f64>()
    }

    /// Returns what makes the design's coefficients of the orthonormal ones: a row of weights for the intercept and each column kept.
    fn contrasts(&self) -> Vec<Vec<f64>> {
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

/// Cross products of one cluster in the orthonormal basis.
struct Cluster {
    /// Σ q q', Σ w q q', Σ w² q q'. The last two are used with weights only.
    products: [Square; 3],
    /// Σ q e, Σ w q e.
    residuals: [Vec<f64>; 2],
    /// Σ e².
    residual_squares: f64,
}

impl Cluster {
    fn new(basis: &Basis<'_>) -> Self {
        let square = || Square::zero(basis.n_kept);
        let residuals = [vec![0.0; basis.n_kept], vec![0.0; basis.n_kept]];
        Self { products: [square(), square(), square()], residuals, residual_squares: 0.0 }
    }

    fn gather(&mut self, basis: &Basis<'_>, theta: &[f64], rows: &[u32]) {
        self.products.iter_mut().for_each(Square::clear);
        self.residuals.iter_mut().for_each(|sums| sums.fill(0.0));
        self.residual_squares = 0.0;
        for &row in rows {
            let row = row as usize;
            let (q, error, weight) = (basis.row(row), basis.residual(row, theta), basis.weight(row));
            self.residual_squares += error * error;
            self.products[0].add_outer(q, 1.0);
            self.residuals[0].iter_mut().zip(q).for_each(|(sum, value)| *sum += error * value);
            if basis.weights.is_some() {
                self.products[1].add_outer(q, weight);
                self.products[2].add_outer(q, weight * weight);
                self.residuals[1].iter_mut().zip(q).for_each(|(sum, value)| *sum += weight * error * value);
            }
        }
    }

    /// Z'e, Z = (q, w q).
    fn z_errors(&self, is_weighted: bool) -> Vec<f64> {
        let mut errors = self.residuals[0].clone();
        if is_weighted {
            errors.extend(&self.residuals[1]);
        }
        errors
    }

    /// Σ wᵃ q q'.
    fn product(&self, power: usize, is_weighted: bool) -> &Square {
        &self.products[if is_weighted { power } else { 0 }]
    }
}

/// Sums over clusters: the middle of the sandwich, and what the degrees of freedom are made of.
struct Sums {
    n_clusters: usize,
    residual_squares: f64,
    meat: Square,
    contrasts: Vec<Vec<f64>>,
    /// One a contrast.
    spreads: Vec<Spreads>,
    /// What one cluster's errors owe to the others through the fit: (I − H)(I − H)' − I = Z J Z', Z = (q, w q).
    owed: Square,
    /// Room for z of one row.
    row: Vec<f64>,
}

/// Sums over clusters that make the degrees of freedom of a contrast. With g the cluster's adjusted weights on its residuals, s is
/// g'g, and t is (Σ q g, Σ w q g).
struct Spreads {
    s: f64,
    s_squares: f64,
    s_owed: f64,
    /// Of t'Jt.
    owed: f64,
    /// Of t t'.
    outer: Square,
}

impl Spreads {
    fn add(&mut self, s: f64, owed: f64) {
        self.s += s;
        self.s_squares += s * s;
        self.s_owed += s * owed;
        self.owed += owed;
    }

    /// (Σ aᵢᵢ)² / ΣΣ aᵢⱼ², a the covariances of the clusters' contributions under the working model.
    fn satterthwaite(&self, owed: &Square) -> f64 {
        let all = self.s_squares + 2.0 * self.s_owed + owed.product(&self.outer).trace_of_square();
        let own = self.s + self.owed;
        if own > 0.0 && all > 0.0 { own * own / all } else { f64::NAN }
    }
}

impl Sums {
    fn new(basis: &Basis<'_>) -> Self {
        let p = basis.n_kept;
        let owed = owed(basis);
        let contrasts = basis.contrasts();
        let empty = || Spreads { s: 0.0, s_squares: 0.0, s_owed: 0.0, owed: 0.0, outer: Square::zero(owed.n()) };
        let spreads = contrasts.iter().map(|_| empty()).collect();
        Self { n_clusters: 0, residual_squares: 0.0, meat: Square::zero(p), contrasts, spreads, owed, row: Vec::new() }
    }

    /// Adds a cluster of one row, of which every matrix is a number.
    fn add_row(&mut self, basis: &Basis<'_>, theta: &[f64], row: usize, adjustment: Adjustment) {
        let (q, error, weight) = (basis.row(row), basis.residual(row, theta), basis.weight(row));
        self.n_clusters += 1;
        self.residual_squares += error * error;
        if adjustment == Adjustment::Cr3 {
            let left = 1.0 - weight * q.iter().map(|value| value * value).sum::<f64>();
            let score = weight * error * inverses(left).1;
            self.meat.add_outer(q, score * score);
            return;
        }
        let z = &mut self.row;
        z.clear();
        z.extend(q);
        if basis.weights.is_some() {
            z.extend(q.iter().map(|value| weight * value));
        }
        let owed = self.owed.quadratic(z);
        let score = weight * error * inverses(1.0 + owed).0;
        self.meat.add_outer(q, score * score);
        for (contrast, spread) in self.contrasts.iter().zip(&mut self.spreads) {
            let along: f64 = q.iter().zip(contrast).map(|(value, of)| value * of).sum();
            let s = weight * weight * along * along * inverses(1.0 + owed).1;
            spread.add(s, s * owed);
            spread.outer.add_outer(z, s);
        }
    }

    fn add(&mut self, cluster: &Cluster, basis: &Basis<'_>, adjustment: Adjustment) {
        self.n_clusters += 1;
        self.residual_squares += cluster.residual_squares;
        let is_weighted = basis.weights.is_some();
        if adjustment == Adjustment::Cr3 {
            let errors = &cluster.residuals[usize::from(is_weighted)];
            let left = Square::identity(basis.n_kept).minus(cluster.product(1, is_weighted));
            self.meat.add_outer(&left.solve(errors), 1.0);
            return;
        }
        let root = Root::new(cluster, &self.owed, is_weighted);
        // Σ w q (A e), with A = I + Z K Z'.
        let (with, z_errors) = (root.z_times_weighted(cluster, is_weighted), cluster.z_errors(is_weighted));
        let mut score = cluster.residuals[usize::from(is_weighted)].clone();
        let inner = root.half.times(&z_errors);
        score.iter_mut().zip(with.transposed_times(&inner)).for_each(|(sum, value)| *sum += value);
        self.meat.add_outer(&score, 1.0);
        for (contrast, spread) in self.contrasts.iter().zip(&mut self.spreads) {
            // g = A W q c: its square, and its products with q and w q.
            let z_g0 = with.times(contrast);
            let plain = cluster.product(2, is_weighted).quadratic(contrast);
            let s = (plain + root.whole.quadratic(&z_g0)).max(0.0);
            let added = root.half.times(&z_g0);
            let mut t = z_g0;
            let gram = root.gram.times(&added);
            t.iter_mut().zip(gram).for_each(|(sum, value)| *sum += value);
            spread.add(s, self.owed.quadratic(&t));
            spread.outer.add_outer(&t, 1.0);
        }
    }

    fn finish(self, basis: &Basis<'_>, theta: &[f64], adjustment: Adjustment) -> Regression {
        let is_exact = self.residual_squares.sqrt() <= ROUNDING * (basis.n_rows as f64).sqrt();
        let coefficient = |idx: usize| {
            let contrast = &self.contrasts[idx];
            let estimate: f64 = contrast.iter().zip(theta).map(|(of, value)| of * value).sum();
            let variance = self.meat.quadratic(contrast).max(0.0);
            let (standard_error, degrees) = match (self.n_clusters, adjustment) {
                (0 | 1, _) => (f64::NAN, f64::NAN),
                (_, Adjustment::Cr2) => (variance.sqrt(), self.spreads[idx].satterthwaite(&self.owed)),
                (m, Adjustment::Cr3) => (variance.sqrt(), (m - 1) as f64),
            };
            let standard_error = if is_exact && !standard_error.is_nan() { 0.0 } else { standard_error };
            Coefficient { estimate, standard_error, degrees }
        };
        let mut coefficients = vec![None; basis.n_columns];
        for (position, &column) in basis.kept.iter().enumerate() {
            coefficients[column] = Some(coefficient(position + 1));
        }
        let mut intercept = coefficient(0);
        intercept.estimate += basis.outcome_mean;
        Regression { intercept, coefficients, n_rows: basis.n_rows, n_clusters: self.n_clusters }
    }
}

/// Returns J with (I − H)(I − H)' = I + Z J Z': −I of q without weights, of (q, w q) with them.
fn owed(basis: &Basis<'_>) -> Square {
    let p = basis.n_kept;
    if basis.weights.is_none() {
        return Square::zero(p).minus(&Square::identity(p));
    }
    let mut owed = Square::zero(2 * p);
    for i in 0..p {
        for j in 0..p {
            owed.set(i, j, basis.squares.at(i, j));
        }
        owed.set(i, p + i, -1.0);
        owed.set(p + i, i, -1.0);
    }
    owed
}

/// The inverse square root of a cluster's B = I + Z J Z', as I + Z K Z', and its inverse, likewise.
struct Root {
    /// Z'Z.
    gram: Square,
    half: Square,
    whole: Square,
}

impl Root {
    fn new(cluster: &Cluster, owed: &Square, is_weighted: bool) -> Self {
        let n = owed.n();
        let mut gram = Square::zero(n);
        let p = cluster.products[0].n();
        for i in 0..n {
            for j in 0..n {
                let power = i / p + j / p;
                gram.set(i, j, cluster.product(power, is_weighted).at(i % p, j % p));
            }
        }
        // Z = P √L V' with P orthonormal; B = I + P S P', S = √L V' J V √L.
        let (values, vectors) = eigen(&gram);
        let most = values.iter().fold(0.0_f64, |most, value| most.max(*value));
        let kept: Vec<usize> = (0..n).filter(|&idx| values[idx] > SINGULAR * most.max(f64::MIN_POSITIVE)).collect();
        let rank = kept.len();
        let mut inner = Square::zero(rank);
        for (i, &of) in kept.iter().enumerate() {
            for (j, &with) in kept.iter().enumerate() {
                let value = owed.between(&vectors.column(of), &vectors.column(with));
                inner.set(i, j, (values[of] * values[with]).sqrt() * value);
            }
        }
        let (spectrum, directions) = eigen(&inner);
        let (mut half, mut whole) = (Square::zero(n), Square::zero(n));
        for (idx, value) in spectrum.iter().enumerate() {
            // Z (V / √L) E is orthonormal.
            let mut direction = vec![0.0; n];
            for (i, &of) in kept.iter().enumerate() {
                let share = directions.at(i, idx) / values[of].sqrt();
                direction.iter_mut().enumerate().for_each(|(row, sum)| *sum += share * vectors.at(row, of));
            }
            let (root, inverse) = inverses(1.0 + value);
            half.add_outer(&direction, root - 1.0);
            whole.add_outer(&direction, inverse - 1.0);
        }
        Self { gram, half, whole }
    }

    /// Z'W q: rows of Z by columns of q.
    fn z_times_weighted(&self, cluster: &Cluster, is_weighted: bool) -> symmetric::Tall {
        let p = cluster.products[0].n();
        symmetric::Tall::new(self.gram.n(), p, |i, j| cluster.product(1 + i / p, is_weighted).at(i % p, j))
    }
}

/// Returns 1/√x and 1/x of an eigenvalue; 0 of one that is 0 (Moore and Penrose).
fn inverses(value: f64) -> (f64, f64) {
    if value > SINGULAR { (value.sqrt().recip(), value.recip()) } else { (0.0, 0.0) }
}
