//! Label Studio's export: people's annotations and models' predictions of each task.

use assize_calibration::judgement::{Choice, Judgement};
use serde_json::Value;

use super::out::{Out, Trouble, bad};
use super::{ForeignFormat, Input, Opening, ReadError, ReadSummary, Sink, json, value};

/// Label Studio's export.
pub(super) struct LabelStudio;

impl ForeignFormat for LabelStudio {
    fn name(&self) -> &'static str {
        "Label Studio export"
    }

    fn recognises(&self, opening: &Opening<'_>) -> bool {
        opening.has_keys(&["data", "annotations"]) || opening.has_keys(&["data", "predictions"])
    }

    fn read(&self, input: &mut Input, sink: &mut dyn Sink) -> Result<ReadSummary, ReadError> {
        let mut out = Out::new(self, input, sink);
        json::read_records(input, &mut out, &mut |task, line, out| {
            let Some(id) = value::id(task, "id") else { return bad("the task has no `id`") };
            for (list, is_model) in [("predictions", true), ("annotations", false)] {
                for given in task.get(list).and_then(Value::as_array).into_iter().flatten() {
                    if given.get("was_cancelled") == Some(&Value::Bool(true)) {
                        continue;
                    }
                    let of_task = Judgement {
                        item: id.as_ref().into(),
                        judge: value::text(given, "model_version").unwrap_or_default().into(),
                        rater: (!is_model).then(|| annotator(given).into()),
                        time: value::text(given, "created_at").map(Into::into),
                        ..Judgement::default()
                    };
                    put_results(given, &of_task, line, out)?;
                }
            }
            Ok(())
        })?;
        out.finish(&input.path, "export tasks as JSON with choices, ratings, numbers or pairwise results")
    }
}

/// Hands on each result that states an outcome.
fn put_results(given: &Value, of_task: &Judgement<'_>, line: u64, out: &mut Out<'_>) -> Result<(), Trouble> {
    for result in given.get("result").and_then(Value::as_array).into_iter().flatten() {
        let mut judgement =
            Judgement { dimension: value::text(result, "from_name").map(Into::into), ..of_task.clone() };
        let stated = result.get("value").unwrap_or(&Value::Null);
        match value::text(result, "type") {
            Some("choices") => match stated.get("choices").and_then(Value::as_array).map(Vec::as_slice) {
                Some([single]) => value::set_outcome(&mut judgement, single),
                _ => judgement.raw = value::written(stated),
            },
            Some("rating") => judgement.score = value::number(stated, "rating"),
            Some("number") => judgement.score = value::number(stated, "number"),
            Some("pairwise") => {
                judgement.choice = match value::text(stated, "selected") {
                    Some("left") => Some(Choice::A),
                    Some("right") => Some(Choice::B),
                    _ => None,
                }
            }
            other => {
                let kind = other.unwrap_or("unknown");
                out.note(
                    "other-results",
                    line,
                    &format!("results of type `{kind}` judge nothing that is known and were passed over"),
                );
                continue;
            }
        }
        if judgement.is_unparsed() && judgement.raw.is_none() {
            judgement.raw = value::written(stated);
        }
        out.put(judgement, line)?;
    }
    Ok(())
}

/// Returns who annotated: a number, or a person of whom only the id is taken.
fn annotator(given: &Value) -> String {
    let by = given.get("completed_by").unwrap_or(&Value::Null);
    let id = by.get("id").unwrap_or(by);
    value::scalar(id).map_or_else(|| "annotator".to_owned(), std::borrow::Cow::into_owned)
}
