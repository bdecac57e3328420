//! Whether two judges answer in the same terms: on one scale, under the same dimensions, with pairs shown in the same orders.

use std::collections::BTreeSet;

use crate::judgement::{Order, OutcomeKind};
use crate::log::NONE;

use super::super::AuditConfig;
use super::super::data::table::{Subject, Table, Unit};
use super::CompareError;

/// Judges whose highest scores are so many times apart hardly use one scale; 1 to 5 and 1 to 7 are 1.4 times.
const OTHER_SCALE: f64 = 1.8;
/// Judges whose highest scores are so many times apart may not.
const MAYBE_OTHER_SCALE: f64 = 1.25;
/// So many scores show how far a judge goes.
const ENOUGH_SCORES: usize = 20;

/// How far the scores of one side go.
#[derive(Clone, Copy)]
struct Extent {
    low: f64,
    high: f64,
    n: usize,
}

impl Extent {
    fn of<'a>(subject: &Subject, units: impl Iterator<Item = &'a Unit>) -> Self {
        let draws = units.flat_map(|unit| subject.parsed_of(unit)).filter(|draw| draw.is_finite());
        let none = Self { low: f64::INFINITY, high: f64::NEG_INFINITY, n: 0 };
        draws.fold(none, |seen, draw| Self { low: seen.low.min(draw), high: seen.high.max(draw), n: seen.n + 1 })
    }

    /// The farthest from 0: that of a scale is its end, whatever its judge thinks of the items.
    fn reach(self) -> f64 {
        self.low.abs().max(self.high.abs())
    }
}

/// Returns what is to be said of the scales, where none is declared: nothing, or a note.
///
/// # Errors
/// Scores that reach so differently far that they cannot be of one scale, as 1 to 5 and 1 to 10.
pub(super) fn scales(
    table: &Table<'_>,
    pair: [&Subject; 2],
    shared: &[(&Unit, &Unit)],
    config: &AuditConfig,
) -> Result<Option<String>, CompareError> {
    if table.kind != OutcomeKind::Score || config.scale.is_some() {
        return Ok(None);
    }
    let [a, b] = [
        Extent::of(pair[0], shared.iter().map(|(unit, _)| *unit)),
        Extent::of(pair[1], shared.iter().map(|(_, unit)| *unit)),
    ];
    let (near, far) = (a.reach().min(b.reach()), a.reach().max(b.reach()));
    if a.n == 0 || b.n == 0 || far <= 0.0 {
        return Ok(None);
    }
    let times = far / near;
    let is_one_signed = (a.low < 0.0) == (b.low < 0.0);
    let enough = a.n.min(b.n) >= ENOUGH_SCORES;
    if times >= OTHER_SCALE && enough {
        return Err(CompareError::Scales { a: [a.low, a.high], b: [b.low, b.high] });
    }
    let is_doubtful = times >= MAYBE_OTHER_SCALE || (!is_one_signed && enough);
    Ok(is_doubtful.then(|| {
        format!(
            "A's scores go from {} to {}, B's from {} to {}. If their scales differ, the comparison means nothing: bring both to one scale \
             first. If they share one, state it (--scale).",
            a.low, a.high, b.low, b.high
        )
    }))
}

/// Returns the names of a side's dimensions, the one without a name last.
fn dimensions(table: &Table<'_>, subject: &Subject) -> BTreeSet<String> {
    let mut ids: Vec<u32> = subject.units.iter().map(|unit| unit.dimension).collect();
    ids.sort_unstable();
    ids.dedup();
    let name = |id: u32| if id == NONE { "no dimension".to_owned() } else { table.log.dimensions.name(id).to_owned() };
    ids.into_iter().map(name).collect()
}

fn listed(names: &BTreeSet<String>) -> String {
    const MOST: usize = 8;
    let shown: Vec<&str> = names.iter().take(MOST).map(String::as_str).collect();
    format!("{}{}", shown.join(", "), if names.len() > MOST { ", …" } else { "" })
}

/// Returns the error of two that share no unit: no item, or items under different dimensions.
pub(super) fn nothing_shared(table: &Table<'_>, pair: [&Subject; 2], n_items: [u64; 2]) -> CompareError {
    let [own, others] = pair.map(|subject| {
        let mut items: Vec<u32> = subject.units.iter().map(|unit| unit.item).collect();
        items.sort_unstable();
        items
    });
    if !own.iter().any(|item| others.binary_search(item).is_ok()) {
        return CompareError::NothingShared(n_items[0], n_items[1]);
    }
    let [a, b] = pair.map(|subject| listed(&dimensions(table, subject)));
    CompareError::Dimensions(a, b)
}

/// Returns notes on what only one of the two was asked: dimensions and orders of pairs.
pub(super) fn notes(table: &Table<'_>, pair: [&Subject; 2], shared: &[(&Unit, &Unit)]) -> Vec<String> {
    let mut notes = Vec::new();
    let [a, b] = pair.map(|subject| dimensions(table, subject));
    for (own, others, letter) in [(&a, &b, 'A'), (&b, &a, 'B')] {
        let only: BTreeSet<String> = own.difference(others).cloned().collect();
        if !only.is_empty() {
            notes.push(format!("Left out, because only {letter} answers for it: {}.", listed(&only)));
        }
    }
    let orders = |side: usize| {
        let mut seen = [false; 2];
        for units in shared {
            let unit = if side == 0 { units.0 } else { units.1 };
            for cell in pair[side].cells_of(unit) {
                match cell.order {
                    Some(Order::Ab) => seen[0] = true,
                    Some(Order::Ba) => seen[1] = true,
                    None => {}
                }
            }
        }
        seen
    };
    let seen = [0, 1].map(orders);
    if seen[0] != seen[1] {
        let words = seen.map(|seen| match seen {
            [true, true] => "both orders",
            [true, false] => "order ab alone",
            [false, true] => "order ba alone",
            [false, false] => "an order that is not stated",
        });
        notes.push(format!(
            "A was shown the pairs in {}, B in {}: what the place of an answer does to a judge is part of every difference. Ask both in the \
             same orders, best in both.",
            words[0], words[1]
        ));
    }
    notes
}
