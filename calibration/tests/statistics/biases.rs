//! Effects of length and of an item's maker, their permutation tests, and the correction for having looked for several.

use assize_calibration::audit::result::{Audit, FindingWeight, JudgeAudit};
use assize_calibration::audit::{AuditConfig, audit};
use assize_calibration::distribution::normal_quantile;
use assize_calibration::gate::Gate;
use assize_calibration::judgement::{Choice, Judgement, Order, Verdict};
use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::golden::{assert_close, golden, numbers, rows};
use crate::small_logs::{Rows, close};

fn audited(rows: &Rows, config: &AuditConfig) -> Audit {
    audit(&rows.0, config, &Gate::built_in()).unwrap()
}

/// The effect of length is the coefficient that the regression's own tests hold against statsmodels and the definitions.
#[test]
fn the_effect_of_length_is_that_of_the_regression() {
    for case in golden("regression")["cases"].as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let columns = rows(&case["columns"]);
        let is_labelled = columns.len() == 2 && columns[1].iter().all(|label| *label == 0.0 || *label == 1.0);
        let clusters = numbers(&case["clusters"]);
        // A log states its clusters by groups.
        if !is_labelled {
            continue;
        }
        let mut log = Rows::default();
        let outcomes = numbers(&case["outcomes"]);
        for (item, score) in outcomes.iter().enumerate() {
            let row = Judgement {
                score: Some(*score),
                label: Some(if columns[1][item] == 1.0 { "1" } else { "0" }.into()),
                length_a: Some(columns[0][item].exp2()),
                group: Some(clusters[item].to_string().into()),
                weight: case["weights"][item].as_f64(),
                ..Judgement::default()
            };
            log.push(item, row);
        }
        let judge = log.judge();
        let effect = &judge.measures["length_effect"];
        assert_close(effect.estimate, case["estimates"][1].as_f64().unwrap(), 1e-9, name);
        assert_close(effect.details["standard_error"], case["cr2"][1].as_f64().unwrap(), 1e-9, name);
        assert_close(effect.details["degrees_of_freedom"], case["degrees"][1].as_f64().unwrap(), 1e-9, name);
        let detectable = (normal_quantile(0.975) + normal_quantile(0.8)) * effect.details["standard_error"];
        close(effect.details["minimal_detectable"], detectable, 1e-12);
    }
}

/// Of two right answers the longer is chosen always; the label names it half of the time.
#[test]
fn longer_candidates_are_preferred_whatever_the_label() {
    let mut log = Rows::default();
    for item in 0..80_usize {
        let is_a = item % 2 == 0;
        let (long, short) = (if item % 3 == 0 { 800.0 } else { 400.0 }, 100.0);
        let row = Judgement {
            choice: Some(if is_a == (item % 10 != 7) { Choice::A } else { Choice::B }),
            label: Some(if item % 4 < 2 { "a" } else { "b" }.into()),
            length_a: Some(if is_a { long } else { short }),
            length_b: Some(if is_a { short } else { long }),
            ..Judgement::default()
        };
        log.push(item, row);
    }
    let judge = log.judge();
    let effect = &judge.measures["length_effect_share"];
    assert!(effect.low.unwrap() > 0.1, "{effect:?}");
    close(effect.details["longer_chosen"], 0.9, 1e-12);
    close(effect.details["longer_labelled"], 0.5, 1e-12);
    assert!(judge.biases.as_ref().unwrap().test("length_effect_share").unwrap().is_found);
    assert!(judge.findings.iter().any(|finding| finding.what.contains("longer texts more")));
}

#[test]
fn without_lengths_or_variation_there_is_no_effect_of_it() {
    let mut log = Rows::default();
    (0..9).for_each(|item| log.score(item, item as f64));
    let unmeasured =
        |judge: &JudgeAudit| judge.unmeasured.iter().find(|missing| missing.id == "length_effect").unwrap().clone();
    assert_eq!(unmeasured(&log.judge()).needs, ["length_a"]);
    let mut log = Rows::default();
    for item in 0..9_usize {
        log.push(item, Judgement { score: Some(item as f64), length_a: Some(30.0), ..Judgement::default() });
    }
    assert!(unmeasured(&log.judge()).reason.contains("do not vary"));
    let mut log = Rows::default();
    for (item, length) in [-3.0, 0.0, f64::MIN_POSITIVE, f64::MAX, 5.0].into_iter().enumerate() {
        log.push(item, Judgement { score: Some(1.0), length_a: Some(length), ..Judgement::default() });
    }
    // All scores are the same: no effect, and nothing that could vary.
    let judge = log.judge();
    let effect = &judge.measures["length_effect"];
    assert_eq!((effect.estimate, effect.low, effect.n_items), (0.0, None, 3));
}

/// Judge `m` and two others score items of `m` and of `other`; each item has a quality of its own, which cancels.
fn scores_by_two(own_bonus: f64, n: usize) -> Rows {
    let mut log = Rows::default();
    for item in 0..n {
        let generator = if item % 2 == 0 { "openai/M-1-2024-04-09" } else { "other" };
        let quality = ((item * 7) % 5) as f64;
        for (judge, bonus) in [("m-1", own_bonus), ("x", 0.0), ("y", -0.5)] {
            let noise = ((item * 13 + judge.len() * 5) % 7) as f64 / 10.0;
            let own = if generator == "other" { 0.0 } else { bonus };
            let row = Judgement {
                judge: judge.into(),
                score: Some(quality + noise + own),
                generator: Some(generator.into()),
                ..Judgement::default()
            };
            log.push(item, row);
        }
    }
    log
}

#[test]
fn self_preference_is_a_difference_in_differences() {
    let log = scores_by_two(1.0, 40);
    let audit = log.audit();
    let judge = &audit.judges[0];
    let found = &judge.measures["self_preference"];
    // By hand: scores less the mean of the others', own less other items'.
    let noise = |item: usize, len: usize| ((item * 13 + len * 5) % 7) as f64 / 10.0;
    let difference = |item: usize| {
        let own = if item.is_multiple_of(2) { 1.0 - (0.0 - 0.5) / 2.0 } else { 0.0 };
        noise(item, 3) - noise(item, 1) + own
    };
    let mean = |start: usize| (start..40).step_by(2).map(difference).sum::<f64>() / 20.0;
    close(found.estimate, mean(0) - mean(1), 1e-12);
    assert_eq!((found.n_items, found.details["n_own_items"]), (40, 20.0));
    assert!(found.low.unwrap() > 0.5);
    assert!(judge.findings.iter().any(|finding| finding.what.contains("favours what its own model made")));
    // The others made nothing here.
    let other = &audit.judges[1];
    assert!(other.unmeasured.iter().any(|missing| missing.id == "self_preference"));
}

#[test]
fn who_is_whose_model_may_be_stated() {
    let log = scores_by_two(1.0, 40);
    let own = |judge: &str, generator: &str| AuditConfig {
        own_generators: [(judge.to_owned(), vec![generator.to_owned()])].into(),
        ..AuditConfig::default()
    };
    let audit = audited(&log, &own("x", "OTHER"));
    assert!(audit.judges[1].measures.contains_key("self_preference"));
    let is_unused = |audit: &Audit| audit.problems.iter().any(|problem| problem.code == "setting-unused");
    assert!(!is_unused(&audit) && is_unused(&audited(&log, &own("absent", "other"))));
    let audit = audited(&log, &own("m-1", "nobody"));
    assert!(!audit.judges[0].measures.contains_key("self_preference"));
}

#[test]
fn one_judge_is_held_against_the_labels_and_flagged() {
    let mut log = Rows::default();
    for item in 0..60_usize {
        let (is_own, is_good) = (item % 2 == 0, item % 3 == 0);
        let accepts = is_good || is_own;
        let row = Judgement {
            judge: "m".into(),
            verdict: Some(if accepts && item % 11 != 0 { Verdict::Accept } else { Verdict::Reject }),
            label: Some(if is_good { "1" } else { "0" }.into()),
            generator: Some(if is_own { "M" } else { "n" }.into()),
            ..Judgement::default()
        };
        log.push(item, row);
    }
    let judge = log.judge();
    let found = &judge.measures["self_preference_share"];
    assert!(found.low.unwrap() > 0.2 && found.cautions.iter().any(|caution| caution.contains("one judge")));
    // Wrong items: 20 of its own, all but two (items 22 and 44) accepted; 20 of the other's, none.
    close(judge.measures["own_false_accepts"].estimate, 0.9, 1e-12);
    let own = &judge.by_generator[0];
    assert_eq!((own.generator.as_str(), own.is_own, judge.by_generator.len()), ("M", true, 2));
    close(own.false_accept_rate.as_ref().unwrap().estimate, 0.9, 1e-12);
    close(judge.by_generator[1].false_accept_rate.as_ref().unwrap().estimate, 0.0, 1e-12);
}

/// Pairs of `m` and `n`: judge `m` chooses its own in 3 of 4, the other judge in 1 of 2.
#[test]
fn of_pairs_the_share_for_its_own_is_held_against_the_other_judges() {
    let mut log = Rows::default();
    for item in 0..40_usize {
        let a_is_own = item % 2 == 0;
        for (judge, takes_own) in [("m", item % 8 < 6), ("x", item % 4 < 2)] {
            let row = Judgement {
                judge: judge.into(),
                choice: Some(if takes_own == a_is_own { Choice::A } else { Choice::B }),
                generator: Some(if a_is_own { "m" } else { "n" }.into()),
                generator_b: Some(if a_is_own { "n" } else { "m" }.into()),
                ..Judgement::default()
            };
            log.push(item, row);
        }
    }
    let judge = log.judge();
    close(judge.measures["self_preference_share"].estimate, 0.25, 1e-12);
}

/// All turns of five items' shifts, by hand: those whose sum is as far from 0 as that of the data.
#[test]
fn few_items_have_all_their_turns_looked_at() {
    let shifts = [2.0, 1.0, -1.0, 3.0, 2.0];
    let mut log = Rows::default();
    for (item, shift) in shifts.iter().enumerate() {
        for (order, score) in [(Order::Ab, 5.0 + shift), (Order::Ba, 5.0)] {
            log.push(item, Judgement { score: Some(score), order: Some(order), ..Judgement::default() });
        }
    }
    let sum =
        |turns: u32| (0..5).map(|idx| if turns >> idx & 1 == 1 { -shifts[idx] } else { shifts[idx] }).sum::<f64>();
    let n_as_large = (0..32).filter(|turns| sum(*turns).abs() >= sum(0).abs()).count();
    let judge = log.judge();
    let found = &judge.measures["order_shift"].details;
    assert_eq!((found["p_permutation"], found["n_permutations"]), (n_as_large as f64 / 32.0, 32.0));
}

/// Every way to deal four items' answers to both orders, against the sample of ways that is drawn.
#[test]
fn the_excess_has_the_p_value_of_all_ways_to_deal_answers_out() {
    // Answers for a (of 3) in either order.
    let items = [[3, 1], [2, 0], [3, 0], [1, 2]];
    let mut log = Rows::default();
    for (item, counts) in items.iter().enumerate() {
        for (order, n_a) in [Order::Ab, Order::Ba].into_iter().zip(counts) {
            for repeat in 0..3 {
                log.choice(item, if repeat < *n_a { Choice::A } else { Choice::B }, order, repeat + 1);
            }
        }
    }
    let excess = |x: f64, y: f64| {
        let flip = |a: f64| 1.0 - (a * (a - 1.0) + (3.0 - a) * (2.0 - a)) / 6.0;
        1.0 - (x * y + (3.0 - x) * (3.0 - y)) / 9.0 - f64::midpoint(flip(x), flip(y))
    };
    let observed: f64 = items.iter().map(|[x, y]| excess(f64::from(*x), f64::from(*y))).sum();
    // Of six answers, each of the 20 ways to take three for the first order.
    let deals: Vec<u32> = (0..64_u32).filter(|mask| mask.count_ones() == 3).collect();
    let value = |total: u32, mask: u32| {
        let first = (mask & ((1 << total) - 1)).count_ones();
        excess(f64::from(first), f64::from(total - first))
    };
    let values: Vec<Vec<f64>> =
        items.iter().map(|[x, y]| deals.iter().map(|mask| value(x + y, *mask)).collect()).collect();
    let (mut n, mut n_as_large) = (0_u32, 0_u32);
    for a in &values[0] {
        for b in &values[1] {
            for c in &values[2] {
                for d in &values[3] {
                    n += 1;
                    n_as_large += u32::from(a + b + c + d >= observed - 1e-12);
                }
            }
        }
    }
    let exact = f64::from(n_as_large) / f64::from(n);
    let judge = log.judge();
    let found = judge.measures["position_excess"].details["p_permutation"];
    // 1,999 draws.
    assert!((found - exact).abs() < 4.0 * (exact * (1.0 - exact) / 1_999.0).sqrt() + 1e-3, "{found} is not {exact}");
}

/// Where nothing sways the judge, a p value under .05 comes once in twenty times, and any finding of the family at most so often.
#[test]
fn null_effects_are_found_no_more_often_than_stated() {
    let n = 120_u32;
    let ids = ["order_shift", "length_effect", "self_preference"];
    let mut below = [0_u32; 3];
    let (mut any_found, mut n_by_interval) = (0_u32, 0_u32);
    for replicate in 0..n {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        rng.set_stream(u64::from(replicate));
        let mut log = Rows::default();
        for item in 0..30_usize {
            let mut normal = || normal_quantile(rng.random_range(1e-12..1.0));
            let group = (item / 2).to_string();
            let (quality, length) = (normal(), (6.0 + normal()).exp2());
            for judge in ["m", "x"] {
                for order in [Order::Ab, Order::Ba] {
                    let row = Judgement {
                        judge: judge.into(),
                        score: Some(quality + normal()),
                        order: Some(order),
                        length_a: Some(length),
                        generator: Some(if item % 3 == 0 { "m" } else { "n" }.into()),
                        label: Some(if item % 2 == 0 { "1" } else { "0" }.into()),
                        group: Some(group.clone().into()),
                        ..Judgement::default()
                    };
                    log.push(item, row);
                }
            }
        }
        let judge = log.judge();
        for (below, id) in below.iter_mut().zip(ids) {
            *below += u32::from(judge.measures[id].details["p_permutation"] < 0.05);
        }
        let biases = judge.biases.unwrap();
        assert_eq!(biases.n_looked_for, 3);
        any_found += u32::from(biases.tests.iter().any(|test| test.is_found));
        n_by_interval += biases.tests.iter().filter(|test| test.p_value.unwrap() < 0.05).count() as u32;
    }
    let most = |p: f64, n: u32| p + 3.0 * (p * (1.0 - p) / f64::from(n)).sqrt();
    for (below, id) in below.iter().zip(ids) {
        let share = f64::from(*below) / f64::from(n);
        assert!(share <= most(0.05, n) && share > 0.01, "{id}: {share}");
    }
    let share = f64::from(any_found) / f64::from(n);
    assert!(share <= most(0.05, n), "any: {share}");
    let share = f64::from(n_by_interval) / f64::from(3 * n);
    assert!(share <= most(0.05, 3 * n), "intervals: {share}");
}

#[test]
fn what_is_not_found_is_said_with_what_would_have_been() {
    let mut log = Rows::default();
    for item in 0..40_usize {
        for (order, score) in [(Order::Ab, (item % 5) as f64), (Order::Ba, (item * 3 % 5) as f64)] {
            let length_a = Some(100.0 + (item * 37 % 41) as f64);
            log.push(item, Judgement { score: Some(score), order: Some(order), length_a, ..Judgement::default() });
        }
    }
    let judge = log.judge();
    let note = judge.findings.iter().find(|finding| finding.what.contains("were looked for")).unwrap();
    assert_eq!(note.weight, FindingWeight::Note);
    assert!(note.what.contains("2 effects") && note.what.contains("would have been seen"), "{}", note.what);
    let test = judge.biases.as_ref().unwrap().test("order_shift").unwrap();
    assert_eq!(
        Some(&test.minimal_detectable.unwrap()),
        judge.measures["order_shift"].details.get("minimal_detectable")
    );
}

/// The same log and seed give the same p value; another seed another one.
#[test]
fn permutations_are_seeded() {
    let mut log = Rows::default();
    for item in 0..40_usize {
        for (order, score) in [(Order::Ab, (item * item % 7) as f64), (Order::Ba, (item * 3 % 5) as f64 + 0.1)] {
            log.push(item, Judgement { score: Some(score), order: Some(order), ..Judgement::default() });
        }
    }
    let p = |seed| {
        audited(&log, &AuditConfig { seed, ..AuditConfig::default() }).judges[0].measures["order_shift"].details["p_permutation"]
    };
    assert_eq!(p(1), p(1));
    assert_ne!(p(1), p(2));
    assert!((p(1) - p(2)).abs() < 0.06);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Nothing in a log makes an effect that is no number.
    #[test]
    fn effects_are_numbers_or_absent(
        data in prop::collection::vec(
            (0_usize..6, 0_u8..3, prop::sample::select(vec![-1e200, -1.0, 0.0, 1.0, 7.5, 1e200]),
             prop::sample::select(vec![None, Some(-1.0), Some(0.0), Some(1.0), Some(1e-300), Some(1e300)]), 0_u8..3, any::<bool>()),
            1..30,
        ),
    ) {
        let mut log = Rows::default();
        for (item, judge, score, length_a, generator, is_ab) in data {
            let row = Judgement {
                judge: ["m", "n", "x"][judge as usize].into(),
                score: Some(score),
                length_a,
                generator: ["m", "n", ""].get(generator as usize).map(|name| (*name).into()),
                order: Some(if is_ab { Order::Ab } else { Order::Ba }),
                label: Some(if item % 2 == 0 { "1" } else { "0" }.into()),
                weight: Some(1.0 + item as f64),
                ..Judgement::default()
            };
            log.push(item, row);
        }
        for judge in log.audit().judges {
            for id in ["length_effect", "self_preference", "order_shift"] {
                if let Some(measure) = judge.measures.get(id) {
                    prop_assert!(measure.estimate.is_finite());
                    prop_assert!(measure.low.is_none_or(f64::is_finite) && measure.high.is_none_or(f64::is_finite));
                    prop_assert!(measure.details.values().all(|value| value.is_finite()));
                    let p = measure.details.get("p_permutation");
                    prop_assert!(p.is_none_or(|p| *p > 0.0 && *p <= 1.0));
                }
            }
        }
    }
}

/// Judge `m` accepts 3 of 4 of its own wrong items and 1 of 2 of others'; the other judge 1 of 2 and 1 of 4.
#[test]
fn blindness_to_its_own_errors_is_held_against_what_others_let_through() {
    let mut log = Rows::default();
    for item in 0..40_usize {
        let is_own = item < 20;
        let of_four = item % 4;
        for (judge, most) in [("m", if is_own { 3 } else { 2 }), ("x", if is_own { 2 } else { 1 })] {
            let row = Judgement {
                judge: judge.into(),
                verdict: Some(if of_four < most { Verdict::Accept } else { Verdict::Reject }),
                label: Some("0".into()),
                generator: Some(if is_own { "m" } else { "n" }.into()),
                ..Judgement::default()
            };
            log.push(item, row);
        }
    }
    let judge = log.judge();
    close(judge.measures["own_false_accepts"].estimate, (0.75 - 0.5) - (0.5 - 0.25), 1e-12);
    assert!(judge.measures["own_false_accepts"].method.contains("other judges"));
    close(judge.by_generator[0].false_accept_rate.as_ref().unwrap().estimate, 0.75, 1e-12);
}
