//! Judges beside people: the alternative-annotator test, the ceiling, scale use and halo, against figures from
//! `golden/people.py` and by hand.

use assize_calibration::agreement::consistency::{consistency, cronbach_alpha, cronbach_standard_error};
use assize_calibration::audit::result::{Audit, JudgeAudit};
use assize_calibration::audit::{AuditConfig, audit};
use assize_calibration::bootstrap::BootstrapConfig;
use assize_calibration::gate::Gate;
use assize_calibration::judgement::{Judgement, Verdict};
use assize_calibration::paired::benjamini_yekutieli;
use assize_calibration::raters::alternative::{
    Alternative, AlternativeConfig, AlternativeError, Held, alternative_annotator,
};
use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

use crate::golden::{assert_close, golden, numbers, rows};
use crate::small_logs::{Rows, close};

fn with(rows: &Rows, config: &AuditConfig) -> Audit {
    audit(&rows.0, config, &Gate::built_in()).unwrap()
}

fn answer<'a>(kind: &str, value: f64) -> Judgement<'a> {
    if kind == "accuracy" {
        Judgement { category: Some(format!("c{value}").into()), ..Judgement::default() }
    } else {
        Judgement { score: Some(value), ..Judgement::default() }
    }
}

/// A log of a golden case: each item's people, then the judge.
fn log_of(case: &Value) -> Rows {
    let kind = case["kind"].as_str().unwrap();
    let groups = case["groups"].as_array().map(|groups| groups.iter().map(Value::to_string).collect::<Vec<_>>());
    let judge = numbers(&case["judge"]);
    let mut log = Rows::default();
    for (item, people) in rows(&case["people"]).iter().enumerate() {
        let group = groups.as_ref().map(|groups| groups[item].clone().into());
        for (person, value) in people.iter().enumerate().filter(|(_, value)| !value.is_nan()) {
            let rater = Some(format!("p{person:02}").into());
            log.push(item, Judgement { rater, group: group.clone(), ..answer(kind, *value) });
        }
        log.push(item, Judgement { group, judge: "j".into(), ..answer(kind, judge[item]) });
    }
    log
}

#[test]
fn the_alternative_annotator_test_is_that_of_its_definition() {
    let golden = golden("people");
    for name in ["categories", "groups", "scores", "conala"] {
        let case = &golden[name];
        let config = AuditConfig { epsilon: case["epsilon"].as_f64(), ..AuditConfig::default() };
        let judge = with(&log_of(case), &config).judges.remove(0);
        let expected = &case["expected"];
        let figure = |id: &str| judge.measures[id].estimate;
        close(figure("winning_rate"), expected["winning_rate"].as_f64().unwrap(), 1e-12);
        close(figure("advantage_probability"), expected["advantage"].as_f64().unwrap(), 1e-12);
        let test = judge.alternative.as_ref().unwrap();
        assert_eq!(test.passed, expected["winning_rate"].as_f64().unwrap() >= 0.5);
        let people = expected["people"].as_array().unwrap();
        assert_eq!(test.people.len(), people.len(), "{name}");
        for one in people {
            let rater = format!("p{:02}", one["person"].as_u64().unwrap());
            let found = test.people.iter().find(|person| person.rater == rater).unwrap();
            let of = |key: &str| one[key].as_f64().unwrap();
            assert_eq!(found.n_items, one["n"].as_u64().unwrap());
            close(found.judge_advantage, of("judge"), 1e-12);
            close(found.person_advantage, of("person_wins"), 1e-12);
            assert_close(found.p_value, of("p"), 1e-8, &format!("{name}, {rater}: p"));
            assert_close(found.p_adjusted, of("p_adjusted"), 1e-8, &format!("{name}, {rater}: adjusted"));
        }
    }
}

#[test]
fn two_people_or_few_items_are_too_few_and_it_says_so() {
    let log = |n_people: usize, n_items: usize| {
        let mut log = Rows::default();
        for item in 0..n_items {
            for person in 0..n_people {
                let rater = Some(format!("p{person}").into());
                log.push(item, Judgement { rater, ..answer("accuracy", (item % 2) as f64) });
            }
            log.push(item, Judgement { judge: "j".into(), ..answer("accuracy", (item % 3) as f64) });
        }
        log.audit().judges.remove(0)
    };
    for (n_people, n_items, said) in [(2, 60, "2 did"), (4, 29, "nobody did"), (1, 60, "fewer than two people")] {
        let judge = log(n_people, n_items);
        assert!(judge.alternative.is_none());
        let why = judge.unmeasured.iter().find(|unmeasured| unmeasured.id == "advantage_probability").unwrap();
        assert!(why.reason.contains(said), "{}", why.reason);
        assert_eq!(why.needs, ["rater"]);
    }
    // All differences alike: the judge says what everybody says.
    let config = AlternativeConfig {
        epsilon: 0.0,
        q: 0.05,
        least_items: 2,
        resamples: BootstrapConfig { n_resamples: 10, seed: 1 },
    };
    let held: Vec<Held> =
        (0..30).map(|idx| Held { person: idx % 3, cluster: idx, judge: 1.0, person_wins: 1.0 }).collect();
    let found = alternative_annotator(&held, config).unwrap();
    assert_eq!((found.winning_rate, found.advantage, found.standard_error), (0.0, 1.0, 0.0));
    let found = alternative_annotator(&held, AlternativeConfig { epsilon: 0.1, ..config }).unwrap();
    assert_eq!(found.winning_rate, 1.0);
    let one_cluster: Vec<Held> = held.iter().map(|held| Held { cluster: 7, ..*held }).collect();
    assert_eq!(alternative_annotator(&one_cluster, config), Err(AlternativeError::OneCluster));
    assert_eq!(alternative_annotator(&[], config), Err(AlternativeError::TooFewPeople { n_people: 0 }));
}

#[test]
fn benjamini_and_yekutieli_s_correction_is_statsmodels() {
    let golden = &golden("people")["benjamini_yekutieli"];
    for (found, expected) in benjamini_yekutieli(&numbers(&golden["p"])).iter().zip(numbers(&golden["adjusted"])) {
        assert_close(*found, expected, 1e-12, "adjusted");
    }
    let found = benjamini_yekutieli(&[0.01, f64::NAN, 0.5]);
    assert!(found[1].is_nan());
    close(found[0], 0.03, 1e-12);
}

/// Two votes a for item 0 of three, and b alone against two a's.
#[test]
fn the_ceiling_is_what_people_reach_among_themselves() {
    let mut log = Rows::default();
    let mut item = |item: usize, people: &[&str], judge: &[&str]| {
        for (person, said) in people.iter().enumerate() {
            let rater = Some(format!("p{person}").into());
            log.push(item, Judgement { rater, category: Some((*said).to_owned().into()), ..Judgement::default() });
        }
        for said in judge {
            log.push(item, Judgement { category: Some((*said).to_owned().into()), ..Judgement::default() });
        }
    };
    // Left out: p0 (a against {a, b}: ½), p1 the same, p2 (b against {a, a}: 0). Mean ⅓. The judge's a: ½, ½, 1: ⅔.
    item(0, &["a", "a", "b"], &["a", "a"]);
    // Everybody agrees; the judge does one time in two.
    item(1, &["a", "a", "a"], &["a", "b"]);
    let judge = log.judge();
    let figure = |id: &str| judge.measures[id].estimate;
    close(figure("people_agreement"), f64::midpoint(1.0 / 3.0, 1.0), 1e-12);
    close(figure("agreement_with_people"), f64::midpoint(2.0 / 3.0, 0.5), 1e-12);
    close(figure("agreement_gap"), figure("agreement_with_people") - figure("people_agreement"), 1e-12);
    // Bias: item 0 none; item 1 the judge's mode ties, ½. Variance: 0, and each draw against the other: 1.
    close(figure("bias_from_people"), 0.25, 1e-12);
    close(figure("variance_of_draws"), 0.5, 1e-12);
}

#[test]
fn a_person_whose_own_answers_tie_counts_in_parts() {
    let mut log = Rows::default();
    for item in 0..30 {
        for (person, said) in [("p0", "a"), ("p0", "b"), ("p1", "a"), ("p2", "a"), ("", "a")] {
            let rater = Some(person.to_owned().into()).filter(|_| !person.is_empty());
            log.push(item, Judgement { rater, category: Some(said.into()), ..Judgement::default() });
        }
    }
    let judge = log.judge();
    let figure = |id: &str| judge.measures[id].estimate;
    // Half of p0 says what the others say; without p1, 1½ of 2 others say a.
    close(figure("people_agreement"), 2.5 / 3.0, 1e-12);
    close(figure("agreement_with_people"), 1.0, 1e-12);
    close(figure("agreement_gap"), 0.5 / 3.0, 1e-12);
    let against = |name: &str| {
        let test = judge.alternative.as_ref().unwrap();
        test.people.iter().find(|person| person.rater == name).map(|p| (p.judge_advantage, p.person_advantage)).unwrap()
    };
    assert_eq!((against("p0"), against("p1")), ((1.0, 0.5), (1.0, 1.0)));
}

#[test]
fn scores_are_held_against_the_mean_of_the_others() {
    let mut log = Rows::default();
    for (person, score) in [1.0, 2.0, 6.0].into_iter().enumerate() {
        let rater = Some(format!("p{person}").into());
        log.push(0, Judgement { rater, score: Some(score), ..Judgement::default() });
    }
    log.score(0, 3.0);
    let judge = log.judge();
    // Others' means: 4, 3.5, 1.5.
    close(judge.measures["people_distance"].estimate, (3.0 + 1.5 + 4.5) / 3.0, 1e-12);
    close(judge.measures["distance_to_people"].estimate, (1.0 + 0.5 + 1.5) / 3.0, 1e-12);
}

#[test]
fn likeness_is_signed() {
    for (idx, case) in golden("people")["consistency"].as_array().unwrap().iter().enumerate() {
        let table = rows(&case["scores"]);
        let n_dimensions = table[0].len();
        let found = consistency(&table.concat(), n_dimensions).unwrap();
        let of = |key: &str| case[key].as_f64().unwrap();
        assert_close(found.mean_correlation, of("mean_correlation"), 1e-9, &format!("{idx}: mean"));
        assert_close(found.one_factor_share, of("one_factor_share"), 1e-9, &format!("{idx}: share"));
        assert_close(found.cronbach_alpha.unwrap(), of("cronbach_alpha"), 1e-9, &format!("{idx}: alpha"));
        // Influences are those of one item: left out, the mean moves by about as much.
        let total: f64 = found.influence.iter().sum();
        close(total, 0.0, 1e-10);
    }
    assert_eq!(cronbach_alpha(&[1.0, 1.0, 1.0, 1.0], 2), None);
    assert_eq!(cronbach_alpha(&[1.0, 2.0, f64::NAN, 1.0], 2), None);
    assert_eq!(cronbach_alpha(&[1.0, 2.0, 3.0], 2), None);
    assert!(consistency(&[1.0, 2.0, 1.0, 3.0, 1.0, 4.0], 2).is_none(), "a dimension that does not vary");
    assert_eq!(cronbach_standard_error(&[1.0, 1.0, 2.0, 2.0], 2, &[0, 1], 2), None, "alpha of 1");
    assert_eq!(cronbach_standard_error(&[1.0, 2.0, 2.0, 1.0], 2, &[0], 2), None);
}

fn scored(judge: &mut Rows, item: usize, scores: &[(&str, f64)]) {
    for (dimension, score) in scores {
        let dimension = Some((*dimension).to_owned().into());
        judge.push(item, Judgement { dimension, score: Some(*score), ..Judgement::default() });
    }
}

#[test]
fn the_scale_is_counted_by_levels() {
    let golden = &golden("people")["effective_levels"];
    let counts = numbers(&golden["counts"]);
    let mut log = Rows::default();
    let mut item = 0;
    for (level, count) in counts.iter().enumerate() {
        for _ in 0..*count as usize {
            log.score(item, level as f64 + 1.0);
            item += 1;
        }
    }
    let config = AuditConfig { scale: Some([1.0, 7.0]), ..AuditConfig::default() };
    let judge = with(&log, &config).judges.remove(0);
    let used = &judge.scale_use[0];
    assert_close(used.effective_levels.estimate, golden["value"].as_f64().unwrap(), 1e-12, "levels");
    assert_eq!((used.n_used, used.n_possible, used.unused.as_slice()), (5, Some(7), &[6.0, 7.0][..]));
    close(used.ceiling.estimate, 0.0, 1e-12);
    close(used.floor.estimate, 0.03, 1e-12);
    assert_eq!(judge.measures["ceiling_share"].estimate, 0.0);
    let mut same = Rows::default();
    same.scores(&[(0, 3.0), (1, 3.0), (2, 3.0)]);
    let judge = with(&same, &config).judges.remove(0);
    close(judge.scale_use[0].effective_levels.estimate, 1.0, 1e-12);
    assert_eq!(judge.scale_use[0].effective_levels.low, None);
}

/// The labels of two criteria go apart, the judge scores both alike.
#[test]
fn halo_is_likeness_beyond_that_of_the_labels() {
    let mut log = Rows::default();
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    for item in 0..120 {
        let (clear, kind) = (rng.random_range(1..=5_u32), rng.random_range(1..=5_u32));
        let impression = f64::midpoint(f64::from(clear), f64::from(kind)).round();
        for (dimension, label) in [("clear", clear), ("kind", kind)] {
            let row = Judgement {
                dimension: Some(dimension.into()),
                score: Some(impression),
                label: Some(label.to_string().into()),
                ..Judgement::default()
            };
            log.push(item, row);
        }
    }
    let judge = log.judge();
    let halo = judge.halo.as_ref().unwrap();
    close(halo.judge.mean_correlation.estimate, 1.0, 1e-12);
    close(halo.judge.one_factor_share, 1.0, 1e-12);
    let labels = halo.reference.as_ref().unwrap();
    assert!(labels.mean_correlation.estimate.abs() < 0.2 && halo.reference_source.as_deref() == Some("labels"));
    let excess = &judge.measures["halo_excess"];
    assert!(excess.low.unwrap() > 0.7, "{excess:?}");
    // Without labels there is nothing to hold it against.
    let mut alone = Rows::default();
    for item in 0..10 {
        scored(&mut alone, item, &[("clear", item as f64), ("kind", (item % 3) as f64)]);
    }
    let judge = alone.judge();
    assert!(judge.halo.unwrap().reference.is_none());
    assert!(judge.unmeasured.iter().any(|unmeasured| unmeasured.id == "halo_excess"));
}

fn any_log() -> impl Strategy<Value = Vec<(usize, u32, bool, bool, u32)>> {
    prop::collection::vec((0..8_usize, 0..4_u32, any::<bool>(), any::<bool>(), 0..4_u32), 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// No log makes a figure that is not finite, or a share outside 0..=1.
    #[test]
    fn figures_are_finite_whatever_was_said(said in any_log(), scale in prop::sample::select(vec![1.0, 1e9, 1e-9])) {
        for is_score in [false, true] {
            let mut log = Rows::default();
            for &(item, who, is_person, accepts, value) in &said {
                let who: String = format!("w{who}");
                let row = if is_score {
                    Judgement { score: Some(f64::from(value) * scale), ..Judgement::default() }
                } else {
                    let verdict = if accepts { Verdict::Accept } else { Verdict::Reject };
                    Judgement { verdict: (value > 0).then_some(verdict), ..Judgement::default() }
                };
                let row = Judgement { dimension: Some(format!("d{}", item % 2).into()), ..row };
                let row = if is_person { Judgement { rater: Some(who.into()), ..row } } else { Judgement { judge: who.into(), ..row } };
                log.push(item, Judgement { label: (item % 3 == 0).then(|| "1".into()), ..row });
            }
            let Ok(found) = audit(&log.0, &AuditConfig::default(), &Gate::built_in()) else { continue };
            let text = serde_json::to_string(&found).unwrap();
            let read: Audit = serde_json::from_str(&text).unwrap();
            // A number that is not finite is written as null and cannot be read back as one.
            prop_assert_eq!(&serde_json::to_string(&read).unwrap(), &text);
            check_shares(&found.judges);
        }
    }
}

fn check_shares(judges: &[JudgeAudit]) {
    for judge in judges {
        for id in
            ["people_agreement", "agreement_with_people", "advantage_probability", "winning_rate", "ceiling_share"]
        {
            let Some(measure) = judge.measures.get(id) else { continue };
            for end in [Some(measure.estimate), measure.low, measure.high].into_iter().flatten() {
                assert!((-1e-12..=1.0 + 1e-12).contains(&end), "{id}: {measure:?}");
            }
        }
    }
}

/// How often the interval of ρ holds the truth: four people, items alone or in clusters of two.
#[test]
fn intervals_of_the_advantage_probability_hold_the_truth() {
    let truth = beside_people(100_000, false, 0).advantage;
    for (n_items, is_clustered) in [(30, false), (40, false), (150, false), (120, true)] {
        let (mut held, mut below, mut above) = (0, 0, 0);
        for replicate in 1..=600 {
            let found = beside_people(n_items, is_clustered, replicate);
            let interval = found.advantage_spread().interval(found.advantage, 0.95).unwrap();
            held += u32::from(interval.low <= truth && truth <= interval.high);
            below += u32::from(interval.high < truth);
            above += u32::from(interval.low > truth);
        }
        let told = format!("{n_items}, {is_clustered}: {held} held, {below} below, {above} above of 600");
        // .945, and .03 a tail, but for three Monte-Carlo standard errors.
        assert!(held >= 550 && below <= 30 && above <= 30, "{told}");
    }
}

/// Items of two truths, people right .8, the judge .75, both less on hard items; the items of a cluster share their difficulty.
fn beside_people(n_items: u32, is_clustered: bool, seed: u64) -> Alternative {
    let mut rng = ChaCha8Rng::seed_from_u64(4711);
    rng.set_stream(seed);
    let mut held = Vec::new();
    let mut is_hard = false;
    for item in 0..n_items {
        if !is_clustered || item % 2 == 0 {
            is_hard = rng.random::<f64>() < 0.3;
        }
        let mut said = |right: f64| rng.random::<f64>() < if is_hard { right - 0.2 } else { right };
        let people: Vec<bool> = (0..4).map(|_| said(0.8)).collect();
        let judge = said(0.75);
        for (person, own) in (0_u32..).zip(&people) {
            let near =
                |value: bool| people.iter().filter(|other| **other == value).count() - usize::from(value == *own);
            let (of_judge, of_person) = (near(judge), near(*own));
            held.push(Held {
                person,
                cluster: if is_clustered { item / 2 } else { item },
                judge: f64::from(u8::from(of_judge >= of_person)),
                person_wins: f64::from(u8::from(of_person >= of_judge)),
            });
        }
    }
    let resamples = BootstrapConfig { n_resamples: 0, seed: 1 };
    alternative_annotator(&held, AlternativeConfig { epsilon: 0.2, q: 0.05, least_items: 30, resamples }).unwrap()
}

#[test]
fn agreement_bias_and_variance_are_alpaca_eval_s() {
    let golden = golden("alpaca");
    let log = |n: usize| {
        let mut log = Rows::default();
        for (item, (people, judge)) in rows(&golden["people"]).iter().zip(rows(&golden["judge"])).enumerate() {
            for (person, value) in people[..n].iter().enumerate() {
                let rater = Some(format!("p{person}").into());
                log.push(item, Judgement { rater, ..answer("accuracy", *value) });
            }
            for value in &judge[..n] {
                log.push(item, Judgement { judge: "j".into(), ..answer("accuracy", *value) });
            }
        }
        log.judge()
    };
    let four = log(4);
    for id in ["people_agreement", "agreement_with_people", "variance_of_draws"] {
        assert_close(four.measures[id].estimate, golden[id].as_f64().unwrap(), 1e-12, id);
    }
    let bias = log(3).measures["bias_from_people"].estimate;
    assert_close(bias, golden["bias_of_three_from_three"].as_f64().unwrap(), 1e-12, "bias");
}
