//! JSON as Python writes it, turned into JSON.

use std::io::{BufRead, ErrorKind, Read};

/// Replaces what Python writes for numbers that JSON does not have (`NaN`, `Infinity`) by `null`.
pub(super) struct WithoutNan<R> {
    inner: R,
    in_string: bool,
    escaped: bool,
    /// What was held back because it may begin such a word, and how much of it was handed on.
    held: Vec<u8>,
    n_given: usize,
}

impl<R: BufRead> WithoutNan<R> {
    /// Returns a reader of what `inner` gives.
    pub(super) fn new(inner: R) -> Self {
        Self { inner, in_string: false, escaped: false, held: Vec::new(), n_given: 0 }
    }

    fn next_byte(&mut self) -> std::io::Result<Option<u8>> {
        loop {
            match self.inner.fill_buf() {
                Ok(buffer) => {
                    let byte = buffer.first().copied();
                    self.inner.consume(usize::from(byte.is_some()));
                    return Ok(byte);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Gathers a word that begins with `first`, and the byte after it, into `held`.
    fn hold_word(&mut self, first: u8) -> std::io::Result<()> {
        self.held.clear();
        self.n_given = 0;
        self.held.push(first);
        let mut after = None;
        while self.held.len() < 16 {
            match self.next_byte()? {
                Some(byte) if byte.is_ascii_alphabetic() => self.held.push(byte),
                other => {
                    after = other;
                    break;
                }
            }
        }
        if matches!(self.held.as_slice(), b"NaN" | b"Infinity" | b"-Infinity" | b"-NaN") {
            self.held.clear();
            self.held.extend_from_slice(b"null");
        }
        if let Some(byte) = after {
            self.in_string = byte == b'"';
            self.held.push(byte);
        }
        Ok(())
    }
}

impl<R: BufRead> Read for WithoutNan<R> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let mut n_out = 0;
        while n_out < out.len() {
            if self.n_given < self.held.len() {
                let n = (self.held.len() - self.n_given).min(out.len() - n_out);
                out[n_out..n_out + n].copy_from_slice(&self.held[self.n_given..self.n_given + n]);
                self.n_given += n;
                n_out += n;
                continue;
            }
            let buffer = match self.inner.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if buffer.is_empty() {
                break;
            }
            let mut n_used = 0;
            let mut word = None;
            for &byte in buffer.iter().take(out.len() - n_out) {
                n_used += 1;
                if self.in_string {
                    match byte {
                        _ if self.escaped => self.escaped = false,
                        b'\\' => self.escaped = true,
                        b'"' => self.in_string = false,
                        _ => {}
                    }
                } else if matches!(byte, b'N' | b'I' | b'-') {
                    word = Some(byte);
                    break;
                } else if byte == b'"' {
                    self.in_string = true;
                }
                out[n_out] = byte;
                n_out += 1;
            }
            self.inner.consume(n_used);
            if let Some(first) = word {
                self.hold_word(first)?;
            }
        }
        Ok(n_out)
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn python_numbers_become_null_outside_strings_only() {
        let text = br#"{"a": NaN, "b": -Infinity, "c": "NaN \" Infinity", "d": -1.5, "e": [Infinity,2]}"#;
        for capacity in [1, 2, 3, 7, 64] {
            let reader = WithoutNan::new(BufReader::with_capacity(capacity, text.as_slice()));
            let value: Value = serde_json::from_reader(reader).expect("what Python writes is read");
            assert_eq!(value, json!({"a": null, "b": null, "c": "NaN \" Infinity", "d": -1.5, "e": [null, 2]}));
        }
    }
}
