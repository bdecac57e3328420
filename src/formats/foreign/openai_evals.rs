//! `OpenAI` evals' JSON Lines: a specification, then events, of which matches, metrics and errors are judgements.

use std::collections::BTreeMap;

use assize_calibration::judgement::{Judgement, Verdict};
use serde_json::Value;

use super::out::{Out, Trouble, bad};
use super::{ForeignFormat, Input, Opening, ReadError, ReadSummary, Sink, json, value};

/// The choice that a model-graded eval records when the grader's reply named none.
const INVALID_CHOICE: &str = "__invalid__";

/// `OpenAI` evals' recordings.
pub(super) struct OpenAiEvals;

impl ForeignFormat for OpenAiEvals {
    fn name(&self) -> &'static str {
        "OpenAI evals JSONL"
    }

    fn recognises(&self, opening: &Opening<'_>) -> bool {
        let spec = opening.record().and_then(|record| record.get("spec"));
        spec.is_some_and(|spec| spec.get("eval_name").is_some() || spec.get("run_config").is_some())
            || opening.has_keys(&["run_id", "event_id", "sample_id", "type", "data"])
    }

    fn read(&self, input: &mut Input, sink: &mut dyn Sink) -> Result<ReadSummary, ReadError> {
        let mut out = Out::new(self, input, sink);
        let mut spec = Spec::default();
        let mut last_replies = BTreeMap::new();
        json::read_records(input, &mut out, &mut |record, line, out| {
            if let Some(described) = record.get("spec") {
                spec = Spec::new(described);
                return Ok(());
            }
            if record.get("final_report").is_some() {
                return Ok(());
            }
            read_event(record, &spec, &mut last_replies, line, out)
        })?;
        out.finish(&input.path, "give a recording with `match` or `metrics` events")
    }
}

/// What the specification says of who answered and who judged.
#[derive(Default)]
struct Spec {
    eval_name: String,
    answerer: Option<String>,
    grader: Option<String>,
}

impl Spec {
    fn new(spec: &Value) -> Self {
        let functions: Vec<&str> = spec
            .get("completion_fns")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        Self {
            eval_name: value::text(spec, "eval_name")
                .or_else(|| value::text(spec, "base_eval"))
                .unwrap_or_default()
                .to_owned(),
            answerer: functions.first().map(|&name| name.to_owned()),
            // The last function grades; alone, it grades its own answers.
            grader: functions.last().map(|&name| name.to_owned()),
        }
    }
}

/// Hands on an event that judges. `last_replies` keeps what a model last wrote about each sample not yet graded: the
/// event of a grade follows that of the reply it was read from, but other samples' events may stand between.
fn read_event(
    event: &Value,
    spec: &Spec,
    last_replies: &mut BTreeMap<String, String>,
    line: u64,
    out: &mut Out<'_>,
) -> Result<(), Trouble> {
    let Some(kind) = value::text(event, "type") else { return bad("the event has no `type`") };
    let data = event.get("data").unwrap_or(&Value::Null);
    let is_model_graded = data.get("choice").is_some();
    let mut judgement = Judgement {
        judge: match &spec.grader {
            Some(grader) if is_model_graded => grader.as_str().into(),
            _ => spec.eval_name.as_str().into(),
        },
        generator: spec.answerer.as_deref().map(Into::into),
        // Recorded with a blank where RFC 3339 has a `T`.
        time: value::text(event, "created_at").map(|time| time.replacen(' ', "T", 1).into()),
        ..Judgement::default()
    };
    match kind {
        "match" => {
            judgement.verdict = data
                .get("correct")
                .and_then(Value::as_bool)
                .map(|correct| if correct { Verdict::Accept } else { Verdict::Reject });
            judgement.raw = data.get("sampled").or_else(|| data.get("picked")).and_then(value::written);
        }
        "metrics" => {
            let choice = data.get("choice").and_then(value::written);
            // The score beside an invalid choice is the lowest one, though nothing was graded.
            if choice.as_deref() != Some(INVALID_CHOICE) {
                judgement.score = value::number(data, "score");
                if judgement.score.is_none() {
                    judgement.category.clone_from(&choice);
                }
            }
            if choice.is_none() && judgement.score.is_none() {
                let message = "`metrics` events with neither `choice` nor `score` judge nothing that is known and were passed over";
                out.note("own-metrics", line, message);
                return Ok(());
            }
            let reply = value::id(event, "sample_id").and_then(|id| last_replies.remove(id.as_ref()));
            judgement.raw = reply.map(Into::into).or(choice);
        }
        "error" => {
            judgement.error = Some(data.get("message").or(Some(data)).and_then(value::written).unwrap_or_default());
        }
        "sampling" => {
            if let (Some(id), Some(reply)) =
                (value::id(event, "sample_id"), data.get("sampled").and_then(value::written))
            {
                last_replies.insert(id.into_owned(), reply.into_owned());
            }
            return Ok(());
        }
        // Events of evals of one's own.
        _ => return Ok(()),
    }
    let Some(id) = value::id(event, "sample_id") else { return bad("the event has no `sample_id`") };
    judgement.item = id;
    out.put(judgement, line)?;
    Ok(())
}
