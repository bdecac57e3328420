//! Where errors gather, and which items to look at first.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use crate::judgement::{Order, OutcomeKind};
use crate::log::NONE;

use super::truth::{Accepts, Hits, is_right};
use crate::audit::AuditConfig;
use crate::audit::data::table::{Subject, Table, Unit, is};
use crate::audit::result::{ErrorCluster, ErrorClusters, WorstItem};

/// The most clusters listed an error, and the most items listed a reason.
const MOST_LISTED: usize = 20;
/// The most answers of one cell that are shown.
const MOST_ANSWERS: usize = 12;

/// Expected errors of one kind in one cluster.
#[derive(Clone, Copy, Default)]
struct Sum {
    errors: f64,
    n: u64,
    residual: f64,
}

/// Returns where errors gather, or `None` without labels.
pub(crate) fn error_clusters(table: &Table<'_>, subject: &Subject, config: &AuditConfig) -> Option<ErrorClusters> {
    let accepts = Accepts::of(table, config);
    let right = is_right(table, accepts);
    let [mut false_accepts, mut false_rejects, mut others] = [(); 3].map(|()| Vec::<(u32, f64)>::new());
    for unit in &subject.units {
        if right(unit, 0.0).is_none() {
            continue;
        }
        let hits = Hits::of(subject, unit, None, |draw| right(unit, draw) == Some(true));
        if hits.n == 0 {
            continue;
        }
        let wrong = 1.0 - hits.n_met as f64 / hits.n as f64;
        let of_error = match unit.truth.good.filter(|_| accepts.is_some()) {
            Some(true) => &mut false_rejects,
            Some(false) => &mut false_accepts,
            None => &mut others,
        };
        of_error.push((unit.cluster, wrong));
    }
    let mut by_error = vec![("false_accept", false_accepts), ("false_reject", false_rejects), ("wrong", others)];
    by_error.retain(|(_, units)| !units.is_empty());
    if by_error.is_empty() {
        return None;
    }
    let mut found = ErrorClusters {
        unit: if table.cluster_is_group { "group" } else { "item" }.to_owned(),
        clusters: Vec::new(),
        half_of_errors_in: BTreeMap::new(),
        clusters_with_error: BTreeMap::new(),
        design_effect: BTreeMap::new(),
    };
    for (error, units) in by_error {
        let n = units.len() as f64;
        let total: f64 = units.iter().map(|(_, wrong)| wrong).sum();
        let rate = total / n;
        let mut sums = vec![Sum::default(); table.n_clusters];
        for &(cluster, wrong) in &units {
            let sum = &mut sums[cluster as usize];
            sum.errors += wrong;
            sum.residual += wrong - rate;
            sum.n += 1;
        }
        let m = sums.iter().filter(|sum| sum.n > 0).count() as f64;
        let variance = m / (m - 1.0) * sums.iter().map(|sum| sum.residual * sum.residual).sum::<f64>() / (n * n);
        // Against items that err independently, each as often as it does: the variance of their mean.
        let spread: f64 = units.iter().map(|(_, wrong)| (wrong - rate) * (wrong - rate)).sum();
        let independent = spread / ((n - 1.0) * n);
        if m > 1.0 && n > 1.0 && independent > 0.0 {
            found.design_effect.insert(error.to_owned(), variance / independent);
        }
        let mut ranked: Vec<(u32, Sum)> = (0_u32..).zip(sums).filter(|(_, sum)| sum.errors > 0.0).collect();
        let name = |cluster: u32| table.cluster_name(cluster);
        let more = |x: &Sum, y: &Sum| y.errors.total_cmp(&x.errors);
        let worse =
            |(a, x): &(u32, Sum), (b, y): &(u32, Sum)| more(x, y).then_with(|| name(*a).cmp(name(*b))).then(a.cmp(b));
        let n_listed = ranked.len().min(MOST_LISTED);
        if ranked.len() > MOST_LISTED {
            ranked.select_nth_unstable_by(MOST_LISTED - 1, worse);
        }
        ranked[..n_listed].sort_by(worse);
        // Names settle who is listed; of all others their errors alone are asked for, and many have as many.
        ranked[n_listed..].sort_unstable_by(|(_, x), (_, y)| more(x, y));
        found.clusters_with_error.insert(error.to_owned(), ranked.len() as u64);
        let mut running = 0.0;
        let half = ranked.iter().take_while(|(_, sum)| {
            let before = running;
            running += sum.errors;
            before < total / 2.0 - 1e-12
        });
        found.half_of_errors_in.insert(error.to_owned(), half.count() as u64);
        found.clusters.extend(ranked.iter().take(MOST_LISTED).map(|(cluster, sum)| ErrorCluster {
            name: table.cluster_name(*cluster).to_owned(),
            error: error.to_owned(),
            errors: sum.errors,
            n_items: sum.n,
            share: sum.errors / total,
        }));
    }
    Some(found)
}

/// Returns the items to look at first, by reason: wrong, unstable, swayed by position, unparsed. Those equally bad stand in order of
/// their names.
pub(crate) fn worst_items(table: &Table<'_>, subject: &Subject, config: &AuditConfig) -> Vec<WorstItem> {
    let right = is_right(table, Accepts::of(table, config));
    const REASONS: [&str; 4] = ["wrong", "unstable", "position", "unparsed"];
    const WRONG: usize = 0;
    const UNSTABLE: usize = 1;
    const POSITION: usize = 2;
    const UNPARSED: usize = 3;
    let mut by_reason: [Vec<(f64, usize)>; REASONS.len()] = Default::default();
    let mut add = |reason: usize, badness: f64, unit_idx| {
        if badness > 1e-12 {
            by_reason[reason].push((badness, unit_idx));
        }
    };
    for (unit_idx, unit) in subject.units.iter().enumerate() {
        let n_all: usize = subject.cells_of(unit).iter().map(crate::audit::data::table::Cell::len).sum();
        let n_unparsed: usize = subject.cells_of(unit).iter().map(|cell| cell.n_unparsed).sum();
        add(UNPARSED, n_unparsed as f64 / n_all as f64, unit_idx);
        if right(unit, 0.0).is_some() {
            let hits = Hits::of(subject, unit, None, |draw| right(unit, draw) == Some(true));
            if hits.n > 0 {
                add(WRONG, 1.0 - hits.n_met as f64 / hits.n as f64, unit_idx);
            }
        } else if table.kind == OutcomeKind::Score
            && let (Some(value), Some(mean)) = (unit.truth.value, mean(subject, unit))
        {
            add(WRONG, (mean - value).abs().min(f64::MAX), unit_idx);
        }
        add(UNSTABLE, instability(table, subject, unit), unit_idx);
        add(POSITION, disagreement_of_orders(subject, unit), unit_idx);
    }
    let mut worst = Vec::new();
    for (reason, mut units) in REASONS.into_iter().zip(by_reason) {
        let name = |unit_idx: usize| table.log.items.name(subject.units[unit_idx].item);
        let worse = |(a, x): &(f64, usize), (b, y): &(f64, usize)| {
            b.total_cmp(a).then_with(|| name(*x).cmp(name(*y))).then(x.cmp(y))
        };
        if units.len() > MOST_LISTED {
            units.select_nth_unstable_by(MOST_LISTED - 1, worse);
            units.truncate(MOST_LISTED);
        }
        units.sort_by(worse);
        worst.extend(
            units.into_iter().map(|(badness, idx)| describe(table, subject, &subject.units[idx], reason, badness)),
        );
    }
    worst
}

fn mean(subject: &Subject, unit: &Unit) -> Option<f64> {
    let (sum, n) = subject.parsed_of(unit).fold((0.0, 0.0), |(sum, n), draw| (sum + draw, n + 1.0));
    (n > 0.0).then(|| sum / n)
}

/// The widest range of scores within a cell, or the share of a cell's draws that differ from its commonest answer.
fn instability(table: &Table<'_>, subject: &Subject, unit: &Unit) -> f64 {
    let of_cell = |cell: &crate::audit::data::table::Cell| {
        let n = cell.n_parsed();
        if n < 2 {
            return 0.0;
        }
        if table.kind == OutcomeKind::Score {
            let (low, high) = subject
                .parsed(cell)
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), draw| (low.min(draw), high.max(draw)));
            return high - low;
        }
        let mut draws: SmallVec<[f64; 16]> = subject.parsed(cell).collect();
        draws.sort_unstable_by(f64::total_cmp);
        let most = draws.chunk_by(|a, b| a.total_cmp(b).is_eq()).map(<[f64]>::len).max().unwrap_or(n);
        1.0 - most as f64 / n as f64
    };
    subject.cells_of(unit).iter().map(of_cell).fold(0.0, f64::max)
}

/// Total variation between the answers of both orders. 0 without both.
fn disagreement_of_orders(subject: &Subject, unit: &Unit) -> f64 {
    let of = |order| subject.cells_of(unit).iter().find(|cell| cell.order == Some(order) && cell.n_parsed() > 0);
    let (Some(ab), Some(ba)) = (of(Order::Ab), of(Order::Ba)) else { return 0.0 };
    let mut answers: Vec<f64> = subject.parsed(ab).chain(subject.parsed(ba)).collect();
    answers.sort_unstable_by(f64::total_cmp);
    answers.dedup();
    let share = |cell: &crate::audit::data::table::Cell, answer: f64| {
        subject.parsed(cell).filter(|draw| is(*draw, answer)).count() as f64 / cell.n_parsed() as f64
    };
    answers.iter().map(|&answer| (share(ab, answer) - share(ba, answer)).abs()).sum::<f64>() / 2.0
}

fn describe(table: &Table<'_>, subject: &Subject, unit: &Unit, reason: &str, badness: f64) -> WorstItem {
    let log = table.log;
    let mut answers: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for cell in subject.cells_of(unit) {
        let order = match cell.order {
            None => "",
            Some(Order::Ab) => "ab",
            Some(Order::Ba) => "ba",
        };
        let shown = answers.entry(order.to_owned()).or_default();
        let draws = &subject.draws[cell.draws.clone()];
        shown.extend(draws.iter().take(MOST_ANSWERS).map(|draw| table.answer_name(*draw)));
        if draws.len() > MOST_ANSWERS {
            shown.push(format!("… {} more", draws.len() - MOST_ANSWERS));
        }
    }
    let label = match (unit.truth.value, unit.truth.good) {
        (Some(value), _) => Some(table.answer_name(value)),
        (None, Some(good)) => Some(if good { "right" } else { "wrong" }.to_owned()),
        _ => None,
    };
    WorstItem {
        item: log.items.name(unit.item).to_owned(),
        dimension: (unit.dimension != NONE).then(|| log.dimensions.name(unit.dimension).to_owned()),
        reason: reason.to_owned(),
        badness,
        label,
        answers,
    }
}
