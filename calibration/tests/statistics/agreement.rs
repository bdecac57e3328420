use std::collections::BTreeMap;

use assize_calibration::agreement::alpha::{
    IntervalTally, Metric, add_coincidences, add_coincidences_between, alpha_from_coincidences, coincidences,
    krippendorff_alpha,
};
use assize_calibration::agreement::kappa::{
    Chance, Weighting, brennan_prediger, cell_influence, chance_corrected, cohen_kappa, cohen_kappa_standard_error,
    gwet_ac1, gwet_ac2, scott_pi,
};
use assize_calibration::agreement::multi::{self, conger_kappa, fleiss_kappa, gwet_ac, percent_agreement};
use proptest::prelude::*;
use serde_json::Value;

use crate::golden::{assert_close, golden, numbers, rows};

const METRICS: [(&str, Metric); 4] = [
    ("nominal", Metric::Nominal),
    ("ordinal", Metric::Ordinal),
    ("interval", Metric::Interval),
    ("ratio", Metric::Ratio),
];

fn weighting(name: &str) -> Weighting {
    match name {
        "unweighted" => Weighting::Unweighted,
        "linear" => Weighting::Linear,
        _ => Weighting::Quadratic,
    }
}

/// Returns counts, units × values, of a golden matrix of ratings.
fn counts_of(set: &Value) -> (Vec<u32>, Vec<f64>) {
    let values = numbers(&set["values"]);
    let mut counts = Vec::new();
    for unit in rows(&set["ratings"]) {
        counts.extend(values.iter().map(|value| unit.iter().filter(|rating| *rating == value).count() as u32));
    }
    (counts, values)
}

#[test]
fn two_raters_agree_with_the_packages() {
    for set in golden("agreement")["two_raters"].as_array().unwrap() {
        let table: Vec<f64> = rows(&set["table"]).concat();
        let q = rows(&set["table"]).len();
        for name in ["unweighted", "linear", "quadratic"] {
            let (expected, w) = (&set[name], weighting(name));
            let close = |actual: f64, key: &str| {
                assert_close(actual, expected[key].as_f64().unwrap(), 1e-9, &format!("{key} {name} {table:?}"));
            };
            let cohen = cohen_kappa(&table, q, &w).unwrap().kappa;
            close(cohen, "cohen");
            close(cohen, "statsmodels");
            let error = cohen_kappa_standard_error(&table, q, &w).unwrap();
            close(error.asymptotic, "ase");
            close(error.under_independence, "null");
            close(gwet_ac2(&table, q, &w).unwrap().kappa, "gwet");
            close(scott_pi(&table, q, &w).unwrap().kappa, "scott");
            close(brennan_prediger(&table, q, &w).unwrap().kappa, "brennan_prediger");
            let total: f64 = table.iter().sum();
            let delta = |chance| {
                let influence = cell_influence(&table, q, chance, &w).unwrap();
                (table.iter().zip(&influence).map(|(cell, value)| cell * value * value).sum::<f64>()).sqrt() / total
            };
            close(delta(Chance::Cohen), "cohen_irr_se");
            close(delta(Chance::Scott), "scott_se");
            close(delta(Chance::Gwet), "gwet_se");
            close(delta(Chance::BrennanPrediger), "brennan_prediger_se");
        }
    }
}

#[test]
fn kappa_of_textbooks() {
    let table = [20.0, 5.0, 10.0, 15.0];
    let kappa = cohen_kappa(&table, 2, &Weighting::Unweighted).unwrap();
    assert_close(kappa.kappa, 0.4, 1e-12, "kappa");
    let error = cohen_kappa_standard_error(&table, 2, &Weighting::Unweighted).unwrap();
    assert!((error.asymptotic - 0.1270).abs() < 5e-5);
    assert!((error.under_independence - 0.1386).abs() < 5e-5);
    // SAS FREQ's printout, four digits.
    let table = [0.0, 4.0, 1.0, 0.0, 8.0, 0.0, 0.0, 1.0, 5.0];
    for (w, kappa, ase) in [(Weighting::Unweighted, 0.4842, 0.1380), (Weighting::Linear, 0.4701, 0.1457)] {
        assert!((cohen_kappa(&table, 3, &w).unwrap().kappa - kappa).abs() < 5e-5);
        assert!((cohen_kappa_standard_error(&table, 3, &w).unwrap().asymptotic - ase).abs() < 5e-5);
    }
}

#[test]
fn kappa_is_undefined_without_chance_to_disagree() {
    let unweighted = Weighting::Unweighted;
    assert_eq!(cohen_kappa(&[], 0, &unweighted), None);
    assert_eq!(cohen_kappa(&[3.0], 1, &unweighted), None);
    assert_eq!(cohen_kappa(&[0.0; 4], 2, &unweighted), None);
    assert_eq!(cohen_kappa(&[7.0, 0.0, 0.0, 0.0], 2, &unweighted), None);
    assert_eq!(cohen_kappa(&[1.0, 2.0, 3.0], 2, &unweighted), None);
    assert_eq!(cohen_kappa(&[1.0, f64::NAN, 1.0, 1.0], 2, &unweighted), None);
    assert_eq!(cohen_kappa(&[1.0, -1.0, 1.0, 1.0], 2, &unweighted), None);
    assert_eq!(cohen_kappa(&[1.0; 4], 2, &Weighting::LinearByValue(vec![1.0, 1.0])), None);
    assert_eq!(cohen_kappa(&[1.0; 4], 2, &Weighting::LinearByValue(vec![1.0])), None);
    assert_eq!(cohen_kappa_standard_error(&[7.0, 0.0, 0.0, 0.0], 2, &unweighted), None);
    // One category used of two: chance-free coefficients still say that all agree.
    assert_close(gwet_ac1(&[7.0, 0.0, 0.0, 0.0], 2).unwrap().kappa, 1.0, 1e-12, "AC1");
    // Constant but different raters agree no better than chance.
    assert_close(cohen_kappa(&[0.0, 5.0, 0.0, 0.0], 2, &unweighted).unwrap().kappa, 0.0, 1e-12, "kappa");
}

#[test]
fn weights_by_value_are_those_by_position_when_evenly_spaced() {
    let table: Vec<f64> = (1..=16).map(f64::from).collect();
    let values = vec![2.0, 4.0, 6.0, 8.0];
    for (by_value, by_position) in [
        (Weighting::LinearByValue(values.clone()), Weighting::Linear),
        (Weighting::QuadraticByValue(values.clone()), Weighting::Quadratic),
    ] {
        let (a, b) = (cohen_kappa(&table, 4, &by_value).unwrap(), cohen_kappa(&table, 4, &by_position).unwrap());
        assert_close(a.kappa, b.kappa, 1e-12, "kappa");
    }
}

#[test]
fn alpha_agrees_with_the_package() {
    for set in golden("agreement")["many_raters"].as_array().unwrap() {
        let (counts, values) = counts_of(set);
        for (name, metric) in METRICS {
            let actual = krippendorff_alpha(&counts, &values, metric).unwrap();
            assert_close(actual, set["alpha"][name].as_f64().unwrap(), 1e-9, name);
        }
    }
    let fleiss = &golden("agreement")["fleiss_14"];
    let counts: Vec<u32> = rows(&fleiss["counts"]).concat().into_iter().map(|count| count as u32).collect();
    let actual = krippendorff_alpha(&counts, &[1.0, 2.0, 3.0, 4.0, 5.0], Metric::Nominal).unwrap();
    assert_close(actual, fleiss["alpha_nominal"].as_f64().unwrap(), 1e-9, "fleiss");
}

#[test]
fn many_raters_agree_with_irr_cac() {
    for set in golden("agreement")["many_raters"].as_array().unwrap() {
        let (counts, values) = counts_of(set);
        let q = values.len();
        let ratings: Vec<Option<u32>> = rows(&set["ratings"])
            .concat()
            .iter()
            .map(|rating| values.iter().position(|value| value == rating).map(|category| category as u32))
            .collect();
        let n_raters = rows(&set["ratings"])[0].len();
        for name in ["unweighted", "linear", "quadratic"] {
            // irrCAC takes weights by value, which here may leave gaps.
            let w = match name {
                "linear" => Weighting::LinearByValue(values.clone()),
                "quadratic" => Weighting::QuadraticByValue(values.clone()),
                _ => Weighting::Unweighted,
            };
            for (key, actual) in [
                ("fleiss", fleiss_kappa(&counts, q, &w)),
                ("gwet", gwet_ac(&counts, q, &w)),
                ("bp", multi::brennan_prediger(&counts, q, &w)),
                ("conger", conger_kappa(&ratings, n_raters, q, &w)),
            ] {
                let (actual, expected) = (actual.unwrap(), &set[name][key]);
                let value = |key: &str| expected[key].as_f64().unwrap();
                assert_close(actual.agreement.kappa, value("value"), 1e-9, &format!("{key} {name}"));
                assert_close(actual.agreement.observed, value("pa"), 1e-9, &format!("{key} {name}"));
                assert_close(actual.agreement.expected, value("pe"), 1e-9, &format!("{key} {name}"));
                assert_close(actual.standard_error().unwrap(), value("se"), 1e-9, &format!("{key} {name}"));
                assert_close(percent_agreement(&counts, q, &w).unwrap().estimate, value("pa"), 1e-9, name);
            }
        }
    }
    let fleiss = &golden("agreement")["fleiss_14"];
    let counts: Vec<u32> = rows(&fleiss["counts"]).concat().into_iter().map(|count| count as u32).collect();
    let unweighted = Weighting::Unweighted;
    let kappa = fleiss_kappa(&counts, 5, &unweighted).unwrap().agreement.kappa;
    assert_close(kappa, fleiss["fleiss_kappa"].as_f64().unwrap(), 1e-9, "fleiss");
    let randolph = multi::brennan_prediger(&counts, 5, &unweighted).unwrap().agreement.kappa;
    assert_close(randolph, fleiss["randolph"].as_f64().unwrap(), 1e-9, "randolph");
}

#[test]
fn many_raters_are_undefined_without_pairs() {
    let unweighted = Weighting::Unweighted;
    for coefficient in [fleiss_kappa, gwet_ac, multi::brennan_prediger] {
        assert_eq!(coefficient(&[], 2, &unweighted), None);
        assert_eq!(coefficient(&[1, 0, 0, 1, 0, 0], 2, &unweighted), None);
        assert_eq!(coefficient(&[3, 1, 2], 2, &unweighted), None);
        assert_eq!(coefficient(&[3, 1], 1, &unweighted), None);
    }
    // All ratings in one category: chance agreement is 1 for Fleiss, not for Gwet.
    assert_eq!(fleiss_kappa(&[3, 0, 2, 0], 2, &unweighted), None);
    assert_eq!(gwet_ac(&[3, 0, 2, 0], 2, &unweighted).unwrap().agreement.kappa, 1.0);
    assert_eq!(gwet_ac(&[3, 1], 2, &unweighted).unwrap().standard_error(), None);
    assert_eq!(conger_kappa(&[Some(0), Some(2)], 2, 2, &unweighted), None);
    assert_eq!(conger_kappa(&[Some(0), None, Some(1), None], 2, 2, &unweighted), None);
    assert_eq!(conger_kappa(&[Some(0)], 1, 2, &unweighted), None);
    assert_eq!(percent_agreement(&[1, 0], 2, &unweighted), None);
}

#[test]
fn conger_of_two_raters_is_cohen() {
    let ratings = [0, 1, 1, 1, 2, 2, 0, 2, 1, 0, 2, 2, 0, 0].map(Some);
    let mut table = [0.0; 9];
    for pair in ratings.chunks(2) {
        table[(pair[0].unwrap() * 3 + pair[1].unwrap()) as usize] += 1.0;
    }
    for w in [Weighting::Unweighted, Weighting::Linear, Weighting::Quadratic] {
        let conger = conger_kappa(&ratings, 2, 3, &w).unwrap();
        assert_close(conger.agreement.kappa, cohen_kappa(&table, 3, &w).unwrap().kappa, 1e-12, "kappa");
    }
}

#[test]
fn alpha_of_krippendorff_2011() {
    let (counts, values) = counts_of(&golden("agreement")["many_raters"][0]);
    let expected = [0.743_421_052_631_579, 0.815_387_503_754_881_3, 0.849_107_142_857_142_8, 0.797_402_774_711_612_1];
    for ((name, metric), expected) in METRICS.into_iter().zip(expected) {
        assert_close(krippendorff_alpha(&counts, &values, metric).unwrap(), expected, 1e-12, name);
    }
}

#[test]
fn alpha_is_undefined_without_pairs_or_variance() {
    let values = [1.0, 2.0];
    assert_eq!(krippendorff_alpha(&[], &values, Metric::Nominal), None);
    assert_eq!(krippendorff_alpha(&[1, 0, 0, 1], &values, Metric::Nominal), None);
    assert_eq!(krippendorff_alpha(&[3, 0, 2, 0], &values, Metric::Interval), None);
    assert_eq!(krippendorff_alpha(&[3, 1], &[], Metric::Nominal), None);
    assert_eq!(krippendorff_alpha(&[3, 1, 2], &values, Metric::Nominal), None);
    assert_eq!(krippendorff_alpha(&[3, 1, 0, 2], &[2.0, 1.0], Metric::Ordinal), None);
    assert_eq!(krippendorff_alpha(&[3, 1, 0, 2], &[-1.0, 1.0], Metric::Ratio), None);
    assert_eq!(krippendorff_alpha(&[3, 1, 0, 2], &[f64::NAN, 1.0], Metric::Interval), None);
    assert_eq!(IntervalTally::default().alpha(), None);
    assert_eq!(IntervalTally::of_unit(1, 2.0, 4.0), IntervalTally::default());
    assert_eq!(IntervalTally::of_unit(3, 6.0, 12.0).alpha(), None);
    assert_eq!(IntervalTally::of_unit_between(&[(5, 5.0, 5.0), (0, 0.0, 0.0)]), IntervalTally::default());
}

fn interval_tally(counts: &[u32], values: &[f64]) -> IntervalTally {
    counts.chunks_exact(values.len()).fold(IntervalTally::default(), |tally, unit| {
        let n = unit.iter().sum();
        let sum = unit.iter().zip(values).map(|(count, value)| f64::from(*count) * value).sum();
        let squares = unit.iter().zip(values).map(|(count, value)| f64::from(*count) * value * value).sum();
        tally.plus(IntervalTally::of_unit(n, sum, squares))
    })
}

/// Returns the between-judge coincidences by drawing every combination of one answer a judge.
fn between_by_enumeration(judge_counts: &[u32], n_values: usize) -> Vec<f64> {
    let judges: Vec<Vec<usize>> = judge_counts
        .chunks(n_values)
        .map(|counts| (0..n_values).flat_map(|v| vec![v; counts[v] as usize]).collect::<Vec<_>>())
        .filter(|answers| !answers.is_empty())
        .collect();
    let n_combinations: usize = judges.iter().map(Vec::len).product();
    let mut mean = vec![0.0; n_values * n_values];
    for combination in 0..n_combinations {
        let mut rest = combination;
        let mut unit = vec![0; n_values];
        for answers in &judges {
            unit[answers[rest % answers.len()]] += 1;
            rest /= answers.len();
        }
        let mut matrix = vec![0.0; n_values * n_values];
        add_coincidences(&unit, &mut matrix);
        for (cell, value) in mean.iter_mut().zip(matrix) {
            *cell += value / n_combinations as f64;
        }
    }
    mean
}

#[test]
fn between_judges_is_the_mean_over_one_answer_a_judge() {
    for judge_counts in [[3, 0, 1, 0, 2, 1, 1, 1, 1], [0, 0, 0, 2, 0, 1, 1, 0, 0], [2, 2, 2, 0, 0, 0, 0, 0, 0]] {
        let mut matrix = vec![0.0; 9];
        add_coincidences_between(&judge_counts, 3, &mut matrix);
        for (actual, expected) in matrix.iter().zip(between_by_enumeration(&judge_counts, 3)) {
            assert!((actual - expected).abs() < 1e-12, "{judge_counts:?}");
        }
    }
}

fn tables() -> impl Strategy<Value = (usize, Vec<f64>)> {
    (2..5_usize).prop_flat_map(|q| (Just(q), prop::collection::vec((0..20_u32).prop_map(f64::from), q * q)))
}

fn unit_counts() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(0..4_u32, 4 * 8)
}

const VALUES: [f64; 4] = [1.0, 2.0, 4.0, 7.0];

proptest! {
    #[test]
    fn kappa_is_bounded_and_does_not_change_when_raters_swap((q, table) in tables()) {
        for w in [Weighting::Unweighted, Weighting::Linear, Weighting::Quadratic] {
            for chance in [Chance::Cohen, Chance::Scott, Chance::Gwet, Chance::BrennanPrediger] {
                let Some(kappa) = chance_corrected(&table, q, chance, &w) else { continue };
                prop_assert!(kappa.kappa <= 1.0 + 1e-12);
                prop_assert!(kappa.kappa >= -1.0 / (1.0 - kappa.expected) - 1e-9);
                let turned: Vec<f64> = (0..q * q).map(|cell_idx| table[cell_idx % q * q + cell_idx / q]).collect();
                prop_assert!((chance_corrected(&turned, q, chance, &w).unwrap().kappa - kappa.kappa).abs() < 1e-9);
                let influence = cell_influence(&table, q, chance, &w).unwrap();
                let mean: f64 = table.iter().zip(&influence).map(|(cell, value)| cell * value).sum();
                prop_assert!(mean.abs() < 1e-6 * table.iter().sum::<f64>() / (1.0 - kappa.expected).powi(2));
            }
        }
    }

    #[test]
    fn kappa_does_not_change_when_categories_are_relabelled((q, table) in tables()) {
        let relabelled: Vec<f64> = (0..q * q).map(|i| table[(q - 1 - i / q) * q + (q - 1 - i % q)]).collect();
        let of = |table: &[f64]| cohen_kappa(table, q, &Weighting::Unweighted).map(|kappa| kappa.kappa);
        match (of(&table), of(&relabelled)) {
            (Some(a), Some(b)) => prop_assert!((a - b).abs() < 1e-9),
            (a, b) => prop_assert_eq!(a, b),
        }
    }

    /// Without weights categories are names, in whatever order.
    #[test]
    fn names_of_categories_are_no_information(
        (q, table, order) in tables()
            .prop_flat_map(|(q, table)| (Just(q), Just(table), Just((0..q).collect::<Vec<usize>>()).prop_shuffle())),
    ) {
        let relabelled: Vec<f64> = (0..q * q).map(|i| table[order[i / q] * q + order[i % q]]).collect();
        for chance in [Chance::Cohen, Chance::Scott, Chance::Gwet, Chance::BrennanPrediger] {
            let of = |table: &[f64]| chance_corrected(table, q, chance, &Weighting::Unweighted).map(|found| found.kappa);
            match (of(&table), of(&relabelled)) {
                (Some(a), Some(b)) => prop_assert!((a - b).abs() < 1e-9),
                (a, b) => prop_assert_eq!(a, b),
            }
        }
    }

    #[test]
    fn many_raters_give_categories_any_name(
        counts in unit_counts(), order in Just(vec![0_usize, 1, 2, 3]).prop_shuffle(),
    ) {
        let relabelled: Vec<u32> =
            counts.chunks(4).flat_map(|unit| order.iter().map(|&category| unit[category])).collect();
        for coefficient in [fleiss_kappa, gwet_ac, multi::brennan_prediger] {
            let of = |counts: &[u32]| coefficient(counts, 4, &Weighting::Unweighted).map(|found| found.agreement.kappa);
            match (of(&counts), of(&relabelled)) {
                (Some(a), Some(b)) => prop_assert!((a - b).abs() < 1e-9),
                (a, b) => prop_assert_eq!(a, b),
            }
        }
    }

    #[test]
    fn perfect_agreement_is_one(diagonal in prop::collection::vec(1..9_u32, 2..6)) {
        let q = diagonal.len();
        let mut table = vec![0.0; q * q];
        for (category_idx, &count) in diagonal.iter().enumerate() {
            table[category_idx * q + category_idx] = f64::from(count);
        }
        for w in [Weighting::Unweighted, Weighting::Linear, Weighting::Quadratic] {
            for chance in [Chance::Cohen, Chance::Scott, Chance::Gwet, Chance::BrennanPrediger] {
                prop_assert!((chance_corrected(&table, q, chance, &w).unwrap().kappa - 1.0).abs() < 1e-12);
            }
        }
    }

    /// Fleiss & Cohen 1973: quadratic kappa is the concordance 2 s₁₂/(s₁² + s₂² + (m₁ − m₂)²) with 1/n moments.
    #[test]
    fn quadratic_kappa_equals_concordance((q, table) in tables()) {
        let n: f64 = table.iter().sum();
        let mean = |f: &dyn Fn(f64, f64) -> f64| {
            table.iter().enumerate().map(|(i, cell)| cell * f((i / q) as f64, (i % q) as f64)).sum::<f64>() / n
        };
        if let Some(kappa) = cohen_kappa(&table, q, &Weighting::Quadratic) {
            let (m1, m2) = (mean(&|x, _| x), mean(&|_, y| y));
            let (v1, v2) = (mean(&|x, _| (x - m1).powi(2)), mean(&|_, y| (y - m2).powi(2)));
            let covariance = mean(&|x, y| (x - m1) * (y - m2));
            let concordance = 2.0 * covariance / (v1 + v2 + (m1 - m2).powi(2));
            prop_assert!((kappa.kappa - concordance).abs() < 1e-9);
        }
    }

    #[test]
    fn influence_is_the_derivative((q, table) in tables(), cell in 0..25_usize) {
        let cell = cell % (q * q);
        let total: f64 = table.iter().sum();
        for w in [Weighting::Unweighted, Weighting::Quadratic] {
            for chance in [Chance::Cohen, Chance::Scott, Chance::Gwet, Chance::BrennanPrediger] {
                let Some(before) = chance_corrected(&table, q, chance, &w) else { continue };
                if before.expected > 0.9 { continue }
                let step = 1e-6 * total;
                let mut more = table.clone();
                more[cell] += step;
                let after = chance_corrected(&more, q, chance, &w).unwrap();
                let slope = (after.kappa - before.kappa) / 1e-6;
                let influence = cell_influence(&table, q, chance, &w).unwrap()[cell];
                prop_assert!((slope - influence).abs() < 1e-3 * (1.0 + influence.abs()), "{slope} {influence}");
            }
        }
    }

    #[test]
    fn many_raters_are_bounded_and_units_may_be_reordered(counts in unit_counts()) {
        let backwards: Vec<u32> = counts.chunks(4).rev().flatten().copied().collect();
        for coefficient in [fleiss_kappa, gwet_ac, multi::brennan_prediger] {
            for w in [Weighting::Unweighted, Weighting::Quadratic] {
                let (a, b) = (coefficient(&counts, 4, &w), coefficient(&backwards, 4, &w));
                prop_assert_eq!(a.is_some(), b.is_some());
                if let (Some(a), Some(b)) = (a, b) {
                    prop_assert!(a.agreement.kappa <= 1.0 + 1e-12);
                    prop_assert!((a.agreement.kappa - b.agreement.kappa).abs() < 1e-9);
                    prop_assert!(a.influence.iter().sum::<f64>().abs() < 1e-9);
                }
            }
        }
    }

    #[test]
    fn alpha_adds_over_clusters(counts in unit_counts()) {
        let whole = coincidences(&counts, 4);
        let mut rest = whole.clone();
        let part = coincidences(&counts[..12], 4);
        for (cell, value) in rest.iter_mut().zip(&part) {
            *cell -= value;
        }
        for (_, metric) in METRICS {
            let left = alpha_from_coincidences(&rest, &VALUES, metric);
            let expected = krippendorff_alpha(&counts[12..], &VALUES, metric);
            prop_assert_eq!(left.is_some(), expected.is_some());
            if let (Some(left), Some(expected)) = (left, expected) {
                prop_assert!((left - expected).abs() < 1e-9);
                prop_assert!(left <= 1.0 + 1e-12);
            }
        }
    }

    #[test]
    fn interval_alpha_from_sums_is_alpha_from_counts(counts in unit_counts()) {
        let by_sums = interval_tally(&counts, &VALUES).alpha();
        let by_counts = krippendorff_alpha(&counts, &VALUES, Metric::Interval);
        prop_assert_eq!(by_sums.is_some(), by_counts.is_some());
        if let (Some(a), Some(b)) = (by_sums, by_counts) {
            prop_assert!((a - b).abs() < 1e-9);
        }
    }

    #[test]
    fn between_judges_interval_from_sums_is_that_from_counts(units in prop::collection::vec(prop::collection::vec(0..3_u32, 12), 2..8)) {
        let mut matrix = vec![0.0; 16];
        let mut tally = IntervalTally::default();
        for unit in &units {
            add_coincidences_between(unit, 4, &mut matrix);
            let judges: Vec<(u32, f64, f64)> = unit.chunks_exact(4).map(|counts| {
                let sum = |power: i32| counts.iter().zip(VALUES).map(|(c, v)| f64::from(*c) * v.powi(power)).sum::<f64>();
                (counts.iter().sum(), sum(1), sum(2))
            }).collect();
            tally = tally.plus(IntervalTally::of_unit_between(&judges));
        }
        let by_counts = alpha_from_coincidences(&matrix, &VALUES, Metric::Interval);
        prop_assert_eq!(tally.alpha().is_some(), by_counts.is_some());
        if let (Some(a), Some(b)) = (tally.alpha(), by_counts) {
            prop_assert!((a - b).abs() < 1e-9);
        }
    }

    #[test]
    fn alpha_does_not_depend_on_the_order_of_units_or_on_nominal_names(counts in unit_counts()) {
        let backwards: Vec<u32> = counts.chunks(4).rev().flatten().copied().collect();
        for (_, metric) in METRICS {
            let (a, b) = (krippendorff_alpha(&counts, &VALUES, metric), krippendorff_alpha(&backwards, &VALUES, metric));
            prop_assert_eq!(a.is_some(), b.is_some());
            prop_assert!((a.unwrap_or(0.0) - b.unwrap_or(0.0)).abs() < 1e-9);
        }
        let renamed: Vec<u32> = counts.chunks(4).flat_map(|unit| unit.iter().rev()).copied().collect();
        let nominal = |counts: &[u32]| krippendorff_alpha(counts, &VALUES, Metric::Nominal).unwrap_or(0.0);
        prop_assert!((nominal(&counts) - nominal(&renamed)).abs() < 1e-9);
    }
}

#[test]
fn alpha_of_perfect_agreement_is_one() {
    let mut by_name = BTreeMap::new();
    for (name, metric) in METRICS {
        by_name.insert(name, krippendorff_alpha(&[3, 0, 0, 2, 4, 0], &[1.0, 5.0], metric).unwrap());
    }
    assert!(by_name.values().all(|alpha| (alpha - 1.0).abs() < 1e-12), "{by_name:?}");
}
