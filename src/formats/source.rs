//! Opening a source: a file or a stream, unpacked and turned into UTF-8 on the way.
//!
//! Compression, encoding and container are told from the content; the file's name decides nothing but the stem. Nothing
//! here is ever held whole, except a Parquet table that does not lie in a plain file.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use assize_calibration::problem::{Problem, Severity};
use encoding_rs::{Decoder, Encoding, GB18030, UTF_16BE, UTF_16LE, WINDOWS_1252};

use super::ReadError;

/// How much of a source is looked at before it is read.
pub(super) const HEAD_BYTES: usize = 256 * 1024;

/// The longest row that is read. A longer one is nearly always a quote that was never closed.
pub(super) const ROW_BYTES: usize = 64 * 1024 * 1024;

/// What kind of content a source has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Container {
    /// Text, decoded to UTF-8.
    Text,
    /// A zip file, raw.
    Zip,
    /// A Parquet table, raw.
    Parquet,
}

/// A source, opened.
pub(super) struct Source {
    /// The file, or `standard input`.
    pub path: PathBuf,
    /// The file's name without its folder.
    pub file_name: String,
    /// The file's name without folder and extensions.
    pub stem: String,
    /// What it holds.
    pub container: Container,
    /// The first [`HEAD_BYTES`] of what `reader` gives.
    pub head: Vec<u8>,
    /// All of the content.
    pub reader: Box<dyn BufRead + Send>,
    /// Whether `path` names a file that holds exactly this content.
    pub is_plain_file: bool,
    /// Whether the encoding was guessed as one in which nearly any bytes are text.
    is_any_text: bool,
    /// What had to be assumed.
    pub assumptions: Vec<Problem>,
}

impl Source {
    /// Returns whether the start is no text: zeros where they make one byte in eight, or any where the bytes are text only
    /// because they would be whatever they are. A few in valid UTF-8 are what a judge wrote.
    pub(super) fn looks_binary(&self) -> bool {
        let start = &self.head[..self.head.len().min(1024)];
        let n_zeros = memchr::memchr_iter(0, start).count();
        n_zeros * 8 > start.len() || (self.is_any_text && n_zeros > 0)
    }
}

/// Opens a file, or standard input for `-`.
pub(super) fn open(path: &Path) -> Result<Source, ReadError> {
    if path == Path::new("-") {
        return from_stream(Path::new("standard input"), Box::new(io::stdin()));
    }
    let failed = |source| ReadError::Io { path: path.to_path_buf(), source };
    let file = File::open(path).map_err(failed)?;
    let known = file.metadata().map_err(failed)?;
    if known.is_dir() {
        let message = "is a folder; name the log files in it".to_owned();
        return Err(ReadError::Unusable { path: path.to_path_buf(), message });
    }
    let mut source = from_stream(path, Box::new(file))?;
    // A pipe that is opened again waits for another writer, or takes bytes away from the reader.
    source.is_plain_file = source.container == Container::Parquet && known.is_file() && raw_is_parquet(path);
    Ok(source)
}

fn raw_is_parquet(path: &Path) -> bool {
    let mut magic = [0; 4];
    File::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok() && &magic == b"PAR1"
}

/// Opens a stream. `path` is what errors and problems call it.
pub(super) fn from_stream(path: &Path, stream: Box<dyn Read + Send>) -> Result<Source, ReadError> {
    let failed = |source| ReadError::Io { path: path.to_path_buf(), source };
    let (magic, stream) = take_head(stream, 4).map_err(failed)?;
    let stream: Box<dyn BufRead + Send> = Box::new(BufReader::with_capacity(HEAD_BYTES, stream));
    let unpacked: Box<dyn Read + Send> = match magic.as_slice() {
        [0x1f, 0x8b, ..] => Box::new(flate2::bufread::MultiGzDecoder::new(stream)),
        [0x28, 0xb5, 0x2f, 0xfd] => Box::new(zstd::Decoder::with_buffer(stream).map_err(failed)?),
        _ => stream,
    };
    let (raw_head, unpacked) = take_head(unpacked, HEAD_BYTES).map_err(failed)?;
    let container = match raw_head.as_slice() {
        [b'P', b'K', 3, 4, ..] => Container::Zip,
        [b'P', b'A', b'R', b'1', ..] => Container::Parquet,
        _ => Container::Text,
    };
    let mut source = Source {
        path: path.to_path_buf(),
        file_name: path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
        stem: stem(path),
        container,
        head: Vec::new(),
        reader: Box::new(io::empty()),
        is_plain_file: false,
        is_any_text: false,
        assumptions: Vec::new(),
    };
    if container != Container::Text {
        source.head = raw_head;
        source.reader = Box::new(BufReader::with_capacity(HEAD_BYTES, unpacked));
        return Ok(source);
    }
    let Guess { encoding, bom_bytes, assumption } = guess_encoding(&raw_head);
    let assumed =
        |message| Problem::new(Severity::Warning, "encoding-assumed", message).in_file(&path.display().to_string());
    source.assumptions.extend(assumption.map(assumed));
    source.is_any_text = encoding.is_some_and(|guess| guess == GB18030 || guess == WINDOWS_1252);
    let mut unpacked = unpacked;
    io::copy(&mut unpacked.by_ref().take(bom_bytes as u64), &mut io::sink()).map_err(failed)?;
    if let Some(encoding) = encoding {
        let decoded = Transcode::new(BufReader::with_capacity(HEAD_BYTES, unpacked), encoding);
        let (head, decoded) = take_head(Box::new(decoded), HEAD_BYTES).map_err(failed)?;
        source.head = head;
        source.reader = Box::new(BufReader::with_capacity(HEAD_BYTES, decoded));
    } else {
        source.head = raw_head[bom_bytes..].to_vec();
        source.reader = Box::new(BufReader::with_capacity(HEAD_BYTES, unpacked));
    }
    Ok(source)
}

/// Returns a file's name without its folder, the ending of its compression, and its extension.
fn stem(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let path = Path::new(&name);
    let is_packed =
        path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz") || ending.eq_ignore_ascii_case("zst"));
    let unpacked =
        path.file_stem().filter(|_| is_packed).map_or_else(|| name.clone(), |stem| stem.to_string_lossy().into_owned());
    Path::new(&unpacked).file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Reads up to `n_bytes` and returns them, with a reader that gives them again.
fn take_head(mut reader: Box<dyn Read + Send>, n_bytes: usize) -> io::Result<(Vec<u8>, Box<dyn Read + Send>)> {
    let mut head = Vec::new();
    reader.by_ref().take(n_bytes as u64).read_to_end(&mut head)?;
    let again = Cursor::new(head.clone()).chain(reader);
    Ok((head, Box::new(again)))
}

/// What the encoding of a text seems to be.
struct Guess {
    /// `None`: UTF-8, passed on as it is.
    encoding: Option<&'static Encoding>,
    bom_bytes: usize,
    assumption: Option<String>,
}

/// Tells the encoding from the start of a text.
///
/// A byte order mark settles it; else UTF-8 unless most of what is not ASCII is invalid as UTF-8 (a few broken rows do not
/// turn the rest of a UTF-8 file to rubbish). What remains is GB18030 if it reads as pairs of high bytes, as Chinese text
/// does, and Windows-1252 otherwise, in which every byte means something.
fn guess_encoding(head: &[u8]) -> Guess {
    match head {
        [0xef, 0xbb, 0xbf, ..] => return Guess { encoding: None, bom_bytes: 3, assumption: None },
        [0xff, 0xfe, ..] => return Guess { encoding: Some(UTF_16LE), bom_bytes: 2, assumption: None },
        [0xfe, 0xff, ..] => return Guess { encoding: Some(UTF_16BE), bom_bytes: 2, assumption: None },
        _ => {}
    }
    let assumed = |encoding: &'static Encoding| Guess {
        encoding: Some(encoding),
        bom_bytes: 0,
        assumption: Some(format!(
            "is not valid UTF-8; it was read as {}. If words look wrong, save the file as UTF-8",
            encoding.name()
        )),
    };
    let sample = &head[..head.len().min(4096)];
    let n_zero_at = |odd: usize| sample.iter().skip(odd).step_by(2).filter(|&&byte| byte == 0).count();
    if n_zero_at(1) * 4 > sample.len() {
        return assumed(UTF_16LE);
    }
    if n_zero_at(0) * 4 > sample.len() {
        return assumed(UTF_16BE);
    }
    let (mut n_valid, mut n_invalid) = (0, 0);
    for chunk in head.utf8_chunks() {
        n_valid += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        n_invalid += usize::from(!chunk.invalid().is_empty());
    }
    // The head may end in the middle of a character.
    let cut_off = usize::from(head.len() == HEAD_BYTES);
    if n_invalid <= n_valid.max(cut_off) {
        return Guess { encoding: None, bom_bytes: 0, assumption: None };
    }
    assumed(if looks_like_gb18030(head) { GB18030 } else { WINDOWS_1252 })
}

/// Returns whether the bytes that are not ASCII come in pairs of high bytes, as in Chinese text.
fn looks_like_gb18030(head: &[u8]) -> bool {
    let (mut n_pairs, mut n_other, mut idx) = (0_usize, 0_usize, 0);
    while idx < head.len() {
        match (head[idx], head.get(idx + 1).copied()) {
            (0..=0x7f, _) | (_, None) => {}
            (0xa1..=0xfe, Some(0xa1..=0xfe)) => {
                n_pairs += 1;
                idx += 1;
            }
            (0x81..=0xfe, Some(0x30..=0x39 | 0x40..=0x7e | 0x80..=0xfe)) => {
                n_other += 1;
                idx += 1;
            }
            _ => n_other += 4,
        }
        idx += 1;
    }
    n_pairs > 0 && n_pairs >= 4 * n_other
}

/// Turns a stream of another encoding into UTF-8. What cannot be decoded becomes U+FFFD.
struct Transcode<R> {
    inner: R,
    decoder: Decoder,
    out: Vec<u8>,
    given: usize,
    done: bool,
}

impl<R: BufRead> Transcode<R> {
    fn new(inner: R, encoding: &'static Encoding) -> Self {
        Self { inner, decoder: encoding.new_decoder_without_bom_handling(), out: Vec::new(), given: 0, done: false }
    }
}

impl<R: BufRead> Read for Transcode<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given == self.out.len() {
            if self.done {
                return Ok(0);
            }
            let bytes = self.inner.fill_buf()?;
            let last = bytes.is_empty();
            self.out.resize(self.decoder.max_utf8_buffer_length(bytes.len()).unwrap_or(4 * HEAD_BYTES), 0);
            let (_, n_read, n_written, _) = self.decoder.decode_to_utf8(bytes, &mut self.out, last);
            self.inner.consume(n_read);
            self.out.truncate(n_written);
            self.given = 0;
            self.done = last;
        }
        let n_bytes = buffer.len().min(self.out.len() - self.given);
        buffer[..n_bytes].copy_from_slice(&self.out[self.given..self.given + n_bytes]);
        self.given += n_bytes;
        Ok(n_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bytes: &[u8]) -> (String, usize) {
        let mut source = from_stream(Path::new("x.csv"), Box::new(Cursor::new(bytes.to_vec()))).expect("opens");
        let mut text = String::new();
        source.reader.read_to_string(&mut text).expect("decodes");
        assert_eq!(source.head, &text.as_bytes()[..text.len().min(HEAD_BYTES)]);
        (text, source.assumptions.len())
    }

    #[test]
    fn utf8_with_and_without_bom_is_passed_on() {
        assert_eq!(decoded("item,é\n".as_bytes()), ("item,é\n".to_owned(), 0));
        assert_eq!(decoded("\u{feff}item\n".as_bytes()), ("item\n".to_owned(), 0));
        assert_eq!(decoded(b""), (String::new(), 0));
    }

    #[test]
    fn utf16_is_told_by_its_mark_or_its_zeros() {
        let text = "item,评分\na,1\n";
        let le: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let be: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(decoded(&[&[0xff, 0xfe], &le[..]].concat()), (text.to_owned(), 0));
        assert_eq!(decoded(&[&[0xfe, 0xff], &be[..]].concat()), (text.to_owned(), 0));
        assert_eq!(decoded(&le), (text.to_owned(), 1));
    }

    #[test]
    fn chinese_and_western_encodings_are_told_apart() {
        let chinese = "题目,结论\n第一题,通过\n第二题,不通过\n";
        assert_eq!(decoded(&GB18030.encode(chinese).0), (chinese.to_owned(), 1));
        let western = "item,raw\n1,créer un été\n2,naïve\n3,Größe\n";
        assert_eq!(decoded(&WINDOWS_1252.encode(western).0), (western.to_owned(), 1));
    }

    #[test]
    fn one_broken_row_leaves_utf8_as_it_is() {
        let bytes = ["题目\n".as_bytes(), b"\xff\n".as_slice()].concat();
        let mut source = from_stream(Path::new("x.csv"), Box::new(Cursor::new(bytes.clone()))).expect("opens");
        let mut read = Vec::new();
        source.reader.read_to_end(&mut read).expect("reads");
        assert_eq!(read, bytes);
    }

    #[test]
    fn compression_is_told_by_content_and_left_out_of_the_stem() {
        use std::io::Write;
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(b"item\n").expect("memory takes it");
        assert_eq!(decoded(&gz.finish().expect("ends")).0, "item\n");
        assert_eq!(decoded(&zstd::encode_all(&b"item\n"[..], 1).expect("packs")).0, "item\n");
        assert_eq!(stem(Path::new("a/judge.v2.jsonl.gz")), "judge.v2");
        assert_eq!(stem(Path::new("judge.csv")), "judge");
        assert_eq!(stem(Path::new("standard input")), "standard input");
    }
}
