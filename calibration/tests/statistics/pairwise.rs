use assize_calibration::judgement::Judgement;
use assize_calibration::pairwise::{Rated, pairwise_accuracy, pairwise_accuracy_at};
use proptest::prelude::*;

use crate::golden::{assert_close, golden, numbers};
use crate::small_logs::{Rows, close};

/// Scores of items in turn with their labels.
fn log(scores: impl IntoIterator<Item = (usize, f64, f64)>) -> Rows {
    let mut rows = Rows::default();
    for (item, score, label) in scores {
        rows.push(
            item,
            Judgement { score: Some(score), label: Some(label.to_string().into()), ..Judgement::default() },
        );
    }
    rows
}

/// Every score its own item and cluster, all of weight 1.
fn plain(pairs: &[(f64, f64)]) -> Vec<Rated> {
    (0..).zip(pairs).map(|(id, &(score, label))| Rated { score, label, weight: 1.0, item: id, cluster: id }).collect()
}

#[test]
fn agrees_with_every_difference_tried() {
    for set in golden("pairwise")["sets"].as_array().unwrap() {
        let [scores, labels, weights, items, clusters] =
            ["scores", "labels", "weights", "items", "clusters"].map(|key| numbers(&set[key]));
        let ratings: Vec<Rated> = (0..scores.len())
            .map(|i| Rated {
                score: scores[i],
                label: labels[i],
                weight: weights[i],
                item: items[i] as u32,
                cluster: clusters[i] as u32,
            })
            .collect();
        let value = |key: &str| set[key].as_f64().unwrap();
        let found = pairwise_accuracy(&ratings).unwrap();
        assert_close(found.accuracy, value("accuracy"), 1e-9, "accuracy");
        // The script rounds what it tries.
        assert!((found.epsilon - value("epsilon")).abs() < 1e-9, "{} {}", found.epsilon, value("epsilon"));
        assert_close(found.at_zero, value("at_zero"), 1e-9, "at zero");
        assert_close(found.all_tied, value("all_tied"), 1e-9, "all tied");
        assert_eq!(found.n_pairs, set["n_pairs"].as_u64().unwrap());
        assert_close(found.standard_error.unwrap(), value("standard_error"), 1e-9, "standard error");
        assert_close(found.cross_fitted.unwrap(), value("cross_fitted"), 1e-9, "cross-fitted");
        assert_close(pairwise_accuracy_at(&ratings, found.epsilon).unwrap(), found.accuracy, 1e-12, "at epsilon");
    }
}

#[test]
fn no_pair_or_no_difference_in_label_is_undefined() {
    assert_eq!(pairwise_accuracy(&[]), None);
    assert_eq!(pairwise_accuracy(&plain(&[(1.0, 1.0)])), None);
    assert_eq!(pairwise_accuracy(&plain(&[(1.0, 1.0), (2.0, 1.0)])), None);
    assert_eq!(pairwise_accuracy(&plain(&[(f64::NAN, 1.0), (2.0, 2.0)])), None);
    assert_eq!(pairwise_accuracy(&plain(&[(1.0, f64::INFINITY), (2.0, 2.0)])), None);
    assert_eq!(pairwise_accuracy(&plain(&[(f64::MAX, 1.0), (f64::MIN, 2.0)])), None);
    let mut one_item = plain(&[(1.0, 1.0), (2.0, 2.0)]);
    one_item[1].item = 0;
    assert_eq!(pairwise_accuracy(&one_item), None);
    assert_eq!(pairwise_accuracy_at(&one_item, 0.0), None);
    let mut negative = plain(&[(1.0, 1.0), (2.0, 2.0)]);
    negative[0].weight = -1.0;
    assert_eq!(pairwise_accuracy(&negative), None);
    let two = plain(&[(1.0, 1.0), (2.0, 2.0)]);
    assert_eq!(pairwise_accuracy_at(&two, f64::NAN), None);
    assert_eq!(pairwise_accuracy_at(&two, -1.0), None);
    let found = pairwise_accuracy(&two).unwrap();
    assert_eq!((found.accuracy, found.epsilon, found.standard_error, found.cross_fitted), (1.0, 0.0, None, None));
}

/// Scores that never vary call all pairs tied, which is right of the pairs that are.
#[test]
fn constant_scores_are_right_of_ties_alone() {
    let found = pairwise_accuracy(&plain(&[(0.1, 1.0), (0.1, 1.0), (0.1, 2.0)])).unwrap();
    assert!((found.accuracy - 1.0 / 3.0).abs() < 1e-12);
    assert_eq!((found.accuracy, found.epsilon), (found.all_tied, 0.0));
}

/// 0.3 − 0.2 and 0.2 − 0.1 are not the same number, but the same difference.
#[test]
fn differences_that_rounding_sets_apart_are_equal() {
    let ratings = plain(&[(0.1, 1.0), (0.2, 1.0), (0.3, 1.0), (0.9, 2.0)]);
    assert_eq!(pairwise_accuracy_at(&ratings, 0.2 - 0.1), pairwise_accuracy_at(&ratings, 0.3 - 0.2));
    let found = pairwise_accuracy(&ratings).unwrap();
    assert_eq!(found.accuracy, 1.0);
    assert!((found.epsilon - 0.2).abs() < 1e-9);
}

#[test]
fn an_audit_tells_the_tolerance_and_what_it_is_worth() {
    let judge = log([(1, 6.1, 3.0), (2, 6.3, 3.0), (3, 7.5, 4.0), (4, 7.0, 1.0)]).judge();
    let measure = &judge.measures["pairwise_accuracy"];
    close(measure.estimate, 2.0 / 3.0, 1e-12);
    close(measure.details["epsilon"], 0.2, 1e-9);
    close(measure.details["accuracy_at_zero"], 0.5, 1e-12);
    close(measure.details["accuracy_of_all_tied"], 1.0 / 6.0, 1e-12);
    assert!(measure.method.contains("at most 0.2 apart"), "{}", measure.method);
    assert!(measure.low.unwrap() < measure.estimate && measure.estimate < measure.high.unwrap());
}

/// Two draws of one item are no pair, and share its weight.
#[test]
fn repeats_add_no_pairs_of_their_own() {
    let once = log([(1, 1.0, 1.0), (2, 3.0, 2.0), (3, 2.0, 3.0)]).judge();
    let thrice = log((0..9).map(|i| [(1, 1.0, 1.0), (2, 3.0, 2.0), (3, 2.0, 3.0)][i % 3])).judge();
    let [once, thrice] = [once, thrice].map(|judge| judge.measures["pairwise_accuracy"].clone());
    close(thrice.estimate, once.estimate, 1e-12);
    assert_eq!((once.n_clusters, thrice.n_clusters), (3, 3));
    close(thrice.low.unwrap(), once.low.unwrap(), 1e-9);
    close(thrice.high.unwrap(), once.high.unwrap(), 1e-9);
}

#[test]
fn many_scores_are_thinned_and_that_is_said() {
    let judge = log((0..2_000_u32).map(|i| (i as usize, f64::from(i % 17), f64::from(i % 5)))).judge();
    let measure = &judge.measures["pairwise_accuracy"];
    assert_eq!((measure.n, measure.n_items, measure.n_clusters), (600, 600, 600));
    assert!(measure.cautions.iter().any(|caution| caution.contains("600 scores")), "{:?}", measure.cautions);
}

#[test]
fn labels_that_do_not_vary_leave_it_unmeasured() {
    let judge = log([(1, 6.1, 3.0), (2, 6.3, 3.0)]).judge();
    let unmeasured = judge.unmeasured.iter().find(|unmeasured| unmeasured.id == "pairwise_accuracy").unwrap();
    assert_eq!(unmeasured.reason, "labels do not vary");
}

proptest! {
    #[test]
    fn the_best_epsilon_is_no_worse_than_any(
        pairs in prop::collection::vec(((0..7_i8).prop_map(f64::from), (0..4_i8).prop_map(f64::from)), 2..30), epsilon in 0.0..8.0_f64,
    ) {
        let ratings = plain(&pairs);
        if let Some(found) = pairwise_accuracy(&ratings) {
            let at = |epsilon: f64| pairwise_accuracy_at(&ratings, epsilon).unwrap();
            prop_assert!((0.0..=1.0).contains(&found.accuracy));
            prop_assert!(found.accuracy + 1e-12 >= at(epsilon));
            prop_assert!((found.accuracy - at(found.epsilon)).abs() < 1e-12);
            prop_assert!((found.at_zero - at(0.0)).abs() < 1e-12);
            prop_assert!((found.all_tied - at(10.0)).abs() < 1e-12);
            prop_assert!(found.cross_fitted.is_none_or(|value| (0.0..=1.0).contains(&value)));
            prop_assert!(found.standard_error.is_none_or(f64::is_finite));
        }
    }

    #[test]
    fn neither_the_order_of_items_nor_the_unit_of_scores_matters(
        pairs in prop::collection::vec(((0..7_i8).prop_map(f64::from), (0..4_i8).prop_map(f64::from)), 2..30),
    ) {
        let ratings = plain(&pairs);
        let backwards: Vec<Rated> = ratings.iter().rev().copied().collect();
        let scaled: Vec<Rated> =
            ratings.iter().map(|rated| Rated { score: 4.0 * rated.score + 3.0, label: rated.label.exp(), ..*rated }).collect();
        match (pairwise_accuracy(&ratings), pairwise_accuracy(&backwards), pairwise_accuracy(&scaled)) {
            (Some(a), Some(b), Some(c)) => {
                for (other, factor) in [(b, 1.0), (c, 4.0)] {
                    prop_assert!((a.accuracy - other.accuracy).abs() < 1e-12);
                    prop_assert!((factor * a.epsilon - other.epsilon).abs() < 1e-9);
                    prop_assert_eq!(a.cross_fitted.is_some(), other.cross_fitted.is_some());
                    prop_assert_eq!(a.standard_error.is_some(), other.standard_error.is_some());
                    if let (Some(a), Some(b)) = (a.standard_error, other.standard_error) {
                        prop_assert!((a - b).abs() < 1e-9);
                    }
                }
            }
            (a, b, c) => prop_assert!(a.is_none() && b.is_none() && c.is_none()),
        }
    }

    /// With epsilon 0 only the order of scores is seen.
    #[test]
    fn at_zero_rising_maps_change_nothing(
        pairs in prop::collection::vec(((-3..4_i8).prop_map(f64::from), (0..4_i8).prop_map(f64::from)), 2..30),
    ) {
        let ratings = plain(&pairs);
        let curved: Vec<Rated> =
            ratings.iter().map(|rated| Rated { score: rated.score.exp() + rated.score.powi(3), ..*rated }).collect();
        prop_assert_eq!(pairwise_accuracy_at(&ratings, 0.0), pairwise_accuracy_at(&curved, 0.0));
    }
}
