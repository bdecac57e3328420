//! What one experience is. This module fixes the shape and the words; whether the values may be stored is checked by
//! [`Entry`](crate::entry::Entry).

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::time::Time;

/// Declares words that are written the same in JSON, in the store and on the command line.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$says:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "lowercase")]
        pub enum $name {
            $($(#[$says])* $variant,)+
        }

        impl $name {
            /// All of them, in the order in which they are told.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// Returns the word for it.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            /// Returns what a word stands for, if it is one of these words.
            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|known| known.word() == word)
            }
        }
    };
}

words! {
    /// How much an issue matters.
    Severity {
        /// It must be mended.
        High = "high",
        /// It should be mended.
        Medium = "medium",
        /// It may be mended last.
        Low = "low",
    }
}

words! {
    /// Who says that an experience is so.
    #[derive(Default)]
    Trust {
        /// A person looked at it.
        Person = "person",
        /// A program that measures: a test, a compiler, a rule.
        Tool = "tool",
        /// A model said so, and nobody looked. What is taken where nothing is said.
        #[default]
        Model = "model",
    }
}

/// What was wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Issue {
    /// The quality concerned, such as `clarity`: a short name in any language.
    pub dimension: String,
    /// Where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// How much it matters.
    pub severity: Severity,
    /// What was wrong.
    pub description: String,
    /// What the judge proposed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
}

/// What shows that the fix helped.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// In words: the test that passes now, the reviewer's remark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The score before the fix, on the scale of the judge. Finite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score_before: Option<f64>,
    /// The score after the fix, on the same scale. Finite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score_after: Option<f64>,
}

impl Evidence {
    /// Returns whether nothing is said.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Where an experience comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// What was to be done.
    pub task: String,
    /// The kind of task, such as `api-docs`: a short name in any language.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_family: Option<String>,
    /// The loop that met the issue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loop_id: Option<String>,
    /// The round of that loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<u32>,
    /// The model that made the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// An issue, what mended it, and how that is known. A line of an export.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Experience {
    /// When it was made.
    pub time: Time,
    /// Who says so.
    #[serde(default)]
    pub trust: Trust,
    /// What was wrong.
    pub issue: Issue,
    /// What mended it.
    pub fix: String,
    /// The text before the fix, exactly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The text after the fix, exactly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// What shows that the fix helped.
    #[serde(default, skip_serializing_if = "Evidence::is_empty")]
    pub evidence: Evidence,
    /// Where it comes from.
    pub origin: Origin,
    /// Short names to find it by. Their order and repetition mean nothing.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub tags: BTreeSet<String>,
}
