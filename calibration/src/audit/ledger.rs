//! Looks recorded: an audit made again after items were added is another chance to pass.
//!
//! The ledger itself is the caller's to read and keep. Here it is said which look this is, and what that does to the verdict. Nothing is measured:
//! the digests tell only whether the same was asked of the same items.

use std::collections::BTreeMap;

use super::anchors::told_apart;
use super::findings::{finding, per_cent, sort};
use super::result::{Audit, FindingWeight, Fitness, JudgeAudit, LOOK_SCHEMA, Look, LookHistory};
use crate::distribution::normal_quantile;
use crate::log::{Log, NONE, digest};
use crate::sequential::repeated_looks;

/// More often than this is peeking: half as often again as one look errs.
const TOO_OFTEN: f64 = 1.5;

/// Records this audit among the looks `past`: writes into `audit` which look it is at each judge and what follows, and returns the lines to add to
/// the ledger. `n_unreadable` lines of it could not be read.
///
/// Looks count by judge, arm and question (the gate and the settings it depends on). The same items with as many judgements are
/// the same data, and no new look. More looks than planned, or another plan than at the first look, and no verdict is "fit".
#[must_use]
pub fn record_looks(audit: &mut Audit, log: &Log, past: &[Look], n_unreadable: u64) -> Vec<Look> {
    let question = question(audit);
    let items = digests_of_items(log);
    let mut added = Vec::new();
    let config = audit.config.clone();
    for judge in &mut audit.judges {
        let key = (judge.judge.clone(), judge.arm.clone());
        let now = Look {
            schema: LOOK_SCHEMA.to_owned(),
            judge: key.0.clone(),
            arm: key.1.clone(),
            question: question.clone(),
            items: format!("{:016x}", items.get(&key).copied().unwrap_or(0)),
            n_items: judge.n_items,
            n_clusters: judge.n_clusters,
            n_judgements: judge.n_judgements,
            planned: config.planned_looks,
            anytime: config.anytime.is_some(),
            fitness: judge.fitness,
        };
        let of_judge: Vec<&Look> = past.iter().filter(|look| look.judge == now.judge && look.arm == now.arm).collect();
        let mut before: Vec<&Look> = Vec::new();
        let mut is_known = false;
        for look in of_judge.iter().filter(|look| look.question == now.question) {
            if is_same(look, &now) {
                is_known = true;
                break;
            }
            if !before.iter().any(|known| is_same(known, look)) {
                before.push(look);
            }
        }
        let n_other = of_judge.iter().filter(|look| look.question != now.question).count();
        let history = history(&now, &before, n_other, n_unreadable, config.level);
        apply(judge, &history, (1.0 - config.level) / 2.0);
        judge.look_history = Some(history);
        if !is_known {
            added.push(Look { fitness: judge.fitness, ..now });
        }
    }
    audit.fitness = audit.judges.iter().map(|judge| judge.fitness).max().unwrap_or(audit.fitness);
    added
}

/// Whether two looks saw the same data.
fn is_same(a: &Look, b: &Look) -> bool {
    a.items == b.items && a.n_items == b.n_items && a.n_judgements == b.n_judgements
}

fn history(now: &Look, before: &[&Look], n_other: usize, n_unreadable: u64, level: f64) -> LookHistory {
    let look = before.len() as u64 + 1;
    let n_clusters: Vec<u64> = before.iter().map(|look| look.n_clusters).chain([now.n_clusters]).collect();
    let is_growing = n_clusters.is_sorted();
    let tail = (1.0 - level) / 2.0;
    let mut words = Vec::new();
    let mut false_pass = None;
    let is_replanned = before.iter().any(|look| look.planned != now.planned);
    let mut is_void = false;
    if now.anytime {
        words.push(format!(
            "Look {look} at this judge. Evidence that is valid at every look was asked for: looking costs nothing."
        ));
    } else if let Some(planned) = now.planned {
        words.push(format!("Look {look} of {planned} planned; limits are tested at {} each, so that all looks together err no more often than one.",
            per_cent(1.0 - (1.0 - level) / f64::from(planned))));
        if look > u64::from(planned) {
            is_void = true;
            words.push("There were more looks than planned: no verdict can be \"fit\" any more. Judge new items, in a log and a ledger of their own, or use --anytime.".to_owned());
        } else if is_replanned {
            is_void = true;
            words.push("The first looks were planned otherwise, or not at all; a plan made after looking is none, and no verdict can be \"fit\".".to_owned());
        } else if n_unreadable > 0 {
            is_void = true;
            words.push("Some lines of the record of looks cannot be read, so that nobody knows how many looks there were: no verdict can be \"fit\".".to_owned());
        }
    } else if look > 1 {
        let chance = if is_growing {
            let sizes: Vec<f64> = n_clusters.iter().map(|n| *n as f64).collect();
            repeated_looks(&sizes, normal_quantile(1.0 - tail))
        } else {
            1.0 - (1.0 - tail).powf(look as f64)
        };
        false_pass = Some(chance);
        let at_what = if is_growing { "at a growing log" } else { "at this judge" };
        words.push(format!(
            "This is look {look} {at_what}: a judge exactly at its limit passes {} of the time by chance after so many looks, and {} at \
             one.",
            per_cent(chance),
            per_cent(tail)
        ));
    } else {
        words.push("This is the first look that is recorded.".to_owned());
    }
    if n_other > 0 {
        words.push(format!(
            "{n_other} earlier {} asked something else of this judge, by another gate or other settings: limits chosen after looking prove \
             nothing.",
            if n_other == 1 { "look" } else { "looks" }
        ));
    }
    LookHistory { look, planned: now.planned, n_clusters, false_pass, is_void, words: words.join(" ") }
}

/// Draws the consequence.
fn apply(judge: &mut JudgeAudit, history: &LookHistory, tail: f64) {
    if history.is_void && judge.fitness == Fitness::Fit {
        judge.fitness = Fitness::Inconclusive;
        judge.why = format!(
            "It would be fit, were this not look {} under a plan that does not allow it. {}",
            history.look, judge.why
        );
    }
    let is_peeking = history.false_pass.is_some_and(|chance| chance > TOO_OFTEN * tail);
    if is_peeking || history.is_void {
        let weight =
            if judge.fitness == Fitness::Fit || history.is_void { FindingWeight::Bad } else { FindingWeight::Note };
        let advice = if history.is_void {
            ""
        } else {
            "Use --anytime, whose evidence is valid at every look, or state the number of looks from the first on (--planned-looks)."
        };
        judge.findings.push(finding(weight, &[], history.words.clone(), advice));
        sort(&mut judge.findings);
    }
}

/// Sums digests so that their order does not matter and equal ones do not cancel.
fn mixed(digest: u64) -> u64 {
    let mut x = digest.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Returns a digest of the items of each judge under each arm, whatever their order in the log.
fn digests_of_items(log: &Log) -> BTreeMap<(String, Option<String>), u64> {
    let log = told_apart(log);
    let mut seen: Vec<(u32, u32, u32)> = (0..log.len())
        .filter(|row_idx| log.rater.at(*row_idx) == NONE)
        .map(|row_idx| (log.judge.at(row_idx), log.arm.at(row_idx), log.item[row_idx]))
        .collect();
    seen.sort_unstable();
    seen.dedup();
    let mut found: BTreeMap<(String, Option<String>), u64> = BTreeMap::new();
    for of_judge in seen.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        let (judge, arm, _) = of_judge[0];
        let judge = if judge == NONE { String::new() } else { log.judges.name(judge).to_owned() };
        let arm = (arm != NONE).then(|| log.arms.name(arm).to_owned());
        let sum = of_judge.iter().map(|(.., item)| mixed(digest(log.items.name(*item)))).fold(0, u64::wrapping_add);
        found.insert((judge, arm), sum);
    }
    found
}

/// Returns a digest of what is asked: limits, and what their measures depend on. How often to look is no part of it.
fn question(audit: &Audit) -> String {
    let mut text = String::new();
    let number = |number: Option<f64>| number.map_or_else(String::new, |number| format!("{:x}", number.to_bits()));
    for (id, limit) in &audit.gate.limits {
        let kinds: Vec<&str> = limit.only_for.iter().map(|kind| kind.column()).collect();
        text.push_str(
            &[id.clone(), number(limit.min), number(limit.max), limit.required.to_string(), kinds.join("+")].join(","),
        );
        text.push(';');
    }
    let config = &audit.config;
    let settings = [
        audit.gate.truth_optional.to_string(),
        number(Some(config.level)),
        number(config.scale.map(|scale| scale[0])),
        number(config.scale.map(|scale| scale[1])),
        number(config.accept_at),
        number(config.good_at),
        number(config.base_rate),
        number(config.costs.map(|costs| costs[0])),
        number(config.costs.map(|costs| costs[1])),
        config.stability_repeats.to_string(),
        config.outcome.map_or("", crate::judgement::OutcomeKind::column).to_owned(),
    ];
    text.push_str(&settings.join(","));
    format!("{:016x}", mixed(digest(&text)))
}
