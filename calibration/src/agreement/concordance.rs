//! Quadratic weighted kappa of numbers, whole or not: how much less two raters differ than if their numbers were shuffled.
//!
//! With quadratic weights Cohen's kappa needs no table: it is 1 − E(x − y)² / E(x − y′)², x and y of the same item, y′ of another drawn
//! at random. On whole numbers that is Cohen 1968 with the weights of Fleiss and Cohen 1973 taken at the numbers themselves; on any
//! numbers it is Lin's concordance correlation `2 s_xy / (s_x² + s_y² + (x̄ − ȳ)²)`, the variances divided by n. Sums suffice, so that
//! tallies of clusters can be added and taken away.

/// Sums over pairs of numbers. The caller takes a centre off both numbers of every pair where they are large beside their spread.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PairSums {
    /// Total weight.
    pub weight: f64,
    /// Σ w x.
    pub first: f64,
    /// Σ w y.
    pub second: f64,
    /// Σ w x².
    pub first_squared: f64,
    /// Σ w y².
    pub second_squared: f64,
    /// Σ w (x − y)².
    pub difference_squared: f64,
}

/// A quadratic weighted kappa with its parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Concordance {
    /// 1 − observed / expected: −1..=1.
    pub kappa: f64,
    /// The mean squared difference of pairs.
    pub observed: f64,
    /// The mean squared difference of a first number and any second number.
    pub expected: f64,
}

/// An expected difference smaller than this, beside the numbers themselves, is rounding.
const ROUNDING: f64 = 1e-12;

impl PairSums {
    /// Returns the sums of one pair.
    #[must_use]
    pub fn of_pair(first: f64, second: f64, weight: f64) -> Self {
        Self {
            weight,
            first: weight * first,
            second: weight * second,
            first_squared: weight * first * first,
            second_squared: weight * second * second,
            difference_squared: weight * (first - second) * (first - second),
        }
    }

    /// Returns the sums as numbers that add up.
    #[must_use]
    pub const fn to_array(self) -> [f64; 6] {
        let Self { weight, first, second, first_squared, second_squared, difference_squared } = self;
        [weight, first, second, first_squared, second_squared, difference_squared]
    }

    /// Returns sums from the numbers of [`PairSums::to_array`].
    #[must_use]
    pub const fn from_array(sums: [f64; 6]) -> Self {
        let [weight, first, second, first_squared, second_squared, difference_squared] = sums;
        Self { weight, first, second, first_squared, second_squared, difference_squared }
    }

    /// Returns the standard deviations of both numbers, divided by n.
    #[must_use]
    pub fn standard_deviations(self) -> [f64; 2] {
        let spread = |sum: f64, squares: f64| {
            let mean = sum / self.weight;
            (squares / self.weight - mean * mean).max(0.0).sqrt()
        };
        [spread(self.first, self.first_squared), spread(self.second, self.second_squared)]
    }

    /// Returns the quadratic weighted kappa, Lin's concordance correlation.
    ///
    /// Undefined (`None`): no weight; both numbers constant and equal; sums that are not finite.
    ///
    /// Source: Cohen 1968; Fleiss & Cohen 1973; Lin 1989, *Biometrics* 45. Tests agree with scikit-learn 1.9.1 on whole numbers.
    #[must_use]
    pub fn concordance(self) -> Option<Concordance> {
        if self.weight <= 0.0 {
            return None;
        }
        let observed = self.difference_squared.max(0.0) / self.weight;
        let squares = (self.first_squared + self.second_squared) / self.weight;
        let expected = squares - 2.0 * (self.first / self.weight) * (self.second / self.weight);
        let is_defined = expected.is_finite() && observed.is_finite() && expected > ROUNDING * squares;
        // At most 2: what Cauchy and Schwarz allow, and rounding does not.
        is_defined.then(|| Concordance { kappa: 1.0 - (observed / expected).min(2.0), observed, expected })
    }
}

/// Returns the quadratic weighted kappa of pairs of numbers that weigh the same. Undefined as [`PairSums::concordance`], where the
/// numbers of values differ, or one is not finite.
#[must_use]
pub fn quadratic_kappa(first: &[f64], second: &[f64]) -> Option<Concordance> {
    if first.len() != second.len() || !first.iter().chain(second).all(|value| value.is_finite()) {
        return None;
    }
    let centre = *first.first()?;
    let mut sums = [0.0; 6];
    for (x, y) in first.iter().zip(second) {
        let pair = PairSums::of_pair(x - centre, y - centre, 1.0).to_array();
        sums.iter_mut().zip(pair).for_each(|(sum, part)| *sum += part);
    }
    PairSums::from_array(sums).concordance()
}
