//! lm-evaluation-harness's `samples_*.jsonl`: every metric of every document is a judgement.

use std::path::Path;

use assize_calibration::judgement::{Judgement, Verdict};
use serde_json::Value;

use super::out::{Out, bad};
use super::{ForeignFormat, Input, Opening, ReadError, ReadSummary, Sink, json, value};

/// The metrics that say right or wrong, where their value is 0 or 1.
const RIGHT_OR_WRONG: [&str; 8] =
    ["acc", "acc_norm", "acc_bytes", "acc_mutual_info", "exact_match", "em", "exact", "pass@1"];

/// What a record holds beside its metrics, in versions that do not list them.
const NOT_METRICS: [&str; 12] = [
    "doc_id",
    "doc",
    "target",
    "arguments",
    "resps",
    "filtered_resps",
    "filter",
    "metrics",
    "doc_hash",
    "prompt_hash",
    "target_hash",
    "schema_version",
];

/// lm-evaluation-harness's samples.
pub(super) struct LmEval;

impl ForeignFormat for LmEval {
    fn name(&self) -> &'static str {
        "lm-evaluation-harness samples"
    }

    fn recognises(&self, opening: &Opening<'_>) -> bool {
        opening.has_keys(&["doc_id", "doc", "target", "resps"])
    }

    fn read(&self, input: &mut Input, sink: &mut dyn Sink) -> Result<ReadSummary, ReadError> {
        let (task, model) = (task_name(&input.path), model_name(&input.path));
        let mut out = Out::new(self, input, sink);
        json::read_records(input, &mut out, &mut |record, line, out| {
            let Some(id) = value::id(record, "doc_id") else { return bad("there is no `doc_id`") };
            let filter = value::text(record, "filter").filter(|&filter| filter != "none");
            let replies = record.get("filtered_resps").or_else(|| record.get("resps")).unwrap_or(&Value::Null);
            let reply = single_text(replies);
            let doc = record.get("doc").map(Value::to_string).unwrap_or_default();
            let content = value::digest([doc.as_str(), replies.to_string().as_str()]);
            for name in metrics(record) {
                let Some(measured) = record.get(name) else { continue };
                let (verdict, score) = match measured {
                    Value::Bool(truth) => (Some(verdict(*truth)), None),
                    Value::Number(number) => match number.as_f64() {
                        Some(number)
                            if RIGHT_OR_WRONG.contains(&name)
                                && (number == 0.0 || number.to_bits() == 1_f64.to_bits()) =>
                        {
                            (Some(verdict(number > 0.0)), None)
                        }
                        number => (None, number.filter(|number| number.is_finite())),
                    },
                    // What a metric keeps to be aggregated over the whole task judges no document.
                    Value::Array(_) | Value::Object(_) => {
                        let message = format!("the metric `{name}` has no value for one document and was passed over");
                        out.note("aggregate-metric", line, &message);
                        continue;
                    }
                    _ => (None, None),
                };
                let judgement = Judgement {
                    item: id.as_ref().into(),
                    judge: task.as_deref().unwrap_or_default().into(),
                    verdict,
                    score,
                    dimension: Some(filter.map_or_else(|| name.into(), |filter| format!("{name}/{filter}").into())),
                    generator: model.as_deref().map(Into::into),
                    content: Some(content.as_str().into()),
                    length_a: reply.map(value::length),
                    style: super::style::marks(reply, None),
                    raw: if verdict.is_some() || score.is_some() {
                        reply.map(Into::into)
                    } else {
                        value::written(measured)
                    },
                    ..Judgement::default()
                };
                out.put(judgement, line)?;
            }
            Ok(())
        })?;
        out.finish(&input.path, "give a samples_*.jsonl written with --log_samples")
    }
}

const fn verdict(is_right: bool) -> Verdict {
    if is_right { Verdict::Accept } else { Verdict::Reject }
}

/// Returns the names of a record's metrics: those it lists, else every number or truth value that is not known as
/// something else.
fn metrics(record: &Value) -> Vec<&str> {
    if let Some(names) = record.get("metrics").and_then(Value::as_array) {
        return names.iter().filter_map(Value::as_str).collect();
    }
    let fields = record.as_object().into_iter().flatten();
    let is_metric = |(name, value): &(&String, &Value)| {
        !NOT_METRICS.contains(&name.as_str()) && matches!(value, Value::Number(_) | Value::Bool(_))
    };
    fields.filter(is_metric).map(|(name, _)| name.as_str()).collect()
}

/// Returns the reply where there is exactly one, however deep it lies.
fn single_text(replies: &Value) -> Option<&str> {
    match replies {
        Value::String(text) => Some(text),
        Value::Array(parts) => match parts.as_slice() {
            [part] => single_text(part),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the task that `samples_TASK_TIME.jsonl` is named after.
fn task_name(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?.strip_prefix("samples_")?;
    let name = name.split(".jsonl").next().unwrap_or(name);
    let task = match name.rsplit_once('_') {
        Some((task, time)) if time.starts_with(|c: char| c.is_ascii_digit()) && time.contains('T') => task,
        _ => name,
    };
    (!task.is_empty()).then(|| task.to_owned())
}

/// Returns the model that the folder is named after: the harness writes `org__model` for `org/model`.
fn model_name(path: &Path) -> Option<String> {
    let folder = path.parent()?.file_name()?.to_str()?;
    folder.contains("__").then(|| folder.replace("__", "/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_names_task_and_model() {
        let path = Path::new("out/org__small-1b/samples_arc_easy_2025-01-31T10-11-12.123456.jsonl");
        assert_eq!(task_name(path).as_deref(), Some("arc_easy"));
        assert_eq!(model_name(path).as_deref(), Some("org/small-1b"));
        assert_eq!(task_name(Path::new("samples_my_task.jsonl")).as_deref(), Some("my_task"));
        assert_eq!(task_name(Path::new("x.jsonl")), None);
    }
}
