//! What is made of odd and broken input: told with its line, and never silently dropped.

use std::io::{self, Cursor, Read};
use std::path::Path;

use assize_calibration::judgement::Verdict;
use assize_calibration::problem::Severity;

use super::{Kept, check, check_error, read_as, try_read};
use crate::formats::source::ROW_BYTES;
use crate::formats::{ReadOptions, read_stream};

#[test]
fn what_is_not_understood_is_unparsed_and_kept() {
    let kept = read_as("item,verdict\na,maybe\nb,\nc,accept\nd,perhaps\n", "");
    assert!(kept.rows[0].0.is_unparsed() && kept.rows[0].0.raw.as_deref() == Some("maybe"));
    assert!(kept.rows[1].0.is_unparsed() && kept.rows[1].0.raw.is_none());
    assert_eq!(kept.rows[2].0.verdict, Some(Verdict::Accept));
    assert_eq!(kept.codes(), [("unparsed-outcome", 2, 2), ("empty-outcome", 1, 3)]);

    let kept = read_as("item,score\na,NaN\nb,inf\nc,8/10\nd, 7 \ne,1e400\n", "");
    assert_eq!(kept.rows.iter().map(|(row, _)| row.score).collect::<Vec<_>>(), [None, None, None, Some(7.0), None]);
    assert_eq!(kept.rows[2].0.raw.as_deref(), Some("8/10"));
    assert_eq!(kept.codes(), [("non-finite-score", 3, 2), ("unparsed-outcome", 1, 4)]);

    let kept = read_as(
        "{\"item\":\"a\",\"score\":NaN}\n{\"item\":\"b\",\"score\":-Infinity}\n{\"item\":\"NaN\",\"score\":3}",
        "",
    );
    assert_eq!(kept.codes(), [("non-finite-score", 2, 1)]);
    assert_eq!(kept.rows.len(), 3);
}

#[test]
fn bad_rows_are_reported_with_their_line_and_left_out() {
    for newline in ["\n", "\r\n"] {
        let table = ["item,repeat,score", "a,1,3", "b,2", ",1,4", "c,x,5", "d,1,6"].join(newline);
        let (summary, kept) = try_read(table, "", ROW_BYTES);
        let summary = summary.expect("reads");
        assert_eq!((summary.n_rows, summary.n_bad_rows, kept.rows.len()), (5, 3, 2));
        assert_eq!(
            kept.codes(),
            [("wrong-number-of-fields", 1, 3), ("missing-item", 1, 4), ("bad-repeat", 1, 5)],
            "{newline:?}"
        );
        assert_eq!(kept.problems[2].column.as_deref(), Some("repeat"));
    }
    let kept = read_as(
        "{\"item\":\"a\",\"score\":1}\n{\"item\": broken\n[1]\n{\"score\":2}\n{\"item\":\"b\",\"score\":3}\n",
        "",
    );
    assert_eq!(kept.codes(), [("invalid-json", 2, 2), ("missing-item", 1, 4)]);
    assert_eq!(kept.rows.last().map(|(row, line)| (row.item.as_ref(), *line)), Some(("b", 5)));
    let kept = read_as("[{\"item\":\"a\",\"score\":1}, {\"item\" 3}, {\"item\":\"b\",\"score\":2}, {\"item\":", "");
    assert_eq!((kept.rows.len(), kept.codes()), (2, vec![("invalid-json", 2, 2)]));
}

#[test]
fn an_array_that_is_never_closed_is_reported() {
    for end in ["", ",", ",\n", " \n"] {
        let kept = read_as(format!("[{{\"item\":\"a\",\"score\":1}},\n{{\"item\":\"b\",\"score\":2}}{end}"), "");
        assert_eq!((kept.rows.len(), kept.codes()), (2, vec![("damaged-file", 1, 2)]), "{end:?}");
        assert_eq!(kept.problems.last().map(|problem| problem.severity), Some(Severity::Error));
    }
    for whole in ["[{\"item\":\"a\",\"score\":1}]\n", "{\n\"item\":\"a\",\n\"score\":1}\n"] {
        assert_eq!(read_as(whole, "").codes(), []);
    }
}

#[test]
fn what_follows_an_array_is_read_too() {
    let kept = read_as("[{\"item\":\"a\",\"score\":1}]\n[{\"item\":\"b\",\"score\":2}]\n", "");
    assert_eq!((kept.rows.len(), kept.codes()), (2, vec![]));
    assert_eq!(read_as("[{\"item\":\"a\",\"score\":1}]]", "").codes(), [("invalid-json", 1, 2)]);
}

#[test]
fn zeros_in_text_are_text_and_binary_files_are_refused() {
    check(
        "item,raw,score\na\0b,\0,1\n",
        "judge='j'",
        &[r#"{"item":"a\u0000b","judge":"j","score":1.0,"raw":"\u0000"}"#],
    );
    check_error(b"item,score\n\0\0\0\0,1\n", "", &["is not text"]);
    check_error(b"item,score\n\x93a\0\x94,1\n", "", &["is not text"]);
}

#[test]
fn lines_are_counted_over_blank_lines_and_quoted_newlines() {
    for newline in ["\n", "\r\n"] {
        let table = ["item,raw,score", "a,\"x", "y\",1", "", "b,z,2", "c,z,3"].join(newline);
        let kept = read_as(table, "");
        assert_eq!(kept.rows.iter().map(|(_, line)| *line).collect::<Vec<_>>(), [2, 5, 6], "{newline:?}");
    }
}

#[test]
fn a_broken_character_costs_its_row_only() {
    let mut table = "item,score\nqé,1\nü,2\n".as_bytes().to_vec();
    table.extend_from_slice(b"\xff,3\nz,4\n");
    let kept = read_as(table, "");
    assert_eq!((kept.rows.len(), kept.codes()), (3, vec![("invalid-utf8", 1, 4)]));
}

#[test]
fn other_encodings_are_read_and_said_so() {
    let chinese = encoding_rs::GB18030.encode("题目,结论\n第一题,通过\n第二题,不通过\n").0.into_owned();
    let kept = read_as(chinese, "item=题目, verdict=结论");
    assert_eq!(kept.rows[1].0.item, "第二题");
    assert_eq!(kept.rows[1].0.verdict, Some(Verdict::Reject));
    assert_eq!(kept.codes(), [("encoding-assumed", 1, 0)]);
}

#[test]
fn a_row_too_long_costs_itself_in_json_and_ends_a_table() {
    let long = "x".repeat(2000);
    let lines = format!("{{\"item\":\"a\",\"score\":1}}\n{{\"item\":\"{long}\"}}\n{{\"item\":\"b\",\"score\":2}}\n");
    let (summary, kept) = try_read(&lines, "", 1000);
    assert_eq!((summary.expect("reads").n_bad_rows, kept.rows.len()), (1, 2));
    assert_eq!(kept.codes(), [("row-too-long", 1, 2)]);
    let array = format!("[{}]", lines.trim().replace('\n', ","));
    let (summary, kept) = try_read(array, "", 1000);
    assert_eq!((summary.expect("reads").n_bad_rows, kept.rows.len()), (1, 2));
    let table = format!("item,raw,score\na,\"{}", "y,\n".repeat(400_000));
    let error = try_read(table, "", 1000).0.expect_err("is refused").to_string();
    assert!(error.contains("the row at line 2 is longer than 1000 bytes") && error.contains("never closed"), "{error}");
}

/// Gives its start, then one byte for ever (up to a number of bytes that no machine should hold), counting what is taken.
struct Endless {
    start: Cursor<&'static str>,
    n_left: u64,
}

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n_read = self.start.read(buffer)?;
        if n_read > 0 {
            return Ok(n_read);
        }
        let n_bytes = u64::try_from(buffer.len()).unwrap_or(u64::MAX).min(self.n_left);
        self.n_left -= n_bytes;
        let n_bytes = usize::try_from(n_bytes).unwrap_or(buffer.len());
        buffer[..n_bytes].fill(b'x');
        Ok(n_bytes)
    }
}

#[test]
fn a_line_without_end_exhausts_no_memory() {
    const N_BYTES: u64 = 192 << 20;
    let endless = |start| Box::new(Endless { start: Cursor::new(start), n_left: N_BYTES });
    let read = |start| {
        let mut kept = Kept::default();
        let summary = read_stream(Path::new("huge"), endless(start), &ReadOptions::default(), &mut kept);
        (summary, kept)
    };
    let error = read("item,raw,score\na,b,1\nc,\"").0.expect_err("is refused").to_string();
    assert!(error.contains("line 3 is longer than 64 MiB"), "{error}");
    let (summary, kept) = read("{\"item\":\"a\",\"score\":1}\n{\"item\":\"");
    assert_eq!((summary.expect("reads").n_bad_rows, kept.rows.len()), (1, 1));
    assert_eq!(kept.codes(), [("row-too-long", 1, 2)]);
}

#[test]
fn what_is_no_log_is_refused_with_a_reason() {
    check_error("", "", &["is empty"]);
    check_error(" \n\n", "", &["is empty"]);
    check_error("item,score\n", "", &["a header (item, score) and no rows"]);
    check_error("q1,accept\nq2,reject\n", "", &["no column names the item", "Found: q1, accept"]);
    check_error("1,0.5\n2,0.7\n", "", &["looks like data", "item,judge,verdict,label"]);
    check_error("foo,score\na,1\n", "", &["no column names the item", "item_id", "Found: foo, score", "--columns"]);
    check_error("item,foo\na,1\n", "", &["no column holds the judge's answer", "Found: item, foo"]);
    check_error("item,foo\na,1\n", "score=fo", &["no column `fo`", "did you mean `foo`?", "item, foo"]);
    check_error("{\"results\":[{\"item\":1}]}", "", &["Found: results"]);
    check_error("[]", "", &["no JSON object"]);
    check_error("PK\u{3}\u{4}rest", "", &["is a zip file"]);
    check_error("PAR1rest", "", &["is not a Parquet table"]);
    check_error("item,verdict\na,x\n", "verdict=verdict, values={x=great}", &["\"x\" = \"great\" is not a verdict"]);
}

#[test]
fn items_that_are_numbers_beyond_what_a_number_keeps_are_refused() {
    let kept = read_as("{\"item\": 100000000000000000001, \"score\": 1}\n{\"item\": 12, \"score\": 2}\n", "");
    assert_eq!((kept.rows.len(), kept.codes()), (1, vec![("item-not-exact", 1, 1)]));
    let long = "{\"item\":\"a\",\"n\":100000000000000000001,\"score\":1}\n{\"item\":\"b\",\"n\":12,\"score\":2}\n";
    for (columns, code) in [
        ("item=item+n", "item-not-exact"),
        ("group=n", "name-not-exact"),
        ("judge=n", "name-not-exact"),
        ("item=item, arm=item+n", "name-not-exact"),
        ("dimension=n", "name-not-exact"),
        ("label=n", "name-not-exact"),
        ("content=n", "name-not-exact"),
        ("first=n, second=score, verdict=score", "name-not-exact"),
    ] {
        let kept = read_as(long, columns);
        assert_eq!((kept.rows.len(), kept.codes()[0]), (1, (code, 1, 1)), "{columns}");
    }
    let kept = read_as(long, "category=n");
    assert_eq!(kept.codes(), [("unparsed-outcome", 1, 1)]);
    // Up to 2^64 JSON's digits are all there.
    let kept = read_as("{\"item\":18446744073709551615,\"score\":1}\n{\"item\":9007199254740993,\"score\":2}\n", "");
    assert_eq!(
        kept.rows.iter().map(|(row, _)| row.item.as_ref()).collect::<Vec<_>>(),
        ["18446744073709551615", "9007199254740993"]
    );
}

#[test]
fn two_columns_of_one_name_are_told() {
    let kept = read_as("item,score,score\na,1,2\n", "");
    assert_eq!(kept.rows[0].0.score, Some(1.0));
    assert_eq!(kept.codes(), [("column-twice", 1, 0)]);
}
