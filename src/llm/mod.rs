//! Talking to models: what is asked and answered, and how each provider writes it.
//!
//! Providers are pure translators: a request becomes an address, headers and a body; a status and a body become a reply or a named
//! failure. Nothing here opens a connection or reads a key.

pub mod expected;
pub mod price;
pub mod provider;

use std::collections::BTreeMap;

use crate::judge::schema::Schema;

/// Who speaks in a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Who asks.
    User,
    /// The model.
    Model,
}

/// One turn of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub text: String,
}

/// What a model is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Request<'a> {
    /// The model, as the server knows it.
    pub model: &'a str,
    /// The instructions; may be empty.
    pub system: &'a str,
    /// The conversation; its last turn is the user's.
    pub turns: &'a [Turn],
    /// Randomness, where it is stated.
    pub temperature: Option<f64>,
    /// Most tokens of the reply, where it is stated.
    pub max_tokens: Option<u32>,
    /// The seed of the server's draws, where it is stated.
    pub seed: Option<u64>,
    /// The form that the server shall enforce.
    pub schema: Option<&'a Schema>,
    /// Whether the probabilities of tokens are wanted.
    pub logprobs: bool,
    /// What else goes into the body, over what stands there otherwise.
    pub extra: &'a BTreeMap<String, toml::Value>,
}

/// Tokens that were sent and received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Sent, those kept by the server included.
    pub input: u64,
    /// Of those sent, what the server had kept from an earlier request.
    pub cached: u64,
    /// Received, thinking included.
    pub output: u64,
}

/// One token of a reply, and what might have stood in its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    /// Its text.
    pub text: String,
    /// Candidates for its place, with the natural logarithms of their probabilities; the token itself is among them where the server
    /// says so.
    pub candidates: Vec<(String, f64)>,
}

/// Why a reply ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The model was done.
    Done,
    /// It had no tokens left.
    Length,
    /// The provider withheld it, or the model declined.
    Withheld(String),
    /// Something else, in the provider's word.
    Other(String),
}

/// What a model answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The text, without thinking that the provider keeps apart.
    pub text: String,
    /// Why it ends.
    pub ending: Ending,
    /// Tokens, where the provider counts them.
    pub usage: Option<Usage>,
    /// The model that answered, where the provider says so; often more exact than the one asked for.
    pub model: Option<String>,
    /// The tokens, where they were wanted and given.
    pub tokens: Vec<Token>,
}
