//! OpenTelemetry's event `gen_ai.evaluation.result`: as OTLP JSON, or as one event a line.

use assize_calibration::judgement::Judgement;
use serde_json::{Map, Value};

use super::out::{Out, Trouble, bad};
use super::{ForeignFormat, Input, Opening, ReadError, ReadSummary, Sink, json, value};

const EVENT: &str = "gen_ai.evaluation.result";

/// OpenTelemetry's evaluation events.
pub(super) struct OpenTelemetry;

impl ForeignFormat for OpenTelemetry {
    fn name(&self) -> &'static str {
        "OpenTelemetry gen_ai.evaluation.result"
    }

    fn recognises(&self, opening: &Opening<'_>) -> bool {
        opening.has_keys(&["resourceLogs"])
            || opening.record().is_some_and(|record| event_name(&Value::Object(record.clone())) == Some(EVENT))
    }

    fn read(&self, input: &mut Input, sink: &mut dyn Sink) -> Result<ReadSummary, ReadError> {
        let mut out = Out::new(self, input, sink);
        json::read_records(input, &mut out, &mut |record, line, out| {
            if record.get("resourceLogs").is_none() {
                return put(record, line, out);
            }
            let below =
                |value: &'_ Value, key: &str| value.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
            for resource in below(record, "resourceLogs") {
                for scope in below(&resource, "scopeLogs") {
                    for event in below(&scope, "logRecords") {
                        put(&event, line, out)?;
                    }
                }
            }
            Ok(())
        })?;
        out.finish(&input.path, "export the log events named gen_ai.evaluation.result")
    }
}

/// Hands on an event, if it is an evaluation's result.
fn put(event: &Value, line: u64, out: &mut Out<'_>) -> Result<(), Trouble> {
    if event_name(event) != Some(EVENT) {
        return Ok(());
    }
    let attributes = Value::Object(attributes(event.get("attributes")));
    let in_trace = ["traceId", "trace_id"].into_iter().find_map(|key| value::text(event, key));
    let in_span = ["spanId", "span_id"].into_iter().find_map(|key| value::text(event, key));
    let item = match (value::text(&attributes, "gen_ai.response.id"), in_trace) {
        (Some(response), _) => response.to_owned(),
        (None, Some(trace)) => [Some(trace), in_span].into_iter().flatten().collect::<Vec<_>>().join("/"),
        (None, None) => return bad("the event has neither `gen_ai.response.id` nor a trace"),
    };
    let explanation = value::text(&attributes, "gen_ai.evaluation.explanation");
    let mut judgement = Judgement {
        item: item.into(),
        dimension: value::text(&attributes, "gen_ai.evaluation.name").map(Into::into),
        raw: explanation.map(Into::into),
        error: value::text(&attributes, "error.type").map(Into::into),
        ..Judgement::default()
    };
    if judgement.error.is_none() {
        judgement.score = value::number(&attributes, "gen_ai.evaluation.score.value");
        if judgement.score.is_none()
            && let Some(label) = attributes.get("gen_ai.evaluation.score.label")
        {
            value::set_outcome(&mut judgement, label);
        }
    }
    out.put(judgement, line)?;
    Ok(())
}

fn event_name(event: &Value) -> Option<&str> {
    ["eventName", "event_name", "event.name", "name"].into_iter().find_map(|key| value::text(event, key))
}

/// Returns attributes as a map: they stand so, or as OTLP's list of keys with typed values.
fn attributes(stated: Option<&Value>) -> Map<String, Value> {
    match stated {
        Some(Value::Object(map)) => map.clone(),
        Some(Value::Array(pairs)) => pairs
            .iter()
            .filter_map(|pair| {
                let (kind, value) = pair.get("value")?.as_object()?.iter().next()?;
                // OTLP writes whole numbers as text.
                let value = match (kind.as_str(), value.as_str()) {
                    ("intValue", Some(text)) => Value::from(text.parse::<i64>().ok()?),
                    _ => value.clone(),
                };
                Some((value::text(pair, "key")?.to_owned(), value))
            })
            .collect(),
        _ => Map::new(),
    }
}
