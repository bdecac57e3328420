//! Keys that must not be shared, recognised by their shape and taken out of texts.
//!
//! Only what looks like a real key is taken: a known beginning followed by as many characters as such keys have, mixed as
//! chance mixes them. Words about secrets ("password", "the token expired") and placeholders (`sk-xxxx`, `$TOKEN`) stay.
//! A key without any known beginning, such as an AWS secret access key, is not recognised.
//!
//! The beginnings and lengths are those that the issuers document or that their keys visibly have.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::ops::Range;

/// What kind of key was recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SecretKind {
    /// `sk-…`, as OpenAI, Anthropic, OpenRouter, DeepSeek and others give.
    ApiKey,
    /// `AKIA…` or `ASIA…`.
    AwsAccessKey,
    /// `ghp_…`, `gho_…`, `ghu_…`, `ghs_…`, `ghr_…`, `github_pat_…`.
    GitHubToken,
    /// `glpat-…`.
    GitLabToken,
    /// `AIza…`.
    GoogleApiKey,
    /// `hf_…`.
    HuggingFaceToken,
    /// `npm_…`.
    NpmToken,
    /// A PEM or PGP block with a private key.
    PrivateKey,
    /// `xoxb-…` and the like.
    SlackToken,
    /// `sk_live_…`, `rk_live_…`.
    StripeKey,
    /// The password in `scheme://user:password@host`.
    UrlPassword,
}

impl fmt::Display for SecretKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ApiKey => "API key",
            Self::AwsAccessKey => "AWS access key",
            Self::GitHubToken => "GitHub token",
            Self::GitLabToken => "GitLab token",
            Self::GoogleApiKey => "Google API key",
            Self::HuggingFaceToken => "Hugging Face token",
            Self::NpmToken => "npm token",
            Self::PrivateKey => "private key",
            Self::SlackToken => "Slack token",
            Self::StripeKey => "Stripe key",
            Self::UrlPassword => "password in a URL",
        })
    }
}

/// How long the part after the beginning is.
#[derive(Clone, Copy)]
enum Length {
    AtLeast(usize),
    Exactly(usize),
}

/// Which characters the part after the beginning has.
#[derive(Clone, Copy)]
enum Alphabet {
    Upper,
    Letters,
    /// Letters, digits, `-` and `_`; the longest stretch without the latter two has at least this many characters, which
    /// words joined by hyphens (`sk-learn-is-a-library`) have not.
    Joined(usize),
}

impl Alphabet {
    const fn has(self, byte: u8) -> bool {
        match self {
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Letters => byte.is_ascii_alphanumeric(),
            Self::Joined(_) => byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_',
        }
    }
}

struct Rule {
    begins: &'static str,
    kind: SecretKind,
    alphabet: Alphabet,
    length: Length,
}

const fn rule(begins: &'static str, kind: SecretKind, alphabet: Alphabet, length: Length) -> Rule {
    Rule { begins, kind, alphabet, length }
}

const RULES: [Rule; 21] = [
    rule("sk-", SecretKind::ApiKey, Alphabet::Joined(16), Length::AtLeast(20)),
    rule("AKIA", SecretKind::AwsAccessKey, Alphabet::Upper, Length::Exactly(16)),
    rule("ASIA", SecretKind::AwsAccessKey, Alphabet::Upper, Length::Exactly(16)),
    rule("ghp_", SecretKind::GitHubToken, Alphabet::Letters, Length::AtLeast(36)),
    rule("gho_", SecretKind::GitHubToken, Alphabet::Letters, Length::AtLeast(36)),
    rule("ghu_", SecretKind::GitHubToken, Alphabet::Letters, Length::AtLeast(36)),
    rule("ghs_", SecretKind::GitHubToken, Alphabet::Letters, Length::AtLeast(36)),
    rule("ghr_", SecretKind::GitHubToken, Alphabet::Letters, Length::AtLeast(36)),
    rule("github_pat_", SecretKind::GitHubToken, Alphabet::Joined(16), Length::AtLeast(40)),
    rule("glpat-", SecretKind::GitLabToken, Alphabet::Joined(8), Length::AtLeast(20)),
    rule("AIza", SecretKind::GoogleApiKey, Alphabet::Joined(8), Length::Exactly(35)),
    rule("hf_", SecretKind::HuggingFaceToken, Alphabet::Letters, Length::AtLeast(30)),
    rule("npm_", SecretKind::NpmToken, Alphabet::Letters, Length::AtLeast(36)),
    rule("xoxa-", SecretKind::SlackToken, Alphabet::Joined(10), Length::AtLeast(20)),
    rule("xoxb-", SecretKind::SlackToken, Alphabet::Joined(10), Length::AtLeast(20)),
    rule("xoxp-", SecretKind::SlackToken, Alphabet::Joined(10), Length::AtLeast(20)),
    rule("xoxr-", SecretKind::SlackToken, Alphabet::Joined(10), Length::AtLeast(20)),
    rule("xoxs-", SecretKind::SlackToken, Alphabet::Joined(10), Length::AtLeast(20)),
    rule("sk_live_", SecretKind::StripeKey, Alphabet::Letters, Length::AtLeast(16)),
    rule("sk_test_", SecretKind::StripeKey, Alphabet::Letters, Length::AtLeast(16)),
    rule("rk_live_", SecretKind::StripeKey, Alphabet::Letters, Length::AtLeast(16)),
];

impl Rule {
    /// Returns how long the key is that `text` begins with, if it does.
    fn length_in(&self, text: &str) -> Option<usize> {
        let rest = text.strip_prefix(self.begins)?.as_bytes();
        let n_bytes = rest.iter().take_while(|&&byte| self.alphabet.has(byte)).count();
        let token = &rest[..n_bytes];
        let is_long_enough = match self.length {
            Length::AtLeast(n_least) => n_bytes >= n_least,
            Length::Exactly(n_wanted) => {
                n_bytes == n_wanted && !rest.get(n_bytes).is_some_and(u8::is_ascii_alphanumeric)
            }
        };
        let n_joined = match self.alphabet {
            Alphabet::Upper => return is_long_enough.then_some(self.begins.len() + n_bytes),
            Alphabet::Letters => 0,
            Alphabet::Joined(n_joined) => n_joined,
        };
        // Chance leaves out digits or letters in few keys; placeholders and prose do in nearly all.
        let is_varied = |stretch: &[u8]| {
            stretch.len() >= n_joined
                && stretch.iter().any(u8::is_ascii_digit)
                && stretch.iter().any(u8::is_ascii_alphabetic)
        };
        let digits_only = |stretch: &[u8]| stretch.len() >= n_joined && stretch.iter().all(u8::is_ascii_digit);
        let mut stretches = token.split(|byte| matches!(byte, b'-' | b'_'));
        let is_chance = match self.kind {
            // Slack's begin with numbers of the workspace.
            SecretKind::SlackToken => stretches.any(|stretch| is_varied(stretch) || digits_only(stretch)),
            _ => stretches.any(is_varied),
        };
        (is_long_enough && is_chance).then_some(self.begins.len() + n_bytes)
    }
}

/// Returns whether a key may begin at `at`: not within a word, but after an escape such as `\n`.
fn may_begin(text: &[u8], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|before| text[before]) else { return true };
    let is_escape = at >= 2 && text[at - 2] == b'\\' && matches!(before, b'n' | b'r' | b't');
    !before.is_ascii_alphanumeric() || is_escape
}

/// Fewer characters than the shortest private key has in base64.
const MIN_PEM_BODY: usize = 40;

/// Returns how long the block with a private key is that `text` begins with, if it does.
fn private_key(text: &str) -> Option<usize> {
    let label_and_rest = text.strip_prefix("-----BEGIN ")?;
    let label_end = label_and_rest.find("-----")?;
    let label = &label_and_rest[..label_end];
    if !label.ends_with("PRIVATE KEY") && label != "PGP PRIVATE KEY BLOCK" {
        return None;
    }
    let end_mark = format!("-----END {label}-----");
    let body = &label_and_rest[label_end + 5..];
    let header_len = text.len() - body.len();
    let is_body = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=\\ \r\n\t".contains(&byte);
    let (body_len, end_len) = match body.find(&end_mark) {
        Some(body_len) => (body_len, end_mark.len()),
        // Cut off: what still looks like the block.
        None => (body.bytes().take_while(|&byte| is_body(byte)).count(), 0),
    };
    let n_body = body[..body_len].bytes().filter(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(byte)).count();
    (n_body >= MIN_PEM_BODY).then_some(header_len + body_len + end_len)
}

/// Returns where the password is in the URL whose `://` `text` begins with, if there is one.
fn url_password(text: &str) -> Option<Range<usize>> {
    let authority = text.strip_prefix("://")?;
    let ends = |character: char| character.is_whitespace() || "/?#\"'<>`\\".contains(character);
    let authority = &authority[..authority.find(ends).unwrap_or(authority.len())];
    let user_info = &authority[..authority.rfind('@')?];
    let (user, password) = user_info.split_once(':')?;
    let is_placeholder = password.starts_with(['$', '{', '[', '(', '%', '*', ':'])
        || ["", "pass", "passwd", "password", "pwd", "secret", "token"].contains(&password.to_lowercase().as_str())
        || password.chars().all(|character| matches!(character, 'x' | 'X' | '.' | '…'));
    let start = "://".len() + user.len() + 1;
    (!is_placeholder).then(|| start..start + password.len())
}

/// Returns where keys are in `text`, in order and apart from each other.
fn find(text: &str) -> Vec<(Range<usize>, SecretKind)> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let next = match bytes[at] {
            b'-' => private_key(&text[at..]).map(|length| (at..at + length, SecretKind::PrivateKey)),
            b':' => url_password(&text[at..]).map(|range| (at + range.start..at + range.end, SecretKind::UrlPassword)),
            b'A' | b'g' | b'h' | b'n' | b'r' | b's' | b'x' if may_begin(bytes, at) => RULES
                .iter()
                .find_map(|rule| Some((rule.length_in(&text[at..])?, rule.kind)))
                .map(|(length, kind)| (at..at + length, kind)),
            _ => None,
        };
        match next {
            Some((range, kind)) => {
                at = range.end;
                found.push((range, kind));
            }
            None => at += 1,
        }
    }
    found
}

/// Returns `text` with every recognised key replaced by what it was, as `[redacted: GitHub token]`, and the kinds in the
/// order found. A text already treated stays as it is. Linear in the length of the text.
pub fn redact(text: &str) -> (Cow<'_, str>, Vec<SecretKind>) {
    let found = find(text);
    if found.is_empty() {
        return (Cow::Borrowed(text), Vec::new());
    }
    let mut kept = String::with_capacity(text.len());
    let mut done = 0;
    for (range, kind) in &found {
        kept.push_str(&text[done..range.start]);
        let _infallible = write!(kept, "[redacted: {kind}]");
        done = range.end;
    }
    kept.push_str(&text[done..]);
    (Cow::Owned(kept), found.into_iter().map(|(_, kind)| kind).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(redact(text).0, expected);
    }

    /// A key is put together here, so that scanners of sources do not take it for one.
    fn key(begins: &str) -> String {
        format!("{begins}{}", "a1B2c3D4e5F6g7H8i9J0".repeat(2))
    }

    #[test]
    fn real_looking_keys_are_taken_out_whole() {
        check(&format!("key: {}.", key("sk-proj-")), "key: [redacted: API key].");
        check(&format!("{}\n", key("sk-")), "[redacted: API key]\n");
        check(&format!("TOKEN={} ok", key("ghp_")), "TOKEN=[redacted: GitHub token] ok");
        check(&key("github_pat_"), "[redacted: GitHub token]");
        check(&format!("id AKIA{}, region", "IOSFODNN7EXAMPLE"), "id [redacted: AWS access key], region");
        check(&format!("\"a\\n{}\"", key("glpat-")), "\"a\\n[redacted: GitLab token]\"");
        check(&format!("中文{}中文", key("hf_")), "中文[redacted: Hugging Face token]中文");
        check(&format!("xoxb-{}-{}", "123456789012", "abcdefghijklmn"), "[redacted: Slack token]");
        check(&key("sk_live_"), "[redacted: Stripe key]");
        check("postgres://me:hunter2@db/x", "postgres://me:[redacted: password in a URL]@db/x");
    }

    #[test]
    fn private_keys_are_taken_out_and_public_ones_stay() {
        let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n".repeat(3);
        let block = |label: &str| format!("a\n-----BEGIN {label}-----\n{body}-----END {label}-----\nb");
        for label in ["PRIVATE KEY", "RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"] {
            check(&block(label), "a\n[redacted: private key]\nb");
        }
        check(&format!("-----BEGIN PRIVATE KEY-----\n{body}"), "[redacted: private key]");
        for text in [block("CERTIFICATE"), block("PUBLIC KEY"), "look for -----BEGIN PRIVATE KEY----- in it".to_owned()]
        {
            check(&text, &text);
        }
    }

    #[test]
    fn talk_about_secrets_and_placeholders_stay() {
        for text in [
            "the password must not be empty",
            "password: the user's password, token or secret",
            "sk-learn-is-a-great-library-for-you",
            "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "risk-a1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F6",
            "use sk-... or $OPENAI_API_KEY",
            "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx and ghp_short1",
            "AKIA and ASIA are prefixes; AKIAlowercase0000000; ASIAN",
            "https://user:password@host and https://$USER:$PASS@host and https://host:8080/a@b",
            "https://example.org/sk-1 at 10:30 a@b",
            "4f2b1c9e-0000-4000-8000-1234567890ab d41d8cd98f00b204e9800998ecf8427e",
        ] {
            check(text, text);
        }
    }

    #[test]
    fn every_kind_found_is_told() {
        let text = format!("{} {} {}", key("sk-"), key("npm_"), key("sk-"));
        assert_eq!(redact(&text).1, [SecretKind::ApiKey, SecretKind::NpmToken, SecretKind::ApiKey]);
    }

    proptest! {
        #[test]
        fn treating_a_text_twice_changes_nothing_more(
            parts in prop::collection::vec(
                prop_oneof![
                    "\\PC{0,8}",
                    "(sk-|AKIA|ASIA|ghp_|AIza|hf_|://a:|-----BEGIN PRIVATE KEY-----|-----END PRIVATE KEY-----|@)",
                    "[A-Z0-9]{16}",
                    "[a-zA-Z0-9_-]{30,50}",
                ],
                0..8,
            )
        ) {
            let text = parts.concat();
            let (once, _) = redact(&text);
            let (twice, kinds) = redact(&once);
            prop_assert_eq!(&twice, &once);
            prop_assert!(kinds.is_empty());
        }
    }
}
