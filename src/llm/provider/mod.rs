//! Providers: chat completions as OpenAI defined them, Anthropic Messages, Gemini.

mod anthropic;
mod failure;
mod gemini;
mod openai;
#[cfg(test)]
mod tests;

use std::time::Duration;

use super::{Reply, Request};
use crate::judge::file::Provider;

pub use failure::Failure;

/// A request, ready to be sent. The key is not in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpRequest {
    /// The address.
    pub url: String,
    /// Headers besides that of the key and the type of the body.
    pub headers: Vec<(&'static str, &'static str)>,
    /// The body, JSON.
    pub body: String,
}

/// The header that carries the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyHeader {
    /// Its name.
    pub name: &'static str,
    /// What stands before the key.
    pub before: &'static str,
}

/// What a server answered.
#[derive(Clone, Copy, Debug)]
pub struct HttpReply<'a> {
    /// The status.
    pub status: u16,
    /// What `Retry-After` says.
    pub retry_after: Option<Duration>,
    /// The body.
    pub body: &'a [u8],
}

impl Provider {
    /// Writes a request for a server at `endpoint`, whose query, if it has one, stays behind the path.
    pub fn write(self, endpoint: &str, request: &Request<'_>) -> HttpRequest {
        match self {
            Self::OpenAi => openai::write(endpoint, request),
            Self::Anthropic => anthropic::write(endpoint, request),
            Self::Gemini => gemini::write(endpoint, request),
        }
    }

    /// Returns the header that carries the key.
    pub fn key_header(self, endpoint: &str) -> KeyHeader {
        match self {
            Self::OpenAi if is_azure(endpoint) => KeyHeader { name: "api-key", before: "" },
            Self::OpenAi => KeyHeader { name: "authorization", before: "Bearer " },
            Self::Anthropic => KeyHeader { name: "x-api-key", before: "" },
            Self::Gemini => KeyHeader { name: "x-goog-api-key", before: "" },
        }
    }

    /// Reads what a server answered.
    ///
    /// # Errors
    /// When the server refused, is busy or broken, or wrote something else than a reply.
    pub fn read(self, reply: HttpReply<'_>) -> Result<Reply, Failure> {
        if !(200..300).contains(&reply.status) {
            return Err(failure::classify(reply));
        }
        let read = match self {
            Self::OpenAi => openai::read(reply.body),
            Self::Anthropic => anthropic::read(reply.body),
            Self::Gemini => gemini::read(reply.body),
        };
        // Some gateways answer 200 with an error in the body.
        read.ok_or_else(|| failure::of_odd_body(reply))
    }
}

fn is_azure(endpoint: &str) -> bool {
    host(endpoint).ends_with(".azure.com")
}

/// Returns the host of an address.
fn host(endpoint: &str) -> &str {
    let after = endpoint.split_once("://").map_or(endpoint, |(_, after)| after);
    let end = after.find(['/', '?', ':']).unwrap_or(after.len());
    &after[..end]
}

/// Puts a path behind an endpoint, before its query.
fn address(endpoint: &str, path: &str) -> String {
    let (base, query) = endpoint.split_once('?').map_or((endpoint, None), |(base, query)| (base, Some(query)));
    let base = base.trim_end_matches('/');
    match query {
        Some(query) => format!("{base}/{path}?{query}"),
        None => format!("{base}/{path}"),
    }
}

/// Writes a body. Bodies are made of strings, numbers and maps with text keys alone.
fn json(body: &impl serde::Serialize) -> String {
    serde_json::to_string(body).expect("a body has text keys and finite numbers")
}
