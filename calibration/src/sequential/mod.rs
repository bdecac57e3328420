//! Statistics that may be looked at after every item, and stopped by, without losing their level.
//!
//! [`LimitTest`] is the evidence on either side of a limit stated beforehand, [`unrejected_means`] the interval that belongs to it, and
//! [`ConfidenceSequence`] an interval in constant room, without a limit in mind. All three hold for ever. [`PlannedLooks`] is for who plans when the last
//! look is, which takes fewer items. Nothing here is for a single look at data of a fixed size: that is what the
//! narrower intervals of [`crate::proportion`] and [`crate::interval`] are for.

mod inverted;
mod limit;
mod rare;
mod repeated;
mod sequence;
mod spending;

pub use inverted::unrejected_means;
pub use limit::{LimitTest, spent};
pub(crate) use rare::{N_COUNTS, RareLooks};
pub use repeated::repeated_looks;
pub use sequence::{Boundary, ConfidenceSequence, SequenceError};
pub use spending::{PlannedLooks, SpendingBoundary, spent_by};
