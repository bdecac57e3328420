//! The form of an answer: as a JSON Schema for servers that enforce one, and in words.
//!
//! Keys keep their order, since models write them in that order: a reason that comes before the answer can still change it.

use std::fmt::Write as _;

use assize_calibration::judgement::{ChosenPosition, Verdict};
use serde::ser::{Serialize, SerializeMap as _, Serializer};

use super::file::{JudgeFile, Kind, Language, Reason};
use super::reply::{Asked, Scale};

/// A JSON Schema, as far as answers need one.
#[derive(Clone, Debug, PartialEq)]
pub enum Schema {
    /// An object with all of these keys and no others.
    Object(Vec<(String, Self)>),
    /// Any text.
    Text,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A number between two others.
    Number(Scale),
}

impl Serialize for Schema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self {
            Self::Object(properties) => {
                map.serialize_entry("type", "object")?;
                map.serialize_entry("properties", &Ordered(properties))?;
                let required: Vec<&str> = properties.iter().map(|(name, _)| name.as_str()).collect();
                map.serialize_entry("required", &required)?;
                map.serialize_entry("additionalProperties", &false)?;
            }
            Self::Text => map.serialize_entry("type", "string")?,
            Self::Word(words) => {
                map.serialize_entry("type", "string")?;
                map.serialize_entry("enum", words)?;
            }
            // A few whole numbers are listed: servers that ignore bounds keep a list.
            Self::Number(scale) if scale.whole && scale.high - scale.low <= 20.0 => {
                map.serialize_entry("type", "integer")?;
                let levels: Vec<i64> = whole_levels(*scale).collect();
                map.serialize_entry("enum", &levels)?;
            }
            Self::Number(scale) => {
                map.serialize_entry("type", if scale.whole { "integer" } else { "number" })?;
                map.serialize_entry("minimum", &scale.low)?;
                map.serialize_entry("maximum", &scale.high)?;
            }
        }
        map.end()
    }
}

#[expect(clippy::cast_possible_truncation, reason = "scales with a list are short, and their ends whole numbers")]
fn whole_levels(scale: Scale) -> impl Iterator<Item = i64> {
    scale.low as i64..=scale.high as i64
}

struct Ordered<'a>(&'a [(String, Schema)]);

impl Serialize for Ordered<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, schema)| (name, schema)))
    }
}

/// Returns what a judge is asked for.
pub fn asked(file: &JudgeFile) -> Asked {
    let [low, high] = file.outcome.scale;
    let scale = Scale { low, high, whole: !file.outcome.fractions };
    match file.outcome.kind {
        Kind::Verdict => Asked::Verdict,
        Kind::Choice => Asked::Choice { ties: file.outcome.ties },
        Kind::Score if file.rubric.dimensions.is_empty() => Asked::Scores(vec![(String::new(), scale)]),
        Kind::Score => {
            Asked::Scores(file.rubric.dimensions.iter().map(|dimension| (dimension.name.clone(), scale)).collect())
        }
    }
}

/// Returns the schema of the answer.
pub fn schema(file: &JudgeFile) -> Schema {
    let mut keys = Vec::new();
    let mut key = |name: &str, schema: Schema| keys.push((name.to_owned(), schema));
    if file.outcome.reason == Reason::Before {
        key("reason", Schema::Text);
    }
    match asked(file) {
        Asked::Verdict => key("verdict", Schema::Word(&["accept", "reject"])),
        Asked::Choice { ties: true } => key("winner", Schema::Word(&["A", "B", "tie"])),
        Asked::Choice { ties: false } => key("winner", Schema::Word(&["A", "B"])),
        Asked::Scores(dimensions) if file.rubric.dimensions.is_empty() => {
            for (_, scale) in dimensions {
                key("score", Schema::Number(scale));
            }
        }
        Asked::Scores(dimensions) => {
            for ((name, scale), dimension) in dimensions.into_iter().zip(&file.rubric.dimensions) {
                let score = Schema::Number(scale);
                key(
                    &name,
                    match dimension.evidence_from {
                        Some(_) => {
                            Schema::Object(vec![("evidence".to_owned(), Schema::Text), ("score".to_owned(), score)])
                        }
                        None => score,
                    },
                );
            }
        }
    }
    if file.outcome.reason == Reason::After {
        key("reason", Schema::Text);
    }
    if file.outcome.confidence {
        key("confidence", Schema::Number(Scale { low: 0.0, high: 1.0, whole: false }));
    }
    Schema::Object(keys)
}

/// Returns the form of the answer in words, with an example of its keys.
pub fn in_words(schema: &Schema, language: Language) -> String {
    let mut text = match language {
        Language::English => "Answer with one JSON object and nothing else:\n".to_owned(),
        Language::Chinese => "只回答一个 JSON 对象，不要写别的：\n".to_owned(),
    };
    write_form(&mut text, schema, language);
    text
}

fn write_form(text: &mut String, schema: &Schema, language: Language) {
    match schema {
        Schema::Object(keys) => {
            text.push('{');
            for (n, (name, schema)) in keys.iter().enumerate() {
                if n > 0 {
                    text.push_str(", ");
                }
                text.push_str(&serde_json::Value::from(name.as_str()).to_string());
                text.push_str(": ");
                write_form(text, schema, language);
            }
            text.push('}');
        }
        Schema::Text => text.push_str("\"…\""),
        Schema::Word(words) => {
            let or = if language == Language::English { " or " } else { " 或 " };
            let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
            text.push_str(&words.join(or));
        }
        Schema::Number(Scale { low, high, whole }) => {
            let _infallible = match (language, whole) {
                (Language::English, true) => write!(text, "<a whole number from {low} to {high}>"),
                (Language::English, false) => write!(text, "<a number from {low} to {high}>"),
                (Language::Chinese, true) => write!(text, "<{low} 到 {high} 的整数>"),
                (Language::Chinese, false) => write!(text, "<{low} 到 {high} 的数>"),
            };
        }
    }
}

/// Returns the answer that deserves to be given, as an anchor shows it.
pub(super) fn example(answers: &[(&str, ExampleValue)]) -> String {
    let values = answers.iter().map(|(name, value)| {
        let value = match value {
            ExampleValue::Text(text) => serde_json::Value::from(text.as_str()).to_string(),
            ExampleValue::Number(number) => number.to_string(),
            ExampleValue::Verdict(Verdict::Accept) => "\"accept\"".to_owned(),
            ExampleValue::Verdict(Verdict::Reject) => "\"reject\"".to_owned(),
            ExampleValue::Choice(ChosenPosition::First) => "\"A\"".to_owned(),
            ExampleValue::Choice(ChosenPosition::Second) => "\"B\"".to_owned(),
            ExampleValue::Choice(ChosenPosition::Tie) => "\"tie\"".to_owned(),
        };
        format!("{}: {value}", serde_json::Value::from(*name))
    });
    format!("{{{}}}", values.collect::<Vec<_>>().join(", "))
}

/// A value in the example of an answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ExampleValue {
    Text(String),
    Number(f64),
    Verdict(Verdict),
    Choice(ChosenPosition),
}
