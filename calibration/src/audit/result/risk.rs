//! How often a gate would change its mind about the same items.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::gate::LimitState;

/// How often the gate would come out otherwise, were the same items judged again though nothing changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GateRisk {
    /// How often the items were judged again, in simulation.
    pub n_redraws: u32,
    /// How answers were drawn, in words.
    pub method: String,
    /// How often two answers of a cell differ, as measured (an unparsed reply is an answer of its own).
    pub flip_rate: f64,
    /// How often they would differ, drawn from each cell's few answers alone: too seldom, by (k − 1)/k.
    pub plain_flip_rate: f64,
    /// The number of answers that what is known of like cells counts for.
    pub concentration: f64,
    /// The gate as it is: green is "fit", which needs every interval to keep its limit.
    pub interval_rule: RuleRisk,
    /// A gate that looks at estimates alone: green while each keeps its limit. Where unparsed replies or missing measures make the
    /// verdict inconclusive, it does not.
    pub point_rule: RuleRisk,
    /// Each limit by itself.
    pub limits: Vec<LimitRisk>,
    /// What brings the risk of a green gate down, in order of cost. Empty where it is low, or where the gate is red.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remedies: Vec<Remedy>,
    /// What could not be tried, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untried: Vec<String>,
}

/// The whole gate under one rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RuleRisk {
    /// Whether it is green now.
    pub is_green: bool,
    /// Share of redraws in which it is not what it is now, shares taken as estimated: the risk.
    pub risk: f64,
    /// Its Monte-Carlo interval (Wilson, 95 %).
    pub risk_interval: [f64; 2],
    /// The same where the shares themselves are only known from the answers seen.
    pub risk_with_uncertain_shares: f64,
    /// Share of redraws called fit, inconclusive and unfit; of the point rule green, 0 and red.
    pub verdicts: [f64; 3],
}

/// One limit of the gate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LimitRisk {
    /// The measure.
    pub measure: String,
    /// `min` or `max`.
    pub side: String,
    /// The limit's value.
    pub limit: f64,
    /// The estimate now.
    pub estimate: f64,
    /// The standard deviation of the estimate over redraws of the same items: noise of the judge alone.
    pub standard_error: f64,
    /// The state now.
    pub state: LimitState,
    /// Share of redraws in which it is in another state.
    pub changes: f64,
    /// Share of redraws in which it is not met.
    pub not_met: f64,
    /// Share of redraws in which the estimate itself is beyond the limit.
    pub past: f64,
}

/// A way to a steadier gate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Remedy {
    /// In words.
    pub what: String,
    /// How many times as many answers an item.
    pub times_answers: u32,
    /// Further judgements it takes.
    pub further_judgements: u64,
    /// Limits that it changes, by measure.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub limits: BTreeMap<String, f64>,
    /// The risk under it, by the interval rule.
    pub risk: f64,
    /// Its Monte-Carlo interval (Wilson, 95 %).
    pub risk_interval: [f64; 2],
    /// Whether the risk is at most 5 %.
    pub is_enough: bool,
}
