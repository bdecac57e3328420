//! Other tools' own files, recognised by content.

use std::io::BufRead;
use std::path::PathBuf;

use super::{ReadError, ReadSummary, Sink};

/// The start of a source, from which a format is recognised.
pub(super) struct Head<'a> {
    /// The file's name without its folder, or `-`.
    pub file_name: &'a str,
    /// The start of the decompressed, decoded content, up to 256 KiB; a zip file is passed raw.
    pub bytes: &'a [u8],
}

/// A source, opened.
pub(super) struct Input {
    /// The file, or `standard input`.
    pub path: PathBuf,
    /// The file's name without folder and extensions.
    pub stem: String,
    /// The whole content from its start, decompressed and decoded; a zip file is passed raw.
    pub reader: Box<dyn BufRead + Send>,
}

/// A reader of one other tool's files.
pub(super) trait ForeignFormat: Sync {
    /// Returns the name shown to people.
    fn name(&self) -> &'static str;

    /// Returns whether the content is of this format.
    fn recognises(&self, head: &Head<'_>) -> bool;

    /// Reads the whole input into `sink`.
    ///
    /// # Errors
    /// See [`ReadError`].
    fn read(&self, input: &mut Input, sink: &mut dyn Sink) -> Result<ReadSummary, ReadError>;
}

/// Returns the format that recognises the content, if one does.
pub(super) fn recognise(head: &Head<'_>) -> Option<&'static dyn ForeignFormat> {
    FORMATS.iter().copied().find(|format| format.recognises(head))
}

static FORMATS: &[&dyn ForeignFormat] = &[];
