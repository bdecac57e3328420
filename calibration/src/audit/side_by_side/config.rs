//! How two judges are compared.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::audit::BadSetting;
use crate::audit::catalogue;

/// How two judges are compared. The defaults suit judges of which nothing is known but that one may replace the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CompareConfig {
    /// Differences up to this size do not matter: a share for rates, and of the scale's width for points of a score.
    pub margin: f64,
    /// The same for coefficients, such as kappa or an area under a curve.
    pub coefficient_margin: f64,
    /// Margins of single measures, in the measure's own unit.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub margins: BTreeMap<String, f64>,
    /// The measures that the decision rests on. Empty: false accepts and false rejects, else accuracy, else the area under the
    /// curve, else the mean absolute error, whichever the labels allow first; without labels, the flip rate and swap consistency.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub primary: Vec<String>,
}

impl Default for CompareConfig {
    fn default() -> Self {
        Self { margin: 0.02, coefficient_margin: 0.05, margins: BTreeMap::new(), primary: Vec::new() }
    }
}

/// What can be compared besides the measures of an audit.
pub(super) const DESCRIPTIONS: [&str; 2] = ["accept_rate", "mean_score"];

impl CompareConfig {
    /// Checks that every value is in its range and every measure known.
    ///
    /// # Errors
    /// Returns the first setting that is not.
    pub fn check(&self) -> Result<(), BadSetting> {
        let bad = |field, must: String| Err(BadSetting { field, must });
        for (field, margin) in [("margin", self.margin), ("coefficient_margin", self.coefficient_margin)] {
            if !(margin > 0.0 && margin < 1.0) {
                return bad(field, format!("must be more than 0 and less than 1, not {margin}"));
            }
        }
        let is_known = |id: &str| catalogue::info(id).is_some() || DESCRIPTIONS.contains(&id);
        for (id, margin) in &self.margins {
            if !is_known(id) {
                return bad("margins", format!("must name measures, and there is none called {id:?}"));
            }
            if !(*margin > 0.0 && margin.is_finite()) {
                return bad("margins", format!("must be numbers above 0, not {margin} for {id}"));
            }
        }
        if let Some(id) = self.primary.iter().find(|id| !is_known(id)) {
            return bad("primary", format!("must name measures, and there is none called {id:?}"));
        }
        Ok(())
    }
}
