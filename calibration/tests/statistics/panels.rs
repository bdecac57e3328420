//! Panels in audits: methods, raters, errors that go together, and what wrong labels could do.

use assize_calibration::audit::result::{Audit, Panel, PanelMethod};
use assize_calibration::gate::{Limit, LimitState};
use assize_calibration::judgement::{Judgement, Verdict};
use assize_calibration::raters::correlated::{error_pairs, independent_vote, share_of_greatest};
use assize_calibration::raters::effective::{Truth, effective_raters};
use assize_calibration::raters::{Rating, Ratings};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::golden::{assert_close, golden, numbers, rows};
use crate::small_logs::{Rows, at_most, close};

fn verdict(accepts: bool) -> Judgement<'static> {
    let verdict = Some(if accepts { Verdict::Accept } else { Verdict::Reject });
    Judgement { verdict, ..Judgement::default() }
}

/// Judges that are right with these probabilities, and the last `n_copies` of them copies of the one before.
fn panel_of(right: &[f64], n_copies: usize, n_items: usize, is_labelled: bool, seed: u64) -> Audit {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut log = Rows::default();
    for item in 0..n_items {
        let label = rng.random::<bool>();
        let mut said: Vec<bool> = right.iter().map(|right| label == (rng.random::<f64>() < *right)).collect();
        said.extend(std::iter::repeat_n(said[said.len() - 1], n_copies));
        for (judge, accepts) in said.into_iter().enumerate() {
            let label = is_labelled.then(|| if label { "1" } else { "0" }.into());
            log.push(item, Judgement { judge: format!("j{judge}").into(), label, ..verdict(accepts) });
        }
    }
    log.audit()
}

fn method<'a>(panel: &'a Panel, name: &str) -> &'a PanelMethod {
    panel.methods.iter().find(|method| method.method == name).unwrap_or_else(|| panic!("{name} in {:?}", panel.methods))
}

fn accuracy(panel: &Panel, name: &str) -> f64 {
    method(panel, name).accuracy.as_ref().unwrap().estimate
}

#[test]
fn independent_judges_gain_by_voting_as_much_as_independence_gives() {
    let audit = panel_of(&[0.75; 5], 0, 400, true, 1);
    let [panel] = audit.panels.as_slice() else { panic!("{}", audit.panels.len()) };
    assert_eq!((panel.n_raters, panel.n_items, panel.n_ratings, panel.n_labelled), (5, 400, 2000, 400));
    let vote = panel.vote.as_ref().unwrap();
    close(vote.one_rater, 0.75, 0.03);
    // Five right .75: .8965.
    close(vote.majority, 0.8965, 0.04);
    assert!(vote.shuffles[0] <= vote.majority && vote.majority <= vote.shuffles[1], "{vote:?}");
    let worth = panel.worth.as_ref().unwrap().n_effective.as_ref().unwrap();
    assert!(worth.low.unwrap() <= 5.0 && worth.high.unwrap() >= 5.0, "{worth:?}");
    for name in ["weighted_majority", "dawid_skene", "mace", "glad"] {
        assert!(accuracy(panel, name) > 0.85, "{name}");
    }
    let majority = method(panel, "majority");
    close(majority.gain.as_ref().unwrap().estimate, vote.majority - vote.one_rater, 1e-12);
    let (far, frr) = (majority.false_accept_rate.as_ref().unwrap(), majority.false_reject_rate.as_ref().unwrap());
    let wrong = far.estimate * far.n_items as f64 + frr.estimate * frr.n_items as f64;
    close(1.0 - wrong / 400.0, vote.majority, 1e-12);
}

#[test]
fn copies_are_found_and_gain_nothing() {
    let audit = panel_of(&[0.8, 0.8, 0.7], 2, 300, true, 2);
    let panel = &audit.panels[0];
    let worst = &panel.error_pairs[0];
    assert!(["j2", "j3", "j4"].contains(&worst.a.as_str()) && ["j2", "j3", "j4"].contains(&worst.b.as_str()));
    close(worst.correlation.estimate, 1.0, 1e-9);
    assert_eq!(worst.correlation.low, None, "errors that always meet have no interval");
    close(worst.within_label.unwrap(), 1.0, 1e-9);
    assert_eq!(panel.n_error_pairs, 10);
    let vote = panel.vote.as_ref().unwrap();
    assert!(vote.majority < vote.shuffles[0], "{vote:?}");
    let worth = panel.worth.as_ref().unwrap().n_effective.as_ref().unwrap();
    assert!(worth.estimate < 3.5, "{worth:?}");
    assert!(panel.findings.iter().any(|finding| finding.what.contains("independent ones")));
}

#[test]
fn without_labels_only_models_speak_and_two_judges_say_nothing() {
    let audit = panel_of(&[0.9, 0.8, 0.7, 0.6], 0, 300, false, 3);
    let panel = &audit.panels[0];
    assert!(panel.vote.is_none() && panel.error_pairs.is_empty() && panel.raters.iter().all(|r| r.accuracy.is_none()));
    assert_eq!(panel.worth.as_ref().unwrap().against, "dawid_skene");
    assert!(panel.notes.iter().any(|note| note.contains("label column")));
    let names: Vec<&str> = panel.raters.iter().map(|rater| rater.name.as_str()).collect();
    assert_eq!(names, ["j0", "j1", "j2", "j3"], "sorted by the model's guess");
    assert!(panel.methods.iter().all(|method| method.accuracy.is_none()));
    assert!(panel_of(&[0.9, 0.8], 0, 50, false, 3).panels.is_empty());
    let two = panel_of(&[0.9, 0.8], 0, 50, true, 3);
    assert_eq!(two.panels[0].methods.len(), 3);
    assert!(two.panels[0].notes.iter().any(|note| note.contains("two raters do not tell")));
}

#[test]
fn each_rater_counts_once_an_item_and_ties_count_in_parts() {
    let mut log = Rows::default();
    for item in 0..4 {
        // Three draws: two accept, one rejects; the other judge rejects, so that labels tie.
        for accepts in [true, false, true] {
            log.push(item, Judgement { judge: "a".into(), label: Some("1".into()), ..verdict(accepts) });
        }
        log.push(item, Judgement { judge: "b".into(), ..verdict(false) });
    }
    let audit = log.audit();
    let panel = &audit.panels[0];
    assert_eq!(panel.n_ratings, 8);
    close(accuracy(panel, "majority"), 0.5, 1e-12);
    assert_eq!(method(panel, "majority").n_tied, 4);
    close(accuracy(panel, "one_rater"), 0.5, 1e-12);
}

#[test]
fn a_rater_whose_own_answers_tie_counts_in_parts_and_models_leave_it_out() {
    let mut log = Rows::default();
    let mut say = |item: usize, judge: &'static str, said: &[bool]| {
        for accepts in said {
            log.push(item, Judgement { judge: judge.into(), label: Some("1".into()), ..verdict(*accepts) });
        }
    };
    for item in 0..4 {
        say(item, "a", &[false, true]);
        say(item, "b", &[true]);
    }
    say(4, "a", &[true, true]);
    say(4, "b", &[true]);
    let audit = log.audit();
    let panel = &audit.panels[0];
    assert_eq!(panel.n_ratings, 10);
    // 1½ of 2 votes accept four times, 2 of 2 once.
    close(accuracy(panel, "majority"), 1.0, 1e-12);
    close(accuracy(panel, "one_rater"), (4.0 * 0.75 + 1.0) / 5.0, 1e-12);
    let rater = |name: &str| panel.raters.iter().find(|rater| rater.name == name).unwrap();
    close(rater("a").accuracy.as_ref().unwrap().estimate, 0.6, 1e-12);
    // Half of a's ballot says what b says; b says one of the two on which a ties.
    close(rater("a").agrees_with_others.unwrap(), 0.6, 1e-12);
    close(rater("b").agrees_with_others.unwrap(), 0.6, 1e-12);
    assert!(panel.notes.iter().any(|note| note.contains("4 of the 10 ratings")), "{:?}", panel.notes);
    assert!(panel.rule.contains("tie"));
}

/// Judges and people who answered twice; `order` exchanges repeats (1) or shuffles all but each one's first answer (2).
fn asked_twice(order: u32) -> Audit {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let mut rows = Vec::new();
    for item in 0_usize..60 {
        for who in 0_usize..6 {
            let said = |draw: f64| ["a", "b", "c"][if draw < 0.6 { item % 3 } else { (item + who) % 3 }];
            // The first item names everything once, so that names have one order.
            let mut twice = [0; 2].map(|_| if item == 0 { ["a", "b", "c"][who % 3] } else { said(rng.random()) });
            if order == 1 {
                twice.reverse();
            }
            let row = |category: &'static str| {
                let category = Some(category.into());
                let label = Some(["a", "b", "c"][item % 3].into());
                let rater = (who > 2).then(|| format!("p{who}").into());
                let judge = if who > 2 { "".into() } else { format!("j{who}").into() };
                (item, Judgement { category, label, rater, judge, ..Judgement::default() })
            };
            rows.push(twice.map(row));
        }
    }
    let mut seconds: Vec<_> = rows.iter().map(|[_, second]| second.clone()).collect();
    if order == 2 {
        seconds.shuffle(&mut rng);
    }
    let mut log = Rows::default();
    rows.into_iter().map(|[first, _]| first).chain(seconds).for_each(|(item, row)| log.push(item, row));
    log.audit()
}

#[test]
fn neither_the_order_of_repeats_nor_that_of_rows_changes_a_panel_or_people() {
    let bytes = |order: u32| {
        let audit = asked_twice(order);
        assert_eq!(audit.panels.len(), 2);
        assert!(audit.panels.iter().all(|panel| panel.notes.iter().any(|note| note.contains("own answers tie"))));
        let judge = &audit.judges[0];
        let ids =
            ["people_agreement", "agreement_with_people", "agreement_gap", "bias_from_people", "variance_of_draws"];
        let measures = ids.map(|id| judge.measures[id].clone());
        assert!(judge.alternative.is_some());
        let rates = ["winning_rate", "advantage_probability"].map(|id| judge.measures[id].clone());
        serde_json::to_string(&(&audit.panels, &judge.alternative, measures, rates)).unwrap()
    };
    assert_eq!(bytes(0), bytes(1));
    assert_eq!(bytes(0), bytes(2));
}

#[test]
fn a_big_crowd_is_cut_in_the_middle_and_missing_ratings_are_missing() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut log = Rows::default();
    for item in 0..200 {
        for rater in 0..100 {
            if rng.random::<f64>() < 0.1 {
                let right = rng.random::<f64>() < 0.5 + f64::from(rater) / 250.0;
                let row = Judgement { rater: Some(format!("r{rater}").into()), ..verdict(right == (item % 2 == 0)) };
                log.push(item, Judgement { label: Some((1 - item % 2).to_string().into()), ..row });
            }
        }
    }
    let audit = log.audit();
    let panel = &audit.panels[0];
    assert_eq!((panel.raters.len(), panel.n_raters_left_out), (40, 60));
    let key = |name: &str| name[1..].parse::<u32>().unwrap();
    let mean = |raters: &[assize_calibration::audit::result::PanelRater]| {
        raters.iter().map(|rater| f64::from(key(&rater.name))).sum::<f64>() / raters.len() as f64
    };
    assert!(mean(&panel.raters[..20]) > 55.0 && mean(&panel.raters[20..]) < 45.0);
}

#[test]
fn the_same_log_gives_the_same_panel_on_any_number_of_threads() {
    let on = |n_threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        pool.install(|| serde_json::to_string(&panel_of(&[0.9, 0.7, 0.6, 0.8], 1, 80, true, 6).panels).unwrap())
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn pairs_of_errors_are_numpy_s() {
    let golden = &golden("people")["errors"];
    let labels: Vec<Option<u32>> = numbers(&golden["labels"]).iter().map(|label| Some(*label as u32)).collect();
    let mut list = Vec::new();
    for (item, said) in (0_u32..).zip(rows(&golden["said"])) {
        list.extend((0_u32..).zip(said).map(|(rater, said)| Rating { item, rater, category: said as u32 }));
    }
    let ratings = Ratings::new(&list, labels.len(), 3, 2).unwrap();
    let found = error_pairs(&ratings, &labels, &[0, 1, 2], None);
    assert_eq!(found.len(), 3);
    for (found, expected) in found.iter().zip(golden["pairs"].as_array().unwrap()) {
        let of = |key: &str| expected[key].as_f64().unwrap();
        assert_eq!((found.first as f64, found.second as f64), (of("a"), of("b")));
        assert_close(found.correlation, of("correlation"), 1e-9, "correlation");
        assert_close(found.within_label.unwrap(), of("within_label"), 1e-9, "within label");
        assert_close(found.both_wrong, of("both_wrong"), 1e-12, "both wrong");
        assert_close(found.expected, of("expected"), 1e-12, "expected");
    }
    let worth = effective_raters(&ratings, Truth::Known(&labels), None, 0.95).unwrap();
    let interval = worth.n_effective_interval.unwrap();
    for (key, value) in [("n_effective", worth.n_effective.unwrap()), ("low", interval.low), ("high", interval.high)] {
        assert_close(value, golden["effective"][key].as_f64().unwrap(), 1e-9, key);
    }
    assert!(error_pairs(&ratings, &labels[1..], &[0, 1], None).is_empty());
    assert!(error_pairs(&ratings, &labels, &[0, 9], None).is_empty());
    assert!(independent_vote(&ratings, &labels, 0, 1).is_none());
    assert!(independent_vote(&ratings, &vec![None; labels.len()], 5, 1).is_none());
    assert_eq!(share_of_greatest(&[1.0, 2.0, 2.0], 2), 0.5);
    assert_eq!(share_of_greatest(&[1.0, 2.0, 2.0], 0), 0.0);
    assert_eq!(share_of_greatest(&[1.0], 5), 0.0);
}

#[test]
fn the_labels_that_turn_a_limit_are_as_many_as_turning_them_shows() {
    // 40 right and 40 wrong items, 1 wrong one accepted.
    let log = |n_turned: usize| {
        let mut log = Rows::default();
        for item in 0..80 {
            let good = item < 40;
            let accepts = good || item == 79;
            // Right items that are accepted become false accepts.
            log.verdict(item, Some(accepts), good && item >= n_turned);
        }
        log.with_limit("false_accept_rate", at_most(0.2))
    };
    let judge = log(0);
    assert_eq!(judge.limits[0].state, LimitState::Met, "{:?}", judge.limits);
    let n_labels = judge.label_noise.as_ref().unwrap().limits[0].n_labels.unwrap();
    let state = |n| log(usize::try_from(n).unwrap()).limits[0].state;
    assert_eq!(state(n_labels - 1), LimitState::Met);
    assert_ne!(state(n_labels), LimitState::Met);
    // No label can save a judge that is wrong about everything but by turning most of them.
    let mut bad = Rows::default();
    for item in 0..60 {
        bad.verdict(item, Some(item % 2 == 0), item % 2 == 1);
    }
    let judge = bad.with_limit("accuracy", Limit { min: Some(0.5), ..Limit::default() });
    let turned = &judge.label_noise.as_ref().unwrap().limits[0];
    assert_eq!(turned.state, LimitState::Broken);
    assert!((15..=30).contains(&turned.n_labels.unwrap()), "{turned:?}");
}

#[test]
fn assumed_noise_bounds_accuracy() {
    let mut log = Rows::default();
    for item in 0..100 {
        log.verdict(item, Some(item % 2 == 0), (item % 2 == 0) == (item < 90));
    }
    let noise = log.judge().label_noise.unwrap();
    let at = noise.accuracy.iter().find(|assumed| (assumed.error_rate - 0.05).abs() < 1e-12).unwrap();
    close(at.low, 0.85, 1e-12);
    close(at.high, 0.95, 1e-12);
    close(at.if_independent.unwrap(), (0.9 - 0.05) / 0.9, 1e-12);
}

#[test]
fn labels_made_of_people_s_ratings_do_not_judge_these_people() {
    let mut log = Rows::default();
    for item in 0..40 {
        for rater in 0..3 {
            log.push(item, Judgement { rater: Some(format!("p{rater}").into()), ..verdict((item + rater) % 3 == 0) });
        }
        for judge in ["a", "b"] {
            log.push(item, Judgement { judge: judge.into(), ..verdict(item % 2 == 0) });
        }
    }
    let audit = log.audit();
    let of = |among: &str| audit.panels.iter().find(|panel| panel.among == among).unwrap();
    assert_eq!(of("raters").n_labelled, 0);
    assert_eq!(of("judges").n_labelled, 40);
}
