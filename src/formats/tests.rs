//! What the readers make of good, odd and broken tables.

use std::io::{self, Cursor, Read};
use std::path::Path;

use assize_calibration::judgement::{Choice, Judgement, Order, Verdict};
use assize_calibration::problem::{Problem, Severity};

use super::columns::ColumnMap;
use super::source::{self, ROW_BYTES};
use super::{ReadError, ReadOptions, ReadSummary, Sink, read_source};

/// Keeps all that it is given.
#[derive(Default)]
struct Kept {
    rows: Vec<(Judgement<'static>, u64)>,
    problems: Vec<Problem>,
}

impl Kept {
    /// Returns the codes of the problems, with their counts and lines, notes about columns aside.
    fn codes(&self) -> Vec<(&str, u64, u64)> {
        self.problems
            .iter()
            .filter(|problem| !problem.code.starts_with("columns-"))
            .map(|problem| (problem.code.as_str(), problem.count, problem.line.unwrap_or(0)))
            .collect()
    }

    fn json(&self) -> Vec<String> {
        self.rows.iter().map(|(row, _)| serde_json::to_string(row).expect("a judgement is JSON")).collect()
    }
}

impl Sink for Kept {
    fn judgement(&mut self, judgement: &Judgement<'_>, line: u64) -> Result<(), ReadError> {
        let text = serde_json::to_string(judgement).expect("a judgement is JSON");
        let mut owned: Judgement<'static> = serde_json::from_str(&text).expect("and back");
        // JSON turns labels such as 1.0 to numbers; the reader's own words are what is looked at.
        owned.label = judgement.label.as_ref().map(|label| label.0.clone().into_owned().into());
        self.rows.push((owned, line));
        Ok(())
    }

    fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }
}

fn try_read(bytes: impl AsRef<[u8]>, columns: &str, row_bytes: usize) -> (Result<ReadSummary, ReadError>, Kept) {
    let mut kept = Kept::default();
    let columns: ColumnMap = columns.parse().expect("the mapping is well-formed");
    let stream = Box::new(Cursor::new(bytes.as_ref().to_vec()));
    let source = source::from_stream(Path::new("judge-x.csv"), stream).expect("opens");
    let summary = read_source(source, &ReadOptions { columns }, row_bytes, &mut kept);
    (summary, kept)
}

fn read_as(bytes: impl AsRef<[u8]>, columns: &str) -> Kept {
    let (summary, kept) = try_read(bytes, columns, ROW_BYTES);
    summary.expect("reads");
    kept
}

fn check(bytes: impl AsRef<[u8]>, columns: &str, expected: &[&str]) {
    let kept = read_as(bytes, columns);
    assert_eq!(kept.json(), expected, "{:?}", kept.problems);
}

fn check_error(bytes: impl AsRef<[u8]>, columns: &str, parts: &[&str]) {
    let error = try_read(bytes, columns, ROW_BYTES).0.expect_err("is refused").to_string();
    for part in parts {
        assert!(error.contains(part), "`{part}` is not in: {error}");
    }
}

const TWO_ROWS: [&str; 2] = [
    r#"{"item":"q1","judge":"g","verdict":"accept","repeat":1,"label":1}"#,
    r#"{"item":"q1","judge":"g","verdict":"reject","repeat":2,"label":1}"#,
];

#[test]
fn one_log_reads_the_same_in_every_format() {
    check("item,judge,verdict,repeat,label\nq1,g,accept,1,1\nq1,g,reject,2,1\n", "", &TWO_ROWS);
    check("item;judge;verdict;repeat;label\nq1;g;pass;1;1\nq1;g;No;2;1", "", &TWO_ROWS);
    check(
        "\u{feff}Item\tJudge\tVerdict\tRepeat\tLabel\r\nq1\tg\taccept\t1\t1\r\nq1\tg\treject\t2\t1\r\n",
        "",
        &TWO_ROWS,
    );
    let lines = TWO_ROWS.join("\n");
    check(&lines, "", &TWO_ROWS);
    check(format!("[{}]", TWO_ROWS.join(",\n")), "", &TWO_ROWS);
    check(
        "[\n {\n  \"item\": \"q1\", \"judge\": \"g\", \"verdict\": true, \"repeat\": 1, \"label\": true},\n \
         {\"item\": \"q1\",\n \"judge\": \"g\", \"verdict\": 0, \"repeat\": 2.0, \"label\": 1}]",
        "",
        &TWO_ROWS,
    );
    check(
        "{\n \"item\": \"q1\",\n \"score\": 7\n}\n{\n \"item\": \"}\\\"{\",\n \"score\": 8\n}\n",
        "judge='j'",
        &[r#"{"item":"q1","judge":"j","score":7.0}"#, r#"{"item":"}\"{","judge":"j","score":8.0}"#],
    );
}

#[test]
fn every_field_of_the_plain_log_comes_back() {
    let line = r#"{"item":"q","judge":"j","score":3.5,"repeat":2,"order":"ba","place":3,"arm":"t0","dimension":"d","label":4,"rater":"r","group":"g","content":"c","confidence":0.5,"length_a":10.0,"length_b":12.0,"generator":"m","tokens_in":5,"tokens_out":6,"price":0.25,"latency_ms":8.0,"time":"2026-01-01T00:00:00Z","raw":"R","error":"E"}"#;
    check(line, "", &[line]);
}

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

#[test]
fn the_file_names_the_judge_where_no_column_does() {
    check("item,score\nq,3\n", "", &[r#"{"item":"q","judge":"judge-x","score":3.0}"#]);
    check("item,score,rater\nq,3,ann\n", "", &[r#"{"item":"q","score":3.0,"rater":"ann"}"#]);
}

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
fn repeats_are_kept_as_they_are_counted() {
    check(
        "item,repeat,score\na,0,1\na,0.0,2\na,1,3\na,,4\n",
        "judge='j'",
        &[
            r#"{"item":"a","judge":"j","score":1.0,"repeat":0}"#,
            r#"{"item":"a","judge":"j","score":2.0,"repeat":0}"#,
            r#"{"item":"a","judge":"j","score":3.0,"repeat":1}"#,
            r#"{"item":"a","judge":"j","score":4.0}"#,
        ],
    );
    let numbers = ["0", "\"0\"", "0.0", "-0.0", "4294967294", "1.5", "-1", "4294967295", "true"];
    let lines = numbers.map(|n| format!("{{\"item\":\"a\",\"score\":1,\"repeat\":{n}}}\n"));
    let kept = read_as(lines.concat(), "");
    let repeats: Vec<_> = kept.rows.iter().map(|(row, _)| row.repeat).collect();
    assert_eq!(repeats, [Some(0), Some(0), Some(0), Some(0), Some(u32::MAX - 1)]);
    assert_eq!(kept.codes(), [("bad-repeat", 4, 6)]);
}

#[test]
fn a_table_whose_lines_end_in_cr_alone_loses_no_row() {
    const N_ROWS: u64 = 100_000;
    for quote in ["", "\""] {
        let rows: Vec<String> = (0..N_ROWS).map(|row| format!("{quote}item {row}{quote},3\r")).collect();
        let kept = read_as(format!("item,score\r{}", rows.concat()), "");
        assert_eq!(kept.codes(), []);
        assert!(kept.rows.iter().map(|(_, line)| *line).eq(2..N_ROWS + 2));
    }
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
fn a_judge_s_answer_is_recognised_beside_the_ratings_of_people() {
    let kept = read_as("item,score,topic,h1,h2\na,3,x,4,5\n", "raters=[h1,h2]");
    let judged = |row: &&(Judgement<'static>, u64)| row.0.rater.is_none();
    assert_eq!((kept.rows.len(), kept.rows.iter().filter(judged).count()), (3, 1));
    let kept = read_as("{\"item\":\"a\",\"category\":\"x\",\"h1\":4,\"h2\":5}\n", "raters=[h1,h2]");
    assert_eq!((kept.rows.len(), kept.rows.iter().filter(judged).count()), (2, 0), "a topic is no answer");
}

#[test]
fn the_own_name_of_a_field_comes_before_another_spelling() {
    for text in ["item,score,Label,label\na,1,0,1\n", "{\"item\":\"a\",\"score\":1,\"Label\":0,\"label\":1}\n"] {
        let kept = read_as(text, "");
        assert_eq!(kept.rows[0].0.label.as_ref().map(|label| label.0.as_ref()), Some("1"), "{text}");
    }
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
        let summary = super::read_stream(Path::new("huge"), endless(start), &ReadOptions::default(), &mut kept);
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
fn names_are_recognised_and_said() {
    let kept = read_as("question_id,model,epoch,rating,gold,notes\nq,m,0,3,4,x\nq,m,1,5,4,y\n", "");
    assert_eq!(
        kept.json(),
        [
            r#"{"item":"q","judge":"m","score":3.0,"repeat":0,"label":4}"#,
            r#"{"item":"q","judge":"m","score":5.0,"repeat":1,"label":4}"#,
        ]
    );
    let messages: Vec<_> = kept.problems.iter().map(|problem| problem.message.as_str()).collect();
    assert_eq!(
        messages[0],
        "read as: item = question_id, judge = model, score = rating, repeat = epoch, label = gold (to change it: --columns)"
    );
    assert_eq!(messages[1], "columns not used: notes");
    assert_eq!(kept.codes(), []);
    // The topic of an item is no outcome beside a score.
    check("item,score,category\nq,3,maths\n", "judge='j'", &[r#"{"item":"q","judge":"j","score":3.0}"#]);
    check("item,category\nq,maths\n", "judge='j'", &[r#"{"item":"q","judge":"j","category":"maths"}"#]);
}

#[test]
fn columns_are_joined_renamed_and_constant() {
    check(
        "row,k,s1,s2,ok\n0,1,7,,1\n",
        "item=row+k, repeats=s1..s2, label=ok, arm='t0.7', judge='j', group=row",
        &[
            r#"{"item":"0/1","judge":"j","score":7.0,"repeat":1,"arm":"t0.7","label":1,"group":"0"}"#,
            r#"{"item":"0/1","judge":"j","repeat":2,"arm":"t0.7","label":1,"group":"0"}"#,
        ],
    );
    check(
        "q,s1,s2\na,7,\n",
        "item=q, repeats=[s1, s2], empty=skip, judge='j'",
        &[r#"{"item":"a","judge":"j","score":7.0,"repeat":1}"#],
    );
    check(
        "q,all\na,A - tie B\n",
        "item=q, repeats_in=all, outcome=choice, judge='j'",
        &[
            r#"{"item":"a","judge":"j","choice":"a","repeat":1}"#,
            r#"{"item":"a","judge":"j","repeat":2}"#,
            r#"{"item":"a","judge":"j","choice":"tie","repeat":3}"#,
            r#"{"item":"a","judge":"j","choice":"b","repeat":4}"#,
        ],
    );
    check(
        r#"{"q":"a","r":{"scores":[7,null,8.5]}}"#,
        "item=q, repeats_in=r.scores, judge='j'",
        &[
            r#"{"item":"a","judge":"j","score":7.0,"repeat":1}"#,
            r#"{"item":"a","judge":"j","repeat":2}"#,
            r#"{"item":"a","judge":"j","score":8.5,"repeat":3}"#,
        ],
    );
    check(
        "q,clear,short\na,3,4\n",
        "item=q, dimensions=[clear, short], judge='j'",
        &[
            r#"{"item":"a","judge":"j","score":3.0,"dimension":"clear"}"#,
            r#"{"item":"a","judge":"j","score":4.0,"dimension":"short"}"#,
        ],
    );
}

#[test]
fn two_orders_in_two_columns_are_brought_to_the_candidates() {
    let map = "item=i, order_ab=o1, order_ba=o2, as_shown=order_ba, outcome=choice, values={0=a, 1=b, 2=tie}, label=l, \
               label_values={0=a, 1=b, 2=tie}, judge='j'";
    check(
        "i,l,o1,o2\nx,1,0,0\n",
        map,
        &[
            r#"{"item":"x","judge":"j","choice":"a","order":"ab","label":"b"}"#,
            r#"{"item":"x","judge":"j","choice":"b","order":"ba","label":"b"}"#,
        ],
    );
    check(
        "i,w1,w2\nx,A>B,A>B\n",
        "item=i, order_ab=w1, order_ba=w2, outcome=choice, judge='j'",
        &[
            r#"{"item":"x","judge":"j","choice":"a","order":"ab"}"#,
            r#"{"item":"x","judge":"j","choice":"a","order":"ba"}"#,
        ],
    );
}

#[test]
fn candidates_shown_first_and_second_by_name() {
    let kept = read_as(
        "q,x,y,verdict,judge,label\n1,vic,alp,A,g,vic\n1,alp,vic,B,g,alp\n1,alp,vic,C,g,\n1,alp,alp,A,g,\n1,alp,vic,vic,g,\n",
        "item=q, first=x, second=y",
    );
    let rows: Vec<_> = kept.rows.iter().map(|(row, _)| (row.item.as_ref(), row.order, row.choice)).collect();
    assert_eq!(
        rows,
        [
            ("1/alp/vic", Some(Order::Ba), Some(Choice::B)),
            ("1/alp/vic", Some(Order::Ab), Some(Choice::B)),
            ("1/alp/vic", Some(Order::Ab), Some(Choice::Tie)),
            ("1/alp/vic", Some(Order::Ab), Some(Choice::B)),
        ]
    );
    let labels: Vec<_> = kept.rows.iter().map(|(row, _)| row.label.as_ref().map(|l| l.0.to_string())).collect();
    assert_eq!(labels, [Some("b".to_owned()), Some("a".to_owned()), None, None]);
    assert_eq!(kept.codes(), [("same-candidates", 1, 5)]);
}

#[test]
fn a_place_without_an_order_is_not_guessed_when_an_order_is_stated_wrongly() {
    let kept = read_as("item,order,chosen_position\na,ab,first\na,ba,first\na,zz,first\n", "");
    let choices: Vec<_> = kept.rows.iter().map(|(row, _)| row.choice).collect();
    assert_eq!(choices, [Some(Choice::A), Some(Choice::B), None]);
    assert_eq!(kept.codes(), [("unknown-order", 1, 4), ("place-without-order", 1, 4)]);
    assert_eq!(read_as("item,chosen_position\na,2\n", "").codes(), [("order-assumed", 1, 2)]);
}

#[test]
fn judges_and_people_in_columns() {
    check(
        "id,j1,j2,h1,h2\nq,yes,no,yes,\n",
        "item=id, judges=[j1, j2], raters=h1..h2, outcome=verdict",
        &[
            r#"{"item":"q","judge":"j1","verdict":"accept"}"#,
            r#"{"item":"q","judge":"j2","verdict":"reject"}"#,
            r#"{"item":"q","verdict":"accept","repeat":1,"rater":"h1"}"#,
        ],
    );
    check(
        "id,all\nq,3 - 5\n",
        "item=id, ratings_in=all",
        &[
            r#"{"item":"q","score":3.0,"repeat":1,"rater":"rater 1"}"#,
            r#"{"item":"q","score":5.0,"repeat":1,"rater":"rater 3"}"#,
        ],
    );
    check(
        "item,judge,choice\nq,human,a\nq,g,b\nq,human,b\n",
        "people=human",
        &[
            r#"{"item":"q","choice":"a","rater":"human 1"}"#,
            r#"{"item":"q","judge":"g","choice":"b"}"#,
            r#"{"item":"q","choice":"b","rater":"human 2"}"#,
        ],
    );
    check(
        "item,score,h1\nq,4,5\n",
        "raters=h1, judge='j', score=score",
        &[r#"{"item":"q","judge":"j","score":4.0}"#, r#"{"item":"q","score":5.0,"repeat":1,"rater":"h1"}"#],
    );
}

#[test]
fn a_rating_in_a_column_belongs_to_the_item_not_to_the_row() {
    check(
        "item,arm,repeat,order,dimension,group,price,raw,error,confidence,choice,h\nq,t0,2,ba,d,g,3,R,E,0.5,a,b\n",
        "raters=h, judge='j', choice=choice",
        &[
            r#"{"item":"q","judge":"j","choice":"a","repeat":2,"order":"ba","arm":"t0","dimension":"d","group":"g","confidence":0.5,"price":3.0,"raw":"R","error":"E"}"#,
            r#"{"item":"q","choice":"b","repeat":1,"dimension":"d","rater":"h","group":"g"}"#,
        ],
    );
    // A rating that names a place still needs the order of its row.
    check(
        "item,order,chosen_position,h\nq,ba,first,second\n",
        "raters=h, judge='j', chosen_position=chosen_position",
        &[
            r#"{"item":"q","judge":"j","choice":"b","order":"ba"}"#,
            r#"{"item":"q","choice":"a","repeat":1,"rater":"h"}"#,
        ],
    );
}

#[test]
fn preferences_filters_and_vocabularies() {
    check(
        "i,cfg,p\na,x,1.0000001\nb,x,1.5\nc,x,1.9\nd,y,2\n",
        "item=i, judge=cfg, preference=p, where={cfg=x}",
        &[
            r#"{"item":"a","judge":"x","choice":"a"}"#,
            r#"{"item":"b","judge":"x","choice":"tie"}"#,
            r#"{"item":"c","judge":"x","choice":"b"}"#,
        ],
    );
    let kept = read_as("i,v\na,N\nb,1_ok\n", "item=i, verdict=v, values={N=unparsed, 1_ok=accept}");
    assert!(kept.rows[0].0.is_unparsed() && kept.rows[0].0.raw.as_deref() == Some("N"));
    assert_eq!((kept.rows[1].0.verdict, kept.codes().len()), (Some(Verdict::Accept), 0));
}

#[test]
fn a_label_outside_the_vocabulary_and_duplicates_are_passed_on() {
    let kept = read_as("item,verdict,label\na,accept,maybe\na,accept,maybe\n", "");
    assert_eq!(kept.rows.len(), 2);
    assert_eq!(kept.rows[0].0.label.as_ref().map(|label| label.0.as_ref()), Some("maybe"));
}

#[test]
fn every_name_that_is_recognised_is_documented() {
    let docs = include_str!("../../docs/reference/log.md");
    for field in super::fields::Field::ALL {
        for name in field.names() {
            assert!(docs.contains(&format!("`{name}`")), "`{name}` is not in docs/reference/log.md");
        }
    }
}

/// A table of several blocks, with a broken row in each: what is read on all cores is what is read row by row.
#[test]
fn a_table_read_in_parts_is_the_one_read_row_by_row() {
    use std::fmt::Write as _;

    let mut table = String::from("item,judge,repeat,verdict,label,price\n");
    for row in 0..60_000 {
        let (item, judge) = (row / 3, if row % 7 == 0 { "\"judge, two\"" } else { "g" });
        let verdict = ["accept", "reject", "perhaps"][row % 3];
        writeln!(table, "item {item},{judge},{},{verdict},{},0.001", row % 3 + 1, item % 2).expect("memory takes it");
        if row % 9_000 == 5 {
            table.push_str("a row of three,g,1\n\n");
        }
    }
    let one_by_one = read_as(&table, "");
    let read = |n_threads: usize| {
        let stream = Box::new(Cursor::new(table.clone().into_bytes()));
        let source = source::from_stream(Path::new("judge-x.csv"), stream).expect("opens");
        let written = tempfile::NamedTempFile::with_suffix(".jsonl").expect("a temporary file");
        let mut writer = super::LogWriter::create(written.path()).expect("can be written");
        let mut collector = super::Collector::default();
        let mut both = super::Tee { first: &mut collector, second: &mut writer };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().expect("threads start");
        let options = ReadOptions::default();
        pool.install(|| read_source(source, &options, ROW_BYTES, &mut both)).expect("reads");
        writer.finish().expect("is written");
        (std::fs::read_to_string(written.path()).expect("is text"), collector)
    };
    let ((text, collector), (other_text, other)) = (read(1), read(3));
    assert!(text.lines().eq(one_by_one.json()));
    assert_eq!(text, other_text);
    assert_eq!(collector.problems.as_slice(), one_by_one.problems);
    assert_eq!(other.problems, collector.problems);
    assert!(one_by_one.codes().contains(&("wrong-number-of-fields", 7, 8)));
    let log = collector.log;
    assert_eq!((log.len(), log.items.len(), log.judges.len()), (60_000, 20_000, 2));
    for (row_idx, (judgement, line)) in one_by_one.rows.iter().enumerate() {
        assert_eq!(log.items.name(log.item[row_idx]), judgement.item);
        assert_eq!(log.judges.name(log.judge.at(row_idx)), judgement.judge);
        assert_eq!((log.line(row_idx), Some(log.repeat.at(row_idx))), (*line, judgement.repeat));
    }
    assert_eq!(log.price.0.to_bits(), other.log.price.0.to_bits());
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

/// A vocabulary that changes no word sends every row the long way.
#[test]
fn the_short_way_and_the_long_way_read_the_same() {
    for outcome in ["verdict", "score"] {
        let mut table = format!("item,judge,repeat,{outcome},label,group,arm,dimension\n");
        for cell in ["accept", "Yes", "0", "1", "7.50", "NaN", "inf", "", " pass ", "perhaps"] {
            for (repeat, label) in [("1", "1"), ("", ""), ("0", "x"), ("2.0", "1.0"), ("two", "1")] {
                table.push_str(
                    &["q,,", repeat, ",", cell, ",", label, ",g,,d\n,j,", repeat, ",", cell, ",1,,a,\n"].concat(),
                );
            }
        }
        let (short, long) = (read_as(&table, ""), read_as(&table, "values={nothing=unparsed}"));
        assert!(short.rows.len() > 10);
        assert_eq!(short.rows, long.rows, "{outcome}");
        assert_eq!(short.codes(), long.codes(), "{outcome}");
    }
}
