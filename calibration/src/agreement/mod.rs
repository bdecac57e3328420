//! Chance-corrected agreement: two raters ([`kappa`]; of numbers [`concordance`]), many raters ([`multi`]), and Krippendorff's alpha
//! ([`alpha`]).
//!
//! Everything starts from counts, so that clusters' tallies can be added and taken away by callers that need
//! jackknife or bootstrap intervals.

pub mod alpha;
pub mod concordance;
pub mod consistency;
pub mod kappa;
pub mod multi;
pub mod resampled;
