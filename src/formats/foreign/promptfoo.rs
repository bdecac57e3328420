//! promptfoo's results, as one JSON file or as JSON Lines: every assertion of every row is a judgement.

use std::borrow::Cow;
use std::collections::BTreeMap;

use assize_calibration::judgement::{Judgement, Verdict};
use serde_json::Value;

use super::out::{Out, Trouble, bad};
use super::value::{self, Answers};
use super::{ForeignFormat, Input, Opening, ReadError, ReadSummary, Sink, json};

/// What of a row is read.
const KEPT: [&str; 9] =
    ["gradingResult", "testCase", "vars", "prompt", "promptIdx", "provider", "response", "error", "failureReason"];

/// What promptfoo's own graders give as the reason when their model's reply could not be used. Versions before
/// `metadata.graderError` say it in no other way.
const GRADER_ERRORS: [&str; 5] = [
    "Could not extract JSON from",
    "llm-rubric produced malformed response",
    "Failed to parse",
    "Grading failed",
    "API error:",
];

/// promptfoo's results.
pub(super) struct Promptfoo;

impl ForeignFormat for Promptfoo {
    fn name(&self) -> &'static str {
        "promptfoo results"
    }

    fn recognises(&self, opening: &Opening<'_>) -> bool {
        let Some(record) = opening.record() else { return false };
        let is_row = |row: &Value| {
            row.get("vars").is_some() && (row.get("gradingResult").is_some() || row.get("promptIdx").is_some())
        };
        let in_file = match record.get("results") {
            // A cut file may show nothing of the rows yet.
            Some(Value::Object(results)) => {
                results.contains_key("results")
                    || (results.contains_key("prompts") && results.contains_key("version"))
                    || record.contains_key("evalId")
            }
            Some(Value::Array(rows)) => rows.first().is_some_and(is_row),
            _ => false,
        };
        in_file || is_row(&Value::Object(record.clone()))
    }

    fn read(&self, input: &mut Input, sink: &mut dyn Sink) -> Result<ReadSummary, ReadError> {
        let mut rows = Rows::default();
        let mut out = Out::new(self, input, sink);
        let by_line = {
            let buffer = input.reader.fill_buf().map_err(|source| json::io_error(&input.path, source))?;
            let first = json::first_value(buffer.trim_ascii_start());
            // A file has these beside its rows, a row has none of them.
            first.is_some_and(|first| ["results", "evalId", "config"].iter().all(|key| first.get(key).is_none()))
        };
        if by_line {
            json::read_records(input, &mut out, &mut |row, line, out| rows.read(row, line, out))?;
        } else {
            let shape = json::Shape { into: &["results"], header: &[], keep: &KEPT };
            json::read_elements(input, &shape, &mut out, &mut |_, row, number, out| rows.read(row, number, out))?;
        }
        out.finish(&input.path, "write the results with `promptfoo eval --output results.json`")
    }
}

/// What must be remembered from row to row: repetitions stand in rows of their own, with nothing that links them.
#[derive(Default)]
struct Rows {
    tests: BTreeMap<String, usize>,
    answers: Answers,
}

impl Rows {
    fn read(&mut self, row: &Value, line: u64, out: &mut Out<'_>) -> Result<(), Trouble> {
        let Some(vars) = row.get("vars") else { return bad("the row has no `vars`") };
        let test_case = row.get("testCase").unwrap_or(&Value::Null);
        let next_number = self.tests.len() + 1;
        let test = format!("test {}", *self.tests.entry(test_key(vars, test_case)).or_insert(next_number));
        let provider = row.get("provider").and_then(provider_id);
        let prompt = row.get("promptIdx").and_then(Value::as_u64).unwrap_or(0);
        let output = row.pointer("/response/output").and_then(value::written);
        let content = value::digest([vars.to_string().as_str(), output.as_deref().unwrap_or_default()]);
        let subject = format!("{test}/prompt {}/{}", prompt + 1, provider.unwrap_or("provider"));
        let item = match &output {
            Some(_) => self.answers.item(&subject, &content).0,
            None => subject,
        };
        let of_row = Judgement {
            item: item.into(),
            label: value::metadata_label(test_case.get("metadata")),
            group: Some(test.into()),
            generator: provider.map(Into::into),
            content: output.as_ref().map(|_| content.into()),
            length_a: output.as_deref().map(value::length),
            style: super::style::marks(output.as_deref(), None),
            ..Judgement::default()
        };
        let grading = row.get("gradingResult").filter(|grading| grading.is_object());
        let asked = row.get("failureReason").and_then(Value::as_u64) != Some(2);
        match grading {
            Some(grading) if asked => {
                if put_components(grading, test_case, &of_row, line, out)? == 0 {
                    put_one(grading, test_case, &of_row, line, out)?;
                }
            }
            _ => {
                let why = value::error_text(row).unwrap_or(Cow::Borrowed("there is no grading"));
                let error = format!("not graded: {why}");
                put_ungraded(test_case, &of_row, &error, line, out)?;
            }
        }
        Ok(())
    }
}

/// Returns what makes a test the same test: its description and variables, without those the tool adds.
fn test_key(vars: &Value, test_case: &Value) -> String {
    let mut texts = vec![value::text(test_case, "description").unwrap_or_default().to_owned()];
    match vars {
        Value::Object(vars) => {
            let own = vars.iter().filter(|(name, _)| !name.starts_with('_') && *name != "sessionId");
            texts.extend(own.flat_map(|(name, value)| [name.clone(), value.to_string()]));
        }
        other => texts.push(other.to_string()),
    }
    value::digest(texts.iter().map(String::as_str))
}

/// Hands on every assertion that has no assertions under it; returns how many there were.
fn put_components(
    grading: &Value,
    test_case: &Value,
    of_row: &Judgement<'_>,
    line: u64,
    out: &mut Out<'_>,
) -> Result<usize, ReadError> {
    let mut n_put = 0;
    for component in grading.get("componentResults").and_then(Value::as_array).into_iter().flatten() {
        let n_below = put_components(component, test_case, of_row, line, out)?;
        if n_below == 0 {
            put_one(component, test_case, of_row, line, out)?;
        }
        n_put += n_below.max(1);
    }
    Ok(n_put)
}

/// Hands on one graded assertion.
fn put_one(
    graded: &Value,
    test_case: &Value,
    of_row: &Judgement<'_>,
    line: u64,
    out: &mut Out<'_>,
) -> Result<(), ReadError> {
    let reason = value::text(graded, "reason");
    let known_failure = reason.is_some_and(|reason| GRADER_ERRORS.iter().any(|start| reason.starts_with(start)));
    let marked =
        graded.pointer("/metadata/graderError").is_some_and(|mark| !matches!(mark, Value::Null | Value::Bool(false)));
    let passed = graded.get("pass").and_then(Value::as_bool);
    let failed_to_grade = marked || (known_failure && passed != Some(true));
    // A score without `pass` says nothing about passing: it stays unparsed.
    let verdict = passed.filter(|_| !failed_to_grade).map(|pass| if pass { Verdict::Accept } else { Verdict::Reject });
    let error = failed_to_grade.then(|| reason.unwrap_or("the grader failed"));
    let used = graded.get("tokensUsed").unwrap_or(&Value::Null);
    let count = |key| value::tokens(used, key);
    if count("cached").is_some_and(|cached| cached > 0) {
        let message =
            "grades were served from promptfoo's cache: repetitions of them cannot vary; run it with --no-cache";
        out.warn("cached-grades", line, message);
    }
    // Assertions that ask no model state zeros.
    let asked_model = count("total").unwrap_or(0) > 0;
    let assertion = graded.get("assertion").unwrap_or(&Value::Null);
    let judgement = Judgement {
        judge: judge(assertion, test_case),
        dimension: dimension(assertion),
        verdict,
        tokens_in: count("prompt").filter(|_| asked_model),
        tokens_out: count("completion").filter(|_| asked_model),
        raw: if verdict.is_none() { Some(graded.to_string().into()) } else { reason.map(Into::into) },
        error: error.map(Into::into),
        ..of_row.clone()
    };
    out.put(judgement, line)
}

/// Hands on a row that was never graded: one judgement without an outcome for each assertion it was to meet.
fn put_ungraded(
    test_case: &Value,
    of_row: &Judgement<'_>,
    error: &str,
    line: u64,
    out: &mut Out<'_>,
) -> Result<(), ReadError> {
    let mut asserts: Vec<&Value> = Vec::new();
    let mut to_visit: Vec<&Value> = test_case.get("assert").into_iter().collect();
    while let Some(value) = to_visit.pop() {
        match value {
            Value::Array(parts) => to_visit.extend(parts.iter().rev()),
            Value::Object(_) => match value.get("assert") {
                Some(below) => to_visit.push(below),
                None => asserts.push(value),
            },
            _ => {}
        }
    }
    if asserts.is_empty() {
        asserts.push(&Value::Null);
    }
    for assertion in asserts {
        let judgement = Judgement {
            judge: judge(assertion, test_case),
            dimension: dimension(assertion),
            error: Some(error.into()),
            ..of_row.clone()
        };
        out.put(judgement, line)?;
    }
    Ok(())
}

/// Returns who grades an assertion: its kind, with the grading provider where one is named.
fn judge<'v>(assertion: &'v Value, test_case: &'v Value) -> Cow<'v, str> {
    let Some(kind) = value::text(assertion, "type") else { return Cow::Borrowed("") };
    let by_model =
        ["llm-rubric", "model-graded", "factuality", "g-eval", "answer-relevance", "context-", "select-best"];
    let bare = kind.strip_prefix("not-").unwrap_or(kind);
    if !by_model.iter().any(|start| bare.starts_with(start)) {
        return Cow::Borrowed(kind);
    }
    let own = assertion.get("provider").and_then(provider_id);
    match own.or_else(|| test_case.pointer("/options/provider").and_then(provider_id)) {
        Some(provider) => Cow::Owned(format!("{kind} ({provider})")),
        None => Cow::Borrowed(kind),
    }
}

/// Returns what an assertion asks: its metric, else what it compares with.
fn dimension(assertion: &Value) -> Option<Cow<'_, str>> {
    if let Some(metric) = value::text(assertion, "metric") {
        return Some(metric.into());
    }
    let asked = assertion.get("value").and_then(value::written)?;
    // A rubric of several pages is no name; what is cut off is told apart by a digest.
    let mut short: String = asked.chars().take(60).collect();
    if short.len() < asked.len() {
        short.push_str("… ");
        short.push_str(&value::digest([asked.as_ref()])[..8]);
    }
    Some(short.into())
}

fn provider_id(provider: &Value) -> Option<&str> {
    provider.as_str().or_else(|| value::text(provider, "id")).filter(|id| !id.is_empty())
}
