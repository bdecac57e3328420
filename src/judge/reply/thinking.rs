//! Thinking that some models write before they answer.

use std::borrow::Cow;

const TAGS: [&str; 5] = ["think", "thinking", "thought", "reasoning", "reflection"];

/// Returns the reply without its thinking, or nothing where it ends before the thinking does.
///
/// Servers whose template opens the thinking leave out the opening tag: a closing one alone ends what stands before it.
pub(super) fn without(reply: &str) -> Option<Cow<'_, str>> {
    let mut said = Cow::Borrowed(reply);
    for tag in TAGS {
        let (opening, closing) = (format!("<{tag}>"), format!("</{tag}>"));
        if find(&said, &closing).is_some() {
            said = Cow::Owned(outside(&said, &opening, &closing));
        }
        if let Some(start) = find(&said, &opening) {
            // Only what opens the reply is thinking: later, the tag may be part of what is judged.
            if said[..start].trim().is_empty() {
                return None;
            }
        }
    }
    Some(said)
}

/// Returns what stands outside these tags.
fn outside(text: &str, opening: &str, closing: &str) -> String {
    let mut outside = String::new();
    let mut rest = text;
    while let Some(end) = find(rest, closing) {
        outside.push_str(&rest[..find(&rest[..end], opening).unwrap_or(0)]);
        rest = &rest[end + closing.len()..];
    }
    outside + rest
}

/// Finds a tag in any case.
fn find(text: &str, tag: &str) -> Option<usize> {
    let (text, tag) = (text.as_bytes(), tag.as_bytes());
    text.windows(tag.len()).position(|window| window.eq_ignore_ascii_case(tag))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinking_is_left_out() {
        assert_eq!(without("<think>4? no, 3</think> 3").as_deref(), Some(" 3"));
        assert_eq!(without("4? no, 3</THINK>3").as_deref(), Some("3"));
        assert_eq!(without("<thinking>a</thinking>b<thinking>c</thinking>d").as_deref(), Some("bd"));
        assert_eq!(without("<think>it will be 3").as_deref(), None);
        assert_eq!(without("the tag <think> is unusual: 3").as_deref(), Some("the tag <think> is unusual: 3"));
        assert_eq!(without("é</think>é").as_deref(), Some("é"));
    }
}
