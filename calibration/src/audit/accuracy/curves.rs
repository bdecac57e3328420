//! Probabilities held against what came: Brier score, log loss, reliability curves, and the calibration error of a judge that means what
//! it says.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use smallvec::SmallVec;

use crate::bootstrap::BootstrapConfig;
use crate::distribution::normal_quantile;
use crate::interval::Spread;
use crate::reliability::{Binning, Forecasts, ReliabilityBin, bin_at, calibration_error, null_ece, width_bin};

use crate::audit::confidence::forecasts::{Entry, Forecast, MOST_VALUES};
use crate::audit::estimate::{Estimated, Values};
use crate::audit::result::{ProbabilityScores, ReliabilityCurve, ReliabilityPoint};

/// Bins of a curve.
const N_BINS: usize = 10;

/// A forecast with the probability that each entry comes to.
pub(in crate::audit) struct Probabilities<'a> {
    pub forecast: &'a Forecast<'a>,
    pub of: &'a dyn Fn(&Entry<'_>) -> f64,
    /// Whether probabilities rise with the forecast's groups, so that bins of equal mass can be cut from these.
    pub by_mass: bool,
}

/// Returns how good probabilities are.
pub(in crate::audit) fn scores(of: &Probabilities<'_>, level: f64, seed: u64) -> Option<ProbabilityScores> {
    let brier_score = brier(of)?.measure(level);
    let curve = |binning| curve(of, binning, brier_score.estimate, level, seed);
    let mut curves = vec![curve(Binning::EqualWidth)?];
    if of.by_mass {
        curves.extend(curve(Binning::EqualMass));
    }
    Some(ProbabilityScores { brier_score, log_loss: log_loss(of).map(|value| value.measure(level)), curves })
}

/// Returns the Brier score.
pub(in crate::audit) fn brier(of: &Probabilities<'_>) -> Option<Estimated> {
    let mut values = Values::default();
    for entry in &of.forecast.entries {
        entry.push(&mut values, ((of.of)(entry) - entry.outcome()).powi(2));
    }
    values.mean("(probability − outcome)², mean over items", [0.0, f64::INFINITY], Some(1.0))
}

/// Returns the log loss; `None` where it is infinite.
pub(in crate::audit) fn log_loss(of: &Probabilities<'_>) -> Option<Estimated> {
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

/// Returns probabilities, weights and clusters, those first whose probabilities are least: draws that follow this order do not depend on
/// that of the rows.
fn by_content(of: &Probabilities<'_>) -> (Vec<f64>, Vec<f64>, Vec<u32>) {
    type Members = SmallVec<[(f64, f64); 2]>;
    let mut last = None;
    let mut by_cluster: Vec<Members> = Vec::new();
    for entry in &of.forecast.entries {
        let member = ((of.of)(entry), entry.weight());
        match entry.alone() {
            Some(n) => by_cluster.extend((0..n).map(|_| Members::from_slice(&[member]))),
            None if last.replace(entry.cluster()) == Some(entry.cluster()) => {
                by_cluster.last_mut().expect("its cluster was opened before").push(member);
            }
            None => by_cluster.push(Members::from_slice(&[member])),
        }
    }
    let order = |a: &(f64, f64), b: &(f64, f64)| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1));
    for members in &mut by_cluster {
        members.sort_unstable_by(order);
    }
    let member_by_member = |a: &Members, b: &Members| {
        let first_unlike = a.iter().zip(b).map(|(a, b)| order(a, b)).find(|found| found.is_ne());
        first_unlike.unwrap_or_else(|| a.len().cmp(&b.len()))
    };
    by_cluster.sort_unstable_by(member_by_member);
    let (mut confidences, mut weights, mut clusters) = (Vec::new(), Vec::new(), Vec::new());
    for (cluster, members) in (0_u32..).zip(&by_cluster) {
        confidences.extend(members.iter().map(|member| member.0));
        weights.extend(members.iter().map(|member| member.1));
        clusters.extend(members.iter().map(|_| cluster));
    }
    (confidences, weights, clusters)
}

/// Returns mean and 95th percentile of the error of a judge that means what it says.
fn perfect(of: &Probabilities<'_>, binning: Binning, bins: &[Option<Bin>; N_BINS], seed: u64) -> Option<[f64; 2]> {
    let forecast = of.forecast;
    if is_simulated(forecast) {
        let (confidences, weights, clusters) = by_content(of);
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
