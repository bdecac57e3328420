//! What marks of style do to a judge's answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Measure;

/// The effects of marks of style, all in one regression with the label and the length.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StyleEffects {
    /// What stands beside the marks in the regression: `label`, `length`, as far as the log states them.
    pub given: Vec<String>,
    /// Items left out, since a mark or the length is not stated of them.
    pub n_left_out: u64,
    /// One entry a mark, in the order of the log's columns.
    pub effects: Vec<StyleEffect>,
    /// The effect of twice the length in the same regression: what is left of it once style is given. Absent without lengths, or where
    /// style explains them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<Measure>,
}

/// The effect of one mark of style.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StyleEffect {
    /// The mark: the column's name without `style_`.
    pub name: String,
    /// One standard deviation of it over the items, or of how much more of it candidate A has than B.
    pub sd: f64,
    /// What one standard deviation more changes: points of a score, or the share that passes, or that chooses the candidate that has more.
    /// Absent where it cannot be told: see `why`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<Measure>,
    /// Why there is no effect to tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The p value of no effect, from the interval. Absent where that is undefined.
    pub p_value: Option<f64>,
    /// The same after Holm's correction over all effects looked for in the judge.
    pub p_holm: Option<f64>,
    /// The p value of a seeded permutation test of the same.
    pub p_permutation: Option<f64>,
    /// The smallest effect that such data show with 80 % power.
    pub minimal_detectable: Option<f64>,
    /// Whether the effect is found once all that were looked for are counted.
    pub is_found: bool,
}
