//! Whether a judge’s confidence means what it says.

pub(super) mod forecasts;
pub(super) mod recalibrated;
pub(super) mod reliability;
