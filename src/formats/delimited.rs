//! Tables with one row a line: comma, semicolon or tab between the fields, quotes as in RFC 4180.

use std::io::{self, BufRead, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::thread;

use csv::{ByteRecord, StringRecord};

use super::ReadError;
use super::source::{HEAD_BYTES, Source};
use super::table::{Cell, Cells, RowSink};

/// Returns the byte between fields: the one of tab, comma and semicolon that the first line has most of.
pub(super) fn delimiter(head: &[u8]) -> u8 {
    let mut counts = [(0_usize, b'\t'), (0, b','), (0, b';')];
    let mut quoted = false;
    for &byte in head {
        match byte {
            b'"' => quoted = !quoted,
            b'\n' | b'\r' if !quoted => break,
            byte if !quoted => {
                if let Some((count, _)) = counts.iter_mut().find(|(_, known)| *known == byte) {
                    *count += 1;
                }
            }
            _ => {}
        }
    }
    let most = counts.iter().map(|(count, _)| *count).max().unwrap_or(0);
    if most == 0 { b',' } else { counts.iter().find(|(count, _)| *count == most).map_or(b',', |(_, byte)| *byte) }
}

/// Reads a table. `row_bytes` is the longest row taken.
///
/// Splitting into fields and understanding them take about as long as each other, so each has a thread of its own.
/// Rows arrive in order, so that the result does not depend on it.
pub(super) fn read<R: RowSink>(source: Source, row_bytes: usize, rows: &mut R) -> Result<&'static str, ReadError> {
    let delimiter = delimiter(&source.head);
    let path = source.path;
    let n_bytes = Arc::new(AtomicU64::new(0));
    let limited =
        Limited { inner: source.reader, n_bytes: Arc::clone(&n_bytes), limit: (row_bytes + HEAD_BYTES) as u64 };
    let mut reader = csv_builder(delimiter).buffer_capacity(HEAD_BYTES).from_reader(limited);
    let mut header = StringRecord::new();
    reader.read_record(&mut header).map_err(|error| failed(&path, error, 1, row_bytes))?;
    let columns: Vec<String> = header.iter().map(|name| name.trim().to_owned()).collect();
    let needs = rows.start(&columns, false)?;
    if let Some(idx) = needs.repeat
        && counts_from_zero(&source.head, delimiter, idx)
    {
        rows.repeats_from_zero();
    }
    let splitter = Splitter { reader, n_bytes, crlf: ends_in_crlf(&source.head) };
    let (sender, batches) = mpsc::sync_channel(BATCHES_AHEAD);
    let (used, recycled) = mpsc::channel();
    let n_rows = thread::scope(|scope| {
        scope.spawn(move || splitter.run(&sender, &recycled));
        let taken = take(&batches, &used, &columns, rows);
        // When the sink gives up, the splitter must not wait for a place in the queue.
        drop(batches);
        taken.map_err(|stop| match stop {
            Stop::Sink(error) => error,
            Stop::Source(error, line) => failed(&path, error, line, row_bytes),
        })
    })?;
    if n_rows == 0 {
        let message = format!("has a header ({}) and no rows", columns.join(", "));
        return Err(ReadError::Unusable { path, message });
    }
    Ok(if delimiter == b'\t' { "tsv" } else { "csv" })
}

/// Rows handed from thread to thread at once.
const BATCH_ROWS: usize = 1024;
/// Batches that wait at most: memory is bounded by them.
const BATCHES_AHEAD: usize = 4;

/// A row split into fields, and the line it starts on.
struct Row {
    record: StringRecord,
    /// The record, where it is no text.
    not_utf8: Option<ByteRecord>,
    line: u64,
}

/// Rows in order; the first `len` count, the others keep their buffers for another time.
#[derive(Default)]
struct Batch {
    rows: Vec<Row>,
    len: usize,
    /// Why there are no more rows, with the line on which the next one would start.
    failure: Option<(csv::Error, u64)>,
}

/// The thread that splits rows into fields.
struct Splitter {
    reader: csv::Reader<Limited>,
    n_bytes: Arc<AtomicU64>,
    crlf: bool,
}

impl Splitter {
    /// Splits until the source ends or fails, or nobody takes the rows any more.
    fn run(mut self, batches: &SyncSender<Batch>, recycled: &Receiver<Batch>) {
        loop {
            let mut batch = recycled.try_recv().unwrap_or_default();
            let is_last = self.fill(&mut batch);
            if batches.send(batch).is_err() || is_last {
                return;
            }
        }
    }

    /// Returns whether there is nothing after this batch.
    fn fill(&mut self, batch: &mut Batch) -> bool {
        batch.len = 0;
        while batch.len < BATCH_ROWS {
            if batch.len == batch.rows.len() {
                batch.rows.push(Row { record: StringRecord::new(), not_utf8: None, line: 0 });
            }
            let row = &mut batch.rows[batch.len];
            let mut record = std::mem::take(&mut row.record).into_byte_record();
            self.n_bytes.store(0, Ordering::Relaxed);
            let started_at = self.reader.position().line();
            match self.reader.read_byte_record(&mut record) {
                Ok(true) => {}
                Ok(false) => return true,
                Err(error) => {
                    batch.failure = Some((error, started_at));
                    return true;
                }
            }
            row.line = first_line(&record, self.reader.position().line(), self.crlf);
            // Checked once for the whole row; moving the record back and forth allocates nothing.
            match StringRecord::from_byte_record(record) {
                Ok(text) => (row.record, row.not_utf8) = (text, None),
                Err(error) => row.not_utf8 = Some(error.into_byte_record()),
            }
            batch.len += 1;
        }
        false
    }
}

/// Why no more rows are taken.
enum Stop {
    Sink(ReadError),
    Source(csv::Error, u64),
}

/// Understands the rows and returns how many there were.
fn take<R: RowSink>(
    batches: &Receiver<Batch>,
    used: &Sender<Batch>,
    columns: &[String],
    rows: &mut R,
) -> Result<u64, Stop> {
    let mut n_rows = 0;
    for mut batch in batches {
        for Row { record, not_utf8, line } in &batch.rows[..batch.len] {
            n_rows += 1;
            let n_fields = not_utf8.as_ref().map_or(record.len(), ByteRecord::len);
            if n_fields != columns.len() {
                let n_lines = 1 + n_newlines(not_utf8.as_ref().unwrap_or(record.as_byte_record()));
                rows.bad_row("wrong-number-of-fields", *line, || wrong_length(n_fields, columns.len(), n_lines));
            } else if not_utf8.is_some() {
                rows.bad_row("invalid-utf8", *line, || {
                    "the row is not valid UTF-8, unlike the start of the file; it was left out".to_owned()
                });
            } else {
                rows.row(record, *line).map_err(Stop::Sink)?;
            }
        }
        if let Some((error, line)) = batch.failure.take() {
            return Err(Stop::Source(error, line));
        }
        // The other thread may have ended; then nobody needs the buffers.
        used.send(batch).ok();
    }
    Ok(n_rows)
}

/// Returns the line on which a record starts, given the reader's line after it.
///
/// The reader's own idea of the start is that of the blank lines before the record, and it leaves the second half of
/// a CR LF to the next record.
fn first_line(record: &ByteRecord, line_after: u64, crlf: bool) -> u64 {
    let line_before = record.position().map_or(0, csv::Position::line);
    match line_after.saturating_sub(line_before) {
        1 if crlf => line_after,
        0 | 1 => line_before,
        _ => line_after.saturating_sub(n_newlines(record) + u64::from(!crlf)),
    }
}

fn n_newlines(record: &ByteRecord) -> u64 {
    record.as_slice().split(|&byte| byte == b'\n').skip(1).map(|_| 1).sum()
}

/// Returns whether the first line ends in CR LF.
fn ends_in_crlf(head: &[u8]) -> bool {
    head.iter().position(|&byte| byte == b'\n').is_some_and(|idx| idx > 0 && head[idx - 1] == b'\r')
}

fn csv_builder(delimiter: u8) -> csv::ReaderBuilder {
    let mut builder = csv::ReaderBuilder::new();
    builder.delimiter(delimiter).flexible(true).has_headers(false);
    builder
}

impl Cells for StringRecord {
    #[inline]
    fn cell(&self, column_idx: usize) -> Cell<'_> {
        self.get(column_idx).map_or(Cell::Empty, Cell::of)
    }
}

fn wrong_length(n_fields: usize, n_columns: usize, n_lines: u64) -> String {
    let hint = match n_lines {
        0 | 1 => String::new(),
        _ => format!(". It takes up {n_lines} lines: is a quote opened and never closed?"),
    };
    format!("the row has {n_fields} fields, the header has {n_columns}; the row was left out{hint}")
}

/// Returns whether the start of the table holds a 0 in the column that numbers the repeats.
fn counts_from_zero(head: &[u8], delimiter: u8, column_idx: usize) -> bool {
    let mut reader = csv_builder(delimiter).from_reader(head);
    let mut record = ByteRecord::new();
    while reader.read_byte_record(&mut record).unwrap_or(false) {
        if record.get(column_idx).is_some_and(|cell| cell.trim_ascii() == b"0") {
            return true;
        }
    }
    false
}

fn failed(path: &Path, error: csv::Error, line: u64, row_bytes: usize) -> ReadError {
    let path = path.to_path_buf();
    match error.into_kind() {
        csv::ErrorKind::Io(error) if is_row_too_long(&error) => {
            let message = format!(
                "the row at line {line} is longer than {}; is a quote opened there and never closed?",
                in_words(row_bytes)
            );
            ReadError::Unusable { path, message }
        }
        csv::ErrorKind::Io(source) => ReadError::Io { path, source },
        csv::ErrorKind::Utf8 { .. } => {
            ReadError::Unusable { path, message: "the header is not valid UTF-8; save the file as UTF-8".to_owned() }
        }
        kind => ReadError::Io { path, source: io::Error::other(format!("{kind:?}")) },
    }
}

fn is_row_too_long(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.downcast_ref::<RowTooLong>().is_some())
}

/// Returns a number of bytes as people write it.
pub(super) fn in_words(n_bytes: usize) -> String {
    const MIB: usize = 1024 * 1024;
    if n_bytes >= MIB { format!("{} MiB", n_bytes / MIB) } else { format!("{n_bytes} bytes") }
}

/// Ends the reading when one row takes more than it may, before memory does.
struct Limited {
    inner: Box<dyn BufRead + Send>,
    /// Bytes given since the last row was complete.
    n_bytes: Arc<AtomicU64>,
    limit: u64,
}

#[derive(Debug, thiserror::Error)]
#[error("the row is too long")]
struct RowTooLong;

impl Read for Limited {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n_read = self.inner.read(buffer)?;
        if self.n_bytes.fetch_add(n_read as u64, Ordering::Relaxed) > self.limit {
            return Err(io::Error::other(RowTooLong));
        }
        Ok(n_read)
    }
}
