//! What anchors (worked examples in the prompt) come to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Measure;

/// One judge with different numbers of anchors, or different sets of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AnchorStudy {
    /// The judge.
    pub judge: String,
    /// The arm apart from its anchors, where the log has such arms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arm: Option<String>,
    /// Whether anything was judged without anchors.
    pub has_none: bool,
    /// By number of anchors, ascending; the deployed set after others of its number.
    pub points: Vec<AnchorPoint>,
}

/// One number of anchors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AnchorPoint {
    /// How many. Absent where the log names sets and not their size.
    pub anchors: Option<u32>,
    /// The arm under which the judge is audited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arm: Option<String>,
    /// The same in words.
    pub words: String,
    /// Whether it is the fixed set that the judge will work with, of which there is no other.
    pub is_deployed: bool,
    /// Different sets seen; 0 without anchors.
    pub n_sets: u64,
    /// Items judged.
    pub n_items: u64,
    /// Judgements.
    pub n_judgements: u64,
    /// Accuracy, false accepts, false rejects, distance from labels: those that can be measured.
    pub figures: Vec<AnchorFigure>,
}

/// One measure of one number of anchors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AnchorFigure {
    /// The measure.
    pub measure: String,
    /// Its value; with several sets the interval holds what another choice of sets would change.
    pub value: Measure,
    /// Estimated standard deviation of the means of sets, apart from chance among items. Absent with one set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sd_between_sets: Option<f64>,
    /// p value of "the sets do not differ" (F test of a two-way analysis of variance). Absent with one set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_sets: Option<f64>,
    /// Each set, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sets: Vec<SetFigure>,
    /// The same items without anchors taken off. Absent without such judgements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minus_none: Option<AnchorDifference>,
}

/// A measure under one set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SetFigure {
    /// The set.
    pub set: String,
    /// The mean over its items.
    pub estimate: f64,
    /// Items.
    pub n_items: u64,
}

/// Anchors against none, item by item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AnchorDifference {
    /// With anchors less without, on the items judged both ways.
    pub difference: Measure,
    /// Items judged both ways.
    pub n_items: u64,
    /// Two-sided p value of no difference. Absent where undefined.
    pub p_value: Option<f64>,
    /// The test, named.
    pub test: String,
    /// The p value after Holm's correction over the numbers of anchors.
    pub p_holm: Option<f64>,
    /// The smallest difference that would have been seen with 80 % power. Absent where nothing varies.
    pub minimal_detectable: Option<f64>,
    /// `better` or `worse` than no anchors after correction, or `undecided`.
    pub standing: String,
}
