//! Files that are not complete yet: how they are named, and what becomes of those that a killed run left.
//!
//! A file is written under another name in the folder it will stand in, and takes its own name when it is complete.
//! While it is written it is locked, which tells other runs that its writer lives.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use tempfile::NamedTempFile;

const PREFIX: &str = ".assize-";
const SUFFIX: &str = ".tmp";

/// Begins a file beside `path`, readable for whom the umask allows, as any other file. Dropped, it is gone.
pub(crate) fn create_beside(path: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let file = builder.tempfile_in(folder(path))?;
    // A file system without locks loses no more than that others may take this file for abandoned.
    file.as_file().try_lock().ok();
    Ok(file)
}

/// Returns the folder that a path stands in.
pub(crate) fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns whether a file of this name is not complete.
pub(crate) fn is_unfinished(name: &str) -> bool {
    name.starts_with(PREFIX) && name.ends_with(SUFFIX)
}

/// Removes what killed runs left in a folder. Should a file not go away, it does no harm.
pub(crate) fn remove_abandoned(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if is_unfinished(&entry.file_name().to_string_lossy()) && is_abandoned(&entry.path()) {
            fs::remove_file(entry.path()).ok();
        }
    }
}

/// Returns whether nobody is writing the file any more.
fn is_abandoned(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| file.try_lock().is_ok())
}
