//! Arms and judges compared item by item, the p values worked out by hand.

use assize_calibration::audit::result::Comparison;
use assize_calibration::judgement::{Judgement, Verdict};

use crate::small_logs::{Rows, close};

/// Adds an answer to an item labelled right.
fn answer(rows: &mut Rows, arm: &str, item: usize, is_right: bool) {
    let verdict = Some(if is_right { Verdict::Accept } else { Verdict::Reject });
    let row = Judgement { verdict, label: Some("1".into()), ..Judgement::default() };
    rows.push(item, Judgement { arm: Some(arm.to_owned().into()), ..row });
}

fn accuracy<'a>(comparisons: &'a [Comparison], a: &str, b: &str) -> &'a Comparison {
    comparisons
        .iter()
        .find(|found| found.measure == "accuracy" && (found.a.as_str(), found.b.as_str()) == (a, b))
        .unwrap()
}

/// Items 0 to 4 both arms answer rightly, 5 and 6 only x, 7 to 15 only y, 16 to 19 neither.
fn x_and_y() -> Rows {
    let mut rows = Rows::default();
    for item in 0..20 {
        answer(&mut rows, "x", item, item < 7);
        answer(&mut rows, "y", item, item < 5 || (7..16).contains(&item));
    }
    rows
}

/// Two against nine: 2·P(X ≤ 2) − P(X = 2) of a binomial of 11 at ½ is (2·(1 + 11 + 55) − 55)/2048 = 79/2048, as
/// Fagerland, Lydersen & Laake (2013) define the mid-p value; the exact one would be 134/2048.
#[test]
fn arms_of_one_answer_an_item_are_compared_by_mcnemar_s_mid_p() {
    let comparisons = x_and_y().audit().comparisons;
    let is_flip = |found: &Comparison| found.measure == "flip_rate";
    assert!(!comparisons.iter().any(is_flip), "nothing was repeated, so that there is no flip rate to compare");
    let found = accuracy(&comparisons, "x", "y");
    assert_eq!((found.what.as_str(), found.test.as_str(), found.better.as_str()), ("arms", "McNemar, mid-p", "b"));
    close(found.mean_a, 7.0 / 20.0, 1e-12);
    close(found.mean_b, 14.0 / 20.0, 1e-12);
    close(found.difference.estimate, 7.0 / 20.0, 1e-12);
    close(found.p_value.unwrap(), 79.0 / 2048.0, 1e-12);
    close(found.p_holm.unwrap(), 79.0 / 2048.0, 1e-12);
}

/// A third arm that answers as the first does: p values 79/2048 twice and 1. By Holm three times the smallest, which the
/// next, twice itself, does not go below; nothing is decided any more.
#[test]
fn a_difference_among_many_is_withdrawn() {
    let mut rows = x_and_y();
    (0..20).for_each(|item| answer(&mut rows, "z", item, item < 7));
    let comparisons = rows.audit().comparisons;
    for (a, b, p, p_holm) in [("x", "y", 79.0, 237.0), ("y", "z", 79.0, 237.0), ("x", "z", 2048.0, 2048.0)] {
        let found = accuracy(&comparisons, a, b);
        close(found.p_value.unwrap(), p / 2048.0, 1e-12);
        close(found.p_holm.unwrap(), p_holm / 2048.0, 1e-12);
        assert_eq!(found.better, "undecided");
    }
}

/// Shares right 0, 0, 0, 1 against ½, ½, 1, 1: differences ½, ½, 1, 0, mean ½, variance 1/6, t = ½/√(1/24) = √6 with 3
/// degrees. Student's distribution with 3 degrees gives p = 1 − (2/π)(√2/3 + atan √2), .0917.
#[test]
fn repeated_answers_are_compared_by_their_means() {
    let mut rows = Rows::default();
    for (item, (n_x, n_y)) in [(0, 1), (0, 1), (0, 2), (2, 2)].into_iter().enumerate() {
        for draw in 0..2 {
            answer(&mut rows, "x", item, draw < n_x);
            answer(&mut rows, "y", item, draw < n_y);
        }
    }
    let comparisons = rows.audit().comparisons;
    let found = accuracy(&comparisons, "x", "y");
    assert_eq!(found.test, "paired t over clusters");
    close(found.difference.estimate, 0.5, 1e-12);
    let root = 2.0_f64.sqrt();
    close(found.p_value.unwrap(), 1.0 - 2.0 / std::f64::consts::PI * (root / 3.0 + root.atan()), 1e-9);
    // x never wavers, y on two of four items.
    let flips = comparisons.iter().find(|found| found.measure == "flip_rate").unwrap();
    assert_eq!((flips.mean_a, flips.mean_b), (0.0, 0.5));
}

/// Items of a group may err together, which McNemar's test does not know of.
#[test]
fn grouped_items_are_not_compared_by_mcnemar_s_test() {
    let mut rows = Rows::default();
    for item in 0..20_usize {
        for (arm, is_right) in [("x", item < 7), ("y", item < 16)] {
            let verdict = Some(if is_right { Verdict::Accept } else { Verdict::Reject });
            let row = Judgement { verdict, label: Some("1".into()), arm: Some(arm.into()), ..Judgement::default() };
            rows.push(item, Judgement { group: Some((item / 2).to_string().into()), ..row });
        }
    }
    assert_eq!(accuracy(&rows.audit().comparisons, "x", "y").test, "paired t over clusters");
}
