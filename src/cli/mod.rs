//! The command line: one file per command, and what they share.
//!
//! Only this module prints, reads the clock and the environment, and decides the exit status. Errors of the parts
//! below it arrive typed; here they become text.

mod audit;
mod basics;
mod compare;
mod completions;
mod convert;
mod doctor;
mod escalate;
mod files;
mod gate;
mod ledger;
mod measuring;
#[cfg(feature = "memory")]
mod memory;
mod plan;
mod printer;
mod progress;
mod reading;
mod render;
mod report;
mod schema;
mod self_test;
mod sentinel;
mod status;
mod values;

use std::any::Any;
use std::ffi::OsString;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use anstream::ColorChoice;
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};

use printer::{Form, Printer, Verbosity};
use status::{Failure, Status};

/// Puts an LLM judge on trial before it is trusted.
#[derive(Debug, Parser)]
#[command(
    name = "assize",
    version,
    max_term_width = 100,
    after_help = "\
Examples:
  assize audit judgements.csv --out report     a verdict on a judge, and a report
  assize compare old.csv new.csv               whether the new judge may replace the old
  assize sentinel baseline.csv today.csv       whether a judge changed behind its name
  assize gate > gate.toml                      the limits a judge must keep, to edit
  assize audit judgements.csv --gate gate.toml

Exit status:
  0   done; of audit: every judge is fit; of compare: the second is better or equivalent;
      of sentinel: unchanged
  1   unfit: a limit of the gate is broken; of compare: the second is worse; of sentinel: changed
  2   inconclusive: the data decide neither way
  3   the command line, a setting, an input or an output is wrong
  70  assize itself failed"
)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Args)]
struct Global {
    /// Print results as JSON
    #[arg(long, global = true, help_heading = "Global options")]
    json: bool,
    /// Print errors and requested data only
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = "Global options")]
    quiet: bool,
    /// Say on standard error what is decided on the way
    #[arg(short, long, global = true, help_heading = "Global options")]
    verbose: bool,
    /// When to use colours; auto obeys `NO_COLOR`
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", help_heading = "Global options")]
    color: Color,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Color {
    Auto,
    Always,
    Never,
}

impl From<Color> for ColorChoice {
    fn from(color: Color) -> Self {
        match color {
            Color::Auto => Self::Auto,
            Color::Always => Self::Always,
            Color::Never => Self::Never,
        }
    }
}

#[derive(Debug, Subcommand)]
enum Command {
    Audit(Box<audit::Args>),
    Compare(Box<compare::Args>),
    Sentinel(Box<sentinel::Args>),
    Plan(Box<plan::Args>),
    Escalate(Box<escalate::Args>),
    Convert(convert::Args),
    Report(report::Args),
    Gate(gate::Args),
    #[cfg(feature = "memory")]
    Memory(memory::Args),
    Schema(schema::Args),
    SelfTest(self_test::Args),
    Doctor(doctor::Args),
    Completions(completions::Args),
}

/// Runs the command line `args`, the first of which is the program's name, and returns the exit status.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    guarded(|| run(args)).into()
}

fn run(args: impl IntoIterator<Item = OsString>) -> Status {
    let args: Vec<OsString> = args.into_iter().collect();
    let wants_json = args.iter().any(|arg| arg == "--json");
    let cli = match command().try_get_matches_from(args).and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() && wants_json => {
            let said = error.to_string();
            let said = said.trim_start_matches("error:").trim();
            let (message, help) = said.split_once("\n\n").unwrap_or((said, "run it with --help"));
            Printer::new(Verbosity::Normal, Form::Json, ColorChoice::Auto)
                .failure(&Failure::usage(message).help(help.trim()));
            return Status::Usage;
        }
        Err(error) if error.use_stderr() => {
            // Nobody is left to tell when this cannot be printed.
            error.print().ok();
            return Status::Usage;
        }
        Err(help) => {
            let form = if wants_json { Form::Json } else { Form::Text };
            let mut printer = Printer::new(Verbosity::Normal, form, ColorChoice::Auto);
            return match printer.help(&help) {
                Ok(()) => Status::Done,
                Err(failure) => {
                    printer.failure(&failure);
                    failure.status
                }
            };
        }
    };
    let verbosity = match (cli.global.quiet, cli.global.verbose) {
        (true, _) => Verbosity::Quiet,
        (_, true) => Verbosity::Verbose,
        _ => Verbosity::Normal,
    };
    let form = if cli.global.json { Form::Json } else { Form::Text };
    let mut printer = Printer::new(verbosity, form, cli.global.color.into());
    let done: Result<Status, Failure> = match cli.command {
        Command::Audit(args) => audit::run(*args, &mut printer),
        Command::Compare(args) => compare::run(*args, &mut printer),
        Command::Sentinel(args) => sentinel::run(*args, &mut printer),
        Command::Plan(args) => plan::run(*args, &mut printer),
        Command::Escalate(args) => escalate::run(*args, &mut printer),
        Command::Convert(args) => convert::run(&args, &mut printer),
        Command::Report(args) => report::run(&args, &mut printer),
        Command::Gate(args) => gate::run(&args, &mut printer),
        #[cfg(feature = "memory")]
        Command::Memory(args) => memory::run(args, &mut printer),
        Command::Schema(args) => schema::run(&args, &mut printer),
        Command::SelfTest(args) => self_test::run(&args, &mut printer),
        Command::Doctor(args) => doctor::run(&args, &mut printer),
        Command::Completions(args) => completions::run(&args, &mut Cli::command(), &mut printer),
    };
    done.unwrap_or_else(|failure| {
        printer.failure(&failure);
        failure.status
    })
}

/// Returns the command line's definition, in which a variable that is empty counts as not set, and an option's value may be a negative
/// number: whether it may be so low says the option, in its own words.
fn command() -> clap::Command {
    fn lenient(arg: clap::Arg) -> clap::Arg {
        let is_set = arg.get_env().and_then(|name| name.to_str()).is_none_or(|name| printer::env(name).is_some());
        let arg = if is_set { arg } else { arg.env(None) };
        let is_option = arg.get_action().takes_values() && !arg.is_positional();
        if is_option && !arg.is_allow_hyphen_values_set() { arg.allow_negative_numbers(true) } else { arg }
    }
    fn of(command: clap::Command) -> clap::Command {
        command.mut_args(lenient).mut_subcommands(of)
    }
    of(Cli::command())
}

/// Runs `command` so that a panic in it, on any thread, ends in a message and [`Status::Internal`].
fn guarded(command: impl FnOnce() -> Status) -> Status {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map_or_else(String::new, |at| format!("\n  at: {}:{}", at.file(), at.line()));
        let message = format!(
            "error: assize itself failed: {}{place}\n  help: this is a bug; please report it, with the command line \
             and, if you can, the input\n",
            panic_message(panic.payload())
        );
        std::io::stderr().write_all(message.as_bytes()).ok();
    }));
    catch_unwind(AssertUnwindSafe(command)).unwrap_or(Status::Internal)
}

fn panic_message(payload: &dyn Any) -> &str {
    payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_panic_is_an_internal_failure() {
        assert_eq!(guarded(|| panic!("a rule was broken")), Status::Internal);
        drop(std::panic::take_hook());
    }
}
