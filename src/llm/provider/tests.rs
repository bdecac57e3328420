use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::*;
use crate::judge::reply::Scale;
use crate::judge::schema::Schema;
use crate::llm::{Ending, Role, Token, Turn, Usage};

/// Asks as `change` says, and returns the address and the body.
fn body(provider: Provider, endpoint: &str, change: impl FnOnce(&mut Request<'_>)) -> (String, String) {
    let turns = [Turn { role: Role::User, text: "Judge “this”.".to_owned() }];
    let (extra, form) = (BTreeMap::new(), form());
    let mut request = Request {
        model: "m-1",
        system: "Be strict.",
        turns: &turns,
        temperature: Some(0.0),
        max_tokens: Some(300),
        seed: Some(7),
        schema: Some(&form),
        logprobs: false,
        extra: &extra,
    };
    change(&mut request);
    let written = provider.write(endpoint, &request);
    (written.url, written.body)
}

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn form() -> Schema {
    let score = Schema::Number(Scale { low: 1.0, high: 3.0, whole: true });
    Schema::Object(vec![("reason".to_owned(), Schema::Text), ("Clarity".to_owned(), score)])
}

fn read(provider: Provider, status: u16, body: &Value) -> Result<Reply, Failure> {
    provider.read(HttpReply { status, retry_after: None, body: body.to_string().as_bytes() })
}

#[test]
fn chat_completions_are_written_as_openai_defined_them() {
    let (url, written) = body(Provider::OpenAi, "http://localhost:8080/v1/", |request| request.schema = None);
    assert_eq!(url, "http://localhost:8080/v1/chat/completions");
    assert_eq!(
        value(&written),
        json!({
            "model": "m-1",
            "messages": [{"role": "system", "content": "Be strict."}, {"role": "user", "content": "Judge “this”."}],
            "temperature": 0.0, "max_tokens": 300, "seed": 7,
        })
    );
    let (_, own) = body(Provider::OpenAi, "https://api.openai.com/v1", |request| request.logprobs = true);
    let own = value(&own);
    assert_eq!((&own["max_completion_tokens"], &own["max_tokens"]), (&json!(300), &Value::Null));
    assert_eq!((&own["logprobs"], &own["top_logprobs"]), (&json!(true), &json!(20)));
}

#[test]
fn a_form_keeps_the_order_of_its_keys() {
    for provider in [Provider::OpenAi, Provider::Anthropic, Provider::Gemini] {
        let (_, written) = body(provider, provider.endpoint(), |_| ());
        let properties = r#""properties":{"reason":{"type":"string"},"Clarity":{"type":"integer","enum":[1,2,3]}}"#;
        assert!(written.contains(properties), "{written}");
    }
}

#[test]
fn what_a_file_adds_stands_over_what_is_written_otherwise() {
    let extra: BTreeMap<String, toml::Value> =
        toml::from_str("temperature = 0.3\ncache_prompt = false\nprovider = { order = ['x'] }").unwrap();
    let turns = [Turn { role: Role::User, text: "x".to_owned() }];
    let request = Request {
        model: "m",
        system: "",
        turns: &turns,
        temperature: Some(1.0),
        max_tokens: None,
        seed: None,
        schema: None,
        logprobs: false,
        extra: &extra,
    };
    let written = Provider::OpenAi.write("http://x/v1", &request).body;
    assert_eq!(written.matches("temperature").count(), 1, "{written}");
    let written = value(&written);
    assert_eq!(written["temperature"], json!(0.3));
    assert_eq!(written["provider"]["order"], json!(["x"]));
}

#[test]
fn messages_are_written_as_anthropic_defined_them() {
    let (url, written) = body(Provider::Anthropic, Provider::Anthropic.endpoint(), |request| {
        (request.max_tokens, request.schema) = (None, None);
    });
    assert_eq!(url, "https://api.anthropic.com/v1/messages");
    assert_eq!(
        value(&written),
        json!({
            "model": "m-1", "system": "Be strict.", "max_tokens": 2048, "temperature": 0.0,
            "messages": [{"role": "user", "content": "Judge “this”."}],
        })
    );
    let (_, written) = body(Provider::Anthropic, "https://x/v1", |_| ());
    let written = value(&written);
    assert_eq!(written["tool_choice"], json!({"type": "tool", "name": "answer"}));
    assert_eq!(written["tools"][0]["input_schema"]["required"], json!(["reason", "Clarity"]));
}

#[test]
fn contents_are_written_as_gemini_defined_them() {
    let (url, written) = body(Provider::Gemini, Provider::Gemini.endpoint(), |request| request.schema = None);
    assert_eq!(url, "https://generativelanguage.googleapis.com/v1beta/models/m-1:generateContent");
    assert_eq!(
        value(&written),
        json!({
            "systemInstruction": {"parts": [{"text": "Be strict."}]},
            "contents": [{"role": "user", "parts": [{"text": "Judge “this”."}]}],
            "generationConfig": {"temperature": 0.0, "maxOutputTokens": 300, "seed": 7},
        })
    );
}

#[test]
fn keys_go_into_the_header_that_each_server_reads() {
    let header = |provider: Provider, endpoint| provider.key_header(endpoint).name;
    assert_eq!(header(Provider::OpenAi, "https://api.openai.com/v1"), "authorization");
    assert_eq!(header(Provider::OpenAi, "https://me.openai.azure.com/openai/deployments/d?api-version=1"), "api-key");
    assert_eq!(header(Provider::OpenAi, "https://azure.com.evil.org/v1"), "authorization");
    let (url, _) = body(Provider::OpenAi, "https://me.openai.azure.com/openai/deployments/d?api-version=1", |_| ());
    assert_eq!(url, "https://me.openai.azure.com/openai/deployments/d/chat/completions?api-version=1");
}

#[test]
fn replies_of_chat_completions_are_read() {
    let reply = read(
        Provider::OpenAi,
        200,
        &json!({
            "id": "x", "object": "chat.completion", "model": "m-1-2026",
            "choices": [{
                "index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "4", "refusal": null},
                "logprobs": {"content": [{"token": "4", "logprob": -0.1, "bytes": [52], "top_logprobs": [
                    {"token": "4", "logprob": -0.1, "bytes": [52]}, {"token": "5", "logprob": -2.5, "bytes": [53]}]}]},
            }],
            "usage": {"prompt_tokens": 120, "completion_tokens": 1, "total_tokens": 121,
                "prompt_tokens_details": {"cached_tokens": 64}},
        }),
    );
    let candidates = vec![("4".to_owned(), -0.1), ("5".to_owned(), -2.5)];
    assert_eq!(
        reply,
        Ok(Reply {
            text: "4".to_owned(),
            ending: Ending::Done,
            usage: Some(Usage { input: 120, cached: 64, output: 1 }),
            model: Some("m-1-2026".to_owned()),
            tokens: vec![Token { text: "4".to_owned(), candidates }],
        })
    );
    let cut = json!({"choices": [{"message": {"content": "{\"sco"}, "finish_reason": "length"}]});
    assert_eq!(read(Provider::OpenAi, 200, &cut).unwrap().ending, Ending::Length);
    let declined = json!({"choices": [{"message": {"content": null, "refusal": "I can't"}, "finish_reason": "stop"}]});
    assert_eq!(read(Provider::OpenAi, 200, &declined).unwrap().ending, Ending::Withheld("I can't".to_owned()));
}

#[test]
fn replies_of_anthropic_are_read() {
    let reply = read(
        Provider::Anthropic,
        200,
        &json!({
            "type": "message", "role": "assistant", "model": "m", "stop_reason": "tool_use",
            "content": [{"type": "text", "text": "Let me see."}, {"type": "thinking", "thinking": "…", "signature": "…"},
                {"type": "tool_use", "id": "t", "name": "answer", "input": {"reason": "r", "score": 4}}],
            "usage": {"input_tokens": 10, "output_tokens": 20, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 5},
        }),
    )
    .unwrap();
    assert_eq!(value(&reply.text), json!({"reason": "r", "score": 4}));
    assert_eq!(reply.usage, Some(Usage { input: 115, cached: 100, output: 20 }));
    assert_eq!(reply.ending, Ending::Done);
}

#[test]
fn replies_of_gemini_are_read() {
    let reply = read(
        Provider::Gemini,
        200,
        &json!({
            "candidates": [{"content": {"role": "model", "parts": [{"text": "hm", "thought": true}, {"text": "4"}]},
                "finishReason": "STOP"}],
            "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 1, "thoughtsTokenCount": 30, "totalTokenCount": 40},
            "modelVersion": "m-001",
        }),
    )
    .unwrap();
    assert_eq!((reply.text.as_str(), reply.usage), ("4", Some(Usage { input: 9, cached: 0, output: 31 })));
    let blocked = read(Provider::Gemini, 200, &json!({"promptFeedback": {"blockReason": "SAFETY"}})).unwrap();
    assert_eq!(blocked.ending, Ending::Withheld("SAFETY".to_owned()));
}

#[test]
fn failures_are_told_by_what_can_be_done() {
    let kind = |status, body: Value| match read(Provider::OpenAi, status, &body).unwrap_err() {
        Failure::Rate { retry_after, .. } => format!("rate {:?}", retry_after.map(|wait| wait.as_secs())),
        Failure::Quota(_) => "quota".to_owned(),
        Failure::Key(_) => "key".to_owned(),
        Failure::Unknown(_) => "unknown".to_owned(),
        Failure::Form(_) => "form".to_owned(),
        Failure::TooLong(_) => "too long".to_owned(),
        Failure::Withheld(_) => "withheld".to_owned(),
        Failure::Refused { .. } => "refused".to_owned(),
        Failure::Busy { .. } => "busy".to_owned(),
        Failure::Odd(_) => "odd".to_owned(),
        Failure::Network(_) => "network".to_owned(),
    };
    let error = |message: &str, code: &str| json!({"error": {"message": message, "type": code, "code": code}});
    let gemini = |quota: &str| {
        json!([{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "Quota exceeded", "details": [
            {"violations": [{"quotaId": quota}]}, {"retryDelay": "27s"}]}}])
    };
    for (status, body, expected) in [
        (429, error("Rate limit reached for m", "rate_limit_exceeded"), "rate None"),
        (429, error("You exceeded your current quota, please check your plan", "insufficient_quota"), "quota"),
        (429, gemini("GenerateRequestsPerMinutePerProject"), "rate Some(27)"),
        (429, gemini("GenerateRequestsPerDayPerProject"), "quota"),
        (402, json!({"error": {"message": "Insufficient Balance"}}), "quota"),
        (400, error("Your credit balance is too low to access the API", "invalid_request_error"), "quota"),
        (401, error("Incorrect API key provided", "invalid_api_key"), "key"),
        (400, json!({"error": {"status": "INVALID_ARGUMENT", "message": "API key not valid."}}), "key"),
        (404, error("The model `x` does not exist", "model_not_found"), "unknown"),
        (400, error("This model's maximum context length is 8192 tokens", "context_length_exceeded"), "too long"),
        (400, error("Invalid parameter: 'response_format' of type 'json_schema' is not supported", "x"), "form"),
        (400, json!({"error": {"message": "filtered", "code": "content_filter"}}), "withheld"),
        (400, error("'temperature' must be at most 2", "invalid_request_error"), "refused"),
        (529, json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}), "busy"),
        (503, Value::Null, "busy"),
        (200, json!({"error": {"code": 502, "message": "Provider returned error"}}), "busy"),
        (200, json!({"choices": []}), "odd"),
        (200, Value::Null, "odd"),
    ] {
        assert_eq!(kind(status, body.clone()), expected, "{status} {body}");
    }
}

#[test]
fn pages_of_gateways_are_cut_and_kept() {
    let page = format!("<html>\n<body>502 Bad Gateway {}</body></html>", "x".repeat(10_000));
    let reply = HttpReply { status: 200, retry_after: None, body: page.as_bytes() };
    let Err(Failure::Odd(said)) = Provider::OpenAi.read(reply) else { panic!() };
    assert!(said.starts_with("<html> <body>502 Bad Gateway") && said.chars().count() <= 301, "{said}");
}
