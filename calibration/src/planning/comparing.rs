//! Two judges on the same items: how small a difference can be seen, and how many items it takes.
//!
//! Only items on which just one of the two is right tell them apart (McNemar's test). `discordance` is the share of such items,
//! `difference` the share of items that only the one is right on less that of the other.

use crate::distribution::{binomial_point, normal_quantile};
use crate::paired::{McNemarTest, mcnemar};

/// Returns how many items show a difference with so much power: `[z√ψ + z_power √(ψ − d²)]² / d²`. Connor 1987 (*Biometrics* 43).
///
/// `difference` is not 0 and at most the discordance ψ in size; `level` is two-sided. `None` otherwise.
#[must_use]
pub fn connor_items(difference: f64, discordance: f64, level: f64, power: f64) -> Option<f64> {
    let (z, z_power) = quantiles(level, power);
    let squared = checked(difference, discordance)?;
    Some((z * discordance.sqrt() + z_power * (discordance - squared).sqrt()).powi(2) / squared)
}

/// Returns how many items show a difference with so much power: `[zψ + z_power √(ψ² − d²(3 + ψ)/4)]² / (ψ d²)`. Miettinen 1968
/// (*Biometrics* 24); a little fewer than Connor's.
///
/// As [`connor_items`].
#[must_use]
pub fn miettinen_items(difference: f64, discordance: f64, level: f64, power: f64) -> Option<f64> {
    let (z, z_power) = quantiles(level, power);
    let squared = checked(difference, discordance)?;
    let spread = discordance * discordance - squared * (3.0 + discordance) / 4.0;
    Some((z * discordance + z_power * spread.max(0.0).sqrt()).powi(2) / (discordance * squared))
}

fn quantiles(level: f64, power: f64) -> (f64, f64) {
    (normal_quantile(0.5 + level / 2.0), normal_quantile(power))
}

fn checked(difference: f64, discordance: f64) -> Option<f64> {
    let is_possible = difference != 0.0 && difference.abs() <= discordance && discordance <= 1.0;
    is_possible.then_some(difference * difference)
}

/// Returns the smallest difference that so many items show with so much power (Connor, solved for d), in 0..=ψ. `None` where even
/// the largest possible difference, ψ itself, is not shown.
#[must_use]
pub fn detectable_difference(n_items: f64, discordance: f64, level: f64, power: f64) -> Option<f64> {
    let most = n_items * (1.0 + 1e-12);
    let is_enough = |difference: f64| connor_items(difference, discordance, level, power).is_some_and(|n| n <= most);
    let is_shown = discordance > 0.0 && discordance <= 1.0 && is_enough(discordance);
    if !is_shown {
        return None;
    }
    let (mut low, mut high) = (0.0, discordance);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if is_enough(middle) { high = middle } else { low = middle }
    }
    Some(high)
}

/// Returns the smallest difference of means that is shown with so much power: `(z + z_power)` · standard error of the difference.
#[must_use]
pub fn detectable_mean_difference(standard_error: f64, level: f64, power: f64) -> f64 {
    let (z, z_power) = quantiles(level, power);
    (z + z_power) * standard_error
}

/// Returns the power of a McNemar test, exactly: over all numbers of discordant items and their splits. In 0..=1.
///
/// `None` for a difference larger than the discordance. Cost: n² tests.
#[must_use]
pub fn mcnemar_power(n_items: u64, difference: f64, discordance: f64, level: f64, test: McNemarTest) -> Option<f64> {
    if !(0.0..=1.0).contains(&discordance) || difference.abs() > discordance {
        return None;
    }
    let first = if discordance > 0.0 { (discordance + difference) / (2.0 * discordance) } else { 0.5 };
    let alpha = 1.0 - level;
    let mut power = 0.0;
    for n in 0..=n_items {
        let chance = binomial_point(n, n_items, discordance);
        if chance < 1e-14 {
            continue;
        }
        let rejects = (0..=n).filter(|&x| mcnemar(x, n - x, test) < alpha);
        power += chance * rejects.map(|x| binomial_point(x, n, first)).sum::<f64>();
    }
    Some(power.min(1.0))
}

/// Returns the discordance of two judges that are right with these shares and err independently of one another: the most there is
/// unless they avoid each other's errors.
#[must_use]
pub fn independent_discordance(first: f64, second: f64) -> f64 {
    first * (1.0 - second) + second * (1.0 - first)
}
