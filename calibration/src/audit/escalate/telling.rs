//! Why an item is on the list and what its label would change, in words; and labels that look wrong.

use std::collections::BTreeMap;

use crate::audit::accuracy::truth::{Accepts, is_right};
use crate::audit::data::table::{ACCEPT, REJECT, Subject, Table, is};
use crate::audit::decision::findings::per_cent;
use crate::audit::result::{Escalated, Picked, Purpose, Stratum};
use crate::judgement::OutcomeKind;
use crate::log::NONE;

use super::{EscalateConfig, Item, is_labelled};

/// The share of answers that makes a panel sure of one.
const SURE: f64 = 0.8;
/// The share of labels taken to be wrong before answers are looked at.
const LABEL_ERRORS: f64 = 0.05;
/// The chance of being wrong from which on a label is listed.
const SUSPECT: f64 = 0.2;
/// The fewest answers that make a label suspect.
const FEWEST_AGAINST: usize = 3;

/// The judge's rates as they are, to say what a label changes.
pub(super) struct Rates {
    /// Errors and items: labelled wrong, labelled right.
    by_label: [(f64, f64); 2],
    right: (f64, f64),
    /// The judge's own answers, by unit.
    own: BTreeMap<(u32, u32, u32), f64>,
}

impl Rates {
    pub(super) fn of(table: &Table<'_>, subject: &Subject, accepts: Option<Accepts>) -> Self {
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
pub(super) struct Teller<'a> {
    pub(super) table: &'a Table<'a>,
    pub(super) accepts: Option<Accepts>,
    pub(super) rates: &'a Rates,
    pub(super) n_judges: usize,
    pub(super) strata: Vec<Stratum>,
}

impl Teller<'_> {
    pub(super) fn judge_name(&self, subject: &Subject) -> String {
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

    pub(super) fn to_label(&self, item: &Item<'_>, picked: Picked, value: f64, first: f64) -> Escalated {
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
    pub(super) fn suspects(&self, items: &[Item<'_>], top: usize) -> Vec<Escalated> {
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
        let own = item.unit.truth.good.zip(self.rates.own.get(&item.unit.place()));
        let changes = if let Some((good, share)) = own {
            let (errors, n) = self.rates.by_label[usize::from(good)];
            let error = if good { 1.0 - share } else { *share };
            let name = if good { "false rejects" } else { "false accepts" };
            let after =
                if n > 1.0 { per_cent((errors - error) / (n - 1.0)) } else { "nothing left to measure".to_owned() };
            format!("were the label wrong: {name} from {} to {after}", per_cent(errors / n))
        } else {
            let (right, n) = self.rates.right;
            format!("were the label wrong: accuracy from {} to {}", per_cent(right / n), per_cent((right + 1.0) / n))
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

pub(super) fn notes(
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
        say(&format!(
            "Ranked items are no random sample: rates over their labels are biased towards hard items. Declare such labels as chosen, not \
             random; {}",
            if how.random > 0 {
                "estimate from the part drawn by lot (--random), which is unbiased."
            } else {
                "for an unbiased part add --random N and estimate from that part."
            }
        ));
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
