//! The covariance between clusters, and Satterthwaite's degrees of freedom, from clusters' cross products.

use super::basis::Basis;
use super::symmetric::{SINGULAR, Square, Tall, eigen};
use super::{Adjustment, Coefficient, Regression};

/// Residuals smaller than this, relative to the outcomes' spread, are rounding.
const ROUNDING: f64 = 1e-12;

/// Cross products of one cluster in the orthonormal basis.
pub(super) struct Cluster {
    /// Σ q q', Σ w q q', Σ w² q q'. The last two are used with weights only.
    products: [Square; 3],
    /// Σ q e, Σ w q e.
    residuals: [Vec<f64>; 2],
    /// Σ e².
    residual_squares: f64,
}

impl Cluster {
    pub(super) fn new(basis: &Basis<'_>) -> Self {
        let square = || Square::zero(basis.n_kept);
        let residuals = [vec![0.0; basis.n_kept], vec![0.0; basis.n_kept]];
        Self { products: [square(), square(), square()], residuals, residual_squares: 0.0 }
    }

    pub(super) fn gather(&mut self, basis: &Basis<'_>, theta: &[f64], rows: &[u32]) {
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
pub(super) struct Sums {
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
    pub(super) fn new(basis: &Basis<'_>) -> Self {
        let p = basis.n_kept;
        let owed = owed(basis);
        let contrasts = basis.contrasts();
        let empty = || Spreads { s: 0.0, s_squares: 0.0, s_owed: 0.0, owed: 0.0, outer: Square::zero(owed.n()) };
        let spreads = contrasts.iter().map(|_| empty()).collect();
        Self { n_clusters: 0, residual_squares: 0.0, meat: Square::zero(p), contrasts, spreads, owed, row: Vec::new() }
    }

    /// Adds a cluster of one row, of which every matrix is a number.
    pub(super) fn add_row(&mut self, basis: &Basis<'_>, theta: &[f64], row: usize, adjustment: Adjustment) {
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

    pub(super) fn add(&mut self, cluster: &Cluster, basis: &Basis<'_>, adjustment: Adjustment) {
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

    pub(super) fn finish(self, basis: &Basis<'_>, theta: &[f64], adjustment: Adjustment) -> Regression {
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
    fn z_times_weighted(&self, cluster: &Cluster, is_weighted: bool) -> Tall {
        let p = cluster.products[0].n();
        Tall::new(self.gram.n(), p, |i, j| cluster.product(1 + i / p, is_weighted).at(i % p, j))
    }
}

/// Returns 1/√x and 1/x of an eigenvalue; 0 of one that is 0 (Moore and Penrose).
fn inverses(value: f64) -> (f64, f64) {
    if value > SINGULAR { (value.sqrt().recip(), value.recip()) } else { (0.0, 0.0) }
}
