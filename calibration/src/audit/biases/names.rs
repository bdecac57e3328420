//! Whether a judge and a maker of items are one model, told by their names.

/// Returns a name with what does not tell models apart taken out: the provider before a slash, case, marks between words, and at the
/// end dates, build numbers and words such as `latest`. `openai/GPT-4-0125-preview` is `gpt4`, and so is `gpt_4`.
///
/// Names of sizes and kinds stay: `gpt-4-turbo` is not `gpt-4`.
pub(super) fn plain(name: &str) -> String {
    let own = name.rsplit('/').next().unwrap_or(name).to_lowercase();
    let mut words: Vec<&str> = own.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    while words.len() > 1 && is_edition(&words) {
        words.pop();
    }
    words.concat()
}

/// Returns whether the last word only dates the model.
fn is_edition(words: &[&str]) -> bool {
    let Some(last) = words.last() else { return false };
    let is_number = |word: &str, n: usize| word.len() == n && word.bytes().all(|byte| byte.is_ascii_digit());
    // 2024-04-09: the year, and what stands after it.
    let is_dated = |from_end: usize| {
        let year = words.len().checked_sub(from_end + 1).and_then(|idx| words.get(idx));
        year.is_some_and(|year| is_number(year, 4) && year.starts_with("20"))
    };
    matches!(*last, "latest" | "preview")
        || is_number(last, 4)
        || is_number(last, 6)
        || is_number(last, 8)
        || (is_number(last, 2) && (is_dated(1) || is_dated(2)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn editions_and_spellings_are_one_model_and_kinds_are_not() {
        for (name, expected) in [
            ("gpt-4-0125", "gpt4"),
            ("GPT-4", "gpt4"),
            ("openai/gpt-4-0125-preview", "gpt4"),
            ("gpt-4-turbo-2024-04-09", "gpt4turbo"),
            ("claude-3-haiku-20240307", "claude3haiku"),
            ("Claude 3 Haiku", "claude3haiku"),
            ("gpt-3.5", "gpt35"),
            ("gpt35", "gpt35"),
            ("vicuna-13b-v1.3", "vicuna13bv13"),
            ("gemini-1.5-pro-latest", "gemini15pro"),
            ("0613", "0613"),
            ("", ""),
            ("模型-4", "模型4"),
        ] {
            assert_eq!(plain(name), expected, "{name}");
        }
    }
}
