//! Whether marks of style move a judge, whatever the label says and however long the text is.
//!
//! All marks stand in one regression with the label and the length: headings come with length, and lists with headings, so that each by
//! itself would take the blame for the others. An effect is that of one standard deviation more of a mark.

use crate::judgement::OutcomeKind;
use crate::log::{Log, number};

use super::super::data::table::{Subject, Table, is};
use super::super::result::{StyleEffect, StyleEffects};
use super::family::two_sided;
use super::length::standard_deviation;
use super::{AuditConfig, Observations, answer};

const STREAM: u64 = 0x7374_796c;
const STREAM_OF_LENGTH: u64 = 0x7374_796b;
/// The most marks that stand in one regression.
const MOST: usize = 8;
/// Fewer items than this for each column of the regression say nothing of it.
const FEW_ITEMS_A_COLUMN: usize = 3;

/// One mark of style, by item.
pub(crate) struct StyleColumn {
    pub name: String,
    /// NaN where not stated.
    pub by_item: Vec<f64>,
}

/// Returns the marks of style that the log states: of the item, or by how much candidate A has more than B.
pub(crate) fn styles(log: &Log, kind: OutcomeKind) -> Vec<StyleColumn> {
    if kind == OutcomeKind::Category {
        return Vec::new();
    }
    let is_pair = kind == OutcomeKind::Choice;
    let column = |(name, [a, b]): (&str, &[Vec<f64>; 2])| {
        let mut by_item = vec![f64::NAN; log.items.len()];
        for (row_idx, &item) in log.item.iter().enumerate().take(a.len()) {
            let known = &mut by_item[item as usize];
            if known.is_nan() {
                let value = number(a, row_idx).and_then(|a| Some(if is_pair { a - number(b, row_idx)? } else { a }));
                *known = value.filter(|value| value.is_finite()).unwrap_or(f64::NAN);
            }
        }
        StyleColumn { name: name.to_owned(), by_item }
    };
    log.style.names.iter().zip(&log.style.columns).map(column).collect()
}

/// Returns what marks of style do to a judge's answers. `None` where the log states none.
pub(crate) fn style(table: &Table<'_>, subject: &Subject, config: &AuditConfig) -> Option<StyleEffects> {
    let (known, unknown): (Vec<&StyleColumn>, Vec<&StyleColumn>) =
        table.styles.iter().partition(|column| column.by_item.iter().any(|value| !value.is_nan()));
    if table.styles.is_empty() {
        return None;
    }
    let (known, beyond) = known.split_at(known.len().min(MOST));
    let has_length = !table.lengths.is_empty();
    let is_complete = |item: usize| {
        known.iter().all(|column| !column.by_item[item].is_nan()) && (!has_length || !table.lengths[item].is_nan())
    };
    let mut observations = Observations::default();
    let mut n_left_out = 0;
    for unit in &subject.units {
        let Some(outcome) = answer(table.kind, subject, unit) else { continue };
        if is_complete(unit.item as usize) {
            observations.push(subject, unit, outcome, 0.0);
        } else {
            n_left_out += 1;
        }
    }
    let has_labels = observations.keep_labelled(subject);
    let of_items =
        |by_item: &[f64]| -> Vec<f64> { observations.units.iter().map(|unit| by_item[unit.item as usize]).collect() };
    // In its own unit, so that coefficients are of one standard deviation.
    let marks: Vec<(f64, Vec<f64>)> = known
        .iter()
        .map(|column| {
            let values = of_items(&column.by_item);
            // Equal values leave rounding of their mean, which is no spread.
            let is_constant = values.iter().all(|value| is(*value, values[0]));
            let sd = if is_constant { 0.0 } else { standard_deviation(&values) };
            (sd, values.iter().map(|value| value / sd).collect())
        })
        .collect();
    let lengths = if has_length { of_items(&table.lengths) } else { Vec::new() };
    let labels = if has_labels { observations.label_columns() } else { Vec::new() };
    let varies = |sd: f64| sd.is_finite() && sd > 0.0;
    let n_columns = labels.len() + usize::from(has_length) + marks.len();
    let has_enough = observations.units.len() >= FEW_ITEMS_A_COLUMN * n_columns;
    let others = |own: Option<usize>| -> Vec<Vec<f64>> {
        let mut columns = labels.clone();
        if has_length && own.is_some() {
            columns.push(lengths.clone());
        }
        let is_other = |idx: &usize| Some(*idx) != own && varies(marks[*idx].0);
        columns.extend((0..marks.len()).filter(is_other).map(|idx| marks[idx].1.clone()));
        columns
    };
    let mut given = Vec::new();
    given.extend(has_labels.then(|| "label".to_owned()));
    given.extend(has_length.then(|| "length".to_owned()));
    let what = match table.kind {
        OutcomeKind::Choice => "share that chooses A, by how many standard deviations more A has",
        OutcomeKind::Verdict => "share that accepts, for one standard deviation more",
        _ => "mean score, for one standard deviation more",
    };
    let beside = if given.is_empty() { String::new() } else { format!("{} and ", given.join(", ")) };
    let definition = format!("{what}, given {beside}the other marks of style");
    let fitted = |explanation: Vec<f64>, others: Vec<Vec<f64>>, stream: u64, definition: &str| {
        let observations = Observations {
            units: observations.units.clone(),
            outcomes: observations.outcomes.clone(),
            explanation,
            n: observations.n,
        };
        let effect = observations.effect(others, stream, Some(config.seed))?;
        let value = effect.estimated(observations.n, observations.n_items(), definition);
        let caution = "without labels, what has more of it may be what is better";
        Some(if has_labels { value } else { value.caution(caution) })
    };
    let mut effects = Vec::new();
    for (idx, column) in known.iter().enumerate() {
        let (sd, values) = &marks[idx];
        let value = (has_enough && varies(*sd))
            .then(|| fitted(values.clone(), others(Some(idx)), STREAM + idx as u64, &definition))
            .flatten();
        let why = match &value {
            Some(_) => None,
            None if observations.units.is_empty() => Some("no answered item states all marks and the length"),
            None if !varies(*sd) => Some("it does not vary"),
            None if !has_enough => Some("too few items for so many columns"),
            None => Some("label, length and the other marks explain it"),
        };
        effects.push(StyleEffect {
            name: column.name.clone(),
            sd: if sd.is_finite() { *sd } else { 0.0 },
            p_value: value.as_ref().and_then(|value| two_sided(value, 0.0)),
            p_holm: None,
            p_permutation: value.as_ref().and_then(|value| value.details.get("p_permutation").copied()),
            minimal_detectable: value.as_ref().and_then(super::super::estimate::Estimated::minimal_detectable),
            is_found: false,
            effect: value.map(|value| value.measure(config.level)),
            why: why.map(str::to_owned),
        });
    }
    let left = |column: &&StyleColumn, why: String| StyleEffect {
        name: column.name.clone(),
        sd: 0.0,
        effect: None,
        why: Some(why),
        p_value: None,
        p_holm: None,
        p_permutation: None,
        minimal_detectable: None,
        is_found: false,
    };
    effects.extend(beyond.iter().map(|column| left(column, format!("only the first {MOST} marks are looked at"))));
    let both = "it is not stated of both candidates: style_…_a and style_…_b";
    let nowhere = if table.kind == OutcomeKind::Choice { both } else { "it is stated nowhere" };
    effects.extend(unknown.iter().map(|column| left(column, nowhere.to_owned())));
    let definition = "answer on log₂ of the length (per doubling), given the label and the marks of style";
    let length = (has_length && has_enough)
        .then(|| fitted(lengths.clone(), others(None), STREAM_OF_LENGTH, definition))
        .flatten();
    Some(StyleEffects { given, n_left_out, effects, length: length.map(|value| value.measure(config.level)) })
}
