//! Anthropic Messages. The form of the answer is enforced as the input of a tool that must be called.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::Value;

use super::{HttpRequest, address, json};
use crate::judge::schema::Schema;
use crate::llm::{Ending, Reply, Request, Role, Usage};

/// The interface wants a limit; a judge's reason and answer take less.
const MAX_TOKENS: u32 = 2048;
const TOOL: &str = "answer";

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    system: &'a str,
    messages: Vec<Message<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<ToolChoice>,
    #[serde(flatten)]
    extra: &'a BTreeMap<String, toml::Value>,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: &'a str,
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'static str,
    description: &'static str,
    input_schema: &'a Schema,
}

#[derive(Serialize)]
struct ToolChoice {
    r#type: &'static str,
    name: &'static str,
}

pub(super) fn write(endpoint: &str, request: &Request<'_>) -> HttpRequest {
    let is_free = |key: &str| !request.extra.contains_key(key);
    let schema = request.schema.filter(|_| is_free("tools") && is_free("tool_choice"));
    let turns = request
        .turns
        .iter()
        .map(|turn| Message { role: if turn.role == Role::User { "user" } else { "assistant" }, content: &turn.text });
    let tool = |input_schema| Tool { name: TOOL, description: "Gives the answer", input_schema };
    let body = Body {
        model: request.model,
        system: request.system,
        messages: turns.collect(),
        max_tokens: Some(request.max_tokens.unwrap_or(MAX_TOKENS)).filter(|_| is_free("max_tokens")),
        temperature: request.temperature.filter(|_| is_free("temperature")),
        tools: schema.map(tool).into_iter().collect(),
        tool_choice: schema.map(|_| ToolChoice { r#type: "tool", name: TOOL }),
        extra: request.extra,
    };
    HttpRequest {
        url: address(endpoint, "messages"),
        headers: vec![("anthropic-version", "2023-06-01")],
        body: json(&body),
    }
}

#[derive(Deserialize)]
struct Answer {
    content: Vec<Part>,
    stop_reason: Option<String>,
    usage: Option<Counts>,
    model: Option<String>,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part {
    Text {
        text: String,
    },
    ToolUse {
        input: Value,
    },
    #[serde(other)]
    Other,
}

#[expect(clippy::struct_field_names, reason = "the names are the provider's")]
#[derive(Deserialize)]
struct Counts {
    #[serde(default)]
    input_tokens: u64,
    #[serde(default)]
    output_tokens: u64,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
}

pub(super) fn read(body: &[u8]) -> Option<Reply> {
    let answer: Answer = serde_json::from_slice(body).ok()?;
    let mut texts: Vec<String> = Vec::new();
    let mut form = None;
    for part in answer.content {
        match part {
            Part::Text { text } => texts.push(text),
            Part::ToolUse { input } => form = Some(input.to_string()),
            Part::Other => {}
        }
    }
    let ending = match answer.stop_reason.as_deref() {
        Some("end_turn" | "stop_sequence" | "tool_use") | None => Ending::Done,
        Some("max_tokens") => Ending::Length,
        Some("refusal") => Ending::Withheld("refusal".to_owned()),
        Some(other) => Ending::Other(other.to_owned()),
    };
    // Tokens that the server kept are counted apart from those that were sent.
    let usage = answer.usage.map(|counts| {
        let cached = counts.cache_read_input_tokens.unwrap_or(0);
        let input = counts.input_tokens + cached + counts.cache_creation_input_tokens.unwrap_or(0);
        Usage { input, cached, output: counts.output_tokens }
    });
    Some(Reply { text: form.unwrap_or_else(|| texts.concat()), ending, usage, model: answer.model, tokens: Vec::new() })
}
