//! Whether the same question gets the same answer. Noise is measured within one cell: the same item, judge, order, arm
//! and dimension.

use crate::cluster::{Tallies, UnitValue, clustered_mean};
use crate::combinatorics::{any_flip, expected_modal_share, mean_absolute_difference, pair_flip_rate, span_exceeds};
use crate::interval::{Spread, log_f};
use crate::judgement::OutcomeKind;

use super::AuditConfig;
use super::estimate::{Estimated, Measured, Values};
use super::table::{Subject, Table, Unit};

const NEEDS: &[&str] = &["repeat"];

/// One cell's draws, sorted, with the counts of each distinct value.
#[derive(Default)]
struct Draws {
    sorted: Vec<f64>,
    counts: Vec<usize>,
}

impl Draws {
    fn fill(&mut self, draws: impl Iterator<Item = f64>) {
        self.sorted.clear();
        self.sorted.extend(draws);
        self.sorted.sort_unstable_by(f64::total_cmp);
        self.counts.clear();
        self.counts.extend(self.sorted.chunk_by(|a, b| a.total_cmp(b).is_eq()).map(<[f64]>::len));
    }
}

/// The mean over a unit's cells of one figure.
#[derive(Clone, Copy, Default)]
struct CellMean {
    sum: f64,
    n_cells: usize,
    n_draws: usize,
}

impl CellMean {
    fn add(&mut self, value: Option<f64>, n_draws: usize) {
        if let Some(value) = value {
            self.sum += value;
            self.n_cells += 1;
            self.n_draws += n_draws;
        }
    }

    fn flush(&mut self, unit: &Unit, values: &mut Values) {
        if self.n_cells > 0 {
            values.push(unit, self.sum / self.n_cells as f64, self.n_draws);
        }
        *self = Self::default();
    }
}

/// Returns the number of repeats at which k-dependent figures are stated: the one asked for, or, when fewer than half of
/// the repeated cells reach it, what the median one reaches.
fn stated_repeats(subject: &Subject, units: &[Unit], asked: usize) -> usize {
    let mut lengths: Vec<usize> = units
        .iter()
        .flat_map(|unit| subject.cells_of(unit))
        .map(super::table::Cell::n_parsed)
        .filter(|&n| n >= 2)
        .collect();
    if lengths.is_empty() {
        return asked;
    }
    let middle = lengths.len() / 2;
    let (_, median, _) = lengths.select_nth_unstable(middle);
    asked.min(*median).max(2)
}

/// Sums an intraclass correlation is a function of: N, Σn², m, Σx, Σ(Σx)²/n, Σx².
type IccSums = Tallies<6>;

/// Measures stability over `units`; what it needs and does not find is listed.
pub(crate) fn measure(
    table: &Table<'_>,
    subject: &Subject,
    units: &[Unit],
    config: &AuditConfig,
    measured: &mut Measured,
) {
    let is_score = table.kind == OutcomeKind::Score;
    let k = stated_repeats(subject, units, config.stability_repeats as usize);
    let mut draws = Draws::default();
    let [mut flips, mut differences, mut moved, mut modal, mut any] = [(); 5].map(|()| Values::default());
    let mut variances: Vec<UnitValue> = Vec::new();
    let mut icc = IccSums::new(if is_score { table.n_clusters } else { 0 });
    let mut alpha = AlphaSums::new(table, is_score);
    let mut range_max: Option<(f64, u32)> = None;
    let (mut n_repeated, mut n_short, mut n_judgements, mut n_items) = (0_u64, 0_u64, 0_u64, 0_u64);
    // Where a score was centred matters for rounding only.
    let centre = table.scale.map_or(0.0, |[low, high]| f64::midpoint(low, high));
    for unit in units {
        let [mut flip, mut difference, mut move_, mut share, mut any_] = [CellMean::default(); 5];
        let before = n_repeated;
        for cell in subject.cells_of(unit) {
            if is_score && cell.n_parsed() > 0 {
                let (mut sum, mut squares, mut n) = (0.0, 0.0, 0.0);
                for draw in subject.parsed(cell) {
                    let x = draw - centre;
                    sum += x;
                    squares += x * x;
                    n += 1.0;
                }
                icc.add(unit.cluster, [n, n * n, 1.0, sum, sum * sum / n, squares]);
            }
            if cell.n_parsed() < 2 {
                continue;
            }
            draws.fill(subject.parsed(cell));
            let n = draws.sorted.len();
            n_repeated += 1;
            n_judgements += n as u64;
            flip.add(pair_flip_rate(&draws.counts), n);
            let enough = n >= k;
            n_short += u64::from(!enough);
            share.add(expected_modal_share(&draws.counts, k), n);
            any_.add(any_flip(&draws.counts, k), n);
            if is_score {
                difference.add(mean_absolute_difference(&draws.sorted), n);
                move_.add(span_exceeds(&draws.sorted, k, 1.0), n);
                let mean = draws.sorted.iter().sum::<f64>() / n as f64;
                let squares: f64 = draws.sorted.iter().map(|draw| (draw - mean) * (draw - mean)).sum();
                let df = (n - 1) as f64;
                variances.push(UnitValue { value: squares / df, weight: df, cluster: unit.cluster });
                let range = draws.sorted[n - 1] - draws.sorted[0];
                if range_max.is_none_or(|(largest, _)| range > largest) {
                    range_max = Some((range, unit.item));
                }
            }
            alpha.add(unit.cluster, &draws.sorted, centre);
        }
        flip.flush(unit, &mut flips);
        difference.flush(unit, &mut differences);
        move_.flush(unit, &mut moved);
        share.flush(unit, &mut modal);
        any_.flush(unit, &mut any);
        n_items += u64::from(n_repeated > before);
    }
    let none = "no item was judged twice under the same condition";
    let at_k = |value: Option<Estimated>| {
        value.map(|mut value| {
            value = value.detail("k", k as f64).detail("n_cells_with_fewer", n_short as f64);
            if k < config.stability_repeats as usize {
                let asked = config.stability_repeats;
                value = value.caution(format!("stated at {k} repeats, since most items have no {asked}"));
            }
            value
        })
    };
    measured.record(
        "flip_rate",
        flips.proportion("pairs of draws that differ / pairs of draws, mean over items"),
        none,
        NEEDS,
    );
    measured.record(
        "repeat_consistency",
        at_k(modal.proportion(&format!("expected share of the commonest of {k} draws, over all {k}-subsets"))),
        none,
        NEEDS,
    );
    measured.record(
        "any_flip_rate",
        at_k(any.proportion(&format!("items whose {k} draws are not all the same, over all {k}-subsets"))),
        none,
        NEEDS,
    );
    let counts = Counts { n: n_judgements, n_items };
    measured.record(
        "repeat_alpha",
        alpha.finish(counts),
        "no item was judged twice, or all answers are the same",
        NEEDS,
    );
    if !is_score {
        return;
    }
    let width = table.scale.map(|[low, high]| high - low).filter(|width| *width > 0.0);
    measured.record(
        "mean_abs_difference",
        differences.mean("mean |difference of two draws| of an item", [0.0, f64::INFINITY], width),
        none,
        NEEDS,
    );
    measured.record(
        "moved_over_one_point",
        at_k(moved.proportion(&format!("items whose {k} draws span more than one point, over all {k}-subsets"))),
        none,
        NEEDS,
    );
    measured.record("within_item_sd", within_item_sd(&variances, counts), none, NEEDS);
    let largest = range_max.map(|(range, _)| {
        let mut value = Estimated {
            estimate: range,
            spread: Spread::None,
            n: counts.n,
            n_items: counts.n_items,
            n_clusters: counts.n_items,
            method: "largest less smallest score of one item, the largest of all items".to_owned(),
            cautions: vec!["an extreme of this sample: more items or repeats make it larger".to_owned()],
            details: std::collections::BTreeMap::new(),
            worst: None,
        };
        if let Some(width) = width {
            value = value.detail("share_of_scale", range / width);
        }
        value
    });
    measured.record("within_item_range_max", largest, none, NEEDS);
    intraclass(&icc, counts, measured, n_repeated > 0);
}

#[derive(Clone, Copy)]
struct Counts {
    n: u64,
    n_items: u64,
}

/// √[Σ(nᵢ−1)sᵢ² / Σ(nᵢ−1)], with a t interval on the log scale that is approximate at best.
fn within_item_sd(variances: &[UnitValue], counts: Counts) -> Option<Estimated> {
    let mean = clustered_mean(variances)?;
    let n_clusters = mean.n_clusters;
    let spread = if mean.estimate > 0.0 {
        // d log √v = dv / 2v.
        Spread::Log { standard_error: mean.variance.sqrt() / (2.0 * mean.estimate), degrees: n_clusters as f64 - 1.0 }
    } else {
        Spread::None
    };
    Some(Estimated {
        estimate: mean.estimate.sqrt(),
        spread,
        n: counts.n,
        n_items: counts.n_items,
        n_clusters,
        method: "√(Σ(n−1)s² / Σ(n−1)) over cells; t interval on the log scale over clusters".to_owned(),
        cautions: vec![
            "the interval is approximate: variances differ between items, and it may cover far less".to_owned(),
        ],
        details: [("degrees_of_freedom".to_owned(), variances.iter().map(|value| value.weight).sum())].into(),
        worst: None,
    })
}

/// The one-way intraclass correlation of unbalanced data, with sums as in [`IccSums`]: (ρ, mean squares between, within, n₀).
fn one_way(sums: &[f64; 6]) -> Option<[f64; 4]> {
    let [n, squares_n, m, sum, between, squares] = *sums;
    if m < 2.0 || n <= m {
        return None;
    }
    let n0 = (n - squares_n / n) / (m - 1.0);
    let msb = (between - sum * sum / n) / (m - 1.0);
    let msw = ((squares - between) / (n - m)).max(0.0);
    // What cancellation leaves of a zero is not variance.
    let scale = squares.abs().max(1e-300) / n;
    if msb <= 1e-13 * scale && msw <= 1e-13 * scale {
        return None;
    }
    let msw = if msw <= 1e-13 * scale { 0.0 } else { msw };
    Some([(msb - msw) / (msb + (n0 - 1.0) * msw), msb, msw, n0])
}

fn intraclass(icc: &IccSums, counts: Counts, measured: &mut Measured, is_repeated: bool) {
    let total = icc.total();
    let Some([rho, msb, msw, n0]) = one_way(&total).filter(|_| is_repeated) else {
        let (reason, needs) = if is_repeated {
            ("all scores are the same", &[][..])
        } else {
            ("no item was judged twice under the same condition", NEEDS)
        };
        measured.unmeasured("icc_single", reason, needs);
        measured.unmeasured("icc_mean", reason, needs);
        return;
    };
    let n_clusters = icc.n_clusters();
    let degrees = n_clusters as f64 - 1.0;
    // The jackknife of log F is sound for scores that are far from normal (Arvesen & Schmitz 1970).
    let jackknife = |draws: f64| {
        icc.jackknife(|sums| one_way(sums).map(|[rho, ..]| log_f(rho, draws)).filter(|value| value.is_finite()))
            .map(|(_, standard_error)| standard_error)
    };
    let k = (total[0] / total[2]).round().max(2.0);
    let mean = |rho: f64| k * rho / (1.0 + (k - 1.0) * rho);
    let spread = |draws| match jackknife(draws) {
        Some(standard_error) if standard_error.is_finite() => Spread::LogF { draws, standard_error, degrees },
        _ => Spread::None,
    };
    let single = Estimated {
        estimate: rho,
        spread: spread(n0),
        n: counts.n,
        n_items: counts.n_items,
        n_clusters,
        method: "one-way ICC of unbalanced data, (MSB − MSW)/(MSB + (n₀ − 1)MSW), not truncated; \
                 cluster jackknife of log F"
            .to_owned(),
        cautions: if msw == 0.0 { vec!["no variation within items: no interval".to_owned()] } else { Vec::new() },
        details: [("msb", msb), ("msw", msw), ("n0", n0)].map(|(name, value)| (name.to_owned(), value)).into(),
        worst: None,
    };
    // kρ/(1+(k−1)ρ) = (F_k − 1)/F_k is monotone in ρ: its interval is that of ρ, transformed.
    let mean_of_k = Estimated {
        estimate: mean(rho),
        spread: Spread::MeanOfDraws {
            single: n0,
            draws: k,
            standard_error: jackknife(n0).unwrap_or(f64::NAN),
            degrees,
        },
        method: format!("kρ/(1 + (k−1)ρ) at k = {k}, ρ the one-way ICC; its interval transformed"),
        details: [("k".to_owned(), k)].into(),
        ..single.clone()
    };
    measured.record("icc_single", Some(single), "", &[]);
    measured.record("icc_mean", Some(mean_of_k), "", &[]);
}

/// The sums Krippendorff's alpha is a function of: for scores the interval metric, for answers without order the nominal.
enum AlphaSums {
    /// Σ within-unit squared differences, n, Σx, Σx² of pairable values.
    Interval(Tallies<4>),
    /// Disagreeing pairs, and one count a category; categories are few.
    Nominal { by_cluster: Vec<(f64, Vec<f64>)>, n_categories: usize },
}

impl AlphaSums {
    fn new(table: &Table<'_>, is_score: bool) -> Self {
        if is_score {
            Self::Interval(Tallies::new(table.n_clusters))
        } else {
            let n_categories = table.categories.len().max(3);
            Self::Nominal { by_cluster: vec![(0.0, Vec::new()); table.n_clusters], n_categories }
        }
    }

    /// Adds a unit of at least two sorted values.
    fn add(&mut self, cluster: u32, sorted: &[f64], centre: f64) {
        let n = sorted.len() as f64;
        match self {
            Self::Interval(tallies) => {
                let (sum, squares) = sorted.iter().fold((0.0, 0.0), |(sum, squares), value| {
                    let x = value - centre;
                    (sum + x, squares + x * x)
                });
                // Ordered pairs: 2(nΣx² − (Σx)²)/(n−1).
                let disagreement = if sorted[0].total_cmp(&sorted[sorted.len() - 1]).is_eq() {
                    0.0
                } else {
                    2.0 * (n * squares - sum * sum) / (n - 1.0)
                };
                tallies.add(cluster, [disagreement, n, sum, squares]);
            }
            Self::Nominal { by_cluster, n_categories } => {
                let (disagreement, counts) = &mut by_cluster[cluster as usize];
                counts.resize(*n_categories, 0.0);
                let mut same = 0.0;
                for run in sorted.chunk_by(|a, b| a.total_cmp(b).is_eq()) {
                    let count = run.len() as f64;
                    same += count * (count - 1.0);
                    #[expect(
                        clippy::cast_possible_truncation,
                        clippy::cast_sign_loss,
                        reason = "codes of answers are small ids"
                    )]
                    let idx = run[0] as usize;
                    counts[idx] += count;
                }
                *disagreement += (n * (n - 1.0) - same) / (n - 1.0);
            }
        }
    }

    fn finish(self, counts: Counts) -> Option<Estimated> {
        let is_nominal = matches!(self, Self::Nominal { .. });
        let (estimate, standard_error, n_clusters, expected) = match self {
            Self::Interval(tallies) => {
                let statistic = |sums: &[f64; 4]| interval_alpha(sums).map(|(alpha, _)| alpha);
                let (alpha, standard_error) = tallies.jackknife(statistic)?;
                let (_, expected) = interval_alpha(&tallies.total())?;
                (alpha, standard_error, tallies.n_clusters(), expected)
            }
            Self::Nominal { by_cluster, n_categories } => {
                let mut total = (0.0, vec![0.0; n_categories]);
                for (disagreement, counts) in &by_cluster {
                    total.0 += disagreement;
                    for (sum, count) in total.1.iter_mut().zip(counts) {
                        *sum += count;
                    }
                }
                let n: f64 = total.1.iter().sum();
                let squares: f64 = total.1.iter().map(|count| count * count).sum();
                let (alpha, expected) = nominal_alpha(total.0, n, squares)?;
                let (mut sum, mut sum_squares, mut m) = (0.0, 0.0, 0_u64);
                for (disagreement, counts) in by_cluster.iter().filter(|(_, counts)| !counts.is_empty()) {
                    let own: f64 = counts.iter().sum();
                    let left: f64 =
                        squares + total.1.iter().zip(counts).map(|(all, own)| own * own - 2.0 * all * own).sum::<f64>();
                    // Without this cluster nothing varies: the variance cannot be had this way.
                    let value =
                        nominal_alpha(total.0 - disagreement, n - own, left).map_or(f64::NAN, |(alpha, _)| alpha);
                    sum += value - alpha;
                    sum_squares += (value - alpha) * (value - alpha);
                    m += 1;
                }
                let of = m as f64;
                let variance = (of - 1.0) / of * (sum_squares - sum * sum / of);
                (alpha, variance.max(0.0).sqrt(), m, expected)
            }
        };
        Some(coefficient(
            estimate,
            standard_error,
            n_clusters,
            (expected, is_nominal),
            counts,
            "Krippendorff's alpha, repeats as raters, unit = item × order; cluster jackknife on the scale of atanh",
        ))
    }
}

fn interval_alpha(sums: &[f64; 4]) -> Option<(f64, f64)> {
    let [disagreement, n, sum, squares] = *sums;
    let expected = 2.0 * (n * squares - sum * sum) / (n * (n - 1.0));
    (n > 1.0 && expected > 1e-12 * (squares / n)).then(|| (1.0 - disagreement / n / expected, expected))
}

fn nominal_alpha(disagreement: f64, n: f64, squares: f64) -> Option<(f64, f64)> {
    let expected = (n * n - squares) / (n * (n - 1.0));
    (n > 1.0 && expected > 1e-12).then(|| (1.0 - disagreement / n / expected, expected))
}

/// Returns a chance-corrected coefficient with its interval; at 1 the lower end comes from 0 of m clusters disagreeing.
fn coefficient(
    estimate: f64,
    standard_error: f64,
    n_clusters: u64,
    (expected, is_nominal): (f64, bool),
    counts: Counts,
    method: &str,
) -> Estimated {
    let degrees = n_clusters as f64 - 1.0;
    let spread = if estimate >= 1.0 - 1e-12 {
        // What one disagreement is worth is known only where categories have no distance.
        if is_nominal { Spread::Unseen { n_clusters: n_clusters as f64, size: -1.0 / expected } } else { Spread::None }
    } else if standard_error.is_finite() && standard_error > 0.0 {
        Spread::FisherZ { standard_error: standard_error / (1.0 - estimate * estimate), degrees }
    } else {
        Spread::None
    };
    Estimated {
        estimate,
        spread,
        n: counts.n,
        n_items: counts.n_items,
        n_clusters,
        method: method.to_owned(),
        cautions: Vec::new(),
        details: [("expected_disagreement".to_owned(), expected)].into(),
        worst: None,
    }
}
