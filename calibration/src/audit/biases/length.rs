//! Whether longer texts score higher, pass more often or are preferred, whatever their label says.

use crate::judgement::OutcomeKind;

use super::super::data::table::{CHOICE_A, CHOICE_B, Subject, Table, Unit, is};
use super::super::estimate::{Estimated, Measured};
use super::{Observations, answer, is_share};

const STREAM: u64 = 0x6c65_6e67;

pub(super) fn measure(
    table: &Table<'_>,
    subject: &Subject,
    units: &[Unit],
    seed_of_null: Option<u64>,
    measured: &mut Measured,
) {
    let id = if is_share(table.kind) { "length_effect_share" } else { "length_effect" };
    if table.lengths.is_empty() {
        let needs: &[&str] = if table.kind == OutcomeKind::Choice { &["length_a", "length_b"] } else { &["length_a"] };
        measured.unmeasured(id, "no lengths are stated", needs);
        return;
    }
    let mut observations = Observations::default();
    for unit in units {
        let length = table.lengths[unit.item as usize];
        if let Some(outcome) = answer(table.kind, subject, unit).filter(|_| !length.is_nan()) {
            observations.push(subject, unit, outcome, length);
        }
    }
    let has_labels = observations.keep_labelled(subject);
    let labels = if has_labels { observations.label_columns() } else { Vec::new() };
    let definition = match (table.kind, has_labels) {
        (OutcomeKind::Choice, true) => {
            "share that chooses A on log₂ of A's length over B's, given the label (per doubling; ties half)"
        }
        (OutcomeKind::Choice, false) => "share that chooses A on log₂ of A's length over B's (per doubling; ties half)",
        (OutcomeKind::Verdict, true) => "share that accepts on log₂ of the length, given the label (per doubling)",
        (OutcomeKind::Verdict, false) => "share that accepts on log₂ of the length (per doubling)",
        (_, true) => "mean score on log₂ of the length, given the label (per doubling)",
        (_, false) => "mean score on log₂ of the length (per doubling)",
    };
    let effect = observations.effect(labels, STREAM, seed_of_null);
    let value = effect.map(|effect| {
        let mut value = effect.estimated(observations.n, observations.n_items(), definition);
        let spread = |values: &[f64]| standard_deviation(values);
        let (outcomes, lengths) = (spread(&observations.outcomes), spread(&observations.explanation));
        let standardised = value.estimate * lengths / outcomes;
        value = value.detail("standardised", standardised).detail("sd_of_log2_length", lengths);
        if table.kind == OutcomeKind::Choice {
            value = longer(&observations, value);
        }
        if !has_labels {
            value = value.caution("without labels, what is longer may be what is better");
        }
        value
    });
    measured.record(id, value, "lengths do not vary beyond what the labels say", &["length_a", "length_b"]);
}

/// Adds how often the longer candidate is chosen, and how often the label names it.
fn longer(observations: &Observations<'_>, value: Estimated) -> Estimated {
    let (mut n, mut chosen, mut n_labelled, mut labelled) = (0.0, 0.0, 0.0, 0.0);
    for (idx, unit) in observations.units.iter().enumerate() {
        let length = observations.explanation[idx];
        if length == 0.0 {
            continue;
        }
        let is_a = length > 0.0;
        n += unit.weight;
        chosen += unit.weight * if is_a { observations.outcomes[idx] } else { 1.0 - observations.outcomes[idx] };
        let names = |code: f64| unit.truth.value.is_some_and(|value| is(value, code));
        if names(CHOICE_A) || names(CHOICE_B) {
            n_labelled += unit.weight;
            labelled += if names(CHOICE_A) == is_a { unit.weight } else { 0.0 };
        }
    }
    value.detail("longer_chosen", chosen / n).detail("longer_labelled", labelled / n_labelled)
}

pub(super) fn standard_deviation(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().map(|value| value / n).sum::<f64>();
    (values.iter().map(|value| (value - mean) * (value - mean) / (n - 1.0)).sum::<f64>()).sqrt()
}
