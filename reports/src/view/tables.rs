//! The smaller tables: answers, confusion, baselines, clusters of errors, worst items, comparisons, agreement.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use assize_calibration::audit::catalogue::Unit;
use assize_calibration::audit::result::{Audit, Comparison, Confusion, ErrorClusters, JudgeAudit, SplitRate};
use serde::Serialize;

use super::forest::{self, Cell, Forest};
use crate::chart;
use crate::{RenderError, format, text, words};

/// Most distinct answers shown.
const MAX_ANSWERS: usize = 30;
/// Most categories of a confusion table shown.
const MAX_CATEGORIES: usize = 12;
/// Most answers to one item shown.
const MAX_RAW: usize = 16;
/// Most worst items shown for one reason.
const MAX_WORST: usize = 10;
/// Most rows of one split shown.
const MAX_SPLITS: usize = 24;

/// An answer and how often it was given.
#[derive(Serialize)]
pub(crate) struct AnswerRow {
    answer: String,
    chart: String,
    share: String,
    n: String,
    is_unparsed: bool,
}

pub(super) fn answers(judge: &JudgeAudit) -> Result<Vec<AnswerRow>, RenderError> {
    let longest = judge.answers.iter().map(|answer| answer.share).filter(|share| share.is_finite()).fold(0.0, f64::max);
    let mut rows = judge
        .answers
        .iter()
        .take(MAX_ANSWERS)
        .map(|answer| {
            let name = words::name(&answer.answer);
            let share = format::per_cent(answer.share);
            let of_longest = if longest > 0.0 { answer.share / longest } else { 0.0 };
            Ok(AnswerRow {
                chart: chart::bar(of_longest, &format!("{name}: {share}"))?,
                is_unparsed: answer.answer == "unparsed",
                answer: name,
                share,
                n: format::count(answer.n),
            })
        })
        .collect::<Result<Vec<_>, RenderError>>()?;
    let rest = judge.answers.get(MAX_ANSWERS..).unwrap_or_default();
    if !rest.is_empty() {
        let share: f64 = rest.iter().map(|answer| answer.share).sum();
        rows.push(AnswerRow {
            answer: format!("{} further answers", rest.len()),
            chart: chart::bar(0.0, "")?,
            share: format::per_cent(share),
            n: format::count(rest.iter().map(|answer| answer.n).sum()),
            is_unparsed: false,
        });
    }
    Ok(rows)
}

/// A rate within a part of the data.
#[derive(Serialize)]
struct SplitRow {
    by: String,
    value: String,
    chart: String,
    cell: Cell,
    counts: String,
}

/// A rate by parts of the data.
#[derive(Serialize)]
pub(crate) struct SplitsView {
    axis: String,
    methods: String,
    rows: Vec<SplitRow>,
}

pub(super) fn splits(splits: &[SplitRate]) -> Result<SplitsView, RenderError> {
    let scale = forest::scale(Unit::Share, splits.iter().map(|split| &split.rate), &[]);
    let rows = splits
        .iter()
        .take(MAX_SPLITS)
        .map(|split| {
            Ok(SplitRow {
                by: text::visible(&split.by),
                value: words::name(&split.value),
                chart: forest::draw(&split.rate, Unit::Share, &scale, &[], None)?,
                cell: Cell::new(&split.rate, Unit::Share),
                counts: forest::counts(&split.rate),
            })
        })
        .collect::<Result<_, RenderError>>()?;
    Ok(SplitsView {
        axis: forest::axis(&scale, Unit::Share)?,
        methods: forest::methods(splits.iter().map(|split| &split.rate)),
        rows,
    })
}

#[derive(Serialize)]
struct ConfusionCell {
    count: String,
    share: String,
    /// 0 to 100: how strongly the cell is tinted.
    tint: u32,
    is_right: bool,
}

#[derive(Serialize)]
struct ConfusionRow {
    label: String,
    cells: Vec<ConfusionCell>,
    unparsed: String,
}

/// Judged against true.
#[derive(Serialize)]
pub(crate) struct ConfusionView {
    columns: Vec<String>,
    rows: Vec<ConfusionRow>,
    n_omitted: usize,
}

pub(super) fn confusion(confusion: &Confusion) -> ConfusionView {
    let names: Vec<_> = confusion.categories.iter().take(MAX_CATEGORIES).map(|name| words::name(name)).collect();
    let rows = names
        .iter()
        .enumerate()
        .map(|(row_idx, label)| {
            let weights = confusion.weights.get(row_idx).map_or(&[][..], Vec::as_slice);
            let counts = confusion.counts.get(row_idx).map_or(&[][..], Vec::as_slice);
            let total: f64 = weights.iter().sum();
            let cells = (0..names.len())
                .map(|column_idx| {
                    let weight = weights.get(column_idx).copied().unwrap_or(0.0);
                    let share = if total > 0.0 { (weight / total).clamp(0.0, 1.0) } else { f64::NAN };
                    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 100; NaN is 0")]
                    let tint = (share * 100.0).round() as u32;
                    ConfusionCell {
                        count: format::count(counts.get(column_idx).copied().unwrap_or(0)),
                        share: if share.is_nan() { "no items".to_owned() } else { format::per_cent(share) },
                        tint,
                        is_right: row_idx == column_idx,
                    }
                })
                .collect();
            let unparsed = format::count(confusion.unparsed.get(row_idx).copied().unwrap_or(0));
            ConfusionRow { label: label.clone(), cells, unparsed }
        })
        .collect();
    let n_omitted = confusion.categories.len() - names.len();
    ConfusionView { columns: names, rows, n_omitted }
}

#[derive(Serialize)]
struct BaselineRow {
    name: String,
    explanation: String,
    cell: Cell,
    counts: String,
    difference: Option<Cell>,
    chart: String,
}

/// What judges that do not look would score.
#[derive(Serialize)]
pub(crate) struct BaselinesView {
    axis: String,
    bases: Vec<String>,
    rows: Vec<BaselineRow>,
}

pub(super) fn baselines(judge: &JudgeAudit) -> Result<BaselinesView, RenderError> {
    let differences = || judge.baselines.iter().filter_map(|baseline| baseline.judge_minus_baseline.as_ref());
    let scale = forest::difference_scale(differences());
    let rows = judge
        .baselines
        .iter()
        .map(|baseline| {
            let difference = baseline.judge_minus_baseline.as_ref();
            Ok(BaselineRow {
                name: text::sentence(&format::words(&baseline.name)).trim_end_matches('.').to_owned(),
                explanation: text::sentence(&baseline.explanation),
                cell: Cell::new(&baseline.accuracy, Unit::Share),
                counts: forest::counts(&baseline.accuracy),
                chart: match difference {
                    Some(difference) => forest::draw(difference, Unit::Share, &scale, &[], Some(0.0))?,
                    None => String::new(),
                },
                difference: difference.map(|measure| Cell::difference(measure, Unit::Share)),
            })
        })
        .collect::<Result<_, RenderError>>()?;
    let axis = if differences().next().is_some() { forest::axis(&scale, Unit::Share)? } else { String::new() };
    let accuracies = judge.baselines.iter().map(|baseline| ("Accuracy", &baseline.accuracy));
    let bases = forest::bases(accuracies.chain(differences().map(|difference| ("Judge − baseline", difference))));
    Ok(BaselinesView { axis, bases, rows })
}

#[derive(Serialize)]
struct ClusterRow {
    name: String,
    error: String,
    errors: String,
    n_items: String,
    share: String,
    chart: String,
}

/// Where errors gather.
#[derive(Serialize)]
pub(crate) struct ClustersView {
    unit: String,
    says: Vec<String>,
    rows: Vec<ClusterRow>,
}

fn error_word(error: &str) -> String {
    match error {
        "false_accept" => "false accept".to_owned(),
        "false_reject" => "false reject".to_owned(),
        "wrong" => "wrong answer".to_owned(),
        other => format::words(&text::visible(other)),
    }
}

/// Returns whether errors gather in clusters by more than chance makes plausible; else those with most are noise.
fn gathers(clusters: &ErrorClusters, error: &str) -> bool {
    clusters.design_effect.get(error).is_none_or(|effect| *effect > 1.5)
}

pub(super) fn clusters(clusters: &ErrorClusters) -> Result<ClustersView, RenderError> {
    let unit = text::visible(&clusters.unit).trim_end_matches('s').to_owned();
    let says = clusters
        .half_of_errors_in
        .iter()
        .map(|(error, half)| {
            let mut says = format!("Half of all {}s come from {}", error_word(error), format::counted(*half, &unit));
            if let Some(n) = clusters.clusters_with_error.get(error) {
                write!(says, ", of {} that show any", format::count(*n)).expect("writing to memory");
            }
            if let Some(effect) = clusters.design_effect.get(error).filter(|effect| effect.is_finite()) {
                write!(says, " (design effect {}; 1 would be no clustering)", format::significant(*effect))
                    .expect("writing to memory");
            }
            if !gathers(clusters, error) {
                write!(says, ", about as chance would spread them: no {unit} stands out").expect("writing to memory");
            }
            says + "."
        })
        .collect();
    let rows = clusters
        .clusters
        .iter()
        .filter(|cluster| gathers(clusters, &cluster.error))
        .map(|cluster| {
            let error = error_word(&cluster.error);
            let share = format::per_cent(cluster.share);
            Ok(ClusterRow {
                chart: chart::bar(cluster.share, &format!("{share} of all {error}s"))?,
                name: text::cut(&cluster.name, 160),
                error,
                errors: format::significant(cluster.errors),
                n_items: format::count(cluster.n_items),
                share,
            })
        })
        .collect::<Result<_, RenderError>>()?;
    Ok(ClustersView { unit, says, rows })
}

#[derive(Serialize)]
struct RawAnswers {
    order: String,
    answers: Vec<String>,
    n_omitted: usize,
}

/// One item worth looking at.
#[derive(Serialize)]
pub(crate) struct WorstRow {
    item: String,
    dimension: Option<String>,
    reason: String,
    badness: String,
    label: Option<String>,
    orders: Vec<RawAnswers>,
}

pub(super) fn worst(judge: &JudgeAudit) -> Vec<WorstRow> {
    let mut n_by_reason: BTreeMap<&str, usize> = BTreeMap::new();
    judge
        .worst_items
        .iter()
        .filter(|item| {
            let n = n_by_reason.entry(item.reason.as_str()).or_default();
            *n += 1;
            *n <= MAX_WORST
        })
        .map(|item| WorstRow {
            item: text::cut(&item.item, 240),
            dimension: item.dimension.as_deref().map(words::name),
            reason: text::visible(&item.reason),
            badness: format::significant(item.badness),
            label: item.label.as_deref().map(|label| text::cut(label, 60)),
            orders: item
                .answers
                .iter()
                .map(|(order, answers)| RawAnswers {
                    order: text::cut(order, 24),
                    answers: answers.iter().take(MAX_RAW).map(|answer| text::cut(answer, 80)).collect(),
                    n_omitted: answers.len().saturating_sub(MAX_RAW),
                })
                .collect(),
        })
        .collect()
}

#[derive(Serialize)]
struct PairRow {
    a: String,
    b: String,
    mean_a: String,
    mean_b: String,
    chart: String,
    cell: Cell,
    counts: String,
    p: String,
    p_holm: String,
    better: String,
    test: String,
}

/// Pairs of arms or judges, compared on one measure.
#[derive(Serialize)]
pub(crate) struct ComparisonView {
    title: String,
    axis: String,
    methods: String,
    rows: Vec<PairRow>,
    n_omitted: usize,
}

pub(super) fn comparisons(audit: &Audit, max: usize) -> Result<Vec<ComparisonView>, RenderError> {
    let mut kinds: Vec<(&str, &str)> = Vec::new();
    for comparison in &audit.comparisons {
        let kind = (comparison.what.as_str(), comparison.measure.as_str());
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    kinds
        .into_iter()
        .map(|(what, measure)| {
            let of_kind: Vec<&Comparison> =
                audit.comparisons.iter().filter(|pair| pair.what == what && pair.measure == measure).collect();
            let unit = format::unit(measure);
            let shown = &of_kind[..of_kind.len().min(max)];
            let scale = forest::difference_scale(shown.iter().map(|pair| &pair.difference));
            let rows = shown.iter().map(|pair| pair_row(pair, unit, &scale)).collect::<Result<_, _>>()?;
            Ok(ComparisonView {
                title: format!(
                    "{}: {}",
                    text::sentence(what).trim_end_matches('.'),
                    text::visible(format::title(measure))
                ),
                axis: forest::axis(&scale, unit)?,
                methods: forest::methods(shown.iter().map(|pair| &pair.difference)),
                rows,
                n_omitted: of_kind.len() - shown.len(),
            })
        })
        .collect()
}

fn pair_row(pair: &Comparison, unit: Unit, scale: &chart::Scale) -> Result<PairRow, RenderError> {
    let (a, b) = (words::name(&pair.a), words::name(&pair.b));
    let better = match pair.better.as_str() {
        "a" => a.clone(),
        "b" => b.clone(),
        other => text::visible(other),
    };
    Ok(PairRow {
        mean_a: format::value(pair.mean_a, unit),
        mean_b: format::value(pair.mean_b, unit),
        chart: forest::draw(&pair.difference, unit, scale, &[], Some(0.0))?,
        cell: Cell::difference(&pair.difference, unit),
        counts: forest::counts(&pair.difference),
        p: pair.p_value.map_or_else(|| "p not defined".to_owned(), format::p_value),
        p_holm: pair.p_holm.map_or_else(|| "not defined".to_owned(), format::p_value),
        test: text::visible(&pair.test),
        a,
        b,
        better,
    })
}

/// Agreement among some raters or judges.
#[derive(Serialize)]
pub(crate) struct AgreementView {
    title: String,
    forests: Vec<Forest>,
}

pub(super) fn agreement(audit: &Audit) -> Result<Vec<AgreementView>, RenderError> {
    audit
        .agreement
        .iter()
        .map(|agreement| {
            let among = match agreement.among.as_str() {
                // A name begins as it was given.
                kind @ ("raters" | "judges") => text::sentence(kind),
                names => format::words(names),
            };
            let mut title = format!("{} ({})", among.trim_end_matches('.'), format::count(agreement.n_raters));
            if let Some(dimension) = &agreement.dimension {
                write!(title, " · {}", words::name(dimension)).expect("writing to memory");
            }
            Ok(AgreementView { title, forests: forest::of_agreement(&agreement.measures)? })
        })
        .collect()
}
