//! What wrong labels could do to the verdict.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::gate::LimitState;

/// One limit, and how many wrong labels would turn it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabelsToTurn {
    /// The measure.
    pub measure: String,
    /// `min` or `max`.
    pub side: String,
    /// The limit's value.
    pub limit: f64,
    /// Met or broken, by the labels as they are.
    pub state: LimitState,
    /// How many labels, if they are the worst ones and wrong, make a met limit not met, or a broken one not broken. Absent when no
    /// number does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n_labels: Option<u64>,
    /// Their share of all labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
}

/// Accuracy, were a share of the labels wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AssumedNoise {
    /// The share of labels assumed wrong.
    pub error_rate: f64,
    /// The lowest accuracy possible: every wrong label hides an error.
    pub low: f64,
    /// The highest accuracy possible: every wrong label blames a right answer.
    pub high: f64,
    /// The accuracy if labels are wrong independently of the answers, and alike for all other categories. Absent where labels would then
    /// say nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_independent: Option<f64>,
}

/// What wrong labels could do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabelNoise {
    /// Labels that count.
    pub n_labelled: u64,
    /// Limits that the labels as they are decide.
    pub limits: Vec<LabelsToTurn>,
    /// Accuracy under assumed shares of wrong labels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accuracy: Vec<AssumedNoise>,
}
