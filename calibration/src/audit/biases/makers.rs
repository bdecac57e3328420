//! Whether a judge favours what its own model made, and is blind to its own model's errors.
//!
//! With other judges on the same items, each item's own quality cancels: what counts is by how much more than they the judge favours its
//! own items, against others' (a difference in differences). Judges are left out of the others on items that they made. With one judge
//! the label has to stand for quality, which it does in part only.

use std::collections::BTreeMap;

use foldhash::fast::RandomState;

use crate::judgement::OutcomeKind;
use crate::log::{Log, NONE};

use super::super::accuracy::truth::{Accepts, Hits, is_right};
use super::super::data::table::{CHOICE_A, CHOICE_B, CHOICE_TIE, Subject, Table, Unit, is};
use super::super::estimate::{Measured, Values};
use super::super::result::GeneratorErrors;
use super::{AuditConfig, Observations, answer, is_share, makers_of_items, names};

const STREAM: u64 = 0x7365_6c66;
const STREAM_OF_ERRORS: u64 = 0x6f77_6e65;
/// Fewer items than this, of either kind, show no difference between them.
const FEW_ITEMS: usize = 2;
/// The most generators listed.
const MOST_GENERATORS: usize = 30;

/// Looked up, never gone through.
type HashMap<K, V> = hashbrown::HashMap<K, V, RandomState>;

/// Who made the items, who judged them, and which of them are one.
#[derive(Default)]
pub(crate) struct Makers {
    /// The generator of each item and of candidate B; empty where the log states none.
    of_item: Vec<[u32; 2]>,
    /// By judge: whether each generator is its own model.
    is_own: Vec<Vec<bool>>,
    /// By arm, item and dimension: the sum of mean answers of the judges that did not make it, and how many they are.
    answers: HashMap<(u32, u32, u32), (f64, f64)>,
}

impl Makers {
    pub(crate) fn new(log: &Log, kind: OutcomeKind, subjects: &[Subject], config: &AuditConfig) -> Self {
        let of_item = makers_of_items(log);
        if of_item.is_empty() || kind == OutcomeKind::Category {
            return Self::default();
        }
        let plain: Vec<String> = log.generators.iter().map(names::plain).collect();
        let is_own = |judge: &str| -> Vec<bool> {
            let same = |a: &str, b: &str| a.to_lowercase() == b.to_lowercase();
            if let Some(own) = config.own_generators.get(judge) {
                return log.generators.iter().map(|name| own.iter().any(|own| same(own, name))).collect();
            }
            let judge = names::plain(judge);
            plain.iter().map(|name| !name.is_empty() && *name == judge).collect()
        };
        let is_own = log.judges.iter().map(is_own).collect();
        let mut makers = Self { of_item, is_own, answers: HashMap::default() };
        let several = subjects.iter().any(|subject| subject.judge != subjects[0].judge);
        for subject in subjects.iter().filter(|_| several) {
            for unit in &subject.units {
                if let Some(answer) = answer(kind, subject, unit).filter(|_| !makers.has_part(subject, unit)) {
                    let known = makers.answers.entry((subject.arm, unit.item, unit.dimension)).or_insert((0.0, 0.0));
                    known.0 += answer;
                    known.1 += 1.0;
                }
            }
        }
        makers
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.of_item.is_empty()
    }

    fn is_own(&self, subject: &Subject, generator: u32) -> bool {
        let own = self.is_own.get(subject.judge as usize);
        own.and_then(|own| own.get(generator as usize)).copied().unwrap_or(false)
    }

    /// Returns whether the judge's model made the item, or one of its candidates.
    fn has_part(&self, subject: &Subject, unit: &Unit) -> bool {
        self.of_item[unit.item as usize].iter().any(|generator| self.is_own(subject, *generator))
    }

    /// Returns the mean answer of the other judges under the same arm that had no part in the item.
    fn others(&self, subject: &Subject, unit: &Unit, own_answer: f64) -> Option<f64> {
        let (sum, n) = *self.answers.get(&(subject.arm, unit.item, unit.dimension))?;
        let (sum, n) = if self.has_part(subject, unit) { (sum, n) } else { (sum - own_answer, n - 1.0) };
        (n > 0.5).then(|| sum / n)
    }
}

/// Returns the names of generators that are the judge's own model, as far as names tell.
pub(crate) fn generators_called(log: &Log, judge: &str) -> Vec<String> {
    let judge = names::plain(judge);
    let is_same = |name: &&str| !judge.is_empty() && names::plain(name) == judge;
    log.generators.iter().filter(is_same).map(str::to_owned).collect()
}

pub(super) fn measure(
    table: &Table<'_>,
    subject: &Subject,
    units: &[Unit],
    config: &AuditConfig,
    seed_of_nulls: Option<u64>,
    measured: &mut Measured,
) {
    let is_pair = table.kind == OutcomeKind::Choice;
    let id = if is_share(table.kind) { "self_preference_share" } else { "self_preference" };
    if table.makers.is_empty() {
        let needs: &[&str] = if is_pair { &["generator", "generator_b"] } else { &["generator"] };
        measured.unmeasured(id, "the log does not say who made the items", needs);
        return;
    }
    if is_pair {
        of_pairs(table, subject, units, seed_of_nulls, measured);
    } else {
        of_items(table, subject, units, id, seed_of_nulls, measured);
        errors(table, subject, units, config, seed_of_nulls, measured);
    }
}

const NOT_OWN: &str = "too few of the items were made by the judge's own model, or by another (names are compared; `own_generators` states them)";
const NEEDS: &[&str] = &["generator"];

fn of_items(
    table: &Table<'_>,
    subject: &Subject,
    units: &[Unit],
    id: &'static str,
    seed_of_null: Option<u64>,
    measured: &mut Measured,
) {
    let makers = &table.makers;
    let (mut against_others, mut alone) = (Observations::default(), Observations::default());
    for unit in units.iter().filter(|unit| makers.of_item[unit.item as usize][0] != NONE) {
        let Some(answer) = answer(table.kind, subject, unit) else { continue };
        let own = f64::from(u8::from(makers.is_own(subject, makers.of_item[unit.item as usize][0])));
        alone.push(subject, unit, answer, own);
        if let Some(others) = makers.others(subject, unit, answer) {
            against_others.push(subject, unit, answer - others, own);
        }
    }
    if has_both(&against_others) {
        let definition =
            "answer less the mean of the other judges', own items against others' (difference in differences)";
        let effect = against_others.effect(Vec::new(), STREAM, seed_of_null);
        let value = effect.map(|effect| {
            let value = effect.estimated(against_others.n, against_others.n_items(), definition);
            value.detail("n_own_items", n_own(&against_others) as f64)
        });
        measured.record(id, value, NOT_OWN, NEEDS);
        return;
    }
    if !has_both(&alone) {
        measured.unmeasured(id, NOT_OWN, NEEDS);
        return;
    }
    if !alone.keep_labelled(subject) || !has_both(&alone) {
        let reason =
            "with one judge and no labels nothing tells a preference from quality; add another judge or labels";
        measured.unmeasured(id, reason, &["label", "judge"]);
        return;
    }
    let effect = alone.effect(alone.label_columns(), STREAM, seed_of_null);
    let value = effect.map(|effect| {
        let definition = "answer, own items against others', given the label";
        let value = effect.estimated(alone.n, alone.n_items(), definition);
        value.detail("n_own_items", n_own(&alone) as f64).caution(ONE_JUDGE)
    });
    measured.record(id, value, NOT_OWN, NEEDS);
}

const ONE_JUDGE: &str = "one judge: own items may be better, or easier to judge, than their labels say";

fn n_own(observations: &Observations<'_>) -> usize {
    observations.explanation.iter().filter(|own| **own > 0.5).count()
}

fn has_both(observations: &Observations<'_>) -> bool {
    let own = n_own(observations);
    own >= FEW_ITEMS && observations.units.len() - own >= FEW_ITEMS
}

/// Of pairs of which one candidate is the judge's own: by how much it prefers it more than the other judges do, or than the label says.
fn of_pairs(table: &Table<'_>, subject: &Subject, units: &[Unit], seed_of_null: Option<u64>, measured: &mut Measured) {
    const ID: &str = "self_preference_share";
    let makers = &table.makers;
    let (mut against_others, mut alone) = (Observations::default(), Observations::default());
    for unit in units {
        let both = makers.of_item[unit.item as usize];
        let [is_a, is_b] = both.map(|generator| makers.is_own(subject, generator));
        if is_a == is_b || both.contains(&NONE) {
            continue;
        }
        let Some(share_of_a) = answer(table.kind, subject, unit) else { continue };
        let of_own = |share_of_a: f64| if is_a { share_of_a } else { 1.0 - share_of_a };
        if let Some(others) = makers.others(subject, unit, share_of_a) {
            against_others.push(subject, unit, of_own(share_of_a) - of_own(others), 1.0);
        }
        let labelled = unit.truth.value.map(|value| match value {
            value if is(value, CHOICE_A) => 1.0,
            value if is(value, CHOICE_TIE) => 0.5,
            value => f64::from(u8::from(!is(value, CHOICE_B))),
        });
        if let Some(labelled) = labelled {
            alone.push(subject, unit, of_own(share_of_a) - of_own(labelled), 1.0);
        }
    }
    let needs: &[&str] = &["generator", "generator_b"];
    let (observations, definition) = if against_others.units.len() >= FEW_ITEMS {
        (against_others, "share for its own candidate less the other judges', over pairs with one (ties half)")
    } else {
        (alone, "share for its own candidate less the label's, over pairs with one (ties half)")
    };
    if observations.units.len() < FEW_ITEMS {
        let reason = "too few pairs hold a candidate of the judge's own model, with another judge or a label beside";
        measured.unmeasured(ID, reason, needs);
        return;
    }
    let is_alone = definition.contains("label");
    let value = observations.mean(STREAM, seed_of_null).map(|effect| {
        let value = effect.estimated(observations.n, observations.n_items(), definition);
        if is_alone { value.caution(ONE_JUDGE) } else { value }
    });
    measured.record(ID, value, "", needs);
}

/// Wrong items that the judge accepts: its own model's against others'.
fn errors(
    table: &Table<'_>,
    subject: &Subject,
    units: &[Unit],
    config: &AuditConfig,
    seed_of_null: Option<u64>,
    measured: &mut Measured,
) {
    const ID: &str = "own_false_accepts";
    const NEEDS: &[&str] = &["generator", "label"];
    let Some(accepts) = Accepts::of(table, config) else {
        measured.unmeasured(ID, "scores accept nothing by themselves; state the threshold", &["--accept-at"]);
        return;
    };
    let (mut against_others, mut alone) = (Observations::default(), Observations::default());
    for unit in units.iter().filter(|unit| unit.truth.good == Some(false)) {
        let generator = table.makers.of_item[unit.item as usize][0];
        let hits = Hits::of(subject, unit, None, |draw| accepts.accepts(draw));
        if generator == NONE || hits.n == 0 {
            continue;
        }
        let own = f64::from(u8::from(table.makers.is_own(subject, generator)));
        alone.push(subject, unit, hits.n_met as f64 / hits.n as f64, own);
        // Only the answers of verdicts are shares that accept.
        let accepted = answer(table.kind, subject, unit).filter(|_| table.kind == OutcomeKind::Verdict);
        let others = accepted.and_then(|accepted| Some(accepted - table.makers.others(subject, unit, accepted)?));
        if let Some(difference) = others {
            against_others.push(subject, unit, difference, own);
        }
    }
    let is_alone = !has_both(&against_others);
    let (observations, definition) = if is_alone {
        (alone, "share accepted of wrong items, its own model's against others'")
    } else {
        let definition = "share accepted of wrong items less the other judges', its own model's against others' (difference in \
                          differences)";
        (against_others, definition)
    };
    if !has_both(&observations) {
        measured.unmeasured(ID, "too few wrong items of the judge's own model, or of another", NEEDS);
        return;
    }
    let value = observations.effect(Vec::new(), STREAM_OF_ERRORS, seed_of_null).map(|effect| {
        let value = effect.estimated(observations.n, observations.n_items(), definition);
        let value = value.detail("n_own_items", n_own(&observations) as f64);
        let caution = "no other judge's verdicts beside: one maker's wrong items may be harder to tell than another's";
        if is_alone { value.caution(caution) } else { value }
    });
    measured.record(ID, value, NOT_OWN, NEEDS);
}

/// Returns the judge's errors by who made the items, the most items first. Empty with fewer than two generators, or without labels.
pub(crate) fn by_generator(table: &Table<'_>, subject: &Subject, config: &AuditConfig) -> Vec<GeneratorErrors> {
    if table.makers.is_empty() || table.kind == OutcomeKind::Choice {
        return Vec::new();
    }
    let accepts = Accepts::of(table, config);
    let right = is_right(table, accepts);
    let mut by_generator: BTreeMap<u32, [Values; 3]> = BTreeMap::new();
    for unit in &subject.units {
        let generator = table.makers.of_item[unit.item as usize][0];
        if generator == NONE || right(unit, 0.0).is_none() {
            continue;
        }
        let hits = Hits::of(subject, unit, None, |draw| right(unit, draw) == Some(true));
        if hits.n == 0 {
            continue;
        }
        let [accuracy, false_accepts, false_rejects] = by_generator.entry(generator).or_default();
        let share = hits.n_met as f64 / hits.n as f64;
        accuracy.push(unit, share, hits.n);
        match unit.truth.good {
            Some(false) => false_accepts.push(unit, 1.0 - share, hits.n),
            Some(true) => false_rejects.push(unit, 1.0 - share, hits.n),
            None => {}
        }
    }
    if by_generator.len() < 2 {
        return Vec::new();
    }
    let measure =
        |values: &Values, definition: &str| values.proportion(definition).map(|value| value.measure(config.level));
    let mut found: Vec<GeneratorErrors> = by_generator
        .iter()
        .filter_map(|(generator, [accuracy, false_accepts, false_rejects])| {
            Some(GeneratorErrors {
                generator: table.log.generators.name(*generator).to_owned(),
                is_own: table.makers.is_own(subject, *generator),
                accuracy: measure(accuracy, "right answers / parsed answers of an item, mean over items")?,
                false_accept_rate: measure(
                    false_accepts,
                    "accepting / parsed answers of a wrong item, mean over items",
                ),
                false_reject_rate: measure(
                    false_rejects,
                    "rejecting / parsed answers of a right item, mean over items",
                ),
            })
        })
        .collect();
    found.sort_by(|a, b| {
        b.is_own.cmp(&a.is_own).then(b.accuracy.n_items.cmp(&a.accuracy.n_items)).then(a.generator.cmp(&b.generator))
    });
    found.truncate(MOST_GENERATORS);
    found
}
