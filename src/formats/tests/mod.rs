//! What the readers make of good, odd and broken tables.

mod broken;
mod large;
mod late;
mod shapes;

use std::io::Cursor;
use std::path::Path;

use assize_calibration::judgement::{Judgement, StyleMark};
use assize_calibration::problem::Problem;

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
        let own = |mark: &StyleMark<'_>| StyleMark { name: mark.name.clone().into_owned().into(), ..*mark };
        owned.style = judgement.style.iter().map(own).collect();
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
