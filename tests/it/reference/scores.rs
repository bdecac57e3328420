//! Recordings of scores.

use std::collections::{BTreeMap, BTreeSet};

use assize_calibration::audit::AuditConfig;
use assize_calibration::audit::result::{Agreement, Audit, JudgeAudit};
use assize_calibration::log::Log;

use super::ledger::Ledger;
use super::{audited, config, count, data, detail, log_of, log_where, measure, only, whole};

const REWARD_BENCH: &str = "item=row+response_index, group=row, repeats=s1..s8, label=gold";

/// Returns the table of a vote of k: right accepted, wrong accepted, wrong rejected, right rejected.
fn vote_counts(judge: &JudgeAudit, k: u32) -> [u64; 4] {
    let voting = judge.voting.as_ref().unwrap();
    let point = voting.points.iter().find(|point| point.k == k).unwrap();
    let (wrong, right) = (point.false_accept_rate.as_ref().unwrap(), point.false_reject_rate.as_ref().unwrap());
    let fp = whole(wrong.estimate * wrong.n_items as f64);
    let fn_ = whole(right.estimate * right.n_items as f64);
    [right.n_items - fn_, fp, wrong.n_items - fp, fn_]
}

#[test]
fn reward_bench_2_scores_repeated_eight_times() {
    let Some(folder) = data() else { return };
    let mut ledger = Ledger::read(&folder, "composo_rb2_repeated");
    for key in ledger.names("/files") {
        let (file, name) = key.rsplit_once(':').unwrap();
        let path = format!("/files/{key}");
        let file = folder.join(format!("rb2_scores_{file}.csv"));
        let of_judge = AuditConfig { judge: Some(name.to_owned()), stability_repeats: 8, ..config() };
        let log = log_where(&file, REWARD_BENCH, |row| row.judge == name);
        let judge = only(&log, &of_judge);
        ledger.count(&format!("{path}/n_units"), judge.n_items);
        ledger.count(&format!("{path}/n_examples"), judge.n_clusters);
        ledger.count(&format!("{path}/n_missing_scores"), judge.n_unparsed);
        let alpha = measure(&judge, "repeat_alpha");
        ledger.number(&format!("{path}/alpha_interval"), alpha.estimate);
        ledger.number(&format!("{path}/alpha_ordinal"), detail(alpha, "alpha_ordinal").unwrap());
        ledger.number(&format!("{path}/max_unit_range"), measure(&judge, "within_item_range_max").estimate);
        let auc = measure(&judge, "auc");
        ledger.number(&format!("{path}/mean_score_gold"), detail(auc, "pooled_mean_score_of_right_items").unwrap());
        ledger.number(&format!("{path}/mean_score_wrong"), detail(auc, "pooled_mean_score_of_wrong_items").unwrap());

        let mut missing = BTreeSet::new();
        log_where(&file, REWARD_BENCH, |row| {
            if row.judge == name && row.is_unparsed() {
                missing.insert(row.item.clone());
            }
            false
        });
        let complete = log_where(&file, REWARD_BENCH, |row| row.judge == name && !missing.contains(&row.item));
        complete_units(&mut ledger, &path, &only(&complete, &of_judge));
        super::panels::votes_for_the_best(&mut ledger, &path, &log);

        for k in 1..=8_u32 {
            let first = log_where(&file, REWARD_BENCH, |row| row.judge == name && row.repeat.unwrap() <= k);
            best_of_group(&mut ledger, &format!("{path}/accuracy_mean_of_k/{}", k - 1), k, &only(&first, &config()));
            if k % 2 == 1 {
                thresholds(&mut ledger, &format!("{path}/pass_fail_threshold"), k, &first);
            }
        }
    }
    ledger.skip("/published/", "published figures, to one decimal");
    ledger.close();
}

fn complete_units(ledger: &mut Ledger, path: &str, judge: &JudgeAudit) {
    ledger.count(&format!("{path}/n_complete_units"), judge.n_items);
    ledger.count(&format!("{path}/n_targets"), judge.n_items);
    let icc = measure(judge, "icc_single");
    ledger.number(&format!("{path}/k"), detail(icc, "n0").unwrap());
    ledger.number(&format!("{path}/MSB"), detail(icc, "msb").unwrap());
    ledger.number(&format!("{path}/MSW"), detail(icc, "msw").unwrap());
    ledger.number(&format!("{path}/ICC(1,1)"), icc.estimate);
    ledger.number(&format!("{path}/ICC(1,k)"), measure(judge, "icc_mean").estimate);
    let sd = measure(judge, "within_item_sd");
    ledger.number(&format!("{path}/within_item_sd_pooled"), sd.estimate);
    ledger.number(&format!("{path}/mean_of_unit_sd"), detail(sd, "mean_of_sds").unwrap());
    ledger.number(&format!("{path}/share_units_zero_sd"), 1.0 - measure(judge, "any_flip_rate").estimate);
}

fn best_of_group(ledger: &mut Ledger, path: &str, k: u32, judge: &JudgeAudit) {
    let best = measure(judge, "top_of_group_accuracy");
    let (right, tied) =
        (count(judge, "top_of_group_accuracy", "n_right"), count(judge, "top_of_group_accuracy", "n_top_tied"));
    let n = best.n_clusters;
    ledger.count(&format!("{path}/k"), u64::from(k));
    ledger.count(&format!("{path}/n"), n);
    ledger.count(&format!("{path}/n_correct"), right);
    ledger.count(&format!("{path}/n_tied"), tied);
    ledger.rate(&format!("{path}/acc_ties_wrong"), right, n);
    ledger.rate(&format!("{path}/acc_ties_excluded"), right, n - tied);
}

/// Accepting at each threshold by the first k scores.
fn thresholds(ledger: &mut Ledger, path: &str, k: u32, log: &Log) {
    for threshold in [6, 7, 8] {
        let path = format!("{path}/t>={threshold}/k={k}");
        let judge = only(log, &AuditConfig { accept_at: Some(f64::from(threshold)), ..config() });
        let counts = if k == 1 { confusion(&judge) } else { vote_counts(&judge, k) };
        ledger.accepted(&path, counts);
    }
}

/// Returns the table of answers: right accepted, wrong accepted, wrong rejected, right rejected.
fn confusion(judge: &JudgeAudit) -> [u64; 4] {
    let of = |id, name| count(judge, id, name);
    let (fp, negatives) = (of("false_accept_rate", "n_hits"), of("false_accept_rate", "n_parsed"));
    let (fn_, positives) = (of("false_reject_rate", "n_hits"), of("false_reject_rate", "n_parsed"));
    [positives - fn_, fp, negatives - fp, fn_]
}

/// Compares the sweep of thresholds at whole scores.
fn sweep(ledger: &mut Ledger, path: &str, judge: &JudgeAudit, thresholds: std::ops::RangeInclusive<u32>) {
    let swept = judge.thresholds.as_ref().unwrap();
    for threshold in thresholds {
        // A threshold that no score equals accepts what the next score above does.
        let point = swept.points.iter().find(|point| point.threshold >= f64::from(threshold)).unwrap();
        ledger.accepted(&format!("{path}/threshold/t>={threshold}"), point.counts);
    }
}

#[test]
fn ice_scores_of_programs_that_were_run() {
    let Some(folder) = data() else { return };
    let mut ledger = Ledger::read(&folder, "icescore_code");
    let file = folder.join("icescore_humaneval.csv");
    for language in ledger.names("/languages") {
        for (name, column) in [("gpt35_nsnr", "gpt35_noref"), ("gpt35_nswr", "gpt35_withref")] {
            let path = format!("/languages/{language}/{name}");
            let columns = |outcome: &str| {
                format!(
                    "item=lang+task_id+candidate, group=lang+task_id, judges=[{column}], label=execution, \
                     outcome={outcome}, where={{lang={language}}}"
                )
            };
            let judge = only(&log_of(&file, &columns("score")), &config());
            ledger.count(&format!("/languages/{language}/n_problems"), judge.n_clusters);
            ledger.count(&format!("{path}/n"), judge.n_items);
            let auc = measure(&judge, "auc");
            ledger.number(&format!("{path}/auc"), auc.estimate);
            ledger.number(&format!("{path}/corpus_kendall"), detail(auc, "kendall_with_labels").unwrap());
            ledger.number(&format!("{path}/corpus_spearman"), detail(auc, "spearman_with_labels").unwrap());
            sweep(&mut ledger, &path, &judge, 1..=4);
            score_counts(&mut ledger, &path, &judge);
            within_problems(&mut ledger, &path, &file, &columns("score"));
        }
    }
    ledger.skip("/published/", "published figures, to three decimals");
    ledger.close();
}

/// Scores of right and of wrong programs, from the sweep's counts.
fn score_counts(ledger: &mut Ledger, path: &str, judge: &JudgeAudit) {
    let points = &judge.thresholds.as_ref().unwrap().points;
    let at = |idx: usize, of: usize| points.get(idx).map_or(0, |point| point.counts[of]);
    for (idx, point) in points.iter().enumerate() {
        for (name, of) in [("pass", 0), ("fail", 1)] {
            let path = format!("{path}/score_counts_{name}/{:.1}", point.threshold);
            let n = at(idx, of) - at(idx + 1, of);
            if ledger.has(&path) {
                ledger.count(&path, n);
            } else {
                assert_eq!(n, 0, "{path}");
            }
        }
    }
    ledger.count(&format!("{path}/n_pass"), points[0].counts[0] + points[0].counts[3]);
}

/// The mean over problems of the correlations within each, undefined ones left out.
fn within_problems(ledger: &mut Ledger, path: &str, file: &std::path::Path, columns: &str) {
    let mut problems: BTreeMap<String, Log> = BTreeMap::new();
    log_where(file, columns, |row| {
        problems.entry(row.group.as_deref().unwrap().to_owned()).or_default().push(row, 1);
        false
    });
    let mut sums = BTreeMap::from([("kendall", (0.0, 0.0)), ("spearman", (0.0, 0.0))]);
    for log in problems.values() {
        let judge = only(log, &config());
        let Some(auc) = judge.measures.get("auc") else { continue };
        for (name, sum) in &mut sums {
            if let Some(value) = detail(auc, &format!("{name}_with_labels")) {
                *sum = (sum.0 + value, sum.1 + 1.0);
            }
        }
    }
    for (name, (sum, n)) in sums {
        ledger.number(&format!("{path}/example_{name}"), sum / n);
    }
}

const CONALA_JUDGES: &str = "conala_no_step_no_ref_gpt35, conala_no_step_with_ref_gpt35, conala_with_step_no_ref_gpt35, \
                             conala_with_step_with_ref_gpt35";

fn agreement<'a>(audit: &'a Audit, among: &str) -> &'a Agreement {
    let found = audit.agreement.iter().find(|agreement| agreement.among == among);
    found.unwrap_or_else(|| panic!("{:?}", audit.agreement.iter().map(|a| &a.among).collect::<Vec<_>>()))
}

#[test]
fn conala_grades_of_four_prompts_and_sixteen_people() {
    let Some(folder) = data() else { return };
    let mut ledger = Ledger::read(&folder, "conala_humans");
    let file = folder.join("conala_grades.csv");
    let columns = format!("item=problem+system, judges=[{CONALA_JUDGES}], raters=grader1..grader16");
    let audit = audited(&log_of(&file, &columns), &AuditConfig { good_at: Some(3.0), ..config() });
    for judge in &audit.judges {
        let path = format!("/variants/{}", judge.judge);
        ledger.count(&format!("{path}/n"), judge.n_judgements - judge.n_unparsed);
        ledger.count(&format!("{path}/unparsed"), judge.n_unparsed);
        for id in ["kendall", "spearman", "pearson"] {
            ledger.number(&format!("{path}/{id}"), measure(judge, id).estimate);
        }
        ledger.number(&format!("{path}/mean_signed_error"), measure(judge, "mean_error").estimate);
        sweep(&mut ledger, &path, judge, 2..=4);
    }
    let people = agreement(&audit, "raters");
    ledger.count("/human/graders", people.n_raters);
    let alpha = &people.measures["alpha_interval"];
    ledger.count("/human/n_items", alpha.n_items);
    ledger.number("/human/alpha_interval", alpha.estimate);
    ledger.number("/human/alpha_ordinal", detail(alpha, "alpha_ordinal").unwrap());
    let variants = agreement(&audit, "judges");
    let alpha = &variants.measures["alpha_interval"];
    ledger.number("/four_prompt_variants/alpha_interval", alpha.estimate);
    ledger.number("/four_prompt_variants/alpha_ordinal", detail(alpha, "alpha_ordinal").unwrap());
    let pair = agreement(&audit, "conala_no_step_no_ref_gpt35 and conala_no_step_with_ref_gpt35");
    let same = &pair.measures["percent_agreement"];
    let n = same.n_items;
    ledger.rate("/four_prompt_variants/share_identical_noCoT_pair", whole(same.estimate * n as f64), n);

    let words = "item=problem+system, raters=grader1..grader16, outcome=category";
    let nominal = audited(&log_of(&file, words), &config());
    let alpha = &agreement(&nominal, "raters").measures["alpha_nominal"];
    ledger.number("/human/alpha_nominal", alpha.estimate);
    // The same grades as one judge's repeats, for their counts.
    let repeats = "item=problem+system, judge='people', repeats=grader1..grader16, empty=skip";
    let people = only(&log_of(&file, repeats), &config());
    // The reference weighs the people's variances of all items the same; the estimate weighs them by their degrees of freedom.
    let sd = detail(measure(&people, "within_item_sd"), "root_of_mean_variance").unwrap();
    ledger.number("/human/pooled_within_item_sd", sd);
    for grade in ledger.names("/human/grade_counts") {
        ledger.count(&format!("/human/grade_counts/{grade}"), super::answers(&people, &grade));
    }
    ledger.skip("/published/", "published figures, from grades that are not in the recording");
    ledger.skip("/unparsed_examples/", "texts");
    ledger.skip("/grades_per_item_hist/", "how many people graded an item is no figure of an audit");
    ledger.close();
}

#[test]
fn many_people_rate_recipes_and_news() {
    let Some(folder) = data() else { return };
    let mut ledger = Ledger::read(&folder, "judgebench_humans");
    let file = folder.join("manyraters.csv");
    for key in ledger.names("/sets") {
        let (set, metric) = key.split_once('|').unwrap();
        let path = format!("/sets/{key}");
        let columns = format!(
            "item=set+item, dimension=metric, ratings_in=ratings_in_order, where={{set={set}, metric={metric}}}"
        );
        let mut ratings: BTreeMap<String, u64> = BTreeMap::new();
        let log = log_where(&file, &columns, |row| {
            *ratings.entry(row.item.to_string()).or_default() += 1;
            true
        });
        let audit = audited(&log, &config());
        let alpha = &audit.agreement[0].measures["alpha_interval"];
        ledger.count(&format!("{path}/n_items"), alpha.n_items);
        ledger.number(&format!("{path}/alpha_interval"), alpha.estimate);
        ledger.number(&format!("{path}/alpha_ordinal"), detail(alpha, "alpha_ordinal").unwrap());
        let fewest = *ratings.values().min().unwrap();
        ledger.count(&format!("{path}/ratings_per_item_min_max/0"), fewest);
        ledger.count(&format!("{path}/ratings_per_item_min_max/1"), *ratings.values().max().unwrap());

        // As many ratings of each item as the least rated one has.
        let mut taken: BTreeMap<String, u64> = BTreeMap::new();
        let cut = log_where(&file, &columns, |row| {
            let n = taken.entry(row.item.to_string()).or_default();
            *n += 1;
            *n <= fewest
        });
        let audit = audited(&cut, &config());
        let icc = &audit.agreement[0].measures["icc_single"];
        let path = format!("{path}/icc");
        ledger.count(&format!("{path}/n_targets"), icc.n_items);
        let of = |name| detail(icc, name).unwrap();
        ledger.number(&format!("{path}/k"), of("n0"));
        ledger.number(&format!("{path}/MSB"), of("msb"));
        ledger.number(&format!("{path}/MSW"), of("msw"));
        ledger.number(&format!("{path}/ICC(1,1)"), icc.estimate);
        let of_mean = assize_calibration::icc::icc_mean(icc.estimate, of("n0")).unwrap();
        ledger.number(&format!("{path}/ICC(1,k)"), of_mean);
        ledger.number(&format!("{path}/within_item_sd_pooled"), of("msw").sqrt());
    }
    ledger.close();
}

#[test]
fn alpaca_eval_preferences_of_two_annotators() {
    let Some(folder) = data() else { return };
    let mut ledger = Ledger::read(&folder, "alpacaeval");
    let file = folder.join("alpacaeval_preferences.csv");
    let judges = [
        ("alpaca7b_weighted", "weighted_alpaca_eval_gpt4_turbo"),
        ("alpaca7b_cot_fn", "alpaca_eval_cot_gpt4_turbo_fn"),
    ];
    for (name, judge) in judges {
        let path = format!("/sets/{name}");
        // The win rate is the mean preference less that of a certain loss, 1.
        let columns =
            format!("item=i, judge=judge_config, score=preference, label='1', where={{judge_config={judge}}}");
        let scores = only(&log_of(&file, &columns), &AuditConfig { good_at: Some(1.5), ..config() });
        let mean = measure(&scores, "mean_error");
        ledger.count(&format!("{path}/n"), mean.n_items);
        ledger.count(&format!("{path}/missing"), scores.n_unparsed);
        ledger.number(&format!("{path}/win_rate"), 100.0 * mean.estimate);
        let t = assize_calibration::distribution::t_quantile(0.975, mean.n_clusters as f64 - 1.0);
        ledger.number(&format!("{path}/standard_error"), 100.0 * (mean.high.unwrap() - mean.estimate) / t);
        let columns = format!("item=i, judge=judge_config, preference=preference, where={{judge_config={judge}}}");
        let choices = only(&log_of(&file, &columns), &config());
        for (path_name, detail) in [("wins", "n_b"), ("losses", "n_a"), ("draws", "n_tie")] {
            ledger.count(&format!("{path}/{path_name}"), count(&choices, "win_rate", detail));
        }
    }
    let both = audited(&log_of(&file, "item=i, judge=judge_config, preference=preference"), &config());
    let pair = &both.agreement[0].measures;
    let same = &pair["percent_agreement"];
    let path = "/sets/alpaca7b_weighted_vs_cot";
    ledger.count(&format!("{path}/n"), same.n_items);
    let n_same = whole(same.estimate * same.n_items as f64);
    ledger.rate(&format!("{path}/same_discrete_verdict"), n_same, same.n_items);
    ledger.number(&format!("{path}/kappa"), pair["kappa"].estimate);
    ledger.skip("/evaluators_leaderboard/", "published figures of annotators whose answers are not in the recording");
    ledger.skip("/published/", "published figures");
    ledger.skip("/model_name_assignment/", "which of two outputs was shown as which is not in the recording");
    ledger.close();
}
