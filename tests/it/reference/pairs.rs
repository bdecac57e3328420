//! Recordings of choices between two, shown in both orders.

use std::collections::BTreeMap;

use assize_calibration::audit::AuditConfig;
use assize_calibration::audit::result::JudgeAudit;
use assize_calibration::judgement::{Choice, Judgement, Order};
use assize_calibration::log::Log;

use super::ledger::Ledger;
use super::{answers, audited, config, count, data, detail, log_of, log_where, measure, only, whole, with_unparsed};

const POSITION_BIAS: &str = "item=question_id, group=question_id, repeat=rep, first=first_model, second=second_model, \
                             chosen_position=verdict, values={N=unparsed}";

/// Pairs of answers, one an order with the same repeat number: consistent, to the first, to the second, all usable.
fn patterns(judge: &JudgeAudit) -> [u64; 4] {
    ["consistent", "primacy", "recency", "pairs"]
        .map(|name| count(judge, "swap_consistency", &format!("paired_by_repeat_{name}")))
}

/// Answers for the candidate shown first, and all that are no tie.
fn pooled_first(judge: &JudgeAudit) -> (u64, u64) {
    let of = |name| count(judge, "first_position_preference", name);
    (of("pooled_first"), of("pooled_decided"))
}

/// Compares a count that the reference leaves out where it is 0.
fn count_or_none(ledger: &mut Ledger, path: &str, n: u64) {
    if ledger.has(path) {
        ledger.count(path, n);
    } else {
        assert_eq!(n, 0, "{path}");
    }
}

#[test]
fn position_bias_of_nine_judges_asked_three_times_in_both_orders() {
    let Some(folder) = data() else { return };
    let mut ledger = Ledger::read(&folder, "pba_repetition_position");
    let file = folder.join("pba_MTBench_repetition_verdicts.csv");
    for key in ledger.names("/judges") {
        let path = format!("/judges/{key}");
        let name = key.strip_prefix("MTBench:").unwrap();
        let judge = only(&log_where(&file, POSITION_BIAS, |row| row.judge == name), &config());
        ledger.count(&format!("{path}/n_verdicts"), judge.n_judgements);
        let (first, decided) = pooled_first(&judge);
        let ties = answers(&judge, "tie");
        for (verdict, n) in [("A", first), ("B", decided - first), ("C", ties), ("N", judge.n_unparsed)] {
            count_or_none(&mut ledger, &format!("{path}/verdict_counts/{verdict}"), n);
        }
        ledger.rate(&format!("{path}/first_position_preference"), first, decided);

        for repeat in 1..=3 {
            let path = format!("{path}/per_repetition/{}", repeat - 1);
            let one = log_where(&file, POSITION_BIAS, |row| row.judge == name && row.repeat == Some(repeat));
            let one = only(&one, &config());
            let [consistent, primacy, recency, pairs] = patterns(&one);
            ledger.count(&format!("{path}/rep"), u64::from(repeat));
            ledger.count(&format!("{path}/consistent"), consistent);
            ledger.count(&format!("{path}/primacy"), primacy);
            ledger.count(&format!("{path}/recency"), recency);
            ledger.count(&format!("{path}/unusable"), one.n_items - pairs);
            ledger.rate(&format!("{path}/position_consistency"), consistent, pairs);
            ledger.count(&format!("{path}/ours_rowwise/0"), 2 * consistent);
            let n_parsed = one.n_judgements - one.n_unparsed;
            ledger.count(&format!("{path}/ours_rowwise/1"), n_parsed);
            // The repository counts an answer whose partner was not parsed as consistent.
            ledger.count(&format!("{path}/log_txt/0"), 2 * consistent + (n_parsed - 2 * pairs));
            ledger.count(&format!("{path}/log_txt/1"), n_parsed);
        }
        let [consistent, primacy, recency, pairs] = patterns(&judge);
        ledger.rate(&format!("{path}/pooled/position_consistency"), consistent, pairs);
        ledger.count(&format!("{path}/pooled/primacy"), primacy);
        ledger.count(&format!("{path}/pooled/recency"), recency);
        ledger.rate(&format!("{path}/pooled/recency_share_of_inconsistent"), recency, recency + primacy);

        let modal = measure(&judge, "repeat_consistency");
        assert_eq!(detail(modal, "k"), Some(3.0));
        ledger.number(&format!("{path}/repetition_consistency_N_as_value"), with_unparsed(modal));
        let no_vote = detail(modal, "unparsed_as_no_vote").unwrap_or(modal.estimate);
        ledger.number(&format!("{path}/repetition_consistency_repo"), no_vote);
        let alpha = detail(measure(&judge, "repeat_alpha"), "by_place_chosen").unwrap();
        ledger.number(&format!("{path}/alpha_nominal"), alpha);
        any_flip(&mut ledger, &path, &judge);
        majority(&mut ledger, &path, &file, name);
    }
    ledger.skip("/matches_log", "whether the repository's own count agrees with the reference's");
    ledger.close();
}

/// Questions in one order whose three answers are not the same: two a pair.
fn any_flip(ledger: &mut Ledger, path: &str, judge: &JudgeAudit) {
    let any = measure(judge, "any_flip_rate");
    let n = 2 * any.n_items;
    let flips = with_unparsed(any) * n as f64;
    ledger.rate(&format!("{path}/items_with_any_flip_over_3"), whole(flips), n);
}

/// The majority of three as the judge's one answer.
fn majority(ledger: &mut Ledger, path: &str, file: &std::path::Path, name: &str) {
    let mut rows: BTreeMap<(String, Order), Vec<Option<Choice>>> = BTreeMap::new();
    log_where(file, POSITION_BIAS, |row| {
        if row.judge == name {
            rows.entry((row.item.to_string(), row.order.unwrap())).or_default().push(row.choice);
        }
        false
    });
    let mut log = Log::default();
    for ((item, order), choices) in &rows {
        // The commonest parsed answer, if there is one alone.
        let votes = |choice: Choice| choices.iter().filter(|other| **other == Some(choice)).count();
        let all = [Choice::A, Choice::B, Choice::Tie];
        let choice = all.into_iter().find(|&choice| {
            votes(choice) > 0 && all.iter().all(|&other| other == choice || votes(other) < votes(choice))
        });
        let row = Judgement { item: item.into(), order: Some(*order), choice, ..Judgement::default() };
        log.push(&row, 1);
    }
    let judge = only(&log, &config());
    let [consistent, _, _, pairs] = patterns(&judge);
    ledger.rate(&format!("{path}/majority_of_3_position_consistency"), consistent, pairs);
    ledger.count(&format!("{path}/majority_of_3_unusable_pairs"), judge.n_items - pairs);
}

#[test]
fn llmbar_in_195_settings() {
    let Some(folder) = data() else { return };
    let mut ledger = Ledger::read(&folder, "llmbar_swap");
    let file = folder.join("llmbar_verdicts.csv");
    for subset in ["Natural", "Adversarial/GPTInst", "Adversarial/Neighbor"] {
        let columns = format!(
            "item=subset+item, arm=strategy, order_ab=winner_order1, order_ba=winner_order2_swapped, outcome=choice, \
             values={{1=a, 2=b, None=unparsed}}, label_values={{1=a, 2=b}}, where={{subset={subset}}}"
        );
        let audit = audited(&log_of(&file, &columns), &config());
        for judge in &audit.judges {
            let subset = subset.replace('/', ":");
            let path = format!("/configs/{subset}|{}|{}", judge.judge, judge.arm.as_deref().unwrap());
            swapped(&mut ledger, &path, judge);
        }
    }
    ledger.count("/n_configs", 325);
    ledger.skip("/statistics_json/", "the repository's own text, which the reference has checked");
    ledger.skip("/matches_statistics_json", "whether the repository's own text agrees");
    ledger.skip("/n_matching_statistics_json", "whether the repository's own text agrees");
    ledger.close();
}

/// The figures of one setting; an unparsed answer is a wrong one.
fn swapped(ledger: &mut Ledger, path: &str, judge: &JudgeAudit) {
    let n = judge.n_items;
    ledger.count(&format!("{path}/n"), n);
    let (ab, ba) = (count(judge, "accuracy_ab", "n_hits"), count(judge, "accuracy_ba", "n_hits"));
    ledger.rate(&format!("{path}/acc_order1"), ab, n);
    ledger.rate(&format!("{path}/acc_order2"), ba, n);
    ledger.number(&format!("{path}/acc_average"), (ab + ba) as f64 / (2 * n) as f64);
    // The mean over items of both orders counts the same, unparsed ones against the judge.
    let all = measure(judge, "accuracy");
    let against = detail(all, "unparsed_against").unwrap_or(all.estimate);
    ledger.number(&format!("{path}/acc_average"), against);
    let both = count(judge, "accuracy_both_orders", "paired_by_repeat_right");
    ledger.rate(&format!("{path}/acc_both_correct"), both, n);
    let [consistent, primacy, recency, pairs] = patterns(judge);
    // Two unparsed answers are the same winner to the reference.
    let none = count(judge, "swap_consistency", "paired_by_repeat_both_unparsed");
    ledger.rate(&format!("{path}/position_consistency"), consistent + none, n);
    let (first, decided) = pooled_first(judge);
    ledger.rate(&format!("{path}/first_position_preference"), first, decided);
    ledger.count(&format!("{path}/other_verdicts"), judge.n_unparsed);
    for (name, n) in [("consistent", consistent), ("primacy", primacy), ("recency", recency), ("unusable", n - pairs)] {
        count_or_none(ledger, &format!("{path}/pattern/{name}"), n);
    }
}

#[test]
fn auto_j_and_judge_bench() {
    let Some(folder) = data() else { return };
    let mut ledger = Ledger::read(&folder, "pairwise_misc");
    let columns = "item=pair_id, order_ab=order1, order_ba=order2_as_shown, as_shown=order_ba, outcome=choice";
    let file = folder.join("judgebench_haiku.csv");
    let path = "/sets/JudgeBench|claude-3-5-sonnet-20240620,judge_name=arena_hard,judge_model=claude-3-haiku-20240307";
    let judge = only(&log_of(&file, columns), &config());
    both_orders(&mut ledger, path, &judge, "both_correct", "position_consistency");
    let net = |judge: &JudgeAudit, name| count(judge, "accuracy_both_orders", &format!("paired_by_repeat_net_{name}"));
    ledger.rate(&format!("{path}/repo_metric_correct"), net(&judge, "right"), judge.n_items);
    ledger.count(&format!("{path}/repo_metric_incorrect"), net(&judge, "wrong"));
    ledger.count(&format!("{path}/repo_metric_tie"), net(&judge, "none"));
    // The reference lets an answer whose partner was not parsed lean by itself.
    let lone = |place: &str| count(&judge, "swap_consistency", &format!("paired_by_repeat_{place}_and_unparsed"));
    let [consistent, primacy, recency, _] = patterns(&judge);
    let (primacy, recency) = (primacy + lone("first"), recency + lone("second"));
    let other = judge.n_items - consistent - primacy - recency;
    for (name, n) in [("consistent", consistent), ("primacy", primacy), ("recency", recency), ("other", other)] {
        count_or_none(&mut ledger, &format!("{path}/pattern/{name}"), n);
    }
    let (first, decided) = pooled_first(&judge);
    let ties = answers(&judge, "tie");
    for (shown, n) in [("A>B", first), ("B>A", decided - first), ("A=B", ties), ("None", judge.n_unparsed)] {
        ledger.count(&format!("{path}/decisions_as_shown/{shown}"), n);
    }
    for source in ledger.names(&format!("{path}/repo_metric_by_source")) {
        let of_source = log_where(&file, &format!("{columns}, group=source"), |row| {
            row.group.as_deref().is_some_and(|group| group.starts_with(&source))
        });
        let judge = only(&of_source, &config());
        ledger.rate(&format!("{path}/repo_metric_by_source/{source}"), net(&judge, "right"), judge.n_items);
    }

    let columns = "item=i, order_ab=out_order1, order_ba=out_order2_as_shown, as_shown=order_ba, outcome=choice, \
                   values={0=a, 1=b, 2=tie}, label_values={0=a, 1=b, 2=tie}";
    let judge = only(&log_of(&folder.join("autoj_evalp.csv"), columns), &config());
    let path = "/sets/AutoJ_EvalP";
    both_orders(&mut ledger, path, &judge, "agreement_both", "consistency");
    let [consistent, primacy, recency, _] = patterns(&judge);
    for (name, n) in [("consistent", consistent), ("primacy", primacy), ("recency", recency)] {
        ledger.count(&format!("{path}/pattern/{name}"), n);
    }
    let confusion = judge.confusion.as_ref().unwrap();
    for (label, name) in [("0", "a"), ("1", "b"), ("2", "tie")] {
        let row = confusion.categories.iter().position(|category| category == name).unwrap();
        let items: f64 = confusion.weights[row].iter().sum();
        ledger.count(&format!("{path}/label_counts/{label}"), whole(items));
    }
    let (first, decided) = pooled_first(&judge);
    for (shown, n) in [("0", first), ("1", decided - first), ("2", answers(&judge, "tie"))] {
        ledger.count(&format!("{path}/outputs/{shown}"), n);
    }
    ledger.skip("judge_name=reward_model", "reward models whose answers are not in the recording");
    ledger.skip("/published_leaderboard_README_overall/", "published figures");
    ledger.close();
}

fn both_orders(ledger: &mut Ledger, path: &str, judge: &JudgeAudit, both: &str, consistency: &str) {
    let n = judge.n_items;
    ledger.count(&format!("{path}/n"), n);
    ledger.rate(&format!("{path}/acc_order1"), count(judge, "accuracy_ab", "n_hits"), n);
    ledger.rate(&format!("{path}/acc_order2"), count(judge, "accuracy_ba", "n_hits"), n);
    let right = count(judge, "accuracy_both_orders", "paired_by_repeat_right");
    ledger.rate(&format!("{path}/{both}"), right, n);
    ledger.rate(&format!("{path}/{consistency}"), patterns(judge)[0], n);
    let (first, decided) = pooled_first(judge);
    ledger.rate(&format!("{path}/first_position_preference"), first, decided);
}

const VICUNA: &str = "item=question_id, group=question_id, first=first_model, second=second_model, \
                      chosen_position=verdict, people=human, generator=file";
/// Each order of a pair an item, the place chosen its category.
const VICUNA_AS_SHOWN: &str =
    "item=question_id+first_model+second_model, category=verdict, people=human, generator=file";

/// Whether a row is of the second run, in which one judge was asked again about one pair: its files are named with dashes.
fn is_second_run(row: &Judgement<'_>) -> bool {
    row.generator.as_deref().is_some_and(|file| file.starts_with("answer-"))
}

#[test]
fn peer_rank_judges_against_people() {
    let Some(folder) = data() else { return };
    let mut ledger = Ledger::read(&folder, "prd_vicuna80");
    let file = folder.join("prd_vicuna80_verdicts.csv");
    let audit = audited(&log_where(&file, VICUNA, |row| !is_second_run(row)), &config());
    assert_eq!(audit.data.label_source, "raters (plurality)");
    for judge in &audit.judges {
        let path = format!("/judges/{}", judge.judge);
        ledger.count(&format!("{path}/n_verdicts"), judge.n_judgements);
        let (first, decided) = pooled_first(judge);
        for (verdict, n) in [("1", first), ("2", decided - first), ("T", answers(judge, "tie"))] {
            ledger.count(&format!("{path}/verdict_counts/{verdict}"), n);
        }
        ledger.rate(&format!("{path}/first_position_preference"), first, decided);
        let [consistent, primacy, recency, pairs] = patterns(judge);
        ledger.rate(&format!("{path}/position_consistency"), consistent, pairs);
        ledger.count(&format!("{path}/primacy"), primacy);
        ledger.count(&format!("{path}/recency"), recency);
        let hits = |id, name| count(judge, id, name);
        let n = judge.n_labelled;
        ledger.rate(&format!("{path}/human_agreement_alphabetical_order"), hits("accuracy_ab", "n_hits"), n);
        ledger.rate(&format!("{path}/human_agreement_swapped"), hits("accuracy_ba", "n_hits"), n);
        let both = |name: &str| count(judge, "accuracy_both_orders", &format!("paired_by_repeat_{name}"));
        ledger.rate(&format!("{path}/human_agreement_both"), both("right"), n);
        ledger.rate(&format!("{path}/human_agreement_both_order_rule"), both("tie_where_they_differ"), n);
        for pair in ledger.names(&format!("{path}/per_pair")) {
            let (a, b) = pair.split_once('|').unwrap();
            let columns = format!("{VICUNA}, where={{first_model=[{a}, {b}], second_model=[{a}, {b}]}}");
            let of_judge = AuditConfig { judge: Some(judge.judge.clone()), ..config() };
            let of_pair = only(&log_where(&file, &columns, |row| !is_second_run(row)), &of_judge);
            let [consistent, primacy, recency, _] = patterns(&of_pair);
            for (name, n) in [("consistent", consistent), ("primacy", primacy), ("recency", recency)] {
                count_or_none(&mut ledger, &format!("{path}/per_pair/{pair}/{name}"), n);
            }
        }
    }
    people(&mut ledger, &file);
    second_run(&mut ledger, &file);
    ledger.close();
}

fn people(ledger: &mut Ledger, file: &std::path::Path) {
    let votes = log_where(file, VICUNA, |row| row.rater.is_some());
    let audit = audited(&votes, &config());
    ledger.count("/human/n_votes", audit.data.n_ratings);
    ledger.count("/human/n_unordered_pairs", audit.data.n_items);
    ledger.count("/human/n_with_plurality", audit.data.n_labelled);
    let shown = log_where(file, VICUNA_AS_SHOWN, |row| row.rater.is_some());
    let audit = audited(&shown, &config());
    let all = &audit.agreement[0].measures;
    let n_items = all["percent_agreement"].n_items;
    ledger.count("/human/items_with_3_votes", n_items);
    ledger.count("/human/votes_per_item_hist/3", n_items);
    ledger.count("/human/votes_per_item_hist/1", audit.data.n_items - n_items);
    ledger.number("/human/mean_pairwise_agreement", all["percent_agreement"].estimate);
    ledger.number("/human/fleiss_kappa", all["fleiss_kappa"].estimate);
    ledger.number("/human/alpha_nominal", all["alpha_nominal"].estimate);
    // People put on trial as one judge, for the place they choose: no pair was shown to them in both orders, so that an
    // audit measures no preference; the counts are those of the answers.
    let judge = only(&log_of(file, &VICUNA_AS_SHOWN.replace("people=human", "where={judge=human}")), &config());
    let (first, second) = (answers(&judge, "1"), answers(&judge, "2"));
    ledger.rate("/human/first_position_preference", first, first + second);
}

fn second_run(ledger: &mut Ledger, file: &std::path::Path) {
    let both = log_where(file, VICUNA_AS_SHOWN, |row| {
        if is_second_run(row) {
            row.judge = "second run".into();
        }
        row.rater.is_none() && row.judge != "claude"
    });
    let audit = audited(&both, &config());
    let pair = &audit.agreement[0].measures;
    let same = &pair["percent_agreement"];
    let path = "/gpt35_second_run_of_gpt35_vs_gpt4";
    ledger.count(&format!("{path}/n"), same.n_items);
    let n_same = whole(same.estimate * same.n_items as f64);
    ledger.rate(&format!("{path}/same_verdict"), n_same, same.n_items);
    ledger.number(&format!("{path}/kappa"), pair["kappa"].estimate);
}
