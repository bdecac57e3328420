//! Whether the same question gets the same answer. Noise is measured within one cell: the same item, judge, order, arm
//! and dimension.

use crate::cluster::{ClusteredSums, UnitValue};
use crate::combinatorics::{any_flip, expected_modal_share, mean_absolute_difference, pair_flip_rate, span_exceeds};
use crate::interval::Spread;
use crate::judgement::{Order, OutcomeKind};

use super::alpha::{AlphaSums, Counts};
use super::intraclass::IccSums;
use crate::audit::AuditConfig;
use crate::audit::data::table::{CHOICE_A, CHOICE_B, Subject, Table, Unit, is};
use crate::audit::estimate::{Estimated, Measured, Values};

const NEEDS: &[&str] = &["repeat"];
const NONE_REPEATED: &str = "no item was judged twice under the same condition";

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

/// Swaps the codes of both candidates.
fn other_candidate(draw: f64) -> f64 {
    if is(draw, CHOICE_A) {
        CHOICE_B
    } else if is(draw, CHOICE_B) {
        CHOICE_A
    } else {
        draw
    }
}

/// The same figures with unparsed replies as an answer of their own, mean over cells: how some count them.
#[derive(Default)]
struct WithUnparsed {
    flip: (f64, f64),
    modal: (f64, f64),
    any: (f64, f64),
    /// Unparsed replies vote for nothing: the commonest answer's share of all draws, over cells with an answer.
    no_vote: (f64, f64),
    entropy: (f64, f64),
    logarithms: Entropy,
    n_unparsed: usize,
}

/// Shannon's entropy of answers, in bits.
#[derive(Default)]
struct Entropy {
    /// Binary logarithms of whole numbers, from 0 on.
    log2: Vec<f64>,
}

impl Entropy {
    /// Returns the entropy of the answers of one cell; `None` without any.
    fn bits(&mut self, counts: &[usize]) -> Option<f64> {
        let n: usize = counts.iter().sum();
        while self.log2.len() <= n {
            self.log2.push((self.log2.len() as f64).log2());
        }
        let share_times_log = |&count: &usize| count as f64 * (self.log2[n] - self.log2[count]);
        (n > 0).then(|| counts.iter().filter(|count| **count > 0).map(share_times_log).sum::<f64>() / n as f64)
    }
}

impl WithUnparsed {
    /// Adds a cell; its counts are left as they were.
    fn add(&mut self, counts: &mut Vec<usize>, n_unparsed: usize, k: usize) {
        let add = |sum: &mut (f64, f64), value: Option<f64>| {
            if let Some(value) = value {
                *sum = (sum.0 + value, sum.1 + 1.0);
            }
        };
        if !counts.is_empty() && counts.iter().sum::<usize>() + n_unparsed == k {
            let most = counts.iter().copied().max().unwrap_or(0);
            add(&mut self.no_vote, Some(most as f64 / k as f64));
        }
        if n_unparsed > 0 {
            counts.push(n_unparsed);
            self.n_unparsed += n_unparsed;
        }
        self.add_entropy(counts);
        add(&mut self.flip, pair_flip_rate(counts));
        add(&mut self.modal, expected_modal_share(counts, k));
        add(&mut self.any, any_flip(counts, k));
        if n_unparsed > 0 {
            counts.pop();
        }
    }

    fn add_entropy(&mut self, counts: &[usize]) {
        if let Some(bits) = self.logarithms.bits(counts) {
            self.entropy = (self.entropy.0 + bits, self.entropy.1 + 1.0);
        }
    }

    fn detail(&self, value: Estimated, (sum, n): (f64, f64)) -> Estimated {
        if self.n_unparsed > 0 { value.detail("unparsed_as_an_answer", sum / n) } else { value }
    }
}

/// Returns the number of repeats at which k-dependent figures are stated: the one asked for, or, when fewer than half of
/// the repeated cells reach it, what the median one reaches.
pub(crate) fn stated_repeats(subject: &Subject, units: &[Unit], asked: usize) -> usize {
    let mut lengths: Vec<usize> = units
        .iter()
        .flat_map(|unit| subject.cells_of(unit))
        .map(crate::audit::data::table::Cell::n_parsed)
        .filter(|&n| n >= 2)
        .collect();
    if lengths.is_empty() {
        return asked;
    }
    let middle = lengths.len() / 2;
    let (_, median, _) = lengths.select_nth_unstable(middle);
    asked.min(*median).max(2)
}

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
    let mut with_unparsed = WithUnparsed::default();
    let any_unparsed = subject.n_unparsed > 0;
    let mut variances = Variances::default();
    let mut range_max: Option<(f64, u32)> = None;
    let (mut n_repeated, mut n_short, mut n_judgements, mut n_items) = (0_u64, 0_u64, 0_u64, 0_u64);
    // Where a score was centred matters for rounding only.
    let centre = table.scale.map_or(0.0, |[low, high]| f64::midpoint(low, high));
    let mut alpha = AlphaSums::new(table.kind, centre);
    // Of answers by the place chosen: another chance agreement, since places are not chosen as often as candidates.
    let mut alpha_shown = (table.kind == OutcomeKind::Choice).then(|| AlphaSums::new(table.kind, 0.0));
    for unit in units {
        let [mut flip, mut difference, mut move_, mut share, mut any_] = [CellMean::default(); 5];
        let before = n_repeated;
        for cell in subject.cells_of(unit) {
            if cell.len() < 2 {
                continue;
            }
            draws.fill(subject.parsed(cell));
            if any_unparsed {
                with_unparsed.add(&mut draws.counts, cell.n_unparsed, k);
            } else {
                with_unparsed.add_entropy(&draws.counts);
            }
            if cell.n_parsed() < 2 {
                continue;
            }
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
                variances.add(unit.cluster, squares / df, df);
                let range = draws.sorted[n - 1] - draws.sorted[0];
                if range_max.is_none_or(|(largest, _)| range > largest) {
                    range_max = Some((range, unit.item));
                }
            }
            alpha.add(unit.cluster, &draws.sorted);
            if let Some(shown) = alpha_shown.as_mut().filter(|_| cell.order.is_some()) {
                if cell.order == Some(Order::Ba) {
                    draws.fill(subject.parsed(cell).map(other_candidate));
                }
                shown.add(unit.cluster, &draws.sorted);
            }
        }
        flip.flush(unit, &mut flips);
        difference.flush(unit, &mut differences);
        move_.flush(unit, &mut moved);
        share.flush(unit, &mut modal);
        any_.flush(unit, &mut any);
        n_items += u64::from(n_repeated > before);
    }
    let none = NONE_REPEATED;
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
        flips
            .proportion("pairs of draws that differ / pairs of draws, mean over items")
            .map(|value| with_unparsed.detail(value, with_unparsed.flip))
            .map(|value| value.detail("entropy_bits", with_unparsed.entropy.0 / with_unparsed.entropy.1)),
        none,
        NEEDS,
    );
    measured.record(
        "repeat_consistency",
        at_k(modal.proportion(&format!("expected share of the commonest of {k} draws, over all {k}-subsets")))
            .map(|value| with_unparsed.detail(value, with_unparsed.modal))
            .map(|value| {
                let (sum, n) = with_unparsed.no_vote;
                if with_unparsed.n_unparsed > 0 { value.detail("unparsed_as_no_vote", sum / n) } else { value }
            }),
        none,
        NEEDS,
    );
    measured.record(
        "any_flip_rate",
        at_k(any.proportion(&format!("items whose {k} draws are not all the same, over all {k}-subsets")))
            .map(|value| with_unparsed.detail(value, with_unparsed.any)),
        none,
        NEEDS,
    );
    let counts = Counts { n: n_judgements, n_items };
    let mut repeat_alpha = alpha.finish(counts, "repeats as raters, unit = item × order");
    if let Some(shown) = alpha_shown.and_then(|alpha| alpha.finish(counts, "")) {
        repeat_alpha = repeat_alpha.map(|value| value.detail("by_place_chosen", shown.estimate));
    }
    measured.record("repeat_alpha", repeat_alpha, "no item was judged twice, or all answers are the same", NEEDS);
    if !is_score {
        return;
    }
    let width = table.trusted_width();
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
            n_clusters: variances.sums.mean().map_or(0, |mean| mean.n_clusters),
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
}

/// Measures how much of the scores' variance is due to what was scored.
pub(crate) fn measure_intraclass(
    table: &Table<'_>,
    subject: &Subject,
    units: &[Unit],
    config: &AuditConfig,
    measured: &mut Measured,
) {
    if table.kind != OutcomeKind::Score {
        return;
    }
    let centre = table.scale.map_or(0.0, |[low, high]| f64::midpoint(low, high));
    let mut icc = IccSums::new(table.n_clusters, centre);
    let mut counts = Counts::default();
    for unit in units {
        let mut is_repeated = false;
        for cell in subject.cells_of(unit) {
            icc.add(unit.cluster, subject.parsed(cell));
            if cell.n_parsed() >= 2 {
                is_repeated = true;
                counts.n += cell.n_parsed() as u64;
            }
        }
        counts.n_items += u64::from(is_repeated);
    }
    let (reason, needs) = if counts.n > 0 { ("all scores are the same", &[][..]) } else { (NONE_REPEATED, NEEDS) };
    icc.record(config.level, counts, measured, reason, needs);
}

/// Variances within cells.
#[derive(Default)]
struct Variances {
    sums: ClusteredSums,
    n: f64,
    degrees: f64,
    sum: f64,
    sum_of_sds: f64,
}

impl Variances {
    fn add(&mut self, cluster: u32, variance: f64, degrees: f64) {
        self.sums.push(UnitValue { value: variance, weight: degrees, cluster });
        self.n += 1.0;
        self.degrees += degrees;
        self.sum += variance;
        self.sum_of_sds += variance.sqrt();
    }
}

/// √[Σ(nᵢ−1)sᵢ² / Σ(nᵢ−1)], with a t interval on the log scale that is approximate at best.
fn within_item_sd(variances: &Variances, counts: Counts) -> Option<Estimated> {
    let mean = variances.sums.mean()?;
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
        cautions: vec![if mean.estimate > 0.0 {
            "the interval is approximate: variances differ between items, and it may cover far less".to_owned()
        } else {
            "no interval: no item's scores vary".to_owned()
        }],
        details: [
            ("degrees_of_freedom".to_owned(), variances.degrees),
            ("root_of_mean_variance".to_owned(), (variances.sum / variances.n).sqrt()),
            ("mean_of_sds".to_owned(), variances.sum_of_sds / variances.n),
        ]
        .into(),
        worst: None,
    })
}
