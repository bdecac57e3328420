//! `[llm]`: which model is asked, where, and how fast.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The interface that a server speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    /// Chat completions as OpenAI defined them: also Azure, vLLM, llama.cpp, Ollama, OpenRouter, DeepSeek, Qwen.
    #[default]
    OpenAi,
    /// Anthropic Messages.
    Anthropic,
    /// Gemini `generateContent`.
    Gemini,
}

impl Provider {
    /// Returns where the provider itself serves it.
    pub const fn endpoint(self) -> &'static str {
        match self {
            Self::OpenAi => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com/v1",
            Self::Gemini => "https://generativelanguage.googleapis.com/v1beta",
        }
    }

    /// Returns the variable that commonly holds its key.
    pub const fn key_env(self) -> &'static str {
        match self {
            Self::OpenAi => "OPENAI_API_KEY",
            Self::Anthropic => "ANTHROPIC_API_KEY",
            Self::Gemini => "GEMINI_API_KEY",
        }
    }
}

/// How the form of the answer is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// By a JSON schema; where the server refuses one, in the prompt.
    #[default]
    Auto,
    /// By a JSON schema that the server enforces.
    Schema,
    /// In the prompt alone, as JSON.
    Prompt,
}

/// `[llm]`
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Llm {
    /// The interface that the server speaks.
    pub provider: Provider,
    /// The model's name, as the server knows it.
    pub model: String,
    /// The server's address up to the version. Where absent, the provider's own.
    pub endpoint: Option<String>,
    /// The variable of the environment that holds the key. An empty name: the server wants none.
    pub key_env: Option<String>,
    /// Randomness of the answers. Where absent, the server's default.
    pub temperature: Option<f64>,
    /// Seed sent with each question, plus the number of the repeat. Where absent, none.
    pub seed: Option<u64>,
    /// Most tokens of a reply.
    pub max_tokens: Option<u32>,
    /// How the form of the answer is asked for.
    pub form: Form,
    /// Whether probabilities of tokens are asked for, and turned into an expected score.
    pub logprobs: bool,
    /// Whether a reply that is not clear is asked for once more, in the same conversation. The first attempt is what counts as unparsed.
    pub repair: bool,
    /// What else goes into the body of each request, as the server knows it.
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    pub extra: BTreeMap<String, toml::Value>,
    /// How fast it may be asked.
    pub limits: Limits,
    /// What it costs. Where absent, by the built-in table.
    pub price: Option<Price>,
}

/// `[llm.limits]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Most requests under way at once.
    pub concurrency: usize,
    /// Most requests a minute.
    pub requests_per_minute: Option<u32>,
    /// Most tokens a minute, sent and received.
    pub tokens_per_minute: Option<u32>,
    /// Seconds after which a request is given up and tried again.
    pub timeout: f64,
    /// Most attempts at one question.
    pub attempts: u32,
    /// Failures in a row after which the run stops, and says so.
    pub give_up_after: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            concurrency: 8,
            requests_per_minute: None,
            tokens_per_minute: None,
            timeout: 120.0,
            attempts: 5,
            give_up_after: 20,
        }
    }
}

/// `[llm.price]`: the price of a million tokens, in any one currency.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Of tokens sent.
    pub input: f64,
    /// Of tokens sent that the server had kept from an earlier request. Where absent, as `input`.
    #[serde(default)]
    pub cached_input: Option<f64>,
    /// Of tokens received.
    pub output: f64,
}
