//! Templates of prompts: `{name}` stands for a field, `{{` and `}}` for braces.

use std::collections::BTreeSet;

use crate::config::nearest;

/// A prompt with holes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Field(String),
}

/// Why a template cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TemplateError {
    /// A brace opens and does not close.
    #[error("line {line} of the template: a brace opens a field and does not close it; write {{{{ for a brace")]
    Open {
        /// The line, from 1.
        line: usize,
    },
    /// A brace closes what none opened.
    #[error("line {line} of the template: a brace closes nothing; write }}}} for a brace")]
    Close {
        /// The line, from 1.
        line: usize,
    },
    /// The items have no such field.
    #[error("the template has a field {{{field}}}, and the items have none; {advice}")]
    Unknown {
        /// The field.
        field: String,
        /// What may have been meant, or which fields there are.
        advice: String,
    },
}

impl Template {
    /// Reads a template.
    ///
    /// A name is made of letters, digits, blanks, `_`, `-` and `.`, so that JSON in a prompt need not be escaped: `{"a": 1}` is text.
    ///
    /// # Errors
    /// When a brace opens a field and does not close it, or closes none.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        // Braces of text that is no field, such as JSON, close without having to be doubled.
        let mut n_open = 0_usize;
        let line = |rest: &str| text[..text.len() - rest.len()].matches('\n').count() + 1;
        while let Some(at) = rest.find(['{', '}']) {
            plain.push_str(&rest[..at]);
            rest = &rest[at..];
            if let Some(after) = rest.strip_prefix("{{") {
                plain.push('{');
                rest = after;
            } else if n_open == 0 && rest.starts_with("}}") {
                plain.push('}');
                rest = &rest[2..];
            } else if let Some(after) = rest.strip_prefix('{') {
                let end = after.find(|c: char| !is_of_name(c)).unwrap_or(after.len());
                let name = after[..end].trim();
                match after[end..].chars().next() {
                    Some('}') if !name.is_empty() => {
                        parts.extend((!plain.is_empty()).then(|| Part::Text(std::mem::take(&mut plain))));
                        parts.push(Part::Field(name.to_owned()));
                        rest = &after[end + 1..];
                    }
                    None => return Err(TemplateError::Open { line: line(rest) }),
                    Some(_) => {
                        n_open += 1;
                        plain.push('{');
                        rest = after;
                    }
                }
            } else if n_open > 0 {
                n_open -= 1;
                plain.push('}');
                rest = &rest[1..];
            } else {
                return Err(TemplateError::Close { line: line(rest) });
            }
        }
        plain.push_str(rest);
        parts.extend((!plain.is_empty()).then_some(Part::Text(plain)));
        Ok(Self { parts })
    }

    /// Returns the names of the fields.
    pub fn fields(&self) -> BTreeSet<&str> {
        let names = self.parts.iter().filter_map(|part| match part {
            Part::Field(name) => Some(name.as_str()),
            Part::Text(_) => None,
        });
        names.collect()
    }

    /// Checks that each field is one of these.
    ///
    /// # Errors
    /// When one is not, with the one that may have been meant.
    pub fn check(&self, known: &[&str]) -> Result<(), TemplateError> {
        let unknown = self.fields().into_iter().find(|field| !known.contains(field));
        unknown.map_or(Ok(()), |field| {
            let advice = match nearest(field, known.iter().copied()) {
                Some(meant) => format!("did you mean {{{meant}}}?"),
                None => format!("there are {{{}}}", known.join("}, {")),
            };
            Err(TemplateError::Unknown { field: field.to_owned(), advice })
        })
    }

    /// Fills the fields. What is filled in is never read as a template again, nor changed. A field that is empty takes the empty lines
    /// after it along.
    ///
    /// # Errors
    /// When a field has no value.
    pub fn fill<'v>(&self, value: impl Fn(&str) -> Option<std::borrow::Cow<'v, str>>) -> Result<String, TemplateError> {
        let mut filled = String::new();
        let mut is_gap = false;
        for part in &self.parts {
            match part {
                Part::Text(text) if is_gap && (filled.is_empty() || filled.ends_with('\n')) => {
                    filled.push_str(text.trim_start_matches('\n'));
                }
                Part::Text(text) => filled.push_str(text),
                Part::Field(name) => {
                    let Some(value) = value(name) else {
                        let advice = "give every item one, if only an empty text".to_owned();
                        return Err(TemplateError::Unknown { field: name.clone(), advice });
                    };
                    filled.push_str(&value);
                    is_gap = value.is_empty();
                    continue;
                }
            }
            is_gap = false;
        }
        Ok(filled)
    }
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(text: &str) -> Result<String, TemplateError> {
        Template::parse(text)?.fill(|name| (name == "text").then_some("{text}".into()))
    }

    #[test]
    fn fields_are_filled_once_and_braces_are_kept() {
        for (template, expected) in [
            ("judge {text}!", "judge {text}!"),
            ("{text}{ text }", "{text}{text}"),
            ("{{text}}", "{text}"),
            (r#"answer {"score": 1}"#, r#"answer {"score": 1}"#),
            (r#"{"a": {"b": {text}}}"#, r#"{"a": {"b": {text}}}"#),
            ("{}", "{}"),
            ("", ""),
            ("没有{text}。", "没有{text}。"),
        ] {
            assert_eq!(fill(template).as_deref(), Ok(expected), "{template}");
        }
    }

    #[test]
    fn slips_are_told_with_their_line() {
        assert_eq!(fill("a\n{text"), Err(TemplateError::Open { line: 2 }));
        assert_eq!(fill("a\n\ntext}"), Err(TemplateError::Close { line: 3 }));
        let template = Template::parse("{anser}").unwrap();
        let advice = "did you mean {answer}?".to_owned();
        assert_eq!(
            template.check(&["answer", "question"]),
            Err(TemplateError::Unknown { field: "anser".to_owned(), advice })
        );
        let unlike = Template::parse("{xyz}").unwrap().check(&["answer", "question"]).unwrap_err();
        assert!(unlike.to_string().ends_with("there are {answer}, {question}"), "{unlike}");
    }
}
