//! What can judge, and how it is asked.

pub mod reply;
