//! Whether a judge still answers as it did, on the same fixed items: schema `assize.sentinel/1`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ComparedSide, Measure};
use crate::audit::AuditConfig;
use crate::judgement::OutcomeKind;
use crate::problem::Problem;

/// The name of the schema of [`Sentinel`].
pub const SENTINEL_SCHEMA: &str = "assize.sentinel/1";

/// What the data say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Steadiness {
    /// It answers these items as it did: whatever changed lies within the margin.
    Unchanged,
    /// The data decide neither way.
    Undecided,
    /// It answers these items otherwise than it did, by more than its own noise.
    Changed,
}

/// One question about the change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SentinelFigure {
    /// `answers` (the answers themselves, whatever their direction), `accept_rate`, `mean_score`, `preference_for_b`, `accuracy`
    /// or `unparsed_rate`.
    pub figure: String,
    /// Its mean before, on the items shared. Absent for `answers`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<f64>,
    /// Its mean now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<f64>,
    /// Now less before. For `answers`: how much more often an answer before and one now differ than two of one time do, as a share (or, for
    /// scores, as mean distance over the scale's width). Absent where it is not identified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<Measure>,
    /// p value of "these items are answered as before", by exchanging the answers of each item. Absent where exchanging them tells nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_value: Option<f64>,
    /// The same after Holm's correction over all figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_holm: Option<f64>,
    /// Changes up to this size do not matter, in the figure's own unit. Absent where the scale is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub margin: Option<f64>,
    /// Whether the whole interval lies within the margin.
    pub is_within: bool,
    /// Why something is absent, or how it was made.
    pub note: String,
}

/// One item that is answered otherwise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SentinelItem {
    /// The item.
    pub item: String,
    /// The dimension, if the log has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dimension: Option<String>,
    /// Its answers before, by order and repeat.
    pub before: Vec<String>,
    /// Its answers now.
    pub now: Vec<String>,
    /// p value of "it is answered as before".
    pub p_value: f64,
    /// The same corrected for all items (Benjamini and Hochberg 1995): the share of false alarms among items up to this one.
    pub p_corrected: f64,
}

/// The whole comparison with the baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sentinel {
    /// `assize.sentinel/1`.
    pub schema: String,
    /// The version of the tool.
    pub version: String,
    /// The baseline.
    pub before: ComparedSide,
    /// The answers held against it.
    pub now: ComparedSide,
    /// How both were measured.
    pub config: AuditConfig,
    /// Changes up to this share (of the scale's width, for scores) do not matter.
    pub margin: f64,
    /// The kind of answer.
    pub outcome: OutcomeKind,
    /// Items answered both times.
    pub n_items: u64,
    /// Conditions of them (orders, places, sets of anchors) answered both times.
    pub n_cells: u64,
    /// Those of them with two answers or more on one side at least: only they tell a change of answers from noise.
    pub n_cells_repeated: u64,
    /// Share of pairs, one answer before and one now, that differ: noise and change together.
    pub disagreement: f64,
    /// What follows.
    pub steadiness: Steadiness,
    /// Why, in a sentence or two.
    pub why: String,
    /// What was asked, the answers themselves first.
    pub figures: Vec<SentinelFigure>,
    /// Items that are answered otherwise once all are counted, the clearest first, at most 50.
    pub items: Vec<SentinelItem>,
    /// How many such items there are.
    pub n_items_changed: u64,
    /// Exchanges of answers drawn.
    pub n_permutations: u32,
    /// What a reader must know, in words.
    pub notes: Vec<String>,
    /// What is wrong with the logs.
    pub problems: Vec<Problem>,
}
