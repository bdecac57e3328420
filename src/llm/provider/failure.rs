//! Why a server gave no reply, told by what can be done about it.

use std::time::Duration;

use serde_json::Value;

use super::HttpReply;

/// Why there is no reply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// Too many requests for now.
    #[error("the server wants fewer requests: {message}")]
    Rate {
        /// How long it wants to be left alone.
        retry_after: Option<Duration>,
        /// What it says.
        message: String,
    },
    /// The account has nothing left; waiting does not help.
    #[error("the account’s quota is used up: {0}")]
    Quota(String),
    /// The key is missing, wrong, or may not do this.
    #[error("the server does not accept the key: {0}")]
    Key(String),
    /// The server knows no such model or address.
    #[error("the server knows no such model or address: {0}")]
    Unknown(String),
    /// The server cannot enforce a schema.
    #[error("the server cannot enforce the form of the answer: {0}")]
    Form(String),
    /// The question is longer than the model reads.
    #[error("the question is too long for the model: {0}")]
    TooLong(String),
    /// The provider will not answer this question.
    #[error("the provider withholds the answer: {0}")]
    Withheld(String),
    /// The request is wrong in another way; sending it again does not help.
    #[error("the server refuses the request (status {status}): {message}")]
    Refused {
        /// The status.
        status: u16,
        /// What it says.
        message: String,
    },
    /// The server is overloaded or broken for now.
    #[error("the server failed (status {status}): {message}")]
    Busy {
        /// The status.
        status: u16,
        /// How long it wants to be left alone.
        retry_after: Option<Duration>,
        /// What it says.
        message: String,
    },
    /// The answer is no reply: cut off, HTML, or JSON of another kind.
    #[error("the server answered something else than a reply: {0}")]
    Odd(String),
    /// There was no answer at all.
    #[error("no answer: {0}")]
    Network(String),
}

impl Failure {
    /// Whether the same request may succeed when it is sent again.
    pub const fn is_passing(&self) -> bool {
        matches!(self, Self::Rate { .. } | Self::Busy { .. } | Self::Odd(_) | Self::Network(_))
    }

    /// Whether every other request would fail in the same way, so that a run must stop.
    pub const fn is_final(&self) -> bool {
        matches!(self, Self::Quota(_) | Self::Key(_) | Self::Unknown(_))
    }

    /// Returns how long the server wants to be left alone.
    pub const fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Rate { retry_after, .. } | Self::Busy { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}

/// Most characters of what a server says that are kept.
const MOST: usize = 300;

/// Tells a refusal by its status and body.
pub(super) fn classify(reply: HttpReply<'_>) -> Failure {
    let body: Value = serde_json::from_slice(reply.body).unwrap_or(Value::Null);
    let message = message_of(&body).unwrap_or_else(|| plain(reply.body));
    let words = format!("{} {}", code_of(&body), message).to_lowercase();
    let says = |any_of: &[&str]| any_of.iter().any(|word| words.contains(word));
    let is_spent = || {
        says(&[
            "insufficient_quota",
            "insufficient balance",
            "credit balance",
            "billing",
            "payment",
            "exceeded your current quota",
        ])
    };
    match reply.status {
        401 | 403 => Failure::Key(message),
        402 => Failure::Quota(message),
        404 => Failure::Unknown(message),
        // A daily quota is renewed, but not while anyone waits for a run.
        429 if is_spent() || says(&["perday", "per day", "daily"]) => Failure::Quota(message),
        429 => Failure::Rate { retry_after: reply.retry_after.or_else(|| delay_of(&body)), message },
        400 | 413 | 422 => {
            if is_spent() {
                Failure::Quota(message)
            } else if says(&["api key not valid", "api_key_invalid", "invalid api key"]) {
                Failure::Key(message)
            } else if says(&[
                "context_length",
                "context length",
                "maximum context",
                "too long",
                "too many tokens",
                "exceeds the context",
                "token limit",
            ]) || reply.status == 413
            {
                Failure::TooLong(message)
            } else if says(&["content_filter", "content management", "content policy", "safety"]) {
                Failure::Withheld(message)
            } else if says(&[
                "response_format",
                "json_schema",
                "responsejsonschema",
                "response_schema",
                "structured output",
                "guided_json",
                "grammar",
            ]) {
                Failure::Form(message)
            } else if says(&["model_not_found", "does not exist", "no such model", "not a valid model"]) {
                Failure::Unknown(message)
            } else {
                Failure::Refused { status: reply.status, message }
            }
        }
        408 | 409 | 425 | 500..=599 => {
            Failure::Busy { status: reply.status, retry_after: reply.retry_after.or_else(|| delay_of(&body)), message }
        }
        status => Failure::Refused { status, message },
    }
}

/// Tells a body that came with a status of success and is no reply.
pub(super) fn of_odd_body(reply: HttpReply<'_>) -> Failure {
    let body: Value = serde_json::from_slice(reply.body).unwrap_or(Value::Null);
    if body.get("error").is_some_and(|error| !error.is_null()) {
        let code = body["error"]["code"].as_u64().and_then(|code| u16::try_from(code).ok());
        return classify(HttpReply { status: code.filter(|code| (400..600).contains(code)).unwrap_or(500), ..reply });
    }
    Failure::Odd(plain(reply.body))
}

/// Returns what a body says, as the providers put it.
fn message_of(body: &Value) -> Option<String> {
    let first = body.as_array().and_then(|list| list.first()).unwrap_or(body);
    let places = [&first["error"]["message"], &first["message"], &first["detail"], &first["error"]];
    let text = places.into_iter().find_map(Value::as_str)?;
    // What a gateway passes on of the provider behind it.
    let behind = first["error"]["metadata"]["raw"].as_str().unwrap_or_default();
    Some(cut(format!("{text} {behind}").trim()))
}

/// Returns all the words by which a body names its kind of error.
fn code_of(body: &Value) -> String {
    let first = body.as_array().and_then(|list| list.first()).unwrap_or(body);
    let error = &first["error"];
    let named = [&error["code"], &error["type"], &error["status"], &error["innererror"]["code"]];
    let mut words: Vec<&str> = named.into_iter().filter_map(Value::as_str).collect();
    let details = error["details"].as_array().into_iter().flatten();
    for violation in details.flat_map(|detail| detail["violations"].as_array().into_iter().flatten()) {
        words.extend(violation["quotaId"].as_str());
    }
    words.join(" ")
}

/// Returns the delay that Gemini states in the body, such as `"retryDelay": "27s"`.
fn delay_of(body: &Value) -> Option<Duration> {
    let first = body.as_array().and_then(|list| list.first()).unwrap_or(body);
    let details = first["error"]["details"].as_array()?;
    let delay = details.iter().find_map(|detail| detail["retryDelay"].as_str())?;
    delay.strip_suffix('s')?.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
}

fn plain(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.is_empty() { "nothing".to_owned() } else { cut(&words.join(" ")) }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
