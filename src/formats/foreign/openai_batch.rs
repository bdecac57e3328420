//! Output of batch interfaces (`OpenAI`'s, `vLLM`'s `run-batch`, Ray's; Anthropic's): one reply a line, in which the
//! judgement is JSON.

use std::borrow::Cow;

use assize_calibration::judgement::{Choice, ChosenPosition, Judgement, Order, Verdict};
use serde_json::Value;

use super::out::{Out, bad};
use super::{ForeignFormat, Input, Opening, ReadError, ReadSummary, Sink, json, reply, value};

/// Batch output.
pub(super) struct OpenAiBatch;

impl ForeignFormat for OpenAiBatch {
    fn name(&self) -> &'static str {
        "batch output JSONL"
    }

    fn recognises(&self, opening: &Opening<'_>) -> bool {
        let has = |key: &str| opening.has_keys(&["custom_id", key]);
        has("response") || has("result") || (has("body") && has("url"))
    }

    fn read(&self, input: &mut Input, sink: &mut dyn Sink) -> Result<ReadSummary, ReadError> {
        let mut out = Out::new(self, input, sink);
        json::read_records(input, &mut out, &mut |record, line, out| {
            let Some(custom_id) = value::id(record, "custom_id") else { return bad("there is no `custom_id`") };
            if record.get("response").is_none() && record.get("result").is_none() && record.get("error").is_none() {
                return bad("the line is a request: give the batch's output file, not its input");
            }
            let id = CustomId::parse(&custom_id);
            let answer = Answer::new(record);
            let mut judgement = Judgement {
                item: id.item.into(),
                judge: answer.model.unwrap_or_default().into(),
                order: id.order,
                repeat: id.repeat,
                tokens_in: answer.tokens_in,
                tokens_out: answer.tokens_out,
                time: answer.time.map(Into::into),
                ..Judgement::default()
            };
            match answer.text {
                Ok(text) => {
                    fill(&mut judgement, &text);
                    judgement.raw = Some(text);
                }
                Err(error) => judgement.error = Some(error),
            }
            out.put(judgement, line)?;
            Ok(())
        })?;
        out.finish(&input.path, "give the batch's output file, in which each line has a `response`")
    }
}

/// What a `custom_id` says: an item, and after `#` the order and the repeat, as in `q17#ba#r2`.
#[derive(Debug, PartialEq)]
struct CustomId<'v> {
    item: &'v str,
    order: Option<Order>,
    repeat: Option<u32>,
}

impl<'v> CustomId<'v> {
    fn parse(text: &'v str) -> Self {
        let mut id = Self { item: text, order: None, repeat: None };
        while let Some((rest, part)) = id.item.rsplit_once('#') {
            let repeat = part.strip_prefix('r').and_then(|number| number.parse().ok());
            match part {
                _ if rest.is_empty() => break,
                "ab" if id.order.is_none() => id.order = Some(Order::Ab),
                "ba" if id.order.is_none() => id.order = Some(Order::Ba),
                _ if repeat.is_some() && id.repeat.is_none() => id.repeat = repeat,
                _ => break,
            }
            id.item = rest;
        }
        id
    }
}

/// One line's reply, whichever interface it came from.
struct Answer<'v> {
    text: Result<Cow<'v, str>, Cow<'v, str>>,
    model: Option<&'v str>,
    tokens_in: Option<u64>,
    tokens_out: Option<u64>,
    time: Option<String>,
}

impl<'v> Answer<'v> {
    fn new(record: &'v Value) -> Self {
        let body =
            record.pointer("/response/body").or_else(|| record.pointer("/result/message")).unwrap_or(&Value::Null);
        let usage = body.get("usage").unwrap_or(&Value::Null);
        let count = |names: [&str; 2]| names.into_iter().find_map(|name| value::tokens(usage, name));
        Self {
            text: text(record, body),
            model: value::text(body, "model"),
            tokens_in: count(["prompt_tokens", "input_tokens"]),
            tokens_out: count(["completion_tokens", "output_tokens"]),
            time: ["created", "created_at"].into_iter().find_map(|key| value::number(body, key)).and_then(value::time),
        }
    }
}

/// Returns the reply's text, or why there is none.
fn text<'v>(record: &'v Value, body: &'v Value) -> Result<Cow<'v, str>, Cow<'v, str>> {
    for failed in [record, record.get("result").unwrap_or(&Value::Null), body] {
        if let Some(error) = value::error_text(failed) {
            return Err(error);
        }
    }
    if let Some(status) = record.pointer("/response/status_code").and_then(Value::as_u64)
        && status != 200
    {
        return Err(format!("HTTP status {status}").into());
    }
    if let Some(kind) = record.pointer("/result/type").and_then(Value::as_str)
        && kind != "succeeded"
    {
        return Err(format!("the request {kind}").into());
    }
    // Chat completions, completions, responses and messages, in this order.
    let parts = [
        body.pointer("/choices/0/message/content"),
        body.pointer("/choices/0/text"),
        body.get("output"),
        body.get("content"),
    ];
    let mut joined = String::new();
    for part in parts.into_iter().flatten() {
        match part {
            Value::String(text) => return Ok(Cow::Borrowed(text)),
            other => append_text(other, &mut joined),
        }
        if !joined.is_empty() {
            return Ok(Cow::Owned(joined));
        }
    }
    match body.pointer("/choices/0/message/refusal").and_then(Value::as_str) {
        Some(refusal) => Ok(Cow::Borrowed(refusal)),
        None => Err("the reply holds no text".into()),
    }
}

/// Appends the texts of content parts, leaving out what is no answer, such as reasoning.
fn append_text(part: &Value, joined: &mut String) {
    match part {
        Value::Array(parts) => parts.iter().for_each(|part| append_text(part, joined)),
        Value::Object(_) => match part.get("type").and_then(Value::as_str) {
            Some("text" | "output_text") | None => joined.push_str(value::text(part, "text").unwrap_or_default()),
            Some("message") => append_text(part.get("content").unwrap_or(&Value::Null), joined),
            Some(_) => {}
        },
        _ => {}
    }
}

/// Fills in the outcome that the JSON in a reply states, if it states one.
fn fill(judgement: &mut Judgement<'_>, text: &str) {
    const KEYS: [&str; 13] = [
        "score",
        "rating",
        "verdict",
        "pass",
        "passed",
        "accept",
        "correct",
        "chosen_position",
        "choice",
        "winner",
        "preferred",
        "category",
        "label",
    ];
    let Some(object) = reply::last_object(text, &KEYS) else { return };
    let get = |names: &[&str]| names.iter().find_map(|name| object.get(*name).filter(|value| !value.is_null()));
    if let Some(verdict) = get(&["verdict", "pass", "passed", "accept", "correct"]) {
        judgement.verdict = match verdict {
            Value::Bool(true) => Some(Verdict::Accept),
            Value::Bool(false) => Some(Verdict::Reject),
            other => value::scalar(other).and_then(|word| Verdict::parse(&word)),
        };
    } else if let Some(position) = get(&["chosen_position"]) {
        let position = value::scalar(position).and_then(|word| ChosenPosition::parse(&word));
        judgement.choice = position.map(|position| Choice::at(position, judgement.order.unwrap_or(Order::Ab)));
    } else if let Some(choice) = get(&["choice", "winner", "preferred"]) {
        judgement.choice = value::scalar(choice).and_then(|word| Choice::parse(&word));
    } else if let Some(score) = get(&["score", "rating"]) {
        let number = match score {
            Value::String(text) => text.trim().parse().ok(),
            other => other.as_f64(),
        };
        judgement.score = number.filter(|number: &f64| number.is_finite());
    } else if let Some(category) = get(&["category", "label"]) {
        judgement.category = value::scalar(category).map(|word| Cow::Owned(word.into_owned()));
    }
    let confidence = object.get("confidence").and_then(Value::as_f64);
    judgement.confidence = confidence.filter(|confidence| (0.0..=1.0).contains(confidence));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_custom_id_ends_in_order_and_repeat() {
        let id = |item, order, repeat| CustomId { item, order, repeat };
        assert_eq!(CustomId::parse("q17#ba#r2"), id("q17", Some(Order::Ba), Some(2)));
        assert_eq!(CustomId::parse("q17#r2#ab"), id("q17", Some(Order::Ab), Some(2)));
        assert_eq!(CustomId::parse("issue#42"), id("issue#42", None, None));
        assert_eq!(CustomId::parse("a#r0"), id("a", None, Some(0)));
        assert_eq!(CustomId::parse("#ab"), id("#ab", None, None));
    }

    #[test]
    fn a_choice_is_the_candidate_and_a_position_is_translated() {
        let choice = |text: &str| {
            let mut judgement = Judgement { order: Some(Order::Ba), ..Judgement::default() };
            fill(&mut judgement, text);
            judgement.choice
        };
        assert_eq!(choice(r#"{"choice": "A"}"#), Some(Choice::A));
        assert_eq!(choice(r#"{"chosen_position": "first"}"#), Some(Choice::B));
        assert_eq!(choice(r#"{"choice": "perhaps"}"#), None);
    }
}
