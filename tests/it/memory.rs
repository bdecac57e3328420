//! `assize memory` as its users meet it, and what happens when several of them do or one is killed.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::cli_support::{Desk, Run, assize};

fn run(desk: &Desk, args: &[&str]) -> Run {
    run_with(desk, args, "")
}

/// Runs `assize memory` on a store in the desk.
fn run_with(desk: &Desk, args: &[&str], stdin: &str) -> Run {
    let mut child = spawn(desk, args);
    child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
    child.wait_with_output().unwrap().into()
}

fn spawn(desk: &Desk, args: &[&str]) -> Child {
    let mut command = assize(["memory", "--store", "memory.db"].iter().chain(args));
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    piped.current_dir(desk.path()).spawn().unwrap()
}

#[track_caller]
fn check(run: &Run, status: i32, stdout: &str) {
    assert_eq!((run.status, run.stdout.as_str()), (status, stdout), "{run:?}");
}

fn json(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap()
}

const ADD: [&str; 9] =
    ["add", "--dimension", "清晰度", "--description", "没有 例子", "--fix", "加一个", "--task", "write a guide"];

/// Returns lines of experiences of these numbers.
fn lines(numbers: std::ops::Range<u32>) -> String {
    let mut text = String::new();
    for number in numbers {
        writeln!(
            text,
            r#"{{"time":"2026-11-30T20:53:32.000Z","trust":"tool","issue":{{"dimension":"d","severity":"low","description":"{number}"}},"fix":"f","origin":{{"task":"t"}}}}"#
        )
        .unwrap();
    }
    text
}

#[test]
fn what_is_added_is_listed_and_shown() {
    let desk = Desk::new();
    let time = ["--time", "2026-11-30T21:53:32+01:00", "--trust", "person", "--tag", "x", "--score-before", "-6"];
    let added = run(&desk, &[&ADD[..], &time].concat());
    assert_eq!(added.status, 0, "{added:?}");
    let id = added.stdout.strip_prefix("added ").unwrap().trim();
    check(&run(&desk, &["list"]), 0, &format!("{id}  2026-11-30  medium  清晰度  没有 例子\n"));
    let shown = run(&desk, &["show", id]).stdout;
    for part in
        ["time       2026-11-30T20:53:32.000Z\n", "trust      person\n", "score      -6 -> ?\n", "\nfix\n  加一个\n"]
    {
        assert!(shown.contains(part), "{shown}");
    }
    let object = json(&run(&desk, &["show", &id[..6], "--json"]));
    assert_eq!(object["experience"]["issue"]["dimension"], "清晰度");
    let again = json(&run(&desk, &[&ADD[..], &time, &["--json"]].concat()));
    assert_eq!(again["added"], "already_there");
    let stats = json(&run(&desk, &["stats", "--json"]));
    assert_eq!((&stats["n_experiences"], &stats["dimensions"][0]["name"]), (&1.into(), &"清晰度".into()));
    check(&run(&desk, &["list", "--dimension", "other"]), 0, "");
}

#[test]
fn an_experience_is_taken_as_json_and_from_files() {
    let desk = Desk::new();
    let object =
        r#"{"issue": {"dimension": "d", "severity": "low", "description": "x"}, "fix": "f", "origin": {"task": "t"}}"#;
    let added = run_with(&desk, &["add", "-", "--json"], object);
    assert_eq!(json(&added)["added"], "new", "{added:?}");
    desk.write("object.json", object);
    assert_eq!(json(&run(&desk, &["add", "object.json", "--json"]))["added"], "already_there");
    desk.write("old.md", "line\r\n\n");
    let with_text = run(&desk, &[&ADD[..], &["--before", "old.md", "--json"]].concat());
    let shown = json(&run(&desk, &["show", json(&with_text)["digest"].as_str().unwrap(), "--json"]));
    assert_eq!(shown["experience"]["before"], "line\r\n\n");
    assert_eq!(shown["experience"]["trust"], "model");
}

#[test]
fn export_and_import_are_each_others_reverse() {
    let desk = Desk::new();
    run(&desk, &ADD);
    check(&run_with(&desk, &["import", "-"], &lines(0..250)), 0, "250 added, 0 already there, 0 rejected\n");
    let text = run(&desk, &["export"]).stdout;
    assert_eq!(run(&desk, &["export", "all.jsonl"]).status, 0);
    assert_eq!(desk.read("all.jsonl"), text);
    assert_eq!(run(&desk, &["export", "all.jsonl"]).status, 3, "it exists");
    check(&run(&desk, &["import", "all.jsonl", "--dry-run"]), 0, "0 would be added, 251 already there, 0 rejected\n");
    fs::remove_file(desk.join("memory.db")).unwrap();
    check(&run(&desk, &["import", "all.jsonl", "--dry-run"]), 0, "251 would be added, 0 already there, 0 rejected\n");
    assert!(!desk.join("memory.db").exists());
    check(&run(&desk, &["import", "all.jsonl"]), 0, "251 added, 0 already there, 0 rejected\n");
    assert_eq!(run(&desk, &["export"]).stdout, text);
}

/// `--force` replaces a file, and a store is more than one.
#[test]
fn an_export_never_writes_over_its_store() {
    let desk = Desk::new();
    run_with(&desk, &["import", "-"], &lines(0..3));
    let mut names = vec!["memory.db", "memory.db-wal", "memory.db-shm", "./sub/../memory.db"];
    fs::create_dir(desk.join("sub")).unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(desk.join("memory.db"), desk.join("link.db")).unwrap();
        std::os::unix::fs::symlink(desk.path(), desk.join("here")).unwrap();
        fs::hard_link(desk.join("memory.db"), desk.join("hard.db")).unwrap();
        names.extend(["link.db", "here/memory.db", "here/memory.db-wal", "hard.db"]);
    }
    for name in names {
        for force in [&[][..], &["--force"]] {
            let run = run(&desk, &[&["export", name][..], force].concat());
            assert_eq!((run.status, run.stdout.as_str()), (3, ""), "{name}: {run:?}");
            assert!(run.stderr.contains("would be written over") && run.stderr.contains("help: "), "{name}: {run:?}");
        }
    }
    // Named by a link, the store keeps its files beside itself.
    #[cfg(unix)]
    for name in ["memory.db", "memory.db-wal"] {
        let mut command = assize(["memory", "--store", "link.db", "export", name, "--force"]);
        let run = Run::from(command.current_dir(desk.path()).output().unwrap());
        assert_eq!(run.status, 3, "{name}: {run:?}");
    }
    assert_eq!(run(&desk, &["export"]).stdout, lines(0..3));
    desk.write("other.jsonl", "old");
    assert_eq!(run(&desk, &["export", "other.jsonl", "--force"]).status, 0);
    assert_eq!(desk.read("other.jsonl"), lines(0..3));
}

/// Of two values for one key, neither may be dropped silently, whether or not the time is stated.
#[test]
fn a_key_that_stands_twice_is_refused() {
    let desk = Desk::new();
    let object = |more: &str, issue: &str| {
        format!(
            r#"{{"issue": {{"dimension": "d", {issue} "severity": "low", "description": "x"}}, "fix": "f", {more} "origin": {{"task": "t"}}}}
"#
        )
    };
    let time = r#""time": "2026-11-30T20:53:32Z","#;
    let twice = |time: &str, more: &str, issue: &str, key: &str| {
        let text = object(&format!("{time} {more}"), issue);
        let run = run_with(&desk, &["add", "-"], &text);
        assert_eq!(run.status, 3, "{text}: {run:?}");
        assert!(run.stderr.contains(&format!("duplicate field `{key}`")), "{text}: {run:?}");
    };
    for time in ["", time] {
        twice(time, r#""fix": "g","#, "", "fix");
        twice(time, r#""fix": "f","#, "", "fix");
        twice(time, "", r#""dimension": "e","#, "dimension");
    }
    twice(time, time, "", "time");
    assert!(!desk.join("memory.db").exists());
    let empty = run_with(&desk, &["add", "-"], " { } ");
    assert!(empty.stderr.contains("missing field `issue`"), "{empty:?}");
    assert_eq!(run_with(&desk, &["add", "-"], &object("", "")).status, 0);
}

#[test]
fn lines_left_out_are_told_and_change_the_exit_status() {
    let desk = Desk::new();
    let text = lines(0..1) + "{\"time\":\n" + &lines(1..2);
    let run = run_with(&desk, &["import", "-"], &text);
    check(&run, 3, "2 added, 0 already there, 1 rejected\n");
    assert!(run.stderr.contains("standard input: line 2: EOF while parsing a value"), "{run:?}");
    let run = run_with(&desk, &["import", "-", "--json"], &text);
    assert_eq!((run.status, &json(&run)["rejected"][0]["line"]), (3, &2.into()));
}

#[test]
fn a_key_is_taken_out_and_that_is_said() {
    let desk = Desk::new();
    let key = format!("ghp_{}", "a1B2c3".repeat(6));
    let run =
        run(&desk, &["add", "--dimension", "d", "--description", &key, "--fix", "hide the password", "--task", "t"]);
    assert_eq!(run.status, 0, "{run:?}");
    assert!(run.stderr.contains("`issue.description` held what looks like a secret (GitHub token)"), "{run:?}");
    assert!(!run.stderr.contains("`fix`") && !run.stderr.contains(&key));
    let text = self::run(&desk, &["export"]).stdout;
    assert!(text.contains("[redacted: GitHub token]") && text.contains("hide the password") && !text.contains(&key));
}

#[test]
fn what_cannot_be_done_ends_with_3_and_says_what_to_do() {
    let desk = Desk::new();
    let refused = |args: &[&str], message: &str| {
        let run = run(&desk, args);
        assert_eq!((run.status, run.stdout.as_str()), (3, ""), "{args:?}: {run:?}");
        assert!(run.stderr.contains(message) && run.stderr.contains("help: "), "{args:?}: {}", run.stderr);
    };
    refused(&["list"], "there is no store at memory.db");
    refused(&["import", "absent.jsonl"], "failed to read absent.jsonl");
    assert!(!desk.join("memory.db").exists());
    run(&desk, &ADD);
    refused(&["show", "xyz"], "`xyz` is no id");
    refused(&["show", "0000000000"], "no experience has the id");
    refused(&["add", "fit.csv"], "failed to understand fit.csv");
    assert_eq!(run(&desk, &["add"]).status, 3);
    assert_eq!(run(&desk, &["add", "-", "--fix", "x"]).status, 3);
    assert_eq!(run(&desk, &[&ADD[..], &["--score-after", "NaN"]].concat()).status, 3);
    assert_eq!(run(&desk, &[&ADD[..], &["--time", "yesterday"]].concat()).status, 3);
    fs::write(desk.join("memory.db"), "notes\n".repeat(1_000)).unwrap();
    for args in [&ADD[..], &["list"], &["stats"], &["export"], &["show", "abcd"]] {
        refused(args, "memory.db is not an experience store");
    }
}

#[test]
fn a_damaged_file_is_told_by_every_command() {
    let desk = Desk::new();
    run_with(&desk, &["import", "-"], &lines(0..300));
    let mut bytes = fs::read(desk.join("memory.db")).unwrap();
    bytes[4_096..].fill(0xA5);
    fs::write(desk.join("memory.db"), bytes).unwrap();
    for args in [&ADD[..], &["list"], &["stats"], &["export"], &["show", "abcd"]] {
        let run = run(&desk, args);
        assert_eq!(run.status, 3, "{args:?}: {run:?}");
        assert!(run.stderr.contains("memory.db is damaged"), "{args:?}: {}", run.stderr);
    }
}

#[cfg(unix)]
#[test]
fn the_store_is_where_the_variables_say() {
    let desk = Desk::new();
    let stats = |variables: &[(&str, &Path)]| {
        let mut command = assize(["memory", "stats", "--json"]);
        let variables = variables.iter().copied();
        let output = command.env_remove("XDG_DATA_HOME").envs(variables).current_dir(desk.path()).output().unwrap();
        Run::from(output)
    };
    let (data, home, store) = (desk.join("data"), desk.join("home"), desk.join("named.db"));
    let message = |path: &Path| format!("there is no store at {}", path.display());
    for (variables, expected) in [
        (&[("HOME", home.as_path())][..], home.join(".local/share/assize/memory.db")),
        (&[("HOME", &home), ("XDG_DATA_HOME", &data)], data.join("assize/memory.db")),
        (&[("HOME", &home), ("XDG_DATA_HOME", Path::new("relative"))], home.join(".local/share/assize/memory.db")),
        (&[("XDG_DATA_HOME", &data), ("ASSIZE_STORE", &store)], store.clone()),
    ] {
        assert_eq!(json(&stats(variables))["error"]["message"], message(&expected));
    }
    let mut add = assize(["memory"].iter().chain(&ADD));
    assert!(add.env("XDG_DATA_HOME", &data).output().unwrap().status.success());
    assert!(data.join("assize/memory.db").is_file());
}

#[test]
fn processes_that_write_at_once_all_succeed() {
    let desk = Desk::new();
    let writers: Vec<Child> = (0..4)
        .map(|writer| {
            let mut child = spawn(&desk, &["import", "-", "--json"]);
            // Half of the lines are their own, half those of the next.
            let text = lines(writer * 100..writer * 100 + 200);
            child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
            child
        })
        .collect();
    let adder = run(&desk, &ADD);
    assert_eq!(adder.status, 0, "{adder:?}");
    let mut n_added = 0;
    for writer in writers {
        let run = Run::from(writer.wait_with_output().unwrap());
        assert_eq!(run.status, 0, "{run:?}");
        n_added += json(&run)["n_added"].as_u64().unwrap();
    }
    assert_eq!(n_added, 500);
    assert_eq!(json(&run(&desk, &["stats", "--json"]))["n_experiences"], 501);
}

#[test]
fn a_process_that_is_killed_leaves_whole_experiences() {
    const N_LINES: u32 = 6_000;
    let desk = Desk::new();
    let text = lines(0..N_LINES);
    desk.write("all.jsonl", &text);
    let mut n_in_the_middle = 0;
    // Wherever it stands: before the file is made, in the tables, between batches, in one. Slow machines get there later.
    for wait_ms in [2, 10, 20, 40, 80, 120, 160, 240, 360, 540, 800, 1_200, 1_800, 2_700, 4_000] {
        let mut child = spawn(&desk, &["import", "all.jsonl"]);
        std::thread::sleep(Duration::from_millis(wait_ms));
        child.kill().unwrap();
        child.wait().unwrap();
        if !desk.join("memory.db").exists() {
            continue;
        }
        // Reading repairs nothing that is needed and finds nothing half-written.
        let exported = run(&desk, &["export"]);
        assert_eq!(exported.status, 0, "{exported:?}");
        assert!(text.starts_with(&exported.stdout), "killed after {wait_ms} ms");
        let n_kept = exported.stdout.lines().count();
        assert_eq!(json(&run(&desk, &["stats", "--json"]))["n_experiences"], n_kept, "killed after {wait_ms} ms");
        n_in_the_middle += usize::from(n_kept > 0 && n_kept < N_LINES as usize);
        for file in ["memory.db", "memory.db-wal", "memory.db-shm"] {
            fs::remove_file(desk.join(file)).ok();
        }
        if n_kept == N_LINES as usize {
            break;
        }
    }
    assert!(n_in_the_middle > 0, "no kill fell into the import: make it longer");
    // What a killed import left does not hinder the next.
    let mut child = spawn(&desk, &["import", "all.jsonl"]);
    std::thread::sleep(Duration::from_millis(60));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(run(&desk, &["import", "all.jsonl"]).status, 0);
    assert_eq!(run(&desk, &["export"]).stdout, text);
}
