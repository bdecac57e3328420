//! What looking after every item came to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Fitness;
use crate::gate::LimitState;

/// An audit looked at after every completed cluster, by statistics that stay valid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Looks {
    /// In which order clusters were taken: `log` or `shuffled`.
    pub order: String,
    /// What a cluster is: `group` if the log has groups, else `item`.
    pub unit: String,
    /// Clusters taken.
    pub n_clusters: u64,
    /// Judgements of them.
    pub n_judgements: u64,
    /// Items of them.
    #[serde(default)]
    pub n_items: u64,
    /// How many items were planned. Absent: there was no plan, and looking may go on for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned_items: Option<u64>,
    /// When the first verdict other than inconclusive could have been given. Absent: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided: Option<Decided>,
    /// When it could have been given up: going on to the end of the plan was unlikely to bring a verdict. Absent: never, or not before a verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub futile: Option<Futile>,
    /// By limit of the gate that this log can measure.
    pub limits: Vec<LimitLooks>,
    /// What a reader should know before believing it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cautions: Vec<String>,
}

/// The first look with a verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Decided {
    /// Clusters completed by then.
    pub n_clusters: u64,
    /// Items of them.
    #[serde(default)]
    pub n_items: u64,
    /// Judgements made by then.
    pub n_judgements: u64,
    /// The verdict.
    pub fitness: Fitness,
}

/// The first look from which one look at the end of the plan was unlikely to bring a verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Futile {
    /// Clusters completed by then.
    pub n_clusters: u64,
    /// Items of them.
    pub n_items: u64,
    /// Judgements made by then.
    pub n_judgements: u64,
    /// The chance, as things stood, that one look at all items planned would find every limit met: that of the limit least likely to be, which
    /// is no lower than that of all together.
    pub chance_fit: f64,
    /// The chance that it would find a limit broken: the sum over limits, which is no lower than that of any.
    pub chance_unfit: f64,
    /// The limits that were unlikely to be found met, by measure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub because: Vec<String>,
}

/// One limit, looked at again and again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LimitLooks {
    /// The measure.
    pub measure: String,
    /// `min` or `max`.
    pub side: String,
    /// The limit's value.
    pub limit: f64,
    /// How it was looked at: bets after every cluster, a share of the error at a few looks, or the looks of a plan.
    pub method: String,
    /// Values (clusters that have one) or looks that it rests on.
    pub n: u64,
    /// The mean of the values, or the estimate at the last look. Absent before the first.
    pub estimate: Option<f64>,
    /// The lower end of the always-valid interval.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// p value, at all looks together, of the limit being missed: small where it is met. Unparsed replies count against the judge.
    pub p_met: f64,
    /// p value, at all looks together, of the limit being kept: small where it is broken. Before Holm's correction.
    pub p_broken: f64,
    /// Clusters completed when the limit was first met or broken. Absent: undecided to the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_after: Option<u64>,
    /// With a plan, at the last look before its end: the chances that one look at all items planned finds the limit met, and broken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chances: Option<[f64; 2]>,
    /// Met, broken or undecided at the end.
    pub state: LimitState,
}
