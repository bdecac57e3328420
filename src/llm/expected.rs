//! The expected score under the probabilities of tokens (G-Eval, Liu et al. 2023, eq. 1): Σ p(s)·s over the scores s that might have stood
//! where the score stands, their probabilities made to add up to one.

use super::Token;
use crate::judge::reply::Scale;

/// Below this share of probability on scores, their expectation says little.
const LEAST_MASS: f64 = 0.5;

/// Returns the expected score in a reply, or `None` where tokens do not tell: none given, the score made of several tokens, or most
/// probability on what is no score.
///
/// `key` is the key before the score in an object; where there is none, or it is empty, the first token that is a score counts.
pub fn expected_score(tokens: &[Token], key: &str, scale: Scale) -> Option<f64> {
    let place = place_of(tokens, key)?;
    let token = &tokens[place];
    // A digit that goes on in the next token is part of another number.
    let next = tokens.get(place + 1).map_or("", |next| next.text.as_str());
    if next.starts_with(|c: char| c.is_ascii_digit() || c == '.') && !next.trim().is_empty() && !next.starts_with(". ")
    {
        return None;
    }
    let (mut mass, mut sum) = (0.0, 0.0);
    for (text, log_probability) in &token.candidates {
        if let Some(score) = score(text).filter(|score| (scale.low..=scale.high).contains(score)) {
            let probability = log_probability.exp();
            mass += probability;
            sum += probability * score;
        }
    }
    (mass >= LEAST_MASS).then(|| sum / mass)
}

fn score(text: &str) -> Option<f64> {
    let text = text.trim();
    text.chars().all(|c| c.is_ascii_digit()).then(|| text.parse().ok())?
}

/// Returns the token that holds the value after the last `"key":`.
fn place_of(tokens: &[Token], key: &str) -> Option<usize> {
    if key.is_empty() {
        return tokens.iter().position(|token| score(&token.text).is_some());
    }
    let text: String = tokens.iter().map(|token| token.text.as_str()).collect();
    let quoted = format!("\"{key}\"");
    let after = text.rfind(&quoted)? + quoted.len();
    let colon = text[after..].find(':').map(|at| after + at + 1)?;
    let mut end = 0;
    let first = tokens.iter().position(|token| {
        end += token.text.len();
        end > colon && score(&token.text).is_some()
    })?;
    // Only blanks may stand between.
    let start: usize = tokens[..first].iter().map(|token| token.text.len()).sum();
    let between = text.get(colon..start.max(colon))?;
    (between.trim().is_empty()).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIVE: Scale = Scale { low: 1.0, high: 5.0, whole: true };

    fn tokens(texts: &[(&str, &[(&str, f64)])]) -> Vec<Token> {
        let token = |(text, candidates): &(&str, &[(&str, f64)])| Token {
            text: (*text).to_owned(),
            candidates: candidates.iter().map(|(text, p)| ((*text).to_owned(), p.ln())).collect(),
        };
        texts.iter().map(token).collect()
    }

    #[test]
    fn scores_count_by_their_probabilities() {
        let reply = tokens(&[
            ("{\"", &[]),
            ("score", &[]),
            ("\":", &[]),
            (" ", &[]),
            ("4", &[("4", 0.6), ("5", 0.3), ("x", 0.1)]),
            ("}", &[]),
        ]);
        let expected = expected_score(&reply, "score", FIVE).unwrap();
        assert!((expected - (0.6 * 4.0 + 0.3 * 5.0) / 0.9).abs() < 1e-12, "{expected}");
        assert_eq!(expected_score(&reply, "clarity", FIVE), None);
        let bare = tokens(&[("3", &[("3", 0.5), ("2", 0.5)])]);
        assert_eq!(expected_score(&bare, "", FIVE), Some(2.5));
    }

    #[test]
    fn what_does_not_tell_is_none() {
        assert_eq!(expected_score(&[], "score", FIVE), None);
        let unsure = tokens(&[("4", &[("4", 0.2), ("well", 0.8)])]);
        assert_eq!(expected_score(&unsure, "", FIVE), None);
        let ten = Scale { low: 1.0, high: 10.0, whole: true };
        let split = tokens(&[("1", &[("1", 1.0)]), ("0", &[("0", 1.0)])]);
        assert_eq!(expected_score(&split, "", ten), None);
        let text = tokens(&[("\"score\":", &[]), (" \"high\", \"n\": ", &[]), ("4", &[("4", 1.0)])]);
        assert_eq!(expected_score(&text, "score", FIVE), None);
    }
}
