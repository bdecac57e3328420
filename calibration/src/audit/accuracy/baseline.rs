//! What judges that do not look would score on the same items.

use crate::judgement::OutcomeKind;
use crate::log::{Log, number};

use super::truth::{Accepts, Hits, is_right};
use crate::audit::AuditConfig;
use crate::audit::data::table::{ACCEPT, CHOICE_A, CHOICE_B, CHOICE_TIE, REJECT, Subject, Table, Unit, is};
use crate::audit::estimate::Values;
use crate::audit::result::Baseline;

pub(crate) fn baselines(table: &Table<'_>, subject: &Subject, config: &AuditConfig) -> Vec<Baseline> {
    let accepts = Accepts::of(table, config);
    let right = is_right(table, accepts);
    let answered: Vec<(&Unit, f64)> = subject
        .units
        .iter()
        .filter(|unit| right(unit, 0.0).is_some())
        .filter_map(|unit| {
            let hits = Hits::of(subject, unit, None, |draw| right(unit, draw) == Some(true));
            (hits.n > 0).then(|| (unit, hits.n_met as f64 / hits.n as f64))
        })
        .collect();
    if answered.is_empty() {
        return Vec::new();
    }
    let truth = |unit: &Unit| match accepts {
        Some(_) => unit.truth.good.map(|good| if good { ACCEPT } else { REJECT }),
        None => unit.truth.value,
    };
    let mut found = Vec::new();
    let mut add = |name: &str, explanation: String, guess: &dyn Fn(&Unit) -> Option<f64>| {
        let (mut own, mut difference) = (Values::default(), Values::default());
        for &(unit, judge) in &answered {
            if let Some(guess) = guess(unit) {
                let hit = f64::from(u8::from(truth(unit) == Some(guess)));
                own.push(unit, hit, 1);
                difference.push(unit, judge - hit, 1);
            }
        }
        if let Some(accuracy) = own.proportion("share of items this guess gets right") {
            let difference = difference.mean("judge's accuracy less the guess's, item by item", [-1.0, 1.0], None);
            found.push(Baseline {
                name: name.to_owned(),
                explanation,
                accuracy: accuracy.measure(config.level),
                judge_minus_baseline: difference.map(|difference| difference.measure(config.level)),
            });
        }
    };
    if accepts.is_some() {
        add("always_accept", "accepts every item".to_owned(), &|_| Some(ACCEPT));
    }
    let labels: Vec<f64> = answered.iter().filter_map(|(unit, _)| truth(unit)).collect();
    if let Some(commonest) = commonest(&labels) {
        let name = match accepts {
            Some(_) => if is(commonest, ACCEPT) { "accept" } else { "reject" }.to_owned(),
            None => table.answer_name(commonest),
        };
        add("majority", format!("always says the commonest label, {name:?}"), &|_| Some(commonest));
    }
    if table.kind == OutcomeKind::Choice {
        let lengths = item_lengths(table.log);
        if !lengths.is_empty() {
            add("length_only", "always prefers the longer candidate".to_owned(), &|unit| {
                let [a, b] = lengths[unit.item as usize]?;
                Some(if a > b {
                    CHOICE_A
                } else if b > a {
                    CHOICE_B
                } else {
                    CHOICE_TIE
                })
            });
        }
    }
    found
}

/// Returns the commonest value; of several, the smallest.
fn commonest(values: &[f64]) -> Option<f64> {
    // Labels are few, and many the same.
    let mut counts: Vec<(f64, usize)> = Vec::new();
    for &value in values {
        match counts.binary_search_by(|(known, _)| known.total_cmp(&value)) {
            Ok(place) => counts[place].1 += 1,
            Err(place) => counts.insert(place, (value, 1)),
        }
    }
    let most = counts.iter().map(|(_, n)| *n).max()?;
    counts.into_iter().find(|(_, n)| *n == most).map(|(value, _)| value)
}

/// Returns the lengths of both candidates by item; empty when the log states none.
fn item_lengths(log: &Log) -> Vec<Option<[f64; 2]>> {
    if log.length_a.is_empty() || log.length_b.is_empty() {
        return Vec::new();
    }
    let mut lengths = vec![None; log.items.len()];
    for (row_idx, &item) in log.item.iter().enumerate() {
        if let (Some(a), Some(b)) = (number(&log.length_a, row_idx), number(&log.length_b, row_idx)) {
            lengths[item as usize].get_or_insert([a, b]);
        }
    }
    lengths
}
