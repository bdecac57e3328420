//! Recordings of verdicts, categories and repeated answers, and textbook tables.

use std::collections::BTreeMap;
use std::path::Path;

use assize_calibration::agreement::alpha::{Metric, krippendorff_alpha};
use assize_calibration::agreement::consistency::cronbach_alpha;
use assize_calibration::agreement::kappa::{Weighting, cohen_kappa, cohen_kappa_standard_error};
use assize_calibration::agreement::multi::{brennan_prediger, fleiss_kappa};
use assize_calibration::audit::AuditConfig;
use assize_calibration::audit::result::{Audit, Confusion, JudgeAudit};
use assize_calibration::distribution::normal_quantile;
use assize_calibration::icc::{IccModel, IccUnit, OneWayTally, icc, mean_squares};
use assize_calibration::proportion::wilson;

use super::ledger::Ledger;
use super::{answers, audited, config, count, data, detail, log_of, log_where, measure, only, whole};

fn cell(confusion: &Confusion, label: &str, answer: &str) -> u64 {
    let place = |name: &str| confusion.categories.iter().position(|category| category == name);
    match (place(label), place(answer)) {
        (Some(row), Some(column)) => confusion.counts[row][column],
        _ => 0,
    }
}

#[test]
fn xstest_refusals_by_two_judges() {
    let Some(folder) = data() else { return };
    let mut ledger = Ledger::read(&folder, "xstest_judges");
    let file = folder.join("xstest_verdicts.csv");
    for model in ledger.names("/models") {
        let path = format!("/models/{model}");
        let columns = format!(
            "item=answer_model+id, judges=[gpt4_label, strmatch_label], raters=[annotation_1, annotation_2], \
             label=final_label, where={{answer_model={model}}}, "
        );
        let words = "{1_full_compliance=accept, 2_full_refusal=reject, 3_partial_refusal=reject}";
        let verdicts = format!("{columns} outcome=verdict, values={words}, label_values={words}");
        let verdicts = audited(&log_of(&file, &verdicts), &config());
        let classes = audited(&log_of(&file, &format!("{columns} outcome=category")), &config());
        xstest_people(&mut ledger, &path, &classes);
        for (binary, three) in verdicts.judges.iter().zip(&classes.judges) {
            assert_eq!(binary.judge, three.judge);
            let path = format!("{path}/judges/{}", binary.judge);
            let confusion = binary.confusion.as_ref().unwrap();
            let [tp, fp, tn, fn_] =
                [("accept", "accept"), ("reject", "accept"), ("reject", "reject"), ("accept", "reject")]
                    .map(|(label, answer)| cell(confusion, label, answer));
            ledger.accepted(&path, [tp, fp, tn, fn_]);
            for (id, hits, n) in [
                ("false_accept_rate", fp, fp + tn),
                ("false_reject_rate", fn_, fn_ + tp),
                ("accuracy", tp + tn, tp + fp + tn + fn_),
            ] {
                assert_eq!((count(binary, id, "n_hits"), count(binary, id, "n_parsed")), (hits, n), "{path}: {id}");
            }
            ledger.number(&format!("{path}/kappa_binary"), measure(binary, "kappa").estimate);
            for label in ledger.names(&format!("{path}/label_counts")) {
                ledger.count(&format!("{path}/label_counts/{label}"), answers(three, &label));
            }
            let exact = count(three, "accuracy", "n_hits");
            ledger.rate(&format!("{path}/exact3_agreement"), exact, three.n_items);
            ledger.number(&format!("{path}/kappa3"), measure(three, "kappa").estimate);
        }
    }
    ledger.close();
}

fn xstest_people(ledger: &mut Ledger, path: &str, classes: &Audit) {
    let confusion = classes.judges[0].confusion.as_ref().unwrap();
    let mut n = 0;
    for (category, row) in confusion.categories.iter().zip(&confusion.counts) {
        let of_label: u64 = row.iter().sum();
        n += of_label;
        ledger.count(&format!("{path}/human_counts/{category}"), of_label);
    }
    ledger.count(&format!("{path}/n"), n);
    let people =
        &classes.agreement.iter().find(|agreement| agreement.among == "annotation_1 and annotation_2").unwrap();
    let same = &people.measures["percent_agreement"];
    let n_same = whole(same.estimate * same.n_items as f64);
    ledger.rate(&format!("{path}/annotator_agreement"), n_same, same.n_items);
    ledger.number(&format!("{path}/annotator_kappa"), people.measures["kappa"].estimate);
}

/// The crowd as one judge, asked as often as it has workers.
fn crowd(file: &Path, set: &str, outcome: &str, first: u64) -> JudgeAudit {
    let columns = format!(
        "item=question, judge='crowd', {outcome}=answer, labels={{file=crowd_{set}_truth.csv, item=question, label=truth}}"
    );
    let mut asked: BTreeMap<String, u64> = BTreeMap::new();
    let log = log_where(file, &columns, |row| {
        let n = asked.entry(row.item.to_string()).or_default();
        *n += 1;
        *n <= first
    });
    only(&log, &config())
}

#[test]
fn crowd_votes_on_ducks_and_dogs() {
    let Some(folder) = data() else { return };
    let mut ledger = Ledger::read(&folder, "crowd_votes");
    for set in ["duck", "dog"] {
        let path = format!("/sets/{set}");
        let file = folder.join(format!("crowd_{set}_answer.csv"));
        let judge = crowd(&file, set, "category", u64::MAX);
        ledger.count(&format!("{path}/n_items"), judge.n_items);
        ledger.count(&format!("{path}/n_gold"), judge.n_labelled);
        ledger.count(&format!("{path}/n_answers"), judge.n_judgements);
        for (idx, n) in judge.repeats.iter().enumerate() {
            ledger.count(&format!("{path}/answers_per_item_min_max/{idx}"), *n);
        }
        let confusion = judge.confusion.as_ref().unwrap();
        for (idx, category) in ledger.names(&format!("{path}/gold_counts")).into_iter().enumerate() {
            ledger.number(&format!("{path}/labels/{idx}"), category.parse().unwrap());
            let row = confusion.categories.iter().position(|known| *known == category).unwrap();
            let items: f64 = confusion.weights[row].iter().sum();
            ledger.count(&format!("{path}/gold_counts/{category}"), whole(items));
        }
        let hits = count(&judge, "accuracy", "n_hits");
        ledger.rate(&format!("{path}/single_answer_accuracy"), hits, judge.n_judgements);
        for name in ledger.names(&format!("{path}/by_k")) {
            let k: u32 = name.strip_prefix("k=").unwrap().parse().unwrap();
            let path = format!("{path}/by_k/{name}");
            if k == 1 {
                let one = crowd(&file, set, "category", 1);
                ledger.count(&format!("{path}/n"), one.n_items);
                ledger.number(&format!("{path}/expected_accuracy"), measure(&one, "accuracy").estimate);
                ledger.count(&format!("{path}/tied_items"), 0);
                continue;
            }
            let voting = crowd(&file, set, "category", u64::from(k)).voting.unwrap();
            let point = voting.points.iter().find(|point| point.k == k).unwrap();
            ledger.count(&format!("{path}/n"), voting.n_items);
            ledger.count(&format!("{path}/tied_items"), whole(point.tie_share * voting.n_items as f64));
            ledger.number(&format!("{path}/expected_accuracy"), point.accuracy.as_ref().unwrap().estimate);
        }
        let people = "item=question, rater=worker, category=answer";
        let people = audited(&log_of(&file, people), &config());
        let all = &people.agreement[0];
        ledger.count(&format!("{path}/n_workers"), all.n_raters);
        ledger.number(&format!("{path}/alpha_nominal"), all.measures["alpha_nominal"].estimate);
    }
    let file = folder.join("crowd_duck_answer.csv");
    let duck = crowd(&file, "duck", "verdict", u64::MAX).voting.unwrap();
    let point = duck.points.last().unwrap();
    assert_eq!(point.k, 39);
    ledger.number("/sets/duck/majority_all_expected_accuracy", point.accuracy.as_ref().unwrap().estimate);
    let (wrong, right) = (point.false_accept_rate.as_ref().unwrap(), point.false_reject_rate.as_ref().unwrap());
    let fp = whole(wrong.estimate * wrong.n_items as f64);
    let fn_ = whole(right.estimate * right.n_items as f64);
    let tp = right.n_items - fn_;
    ledger.accepted("/sets/duck/majority_all_FAR_FRR", [tp, fp, wrong.n_items - fp, fn_]);
    ledger.number("/sets/duck/majority_f1", 2.0 * tp as f64 / (2 * tp + fp + fn_) as f64);
    for set in ["duck", "dog"] {
        super::panels::crowd_together(&mut ledger, &folder, set);
    }
    for figure in ["/dawid_skene/iterations", "/dawid_skene/loglik"] {
        ledger.skip(figure, "where it stops is the package's own; the likelihood there is compared to .001");
    }
    ledger.close();
}

#[test]
fn a_hundred_answers_to_one_question() {
    let Some(folder) = data() else { return };
    let mut ledger = Ledger::read(&folder, "schroeder_100reps");
    let file = folder.join("schroeder_verdicts.csv");
    // Several different letters in one reply are an answer of their own to the reference.
    let columns = "item=question, arm=temperature, repeats_in=verdicts_in_order, outcome=category, values={*=several}";
    for key in ledger.names("/runs") {
        let temperature = key.rsplit_once("temperature: ").unwrap().1;
        for set in ["all", "bbh", "squad", "mtb"] {
            let path = format!("/runs/{key}/{set}");
            let log = log_where(&file, columns, |row| {
                // No letter is an answer of its own to the reference, too.
                if row.is_unparsed() {
                    row.category = Some("none".into());
                }
                row.arm.as_deref() == Some(temperature) && (set == "all" || row.item.starts_with(set))
            });
            let judge = only(&log, &AuditConfig { stability_repeats: 100, ..config() });
            ledger.count(&format!("{path}/n_questions"), judge.n_items);
            ledger.count(&format!("{path}/n_verdicts"), judge.n_judgements);
            let invalid = answers(&judge, "none") + answers(&judge, "several");
            ledger.rate(&format!("{path}/valid"), judge.n_judgements - invalid, judge.n_judgements);
            let modal = measure(&judge, "repeat_consistency").estimate;
            ledger.number(&format!("{path}/mean_modal_share"), modal);
            ledger.number(&format!("{path}/flip_rate"), 1.0 - modal);
            let flip = measure(&judge, "flip_rate");
            ledger.number(&format!("{path}/pairwise_agreement"), 1.0 - flip.estimate);
            ledger.number(&format!("{path}/entropy_bits"), detail(flip, "entropy_bits").unwrap());
            let any = measure(&judge, "any_flip_rate").estimate;
            ledger.count(&format!("{path}/constant_questions"), whole((1.0 - any) * judge.n_items as f64));
            for letter in ledger.names(&format!("{path}/letter_counts")) {
                ledger.count(&format!("{path}/letter_counts/{letter}"), answers(&judge, &letter));
            }
        }
    }
    ledger.skip("/alpha/", "Cronbach's alpha over questions, with repeats as subjects: no agreement of a judge");
    ledger.skip("/published_alpha/", "published figures of the same");
    ledger.close();
}

#[test]
fn ten_answers_to_one_question() {
    let Some(folder) = data() else { return };
    let mut ledger = Ledger::read(&folder, "coinflip_repeats");
    let columns = "item=question, repeats_in=winners_in_order, outcome=choice";
    let log = log_of(&folder.join("coinflip_exp2.csv"), columns);
    let audit = audited(&log, &AuditConfig { stability_repeats: 10, ..config() });
    for judge in &audit.judges {
        let path = format!("/exp2/{}", judge.judge);
        ledger.count(&format!("{path}/n_questions"), judge.n_items);
        ledger.count(&format!("{path}/n_verdicts"), judge.n_judgements);
        for (winner, answer) in [("A", "a"), ("B", "b"), ("tie", "tie")] {
            ledger.count(&format!("{path}/winner_counts/{winner}"), answers(judge, answer));
        }
        ledger.number(&format!("{path}/mean_flip_rate"), 1.0 - measure(judge, "repeat_consistency").estimate);
        let any = measure(judge, "any_flip_rate");
        let n_any = whole(any.estimate * any.n_items as f64);
        ledger.rate(&format!("{path}/questions_with_any_flip"), n_any, any.n_items);
        ledger.number(&format!("{path}/alpha_nominal"), measure(judge, "repeat_alpha").estimate);
    }
    ledger.skip("/published_README/", "published figures");
    ledger.close();
}

/// Right and wrong programs among the accepted and the rejected ones of a run: accepted in these rounds and no others.
fn loop_counts(file: &Path, run: &str, rounds: &[String], accepted: &[String], only_round: Option<&str>) -> [u64; 4] {
    let word = |round: &String| format!("{round}={}", if accepted.contains(round) { "accept" } else { "reject" });
    let words: Vec<String> = rounds.iter().map(word).collect();
    let only_round = only_round.map_or_else(String::new, |round| format!(", rounds={round}"));
    let columns = format!(
        "item=run+task, judge=run, verdict=rounds, label=is_solved, values={{{}}}, where={{run={run}{only_round}}}",
        words.join(", ")
    );
    let judge = only(&log_of(file, &columns), &config());
    let confusion = judge.confusion.as_ref().unwrap();
    [("accept", "accept"), ("reject", "accept"), ("reject", "reject"), ("accept", "reject")]
        .map(|(label, answer)| cell(confusion, label, answer))
}

#[test]
fn code_loops_that_stop_when_their_own_tests_pass() {
    let Some(folder) = data() else { return };
    let mut ledger = Ledger::read(&folder, "reflexion_loop");
    let file = folder.join("reflexion_programming.csv");
    for run in ledger.names("/runs") {
        let path = format!("/runs/{run}");
        let mut rounds = ledger.names(&format!("{path}/by_rounds"));
        let is_loop = !rounds.is_empty();
        if !is_loop {
            // One shot, without a loop that would judge it.
            rounds.push("0".to_owned());
        }
        rounds.sort_by_key(|round| round.parse::<u32>().unwrap());
        let (last, early) = rounds.split_last().unwrap();
        let [tp, fp, tn, fn_] = loop_counts(&file, &run, &rounds, early, None);
        let n = tp + fp + tn + fn_;
        ledger.count(&format!("{path}/n"), n);
        ledger.rate(&format!("{path}/solved"), tp + fn_, n);
        if !is_loop {
            continue;
        }
        let mut at_round_0 = [0, 0];
        for round in &rounds {
            let [right, wrong, ..] = loop_counts(&file, &run, &rounds, &rounds, Some(round));
            ledger.count(&format!("{path}/by_rounds/{round}/n"), right + wrong);
            ledger.count(&format!("{path}/by_rounds/{round}/solved"), right);
            if round == "0" {
                at_round_0 = [right, wrong];
            }
        }
        let [right, wrong] = at_round_0;
        ledger.number(&format!("{path}/max_rounds_seen"), last.parse().unwrap());
        ledger.count(&format!("{path}/accepted_early"), tp + fp);
        ledger.rate(&format!("{path}/false_accept_share_of_accepted"), fp, tp + fp);
        ledger.rate(&format!("{path}/stopped_at_round_0"), right + wrong, n);
        ledger.rate(&format!("{path}/false_accept_at_round_0"), wrong, right + wrong);
        ledger.rate(&format!("{path}/share_of_unsolved_that_were_accepted_early"), fp, fp + tn);
    }
    ledger.skip("/file", "words");
    ledger.skip("/paired/", "programs of two runs against each other: no judge");
    ledger.close();

    // The how-to's command for three of them, in one audit.
    let columns = "item=run+task, judge=run, verdict=rounds, label=is_solved, \
                   where={run=[humaneval_rs_loop, humaneval_rs_hard50_loop, leetcode_py_loop]}, \
                   values={0=accept, 1=accept, 2=accept, 3=accept, 4=reject}";
    let audit = audited(&log_of(&file, columns), &config());
    let rate = |name: &str| {
        let judge = audit.judges.iter().find(|judge| judge.judge == name).unwrap();
        (count(judge, "false_accept_rate", "n_hits"), count(judge, "false_accept_rate", "n_parsed"))
    };
    let rates = ["humaneval_rs_hard50_loop", "humaneval_rs_loop", "leetcode_py_loop"].map(rate);
    assert_eq!(rates, [(4, 16), (4, 19), (4, 38)]);
}

/// Reads a table of the reference file; nothing is NaN.
fn table(ledger: &mut Ledger, path: &str) -> Vec<Vec<f64>> {
    let mut rows = Vec::new();
    while ledger.has(&format!("{path}/{}/0", rows.len())) {
        let row = format!("{path}/{}", rows.len());
        let n = ledger.names(&row).len();
        rows.push((0..n).map(|idx| ledger.number_or_nan(&format!("{row}/{idx}"))).collect());
    }
    ledger.skip(&format!("{path}/"), "the data themselves");
    rows
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small counts")]
fn counts(rows: &[Vec<f64>]) -> Vec<u32> {
    rows.iter().flatten().map(|&count| count as u32).collect()
}

#[test]
fn textbook_tables() {
    let Some(folder) = data() else { return };
    let mut ledger = Ledger::read(&folder, "agreement_textbook");
    let unweighted = Weighting::Unweighted;
    let fleiss = |rows: &[Vec<f64>]| fleiss_kappa(&counts(rows), rows[0].len(), &unweighted).unwrap().agreement.kappa;
    let rows = table(&mut ledger, "/sets/fleiss_wikipedia_14raters/counts");
    let path = "/sets/fleiss_wikipedia_14raters/computed";
    ledger.number(&format!("{path}/fleiss_kappa"), fleiss(&rows));
    let alpha = krippendorff_alpha(&counts(&rows), &[0.0, 1.0, 2.0, 3.0, 4.0], Metric::Nominal).unwrap();
    ledger.number(&format!("{path}/alpha_nominal"), alpha);

    for idx in 0..2 {
        let rows = table(&mut ledger, &format!("/sets/fleiss_vs_randolph/tables/{idx}"));
        let path = format!("/sets/fleiss_vs_randolph/computed/{idx}");
        ledger.number(&format!("{path}/fleiss"), fleiss(&rows));
        let randolph = brennan_prediger(&counts(&rows), rows[0].len(), &unweighted).unwrap();
        ledger.number(&format!("{path}/randolph"), randolph.agreement.kappa);
    }

    let rows: Vec<f64> = table(&mut ledger, "/sets/cohen_sas_3x3/table").concat();
    let z = normal_quantile(0.975);
    let path = "/sets/cohen_sas_3x3/computed";
    for (weighting, kappa, error, interval) in [
        (Weighting::Unweighted, "kappa", "ase", "ci95"),
        (Weighting::Linear, "linear_weighted_kappa", "weighted_ase", "weighted_ci95"),
    ] {
        let found = cohen_kappa(&rows, 3, &weighting).unwrap().kappa;
        let ase = cohen_kappa_standard_error(&rows, 3, &weighting).unwrap().asymptotic;
        ledger.number(&format!("{path}/{kappa}"), found);
        ledger.number(&format!("{path}/{error}"), ase);
        ledger.number(&format!("{path}/{interval}/0"), found - z * ase);
        ledger.number(&format!("{path}/{interval}/1"), found + z * ase);
    }
    wine(&mut ledger);
    krippendorff(&mut ledger);
    for idx in 0..10 {
        let path = format!("/sets/wilson_spot_values/computed/{idx}");
        let (x, n) = (ledger.get(&format!("{path}/x")), ledger.get(&format!("{path}/n")));
        ledger.number(&format!("{path}/x"), x);
        ledger.number(&format!("{path}/n"), n);
        let interval = wilson(x, n, 0.95).unwrap();
        ledger.number(&format!("{path}/wilson95/0"), interval.low);
        ledger.number(&format!("{path}/wilson95/1"), interval.high);
    }
    ledger.skip("/expected", "printed in books to three decimals; the computed figures agree with them");
    let rows = table(&mut ledger, "/sets/cronbach/data_subjects_x_items");
    let alpha = cronbach_alpha(&rows.concat(), rows[0].len()).unwrap();
    for name in ["alpha", "own"] {
        ledger.number(&format!("/sets/cronbach/computed/{name}"), alpha);
    }
    ledger.close();
}

fn wine(ledger: &mut Ledger) {
    let rows = table(ledger, "/sets/wine_icc/data_targets_x_judges");
    let path = "/sets/wine_icc/computed";
    let squares = mean_squares(&rows.concat(), 4).unwrap();
    for (number, model) in [(1, IccModel::OneWay), (2, IccModel::TwoWayRandom), (3, IccModel::TwoWayMixed)] {
        for (name, unit) in [("1", IccUnit::Single), ("k", IccUnit::Mean)] {
            let found = icc(&squares, model, unit, 0.95).unwrap().estimate;
            ledger.number(&format!("{path}/ICC({number},{name})"), found);
        }
    }
    let tally = rows.iter().fold(OneWayTally::default(), |tally, row| {
        tally.plus(OneWayTally::of_item(4, row.iter().sum(), row.iter().map(|x| x * x).sum()))
    });
    let own = tally.one_way().unwrap();
    let path = format!("{path}/own_icc1");
    ledger.number(&format!("{path}/n_targets"), tally.n_items);
    ledger.number(&format!("{path}/k"), own.n0);
    ledger.number(&format!("{path}/MSB"), own.between);
    ledger.number(&format!("{path}/MSW"), own.within);
    ledger.number(&format!("{path}/ICC(1,1)"), own.rho);
    let of_mean = assize_calibration::icc::icc_mean(own.rho, 4.0).unwrap();
    ledger.number(&format!("{path}/ICC(1,k)"), of_mean);
    ledger.number(&format!("{path}/within_item_sd_pooled"), own.within.sqrt());
}

fn krippendorff(ledger: &mut Ledger) {
    let coders = table(ledger, "/sets/krippendorff_wikipedia/data_coders_x_units");
    let values = [1.0, 2.0, 3.0, 4.0];
    let mut counts = vec![0; 4 * coders[0].len()];
    for coder in &coders {
        for (unit, rating) in coder.iter().enumerate().filter(|(_, rating)| !rating.is_nan()) {
            let value = values.iter().position(|value| (value - rating).abs() < 0.5).unwrap();
            counts[4 * unit + value] += 1;
        }
    }
    let metrics = [
        ("nominal", Metric::Nominal),
        ("ordinal", Metric::Ordinal),
        ("interval", Metric::Interval),
        ("ratio", Metric::Ratio),
    ];
    for (name, metric) in metrics {
        let alpha = krippendorff_alpha(&counts, &values, metric).unwrap();
        ledger.number(&format!("/sets/krippendorff_wikipedia/computed/{name}"), alpha);
    }
}
