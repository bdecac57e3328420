//! Statistics that may be looked at after every item, and stopped by, without losing their level.
//!
//! [`ConfidenceSequence`] is an interval for a mean, [`LimitTest`] the evidence on either side of a limit stated beforehand, which takes fewer
//! items than waiting for the interval to leave it. Nothing here is for a single look at data of a fixed size: that is what the
//! narrower intervals of [`crate::proportion`] and [`crate::interval`] are for.

mod limit;
mod repeated;
mod sequence;

pub use limit::{LimitTest, spent};
pub use repeated::repeated_looks;
pub use sequence::{Boundary, ConfidenceSequence, SequenceError};
