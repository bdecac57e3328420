//! The gate applied: each limit met, broken or undecided, and what that makes of the judge.

use std::collections::BTreeMap;

use crate::distribution::normal_quantile;
use crate::gate::{Gate, LimitResult, LimitState};
use crate::interval::Spread;
use crate::judgement::OutcomeKind;
use crate::paired::holm;
use crate::planning::power::clusters_without_event;
use crate::proportion::Interval;

use super::findings::per_cent;
use crate::audit::catalogue::{Better, Family, MeasureInfo, Unit, info};
use crate::audit::decision::gate_ends::{Doubt, GateEnds};
use crate::audit::estimate::{Estimated, Measured};
use crate::audit::result::Fitness;

/// The power with which a stated number of further items decides.
const POWER: f64 = 0.8;
/// More further items than this are as good as none.
const MOST_FURTHER_ITEMS: f64 = 1e7;

/// The sides a limit may have.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Side {
    Min,
    Max,
}

impl Side {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Min => "min",
            Self::Max => "max",
        }
    }
}

/// Evidence on a limit that is valid at all looks together, to be used instead of the interval of one look.
pub(crate) struct Watched {
    /// p value of the limit being missed, unparsed replies counted against the judge.
    pub p_met: f64,
    /// p value of the limit being kept.
    pub p_broken: f64,
    pub estimate: Option<f64>,
    pub interval: Option<Interval>,
    /// What going on is worth, where that is known.
    pub outlook: Option<String>,
}

/// A limit on one side, with what the data say of it.
struct Trial<'a> {
    id: &'a str,
    side: Side,
    limit: f64,
    required: bool,
    value: Option<&'a Estimated>,
    watched: Option<&'a Watched>,
    /// One-sided p value of the limit being kept.
    p_broken: Option<f64>,
}

/// Returns the verdict on a judge, why, and the result of each limit.
pub(crate) fn decide(
    gate: &Gate,
    measured: &Measured,
    kind: OutcomeKind,
    level: f64,
    watched: Option<&BTreeMap<(String, Side), Watched>>,
) -> (Fitness, String, Vec<LimitResult>) {
    let mut trials: Vec<Trial<'_>> = Vec::new();
    for (id, limit) in gate.limits.iter().filter(|(_, limit)| limit.is_for(kind)) {
        let value = measured.values.get(id.as_str());
        for (side, limit_value) in [(Side::Min, limit.min), (Side::Max, limit.max)] {
            let Some(limit_value) = limit_value else { continue };
            let watched_limit = watched.and_then(|watched| watched.get(&(id.clone(), side)));
            let p_broken = value.and_then(|value| match (watched, side) {
                (Some(_), _) => watched_limit.map(|watched| watched.p_broken),
                (None, Side::Max) => GateEnds::of(id, value).p_at_most(limit_value),
                (None, Side::Min) => GateEnds::of(id, value).p_at_least(limit_value),
            });
            let required = limit.required;
            trials.push(Trial { id, side, limit: limit_value, required, value, watched: watched_limit, p_broken });
        }
    }
    correct(&mut trials);
    let alpha = (1.0 - level) / 2.0;
    let mut results: Vec<LimitResult> = trials.iter().map(|trial| apply(trial, measured, level, alpha)).collect();
    let order = |id: &str| crate::audit::catalogue::MEASURES.iter().position(|measure| measure.id == id);
    results.sort_by_key(|result| order(&result.measure));
    let (fitness, why) = conclude(gate, measured, &trials, &results);
    (fitness, why, results)
}

/// Replaces p values by Holm's, over the limits that could be measured.
fn correct(trials: &mut [Trial<'_>]) {
    let p_values: Vec<f64> = trials.iter().map(|trial| trial.p_broken.unwrap_or(f64::NAN)).collect();
    for (trial, adjusted) in trials.iter_mut().zip(holm(&p_values)) {
        trial.p_broken = (!adjusted.is_nan()).then_some(adjusted);
    }
}

fn apply(trial: &Trial<'_>, measured: &Measured, level: f64, alpha: f64) -> LimitResult {
    let mut result = LimitResult {
        measure: trial.id.to_owned(),
        side: trial.side.name().to_owned(),
        limit: trial.limit,
        state: LimitState::Unmeasured,
        why: why_unmeasured(trial.id, measured),
        p_broken: trial.p_broken,
        further_items: None,
        further_items_range: None,
    };
    let Some(value) = trial.value else { return result };
    let unit = info(trial.id).map_or(Unit::Coefficient, |info| info.unit);
    let shown = |number: f64| show(number, unit);
    let limit = shown(trial.limit);
    if let Some(reason) = info(trial.id).and_then(|info| info.ungatable) {
        result.why = format!("no gate can rest on it: {reason}");
        return result;
    }
    if let Some(watched) = trial.watched {
        (result.state, result.why) = apply_watched(trial, watched, unit, alpha);
        return result;
    }
    let Some(interval) = value.spread.interval(value.estimate, level) else {
        result.state = LimitState::Undecided;
        result.why = format!("{} has no interval in these data", shown(value.estimate));
        return result;
    };
    let is_kept_by = |interval: Interval| match trial.side {
        Side::Min => interval.low >= trial.limit,
        Side::Max => interval.high <= trial.limit,
    };
    let keeps = |estimated: &Estimated| GateEnds::of(trial.id, estimated).interval(level).is_some_and(is_kept_by);
    let (bound, other, word) = match trial.side {
        Side::Min => (interval.low, interval.high, "at least"),
        Side::Max => (interval.high, interval.low, "at most"),
    };
    let figures = format!("{} [{}, {}]", shown(value.estimate), shown(interval.low), shown(interval.high));
    if trial.p_broken.is_some_and(|p| p < alpha) {
        result.state = LimitState::Broken;
        result.why = format!("{figures}: even the better end, {}, is not {word} {limit}", shown(other));
        return result;
    }
    if keeps(value) {
        if let Some(worst) = value.worst.as_deref().filter(|worst| !keeps(worst)) {
            result.state = LimitState::Undecided;
            let interval = worst.spread.interval(worst.estimate, level);
            let ends =
                interval.map_or_else(String::new, |ends| format!(" [{}, {}]", shown(ends.low), shown(ends.high)));
            result.why = format!(
                "because of unparsed replies: {figures} is {word} {limit}, but with every unparsed reply counted against \
                 the judge it is {}{ends}; ask again for those replies",
                shown(worst.estimate)
            );
            let is_kept = |truth: f64| match trial.side {
                Side::Min => truth >= trial.limit,
                Side::Max => truth <= trial.limit,
            };
            // More items of the same kind have as many unparsed replies among them.
            let further = |truth: f64| further_items(worst, unit, truth, trial.limit, level).filter(|_| is_kept(truth));
            result.further_items = further(worst.estimate);
            result.further_items_range = interval.map(|ends| [further(ends.low), further(ends.high)]);
            return result;
        }
        result.state = LimitState::Met;
        result.why = format!("{figures}: even the worse end, {}, is {word} {limit}", shown(bound));
        return result;
    }
    result.state = LimitState::Undecided;
    let further = |truth: f64| further_items_of(trial.id, value, unit, truth, trial.limit, level);
    result.further_items = further(value.estimate);
    result.further_items_range = Some([further(interval.low), further(interval.high)]);
    let is_past = match trial.side {
        Side::Min => interval.high < trial.limit,
        Side::Max => interval.low > trial.limit,
    };
    result.why = if let Some(doubt) = GateEnds::of(trial.id, value).doubt().filter(|_| is_past || is_kept_by(interval))
    {
        let claim = if is_past { "is not" } else { "is" };
        let ends = GateEnds::of(trial.id, value).interval(level).unwrap_or(interval);
        let end =
            if matches!((trial.side, is_past), (Side::Min, false) | (Side::Max, true)) { ends.low } else { ends.high };
        format!(
            "{figures} {claim} {word} {limit}, but no gate can rest on that: {}",
            in_doubt(doubt, value, &shown(end))
        )
    } else if is_past {
        format!("{figures} is not {word} {limit}, but not beyond doubt once all limits are counted (Holm)")
    } else {
        format!("{figures} holds the limit, {word} {limit}")
    };
    result
}

/// Returns why an end of an interval is not taken at its word.
fn in_doubt(doubt: Doubt, value: &Estimated, end: &str) -> String {
    match doubt {
        Doubt::OneMore => format!("were one item more as far to that side as can be, the end would be {end}"),
        Doubt::Clusters(least) => format!(
            "where a few items score far from the rest the upper end is too low with {} clusters, {least} would do",
            grouped(value.n_clusters)
        ),
        Doubt::FewAbove { is_bounded: true } => {
            format!("under ten items show anything at all, and were one more as far off as the scale allows, the end would be {end}")
        }
        Doubt::FewAbove { is_bounded: false } => {
            "under ten items show anything at all, and how far off one more could be is unknown: declare the scale (--scale), or add items"
                .to_owned()
        }
    }
}

/// Returns the state of a limit that is looked at again and again, and why.
fn apply_watched(trial: &Trial<'_>, watched: &Watched, unit: Unit, alpha: f64) -> (LimitState, String) {
    let word = if trial.side == Side::Min { "at least" } else { "at most" };
    let limit = show(trial.limit, unit);
    let interval = watched.interval.map_or_else(String::new, |interval| {
        format!(" [{}, {}] at every look so far", show(interval.low, unit), show(interval.high, unit))
    });
    let figures = match watched.estimate {
        Some(estimate) => format!("{}{interval}", show(estimate, unit)),
        None => "nothing was seen of it yet".to_owned(),
    };
    if trial.p_broken.is_some_and(|p| p < alpha) {
        return (LimitState::Broken, format!("{figures}: it is not {word} {limit}, at whichever look one stops"));
    }
    if watched.p_met < alpha {
        return (LimitState::Met, format!("{figures}: it is {word} {limit}, at whichever look one stops"));
    }
    let outlook = watched.outlook.as_deref().unwrap_or("go on, looking costs nothing");
    // The interval is that of the readable replies, and of this limit alone.
    let is_past = |high_side: bool| {
        watched.interval.is_some_and(|ends| if high_side { ends.high < trial.limit } else { ends.low > trial.limit })
    };
    let why = if is_past(trial.side == Side::Max) {
        format!(
            "because of unparsed replies: {figures} is {word} {limit}, but not with every unparsed reply counted against the judge; \
             ask again for those replies"
        )
    } else if is_past(trial.side == Side::Min) {
        format!("{figures} is not {word} {limit}, but not beyond doubt once all limits are counted (Holm); {outlook}")
    } else {
        format!("{figures}: whether it is {word} {limit} is open; {outlook}")
    };
    (LimitState::Undecided, why)
}

/// Returns why a measure is missing, and the columns that would allow it.
fn why_unmeasured(id: &str, measured: &Measured) -> String {
    let Some(known) = measured.unmeasured.iter().find(|unmeasured| unmeasured.id == id) else {
        return "this log cannot measure it".to_owned();
    };
    let needs = match known.needs.as_slice() {
        [] => String::new(),
        needs => format!(" (it takes: {})", needs.join(", ")),
    };
    format!("this log cannot measure it: {}{needs}", known.reason)
}

/// Returns how many items beyond those at hand decide with 80 % power, were the truth as stated: with the bound on the
/// same side of the limit as the truth. `None`: no number decides.
///
/// n = deff · [z√(L(1−L)) + .84√(p(1−p))]² / (p−L)² for shares, with deff the variance of an item's figure over that of
/// one independent answer; (z + .84)²·s²/(θ−L)² for means. Of a share that is never or always seen, what the bound itself takes.
fn further_items(value: &Estimated, unit: Unit, truth: f64, limit: f64, level: f64) -> Option<u64> {
    further_items_of("", value, unit, truth, limit, level)
}

/// The same for a measure by its id, whose ends may be wider for a gate, or need more clusters.
fn further_items_of(id: &str, value: &Estimated, unit: Unit, truth: f64, limit: f64, level: f64) -> Option<u64> {
    let ends = GateEnds::of(id, value);
    let n_items = value.n_items as f64;
    let z = normal_quantile(0.5 + level / 2.0);
    let power = normal_quantile(POWER);
    let gap = truth - limit;
    if gap == 0.0 || !truth.is_finite() {
        return None;
    }
    let needed = match value.spread {
        Spread::Proportion(_) if unit == Unit::Share && (truth <= 0.0 || truth >= 1.0) => {
            clusters_without_event(gap.abs(), level) * n_items / (value.n_clusters as f64).max(1.0)
        }
        Spread::Proportion(proportion) if unit == Unit::Share => {
            let deff = n_items / proportion.effective_sample_size(level);
            let sd = |p: f64| (p * (1.0 - p)).max(0.0).sqrt();
            deff * (z * sd(limit) + power * sd(truth)).powi(2) / (gap * gap)
        }
        _ => {
            // The half width at this level stands for z standard errors.
            let shown = value.spread.interval(value.estimate, level)?;
            let interval = ends.interval(level).filter(|ends| ends.high.is_finite()).unwrap_or(shown);
            let standard_error = (interval.high - interval.low) / (2.0 * z);
            (z + power).powi(2) * standard_error * standard_error * n_items / (gap * gap)
        }
    };
    let needed = match ends.doubt() {
        Some(Doubt::Clusters(least)) => needed.max(least as f64 * n_items / value.n_clusters.max(1) as f64),
        _ => needed,
    };
    let further = rounded_up((needed - n_items).ceil().max(1.0));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and ten million")]
    (further <= MOST_FURTHER_ITEMS).then_some(further as u64)
}

/// Returns a number rounded up to two digits: what rests on an estimate is not known more closely.
pub(in crate::audit) fn rounded_up(number: f64) -> f64 {
    let step = 10_f64.powf((number.log10().floor() - 1.0).max(0.0));
    (number / step).ceil() * step
}

/// Returns a figure as people read it.
pub(in crate::audit) fn show(number: f64, unit: Unit) -> String {
    if number.is_infinite() {
        return if number > 0.0 { "∞" } else { "−∞" }.to_owned();
    }
    match unit {
        Unit::Share => per_cent(number),
        Unit::Coefficient | Unit::Loss => format!("{number:.3}"),
        Unit::Points => format!("{number:.2}"),
    }
}

/// Whether keeping a limit shows that answers are right: it bounds a measure of truth on its bad side, and not where a
/// judge that guesses is.
fn says_something(info: &MeasureInfo, result: &LimitResult) -> bool {
    let is_bad_side = matches!((info.better, result.side.as_str()), (Better::Higher, "min") | (Better::Lower, "max"));
    let is_vacuous = match (info.unit, result.side.as_str()) {
        (Unit::Share | Unit::Coefficient, "min") => result.limit <= 0.0 || (info.id == "auc" && result.limit <= 0.5),
        (Unit::Share, "max") => result.limit >= 1.0,
        _ => false,
    };
    info.family == Family::Truth && is_bad_side && !is_vacuous
}

/// Whether a limit on a loss would be kept by a judge that does not look at the items.
fn is_vacuous_loss(measured: &Measured, result: &LimitResult) -> bool {
    let detail = |name: &str| measured.values.get(result.measure.as_str())?.details.get(name).copied();
    let without_looking = match result.measure.as_str() {
        "expected_cost" => detail("accepting_everything").zip(detail("accepting_nothing")).map(|(a, b)| a.min(b)),
        "brier_score" => detail("uncertainty"),
        "log_loss" => detail("of_the_overall_share"),
        _ => return false,
    };
    without_looking.is_none_or(|loss| result.limit >= loss)
}

fn conclude(gate: &Gate, measured: &Measured, trials: &[Trial<'_>], results: &[LimitResult]) -> (Fitness, String) {
    let title = |id: &str| info(id).map_or(id, |info| info.title).to_lowercase();
    let of = |state: LimitState| -> Vec<String> {
        results.iter().filter(|result| result.state == state).map(|result| title(&result.measure)).collect()
    };
    let broken = of(LimitState::Broken);
    if !broken.is_empty() {
        return (Fitness::Unfit, format!("It breaks {}: {}.", limits(broken.len()), broken.join(", ")));
    }
    let missing: Vec<String> =
        trials.iter().filter(|trial| trial.required && trial.value.is_none()).map(|trial| title(trial.id)).collect();
    if !missing.is_empty() {
        return (
            Fitness::Inconclusive,
            format!("The gate requires what this log cannot measure: {}.", missing.join(", ")),
        );
    }
    let undecided = of(LimitState::Undecided);
    let is_about_truth = |result: &LimitResult| {
        result.state != LimitState::Unmeasured && info(&result.measure).is_some_and(|info| info.family == Family::Truth)
    };
    if !undecided.is_empty() && !gate.truth_optional && !results.iter().any(is_about_truth) {
        let text = format!(
            "Nothing here says that its answers are right: add labels, without which no number of items makes it fit. The \
             data also leave {} undecided: {}.",
            limits(undecided.len()),
            undecided.join(", ")
        );
        return (Fitness::Inconclusive, text);
    }
    if !undecided.is_empty() {
        let most = results.iter().filter_map(|result| result.further_items).max();
        let further = match most {
            Some(n) => format!(" About {} further items would decide, if the estimates are right.", grouped(n)),
            None => String::new(),
        };
        let text = format!("The data leave {} undecided: {}.{further}", limits(undecided.len()), undecided.join(", "));
        return (Fitness::Inconclusive, text);
    }
    let met = of(LimitState::Met);
    if met.is_empty() {
        return (Fitness::Inconclusive, "This log measures none of the gate's limits.".to_owned());
    }
    let shows_truth = |result: &LimitResult| {
        result.state == LimitState::Met
            && info(&result.measure).is_some_and(|info| says_something(info, result))
            && !is_vacuous_loss(measured, result)
    };
    if !gate.truth_optional {
        if !results.iter().any(shows_truth) {
            let text = "It keeps every limit that could be measured, but none of them says that its answers are right: \
                        add labels, or a limit that a judge who guesses would break.";
            return (Fitness::Inconclusive, text.to_owned());
        }
        let is_measured = |id: &str| measured.values.contains_key(id);
        if is_measured("false_accept_rate") != is_measured("false_reject_rate") {
            let text = "All labelled items are right, or all are wrong: a judge that always gives the same answer would do \
                        as well. Add items of the other kind.";
            return (Fitness::Inconclusive, text.to_owned());
        }
    }
    let kept = if met.len() == 1 { "the one limit".to_owned() } else { format!("all {} limits", met.len()) };
    (Fitness::Fit, format!("It keeps {kept} that could be measured."))
}

fn limits(n: usize) -> String {
    if n == 1 { "one limit".to_owned() } else { format!("{n} limits") }
}

/// A count with thousands separated.
pub(in crate::audit) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (idx, digit) in digits.chars().enumerate() {
        if idx > 0 && (digits.len() - idx).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
