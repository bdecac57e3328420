//! Audits made by hand, with every section filled, and the hostile strings that a log may hold.

#[path = "in_use.rs"]
mod in_use;

use std::collections::BTreeMap;

use assize_calibration::audit::AuditConfig;
use assize_calibration::audit::result::{
    Agreement, AnswerShare, Audit, Baseline, BiasTest, Biases, Comparison, Confusion, CrossValidated, Data,
    DimensionAudit, ErrorCluster, ErrorClusters, Finding, FindingWeight, Fitness, GateRisk, GeneratorErrors,
    JudgeAudit, LimitRisk, Measure, Remedy, RuleRisk, SCHEMA, Source, SplitRate, ThresholdPoint, Thresholds,
    Unmeasured, Voting, VotingPoint, WorstItem,
};
use assize_calibration::gate::{Gate, Limit, LimitResult, LimitState};
use assize_calibration::judgement::OutcomeKind;
use assize_calibration::problem::{Problem, Severity};

use crate::{together, varied};

/// What a model may write to harm a reader.
pub(crate) const HOSTILE: &str = "<script>alert(1)</script>\u{1b}[2J\u{1b}]8;;http://evil.example\u{7}x\u{202e}txt | `code` @octocat [l](https://e.example) \u{0}";

pub(crate) fn measure(estimate: f64, low: f64, high: f64) -> Measure {
    Measure {
        estimate,
        low: Some(low),
        high: Some(high),
        level: 0.95,
        n: 1_200,
        n_items: 240,
        n_clusters: 48,
        method: "mean over items; Korn–Graubard interval with Clopper–Pearson bounds, clustered by group".to_owned(),
        cautions: Vec::new(),
        details: BTreeMap::new(),
    }
}

fn detailed(mut measure: Measure, details: &[(&str, f64)], cautions: &[&str]) -> Measure {
    measure.details = details.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    measure.cautions = cautions.iter().map(|caution| (*caution).to_owned()).collect();
    measure
}

fn map(measures: Vec<(&str, Measure)>) -> BTreeMap<String, Measure> {
    measures.into_iter().map(|(id, measure)| (id.to_owned(), measure)).collect()
}

fn limit(measure: &str, side: &str, at: f64, state: LimitState, why: &str) -> LimitResult {
    LimitResult {
        measure: measure.to_owned(),
        side: side.to_owned(),
        limit: at,
        state,
        why: why.to_owned(),
        p_broken: None,
        further_items: None,
        further_items_range: None,
    }
}

fn gate() -> Gate {
    let max = |at| Limit { max: Some(at), ..Limit::default() };
    Gate {
        name: "built in".to_owned(),
        limits: BTreeMap::from([
            ("false_accept_rate".to_owned(), Limit { required: true, ..max(0.1) }),
            ("false_reject_rate".to_owned(), max(0.2)),
            ("flip_rate".to_owned(), max(0.1)),
            ("position_excess".to_owned(), max(0.05)),
            ("unparsed_rate".to_owned(), max(0.02)),
            ("accuracy".to_owned(), Limit { min: Some(0.8), ..Limit::default() }),
            ("mean_abs_difference".to_owned(), max(0.5)),
        ]),
        truth_optional: false,
    }
}

fn limits() -> Vec<LimitResult> {
    vec![
        limit("accuracy", "min", 0.8, LimitState::Undecided, "81.2 % [76.9, 85.0] may lie on either side of 80 %"),
        LimitResult {
            p_broken: Some(0.0004),
            ..limit(
                "false_accept_rate",
                "max",
                0.1,
                LimitState::Broken,
                "even the lower end of the interval, 24.0 %, is over 10 %",
            )
        },
        limit(
            "false_reject_rate",
            "max",
            0.2,
            LimitState::Met,
            "the upper end of the interval, 9.6 %, keeps the limit",
        ),
        LimitResult {
            further_items: Some(1_340),
            further_items_range: Some([Some(210), None]),
            ..limit("flip_rate", "max", 0.1, LimitState::Undecided, "8.9 % [7.1, 11.0] may lie on either side of 10 %")
        },
        limit("mean_abs_difference", "max", 0.5, LimitState::Unmeasured, "the log holds verdicts, not scores"),
        limit("position_excess", "max", 0.05, LimitState::Met, "the upper end of the interval, 3.2 %, keeps the limit"),
        limit("unparsed_rate", "max", 0.02, LimitState::Met, "the upper end of the interval, 1.9 %, keeps the limit"),
    ]
}

fn finding(weight: FindingWeight, what: &str, advice: &str, measures: &[&str]) -> Finding {
    Finding {
        what: what.to_owned(),
        advice: advice.to_owned(),
        measures: measures.iter().map(|id| (*id).to_owned()).collect(),
        weight,
    }
}

fn findings() -> Vec<Finding> {
    vec![
        finding(
            FindingWeight::Bad,
            "It accepts 31.2 % of wrong items; half of these come from 3 of 48 specifications.",
            "Accept at a score of 8 or more instead of 6, and give the judge the three specifications as anchors.",
            &["false_accept_rate"],
        ),
        finding(
            FindingWeight::Bad,
            "Asked again, it answers differently 8.9 % of the time.",
            "Take the majority of 3 answers: that halves the flips at three times the price.",
            &["flip_rate", "repeat_consistency"],
        ),
        finding(FindingWeight::Note, "Kappa is 0.58, but four in five items are right.", "", &["kappa"]),
        finding(FindingWeight::Good, "The place of a candidate does not matter.", "", &["position_excess"]),
    ]
}

fn measures() -> BTreeMap<String, Measure> {
    map(vec![
        ("unparsed_rate", detailed(measure(0.0083, 0.0036, 0.0188), &[("unparsed", 10.0)], &[])),
        ("flip_rate", measure(0.089, 0.071, 0.11)),
        ("repeat_consistency", detailed(measure(0.951, 0.938, 0.963), &[("k", 5.0)], &[])),
        ("any_flip_rate", detailed(measure(0.213, 0.165, 0.268), &[("k", 5.0)], &[])),
        ("moved_over_one_point", detailed(measure(0.125, 0.087, 0.174), &[("k", 5.0), ("items_left_out", 2.0)], &[])),
        ("within_item_sd", detailed(measure(0.61, 0.5, 0.7), &[], &["its interval is approximate"])),
        ("within_item_range_max", Measure { low: None, high: None, ..measure(4.0, 0.0, 0.0) }),
        ("icc_single", measure(0.74, 0.69, 0.79)),
        ("icc_mean", measure(0.934, 0.917, 0.95)),
        ("repeat_alpha", measure(0.742, 0.69, 0.79)),
        ("swap_consistency", measure(0.884, 0.851, 0.912)),
        (
            "position_excess",
            detailed(measure(0.011, -0.01, 0.032), &[], &["fewer than 50 clusters: the interval may be too narrow"]),
        ),
        ("position_direction", measure(-0.018, -0.061, 0.025)),
        ("first_position_preference", measure(0.49, 0.46, 0.52)),
        ("accuracy", measure(0.812, 0.769, 0.85)),
        (
            "false_accept_rate",
            detailed(
                measure(0.312, 0.24, 0.391),
                &[("pooled", 0.309), ("lower_bound", 0.301), ("upper_bound", 0.322)],
                &[],
            ),
        ),
        ("false_reject_rate", measure(0.065, 0.041, 0.096)),
        ("precision", detailed(measure(0.75, 0.7, 0.8), &[("base_rate", 0.5)], &[])),
        ("kappa", measure(0.58, 0.49, 0.66)),
        ("ac1", measure(0.66, 0.59, 0.73)),
        ("auc", measure(0.871, 0.83, 0.905)),
        ("spearman", measure(0.64, 0.57, 0.71)),
        ("mean_error", measure(0.82, 0.61, 1.03)),
        ("not_in_catalogue", measure(0.5, f64::NAN, 0.7)),
    ])
}

fn voting() -> Voting {
    let points = [1_u32, 3, 5, 7]
        .iter()
        .zip([
            (0.812, 0.312, 0.065, 0.089),
            (0.836, 0.287, 0.052, 0.051),
            (0.844, 0.279, 0.047, 0.038),
            (0.848, 0.275, 0.045, 0.031),
        ])
        .map(|(&k, (right, far, frr, flip))| VotingPoint {
            k,
            accuracy: Some(measure(right, right - 0.04, right + 0.035)),
            false_accept_rate: Some(measure(far, far - 0.07, far + 0.08)),
            false_reject_rate: Some(measure(frr, frr - 0.024, frr + 0.03)),
            flip_rate: Some(measure(flip, flip - 0.018, flip + 0.02)),
            tie_share: if k == 1 { 0.0 } else { 0.002 },
            empty_share: if k == 1 { 0.0083 } else { 0.0 },
        })
        .collect();
    let gain = detailed(measure(0.036, -0.004, 0.076), &[("minimal_detectable", 0.057)], &[]);
    Voting {
        tie_rule: "a tie rejects".to_owned(),
        k_max: 7,
        n_items: 236,
        n_items_left_out: 4,
        points,
        gain: Some(gain),
    }
}

fn thresholds() -> Thresholds {
    let points = (1_u32..=10)
        .map(|threshold| {
            let t = f64::from(threshold);
            let far = (1.02 - 0.11 * t).clamp(0.01, 1.0);
            let frr = (0.0035 * t * t).clamp(0.0, 1.0);
            ThresholdPoint {
                threshold: t,
                false_accept_rate: measure(far, (far - 0.06).max(0.0), (far + 0.07).min(1.0)),
                false_reject_rate: measure(frr, (frr - 0.03).max(0.0), (frr + 0.04).min(1.0)),
                accuracy: measure(1.0 - f64::midpoint(far, frr), 0.4, 0.9),
                counts: [500, 120, 480, 100],
            }
        })
        .collect();
    Thresholds {
        points,
        chosen: Some(9.0),
        cap: 0.1,
        cross_validated: Some(CrossValidated {
            folds: 5,
            false_accept_rate: measure(0.041, 0.02, 0.08),
            false_reject_rate: measure(0.29, 0.23, 0.35),
            n_folds_without: 1,
        }),
        costs: Some(in_use::costs()),
    }
}

/// Effects found, not found, not tested, and one that has no measure.
fn biases() -> Biases {
    let test = |measure: &str, p_value: Option<f64>, is_found| BiasTest {
        measure: measure.to_owned(),
        p_value,
        p_holm: p_value.map(|p| 2.0 * p),
        p_permutation: p_value.filter(|_| is_found),
        minimal_detectable: p_value.map(|_| 0.042),
        is_found,
    };
    Biases {
        n_looked_for: 3,
        correction: "Holm".to_owned(),
        tests: vec![
            test("position_excess", Some(0.0001), true),
            test("first_position_preference", Some(0.3), false),
            test("order_shift", None, false),
            test("length_effect", Some(0.45), false),
        ],
    }
}

fn by_generator() -> Vec<GeneratorErrors> {
    let errors = |generator: &str, is_own, far: Option<f64>| GeneratorErrors {
        generator: generator.to_owned(),
        is_own,
        accuracy: measure(0.8, 0.7, 0.9),
        false_accept_rate: far.map(|far| measure(far, far / 2.0, far * 2.0)),
        false_reject_rate: None,
    };
    vec![errors(HOSTILE, true, Some(0.2)), errors("other", false, None)]
}

fn worst_items() -> Vec<WorstItem> {
    let answers = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    vec![
        WorstItem {
            item: HOSTILE.to_owned(),
            dimension: None,
            reason: "wrong".to_owned(),
            badness: 1.0,
            label: Some("reject".to_owned()),
            answers: BTreeMap::from([(String::new(), answers(&["accept", HOSTILE, "accept", "accept", "accept"]))]),
        },
        WorstItem {
            item: "请把下面的文字翻译成英文，并说明为什么这样翻译：春风又绿江南岸，明月何时照我还".to_owned(),
            dimension: Some("流畅度".to_owned()),
            reason: "unstable".to_owned(),
            badness: 0.48,
            label: Some("通过".to_owned()),
            answers: BTreeMap::from([
                ("ab".to_owned(), answers(&["通过", "不通过", "通过", "不通过", "通过"])),
                ("ba".to_owned(), answers(&["不通过", "通过", "通过", "不通过", "不通过"])),
            ]),
        },
        WorstItem {
            item: "long-".repeat(200),
            dimension: None,
            reason: "unparsed".to_owned(),
            badness: 0.6,
            label: None,
            answers: BTreeMap::from([(String::new(), vec!["unparsed".to_owned(); 40])]),
        },
    ]
}

/// A judge with every section.
fn gate_risk() -> GateRisk {
    let rule = RuleRisk {
        is_green: true,
        risk: 0.142,
        risk_interval: [0.114, 0.175],
        risk_with_uncertain_shares: 0.201,
        verdicts: [0.858, 0.142, 0.0],
    };
    GateRisk {
        n_redraws: 500,
        method: "each cell answers again".to_owned(),
        flip_rate: 0.12,
        plain_flip_rate: 0.08,
        concentration: 1.5,
        interval_rule: rule.clone(),
        point_rule: RuleRisk { risk: 0.02, ..rule },
        limits: vec![LimitRisk {
            measure: "accuracy".to_owned(),
            side: "min".to_owned(),
            limit: 0.8,
            estimate: 0.84,
            standard_error: 0.011,
            state: LimitState::Met,
            changes: 0.142,
            not_met: 0.142,
            past: 0.02,
        }],
        remedies: vec![Remedy {
            what: "Ask 3 times as often".to_owned(),
            times_answers: 3,
            further_judgements: 2_400,
            limits: BTreeMap::new(),
            risk: 0.04,
            risk_interval: [0.026, 0.061],
            is_enough: true,
        }],
        untried: vec![format!("Asking in both orders {HOSTILE}")],
    }
}

pub(crate) fn judge(name: &str) -> JudgeAudit {
    JudgeAudit {
        judge: name.to_owned(),
        arm: Some("temperature 0.7".to_owned()),
        outcome: OutcomeKind::Verdict,
        n_judgements: 1_200,
        n_items: 240,
        n_clusters: 48,
        n_unparsed: 10,
        n_labelled: 240,
        repeats: [4, 7],
        fitness: Fitness::Unfit,
        why: "It lets too much through: false accepts are 31.2 % [24.0, 39.1], and the limit is 10 %.".to_owned(),
        limits: limits(),
        looks: None,
        findings: findings(),
        measures: measures(),
        unmeasured: vec![
            Unmeasured {
                id: "order_shift".to_owned(),
                reason: "the answers are verdicts, not scores".to_owned(),
                needs: vec!["score".to_owned(), "order".to_owned()],
            },
            Unmeasured {
                id: "top_of_group_accuracy".to_owned(),
                reason: "no group has exactly one right item".to_owned(),
                needs: Vec::new(),
            },
            Unmeasured {
                id: "something_new".to_owned(),
                reason: "no rater".to_owned(),
                needs: vec!["rater".to_owned()],
            },
        ],
        answers: vec![
            AnswerShare { answer: "accept".to_owned(), n: 790, share: 790.0 / 1_200.0 },
            AnswerShare { answer: "reject".to_owned(), n: 400, share: 400.0 / 1_200.0 },
            AnswerShare { answer: "unparsed".to_owned(), n: 10, share: 10.0 / 1_200.0 },
        ],
        unparsed_by: vec![
            SplitRate { by: "label".to_owned(), value: "reject".to_owned(), rate: measure(0.016, 0.006, 0.035) },
            SplitRate { by: "label".to_owned(), value: "accept".to_owned(), rate: measure(0.002, 0.0, 0.009) },
            SplitRate {
                by: "group".to_owned(), value: "<b>规格三</b>".to_owned(), rate: measure(0.04, 0.008, 0.112)
            },
        ],
        reliability: in_use::reliability(),
        corrected_pass_rate: Some(in_use::pass_rate()),
        voting: Some(voting()),
        thresholds: Some(thresholds()),
        confusion: Some(Confusion {
            categories: vec!["accept".to_owned(), "reject".to_owned()],
            weights: vec![vec![112.2, 7.8], vec![37.4, 82.6]],
            counts: vec![vec![561, 39], vec![187, 403]],
            unparsed: vec![2, 8],
        }),
        baselines: vec![
            Baseline {
                name: "always_accept".to_owned(),
                explanation: "Accepts everything".to_owned(),
                accuracy: measure(0.5, 0.41, 0.59),
                judge_minus_baseline: Some(measure(0.312, 0.24, 0.38)),
            },
            Baseline {
                name: "length_only".to_owned(),
                explanation: "Accepts what is longer than the median".to_owned(),
                accuracy: measure(0.61, 0.55, 0.67),
                judge_minus_baseline: None,
            },
        ],
        biases: Some(biases()),
        by_generator: by_generator(),
        style: Some(varied::style()),
        error_clusters: Some(ErrorClusters {
            unit: "groups".to_owned(),
            clusters: vec![
                ErrorCluster {
                    name: "spec-17 <i>".to_owned(),
                    error: "false_accept".to_owned(),
                    errors: 9.2,
                    n_items: 12,
                    share: 0.246,
                },
                ErrorCluster {
                    name: "规格三".to_owned(),
                    error: "false_accept".to_owned(),
                    errors: 6.4,
                    n_items: 10,
                    share: 0.171,
                },
            ],
            half_of_errors_in: BTreeMap::from([("false_accept".to_owned(), 3)]),
            clusters_with_error: BTreeMap::from([("false_accept".to_owned(), 14)]),
            design_effect: BTreeMap::from([("false_accept".to_owned(), 3.3)]),
        }),
        drift: None,
        look_history: None,
        gate_risk: Some(gate_risk()),
        worst_items: worst_items(),
        dimensions: vec![
            DimensionAudit {
                dimension: "准确性".to_owned(),
                measures: map(vec![("flip_rate", measure(0.05, 0.03, 0.08))]),
            },
            DimensionAudit {
                dimension: "style".to_owned(),
                measures: map(vec![("flip_rate", measure(0.13, 0.1, 0.17))]),
            },
        ],
        alternative: Some(together::alternative()),
        label_noise: Some(together::label_noise()),
        scale_use: together::scale_use(),
        halo: Some(together::halo()),
    }
}

fn comparison(what: &str, measure_id: &str, a: &str, b: &str, difference: Measure) -> Comparison {
    Comparison {
        what: what.to_owned(),
        a: a.to_owned(),
        b: b.to_owned(),
        measure: measure_id.to_owned(),
        mean_a: 0.81,
        mean_b: 0.81 + difference.estimate,
        difference,
        p_value: Some(0.0213),
        test: "paired t over clusters".to_owned(),
        p_holm: Some(0.0426),
        better: "b".to_owned(),
    }
}

/// An audit of one judge, with everything.
pub(crate) fn full() -> Audit {
    Audit {
        schema: SCHEMA.to_owned(),
        version: "0.1.0".to_owned(),
        source: Source {
            files: vec!["log of 5 runs.csv".to_owned()],
            formats: vec!["plain log (CSV)".to_owned()],
            options: Vec::new(),
        },
        config: AuditConfig::default(),
        gate: gate(),
        data: Data {
            n_rows: 1_214,
            n_bad_rows: 2,
            n_duplicates: 12,
            n_judgements: 1_200,
            n_items: 240,
            n_groups: 48,
            n_labelled: 240,
            label_source: "label".to_owned(),
            scale: Some([1.0, 10.0]),
            scale_source: Some("inferred".to_owned()),
            price: Some(1.84),
            tokens: Some([812_345, 64_021]),
            ..Data::default()
        },
        problems: vec![
            Problem {
                severity: Severity::Note,
                code: "scale-inferred".to_owned(),
                message: "the scale is taken from the scores seen, 1 to 10; state it with --scale".to_owned(),
                count: 1,
                file: None,
                line: None,
                column: None,
            },
            Problem {
                severity: Severity::Error,
                code: "bad-row".to_owned(),
                message: format!("a row has more cells than the header: {HOSTILE}"),
                count: 2,
                file: Some("log of 5 runs.csv".to_owned()),
                line: Some(817),
                column: Some("verdict".to_owned()),
            },
        ],
        fitness: Fitness::Unfit,
        judges: vec![judge("gpt-4o-mini")],
        anchors: vec![varied::anchor_study()],
        comparisons: vec![
            comparison("arms", "accuracy", "anchors 0", "anchors 2", measure(0.031, 0.004, 0.058)),
            comparison("arms", "accuracy", "anchors 0", "锚点一", measure(-0.012, -0.04, 0.016)),
        ],
        agreement: vec![Agreement {
            among: "raters".to_owned(),
            n_raters: 3,
            dimension: None,
            measures: map(vec![
                ("percent_agreement", measure(0.78, 0.74, 0.82)),
                ("alpha_nominal", measure(0.56, 0.48, 0.63)),
            ]),
        }],
        panels: vec![together::panel()],
    }
}

/// An audit of so many judges, of which some names are hostile or Chinese.
pub(crate) fn many(n: u32) -> Audit {
    let judges = (0..n)
        .map(|idx| {
            let shift = f64::from(idx % 17) / 100.0;
            let mut one = judge(&match idx % 5 {
                0 => format!("裁判模型-{idx}-超长名称用来测试换行是否正常工作"),
                1 => format!("judge-{idx} {HOSTILE}"),
                _ => format!("vendor/model-{idx}-instruct"),
            });
            one.arm = None;
            one.fitness = [Fitness::Fit, Fitness::Inconclusive, Fitness::Unfit][idx as usize % 3];
            one.measures.insert("accuracy".to_owned(), measure(0.7 + shift, 0.66 + shift, 0.74 + shift));
            one
        })
        .collect();
    Audit { judges, ..full() }
}

/// An audit in which nothing could be measured.
pub(crate) fn degenerate() -> Audit {
    let mut one = judge("空");
    one.arm = None;
    one.fitness = Fitness::Inconclusive;
    "Nothing could be measured: every reply is unparsed.".clone_into(&mut one.why);
    one.limits = vec![limit("accuracy", "min", 0.8, LimitState::Unmeasured, "no label")];
    one.findings = Vec::new();
    one.measures =
        BTreeMap::from([("accuracy".to_owned(), Measure { low: None, high: None, ..measure(f64::NAN, 0.0, 0.0) })]);
    one.unmeasured = vec![Unmeasured { id: "flip_rate".to_owned(), reason: "one item".to_owned(), needs: Vec::new() }];
    one.answers = vec![AnswerShare { answer: String::new(), n: 0, share: f64::NAN }];
    one.unparsed_by = Vec::new();
    one.voting = Some(Voting { points: Vec::new(), ..voting() });
    one.thresholds =
        Some(Thresholds { points: Vec::new(), chosen: None, cap: f64::NAN, cross_validated: None, costs: None });
    one.reliability = in_use::nothing();
    one.corrected_pass_rate = None;
    one.confusion = Some(Confusion {
        categories: vec!["accept".to_owned(), "reject".to_owned()],
        weights: vec![vec![0.0, 0.0]],
        counts: Vec::new(),
        unparsed: Vec::new(),
    });
    one.baselines = Vec::new();
    one.error_clusters = None;
    one.biases = None;
    one.by_generator = Vec::new();
    one.style = None;
    one.worst_items = Vec::new();
    one.dimensions = Vec::new();
    one.alternative = None;
    one.label_noise = None;
    one.scale_use = Vec::new();
    one.halo = None;
    Audit {
        fitness: Fitness::Inconclusive,
        judges: vec![one],
        anchors: Vec::new(),
        comparisons: Vec::new(),
        agreement: Vec::new(),
        panels: Vec::new(),
        problems: Vec::new(),
        ..full()
    }
}
