//! Whether a judge changed over time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Measure;

/// A stretch of time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DriftWindow {
    /// The first time in it, in milliseconds since 1970 (UTC).
    pub first_ms: i64,
    /// The last time in it.
    pub last_ms: i64,
    /// Judgements asked in it.
    pub n_judgements: u64,
    /// Distinct items asked in it.
    pub n_items: u64,
}

/// The window that departs most from all others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OddWindow {
    /// Its place among the windows, from 0.
    pub window: u64,
    /// Its mean less that of all other windows.
    pub difference: Measure,
    /// Two-sided p value of no difference, corrected for the number of windows (Holm, that is here Bonferroni).
    pub p_value: f64,
}

/// A single moment at which a figure may have changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChangePoint {
    /// The likeliest moment, in milliseconds since 1970 (UTC).
    pub at_ms: i64,
    /// Whether a steady change, a straight line, explains the values at least as well as a change at one moment. Then no moment stands out,
    /// and the interval is all of the time.
    #[serde(default, skip_serializing_if = "is_not")]
    pub is_gradual: bool,
    /// The earliest moment of the 95 % interval (Bai 1997); approximate.
    pub low_ms: i64,
    /// The latest.
    pub high_ms: i64,
    /// The mean before.
    pub before: f64,
    /// The mean after.
    pub after: f64,
}

/// One figure over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DriftFigure {
    /// `accuracy`, `accept_rate`, `mean_score`, `win_rate`, `unparsed_rate` or `flip_rate`.
    pub measure: String,
    /// Its value in each window; absent where nothing in the window has one.
    pub windows: Vec<Option<Measure>>,
    /// The change from the first moment to the last along a straight line, over all items.
    pub trend: Option<Measure>,
    /// Two-sided p value of no trend.
    pub p_trend: Option<f64>,
    /// The same items asked earlier and later: the mean change from an item's first window to its last. It is about these items: its
    /// interval reckons with chance in the answers, and not with other items. Absent without items asked in several windows.
    pub same_items: Option<Measure>,
    /// Two-sided p value of no change of these items.
    pub p_same_items: Option<f64>,
    /// The window that departs most from the others. Absent with fewer than three windows.
    pub odd_window: Option<OddWindow>,
    /// The smallest p value of the figure, corrected for all figures and tests of this judge (Holm 1979).
    pub p_holm: Option<f64>,
    /// Whether it changed over time: the corrected p value is below 1 − level.
    pub has_drifted: bool,
    /// When it changed, if it changed once. Only where it has drifted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_point: Option<ChangePoint>,
}

/// A judge over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Drift {
    /// How time was cut into windows, in words.
    pub cut: String,
    /// The windows in order; those without a judgement are left out.
    pub windows: Vec<DriftWindow>,
    /// Judgements without a time; they take no part.
    pub n_untimed: u64,
    /// Items asked in more than one window.
    pub n_items_in_several: u64,
    /// One entry a figure.
    pub figures: Vec<DriftFigure>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the serialiser passes references")]
const fn is_not(flag: &bool) -> bool {
    !*flag
}
