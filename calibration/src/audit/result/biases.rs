//! What sways a judge: the effects looked for, and errors by who made the items.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Measure;

/// The effects looked for in one judge, corrected together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Biases {
    /// How many effects were looked for.
    pub n_looked_for: u64,
    /// The correction for having looked for so many: `Holm`.
    pub correction: String,
    /// One entry an effect.
    pub tests: Vec<BiasTest>,
}

impl Biases {
    /// Returns the test of a measure, if it was looked for.
    #[must_use]
    pub fn test(&self, measure: &str) -> Option<&BiasTest> {
        self.tests.iter().find(|test| test.measure == measure)
    }
}

/// One effect, held against none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BiasTest {
    /// The measure's id.
    pub measure: String,
    /// The p value of no effect, from the measure's interval. Absent where that is undefined.
    pub p_value: Option<f64>,
    /// The same after correction.
    pub p_holm: Option<f64>,
    /// The p value of a seeded permutation test of the same, for comparison. Absent where there is none.
    pub p_permutation: Option<f64>,
    /// The smallest effect that such data show with 80 % power: (z₀.₉₇₅ + z₀.₈) standard errors. Absent where undefined.
    pub minimal_detectable: Option<f64>,
    /// Whether the effect is found once all that were looked for are counted.
    pub is_found: bool,
}

/// A judge's errors on the items of one generator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GeneratorErrors {
    /// The model that made the items.
    pub generator: String,
    /// Whether it is the judge's own model, by name or as stated.
    pub is_own: bool,
    /// Share of right answers on its items.
    pub accuracy: Measure,
    /// Share of its wrong items accepted. Absent without wrong items.
    pub false_accept_rate: Option<Measure>,
    /// Share of its right items rejected. Absent without right items.
    pub false_reject_rate: Option<Measure>,
}
