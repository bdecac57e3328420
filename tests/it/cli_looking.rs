//! Looking again: looks recorded, fixed items judged again, anchors named.

use std::fmt::Write as _;

use serde_json::Value;

use crate::cli_support::{Desk, log};

fn last_look(desk: &Desk) -> Value {
    serde_json::from_str(desk.read("looks.jsonl").lines().last().unwrap()).unwrap()
}

#[test]
fn looks_are_recorded_only_when_asked_and_only_for_new_data() {
    let desk = Desk::new();
    let audit = |log: &str, more: &[&str]| {
        let args = [&["audit", log, "--gate", "gate.toml", "--judge", "judge"], more].concat();
        desk.run(&args)
    };
    for n in [100, 200, 300] {
        desk.write(
            &format!("judge{n}.csv"),
            &log(n, |_| true).replace("item,", "judge,item,").replace("\ni", "\njudge,i"),
        );
    }
    assert_eq!(audit("judge100.csv", &[]).status, 0);
    assert!(!desk.join("looks.jsonl").exists());
    let with = ["--looks", "looks.jsonl"];
    assert_eq!(audit("judge100.csv", &with).status, 0);
    assert_eq!(audit("judge100.csv", &with).status, 0);
    assert_eq!(desk.read("looks.jsonl").lines().count(), 1);
    audit("judge200.csv", &with);
    let third = audit("judge300.csv", &with);
    assert_eq!((third.status, desk.read("looks.jsonl").lines().count()), (0, 3));
    assert!(third.stdout.replace('\n', " ").contains("This is look 3 at a growing log"), "{third:?}");
    assert_eq!((last_look(&desk)["n_items"].as_u64(), last_look(&desk)["fitness"].as_str()), (Some(300), Some("fit")));
    // A plan made after looking is none.
    let planned = audit("judge300.csv", &["--looks", "looks.jsonl", "--planned-looks", "5", "--json"]);
    assert_eq!(planned.status, 2, "{planned:?}");
    assert!(!desk.list(".").iter().any(|name| name.contains(".tmp")));
}

#[test]
fn a_record_of_looks_that_is_something_else_is_left_alone() {
    let desk = Desk::new();
    desk.write("looks.jsonl", "years of work\n");
    let run = desk.run(&["audit", "fit.csv", "--gate", "gate.toml", "--looks", "looks.jsonl"]);
    assert_eq!(run.status, 3);
    assert!(run.stderr.contains("looks.jsonl holds something else than looks that --looks recorded"), "{run:?}");
    assert_eq!(desk.read("looks.jsonl"), "years of work\n");
    let run = desk.run(&["audit", "fit.csv", "--gate", "gate.toml", "--looks", "fit.csv"]);
    assert_eq!(run.status, 3, "{run:?}");
    // One line of many that is damaged is kept and told.
    std::fs::remove_file(desk.join("looks.jsonl")).unwrap();
    desk.run(&["audit", "few.csv", "--gate", "gate.toml", "--looks", "looks.jsonl"]);
    desk.write("looks.jsonl", &format!("{}half a li", desk.read("looks.jsonl")));
    let run = desk.run(&["audit", "fit.csv", "--gate", "gate.toml", "--looks", "looks.jsonl"]);
    assert!(run.status == 0 && run.stderr.contains("(first: line 2)"), "{run:?}");
    let lines: Vec<String> = desk.read("looks.jsonl").lines().map(str::to_owned).collect();
    assert_eq!((lines.len(), lines[1].as_str()), (3, "half a li"));
}

#[test]
fn looks_recorded_at_once_are_all_kept() {
    let desk = Desk::new();
    for name in ["a", "b", "c", "d"] {
        desk.write(&format!("{name}.csv"), &log(60, |_| true));
    }
    std::thread::scope(|scope| {
        for name in ["a.csv", "b.csv", "c.csv", "d.csv"] {
            let desk = &desk;
            scope.spawn(move || desk.run(&["audit", name, "--gate", "gate.toml", "--looks", "looks.jsonl"]));
        }
    });
    assert_eq!(desk.read("looks.jsonl").lines().count(), 4, "{}", desk.read("looks.jsonl"));
}

#[cfg(unix)]
#[test]
fn a_record_of_looks_is_a_file_that_may_be_written() {
    let desk = Desk::new();
    let with = |file: &str| desk.run(&["audit", "fit.csv", "--gate", "gate.toml", "--looks", file]);
    // It has no end.
    let run = with("/dev/zero");
    assert!(run.status == 3 && run.stderr.contains("/dev/zero is no file"), "{run:?}");
    assert_eq!(with("looks.jsonl").status, 0);
    let (path, text) = (desk.join("looks.jsonl"), desk.read("looks.jsonl"));
    let mut permissions = std::fs::metadata(&path).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&path, permissions).unwrap();
    let run = desk.run(&["audit", "few.csv", "--gate", "gate.toml", "--looks", "looks.jsonl"]);
    assert!(run.status == 3 && run.stderr.contains("read-only"), "{run:?}");
    assert_eq!(desk.read("looks.jsonl"), text);
}

fn answers(n_items: u32, n_repeats: u32, accepts: impl Fn(u32, u32) -> bool) -> String {
    let mut text = "item,verdict,repeat\n".to_owned();
    for item in 0..n_items {
        for repeat in 0..n_repeats {
            let verdict = if accepts(item, repeat) { "accept" } else { "reject" };
            writeln!(text, "i{item},{verdict},{repeat}").unwrap();
        }
    }
    text
}

#[test]
fn a_sentinel_ends_with_what_it_found() {
    let desk = Desk::new();
    desk.write("baseline.csv", &answers(120, 8, |item, _| item % 3 == 0));
    desk.write("same.csv", &answers(120, 2, |item, _| item % 3 == 0));
    desk.write("other.csv", &answers(120, 8, |item, _| item % 3 == u32::from(item < 12)));
    desk.write("once.csv", &answers(120, 1, |item, _| item % 3 == 0));
    let same = desk.run(&["sentinel", "baseline.csv", "same.csv"]);
    assert_eq!(same.status, 0, "{same:?}");
    assert!(same.stdout.contains("UNCHANGED"), "{same:?}");
    let other = desk.run(&["sentinel", "baseline.csv", "other.csv"]);
    assert_eq!(other.status, 1, "{other:?}");
    assert!(other.stdout.contains("8 items stand out") && other.stdout.contains("i0: accept accept"), "{other:?}");
    let once = desk.run(&["sentinel", "once.csv", "once.csv"]);
    assert_eq!(once.status, 2, "{once:?}");
    assert!(once.stdout.contains("not identified"), "{once:?}");
    let json: Value =
        serde_json::from_str(&desk.run(&["sentinel", "baseline.csv", "other.csv", "--json"]).stdout).unwrap();
    assert_eq!((json["schema"].as_str(), json["steadiness"].as_str()), (Some("assize.sentinel/1"), Some("changed")));
    let md = desk.run(&["sentinel", "baseline.csv", "other.csv", "--md"]).stdout;
    assert!(md.starts_with("## ❌ CHANGED: "), "{md}");
    assert_eq!(desk.run(&["sentinel", "baseline.csv", "same.csv", "--margin", "2"]).status, 3);
    assert_eq!(desk.run(&["sentinel", "baseline.csv"]).status, 3);
}

#[test]
fn a_sentinel_speaks_of_its_own_flags_and_has_no_others() {
    let desk = Desk::new();
    let two = "item,judge,verdict\ni1,x,accept\ni1,y,accept\n";
    desk.write("two.csv", two);
    for args in [
        &["sentinel", "two.csv", "two.csv"][..],
        &["sentinel", "two.csv"],
        &["sentinel", "two.csv", "two.csv", "--before", "x", "--now", "z"],
    ] {
        let run = desk.run(args);
        assert_eq!(run.status, 3, "{run:?}");
        assert!(run.stderr.contains("--before") || run.stderr.contains("--now"), "{run:?}");
        assert!(!run.stderr.contains("--a") && !run.stderr.contains("--b "), "{run:?}");
    }
    // No gate decides, and who is meant is said otherwise.
    for flag in ["--gate", "--judge", "--arm"] {
        let run = desk.run(&["sentinel", "two.csv", "two.csv", flag, "x"]);
        assert!(run.status == 3 && run.stderr.contains("unexpected argument"), "{run:?}");
    }
}

#[test]
fn anchors_are_read_written_and_reported() {
    let desk = Desk::new();
    let mut text = "item,verdict,label,shots,shot_set\n".to_owned();
    for item in 0..60 {
        let label = item % 2;
        writeln!(text, "i{item},{},{label},0,", if item % 5 == 0 { 1 - label } else { label }).unwrap();
        for set in 0..3 {
            writeln!(text, "i{item},{},{label},2,s{set}", if (item + set) % 10 == 0 { 1 - label } else { label })
                .unwrap();
        }
        writeln!(text, "i{item},{label},{label},2,fixed").unwrap();
    }
    desk.write("anchors.csv", &text);
    let run = desk.run(&["audit", "anchors.csv", "--anchor-items", "i1,i2", "--out", "report", "--json"]);
    let audit: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"));
    let words: Vec<&str> = audit["anchors"][0]["points"]
        .as_array()
        .unwrap()
        .iter()
        .map(|point| point["words"].as_str().unwrap())
        .collect();
    assert_eq!(words, ["no anchors", "2 anchors", "2 anchors (deployed)"]);
    assert_eq!(audit["anchors"][0]["points"][2]["n_items"], 58);
    let html = desk.read("report/report.html");
    assert!(html.contains("Worked examples in the prompt") && html.contains("2 anchors (deployed)"));
    // The plain log says the same, in its own words.
    let again = desk.run(&["audit", "report/judgements.jsonl", "--anchor-items", "i1,i2", "--json"]);
    let again: Value = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!(again["anchors"], audit["anchors"]);
    assert_eq!(desk.run(&["convert", "anchors.csv", "plain.csv"]).status, 0);
    assert!(
        desk.read("plain.csv").lines().next().unwrap().contains("anchors,anchor_set"),
        "{}",
        desk.read("plain.csv")
    );
    assert_eq!(
        desk.run(&["audit", "anchors.csv", "--arm", "2 anchors"]).status,
        desk.run(&["audit", "plain.csv", "--arm", "2 anchors"]).status
    );
}
