//! One judge under one arm: everything measured of it, held against the gate, and said in words.

use rayon::prelude::*;

use crate::gate::Gate;
use crate::judgement::OutcomeKind;
use crate::log::NONE;

use super::accuracy::{baseline, chance, errors, label_noise, pairwise, pass_rate, ranking, thresholds, truth};
use super::biases::{self, position, scale_use};
use super::confidence::reliability;
use super::crowd::people;
use super::data::table::{Cell, Subject, Table, Unit};
use super::data::weights;
use super::decision::{beside, decide, findings, gate_risk, looks};
use super::estimate::Measured;
use super::noise::{parsing, scores, stability, voting};
use super::result::{
    AlternativeTest, AnswerShare, CorrectedPassRate, DimensionAudit, Halo, JudgeAudit, Reliability, ScaleUse,
};
use super::{AuditConfig, anchors, drift};

/// Measures everything measurable of one judge over the given units.
fn measure_units(table: &Table<'_>, subject: &Subject, units: &[Unit], config: &AuditConfig) -> Measured {
    measure_families(table, subject, units, config, Some(config.seed))
}

/// Measures what one cluster says of the judge by itself: no more than its means are asked for.
pub(crate) fn measure_cluster(table: &Table<'_>, subject: &Subject, units: &[Unit], config: &AuditConfig) -> Measured {
    measure_families(table, subject, units, config, None)
}

/// The same; without a seed nothing is said of what chance alone would show of biases.
fn measure_families(
    table: &Table<'_>,
    subject: &Subject,
    units: &[Unit],
    config: &AuditConfig,
    seed_of_nulls: Option<u64>,
) -> Measured {
    type Measuring<'a> = &'a (dyn Fn(&mut Measured) + Sync);
    let families: [Measuring<'_>; 8] = [
        &|measured| parsing::measure(subject, units, measured),
        &|measured| stability::measure(table, subject, units, config, measured),
        &|measured| stability::measure_intraclass(table, subject, units, config, measured),
        &|measured| position::measure(table, subject, units, seed_of_nulls, measured),
        &|measured| biases::measure(table, subject, units, config, seed_of_nulls, measured),
        &|measured| truth::measure(table, subject, units, config, measured),
        &|measured| scores::measure(table, subject, units, measured),
        &|measured| pairwise::measure(table, subject, units, measured),
    ];
    let parts: Vec<Measured> = families
        .par_iter()
        .map(|measure| {
            let mut measured = Measured::default();
            measure(&mut measured);
            measured
        })
        .collect();
    let mut all = Measured::default();
    for part in parts {
        all.append(part);
    }
    // One family may have measured what another could not: scores that accept agree with labels that are no scores.
    all.unmeasured.retain(|unmeasured| !all.values.contains_key(unmeasured.id.as_str()));
    if table.is_weighted {
        weights::caution(&mut all);
    }
    all
}

/// Measures everything measurable of one judge over units of all dimensions.
pub(crate) fn measure_all(table: &Table<'_>, subject: &Subject, units: &[Unit], config: &AuditConfig) -> Measured {
    let mut measured = measure_units(table, subject, units, config);
    rank(table, subject, units, &mut measured);
    measured
}

fn rank(table: &Table<'_>, subject: &Subject, units: &[Unit], measured: &mut Measured) {
    if table.kind == OutcomeKind::Score {
        ranking::measure(table, subject, units, measured);
    }
}

/// How much is said beside the estimates.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// All that an audit measures, so that nothing is left out unsaid.
    Whole,
    /// What can be compared of parts of the data, measured again and again: estimates, and no permutations, curves or resamples.
    Part,
}

/// Measures over `units` all single figures that an audit records of a judge.
pub(crate) fn measure_to_compare(
    table: &Table<'_>,
    people: Option<&people::People>,
    subject: &Subject,
    units: &[Unit],
    config: &AuditConfig,
    extent: Extent,
) -> Measured {
    let is_whole = extent == Extent::Whole;
    let mut measured = measure_families(table, subject, units, config, is_whole.then_some(config.seed));
    rank(table, subject, units, &mut measured);
    measured.append(Beside::of(table, people, subject, units, config, 0).measured);
    reliability::measure(table, subject, units, config, is_whole, &mut measured);
    pass_rate::pass_rate(table, subject, units, config, &mut measured);
    measured
}

/// What is measured of a judge as a whole: beside people, and of its scale.
struct Beside {
    measured: Measured,
    alternative: Option<AlternativeTest>,
    scale_use: Vec<ScaleUse>,
    halo: Option<Halo>,
}

impl Beside {
    fn of(
        table: &Table<'_>,
        people: Option<&people::People>,
        subject: &Subject,
        units: &[Unit],
        config: &AuditConfig,
        resamples: u32,
    ) -> Self {
        let mut measured = Measured::default();
        people::measure(table, people, subject, units, &mut measured);
        let alternative = people::alternative(table, people, subject, units, config, resamples, &mut measured);
        let scale_use = scale_use::scale_use(table, subject, units, config, &mut measured);
        let halo = scale_use::halo(table, subject, units, config, &mut measured);
        Self { measured, alternative, scale_use, halo }
    }
}

/// What is measured of a judge at work: what its confidences and scores say as probabilities, and what of its items passes.
struct InUse {
    measured: Measured,
    reliability: Vec<Reliability>,
    corrected_pass_rate: Option<CorrectedPassRate>,
}

impl InUse {
    fn of(table: &Table<'_>, subject: &Subject, config: &AuditConfig) -> Self {
        let (mut measured, mut of_stream) = (Measured::default(), Measured::default());
        let (reliability, corrected_pass_rate) = rayon::join(
            || reliability::reliability(table, subject, config, &mut measured),
            || pass_rate::pass_rate(table, subject, &subject.units, config, &mut of_stream),
        );
        measured.append(of_stream);
        Self { measured, reliability, corrected_pass_rate }
    }
}

pub(crate) fn audit_subject(
    table: &Table<'_>,
    people: Option<&people::People>,
    subject: &Subject,
    config: &AuditConfig,
    gate: &Gate,
) -> JudgeAudit {
    let log = table.log;
    let level = config.level;
    let accepts = truth::Accepts::of(table, config);
    let measuring = || {
        let main = || measure_all(table, subject, &subject.units, config);
        let voted = || (voting::voting(table, subject, config), thresholds::thresholds(table, subject, config));
        rayon::join(main, voted)
    };
    let beside = || Beside::of(table, people, subject, &subject.units, config, people::RESAMPLES);
    let looking = || {
        let where_wrong =
            || (baseline::baselines(table, subject, config), errors::error_clusters(table, subject, config));
        let answered = || {
            let confusion = chance::confusion(table, subject, &subject.units, accepts);
            (confusion, errors::worst_items(table, subject, config), answer_shares(table, subject))
        };
        rayon::join(beside, || rayon::join(where_wrong, answered))
    };
    let ((main, in_use), looked) =
        rayon::join(|| rayon::join(measuring, || InUse::of(table, subject, config)), looking);
    let (mut measured, (voting, thresholds)) = main;
    let (beside, ((baselines, error_clusters), (confusion, worst_items, answers))) = looked;
    measured.append(beside.measured);
    measured.append(in_use.measured);
    anchors::widen(table, subject, config, &mut measured);
    if table.is_weighted {
        weights::caution(&mut measured);
    }
    let InUse { reliability, corrected_pass_rate, .. } = in_use;
    let watched = config.look_order().map(|order| looks::looks(table, people, subject, &measured, gate, config, order));
    let evidence = watched.as_ref().map(|(_, evidence)| evidence);
    let (fitness, mut why, limits) = decide::decide(gate, &measured, table.kind, config.gate_level(), evidence);
    if let Some(planned) = config.planned_looks {
        let at = findings::per_cent(config.gate_level());
        why = format!("{why} Limits are tested at {at}, as one of {planned} planned looks.");
    }
    if config.tuned_on_items {
        why.push_str(" The judge's prompt was tuned on these items: expect it to do worse on others.");
    }
    let mut style = biases::style(table, subject, config);
    let biases = biases::family(&measured, style.as_mut(), level);
    let label_noise = label_noise::label_noise(table, subject, config, &limits, &measured);
    let n_items = count_distinct(subject.units.iter().map(|unit| unit.item));
    let drift = drift::drift(table, subject, config);
    let mut findings = findings::findings(&findings::Evidence {
        kind: table.kind,
        level,
        measured: &measured,
        voting: voting.as_ref(),
        thresholds: thresholds.as_ref(),
        baselines: &baselines,
        error_clusters: error_clusters.as_ref(),
        biases: biases.as_ref(),
        style: style.as_ref(),
        n_items,
        is_tuned: config.tuned_on_items,
        reliability: &reliability,
        only_answer: only_answer(table, subject).as_deref(),
        is_cached: is_cached(subject),
    });
    findings.extend(beside::findings(
        &measured,
        beside.alternative.as_ref(),
        label_noise.as_ref(),
        &beside.scale_use,
        beside.halo.as_ref(),
        level,
    ));
    if let Some(drift) = &drift {
        findings.extend(drift::findings(drift));
    }
    let gate_risk =
        config.gate_risk.then(|| gate_risk::gate_risk(table, subject, config, gate, &mut measured)).flatten();
    if let Some(risk) = &gate_risk {
        // It was asked for: among equals it comes first.
        findings.insert(0, gate_risk::finding(risk));
    }
    findings::sort(&mut findings);
    let lengths = || subject.cells.iter().map(|cell| cell.len() as u64);
    let is_labelled = |unit: &&Unit| unit.truth.value.is_some() || unit.truth.good.is_some();
    JudgeAudit {
        judge: if subject.judge == NONE { String::new() } else { log.judges.name(subject.judge).to_owned() },
        arm: (subject.arm != NONE).then(|| log.arms.name(subject.arm).to_owned()),
        outcome: table.kind,
        n_judgements: subject.draws.len() as u64,
        n_items,
        n_clusters: count_distinct(subject.units.iter().map(|unit| unit.cluster)),
        n_unparsed: subject.n_unparsed,
        n_labelled: count_distinct(subject.units.iter().filter(is_labelled).map(|unit| unit.item)),
        repeats: [lengths().min().unwrap_or(0), lengths().max().unwrap_or(0)],
        fitness,
        why,
        limits,
        looks: watched.map(|(looks, _)| looks),
        look_history: None,
        findings,
        answers,
        unparsed_by: parsing::splits(table, subject, level),
        voting,
        thresholds,
        reliability,
        corrected_pass_rate,
        confusion,
        baselines,
        error_clusters,
        biases,
        style,
        by_generator: biases::by_generator(table, subject, config),
        drift,
        worst_items,
        gate_risk,
        dimensions: dimensions(table, subject, config),
        alternative: beside.alternative,
        label_noise,
        scale_use: beside.scale_use,
        halo: beside.halo,
        measures: measured.values.iter().map(|(id, value)| ((*id).to_owned(), value.measure(level))).collect(),
        unmeasured: measured.unmeasured,
    }
}

/// Returns how many different values a sorted sequence has.
pub(crate) fn count_distinct(sorted: impl Iterator<Item = u32>) -> u64 {
    let mut last = None;
    sorted.filter(|value| last.replace(*value) != Some(*value)).count() as u64
}

/// Returns the answer that every reply gives, or `None` when there are several or none.
fn only_answer(table: &Table<'_>, subject: &Subject) -> Option<String> {
    let mut parsed = subject.draws.iter().filter(|draw| !draw.is_nan());
    let first = *parsed.next()?;
    parsed.all(|draw| draw.total_cmp(&first).is_eq()).then(|| table.answer_name(first))
}

/// Whether many repeats are all identical, as from a cache.
fn is_cached(subject: &Subject) -> bool {
    let repeated: Vec<&Cell> = subject.cells.iter().filter(|cell| cell.n_parsed() > 1).collect();
    // Three alike are rarer than two.
    let enough = if repeated.iter().all(|cell| cell.n_parsed() > 2) { 10 } else { 20 };
    repeated.len() >= enough
        && repeated.iter().all(|cell| {
            let mut draws = subject.parsed(cell);
            let first = draws.next();
            draws.all(|draw| Some(draw) == first)
        })
}

/// The most answers listed; scores on a continuous scale have more.
const MOST_ANSWERS: usize = 50;

fn answer_shares(table: &Table<'_>, subject: &Subject) -> Vec<AnswerShare> {
    // Counted by bits, sorted by value: a few answers a million times, or a million scores once each.
    let mut counts: hashbrown::HashMap<u64, u64, foldhash::fast::RandomState> = hashbrown::HashMap::default();
    for draw in &subject.draws {
        *counts.entry(draw.to_bits()).or_insert(0) += 1;
    }
    let mut counts: Vec<(f64, u64)> = counts.into_iter().map(|(bits, n)| (f64::from_bits(bits), n)).collect();
    counts.sort_unstable_by(|(a, _), (b, _)| a.total_cmp(b));
    if counts.len() > MOST_ANSWERS {
        // A continuous scale: the commonest values only.
        counts.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
        counts.truncate(MOST_ANSWERS);
    }
    let total = subject.draws.len() as f64;
    counts
        .into_iter()
        .map(|(draw, n)| AnswerShare { answer: table.answer_name(draw), n, share: n as f64 / total })
        .collect()
}

fn dimensions(table: &Table<'_>, subject: &Subject, config: &AuditConfig) -> Vec<DimensionAudit> {
    let log = table.log;
    if log.dimensions.len() < 2 {
        return Vec::new();
    }
    let ids = 0..u32::try_from(log.dimensions.len()).expect("dimensions are numbered by u32");
    ids.filter_map(|dimension| {
        let units: Vec<Unit> = subject.units.iter().filter(|unit| unit.dimension == dimension).cloned().collect();
        if units.is_empty() {
            return None;
        }
        let measured = measure_units(table, subject, &units, config);
        Some(DimensionAudit {
            dimension: log.dimensions.name(dimension).to_owned(),
            measures: measured
                .values
                .iter()
                .map(|(id, value)| ((*id).to_owned(), value.measure(config.level)))
                .collect(),
        })
    })
    .collect()
}
