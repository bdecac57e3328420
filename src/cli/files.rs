//! Files written whole or not at all.
//!
//! A file is written under another name in the same directory and takes its own name when it is complete, so that
//! whoever looks, at any moment, sees the old file or the new one. What a killed run leaves, the next run into that
//! directory removes.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use tempfile::NamedTempFile;

use super::status::Failure;
use crate::formats::columns::ColumnMap;
use crate::unfinished;

/// The files of a report, in the order in which they take their names: `report.json`, which [`OutDir::open`] knows a
/// report by, comes last.
pub(super) const REPORT_FILES: [&str; 5] = ["judgements.jsonl", "report.html", "report.md", "junit.xml", REPORT_JSON];
/// The file that `assize report` reads.
pub(super) const REPORT_JSON: &str = "report.json";

/// The files of a comparison, in the order in which they take their names.
pub(super) const COMPARE_FILES: [&str; 4] = ["compare.html", "compare.md", "junit.xml", COMPARE_JSON];
/// What [`OutDir::open`] knows a comparison by.
pub(super) const COMPARE_JSON: &str = "compare.json";

/// A file being written.
#[derive(Debug)]
pub(super) struct Pending {
    path: PathBuf,
    to: Target,
}

#[derive(Debug)]
enum Target {
    /// Takes its name when complete.
    Renamed(NamedTempFile),
    /// A device or pipe: there is nothing to rename.
    Direct(File),
}

impl Pending {
    /// Begins the file `path`. Nothing is seen of it before [`Self::finish`].
    pub(super) fn create(path: &Path) -> Result<Self, Failure> {
        let context = || format!("failed to create {}", path.display());
        // A link stays a link: what it points at is written.
        let path = fs::canonicalize(path).unwrap_or_else(|_absent| path.to_path_buf());
        if is_special(&path) {
            let file = OpenOptions::new().write(true).open(&path).with_context(context)?;
            return Ok(Self { path, to: Target::Direct(file) });
        }
        let file = unfinished::create_beside(&path).with_context(context)?;
        // What nobody else may read stays so.
        if let Ok(known) = fs::metadata(&path) {
            file.as_file().set_permissions(known.permissions()).ok();
        }
        Ok(Self { path, to: Target::Renamed(file) })
    }

    /// Begins the file `path` with all its text, which is on the disk when this returns.
    pub(super) fn with_text(path: &Path, text: &str) -> Result<Self, Failure> {
        let pending = Self::create(path)?;
        pending.file().write_all(text.as_bytes()).with_context(|| pending.failed())?;
        pending.complete()
    }

    /// Returns a handle to write to, without a buffer.
    pub(super) fn handle(&self) -> Result<File, Failure> {
        Ok(self.file().try_clone().with_context(|| self.failed())?)
    }

    /// Makes sure that what was written is on the disk.
    pub(super) fn complete(self) -> Result<Self, Failure> {
        if let Target::Renamed(file) = &self.to {
            file.as_file().sync_all().with_context(|| self.failed())?;
        }
        Ok(self)
    }

    /// Gives the complete file its name.
    pub(super) fn finish(self) -> Result<(), Failure> {
        let failed = self.failed();
        if let Target::Renamed(file) = self.to {
            file.persist(&self.path).map_err(|error| error.error).context(failed)?;
        }
        Ok(())
    }

    fn file(&self) -> &File {
        match &self.to {
            Target::Renamed(file) => file.as_file(),
            Target::Direct(file) => file,
        }
    }

    fn failed(&self) -> String {
        format!("failed to write {}", self.path.display())
    }
}

/// Returns whether a path names a device, pipe or socket, which are written to and never replaced.
pub(super) fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|known| !known.is_file() && !known.is_dir())
}

/// Whether what is already there may be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Existing {
    /// Only an earlier result of the same kind.
    Keep,
    /// Whatever it is.
    Replace,
}

/// The directory a report goes into.
#[derive(Debug)]
pub(super) struct OutDir {
    dir: PathBuf,
    /// Whether to remove it again should nothing be written.
    made_here: bool,
}

impl OutDir {
    /// Makes the directory, or takes one that is empty or holds an earlier report.
    pub(super) fn open(dir: &Path, existing: Existing) -> Result<Self, Failure> {
        if fs::metadata(dir).is_ok_and(|known| !known.is_dir()) {
            let message = format!("{} is a file, and a report is a directory of files", dir.display());
            return Err(Failure::usage(message).help("name a directory with --out; it is made if there is none"));
        }
        let made_here = !dir.exists();
        fs::create_dir_all(dir).with_context(|| format!("failed to make the directory {}", dir.display()))?;
        let entries = fs::read_dir(dir)
            .and_then(Iterator::collect::<io::Result<Vec<_>>>)
            .with_context(|| format!("failed to list the directory {}", dir.display()))?;
        let is_empty = entries.iter().all(|entry| unfinished::is_unfinished(&entry.file_name().to_string_lossy()));
        unfinished::remove_abandoned(dir);
        if existing == Existing::Keep && !is_empty && !holds_report(dir) {
            let message = format!("{} is not empty and holds no earlier report", dir.display());
            return Err(Failure::usage(message)
                .help("choose another directory with --out, or write into this one with --force"));
        }
        Ok(Self { dir: dir.to_path_buf(), made_here })
    }

    /// Returns the path of a file in it.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Returns the absolute path of a file in it, for people to open.
    pub(super) fn absolute(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        fs::canonicalize(&path).or_else(|_unseen| std::path::absolute(&path)).unwrap_or(path)
    }
}

impl Drop for OutDir {
    fn drop(&mut self) {
        if self.made_here {
            // Refused by the system unless the directory is empty, which is what is wanted.
            fs::remove_dir(&self.dir).ok();
        }
    }
}

/// Returns an error if one of the files to be written is among the inputs, files of labels included, by whatever name or
/// link. `help` says what to do then.
pub(super) fn spare_inputs(
    outputs: &[PathBuf],
    sources: &[PathBuf],
    columns: &ColumnMap,
    help: &str,
) -> Result<(), Failure> {
    let label_files = sources.iter().filter_map(|source| columns.label_file(source));
    let inputs: Vec<PathBuf> = sources.iter().cloned().chain(label_files).collect();
    for output in outputs {
        let Ok(target) = fs::canonicalize(output) else { continue };
        let is_target = |input: &PathBuf| {
            let is_standard_input = input == Path::new("-");
            (is_standard_input && is_standard_input_of(&target))
                || fs::canonicalize(input).is_ok_and(|input| input == target)
        };
        // What is no plain file is written to and not replaced.
        if target.is_file() && inputs.iter().any(is_target) {
            let message = format!("{} is being read and would be written over", target.display());
            return Err(Failure::usage(message).help(help));
        }
    }
    Ok(())
}

/// Returns whether standard input is read from this file.
#[cfg(unix)]
fn is_standard_input_of(file: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let id = |known: fs::Metadata| (known.dev(), known.ino());
    fs::metadata("/dev/stdin").ok().zip(fs::metadata(file).ok()).is_some_and(|(input, file)| id(input) == id(file))
}

/// Returns whether standard input is read from this file, which nothing says here.
#[cfg(not(unix))]
const fn is_standard_input_of(_file: &Path) -> bool {
    false
}

/// Returns whether a directory holds a report or a comparison of this tool.
fn holds_report(dir: &Path) -> bool {
    #[derive(serde::Deserialize)]
    struct Head {
        schema: String,
    }
    let is_ours = |(name, schema): (&str, &str)| {
        let head = File::open(dir.join(name))
            .ok()
            .and_then(|file| serde_json::from_reader::<_, Head>(io::BufReader::new(file)).ok());
        head.is_some_and(|head| head.schema.starts_with(schema))
    };
    [(REPORT_JSON, "assize.audit/"), (COMPARE_JSON, "assize.compare/")].into_iter().any(is_ours)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_not_finished_leaves_the_old_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("report.md");
        fs::write(&path, "old").unwrap();
        drop(Pending::with_text(&path, "new").unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        Pending::with_text(&path, "new").unwrap().finish().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_directory_of_something_else_is_refused_unless_forced() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("thesis.tex"), "years of work").unwrap();
        OutDir::open(dir.path(), Existing::Keep).unwrap_err();
        OutDir::open(dir.path(), Existing::Replace).unwrap();
        fs::write(dir.path().join(REPORT_JSON), r#"{"schema": "assize.audit/1"}"#).unwrap();
        OutDir::open(dir.path(), Existing::Keep).unwrap();
    }

    #[test]
    fn what_a_killed_run_left_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(".assize-abc.tmp"), "half").unwrap();
        OutDir::open(dir.path(), Existing::Keep).unwrap();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_directory_made_for_nothing_is_removed() {
        let parent = tempfile::tempdir().unwrap();
        let dir = parent.path().join("report");
        drop(OutDir::open(&dir, Existing::Keep).unwrap());
        assert!(!dir.exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_file_of_ones_own_stays_so() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("looks.jsonl");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        Pending::with_text(&path, "new").unwrap().finish().unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let (real, link) = (dir.path().join("real"), dir.path().join("link"));
        fs::write(&real, "old").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        Pending::with_text(&link, "new").unwrap().finish().unwrap();
        assert_eq!(fs::read_to_string(&real).unwrap(), "new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }
}
