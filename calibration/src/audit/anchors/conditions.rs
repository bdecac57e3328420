//! How many anchors the prompt of a judgement held, and which: what tells judgements apart before anything is measured.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::super::AuditConfig;
use super::super::data::clusters::Clusters;
use crate::log::{Log, NONE};
use crate::problem::{Problem, Problems, Severity};

/// What the prompt of a judgement held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Shown {
    /// How many anchors. `None`: a set is named, and not how many it holds.
    pub n: Option<u32>,
    /// Whether they are the fixed set that the judge will work with, rather than one of several that might be.
    pub is_deployed: bool,
}

impl Shown {
    pub(crate) fn is_none(self) -> bool {
        self.n == Some(0)
    }

    /// In words.
    pub(crate) fn words(self) -> String {
        let words = match self.n {
            Some(0) => "no anchors".to_owned(),
            Some(1) => "1 anchor".to_owned(),
            Some(n) => format!("{n} anchors"),
            None => "anchors".to_owned(),
        };
        if self.is_deployed { format!("{words} (deployed)") } else { words }
    }
}

/// Returns whether this name of a set says that it is the one set the judge will work with.
fn is_deployed(name: &str) -> bool {
    ["fixed", "deployed"].iter().any(|word| name.trim().eq_ignore_ascii_case(word))
}

/// Returns what the log says of the anchors of a row. `None`: nothing.
pub(crate) fn shown(log: &Log, row_idx: usize) -> Option<Shown> {
    let n = Some(log.anchors.at(row_idx)).filter(|n| *n != NONE);
    let set = log.anchor_set.at(row_idx);
    if n.is_none() && set == NONE {
        return None;
    }
    Some(Shown { n, is_deployed: n != Some(0) && set != NONE && is_deployed(log.anchor_sets.name(set)) })
}

/// Returns the set of anchors of a row, or [`NONE`]: also where there were no anchors, whatever their set is called.
#[inline]
pub(crate) fn set_of(log: &Log, row_idx: usize) -> u32 {
    if log.anchor_set.is_empty() || log.anchors.at(row_idx) == 0 { NONE } else { log.anchor_set.at(row_idx) }
}

/// Returns the log with arms that tell numbers of anchors apart: as it is where its own arms do, else with arms named after both. Sets are
/// numbered by their names.
/// Judgements under different prompts are never thrown together.
pub(crate) fn told_apart(log: &Log) -> Cow<'_, Log> {
    if log.anchors.is_empty() && log.anchor_set.is_empty() {
        return Cow::Borrowed(log);
    }
    let mut known: BTreeMap<(u32, u32), Option<Shown>> = BTreeMap::new();
    let is_mixed = (0..log.len()).filter(|row_idx| log.rater.at(*row_idx) == NONE).any(|row_idx| {
        let shown = shown(log, row_idx);
        *known.entry((log.judge.at(row_idx), log.arm.at(row_idx))).or_insert(shown) != shown
    });
    let are_sorted = log.anchor_sets.iter().is_sorted();
    if !is_mixed && are_sorted {
        return Cow::Borrowed(log);
    }
    let mut named = log.clone();
    if !are_sorted {
        named.sort_anchor_sets();
    }
    if !is_mixed {
        return Cow::Owned(named);
    }
    named.rename_arms(|log, row_idx| {
        let arm = Some(log.arm.at(row_idx)).filter(|arm| *arm != NONE).map(|arm| log.arms.name(arm));
        match (arm, shown(log, row_idx)) {
            (Some(arm), Some(shown)) => Some(format!("{arm}, {}", shown.words())),
            (None, Some(shown)) => Some(shown.words()),
            (arm, None) => arm.map(str::to_owned),
        }
    });
    Cow::Owned(named)
}

/// Returns of each cluster whether it holds an item that stands in the prompt as an anchor; empty where none does.
pub(crate) fn anchored(log: &Log, clusters: &Clusters, config: &AuditConfig, problems: &mut Problems) -> Vec<bool> {
    if config.anchor_items.is_empty() {
        return Vec::new();
    }
    let mut is_anchored = vec![false; clusters.names.len()];
    let mut unknown: Vec<&str> = Vec::new();
    for name in &config.anchor_items {
        match log.items.id(name) {
            Some(item) => is_anchored[clusters.of_item[item as usize] as usize] = true,
            None => unknown.push(name),
        }
    }
    if let Some(first) = unknown.first() {
        let message = format!(
            "`anchor_items` names items that are not in the log, and changes nothing for them (first: {first:?})"
        );
        let problem = Problem::new(Severity::Note, "anchor-items-unknown", message).times(unknown.len() as u64);
        problems.add(problem.in_column("item"));
    }
    let left_out = clusters.of_item.iter().filter(|cluster| is_anchored[**cluster as usize]).count() as u64;
    if left_out > 0 {
        let message = "items are anchors in the prompt, or share a group with one: what a judge says of them under those anchors \
                       tells nothing of other items, and is left out";
        problems.add(Problem::new(Severity::Note, "anchor-items-left-out", message).times(left_out).in_column("item"));
    }
    is_anchored
}

/// Returns whether a row was answered under the anchors that `anchor_items` names: not without anchors, nor under other sets.
pub(crate) fn is_under_fixed(log: &Log, row_idx: usize) -> bool {
    match shown(log, row_idx) {
        None => true,
        Some(shown) => shown.is_deployed || (!shown.is_none() && set_of(log, row_idx) == NONE),
    }
}
