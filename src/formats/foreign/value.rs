//! Small readings of JSON values that all formats share.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use assize_calibration::judgement::{Judgement, LabelText, Verdict};
use serde_json::Value;

use super::style;

/// Returns a text field, or `None` where it is absent, not text or empty.
pub(super) fn text<'v>(record: &'v Value, key: &str) -> Option<&'v str> {
    record.get(key)?.as_str().filter(|text| !text.is_empty())
}

/// Returns a field that is an id: text, or a number as written.
pub(super) fn id<'v>(record: &'v Value, key: &str) -> Option<Cow<'v, str>> {
    scalar(record.get(key)?)
}

/// Returns a text or a number as text, or `None` for anything else and for empty text.
pub(super) fn scalar(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) if !text.is_empty() => Some(Cow::Borrowed(text)),
        Value::Number(number) => Some(Cow::Owned(number.to_string())),
        _ => None,
    }
}

/// Returns a finite number, or `None` where the field is absent or no number.
pub(super) fn number(record: &Value, key: &str) -> Option<f64> {
    record.get(key)?.as_f64().filter(|number| number.is_finite())
}

/// Returns a number that is a price, a time or a count: finite and not negative.
pub(super) fn amount(record: &Value, key: &str) -> Option<f64> {
    number(record, key).filter(|&amount| amount >= 0.0)
}

/// Returns a whole number of tokens.
pub(super) fn tokens(record: &Value, key: &str) -> Option<u64> {
    record.get(key)?.as_u64()
}

/// Returns a value as the tool wrote it: text as it is, anything else as JSON. `None` for null.
pub(super) fn written(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(Cow::Borrowed(text)),
        other => Some(Cow::Owned(other.to_string())),
    }
}

/// Returns what an error field says, or `None` where there is no error.
pub(super) fn error_text(record: &Value) -> Option<Cow<'_, str>> {
    match record.get("error")? {
        Value::Null | Value::Bool(false) => None,
        Value::String(text) if text.is_empty() => None,
        Value::Object(object) => match object.get("message").or_else(|| object.get("error_message")) {
            Some(Value::String(text)) => Some(Cow::Borrowed(text)),
            _ => Some(Cow::Owned(Value::Object(object.clone()).to_string())),
        },
        other => written(other),
    }
}

/// Returns a label that someone put among the metadata of an item: `metadata.label`.
pub(super) fn metadata_label(metadata: Option<&Value>) -> Option<LabelText<'_>> {
    match metadata?.get("label")? {
        Value::Bool(truth) => Some(LabelText::from(if *truth { "1" } else { "0" })),
        other => scalar(other).map(LabelText),
    }
}

/// Returns a text's length in characters.
#[expect(clippy::cast_precision_loss, reason = "no text has 2^52 characters")]
pub(super) fn length(text: &str) -> f64 {
    text.chars().count() as f64
}

/// Returns a digest of texts (FNV-1a, 128 bits, in hexadecimal), the same for the same texts only.
pub(super) fn digest<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    let mut hash = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128;
    let mut add = |byte: u8| hash = (hash ^ u128::from(byte)).wrapping_mul(0x0100_0000_0000_0000_0000_013b);
    for text in texts {
        text.bytes().for_each(&mut add);
        // A byte that no UTF-8 text has keeps ("ab", "c") apart from ("a", "bc").
        add(0xff);
    }
    let mut out = String::with_capacity(32);
    write!(out, "{hash:032x}").expect("writing to a string cannot fail");
    out
}

/// Returns seconds since 1970 as an RFC 3339 time in UTC, or `None` outside the years 1970 to 9999.
#[expect(clippy::cast_possible_truncation, reason = "the range is checked first")]
pub(super) fn time(seconds: f64) -> Option<String> {
    if !(0.0..253_402_300_800.0).contains(&seconds) {
        return None;
    }
    let seconds = seconds as i64;
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Days to a date by 400-year eras that begin on 1 March (Hinnant 2013, "chrono-compatible low-level date algorithms").
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_idx = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_idx + 2) / 5 + 1;
    let month = if month_idx < 10 { month_idx + 3 } else { month_idx - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    Some(format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60))
}

/// Keeps apart the different texts that a tool made for one id, when it made the text anew for each repetition.
///
/// Judging another text is no repetition of the judgement: the first text keeps the id, each further one is an
/// item of its own.
#[derive(Default)]
pub(super) struct Answers(BTreeMap<String, Vec<String>>);

impl Answers {
    /// Returns the item for a text (given by its digest) that was made for `id`, and whether the text is a further one.
    pub(super) fn item(&mut self, id: &str, content: &str) -> (String, bool) {
        let known = self.0.entry(id.to_owned()).or_default();
        let idx = known.iter().position(|text| text == content).unwrap_or_else(|| {
            known.push(content.to_owned());
            known.len() - 1
        });
        if idx == 0 { (id.to_owned(), false) } else { (format!("{id} (answer {})", idx + 1), true) }
    }
}

/// Sets the outcome that an untyped value states: a truth value or a word for one is a verdict, a number a score, any
/// other word a category. Anything else leaves the judgement without an outcome.
pub(super) fn set_outcome<'v>(judgement: &mut Judgement<'v>, value: &'v Value) {
    match value {
        Value::Bool(true) => judgement.verdict = Some(Verdict::Accept),
        Value::Bool(false) => judgement.verdict = Some(Verdict::Reject),
        Value::Number(number) => judgement.score = number.as_f64().filter(|number| number.is_finite()),
        Value::String(word) if !word.trim().is_empty() => match Verdict::parse(word) {
            Some(verdict) => judgement.verdict = Some(verdict),
            None => judgement.category = Some(Cow::Borrowed(word)),
        },
        _ => {}
    }
}

/// Returns the same judgement with its lengths, and marks of style, set to those of two candidates.
pub(super) fn with_lengths<'j>(judgement: Judgement<'j>, a: Option<&str>, b: Option<&str>) -> Judgement<'j> {
    Judgement { length_a: a.map(length), length_b: b.map(length), style: style::marks(a, b), ..judgement }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_become_a_date() {
        assert_eq!(time(0.0).as_deref(), Some("1970-01-01T00:00:00Z"));
        assert_eq!(time(951_782_400.9).as_deref(), Some("2000-02-29T00:00:00Z"));
        assert_eq!(time(1_687_222_653.11).as_deref(), Some("2023-06-20T00:57:33Z"));
        assert_eq!(time(-1.0), None);
        assert_eq!(time(f64::NAN), None);
    }

    #[test]
    fn a_digest_keeps_texts_apart() {
        assert_ne!(digest(["ab", "c"]), digest(["a", "bc"]));
        assert_eq!(digest(["ab"]), digest(["ab"]));
    }

    #[test]
    fn another_text_for_one_id_is_another_item() {
        let mut answers = Answers::default();
        assert_eq!(answers.item("q", "1"), ("q".to_owned(), false));
        assert_eq!(answers.item("q", "2"), ("q (answer 2)".to_owned(), true));
        assert_eq!(answers.item("q", "1"), ("q".to_owned(), false));
    }
}
