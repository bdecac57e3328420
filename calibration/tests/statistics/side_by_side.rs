//! Two judges side by side: against statsmodels and scikit-learn on real pairs, against their own laws, and by simulation.

use assize_calibration::audit::result::{MeasuredDifference, SideBySide, Standing};
use assize_calibration::audit::{AuditConfig, CompareConfig, CompareError, Side, Sides, compare_sides};
use assize_calibration::judgement::{Choice, Judgement, Order, Verdict};
use assize_calibration::log::Log;
use assize_calibration::paired::paired_proportions_interval;
use proptest::prelude::*;
use rand::SeedableRng;
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

use crate::golden::{assert_close, golden, numbers, rows};
use crate::small_logs::close;

fn side(log: &Log) -> Box<Side> {
    Box::new(Side { log: log.clone(), name: None })
}

fn compare(a: &Log, b: &Log, compare: &CompareConfig) -> SideBySide {
    compare_sides(Sides::Apart(side(a), side(b)), &AuditConfig::default(), compare).unwrap()
}

fn plainly(a: &Log, b: &Log) -> SideBySide {
    compare(a, b, &CompareConfig::default())
}

#[track_caller]
fn of<'a>(compared: &'a SideBySide, id: &str) -> &'a MeasuredDifference {
    compared.measures.iter().find(|one| one.measure == id).unwrap_or_else(|| panic!("{id} is not compared"))
}

/// The arm `name` of `LLMBar`: choices in one order or both.
fn llmbar(set: &Value, name: &str, n_orders: usize) -> Log {
    let choice = |word: f64| if word < 1.5 { Choice::A } else { Choice::B };
    let label = |word: f64| if word < 1.5 { "a" } else { "b" };
    let mut log = Log::default();
    let labels = numbers(&set["labels"]);
    for (item, (answers, truth)) in rows(&set["answers"][name]).into_iter().zip(labels).enumerate() {
        for (answer, order) in answers.into_iter().zip([Order::Ab, Order::Ba]).take(n_orders) {
            let (choice, order, label) = (Some(choice(answer)), Some(order), Some(label(truth).into()));
            log.push(&Judgement { item: item.to_string().into(), choice, order, label, ..Judgement::default() }, 0);
        }
    }
    log
}

/// Anchors that do not help: GPT-4 with 0, 1, 2 worked examples on the same items, published as if more were better.
#[test]
fn real_pairs_of_choices_agree_with_statsmodels() {
    let golden = golden("side_by_side");
    let set = &golden["llmbar"];
    for pair in set["pairs"].as_array().unwrap() {
        let name = pair["b"].as_str().unwrap();
        let compared = plainly(&llmbar(set, "Vanilla", 2), &llmbar(set, name, 2));
        let found = of(&compared, "accuracy");
        let expected = numbers(&pair["accuracy"]);
        let ends = [found.difference.low.unwrap(), found.difference.high.unwrap()];
        for (actual, expected) in [found.a, found.b, found.difference.estimate].into_iter().chain(ends).zip(expected) {
            assert_close(actual, expected, 1e-9, name);
        }
        assert_close(found.p_value.unwrap(), pair["p"].as_f64().unwrap(), 1e-9, "paired t");
        assert_close(found.p_equivalence.unwrap(), pair["p_equivalence"].as_f64().unwrap(), 1e-9, "equivalence");
        assert_close(found.p_worse.unwrap(), pair["p_worse"].as_f64().unwrap(), 1e-9, "worse");
        assert_eq!((compared.standing, found.is_primary, found.p_holm), (Standing::Undecided, true, found.p_value));
        // One answer an item: yes or no, independent.
        let first = &pair["first_order"];
        let compared = plainly(&llmbar(set, "Vanilla", 1), &llmbar(set, name, 1));
        let found = of(&compared, "accuracy");
        assert_eq!(found.test, "McNemar, mid-p");
        assert_close(found.p_value.unwrap(), first["mid_p"].as_f64().unwrap(), 1e-9, "mid-p");
        let tango = numbers(&first["tango"]);
        // The reference maximises the likelihood numerically.
        close(found.difference.low.unwrap(), tango[0], 1e-7);
        close(found.difference.high.unwrap(), tango[1], 1e-7);
        // Beyond 200 clusters a jackknife leaves out parts of them, which changes the interval a little.
        let (found, kappa) = (of(&compared, "kappa"), numbers(&first["kappa"]));
        assert_close(found.difference.estimate, kappa[0], 1e-9, "kappa");
        let half_width = |low: f64, high: f64| (high - low) / 2.0;
        let expected = half_width(kappa[1], kappa[2]);
        assert_close(
            half_width(found.difference.low.unwrap(), found.difference.high.unwrap()),
            expected,
            0.15,
            "kappa",
        );
    }
}

#[test]
fn the_score_interval_agrees_with_a_numerical_one() {
    for set in golden("side_by_side")["tango"].as_array().unwrap() {
        let count = |key: &str| set[key].as_u64().unwrap();
        let (b, c, n) = (count("only_first"), count("only_second"), count("n"));
        let (low, high) = paired_proportions_interval(b, c, n, 0.95).unwrap();
        let expected = numbers(&set["interval"]);
        close(low, expected[0], 1e-7);
        close(high, expected[1], 1e-7);
        // The other way round.
        let (other_low, other_high) = paired_proportions_interval(c, b, n, 0.95).unwrap();
        close(other_low, -high, 1e-12);
        close(other_high, -low, 1e-12);
    }
    assert_eq!(paired_proportions_interval(0, 0, 0, 0.95), None);
    assert_eq!(paired_proportions_interval(2, 2, 3, 0.95), None);
    let (low, high) = paired_proportions_interval(0, 0, 100, 0.95).unwrap();
    close(low, -high, 1e-12);
    assert!(high > 0.03 && high < 0.04, "what was never seen has a bound: {high}");
}

fn rewardbench(set: &Value, which: &str) -> Log {
    let mut log = Log::default();
    let (groups, gold) = (numbers(&set["groups"]), numbers(&set["gold"]));
    for (item, scores) in rows(&set[which]).into_iter().enumerate() {
        for score in scores {
            let (group, label) = (Some(groups[item].to_string().into()), Some(gold[item].to_string().into()));
            log.push(
                &Judgement { item: item.to_string().into(), group, score: Some(score), label, ..Judgement::default() },
                0,
            );
        }
    }
    log
}

#[test]
fn real_pairs_of_scores_agree_with_statsmodels_and_scikit_learn() {
    let golden = golden("side_by_side");
    let set = &golden["rewardbench"];
    let config = AuditConfig { scale: Some([1.0, 10.0]), ..AuditConfig::default() };
    let (a, b) = (rewardbench(set, "cold"), rewardbench(set, "warm"));
    let compared = compare_sides(Sides::Apart(side(&a), side(&b)), &config, &CompareConfig::default()).unwrap();
    for id in ["mean_score", "mean_abs_difference", "auc"] {
        let (found, expected) = (of(&compared, id), numbers(&set[id]));
        let actual = [Some(found.difference.estimate), found.difference.low, found.difference.high, found.p_value];
        for (actual, expected) in actual.into_iter().zip(expected) {
            assert_close(actual.unwrap(), expected, 1e-9, id);
        }
    }
    assert_eq!(of(&compared, "mean_abs_difference").standing, Standing::Worse, "warm scores waver");
    assert_eq!(of(&compared, "mean_score").margin, Some(0.18));
    assert_eq!(of(&compared, "auc").standing, Standing::Equivalent);
    assert!(of(&compared, "auc").is_primary && compared.standing == Standing::Equivalent);
}

/// A judge: is right with a probability of its own on each item, answers `n_repeats` times, sometimes not readably.
struct Judge {
    right: fn(f64) -> f64,
    unparsed: f64,
}

/// Draws two judges on the same items, whose difficulty they share.
fn drawn(judges: [&Judge; 2], n_items: usize, n_repeats: usize, rng: &mut ChaCha8Rng) -> [Log; 2] {
    let difficulty: Vec<f64> = (0..n_items).map(|_| rng.random()).collect();
    judges.map(|judge| {
        let mut log = Log::default();
        for (item, difficulty) in difficulty.iter().enumerate() {
            let is_good = item % 2 == 0;
            for _ in 0..n_repeats {
                let is_right = rng.random::<f64>() < (judge.right)(*difficulty);
                let verdict = if is_right == is_good { Verdict::Accept } else { Verdict::Reject };
                let verdict = Some(verdict).filter(|_| rng.random::<f64>() >= judge.unparsed);
                let label = Some(if is_good { "1" } else { "0" }.into());
                log.push(&Judgement { item: item.to_string().into(), verdict, label, ..Judgement::default() }, 0);
            }
        }
        log
    })
}

/// Of judges alike, at most 5 % are called better or worse by the decision, and of judges a whole margin apart at most 2.5 % are called
/// equivalent, or not worse.
#[test]
fn decisions_are_wrong_as_seldom_as_is_said() {
    let mut rng = ChaCha8Rng::seed_from_u64(41);
    let judge = Judge { right: |difficulty| 0.95 - 0.4 * difficulty, unparsed: 0.0 };
    let n = 150;
    for n_repeats in [1, 3] {
        let mut n_wrong = 0;
        for _ in 0..n {
            let [a, b] = drawn([&judge, &judge], 40, n_repeats, &mut rng);
            let standing = plainly(&a, &b).standing;
            n_wrong += u32::from(matches!(standing, Standing::Better | Standing::Worse));
        }
        // Three Monte-Carlo standard errors of .05 are .053.
        assert!(f64::from(n_wrong) / f64::from(n) <= 0.05 + 0.053, "{n_repeats} repeats: {n_wrong}");
    }
    let worse = Judge { right: |difficulty| 0.85 - 0.4 * difficulty, unparsed: 0.0 };
    let config = CompareConfig { margin: 0.1, primary: vec!["accuracy".to_owned()], ..CompareConfig::default() };
    let (mut n_equal, mut n_kept, mut n_worse) = (0, 0, 0);
    for _ in 0..n {
        let [a, b] = drawn([&judge, &worse], 50, 4, &mut rng);
        let compared = compare(&a, &b, &config);
        n_equal += u32::from(compared.standing == Standing::Equivalent);
        n_kept += u32::from(compared.is_not_worse);
        n_worse += u32::from(compared.standing == Standing::Worse);
    }
    let most = 0.025 + 3.0 * (0.025_f64 * 0.975 / f64::from(n)).sqrt();
    assert!(f64::from(n_equal.max(n_kept)) / f64::from(n) <= most, "{n_equal} equal, {n_kept} not worse");
    assert!(n_worse > n / 2, "a judge ten points worse is found out: {n_worse}");
}

/// Intervals of differences hold the truth: a mean over items, and three of the jackknife.
#[test]
fn intervals_of_differences_hold_the_truth() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let a = Judge { right: |difficulty| 0.95 - 0.4 * difficulty, unparsed: 0.0 };
    let b = Judge { right: |difficulty| 0.9 - 0.2 * difficulty, unparsed: 0.0 };
    // Means over a difficulty that is uniform. Half the items are good, so that both marginals are one half: kappa = 2 · accuracy − 1.
    // Two answers differ with probability 2 p (1 − p).
    let flip = |top: f64, slope: f64| 2.0 * (top - slope / 2.0 - (top * top - top * slope + slope * slope / 3.0));
    let truths = [
        ("accuracy", 0.05),
        ("kappa", 0.1),
        ("false_accept_rate", -0.05),
        ("flip_rate", flip(0.9, 0.2) - flip(0.95, 0.4)),
        ("precision", 0.05),
    ];
    let n = 200;
    let mut missed = [[0; 2]; 5];
    for _ in 0..n {
        let [a, b] = drawn([&a, &b], 50, 2, &mut rng);
        let compared = plainly(&a, &b);
        for (missed, (id, truth)) in missed.iter_mut().zip(truths) {
            let found = &of(&compared, id).difference;
            missed[0] += u32::from(found.low.unwrap() > truth);
            missed[1] += u32::from(found.high.unwrap() < truth);
        }
    }
    for ([above, below], (id, _)) in missed.into_iter().zip(truths) {
        let coverage = 1.0 - f64::from(above + below) / f64::from(n);
        // Three Monte-Carlo standard errors of .945.
        assert!(coverage >= 0.945 - 0.048, "{id}: {coverage}, {above} above, {below} below");
    }
}

fn swapped(standing: Standing) -> Standing {
    match standing {
        Standing::Better => Standing::Worse,
        Standing::Worse => Standing::Better,
        other => other,
    }
}

#[test]
fn exchanging_the_sides_exchanges_the_signs() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let a = Judge { right: |difficulty| 0.95 - 0.4 * difficulty, unparsed: 0.05 };
    let b = Judge { right: |difficulty| 0.6 - 0.2 * difficulty, unparsed: 0.1 };
    for (n_items, n_repeats) in [(30, 1), (40, 3), (8, 2)] {
        let [a, b] = drawn([&a, &b], n_items, n_repeats, &mut rng);
        let (one, other) = (plainly(&a, &b), plainly(&b, &a));
        assert_eq!(one.measures.len(), other.measures.len());
        for found in &one.measures {
            let mirrored = of(&other, &found.measure);
            assert_eq!(found.standing, swapped(mirrored.standing), "{}", found.measure);
            close(found.difference.estimate, -mirrored.difference.estimate, 1e-12);
            let ends = |low: Option<f64>, high: Option<f64>| [low, high].map(|end| end.unwrap_or(f64::MAX));
            let [low, high] = ends(found.difference.low, found.difference.high);
            let [other_low, other_high] = ends(mirrored.difference.high, mirrored.difference.low);
            if low != f64::MAX {
                close(low, -other_low, 1e-9);
                close(high, -other_high, 1e-9);
            }
            close(found.p_value.unwrap_or(2.0), mirrored.p_value.unwrap_or(2.0), 1e-9);
            assert_eq!(found.further_items, mirrored.further_items, "{}", found.measure);
        }
    }
}

#[test]
fn rows_in_another_order_change_nothing() {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let judge = Judge { right: |difficulty| 0.9 - 0.4 * difficulty, unparsed: 0.05 };
    let logs = drawn([&judge, &judge], 250, 2, &mut rng);
    let [a, b] = &logs;
    let shuffled = |log: &Log, rng: &mut ChaCha8Rng| {
        // Repeats keep their order: without a number they are numbered by it.
        let mut items: Vec<u32> = (0..250).collect();
        items.shuffle(rng);
        let mut out = Log::default();
        for item in items {
            for row_idx in (0..log.len()).filter(|row_idx| log.item[*row_idx] == item) {
                let verdict =
                    log.answer(row_idx, assize_calibration::judgement::OutcomeKind::Verdict).map(
                        |answer| match answer {
                            assize_calibration::log::Answer::Verdict(verdict) => verdict,
                            _ => unreachable!(),
                        },
                    );
                let label = Some(log.labels.name(log.label.at(row_idx)).to_owned().into());
                out.push(&Judgement { item: log.items.name(item).into(), verdict, label, ..Judgement::default() }, 0);
            }
        }
        out
    };
    let (one, other) = (plainly(a, b), plainly(&shuffled(a, &mut rng), &shuffled(b, &mut rng)));
    for (found, again) in one.measures.iter().zip(&other.measures) {
        assert_eq!((&found.measure, found.standing), (&again.measure, again.standing));
        close(found.difference.estimate, again.difference.estimate, 1e-12);
        close(found.difference.low.unwrap_or(0.0), again.difference.low.unwrap_or(0.0), 1e-9);
        close(found.difference.high.unwrap_or(0.0), again.difference.high.unwrap_or(0.0), 1e-9);
    }
}

fn verdicts(answers: &[Option<bool>]) -> Log {
    let mut log = Log::default();
    for (item, accepts) in answers.iter().enumerate() {
        let verdict = accepts.map(|accepts| if accepts { Verdict::Accept } else { Verdict::Reject });
        log.push(
            &Judgement { item: item.to_string().into(), verdict, label: Some("1".into()), ..Judgement::default() },
            0,
        );
    }
    log
}

/// B accepts all right items but leaves those unparsed that A gets wrong: among what was parsed it is no better, and what it does
/// not say could be either.
#[test]
fn unparsed_replies_leave_open_what_they_could_turn() {
    let accuracy = CompareConfig { primary: vec!["accuracy".to_owned()], ..CompareConfig::default() };
    let a: Vec<Option<bool>> = (0..400).map(|item| Some(item % 4 != 0)).collect();
    let b: Vec<Option<bool>> = (0..400).map(|item| (item % 4 != 0 || item % 8 == 0).then_some(true)).collect();
    let compared = compare(&verdicts(&a), &verdicts(&b), &accuracy);
    let found = of(&compared, "accuracy");
    // 50 of 350 parsed pairs differ, all for B; the other 50 count against it at worst.
    close(found.difference.estimate, 50.0 / 350.0, 1e-12);
    let [lowest, highest] = found.unparsed_bounds.as_ref().unwrap();
    close(lowest.estimate, 50.0 / 400.0, 1e-12);
    close(highest.estimate, 100.0 / 400.0, 1e-12);
    assert_eq!(found.standing, Standing::Better, "even at worst");
    let b: Vec<Option<bool>> =
        (0..400).map(|item| (item % 4 != 0 && item % 3 != 0 || item % 8 == 0).then_some(true)).collect();
    let compared = compare(&verdicts(&a), &verdicts(&b), &accuracy);
    assert_eq!(compared.standing, Standing::Undecided);
    assert!(of(&compared, "accuracy").why.contains("unparsed"), "{}", of(&compared, "accuracy").why);
}

#[test]
fn items_of_one_side_only_are_counted_and_left_out() {
    let (a, b) = (verdicts(&[Some(true); 50]), verdicts(&[Some(true); 40]));
    let compared = plainly(&a, &b);
    assert_eq!((compared.n_items, compared.a.n_items_only_here, compared.b.n_items_only_here), (40, 10, 0));
    assert!(compared.notes.iter().any(|note| note.contains("10 of A's 50 items")), "{:?}", compared.notes);
    // Nothing differs, on 40 items: a difference of 2 points is not ruled out.
    assert_eq!(of(&compared, "accuracy").difference.estimate, 0.0);
    assert_eq!(of(&compared, "accuracy").p_value, Some(1.0));
    assert_eq!(compared.standing, Standing::Undecided);
    let many = verdicts(&[Some(true); 400]);
    assert_eq!(
        compare(&many, &many, &CompareConfig { primary: vec!["accuracy".to_owned()], ..CompareConfig::default() })
            .standing,
        Standing::Equivalent
    );
}

#[test]
fn who_is_meant_must_be_said_and_known() {
    let mut log = Log::default();
    for (judge, arm) in [("x", Some("cold")), ("x", Some("warm")), ("y", None)] {
        let row = Judgement { item: "1".into(), judge: judge.into(), arm: arm.map(Into::into), ..Judgement::default() };
        log.push(&Judgement { verdict: Some(Verdict::Accept), ..row }, 0);
    }
    let together = |a: &str, b: &str| {
        let sides = Sides::Together(Box::new(log.clone()), a.to_owned(), b.to_owned());
        compare_sides(sides, &AuditConfig::default(), &CompareConfig::default())
    };
    let found = together("cold", "x:warm").unwrap();
    assert_eq!((found.a.name.as_str(), found.b.name.as_str()), ("cold", "warm"));
    assert_eq!(together("y", "warm").unwrap().b.name, "x:warm");
    assert!(matches!(together("x", "y"), Err(CompareError::Ambiguous { n: 2, .. })));
    assert!(matches!(together("z", "y"), Err(CompareError::Unknown { side: 'A', .. })));
    assert!(matches!(together("y", "y"), Err(CompareError::Same(_))));
    let apart = |a: &Log, b: &Log| {
        compare_sides(Sides::Apart(side(a), side(b)), &AuditConfig::default(), &CompareConfig::default())
    };
    assert!(matches!(apart(&log, &verdicts(&[None])), Err(CompareError::Several { n: 3, .. })));
    assert!(matches!(apart(&Log::default(), &log), Err(CompareError::Empty('A'))));
    let mut scores = Log::default();
    scores.push(&Judgement { item: "0".into(), score: Some(1.0), ..Judgement::default() }, 0);
    assert!(matches!(apart(&verdicts(&[Some(true)]), &scores), Err(CompareError::Kinds(..))));
    let mut elsewhere = Log::default();
    elsewhere.push(&Judgement { item: "other".into(), verdict: Some(Verdict::Accept), ..Judgement::default() }, 0);
    assert!(matches!(apart(&verdicts(&[Some(true)]), &elsewhere), Err(CompareError::NothingShared(1, 1))));
    let bad = CompareConfig { margin: 0.0, ..CompareConfig::default() };
    assert!(matches!(
        compare_sides(Sides::Apart(side(&scores), side(&scores)), &AuditConfig::default(), &bad),
        Err(CompareError::Config(_))
    ));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Whatever two logs hold, a comparison is defined, finite, and lies within its interval.
    #[test]
    fn any_two_logs_are_compared_without_a_number_that_is_none(
        a in prop::collection::vec((0_u32..6, prop::option::of(prop::sample::select(vec![0.0, 1.0, 5.0, 1e300, -1e300]))), 1..30),
        b in prop::collection::vec((0_u32..6, prop::option::of(prop::sample::select(vec![0.0, 1.0, 5.0, 1e300, -1e300]))), 1..30),
        labelled in any::<bool>(),
    ) {
        let log = |rows: &[(u32, Option<f64>)]| {
            let mut log = Log::default();
            for (item, score) in rows {
                let label = labelled.then(|| if item % 2 == 0 { "1" } else { "0" }.into());
                log.push(&Judgement { item: item.to_string().into(), score: *score, label, ..Judgement::default() }, 0);
            }
            log
        };
        let sides = Sides::Apart(side(&log(&a)), side(&log(&b)));
        let config = AuditConfig { accept_at: Some(1.0), ..AuditConfig::default() };
        if let Ok(found) = compare_sides(sides, &config, &CompareConfig::default()) {
            for one in &found.measures {
                prop_assert!(one.difference.estimate.is_finite(), "{}", one.measure);
                prop_assert!(one.p_value.is_none_or(|p| (0.0..=1.0).contains(&p)), "{}: {:?}", one.measure, one.p_value);
                if let (Some(low), Some(high)) = (one.difference.low, one.difference.high) {
                    let rounding = 1e-9 * (1.0 + one.difference.estimate.abs());
                    prop_assert!(low <= one.difference.estimate + rounding && one.difference.estimate <= high + rounding, "{}", one.measure);
                }
            }
        }
    }
}

/// The same for scores: items differ with variance 1, right ones lie 1.5 higher, noise has variance .25 or .5; half of the items' effect is
/// shared by both judges, so that the two are correlated.
#[test]
fn intervals_of_differences_of_scores_hold_the_truth() {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let normal = |rng: &mut ChaCha8Rng| assize_calibration::distribution::normal_quantile(rng.random_range(1e-12..1.0));
    let noise = [0.25_f64, 0.5];
    // Right and wrong items together: the variance between items is 1 + 1.5²/4.
    let icc = |noise: f64| 1.5625 / (1.5625 + noise);
    let auc = |noise: f64| assize_calibration::distribution::normal_cdf(1.5 / (2.0 * (1.0 + noise)).sqrt());
    // The mean distance of two draws is 2σ/√π.
    let apart = |noise: f64| 2.0 * (noise / std::f64::consts::PI).sqrt();
    let truths = [
        ("auc", auc(noise[1]) - auc(noise[0])),
        ("icc_single", icc(noise[1]) - icc(noise[0])),
        ("within_item_sd", noise[1].sqrt() - noise[0].sqrt()),
        ("mean_abs_difference", apart(noise[1]) - apart(noise[0])),
        ("mean_score", 0.0),
    ];
    let n = 60;
    let mut missed = [[0; 2]; 5];
    for _ in 0..n {
        let mut logs = [Log::default(), Log::default()];
        for item in 0..40 {
            let (shared, is_good) = (normal(&mut rng), item % 2 == 0);
            for (log, noise) in logs.iter_mut().zip(noise) {
                let effect = (shared + normal(&mut rng)) / 2.0_f64.sqrt() + if is_good { 1.5 } else { 0.0 };
                for _ in 0..3 {
                    let score = Some(effect + noise.sqrt() * normal(&mut rng));
                    let label = Some(if is_good { "1" } else { "0" }.into());
                    log.push(&Judgement { item: item.to_string().into(), score, label, ..Judgement::default() }, 0);
                }
            }
        }
        let compared = plainly(&logs[0], &logs[1]);
        for (missed, (id, truth)) in missed.iter_mut().zip(truths) {
            let found = &of(&compared, id).difference;
            missed[0] += u32::from(found.low.unwrap() > truth);
            missed[1] += u32::from(found.high.unwrap() < truth);
        }
    }
    for ([above, below], (id, _)) in missed.into_iter().zip(truths) {
        let coverage = 1.0 - f64::from(above + below) / f64::from(n);
        // Three Monte-Carlo standard errors of .945.
        assert!(coverage >= 0.945 - 0.088, "{id}: {coverage}, {above} above, {below} below");
    }
}

/// Scores of 30 items under a dimension.
fn scores(dimension: &str, score: impl Fn(usize) -> f64) -> Log {
    let mut log = Log::default();
    for item in 0..30 {
        let (score, dimension) = (Some(score(item)), Some(dimension.into()));
        log.push(&Judgement { item: item.to_string().into(), score, dimension, ..Judgement::default() }, 0);
    }
    log
}

#[test]
fn scores_of_two_scales_are_not_compared() {
    let five = scores("all", |item| (item % 5 + 1) as f64);
    let seven = scores("all", |item| (item % 7 + 1) as f64);
    let ten = scores("all", |item| (item % 10 + 1) as f64);
    let lenient = scores("all", |item| (item % 3 + 8) as f64);
    let share = scores("all", |item| (item % 5) as f64 / 4.0);
    let run = |a: &Log, b: &Log, scale: Option<[f64; 2]>| {
        let config = AuditConfig { scale, ..AuditConfig::default() };
        compare_sides(Sides::Apart(side(a), side(b)), &config, &CompareConfig::default())
    };
    let refused = CompareError::Scales { a: [1.0, 5.0], b: [1.0, 10.0] };
    assert_eq!(run(&five, &ten, None).unwrap_err(), refused);
    assert!(matches!(run(&five, &share, None), Err(CompareError::Scales { .. })));
    // Who states the scale knows.
    run(&five, &ten, Some([1.0, 10.0])).unwrap();
    let is_noted = |a: &Log, b: &Log| run(a, b, None).unwrap().notes.iter().any(|note| note.contains("--scale"));
    assert!(is_noted(&five, &seven));
    // A judge who uses the upper end alone reaches as far.
    assert!(!is_noted(&lenient, &ten));
}

#[test]
fn other_dimensions_and_orders_are_told() {
    let other = compare_sides(
        Sides::Apart(side(&scores("clarity", |_| 1.0)), side(&scores("style", |_| 1.0))),
        &AuditConfig::default(),
        &CompareConfig::default(),
    );
    assert_eq!(other.unwrap_err(), CompareError::Dimensions("clarity".to_owned(), "style".to_owned()));
    let choices = |order: Order| {
        let mut log = Log::default();
        for item in 0..10 {
            let (choice, order) = (Some(if item % 3 == 0 { Choice::A } else { Choice::B }), Some(order));
            log.push(&Judgement { item: item.to_string().into(), choice, order, ..Judgement::default() }, 0);
        }
        log
    };
    let notes = |a: Order, b: Order| plainly(&choices(a), &choices(b)).notes;
    assert!(notes(Order::Ab, Order::Ba).iter().any(|note| note.contains("order ba alone")));
    assert!(!notes(Order::Ab, Order::Ab).iter().any(|note| note.contains("order ab")));
}
