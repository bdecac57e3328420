//! A judge beside people: could it stand in for one of them?

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The judge against one person, both held against the other people.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgainstPerson {
    /// The person left out.
    pub rater: String,
    /// Items that this person, another and the judge rated.
    pub n_items: u64,
    /// How often the judge is as close to the others as this person, or closer, 0..=1.
    pub judge_advantage: f64,
    /// How often this person is as close to the others as the judge, or closer, 0..=1.
    pub person_advantage: f64,
    /// One-sided p value of "the person's advantage is larger by ε or more".
    pub p_value: f64,
    /// After Benjamini and Yekutieli's correction over the people.
    pub p_adjusted: f64,
    /// By how much the judge has to be better than ε asks for such data to show it with 80 % power: (z.975 + z.8) times the clustered standard
    /// error of the difference. Absent where nothing varies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimal_detectable: Option<f64>,
    /// Whether the judge wins against this person.
    pub is_won: bool,
}

/// The alternative-annotator test (Calderon, Reichart & Dror 2025). Its figures are the measures `winning_rate` and
/// `advantage_probability`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AlternativeTest {
    /// How much worse than a person a judge may be, for what it saves.
    pub epsilon: f64,
    /// The share of false wins allowed among wins: 1 − level.
    pub false_discovery_rate: f64,
    /// What closeness is: `accuracy` (share of the others who say the same) or `rmse` (root mean squared distance from them).
    pub alignment: String,
    /// Whether the judge wins against half of the people or more.
    pub passed: bool,
    /// People with fewer than 30 items, who are left out.
    pub n_people_left_out: u64,
    /// One row a person; at most 100.
    pub people: Vec<AgainstPerson>,
}
