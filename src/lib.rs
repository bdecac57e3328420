//! Assize puts an LLM judge on trial before anyone trusts it.
//!
//! This package is the tool: what touches files, the terminal and the environment. The statistics are in
//! `assize-calibration`, which opens nothing, and the renderers in `assize-reports`, which return strings.

pub mod cli;
pub mod config;
pub mod formats;
