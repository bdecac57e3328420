//! The ledger of looks: one line an audit, so that nobody forgets how often a growing log was looked at.

use std::fmt::Write as _;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use assize_calibration::audit::record_looks;
use assize_calibration::audit::result::{Audit, LOOK_SCHEMA, Look};
use assize_calibration::log::Log;

use super::files::{Pending, is_special};
use super::printer::Printer;
use super::status::Failure;

/// Another run holds the lock while it writes its report.
const LOCK_TRIES: u32 = 600;
const LOCK_WAIT: Duration = Duration::from_millis(50);

/// The ledger as it was read.
pub(super) struct Ledger {
    path: PathBuf,
    /// Its text, kept to the byte, also what cannot be read of it.
    text: String,
    looks: Vec<Look>,
    unreadable: Vec<usize>,
}

/// A look on the disk, which takes the ledger's name when the report is there.
pub(super) struct Recorded {
    file: Pending,
    /// Held so that of two runs at once neither loses the other's look.
    _lock: Option<File>,
}

impl Recorded {
    pub(super) fn finish(self) -> Result<(), Failure> {
        self.file.finish()
    }
}

impl Ledger {
    /// Reads the ledger; a file that is not there yet is an empty one.
    ///
    /// Lines that are no looks are kept, told, and make a plan of looks void. A file without a single look is something else, and is refused,
    /// so that nothing is ever added to it; so are devices and pipes, which may never end, and a file that may not be written.
    pub(super) fn read(path: &Path, printer: &Printer) -> Result<Self, Failure> {
        let ledger = Self::open(path)?;
        if let Some(first) = ledger.unreadable.first() {
            printer.note(&format!(
                "{}: {} of its lines cannot be read as looks and are kept as they are (first: line {first})",
                path.display(),
                ledger.unreadable.len()
            ));
        }
        Ok(ledger)
    }

    fn open(path: &Path) -> Result<Self, Failure> {
        let refused = |why: &str| {
            Failure::usage(format!("{} {why}", path.display()))
                .help("name another file with --looks; it is made if there is none")
        };
        if is_special(path) {
            return Err(refused("is no file that looks could be kept in"));
        }
        if fs::metadata(path).is_ok_and(|known| known.is_file() && known.permissions().readonly()) {
            return Err(refused("is read-only, and a look is recorded by adding a line"));
        }
        let text = match fs::read(path) {
            Ok(bytes) => String::from_utf8(bytes).ok(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Some(String::new()),
            Err(error) => {
                return Err(anyhow::Error::from(error).context(format!("failed to read {}", path.display())).into());
            }
        };
        let other = || refused("holds something else than looks that --looks recorded");
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
        Ok(Self { path: path.to_path_buf(), text, looks, unreadable })
    }

    /// Records the audit, in it and in the ledger: the file is written beside its place and moved there. The same data audited again add no
    /// line, and nothing is written. It is read once more, since another run may have added to it while this one measured.
    pub(super) fn record(self, audit: &mut Audit, log: &Log) -> Result<Option<Recorded>, Failure> {
        let lock = lock(&self.path)?;
        let Self { path, mut text, looks, unreadable } = Self::open(&self.path)?;
        let added = record_looks(audit, log, &looks, unreadable.len() as u64);
        if added.is_empty() {
            return Ok(None);
        }
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        for look in &added {
            let line = serde_json::to_string(look).context("failed to write a look as JSON")?;
            writeln!(text, "{line}").expect("writing to memory");
        }
        Ok(Some(Recorded { file: Pending::with_text(&path, &text)?, _lock: lock }))
    }
}

/// Waits until no other run is adding to a ledger in the same directory. The directory is locked, since the ledger itself is replaced. `None` where
/// directories cannot be locked.
fn lock(path: &Path) -> Result<Option<File>, Failure> {
    let path = fs::canonicalize(path).unwrap_or_else(|_absent| path.to_path_buf());
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(dir) = File::open(dir) else { return Ok(None) };
    for _ in 0..LOCK_TRIES {
        match dir.try_lock() {
            Ok(()) => return Ok(Some(dir)),
            Err(TryLockError::WouldBlock) => thread::sleep(LOCK_WAIT),
            Err(TryLockError::Error(_)) => return Ok(None),
        }
    }
    Err(Failure::usage(format!("{} is being written by another run", path.display()))
        .help("wait until it has ended, and audit again"))
}
