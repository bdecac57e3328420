//! The risk of a gate: the same items judged again.

use assize_calibration::audit::result::{GateRisk, JudgeAudit};
use assize_calibration::audit::{AuditConfig, audit};
use assize_calibration::gate::{Gate, Limit};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::small_logs::{Rows, at_most, close};

fn judged(rows: &Rows, limits: &[(&str, Limit)]) -> JudgeAudit {
    let limits = limits.iter().map(|(id, limit)| ((*id).to_owned(), limit.clone())).collect();
    let gate = Gate { name: "test".to_owned(), limits, truth_optional: true };
    let config = AuditConfig { gate_risk: true, ..AuditConfig::default() };
    audit(&rows.0, &config, &gate).unwrap().judges.remove(0)
}

fn risk(rows: &Rows, limits: &[(&str, Limit)]) -> GateRisk {
    judged(rows, limits).gate_risk.unwrap()
}

/// Verdicts on items labelled wrong; `shares` are those of accepting.
fn wrong_items(shares: impl Iterator<Item = f64>, repeats: u32, seed: u64) -> Rows {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut rows = Rows::default();
    for (item, share) in shares.enumerate() {
        (0..repeats).for_each(|_| rows.verdict(item, Some(rng.random::<f64>() < share), false));
    }
    rows
}

/// SE = √(Σ pᵢ(1 − pᵢ)/kᵢ)/m over the same items, at the shares that answers are drawn from.
#[test]
fn the_noise_of_a_rate_is_that_of_the_closed_form() {
    let shares = || (0..100).map(|item| [0.0, 0.02, 0.1, 0.5][item % 4]);
    let truth: f64 = (shares().map(|p| p * (1.0 - p) / 3.0).sum::<f64>()).sqrt() / 100.0;
    // Over logs, since each estimates its noise from three answers an item.
    let found: Vec<f64> = (0..3)
        .map(|seed| {
            risk(&wrong_items(shares(), 3, seed), &[("false_accept_rate", at_most(0.3))]).limits[0].standard_error
        })
        .collect();
    let mean = found.iter().sum::<f64>() / found.len() as f64;
    assert!((mean / truth - 1.0).abs() < 0.12, "{mean} {truth}");
}

/// Shares of 0 and 1 from three answers understate noise by a third; the redraw makes up for it.
#[test]
fn redrawn_answers_differ_as_often_as_measured_ones() {
    let rows = wrong_items((0..300).map(|_| 0.1), 3, 4);
    let judge = judged(&rows, &[("flip_rate", at_most(0.5))]);
    let found = judge.gate_risk.unwrap();
    close(found.flip_rate, judge.measures["flip_rate"].estimate, 1e-12);
    close(found.plain_flip_rate, found.flip_rate * 2.0 / 3.0, 1e-12);
    assert!(found.concentration > 0.5, "{}", found.concentration);
    // The mean of redrawn flip rates is the measured one: its estimate is beyond a limit set there about half of the time.
    let at = judge.measures["flip_rate"].estimate;
    let past = risk(&rows, &[("flip_rate", at_most(at))]).limits[0].past;
    assert!((0.25..0.75).contains(&past), "{past}");
}

/// How often a gate whose judge is known goes red on the same items, against what one log says of it.
#[test]
fn the_risk_is_what_judging_again_comes_to() {
    let shares: Vec<f64> = (0..90).map(|item| if item % 3 == 0 { 0.25 } else { 0.01 }).collect();
    let limit = [("false_accept_rate", at_most(0.15))];
    let is_green = |seed: u64| {
        let rows = wrong_items(shares.iter().copied(), 4, seed);
        judged_plainly(&rows, &limit)
    };
    let green = (1_000..1_100).filter(|seed| is_green(*seed)).count() as f64 / 100.0;
    // What logs say that are as the truth is on average.
    let said: Vec<f64> = (0..4)
        .map(|seed| {
            let found = risk(&wrong_items(shares.iter().copied(), 4, seed), &limit).interval_rule;
            if found.is_green { 1.0 - found.risk_with_uncertain_shares } else { found.risk_with_uncertain_shares }
        })
        .collect();
    let mean = said.iter().sum::<f64>() / said.len() as f64;
    assert!((green - mean).abs() < 0.25, "{green} {mean}");
}

fn judged_plainly(rows: &Rows, limits: &[(&str, Limit)]) -> bool {
    let limits = limits.iter().map(|(id, limit)| ((*id).to_owned(), limit.clone())).collect();
    let gate = Gate { name: "test".to_owned(), limits, truth_optional: true };
    let judge = audit(&rows.0, &AuditConfig::default(), &gate).unwrap().judges.remove(0);
    judge.fitness == assize_calibration::audit::result::Fitness::Fit
}

#[test]
fn a_green_gate_near_its_limit_is_told_and_helped() {
    let rows = wrong_items((0..120).map(|item| if item % 2 == 0 { 0.12 } else { 0.0 }), 3, 2);
    let measured = judged(&rows, &[("false_accept_rate", at_most(0.5))]);
    let high = measured.measures["false_accept_rate"].high.unwrap();
    let judge = judged(&rows, &[("false_accept_rate", at_most(high + 0.002))]);
    let found = judge.gate_risk.as_ref().unwrap();
    assert!(found.interval_rule.is_green && found.interval_rule.risk > 0.05, "{:?}", found.interval_rule);
    assert!(found.interval_rule.risk_interval[0] <= found.interval_rule.risk);
    close(found.interval_rule.verdicts.iter().sum(), 1.0, 1e-12);
    let finding = judge.findings.iter().find(|finding| finding.what.contains("though nothing changed")).unwrap();
    assert!(!finding.advice.is_empty());
    // Moving the limit costs nothing and is enough; it comes first.
    let first = &found.remedies[0];
    assert!(first.is_enough && first.further_judgements == 0 && first.limits["false_accept_rate"] > high, "{first:?}");
    let asked: Vec<_> = found.remedies.iter().filter(|remedy| remedy.times_answers > 1).collect();
    assert!(asked.windows(2).all(|pair| pair[1].risk <= pair[0].risk + 0.03), "{asked:?}");
    assert_eq!(asked[0].further_judgements, 360);
    assert!(found.untried.iter().any(|says| says.contains("no order")));
}

#[test]
fn a_steady_judge_has_no_risk_and_a_log_without_repeats_none_that_is_known() {
    let rows = wrong_items((0..80).map(|_| 0.0), 3, 1);
    let found = risk(&rows, &[("false_accept_rate", at_most(0.1))]);
    assert!(found.interval_rule.is_green && found.interval_rule.risk == 0.0 && found.remedies.is_empty());
    assert_eq!(found.concentration, 0.0);
    let once = wrong_items((0..80).map(|_| 0.1), 1, 1);
    let judge = judged(&once, &[("false_accept_rate", at_most(0.1))]);
    assert!(judge.gate_risk.is_none());
    let why = judge.unmeasured.iter().find(|unmeasured| unmeasured.id == "gate_risk").unwrap();
    assert_eq!(why.needs, ["repeat"]);
    // Nothing is measured unless it is asked for.
    assert!(rows.judge().gate_risk.is_none());
}

#[test]
fn scores_unparsed_replies_and_orders_are_redrawn() {
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    let mut rows = Rows::default();
    for item in 0..40 {
        for _ in 0..4 {
            let noise = rng.random_range(0..3);
            rows.score(item, (item % 7 + noise) as f64);
        }
    }
    let found = risk(&rows, &[("moved_over_one_point", at_most(0.6)), ("mean_abs_difference", at_most(1.2))]);
    assert_eq!(found.limits.len(), 2);
    let mut continuous = Rows::default();
    for item in 0..60 {
        (0..3).for_each(|_| continuous.score(item, item as f64 + rng.random::<f64>()));
    }
    let found = risk(&continuous, &[("mean_abs_difference", at_most(0.5))]);
    assert!(found.limits[0].standard_error > 0.0);
    let mut unparsed = Rows::default();
    for item in 0..40 {
        (0..3).for_each(|_| unparsed.verdict(item, (rng.random::<f64>() < 0.8).then_some(true), item % 2 == 0));
    }
    let found = risk(&unparsed, &[("unparsed_rate", at_most(0.2)), ("accuracy", at_most(0.9))]);
    assert!(found.limits[0].standard_error > 0.0);
    let json = serde_json::to_string(&found).unwrap();
    assert!(!json.contains("null"), "{json}");
}
