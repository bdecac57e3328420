//! Looks recorded: what looking again at a growing log does to a verdict, and what a plan of looks makes of it.

use assize_calibration::audit::result::{Audit, Fitness, Look};
use assize_calibration::audit::{AuditConfig, LookOrder, audit, record_looks};
use assize_calibration::gate::{Gate, Limit};
use assize_calibration::sequential::repeated_looks;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::small_logs::{Rows, at_most, close};

/// Armitage, `McPherson` and Rowe 1969, table 2: two-sided .05 at equal steps. Passing on one side is half of it, but for what passes both.
#[test]
fn repeated_looks_agree_with_the_published_table() {
    for (n_looks, two_sided) in [(1, 0.05), (2, 0.083), (3, 0.107), (4, 0.126), (5, 0.142), (10, 0.193), (20, 0.248)] {
        let sizes: Vec<f64> = (1..=n_looks).map(f64::from).collect();
        let one_sided = repeated_looks(&sizes, 1.959_963_984_540_054);
        // Both sides are passed seldom: at twenty looks in some .006 of runs.
        assert!(
            2.0 * one_sided >= two_sided - 0.000_6 && 2.0 * one_sided <= two_sided + 0.008,
            "{n_looks}: {one_sided}"
        );
    }
    close(repeated_looks(&[25.0, 50.0], 1.959_963_984_540_054), 0.041_6, 2e-4);
    // The same size again, and steps of every kind.
    let twice = repeated_looks(&[50.0, 50.0, 40.0], 1.96);
    close(twice, repeated_looks(&[50.0], 1.96), 1e-12);
    assert_eq!(repeated_looks(&[], 1.96), 0.0);
    let fine: Vec<f64> = (100_000..100_005).map(f64::from).collect();
    let found = repeated_looks(&fine, 1.96);
    assert!((0.024..0.027).contains(&found), "{found}");
}

/// A judge that errs on every `every`-th of `n` wrong items, and never on as many right ones.
fn rows(n: usize, every: usize) -> Rows {
    let mut rows = Rows::default();
    for item in 0..n {
        rows.verdict(item, Some(item % every == every - 1), false);
        rows.verdict(100_000 + item, Some(true), true);
    }
    rows
}

fn gate() -> Gate {
    Gate {
        name: "test".to_owned(),
        limits: [("false_accept_rate".to_owned(), Limit { required: true, ..at_most(0.1) })].into(),
        truth_optional: true,
    }
}

fn look(rows: &Rows, config: &AuditConfig, ledger: &mut Vec<Look>) -> Audit {
    look_past(rows, config, ledger, 0)
}

fn look_past(rows: &Rows, config: &AuditConfig, ledger: &mut Vec<Look>, n_unreadable: u64) -> Audit {
    let mut audited = audit(&rows.0, config, &gate()).unwrap();
    let added = record_looks(&mut audited, &rows.0, ledger, n_unreadable);
    ledger.extend(added);
    audited
}

#[test]
fn looking_again_without_a_plan_is_said() {
    let mut ledger = Vec::new();
    let config = AuditConfig::default();
    let first = look(&rows(60, 50), &config, &mut ledger);
    let history = first.judges[0].look_history.as_ref().unwrap();
    assert_eq!((history.look, history.false_pass, history.is_void), (1, None, false));
    // The same data again are no look.
    let again = look(&rows(60, 50), &config, &mut ledger);
    assert_eq!((again.judges[0].look_history.as_ref().unwrap().look, ledger.len()), (1, 1));
    look(&rows(120, 50), &config, &mut ledger);
    let third = look(&rows(180, 50), &config, &mut ledger);
    let history = third.judges[0].look_history.as_ref().unwrap();
    assert_eq!((history.look, ledger.len()), (3, 3));
    // Armitage: .107 two-sided at three looks in equal steps.
    close(history.false_pass.unwrap(), 0.0535, 0.0015);
    assert!(
        history
            .words
            .starts_with("This is look 3 at a growing log: a judge exactly at its limit passes 5.4 % of the time"),
        "{}",
        history.words
    );
    assert!(
        third.judges[0]
            .findings
            .iter()
            .any(|finding| finding.what == history.words && finding.advice.contains("--anytime"))
    );
    assert_eq!(third.fitness, Fitness::Fit);
    // An audit of the first data once more is still the first look.
    assert_eq!(look(&rows(60, 50), &config, &mut ledger).judges[0].look_history.as_ref().unwrap().look, 1);
    // Another question is told apart, and told.
    let other = AuditConfig { level: 0.9, ..AuditConfig::default() };
    let asked = look(&rows(180, 50), &other, &mut ledger);
    let history = asked.judges[0].look_history.as_ref().unwrap();
    assert!(history.look == 1 && history.words.contains("3 earlier looks asked something else"), "{}", history.words);
}

#[test]
fn a_plan_splits_the_level_and_holds_only_as_long_as_it_is_kept() {
    let planned = AuditConfig { planned_looks: Some(2), ..AuditConfig::default() };
    assert!((planned.gate_level() - 0.975).abs() < 1e-12);
    // No false accept among 36 is shown to be under 10 % at one look, and takes 42 at one of two.
    let (few, more) = (rows(37, 1000), rows(45, 1000));
    let of = |rows: &Rows, config: &AuditConfig| audit(&rows.0, config, &gate()).unwrap().fitness;
    assert_eq!(
        (of(&few, &AuditConfig::default()), of(&few, &planned), of(&more, &planned)),
        (Fitness::Fit, Fitness::Inconclusive, Fitness::Fit)
    );
    let mut ledger = Vec::new();
    assert_eq!(look(&few, &planned, &mut ledger).fitness, Fitness::Inconclusive);
    let second = look(&more, &planned, &mut ledger);
    assert_eq!(second.fitness, Fitness::Fit);
    assert!(
        second.judges[0]
            .look_history
            .as_ref()
            .unwrap()
            .words
            .starts_with("Look 2 of 2 planned; limits are tested at 97.5 % each")
    );
    let third = look(&rows(90, 1000), &planned, &mut ledger);
    assert_eq!((third.fitness, third.judges[0].fitness), (Fitness::Inconclusive, Fitness::Inconclusive));
    assert!(third.judges[0].why.starts_with("It would be fit, were this not look 3"), "{}", third.judges[0].why);
    // A plan made afterwards is none; nor is one beside a record that cannot be read.
    let mut ledger = Vec::new();
    look(&few, &AuditConfig::default(), &mut ledger);
    assert_eq!(look(&more, &planned, &mut ledger).fitness, Fitness::Inconclusive);
    assert_eq!(look_past(&more, &planned, &mut Vec::new(), 1).fitness, Fitness::Inconclusive);
    for wrong in [
        AuditConfig { planned_looks: Some(0), ..AuditConfig::default() },
        AuditConfig { anytime: Some(LookOrder::Log), ..planned },
    ] {
        assert!(wrong.check().unwrap_err().to_string().starts_with("planned_looks must"));
    }
}

/// A judge exactly at its limit, looked at five times: unplanned it passes too often, planned it does not.
#[test]
fn planned_looks_keep_false_passes_rare() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let n_runs = 400;
    let mut n_passed = [0; 2];
    for _ in 0..n_runs {
        let accepts: Vec<bool> = (0..400).map(|_| rng.random::<f64>() < 0.1).collect();
        for (config, passed) in [None, Some(5)].into_iter().zip(&mut n_passed) {
            let config = AuditConfig { planned_looks: config, ..AuditConfig::default() };
            *passed += i32::from([80, 160, 240, 320, 400].into_iter().any(|n| {
                let mut rows = Rows::default();
                for (item, accepts) in accepts[..n].iter().enumerate() {
                    rows.verdict(item, Some(*accepts), false);
                }
                audit(&rows.0, &config, &gate()).unwrap().fitness == Fitness::Fit
            }));
        }
    }
    let [unplanned, planned] = n_passed.map(|n| f64::from(n) / f64::from(n_runs));
    assert!(planned <= 0.025 + 0.016, "{planned}");
    assert!(unplanned > planned, "{unplanned} {planned}");
}
