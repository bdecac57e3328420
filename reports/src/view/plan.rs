//! A plan as its page shows it.

use assize_calibration::planning::result::{DesignRow, Figure, Plan};
use assize_calibration::planning::{ITEMS, REPEATS};
use serde::Serialize;

use crate::chart::{self, Curves, Scale};
use crate::{RenderError, format, plan_words, text};

#[derive(Serialize)]
struct Chart {
    title: String,
    caption: String,
    svg: String,
}

#[derive(Serialize)]
struct AloneRow {
    limit: String,
    pilot: String,
    items: Vec<String>,
    formula: String,
}

#[derive(Serialize)]
struct TableView {
    caption: String,
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// The page.
#[derive(Serialize)]
pub(crate) struct PlanView {
    title: String,
    basis: String,
    source: String,
    scenarios: Vec<String>,
    simulated: Vec<String>,
    charts: Vec<Chart>,
    is_assumed: bool,
    power: String,
    alone: Vec<AloneRow>,
    left_out: Vec<String>,
    joint: Vec<TableView>,
    intervals: Option<TableView>,
    components: Vec<Vec<String>>,
    repeats: Vec<String>,
    comparisons: Option<TableView>,
    shown: Vec<String>,
    notes: Vec<String>,
    version: String,
    schema: String,
}

/// Most figures whose intervals are drawn.
const MOST_CHARTS: usize = 3;

fn find(plan: &Plan, n_items: u64, repeats: u32, orders: u32) -> Option<&DesignRow> {
    let is = |row: &&DesignRow| {
        row.design.n_items == n_items && row.design.repeats == repeats && row.design.orders == orders
    };
    plan.designs.iter().find(is)
}

/// Returns the figures, each measure once.
fn figures(plan: &Plan) -> Vec<(usize, &Figure)> {
    let mut found: Vec<(usize, &Figure)> = Vec::new();
    for (idx, figure) in plan.pilot.figures.iter().enumerate() {
        if !found.iter().any(|(_, known)| known.measure == figure.measure) {
            found.push((idx, figure));
        }
    }
    found
}

fn x_scale() -> Scale {
    let ticks: Vec<f64> = ITEMS.iter().map(|n| (*n as f64).log2()).collect();
    Scale { from: ticks[0], to: ticks[ticks.len() - 1], ticks }
}

/// Draws one curve for each number of answers.
fn chart(
    plan: &Plan,
    orders: u32,
    title: String,
    mark_y: Option<f64>,
    y: Option<Scale>,
    y_tick: &dyn Fn(f64) -> String,
    value: &dyn Fn(&DesignRow) -> Option<f64>,
) -> Result<Option<Chart>, RenderError> {
    let curve = |k: &u32| {
        let point = |n: &u64| Some(((*n as f64).log2(), value(find(plan, *n, *k, orders)?)?));
        (ITEMS.iter().filter_map(point).collect::<Vec<_>>(), k.to_string())
    };
    let curves: Vec<(Vec<(f64, f64)>, String)> =
        REPEATS.iter().map(curve).filter(|(points, _)| !points.is_empty()).collect();
    if curves.is_empty() {
        return Ok(None);
    }
    let picked = plan.chosen.first().and_then(|chosen| chosen.row.as_ref()).map(|row| row.design);
    let largest = curves.iter().flat_map(|(points, _)| points).map(|(_, y)| *y).fold(0.0, f64::max);
    let drawn = Curves {
        strong: picked.and_then(|design| curves.iter().position(|(_, mark)| *mark == design.repeats.to_string())),
        marked: &curves,
        x: x_scale(),
        y: y.unwrap_or_else(|| Scale::holding(0.0, largest.max(1e-6), 4)),
        mark_x: picked.filter(|design| design.orders == orders).map(|design| (design.n_items as f64).log2()),
        mark_y,
        x_title: "items",
        size: (460, 250),
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "ticks are counts of items")]
    let x_tick = |x: f64| format::count(x.exp2().round() as u64);
    let svg = chart::curves(&drawn, &x_tick, y_tick, &format!("{title}, by items, one curve a number of answers"))?;
    let lines = if mark_y.is_some() {
        " Thin lines: what is wanted, and the cheapest design."
    } else {
        " Thin line: the cheapest design."
    };
    let strong = if drawn.strong.is_some() { " The strong one is that of the cheapest design." } else { "" };
    let caption =
        format!("The number on a curve: answers an item.{strong}{}", if picked.is_some() { lines } else { "" });
    Ok(Some(Chart { title, caption, svg }))
}

fn charts(plan: &Plan) -> Result<Vec<Chart>, RenderError> {
    let mut charts = Vec::new();
    let share = |value: f64| format::per_cent(value).replace(".0\u{a0}%", "\u{a0}%");
    for orders in 1..=plan.pilot.orders.max(1) {
        let title = match plan.pilot.orders {
            1 => "How often the gate decides".to_owned(),
            _ => format!("How often the gate decides, {}", format::counted(u64::from(orders), "order")),
        };
        if plan_words::n_limits(plan) > 0 {
            charts.extend(chart(plan, orders, title, Some(plan.power), Some(Scale::unit()), &share, &|row| {
                row.joint_power
            })?);
        }
    }
    let orders = plan
        .chosen
        .first()
        .and_then(|chosen| chosen.row.as_ref())
        .map_or(plan.pilot.orders.max(1), |row| row.design.orders);
    for (idx, figure) in figures(plan).into_iter().take(MOST_CHARTS) {
        let unit = format::unit(&figure.measure);
        let width = |row: &DesignRow| row.figures[idx].interval.map(|[low, high]| high - low);
        let tick = |value: f64| format::limit(value, unit);
        let title = format!("Width of the interval of {}", format::title(&figure.measure).to_lowercase());
        charts.extend(chart(plan, orders, title, None, None, &tick, &width)?);
    }
    Ok(charts)
}

fn joint(plan: &Plan) -> Vec<TableView> {
    let of_orders = |orders: u32| {
        let shown = if plan.pilot.orders > 1 {
            format!(", {}", format::counted(u64::from(orders), "order"))
        } else {
            String::new()
        };
        let power = |n: u64, k: u32| {
            let row = find(plan, n, k, orders);
            row.and_then(|row| row.joint_power).map_or("not measured".to_owned(), plan_words::chance)
        };
        let rows = ITEMS
            .iter()
            .map(|&n| std::iter::once(format::count(n)).chain(REPEATS.iter().map(|&k| power(n, k))).collect());
        TableView {
            caption: format!("How often the gate decides, all limits together, by items and answers an item{shown}"),
            head: std::iter::once("Items".to_owned())
                .chain(REPEATS.iter().map(|&k| format::counted(u64::from(k), "answer")))
                .collect(),
            rows: rows.collect(),
        }
    };
    (1..=plan.pilot.orders.max(1)).map(of_orders).collect()
}

fn intervals(plan: &Plan) -> Option<TableView> {
    let design = plan.chosen.first().and_then(|chosen| chosen.row.as_ref()).map(|row| row.design);
    let (repeats, orders) =
        design.map_or((REPEATS[0], plan.pilot.orders.max(1)), |design| (design.repeats, design.orders));
    let figures = figures(plan);
    let rows: Vec<Vec<String>> = ITEMS
        .iter()
        .filter_map(|&n| {
            let row = find(plan, n, repeats, orders)?;
            let cells = figures.iter().map(|(idx, figure)| plan_words::interval(figure, row.figures[*idx].interval));
            Some(std::iter::once(format::count(n)).chain(cells).collect())
        })
        .collect();
    let head = std::iter::once("Items".to_owned())
        .chain(figures.iter().map(|(_, figure)| format::title(&figure.measure).to_owned()))
        .collect();
    let caption = format!(
        "{} intervals to expect, {}; in per cent for shares",
        format::level(plan.level),
        format::counted(u64::from(repeats), "answer")
    );
    (!rows.is_empty() && !figures.is_empty()).then_some(TableView { caption, head, rows })
}

/// What an item's figure varies by, in per cent of its variance with one answer.
fn components(plan: &Plan) -> Vec<Vec<String>> {
    let of = |(_, figure): (usize, &Figure)| {
        let parts = &figure.components;
        if parts.pairs.is_some() || parts.is_fixed {
            return None;
        }
        let total = parts.between_groups + parts.between_items + parts.between_orders + parts.within;
        let share = |part: f64| if total > 0.0 { format::per_cent(part / total) } else { format::UNDEFINED.to_owned() };
        Some(vec![
            format::title(&figure.measure).to_owned(),
            share(parts.between_groups),
            share(parts.between_items),
            share(parts.between_orders),
            share(parts.within),
        ])
    };
    figures(plan).into_iter().filter_map(of).collect()
}

fn comparisons(plan: &Plan) -> Option<TableView> {
    let rows: Vec<Vec<String>> = plan
        .comparisons
        .iter()
        .map(|pair| {
            let sizes = pair.detectable.iter().map(|(_, size)| size.map_or("–".to_owned(), format::per_cent));
            [text::visible(&pair.other), format::per_cent(pair.discordance)].into_iter().chain(sizes).collect()
        })
        .collect();
    let first = plan.comparisons.first()?;
    let head = ["Against".to_owned(), "Only one right".to_owned()]
        .into_iter()
        .chain(first.detectable.iter().map(|(n, _)| format::count(*n)))
        .collect();
    let caption = format!(
        "The smallest difference of accuracy seen with {} power, by items, one answer each",
        format::level(plan.power)
    );
    Some(TableView { caption, head, rows })
}

/// Builds the page.
///
/// # Errors
/// When a chart cannot be drawn.
pub(crate) fn build(plan: &Plan) -> Result<PlanView, RenderError> {
    let alone = plan.alone.iter().map(|alone| AloneRow {
        limit: plan_words::limit(alone),
        pilot: plan_words::value(&alone.measure, alone.truth, alone.ends),
        items: alone.n_items.iter().map(|n| plan_words::items(*n)).collect(),
        formula: alone.by_formula.map_or_else(String::new, format::count),
    });
    let shown = plan.comparisons.iter().filter_map(|pair| {
        let (difference, n) = (pair.difference?, pair.items_to_show_by_means.or(pair.items_to_show)?);
        Some(format!(
            "{} apart from {} in the pilot: about {} would show that, if it is so.",
            plan_words::points(difference.abs()),
            text::visible(&pair.other),
            format::counted(n, "item")
        ))
    });
    let has_limits = plan_words::n_limits(plan) > 0;
    let first = plan.chosen.first();
    let simulated =
        first.into_iter().flat_map(|chosen| [plan_words::simulated(chosen), plan_words::assurance(plan, chosen)]);
    Ok(PlanView {
        title: plan.pilot.judge.as_deref().map_or_else(
            || "Plan of a study".to_owned(),
            |judge| format!("Plan of a study of {}", crate::words::name(judge)),
        ),
        basis: plan_words::basis(plan),
        source: text::visible(&plan.source.join(", ")),
        scenarios: if has_limits {
            plan.chosen.iter().map(|chosen| plan_words::scenario(plan, chosen)).collect()
        } else {
            Vec::new()
        },
        simulated: simulated.flatten().collect(),
        charts: charts(plan)?,
        is_assumed: plan.pilot.is_assumed,
        power: format::level(plan.power),
        alone: alone.collect(),
        left_out: plan_words::left_out(plan),
        joint: if has_limits { joint(plan) } else { Vec::new() },
        intervals: intervals(plan),
        components: components(plan),
        repeats: plan_words::repeats(plan),
        comparisons: comparisons(plan),
        shown: shown.collect(),
        notes: plan.notes.iter().map(|note| text::prose(note)).collect(),
        version: plan.version.clone(),
        schema: plan.schema.clone(),
    })
}
