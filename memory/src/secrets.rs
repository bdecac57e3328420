//! Keys that must not be shared, recognised by their shape and taken out of texts.
//!
//! Only what looks like a real key is taken: a known beginning followed by as many characters as such keys have, mixed as
//! chance mixes them. How strictly depends on the length: what has exactly the length of a key need only be more than
//! letters of one case or digits, which chance makes once in ten million keys and placeholders nearly always are.
//! Words about secrets ("password", "the token expired") and placeholders (`sk-xxxx`, `$TOKEN`) stay.
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
    /// The length at which letters must be mixed with digits.
    length: Length,
    /// The length that keys are known to have, at which letters alone will do.
    known: Option<Length>,
}

const fn rule(begins: &'static str, kind: SecretKind, alphabet: Alphabet, length: Length) -> Rule {
    Rule { begins, kind, alphabet, length, known: None }
}

impl Rule {
    const fn known(self, length: Length) -> Self {
        Self { known: Some(length), ..self }
    }
}

const RULES: [Rule; 25] = [
    // Before the plain `sk-`, whose rule would miss those that happen to have a `-` or `_` every few characters.
    rule("sk-proj-", SecretKind::ApiKey, Alphabet::Joined(16), Length::AtLeast(20)).known(Length::AtLeast(40)),
    rule("sk-svcacct-", SecretKind::ApiKey, Alphabet::Joined(16), Length::AtLeast(20)).known(Length::AtLeast(40)),
    rule("sk-admin-", SecretKind::ApiKey, Alphabet::Joined(16), Length::AtLeast(20)).known(Length::AtLeast(40)),
    rule("sk-ant-", SecretKind::ApiKey, Alphabet::Joined(16), Length::AtLeast(20)).known(Length::AtLeast(80)),
    rule("sk-", SecretKind::ApiKey, Alphabet::Joined(16), Length::AtLeast(20)).known(Length::Exactly(48)),
    rule("AKIA", SecretKind::AwsAccessKey, Alphabet::Upper, Length::Exactly(16)),
    rule("ASIA", SecretKind::AwsAccessKey, Alphabet::Upper, Length::Exactly(16)),
    rule("ghp_", SecretKind::GitHubToken, Alphabet::Letters, Length::AtLeast(36)).known(Length::Exactly(36)),
    rule("gho_", SecretKind::GitHubToken, Alphabet::Letters, Length::AtLeast(36)).known(Length::Exactly(36)),
    rule("ghu_", SecretKind::GitHubToken, Alphabet::Letters, Length::AtLeast(36)).known(Length::Exactly(36)),
    rule("ghs_", SecretKind::GitHubToken, Alphabet::Letters, Length::AtLeast(36)).known(Length::Exactly(36)),
    rule("ghr_", SecretKind::GitHubToken, Alphabet::Letters, Length::AtLeast(36)).known(Length::Exactly(36)),
    rule("github_pat_", SecretKind::GitHubToken, Alphabet::Joined(16), Length::AtLeast(40)).known(Length::Exactly(82)),
    rule("glpat-", SecretKind::GitLabToken, Alphabet::Joined(8), Length::AtLeast(20)).known(Length::Exactly(20)),
    rule("AIza", SecretKind::GoogleApiKey, Alphabet::Joined(8), Length::Exactly(35)).known(Length::Exactly(35)),
    rule("hf_", SecretKind::HuggingFaceToken, Alphabet::Letters, Length::AtLeast(30)).known(Length::Exactly(34)),
    rule("npm_", SecretKind::NpmToken, Alphabet::Letters, Length::AtLeast(36)).known(Length::Exactly(36)),
    rule("xoxa-", SecretKind::SlackToken, Alphabet::Joined(10), Length::AtLeast(20)),
    rule("xoxb-", SecretKind::SlackToken, Alphabet::Joined(10), Length::AtLeast(20)),
    rule("xoxp-", SecretKind::SlackToken, Alphabet::Joined(10), Length::AtLeast(20)),
    rule("xoxr-", SecretKind::SlackToken, Alphabet::Joined(10), Length::AtLeast(20)),
    rule("xoxs-", SecretKind::SlackToken, Alphabet::Joined(10), Length::AtLeast(20)),
    rule("sk_live_", SecretKind::StripeKey, Alphabet::Letters, Length::AtLeast(16)).known(Length::AtLeast(24)),
    rule("sk_test_", SecretKind::StripeKey, Alphabet::Letters, Length::AtLeast(16)).known(Length::AtLeast(24)),
    rule("rk_live_", SecretKind::StripeKey, Alphabet::Letters, Length::AtLeast(16)).known(Length::AtLeast(24)),
];

impl Rule {
    /// Returns how long the key is that `text` begins with, if it does.
    fn length_in(&self, text: &str) -> Option<usize> {
        let rest = text.strip_prefix(self.begins)?.as_bytes();
        let n_bytes = rest.iter().take_while(|&&byte| self.alphabet.has(byte)).count();
        let (token, after) = rest.split_at(n_bytes);
        let has = |length: Length| match length {
            Length::AtLeast(n_least) => n_bytes >= n_least,
            Length::Exactly(n_wanted) => n_bytes == n_wanted && !after.first().is_some_and(u8::is_ascii_alphanumeric),
        };
        let n_tail = match self.kind {
            SecretKind::GitLabToken if n_bytes >= MIN_GITLAB_PAYLOAD => gitlab_tail(after),
            _ => 0,
        };
        let is_key = match self.alphabet {
            Alphabet::Upper => has(self.length),
            _ if n_tail > 0 || self.known.is_some_and(has) => is_more_than_words(token),
            _ => has(self.length) && self.is_varied(token),
        };
        is_key.then_some(self.begins.len() + n_bytes + n_tail)
    }

    /// Returns whether letters are mixed with digits in a stretch that is long enough. Chance leaves out either in few long
    /// keys; placeholders and prose do in nearly all.
    fn is_varied(&self, token: &[u8]) -> bool {
        let n_joined = match self.alphabet {
            Alphabet::Upper | Alphabet::Letters => 0,
            Alphabet::Joined(n_joined) => n_joined,
        };
        token.split(|byte| matches!(byte, b'-' | b'_')).filter(|stretch| stretch.len() >= n_joined).any(|stretch| {
            let has_digit = stretch.iter().any(u8::is_ascii_digit);
            // Slack's begin with numbers of the workspace.
            let is_number_of_slack = self.kind == SecretKind::SlackToken && stretch.iter().all(u8::is_ascii_digit);
            has_digit && (stretch.iter().any(u8::is_ascii_alphabetic) || is_number_of_slack)
        })
    }
}

/// Returns whether at least two of small letters, capitals and digits occur.
fn is_more_than_words(token: &[u8]) -> bool {
    let kinds: [fn(&u8) -> bool; 3] = [u8::is_ascii_lowercase, u8::is_ascii_uppercase, u8::is_ascii_digit];
    kinds.into_iter().filter(|is_kind| token.iter().any(is_kind)).count() >= 2
}

/// The fewest characters of a GitLab token that has a length and a checksum behind it.
const MIN_GITLAB_PAYLOAD: usize = 27;

/// Returns how long the tail of a newer GitLab token is, a version (not in all), a length and a checksum, as
/// `.01.1a2b3c4d5`; 0 without one.
fn gitlab_tail(after: &[u8]) -> usize {
    let is_digit = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let has_part = |at: usize, n: usize| {
        after.get(at) == Some(&b'.')
            && after.get(at + 1..=at + n).is_some_and(|part| part.iter().all(is_digit))
            && !after.get(at + n + 1).is_some_and(u8::is_ascii_alphanumeric)
    };
    match (has_part(0, 2) && has_part(3, 9), has_part(0, 9)) {
        (true, _) => 13,
        (false, true) => 10,
        (false, false) => 0,
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
    use proptest::strategy::ValueTree as _;

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

    /// Chance alone decides on the letters of a key, so that some have no digit, or a `-` every few characters.
    #[test]
    fn no_random_key_of_any_kind_is_let_through() {
        const N_KEYS: usize = 1_000;
        use SecretKind::{
            ApiKey, AwsAccessKey, GitHubToken, GitLabToken, GoogleApiKey, HuggingFaceToken, NpmToken, PrivateKey,
            SlackToken, StripeKey, UrlPassword,
        };
        let mut runner = proptest::test_runner::TestRunner::deterministic();
        for (kind, before, form, after) in [
            (ApiKey, "", "sk-[A-Za-z0-9]{48}", ""),
            (ApiKey, "", "sk-[0-9a-f]{32}", ""),
            (ApiKey, "", "sk-or-v1-[0-9a-f]{64}", ""),
            (ApiKey, "", "sk-(proj|svcacct|admin)-[A-Za-z0-9_-]{156}", ""),
            (ApiKey, "", "sk-ant-api03-[A-Za-z0-9_-]{93}AA", ""),
            (AwsAccessKey, "", "(AKIA|ASIA)[A-Z2-7]{16}", ""),
            (GitHubToken, "", "gh[pousr]_[A-Za-z0-9]{36}", ""),
            (GitHubToken, "", "github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}", ""),
            (GitLabToken, "", "glpat-[A-Za-z0-9_-]{20}", ""),
            (GitLabToken, "", "glpat-[A-Za-z0-9_-]{27}\\.01\\.[0-9a-z]{9}", ""),
            (GitLabToken, "", "glpat-[A-Za-z0-9_-]{27,60}\\.[0-9a-z]{9}", ""),
            (GoogleApiKey, "", "AIza[A-Za-z0-9_-]{35}", ""),
            (HuggingFaceToken, "", "hf_[A-Za-z]{34}", ""),
            (HuggingFaceToken, "", "hf_[A-Za-z0-9]{34}", ""),
            (NpmToken, "", "npm_[A-Za-z0-9]{36}", ""),
            (PrivateKey, "", "-----BEGIN PRIVATE KEY-----\n([A-Za-z0-9+/]{64}\n){2,5}-----END PRIVATE KEY-----", ""),
            (SlackToken, "", "xox[abprs]-[0-9]{12}-[0-9]{12}-[A-Za-z0-9]{24}", ""),
            (StripeKey, "", "(sk_live|sk_test|rk_live)_[A-Za-z0-9]{24}", ""),
            (UrlPassword, "postgres://me:", "[A-Za-z0-9]{8,40}", "@db/x"),
        ] {
            let keys = prop::string::string_regex(form).unwrap();
            for _ in 0..N_KEYS {
                let key = keys.new_tree(&mut runner).unwrap().current();
                // A comma and a full stop may follow a key and are no part of it.
                for next in [" ok", ".", ", ", "\\n"] {
                    let expected = format!("a {before}[redacted: {kind}]{after}{next}");
                    check(&format!("a {before}{key}{after}{next}"), &expected);
                }
            }
        }
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
            "ghp_XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX and hf_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "glpat-your-token-goes-here and glpat-xxxxxxxxxxxxxxxxxxxx and sk_test_000000000000000000000000",
            "hf_hub_download, npm_config_registry, npm_lifecycle_event_of_a_package_script, glpat-is-the-beginning",
            "sk-ant-is-an-animal-that-lives-in-a-hill-and-carries-leaves-all-day-long-without-a-rest-or-a-sip-of-water",
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
