//! Untrusted text made fit to show: what a model wrote may hold terminal escapes, controls and marks that reorder
//! the line. Each renderer then escapes for its own syntax.

use std::iter::Peekable;
use std::str::Chars;

/// What stands in place of a character that must not be shown.
pub(crate) const REPLACEMENT: char = '\u{fffd}';

/// Returns `text` on one line, without ANSI escape sequences; controls, bidirectional marks and other invisible
/// characters are replaced by U+FFFD, so that a reader sees that something was there.
#[must_use]
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' | '\u{9b}' => skip_escape(c, &mut chars),
            '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}' => {
                if !out.ends_with(' ') {
                    out.push(' ');
                }
            }
            c if is_hidden(c) => out.push(REPLACEMENT),
            c => out.push(c),
        }
    }
    out.truncate(out.trim_end().len());
    out
}

/// Skips the rest of an ANSI sequence: CSI up to its final byte, a string sequence up to its terminator.
fn skip_escape(first: char, chars: &mut Peekable<Chars<'_>>) {
    let kind = if first == '\u{9b}' { Some('[') } else { chars.next() };
    match kind {
        Some('[') => {
            while let Some(c) = chars.next_if(|c| ('\u{20}'..='\u{7e}').contains(c)) {
                if ('\u{40}'..='\u{7e}').contains(&c) {
                    break;
                }
            }
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            // An unended string sequence must not swallow the rest of the text: it ends at the next control.
            while let Some(c) = chars.next_if(|c| !c.is_control() || *c == '\u{1b}') {
                if c == '\u{1b}' {
                    chars.next_if_eq(&'\\');
                    return;
                }
            }
            chars.next_if_eq(&'\u{7}');
        }
        _ => {}
    }
}

/// Returns whether a character is unseen or moves others: controls, bidirectional marks, tags, fillers.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
            | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{fdd0}'..='\u{fdef}' | '\u{fffe}' | '\u{ffff}' | '\u{e0000}'..='\u{e0fff}')
}

/// Returns `text` made visible and cut to `max` characters, the last being `…` when something is missing.
#[must_use]
pub(crate) fn cut(text: &str, max: usize) -> String {
    let text = visible(text);
    if text.chars().count() <= max {
        return text;
    }
    let mut out: String = text.chars().take(max.saturating_sub(1)).collect();
    out.push('…');
    out
}

/// Returns `text` made visible, its per cent signs kept on the line of their number.
#[must_use]
pub(crate) fn prose(text: &str) -> String {
    visible(text).replace(" %", "\u{a0}%")
}

/// Returns `text` as a sentence: first letter in upper case unless it begins an identifier, with a full stop.
#[must_use]
pub(crate) fn sentence(text: &str) -> String {
    let text = prose(text);
    let trimmed = text.trim();
    let mut chars = trimmed.chars();
    let Some(first) = chars.next() else { return String::new() };
    let first_word = trimmed.split(' ').next().unwrap_or_default();
    let is_name = first_word.contains(|c: char| c == '_' || c.is_ascii_digit() || c.is_uppercase());
    let mut out: String = if is_name { trimmed.to_owned() } else { first.to_uppercase().chain(chars).collect() };
    if !out.ends_with(['.', '!', '?', '。', '！', '？', '…', ':']) {
        out.push('.');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_escapes_vanish_and_hidden_marks_show() {
        let cases = [
            ("a\u{1b}[31mred\u{1b}[0m", "ared"),
            ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{7}!", "link!"),
            ("abc\u{202e}dlo", "abc\u{fffd}dlo"),
            ("two\r\nlines", "two lines"),
            ("\u{9b}2Jx", "x"),
            ("\u{1b}]unended\nrest", " rest"),
            ("中文\u{0}好", "中文\u{fffd}好"),
        ];
        for (text, expected) in cases {
            assert_eq!(visible(text), expected, "{text:?}");
        }
    }

    #[test]
    fn long_text_is_cut_by_characters() {
        assert_eq!(cut("评分一二三四", 4), "评分一…");
        assert_eq!(cut("short", 5), "short");
    }

    #[test]
    fn a_sentence_starts_large_and_ends_with_a_stop() {
        assert_eq!(sentence("it is so"), "It is so.");
        assert_eq!(sentence("Done."), "Done.");
        assert_eq!(sentence("  "), "");
        assert_eq!(sentence("flip_rate is high"), "flip_rate is high.");
    }
}
