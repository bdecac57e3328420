//! JSON as tools write it: a line or an element at a time, with Python's `NaN`, cut short or damaged.

use std::fmt;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::out::{Out, Trouble};
use super::python_json::WithoutNan;
use super::{Input, ReadError};

/// The longest line that is read as one record. A longer one is reported and passed over.
const MAX_LINE_BYTES: u64 = 64 << 20;

/// What one record is turned into: called with the record, its line or element, and where judgements go.
pub(super) type OnRecord<'f> = dyn FnMut(&Value, u64, &mut Out<'_>) -> Result<(), Trouble> + 'f;

/// Returns the first JSON value of a file's beginning, with what was cut off left out.
pub(super) fn first_value(bytes: &[u8]) -> Option<Value> {
    if !matches!(bytes.first()?, b'{' | b'[') {
        return None;
    }
    let end_of_line = bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len());
    parse(&bytes[..end_of_line]).or_else(|_| parse(&closed(bytes))).ok()
}

/// Returns the one JSON value that `bytes` hold.
fn parse(bytes: &[u8]) -> Result<Value, serde_json::Error> {
    // Most text has no Python numbers, and reading a slice is the faster way.
    serde_json::from_slice(bytes).or_else(|_| serde_json::from_reader(BufReader::new(WithoutNan::new(bytes))))
}

/// Returns `bytes` up to the last place where every open bracket can be closed, with the brackets closed.
fn closed(bytes: &[u8]) -> Vec<u8> {
    let (mut open, mut in_string, mut escaped) = (Vec::new(), false, false);
    let (mut end, mut brackets) = (0, Vec::new());
    for (idx, &byte) in bytes.iter().enumerate() {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' => open.push(b'}'),
            b'[' => open.push(b']'),
            b'}' | b']' => {
                if open.pop() != Some(byte) {
                    break;
                }
            }
            b',' => {}
            _ => continue,
        }
        if !in_string {
            end = if byte == b',' { idx } else { idx + 1 };
            brackets.clone_from(&open);
            if open.is_empty() {
                break;
            }
        }
    }
    let mut out = bytes[..end].to_vec();
    out.extend(brackets.iter().rev());
    out
}

/// Reads records: the lines of a JSON Lines file, the elements of one array, or objects written over several lines.
///
/// A bad line or element is reported and counted. Damage within an array ends the reading there and is reported.
///
/// # Errors
/// Returns [`ReadError::Io`] for the file, and what `on_record` returns from the sink.
pub(super) fn read_records(
    input: &mut Input,
    out: &mut Out<'_>,
    on_record: &mut OnRecord<'_>,
) -> Result<(), ReadError> {
    let (first, is_alone) = loop {
        let buffer = input.reader.fill_buf().map_err(|source| io_error(&input.path, source))?;
        let n_blank = buffer.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        match buffer.get(n_blank) {
            Some(&byte) => {
                let rest_of_line = buffer[n_blank + 1..].split(|&byte| byte == b'\n').next().unwrap_or_default();
                break (byte, rest_of_line.trim_ascii().is_empty());
            }
            None if buffer.is_empty() => return Ok(()),
            None => input.reader.consume(n_blank),
        }
    };
    if first == b'[' {
        let shape = Shape { into: &[], header: &[], keep: &[] };
        return read_elements(input, &shape, out, &mut |_, record, line, out| on_record(record, line, out));
    }
    // Whoever indents JSON writes the opening brace on a line of its own.
    if first == b'{' && is_alone {
        return read_values(input, out, on_record);
    }
    read_lines(input, out, on_record)
}

/// Reads one JSON value after another, wherever lines end.
fn read_values(input: &mut Input, out: &mut Out<'_>, on_record: &mut OnRecord<'_>) -> Result<(), ReadError> {
    let reader = BufReader::new(WithoutNan::new(&mut input.reader));
    for (value, number) in serde_json::Deserializer::from_reader(reader).into_iter::<Value>().zip(1..) {
        match value {
            Ok(record) => {
                out.row();
                let result = on_record(&record, number, out);
                out.settle(result, number)?;
            }
            Err(error) if error.is_io() => return Err(io_error(&input.path, error.into())),
            Err(error) => {
                let place = format!("line {}, column {}: {}", error.line(), error.column(), reason(&error));
                out.damaged(number - 1, &place);
                break;
            }
        }
    }
    Ok(())
}

fn read_lines(input: &mut Input, out: &mut Out<'_>, on_record: &mut OnRecord<'_>) -> Result<(), ReadError> {
    let (mut line, mut number) = (Vec::new(), 0_u64);
    loop {
        line.clear();
        let n_read = (&mut input.reader)
            .take(MAX_LINE_BYTES)
            .read_until(b'\n', &mut line)
            .map_err(|source| io_error(&input.path, source))?;
        if n_read == 0 {
            return Ok(());
        }
        number += 1;
        if n_read as u64 == MAX_LINE_BYTES && line.last() != Some(&b'\n') {
            out.row();
            out.bad(
                number,
                &format!("the line is longer than {} MiB: one record a line is expected", MAX_LINE_BYTES >> 20),
            );
            skip_line(input)?;
            continue;
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match parse(&line) {
            Ok(record) => {
                out.row();
                let result = on_record(&record, number, out);
                out.settle(result, number)?;
            }
            Err(error) => {
                out.row();
                out.bad(number, &format!("the line is not JSON (column {}): {}", error.column(), reason(&error)));
            }
        }
    }
}

fn skip_line(input: &mut Input) -> Result<(), ReadError> {
    loop {
        let buffer = input.reader.fill_buf().map_err(|source| io_error(&input.path, source))?;
        if buffer.is_empty() {
            return Ok(());
        }
        let end = buffer.iter().position(|&byte| byte == b'\n');
        let n_used = end.map_or(buffer.len(), |idx| idx + 1);
        input.reader.consume(n_used);
        if end.is_some() {
            return Ok(());
        }
    }
}

/// Where in one large JSON value the elements are, and what of the rest matters.
pub(super) struct Shape<'s> {
    /// The keys that lead to arrays of elements, at any depth from the top.
    pub(super) into: &'s [&'s str],
    /// The keys beside them whose values are handed over with each element that comes after.
    pub(super) header: &'s [&'s str],
    /// The keys of an element that are kept; the rest is not stored. Empty: all.
    pub(super) keep: &'s [&'s str],
}

/// What one element is turned into: called with the header so far, the element and its number.
pub(super) type OnElement<'f> = dyn FnMut(&Map<String, Value>, &Value, u64, &mut Out<'_>) -> Result<(), Trouble> + 'f;

/// Reads the elements of arrays within one JSON value, without holding the whole of it.
///
/// # Errors
/// Returns [`ReadError::Io`] for the file, and what `on_element` returns from the sink.
pub(super) fn read_elements(
    input: &mut Input,
    shape: &Shape<'_>,
    out: &mut Out<'_>,
    on_element: &mut OnElement<'_>,
) -> Result<(), ReadError> {
    let mut stopped = None;
    let mut walk = Walk { shape, header: Map::new(), n_elements: 0, out, on_element, stopped: &mut stopped };
    let mut deserializer = serde_json::Deserializer::from_reader(BufReader::new(WithoutNan::new(&mut input.reader)));
    let result = Level(&mut walk).deserialize(&mut deserializer);
    let n_elements = walk.n_elements;
    match (stopped, result) {
        (Some(error), _) => Err(error),
        (None, Ok(())) => Ok(()),
        (None, Err(error)) if error.is_io() => Err(io_error(&input.path, error.into())),
        (None, Err(error)) => {
            let place = format!("line {}, column {}: {}", error.line(), error.column(), reason(&error));
            out.damaged(n_elements, &place);
            Ok(())
        }
    }
}

/// Reads one JSON value, keeping only some keys of its top level. Empty: all.
///
/// # Errors
/// Returns what is wrong with the JSON.
pub(super) fn read_value(reader: impl Read, keep: &[&str]) -> Result<Value, serde_json::Error> {
    let reader = BufReader::new(WithoutNan::new(BufReader::new(reader)));
    Keep(keep).deserialize(&mut serde_json::Deserializer::from_reader(reader))
}

pub(super) fn io_error(path: &Path, source: std::io::Error) -> ReadError {
    ReadError::Io { path: path.to_path_buf(), source }
}

/// Returns what is wrong, without the place that serde appends.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or_default().to_owned()
}

struct Walk<'w, 'o, 's> {
    shape: &'w Shape<'w>,
    header: Map<String, Value>,
    n_elements: u64,
    out: &'w mut Out<'o>,
    on_element: &'w mut OnElement<'s>,
    stopped: &'w mut Option<ReadError>,
}

/// A value on the way to the elements: an object that leads on, or the array itself.
struct Level<'l, 'w, 'o, 's>(&'l mut Walk<'w, 'o, 's>);

impl<'de> DeserializeSeed<'de> for Level<'_, '_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Level<'_, '_, '_, '_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object or an array")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if self.0.shape.into.contains(&key.as_str()) {
                map.next_value_seed(Level(self.0))?;
            } else if self.0.shape.header.contains(&key.as_str()) {
                let value = map.next_value()?;
                self.0.header.insert(key, value);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        let walk = self.0;
        while let Some(element) = elements.next_element_seed(Keep(walk.shape.keep))? {
            walk.n_elements += 1;
            walk.out.row();
            let result = (walk.on_element)(&walk.header, &element, walk.n_elements, walk.out);
            if let Err(error) = walk.out.settle(result, walk.n_elements) {
                *walk.stopped = Some(error);
                return Err(serde::de::Error::custom("stopped"));
            }
        }
        Ok(())
    }

    // What leads nowhere holds no elements.
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }
}

/// A value of which only some keys of the top level are kept. Empty: all of it.
struct Keep<'k>(&'k [&'k str]);

impl<'de> DeserializeSeed<'de> for Keep<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        if self.0.is_empty() {
            serde::Deserialize::deserialize(deserializer)
        } else {
            deserializer.deserialize_any(self)
        }
    }
}

impl<'de> Visitor<'de> for Keep<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut kept = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            if self.0.contains(&key.as_str()) {
                let value = map.next_value()?;
                kept.insert(key, value);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(Value::Object(kept))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        while elements.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Value::Null)
    }

    // An element that is no object has none of the keys; what it is does not matter.
    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_str<E>(self, _: &str) -> Result<Value, E> {
        Ok(Value::Null)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_cut_file_shows_what_was_complete() {
        let whole = br#"[{"a": 1, "b": {"c": [1, 2, {"d": "x]}"}]}}, {"a": 2}]"#;
        assert_eq!(first_value(&whole[..36]), Some(json!([{"a": 1, "b": {"c": [1, 2, {}]}}])));
        for end in 0..=whole.len() {
            // Any cut gives a value or nothing, never a panic.
            drop(first_value(&whole[..end]));
        }
    }

    #[test]
    fn lines_after_the_first_do_not_matter() {
        assert_eq!(first_value(b"{\"a\":1}\n{\"b\":2}\n"), Some(json!({"a": 1})));
        assert_eq!(first_value(b"{\n  \"a\": 1,\n  \"b\": 2"), Some(json!({"a": 1})));
        assert_eq!(first_value(b"item,score\n1,2\n"), None);
    }
}
