//! `[rules]`: what can be checked without a model; `[hybrid]`: how it goes together with one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[rules]`: an item passes when it keeps all of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Rules {
    /// The field that is checked. Where absent, the item's text.
    pub field: Option<String>,
    /// Least and greatest length.
    pub length: Option<Length>,
    /// Words or phrases that must be there. Case does not matter.
    pub required: Vec<String>,
    /// Words or phrases that must not be there. Case does not matter.
    pub forbidden: Vec<String>,
    /// Regular expressions that must match somewhere.
    pub matches: Vec<String>,
    /// Regular expressions that must match nowhere.
    pub matches_not: Vec<String>,
    /// Whether the text must be JSON.
    pub json: bool,
    /// A JSON Schema that the text must fit, in place.
    #[schemars(with = "Option<serde_json::Value>")]
    pub json_schema: Option<toml::Value>,
    /// Whether every address in the text must be well formed.
    pub urls: bool,
    /// Headings of Markdown sections that must be there.
    pub sections: Vec<String>,
}

/// A range of lengths. In characters, as people count them; or in words, of which Chinese has one a character.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Length {
    /// Least number of characters.
    pub min: Option<usize>,
    /// Greatest number of characters.
    pub max: Option<usize>,
    /// Least number of words.
    pub min_words: Option<usize>,
    /// Greatest number of words.
    pub max_words: Option<usize>,
}

/// `[hybrid]`: what a broken rule does to the model's answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Hybrid {
    /// A broken rule rejects, whatever the model says; the model is then not asked.
    pub veto: bool,
    /// A broken rule holds the score at or below this share of the scale.
    pub cap: Option<f64>,
    /// Share of the score that the rules give (those kept, of all); the model gives the rest.
    pub rules_weight: Option<f64>,
}
