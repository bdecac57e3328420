//! What is written to disk: whole or not at all, and nothing of anyone else's.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;
use std::time::Duration;

use assize_calibration::judgement::Judgement;

use crate::cli_support::{Desk, assize, log};

const REPORT: [&str; 5] = ["judgements.jsonl", "junit.xml", "report.html", "report.json", "report.md"];

#[test]
fn a_report_is_five_files() {
    let desk = Desk::new();
    let run = desk.run(&["audit", "fit.csv", "--gate", "gate.toml", "--out", "new/report"]);
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(desk.list("new/report"), REPORT);
    let judgements = desk.read("new/report/judgements.jsonl");
    assert_eq!(judgements.lines().count(), 300);
    for line in judgements.lines() {
        let judgement: Judgement<'_> = serde_json::from_str(line).unwrap();
        assert_eq!(judgement.judge, "fit");
    }
}

#[test]
fn nothing_is_written_without_out() {
    let desk = Desk::new();
    let before = desk.list("");
    desk.run(&["audit", "fit.csv"]);
    assert_eq!(desk.list(""), before);
}

#[test]
fn an_earlier_report_is_replaced_and_anything_else_is_not() {
    let desk = Desk::new();
    let to_report = ["audit", "fit.csv", "--gate", "gate.toml", "--out", "report"];
    assert_eq!(desk.run(&to_report).status, 0);
    assert_eq!(desk.run(&to_report).status, 0);
    fs::create_dir(desk.join("thesis")).unwrap();
    desk.write("thesis/thesis.tex", "years of work");
    let to_thesis = ["audit", "fit.csv", "--gate", "gate.toml", "--out", "thesis"];
    let refused = desk.run(&to_thesis);
    assert_eq!(refused.status, 3, "{refused:?}");
    assert!(refused.stderr.contains("--force"), "{}", refused.stderr);
    assert_eq!(desk.list("thesis"), ["thesis.tex"]);
    let forced = desk.run(&[&to_thesis[..], &["--force"]].concat());
    assert_eq!(forced.status, 0, "{forced:?}");
    assert_eq!(desk.read("thesis/thesis.tex"), "years of work");
}

#[test]
fn a_log_is_never_written_over_by_its_own_report() {
    let desk = Desk::new();
    let source = "{\"item\":\"a\",\"verdict\":\"accept\",\"label\":1,\"my_notes\":\"years of work\"}\n";
    fs::create_dir(desk.join("mine")).unwrap();
    desk.write("mine/judgements.jsonl", source);
    for force in [&[][..], &["--force"]] {
        let run = desk.run(&[&["audit", "mine/judgements.jsonl", "--out", "mine"], force].concat());
        assert_eq!(run.status, 3, "{run:?}");
        assert_eq!(desk.read("mine/judgements.jsonl"), source);
    }
    // Files that only share a name with those of a report are not an earlier report.
    let run = desk.run(&["audit", "fit.csv", "--out", "mine"]);
    assert_eq!(run.status, 3, "{run:?}");
    assert_eq!(desk.list("mine"), ["judgements.jsonl"]);
}

#[test]
fn a_failed_audit_leaves_no_directory() {
    let desk = Desk::new();
    assert_eq!(desk.run(&["audit", "absent.csv", "--out", "report"]).status, 3);
    assert!(!desk.join("report").exists());
}

#[test]
fn a_kill_in_the_middle_leaves_the_earlier_report_whole() {
    let desk = Desk::new();
    let args = ["audit", "-", "--gate", "gate.toml", "--out", "report"];
    desk.run(&["audit", "unfit.csv", "--gate", "gate.toml", "--out", "report"]);
    let earlier: Vec<String> = REPORT.iter().map(|name| desk.read(&format!("report/{name}"))).collect();

    let mut child = assize(args)
        .current_dir(desk.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // Standard input stays open: the tool waits for more rows until it is killed.
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(log(5000, |_| true).as_bytes()).unwrap();
    let has_begun = (0..400).any(|_| {
        std::thread::sleep(Duration::from_millis(25));
        desk.list("report").len() > REPORT.len()
    });
    assert!(has_begun);
    child.kill().unwrap();
    child.wait().unwrap();
    drop(stdin);

    for (name, text) in REPORT.iter().zip(&earlier) {
        assert_eq!(desk.read(&format!("report/{name}")), *text, "{name}");
    }
    let again = desk.run(&["audit", "fit.csv", "--gate", "gate.toml", "--out", "report"]);
    assert_eq!(again.status, 0, "{again:?}");
    assert_eq!(desk.list("report"), REPORT, "what the killed run left is gone");
}

/// A file system of 64 KiB, for as long as it lives.
#[cfg(target_os = "linux")]
struct SmallDisk(std::path::PathBuf);

#[cfg(target_os = "linux")]
impl SmallDisk {
    fn mount(at: std::path::PathBuf) -> Option<Self> {
        fs::create_dir(&at).unwrap();
        let mut mount = std::process::Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"]).arg(&at).stderr(Stdio::null());
        mount.status().is_ok_and(|status| status.success()).then_some(Self(at))
    }
}

#[cfg(target_os = "linux")]
impl Drop for SmallDisk {
    fn drop(&mut self) {
        std::process::Command::new("umount").arg(&self.0).status().unwrap();
    }
}

#[cfg(target_os = "linux")]
#[test]
#[expect(clippy::print_stderr, reason = "a test that could not be made says so")]
fn a_full_disk_leaves_no_half_written_report() {
    let desk = Desk::new();
    let Some(disk) = SmallDisk::mount(desk.join("disk")) else {
        eprintln!("skipped: a small file system can be mounted only by root");
        return;
    };
    desk.write("long.csv", &log(20_000, |_| true));
    let run = desk.run(&["audit", "long.csv", "--gate", "gate.toml", "--out", "disk/report"]);
    assert_eq!(run.status, 3, "{run:?}");
    assert!(run.stderr.contains("failed to write") && run.stderr.contains("No space left"), "{}", run.stderr);
    assert!(!disk.0.join("report").exists());
    // A file that is not a report stays as it was.
    fs::write(disk.0.join("log.jsonl"), "old").unwrap();
    let run = desk.run(&["convert", "long.csv", "disk/log.jsonl", "--force"]);
    assert_eq!(run.status, 3, "{run:?}");
    assert_eq!(desk.list("disk"), ["log.jsonl"]);
    assert_eq!(desk.read("disk/log.jsonl"), "old");
}

#[test]
fn convert_writes_the_plain_log_and_refuses_to_overwrite() {
    let desk = Desk::new();
    let run = desk.run(&["convert", "fit.csv", "few.csv", "log.jsonl"]);
    assert_eq!((run.status, run.stdout.as_str()), (0, ""), "{run:?}");
    assert!(run.stderr.contains("306 judgements"), "{}", run.stderr);
    let text = desk.read("log.jsonl");
    assert_eq!(text.lines().count(), 306);
    assert_eq!(desk.run(&["convert", "fit.csv", "few.csv", "-"]).stdout, text);
    let refused = desk.run(&["convert", "few.csv", "fit.csv"]);
    assert_eq!(refused.status, 3, "{refused:?}");
    assert_eq!(desk.run(&["convert", "few.csv", "log.jsonl"]).status, 3);
    assert_eq!(desk.run(&["convert", "few.csv", "log.jsonl", "--force"]).status, 0);
    assert_eq!(desk.read("log.jsonl").lines().count(), 6);
}

#[test]
fn convert_never_writes_over_its_own_input() {
    let desk = Desk::new();
    let before = desk.read("fit.csv");
    let refused = |args: &[&str]| {
        let run = desk.run(&[&["convert"], args, &["--force"]].concat());
        assert_eq!(run.status, 3, "{run:?}");
        assert!(run.stderr.contains("is being read and would be written over"), "{}", run.stderr);
        assert_eq!(desk.read("fit.csv"), before);
    };
    refused(&["fit.csv", "fit.csv"]);
    refused(&["few.csv", "fit.csv", "./fit.csv"]);
    refused(&["few.csv", "fit.csv", "--columns", "labels={file=fit.csv, item=item, label=label}"]);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("fit.csv", desk.join("link.csv")).unwrap();
        refused(&["link.csv", "fit.csv"]);
        refused(&["fit.csv", "link.csv"]);
        assert!(fs::symlink_metadata(desk.join("link.csv")).unwrap().is_symlink());
    }
}

#[test]
fn convert_counts_in_json() {
    let desk = Desk::new();
    let run = desk.run(&["convert", "fit.csv", "log.jsonl", "--json"]);
    let value: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((&value["n_rows"], &value["n_judgements"]), (&300.into(), &300.into()));
}

#[cfg(target_os = "linux")]
#[test]
fn a_device_is_written_not_replaced() {
    use std::os::unix::fs::FileTypeExt as _;
    let desk = Desk::new();
    let run = desk.run(&["convert", "fit.csv", "/dev/null"]);
    assert_eq!(run.status, 0, "{run:?}");
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
}

#[test]
fn a_report_is_written_again_in_every_format() {
    let desk = Desk::new();
    desk.run(&["audit", "fit.csv", "--gate", "gate.toml", "--out", "run"]);
    for (format, file) in
        [("html", "report.html"), ("md", "report.md"), ("json", "report.json"), ("junit", "junit.xml")]
    {
        let run = desk.run(&["report", "run", "--format", format]);
        assert_eq!((run.status, run.stdout), (0, desk.read(&format!("run/{file}"))), "{format}");
    }
    let summary = desk.run(&["audit", "fit.csv", "--gate", "gate.toml"]).stdout;
    assert_eq!(desk.run(&["report", "run/report.json"]).stdout, summary);
    let run = desk.run(&["report", "run", "--format", "md", "--out", "again.md"]);
    assert_eq!((run.status, run.stdout.as_str()), (0, ""));
    assert_eq!(desk.read("again.md"), desk.read("run/report.md"));
}

#[test]
fn a_report_is_asked_for_in_one_format() {
    let desk = Desk::new();
    desk.run(&["audit", "fit.csv", "--gate", "gate.toml", "--out", "run"]);
    let run = desk.run(&["report", "run", "--format", "md", "--json"]);
    assert_eq!(run.status, 3, "{run:?}");
    assert!(run.stdout.contains("--json and --format md ask for two formats"), "{}", run.stdout);
    for args in [&["--json"][..], &["--format", "json", "--json"]] {
        let run = desk.run(&[&["report", "run"], args].concat());
        assert_eq!((run.status, run.stdout), (0, desk.read("run/report.json")), "{args:?}");
    }
}

#[test]
fn what_is_no_report_is_refused_with_a_reason() {
    let desk = Desk::new();
    for (text, said) in [
        ("{", "failed to read x.json"),
        ("{}", "not a result of assize"),
        (r#"{"schema": "assize.audit/9"}"#, "assize.audit/9"),
        (r#"{"schema": "assize.audit/1"}"#, "missing field"),
    ] {
        desk.write("x.json", text);
        let run = desk.run(&["report", "x.json"]);
        assert_eq!(run.status, 3, "{run:?}");
        assert!(run.stderr.contains(said), "{}", run.stderr);
    }
}
