//! Looks at a log that grows: what is recorded of each, and what those before this one make of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Fitness;

/// The name of the schema of [`Look`].
pub const LOOK_SCHEMA: &str = "assize.look/1";

/// One audit of one judge: a line of the ledger of looks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Look {
    /// `assize.look/1`.
    pub schema: String,
    /// The judge.
    pub judge: String,
    /// Its arm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arm: Option<String>,
    /// A digest of what was asked: the gate's limits, and the settings that its measures depend on.
    pub question: String,
    /// A digest of the set of items.
    pub items: String,
    /// Items judged.
    pub n_items: u64,
    /// Independent clusters.
    pub n_clusters: u64,
    /// Judgements.
    pub n_judgements: u64,
    /// Looks that were planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned: Option<u32>,
    /// Whether the evidence allowed any number of looks.
    #[serde(default)]
    pub anytime: bool,
    /// The verdict.
    pub fitness: Fitness,
}

/// What earlier looks make of this one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LookHistory {
    /// Which look this is, from 1. The same data audited again are no new look.
    pub look: u64,
    /// Looks planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned: Option<u32>,
    /// Clusters at each look so far.
    pub n_clusters: Vec<u64>,
    /// Probability that a judge exactly at a limit was taken to keep it at one of these looks at least, were each the only one. Absent where
    /// looks were planned or the evidence allows any number of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub false_pass: Option<f64>,
    /// Whether the plan was broken, so that nothing can be called fit any more.
    pub is_void: bool,
    /// In words.
    pub words: String,
}
