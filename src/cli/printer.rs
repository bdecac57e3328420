//! All that is printed: results to standard output, messages to standard error.
//!
//! A reader of standard output that goes away (`| head`) ends the printing, not the command: what the command writes
//! to disk and its exit status do not depend on who reads along.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use anyhow::Context as _;
use serde_json::json;

use super::status::Failure;

/// How much is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verbosity {
    /// Errors and data that was asked for.
    Quiet,
    /// The usual.
    Normal,
    /// Also what was decided on the way.
    Verbose,
}

/// In which form results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// Width used where no terminal says one.
const DEFAULT_WIDTH: usize = 100;

/// Prints what commands have to say.
#[derive(Debug)]
pub(super) struct Printer {
    verbosity: Verbosity,
    form: Form,
    stdout_closed: bool,
}

impl Printer {
    /// Returns a printer, and makes `color` the choice of the whole process.
    #[must_use]
    pub(super) fn new(verbosity: Verbosity, form: Form, color: ColorChoice) -> Self {
        color.write_global();
        Self { verbosity, form, stdout_closed: false }
    }

    /// Returns in which form results are wanted.
    #[must_use]
    pub(super) const fn form(&self) -> Form {
        self.form
    }

    /// Returns whether progress may be shown: on a terminal, unless quiet.
    #[must_use]
    pub(super) fn shows_progress(&self) -> bool {
        self.verbosity > Verbosity::Quiet && io::stderr().is_terminal()
    }

    /// Prints data that was asked for, byte by byte as given.
    ///
    /// # Errors
    /// Fails when standard output cannot be written, except when its reader went away.
    pub(super) fn data(&mut self, text: &str) -> Result<(), Failure> {
        self.write(&mut io::stdout().lock(), text)
    }

    /// Prints a result for people, unless quiet. Colours are taken out where they are not wanted.
    ///
    /// # Errors
    /// As [`Self::data`].
    pub(super) fn summary(&mut self, text: &str) -> Result<(), Failure> {
        if self.verbosity == Verbosity::Quiet {
            return Ok(());
        }
        self.write(&mut AutoStream::auto(io::stdout().lock()), text)
    }

    /// Prints the help or the version that was asked for.
    ///
    /// # Errors
    /// As [`Self::data`].
    pub(super) fn help(&mut self, help: &clap::Error) -> Result<(), Failure> {
        self.written(help.print().and_then(|()| io::stdout().flush()))
    }

    fn write(&mut self, stdout: &mut dyn io::Write, text: &str) -> Result<(), Failure> {
        if self.stdout_closed {
            return Ok(());
        }
        self.written(stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()))
    }

    fn written(&mut self, written: io::Result<()>) -> Result<(), Failure> {
        match written {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.stdout_closed = true;
                Ok(())
            }
            written => Ok(written.context("failed to write standard output")?),
        }
    }

    /// Prints a message to standard error, unless quiet.
    pub(super) fn note(&self, message: &str) {
        if self.verbosity > Verbosity::Quiet {
            to_stderr(&format!("{}\n", printable(message)));
        }
    }

    /// Prints a message to standard error only when verbose.
    pub(super) fn detail(&self, message: &str) {
        if self.verbosity == Verbosity::Verbose {
            to_stderr(&format!("{}\n", printable(message)));
        }
    }

    /// Prints why the command failed: what, the causes, and what to do. With `--json`, as an object to standard output.
    pub(super) fn failure(&mut self, failure: &Failure) {
        if self.form == Form::Json {
            let object = json!({ "error": {
                "message": failure.error.to_string(),
                "caused_by": failure.causes(),
                "help": failure.help,
                "problems": failure.problems,
                "exit_status": failure.status as u8,
            }});
            if self.data(&format!("{object:#}\n")).is_ok() {
                return;
            }
        }
        let red = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
        let cyan = Style::new().bold().fg_color(Some(AnsiColor::Cyan.into()));
        let mut text = format!("{red}error:{red:#} {}\n", printable(&failure.error.to_string()));
        for cause in failure.causes() {
            let _infallible = writeln!(text, "  caused by: {}", printable(&cause));
        }
        if let Some(help) = &failure.help {
            let _infallible = writeln!(text, "  {cyan}help:{cyan:#} {}", printable(help));
        }
        to_stderr(&text);
    }
}

/// Returns whether standard output takes colours.
#[must_use]
pub(super) fn colour() -> bool {
    AutoStream::choice(&io::stdout()) != ColorChoice::Never
}

/// Returns how many columns standard output has: `COLUMNS`, else the terminal's, else 100.
#[must_use]
pub(super) fn width() -> usize {
    let stated = env("COLUMNS").and_then(|columns| columns.parse().ok()).filter(|&columns| columns > 0);
    let seen = || terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    stated.or_else(seen).unwrap_or(DEFAULT_WIDTH)
}

/// Returns whether text may hold more than ASCII: unless the locale or the terminal says it may not.
#[must_use]
pub(super) fn unicode() -> bool {
    if matches!(env("TERM").as_deref(), Some("dumb" | "linux")) && io::stdout().is_terminal() {
        return false;
    }
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(env).unwrap_or_default().to_lowercase();
    // No locale at all is what containers have; their terminals take UTF-8.
    locale.is_empty() || locale.contains("utf-8") || locale.contains("utf8")
}

/// Writes to standard error. When even that fails there is nobody left to tell.
fn to_stderr(text: &str) {
    let mut stderr = AutoStream::auto(io::stderr().lock());
    stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush()).ok();
}

/// Returns `text` with control characters escaped, but for line breaks: messages quote files, and files may hold
/// sequences that a terminal obeys.
pub(super) fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => out.push('\n'),
            control if control.is_control() => out.extend(control.escape_default()),
            plain => out.push(plain),
        }
    }
    out
}

/// Returns an environment variable, if it is set, not empty and text.
#[expect(clippy::disallowed_methods, reason = "the command line reads the environment so that nothing below it does")]
pub(super) fn env(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_cannot_command_the_terminal() {
        assert_eq!(printable("a\u{1b}[31mb\nc\u{7}"), "a\\u{1b}[31mb\nc\\u{7}");
    }
}
