//! Answers in prose: `[[A]]`, `Score: 4`, `**Verdict:** accept`, or the answer and nothing else.
//!
//! Marks weigh more than labels, since a prompt that asks for `[[…]]` gets labels in the reasoning before it. Of several answers marked
//! or labelled alike, all must be the same.

use assize_calibration::judgement::ChosenPosition;

use super::{Answer, Answers, Asked, Reading, Scale, Told, Unclear, of_dimension, unanimous, words};

const SCORE: [&str; 7] = ["score", "rating", "grade", "评分", "分数", "得分", "打分"];
const VERDICT: [&str; 12] = [
    "verdict",
    "decision",
    "judgement",
    "judgment",
    "conclusion",
    "answer",
    "result",
    "结论",
    "判断",
    "判定",
    "结果",
    "决定",
];
const CHOICE: [&str; 13] = [
    "winner",
    "verdict",
    "decision",
    "judgement",
    "judgment",
    "choice",
    "answer",
    "preferred",
    "better",
    "胜者",
    "获胜者",
    "选择",
    "结论",
];
/// What stands between a label and its answer.
const SEPARATORS: [&str; 6] = [":", "：", "=", " is ", "是", "为"];
/// Lines longer than this are reasoning, bytes.
const LONGEST_LINE: usize = 400;

pub(super) fn read(reply: &str, asked: &Asked) -> Reading {
    let start = reply.trim_start().trim_start_matches('`').trim_start_matches("json").trim_start();
    // What begins as an object and is none breaks off or contradicts itself.
    let reply = if start.starts_with(['{', '｛']) { "" } else { reply };
    let answers = match asked {
        Asked::Scores(dimensions) => {
            let is_single = dimensions.len() == 1;
            let scores = dimensions.iter().map(|(name, scale)| score(reply, name, *scale, is_single));
            Answers::Scores(scores.collect())
        }
        Asked::Verdict => Answers::Verdict(single(reply, &VERDICT, "the verdict", &words::verdict)),
        Asked::Choice { ties } => {
            let read = |text: &str| words::choice(text).filter(|choice| *ties || *choice != ChosenPosition::Tie);
            Answers::Choice(single(reply, &CHOICE, "the choice", &read))
        }
    };
    Reading { answers, confidence: None, reason: None, evidence: Vec::new() }
}

fn score(reply: &str, name: &str, scale: Scale, is_single: bool) -> Answer<f64> {
    let what = of_dimension(name);
    let read = |text: &str| words::score(text, scale);
    if is_single {
        let labels: Vec<&str> = SCORE.into_iter().chain((!name.is_empty()).then_some(name)).collect();
        single(reply, &labels, &what, &read)
    } else {
        all(labelled(reply, &[name]), &what, &read).unwrap_or(Err(Unclear::Missing(what)))
    }
}

/// Reads the one thing that was asked for.
fn single<T: Told>(reply: &str, labels: &[&str], what: &str, read: &dyn Fn(&str) -> Option<T>) -> Answer<T> {
    let by_label = || all(labelled(reply, labels), what, read);
    all(marked(reply), what, read).or_else(by_label).unwrap_or_else(|| alone(reply, what, read))
}

fn all<T: Told>(said: Vec<&str>, what: &str, read: &dyn Fn(&str) -> Option<T>) -> Option<Answer<T>> {
    unanimous(said.into_iter().map(|said| (said.trim().to_owned(), read(said))), what)
}

/// Returns what stands in double brackets.
fn marked(reply: &str) -> Vec<&str> {
    let parts = reply.split("[[").skip(1);
    let inner = parts.filter_map(|part| part.split_once("]]")).map(|(inner, _)| inner.trim());
    inner.filter(|inner| inner.len() <= 40 && !inner.contains(['[', ']'])).collect()
}

/// Returns what stands behind a label, to the end of its line.
fn labelled<'a>(reply: &'a str, labels: &[&str]) -> Vec<&'a str> {
    let labels: Vec<String> = labels.iter().map(|label| words::plain(label)).collect();
    let mut found = Vec::new();
    for line in reply.lines().filter(|line| line.len() <= LONGEST_LINE) {
        for separator in SEPARATORS {
            for (at, _) in line.match_indices(separator) {
                let before = &line[..at];
                // A quoted label is a key of an object, which would have been read had it been whole.
                if before.trim_end().ends_with(['"', '\'', '“', '”']) {
                    continue;
                }
                let before = words::plain(before);
                if labels.iter().any(|label| ends_with_word(&before, label)) {
                    found.push(&line[at + separator.len()..]);
                }
            }
        }
    }
    found
}

/// Whether text ends with a label that is no part of a longer word. Chinese has no spaces between words.
fn ends_with_word(text: &str, label: &str) -> bool {
    let before = text.strip_suffix(label).map(|before| before.chars().next_back());
    before.is_some_and(|last| !label.is_ascii() || last.is_none_or(|last| !last.is_alphanumeric()))
}

/// Reads a reply that is the answer and nothing else, or whose last line is.
fn alone<T>(reply: &str, what: &str, read: &dyn Fn(&str) -> Option<T>) -> Answer<T> {
    let last = reply.trim_end().lines().next_back().unwrap_or_default();
    read(reply).or_else(|| read(last)).ok_or_else(|| Unclear::Missing(what.to_owned()))
}
