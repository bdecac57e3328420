//! Where intervals are known to end too soon no limit is met or broken by them; more clusters decide.

use assize_calibration::audit::result::{Fitness, JudgeAudit};
use assize_calibration::audit::{AuditConfig, audit};
use assize_calibration::gate::{Gate, Limit, LimitState};
use assize_calibration::judgement::{Choice, Judgement};

use crate::small_logs::{Rows, at_most, close};

fn at_least(min: f64) -> Limit {
    Limit { min: Some(min), ..Limit::default() }
}

fn swapped(n_items: usize) -> Rows {
    let (a, b) = (Some(Choice::A), Some(Choice::B));
    let mut rows = Rows::default();
    for item in 0..n_items {
        // A steady judge, which wavers on one item of ten in either order.
        let answers = if item % 10 == 0 { [a, b] } else { [a, a] };
        rows.in_orders(item, &Judgement::default(), &answers, &answers);
    }
    rows
}

#[test]
fn an_excess_is_under_its_limit_only_if_one_more_swayed_item_leaves_it_there() {
    let judge = swapped(20).with_limit("position_excess", at_most(0.1));
    let (measure, limit) = (&judge.measures["position_excess"], &judge.limits[0]);
    assert!(measure.high.unwrap() < 0.1, "the t interval keeps the limit");
    assert_eq!((limit.state, judge.fitness), (LimitState::Undecided, Fitness::Inconclusive));
    assert!(limit.why.contains("one item more") && limit.further_items.is_some(), "{}", limit.why);
    let judge = swapped(200).with_limit("position_excess", at_most(0.1));
    assert_eq!(judge.limits[0].state, LimitState::Met, "{}", judge.limits[0].why);
}

/// Items a point apart with noise of half a point.
fn scored(n_items: usize) -> Rows {
    let mut rows = Rows::default();
    for item in 0..n_items {
        let mean = (item % 5) as f64;
        rows.scores(&[(item, mean), (item, mean + 0.5 + 0.1 * (item % 3) as f64), (item, mean - 0.5)]);
    }
    rows
}

#[test]
fn a_correlation_of_scores_is_not_broken_by_few_items() {
    let of = |n_items: usize, limit| scored(n_items).with_limit("icc_single", limit).limits.remove(0);
    let few = of(30, at_least(0.99));
    assert_eq!(few.state, LimitState::Undecided);
    assert!(few.why.contains("30 clusters, 50 would do"), "{}", few.why);
    assert!(few.further_items.is_some_and(|n| n >= 20), "{few:?}");
    assert_eq!(of(60, at_least(0.99)).state, LimitState::Broken);
    // The lower end holds with few items too.
    assert_eq!(of(30, at_least(0.5)).state, LimitState::Met);
}

fn still(n_items: usize, n_that_move: usize, scale: Option<[f64; 2]>) -> JudgeAudit {
    let mut rows = Rows::default();
    for item in 0..n_items {
        let mean = (item % 7) as f64 + 1.0;
        rows.scores(&[(item, mean), (item, if item < n_that_move { mean + 0.5 } else { mean })]);
    }
    let limits = [("mean_abs_difference".to_owned(), at_most(0.4))].into();
    let gate = Gate { name: "test".to_owned(), limits, truth_optional: true };
    let config = AuditConfig { scale, ..AuditConfig::default() };
    audit(&rows.0, &config, &gate).unwrap().judges.remove(0)
}

#[test]
fn few_items_that_move_leave_open_how_far_others_may() {
    let limit = |n_items, n_that_move, scale| still(n_items, n_that_move, scale).limits.remove(0);
    let unknown = limit(20, 2, None);
    assert_eq!(unknown.state, LimitState::Undecided);
    assert!(unknown.why.contains("declare the scale"), "{}", unknown.why);
    let declared = limit(20, 2, Some([1.0, 10.0]));
    assert_eq!(declared.state, LimitState::Undecided);
    assert!(declared.why.contains("as far off as the scale allows"), "{}", declared.why);
    assert_eq!(limit(400, 5, Some([1.0, 10.0])).state, LimitState::Met);
    assert_eq!(limit(40, 20, None).state, LimitState::Met, "twenty that move tell how far");
    let measure = still(20, 2, None).measures.remove("mean_abs_difference").unwrap();
    close(measure.estimate, 0.05, 1e-12);
}
