//! What of the items without labels is right, from what the judge passes and the errors it makes on labelled ones.

use crate::interval::Spread;
use crate::judgement::OutcomeKind;
use crate::prevalence::{LabelSampling, Labelled, PowerTuning, Trials, Unlabelled, ppi_mean, rogan_gladen};

use super::truth::{Accepts, Hits};
use crate::audit::AuditConfig;
use crate::audit::data::table::{Subject, Table, Unit};
use crate::audit::estimate::{Estimated, Measured, Values};
use crate::audit::result::CorrectedPassRate;

const IDS: [&str; 3] = ["pass_rate", "corrected_pass_rate", "corrected_pass_rate_ppi"];

/// What the judge did with one item.
#[derive(Clone, Copy)]
struct Judged<'a> {
    unit: &'a Unit,
    /// Share of its parsed answers that accept.
    accepted: f64,
    n: usize,
}

/// Returns the corrected pass rate, and records it with the raw one.
pub(in crate::audit) fn pass_rate(
    table: &Table<'_>,
    subject: &Subject,
    units: &[Unit],
    config: &AuditConfig,
    measured: &mut Measured,
) -> Option<CorrectedPassRate> {
    let mut missing = |reason: &str, needs: &[&str]| IDS.iter().for_each(|id| measured.unmeasured(id, reason, needs));
    let Some(accepts) = Accepts::of(table, config) else {
        if table.kind == OutcomeKind::Score {
            missing("scores accept nothing by themselves; state the threshold", &["--accept-at"]);
        } else {
            missing("it is of answers that accept or reject, and these do neither", &["verdict"]);
        }
        return None;
    };
    let is_open = |unit: &Unit| unit.truth.good.is_none() && unit.truth.value.is_none();
    if !units.iter().any(is_open) {
        missing("every item has a label: there are none to correct a pass rate of", &[]);
        return None;
    }
    let (mut known, mut open) = (Vec::new(), Vec::new());
    let mut n_unparsed = 0;
    for unit in units {
        let hits = Hits::of(subject, unit, None, |draw| accepts.accepts(draw));
        let is_open = is_open(unit);
        n_unparsed += if is_open { hits.n_unparsed } else { 0 };
        if hits.n > 0 && (is_open || unit.truth.good.is_some()) {
            let judged = Judged { unit, accepted: hits.n_met as f64 / hits.n as f64, n: hits.n };
            if is_open { &mut open } else { &mut known }.push(judged);
        }
    }
    let rate = |judged: &[Judged<'_>], good: Option<bool>, value: fn(f64) -> f64, what: &str| {
        let mut values = Values::default();
        for judged in judged.iter().filter(|judged| judged.unit.truth.good == good) {
            values.push(judged.unit, value(judged.accepted), judged.n);
        }
        values.proportion(what)
    };
    let passed = rate(
        &open,
        None,
        |accepted| accepted,
        "accepting / parsed answers of an item without a label, mean over items",
    );
    let right = rate(
        &known,
        Some(true),
        |accepted| accepted,
        "accepting / parsed answers of an item labelled right, mean over items",
    );
    let wrong = rate(
        &known,
        Some(false),
        |accepted| 1.0 - accepted,
        "rejecting / parsed answers of an item labelled wrong, mean over items",
    );
    measured.record("pass_rate", passed.clone(), "no item without a label has a parsed answer", &[]);
    powered(&known, &open, config, measured);
    let (Some(passed), Some(right), Some(wrong)) = (passed, right, wrong) else {
        let reason = "needs answers on items labelled right, on items labelled wrong, and on items without a label";
        measured.unmeasured("corrected_pass_rate", reason, &["label"]);
        return None;
    };
    let sharing = sharing(&known, &open, [&passed, &right, &wrong].map(|rate| rate.estimate));
    let trials = |rate: &Estimated| match rate.spread {
        Spread::Proportion(proportion) => Trials::effective(&proportion, config.level),
        _ => None,
    };
    let scaled = |rate: &Estimated| trials(rate).map(|trials| trials.scaled(1.0 / sharing));
    let found = rogan_gladen(scaled(&passed)?, scaled(&right)?, scaled(&wrong)?, config.level)?;
    let value = found.estimate.map(|estimate| {
        let mut value = Estimated {
            estimate,
            spread: Spread::AtLevel { interval: found.mover, level: config.level },
            n: passed.n + right.n + wrong.n,
            n_items: passed.n_items + right.n_items + wrong.n_items,
            n_clusters: n_clusters(&known, &open),
            method: "(pass rate + true rejects − 1) / (true accepts + true rejects − 1), Rogan & Gladen 1978, not cut to 0–1; interval: \
                     MOVER of the three rates, Clopper–Pearson at their effective sizes"
                .to_owned(),
            cautions: Vec::new(),
            details: [
                ("pass_rate".to_owned(), passed.estimate),
                ("true_accept_rate".to_owned(), right.estimate),
                ("true_reject_rate".to_owned(), wrong.estimate),
                ("youden".to_owned(), found.youden),
                ("youden_low".to_owned(), found.youden_low),
                ("lang_reiczigel_low".to_owned(), found.interval.low),
                ("lang_reiczigel_high".to_owned(), found.interval.high),
            ]
            .into(),
            worst: None,
        };
        if !found.is_identified {
            value = value.caution("not identified: the judge may be guessing, so that the true rate may be anything");
        } else if !(0.0..=1.0).contains(&estimate) {
            value = value.caution("beyond what a share can be: its error rates on the labelled items are not those on the others");
        }
        if n_unparsed > 0 {
            value = value.caution(format!("{n_unparsed} unparsed replies about items without a label are left out"));
        }
        value
    });
    let reason = "it accepts right and wrong items alike (J is 0): the true rate may be anything";
    measured.record("corrected_pass_rate", value, reason, &[]);
    let level = config.level;
    Some(CorrectedPassRate {
        label_sampling: config.label_sampling.name().to_owned(),
        pass_rate: passed.measure(level),
        true_accept_rate: right.measure(level),
        true_reject_rate: wrong.measure(level),
        youden: found.youden,
        youden_low: found.youden_low,
        is_identified: found.is_identified,
        raw: found.estimate,
        lang_reiczigel: [found.interval.low, found.interval.high],
        sharing,
    })
}

fn n_clusters(known: &[Judged<'_>], open: &[Judged<'_>]) -> u64 {
    let mut clusters: Vec<u32> = known.iter().chain(open).map(|judged| judged.unit.cluster).collect();
    clusters.sort_unstable();
    crate::audit::count_distinct(clusters.into_iter())
}

/// Returns how many times as large the variance of the corrected rate is as that of three independent samples, at least 1: one
/// cluster may hold items of several.
fn sharing(known: &[Judged<'_>], open: &[Judged<'_>], [passed, right, wrong]: [f64; 3]) -> f64 {
    let estimate = (passed + wrong - 1.0) / (right + wrong - 1.0);
    if !estimate.is_finite() {
        return 1.0;
    }
    let count = |good: bool| known.iter().filter(|judged| judged.unit.truth.good == Some(good)).count() as f64;
    let (n_right, n_wrong, n_open) = (count(true), count(false), open.len() as f64);
    let mut parts: Vec<(u32, usize, f64)> = known
        .iter()
        .chain(open)
        .map(|judged| match judged.unit.truth.good {
            None => (judged.unit.cluster, 0, (judged.accepted - passed) / n_open),
            Some(true) => (judged.unit.cluster, 1, -estimate * (judged.accepted - right) / n_right),
            Some(false) => (judged.unit.cluster, 2, (1.0 - estimate) * (1.0 - judged.accepted - wrong) / n_wrong),
        })
        .collect();
    parts.sort_by_key(|(cluster, sample, _)| (*cluster, *sample));
    let (mut together, mut apart) = (0.0, 0.0);
    for of_cluster in parts.chunk_by(|a, b| a.0 == b.0) {
        let mut sums = [0.0; 3];
        for (_, sample, part) in of_cluster {
            sums[*sample] += part;
        }
        together += sums.iter().sum::<f64>().powi(2);
        apart += sums.iter().map(|sum| sum * sum).sum::<f64>();
    }
    if apart > 0.0 { (together / apart).max(1.0) } else { 1.0 }
}

/// The rate from labels of a random sample, powered by the judge's answers on the rest.
fn powered(known: &[Judged<'_>], open: &[Judged<'_>], config: &AuditConfig, measured: &mut Measured) {
    const ID: &str = "corrected_pass_rate_ppi";
    if config.label_sampling != LabelSampling::Random {
        let reason =
            "it holds only where the labelled items are a random sample of the same stream, and nothing says so";
        measured.unmeasured(ID, reason, &["--labels-are random"]);
        return;
    }
    let list = |judged: &[Judged<'_>], value: fn(&Judged<'_>) -> f64| judged.iter().map(value).collect::<Vec<f64>>();
    let clusters = |judged: &[Judged<'_>]| judged.iter().map(|judged| judged.unit.cluster).collect::<Vec<u32>>();
    let (known_clusters, open_clusters) = (clusters(known), clusters(open));
    if open_clusters.iter().any(|cluster| known_clusters.binary_search(cluster).is_ok()) {
        let reason = "labelled and unlabelled items share groups, so that they are no separate samples";
        measured.unmeasured(ID, reason, &[]);
        return;
    }
    let truths = list(known, |judged| f64::from(u8::from(judged.unit.truth.good == Some(true))));
    let (judged_known, judged_open) = (list(known, |judged| judged.accepted), list(open, |judged| judged.accepted));
    let labelled = Labelled { truths: &truths, judged: &judged_known, weights: None, clusters: Some(&known_clusters) };
    let unlabelled = Unlabelled { judged: &judged_open, weights: None, clusters: Some(&open_clusters) };
    match ppi_mean(labelled, unlabelled, config.label_sampling, PowerTuning::Tuned, config.level) {
        Ok(mean) => {
            let n = |judged: &[Judged<'_>]| judged.iter().map(|judged| judged.n as u64).sum::<u64>();
            let value = Estimated {
                estimate: mean.estimate,
                spread: Spread::AtLevel { interval: mean.interval, level: config.level },
                n: n(known) + n(open),
                n_items: crate::audit::count_distinct(known.iter().map(|judged| judged.unit.item))
                    + crate::audit::count_distinct(open.iter().map(|judged| judged.unit.item)),
                n_clusters: n_clusters(known, open),
                method: "PPI++ (Angelopoulos et al. 2023) with tuned weight of the judge's answers; Wilson interval with t over clusters, \
                         cautious of one error more"
                    .to_owned(),
                cautions: Vec::new(),
                details: [
                    ("judge_weight".to_owned(), mean.lambda),
                    ("standard_error".to_owned(), mean.standard_error),
                    ("standard_error_of_labels_alone".to_owned(), mean.classical_standard_error),
                    ("n_labelled_clusters".to_owned(), mean.n_labelled_clusters as f64),
                    ("n_labelled_clusters_in_error".to_owned(), mean.n_clusters_in_error as f64),
                ]
                .into(),
                worst: None,
            };
            measured.record(ID, Some(value), "", &[]);
        }
        Err(error) => measured.unmeasured(ID, &error.to_string(), &["label"]),
    }
}
