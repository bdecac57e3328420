//! PRD's reviews of the Vicuna-80 questions: pairs of answers, one file a pair, order and reviewer.

use std::borrow::Cow;

use assize_calibration::judgement::{Choice, ChosenPosition, Judgement, Order};
use serde_json::Value;

use super::out::{Out, bad};
use super::{ForeignFormat, Input, Opening, ReadError, ReadSummary, Sink, json, value};

/// PRD's reviews.
pub(super) struct Prd;

impl ForeignFormat for Prd {
    fn name(&self) -> &'static str {
        "PRD reviews"
    }

    fn recognises(&self, opening: &Opening<'_>) -> bool {
        opening.has_keys(&["review_id", "question_id", "answer1_id", "answer2_id", "score"])
    }

    fn read(&self, input: &mut Input, sink: &mut dyn Sink) -> Result<ReadSummary, ReadError> {
        let named = input.path.file_stem().and_then(|stem| stem.to_str()).and_then(FileName::parse);
        let mut out = Out::new(self, input, sink);
        if named.is_none() {
            let message = "the file's name is not `answer_A-vs-answer_B-REVIEWER-reviewer`: candidates are told apart by \
                           their answers' ids, and the judge is named after the file";
            out.note("file-name", 0, message);
        }
        json::read_records(input, &mut out, &mut |record, line, out| {
            let Some(question) = value::id(record, "question_id") else { return bad("there is no `question_id`") };
            let (Some(first_id), Some(second_id)) = (value::id(record, "answer1_id"), value::id(record, "answer2_id"))
            else {
                return bad("`answer1_id` or `answer2_id` is missing");
            };
            let (first, second) = match &named {
                Some(named) => (named.first.as_str(), named.second.as_str()),
                None => (first_id.as_ref(), second_id.as_ref()),
            };
            // The pair is one item in both orders; candidate A is the one whose name comes first in the alphabet.
            let (a, b, order) = if first <= second { (first, second, Order::Ab) } else { (second, first, Order::Ba) };
            let score = record.get("score").unwrap_or(&Value::Null);
            let human = named.as_ref().is_some_and(|named| named.reviewer == "human");
            let reviewer = value::id(record, "reviewer_id");
            let reply = value::text(record, "text").map(Cow::Borrowed);
            let judgement = Judgement {
                item: format!("{question}/{a} vs {b}").into(),
                judge: named.as_ref().map(|named| named.reviewer.as_str()).unwrap_or_default().into(),
                choice: position(score).map(|position| Choice::at(position, order)),
                order: Some(order),
                rater: if human { reviewer } else { None },
                generator: named.is_some().then(|| a.to_owned().into()),
                generator_b: named.is_some().then(|| b.to_owned().into()),
                raw: reply.or_else(|| value::written(score)),
                ..Judgement::default()
            };
            out.put(judgement, line)?;
            Ok(())
        })?;
        out.finish(&input.path, "give a file of reviews with `score`")
    }
}

/// Returns the place that a score names: 1, 2, 3 for a tie; or two grades, of which the higher wins.
fn position(score: &Value) -> Option<ChosenPosition> {
    if let Value::Array(grades) = score {
        let [first, second] = grades.as_slice() else { return None };
        let (first, second) = (first.as_f64()?, second.as_f64()?);
        if first < 0.0 || second < 0.0 {
            return None;
        }
        return Some(match first.total_cmp(&second) {
            std::cmp::Ordering::Greater => ChosenPosition::First,
            std::cmp::Ordering::Less => ChosenPosition::Second,
            std::cmp::Ordering::Equal => ChosenPosition::Tie,
        });
    }
    match value::scalar(score)?.as_ref() {
        "1" | "1.0" => Some(ChosenPosition::First),
        "2" | "2.0" => Some(ChosenPosition::Second),
        "3" | "3.0" => Some(ChosenPosition::Tie),
        _ => None,
    }
}

/// What `answer_A-vs-answer_B-REVIEWER-reviewer…` says.
#[derive(Debug, PartialEq)]
struct FileName {
    first: String,
    second: String,
    reviewer: String,
}

impl FileName {
    fn parse(stem: &str) -> Option<Self> {
        let (first, rest) = stem.split_once("-vs-")?;
        let (rest, _) = rest.split_once("-reviewer")?;
        let (second, reviewer) = rest.rsplit_once('-')?;
        let model = |name: &str| {
            let name = name.strip_prefix("answer").map_or(name, |rest| rest.trim_start_matches(['-', '_']));
            (!name.is_empty()).then(|| name.to_owned())
        };
        Some(Self { first: model(first)?, second: model(second)?, reviewer: reviewer.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_file_name_says_who_was_shown_where_and_who_judged() {
        let parse = |stem| FileName::parse(stem).map(|name| [name.first, name.second, name.reviewer].join("|"));
        let dashes = "answer-gpt4-vs-answer-gpt35-gpt35-reviewer-threeclass";
        assert_eq!(parse(dashes).as_deref(), Some("gpt4|gpt35|gpt35"));
        let with_size = "answer_bard-vs-answer_vicuna-13b-claude-reviewer_threeclass";
        assert_eq!(parse(with_size).as_deref(), Some("bard|vicuna-13b|claude"));
        assert_eq!(parse("reviews"), None);
    }

    #[test]
    fn scores_name_places() {
        assert_eq!(position(&json!(1)), Some(ChosenPosition::First));
        assert_eq!(position(&json!(3)), Some(ChosenPosition::Tie));
        assert_eq!(position(&json!([7.5, 8])), Some(ChosenPosition::Second));
        assert_eq!(position(&json!([-1, -1])), None);
        assert_eq!(position(&json!(-1)), None);
        assert_eq!(position(&json!(null)), None);
    }
}
