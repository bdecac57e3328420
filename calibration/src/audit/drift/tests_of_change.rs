//! Tests that a figure did not change: along time, of the same items, in one window, at one moment.

use std::collections::BTreeMap;

use super::super::difference::test;
use super::super::estimate::Estimated;
use super::super::result::{ChangePoint, OddWindow};
use super::observed::{Observation, Observed};
use crate::cluster::Tallies;
use crate::interval::Spread;

/// Fewer items in several windows say nothing of their own.
const FEWEST_SAME_ITEMS: usize = 5;
/// What is below this is rounding.
const ROUNDING: f64 = 1e-12;
/// Degrees of freedom at which t is normal: chance is that of the answers, whose variance is pooled.
const NORMAL: f64 = 1e9;
/// Bai 1997: the .975 quantile of the place of a change, in units of variance over squared change.
const BAI_975: f64 = 11.03;

/// Returns the two-sided p value of no change. `None` where nothing varies: what was not seen cannot be tested.
pub(super) fn p_value(change: &Estimated) -> Option<f64> {
    match change.spread {
        Spread::None => None,
        _ => test(change).0,
    }
}

fn estimated(estimate: f64, spread: Spread, observed: &Observed, n_clusters: u64, method: &str) -> Estimated {
    let mut units: Vec<usize> = observed.observations.iter().map(|one| one.unit).collect();
    units.dedup();
    Estimated {
        estimate,
        spread,
        n: observed.observations.iter().map(|one| one.n as u64).sum(),
        n_items: units.len() as u64,
        n_clusters,
        method: method.to_owned(),
        cautions: Vec::new(),
        details: BTreeMap::new(),
        worst: None,
    }
}

fn student(standard_error: f64, degrees: f64) -> Spread {
    if standard_error > ROUNDING && standard_error.is_finite() && degrees >= 1.0 {
        Spread::Student { standard_error, degrees, range: [f64::NEG_INFINITY, f64::INFINITY] }
    } else {
        Spread::None
    }
}

/// Returns the change from the first moment to the last along the line of least squares, with the interval of a jackknife over
/// clusters. `None` where all was asked at one moment.
pub(super) fn trend(observed: &Observed, n_clusters: usize) -> Option<Estimated> {
    // Σ 1, x, y, xx, xy, with both taken from near their middle so that no digits are lost.
    let origin = observed.observations.first()?.value;
    let mut sums: Tallies<5> = Tallies::new(n_clusters);
    for Observation { cluster, time, value, .. } in &observed.observations {
        let (x, y) = (time - 0.5, value - origin);
        sums.add(*cluster, [1.0, x, y, x * x, x * y]);
    }
    let slope = |sums: &[f64; 5]| {
        let [n, x, y, xx, xy] = *sums;
        let spread = xx - x * x / n;
        (n > 0.0 && spread > ROUNDING * n).then(|| (xy - x * y / n) / spread)
    };
    let (estimate, standard_error) = sums.jackknife(slope).filter(|(estimate, _)| estimate.is_finite())?;
    let m = sums.n_clusters();
    let method =
        "change along the line of least squares from the first moment to the last; cluster jackknife, t interval";
    Some(estimated(estimate, student(standard_error, m as f64 - 2.0), observed, m, method))
}

/// Returns the mean change of items asked in several windows from their first window to their last. The items are fixed: chance is
/// that of the answers, √(Σ vᵢ (1/k + 1/k′))/m with vᵢ the variance of an item's answers over all its windows, which with one answer a
/// window is `McNemar`'s test. Figures that are no means of answers get a t interval over items. `None` for few such items.
pub(super) fn same_items(observed: &Observed) -> Option<Estimated> {
    let mut changes = Vec::new();
    let mut variance = Some(0.0);
    let (mut n, mut clusters) = (0_u64, Vec::new());
    for of_unit in observed.observations.chunk_by(|a, b| a.unit == b.unit).filter(|of_unit| of_unit.len() > 1) {
        let (first, last) = (&of_unit[0], &of_unit[of_unit.len() - 1]);
        changes.push(last.value - first.value);
        clusters.push(first.cluster);
        n += of_unit.iter().map(|one| one.n as u64).sum::<u64>();
        // Pooled: of all answers about their common mean, so that a single answer a window has a variance too.
        let draws: f64 = of_unit.iter().map(|one| one.n as f64).sum();
        let mean = of_unit.iter().map(|one| one.n as f64 * one.value).sum::<f64>() / draws;
        let squares: Option<f64> = of_unit
            .iter()
            .map(|one| one.squares.map(|squares| squares + one.n as f64 * (one.value - mean).powi(2)))
            .sum();
        let of_change = |squares: f64| squares / (draws - 1.0) * (1.0 / first.n as f64 + 1.0 / last.n as f64);
        variance = variance.zip(squares.map(of_change)).map(|(sum, more)| sum + more);
    }
    let m = changes.len();
    if m < FEWEST_SAME_ITEMS {
        return None;
    }
    let items = m as f64;
    let estimate = changes.iter().sum::<f64>() / items;
    clusters.dedup();
    let n_clusters = clusters.len() as u64;
    let (spread, method) = if let Some(variance) = variance {
        let method = "last window less first of the items asked in several; these items, chance of their answers, normal interval";
        (student(variance.sqrt() / items, NORMAL), method)
    } else {
        let squares: f64 = changes.iter().map(|change| (change - estimate).powi(2)).sum();
        let standard_error = (squares / (items * (items - 1.0))).sqrt();
        (
            student(standard_error, items - 1.0),
            "last window less first of the items asked in several; t interval over them",
        )
    };
    let found = estimated(estimate, spread, observed, n_clusters, method);
    Some(Estimated { n, n_items: m as u64, ..found })
}

/// How many observations, and the sum of their values.
#[derive(Clone, Copy, Default)]
struct Sum {
    n: f64,
    sum: f64,
}

impl Sum {
    fn add(&mut self, other: Self) {
        self.n += other.n;
        self.sum += other.sum;
    }

    fn less(self, other: Self) -> Self {
        Self { n: self.n - other.n, sum: self.sum - other.sum }
    }

    fn mean(self) -> f64 {
        self.sum / self.n
    }

    /// What it adds to the deviation of a mean.
    fn deviation(self, mean: f64) -> f64 {
        self.sum - self.n * mean
    }
}

/// Returns the window whose mean departs most from that of all others, by influence values summed over clusters. `None` with fewer
/// than three windows, of which the one departs as far as the other.
pub(super) fn odd_window(observed: &Observed, n_windows: usize, level: f64) -> Option<OddWindow> {
    if n_windows < 3 {
        return None;
    }
    let origin = observed.observations.first()?.value;
    // Of each window its clusters: their sums in it, and in all.
    let mut touching: Vec<Vec<(Sum, Sum)>> = vec![Vec::new(); n_windows];
    let (mut all, mut m) = (Sum::default(), 0_u64);
    // Over clusters: Σ s², Σ s n, Σ n².
    let (mut squares, mut products, mut counts) = (0.0, 0.0, 0.0);
    for of_cluster in observed.observations.chunk_by(|a, b| a.cluster == b.cluster) {
        let mut by_window: BTreeMap<usize, Sum> = BTreeMap::new();
        let mut whole = Sum::default();
        for one in of_cluster {
            let sum = Sum { n: 1.0, sum: one.value - origin };
            by_window.entry(one.window).or_default().add(sum);
            whole.add(sum);
        }
        for (window, sum) in by_window {
            touching[window].push((sum, whole));
        }
        all.add(whole);
        m += 1;
        squares += whole.sum * whole.sum;
        products += whole.sum * whole.n;
        counts += whole.n * whole.n;
    }
    let mut candidates: Vec<(f64, usize, Estimated)> = Vec::new();
    for (window, clusters) in touching.iter().enumerate() {
        let mut inside = Sum::default();
        for (sum, _) in clusters {
            inside.add(*sum);
        }
        let outside = all.less(inside);
        if clusters.len() < 2 || outside.n < 0.5 {
            continue;
        }
        let (mean, others) = (inside.mean(), outside.mean());
        // As if no cluster were in the window, then those that are.
        let mut variance = (squares - 2.0 * others * products + others * others * counts) / (outside.n * outside.n);
        for (sum, whole) in clusters {
            let without = whole.deviation(others) / outside.n;
            let with = sum.deviation(mean) / inside.n - whole.less(*sum).deviation(others) / outside.n;
            variance += with * with - without * without;
        }
        let standard_error = (variance.max(0.0) * m as f64 / (m as f64 - 1.0)).sqrt();
        // As many degrees of freedom as clusters in the window, which is the smaller part.
        let spread = student(standard_error, clusters.len() as f64 - 1.0);
        let method = "the window less all others; influence summed over clusters, t interval";
        let change = estimated(mean - others, spread, observed, m, method);
        if let Some(p) = p_value(&change) {
            candidates.push((p, window, change));
        }
    }
    let n_tested = candidates.len() as f64;
    let (p, window, change) = candidates.into_iter().min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))?;
    Some(OddWindow { window: window as u64, difference: change.measure(level), p_value: (p * n_tested).min(1.0) })
}

/// Returns the moment at which one change explains most, with an interval (Bai 1997, "Estimation of a change point in multiple
/// regression models"), which takes observations as independent. A line through all of time is held against it: where that explains as much, the
/// change has no moment, and the interval of one, made as if it had, would be far too narrow. `None` where there are too few.
pub(super) fn change_point(observed: &Observed, [first, last]: [i64; 2]) -> Option<ChangePoint> {
    let mut ordered: Vec<(f64, f64)> = observed.observations.iter().map(|one| (one.time, one.value)).collect();
    ordered.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let n = ordered.len();
    let origin = ordered.first()?.1;
    let total: f64 = ordered.iter().map(|(_, value)| value - origin).sum();
    // Not at the very ends, where a single value explains itself.
    let margin = (n / 20).max(2);
    let mut best: Option<(f64, usize, f64, f64)> = None;
    let mut sum = 0.0;
    for (idx, pair) in ordered.windows(2).enumerate() {
        sum += pair[0].1 - origin;
        let before = idx + 1;
        // Values of one moment stay together.
        if before < margin || before + margin > n || pair[0].0.total_cmp(&pair[1].0).is_eq() {
            continue;
        }
        let (x, y) = (before as f64, (n - before) as f64);
        let (low, high) = (sum / x, (total - sum) / y);
        let explained = x * y * (high - low).powi(2);
        if best.is_none_or(|(most, ..)| explained > most) {
            best = Some((explained, before, low, high));
        }
    }
    let (_, at, before, after) = best?;
    let residual: f64 = ordered
        .iter()
        .enumerate()
        .map(|(idx, (_, value))| (value - origin - if idx < at { before } else { after }).powi(2))
        .sum();
    let is_gradual = residual_of_line(&ordered, origin).is_some_and(|of_line| of_line <= residual * (1.0 + ROUNDING));
    let variance = residual / (n as f64 - 2.0);
    let change = (after - before).powi(2);
    if change <= ROUNDING {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the observations")]
    let reach = (BAI_975 * variance / change).min(n as f64).ceil() as usize + 1;
    #[expect(clippy::cast_possible_truncation, reason = "within the span of the log")]
    let moment = |idx: usize| {
        // Between the last value before and the first after.
        let (before, after) = (ordered[idx.saturating_sub(1)].0, ordered[idx.min(n - 1)].0);
        first + ((last - first) as f64 * f64::midpoint(before, after)).round() as i64
    };
    Some(ChangePoint {
        at_ms: moment(at),
        is_gradual,
        low_ms: if is_gradual { first } else { moment(at.saturating_sub(reach)) },
        high_ms: if is_gradual { last } else { moment((at + reach).min(n)) },
        before: before + origin,
        after: after + origin,
    })
}

/// Returns what is left of the squares about the line of least squares; `None` where time does not vary.
fn residual_of_line(ordered: &[(f64, f64)], origin: f64) -> Option<f64> {
    let n = ordered.len() as f64;
    let mean = |of: &dyn Fn(&(f64, f64)) -> f64| ordered.iter().map(of).sum::<f64>() / n;
    let (time, value) = (mean(&|one| one.0), mean(&|one| one.1 - origin));
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    for one in ordered {
        let (x, y) = (one.0 - time, one.1 - origin - value);
        xx += x * x;
        xy += x * y;
        yy += y * y;
    }
    (xx > ROUNDING).then(|| yy - xy * xy / xx)
}
