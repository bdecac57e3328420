//! Whether answers are right: accuracy, false accepts and false rejects, predictive values, chance-corrected agreement.
//!
//! Rates are of one answer on a random item: the mean over items of a/n, n the item's parsed answers. Unparsed replies
//! are in no headline rate; each rate carries the figure with all of them counted against the judge.

use crate::interval::Spread;
use crate::judgement::{Order, OutcomeKind};

use super::chance::chance_corrected;
use super::costs::{Costs, Shared};
use crate::audit::AuditConfig;
use crate::audit::data::table::{ACCEPT, CHOICE_TIE, Subject, Table, Unit, is};
use crate::audit::estimate::{Estimated, Measured, Values};

const LABEL: &[&str] = &["label"];
/// What rests on answers that accept and labels that say good or not.
const OF_ACCEPTING: [&str; 6] =
    ["accuracy", "false_accept_rate", "false_reject_rate", "precision", "negative_predictive_value", "expected_cost"];
const NO_LABELS: &str = "no item has a label in the outcome's terms";

/// How an answer accepts: as a verdict, or as a score of at least a threshold.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Accepts {
    Verdict,
    AtLeast(f64),
}

impl Accepts {
    /// Returns how answers of this audit accept, or `None` when they do not.
    pub(crate) fn of(table: &Table<'_>, config: &AuditConfig) -> Option<Self> {
        match table.kind {
            OutcomeKind::Verdict => Some(Self::Verdict),
            OutcomeKind::Score => config.accept_at.map(Self::AtLeast),
            OutcomeKind::Choice | OutcomeKind::Category => None,
        }
    }

    #[inline]
    pub(crate) fn accepts(self, draw: f64) -> bool {
        match self {
            Self::Verdict => is(draw, ACCEPT),
            Self::AtLeast(threshold) => draw >= threshold,
        }
    }
}

/// The parsed answers of a unit and how many of them meet a test, with the unparsed ones beside.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Hits {
    pub n_met: usize,
    pub n: usize,
    pub n_unparsed: usize,
}

impl Hits {
    /// Returns the parsed answers that do not meet the test.
    #[inline]
    fn others(self) -> Self {
        Self { n_met: self.n - self.n_met, ..self }
    }

    #[inline]
    pub(crate) fn of(subject: &Subject, unit: &Unit, order: Option<Order>, test: impl Fn(f64) -> bool) -> Self {
        let mut found = Self::default();
        for cell in subject.cells_of(unit).iter().filter(|cell| order.is_none() || cell.order == order) {
            found.n += cell.n_parsed();
            found.n_unparsed += cell.n_unparsed;
            found.n_met += subject.parsed(cell).filter(|draw| test(*draw)).count();
        }
        found
    }
}

/// Counts of units that count 1, are alone in their cluster and got as many accepting and other answers: there are many units and few
/// such counts.
struct Alike {
    /// By label and [`Alike::place`].
    n_units: [[u64; Self::N_PLACES]; 2],
}

impl Alike {
    /// The most answers of a unit that are counted.
    const MOST: usize = 16;
    const N_PLACES: usize = Self::place(Self::MOST, Self::MOST) + 1;

    const fn new() -> Self {
        Self { n_units: [[0; Self::N_PLACES]; 2] }
    }

    #[inline]
    const fn place(n: usize, n_met: usize) -> usize {
        n * (n + 1) / 2 + n_met
    }

    /// Counts a unit, or returns false.
    #[inline]
    fn count(&mut self, good: bool, hits: Hits) -> bool {
        let is_counted = hits.n > 0 && hits.n <= Self::MOST && hits.n_unparsed == 0;
        if is_counted {
            self.n_units[usize::from(good)][Self::place(hits.n, hits.n_met)] += 1;
        }
        is_counted
    }

    /// Returns labels, answers, and the number of units that have them.
    fn counts(&self) -> impl Iterator<Item = (bool, Hits, u64)> + '_ {
        let places = (1..=Self::MOST).flat_map(|n| (0..=n).map(move |n_met| (n, n_met)));
        [false, true].into_iter().flat_map(move |good| {
            places.clone().map(move |(n, n_met)| {
                let n_units = self.n_units[usize::from(good)][Self::place(n, n_met)];
                (good, Hits { n_met, n, n_unparsed: 0 }, n_units)
            })
        })
    }
}

/// A rate over items of parsed answers, with the rates that count unparsed ones for and against.
struct Rate {
    /// Whether hits are errors, so that an unparsed reply counts against the judge as a hit.
    is_error: bool,
    /// Whether any reply is unparsed; else the three rates are one.
    has_unparsed: bool,
    parsed: Values,
    for_: Values,
    against: Values,
    hits: usize,
    n: usize,
    n_unparsed: usize,
}

impl Rate {
    fn new(subject: &Subject, is_error: bool) -> Self {
        Self {
            is_error,
            has_unparsed: subject.n_unparsed > 0,
            parsed: Values::default(),
            for_: Values::default(),
            against: Values::default(),
            hits: 0,
            n: 0,
            n_unparsed: 0,
        }
    }

    #[inline]
    fn push(&mut self, unit: &Unit, hits: Hits) {
        let Hits { n_met: hits, n, n_unparsed } = hits;
        self.hits += hits;
        self.n += n;
        self.n_unparsed += n_unparsed;
        if n > 0 {
            self.parsed.push(unit, hits as f64 / n as f64, n);
        }
        let all = (n + n_unparsed) as f64;
        if self.has_unparsed && all > 0.0 {
            let (least, most) = (hits as f64 / all, (hits + n_unparsed) as f64 / all);
            let (for_, against) = if self.is_error { (least, most) } else { (most, least) };
            self.for_.push(unit, for_, n + n_unparsed);
            self.against.push(unit, against, n + n_unparsed);
        }
    }

    /// Adds units that are alone in their clusters, whose replies were all parsed.
    fn push_alike(&mut self, hits: Hits, n_units: u64) {
        let rate = hits.n_met as f64 / hits.n as f64;
        self.parsed.push_alike(rate, hits.n, n_units);
        if self.has_unparsed {
            self.for_.push_alike(rate, hits.n, n_units);
            self.against.push_alike(rate, hits.n, n_units);
        }
        let n_units = usize::try_from(n_units).expect("units fit in memory");
        self.hits += hits.n_met * n_units;
        self.n += hits.n * n_units;
    }

    fn finish(&self, definition: &str) -> Option<Estimated> {
        let mut value = self.parsed.proportion(definition)?;
        value = value.detail("n_hits", self.hits as f64).detail("n_parsed", self.n as f64);
        value = value.detail("n_unparsed", self.n_unparsed as f64);
        value = value.detail("pooled", self.hits as f64 / self.n as f64);
        if self.n_unparsed > 0 {
            if let Some(for_) = self.for_.proportion("") {
                value = value.detail("unparsed_for", for_.estimate);
            }
            value.worst = self.against.proportion(definition).map(Box::new);
        }
        Some(value)
    }
}

/// What accepting and rejecting come to.
pub(crate) struct AcceptRates {
    pub accuracy: Option<Estimated>,
    pub false_accepts: Option<Estimated>,
    pub false_rejects: Option<Estimated>,
}

/// Returns the rates at which answers accept and reject rightly and wrongly. `accepted` gives units with their accepting
/// answers; those whose label is neither right nor wrong are left out.
pub(crate) fn accept_rates<'a>(subject: &Subject, accepted: impl Iterator<Item = (&'a Unit, Hits)>) -> AcceptRates {
    let [mut accuracy, mut false_accepts, mut false_rejects] =
        [false, true, true].map(|is_error| Rate::new(subject, is_error));
    let mut alike = Alike::new();
    let mut accepted = accepted.peekable();
    let mut last_cluster = None;
    while let Some((unit, accepts)) = accepted.next() {
        let Some(good) = unit.truth.good else { continue };
        let is_alone = last_cluster.replace(unit.cluster) != Some(unit.cluster)
            && accepted.peek().is_none_or(|(next, _)| next.cluster != unit.cluster);
        if is_alone && is(unit.weight, 1.0) && alike.count(good, accepts) {
            continue;
        }
        let rejects = accepts.others();
        let (right, wrong) = if good { (accepts, rejects) } else { (rejects, accepts) };
        accuracy.push(unit, right);
        if good { &mut false_rejects } else { &mut false_accepts }.push(unit, wrong);
    }
    for (good, accepts, n_units) in alike.counts() {
        let rejects = accepts.others();
        let (right, wrong) = if good { (accepts, rejects) } else { (rejects, accepts) };
        accuracy.push_alike(right, n_units);
        if good { &mut false_rejects } else { &mut false_accepts }.push_alike(wrong, n_units);
    }
    AcceptRates {
        accuracy: accuracy.finish(RIGHT_ANSWERS),
        false_accepts: false_accepts.finish("accepting / parsed answers of an item labelled wrong, mean over items"),
        false_rejects: false_rejects.finish("rejecting / parsed answers of an item labelled right, mean over items"),
    }
}

const RIGHT_ANSWERS: &str = "right answers / parsed answers of an item, mean over items";

/// Returns the share of answers that agree with the label; labels of units without one are left out.
fn agreement_rate(
    subject: &Subject,
    units: &[Unit],
    order: Option<Order>,
    right: impl Fn(&Unit, f64) -> Option<bool>,
    definition: &str,
) -> Option<Estimated> {
    let mut rate = Rate::new(subject, false);
    for unit in units {
        // A unit is labelled or not whatever the answer.
        if right(unit, 0.0).is_some() {
            rate.push(unit, Hits::of(subject, unit, order, |draw| right(unit, draw) == Some(true)));
        }
    }
    rate.finish(definition)
}

/// Returns whether an answer is right, or `None` for an unlabelled unit or an outcome that is not right or wrong.
pub(crate) fn is_right(table: &Table<'_>, accepts: Option<Accepts>) -> impl Fn(&Unit, f64) -> Option<bool> + Copy {
    let kind = table.kind;
    move |unit: &Unit, draw: f64| match (kind, accepts) {
        (OutcomeKind::Choice | OutcomeKind::Category, _) => unit.truth.value.map(|value| is(value, draw)),
        (_, Some(accepts)) => unit.truth.good.map(|good| accepts.accepts(draw) == good),
        _ => None,
    }
}

pub(crate) fn measure(
    table: &Table<'_>,
    subject: &Subject,
    units: &[Unit],
    config: &AuditConfig,
    measured: &mut Measured,
) {
    let accepts = Accepts::of(table, config);
    let any = |is_labelled: fn(&Unit) -> bool| units.iter().any(is_labelled);
    let (has_good, has_value) = (any(|unit| unit.truth.good.is_some()), any(|unit| unit.truth.value.is_some()));
    if table.kind == OutcomeKind::Score && has_value && !has_good {
        let needs: &[&str] = if accepts.is_some() { &["--good-at"] } else { &["--good-at", "--accept-at"] };
        for id in OF_ACCEPTING {
            measured.unmeasured(id, "the labels are scores, and nothing says from which one on an item is good", needs);
        }
        return;
    }
    if table.kind == OutcomeKind::Score && accepts.is_none() {
        for id in OF_ACCEPTING {
            if has_good {
                measured.unmeasured(id, "scores accept nothing by themselves; state the threshold", &["--accept-at"]);
            } else {
                measured.unmeasured(id, NO_LABELS, LABEL);
            }
        }
        return;
    }
    let right = is_right(table, accepts);
    // Of two candidates an order is always asked for; of anything else only where the log knows of one.
    if table.kind == OutcomeKind::Choice || table.log.has_orders() {
        by_order(table, subject, units, right, measured);
    }
    let accuracy = if let Some(accepts) = accepts {
        let accepted = |unit| (unit, Hits::of(subject, unit, None, |draw| accepts.accepts(draw)));
        let rates = accept_rates(subject, units.iter().map(accepted));
        expected_cost(subject, units, accepts, &rates, config, measured);
        accept_errors(units, rates.false_accepts, rates.false_rejects, config, measured);
        rates.accuracy
    } else {
        agreement_rate(subject, units, None, right, RIGHT_ANSWERS)
    };
    measured.record("accuracy", accuracy, NO_LABELS, LABEL);
    let agreement = chance_corrected(table, subject, units, accepts);
    for (id, value) in [("kappa", agreement.kappa), ("ac1", agreement.ac1), ("alpha_with_labels", agreement.alpha)] {
        measured.record(
            id,
            value,
            "no labelled item has a parsed answer, only one category occurs, or more than 500 do",
            LABEL,
        );
    }
}

/// Accuracy by the order shown, and in both.
fn by_order(
    table: &Table<'_>,
    subject: &Subject,
    units: &[Unit],
    right: impl Fn(&Unit, f64) -> Option<bool> + Copy,
    measured: &mut Measured,
) {
    const NEEDS: &[&str] = &["label", "order"];
    for (id, order) in [("accuracy_ab", Order::Ab), ("accuracy_ba", Order::Ba)] {
        let value =
            agreement_rate(subject, units, Some(order), right, "right / parsed answers in this order, mean over items");
        measured.record(id, value, "no labelled item was shown in this order", NEEDS);
    }
    let (mut both, mut against) = (Values::default(), Values::default());
    let mut n_unparsed_all = 0;
    // Its counts are of two candidates and a tie.
    let mut paired = (table.kind == OutcomeKind::Choice).then(PairedByRepeat::default);
    for unit in units.iter().filter(|unit| right(unit, 0.0).is_some()) {
        let of = |order| Hits::of(subject, unit, Some(order), |draw| right(unit, draw) == Some(true));
        let (ab, ba) = (of(Order::Ab), of(Order::Ba));
        if let Some(paired) = &mut paired {
            paired.add(subject, unit);
        }
        let n = ab.n + ba.n;
        if ab.n > 0 && ba.n > 0 {
            both.push(unit, ab.n_met as f64 / ab.n as f64 * (ba.n_met as f64 / ba.n as f64), n);
        }
        let (all_ab, all_ba) = (ab.n + ab.n_unparsed, ba.n + ba.n_unparsed);
        if all_ab > 0 && all_ba > 0 {
            n_unparsed_all += ab.n_unparsed + ba.n_unparsed;
            against.push(unit, ab.n_met as f64 / all_ab as f64 * (ba.n_met as f64 / all_ba as f64), all_ab + all_ba);
        }
    }
    let definition = "mean over items of p_ab(right) · p_ba(right)";
    let value = both.proportion(definition).map(|mut value| {
        if n_unparsed_all > 0 {
            value.worst = against.proportion(definition).map(Box::new);
        }
        match &paired {
            Some(paired) => paired.details(value),
            None => value,
        }
    });
    measured.record("accuracy_both_orders", value, "no labelled item was shown in both orders", NEEDS);
}

/// Counts of pairs of answers with the same repeat number in both orders, by the rules that others take them together with.
#[derive(Default)]
struct PairedByRepeat {
    pairs: u64,
    both_right: u64,
    /// A right answer counts 1, the other candidate −1, a tie or an unparsed reply 0: pairs above, below and at 0.
    net: [u64; 3],
    /// The answer both orders agree on, or a tie where they do not (or nothing was parsed), is right.
    tie_where_they_differ: u64,
}

impl PairedByRepeat {
    fn add(&mut self, subject: &Subject, unit: &Unit) {
        let Some(truth) = unit.truth.value else { return };
        let cell = |order| subject.cells_of(unit).iter().find(|cell| cell.order == Some(order));
        let (Some(ab), Some(ba)) = (cell(Order::Ab), cell(Order::Ba)) else { return };
        let mut others = ba.draws.clone().peekable();
        for idx in ab.draws.clone() {
            while others.next_if(|&other| subject.repeats[other] < subject.repeats[idx]).is_some() {}
            let Some(&other) = others.peek() else { break };
            if subject.repeats[other] != subject.repeats[idx] {
                continue;
            }
            let (x, y) = (subject.draws[idx], subject.draws[other]);
            self.pairs += 1;
            self.both_right += u64::from(is(x, truth) && is(y, truth));
            let points = |draw: f64| {
                if is(draw, truth) {
                    1
                } else if draw.is_nan() || is(draw, CHOICE_TIE) {
                    0
                } else {
                    -1
                }
            };
            match points(x) + points(y) {
                1.. => self.net[0] += 1,
                ..0 => self.net[1] += 1,
                0 => self.net[2] += 1,
            }
            let agreed = if is(x, y) && !x.is_nan() { x } else { CHOICE_TIE };
            self.tie_where_they_differ += u64::from(is(agreed, truth));
        }
    }

    fn details(&self, value: Estimated) -> Estimated {
        [
            ("paired_by_repeat_pairs", self.pairs),
            ("paired_by_repeat_right", self.both_right),
            ("paired_by_repeat_net_right", self.net[0]),
            ("paired_by_repeat_net_wrong", self.net[1]),
            ("paired_by_repeat_net_none", self.net[2]),
            ("paired_by_repeat_tie_where_they_differ", self.tie_where_they_differ),
        ]
        .into_iter()
        .fold(value, |value, (name, n)| value.detail(name, n as f64))
    }
}

/// False accepts, false rejects, and what they make of a verdict at the base rate.
fn accept_errors(
    units: &[Unit],
    false_accepts: Option<Estimated>,
    false_rejects: Option<Estimated>,
    config: &AuditConfig,
    measured: &mut Measured,
) {
    let labelled = |good: bool| {
        units.iter().filter(move |unit| unit.truth.good == Some(good)).map(|unit| unit.weight).sum::<f64>()
    };
    let (n_good, n_bad) = (labelled(true), labelled(false));
    let base_rate = config.base_rate.unwrap_or(n_good / (n_good + n_bad));
    if let (Some(far), Some(frr)) = (&false_accepts, &false_rejects) {
        // Both rates may rest on one cluster.
        let labelled = units.iter().filter(|unit| unit.truth.good.is_some());
        let n_clusters =
            crate::audit::count_distinct(labelled.map(|unit| unit.cluster)).min(far.n_clusters + frr.n_clusters);
        let with_clusters = |value: Estimated| Estimated { n_clusters, ..value };
        // Right items accepted, wrong items rejected.
        let (precision, npv) = (predictive(far, frr, base_rate), predictive(frr, far, 1.0 - base_rate));
        let (precision, npv) = (precision.map(with_clusters), npv.map(with_clusters));
        let reason = "nothing was accepted, or the base rate is 0 or 1";
        measured.record("precision", precision, reason, &[]);
        measured.record("negative_predictive_value", npv, "nothing was rejected, or the base rate is 0 or 1", &[]);
    } else {
        for id in ["precision", "negative_predictive_value"] {
            measured.unmeasured(id, "needs items labelled right and items labelled wrong", LABEL);
        }
    }
    measured.record("false_accept_rate", false_accepts, "no item labelled wrong has a parsed answer", LABEL);
    measured.record("false_reject_rate", false_rejects, "no item labelled right has a parsed answer", LABEL);
}

/// What errors cost at the base rate.
fn expected_cost(
    subject: &Subject,
    units: &[Unit],
    accepts: Accepts,
    rates: &AcceptRates,
    config: &AuditConfig,
    measured: &mut Measured,
) {
    const ID: &str = "expected_cost";
    let weight =
        |good: bool| units.iter().filter(|unit| unit.truth.good == Some(good)).map(|unit| unit.weight).sum::<f64>();
    if config.costs.is_none() {
        measured.unmeasured(ID, "nothing says what a false accept and a false reject cost", &["--costs"]);
        return;
    }
    let (Some(costs), Some(far), Some(frr)) =
        (Costs::of(config, weight(true), weight(false)), &rates.false_accepts, &rates.false_rejects)
    else {
        measured.unmeasured(ID, "needs items labelled right and items labelled wrong", LABEL);
        return;
    };
    let errors = units.iter().filter_map(|unit| {
        let good = unit.truth.good?;
        let hits = Hits::of(subject, unit, None, |draw| accepts.accepts(draw) != good);
        (hits.n > 0).then(|| (unit.cluster, good, hits.n_met as f64 / hits.n as f64))
    });
    let shared = Shared::of(errors, far.estimate, frr.estimate);
    measured.record(ID, costs.expected(far, frr, shared), "", &[]);
}

/// Returns s·π/(s·π + e·(1−π)), where `error` is e and `miss` is 1 − s, at base rate π.
fn predictive(error: &Estimated, miss: &Estimated, base_rate: f64) -> Option<Estimated> {
    let (Spread::Proportion(error_spread), Spread::Proportion(miss_spread)) = (error.spread, miss.spread) else {
        return None;
    };
    let mut success = miss_spread;
    success.estimate = 1.0 - success.estimate;
    std::mem::swap(&mut success.n_clusters_with_event, &mut success.n_clusters_with_absence);
    let (hit, slip) = (success.estimate * base_rate, error.estimate * (1.0 - base_rate));
    if hit + slip <= 0.0 || base_rate <= 0.0 || base_rate >= 1.0 {
        return None;
    }
    let odds = (1.0 - base_rate) / base_rate;
    Some(Estimated {
        estimate: hit / (hit + slip),
        spread: Spread::Predictive { error: error_spread, success, odds },
        n: error.n + miss.n,
        n_items: error.n_items + miss.n_items,
        n_clusters: error.n_clusters + miss.n_clusters,
        method: format!(
            "from both error rates at base rate {base_rate:.4}, taken as known; MOVER-R interval of their ratio"
        ),
        cautions: Vec::new(),
        details: [("base_rate".to_owned(), base_rate)].into(),
        worst: None,
    })
}
