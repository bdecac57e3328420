//! What an audit says: the types of `report.json`, schema `assize.audit/1`.
//!
//! These types are read by renderers and by people's scripts. A field is added freely; one that is renamed or changes
//! its meaning changes the schema's number.

mod anchors;
mod biases;
mod costs;
mod escalation;
mod label_noise;
mod ledger;
mod looks;
mod panel;
mod pass_rate;
mod people;
mod reliability;
mod risk;
mod scale_use;
mod sentinel;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::gate::{Gate, LimitResult};
use crate::judgement::OutcomeKind;
use crate::problem::Problem;

mod drift;
mod side_by_side;
mod style;

pub use anchors::{AnchorDifference, AnchorFigure, AnchorPoint, AnchorStudy, SetFigure};
pub use biases::{BiasTest, Biases, GeneratorErrors};
pub use costs::{CostedThreshold, ThresholdCosts};
pub use drift::{ChangePoint, Drift, DriftFigure, DriftWindow, OddWindow};
pub use escalation::{ESCALATION_SCHEMA, Escalated, Escalation, Picked, Purpose, Stratum};
pub use label_noise::{AssumedNoise, LabelNoise, LabelsToTurn};
pub use ledger::{LOOK_SCHEMA, Look, LookHistory};
pub use looks::{Decided, Futile, LimitLooks, Looks};
pub use panel::{DoubtfulItem, ErrorPair, Panel, PanelMethod, PanelRater, PanelWorth, VoteWorth};
pub use pass_rate::CorrectedPassRate;
pub use people::{AgainstPerson, AlternativeTest};
pub use reliability::{
    ProbabilityScores, RecalibrationAudit, RecalibrationMap, Reliability, ReliabilityCurve, ReliabilityPoint,
};
pub use risk::{GateRisk, LimitRisk, Remedy, RuleRisk};
pub use scale_use::{Halo, Likeness, ScaleUse};
pub use sentinel::{SENTINEL_SCHEMA, Sentinel, SentinelFigure, SentinelItem, Steadiness};
pub use side_by_side::{COMPARE_SCHEMA, ComparedSide, MeasuredDifference, NotCompared, SideBySide, Standing};
pub use style::{StyleEffect, StyleEffects};

/// The name of this schema.
pub const SCHEMA: &str = "assize.audit/1";

/// A number with what is needed to believe it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Measure {
    /// The point estimate. Shares and probabilities are in 0..=1.
    pub estimate: f64,
    /// The lower end of the interval. Absent where no interval is defined.
    pub low: Option<f64>,
    /// The upper end of the interval.
    pub high: Option<f64>,
    /// The confidence level of the interval, two-sided.
    pub level: f64,
    /// How many judgements (or pairs of judgements, as the method says) it rests on.
    pub n: u64,
    /// How many items.
    pub n_items: u64,
    /// How many independent clusters: groups if the log has them, else items.
    pub n_clusters: u64,
    /// How estimate and interval were made, with the definition where two exist.
    pub method: String,
    /// The interval is approximate and must not be gated on, or another care a reader should take.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cautions: Vec<String>,
    /// Further figures that belong to the number (counts, bounds, k), by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub details: BTreeMap<String, f64>,
}

/// A measure that this log does not allow, and what would.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unmeasured {
    /// The measure's id.
    pub id: String,
    /// Why it has no value here.
    pub reason: String,
    /// The columns that would allow it, or empty when the data are degenerate.
    pub needs: Vec<String>,
}

/// The verdict on a judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Fitness {
    /// Every limit is met, bound and all.
    Fit,
    /// The data decide neither way.
    Inconclusive,
    /// At least one limit is broken, bound and all.
    Unfit,
}

/// Something found about a judge, in plain words, with what to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// What is so, as a sentence with its figure.
    pub what: String,
    /// What to change, as a sentence. Empty when nothing needs changing.
    pub advice: String,
    /// The measures it rests on.
    pub measures: Vec<String>,
    /// How much it matters.
    pub weight: FindingWeight,
}

/// How much a [`Finding`] matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FindingWeight {
    /// The judge does well here.
    Good,
    /// Worth knowing.
    Note,
    /// Something to change.
    Bad,
}

/// What k votes would do, on the items with at least `k_max` draws.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VotingPoint {
    /// Draws that vote.
    pub k: u32,
    /// Expected share of right majorities. Absent without labels.
    pub accuracy: Option<Measure>,
    /// Expected share of wrong items accepted.
    pub false_accept_rate: Option<Measure>,
    /// Expected share of right items rejected.
    pub false_reject_rate: Option<Measure>,
    /// Probability that two votes of k differ, over all disjoint pairs of k-subsets. Absent where items have fewer than 2k
    /// draws, or too many kinds of answers to go through them all.
    pub flip_rate: Option<Measure>,
    /// Share of votes that end in a tie, before the tie rule.
    pub tie_share: f64,
    /// Share of votes with no parsed draw at all.
    pub empty_share: f64,
}

/// What voting would do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Voting {
    /// The rule that settles ties, in words.
    pub tie_rule: String,
    /// Largest k considered; every point uses the same items.
    pub k_max: u32,
    /// Items with at least `k_max` draws.
    pub n_items: u64,
    /// Items left out because they have fewer.
    pub n_items_left_out: u64,
    /// One point a k, ascending.
    pub points: Vec<VotingPoint>,
    /// Accuracy of the largest vote less that of one draw, item by item; `minimal_detectable` of its details is the gain that such data show with
    /// 80 % power. Absent without labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gain: Option<Measure>,
}

/// What a threshold on the score would do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThresholdPoint {
    /// Accept when score ≥ this.
    pub threshold: f64,
    /// Share of wrong items accepted.
    pub false_accept_rate: Measure,
    /// Share of right items rejected.
    pub false_reject_rate: Measure,
    /// Share of judgements that agree with the label.
    pub accuracy: Measure,
    /// Raw counts: judgements on right items accepted, on wrong items accepted, wrong rejected, right rejected.
    pub counts: [u64; 4],
}

/// The thresholds of a score, and the one chosen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Thresholds {
    /// One point a threshold, ascending.
    pub points: Vec<ThresholdPoint>,
    /// The threshold that a cap on false accepts allows, searched from the strictest down (Learn then Test). Absent when none does.
    pub chosen: Option<f64>,
    /// The cap used, 0..=1.
    pub cap: f64,
    /// False accepts and false rejects at thresholds chosen on other folds: what choosing from these data costs.
    pub cross_validated: Option<CrossValidated>,
    /// What errors cost, where costs are stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub costs: Option<ThresholdCosts>,
}

/// Error rates at thresholds chosen on the other folds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CrossValidated {
    /// How many folds, cut by cluster.
    pub folds: u32,
    /// False accepts on folds that did not choose.
    pub false_accept_rate: Measure,
    /// False rejects on folds that did not choose.
    pub false_reject_rate: Measure,
    /// How many folds found no threshold under the cap and accepted nothing.
    pub n_folds_without: u32,
}

/// A table of judged against true, judgements weighted so that each item counts once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Confusion {
    /// Names of rows (labels) and columns (answers), in the same order.
    pub categories: Vec<String>,
    /// Rows are labels, columns answers; item-weighted counts.
    pub weights: Vec<Vec<f64>>,
    /// Rows are labels, columns answers; judgements.
    pub counts: Vec<Vec<u64>>,
    /// Judgements of labelled items that could not be parsed, by label.
    pub unparsed: Vec<u64>,
}

/// What a judge that does not look would score on the same items.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Baseline {
    /// `always_accept`, `majority`, `length_only`, …
    pub name: String,
    /// In words.
    pub explanation: String,
    /// Its accuracy on the same items.
    pub accuracy: Measure,
    /// Judge minus baseline, item by item.
    pub judge_minus_baseline: Option<Measure>,
}

/// A group or item in which errors gather.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorCluster {
    /// The group or item.
    pub name: String,
    /// `false_accept`, `false_reject` or `wrong`.
    pub error: String,
    /// Expected errors in one judgement of each of its items.
    pub errors: f64,
    /// How many of its items could show this error.
    pub n_items: u64,
    /// Its share of all such errors.
    pub share: f64,
}

/// Errors by cluster, the worst first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorClusters {
    /// Whether clusters are groups or items.
    pub unit: String,
    /// The largest, at most 20 an error.
    pub clusters: Vec<ErrorCluster>,
    /// By error: the fewest clusters that hold half of the errors.
    pub half_of_errors_in: BTreeMap<String, u64>,
    /// By error: clusters with at least one such error.
    pub clusters_with_error: BTreeMap<String, u64>,
    /// By error: the variance of the rate over what unclustered errors would show (1 = no clustering).
    pub design_effect: BTreeMap<String, f64>,
}

/// One item worth looking at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorstItem {
    /// The item.
    pub item: String,
    /// The dimension, if the log has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dimension: Option<String>,
    /// Why it is here: `wrong`, `unstable`, `position`, `unparsed`.
    pub reason: String,
    /// How bad, 0..=1, or in points of the scale for scores that are unstable or far from their label; larger is worse.
    pub badness: f64,
    /// Its label, as written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Its answers in order of repeats, by order shown (`""` where none is stated).
    pub answers: BTreeMap<String, Vec<String>>,
}

/// One value of a split (an order, a label, a group) with a rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SplitRate {
    /// What the rows are split by: `label`, `order`, `group`, `attempt`, `dimension`.
    pub by: String,
    /// The value.
    pub value: String,
    /// The rate within it.
    pub rate: Measure,
}

/// How often each answer was given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AnswerShare {
    /// The answer: a score, a verdict, a candidate, a category, or `unparsed`.
    pub answer: String,
    /// Judgements.
    pub n: u64,
    /// Of all judgements.
    pub share: f64,
}

/// Measures of one dimension of the rubric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DimensionAudit {
    /// The criterion.
    pub dimension: String,
    /// By measure id.
    pub measures: BTreeMap<String, Measure>,
}

/// What the log says about one judge under one arm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JudgeAudit {
    /// The judge.
    pub judge: String,
    /// The arm, when the log has arms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arm: Option<String>,
    /// The kind of answer audited.
    pub outcome: OutcomeKind,
    /// Judgements, unparsed ones included.
    pub n_judgements: u64,
    /// Distinct items.
    pub n_items: u64,
    /// Independent clusters.
    pub n_clusters: u64,
    /// Judgements without an answer.
    pub n_unparsed: u64,
    /// Labelled items.
    pub n_labelled: u64,
    /// Judgements of one item in one cell: fewest, most.
    pub repeats: [u64; 2],
    /// fit, unfit or inconclusive.
    pub fitness: Fitness,
    /// Why, in one or two sentences.
    pub why: String,
    /// The limits of the gate, one result each.
    pub limits: Vec<LimitResult>,
    /// What looking after every cluster came to, when asked for; the limits above then rest on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub looks: Option<Looks>,
    /// What earlier looks at this judge make of this one, where they are recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub look_history: Option<LookHistory>,
    /// What was found, the gravest first.
    pub findings: Vec<Finding>,
    /// By measure id.
    pub measures: BTreeMap<String, Measure>,
    /// What could not be measured, and what would allow it.
    pub unmeasured: Vec<Unmeasured>,
    /// How often each answer was given.
    pub answers: Vec<AnswerShare>,
    /// Unparsed rate by label, order and group.
    pub unparsed_by: Vec<SplitRate>,
    /// What voting would do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub voting: Option<Voting>,
    /// What a threshold would do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thresholds: Option<Thresholds>,
    /// Whether confidences, and scores recalibrated, mean what they say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reliability: Vec<Reliability>,
    /// What of the items without labels is right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corrected_pass_rate: Option<CorrectedPassRate>,
    /// Judged against true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confusion: Option<Confusion>,
    /// What judges that do not look would score.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub baselines: Vec<Baseline>,
    /// Where errors gather.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_clusters: Option<ErrorClusters>,
    /// What sways it: the effects looked for, corrected together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub biases: Option<Biases>,
    /// Its errors by who made the items: its own model's first, then the most items first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_generator: Vec<GeneratorErrors>,
    /// What marks of style do to its answers, given label and length. Absent where the log states none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub style: Option<StyleEffects>,
    /// Whether it changed over time, where the log has times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<Drift>,
    /// Items to look at first.
    pub worst_items: Vec<WorstItem>,
    /// How often the gate would come out otherwise on the same items, where that was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate_risk: Option<GateRisk>,
    /// By criterion, when the log has several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dimensions: Vec<DimensionAudit>,
    /// Whether it could stand in for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alternative: Option<AlternativeTest>,
    /// What wrong labels could do to the verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label_noise: Option<LabelNoise>,
    /// How scores use the scale, by criterion when the log has several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scale_use: Vec<ScaleUse>,
    /// Whether criteria follow one impression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub halo: Option<Halo>,
}

/// Two judges or arms, item by item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// `arms` or `judges`.
    pub what: String,
    /// The first.
    pub a: String,
    /// The second.
    pub b: String,
    /// The measure compared: `accuracy`, `mean_score`, `flip_rate`, …
    pub measure: String,
    /// Mean of a on the shared items.
    pub mean_a: f64,
    /// Mean of b on the shared items.
    pub mean_b: f64,
    /// b − a, item by item.
    pub difference: Measure,
    /// Two-sided p value of no difference. Absent where undefined.
    pub p_value: Option<f64>,
    /// The test, named.
    pub test: String,
    /// The p value after Holm's correction over the pairs compared by this measure.
    pub p_holm: Option<f64>,
    /// `a` or `b` after correction, `undecided`, or `neither` where more is not better.
    pub better: String,
}

/// Agreement among people, or among judges.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Agreement {
    /// `raters`, `judges`, `raters_and_judges` or two names.
    pub among: String,
    /// How many raters or judges.
    pub n_raters: u64,
    /// The dimension, if the log has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dimension: Option<String>,
    /// By id: `percent_agreement`, `alpha_nominal`, `alpha_interval`, `alpha_ordinal`, `fleiss_kappa`, `ac1`, `kappa`; of scores `ac2`,
    /// `weighted_kappa`, `icc_single`, `icc_agreement`, `icc_consistency`.
    pub measures: BTreeMap<String, Measure>,
}

/// Where the judgements came from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Source {
    /// Files as given on the command line.
    pub files: Vec<String>,
    /// The format each was recognised as.
    pub formats: Vec<String>,
    /// The options that decided the figures, as the words of a command line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
}

/// What the log holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Data {
    /// Rows read.
    pub n_rows: u64,
    /// Rows that could not be read at all and were left out.
    pub n_bad_rows: u64,
    /// Rows that repeat another exactly and were counted once.
    pub n_duplicates: u64,
    /// Rows left out because another row with the same item and condition says otherwise.
    pub n_conflicts: u64,
    /// Judgements of judges.
    pub n_judgements: u64,
    /// Ratings of people.
    pub n_ratings: u64,
    /// Distinct items.
    pub n_items: u64,
    /// Distinct groups.
    pub n_groups: u64,
    /// Items with a label.
    pub n_labelled: u64,
    /// Where labels came from: `label`, `raters (plurality)`, `raters (mean)` or `none`.
    pub label_source: String,
    /// The score scale: lowest and highest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<[f64; 2]>,
    /// Whether the scale was `declared` or `inferred` from the scores seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale_source: Option<String>,
    /// Sum of prices, if stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<f64>,
    /// Tokens sent and received, if stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<[u64; 2]>,
}

/// The whole audit: what `report.json` holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Audit {
    /// `assize.audit/1`.
    pub schema: String,
    /// The version of the tool.
    pub version: String,
    /// Where the judgements came from.
    pub source: Source,
    /// How it was audited.
    pub config: super::AuditConfig,
    /// The limits applied.
    pub gate: Gate,
    /// What the log holds.
    pub data: Data,
    /// What is wrong with the log.
    pub problems: Vec<Problem>,
    /// The worst verdict of all judges audited: unfit, else inconclusive, else fit.
    pub fitness: Fitness,
    /// One entry a judge and arm, in order of first sight.
    pub judges: Vec<JudgeAudit>,
    /// Two arms or judges, item by item.
    pub comparisons: Vec<Comparison>,
    /// What anchors in the prompt come to, where the log states them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub anchors: Vec<AnchorStudy>,
    /// Agreement among raters and among judges.
    pub agreement: Vec<Agreement>,
    /// What raters, and judges, are worth together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub panels: Vec<Panel>,
}
