//! The worked examples on the pages of measures are what the tool measures.

use std::fmt::Write as _;
use std::fs;

use serde_json::Value;

use crate::cli_support::Desk;
use crate::readme::root;

/// A log, flags, and the measures whose pages work it out by hand.
struct Example {
    log: &'static str,
    flags: &'static [&'static str],
    ids: &'static [&'static str],
}

const REPEATED_VERDICTS: &str =
    "item,verdict\n1,accept\n1,accept\n1,accept\n1,accept\n2,accept\n2,accept\n2,accept\n2,reject\n";

const REPEATED_SCORES: &str = "item,score\n1,5\n1,5\n1,7\n2,3\n2,4\n2,3\n3,8\n3,8\n3,8\n";

const LABELLED_VERDICTS: &str = "item,verdict,label\n1,accept,1\n2,accept,1\n3,accept,1\n4,reject,1\n5,accept,0\n6,reject,0\n\
                                 7,reject,0\n8,reject,0\n9,reject,0\n10,reject,0\n";

const PARTLY_LABELLED: &str = "item,verdict,label\n\
                               1,accept,1\n2,accept,1\n3,accept,1\n4,accept,1\n5,accept,1\n6,accept,1\n7,accept,1\n8,accept,1\n9,accept,1\n\
                               10,reject,1\n\
                               11,accept,0\n12,accept,0\n\
                               13,reject,0\n14,reject,0\n15,reject,0\n16,reject,0\n17,reject,0\n18,reject,0\n19,reject,0\n20,reject,0\n\
                               21,accept,\n22,accept,\n23,accept,\n24,accept,\n25,accept,\n26,accept,\n\
                               27,reject,\n28,reject,\n29,reject,\n30,reject,\n";

const EXAMPLES: &[Example] = &[
    Example { log: "item,verdict\n1,accept\n2,reject\n3,\n4,accept\n5,reject\n", flags: &[], ids: &["unparsed_rate"] },
    Example {
        log: REPEATED_VERDICTS,
        flags: &["--repeats", "3"],
        ids: &["flip_rate", "repeat_consistency", "any_flip_rate", "repeat_alpha"],
    },
    Example {
        log: REPEATED_SCORES,
        flags: &["--repeats", "2"],
        ids: &[
            "mean_abs_difference",
            "moved_over_one_point",
            "within_item_sd",
            "within_item_range_max",
            "icc_single",
            "icc_mean",
        ],
    },
    Example {
        log: "item,order,choice\n1,ab,a\n1,ab,a\n1,ba,a\n1,ba,a\n2,ab,a\n2,ab,a\n2,ba,b\n2,ba,b\n\
              3,ab,a\n3,ab,b\n3,ba,a\n3,ba,b\n4,ab,tie\n4,ab,tie\n4,ba,b\n4,ba,b\n",
        flags: &[],
        ids: &[
            "swap_consistency",
            "position_excess",
            "position_direction",
            "first_position_preference",
            "primacy_rate",
            "recency_rate",
            "win_rate",
        ],
    },
    Example {
        log: "item,order,score\n1,ab,8\n1,ba,6\n2,ab,5\n2,ba,5\n3,ab,7\n3,ba,6\n",
        flags: &[],
        ids: &["order_shift"],
    },
    Example { log: "item,place,score\n1,1,8\n1,2,7\n1,3,6\n2,1,5\n2,3,4\n", flags: &[], ids: &["place_slope"] },
    Example {
        log: LABELLED_VERDICTS,
        flags: &[],
        ids: &[
            "accuracy",
            "false_accept_rate",
            "false_reject_rate",
            "precision",
            "negative_predictive_value",
            "kappa",
            "ac1",
            "alpha_with_labels",
        ],
    },
    Example {
        log: "item,order,choice,label\n1,ab,a,a\n1,ba,a,a\n2,ab,a,b\n2,ba,b,b\n3,ab,b,b\n3,ba,b,b\n4,ab,a,b\n4,ba,a,b\n",
        flags: &[],
        ids: &["accuracy_ab", "accuracy_ba", "accuracy_both_orders"],
    },
    Example { log: "item,score,label\n1,9,1\n2,6,1\n3,7,0\n4,6,0\n5,2,0\n", flags: &[], ids: &["auc"] },
    Example {
        log: "item,score,label\n1,2,1\n2,4,2\n3,4,4\n4,8,5\n",
        flags: &[],
        ids: &["spearman", "kendall", "pearson", "weighted_kappa"],
    },
    Example { log: "item,score,label\n1,6.1,3\n2,6.3,3\n3,7.5,4\n4,7.0,1\n", flags: &[], ids: &["pairwise_accuracy"] },
    Example { log: "item,score,label\n1,3,2\n2,5,3\n3,2,4\n", flags: &[], ids: &["mean_error", "mean_absolute_error"] },
    Example {
        log: "item,group,score,label\na1,a,9,1\na2,a,4,0\nb1,b,7,1\nb2,b,7,0\nc1,c,3,1\nc2,c,6,0\n",
        flags: &[],
        ids: &["top_of_group_accuracy"],
    },
    Example {
        log: "item,score,length_a,label\n1,4,100,0\n2,5,200,0\n3,7,400,1\n4,7,800,1\n",
        flags: &[],
        ids: &["length_effect"],
    },
    Example {
        log: "item,verdict,length_a,label\n1,reject,100,0\n2,accept,200,0\n3,accept,400,1\n4,accept,800,1\n",
        flags: &[],
        ids: &["length_effect_share"],
    },
    Example {
        log: "item,judge,generator,score\n1,alpha,alpha,8\n1,beta,alpha,6\n2,alpha,alpha,7\n2,beta,alpha,6\n\
              3,alpha,gamma,5\n3,beta,gamma,5\n4,alpha,gamma,4\n4,beta,gamma,5\n",
        flags: &[],
        ids: &["self_preference"],
    },
    Example {
        log: "item,judge,generator,verdict,label\n1,alpha,alpha,accept,0\n1,beta,alpha,reject,0\n\
              2,alpha,alpha,accept,0\n2,beta,alpha,accept,0\n3,alpha,gamma,accept,0\n3,beta,gamma,reject,0\n\
              4,alpha,gamma,reject,0\n4,beta,gamma,reject,0\n5,alpha,gamma,reject,0\n5,beta,gamma,accept,0\n\
              6,alpha,alpha,accept,1\n6,beta,alpha,accept,1\n7,alpha,gamma,accept,1\n7,beta,gamma,accept,1\n",
        flags: &[],
        ids: &["self_preference_share", "own_false_accepts"],
    },
    Example { log: LABELLED_VERDICTS, flags: &["--costs", "5:1"], ids: &["expected_cost"] },
    Example { log: PARTLY_LABELLED, flags: &[], ids: &["pass_rate", "corrected_pass_rate"] },
    Example { log: PARTLY_LABELLED, flags: &["--labels-are", "random"], ids: &["corrected_pass_rate_ppi"] },
    Example {
        log: "item,verdict,confidence,label\n1,accept,0.8,1\n2,accept,0.8,1\n3,accept,0.8,1\n4,accept,0.8,0\n5,accept,1,1\n",
        flags: &[],
        ids: &["overconfidence", "brier_score", "log_loss", "ece", "ece_excess"],
    },
    Example {
        log: "item,score\n1,5\n2,5\n3,4\n4,1\n",
        flags: &["--scale", "1-5"],
        ids: &["ceiling_share", "floor_share", "effective_levels"],
    },
    Example {
        log: "item,dimension,score,label\n1,clear,1,2\n1,true,1,1\n2,clear,2,1\n2,true,2,2\n\
              3,clear,3,4\n3,true,3,3\n4,clear,4,3\n4,true,4,4\n",
        flags: &[],
        ids: &["halo_excess"],
    },
    Example {
        log: "item,judge,rater,verdict\n1,,p1,accept\n1,,p2,accept\n1,,p3,reject\n1,j,,accept\n1,j,,accept\n1,j,,accept\n\
              2,,p1,reject\n2,,p2,reject\n2,,p3,reject\n2,j,,reject\n2,j,,reject\n2,j,,accept\n\
              3,,p1,accept\n3,,p2,accept\n3,,p3,accept\n3,j,,reject\n3,j,,reject\n3,j,,reject\n",
        flags: &[],
        ids: &["people_agreement", "agreement_with_people", "agreement_gap", "bias_from_people", "variance_of_draws"],
    },
    Example {
        log: "item,judge,rater,score\n1,,p1,4\n1,,p2,5\n1,,p3,6\n1,j,,5\n2,,p1,2\n2,,p2,2\n2,,p3,5\n2,j,,4\n\
              3,,p1,7\n3,,p2,8\n3,,p3,9\n3,j,,6\n",
        flags: &[],
        ids: &["people_distance", "distance_to_people", "distance_gap"],
    },
];

/// Returns the first number in bold of a page's worked example.
fn printed(id: &str) -> f64 {
    let page = fs::read_to_string(root().join(format!("docs/explanation/measures/{id}.md"))).unwrap();
    let example = page.split("\n## Worked example\n").nth(1).and_then(|rest| rest.split("\n## ").next()).unwrap();
    let bold = example.split("**").nth(1).unwrap_or_else(|| panic!("{id}: nothing in bold"));
    bold.replace('−', "-").parse().unwrap_or_else(|_| panic!("{id}: {bold}"))
}

/// Audits a log and compares the measures with what their pages print.
fn compare(desk: &Desk, log: &str, flags: &[&str], ids: &[&str]) {
    // Pages print at least three digits.
    const ROUNDING: f64 = 0.000_501;
    desk.write("example.csv", log);
    let run = desk.run(&[&["audit", "example.csv", "--json"], flags].concat());
    let audit: Value = serde_json::from_str(&run.stdout).unwrap();
    for id in ids {
        let measured = audit["judges"][0]["measures"][id]["estimate"].as_f64();
        let measured = measured.unwrap_or_else(|| panic!("{id} was not measured: {run:?}"));
        let printed = printed(id);
        assert!((measured - printed).abs() < ROUNDING, "{id}: {printed} is printed, {measured} measured");
    }
}

#[test]
fn worked_examples_come_out_as_printed() {
    let desk = Desk::new();
    for example in EXAMPLES {
        compare(&desk, example.log, example.flags, example.ids);
    }
}

/// The alternative-annotator test takes thirty items, too many to write out.
#[test]
fn the_worked_example_of_a_persons_place_comes_out_as_printed() {
    let mut log = String::from("item,judge,rater,verdict\n");
    for item in 1..=30 {
        let third = if (17..=26).contains(&item) { "reject" } else { "accept" };
        let judge = if item > 26 { "reject" } else { "accept" };
        write!(log, "{item},,p1,accept\n{item},,p2,accept\n{item},,p3,{third}\n{item},j,,{judge}\n").unwrap();
    }
    compare(&Desk::new(), &log, &[], &["advantage_probability", "winning_rate"]);
}
