//! JSON whose objects have other keys further down.

use assize_calibration::judgement::Verdict;

use super::{Kept, check_error, read_as};

#[test]
fn a_field_may_first_come_late() {
    let lines = format!(
        "{}{}",
        "{\"item\":\"q\",\"score\":1}\n".repeat(1500),
        "{\"item\":\"q\",\"error\":\"timeout\",\"repeat\":2}\n"
    );
    let kept = read_as(lines, "");
    assert_eq!(kept.rows[1500].0.error.as_deref(), Some("timeout"));
    assert_eq!(kept.rows[1500].0.repeat, Some(2));
}

/// A thousand objects, after which the columns are settled, and a thousand of another kind.
fn two_kinds(first: &str, second: &str) -> Kept {
    two_kinds_as(first, second, "")
}

fn two_kinds_as(first: &str, second: &str, columns: &str) -> Kept {
    let rows = |more: &str| format!("{{\"item\":\"a\",{more}}}\n").repeat(1000);
    read_as(rows(first) + &rows(second), columns)
}

#[test]
fn a_column_that_first_comes_late_is_read_and_told() {
    let kept = two_kinds(r#""score":1"#, r#""score":1,"Gold":2"#);
    assert_eq!(kept.rows[1000].0.label.as_ref().map(|label| label.0.as_ref()), Some("2"));
    assert_eq!(kept.codes(), [("late-column", 1000, 1001)]);

    let kept = two_kinds(r#""score":1,"model":"m""#, r#""score":1,"judge":"j""#);
    assert_eq!((kept.rows[999].0.judge.as_ref(), kept.rows[1000].0.judge.as_ref()), ("m", "j"));
    assert_eq!(kept.codes(), [("mixed-columns", 1000, 1001)]);
    assert_eq!(kept.problems.last().and_then(|problem| problem.column.as_deref()), Some("judge"));

    let kept = two_kinds(r#""judge":"j","verdict":"reject""#, r#""judge":"j","passed":true"#);
    assert_eq!((kept.rows[999].0.verdict, kept.rows[1000].0.verdict), (Some(Verdict::Reject), Some(Verdict::Accept)));
    assert_eq!(kept.codes(), [("mixed-columns", 1000, 1001)]);
}

#[test]
fn a_late_column_beside_another_is_left_out_and_told() {
    let kept = two_kinds(r#""score":1,"model":"m""#, r#""score":1,"judge":"j","model":"m""#);
    assert_eq!(kept.rows[1000].0.judge, "m");
    assert_eq!(kept.codes(), [("mixed-columns", 1000, 1001)]);
    // What would have been left out from the first row on is worth a note.
    let kept = two_kinds(r#""score":1"#, r#""score":1,"id":"x""#);
    assert_eq!((kept.rows[1000].0.item.as_ref(), kept.codes()), ("a", vec![("late-column", 1000, 1001)]));
    // Of two that come late in one row each is told, but for the field's own name, which needs no telling.
    let kept = two_kinds(r#""score":1"#, r#""score":1,"gold":2,"truth":3"#);
    assert_eq!(kept.codes(), [("late-column", 1000, 1001), ("two-late-columns", 1000, 1001)]);
    let kept = two_kinds(r#""score":1"#, r#""score":1,"gold":2,"label":3"#);
    assert_eq!(kept.rows[1000].0.label.as_ref().map(|label| label.0.as_ref()), Some("3"));
    assert_eq!(kept.codes(), [("late-column", 1000, 1001)]);
    // Seen early and left out, or nothing that is known: nothing more to say.
    let kept = two_kinds(r#""score":1,"judge":"j","model":"m""#, r#""score":1,"model":"m","remark":"x","score_2":3"#);
    assert_eq!((kept.rows[1000].0.judge.as_ref(), kept.codes()), ("judge-x", vec![]));
    // What is said of columns holds for late ones too.
    for columns in ["ignore=[gold, label]", "score=score, label=score"] {
        let kept = two_kinds_as(r#""score":1"#, r#""score":1,"gold":2,"label":3"#, columns);
        let label = kept.rows[1000].0.label.as_ref().map(|label| label.0.as_ref());
        assert_eq!((label, kept.codes()), (columns.ends_with("label=score").then_some("1"), vec![]), "{columns}");
    }
    check_error("{\"item\":\"a\",\"score\":1}", "ignore=scroe", &["no column `scroe`"]);
    let twice = two_kinds(r#""score":1"#, r#""score":1,"gold":2,"gold":3"#);
    assert_eq!(twice.codes(), [("invalid-json", 1000, 1001)]);
}
