//! What the commands make of odd inputs: pipes, files cut short, repeats over several files, people in columns.

use std::fmt::Write as _;
use std::fs;

use serde_json::Value;

use crate::cli_support::{Desk, Run};

fn json(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"))
}

/// Returns the codes of an audit's problems that are more than notes.
fn warnings(audit: &Value) -> Vec<&str> {
    let problems = audit["problems"].as_array().unwrap();
    let told = problems.iter().filter(|problem| problem["severity"] != "note");
    told.map(|problem| problem["code"].as_str().unwrap()).collect()
}

#[test]
fn repeats_counted_from_0_over_several_files_stay_apart() {
    let desk = Desk::new();
    for (repeat, written) in [(0, "0"), (1, "1"), (2, "2.0")] {
        let mut table = "item,judge,repeat,verdict\n".to_owned();
        for item in 0..40 {
            writeln!(table, "i{item},j,{written},{}", if (item + repeat) % 5 == 0 { "reject" } else { "accept" })
                .unwrap();
        }
        desk.write(&format!("run{repeat}.csv"), &table);
    }
    let audit = json(&desk.run(&["audit", "run0.csv", "run1.csv", "run2.csv", "--json"]));
    assert_eq!(warnings(&audit), [""; 0]);
    assert_eq!(audit["judges"][0]["repeats"], serde_json::json!([3, 3]));
    assert_eq!(audit["judges"][0]["n_judgements"], 120);
    // The number 0 is a number: what it names twice is held against itself, what has none is not.
    desk.write("twice.csv", "item,repeat,verdict\na,0,accept\na,0,reject\nb,,accept\nb,,reject\n");
    let audit = json(&desk.run(&["audit", "twice.csv", "--json"]));
    assert_eq!(warnings(&audit), ["conflicting-rows"]);
    assert_eq!(audit["judges"][0]["n_judgements"], 2);
}

#[test]
fn ratings_in_columns_count_once_an_item_however_many_rows_it_has() {
    let desk = Desk::new();
    let mut table = "item,judge,arm,repeat,verdict,h1,h2\n".to_owned();
    for row in 0..240 {
        let (item, arm, repeat) = (row / 6, row % 2, row / 2 % 3);
        writeln!(table, "i{item},j,t{arm},{repeat},pass,{},{}", item % 2, u8::from(item % 3 == 0)).unwrap();
    }
    let columns = "raters=[h1, h2], verdict=verdict";
    desk.write("table.csv", &table);
    let audit = json(&desk.run(&["audit", "table.csv", "--columns", columns, "--json"]));
    assert_eq!(warnings(&audit), [""; 0]);
    let people = audit["agreement"].as_array().unwrap().iter().find(|pair| pair["n_raters"] == 2).unwrap();
    assert_eq!(people["measures"]["percent_agreement"]["n_items"], 40);
    assert_eq!(people["measures"]["percent_agreement"]["n"], 80);
    // Who rated the same item in two ways is told.
    desk.write("table.csv", &table.replacen("pass,0,1", "pass,1,1", 1));
    let audit = json(&desk.run(&["audit", "table.csv", "--columns", columns, "--json"]));
    assert_eq!(warnings(&audit), ["conflicting-rows"]);
}

#[test]
fn a_file_cut_short_ends_with_strict() {
    let desk = Desk::new();
    desk.write("cut.json", r#"[{"item":"a","verdict":"accept"},{"item":"b","verdict":"reject"},"#);
    let audit = json(&desk.run(&["audit", "cut.json", "--json"]));
    assert_eq!(warnings(&audit), ["damaged-file"]);
    let run = desk.run(&["convert", "cut.json", "log.jsonl", "--strict"]);
    assert_eq!(run.status, 3, "{run:?}");
    assert!(run.stderr.contains("never closed"), "{}", run.stderr);
    assert!(!desk.join("log.jsonl").exists());
}

#[test]
fn a_file_without_rows_is_told_with_what_to_do() {
    let desk = Desk::new();
    for (text, said) in
        [("", "is empty"), ("item,score\n", "has a header (item, score) and no rows"), ("[]", "no JSON object")]
    {
        desk.write("log.csv", text);
        let error = &json(&desk.run(&["audit", "log.csv", "--json"]))["error"];
        assert!(error["message"].as_str().unwrap().contains(said), "{error}");
        assert!(error["help"].as_str().unwrap().contains("one judgement a row"), "{error}");
    }
}

#[test]
fn what_convert_writes_is_read_again_zeros_included() {
    let desk = Desk::new();
    desk.write("log.jsonl", "{\"item\":\"a\\u0000b\",\"judge\":\"j\",\"verdict\":\"accept\",\"raw\":\"\\u0000\"}\n");
    assert_eq!(desk.run(&["convert", "log.jsonl", "log.csv"]).status, 0);
    let run = desk.run(&["convert", "log.csv", "again.jsonl"]);
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(desk.read("again.jsonl"), desk.read("log.jsonl"));
}

#[cfg(unix)]
#[test]
fn a_log_comes_through_a_pipe() {
    let desk = Desk::new();
    let table = fs::read(desk.join("fit.csv")).unwrap();
    let out = through_pipes(&desk, &table);
    assert!(out.iter().all(|text| text.lines().count() == 300));
}

#[cfg(all(unix, feature = "parquet"))]
#[test]
fn a_parquet_table_comes_through_a_pipe() {
    let desk = Desk::new();
    let path = desk.join("log.parquet");
    crate::formats::write_parquet(&path, 30_000);
    let table = fs::read(&path).unwrap();
    assert!(table.len() > 512 * 1024, "longer than what is looked at first");
    assert_eq!(desk.run(&["convert", "log.parquet", "plain.jsonl", "--columns", "judge='j'"]).status, 0);
    let plain = desk.read("plain.jsonl");
    assert_eq!(plain.lines().count(), 30_000);
    assert_eq!(
        plain.lines().nth(7),
        Some(r#"{"item":"the item number 7","judge":"j","score":7.0,"repeat":0}"#),
        "a repeat that is a floating-point 0 is a repeat"
    );
    assert!(through_pipes(&desk, &table).iter().all(|text| *text == plain), "the rows are those of the file");
}

/// Converts a log that comes through a named pipe, and through one called `/dev/stdin`; returns what was written.
#[cfg(unix)]
fn through_pipes(desk: &Desk, log: &[u8]) -> [String; 2] {
    use std::io::Write as _;
    use std::process::{Command, Stdio};
    use std::time::Duration;

    assert!(Command::new("mkfifo").arg(desk.join("pipe")).status().unwrap().success());
    ["pipe", "/dev/stdin"].map(|source| {
        let mut child =
            crate::cli_support::assize(["convert", source, "out.jsonl", "--force", "--columns", "judge='j'"])
                .current_dir(desk.path())
                .stdin(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
        let (log, pipe, mut stdin) = (log.to_vec(), desk.join("pipe"), child.stdin.take().unwrap());
        // Left behind where nobody reads; a reader that goes away is what the test is about.
        std::thread::spawn(
            move || {
                if source == "pipe" { fs::write(pipe, log).ok() } else { stdin.write_all(&log).ok() }
            },
        );
        let status = (0..1200).find_map(|_| {
            std::thread::sleep(Duration::from_millis(50));
            child.try_wait().unwrap()
        });
        child.kill().ok();
        assert!(status.is_some_and(|status| status.success()), "{source}: {status:?}");
        desk.read("out.jsonl")
    })
}
