//! Figures of right and wrong answers, and where wrong ones gather, worked out by hand from their definitions.

use std::collections::BTreeMap;

use assize_calibration::audit::result::{Baseline, JudgeAudit};
use assize_calibration::audit::{AuditConfig, audit};
use assize_calibration::gate::Gate;
use assize_calibration::judgement::{Choice, Judgement, Verdict};

use crate::small_logs::{Choices, Rows, close};

fn judge_with(rows: &Rows, config: &AuditConfig) -> JudgeAudit {
    audit(&rows.0, config, &Gate::built_in()).unwrap().judges.remove(0)
}

/// Verdicts on items: whether an item is right, and which of its answers accept.
fn verdicts(items: &[(bool, &[bool])]) -> Rows {
    let mut rows = Rows::default();
    for (item, (label, accepts)) in items.iter().enumerate() {
        accepts.iter().for_each(|&accepts| rows.verdict(item, Some(accepts), *label));
    }
    rows
}

const NO: bool = false;
const YES: bool = true;

/// False rejects ¼, 0, ½, 0: 3/16. False accepts ½ and 0: ¼. With π for the base rate,
/// precision is (13/16)π / ((13/16)π + ¼(1 − π)): 117/121 at .9, 13/15 at ⅔;
/// the other is ¾(1 − π) / (¾(1 − π) + (3/16)π): 4/13 at .9, ⅔ at ⅔.
#[test]
fn predictive_values_are_those_at_the_base_rate() {
    let rows = verdicts(&[
        (true, &[YES, YES, NO, YES]),
        (true, &[YES]),
        (true, &[NO, YES]),
        (true, &[YES]),
        (false, &[YES, NO]),
        (false, &[NO]),
    ]);
    let of = |base_rate: Option<f64>| judge_with(&rows, &AuditConfig { base_rate, ..AuditConfig::default() });
    let stated = of(Some(0.9));
    close(stated.measures["false_reject_rate"].estimate, 3.0 / 16.0, 1e-12);
    close(stated.measures["false_accept_rate"].estimate, 0.25, 1e-12);
    close(stated.measures["precision"].estimate, 117.0 / 121.0, 1e-12);
    close(stated.measures["negative_predictive_value"].estimate, 4.0 / 13.0, 1e-12);
    // Four of six items are right.
    let of_labels = of(None);
    close(of_labels.measures["precision"].estimate, 13.0 / 15.0, 1e-12);
    close(of_labels.measures["negative_predictive_value"].estimate, 2.0 / 3.0, 1e-12);
    assert_eq!(of_labels.measures["precision"].n_items, 6);
}

/// It accepts one of four wrong items and nothing that is right: 0 of what it accepts is right. Of what it rejects
/// ¾·⅓ / (¾·⅓ + 1·⅔) = 3/11 is wrong.
#[test]
fn a_judge_that_accepts_what_is_wrong_only_has_a_precision_of_nothing() {
    let (yes, no): (&[bool], &[bool]) = (&[YES], &[NO]);
    let items = [(false, yes), (false, no), (false, no), (false, no)].into_iter().chain([(true, no); 8]);
    let judge = verdicts(&items.collect::<Vec<_>>()).judge();
    let precision = &judge.measures["precision"];
    close(precision.estimate, 0.0, 1e-12);
    assert!(
        precision.low == Some(0.0) && precision.high.is_some_and(|high| high > 0.0 && high <= 1.0),
        "{precision:?}"
    );
    close(judge.measures["negative_predictive_value"].estimate, 3.0 / 11.0, 1e-12);
}

#[test]
fn what_never_happens_has_no_predictive_value() {
    let nothing_accepted = verdicts(&[(true, &[NO]), (true, &[NO]), (false, &[NO]), (false, &[NO])]).judge();
    assert!(nothing_accepted.unmeasured.iter().any(|unmeasured| unmeasured.id == "precision"));
    // Half of what it rejects is wrong, as of everything.
    close(nothing_accepted.measures["negative_predictive_value"].estimate, 0.5, 1e-12);
}

/// Group 0: the right item's mean 4 (of 3 and 5) over 3 and 2. Group 1: 4 ties with 4. Group 2: 2 under two of 5, which tie for the
/// top. Group 3 has two right items, group 4 none, group 5 nothing but its right item. Group 6: 3 under 4.
#[test]
fn the_best_of_a_group_must_score_strictly_highest() {
    let mut rows = Rows::default();
    let groups: [&[(&str, &[f64])]; 7] = [
        &[("1", &[3.0, 5.0]), ("0", &[3.0]), ("0", &[2.0])],
        &[("0", &[4.0]), ("1", &[4.0]), ("0", &[1.0])],
        &[("1", &[2.0]), ("0", &[5.0]), ("0", &[5.0])],
        &[("1", &[5.0]), ("1", &[4.0]), ("0", &[1.0])],
        &[("0", &[5.0]), ("0", &[4.0])],
        &[("1", &[5.0])],
        &[("0", &[4.0]), ("1", &[3.0, 3.0])],
    ];
    let mut item = 0;
    for (group, items) in groups.into_iter().enumerate() {
        for (label, scores) in items {
            for &score in *scores {
                let row = Judgement { score: Some(score), label: Some((*label).into()), ..Judgement::default() };
                rows.push(item, Judgement { group: Some(group.to_string().into()), ..row });
            }
            item += 1;
        }
    }
    let best = rows.judge().measures.remove("top_of_group_accuracy").unwrap();
    close(best.estimate, 1.0 / 4.0, 1e-12);
    assert_eq!(best.n_clusters, 4);
    let expected = [("n_right", 1.0), ("n_tied", 1.0), ("n_top_tied", 2.0)];
    assert_eq!(best.details, BTreeMap::from(expected.map(|(name, n)| (name.to_owned(), n))));
}

#[track_caller]
fn is_baseline(judge: &JudgeAudit, name: &str, accuracy: f64, judge_minus: f64, n_items: u64) -> Baseline {
    let baseline = judge.baselines.iter().find(|baseline| baseline.name == name).unwrap();
    close(baseline.accuracy.estimate, accuracy, 1e-12);
    close(baseline.judge_minus_baseline.as_ref().unwrap().estimate, judge_minus, 1e-12);
    assert_eq!(baseline.accuracy.n_items, n_items, "{name}");
    baseline.clone()
}

/// The judge is right in ½, 1, 1, 0 and ⅓ of its answers: 17/30. Accepting everything is right on two of the five, rejecting
/// everything on three. The sixth item, labelled right, has no answer and is left out of all.
#[test]
fn judges_that_do_not_look_are_held_against_it_on_the_same_items() {
    let mut rows =
        verdicts(&[(true, &[YES, NO]), (true, &[YES]), (false, &[NO]), (false, &[YES]), (false, &[YES, YES, NO])]);
    rows.verdict(5, None, true);
    let judge = rows.judge();
    is_baseline(&judge, "always_accept", 2.0 / 5.0, 17.0 / 30.0 - 2.0 / 5.0, 5);
    let majority = is_baseline(&judge, "majority", 3.0 / 5.0, 17.0 / 30.0 - 3.0 / 5.0, 5);
    assert!(majority.explanation.contains("\"reject\""), "{}", majority.explanation);
    assert_eq!(judge.baselines.len(), 2);
    let said = judge.findings.iter().find(|finding| finding.what.contains("is not shown to beat")).unwrap();
    // Of five items no advantage at all would have been seen, which is said instead of a number above 100 points.
    assert!(majority.judge_minus_baseline.unwrap().details["minimal_detectable"] > 1.0);
    assert!(said.what.contains("Not even an advantage of 100 percentage points would have been seen"), "{}", said.what);
}

/// | item | lengths | label | longer | answer |
/// |---|---|---|---|---|
/// | 0 | 10, 5 | a | a, right | right |
/// | 1 | 3, 8 | a | b, wrong | wrong |
/// | 2 | 4, 4 | tie | neither, right | wrong |
/// | 3 | unknown | b | | right |
/// | 4 | 6, 2 | a | a, right | wrong |
///
/// Of the four whose lengths are known the longer is right on three, the judge on one. Of all five the judge is right on two,
/// a, the commonest label, on three.
#[test]
fn the_longer_candidate_is_a_baseline_where_lengths_are_known() {
    let mut rows = Rows::default();
    for (item, (lengths, label, choice)) in [
        (Some((10.0, 5.0)), "a", Choice::A),
        (Some((3.0, 8.0)), "a", Choice::B),
        (Some((4.0, 4.0)), "tie", Choice::A),
        (None, "b", Choice::B),
        (Some((6.0, 2.0)), "a", Choice::B),
    ]
    .into_iter()
    .enumerate()
    {
        let (length_a, length_b) = lengths.unzip();
        let row = Judgement { choice: Some(choice), label: Some(label.into()), ..Judgement::default() };
        rows.push(item, Judgement { length_a, length_b, ..row });
    }
    let judge = rows.judge();
    is_baseline(&judge, "length_only", 3.0 / 4.0, 1.0 / 4.0 - 3.0 / 4.0, 4);
    is_baseline(&judge, "majority", 3.0 / 5.0, 2.0 / 5.0 - 3.0 / 5.0, 5);
    assert!(judge.baselines.iter().all(|baseline| baseline.name != "always_accept"));
}

/// Groups of items with their labels and answers, the groups in the order of their names.
fn grouped(groups: &[&[(bool, &[bool])]]) -> Rows {
    let mut rows = Rows::default();
    let mut item = 0;
    for (group, items) in groups.iter().enumerate() {
        for (label, accepts) in *items {
            for &accepts in *accepts {
                let verdict = Some(if accepts { Verdict::Accept } else { Verdict::Reject });
                let label = if *label { "1" } else { "0" };
                let row = Judgement { verdict, label: Some(label.into()), ..Judgement::default() };
                rows.push(item, Judgement { group: Some(format!("g{group}").into()), ..row });
            }
            item += 1;
        }
    }
    rows
}

/// False accepts expected of one answer an item: g0 2 of 2 items, g1 ½ + ½ of 3, g2 1 of 1, g3 ½ of 1, g4 none of 2: 4½ in
/// all. Half of them, 2¼, are not in g0 alone, but in g0 and g1. The one false reject is in g0.
#[test]
fn errors_gather_in_the_fewest_groups_that_hold_half_of_them() {
    let rows = grouped(&[
        &[(false, &[YES]), (false, &[YES, YES]), (true, &[NO])],
        &[(false, &[YES, NO]), (false, &[NO, YES]), (false, &[NO]), (true, &[YES])],
        &[(false, &[YES])],
        &[(false, &[NO, YES])],
        &[(false, &[NO]), (false, &[NO])],
    ]);
    let found = rows.judge().error_clusters.unwrap();
    let of = |accepts: u64, rejects: u64| {
        BTreeMap::from([("false_accept".to_owned(), accepts), ("false_reject".to_owned(), rejects)])
    };
    assert_eq!(found.unit, "group");
    assert_eq!(found.half_of_errors_in, of(2, 1));
    assert_eq!(found.clusters_with_error, of(4, 1));
    let expected = [
        ("g0", "false_accept", 2.0, 2, 2.0 / 4.5),
        ("g1", "false_accept", 1.0, 3, 1.0 / 4.5),
        ("g2", "false_accept", 1.0, 1, 1.0 / 4.5),
        ("g3", "false_accept", 0.5, 1, 0.5 / 4.5),
        ("g0", "false_reject", 1.0, 1, 1.0),
    ];
    assert_eq!(found.clusters.len(), expected.len());
    for (cluster, (name, error, errors, n_items, share)) in found.clusters.iter().zip(expected) {
        assert_eq!((cluster.name.as_str(), cluster.error.as_str(), cluster.n_items), (name, error, n_items));
        close(cluster.errors, errors, 1e-12);
        close(cluster.share, share, 1e-12);
    }
}

/// The variance of the rate over that of independent items. Each item its own group: 1. Four groups of two items alike, wrong
/// by r less the rate: (4/3)Σ(2r)²/8² over 2Σr²/(7·8), which is 7/3.
#[test]
fn the_design_effect_is_what_groups_add_to_the_variance() {
    let alone: Vec<(bool, &[bool])> =
        [YES, NO, NO, YES, NO].iter().map(|yes| (false, std::slice::from_ref(yes))).collect();
    let apart: Vec<&[(bool, &[bool])]> = alone.iter().map(std::slice::from_ref).collect();
    let effect = |rows: &Rows| rows.judge().error_clusters.unwrap().design_effect["false_accept"];
    close(effect(&grouped(&apart)), 1.0, 1e-12);
    let (yes, no): (&[bool], &[bool]) = (&[YES], &[NO]);
    let alike = grouped(&[&[(false, yes); 2], &[(false, no); 2], &[(false, no); 2], &[(false, no); 2]]);
    close(effect(&alike), 7.0 / 3.0, 1e-12);
}

/// | item | label | order ab | order ba | wrong | unstable | position | unparsed |
/// |---|---|---|---|---|---|---|---|
/// | 0 | a | a a b | a a a | 1/6 | ⅓ | ½(⅓ + ⅓) | |
/// | 1 | a | b | unparsed | 1 of the parsed | | | ½ |
/// | 2 | b | b b | b b | | | | |
/// | 3 | tie | a | b | 1 | | 1 | |
#[test]
fn the_items_to_look_at_are_told_with_their_reason_and_the_worst_first() {
    let mut rows = Rows::default();
    let (a, b) = (Some(Choice::A), Some(Choice::B));
    let answers: [(&str, Choices<'_>, Choices<'_>); 4] =
        [("a", &[a, a, b], &[a, a, a]), ("a", &[b], &[None]), ("b", &[b, b], &[b, b]), ("tie", &[a], &[b])];
    for (item, (label, ab, ba)) in answers.into_iter().enumerate() {
        rows.in_orders(item, &Judgement { label: Some(label.into()), ..Judgement::default() }, ab, ba);
    }
    let worst = rows.judge().worst_items;
    let expected = [
        ("wrong", "1", "a", 1.0),
        ("wrong", "3", "tie", 1.0),
        ("wrong", "0", "a", 1.0 / 6.0),
        ("unstable", "0", "a", 1.0 / 3.0),
        ("position", "3", "tie", 1.0),
        ("position", "0", "a", 1.0 / 3.0),
        ("unparsed", "1", "a", 0.5),
    ];
    assert_eq!(worst.len(), expected.len(), "{worst:?}");
    for (found, (reason, item, label, badness)) in worst.iter().zip(expected) {
        let label = Some(label.to_owned());
        assert_eq!((found.reason.as_str(), found.item.as_str(), &found.label), (reason, item, &label));
        close(found.badness, badness, 1e-12);
    }
    let shown = |order: &str, answers: &[&str]| (order.to_owned(), answers.iter().map(|&a| a.to_owned()).collect());
    assert_eq!(worst[0].answers, BTreeMap::from([shown("ab", &["b"]), shown("ba", &["unparsed"])]));
    assert_eq!(worst[2].answers, BTreeMap::from([shown("ab", &["a", "a", "b"]), shown("ba", &["a", "a", "a"])]));
}

/// In points: item 0 scores 3 and 4 where 5 is true, item 1 7 where 4 is.
#[test]
fn items_of_scores_are_wrong_and_unstable_by_points() {
    let mut rows = Rows::default();
    for (item, score, label) in [(0, 3.0, "5"), (0, 4.0, "5"), (1, 7.0, "4"), (2, 2.0, "2")] {
        rows.push(item, Judgement { score: Some(score), label: Some(label.into()), ..Judgement::default() });
    }
    let worst = rows.judge().worst_items;
    let found: Vec<(&str, &str)> = worst.iter().map(|found| (found.reason.as_str(), found.item.as_str())).collect();
    assert_eq!(found, [("wrong", "1"), ("wrong", "0"), ("unstable", "0")]);
    for (found, badness) in worst.iter().zip([3.0, 1.5, 1.0]) {
        close(found.badness, badness, 1e-12);
    }
}

/// Tone: item 0 right, item 1 right once of two: ¾, and the two differ. Facts: of items 0, 1 and 2 only item 1 is right.
#[test]
fn every_dimension_has_its_own_figures() {
    let mut rows = Rows::default();
    for (item, dimension, accepts, label) in [
        (0, "tone", YES, "1"),
        (0, "facts", YES, "0"),
        (1, "tone", YES, "1"),
        (1, "tone", NO, "1"),
        (1, "facts", NO, "0"),
        (2, "facts", NO, "1"),
    ] {
        let verdict = Some(if accepts { Verdict::Accept } else { Verdict::Reject });
        let row = Judgement { verdict, label: Some(label.into()), ..Judgement::default() };
        rows.push(item, Judgement { dimension: Some(dimension.into()), ..row });
    }
    let dimensions = rows.judge().dimensions;
    let names: Vec<&str> = dimensions.iter().map(|found| found.dimension.as_str()).collect();
    assert_eq!(names, ["tone", "facts"]);
    let [tone, facts] = [&dimensions[0].measures, &dimensions[1].measures];
    close(tone["accuracy"].estimate, 0.75, 1e-12);
    close(facts["accuracy"].estimate, 1.0 / 3.0, 1e-12);
    assert_eq!((tone["accuracy"].n_items, facts["accuracy"].n_items), (2, 3));
    close(tone["flip_rate"].estimate, 1.0, 1e-12);
    assert!(!facts.contains_key("flip_rate"), "nothing of it was repeated");
    // One dimension needs no figures beside those of the whole.
    assert!(verdicts(&[(true, &[YES])]).judge().dimensions.is_empty());
}

/// Scores of items that are right or wrong; items with one group are one cluster.
fn scored(items: impl IntoIterator<Item = (usize, bool, f64)>) -> Rows {
    let mut rows = Rows::default();
    for (item, (group, good, score)) in items.into_iter().enumerate() {
        let label = if good { "1" } else { "0" };
        let row = Judgement { score: Some(score), label: Some(label.into()), ..Judgement::default() };
        rows.push(item, Judgement { group: Some(group.to_string().into()), ..row });
    }
    rows
}

/// Of 400 wrong items 4 score 9 and the rest 5; of 100 right ones 80 score 9 and 20 score 5. Whatever folds are left out, 9 keeps
/// the cap of 10 % and 5 accepts everything: 4 of 400 false accepts, 20 of 100 false rejects.
#[test]
fn a_threshold_that_all_folds_choose_costs_nothing() {
    let wrong = (0..400).map(|item| (item, false, if item % 100 == 7 { 9.0 } else { 5.0 }));
    let right = (400..500).map(|item| (item, true, if item % 5 == 0 { 5.0 } else { 9.0 }));
    let swept = scored(wrong.chain(right)).judge().thresholds.unwrap();
    assert_eq!((swept.chosen, swept.cap), (Some(9.0), 0.1));
    let crossed = swept.cross_validated.unwrap();
    assert_eq!((crossed.folds, crossed.n_folds_without), (5, 0));
    let (accepts, rejects) = (&crossed.false_accept_rate, &crossed.false_reject_rate);
    close(accepts.estimate, 4.0 / 400.0, 1e-12);
    close(rejects.estimate, 20.0 / 100.0, 1e-12);
    assert_eq!((accepts.n_items, rejects.n_items), (400, 100));
}

/// Ten groups, two a fold, each with a wrong item that scores 1 and a right one that scores 5; but one wrong item scores 6. With
/// its fold left out none of eight wrong items reaches 5, which bounds their rate at .369, under the cap of .4: 5 is chosen,
/// and in that fold one of two wrong items and both right ones are accepted. With it, the bound of 1 of 8 is over .5 at
/// the first threshold, and the other four folds accept nothing. So 1 of 10 false accepts, 8 of 10 false rejects.
#[test]
fn a_fold_is_judged_by_the_threshold_of_the_others() {
    let groups = (0..10).flat_map(|group| [(group, false, if group == 3 { 6.0 } else { 1.0 }), (group, true, 5.0)]);
    let rows = scored(groups);
    for seed in 1..=3 {
        let config = AuditConfig { seed, false_accept_cap: 0.4, ..AuditConfig::default() };
        let swept = judge_with(&rows, &config).thresholds.unwrap();
        assert_eq!(swept.chosen, None);
        let crossed = swept.cross_validated.unwrap();
        assert_eq!((crossed.folds, crossed.n_folds_without), (5, 4));
        close(crossed.false_accept_rate.estimate, 1.0 / 10.0, 1e-12);
        close(crossed.false_reject_rate.estimate, 8.0 / 10.0, 1e-12);
    }
}

#[test]
fn fewer_clusters_than_two_a_fold_are_not_cut_into_folds() {
    let groups = (0..9).flat_map(|group| [(group, false, 1.0), (group, true, 5.0)]);
    assert_eq!(scored(groups).judge().thresholds.unwrap().cross_validated, None);
}
