//! Whether confidences mean what they say, and what scores would say if they were made probabilities.

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use smallvec::SmallVec;

use crate::bootstrap::BootstrapConfig;
use crate::distribution::normal_quantile;
use crate::interval::Spread;
use crate::judgement::OutcomeKind;
use crate::reliability::{Binning, Forecasts, ReliabilityBin, bin_at, calibration_error, null_ece, width_bin};

use super::AuditConfig;
use super::estimate::{Estimated, Measured, Values};
use super::findings::per_cent;
use super::forecasts::{Entry, Forecast, MOST_VALUES, Observation, observe};
use super::recalibrated::recalibrations;
use super::result::{ProbabilityScores, Reliability, ReliabilityCurve, ReliabilityPoint};
use super::table::{Subject, Table, Unit, is};
use super::truth::Accepts;

/// Bins of a curve.
const N_BINS: usize = 10;
/// What rests on confidences.
const IDS: [&str; 5] = ["overconfidence", "brier_score", "log_loss", "ece", "ece_excess"];
/// Sets the draws here apart from others of the same seed.
const STREAM: u64 = 0x7265_6c69_6162_6c65;
/// Rejections enough to say how their confidences are meant.
const ENOUGH_REJECTIONS: usize = 10;

/// Returns whether confidences, and scores recalibrated, mean what they say; records the measures of confidences.
pub(super) fn reliability(
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
        let (observations, rejections) = confidences(table, subject, config);
        match Forecast::new(&observations, seed) {
            Some(forecast) => {
                let of = Probabilities { forecast: &forecast, of: &|entry| entry.value, by_mass: true };
                if let Some(scores) = scores(&of, config.level, seed) {
                    record(&of, &scores, rejections, measured);
                    let is_of_item = matches!(table.kind, OutcomeKind::Verdict | OutcomeKind::Score);
                    let event = if is_of_item { "the item is good" } else { "the answer is right" };
                    found.push(described("confidence", event, &forecast, Some(scores), config.level, seed));
                }
            }
            None => missing(measured, "no item with a confidence has a label that says good or not", &["label"]),
        }
    }
    if table.kind == OutcomeKind::Score
        && let Some(forecast) = Forecast::new(&scores_of(subject), seed)
    {
        found.push(described("score", "the item is good", &forecast, None, config.level, seed));
    }
    found.retain(|reliability| reliability.as_stated.is_some() || !reliability.recalibrations.is_empty());
    found
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
    subject: &'a Subject,
    config: &AuditConfig,
) -> (Vec<Observation<'a>>, Rejections) {
    let stated_in = &table.log.confidence;
    let accepts = Accepts::of(table, config);
    let mut rejections = Rejections::default();
    let mut observations = Vec::new();
    let mut stated: SmallVec<[(f64, bool); 8]> = SmallVec::new();
    for unit in &subject.units {
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

/// Returns the scores of units labelled good or not.
fn scores_of(subject: &Subject) -> Vec<Observation<'_>> {
    let mut observations = Vec::new();
    let mut stated: SmallVec<[(f64, bool); 8]> = SmallVec::new();
    let labelled = |unit: &Unit| unit.truth.good;
    for (unit, good) in subject.units.iter().filter_map(|unit| Some((unit, labelled(unit)?))) {
        stated.clear();
        stated.extend(subject.parsed_of(unit).filter(|draw| draw.is_finite()).map(|draw| (draw, good)));
        observe(&mut observations, unit, &mut stated);
    }
    observations
}

/// A forecast with the probability that each entry comes to.
pub(super) struct Probabilities<'a> {
    pub forecast: &'a Forecast<'a>,
    pub of: &'a dyn Fn(&Entry<'_>) -> f64,
    /// Whether probabilities rise with the forecast's groups, so that bins of equal mass can be cut from these.
    pub by_mass: bool,
}

/// Returns how good probabilities are.
pub(super) fn scores(of: &Probabilities<'_>, level: f64, seed: u64) -> Option<ProbabilityScores> {
    let brier_score = brier(of)?.measure(level);
    let curve = |binning| curve(of, binning, brier_score.estimate, level, seed);
    let mut curves = vec![curve(Binning::EqualWidth)?];
    if of.by_mass {
        curves.extend(curve(Binning::EqualMass));
    }
    Some(ProbabilityScores { brier_score, log_loss: log_loss(of).map(|value| value.measure(level)), curves })
}

fn brier(of: &Probabilities<'_>) -> Option<Estimated> {
    let mut values = Values::default();
    for entry in &of.forecast.entries {
        entry.push(&mut values, ((of.of)(entry) - entry.outcome()).powi(2));
    }
    values.mean("(probability − outcome)², mean over items", [0.0, f64::INFINITY], Some(1.0))
}

/// `None` where it is infinite.
fn log_loss(of: &Probabilities<'_>) -> Option<Estimated> {
    let mut values = Values::default();
    for entry in &of.forecast.entries {
        let probability = (of.of)(entry);
        let loss = if entry.is_event { -probability.ln() } else { -(-probability).ln_1p() };
        if !loss.is_finite() {
            return None;
        }
        // −0 is 0.
        entry.push(&mut values, loss + 0.0);
    }
    values.mean("−ln of the probability given to what came, mean over items", [0.0, f64::INFINITY], None)
}

/// What one bin holds.
struct Bin {
    rate: Values,
    low: f64,
    high: f64,
    mass: f64,
    confidence: f64,
    /// Variance of Σ weight · outcome were the probabilities true.
    variance: f64,
}

fn curve(of: &Probabilities<'_>, binning: Binning, brier: f64, level: f64, seed: u64) -> Option<ReliabilityCurve> {
    let forecast = of.forecast;
    let bin_of_group = match binning {
        Binning::EqualWidth => Vec::new(),
        Binning::EqualMass => bins_of_equal_mass(forecast),
    };
    let bin_of = |entry: &Entry<'_>| match binning {
        Binning::EqualWidth => width_bin((of.of)(entry), N_BINS),
        Binning::EqualMass => bin_of_group[entry.group],
    };
    let mut bins: [Option<Bin>; N_BINS] = [const { None }; N_BINS];
    for entry in &forecast.entries {
        let probability = (of.of)(entry);
        let bin = bins[bin_of(entry)].get_or_insert_with(|| Bin {
            rate: Values::default(),
            low: f64::INFINITY,
            high: f64::NEG_INFINITY,
            mass: 0.0,
            confidence: 0.0,
            variance: 0.0,
        });
        entry.push(&mut bin.rate, entry.outcome());
        (bin.low, bin.high) = (bin.low.min(probability), bin.high.max(probability));
        bin.mass += entry.mass();
        bin.confidence += entry.mass() * probability;
        if let Some(n) = entry.alone() {
            bin.variance += n as f64 * probability * (1.0 - probability);
        }
    }
    shared_variances(of, &bin_of, &mut bins);
    let (mut points, mut curve) = (Vec::new(), Vec::new());
    for bin in bins.iter().flatten() {
        let rate = bin.rate.proportion("what came true of the bin, mean over items")?;
        let Spread::Proportion(proportion) = rate.spread else { return None };
        let mean_confidence = (bin.confidence / bin.mass).clamp(bin.low, bin.high);
        let seen = proportion.variance;
        curve.push(ReliabilityBin {
            low: bin.low,
            high: bin.high,
            share: bin.mass / forecast.mass,
            n: usize::try_from(rate.n).unwrap_or(usize::MAX),
            n_clusters: usize::try_from(rate.n_clusters).unwrap_or(usize::MAX),
            mean_confidence,
            event_rate: rate.estimate,
            // A single cluster shows none.
            variance: if seen.is_nan() { bin.variance / (bin.mass * bin.mass) } else { seen },
        });
        points.push(ReliabilityPoint {
            low: bin.low,
            high: bin.high,
            mean_confidence,
            event_rate: rate.measure(level),
            share: bin.mass / forecast.mass,
        });
    }
    let error = calibration_error(&curve)?;
    let [mean, upper] = perfect(of, binning, &bins, seed)?;
    let share = forecast.event_share();
    let uncertainty = share * (1.0 - share);
    let squares = |of_bin: &dyn Fn(&ReliabilityBin) -> f64| -> f64 {
        curve.iter().map(|bin| bin.share * of_bin(bin).powi(2)).sum()
    };
    let reliability = squares(&|bin| bin.event_rate - bin.mean_confidence);
    let resolution = squares(&|bin| bin.event_rate - share);
    Some(ReliabilityCurve {
        binning: binning.name().to_owned(),
        n_bins: u32::try_from(N_BINS).expect("there are few bins"),
        bins: points,
        ece: error.expected,
        ece_of_perfect: mean,
        ece_of_perfect_upper: upper,
        perfect_by: perfect_by(forecast),
        ece_debiased: error.expected_debiased,
        squared_debiased: error.squared_debiased,
        maximum: error.maximum,
        reliability,
        resolution,
        uncertainty,
        within_bins: brier - reliability + resolution - uncertainty,
    })
}

/// The bin of each group of values: that in which the middle of its weight lies.
fn bins_of_equal_mass(forecast: &Forecast<'_>) -> Vec<usize> {
    let mut masses = vec![0.0; forecast.lows.len()];
    for entry in &forecast.entries {
        masses[entry.group] += entry.mass() / forecast.mass;
    }
    let mut below = 0.0;
    let middle = |mass: f64| {
        let middle = below + 0.5 * mass;
        below += mass;
        bin_at(middle, N_BINS)
    };
    masses.into_iter().map(middle).collect()
}

/// Adds the variance of clusters with several entries, whose outcomes are taken to come together: Σᵢⱼ wᵢ wⱼ (min(pᵢ, pⱼ) − pᵢ pⱼ).
fn shared_variances(of: &Probabilities<'_>, bin_of: &dyn Fn(&Entry<'_>) -> usize, bins: &mut [Option<Bin>; N_BINS]) {
    let rows = of.forecast.entries.iter().position(|entry| entry.alone().is_none());
    let rows = rows.map_or(&[][..], |first| &of.forecast.entries[first..]);
    for of_cluster in rows.chunk_by(|a, b| a.cluster() == b.cluster()) {
        let mut members: SmallVec<[(usize, f64, f64); 8]> =
            of_cluster.iter().map(|entry| (bin_of(entry), (of.of)(entry), entry.weight())).collect();
        members.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        for together in members.chunk_by(|a, b| a.0 == b.0) {
            let mean: f64 = together.iter().map(|(_, probability, weight)| probability * weight).sum();
            let mut above: f64 = together.iter().map(|(.., weight)| weight).sum();
            let mut square = 0.0;
            for (_, probability, weight) in together {
                above -= weight;
                square += weight * probability * (weight + 2.0 * above.max(0.0));
            }
            if let Some(bin) = &mut bins[together[0].0] {
                bin.variance += (square - mean * mean).max(0.0);
            }
        }
    }
}

/// Whether outcomes are drawn one by one. No values are grouped then.
const fn is_simulated(forecast: &Forecast<'_>) -> bool {
    forecast.n_observations <= MOST_VALUES
}

/// How the error of a judge that means what it says is had, in words.
fn perfect_by(forecast: &Forecast<'_>) -> String {
    if is_simulated(forecast) {
        format!("{} draws of outcomes from the probabilities", n_simulations(forecast))
    } else {
        format!("bins drawn from normal distributions, {NORMAL_DRAWS} times")
    }
}

/// Draws of normal bins.
const NORMAL_DRAWS: u32 = 2_000;

/// Draws enough for the mean to within a tenth of its spread, and no more than a large log can wait for.
fn n_simulations(forecast: &Forecast<'_>) -> u32 {
    u32::try_from(1_000_000 / forecast.n_observations.max(1)).unwrap_or(u32::MAX).clamp(100, 200)
}

/// Returns mean and 95th percentile of the error of a judge that means what it says.
fn perfect(of: &Probabilities<'_>, binning: Binning, bins: &[Option<Bin>; N_BINS], seed: u64) -> Option<[f64; 2]> {
    let forecast = of.forecast;
    if is_simulated(forecast) {
        let (mut confidences, mut weights, mut clusters) = (Vec::new(), Vec::new(), Vec::new());
        let mut next = 0;
        let mut last = None;
        for entry in &forecast.entries {
            let n_alone = entry.alone();
            for _ in 0..n_alone.unwrap_or(1) {
                if n_alone.is_some() || last.replace(entry.cluster()) != Some(entry.cluster()) {
                    next += 1;
                }
                confidences.push((of.of)(entry));
                weights.push(entry.weight());
                clusters.push(next);
            }
        }
        let outcomes = vec![0.0; confidences.len()];
        let forecasts = Forecasts {
            confidences: &confidences,
            outcomes: &outcomes,
            weights: Some(&weights),
            clusters: Some(&clusters),
        };
        let simulations = BootstrapConfig { n_resamples: n_simulations(forecast), seed };
        return null_ece(&forecasts, binning, N_BINS, simulations).map(|null| [null.mean, null.upper]);
    }
    let deviations: Vec<f64> = bins.iter().flatten().map(|bin| bin.variance.sqrt() / forecast.mass).collect();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut errors: Vec<f64> = (0..NORMAL_DRAWS)
        .map(|_| {
            let draw = |deviation: &f64| deviation * normal_quantile(rng.random_range(1e-12..1.0)).abs();
            deviations.iter().map(draw).sum()
        })
        .collect();
    errors.sort_unstable_by(f64::total_cmp);
    let mean = (2.0 / std::f64::consts::PI).sqrt() * deviations.iter().sum::<f64>();
    Some([mean, errors[(95 * errors.len()).div_ceil(100) - 1]])
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

/// Records the measures of confidences.
fn record(of: &Probabilities<'_>, scores: &ProbabilityScores, rejections: Rejections, measured: &mut Measured) {
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
        let [width, ..] = scores.curves.as_slice() else { return value };
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
    let [width, rest @ ..] = scores.curves.as_slice() else { return };
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
