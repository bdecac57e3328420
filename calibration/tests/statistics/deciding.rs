//! Rules of deciding: what a gate makes of figures, and what it must not, each a fact about a small log.

use assize_calibration::audit::result::Fitness;
use assize_calibration::audit::{AuditConfig, audit};
use assize_calibration::gate::{Gate, Limit, LimitState};
use assize_calibration::judgement::{Judgement, Verdict};
use assize_calibration::proportion::clopper_pearson;
use std::collections::BTreeMap;

use crate::small_logs::{Rows, at_most, close};

/// The test of ten texts of five judgements can fail a judge and never pass one.
#[test]
fn ten_texts_of_five_scores_that_did_not_move_pass_no_limit() {
    let mut rows = Rows::default();
    for item in 0..10 {
        (0..5).for_each(|_| rows.score(item, (item % 5) as f64));
    }
    let judge = rows.with_limit("moved_over_one_point", at_most(0.05));
    assert_eq!(judge.measures["moved_over_one_point"].estimate, 0.0);
    assert_eq!(judge.limits[0].state, LimitState::Undecided);
    assert_eq!(judge.fitness, Fitness::Inconclusive);
    // 72 items with none moved show at most 5 %, one-sided at 97.5 %; 71 do not.
    let bound = |n: f64| clopper_pearson(0.0, n, 0.95).unwrap().high;
    assert!(bound(72.0) <= 0.05 && bound(71.0) > 0.05);
    // A judge that strays 2 % of the time has none moved over one point in 50 judgements 36 % of the time.
    close(0.98_f64.powi(50), 0.364, 1e-3);
}

/// n = deff · [z√(L(1−L)) + .84√(p(1−p))]² / (p−L)².
#[test]
fn further_items_have_the_power_that_is_said() {
    let mut rows = Rows::default();
    (0..100).for_each(|item| rows.verdict(item, Some(item < 5), false));
    let judge = rows.with_limit("false_accept_rate", at_most(0.1));
    let limit = &judge.limits[0];
    assert_eq!(limit.state, LimitState::Undecided);
    let (p, l) = (0.05_f64, 0.1_f64);
    let (z, power) = (1.959_964, 0.841_621);
    // Independent items: the design effect is 1 but for the small sample's t.
    let n = (z * (l * (1.0 - l)).sqrt() + power * (p * (1.0 - p)).sqrt()).powi(2) / ((p - l) * (p - l));
    let further = limit.further_items.unwrap() as f64;
    // Rounded up to two digits.
    assert!((n - 100.0 - 0.05 * n..n - 90.0 + 0.05 * n).contains(&further) && further % 10.0 == 0.0, "{further} {n}");
    assert!(limit.further_items_range.is_some());
}

#[test]
fn no_number_of_items_decides_at_the_limit_itself() {
    let mut rows = Rows::default();
    (0..100).for_each(|item| rows.verdict(item, Some(item < 10), false));
    let limit = rows.with_limit("false_accept_rate", at_most(0.1)).limits.remove(0);
    assert_eq!((limit.state, limit.further_items), (LimitState::Undecided, None));
}

/// "Unfit" takes one broken limit of many: the more limits, the stronger the evidence must be (Holm).
#[test]
fn a_limit_broken_alone_may_be_undecided_among_many() {
    let mut rows = Rows::default();
    // 19 of 100 wrongly accepted: beyond .1 alone, p = .01.
    (0..100).for_each(|item| rows.verdict(item, Some(item < 19), false));
    (100..200).for_each(|item| rows.verdict(item, Some(item >= 105), true));
    let of = |ids: &[&str]| {
        let limits: BTreeMap<String, Limit> = ids
            .iter()
            .map(|id| {
                let limit =
                    if *id == "accuracy" { Limit { min: Some(0.5), ..Limit::default() } } else { at_most(0.115) };
                ((*id).to_owned(), limit)
            })
            .collect();
        let gate = Gate { name: "test".to_owned(), limits, truth_optional: true };
        let judge = audit(&rows.0, &AuditConfig::default(), &gate).unwrap().judges.remove(0);
        judge.limits.into_iter().find(|limit| limit.measure == "false_accept_rate").unwrap().state
    };
    assert_eq!(of(&["false_accept_rate"]), LimitState::Broken);
    assert_eq!(of(&["false_accept_rate", "false_reject_rate", "unparsed_rate", "accuracy"]), LimitState::Undecided);
}

/// A judge that accepts whatever it sees is right on a set that holds nothing wrong.
#[test]
fn labels_of_one_kind_leave_a_judge_inconclusive() {
    let mut rows = Rows::default();
    (0..500).for_each(|item| rows.verdict(item, Some(true), true));
    let judge = rows.judge();
    assert_eq!(judge.measures["accuracy"].estimate, 1.0);
    assert_eq!(judge.fitness, Fitness::Inconclusive, "{}", judge.why);
    (500..600).for_each(|item| rows.verdict(item, Some(false), false));
    assert_eq!(rows.judge().fitness, Fitness::Fit);
}

/// A limit that no judge could break is no proof that this one is right.
#[test]
fn a_limit_that_anyone_keeps_shows_nothing() {
    let mut rows = Rows::default();
    (0..400).for_each(|item| rows.verdict(item, Some(item % 2 == 0), item % 4 < 2));
    let at_least = |min: f64| Limit { min: Some(min), ..Limit::default() };
    for (id, limit) in [("accuracy", at_least(0.0)), ("accuracy", at_most(0.9)), ("false_accept_rate", at_most(1.0))] {
        let gate = Gate { limits: [(id.to_owned(), limit)].into(), name: "test".to_owned(), truth_optional: false };
        let audit = audit(&rows.0, &AuditConfig::default(), &gate).unwrap();
        assert_eq!(audit.fitness, Fitness::Inconclusive, "{id}");
    }
}

/// Scores that never vary have no area to speak of, however many there are.
#[test]
fn an_area_of_constant_scores_breaks_no_limit() {
    let mut rows = Rows::default();
    for item in 0..40 {
        let label = if item % 2 == 0 { "1" } else { "0" };
        rows.push(item, Judgement { score: Some(5.0), label: Some(label.into()), ..Judgement::default() });
    }
    let judge = rows.with_limit("auc", Limit { min: Some(0.8), ..Limit::default() });
    assert_eq!(judge.limits[0].state, LimitState::Undecided);
}

/// A perfect score judge has a bound, and enough items show it fit.
#[test]
fn perfect_ranks_are_bounded_and_can_be_fit() {
    let mut rows = Rows::default();
    for item in 0..400_u32 {
        let label = (item % 10).to_string();
        let judgement =
            Judgement { score: Some(f64::from(item % 10)), label: Some(label.into()), ..Judgement::default() };
        rows.push(item as usize, judgement);
    }
    let judge = rows.judge();
    let rank = &judge.measures["spearman"];
    assert!(rank.low.unwrap() > 0.9 && rank.low.unwrap() < 1.0, "{rank:?}");
    assert_eq!(judge.fitness, Fitness::Fit, "{}", judge.why);
}

/// Without labels there is nothing that more items would decide.
#[test]
fn a_log_without_labels_is_told_to_have_none_first() {
    let mut rows = Rows::default();
    for item in 0..40 {
        for accepts in [item % 2 == 0, item % 2 == 0 || item > 35] {
            let verdict = Some(if accepts { Verdict::Accept } else { Verdict::Reject });
            rows.push(item, Judgement { verdict, ..Judgement::default() });
        }
    }
    let judge = rows.judge();
    assert_eq!(judge.fitness, Fitness::Inconclusive);
    assert!(judge.why.starts_with("Nothing here says that its answers are right: add labels"), "{}", judge.why);
    assert!(!judge.why.contains("further items"), "{}", judge.why);
}

/// Two unparsed replies of 42 leave the bound just beyond the limit; twice as many items would not.
#[test]
fn a_limit_that_unparsed_replies_hold_open_says_how_many_items_would_decide() {
    let log = |n: usize| {
        let mut rows = Rows::default();
        for item in 0..n {
            let accepts = match item % 42 {
                0 | 1 => None,
                place => Some(place < 5),
            };
            rows.verdict(item, accepts, false);
        }
        rows
    };
    let (few, many) = (log(42), log(420));
    let judge = few.with_limit("false_accept_rate", at_most(0.22));
    assert_eq!(judge.limits[0].state, LimitState::Undecided, "{}", judge.limits[0].why);
    assert!(judge.limits[0].why.starts_with("because of unparsed replies"), "{}", judge.limits[0].why);
    assert!(judge.limits[0].further_items.is_some_and(|n| n < 378), "{:?}", judge.limits[0]);
    assert_eq!(many.with_limit("false_accept_rate", at_most(0.22)).limits[0].state, LimitState::Met);
}
