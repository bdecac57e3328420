//! The gate: the limits a judge must keep, and whether the data show that it does.
//!
//! A limit is met only if the interval's bound meets it, and broken only if the other bound breaks it. Fit needs every
//! limit met, which needs no correction for many limits (Berger 1982); unfit needs one broken after Holm's correction.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::judgement::OutcomeKind;

/// One limit on a measure. At least one of `min` and `max` is stated.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// The measure must be at least this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// The measure must be at most this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// Whether a log that cannot measure it makes the verdict inconclusive. Otherwise the limit is passed over, and said so.
    #[serde(default)]
    pub required: bool,
    /// The kinds of outcome it is for. Empty: all. A flip rate, say, means much for verdicts and little for fine scores.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only_for: Vec<OutcomeKind>,
}

impl Limit {
    /// Returns whether the limit is for this kind of outcome.
    #[must_use]
    pub fn is_for(&self, kind: OutcomeKind) -> bool {
        self.only_for.is_empty() || self.only_for.contains(&kind)
    }
}

/// The limits a judge must keep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gate {
    /// Where it came from: `built in` or a file's name.
    #[serde(default)]
    pub name: String,
    /// By measure id.
    pub limits: BTreeMap<String, Limit>,
    /// Whether a judge may be called fit without any measured limit on being right.
    #[serde(default)]
    pub truth_optional: bool,
}

/// Whether a limit is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LimitState {
    /// The bound of the interval keeps the limit.
    Met,
    /// The other bound breaks it, after Holm's correction over all limits.
    Broken,
    /// The interval holds the limit, or unparsed answers could tip it.
    Undecided,
    /// This log cannot measure it.
    Unmeasured,
}

/// One limit of the gate, applied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LimitResult {
    /// The measure.
    pub measure: String,
    /// `min` or `max`.
    pub side: String,
    /// The limit's value.
    pub limit: f64,
    /// Met, broken, undecided or unmeasured.
    pub state: LimitState,
    /// In words, with the figures.
    pub why: String,
    /// One-sided p value of the limit being kept, after Holm's correction. Small: broken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_broken: Option<f64>,
    /// When undecided: how many further items decide with 80 % power if the estimate is right. Rounded up to two digits; absent when no
    /// number does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub further_items: Option<u64>,
    /// The same, were the truth at the lower and at the upper end of the interval. `null`: no number decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub further_items_range: Option<[Option<u64>; 2]>,
}

/// A limit of the built-in gate: the measure, and its least or greatest value.
const BUILT_IN: &[(&str, Option<f64>, Option<f64>)] = &[
    ("unparsed_rate", None, Some(0.05)),
    ("flip_rate", None, Some(0.15)),
    ("moved_over_one_point", None, Some(0.10)),
    ("swap_consistency", Some(0.75), None),
    ("position_excess", None, Some(0.10)),
    ("accuracy", Some(0.80), None),
    ("false_accept_rate", None, Some(0.10)),
    ("false_reject_rate", None, Some(0.20)),
    ("auc", Some(0.80), None),
    ("spearman", Some(0.60), None),
];

impl Gate {
    /// Returns the gate used when none is given: limits that a judge of usable quality keeps, each passed over when the
    /// log cannot measure it, and no judge fit without a measured limit on being right.
    #[must_use]
    pub fn built_in() -> Self {
        let limit = |&(id, min, max): &(&str, Option<f64>, Option<f64>)| {
            // Two scores that differ by a hair differ; what counts for scores is how far they move.
            let discrete = [OutcomeKind::Verdict, OutcomeKind::Choice, OutcomeKind::Category];
            let only_for = if id == "flip_rate" { discrete.to_vec() } else { Vec::new() };
            (id.to_owned(), Limit { min, max, required: false, only_for })
        };
        Self { name: "built in".to_owned(), limits: BUILT_IN.iter().map(limit).collect(), truth_optional: false }
    }
}
