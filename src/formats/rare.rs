//! Fields beside the answer: numbers that no verdict needs, left out of a row where they cannot be read.

use assize_calibration::judgement::Judgement;
use assize_calibration::log::is_weight;

use super::fields::Field;
use super::table::{Cell, excerpt};

/// Fields that are numbers nobody needs for a verdict.
pub(super) const RARE: [Field; 11] = [
    Field::Place,
    Field::Anchors,
    Field::Confidence,
    Field::LengthA,
    Field::LengthB,
    Field::Weight,
    Field::TokensIn,
    Field::TokensOut,
    Field::Price,
    Field::LatencyMs,
    Field::Time,
];

/// Sets a field from its cell; `complain` is told of one that cannot be read.
pub(super) fn set_rare<'r>(
    judgement: &mut Judgement<'r>,
    field: Field,
    cell: Cell<'r>,
    mut complain: impl FnMut(String),
) {
    if cell == Cell::Empty {
        return;
    }
    let number = cell.number().filter(|number| number.is_finite());
    let understood = match field {
        Field::Time => {
            judgement.time = cell.text();
            true
        }
        Field::Place => {
            judgement.place = cell.whole().and_then(|place| u32::try_from(place).ok()).filter(|&place| place > 0);
            judgement.place.is_some()
        }
        Field::Anchors => {
            judgement.anchors = cell.whole().and_then(|anchors| u32::try_from(anchors).ok());
            judgement.anchors.is_some()
        }
        Field::Confidence => {
            judgement.confidence = number.filter(|confidence| (0.0..=1.0).contains(confidence));
            judgement.confidence.is_some()
        }
        Field::LengthA => {
            judgement.length_a = number;
            number.is_some()
        }
        Field::LengthB => {
            judgement.length_b = number;
            number.is_some()
        }
        Field::Weight => {
            judgement.weight = number.filter(|weight| is_weight(*weight));
            judgement.weight.is_some()
        }
        Field::TokensIn => {
            judgement.tokens_in = cell.whole();
            judgement.tokens_in.is_some()
        }
        Field::TokensOut => {
            judgement.tokens_out = cell.whole();
            judgement.tokens_out.is_some()
        }
        Field::Price => {
            judgement.price = number;
            number.is_some()
        }
        Field::LatencyMs => {
            judgement.latency_ms = number;
            number.is_some()
        }
        _ => true,
    };
    if !understood {
        let word = cell.text().unwrap_or_default();
        complain(format!("`{}` is no {} and was left out; the row is used", excerpt(&word), field.name()));
    }
}

/// Returns a mark of style: a finite number, or a truth value as 1 or 0.
pub(super) fn style_number(cell: Cell<'_>) -> Option<f64> {
    match cell {
        Cell::Truth(truth) => Some(f64::from(u8::from(truth))),
        cell => cell.number().filter(|number| number.is_finite()),
    }
}
