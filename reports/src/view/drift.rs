//! Whether a judge changed over time, as the page shows it.

use assize_calibration::audit::catalogue::Unit;
use assize_calibration::audit::result::{Drift, DriftFigure, Measure};
use assize_calibration::time::date;
use serde::Serialize;

use super::Mark;
use super::forest::{self, Cell};
use crate::chart::Scale;
use crate::{RenderError, format, text};

/// Most windows shown.
const MAX_WINDOWS: usize = 60;

/// A figure's tests.
#[derive(Serialize)]
struct FigureRow {
    title: String,
    chart: String,
    trend: Option<Cell>,
    p_trend: String,
    same: Option<Cell>,
    p_same: String,
    odd: Option<String>,
    mark: Mark,
    p_holm: String,
    change: Option<String>,
}

/// One window.
#[derive(Serialize)]
struct WindowRow {
    dates: String,
    judgements: String,
    items: String,
    cells: Vec<Option<Cell>>,
    /// A chart of the first figure.
    chart: String,
}

/// A judge over time.
#[derive(Serialize)]
pub(crate) struct DriftView {
    lead: String,
    /// Figures in one table a unit, whose scale they share.
    tables: Vec<FigureTable>,
    columns: Vec<String>,
    window_axis: String,
    windows: Vec<WindowRow>,
    n_omitted: usize,
    methods: String,
}

#[derive(Serialize)]
struct FigureTable {
    axis: String,
    rows: Vec<FigureRow>,
}

pub(super) fn drift(drift: &Drift) -> Result<DriftView, RenderError> {
    let first = drift.figures.first();
    let first_unit = first.map_or(Unit::Share, |figure| format::unit(&figure.measure));
    let first_scale = forest::close_scale(first.into_iter().flat_map(|figure| figure.windows.iter().flatten()));
    let mut tables = Vec::new();
    for unit in [Unit::Share, Unit::Points] {
        let of_unit: Vec<&DriftFigure> =
            drift.figures.iter().filter(|figure| format::unit(&figure.measure) == unit).collect();
        if of_unit.is_empty() {
            continue;
        }
        let scale = forest::difference_scale(of_unit.iter().filter_map(|figure| figure.trend.as_ref()));
        let rows = of_unit.iter().map(|figure| figure_row(drift, figure, unit, &scale)).collect::<Result<_, _>>()?;
        tables.push(FigureTable { axis: forest::axis(&scale, unit)?, rows });
    }
    let tested = drift.figures.iter().flat_map(|figure| {
        let odd = figure.odd_window.as_ref().map(|odd| &odd.difference);
        [figure.trend.as_ref(), figure.same_items.as_ref(), odd].into_iter().flatten()
    });
    Ok(DriftView {
        lead: lead(drift),
        tables,
        columns: drift.figures.iter().map(|figure| text::visible(format::title(&figure.measure))).collect(),
        window_axis: forest::axis(&first_scale, first_unit)?,
        windows: drift
            .windows
            .iter()
            .enumerate()
            .take(MAX_WINDOWS)
            .map(|(idx, window)| {
                Ok(WindowRow {
                    dates: dates(window.first_ms, window.last_ms),
                    judgements: format::count(window.n_judgements),
                    items: format::count(window.n_items),
                    cells: drift.figures.iter().map(|figure| cell(figure, idx)).collect(),
                    chart: match first.and_then(|figure| figure.windows.get(idx)?.as_ref()) {
                        Some(measure) => forest::draw(measure, first_unit, &first_scale, &[], None)?,
                        None => String::new(),
                    },
                })
            })
            .collect::<Result<_, RenderError>>()?,
        n_omitted: drift.windows.len().saturating_sub(MAX_WINDOWS),
        methods: forest::methods(tested),
    })
}

fn cell(figure: &DriftFigure, window: usize) -> Option<Cell> {
    let measure: &Measure = figure.windows.get(window)?.as_ref()?;
    Some(Cell::new(measure, format::unit(&figure.measure)))
}

fn lead(drift: &Drift) -> String {
    let moved: Vec<&str> =
        drift.figures.iter().filter(|figure| figure.has_drifted).map(|figure| format::title(&figure.measure)).collect();
    let said = if moved.is_empty() {
        "Nothing here is shown to have changed over time.".to_owned()
    } else {
        format!("Changed over time: {}.", text::visible(&moved.join(", ").to_lowercase()))
    };
    let same = match drift.n_items_in_several {
        0 => "No item was asked in two windows, so that a change of the judge cannot be told from a change of what it judged.".to_owned(),
        n => format!("{} asked in several windows tell a change of the judge from a change of what it judged.", format::counted(n, "item")),
    };
    let untimed = match drift.n_untimed {
        0 => String::new(),
        n => format!(" {} without a time take no part.", format::counted(n, "answer")),
    };
    format!("{said} Windows: {}. {same}{untimed}", text::visible(&drift.cut))
}

fn figure_row(drift: &Drift, figure: &DriftFigure, unit: Unit, scale: &Scale) -> Result<FigureRow, RenderError> {
    let p = |p: Option<f64>| p.map_or_else(|| "not defined".to_owned(), format::p_value);
    let odd = figure.odd_window.as_ref().and_then(|odd| {
        let window = drift.windows.get(usize::try_from(odd.window).ok()?)?;
        let difference = format::difference(&odd.difference, unit);
        Some(format!("{}: {difference}, {}", dates(window.first_ms, window.last_ms), format::p_value(odd.p_value)))
    });
    Ok(FigureRow {
        title: text::visible(format::title(&figure.measure)),
        chart: match &figure.trend {
            Some(trend) => forest::draw_difference(trend, unit, scale, None)?,
            None => String::new(),
        },
        trend: figure.trend.as_ref().map(|trend| Cell::difference(trend, unit)),
        p_trend: p(figure.p_trend),
        same: figure.same_items.as_ref().map(|same| Cell::difference(same, unit)),
        p_same: p(figure.p_same_items),
        odd,
        mark: if figure.has_drifted {
            Mark { class: "bad", word: "changed" }
        } else {
            Mark { class: "none", word: "not shown" }
        },
        p_holm: p(figure.p_holm),
        change: figure.change_point.as_ref().map(|point| {
            if point.is_gradual {
                return "steadily: no moment stands out".to_owned();
            }
            format!(
                "about {} (between {} and {}), from {} to {}",
                date(point.at_ms),
                date(point.low_ms),
                date(point.high_ms),
                format::value(point.before, unit),
                format::value(point.after, unit)
            )
        }),
    })
}

fn dates(first: i64, last: i64) -> String {
    let (first, last) = (date(first), date(last));
    if first == last { first } else { format!("{first} to {last}") }
}
