//! The tools' own recorded files, where the environment variable `ASSIZE_DATA` names the folder that holds them:
//! the reference figures are counted again from the judgements read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use assize_calibration::judgement::{Choice, Judgement, Order};
use serde_json::Value;

use crate::foreign::{Collected, outcome, try_read};

/// Returns the folder of recorded data, or `None` where none is named.
fn data() -> Option<PathBuf> {
    std::env::var_os("ASSIZE_DATA").map(PathBuf::from)
}

fn read(path: &Path) -> Vec<Judgement<'static>> {
    let (result, Collected { judgements, .. }) = try_read(path);
    let summary = result.unwrap();
    assert_eq!(summary.n_bad_rows, 0, "{}", path.display());
    judgements
}

fn reference(folder: &Path, name: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(folder.join(name)).unwrap()).unwrap()
}

fn count<'j>(judgements: &'j [Judgement<'static>], holds: impl Fn(&&'j Judgement<'static>) -> bool) -> u64 {
    judgements.iter().filter(holds).count() as u64
}

fn is_right(judgement: &Judgement<'_>) -> bool {
    judgement.label.as_ref().is_some_and(|label| label.0 == outcome(judgement))
}

/// Returns the first answer in each order, an item a row.
fn both_orders(judgements: &[Judgement<'static>]) -> BTreeMap<String, [Option<Choice>; 2]> {
    let mut pairs: BTreeMap<String, [Option<Choice>; 2]> = BTreeMap::new();
    for judgement in judgements {
        pairs.entry(judgement.item.to_string()).or_default()[usize::from(judgement.order == Some(Order::Ba))] =
            judgement.choice;
    }
    pairs
}

/// Counts pairs by what swapping did: consistent, primacy, recency, without an answer.
fn patterns(pairs: &BTreeMap<String, [Option<Choice>; 2]>) -> [u64; 4] {
    let mut counts = [0; 4];
    for answers in pairs.values() {
        // A shown first is chosen in order ab by A, in order ba by B.
        let first = |choice: Choice, own: Choice| match choice {
            Choice::Tie => 0,
            _ if choice == own => 1,
            _ => -1,
        };
        let idx = match *answers {
            [Some(straight), Some(swapped)] if straight == swapped => 0,
            [Some(straight), Some(swapped)] => {
                if first(straight, Choice::A) + first(swapped, Choice::B) > 0 {
                    1
                } else {
                    2
                }
            }
            _ => 3,
        };
        counts[idx] += 1;
    }
    counts
}

#[test]
fn llmbar_counts_are_the_tool_s_own() {
    let Some(data) = data() else { return };
    let reference = reference(&data, "llmbar_swap.ref.json");
    for (folder, subset) in [("Natural", "Natural"), ("Adversarial-GPTInst", "Adversarial/GPTInst")] {
        for judge in ["GPT-4", "ChatGPT"] {
            for strategy in ["Vanilla", "Vanilla_2shot"] {
                let path = data.join("native/llmbar").join(folder).join(judge).join(strategy).join("result.json");
                let judgements = read(&path);
                let expected = &reference["configs"][format!("{subset}|{judge}|{strategy}")];
                let right_in =
                    |order| count(&judgements, |judgement| judgement.order == Some(order) && is_right(judgement));
                assert_eq!(right_in(Order::Ab), expected["acc_order1"]["x"], "{}", path.display());
                assert_eq!(right_in(Order::Ba), expected["acc_order2"]["x"], "{}", path.display());
                let pairs = both_orders(&judgements);
                assert_eq!(pairs.len() as u64, expected["n"]);
                let [consistent, primacy, recency, unusable] = patterns(&pairs);
                let of = |name: &str| expected["pattern"][name].as_u64().unwrap_or(0);
                assert_eq!(
                    [consistent, primacy, recency, unusable],
                    ["consistent", "primacy", "recency", "unusable"].map(of)
                );
                assert_eq!((judgements[0].judge.as_ref(), judgements[0].arm.as_deref()), (judge, Some(strategy)));
            }
        }
    }
}

#[test]
fn judgebench_counts_are_the_reference_s() {
    let Some(data) = data() else { return };
    let reference = reference(&data, "pairwise_misc.ref.json");
    let name = "JudgeBench|claude-3-5-sonnet-20240620,judge_name=arena_hard,judge_model=claude-3-haiku-20240307";
    let expected = &reference["sets"][name];
    let judgements = read(&data.join("native/judgebench/claude-3-haiku.arena_hard.jsonl"));
    let right_in = |order| count(&judgements, |judgement| judgement.order == Some(order) && is_right(judgement));
    assert_eq!(right_in(Order::Ab), expected["acc_order1"]["x"]);
    assert_eq!(right_in(Order::Ba), expected["acc_order2"]["x"]);
    let both = judgements.chunks(2).filter(|pair| pair.iter().all(is_right)).count() as u64;
    assert_eq!(both, expected["both_correct"]["x"]);
    assert_eq!(count(&judgements, |judgement| judgement.is_unparsed()), expected["decisions_as_shown"]["None"]);
    let [consistent, primacy, recency, unparsed] = patterns(&both_orders(&judgements));
    let of = |name: &str| expected["pattern"][name].as_u64().unwrap();
    assert_eq!(consistent, of("consistent"));
    // The reference takes an unparsed answer for a tie when the other answer names a candidate; here such a pair has
    // no pattern. Pairs with an unparsed answer beside a tie are "other" there.
    assert_eq!(unparsed, 13);
    assert_eq!(primacy + recency + unparsed, of("primacy") + of("recency") + of("other"));
    assert_eq!(judgements[0].judge, "claude-3-haiku-20240307");
}

#[test]
fn alpaca_eval_counts_are_the_published_ones() {
    let Some(data) = data() else { return };
    let judgements = read(&data.join("native/alpaca_eval/alpaca-7b.annotations.json"));
    let chosen = |choice| count(&judgements, |judgement| judgement.choice == Some(choice));
    // The leaderboard's win rate of this model under this annotator is (205 + 16 / 2) / 805 = 26.46 %.
    assert_eq!((chosen(Choice::A), chosen(Choice::B), chosen(Choice::Tie)), (584, 205, 16));
    assert_eq!(judgements[0].judge, "alpaca_eval_gpt4");
    let items: std::collections::BTreeSet<_> = judgements.iter().map(|judgement| &judgement.item).collect();
    assert_eq!(items.len(), 805);
}

#[test]
fn position_bias_counts_are_the_reference_s() {
    let Some(data) = data() else { return };
    let expected = &reference(&data, "pba_repetition_position.ref.json")["judges"]["MTBench:claude-3-haiku-20240307"];
    let (mut n_first, mut n_chosen, mut n_unparsed) = (0, 0, 0);
    for (idx, of_run) in expected["per_repetition"].as_array().unwrap().iter().enumerate() {
        let judgements = read(&data.join(format!("native/position_bias/mtbench-rep{}-claude-3-haiku.tsv", idx + 1)));
        let counted = patterns(&both_orders(&judgements));
        assert_eq!(
            counted,
            ["consistent", "primacy", "recency", "unusable"].map(|name| of_run[name].as_u64().unwrap())
        );
        n_first += count(&judgements, |judgement| {
            matches!(
                (judgement.choice, judgement.order),
                (Some(Choice::A), Some(Order::Ab)) | (Some(Choice::B), Some(Order::Ba))
            )
        });
        n_chosen += count(&judgements, |judgement| matches!(judgement.choice, Some(Choice::A | Choice::B)));
        n_unparsed += count(&judgements, |judgement| judgement.is_unparsed());
        assert_eq!(judgements[0].judge, "claude-3-haiku-20240307");
    }
    assert_eq!(n_first, expected["first_position_preference"]["x"]);
    assert_eq!(n_chosen, expected["first_position_preference"]["n"]);
    assert_eq!(n_unparsed, expected["verdict_counts"]["N"]);
}

#[test]
fn prd_verdicts_are_the_recorded_ones() {
    let Some(data) = data() else { return };
    // The recorded verdicts, by file: the place chosen, `T` for a tie.
    let mut recorded: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut table = csv::Reader::from_path(data.join("prd_vicuna80_verdicts.csv")).unwrap();
    for row in table.records().map(Result::unwrap) {
        recorded.entry(row[5].to_owned()).or_default().push(format!("{}:{}", &row[1], &row[4]));
    }
    let mut n_files = 0;
    for entry in std::fs::read_dir(data.join("native/prd")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "jsonl") {
            continue;
        }
        let verdict = |judgement: &Judgement<'_>| {
            let question = judgement.item.split('/').next().unwrap();
            let place = match (judgement.choice.unwrap(), judgement.order.unwrap()) {
                (Choice::Tie, _) => "T",
                (Choice::A, Order::Ab) | (Choice::B, Order::Ba) => "1",
                (Choice::A, Order::Ba) | (Choice::B, Order::Ab) => "2",
            };
            format!("{question}:{place}")
        };
        let judgements = read(&path);
        let name = path.file_name().unwrap().to_str().unwrap();
        assert_eq!(judgements.iter().map(verdict).collect::<Vec<_>>(), recorded[name], "{name}");
        assert!(judgements.iter().all(|judgement| judgement.judge == "gpt35"));
        n_files += 1;
    }
    assert_eq!(n_files, 4);
}
