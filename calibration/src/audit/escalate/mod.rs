//! Which items a person should look at: those whose label would tell most of the judge, and labels that the judges, steady and
//! together, speak against.
//!
//! Items fall into strata by their usual answer and by how far the answers agree (over repeats, orders and judges: query by
//! committee, Seung, Opper & Sompolinsky 1992; for scores also by how near the threshold they lie: uncertainty sampling, Lewis &
//! Gale 1994). The rate of errors estimated over strata has the variance Σ W²σ²/n, W a stratum's share of items, σ² = e(1 − e), e its
//! rate of errors. One label more lowers it by W²σ²(1/n − 1/(n + 1)): picking the largest again and again is Neyman's allocation in
//! whole numbers (Wright 2012, *The American Statistician* 66). Within a stratum groups take turns, and the most doubtful come first.
//!
//! Labels chosen this way are no random sample: see [`Picked`].

mod strata;
mod telling;

use std::collections::BTreeMap;

use crate::gate::{Gate, LimitState};
use crate::judgement::OutcomeKind;
use crate::log::Log;
use crate::problem::Problems;

use super::accuracy::truth::Accepts;
use super::catalogue::{Family, info};
use super::data::table::{ACCEPT, REJECT, Subject, Table, Unit, is};
use super::decision::rejudge::{Tried, rejudge};
use super::result::{ESCALATION_SCHEMA, Escalated, Escalation, Picked};
use super::{AuditConfig, AuditError, outcome_kind, select};
use strata::{Layer, lots, pick, relevance, strata};
use telling::{Rates, Teller, notes};

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EscalateConfig {
    /// The most items to label that are ranked, and the most to check.
    pub top: usize,
    /// Items to label drawn by lot besides.
    pub random: usize,
}

/// What all judges answered to one unit.
struct Item<'a> {
    unit: &'a Unit,
    /// Of each judge: the share of its answers by kind, cells weighing equally.
    by_judge: Vec<BTreeMap<u64, f64>>,
    n_answers: usize,
    usual: f64,
    usual_share: f64,
    doubt: f64,
    /// How near the threshold its scores lie, 0..=1.
    nearness: f64,
    stratum: usize,
}

/// Returns the items that a person should look at, for the first judge that `config` selects; the others are heard as well.
///
/// The result depends on the arguments alone. Cost: n log n.
///
/// # Errors
/// As [`super::audit`].
pub fn escalate(log: &Log, config: &AuditConfig, gate: &Gate, how: EscalateConfig) -> Result<Escalation, AuditError> {
    config.check()?;
    let kind = outcome_kind(log, config)?;
    let apart = super::anchors::told_apart(log);
    let mut table = Table::new(&apart, kind, config, &mut Problems::default());
    let all = table.subjects.clone();
    select(&mut table, config)?;
    let Some(subject) = table.subjects.first() else {
        return Err(AuditError::Empty(Some("no row is a judge's: all are ratings by people".to_owned())));
    };
    let accepts = Accepts::of(&table, config);
    let open = open_limits(&table, subject, config, gate);
    let mut items = gather(&table, subject, &all, accepts);
    let mut strata = strata(&table, &mut items);
    let rates = Rates::of(&table, subject, accepts);
    let relevance = relevance(&items, &strata, &open);
    let teller = Teller {
        table: &table,
        accepts,
        rates: &rates,
        n_judges: all.len(),
        strata: strata.iter().map(Layer::told).collect(),
    };

    let mut by_lot = lots(&items, config.seed, how.random);
    let picked = pick(&items, &mut strata, &relevance, &by_lot, how.top);
    let first = picked.first().map_or(1.0, |(_, value)| *value);
    let mut rows: Vec<Escalated> =
        picked.into_iter().map(|(idx, value)| teller.to_label(&items[idx], Picked::Ranked, value, first)).collect();
    by_lot.sort_unstable();
    for idx in by_lot {
        let at = &strata[items[idx].stratum];
        let value = at.value(0) * relevance[items[idx].stratum];
        rows.push(teller.to_label(&items[idx], Picked::Random, value, first));
    }
    let n_to_label = rows.len();
    rows.extend(teller.suspects(&items, how.top));
    let n_unlabelled = items.iter().filter(|item| !is_labelled(item.unit)).count() as u64;
    Ok(Escalation {
        schema: ESCALATION_SCHEMA.to_owned(),
        version: String::new(),
        source: Vec::new(),
        judge: teller.judge_name(subject),
        n_items: items.len() as u64,
        n_unlabelled,
        notes: notes(&items, n_to_label, &rows, how, &open),
        open_limits: open,
        items: rows,
        strata: strata.iter().map(Layer::told).collect(),
        method: "items fall into strata by usual answer and doubt; each label goes where it lowers the variance of the stratified rate \
                 of errors most, W²e(1 − e)(1/n − 1/(n + 1)) (Neyman's allocation), groups taking turns; doubt is the chance that two \
                 answers of different judges, orders or repeats differ, or nearness to the threshold"
            .to_owned(),
    })
}

fn is_labelled(unit: &Unit) -> bool {
    unit.truth.value.is_some() || unit.truth.good.is_some()
}

/// Returns the limits on being right that the data leave open.
fn open_limits(table: &Table<'_>, subject: &Subject, config: &AuditConfig, gate: &Gate) -> Vec<String> {
    let now = rejudge(table, subject, config, gate);
    let truth = |id: &str| info(id).is_some_and(|info| info.family == Family::Truth);
    // What labels alone would make measurable.
    let is_label_missing = |id: &str| match id {
        "accuracy" => Accepts::of(table, config).is_some() || table.kind != OutcomeKind::Score,
        "false_accept_rate" | "false_reject_rate" => Accepts::of(table, config).is_some(),
        _ => false,
    };
    let is_open = |limit: &Tried| match limit.state {
        LimitState::Undecided => truth(&limit.measure),
        LimitState::Unmeasured => is_label_missing(&limit.measure),
        LimitState::Met | LimitState::Broken => false,
    };
    now.limits.into_iter().filter(is_open).map(|limit| limit.measure).collect()
}

/// Returns every unit of the judge with what all judges answered to it.
fn gather<'a>(table: &Table<'_>, subject: &'a Subject, all: &[Subject], accepts: Option<Accepts>) -> Vec<Item<'a>> {
    let width = table.scale.map_or(0.0, |[low, high]| high - low);
    let threshold = match accepts {
        Some(Accepts::AtLeast(at)) => Some(at),
        _ => None,
    };
    // Scores with a threshold are heard as verdicts.
    let heard = |draw: f64| match threshold {
        Some(at) => {
            if draw >= at {
                ACCEPT
            } else {
                REJECT
            }
        }
        None => draw,
    };
    let is_number = table.kind == OutcomeKind::Score && threshold.is_none();
    let mut at = vec![0_usize; all.len()];
    let mut items = Vec::with_capacity(subject.units.len());
    for unit in &subject.units {
        let (mut by_judge, mut n_answers) = (Vec::new(), 0);
        let (mut sum, mut n) = (0.0, 0.0);
        for (judge, at) in all.iter().zip(&mut at) {
            while judge.units.get(*at).is_some_and(|other| other.place() < unit.place()) {
                *at += 1;
            }
            let Some(same) = judge.units.get(*at).filter(|other| other.place() == unit.place()) else { continue };
            let cells = judge.cells_of(same).iter().filter(|cell| cell.n_parsed() > 0);
            let n_cells = cells.clone().count() as f64;
            let mut shares: BTreeMap<u64, f64> = BTreeMap::new();
            for cell in cells {
                let weight = 1.0 / (n_cells * cell.n_parsed() as f64);
                for draw in judge.parsed(cell) {
                    // There is one zero only, so that equal answers have equal bits.
                    *shares.entry((heard(draw) + 0.0).to_bits()).or_insert(0.0) += weight;
                    (sum, n) = (sum + draw, n + 1.0);
                }
                n_answers += cell.n_parsed();
            }
            if !shares.is_empty() {
                by_judge.push(shares);
            }
        }
        let mut panel: BTreeMap<u64, f64> = BTreeMap::new();
        for shares in &by_judge {
            for (answer, share) in shares {
                *panel.entry(*answer).or_insert(0.0) += share / by_judge.len() as f64;
            }
        }
        let usual = panel.iter().rev().max_by(|(_, a), (_, b)| a.total_cmp(b));
        let (usual, usual_share) = usual.map_or((f64::NAN, 0.0), |(answer, share)| (f64::from_bits(*answer), *share));
        let nearness = match threshold {
            Some(at) if n > 0.0 && width > 0.0 => (1.0 - 2.0 * (sum / n - at).abs() / width).clamp(0.0, 1.0),
            _ => 0.0,
        };
        let apart = if panel.is_empty() {
            // Nobody could read an answer: nothing is less sure.
            1.0
        } else if is_number {
            spread(&panel, width)
        } else {
            // Two kinds of answers differ half of the time at most.
            (2.0 * (1.0 - panel.values().map(|share| share * share).sum::<f64>())).clamp(0.0, 1.0)
        };
        let doubt = if apart < 1e-9 { 0.5 * nearness } else { apart };
        items.push(Item { unit, by_judge, n_answers, usual, usual_share, doubt, nearness, stratum: 0 });
    }
    items
}

/// How far apart two scores are on average, half of the scale counting as 1.
fn spread(panel: &BTreeMap<u64, f64>, width: f64) -> f64 {
    if width <= 0.0 {
        return 0.0;
    }
    let mut scores: Vec<(f64, f64)> = panel.iter().map(|(bits, share)| (f64::from_bits(*bits), *share)).collect();
    scores.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    // Σ over neighbours of their distance, times the chance that two draws lie on either side.
    let mut below = 0.0;
    let apart = scores.windows(2).map(|pair| {
        below += pair[0].1;
        2.0 * below * (1.0 - below) * (pair[1].0 - pair[0].0) / width
    });
    (2.0 * apart.sum::<f64>()).clamp(0.0, 1.0)
}

/// Whether an answer, as heard, is not what the label says; `None` where the two cannot be held together.
fn is_against(item: &Item<'_>, answer: f64) -> Option<bool> {
    let truth = item.unit.truth;
    if answer.is_nan() {
        return None;
    }
    match (truth.good, truth.value) {
        (Some(good), _) if is(answer, ACCEPT) || is(answer, REJECT) => Some(is(answer, ACCEPT) != good),
        (None, Some(value)) => Some(!is(answer, value)),
        _ => None,
    }
}
