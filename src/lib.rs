//! Assize puts an LLM judge on trial before anyone trusts it.

pub mod formats;
