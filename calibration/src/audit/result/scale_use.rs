//! How a judge uses its scale, and whether its dimensions say different things.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Measure;

/// How scores, or labels, spread over the scale.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScaleUse {
    /// The dimension, if the log has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dimension: Option<String>,
    /// Lowest and highest score possible, or seen where no scale was declared.
    pub scale: [f64; 2],
    /// Share of scores at the highest.
    pub ceiling: Measure,
    /// Share of scores at the lowest.
    pub floor: Measure,
    /// How many equally used levels would be as varied: exp of the entropy of the scores.
    pub effective_levels: Measure,
    /// The same of the labels, if they are scores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective_levels_of_labels: Option<f64>,
    /// Distinct scores given.
    pub n_used: u64,
    /// Whole numbers on the scale, where all scores are whole and there are at most 101.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n_possible: Option<u64>,
    /// Those never given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unused: Vec<f64>,
}

/// How alike the dimensions of one item are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Likeness {
    /// Items with all dimensions.
    pub n_items: u64,
    /// The mean correlation of two dimensions across items.
    pub mean_correlation: Measure,
    /// Share of the variance of the standardised dimensions along one direction: 1/dimensions if they have nothing in common, 1 if they
    /// are one.
    pub one_factor_share: f64,
    /// Cronbach's alpha of the dimensions, from signed covariances; it may be below 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cronbach_alpha: Option<Measure>,
}

/// Halo: whether scores of different dimensions follow one impression.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Halo {
    /// The dimensions.
    pub dimensions: Vec<String>,
    /// Of the judge's scores.
    pub judge: Likeness,
    /// Of the labels, or of people's mean scores, on the same items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Likeness>,
    /// What the reference is: `labels` or `raters (mean)`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_source: Option<String>,
}
