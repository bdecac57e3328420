//! Results rendered again, and what the command line says of values that cannot be.

use std::fs::{self, File};

use crate::cli_support::{Desk, assize};

/// What a command printed as JSON comes out of `report` in each of its formats as the command gives it.
#[test]
fn every_result_is_rendered_again_as_its_command_renders_it() {
    let desk = Desk::new();
    for (name, args, other) in [
        ("plan.json", vec!["plan", "few.csv", "--gate", "gate.toml"], "html"),
        ("escalate.json", vec!["escalate", "few.csv", "--gate", "gate.toml"], "csv"),
        ("compare.json", vec!["compare", "fit.csv", "unfit.csv"], "md"),
        ("sentinel.json", vec!["sentinel", "fit.csv", "unfit.csv"], "md"),
        ("report.json", vec!["audit", "fit.csv", "--gate", "gate.toml"], "junit"),
    ] {
        let json: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
        let printed = desk.run(&json);
        desk.write(name, &printed.stdout);
        let again = desk.run(&["report", name, "--json"]);
        assert_eq!((again.status, &again.stdout), (0, &printed.stdout), "{name}: {}", again.stderr);
        let shown = desk.run(&["report", name]);
        let text = desk.run(&args);
        assert!(shown.status == 0 && !shown.stdout.is_empty(), "{name}: {}", shown.stderr);
        assert!(text.stdout.starts_with(shown.stdout.trim_end()), "{name}\n{}\n{}", text.stdout, shown.stdout);
        let other = desk.run(&["report", name, "--format", other]);
        assert!(other.status == 0 && !other.stdout.is_empty(), "{name}: {}", other.stderr);
    }
    let refused = desk.run(&["report", "plan.json", "--format", "junit"]);
    assert_eq!(refused.status, 3);
    assert!(refused.stderr.contains("a plan is not written as junit"), "{}", refused.stderr);
    desk.run(&["compare", "fit.csv", "unfit.csv", "--out", "compared"]);
    let of_directory = desk.run(&["report", "compared", "--format", "md"]);
    assert_eq!(of_directory.stdout, fs::read_to_string(desk.join("compared/compare.md")).unwrap());
}

#[test]
fn results_of_another_version_or_of_nothing_are_told_apart() {
    let desk = Desk::new();
    for (schema, says) in [
        ("assize.plan/2", "this version reads assize.plan/1"),
        ("assize.poem/1", "none of a result of assize"),
        ("assize.plan/1", "does not hold what that has"),
    ] {
        desk.write("some.json", &format!("{{\"schema\": \"{schema}\"}}"));
        let run = desk.run(&["report", "some.json"]);
        assert_eq!(run.status, 3);
        assert!(run.stderr.contains(says), "{}", run.stderr);
    }
}

#[test]
fn negative_values_are_answered_in_our_own_words() {
    let desk = Desk::new();
    for (args, says) in [
        (vec!["audit", "fit.csv", "--costs", "-1:1"], "--costs"),
        (vec!["audit", "fit.csv", "--windows", "-3"], "write day, week, or a whole number of at least 1"),
        (vec!["escalate", "few.csv", "--top", "-1"], "write a whole number of at least 0"),
        (vec!["compare", "fit.csv", "fit.csv", "--b", "-11"], "B has no judge and no arm named \"-11\""),
        (vec!["audit", "fit.csv", "--anytime", "log"], "write --anytime=log"),
    ] {
        let run = desk.run(&args);
        assert_eq!(run.status, 3, "{args:?}");
        assert!(run.stderr.contains(says) && !run.stderr.contains("-- -"), "{args:?}: {}", run.stderr);
    }
}

#[cfg(unix)]
#[test]
fn a_log_on_standard_input_is_not_written_over() {
    let desk = Desk::new();
    let before = fs::read_to_string(desk.join("fit.csv")).unwrap();
    let mut command = assize(["convert", "-", "fit.csv", "--force"]);
    let run = command.current_dir(desk.path()).stdin(File::open(desk.join("fit.csv")).unwrap()).output().unwrap();
    assert_eq!(run.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&run.stderr).contains("is being read and would be written over"));
    assert_eq!(fs::read_to_string(desk.join("fit.csv")).unwrap(), before);
}
