//! MT-bench's judgement files: pairs judged in both orders, and single answers graded 1 to 10.

use std::borrow::Cow;

use assize_calibration::judgement::{Choice, Judgement, Order};
use serde_json::Value;

use super::out::{Out, bad};
use super::{ForeignFormat, Input, Opening, ReadError, ReadSummary, Sink, json, value};

/// MT-bench's pairwise judgements.
pub(super) struct Pairs;

/// MT-bench's single-answer gradings.
pub(super) struct Single;

impl ForeignFormat for Pairs {
    fn name(&self) -> &'static str {
        "MT-bench pairs"
    }

    fn recognises(&self, opening: &Opening<'_>) -> bool {
        opening.has_keys(&["question_id", "model_1", "model_2", "g1_winner", "g2_winner"])
    }

    fn read(&self, input: &mut Input, sink: &mut dyn Sink) -> Result<ReadSummary, ReadError> {
        let mut out = Out::new(self, input, sink);
        json::read_records(input, &mut out, &mut |record, line, out| {
            let Some(question) = value::id(record, "question_id") else { return bad("there is no `question_id`") };
            let (Some(first), Some(second)) = (value::text(record, "model_1"), value::text(record, "model_2")) else {
                return bad("`model_1` or `model_2` is missing");
            };
            let turn = value::id(record, "turn").unwrap_or(Cow::Borrowed("1"));
            let item = format!("{question}/turn {turn}/{first} vs {second}");
            let time = value::number(record, "tstamp").and_then(value::time);
            // Winners are models in both games, whatever place they were shown in.
            for (game, order) in [("g1", Order::Ab), ("g2", Order::Ba)] {
                let winner = value::text(record, &format!("{game}_winner"));
                let choice = match winner {
                    Some("model_1") => Some(Choice::A),
                    Some("model_2") => Some(Choice::B),
                    Some("tie") => Some(Choice::Tie),
                    _ => None,
                };
                let reply = record.get(format!("{game}_judgment")).and_then(value::written);
                let judgement = Judgement {
                    item: item.as_str().into(),
                    judge: judge(record).into(),
                    choice,
                    order: Some(order),
                    group: Some(question.as_ref().into()),
                    generator: Some(first.into()),
                    generator_b: Some(second.into()),
                    time: time.as_deref().map(Into::into),
                    raw: reply.or(winner.map(Into::into)),
                    error: (winner == Some("error")).then(|| "the tool found no verdict in the reply".into()),
                    ..Judgement::default()
                };
                out.put(judgement, line)?;
            }
            Ok(())
        })?;
        out.finish(&input.path, "give a file of model_judgment")
    }
}

impl ForeignFormat for Single {
    fn name(&self) -> &'static str {
        "MT-bench single"
    }

    fn recognises(&self, opening: &Opening<'_>) -> bool {
        opening.has_keys(&["question_id", "model", "judgment", "score", "turn"])
    }

    fn read(&self, input: &mut Input, sink: &mut dyn Sink) -> Result<ReadSummary, ReadError> {
        let mut out = Out::new(self, input, sink);
        json::read_records(input, &mut out, &mut |record, line, out| {
            let Some(question) = value::id(record, "question_id") else { return bad("there is no `question_id`") };
            let Some(model) = value::text(record, "model") else { return bad("there is no `model`") };
            let turn = value::id(record, "turn").unwrap_or(Cow::Borrowed("1"));
            let written = value::number(record, "score");
            // The tool writes -1 for a reply in which it found no grade.
            let score = written.filter(|&score| score >= 0.0);
            let reply = record.get("judgment").and_then(value::written);
            let judgement = Judgement {
                item: format!("{question}/turn {turn}/{model}").into(),
                judge: judge(record).into(),
                score,
                group: Some(question),
                generator: Some(model.into()),
                time: value::number(record, "tstamp").and_then(value::time).map(Into::into),
                raw: reply.or_else(|| record.get("score").and_then(value::written)),
                error: (written.is_some() && score.is_none()).then(|| "the tool found no grade in the reply".into()),
                ..Judgement::default()
            };
            out.put(judgement, line)?;
            Ok(())
        })?;
        out.finish(&input.path, "give a file of model_judgment")
    }
}

/// Returns the judge's model: `judge` is a list of the model and the name of its prompt, or a word.
fn judge(record: &Value) -> &str {
    match record.get("judge") {
        Some(Value::Array(parts)) => parts.first().and_then(Value::as_str).unwrap_or_default(),
        Some(Value::String(name)) => name,
        _ => "",
    }
}
