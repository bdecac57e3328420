//! What an audit says is wrong with a log, and what it makes of such rows.

use assize_calibration::audit::result::Audit;
use assize_calibration::judgement::{Judgement, Verdict};
use assize_calibration::problem::{Problem, Severity};

use crate::small_logs::{Rows, close};

const ACCEPT: Option<Verdict> = Some(Verdict::Accept);
const REJECT: Option<Verdict> = Some(Verdict::Reject);

/// Adds accepting verdicts on items, each row at its line.
fn accepted<'a>(rows: impl IntoIterator<Item = (usize, Judgement<'a>)>) -> Audit {
    let mut log = Rows::default();
    for (line, (item, row)) in (1..).zip(rows) {
        let row = Judgement { item: item.to_string().into(), verdict: row.verdict.or(ACCEPT), ..row };
        log.0.push(&row, line);
    }
    log.audit()
}

#[track_caller]
fn the_problem<'a>(audit: &'a Audit, code: &str) -> &'a Problem {
    let found: Vec<&Problem> = audit.problems.iter().filter(|problem| problem.code == code).collect();
    assert_eq!(found.len(), 1, "{:?}", audit.problems);
    found[0]
}

#[track_caller]
fn is_at(problem: &Problem, severity: Severity, count: u64, column: &str, line: Option<u64>) {
    let found = (problem.severity, problem.count, problem.column.as_deref(), problem.line);
    assert_eq!(found, (severity, count, Some(column), line), "{problem:?}");
}

/// Items 0 and 2 contradict themselves and have no label; item 1 alone is labelled, and rightly accepted.
#[test]
fn items_with_two_labels_are_unlabelled() {
    let labels = [(0, "1"), (1, "1"), (0, "0"), (2, "0"), (2, "1"), (2, "1"), (1, "1")];
    let audit =
        accepted(labels.map(|(item, label)| (item, Judgement { label: Some(label.into()), ..Judgement::default() })));
    let problem = the_problem(&audit, "conflicting-labels");
    is_at(problem, Severity::Error, 2, "label", Some(3));
    assert!(problem.message.contains("item \"0\""), "{}", problem.message);
    assert_eq!((audit.data.n_labelled, audit.judges[0].n_labelled), (1, 1));
    let accuracy = &audit.judges[0].measures["accuracy"];
    assert_eq!((accuracy.estimate, accuracy.n_items, accuracy.n), (1.0, 1, 2));
}

/// Item 0 joins the groups g and h, with items 1 and 2; k stays apart.
#[test]
fn groups_that_share_an_item_are_one_cluster() {
    let groups = [(1, "g"), (0, "g"), (2, "h"), (0, "h"), (3, "k")];
    let audit =
        accepted(groups.map(|(item, group)| (item, Judgement { group: Some(group.into()), ..Judgement::default() })));
    is_at(the_problem(&audit, "item-in-two-groups"), Severity::Warning, 1, "group", Some(4));
    assert_eq!((audit.data.n_groups, audit.judges[0].n_items, audit.judges[0].n_clusters), (3, 4, 2));
}

/// Items 0, 1 and 3 are one text: two names too many.
#[test]
fn items_of_the_same_content_are_told_and_counted_once() {
    let contents = [(0, "x"), (1, "x"), (2, "y"), (3, "x"), (1, "x")];
    let audit = accepted(
        contents.map(|(item, content)| (item, Judgement { content: Some(content.into()), ..Judgement::default() })),
    );
    is_at(the_problem(&audit, "same-content"), Severity::Note, 2, "content", None);
    assert_eq!((audit.judges[0].n_items, audit.judges[0].n_clusters), (4, 2));
}

/// People say of item 0 both, of items 1 and 3 accept, of item 2 reject by two to one. The judge accepts all: ⅔.
#[test]
fn an_item_on_which_people_tie_has_no_label() {
    let mut rows: Vec<(usize, Judgement<'_>)> = (0..4).map(|item| (item, Judgement::default())).collect();
    for (rater, verdicts) in [
        ("ann", [ACCEPT, ACCEPT, REJECT, ACCEPT].as_slice()),
        ("bob", &[REJECT, ACCEPT, REJECT]),
        ("eve", &[None, None, ACCEPT]),
    ] {
        let ratings = verdicts.iter().enumerate().filter(|(_, verdict)| verdict.is_some());
        rows.extend(
            ratings.map(|(item, &verdict)| {
                (item, Judgement { verdict, rater: Some(rater.into()), ..Judgement::default() })
            }),
        );
    }
    let audit = accepted(rows);
    is_at(the_problem(&audit, "tied-raters"), Severity::Note, 1, "rater", None);
    assert_eq!((audit.data.label_source.as_str(), audit.data.n_labelled), ("raters (plurality)", 3));
    close(audit.judges[0].measures["accuracy"].estimate, 2.0 / 3.0, 1e-12);
    assert_eq!(audit.judges[0].measures["accuracy"].n_items, 3);
}

/// Two words are no verdicts; the items that have them are unlabelled, the others are not.
#[test]
fn a_label_that_names_no_verdict_leaves_its_item_unlabelled() {
    let labels = [(0, "1"), (1, "maybe"), (2, "maybe"), (3, "perhaps"), (4, "reject")];
    let audit =
        accepted(labels.map(|(item, label)| (item, Judgement { label: Some(label.into()), ..Judgement::default() })));
    let problem = the_problem(&audit, "unknown-label");
    is_at(problem, Severity::Warning, 2, "label", Some(2));
    assert!(problem.message.contains("\"maybe\", \"perhaps\""), "{}", problem.message);
    assert_eq!(audit.data.n_labelled, 2);
    let accuracy = &audit.judges[0].measures["accuracy"];
    assert_eq!((accuracy.estimate, accuracy.n_items), (0.5, 2));
}

#[test]
fn names_in_two_unicode_forms_are_told() {
    let mut log = Rows::default();
    for item in ["caf\u{e9}", "cafe\u{301}", "\u{5317}\u{4eac}", "cafe"] {
        log.0.push(&Judgement { item: item.into(), verdict: ACCEPT, ..Judgement::default() }, 0);
    }
    let audit = log.audit();
    let told: Vec<u64> =
        audit.problems.iter().filter(|found| found.code == "names-in-two-forms").map(|found| found.count).collect();
    assert_eq!((told, audit.judges[0].n_items), (vec![1], 4));
}
