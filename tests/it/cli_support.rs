//! Running the tool and making its inputs.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// Limits that the logs made here keep, break, or leave open, whatever the built-in gate says.
pub(crate) const GATE: &str = "[limits]\naccuracy = { min = 0.8 }\n";

/// Returns the tool, ready to run with nothing of the environment that would change what it does.
pub(crate) fn assize<I: IntoIterator<Item = A>, A: AsRef<std::ffi::OsStr>>(args: I) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_assize"));
    for name in ["CONFIG", "GATE", "LEVEL", "SEED", "STORE"] {
        command.env_remove(format!("ASSIZE_{name}"));
    }
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "LC_ALL", "LC_CTYPE", "LANG"] {
        command.env_remove(name);
    }
    command.args(args);
    command
}

/// What a run of the tool came to.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            status: output.status.code().expect("no signal ended it"),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// Runs the tool in a directory.
pub(crate) fn run_in(dir: &Path, args: &[&str]) -> Run {
    assize(args).current_dir(dir).output().unwrap().into()
}

/// A directory with inputs in it.
pub(crate) struct Desk {
    dir: TempDir,
}

impl Desk {
    /// Returns a directory with a gate and three logs of labelled verdicts: `fit.csv`, `unfit.csv`, `few.csv`.
    pub(crate) fn new() -> Self {
        let desk = Self { dir: tempfile::tempdir().unwrap() };
        desk.write("gate.toml", GATE);
        desk.write("fit.csv", &log(300, |_| true));
        desk.write("unfit.csv", &log(300, |item| item % 2 == 0));
        desk.write("few.csv", &log(6, |_| true));
        desk
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.join(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.join(name)).unwrap()
    }

    pub(crate) fn run(&self, args: &[&str]) -> Run {
        run_in(self.path(), args)
    }

    /// Returns the names in a directory in it, sorted.
    pub(crate) fn list(&self, name: &str) -> Vec<String> {
        let entries = fs::read_dir(self.join(name)).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// Returns a log of one verdict an item, half of the items good, right where `is_right` says so.
pub(crate) fn log(n_items: u32, is_right: impl Fn(u32) -> bool) -> String {
    let mut text = "item,verdict,label\n".to_owned();
    for item in 0..n_items {
        // Runs of two, so that being right at every other item does not go with the label.
        let is_good = item / 2 % 2 == 0;
        let accepts = is_good == is_right(item);
        let verdict = if accepts { "accept" } else { "reject" };
        writeln!(text, "i{item},{verdict},{}", u8::from(is_good)).unwrap();
    }
    text
}
