//! Other tools' files, recognised by content and read into judgements.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use assize::formats::{ReadError, ReadOptions, ReadSummary, Sink, read};
use assize_calibration::judgement::{Choice, Judgement, LabelText, Order, Verdict};
use assize_calibration::problem::{Problem, Problems};

/// Everything that was read.
#[derive(Default)]
pub(crate) struct Collected {
    pub(crate) judgements: Vec<Judgement<'static>>,
    pub(crate) problems: Problems,
}

impl Sink for Collected {
    #[expect(clippy::panic_in_result_fn, reason = "a judgement that is none fails the test that reads it")]
    fn judgement(&mut self, judgement: &Judgement<'_>, _: u64) -> Result<(), ReadError> {
        // Through the plain log and back: what is read must be a line of it.
        let line = serde_json::to_string(judgement).unwrap();
        let again: Judgement<'static> = serde_json::from_str(&line).unwrap();
        assert_eq!(&again, judgement, "{line}");
        let outcomes = [
            judgement.score.is_some(),
            judgement.verdict.is_some(),
            judgement.choice.is_some(),
            judgement.category.is_some(),
        ];
        assert!(outcomes.iter().filter(|&&stated| stated).count() <= 1, "more than one outcome: {line}");
        assert!(!judgement.item.is_empty() && !judgement.judge.is_empty(), "no item or judge: {line}");
        self.judgements.push(again);
        Ok(())
    }

    fn problem(&mut self, problem: Problem) {
        self.problems.add(problem);
    }
}

impl Collected {
    /// Returns the codes of the problems and how often each was seen.
    fn codes(&self) -> BTreeMap<&str, u64> {
        self.problems.as_slice().iter().map(|problem| (problem.code.as_str(), problem.count)).collect()
    }
}

pub(crate) fn try_read(path: &Path) -> (Result<ReadSummary, ReadError>, Collected) {
    let mut collected = Collected::default();
    let result = read(path, &ReadOptions::default(), &mut collected);
    (result, collected)
}

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/foreign").join(name)
}

/// Reads a sample and asserts what it was recognised as.
fn read_sample(name: &str, format: &str) -> (ReadSummary, Collected) {
    let (result, collected) = try_read(&sample(name));
    let summary = result.unwrap();
    assert_eq!(summary.format, format);
    (summary, collected)
}

/// Returns an outcome as a short word: `a`, `b`, `tie`, `accept`, `reject`, a number, a category, `-` for unparsed.
pub(crate) fn outcome(judgement: &Judgement<'_>) -> String {
    if let Some(score) = judgement.score {
        return score.to_string();
    }
    match (judgement.verdict, judgement.choice, judgement.category.as_deref()) {
        (Some(Verdict::Accept), ..) => "accept".to_owned(),
        (Some(Verdict::Reject), ..) => "reject".to_owned(),
        (_, Some(Choice::A), _) => "a".to_owned(),
        (_, Some(Choice::B), _) => "b".to_owned(),
        (_, Some(Choice::Tie), _) => "tie".to_owned(),
        (.., Some(category)) => category.to_owned(),
        _ => "-".to_owned(),
    }
}

fn outcomes(collected: &Collected) -> String {
    collected.judgements.iter().map(outcome).collect::<Vec<_>>().join(" ")
}

#[test]
fn llmbar_takes_the_last_stage_and_keeps_the_original_numbering() {
    let (summary, read) = read_sample("llmbar/Natural/GPT-4/Vanilla/result.json", "LLMBar result.json");
    assert_eq!((summary.n_rows, summary.n_bad_rows), (4, 0));
    assert_eq!(outcomes(&read), "a a a b b b a -");
    let first = &read.judgements[0];
    assert_eq!(
        (first.item.as_ref(), first.judge.as_ref(), first.arm.as_deref()),
        ("Natural/1", "GPT-4", Some("Vanilla"))
    );
    assert_eq!((first.order, read.judgements[1].order), (Some(Order::Ab), Some(Order::Ba)));
    assert_eq!((first.length_a, first.length_b, first.group.as_deref()), (Some(4.0), Some(5.0), None));
    assert_eq!(read.judgements[2].label, Some(LabelText::from("b")));
    assert_eq!(read.judgements[7].raw.as_deref(), Some("Both are fine."));
}

#[test]
fn judgebench_turns_places_into_candidates() {
    let (_, read) = read_sample("judgebench.jsonl", "JudgeBench JSONL");
    assert_eq!(outcomes(&read), "a a a b tie -");
    let last = &read.judgements[5];
    assert_eq!(last.raw.as_deref(), Some("I cannot say."));
    assert_eq!((last.judge.as_ref(), last.arm.as_deref()), ("mock-judge", Some("arena_hard")));
    assert_eq!((last.label.clone(), last.order), (Some(LabelText::from("b")), Some(Order::Ba)));
}

#[test]
fn alpaca_eval_preferences_become_choices_and_nothing_else() {
    let (_, read) = read_sample("alpaca_eval.json", "alpaca_eval annotations.json");
    assert_eq!(outcomes(&read), "a b tie tie b - -");
    let weighted = &read.judgements[4];
    assert!((weighted.confidence.unwrap() - 0.9268).abs() < 1e-12, "1.9268 - 1, but for rounding");
    assert_eq!((weighted.price, weighted.latency_ms), (Some(0.01), Some(1500.0)));
    assert_eq!(read.judgements[0].confidence, None);
    assert_eq!(read.judgements[5].raw.as_deref(), Some("I prefer neither of them, sorry."));
    assert_eq!(read.judgements[6].raw.as_deref(), Some("7"));
}

#[test]
fn mt_bench_errors_are_unparsed() {
    let (_, pairs) = read_sample("mt_bench_pair.jsonl", "MT-bench pairs");
    assert_eq!(outcomes(&pairs), "a a b tie - b");
    assert!(pairs.judgements[4].error.is_some());
    assert_eq!(pairs.judgements[4].raw.as_deref(), Some("No verdict."));
    assert_eq!(pairs.judgements[0].item, "81/turn 1/alpha vs beta");
    assert_eq!(pairs.judgements[0].time.as_deref(), Some("2023-06-20T00:57:33Z"));

    let (_, single) = read_sample("mt_bench_single.jsonl", "MT-bench single");
    assert_eq!(outcomes(&single), "9 7.5 - 3");
    assert!(single.judgements[2].error.is_some());
}

#[test]
fn prd_files_of_both_orders_share_their_items() {
    let (_, swapped) = read_sample("answer_beta-vs-answer_alpha-mock-reviewer_threeclass.jsonl", "PRD reviews");
    let (_, straight) = read_sample("answer_alpha-vs-answer_beta-mock-reviewer_threeclass.jsonl", "PRD reviews");
    assert_eq!(outcomes(&swapped), "b tie -");
    assert_eq!(outcomes(&straight), "a tie b");
    assert_eq!(swapped.judgements[0].item, straight.judgements[0].item);
    assert_eq!((swapped.judgements[0].order, straight.judgements[0].order), (Some(Order::Ba), Some(Order::Ab)));
    assert_eq!(straight.judgements[0].judge, "mock");
}

#[test]
fn position_bias_rows_of_both_orders_share_their_item() {
    let (summary, read) = read_sample("position_bias.tsv", "Position-Bias-Analyzer TSV");
    assert_eq!((summary.n_rows, summary.n_bad_rows), (5, 1));
    assert_eq!(outcomes(&read), "b b tie -");
    assert_eq!(read.judgements[0].item, "1/alpha vs beta");
    assert_eq!(read.judgements[0].item, read.judgements[1].item);
    assert_eq!(read.judgements[0].content, read.judgements[1].content);
    assert_eq!((read.judgements[0].order, read.judgements[1].order), (Some(Order::Ba), Some(Order::Ab)));
    // Candidate A, alpha, answered "Brick" and "Stone".
    assert_eq!((read.judgements[0].length_a, read.judgements[0].length_b), (Some(11.0), Some(9.0)));
    assert_eq!(read.judgements[0].repeat, None);
}

#[test]
fn promptfoo_grader_errors_are_not_failures() {
    let (_, read) = read_sample("promptfoo.json", "promptfoo results");
    let rubric: Vec<_> =
        read.judgements.iter().filter(|judgement| judgement.dimension.as_deref() == Some("right")).collect();
    let seen = rubric.iter().map(|judgement| outcome(judgement)).collect::<Vec<_>>().join(" ");
    assert_eq!(seen, "accept accept reject reject - - - -");
    assert_eq!(rubric[4].error.as_deref(), Some("the grading service refused"));
    assert_eq!(rubric[6].error.as_deref(), Some("not graded: the answering service refused"));
    assert_eq!(rubric[0].judge, "llm-rubric (file://grader.js)");
    assert_eq!((rubric[0].tokens_in, rubric[0].tokens_out), (Some(40), Some(10)));
    // Repetitions stand in rows of their own; they are one item.
    assert_eq!(rubric[0].item, rubric[1].item);
    assert_ne!(rubric[0].item, rubric[2].item);
}

#[test]
fn a_promptfoo_grade_without_pass_is_no_pass() {
    let row = r#"{"vars":{"q":"x"},"promptIdx":0,"success":true,"score":1,"response":{"output":"y"},
        "gradingResult":{"score":1,"reason":"fine"},"testCase":{}}"#;
    let read = read_text("results.jsonl", row.replace('\n', " ").as_bytes());
    assert_eq!(outcomes(&read), "-");
    assert!(read.judgements[0].raw.as_deref().unwrap().contains("fine"));
}

#[test]
fn inspect_json_and_eval_say_the_same() {
    let (_, json) = read_sample("inspect.json", "Inspect log");
    let (_, zip) = read_sample("inspect.eval", "Inspect log");
    assert_eq!(as_set(&json), as_set(&zip));
    let of = |scorer: &str| -> Vec<&Judgement<'static>> {
        json.judgements.iter().filter(|judgement| judgement.judge.starts_with(scorer)).collect()
    };
    let seen = |scorer: &str| of(scorer).into_iter().map(outcome).collect::<Vec<_>>().join(" ");
    // The grader gives partial credit, so its letters are grades; the matcher's are verdicts.
    assert_eq!(seen("model_graded_qa (mockllm/model)"), "- 1 1 1 - 0.5 - 0");
    assert_eq!(seen("includes"), "- accept reject reject - reject reject reject");
    let errors: Vec<_> = of("model_graded_qa").into_iter().filter_map(|judgement| judgement.error.as_deref()).collect();
    assert_eq!(
        errors,
        [
            "not scored: RuntimeError('the tool did not answer')",
            "not scored: RuntimeError('the tool did not answer')",
            "Grade not found in model output: I cannot decide.",
        ]
    );
    // The answers differ between the epochs: what was judged is another text, though of the same sample.
    let capital: Vec<_> =
        of("includes").into_iter().filter(|judgement| judgement.group.as_deref() == Some("capital-1")).collect();
    assert_eq!((capital[0].item.as_ref(), capital[0].repeat), ("capital-1", Some(1)));
    assert_eq!((capital[1].item.as_ref(), capital[1].repeat), ("capital-1 (answer 2)", Some(2)));
    assert!(json.codes().contains_key("answers-differ"));
}

#[test]
fn an_eval_file_may_be_deflated_and_may_lack_its_header() {
    let (_, zstd) = read_sample("inspect.eval", "Inspect log");
    let mut archive = zip::ZipArchive::new(std::fs::File::open(sample("inspect.eval")).unwrap()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("inspect.eval");
    let mut writer = zip::ZipWriter::new(std::fs::File::create(&path).unwrap());
    let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
    for idx in 0..archive.len() {
        let mut entry = archive.by_index(idx).unwrap();
        let name = entry.name().unwrap().into_owned();
        if name != "header.json" {
            writer.start_file(name, options).unwrap();
            std::io::copy(&mut entry, &mut writer).unwrap();
        }
    }
    writer.finish().unwrap();
    let (result, deflated) = try_read(&path);
    result.unwrap();
    assert_eq!(deflated.judgements, zstd.judgements);
}

#[test]
fn deepeval_errors_are_unparsed() {
    let (_, read) = read_sample("deepeval.json", "DeepEval test run");
    assert_eq!(outcomes(&read), "0.9 1 0.2 0 - 1");
    let broken = &read.judgements[4];
    assert_eq!(broken.error.as_deref(), Some("ValueError: the judge sent no JSON"));
    assert_eq!((broken.judge.as_ref(), broken.dimension.as_deref()), ("mock-judge", Some("Right")));
    assert_eq!(read.judgements[0].price, Some(0.0002));
}

#[test]
fn lm_evaluation_harness_metrics_are_dimensions() {
    let name = "lm_eval/org__small/samples_choose_2026-11-30T20-30-13.916972.jsonl";
    let (_, read) = read_sample(name, "lm-evaluation-harness samples");
    assert_eq!(outcomes(&read), "accept accept accept accept reject reject");
    let first = &read.judgements[0];
    assert_eq!((first.judge.as_ref(), first.dimension.as_deref()), ("choose", Some("acc")));
    assert_eq!(first.generator.as_deref(), Some("org/small"));

    let name = "lm_eval/org__small/samples_quiz_2026-11-30T20-30-13.916972.jsonl";
    let (_, read) = read_sample(name, "lm-evaluation-harness samples");
    assert_eq!(outcomes(&read), "accept reject accept reject");
    assert_eq!(read.judgements[2].dimension.as_deref(), Some("exact_match/first-word"));
    assert_eq!(read.codes(), BTreeMap::from([("aggregate-metric", 4)]));
}

#[test]
fn openai_evals_invalid_choices_get_no_score() {
    let (_, read) = read_sample("openai_evals.jsonl", "OpenAI evals JSONL");
    assert_eq!(outcomes(&read), "accept 1 reject 0 reject - -");
    assert_eq!(read.judgements[1].judge, "mock-grader");
    assert_eq!(read.judgements[0].judge, "quiz.graded.v0");
    assert_eq!(read.judgements[5].raw.as_deref(), Some("7"));
    assert_eq!(read.judgements[6].error.as_deref(), Some("timeout"));
}

#[test]
fn batch_replies_are_read_out_of_prose() {
    let (_, read) = read_sample("openai_batch.jsonl", "batch output JSONL");
    assert_eq!(outcomes(&read), "4 3 - - -");
    assert_eq!((read.judgements[1].item.as_ref(), read.judgements[1].repeat), ("q1", Some(2)));
    assert_eq!((read.judgements[0].tokens_in, read.judgements[0].tokens_out), (Some(22), Some(9)));
    assert_eq!(read.judgements[2].raw.as_deref(), Some("I would say four out of five."));
    assert_eq!(read.judgements[3].error.as_deref(), Some("rate limit reached"));

    let (_, read) = read_sample("message_batch.jsonl", "batch output JSONL");
    assert_eq!(outcomes(&read), "a b - -");
    assert_eq!(read.judgements[3].error.as_deref(), Some("the request expired"));
}

#[test]
fn feedback_stores_tell_judges_from_people() {
    let (_, read) = read_sample("langsmith.json", "LangSmith feedback");
    assert_eq!(outcomes(&read), "1 0.25 - accept friendly");
    assert_eq!(read.judgements[1].label, Some(LabelText::from("0")));
    assert_eq!(raters(&read), [None, None, None, Some("app"), None]);

    let (_, read) = read_sample("mlflow.jsonl", "MLflow assessments");
    assert_eq!(outcomes(&read), "accept accept - reject");
    assert_eq!(read.judgements[2].error.as_deref(), Some("the judge did not answer"));
    assert_eq!(raters(&read), [None, Some("person-1"), None, Some("person-1")]);

    let (_, read) = read_sample("label_studio.json", "Label Studio export");
    assert_eq!(outcomes(&read), "reject accept 4 b");
    assert_eq!(raters(&read), [None, Some("3"), Some("3"), Some("4")]);
    assert_eq!(read.codes(), BTreeMap::from([("other-results", 1)]));

    let (_, read) = read_sample("argilla.jsonl", "Argilla records");
    assert_eq!(outcomes(&read), "4 5 3 1");
    assert_eq!(raters(&read), [Some("u1"), Some("u2"), None, None]);

    let (_, read) = read_sample("opentelemetry.jsonl", "OpenTelemetry gen_ai.evaluation.result");
    assert_eq!(outcomes(&read), "0.75 4 accept -");
    assert_eq!(read.judgements[3].error.as_deref(), Some("timeout"));
}

fn raters(collected: &Collected) -> Vec<Option<&str>> {
    collected.judgements.iter().map(|judgement| judgement.rater.as_deref()).collect()
}

#[test]
fn a_batch_input_says_that_it_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.jsonl");
    std::fs::write(&path, r#"{"custom_id":"q1","method":"POST","url":"/v1/chat/completions","body":{}}"#).unwrap();
    let (result, _) = try_read(&path);
    let message = result.unwrap_err().to_string();
    assert!(message.contains("output file"), "{message}");
}

#[test]
fn bad_lines_are_counted_and_the_rest_is_read() {
    let mut bytes = std::fs::read(sample("judgebench.jsonl")).unwrap();
    bytes.extend_from_slice(b"\n{\"pair_id\": \"p4\", \n[1, 2]\n{\"pair_id\": \"p5\"}\nnull\n");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("judgebench.jsonl");
    std::fs::write(&path, bytes).unwrap();
    let (result, read) = try_read(&path);
    let summary = result.unwrap();
    assert_eq!((summary.n_rows, summary.n_bad_rows), (7, 4));
    assert_eq!(read.judgements.len(), 6);
    assert_eq!(read.codes(), BTreeMap::from([("bad-row", 4)]));
    assert_eq!(read.problems.as_slice()[0].line, Some(5));
}

#[test]
fn a_cut_array_keeps_what_came_before() {
    let bytes = std::fs::read(sample("alpaca_eval.json")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("annotations.json");
    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let (result, read) = try_read(&path);
    assert_eq!(result.unwrap().format, "alpaca_eval annotations.json");
    assert_eq!(outcomes(&read), "a b tie");
    assert_eq!(read.codes(), BTreeMap::from([("damaged-file", 1)]));
}

#[test]
fn indented_objects_one_after_another_are_records() {
    let lines = std::fs::read_to_string(sample("mlflow.jsonl")).unwrap();
    let indented = lines.lines().map(|line| {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        serde_json::to_string_pretty(&value).unwrap()
    });
    let indented = read_text("traces.json", indented.collect::<Vec<_>>().join("\n").as_bytes());
    assert_eq!(indented.judgements, read_sample("mlflow.jsonl", "MLflow assessments").1.judgements);
}

#[test]
fn plain_logs_are_left_alone() {
    let plain = [
        r#"{"item":"1","verdict":"accept","judge":"j"}"#,
        r#"{"item":"1","custom_id":"x","response":{},"score":1}"#,
        r#"[{"item":"1","instruction":"x","output_1":"a","output_2":"b","preference":1}]"#,
        "item\tjudge\tchoice\n1\tj\ta\n",
        "id,score\n1,2\n",
        r#"{"id":1,"score":3,"reason":"ok"}"#,
        "",
    ];
    for text in plain {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        std::fs::write(&path, text).unwrap();
        let mut collected = Collected::default();
        if let Ok(summary) = read(&path, &ReadOptions::default(), &mut collected) {
            let plain = ["csv", "tsv", "jsonl", "json"];
            assert!(plain.contains(&summary.format.to_lowercase().as_str()), "{text}: {}", summary.format);
        }
    }
}

#[test]
fn damaged_files_never_panic() {
    // SplitMix64 (Steele, Lea and Flood 2014): the same damage at every run.
    let mut state = 7_u64;
    let mut below = move |limit: usize| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((bits ^ (bits >> 31)) % limit.max(1) as u64).unwrap()
    };
    let folder = tempfile::tempdir().unwrap();
    for path in sample_files() {
        let bytes = std::fs::read(&path).unwrap();
        // In a folder of the same name, so that what is read from the path is read here too.
        let inside = folder.path().join(path.strip_prefix(sample("")).unwrap());
        std::fs::create_dir_all(inside.parent().unwrap()).unwrap();
        for round in 0..60 {
            let mut damaged = bytes.clone();
            if round % 2 == 0 {
                damaged.truncate(below(bytes.len()));
            }
            for _ in 0..below(8) {
                if !damaged.is_empty() {
                    let idx = below(damaged.len());
                    damaged[idx] = u8::try_from(below(256)).unwrap();
                }
            }
            std::fs::File::create(&inside).unwrap().write_all(&damaged).unwrap();
            drop(try_read(&inside));
        }
    }
}

#[test]
fn every_sample_is_recognised_from_its_first_bytes() {
    for path in sample_files() {
        let mut bytes = Vec::new();
        std::fs::File::open(&path).unwrap().read_to_end(&mut bytes).unwrap();
        let (result, _) = try_read(&path);
        let format = result.unwrap().format;
        assert!(format.contains(char::is_uppercase) || format.contains(' '), "{}: {format}", path.display());
    }
}

/// Reads a text as a file of this name.
fn read_text(name: &str, bytes: &[u8]) -> Collected {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    let (result, collected) = try_read(&path);
    result.unwrap();
    collected
}

/// Returns every judgement as a line; a zip need not keep the order of the JSON.
fn as_set(collected: &Collected) -> BTreeSet<String> {
    collected.judgements.iter().map(|judgement| serde_json::to_string(judgement).unwrap()).collect()
}

fn sample_files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![sample("")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_none_or(|extension| extension != "md") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}
