//! Whether a judge changed over time.
//!
//! Two questions are kept apart. Of *the same items* asked again later, a change can only be the judge's: their chance is that of the
//! answers alone. Of *all items*, a trend may also be that later items are others; its chance is that of items. Windows are cut by
//! time alone, never by what was answered.

mod findings;
mod observed;
mod tests_of_change;
mod together;
mod windows;

use super::AuditConfig;
use super::data::table::{Subject, Table, Unit};
use super::estimate::Values;
use super::result::{Drift, DriftFigure, DriftWindow};
use crate::log::Log;
use crate::paired::holm;

pub(crate) use findings::findings;
pub(crate) use together::report;
pub use windows::{Calendar, Windows};

use observed::{Observation, Observed};
use windows::Cut;

/// Returns when a judge was asked first and last, in milliseconds since 1970; `None` where the log does not say.
pub(crate) fn asked(log: &Log, subject: &Subject) -> Option<[i64; 2]> {
    if log.time.is_empty() {
        return None;
    }
    let times = subject.rows.iter().filter_map(|&row| log.asked_ms(row as usize));
    times.fold(None, |range: Option<[i64; 2]>, time| {
        Some(range.map_or([time, time], |[first, last]| [first.min(time), last.max(time)]))
    })
}

/// Returns how a judge's figures moved over time; `None` where the log has no times, or all are in one window.
pub(crate) fn drift(table: &Table<'_>, subject: &Subject, config: &AuditConfig) -> Option<Drift> {
    if table.log.time.is_empty() {
        return None;
    }
    // Whether it changed is asked of the judge, not of the mix it works in: items count the same, in windows as in tests.
    let unweighted;
    let subject = if table.is_weighted {
        let units = subject.units.iter().map(|unit| Unit { weight: 1.0, ..unit.clone() }).collect();
        unweighted = Subject { units, ..subject.clone() };
        &unweighted
    } else {
        subject
    };
    let times = windows::times(table.log, subject);
    let cut = Cut::new(&times, config.windows)?;
    let span = [*times.first()?, *times.last()?];
    let observed = observed::observed(table, subject, config, &cut, span);
    let windows = described(table, subject, &cut);
    let mut figures: Vec<DriftFigure> =
        observed.iter().map(|observed| figure(table, subject, observed, cut.len(), config)).collect();
    correct(&mut figures, config.level);
    for (figure, observed) in figures.iter_mut().zip(&observed).filter(|(figure, _)| figure.has_drifted) {
        figure.change_point = tests_of_change::change_point(observed, span);
    }
    Some(Drift {
        cut: cut.words.clone(),
        windows,
        n_untimed: (subject.rows.len() - times.len()) as u64,
        n_items_in_several: observed::n_items_in_several(table, subject, &cut),
        figures,
    })
}

fn described(table: &Table<'_>, subject: &Subject, cut: &Cut) -> Vec<DriftWindow> {
    let empty = DriftWindow { first_ms: i64::MAX, last_ms: i64::MIN, n_judgements: 0, n_items: 0 };
    let mut windows = vec![empty; cut.len()];
    let mut last_item = vec![u32::MAX; cut.len()];
    for unit in &subject.units {
        for draw_idx in subject.cells_of(unit).iter().flat_map(|cell| cell.draws.clone()) {
            let Some(time) = table.log.asked_ms(subject.rows[draw_idx] as usize) else { continue };
            let idx = cut.of(time);
            let window = &mut windows[idx];
            window.first_ms = window.first_ms.min(time);
            window.last_ms = window.last_ms.max(time);
            window.n_judgements += 1;
            // Units of an item follow one another.
            if std::mem::replace(&mut last_item[idx], unit.item) != unit.item {
                window.n_items += 1;
            }
        }
    }
    windows
}

fn figure(
    table: &Table<'_>,
    subject: &Subject,
    observed: &Observed,
    n_windows: usize,
    config: &AuditConfig,
) -> DriftFigure {
    let level = config.level;
    let mut by_window = vec![Values::default(); n_windows];
    for Observation { unit, window, value, n, .. } in &observed.observations {
        by_window[*window].push(&subject.units[*unit], *value, *n);
    }
    let range = table.trusted_width().and(table.scale).unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
    let in_window = |values: &Values| {
        let value = if observed.is_points {
            values.mean("mean over the items of the window", range, None)
        } else {
            values.proportion("mean over the items of the window")
        };
        value.map(|value| value.measure(level))
    };
    let trend = tests_of_change::trend(observed, table.n_clusters);
    let same_items = tests_of_change::same_items(observed);
    let odd_window = tests_of_change::odd_window(observed, n_windows, level);
    DriftFigure {
        measure: observed.id.to_owned(),
        windows: by_window.iter().map(in_window).collect(),
        p_trend: trend.as_ref().and_then(tests_of_change::p_value),
        trend: trend.map(|trend| trend.measure(level)),
        p_same_items: same_items.as_ref().and_then(tests_of_change::p_value),
        same_items: same_items.map(|change| change.measure(level)),
        odd_window,
        p_holm: None,
        has_drifted: false,
        change_point: None,
    }
}

/// Corrects for all figures and tests.
fn correct(figures: &mut [DriftFigure], level: f64) {
    let of = |figure: &DriftFigure| {
        [figure.p_trend, figure.p_same_items, figure.odd_window.as_ref().map(|odd| odd.p_value)]
            .map(|p| p.unwrap_or(f64::NAN))
    };
    let p_values: Vec<f64> = figures.iter().flat_map(of).collect();
    for (figure, adjusted) in figures.iter_mut().zip(holm(&p_values).chunks_exact(3)) {
        figure.p_holm = adjusted.iter().copied().filter(|p| !p.is_nan()).reduce(f64::min);
        figure.has_drifted = figure.p_holm.is_some_and(|p| p < 1.0 - level);
    }
}
