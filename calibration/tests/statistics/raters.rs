use assize_calibration::raters::dawid_skene::{DawidSkene, DawidSkeneConfig, dawid_skene, one_coin};
use assize_calibration::raters::effective::{EffectiveError, Truth, effective_raters};
use assize_calibration::raters::glad::glad;
use assize_calibration::raters::mace::{MaceConfig, MaceMethod, mace};
use assize_calibration::raters::{
    EmConfig, Posterior, Rating, Ratings, RatingsError, log_odds_weight, majority, weighted_majority,
};
use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

use crate::golden::{assert_close, golden, numbers};

/// As many iterations as asked for, whatever they gain.
fn exactly(max_iterations: u32) -> EmConfig {
    EmConfig { max_iterations, tolerance: f64::NEG_INFINITY }
}

fn rating(item: u32, rater: u32, category: u32) -> Rating {
    Rating { item, rater, category }
}

fn golden_ratings(set: &Value) -> Ratings {
    let triples: Vec<u32> = numbers(&set["ratings"]).into_iter().map(|position| position as u32).collect();
    let list: Vec<Rating> = triples.chunks_exact(3).map(|t| rating(t[0], t[1], t[2])).collect();
    let count = |key: &str| set[key].as_u64().unwrap() as usize;
    Ratings::new(&list, count("n_items"), count("n_raters"), count("n_categories")).unwrap()
}

#[track_caller]
fn assert_posterior(actual: &Posterior, expected: &Value, tolerance: f64, what: &str) {
    let expected = numbers(expected);
    assert_eq!(expected.len(), actual.n_items() * actual.n_categories());
    for (item_idx, expected) in expected.chunks_exact(actual.n_categories()).enumerate() {
        for (actual, expected) in actual.of_item(item_idx).iter().zip(expected) {
            assert!((actual - expected).abs() <= tolerance, "{what}, item {item_idx}: {actual} is not {expected}");
        }
    }
}

/// A panel of raters with accuracies, each of whom rates a share of the items; the second result is the truth.
fn drawn(n_items: u32, n_categories: u32, share: f64, accuracies: &[f64], seed: u64) -> (Vec<Rating>, Vec<u32>) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let truth: Vec<u32> = (0..n_items).map(|_| rng.random_range(0..n_categories)).collect();
    let mut list = Vec::new();
    for (item, &label) in (0..).zip(&truth) {
        for (rater, accuracy) in (0..).zip(accuracies) {
            if rng.random::<f64>() < share {
                let is_right = rng.random::<f64>() < *accuracy;
                let wrong = (label + rng.random_range(1..n_categories)) % n_categories;
                list.push(rating(item, rater, if is_right { label } else { wrong }));
            }
        }
    }
    (list, truth)
}

fn share_right(posterior: &Posterior, truth: &[u32]) -> f64 {
    let right = posterior.labels().iter().zip(truth).filter(|(label, truth)| **label == Some(**truth)).count();
    right as f64 / truth.len() as f64
}

#[test]
fn votes_agree_with_crowd_kit() {
    for set in golden("raters")["sets"].as_array().unwrap() {
        let ratings = golden_ratings(set);
        assert_posterior(&majority(&ratings), &set["majority"], 1e-12, "majority");
        let weighted = weighted_majority(&ratings, &numbers(&set["weights"])).unwrap();
        assert_posterior(&weighted, &set["weighted_majority"], 1e-12, "weighted");
    }
}

#[test]
fn dawid_and_skene_agree_with_crowd_kit_after_as_many_iterations() {
    for set in golden("raters")["sets"].as_array().unwrap() {
        let (ratings, name) = (golden_ratings(set), set["name"].as_str().unwrap());
        for expected in set["dawid_skene"].as_array().unwrap() {
            let n_iterations = expected["n_iterations"].as_u64().unwrap() as u32;
            let fit = |n| dawid_skene(&ratings, DawidSkeneConfig { em: exactly(n), pseudo_count: 0.0 });
            let (found, further) = (fit(n_iterations), fit(n_iterations + 1));
            assert_posterior(&found.posterior, &expected["posterior"], 1e-8, name);
            for (actual, expected) in found.prior.iter().zip(numbers(&expected["prior"])) {
                assert!((actual - expected).abs() <= 1e-8, "{name}: prior {actual} is not {expected}");
            }
            for (rater_idx, expected) in expected["confusion"].as_array().unwrap().iter().enumerate() {
                for (actual, expected) in found.confusion(rater_idx).unwrap().iter().zip(numbers(expected)) {
                    // Rows without an item are 0/0 but for the floor, and noise.
                    assert!((actual - expected).abs() <= 1e-6, "{name}: {actual} is not {expected}");
                }
            }
            let last = *further.log_likelihood.last().unwrap();
            assert_close(last, expected["log_likelihood"].as_f64().unwrap(), 1e-9, name);
        }
    }
}

#[test]
fn one_coin_agrees_with_crowd_kit_after_as_many_iterations() {
    for set in golden("raters")["sets"].as_array().unwrap() {
        let (ratings, name) = (golden_ratings(set), set["name"].as_str().unwrap());
        for expected in set["one_coin"].as_array().unwrap() {
            let found = one_coin(&ratings, exactly(expected["n_iterations"].as_u64().unwrap() as u32));
            assert_posterior(&found.posterior, &expected["posterior"], 1e-8, name);
            for (actual, expected) in found.accuracy.iter().zip(numbers(&expected["accuracy"])) {
                assert!((actual.unwrap() - expected).abs() <= 1e-8, "{name}: {actual:?} is not {expected}");
            }
        }
    }
}

/// Tables 2 to 4 of Dawid & Skene 1979, as printed: two decimals. Observer 1 rated each patient thrice.
#[test]
fn the_anaesthetists_are_those_of_the_paper() {
    let ratings = golden_ratings(&golden("raters")["sets"][0]);
    let found = dawid_skene(&ratings, DawidSkeneConfig { em: exactly(45), pseudo_count: 0.0 });
    let printed = |actual: &[f64], expected: &[f64]| {
        for (actual, expected) in actual.iter().zip(expected) {
            assert!((actual - expected).abs() <= 0.005_001, "{actual} is not {expected}");
        }
    };
    printed(&found.prior, &[0.40, 0.42, 0.11, 0.07]);
    let observer_1 = [0.89, 0.11, 0.00, 0.00, 0.07, 0.88, 0.05, 0.00, 0.00, 0.34, 0.66, 0.00, 0.00, 0.00, 0.56, 0.44];
    printed(&found.confusion(0).unwrap(), &observer_1);
    let patients: Vec<Option<u32>> = (0..6).map(|item_idx| found.posterior.label(item_idx)).collect();
    assert_eq!(patients, [0, 3, 1, 1, 1, 1].map(Some));
    assert_close(found.expected_items(0).unwrap().iter().sum::<f64>(), 135.0, 1e-12, "three ratings a patient");
}

/// Both have converged, so that the start does not matter: by variational Bayes to 1e-5, what 400 iterations leave. EM has many ends.
#[test]
fn mace_agrees_with_crowd_kit_once_both_have_converged() {
    for set in golden("raters")["sets"].as_array().unwrap().iter().filter(|set| set["mace"].is_array()) {
        let (ratings, name) = (golden_ratings(set), set["name"].as_str().unwrap());
        for expected in set["mace"].as_array().unwrap() {
            let is_vb = expected["method"] == "vb";
            let method = if is_vb { MaceMethod::VariationalBayes } else { MaceMethod::SmoothedEm };
            let em = EmConfig { max_iterations: 2_000, tolerance: 1e-14 };
            let found = mace(&ratings, MaceConfig { em, method, n_restarts: 10, seed: 7 });
            let expected_likelihood = expected["log_likelihood"].as_f64().unwrap();
            if is_vb {
                assert_posterior(&found.posterior, &expected["posterior"], 1e-5, name);
                assert_close(found.log_likelihood, expected_likelihood, 1e-6, name);
                for (actual, expected) in found.competence.iter().zip(numbers(&expected["competence"])) {
                    assert!((actual.unwrap() - expected).abs() <= 1e-5, "{name}: {actual:?} is not {expected}");
                }
                for (actual, expected) in found.strategy.iter().zip(numbers(&expected["strategy"])) {
                    assert!((actual - expected).abs() <= 1e-5, "{name}: {actual} is not {expected}");
                }
            }
            // EM has more peaks: the best of ten restarts is no worse than that of two.
            assert!(found.log_likelihood >= expected_likelihood - 0.1, "{name}: {} is worse", found.log_likelihood);
        }
    }
}

#[test]
fn glad_agrees_with_crowd_kit_once_both_have_converged() {
    for set in golden("raters")["sets"].as_array().unwrap().iter().filter(|set| set["glad"].is_object()) {
        let (ratings, name, expected) = (golden_ratings(set), set["name"].as_str().unwrap(), &set["glad"]);
        let found = glad(&ratings, EmConfig { max_iterations: 1_000, tolerance: 1e-13 });
        let objective = *found.objective.last().unwrap();
        assert_close(objective, expected["objective"].as_f64().unwrap(), 1e-8, name);
        assert_close(found.log_likelihood, expected["log_likelihood"].as_f64().unwrap(), 1e-6, name);
        assert_posterior(&found.posterior, &expected["posterior"], 1e-5, name);
        for (actual, expected) in found.ability.iter().zip(numbers(&expected["ability"])) {
            assert!((actual.unwrap() - expected).abs() <= 1e-4, "{name}: {actual:?} is not {expected}");
        }
        for (actual, expected) in found.easiness.iter().zip(numbers(&expected["log_easiness"])) {
            assert!((actual.unwrap().ln() - expected).abs() <= 1e-3, "{name}: {actual:?} is not exp({expected})");
        }
    }
}

#[test]
fn the_effective_number_agrees_with_numpy() {
    for set in golden("raters")["sets"].as_array().unwrap().iter().filter(|set| set["effective"].is_object()) {
        let (ratings, name, expected) = (golden_ratings(set), set["name"].as_str().unwrap(), &set["effective"]);
        let truth: Vec<Option<u32>> =
            set["truth"].as_array().unwrap().iter().map(|label| label.as_u64().map(|label| label as u32)).collect();
        let found = effective_raters(&ratings, Truth::Known(&truth), None, 0.95).unwrap();
        let number = |key: &str| expected[key].as_f64().unwrap();
        assert_close(found.correlation, number("correlation"), 1e-9, name);
        assert_close(found.mean_of_pairs.unwrap(), number("mean_of_pairs"), 1e-9, name);
        assert_close(found.n_effective.unwrap(), number("n_effective"), 1e-9, name);
        let n = found.n_raters as f64;
        let log_f = |rho: f64| ((1.0 + (n - 1.0) * rho) / (1.0 - rho)).ln();
        let interval = found.correlation_interval.unwrap();
        let t = assize_calibration::distribution::t_quantile(0.975, (found.n_clusters - 1) as f64);
        // The upper end reckons with one meeting more, and is not below the jackknife's; `golden/people.py` has it.
        let error = (log_f(found.correlation) - log_f(interval.low)) / t;
        assert_close(error, number("standard_error_of_log_f"), 1e-8, name);
        assert!(log_f(interval.high) >= log_f(found.correlation) + t * error - 1e-9, "{name}");
        let worth = found.n_effective_interval.unwrap();
        assert!(worth.low <= found.n_effective.unwrap() && found.n_effective.unwrap() <= worth.high);
    }
}

/// All models find who is good and what is true, on data drawn from what they have in common.
#[test]
fn planted_accuracies_are_recovered() {
    let accuracies = [0.95, 0.9, 0.8, 0.8, 0.7, 0.6, 0.5];
    let (list, truth) = drawn(1_500, 3, 0.8, &accuracies, 5);
    let ratings = Ratings::new(&list, 1_500, 7, 3).unwrap();
    let by_majority = share_right(&majority(&ratings), &truth);
    let by_tables = dawid_skene(&ratings, DawidSkeneConfig::default());
    let by_coin = one_coin(&ratings, EmConfig::default());
    let by_mace = mace(&ratings, MaceConfig::with_seed(1));
    let by_glad = glad(&ratings, EmConfig::default());
    assert!(by_tables.converged && by_coin.converged && by_mace.converged && by_glad.converged);
    for posterior in [&by_tables.posterior, &by_coin.posterior, &by_mace.posterior, &by_glad.posterior] {
        assert!(share_right(posterior, &truth) > by_majority + 0.01);
    }
    for (rater_idx, accuracy) in accuracies.iter().enumerate() {
        assert!((by_tables.accuracy(rater_idx).unwrap() - accuracy).abs() < 0.04);
        assert!((by_coin.accuracy[rater_idx].unwrap() - accuracy).abs() < 0.04);
        // A rater that knows with probability θ is right with θ + (1 − θ)/3.
        let competence = by_mace.competence[rater_idx].unwrap();
        assert!((competence - 1.5 * (accuracy - 1.0 / 3.0)).abs() < 0.06);
    }
    assert!(by_glad.ability.windows(2).filter(|pair| pair[0] < pair[1]).count() <= 1);
    let weights: Vec<f64> = by_coin.accuracy.iter().map(|a| log_odds_weight(a.unwrap(), 3).unwrap()).collect();
    assert!(share_right(&weighted_majority(&ratings, &weights).unwrap(), &truth) > by_majority + 0.01);
}

/// GLAD's own world: abilities and difficulties.
#[test]
fn planted_difficulties_are_recovered_in_order() {
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    let (n_items, n_raters) = (300_u32, 40_u32);
    let ability: Vec<f64> = (0..n_raters).map(|i| 0.2 + 0.05 * f64::from(i)).collect();
    let log_easiness: Vec<f64> = (0..n_items).map(|i| if i % 2 == 0 { 1.5 } else { -1.0 }).collect();
    let mut list = Vec::new();
    for item in 0..n_items {
        for rater in 0..n_raters {
            let logit = ability[rater as usize] * log_easiness[item as usize].exp();
            let is_right = rng.random::<f64>() < 1.0 / (1.0 + (-logit).exp());
            list.push(rating(item, rater, u32::from(is_right)));
        }
    }
    let found = glad(&Ratings::new(&list, 300, 40, 2).unwrap(), EmConfig::default());
    let abilities: Vec<f64> = found.ability.iter().map(|ability| ability.unwrap()).collect();
    let order = assize_calibration::rank::spearman(&abilities, &ability, None).unwrap().estimate;
    assert!(order > 0.9, "{order}");
    let easiness: Vec<f64> = found.easiness.iter().map(|easiness| easiness.unwrap()).collect();
    let apart = (0..300).step_by(2).filter(|&i| easiness[i] > easiness[i + 1]).count();
    assert!(apart > 135, "{apart} of 150");
}

#[test]
fn raters_that_agree_are_taken_at_their_word() {
    let list: Vec<Rating> = (0..12).flat_map(|item| (0..4).map(move |rater| rating(item, rater, item % 3))).collect();
    let ratings = Ratings::new(&list, 12, 4, 3).unwrap();
    let said: Vec<Option<u32>> = (0..12).map(|item| Some(item % 3)).collect();
    let tables = dawid_skene(&ratings, DawidSkeneConfig::default());
    for labels in [
        majority(&ratings).labels(),
        tables.posterior.labels(),
        one_coin(&ratings, EmConfig::default()).posterior.labels(),
        mace(&ratings, MaceConfig::with_seed(3)).posterior.labels(),
        glad(&ratings, EmConfig::default()).posterior.labels(),
    ] {
        assert_eq!(labels, said);
    }
    assert_close(tables.accuracy(2).unwrap(), 1.0, 1e-8, "accuracy");
    let none_wrong = effective_raters(&ratings, Truth::Known(&said), None, 0.95);
    assert_eq!(none_wrong.unwrap_err(), EffectiveError::NoVariation);
}

#[test]
fn lists_that_are_no_ratings_are_refused() {
    assert_eq!(Ratings::new(&[], 1, 1, 2).unwrap_err(), RatingsError::NoRatings);
    let one = [rating(0, 0, 0)];
    assert_eq!(Ratings::new(&one, 1, 1, 1).unwrap_err(), RatingsError::TooFewCategories { n_categories: 1 });
    for (list, what) in [
        ([one[0], rating(2, 0, 0)], "item"),
        ([one[0], rating(0, 2, 0)], "rater"),
        ([one[0], rating(0, 0, 2)], "category"),
    ] {
        let expected = RatingsError::OutOfRange { rating_idx: 1, what, position: 2, count: 2 };
        assert_eq!(Ratings::new(&list, 2, 2, 2).unwrap_err(), expected);
    }
    let huge = Ratings::new(&one, usize::MAX, 1, 2).unwrap_err();
    assert!(matches!(huge, RatingsError::TooLarge { .. }));
    assert_eq!(huge.to_string(), format!("{} items and 1 ratings of 2 categories are too many", usize::MAX));
}

/// One rating in all; items and raters without; a category that nobody gave.
#[test]
fn what_nobody_rated_has_no_label() {
    let ratings = Ratings::new(&[rating(1, 1, 0)], 3, 3, 3).unwrap();
    assert_eq!((ratings.n_ratings(), ratings.n_by_rater()), (1, vec![0, 1, 0]));
    let em = EmConfig::default();
    let tables = dawid_skene(&ratings, DawidSkeneConfig::default());
    let coin = one_coin(&ratings, em);
    let (by_mace, by_glad) =
        (mace(&ratings, MaceConfig { n_restarts: 0, ..MaceConfig::with_seed(1) }), glad(&ratings, em));
    for posterior in [&majority(&ratings), &tables.posterior, &coin.posterior, &by_mace.posterior, &by_glad.posterior] {
        assert_eq!(posterior.labels(), [None, Some(0), None]);
        for item_idx in 0..3 {
            assert_close(posterior.of_item(item_idx).iter().sum::<f64>(), 1.0, 1e-12, "sum");
        }
    }
    assert_eq!((tables.prior[1], tables.posterior.of_item(1)[2]), (0.0, 0.0));
    assert_eq!((tables.confusion(0), tables.accuracy(2), tables.confusion(9)), (None, None, None));
    assert_eq!(tables.confusion(1).unwrap(), [1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    assert_eq!(
        (coin.accuracy[0], by_mace.competence[0], by_glad.ability[2], by_glad.easiness[0]),
        (None, None, None, None)
    );
    assert_eq!(by_mace.restarts.len(), 1);
    let alone = effective_raters(&ratings, Truth::Estimated(&tables.posterior), None, 0.95);
    assert_eq!(alone.unwrap_err(), EffectiveError::TooFewRaters);
}

#[test]
fn ties_have_no_label() {
    let list = [rating(0, 0, 0), rating(0, 1, 1), rating(1, 0, 1), rating(1, 1, 0)];
    let ratings = Ratings::new(&list, 2, 2, 2).unwrap();
    assert_eq!(majority(&ratings).labels(), [None, None]);
    assert_eq!(dawid_skene(&ratings, DawidSkeneConfig::default()).posterior.labels(), [None, None]);
    assert_eq!(glad(&ratings, EmConfig::default()).posterior.labels(), [None, None]);
    assert_eq!(weighted_majority(&ratings, &[2.0, 1.0]).unwrap().labels(), [Some(0), Some(1)]);
    assert_eq!(weighted_majority(&ratings, &[0.0, 0.0]).unwrap().of_item(0), [0.5, 0.5]);
    assert_eq!(weighted_majority(&ratings, &[1.0]), None);
    assert_eq!(weighted_majority(&ratings, &[1.0, -1.0]), None);
    assert_eq!(
        (log_odds_weight(0.5, 2), log_odds_weight(0.1, 2), log_odds_weight(1.1, 2)),
        (Some(0.0), Some(0.0), None)
    );
    assert_close(log_odds_weight(0.8, 3).unwrap(), 8.0_f64.ln(), 1e-12, "weight");
}

#[test]
fn threads_do_not_change_a_byte() {
    let (list, _) = drawn(80, 3, 0.6, &[0.9, 0.7, 0.6, 0.5], 11);
    let ratings = Ratings::new(&list, 80, 4, 3).unwrap();
    let on = |n_threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        pool.install(|| mace(&ratings, MaceConfig::with_seed(5)))
    };
    let (one, two) = (on(1), on(2));
    assert_eq!(one, two);
    assert_eq!(format!("{one:?}"), format!("{two:?}"));
    assert_ne!(mace(&ratings, MaceConfig::with_seed(6)).restarts, one.restarts);
}

/// Three good raters, and four that copy a poor one: every model believes the four.
#[test]
fn copies_mislead_every_model_and_the_effective_number_shows_them() {
    let (mut list, truth) = drawn(400, 2, 1.0, &[0.85, 0.85, 0.85, 0.65], 21);
    let copied: Vec<Rating> = list.iter().copied().filter(|rating| rating.rater == 3).collect();
    for copy in 4..7 {
        list.extend(copied.iter().map(|original| Rating { rater: copy, ..*original }));
    }
    let ratings = Ratings::new(&list, 400, 7, 2).unwrap();
    let tables = dawid_skene(&ratings, DawidSkeneConfig::default());
    assert!(tables.accuracy(3).unwrap() > 0.99 && tables.accuracy(0).unwrap() < 0.75);
    let by_mace = mace(&ratings, MaceConfig::with_seed(1));
    let by_glad = glad(&ratings, EmConfig::default());
    for posterior in [&majority(&ratings), &tables.posterior, &by_mace.posterior, &by_glad.posterior] {
        assert!(share_right(posterior, &truth) < 0.72);
    }
    let known: Vec<Option<u32>> = truth.into_iter().map(Some).collect();
    let found = effective_raters(&ratings, Truth::Known(&known), None, 0.95).unwrap();
    let unaware = effective_raters(&ratings, Truth::Estimated(&tables.posterior), None, 0.95).unwrap();
    assert!((2.0..3.0).contains(&found.n_effective.unwrap()), "{found:?}");
    assert!(unaware.n_effective.unwrap() > found.n_effective.unwrap() + 0.5, "{unaware:?}");
}

#[test]
fn copies_are_one_rater_and_opposites_cancel() {
    let truth = [Some(0); 6];
    let say = |rater: u32, said: [u32; 6]| (0..).zip(said).map(move |(item, category)| rating(item, rater, category));
    let panel = |first: [u32; 6], second: [u32; 6]| {
        let list: Vec<Rating> = say(0, first).chain(say(1, second)).collect();
        Ratings::new(&list, 6, 2, 2).unwrap()
    };
    let copies =
        effective_raters(&panel([0, 1, 0, 1, 0, 0], [0, 1, 0, 1, 0, 0]), Truth::Known(&truth), None, 0.95).unwrap();
    assert_eq!((copies.correlation, copies.n_effective, copies.n_effective_interval), (1.0, Some(1.0), None));
    let apart =
        effective_raters(&panel([0, 1, 0, 1, 0, 1], [1, 0, 1, 0, 1, 0]), Truth::Known(&truth), None, 0.95).unwrap();
    assert_eq!((apart.correlation, apart.n_effective, apart.correlation_interval), (-1.0, None, None));
    let lone =
        effective_raters(&panel([0, 1, 0, 1, 0, 0], [0, 1, 1, 1, 0, 0]), Truth::Known(&truth), Some(&[4; 6]), 0.95)
            .unwrap();
    assert_eq!((lone.n_clusters, lone.correlation_interval), (1, None));
    let ratings = panel([0; 6], [1; 6]);
    for (truth, clusters, level, expected) in [
        (&truth[..5], None, 0.95, EffectiveError::OtherItems { n_found: 5, n_items: 6 }),
        (&truth[..], Some(&[1, 2][..]), 0.95, EffectiveError::OtherClusters { n_found: 2, n_items: 6 }),
        (&truth[..], None, 1.0, EffectiveError::Level),
        (&truth[..], None, 0.95, EffectiveError::NoVariation),
        (&[None; 6][..], None, 0.95, EffectiveError::TooFewRaters),
    ] {
        assert_eq!(effective_raters(&ratings, Truth::Known(truth), clusters, level).unwrap_err(), expected);
    }
    let apart = [rating(0, 0, 0), rating(1, 1, 0), rating(2, 0, 1), rating(2, 1, 1)];
    let apart = Ratings::new(&apart, 6, 2, 2).unwrap();
    let nothing = effective_raters(&apart, Truth::Known(&truth), None, 0.95).unwrap_err();
    assert_eq!(nothing, EffectiveError::NothingShared);
}

/// Items are easy or hard, which correlates errors: ρ = Var(p)/(p̄(1 − p̄)). Each cell has 400 replicates: ±.033 at .95 is three
/// Monte-Carlo standard errors. Forty items, half of them easy, hold few errors that meet: .91, which is why no gate rests on it.
#[test]
fn intervals_of_the_effective_number_hold_the_truth() {
    for (n_items, n_raters, easy, hard, is_clustered, least) in [
        (60, 4, 0.2, 0.2, false, 366),
        (60, 4, 0.1, 0.5, false, 366),
        (150, 6, 0.05, 0.4, false, 366),
        (160, 4, 0.1, 0.5, true, 366),
        (60, 4, 0.05, 0.05, false, 366),
        (100, 3, 0.05, 0.1, false, 366),
        (200, 4, 0.05, 0.05, false, 366),
        (40, 4, 0.05, 0.3, false, 350),
    ] {
        let mean: f64 = f64::midpoint(easy, hard);
        let rho = (hard - easy) * (hard - easy) / 4.0 / (mean * (1.0 - mean));
        let worth = f64::from(n_raters) / (1.0 + (f64::from(n_raters) - 1.0) * rho);
        let base = ChaCha8Rng::seed_from_u64(65);
        let (mut held, mut below, mut above) = (0, 0, 0);
        for replicate in 0..400 {
            let mut rng = base.clone();
            rng.set_stream(replicate);
            let mut list = Vec::new();
            let mut rate = easy;
            for item in 0..n_items {
                // A cluster's two items share their difficulty.
                if !is_clustered || item % 2 == 0 {
                    rate = if rng.random::<bool>() { easy } else { hard };
                }
                list.extend((0..n_raters).map(|rater| rating(item, rater, u32::from(rng.random::<f64>() < rate))));
            }
            let ratings = Ratings::new(&list, n_items as usize, n_raters as usize, 2).unwrap();
            let truth = vec![Some(0); n_items as usize];
            let clusters: Vec<u32> = (0..n_items).map(|item| item / 2).collect();
            let clusters = is_clustered.then_some(&clusters[..]);
            let found = effective_raters(&ratings, Truth::Known(&truth), clusters, 0.95).unwrap();
            // Without an interval nothing wrong is said.
            let Some(interval) = found.n_effective_interval else {
                held += 1;
                continue;
            };
            below += u32::from(interval.high < worth);
            above += u32::from(interval.low > worth);
            held += u32::from(interval.low <= worth && worth <= interval.high);
        }
        let told =
            format!("{n_items} × {n_raters}, {easy} and {hard}: {held} held, {below} below, {above} above of 400");
        assert!(held >= least && below <= 400 - least && above <= 400 - least, "{told}");
    }
}

fn any_ratings() -> impl Strategy<Value = Vec<Rating>> {
    prop::collection::vec((0..9_u32, 0..5_u32, 0..3_u32).prop_map(|(i, r, c)| rating(i, r, c)), 1..60)
}

fn fit(list: &[Rating]) -> DawidSkene {
    let ratings = Ratings::new(list, 9, 5, 3).unwrap();
    dawid_skene(&ratings, DawidSkeneConfig { em: exactly(30), pseudo_count: 0.0 })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// What each model climbs it does not leave. Dawid and Skene's floor of 1e-10 may cost as much as that for each rating.
    #[test]
    fn no_iteration_goes_down(list in any_ratings(), seed in 0..1000_u64) {
        let ratings = Ratings::new(&list, 9, 5, 3).unwrap();
        let tables = fit(&list).log_likelihood;
        let coin = one_coin(&ratings, exactly(30)).log_likelihood;
        let by_glad = glad(&ratings, exactly(15)).objective;
        let config = MaceConfig { em: exactly(30), n_restarts: 2, ..MaceConfig::with_seed(seed) };
        let by_mace = mace(&ratings, config).objective;
        let by_em = mace(&ratings, MaceConfig { method: MaceMethod::SmoothedEm, ..config }).objective;
        for trace in [tables, coin, by_glad, by_mace, by_em] {
            for pair in trace.windows(2) {
                prop_assert!(pair[0].is_finite() && pair[1] >= pair[0] - 1e-7, "{} after {}", pair[1], pair[0]);
            }
        }
    }

    #[test]
    fn probabilities_are_probabilities(list in any_ratings(), pseudo_count in prop::sample::select(vec![0.0, 0.01, 1.0])) {
        let ratings = Ratings::new(&list, 9, 5, 3).unwrap();
        let config = DawidSkeneConfig { pseudo_count, ..DawidSkeneConfig::default() };
        let tables = dawid_skene(&ratings, config);
        let by_mace = mace(&ratings, MaceConfig { n_restarts: 2, ..MaceConfig::with_seed(1) });
        for posterior in [&tables.posterior, &by_mace.posterior, &glad(&ratings, EmConfig::default()).posterior] {
            for item_idx in 0..9 {
                let row = posterior.of_item(item_idx);
                prop_assert!(row.iter().all(|share| (0.0..=1.0).contains(share)));
                prop_assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            }
        }
        for rater_idx in 0..5 {
            for row in tables.confusion(rater_idx).iter().flat_map(|table| table.chunks_exact(3)) {
                prop_assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            }
        }
        for row in by_mace.strategy.chunks_exact(3) {
            prop_assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }

    /// Names do not matter: of categories, items, raters, or the order of the list. Few iterations, since EM can leave a saddle
    /// by way of rounding.
    #[test]
    fn names_and_order_do_not_matter(list in any_ratings()) {
        let turned: Vec<Rating> = list
            .iter()
            .rev()
            .map(|old| rating((old.item + 4) % 9, 4 - old.rater, (old.category + 1) % 3))
            .collect();
        let (old, new) = (Ratings::new(&list, 9, 5, 3).unwrap(), Ratings::new(&turned, 9, 5, 3).unwrap());
        let tables = |ratings| dawid_skene(ratings, DawidSkeneConfig { em: exactly(6), pseudo_count: 0.01 }).posterior;
        for (old, new) in [
            (majority(&old), majority(&new)),
            (tables(&old), tables(&new)),
            (one_coin(&old, exactly(6)).posterior, one_coin(&new, exactly(6)).posterior),
            (glad(&old, exactly(6)).posterior, glad(&new, exactly(6)).posterior),
        ] {
            for item_idx in 0..9 {
                for category in 0..3 {
                    let (a, b) = (old.of_item(item_idx)[category], new.of_item((item_idx + 4) % 9)[(category + 1) % 3]);
                    prop_assert!((a - b).abs() < 1e-8, "{a} became {b}");
                }
            }
        }
        let truth = vec![Some(0); 9];
        let turned = vec![Some(1); 9];
        let of = |ratings, truth: &[Option<u32>]| effective_raters(ratings, Truth::Known(truth), None, 0.95);
        match (of(&old, &truth), of(&new, &turned)) {
            (Ok(old), Ok(new)) => prop_assert!((old.correlation - new.correlation).abs() < 1e-9),
            (old, new) => prop_assert_eq!(old.unwrap_err(), new.unwrap_err()),
        }
    }
}
