//! Rules of reading labels: what two spellings, two dimensions and a vocabulary of its own come to.

use assize_calibration::audit::result::Audit;
use assize_calibration::audit::{AuditConfig, audit};
use assize_calibration::gate::Gate;
use assize_calibration::judgement::{Judgement, Verdict};
use assize_calibration::log::Log;
use assize_calibration::problem::Problem;

use crate::small_logs::Rows;

/// Audits verdicts of items, each with a dimension (or none) and a label (or none).
fn audited(rows: &[(usize, Option<&str>, Verdict, Option<&str>)]) -> Audit {
    let mut log = Rows::default();
    for &(item, dimension, verdict, label) in rows {
        let row = Judgement { verdict: Some(verdict), ..Judgement::default() };
        let row = Judgement { dimension: dimension.map(Into::into), label: label.map(Into::into), ..row };
        log.push(item, row);
    }
    log.audit()
}

fn problem<'a>(audit: &'a Audit, code: &str) -> Option<&'a Problem> {
    audit.problems.iter().find(|problem| problem.code == code)
}

#[test]
fn labels_that_say_the_same_do_not_conflict() {
    use Verdict::{Accept, Reject};
    let audit = audited(&[
        (0, None, Accept, Some("1")),
        (0, None, Accept, Some("1.0")),
        (0, None, Reject, Some("accept")),
        (1, None, Accept, Some("yes")),
        (1, None, Accept, Some("0")),
    ]);
    let conflicts = problem(&audit, "conflicting-labels").unwrap();
    assert_eq!(conflicts.count, 1, "{conflicts:?}");
    assert!(conflicts.message.contains("\"1\""), "{conflicts:?}");
    assert_eq!(audit.judges[0].n_labelled, 1);
}

#[test]
fn a_label_of_the_item_holds_for_dimensions_without_their_own() {
    use Verdict::{Accept, Reject};
    let audit = audited(&[
        (0, Some("tone"), Accept, None),
        (0, Some("facts"), Accept, Some("0")),
        (0, None, Accept, Some("1")),
        (1, Some("tone"), Reject, None),
        (1, None, Accept, Some("1")),
    ]);
    // tone of 0 right, facts of 0 wrong, the whole of 0 right, tone of 1 wrong, the whole of 1 right.
    let accuracy = &audit.judges[0].measures["accuracy"];
    assert_eq!((accuracy.n, accuracy.details["n_hits"]), (5, 3.0));
    assert_eq!(audit.data.n_labelled, 2);
}

#[test]
fn a_label_in_conflict_is_not_replaced_by_that_of_the_item() {
    use Verdict::Accept;
    let audit = audited(&[
        (0, Some("tone"), Accept, Some("1")),
        (0, Some("tone"), Accept, Some("0")),
        (0, None, Accept, Some("1")),
        (1, Some("tone"), Accept, Some("1")),
    ]);
    assert_eq!(problem(&audit, "conflicting-labels").unwrap().count, 1);
    assert_eq!(audit.judges[0].measures["accuracy"].n, 2);
}

/// Classes answered as numbers and labelled by name are the commonest way to an accuracy of nought.
#[test]
fn labels_that_are_never_answered_are_told() {
    let mut rows = Rows::default();
    for item in 0..6 {
        let category = Some((item % 3).to_string().into());
        let label = Some(["bug", "feature", "question"][item % 3].into());
        rows.push(item, Judgement { category, label, ..Judgement::default() });
    }
    let found = rows.audit();
    let told = problem(&found, "labels-unlike-answers").unwrap();
    assert!(told.message.contains("\"feature\"") && told.message.contains("\"2\""), "{told:?}");
}

#[test]
fn an_unknown_label_is_placed() {
    let mut log = Log::default();
    log.begin_source("first.csv");
    let row = |item: &'static str, label: &'static str| Judgement {
        item: item.into(),
        verdict: Some(Verdict::Accept),
        label: Some(label.into()),
        ..Judgement::default()
    };
    log.push(&row("a", "1"), 2);
    log.begin_source("second.csv");
    log.push(&row("b", "perhaps"), 2);
    let found = audit(&log, &AuditConfig::default(), &Gate::built_in()).unwrap();
    let told = problem(&found, "unknown-label").unwrap();
    assert_eq!((told.file.as_deref(), told.line, told.count), (Some("second.csv"), Some(2), 1));
    assert!(told.message.contains("\"perhaps\""), "{told:?}");
}

/// With scores as labels nothing is good or bad until somebody says from which label on.
#[test]
fn labels_that_are_scores_ask_for_a_bar() {
    let mut rows = Rows::default();
    for item in 0..40_u32 {
        let (score, label) = (Some(f64::from(item % 10)), Some(format!("{}", (item + 1) % 10).into()));
        rows.push(item as usize, Judgement { score, label, ..Judgement::default() });
    }
    let config = AuditConfig { accept_at: Some(6.0), ..AuditConfig::default() };
    let judge = audit(&rows.0, &config, &Gate::built_in()).unwrap().judges.remove(0);
    let unmeasured = judge.unmeasured.iter().find(|unmeasured| unmeasured.id == "false_accept_rate").unwrap();
    assert_eq!(unmeasured.needs, ["--good-at"]);
    assert!(judge.findings.iter().any(|finding| finding.advice.contains("--good-at")), "{:?}", judge.findings);
    let config = AuditConfig { good_at: Some(6.0), ..config };
    let judge = audit(&rows.0, &config, &Gate::built_in()).unwrap().judges.remove(0);
    assert!(judge.measures.contains_key("false_accept_rate"));
}

#[test]
fn there_is_one_zero_only() {
    let mut rows = Rows::default();
    for (item, score, label) in [(0, 5.0, "1"), (1, 1.0, "-0.0"), (2, 4.0, "1"), (3, 2.0, "0"), (3, 2.0, "-0.0")] {
        rows.push(item, Judgement { score: Some(score), label: Some(label.into()), ..Judgement::default() });
    }
    let audit = rows.audit();
    assert!(problem(&audit, "conflicting-labels").is_none());
    assert!(audit.judges[0].measures.contains_key("auc"));
}
