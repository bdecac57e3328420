//! One judge: verdict, findings, gate, and its measures by family.

use assize_calibration::audit::catalogue::{self, Family};
use assize_calibration::audit::result::{Audit, FindingWeight, JudgeAudit};
use assize_calibration::gate::{LimitResult, LimitState};
use assize_calibration::judgement::OutcomeKind;
use serde::Serialize;

use super::biases::{self, BiasesView};
use super::drift::{self, DriftView};
use super::forest::{self, Cell, Forest};
use super::passing::{self, PassingView};
use super::people::{self, AlternativeView, HaloView, LabelNoiseView, ScaleView};
use super::plots::{self, ThresholdsView, VotingView};
use super::probabilities::{self, ProbabilitiesView};
use super::risk::{self, RiskView};
use super::style::{self, StyleView};
use super::tables::{self, AnswerRow, BaselinesView, ClustersView, ConfusionView, SplitsView, WorstRow};
use super::{Fact, Mark, fact};
use crate::{RenderError, format, text, words};

#[derive(Serialize)]
struct FindingView {
    mark: Mark,
    what: String,
    advice: String,
    measures: String,
}

#[derive(Serialize)]
struct LimitRow {
    title: String,
    limit: String,
    cell: Option<Cell>,
    chart: String,
    mark: Mark,
    why: String,
    further: Option<String>,
    p_broken: Option<String>,
    is_required: bool,
}

#[derive(Serialize)]
struct UnmeasuredRow {
    title: String,
    reason: String,
    needs: Vec<String>,
}

#[derive(Serialize)]
struct FamilyView {
    anchor: &'static str,
    question: &'static str,
    says: Vec<String>,
    forests: Vec<Forest>,
    unmeasured: Vec<UnmeasuredRow>,
}

#[derive(Serialize)]
struct DimensionView {
    name: String,
    forests: Vec<Forest>,
}

/// One judge, ready to lay out.
#[derive(Serialize)]
pub(crate) struct JudgeView {
    anchor: String,
    name: String,
    verdict: Mark,
    why: String,
    extent: String,
    findings: Vec<FindingView>,
    more_data: Option<String>,
    /// When the verdict stood, where every item was looked at.
    looks: Option<String>,
    limits: Vec<LimitRow>,
    families: Vec<FamilyView>,
    others: Vec<Forest>,
    unmeasured_others: Vec<UnmeasuredRow>,
    answers: Vec<AnswerRow>,
    unparsed_by: SplitsView,
    voting: Option<VotingView>,
    thresholds: Option<ThresholdsView>,
    probabilities: Vec<ProbabilitiesView>,
    passing: Option<PassingView>,
    confusion: Option<ConfusionView>,
    baselines: BaselinesView,
    clusters: Option<ClustersView>,
    biases: BiasesView,
    style: Option<StyleView>,
    drift: Option<DriftView>,
    worst: Vec<WorstRow>,
    risk: Option<RiskView>,
    dimensions: Vec<DimensionView>,
    alternative: Option<AlternativeView>,
    label_noise: Option<LabelNoiseView>,
    scale_use: Option<ScaleView>,
    halo: Option<HaloView>,
    facts: Vec<Fact>,
}

const FAMILIES: [(Family, &str); 7] = [
    (Family::Parsing, "read"),
    (Family::Stability, "stable"),
    (Family::Position, "position"),
    (Family::Bias, "bias"),
    (Family::Truth, "right"),
    (Family::Scale, "scale"),
    (Family::People, "people"),
];

/// Builds one judge. `number` makes its anchors distinct within the page.
pub(super) fn build(audit: &Audit, judge: &JudgeAudit, number: usize) -> Result<JudgeView, RenderError> {
    // Of verdicts there is no scale to ask about.
    let is_asked = |of: &Family| *of != Family::Scale || judge.outcome == OutcomeKind::Score;
    let families = FAMILIES
        .into_iter()
        .filter(|(of, _)| is_asked(of))
        .map(|(of, anchor)| family(judge, of, anchor))
        .collect::<Result<_, _>>()?;
    let dimensions = judge
        .dimensions
        .iter()
        .map(|dimension| {
            Ok(DimensionView { name: words::name(&dimension.dimension), forests: forest::of_map(&dimension.measures)? })
        })
        .collect::<Result<_, RenderError>>()?;
    Ok(JudgeView {
        anchor: format!("judge-{number}"),
        name: words::judge_name(judge),
        verdict: judge.fitness.into(),
        why: text::prose(&judge.why),
        extent: words::extent(judge),
        findings: findings(judge),
        more_data: words::more_data(judge),
        looks: words::looks(judge),
        limits: judge.limits.iter().map(|limit| limit_row(audit, judge, limit)).collect::<Result<_, _>>()?,
        families,
        others: forest::of_unknown(judge)?,
        unmeasured_others: unmeasured(judge, None),
        answers: tables::answers(judge)?,
        unparsed_by: tables::splits(&judge.unparsed_by)?,
        voting: judge.voting.as_ref().filter(|voting| !voting.points.is_empty()).map(plots::voting).transpose()?,
        thresholds: judge
            .thresholds
            .as_ref()
            .filter(|sweep| !sweep.points.is_empty())
            .map(|sweep| plots::thresholds(sweep, judge.measures.get("auc")))
            .transpose()?,
        probabilities: judge.reliability.iter().map(probabilities::probabilities).collect::<Result<_, _>>()?,
        passing: judge.corrected_pass_rate.as_ref().map(|rate| passing::passing(judge, rate)),
        confusion: judge.confusion.as_ref().map(tables::confusion),
        baselines: tables::baselines(judge)?,
        clusters: judge.error_clusters.as_ref().map(tables::clusters).transpose()?,
        biases: biases::biases(judge),
        style: style::style(judge),
        drift: judge.drift.as_ref().map(drift::drift).transpose()?,
        worst: tables::worst(judge),
        risk: judge.gate_risk.as_ref().map(risk::risk),
        dimensions,
        alternative: judge.alternative.as_ref().map(|test| people::alternative(test, judge)),
        label_noise: judge.label_noise.as_ref().map(people::label_noise),
        scale_use: people::scale_use(&judge.scale_use),
        halo: judge.halo.as_ref().map(people::halo),
        facts: vec![
            fact("Answers audited", format::outcome(judge.outcome)),
            fact("Answers", format::count(judge.n_judgements)),
            fact("Items", format::count(judge.n_items)),
            fact("Independent clusters", format::count(judge.n_clusters)),
            fact("Labelled items", format::count(judge.n_labelled)),
            fact("Unparsed answers", format::count(judge.n_unparsed)),
        ],
    })
}

fn findings(judge: &JudgeAudit) -> Vec<FindingView> {
    judge
        .findings
        .iter()
        .map(|finding| {
            let (class, word) = match finding.weight {
                FindingWeight::Bad => ("bad", "change"),
                FindingWeight::Note => ("note", "note"),
                FindingWeight::Good => ("good", "good"),
            };
            let titles: Vec<_> = finding.measures.iter().map(|id| text::visible(format::title(id))).collect();
            FindingView {
                mark: Mark { class, word },
                what: text::prose(&finding.what),
                advice: text::prose(&finding.advice),
                measures: titles.join(", "),
            }
        })
        .collect()
}

fn limit_row(audit: &Audit, judge: &JudgeAudit, limit: &LimitResult) -> Result<LimitRow, RenderError> {
    let unit = format::unit(&limit.measure);
    let measure = words::limit_measure(judge, limit);
    let measure = measure.as_deref();
    let chart = match measure {
        Some(measure) => {
            let side = forest::side(limit);
            let scale = forest::scale_of_limit(unit, Some(measure), limit.limit, side);
            let strip = forest::draw(measure, unit, &scale, &[(limit.limit, side)], None)?;
            strip + &forest::axis(&scale, unit)?
        }
        None => String::new(),
    };
    Ok(LimitRow {
        title: text::visible(format::title(&limit.measure)),
        limit: words::limit(limit),
        cell: measure.map(|measure| Cell::new(measure, unit)),
        chart,
        mark: limit.state.into(),
        why: text::sentence(&limit.why),
        further: words::further_items(limit).filter(|_| judge.looks.is_none()).map(|further| text::sentence(&further)),
        p_broken: limit.p_broken.filter(|_| limit.state == LimitState::Broken).map(format::p_value),
        is_required: audit.gate.limits.get(&limit.measure).is_some_and(|limit| limit.required),
    })
}

fn family(judge: &JudgeAudit, family: Family, anchor: &'static str) -> Result<FamilyView, RenderError> {
    Ok(FamilyView {
        anchor,
        question: format::question(family),
        says: words::family(judge, family),
        forests: forest::of_family(judge, family)?,
        unmeasured: unmeasured(judge, Some(family)),
    })
}

/// Returns what could not be measured of a family, or of none that is known.
fn unmeasured(judge: &JudgeAudit, family: Option<Family>) -> Vec<UnmeasuredRow> {
    judge
        .unmeasured
        .iter()
        .filter(|missing| catalogue::info(&missing.id).map(|info| info.family) == family)
        .map(|missing| UnmeasuredRow {
            title: text::visible(format::title(&missing.id)),
            reason: text::sentence(&missing.reason),
            needs: missing.needs.iter().map(|column| text::visible(column)).collect(),
        })
        .collect()
}
