//! The pass rate of items without labels, corrected for the judge's errors.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Measure;

/// What the judge passes of the items without labels, and what of them is right.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CorrectedPassRate {
    /// How the labelled items were chosen: `random`, `by_label` or `unknown`.
    pub label_sampling: String,
    /// What the judge passes of the unlabelled items.
    pub pass_rate: Measure,
    /// What it passes of the labelled right items.
    pub true_accept_rate: Measure,
    /// What it rejects of the labelled wrong items.
    pub true_reject_rate: Measure,
    /// Youden's J, the sum of both rates less 1: what is left of a difference once the judge has seen it.
    pub youden: f64,
    /// Its lower bound. At 0 or below the judge may be guessing.
    pub youden_low: f64,
    /// Whether that bound is above 0; if not, the true rate may be anything.
    pub is_identified: bool,
    /// Rogan and Gladen's estimate as it comes out, which may lie outside 0..=1. Absent at J = 0.
    pub raw: Option<f64>,
    /// The interval of Lang and Reiczigel, for comparison with other tools.
    pub lang_reiczigel: [f64; 2],
    /// How many times as large the variance is as without clusters shared by labelled and unlabelled, right and wrong items; at least 1.
    pub sharing: f64,
}
