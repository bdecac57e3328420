//! `[study]`: which judgements to collect; `[budget]`: what they may cost.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Prompt;

/// In which orders two texts are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Orders {
    /// Each pair in both, so that position can be told from quality.
    #[default]
    Both,
    /// As the file has them.
    Ab,
    /// Swapped.
    Ba,
}

/// `[study]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Study {
    /// How often each question is asked.
    pub repeats: u32,
    /// In which orders two texts are shown.
    pub orders: Orders,
    /// Most items, drawn by the seed. Where absent, all.
    pub items: Option<usize>,
    /// Seed of what is drawn: items, the order of questions, orders of parts, sets of anchors.
    pub seed: u64,
    /// Conditions beside that of the file, each an arm that differs in one thing.
    pub vary: Vary,
}

impl Default for Study {
    fn default() -> Self {
        Self { repeats: 5, orders: Orders::default(), items: None, seed: 1, vary: Vary::default() }
    }
}

/// `[study.vary]`
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Vary {
    /// Temperatures.
    pub temperature: Vec<f64>,
    /// Numbers of anchors.
    pub anchors: Vec<usize>,
    /// How many sets of anchors of each number, drawn by the seed.
    pub anchor_sets: Option<usize>,
    /// Other words of the question, by name.
    pub wording: BTreeMap<String, Prompt>,
    /// Other models of the same server.
    pub model: Vec<String>,
    /// How many other orders of the parts of a text (its paragraphs).
    pub parts: Option<usize>,
    /// Items made to be rejected: empty, constant, copied question, padded, confident nonsense, injected instruction, known bad
    /// labelled good.
    pub probes: bool,
}

/// `[budget]`: where a study stops, at the latest, beside the calls that are under way. What was collected is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Budget {
    /// Most requests.
    pub calls: Option<u64>,
    /// Most tokens, sent and received.
    pub tokens: Option<u64>,
    /// Most money, in the currency of the prices.
    pub money: Option<f64>,
}
