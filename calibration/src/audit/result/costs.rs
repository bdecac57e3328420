//! What errors cost at each threshold, and the threshold that costs least.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Measure;

/// A threshold with what it costs, and what it costs when chosen on other items.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CostedThreshold {
    /// Accept when score ≥ this. Absent: accept nothing.
    pub threshold: Option<f64>,
    /// Its cost on the items that chose it, which flatters.
    pub expected_cost: Measure,
    /// The cost on folds that did not choose.
    pub cross_validated: Option<Measure>,
}

/// Thresholds weighed by what errors cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThresholdCosts {
    /// Cost of a false accept and of a false reject.
    pub costs: [f64; 2],
    /// The share of right items that costs are reckoned at.
    pub base_rate: f64,
    /// The cost of each threshold swept, in their order.
    pub by_threshold: Vec<f64>,
    /// The threshold that costs least.
    pub cheapest: CostedThreshold,
    /// The one chosen by the cap on false accepts.
    pub by_cap: CostedThreshold,
    /// What accepting everything costs, and accepting nothing.
    pub without_looking: [f64; 2],
}
