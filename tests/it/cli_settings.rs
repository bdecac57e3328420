//! Gate and settings files, and the order in which they count.

use assize_calibration::audit::result::Audit;

use crate::cli_support::{Desk, Run, assize};

fn audit(run: &Run) -> Audit {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"))
}

#[test]
fn an_unknown_key_in_a_gate_is_located_and_what_was_meant_is_suggested() {
    let desk = Desk::new();
    desk.write("gate.toml", "[limits]\nflip_rate = { max = 0.1 }\n  acuracy = { min = 0.8 }\n");
    let run = desk.run(&["audit", "fit.csv", "--gate", "gate.toml"]);
    assert_eq!(run.status, 3);
    assert!(run.stderr.starts_with("error: gate.toml:3:3: unknown measure `acuracy`\n"), "{}", run.stderr);
    assert!(run.stderr.contains("help: did you mean `accuracy`?"), "{}", run.stderr);
}

#[test]
fn a_gate_is_checked_before_anything_is_read() {
    let desk = Desk::new();
    desk.write("gate.toml", "[limits]\nkappa.min = 0.6\n");
    let run = desk.run(&["audit", "absent.csv", "--gate", "gate.toml"]);
    assert!(run.stderr.contains("gate.toml:2:1: no limit can be set on `kappa`"), "{}", run.stderr);
}

#[test]
fn the_printed_gate_is_the_one_used_without_a_file() {
    let desk = Desk::new();
    desk.write("saved.toml", &desk.run(&["gate"]).stdout);
    let saved = audit(&desk.run(&["audit", "fit.csv", "--json", "--gate", "saved.toml"]));
    let built_in = audit(&desk.run(&["audit", "fit.csv", "--json"]));
    assert_eq!(saved.gate, built_in.gate);
    let checked = desk.run(&["gate", "saved.toml"]);
    assert_eq!(checked.status, 0);
    assert!(checked.stdout.contains("[limits]"));
}

#[test]
fn every_measure_is_listed_and_explained() {
    let desk = Desk::new();
    let listed: serde_json::Value = serde_json::from_str(&desk.run(&["gate", "--measures", "--json"]).stdout).unwrap();
    let text = desk.run(&["gate", "--measures"]).stdout;
    let measures = listed.as_array().unwrap();
    assert!(measures.len() > 20);
    for measure in measures {
        assert!(text.contains(measure["id"].as_str().unwrap()), "{measure}");
        assert!(text.contains(measure["explanation"].as_str().unwrap()), "{measure}");
    }
}

#[test]
fn flags_count_more_than_variables_and_variables_more_than_files() {
    let desk = Desk::new();
    desk.write(
        "assize.toml",
        "[audit]\nlevel = 0.8\nseed = 7\n[gate]\nname = 'in settings'\nlimits.accuracy.min = 0.7\n",
    );
    let run = |args: &[&str], variables: &[(&str, &str)]| {
        let mut command = assize(["audit", "fit.csv", "--json"].iter().chain(args));
        audit(&command.current_dir(desk.path()).envs(variables.iter().copied()).output().unwrap().into())
    };
    let config = ("ASSIZE_CONFIG", "assize.toml");

    assert!((run(&[], &[]).config.level - 0.95).abs() < 1e-12, "built in");
    let from_file = run(&[], &[config]);
    assert!((from_file.config.level - 0.8).abs() < 1e-12, "file");
    assert_eq!((from_file.config.seed, from_file.gate.name.as_str()), (7, "in settings"));
    assert!((run(&[], &[config, ("ASSIZE_LEVEL", "0.9")]).config.level - 0.9).abs() < 1e-12, "variable");
    assert!((run(&[], &[config, ("ASSIZE_LEVEL", "")]).config.level - 0.8).abs() < 1e-12, "an empty variable is none");
    let from_flag = run(&["--level", "0.99", "--gate", "gate.toml"], &[config, ("ASSIZE_LEVEL", "0.9")]);
    assert!((from_flag.config.level - 0.99).abs() < 1e-12, "flag");
    assert_eq!(from_flag.gate.name, "gate.toml");
}

/// Returns the `toml` blocks of a Markdown text.
fn toml_blocks(markdown: &str) -> Vec<String> {
    let blocks = markdown.split("```toml\n").skip(1);
    blocks.map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

#[test]
fn the_files_shown_in_the_reference_are_accepted() {
    let reference = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/reference/settings.md");
    let blocks = toml_blocks(&std::fs::read_to_string(reference).unwrap());
    let desk = Desk::new();
    let mut n_gates = 0;
    for block in &blocks {
        desk.write("shown.toml", block);
        let run = if block.contains("[audit]") {
            desk.run(&["audit", "fit.csv", "--columns", "item=item", "--config", "shown.toml"])
        } else {
            n_gates += 1;
            desk.run(&["gate", "shown.toml"])
        };
        assert!(run.status <= 2, "{block}\n{run:?}");
    }
    assert!(n_gates > 0 && blocks.len() > n_gates, "{blocks:?}");
}

#[test]
fn every_setting_is_in_the_reference() {
    let reference = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/reference/settings.md");
    let reference = std::fs::read_to_string(reference).unwrap();
    let schema: serde_json::Value = serde_json::from_str(&Desk::new().run(&["schema", "audit"]).stdout).unwrap();
    let settings = schema["$defs"]["AuditConfig"]["properties"].as_object().unwrap();
    for setting in settings.keys() {
        assert!(reference.contains(&format!("| `{setting}` |")), "{setting}");
    }
}

#[test]
fn settings_are_located_too() {
    let desk = Desk::new();
    desk.write("assize.toml", "[audit]\nlevle = 0.9\n");
    let run = desk.run(&["audit", "fit.csv", "--config", "assize.toml"]);
    assert_eq!(run.status, 3);
    assert!(run.stderr.contains("assize.toml:2:1: unknown key `levle`"), "{}", run.stderr);
    assert!(run.stderr.contains("did you mean `level`?"), "{}", run.stderr);
}

#[test]
fn columns_that_map_nothing_are_refused() {
    let run = Desk::new().run(&["audit", "fit.csv", "--columns", "nonsense"]);
    assert_eq!(run.status, 3);
    assert!(run.stderr.contains("--columns") && run.stderr.contains("nonsense"), "{}", run.stderr);
}

#[test]
fn a_setting_that_changes_nothing_is_told() {
    let run = Desk::new().run(&["audit", "fit.csv", "--gate", "gate.toml", "--accept-at", "3"]);
    assert!(
        run.stderr.contains("`accept_at` is about scores and changes nothing: verdict is audited"),
        "{}",
        run.stderr
    );
}

#[test]
fn scores_outside_the_declared_scale_are_counted() {
    let desk = Desk::new();
    desk.write("scores.csv", "item,score\na,3\nb,11\nc,0\n");
    let run = desk.run(&["audit", "scores.csv", "--scale", "1-10"]);
    assert!(run.stderr.contains("scores lie outside the declared scale, 1 to 10"), "{}", run.stderr);
    assert!(run.stderr.contains("(2 times"), "{}", run.stderr);
}

#[test]
fn labels_of_minus_one_and_one_say_wrong_and_right() {
    let desk = Desk::new();
    let mut rows = vec!["item,score,label".to_owned()];
    rows.extend((0..40).map(|item| format!("i{item},{},{}", 1 + item % 10, if item % 2 == 0 { -1 } else { 1 })));
    desk.write("scores.csv", &rows.join("\n"));
    let audit = audit(&desk.run(&["audit", "scores.csv", "--json"]));
    assert!(audit.judges[0].measures.contains_key("auc") && !audit.judges[0].measures.contains_key("mean_error"));
}

#[test]
fn files_of_one_name_that_name_no_judge_are_told() {
    let desk = Desk::new();
    for folder in ["a", "b"] {
        std::fs::create_dir(desk.join(folder)).unwrap();
        desk.write(&format!("{folder}/judge.csv"), "item,verdict\nq1,accept\nq2,reject\n");
    }
    let run = desk.run(&["audit", "a/judge.csv", "b/judge.csv"]);
    assert!(
        run.stderr.contains("a/judge.csv, b/judge.csv name no judge and were all taken as by `judge`"),
        "{}",
        run.stderr
    );
}

#[test]
fn what_a_killed_conversion_left_goes_away() {
    let desk = Desk::new();
    desk.write(".assize-abc.tmp", "half");
    assert_eq!(desk.run(&["convert", "fit.csv", "plain.jsonl"]).status, 0);
    assert!(!desk.join(".assize-abc.tmp").exists());
}
