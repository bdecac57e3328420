//! Recordings of crowds and of repeated choices, taken together.

use std::collections::BTreeMap;
use std::path::Path;

use assize_calibration::audit::result::{Panel, PanelMethod};
use assize_calibration::log::Log;
use assize_calibration::raters::dawid_skene::{DawidSkeneConfig, dawid_skene};
use assize_calibration::raters::{EmConfig, Rating, Ratings, majority};

use super::ledger::Ledger;
use super::{audited, config, log_of, whole};

fn method<'a>(panel: &'a Panel, name: &str) -> &'a PanelMethod {
    panel.methods.iter().find(|method| method.method == name).unwrap()
}

/// Compares what a crowd is worth together: its majority, an even one too, and Dawid and Skene's model.
pub(super) fn crowd_together(ledger: &mut Ledger, folder: &Path, set: &str) {
    let path = format!("/sets/{set}");
    let columns = format!(
        "item=question, rater=worker, category=answer, labels={{file=crowd_{set}_truth.csv, item=question, label=truth}}"
    );
    let log = log_of(&folder.join(format!("crowd_{set}_answer.csv")), &columns);
    let audit = audited(&log, &config());
    let panel = &audit.panels[0];
    assert_eq!((panel.n_items, panel.n_ratings), (panel.n_labelled, log.len() as u64));
    let accuracy = |name: &str| method(panel, name).accuracy.as_ref().unwrap().estimate;
    ledger.number(&format!("{path}/majority_all_expected_accuracy"), accuracy("majority"));
    ledger.number(&format!("{path}/single_answer_accuracy/rate"), accuracy("one_rater"));
    // As in an audit, .01 is added to each of a rater's counts.
    let (ratings, labels) = ratings_of(&log);
    let em = EmConfig { max_iterations: 200, tolerance: 1e-8 };
    let found = dawid_skene(&ratings, DawidSkeneConfig { em, pseudo_count: 0.01 });
    let log_likelihood = found.log_likelihood.last().copied().unwrap();
    let expected = ledger.get(&format!("{path}/dawid_skene/loglik"));
    assert!((log_likelihood - expected).abs() < 0.001, "{set}: {log_likelihood}, not {expected}");
    let said = found.posterior.labels();
    let count = |keep: &dyn Fn(&str, &str) -> bool| {
        let named = said.iter().zip(&labels).filter_map(|(said, label)| Some((log.categories.name((*said)?), label)));
        named.filter(|(said, label)| keep(said, label)).count() as u64
    };
    let right = count(&|said, label| said == label);
    ledger.rate(&format!("{path}/dawid_skene/accuracy"), right, labels.len() as u64);
    ledger.number(&format!("{path}/dawid_skene/accuracy/rate"), accuracy("dawid_skene"));
    if set == "duck" {
        let [tp, fp, tn, fn_] =
            [("1", "1"), ("1", "0"), ("0", "0"), ("0", "1")].map(|(own, true_)| count(&|s, l| s == own && l == true_));
        ledger.accepted("/sets/duck/dawid_skene_FAR_FRR", [tp, fp, tn, fn_]);
        ledger.number("/sets/duck/dawid_skene_f1", 2.0 * tp as f64 / (2 * tp + fp + fn_) as f64);
        // Errors meet: 39 voters are worth few, and the vote lacks what independence would give.
        let worth = panel.worth.as_ref().unwrap().n_effective.as_ref().unwrap();
        assert!((worth.estimate - 6.74).abs() < 0.01, "{worth:?}");
        let vote = panel.vote.as_ref().unwrap();
        assert!(vote.majority < vote.shuffles[0], "{vote:?}");
    }
}

/// Returns the ratings of a log of raters, and each item's label.
fn ratings_of(log: &Log) -> (Ratings, Vec<String>) {
    let mut labels = vec![String::new(); log.items.len()];
    let mut list = Vec::new();
    for row in 0..log.len() {
        log.labels.name(log.label.at(row)).clone_into(&mut labels[log.item[row] as usize]);
        let assize_calibration::log::Answer::Category(category) =
            log.answer(row, assize_calibration::judgement::OutcomeKind::Category).unwrap()
        else {
            panic!("row {row} is no category")
        };
        list.push(Rating { item: log.item[row], rater: log.rater.at(row), category });
    }
    let ratings = Ratings::new(&list, log.items.len(), log.raters.len(), log.categories.len()).unwrap();
    (ratings, labels)
}

/// Compares the vote of the first k repeats, each for the response that scores strictly highest; none where a score is missing or two are
/// highest.
pub(super) fn votes_for_the_best(ledger: &mut Ledger, path: &str, log: &Log) {
    // By group and repeat: each item's score, the right item first.
    let mut scores: BTreeMap<(u32, u32), Vec<(bool, f64)>> = BTreeMap::new();
    let mut n_items: BTreeMap<u32, std::collections::BTreeSet<u32>> = BTreeMap::new();
    for row in 0..log.len() {
        let is_right = log.labels.name(log.label.at(row)) == "1";
        n_items.entry(log.group.at(row)).or_default().insert(log.item[row]);
        let score = log.score.get(row).copied().unwrap_or(f64::NAN);
        if !score.is_nan() {
            scores.entry((log.group.at(row), log.repeat.at(row))).or_default().push((is_right, score));
        }
    }
    let groups: Vec<u32> = n_items.keys().copied().collect();
    for idx in ledger.names(&format!("{path}/accuracy_vote_of_k")) {
        let path = format!("{path}/accuracy_vote_of_k/{idx}");
        let k = whole(ledger.get(&format!("{path}/k")));
        let mut list = Vec::new();
        for ((group, repeat), of_group) in &scores {
            let highest = of_group.iter().map(|(_, score)| *score).fold(f64::NEG_INFINITY, f64::max);
            let mut best = of_group.iter().enumerate().filter(|(_, (_, score))| *score >= highest);
            let (first, second) = (best.next(), best.next());
            let is_whole = of_group.len() == n_items[group].len();
            if let (Some((place, (is_right, _))), None, true) = (first, second, is_whole && u64::from(*repeat) <= k) {
                // Wrong ones are apart by their place, which is the same in every whole repeat.
                let category = if *is_right { 0 } else { 1 + u32::try_from(place).unwrap() };
                let item = u32::try_from(groups.binary_search(group).unwrap()).unwrap();
                list.push(Rating { item, rater: *repeat, category });
            }
        }
        let ratings = Ratings::new(&list, groups.len(), 9, 8).unwrap();
        let labels = majority(&ratings).labels();
        let n = labels.len() as u64;
        let right = labels.iter().filter(|label| **label == Some(0)).count() as u64;
        ledger.count(&format!("{path}/k"), k);
        ledger.count(&format!("{path}/n"), n);
        ledger.count(&format!("{path}/n_correct"), right);
        ledger.count(&format!("{path}/n_no_decision"), labels.iter().filter(|label| label.is_none()).count() as u64);
        ledger.rate(&format!("{path}/acc"), right, n);
    }
}
