//! Whether the place shown changes the answer, apart from the noise that repeating shows.

use crate::cluster::Tallies;
use crate::interval::Spread;
use crate::judgement::{Order, OutcomeKind};

use super::null;
use crate::audit::data::table::{CHOICE_A, CHOICE_B, CHOICE_TIE, Cell, Subject, Table, Unit, is};
use crate::audit::estimate::{Estimated, Measured, Values};

const NEEDS: &[&str] = &["order"];
const NO_ORDERS: &str = "no item was shown in both orders";

/// Answers of one cell: how many chose a, b, neither.
#[derive(Clone, Copy, Default)]
struct Counts([f64; 3]);

impl Counts {
    fn of(subject: &Subject, cell: &Cell) -> Self {
        let mut counts = [0.0; 3];
        for draw in subject.parsed(cell) {
            if is(draw, CHOICE_A) {
                counts[0] += 1.0;
            } else if is(draw, CHOICE_B) {
                counts[1] += 1.0;
            } else {
                counts[2] += 1.0;
            }
        }
        Self(counts)
    }

    fn n(&self) -> f64 {
        self.0.iter().sum()
    }

    /// What swapping adds to the disagreement within either order; at least two answers in each.
    fn excess_over(self, other: Self) -> f64 {
        let across = 1.0 - self.0.iter().zip(&other.0).map(|(x, y)| x * y).sum::<f64>() / (self.n() * other.n());
        across - f64::midpoint(self.flip(), other.flip())
    }

    /// Answers of each kind in both orders, and how many there are in this one.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts of rows")]
    fn dealt_with(self, other: Self) -> ([u32; 3], u32) {
        (std::array::from_fn(|idx| (self.0[idx] + other.0[idx]) as u32), self.n() as u32)
    }

    /// Probability that two of these draws differ.
    fn flip(&self) -> f64 {
        let n = self.n();
        1.0 - self.0.iter().map(|count| count * (count - 1.0)).sum::<f64>() / (n * (n - 1.0))
    }
}

/// Streams of the permutation tests.
const OF_EXCESS: u64 = 0x706f_7301;
const OF_DIRECTION: u64 = 0x706f_7302;
const OF_FIRST: u64 = 0x706f_7303;
const OF_SHIFT: u64 = 0x706f_7304;
const OF_PLACE: u64 = 0x706f_7305;

pub(crate) fn measure(
    table: &Table<'_>,
    subject: &Subject,
    units: &[Unit],
    seed: Option<u64>,
    measured: &mut Measured,
) {
    match table.kind {
        OutcomeKind::Choice => choices(subject, units, seed, measured),
        OutcomeKind::Score | OutcomeKind::Verdict => shift(table, subject, units, seed, measured),
        OutcomeKind::Category => {}
    }
    if table.kind == OutcomeKind::Score {
        place(table, subject, units, seed, measured);
    }
}

/// Returns the cells of a unit in order ab and ba, if it has both.
fn both_orders<'a>(subject: &'a Subject, unit: &Unit) -> Option<(&'a Cell, &'a Cell)> {
    let cells = subject.cells_of(unit);
    let of = |order| cells.iter().find(|cell| cell.order == Some(order));
    Some((of(Order::Ab)?, of(Order::Ba)?))
}

/// Returns the probability that one answer in each order names the same candidate, or tie.
pub(crate) fn unit_swap_consistency(subject: &Subject, unit: &Unit) -> Option<f64> {
    let (ab, ba) = both_orders(subject, unit)?;
    let (ab, ba) = (Counts::of(subject, ab), Counts::of(subject, ba));
    let n = ab.n() * ba.n();
    (n > 0.0).then(|| ab.0.iter().zip(&ba.0).map(|(x, y)| x * y).sum::<f64>() / n)
}

fn choices(subject: &Subject, units: &[Unit], seed: Option<u64>, measured: &mut Measured) {
    let [mut same, mut primacy, mut recency, mut first, mut excess, mut direction, mut wins] =
        [(); 7].map(|()| Values::default());
    let mut answers = [0.0; 3];
    let mut patterns = Patterns::default();
    let (mut pooled_first, mut pooled_decided) = (0.0, 0.0);
    let mut nulls = Nulls::default();
    for unit in units {
        let (mut won, mut n_cells, mut n_parsed) = (0.0, 0.0, 0);
        for cell in subject.cells_of(unit) {
            let counts = Counts::of(subject, cell);
            if cell.n_parsed() > 0 {
                answers.iter_mut().zip(counts.0).for_each(|(sum, count)| *sum += count);
                won += (counts.0[1] + counts.0[2] / 2.0) / counts.n();
                n_cells += 1.0;
                n_parsed += cell.n_parsed();
            }
            let is_ba = cell.order == Some(Order::Ba);
            if cell.order.is_some() {
                pooled_first += counts.0[usize::from(is_ba)];
                pooled_decided += counts.0[0] + counts.0[1];
            }
        }
        if n_cells > 0.0 {
            wins.push(unit, won / n_cells, n_parsed);
        }
        let Some((cell_ab, cell_ba)) = both_orders(subject, unit) else { continue };
        let (ab, ba) = (Counts::of(subject, cell_ab), Counts::of(subject, cell_ba));
        let (n_ab, n_ba) = (ab.n(), ba.n());
        patterns.add(subject, cell_ab, cell_ba);
        if n_ab == 0.0 || n_ba == 0.0 {
            continue;
        }
        let n = cell_ab.n_parsed() + cell_ba.n_parsed();
        let [a1, b1, t1] = ab.0.map(|count| count / n_ab);
        let [a2, b2, t2] = ba.0.map(|count| count / n_ba);
        // Shown first: a in order ab, b in order ba.
        same.push(unit, a1 * a2 + b1 * b2 + t1 * t2, n);
        primacy.push(unit, a1 * b2 + a1 * t2 + t1 * b2, n);
        recency.push(unit, b1 * a2 + b1 * t2 + t1 * a2, n);
        let decided = f64::midpoint(a1 + b1, a2 + b2);
        if decided > 0.0 {
            first.push_weighted(unit, f64::midpoint(a1, b2) / decided, decided, n);
            // Swapping the orders' answers swaps first and second.
            nulls.first.push((unit.cluster, unit.weight * (f64::midpoint(a1, b2) - decided / 2.0)));
        }
        if n_ab >= 2.0 && n_ba >= 2.0 {
            let (own_excess, own_direction) = (ab.excess_over(ba), f64::midpoint(a1 - a2, b2 - b1));
            excess.push(unit, own_excess, n);
            direction.push(unit, own_direction, n);
            nulls.direction.push((unit.cluster, unit.weight * own_direction));
            nulls.excess.push((ab.dealt_with(ba), unit.weight));
            nulls.sum_of_excess += unit.weight * own_excess;
        }
    }
    measured.record(
        "swap_consistency",
        same.proportion("mean over items of Σ p_ab(c)·p_ba(c), c = candidate or tie")
            .map(|value| patterns.details(value)),
        NO_ORDERS,
        NEEDS,
    );
    measured.record(
        "primacy_rate",
        primacy.proportion(
            "pairs of answers, one an order, that lean to the first shown (first twice, or once with a tie)",
        ),
        NO_ORDERS,
        NEEDS,
    );
    measured.record(
        "recency_rate",
        recency.proportion(
            "pairs of answers, one an order, that lean to the second shown (second twice, or once with a tie)",
        ),
        NO_ORDERS,
        NEEDS,
    );
    measured.record(
        "first_position_preference",
        first
            .proportion("answers for the first shown / decided answers, both orders weighing equally")
            .map(|value| value.detail("pooled_first", pooled_first).detail("pooled_decided", pooled_decided))
            .map(|value| nulls.of_first(with_detectable(value), seed)),
        "no item was shown in both orders with a decided answer",
        NEEDS,
    );
    let [n_a, n_b, n_tie] = answers;
    measured.record(
        "win_rate",
        wins.proportion("answers for candidate B, ties half, mean over orders and items")
            .map(|value| value.detail("n_a", n_a).detail("n_b", n_b).detail("n_tie", n_tie)),
        "no answer was parsed",
        &[],
    );
    let few = nulls.excess.len() < 100;
    let of_excess = "under 100 items the interval may cover .80 to .94 instead of .95, and then lies too low: a gate reckons with one \
                     item more that is wholly swayed";
    let of_direction =
        "under 100 items the interval may end too soon: a gate reckons with one item more that is wholly swayed";
    let range = [-1.0, 1.0];
    let noise = "needs two or more repeats in both orders";
    let excess = excess.mean("mean of ½Σ(p_ab(c) − p_ba(c))², without bias from noise, not truncated", range, None);
    let caution = |value: Estimated, text: &str| if few { value.caution(text) } else { value };
    let excess = excess.map(|value| caution(value, of_excess)).map(|value| nulls.of_excess(value, seed));
    measured.record("position_excess", excess, noise, &["order", "repeat"]);
    measured.record(
        "position_direction",
        direction
            .mean("mean of ½[(p_ab(a) − p_ba(a)) + (p_ba(b) − p_ab(b))]", range, None)
            .map(|value| nulls.of_direction(caution(value, of_direction), seed)),
        noise,
        &["order", "repeat"],
    );
}

/// States the smallest preference that such data show.
fn with_detectable(value: Estimated) -> Estimated {
    let smallest = value.minimal_detectable().unwrap_or(f64::NAN);
    value.detail("minimal_detectable", smallest)
}

/// What chance alone would show of the place's effects, item by item.
#[derive(Default)]
struct Nulls {
    first: Vec<(u32, f64)>,
    direction: Vec<(u32, f64)>,
    excess: Vec<(([u32; 3], u32), f64)>,
    sum_of_excess: f64,
}

impl Nulls {
    fn of_first(&self, value: Estimated, seed: Option<u64>) -> Estimated {
        with_null(value, seed.and_then(|seed| null::sign_flip(self.first.iter().copied(), seed, OF_FIRST)))
    }

    fn of_direction(&self, value: Estimated, seed: Option<u64>) -> Estimated {
        with_null(value, seed.and_then(|seed| null::sign_flip(self.direction.iter().copied(), seed, OF_DIRECTION)))
    }

    fn of_excess(&self, value: Estimated, seed: Option<u64>) -> Estimated {
        let excess = |ab: [f64; 3], ba: [f64; 3]| Counts(ab).excess_over(Counts(ba));
        with_null(value, seed.and_then(|seed| null::dealt(&self.excess, self.sum_of_excess, excess, seed, OF_EXCESS)))
    }
}

fn with_null(value: Estimated, null: Option<null::Null>) -> Estimated {
    match null {
        Some(null) => null.details(value),
        None => value,
    }
}

/// Counts of pairs of answers with the same repeat number in both orders.
#[derive(Default)]
struct Patterns {
    /// Pairs of parsed answers.
    pairs: u64,
    consistent: u64,
    primacy: u64,
    recency: u64,
    /// Pairs with one unparsed answer of which the other chooses the first, or the second.
    lone_first: u64,
    lone_second: u64,
    both_unparsed: u64,
}

impl Patterns {
    fn add(&mut self, subject: &Subject, ab: &Cell, ba: &Cell) {
        let mut others = ba.draws.clone().peekable();
        for idx in ab.draws.clone() {
            while others.next_if(|&other| subject.repeats[other] < subject.repeats[idx]).is_some() {}
            let Some(&other) = others.peek() else { break };
            if subject.repeats[other] == subject.repeats[idx] {
                self.count(subject.draws[idx], subject.draws[other]);
            }
        }
    }

    fn count(&mut self, ab: f64, ba: f64) {
        let leans = |choice: f64, first: f64| {
            if is(choice, CHOICE_TIE) || choice.is_nan() {
                0
            } else if is(choice, first) {
                1
            } else {
                -1
            }
        };
        let lean = leans(ab, CHOICE_A) + leans(ba, CHOICE_B);
        let counter = match (ab.is_nan(), ba.is_nan()) {
            (true, true) => &mut self.both_unparsed,
            (true, false) | (false, true) => match lean {
                1.. => &mut self.lone_first,
                ..0 => &mut self.lone_second,
                0 => return,
            },
            (false, false) => {
                self.pairs += 1;
                if is(ab, ba) {
                    &mut self.consistent
                } else if lean > 0 {
                    &mut self.primacy
                } else {
                    &mut self.recency
                }
            }
        };
        *counter += 1;
    }

    fn details(&self, value: Estimated) -> Estimated {
        [
            ("pairs", self.pairs),
            ("consistent", self.consistent),
            ("primacy", self.primacy),
            ("recency", self.recency),
            ("first_and_unparsed", self.lone_first),
            ("second_and_unparsed", self.lone_second),
            ("both_unparsed", self.both_unparsed),
        ]
        .into_iter()
        .fold(value, |value, (name, n)| value.detail(&format!("paired_by_repeat_{name}"), n as f64))
    }
}

/// The shift of the mean by order, for scores and for the share of accepting verdicts.
fn shift(table: &Table<'_>, subject: &Subject, units: &[Unit], seed: Option<u64>, measured: &mut Measured) {
    let mut values = Values::default();
    let mut shifts = Vec::new();
    for unit in units {
        let Some((ab, ba)) = both_orders(subject, unit) else { continue };
        let mean = |cell: &Cell| subject.parsed(cell).sum::<f64>() / cell.n_parsed() as f64;
        if ab.n_parsed() > 0 && ba.n_parsed() > 0 {
            let shift = mean(ab) - mean(ba);
            values.push(unit, shift, ab.n_parsed() + ba.n_parsed());
            shifts.push((unit.cluster, unit.weight * shift));
        }
    }
    let range = match table.scale {
        Some(_) => table.trusted_width().map_or([f64::NEG_INFINITY, f64::INFINITY], |width| [-width, width]),
        None => [-1.0, 1.0],
    };
    let definition = "mean over items of the mean in order ab less the mean in order ba";
    let value = values.mean(definition, range, None);
    let value =
        value.map(|value| with_null(value, seed.and_then(|seed| null::sign_flip(shifts.into_iter(), seed, OF_SHIFT))));
    measured.record("order_shift", value, NO_ORDERS, NEEDS);
}

/// The change of an item's score with the place it is shown at: a within-item slope, clusters independent.
fn place(table: &Table<'_>, subject: &Subject, units: &[Unit], seed: Option<u64>, measured: &mut Measured) {
    // Σ(x − x̄)(y − ȳ) and Σ(x − x̄)² within units.
    let mut sums: Tallies<2> = Tallies::new(table.n_clusters);
    let (mut n, mut n_items) = (0_u64, 0_u64);
    let mut slopes = Vec::new();
    for unit in units {
        let points = || {
            subject
                .cells_of(unit)
                .iter()
                .filter(|cell| cell.place > 0)
                .flat_map(|cell| subject.parsed(cell).map(move |draw| (f64::from(cell.place), draw)))
        };
        let count = points().count();
        if count < 2 {
            continue;
        }
        let of = count as f64;
        let (x, y) = points().fold((0.0, 0.0), |(x, y), point| (x + point.0 / of, y + point.1 / of));
        let (xy, xx) = points().fold((0.0, 0.0), |(xy, xx), point| {
            (xy + (point.0 - x) * (point.1 - y), xx + (point.0 - x) * (point.0 - x))
        });
        if xx > 0.0 {
            sums.add(unit.cluster, [xy, xx]);
            slopes.push((unit.cluster, xy));
            n += count as u64;
            n_items += 1;
        }
    }
    let slope = |sums: &[f64; 2]| (sums[1] > 0.0).then(|| sums[0] / sums[1]);
    let value = sums.jackknife(slope).map(|(estimate, standard_error)| Estimated {
        estimate,
        spread: Spread::Student {
            standard_error,
            degrees: sums.n_clusters() as f64 - 1.0,
            range: [f64::NEG_INFINITY, f64::INFINITY],
        },
        n,
        n_items,
        n_clusters: sums.n_clusters(),
        method: "slope of score on place within items; cluster jackknife, t interval".to_owned(),
        cautions: Vec::new(),
        details: std::collections::BTreeMap::new(),
        worst: None,
    });
    let value =
        value.map(|value| with_null(value, seed.and_then(|seed| null::sign_flip(slopes.into_iter(), seed, OF_PLACE))));
    measured.record("place_slope", value, "no item was shown at two places", &["place"]);
}
