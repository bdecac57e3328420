//! The intraclass correlation of scores: how much of their variance is due to what was scored.
//!
//! The interval is the cluster jackknife of log F, sound for scores far from normal and for groups of items; the
//! interval of Thomas & Hultquist, which assumes normal scores and independent items, is given beside it.

use crate::cluster::Tallies;
use crate::icc::{OneWayTally, icc_mean};
use crate::interval::{Spread, log_f};

use super::alpha::Counts;
use crate::audit::estimate::{Estimated, Measured};

/// Sums by cluster of the one-way analysis of variance; its targets are cells, or units.
pub(crate) struct IccSums {
    tallies: Tallies<9>,
    centre: f64,
}

impl IccSums {
    /// `centre` is subtracted from scores before they are squared; any value near the middle of the scale serves.
    pub(crate) fn new(n_clusters: usize, centre: f64) -> Self {
        Self { tallies: Tallies::new(n_clusters), centre }
    }

    /// Adds the scores of one target.
    pub(crate) fn add(&mut self, cluster: u32, scores: impl Iterator<Item = f64>) {
        let (mut n, mut sum, mut squares) = (0, 0.0, 0.0);
        for score in scores {
            let x = score - self.centre;
            n += 1;
            sum += x;
            squares += x * x;
        }
        if n > 0 {
            self.tallies.add(cluster, OneWayTally::of_item(n, sum, squares).to_array());
        }
    }

    /// Returns the correlation of single scores, with its interval. `None` when it is undefined.
    pub(crate) fn single(&self, level: f64, counts: Counts) -> Option<Estimated> {
        let total = OneWayTally::from_slice(&self.tallies.total())?;
        let found = total.one_way()?;
        let mut estimated = Estimated {
            estimate: found.rho,
            spread: self.standard_error(found.n0).map_or(Spread::None, |(standard_error, largest)| Spread::LogF {
                draws: found.n0,
                standard_error,
                largest,
                degrees: self.degrees(),
            }),
            n: counts.n,
            n_items: counts.n_items,
            n_clusters: self.tallies.n_clusters(),
            method: "one-way ICC of unbalanced data, (MSB − MSW)/(MSB + (n₀ − 1)MSW), not truncated; cluster jackknife of log F, \
                     its upper end with one cluster more like the one that raises it most"
                .to_owned(),
            cautions: Vec::new(),
            details: [("msb", found.between), ("msw", found.within), ("n0", found.n0)]
                .map(|(name, value)| (name.to_owned(), value))
                .into(),
            worst: None,
        };
        if self.tallies.n_clusters() < 50 {
            let text = "under 50 clusters the interval may lie too low, where a few items score far from the rest: no gate rests on its \
                        upper end";
            estimated = estimated.caution(text);
        }
        if found.within <= 0.0 {
            estimated = estimated.caution("no variation within items: no interval");
        }
        if let Some((low, high)) = total.thomas_hultquist(level) {
            estimated = estimated.detail("thomas_hultquist_low", low).detail("thomas_hultquist_high", high);
        }
        Some(estimated)
    }

    fn degrees(&self) -> f64 {
        self.tallies.n_clusters() as f64 - 1.0
    }

    /// The jackknife's standard error of log F (Arvesen & Schmitz 1970), and what the cluster that raises it most adds.
    fn standard_error(&self, draws: f64) -> Option<(f64, f64)> {
        let statistic = |sums: &[f64; 9]| {
            let rho = OneWayTally::from_slice(sums)?.one_way()?.rho;
            Some(log_f(rho, draws)).filter(|value| value.is_finite())
        };
        let (_, standard_error, [_, largest]) = self.tallies.jackknife_and_reach(statistic)?;
        (standard_error.is_finite() && largest.is_finite()).then_some((standard_error, largest))
    }

    /// Records the correlation of single scores and that of means of k, k the usual number of scores of a target.
    pub(crate) fn record(&self, level: f64, counts: Counts, measured: &mut Measured, reason: &str, needs: &[&str]) {
        let Some(single) = self.single(level, counts) else {
            measured.unmeasured("icc_single", reason, needs);
            measured.unmeasured("icc_mean", reason, needs);
            return;
        };
        let total = self.tallies.total();
        let k = OneWayTally::from_slice(&total).map_or(2.0, |tally| (tally.n / tally.n_items).round().max(2.0));
        let mean = icc_mean(single.estimate, k).map(|estimate| Estimated {
            estimate,
            // kρ/(1+(k−1)ρ) is monotone in ρ: its interval is that of ρ, transformed.
            spread: match single.spread {
                Spread::LogF { draws, standard_error, largest, degrees } => {
                    Spread::MeanOfDraws { single: draws, draws: k, standard_error, largest, degrees }
                }
                _ => Spread::None,
            },
            method: format!("kρ/(1 + (k−1)ρ) at k = {k}, ρ the one-way ICC; its interval transformed"),
            details: [("k".to_owned(), k)].into(),
            ..single.clone()
        });
        measured.record("icc_single", Some(single), reason, needs);
        measured.record("icc_mean", mean, reason, needs);
    }
}
