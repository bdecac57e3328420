//! JSON Lines, and JSON arrays (or runs) of objects. One object is one row; nested fields are columns such as
//! `result.score`.
//!
//! Objects are found by their braces, not by one pass of a parser, so that a broken one costs itself and no other.

use std::collections::HashSet;
use std::io::{self, BufRead, Read};

use serde::de::IgnoredAny;
use serde_json::Value;

use super::ReadError;
use super::delimited::in_words;
use super::fields::{Field, is_called};
use super::json_row::{Name, Node, Row, Tree};
use super::source::Source;
use super::table::{Needs, RowSink};

/// Objects looked at before the first is read, to learn the columns.
const N_AHEAD: usize = 1000;
/// Bytes looked at, likewise.
const BYTES_AHEAD: usize = 8 * 1024 * 1024;

/// Returns whether the text is JSON.
pub(super) fn recognises(head: &[u8]) -> bool {
    matches!(head.trim_ascii_start(), [b'{' | b'[', ..])
}

/// Reads all objects. `row_bytes` is the longest one taken.
pub(super) fn read<R: RowSink>(source: Source, row_bytes: usize, rows: &mut R) -> Result<&'static str, ReadError> {
    let form = Form::of(&source.head);
    let path = source.path;
    let failed = |source| ReadError::Io { path: path.clone(), source };
    let mut pieces = Pieces::new(source.reader, form, row_bytes);
    let mut ahead = Vec::new();
    let mut n_bytes = 0;
    while ahead.len() < N_AHEAD && n_bytes < BYTES_AHEAD {
        let mut piece = Vec::new();
        let Some(found) = pieces.next(&mut piece).map_err(failed)? else { break };
        n_bytes += piece.len();
        ahead.push((found, piece));
    }
    let columns = Columns::of(ahead.iter().map(|(_, piece)| piece.as_slice()));
    if columns.names.is_empty() {
        let message =
            "holds no JSON object; one judgement is one object, such as {\"item\": \"q1\", \"verdict\": \"accept\"}";
        return Err(ReadError::NoRows { path, message: message.to_owned() });
    }
    let needs = rows.start(&columns.names, true)?;
    let tree = columns.tree(&needs);
    for (found, piece) in ahead {
        take(&tree, found, &piece, row_bytes, rows)?;
    }
    let mut piece = Vec::new();
    while let Some(found) = pieces.next(&mut piece).map_err(failed)? {
        take(&tree, found, &piece, row_bytes, rows)?;
    }
    if pieces.is_cut_short {
        rows.cut_short(
            pieces.number,
            "the array is never closed: the file was cut short here, or is still being written; the rows up to here are used",
        );
    }
    Ok(if form == Form::Lines { "jsonl" } else { "json" })
}

fn take<R: RowSink>(tree: &Tree, found: Found, piece: &[u8], row_bytes: usize, rows: &mut R) -> Result<(), ReadError> {
    if found.is_cut {
        rows.bad_row("row-too-long", found.number, || {
            format!("longer than {}; the row was left out", in_words(row_bytes))
        });
        return Ok(());
    }
    let mut hand_on = |mut row: Row<'_>| {
        row.settle(|late| rows.late_column(late, found.number));
        rows.row(&row, found.number)
    };
    let error = match tree.row(piece) {
        Ok(row) => return hand_on(row),
        Err(error) => error,
    };
    // Python writes NaN and Infinity, which JSON has no words for.
    if let Some(mended) = quote_non_finite(piece)
        && let Ok(row) = tree.row(&mended)
    {
        return hand_on(row);
    }
    rows.bad_row("invalid-json", found.number, || format!("not a JSON object ({error}); the row was left out"));
    Ok(())
}

/// How the objects follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// One a line.
    Lines,
    /// In an array, or one after another over several lines each.
    Run,
}

impl Form {
    fn of(head: &[u8]) -> Self {
        let start = head.trim_ascii_start();
        if start.first() == Some(&b'[') {
            return Self::Run;
        }
        if !start.contains(&b'\n') {
            return Self::Lines;
        }
        // Lines inside an object printed over several lines are indented, or no objects.
        let is_object = |line: &[u8]| {
            line.first() == Some(&b'{')
                && (serde_json::from_slice::<IgnoredAny>(line).is_ok()
                    || quote_non_finite(line).is_some_and(|l| serde_json::from_slice::<IgnoredAny>(&l).is_ok()))
        };
        if start.split(|&byte| byte == b'\n').take(5).any(is_object) { Self::Lines } else { Self::Run }
    }
}

/// Where an object was found.
#[derive(Clone, Copy, Debug)]
struct Found {
    /// Its line, or its number in a run, counted from 1.
    number: u64,
    /// Whether it was longer than it may be.
    is_cut: bool,
}

/// Splits the text into the texts of objects.
struct Pieces {
    reader: Box<dyn BufRead + Send>,
    form: Form,
    row_bytes: usize,
    number: u64,
    in_array: bool,
    ended: bool,
    /// Whether the text ended in an array, behind one of its elements.
    is_cut_short: bool,
}

impl Pieces {
    fn new(reader: Box<dyn BufRead + Send>, form: Form, row_bytes: usize) -> Self {
        Self { reader, form, row_bytes, number: 0, in_array: false, ended: false, is_cut_short: false }
    }

    /// Puts the next object's text into `piece`.
    fn next(&mut self, piece: &mut Vec<u8>) -> io::Result<Option<Found>> {
        match self.form {
            Form::Lines => self.next_line(piece),
            Form::Run => self.next_in_run(piece),
        }
    }

    fn next_line(&mut self, piece: &mut Vec<u8>) -> io::Result<Option<Found>> {
        loop {
            piece.clear();
            let most = self.row_bytes as u64 + 1;
            if self.reader.by_ref().take(most).read_until(b'\n', piece)? == 0 {
                return Ok(None);
            }
            self.number += 1;
            if piece.len() as u64 == most && piece.last() != Some(&b'\n') {
                piece.clear();
                self.skip_line()?;
                return Ok(Some(Found { number: self.number, is_cut: true }));
            }
            if !piece.trim_ascii().is_empty() {
                return Ok(Some(Found { number: self.number, is_cut: false }));
            }
        }
    }

    fn skip_line(&mut self) -> io::Result<()> {
        loop {
            let bytes = self.reader.fill_buf()?;
            if bytes.is_empty() {
                return Ok(());
            }
            let (n_used, ended) = match bytes.iter().position(|&byte| byte == b'\n') {
                Some(idx) => (idx + 1, true),
                None => (bytes.len(), false),
            };
            self.reader.consume(n_used);
            if ended {
                return Ok(());
            }
        }
    }

    fn next_in_run(&mut self, piece: &mut Vec<u8>) -> io::Result<Option<Found>> {
        piece.clear();
        let mut scan = Scan::default();
        let mut is_cut = false;
        while !self.ended {
            let bytes = self.reader.fill_buf()?;
            if bytes.is_empty() {
                self.ended = true;
                self.is_cut_short = self.in_array && scan.state == ScanState::Before;
                break;
            }
            let mut n_used = 0;
            let mut complete = false;
            for &byte in bytes {
                if scan.state == ScanState::Before {
                    n_used += 1;
                    match byte {
                        b'[' if !self.in_array => self.in_array = true,
                        // What follows the array is read as well, so that nothing is dropped in silence.
                        b']' if self.in_array => self.in_array = false,
                        byte if byte.is_ascii_whitespace() || byte == b',' => {}
                        byte => {
                            piece.push(byte);
                            complete = scan.step(byte);
                        }
                    }
                    if complete {
                        break;
                    }
                    continue;
                }
                // A bare number or word ends before what follows it.
                if scan.state == ScanState::Bare && (byte.is_ascii_whitespace() || matches!(byte, b',' | b']' | b'}')) {
                    complete = true;
                    break;
                }
                n_used += 1;
                if piece.len() < self.row_bytes {
                    piece.push(byte);
                } else {
                    is_cut = true;
                }
                if scan.step(byte) {
                    complete = true;
                    break;
                }
            }
            self.reader.consume(n_used);
            if complete {
                break;
            }
        }
        if scan.state == ScanState::Before {
            return Ok(None);
        }
        self.number += 1;
        Ok(Some(Found { number: self.number, is_cut }))
    }
}

/// Follows strings and braces to the end of a value.
#[derive(Default)]
struct Scan {
    state: ScanState,
    depth: usize,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum ScanState {
    /// No byte of the value was seen.
    #[default]
    Before,
    /// In a number or word that no brace surrounds.
    Bare,
    /// Between braces, outside strings.
    Inside,
    String,
    /// After a backslash in a string.
    Escape,
}

impl Scan {
    /// Takes one byte and returns whether the value ends with it.
    fn step(&mut self, byte: u8) -> bool {
        self.state = match (self.state, byte) {
            (ScanState::String, b'\\') => ScanState::Escape,
            (ScanState::String, b'"') => {
                self.state = ScanState::Inside;
                return self.depth == 0;
            }
            (ScanState::String | ScanState::Escape, _) | (_, b'"') => ScanState::String,
            (_, b'{' | b'[') => {
                self.depth += 1;
                ScanState::Inside
            }
            (_, b'}' | b']') => {
                self.depth = self.depth.saturating_sub(1);
                self.state = ScanState::Inside;
                return self.depth == 0;
            }
            (ScanState::Before, _) => ScanState::Bare,
            (state, _) => state,
        };
        false
    }
}

/// Returns the text with `NaN`, `Infinity` and `-Infinity` put in quotes where they stand outside strings, or `None` if
/// there is none.
fn quote_non_finite(text: &[u8]) -> Option<Vec<u8>> {
    const WORDS: [&[u8]; 3] = [b"NaN", b"Infinity", b"-Infinity"];
    let mut out = Vec::with_capacity(text.len() + 8);
    let (mut idx, mut in_string, mut found) = (0, false, false);
    while idx < text.len() {
        let rest = &text[idx..];
        if !in_string && let Some(word) = WORDS.iter().find(|word| rest.starts_with(word)) {
            out.push(b'"');
            out.extend_from_slice(word);
            out.push(b'"');
            found = true;
            idx += word.len();
            continue;
        }
        match rest[0] {
            b'"' => in_string = !in_string,
            b'\\' if in_string && rest.len() > 1 => {
                out.push(rest[0]);
                idx += 1;
            }
            _ => {}
        }
        out.push(text[idx]);
        idx += 1;
    }
    found.then_some(out)
}

/// The columns of a run of objects: the paths to their leaves, in the order first seen.
#[derive(Default)]
struct Columns {
    names: Vec<String>,
    paths: Vec<Vec<String>>,
    /// The keys of the objects themselves, whatever stands under them.
    keys: HashSet<String>,
}

/// How deep fields are looked for.
const MOST_LEVELS: usize = 6;

impl Columns {
    fn of<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut columns = Self::default();
        let mut seen = HashSet::new();
        for piece in pieces {
            let value = serde_json::from_slice(piece).ok();
            let value = value.or_else(|| serde_json::from_slice(&quote_non_finite(piece)?).ok());
            if let Some(Value::Object(object)) = value {
                columns.add(&object, &mut Vec::new(), &mut seen);
                columns.keys.extend(object.into_iter().map(|(key, _)| key));
            }
        }
        columns
    }

    fn add(&mut self, object: &serde_json::Map<String, Value>, path: &mut Vec<String>, seen: &mut HashSet<String>) {
        for (key, value) in object {
            path.push(key.clone());
            match value {
                Value::Object(inner) if path.len() < MOST_LEVELS && !inner.is_empty() => self.add(inner, path, seen),
                _ => {
                    let name = path.join(".");
                    if seen.insert(name.clone()) {
                        self.names.push(name);
                        self.paths.push(path.clone());
                    }
                }
            }
            path.pop();
        }
    }

    /// Returns the tree of the paths to the columns that are used. One that no object had yet is a key of its name.
    fn tree(self, needs: &Needs) -> Tree {
        let is_ignored = |name: &str| needs.ignored.iter().any(|ignored| is_called(ignored, name));
        let mut root = Node::default();
        for (&idx, name) in &needs.columns {
            match self.paths.get(idx) {
                Some(path) => root.insert(path, idx),
                None if is_ignored(name) => {}
                None => root.insert(std::slice::from_ref(name), idx),
            }
        }
        let n_slots = needs.columns.last_key_value().map_or(0, |(last, _)| last + 1);
        let of_field =
            |&(field, slot_idx): &(Field, usize)| field.names().iter().map(move |text| Name { text, field, slot_idx });
        let names = needs.by_name.iter().flat_map(of_field).filter(|name| !is_ignored(name.text)).collect();
        Tree { root, n_slots, names, seen: self.keys }
    }
}
