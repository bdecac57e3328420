//! The worked examples on the pages of measures are what the tool measures.

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
        ids: &["spearman", "kendall", "pearson"],
    },
    Example { log: "item,score,label\n1,3,2\n2,5,3\n3,2,4\n", flags: &[], ids: &["mean_error", "mean_absolute_error"] },
    Example {
        log: "item,group,score,label\na1,a,9,1\na2,a,4,0\nb1,b,7,1\nb2,b,7,0\nc1,c,3,1\nc2,c,6,0\n",
        flags: &[],
        ids: &["top_of_group_accuracy"],
    },
];

/// Returns the first number in bold of a page's worked example.
fn printed(id: &str) -> f64 {
    let page = fs::read_to_string(root().join(format!("docs/explanation/measures/{id}.md"))).unwrap();
    let example = page.split("\n## Worked example\n").nth(1).and_then(|rest| rest.split("\n## ").next()).unwrap();
    let bold = example.split("**").nth(1).unwrap_or_else(|| panic!("{id}: nothing in bold"));
    bold.replace('−', "-").parse().unwrap_or_else(|_| panic!("{id}: {bold}"))
}

#[test]
fn worked_examples_come_out_as_printed() {
    // Pages print at least three digits.
    const ROUNDING: f64 = 0.000_501;
    let desk = Desk::new();
    for example in EXAMPLES {
        desk.write("example.csv", example.log);
        let run = desk.run(&[&["audit", "example.csv", "--json"], example.flags].concat());
        let audit: Value = serde_json::from_str(&run.stdout).unwrap();
        for id in example.ids {
            let measured = audit["judges"][0]["measures"][id]["estimate"].as_f64();
            let measured = measured.unwrap_or_else(|| panic!("{id} was not measured: {run:?}"));
            let printed = printed(id);
            assert!((measured - printed).abs() < ROUNDING, "{id}: {printed} is printed, {measured} measured");
        }
    }
}
