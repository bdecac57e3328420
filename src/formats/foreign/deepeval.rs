//! `DeepEval`'s test runs: every metric of every test case is a judgement.

use assize_calibration::judgement::Judgement;
use serde_json::Value;

use super::out::{Out, bad};
use super::value::{self, Answers};
use super::{ForeignFormat, Input, Opening, ReadError, ReadSummary, Sink, json};

/// `DeepEval`'s test runs.
pub(super) struct DeepEval;

impl ForeignFormat for DeepEval {
    fn name(&self) -> &'static str {
        "DeepEval test run"
    }

    fn recognises(&self, opening: &Opening<'_>) -> bool {
        let Some(record) = opening.record() else { return false };
        let run = record.get("testRunData").and_then(Value::as_object).unwrap_or(record);
        let cases = run.get("testCases").or_else(|| run.get("conversationalTestCases"));
        match cases {
            Some(Value::Array(cases)) => cases.first().is_none_or(|case| {
                case.get("metricsData").is_some() || case.get("actualOutput").is_some() || case.get("input").is_some()
            }),
            _ => false,
        }
    }

    fn read(&self, input: &mut Input, sink: &mut dyn Sink) -> Result<ReadSummary, ReadError> {
        let mut out = Out::new(self, input, sink);
        let mut answers = Answers::default();
        let shape = json::Shape {
            into: &["testRunData", "testCases", "conversationalTestCases"],
            header: &[],
            keep: &["name", "input", "actualOutput", "turns", "metricsData", "additionalMetadata", "order"],
        };
        json::read_elements(input, &shape, &mut out, &mut |_, case, number, out| {
            if !case.get("name").is_some_and(Value::is_string) && case.get("metricsData").is_none() {
                return bad("the element is no test case");
            }
            let id = value::id(case, "name").unwrap_or_else(|| format!("test case {number}").into());
            let asked = case.get("input").or_else(|| case.get("turns")).map(Value::to_string).unwrap_or_default();
            let output = case.get("actualOutput").and_then(Value::as_str);
            let content = value::digest([asked.as_str(), output.unwrap_or_default()]);
            let of_case = Judgement {
                item: answers.item(&id, &content).0.into(),
                label: value::metadata_label(case.get("additionalMetadata")),
                content: Some(content.into()),
                length_a: output.map(value::length),
                style: super::style::marks(output, None),
                ..Judgement::default()
            };
            for metric in case.get("metricsData").and_then(Value::as_array).into_iter().flatten() {
                let name = value::text(metric, "name");
                let error = value::error_text(metric);
                // A metric that broke may still hold the score of its last attempt.
                let score = value::number(metric, "score").filter(|_| error.is_none());
                let judgement = Judgement {
                    judge: value::text(metric, "evaluationModel").or(name).unwrap_or_default().into(),
                    dimension: name.map(Into::into),
                    score,
                    price: value::amount(metric, "evaluationCost"),
                    raw: match score {
                        Some(_) => value::text(metric, "reason").map(Into::into),
                        None => Some(metric.to_string().into()),
                    },
                    error,
                    ..of_case.clone()
                };
                out.put(judgement, number)?;
            }
            Ok(())
        })?;
        out.finish(&input.path, "give the .latest_test_run.json of a run with metrics")
    }
}
