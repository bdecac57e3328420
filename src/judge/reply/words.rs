//! Words that stand for an answer, in English and Chinese: numbers, verdicts, choices.
//!
//! Matching is exact once the trimmings are gone. Part of a sentence is never taken for an answer: "not acceptable" holds
//! "acceptable".

use assize_calibration::judgement::{ChosenPosition, Verdict};

use super::Scale;

/// Returns text in the form in which words are compared: half-width, lower case, without the marks around it.
pub(super) fn plain(text: &str) -> String {
    let narrow = text.chars().map(|c| match c {
        '！'..='～' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        '\u{3000}' => ' ',
        other => other,
    });
    let lower: String = narrow.flat_map(char::to_lowercase).collect();
    let trimmings = |c: char| c.is_whitespace() || "*_`\"'“”‘’()[]{}<>.。:,;!#".contains(c);
    let words: Vec<&str> = lower.trim_matches(trimmings).split_whitespace().collect();
    words.join(" ")
}

/// Returns the score that the text states on this scale, if it states one and nothing else.
pub(super) fn score(text: &str, scale: Scale) -> Option<f64> {
    let text = plain(text);
    let text = ["points", "point", "stars", "star", "分"]
        .iter()
        .fold(text.as_str(), |text, unit| text.strip_suffix(unit).map_or(text, str::trim_end));
    if let Some(share) = text.strip_suffix('%') {
        let share = number(share)?;
        // What a per cent is of a scale from 1 to 5 nobody can say.
        return match (scale.low, scale.high) {
            (0.0, 1.0) => scale.holds(share / 100.0),
            (0.0, 100.0) => scale.holds(share),
            _ => None,
        };
    }
    let parts = text.split_once('/').or_else(|| text.split_once(" out of ")).or_else(|| text.split_once(" of "));
    match parts {
        Some((score, most)) => {
            let most = number(most)?;
            (most.total_cmp(&scale.high).is_eq()).then(|| number(score))?.and_then(|score| scale.holds(score))
        }
        None => scale.holds(number(text)?),
    }
}

const ENGLISH: [&str; 11] = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
const CHINESE: [&str; 11] = ["零", "一", "二", "三", "四", "五", "六", "七", "八", "九", "十"];

/// Returns a number written in digits or as a word up to ten.
fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    if let Some(word) =
        ENGLISH.iter().position(|word| *word == text).or_else(|| CHINESE.iter().position(|word| *word == text))
    {
        return Some(word as f64);
    }
    if text == "两" {
        return Some(2.0);
    }
    // A comma before one or two digits is that of a decimal; 1,000 is no score that one could be sure of.
    let decimal = text.split_once(',').filter(|(_, part)| (1..=2).contains(&part.len()));
    let text = decimal.map_or_else(|| text.to_owned(), |(whole, part)| format!("{whole}.{part}"));
    // Words that Rust reads as numbers (`inf`, `nan`) and exponents are no scores.
    let is_digits = text.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '-' | '+'));
    text.parse::<f64>().ok().filter(|_| is_digits)
}

/// Returns the verdict, if the text is one and nothing else.
pub(super) fn verdict(text: &str) -> Option<Verdict> {
    let text = plain(text);
    match text.as_str() {
        "acceptable" | "approves" | "可接受" | "可以接受" | "批准" => Some(Verdict::Accept),
        "not acceptable" | "unacceptable" | "not correct" | "disapproved" | "不接受" | "不可接受" => {
            Some(Verdict::Reject)
        }
        // A letter alone is as likely the name of an option as short for "correct".
        letter if letter.len() == 1 && letter.chars().all(char::is_alphabetic) && letter != "y" && letter != "n" => {
            None
        }
        text => Verdict::parse(text),
    }
}

/// Returns which of the two shown the text chooses, if it is a choice and nothing else.
pub(super) fn choice(text: &str) -> Option<ChosenPosition> {
    let text = plain(text);
    const TIES: [&str; 18] = [
        "tie",
        "tied",
        "draw",
        "equal",
        "equally good",
        "same",
        "both",
        "neither",
        "no preference",
        "a=b",
        "a = b",
        "a tie",
        "平局",
        "相同",
        "一样",
        "平手",
        "一样好",
        "不分上下",
    ];
    if TIES.contains(&text.as_str()) {
        return Some(ChosenPosition::Tie);
    }
    let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    match compact.as_str() {
        "a>b" | "a>>b" | "a≻b" | "b<a" | "b<<a" => return Some(ChosenPosition::First),
        "b>a" | "b>>a" | "b≻a" | "a<b" | "a<<b" => return Some(ChosenPosition::Second),
        _ => {}
    }
    let text = text.strip_prefix("the ").unwrap_or(&text);
    let text = ["is better", "wins", "更好", "较好", "胜出"]
        .iter()
        .fold(text, |text, end| text.strip_suffix(end).map_or(text, str::trim_end));
    const NOUNS: [&str; 12] = [
        "answer",
        "response",
        "assistant",
        "output",
        "candidate",
        "option",
        "model",
        "text",
        "choice",
        "答案",
        "回答",
        "选项",
    ];
    let noun = NOUNS.iter().find_map(|noun| text.strip_prefix(noun));
    let name = noun.unwrap_or(text).trim_matches(|c: char| c.is_whitespace() || "()[]\"'`*:：".contains(c));
    let is_ordinal = |ordinal: &str| name == ordinal || NOUNS.iter().any(|noun| name == format!("{ordinal} {noun}"));
    match name {
        "a" => Some(ChosenPosition::First),
        "b" => Some(ChosenPosition::Second),
        // 1 may be the second of 0 and 1, so that digits choose nothing.
        _ if is_ordinal("first") => Some(ChosenPosition::First),
        _ if is_ordinal("second") => Some(ChosenPosition::Second),
        _ => None,
    }
}

/// Returns a confidence between 0 and 1: a share, or per cent.
pub(super) fn confidence(text: &str) -> Option<f64> {
    let text = plain(text);
    let confidence = match text.strip_suffix('%') {
        Some(share) => number(share)? / 100.0,
        None => number(&text)?,
    };
    Some(confidence).filter(|confidence| (0.0..=1.0).contains(confidence))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIVE: Scale = Scale { low: 1.0, high: 5.0, whole: true };

    #[test]
    fn scores_are_read_in_all_their_forms() {
        for text in [
            "4",
            " **4** ",
            "4/5",
            "4 / 5",
            "4 out of 5",
            "four",
            "Four.",
            "４",
            "４／５",
            "4分",
            "四",
            "四分",
            "4.0",
            "[[4]]",
            "4 stars",
        ] {
            assert_eq!(score(text, FIVE), Some(4.0), "{text}");
        }
        let halves = Scale { whole: false, ..FIVE };
        assert_eq!(score("4,5", halves), Some(4.5));
        assert_eq!(score("80%", Scale { low: 0.0, high: 1.0, whole: false }), Some(0.8));
        assert_eq!(score("80%", Scale { low: 0.0, high: 100.0, whole: true }), Some(80.0));
    }

    #[test]
    fn what_is_no_score_of_this_scale_is_none() {
        for text in [
            "", "0", "6", "4.5", "4/10", "8/10", "4-5", "4 or 5", "80%", "about 4", "-4", "inf", "nan", "1e0", "1,000",
            "high",
        ] {
            assert_eq!(score(text, FIVE), None, "{text}");
        }
    }

    #[test]
    fn verdicts_are_whole_words() {
        for text in ["accept", "ACCEPT", "Pass.", "[[Yes]]", "通过", "**accept**"] {
            assert_eq!(verdict(text), Some(Verdict::Accept), "{text}");
        }
        for text in ["reject", "not acceptable", "不通过", "No", "incorrect"] {
            assert_eq!(verdict(text), Some(Verdict::Reject), "{text}");
        }
        for text in ["", "not bad", "accept or reject", "accept with changes", "maybe", "unclear"] {
            assert_eq!(verdict(text), None, "{text}");
        }
    }

    #[test]
    fn choices_are_names_of_one_of_two() {
        for text in [
            "A",
            "[[A]]",
            "(a)",
            "Answer A",
            "Response A is better",
            "A > B",
            "B<A",
            "the first answer",
            "first",
            "答案A",
            "A更好",
            "Ａ",
            "output (a)",
        ] {
            assert_eq!(choice(text), Some(ChosenPosition::First), "{text}");
        }
        for text in ["B", "assistant B wins", "second", "Second response", "B>>A"] {
            assert_eq!(choice(text), Some(ChosenPosition::Second), "{text}");
        }
        for text in ["tie", "Equal", "平局", "A=B"] {
            assert_eq!(choice(text), Some(ChosenPosition::Tie), "{text}");
        }
        for text in ["", "1", "2", "C", "A or B", "A and B", "AB", "not A", "A?B"] {
            assert_eq!(choice(text), None, "{text}");
        }
    }
}
