//! Reliability curves, and the maps that would make values mean what they say.

use assize_calibration::audit::catalogue::Unit;
use assize_calibration::audit::result::{
    ProbabilityScores, RecalibrationAudit, RecalibrationMap, Reliability, ReliabilityCurve, ReliabilityPoint,
};
use serde::Serialize;

use super::forest::{self, Cell};
use super::plots::{SQUARE, share_tick};
use crate::chart::{self, Line, Lines, Scale};
use crate::{RenderError, format, text};

/// Most steps of a map that are shown.
const MAX_STEPS: usize = 40;

#[derive(Serialize)]
struct Figure {
    title: String,
    chart: String,
    caption: String,
}

#[derive(Serialize)]
struct ScoreRow {
    name: &'static str,
    brier: Cell,
    log_loss: Option<Cell>,
    ece: String,
    perfect: String,
    gain: Option<Cell>,
}

#[derive(Serialize)]
struct BinRow {
    range: String,
    stated: String,
    came: Cell,
    bar: String,
    share: String,
    items: String,
}

#[derive(Serialize)]
struct MapView {
    name: &'static str,
    says: String,
    steps: Vec<[String; 2]>,
    n_omitted: usize,
}

/// One set of values held against what came.
#[derive(Serialize)]
pub(crate) struct ProbabilitiesView {
    title: &'static str,
    says: String,
    figures: Vec<Figure>,
    has_gain: bool,
    rows: Vec<ScoreRow>,
    binning: String,
    bins: Vec<BinRow>,
    maps: Vec<MapView>,
    bases: Vec<String>,
}

/// Draws what confidences, or scores recalibrated, are worth.
pub(super) fn probabilities(of: &Reliability) -> Result<ProbabilitiesView, RenderError> {
    let is_score = of.of == "score";
    let mut figures = Vec::new();
    let mut rows = Vec::new();
    if let Some(scores) = &of.as_stated {
        rows.push(row("as stated", scores, None));
        for curve in &scores.curves {
            figures.extend(figure("As stated", curve)?);
        }
    }
    for audit in &of.recalibrations {
        rows.push(row(method(audit), &audit.scores, Some(audit)));
        for curve in &audit.scores.curves {
            figures.extend(figure(&format!("Recalibrated, {}", method(audit)), curve)?);
        }
    }
    let shown = of.as_stated.as_ref().or_else(|| of.recalibrations.first().map(|audit| &audit.scores));
    let curve = shown.and_then(|scores| scores.curves.first());
    let (event, share) = (text::visible(&of.event), format::per_cent(of.event_share));
    let uncertainty = of.event_share * (1.0 - of.event_share);
    let guess = format!(
        "It is so for {share} of items; always saying that share scores {} (Brier)",
        format::value(uncertainty, Unit::Loss)
    );
    let says = if is_score {
        format!(
            "A score is no probability. Recalibration makes it one that {event}: fitted on some items, judged here on others. {guess}."
        )
    } else {
        format!("The probability stated is that {event}. {guess}.")
    };
    let says = if of.n_left_out > 0 {
        let left_out = format::count(of.n_left_out);
        format!("{says} Of so many items, those of evenly spaced clusters are enough: {left_out} were left out.")
    } else {
        says
    };
    Ok(ProbabilitiesView {
        title: if is_score { "What scores say as probabilities" } else { "Does its confidence mean what it says?" },
        says,
        figures,
        has_gain: of.recalibrations.iter().any(|audit| audit.brier_gain.is_some()),
        binning: curve.map_or_else(String::new, binning),
        bins: curve.map(bins).transpose()?.unwrap_or_default(),
        bases: forest::bases(shown.into_iter().flat_map(|scores| {
            [("Brier score", Some(&scores.brier_score)), ("Log loss", scores.log_loss.as_ref())]
                .into_iter()
                .filter_map(|(name, measure)| Some((name, measure?)))
        })),
        rows,
        maps: of.recalibrations.iter().map(|audit| map(audit, of)).collect(),
    })
}

fn method(audit: &RecalibrationAudit) -> &'static str {
    if audit.method == "platt" { "sigmoid (Platt)" } else { "steps (isotonic)" }
}

fn binning(curve: &ReliabilityCurve) -> String {
    format!("up to {} {}", curve.n_bins, text::visible(&curve.binning))
}

fn row(name: &'static str, scores: &ProbabilityScores, audit: Option<&RecalibrationAudit>) -> ScoreRow {
    let curve = scores.curves.first();
    ScoreRow {
        name,
        brier: Cell::new(&scores.brier_score, Unit::Loss),
        log_loss: scores.log_loss.as_ref().map(|measure| Cell::new(measure, Unit::Loss)),
        ece: curve.map_or_else(String::new, |curve| format::per_cent(curve.ece)),
        perfect: curve.map_or_else(String::new, |curve| {
            format!(
                "{}, under {}",
                format::per_cent(curve.ece_of_perfect),
                format::per_cent(curve.ece_of_perfect_upper)
            )
        }),
        gain: audit.and_then(|audit| audit.brier_gain.as_ref()).map(|gain| Cell::difference(gain, Unit::Loss)),
    }
}

fn figure(title: &str, curve: &ReliabilityCurve) -> Result<Option<Figure>, RenderError> {
    let point = |bin: &ReliabilityPoint| {
        let rate = &bin.event_rate;
        (bin.mean_confidence, rate.estimate, rate.low.zip(rate.high))
    };
    let points: Vec<_> = curve.bins.iter().map(point).filter(|(x, y, _)| x.is_finite() && y.is_finite()).collect();
    if points.is_empty() {
        return Ok(None);
    }
    let lines = [Line { points }];
    let chart = Lines {
        x: Scale::unit(),
        y: Scale::unit(),
        curves: &lines,
        mark_x: None,
        mark_y: None,
        diagonal: true,
        x_title: "probability stated",
        size: SQUARE,
    };
    let caption = format!(
        "What came true by the probability given, {}. On the diagonal it means what it says. Calibration error {}; of a perfect judge {} on \
         average.",
        binning(curve),
        format::per_cent(curve.ece),
        format::per_cent(curve.ece_of_perfect)
    );
    Ok(Some(Figure {
        title: title.to_owned(),
        chart: chart::lines(&chart, &share_tick, &share_tick, &format!("{title}. {caption}"))?,
        caption,
    }))
}

fn bins(curve: &ReliabilityCurve) -> Result<Vec<BinRow>, RenderError> {
    let largest = curve.bins.iter().map(|bin| bin.share).fold(0.0, f64::max);
    curve
        .bins
        .iter()
        .map(|bin| {
            let share = format::per_cent(bin.share);
            Ok(BinRow {
                range: format!("{} to {}", format::plain(bin.low), format::plain(bin.high)),
                stated: format::per_cent(bin.mean_confidence),
                came: Cell::new(&bin.event_rate, Unit::Share),
                bar: chart::bar(bin.share / largest, &format!("{share} of items"))?,
                share,
                items: format::counted(bin.event_rate.n_items, "item"),
            })
        })
        .collect()
}

fn map(audit: &RecalibrationAudit, of: &Reliability) -> MapView {
    let name = method(audit);
    match &audit.map {
        RecalibrationMap::Isotonic(steps) => MapView {
            name,
            says: format!("From each {} on, the probability beside it, up to the next row.", text::visible(&of.of)),
            steps: steps
                .iter()
                .take(MAX_STEPS)
                .map(|[from, probability]| [format::plain(*from), format!("{probability:.4}")])
                .collect(),
            n_omitted: steps.len().saturating_sub(MAX_STEPS),
        },
        RecalibrationMap::Platt([slope, intercept]) => MapView {
            name,
            says: format!("Probability = 1 / (1 + exp(−({slope:.6} · {} + {intercept:.6}))).", text::visible(&of.of)),
            steps: Vec::new(),
            n_omitted: 0,
        },
    }
}
