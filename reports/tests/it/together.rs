//! The parts of an audit by hand that are about several raters, people, labels and the scale.

use assize_calibration::audit::result::{
    AgainstPerson, AlternativeTest, AssumedNoise, DoubtfulItem, ErrorPair, Finding, FindingWeight, Halo, LabelNoise,
    LabelsToTurn, Likeness, Panel, PanelMethod, PanelRater, PanelWorth, ScaleUse, VoteWorth,
};
use assize_calibration::gate::LimitState;

use crate::fixture::{HOSTILE, measure};

pub(crate) fn alternative() -> AlternativeTest {
    let person = |rater: &str, is_won| AgainstPerson {
        rater: rater.to_owned(),
        n_items: 120,
        judge_advantage: 0.82,
        person_advantage: 0.75,
        p_value: 0.002,
        p_adjusted: if is_won { 0.011 } else { 0.41 },
        is_won,
        minimal_detectable: Some(0.07),
    };
    AlternativeTest {
        epsilon: 0.2,
        false_discovery_rate: 0.05,
        alignment: "accuracy".to_owned(),
        passed: true,
        n_people_left_out: 2,
        people: vec![person("评审一", true), person(HOSTILE, true), person("r3", false)],
    }
}

pub(crate) fn label_noise() -> LabelNoise {
    let turned = |measure: &str, side: &str, limit, state, n_labels: Option<u64>| LabelsToTurn {
        measure: measure.to_owned(),
        side: side.to_owned(),
        limit,
        state,
        n_labels,
        share: n_labels.map(|n| n as f64 / 240.0),
    };
    LabelNoise {
        n_labelled: 240,
        limits: vec![
            turned("false_accept_rate", "max", 0.1, LimitState::Broken, Some(19)),
            turned("accuracy", "min", 0.5, LimitState::Met, None),
        ],
        accuracy: vec![
            AssumedNoise { error_rate: 0.02, low: 0.78, high: 0.82, if_independent: Some(0.8125) },
            AssumedNoise { error_rate: 0.1, low: 0.7, high: 0.9, if_independent: None },
        ],
    }
}

pub(crate) fn scale_use() -> Vec<ScaleUse> {
    let used = |dimension: &str, unused: Vec<f64>| ScaleUse {
        dimension: Some(dimension.to_owned()),
        scale: [1.0, 10.0],
        ceiling: measure(0.31, 0.25, 0.38),
        floor: measure(0.0, 0.0, 0.015),
        effective_levels: measure(3.2, 2.9, 3.5),
        effective_levels_of_labels: Some(6.1),
        n_used: 10 - unused.len() as u64,
        n_possible: Some(10),
        unused,
    };
    vec![used("准确性", vec![1.0, 2.0, 3.0]), used(HOSTILE, Vec::new())]
}

pub(crate) fn halo() -> Halo {
    let likeness = |mean| Likeness {
        n_items: 240,
        mean_correlation: measure(mean, mean - 0.08, mean + 0.06),
        one_factor_share: 0.71,
        cronbach_alpha: Some(measure(0.84, 0.8, 0.88)),
    };
    Halo {
        dimensions: vec!["准确性".to_owned(), "style".to_owned(), HOSTILE.to_owned()],
        judge: likeness(0.64),
        reference: Some(likeness(0.21)),
        reference_source: Some("labels".to_owned()),
    }
}

pub(crate) fn panel() -> Panel {
    let method = |name: &str, at: f64| PanelMethod {
        method: name.to_owned(),
        accuracy: Some(measure(at, at - 0.05, at + 0.04)),
        gain: (name != "one_rater").then(|| measure(at - 0.64, at - 0.7, at - 0.58)),
        false_accept_rate: Some(measure(0.08, 0.03, 0.18)),
        false_reject_rate: None,
        n_tied: 3,
        same_as_majority: (name != "one_rater").then_some(0.93),
        converged: (name == "mace").then_some(false),
    };
    let rater = |name: &str| PanelRater {
        name: name.to_owned(),
        n_items: 108,
        accuracy: Some(measure(0.72, 0.63, 0.8)),
        agrees_with_others: Some(0.77),
        dawid_skene: Some(0.81),
        mace: Some(0.6),
        glad: Some(-0.4),
    };
    let finding = |weight, what: &str| Finding {
        what: what.to_owned(),
        advice: "Keep one of the two if they are of one family.".to_owned(),
        measures: Vec::new(),
        weight,
    };
    Panel {
        among: "raters".to_owned(),
        arm: None,
        dimension: Some("准确性".to_owned()),
        categories: vec!["accept".to_owned(), "reject".to_owned()],
        rule: "each rater counts once an item: its commonest answer; where its own answers tie, each counts in equal parts".to_owned(),
        n_raters: 39,
        n_items: 108,
        n_ratings: 4_212,
        n_labelled: 108,
        n_items_left_out: 12,
        notes: vec!["an item has 2.1 ratings on average: models learn little from so few".to_owned()],
        findings: vec![
            finding(FindingWeight::Bad, "The 39 raters are worth 6.7 [5.3, 8.6] independent ones."),
            finding(FindingWeight::Note, &format!("{HOSTILE} and r2 err together most.")),
        ],
        raters: vec![rater("评审一"), rater(HOSTILE)],
        n_raters_left_out: 37,
        methods: ["one_rater", "majority", "weighted_majority", "dawid_skene", "mace", "glad"]
            .into_iter()
            .zip([0.64, 0.76, 0.86, 0.9, 0.86, 0.72])
            .map(|(name, at)| method(name, at))
            .collect(),
        worth: Some(PanelWorth {
            against: "labels".to_owned(),
            n_raters: 39,
            correlation: measure(0.126, 0.09, 0.17),
            n_effective: Some(measure(6.74, 5.34, 8.59)),
        }),
        vote: Some(VoteWorth {
            one_rater: 0.636,
            majority: 0.759,
            majority_if_independent: 0.822,
            shuffles: [0.787, 0.861],
            n_shuffles: 400,
        }),
        error_pairs: vec![ErrorPair {
            a: "评审一".to_owned(),
            b: HOSTILE.to_owned(),
            n_items: 108,
            both_wrong: 0.324,
            expected: 0.153,
            correlation: measure(0.72, 0.57, 0.83),
            within_label: Some(0.32),
            p_holm: Some(6.2e-7),
        }],
        n_error_pairs: 741,
        doubtful: vec![DoubtfulItem {
            item: HOSTILE.to_owned(),
            majority: None,
            majority_share: 0.5,
            dawid_skene: Some("accept".to_owned()),
            probability: 0.51,
            label: Some("reject".to_owned()),
        }],
    }
}
