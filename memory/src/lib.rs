//! What loops learned: an issue, the fix that helped, the text before and after, the evidence, and where it came from.
//!
//! Experiences are kept in one SQLite file that several processes may write at once. An experience is known by a digest
//! of its content, so that adding it again changes nothing, and keys that must not be shared are taken out before
//! anything is written.
//!
//! The library reads no clock, no environment and no setting, prints nothing and touches no file but the store it is
//! told to open. It does not search, cluster or serve anything yet.

pub mod entry;
pub mod exchange;
pub mod experience;
mod rows;
mod schema;
pub mod secrets;
pub mod store;
pub mod time;
