//! The statistical primitives against reference packages (`tests/golden`) and against their own laws.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "a test may fail loudly, its counts are small, and some values are exact"
)]

mod agreement;
mod anchors;
mod arms;
mod biases;
mod bootstrap;
mod coverage;
mod deciding;
mod distribution;
mod drift;
mod escalate;
mod gate_ends;
mod gate_risk;
mod golden;
mod icc;
mod labelled;
mod ledger;
mod looks;
mod packages;
mod paired;
mod pairwise;
mod panels;
mod passing;
mod people;
mod planned_looks;
mod planning;
mod positions;
mod prevalence;
mod probabilities;
mod problems;
mod proportion;
mod rank;
mod raters;
mod recalibration;
mod regression;
mod reliability;
mod repeats;
mod resampled;
mod right_and_wrong;
mod roc;
mod row_order;
mod rules;
mod self_test;
mod sentinel;
mod sequential;
mod several;
mod side_by_side;
mod side_by_side_whole;
mod simulated;
mod small_logs;
mod style;
mod tally;
mod undefined;
mod weighted_kappa;
mod weights;
