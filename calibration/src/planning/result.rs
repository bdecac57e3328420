//! What a plan says: the types of `assize plan --json`, schema `assize.plan/1`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::audit::result::Unmeasured;

use super::components::{Components, Design};

/// The name of this schema.
pub const SCHEMA: &str = "assize.plan/1";

/// How an interval is made, and so a limit decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Rule {
    /// The bound of Korn and Graubard.
    Rate,
    /// The bound of Student's t.
    Mean,
}

/// A limit to decide.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedLimit {
    /// `min` or `max`.
    pub side: String,
    /// Its value.
    pub value: f64,
}

/// A figure that the study is to measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figure {
    /// The measure.
    pub measure: String,
    /// Its limit in the gate, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<PlannedLimit>,
    /// Its value, as the pilot estimates it or as assumed.
    pub truth: f64,
    /// The ends of the pilot's interval; the value itself where assumed.
    pub ends: [f64; 2],
    /// The ends of the pilot's 90 % interval, between which the assurance is averaged.
    pub ends_90: [f64; 2],
    /// How it is decided.
    pub rule: Rule,
    /// Items that it rests on, for each item of the study: the share labelled wrong for false accepts.
    pub class_share: f64,
    /// Items of a group that it rests on.
    pub items_per_group: f64,
    /// Where its variance comes from.
    pub components: Components,
    /// The fewest answers of an item in one order that it takes.
    pub needs_repeats: u32,
    /// The orders it takes.
    pub needs_orders: u32,
}

/// What the plan starts from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pilot {
    /// Whether figures are assumed, not measured.
    pub is_assumed: bool,
    /// The judge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<String>,
    /// Its arm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arm: Option<String>,
    /// Items; 0 where assumed.
    pub n_items: u64,
    /// Independent clusters; 0 where assumed.
    pub n_clusters: u64,
    /// Judgements; 0 where assumed.
    pub n_judgements: u64,
    /// The usual number of answers of an item in one order.
    pub repeats: u32,
    /// Orders that items were shown in.
    pub orders: u32,
    /// What there is to measure, limits of the gate first.
    pub figures: Vec<Figure>,
    /// Limits of the gate that cannot be planned, and why.
    pub left_out: Vec<Unmeasured>,
    /// Other judges on the same items.
    pub comparisons: Vec<PilotComparison>,
    /// The price of a judgement, where the log has prices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<f64>,
    /// What the reader must know of it.
    pub notes: Vec<String>,
}

/// The judge against another on the same items.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PilotComparison {
    /// The other judge, or what is assumed of it.
    pub other: String,
    /// The share of items right of this judge less that of the other; absent where assumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<f64>,
    /// The chance that of one answer of each on an item just one is right.
    pub discordance: f64,
    /// The variance of the difference of an item's two means, clusters reckoned in, with the pilot's repeats; absent where assumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variance: Option<f64>,
}

/// What the study costs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Costs {
    /// A label of one item.
    pub label: f64,
    /// One judgement.
    pub call: f64,
    /// Where they come from, in words.
    pub basis: String,
}

impl Costs {
    /// Returns what a design costs.
    #[must_use]
    pub fn of(&self, design: &Design) -> f64 {
        self.label * design.n_items as f64 + self.call * design.judgements() as f64
    }
}

/// What is asked of the study.
#[derive(Clone, Debug, PartialEq)]
pub struct Wishes {
    /// Two-sided confidence level of the intervals.
    pub level: f64,
    /// The chance with which all limits are to be decided together.
    pub power: f64,
    /// Costs.
    pub costs: Costs,
}

/// What the gate would say of a judge whose figures are the planned ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Aim {
    /// All limits are kept; all are to be shown.
    Fit,
    /// One is broken at least; one is to be shown.
    Unfit,
    /// A figure lies on its limit: no number of items decides.
    Neither,
}

/// One figure under one design.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Expected {
    /// The measure.
    pub measure: String,
    /// The interval to expect around the planned value. Absent where the design does not measure it.
    pub interval: Option<[f64; 2]>,
    /// How often its limit would be decided the right way. Absent without a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<f64>,
}

/// What one design gives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DesignRow {
    /// The design.
    pub design: Design,
    /// Judgements.
    pub judgements: u64,
    /// What it costs.
    pub cost: f64,
    /// Each figure.
    pub figures: Vec<Expected>,
    /// How often the gate decides, all limits together, were they independent (which errs on the low side where they rest on the same
    /// answers). Absent where the design leaves a limit unmeasured.
    pub joint_power: Option<f64>,
    /// The same were they as unlucky as can be (Bonferroni).
    pub joint_power_at_least: Option<f64>,
    /// How often the gate would say "fit", the planned values being as uncertain as the pilot left them.
    pub assurance: Option<f64>,
}

/// Which values are planned for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scenario {
    /// The pilot's estimates, or what was assumed.
    Estimate,
    /// Every limit's figure at the end of its interval that is farther on the good side.
    BetterEnds,
    /// Every limit's figure at the other end.
    WorseEnds,
}

/// The cheapest design for one scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Chosen {
    /// Which values are planned for.
    pub scenario: Scenario,
    /// What the gate would say.
    pub aim: Aim,
    /// The design. Absent: none of up to a million items is enough.
    pub row: Option<DesignRow>,
    /// Why there is none, or what to know of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub says: Option<String>,
    /// The same found by simulating the gate on items drawn from the pilot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulated: Option<SimulatedGate>,
}

/// The gate itself, held against simulated studies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SimulatedGate {
    /// The design simulated.
    pub design: Design,
    /// Studies simulated.
    pub n_studies: u32,
    /// How often every planned limit was met, or (where the aim is unfit) one was broken.
    pub power: f64,
    /// Its Monte-Carlo interval (Wilson, 95 %).
    pub power_interval: [f64; 2],
    /// How often each planned limit was decided the right way.
    pub by_limit: Vec<(String, f64)>,
    /// Whether the power wanted is reached.
    pub is_enough: bool,
}

/// How many items one limit takes alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Alone {
    /// The measure.
    pub measure: String,
    /// `min` or `max`.
    pub side: String,
    /// The limit.
    pub limit: f64,
    /// The value planned for.
    pub truth: f64,
    /// The pilot's interval.
    pub ends: [f64; 2],
    /// Items of the study with which it is decided with the power wanted, were the truth the estimate, the lower, the upper end. `null`:
    /// none of up to a million.
    pub n_items: [Option<u64>; 3],
    /// The same by the formula that the gate's further items use, at the estimate.
    pub by_formula: Option<u64>,
}

/// How often an item is best asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BestRepeats {
    /// The measure, a mean over answers.
    pub measure: String,
    /// σ² within over σ² between items.
    pub variance_ratio: f64,
    /// k*, answers of an item in all.
    pub repeats: f64,
}

/// What comparing with another judge takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparisonPlan {
    /// The other judge, or what is assumed of it.
    pub other: String,
    /// The share of items on which just one is right.
    pub discordance: f64,
    /// The difference seen in the pilot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<f64>,
    /// Items that would show it with the power wanted (Connor 1987), and by the repeats of the pilot (paired means).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items_to_show: Option<u64>,
    /// The same from means of the pilot's repeats, clusters reckoned in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items_to_show_by_means: Option<u64>,
    /// Items, and the smallest difference that they show, one answer an item (Connor 1987).
    pub detectable: Vec<(u64, Option<f64>)>,
}

/// The plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// `assize.plan/1`.
    pub schema: String,
    /// The version of the tool.
    pub version: String,
    /// Files, or the assumptions as stated.
    pub source: Vec<String>,
    /// The gate's name.
    pub gate: String,
    /// Level of the intervals.
    pub level: f64,
    /// The joint power wanted.
    pub power: f64,
    /// The seed of the simulation.
    pub seed: u64,
    /// Costs.
    pub costs: Costs,
    /// What it starts from.
    pub pilot: Pilot,
    /// The cheapest designs, by scenario.
    pub chosen: Vec<Chosen>,
    /// What each limit takes by itself.
    pub alone: Vec<Alone>,
    /// Many designs.
    pub designs: Vec<DesignRow>,
    /// The best split between repeats and items, for means.
    pub best_repeats: Vec<BestRepeats>,
    /// Comparing with other judges.
    pub comparisons: Vec<ComparisonPlan>,
    /// What to know besides.
    pub notes: Vec<String>,
}
