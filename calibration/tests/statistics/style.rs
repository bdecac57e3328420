//! Marks of style: their effects given label, length and each other.

use assize_calibration::audit::result::{FindingWeight, JudgeAudit, StyleEffect, StyleEffects};
use assize_calibration::judgement::{Choice, Judgement, StyleMark, Verdict};
use assize_calibration::regression::{Adjustment, Design, least_squares};
use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::golden::assert_close;
use crate::small_logs::{Rows, close};

fn mark(name: &'static str, a: f64) -> StyleMark<'static> {
    StyleMark { name: name.into(), a: Some(a), b: None }
}

fn style(judge: &JudgeAudit) -> &StyleEffects {
    judge.style.as_ref().unwrap()
}

fn of<'a>(judge: &'a JudgeAudit, name: &str) -> &'a StyleEffect {
    style(judge).effects.iter().find(|one| one.name == name).unwrap()
}

/// Items of which the score follows length, or headings, or neither. Longer texts have more headings.
struct Drawn {
    per_doubling: f64,
    per_heading: f64,
    n_groups: usize,
    of_group: usize,
}

impl Drawn {
    fn rows(&self, stream: u64) -> (Rows, Vec<[f64; 5]>) {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        rng.set_stream(stream);
        let (mut log, mut table) = (Rows::default(), Vec::new());
        for group in 0..self.n_groups {
            let shared: f64 = rng.random_range(-1.0..1.0);
            for part in 0..self.of_group {
                let length = rng.random_range(6.0..10.0_f64);
                let headings = (2.0 * (length - 6.0) + rng.random_range(-2.0..2.0)).round().max(0.0);
                let bold = f64::from(rng.random_range(0..6_u8));
                let label = f64::from(rng.random_range(0..2_u8));
                let noise = shared + rng.random_range(-1.0..1.0);
                let score = self.per_doubling * length + self.per_heading * headings + 2.0 * label + noise;
                let row = Judgement {
                    score: Some(score),
                    length_a: Some(length.exp2()),
                    label: Some(if label > 0.5 { "1" } else { "0" }.into()),
                    group: Some(group.to_string().into()),
                    style: vec![mark("headings", headings), mark("bold", bold)],
                    ..Judgement::default()
                };
                log.push(group * self.of_group + part, row);
                table.push([score, length, headings, bold, label]);
            }
        }
        (log, table)
    }
}

#[test]
fn an_effect_is_the_coefficient_of_the_joint_regression() {
    let drawn = Drawn { per_doubling: 0.3, per_heading: 0.2, n_groups: 30, of_group: 4 };
    let (log, table) = drawn.rows(0);
    let judge = log.judge();
    let column = |idx: usize| table.iter().map(|row| row[idx]).collect::<Vec<f64>>();
    let sd = |values: &[f64]| {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (values.len() as f64 - 1.0)).sqrt()
    };
    let scaled = |values: Vec<f64>| {
        let sd = sd(&values);
        values.into_iter().map(|v| v / sd).collect::<Vec<f64>>()
    };
    let clusters: Vec<u32> = (0..table.len() as u32).map(|idx| idx / 4).collect();
    let columns = [column(4), column(1), scaled(column(2)), scaled(column(3))];
    let outcomes = column(0);
    let design = Design { outcomes: &outcomes, columns: &columns, weights: None, clusters: Some(&clusters) };
    let fit = least_squares(&design, Adjustment::Cr2).unwrap();
    for (name, idx) in [("headings", 2), ("bold", 3)] {
        let (one, expected) = (of(&judge, name), fit.coefficients[idx].unwrap());
        let effect = one.effect.as_ref().unwrap();
        assert_close(effect.estimate, expected.estimate, 1e-9, name);
        assert_close(effect.details["standard_error"], expected.standard_error, 1e-9, name);
        assert_close(effect.details["degrees_of_freedom"], expected.degrees, 1e-7, name);
        assert_close(one.sd, sd(&column(idx)), 1e-12, name);
    }
    let length = style(&judge).length.as_ref().unwrap();
    assert_close(length.estimate, fit.coefficients[1].unwrap().estimate, 1e-9, "length");
    assert_eq!(style(&judge).given, ["label", "length"]);
    assert!(of(&judge, "headings").is_found && !of(&judge, "bold").is_found);
    let finding = judge.findings.iter().find(|finding| finding.what.contains("more \"headings\"")).unwrap();
    assert_eq!(finding.weight, FindingWeight::Bad);
    assert!(judge.findings.iter().any(|finding| finding.what.contains("style \"bold\"")));
}

/// Headings come with length: where length alone moves the judge, they are not blamed.
#[test]
fn style_is_not_length_in_disguise() {
    let (n, mut n_blamed) = (60, 0);
    for stream in 0..n {
        let (log, _) = Drawn { per_doubling: 0.8, per_heading: 0.0, n_groups: 40, of_group: 2 }.rows(stream);
        let judge = log.judge();
        n_blamed += u32::from(of(&judge, "headings").is_found);
        assert!(judge.biases.as_ref().unwrap().test("length_effect").unwrap().is_found);
        assert_eq!(judge.biases.as_ref().unwrap().n_looked_for, 3);
    }
    // Five in a hundred at most, and three Monte-Carlo errors more.
    assert!(n_blamed <= 8, "{n_blamed}");
}

#[test]
fn intervals_hold_the_truth_and_permutations_keep_their_level() {
    let n = 400_u32;
    let (mut held, mut low, mut n_small) = (0_u32, 0_u32, 0_u32);
    for stream in 0..n {
        let drawn = Drawn { per_doubling: 0.3, per_heading: 0.25, n_groups: 12, of_group: 5 };
        let judge = drawn.rows(u64::from(stream)).0.judge();
        let one = of(&judge, "headings");
        let (effect, truth) = (one.effect.as_ref().unwrap(), 0.25 * one.sd);
        held += u32::from(effect.low.unwrap() <= truth && truth <= effect.high.unwrap());
        low += u32::from(effect.high.unwrap() < truth);
        n_small += u32::from(of(&judge, "bold").p_permutation.unwrap() < 0.05);
    }
    let share = |count: u32| f64::from(count) / f64::from(n);
    let error = |p: f64| 3.0 * (p * (1.0 - p) / f64::from(n)).sqrt();
    assert!(share(held) >= 0.945 - error(0.945) && share(held) <= 0.985 + error(0.985), "{}", share(held));
    assert!(share(low) <= 0.03 + error(0.03), "{}", share(low));
    assert!(share(n_small) <= 0.05 + error(0.05) && share(n_small) > 0.01, "{}", share(n_small));
}

#[test]
fn of_two_candidates_the_difference_counts() {
    let mut log = Rows::default();
    for item in 0..120_usize {
        // A has more lists in half of the pairs, and is chosen then in three of four; the label says nothing of it.
        let has_more = item % 2 == 0;
        let chooses_more = item % 8 < 6;
        let row = Judgement {
            choice: Some(if has_more == chooses_more { Choice::A } else { Choice::B }),
            label: Some(if item % 3 == 0 { "a" } else { "b" }.into()),
            style: vec![
                StyleMark {
                    name: "lists".into(),
                    a: Some(if has_more { 4.0 } else { 1.0 }),
                    b: Some(if has_more { 1.0 } else { 4.0 }),
                },
                mark("tone", (item % 5) as f64),
            ],
            ..Judgement::default()
        };
        log.push(item, row);
    }
    let judge = log.judge();
    let lists = of(&judge, "lists");
    assert!(lists.is_found, "{lists:?}");
    // Six points of lists apart: from one choice in four to three.
    close(lists.effect.as_ref().unwrap().estimate / lists.sd * 6.0, 0.5, 0.02);
    assert!(of(&judge, "tone").why.as_ref().unwrap().contains("both candidates"));
}

#[test]
fn what_cannot_be_told_says_why() {
    let mut log = Rows::default();
    for item in 0..40_usize {
        let row = Judgement {
            verdict: Some(if item % 3 == 0 { Verdict::Accept } else { Verdict::Reject }),
            style: vec![mark("constant", 2.0), mark("one", (item % 7) as f64), mark("same", 2.0 * (item % 7) as f64)],
            ..Judgement::default()
        };
        log.push(item, row);
    }
    let judge = log.judge();
    let why = |name: &str| of(&judge, name).why.clone().unwrap();
    assert_eq!(why("constant"), "it does not vary");
    assert!(why("one").contains("explain it") && why("same").contains("explain it"));
    let mut few = Rows::default();
    for item in 0..4_usize {
        few.push(
            item,
            Judgement {
                score: Some(item as f64),
                style: vec![mark("x", item as f64), mark("y", (item % 2) as f64)],
                ..Judgement::default()
            },
        );
    }
    assert!(of(&few.judge(), "x").why.as_ref().unwrap().contains("too few"));
    let mut none = Rows::default();
    none.score(0, 1.0);
    assert!(none.judge().style.is_none());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Nothing in a log makes an effect that is no number.
    #[test]
    fn effects_of_style_are_numbers_or_absent(
        data in prop::collection::vec(
            (0_usize..9, prop::sample::select(vec![-1e200, -1.0, 0.0, 1.0, 7.5, 1e200]),
             prop::sample::select(vec![None, Some(f64::NAN), Some(-1e300), Some(0.0), Some(1.0), Some(1e-300), Some(1e300)]),
             prop::sample::select(vec![None, Some(0.0), Some(3.0)]), prop::sample::select(vec![None, Some(1.0), Some(64.0)])),
            1..40,
        ),
    ) {
        let mut log = Rows::default();
        for (item, score, a, b, length_a) in data {
            let style = vec![
                StyleMark { name: "x".into(), a, b: None },
                StyleMark { name: "y".into(), a: b, b: a },
            ];
            log.push(item, Judgement { score: Some(score), length_a, style, ..Judgement::default() });
        }
        let judge = log.judge();
        for one in judge.style.iter().flat_map(|style| &style.effects) {
            prop_assert!(one.sd.is_finite());
            prop_assert!(one.effect.is_some() != one.why.is_some());
            if let Some(effect) = &one.effect {
                prop_assert!(effect.estimate.is_finite());
                prop_assert!(effect.low.is_none_or(f64::is_finite) && effect.high.is_none_or(f64::is_finite));
                prop_assert!(effect.details.values().all(|value| value.is_finite()));
            }
        }
    }
}

#[test]
fn logs_put_together_keep_their_marks() {
    let drawn = Drawn { per_doubling: 0.3, per_heading: 0.2, n_groups: 20, of_group: 2 };
    let (whole, _) = drawn.rows(1);
    let mut first = Rows::default();
    first.push(999, Judgement { score: Some(1.0), style: vec![mark("bold", 1.0)], ..Judgement::default() });
    let mut second = drawn.rows(1).0;
    first.0.append(&mut second.0);
    let at = |log: &Rows, name: &str, row_idx: usize| {
        let id = log.0.style.names.id(name).unwrap() as usize;
        assize_calibration::log::number(&log.0.style.columns[id][0], row_idx)
    };
    for row_idx in [0, 7, 39] {
        assert_eq!(at(&first, "headings", row_idx + 1), at(&whole, "headings", row_idx));
        assert_eq!(at(&first, "bold", row_idx + 1), at(&whole, "bold", row_idx));
    }
    assert_eq!(at(&first, "headings", 0), None);
    assert!(second.0.style.columns.is_empty());
}
