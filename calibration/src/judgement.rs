//! One judgement: a line of the plain log, and the words its cells may use.
//!
//! This module fixes the vocabulary of the log and nothing else: it reads no file and knows no other
//! tool's format. Readers produce [`Judgement`]s, [`crate::log::Log`] collects them.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Whether a judge let an item pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The item passes.
    Accept,
    /// The item does not pass.
    Reject,
}

/// Which of two candidates is better. `A` and `B` name the candidates, never the place they were shown in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Choice {
    /// Candidate A.
    A,
    /// Candidate B.
    B,
    /// Neither is better.
    Tie,
}

/// The place a judge chose, before it is translated to a candidate by the order shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ChosenPosition {
    /// The candidate shown first.
    First,
    /// The candidate shown second.
    Second,
    /// Neither.
    Tie,
}

/// The order in which two candidates were shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Candidate A first.
    Ab,
    /// Candidate B first.
    Ba,
}

/// What kind of answer a judge gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OutcomeKind {
    /// A number on a scale.
    Score,
    /// Accept or reject.
    Verdict,
    /// A, B or a tie.
    Choice,
    /// One of several named categories.
    Category,
}

impl OutcomeKind {
    /// Returns the name of the log's column that holds this kind of outcome.
    #[must_use]
    pub const fn column(self) -> &'static str {
        match self {
            Self::Score => "score",
            Self::Verdict => "verdict",
            Self::Choice => "choice",
            Self::Category => "category",
        }
    }
}

/// Returns `text` trimmed, in lower case, with `_`, `-` and blanks folded to one blank.
///
/// A mark at either end is part of the word: `-1` is not `1`.
fn folded(text: &str) -> String {
    let text = text.trim();
    if text.starts_with(['-', '_']) || text.ends_with(['-', '_']) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    for word in text.split(|c: char| c.is_whitespace() || c == '_' || c == '-') {
        if word.is_empty() {
            continue;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.extend(word.chars().flat_map(char::to_lowercase));
    }
    out
}

impl Verdict {
    /// Returns the verdict that a word names, or `None` for a word that names neither.
    ///
    /// Knows accept/reject, pass/fail, correct/incorrect, yes/no, true/false, good/bad, right/wrong, approved/denied,
    /// valid/invalid, ok, 1/0 and the usual Chinese words. Case, blanks, `_` and `-` do not matter.
    #[must_use]
    #[inline]
    pub fn parse(word: &str) -> Option<Self> {
        // The common spellings first: this runs once a row.
        match word {
            "accept" | "1" | "true" | "pass" => return Some(Self::Accept),
            "reject" | "0" | "false" | "fail" => return Some(Self::Reject),
            _ => {}
        }
        Some(match folded(word).as_str() {
            "accept" | "accepted" | "pass" | "passed" | "passes" | "correct" | "c" | "yes" | "y" | "true" | "t"
            | "good" | "right" | "approve" | "approved" | "valid" | "ok" | "okay" | "success" | "1" | "1.0"
            | "compliant" | "allow" | "allowed" | "通过" | "接受" | "合格" | "正确" | "是" | "对" => {
                Self::Accept
            }
            "reject" | "rejected" | "fail" | "failed" | "fails" | "incorrect" | "i" | "no" | "n" | "false" | "f"
            | "bad" | "wrong" | "deny" | "denied" | "invalid" | "not ok" | "failure" | "0" | "0.0" | "noncompliant"
            | "non compliant" | "block" | "blocked" | "不通过" | "未通过" | "没通过" | "没有通过" | "不对"
            | "不正确" | "拒绝" | "不合格" | "错误" | "否" | "错" => Self::Reject,
            _ => return None,
        })
    }
}

impl Choice {
    /// Returns the candidate that a word names, or `None` for a word that names none.
    ///
    /// Knows a/b/tie, `A>B`, `B>A`, `A=B`, `[[A]]`, candidate/response/output/model a or 1, and the usual words for a tie.
    #[must_use]
    #[inline]
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "a" | "A" => return Some(Self::A),
            "b" | "B" => return Some(Self::B),
            "tie" => return Some(Self::Tie),
            _ => {}
        }
        let compact: String = word.chars().filter(|c| !c.is_whitespace()).collect::<String>().to_lowercase();
        match compact.as_str() {
            "a>b" | "a>>b" | "[[a]]" | "[a]" | "[[a>b]]" | "[[a>>b]]" | "(a)" => return Some(Self::A),
            "b>a" | "b>>a" | "[[b]]" | "[b]" | "[[b>a]]" | "[[b>>a]]" | "(b)" | "a<b" | "a<<b" => return Some(Self::B),
            "a=b" | "[[a=b]]" | "[[c]]" | "a==b" => return Some(Self::Tie),
            _ => {}
        }
        Some(match folded(word).as_str() {
            "a" | "candidate a" | "response a" | "output a" | "answer a" | "model a" | "assistant a" | "output (a)"
            | "output 1" | "model 1" | "response 1" | "answer 1" | "assistant 1" | "candidate 1" => Self::A,
            "b" | "candidate b" | "response b" | "output b" | "answer b" | "model b" | "assistant b" | "output (b)"
            | "output 2" | "model 2" | "response 2" | "answer 2" | "assistant 2" | "candidate 2" => Self::B,
            "tie" | "t" | "draw" | "equal" | "same" | "both" | "neither" | "c" | "tie (both bad)" | "both bad"
            | "平局" | "平手" | "相同" => Self::Tie,
            _ => return None,
        })
    }

    /// Returns the candidate named by a position, given the order shown.
    #[must_use]
    pub const fn at(position: ChosenPosition, order: Order) -> Self {
        match (position, order) {
            (ChosenPosition::Tie, _) => Self::Tie,
            (ChosenPosition::First, Order::Ab) | (ChosenPosition::Second, Order::Ba) => Self::A,
            (ChosenPosition::Second, Order::Ab) | (ChosenPosition::First, Order::Ba) => Self::B,
        }
    }
}

impl ChosenPosition {
    /// Returns the position that a word names (`first`, `1`, `a` shown first, …), or `None`.
    #[must_use]
    #[inline]
    pub fn parse(word: &str) -> Option<Self> {
        Some(match folded(word).as_str() {
            "first" | "1" | "1st" | "left" | "第一" => Self::First,
            "second" | "2" | "2nd" | "right" | "第二" => Self::Second,
            _ => match Choice::parse(word)? {
                Choice::A => Self::First,
                Choice::B => Self::Second,
                Choice::Tie => Self::Tie,
            },
        })
    }
}

impl Order {
    /// Returns the order that a word names (`ab`, `ba`, `original`, `swapped`, `1`, `2`), or `None`.
    #[must_use]
    #[inline]
    pub fn parse(word: &str) -> Option<Self> {
        Some(match folded(word).as_str() {
            "ab" | "a b" | "a,b" | "original" | "1" | "first" | "forward" | "unswapped" | "false" | "order1" => {
                Self::Ab
            }
            "ba" | "b a" | "b,a" | "swapped" | "swap" | "2" | "second" | "reverse" | "reversed" | "true" | "order2" => {
                Self::Ba
            }
            _ => return None,
        })
    }
}

/// A mark of style of the text judged, or of both candidates: how many headings, lists, words of praise.
#[derive(Clone, Debug, PartialEq)]
pub struct StyleMark<'a> {
    /// What is counted: the column's name without `style_` and without `_a` or `_b`.
    pub name: Cow<'a, str>,
    /// Of candidate A, or of the only text. A finite number.
    pub a: Option<f64>,
    /// Of candidate B.
    pub b: Option<f64>,
}

impl StyleMark<'_> {
    /// Returns the columns in which the plain log holds it, with their numbers.
    pub fn columns(&self) -> impl Iterator<Item = (String, f64)> + '_ {
        let of_a = if self.b.is_some() { "_a" } else { "" };
        let sides = [(self.a, of_a), (self.b, "_b")].into_iter();
        sides.filter_map(|(value, side)| Some((format!("{STYLE_PREFIX}{}{side}", self.name), value?)))
    }
}

/// Marks of style among the fields of a judgement.
mod marks {
    use std::borrow::Cow;
    use std::fmt;

    use serde::de::{Deserializer, Error, MapAccess, Visitor};
    use serde::ser::Serializer;

    use super::{STYLE_PREFIX, StyleMark};

    pub(super) fn serialize<S: Serializer>(marks: &[StyleMark<'_>], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(marks.iter().flat_map(StyleMark::columns))
    }

    pub(super) fn deserialize<'de, 'a, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<StyleMark<'a>>, D::Error> {
        deserializer.deserialize_map(Marks)
    }

    struct Marks;

    impl<'de> Visitor<'de> for Marks {
        type Value = Vec<StyleMark<'static>>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("marks of style, each under style_NAME")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut marks: Vec<StyleMark<'static>> = Vec::new();
            while let Some(key) = map.next_key::<String>()? {
                let Some(name) = key.strip_prefix(STYLE_PREFIX) else {
                    return Err(A::Error::custom(format_args!("unknown field `{key}`")));
                };
                let value: Option<f64> = map.next_value()?;
                let (name, is_b) = match name.strip_suffix("_b") {
                    Some(name) => (name, true),
                    None => (name.strip_suffix("_a").unwrap_or(name), false),
                };
                let place = marks.iter().position(|mark| mark.name == name).unwrap_or_else(|| {
                    marks.push(StyleMark { name: Cow::Owned(name.to_owned()), a: None, b: None });
                    marks.len() - 1
                });
                if is_b { marks[place].b = value } else { marks[place].a = value }
            }
            Ok(marks)
        }
    }
}

/// What the name of a column of style begins with.
pub const STYLE_PREFIX: &str = "style_";

/// One judgement: a line of the plain log.
///
/// Exactly one of `score`, `verdict`, `choice` and `category` is the outcome. A judgement with none of them is
/// **unparsed**: it is kept with its `raw` text and counted, and never becomes a verdict. A row with a `rater` is a
/// person's rating of the item; it serves as truth where no `label` is given and is never counted as the judge's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("patternProperties" = {"^style_": {"type": ["number", "null"]}}, "additionalProperties" = false))]
pub struct Judgement<'a> {
    /// What was judged. Judgements of one item are one cluster in every interval.
    pub item: Cow<'a, str>,
    /// Who judged. Where absent, the file's stem.
    #[serde(default, skip_serializing_if = "str_is_empty")]
    pub judge: Cow<'a, str>,
    /// The outcome as a number on a scale. Never NaN or infinite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// The outcome as accept or reject.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// The outcome as the candidate preferred (not the place it was shown in).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<Choice>,
    /// The outcome as a named category.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<Cow<'a, str>>,
    /// Which repetition of the same question, counted from 0 or from 1. Where absent, the order of lines numbers the repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<u32>,
    /// The order in which two candidates were shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<Order>,
    /// The place, counted from 1, at which this item stood among the parts shown together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<u32>,
    /// The named condition: anchors, temperature, prompt variant, model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arm: Option<Cow<'a, str>>,
    /// How many anchors (worked examples with their answers) the prompt held; 0: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchors: Option<u32>,
    /// Which set of anchors: a name of its own, or `fixed` or `deployed` for the one set the judge will work with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor_set: Option<Cow<'a, str>>,
    /// The rubric criterion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dimension: Option<Cow<'a, str>>,
    /// What is true of the item: `1`/`0`, accept/reject, a/b/tie, a score or a category. Read in the outcome's terms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<LabelText<'a>>,
    /// The person who gave this rating, when it is a person's and not the judge's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rater: Option<Cow<'a, str>>,
    /// What errors may cluster in: the specification, the conversation, the source. The unit of every interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<Cow<'a, str>>,
    /// The judged text or a digest of it. Items with the same content are one cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Cow<'a, str>>,
    /// The judge's stated probability, 0..=1, that the item is good (or, for a choice or category, that this answer is right).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// Length of candidate A, or of the only text, in any one unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length_a: Option<f64>,
    /// Length of candidate B.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length_b: Option<f64>,
    /// Marks of style, each a column `style_NAME`, or `style_NAME_a` and `style_NAME_b`. What is called otherwise is no field at all, and
    /// refused.
    #[serde(flatten, with = "marks")]
    #[schemars(skip)]
    pub style: Vec<StyleMark<'a>>,
    /// The model that made the item, or candidate A.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator: Option<Cow<'a, str>>,
    /// The model that made candidate B.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator_b: Option<Cow<'a, str>>,
    /// How much the item counts where the judge will work, relative to the others: above 0, one an item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// Tokens sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_in: Option<u64>,
    /// Tokens received.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_out: Option<u64>,
    /// Price of this judgement, in any one currency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<f64>,
    /// Time the answer took, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<f64>,
    /// When it was asked, as RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Cow<'a, str>>,
    /// What the judge wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<Cow<'a, str>>,
    /// Why there is no answer, when the call failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Cow<'a, str>>,
}

impl Judgement<'_> {
    /// Returns whether no outcome could be read.
    #[must_use]
    pub const fn is_unparsed(&self) -> bool {
        self.score.is_none() && self.verdict.is_none() && self.choice.is_none() && self.category.is_none()
    }
}

#[expect(clippy::ptr_arg, reason = "serde hands the field itself")]
fn str_is_empty(text: &Cow<'_, str>) -> bool {
    text.is_empty()
}

/// A label as written. In JSON it may be a number, a truth value or a word; it is kept as the word that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelText<'a>(pub Cow<'a, str>);

impl<'a> From<&'a str> for LabelText<'a> {
    fn from(text: &'a str) -> Self {
        Self(Cow::Borrowed(text))
    }
}

impl From<String> for LabelText<'_> {
    fn from(text: String) -> Self {
        Self(Cow::Owned(text))
    }
}

/// How a label may stand in JSON.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum LabelForm {
    Truth(bool),
    Number(f64),
    Word(String),
}

impl<'de> Deserialize<'de> for LabelText<'_> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match LabelForm::deserialize(deserializer)? {
            LabelForm::Truth(truth) => Self::from(u8::from(truth).to_string()),
            LabelForm::Number(number) => Self::from(number.to_string()),
            LabelForm::Word(word) => Self::from(word),
        })
    }
}

impl Serialize for LabelText<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Only what reads back as the same text becomes a number: ids such as "007" stay words.
        if let Ok(number) = self.0.parse::<i64>()
            && number.to_string() == self.0
        {
            return serializer.serialize_i64(number);
        }
        match self.0.parse::<f64>() {
            Ok(number) if number.is_finite() && number.to_string() == self.0 => serializer.serialize_f64(number),
            _ => serializer.serialize_str(&self.0),
        }
    }
}

impl JsonSchema for LabelText<'_> {
    fn schema_name() -> Cow<'static, str> {
        "Label".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        LabelForm::json_schema(generator)
    }
}
