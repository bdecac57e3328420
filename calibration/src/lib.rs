//! Statistics that judge a judge: from a log of judgements to measures with intervals, and a verdict.
//!
//! Everything here is pure: no clock, file, network or environment, and no result that depends on the number of threads.

pub mod agreement;
pub mod anchors;
pub mod audit;
pub mod bootstrap;
pub mod cluster;
pub mod combinatorics;
pub mod crossed;
pub mod distribution;
pub mod gate;
pub mod icc;
pub mod influence;
pub mod interval;
pub mod judgement;
pub mod log;
pub mod names;
pub mod paired;
pub mod pairwise;
pub mod planning;
pub mod prevalence;
pub mod problem;
pub mod proportion;
pub mod rank;
pub mod raters;
pub mod recalibration;
pub mod regression;
pub mod reliability;
pub mod roc;
pub mod self_test;
pub mod sequential;
pub mod simulate;
pub mod tally;
pub mod time;
