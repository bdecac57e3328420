//! A plan from a log: its figures and where their variance comes from, and the gate held against studies drawn from it.

use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::cluster::ClusteredSums;
use crate::gate::{Gate, LimitState};
use crate::interval::Spread;
use crate::judgement::OutcomeKind;
use crate::log::{Log, NONE};
use crate::planning::assumed::{limits_of, supposed_others};
use crate::planning::components::{Components, Design, PairNoise};
use crate::planning::result::{Aim, Figure, Pilot, PilotComparison, Plan, Rule, Scenario, SimulatedGate, Wishes};
use crate::planning::{self, row};
use crate::problem::Problems;
use crate::proportion::wilson;

use super::accuracy::truth::{Accepts, is_right};
use super::catalogue::{Family, info};
use super::data::table::{Subject, Table, Unit};
use super::decision::redraw::{Orders, Redraw, Repeats};
use super::decision::rejudge::rejudge;
use super::estimate::{Estimated, Measured, Values};
use super::result::{Fitness, Unmeasured};
use super::{AuditConfig, AuditError, measure_all, outcome_kind, select};

/// Figures shown even where the gate has no limit on them.
const MAIN: [&str; 4] = ["accuracy", "false_accept_rate", "false_reject_rate", "flip_rate"];
const MOST_COMPARED: usize = 8;
const MOST_STUDIES: usize = 400;
const FEWEST_STUDIES: usize = 100;
/// Answers drawn in all for one design.
const MOST_DRAWS: u64 = 20_000_000;
/// What chance among 400 studies may take off the power.
const CHANCE: f64 = 0.02;
const STREAMS: u64 = 0x706c_616e << 32;

/// Plans a study like the log, for the first judge that `config` selects: closed forms first, then the gate itself on
/// simulated studies of the cheapest design.
///
/// The result depends on the arguments alone. Cost: some hundred audits of a log of that design.
///
/// # Errors
/// As [`super::audit`].
pub fn plan_study(log: &Log, config: &AuditConfig, gate: &Gate, wishes: &Wishes) -> Result<Plan, AuditError> {
    config.check()?;
    let kind = outcome_kind(log, config)?;
    let apart = super::anchors::told_apart(log);
    let mut table = Table::new(&apart, kind, config, &mut Problems::default());
    if table.is_weighted {
        return Err(AuditError::Weighted("a plan"));
    }
    let mut all = table.for_redraws(table.n_clusters);
    all.subjects.clone_from(&table.subjects);
    select(&mut table, config)?;
    let Some(subject) = table.subjects.first() else {
        return Err(AuditError::Empty(Some("no row is a judge's: all are ratings by people".to_owned())));
    };
    let pilot = pilot(&table, &all, subject, config, gate);
    let mut plan = planning::plan(pilot, wishes, &gate.name);
    plan.seed = config.seed;
    simulate(&mut plan, &table, subject, config, gate, wishes);
    Ok(plan)
}

fn pilot(table: &Table<'_>, all: &Table<'_>, subject: &Subject, config: &AuditConfig, gate: &Gate) -> Pilot {
    let measured = measure_all(table, subject, &subject.units, config);
    let n_items = super::count_distinct(subject.units.iter().map(|unit| unit.item));
    let accepts = Accepts::of(table, config);
    let maker = Maker { table, subject, measured: &measured, n_items: n_items as f64, level: config.level, accepts };
    let (mut figures, mut left_out, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    let mut fixed = Vec::new();
    for (id, _) in gate.limits.iter().filter(|(_, limit)| limit.is_for(table.kind)) {
        if info(id).is_some_and(|info| info.ungatable.is_some()) {
            continue;
        }
        let Some(figure) = maker.figure(id) else {
            let is_measured = measured.values.contains_key(id.as_str());
            let reason =
                if is_measured { "the pilot gives it no interval" } else { "it is no measure of such answers" };
            let known = measured.unmeasured.iter().find(|unmeasured| unmeasured.id == *id);
            left_out.push(known.cloned().unwrap_or_else(|| Unmeasured {
                id: id.clone(),
                reason: reason.to_owned(),
                needs: Vec::new(),
            }));
            continue;
        };
        if figure.components.is_fixed {
            fixed.push(id.as_str());
        }
        figures.extend(limits_of(gate, id).into_iter().map(|limit| Figure { limit: Some(limit), ..figure.clone() }));
    }
    let place = |figure: &Figure| super::catalogue::MEASURES.iter().position(|info| info.id == figure.measure);
    figures.sort_by_key(place);
    let others = MAIN.into_iter().filter(|id| !gate.limits.contains_key(*id)).filter_map(|id| maker.figure(id));
    figures.extend(others.collect::<Vec<_>>());
    figures.extend(maker.mean_score());
    if !fixed.is_empty() {
        notes.push(format!(
            "{}: taken to vary from item to item as in the pilot, however often an item is asked.",
            fixed.join(", ")
        ));
    }
    if table.subjects.len() > 1 {
        let text =
            "The log has several judges or arms; this plan is for the first. Name another with --judge or --arm.";
        notes.push(text.to_owned());
    }
    let repeats = usual_repeats(subject);
    let orders = if subject.units.iter().any(|unit| orders(subject, unit) > 1) { 2 } else { 1 };
    if repeats < 2 {
        let text = "Nothing was asked twice: what repeats would bring is unknown, so that more of them are planned to bring nothing.";
        notes.push(text.to_owned());
    }
    let log = table.log;
    Pilot {
        is_assumed: false,
        judge: (subject.judge != NONE).then(|| log.judges.name(subject.judge).to_owned()),
        arm: (subject.arm != NONE).then(|| log.arms.name(subject.arm).to_owned()),
        n_items,
        n_clusters: super::count_distinct(subject.units.iter().map(|unit| unit.cluster)),
        n_judgements: subject.draws.len() as u64,
        repeats,
        orders,
        comparisons: comparisons(all, subject, &maker, &measured),
        figures,
        left_out,
        price: (log.price.1 > 0).then(|| log.price.0 / log.price.1 as f64),
        notes,
    }
}

/// Returns the commonest number of answers of a cell.
fn usual_repeats(subject: &Subject) -> u32 {
    let mut lengths: Vec<usize> = subject.cells.iter().map(super::data::table::Cell::len).collect();
    lengths.sort_unstable();
    let commonest = lengths.chunk_by(|a, b| a == b).max_by_key(|alike| alike.len());
    commonest.map_or(1, |alike| u32::try_from(alike[0]).unwrap_or(u32::MAX)).max(1)
}

fn orders(subject: &Subject, unit: &Unit) -> usize {
    subject.cells_of(unit).iter().filter(|cell| cell.order.is_some()).count()
}

/// The value of an answer, or `None` where the measure leaves it out.
type DrawValue<'a> = Box<dyn Fn(&Unit, f64) -> Option<f64> + 'a>;

struct Maker<'a> {
    table: &'a Table<'a>,
    subject: &'a Subject,
    measured: &'a Measured,
    n_items: f64,
    level: f64,
    accepts: Option<Accepts>,
}

impl Maker<'_> {
    fn figure(&self, id: &str) -> Option<Figure> {
        self.of(id, self.measured.values.get(id)?)
    }

    /// The mean score is no measure of the judge, but what repeats of scores narrow first.
    fn mean_score(&self) -> Option<Figure> {
        if self.table.kind != OutcomeKind::Score {
            return None;
        }
        let mut values = Values::default();
        for unit in &self.subject.units {
            let n = self.subject.parsed_of(unit).count();
            if n > 0 {
                values.push(unit, self.subject.parsed_of(unit).map(|draw| draw / n as f64).sum(), n);
            }
        }
        self.of("mean_score", &values.mean("", [f64::NEG_INFINITY, f64::INFINITY], None)?)
    }

    fn of(&self, id: &str, value: &Estimated) -> Option<Figure> {
        let ends = |level: f64| {
            let interval = value.spread.interval(value.estimate, level)?;
            (interval.low.is_finite() && interval.high.is_finite()).then_some([interval.low, interval.high])
        };
        let ends_95 = ends(self.level)?;
        let n = value.n_items as f64;
        let (rule, variance) = if let Spread::Proportion(proportion) = value.spread {
            (Rule::Rate, proportion.variance)
        } else {
            // The half width at this level stands for t standard errors.
            let degrees = value.n_clusters as f64 - 1.0;
            let t = crate::distribution::t_quantile(0.5 + self.level / 2.0, degrees.max(1.0));
            (Rule::Mean, ((ends_95[1] - ends_95[0]) / (2.0 * t)).powi(2))
        };
        let of_item = variance * n;
        if !of_item.is_finite() || n < 2.0 {
            return None;
        }
        let components = match self.draw_value(id) {
            Some(value_of) => self.components(&value_of, of_item)?,
            None if id == "flip_rate" => self.flips(value.estimate, of_item),
            None => Components { between_items: of_item, is_fixed: true, ..Components::default() },
        };
        let family = info(id).map(|info| info.family);
        let in_both = ["swap_consistency", "accuracy_both_orders", "accuracy_ba"].contains(&id);
        let by_order = in_both || (family == Some(Family::Position) && id != "place_slope");
        Some(Figure {
            measure: id.to_owned(),
            limit: None,
            truth: value.estimate,
            ends: ends_95,
            ends_90: ends(0.9)?,
            rule,
            class_share: (n / self.n_items).min(1.0),
            items_per_group: (n / value.n_clusters as f64).max(1.0),
            components,
            needs_repeats: if family == Some(Family::Stability) || id == "position_excess" { 2 } else { 1 },
            needs_orders: if by_order { 2 } else { 1 },
        })
    }

    /// What an answer adds to a mean over answers, for measures that are such means.
    fn draw_value(&self, id: &str) -> Option<DrawValue<'_>> {
        let share = |is: bool| f64::from(u8::from(is));
        let right = is_right(self.table, self.accepts);
        let accepts = self.accepts;
        let error = move |label: bool| -> DrawValue<'_> {
            Box::new(move |unit: &Unit, draw: f64| {
                let of_label = unit.truth.good == Some(label) && !draw.is_nan();
                of_label.then(|| accepts.map(|accepts| share(accepts.accepts(draw) != label))).flatten()
            })
        };
        Some(match id {
            "accuracy" => Box::new(move |unit, draw| right(unit, draw).filter(|_| !draw.is_nan()).map(share)),
            "false_accept_rate" => error(false),
            "false_reject_rate" => error(true),
            "unparsed_rate" => Box::new(move |_, draw: f64| Some(share(draw.is_nan()))),
            "mean_score" => Box::new(|_, draw: f64| (!draw.is_nan()).then_some(draw)),
            "mean_error" => {
                Box::new(|unit: &Unit, draw: f64| unit.truth.value.map(|label| draw - label).filter(|x| x.is_finite()))
            }
            _ => return None,
        })
    }

    /// Parts the variance of an item's mean by moments (Searle, Casella & `McCulloch` 1992, 4.1 and 5.2, for unbalanced data with items
    /// weighing equally). `of_item` is what it is with groups reckoned in. Parts that come out below 0 are 0.
    fn components(&self, value_of: &DrawValue<'_>, of_item: f64) -> Option<Components> {
        let subject = self.subject;
        let (mut squares, mut degrees) = (0.0, 0.0);
        // By unit: its mean, the share of the noise of one answer that is left in it, and how much orders count.
        let mut units: Vec<[f64; 3]> = Vec::new();
        let mut gaps: Vec<[f64; 2]> = Vec::new();
        for unit in &subject.units {
            // By cell: its mean and its answers.
            let mut cells: Vec<[f64; 2]> = Vec::new();
            for cell in subject.cells_of(unit) {
                let values = subject.draws[cell.draws.clone()].iter().filter_map(|&draw| value_of(unit, draw));
                let (sum, n) = values.clone().fold((0.0, 0.0), |(sum, n), value| (sum + value, n + 1.0));
                if n > 0.0 {
                    let mean: f64 = sum / n;
                    squares += values.map(|value| (value - mean).powi(2)).sum::<f64>();
                    degrees += n - 1.0;
                    cells.push([mean, n]);
                }
            }
            let n: f64 = cells.iter().map(|[_, n]| n).sum();
            if n > 0.0 {
                let mean = cells.iter().map(|[mean, k]| mean * k).sum::<f64>() / n;
                let orders = cells.iter().map(|[_, k]| (k / n).powi(2)).sum();
                units.push([mean, 1.0 / n, orders]);
            }
            if let ([[first, k1], [second, k2]], 2) = (cells.as_slice(), orders(subject, unit)) {
                gaps.push([first - second, 1.0 / k1 + 1.0 / k2]);
            }
        }
        let n = units.len() as f64;
        if n < 2.0 {
            return None;
        }
        let mean_of = |column: usize| units.iter().map(|unit| unit[column]).sum::<f64>() / n;
        let within = if degrees > 0.0 { squares / degrees } else { 0.0 };
        // A shift common to all items is no noise: gaps vary around their mean.
        let n_gaps = gaps.len() as f64;
        let between_orders = if n_gaps >= 2.0 {
            let mean = gaps.iter().map(|[gap, _]| gap / n_gaps).sum::<f64>();
            let variance = gaps.iter().map(|[gap, _]| (gap - mean).powi(2)).sum::<f64>() / (n_gaps - 1.0);
            let noise = gaps.iter().map(|[_, noise]| noise / n_gaps).sum::<f64>();
            ((variance - within * noise) / 2.0).max(0.0)
        } else {
            0.0
        };
        let mean = mean_of(0);
        let seen = units.iter().map(|[value, ..]| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let noise = within * mean_of(1) + between_orders * mean_of(2);
        let clusters = super::count_distinct(subject.units.iter().map(|unit| unit.cluster)) as f64;
        let per_group = (n / clusters).max(1.0);
        // What groups add to the variance of the mean.
        let between_groups = if per_group > 1.01 { ((of_item - seen) / (per_group - 1.0)).max(0.0) } else { 0.0 };
        let between_items = (seen - noise - between_groups).max(0.0);
        Some(Components { between_groups, between_items, between_orders, within, ..Components::default() })
    }

    /// Parts the variance of an item's flip rate: E[θ²] from what is seen at the pilot's number of answers.
    fn flips(&self, rate: f64, of_item: f64) -> Components {
        let k = f64::from(usual_repeats(self.subject)).max(2.0);
        let weight = 2.0 / (k * (k - 1.0));
        let left = 1.0 - weight * (2.0 * (k - 2.0) + 1.0);
        let most = rate / 2.0;
        let square = if left > 1e-9 {
            // Solved for E[θ²]: the variance seen is that between items and that of the pairs.
            ((of_item + rate * rate - weight * ((k - 2.0) * rate + rate)) / left)
                .clamp(rate * rate, most.max(rate * rate))
        } else {
            // One pair an item says nothing of it: then the most there can be, with which repeats bring the least.
            most.max(rate * rate)
        };
        Components {
            between_items: (square - rate * rate).max(0.0),
            pairs: Some(PairNoise::of_moments(rate, square)),
            ..Components::default()
        }
    }
}

/// The judge against the others on the items they share, or against judges that could be.
fn comparisons(all: &Table<'_>, subject: &Subject, maker: &Maker<'_>, measured: &Measured) -> Vec<PilotComparison> {
    let Some(accuracy) = measured.values.get("accuracy") else { return Vec::new() };
    let others = all.subjects.iter().filter(|other| (other.judge, other.arm) != (subject.judge, subject.arm));
    let found: Vec<PilotComparison> =
        others.filter_map(|other| compared(all, subject, other, maker.accepts)).take(MOST_COMPARED).collect();
    if !found.is_empty() {
        return found;
    }
    let noise = maker.figure("accuracy").map_or(0.0, |figure| 2.0 * figure.components.within);
    supposed_others(accuracy.estimate, noise)
}

fn compared(table: &Table<'_>, a: &Subject, b: &Subject, accepts: Option<Accepts>) -> Option<PilotComparison> {
    let right = is_right(table, accepts);
    let share = |subject: &Subject, unit: &Unit| {
        let right = |draw: f64| right(unit, draw).map(|right| f64::from(u8::from(right)));
        let (sum, n) =
            subject.parsed_of(unit).filter_map(right).fold((0.0, 0.0), |(sum, n), value| (sum + value, n + 1.0));
        (n > 0.0).then(|| sum / n)
    };
    let mut sums = ClusteredSums::default();
    let mut discordance = 0.0;
    let mut units = b.units.iter().peekable();
    for unit in &a.units {
        while units.next_if(|other| other.place() < unit.place()).is_some() {}
        let Some(other) = units.peek().filter(|other| other.place() == unit.place()) else { continue };
        let (Some(first), Some(second)) = (share(a, unit), share(b, other)) else { continue };
        discordance += first * (1.0 - second) + second * (1.0 - first);
        sums.push(crate::cluster::UnitValue { value: first - second, weight: 1.0, cluster: unit.cluster });
    }
    let mean = sums.mean().filter(|mean| mean.n_units >= 2)?;
    let n = mean.n_units as f64;
    let judge = if b.judge == NONE { "" } else { table.log.judges.name(b.judge) };
    let arm = if b.arm == NONE { String::new() } else { format!(" ({})", table.log.arms.name(b.arm)) };
    Some(PilotComparison {
        other: format!("{judge}{arm}"),
        difference: Some(mean.estimate),
        discordance: discordance / n,
        variance: Some(mean.variance * n).filter(|variance| variance.is_finite()),
    })
}

/// Holds the gate against studies drawn from the pilot, and takes more items where the closed form promised too much.
fn simulate(plan: &mut Plan, table: &Table<'_>, subject: &Subject, config: &AuditConfig, gate: &Gate, wishes: &Wishes) {
    let Some(redraw) = Redraw::new(table, subject) else {
        plan.notes.push("Without repeats the gate was not simulated: the plan rests on closed forms.".to_owned());
        return;
    };
    let planned = |id: &str| plan.pilot.figures.iter().any(|figure| figure.measure == id && figure.limit.is_some());
    let mut only_planned = gate.clone();
    only_planned.limits.retain(|id, _| planned(id));
    let chosen = &mut plan.chosen[0];
    debug_assert_eq!(chosen.scenario, Scenario::Estimate);
    let Some(row_now) = &chosen.row else { return };
    let mut design = row_now.design;
    for _ in 0..8 {
        if design.judgements() * FEWEST_STUDIES as u64 > MOST_DRAWS {
            let text = format!(
                "A study of {} judgements was not simulated: the plan rests on closed forms.",
                design.judgements()
            );
            plan.notes.push(text);
            return;
        }
        let simulated = studies(table, &redraw, config, &only_planned, design, chosen.aim, wishes.power);
        let is_enough = simulated.is_enough;
        chosen.simulated = Some(simulated);
        if is_enough {
            break;
        }
        design.n_items += (design.n_items / 8).max(2);
    }
    if design != row_now.design && chosen.simulated.as_ref().is_some_and(|simulated| simulated.is_enough) {
        chosen.says = Some(format!(
            "the closed form found {} items enough; the gate itself, on simulated studies, took {}",
            row_now.design.n_items, design.n_items
        ));
        chosen.row = Some(row(&plan.pilot, wishes, design, Scenario::Estimate));
    }
}

fn studies(
    table: &Table<'_>,
    redraw: &Redraw<'_>,
    config: &AuditConfig,
    gate: &Gate,
    design: Design,
    aim: Aim,
    wanted: f64,
) -> SimulatedGate {
    let draws = design.judgements().max(1);
    let n = usize::try_from(MOST_DRAWS / draws).unwrap_or(MOST_STUDIES).clamp(FEWEST_STUDIES, MOST_STUDIES);
    let orders = if design.orders > 1 { Orders::All } else { Orders::One };
    let (n_items, repeats) = (usize::try_from(design.n_items).unwrap_or(usize::MAX), design.repeats as usize);
    let base = ChaCha8Rng::seed_from_u64(config.seed);
    let results: Vec<(bool, Vec<(String, bool)>)> = (0..n as u64)
        .into_par_iter()
        .map(|study| {
            let mut rng = base.clone();
            rng.set_stream(STREAMS + study);
            let (subject, n_clusters) = redraw.others(&mut rng, n_items, Repeats::Each(repeats), orders);
            let judged = rejudge(&table.for_redraws(n_clusters), &subject, config, gate);
            let of_limit =
                |state| if aim == Aim::Unfit { state == LimitState::Broken } else { state == LimitState::Met };
            let limits: Vec<(String, bool)> =
                judged.limits.into_iter().map(|limit| (limit.measure, of_limit(limit.state))).collect();
            let is_decided =
                if aim == Aim::Unfit { judged.fitness == Fitness::Unfit } else { limits.iter().all(|(_, met)| *met) };
            (is_decided, limits)
        })
        .collect();
    let total = n as f64;
    let hits = results.iter().filter(|(is_decided, _)| *is_decided).count() as f64;
    let by_limit = results.first().map(|(_, limits)| {
        let of = |(idx, (measure, _)): (usize, &(String, bool))| {
            let met = results.iter().filter(|(_, limits)| limits[idx].1).count() as f64;
            (measure.clone(), met / total)
        };
        limits.iter().enumerate().map(of).collect()
    });
    let power = hits / total;
    SimulatedGate {
        design,
        n_studies: u32::try_from(n).unwrap_or(u32::MAX),
        power,
        power_interval: wilson(hits, total, 0.95).map_or([0.0, 1.0], |interval| [interval.low, interval.high]),
        by_limit: by_limit.unwrap_or_default(),
        is_enough: power >= wanted - CHANCE,
    }
}
