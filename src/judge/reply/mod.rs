//! What a judge's reply says: read tolerantly, judged strictly.
//!
//! Models wrap an answer in prose, fences, thinking and half-valid JSON; all of that is read. But an answer is only what is said once
//! and clearly: two different answers, a score off the scale, a reply that breaks off are *unclear*, which a log counts as unparsed.
//! Nothing is repaired by guessing.

mod json;
mod lenient;
mod prose;
mod thinking;
mod words;

use assize_calibration::judgement::{ChosenPosition, Verdict};

/// The scores that may be given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// The lowest.
    pub low: f64,
    /// The highest.
    pub high: f64,
    /// Whether only whole numbers may be given.
    pub whole: bool,
}

impl Scale {
    /// Returns the score if it is one of this scale.
    fn holds(self, score: f64) -> Option<f64> {
        let is_between = (self.low..=self.high).contains(&score);
        (is_between && (!self.whole || score.fract() == 0.0)).then_some(score)
    }
}

/// What the judge was asked for.
#[derive(Clone, Debug, PartialEq)]
pub enum Asked {
    /// A score for each of these, by name. One without a name is *the* score.
    Scores(Vec<(String, Scale)>),
    /// Accept or reject.
    Verdict,
    /// Which of two is better.
    Choice {
        /// Whether "neither" is an answer.
        ties: bool,
    },
}

/// One thing that was asked for, answered or not.
pub type Answer<T> = Result<T, Unclear>;

/// Why a reply is not an answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unclear {
    /// There is no text.
    #[error("the reply is empty")]
    Empty,
    /// The reply ends before the answer.
    #[error("the reply ends within its thinking")]
    OnlyThinking,
    /// Nothing in it is an answer.
    #[error("the reply does not say {0}")]
    Missing(String),
    /// Two answers that are not the same.
    #[error("the reply says two things of {what}: {one} and {other}")]
    Several {
        /// What was asked for.
        what: String,
        /// What it says first.
        one: String,
        /// What it says later.
        other: String,
    },
    /// An answer that was not one of those to choose from.
    #[error("the reply says {said:?} of {what}, which is none of the answers asked for")]
    Other {
        /// What was asked for.
        what: String,
        /// What it says, cut.
        said: String,
    },
}

/// The answers in a reply, and what stands beside them.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The answers.
    pub answers: Answers,
    /// How sure the judge says it is, from 0 to 1.
    pub confidence: Option<f64>,
    /// Why, in its own words.
    pub reason: Option<String>,
    /// What it quotes for each score, in the order of the dimensions asked for; empty where nothing is quoted.
    pub evidence: Vec<Option<String>>,
}

/// The answers in a reply.
#[derive(Clone, Debug, PartialEq)]
pub enum Answers {
    /// A score for each dimension, in the order asked for.
    Scores(Vec<Answer<f64>>),
    /// Whether the item passes.
    Verdict(Answer<Verdict>),
    /// Which of the two shown is better.
    Choice(Answer<ChosenPosition>),
}

impl Answers {
    /// Returns the same reason for everything that was asked.
    fn unclear(asked: &Asked, why: &Unclear) -> Self {
        match asked {
            Asked::Scores(dimensions) => Self::Scores(dimensions.iter().map(|_| Err(why.clone())).collect()),
            Asked::Verdict => Self::Verdict(Err(why.clone())),
            Asked::Choice { .. } => Self::Choice(Err(why.clone())),
        }
    }

    /// Whether everything asked for was answered.
    pub fn is_clear(&self) -> bool {
        match self {
            Self::Scores(scores) => scores.iter().all(Result::is_ok),
            Self::Verdict(verdict) => verdict.is_ok(),
            Self::Choice(choice) => choice.is_ok(),
        }
    }
}

/// Reads what a reply says of what was asked.
pub fn read(reply: &str, asked: &Asked) -> Reading {
    let nothing = |why: Unclear| Reading {
        answers: Answers::unclear(asked, &why),
        confidence: None,
        reason: None,
        evidence: Vec::new(),
    };
    if reply.trim().is_empty() {
        return nothing(Unclear::Empty);
    }
    let Some(said) = thinking::without(reply) else {
        return nothing(Unclear::OnlyThinking);
    };
    if said.trim().is_empty() {
        return nothing(Unclear::Empty);
    }
    json::read(&said, asked).unwrap_or_else(|| prose::read(&said, asked))
}

/// Returns the name of the score in words.
fn of_dimension(name: &str) -> String {
    if name.is_empty() { "the score".to_owned() } else { format!("the score of {name}") }
}

/// An answer, as a message tells it.
trait Told: Copy + PartialEq {
    fn told(self) -> String;
}

impl Told for f64 {
    fn told(self) -> String {
        self.to_string()
    }
}

impl Told for Verdict {
    fn told(self) -> String {
        if self == Self::Accept { "accept" } else { "reject" }.to_owned()
    }
}

impl Told for ChosenPosition {
    fn told(self) -> String {
        match self {
            Self::First => "A",
            Self::Second => "B",
            Self::Tie => "a tie",
        }
        .to_owned()
    }
}

fn several<T: Told>(what: &str, one: T, other: T) -> Unclear {
    Unclear::Several { what: what.to_owned(), one: one.told(), other: other.told() }
}

/// Returns the answer that all of these are, each with its text. Text that is no answer does not count beside one that is.
fn unanimous<T: Told>(said: impl IntoIterator<Item = (String, Option<T>)>, what: &str) -> Option<Answer<T>> {
    let mut said = said.into_iter();
    let (first_said, mut found) = said.next()?;
    for (_, answer) in said {
        match (found, answer) {
            (Some(one), Some(other)) if one != other => return Some(Err(several(what, one, other))),
            (None, answer) => found = answer,
            _ => {}
        }
    }
    Some(found.ok_or_else(|| Unclear::Other { what: what.to_owned(), said: cut(&first_said) }))
}

/// Cuts what goes into a message.
fn cut(text: &str) -> String {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
