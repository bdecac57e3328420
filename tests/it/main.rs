//! The tool as a user runs it: one binary, so that it is linked once.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up fails by panicking")]

mod foreign;
mod foreign_data;
