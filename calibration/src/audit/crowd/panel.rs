//! Agreement among people, and among judges, on the items they share.
//!
//! Between judges only pairs of answers of *different* judges count: how often a judge agrees with itself is stability,
//! measured elsewhere.

use std::collections::BTreeMap;

use crate::agreement::kappa::{Chance, Weighting, cell_influence, chance_corrected};
use crate::agreement::multi::{ManyRaters, brennan_prediger, conger_kappa, fleiss_kappa, gwet_ac};
use crate::cluster::influence_standard_error;
use crate::interval::Spread;
use crate::judgement::OutcomeKind;
use crate::log::NONE;

use crate::audit::AuditConfig;
use crate::audit::accuracy::chance::MOST_CATEGORIES;
use crate::audit::accuracy::weighted_kappa::{MOST_LEVELS, Pairs};
use crate::audit::crowd::two_way::TwoWay;
use crate::audit::data::table::{Subject, Table, Unit, is};
use crate::audit::data::weights::NOT_USED;
use crate::audit::estimate::{Estimated, Values};
use crate::audit::noise::alpha::{AlphaSums, Counts};
use crate::audit::noise::intraclass::IccSums;
use crate::audit::result::{Agreement, Measure};

/// Up to this many judges or people, every two are compared.
const MOST_PAIRED: usize = 12;

/// One unit's values by rater, in one order shown: answers to different prompts are not held against each other.
struct Rated<'a> {
    unit: &'a Unit,
    by_rater: Vec<Vec<f64>>,
}

pub(crate) fn agreement(table: &Table<'_>, config: &AuditConfig) -> Vec<Agreement> {
    let mut found = Vec::new();
    if table.raters.len() > 1 {
        let raters: Vec<&Subject> = table.raters.iter().collect();
        let names: Vec<String> = raters.iter().map(|rater| table.log.raters.name(rater.judge).to_owned()).collect();
        panel(table, config, "raters", &raters, &names, &mut found);
    }
    let mut by_arm: BTreeMap<u32, Vec<&Subject>> = BTreeMap::new();
    for subject in &table.subjects {
        by_arm.entry(subject.arm.wrapping_add(1)).or_default().push(subject);
    }
    for judges in by_arm.values().filter(|judges| judges.len() > 1) {
        let name = |judge: &&Subject| {
            let name = if judge.judge == NONE { "" } else { table.log.judges.name(judge.judge) };
            if judge.arm == NONE { name.to_owned() } else { format!("{name} ({})", table.log.arms.name(judge.arm)) }
        };
        let names: Vec<String> = judges.iter().map(name).collect();
        panel(table, config, "judges", judges, &names, &mut found);
    }
    found
}

/// Agreement of two, by dimension where the log has more than one.
pub(crate) fn agreement_of_two(
    table: &Table<'_>,
    config: &AuditConfig,
    judges: [&Subject; 2],
    names: &[String; 2],
) -> Vec<Agreement> {
    let mut found = Vec::new();
    panel(table, config, "judges", &judges, names, &mut found);
    found
}

/// Agreement among several, by dimension where the log has more than one, and of every two of them when they are few.
fn panel(
    table: &Table<'_>,
    config: &AuditConfig,
    among: &str,
    raters: &[&Subject],
    names: &[String],
    found: &mut Vec<Agreement>,
) {
    let rated = gather(raters);
    let mut dimensions: Vec<u32> = rated.iter().map(|rated| rated.unit.dimension).collect();
    dimensions.sort_unstable();
    dimensions.dedup();
    let cuts: Vec<Option<u32>> =
        if dimensions.len() > 1 { dimensions.into_iter().map(Some).collect() } else { vec![None] };
    for dimension in cuts {
        let of_dimension: Vec<&Rated<'_>> =
            rated.iter().filter(|rated| dimension.is_none_or(|dimension| rated.unit.dimension == dimension)).collect();
        let dimension = dimension.filter(|id| *id != NONE).map(|id| table.log.dimensions.name(id).to_owned());
        if let [a, b] = names {
            found.extend(pair(table, &of_dimension, [a, b], dimension, config));
            continue;
        }
        let measures = measures(table, &of_dimension, config);
        if !measures.is_empty() {
            let n_raters = raters.len() as u64;
            found.push(Agreement { among: among.to_owned(), n_raters, dimension, measures });
        }
    }
    if raters.len() < 3 || raters.len() > MOST_PAIRED {
        return;
    }
    for b in 1..raters.len() {
        for a in 0..b {
            let shared = gather(&[raters[a], raters[b]]);
            let shared: Vec<&Rated<'_>> = shared.iter().collect();
            found.extend(pair(table, &shared, [&names[a], &names[b]], None, config));
        }
    }
}

/// Agreement of two, or `None` when they share no unit.
fn pair(
    table: &Table<'_>,
    rated: &[&Rated<'_>],
    [a, b]: [&String; 2],
    dimension: Option<String>,
    config: &AuditConfig,
) -> Option<Agreement> {
    let mut measures = measures(table, rated, config);
    if table.kind == OutcomeKind::Score {
        measures.extend(weighted_kappa(table, rated, config));
    } else {
        measures.extend(kappa(table, rated, config));
    }
    (!measures.is_empty()).then(|| Agreement { among: format!("{a} and {b}"), n_raters: 2, dimension, measures })
}

/// Returns the units that at least two raters judged in the same order, in order.
fn gather<'a>(raters: &[&'a Subject]) -> Vec<Rated<'a>> {
    let mut units: BTreeMap<((u32, u32, u32), u8), Rated<'a>> = BTreeMap::new();
    for (rater_idx, rater) in raters.iter().enumerate() {
        for unit in &rater.units {
            for cell in rater.cells_of(unit) {
                let order = cell.order.map_or(0, |order| 1 + order as u8);
                let rated = units
                    .entry((unit.place(), order))
                    .or_insert_with(|| Rated { unit, by_rater: vec![Vec::new(); raters.len()] });
                rated.by_rater[rater_idx].extend(rater.parsed(cell));
            }
        }
    }
    let is_shared = |rated: &Rated<'_>| rated.by_rater.iter().filter(|values| !values.is_empty()).count() > 1;
    units.into_values().filter(is_shared).collect()
}

fn measures(table: &Table<'_>, rated: &[&Rated<'_>], config: &AuditConfig) -> BTreeMap<String, Measure> {
    let centre = table.scale.map_or(0.0, |[low, high]| f64::midpoint(low, high));
    let mut alpha = AlphaSums::new(table.kind, centre);
    let mut agreed = Values::default();
    let mut icc = IccSums::new(table.n_clusters, centre);
    let mut counts = Counts::default();
    let mut last_item = None;
    for rated in rated {
        let unit = rated.unit;
        let present: Vec<&Vec<f64>> = rated.by_rater.iter().filter(|values| !values.is_empty()).collect();
        let n: usize = present.iter().map(|values| values.len()).sum();
        counts.n += n as u64;
        counts.n_items += u64::from(last_item.replace(unit.item) != Some(unit.item));
        if present.iter().all(|values| values.len() == 1) {
            let mut sorted: Vec<f64> = present.iter().map(|values| values[0]).collect();
            sorted.sort_unstable_by(f64::total_cmp);
            alpha.add(unit.cluster, &sorted);
            icc.add(unit.cluster, sorted.into_iter());
        } else {
            alpha.add_between(unit.cluster, &rated.by_rater);
        }
        agreed.push(unit, pair_agreement(&present), n);
    }
    let mut estimates: Vec<(&str, Estimated)> = Vec::new();
    let definition = "pairs of answers by different raters that agree, mean over items";
    estimates.extend(agreed.proportion(definition).map(|value| ("percent_agreement", value)));
    let id = if table.kind == OutcomeKind::Score { "alpha_interval" } else { "alpha_nominal" };
    estimates.extend(alpha.finish(counts, "pairs of different raters").map(|value| (id, value)));
    estimates.extend(many_raters(table, rated, counts));
    if table.kind == OutcomeKind::Score {
        estimates.extend(icc.single(config.level, counts).map(|value| ("icc_single", value)));
        estimates.extend(two_way(rated, centre, config));
    }
    let is_uneven = rated.iter().any(|one| !is(one.unit.weight, rated[0].unit.weight));
    let said = |id: &str, value: Estimated| {
        let value = if is_uneven && id != "percent_agreement" { value.caution(NOT_USED) } else { value };
        (id.to_owned(), value.measure(config.level))
    };
    estimates.into_iter().map(|(id, value)| said(id, value)).collect()
}

/// Returns how many items the units are of; units come in order of items.
fn n_items(rated: &[&Rated<'_>]) -> u64 {
    rated.chunk_by(|a, b| a.unit.item == b.unit.item).count() as u64
}

/// Returns the two-way intraclass correlations over the units that every rater scored once.
fn two_way(rated: &[&Rated<'_>], centre: f64, config: &AuditConfig) -> Vec<(&'static str, Estimated)> {
    let n_raters = rated.first().map_or(0, |rated| rated.by_rater.len());
    if n_raters > MOST_PAIRED {
        return Vec::new();
    }
    let mut sums = TwoWay::new(n_raters, centre);
    let mut counts = Counts::default();
    let is_complete = |rated: &&&Rated<'_>| rated.by_rater.iter().all(|values| values.len() == 1);
    let complete: Vec<&Rated<'_>> = rated.iter().filter(is_complete).copied().collect();
    for rated in &complete {
        counts.n += n_raters as u64;
        sums.add(rated.unit.cluster, rated.by_rater.iter().map(|values| values[0]));
    }
    counts.n_items = n_items(&complete);
    sums.finish(config.level, counts)
}

/// Returns Fleiss' and Conger's kappa, Gwet's AC1 and Brennan and Prediger's coefficient where every rater gave at most one answer a
/// unit; of scores Gwet's AC2. Of two raters Conger's is Cohen's, which is given as that.
fn many_raters(table: &Table<'_>, rated: &[&Rated<'_>], basis: Counts) -> Vec<(&'static str, Estimated)> {
    let is_single = |rated: &&Rated<'_>| rated.by_rater.iter().all(|values| values.len() < 2);
    if !rated.iter().all(is_single) {
        return Vec::new();
    }
    let is_score = table.kind == OutcomeKind::Score;
    let mut codes: Vec<f64> = rated.iter().flat_map(|rated| rated.by_rater.iter().flatten().copied()).collect();
    codes.sort_unstable_by(f64::total_cmp);
    codes.dedup();
    if is_score {
        codes = table.levels(codes);
    }
    let n = codes.len();
    if n > if is_score { MOST_LEVELS } else { MOST_CATEGORIES } {
        return Vec::new();
    }
    let place = |answer: &f64| codes.partition_point(|code| code.total_cmp(answer).is_lt());
    let mut counts = vec![0_u32; n * rated.len()];
    for (row, rated) in counts.chunks_exact_mut(n.max(1)).zip(rated) {
        for answer in rated.by_rater.iter().flatten() {
            row[place(answer)] += 1;
        }
    }
    let n_raters = rated.first().map_or(0, |rated| rated.by_rater.len());
    let conger = || {
        let code = |answers: &Vec<f64>| answers.first().and_then(|answer| u32::try_from(place(answer)).ok());
        let ratings: Vec<Option<u32>> = rated.iter().flat_map(|rated| rated.by_rater.iter().map(code)).collect();
        conger_kappa(&ratings, n_raters, n, &Weighting::Unweighted)
    };
    let unweighted = &Weighting::Unweighted;
    let coefficients: Vec<(&str, Option<ManyRaters>, &str)> = if is_score {
        let weighting = Weighting::QuadraticByValue(codes.clone());
        vec![("ac2", gwet_ac(&counts, n, &weighting), "Gwet's AC2 (quadratic weights by value)")]
    } else {
        vec![
            ("fleiss_kappa", fleiss_kappa(&counts, n, unweighted), "Fleiss' kappa"),
            ("conger_kappa", if n_raters > 2 { conger() } else { None }, "Conger's kappa"),
            ("ac1", gwet_ac(&counts, n, unweighted), "Gwet's AC1"),
            ("brennan_prediger", brennan_prediger(&counts, n, unweighted), "Brennan and Prediger's coefficient"),
        ]
    };
    coefficients
        .into_iter()
        .filter_map(|(id, found, name)| {
            let found = found?;
            let clusters = rated.iter().map(|rated| rated.unit.cluster);
            let influence = clusters.zip(found.influence.iter().copied());
            let (standard_error, n_clusters) = influence_standard_error(influence, table.n_clusters);
            let estimate = found.agreement.kappa;
            let spread = if found.agreement.observed >= 1.0 - 1e-12 {
                Spread::Unseen { n_clusters: n_clusters as f64, size: -1.0 / (1.0 - found.agreement.expected) }
            } else {
                Spread::fisher_z(estimate, standard_error, n_clusters as f64 - 1.0)
            };
            let estimated = Estimated {
                estimate,
                spread,
                n: basis.n,
                n_items: basis.n_items,
                n_clusters,
                method: format!(
                    "{name}, missing ratings allowed; infinitesimal jackknife over clusters, scale of atanh"
                ),
                cautions: Vec::new(),
                details: [
                    ("observed_agreement".to_owned(), found.agreement.observed),
                    ("chance_agreement".to_owned(), found.agreement.expected),
                ]
                .into(),
                worst: None,
            };
            Some((id, estimated))
        })
        .collect()
}

/// Probability that answers of two different raters of a unit agree.
fn pair_agreement(present: &[&Vec<f64>]) -> f64 {
    let (mut agreed, mut pairs) = (0.0, 0.0);
    for (idx, a) in present.iter().enumerate() {
        for b in &present[..idx] {
            let same: usize = a.iter().map(|x| b.iter().filter(|y| is(*x, **y)).count()).sum();
            agreed += same as f64 / (a.len() * b.len()) as f64;
            pairs += 1.0;
        }
    }
    agreed / pairs
}

/// Cohen's kappa of two raters' scores, with quadratic weights; several scores of one to a unit count as shares.
fn weighted_kappa(table: &Table<'_>, rated: &[&Rated<'_>], config: &AuditConfig) -> Option<(String, Measure)> {
    let mut pairs = Pairs::new(table);
    for rated in rated {
        let [first, second] = rated.by_rater.as_slice() else { return None };
        let n = first.len() + second.len();
        pairs.add(rated.unit, rated.unit.weight, first.iter().copied(), &second.iter().copied(), n);
    }
    let value = pairs.finish(table.trusted_width(), ["first", "second"], "of both raters' scores")?;
    Some(("weighted_kappa".to_owned(), value.measure(config.level)))
}

/// Cohen's kappa of two raters; several answers of one to a unit count as shares, and units by their weights.
fn kappa(table: &Table<'_>, rated: &[&Rated<'_>], config: &AuditConfig) -> Option<(String, Measure)> {
    let mut codes: Vec<f64> = rated.iter().flat_map(|rated| rated.by_rater.iter().flatten().copied()).collect();
    codes.sort_unstable_by(f64::total_cmp);
    codes.dedup();
    let n = codes.len();
    if n > MOST_CATEGORIES {
        return None;
    }
    let place = |value: f64| codes.partition_point(|code| code.total_cmp(&value).is_lt());
    let cells_of = |rated: &Rated<'_>| {
        let (a, b) = (&rated.by_rater[0], &rated.by_rater[1]);
        let weight = rated.unit.weight / (a.len() * b.len()) as f64;
        let pairs: Vec<usize> = a.iter().flat_map(|x| b.iter().map(|y| place(*x) * n + place(*y))).collect();
        (pairs, weight)
    };
    let mut cells = vec![0.0; n * n];
    for rated in rated {
        let (pairs, weight) = cells_of(rated);
        for cell in pairs {
            cells[cell] += weight;
        }
    }
    let found = chance_corrected(&cells, n, Chance::Cohen, &Weighting::Unweighted)?;
    let influence = cell_influence(&cells, n, Chance::Cohen, &Weighting::Unweighted)?;
    let total: f64 = rated.iter().map(|rated| rated.unit.weight).sum();
    let by_unit = rated.iter().map(|rated| {
        let (pairs, weight) = cells_of(rated);
        (rated.unit.cluster, pairs.into_iter().map(|cell| influence[cell] * weight).sum::<f64>() / total)
    });
    let (standard_error, n_clusters) = influence_standard_error(by_unit, table.n_clusters);
    // So many clusters of even weights would tell as much (Kish 1965).
    let squares: f64 = rated.iter().map(|rated| rated.unit.weight * rated.unit.weight).sum();
    let design_effect = (rated.len() as f64 * squares / (total * total)).max(1.0);
    let estimated = Estimated {
        estimate: found.kappa,
        spread: if found.observed >= 1.0 - 1e-12 {
            Spread::Unseen { n_clusters: n_clusters as f64 / design_effect, size: -1.0 / (1.0 - found.expected) }
        } else {
            Spread::fisher_z(found.kappa, standard_error, n_clusters as f64 - 1.0)
        },
        n: rated.iter().map(|rated| rated.by_rater.iter().map(Vec::len).sum::<usize>() as u64).sum(),
        n_items: n_items(rated),
        n_clusters,
        method: "Cohen's kappa; infinitesimal jackknife over clusters, scale of atanh".to_owned(),
        cautions: Vec::new(),
        details: [("observed_agreement".to_owned(), found.observed), ("chance_agreement".to_owned(), found.expected)]
            .into(),
        worst: None,
    };
    Some(("kappa".to_owned(), estimated.measure(config.level)))
}
