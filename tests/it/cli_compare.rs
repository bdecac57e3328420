//! `assize compare` as a user runs it.

use std::fmt::Write as _;

use crate::cli_support::{Desk, Run, assize, log};

/// Every tenth item wrong, or none.
fn nine_of_ten(item: u32) -> bool {
    item % 10 != 3
}

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("old.csv", &log(600, nine_of_ten));
    desk.write("same.csv", &log(600, |item| nine_of_ten(item) == (item != 17)));
    desk.write("better.csv", &log(600, |_| true));
    desk
}

#[track_caller]
fn check(run: &Run, status: i32, said: &str) {
    assert_eq!(run.status, status, "{run:?}");
    let text = if status == 3 { &run.stderr } else { &run.stdout };
    assert!(text.contains(said), "{run:?}");
}

#[test]
fn the_status_says_whether_b_may_take_a_s_place() {
    let desk = desk();
    check(&desk.run(&["compare", "old.csv", "better.csv"]), 0, "BETTER");
    check(&desk.run(&["compare", "better.csv", "old.csv"]), 1, "WORSE");
    check(&desk.run(&["compare", "old.csv", "same.csv"]), 0, "EQUIVALENT");
    check(&desk.run(&["compare", "old.csv", "few.csv"]), 2, "UNDECIDED");
    check(&desk.run(&["compare", "old.csv", "same.csv", "--margin", "0.001"]), 2, "UNDECIDED");
}

#[test]
fn the_summary_fits_eighty_columns() {
    let desk = desk();
    let mut command = assize(["compare", "old.csv", "better.csv"]);
    let run = Run::from(command.env("COLUMNS", "80").env("LANG", "C.UTF-8").current_dir(desk.path()).output().unwrap());
    assert!(run.stdout.lines().all(|line| line.chars().count() <= 80), "{}", run.stdout);
    for said in ["A old", "B better", "What decides", "False accepts", "With each other", "Holm"] {
        assert!(run.stdout.contains(said), "{said}: {}", run.stdout);
    }
}

#[test]
fn json_is_the_file_and_the_files_are_four() {
    let desk = desk();
    let run = desk.run(&["compare", "old.csv", "better.csv", "--out", "out", "--json"]);
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(desk.list("out"), ["compare.html", "compare.json", "compare.md", "junit.xml"]);
    assert_eq!(desk.read("out/compare.json"), run.stdout);
    let found: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(found["schema"], "assize.compare/1");
    assert_eq!((&found["standing"], &found["n_items"]), (&"better".into(), &600.into()));
    assert_eq!(found["a"]["source"]["files"][0], "old.csv");
    assert_eq!(found["b"]["source"]["files"][0], "better.csv");
    let html = desk.read("out/compare.html");
    assert!(html.contains("BETTER") && !html.contains("<script") && !html.contains("http://"), "{html}");
    assert!(
        desk.read("out/junit.xml").contains("tests=\"3\" skipped=\"0\" errors=\"0\" failures=\"0\""),
        "{}",
        desk.read("out/junit.xml")
    );
    assert!(
        desk.read("out/compare.md").starts_with("## ✅ BETTER: better against old"),
        "{}",
        desk.read("out/compare.md")
    );
    // What is there already is a comparison, and may be replaced.
    assert_eq!(desk.run(&["compare", "better.csv", "old.csv", "--out", "out"]).status, 1);
    assert!(desk.read("out/junit.xml").contains("type=\"worse\""));
    // The same bytes on one thread.
    let one = assize(["compare", "old.csv", "better.csv", "--json"])
        .env("RAYON_NUM_THREADS", "1")
        .current_dir(desk.path())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(one.stdout).unwrap(), run.stdout);
}

#[test]
fn two_in_one_log_are_named() {
    let desk = desk();
    let mut both = "item,judge,verdict,label\n".to_owned();
    for (judge, is_right) in [("x", false), ("y", true)] {
        for line in log(600, |item| is_right || nine_of_ten(item)).lines().skip(1) {
            let (item, rest) = line.split_once(',').unwrap();
            writeln!(both, "{item},{judge},{rest}").unwrap();
        }
    }
    desk.write("both.csv", &both);
    check(&desk.run(&["compare", "both.csv", "--a", "x", "--b", "y"]), 0, "BETTER");
    check(&desk.run(&["compare", "both.csv", "--a", "y", "--b", "x"]), 1, "WORSE");
    check(&desk.run(&["compare", "both.csv"]), 3, "--a and --b");
    check(&desk.run(&["compare", "both.csv", "--a", "x", "--b", "z"]), 3, "it has: x, y");
    check(&desk.run(&["compare", "both.csv", "old.csv"]), 3, "name it with --a");
    check(&desk.run(&["compare", "both.csv", "--a", "x", "--b", "x"]), 3, "nothing to compare");
}

#[test]
fn what_cannot_be_compared_is_said_with_what_to_do() {
    let desk = desk();
    desk.write("other.csv", "item,verdict\nz1,accept\n");
    desk.write("scores.csv", "item,score\ni1,5\n");
    check(&desk.run(&["compare", "old.csv", "other.csv"]), 3, "no item was judged by both");
    check(&desk.run(&["compare", "old.csv", "scores.csv"]), 3, "--outcome");
    check(&desk.run(&["compare", "old.csv", "absent.csv"]), 3, "absent.csv");
    check(&desk.run(&["compare", "old.csv", "same.csv", "--margin", "0"]), 3, "--margin must be more than 0");
    check(&desk.run(&["compare", "old.csv", "same.csv", "--primary", "acuracy"]), 3, "acuracy");
    check(&desk.run(&["compare", "old.csv", "same.csv", "--out", "old.csv"]), 3, "is a file");
}

#[test]
fn settings_may_hold_how_to_compare() {
    let desk = desk();
    desk.write("assize.toml", "[compare]\nmargin = 0.3\nprimary = ['accuracy']\nmargins = { kappa = 0.1 }\n");
    let run = desk.run(&["compare", "better.csv", "old.csv", "--config", "assize.toml", "--json"]);
    assert_eq!(run.status, 0, "{run:?}");
    let found: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(found["measures"][0]["measure"], "accuracy");
    assert_eq!(found["measures"][0]["standing"], "equivalent");
    let kappa = found["measures"].as_array().unwrap().iter().find(|one| one["measure"] == "kappa").unwrap();
    assert_eq!(kappa["margin"], 0.1);
}

#[test]
fn an_audit_cuts_time_as_it_is_asked_to() {
    let desk = Desk::new();
    let mut text = "item,verdict,label,time\n".to_owned();
    for item in 0..200 {
        let time = format!("2026-11-{:02}T{:02}:00:00+01:00", 1 + item / 24, item % 24);
        let time = if item == 7 { "soon".to_owned() } else { time };
        writeln!(text, "i{item},accept,1,{time}").unwrap();
    }
    desk.write("timed.csv", &text);
    for (windows, n) in [("day", 10), ("week", 3), ("5", 5)] {
        let run = desk.run(&["audit", "timed.csv", "--windows", windows, "--json"]);
        let found: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(found["judges"][0]["drift"]["windows"].as_array().unwrap().len(), n, "{windows}");
        let problems = found["problems"].as_array().unwrap();
        let unread = problems.iter().find(|problem| problem["code"] == "unreadable-time").unwrap();
        assert_eq!((&unread["line"], &unread["file"]), (&9.into(), &"timed.csv".into()));
    }
    assert_eq!(desk.run(&["audit", "timed.csv", "--windows", "month"]).status, 3);
    assert_eq!(desk.run(&["audit", "timed.csv", "--out", "report"]).status, 2);
    assert!(desk.read("report/report.html").contains("Did it change over time?"));
}
