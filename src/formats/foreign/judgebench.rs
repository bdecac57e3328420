//! `JudgeBench`'s JSON Lines: pairs with a gold label, judged twice, the second time swapped.

use assize_calibration::judgement::{Choice, ChosenPosition, Judgement, LabelText, Order};
use serde_json::Value;

use super::out::{Out, bad};
use super::{ForeignFormat, Input, Opening, ReadError, ReadSummary, Sink, json, value};

/// `JudgeBench`'s output.
pub(super) struct JudgeBench;

impl ForeignFormat for JudgeBench {
    fn name(&self) -> &'static str {
        "JudgeBench JSONL"
    }

    fn recognises(&self, opening: &Opening<'_>) -> bool {
        opening.has_keys(&["pair_id", "response_A", "response_B", "label", "judgments"])
    }

    fn read(&self, input: &mut Input, sink: &mut dyn Sink) -> Result<ReadSummary, ReadError> {
        let mut out = Out::new(self, input, sink);
        json::read_records(input, &mut out, &mut |record, line, out| {
            let Some(item) = value::id(record, "pair_id") else { return bad("there is no `pair_id`") };
            let Some(judgments) = record.get("judgments").and_then(Value::as_array) else {
                return bad("there is no list `judgments`");
            };
            let text = |key| value::text(record, key).unwrap_or_default();
            let (question, a, b) = (text("question"), text("response_A"), text("response_B"));
            let content = value::digest([question, a, b]);
            let label = value::text(record, "label").and_then(Choice::parse).map(letter);
            let method = value::text(record, "judge_name");
            for (idx, judged) in judgments.iter().enumerate() {
                let order = if idx % 2 == 0 { Order::Ab } else { Order::Ba };
                let answer = judged.get("judgment").unwrap_or(&Value::Null);
                let model = value::text(answer, "judge_model");
                let decision = judged.get("decision").and_then(Value::as_str);
                // A decision names the places as shown: "A>B" is the first one shown.
                let choice = decision.and_then(ChosenPosition::parse).map(|position| Choice::at(position, order));
                let reply = value::text(answer, "response");
                let judgement = Judgement {
                    item: item.as_ref().into(),
                    judge: model.or(method).unwrap_or_default().into(),
                    arm: model.and(method).map(Into::into),
                    choice,
                    order: Some(order),
                    label: label.map(LabelText::from),
                    content: Some(content.as_str().into()),
                    generator: value::text(record, "response_model").map(Into::into),
                    raw: reply.or(decision).map(Into::into),
                    error: value::error_text(judged),
                    ..Judgement::default()
                };
                out.put(value::with_lengths(judgement, Some(a), Some(b)), line)?;
            }
            Ok(())
        })?;
        out.finish(&input.path, "give the output of a judge, with `judgments`")
    }
}

/// Returns the label of a candidate.
const fn letter(choice: Choice) -> &'static str {
    match choice {
        Choice::A => "a",
        Choice::B => "b",
        Choice::Tie => "tie",
    }
}
