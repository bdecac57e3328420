//! The store as the library's users meet it: one binary, so that it is linked once.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up fails by panicking")]

mod exchange;
mod made;
mod opening;
mod store;
mod writers;
