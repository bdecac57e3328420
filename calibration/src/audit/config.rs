//! How to audit, and what of it is in range.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::judgement::OutcomeKind;
use crate::prevalence::LabelSampling;

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
    /// Look after every completed cluster, by statistics that allow it, taking clusters in this order. Absent: look once, at all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anytime: Option<LookOrder>,
    /// How many items are planned at most: limits are looked at at every twentieth of them, by evidence that is spent when they are all there,
    /// and the audit says when going on is unlikely to bring a verdict. Absent: there is no plan. Needs no `anytime`, whose order it takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planned_items: Option<u64>,
    /// How many looks at a growing log are planned: each limit is then tested at a level that errs that many times less often (Bonferroni).
    /// Absent: one look.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planned_looks: Option<u32>,
    /// By judge: the generators of items that are its own model. Absent for a judge: those of its name, apart from dates and spelling.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub own_generators: BTreeMap<String, Vec<String>>,
    /// The alternative-annotator test's ε: how much less often than a person a judge may be nearest to the others, for what it saves.
    /// Absent: .2, as beside experts; .15 suits skilled people, .1 crowds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epsilon: Option<f64>,
    /// What a false accept and a false reject cost, in any one unit. Absent: costs are not weighed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub costs: Option<[f64; 2]>,
    /// How the labelled items were chosen. Only a random sample of the stream allows its pass rate to be taken from the labels.
    #[serde(skip_serializing_if = "LabelSampling::is_unknown")]
    pub label_sampling: LabelSampling,
    /// Whether the judge's prompt was tuned on these items, so that it may do worse on others.
    #[serde(skip_serializing_if = "is_false")]
    pub tuned_on_items: bool,
    /// Items that stand in the prompt as anchors: they, and those that share a group with one, are left out of what is judged under the
    /// fixed set of anchors (or under prompts of which the log states no anchors).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub anchor_items: Vec<String>,
    /// How time is cut into windows: `day`, `week`, or how many windows of as many judgements each. Absent: weeks or days where
    /// there are enough of them, else four windows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub windows: Option<super::Windows>,
    /// Audit only this judge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge: Option<String>,
    /// Audit only this arm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arm: Option<String>,
    /// Whether to find out how often the gate would come out otherwise on the same items. It takes a thousand times as long.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub gate_risk: bool,
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
            anytime: None,
            planned_items: None,
            planned_looks: None,
            own_generators: BTreeMap::new(),
            epsilon: None,
            costs: None,
            label_sampling: LabelSampling::Unknown,
            tuned_on_items: false,
            anchor_items: Vec::new(),
            windows: None,
            judge: None,
            arm: None,
            gate_risk: false,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_false(value: &bool) -> bool {
    !*value
}

/// In which order clusters are taken when each is looked at. It has to be random for the looks to be honest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LookOrder {
    /// As the log completes them: right where items were asked about in random order. Items added later come last.
    Log,
    /// Shuffled by the seed: right for a log that is complete.
    Shuffled,
}

/// A setting that is out of its range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} {must}")]
pub struct BadSetting {
    /// The field of [`AuditConfig`].
    pub field: &'static str,
    /// What it must be, and what it is.
    pub must: String,
}

impl AuditConfig {
    /// Returns the alternative-annotator test's ε.
    #[must_use]
    pub fn epsilon(&self) -> f64 {
        self.epsilon.unwrap_or(0.2)
    }

    /// Returns in which order clusters are looked at, one after another; `None` where all are looked at once.
    #[must_use]
    pub fn look_order(&self) -> Option<LookOrder> {
        self.anytime.or(self.planned_items.map(|_| LookOrder::Log))
    }

    /// Returns the two-sided level at which limits are tested: that of the intervals, or what it leaves to each of the looks planned.
    #[must_use]
    pub fn gate_level(&self) -> f64 {
        1.0 - (1.0 - self.level) / f64::from(self.planned_looks.unwrap_or(1).max(1))
    }

    /// Checks that every value is in its range.
    ///
    /// # Errors
    /// Returns the first setting that is not.
    pub fn check(&self) -> Result<(), BadSetting> {
        let bad = |field, must: String| Err(BadSetting { field, must });
        let finite = |field, value: Option<f64>| match value {
            Some(number) if !number.is_finite() => bad(field, format!("must be a finite number, not {number}")),
            _ => Ok(()),
        };
        if !(self.level >= 0.5 && self.level < 1.0) {
            return bad("level", format!("must be at least 0.5 and less than 1, not {}", self.level));
        }
        if let Some(rate) = self.base_rate.filter(|rate| !(*rate > 0.0 && *rate < 1.0)) {
            let must = "must be a share above 0 and below 1 (where nothing, or everything, is good, there is nothing to predict)";
            return bad("base_rate", format!("{must}, not {rate}"));
        }
        if !(self.false_accept_cap >= 0.0 && self.false_accept_cap < 1.0) {
            let must = "must be a share of at least 0 and less than 1";
            return bad("false_accept_cap", format!("{must}, not {}", self.false_accept_cap));
        }
        if let Some(costs) = self.costs
            && !(costs.iter().all(|cost| cost.is_finite() && *cost >= 0.0) && costs.iter().any(|cost| *cost > 0.0))
        {
            let must = "must be two finite numbers of at least 0, not both 0";
            return bad("costs", format!("{must}, not {}:{}", costs[0], costs[1]));
        }
        finite("accept_at", self.accept_at)?;
        finite("good_at", self.good_at)?;
        if let Some([low, high]) = self.scale
            && !(low.is_finite() && high.is_finite() && low < high)
        {
            return bad("scale", format!("must go from a lower to a higher number, not from {low} to {high}"));
        }
        if let Some(epsilon) = self.epsilon.filter(|epsilon| !(*epsilon >= 0.0 && *epsilon < 1.0)) {
            return bad("epsilon", format!("must be a share of at least 0 and less than 1, not {epsilon}"));
        }
        if let Some(super::Windows::Count(n)) = self.windows.filter(|windows| *windows == super::Windows::Count(0)) {
            return bad("windows", format!("must be day, week, or at least 1, not {n}"));
        }
        if self.planned_items == Some(0) {
            return bad("planned_items", "must be at least 1, not 0".to_owned());
        }
        if let Some(planned) = self.planned_looks {
            if !(1..=1000).contains(&planned) {
                return bad("planned_looks", format!("must be from 1 to 1000, not {planned}"));
            }
            if self.look_order().is_some() {
                let must = "must not be given with anytime or planned_items, whose evidence allows any number of looks";
                return bad("planned_looks", must.to_owned());
            }
        }
        if self.stability_repeats < 2 {
            return bad("stability_repeats", format!("must be at least 2, not {}", self.stability_repeats));
        }
        Ok(())
    }
}
