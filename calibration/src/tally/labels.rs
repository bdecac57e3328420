//! Answers beside labels.

use serde::{Deserialize, Serialize};

use super::{Counts, Numbering, runs};
use crate::agreement::kappa::{Chance, Kappa, Weighting, cell_influence, chance_corrected};
use crate::cluster::{ClusteredMean, ClusteredSums, UnitValue, influence_standard_error};

/// Cluster, item, label, answer.
type Key = (u64, u64, u32, u32);

/// Categories answered beside those that are true, by item. Merges exactly; see the module.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelTally(Counts<Key>);

/// A chance-corrected agreement with its standard error over clusters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClusteredKappa {
    /// The coefficient and its parts.
    pub kappa: Kappa,
    /// √(m/(m − 1) · Σ over clusters of (Σ influence)²); NaN with one cluster.
    pub standard_error: f64,
    /// Clusters, m.
    pub n_clusters: u64,
}

impl LabelTally {
    /// Counts one parsed answer about an item of this label; both are categories, from 0.
    pub fn add(&mut self, cluster: u64, item: u64, label: u32, answer: u32) {
        self.0.add((cluster, item, label, answer), 1);
    }

    /// Adds another shard's answers.
    pub fn merge(&mut self, other: Self) {
        self.0.merge(other.0);
    }

    /// Returns how many answers were counted.
    #[must_use]
    pub fn n_answers(&self) -> u64 {
        self.0.total()
    }

    /// Returns each item's cluster (numbered from 0), label, and answers with their shares.
    fn items(&self) -> impl Iterator<Item = (u32, u32, Vec<(u32, f64)>)> + '_ {
        let mut clusters = Numbering::default();
        runs(&self.0, |key| (key.0, key.1, key.2)).map(move |run| {
            let (cluster, _, label, _) = *run[0].0;
            let n = run.iter().map(|(_, n)| *n).sum::<u64>() as f64;
            (clusters.number(cluster), label, run.iter().map(|(key, count)| (key.3, *count as f64 / n)).collect())
        })
    }

    fn mean(&self, value: impl Fn(u32, u32) -> Option<bool>) -> Option<ClusteredMean> {
        let mut sums = ClusteredSums::default();
        for (cluster, label, answers) in self.items() {
            let mut hits = 0.0;
            let mut is_counted = false;
            for (answer, share) in answers {
                if let Some(is_hit) = value(label, answer) {
                    is_counted = true;
                    hits += if is_hit { share } else { 0.0 };
                }
            }
            if is_counted {
                sums.push(UnitValue { value: hits, weight: 1.0, cluster });
            }
        }
        sums.mean()
    }

    /// Returns the share of an item's answers that are its label, mean over items. `None` without answers.
    #[must_use]
    pub fn accuracy(&self) -> Option<ClusteredMean> {
        self.mean(|label, answer| Some(label == answer))
    }

    /// Returns the share of an item's answers that are not its label, mean over the items of this label: with verdicts, the rate of
    /// false accepts (of those labelled bad) or false rejects. `None` without such items.
    #[must_use]
    pub fn error_rate(&self, label: u32) -> Option<ClusteredMean> {
        self.mean(|of_item, answer| (of_item == label).then_some(of_item != answer))
    }

    /// Returns the table of labels (rows) × answers, row-major, each item weighing 1. `None` for a category out of range.
    #[must_use]
    pub fn table(&self, n_categories: usize) -> Option<Vec<f64>> {
        let mut table = vec![0.0; n_categories.checked_mul(n_categories)?];
        for (_, label, answers) in self.items() {
            for (answer, share) in answers {
                if label as usize >= n_categories || answer as usize >= n_categories {
                    return None;
                }
                table[label as usize * n_categories + answer as usize] += share;
            }
        }
        Some(table)
    }

    /// Returns a chance-corrected agreement of answers with labels, each item weighing 1, with its error over clusters.
    ///
    /// Undefined (`None`) as in [`chance_corrected`], and for a category out of range.
    #[must_use]
    pub fn kappa(&self, n_categories: usize, chance: Chance, weighting: &Weighting) -> Option<ClusteredKappa> {
        let table = self.table(n_categories)?;
        let kappa = chance_corrected(&table, n_categories, chance, weighting)?;
        let influence = cell_influence(&table, n_categories, chance, weighting)?;
        let total: f64 = table.iter().sum();
        let items = self.items().map(|(cluster, label, answers)| {
            let of_cell = |(answer, share): (u32, f64)| {
                share * influence[label as usize * n_categories + answer as usize] / total
            };
            (cluster, answers.into_iter().map(of_cell).sum::<f64>())
        });
        let n_clusters = self.items().last().map_or(0, |(cluster, ..)| cluster as usize + 1);
        let (standard_error, n_clusters) = influence_standard_error(items, n_clusters);
        Some(ClusteredKappa { kappa, standard_error, n_clusters })
    }
}
