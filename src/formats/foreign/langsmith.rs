//! `LangSmith`'s feedback: one score, value or comment on a run each.

use assize_calibration::judgement::{Judgement, LabelText};
use serde_json::Value;

use super::out::{Out, bad};
use super::{ForeignFormat, Input, Opening, ReadError, ReadSummary, Sink, json, value};

/// `LangSmith`'s feedback.
pub(super) struct LangSmith;

impl ForeignFormat for LangSmith {
    fn name(&self) -> &'static str {
        "LangSmith feedback"
    }

    fn recognises(&self, opening: &Opening<'_>) -> bool {
        opening.has_keys(&["key", "run_id", "score"]) || opening.has_keys(&["key", "run_id", "feedback_source"])
    }

    fn read(&self, input: &mut Input, sink: &mut dyn Sink) -> Result<ReadSummary, ReadError> {
        let mut out = Out::new(self, input, sink);
        json::read_records(input, &mut out, &mut |record, line, out| {
            let Some(run) = value::id(record, "run_id").or_else(|| value::id(record, "trace_id")) else {
                return bad("there is neither `run_id` nor `trace_id`");
            };
            let Some(key) = value::text(record, "key") else { return bad("there is no `key`") };
            let source = record.get("feedback_source").unwrap_or(&Value::Null);
            let kind = value::text(source, "type");
            let user = value::id(source, "user_id");
            let correction = record.get("correction").and_then(|correction| {
                let stated = correction.get("score").or_else(|| correction.get("value")).unwrap_or(correction);
                value::scalar(stated)
            });
            let mut judgement = Judgement {
                item: run,
                judge: kind.unwrap_or_default().into(),
                dimension: Some(key.into()),
                // What was given in the application was given by a person.
                rater: if kind == Some("app") { Some(user.unwrap_or_else(|| "app".into())) } else { None },
                label: correction.map(LabelText),
                time: value::text(record, "created_at").map(Into::into),
                raw: value::text(record, "comment").map(Into::into),
                error: value::error_text(record),
                ..Judgement::default()
            };
            let stated =
                ["score", "value"].into_iter().filter_map(|key| record.get(key)).find(|stated| !stated.is_null());
            if let Some(stated) = stated {
                value::set_outcome(&mut judgement, stated);
                if judgement.is_unparsed() && judgement.raw.is_none() {
                    judgement.raw = value::written(stated);
                }
            }
            out.put(judgement, line)?;
            Ok(())
        })?;
        out.finish(&input.path, "export feedback with `key` and `score`")
    }
}
