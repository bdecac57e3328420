//! The difference of any measure, as the audit defines it, with the interval of a paired jackknife over clusters.
//!
//! Both judges are measured again without one cluster at a time, always the same one, so that what the two share cancels. Beyond
//! [`MOST_PARTS`] clusters, parts of clusters are left out instead (the grouped jackknife: Quenouille 1956; Kott 2001, "The delete-a-group
//! jackknife"), drawn by the clusters' names and the seed. A jackknife asks nothing of a measure but that it be smooth, so that whatever
//! an audit can measure can be compared; a bootstrap would ask for tallies of each, and would repeat items, which measures of repeats must not see.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::super::crowd::people::People;
use super::super::data::table::{Subject, Table, Unit};
use super::super::estimate::{Estimated, Measured};
use super::super::lots::deal;
use super::super::{AuditConfig, Extent, measure_to_compare};
use crate::interval::Spread;

/// The most parts left out in turn. With as many degrees of freedom, t is within 1 % of normal.
const MOST_PARTS: usize = 200;
/// The fewest, if so many judgements make each part dear: t then widens an interval by 4 %.
const FEWEST_PARTS: usize = 30;
/// Judgements that may be measured, all parts together.
const MOST_WORK: usize = 10_000_000;
/// What is below this is rounding.
const ROUNDING: f64 = 1e-12;

/// A measure of both, and their difference.
pub(super) struct Jackknifed {
    pub values: [f64; 2],
    pub difference: Estimated,
}

/// What was found of both judges on the units they share.
pub(super) struct Both {
    /// By measure.
    pub differences: BTreeMap<&'static str, Jackknifed>,
    /// What each could measure, and not.
    pub measured: [Measured; 2],
}

/// Measures both over `units` (those of each, in the same order) and returns the differences of all that `wanted` names.
pub(super) fn differences(
    table: &Table<'_>,
    [a, b]: [&Subject; 2],
    units: &[Vec<Unit>; 2],
    config: &AuditConfig,
    wanted: impl Fn(&str) -> bool + Sync,
) -> Both {
    let people = People::of(table);
    let measure = |[of_a, of_b]: [&[Unit]; 2], extent| {
        let of = |subject, units| measure_to_compare(table, people.as_ref(), subject, units, config, extent);
        let (a, b) = rayon::join(|| of(a, of_a), || of(b, of_b));
        [a, b]
    };
    let measured = measure([&units[0], &units[1]], Extent::Whole);
    let shared: Vec<&'static str> = measured[0]
        .values
        .iter()
        .filter(|(id, a)| wanted(id) && measured[1].values.get(*id).is_some_and(|b| are_alike(id, a, b)))
        .map(|(id, _)| *id)
        .collect();
    if shared.is_empty() {
        return Both { differences: BTreeMap::new(), measured };
    }
    let n_draws = a.draws.len() + b.draws.len();
    let most = (MOST_WORK / n_draws.max(1)).clamp(FEWEST_PARTS, MOST_PARTS);
    let (part_of, n_parts) = parts(table, &units[0], most, config.seed);
    let n_clusters = super::super::count_distinct(units[0].iter().map(|unit| unit.cluster));
    let left_out: Vec<Vec<Option<f64>>> = (0..if n_parts > 1 { n_parts } else { 0 })
        .into_par_iter()
        .map(|part| {
            let without = |units: &[Unit]| -> Vec<Unit> {
                units.iter().filter(|unit| part_of[unit.cluster as usize] != part).cloned().collect()
            };
            let (a, b) = (without(&units[0]), without(&units[1]));
            let found = measure([&a, &b], Extent::Part);
            shared
                .iter()
                .map(|id| {
                    let (whole, a, b) = (&measured[0].values[id], found[0].values.get(id)?, found[1].values.get(id)?);
                    (are_alike(id, whole, a) && are_alike(id, whole, b)).then_some(b.estimate - a.estimate)
                })
                .collect()
        })
        .collect();
    let of_id = |(idx, id): (usize, &&'static str)| {
        let values = [0, 1].map(|side| measured[side].values[id].estimate);
        let replicates: Option<Vec<f64>> = left_out.iter().map(|differences| differences[idx]).collect();
        let difference = estimate(&measured, id, values[1] - values[0], replicates.as_deref(), n_clusters);
        (*id, Jackknifed { values, difference })
    };
    let differences = shared.iter().enumerate().map(of_id).collect();
    Both { differences, measured }
}

/// Whether two figures mean the same: those that depend on a number of draws are stated at the same, and those that take other judges
/// or labels for quality take the same.
fn are_alike(id: &str, a: &Estimated, b: &Estimated) -> bool {
    const BY_OTHERS_OR_LABELS: [&str; 3] = ["self_preference", "self_preference_share", "own_false_accepts"];
    let definition = |value: &Estimated| value.method.split(';').next().map(str::to_owned);
    a.details.get("k") == b.details.get("k") && (!BY_OTHERS_OR_LABELS.contains(&id) || definition(a) == definition(b))
}

/// Returns each cluster's part, and how many parts there are: as many as clusters where those are few.
fn parts(table: &Table<'_>, units: &[Unit], most: usize, seed: u64) -> (Vec<usize>, usize) {
    let mut clusters: Vec<u32> = units.iter().map(|unit| unit.cluster).collect();
    clusters.dedup();
    let mut part_of = vec![usize::MAX; table.n_clusters];
    for (cluster, part) in clusters.iter().zip(deal(table, &clusters, most, seed)) {
        part_of[*cluster as usize] = part;
    }
    (part_of, clusters.len().min(most))
}

fn estimate(
    measured: &[Measured; 2],
    id: &'static str,
    estimate: f64,
    replicates: Option<&[f64]>,
    n_clusters: u64,
) -> Estimated {
    let [a, b] = [0, 1].map(|side| &measured[side].values[id]);
    let g = replicates.map_or(0, <[f64]>::len) as f64;
    let standard_error = replicates.filter(|replicates| replicates.len() > 1).map(|replicates| {
        let mean = replicates.iter().map(|value| value - estimate).sum::<f64>() / g;
        let squares: f64 = replicates.iter().map(|value| (value - estimate - mean).powi(2)).sum();
        ((g - 1.0) / g * squares).sqrt()
    });
    let spread = match standard_error {
        Some(standard_error) if standard_error > ROUNDING && standard_error.is_finite() => {
            Spread::Student { standard_error, degrees: g - 1.0, range: [f64::NEG_INFINITY, f64::INFINITY] }
        }
        _ => Spread::None,
    };
    let over = if g < n_clusters as f64 { format!("{g} parts of the clusters") } else { "clusters".to_owned() };
    let mut found = Estimated {
        estimate,
        spread,
        n: a.n + b.n,
        n_items: a.n_items.min(b.n_items),
        n_clusters,
        method: format!("b less a on the items both judged; paired jackknife over {over}, t interval"),
        cautions: Vec::new(),
        details: BTreeMap::new(),
        worst: None,
    };
    if let Some(k) = a.details.get("k") {
        found = found.detail("k", *k);
    }
    if replicates.is_none() {
        found = found.caution("no interval: without some of the items one of the two is undefined");
    }
    found
}
