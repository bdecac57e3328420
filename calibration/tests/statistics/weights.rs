//! Weights of items: rates and means of the mix where the judge will work.

use assize_calibration::audit::AuditConfig;
use assize_calibration::distribution::beta_quantile;
use assize_calibration::judgement::{Judgement, Verdict};
use rand::{RngExt as _, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::small_logs::{Rows, close};

fn verdict(log: &mut Rows, item: usize, accepts: bool, label: bool, weight: Option<f64>) {
    let row = Judgement {
        verdict: Some(if accepts { Verdict::Accept } else { Verdict::Reject }),
        label: Some(if label { "1" } else { "0" }.into()),
        weight,
        ..Judgement::default()
    };
    log.push(item, row);
}

/// Of wrong items one of weight 6 is accepted, and of 2 and 2 none: 6/10. Right items: 1 of 5 + 1 rejected.
#[test]
fn rates_count_items_by_their_weights() {
    let mut log = Rows::default();
    for (item, (accepts, label, weight)) in
        [(true, false, 6.0), (false, false, 2.0), (false, false, 2.0), (true, true, 5.0), (false, true, 1.0)]
            .into_iter()
            .enumerate()
    {
        verdict(&mut log, item, accepts, label, Some(weight));
    }
    let judge = log.judge();
    close(judge.measures["false_accept_rate"].estimate, 0.6, 1e-12);
    close(judge.measures["false_reject_rate"].estimate, 1.0 / 6.0, 1e-12);
    close(judge.measures["accuracy"].estimate, 9.0 / 16.0, 1e-12);
    // The base rate of the mix, 6 of 16.
    close(judge.measures["precision"].details["base_rate"], 6.0 / 16.0, 1e-12);
    close(judge.measures["precision"].estimate, 5.0 / 11.0, 1e-12);
    // Kappa of the weighted table: observed 9/16, chance (10·5 + 6·11)/16².
    let chance = (10.0 * 5.0 + 6.0 * 11.0) / 256.0;
    close(judge.measures["kappa"].estimate, (9.0 / 16.0 - chance) / (1.0 - chance), 1e-12);
}

/// A weight of 3 is that of three such items, as far as estimates go; and the unit of weights does not matter.
#[test]
fn a_weight_is_so_many_items_and_its_unit_means_nothing() {
    let scores = [(3.0, 1.0, 3), (4.0, 2.0, 1), (9.0, 5.0, 2), (1.0, 2.0, 1), (2.0, 2.0, 2)];
    let (mut weighted, mut scaled, mut repeated) = (Rows::default(), Rows::default(), Rows::default());
    let mut n = 0;
    for (item, (score, label, weight)) in scores.into_iter().enumerate() {
        let row = |weight: Option<f64>| Judgement {
            score: Some(score),
            label: Some(format!("{label}").into()),
            weight,
            ..Judgement::default()
        };
        weighted.push(item, row(Some(f64::from(weight))));
        scaled.push(item, row(Some(0.37 * f64::from(weight))));
        for _ in 0..weight {
            repeated.push(n, row(None));
            n += 1;
        }
    }
    let (weighted, scaled, repeated) = (weighted.judge(), scaled.judge(), repeated.judge());
    for id in ["mean_error", "mean_absolute_error", "spearman", "kendall", "pearson"] {
        close(weighted.measures[id].estimate, repeated.measures[id].estimate, 1e-12);
        close(weighted.measures[id].estimate, scaled.measures[id].estimate, 1e-12);
        close(weighted.measures[id].low.unwrap(), scaled.measures[id].low.unwrap(), 1e-9);
    }
    let (a, b) = (&weighted.measures["alpha_with_labels"], &scaled.measures["alpha_with_labels"]);
    close(a.estimate, b.estimate, 1e-12);
}

/// Weights that are all the same are no weights.
#[test]
fn even_weights_change_nothing() {
    let (mut plain, mut even) = (Rows::default(), Rows::default());
    for item in 0..30 {
        let (accepts, label) = (item % 3 == 0, item % 2 == 0);
        verdict(&mut plain, item, accepts, label, None);
        verdict(&mut even, item, accepts, label, Some(4.0));
    }
    let (plain, even) = (plain.judge(), even.judge());
    for (id, measure) in &plain.measures {
        let other = &even.measures[id];
        close(measure.estimate, other.estimate, 1e-12);
        match (measure.low, other.low) {
            (Some(low), Some(other)) => close(low, other, 1e-9),
            (low, other) => assert_eq!(low, other, "{id}"),
        }
    }
}

#[test]
fn two_weights_of_an_item_are_reported_and_none_is_taken() {
    let mut log = Rows::default();
    for (item, accepts, weight) in
        [(0, true, Some(2.0)), (0, true, Some(3.0)), (1, false, Some(5.0)), (2, false, None), (3, true, Some(-1.0))]
    {
        verdict(&mut log, item, accepts, false, weight);
    }
    let audit = log.audit();
    let problem = |code: &str| audit.problems.iter().find(|problem| problem.code == code).map(|problem| problem.count);
    assert_eq!((problem("conflicting-weights"), problem("missing-weight")), (Some(1), Some(2)));
    // Items 0 and 3, accepted, of 1, 5, 1, 1.
    close(audit.judges[0].measures["false_accept_rate"].estimate, 2.0 / 8.0, 1e-12);
}

/// Where nothing is accepted, uneven weights leave as little shown as fewer items would: (Σw)²/Σw² of them.
#[test]
fn uneven_weights_widen_the_bound_of_none() {
    let mut log = Rows::default();
    for item in 0..20 {
        verdict(&mut log, item, false, false, Some(if item == 0 { 20.0 } else { 1.0 }));
    }
    let judge = log.judge();
    let far = &judge.measures["false_accept_rate"];
    let effective = 39.0 * 39.0 / (400.0 + 19.0);
    close(far.high.unwrap(), beta_quantile(0.975, 1.0, effective), 1e-9);
    close(far.details["weights_design_effect"], 20.0 / effective, 1e-12);
    assert!(!judge.measures["unparsed_rate"].details.contains_key("nothing"));
}

#[test]
fn what_weights_do_not_change_says_so() {
    let mut log = Rows::default();
    for item in 0..12_usize {
        for repeat in 0..3_usize {
            let score = Some((item + repeat % 2) as f64);
            log.push(item, Judgement { score, weight: Some(1.0 + item as f64), ..Judgement::default() });
        }
    }
    let judge = log.judge();
    let says = |id: &str| judge.measures[id].cautions.iter().any(|caution| caution.contains("weights"));
    assert!(says("icc_single") && says("within_item_sd") && !says("flip_rate"));
}

/// Hard items are judged four times as often as they occur; weights undo it, and the interval of the mix's rate holds.
#[test]
fn intervals_of_weighted_clustered_rates_hold() {
    let n = 300_u32;
    let (mut below, mut above) = (0_u32, 0_u32);
    // Hard: accepted .4; easy: .1. Of the mix a fifth is hard.
    let truth = 0.2 * 0.4 + 0.8 * 0.1;
    for replicate in 0..n {
        let mut rng = ChaCha8Rng::seed_from_u64(19);
        rng.set_stream(u64::from(replicate));
        let mut log = Rows::default();
        for group in 0..60_usize {
            let is_hard = rng.random::<f64>() < 0.5;
            let rate = if is_hard { 0.4 } else { 0.1 };
            // A group errs alike: with a chance of .4 its items share one draw.
            let shared = (rng.random::<f64>() < 0.4).then(|| rng.random::<f64>() < rate);
            for part in 0..3 {
                let accepts = shared.unwrap_or_else(|| rng.random::<f64>() < rate);
                let row = Judgement {
                    verdict: Some(if accepts { Verdict::Accept } else { Verdict::Reject }),
                    label: Some("0".into()),
                    weight: Some(if is_hard { 0.4 } else { 1.6 }),
                    group: Some(group.to_string().into()),
                    ..Judgement::default()
                };
                log.push(3 * group + part, row);
            }
        }
        let audit = assize_calibration::audit::audit(
            &log.0,
            &AuditConfig::default(),
            &assize_calibration::gate::Gate::built_in(),
        );
        let audit = audit.unwrap();
        let far = &audit.judges[0].measures["false_accept_rate"];
        below += u32::from(far.high.unwrap() < truth);
        above += u32::from(far.low.unwrap() > truth);
    }
    let share = |count: u32| f64::from(count) / f64::from(n);
    let error = |p: f64| 3.0 * (p * (1.0 - p) / f64::from(n)).sqrt();
    let held = 1.0 - share(below) - share(above);
    assert!(held >= 0.945 - error(0.945) && held <= 0.985 + error(0.985), "{held}: {below} {above}");
    assert!(share(below).max(share(above)) <= 0.03 + error(0.03), "{held}: {below} {above}");
}

/// Three judges of items that weigh 1 to 3, and the same items as often as they weigh.
#[test]
fn panels_count_items_by_their_weights_or_say_that_they_do_not() {
    let (mut weighted, mut repeated) = (Rows::default(), Rows::default());
    let mut n = 0;
    for item in 0..40_usize {
        let weight = 1 + item % 3;
        for copy in 0..weight {
            for (judge, every) in [("a", 3), ("b", 4), ("c", 5)] {
                let row = |weight: Option<f64>| Judgement {
                    judge: judge.into(),
                    verdict: Some(if item % every == 0 { Verdict::Accept } else { Verdict::Reject }),
                    label: Some(if item % 6 == 0 { "1" } else { "0" }.into()),
                    weight,
                    ..Judgement::default()
                };
                if copy == 0 {
                    weighted.push(item, row(Some(weight as f64)));
                }
                repeated.push(n, row(None));
            }
            n += 1;
        }
    }
    let (weighted, repeated) = (weighted.audit(), repeated.audit());
    let (one, other) = (&weighted.panels[0], &repeated.panels[0]);
    for (a, b) in
        one.methods.iter().zip(&other.methods).filter(|(a, _)| a.method == "majority" || a.method == "one_rater")
    {
        close(a.accuracy.as_ref().unwrap().estimate, b.accuracy.as_ref().unwrap().estimate, 1e-12);
        close(a.same_as_majority.unwrap_or(1.0), b.same_as_majority.unwrap_or(1.0), 1e-12);
    }
    for (a, b) in one.raters.iter().zip(&other.raters) {
        close(a.agrees_with_others.unwrap(), b.agrees_with_others.unwrap(), 1e-12);
    }
    let (a, b) = (one.vote.as_ref().unwrap(), other.vote.as_ref().unwrap());
    // Each is the mean of 400 shuffles.
    close(a.majority_if_independent, b.majority_if_independent, 0.02);
    assert!(one.notes.iter().any(|note| note.contains("count the same in pairs of errors")));
    assert!(!other.notes.iter().any(|note| note.contains("weights")));
    let cautioned = |measure: &assize_calibration::audit::result::Measure| {
        measure.cautions.iter().any(|caution| caution.contains("weights"))
    };
    assert!(one.error_pairs.iter().all(|pair| cautioned(&pair.correlation)));
    assert!(cautioned(&one.worth.as_ref().unwrap().correlation));
    for (a, b) in weighted.agreement.iter().zip(&repeated.agreement) {
        for (id, measure) in &a.measures {
            if ["percent_agreement", "kappa"].contains(&id.as_str()) {
                close(measure.estimate, b.measures[id].estimate, 1e-12);
                assert!(!cautioned(measure), "{id}");
            } else {
                assert!(cautioned(measure), "{id}");
            }
        }
    }
}
