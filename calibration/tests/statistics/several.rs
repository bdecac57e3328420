//! Rules about several judges, arms, people and groups in one log.

use assize_calibration::audit::result::{Agreement, Audit};
use assize_calibration::judgement::{Judgement, Verdict};

use crate::small_logs::{Rows, close};

fn row(judge: &str, accepts: bool) -> Judgement<'static> {
    let verdict = Some(if accepts { Verdict::Accept } else { Verdict::Reject });
    Judgement { judge: judge.to_owned().into(), verdict, ..Judgement::default() }
}

fn agreement<'a>(audit: &'a Audit, among: &str, dimension: Option<&str>) -> &'a Agreement {
    let is_it = |found: &&Agreement| found.among == among && found.dimension.as_deref() == dimension;
    audit.agreement.iter().find(is_it).unwrap_or_else(|| panic!("{among} {dimension:?} in {:#?}", audit.agreement))
}

#[test]
fn agreement_is_told_of_the_arm_it_was_found_in() {
    let mut rows = Rows::default();
    for item in 0..40 {
        for judge in ["j1", "j2"] {
            rows.push(item, Judgement { arm: Some("x".into()), ..row(judge, item % 2 == 0) });
        }
        // Under y the two judged other items, and share none.
        rows.push(100 + item, Judgement { arm: Some("y".into()), ..row("j1", true) });
        rows.push(200 + item, Judgement { arm: Some("y".into()), ..row("j2", false) });
    }
    let audit = rows.audit();
    assert_eq!(audit.agreement.len(), 1);
    let found = agreement(&audit, "j1 (x) and j2 (x)", None);
    close(found.measures["kappa"].estimate, 1.0, 1e-12);
}

#[test]
fn two_judges_have_a_kappa_for_each_dimension() {
    let mut rows = Rows::default();
    for item in 0..40 {
        // On clarity they agree on half of either kind, as chance would; on style always.
        for (judge, clear) in [("j1", item % 2 == 0), ("j2", item % 4 < 2)] {
            rows.push(item, Judgement { dimension: Some("clarity".into()), ..row(judge, clear) });
            rows.push(item, Judgement { dimension: Some("style".into()), ..row(judge, item % 2 == 0) });
        }
    }
    let audit = rows.audit();
    assert_eq!(audit.agreement.len(), 2);
    let of = |dimension| &agreement(&audit, "j1 and j2", Some(dimension)).measures["kappa"];
    close(of("clarity").estimate, 0.0, 1e-12);
    close(of("style").estimate, 1.0, 1e-12);
    assert_eq!((of("clarity").n, of("style").n), (80, 80));
}

#[test]
fn three_judges_have_every_coefficient_of_agreement() {
    let mut rows = Rows::default();
    for item in 0..4 {
        for judge in ["a", "b", "c"] {
            rows.push(item, row(judge, item < 3 || judge == "a"));
        }
    }
    let audit = rows.audit();
    let of = |among: &str, id: &str| agreement(&audit, among, None).measures.get(id).map(|value| value.estimate);
    // The example of docs/explanation/coefficients.md.
    let expected =
        [("fleiss_kappa", 0.4), ("conger_kappa", 3.0 / 7.0), ("ac1", 10.0 / 13.0), ("brennan_prediger", 2.0 / 3.0)];
    for (id, value) in expected {
        close(of("judges", id).unwrap(), value, 1e-12);
    }
    assert_eq!(of("a and b", "conger_kappa"), None, "of two it is Cohen's");
    close(of("a and b", "brennan_prediger").unwrap(), 0.5, 1e-12);
}

/// Four scores a group, three draws each; the right item is ahead by one step in every draw.
fn group_scores(step: f64, base: f64) -> Rows {
    let mut rows = Rows::default();
    for group in 0..40 {
        for place in 0..4 {
            for _ in 0..3 {
                let score = base + step * if place == 0 { 4.0 } else { f64::from(place % 2) };
                let row = Judgement { score: Some(score), ..Judgement::default() };
                let label = if place == 0 { "1" } else { "0" };
                let group: String = format!("g{group}");
                let row = Judgement { group: Some(group.clone().into()), label: Some(label.into()), ..row };
                rows.push(usize::try_from(place).unwrap() + 10 * group[1..].parse::<usize>().unwrap(), row);
            }
        }
    }
    rows
}

#[test]
fn the_best_of_a_group_is_found_at_any_scale_of_scores() {
    for (step, base) in [(1.0, 1.0), (1e-4, 0.9996), (1e-7, 0.0), (1e15, 1e17), (1e200, -3e200)] {
        let judge = group_scores(step, base).judge();
        close(judge.measures["top_of_group_accuracy"].estimate, 1.0, 1e-12);
        for point in &judge.voting.as_ref().unwrap().points {
            let accuracy = point.accuracy.as_ref().unwrap().estimate;
            assert!((accuracy - 1.0).abs() < 1e-9, "{step} {base} k = {}: {accuracy}", point.k);
            close(point.tie_share, 0.0, 1e-12);
        }
    }
}

#[test]
fn scores_that_sum_alike_tie_in_any_unit() {
    // .1 + .2 is .3 + .0 in decimals, though not in floating point.
    let mut rows = Rows::default();
    for group in 0..20 {
        for (item, label, draws) in [(0, "1", [0.1, 0.2]), (1, "0", [0.3, 0.0])] {
            for draw in draws {
                let row = Judgement { score: Some(draw), label: Some(label.into()), ..Judgement::default() };
                rows.push(group * 2 + item, Judgement { group: Some(format!("g{group}").into()), ..row });
            }
        }
    }
    let voting = rows.judge().voting.unwrap();
    let pair = voting.points.iter().find(|point| point.k == 2).unwrap();
    close(pair.tie_share, 1.0, 1e-12);
}

#[test]
fn every_two_of_sixteen_arms_are_compared_and_more_are_said_to_be_too_many() {
    let log = |n_arms: usize| {
        let mut rows = Rows::default();
        for item in 0..12 {
            for arm in 0..n_arms {
                let row = Judgement { label: Some("1".into()), ..row("j", (item + arm) % 3 > 0) };
                rows.push(item, Judgement { arm: Some(format!("arm {arm}").into()), ..row });
            }
        }
        rows.audit()
    };
    let pairs = |audit: &Audit| audit.comparisons.iter().filter(|pair| pair.measure == "accuracy").count();
    let told = |audit: &Audit| audit.problems.iter().any(|problem| problem.code == "comparisons-limited");
    let (few, many) = (log(16), log(17));
    assert_eq!((pairs(&few), told(&few)), (120, false));
    assert_eq!((pairs(&many), told(&many)), (16, true));
}

#[test]
fn arms_are_compared_by_false_accepts_and_false_rejects_on_the_items_these_are_about() {
    let mut rows = Rows::default();
    for item in 0..60 {
        // The strict arm rejects every wrong item, and every third right one; the lax arm accepts everything.
        let is_good = item < 30;
        let label = Some(if is_good { "1" } else { "0" }.into());
        for (arm, accepts) in [("lax", true), ("strict", is_good && item % 3 > 0)] {
            rows.push(item, Judgement { arm: Some(arm.into()), label: label.clone(), ..row("j", accepts) });
        }
    }
    let audit = rows.audit();
    let of = |measure: &str| audit.comparisons.iter().find(|pair| pair.measure == measure).unwrap();
    let (accepts, rejects) = (of("false_accept_rate"), of("false_reject_rate"));
    close(accepts.difference.estimate, -1.0, 1e-12);
    close(rejects.difference.estimate, 1.0 / 3.0, 1e-12);
    assert_eq!((accepts.difference.n_items, rejects.difference.n_items), (30, 30));
    assert_eq!((accepts.better.as_str(), rejects.better.as_str()), ("b", "a"));
    // Ten against none, two-sided and mid-p: 2^-9 less half of 2 * 2^-10.
    close(rejects.p_value.unwrap(), 0.5_f64.powi(10), 1e-12);
    assert_eq!(rejects.test, "McNemar, mid-p");
}

#[test]
fn verdicts_shown_in_two_orders_have_an_accuracy_for_each() {
    use assize_calibration::judgement::Order;
    let mut rows = Rows::default();
    for item in 0..20 {
        for (order, accepts) in [(Order::Ab, true), (Order::Ba, item % 2 == 0)] {
            rows.push(item, Judgement { order: Some(order), label: Some("1".into()), ..row("j", accepts) });
        }
    }
    let measures = rows.judge().measures;
    let of = |id: &str| measures[id].estimate;
    let details = &measures["accuracy_both_orders"].details;
    assert!(!details.keys().any(|name| name.starts_with("paired_by_repeat")), "no candidates: {details:?}");
    close(of("accuracy_ab"), 1.0, 1e-12);
    close(of("accuracy_ba"), 0.5, 1e-12);
    close(of("accuracy_both_orders"), 0.5, 1e-12);
}

#[test]
fn a_judge_that_tells_nothing_apart_is_told_so() {
    let mut rows = Rows::default();
    for item in 0..40 {
        let label = if item % 2 == 0 { "1" } else { "0" };
        rows.push(item, Judgement { score: Some(3.0), label: Some(label.into()), ..Judgement::default() });
    }
    let judge = rows.judge();
    let first = &judge.findings[0];
    assert!(first.what.contains("every item the same answer, 3"), "{first:?}");
    let auc = &judge.measures["auc"];
    assert_eq!((auc.low, auc.high), (None, None));
    assert!(auc.cautions[0].starts_with("no interval"), "{:?}", auc.cautions);
}

#[test]
fn one_item_is_said_to_be_one() {
    let mut rows = Rows::default();
    rows.verdict(0, Some(true), true);
    let judge = rows.judge();
    assert!(judge.findings.iter().any(|finding| finding.what.contains("one item only")), "{:?}", judge.findings);
}

/// Four dimensions of six items are six clusters, whatever the number of units.
#[test]
fn dimensions_of_one_item_are_not_compared_as_if_they_were_independent() {
    let mut rows = Rows::default();
    for item in 0..6 {
        for dimension in ["w", "x", "y", "z"] {
            for (arm, accepts) in [("a", item < 5), ("b", item == 5)] {
                let row = Judgement { dimension: Some(dimension.into()), label: Some("1".into()), ..row("j", accepts) };
                rows.push(item, Judgement { arm: Some(arm.into()), ..row });
            }
        }
    }
    let audit = rows.audit();
    let accuracy = audit.comparisons.iter().find(|pair| pair.measure == "accuracy").unwrap();
    assert_eq!((accuracy.test.as_str(), accuracy.better.as_str()), ("paired t over clusters", "undecided"));
    assert!(accuracy.p_value.unwrap() > 0.05, "{accuracy:?}");
}

/// Without variance a t test says nothing, though ten items that all differ alike say much: 2 · (1/2)^10.
#[test]
fn arms_that_differ_alike_on_every_item_are_told_apart() {
    let mut rows = Rows::default();
    for item in 0..10 {
        for draw in [true, false] {
            for (arm, accepts) in [("steady", true), ("wavering", draw), ("steady too", true)] {
                let row = Judgement { label: Some("1".into()), ..row("j", accepts) };
                rows.push(item, Judgement { arm: Some(arm.into()), ..row });
            }
        }
    }
    let audit = rows.audit();
    let of = |a: &str, b: &str| {
        let is_it = |pair: &&assize_calibration::audit::result::Comparison| {
            pair.measure == "flip_rate" && (pair.a.as_str(), pair.b.as_str()) == (a, b)
        };
        audit.comparisons.iter().find(is_it).unwrap()
    };
    let (differ, same) = (of("steady", "wavering"), of("steady", "steady too"));
    close(differ.p_value.unwrap(), 0.5_f64.powi(9), 1e-15);
    assert_eq!(differ.better, "a");
    assert_eq!((same.p_value, same.better.as_str()), (Some(1.0), "undecided"));
}

#[test]
fn the_best_of_a_group_is_found_beside_one_score_far_off() {
    let mut rows = Rows::default();
    for draw in 0..13 {
        for (item, label, score) in [(0, "1", if draw == 0 { 1e6 } else { 2.0 }), (1, "0", 1.0)] {
            let row = Judgement { score: Some(score), label: Some(label.into()), ..Judgement::default() };
            rows.push(item, Judgement { group: Some("g".into()), ..row });
        }
    }
    for point in rows.judge().voting.unwrap().points {
        close(point.accuracy.unwrap().estimate, 1.0, 1e-12);
        close(point.tie_share, 0.0, 1e-12);
    }
}

#[test]
fn scores_too_large_to_add_have_means_and_a_warning() {
    let mut rows = Rows::default();
    for item in 0..5 {
        for arm in ["x", "y"] {
            let row = Judgement { score: Some(1.7e308), arm: Some(arm.into()), ..Judgement::default() };
            rows.push(item, Judgement { label: Some("-1.7e308".into()), ..row });
        }
    }
    let audit = rows.audit();
    let is_finite = |pair: &assize_calibration::audit::result::Comparison| pair.mean_a.is_finite();
    assert!(!audit.comparisons.is_empty() && audit.comparisons.iter().all(is_finite));
    assert!(audit.judges[0].worst_items.iter().all(|item| item.badness.is_finite()));
    assert!(audit.problems.iter().any(|problem| problem.code == "scores-extreme"));
}

/// A difference of a tenth is not the same number everywhere; what rounding leaves of it is no variance to test by.
#[test]
fn arms_apart_by_a_constant_but_for_rounding_are_told_apart_by_signs() {
    let mut rows = Rows::default();
    for item in 0..10_usize {
        let score = item as f64 / 10.0;
        for (arm, score) in [("x", score), ("y", score + 0.1)] {
            rows.push(item, Judgement { arm: Some(arm.into()), score: Some(score), ..Judgement::default() });
        }
    }
    let audit = rows.audit();
    let scores = audit.comparisons.iter().find(|pair| pair.measure == "mean_score").unwrap();
    assert!(scores.test.starts_with("sign test"), "{scores:?}");
    close(scores.p_value.unwrap(), 0.5_f64.powi(9), 1e-15);
}
