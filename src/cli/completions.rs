//! `assize completions`: what a shell needs to complete the command line.

use clap_complete::Shell;

use super::printer::Printer;
use super::status::{Failure, Status};

/// Print a completion script for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assize completions bash > ~/.local/share/bash-completion/completions/assize
  assize completions zsh > ~/.zfunc/_assize
  assize completions fish > ~/.config/fish/completions/assize.fish")]
pub(super) struct Args {
    /// Which shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

pub(super) fn run(args: &Args, command: &mut clap::Command, printer: &mut Printer) -> Result<Status, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, command, "assize", &mut script);
    printer.data(&String::from_utf8_lossy(&script))?;
    Ok(Status::Done)
}
