//! Tables with one row a line: comma, semicolon or tab between the fields, quotes as in RFC 4180.

use std::ops::Range;
use std::path::PathBuf;

use csv::{ByteRecord, StringRecord};
use memchr::{memchr, memchr_iter};
use rayon::prelude::*;

use super::ReadError;
use super::blocks::{Block, BlockError, Blocks, Dialect};
use super::source::Source;
use super::table::{Cell, Cells, RowSink, Rows};

/// Returns how the table is written: between fields stands the one of tab, comma and semicolon that the first line has
/// most of.
pub(super) fn dialect(head: &[u8]) -> Dialect {
    let mut counts = [(0_usize, b'\t'), (0, b','), (0, b';')];
    let mut quoted = false;
    let mut line_end = b'\n';
    for (idx, &byte) in head.iter().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            b'\n' if !quoted => break,
            b'\r' if !quoted => {
                if head.get(idx + 1).is_some_and(|&next| next != b'\n') {
                    line_end = b'\r';
                }
                break;
            }
            byte if !quoted => {
                if let Some((count, _)) = counts.iter_mut().find(|(_, known)| *known == byte) {
                    *count += 1;
                }
            }
            _ => {}
        }
    }
    let most = counts.iter().map(|(count, _)| *count).max().unwrap_or(0);
    let most_common = counts.iter().find(|(count, _)| *count == most && most > 0);
    Dialect { delimiter: most_common.map_or(b',', |(_, byte)| *byte), line_end }
}

/// Reads a table. `row_bytes` is the longest row taken.
///
/// Blocks of rows are split into fields and understood side by side; they are handed on in their order, so that the
/// result does not depend on it.
pub(super) fn read<R: RowSink>(source: Source, row_bytes: usize, rows: &mut R) -> Result<&'static str, ReadError> {
    let dialect = dialect(&source.head);
    let delimiter = dialect.delimiter;
    let path = source.path;
    // Some for each thread, so that none waits for the slowest.
    let n_blocks = 2 * rayon::current_num_threads();
    let mut blocks = Blocks::new(source.reader, dialect, row_bytes);
    let mut round = blocks.round(n_blocks);
    let mut header = StringRecord::new();
    if round.is_empty()
        && let Some(failure) = blocks.take_failure()
    {
        return Err(failed(path, failure, row_bytes));
    }
    if let Some(first) = round.first() {
        csv_reader(delimiter, &first.text).read_record(&mut header).map_err(|_utf8| ReadError::Unusable {
            path: path.clone(),
            message: "the header is not valid UTF-8; save the file as UTF-8".to_owned(),
        })?;
    }
    let columns: Vec<String> = header.iter().map(|name| name.trim().to_owned()).collect();
    rows.start(&columns, false)?;
    let splitter = Splitter { dialect, n_columns: columns.len() };
    let mut n_rows = 0;
    let mut done: Vec<R::Part> = Vec::new();
    while !round.is_empty() {
        let Some(parts) = round.iter().map(|_| rows.part()).collect::<Option<Vec<_>>>() else {
            for block in &round {
                n_rows += splitter.split(block, rows)?;
            }
            round = blocks.round(n_blocks);
            continue;
        };
        let (next, read) = rayon::join(
            || {
                done.drain(..).try_for_each(|part| rows.append(part))?;
                Ok(blocks.round(n_blocks))
            },
            || {
                let read = |(block, mut part): (Block, R::Part)| Ok((splitter.split(&block, &mut part)?, part));
                round.into_par_iter().zip(parts).map(read).collect::<Vec<Result<_, ReadError>>>()
            },
        );
        round = next?;
        for part in read {
            let (n_split, part) = part?;
            n_rows += n_split;
            done.push(part);
        }
    }
    done.into_iter().try_for_each(|part| rows.append(part))?;
    if let Some(failure) = blocks.take_failure() {
        return Err(failed(path, failure, row_bytes));
    }
    if n_rows == 0 {
        let message = format!("has a header ({}) and no rows", columns.join(", "));
        return Err(ReadError::NoRows { path, message });
    }
    Ok(if delimiter == b'\t' { "tsv" } else { "csv" })
}

/// Splits rows into fields.
struct Splitter {
    dialect: Dialect,
    n_columns: usize,
}

impl Splitter {
    /// Hands on the rows of a block and returns how many there were, the header aside.
    fn split(&self, block: &Block, rows: &mut impl Rows) -> Result<u64, ReadError> {
        match str::from_utf8(&block.text) {
            Ok(text) if memchr(b'"', &block.text).is_none() => self.split_unquoted(text, block, rows),
            _ => self.split_quoted(block, rows),
        }
    }

    fn split_quoted(&self, block: &Block, rows: &mut impl Rows) -> Result<u64, ReadError> {
        let mut reader = csv_reader(self.dialect.delimiter, &block.text);
        let mut record = ByteRecord::new();
        let mut ranges = Vec::new();
        let mut n_rows = 0;
        let (mut line, mut n_counted) = (block.line, 0);
        let mut next = |record: &mut ByteRecord| {
            let any = reader.read_byte_record(record).expect("memory can be read");
            // The reader says where it began to look: line ends that are left of the row before, and blank lines, come first.
            let looked_from = usize::try_from(record.position().filter(|_| any)?.byte()).ok()?;
            let start = block.text[looked_from..].iter().position(|byte| !b"\r\n".contains(byte))? + looked_from;
            line += memchr_iter(self.dialect.line_end, &block.text[n_counted..start]).count() as u64;
            n_counted = start;
            Some(line)
        };
        if block.has_header {
            next(&mut record);
        }
        while let Some(line) = next(&mut record) {
            n_rows += 1;
            if record.len() != self.n_columns {
                let n_lines = 1 + n_newlines(&record);
                rows.bad_row("wrong-number-of-fields", line, || wrong_length(record.len(), self.n_columns, n_lines));
                continue;
            }
            let Ok(text) = str::from_utf8(record.as_slice()) else {
                rows.bad_row("invalid-utf8", line, || {
                    "the row is not valid UTF-8, unlike the start of the file; it was left out".to_owned()
                });
                continue;
            };
            ranges.clear();
            ranges.extend((0..record.len()).filter_map(|idx| record.range(idx)));
            rows.row(&Fields { text, ranges: &ranges }, line)?;
        }
        Ok(n_rows)
    }

    /// Splits text without quotes, in which every line is a row and every delimiter parts two fields: without copying a
    /// field, and several times as fast as a reader that has to follow quotes.
    fn split_unquoted(&self, text: &str, block: &Block, rows: &mut impl Rows) -> Result<u64, ReadError> {
        let Dialect { delimiter, line_end } = self.dialect;
        let bytes = text.as_bytes();
        let mut ranges = Vec::new();
        let (mut line, mut is_header) = (block.line, block.has_header);
        let (mut n_rows, mut field_start) = (0, 0);
        let mut marks = Marks::new(bytes, delimiter);
        while field_start <= bytes.len() {
            let end = marks.next().unwrap_or(bytes.len());
            let mark = bytes.get(end).copied();
            ranges.push(field_start..end);
            field_start = end + 1;
            if mark == Some(delimiter) {
                continue;
            }
            // A line with nothing on it is no row, nor is the second half of CR LF.
            if ranges.len() > 1 || !ranges[0].is_empty() {
                if is_header {
                    is_header = false;
                } else {
                    n_rows += 1;
                    if ranges.len() == self.n_columns {
                        rows.row(&Fields { text, ranges: &ranges }, line)?;
                    } else {
                        let n_fields = ranges.len();
                        rows.bad_row("wrong-number-of-fields", line, || wrong_length(n_fields, self.n_columns, 1));
                    }
                }
            }
            ranges.clear();
            line += u64::from(mark == Some(line_end));
        }
        Ok(n_rows)
    }
}

/// The places of delimiters and line ends. Fields are short: eight bytes are looked at together, since a call of a search
/// for each field takes longer than what it finds.
struct Marks<'t> {
    words: std::slice::ChunksExact<'t, u8>,
    tail: Option<&'t [u8]>,
    wanted: [u64; 3],
    /// The high bit of each byte of the current word that is a mark, and where the word starts.
    found: u64,
    start: usize,
}

impl<'t> Marks<'t> {
    const ONES: u64 = 0x0101_0101_0101_0101;

    #[inline]
    fn new(text: &'t [u8], delimiter: u8) -> Self {
        let words = text.chunks_exact(8);
        let wanted = [delimiter, b'\n', b'\r'].map(|byte| Self::ONES * u64::from(byte));
        let tail = Some(words.remainder());
        Self { words, tail, wanted, found: 0, start: 0_usize.wrapping_sub(8) }
    }

    /// Returns the high bit of each byte that is wanted (Warren, Hacker's Delight, 6-1).
    #[inline]
    fn look(&self, word: u64) -> u64 {
        const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
        let is_zero = |x: u64| !(((x & LOW) + LOW) | x | LOW);
        self.wanted.iter().fold(0, |found, wanted| found | is_zero(word ^ wanted))
    }
}

impl Iterator for Marks<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.found == 0 {
            let mut word = [0; 8];
            if let Some(bytes) = self.words.next() {
                word.copy_from_slice(bytes);
            } else {
                // Padded with zeros, which are no marks.
                let tail = self.tail.take()?;
                word[..tail.len()].copy_from_slice(tail);
            }
            self.start = self.start.wrapping_add(8);
            self.found = self.look(u64::from_le_bytes(word));
        }
        let place = self.start + self.found.trailing_zeros() as usize / 8;
        self.found &= self.found - 1;
        Some(place)
    }
}

/// The fields of one row.
struct Fields<'t> {
    text: &'t str,
    ranges: &'t [Range<usize>],
}

impl Cells for Fields<'_> {
    #[inline]
    fn cell(&self, column_idx: usize) -> Cell<'_> {
        self.ranges.get(column_idx).map_or(Cell::Empty, |range| Cell::of(&self.text[range.clone()]))
    }
}

fn n_newlines(record: &ByteRecord) -> u64 {
    record.as_slice().split(|&byte| byte == b'\n').skip(1).map(|_| 1).sum()
}

fn csv_reader(delimiter: u8, text: &[u8]) -> csv::Reader<&[u8]> {
    csv::ReaderBuilder::new().delimiter(delimiter).flexible(true).has_headers(false).from_reader(text)
}

fn wrong_length(n_fields: usize, n_columns: usize, n_lines: u64) -> String {
    let hint = match n_lines {
        0 | 1 => String::new(),
        _ => format!(". It takes up {n_lines} lines: is a quote opened and never closed?"),
    };
    format!("the row has {n_fields} fields, the header has {n_columns}; the row was left out{hint}")
}

fn failed(path: PathBuf, failure: BlockError, row_bytes: usize) -> ReadError {
    match failure {
        BlockError::Io(source) => ReadError::Io { path, source },
        BlockError::RowTooLong(line) => {
            let message = format!(
                "the row at line {line} is longer than {}; is a quote opened there and never closed?",
                in_words(row_bytes)
            );
            ReadError::Unusable { path, message }
        }
    }
}

/// Returns a number of bytes as people write it.
pub(super) fn in_words(n_bytes: usize) -> String {
    const MIB: usize = 1024 * 1024;
    if n_bytes >= MIB { format!("{} MiB", n_bytes / MIB) } else { format!("{n_bytes} bytes") }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Keeps rows as they come: their line, and their fields or their number.
    #[derive(Default)]
    struct Kept(Vec<(u64, Result<Vec<String>, &'static str>)>);

    impl Rows for Kept {
        fn row<C: Cells>(&mut self, cells: &C, line: u64) -> Result<(), ReadError> {
            let field = |idx| cells.cell(idx).text().unwrap_or_default().into_owned();
            self.0.push((line, Ok((0..2).map(field).collect())));
            Ok(())
        }

        fn bad_row(&mut self, code: &'static str, line: u64, _message: impl FnOnce() -> String) {
            self.0.push((line, Err(code)));
        }
    }

    proptest! {
        #[test]
        fn rows_without_quotes_are_those_of_the_csv_crate(
            pieces in prop::collection::vec(prop::sample::select(vec!["a", ",", "b,c", "\n", "\u{e9}", " "]), 0..60),
            line in 1_u64..3, has_header in any::<bool>(),
            newline in prop::sample::select(vec!["\n", "\r\n", "\r"]),
        ) {
            let text = pieces.concat().replace('\n', newline);
            let dialect = Dialect { delimiter: b',', line_end: newline.as_bytes()[newline.len() - 1] };
            let splitter = Splitter { dialect, n_columns: 2 };
            let block = Block { text: text.clone().into_bytes(), line, has_header };
            let (mut plain, mut quoted) = (Kept::default(), Kept::default());
            let n_plain = splitter.split_unquoted(&text, &block, &mut plain).expect("is kept");
            let n_quoted = splitter.split_quoted(&block, &mut quoted).expect("is kept");
            prop_assert_eq!(n_plain, n_quoted);
            prop_assert_eq!(plain.0, quoted.0);
        }
    }
}
