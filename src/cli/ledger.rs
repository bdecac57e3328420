//! The ledger of looks: one line an audit, so that nobody forgets how often a growing log was looked at.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use assize_calibration::audit::record_looks;
use assize_calibration::audit::result::{Audit, LOOK_SCHEMA, Look};
use assize_calibration::log::Log;

use super::files::Pending;
use super::printer::Printer;
use super::status::Failure;

/// The ledger as it was read.
pub(super) struct Ledger {
    path: PathBuf,
    /// Its text, kept to the byte, also what cannot be read of it.
    text: String,
    looks: Vec<Look>,
    unreadable: Vec<usize>,
}

impl Ledger {
    /// Reads the ledger; a file that is not there yet is an empty one.
    ///
    /// Lines that are no looks are kept, told, and make a plan of looks void. A file without a single look is something else, and is refused,
    /// so that nothing is ever added to it.
    pub(super) fn read(path: &Path, printer: &Printer) -> Result<Self, Failure> {
        let text = match fs::read(path) {
            Ok(bytes) => String::from_utf8(bytes).ok(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Some(String::new()),
            Err(error) => {
                return Err(anyhow::Error::from(error).context(format!("failed to read {}", path.display())).into());
            }
        };
        let other = || {
            Failure::usage(format!("{} holds something else than looks that --looks recorded", path.display()))
                .help("name another file with --looks; it is made if there is none")
        };
        let text = text.ok_or_else(other)?;
        let (mut looks, mut unreadable) = (Vec::new(), Vec::new());
        for (idx, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            match serde_json::from_str::<Look>(line) {
                Ok(look) if look.schema == LOOK_SCHEMA => looks.push(look),
                _ => unreadable.push(idx + 1),
            }
        }
        if looks.is_empty() && !unreadable.is_empty() {
            return Err(other());
        }
        if let Some(first) = unreadable.first() {
            printer.note(&format!(
                "{}: {} of its lines cannot be read as looks and are kept as they are (first: line {first})",
                path.display(),
                unreadable.len()
            ));
        }
        Ok(Self { path: path.to_path_buf(), text, looks, unreadable })
    }

    /// Records the audit, in it and in the ledger: the file is written beside its place and moved there. The same data audited again add no
    /// line, and nothing is written.
    pub(super) fn record(mut self, audit: &mut Audit, log: &Log) -> Result<Option<Pending>, Failure> {
        let added = record_looks(audit, log, &self.looks, self.unreadable.len() as u64);
        if added.is_empty() {
            return Ok(None);
        }
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        for look in &added {
            let line = serde_json::to_string(look).context("failed to write a look as JSON")?;
            writeln!(self.text, "{line}").expect("writing to memory");
        }
        Pending::with_text(&self.path, &self.text).map(Some)
    }
}
