//! What each unit adds to a measure that is a mean over units, so that two judges can be held against each other unit by unit.

use crate::combinatorics::{mean_absolute_difference, pair_flip_rate};
use crate::judgement::{Order, OutcomeKind};

use super::AuditConfig;
use super::accuracy::truth::{Accepts, Hits, is_right};
use super::biases::position::unit_swap_consistency;
use super::data::table::{CHOICE_B, CHOICE_TIE, Subject, Table, Unit, is};

/// A figure of one unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct UnitFigure {
    /// Of the parsed answers; `None` where too few were parsed.
    pub value: Option<f64>,
    /// The least and the most it could be, had the unparsed replies been parsed. `None` where that is not known.
    pub bounds: Option<[f64; 2]>,
    /// Answers it rests on.
    pub n: usize,
}

impl UnitFigure {
    /// The share of answers that are hits; an unparsed reply might have been one. `None` without replies.
    fn share(hits: Hits) -> Option<Self> {
        let Hits { n_met, n, n_unparsed } = hits;
        let all = (n + n_unparsed) as f64;
        (all > 0.0).then(|| Self {
            value: (n > 0).then(|| n_met as f64 / n as f64),
            bounds: Some([n_met as f64 / all, (n_met + n_unparsed) as f64 / all]),
            n,
        })
    }

    fn plain(value: Option<f64>, n: usize) -> Option<Self> {
        value.map(|_| Self { value, bounds: None, n })
    }
}

type OfUnit<'a> = Box<dyn Fn(&Subject, &Unit) -> Option<UnitFigure> + Sync + 'a>;

/// What can be compared unit by unit.
pub(crate) struct Figure<'a> {
    /// The measure's id.
    pub id: &'static str,
    /// In points of the score rather than a share.
    pub is_points: bool,
    /// Its value of a unit.
    pub of: OfUnit<'a>,
}

/// Returns the figures that an outcome of this kind has, in the order of a report.
pub(crate) fn figures<'a>(table: &'a Table<'a>, config: &AuditConfig) -> Vec<Figure<'a>> {
    let accepts = Accepts::of(table, config);
    let mut figures = Vec::new();
    let mut share = |id, of: OfUnit<'a>| figures.push(Figure { id, is_points: false, of });
    right(table, accepts, &mut share);
    if let Some(accepts) = accepts {
        for (id, is_good) in [("false_accept_rate", false), ("false_reject_rate", true)] {
            let of = move |subject: &Subject, unit: &Unit| {
                unit.truth.good.filter(|good| *good == is_good)?;
                UnitFigure::share(Hits::of(subject, unit, None, |draw| accepts.accepts(draw) != is_good))
            };
            share(id, Box::new(of));
        }
        let of = move |subject: &Subject, unit: &Unit| {
            UnitFigure::share(Hits::of(subject, unit, None, |draw| accepts.accepts(draw)))
        };
        share("accept_rate", Box::new(of));
    }
    share("flip_rate", Box::new(|subject, unit| of_repeats(subject, unit, flip)));
    if table.kind == OutcomeKind::Choice {
        share(
            "swap_consistency",
            Box::new(|subject, unit| {
                UnitFigure::plain(unit_swap_consistency(subject, unit), subject.parsed_of(unit).count())
            }),
        );
        share("win_rate", Box::new(wins));
    }
    share("unparsed_rate", Box::new(unparsed));
    if table.kind == OutcomeKind::Score {
        let points: [(&'static str, OfUnit<'a>); 4] = [
            ("mean_score", Box::new(|subject, unit| mean(subject, unit, |draw| draw))),
            (
                "mean_error",
                Box::new(|subject, unit| {
                    let label = unit.truth.value?;
                    mean(subject, unit, |draw| draw - label)
                }),
            ),
            (
                "mean_absolute_error",
                Box::new(|subject, unit| {
                    let label = unit.truth.value?;
                    mean(subject, unit, |draw| (draw - label).abs())
                }),
            ),
            ("mean_abs_difference", Box::new(|subject, unit| of_repeats(subject, unit, mean_absolute_difference))),
        ];
        figures.extend(points.map(|(id, of)| Figure { id, is_points: true, of }));
    }
    figures
}

/// Being right, on the whole and by the order shown.
fn right<'a>(table: &'a Table<'a>, accepts: Option<Accepts>, share: &mut impl FnMut(&'static str, OfUnit<'a>)) {
    let right = is_right(table, accepts);
    let hits = move |subject: &Subject, unit: &Unit, order: Option<Order>| {
        right(unit, 0.0)?;
        Some(Hits::of(subject, unit, order, |draw| right(unit, draw) == Some(true)))
    };
    share("accuracy", Box::new(move |subject, unit| UnitFigure::share(hits(subject, unit, None)?)));
    if !table.log.has_orders() {
        return;
    }
    for (id, order) in [("accuracy_ab", Order::Ab), ("accuracy_ba", Order::Ba)] {
        share(id, Box::new(move |subject, unit| UnitFigure::share(hits(subject, unit, Some(order))?)));
    }
    let both = move |subject: &Subject, unit: &Unit| {
        let ab = UnitFigure::share(hits(subject, unit, Some(Order::Ab))?)?;
        let ba = UnitFigure::share(hits(subject, unit, Some(Order::Ba))?)?;
        let product = |x: Option<f64>, y: Option<f64>| Some(x? * y?);
        let bounds = ab.bounds.zip(ba.bounds).map(|(x, y)| [x[0] * y[0], x[1] * y[1]]);
        Some(UnitFigure { value: product(ab.value, ba.value), bounds, n: ab.n + ba.n })
    };
    share("accuracy_both_orders", Box::new(both));
}

fn mean(subject: &Subject, unit: &Unit, of: impl Fn(f64) -> f64) -> Option<UnitFigure> {
    let (mut mean, mut n) = (0.0, 0_usize);
    for draw in subject.parsed_of(unit) {
        n += 1;
        // A running mean: the sum of large scores may not be a number.
        mean += (of(draw) - mean) / n as f64;
    }
    UnitFigure::plain((n > 0).then_some(mean), n)
}

/// The mean over a unit's cells of a figure of sorted draws.
fn of_repeats(subject: &Subject, unit: &Unit, of: impl Fn(&[f64]) -> Option<f64>) -> Option<UnitFigure> {
    let (mut sum, mut n_cells, mut n_draws) = (0.0, 0.0, 0);
    for cell in subject.cells_of(unit).iter().filter(|cell| cell.n_parsed() > 1) {
        let mut draws: Vec<f64> = subject.parsed(cell).collect();
        draws.sort_unstable_by(f64::total_cmp);
        sum += of(&draws)?;
        n_cells += 1.0;
        n_draws += draws.len();
    }
    UnitFigure::plain((n_cells > 0.0).then(|| sum / n_cells), n_draws)
}

fn flip(sorted: &[f64]) -> Option<f64> {
    let counts: Vec<usize> = sorted.chunk_by(|a, b| a.total_cmp(b).is_eq()).map(<[f64]>::len).collect();
    pair_flip_rate(&counts)
}

/// The preference for candidate B, cells weighing the same.
fn wins(subject: &Subject, unit: &Unit) -> Option<UnitFigure> {
    let (mut sum, mut n_cells, mut n) = (0.0, 0.0, 0);
    for cell in subject.cells_of(unit).iter().filter(|cell| cell.n_parsed() > 0) {
        let points = |draw: f64| match draw {
            draw if is(draw, CHOICE_B) => 1.0,
            draw if is(draw, CHOICE_TIE) => 0.5,
            _ => 0.0,
        };
        sum += subject.parsed(cell).map(points).sum::<f64>() / cell.n_parsed() as f64;
        n_cells += 1.0;
        n += cell.n_parsed();
    }
    UnitFigure::plain((n_cells > 0.0).then(|| sum / n_cells), n)
}

fn unparsed(subject: &Subject, unit: &Unit) -> Option<UnitFigure> {
    let cells = subject.cells_of(unit);
    let n: usize = cells.iter().map(super::data::table::Cell::len).sum();
    let n_unparsed: usize = cells.iter().map(|cell| cell.n_unparsed).sum();
    UnitFigure::plain((n > 0).then(|| n_unparsed as f64 / n as f64), n)
}
