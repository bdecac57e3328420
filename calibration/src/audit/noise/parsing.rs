//! Whether answers could be read: the unparsed rate, and where unparsed replies gather.
//!
//! Parse failures are not random, so the rate is split by label, order and group before it is believed.

use std::collections::BTreeMap;

use crate::judgement::Order;

use crate::audit::data::table::{Subject, Table, Unit};
use crate::audit::estimate::{Estimated, Measured, Values};
use crate::audit::result::SplitRate;

/// The most values of one column that are listed.
const MOST_VALUES: usize = 20;

pub(crate) fn measure(subject: &Subject, units: &[Unit], measured: &mut Measured) {
    let value = rate(subject, units.iter().map(|unit| (unit, unit.cells.clone())));
    measured.record("unparsed_rate", value, "there are no judgements", &["item"]);
}

/// Returns the share of unparsed draws in the given cells of units, judgements weighing equally.
fn rate<'a>(subject: &Subject, cells: impl Iterator<Item = (&'a Unit, std::ops::Range<usize>)>) -> Option<Estimated> {
    let mut values = Values::default();
    let (mut n_all, mut n_unparsed_all) = (0, 0);
    for (unit, cells) in cells {
        let cells = &subject.cells[cells];
        let n: usize = cells.iter().map(crate::audit::data::table::Cell::len).sum();
        let n_unparsed: usize = cells.iter().map(|cell| cell.n_unparsed).sum();
        n_all += n;
        n_unparsed_all += n_unparsed;
        if n > 0 {
            values.push_weighted(unit, n_unparsed as f64 / n as f64, n as f64, n);
        }
    }
    let estimated = values.proportion("unparsed replies / all replies")?;
    Some(estimated.detail("n_unparsed", n_unparsed_all as f64).detail("n_replies", n_all as f64))
}

/// Returns the unparsed rate by label, order shown, group and dimension: only splits with more than one value, and only
/// when something is unparsed.
pub(crate) fn splits(table: &Table<'_>, subject: &Subject, level: f64) -> Vec<SplitRate> {
    if subject.n_unparsed == 0 {
        return Vec::new();
    }
    let mut splits = Vec::new();
    let mut add = |by: &str, cells: BTreeMap<String, Vec<(&Unit, std::ops::Range<usize>)>>| {
        if cells.len() < 2 {
            return;
        }
        let mut rates: Vec<SplitRate> = cells
            .into_iter()
            .filter_map(|(value, cells)| {
                let rate = rate(subject, cells.into_iter())?.measure(level);
                Some(SplitRate { by: by.to_owned(), value, rate })
            })
            .collect();
        if rates.len() > MOST_VALUES {
            // Of many parts, those without an unparsed reply say nothing that the rate on the whole does not.
            rates.retain(|split| split.rate.estimate > 0.0);
            rates.sort_by(|a, b| b.rate.estimate.total_cmp(&a.rate.estimate).then_with(|| a.value.cmp(&b.value)));
            rates.truncate(MOST_VALUES);
        }
        splits.append(&mut rates);
    };
    let (mut by_label, mut by_group, mut by_dimension) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let mut by_order: BTreeMap<String, Vec<_>> = BTreeMap::new();
    let log = table.log;
    for unit in &subject.units {
        let all = (unit, unit.cells.clone());
        let label = match (unit.truth.good, unit.truth.value) {
            (Some(good), _) => Some(if good { "accept" } else { "reject" }.to_owned()),
            (None, Some(value)) => Some(table.answer_name(value)),
            _ => None,
        };
        if let Some(label) = label {
            by_label.entry(label).or_insert_with(Vec::new).push(all.clone());
        }
        if table.cluster_is_group {
            let group = table.cluster_name(unit.cluster).to_owned();
            by_group.entry(group).or_insert_with(Vec::new).push(all.clone());
        }
        if unit.dimension != crate::log::NONE {
            let dimension = log.dimensions.name(unit.dimension).to_owned();
            by_dimension.entry(dimension).or_insert_with(Vec::new).push(all);
        }
        for idx in unit.cells.clone() {
            if let Some(order) = subject.cells[idx].order {
                let name = if order == Order::Ab { "ab" } else { "ba" };
                by_order.entry(name.to_owned()).or_default().push((unit, idx..idx + 1));
            }
        }
    }
    add("label", by_label);
    add("order", by_order);
    add("dimension", by_dimension);
    add("group", by_group);
    splits.append(&mut by_attempt(subject, level));
    splits
}

/// Returns the unparsed rate of the first reply to each question and of later ones: what is asked again until it can be read
/// is not what was asked first. Empty when nothing was asked twice.
fn by_attempt(subject: &Subject, level: f64) -> Vec<SplitRate> {
    let (mut first, mut later) = (Values::default(), Values::default());
    for unit in &subject.units {
        let (mut n, mut n_unparsed) = ([0_usize; 2], [0_usize; 2]);
        for cell in subject.cells_of(unit) {
            for idx in cell.draws.clone() {
                let of = usize::from(idx > cell.draws.start);
                n[of] += 1;
                n_unparsed[of] += usize::from(subject.draws[idx].is_nan());
            }
        }
        for (of, values) in [&mut first, &mut later].into_iter().enumerate() {
            if n[of] > 0 {
                values.push_weighted(unit, n_unparsed[of] as f64 / n[of] as f64, n[of] as f64, n[of]);
            }
        }
    }
    if later.is_empty() {
        return Vec::new();
    }
    let split = |value: &str, values: &Values| {
        let rate = values.proportion("unparsed replies / all replies")?.measure(level);
        Some(SplitRate { by: "attempt".to_owned(), value: value.to_owned(), rate })
    };
    [split("first", &first), split("later", &later)].into_iter().flatten().collect()
}
