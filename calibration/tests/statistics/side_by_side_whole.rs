//! Two judges side by side: nothing that an audit measures of both is left out unsaid.

use std::collections::BTreeSet;

use assize_calibration::audit::result::SideBySide;
use assize_calibration::audit::{AuditConfig, CompareConfig, Side, Sides, audit, compare_sides};
use assize_calibration::gate::Gate;
use assize_calibration::judgement::{Choice, Judgement, Order, Verdict};
use assize_calibration::log::Log;
use assize_calibration::prevalence::LabelSampling;
use rand::RngExt as _;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::small_logs::close;

const N_ITEMS: usize = 90;

fn config() -> AuditConfig {
    AuditConfig {
        costs: Some([5.0, 1.0]),
        label_sampling: LabelSampling::Random,
        scale: Some([1.0, 5.0]),
        accept_at: Some(3.0),
        good_at: Some(3.0),
        ..AuditConfig::default()
    }
}

fn compared(logs: &[Log; 2], config: &AuditConfig) -> SideBySide {
    let side = |log: &Log| Box::new(Side { log: log.clone(), name: None });
    compare_sides(Sides::Apart(side(&logs[0]), side(&logs[1])), config, &CompareConfig::default()).unwrap()
}

/// Draws two judges who answer the same items three times, of which some have a label and all were rated by three people; each made
/// some of the items, and so did another model.
fn drawn(answer: impl Fn(&mut Judgement<'static>, bool), seed: u64) -> [Log; 2] {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut logs = [Log::default(), Log::default()];
    for item in 0..N_ITEMS {
        let is_good = rng.random::<f64>() < 0.5;
        let row = Judgement {
            item: item.to_string().into(),
            generator: Some(["one", "two", "three"][item % 3].into()),
            generator_b: Some(["two", "three", "one"][item % 3].into()),
            length_a: Some(100.0 + rng.random_range(0.0..900.0)),
            length_b: Some(100.0 + rng.random_range(0.0..900.0)),
            ..Judgement::default()
        };
        // People say the same in either log.
        let people = ["p", "q", "r"].map(|person| {
            let mut own = row.clone();
            answer(&mut own, (rng.random::<f64>() < 0.8) == is_good);
            Judgement { rater: Some(person.into()), ..own }
        });
        for (log, judge) in logs.iter_mut().zip(["one", "two"]) {
            for repeat in 0..6_u32 {
                let mut own = row.clone();
                answer(&mut own, (rng.random::<f64>() < 0.8) == is_good);
                let order = if repeat % 2 == 0 { Order::Ab } else { Order::Ba };
                let mut label = row.clone();
                answer(&mut label, is_good);
                let word = match (label.score, label.choice) {
                    (Some(score), _) => score.to_string(),
                    (_, Some(choice)) => if choice == Choice::A { "a" } else { "b" }.to_owned(),
                    _ => u8::from(is_good).to_string(),
                };
                own.judge = judge.into();
                own.order = Some(order);
                own.repeat = Some(repeat / 2);
                own.confidence = Some(rng.random_range(0.05..0.95));
                own.label = (item % 4 != 0).then(|| word.into());
                log.push(&own, 0);
            }
            for said in &people {
                log.push(said, 0);
            }
        }
    }
    logs
}

fn verdicts() -> [Log; 2] {
    let answer = |row: &mut Judgement<'static>, good| {
        row.verdict = Some(if good { Verdict::Accept } else { Verdict::Reject });
    };
    drawn(answer, 3)
}

#[test]
fn what_an_audit_measures_of_both_is_compared_or_named() {
    let choices = drawn(|row, good| row.choice = Some(if good { Choice::A } else { Choice::B }), 4);
    let scores = drawn(|row, good| row.score = Some(if good { 4.0 } else { 2.0 }), 5);
    let mut seen = BTreeSet::new();
    for logs in [&verdicts(), &choices, &scores] {
        let config = config();
        let [a, b] =
            [0, 1].map(|side| audit(&logs[side], &config, &Gate::built_in()).unwrap().judges.remove(0).measures);
        let found = compared(logs, &config);
        for id in a.keys().filter(|id| b.contains_key(*id)) {
            let is_compared = found.measures.iter().any(|one| one.measure == *id);
            let is_named = found.not_compared.iter().any(|one| one.measure == *id);
            assert!(is_compared != is_named, "{id}: compared {is_compared}, named {is_named}");
            seen.insert((id.clone(), is_compared));
        }
        assert!(found.not_compared.iter().all(|one| !one.reason.is_empty()));
    }
    let compared_of = |id: &str| seen.contains(&(id.to_owned(), true));
    for id in [
        "brier_score",
        "log_loss",
        "overconfidence",
        "expected_cost",
        "pass_rate",
        "corrected_pass_rate",
        "corrected_pass_rate_ppi",
        "self_preference",
        "self_preference_share",
        "own_false_accepts",
        "ceiling_share",
        "floor_share",
        "effective_levels",
        "agreement_with_people",
        "agreement_gap",
        "distance_to_people",
        "bias_from_people",
        "variance_of_draws",
        "advantage_probability",
    ] {
        assert!(compared_of(id), "{id} is not compared: {seen:?}");
    }
    for id in ["ece", "ece_excess", "people_agreement", "people_distance", "winning_rate"] {
        assert!(seen.contains(&(id.to_owned(), false)), "{id} is to be named");
    }
}

/// The jackknife is that of the audit's own figures: the values of either side are those that its audit states.
#[test]
fn values_are_those_of_the_audits() {
    let (logs, config) = (verdicts(), config());
    let found = compared(&logs, &config);
    for (side, log) in logs.iter().enumerate() {
        let judge = audit(log, &config, &Gate::built_in()).unwrap().judges.remove(0);
        for id in ["brier_score", "log_loss", "overconfidence", "expected_cost", "corrected_pass_rate", "agreement_gap"]
        {
            let one = found.measures.iter().find(|one| one.measure == id).unwrap();
            close([one.a, one.b][side], judge.measures[id].estimate, 1e-12);
            assert!(one.difference.low < one.difference.high, "{id} has an interval");
        }
    }
}

#[test]
fn what_was_not_found_says_what_would_have_been_seen() {
    let found = compared(&verdicts(), &config());
    let one = found.measures.iter().find(|one| one.measure == "kappa").unwrap();
    let half_width = (one.difference.high.unwrap() - one.difference.low.unwrap()) / 2.0;
    assert!(one.why.contains("or more would have been seen (80 % power)"), "{}", one.why);
    // (z.975 + z.8) standard errors, of which the interval's half is z.975.
    let stated = format!("a difference of {:.3} or more", half_width / 1.959_964 * (1.959_964 + 0.841_621));
    assert!(one.why.contains(&stated), "{} does not hold {stated}", one.why);
}
