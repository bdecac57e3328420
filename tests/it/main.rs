//! The tool and the library as their users meet them: one binary, so that it is linked once.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up fails by panicking")]

mod architecture;
mod browser;
mod cli;
mod cli_again;
mod cli_compare;
mod cli_files;
mod cli_looking;
mod cli_output;
mod cli_reading;
mod cli_settings;
mod cli_support;
mod examples;
mod foreign;
mod foreign_data;
mod formats;
mod measure_examples;
#[cfg(feature = "memory")]
mod memory;
mod planning;
mod readme;
mod reference;
mod reference_docs;
mod reference_golden;
