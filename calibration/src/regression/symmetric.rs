//! Small dense matrices: what a regression of a few columns needs of linear algebra, and nothing more.

/// An eigenvalue below this is 0 and has no inverse.
pub(super) const SINGULAR: f64 = 1e-10;

/// A square matrix, row by row.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Square {
    n: usize,
    values: Vec<f64>,
}

impl Square {
    pub(super) fn zero(n: usize) -> Self {
        Self { n, values: vec![0.0; n * n] }
    }

    pub(super) fn identity(n: usize) -> Self {
        let mut identity = Self::zero(n);
        (0..n).for_each(|idx| identity.set(idx, idx, 1.0));
        identity
    }

    pub(super) const fn n(&self) -> usize {
        self.n
    }

    pub(super) fn at(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.n + column]
    }

    pub(super) fn set(&mut self, row: usize, column: usize, value: f64) {
        self.values[row * self.n + column] = value;
    }

    pub(super) fn clear(&mut self) {
        self.values.fill(0.0);
    }

    pub(super) fn column(&self, column: usize) -> Vec<f64> {
        (0..self.n).map(|row| self.at(row, column)).collect()
    }

    /// Adds `weight` times v v'.
    pub(super) fn add_outer(&mut self, vector: &[f64], weight: f64) {
        for (row, a) in self.values.chunks_exact_mut(self.n.max(1)).zip(vector) {
            row.iter_mut().zip(vector).for_each(|(value, b)| *value += weight * a * b);
        }
    }

    pub(super) fn minus(mut self, other: &Self) -> Self {
        self.values.iter_mut().zip(&other.values).for_each(|(value, other)| *value -= other);
        self
    }

    pub(super) fn times(&self, vector: &[f64]) -> Vec<f64> {
        self.values.chunks_exact(self.n.max(1)).map(|row| dot(row, vector)).collect()
    }

    /// a' M b.
    pub(super) fn between(&self, a: &[f64], b: &[f64]) -> f64 {
        dot(a, &self.times(b))
    }

    /// v' M v.
    pub(super) fn quadratic(&self, vector: &[f64]) -> f64 {
        self.values.chunks_exact(self.n.max(1)).zip(vector).map(|(row, of)| of * dot(row, vector)).sum()
    }

    pub(super) fn product(&self, other: &Self) -> Self {
        let mut product = Self::zero(self.n);
        for i in 0..self.n {
            for j in 0..self.n {
                product.set(i, j, (0..self.n).map(|k| self.at(i, k) * other.at(k, j)).sum());
            }
        }
        product
    }

    /// The trace of M².
    pub(super) fn trace_of_square(&self) -> f64 {
        (0..self.n).map(|i| (0..self.n).map(|j| self.at(i, j) * self.at(j, i)).sum::<f64>()).sum()
    }

    /// Returns M⁻¹ v of a symmetric matrix; directions in which it is singular are left out.
    pub(super) fn solve(&self, vector: &[f64]) -> Vec<f64> {
        let (values, vectors) = eigen(self);
        let mut solution = vec![0.0; self.n];
        for (idx, value) in values.iter().enumerate().filter(|(_, value)| value.abs() > SINGULAR) {
            let direction = vectors.column(idx);
            let share = dot(&direction, vector) / value;
            solution.iter_mut().zip(direction).for_each(|(sum, part)| *sum += share * part);
        }
        solution
    }
}

/// A matrix of more rows than columns, or as many.
pub(super) struct Tall {
    n_columns: usize,
    values: Vec<f64>,
}

impl Tall {
    pub(super) fn new(n_rows: usize, n_columns: usize, value: impl Fn(usize, usize) -> f64) -> Self {
        let at = |idx: usize| value(idx / n_columns, idx % n_columns);
        Self { n_columns, values: (0..n_rows * n_columns).map(at).collect() }
    }

    pub(super) fn times(&self, vector: &[f64]) -> Vec<f64> {
        self.values.chunks_exact(self.n_columns).map(|row| dot(row, vector)).collect()
    }

    pub(super) fn transposed_times(&self, vector: &[f64]) -> Vec<f64> {
        let mut product = vec![0.0; self.n_columns];
        for (row, of) in self.values.chunks_exact(self.n_columns).zip(vector) {
            product.iter_mut().zip(row).for_each(|(sum, value)| *sum += of * value);
        }
        product
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Returns the eigenvalues of a symmetric matrix, in no order, and the vectors as columns (Jacobi's rotations, row by row).
pub(super) fn eigen(matrix: &Square) -> (Vec<f64>, Square) {
    const MOST_SWEEPS: usize = 60;
    let n = matrix.n;
    let (mut a, mut vectors) = (matrix.clone(), Square::identity(n));
    for _ in 0..MOST_SWEEPS {
        let off: f64 = (0..n).map(|i| (0..i).map(|j| a.at(i, j) * a.at(i, j)).sum::<f64>()).sum();
        let on: f64 = (0..n).map(|i| a.at(i, i) * a.at(i, i)).sum();
        if off <= 1e-32 * on || off == 0.0 {
            break;
        }
        for i in 1..n {
            for j in 0..i {
                if a.at(i, j) == 0.0 {
                    continue;
                }
                let theta = (a.at(i, i) - a.at(j, j)) / (2.0 * a.at(i, j));
                let tangent = theta.signum() / (theta.abs() + theta.hypot(1.0));
                let cosine = tangent.hypot(1.0).recip();
                let sine = tangent * cosine;
                for k in 0..n {
                    let (x, y) = (a.at(k, j), a.at(k, i));
                    a.set(k, j, cosine * x - sine * y);
                    a.set(k, i, sine * x + cosine * y);
                }
                for k in 0..n {
                    let (x, y) = (a.at(j, k), a.at(i, k));
                    a.set(j, k, cosine * x - sine * y);
                    a.set(i, k, sine * x + cosine * y);
                    let (x, y) = (vectors.at(k, j), vectors.at(k, i));
                    vectors.set(k, j, cosine * x - sine * y);
                    vectors.set(k, i, sine * x + cosine * y);
                }
            }
        }
    }
    ((0..n).map(|idx| a.at(idx, idx)).collect(), vectors)
}
