//! What a judge says when asked again: repeats, votes, answers that cannot be read.

pub(super) mod alpha;
pub(super) mod intraclass;
pub(super) mod parsing;
pub(super) mod scores;
pub(super) mod stability;
pub(super) mod voting;
