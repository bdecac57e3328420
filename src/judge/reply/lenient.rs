//! JSON as models write it, read without guessing.
//!
//! Single and curly quotes, trailing commas, comments, bare keys, Python's `True` and `None`, full-width punctuation and line
//! breaks inside strings are read. What would have to be made up is not: a missing value, an object that is cut off, a key that
//! stands twice with two values. A reply cut off in `"score": 1` may have been about to say 10.

use serde_json::{Map, Number, Value};

/// Nesting beyond which text is refused instead of read by recursion.
const MOST_NESTED: usize = 64;

/// Reads one object or list that `text` begins with, and returns it with its length in bytes.
pub(super) fn value_at(text: &str) -> Option<(Value, usize)> {
    let mut reader = Reader { text, at: 0 };
    let value = reader.value(0)?;
    Some((value, reader.at))
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    /// Passes over the next character if it is one of these.
    fn take(&mut self, any_of: &[char]) -> bool {
        let found = self.peek().is_some_and(|next| any_of.contains(&next));
        if found {
            self.next();
        }
        found
    }

    /// Passes over white space and comments.
    fn space(&mut self) -> Option<()> {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
            self.at += rest.len() - trimmed.len();
            if trimmed.starts_with("//") || trimmed.starts_with('#') {
                self.at += trimmed.find('\n').unwrap_or(trimmed.len());
            } else if trimmed.starts_with("/*") {
                self.at += trimmed.find("*/")? + 2;
            } else {
                return Some(());
            }
        }
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        if depth > MOST_NESTED {
            return None;
        }
        self.space()?;
        match self.peek()? {
            '{' | '｛' => self.object(depth),
            '[' | '［' | '【' => self.list(depth),
            quote if closing(quote).is_some() => Some(Value::String(self.string()?)),
            _ => self.bare(),
        }
    }

    fn object(&mut self, depth: usize) -> Option<Value> {
        self.next();
        let mut object = Map::new();
        loop {
            self.space()?;
            if self.take(&['}', '｝']) {
                return Some(Value::Object(object));
            }
            let key = match self.peek()? {
                quote if closing(quote).is_some() => self.string()?,
                _ => self.word(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))?.to_owned(),
            };
            self.space()?;
            if !self.take(&[':', '：']) {
                return None;
            }
            let value = self.value(depth + 1)?;
            // Of two values of one key nobody can say which was meant.
            if object.get(&key).is_some_and(|earlier| *earlier != value) {
                return None;
            }
            object.insert(key, value);
            self.space()?;
            if !self.take(&[',', '，', '、']) && !matches!(self.peek()?, '}' | '｝') {
                return None;
            }
        }
    }

    fn list(&mut self, depth: usize) -> Option<Value> {
        self.next();
        let mut list = Vec::new();
        loop {
            self.space()?;
            if self.take(&[']', '］', '】']) {
                return Some(Value::Array(list));
            }
            list.push(self.value(depth + 1)?);
            self.space()?;
            if !self.take(&[',', '，', '、']) && !matches!(self.peek()?, ']' | '］' | '】') {
                return None;
            }
        }
    }

    fn string(&mut self) -> Option<String> {
        let opening = self.next()?;
        let closing = closing(opening)?;
        let mut string = String::new();
        loop {
            match self.next()? {
                '\\' => self.escape(&mut string)?,
                quote if closing.contains(&quote) => {
                    // A quotation mark that nothing of JSON follows is one within the text, as in "a "good" answer".
                    if self.ends_string() {
                        return Some(string);
                    }
                    string.push(quote);
                }
                other => string.push(other),
            }
        }
    }

    /// Whether what follows may follow the end of a string.
    fn ends_string(&self) -> bool {
        let rest = self.rest().trim_start();
        rest.is_empty()
            || rest.starts_with([',', '，', '、', ':', '：', '}', '｝', ']', '］', '】'])
            || rest.starts_with("//")
    }

    fn escape(&mut self, string: &mut String) -> Option<()> {
        match self.next()? {
            'n' => string.push('\n'),
            't' => string.push('\t'),
            'r' => string.push('\r'),
            'b' => string.push('\u{8}'),
            'f' => string.push('\u{c}'),
            'u' => {
                let unit = self.hex()?;
                if (0xd800..0xdc00).contains(&unit) && self.rest().starts_with("\\u") {
                    self.at += 2;
                    let pair = [unit, self.hex()?];
                    string
                        .extend(char::decode_utf16(pair).map(|decoded| decoded.unwrap_or(char::REPLACEMENT_CHARACTER)));
                } else {
                    string.push(char::from_u32(u32::from(unit)).unwrap_or(char::REPLACEMENT_CHARACTER));
                }
            }
            other => string.push(other),
        }
        Some(())
    }

    fn hex(&mut self) -> Option<u16> {
        let digits = self.rest().get(..4)?;
        let unit = u16::from_str_radix(digits, 16).ok()?;
        self.at += 4;
        Some(unit)
    }

    fn word(&mut self, belongs: impl Fn(char) -> bool) -> Option<&'a str> {
        let rest = self.rest();
        let end = rest.find(|c| !belongs(c)).unwrap_or(rest.len());
        self.at += end;
        (end > 0).then(|| &rest[..end])
    }

    /// A number, or a word that stands for a value. A fraction such as `4/5` and bare words stay text.
    fn bare(&mut self) -> Option<Value> {
        let ends =
            |c: char| matches!(c, ',' | '，' | '、' | '}' | '｝' | ']' | '］' | '】' | '\n' | '\r' | '{' | '[' | '"');
        let start = self.at;
        let word = self.word(|c| !ends(c))?;
        let comment = [word.find("//"), word.find("/*")].into_iter().flatten().min();
        self.at = start + comment.unwrap_or(word.len());
        let text = word[..self.at - start].trim();
        // A bare word at the end of the text may have been cut off.
        if self.rest().is_empty() {
            return None;
        }
        Some(match text {
            "" => return None,
            "true" | "True" | "TRUE" => Value::Bool(true),
            "false" | "False" | "FALSE" => Value::Bool(false),
            "null" | "None" | "undefined" | "NaN" | "nan" => Value::Null,
            text => match text.strip_prefix('+').unwrap_or(text).parse::<f64>().ok().and_then(Number::from_f64) {
                Some(number) => Value::Number(number),
                None => Value::String(text.to_owned()),
            },
        })
    }
}

/// Returns what may close a string that begins so.
fn closing(opening: char) -> Option<&'static [char]> {
    Some(match opening {
        '"' => &['"'],
        '\'' => &['\''],
        '`' => &['`'],
        '“' | '”' => &['”', '“', '"'],
        '‘' | '’' => &['’', '‘', '\''],
        '＂' => &['＂'],
        '「' => &['」'],
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(text: &str, expected: impl Into<Option<Value>>) {
        assert_eq!(value_at(text).map(|(value, _length)| value), expected.into(), "{text}");
    }

    #[test]
    fn what_models_write_is_read() {
        check(r#"{"a": 1, "b": [true, null]}"#, json!({"a": 1.0, "b": [true, null]}));
        check("{'a': 'it\\'s', b: 2,}", json!({"a": "it's", "b": 2.0}));
        check("{“a”：“好”，'b'：４}", json!({"a": "好", "b": "４"}));
        check("{\"a\": True, // why\n \"b\": None /* x */}", json!({"a": true, "b": null}));
        check("{\"a\": \"two\nlines\", score: 4/5}", json!({"a": "two\nlines", "score": "4/5"}));
        check(
            r#"{"reason": "a "good" answer", "score": 3}"#,
            Some(json!({"reason": "a \"good\" answer", "score": 3.0})),
        );
        check(r#"{"a": "\u00e9\ud83d\ude00"}"#, json!({"a": "é😀"}));
        check(r#"{"a": 1, "a": 1}"#, json!({"a": 1.0}));
    }

    #[test]
    fn what_would_have_to_be_made_up_is_not_read() {
        for text in [
            "",
            "{",
            r#"{"score": 1"#,
            r#"{"score": "#,
            r#"{"score": "4"#,
            r#"{"a": 1, "a": 2}"#,
            "{a}",
            r#"{"a" 1}"#,
            "[1",
        ] {
            check(text, None);
        }
        check(&"[".repeat(100_000), None);
        check(&"{a:".repeat(100_000), None);
    }

    #[test]
    fn the_length_is_that_of_the_object_alone() {
        let text = r#"{"a": 1} and so on"#;
        assert_eq!(value_at(text).unwrap().1, 8);
    }
}
