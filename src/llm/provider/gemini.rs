//! Gemini `generateContent`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{HttpRequest, address, json};
use crate::judge::schema::Schema;
use crate::llm::{Ending, Reply, Request, Role, Token, Usage};

/// Candidates asked for in the place of each token; the most that the server gives.
const CANDIDATES: u32 = 20;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<Content<'a>>,
    contents: Vec<Content<'a>>,
    generation_config: Config<'a>,
}

#[derive(Serialize)]
struct Content<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    parts: [Part<'a>; 1],
}

#[derive(Serialize)]
struct Part<'a> {
    text: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Config<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_mime_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_json_schema: Option<&'a Schema>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_logprobs: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    logprobs: Option<u32>,
    #[serde(flatten)]
    extra: &'a BTreeMap<String, toml::Value>,
}

pub(super) fn write(endpoint: &str, request: &Request<'_>) -> HttpRequest {
    let is_free = |key: &str| !request.extra.contains_key(key);
    let schema = request.schema.filter(|_| is_free("responseJsonSchema"));
    let content = |role, text| Content { role, parts: [Part { text }] };
    let turns = request.turns.iter();
    let body = Body {
        system_instruction: (!request.system.is_empty()).then(|| content(None, request.system)),
        contents: turns
            .map(|turn| content(Some(if turn.role == Role::User { "user" } else { "model" }), turn.text.as_str()))
            .collect(),
        generation_config: Config {
            temperature: request.temperature.filter(|_| is_free("temperature")),
            max_output_tokens: request.max_tokens.filter(|_| is_free("maxOutputTokens")),
            seed: request.seed.filter(|_| is_free("seed")),
            response_mime_type: schema.map(|_| "application/json").filter(|_| is_free("responseMimeType")),
            response_json_schema: schema,
            response_logprobs: request.logprobs.then_some(true).filter(|_| is_free("responseLogprobs")),
            logprobs: request.logprobs.then_some(CANDIDATES).filter(|_| is_free("logprobs")),
            extra: request.extra,
        },
    };
    let path = format!("models/{}:generateContent", request.model.trim_start_matches("models/"));
    HttpRequest { url: address(endpoint, &path), headers: Vec::new(), body: json(&body) }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    #[serde(default)]
    candidates: Vec<Candidate>,
    usage_metadata: Option<Counts>,
    model_version: Option<String>,
    prompt_feedback: Option<Feedback>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Feedback {
    block_reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate {
    content: Option<Said>,
    finish_reason: Option<String>,
    logprobs_result: Option<Logprobs>,
}

#[derive(Deserialize)]
struct Said {
    #[serde(default)]
    parts: Vec<Piece>,
}

#[derive(Deserialize)]
struct Piece {
    #[serde(default)]
    text: String,
    #[serde(default)]
    thought: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Logprobs {
    #[serde(default)]
    chosen_candidates: Vec<Chosen>,
    #[serde(default)]
    top_candidates: Vec<Top>,
}

#[derive(Deserialize)]
struct Top {
    #[serde(default)]
    candidates: Vec<Chosen>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chosen {
    token: String,
    log_probability: f64,
}

#[expect(clippy::struct_field_names, reason = "the names are the provider's")]
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Counts {
    #[serde(default)]
    prompt_token_count: u64,
    #[serde(default)]
    candidates_token_count: u64,
    #[serde(default)]
    thoughts_token_count: u64,
    #[serde(default)]
    cached_content_token_count: u64,
}

pub(super) fn read(body: &[u8]) -> Option<Reply> {
    let answer: Answer = serde_json::from_slice(body).ok()?;
    let usage = answer.usage_metadata.map(|counts| Usage {
        input: counts.prompt_token_count,
        cached: counts.cached_content_token_count,
        output: counts.candidates_token_count + counts.thoughts_token_count,
    });
    let model = answer.model_version;
    let Some(candidate) = answer.candidates.into_iter().next() else {
        // A blocked question has no candidates.
        let reason = answer.prompt_feedback?.block_reason?;
        return Some(Reply { text: String::new(), ending: Ending::Withheld(reason), usage, model, tokens: Vec::new() });
    };
    let ending = match candidate.finish_reason.as_deref() {
        Some("STOP") | None => Ending::Done,
        Some("MAX_TOKENS") => Ending::Length,
        Some(reason @ ("SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII")) => {
            Ending::Withheld(reason.to_owned())
        }
        Some(other) => Ending::Other(other.to_owned()),
    };
    let pieces = candidate.content.map(|said| said.parts).unwrap_or_default();
    let text = pieces.into_iter().filter(|piece| !piece.thought).map(|piece| piece.text).collect();
    let tokens = candidate.logprobs_result.map(tokens).unwrap_or_default();
    Some(Reply { text, ending, usage, model, tokens })
}

fn tokens(logprobs: Logprobs) -> Vec<Token> {
    let mut tops = logprobs.top_candidates.into_iter();
    let token = |chosen: Chosen| {
        let top = tops.next().map(|top| top.candidates).unwrap_or_default();
        let mut candidates: Vec<(String, f64)> =
            top.into_iter().map(|candidate| (candidate.token, candidate.log_probability)).collect();
        if candidates.iter().all(|(token, _)| *token != chosen.token) {
            candidates.push((chosen.token.clone(), chosen.log_probability));
        }
        Token { text: chosen.token, candidates }
    };
    logprobs.chosen_candidates.into_iter().map(token).collect()
}
