//! Chat completions as OpenAI defined them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{HttpRequest, address, host, is_azure, json};
use crate::judge::schema::Schema;
use crate::llm::{Ending, Reply, Request, Role, Token, Usage};

/// Candidates asked for in the place of each token; the most that servers give.
const CANDIDATES: u32 = 20;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<Message<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    logprobs: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_logprobs: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<Format<'a>>,
    #[serde(flatten)]
    extra: &'a BTreeMap<String, toml::Value>,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: &'a str,
}

#[derive(Serialize)]
struct Format<'a> {
    r#type: &'static str,
    json_schema: Named<'a>,
}

#[derive(Serialize)]
struct Named<'a> {
    name: &'static str,
    strict: bool,
    schema: &'a Schema,
}

pub(super) fn write(endpoint: &str, request: &Request<'_>) -> HttpRequest {
    let system = (!request.system.is_empty()).then_some(Message { role: "system", content: request.system });
    let turns = request
        .turns
        .iter()
        .map(|turn| Message { role: if turn.role == Role::User { "user" } else { "assistant" }, content: &turn.text });
    // OpenAI's own newer models refuse the older name, which is the only one that many other servers know.
    let is_own = host(endpoint) == "api.openai.com" || is_azure(endpoint);
    let is_free = |key: &str| !request.extra.contains_key(key);
    let format = |schema| Format { r#type: "json_schema", json_schema: Named { name: "answer", strict: true, schema } };
    let body = Body {
        model: request.model,
        messages: system.into_iter().chain(turns).collect(),
        temperature: request.temperature.filter(|_| is_free("temperature")),
        max_tokens: request.max_tokens.filter(|_| !is_own && is_free("max_tokens")),
        max_completion_tokens: request.max_tokens.filter(|_| is_own && is_free("max_completion_tokens")),
        seed: request.seed.filter(|_| is_free("seed")),
        logprobs: request.logprobs.then_some(true).filter(|_| is_free("logprobs")),
        top_logprobs: request.logprobs.then_some(CANDIDATES).filter(|_| is_free("top_logprobs")),
        response_format: request.schema.map(format).filter(|_| is_free("response_format")),
        extra: request.extra,
    };
    HttpRequest { url: address(endpoint, "chat/completions"), headers: Vec::new(), body: json(&body) }
}

#[derive(Deserialize)]
struct Answer {
    choices: Vec<Choice>,
    usage: Option<Counts>,
    model: Option<String>,
}

#[derive(Deserialize)]
struct Choice {
    message: Said,
    finish_reason: Option<String>,
    logprobs: Option<Logprobs>,
}

#[derive(Deserialize)]
struct Said {
    content: Option<String>,
    refusal: Option<String>,
}

#[derive(Deserialize)]
struct Logprobs {
    content: Option<Vec<Place>>,
}

#[derive(Deserialize)]
struct Place {
    token: String,
    logprob: f64,
    #[serde(default)]
    top_logprobs: Vec<Candidate>,
}

#[derive(Deserialize)]
struct Candidate {
    token: String,
    logprob: f64,
}

#[derive(Deserialize)]
struct Counts {
    #[serde(default)]
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: u64,
    prompt_tokens_details: Option<Details>,
    /// DeepSeek's own name.
    prompt_cache_hit_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct Details {
    cached_tokens: Option<u64>,
}

pub(super) fn read(body: &[u8]) -> Option<Reply> {
    let answer: Answer = serde_json::from_slice(body).ok()?;
    let choice = answer.choices.into_iter().next()?;
    let ending = match (choice.message.refusal, choice.finish_reason.as_deref()) {
        (Some(refusal), _) if !refusal.is_empty() => Ending::Withheld(refusal),
        (_, Some("stop") | None) => Ending::Done,
        (_, Some("length")) => Ending::Length,
        (_, Some("content_filter")) => Ending::Withheld("content filter".to_owned()),
        (_, Some(other)) => Ending::Other(other.to_owned()),
    };
    let places = choice.logprobs.and_then(|logprobs| logprobs.content).unwrap_or_default();
    let tokens = places.into_iter().map(|place| {
        let mut candidates: Vec<(String, f64)> =
            place.top_logprobs.into_iter().map(|candidate| (candidate.token, candidate.logprob)).collect();
        if candidates.iter().all(|(token, _)| *token != place.token) {
            candidates.push((place.token.clone(), place.logprob));
        }
        Token { text: place.token, candidates }
    });
    let usage = answer.usage.map(|counts| Usage {
        input: counts.prompt_tokens,
        cached: counts
            .prompt_tokens_details
            .and_then(|details| details.cached_tokens)
            .or(counts.prompt_cache_hit_tokens)
            .unwrap_or(0),
        output: counts.completion_tokens,
    });
    Some(Reply {
        text: choice.message.content.unwrap_or_default(),
        ending,
        usage,
        model: answer.model,
        tokens: tokens.collect(),
    })
}
