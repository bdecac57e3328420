//! Answers by cluster, item and cell.

use serde::{Deserialize, Serialize};

use super::{Answer, Counts, Numbering, runs};
use crate::agreement::alpha::{Metric, krippendorff_alpha};
use crate::cluster::{ClusteredMean, ClusteredSums, Tallies, UnitValue};
use crate::combinatorics::pair_flip_rate;
use crate::icc::OneWayTally;

/// Cluster, item, cell, answer.
type Key = (u64, u64, u64, Answer);

/// The most distinct answers for which alpha is worked out.
const MOST_VALUES: usize = 1_000;

/// Answers given to items, by cell: the draws of one condition. Merges exactly; see the module.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrawTally(Counts<Key>);

/// The draws of one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct CellCounts {
    /// Its cluster, item and cell, as given to [`DrawTally::add`].
    pub cluster: u64,
    /// See `cluster`.
    pub item: u64,
    /// See `cluster`.
    pub cell: u64,
    /// Unparsed replies.
    pub n_unparsed: u64,
    /// Distinct answers, ascending, and how often each was given.
    pub answers: Vec<(f64, u64)>,
}

impl DrawTally {
    /// Counts one answer: a score, or the code of a verdict or category; NaN is an unparsed reply.
    ///
    /// `cell` tells conditions of one item apart (order shown, dimension): only draws of one cell are repeats of each other.
    pub fn add(&mut self, cluster: u64, item: u64, cell: u64, answer: f64) {
        self.0.add((cluster, item, cell, Answer::new(answer)), 1);
    }

    /// Adds another shard's answers.
    pub fn merge(&mut self, other: Self) {
        self.0.merge(other.0);
    }

    /// Returns how many answers were counted, unparsed ones included.
    #[must_use]
    pub fn n_answers(&self) -> u64 {
        self.0.total()
    }

    /// Returns the cells in order of cluster, item and cell: what any further statistic of draws can be made from, once all shards are
    /// merged.
    pub fn cells(&self) -> impl Iterator<Item = CellCounts> + '_ {
        runs(&self.0, |key| (key.0, key.1, key.2)).map(|run| {
            let (cluster, item, cell, _) = *run[0].0;
            let mut found = CellCounts { cluster, item, cell, n_unparsed: 0, answers: Vec::with_capacity(run.len()) };
            for (key, n) in run {
                let answer = key.3.value();
                if answer.is_nan() {
                    found.n_unparsed = n;
                } else {
                    found.answers.push((answer, n));
                }
            }
            found
        })
    }

    fn parsed_cells(&self) -> impl Iterator<Item = CellCounts> + '_ {
        self.cells().filter(|cell| !cell.answers.is_empty())
    }

    /// Returns the share of unparsed replies of an item, mean over items. `None` without answers.
    #[must_use]
    pub fn unparsed_rate(&self) -> Option<ClusteredMean> {
        self.item_means(|answer| Some(f64::from(u8::from(answer.is_nan()))))
    }

    /// Returns the mean over items of the mean over an item's parsed answers of `value` (finite). `None` without parsed answers.
    #[must_use]
    pub fn mean_of(&self, value: &dyn Fn(f64) -> f64) -> Option<ClusteredMean> {
        self.item_means(|answer| (!answer.is_nan()).then(|| value(answer)))
    }

    fn item_means(&self, value: impl Fn(f64) -> Option<f64>) -> Option<ClusteredMean> {
        let (mut sums, mut clusters) = (ClusteredSums::default(), Numbering::default());
        for run in runs(&self.0, |key| (key.0, key.1)) {
            let cluster = clusters.number(run[0].0.0);
            let (mut sum, mut n) = (0.0, 0.0);
            for (key, count) in run {
                if let Some(value) = value(key.3.value()) {
                    sum += count as f64 * value;
                    n += count as f64;
                }
            }
            if n > 0.0 {
                sums.push(UnitValue { value: sum / n, weight: 1.0, cluster });
            }
        }
        sums.mean()
    }

    /// Returns the share of pairs of draws that differ, 1 − Σ c(c−1)/(n(n−1)), mean over an item's cells, then over items.
    /// `None` where no cell has two parsed answers.
    #[must_use]
    pub fn flip_rate(&self) -> Option<ClusteredMean> {
        let (mut sums, mut clusters) = (ClusteredSums::default(), Numbering::default());
        let mut item = None;
        let (mut flips, mut n_cells) = (0.0, 0.0);
        let mut close = |item: Option<(u64, u64)>, flips: &mut f64, n_cells: &mut f64| {
            if let Some((cluster, _)) = item
                && *n_cells > 0.0
            {
                sums.push(UnitValue { value: *flips / *n_cells, weight: 1.0, cluster: clusters.number(cluster) });
            }
            (*flips, *n_cells) = (0.0, 0.0);
        };
        for cell in self.parsed_cells() {
            let here = (cell.cluster, cell.item);
            if item != Some(here) {
                close(item.replace(here), &mut flips, &mut n_cells);
            }
            let counts: Vec<usize> =
                cell.answers.iter().map(|(_, n)| usize::try_from(*n).expect("draws fit in memory")).collect();
            if let Some(rate) = pair_flip_rate(&counts) {
                flips += rate;
                n_cells += 1.0;
            }
        }
        close(item, &mut flips, &mut n_cells);
        sums.mean()
    }

    /// Returns what the one-way intraclass correlation needs, by cluster, of scores less `centre` (a value near the middle of the
    /// scale, which matters for rounding only): for [`OneWayTally::from_slice`] of its total, and [`Tallies::jackknife`].
    #[must_use]
    pub fn one_way(&self, centre: f64) -> Tallies<9> {
        let mut clusters = Numbering::default();
        let cells: Vec<(u32, OneWayTally)> = self
            .parsed_cells()
            .map(|CellCounts { cluster, answers, .. }| {
                let sum_of = |f: &dyn Fn(f64) -> f64| -> f64 {
                    answers.iter().map(|(answer, n)| *n as f64 * f(answer - centre)).sum()
                };
                let n = answers.iter().map(|(_, n)| *n).sum::<u64>();
                let n = u32::try_from(n).expect("an item has fewer than 2^32 draws");
                (clusters.number(cluster), OneWayTally::of_item(n, sum_of(&|x| x), sum_of(&|x| x * x)))
            })
            .collect();
        let mut tallies = Tallies::new(cells.last().map_or(0, |(cluster, _)| *cluster as usize + 1));
        for (cluster, tally) in cells {
            tallies.add(cluster, tally.to_array());
        }
        tallies
    }

    /// Returns √[Σ(nᵢ−1)sᵢ² / Σ(nᵢ−1)] over cells. `None` where no cell has two parsed answers.
    #[must_use]
    pub fn within_item_sd(&self) -> Option<f64> {
        let (mut squares, mut degrees) = (0.0, 0.0);
        for CellCounts { answers, .. } in self.parsed_cells() {
            let n = answers.iter().map(|(_, n)| *n).sum::<u64>() as f64;
            // From the first answer, so that equal ones differ by exactly 0.
            let first = answers[0].0;
            let mean = answers.iter().map(|(answer, n)| *n as f64 * (answer - first)).sum::<f64>() / n;
            squares += answers.iter().map(|(answer, n)| *n as f64 * (answer - first - mean).powi(2)).sum::<f64>();
            degrees += n - 1.0;
        }
        (degrees > 0.0).then(|| (squares / degrees).sqrt())
    }

    /// Returns Krippendorff's alpha with repeats as raters, cells as units.
    ///
    /// Undefined (`None`) as in [`krippendorff_alpha`], and for more than 1,000 distinct answers.
    #[must_use]
    pub fn alpha(&self, metric: Metric) -> Option<f64> {
        let (counts, values, _) = self.units()?;
        krippendorff_alpha(&counts, &values, metric)
    }

    /// Returns units × values (counts, row-major), the values, and each unit's cluster: what
    /// [`crate::agreement::resampled::alpha_bootstrap`] resamples. Units are cells with a parsed answer.
    ///
    /// Undefined (`None`): no parsed answers, or more than 1,000 distinct ones.
    #[must_use]
    pub fn units(&self) -> Option<(Vec<u32>, Vec<f64>, Vec<u32>)> {
        let mut values: Vec<Answer> =
            self.0.0.keys().map(|key| key.3).filter(|answer| !answer.value().is_nan()).collect();
        values.sort_unstable();
        values.dedup();
        if values.is_empty() || values.len() > MOST_VALUES {
            return None;
        }
        let (mut counts, mut clusters, mut numbering) = (Vec::new(), Vec::new(), Numbering::default());
        for CellCounts { cluster, answers, .. } in self.parsed_cells() {
            let row = counts.len();
            counts.resize(row + values.len(), 0);
            for (answer, n) in answers {
                let place = values.partition_point(|value| *value < Answer::new(answer));
                counts[row + place] = u32::try_from(n).ok()?;
            }
            clusters.push(numbering.number(cluster));
        }
        Some((counts, values.into_iter().map(Answer::value).collect(), clusters))
    }
}
