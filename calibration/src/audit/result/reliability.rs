//! Whether confidences mean what they say, and what recalibration would make of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Measure;

/// One bin of a reliability curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReliabilityPoint {
    /// The lowest probability in it.
    pub low: f64,
    /// The highest probability in it.
    pub high: f64,
    /// Mean probability, each item counting once.
    pub mean_confidence: f64,
    /// What came true of it, with the interval over clusters.
    pub event_rate: Measure,
    /// Its share of the items, 0..=1.
    pub share: f64,
}

/// A reliability curve with its calibration errors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReliabilityCurve {
    /// How bins were cut: `bins of equal width` or `bins of equal mass`.
    pub binning: String,
    /// Bins asked for; those that hold nothing are left out.
    pub n_bins: u32,
    /// The bins, ascending.
    pub bins: Vec<ReliabilityPoint>,
    /// Expected calibration error, 0..=1. Too large by chance: see `ece_of_perfect`.
    pub ece: f64,
    /// What the error is on average of a judge that means what it says, with these probabilities.
    pub ece_of_perfect: f64,
    /// What it stays under 95 % of the time then.
    pub ece_of_perfect_upper: f64,
    /// How both were had.
    pub perfect_by: String,
    /// The error less its bias; may be negative.
    pub ece_debiased: f64,
    /// The squared error less its bias; may be negative.
    pub squared_debiased: f64,
    /// The largest distance of a bin.
    pub maximum: f64,
    /// Murphy's reliability: how far probabilities are from what came.
    pub reliability: f64,
    /// Murphy's resolution: how far they tell events apart; more is better.
    pub resolution: f64,
    /// Murphy's uncertainty: what always saying the overall rate would score.
    pub uncertainty: f64,
    /// What binning hides, so that reliability − resolution + uncertainty + this is the Brier score.
    pub within_bins: f64,
}

/// How good probabilities are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProbabilityScores {
    /// Mean squared distance from what came.
    pub brier_score: Measure,
    /// Log loss in nats. Absent where it is infinite: something certain was wrong.
    pub log_loss: Option<Measure>,
    /// Curves, by binning; never empty.
    pub curves: Vec<ReliabilityCurve>,
}

/// A map from what is stated to a probability, to be applied as it stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RecalibrationMap {
    /// Steps as [from this value on, probability], ascending. Below the first step its probability holds.
    Isotonic(Vec<[f64; 2]>),
    /// 1 / (1 + exp(−(slope · value + intercept))), as [slope, intercept].
    Platt([f64; 2]),
}

/// What a recalibration would give.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecalibrationAudit {
    /// `isotonic` or `platt`.
    pub method: String,
    /// Folds, cut by cluster.
    pub folds: u32,
    /// The probabilities that maps fitted on the other folds give.
    pub scores: ProbabilityScores,
    /// Brier score as stated less that of the recalibrated, item by item. Absent for scores, which state no probability.
    pub brier_gain: Option<Measure>,
    /// The map fitted on all labelled items.
    pub map: RecalibrationMap,
}

/// Whether confidences (or scores, recalibrated) mean what they say.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reliability {
    /// `confidence` or `score`.
    pub of: String,
    /// What the probability is of, in words.
    pub event: String,
    /// Share of items on which it came true.
    pub event_share: f64,
    /// Labelled items left out: of more than 50,000, scores of evenly spaced clusters are taken.
    #[serde(default)]
    pub n_left_out: u64,
    /// Distinct values; where maps were fitted to groups of neighbours, the number of groups.
    pub n_values: u64,
    /// Whether values were so many that maps were fitted to groups of neighbours.
    pub is_grouped: bool,
    /// As stated. Absent for scores, which are no probabilities.
    pub as_stated: Option<ProbabilityScores>,
    /// Isotonic regression and Platt's sigmoid, cross-fitted. Empty with too few clusters, or where everything or nothing came true.
    pub recalibrations: Vec<RecalibrationAudit>,
}
