//! The audit: a log in, what it says about each judge out. A pure function of its arguments.

pub mod catalogue;
pub mod result;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::judgement::OutcomeKind;

/// How to audit. The defaults suit a log about which nothing is known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AuditConfig {
    /// Two-sided confidence level of every interval, in 0.5..1.
    pub level: f64,
    /// Seed of whatever draws at random. The same seed and log give the same result on any number of threads.
    pub seed: u64,
    /// Which outcome to audit when rows carry several. Absent: choice, else verdict, else score, else category.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<OutcomeKind>,
    /// The lowest and highest score possible. Absent: the lowest and highest seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<[f64; 2]>,
    /// A score of at least this accepts. Absent: scores are only ranked, and thresholds are swept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accept_at: Option<f64>,
    /// A label that is a score and at least this counts as right. Absent: only 0/1 and accept/reject labels do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub good_at: Option<f64>,
    /// The share of right items in production, for predictive values. Absent: the share among the labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_rate: Option<f64>,
    /// Repeats at which k-dependent stability figures are stated.
    pub stability_repeats: u32,
    /// The cap on false accepts for the chosen threshold.
    pub false_accept_cap: f64,
    /// Audit only this judge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge: Option<String>,
    /// Audit only this arm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arm: Option<String>,
}

impl Default for AuditConfig {
    fn default() -> Self {
        Self {
            level: 0.95,
            seed: 1,
            outcome: None,
            scale: None,
            accept_at: None,
            good_at: None,
            base_rate: None,
            stability_repeats: 5,
            false_accept_cap: 0.1,
            judge: None,
            arm: None,
        }
    }
}
