//! Scores and confidences beside what came of them.

use serde::{Deserialize, Serialize};

use super::{Answer, Counts, Numbering, runs};
use crate::cluster::ClusteredMean;
use crate::reliability::{Binning, Forecasts, ReliabilityBin, brier_score, reliability_curve};
use crate::roc::{Auc, auc};

/// Cluster, item, score, whether it is positive.
type Key = (u64, u64, Answer, bool);

/// Scores, or confidences, with what was true. Merges exactly; see the module. An item's observations weigh 1 together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScoreTally(Counts<Key>);

/// Distinct observations with their weights and clusters.
#[derive(Default)]
struct Observations {
    scores: Vec<f64>,
    is_positive: Vec<bool>,
    outcomes: Vec<f64>,
    weights: Vec<f64>,
    clusters: Vec<u32>,
}

impl ScoreTally {
    /// Counts one score of an item and whether it is positive: the item is good, or the answer was right. NaN is not counted.
    pub fn add(&mut self, cluster: u64, item: u64, score: f64, is_positive: bool) {
        if !score.is_nan() {
            self.0.add((cluster, item, Answer::new(score), is_positive), 1);
        }
    }

    /// Adds another shard's scores.
    pub fn merge(&mut self, other: Self) {
        self.0.merge(other.0);
    }

    /// Returns how many scores were counted.
    #[must_use]
    pub fn n_scores(&self) -> u64 {
        self.0.total()
    }

    fn observations(&self) -> Observations {
        let (mut all, mut clusters) = (Observations::default(), Numbering::default());
        for run in runs(&self.0, |key| (key.0, key.1)) {
            let cluster = clusters.number(run[0].0.0);
            let n = run.iter().map(|(_, n)| *n).sum::<u64>() as f64;
            for (key, count) in run {
                all.scores.push(key.2.value());
                all.is_positive.push(key.3);
                all.outcomes.push(f64::from(u8::from(key.3)));
                all.weights.push(count as f64 / n);
                all.clusters.push(cluster);
            }
        }
        all
    }

    /// Returns the area under the curve with Obuchowski's standard error over clusters. Undefined (`None`) as in [`auc`].
    ///
    /// Its influences are those of the distinct scores of each item, in ascending order of cluster, item and score.
    #[must_use]
    pub fn auc(&self) -> Option<Auc> {
        let all = self.observations();
        auc(&all.scores, &all.is_positive, Some(&all.weights), Some(&all.clusters))
    }

    /// Returns the reliability curve of confidences, from which [`crate::reliability::calibration_error`] follows. Undefined (`None`) as
    /// in [`reliability_curve`]; its numbers of observations are of distinct ones.
    #[must_use]
    pub fn reliability_curve(&self, binning: Binning, n_bins: usize) -> Option<Vec<ReliabilityBin>> {
        self.forecasts(|forecasts| reliability_curve(forecasts, binning, n_bins))
    }

    /// Returns the Brier score of confidences. Undefined (`None`) as in [`brier_score`].
    #[must_use]
    pub fn brier_score(&self) -> Option<ClusteredMean> {
        self.forecasts(brier_score)
    }

    fn forecasts<T>(&self, compute: impl Fn(&Forecasts<'_>) -> Option<T>) -> Option<T> {
        let all = self.observations();
        compute(&Forecasts {
            confidences: &all.scores,
            outcomes: &all.outcomes,
            weights: Some(&all.weights),
            clusters: Some(&all.clusters),
        })
    }
}
