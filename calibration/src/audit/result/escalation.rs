//! Items that a person should look at: the types of `assize escalate --json`, schema `assize.escalation/1`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name of this schema.
pub const ESCALATION_SCHEMA: &str = "assize.escalation/1";

/// What a person is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Purpose {
    /// The item has no label: give it one.
    Label,
    /// It has one that every judge speaks against: look at it again.
    Check,
}

/// How an item came to be on the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Picked {
    /// For what its label tells. Such labels are no random sample.
    Ranked,
    /// By lot, from all items without a label: an unbiased part.
    Random,
}

/// One item to look at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Escalated {
    /// The item.
    pub item: String,
    /// The criterion, if the log has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dimension: Option<String>,
    /// Its group, if the log has groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// What is asked.
    pub purpose: Purpose,
    /// How it was picked.
    pub picked: Picked,
    /// To label: what it adds, the first on the list being 1. To check: the chance that the label is wrong, if 5 % of labels are. 0..=1.
    pub score: f64,
    /// By how much the label is expected to lower the variance of the stratified rate of errors. Absent for items to check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variance_reduction: Option<f64>,
    /// How far the answers are from agreeing, 0..=1.
    pub doubt: f64,
    /// Why it is on the list, in words.
    pub why: String,
    /// What a label would change, in words.
    pub changes: String,
    /// Its label, as the audit reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

/// Items alike in what was answered and how surely.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stratum {
    /// In words: `accept, torn`.
    pub name: String,
    /// Items.
    pub n_items: u64,
    /// Those with a label.
    pub n_labelled: u64,
    /// The share of them on which the usual answer is wrong, drawn towards what doubt suggests while labels are few.
    pub error_rate: f64,
    /// How many of the ranked items are of it.
    pub n_picked: u64,
}

/// The list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Escalation {
    /// `assize.escalation/1`.
    pub schema: String,
    /// The version of the tool.
    pub version: String,
    /// Files.
    pub source: Vec<String>,
    /// The judge whose rates the labels are for.
    pub judge: String,
    /// Items (times criteria).
    pub n_items: u64,
    /// Those without a label.
    pub n_unlabelled: u64,
    /// Limits on being right that the data leave open.
    pub open_limits: Vec<String>,
    /// To label, then to check; each the most telling first.
    pub items: Vec<Escalated>,
    /// The strata.
    pub strata: Vec<Stratum>,
    /// How items were valued, in words.
    pub method: String,
    /// What to know besides.
    pub notes: Vec<String>,
}
