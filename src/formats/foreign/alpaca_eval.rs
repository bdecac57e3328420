//! `alpaca_eval`'s `annotations.json`: one preference between two outputs each.

use assize_calibration::judgement::{Choice, Judgement};
use serde_json::Value;

use super::out::{Out, bad};
use super::{ForeignFormat, Input, Opening, ReadError, ReadSummary, Sink, json, value};

/// `alpaca_eval`'s annotations.
pub(super) struct AlpacaEval;

impl ForeignFormat for AlpacaEval {
    fn name(&self) -> &'static str {
        "alpaca_eval annotations.json"
    }

    fn recognises(&self, opening: &Opening<'_>) -> bool {
        opening.has_keys(&["instruction", "output_1", "output_2", "preference"])
    }

    fn read(&self, input: &mut Input, sink: &mut dyn Sink) -> Result<ReadSummary, ReadError> {
        let mut out = Out::new(self, input, sink);
        json::read_records(input, &mut out, &mut |record, line, out| {
            let (Some(a), Some(b)) = (output(record, "output_1"), output(record, "output_2")) else {
                return bad("`output_1` or `output_2` is missing");
            };
            let question = value::text(record, "instruction").unwrap_or_default();
            let content = value::digest([question, a, b]);
            let (first, second) = (value::text(record, "generator_1"), value::text(record, "generator_2"));
            // Annotations have no id. The texts make one that is the same in every annotator's file.
            let item = format!("{}/{}", second.unwrap_or("pair"), &content[..12]);
            let preference = value::number(record, "preference");
            let choice = preference.and_then(choice);
            // Between the whole numbers the preference is one plus the probability that output 2 is the better.
            let probability =
                preference.filter(|value| value.fract() != 0.0 && choice.is_some()).map(|value| value - 1.0);
            let confidence = match choice {
                Some(Choice::A) => probability.map(|p| 1.0 - p),
                Some(Choice::B) => probability,
                _ => None,
            };
            let mut raw = record.get("raw_completion").and_then(value::written);
            if choice.is_none() && raw.is_none() {
                raw = record.get("preference").and_then(value::written);
            }
            let judgement = Judgement {
                item: item.into(),
                judge: value::text(record, "annotator").unwrap_or_default().into(),
                choice,
                confidence,
                content: Some(content.into()),
                generator: first.map(Into::into),
                generator_b: second.map(Into::into),
                price: value::amount(record, "price_per_example"),
                latency_ms: value::amount(record, "time_per_example").map(|seconds| seconds * 1000.0),
                raw,
                ..Judgement::default()
            };
            out.put(value::with_lengths(judgement, Some(a), Some(b)), line)?;
            Ok(())
        })?;
        out.finish(&input.path, "give an annotations.json with `preference`")
    }
}

/// Returns a candidate's text. An empty output is an output.
fn output<'v>(record: &'v Value, key: &str) -> Option<&'v str> {
    record.get(key)?.as_str()
}

/// Returns the candidate that a preference names: 1 to 2, in the middle a tie. Older files write a tie as 0.
fn choice(preference: f64) -> Option<Choice> {
    if preference == 0.0 {
        return Some(Choice::Tie);
    }
    if !(1.0..=2.0).contains(&preference) {
        return None;
    }
    Some(match preference.total_cmp(&1.5) {
        std::cmp::Ordering::Less => Choice::A,
        std::cmp::Ordering::Equal => Choice::Tie,
        std::cmp::Ordering::Greater => Choice::B,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preference_outside_its_range_names_nobody() {
        assert_eq!(choice(1.0), Some(Choice::A));
        assert_eq!(choice(1.499), Some(Choice::A));
        assert_eq!(choice(1.5), Some(Choice::Tie));
        assert_eq!(choice(0.0), Some(Choice::Tie));
        assert_eq!(choice(2.0), Some(Choice::B));
        assert_eq!(choice(-1.0), None);
        assert_eq!(choice(2.1), None);
    }
}
