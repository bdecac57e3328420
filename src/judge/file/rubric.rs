//! `[rubric]`: what is asked, criterion by criterion.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The criteria of a judge.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Rubric {
    /// What the judge decides, in a sentence.
    pub question: Option<String>,
    /// The criteria. Without any there is one score, verdict or choice over all.
    pub dimensions: Vec<Dimension>,
    /// Least sum of all scores with which an item passes.
    pub accept_sum: Option<f64>,
}

/// One criterion.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Dimension {
    /// Its name: the key of its score in the reply, the dimension in the log.
    pub name: String,
    /// What it asks.
    pub question: String,
    /// What each score means, by score.
    pub levels: BTreeMap<String, String>,
    /// Scores of at least this need a quotation that shows it.
    pub evidence_from: Option<f64>,
    /// Whether a single violation forces the lowest score.
    pub compliance: bool,
    /// Least score with which an item passes.
    pub accept_at: Option<f64>,
}

impl Rubric {
    /// Whether the scores let an item pass: each at least its dimension's limit, all together at least the sum.
    ///
    /// `None` where the rubric has no limit, or a score is missing that could decide.
    pub fn accepts(&self, scores: &[Option<f64>]) -> Option<bool> {
        let has_limit =
            self.accept_sum.is_some() || self.dimensions.iter().any(|dimension| dimension.accept_at.is_some());
        if !has_limit {
            return None;
        }
        let mut all_known = true;
        for (dimension, score) in self.dimensions.iter().zip(scores) {
            match (dimension.accept_at, score) {
                (Some(limit), Some(score)) if *score < limit => return Some(false),
                (_, None) => all_known = false,
                _ => {}
            }
        }
        if !all_known {
            return None;
        }
        let sum: f64 = scores.iter().flatten().sum();
        Some(self.accept_sum.is_none_or(|limit| sum >= limit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rubric(limits: &[Option<f64>], sum: Option<f64>) -> Rubric {
        let dimension = |accept_at: &Option<f64>| Dimension { accept_at: *accept_at, ..Dimension::default() };
        Rubric { dimensions: limits.iter().map(dimension).collect(), accept_sum: sum, ..Rubric::default() }
    }

    #[test]
    fn every_dimension_and_the_sum_must_reach_their_limits() {
        let four = rubric(&[Some(3.0); 4], Some(17.0));
        assert_eq!(four.accepts(&[Some(5.0), Some(4.0), Some(4.0), Some(4.0)]), Some(true));
        assert_eq!(four.accepts(&[Some(4.0); 4]), Some(false));
        assert_eq!(four.accepts(&[Some(5.0), Some(5.0), Some(5.0), Some(2.0)]), Some(false));
    }

    #[test]
    fn a_missing_score_decides_nothing_that_another_has_not_decided() {
        let two = rubric(&[Some(3.0), Some(3.0)], None);
        assert_eq!(two.accepts(&[Some(2.0), None]), Some(false));
        assert_eq!(two.accepts(&[Some(3.0), None]), None);
        assert_eq!(rubric(&[None], None).accepts(&[Some(1.0)]), None);
    }
}
