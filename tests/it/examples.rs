//! The bundled examples: each runs by the command that stands beside it, and comes to the verdict that is told there.

use std::fs;
use std::sync::OnceLock;

use assize_calibration::audit::result::{Audit, Fitness};
use tempfile::TempDir;

use crate::cli_support::{assize, run_in};
use crate::readme::root;

/// Runs the command written at the head of an example's settings; its `--out` goes into a directory of its own.
fn audit(example: &str) -> (i32, Audit, TempDir) {
    let settings = fs::read_to_string(root().join(format!("examples/{example}/audit.toml"))).unwrap();
    let command =
        settings.lines().next().unwrap().strip_prefix("# assize ").expect("the command stands first").to_owned();
    let readme = fs::read_to_string(root().join(format!("examples/{example}/README.md"))).unwrap();
    assert!(readme.contains(&format!("assize {command}\n")), "the README of {example} shows another command");
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("report");
    let args: Vec<&str> = command
        .split_whitespace()
        .map(|word| if word == "assize-report" { out.to_str().unwrap() } else { word })
        .chain(["--json"])
        .collect();
    let run = run_in(root(), &args);
    let audit = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{example}: {error}: {run:?}"));
    (run.status, audit, dir)
}

/// The main example, run once for all tests that look at it. Returns its exit status, its audit and its HTML.
pub(crate) fn main_example() -> &'static (i32, Audit, String) {
    static RUN: OnceLock<(i32, Audit, String)> = OnceLock::new();
    RUN.get_or_init(|| {
        let (status, audit, dir) = audit("rewardbench2");
        let html = fs::read_to_string(dir.path().join("report/report.html")).unwrap();
        (status, audit, html)
    })
}

fn by_name(audit: &Audit) -> Vec<(&str, Option<&str>, Fitness)> {
    let mut judges: Vec<_> =
        audit.judges.iter().map(|judge| (judge.judge.as_str(), judge.arm.as_deref(), judge.fitness)).collect();
    judges.sort_unstable_by_key(|(judge, arm, _)| (*judge, *arm));
    judges
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    for example in ["llmbar", "position-bias", "xstest"] {
        let (log, settings) = (format!("examples/{example}/verdicts.csv"), format!("examples/{example}/audit.toml"));
        let with_threads = |n: &str| {
            let args = ["audit", &log, "--config", &settings, "--json"];
            assize(args).current_dir(root()).env("RAYON_NUM_THREADS", n).output().unwrap().stdout
        };
        let one = with_threads("1");
        assert!(one.len() > 10_000, "{example}");
        assert!(one == with_threads("2"), "{example}");
    }
}

#[test]
fn the_readme_runs_the_main_example() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let command = "cargo run --release -- audit examples/rewardbench2/scores.csv --config \
                   examples/rewardbench2/audit.toml --out assize-report\n";
    assert!(readme.contains(command));
}

#[test]
fn a_steady_judge_may_still_reject_half_of_what_is_right() {
    let (status, audit, _) = main_example();
    assert_eq!((*status, audit.fitness), (1, Fitness::Unfit));
    let judge = &audit.judges[0];
    assert_eq!((judge.n_judgements, judge.n_items, judge.n_clusters, judge.n_unparsed), (55_488, 6_936, 1_734, 14));
    // 7,559 of 13,869 readable scores of correct responses are below 8, counted with another program; three cells with
    // unreadable replies weigh their items a little differently.
    let rejects = judge.measures["false_reject_rate"].estimate;
    assert!((rejects - 7_559.0 / 13_869.0).abs() < 1e-3, "{rejects}");
    assert!(judge.measures["icc_single"].estimate > 0.95);
    assert_eq!(judge.thresholds.as_ref().unwrap().chosen, Some(8.0));
}

#[test]
fn what_is_measured_is_not_listed_as_unmeasured() {
    let (_, audit, _) = main_example();
    for judge in &audit.judges {
        for unmeasured in &judge.unmeasured {
            assert!(!judge.measures.contains_key(&unmeasured.id), "{}", unmeasured.id);
        }
    }
}

#[test]
fn the_report_tells_the_command_that_makes_it_again() {
    let (_, _, html) = main_example();
    let html = html.replace("&#x2f;", "/");
    let command = "assize audit examples/rewardbench2/scores.csv --config examples/rewardbench2/audit.toml</code>";
    assert!(html.contains(command));
}

#[test]
fn position_moves_haiku_beyond_noise_and_gpt_4_0125_hardly() {
    let (status, audit, _dir) = audit("position-bias");
    assert_eq!(status, 1);
    let unfit: Vec<&str> =
        by_name(&audit).iter().filter(|(_, _, fitness)| *fitness == Fitness::Unfit).map(|(judge, ..)| *judge).collect();
    assert_eq!(unfit, ["claude-3-haiku-20240307", "gemini-pro"]);
    let excess = |name: &str| {
        let judge = audit.judges.iter().find(|judge| judge.judge == name).unwrap();
        judge.measures["position_excess"].clone()
    };
    assert!(excess("claude-3-haiku-20240307").low.unwrap() > 0.05);
    assert!(excess("gpt-4-0125-preview").low.unwrap() < 0.0);
}

#[test]
fn two_worked_examples_are_worse_than_one_and_one_is_not_shown_to_help() {
    let (status, audit, _dir) = audit("llmbar");
    assert_eq!(status, 2);
    let expected = [
        ("GPT-4", Some("Vanilla"), Fitness::Fit),
        ("GPT-4", Some("Vanilla_1shot"), Fitness::Fit),
        ("GPT-4", Some("Vanilla_2shot"), Fitness::Inconclusive),
    ];
    assert_eq!(by_name(&audit), expected);
    let mut accuracies: Vec<String> =
        audit.judges.iter().map(|judge| format!("{:.4}", judge.measures["accuracy"].estimate)).collect();
    accuracies.sort();
    assert_eq!(accuracies, ["0.8405", "0.8604", "0.8650"]);
    let better = |a: &str, b: &str| {
        let of_accuracy = audit.comparisons.iter().filter(|comparison| comparison.measure == "accuracy");
        of_accuracy
            .filter(|comparison| comparison.a == a && comparison.b == b)
            .map(|comparison| comparison.better.clone())
            .next()
    };
    assert_eq!(better("Vanilla", "Vanilla_1shot").as_deref(), Some("undecided"));
    assert_eq!(better("Vanilla_1shot", "Vanilla_2shot").as_deref(), Some("a"));
    // Held against none, neither number is shown to help or to harm; the page on anchors has these figures.
    let page = fs::read_to_string(root().join("docs/explanation/anchors.md")).unwrap();
    let [study] = &audit.anchors[..] else { panic!("one judge") };
    let figures = study.points.iter().map(|point| point.figures.iter().find(|one| one.measure == "accuracy").unwrap());
    for (figure, row) in figures.zip([
        "| 0 | .8604 | | | |",
        "| 1 | .8650 | +.005 | [−.017, .026] | undecided |",
        "| 2 | .8405 | −.020 | [−.045, .005] | undecided |",
    ]) {
        assert!(page.contains(row), "{row}");
        let number = |value: f64, digits: usize| format!("{value:.digits$}").replace('-', "−").replacen("0.", ".", 1);
        assert!(row.contains(&number(figure.value.estimate, 4)), "{row}");
        let Some(minus) = &figure.minus_none else { continue };
        let (low, high) = (minus.difference.low.unwrap(), minus.difference.high.unwrap());
        assert!(row.contains(&format!("[{}, {}]", number(low, 3), number(high, 3))), "{row}: {low} {high}");
        assert_eq!((minus.standing.as_str(), minus.n_items), ("undecided", 326));
        let seen = format!("{:.1}", 100.0 * minus.minimal_detectable.unwrap());
        assert!(page.contains(&format!("{seen} points (one")) || page.contains(&format!("{seen} (two)")), "{seen}");
    }
    let told = audit.judges.iter().flat_map(|judge| &judge.findings);
    assert_eq!(told.filter(|finding| finding.what.contains("not shown to help")).count(), 2);
}

#[test]
fn both_judges_of_refusals_accept_too_many() {
    let (status, audit, _dir) = audit("xstest");
    assert_eq!(status, 1);
    let expected = [("gpt4_label", None, Fitness::Unfit), ("strmatch_label", None, Fitness::Unfit)];
    assert_eq!(by_name(&audit), expected);
    // 197 and 114 of 734 refusals.
    for (judge, n_accepted) in [("gpt4_label", 197.0), ("strmatch_label", 114.0)] {
        let judge = audit.judges.iter().find(|found| found.judge == judge).unwrap();
        assert!((judge.measures["false_accept_rate"].estimate - n_accepted / 734.0).abs() < 1e-12);
    }
}

#[test]
fn the_example_of_a_gate_is_a_gate() {
    let run = run_in(root(), &["gate", "examples/gate.toml"]);
    assert_eq!(run.status, 0, "{run:?}");
    assert!(run.stdout.contains("false_accept_rate = { max = 0.05, required = true }"), "{run:?}");
}
