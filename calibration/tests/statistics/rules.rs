//! Rules of measuring: what keeps a figure of an audit from misleading, each a fact about a small log.

use assize_calibration::agreement::kappa::{Weighting, cohen_kappa};
use assize_calibration::audit::result::Fitness;
use assize_calibration::audit::{AuditConfig, audit, catalogue};
use assize_calibration::cluster::Tallies;
use assize_calibration::combinatorics::{expected_modal_share, pair_flip_rate};
use assize_calibration::gate::{Gate, Limit, LimitState};
use assize_calibration::judgement::{Choice, Judgement, Order, Verdict};
use assize_calibration::log::Log;
use assize_calibration::proportion::{ClusteredProportion, clopper_pearson};

use crate::small_logs::{Rows, at_most, close, high};

/// Ten texts judged five times are ten trials, not fifty: the upper end is .308, not .071.
#[test]
fn nothing_in_ten_texts_of_five_judgements_has_the_bound_of_ten_trials() {
    let mut rows = Rows::default();
    for item in 0..10 {
        (0..5).for_each(|_| rows.verdict(item, Some(false), false));
    }
    let judge = rows.judge();
    let rate = &judge.measures["false_accept_rate"];
    assert_eq!((rate.estimate, rate.low.unwrap()), (0.0, 0.0));
    close(high(rate), 0.3085, 1e-4);
    close(clopper_pearson(0.0, 50.0, 0.95).unwrap().high, 0.0711, 1e-4);
    assert_eq!((rate.n, rate.n_items, rate.n_clusters), (50, 10, 10));
}

#[test]
fn few_clusters_with_the_event_count_as_one_trial_each() {
    let spread = |with_event| ClusteredProportion {
        estimate: 0.1,
        variance: 0.1 * 0.9 / 250.0,
        n_observations: 250.0,
        n_clusters: 50.0,
        n_clusters_with_event: with_event,
        n_clusters_with_absence: 50,
    };
    close(spread(9).effective_sample_size(0.95), 50.0, 1e-12);
    assert!(spread(10).effective_sample_size(0.95) > 200.0);
}

#[test]
fn tallies_of_shards_add_up_to_those_of_the_whole() {
    let values: Vec<(u32, [f64; 2])> = (0..60).map(|i| (i % 7, [f64::from(i % 5), 1.0])).collect();
    let of = |values: &[(u32, [f64; 2])]| {
        let mut tallies: Tallies<2> = Tallies::new(7);
        for (cluster, tally) in values {
            tallies.add(*cluster, *tally);
        }
        tallies
    };
    let mean = |sums: &[f64; 2]| (sums[1] > 0.0).then(|| sums[0] / sums[1]);
    let mut merged = of(&values[..23]);
    merged.merge(&of(&values[23..]));
    assert_eq!(merged.jackknife(mean), of(&values).jackknife(mean));
    assert_eq!(merged.n_clusters(), 7);
}

/// Counting unparsed replies as rejections would let a judge lower its false accepts by not answering.
#[test]
fn unparsed_replies_bound_the_rate_and_hold_the_gate_open() {
    let mut rows = Rows::default();
    for item in 0..400 {
        let accepts = if item < 40 { None } else { Some(item < 48) };
        rows.verdict(item, accepts, false);
    }
    let judge = rows.with_limit("false_accept_rate", at_most(0.1));
    let rate = &judge.measures["false_accept_rate"];
    close(rate.estimate, 8.0 / 360.0, 1e-12);
    close(rate.details["unparsed_for"], 8.0 / 400.0, 1e-12);
    close(rate.details["unparsed_against"], 48.0 / 400.0, 1e-12);
    assert!(high(rate) < 0.1);
    let limit = &judge.limits[0];
    assert_eq!(limit.state, LimitState::Undecided);
    assert!(limit.why.contains("because of unparsed"), "{}", limit.why);
    assert_eq!(judge.fitness, Fitness::Inconclusive);
}

#[test]
fn an_item_with_no_parsed_reply_stays_in_the_bounds() {
    let mut rows = Rows::default();
    for item in 0..20 {
        rows.verdict(item, (item > 0).then_some(false), false);
    }
    let rate = rows.judge().measures.remove("false_accept_rate").unwrap();
    assert_eq!((rate.estimate, rate.n_items), (0.0, 19));
    close(rate.details["unparsed_against"], 1.0 / 20.0, 1e-12);
}

#[test]
fn where_replies_fail_to_parse_is_said_by_label() {
    let mut rows = Rows::default();
    for item in 0..40 {
        let label = item % 2 == 0;
        rows.verdict(item, (!label || item >= 20).then_some(label), label);
    }
    let judge = rows.judge();
    let of = |value: &str| judge.unparsed_by.iter().find(|split| split.by == "label" && split.value == value).unwrap();
    close(of("accept").rate.estimate, 0.5, 1e-12);
    close(of("reject").rate.estimate, 0.0, 1e-12);
}

/// Asking until a reply parses hides how often it does not: first replies are counted apart.
#[test]
fn first_replies_that_fail_to_parse_are_counted_apart() {
    let mut rows = Rows::default();
    for item in 0..20 {
        rows.verdict(item, (item >= 10).then_some(true), true);
        rows.verdict(item, Some(true), true);
    }
    let judge = rows.judge();
    let of =
        |value: &str| judge.unparsed_by.iter().find(|split| split.by == "attempt" && split.value == value).unwrap();
    close(of("first").rate.estimate, 0.5, 1e-12);
    close(of("later").rate.estimate, 0.0, 1e-12);
}

/// The two orders are different prompts: a judge that always takes the first does not flip.
#[test]
fn noise_is_measured_within_one_order() {
    let mut rows = Rows::default();
    for item in 0..30 {
        for repeat in 1..=3 {
            rows.choice(item, Choice::A, Order::Ab, repeat);
            rows.choice(item, Choice::B, Order::Ba, repeat);
        }
    }
    let judge = rows.judge();
    assert_eq!(judge.measures["flip_rate"].estimate, 0.0);
    assert_eq!(judge.measures["swap_consistency"].estimate, 0.0);
    assert_eq!(judge.measures["position_excess"].estimate, 1.0);
    assert_eq!(judge.measures["first_position_preference"].estimate, 1.0);
    // Repeats within an order agree with themselves; orders are not mixed into alpha.
    assert_eq!(judge.measures["repeat_alpha"].estimate, 1.0);
}

/// Swap inconsistency less the modal share's complement would show bias in a judge that has noise only.
#[test]
fn position_excess_of_noise_alone_is_zero_on_average() {
    let mut rows = Rows::default();
    // Each item once with each of the eight ways in which two answers an order can fall, of a fair coin.
    for item in 0..16 {
        let bit = |at: usize| if item >> at & 1 == 1 { Choice::A } else { Choice::B };
        for repeat in 0..2 {
            rows.choice(item, bit(repeat), Order::Ab, repeat as u32);
            rows.choice(item, bit(2 + repeat), Order::Ba, repeat as u32);
        }
    }
    let judge = rows.judge();
    close(judge.measures["position_excess"].estimate, 0.0, 1e-12);
    close(judge.measures["swap_consistency"].estimate, 0.5, 1e-12);
    close(judge.measures["position_direction"].estimate, 0.0, 1e-12);
}

#[test]
fn position_excess_needs_repeats_in_both_orders_and_is_not_truncated() {
    let mut rows = Rows::default();
    for item in 0..5 {
        rows.choice(item, Choice::A, Order::Ab, 1);
        rows.choice(item, Choice::A, Order::Ab, 2);
        rows.choice(item, Choice::A, Order::Ba, 1);
    }
    let judge = rows.judge();
    assert!(judge.unmeasured.iter().any(|u| u.id == "position_excess" && u.reason.contains("both orders")));
    for item in 0..5 {
        // The orders agree more than the repeats do: by chance, below zero.
        rows.choice(item + 5, Choice::A, Order::Ab, 1);
        rows.choice(item + 5, Choice::B, Order::Ab, 2);
        rows.choice(item + 5, Choice::A, Order::Ba, 1);
        rows.choice(item + 5, Choice::B, Order::Ba, 2);
    }
    let excess = rows.judge().measures.remove("position_excess").unwrap();
    close(excess.estimate, -0.5, 1e-12);
    assert!(!excess.cautions.is_empty(), "few items are flagged");
}

/// Opposite biases of items cancel in the direction and not in the excess.
#[test]
fn direction_cancels_where_the_excess_does_not() {
    let mut rows = Rows::default();
    for item in 0..20 {
        let (ab, ba) = if item % 2 == 0 { (Choice::A, Choice::B) } else { (Choice::B, Choice::A) };
        for repeat in 1..=2 {
            rows.choice(item, ab, Order::Ab, repeat);
            rows.choice(item, ba, Order::Ba, repeat);
        }
    }
    let judge = rows.judge();
    assert_eq!(judge.measures["position_excess"].estimate, 1.0);
    assert_eq!(judge.measures["position_direction"].estimate, 0.0);
}

/// Few noisy items make a t interval end too low, whether or not the scale is known.
#[test]
fn the_difference_of_two_draws_has_a_skewed_interval() {
    let mut rows = Rows::default();
    for item in 0..20 {
        rows.scores(&[(item, 5.0), (item, if item < 2 { 6.0 } else { 5.0 })]);
    }
    let difference = rows.judge().measures.remove("mean_abs_difference").unwrap();
    close(difference.estimate, 0.1, 1e-12);
    assert!(difference.method.contains("gamma"), "{}", difference.method);
    assert!(high(&difference) - 0.1 > 0.1 - difference.low.unwrap() && difference.low.unwrap() > 0.0);
}

#[test]
fn within_item_sd_pools_variances_and_bears_no_gate() {
    let mut rows = Rows::default();
    // Variances 0 of two draws and 2 of three: √((1·0 + 2·1)/3), not the mean SD ½.
    rows.scores(&[(0, 4.0), (0, 4.0), (1, 3.0), (1, 4.0), (1, 5.0)]);
    let judge = rows.with_limit("within_item_sd", at_most(10.0));
    let sd = &judge.measures["within_item_sd"];
    close(sd.estimate, (2.0_f64 / 3.0).sqrt(), 1e-12);
    close(sd.details["mean_of_sds"], 0.5, 1e-12);
    assert!(sd.cautions.iter().any(|caution| caution.contains("approximate")));
    assert_eq!(judge.limits[0].state, LimitState::Unmeasured);
    for id in ["within_item_sd", "kappa"] {
        assert!(catalogue::info(id).unwrap().ungatable.is_some(), "{id}");
    }
}

/// 1 less the modal share and "any flip" depend on k; the pair form does not.
#[test]
fn flip_rate_does_not_depend_on_the_number_of_repeats() {
    for (n, k, share) in
        [(1_000_000, 3, 0.75), (1_000_000, 5, 0.6875), (1_000_000, 10, 0.623), (1_000_000, 100, 0.5398)]
    {
        close(expected_modal_share(&[n, n], k).unwrap(), share, 5e-4);
        close(pair_flip_rate(&[n, n]).unwrap(), 0.5, 1e-5);
    }
}

/// (MSB − MSW)/(MSB + (n₀ − 1)MSW) by hand: items 1, 3 | 5, 7, 9.
#[test]
fn unbalanced_icc_is_that_of_the_analysis_of_variance_and_may_be_negative() {
    let mut rows = Rows::default();
    rows.scores(&[(0, 1.0), (0, 3.0), (1, 5.0), (1, 7.0), (1, 9.0)]);
    let (msb, msw, n0) = (30.0, 10.0 / 3.0, 5.0 - 13.0 / 5.0);
    let icc = rows.judge().measures.remove("icc_single").unwrap();
    close(icc.estimate, (msb - msw) / (msb + (n0 - 1.0) * msw), 1e-12);
    let mut rows = Rows::default();
    rows.scores(&[(0, 1.0), (0, 3.0), (1, 1.0), (1, 3.0)]);
    let icc = rows.judge().measures.remove("icc_single").unwrap();
    close(icc.estimate, -1.0, 1e-12);
}

#[test]
fn scores_without_any_variance_have_no_icc() {
    let mut rows = Rows::default();
    (0..10).for_each(|i| rows.score(i / 2, 4.0));
    let judge = rows.judge();
    for id in ["icc_single", "icc_mean", "repeat_alpha"] {
        assert!(!judge.measures.contains_key(id) && judge.unmeasured.iter().any(|u| u.id == id), "{id}");
    }
}

/// A rate of right answers of .9 on either class gives a kappa of .80, .59, .43, .24 at these shares of right items.
#[test]
fn kappa_falls_with_prevalence_and_says_both_marginals() {
    for (prevalence, kappa) in [(0.5, 0.80), (0.1, 0.59), (0.05, 0.43), (0.02, 0.24)] {
        let table = [0.9 * (1.0 - prevalence), 0.1 * (1.0 - prevalence), 0.1 * prevalence, 0.9 * prevalence];
        close(cohen_kappa(&table, 2, &Weighting::Unweighted).unwrap().kappa, kappa, 0.006);
    }
    let mut rows = Rows::default();
    (0..40).for_each(|item| rows.verdict(item, Some(item % 4 == 0), item % 2 == 0));
    let kappa = rows.judge().measures.remove("kappa").unwrap();
    close(kappa.details["label_share.accept"], 0.5, 1e-12);
    close(kappa.details["answer_share.accept"], 0.25, 1e-12);
}

#[test]
fn kappa_of_two_constants_is_undefined() {
    let mut rows = Rows::default();
    (0..10).for_each(|item| rows.verdict(item, Some(true), true));
    let judge = rows.judge();
    for id in ["kappa", "ac1", "alpha_with_labels"] {
        assert!(!judge.measures.contains_key(id), "{id}");
        assert!(judge.unmeasured.iter().any(|unmeasured| unmeasured.id == id), "{id}");
    }
}

#[test]
fn the_area_of_classes_apart_is_flagged_and_bounded_by_the_smaller_class() {
    let mut rows = Rows::default();
    for item in 0..20 {
        let good = item % 2 == 0;
        let score = item as f64 + if good { 100.0 } else { 0.0 };
        let label = if good { "1" } else { "0" };
        rows.push(item, Judgement { score: Some(score), label: Some(label.into()), ..Judgement::default() });
    }
    let area = rows.judge().measures.remove("auc").unwrap();
    // No disordered pair among ten independent ones: 0 of 10, whose upper end is .3085.
    assert_eq!((area.estimate, area.high), (1.0, Some(1.0)));
    assert!((area.low.unwrap() - (1.0 - 0.308_497_104_0)).abs() < 1e-6, "{area:?}");
    assert!(!area.cautions.is_empty());
}

#[test]
fn repeats_that_never_differ_are_told_of_as_a_cache() {
    let mut rows = Rows::default();
    for item in 0..30 {
        (0..5).for_each(|_| rows.score(item, (item % 7) as f64 + 0.25));
    }
    let text = format!("{:?}", rows.judge().findings);
    assert!(text.contains("cache"), "{text}");
    // They add no items: the interval is that of thirty.
    assert_eq!(rows.judge().measures["moved_over_one_point"].n_clusters, 30);
    let is_told = |n_items: usize, n_repeats: usize| {
        let mut rows = Rows::default();
        (0..n_items).for_each(|item| (0..n_repeats).for_each(|_| rows.score(item, (item % 7) as f64)));
        format!("{:?}", rows.judge().findings).contains("may come from a cache")
    };
    assert_eq!(
        [(10, 5), (10, 3), (9, 5), (19, 2), (20, 2)].map(|(n, k)| is_told(n, k)),
        [true, true, false, false, true]
    );
}

#[test]
fn equal_rows_collapse_and_conflicting_ones_are_errors() {
    let mut rows = Rows::default();
    let row = |score| Judgement { score: Some(score), repeat: Some(1), ..Judgement::default() };
    rows.push(0, row(3.0));
    rows.push(0, row(3.0));
    rows.push(1, row(3.0));
    rows.push(1, row(4.0));
    rows.push(2, row(5.0));
    let audit = rows.audit();
    assert_eq!((audit.data.n_duplicates, audit.data.n_conflicts, audit.judges[0].n_judgements), (1, 2, 2));
    let codes: Vec<&str> = audit.problems.iter().map(|problem| problem.code.as_str()).collect();
    assert!(codes.contains(&"duplicate-rows") && codes.contains(&"conflicting-rows"), "{codes:?}");
}

#[test]
fn the_same_text_under_two_names_is_one_cluster() {
    let mut rows = Rows::default();
    for item in 0..10 {
        let text = format!("text {}", item / 2);
        let row = Judgement { verdict: Some(Verdict::Accept), content: Some(text.into()), ..Judgement::default() };
        rows.push(item, Judgement { label: Some("1".into()), ..row });
    }
    let judge = rows.judge();
    assert_eq!((judge.n_items, judge.n_clusters), (10, 5));
    assert_eq!(judge.measures["accuracy"].n_clusters, 5);
}

/// Accept needs more than half: a tie rejects, and the share of ties is said. Every k uses the same items.
#[test]
fn a_tied_vote_rejects_and_every_k_uses_the_same_items() {
    let mut rows = Rows::default();
    for item in 0..10 {
        // Two of four parsed accept, one of five is unparsed; item 9 has one draw only.
        let draws = [Some(true), Some(true), Some(false), Some(false), None];
        draws.into_iter().take(if item == 9 { 1 } else { 5 }).for_each(|draw| rows.verdict(item, draw, false));
    }
    let voting = rows.judge().voting.unwrap();
    assert_eq!((voting.n_items, voting.n_items_left_out, voting.k_max), (9, 1, 5));
    let all = voting.points.last().unwrap();
    assert_eq!(all.false_accept_rate.as_ref().unwrap().estimate, 0.0);
    close(all.tie_share, 1.0, 1e-12);
    assert!(voting.points.iter().all(|point| point.false_accept_rate.as_ref().unwrap().n_items == 9));
    assert!(voting.tie_rule.contains("rejects"));
}

/// Judges are paired with each other, never with their own repeats.
#[test]
fn agreement_between_judges_leaves_out_a_judge_s_own_repeats() {
    let mut log = Log::default();
    for item in 0..20 {
        for judge in ["x", "y"] {
            for repeat in 0..2 {
                // x wavers, y does not.
                let accepts = if judge == "x" { repeat == 0 } else { item % 2 == 0 };
                let verdict = Some(if accepts { Verdict::Accept } else { Verdict::Reject });
                let row =
                    Judgement { item: item.to_string().into(), judge: judge.into(), verdict, ..Judgement::default() };
                log.push(&row, 0);
            }
        }
    }
    let audit = audit(&log, &AuditConfig::default(), &Gate::built_in()).unwrap();
    let pair = &audit.agreement[0];
    assert_eq!(pair.among, "x and y");
    close(pair.measures["percent_agreement"].estimate, 0.5, 1e-12);
}

/// Learn then Test: the rate chosen on these data is over its cap as seldom as its interval says, and the plug-in is not.
#[test]
fn a_threshold_chosen_from_the_strictest_down_keeps_its_cap() {
    use rand::{RngExt, SeedableRng};
    let (cap, n) = (0.1, 200);
    let (mut broken, mut plug_in_broken) = (0, 0);
    for seed in 0..n {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        let mut rows = Rows::default();
        // A wrong item scores t or more with probability 1 − t/10; right ones matter only for what thresholds there are.
        for item in 0..120 {
            let good = item % 2 == 0;
            let score = f64::from(rng.random_range(0..20_u32)) / 2.0;
            let label = if good { "1" } else { "0" };
            rows.push(item, Judgement { score: Some(score), label: Some(label.into()), ..Judgement::default() });
        }
        let swept = rows.judge().thresholds.unwrap();
        let truth = |threshold: f64| (10.0 - threshold) / 10.0;
        broken += u32::from(swept.chosen.is_some_and(|threshold| truth(threshold) > cap + 1e-9));
        let plug_in = swept.points.iter().find(|point| point.false_accept_rate.estimate <= cap);
        plug_in_broken += u32::from(plug_in.is_some_and(|point| truth(point.threshold) > cap + 1e-9));
    }
    assert!(broken <= 10, "{broken} of {n}");
    assert!(plug_in_broken >= 20, "{plug_in_broken} of {n}");
}

/// Two items that happen to agree say little of a third.
#[test]
fn values_that_do_not_vary_have_an_interval_that_items_narrow() {
    let width = |n_items: usize| {
        let mut rows = Rows::default();
        for item in 0..n_items {
            rows.push(item, Judgement { score: Some(3.0), label: Some("3".into()), ..Judgement::default() });
            rows.push(item, Judgement { score: Some(3.0), label: Some("3".into()), ..Judgement::default() });
        }
        let config = AuditConfig { scale: Some([1.0, 5.0]), ..AuditConfig::default() };
        let judge = audit(&rows.0, &config, &Gate::built_in()).unwrap().judges.remove(0);
        high(&judge.measures["mean_abs_difference"])
    };
    let widths = [2, 3, 10, 100].map(width);
    assert!(widths.is_sorted_by(|a, b| a > b), "{widths:?}");
    assert!(widths[0] > 2.0, "{widths:?}");
}

/// A sign is part of a word: −1 is no 1.
#[test]
fn a_sign_before_a_word_is_not_dropped() {
    for word in ["-1", "_1", "1_", "-accept", "- pass", "-pass", "-是"] {
        assert_eq!(Verdict::parse(word), None, "{word}");
    }
    for word in ["-a", "a-", "_b"] {
        assert_eq!(Choice::parse(word), None, "{word}");
    }
    assert_eq!(Verdict::parse("not-ok"), Some(Verdict::Reject));
    assert_eq!(Verdict::parse(" Non_Compliant "), Some(Verdict::Reject));
}

/// Texts in the place of categories are no reason to work for minutes.
#[test]
fn answers_that_all_differ_are_not_taken_for_categories() {
    let mut rows = Rows::default();
    for item in 0..3000 {
        let (category, label) = (format!("answer {item}"), format!("label {item}"));
        rows.push(
            item,
            Judgement { category: Some(category.into()), label: Some(label.into()), ..Judgement::default() },
        );
    }
    let judge = rows.judge();
    assert_eq!(judge.measures["accuracy"].estimate, 0.0);
    assert!(judge.unmeasured.iter().any(|unmeasured| unmeasured.id == "kappa"));
}

/// Three repeats of one item and two of others: the lower end of ρ may pass the pole of Spearman and Brown's formula, beyond which it
/// would come out above 1.
#[test]
fn the_reliability_of_a_mean_has_no_lower_end_above_its_estimate() {
    let mut rows = Rows::default();
    rows.scores(&[(0, 2.0), (0, 4.0), (0, 7.0), (1, 4.0), (1, 8.0), (1, 4.0), (2, 1.0), (2, 1.0)]);
    let judge = rows.with_limit("icc_mean", Limit { min: Some(0.9), ..Limit::default() });
    let value = &judge.measures["icc_mean"];
    assert!(value.low.is_none_or(|low| low <= value.estimate), "{value:?}");
    assert_eq!((judge.limits[0].state, judge.fitness), (LimitState::Undecided, Fitness::Inconclusive));
}
