//! The judge file: who judges, by which rubric, what is judged, and how it is studied.
//!
//! A file has a table for each way of judging: `[llm]`, `[rules]`, `[command]`, `[recorded]`, `[panel]`. `[llm]` together with `[rules]`
//! is a hybrid, in which the rules cap or veto the model. These types say what may be written; [`JudgeFile::check`] says what must fit together.
//! Nothing here reads a file or asks a judge.

mod check;
mod model;
mod rubric;
mod rules;
mod study;

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use check::Mistake;
pub use model::{Form, Limits, Llm, Price, Provider};
pub use rubric::{Dimension, Rubric};
pub use rules::{Hybrid, Length, Rules};
pub use study::{Budget, Orders, Study, Vary};

/// A judge file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct JudgeFile {
    /// The judge's name in the log. Where absent, the file's stem.
    pub name: Option<String>,
    /// A model asked over a provider's interface.
    pub llm: Option<Llm>,
    /// Rules checked without a model.
    pub rules: Option<Rules>,
    /// How rules and the model go together, where both are there.
    pub hybrid: Option<Hybrid>,
    /// A program that is given each item.
    pub command: Option<Command>,
    /// Answers that were recorded.
    pub recorded: Option<Recorded>,
    /// Several judges that vote.
    pub panel: Option<Panel>,
    /// What the judge answers.
    pub outcome: Outcome,
    /// What is asked, and by which criteria.
    pub rubric: Rubric,
    /// The words of the question.
    pub prompt: Prompt,
    /// Examples with known answers, shown before the question.
    pub anchors: Vec<Anchor>,
    /// What is judged.
    pub items: Option<Items>,
    /// Which judgements to collect.
    pub study: Study,
    /// Limits the judge must keep, as a gate file has them, or the path of one.
    #[schemars(with = "Option<serde_json::Value>")]
    pub gate: Option<toml::Value>,
    /// What may be spent.
    pub budget: Budget,
}

/// What a judge answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A number on a scale, for each dimension of the rubric.
    #[default]
    Score,
    /// Accept or reject.
    Verdict,
    /// Which of two is better.
    Choice,
}

/// Where the reason stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Reason {
    /// Before the answer, so that the answer follows from it.
    #[default]
    Before,
    /// After the answer.
    After,
    /// None is asked for.
    None,
}

/// `[outcome]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Outcome {
    /// Scores, a verdict or a choice.
    pub kind: Kind,
    /// Lowest and highest score.
    pub scale: [f64; 2],
    /// Whether scores lie between the whole numbers, too.
    pub fractions: bool,
    /// Whether a choice may be a tie.
    pub ties: bool,
    /// Whether and where the judge gives its reason.
    pub reason: Reason,
    /// Whether the judge says how sure it is, from 0 to 1.
    pub confidence: bool,
}

impl Default for Outcome {
    fn default() -> Self {
        Self {
            kind: Kind::default(),
            scale: [1.0, 5.0],
            fractions: false,
            ties: true,
            reason: Reason::default(),
            confidence: false,
        }
    }
}

/// `[prompt]`: the words of the question. `{name}` stands for a field of the item; `{rubric}`, `{anchors}` and `{answer_format}` for
/// what the rest of the file says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Prompt {
    /// The instructions. Where absent, a built-in text in the language chosen.
    pub system: Option<String>,
    /// The question. Where absent, a built-in text.
    pub template: Option<String>,
    /// Language of the built-in texts.
    pub language: Language,
}

/// Language of built-in texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Language {
    /// English.
    #[default]
    #[serde(rename = "en")]
    English,
    /// Chinese.
    #[serde(rename = "zh")]
    Chinese,
}

/// `[[anchors]]`: an example with the answer it deserves.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Anchor {
    /// The item's fields, as the template names them; texts shown as A and B are `a` and `b`.
    pub fields: BTreeMap<String, String>,
    /// The right scores, by dimension.
    pub scores: BTreeMap<String, f64>,
    /// The right score, where the rubric has no dimensions.
    pub score: Option<f64>,
    /// The right verdict.
    pub verdict: Option<assize_calibration::judgement::Verdict>,
    /// The right choice.
    pub choice: Option<assize_calibration::judgement::Choice>,
    /// Why, as the judge should put it.
    pub reason: Option<String>,
    /// What it shares with items: an item of the same group is never judged beside this example.
    pub group: Option<String>,
}

/// `[items]`: the texts to judge, and which of their columns means what.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Items {
    /// A CSV, TSV, JSON or JSON Lines file; relative to the judge file.
    pub file: PathBuf,
    /// The column that names an item. Where absent, `id` or `item`, else the row's number.
    pub id: Option<String>,
    /// The column of the first of two texts to choose between.
    pub a: Option<String>,
    /// The column of the second.
    pub b: Option<String>,
    /// The column of what is true, in the outcome's terms.
    pub label: Option<String>,
    /// Columns of what is true of each dimension.
    pub labels: BTreeMap<String, String>,
    /// The column of what items have in common: errors may cluster in it.
    pub group: Option<String>,
    /// The column of the model that made the item, or the first text.
    pub generator: Option<String>,
    /// The column of the model that made the second.
    pub generator_b: Option<String>,
    /// The column with the text whose parts are shuffled. Where absent, the only field of the template.
    pub text: Option<String>,
}

/// `[command]`: a program that is given each item as JSON and answers in JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Command {
    /// The program and its arguments; no shell comes between.
    pub run: Vec<String>,
    /// Seconds after which it is killed.
    #[serde(default = "thirty")]
    pub timeout: f64,
    /// Variables of the environment that it is given besides `PATH` and `HOME`.
    #[serde(default)]
    pub env: Vec<String>,
}

fn thirty() -> f64 {
    30.0
}

/// `[recorded]`: answers of a log, served by item, order and repeat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Recorded {
    /// The log, relative to the judge file.
    pub log: PathBuf,
    /// The judge in it.
    pub judge: Option<String>,
    /// The arm in it.
    pub arm: Option<String>,
}

/// `[panel]`: several judges, each in a file of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Panel {
    /// Their judge files, relative to this one.
    pub members: Vec<PathBuf>,
    /// What each vote counts. Where absent, 1.
    #[serde(default)]
    pub weights: Vec<f64>,
    /// What becomes of equal votes.
    #[serde(default)]
    pub tie: TieRule,
    /// Least share of the weight that must have answered, or the panel has not.
    #[serde(default = "half")]
    pub quorum: f64,
}

fn half() -> f64 {
    0.5
}

/// What becomes of equal votes for accepting and rejecting. A tie between A and B is a tie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TieRule {
    /// Reject: accept only what a majority accepts.
    #[default]
    Reject,
    /// Accept.
    Accept,
    /// No answer.
    Abstain,
}
