//! Figures of the place shown, and of being right in either order, worked out by hand from their definitions.
//!
//! An item's share of answers for c when A is shown first is `p_ab(c)`. Shown first is a in order ab and b in order ba.

use assize_calibration::audit::result::JudgeAudit;
use assize_calibration::judgement::{Choice, Judgement, Order, Verdict};

use crate::small_logs::{Choices, Rows, close};

use Choice::{A, B, Tie};
use Order::{Ab, Ba};

#[track_caller]
fn is(judge: &JudgeAudit, id: &str, expected: f64, n_items: u64) {
    let measure = judge.measures.get(id).unwrap_or_else(|| panic!("{id} has no value: {:?}", judge.unmeasured));
    close(measure.estimate, expected, 1e-12);
    assert_eq!(measure.n_items, n_items, "{id}");
}

/// Answers to five items in both orders; `None` is an unparsed reply.
///
/// | item | label | order ab | order ba |
/// |---|---|---|---|
/// | 0 | b | a a a b | b tie |
/// | 1 | b | tie b | a tie |
/// | 2 | a | a | |
/// | 3 | b | a | unparsed |
/// | 4 | | b | b |
fn choices() -> Rows {
    let mut rows = Rows::default();
    let (a, b, tie) = (Some(A), Some(B), Some(Tie));
    let answers: [(Choices<'_>, Choices<'_>, Option<&str>); 5] = [
        (&[a, a, a, b], &[b, tie], Some("b")),
        (&[tie, b], &[a, tie], Some("b")),
        (&[a], &[], Some("a")),
        (&[a], &[None], Some("b")),
        (&[b], &[b], None),
    ];
    for (item, (ab, ba, label)) in answers.into_iter().enumerate() {
        rows.in_orders(item, &Judgement { label: label.map(Into::into), ..Judgement::default() }, ab, ba);
    }
    rows
}

/// Over items 0, 1 and 4, which have answers in both orders:
///
/// - item 0: first twice ¾·½, first and a tie ¾·½: primacy ¾. Second and a tie ¼·½: recency ⅛. b twice ¼·½: same ⅛.
/// - item 1: second twice ½·½, second and a tie ½·½ + ½·½: recency ¾. Tie twice ½·½: same ¼. Primacy 0.
/// - item 4: b twice: same 1.
#[test]
fn pairs_of_answers_lean_to_the_first_to_the_second_or_are_the_same() {
    let judge = choices().judge();
    is(&judge, "primacy_rate", 0.75 / 3.0, 3);
    is(&judge, "recency_rate", (0.125 + 0.75) / 3.0, 3);
    is(&judge, "swap_consistency", (0.125 + 0.25 + 1.0) / 3.0, 3);
}

/// Both orders weigh the same, and answers are counted, not items. Of item 0, ½(¾ + ½) = ⅝ for the first of ½(1 + ½) = ¾
/// decided; of item 1, 0 of ½(½ + ½) = ½; of item 4, ½(0 + 1) = ½ of 1: (⅝ + 0 + ½) / (¾ + ½ + 1) = ½.
///
/// Over all answers in either order 3 + 1 of item 0, and one each of items 2, 3 and 4 are for the first; decided are
/// 5 of item 0, 2 of item 1, one each of items 2 and 3, and 2 of item 4.
#[test]
fn the_preference_for_the_first_is_of_decided_answers() {
    let judge = choices().judge();
    is(&judge, "first_position_preference", 0.5, 3);
    let details = &judge.measures["first_position_preference"].details;
    close(details["pooled_first"], 7.0, 1e-12);
    close(details["pooled_decided"], 11.0, 1e-12);
}

/// Ties alone decide nothing, so that there is no share of the decided.
#[test]
fn without_decided_answers_no_place_is_preferred() {
    let mut rows = Rows::default();
    for order in [Ab, Ba] {
        (0..3).for_each(|item| rows.choice(item, Tie, order, 1));
    }
    let judge = rows.judge();
    assert!(!judge.measures.contains_key("first_position_preference"));
    is(&judge, "primacy_rate", 0.0, 3);
}

/// Right answers of the labelled items: in order ab ¼, ½, 1, 0 of items 0 to 3; in order ba ½ and 0 of items 0 and 1, of
/// item 3 nothing was parsed; in both ¼·½ and ½·0. Of all their answers 2/6, ¼, 1, 0.
#[test]
fn accuracy_is_told_by_order_and_for_both() {
    let judge = choices().judge();
    is(&judge, "accuracy_ab", (0.25 + 0.5 + 1.0) / 4.0, 4);
    is(&judge, "accuracy_ba", 0.5 / 2.0, 2);
    is(&judge, "accuracy_both_orders", 0.125 / 2.0, 2);
    is(&judge, "accuracy", (1.0 / 3.0 + 0.25 + 1.0) / 4.0, 4);
    // With the unparsed reply to item 3 against the judge: 0 more, over one item more.
    close(judge.measures["accuracy_ba"].details["unparsed_against"], 0.5 / 3.0, 1e-12);
    close(judge.measures["accuracy_ba"].details["unparsed_for"], 1.5 / 3.0, 1e-12);
    close(judge.measures["accuracy_both_orders"].details["unparsed_against"], 0.125 / 3.0, 1e-12);
}

/// Item means: item 0 (4 + 6)/2 − 3 = 2, item 1 2 − (3 + 4)/2 = −1½; item 2 was shown in one order. Pooled, it would be
/// 4 − 10/3.
#[test]
fn scores_shift_by_order_item_by_item() {
    let mut rows = Rows::default();
    for (item, order, score) in
        [(0, Ab, 4.0), (0, Ab, 6.0), (0, Ba, 3.0), (1, Ab, 2.0), (1, Ba, 3.0), (1, Ba, 4.0), (2, Ab, 9.0)]
    {
        rows.push(item, Judgement { score: Some(score), order: Some(order), ..Judgement::default() });
    }
    is(&rows.judge(), "order_shift", 0.25, 2);
}

/// Shares of accepts: item 0 1 − 0, item 1 ½ − 1 (its unparsed reply is no verdict), item 2 1 − 1: ½/3.
#[test]
fn verdicts_shift_by_order_in_shares_that_accept() {
    let mut rows = Rows::default();
    let (accept, reject) = (Some(Verdict::Accept), Some(Verdict::Reject));
    for (item, order, verdict) in [
        (0, Ab, accept),
        (0, Ab, accept),
        (0, Ba, reject),
        (1, Ab, accept),
        (1, Ab, reject),
        (1, Ab, None),
        (1, Ba, accept),
        (2, Ab, accept),
        (2, Ba, accept),
    ] {
        rows.push(item, Judgement { verdict, order: Some(order), ..Judgement::default() });
    }
    is(&rows.judge(), "order_shift", 0.5 / 3.0, 3);
}

/// Within items, pooled: Σ(x − x̄)(y − ȳ) / Σ(x − x̄)². Item 0 at places 1, 1, 3 with 5, 7, 3: 21 − 3·(5/3)·5 = −4 over
/// 11 − 25/3 = 8/3. Item 1 at 1 and 2 with 2 and 3: ½ over ½. Item 2 stood at one place. (−4 + ½)/(8/3 + ½) = −21/19; the
/// mean of both slopes would be −¼.
#[test]
fn the_effect_of_place_is_the_slope_within_items() {
    let mut rows = Rows::default();
    for (item, place, score) in
        [(0, 1, 5.0), (0, 1, 7.0), (0, 3, 3.0), (1, 1, 2.0), (1, 2, 3.0), (2, 2, 9.0), (2, 2, 1.0)]
    {
        rows.push(item, Judgement { score: Some(score), place: Some(place), ..Judgement::default() });
    }
    let judge = rows.judge();
    is(&judge, "place_slope", -21.0 / 19.0, 2);
    assert_eq!(judge.measures["place_slope"].n, 5);
}
