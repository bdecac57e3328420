//! What a reply costs: tokens as the provider counted them, else estimated; prices stated, else from a table.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::Usage;
use crate::judge::file::{Llm, Price, Provider};

const TOKENS: f64 = 1e6;

static TABLE: LazyLock<BTreeMap<String, BTreeMap<String, Price>>> =
    LazyLock::new(|| toml::from_str(include_str!("prices.toml")).expect("the table of prices is part of the tool"));

/// Returns the price of a model: the one stated, else that of the table, if the model is served by the provider itself.
///
/// `None` where nobody can say: another server may serve a model of the same name at any price.
pub fn price_of(llm: &Llm) -> Option<Price> {
    if llm.price.is_some() {
        return llm.price;
    }
    let table = match llm.provider {
        Provider::OpenAi => "openai",
        Provider::Anthropic => "anthropic",
        Provider::Gemini => "gemini",
    };
    let endpoint = llm.endpoint.as_deref().unwrap_or(llm.provider.endpoint());
    let is_own = endpoint.starts_with(llm.provider.endpoint()) || endpoint.starts_with("https://api.deepseek.com");
    let models = TABLE.get(table).filter(|_| is_own)?;
    let longest = models.iter().filter(|(name, _)| is_version_of(&llm.model, name)).max_by_key(|(name, _)| name.len());
    longest.map(|(_, price)| *price)
}

/// Whether a model is this one or a dated version of it: `gpt-4o-2024-08-06` is a `gpt-4o`, `gpt-4o-audio` may not be priced like it.
fn is_version_of(model: &str, name: &str) -> bool {
    let Some(rest) = model.strip_prefix(name) else { return false };
    rest.is_empty()
        || rest == "-latest"
        || (rest.starts_with('-') && rest.chars().all(|c| c == '-' || c.is_ascii_digit()))
}

impl Price {
    /// Returns what a reply costs.
    pub fn of(self, usage: Usage) -> f64 {
        let fresh = usage.input.saturating_sub(usage.cached) as f64;
        let cached = self.cached_input.unwrap_or(self.input) * usage.cached as f64;
        (fresh * self.input + cached + usage.output as f64 * self.output) / TOKENS
    }
}

/// Estimates the tokens of a text: about four characters of English each, one and a half of Chinese.
///
/// Tokenisers differ by a third either way; what a provider counts always stands over it.
pub fn estimated_tokens(text: &str) -> u64 {
    let (mut narrow, mut wide) = (0_u64, 0_u64);
    for c in text.chars() {
        if c.is_ascii() { narrow += 1 } else { wide += 1 }
    }
    narrow.div_ceil(4) + (wide * 2).div_ceil(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn llm(model: &str, endpoint: Option<&str>) -> Llm {
        Llm { model: model.to_owned(), endpoint: endpoint.map(str::to_owned), ..Llm::default() }
    }

    #[test]
    fn dated_versions_cost_what_the_model_costs() {
        let input = |model| price_of(&llm(model, None)).map(|price| price.input);
        assert_eq!(input("gpt-4o-2024-08-06"), Some(2.5));
        assert_eq!(input("gpt-4o-mini-2024-07-18"), Some(0.15));
        assert_eq!(input("gpt-4.1-mini"), Some(0.4));
        assert_eq!(input("gpt-4o-audio-preview"), None);
        assert_eq!(input("qwen-max"), None);
    }

    #[test]
    fn other_servers_have_prices_of_their_own() {
        assert_eq!(price_of(&llm("gpt-4o", Some("http://localhost:8080/v1"))), None);
        let stated = Price { input: 1.0, cached_input: None, output: 2.0 };
        assert_eq!(price_of(&Llm { price: Some(stated), ..llm("x", Some("http://localhost/v1")) }), Some(stated));
    }

    #[test]
    fn tokens_that_were_kept_cost_less() {
        let price = Price { input: 2.0, cached_input: Some(0.5), output: 8.0 };
        let cost = price.of(Usage { input: 1_000_000, cached: 400_000, output: 100_000 });
        assert!((cost - (1.2 + 0.2 + 0.8)).abs() < 1e-12, "{cost}");
    }
}
