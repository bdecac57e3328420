//! An audit looked at after every item: same verdicts, sooner, and nothing that depends on what comes later.

use assize_calibration::audit::result::{Fitness, JudgeAudit, Looks};
use assize_calibration::audit::{AuditConfig, LookOrder, audit};
use assize_calibration::gate::{Gate, Limit, LimitState};
use assize_calibration::sequential::LimitTest;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::small_logs::{Rows, at_most, close};

fn watched(rows: &Rows, limits: &[(&str, Limit)], order: LookOrder) -> JudgeAudit {
    let limits = limits.iter().map(|(id, limit)| ((*id).to_owned(), limit.clone())).collect();
    let gate = Gate { name: "test".to_owned(), limits, truth_optional: true };
    let config = AuditConfig { anytime: Some(order), ..AuditConfig::default() };
    audit(&rows.0, &config, &gate).unwrap().judges.remove(0)
}

fn looks(judge: &JudgeAudit) -> &Looks {
    judge.looks.as_ref().unwrap()
}

/// Items in random order, the judge wrong at a rate, each judged twice.
fn judged(n_items: usize, error: f64, seed: u64) -> Rows {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut rows = Rows::default();
    for item in 0..n_items {
        let label = rng.random();
        for _ in 0..2 {
            rows.verdict(item, Some((rng.random::<f64>() < error) != label), label);
        }
    }
    rows
}

#[test]
fn a_clear_verdict_takes_few_items() {
    for (error, expected) in [(0.01, Fitness::Fit), (0.5, Fitness::Unfit)] {
        let rows = judged(600, error, 1);
        let judge = watched(&rows, &[("false_accept_rate", at_most(0.1))], LookOrder::Log);
        let decided = looks(&judge).decided.as_ref().unwrap();
        assert_eq!((judge.fitness, decided.fitness), (expected, expected));
        assert!(decided.n_clusters < 200 && decided.n_judgements == 2 * decided.n_clusters, "{decided:?}");
        assert_eq!(rows.with_limit("false_accept_rate", at_most(0.1)).fitness, expected);
    }
}

/// A judge at the limit is called neither, at whichever of its 300 looks.
#[test]
fn a_judge_at_its_limit_is_seldom_decided_whatever_the_looks() {
    let n = 100;
    let decided = (0..n).filter(|seed| {
        let judge = watched(
            &judged(300, 0.3, 100 + seed),
            &[("accuracy", Limit { min: Some(0.7), ..Limit::default() })],
            LookOrder::Log,
        );
        looks(&judge).decided.is_some()
    });
    // Two sides of .025 each at most.
    assert!(decided.count() <= 9);
}

#[test]
fn evidence_is_that_of_the_items_means() {
    let mut rows = Rows::default();
    let mut test = LimitTest::new(0.2, [0.0, 1.0]).unwrap();
    for item in 0..40 {
        let n_wrong = usize::from(item % 4 == 0) + usize::from(item % 8 == 0);
        (0..4).for_each(|draw| rows.verdict(item, Some(draw < n_wrong), false));
        test.update(n_wrong as f64 / 4.0).unwrap();
    }
    let judge = watched(&rows, &[("false_accept_rate", at_most(0.2))], LookOrder::Log);
    let limit = &looks(&judge).limits[0];
    close(limit.p_met, test.p_at_least(), 1e-12);
    close(limit.p_broken, test.p_at_most(), 1e-12);
    assert_eq!((limit.n, limit.estimate.unwrap()), (40, 0.09375));
    assert!(limit.low.unwrap() < 0.09375 && limit.high.unwrap() > 0.09375);
}

/// What was decided stays so however the log goes on, and no sooner than it was.
#[test]
fn later_items_do_not_change_an_earlier_look() {
    let limits = [("false_accept_rate", at_most(0.1)), ("flip_rate", at_most(0.2))];
    let all = watched(&judged(400, 0.02, 4), &limits, LookOrder::Log);
    let first = looks(&all).decided.clone().unwrap();
    let at = usize::try_from(first.n_clusters).unwrap();
    let then = watched(&judged(at, 0.02, 4), &limits, LookOrder::Log);
    assert_eq!(looks(&then).decided, Some(first));
    let before = watched(&judged(at - 1, 0.02, 4), &limits, LookOrder::Log);
    assert_eq!((looks(&before).decided.clone(), before.fitness), (None, Fitness::Inconclusive));
}

/// Twenty accepted, a hundred rejected and as many without an answer: nothing shows that wrong items are seldom accepted.
#[test]
fn items_without_an_answer_count_against_the_judge() {
    let mut rows = Rows::default();
    for item in 0..400 {
        rows.verdict(item, (item % 2 == 0).then_some(false), false);
    }
    let judge = watched(&rows, &[("false_accept_rate", at_most(0.1))], LookOrder::Log);
    let limit = &looks(&judge).limits[0];
    assert_eq!((limit.state, limit.p_broken), (LimitState::Undecided, 1.0));
    assert!(limit.p_met > 0.5, "{limit:?}");
}

/// A rank correlation is no mean: it is looked at a few times, each for a share of the error.
#[test]
fn what_is_no_mean_is_looked_at_a_few_times() {
    let mut rows = Rows::default();
    for item in 0..250 {
        let label = item % 10;
        let score = (label + (item * 7) % 3) as f64;
        rows.push(
            item,
            assize_calibration::judgement::Judgement {
                score: Some(score),
                label: Some(label.to_string().into()),
                ..Default::default()
            },
        );
    }
    let judge = watched(&rows, &[("spearman", Limit { min: Some(0.6), ..Limit::default() })], LookOrder::Log);
    let limit = &looks(&judge).limits[0];
    // At 25, 50, 100 and 200 items.
    assert_eq!((limit.n, limit.state, judge.fitness), (4, LimitState::Met, Fitness::Fit));
    assert!(limit.decided_after.is_some_and(|n| [25, 50, 100, 200].contains(&n)), "{limit:?}");
}

#[test]
fn a_log_sorted_by_label_is_said_not_to_be_random() {
    let mut rows = Rows::default();
    (0..200).for_each(|item| rows.verdict(item, Some(item < 100), item < 100));
    let limits = [("accuracy", Limit { min: Some(0.8), ..Limit::default() })];
    let sorted = watched(&rows, &limits, LookOrder::Log);
    assert!(looks(&sorted).cautions.iter().any(|caution| caution.contains("random order")), "{:?}", looks(&sorted));
    let shuffled = watched(&rows, &limits, LookOrder::Shuffled);
    assert!(looks(&shuffled).cautions.is_empty() && shuffled.fitness == Fitness::Fit);
}

#[test]
fn nothing_to_look_at_is_no_verdict() {
    let mut rows = Rows::default();
    rows.verdict(0, None, true);
    rows.verdict(1, Some(true), true);
    let judge = watched(&rows, &[("false_accept_rate", at_most(0.1)), ("icc_single", at_most(0.1))], LookOrder::Log);
    assert_eq!((looks(&judge).decided.clone(), judge.fitness), (None, Fitness::Inconclusive));
}

/// Bets reckon every item the same: with weights they would answer another question, so they are refused.
#[test]
fn weighted_items_are_not_watched() {
    let mut rows = Rows::default();
    for item in 0..40 {
        let judgement = assize_calibration::judgement::Judgement {
            verdict: Some(assize_calibration::judgement::Verdict::Accept),
            label: Some("1".into()),
            weight: Some(1.0 + f64::from(u8::from(item % 2 == 0))),
            ..Default::default()
        };
        rows.push(item, judgement);
    }
    let config = AuditConfig { anytime: Some(LookOrder::Log), ..AuditConfig::default() };
    let error = audit(&rows.0, &config, &Gate::built_in()).unwrap_err();
    assert!(error.to_string().contains("weight"), "{error}");
}
