//! `MLflow`'s assessments, on their own or within the traces they belong to.

use assize_calibration::judgement::Judgement;
use serde_json::Value;

use super::out::{Out, Trouble, bad};
use super::{ForeignFormat, Input, Opening, ReadError, ReadSummary, Sink, json, value};

/// `MLflow`'s assessments.
pub(super) struct Mlflow;

impl ForeignFormat for Mlflow {
    fn name(&self) -> &'static str {
        "MLflow assessments"
    }

    fn recognises(&self, opening: &Opening<'_>) -> bool {
        let Some(record) = opening.record() else { return false };
        let in_trace = record.get("info").is_some_and(|info| info.get("assessments").is_some());
        let alone = record.get("source").is_some_and(|source| source.get("source_type").is_some())
            && (record.contains_key("feedback") || record.contains_key("expectation"));
        in_trace || alone
    }

    fn read(&self, input: &mut Input, sink: &mut dyn Sink) -> Result<ReadSummary, ReadError> {
        let mut out = Out::new(self, input, sink);
        json::read_records(input, &mut out, &mut |record, line, out| {
            let Some(info) = record.get("info") else { return put(record, record, line, out) };
            for assessment in info.get("assessments").and_then(Value::as_array).into_iter().flatten() {
                put(assessment, info, line, out)?;
            }
            Ok(())
        })?;
        out.finish(&input.path, "export traces with assessments, or the assessments themselves")
    }
}

fn put(assessment: &Value, trace: &Value, line: u64, out: &mut Out<'_>) -> Result<(), Trouble> {
    let trace_id = value::id(assessment, "trace_id").or_else(|| value::id(trace, "trace_id"));
    let Some(trace_id) = trace_id.or_else(|| value::id(trace, "request_id")) else {
        return bad("the assessment has no `trace_id`");
    };
    let source = assessment.get("source").unwrap_or(&Value::Null);
    let source_id = value::text(source, "source_id").unwrap_or_default();
    let feedback = assessment.get("feedback").or_else(|| assessment.get("expectation")).unwrap_or(&Value::Null);
    let error = value::error_text(feedback);
    // What a person says of the trace, and what was expected of it, is truth and no judge's.
    let is_truth = value::text(source, "source_type") == Some("HUMAN") || assessment.get("expectation").is_some();
    let name = ["assessment_name", "name"].into_iter().find_map(|key| value::text(assessment, key));
    let rater = if source_id.is_empty() { "expectation" } else { source_id };
    let mut judgement = Judgement {
        item: trace_id,
        judge: source_id.into(),
        dimension: name.map(Into::into),
        rater: is_truth.then(|| rater.into()),
        time: value::text(assessment, "create_time").map(Into::into),
        raw: value::text(assessment, "rationale").map(Into::into),
        ..Judgement::default()
    };
    let stated = feedback.get("value").unwrap_or(&Value::Null);
    if error.is_none() {
        value::set_outcome(&mut judgement, stated);
    }
    if judgement.is_unparsed() && judgement.raw.is_none() {
        judgement.raw = value::written(stated);
    }
    judgement.error = error;
    out.put(judgement, line)?;
    Ok(())
}
