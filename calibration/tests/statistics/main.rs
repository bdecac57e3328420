//! The statistical primitives against reference packages (`tests/golden`) and against their own laws.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "a test may fail loudly, its counts are small, and some values are exact"
)]

mod agreement;
mod arms;
mod bootstrap;
mod coverage;
mod deciding;
mod distribution;
mod escalate;
mod gate_risk;
mod golden;
mod icc;
mod labelled;
mod paired;
mod planning;
mod positions;
mod prevalence;
mod problems;
mod rank;
mod raters;
mod recalibration;
mod reliability;
mod repeats;
mod right_and_wrong;
mod roc;
mod rules;
mod sequential;
mod several;
mod simulated;
mod small_logs;
mod undefined;
