//! Assize puts an LLM judge on trial before anyone trusts it.
//!
//! This package is the tool: what touches files, the terminal and the environment. The statistics are in
//! `assize-calibration`, which opens nothing, the renderers in `assize-reports`, which return strings, and the
//! experience store in `assize-memory`, which touches no file but its own.

pub mod cli;
pub mod config;
pub mod formats;
#[cfg(feature = "live")]
pub mod judge;
#[cfg(feature = "live")]
pub mod llm;
mod unfinished;
