//! The sentinel: the same items judged again.

use assize_calibration::audit::result::{Sentinel, SentinelFigure, Steadiness};
use assize_calibration::audit::{AuditConfig, CompareError, SentinelConfig, Side, Sides, sentinel};
use assize_calibration::distribution::t_quantile;
use assize_calibration::judgement::{Judgement, Verdict};
use assize_calibration::log::Log;
use assize_calibration::paired::{McNemarTest, mcnemar};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::small_logs::close;

fn verdict(log: &mut Log, item: usize, accepts: bool) {
    let verdict = Some(if accepts { Verdict::Accept } else { Verdict::Reject });
    log.push(&Judgement { item: format!("{item:04}").into(), verdict, ..Judgement::default() }, 0);
}

fn held(before: &Log, now: &Log) -> Sentinel {
    held_with(before, now, &AuditConfig::default())
}

fn held_with(before: &Log, now: &Log, config: &AuditConfig) -> Sentinel {
    let side = |log: &Log| Box::new(Side { log: log.clone(), name: None });
    sentinel(Sides::Apart(side(before), side(now)), config, &SentinelConfig::default()).unwrap()
}

fn figure<'a>(found: &'a Sentinel, id: &str) -> &'a SentinelFigure {
    found.figures.iter().find(|figure| figure.figure == id).unwrap()
}

/// Each item accepted with its own probability.
fn drawn(rng: &mut ChaCha8Rng, rates: &[f64], repeats: usize) -> Log {
    let mut log = Log::default();
    for (item, rate) in rates.iter().enumerate() {
        for _ in 0..repeats {
            verdict(&mut log, item, rng.random::<f64>() < *rate);
        }
    }
    log
}

#[test]
fn with_one_answer_each_it_is_mcnemar_and_answers_are_not_identified() {
    let (mut before, mut now) = (Log::default(), Log::default());
    // 5 items accepted only before, 14 only now, 81 alike.
    for item in 0..100 {
        verdict(&mut before, item, !(5..60).contains(&item));
        verdict(&mut now, item, (5..19).contains(&item) || item >= 60);
    }
    let found = held(&before, &now);
    let accepted = figure(&found, "accept_rate");
    let exact = mcnemar(5, 14, McNemarTest::Exact);
    // 9,999 exchanges drawn.
    close(accepted.p_value.unwrap(), exact, 4.0 * (exact * (1.0 - exact) / 1e4).sqrt());
    let change = accepted.change.as_ref().unwrap();
    close(change.estimate, 0.09, 1e-12);
    // √19/100: of fixed items the variance of a pair is that of both its answers; each that differs is a degree of freedom.
    close(change.high.unwrap(), 0.09 + t_quantile(0.975, 19.0) * 19.0_f64.sqrt() / 100.0, 1e-9);
    let answers = figure(&found, "answers");
    assert_eq!((answers.p_value, answers.change.is_none(), found.n_cells_repeated), (None, true, 0));
    assert!(answers.note.starts_with("not identified: with one answer before and one now"));
    assert_eq!((found.steadiness, found.items.len()), (Steadiness::Undecided, 0));
    close(found.disagreement, 0.19, 1e-12);
}

#[test]
fn fixed_items_have_the_error_of_their_answers() {
    let (mut before, mut now) = (Log::default(), Log::default());
    let (mut variance, mut squares) = (0.0, 0.0);
    for item in 0..20 {
        let (old, new) = (item % 5, (item * 3) % 5);
        for repeat in 0..4 {
            verdict(&mut before, item, repeat < old);
        }
        for repeat in 0..6 {
            verdict(&mut now, item, repeat < new);
        }
        let of = |n: usize, k: f64| (n as f64 / k) * (1.0 - n as f64 / k) / (k - 1.0);
        let component = of(old.min(4), 4.0) + of(new, 6.0);
        variance += component;
        squares += component * component / 8.0;
    }
    let found = held(&before, &now);
    let change = figure(&found, "accept_rate").change.clone().unwrap();
    let half = t_quantile(0.975, variance * variance / squares) * variance.sqrt() / 20.0;
    close(change.high.unwrap() - change.estimate, half, 1e-9);
    assert!(change.method.contains("fixed items"));
}

#[test]
fn the_same_answers_are_shown_to_be_unchanged() {
    let mut log = Log::default();
    for item in 0..120 {
        for _ in 0..2 {
            verdict(&mut log, item, item % 3 == 0);
        }
    }
    let found = held(&log, &log);
    assert_eq!(found.steadiness, Steadiness::Unchanged, "{}", found.why);
    assert!(found.figures.iter().all(|figure| figure.p_holm == Some(1.0)));
    assert_eq!(held(&log, &log), found);
}

/// As many accepted as before, but others: only the answers themselves show it.
#[test]
fn items_that_change_places_are_found() {
    let (mut before, mut now) = (Log::default(), Log::default());
    for item in 0..40 {
        for _ in 0..8 {
            verdict(&mut before, item, item % 2 == 0);
            // Two items change places.
            verdict(&mut now, item, if item < 2 { item % 2 == 1 } else { item % 2 == 0 });
        }
    }
    let found = held(&before, &now);
    assert_eq!(found.steadiness, Steadiness::Changed);
    close(figure(&found, "accept_rate").change.as_ref().unwrap().estimate, 0.0, 1e-12);
    close(figure(&found, "answers").change.as_ref().unwrap().estimate, 0.05, 1e-12);
    let names: Vec<&str> = found.items.iter().map(|item| item.item.as_str()).collect();
    assert_eq!((names, found.n_items_changed), (vec!["0000", "0001"], 2));
    assert!(found.why.contains("2 items stand out"), "{}", found.why);
    assert_eq!(found.items[0].before, vec!["accept"; 8]);
}

/// A steady judge, however noisy, is seldom said to have changed; one that changed is found; intervals hold the change.
#[test]
fn errors_are_as_rare_as_stated() {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    for (n_items, repeats) in [(30, [1, 1]), (30, [3, 3]), (20, [5, 2]), (15, [1, 4])] {
        let n_runs = 60;
        let (mut n_changed, mut n_held, mut n_found) = (0, 0, 0);
        for _ in 0..n_runs {
            let rates: Vec<f64> = (0..n_items).map(|_| [0.02, 0.3, 0.5, 0.95][rng.random_range(0..4)]).collect();
            let (before, now) = (drawn(&mut rng, &rates, repeats[0]), drawn(&mut rng, &rates, repeats[1]));
            let found = held(&before, &now);
            n_changed += i32::from(found.steadiness == Steadiness::Changed);
            let change = figure(&found, "accept_rate").change.clone().unwrap();
            n_held += i32::from(change.low.unwrap() <= 0.0 && change.high.unwrap() >= 0.0);
            let other: Vec<f64> = rates.iter().map(|rate| (rate + 0.4).min(1.0)).collect();
            let found = held(&before, &drawn(&mut rng, &other, repeats[1]));
            n_found += i32::from(found.steadiness == Steadiness::Changed);
        }
        // Within three standard errors of the simulation.
        let share = |n: i32| f64::from(n) / f64::from(n_runs);
        let (changed, held, found) = (share(n_changed), share(n_held), share(n_found));
        assert!(changed <= 0.05 + 0.08, "{n_items} {repeats:?}: {changed}");
        assert!(held >= 0.945 - 0.08, "{n_items} {repeats:?}: {held}");
        assert!(found > 0.4, "{n_items} {repeats:?}: {found}");
    }
}

/// A judge a whole margin apart is seldom said to be unchanged.
#[test]
fn a_change_of_the_margin_is_rarely_called_unchanged() {
    let mut rng = ChaCha8Rng::seed_from_u64(10);
    let n_runs = 30;
    let mut n_wrong = 0;
    for _ in 0..n_runs {
        let rates: Vec<f64> = (0..200).map(|idx| if idx % 4 == 0 { 0.8 } else { 0.02 }).collect();
        let other: Vec<f64> = rates.iter().map(|rate| rate + 0.05).collect();
        let found = held(&drawn(&mut rng, &rates, 6), &drawn(&mut rng, &other, 6));
        n_wrong += i32::from(found.steadiness == Steadiness::Unchanged);
    }
    let wrong = f64::from(n_wrong) / f64::from(n_runs);
    assert!(wrong <= 0.025 + 0.085, "{wrong}");
}

#[test]
fn items_never_asked_alike_are_said_to_be_so() {
    let under = |anchors: u32, set: Option<&str>| {
        let mut log = Log::default();
        for item in 0..6 {
            let (item, anchor_set) = (format!("{item}").into(), set.map(Into::into));
            let verdict = Some(Verdict::Accept);
            log.push(&Judgement { item, verdict, anchors: Some(anchors), anchor_set, ..Judgement::default() }, 0);
        }
        Box::new(Side { log, name: None })
    };
    let sides = Sides::Apart(under(0, None), under(2, Some("first")));
    let error = sentinel(sides, &AuditConfig::default(), &SentinelConfig::default()).unwrap_err();
    assert_eq!(error, CompareError::NothingAlike(6));
    assert!(error.to_string().starts_with("6 items were judged both times, and none in the same condition"), "{error}");
}

#[test]
fn scores_and_odd_logs_are_held_against_their_baseline() {
    let score = |log: &mut Log, item: &str, score: Option<f64>| {
        let score = score.filter(|score| score.is_finite());
        log.push(&Judgement { item: item.into(), score, ..Judgement::default() }, 0);
    };
    let (mut before, mut now) = (Log::default(), Log::default());
    for item in 0..40 {
        for repeat in 0..4 {
            score(&mut before, &item.to_string(), Some(f64::from(item % 5 + 1 + (repeat + item) % 2)));
            score(&mut now, &item.to_string(), (item != 3).then(|| f64::from(item % 5 + 2 + (repeat + item) % 2)));
        }
    }
    let config = AuditConfig { scale: Some([1.0, 10.0]), accept_at: Some(4.0), ..AuditConfig::default() };
    let found = held_with(&before, &now, &config);
    assert_eq!(found.steadiness, Steadiness::Changed);
    close(figure(&found, "mean_score").change.as_ref().unwrap().estimate, 1.0, 1e-9);
    assert!(figure(&found, "unparsed_rate").now.unwrap() > 0.02);
    let text = serde_json::to_string(&found).unwrap();
    assert_eq!(serde_json::from_str::<Sentinel>(&text).unwrap(), found);
    // One item; nothing parsed now.
    let (mut one, mut none) = (Log::default(), Log::default());
    score(&mut one, "x", Some(1e300));
    score(&mut one, "y", Some(-1e300));
    score(&mut none, "x", Some(0.0));
    assert_eq!(held(&one, &none).n_items, 1);
    let mut apart = Log::default();
    score(&mut apart, "z", Some(1.0));
    let side = |log: &Log| Box::new(Side { log: log.clone(), name: None });
    let how = SentinelConfig { margin: 0.0 };
    assert!(matches!(
        sentinel(Sides::Apart(side(&one), side(&one)), &AuditConfig::default(), &how),
        Err(CompareError::Config(_))
    ));
    let found = sentinel(Sides::Apart(side(&one), side(&apart)), &AuditConfig::default(), &SentinelConfig::default());
    assert!(matches!(found, Err(CompareError::NothingShared(2, 1))));
}
