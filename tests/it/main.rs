//! The tool and the library as their users meet them.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up fails by panicking")]

mod foreign;
mod foreign_data;
mod formats;
