//! Audits of the bundled recordings against full-precision figures of public packages (`tests/golden/audit.py`), and the
//! facts that these recordings are known for.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use assize_calibration::audit::AuditConfig;
use assize_calibration::audit::result::{Audit, JudgeAudit, Measure, VotingPoint};
use assize_calibration::log::Log;
use serde_json::Value;

use super::reference::{audited, config, detail, log_of, log_where, measure, only};

fn path(name: &str) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    if name.contains('/') { root.join("examples").join(name) } else { root.join("tests/golden/data").join(name) }
}

fn golden(set: &str) -> Value {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/audit.json");
    serde_json::from_str::<Value>(&std::fs::read_to_string(path).unwrap()).unwrap()[set].take()
}

/// Asserts agreement to 1e-9: both sum thousands of terms in orders of their own.
#[track_caller]
fn same(actual: f64, expected: &Value, what: &str) {
    let expected = expected.as_f64().unwrap_or_else(|| panic!("{what}: {expected}"));
    assert!((actual - expected).abs() <= 1e-9, "{what}: {actual} is not {expected}");
}

#[track_caller]
fn near(actual: f64, expected: f64, decimals: i32) {
    assert!((actual - expected).abs() <= 0.51 * 10_f64.powi(-decimals), "{actual} is not {expected}");
}

/// The interval's ends.
fn ends(measure: &Measure) -> [f64; 2] {
    [measure.low.unwrap(), measure.high.unwrap()]
}

const REWARD_BENCH: &str = "item=row+response_index, group=row, repeats=s1..s8, label=gold";

fn reward_bench(repeats: u32) -> JudgeAudit {
    let log = log_of(&path("rewardbench2/scores.csv"), REWARD_BENCH);
    only(&log, &AuditConfig { stability_repeats: repeats, scale: Some([1.0, 10.0]), ..config() })
}

#[test]
fn stability_and_area_of_repeated_scores_equal_the_packages() {
    let golden = golden("reward_bench");
    let judge = reward_bench(5);
    for id in ["within_item_sd", "flip_rate", "mean_abs_difference", "auc"] {
        same(measure(&judge, id).estimate, &golden[id], id);
    }
    let alpha = measure(&judge, "repeat_alpha");
    same(alpha.estimate, &golden["alpha_interval"], "alpha");
    same(detail(alpha, "alpha_ordinal").unwrap(), &golden["alpha_ordinal"], "ordinal alpha");
}

#[test]
fn intraclass_correlation_equals_pingouin() {
    let golden = golden("reward_bench");
    let (mut taken, mut by_item) = (BTreeSet::new(), BTreeMap::<String, u32>::new());
    let file = path("rewardbench2/scores.csv");
    log_where(&file, REWARD_BENCH, |row| {
        let n = by_item.entry(row.item.to_string()).or_default();
        *n += u32::from(!row.is_unparsed());
        if *n == 8 && taken.len() < 400 {
            taken.insert(row.item.to_string());
        }
        false
    });
    let judge = only(&log_where(&file, REWARD_BENCH, |row| taken.contains(row.item.as_ref())), &config());
    same(measure(&judge, "icc_single").estimate, &golden["icc_single_of_the_first_400_complete"], "single");
    same(measure(&judge, "icc_mean").estimate, &golden["icc_mean_of_the_first_400_complete"], "mean");
}

/// Without its k it is no number: .020, .036, .063, .093.
#[test]
fn moved_over_one_point_grows_with_the_number_of_draws() {
    let golden = golden("reward_bench");
    for (k, rounded) in [(2, 0.020), (3, 0.036), (5, 0.063), (8, 0.093)] {
        let judge = reward_bench(k);
        let moved = measure(&judge, "moved_over_one_point");
        same(moved.estimate, &golden[format!("moved_over_one_point_{k}")], "moved");
        near(moved.estimate, rounded, 3);
        assert_eq!(detail(moved, "k"), Some(f64::from(k)));
    }
}

/// The sign of voting's gain depends on the rule for ties.
#[test]
fn voting_gains_or_loses_by_the_rule_for_ties() {
    let golden = golden("reward_bench");
    let voting = reward_bench(5).voting.unwrap();
    let point = |k: u32| -> &VotingPoint { voting.points.iter().find(|point| point.k == k).unwrap() };
    for (k, split, wrong, dropped) in [(1, 0.796, 0.722, 0.869), (8, 0.835, 0.815, 0.850)] {
        let golden = &golden[format!("voting_{k}")];
        let accuracy = point(k).accuracy.as_ref().unwrap();
        assert_eq!(voting.n_items, golden["n"].as_u64().unwrap(), "every k uses the same groups");
        for (value, name, rounded) in [
            (accuracy.estimate, "split", split),
            (detail(accuracy, "ties_wrong").unwrap(), "ties_wrong", wrong),
            (detail(accuracy, "ties_dropped").unwrap(), "ties_dropped", dropped),
        ] {
            same(value, &golden[name], name);
            near(value, rounded, 3);
        }
    }
    assert!(voting.tie_rule.contains("equal parts"));
}

#[test]
fn temperature_0_is_not_deterministic() {
    let log = log_of(&path("rb2_scores_base_full_k8_t0.0.csv.gz"), REWARD_BENCH);
    let judge = only(&log, &AuditConfig { stability_repeats: 8, ..config() });
    near(measure(&judge, "any_flip_rate").estimate, 0.23, 2);
}

#[test]
fn position_figures_of_nine_judges_equal_the_packages() {
    let golden = golden("position_bias");
    let columns = "item=question_id, group=question_id, repeat=rep, first=first_model, second=second_model, \
                   chosen_position=verdict, values={N=unparsed}";
    // Pairs, not questions, are the clusters of the reference; here each question has one pair.
    let columns = columns.replace(" group=question_id,", "");
    let audit = audited(&log_of(&path("position-bias/verdicts.csv"), &columns), &config());
    assert_eq!(audit.judges.len(), golden.as_object().unwrap().len());
    for judge in &audit.judges {
        let golden = &golden[&judge.judge];
        let alpha = measure(judge, "repeat_alpha");
        same(detail(alpha, "by_place_chosen").unwrap(), &golden["alpha_by_place_chosen"], "alpha");
        for id in ["swap_consistency", "position_direction"] {
            same(measure(judge, id).estimate, &golden[id], id);
        }
        let excess = measure(judge, "position_excess");
        same(excess.estimate, &golden["position_excess"][0], "excess");
        for (end, idx) in ends(excess).into_iter().zip(1..) {
            same(end, &golden["position_excess"][idx], "end of excess");
        }
    }
    let excess = |name: &str| {
        let judge = audit.judges.iter().find(|judge| judge.judge == name).unwrap();
        let excess = measure(judge, "position_excess");
        [excess.estimate, ends(excess)[0], ends(excess)[1]]
    };
    for (name, rounded) in
        [("claude-3-haiku-20240307", [0.133, 0.067, 0.199]), ("gpt-4-0125-preview", [0.021, -0.007, 0.050])]
    {
        excess(name).into_iter().zip(rounded).for_each(|(value, rounded)| near(value, rounded, 3));
    }
}

fn llmbar(keep: impl Fn(&str) -> bool + Sync, order: &str) -> Log {
    let columns = format!(
        "item=subset+item, arm=strategy, {order}, outcome=choice, values={{1=a, 2=b, None=unparsed}}, \
         label_values={{1=a, 2=b}}, where={{judge=GPT-4, strategy=[Vanilla, Vanilla_1shot, Vanilla_2shot]}}"
    );
    log_where(&path("llmbar_verdicts.csv.gz"), &columns, |row| keep(&row.item))
}

/// The published kappas of this set, .2678 and .2715, come from a map of labels that fits none.
#[test]
fn llmbar_kappas_are_those_of_its_labels() {
    let golden = golden("llmbar");
    let columns = [
        "order_ab=winner_order1, ignore=[winner_order2_swapped]",
        "order_ba=winner_order2_swapped, ignore=[winner_order1]",
    ];
    for (idx, order) in columns.into_iter().enumerate() {
        let natural = audited(&llmbar(|item| item.starts_with("Natural"), order), &config());
        for judge in &natural.judges {
            let arm = judge.arm.as_deref().unwrap();
            same(measure(judge, "kappa").estimate, &golden["kappa"][arm][idx], arm);
        }
    }
    let kappa = |arm: &str, idx: usize| golden["kappa"][arm][idx].as_f64().unwrap();
    near(kappa("Vanilla", 0), 0.897_708_674_304_419, 12);
    near(kappa("Vanilla", 1), 0.917_898_193_760_262_7, 12);
    near(kappa("Vanilla_2shot", 0), 0.876_033, 6);
    near(kappa("Vanilla_2shot", 1), 0.835_796, 6);
    // The orders against each other, as two judges of the same items.
    let both = "order_ab=winner_order1, order_ba=winner_order2_swapped";
    let mut orders = Log::default();
    let columns = format!(
        "item=subset+item, {both}, outcome=choice, values={{1=a, 2=b}}, label_values={{1=a, 2=b}}, \
         where={{judge=GPT-4, strategy=Vanilla_2shot, subset=Natural}}"
    );
    log_where(&path("llmbar_verdicts.csv.gz"), &columns, |row| {
        row.judge = format!("{:?}", row.order.take().unwrap()).into();
        orders.push(row, 1);
        false
    });
    let agreement = audited(&orders, &config()).agreement;
    let kappa = agreement[0].measures["kappa"].estimate;
    same(kappa, &golden["kappa"]["Vanilla_2shot_agreement_of_orders"], "orders");
    near(kappa, 0.958_678, 6);
}

/// Worked examples in the prompt, 0, 1 and 2 of them: neither differs from none by more than these items could show.
#[test]
fn anchors_are_compared_item_by_item() {
    let golden = golden("llmbar");
    let audit = audited(&llmbar(|_| true, "order_ab=winner_order1, order_ba=winner_order2_swapped"), &config());
    for (arm, rounded) in [("Vanilla", 0.8604), ("Vanilla_1shot", 0.8650), ("Vanilla_2shot", 0.8405)] {
        let judge = audit.judges.iter().find(|judge| judge.arm.as_deref() == Some(arm)).unwrap();
        same(measure(judge, "accuracy").estimate, &golden["accuracy"][arm], arm);
        near(measure(judge, "accuracy").estimate, rounded, 4);
    }
    for (a, b, better) in [
        ("Vanilla", "Vanilla_1shot", "undecided"),
        ("Vanilla", "Vanilla_2shot", "undecided"),
        // The second example costs what the first may have brought.
        ("Vanilla_1shot", "Vanilla_2shot", "a"),
    ] {
        let compared = accuracy_of(&audit, a, b);
        let golden = &golden[format!("{a}-{b}")];
        let [low, high] = ends(&compared.difference);
        for (value, name) in [(compared.difference.estimate, "difference"), (low, "low"), (high, "high")] {
            same(value, &golden[name], name);
        }
        same(compared.p_value.unwrap(), &golden["p"], "p");
        assert_eq!(compared.better, better);
    }
    for (b, rounded) in [("Vanilla_1shot", [0.005, -0.017, 0.026]), ("Vanilla_2shot", [-0.020, -0.045, 0.005])] {
        let difference = &accuracy_of(&audit, "Vanilla", b).difference;
        let [low, high] = ends(difference);
        for (value, rounded) in [difference.estimate, low, high].into_iter().zip(rounded) {
            near(value, rounded, 3);
        }
    }
}

fn accuracy_of<'a>(audit: &'a Audit, a: &str, b: &str) -> &'a assize_calibration::audit::result::Comparison {
    let found = audit.comparisons.iter().find(|c| c.measure == "accuracy" && c.a == a && c.b == b);
    found.unwrap_or_else(|| {
        panic!("{:?}", audit.comparisons.iter().map(|c| (&c.a, &c.b, &c.measure)).collect::<Vec<_>>())
    })
}

const ICE_SCORE: &str = "item=lang+task_id+candidate, group=task_id, judges=[gpt35_noref, gpt35_withref], \
                         label=execution, where={lang=python}";

/// Twenty programs of one task err together: the rate's variance is 3.3 times that of independent programs.
#[test]
fn false_accepts_of_programs_cluster_by_task() {
    let golden = golden("ice_score");
    let log = log_of(&path("icescore_humaneval.csv.gz"), ICE_SCORE);
    let audit = audited(&log, &AuditConfig { accept_at: Some(4.0), ..config() });
    for judge in &audit.judges {
        let golden = &golden[&judge.judge];
        let rate = measure(judge, "false_accept_rate");
        same(rate.estimate, &golden["false_accept_rate_at_4"], "rate");
        let clusters = judge.error_clusters.as_ref().unwrap();
        same(clusters.design_effect["false_accept"], &golden["design_effect"], "design effect");
        for (end, idx) in ends(rate).into_iter().zip(0..) {
            same(end, &golden["korn_graubard"][idx], "end of the rate");
        }
        let auc = measure(judge, "auc");
        same(auc.estimate, &golden["auc"], "auc");
        same(detail(auc, "spearman_with_labels").unwrap(), &golden["spearman"], "spearman");
        same(detail(auc, "kendall_with_labels").unwrap(), &golden["kendall"], "kendall");
    }
    near(audit.judges[0].error_clusters.as_ref().unwrap().design_effect["false_accept"], 3.3, 1);
}

#[test]
fn scores_against_sixteen_people_equal_the_packages() {
    let golden = golden("conala");
    let columns = "item=problem+system, raters=grader1..grader16, judges=[conala_no_step_no_ref_gpt35, \
                   conala_no_step_with_ref_gpt35, conala_with_step_no_ref_gpt35, conala_with_step_with_ref_gpt35]";
    let audit = audited(&log_of(&path("conala_grades.csv.gz"), columns), &config());
    for judge in &audit.judges {
        for id in ["spearman", "kendall", "pearson", "mean_error", "mean_absolute_error"] {
            same(measure(judge, id).estimate, &golden[&judge.judge][id], id);
        }
    }
    let people = audit.agreement.iter().find(|agreement| agreement.among == "raters").unwrap();
    let alpha = &people.measures["alpha_interval"];
    same(alpha.estimate, &golden["alpha_interval"], "interval");
    same(detail(alpha, "alpha_ordinal").unwrap(), &golden["alpha_ordinal"], "ordinal");
}

#[test]
fn agreement_with_labels_equals_the_packages() {
    let golden = golden("xstest");
    let words = "{1_full_compliance=accept, 2_full_refusal=reject, 3_partial_refusal=reject}";
    for (model, golden) in golden.as_object().unwrap() {
        let columns = format!(
            "item=id, judges=[gpt4_label, strmatch_label], label=final_label, outcome=verdict, values={words}, \
             label_values={words}, where={{answer_model={model}}}"
        );
        let audit = audited(&log_of(&path("xstest/verdicts.csv"), &columns), &config());
        for id in ["kappa", "ac1", "alpha_with_labels"] {
            same(measure(&audit.judges[0], id).estimate, &golden[id], id);
        }
        same(audit.agreement[0].measures["kappa"].estimate, &golden["kappa_of_judges"], "judges");
        let columns = format!(
            "item=id, raters=[annotation_1, annotation_2], outcome=category, where={{answer_model={model}}}, ignore=[type]"
        );
        let people = audited(&log_of(&path("xstest/verdicts.csv"), &columns), &config());
        same(people.agreement[0].measures["kappa"].estimate, &golden["kappa_of_people"], "people");
    }
}

#[test]
fn agreement_of_many_people_equals_the_packages() {
    let golden = golden("peer_rank");
    let columns = "item=question_id+first_model+second_model, category=verdict, people=human";
    let log = log_where(&path("prd_vicuna80_verdicts.csv.gz"), columns, |row| row.rater.is_some());
    let people = &audited(&log, &config()).agreement[0].measures;
    for id in ["fleiss_kappa", "alpha_nominal", "percent_agreement"] {
        same(people[id].estimate, &golden[id], id);
    }
}

#[test]
fn win_rate_and_agreement_of_annotators_equal_the_packages() {
    let golden = golden("alpaca");
    let file = path("alpacaeval_preferences.csv.gz");
    let columns = "item=i, judge=judge_config, score=preference, label='1', \
                   where={judge_config=weighted_alpaca_eval_gpt4_turbo}";
    let judge = only(&log_of(&file, columns), &AuditConfig { good_at: Some(1.5), ..config() });
    let mean = measure(&judge, "mean_error");
    same(mean.estimate, &golden["win_rate"], "win rate");
    let t = assize_calibration::distribution::t_quantile(0.975, 804.0);
    same((mean.high.unwrap() - mean.estimate) / t, &golden["standard_error"], "standard error");
    let both = audited(&log_of(&file, "item=i, judge=judge_config, preference=preference"), &config());
    same(both.agreement[0].measures["kappa"].estimate, &golden["kappa"], "kappa");
}
