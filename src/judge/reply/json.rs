//! Answers in objects: by the names of their keys, nested or in lists.

use assize_calibration::judgement::{ChosenPosition, Verdict};
use serde_json::{Map, Value};

use super::lenient::value_at;
use super::{Answer, Answers, Asked, Reading, Scale, Told, Unclear, cut, of_dimension, several, unanimous, words};

/// Most opening braces from which an object is tried, so that a hostile reply is not read again and again.
const MOST_TRIED: usize = 64;

const SCORE: [&str; 12] =
    ["score", "rating", "grade", "points", "value", "level", "overall", "overallscore", "评分", "分数", "得分", "打分"];
const VERDICT: [&str; 14] = [
    "verdict",
    "decision",
    "judgement",
    "judgment",
    "label",
    "result",
    "outcome",
    "answer",
    "conclusion",
    "结论",
    "判断",
    "判定",
    "结果",
    "决定",
];
const ACCEPTS: [&str; 14] = [
    "accept",
    "accepted",
    "acceptable",
    "pass",
    "passed",
    "correct",
    "iscorrect",
    "valid",
    "isvalid",
    "approve",
    "approved",
    "ok",
    "接受",
    "通过",
];
const REJECTS: [&str; 4] = ["reject", "rejected", "fail", "failed"];
const CHOICE: [&str; 19] = [
    "winner",
    "choice",
    "better",
    "best",
    "preferred",
    "preference",
    "selected",
    "selection",
    "verdict",
    "decision",
    "judgement",
    "judgment",
    "answer",
    "result",
    "胜者",
    "获胜者",
    "选择",
    "更好",
    "结论",
];
const CONFIDENCE: [&str; 5] = ["confidence", "certainty", "probability", "置信度", "信心"];
const REASON: [&str; 13] = [
    "reason",
    "reasoning",
    "explanation",
    "rationale",
    "why",
    "critique",
    "feedback",
    "justification",
    "analysis",
    "理由",
    "原因",
    "解释",
    "分析",
];
const EVIDENCE: [&str; 6] = ["evidence", "quote", "quotes", "citation", "证据", "引用"];
const GROUPS: [&str; 9] = ["scores", "ratings", "dimensions", "criteria", "rubric", "grades", "评分", "分数", "维度"];
const NAMES: [&str; 5] = ["dimension", "name", "criterion", "aspect", "维度"];

/// Reads the answers in the objects of a reply; nothing where no object says anything of what was asked.
pub(super) fn read(reply: &str, asked: &Asked) -> Option<Reading> {
    let objects = objects(reply);
    let mut found: Option<Reading> = None;
    for object in &objects {
        let Some(reading) = of_object(object, asked) else { continue };
        found = Some(match found {
            None => reading,
            Some(earlier) => merged(earlier, reading, asked),
        });
    }
    found
}

/// Returns the outermost objects in the text, and those in its outermost lists.
fn objects(reply: &str) -> Vec<Map<String, Value>> {
    let mut objects = Vec::new();
    let mut at = 0;
    for _ in 0..MOST_TRIED {
        let Some(start) = reply[at..].find(['{', '｛']).map(|start| at + start) else { break };
        at = match value_at(&reply[start..]) {
            Some((Value::Object(object), length)) => {
                objects.push(object);
                start + length
            }
            _ => start + reply[start..].chars().next().map_or(1, char::len_utf8),
        };
    }
    objects
}

/// Returns a key as keys are compared.
fn key_of(key: &str) -> String {
    words::plain(key).chars().filter(|c| !matches!(c, ' ' | '_' | '-')).collect()
}

/// Returns the values under any of these names, in the order of the names.
fn under<'a>(object: &'a Map<String, Value>, names: &[&str]) -> Vec<&'a Value> {
    let mut values = Vec::new();
    for name in names {
        let of_name = object.iter().filter(|(key, value)| key_of(key) == **name && !value.is_null());
        values.extend(of_name.map(|(_, value)| value));
    }
    values
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(is_true) => Some(is_true.to_string()),
        Value::Array(list) => {
            let parts: Vec<String> = list.iter().filter_map(text_of).collect();
            (!parts.is_empty()).then(|| parts.join("\n"))
        }
        Value::Null | Value::Object(_) => None,
    }
}

fn of_object(object: &Map<String, Value>, asked: &Asked) -> Option<Reading> {
    let mut evidence = Vec::new();
    let answers = match asked {
        Asked::Scores(dimensions) => {
            let found: Vec<Option<Found<'_>>> =
                dimensions.iter().map(|(name, _)| find(object, name, dimensions.len())).collect();
            if found.iter().all(Option::is_none) {
                return None;
            }
            evidence = found.iter().map(|found| found.as_ref().and_then(|found| found.evidence.clone())).collect();
            let scores = dimensions.iter().zip(&found).map(|((name, scale), found)| match found {
                Some(found) => score(found.value, *scale, name),
                None => Err(Unclear::Missing(of_dimension(name))),
            });
            Answers::Scores(scores.collect())
        }
        Asked::Verdict => Answers::Verdict(verdict(object)?),
        Asked::Choice { ties } => Answers::Choice(choice(object, *ties)?),
    };
    let confidence = under(object, &CONFIDENCE).into_iter().find_map(|value| words::confidence(&text_of(value)?));
    let reason = under(object, &REASON).into_iter().find_map(text_of);
    if evidence.iter().all(Option::is_none) {
        evidence.clear();
    }
    Some(Reading { answers, confidence, reason, evidence })
}

/// Where the value of a dimension stands.
struct Found<'a> {
    value: &'a Value,
    evidence: Option<String>,
}

/// Finds the value of a dimension: under its name, within a group of scores, or, of a single one, under a word for score.
fn find<'a>(object: &'a Map<String, Value>, name: &str, n_dimensions: usize) -> Option<Found<'a>> {
    let key = key_of(name);
    let own = (!key.is_empty()).then(|| object.iter().find(|(other, _)| key_of(other) == key)).flatten();
    if let Some((_, value)) = own.filter(|(_, value)| !value.is_null()) {
        return Some(within(value));
    }
    for group in under(object, &GROUPS) {
        let found = match group {
            Value::Object(inner) => find(inner, name, n_dimensions),
            Value::Array(list) => list.iter().filter_map(Value::as_object).find_map(|entry| named(entry, &key)),
            _ => None,
        };
        if found.is_some() {
            return found;
        }
    }
    named(object, &key).or_else(|| {
        // An object that names another dimension is not about this one.
        let is_of_another = under(object, &NAMES).into_iter().any(Value::is_string);
        let value = under(object, &SCORE).into_iter().next().filter(|_| n_dimensions == 1 && !is_of_another)?;
        let evidence = under(object, &EVIDENCE).into_iter().find_map(text_of);
        Some(Found { value, evidence })
    })
}

/// Reads an entry such as `{"dimension": "clarity", "score": 4}`.
fn named<'a>(entry: &'a Map<String, Value>, key: &str) -> Option<Found<'a>> {
    let is_it =
        under(entry, &NAMES).into_iter().filter_map(Value::as_str).any(|name| !key.is_empty() && key_of(name) == key);
    let value = under(entry, &SCORE).into_iter().next().filter(|_| is_it)?;
    Some(Found { value, evidence: under(entry, &EVIDENCE).into_iter().find_map(text_of) })
}

/// Looks into `{"score": 4, "evidence": "…"}`.
fn within(value: &Value) -> Found<'_> {
    match value {
        Value::Object(inner) => Found {
            value: under(inner, &SCORE).into_iter().next().unwrap_or(value),
            evidence: under(inner, &EVIDENCE).into_iter().find_map(text_of),
        },
        _ => Found { value, evidence: None },
    }
}

fn said(value: &Value) -> String {
    text_of(value).unwrap_or_else(|| value.to_string())
}

fn score(value: &Value, scale: Scale, name: &str) -> Answer<f64> {
    let score = match value {
        Value::Number(number) => number.as_f64().and_then(|score| scale.holds(score)),
        Value::String(text) => words::score(text, scale),
        _ => None,
    };
    score.ok_or_else(|| Unclear::Other { what: of_dimension(name), said: cut(&said(value)) })
}

fn verdict(object: &Map<String, Value>) -> Option<Answer<Verdict>> {
    let read = |value: &Value| match value {
        Value::Bool(true) => Some(Verdict::Accept),
        Value::Bool(false) => Some(Verdict::Reject),
        Value::String(text) => words::verdict(text),
        _ => None,
    };
    let opposite = |verdict| if verdict == Verdict::Accept { Verdict::Reject } else { Verdict::Accept };
    let stated =
        under(object, &VERDICT).into_iter().chain(under(object, &ACCEPTS)).map(|value| (said(value), read(value)));
    let rejects = under(object, &REJECTS).into_iter().map(|value| (said(value), read(value).map(opposite)));
    unanimous(stated.chain(rejects), "the verdict")
}

fn choice(object: &Map<String, Value>, ties: bool) -> Option<Answer<ChosenPosition>> {
    let read =
        |value: &Value| value.as_str().and_then(words::choice).filter(|choice| ties || *choice != ChosenPosition::Tie);
    unanimous(under(object, &CHOICE).into_iter().map(|value| (said(value), read(value))), "the choice")
}

/// Puts what two objects of one reply say together. A clear answer stands over an unclear one; two clear ones must agree.
fn merged(earlier: Reading, later: Reading, asked: &Asked) -> Reading {
    let answers = match (earlier.answers, later.answers, asked) {
        (Answers::Scores(one), Answers::Scores(other), Asked::Scores(dimensions)) => {
            let pairs = one.into_iter().zip(other).zip(dimensions);
            Answers::Scores(pairs.map(|((one, other), (name, _))| both(one, other, &of_dimension(name))).collect())
        }
        (Answers::Verdict(one), Answers::Verdict(other), _) => Answers::Verdict(both(one, other, "the verdict")),
        (Answers::Choice(one), Answers::Choice(other), _) => Answers::Choice(both(one, other, "the choice")),
        (answers, _, _) => answers,
    };
    let mut evidence = earlier.evidence;
    if evidence.is_empty() {
        evidence = later.evidence;
    } else {
        for (mine, theirs) in evidence.iter_mut().zip(later.evidence) {
            *mine = mine.take().or(theirs);
        }
    }
    Reading {
        answers,
        confidence: earlier.confidence.or(later.confidence),
        reason: earlier.reason.or(later.reason),
        evidence,
    }
}

fn both<T: Told>(one: Answer<T>, other: Answer<T>, what: &str) -> Answer<T> {
    match (one, other) {
        (Ok(one), Ok(other)) if one == other => Ok(one),
        (Ok(one), Ok(other)) => Err(several(what, one, other)),
        (Err(several @ Unclear::Several { .. }), _) | (_, Err(several @ Unclear::Several { .. })) => Err(several),
        (Ok(clear), Err(_)) | (Err(_), Ok(clear)) => Ok(clear),
        (Err(one), Err(_)) => Err(one),
    }
}
