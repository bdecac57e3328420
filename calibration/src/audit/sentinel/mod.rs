//! The sentinel: the same fixed items judged again, to notice that a judge has changed behind its name.
//!
//! Here nothing is said of other items. The items are given, chance is that of the judge's answers alone: SE = √(Σ pᵢ(1−pᵢ)/kᵢ)/m, never to be
//! exchanged for the intervals of an audit. Whether it changed is tested by exchanging the answers of both times within each item, which is
//! exact whatever the noise; how much is estimated with intervals, so that "unchanged" is shown and not merely not refuted.

mod pairs;
mod words;

use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::accuracy::truth::{Accepts, is_right};
use super::data::table::{ACCEPT, CHOICE_B, CHOICE_TIE, Subject, Table, Unit, is};
use super::estimate::{Estimated, Values};
use super::result::{ComparedSide, SENTINEL_SCHEMA, Sentinel, SentinelFigure, SentinelItem, Steadiness};
use super::side_by_side::{CompareError, Sides, with_pair};
use super::{AuditConfig, BadSetting};
use crate::interval::Spread;
use crate::judgement::OutcomeKind;
use crate::paired::{benjamini_hochberg, holm};
use crate::problem::Problems;

use pairs::{Pair, Scoring, count, exchange, pairs};

/// How a judge is held against its baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SentinelConfig {
    /// Changes up to this share (of the scale's width, for scores) do not matter.
    pub margin: f64,
}

impl Default for SentinelConfig {
    fn default() -> Self {
        Self { margin: 0.05 }
    }
}

/// Exchanges drawn: as many as a few seconds allow.
const PERMUTATIONS: [u32; 2] = [999, 9_999];
const MOST_DRAWN: u64 = 40_000_000;
const STREAMS: u64 = 0x7365_6e74 << 32;
/// What is below this is rounding.
const ROUNDING: f64 = 1e-12;
/// Most items listed.
const MOST_ITEMS: usize = 50;

/// Says whether the judge of the second side still answers as that of the first did, on the items both judged.
///
/// The result depends on the arguments alone. Where the judgements came from and the version are the caller's to fill in. Cost: some thousand
/// passes over the answers of items that were not always answered alike.
///
/// # Errors
/// As [`super::compare_sides`].
pub fn sentinel(sides: Sides, config: &AuditConfig, how: &SentinelConfig) -> Result<Sentinel, CompareError> {
    config.check()?;
    if !(how.margin > 0.0 && how.margin < 1.0) {
        let must = format!("must be more than 0 and less than 1, not {}", how.margin);
        return Err(CompareError::Config(BadSetting { field: "margin", must }));
    }
    with_pair(sides, config, |table, pair, described, problems| result(table, pair, described, config, how, problems))
}

/// What an answer about a unit counts for.
type Counts<'a> = Box<dyn Fn(&Unit, f64) -> Option<f64> + Sync + 'a>;

/// What is asked of the answers.
struct Figure<'a> {
    id: &'static str,
    is_points: bool,
    of: Counts<'a>,
}

fn figures<'a>(table: &'a Table<'a>, config: &AuditConfig) -> Vec<Figure<'a>> {
    let accepts = Accepts::of(table, config);
    let mut figures: Vec<Figure<'a>> = Vec::new();
    let one = |is: bool| Some(f64::from(u8::from(is)));
    match table.kind {
        OutcomeKind::Score => {
            figures.push(Figure {
                id: "mean_score",
                is_points: true,
                of: Box::new(|_, draw| Some(draw).filter(|draw| !draw.is_nan())),
            });
        }
        OutcomeKind::Choice => {
            let of = |_: &Unit, draw: f64| match draw {
                draw if draw.is_nan() => None,
                draw if is(draw, CHOICE_TIE) => Some(0.5),
                draw => Some(f64::from(u8::from(is(draw, CHOICE_B)))),
            };
            figures.push(Figure { id: "preference_for_b", is_points: false, of: Box::new(of) });
        }
        OutcomeKind::Verdict => {
            let of = move |_: &Unit, draw: f64| if draw.is_nan() { None } else { one(is(draw, ACCEPT)) };
            figures.push(Figure { id: "accept_rate", is_points: false, of: Box::new(of) });
        }
        OutcomeKind::Category => {}
    }
    if let Some(accepts) = accepts.filter(|_| table.kind == OutcomeKind::Score) {
        let of = move |_: &Unit, draw: f64| if draw.is_nan() { None } else { one(accepts.accepts(draw)) };
        figures.push(Figure { id: "accept_rate", is_points: false, of: Box::new(of) });
    }
    let right = is_right(table, accepts);
    let of = move |unit: &Unit, draw: f64| if draw.is_nan() { None } else { right(unit, draw).and_then(one) };
    figures.push(Figure { id: "accuracy", is_points: false, of: Box::new(of) });
    figures.push(Figure { id: "unparsed_rate", is_points: false, of: Box::new(move |_, draw| one(draw.is_nan())) });
    figures
}

/// A pair's values in one figure, by level; NaN counts for nothing.
fn values_of(figure: &Figure<'_>, unit: &Unit, pair: &Pair) -> Vec<f64> {
    pair.levels.iter().map(|level| (figure.of)(unit, *level).unwrap_or(f64::NAN)).collect()
}

/// Returns mean, answers and unbiased variance of one side.
fn moments(values: &[f64], counts: &[[u32; 2]], sides: &[usize]) -> (f64, f64, f64) {
    let weights = || {
        values
            .iter()
            .zip(counts)
            .filter(|(value, _)| !value.is_nan())
            .map(|(value, count)| (*value, sides.iter().map(|side| f64::from(count[*side])).sum::<f64>()))
    };
    let n: f64 = weights().map(|(_, n)| n).sum();
    let mean = weights().map(|(value, weight)| value * (weight / n)).sum::<f64>();
    let squares: f64 = weights().map(|(value, weight)| weight * (value - mean).powi(2)).sum();
    (mean, n, if n > 1.0 { squares / (n - 1.0) } else { f64::NAN })
}

/// The change of one figure on the items at hand.
struct Change {
    before: f64,
    now: f64,
    estimated: Estimated,
    /// Sum of the pairs' changes by weight, which exchanges are held against.
    total: f64,
}

/// Returns the mean change with the error of fixed items. `None` where no pair has a value both times.
fn change(values: &[Vec<f64>], pairs: &[Pair], shared: &[(&Unit, &Unit)], width: f64) -> Option<Change> {
    let (mut before, mut now, mut weight, mut variance, mut n) = (0.0, 0.0, 0.0, 0.0, 0_u64);
    let mut units: Vec<usize> = Vec::new();
    let mut clusters: Vec<u32> = Vec::new();
    let mut counts = Vec::new();
    let (mut n_pairs, mut squares) = (0.0, 0.0);
    for (pair, values) in pairs.iter().zip(values) {
        count(pair, &pair.answers, &mut counts);
        let [(old, k, var_old), (new, l, var_new)] = [0, 1].map(|side| moments(values, &counts, &[side]));
        if k < 0.5 || l < 0.5 {
            continue;
        }
        // A single answer has no variance of its own: that of all about their common mean stands in.
        let (.., pooled) = moments(values, &counts, &[0, 1]);
        let own = |variance: f64| if variance.is_nan() { pooled } else { variance };
        before += pair.weight * old;
        now += pair.weight * new;
        weight += pair.weight;
        let component = pair.weight * pair.weight * (own(var_old) / k + own(var_new) / l);
        variance += component;
        let degrees = if var_old.is_nan() || var_new.is_nan() { k + l - 1.0 } else { k + l - 2.0 };
        squares += component * component / degrees;
        n += pair.answers.len() as u64;
        n_pairs += 1.0;
        if units.last() != Some(&pair.unit) {
            units.push(pair.unit);
        }
        clusters.push(shared[pair.unit].0.cluster);
    }
    clusters.dedup();
    if weight <= 0.0 {
        return None;
    }
    let standard_error = variance.max(0.0).sqrt() / weight;
    let range = [-width, width];
    let (spread, how) = if standard_error > ROUNDING {
        let degrees = (variance * variance / squares).max(1.0);
        let how = "t interval of the chance of their answers (Welch–Satterthwaite)";
        (Spread::Student { standard_error, degrees, range }, how)
    } else {
        let spread = Spread::Constant { n_clusters: n_pairs, size: width, range };
        (
            spread,
            "nothing varied: as far as answers not seen in any of these conditions could move it (Clopper–Pearson)",
        )
    };
    let estimated = Estimated {
        estimate: (now - before) / weight,
        spread,
        n,
        n_items: units.len() as u64,
        n_clusters: clusters.len() as u64,
        method: format!("now less before, mean over these fixed items; {how}"),
        cautions: Vec::new(),
        details: std::collections::BTreeMap::new(),
        worst: None,
    };
    Some(Change { before: before / weight, now: now / weight, estimated, total: now - before })
}

/// Returns by how much more an answer before and one now differ than two of one time, unit by unit. `None` without units that have two answers
/// both times. Over items; for fixed items that interval is too wide rather than too narrow.
fn excess(scoring: &Scoring, pairs: &[Pair], shared: &[(&Unit, &Unit)]) -> Option<Estimated> {
    let mut values = Values::default();
    for of_unit in pairs.chunk_by(|a, b| a.unit == b.unit) {
        let known: Vec<&Pair> = of_unit.iter().filter(|pair| pair.n_before > 1 && pair.n_now() > 1).collect();
        if known.is_empty() {
            continue;
        }
        let of_pair = |pair: &&Pair| {
            let (old, new) = pair.answers.split_at(pair.n_before);
            let far = |a: &u16, b: &u16| scoring.distance(pair.levels[usize::from(*a)], pair.levels[usize::from(*b)]);
            let across: f64 = old.iter().map(|a| new.iter().map(|b| far(a, b)).sum::<f64>()).sum();
            let within = |side: &[u16]| {
                let sum: f64 = side.iter().map(|a| side.iter().map(|b| far(a, b)).sum::<f64>()).sum();
                sum / (side.len() * (side.len() - 1)) as f64
            };
            across / (old.len() * new.len()) as f64 - 0.5 * (within(old) + within(new))
        };
        let mean = known.iter().map(of_pair).sum::<f64>() / known.len() as f64;
        let unit = Unit { weight: 1.0, ..shared[of_unit[0].unit].0.clone() };
        values.push(&unit, mean, known.iter().map(|pair| pair.answers.len()).sum());
    }
    const WHAT: &str = "answers before and now differ, less what answers of one time do; mean over items";
    let found = values.mean(WHAT, [-0.5, 1.0], Some(1.0))?;
    Some(found.caution("over items, so that for these fixed ones it is too wide rather than too narrow"))
}

/// How often exchanged answers were as far apart as those seen.
struct Exceeded {
    total: u32,
    units: Vec<u32>,
    figures: Vec<u32>,
}

/// What was seen, to be exceeded.
struct Seen {
    total: f64,
    units: Vec<f64>,
    figures: Vec<f64>,
}

fn exchanged(
    scoring: &Scoring,
    pairs: &[(&Pair, Vec<&[f64]>)],
    seen: &Seen,
    seed: u64,
    n_permutations: u32,
) -> Exceeded {
    let none = || Exceeded { total: 0, units: vec![0; seen.units.len()], figures: vec![0; seen.figures.len()] };
    let one = |mut exceeded: Exceeded, permutation: u32| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(STREAMS + u64::from(permutation));
        let (mut answers, mut counts) = (Vec::new(), Vec::new());
        let (mut total, mut changes) = (0.0, vec![0.0; seen.figures.len()]);
        for of_unit in pairs.chunk_by(|a, b| a.0.unit == b.0.unit) {
            let mut apart = 0.0;
            for (pair, values) in of_unit {
                exchange(&mut rng, pair, &mut answers);
                count(pair, &answers, &mut counts);
                if pair.is_repeated() {
                    apart += scoring.apart(pair, &counts);
                }
                for (change, values) in changes.iter_mut().zip(values) {
                    *change += pair.weight * difference(values, &counts);
                }
            }
            total += apart;
            let unit = of_unit[0].0.unit;
            exceeded.units[unit] += u32::from(apart >= seen.units[unit] - ROUNDING);
        }
        exceeded.total += u32::from(total >= seen.total - ROUNDING);
        for ((n, change), seen) in exceeded.figures.iter_mut().zip(&changes).zip(&seen.figures) {
            *n += u32::from(change.abs() >= seen.abs() - ROUNDING);
        }
        exceeded
    };
    let add = |mut a: Exceeded, b: Exceeded| {
        a.total += b.total;
        a.units.iter_mut().zip(b.units).for_each(|(a, b)| *a += b);
        a.figures.iter_mut().zip(b.figures).for_each(|(a, b)| *a += b);
        a
    };
    (0..n_permutations).into_par_iter().fold(none, one).reduce(none, add)
}

/// Mean now less mean before; 0 where one side has nothing that counts.
fn difference(values: &[f64], counts: &[[u32; 2]]) -> f64 {
    let (mut sums, mut n) = ([0.0; 2], [0.0; 2]);
    for (value, count) in values.iter().zip(counts).filter(|(value, _)| !value.is_nan()) {
        for side in 0..2 {
            sums[side] += value * f64::from(count[side]);
            n[side] += f64::from(count[side]);
        }
    }
    if n[0] > 0.0 && n[1] > 0.0 { sums[1] / n[1] - sums[0] / n[0] } else { 0.0 }
}

fn result(
    table: &Table<'_>,
    [before, now]: [&Subject; 2],
    [side_before, side_now]: [ComparedSide; 2],
    config: &AuditConfig,
    how: &SentinelConfig,
    problems: Problems,
) -> Result<Sentinel, CompareError> {
    let shared = super::difference::shared_units(before, now);
    let all = pairs(before, now, &shared);
    if all.is_empty() && !shared.is_empty() {
        return Err(CompareError::NothingAlike(super::count_distinct(shared.iter().map(|(unit, _)| unit.item))));
    }
    if all.is_empty() {
        return Err(CompareError::NothingShared(side_before.n_items, side_now.n_items));
    }
    let width = match table.kind {
        OutcomeKind::Score => table.scale.map_or(1.0, |[low, high]| high - low).max(f64::MIN_POSITIVE),
        _ => 1.0,
    };
    let scoring = Scoring { kind: table.kind, width };
    let figures = figures(table, config);
    let values: Vec<Vec<Vec<f64>>> = figures
        .iter()
        .map(|figure| all.iter().map(|pair| values_of(figure, shared[pair.unit].0, pair)).collect())
        .collect();
    let changes: Vec<Option<Change>> = figures
        .iter()
        .zip(&values)
        .map(|(figure, values)| change(values, &all, &shared, if figure.is_points { width } else { 1.0 }))
        .collect();
    let mut counts = Vec::new();
    let mut seen = Seen { total: 0.0, units: vec![0.0; shared.len()], figures: Vec::new() };
    let (mut disagreement, mut weight) = (0.0, 0.0);
    for pair in &all {
        count(pair, &pair.answers, &mut counts);
        let (k, l) = (pair.n_before as f64, pair.n_now() as f64);
        let alike: f64 = counts.iter().map(|[old, new]| f64::from(*old) / k * f64::from(*new) / l).sum();
        disagreement += pair.weight * (1.0 - alike);
        weight += pair.weight;
        if pair.is_repeated() {
            let apart = scoring.apart(pair, &counts);
            seen.units[pair.unit] += apart;
            seen.total += apart;
        }
    }
    seen.figures = changes.iter().map(|change| change.as_ref().map_or(0.0, |change| change.total)).collect();
    let varying: Vec<(&Pair, Vec<&[f64]>)> = all
        .iter()
        .enumerate()
        .filter(|(_, pair)| pair.varies())
        .map(|(idx, pair)| (pair, values.iter().map(|values| values[idx].as_slice()).collect()))
        .collect();
    let n_drawn: u64 = varying.iter().map(|(pair, _)| pair.answers.len() as u64).sum();
    let affordable = u32::try_from(MOST_DRAWN / n_drawn.max(1)).unwrap_or(u32::MAX);
    let n_permutations = affordable.clamp(PERMUTATIONS[0], PERMUTATIONS[1]);
    let exceeded = exchanged(&scoring, &varying, &seen, config.seed, n_permutations);
    let p = |n: u32| f64::from(n + 1) / f64::from(n_permutations + 1);
    let n_repeated = all.iter().filter(|pair| pair.is_repeated()).count() as u64;

    let mut found = vec![words::of_answers(
        excess(&scoring, &all, &shared),
        (n_repeated > 0).then(|| if seen.total > ROUNDING { p(exceeded.total) } else { 1.0 }),
        how.margin,
        config.level,
    )];
    for ((figure, change), n) in figures.iter().zip(changes).zip(&exceeded.figures) {
        let Some(change) = change else { continue };
        // Without a scale known beforehand the scores seen are no measure of what matters.
        let scale = if figure.is_points { table.trusted_width() } else { Some(1.0) };
        let p_value = if change.total.abs() > ROUNDING { p(*n) } else { 1.0 };
        found.push(words::of_figure(
            figure.id,
            &change.estimated,
            [change.before, change.now],
            p_value,
            scale.map(|width| width * how.margin),
            config.level,
        ));
    }
    let p_values: Vec<f64> = found.iter().map(|figure| figure.p_value.unwrap_or(f64::NAN)).collect();
    for (figure, adjusted) in found.iter_mut().zip(holm(&p_values)) {
        figure.p_holm = (!adjusted.is_nan()).then_some(adjusted);
    }
    let (items, n_items_changed) =
        changed_items(table, [before, now], &shared, &all, &exceeded.units, n_permutations, config.level);
    let (steadiness, why) = words::conclude(&found, n_items_changed, how.margin, config.level);
    let n_items = super::count_distinct(shared.iter().map(|(unit, _)| unit.item));
    Ok(Sentinel {
        schema: SENTINEL_SCHEMA.to_owned(),
        version: String::new(),
        config: config.clone(),
        margin: how.margin,
        outcome: table.kind,
        n_items,
        n_cells: all.len() as u64,
        n_cells_repeated: n_repeated,
        disagreement: disagreement / weight,
        steadiness,
        why,
        figures: found,
        items,
        n_items_changed,
        n_permutations,
        notes: words::notes(&side_before, &side_now, all.len() as u64, n_repeated),
        problems: problems.into_vec(),
        before: side_before,
        now: side_now,
    })
}

/// Returns the items that are answered otherwise once all are counted, and how many there are.
fn changed_items(
    table: &Table<'_>,
    [before, now]: [&Subject; 2],
    shared: &[(&Unit, &Unit)],
    pairs: &[Pair],
    exceeded: &[u32],
    n_permutations: u32,
    level: f64,
) -> (Vec<SentinelItem>, u64) {
    let mut is_asked = vec![false; shared.len()];
    let mut may_change = vec![false; shared.len()];
    for pair in pairs.iter().filter(|pair| pair.is_repeated()) {
        is_asked[pair.unit] = true;
        may_change[pair.unit] |= pair.varies();
    }
    let asked: Vec<usize> = (0..shared.len()).filter(|unit| is_asked[*unit]).collect();
    let p_of = |unit: usize| {
        if may_change[unit] { f64::from(exceeded[unit] + 1) / f64::from(n_permutations + 1) } else { 1.0 }
    };
    let p_values: Vec<f64> = asked.iter().map(|unit| p_of(*unit)).collect();
    let mut found: Vec<(f64, f64, usize)> = asked
        .iter()
        .zip(&p_values)
        .zip(benjamini_hochberg(&p_values))
        .filter(|(_, corrected)| *corrected < 1.0 - level)
        .map(|((unit, p), corrected)| (*p, corrected, *unit))
        .collect();
    found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.2.cmp(&b.2)));
    let n = found.len() as u64;
    let answers = |subject: &Subject, unit: &Unit| -> Vec<String> {
        let draws = subject.cells_of(unit).iter().flat_map(|cell| subject.draws[cell.draws.clone()].iter().copied());
        draws.take(MOST_ITEMS).map(|draw| table.answer_name(draw)).collect()
    };
    let listed = found.into_iter().take(MOST_ITEMS).map(|(p_value, p_corrected, unit)| {
        let (old, new) = shared[unit];
        let log = table.log;
        SentinelItem {
            item: log.items.name(old.item).to_owned(),
            dimension: (log.dimensions.len() > 1 && old.dimension != crate::log::NONE)
                .then(|| log.dimensions.name(old.dimension).to_owned()),
            before: answers(before, old),
            now: answers(now, new),
            p_value,
            p_corrected,
        }
    });
    (listed.collect(), n)
}
