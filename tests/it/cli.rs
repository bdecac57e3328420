//! Help, exit statuses and errors.

use std::fs;
use std::path::Path;

use crate::cli_support::{Desk, Run, run_in};

fn help(args: &[&str]) -> String {
    let run = run_in(Path::new("."), args);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{args:?}");
    run.stdout
}

/// Returns the names of the commands that `--help` lists.
fn commands() -> Vec<String> {
    listed(&help(&["--help"]))
}

/// Returns the names of the commands that a page of help lists.
fn listed(help: &str) -> Vec<String> {
    let listed = help.split("Commands:\n").nth(1).unwrap_or_default().split("\n\n").next().unwrap();
    let names = listed.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned);
    names.filter(|name| name != "help").collect()
}

/// Returns the command lines under `Examples:` that begin with the tool's name, without what the shell does with them.
fn examples(help: &str) -> Vec<String> {
    let listed = help.split("Examples:\n").nth(1).expect("help has examples").split("\n\n").next().unwrap();
    let lines = listed.lines().map(str::trim).filter(|line| line.starts_with("assize "));
    lines
        .map(|line| {
            let end = ["   ", " > ", " >> ", " | "].iter().filter_map(|end| line.find(end)).min();
            line[..end.unwrap_or(line.len())].to_owned()
        })
        .collect()
}

/// Returns the help of every command and of those below it, each with the words that name the command.
fn pages() -> Vec<(String, String)> {
    let mut pages = Vec::new();
    for command in commands() {
        let page = help(&[&command, "--help"]);
        for below in listed(&page) {
            pages.push((format!("{command} {below}"), help(&[&command, &below, "--help"])));
        }
        pages.push((command, page));
    }
    pages
}

#[test]
fn help_of_every_command_shows_examples_and_fits_100_columns() {
    let pages = pages();
    assert!(pages.iter().any(|(name, _)| name == "audit"), "{pages:?}");
    for (command, help) in &pages {
        assert!(!examples(help).is_empty(), "{command}");
        for line in help.lines() {
            assert!(line.chars().count() <= 100, "{command}: {line}");
        }
    }
}

#[cfg(unix)]
#[test]
fn every_example_in_the_help_is_a_command_line_that_is_understood() {
    let desk = Desk::new();
    let bin = Path::new(env!("CARGO_BIN_EXE_assize")).parent().unwrap();
    let pages = pages().into_iter().map(|(_, page)| page).chain([help(&["--help"])]);
    for example in pages.flat_map(|page| examples(&page)) {
        let mut shell = std::process::Command::new("sh");
        let paths = std::env::join_paths([bin, Path::new("/usr/bin"), Path::new("/bin")]).unwrap();
        // What an example stores goes into the desk, not to whoever runs the tests.
        shell.env_remove("ASSIZE_STORE").env("XDG_DATA_HOME", desk.path());
        let output = shell.args(["-c", &example]).current_dir(desk.path()).env("PATH", paths).output().unwrap();
        // The files are not there, which is another complaint than one about usage.
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(!stderr.contains("Usage:"), "{example}\n{stderr}");
    }
}

/// Returns the commands with the output shown for them in the `console` blocks of a Markdown text.
fn shown(markdown: &str) -> Vec<(String, String)> {
    let mut shown: Vec<(String, String)> = Vec::new();
    let mut is_console = false;
    for line in markdown.lines() {
        if let Some(fence) = line.trim_start().strip_prefix("```") {
            is_console = fence.trim() == "console";
        } else if let (true, Some(command)) = (is_console, line.strip_prefix("$ ")) {
            shown.push((command.trim().to_owned(), String::new()));
        } else if let (true, Some((_, output))) = (is_console, shown.last_mut()) {
            output.push_str(line.trim_end());
            output.push('\n');
        }
    }
    shown
}

#[test]
fn usage_in_the_readme_is_what_help_prints() {
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let mut n_compared = 0;
    for (command, output) in shown(&readme) {
        let words: Vec<&str> = command.split_whitespace().collect();
        let (Some((&"assize", args)), Some(&("--help" | "-h"))) = (words.split_first(), words.last()) else { continue };
        let help: String = help(args).lines().flat_map(|line| [line.trim_end(), "\n"]).collect();
        assert_eq!(output.trim_end(), help.trim_end(), "{command}");
        n_compared += 1;
    }
    assert!(n_compared > 0, "README.md shows no ```console block with `$ assize … --help`");
}

#[test]
fn commands_are_found_in_console_blocks_only() {
    let markdown = "$ no\n```sh\n$ neither\n```\n```console\n$ assize -h\nout  \n\n$ b\n```\nafter\n";
    let expected = [("assize -h".to_owned(), "out\n\n".to_owned()), ("b".to_owned(), String::new())];
    assert_eq!(shown(markdown), expected);
}

#[track_caller]
fn check_status(args: &[&str], expected: i32) -> Run {
    let run = Desk::new().run(args);
    assert_eq!(run.status, expected, "{args:?}: {run:?}");
    run
}

#[test]
fn the_exit_status_is_the_verdict() {
    check_status(&["audit", "fit.csv", "--gate", "gate.toml"], 0);
    check_status(&["audit", "unfit.csv", "--gate", "gate.toml"], 1);
    check_status(&["audit", "few.csv", "--gate", "gate.toml"], 2);
    check_status(&["audit", "fit.csv", "unfit.csv", "--gate", "gate.toml"], 1);
}

#[test]
fn mistakes_of_usage_end_with_3() {
    check_status(&["audti"], 3);
    check_status(&["audit"], 3);
    check_status(&["audit", "fit.csv", "--levle", "0.9"], 3);
    check_status(&["audit", "fit.csv", "--level", "95"], 3);
    check_status(&["audit", "fit.csv", "--scale", "10-1"], 3);
    check_status(&["audit", "fit.csv", "--repeats", "1"], 3);
    check_status(&["audit", "fit.csv", "--quiet", "--verbose"], 3);
    check_status(&["audit", "-", "-"], 3);
    check_status(&["report", "fit.csv"], 3);
    check_status(&["convert", "fit.csv"], 3);
}

#[test]
fn help_and_version_end_with_0() {
    let version = check_status(&["--version"], 0);
    assert_eq!(version.stdout, format!("assize {}\n", env!("CARGO_PKG_VERSION")));
    check_status(&["help", "audit"], 0);
}

#[test]
fn an_error_says_what_why_and_what_to_do() {
    let run = check_status(&["audit", "absent.csv"], 3);
    assert_eq!(run.stdout, "");
    let lines: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(lines[0], "error: failed to read absent.csv");
    assert!(lines[1].starts_with("  caused by: "), "{lines:?}");
    assert!(lines[2].starts_with("  help: "), "{lines:?}");
}

#[test]
fn a_flag_out_of_range_is_named() {
    let run = check_status(&["audit", "fit.csv", "--cap", "10"], 3);
    assert!(run.stderr.contains("--cap must be a share of at least 0 and less than 1, not 10"), "{}", run.stderr);
}

#[test]
fn strict_lists_bad_rows_with_file_line_and_column() {
    let desk = Desk::new();
    let text = desk.read("fit.csv").replacen("\ni1,", "\n,", 1);
    desk.write("bad.csv", &text);
    let lenient = desk.run(&["audit", "bad.csv", "--gate", "gate.toml"]);
    assert_eq!(lenient.status, 0, "{lenient:?}");
    assert!(lenient.stderr.contains("bad.csv:3"), "told, not fatal: {}", lenient.stderr);
    let strict = desk.run(&["audit", "bad.csv", "--gate", "gate.toml", "--strict", "--out", "report"]);
    assert_eq!(strict.status, 3, "{strict:?}");
    assert!(strict.stderr.contains("bad.csv:3"), "{}", strict.stderr);
    assert!(strict.stderr.contains("item"), "{}", strict.stderr);
    assert!(!desk.join("report").exists());
}

#[test]
fn errors_are_json_when_json_is_asked_for() {
    let run = check_status(&["audit", "absent.csv", "--json"], 3);
    let value: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(value["error"]["message"], "failed to read absent.csv");
    assert_eq!(value["error"]["exit_status"], 3);
}

#[test]
fn a_wrong_command_line_is_told_in_json_too() {
    let run = check_status(&["audit", "fit.csv", "--bogus", "--json"], 3);
    let value: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert!(value["error"]["message"].as_str().unwrap().contains("--bogus"), "{value}");
    assert_eq!(run.stderr, "");
}

#[test]
fn errors_in_json_list_what_is_wrong_with_the_input() {
    let desk = Desk::new();
    desk.write("bad.csv", "item,verdict\nq1,accept\n,accept\n");
    let run = desk.run(&["audit", "bad.csv", "--strict", "--json"]);
    assert_eq!(run.status, 3, "{run:?}");
    let value: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let problem = &value["error"]["problems"][0];
    assert_eq!((&problem["file"], &problem["line"]), (&"bad.csv".into(), &3.into()), "{value}");
}

#[test]
fn a_report_cannot_take_the_place_of_a_file() {
    let desk = Desk::new();
    let run = desk.run(&["audit", "fit.csv", "--out", "fit.csv"]);
    assert_eq!(run.status, 3);
    assert!(run.stderr.contains("fit.csv is a file"), "{}", run.stderr);
}

#[test]
fn rows_that_contradict_each_other_are_placed_in_their_file() {
    let desk = Desk::new();
    desk.write("monday.csv", "item,judge,verdict,repeat,label\nq1,j,accept,1,1\nq2,j,accept,1,1\n");
    desk.write("tuesday.csv", "item,judge,verdict,repeat,label\nq3,j,accept,1,1\nq2,j,reject,1,0\n");
    let run = desk.run(&["audit", "monday.csv", "tuesday.csv"]);
    let said = |what: &str| run.stderr.lines().any(|line| line.contains("tuesday.csv:3: ") && line.contains(what));
    assert!(said("different answers") && said("two different labels"), "{}", run.stderr);
}

#[test]
fn a_file_cannot_command_the_terminal_through_an_error() {
    let desk = Desk::new();
    desk.write("gate.toml", "[limits]\n\"\\u001b[2Jx\" = { max = 1 }\n");
    let run = desk.run(&["audit", "fit.csv", "--gate", "gate.toml"]);
    assert_eq!(run.status, 3);
    assert!(!run.stderr.contains('\u{1b}'), "{:?}", run.stderr);
}

#[test]
fn every_schema_is_a_json_schema() {
    let mut files = vec!["audit", "compare", "log", "gate"];
    if cfg!(feature = "memory") {
        files.push("experience");
    }
    for what in files {
        let schema: serde_json::Value = serde_json::from_str(&check_status(&["schema", what], 0).stdout).unwrap();
        assert!(schema["$schema"].is_string() && schema["properties"].is_object(), "{what}");
    }
}

#[test]
fn completions_know_every_command() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = check_status(&["completions", shell], 0).stdout;
        for command in commands() {
            assert!(script.contains(&command), "{shell}: {command}");
        }
    }
}

#[test]
fn doctor_reports_in_json_and_checks_what_variables_name() {
    let desk = Desk::new();
    let healthy = desk.run(&["doctor", "--json", "--out", "new"]);
    let value: serde_json::Value = serde_json::from_str(&healthy.stdout).unwrap();
    assert_eq!((healthy.status, &value["out_writable"]), (0, &serde_json::Value::Bool(true)));
    assert!(!desk.join("new").exists());
    desk.write("broken.toml", "[limits");
    let mut doctor = crate::cli_support::assize(["doctor"]);
    let ill: Run = doctor.env("ASSIZE_GATE", desk.join("broken.toml")).output().unwrap().into();
    assert_eq!(ill.status, 3, "{ill:?}");
    assert!(ill.stderr.contains("broken.toml:1:"), "{}", ill.stderr);
    for (name, value, status) in [
        ("ASSIZE_LEVEL", "2", 3),
        ("ASSIZE_LEVEL", "most", 3),
        ("ASSIZE_LEVEL", "0.9", 0),
        ("ASSIZE_LEVEL", "", 0),
        ("ASSIZE_SEED", "x", 3),
        ("ASSIZE_SEED", "7", 0),
        ("ASSIZE_SEED", "", 0),
    ] {
        let with = |args: &[&str]| -> Run {
            crate::cli_support::assize(args).current_dir(desk.path()).env(name, value).output().unwrap().into()
        };
        let (doctor, audit) = (with(&["doctor"]), with(&["audit", "fit.csv", "--gate", "gate.toml"]));
        assert_eq!((doctor.status, audit.status), (status, status), "{name}={value}: {doctor:?} {audit:?}");
        assert_eq!(doctor.stderr.contains(name), status == 3, "{doctor:?}");
    }
}
