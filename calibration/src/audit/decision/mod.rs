//! From figures to a verdict: limits, looks, the risk of a gate, findings in words.

pub(super) mod beside;
pub(super) mod decide;
pub(super) mod findings;
pub(super) mod gate_ends;
pub(super) mod gate_risk;
pub(super) mod looks;
pub(super) mod looks_chance;
pub(super) mod looks_planned;
pub(super) mod redraw;
pub(super) mod rejudge;
