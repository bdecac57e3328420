//! Position-Bias-Analyzer's tables: tab-separated, one row a pair as shown, the verdict in the column named after the
//! judge.

use assize_calibration::judgement::{Choice, ChosenPosition, Judgement, Order};
use csv::StringRecord;

use super::out::{Out, Trouble, bad};
use super::{ForeignFormat, Input, Opening, ReadError, ReadSummary, Sink, json, value};

/// Position-Bias-Analyzer's tables.
pub(super) struct PositionBias;

impl ForeignFormat for PositionBias {
    fn name(&self) -> &'static str {
        "Position-Bias-Analyzer TSV"
    }

    fn recognises(&self, opening: &Opening<'_>) -> bool {
        let line = opening.bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
        let mut columns = line.split(|&byte| byte == b'\t').map(<[u8]>::trim_ascii);
        let named = |column: &[u8], name: &str| {
            column.strip_prefix(b"\"").map_or(column, |rest| rest.strip_suffix(b"\"").unwrap_or(rest))
                == name.as_bytes()
        };
        columns.next().is_some_and(|column| named(column, "cmp_index"))
            && columns.any(|column| named(column, "answer1_1") || named(column, "A") || named(column, "answer1"))
    }

    fn read(&self, input: &mut Input, sink: &mut dyn Sink) -> Result<ReadSummary, ReadError> {
        let mut out = Out::new(self, input, sink);
        let path = input.path.clone();
        let mut table = csv::ReaderBuilder::new().delimiter(b'\t').flexible(true).from_reader(&mut input.reader);
        let header = match table.byte_headers() {
            Ok(header) => lossy(header),
            Err(error) => return Err(csv_error(&path, error)),
        };
        let columns = Columns::new(&header);
        if columns.judges.is_empty() {
            let message = "looks like Position-Bias-Analyzer TSV, but no column is named after a judge; give the table after judging";
            return Err(ReadError::Unusable { path, message: message.to_owned() });
        }
        let mut row = csv::ByteRecord::new();
        loop {
            match table.read_byte_record(&mut row) {
                Ok(false) => break,
                Ok(true) => {
                    let line = row.position().map_or(0, csv::Position::line);
                    out.row();
                    let result = columns.judge_row(&lossy(&row), line, &mut out);
                    out.settle(result, line)?;
                }
                Err(error) if error.is_io_error() => return Err(csv_error(&path, error)),
                Err(error) => {
                    out.row();
                    out.bad(
                        error.position().map_or(0, csv::Position::line),
                        &format!("the row is not a table row: {error}"),
                    );
                }
            }
        }
        out.finish(&path, "give the table after judging")
    }
}

/// Which column holds what.
struct Columns {
    index: usize,
    questions: Vec<usize>,
    first_answers: Vec<usize>,
    second_answers: Vec<usize>,
    judges: Vec<(usize, String)>,
}

impl Columns {
    fn new(header: &StringRecord) -> Self {
        let mut columns = Self {
            index: 0,
            questions: Vec::new(),
            first_answers: Vec::new(),
            second_answers: Vec::new(),
            judges: Vec::new(),
        };
        for (idx, name) in header.iter().enumerate() {
            match name {
                "cmp_index" => columns.index = idx,
                "A" | "B" | "task" | "evaluating_guidance" | "" => {}
                _ if name.starts_with("question") => columns.questions.push(idx),
                _ if name.starts_with("answer1") => columns.first_answers.push(idx),
                _ if name.starts_with("answer2") => columns.second_answers.push(idx),
                _ if name.starts_with("reference") => {}
                _ => columns.judges.push((idx, name.to_owned())),
            }
        }
        columns
    }

    fn judge_row(&self, row: &StringRecord, line: u64, out: &mut Out<'_>) -> Result<(), Trouble> {
        let index = row.get(self.index).unwrap_or_default();
        let parts: Vec<&str> = index.split(';').collect();
        let [question, first, second] = parts.as_slice() else {
            return bad("`cmp_index` is not `question;first;second`");
        };
        // The pair is one item in both orders; candidate A is the one whose name comes first in the alphabet.
        let (a, b, order) = if first <= second { (first, second, Order::Ab) } else { (second, first, Order::Ba) };
        let join = |idxs: &[usize]| idxs.iter().filter_map(|&idx| row.get(idx)).collect::<Vec<_>>().join("\n");
        let (asked, shown_first, shown_second) =
            (join(&self.questions), join(&self.first_answers), join(&self.second_answers));
        let (text_a, text_b) = match order {
            Order::Ab => (shown_first, shown_second),
            Order::Ba => (shown_second, shown_first),
        };
        let content = value::digest([asked.as_str(), &text_a, &text_b]);
        let has_texts = !(text_a.is_empty() && text_b.is_empty());
        for (idx, judge) in &self.judges {
            let Some(cell) = row.get(*idx) else {
                return bad(format!("the row ends before the column `{judge}`"));
            };
            let judgement = Judgement {
                item: format!("{question}/{a} vs {b}").into(),
                judge: judge.as_str().into(),
                choice: verdict(cell).map(|position| Choice::at(position, order)),
                order: Some(order),
                content: has_texts.then(|| content.as_str().into()),
                generator: Some(a.to_string().into()),
                generator_b: Some(b.to_string().into()),
                raw: Some(cell.into()),
                ..Judgement::default()
            };
            let texts = has_texts.then_some((text_a.as_str(), text_b.as_str()));
            out.put(value::with_lengths(judgement, texts.map(|(a, _)| a), texts.map(|(_, b)| b)), line)?;
        }
        Ok(())
    }
}

/// Returns the place that a reply names: the last of `[[A]]`, `[[B]]`, `[[C]]` in it, or a cell that is such a letter.
fn verdict(cell: &str) -> Option<ChosenPosition> {
    let place = |word: &str| match word.trim() {
        "A" => Some(ChosenPosition::First),
        "B" => Some(ChosenPosition::Second),
        "C" => Some(ChosenPosition::Tie),
        _ => None,
    };
    let marked = cell.rmatch_indices("[[").find_map(|(start, _)| place(cell[start + 2..].split_once("]]")?.0));
    marked.or_else(|| place(cell))
}

fn lossy(record: &csv::ByteRecord) -> StringRecord {
    StringRecord::from_byte_record_lossy(record.clone())
}

fn csv_error(path: &std::path::Path, error: csv::Error) -> ReadError {
    match error.into_kind() {
        csv::ErrorKind::Io(source) => json::io_error(path, source),
        other => {
            ReadError::Unusable { path: path.to_path_buf(), message: format!("not a tab-separated table: {other:?}") }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_marked_letter_counts() {
        assert_eq!(verdict("not [[B]] but [[A]]"), Some(ChosenPosition::First));
        assert_eq!(verdict("**[[B]]** is better"), Some(ChosenPosition::Second));
        assert_eq!(verdict(" C "), Some(ChosenPosition::Tie));
        assert_eq!(verdict("[[D]] [["), None);
        assert_eq!(verdict("A is better"), None);
    }
}
