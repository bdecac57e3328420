//! Rows of a forest: one measure, its interval drawn and written, and what it rests on.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use assize_calibration::audit::catalogue::{self, Better, Family, MEASURES, MeasureInfo, Unit};
use assize_calibration::audit::result::{JudgeAudit, Measure};
use assize_calibration::gate::LimitResult;
use serde::Serialize;

use crate::chart::{self, Scale, Side, Strip};
use crate::{RenderError, format, text};

/// A value and its interval, apart so that a table can align them.
#[derive(Serialize)]
pub(crate) struct Cell {
    value: String,
    interval: String,
}

impl Cell {
    pub(crate) fn new(measure: &Measure, unit: Unit) -> Self {
        Self {
            value: format::value(measure.estimate, unit),
            interval: format::interval(measure, unit).unwrap_or_else(|| "no interval".to_owned()),
        }
    }

    /// A difference of two values of this unit: of shares, in percentage points.
    pub(crate) fn difference(measure: &Measure, unit: Unit) -> Self {
        let mut cell = Self::new(measure, unit);
        if unit == Unit::Share && measure.estimate.is_finite() {
            cell.value = cell.value.replace('%', "pp");
        }
        if measure.estimate > 0.0 {
            cell.value.insert(0, '+');
        }
        cell
    }
}

/// A measure as a row.
#[derive(Serialize)]
pub(crate) struct Row {
    id: String,
    title: String,
    explanation: String,
    chart: String,
    cell: Cell,
    counts: String,
    level: String,
    method: String,
    cautions: Vec<String>,
    details: Vec<(String, String)>,
    direction: &'static str,
}

/// Rows on one scale.
#[derive(Serialize)]
pub(crate) struct Forest {
    unit: &'static str,
    axis: String,
    rows: Vec<Row>,
}

/// Returns the scale that holds these measures with their intervals and these limits: shares and coefficients from 0 (or below) to 1.
pub(crate) fn scale<'a>(unit: Unit, measures: impl Iterator<Item = &'a Measure>, limits: &[f64]) -> Scale {
    let ends: Vec<f64> = measures
        .flat_map(|measure| [Some(measure.estimate), measure.low, measure.high])
        .flatten()
        .chain(limits.iter().copied())
        .filter(|end| end.is_finite())
        .collect();
    let low = ends.iter().copied().fold(0.0, f64::min);
    let high = ends.iter().copied().fold(0.0, f64::max);
    match unit {
        Unit::Points | Unit::Loss => Scale::holding(low, high, 4),
        // Small rates on a scale up to 1 would all look alike.
        _ if low >= 0.0 && (1e-9..=0.4).contains(&high) => Scale::holding(0.0, high, 4),
        _ if low >= 0.0 && high <= 1.0 => Scale::unit(),
        _ if low >= -0.25 && high <= 1.0 => {
            Scale { from: -0.25, to: 1.0, ticks: vec![-0.25, 0.0, 0.25, 0.5, 0.75, 1.0] }
        }
        _ => Scale::holding(low, high.max(1.0), 4),
    }
}

/// Returns the scale that shows a limit and the interval near it as large as they can be.
pub(crate) fn scale_of_limit(unit: Unit, measure: Option<&Measure>, limit: f64, side: Side) -> Scale {
    let ends = |end: fn(&Measure) -> Option<f64>, otherwise: f64| {
        measure.and_then(end).filter(|end| end.is_finite()).unwrap_or(otherwise)
    };
    let low = ends(|measure| measure.low.or(Some(measure.estimate)), limit).min(limit);
    let high = ends(|measure| measure.high.or(Some(measure.estimate)), limit).max(limit);
    match (unit, side) {
        (Unit::Points | Unit::Loss, _) => Scale::holding(low.min(0.0), high * 1.15, 3),
        (_, Side::AtMost) => Scale::holding(low.min(0.0), (high * 1.25).min(1.0_f64.max(high)), 3),
        (_, Side::AtLeast) => Scale::holding((low - (1.0 - low) * 0.2).max(low.min(0.0)), 1.0_f64.max(high), 3),
    }
}

/// Draws the scale of a forest.
pub(crate) fn axis(scale: &Scale, unit: Unit) -> Result<String, RenderError> {
    let tick = |value: f64| match unit {
        Unit::Share => format::plain(value * 100.0),
        Unit::Points | Unit::Coefficient | Unit::Loss => format::plain(value),
    };
    let label = match unit {
        Unit::Share => format!("scale from {} to {}", format::limit(scale.from, unit), format::limit(scale.to, unit)),
        Unit::Points | Unit::Coefficient | Unit::Loss => {
            format!("scale from {} to {}", format::plain(scale.from), format::plain(scale.to))
        }
    };
    chart::axis(scale, tick, &label)
}

/// Draws one measure on a scale.
pub(crate) fn draw(
    measure: &Measure,
    unit: Unit,
    scale: &Scale,
    limits: &[(f64, Side)],
    reference: Option<f64>,
) -> Result<String, RenderError> {
    let mut label = format::measure(measure, unit);
    for &(limit, side) in limits {
        let side = if side == Side::AtLeast { "at least" } else { "at most" };
        write!(label, "; limit: {side} {}", format::limit(limit, unit)).expect("writing to memory");
    }
    let interval = measure.low.zip(measure.high).filter(|(low, high)| low.is_finite() && high.is_finite());
    chart::strip(&Strip { scale, estimate: measure.estimate, interval, limits, margin: None, reference }, &label)
}

/// Draws a difference, with the margin within which it does not matter.
pub(crate) fn draw_difference(
    measure: &Measure,
    unit: Unit,
    scale: &Scale,
    margin: Option<f64>,
) -> Result<String, RenderError> {
    let mut label = format::measure(measure, unit);
    if let Some(margin) = margin {
        write!(label, "; margin: {}", format::limit(margin, unit)).expect("writing to memory");
    }
    let interval = measure.low.zip(measure.high).filter(|(low, high)| low.is_finite() && high.is_finite());
    let margin = margin.map(|margin| (-margin, margin));
    chart::strip(
        &Strip { scale, estimate: measure.estimate, interval, limits: &[], margin, reference: Some(0.0) },
        &label,
    )
}

/// Returns the side of a limit.
pub(crate) fn side(limit: &LimitResult) -> Side {
    if limit.side == "min" { Side::AtLeast } else { Side::AtMost }
}

/// Returns what a number rests on: `1,200 answers · 240 items · 40 clusters`.
pub(crate) fn counts(measure: &Measure) -> String {
    let mut counts =
        format!("n\u{a0}=\u{a0}{} · {}", format::count(measure.n), format::counted(measure.n_items, "item"));
    if measure.n_clusters != measure.n_items {
        write!(counts, " · {}", format::counted(measure.n_clusters, "cluster")).expect("writing to memory");
    }
    counts
}

/// Returns what figures of a table rest on and how they were made, one sentence for all that share it.
pub(crate) fn bases<'a, N: Into<String>>(figures: impl Iterator<Item = (N, &'a Measure)>) -> Vec<String> {
    let mut bases: Vec<(String, Vec<String>)> = Vec::new();
    for (name, measure) in figures {
        let name = name.into();
        let basis = format!("{}. Method: {}", counts(measure), text::visible(&measure.method));
        match bases.iter_mut().find(|(known, _)| *known == basis) {
            Some((_, names)) if names.contains(&name) => {}
            Some((_, names)) => names.push(name),
            None => bases.push((basis, vec![name])),
        }
    }
    bases.into_iter().map(|(basis, names)| format!("{}: {basis}", names.join(", "))).collect()
}

/// Returns the distinct methods of figures whose counts stand in their rows.
pub(crate) fn methods<'a>(figures: impl Iterator<Item = &'a Measure>) -> String {
    let mut methods: Vec<String> = Vec::new();
    for method in figures.map(|measure| text::visible(&measure.method)) {
        if !methods.contains(&method) {
            methods.push(method);
        }
    }
    methods.join(" · ")
}

fn detail(name: &str, number: f64) -> (String, String) {
    (
        format::words(&text::visible(name)),
        if number.abs() >= 1e6 { format::significant(number) } else { format::plain(number) },
    )
}

fn row(id: &str, measure: &Measure, scale: &Scale, limits: &[(f64, Side)]) -> Result<Row, RenderError> {
    let info: Option<&MeasureInfo> = catalogue::info(id);
    let unit = format::unit(id);
    let (direction, reference) = match info.map(|info| info.better) {
        Some(Better::Higher) => ("higher is better", None),
        Some(Better::Lower) => ("lower is better", None),
        Some(Better::Near(0.0)) => ("nearest to 0 is best", Some(0.0)),
        Some(Better::Near(value)) => ("nearest to the middle is best", Some(value)),
        None => ("", None),
    };
    let mut cautions: Vec<String> = measure.cautions.iter().map(|caution| text::sentence(caution)).collect();
    if let Some(reason) = info.and_then(|info| info.ungatable) {
        cautions.push(format!("{UNGATABLE}{reason}."));
    }
    Ok(Row {
        id: text::visible(id),
        title: text::visible(format::title(id)),
        explanation: info.map_or(String::new(), |info| info.explanation.to_owned()),
        chart: draw(measure, unit, scale, limits, reference)?,
        cell: Cell::new(measure, unit),
        counts: counts(measure),
        level: format::level(measure.level),
        method: text::visible(&measure.method),
        cautions,
        details: measure.details.iter().map(|(name, number)| detail(name, *number)).collect(),
        direction,
    })
}

/// How the caution begins that a measure cannot be limited.
const UNGATABLE: &str = "No gate may use it: ";

const fn unit_name(unit: Unit) -> &'static str {
    match unit {
        Unit::Share => "Shares, per cent",
        Unit::Points => "Points of the score",
        Unit::Coefficient => "Coefficients",
        Unit::Loss => "Losses",
    }
}

/// Returns the forests of one family of a judge's measures, one a unit.
pub(crate) fn of_family(judge: &JudgeAudit, family: Family) -> Result<Vec<Forest>, RenderError> {
    let of_family = MEASURES.iter().filter(|info| info.family == family);
    let measured: Vec<_> =
        of_family.filter_map(|info| judge.measures.get(info.id).map(|measure| (info.id, measure))).collect();
    forests(&measured, &judge.limits)
}

/// Returns the forests of the measures that the catalogue does not know, so that nothing measured is hidden.
pub(crate) fn of_unknown(judge: &JudgeAudit) -> Result<Vec<Forest>, RenderError> {
    let unknown = judge.measures.iter().filter(|(id, _)| catalogue::info(id).is_none());
    let measured: Vec<_> = unknown.map(|(id, measure)| (id.as_str(), measure)).collect();
    forests(&measured, &judge.limits)
}

/// Returns the forests of measures on which there is no limit.
pub(crate) fn of_map(measures: &BTreeMap<String, Measure>) -> Result<Vec<Forest>, RenderError> {
    let measured: Vec<_> = measures.iter().map(|(id, measure)| (id.as_str(), measure)).collect();
    forests(&measured, &[])
}

/// Returns the forests of agreement among raters or judges: no labels enter it, and no gate asks for it.
pub(crate) fn of_agreement(measures: &BTreeMap<String, Measure>) -> Result<Vec<Forest>, RenderError> {
    let mut forests = of_map(measures)?;
    for row in forests.iter_mut().flat_map(|forest| &mut forest.rows) {
        among(&row.id).clone_into(&mut row.explanation);
        row.cautions.retain(|caution| !caution.starts_with(UNGATABLE));
    }
    Ok(forests)
}

/// Returns what a coefficient says of raters among themselves; the catalogue says it of a judge and the labels.
fn among(id: &str) -> &'static str {
    match id {
        "percent_agreement" => "How often two of them give the same answer to an item.",
        "kappa" => "Agreement of the two beyond what their own mixes of answers would give by chance.",
        "weighted_kappa" => "The same for scores: being further apart counts more, by the square of the distance.",
        "conger_kappa" => "Cohen's kappa for more than two: each has a mix of answers of its own.",
        "fleiss_kappa" => "Agreement beyond chance, were all of them to draw from one common mix of answers.",
        "ac1" => "Agreement beyond chance, less swayed than kappa where most answers are the same.",
        "ac2" => "AC1 for scores: being further apart counts more.",
        "brennan_prediger" => "Agreement beyond that of answers drawn evenly from all that occur.",
        "alpha_nominal" => "1 less the disagreement seen over that expected by chance; ratings may be missing.",
        "alpha_interval" => "1 less the squared distance seen over that expected by chance; ratings may be missing.",
        "icc_single" => "Share of the variance of one score that is due to the item.",
        "icc_agreement" => "The same where how high each of them scores counts as disagreement.",
        "icc_consistency" => {
            "The same where only the order and the distances of items count, not how high each of them scores."
        }
        _ => "",
    }
}

fn forests(measured: &[(&str, &Measure)], limits: &[LimitResult]) -> Result<Vec<Forest>, RenderError> {
    let limits_of = |id: &str| -> Vec<(f64, Side)> {
        limits.iter().filter(|limit| limit.measure == id).map(|limit| (limit.limit, side(limit))).collect()
    };
    let mut forests = Vec::new();
    for unit in [Unit::Share, Unit::Points, Unit::Coefficient, Unit::Loss] {
        let of_unit: Vec<_> = measured.iter().filter(|(id, _)| format::unit(id) == unit).collect();
        if of_unit.is_empty() {
            continue;
        }
        let at: Vec<f64> = of_unit.iter().flat_map(|(id, _)| limits_of(id)).map(|(limit, _)| limit).collect();
        let scale = scale(unit, of_unit.iter().map(|(_, measure)| *measure), &at);
        let rows =
            of_unit.iter().map(|(id, measure)| row(id, measure, &scale, &limits_of(id))).collect::<Result<_, _>>()?;
        forests.push(Forest { unit: unit_name(unit), axis: axis(&scale, unit)?, rows });
    }
    Ok(forests)
}

/// Returns the scale that holds these measures as large as they can be: judges are compared with each other, not with 0.
pub(crate) fn close_scale<'a>(measures: impl Iterator<Item = &'a Measure>) -> Scale {
    let ends: Vec<f64> = measures
        .flat_map(|measure| [Some(measure.estimate), measure.low, measure.high])
        .flatten()
        .filter(|end| end.is_finite())
        .collect();
    Scale::holding(
        ends.iter().copied().fold(f64::INFINITY, f64::min),
        ends.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        4,
    )
}

/// Returns the scale that holds differences and zero.
pub(crate) fn difference_scale<'a>(differences: impl Iterator<Item = &'a Measure>) -> Scale {
    let ends: Vec<f64> = differences
        .flat_map(|measure| [Some(measure.estimate), measure.low, measure.high])
        .flatten()
        .filter(|end| end.is_finite())
        .collect();
    Scale::holding(ends.iter().copied().fold(0.0, f64::min), ends.iter().copied().fold(0.0, f64::max), 4)
}
