//! What several raters of the same items are worth together: who is right how often, which rule of taking them together is
//! right most often, and whose errors go together.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Finding, Measure};

/// One rater, or judge, of a panel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PanelRater {
    /// The rater, or the judge.
    pub name: String,
    /// Items it rated.
    pub n_items: u64,
    /// How often it is right, by the labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<Measure>,
    /// How often it says what most of the others say, ties in parts, 0..=1. Absent where it rated nothing with others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agrees_with_others: Option<f64>,
    /// How often it is right, as Dawid and Skene's model guesses without labels, 0..=1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dawid_skene: Option<f64>,
    /// How often it knows, as MACE guesses without labels, 0..=1; when it does not, it may still be right by chance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mace: Option<f64>,
    /// Its ability, as GLAD guesses without labels: 0 guesses, below 0 says the opposite of what it knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub glad: Option<f64>,
}

/// One way to make a label of several ratings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PanelMethod {
    /// `one_rater`, `majority`, `weighted_majority`, `dawid_skene`, `mace`, `glad`.
    pub method: String,
    /// How often its label is right, ties in parts. Absent without labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<Measure>,
    /// Accuracy less that of one of the item's raters drawn at random, item by item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gain: Option<Measure>,
    /// Of verdicts: how often it accepts a wrong item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub false_accept_rate: Option<Measure>,
    /// Of verdicts: how often it rejects a right item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub false_reject_rate: Option<Measure>,
    /// Items on which two or more labels tie.
    pub n_tied: u64,
    /// Items on which its label is the majority's, of those on which neither ties, 0..=1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_as_majority: Option<f64>,
    /// Whether the iteration came to an end by itself. Absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub converged: Option<bool>,
}

/// How many independent raters the panel is worth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PanelWorth {
    /// What errors are taken against: `labels`, or `dawid_skene` where there are none, which is a guess.
    pub against: String,
    /// Raters that count.
    pub n_raters: u64,
    /// The mean correlation of two raters' errors.
    pub correlation: Measure,
    /// Raters / (1 + (raters − 1) · correlation). Absent where errors cancel out. Its details state `ratings_per_item`, and what these are
    /// worth, `effective_per_item`: a crowd is never asked as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n_effective: Option<Measure>,
}

/// Two raters that err together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorPair {
    /// The first.
    pub a: String,
    /// The second.
    pub b: String,
    /// Labelled items that both rated.
    pub n_items: u64,
    /// Share of these on which both are wrong.
    pub both_wrong: f64,
    /// The share that would be, did their errors know nothing of each other.
    pub expected: f64,
    /// The correlation of their errors.
    pub correlation: Measure,
    /// The same within items of one label: what is left when neither leans to a category.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within_label: Option<f64>,
    /// Two-sided p value of no correlation, after Holm's correction over all pairs. Absent where undefined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_holm: Option<f64>,
}

/// What the majority of the panel gains, and would gain if raters erred independently.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VoteWorth {
    /// Accuracy of one of an item's raters drawn at random.
    pub one_rater: f64,
    /// Accuracy of the majority, ties in parts.
    pub majority: f64,
    /// Accuracy of the majority did raters err independently given the label: each rater's answers shuffled among the items of
    /// one label that it rated (where weights are uneven: drawn from these by their weights), mean over the shuffles.
    pub majority_if_independent: f64,
    /// The lowest and highest of the middle 95 % of the shuffles.
    pub shuffles: [f64; 2],
    /// How many shuffles.
    pub n_shuffles: u32,
}

/// An item whose label the panel leaves in doubt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DoubtfulItem {
    /// The item.
    pub item: String,
    /// The majority's label; absent where it ties.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub majority: Option<String>,
    /// Share of the ratings that give the commonest label.
    pub majority_share: f64,
    /// The most probable label by Dawid and Skene's model; absent where it ties.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dawid_skene: Option<String>,
    /// Its probability by that model.
    pub probability: f64,
    /// The label known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

/// Several raters of the same items, taken together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Panel {
    /// `raters` or `judges`.
    pub among: String,
    /// The judges' arm, when the log has arms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arm: Option<String>,
    /// The dimension, if the log has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dimension: Option<String>,
    /// What can be said of an item.
    pub categories: Vec<String>,
    /// How several draws of a rater count, and how ties are settled, in words.
    pub rule: String,
    /// Raters.
    pub n_raters: u64,
    /// Items with a rating.
    pub n_items: u64,
    /// Ratings, one a rater and item.
    pub n_ratings: u64,
    /// Items with a label.
    pub n_labelled: u64,
    /// Items left out, since more ratings than the cap allows would take too long.
    #[serde(default, skip_serializing_if = "is_none")]
    pub n_items_left_out: u64,
    /// What could not be had, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What was found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// Raters from the best to the worst: by labels, else by the model's guess; those with few ratings are drawn towards the mean as by
    /// ten more. The middle of a big crowd is left out.
    pub raters: Vec<PanelRater>,
    /// Raters left out of the list.
    #[serde(default, skip_serializing_if = "is_none")]
    pub n_raters_left_out: u64,
    /// Ways to make a label of the ratings.
    pub methods: Vec<PanelMethod>,
    /// How many independent raters it is worth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worth: Option<PanelWorth>,
    /// What voting gains. Absent without labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vote: Option<VoteWorth>,
    /// Pairs whose errors go together most, by the lower end of the interval; at most ten. Empty without labels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub error_pairs: Vec<ErrorPair>,
    /// Pairs that were looked at.
    #[serde(default, skip_serializing_if = "is_none")]
    pub n_error_pairs: u64,
    /// Items whose label the panel leaves in doubt, at most ten.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubtful: Vec<DoubtfulItem>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the serialiser passes references")]
const fn is_none(n: &u64) -> bool {
    *n == 0
}
