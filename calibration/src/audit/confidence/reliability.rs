//! Whether confidences mean what they say, and what scores would say if they were made probabilities.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use crate::interval::Spread;
use crate::judgement::OutcomeKind;

use super::forecasts::{Forecast, Observation, observe};
use super::recalibrated::recalibrations;
use crate::audit::AuditConfig;
use crate::audit::accuracy::curves::{Probabilities, brier, log_loss, scores};
use crate::audit::accuracy::truth::Accepts;
use crate::audit::data::table::{Subject, Table, Unit, is};
use crate::audit::decision::findings::per_cent;
use crate::audit::estimate::{Estimated, Measured, Values};
use crate::audit::result::{ProbabilityScores, Reliability};

/// What rests on confidences.
const IDS: [&str; 5] = ["overconfidence", "brier_score", "log_loss", "ece", "ece_excess"];
/// The most labelled units whose scores are recalibrated; of more, evenly spaced clusters are taken.
const MOST_UNITS: usize = 50_000;
/// Sets the draws here apart from others of the same seed.
const STREAM: u64 = 0x7265_6c69_6162_6c65;
/// Rejections enough to say how their confidences are meant.
const ENOUGH_REJECTIONS: usize = 10;

/// Returns whether confidences, and scores recalibrated, mean what they say; records the measures of confidences.
pub(in crate::audit) fn reliability(
    table: &Table<'_>,
    subject: &Subject,
    config: &AuditConfig,
    measured: &mut Measured,
) -> Vec<Reliability> {
    let seed = config.seed ^ STREAM;
    let mut found = Vec::new();
    if table.log.confidence.is_empty() {
        missing(measured, "no row states a confidence", &["confidence"]);
    } else {
        let (observations, rejections) = confidences(table, subject, &subject.units, config);
        match Forecast::new(table, &observations, seed) {
            Some(forecast) => {
                let of = Probabilities { forecast: &forecast, of: &|entry| entry.value, by_mass: true };
                if let Some(scores) = scores(&of, config.level, seed) {
                    record(&of, Some(&scores), rejections, measured);
                    let is_of_item = matches!(table.kind, OutcomeKind::Verdict | OutcomeKind::Score);
                    let event = if is_of_item { "the item is good" } else { "the answer is right" };
                    found.push(described("confidence", event, &forecast, Some(scores), config.level, seed));
                }
            }
            None => missing(measured, "no item with a confidence has a label that says good or not", &["label"]),
        }
    }
    if table.kind == OutcomeKind::Score {
        let (observations, n_left_out) = scores_of(subject);
        if let Some(forecast) = Forecast::new(table, &observations, seed) {
            let found_here = described("score", "the item is good", &forecast, None, config.level, seed);
            found.push(Reliability { n_left_out, ..found_here });
        }
    }
    found.retain(|reliability| reliability.as_stated.is_some() || !reliability.recalibrations.is_empty());
    found
}

/// Records the measures of confidences over `units`, those of bins only `with_curves`, which are dear.
pub(in crate::audit) fn measure(
    table: &Table<'_>,
    subject: &Subject,
    units: &[Unit],
    config: &AuditConfig,
    with_curves: bool,
    measured: &mut Measured,
) {
    let seed = config.seed ^ STREAM;
    if table.log.confidence.is_empty() {
        return missing(measured, "no row states a confidence", &["confidence"]);
    }
    let (observations, rejections) = confidences(table, subject, units, config);
    let Some(forecast) = Forecast::new(table, &observations, seed) else {
        return missing(measured, "no item with a confidence has a label that says good or not", &["label"]);
    };
    let of = Probabilities { forecast: &forecast, of: &|entry| entry.value, by_mass: true };
    let scores = with_curves.then(|| scores(&of, config.level, seed)).flatten();
    record(&of, scores.as_ref(), rejections, measured);
}

fn missing(measured: &mut Measured, reason: &str, needs: &[&str]) {
    for id in IDS {
        measured.unmeasured(id, reason, needs);
    }
}

fn described(
    of: &str,
    event: &str,
    forecast: &Forecast<'_>,
    as_stated: Option<ProbabilityScores>,
    level: f64,
    seed: u64,
) -> Reliability {
    Reliability {
        of: of.to_owned(),
        event: event.to_owned(),
        event_share: forecast.event_share(),
        n_left_out: 0,
        n_values: forecast.lows.len() as u64,
        is_grouped: forecast.is_grouped,
        recalibrations: recalibrations(forecast, as_stated.is_some(), level, seed),
        as_stated,
    }
}

/// How many rejecting answers state a confidence above one half, and how many state any.
#[derive(Clone, Copy, Default)]
struct Rejections {
    n_above_half: usize,
    n: usize,
}

/// Returns the confidences of labelled units.
fn confidences<'a>(
    table: &Table<'_>,
    subject: &Subject,
    units: &'a [Unit],
    config: &AuditConfig,
) -> (Vec<Observation<'a>>, Rejections) {
    let stated_in = &table.log.confidence;
    let accepts = Accepts::of(table, config);
    let mut rejections = Rejections::default();
    let mut observations = Vec::new();
    let mut stated: SmallVec<[(f64, bool); 8]> = SmallVec::new();
    for unit in units {
        stated.clear();
        for draw_idx in subject.cells_of(unit).iter().flat_map(|cell| cell.draws.clone()) {
            let confidence = stated_in.get(subject.rows[draw_idx] as usize).copied().unwrap_or(f64::NAN);
            if !(0.0..=1.0).contains(&confidence) {
                continue;
            }
            let draw = subject.draws[draw_idx];
            if accepts.is_some_and(|accepts| !draw.is_nan() && !accepts.accepts(draw)) {
                rejections.n += 1;
                rejections.n_above_half += usize::from(confidence > 0.5);
            }
            let came_true = match table.kind {
                OutcomeKind::Verdict | OutcomeKind::Score => unit.truth.good,
                // An answer that could not be read is not known to be right or wrong.
                _ if draw.is_nan() => None,
                OutcomeKind::Choice | OutcomeKind::Category => unit.truth.value.map(|value| is(value, draw)),
            };
            stated.extend(came_true.map(|came_true| (confidence + 0.0, came_true)));
        }
        observe(&mut observations, unit, &mut stated);
    }
    (observations, rejections)
}

/// Returns the scores of units labelled good or not, of evenly spaced clusters where there are very many, and how many were left out.
fn scores_of(subject: &Subject) -> (Vec<Observation<'_>>, u64) {
    let mut observations = Vec::new();
    let mut stated: SmallVec<[(f64, bool); 8]> = SmallVec::new();
    let labelled = || subject.units.iter().filter_map(|unit| Some((unit, unit.truth.good?)));
    let n_labelled = labelled().count();
    let step = u32::try_from(n_labelled.div_ceil(MOST_UNITS)).unwrap_or(u32::MAX).max(1);
    let mut n_taken = 0;
    for (unit, good) in labelled().filter(|(unit, _)| unit.cluster.is_multiple_of(step)) {
        n_taken += 1;
        stated.clear();
        stated.extend(subject.parsed_of(unit).filter(|draw| draw.is_finite()).map(|draw| (draw, good)));
        observe(&mut observations, unit, &mut stated);
    }
    (observations, (n_labelled - n_taken) as u64)
}

/// Mean confidence less the share that came true. Where nearly all, or nothing, came true, a t interval of the difference covers .85 to .92.
fn overconfidence(forecast: &Forecast<'_>) -> Option<Estimated> {
    let [mut excess, mut stated, mut came] = [Values::default(); 3];
    for entry in &forecast.entries {
        entry.push(&mut excess, entry.value - entry.outcome());
        entry.push(&mut stated, entry.value);
        entry.push(&mut came, entry.outcome());
    }
    let definition = "confidence less what came, mean over items";
    let value = excess.mean(definition, [-1.0, 1.0], None)?;
    let (stated, came) = (stated.mean("", [0.0, 1.0], None)?, came.proportion("")?);
    let variance = |spread: Spread| match spread {
        Spread::Student { standard_error, .. } => standard_error * standard_error,
        _ => 0.0,
    };
    let Spread::Proportion(taken) = came.spread else { return None };
    if value.n_clusters < 2 {
        return Some(value);
    }
    let (of_mean, of_rate) = (variance(stated.spread), taken.variance);
    // Var(a − b) = Var a + Var b − 2 Cov.
    let correlation = (of_mean + of_rate - variance(value.spread)) / (2.0 * (of_mean * of_rate).sqrt());
    let spread = Spread::Difference {
        standard_error: of_mean.sqrt(),
        degrees: value.n_clusters as f64 - 1.0,
        taken,
        correlation: if correlation.is_finite() { correlation.clamp(-1.0, 1.0) } else { 0.0 },
    };
    let method =
        format!("{definition}; MOVER of the t interval of the one and the Korn–Graubard interval of the other");
    Some(Estimated { spread, method, ..value })
}

/// Records the measures of confidences; those of bins where they were scored.
fn record(of: &Probabilities<'_>, scores: Option<&ProbabilityScores>, rejections: Rejections, measured: &mut Measured) {
    let curves = scores.map_or(&[][..], |scores| scores.curves.as_slice());
    let value = overconfidence(of.forecast).map(|mut value| {
        value = value.detail("event_share", of.forecast.event_share());
        let above = rejections.n_above_half as f64 / rejections.n as f64;
        if rejections.n >= ENOUGH_REJECTIONS {
            value = value.detail("rejections_above_half", above);
        }
        value
    });
    measured.record("overconfidence", value, "", &[]);
    let value = brier(of).map(|value| {
        let [width, ..] = curves else { return value };
        value
            .detail("reliability", width.reliability)
            .detail("resolution", width.resolution)
            .detail("uncertainty", width.uncertainty)
            .detail("within_bins", width.within_bins)
    });
    measured.record("brier_score", value, "", &[]);
    let reason = "it is infinite: what it was certain of did not come true";
    let share = of.forecast.event_share();
    let entropy: f64 = [share, 1.0 - share].iter().filter(|share| **share > 0.0).map(|share| -share * share.ln()).sum();
    let value = log_loss(of).map(|value| value.detail("of_the_overall_share", entropy));
    measured.record("log_loss", value, reason, &[]);
    let [width, rest @ ..] = curves else { return };
    let mut basis = Values::default();
    of.forecast.entries.iter().for_each(|entry| entry.push(&mut basis, 0.0));
    let Some(basis) = basis.mean("", [0.0, 1.0], None) else { return };
    let figure = |estimate: f64, what: &str| {
        let value = Estimated {
            estimate,
            spread: Spread::None,
            method: format!("{what}, {} {}; perfect judge: {}", width.n_bins, width.binning, width.perfect_by),
            cautions: Vec::new(),
            details: BTreeMap::new(),
            worst: None,
            ..basis.clone()
        };
        value.detail("of_perfect", width.ece_of_perfect).detail("of_perfect_upper", width.ece_of_perfect_upper)
    };
    let caution = format!(
        "a judge that means exactly what it says would show {} on average here, and under {} 95 % of the time",
        per_cent(width.ece_of_perfect),
        per_cent(width.ece_of_perfect_upper)
    );
    let mut ece = figure(width.ece, "Σ share of bin · |what came − mean confidence|").caution(caution);
    ece = ece.detail("debiased", width.ece_debiased).detail("squared_debiased", width.squared_debiased);
    ece = ece.detail("maximum", width.maximum);
    for mass in rest {
        ece = ece.detail("equal_mass", mass.ece).detail("equal_mass_of_perfect", mass.ece_of_perfect);
    }
    measured.record("ece", Some(ece), "", &[]);
    let excess = figure(width.ece - width.ece_of_perfect, "calibration error less that of a perfect judge");
    let caution = "no interval: near 0 its distribution depends on what is to be estimated";
    measured.record("ece_excess", Some(excess.caution(caution)), "", &[]);
}
