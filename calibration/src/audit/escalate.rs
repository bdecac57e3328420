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

use rand::SeedableRng as _;
use rand::seq::index::sample;
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;

use crate::gate::{Gate, LimitState};
use crate::judgement::OutcomeKind;
use crate::log::{Log, NONE};
use crate::problem::Problems;

use super::catalogue::{Family, info};
use super::findings::per_cent;
use super::rejudge::{Tried, rejudge};
use super::result::{ESCALATION_SCHEMA, Escalated, Escalation, Picked, Purpose, Stratum};
use super::table::{ACCEPT, REJECT, Subject, Table, Unit, is};
use super::truth::{Accepts, is_right};
use super::{AuditConfig, AuditError, outcome_kind, select};

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EscalateConfig {
    /// The most items to label that are ranked, and the most to check.
    pub top: usize,
    /// Items to label drawn by lot besides.
    pub random: usize,
}

/// A prior counts for so many labels.
const PRIOR_LABELS: f64 = 2.0;
/// The share of answers that makes a panel sure of one.
const SURE: f64 = 0.8;
/// The share of labels taken to be wrong before answers are looked at.
const LABEL_ERRORS: f64 = 0.05;
/// The chance of being wrong from which on a label is listed.
const SUSPECT: f64 = 0.2;
/// The fewest answers that make a label suspect.
const FEWEST_AGAINST: usize = 3;
const STREAM: u64 = 0x6573_6361 << 32;

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
    let mut table = Table::new(log, kind, config, &mut Problems::default());
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

/// A stratum in the making.
struct Layer {
    name: String,
    n_items: f64,
    n_labelled: f64,
    n_wrong: f64,
    n_bad: f64,
    prior: f64,
    weight: f64,
    n_picked: u64,
}

impl Layer {
    fn error_rate(&self) -> f64 {
        (self.n_wrong + PRIOR_LABELS * self.prior) / (self.n_labelled + PRIOR_LABELS)
    }

    /// By how much one label more is expected to lower the variance, after `n_picked` others.
    fn value(&self, n_picked: u64) -> f64 {
        let e = self.error_rate();
        // A stratum without labels counts as having one, so that the first is worth a finite amount.
        let n = self.n_labelled + n_picked as f64 + 1.0;
        self.weight * self.weight * e * (1.0 - e) * (1.0 / n - 1.0 / (n + 1.0))
    }

    fn told(&self) -> Stratum {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts of items")]
        let count = |n: f64| n as u64;
        Stratum {
            name: self.name.clone(),
            n_items: count(self.n_items),
            n_labelled: count(self.n_labelled),
            error_rate: self.error_rate(),
            n_picked: self.n_picked,
        }
    }
}

/// Cuts items into strata, and says of each item which it is in.
fn strata(table: &Table<'_>, items: &mut [Item<'_>]) -> Vec<Layer> {
    const BANDS: [(&str, f64); 3] = [("of one mind", 0.05), ("some doubt", 0.2), ("torn", 0.45)];
    let is_number =
        table.kind == OutcomeKind::Score && items.iter().any(|item| !is(item.usual, ACCEPT) && !is(item.usual, REJECT));
    let key = |item: &Item<'_>| {
        let band = if item.doubt < 0.02 {
            0_usize
        } else if item.doubt < 0.5 {
            1
        } else {
            2
        };
        // Scores as such are not cut by their value.
        (if is_number { 0 } else { item.usual.to_bits() }, band)
    };
    let mut found: BTreeMap<(u64, usize), usize> = BTreeMap::new();
    for item in items.iter() {
        found.entry(key(item)).or_insert(0);
    }
    let mut layers = Vec::new();
    for ((usual, band), place) in &mut found {
        *place = layers.len();
        let (word, prior) = BANDS[*band];
        let usual = f64::from_bits(*usual);
        let answer = match table.kind {
            _ if usual.is_nan() => "no answer".to_owned(),
            OutcomeKind::Score if is_number => "scored".to_owned(),
            OutcomeKind::Score => if is(usual, ACCEPT) { "accept" } else { "reject" }.to_owned(),
            _ => table.answer_name(usual),
        };
        let name = format!("{answer}, {word}");
        let n = 0.0;
        layers.push(Layer { name, n_items: n, n_labelled: n, n_wrong: n, n_bad: n, prior, weight: n, n_picked: 0 });
    }
    let total = items.len() as f64;
    for item in items.iter_mut() {
        item.stratum = found[&key(item)];
        let layer = &mut layers[item.stratum];
        layer.n_items += 1.0;
        layer.weight = layer.n_items / total;
        if is_labelled(item.unit) {
            layer.n_labelled += 1.0;
            layer.n_bad += f64::from(u8::from(item.unit.truth.good == Some(false)));
            layer.n_wrong += f64::from(u8::from(is_against(item, item.usual) == Some(true)));
        }
    }
    layers
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

/// How much a label in each stratum says about what is open: the chance that it falls into the class of items that an open rate is over.
fn relevance(items: &[Item<'_>], strata: &[Layer], open: &[String]) -> Vec<f64> {
    let only = |id: &str| !open.is_empty() && open.iter().all(|limit| limit == id);
    let labelled = items.iter().filter(|item| item.unit.truth.good.is_some()).count() as f64;
    let bad = items.iter().filter(|item| item.unit.truth.good == Some(false)).count() as f64;
    let overall = (bad + 1.0) / (labelled + 2.0);
    let of = |layer: &Layer| {
        let bad = (layer.n_bad + PRIOR_LABELS * overall) / (layer.n_labelled + PRIOR_LABELS);
        if only("false_accept_rate") {
            bad
        } else if only("false_reject_rate") {
            1.0 - bad
        } else {
            1.0
        }
    };
    strata.iter().map(of).collect()
}

/// Draws items without a label by lot.
fn lots(items: &[Item<'_>], seed: u64, n: usize) -> Vec<usize> {
    let unlabelled: Vec<usize> = (0..items.len()).filter(|&idx| !is_labelled(items[idx].unit)).collect();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(STREAM);
    sample(&mut rng, unlabelled.len(), n.min(unlabelled.len())).into_iter().map(|at| unlabelled[at]).collect()
}

/// Picks items to label one by one, with what each is worth when it is picked.
fn pick(
    items: &[Item<'_>],
    strata: &mut [Layer],
    relevance: &[f64],
    by_lot: &[usize],
    top: usize,
) -> Vec<(usize, f64)> {
    let mut taken = vec![false; items.len()];
    by_lot.iter().for_each(|&idx| taken[idx] = true);
    let mut queues: Vec<Vec<usize>> = vec![Vec::new(); strata.len()];
    for (idx, item) in items.iter().enumerate() {
        if !taken[idx] && !is_labelled(item.unit) {
            queues[item.stratum].push(idx);
        }
    }
    for queue in &mut queues {
        let doubtful = |a: &usize, b: &usize| items[*b].doubt.total_cmp(&items[*a].doubt).then(a.cmp(b));
        queue.sort_by(doubtful);
        // Groups take turns: first the most doubtful of each, then the second of each.
        let mut turns: BTreeMap<u32, u32> = BTreeMap::new();
        let mut with_turn: Vec<(u32, usize)> = Vec::with_capacity(queue.len());
        for &idx in queue.iter() {
            let turn = turns.entry(items[idx].unit.cluster).or_insert(0);
            with_turn.push((*turn, idx));
            *turn += 1;
        }
        with_turn.sort_by_key(|(turn, _)| *turn);
        *queue = with_turn.into_iter().rev().map(|(_, idx)| idx).collect();
    }
    let mut picked = Vec::new();
    while picked.len() < top {
        let value = |at: usize| strata[at].value(strata[at].n_picked) * relevance[at];
        // Of equals the first stratum.
        let best =
            (0..strata.len()).rev().filter(|&at| !queues[at].is_empty()).max_by(|&a, &b| value(a).total_cmp(&value(b)));
        let Some(best) = best else { break };
        let value = value(best);
        strata[best].n_picked += 1;
        picked.extend(queues[best].pop().map(|idx| (idx, value)));
    }
    picked
}

/// The judge's rates as they are, to say what a label changes.
struct Rates {
    /// Errors and items: labelled wrong, labelled right.
    by_label: [(f64, f64); 2],
    right: (f64, f64),
    /// The judge's own answers, by unit.
    own: BTreeMap<(u32, u32, u32), f64>,
}

impl Rates {
    fn of(table: &Table<'_>, subject: &Subject, accepts: Option<Accepts>) -> Self {
        let right = is_right(table, accepts);
        let mut rates = Self { by_label: [(0.0, 0.0); 2], right: (0.0, 0.0), own: BTreeMap::new() };
        for unit in &subject.units {
            let n = subject.parsed_of(unit).count() as f64;
            if n == 0.0 {
                continue;
            }
            if let Some(accepts) = accepts {
                let share = subject.parsed_of(unit).filter(|draw| accepts.accepts(*draw)).count() as f64 / n;
                rates.own.insert(unit.place(), share);
                if let Some(good) = unit.truth.good {
                    let (errors, items) = &mut rates.by_label[usize::from(good)];
                    *errors += if good { 1.0 - share } else { share };
                    *items += 1.0;
                }
            }
            if right(unit, 0.0).is_some() {
                rates.right.0 +=
                    subject.parsed_of(unit).filter(|draw| right(unit, *draw) == Some(true)).count() as f64 / n;
                rates.right.1 += 1.0;
            }
        }
        rates
    }
}

/// Says why an item is on the list.
struct Teller<'a> {
    table: &'a Table<'a>,
    accepts: Option<Accepts>,
    rates: &'a Rates,
    n_judges: usize,
    strata: Vec<Stratum>,
}

impl Teller<'_> {
    fn judge_name(&self, subject: &Subject) -> String {
        let log = self.table.log;
        let name = if subject.judge == NONE { "" } else { log.judges.name(subject.judge) };
        if subject.arm == NONE { name.to_owned() } else { format!("{name} ({})", log.arms.name(subject.arm)) }
    }

    fn row(&self, item: &Item<'_>) -> Escalated {
        let (log, unit) = (self.table.log, item.unit);
        let label = match (unit.truth.value, unit.truth.good) {
            (Some(value), _) => Some(self.table.answer_name(value)),
            (None, Some(good)) => Some(if good { "right" } else { "wrong" }.to_owned()),
            _ => None,
        };
        Escalated {
            item: log.items.name(unit.item).to_owned(),
            dimension: (unit.dimension != NONE).then(|| log.dimensions.name(unit.dimension).to_owned()),
            group: self.table.cluster_is_group.then(|| self.table.cluster_name(unit.cluster).to_owned()),
            purpose: Purpose::Label,
            picked: Picked::Ranked,
            score: 0.0,
            variance_reduction: None,
            doubt: item.doubt,
            why: String::new(),
            changes: String::new(),
            label,
        }
    }

    fn answer(&self, heard: f64) -> String {
        match self.accepts {
            Some(_) if is(heard, ACCEPT) => "accept".to_owned(),
            Some(_) => "reject".to_owned(),
            None => self.table.answer_name(heard),
        }
    }

    fn to_label(&self, item: &Item<'_>, picked: Picked, value: f64, first: f64) -> Escalated {
        let score = if first > 0.0 { (value / first).clamp(0.0, 1.0) } else { 0.0 };
        let why = match picked {
            Picked::Random => format!("drawn by lot; {}", self.answers(item)),
            Picked::Ranked => self.answers(item),
        };
        let changes = self.changes(item);
        Escalated { picked, score, variance_reduction: Some(value), why, changes, ..self.row(item) }
    }

    fn answers(&self, item: &Item<'_>) -> String {
        if item.by_judge.is_empty() {
            return "no reply could be read".to_owned();
        }
        let n = item.n_answers;
        let count = if n == 1 { "1 answer".to_owned() } else { format!("{n} answers") };
        let judges = item.by_judge.len();
        let by = if self.n_judges > 1 {
            format!(" of {judges} judge{}", if judges == 1 { "" } else { "s" })
        } else {
            String::new()
        };
        let usual = self.answer(item.usual);
        let like = &self.strata[item.stratum];
        let labelled = format!("{} of {} such items are labelled", like.n_labelled, like.n_items);
        let majorities: Vec<f64> = item.by_judge.iter().map(usual_of).collect();
        let split = majorities.iter().any(|answer| !is(*answer, majorities[0]));
        if item.usual_share > 1.0 - 1e-9 {
            let near = if item.nearness > 0.5 { ", but its scores lie near the threshold" } else { "" };
            format!("all {count}{by} say {usual}{near}; {labelled}")
        } else if split {
            format!("judges differ: {} of {count}{by} say {usual}", per_cent(item.usual_share))
        } else {
            format!("answers change: {} of {count}{by} say {usual}", per_cent(item.usual_share))
        }
    }

    /// What either label does to the judge's rates.
    fn changes(&self, item: &Item<'_>) -> String {
        let with = |(sum, n): (f64, f64), value: f64| (sum + value) / (n + 1.0);
        let from = |(sum, n): (f64, f64), new: f64| {
            if n > 0.0 {
                format!("{} to {}", per_cent(sum / n), per_cent(new))
            } else {
                format!("nothing to {}", per_cent(new))
            }
        };
        if let Some(share) = self.rates.own.get(&item.unit.place()) {
            let [wrong, right] = self.rates.by_label;
            return format!(
                "labelled wrong: false accepts from {}; labelled right: false rejects from {}",
                from(wrong, with(wrong, *share)),
                from(right, with(right, 1.0 - share))
            );
        }
        if self.table.kind == OutcomeKind::Score {
            return "one item more on which scores and labels are held together".to_owned();
        }
        let rate = self.rates.right;
        format!(
            "label {}: accuracy from {}; another label: to {}",
            self.answer(item.usual),
            from(rate, with(rate, item.usual_share)),
            per_cent(with(rate, 0.0))
        )
    }

    /// Labels that are likely wrong, given how the panel answers items with such labels. The panel is one witness, since judges share
    /// errors: P(wrong) = π l/(π l + 1 − π), π = 5 %, l = P(it says so | the label were what it says)/P(it says so | this label).
    fn suspects(&self, items: &[Item<'_>], top: usize) -> Vec<Escalated> {
        // Labels as answers are heard, and how often the panel is as sure of an answer, by label.
        let label_of = |item: &Item<'_>| match (item.unit.truth.good, item.unit.truth.value) {
            (Some(good), _) if self.accepts.is_some() => Some(if good { ACCEPT } else { REJECT }),
            (_, value) => value.filter(|_| self.table.kind != OutcomeKind::Score),
        };
        let mut n_of: BTreeMap<u64, f64> = BTreeMap::new();
        let mut n_said: BTreeMap<(u64, u64), f64> = BTreeMap::new();
        let labelled: Vec<(&Item<'_>, f64)> = items.iter().filter_map(|item| Some((item, label_of(item)?))).collect();
        for (item, label) in labelled.iter().filter(|(item, _)| item.n_answers >= FEWEST_AGAINST) {
            *n_of.entry(label.to_bits()).or_insert(0.0) += 1.0;
            if is_steady(item) {
                *n_said.entry((label.to_bits(), item.usual.to_bits())).or_insert(0.0) += 1.0;
            }
        }
        let chance = |label: f64, answer: f64| {
            let said = n_said.get(&(label.to_bits(), answer.to_bits())).copied().unwrap_or(0.0);
            (said + 0.5) / (n_of.get(&label.to_bits()).copied().unwrap_or(0.0) + 1.0)
        };
        let mut found: Vec<(f64, &Item<'_>)> = labelled
            .into_iter()
            .filter(|(item, label)| item.n_answers >= FEWEST_AGAINST && is_steady(item) && !is(*label, item.usual))
            .map(|(item, label)| {
                let odds = LABEL_ERRORS * chance(item.usual, item.usual);
                (odds / (odds + (1.0 - LABEL_ERRORS) * chance(label, item.usual)), item)
            })
            .filter(|(wrong, _)| *wrong >= SUSPECT)
            .collect();
        let agreed = |item: &Item<'_>| (item.by_judge.len(), item.n_answers);
        found.sort_by(|(a, x), (b, y)| {
            b.total_cmp(a).then(y.usual_share.total_cmp(&x.usual_share)).then(agreed(y).cmp(&agreed(x)))
        });
        found.truncate(top);
        found.into_iter().map(|(score, item)| self.to_check(item, score)).collect()
    }

    fn to_check(&self, item: &Item<'_>, score: f64) -> Escalated {
        let row = self.row(item);
        let judges = match item.by_judge.len() {
            1 => "the judge says".to_owned(),
            n => format!("all {n} judges say"),
        };
        let why = format!(
            "{judges} {} ({} of {} answers), which it seldom does of such labels: wrong with {} chance if 5 % of labels are",
            self.answer(item.usual),
            per_cent(item.usual_share),
            item.n_answers,
            per_cent(score)
        );
        let changes = match (item.unit.truth.good, self.rates.own.get(&item.unit.place())) {
            (Some(good), Some(share)) => {
                let (errors, n) = self.rates.by_label[usize::from(good)];
                let error = if good { 1.0 - share } else { *share };
                let name = if good { "false rejects" } else { "false accepts" };
                let after =
                    if n > 1.0 { per_cent((errors - error) / (n - 1.0)) } else { "nothing left to measure".to_owned() };
                format!("were the label wrong: {name} from {} to {after}", per_cent(errors / n))
            }
            _ => {
                let (right, n) = self.rates.right;
                format!(
                    "were the label wrong: accuracy from {} to {}",
                    per_cent(right / n),
                    per_cent((right + 1.0) / n)
                )
            }
        };
        Escalated { purpose: Purpose::Check, score, why, changes, ..row }
    }
}

/// Returns whether every judge leans to the usual answer, and all together are sure of it.
fn is_steady(item: &Item<'_>) -> bool {
    item.usual_share >= SURE
        && item.by_judge.iter().all(|shares| shares.get(&item.usual.to_bits()).is_some_and(|share| *share > 0.5))
}

fn usual_of(shares: &BTreeMap<u64, f64>) -> f64 {
    shares.iter().rev().max_by(|(_, a), (_, b)| a.total_cmp(b)).map_or(f64::NAN, |(answer, _)| f64::from_bits(*answer))
}

fn notes(
    items: &[Item<'_>],
    n_to_label: usize,
    rows: &[Escalated],
    how: EscalateConfig,
    open: &[String],
) -> Vec<String> {
    let mut notes = Vec::new();
    let mut say = |text: &str| notes.push(text.to_owned());
    let n_labelled = items.iter().filter(|item| is_labelled(item.unit)).count();
    if n_to_label > how.random.min(n_to_label) {
        say(
            "Ranked items are no random sample: rates over their labels are biased towards hard items. Declare such labels as chosen, not \
             random; for an unbiased part add --random N and estimate from that part.",
        );
    }
    if n_labelled == items.len() && !items.is_empty() {
        say("Every item has a label: there is nothing to label, only labels to check.");
    }
    if n_labelled == 0 {
        say("There is no label yet, so that error rates are guessed from doubt; label a random part first (--random).");
    }
    if n_labelled < items.len() && items.iter().all(|item| item.doubt < 0.02) {
        say(
            "No answers differ and none lies near a threshold: without repeats, orders or a second judge, nothing says which items are doubtful.",
        );
    }
    if n_labelled > 0 && items.iter().all(|item| item.n_answers < FEWEST_AGAINST) {
        say("Labels are not checked: that takes three answers to an item, repeats or judges.");
    }
    if rows.len() > n_to_label {
        say(
            "A label that all judges speak against may still be right: judges share errors. Look at it, do not flip it.",
        );
    } else if n_labelled > 0 && items.iter().any(|item| item.n_answers >= FEWEST_AGAINST) {
        say(
            "No label is suspect: where judges speak against one, they do so too often of such labels for it to say much.",
        );
    }
    if n_labelled < items.len() && open.is_empty() && n_labelled > 0 {
        say("No limit on being right is open: labels would narrow its rates, not change the verdict.");
    }
    notes
}
