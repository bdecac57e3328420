//! The effects looked for in one judge, as one family: which of them are found once all are counted.

use crate::paired::holm;

use super::super::catalogue::{Better, info};
use super::super::estimate::{Estimated, Measured};
use super::super::result::{BiasTest, Biases, StyleEffects};

/// The measures of the family, and the value each has without an effect. The excess can only be above it.
const FAMILY: [(&str, Sides); 11] = [
    ("position_excess", Sides::Above),
    ("position_direction", Sides::Both),
    ("first_position_preference", Sides::Both),
    ("order_shift", Sides::Both),
    ("place_slope", Sides::Both),
    ("length_effect", Sides::Both),
    ("length_effect_share", Sides::Both),
    ("self_preference", Sides::Both),
    ("self_preference_share", Sides::Both),
    ("own_false_accepts", Sides::Both),
    ("mean_error", Sides::Both),
];

/// On which side of no effect an effect may be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sides {
    Both,
    Above,
}

/// Returns the tests of all effects that could be looked for, corrected together: those of style are counted with them, and told where
/// they stand. `None` where there is none.
///
/// An effect is found where its p value, by Holm's correction over the family, is under 1 − level.
pub(crate) fn family(measured: &Measured, style: Option<&mut StyleEffects>, level: f64) -> Option<Biases> {
    let tests: Vec<(&str, &Estimated, Option<f64>)> = FAMILY
        .iter()
        .filter_map(|&(id, sides)| {
            let value = measured.values.get(id)?;
            Some((id, value, p_value(id, value, sides)))
        })
        .collect();
    let mut styles: Vec<_> =
        style.into_iter().flat_map(|style| &mut style.effects).filter(|one| one.effect.is_some()).collect();
    if tests.is_empty() && styles.is_empty() {
        return None;
    }
    let of_styles = styles.iter().map(|one| one.p_value);
    let p_values: Vec<f64> = tests.iter().map(|(.., p)| *p).chain(of_styles).map(|p| p.unwrap_or(f64::NAN)).collect();
    let corrected = holm(&p_values);
    for (one, p_holm) in styles.iter_mut().zip(&corrected[tests.len()..]) {
        one.p_holm = (!p_holm.is_nan()).then_some(*p_holm);
        one.is_found = *p_holm < 1.0 - level;
    }
    let tests: Vec<BiasTest> = tests
        .iter()
        .zip(corrected)
        .map(|(&(id, value, p_value), p_holm)| BiasTest {
            measure: id.to_owned(),
            p_value,
            p_holm: (!p_holm.is_nan()).then_some(p_holm),
            p_permutation: value.details.get("p_permutation").copied().filter(|p| p.is_finite()),
            minimal_detectable: value.minimal_detectable(),
            is_found: p_holm < 1.0 - level,
        })
        .collect();
    Some(Biases { n_looked_for: (tests.len() + styles.len()) as u64, correction: "Holm".to_owned(), tests })
}

/// Returns the p value of no effect, from the interval: the level at which it would just hold no effect.
fn p_value(id: &str, value: &Estimated, sides: Sides) -> Option<f64> {
    let none = match info(id).map(|info| info.better) {
        Some(Better::Near(none)) => none,
        _ => 0.0,
    };
    if sides == Sides::Above { value.spread.p_at_most(value.estimate, none) } else { two_sided(value, none) }
}

/// Returns the two-sided p value of the measure's being `none`.
pub(super) fn two_sided(value: &Estimated, none: f64) -> Option<f64> {
    let above = value.spread.p_at_most(value.estimate, none)?;
    let below = value.spread.p_at_least(value.estimate, none)?;
    Some((2.0 * above.min(below)).min(1.0))
}
