//! From differences to a decision: better, worse, equivalent or undecided, by each measure and on the whole.
//!
//! By each measure both sides are treated alike: exchanging them turns better into worse and leaves the rest. On the whole they are
//! not: B takes A's place only if it is worse by none of the primary measures, so that of two that trade one error for another neither may
//! replace the other.

use std::collections::BTreeMap;

use crate::distribution::normal_quantile;
use crate::paired::holm;
use crate::proportion::Interval;

use super::super::catalogue::{Better, MEASURES, Unit, info};
use super::super::data::table::Table;
use super::super::decision::decide::{grouped, rounded_up};
use super::super::difference::{Difference, p_at_least, p_at_most, standard_error};
use super::super::estimate::Estimated;
use super::{AuditConfig, CompareConfig, MeasuredDifference, Standing};

/// The power with which a stated number of further items decides.
const POWER: f64 = 0.8;
/// More further items than this are as good as none.
const MOST_FURTHER_ITEMS: f64 = 1e7;

/// What all differences come to.
pub(super) struct Decided {
    pub standing: Standing,
    pub why: String,
    pub is_not_worse: bool,
    pub further_items: Option<u64>,
    pub correction: String,
    pub margins: String,
    pub measures: Vec<MeasuredDifference>,
}

pub(super) fn decide(
    table: &Table<'_>,
    found: &BTreeMap<&'static str, Difference>,
    primary: &[String],
    config: &AuditConfig,
    compare: &CompareConfig,
) -> Decided {
    let place = |id: &str| MEASURES.iter().position(|measure| measure.id == id).unwrap_or(MEASURES.len());
    let mut ids: Vec<&'static str> = found.keys().copied().collect();
    let rank = |id: &str| primary.iter().position(|wanted| wanted == id).unwrap_or(usize::MAX);
    ids.sort_by_key(|id| (rank(id), place(id), *id));
    let is_primary = |id: &str| primary.iter().any(|wanted| wanted == id);
    let mut p_holm: BTreeMap<&str, f64> = BTreeMap::new();
    for of_primary in [true, false] {
        let family: Vec<&'static str> = ids.iter().copied().filter(|id| is_primary(id) == of_primary).collect();
        let p_values: Vec<f64> = family.iter().map(|id| found[id].p_value.unwrap_or(f64::NAN)).collect();
        p_holm.extend(family.into_iter().zip(holm(&p_values)).filter(|(_, p)| !p.is_nan()));
    }
    let measures: Vec<MeasuredDifference> = ids
        .iter()
        .map(|id| {
            let margin = margin(table, id, compare);
            one(id, &found[id], is_primary(id), margin, p_holm.get(id).copied(), config.level)
        })
        .collect();
    let n_primary = measures.iter().filter(|measure| measure.is_primary).count();
    let (standing, why, is_not_worse, further_items) = conclude(&measures, primary.len());
    Decided {
        standing,
        why,
        is_not_worse,
        further_items,
        correction: correction(n_primary, measures.len() - n_primary, config.level),
        margins: margins(table, compare),
        measures,
    }
}

/// Returns the difference that does not matter, in the measure's unit.
fn margin(table: &Table<'_>, id: &str, compare: &CompareConfig) -> Option<f64> {
    if let Some(margin) = compare.margins.get(id) {
        return Some(*margin);
    }
    match unit(id) {
        Unit::Share => Some(compare.margin),
        Unit::Coefficient => Some(compare.coefficient_margin),
        Unit::Points => table.trusted_width().map(|width| width * compare.margin),
        // What difference of costs matters, only those who pay can say.
        Unit::Loss => None,
    }
}

fn unit(id: &str) -> Unit {
    match info(id) {
        Some(info) => info.unit,
        None if id == "mean_score" => Unit::Points,
        None => Unit::Share,
    }
}

fn one(
    id: &'static str,
    found: &Difference,
    is_primary: bool,
    margin: Option<f64>,
    p_holm: Option<f64>,
    level: f64,
) -> MeasuredDifference {
    let difference = &found.estimated;
    // 1: more is better, −1: less is, 0: neither.
    let direction = match info(id).map(|info| info.better) {
        Some(Better::Higher) => 1.0,
        Some(Better::Lower) => -1.0,
        Some(Better::Near(_)) | None => 0.0,
    };
    let tail = (1.0 - level) / 2.0;
    // Unparsed replies may hide the truth on either side: what is claimed must hold wherever they lie.
    let extremes: Vec<&Estimated> =
        [difference].into_iter().chain(found.bounds.iter().flat_map(|[lowest, highest]| [lowest, highest])).collect();
    let largest_p = |p: &dyn Fn(&Estimated) -> Option<f64>| -> Option<f64> {
        extremes.iter().map(|one| p(one)).try_fold(0.0_f64, |most, p| Some(most.max(p?)))
    };
    let within = |one: &Estimated, margin: f64| Some(p_at_most(one, -margin)?.max(p_at_least(one, margin)?));
    let worse = |one: &Estimated, margin: f64| {
        if direction < 0.0 { p_at_least(one, margin) } else { p_at_most(one, -margin) }
    };
    let p_equivalence = margin.and_then(|margin| within(difference, margin));
    let p_worse = margin.filter(|_| direction != 0.0).and_then(|margin| worse(difference, margin));
    let shown = |p: Option<f64>| p.is_some_and(|p| p < tail);
    let is_equivalent = margin.is_some_and(|margin| shown(largest_p(&|one| within(one, margin))));
    let is_equivalent_but_for_unparsed = shown(p_equivalence) && !is_equivalent;
    let is_not_worse =
        (direction != 0.0).then(|| margin.is_some_and(|margin| shown(largest_p(&|one| worse(one, margin)))));
    let is_above = difference.estimate > 0.0;
    let differs = p_holm.is_some_and(|p| p < 1.0 - level);
    let beyond_zero = |one: &Estimated| if is_above { p_at_most(one, 0.0) } else { p_at_least(one, 0.0) };
    let differs_whatever = differs && (found.bounds.is_none() || shown(largest_p(&beyond_zero)));
    let standing = if is_equivalent {
        Standing::Equivalent
    } else if !differs_whatever {
        Standing::Undecided
    } else if direction == 0.0 {
        Standing::Different
    } else if is_above == (direction > 0.0) {
        Standing::Better
    } else {
        Standing::Worse
    };
    let further_items = (standing == Standing::Undecided).then(|| further(difference, margin, level)).flatten();
    let because_of_unparsed = is_equivalent_but_for_unparsed || (differs && !differs_whatever && !is_equivalent);
    MeasuredDifference {
        measure: id.to_owned(),
        is_primary,
        better: if direction > 0.0 {
            "higher"
        } else if direction < 0.0 {
            "lower"
        } else {
            "neither"
        }
        .to_owned(),
        a: found.means[0],
        b: found.means[1],
        difference: difference.measure(level),
        unparsed_bounds: found.bounds.as_ref().map(|[lowest, highest]| [lowest.measure(level), highest.measure(level)]),
        margin,
        p_value: found.p_value,
        test: found.test.to_owned(),
        p_holm,
        p_equivalence,
        p_worse,
        is_not_worse,
        standing,
        why: why(&Reasons { id, difference, margin, level, standing, differs, because_of_unparsed, is_not_worse }),
        further_items,
    }
}

/// What a sentence about one measure is made of.
struct Reasons<'a> {
    id: &'static str,
    difference: &'a Estimated,
    margin: Option<f64>,
    level: f64,
    standing: Standing,
    differs: bool,
    because_of_unparsed: bool,
    is_not_worse: Option<bool>,
}

fn why(reasons: &Reasons<'_>) -> String {
    let size = |value: f64| amount(value, unit(reasons.id));
    let interval = reasons.difference.spread.interval(reasons.difference.estimate, reasons.level);
    let margin = reasons.margin.map(&size);
    match reasons.standing {
        Standing::Equivalent => {
            let margin = margin.unwrap_or_default();
            let beside = if reasons.differs { "; there is a difference, but one that does not matter" } else { "" };
            format!("the whole interval lies within the margin of {margin}{beside}")
        }
        Standing::Better | Standing::Worse | Standing::Different => match (reasons.margin, interval) {
            (Some(margin), Some(ends)) if ends.low > margin || ends.high < -margin => {
                format!("more than chance, and more than the margin of {}", size(margin))
            }
            _ => "more than chance".to_owned(),
        },
        Standing::Undecided if reasons.because_of_unparsed => {
            "unparsed replies could turn it; ask again for those replies".to_owned()
        }
        Standing::Undecided if interval.is_none() => {
            "these data cannot say how far off the difference may be".to_owned()
        }
        Standing::Undecided => undecided(reasons, margin, interval) + &seen(reasons, &size),
    }
}

/// Returns what difference would have been seen.
fn seen(reasons: &Reasons<'_>, size: &dyn Fn(f64) -> String) -> String {
    let standard_error = standard_error(reasons.difference, reasons.level);
    standard_error.map_or_else(String::new, |standard_error| {
        // As for every effect looked for: at a two-sided level of .95.
        let smallest = (normal_quantile(0.975) + normal_quantile(POWER)) * standard_error;
        format!("; a difference of {} or more would have been seen (80 % power)", size(smallest))
    })
}

fn undecided(reasons: &Reasons<'_>, margin: Option<String>, interval: Option<Interval>) -> String {
    match margin {
        _ if interval.is_some_and(|ends| ends.low > 0.0 || ends.high < 0.0) => {
            "not beyond chance once all questions are counted (Holm)".to_owned()
        }
        None => "it may be 0, and no margin is known: state the scale, or a margin".to_owned(),
        Some(margin) if reasons.is_not_worse == Some(true) => {
            format!("not worse by {margin} or more, but it may be 0, and it may be better by more than that")
        }
        Some(margin) => format!("it may be 0, and it may be more than the margin of {margin}"),
    }
}

/// A difference in words: of shares, in percentage points.
fn amount(value: f64, unit: Unit) -> String {
    // Zero has no sign.
    let value = value + 0.0;
    match unit {
        Unit::Share => format!("{:.1} pp", 100.0 * value + 0.0),
        Unit::Coefficient | Unit::Loss => format!("{value:.3}"),
        Unit::Points => format!("{value:.2} points"),
    }
}

/// Returns how many further items decide with 80 % power, were the estimate the truth: that it lies within the margin, or that it
/// is not 0, whichever takes fewer.
fn further(difference: &Estimated, margin: Option<f64>, level: f64) -> Option<u64> {
    let standard_error = standard_error(difference, level)?;
    let n_items = difference.n_items as f64;
    // Per item, as many items to a cluster as there are here.
    let variance = standard_error * standard_error * n_items;
    let (z, size) = (normal_quantile(0.5 + level / 2.0), difference.estimate.abs());
    let detected = (size > 0.0).then(|| variance * ((z + normal_quantile(POWER)) / size).powi(2));
    let equal = margin.filter(|margin| size < *margin).map(|margin| {
        // Near 0 either side may fail.
        let share = size / margin;
        let power = normal_quantile(if share < 0.1 { 0.5 + POWER / 2.0 } else { POWER });
        variance * ((z + power) / (margin - size)).powi(2)
    });
    let needed = match (detected, equal) {
        (Some(x), Some(y)) => x.min(y),
        (x, y) => x.or(y)?,
    };
    let further = rounded_up((needed - n_items).ceil().max(1.0));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and ten million")]
    (further <= MOST_FURTHER_ITEMS).then_some(further as u64)
}

/// Returns what a measure is called in a sentence.
fn title(measure: &str) -> String {
    info(measure).map_or(measure, |info| info.title).to_lowercase().replace('_', " ")
}

/// Returns the standing on the whole, why, whether B is not worse, and how many more items decide.
fn conclude(measures: &[MeasuredDifference], n_asked: usize) -> (Standing, String, bool, Option<u64>) {
    let primary: Vec<&MeasuredDifference> = measures.iter().filter(|measure| measure.is_primary).collect();
    let of = |standing: Standing| -> Vec<String> {
        primary.iter().filter(|one| one.standing == standing).map(|one| title(&one.measure)).collect()
    };
    let all: Vec<String> = primary.iter().map(|one| title(&one.measure)).collect();
    let is_complete = !primary.is_empty() && primary.len() == n_asked;
    let is_not_worse = is_complete && primary.iter().all(|one| one.is_not_worse != Some(false));
    let worse = of(Standing::Worse);
    if !worse.is_empty() {
        let better = of(Standing::Better);
        let beside = if better.is_empty() { String::new() } else { format!(" (and better by {})", better.join(", ")) };
        return (Standing::Worse, format!("B is worse by {}{beside}.", worse.join(", ")), false, None);
    }
    if !is_complete {
        let text = if primary.is_empty() {
            "Nothing that a decision could rest on can be compared."
        } else {
            "Not all that the decision is to rest on can be compared."
        };
        return (Standing::Undecided, text.to_owned(), false, None);
    }
    let different = of(Standing::Different);
    if !different.is_empty() {
        let text = format!(
            "The two differ by {}, of which neither more nor less is better: whether that is wanted is for you to say.",
            different.join(", ")
        );
        return (Standing::Different, text, is_not_worse, None);
    }
    let undecided: Vec<&&MeasuredDifference> =
        primary.iter().filter(|one| one.standing == Standing::Undecided).collect();
    if undecided.is_empty() {
        let better = of(Standing::Better);
        if better.is_empty() {
            let text =
                format!("B is equivalent to A by {}: what difference there may be does not matter.", all.join(", "));
            return (Standing::Equivalent, text, is_not_worse, None);
        }
        let equal = of(Standing::Equivalent);
        let beside = if equal.is_empty() { String::new() } else { format!(", and equivalent by {}", equal.join(", ")) };
        return (Standing::Better, format!("B is better by {}{beside}.", better.join(", ")), is_not_worse, None);
    }
    let names: Vec<String> = undecided.iter().map(|one| title(&one.measure)).collect();
    let further = undecided.iter().map(|one| one.further_items).try_fold(0, |most, n| Some(most.max(n?)));
    let more = match further {
        Some(n) => format!(" About {} further items would decide, if the estimates are right.", grouped(n)),
        None => " More items alone do not decide it.".to_owned(),
    };
    let kept = if is_not_worse { " It is shown, though, that B is not worse by the margin or more." } else { "" };
    let text = format!("The data decide neither way by {}.{more}{kept}", names.join(", "));
    (Standing::Undecided, text, is_not_worse, further)
}

fn correction(n_primary: usize, n_others: usize, level: f64) -> String {
    if n_primary == 0 {
        return format!("The {n_others} measures are corrected among themselves (Holm 1979); none of them decides.");
    }
    let count = |n: usize| if n == 1 { "one primary measure".to_owned() } else { format!("{n} primary measures") };
    format!(
        "Better and worse are corrected for {} (Holm 1979), so that of judges alike the decision calls one better or worse at most \
         {:.1} % of the time; the {n_others} other measures are corrected among themselves. Equivalence needs every primary measure, \
         and no correction.",
        count(n_primary),
        100.0 * (1.0 - level)
    )
}

fn margins(table: &Table<'_>, compare: &CompareConfig) -> String {
    let mut text = format!(
        "A difference does not matter up to {} for rates and {} for coefficients",
        amount(compare.margin, Unit::Share),
        compare.coefficient_margin
    );
    if table.scale.is_some() {
        let points = table.trusted_width().map_or_else(
            || "; for points of the score no margin is known, since neither a scale is declared nor enough was seen of it".to_owned(),
            |width| format!(", and {:.3} points of the score ({} % of its scale)", width * compare.margin, 100.0 * compare.margin),
        );
        text.push_str(&points);
    }
    if !compare.margins.is_empty() {
        let single: Vec<String> =
            compare.margins.iter().map(|(id, margin)| format!("{} {margin}", title(id))).collect();
        text.push_str("; stated for single measures: ");
        text.push_str(&single.join(", "));
    }
    text.push_str(". Equivalent means that the whole interval lies within.");
    text
}
