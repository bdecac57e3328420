//! Cuts a text into blocks that end where a row ends, so that several threads can read a table side by side.
//!
//! Where the blocks end depends on the text alone, not on how it arrives or on the number of threads: sums over a block's
//! rows are the same on every machine.

use std::io::{self, BufRead, Read};

use memchr::{memchr, memchr_iter, memrchr};

/// How a table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dialect {
    /// Stands between fields.
    pub delimiter: u8,
    /// Ends the lines that are counted: CR where the header ends in that alone, else LF.
    pub line_end: u8,
}

/// The size of a block, unless a row is longer.
const BLOCK_BYTES: usize = 512 * 1024;

/// Whole rows.
pub(super) struct Block {
    pub text: Vec<u8>,
    /// The line on which the text starts, counted from 1.
    pub line: u64,
    /// Whether the first row is the table's header.
    pub has_header: bool,
}

/// Why there are no more blocks.
#[derive(Debug)]
pub(super) enum BlockError {
    Io(io::Error),
    /// The row that starts on this line is longer than it may be.
    RowTooLong(u64),
}

/// The blocks of a text.
pub(super) struct Blocks {
    reader: Box<dyn BufRead + Send>,
    dialect: Dialect,
    row_bytes: usize,
    /// The start of the next block, read already.
    rest: Vec<u8>,
    line: u64,
    has_begun: bool,
    ended: bool,
    failure: Option<BlockError>,
}

impl Blocks {
    /// `row_bytes` is the longest row taken.
    pub(super) fn new(reader: Box<dyn BufRead + Send>, dialect: Dialect, row_bytes: usize) -> Self {
        Self { reader, dialect, row_bytes, rest: Vec::new(), line: 1, has_begun: false, ended: false, failure: None }
    }

    /// Returns the next blocks, at most `n`. None are left where there are none.
    pub(super) fn round(&mut self, n: usize) -> Vec<Block> {
        let mut blocks = Vec::new();
        while blocks.len() < n && !self.ended {
            match self.next() {
                Ok(text) => {
                    let line = self.line;
                    self.line += memchr_iter(self.dialect.line_end, &text).count() as u64;
                    if !text.is_empty() {
                        let has_header = !std::mem::replace(&mut self.has_begun, true);
                        blocks.push(Block { text, line, has_header });
                    }
                }
                Err(failure) => {
                    self.ended = true;
                    self.failure = Some(failure);
                }
            }
        }
        blocks
    }

    /// Returns why the text ended early, if it did.
    pub(super) fn take_failure(&mut self) -> Option<BlockError> {
        self.failure.take()
    }

    fn next(&mut self) -> Result<Vec<u8>, BlockError> {
        let mut text = std::mem::take(&mut self.rest);
        let mut ends = RowEnds { delimiter: self.dialect.delimiter, place: Place::FieldStart, n_seen: 0, last_end: 0 };
        loop {
            let wanted = BLOCK_BYTES.max(2 * text.len());
            let missing = (wanted - text.len()) as u64;
            self.reader.by_ref().take(missing).read_to_end(&mut text).map_err(BlockError::Io)?;
            if text.len() < wanted {
                self.ended = true;
                return Ok(text);
            }
            ends.look(&text);
            if ends.last_end > 0 {
                self.rest = text.split_off(ends.last_end);
                return Ok(text);
            }
            if text.len() > self.row_bytes {
                return Err(BlockError::RowTooLong(self.line));
            }
        }
    }
}

/// Where in a row a byte stands, by the rules that the `csv` crate splits by.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    FieldStart,
    Field,
    Quoted,
    /// After a quote in a quoted field: the first half of two, or the field's end.
    QuoteInQuoted,
}

/// Finds the last end of a row in a growing text.
struct RowEnds {
    delimiter: u8,
    place: Place,
    n_seen: usize,
    /// Bytes up to the last end, 0 where there is none.
    last_end: usize,
}

impl RowEnds {
    fn look(&mut self, text: &[u8]) {
        let new = &text[self.n_seen..];
        let is_quoted = matches!(self.place, Place::Quoted | Place::QuoteInQuoted);
        if is_quoted || memchr(b'"', new).is_some() {
            self.step_through(text);
        } else {
            // The usual case: every line is a row. A CR at the very end may be half of a CR LF.
            let line_end = memrchr(b'\n', new).or_else(|| memrchr(b'\r', &new[..new.len().saturating_sub(1)]));
            if let Some(idx) = line_end {
                self.last_end = self.n_seen + idx + 1;
            }
            let ends_field = |byte: &u8| [b'\n', b'\r', self.delimiter].contains(byte);
            if let Some(last) = new.last() {
                self.place = if ends_field(last) { Place::FieldStart } else { Place::Field };
            }
        }
        self.n_seen = text.len();
    }

    fn step_through(&mut self, text: &[u8]) {
        let mut idx = self.n_seen;
        while let Some(&byte) = text.get(idx) {
            self.place = match (self.place, byte) {
                (Place::Quoted, b'"') => Place::QuoteInQuoted,
                (Place::Quoted, _) => {
                    idx = memchr(b'"', &text[idx..]).map_or(text.len(), |ahead| idx + ahead);
                    continue;
                }
                (Place::QuoteInQuoted | Place::FieldStart, b'"') => Place::Quoted,
                (_, b'\n') => {
                    self.last_end = idx + 1;
                    Place::FieldStart
                }
                (_, b'\r') => {
                    // Half of a CR LF ends nothing yet, nor does what may turn out to be one.
                    if text.get(idx + 1).is_some_and(|&next| next != b'\n') {
                        self.last_end = idx + 1;
                    }
                    Place::FieldStart
                }
                (_, byte) if byte == self.delimiter => Place::FieldStart,
                _ => Place::Field,
            };
            idx += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use proptest::prelude::*;

    use super::*;

    fn blocks(text: &[u8]) -> Vec<Block> {
        let dialect = Dialect { delimiter: b',', line_end: b'\n' };
        let mut blocks = Blocks::new(Box::new(Cursor::new(text.to_vec())), dialect, usize::MAX / 4);
        let all = blocks.round(usize::MAX >> 32);
        assert!(blocks.take_failure().is_none());
        all
    }

    fn records(text: &[u8]) -> Vec<csv::ByteRecord> {
        let mut builder = csv::ReaderBuilder::new();
        let reader = builder.has_headers(false).flexible(true).from_reader(text);
        reader.into_byte_records().map(|record| record.expect("memory can be read")).collect()
    }

    #[test]
    fn a_stray_quote_in_a_long_text_shifts_no_row() {
        let row = "5\" disk,\"a\nb \"\"c\"\"\",x\r\n";
        let text = row.repeat(3 * BLOCK_BYTES / row.len());
        let blocks = blocks(text.as_bytes());
        assert!(blocks.len() >= 3);
        assert!(blocks.iter().all(|block| block.text.len() % row.len() == 0 && block.line % 2 == 1));
        assert_eq!(blocks.iter().map(|block| block.text.len()).sum::<usize>(), text.len());
    }

    #[test]
    fn lines_that_end_in_cr_alone_are_rows() {
        let text = "a,b\r".repeat(BLOCK_BYTES / 3);
        let blocks = blocks(text.as_bytes());
        assert!(blocks.len() > 1 && blocks.iter().all(|block| block.text.ends_with(b"\r")));
        assert!(blocks.iter().enumerate().all(|(idx, block)| block.has_header == (idx == 0)));
    }

    proptest! {
        #[test]
        fn the_last_end_parts_no_row(pieces in prop::collection::vec(
            prop::sample::select(vec!["a", "\"", "\"\"", ",", "\n", "\r\n", "\r", "é"]), 0..60), cut in 0_usize..60,
        ) {
            let text = pieces.concat().into_bytes();
            let cut = cut.min(text.len());
            let mut ends = RowEnds { delimiter: b',', place: Place::FieldStart, n_seen: 0, last_end: 0 };
            ends.look(&text[..cut]);
            ends.look(&text);
            let (first, second) = text.split_at(ends.last_end);
            let parted: Vec<_> = records(first).into_iter().chain(records(second)).collect();
            prop_assert_eq!(parted, records(&text));
        }
    }
}
