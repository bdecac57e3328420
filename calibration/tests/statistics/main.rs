//! The statistical primitives against reference packages (`tests/golden`) and against their own laws.

#![expect(clippy::unwrap_used, clippy::float_cmp, reason = "a test may fail loudly, and some values are exact")]

mod agreement;
mod distribution;
mod golden;
mod icc;
