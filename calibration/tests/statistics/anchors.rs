//! Anchors: sets chosen for a study, and what several sets do to the intervals of a judge.

use std::collections::{BTreeMap, BTreeSet};

use assize_calibration::anchors::{AnchorCandidate, AnchorError, AnchorPlan, choose_anchors, fixed_anchors};
use assize_calibration::audit::result::{AnchorFigure, AnchorPoint, Audit};
use assize_calibration::audit::{AuditConfig, audit};
use assize_calibration::crossed::{CrossedValue, crossed_mean};
use assize_calibration::gate::Gate;
use assize_calibration::interval::Spread;
use assize_calibration::judgement::{Judgement, Verdict};
use assize_calibration::log::Log;
use assize_calibration::proportion::ClusteredProportion;
use proptest::prelude::*;
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;

use crate::golden::{assert_close, golden, numbers, rows};
use crate::small_logs::close;

fn row(log: &mut Log, item: usize, is_right: bool, anchors: Option<u32>, set: &str) {
    // Every second item is good.
    let is_good = item.is_multiple_of(2);
    let verdict = Some(if is_right == is_good { Verdict::Accept } else { Verdict::Reject });
    let label = Some(if is_good { "1" } else { "0" }.into());
    let anchor_set = Some(set.into()).filter(|_| !set.is_empty());
    let judgement =
        Judgement { item: format!("{item:03}").into(), verdict, label, anchors, anchor_set, ..Judgement::default() };
    log.push(&judgement, 0);
}

fn audited(log: &Log) -> Audit {
    audit(log, &AuditConfig::default(), &Gate::built_in()).unwrap()
}

fn figure<'a>(point: &'a AnchorPoint, id: &str) -> &'a AnchorFigure {
    point.figures.iter().find(|figure| figure.measure == id).unwrap()
}

/// Items crossed with sets, 1 where right; and the same items without anchors, right where `none` says.
fn crossed_log(table: &[Vec<f64>], none: impl Fn(usize) -> Option<bool>) -> Log {
    let mut log = Log::default();
    for (item, values) in table.iter().enumerate() {
        if let Some(is_right) = none(item) {
            row(&mut log, item, is_right, Some(0), "");
        }
        for (set, value) in values.iter().enumerate() {
            row(&mut log, item, *value > 0.5, Some(2), &format!("set {set}"));
        }
    }
    log
}

#[test]
fn items_crossed_with_sets_agree_with_statsmodels() {
    for table in golden("anchors")["tables"].as_array().unwrap() {
        let values = rows(&table["values"]);
        let cells = values.iter().enumerate().flat_map(|(cluster, of_cluster)| {
            let cell = move |(set, value): (usize, &f64)| CrossedValue {
                value: *value,
                weight: 2.0,
                cluster: cluster as u32,
                set: 7 + set as u32,
            };
            of_cluster.iter().enumerate().map(cell)
        });
        let found = crossed_mean(&cells.collect::<Vec<_>>()).unwrap();
        let expected = |name: &str| table[name].as_f64().unwrap();
        assert_close(found.estimate, expected("estimate"), 1e-9, "estimate");
        assert_close(found.of_clusters, expected("of_clusters"), 1e-9, "of clusters");
        assert_close(found.of_sets, expected("of_sets"), 1e-9, "of sets");
        assert_close(found.residual, expected("residual"), 1e-9, "residual");
        assert_close(found.p_sets().unwrap(), expected("p_sets"), 1e-9, "p");
        let audited = audited(&crossed_log(&values, |_| None));
        let accuracy = &audited.judges[0].measures["accuracy"];
        let [low, high] = numbers(&table["proportion"])[..] else { panic!() };
        assert_close(accuracy.low.unwrap(), low, 1e-9, "low");
        assert_close(accuracy.high.unwrap(), high, 1e-9, "high");
        let point = &audited.anchors[0].points[0];
        assert_eq!((point.anchors, point.n_sets as usize), (Some(2), values[0].len()));
        assert_eq!(figure(point, "accuracy").value, *accuracy);
    }
}

#[test]
fn numbers_of_anchors_are_told_apart_and_held_against_none() {
    let table: Vec<Vec<f64>> =
        (0..60).map(|item| (0..4).map(|set| f64::from((item * 7 + set * 3) % 10 != 0)).collect()).collect();
    let audited = audited(&crossed_log(&table, |item| Some(item % 5 != 0)));
    let arms: Vec<_> = audited.judges.iter().map(|judge| judge.arm.as_deref().unwrap()).collect();
    assert_eq!(arms, ["no anchors", "2 anchors"]);
    let [none, two] = &audited.anchors[0].points[..] else { panic!() };
    assert_eq!((none.n_sets, two.n_sets), (0, 4));
    assert!(figure(none, "accuracy").minus_none.is_none());
    let found = figure(two, "accuracy").minus_none.as_ref().unwrap();
    assert_eq!(found.n_items, 60);
    close(found.difference.estimate, 0.1, 1e-9);
    // The same by the formula.
    let cells = table.iter().enumerate().flat_map(|(cluster, values)| {
        values.iter().enumerate().map(move |(set, value)| CrossedValue {
            value: value - f64::from(cluster % 5 != 0),
            weight: 1.0,
            cluster: cluster as u32,
            set: set as u32,
        })
    });
    let crossed = crossed_mean(&cells.collect::<Vec<_>>()).unwrap();
    let half = f64::hypot(
        2.000_995_378_088_267 * crossed.of_clusters.sqrt(),
        3.182_446_305_284_263 * crossed.between_sets().sqrt(),
    );
    close(found.difference.high.unwrap(), 0.1 + half, 1e-6);
    assert!(found.p_value.unwrap() > 0.0 && found.minimal_detectable.unwrap() > 0.0);
    assert!(
        audited.judges[1]
            .findings
            .iter()
            .any(|finding| finding.what.contains("against no anchors on the same 60 items"))
    );
    // The draws of two sets are no repeats of one question.
    assert_eq!(audited.judges[1].repeats, [1, 1]);
}

/// Where each item was judged under one set, differences are yes and no as those of two arms are, and yet items of one set go together.
#[test]
fn differences_reckon_with_sets_that_share_no_items() {
    let mut log = Log::default();
    let mut cells = Vec::new();
    for item in 0..80_usize {
        let (none, set) = (item % 3 != 0, item / 2 % 4);
        let is_right = set != 1 || item % 8 == 2;
        row(&mut log, item, none, Some(0), "");
        row(&mut log, item, is_right, Some(2), &format!("set {set}"));
        let value = f64::from(u8::from(is_right)) - f64::from(u8::from(none));
        cells.push(CrossedValue { value, weight: 1.0, cluster: item as u32, set: set as u32 });
    }
    let audited = audited(&log);
    let found = figure(&audited.anchors[0].points[1], "accuracy").minus_none.as_ref().unwrap();
    let crossed = crossed_mean(&cells).unwrap();
    assert!(crossed.between_sets() > 0.0);
    let half = f64::hypot(
        1.990_450_210_230_128_5 * crossed.of_clusters.sqrt(),
        3.182_446_305_284_263 * crossed.between_sets().sqrt(),
    );
    close(found.difference.estimate, crossed.estimate, 1e-9);
    close(found.difference.low.unwrap(), crossed.estimate - half, 1e-6);
    close(found.difference.high.unwrap(), (crossed.estimate + half).min(1.0), 1e-6);
    assert_eq!(found.test, "two-way over clusters and sets");
    assert!(found.difference.method.contains("t interval over clusters, widened"), "{}", found.difference.method);
}

#[test]
fn arms_that_tell_anchors_apart_keep_their_names() {
    let mut log = Log::default();
    for item in 0..40_usize {
        for (anchors, arm) in [(0, "plain"), (1, "one")] {
            let verdict =
                Some(if (item + anchors as usize).is_multiple_of(2) { Verdict::Accept } else { Verdict::Reject });
            let label = Some(if item % 3 == 0 { "1" } else { "0" }.into());
            let (item, arm) = (item.to_string().into(), Some(arm.into()));
            log.push(&Judgement { item, verdict, label, arm, anchors: Some(anchors), ..Judgement::default() }, 0);
        }
    }
    let audited = audited(&log);
    let arms: Vec<_> = audited.judges.iter().map(|judge| judge.arm.as_deref().unwrap()).collect();
    assert_eq!(arms, ["plain", "one"]);
    let study = &audited.anchors[0];
    assert_eq!((study.arm.as_deref(), study.points.len()), (None, 2));
    // One set only: the comparison is that of any two arms, and it is said that another set may do otherwise.
    let of_arms = audited.comparisons.iter().find(|one| one.measure == "accuracy").unwrap();
    let found = figure(&study.points[1], "accuracy").minus_none.as_ref().unwrap();
    assert_eq!((&found.difference, found.p_value), (&of_arms.difference, of_arms.p_value));
    assert!(audited.judges[1].findings.iter().any(|finding| finding.what.contains("by how much another")));
}

#[test]
fn the_deployed_set_stands_apart_and_leaves_out_its_own_items() {
    let mut log = Log::default();
    for item in 0..50 {
        row(&mut log, item, true, Some(0), "");
        row(&mut log, item, item % 4 != 0, Some(2), "Deployed");
        for set in ["a", "b", "c"] {
            row(&mut log, item, item % 3 != 0, Some(2), set);
        }
    }
    let config =
        AuditConfig { anchor_items: vec!["003".into(), "007".into(), "nobody".into()], ..AuditConfig::default() };
    let audited = audit(&log, &config, &Gate::built_in()).unwrap();
    let points = &audited.anchors[0].points;
    let described: Vec<_> =
        points.iter().map(|point| (point.words.as_str(), point.is_deployed, point.n_sets, point.n_items)).collect();
    assert_eq!(
        described,
        [("no anchors", false, 0, 50), ("2 anchors", false, 3, 50), ("2 anchors (deployed)", true, 1, 48)]
    );
    let codes: Vec<&str> = audited.problems.iter().map(|problem| problem.code.as_str()).collect();
    assert!(codes.contains(&"anchor-items-unknown") && codes.contains(&"anchor-items-left-out"), "{codes:?}");
    // All sets alike: nothing is between them, and the interval is that of items.
    close(figure(&points[1], "accuracy").sd_between_sets.unwrap(), 0.0, 1e-12);
}

#[test]
fn odd_logs_of_anchors_are_audited() {
    // One item; one set a row; sets without a number; numbers without answers.
    for (n_items, n_sets, anchors) in [(1, 3, Some(1)), (3, 1, None), (2, 2, None), (0, 0, Some(4))] {
        let mut log = Log::default();
        for item in 0..n_items {
            for set in 0..n_sets {
                row(&mut log, item, true, anchors, &set.to_string());
            }
        }
        log.push(&Judgement { item: "x".into(), verdict: Some(Verdict::Accept), ..Judgement::default() }, 0);
        log.push(&Judgement { item: "y".into(), anchors: Some(0), ..Judgement::default() }, 0);
        let audited = audited(&log);
        let text = serde_json::to_string(&audited).unwrap();
        assert_eq!(serde_json::from_str::<Audit>(&text).unwrap(), audited);
    }
    assert_eq!(crossed_mean(&[]), None);
    let none = CrossedValue { value: 1.0, weight: 0.0, cluster: 0, set: 0 };
    assert_eq!(crossed_mean(&[none]), None);
    assert_eq!(crossed_mean(&[CrossedValue { value: f64::NAN, weight: 1.0, ..none }]), None);
}

/// A judge whose sets differ: 95 % intervals of accuracy hold what it is right on over all items and all sets.
#[test]
fn intervals_over_items_and_sets_hold_the_truth() {
    for (n_items, n_sets, item_spread, set_spread) in
        [(60, 2, 0.2, 0.08), (60, 3, 0.2, 0.05), (80, 5, 0.25, 0.0), (80, 5, 0.15, 0.08), (50, 10, 0.2, 0.04)]
    {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let n_runs = 1000;
        let (mut n_held, mut n_plain) = (0, 0);
        for _ in 0..n_runs {
            let mut uniform = |half: f64| half * (2.0 * rng.random::<f64>() - 1.0);
            let sets: Vec<f64> = (0..n_sets).map(|_| uniform(set_spread * 1.732)).collect();
            let table: Vec<Vec<f64>> = (0..n_items)
                .map(|_| {
                    let item = 0.7 + uniform(item_spread);
                    sets.iter().map(|set| f64::from(uniform(0.5) + 0.5 < item + set)).collect()
                })
                .collect();
            let cells = table.iter().enumerate().flat_map(|(cluster, values)| {
                values.iter().enumerate().map(move |(set, value)| CrossedValue {
                    value: *value,
                    weight: 1.0,
                    cluster: cluster as u32,
                    set: set as u32,
                })
            });
            let crossed = crossed_mean(&cells.collect::<Vec<_>>()).unwrap();
            // The interval of an audit, as its golden values show.
            let count = |is: &dyn Fn(&Vec<f64>) -> bool| table.iter().filter(|values| is(values)).count() as u64;
            let proportion = ClusteredProportion {
                estimate: crossed.estimate,
                variance: crossed.of_clusters,
                n_observations: f64::from(n_items * n_sets),
                n_clusters: f64::from(n_items),
                n_clusters_with_event: count(&|values| values.contains(&1.0)),
                n_clusters_with_absence: count(&|values| values.contains(&0.0)),
            };
            let degrees = f64::from(n_sets) - 1.0;
            let spread = Spread::ProportionOfSets { proportion, between: crossed.between_sets(), degrees };
            let interval = spread.interval(crossed.estimate, 0.95).unwrap();
            n_held += i32::from(interval.low <= 0.7 && interval.high >= 0.7);
            // As if these were all sets there are.
            n_plain += i32::from((crossed.estimate - 0.7).abs() <= 2.0 * crossed.of_clusters.sqrt());
        }
        let held = f64::from(n_held) / f64::from(n_runs);
        let plain = f64::from(n_plain) / f64::from(n_runs);
        assert!(held >= 0.945 - 0.016, "{n_items} {n_sets} {set_spread}: {held}");
        if set_spread > 0.07 {
            assert!(plain < 0.9, "sets are seen: {plain}");
        }
    }
}

/// Anchors that change nothing are seldom said to help or to harm: three numbers against none.
#[test]
fn anchors_that_change_nothing_are_rarely_found_to() {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let n_runs = 100;
    let mut n_wrong = 0;
    for _ in 0..n_runs {
        let mut log = Log::default();
        for item in 0..60 {
            let rate = 0.6 + 0.4 * rng.random::<f64>();
            row(&mut log, item, rng.random::<f64>() < rate, Some(0), "");
            for anchors in [1, 2, 4] {
                for set in ["a", "b", "c"] {
                    row(&mut log, item, rng.random::<f64>() < rate, Some(anchors), set);
                }
            }
        }
        let audited = audited(&log);
        let of = |point: &AnchorPoint| {
            let found = figure(point, "accuracy").minus_none.as_ref();
            found.is_some_and(|found| found.standing != "undecided")
        };
        n_wrong += i32::from(audited.anchors[0].points.iter().any(of));
    }
    let wrong = f64::from(n_wrong) / f64::from(n_runs);
    assert!(wrong <= 0.05 + 0.044, "{wrong}");
}

fn candidates(n: usize) -> Vec<(String, &'static str, String)> {
    (0..n).map(|idx| (format!("i{idx}"), if idx % 3 == 0 { "no" } else { "yes" }, format!("g{}", idx / 3))).collect()
}

fn borrowed<'a>(made: &'a [(String, &'static str, String)]) -> Vec<AnchorCandidate<'a>> {
    made.iter().map(|(item, label, group)| AnchorCandidate { item, label, group: Some(group) }).collect()
}

#[test]
fn odd_numbers_of_anchors_are_balanced_over_sets() {
    let made = candidates(60);
    let plan = AnchorPlan { n_anchors: 3, n_sets: 4, seed: 1 };
    let sets = choose_anchors(&borrowed(&made), plan).unwrap();
    assert!(sets.warnings.is_empty(), "{:?}", sets.warnings);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for set in 0..4 {
        for anchor in sets.for_item(set, "new", None) {
            *counts.entry(anchor.label).or_default() += 1;
        }
    }
    assert_eq!(counts, [("no", 6), ("yes", 6)].into());
}

#[test]
fn what_cannot_be_chosen_is_said() {
    let made = candidates(60);
    let all = borrowed(&made);
    let plan = AnchorPlan { n_anchors: 2, n_sets: 3, seed: 1 };
    let choose = |candidates: &[AnchorCandidate<'_>], plan| choose_anchors(candidates, plan).unwrap_err().to_string();
    assert_eq!(choose(&all, AnchorPlan { n_anchors: 0, ..plan }), "the number of anchors must be at least 1");
    assert_eq!(choose(&[all[0], all[0]], plan), "the item \"i0\" is twice among the candidates");
    // All of one group: its own items could have no anchor.
    let told = choose(&all[..3], plan);
    assert_eq!(
        told,
        "2 anchors take more candidates: with the group \"g0\" left out, as for its own items, 0 are left"
    );
    assert!(matches!(choose_anchors(&[], plan), Err(AnchorError::TooFew { n_left: 0, .. })));
    // One label has a single candidate, which its own group may not see.
    let rare: Vec<_> = all.iter().filter(|one| one.label == "yes").copied().chain([all[0]]).collect();
    let sets = choose_anchors(&rare, plan).unwrap();
    assert!(
        sets.warnings[0].contains("1 candidates have the label \"no\", 0 once the largest group"),
        "{:?}",
        sets.warnings
    );
    assert_eq!(sets.for_item(0, "i0", Some("g0")).len(), 2);
    let same: Vec<_> = all.iter().filter(|one| one.label == "yes").take(4).copied().collect();
    let sets = choose_anchors(&same, AnchorPlan { n_sets: 30, ..plan }).unwrap();
    assert!(sets.warnings.iter().any(|warning| warning.contains("tends to give it")), "{:?}", sets.warnings);
    assert!(sets.warnings.iter().any(|warning| warning.contains("the same anchors as another")), "{:?}", sets.warnings);
}

#[test]
fn a_fixed_set_leaves_out_its_groups() {
    let made = candidates(12);
    let all = borrowed(&made);
    let fixed = fixed_anchors(&all, &["i4", "i1"]).unwrap();
    let left_out: Vec<&str> = fixed.left_out.iter().map(|one| one.item).collect();
    assert_eq!(left_out, ["i0", "i1", "i2", "i3", "i4", "i5"]);
    assert_eq!(
        fixed.warnings,
        ["the anchors are not balanced (no: 0, yes: 2): a judge leans to the answer it sees most"]
    );
    assert_eq!(fixed_anchors(&all, &["i99"]).unwrap_err().to_string(), "the item \"i99\" is not among the candidates");
}

proptest! {
    #[test]
    fn no_item_sees_itself_or_its_group(
        n in 8_usize..40, n_anchors in 1_usize..5, n_sets in 1_usize..5, seed in 0_u64..100, n_groups in 3_usize..20,
    ) {
        let made: Vec<(String, &'static str, String)> = (0..n)
            .map(|idx| (format!("i{idx}"), ["a", "b", "c"][idx * 7 % 3], format!("g{}", idx % n_groups)))
            .collect();
        let all = borrowed(&made);
        let plan = AnchorPlan { n_anchors, n_sets, seed };
        let Ok(sets) = choose_anchors(&all, plan) else { return Ok(()) };
        let mut other = all.clone();
        other.reverse();
        let again = choose_anchors(&other, plan).unwrap();
        for set in 0..n_sets {
            let base = sets.for_item(set, "new", None);
            for one in &all {
                let anchors = sets.for_item(set, one.item, one.group);
                prop_assert_eq!(&anchors, &again.for_item(set, one.item, one.group));
                prop_assert_eq!(anchors.len(), n_anchors);
                prop_assert!(anchors.iter().all(|anchor| anchor.item != one.item && anchor.group != one.group));
                let distinct: BTreeSet<&str> = anchors.iter().map(|anchor| anchor.item).collect();
                prop_assert_eq!(distinct.len(), n_anchors);
                // Only the places of those left out are taken by others.
                for (anchor, of_base) in anchors.iter().zip(&base) {
                    prop_assert!(anchor == of_base || of_base.group == one.group);
                }
            }
        }
    }
}
