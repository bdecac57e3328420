//! `LLMBar`'s `result.json`: pairs with a gold label, each judged in both orders.

use std::path::Path;

use assize_calibration::judgement::{Choice, Judgement, Order};
use serde_json::Value;

use super::out::{Out, bad};
use super::{ForeignFormat, Input, Opening, ReadError, ReadSummary, Sink, json, value};

const IN_ORDER: &str = "swap = False";
const SWAPPED: &str = "swap = True";

/// `LLMBar`'s `result.json`.
pub(super) struct LlmBar;

impl ForeignFormat for LlmBar {
    fn name(&self) -> &'static str {
        "LLMBar result.json"
    }

    fn recognises(&self, opening: &Opening<'_>) -> bool {
        opening.has_keys(&["input", "output_1", "output_2", "label", "results"])
    }

    fn read(&self, input: &mut Input, sink: &mut dyn Sink) -> Result<ReadSummary, ReadError> {
        let setting = Setting::from_path(&input.path);
        let mut out = Out::new(self, input, sink);
        let mut n_seen = 0_u64;
        json::read_records(input, &mut out, &mut |record, line, out| {
            n_seen += 1;
            let item = match &setting {
                Some(setting) if !setting.subset.is_empty() => format!("{}/{n_seen}", setting.subset),
                _ => n_seen.to_string(),
            };
            let Some(stages) = record.get("results").and_then(Value::as_array) else {
                return bad("there is no list `results`");
            };
            // A strategy of several stages records each; the last one is its answer.
            let Some(last) = stages.last() else { return bad("`results` is empty") };
            let label = match record.get("label").and_then(value::scalar).as_deref() {
                Some("1") => Some("a"),
                Some("2") => Some("b"),
                _ => None,
            };
            let text = |key| value::text(record, key).unwrap_or_default();
            let (question, a, b) = (text("input"), text("output_1"), text("output_2"));
            let content = value::digest([question, a, b]);
            for (key, order) in [(IN_ORDER, Order::Ab), (SWAPPED, Order::Ba)] {
                let Some(answer) = last.get(key) else {
                    out.warn(
                        "missing-order",
                        line,
                        &format!("`{key}` is missing: the pair was judged in one order only"),
                    );
                    continue;
                };
                // The winner stands in the original numbering in both orders.
                let choice = match answer.get("winner").and_then(value::scalar).as_deref() {
                    Some("1") => Some(Choice::A),
                    Some("2") => Some(Choice::B),
                    _ => None,
                };
                let completion = answer.get("completion");
                let reply = completion.map(|reply| reply.get(0).unwrap_or(reply)).and_then(value::written);
                let raw = match (choice, reply) {
                    (None, None) => answer.get("winner").and_then(value::written),
                    (_, reply) => reply,
                };
                let judgement = Judgement {
                    item: item.as_str().into(),
                    judge: setting.as_ref().map(|setting| setting.judge.as_str()).unwrap_or_default().into(),
                    arm: setting.as_ref().map(|setting| setting.strategy.as_str().into()),
                    choice,
                    order: Some(order),
                    label: label.map(Into::into),
                    content: Some(content.as_str().into()),
                    raw,
                    ..Judgement::default()
                };
                out.put(value::with_lengths(judgement, Some(a), Some(b)), line)?;
            }
            Ok(())
        })?;
        out.finish(&input.path, "give the result.json of an evaluator, not the dataset")
    }
}

/// What the folders of `…/SUBSET/evaluators/JUDGE/STRATEGY/result.json` say.
struct Setting {
    subset: String,
    judge: String,
    strategy: String,
}

impl Setting {
    /// Returns what the folders say, or `None` where they are not named as `LLMBar` names them.
    fn from_path(path: &Path) -> Option<Self> {
        let mut folders = path.parent()?.components().rev().filter_map(|part| part.as_os_str().to_str());
        let (strategy, judge) = (folders.next()?, folders.next()?);
        let mut above = folders.next().unwrap_or_default();
        let known = ["Vanilla", "CoT", "Metrics", "Reference", "Swap", "ChatEval"];
        if above != "evaluators" && !known.iter().any(|name| strategy.starts_with(name)) {
            return None;
        }
        if above == "evaluators" {
            above = folders.next().unwrap_or_default();
        }
        let subset = match folders.next() {
            Some("Adversarial") => format!("Adversarial/{above}"),
            _ => above.to_owned(),
        };
        Some(Self { subset, judge: judge.to_owned(), strategy: strategy.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_name_subset_judge_and_strategy() {
        let setting = |path: &str| {
            Setting::from_path(Path::new(path)).map(|found| [found.subset, found.judge, found.strategy].join("|"))
        };
        assert_eq!(setting("Natural/GPT-4/Vanilla/result.json").as_deref(), Some("Natural|GPT-4|Vanilla"));
        let deep = "LLMBar/Adversarial/GPTInst/evaluators/ChatGPT/CoT/result.json";
        assert_eq!(setting(deep).as_deref(), Some("Adversarial/GPTInst|ChatGPT|CoT"));
        assert_eq!(setting("downloads/today/result.json"), None);
        assert_eq!(setting("result.json"), None);
    }
}
