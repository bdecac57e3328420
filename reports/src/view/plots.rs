//! Voting curves, threshold sweep and ROC: the chart, what it says in words, and the figures as a table.

use std::fmt::Write as _;

use assize_calibration::audit::catalogue::Unit;
use assize_calibration::audit::result::{CrossValidated, Measure, ThresholdPoint, Thresholds, Voting, VotingPoint};
use serde::Serialize;

use super::forest::{self, Cell};
use super::passing::CostsView;
use crate::chart::{self, Line, LinePoint, Lines, Scale};
use crate::{RenderError, format, text};

/// Size of a chart in CSS pixels. It is drawn for the phone; a wide page sets several side by side.
const SIZE: (u32, u32) = (380, 230);
/// Size of the ROC chart: square, so that the diagonal is one.
pub(super) const SQUARE: (u32, u32) = (380, 340);
/// Most rows of the table of thresholds.
const MAX_THRESHOLDS: usize = 41;

#[derive(Serialize)]
struct Figure {
    title: &'static str,
    chart: String,
    caption: String,
}

#[derive(Serialize)]
struct VotingRow {
    k: u32,
    cells: Vec<Option<Cell>>,
    ties: String,
    empty: String,
}

/// What voting would do.
#[derive(Serialize)]
pub(crate) struct VotingView {
    tie_rule: String,
    items: String,
    figures: Vec<Figure>,
    columns: Vec<&'static str>,
    rows: Vec<VotingRow>,
    bases: Vec<String>,
}

type Pick = fn(&VotingPoint) -> Option<&Measure>;

const CURVES: [(&str, Pick); 4] = [
    ("Accuracy", |point| point.accuracy.as_ref()),
    ("False accepts", |point| point.false_accept_rate.as_ref()),
    ("False rejects", |point| point.false_reject_rate.as_ref()),
    ("Votes that flip", |point| point.flip_rate.as_ref()),
];

fn point(x: f64, measure: &Measure) -> Option<LinePoint> {
    let band = measure.low.zip(measure.high).filter(|(low, high)| low.is_finite() && high.is_finite());
    measure.estimate.is_finite().then_some((x, measure.estimate, band))
}

/// Returns the round scale that holds lines and their bands.
fn y_scale(lines: &[Line]) -> Scale {
    let ends: Vec<f64> = lines
        .iter()
        .flat_map(|line| &line.points)
        .flat_map(|&(_, y, band)| [Some(y), band.map(|(low, _)| low), band.map(|(_, high)| high)])
        .flatten()
        .collect();
    let low = ends.iter().copied().fold(f64::INFINITY, f64::min);
    let high = ends.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut scale = Scale::holding(low.max(0.0), high.min(1.0), 4);
    scale.from = scale.from.max(0.0);
    scale
}

pub(super) fn share_tick(value: f64) -> String {
    format!("{} %", format::plain((value * 1000.0).round() / 10.0))
}

/// Draws what voting would do.
pub(super) fn voting(voting: &Voting) -> Result<VotingView, RenderError> {
    let has = |pick: Pick| voting.points.iter().any(|point| pick(point).is_some());
    let curves: Vec<_> = CURVES.into_iter().filter(|(_, pick)| has(*pick)).collect();
    let mut figures = Vec::new();
    for &(title, pick) in &curves {
        let points: Vec<_> = voting.points.iter().filter_map(|at| point(f64::from(at.k), pick(at)?)).collect();
        let (Some(first), Some(last)) = (points.first().copied(), points.last().copied()) else { continue };
        if points.len() < 2 {
            continue;
        }
        let caption = format!(
            "From {} with {} to {} with {}.",
            format::per_cent(first.1),
            votes(first.0),
            format::per_cent(last.1),
            votes(last.0)
        );
        // Every second label, or fewer, where all would run into each other.
        let every = points.len().div_ceil(9);
        let ticks = points.iter().step_by(every).map(|at| at.0).collect();
        let lines = [Line { points }];
        let chart = Lines {
            x: Scale { from: first.0, to: last.0, ticks },
            y: y_scale(&lines),
            curves: &lines,
            mark_x: None,
            mark_y: None,
            diagonal: false,
            x_title: "votes",
            size: SIZE,
        };
        let label = format!("{title} by number of votes. {caption}");
        figures.push(Figure { title, chart: chart::lines(&chart, &format::plain, &share_tick, &label)?, caption });
    }
    let rows = voting
        .points
        .iter()
        .map(|point| VotingRow {
            k: point.k,
            cells: curves.iter().map(|(_, pick)| pick(point).map(|measure| Cell::new(measure, Unit::Share))).collect(),
            ties: format::per_cent(point.tie_share),
            empty: format::per_cent(point.empty_share),
        })
        .collect();
    let mut items = format!(
        "Every number of votes is computed on the same {} with at least {}",
        format::counted(voting.n_items, "item"),
        format::counted(u64::from(voting.k_max), "answer")
    );
    if voting.n_items_left_out > 0 {
        write!(items, "; {} with fewer left out", format::counted(voting.n_items_left_out, "item"))
            .expect("writing to memory");
    }
    items.push('.');
    Ok(VotingView {
        tie_rule: text::sentence(&voting.tie_rule),
        items,
        figures,
        columns: curves.iter().map(|(title, _)| *title).collect(),
        rows,
        // One row stands for all: the others differ in the number of votes alone.
        bases: forest::bases(curves.iter().filter_map(|(title, pick)| {
            let (k, measure) = voting.points.iter().rev().find_map(|at| Some((at.k, pick(at)?)))?;
            Some((format!("{title} with {}", votes(f64::from(k))), measure))
        })),
    })
}

fn votes(k: f64) -> String {
    if (k - 1.0).abs() < 1e-9 { "one vote".to_owned() } else { format!("{} votes", format::plain(k)) }
}

#[derive(Serialize)]
struct ThresholdRow {
    threshold: String,
    is_chosen: bool,
    far: Cell,
    frr: Cell,
    accuracy: Cell,
    counts: [String; 4],
}

#[derive(Serialize)]
struct CrossValidatedView {
    folds: u32,
    far: Cell,
    frr: Cell,
    bases: Vec<String>,
    without: u32,
}

/// What a threshold on the score would do.
#[derive(Serialize)]
pub(crate) struct ThresholdsView {
    cap: String,
    chosen: Option<String>,
    sweep: String,
    roc: String,
    roc_caption: String,
    rows: Vec<ThresholdRow>,
    n_omitted: usize,
    cross_validated: Option<CrossValidatedView>,
    costs: Option<CostsView>,
    bases: Vec<String>,
}

/// Draws what thresholds would do.
pub(super) fn thresholds(thresholds: &Thresholds, area: Option<&Measure>) -> Result<ThresholdsView, RenderError> {
    let points = &thresholds.points;
    let is_chosen = |at: &ThresholdPoint| thresholds.chosen.is_some_and(|chosen| (chosen - at.threshold).abs() < 1e-12);
    let chosen = points.iter().find(|at| is_chosen(at));
    let chosen_words = chosen.map(|at| {
        format!(
            "Accepting at a score of {} or more keeps false accepts at {} and false rejects at {}.",
            format::plain(at.threshold),
            format::measure(&at.false_accept_rate, Unit::Share),
            format::measure(&at.false_reject_rate, Unit::Share)
        )
    });
    // Many thresholds (continuous scores) would make a table that nobody reads.
    let every = points.len().div_ceil(MAX_THRESHOLDS).max(1);
    let rows: Vec<_> = points
        .iter()
        .enumerate()
        .filter(|(idx, at)| idx % every == 0 || idx + 1 == points.len() || is_chosen(at))
        .map(|(_, at)| ThresholdRow {
            threshold: format::plain(at.threshold),
            is_chosen: is_chosen(at),
            far: Cell::new(&at.false_accept_rate, Unit::Share),
            frr: Cell::new(&at.false_reject_rate, Unit::Share),
            accuracy: Cell::new(&at.accuracy, Unit::Share),
            counts: at.counts.map(format::count),
        })
        .collect();
    Ok(ThresholdsView {
        cap: format::limit(thresholds.cap, Unit::Share),
        sweep: sweep(thresholds, chosen_words.as_deref())?,
        roc: roc(points, chosen)?,
        roc_caption: roc_caption(area),
        costs: thresholds.costs.as_ref().map(super::passing::costs),
        n_omitted: points.len() - rows.len(),
        rows,
        chosen: chosen_words,
        cross_validated: thresholds.cross_validated.as_ref().map(cross_validated),
        bases: forest::bases(points.iter().take(1).flat_map(|at| {
            [
                ("False accepts", &at.false_accept_rate),
                ("False rejects", &at.false_reject_rate),
                ("Accuracy", &at.accuracy),
            ]
        })),
    })
}

fn roc_caption(area: Option<&Measure>) -> String {
    let mut caption =
        "Right items accepted against wrong items accepted, one point a threshold. The diagonal is chance.".to_owned();
    if let Some(area) = area {
        write!(caption, " Area under it: {}.", format::measure(area, Unit::Coefficient)).expect("writing to memory");
    }
    caption
}

fn cross_validated(crossed: &CrossValidated) -> CrossValidatedView {
    CrossValidatedView {
        folds: crossed.folds,
        far: Cell::new(&crossed.false_accept_rate, Unit::Share),
        frr: Cell::new(&crossed.false_reject_rate, Unit::Share),
        bases: forest::bases(
            [("False accepts", &crossed.false_accept_rate), ("False rejects", &crossed.false_reject_rate)].into_iter(),
        ),
        without: crossed.n_folds_without,
    }
}

fn sweep(thresholds: &Thresholds, chosen: Option<&str>) -> Result<String, RenderError> {
    let points = &thresholds.points;
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return Ok(String::new()) };
    if points.len() < 2 || !first.threshold.is_finite() || !last.threshold.is_finite() {
        return Ok(String::new());
    }
    let line = |pick: fn(&ThresholdPoint) -> &Measure| Line {
        points: points.iter().filter_map(|at| point(at.threshold, pick(at))).collect(),
    };
    let lines = [line(|at| &at.false_accept_rate), line(|at| &at.false_reject_rate)];
    let chart = Lines {
        x: Scale {
            from: first.threshold,
            to: last.threshold,
            ticks: Scale::holding(first.threshold, last.threshold, 6)
                .ticks
                .into_iter()
                .filter(|tick| (first.threshold..=last.threshold).contains(tick))
                .collect(),
        },
        y: Scale::unit(),
        curves: &lines,
        mark_x: thresholds.chosen,
        mark_y: Some(thresholds.cap),
        diagonal: false,
        x_title: "accept at a score of at least",
        size: SQUARE,
    };
    let label = format!(
        "False accepts and false rejects by threshold, from {} to {}. {}",
        format::plain(first.threshold),
        format::plain(last.threshold),
        chosen.unwrap_or("No threshold keeps false accepts under the cap.")
    );
    chart::lines(&chart, &format::plain, &share_tick, &label)
}

fn roc(points: &[ThresholdPoint], chosen: Option<&ThresholdPoint>) -> Result<String, RenderError> {
    let mut curve: Vec<(f64, f64)> = points
        .iter()
        .map(|at| (at.false_accept_rate.estimate, 1.0 - at.false_reject_rate.estimate))
        .filter(|(x, y)| x.is_finite() && y.is_finite())
        .chain([(0.0, 0.0), (1.0, 1.0)])
        .collect();
    if curve.len() < 4 {
        return Ok(String::new());
    }
    curve.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut lines = vec![Line { points: curve.iter().map(|&(x, y)| (x, y, None)).collect() }];
    // The chosen threshold is a line of one point: only its dot shows.
    lines.extend(
        chosen.map(|at| Line {
            points: vec![(at.false_accept_rate.estimate, 1.0 - at.false_reject_rate.estimate, None)],
        }),
    );
    let chart = Lines {
        x: Scale::unit(),
        y: Scale::unit(),
        curves: &lines,
        mark_x: None,
        mark_y: None,
        diagonal: true,
        x_title: "wrong items accepted",
        size: SQUARE,
    };
    let label = format!("ROC curve over {} thresholds", points.len());
    chart::lines(&chart, &share_tick, &share_tick, &label)
}
