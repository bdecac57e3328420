//! Tallies: shards of a log add up to the log, however it was cut and in whatever order they come; and their statistics are those
//! of the audit.

use std::path::Path;

use assize_calibration::agreement::alpha::{IntervalTally, Metric};
use assize_calibration::agreement::kappa::{Chance, Weighting};
use assize_calibration::audit::result::JudgeAudit;
use assize_calibration::audit::{AuditConfig, audit};
use assize_calibration::cluster::{ClusteredMean, ClusteredSums, Tallies, UnitValue};
use assize_calibration::combinatorics::expected_modal_share;
use assize_calibration::gate::Gate;
use assize_calibration::icc::OneWayTally;
use assize_calibration::judgement::Judgement;
use assize_calibration::log::Log;
use assize_calibration::raters::dawid_skene::{DawidSkeneConfig, dawid_skene};
use assize_calibration::reliability::{Binning, calibration_error};
use assize_calibration::tally::{CellCounts, DrawTally, LabelTally, RatingTally, ScoreTally};
use proptest::prelude::*;

use crate::small_logs::close;

/// The score from which an item is accepted.
const ACCEPT_AT: f64 = 8.0;

/// One judgement of a log.
#[derive(Clone, Debug)]
struct Row {
    cluster: u64,
    item: u64,
    cell: u64,
    good: bool,
    /// From 1 to 10; NaN where unparsed.
    score: f64,
}

/// The tallies of a log, or of a shard of it.
#[derive(Clone, Debug, Default, PartialEq)]
struct All {
    draws: DrawTally,
    labels: LabelTally,
    scores: ScoreTally,
    confidences: ScoreTally,
    ratings: RatingTally,
}

impl All {
    fn of(rows: &[Row]) -> Self {
        let mut all = Self::default();
        for row in rows {
            all.draws.add(row.cluster, row.item, row.cell, row.score);
            if row.score.is_nan() {
                continue;
            }
            let accepts = row.score >= ACCEPT_AT;
            all.labels.add(row.cluster, row.item, u32::from(row.good), u32::from(accepts));
            all.scores.add(row.cluster, row.item, row.score, row.good);
            all.confidences.add(row.cluster, row.item, row.score / 10.0, row.good);
            all.ratings.add(row.item, row.cell, row.score as u32);
        }
        all
    }

    fn merge(&mut self, other: Self) {
        self.draws.merge(other.draws);
        self.labels.merge(other.labels);
        self.scores.merge(other.scores);
        self.confidences.merge(other.confidences);
        self.ratings.merge(other.ratings);
    }

    /// Every statistic, as bits: undefined ones are 0, which no defined one but 0 is.
    fn statistics(&self) -> Vec<u64> {
        let mean = |mean: Option<ClusteredMean>| {
            mean.map_or([0.0; 2], |mean| [mean.estimate, if mean.variance.is_nan() { -1.0 } else { mean.variance }])
        };
        let mut all: Vec<f64> = [
            self.draws.flip_rate(),
            self.draws.unparsed_rate(),
            self.draws.mean_of(&|score| score),
            self.labels.accuracy(),
            self.labels.error_rate(0),
            self.labels.error_rate(1),
            self.confidences.brier_score(),
        ]
        .into_iter()
        .flat_map(mean)
        .collect();
        all.push(self.draws.within_item_sd().unwrap_or(0.0));
        all.extend([Metric::Nominal, Metric::Ordinal, Metric::Interval].map(|m| self.draws.alpha(m).unwrap_or(0.0)));
        let sums = self.draws.one_way(5.5).total();
        all.push(OneWayTally::from_slice(&sums).unwrap().one_way().map_or(0.0, |found| found.rho));
        let kappa = self.labels.kappa(2, Chance::Cohen, &Weighting::Unweighted);
        all.extend(kappa.map_or([0.0; 2], |found| [found.kappa.kappa, found.standard_error.max(0.0)]));
        let area = self.scores.auc();
        all.extend(area.map_or([0.0; 2], |area| [area.estimate, area.standard_error.unwrap_or(0.0)]));
        let curve = self.confidences.reliability_curve(Binning::EqualWidth, 10);
        all.push(curve.and_then(|curve| calibration_error(&curve)).map_or(0.0, |error| error.expected));
        if let Ok(named) = self.ratings.ratings(11) {
            let found = dawid_skene(&named.ratings, DawidSkeneConfig::default());
            all.extend(found.prior.iter().chain(found.log_likelihood.last()));
        }
        all.into_iter().map(f64::to_bits).collect()
    }
}

/// The first 250 groups of the example, four responses each, eight scores each.
fn real_rows() -> Vec<Row> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/rewardbench2/scores.csv");
    let text = std::fs::read_to_string(path).unwrap();
    let mut rows = Vec::new();
    for line in text.lines().skip(1).take(1000) {
        let fields: Vec<&str> = line.split(',').collect();
        let [.., response, gold, _, _, _, _, _, _, _, _] = fields[..] else { panic!("{line}") };
        let (cluster, response): (u64, u64) = (fields[0].parse().unwrap(), response.parse().unwrap());
        rows.extend(fields[fields.len() - 8..].iter().map(|score| Row {
            cluster,
            item: 10 * cluster + response,
            cell: 0,
            good: gold == "1",
            score: score.parse().unwrap_or(f64::NAN),
        }));
    }
    rows
}

fn audited(rows: &[Row]) -> JudgeAudit {
    let mut log = Log::default();
    for row in rows {
        let judgement = Judgement {
            item: row.item.to_string().into(),
            group: Some(row.cluster.to_string().into()),
            label: Some(if row.good { "1" } else { "0" }.into()),
            score: Some(row.score).filter(|score| !score.is_nan()),
            ..Judgement::default()
        };
        log.push(&judgement, 0);
    }
    let config = AuditConfig { accept_at: Some(ACCEPT_AT), scale: Some([1.0, 10.0]), ..AuditConfig::default() };
    audit(&log, &config, &Gate::built_in()).unwrap().judges.remove(0)
}

/// Cuts rows into shards, one row here and the next there, so that items and clusters are split.
fn shards(rows: &[Row], n_shards: usize) -> Vec<All> {
    (0..n_shards)
        .map(|shard| All::of(&rows.iter().skip(shard).step_by(n_shards).cloned().collect::<Vec<_>>()))
        .collect()
}

#[test]
fn shards_of_a_real_log_add_up_to_it_in_any_order() {
    let rows = real_rows();
    let whole = All::of(&rows);
    let statistics = whole.statistics();
    for n_shards in [2, 3, 7] {
        let shards = shards(&rows, n_shards);
        let merged = |order: &mut dyn Iterator<Item = &All>| {
            let mut merged = All::default();
            order.for_each(|shard| merged.merge(shard.clone()));
            merged
        };
        for merged in [merged(&mut shards.iter()), merged(&mut shards.iter().rev())] {
            assert_eq!(merged, whole);
            assert_eq!(merged.statistics(), statistics);
        }
    }
}

#[test]
fn tallies_say_what_the_audit_says() {
    let rows = real_rows();
    let (all, judge) = (All::of(&rows), audited(&rows));
    let measure = |id: &str| judge.measures[id].estimate;
    let mean = |mean: Option<ClusteredMean>, id: &str| {
        let mean = mean.unwrap();
        close(mean.estimate, measure(id), 1e-12);
        assert_eq!(mean.n_clusters, judge.measures[id].n_clusters, "{id}");
    };
    mean(all.draws.flip_rate(), "flip_rate");
    mean(all.draws.unparsed_rate(), "unparsed_rate");
    mean(all.labels.accuracy(), "accuracy");
    mean(all.labels.error_rate(0), "false_accept_rate");
    mean(all.labels.error_rate(1), "false_reject_rate");
    close(all.draws.within_item_sd().unwrap(), measure("within_item_sd"), 1e-12);
    close(all.draws.alpha(Metric::Interval).unwrap(), measure("repeat_alpha"), 1e-12);
    close(all.draws.alpha(Metric::Ordinal).unwrap(), judge.measures["repeat_alpha"].details["alpha_ordinal"], 1e-12);
    let one_way = OneWayTally::from_slice(&all.draws.one_way(5.5).total()).unwrap();
    close(one_way.one_way().unwrap().rho, measure("icc_single"), 1e-12);
    let kappa = all.labels.kappa(2, Chance::Cohen, &Weighting::Unweighted).unwrap();
    close(kappa.kappa.kappa, measure("kappa"), 1e-12);
    assert_eq!(kappa.n_clusters, judge.measures["kappa"].n_clusters);
    close(all.scores.auc().unwrap().estimate, measure("auc"), 1e-12);
    // What has no function of its own follows from the cells: the expected share of the commonest of five draws.
    let share = |cell: CellCounts| {
        let counts: Vec<usize> = cell.answers.iter().map(|(_, n)| *n as usize).collect();
        expected_modal_share(&counts, 5)
    };
    let shares: Vec<f64> = all.draws.cells().filter_map(share).collect();
    close(shares.iter().sum::<f64>() / shares.len() as f64, measure("repeat_consistency"), 1e-12);
}

#[test]
fn tallies_survive_being_written() {
    let all = All::of(&real_rows()[..200]);
    let text = serde_json::to_string(&(&all.draws, &all.labels, &all.scores, &all.ratings)).unwrap();
    let back: (DrawTally, LabelTally, ScoreTally, RatingTally) = serde_json::from_str(&text).unwrap();
    assert_eq!(back, (all.draws, all.labels, all.scores, all.ratings));
}

#[test]
fn nothing_counted_has_no_statistics() {
    let none = All::default();
    assert!(none.draws.flip_rate().is_none() && none.draws.within_item_sd().is_none() && none.draws.units().is_none());
    assert!(none.draws.mean_of(&|score| score).is_none() && none.draws.alpha(Metric::Interval).is_none());
    assert!(none.labels.accuracy().is_none() && none.labels.kappa(2, Chance::Cohen, &Weighting::Unweighted).is_none());
    assert!(none.scores.auc().is_none() && none.scores.brier_score().is_none() && none.ratings.ratings(2).is_err());
    assert_eq!(none.draws.one_way(0.0).n_clusters(), 0);
    let mut unparsed = DrawTally::default();
    unparsed.add(1, 1, 0, f64::NAN);
    assert_eq!(unparsed.unparsed_rate().unwrap().estimate, 1.0);
    assert!(unparsed.flip_rate().is_none() && unparsed.units().is_none());
    let mut labels = LabelTally::default();
    labels.add(1, 1, 0, 5);
    assert!(labels.table(2).is_none() && labels.table(usize::MAX).is_none());
    let mut signs = DrawTally::default();
    for answer in [0.0, -0.0, -1.5, f64::INFINITY, f64::MIN] {
        signs.add(1, 1, 0, answer);
    }
    assert_eq!(signs.units().unwrap().1, [f64::MIN, -1.5, 0.0, f64::INFINITY]);
}

fn any_rows() -> impl Strategy<Value = Vec<Row>> {
    let row = (0_u64..4, 0_u64..3, 0_u64..2, 0_u32..12).prop_map(|(cluster, item, cell, score)| Row {
        cluster,
        item: 10 * cluster + item,
        cell,
        good: (cluster + item) % 2 == 0,
        score: if score == 0 { f64::NAN } else { f64::from(score.min(10)) },
    });
    prop::collection::vec(row, 0..60)
}

proptest! {
    #[test]
    fn merging_is_associative_and_commutative_and_empty_is_neutral(rows in any_rows(), cut in 0.0..1.0_f64, again in 0.0..1.0_f64) {
        let first = (cut * rows.len() as f64) as usize;
        let second = first + (again * (rows.len() - first) as f64) as usize;
        let [a, b, c] = [&rows[..first], &rows[first..second], &rows[second..]].map(All::of);
        let sum = |parts: [&All; 2]| {
            let mut sum = parts[0].clone();
            sum.merge(parts[1].clone());
            sum
        };
        let whole = All::of(&rows);
        let left = sum([&sum([&a, &b]), &c]);
        let right = sum([&a, &sum([&b, &c])]);
        let turned = sum([&sum([&c, &a]), &b]);
        for merged in [&left, &right, &turned, &sum([&whole, &All::default()]), &sum([&All::default(), &whole])] {
            prop_assert_eq!(merged, &whole);
            prop_assert_eq!(merged.statistics(), whole.statistics());
        }
    }

    /// The tallies of one pass over whole clusters merge to rounding.
    #[test]
    fn sums_merge_in_any_order(values in prop::collection::vec((0_u32..6, -5.0..5.0_f64), 1..40), whole_numbers: bool) {
        let values: Vec<(u32, f64)> = values
            .into_iter()
            .map(|(cluster, value)| (cluster, if whole_numbers { value.round() } else { value }))
            .collect();
        let tolerance = if whole_numbers { 0.0 } else { 1e-12 };
        let near = |a: f64, b: f64| (a - b).abs() <= tolerance * (1.0 + b.abs());
        // By cluster, split between two shards.
        let tally = |keep: &dyn Fn(usize) -> bool| {
            let mut tallies: Tallies<2> = Tallies::new(6);
            values.iter().enumerate().filter(|(i, _)| keep(*i)).for_each(|(_, (c, v))| tallies.add(*c, [*v, 1.0]));
            tallies
        };
        let (even, odd, whole) = (tally(&|i| i % 2 == 0), tally(&|i| i % 2 == 1), tally(&|_| true));
        for (first, second) in [(&even, &odd), (&odd, &even)] {
            let mut merged = first.clone();
            merged.merge(second);
            prop_assert_eq!(merged.n_clusters(), whole.n_clusters());
            prop_assert!(near(merged.total()[0], whole.total()[0]) && merged.total()[1] == whole.total()[1]);
        }
        // Sums of units, a unit here being a value and the next.
        let units: Vec<(f64, f64)> = values.windows(2).map(|pair| (pair[0].1, pair[1].1)).collect();
        let one_way = |x: &(f64, f64)| OneWayTally::of_item(2, x.0 + x.1, x.0 * x.0 + x.1 * x.1);
        let interval = |x: &(f64, f64)| IntervalTally::of_unit(2, x.0 + x.1, x.0 * x.0 + x.1 * x.1);
        let forwards = units.iter().map(one_way).fold(OneWayTally::default(), OneWayTally::plus);
        let backwards = units.iter().rev().map(one_way).fold(OneWayTally::default(), |sum, part| part.plus(sum));
        prop_assert!(forwards.to_array().iter().zip(backwards.to_array()).all(|(a, b)| near(*a, b)));
        let forwards = units.iter().map(interval).fold(IntervalTally::default(), IntervalTally::plus);
        let backwards = units.iter().rev().map(interval).fold(IntervalTally::default(), |sum, part| part.plus(sum));
        prop_assert!(forwards.to_array().iter().zip(backwards.to_array()).all(|(a, b)| near(*a, b)));
        // Whole clusters, three shards in two orders.
        let sums = |part: u32| {
            let mut sums = ClusteredSums::default();
            let mut of_part: Vec<&(u32, f64)> = values.iter().filter(|(cluster, _)| cluster % 3 == part).collect();
            of_part.sort_by_key(|(cluster, _)| *cluster);
            for &&(cluster, value) in &of_part {
                sums.push(UnitValue { value, weight: 1.0, cluster });
            }
            sums
        };
        let merged = |order: [u32; 3]| {
            let mut merged = ClusteredSums::default();
            for part in order {
                merged.merge(sums(part));
            }
            merged.merge(ClusteredSums::default());
            merged.mean().unwrap()
        };
        let (one, other) = (merged([0, 1, 2]), merged([2, 0, 1]));
        prop_assert!(near(one.estimate, other.estimate));
        prop_assert!(one.variance.is_nan() == other.variance.is_nan());
        prop_assert!(one.variance.is_nan() || (one.variance - other.variance).abs() <= 1e-12 * (1.0 + other.variance));
        prop_assert_eq!(one.n_clusters, other.n_clusters);
    }
}
