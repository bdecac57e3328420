//! The one-line form of a column mapping.
//!
//! ```text
//! map    = pair { "," pair }
//! pair   = key "=" value
//! value  = sum | list | table
//! sum    = atom { "+" atom }                several columns joined, or a list of columns
//! atom   = column | "column" | 'constant'
//! list   = "[" value { "," value } "]"
//! table  = "{" pair { "," pair } "}"        in it a bare word is a word, not a column
//! ```
//!
//! A column's name is written bare unless it contains one of `, = + [ ] { } ' "`; then it stands in double quotes.

use toml::{Table, Value};

/// Turns the text into the table that the TOML form would give.
pub(super) fn parse(text: &str) -> Result<Table, String> {
    let mut parser = Parser { text, at: 0 };
    let table = parser.pairs(Place::Map, None)?;
    Ok(table)
}

/// What a bare word means here, and what one in single quotes.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// A column; a constant.
    Map,
    /// A word; the same.
    Words,
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

const SPECIAL: [char; 9] = [',', '=', '+', '[', ']', '{', '}', '\'', '"'];

impl Parser<'_> {
    fn skip_blanks(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn peek(&mut self) -> Option<char> {
        self.skip_blanks();
        self.text[self.at..].chars().next()
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    fn wrong(&self, expected: &str) -> String {
        let rest: String = self.text[self.at..].chars().take(20).collect();
        if rest.trim().is_empty() {
            format!("the text ends where {expected} is expected")
        } else {
            format!("expected {expected} at `{rest}` (character {})", self.text[..self.at].chars().count() + 1)
        }
    }

    /// Reads `key = value` pairs up to `end`, or up to the end of the text.
    fn pairs(&mut self, place: Place, end: Option<char>) -> Result<Table, String> {
        let mut table = Table::new();
        loop {
            match (self.peek(), end) {
                (None, None) => return Ok(table),
                (Some(c), Some(end)) if c == end => {
                    self.at += end.len_utf8();
                    return Ok(table);
                }
                _ => {}
            }
            let key = self.word("a name")?.0;
            if !self.take('=') {
                return Err(self.wrong(&format!("`=` after `{key}`")));
            }
            let value = self.value(place, &key)?;
            if table.insert(key.clone(), value).is_some() {
                return Err(format!("`{key}` is given twice"));
            }
            if !self.take(',') && self.peek() != end {
                return Err(self.wrong("`,`"));
            }
        }
    }

    fn value(&mut self, place: Place, key: &str) -> Result<Value, String> {
        if self.take('{') {
            // In the table about a label file, `item` joins columns; in all others both sides are plain words.
            let place = if key == "labels" { Place::Map } else { Place::Words };
            return Ok(Value::Table(self.pairs(place, Some('}'))?));
        }
        if self.take('[') {
            let mut values = Vec::new();
            while !self.take(']') {
                values.push(self.value(place, key)?);
                if !self.take(',') && self.peek() != Some(']') {
                    return Err(self.wrong("`,` or `]`"));
                }
            }
            return Ok(Value::Array(values));
        }
        let mut values = vec![self.atom(place, key)?];
        while self.take('+') {
            values.push(self.atom(place, key)?);
        }
        Ok(if values.len() == 1 { values.swap_remove(0) } else { Value::Array(values) })
    }

    fn atom(&mut self, place: Place, key: &str) -> Result<Value, String> {
        let (word, quote) = self.word(&format!("a value for `{key}`"))?;
        // Names of judges and kinds of outcome are words wherever they stand.
        let is_word = place == Place::Words || ["people", "outcome", "empty", "file"].contains(&key);
        Ok(if quote == Some('\'') && !is_word {
            Value::Table(Table::from_iter([("value".to_owned(), Value::String(word))]))
        } else {
            Value::String(word)
        })
    }

    /// Reads a bare or quoted word and returns it with its quote.
    fn word(&mut self, expected: &str) -> Result<(String, Option<char>), String> {
        if let Some(quote @ ('\'' | '"')) = self.peek() {
            self.at += 1;
            let Some(end) = self.text[self.at..].find(quote) else {
                return Err(format!("a {quote} is opened and never closed"));
            };
            let word = self.text[self.at..self.at + end].to_owned();
            self.at += end + 1;
            return Ok((word, Some(quote)));
        }
        self.skip_blanks();
        let rest = &self.text[self.at..];
        let end = rest.find(SPECIAL).unwrap_or(rest.len());
        let word = rest[..end].trim();
        if word.is_empty() {
            return Err(self.wrong(expected));
        }
        self.at += end;
        Ok((word.to_owned(), None))
    }
}

#[cfg(test)]
mod tests {
    use super::super::columns::ColumnMap;

    fn check(text: &str, toml: &str) {
        let from_text: ColumnMap = text.parse().expect("text is a map");
        let from_toml: ColumnMap = toml::from_str(toml).expect("TOML is a map");
        assert_eq!(from_text, from_toml, "{text}");
    }

    fn check_error(text: &str, part: &str) {
        let error = text.parse::<ColumnMap>().expect_err("is refused").to_string();
        assert!(error.contains(part), "{error}");
    }

    #[test]
    fn line_and_toml_say_the_same() {
        check(
            "item=row+response_index, repeats=s1..s3, label=gold, arm='t0.7'",
            "item = ['row', 'response_index']\nrepeats = ['s1', 's2', 's3']\nlabel = 'gold'\narm = {value = 't0.7'}",
        );
        check(
            "item=id, judges=[gpt4, \"a, b\"], outcome=verdict, values={1_ok=accept, 'A>B'=reject}",
            "item = 'id'\njudges = ['gpt4', 'a, b']\noutcome = 'verdict'\n[values]\n1_ok = 'accept'\n'A>B' = 'reject'",
        );
        check(
            "item=q, labels={file=t.csv, item=a+b, label=truth}, where={run=[x, y], k=1}, people=human",
            "item = 'q'\npeople = ['human']\n[labels]\nfile = 't.csv'\nitem = ['a', 'b']\nlabel = 'truth'\n[where]\nrun = ['x', 'y']\nk = 1",
        );
        check("", "");
    }

    #[test]
    fn mistakes_are_named() {
        check_error("itm=a", "did you mean `item`?");
        check_error("item=a, item=b", "`item` is given twice");
        check_error("item", "`=` after `item`");
        check_error("item=", "a value for `item`");
        check_error("item='a", "never closed");
        check_error("repeats=s8..s1", "not a range");
        check_error("score=a, repeats=[b, c]", "both say where the outcome is");
        check_error("judges=[a], repeats=[b, c]", "cannot be combined");
        check_error("first=a", "go together");
        check_error("score='7'", "one column");
        check_error("outcome=grade", "is not one of score, verdict");
        check_error("labels={file=x}", "lacks `item`");
        check_error("item=a b=c", "`,`");
    }
}
