//! The log, arranged for measuring: judges, items, cells, labels, weights.

pub(super) mod clusters;
pub(super) mod labels;
pub(super) mod table;
pub(super) mod weights;
