//! The `assize` command. Everything it does is in the library, so that tests and other tools can call it.

use std::process::ExitCode;

fn main() -> ExitCode {
    assize::cli::main(std::env::args_os())
}
