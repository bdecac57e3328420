//! Figures of repeats, of votes among them, and of replies that could not be read, worked out by hand from their definitions.

use assize_calibration::audit::result::{JudgeAudit, Voting};
use assize_calibration::audit::{AuditConfig, audit};
use assize_calibration::gate::Gate;
use assize_calibration::judgement::{Choice, Judgement, Order, Verdict};

use crate::small_logs::{Choices, Rows, close};

/// Adds `n_accepts` accepting and `n_rejects` rejecting verdicts on an item in one order.
fn verdicts(rows: &mut Rows, item: usize, order: Option<Order>, n_accepts: usize, n_rejects: usize) {
    for draw in 0..n_accepts + n_rejects {
        let verdict = Some(if draw < n_accepts { Verdict::Accept } else { Verdict::Reject });
        rows.push(item, Judgement { verdict, order, ..Judgement::default() });
    }
}

/// The commonest of 5: of 4 and 1, ⅘; of 3 and 2, ⅗; of 4 and 2, the subsets leave out one of the 4 in four of six cases, so
/// that (4·⅗ + 2·⅘)/6 = ⅔. An item in two orders has the mean of both: of 5 and 0, and of 3 and 2, ⅘. Two draws are too few.
#[test]
fn repeat_consistency_is_the_share_of_the_commonest_of_five() {
    let mut rows = Rows::default();
    verdicts(&mut rows, 0, None, 4, 1);
    verdicts(&mut rows, 1, None, 3, 2);
    verdicts(&mut rows, 2, None, 4, 2);
    verdicts(&mut rows, 3, Some(Order::Ab), 5, 0);
    verdicts(&mut rows, 3, Some(Order::Ba), 2, 3);
    verdicts(&mut rows, 4, None, 1, 1);
    let judge = rows.judge();
    let share = &judge.measures["repeat_consistency"];
    close(share.estimate, (0.8 + 0.6 + 2.0 / 3.0 + 0.8) / 4.0, 1e-12);
    assert_eq!((share.n_items, share.n), (4, 26));
    close(share.details["k"], 5.0, 1e-12);
    close(share.details["n_cells_with_fewer"], 1.0, 1e-12);
    // All five are never the same but in one of the two orders of item 3.
    let any = &judge.measures["any_flip_rate"];
    close(any.estimate, 3.5 / 4.0, 1e-12);
    close(any.details["n_cells_with_fewer"], 1.0, 1e-12);
}

/// Where fewer than half of the cells have five draws, k is what half of them reach: 3. Of 2 and 1, ⅔; of 4 and 1, six of
/// the ten subsets hold the odd one: (6·⅔ + 4)/10 = ⅘.
#[test]
fn where_few_cells_have_five_draws_the_figure_is_of_fewer() {
    let mut rows = Rows::default();
    (0..3).for_each(|item| verdicts(&mut rows, item, None, 2, 1));
    verdicts(&mut rows, 3, None, 1, 4);
    let share = rows.judge().measures.remove("repeat_consistency").unwrap();
    close(share.estimate, (2.0 + 0.8) / 4.0, 1e-12);
    close(share.details["k"], 3.0, 1e-12);
    close(share.details["n_cells_with_fewer"], 0.0, 1e-12);
    assert!(!share.cautions.is_empty());
}

/// Ranges within one cell: item 0 4 − 2, item 1 0, item 2 0 in either order (what lies between orders is no noise).
#[test]
fn the_largest_range_is_within_a_cell_and_a_share_of_the_declared_scale() {
    let mut rows = Rows::default();
    rows.scores(&[(0, 2.0), (0, 4.0), (0, 3.0), (1, 1.0), (1, 1.0)]);
    for (order, score) in [(Order::Ab, 1.0), (Order::Ba, 5.0)] {
        for _ in 0..2 {
            rows.push(2, Judgement { score: Some(score), order: Some(order), ..Judgement::default() });
        }
    }
    let undeclared = rows.judge();
    let largest = &undeclared.measures["within_item_range_max"];
    close(largest.estimate, 2.0, 1e-12);
    assert_eq!((largest.low, largest.high, largest.n, largest.n_items), (None, None, 9, 3));
    // Three items do not show how wide the scale is.
    assert!(!largest.details.contains_key("share_of_scale"));
    let config = AuditConfig { scale: Some([1.0, 6.0]), ..AuditConfig::default() };
    let judge = audit(&rows.0, &config, &Gate::built_in()).unwrap().judges.remove(0);
    close(judge.measures["within_item_range_max"].details["share_of_scale"], 2.0 / 5.0, 1e-12);
}

/// Spans over a point among two of the draws: item 0 has 1, 3, 1: two of three pairs; item 1 has 2, 3: none. Item 2 has one
/// draw and is not repeated.
#[test]
fn moved_over_one_point_counts_the_cells_that_are_too_short() {
    let mut rows = Rows::default();
    rows.scores(&[(0, 1.0), (0, 3.0), (0, 1.0), (1, 2.0), (1, 3.0), (2, 9.0)]);
    let of = |stability_repeats: u32| {
        let config = AuditConfig { stability_repeats, ..AuditConfig::default() };
        let mut judge = audit(&rows.0, &config, &Gate::built_in()).unwrap().judges.remove(0);
        judge.measures.remove("moved_over_one_point").unwrap()
    };
    close(of(2).estimate, (2.0 / 3.0) / 2.0, 1e-12);
    close(of(2).details["n_cells_with_fewer"], 0.0, 1e-12);
    // Three draws are reached by the upper half of the cells: item 0 alone, whose draws span two points.
    close(of(3).estimate, 1.0, 1e-12);
    close(of(3).details["k"], 3.0, 1e-12);
    close(of(3).details["n_cells_with_fewer"], 1.0, 1e-12);
}

fn flip_rate(voting: &Voting, k: u32) -> Option<f64> {
    let point = voting.points.iter().find(|point| point.k == k).unwrap();
    point.flip_rate.as_ref().map(|rate| rate.estimate)
}

/// Two disjoint votes of k of six draws; they differ with probability:
///
/// | accept, reject, unparsed | k = 1 | k = 3 |
/// |---|---|---|
/// | 4, 2, 0 | 8 of 15 pairs | one vote has 1 accept and the other 3: 4 + 4 of 20 ways |
/// | 6, 0, 0 | 0 | 0 |
/// | 3, 3, 0 | 9 of 15 pairs | always: 2 or 3 accepts here are 1 or none there |
/// | 3, 1, 2 | 3 of 6 parsed pairs | 14 of 20 ways, below |
///
/// Of the last, three draws (accept, reject, unparsed) against the other three, a tie rejecting: (3,0,0) against (0,1,2) and
/// back, 1 + 1 ways, differ; (2,0,1) against (1,1,1) and back, 6 + 6 ways, differ; (2,1,0) against (1,0,2) and back, 3 + 3
/// ways, both accept.
#[test]
fn votes_flip_as_often_as_two_disjoint_ones_differ() {
    let mut rows = Rows::default();
    for (item, (n_accepts, n_rejects, n_unparsed)) in
        [(4, 2, 0), (6, 0, 0), (3, 3, 0), (3, 1, 2)].into_iter().enumerate()
    {
        verdicts(&mut rows, item, None, n_accepts, n_rejects);
        (0..n_unparsed).for_each(|_| rows.push(item, Judgement::default()));
    }
    let voting = rows.judge().voting.unwrap();
    assert_eq!((voting.k_max, voting.n_items), (5, 4));
    close(flip_rate(&voting, 1).unwrap(), (8.0 / 15.0 + 0.0 + 9.0 / 15.0 + 0.5) / 4.0, 1e-12);
    close(flip_rate(&voting, 3).unwrap(), (0.4 + 0.0 + 1.0 + 0.7) / 4.0, 1e-12);
    // Two votes of five need ten draws.
    assert_eq!(flip_rate(&voting, 5), None);
}

/// Of choices, a tied vote counts in equal parts: of two votes of one of a, b and a, two of three pairs differ.
#[test]
fn votes_of_one_choice_flip_like_two_draws() {
    let mut rows = Rows::default();
    for (repeat, choice) in (1..).zip([Choice::A, Choice::B, Choice::A]) {
        rows.choice(0, choice, Order::Ab, repeat);
    }
    let voting = rows.judge().voting.unwrap();
    close(flip_rate(&voting, 1).unwrap(), 2.0 / 3.0, 1e-12);
    assert_eq!(flip_rate(&voting, 3), None);
}

#[track_caller]
fn unparsed(judge: &JudgeAudit, by: &str, expected: &[(&str, f64, u64)]) {
    let splits: Vec<_> = judge.unparsed_by.iter().filter(|split| split.by == by).collect();
    assert_eq!(splits.len(), expected.len(), "{by}: {splits:?}");
    for (split, (value, rate, n)) in splits.iter().zip(expected) {
        assert_eq!((split.value.as_str(), split.rate.n), (*value, *n), "{by}");
        close(split.rate.estimate, *rate, 1e-12);
    }
}

/// Every reply weighs the same. `-` is unparsed:
///
/// | item | label | group | order ab | order ba |
/// |---|---|---|---|---|
/// | 0 | a | g | a - | a |
/// | 1 | b | g | - - b | - |
/// | 2 | b | h | b | b b b |
///
/// By label 1 of 3 and 3 of 8; by order 3 of 6 and 1 of 5; by group 4 of 7 and 0 of 4; first replies in a cell 2 of 6, later
/// ones 2 of 5.
#[test]
fn where_replies_fail_to_parse_is_said_by_label_order_group_and_attempt() {
    let mut rows = Rows::default();
    let (a, b) = (Some(Choice::A), Some(Choice::B));
    let answers: [(&str, &str, Choices<'_>, Choices<'_>); 3] =
        [("a", "g", &[a, None], &[a]), ("b", "g", &[None, None, b], &[None]), ("b", "h", &[b], &[b, b, b])];
    for (item, (label, group, ab, ba)) in answers.into_iter().enumerate() {
        let row = Judgement { label: Some(label.into()), group: Some(group.into()), ..Judgement::default() };
        rows.in_orders(item, &row, ab, ba);
    }
    let judge = rows.judge();
    close(judge.measures["unparsed_rate"].estimate, 4.0 / 11.0, 1e-12);
    unparsed(&judge, "label", &[("a", 1.0 / 3.0, 3), ("b", 3.0 / 8.0, 8)]);
    unparsed(&judge, "order", &[("ab", 3.0 / 6.0, 6), ("ba", 1.0 / 5.0, 5)]);
    unparsed(&judge, "group", &[("g", 4.0 / 7.0, 7), ("h", 0.0, 4)]);
    unparsed(&judge, "attempt", &[("first", 2.0 / 6.0, 6), ("later", 2.0 / 5.0, 5)]);
    unparsed(&judge, "dimension", &[]);
}

/// Six items in three groups: whatever is measured of them rests on three clusters, as its interval does.
#[test]
fn no_figure_counts_more_clusters_than_there_are_groups() {
    let mut logs = [(); 3].map(|()| Rows::default());
    for item in 0..6_usize {
        let group = || Some((item / 2).to_string().into());
        for draw in 0..4_u32 {
            let order = Some(if draw < 2 { Order::Ab } else { Order::Ba });
            let odd = (item as u32 + draw).is_multiple_of(2);
            let row = || Judgement { order, group: group(), place: Some(1 + draw / 2), ..Judgement::default() };
            let score = Some(f64::from(draw) + item as f64 / 2.0);
            logs[0].push(item, Judgement { score, label: Some(item.to_string().into()), ..row() });
            let verdict = Some(if odd { Verdict::Accept } else { Verdict::Reject });
            // Right and wrong items are in different groups.
            let label = if item < 4 { "1" } else { "0" };
            logs[1].push(item, Judgement { verdict, label: Some(label.into()), ..row() });
            let choice = Some(if odd { Choice::A } else { Choice::B });
            logs[2].push(item, Judgement { choice, label: Some("a".into()), place: None, ..row() });
        }
    }
    for rows in logs {
        for (id, measure) in rows.judge().measures {
            assert!(measure.n_clusters <= 3 && measure.n_items <= 6, "{id}: {measure:?}");
        }
    }
}

/// Of ab with repeats 1, 2 and two without a number, and ba with repeats 1 and 2, two pairs are of one number each; what has no number is
/// nobody's pair.
#[test]
fn repeats_without_a_number_are_no_pair_of_those_with_one() {
    let mut rows = Rows::default();
    for (order, repeat, choice) in [
        (Order::Ab, None, Choice::B),
        (Order::Ab, Some(1), Choice::A),
        (Order::Ab, Some(2), Choice::A),
        (Order::Ab, None, Choice::B),
        (Order::Ba, Some(1), Choice::A),
        (Order::Ba, Some(2), Choice::A),
    ] {
        rows.push(0, Judgement { choice: Some(choice), order: Some(order), repeat, ..Judgement::default() });
    }
    let judge = rows.judge();
    let details = &judge.measures["swap_consistency"].details;
    close(details["paired_by_repeat_pairs"], 2.0, 1e-12);
    close(details["paired_by_repeat_consistent"], 2.0, 1e-12);
}

#[test]
fn labels_beside_unparsed_replies_alone_have_a_row_of_the_confusion_table() {
    let mut rows = Rows::default();
    for (item, (answer, label)) in [(Some("x"), "x"), (Some("y"), "y"), (None, "z")].into_iter().enumerate() {
        let row = Judgement { category: answer.map(Into::into), label: Some(label.into()), ..Judgement::default() };
        rows.push(item, row);
    }
    let confusion = rows.judge().confusion.unwrap();
    assert_eq!(confusion.categories, ["x", "y", "z"]);
    assert_eq!(confusion.unparsed, [0, 0, 1]);
}
