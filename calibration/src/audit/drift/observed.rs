//! What is observed of a figure: its value of each unit in each window.

use super::super::AuditConfig;
use super::super::accuracy::truth::{Accepts, is_right};
use super::super::data::table::{CHOICE_B, CHOICE_TIE, Subject, Table, Unit, is};
use super::windows::Cut;
use crate::combinatorics::pair_flip_rate;
use crate::judgement::OutcomeKind;

/// A unit in a window.
pub(super) struct Observation {
    /// Its place among the judge's units.
    pub unit: usize,
    pub cluster: u32,
    pub window: usize,
    /// When it was asked, on the whole: 0 the first moment of the log, 1 the last.
    pub time: f64,
    pub value: f64,
    /// Draws it rests on.
    pub n: usize,
    /// Their squared deviations from the value; `None` where the value is no mean of draws.
    pub squares: Option<f64>,
}

/// A figure in all windows. Observations come in order of units, and of windows within.
pub(super) struct Observed {
    pub id: &'static str,
    pub is_points: bool,
    pub observations: Vec<Observation>,
}

fn yes(is_so: bool) -> f64 {
    f64::from(u8::from(is_so))
}

type OfDraw<'a> = Box<dyn Fn(&Unit, f64) -> Option<f64> + 'a>;

/// Returns what a draw, which may be unparsed, adds to each figure.
fn of_draws<'a>(table: &'a Table<'a>, config: &AuditConfig) -> Vec<(&'static str, OfDraw<'a>)> {
    let accepts = Accepts::of(table, config);
    let right = is_right(table, accepts);
    let parsed = |draw: f64| Some(draw).filter(|draw| !draw.is_nan());
    let mut figures: Vec<(&'static str, OfDraw<'a>)> = Vec::new();
    figures.push(("accuracy", Box::new(move |unit, draw| right(unit, parsed(draw)?).map(yes))));
    if let Some(accepts) = accepts {
        figures.push(("accept_rate", Box::new(move |_, draw| parsed(draw).map(|draw| yes(accepts.accepts(draw))))));
    }
    match table.kind {
        OutcomeKind::Score => figures.push(("mean_score", Box::new(move |_, draw| parsed(draw)))),
        OutcomeKind::Choice => {
            let wins = |draw: f64| if is(draw, CHOICE_B) { 1.0 } else { yes(is(draw, CHOICE_TIE)) / 2.0 };
            figures.push(("win_rate", Box::new(move |_, draw| parsed(draw).map(wins))));
        }
        OutcomeKind::Verdict | OutcomeKind::Category => {}
    }
    figures.push(("unparsed_rate", Box::new(move |_, draw| Some(yes(draw.is_nan())))));
    figures
}

/// The draws of a unit in one window.
#[derive(Clone, Default)]
struct InWindow {
    draws: Vec<(usize, f64)>,
    times: f64,
}

/// Returns all figures of which something was observed.
pub(super) fn observed(
    table: &Table<'_>,
    subject: &Subject,
    config: &AuditConfig,
    cut: &Cut,
    [first, last]: [i64; 2],
) -> Vec<Observed> {
    let of_draws = of_draws(table, config);
    let ids = of_draws.iter().map(|(id, _)| *id).chain(["flip_rate"]);
    let mut all: Vec<Observed> =
        ids.map(|id| Observed { id, is_points: id == "mean_score", observations: Vec::new() }).collect();
    let span = ((last - first) as f64).max(1.0);
    let mut windows = vec![InWindow::default(); cut.len()];
    for (unit_idx, unit) in subject.units.iter().enumerate() {
        for (cell_idx, cell) in subject.cells_of(unit).iter().enumerate() {
            for draw_idx in cell.draws.clone() {
                let Some(time) = table.log.asked_ms(subject.rows[draw_idx] as usize) else { continue };
                let window = &mut windows[cut.of(time)];
                window.draws.push((cell_idx, subject.draws[draw_idx]));
                window.times += (time - first) as f64 / span;
            }
        }
        for (window_idx, window) in windows.iter_mut().enumerate().filter(|(_, window)| !window.draws.is_empty()) {
            let time = window.times / window.draws.len() as f64;
            let at = |value, n, squares| Observation {
                unit: unit_idx,
                cluster: unit.cluster,
                window: window_idx,
                time,
                value,
                n,
                squares,
            };
            for ((_, of_draw), observed) in of_draws.iter().zip(&mut all) {
                let values = || window.draws.iter().filter_map(|(_, draw)| of_draw(unit, *draw));
                let (mut mean, mut n) = (0.0, 0_usize);
                for value in values() {
                    n += 1;
                    mean += (value - mean) / n as f64;
                }
                if n > 0 {
                    let squares = values().map(|value| (value - mean) * (value - mean)).sum();
                    observed.observations.push(at(mean, n, Some(squares)));
                }
            }
            if let Some((rate, n)) = flips(&window.draws)
                && let Some(observed) = all.last_mut()
            {
                observed.observations.push(at(rate, n, None));
            }
            window.draws.clear();
            window.times = 0.0;
        }
    }
    all.retain(|observed| !observed.observations.is_empty());
    all
}

/// Returns how often two draws of one cell in one window differ, mean over cells, and the draws it rests on.
fn flips(draws: &[(usize, f64)]) -> Option<(f64, usize)> {
    let (mut sum, mut n_cells, mut n) = (0.0, 0.0, 0);
    // Draws of a cell follow one another.
    for cell in draws.chunk_by(|a, b| a.0 == b.0).filter(|cell| cell.len() > 1) {
        let mut parsed: Vec<f64> = cell.iter().map(|(_, draw)| *draw).filter(|draw| !draw.is_nan()).collect();
        parsed.sort_unstable_by(f64::total_cmp);
        let counts: Vec<usize> = parsed.chunk_by(|a, b| a.total_cmp(b).is_eq()).map(<[f64]>::len).collect();
        if let Some(rate) = pair_flip_rate(&counts) {
            sum += rate;
            n_cells += 1.0;
            n += parsed.len();
        }
    }
    (n_cells > 0.0).then(|| (sum / n_cells, n))
}

/// Returns how many items were asked in more than one window.
pub(super) fn n_items_in_several(table: &Table<'_>, subject: &Subject, cut: &Cut) -> u64 {
    let mut n = 0;
    // Units of an item follow one another.
    for units in subject.units.chunk_by(|a, b| a.item == b.item) {
        let draws = units.iter().flat_map(|unit| subject.cells_of(unit)).flat_map(|cell| cell.draws.clone());
        let mut windows =
            draws.filter_map(|idx| table.log.asked_ms(subject.rows[idx] as usize)).map(|time| cut.of(time));
        let first = windows.next();
        n += u64::from(windows.any(|window| Some(window) != first));
    }
    n
}
