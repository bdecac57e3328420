//! What is printed, where, and what happens when it cannot be.

use std::io::{Read as _, pipe};
use std::process::Stdio;

use assize_calibration::audit::result::{Audit, SCHEMA};

use crate::cli_support::{Desk, Run, assize};

const AUDIT: [&str; 4] = ["audit", "fit.csv", "--gate", "gate.toml"];

fn audit_with(desk: &Desk, more: &[&str]) -> Run {
    desk.run(&[&AUDIT, more].concat())
}

#[test]
fn json_is_the_audit_and_nothing_else() {
    let desk = Desk::new();
    let run = audit_with(&desk, &["--json"]);
    let audit: Audit = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((audit.schema.as_str(), audit.version.as_str()), (SCHEMA, env!("CARGO_PKG_VERSION")));
    assert_eq!(audit.source.files, ["fit.csv"]);
    assert_eq!(audit.data.n_rows, 300);
    assert_eq!(run.stderr, "");
}

#[test]
fn json_is_the_same_bytes_as_report_json() {
    let desk = Desk::new();
    let run = audit_with(&desk, &["--json", "--out", "report"]);
    assert_eq!(run.stdout, desk.read("report/report.json"));
}

#[test]
fn the_summary_tells_how_to_get_a_report_and_where_it_is() {
    let desk = Desk::new();
    let without = audit_with(&desk, &[]);
    assert!(without.stderr.contains("--out DIR"), "{without:?}");
    let with = audit_with(&desk, &["--out", "report"]);
    let path = with.stdout.lines().last().unwrap().strip_prefix("report: ").unwrap();
    assert!(std::path::Path::new(path).is_absolute(), "{path}");
    assert!(std::fs::read_to_string(path).unwrap().contains('<'));
}

#[test]
fn quiet_prints_only_what_was_asked_for() {
    let desk = Desk::new();
    let quiet = audit_with(&desk, &["--quiet"]);
    assert_eq!((quiet.status, quiet.stdout.as_str(), quiet.stderr.as_str()), (0, "", ""));
    let json = audit_with(&desk, &["--quiet", "--json"]);
    serde_json::from_str::<Audit>(&json.stdout).unwrap();
    let wrong = desk.run(&["audit", "absent.csv", "--quiet"]);
    assert!(wrong.stderr.starts_with("error: "), "{wrong:?}");
}

#[test]
fn verbose_tells_what_was_read_and_which_gate() {
    let run = audit_with(&Desk::new(), &["--verbose"]);
    assert!(run.stderr.contains("fit.csv: "), "{}", run.stderr);
    assert!(run.stderr.contains("gate: gate.toml"), "{}", run.stderr);
}

#[test]
fn colours_are_used_only_where_they_are_wanted() {
    let desk = Desk::new();
    let coloured = |args: &[&str], variables: &[(&str, &str)]| {
        let mut command = assize(AUDIT.iter().chain(args));
        let output = command.current_dir(desk.path()).envs(variables.iter().copied()).output().unwrap();
        Run::from(output).stdout.contains('\u{1b}')
    };
    assert!(!coloured(&[], &[]), "not off a terminal");
    assert!(coloured(&["--color", "always"], &[]));
    assert!(coloured(&["--color", "always"], &[("NO_COLOR", "1")]), "a flag counts more than a variable");
    assert!(coloured(&[], &[("CLICOLOR_FORCE", "1")]));
    assert!(!coloured(&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    assert!(!coloured(&["--color", "never"], &[("CLICOLOR_FORCE", "1")]));
}

#[test]
fn a_reader_that_went_away_changes_neither_status_nor_report() {
    let desk = Desk::new();
    for (args, expected) in [
        (&["audit", "unfit.csv", "--gate", "gate.toml", "--out", "report"][..], 1),
        (&["audit", "unfit.csv", "--gate", "gate.toml", "--json"], 1),
        (&["schema", "audit"], 0),
        (&["convert", "fit.csv", "-"], 0),
        (&["--help"], 0),
    ] {
        let (reader, writer) = pipe().unwrap();
        drop(reader);
        let output = assize(args).current_dir(desk.path()).stdout(writer).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(output.status.code(), Some(expected), "{args:?}: {output:?}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(!stderr.contains("error") && !stderr.contains("panic"), "{args:?}: {stderr}");
    }
    assert!(desk.join("report/report.html").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_under_standard_output_is_told() {
    let desk = Desk::new();
    for args in [
        &["audit", "fit.csv", "--gate", "gate.toml", "--json"][..],
        &["gate"],
        &["convert", "fit.csv", "-"],
        &["--help"],
        &["audit", "--help"],
        &["--version"],
    ] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut child = assize(args).current_dir(desk.path()).stdout(full).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = String::new();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(3), "{args:?}: {stderr}");
        assert!(stderr.contains("failed to write standard output"), "{args:?}: {stderr}");
        assert!(stderr.contains("No space left"), "{args:?}: {stderr}");
    }
}

#[test]
fn no_progress_is_shown_off_a_terminal() {
    let run = audit_with(&Desk::new(), &["--out", "report"]);
    assert!(!run.stderr.contains("reading") && !run.stderr.contains('\r'), "{:?}", run.stderr);
}
