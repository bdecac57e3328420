//! Agreement of any number of raters with missing ratings: Fleiss's and Conger's kappa, Gwet's AC1 and AC2, and Brennan and
//! Prediger's coefficient, with standard errors.
//!
//! Units with a single rating tell how common categories are, not whether raters agree; units with none are left out. All
//! coefficients share the observed agreement: the mean over units with two or more ratings of the weighted share of
//! agreeing pairs. Expected agreement weighs each rated unit equally, as Gwet's does, not each rating.
//!
//! Undefined (`None`) are all for: fewer than two categories; a table that is empty or no whole number of units; no unit with
//! two ratings; undefined weights. What expects chance to agree always, as Fleiss's and Conger's kappa do where a single
//! category was used, is undefined there too.
//!
//! Source: Fleiss 1971; Conger 1980; Gwet 2008 and 2014, chapters 2, 3 and 5. Tests agree with irrCAC 0.4 to 1e-9.

use super::kappa::{Kappa, Weighting, corrected};
use crate::influence::WithInfluence;

/// A coefficient of many raters.
#[derive(Clone, Debug, PartialEq)]
pub struct ManyRaters {
    /// The coefficient with its parts.
    pub agreement: Kappa,
    /// Each unit's influence (see [`crate::influence`]), in the order given; 0 for units without ratings.
    pub influence: Vec<f64>,
    /// Units with a rating.
    pub n_units: usize,
    /// Units with two or more.
    pub n_units_with_pairs: usize,
}

impl ManyRaters {
    /// Returns the standard error over rated units as independent; `None` for fewer than two of them.
    #[must_use]
    pub fn standard_error(&self) -> Option<f64> {
        if self.n_units < 2 {
            return None;
        }
        let squares: f64 = self.influence.iter().map(|value| value * value).sum();
        let n = self.n_units as f64;
        Some((squares * n / (n - 1.0)).sqrt())
    }

    /// Returns the estimate with its influence values, for clustered errors. Units without ratings should be left out before.
    #[must_use]
    pub fn into_with_influence(self) -> WithInfluence {
        WithInfluence { estimate: self.agreement.kappa, influence: self.influence }
    }
}

/// The observed part, common to all coefficients.
struct Observed {
    weights: Vec<f64>,
    /// Each unit's agreement, for units with pairs.
    by_unit: Vec<Option<f64>>,
    /// Ratings of each unit.
    n_ratings: Vec<f64>,
    /// Observed agreement.
    agreement: f64,
    n_units: usize,
    n_units_with_pairs: usize,
}

impl Observed {
    fn new(counts: &[u32], n_categories: usize, weighting: &Weighting) -> Option<Self> {
        let weights = weighting.matrix(n_categories)?;
        if counts.is_empty() || !counts.len().is_multiple_of(n_categories) {
            return None;
        }
        let mut by_unit = Vec::with_capacity(counts.len() / n_categories);
        let mut n_ratings = Vec::with_capacity(counts.len() / n_categories);
        for unit in counts.chunks_exact(n_categories) {
            let n: f64 = unit.iter().map(|&count| f64::from(count)).sum();
            n_ratings.push(n);
            by_unit.push((n >= 2.0).then(|| {
                let mut pairs = 0.0;
                for (category_idx, &count) in unit.iter().enumerate().filter(|&(_, &count)| count > 0) {
                    let row = &weights[category_idx * n_categories..(category_idx + 1) * n_categories];
                    let alike: f64 = row.iter().zip(unit).map(|(weight, &other)| weight * f64::from(other)).sum();
                    pairs += f64::from(count) * (alike - 1.0);
                }
                pairs / (n * (n - 1.0))
            }));
        }
        let n_units = n_ratings.iter().filter(|&&n| n > 0.0).count();
        let n_units_with_pairs = by_unit.iter().flatten().count();
        if n_units_with_pairs == 0 {
            return None;
        }
        let agreement = by_unit.iter().flatten().sum::<f64>() / n_units_with_pairs as f64;
        Some(Self { weights, by_unit, n_ratings, agreement, n_units, n_units_with_pairs })
    }

    /// Returns each category's share, units weighing equally.
    fn category_shares(&self, counts: &[u32], n_categories: usize) -> Vec<f64> {
        let mut shares = vec![0.0; n_categories];
        for (unit, &n) in counts.chunks_exact(n_categories).zip(&self.n_ratings) {
            if n > 0.0 {
                for (share, &count) in shares.iter_mut().zip(unit) {
                    *share += f64::from(count) / n;
                }
            }
        }
        for share in &mut shares {
            *share /= self.n_units as f64;
        }
        shares
    }

    /// Returns the coefficient, given the expected agreement and how far each unit moves it: `expected_by_unit` has, to first
    /// order, half of the unit's influence on the expected agreement, times the number of units, above the expected agreement.
    fn coefficient(&self, expected: f64, expected_by_unit: impl Fn(usize) -> f64) -> Option<ManyRaters> {
        let agreement = corrected(self.agreement, expected)?;
        let n = self.n_units as f64;
        let inflation = n / self.n_units_with_pairs as f64;
        let influence = (0..self.n_ratings.len())
            .map(|unit_idx| {
                if self.n_ratings[unit_idx] <= 0.0 {
                    return 0.0;
                }
                let observed = self.by_unit[unit_idx].map_or(0.0, |unit| inflation * (unit - expected));
                let chance = 2.0 * (1.0 - agreement.kappa) * (expected_by_unit(unit_idx) - expected);
                ((observed - chance) / (1.0 - expected) - agreement.kappa) / n
            })
            .collect();
        Some(ManyRaters { agreement, influence, n_units: self.n_units, n_units_with_pairs: self.n_units_with_pairs })
    }

    /// Returns, for each unit, the mean over its ratings of `by_category`.
    fn unit_means(&self, counts: &[u32], by_category: &[f64]) -> Vec<f64> {
        let mean = |(unit, &n): (&[u32], &f64)| {
            let sum: f64 = unit.iter().zip(by_category).map(|(&count, value)| f64::from(count) * value).sum();
            if n > 0.0 { sum / n } else { 0.0 }
        };
        counts.chunks_exact(by_category.len()).zip(&self.n_ratings).map(mean).collect()
    }
}

/// Returns the (weighted) share of agreeing pairs of raters, 0..=1: the mean over units with two or more ratings.
///
/// `counts` is units × categories, row-major. Units with fewer than two ratings have no influence, and should be left out before
/// a standard error is asked for, since it counts units.
///
/// Undefined (`None`): fewer than two categories; `counts` that is empty or no whole number of units; no unit with two ratings;
/// undefined weights. Ratings that are all the same agree: 1.
#[must_use]
pub fn percent_agreement(counts: &[u32], n_categories: usize, weighting: &Weighting) -> Option<WithInfluence> {
    let observed = Observed::new(counts, n_categories, weighting)?;
    let n = observed.n_units_with_pairs as f64;
    let influence =
        observed.by_unit.iter().map(|unit| unit.map_or(0.0, |unit| (unit - observed.agreement) / n)).collect();
    Some(WithInfluence { estimate: observed.agreement, influence })
}

/// Returns Fleiss's kappa of `counts`, units × categories, row-major; at most 1. Source: Fleiss 1971; missing ratings as in
/// Gwet 2014.
///
/// Undefined (`None`): as [`percent_agreement`], and where the expected agreement is 1: only one category was used, or only
/// such as the weights take for the same.
#[must_use]
pub fn fleiss_kappa(counts: &[u32], n_categories: usize, weighting: &Weighting) -> Option<ManyRaters> {
    let observed = Observed::new(counts, n_categories, weighting)?;
    let shares = observed.category_shares(counts, n_categories);
    let weighted: Vec<f64> = observed
        .weights
        .chunks_exact(n_categories)
        .map(|row| row.iter().zip(&shares).map(|(weight, share)| weight * share).sum())
        .collect();
    let expected = shares.iter().zip(&weighted).map(|(share, mean)| share * mean).sum();
    let by_unit = observed.unit_means(counts, &weighted);
    observed.coefficient(expected, |unit_idx| by_unit[unit_idx])
}

/// Returns Gwet's AC1 (unweighted) or AC2 (weighted) of `counts`, units × categories, row-major; at most 1. Source: Gwet 2008.
///
/// Give all categories that could be used: their number counts.
///
/// Undefined (`None`): as [`percent_agreement`], and nowhere else, since the expected agreement is always less than 1. Where only
/// one category was used it is 1.
#[must_use]
pub fn gwet_ac(counts: &[u32], n_categories: usize, weighting: &Weighting) -> Option<ManyRaters> {
    let observed = Observed::new(counts, n_categories, weighting)?;
    let shares = observed.category_shares(counts, n_categories);
    let scale = observed.weights.iter().sum::<f64>() / (n_categories * (n_categories - 1)) as f64;
    let expected = scale * shares.iter().map(|share| share * (1.0 - share)).sum::<f64>();
    let by_category: Vec<f64> = shares.iter().map(|share| scale * (1.0 - share)).collect();
    let by_unit = observed.unit_means(counts, &by_category);
    observed.coefficient(expected, |unit_idx| by_unit[unit_idx])
}

/// Returns Brennan and Prediger's coefficient of `counts`, units × categories, row-major. Unweighted and without missing
/// ratings it is Randolph's free-marginal kappa. At most 1. Source: Brennan & Prediger 1981.
///
/// Give all categories that could be used: their number counts.
///
/// Undefined (`None`): as [`percent_agreement`], and nowhere else, since the expected agreement is always less than 1. Where only
/// one category was used it is 1.
#[must_use]
pub fn brennan_prediger(counts: &[u32], n_categories: usize, weighting: &Weighting) -> Option<ManyRaters> {
    let observed = Observed::new(counts, n_categories, weighting)?;
    let expected = observed.weights.iter().sum::<f64>() / (n_categories * n_categories) as f64;
    observed.coefficient(expected, |_| expected)
}

/// Returns Conger's kappa of `ratings`, units × raters, row-major, each a category's position or `None`.
///
/// Expected agreement is the mean over pairs of raters of Cohen's; raters without a rating are left out. Undefined also for
/// fewer than two raters and for a category out of range. Source: Conger 1980; missing ratings as in Gwet 2014.
#[must_use]
pub fn conger_kappa(
    ratings: &[Option<u32>],
    n_raters: usize,
    n_categories: usize,
    weighting: &Weighting,
) -> Option<ManyRaters> {
    if n_raters < 2 || !ratings.len().is_multiple_of(n_raters) {
        return None;
    }
    if ratings.iter().flatten().any(|&category| category as usize >= n_categories) {
        return None;
    }
    let mut counts = vec![0_u32; ratings.len() / n_raters * n_categories];
    let mut by_rater = vec![vec![0.0; n_categories]; n_raters];
    for (unit_idx, unit) in ratings.chunks_exact(n_raters).enumerate() {
        for (shares, category) in by_rater.iter_mut().zip(unit) {
            if let Some(category) = category {
                counts[unit_idx * n_categories + *category as usize] += 1;
                shares[*category as usize] += 1.0;
            }
        }
    }
    let observed = Observed::new(&counts, n_categories, weighting)?;
    let n_by_rater: Vec<f64> = by_rater.iter().map(|shares| shares.iter().sum()).collect();
    let used = n_by_rater.iter().filter(|&&n| n > 0.0).count() as f64;
    if used < 2.0 {
        return None;
    }
    let mut all = vec![0.0; n_categories];
    for (shares, &n) in by_rater.iter_mut().zip(&n_by_rater).filter(|(_, n)| **n > 0.0) {
        for (share, all) in shares.iter_mut().zip(&mut all) {
            *share /= n;
            *all += *share;
        }
    }
    // Each rater against the others: the weighted agreement of each category with what the others give.
    let against_others: Vec<Vec<f64>> = by_rater
        .iter()
        .map(|own| {
            let row = |row: &[f64]| {
                row.iter().zip(all.iter().zip(own)).map(|(weight, (all, own))| weight * (all - own)).sum()
            };
            observed.weights.chunks_exact(n_categories).map(row).collect()
        })
        .collect();
    let means: Vec<f64> = by_rater
        .iter()
        .zip(&against_others)
        .map(|(own, against)| own.iter().zip(against).map(|(share, value)| share * value).sum())
        .collect();
    let n_pairs = used * (used - 1.0);
    let expected = means.iter().sum::<f64>() / n_pairs;
    let n = observed.n_units as f64;
    observed.coefficient(expected, |unit_idx| {
        let mut moved = 0.0;
        for (rater_idx, category) in ratings[unit_idx * n_raters..(unit_idx + 1) * n_raters].iter().enumerate() {
            if let Some(category) = category {
                moved += (against_others[rater_idx][*category as usize] - means[rater_idx]) * n / n_by_rater[rater_idx];
            }
        }
        expected + moved / n_pairs
    })
}
