//! Writing the plain log: JSON Lines, CSV or TSV, packed or not.
//!
//! A file is written beside its place and moved there when it is complete: a log that exists is a whole one.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

use assize_calibration::judgement::{Judgement, StyleMark};
use assize_calibration::problem::{Problem, Problems};
use tempfile::NamedTempFile;

use super::{Part, Parts, ReadError, Sink, own_part};
use crate::unfinished::create_beside;

/// How a log is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputFormat {
    /// One JSON object a line.
    Jsonl,
    /// Fields separated by commas, with a header of the fields that occur.
    Csv,
    /// The same, separated by tabs.
    Tsv,
}

impl OutputFormat {
    /// Returns the format and the packing that a file's name asks for, or `None` for a name that asks for neither of the
    /// formats known (`.jsonl`, `.ndjson`, `.csv`, `.tsv`, each with `.gz` or `.zst` or without).
    fn of(path: &Path) -> Option<(Self, Packing)> {
        let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
        let (name, packing) = match name.rsplit_once('.') {
            Some((rest, "gz")) => (rest.to_owned(), Packing::Gzip),
            Some((rest, "zst")) => (rest.to_owned(), Packing::Zstd),
            _ => (name, Packing::None),
        };
        let format = match name.rsplit_once('.')?.1 {
            "jsonl" | "ndjson" => Self::Jsonl,
            "csv" => Self::Csv,
            "tsv" => Self::Tsv,
            _ => return None,
        };
        Some((format, packing))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packing {
    None,
    Gzip,
    Zstd,
}

/// Bytes gathered before they are handed on.
const BUFFER_BYTES: usize = 256 * 1024;

enum Packer<W: Write> {
    None(W),
    Gzip(Box<flate2::write::GzEncoder<W>>),
    Zstd(Box<zstd::Encoder<'static, W>>),
}

impl<W: Write> Packer<W> {
    fn new(packing: Packing, inner: W) -> io::Result<Self> {
        const ZSTD_LEVEL: i32 = 3;
        Ok(match packing {
            Packing::None => Self::None(inner),
            Packing::Gzip => Self::Gzip(Box::new(flate2::write::GzEncoder::new(inner, flate2::Compression::fast()))),
            Packing::Zstd => Self::Zstd(Box::new(zstd::Encoder::new(inner, ZSTD_LEVEL)?)),
        })
    }

    fn finish(self) -> io::Result<W> {
        match self {
            Self::None(inner) => Ok(inner),
            Self::Gzip(encoder) => encoder.finish(),
            Self::Zstd(encoder) => encoder.finish(),
        }
    }
}

impl<W: Write> Write for Packer<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::None(inner) => inner.write(bytes),
            Self::Gzip(encoder) => encoder.write(bytes),
            Self::Zstd(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::None(inner) => inner.flush(),
            Self::Gzip(encoder) => encoder.flush(),
            Self::Zstd(encoder) => encoder.flush(),
        }
    }
}

/// Where the bytes go.
enum Target {
    /// A file beside its place.
    File(NamedTempFile),
    Stream(Box<dyn Write + Send>),
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.write(bytes),
            Self::Stream(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File(file) => file.flush(),
            Self::Stream(stream) => stream.flush(),
        }
    }
}

/// Writes the plain log. Nothing is at its place before [`finish`](Self::finish).
pub struct LogWriter {
    path: PathBuf,
    packer: Packer<Target>,
    rows: Rows,
    /// What the reader said about the input, for the caller to show.
    pub problems: Problems,
    n_rows: u64,
}

/// Rows on their way out.
enum Rows {
    /// Text that is not handed on yet.
    Jsonl(Vec<u8>),
    Table(Box<Table>),
}

impl LogWriter {
    /// Starts a file. Its format and packing follow from its name: `.jsonl`, `.csv` or `.tsv`, with `.gz` or `.zst`.
    ///
    /// # Errors
    /// Returns an error when the name asks for no format known, or the folder cannot be written to.
    pub fn create(path: &Path) -> Result<Self, ReadError> {
        let Some((format, packing)) = OutputFormat::of(path) else {
            return Err(ReadError::Unusable {
                path: path.to_path_buf(),
                message:
                    "what to write is told from the name; end it in .jsonl, .csv or .tsv (and .gz or .zst to pack it)"
                        .to_owned(),
            });
        };
        let file = create_beside(path).map_err(|source| failed(path, source))?;
        Self::new(path, Target::File(file), format, packing)
    }

    /// Starts a stream. `path` is what errors call it.
    ///
    /// # Errors
    /// Returns an error when no scratch file can be made, which CSV and TSV need.
    pub fn to_stream(path: &Path, stream: Box<dyn Write + Send>, format: OutputFormat) -> Result<Self, ReadError> {
        Self::new(path, Target::Stream(stream), format, Packing::None)
    }

    fn new(path: &Path, target: Target, format: OutputFormat, packing: Packing) -> Result<Self, ReadError> {
        let rows = match format {
            OutputFormat::Jsonl => Ok(Rows::Jsonl(Vec::with_capacity(BUFFER_BYTES + 4096))),
            OutputFormat::Csv => Table::new(b',').map(|table| Rows::Table(Box::new(table))),
            OutputFormat::Tsv => Table::new(b'\t').map(|table| Rows::Table(Box::new(table))),
        };
        let made = rows.and_then(|rows| Ok((rows, Packer::new(packing, target)?)));
        let (rows, packer) = made.map_err(|source| failed(path, source))?;
        Ok(Self { path: path.to_path_buf(), packer, rows, problems: Problems::default(), n_rows: 0 })
    }

    /// Writes what is left, moves the file to its place and returns how many judgements it holds.
    ///
    /// # Errors
    /// Returns an error when the disk is full or the file cannot be moved; then there is no file.
    pub fn finish(self) -> Result<u64, ReadError> {
        let Self { path, mut packer, rows, n_rows, .. } = self;
        let written = match rows {
            Rows::Jsonl(text) => packer.write_all(&text),
            Rows::Table(table) => table.write(&mut packer),
        };
        let target = written.and_then(|()| packer.finish()).and_then(|mut target| {
            target.flush()?;
            Ok(target)
        });
        match target.map_err(|source| failed(&path, source))? {
            Target::File(file) => {
                // Only what has reached the disk may take the place of an older log.
                file.as_file().sync_all().map_err(|source| failed(&path, source))?;
                file.persist(&path).map_err(|error| failed(&path, error.error))?;
            }
            Target::Stream(_) => {}
        }
        Ok(n_rows)
    }
}

fn failed(path: &Path, source: io::Error) -> ReadError {
    ReadError::Write { path: path.to_path_buf(), source }
}

impl Sink for LogWriter {
    fn judgement(&mut self, judgement: &Judgement<'_>, _line: u64) -> Result<(), ReadError> {
        self.n_rows += 1;
        let written = match &mut self.rows {
            Rows::Jsonl(text) => {
                let written = push_line(text, judgement);
                if text.len() < BUFFER_BYTES {
                    written
                } else {
                    let handed_on = written.and_then(|()| self.packer.write_all(text));
                    text.clear();
                    handed_on
                }
            }
            Rows::Table(table) => table.push(judgement),
        };
        written.map_err(|source| failed(&self.path, source))
    }

    fn problem(&mut self, problem: Problem) {
        self.problems.add(problem);
    }

    fn parts(&mut self) -> Option<&mut dyn Parts> {
        matches!(self.rows, Rows::Jsonl(_)).then_some(self)
    }
}

impl Parts for LogWriter {
    fn part(&mut self) -> Box<dyn Part> {
        Box::new(Lines { path: self.path.clone(), text: Vec::new(), problems: Problems::default(), n_rows: 0 })
    }

    fn append(&mut self, part: Box<dyn Part>) -> Result<(), ReadError> {
        let Lines { path, text, problems, n_rows } = own_part(part);
        self.n_rows += n_rows;
        self.problems.append(problems);
        let Rows::Jsonl(before) = &mut self.rows else { unreachable!("a table has no parts") };
        let written = self.packer.write_all(before).and_then(|()| self.packer.write_all(&text));
        before.clear();
        written.map_err(|source| failed(&path, source))
    }
}

/// Some of a log's lines.
struct Lines {
    path: PathBuf,
    text: Vec<u8>,
    problems: Problems,
    n_rows: u64,
}

impl Sink for Lines {
    fn judgement(&mut self, judgement: &Judgement<'_>, _line: u64) -> Result<(), ReadError> {
        self.n_rows += 1;
        push_line(&mut self.text, judgement).map_err(|source| failed(&self.path, source))
    }

    fn problem(&mut self, problem: Problem) {
        self.problems.add(problem);
    }
}

fn push_line(text: &mut Vec<u8>, judgement: &Judgement<'_>) -> io::Result<()> {
    serde_json::to_writer(&mut *text, judgement)?;
    text.push(b'\n');
    Ok(())
}

/// The columns of a log as a table.
const COLUMNS: [&str; 30] = [
    "item",
    "judge",
    "score",
    "verdict",
    "choice",
    "category",
    "repeat",
    "order",
    "place",
    "arm",
    "anchors",
    "anchor_set",
    "dimension",
    "label",
    "rater",
    "group",
    "content",
    "confidence",
    "length_a",
    "length_b",
    "generator",
    "generator_b",
    "weight",
    "tokens_in",
    "tokens_out",
    "price",
    "latency_ms",
    "time",
    "raw",
    "error",
];

/// A table whose columns are known only when all rows are: rows wait in a scratch file with all columns.
struct Table {
    delimiter: u8,
    scratch: csv::Writer<BufWriter<File>>,
    is_used: [bool; COLUMNS.len()],
    /// Columns of style in the order in which they came; they stand behind the others.
    style: Vec<String>,
    record: csv::StringRecord,
}

impl Table {
    fn new(delimiter: u8) -> io::Result<Self> {
        let file = BufWriter::with_capacity(BUFFER_BYTES, tempfile::tempfile()?);
        // Rows before the first that has a mark of style are shorter.
        let scratch = csv::WriterBuilder::new().flexible(true).from_writer(file);
        let is_used = [false; COLUMNS.len()];
        Ok(Self { delimiter, scratch, is_used, style: Vec::new(), record: csv::StringRecord::new() })
    }

    fn push(&mut self, judgement: &Judgement<'_>) -> io::Result<()> {
        self.record.clear();
        let word = |word: Option<&'static str>| word.unwrap_or_default().to_owned();
        let number = |number: Option<f64>| number.map(|number| number.to_string()).unwrap_or_default();
        let count = |count: Option<u64>| count.map(|count| count.to_string()).unwrap_or_default();
        use assize_calibration::judgement::{Choice, Order, Verdict};
        let j = judgement;
        let fields: [std::borrow::Cow<'_, str>; COLUMNS.len()] = [
            j.item.as_ref().into(),
            j.judge.as_ref().into(),
            number(j.score).into(),
            word(j.verdict.map(|verdict| if verdict == Verdict::Accept { "accept" } else { "reject" })).into(),
            word(j.choice.map(|choice| match choice {
                Choice::A => "a",
                Choice::B => "b",
                Choice::Tie => "tie",
            }))
            .into(),
            j.category.as_deref().unwrap_or_default().into(),
            count(j.repeat.map(u64::from)).into(),
            word(j.order.map(|order| if order == Order::Ab { "ab" } else { "ba" })).into(),
            count(j.place.map(u64::from)).into(),
            j.arm.as_deref().unwrap_or_default().into(),
            count(j.anchors.map(u64::from)).into(),
            j.anchor_set.as_deref().unwrap_or_default().into(),
            j.dimension.as_deref().unwrap_or_default().into(),
            j.label.as_ref().map(|label| label.0.as_ref()).unwrap_or_default().into(),
            j.rater.as_deref().unwrap_or_default().into(),
            j.group.as_deref().unwrap_or_default().into(),
            j.content.as_deref().unwrap_or_default().into(),
            number(j.confidence).into(),
            number(j.length_a).into(),
            number(j.length_b).into(),
            j.generator.as_deref().unwrap_or_default().into(),
            j.generator_b.as_deref().unwrap_or_default().into(),
            number(j.weight).into(),
            count(j.tokens_in).into(),
            count(j.tokens_out).into(),
            number(j.price).into(),
            number(j.latency_ms).into(),
            j.time.as_deref().unwrap_or_default().into(),
            j.raw.as_deref().unwrap_or_default().into(),
            j.error.as_deref().unwrap_or_default().into(),
        ];
        for (is_used, field) in self.is_used.iter_mut().zip(&fields) {
            *is_used |= !field.is_empty();
            self.record.push_field(field);
        }
        if !j.style.is_empty() {
            let mut marks: Vec<String> = vec![String::new(); self.style.len()];
            for (name, value) in j.style.iter().flat_map(StyleMark::columns) {
                let place = self.style.iter().position(|known| *known == name).unwrap_or_else(|| {
                    self.style.push(name);
                    marks.push(String::new());
                    marks.len() - 1
                });
                marks[place] = value.to_string();
            }
            for mark in &marks {
                self.record.push_field(mark);
            }
        }
        self.scratch.write_record(&self.record).map_err(as_io)
    }

    /// Writes the columns that occur.
    fn write(self, out: &mut dyn Write) -> io::Result<()> {
        let scratch = self.scratch.into_inner().map_err(|error| io::Error::other(error.to_string()))?;
        let mut scratch = scratch.into_inner().map_err(io::IntoInnerError::into_error)?;
        scratch.rewind()?;
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .from_reader(BufReader::with_capacity(BUFFER_BYTES, scratch));
        let mut writer = csv::WriterBuilder::new().delimiter(self.delimiter).from_writer(out);
        let used = |idx: &usize| self.is_used[*idx];
        let names = (0..COLUMNS.len()).filter(used).map(|idx| COLUMNS[idx]);
        writer.write_record(names.chain(self.style.iter().map(String::as_str))).map_err(as_io)?;
        let mut record = csv::ByteRecord::new();
        while reader.read_byte_record(&mut record).map_err(as_io)? {
            let marks = (0..self.style.len()).map(|idx| record.get(COLUMNS.len() + idx).unwrap_or_default());
            let fields = (0..COLUMNS.len()).filter(used).map(|idx| &record[idx]);
            writer.write_record(fields.chain(marks)).map_err(as_io)?;
        }
        writer.flush()
    }
}

fn as_io(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        kind => io::Error::other(format!("{kind:?}")),
    }
}
