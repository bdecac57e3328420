//! What can judge, and how it is asked.

pub mod file;
pub mod reply;
