//! The alternative-annotator test: may a judge take the place of a person?
//!
//! Each person is left out in turn, and judge and person are both held against the others, item by item: who is nearer? The judge
//! *wins* against the person where "the person is nearer more often than the judge, by ε or more" is rejected. The *winning
//! rate* ω is the share of people it wins against, and it passes with ω ≥ ½; the *advantage probability* ρ is how often it is as
//! near as the person or nearer, mean over people.
//!
//! Source: Calderon, Reichart & Dror 2025, arXiv 2501.10970, section 3: one-sided t-test of the mean difference against ε,
//! people with fewer than 30 items left out, Benjamini & Yekutieli 2001 over the people. Beyond the paper: clusters of items (the
//! variance is that between clusters; without clusters it is the paper's), and the intervals. The paper's Wilcoxon test for fewer than
//! 30 items is not here: too few are left out.

use thiserror::Error;

use crate::bootstrap::{BootstrapConfig, Patterns, Statistic, bootstrap};
use crate::distribution::t_cdf;
use crate::interval::Spread;
use crate::paired::benjamini_yekutieli;

/// Tallies a person and cluster: items, sum of differences, its square, its product with the items, the items' square, and 1.
const DIMS: usize = 6;

/// Most tallies, people × clusters × 6, that are resampled: each resample goes through all of them.
const MOST_TALLIES: usize = 500_000;
/// What is below this is rounding.
const ROUNDING: f64 = 1e-12;

/// Judge and person on one item, both held against the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Held {
    /// The person, from 0.
    pub person: u32,
    /// The item's cluster.
    pub cluster: u32,
    /// 1 where the judge is as near as the person or nearer, else 0; the mean over the judge's draws.
    pub judge: f64,
    /// 1 where the person is as near as the judge or nearer, else 0; the mean over the judge's draws.
    pub person_wins: f64,
}

/// How to test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AlternativeConfig {
    /// ε: how much worse than a person a judge may be, for what it saves. The paper's: .2 beside experts, .15 skilled people, .1 crowds.
    pub epsilon: f64,
    /// The false discovery rate.
    pub q: f64,
    /// People with fewer items than this are left out.
    pub least_items: usize,
    /// Resamples for the interval of ω; 0 for none.
    pub resamples: BootstrapConfig,
}

/// Why there is no test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AlternativeError {
    /// Fewer than three people have enough items.
    #[error("{n_people} people have enough items; three are needed")]
    TooFewPeople {
        /// People with enough items.
        n_people: usize,
    },
    /// There is one cluster.
    #[error("all items are one cluster")]
    OneCluster,
}

/// The judge against one person.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Against {
    /// The person.
    pub person: u32,
    /// Items.
    pub n_items: usize,
    /// How often the judge is as near or nearer.
    pub judge: f64,
    /// How often the person is as near or nearer.
    pub person_wins: f64,
    /// Standard error over clusters of the person's share less the judge's; 0 where nothing varies.
    pub standard_error: f64,
    /// One-sided p value of "the person's share exceeds the judge's by ε or more".
    pub p_value: f64,
    /// After correction.
    pub p_adjusted: f64,
}

/// What the test says.
#[derive(Clone, Debug, PartialEq)]
pub struct Alternative {
    /// By person, in order.
    pub against: Vec<Against>,
    /// ω, 0..=1.
    pub winning_rate: f64,
    /// Replicates of ω over resampled clusters, ascending; none where people × clusters exceed some 80,000.
    pub winning_rates: Vec<f64>,
    /// ρ, 0..=1.
    pub advantage: f64,
    /// Its standard error over clusters, people fixed.
    pub standard_error: f64,
    /// Clusters.
    pub n_clusters: usize,
    /// People with too few items.
    pub n_left_out: usize,
}

impl Alternative {
    /// Returns how ρ varies over clusters, people fixed: t on the logit scale; at either end, as far as one other value in the clusters
    /// could move it.
    #[must_use]
    pub fn advantage_spread(&self) -> Spread {
        let (estimate, clusters) = (self.advantage, self.n_clusters as f64);
        if estimate >= 1.0 - ROUNDING {
            Spread::Unseen { n_clusters: clusters, size: -1.0 }
        } else if estimate <= ROUNDING {
            Spread::Unseen { n_clusters: clusters, size: 1.0 }
        } else if self.standard_error > ROUNDING {
            let standard_error = self.standard_error / (estimate * (1.0 - estimate));
            Spread::Logit { standard_error, degrees: clusters - 1.0 }
        } else {
            Spread::None
        }
    }
}

/// Runs the test. The order of `held` does not matter.
///
/// Where a person's differences are all the same, p is 0 if they are below ε and else 1, as the t-test's limit has it.
///
/// # Errors
/// [`AlternativeError`]: fewer than three people with enough items; one cluster.
///
/// Cost: n log n + resamples × people.
pub fn alternative_annotator(held: &[Held], config: AlternativeConfig) -> Result<Alternative, AlternativeError> {
    let mut held = held.to_vec();
    held.sort_by_key(|one| (one.person, one.cluster));
    let people: Vec<&[Held]> = held.chunk_by(|a, b| a.person == b.person).collect();
    let kept: Vec<&[Held]> = people.iter().copied().filter(|of| of.len() >= config.least_items.max(2)).collect();
    if kept.len() < 3 {
        return Err(AlternativeError::TooFewPeople { n_people: kept.len() });
    }
    let mut ids: Vec<u32> = kept.iter().flat_map(|of| of.iter().map(|one| one.cluster)).collect();
    ids.sort_unstable();
    ids.dedup();
    let m = ids.len();
    if m < 2 {
        return Err(AlternativeError::OneCluster);
    }
    let n_dims = DIMS * kept.len();
    let can_resample = config.resamples.n_resamples > 0 && n_dims * m <= MOST_TALLIES;
    let mut tallies = vec![0.0; if can_resample { n_dims * m } else { 0 }];
    let mut totals = vec![0.0; n_dims];
    let mut influence = vec![0.0; m];
    let mut against = Vec::with_capacity(kept.len());
    let n_people = kept.len() as f64;
    for (person_idx, of) in kept.iter().enumerate() {
        let n = of.len() as f64;
        let judge = of.iter().map(|one| one.judge).sum::<f64>() / n;
        let person_wins = of.iter().map(|one| one.person_wins).sum::<f64>() / n;
        for same in of.chunk_by(|a, b| a.cluster == b.cluster) {
            let cluster_idx = ids.partition_point(|id| *id < same[0].cluster);
            let items = same.len() as f64;
            let sum: f64 = same.iter().map(|one| one.person_wins - one.judge).sum();
            let tally = [items, sum, sum * sum, sum * items, items * items, 1.0];
            for (total, part) in totals[person_idx * DIMS..].iter_mut().zip(tally) {
                *total += part;
            }
            if can_resample {
                let place = cluster_idx * n_dims + person_idx * DIMS;
                tallies[place..place + DIMS].copy_from_slice(&tally);
            }
            influence[cluster_idx] += same.iter().map(|one| one.judge - judge).sum::<f64>() / (n * n_people);
        }
        against.push(Against {
            person: of[0].person,
            n_items: of.len(),
            judge,
            person_wins,
            standard_error: 0.0,
            p_value: 1.0,
            p_adjusted: 1.0,
        });
    }
    let p_values: Vec<f64> = totals.chunks_exact(DIMS).map(|sums| p_value(sums, config.epsilon)).collect();
    for (one, (p_value, p_adjusted)) in against.iter_mut().zip(p_values.iter().zip(benjamini_yekutieli(&p_values))) {
        one.p_value = *p_value;
        one.p_adjusted = p_adjusted;
    }
    for (one, sums) in against.iter_mut().zip(totals.chunks_exact(DIMS)) {
        one.standard_error = standard_error(sums);
    }
    let rate = |sums: &[f64]| {
        let p_values: Vec<f64> = sums.chunks_exact(DIMS).map(|sums| p_value(sums, config.epsilon)).collect();
        let n_won = benjamini_yekutieli(&p_values).iter().filter(|p| **p <= config.q).count();
        Some(n_won as f64 / n_people)
    };
    let winning_rate = rate(&totals).unwrap_or(0.0);
    let strata: Vec<Patterns> = Patterns::of_clusters(&tallies, n_dims).filter(|_| can_resample).into_iter().collect();
    let statistics: [Statistic<'_>; 1] = [&rate];
    let replicates = bootstrap(&strata, &statistics, config.resamples).and_then(|mut found| found.pop());
    let clusters = m as f64;
    let squares: f64 = influence.iter().map(|value| value * value).sum();
    Ok(Alternative {
        winning_rate,
        winning_rates: replicates.map_or_else(Vec::new, |found| found.replicates),
        advantage: against.iter().map(|one| one.judge).sum::<f64>() / n_people,
        standard_error: (squares * clusters / (clusters - 1.0)).sqrt(),
        n_clusters: m,
        n_left_out: people.len() - kept.len(),
        against,
    })
}

/// Returns the standard error over clusters of a mean difference, from a person's tallies; 0 of one cluster.
fn standard_error(sums: &[f64]) -> f64 {
    let [n, sum, squares, products, item_squares, m] = [sums[0], sums[1], sums[2], sums[3], sums[4], sums[5]];
    if m < 2.0 {
        return 0.0;
    }
    let mean = sum / n;
    let spread = (squares - 2.0 * mean * products + mean * mean * item_squares).max(0.0);
    let standard_error = (m / (m - 1.0) * spread).sqrt() / n;
    // What rounding leaves of no variation is none.
    if standard_error <= ROUNDING { 0.0 } else { standard_error }
}

/// Returns the one-sided p value of a mean difference of at least ε, from a person's tallies.
fn p_value(sums: &[f64], epsilon: f64) -> f64 {
    let [n, sum, m] = [sums[0], sums[1], sums[5]];
    if m < 2.0 {
        return 1.0;
    }
    let mean = sum / n;
    let standard_error = standard_error(sums);
    if standard_error <= 0.0 {
        return if mean < epsilon { 0.0 } else { 1.0 };
    }
    t_cdf((mean - epsilon) / standard_error, m - 1.0)
}
