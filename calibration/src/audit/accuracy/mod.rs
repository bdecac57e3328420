//! How often a judge is right, at which threshold, and what its errors cost.

pub(super) mod baseline;
pub(super) mod chance;
pub(super) mod costs;
pub(super) mod curves;
pub(super) mod errors;
pub(super) mod in_use;
pub(super) mod label_noise;
pub(super) mod pairwise;
pub(super) mod pass_rate;
pub(super) mod ranking;
pub(super) mod threshold_costs;
pub(super) mod thresholds;
pub(super) mod truth;
pub(super) mod weighted_kappa;
