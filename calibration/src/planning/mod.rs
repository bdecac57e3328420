//! Planning a study: how many items, how often each, and what that decides.
//!
//! A pilot (or assumptions) says where variance comes from ([`components`]); from it follow intervals and the power of each
//! limit ([`power`]), of all of them together, the cheapest design, and what a comparison of judges takes ([`comparing`]).
//! Nothing is read or drawn here; `audit::plan` makes the pilot from a log and simulates the gate on it.

pub mod assumed;
pub mod comparing;
pub mod components;
pub mod power;
pub mod result;

use crate::audit::catalogue::{Family, info};

use components::{Design, best_repeats};
use power::{LimitSide, ON_LIMIT, Sample, items_for_rate, mean_power, rate_power, share_with_event};
use result::{
    Aim, Alone, BestRepeats, Chosen, ComparisonPlan, DesignRow, Expected, Figure, Pilot, Plan, PlannedLimit, Rule,
    SCHEMA, Scenario, Wishes,
};

/// Answers of an item that are tried.
pub const REPEATS: [u32; 5] = [1, 2, 3, 5, 8];
/// Items that are listed.
pub const ITEMS: [u64; 9] = [25, 50, 100, 200, 400, 800, 1_600, 3_200, 6_400];
/// More items than this are no plan.
const MOST_ITEMS: u64 = 1_000_000;
/// The weights of three points of an uncertain value, the ends of its 90 % interval and its middle (Keefer & Bodily 1983, after
/// Pearson & Tukey 1965).
const THREE_POINTS: [f64; 3] = [0.185, 0.630, 0.185];

impl PlannedLimit {
    fn side(&self) -> LimitSide {
        if self.side == "min" { LimitSide::Min } else { LimitSide::Max }
    }

    /// Returns whether a value keeps the limit.
    #[must_use]
    pub fn is_kept(&self, value: f64) -> bool {
        if self.side == "min" { value >= self.value } else { value <= self.value }
    }
}

impl Figure {
    /// Returns the value planned for in a scenario.
    #[must_use]
    pub fn value(&self, scenario: Scenario) -> f64 {
        let is_min = self.limit.as_ref().is_some_and(|limit| limit.side == "min");
        let [low, high] = self.ends;
        match scenario {
            Scenario::Estimate => self.truth,
            Scenario::BetterEnds => {
                if is_min {
                    high
                } else {
                    low
                }
            }
            Scenario::WorseEnds => {
                if is_min {
                    low
                } else {
                    high
                }
            }
        }
    }

    /// Returns the figure under a design, were the truth `truth`. `None` where the design does not measure it.
    fn sample(&self, design: &Design, truth: f64) -> Option<Sample> {
        if design.repeats < self.needs_repeats || design.orders < self.needs_orders {
            return None;
        }
        let mut n = design.n_items as f64 * self.class_share;
        let per_group = self.items_per_group.max(1.0);
        if self.rule == Rule::Rate && (truth <= 0.0 || truth >= 1.0) {
            // What never fails is shown by whole clusters: half a one adds nothing.
            n = (n / per_group + 1e-9).floor() * per_group;
        }
        if n < 1.0 {
            return None;
        }
        let of_item = self.item_variance(design, truth)?;
        let answers = f64::from(design.repeats) * f64::from(design.orders);
        let spread = truth * (1.0 - truth);
        // The correlation of an item's answers, from what its mean varies by.
        let icc = if spread > 0.0 && answers > 1.0 {
            ((of_item / spread).min(1.0) * answers - 1.0).max(0.0) / (answers - 1.0)
        } else {
            1.0
        };
        let show = |p: f64| share_with_event(p, icc, answers, per_group);
        Some(Sample {
            truth,
            variance: of_item / n,
            n_clusters: (n / per_group).max(1.0),
            n_judgements: n * answers,
            clusters_that_show: if self.rule == Rule::Rate { [show(truth), show(1.0 - truth)] } else { [1.0; 2] },
        })
    }

    /// Returns the variance of an item's figure. That of a rate goes with p(1 − p).
    fn item_variance(&self, design: &Design, truth: f64) -> Option<f64> {
        let variance = self.components.of_item(design, self.items_per_group)?;
        if self.rule == Rule::Mean {
            return Some(variance);
        }
        let spread = |p: f64| p * (1.0 - p);
        Some(match (spread(self.truth), spread(truth)) {
            // Nothing was seen to vary: an item counts for one answer, however often it is asked.
            (seen, planned) if seen <= 0.0 => planned.max(0.0),
            (seen, planned) => variance * planned.max(0.0) / seen,
        })
    }

    /// Returns the interval to expect.
    fn interval(&self, design: &Design, truth: f64, level: f64) -> Option<[f64; 2]> {
        let sample = self.sample(design, truth)?;
        let interval = match self.rule {
            Rule::Rate => sample.rate_interval(level)?,
            Rule::Mean => sample.mean_interval(level)?,
        };
        Some([interval.low, interval.high])
    }

    /// Returns the power of its limit. `None` without a limit, or where the design does not measure it.
    fn power(&self, design: &Design, truth: f64, level: f64) -> Option<f64> {
        let limit = self.limit.as_ref()?;
        let sample = self.sample(design, truth)?;
        Some(match self.rule {
            Rule::Rate => rate_power(&sample, limit.value, limit.side(), level),
            Rule::Mean => mean_power(&sample, limit.value, level),
        })
    }

    /// Returns how often its limit is met, the truth being as uncertain as the pilot left it.
    fn assurance(&self, design: &Design, level: f64) -> Option<f64> {
        let limit = self.limit.as_ref()?;
        let points = [self.ends_90[0], self.truth, self.ends_90[1]];
        points.into_iter().zip(THREE_POINTS).try_fold(0.0, |sum, (truth, weight)| {
            let met = if limit.is_kept(truth) { self.power(design, truth, level)? } else { 0.0 };
            Some(sum + weight * met)
        })
    }
}

fn limited(pilot: &Pilot) -> impl Iterator<Item = (&Figure, &PlannedLimit)> + Clone {
    pilot.figures.iter().filter_map(|figure| Some((figure, figure.limit.as_ref()?)))
}

/// Returns what the gate would say, were the figures those of the scenario.
#[must_use]
pub fn aim(pilot: &Pilot, scenario: Scenario) -> Aim {
    let values = || limited(pilot).map(|(figure, limit)| (figure.value(scenario), limit));
    let is_past = |value: f64, limit: &PlannedLimit| !limit.is_kept(value) && (value - limit.value).abs() > ON_LIMIT;
    if values().any(|(value, limit)| is_past(value, limit)) {
        Aim::Unfit
    } else if values().next().is_none() || values().any(|(value, limit)| (value - limit.value).abs() <= ON_LIMIT) {
        Aim::Neither
    } else {
        Aim::Fit
    }
}

/// How often the gate decides: together, and at least.
fn joint(pilot: &Pilot, design: &Design, scenario: Scenario, level: f64) -> Option<(f64, f64)> {
    let n_limits = limited(pilot).count() as f64;
    match aim(pilot, scenario) {
        Aim::Neither => Some((0.0, 0.0)),
        Aim::Fit => {
            let mut powers = limited(pilot).map(|(figure, _)| figure.power(design, figure.value(scenario), level));
            powers.try_fold((1.0, 1.0), |(all, least), power| Some((all * power?, f64::max(least + power? - 1.0, 0.0))))
        }
        Aim::Unfit => {
            // The first step of Holm's correction: one p value of all.
            let strict = 1.0 - (1.0 - level) / n_limits;
            let broken = limited(pilot).filter(|(figure, limit)| !limit.is_kept(figure.value(scenario)));
            let (mut none, mut most) = (1.0, 0.0_f64);
            for (figure, _) in broken {
                let power = figure.power(design, figure.value(scenario), strict)?;
                none *= 1.0 - power;
                most = most.max(power);
            }
            Some((1.0 - none, most))
        }
    }
}

/// Returns what a design gives, were the figures those of the scenario.
#[must_use]
pub fn row(pilot: &Pilot, wishes: &Wishes, design: Design, scenario: Scenario) -> DesignRow {
    let level = wishes.level;
    let figures = pilot.figures.iter().map(|figure| Expected {
        measure: figure.measure.clone(),
        interval: figure.interval(&design, figure.value(scenario), level),
        power: figure.power(&design, figure.value(scenario), level),
    });
    let joint = joint(pilot, &design, scenario, level);
    let assurance = limited(pilot).try_fold(1.0, |all, (figure, _)| Some(all * figure.assurance(&design, level)?));
    DesignRow {
        design,
        judgements: design.judgements(),
        cost: wishes.costs.of(&design),
        figures: figures.collect(),
        joint_power: joint.map(|(power, _)| power),
        joint_power_at_least: joint.map(|(_, power)| power),
        assurance: assurance.filter(|_| limited(pilot).next().is_some()),
    }
}

/// Returns the fewest items of up to a million with which `is_enough` holds, and holds for a few more.
fn fewest(is_enough: impl Fn(u64) -> bool) -> Option<u64> {
    let mut high = 8_u64;
    while !is_enough(high) {
        high *= 2;
        if high > MOST_ITEMS {
            return None;
        }
    }
    let mut low = high / 2;
    while high - low > 1 {
        let middle = u64::midpoint(low, high);
        if is_enough(middle) { high = middle } else { low = middle }
    }
    Some(high)
}

/// Returns the cheapest design that decides the gate with the power wanted, were the figures those of the scenario.
#[must_use]
pub fn cheapest(pilot: &Pilot, wishes: &Wishes, scenario: Scenario) -> Option<DesignRow> {
    let mut best: Option<DesignRow> = None;
    for orders in 1..=pilot.orders.max(1) {
        for repeats in REPEATS {
            let design = |n_items| Design { n_items, repeats, orders };
            let is_enough = |n_items| {
                joint(pilot, &design(n_items), scenario, wishes.level).is_some_and(|(power, _)| power >= wishes.power)
            };
            let Some(n_items) = fewest(is_enough) else { continue };
            let row = row(pilot, wishes, design(n_items), scenario);
            // Of equal costs the fewer judgements.
            let price = |row: &DesignRow| (row.cost, row.judgements);
            if best.as_ref().is_none_or(|best| price(&row) < price(best)) {
                best = Some(row);
            }
        }
    }
    best
}

fn chosen(pilot: &Pilot, wishes: &Wishes, scenario: Scenario) -> Chosen {
    let aim = aim(pilot, scenario);
    let row = if aim == Aim::Neither { None } else { cheapest(pilot, wishes, scenario) };
    let on_limit: Vec<&str> = limited(pilot)
        .filter(|(figure, limit)| (figure.value(scenario) - limit.value).abs() <= ON_LIMIT)
        .map(|(figure, _)| info(&figure.measure).map_or(figure.measure.as_str(), |info| info.title))
        .collect();
    let says = match (aim, &row) {
        (Aim::Neither, _) if on_limit.is_empty() => Some("the gate has no limit that can be planned".to_owned()),
        (Aim::Neither, _) => {
            Some(format!("{} would lie on its limit: no number of items decides", on_limit.join(", ")))
        }
        (_, None) => Some("no design of up to a million items reaches the power wanted".to_owned()),
        _ => None,
    };
    Chosen { scenario, aim, row, says, simulated: None }
}

fn alone(pilot: &Pilot, wishes: &Wishes, repeats: u32, orders: u32) -> Vec<Alone> {
    let of = |(figure, limit): (&Figure, &PlannedLimit)| {
        let design = |n_items| Design {
            n_items,
            repeats: repeats.max(figure.needs_repeats),
            orders: orders.max(figure.needs_orders),
        };
        let items = |truth: f64| {
            fewest(|n| figure.power(&design(n), truth, wishes.level).is_some_and(|power| power >= wishes.power))
        };
        let formula = || {
            let variance = figure.item_variance(&design(1), figure.truth)?;
            let n = items_for_rate(figure.truth, limit.value, variance, wishes.level, wishes.power)?;
            let n = (n / figure.class_share).ceil();
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most a million")]
            (n <= MOST_ITEMS as f64).then_some(n as u64)
        };
        Alone {
            measure: figure.measure.clone(),
            side: limit.side.clone(),
            limit: limit.value,
            truth: figure.truth,
            ends: figure.ends,
            n_items: [figure.truth, figure.ends[0], figure.ends[1]].map(items),
            by_formula: (figure.rule == Rule::Rate).then(formula).flatten(),
        }
    };
    limited(pilot).map(of).collect()
}

fn comparisons(pilot: &Pilot, wishes: &Wishes) -> Vec<ComparisonPlan> {
    let (level, power) = (wishes.level, wishes.power);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most a million")]
    let whole = |n: f64| (n.ceil() <= MOST_ITEMS as f64).then_some(n.ceil() as u64);
    let of = |pair: &result::PilotComparison| ComparisonPlan {
        other: pair.other.clone(),
        discordance: pair.discordance,
        difference: pair.difference,
        items_to_show: pair
            .difference
            .and_then(|difference| comparing::connor_items(difference, pair.discordance, level, power))
            .and_then(whole),
        items_to_show_by_means: pair.difference.zip(pair.variance).and_then(|(difference, variance)| {
            let size = comparing::detectable_mean_difference(variance.sqrt(), level, power);
            whole((size / difference).powi(2).max(2.0)).filter(|_| difference != 0.0)
        }),
        detectable: ITEMS
            .into_iter()
            .map(|n| (n, comparing::detectable_difference(n as f64, pair.discordance, level, power)))
            .collect(),
    };
    pilot.comparisons.iter().map(of).collect()
}

/// Returns the plan: closed forms only.
///
/// Undefined cases are said in words where they stand: a figure on its limit, a limit that no design decides.
#[must_use]
pub fn plan(pilot: Pilot, wishes: &Wishes, gate: &str) -> Plan {
    let rests_on_labels = |figure: &Figure| info(&figure.measure).is_some_and(|info| info.family == Family::Truth);
    let mut wishes = wishes.clone();
    if !pilot.figures.iter().any(rests_on_labels) {
        // Nothing planned takes a label.
        wishes.costs.label = 0.0;
        wishes.costs.basis =
            format!("no label, since nothing planned rests on labels, and a judgement {}", wishes.costs.call);
    }
    let wishes = &wishes;
    let chosen: Vec<Chosen> = if pilot.is_assumed {
        vec![chosen(&pilot, wishes, Scenario::Estimate)]
    } else {
        [Scenario::Estimate, Scenario::BetterEnds, Scenario::WorseEnds]
            .into_iter()
            .map(|scenario| chosen(&pilot, wishes, scenario))
            .collect()
    };
    let picked = chosen.first().and_then(|chosen| chosen.row.as_ref()).map(|row| row.design);
    let (repeats, orders) = picked.map_or((pilot.repeats, pilot.orders), |design| (design.repeats, design.orders));
    let mut designs = Vec::new();
    for n_items in ITEMS {
        for orders in 1..=pilot.orders.max(1) {
            designs.extend(
                REPEATS.map(|repeats| row(&pilot, wishes, Design { n_items, repeats, orders }, Scenario::Estimate)),
            );
        }
    }
    let best = pilot.figures.iter().filter_map(|figure| {
        let is_mean = figure.components.pairs.is_none() && figure.components.within > 0.0;
        let repeats = best_repeats(wishes.costs.label, wishes.costs.call, &figure.components).filter(|_| is_mean)?;
        Some(BestRepeats {
            measure: figure.measure.clone(),
            variance_ratio: figure.components.within / figure.components.between(),
            repeats,
        })
    });
    Plan {
        schema: SCHEMA.to_owned(),
        version: String::new(),
        source: Vec::new(),
        gate: gate.to_owned(),
        level: wishes.level,
        power: wishes.power,
        seed: 0,
        costs: wishes.costs.clone(),
        alone: alone(&pilot, wishes, repeats, orders),
        best_repeats: best.collect(),
        comparisons: comparisons(&pilot, wishes),
        notes: pilot.notes.clone(),
        designs,
        chosen,
        pilot,
    }
}
