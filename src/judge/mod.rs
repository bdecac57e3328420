//! What can judge, and how it is asked.

pub mod file;
mod guard;
pub mod item;
pub mod prompt;
pub mod reply;
pub mod schema;
pub mod template;
