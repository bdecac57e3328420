//! Finding the JSON object in what a model wrote: between prose, in a fence, after thoughts, nearly JSON.

use serde_json::{Map, Value};

/// How many opening braces are tried, from the end. A reply with more of them is no judgement.
const MAX_TRIES: usize = 200;

/// Returns the last object in `text` that has one of `keys`, or `None`.
///
/// The last one, because a model that quotes the requested form or thinks aloud does so before it answers.
/// Trailing commas, single quotes and Python's words are understood. Thoughts in `<think>` are left out.
pub(super) fn last_object(text: &str, keys: &[&str]) -> Option<Map<String, Value>> {
    let text = match text.rfind("</think>") {
        Some(start) => &text[start + "</think>".len()..],
        None => text,
    };
    let mut end = text.len();
    for _ in 0..MAX_TRIES {
        let start = text[..end].rfind('{')?;
        if let Some(object) = object_at(&text[start..])
            && keys.iter().any(|key| object.contains_key(*key))
        {
            return Some(object);
        }
        end = start;
    }
    None
}

/// Returns the object that `text` begins with.
fn object_at(text: &str) -> Option<Map<String, Value>> {
    let first = |text: &str| match serde_json::Deserializer::from_str(text).into_iter::<Value>().next() {
        Some(Ok(Value::Object(object))) => Some(object),
        _ => None,
    };
    first(text).or_else(|| first(&mended(text)))
}

/// Returns the object that `text` begins with, with double quotes, JSON's words and no trailing commas.
fn mended(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut depth, mut quote, mut escaped) = (0_u32, None, false);
    let mut rest = text.char_indices().peekable();
    while let Some((idx, c)) = rest.next() {
        if let Some(mark) = quote {
            match c {
                _ if escaped => {
                    escaped = false;
                    // JSON knows no \' .
                    if c == '\'' {
                        out.pop();
                    }
                    out.push(c);
                }
                '\\' => {
                    escaped = true;
                    out.push(c);
                }
                _ if c == mark && closes(text, idx + c.len_utf8()) => {
                    quote = None;
                    out.push('"');
                }
                '"' => out.push_str("\\\""),
                '\n' => out.push_str("\\n"),
                _ => out.push(c),
            }
            continue;
        }
        match c {
            '"' | '\'' => {
                quote = Some(c);
                out.push('"');
            }
            '{' | '[' => {
                depth += 1;
                out.push(c);
            }
            '}' | ']' => {
                out.truncate(out.trim_end().trim_end_matches(',').len());
                out.push(c);
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    break;
                }
            }
            _ if c.is_ascii_alphabetic() => {
                let mut end = idx + c.len_utf8();
                while let Some(&(next, letter)) = rest.peek()
                    && letter.is_ascii_alphanumeric()
                {
                    end = next + letter.len_utf8();
                    rest.next();
                }
                out.push_str(match &text[idx..end] {
                    "True" => "true",
                    "False" => "false",
                    "None" | "NaN" => "null",
                    word => word,
                });
            }
            _ => out.push(c),
        }
    }
    out
}

/// Returns whether a quotation mark that ends at `end` ends its string: what follows must be able to follow a string.
fn closes(text: &str, end: usize) -> bool {
    matches!(text[end..].trim_start().chars().next(), None | Some(',' | ':' | '}' | ']'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(text: &str) -> Option<f64> {
        last_object(text, &["score"])?.get("score")?.as_f64()
    }

    #[test]
    fn an_object_is_found_in_what_models_write() {
        assert_eq!(score(r#"{"score": 4}"#), Some(4.0));
        assert_eq!(score("Here it is:\n```json\n{\"score\": 4}\n```\nGood luck."), Some(4.0));
        assert_eq!(score(r#"You asked for {"score": 1}. My answer: {"score": 5, "why": "it's {clear}"}"#), Some(5.0));
        assert_eq!(score("<think>{\"score\": 1}</think>{\"score\": 2}"), Some(2.0));
        assert_eq!(score(r#"{"score": 3, "why": "ok",}"#), Some(3.0));
        assert_eq!(score("{'score': 3, 'why': 'it\\'s ok', 'sure': True}"), Some(3.0));
        assert_eq!(score("{'score': 3, 'why': 'it's ok'}"), Some(3.0));
        assert_eq!(score(r#"{"why": {"score_of": 1}, "score": 2}"#), Some(2.0));
        assert_eq!(score("score: 4"), None);
        assert_eq!(score(r#"{"grade": 4}"#), None);
        assert_eq!(score("{{{{"), None);
        assert_eq!(score("判断：{\"score\": 4}。"), Some(4.0));
    }
}
