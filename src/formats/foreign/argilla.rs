//! Argilla's records as they are exported to tables and data sets: one field a question's responses and suggestion.

use assize_calibration::judgement::Judgement;
use serde_json::Value;

use super::out::Out;
use super::{ForeignFormat, Input, Opening, ReadError, ReadSummary, Sink, json, value};

const RESPONSES: &str = ".responses";
const SUGGESTION: &str = ".suggestion";

/// Argilla's records.
pub(super) struct Argilla;

impl ForeignFormat for Argilla {
    fn name(&self) -> &'static str {
        "Argilla records"
    }

    fn recognises(&self, opening: &Opening<'_>) -> bool {
        opening.record().is_some_and(|record| {
            record.keys().any(|key| key.ends_with(".responses.users") || key.ends_with(".suggestion.agent"))
        })
    }

    fn read(&self, input: &mut Input, sink: &mut dyn Sink) -> Result<ReadSummary, ReadError> {
        let mut out = Out::new(self, input, sink);
        json::read_records(input, &mut out, &mut |record, line, out| {
            let id = value::id(record, "id").unwrap_or_else(|| line.to_string().into());
            for (key, stated) in record.as_object().into_iter().flatten() {
                if let Some(question) = key.strip_suffix(SUGGESTION)
                    && !stated.is_null()
                {
                    let agent = value::text(record, &format!("{key}.agent")).unwrap_or_default();
                    let mut judgement = Judgement {
                        item: id.as_ref().into(),
                        judge: agent.into(),
                        dimension: Some(question.into()),
                        confidence: value::number(record, &format!("{key}.score"))
                            .filter(|score| (0.0..=1.0).contains(score)),
                        ..Judgement::default()
                    };
                    value::set_outcome(&mut judgement, stated);
                    if judgement.is_unparsed() {
                        judgement.raw = value::written(stated);
                    }
                    out.put(judgement, line)?;
                } else if let Some(question) = key.strip_suffix(RESPONSES) {
                    let users = record.get(format!("{key}.users")).and_then(Value::as_array);
                    for (idx, response) in stated.as_array().into_iter().flatten().enumerate() {
                        let user = users.and_then(|users| value::scalar(users.get(idx)?));
                        let mut judgement = Judgement {
                            item: id.as_ref().into(),
                            dimension: Some(question.into()),
                            rater: Some(user.unwrap_or_else(|| format!("response {}", idx + 1).into())),
                            ..Judgement::default()
                        };
                        value::set_outcome(&mut judgement, response);
                        if judgement.is_unparsed() {
                            judgement.raw = value::written(response);
                        }
                        out.put(judgement, line)?;
                    }
                }
            }
            Ok(())
        })?;
        out.finish(&input.path, "export records with suggestions or responses, flattened")
    }
}
