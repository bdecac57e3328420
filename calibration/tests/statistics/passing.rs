//! What of the items without labels is right, and what errors cost.

use assize_calibration::audit::result::{Fitness, JudgeAudit};
use assize_calibration::audit::{AuditConfig, audit};
use assize_calibration::gate::Gate;
use assize_calibration::judgement::{Choice, Judgement, Verdict};
use assize_calibration::prevalence::{LabelSampling, Trials, rogan_gladen};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::small_logs::{Rows, at_most, close};

fn judged(rows: &Rows, config: &AuditConfig) -> JudgeAudit {
    audit(&rows.0, config, &Gate::built_in()).unwrap().judges.remove(0)
}

/// Verdicts on items whose label is known or not, `n` of them accepted.
fn verdicts(log: &mut Rows, first: usize, n: usize, n_accepted: usize, label: Option<&'static str>) {
    for item in 0..n {
        let verdict = Some(if item < n_accepted { Verdict::Accept } else { Verdict::Reject });
        log.push(first + item, Judgement { verdict, label: label.map(Into::into), ..Judgement::default() });
    }
}

/// The example of the documentation.
fn example() -> Rows {
    let mut log = Rows::default();
    verdicts(&mut log, 0, 100, 90, Some("1"));
    verdicts(&mut log, 100, 50, 10, Some("0"));
    verdicts(&mut log, 150, 1_000, 600, None);
    log
}

fn reason<'a>(judge: &'a JudgeAudit, id: &str) -> &'a str {
    &judge.unmeasured.iter().find(|missing| missing.id == id).unwrap().reason
}

#[test]
fn a_pass_rate_is_corrected_for_errors() {
    let judge = judged(&example(), &AuditConfig::default());
    let value = &judge.measures["corrected_pass_rate"];
    close(value.estimate, 0.4 / 0.7, 1e-12);
    let trials = |successes, n| Trials::counted(successes, n).unwrap();
    let expected = rogan_gladen(trials(600.0, 1_000.0), trials(90.0, 100.0), trials(40.0, 50.0), 0.95).unwrap();
    let found = judge.corrected_pass_rate.unwrap();
    // Effective sizes of clusters of one differ from counts by the degrees of freedom of the variance.
    close(found.lang_reiczigel[0], expected.interval.low, 2e-3);
    close(value.low.unwrap(), expected.mover.low, 2e-3);
    close(value.high.unwrap(), expected.mover.high, 2e-3);
    assert!(found.is_identified && (found.sharing - 1.0).abs() < 1e-12);
    assert!(reason(&judged(&example(), &AuditConfig::default()), "corrected_pass_rate_ppi").contains("random sample"));
}

#[test]
fn a_guessing_judge_identifies_nothing() {
    let mut log = Rows::default();
    verdicts(&mut log, 0, 20, 12, Some("1"));
    verdicts(&mut log, 20, 20, 10, Some("0"));
    verdicts(&mut log, 40, 200, 110, None);
    let judge = log.judge();
    let value = &judge.measures["corrected_pass_rate"];
    assert_eq!((value.low, value.high), (Some(0.0), Some(1.0)));
    assert!(value.cautions[0].starts_with("not identified"), "{value:?}");
    assert!(judge.findings.iter().any(|finding| finding.what.contains("it may be guessing")));
    // At J = 0 there is no estimate.
    let mut log = Rows::default();
    verdicts(&mut log, 0, 20, 10, Some("1"));
    verdicts(&mut log, 20, 20, 10, Some("0"));
    verdicts(&mut log, 40, 20, 11, None);
    let judge = log.judge();
    assert!(reason(&judge, "corrected_pass_rate").contains("J is 0"));
    assert!(judge.corrected_pass_rate.unwrap().raw.is_none());
}

#[test]
fn what_cannot_be_is_printed_as_it_is() {
    let mut log = Rows::default();
    verdicts(&mut log, 0, 100, 90, Some("1"));
    verdicts(&mut log, 100, 100, 20, Some("0"));
    verdicts(&mut log, 200, 100, 2, None);
    let judge = log.judge();
    let value = &judge.measures["corrected_pass_rate"];
    close(value.estimate, -0.18 / 0.7, 1e-12);
    assert!(value.low.unwrap() >= 0.0 && value.cautions[0].starts_with("beyond"), "{value:?}");
}

#[test]
fn a_random_sample_allows_the_powered_mean() {
    let config = AuditConfig { label_sampling: LabelSampling::Random, ..AuditConfig::default() };
    let judge = judged(&example(), &config);
    let value = &judge.measures["corrected_pass_rate_ppi"];
    // Of 150 labelled 2/3 are right and 2/3 passed; .6 of the others passed.
    close(value.estimate, 2.0 / 3.0 - value.details["judge_weight"] * (2.0 / 3.0 - 0.6), 1e-12);
    assert!(value.low.unwrap() < value.estimate && value.estimate < value.high.unwrap());
}

#[test]
fn shared_groups_are_no_separate_samples() {
    let config = AuditConfig { label_sampling: LabelSampling::Random, ..AuditConfig::default() };
    let mut log = Rows::default();
    for item in 0..120 {
        let group = item / 6;
        let verdict = Some(if (group + item) % 4 < 2 { Verdict::Accept } else { Verdict::Reject });
        let label = match item % 6 {
            0 | 1 => Some("1".into()),
            2 => Some("0".into()),
            _ => None,
        };
        log.push(item, Judgement { verdict, label, group: Some(group.to_string().into()), ..Judgement::default() });
    }
    let judge = judged(&log, &config);
    assert!(reason(&judge, "corrected_pass_rate_ppi").contains("share groups"));
    assert!(judge.corrected_pass_rate.unwrap().sharing >= 1.0);
}

#[test]
fn other_logs_say_why_not() {
    let mut log = Rows::default();
    verdicts(&mut log, 0, 20, 12, Some("1"));
    assert!(reason(&log.judge(), "pass_rate").contains("every item has a label"));
    let mut log = Rows::default();
    verdicts(&mut log, 0, 20, 12, None);
    let judge = log.judge();
    assert!(reason(&judge, "corrected_pass_rate").contains("labelled right"));
    close(judge.measures["pass_rate"].estimate, 0.6, 1e-12);
    let mut log = Rows::default();
    for item in 0..10 {
        log.push(item, Judgement { choice: Some(Choice::A), ..Judgement::default() });
    }
    assert!(reason(&log.judge(), "corrected_pass_rate").contains("accept or reject"));
    let config =
        AuditConfig { costs: Some([1.0, 1.0]), label_sampling: LabelSampling::Random, ..AuditConfig::default() };
    let problems = audit(&log.0, &config, &Gate::built_in()).unwrap().problems;
    let unused = problems.iter().find(|problem| problem.code == "setting-unused").unwrap();
    assert!(unused.message.starts_with("`costs`, `label_sampling`"), "{unused:?}");
    let mut log = Rows::default();
    log.scores(&[(0, 1.0), (1, 2.0)]);
    assert!(reason(&log.judge(), "pass_rate").contains("threshold"));
}

#[test]
fn errors_are_weighed_by_cost() {
    let config = AuditConfig { costs: Some([5.0, 1.0]), ..AuditConfig::default() };
    let judge = judged(&example(), &config);
    let value = &judge.measures["expected_cost"];
    // A third of the labelled items is wrong, a fifth of which passes; a tenth of the right ones is turned away.
    close(value.estimate, (5.0 * 0.2 + 2.0 * 0.1) / 3.0, 1e-12);
    close(value.details["accepting_everything"], 5.0 / 3.0, 1e-12);
    close(value.details["accepting_nothing"], 2.0 / 3.0, 1e-12);
    assert!(judge.findings.iter().any(|finding| finding.what.ends_with("it pays.")));
    let judge = judged(&example(), &AuditConfig::default());
    assert!(reason(&judge, "expected_cost").contains("nothing says what"));
}

#[test]
fn a_limit_on_cost_says_something_only_below_that_of_not_looking() {
    let fitness = |max: f64| {
        let config = AuditConfig { costs: Some([5.0, 1.0]), ..AuditConfig::default() };
        let gate = Gate { limits: [("expected_cost".to_owned(), at_most(max))].into(), ..Gate::built_in() };
        audit(&example().0, &config, &gate).unwrap().judges.remove(0).fitness
    };
    assert_eq!((fitness(0.66), fitness(0.9)), (Fitness::Fit, Fitness::Inconclusive));
}

#[test]
fn the_threshold_follows_the_costs() {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let mut log = Rows::default();
    for item in 0..300 {
        let good = item % 2 == 0;
        let score = (rng.random_range(0.0..5.0_f64) + if good { 3.0 } else { 0.0 }).floor();
        let label = Some(if good { "1" } else { "0" }.into());
        log.push(item, Judgement { score: Some(score), label, ..Judgement::default() });
    }
    let chosen = |costs: [f64; 2]| {
        let config = AuditConfig { costs: Some(costs), ..AuditConfig::default() };
        let thresholds = judged(&log, &config).thresholds.unwrap();
        let points = thresholds.points.len();
        let costs = thresholds.costs.unwrap();
        assert_eq!(costs.by_threshold.len(), points);
        let least = costs.by_threshold.iter().copied().fold(costs.without_looking[1], f64::min);
        close(costs.cheapest.expected_cost.estimate, least, 1e-12);
        assert!(costs.cheapest.cross_validated.as_ref().unwrap().estimate >= least - 1e-12);
        assert!(costs.by_cap.expected_cost.estimate >= least - 1e-12);
        costs.cheapest.threshold
    };
    let config = AuditConfig { costs: Some([1.0, 1.0]), ..AuditConfig::default() };
    let judge = judged(&log, &config);
    assert!(
        judge
            .findings
            .iter()
            .any(|finding| finding.what.starts_with("At these costs accepting at 3 or more costs least"))
    );
    let (dear, even, cheap) = (chosen([50.0, 1.0]), chosen([1.0, 1.0]), chosen([1.0, 50.0]));
    assert!(dear > even && even >= cheap, "{dear:?} {even:?} {cheap:?}");
    // Where false rejects cost nothing, nothing is worth accepting.
    assert_eq!(chosen([1.0, 0.0]), None);
}

#[test]
fn a_prompt_tuned_on_these_items_is_told() {
    let config = AuditConfig { tuned_on_items: true, ..AuditConfig::default() };
    let judge = judged(&example(), &config);
    assert!(judge.findings[0].what.contains("tuned on these items"), "{:?}", judge.findings[0]);
    assert!(judge.why.ends_with("expect it to do worse on others."));
    assert_eq!(judge.fitness, judged(&example(), &AuditConfig::default()).fitness);
}

#[test]
fn costs_out_of_range_are_refused() {
    for costs in [[-1.0, 1.0], [0.0, 0.0], [f64::NAN, 1.0], [f64::INFINITY, 1.0]] {
        assert_eq!(AuditConfig { costs: Some(costs), ..AuditConfig::default() }.check().unwrap_err().field, "costs");
    }
}
