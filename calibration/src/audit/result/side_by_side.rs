//! What a comparison of two judges says: the types of `compare.json`, schema `assize.compare/1`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Agreement, Measure, Source};
use crate::audit::{AuditConfig, CompareConfig};
use crate::judgement::OutcomeKind;
use crate::problem::Problem;

/// The name of the schema of [`SideBySide`].
pub const COMPARE_SCHEMA: &str = "assize.compare/1";

/// What the data say of the second judge against the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// B is better, by more than chance.
    Better,
    /// The whole interval of the difference lies within the margin: whatever the difference is, it does not matter.
    Equivalent,
    /// The data decide neither way.
    Undecided,
    /// They differ, where more is neither better nor worse.
    Different,
    /// B is worse, by more than chance.
    Worse,
}

/// One of the two judges.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedSide {
    /// What it is called here: its judge and arm, as far as they tell it from the other.
    pub name: String,
    /// The judge, as the log names it.
    pub judge: String,
    /// The arm, when the log has arms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arm: Option<String>,
    /// Where its judgements came from.
    pub source: Source,
    /// Judgements, unparsed ones included.
    pub n_judgements: u64,
    /// Judgements without an answer.
    pub n_unparsed: u64,
    /// Distinct items.
    pub n_items: u64,
    /// Items that the other did not judge; they take no part.
    pub n_items_only_here: u64,
    /// When it was asked first and last, in milliseconds since 1970, where the log says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_ms: Option<[i64; 2]>,
}

/// Two judges by one measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MeasuredDifference {
    /// The measure's id.
    pub measure: String,
    /// Whether the decision on the whole rests on it.
    pub is_primary: bool,
    /// `higher`, `lower`, or `neither` where more is neither better nor worse.
    pub better: String,
    /// Its value for A on the items compared.
    pub a: f64,
    /// Its value for B on the same items.
    pub b: f64,
    /// B − A, with an interval that takes both from the same items.
    pub difference: Measure,
    /// The same with every unparsed reply read so that the difference is lowest, and highest. Absent where nothing is unparsed,
    /// or unparsed replies bound nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unparsed_bounds: Option<[Measure; 2]>,
    /// Differences up to this size do not matter, in the measure's own unit. Absent where none is known.
    pub margin: Option<f64>,
    /// Two-sided p value of no difference. Absent where undefined.
    pub p_value: Option<f64>,
    /// The test, named.
    pub test: String,
    /// The p value after Holm's correction, over the primary measures or over the others.
    pub p_holm: Option<f64>,
    /// The larger p value of the two one-sided tests that the difference is within the margin (Schuirmann 1987).
    pub p_equivalence: Option<f64>,
    /// One-sided p value of "B is worse by the margin or more". Absent where more is neither better nor worse.
    pub p_worse: Option<f64>,
    /// Whether it is shown that B is not worse by the margin or more.
    pub is_not_worse: Option<bool>,
    /// What follows.
    pub standing: Standing,
    /// Why, in a sentence.
    pub why: String,
    /// How many more items would decide with 80 % power, if the estimate is right. Absent where decided, or where no number does.
    pub further_items: Option<u64>,
}

/// A measure that one of the two lacks, or that cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotCompared {
    /// The measure's id.
    pub measure: String,
    /// Why.
    pub reason: String,
}

/// The whole comparison: what `compare.json` holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SideBySide {
    /// `assize.compare/1`.
    pub schema: String,
    /// The version of the tool.
    pub version: String,
    /// The first, that is there already.
    pub a: ComparedSide,
    /// The second, that might take its place.
    pub b: ComparedSide,
    /// How both were measured.
    pub config: AuditConfig,
    /// How they were compared.
    pub compare: CompareConfig,
    /// The kind of answer compared.
    pub outcome: OutcomeKind,
    /// Items both judged.
    pub n_items: u64,
    /// Independent clusters among them.
    pub n_clusters: u64,
    /// Items among them that have a label.
    pub n_labelled: u64,
    /// What follows on the whole, from the primary measures.
    pub standing: Standing,
    /// Why, in one or two sentences.
    pub why: String,
    /// Whether B is shown not to be worse by the margin or more, by every primary measure.
    pub is_not_worse: bool,
    /// How many more items would decide every open primary measure. Absent where decided, or where no number does.
    pub further_items: Option<u64>,
    /// What was corrected for, in words.
    pub correction: String,
    /// What the margins are, in words.
    pub margins: String,
    /// The primary measures first, then in the order of the catalogue.
    pub measures: Vec<MeasuredDifference>,
    /// What could not be compared.
    pub not_compared: Vec<NotCompared>,
    /// How far the two agree with each other, whoever is right.
    pub agreement: Vec<Agreement>,
    /// What a reader must know before believing it, in words.
    pub notes: Vec<String>,
    /// What is wrong with the logs.
    pub problems: Vec<Problem>,
}
