//! Answers in prose: `[[A]]`, `Score: 4`, `**Verdict:** accept`, or the answer and nothing else.
//!
//! Marks weigh more than labels, since a prompt that asks for `[[…]]` gets labels in the reasoning before it. Of several answers marked
//! or labelled alike, all must be the same.

use super::{Answer, Answers, Asked, Choice, Reading, Scale, Unclear, cut, of_dimension, words};

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
        Asked::Verdict => {
            let word = |accepts: &bool| if *accepts { "accept" } else { "reject" }.to_owned();
            Answers::Verdict(single(reply, &VERDICT, "the verdict", &words::verdict, &word))
        }
        Asked::Choice { ties } => {
            let read = |text: &str| words::choice(text).filter(|choice| *ties || *choice != Choice::Tie);
            Answers::Choice(single(reply, &CHOICE, "the choice", &read, &|choice| format!("{choice:?}")))
        }
    };
    Reading { answers, confidence: None, reason: None, evidence: Vec::new() }
}

fn score(reply: &str, name: &str, scale: Scale, is_single: bool) -> Answer<f64> {
    let what = of_dimension(name);
    let read = |text: &str| words::score(text, scale);
    let word = |score: &f64| score.to_string();
    if is_single {
        let labels: Vec<&str> = SCORE.into_iter().chain((!name.is_empty()).then_some(name)).collect();
        single(reply, &labels, &what, &read, &word)
    } else {
        unanimous(&labelled(reply, &[name]), &what, &read, &word).unwrap_or(Err(Unclear::Missing(what)))
    }
}

/// Reads the one thing that was asked for.
fn single<T: PartialEq>(
    reply: &str,
    labels: &[&str],
    what: &str,
    read: &dyn Fn(&str) -> Option<T>,
    word: &dyn Fn(&T) -> String,
) -> Answer<T> {
    let by_label = || unanimous(&labelled(reply, labels), what, read, word);
    unanimous(&marked(reply), what, read, word).or_else(by_label).unwrap_or_else(|| alone(reply, what, read))
}

/// Returns what stands in double brackets.
fn marked(reply: &str) -> Vec<String> {
    let parts = reply.split("[[").skip(1);
    let inner = parts.filter_map(|part| part.split_once("]]")).map(|(inner, _)| inner.trim());
    inner.filter(|inner| inner.len() <= 40 && !inner.contains(['[', ']'])).map(str::to_owned).collect()
}

/// Returns what stands behind a label, to the end of its line.
fn labelled(reply: &str, labels: &[&str]) -> Vec<String> {
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
                    found.push(line[at + separator.len()..].to_owned());
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

/// Returns the answer that all of these are. Text that is no answer does not count beside one that is.
fn unanimous<T: PartialEq>(
    said: &[String],
    what: &str,
    read: &dyn Fn(&str) -> Option<T>,
    word: &dyn Fn(&T) -> String,
) -> Option<Answer<T>> {
    let first_said = said.first().cloned()?;
    let mut clear = said.iter().filter_map(|said| read(said));
    let Some(first) = clear.next() else {
        return Some(Err(Unclear::Other { what: what.to_owned(), said: cut(&first_said) }));
    };
    Some(match clear.find(|other| *other != first) {
        None => Ok(first),
        Some(other) => Err(Unclear::Several { what: what.to_owned(), one: word(&first), other: word(&other) }),
    })
}

/// Reads a reply that is the answer and nothing else, or whose last line is.
fn alone<T>(reply: &str, what: &str, read: &dyn Fn(&str) -> Option<T>) -> Answer<T> {
    let last = reply.trim_end().lines().next_back().unwrap_or_default();
    read(reply).or_else(|| read(last)).ok_or_else(|| Unclear::Missing(what.to_owned()))
}
