//! Whether a judge's confidence means what it says: of the answers given with .8, are eight in ten right?
//!
//! Confidences are probabilities, 0..=1; outcomes are 1 (it happened) or 0, or shares between. All take weights and clusters: an
//! item judged n times is n observations of weight 1/n in one cluster. What cannot be read as a probability (a score from 1 to 5) is
//! first to be made one, by [`crate::recalibration`].
//!
//! The expected calibration error is never 0, not even of a perfect judge: with ten bins about .10 at 100 items and .05 at 500.
//! [`null_ece`] gives that value, and no error should be printed without it.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::bootstrap::BootstrapConfig;
use crate::cluster::{ClusteredMean, UnitValue, clustered_mean};
use crate::distribution::normal_cdf;
use crate::influence::cluster_positions;
use crate::rank::{TieGroups, shares};

/// How confidences are put into bins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binning {
    /// Of one width: bin k of K is (k/K, (k+1)/K], the first with 0. As Guo et al. 2017 and scikit-learn's `uniform`.
    EqualWidth,
    /// Of about one weight. Equal confidences stay together: they are in the bin where the middle of their weight lies. As
    /// scikit-learn's `quantile` where no confidences are equal and the bins divide their number.
    EqualMass,
}

impl Binning {
    /// Returns the name, to be printed beside every figure that depends on it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::EqualWidth => "bins of equal width",
            Self::EqualMass => "bins of equal mass",
        }
    }
}

/// Confidences with what came of them.
#[derive(Clone, Copy, Debug)]
pub struct Forecasts<'a> {
    /// What was said, 0..=1.
    pub confidences: &'a [f64],
    /// What came of it, 0..=1; as many.
    pub outcomes: &'a [f64],
    /// What each counts for; `None`: the same.
    pub weights: Option<&'a [f64]>,
    /// Which are not independent of each other; `None`: all are.
    pub clusters: Option<&'a [u32]>,
}

/// One bin that is not empty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReliabilityBin {
    /// The lowest confidence in it.
    pub low: f64,
    /// The highest confidence in it.
    pub high: f64,
    /// Its share of the weight; shares sum to 1.
    pub share: f64,
    /// Observations of positive weight.
    pub n: usize,
    /// Their clusters.
    pub n_clusters: usize,
    /// Weighted mean confidence.
    pub mean_confidence: f64,
    /// Weighted mean outcome: what the confidence should have been.
    pub event_rate: f64,
    /// Variance of the event rate over clusters, m/(m − 1) included. A single cluster shows none: there it is that of a judge who
    /// means what it says, Σ w² · confidence (1 − confidence) / (Σ w)².
    pub variance: f64,
}

/// Returns the reliability curve: the bins that hold something, in ascending order.
///
/// Undefined (`None`): nothing of positive weight, no bins, lengths that differ, a value outside 0..=1, a weight that is negative or
/// not finite.
///
/// Source: Murphy & Winkler 1977; agrees with scikit-learn 1.9 `calibration_curve`. Cost: n log n, or n where there are few
/// distinct values.
#[must_use]
pub fn reliability_curve(forecasts: &Forecasts<'_>, binning: Binning, n_bins: usize) -> Option<Vec<ReliabilityBin>> {
    let shares = checked(forecasts)?;
    let (bin_of, n_bins) = assign(forecasts.confidences, &shares, binning, n_bins)?;
    Some(bins(forecasts, &shares, &bin_of, n_bins))
}

/// The calibration errors of one binning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CalibrationError {
    /// Expected calibration error Σ share · |event rate − mean confidence|, 0..=1. Too large by about [`null_ece`].
    pub expected: f64,
    /// The same less its bias, taken as if event rates were normal: 2 · ECE − E(ECE of rates drawn around those seen). It leaves
    /// 2 − √2 = .59 of a perfect judge's error in place, since the absolute value has a kink at 0. May be negative; not truncated.
    pub expected_debiased: f64,
    /// Mean squared error Σ share · (event rate − mean confidence)², 0..=1; too large as well.
    pub squared: f64,
    /// The same less Σ share · variance of the event rate: unbiased where the bins do not depend on the outcomes. May be negative.
    pub squared_debiased: f64,
    /// The largest |event rate − mean confidence| of a bin. The emptier the bins, the larger.
    pub maximum: f64,
}

/// Returns the calibration errors of a curve. There is no interval: its shape near 0 is not known well enough to gate on.
///
/// Undefined (`None`): no bins.
///
/// Source: Naeini, Cooper & Hauskrecht 2015 and Guo et al. 2017 for the error; Kumar, Liang & Ma 2019, "Verified uncertainty
/// calibration", section 4 and appendix, for both corrections (with n − 1 for the n of theirs in the first, and its mean in closed
/// form in place of draws). The squared errors agree with uncertainty-calibration 0.1.4.
#[must_use]
pub fn calibration_error(curve: &[ReliabilityBin]) -> Option<CalibrationError> {
    if curve.is_empty() {
        return None;
    }
    let mut error =
        CalibrationError { expected: 0.0, expected_debiased: 0.0, squared: 0.0, squared_debiased: 0.0, maximum: 0.0 };
    for bin in curve {
        let gap = (bin.event_rate - bin.mean_confidence).abs();
        error.expected += bin.share * gap;
        error.expected_debiased += bin.share * (2.0 * gap - folded_normal_mean(gap, bin.variance.sqrt()));
        error.squared += bin.share * gap * gap;
        error.squared_debiased += bin.share * (gap * gap - bin.variance);
        error.maximum = error.maximum.max(gap);
    }
    Some(error)
}

/// Returns E|X| of a normal X. Leone, Nelson & Nottingham 1961.
fn folded_normal_mean(mean: f64, deviation: f64) -> f64 {
    if deviation <= 0.0 {
        return mean.abs();
    }
    let z = mean / deviation;
    deviation * (2.0 / std::f64::consts::PI).sqrt() * (-0.5 * z * z).exp() + mean * (1.0 - 2.0 * normal_cdf(-z))
}

/// What the expected calibration error is of a judge that means what it says, with these confidences.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NullEce {
    /// Its mean over simulations.
    pub mean: f64,
    /// Its 95th percentile: an error above it is not chance at the 5 % level.
    pub upper: f64,
    /// Standard error of `mean` from the number of simulations.
    pub simulation_error: f64,
    /// The mean by formula, bins taken as normal: √(2/π) Σ share · √(Σ over clusters of the variance);
    /// within a tenth, less well in bins of few.
    pub by_formula: f64,
}

/// Returns the null value of the expected calibration error: outcomes are drawn from the confidences, the error is taken, and so on.
///
/// Outcomes of one cluster are drawn together (one uniform number, below the confidence or not): repeats of an item share its truth.
/// Different items in one cluster are thereby taken as alike as they can be, which errs towards a high null value. Each
/// simulation has its own stream of the seed. The outcomes given are not looked at, save for their number.
///
/// Undefined (`None`) as [`reliability_curve`], and without simulations.
///
/// Source: Bröcker & Smith 2007, "Increasing the reliability of reliability diagrams" (consistency resampling), without their
/// resampling of the confidences. Cost: simulations × observations.
#[must_use]
pub fn null_ece(
    forecasts: &Forecasts<'_>,
    binning: Binning,
    n_bins: usize,
    simulations: BootstrapConfig,
) -> Option<NullEce> {
    let shares = checked(forecasts)?;
    let n = shares.len();
    let (bin_of, n_bins) = assign(forecasts.confidences, &shares, binning, n_bins)?;
    if simulations.n_resamples == 0 {
        return None;
    }
    let (positions, n_clusters) = match forecasts.clusters {
        Some(clusters) => cluster_positions(clusters),
        None => ((0..n).collect(), n),
    };
    let mut errors: Vec<f64> = (0..simulations.n_resamples)
        .map(|simulation_idx| {
            let mut rng = ChaCha8Rng::seed_from_u64(simulations.seed);
            rng.set_stream(u64::from(simulation_idx));
            let draws: Vec<f64> = (0..n_clusters).map(|_| rng.random::<f64>()).collect();
            let mut gaps = vec![0.0; n_bins];
            for i in 0..n {
                let confidence = forecasts.confidences[i];
                let outcome = f64::from(u8::from(draws[positions[i]] < confidence));
                gaps[bin_of[i]] += shares[i] * (outcome - confidence);
            }
            gaps.iter().map(|gap: &f64| gap.abs()).sum::<f64>()
        })
        .collect();
    let count = errors.len() as f64;
    let mean = errors.iter().sum::<f64>() / count;
    let squares: f64 = errors.iter().map(|error| (error - mean) * (error - mean)).sum();
    errors.sort_by(f64::total_cmp);
    let upper_idx = (95 * errors.len()).div_ceil(100) - 1;
    Some(NullEce {
        mean,
        upper: errors[upper_idx],
        simulation_error: if count > 1.0 { (squares / (count - 1.0) / count).sqrt() } else { f64::NAN },
        by_formula: normal_null(forecasts.confidences, &shares, &bin_of, n_bins, &positions),
    })
}

/// Returns √(2/π) Σ over bins of √(variance of its summed gap).
fn normal_null(confidences: &[f64], shares: &[f64], bin_of: &[usize], n_bins: usize, positions: &[usize]) -> f64 {
    // Observations by bin and cluster, and within those by confidence: Var Σ w 1[u < p] of one u is that of a step function.
    let mut order: Vec<usize> = (0..shares.len()).collect();
    order.sort_by(|&i, &j| {
        (bin_of[i], positions[i]).cmp(&(bin_of[j], positions[j])).then(confidences[i].total_cmp(&confidences[j]))
    });
    let mut variances = vec![0.0; n_bins];
    for together in order.chunk_by(|&i, &j| (bin_of[i], positions[i]) == (bin_of[j], positions[j])) {
        // Σᵢⱼ wᵢ wⱼ (min(pᵢ, pⱼ) − pᵢ pⱼ), with pᵢ ascending.
        let mean: f64 = together.iter().map(|&i| shares[i] * confidences[i]).sum();
        let mut weight_above: f64 = together.iter().map(|&i| shares[i]).sum();
        let mut square = 0.0;
        for &i in together {
            weight_above -= shares[i];
            square += shares[i] * confidences[i] * (shares[i] + 2.0 * weight_above.max(0.0));
        }
        variances[bin_of[together[0]]] += (square - mean * mean).max(0.0);
    }
    (2.0 / std::f64::consts::PI).sqrt() * variances.iter().map(|variance| variance.sqrt()).sum::<f64>()
}

/// The Brier score with Murphy's parts. The score is `reliability − resolution + uncertainty + within_bins` to rounding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BrierParts {
    /// Mean (confidence − outcome)², 0..=1; 0 is best.
    pub score: f64,
    /// Σ share (mean confidence − event rate)²: how far confidences are from what came. Too large by chance, as the ECE is.
    pub reliability: f64,
    /// Σ share (event rate − overall rate)²: how far the confidences tell events apart; more is better.
    pub resolution: f64,
    /// Variance of the outcomes, rate (1 − rate) where they are 0 or 1: what a judge scores who always says the overall rate.
    pub uncertainty: f64,
    /// Variance of confidences within bins less twice their covariance with the outcomes: what binning hides; 0 where each bin has
    /// one confidence.
    pub within_bins: f64,
}

/// Returns Murphy's parts of the Brier score for a binning.
///
/// Undefined (`None`) as [`reliability_curve`].
///
/// Source: Brier 1950; Murphy 1973; Stephenson, Coelho & Jolliffe 2008 for the terms within bins.
#[must_use]
pub fn brier_parts(forecasts: &Forecasts<'_>, binning: Binning, n_bins: usize) -> Option<BrierParts> {
    let shares = checked(forecasts)?;
    let (bin_of, n_bins) = assign(forecasts.confidences, &shares, binning, n_bins)?;
    let mut masses = vec![0.0; n_bins];
    let mut means = vec![[0.0; 2]; n_bins];
    let n = shares.len();
    for i in 0..n {
        masses[bin_of[i]] += shares[i];
        means[bin_of[i]][0] += shares[i] * forecasts.confidences[i];
        means[bin_of[i]][1] += shares[i] * forecasts.outcomes[i];
    }
    let rate: f64 = means.iter().map(|mean| mean[1]).sum();
    let mut parts = BrierParts { score: 0.0, reliability: 0.0, resolution: 0.0, uncertainty: 0.0, within_bins: 0.0 };
    for (mass, mean) in masses.iter().zip(&mut means).filter(|(mass, _)| **mass > 0.0) {
        *mean = mean.map(|sum| sum / mass);
        parts.reliability += mass * (mean[0] - mean[1]).powi(2);
        parts.resolution += mass * (mean[1] - rate).powi(2);
    }
    for i in 0..n {
        let (confidence, outcome, mean) = (forecasts.confidences[i], forecasts.outcomes[i], means[bin_of[i]]);
        parts.score += shares[i] * (confidence - outcome).powi(2);
        parts.uncertainty += shares[i] * (outcome - rate).powi(2);
        let off = confidence - mean[0];
        parts.within_bins += shares[i] * off * (off - 2.0 * (outcome - mean[1]));
    }
    Some(parts)
}

/// Returns the Brier score, the mean of (confidence − outcome)², with its variance over clusters.
///
/// Undefined (`None`) as [`reliability_curve`]. Agrees with scikit-learn 1.9 `brier_score_loss`.
#[must_use]
pub fn brier_score(forecasts: &Forecasts<'_>) -> Option<ClusteredMean> {
    mean_loss(forecasts, |confidence, outcome| (confidence - outcome) * (confidence - outcome))
}

/// Returns the log loss, the mean of −outcome · ln confidence − (1 − outcome) · ln(1 − confidence), in nats, with its variance over
/// clusters.
///
/// Infinite, with a variance that is no number, where the judge was certain and wrong: no clipping makes that a finite loss.
/// Undefined (`None`) as [`reliability_curve`]. Agrees with scikit-learn 1.9 `log_loss`, which clips.
#[must_use]
pub fn log_loss(forecasts: &Forecasts<'_>) -> Option<ClusteredMean> {
    mean_loss(forecasts, |confidence, outcome| {
        // 0 · ln 0 is 0: what did not happen costs nothing.
        let part = |share: f64, log: f64| if share > 0.0 { -share * log } else { 0.0 };
        part(outcome, confidence.ln()) + part(1.0 - outcome, (-confidence).ln_1p())
    })
}

fn mean_loss(forecasts: &Forecasts<'_>, loss: fn(f64, f64) -> f64) -> Option<ClusteredMean> {
    let shares = checked(forecasts)?;
    let positions = forecasts.clusters.map(|clusters| cluster_positions(clusters).0);
    let units: Vec<UnitValue> = (0..shares.len())
        .map(|i| UnitValue {
            value: loss(forecasts.confidences[i], forecasts.outcomes[i]),
            weight: shares[i],
            cluster: u32::try_from(positions.as_ref().map_or(i, |positions| positions[i])).unwrap_or(u32::MAX),
        })
        .collect();
    clustered_mean(&units)
}

/// Returns the observations' shares of the weight.
fn checked(forecasts: &Forecasts<'_>) -> Option<Vec<f64>> {
    let n = forecasts.confidences.len();
    let is_share = |values: &[f64]| values.iter().all(|value| (0.0..=1.0).contains(value));
    let fits = n > 0
        && forecasts.outcomes.len() == n
        && forecasts.clusters.is_none_or(|clusters| clusters.len() == n)
        && is_share(forecasts.confidences)
        && is_share(forecasts.outcomes);
    if fits { shares(n, forecasts.weights) } else { None }
}

/// Returns each observation's bin, and how many bins there are.
fn assign(confidences: &[f64], shares: &[f64], binning: Binning, n_bins: usize) -> Option<(Vec<usize>, usize)> {
    if n_bins == 0 {
        return None;
    }
    match binning {
        Binning::EqualWidth => {
            Some((confidences.iter().map(|confidence| width_bin(*confidence, n_bins)).collect(), n_bins))
        }
        Binning::EqualMass => {
            // −0 and 0 are one confidence.
            let confidences: Vec<f64> = confidences.iter().map(|confidence| confidence + 0.0).collect();
            let groups = TieGroups::new(&confidences);
            let mut bins = vec![0; confidences.len()];
            let mut below = 0.0;
            for group_idx in 0..groups.n_groups() {
                let members = groups.members(group_idx);
                let mass: f64 = members.iter().map(|&i| shares[i]).sum();
                let bin = bin_at(below + 0.5 * mass, n_bins);
                below += mass;
                for &i in members {
                    bins[i] = bin;
                }
            }
            Some((bins, n_bins))
        }
    }
}

/// Returns the bin of a confidence 0..=1 among bins of equal width.
pub(crate) fn width_bin(confidence: f64, n_bins: usize) -> usize {
    let count = n_bins as f64;
    // As many bins as there are edges below; from the product's neighbourhood, as k/K is rounded once and p·K otherwise.
    let mut bin = bin_at(confidence, n_bins);
    while bin > 0 && bin as f64 / count >= confidence {
        bin -= 1;
    }
    while bin + 1 < n_bins && (bin + 1) as f64 / count < confidence {
        bin += 1;
    }
    bin
}

/// Returns the bin of a position 0..=1, each with its lower end.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a position is not negative, and truncation is meant"
)]
pub(crate) fn bin_at(position: f64, n_bins: usize) -> usize {
    ((position * n_bins as f64) as usize).min(n_bins - 1)
}

fn bins(forecasts: &Forecasts<'_>, shares: &[f64], bin_of: &[usize], n_bins: usize) -> Vec<ReliabilityBin> {
    let mut members = vec![Vec::new(); n_bins];
    for (i, &bin) in bin_of.iter().enumerate() {
        if shares[i] > 0.0 {
            members[bin].push(i);
        }
    }
    let mut curve = Vec::new();
    for members in members.iter().filter(|members| !members.is_empty()) {
        let share: f64 = members.iter().map(|&i| shares[i]).sum();
        let mean = |values: &[f64]| {
            let origin = values[members[0]];
            origin + members.iter().map(|&i| shares[i] * (values[i] - origin)).sum::<f64>() / share
        };
        let (mean_confidence, event_rate) = (mean(forecasts.confidences), mean(forecasts.outcomes));
        let ids: Vec<u32> = match forecasts.clusters {
            Some(clusters) => members.iter().map(|&i| clusters[i]).collect(),
            None => (0..u32::try_from(members.len()).unwrap_or(u32::MAX)).collect(),
        };
        let (positions, n_clusters) = cluster_positions(&ids);
        let mut sums = vec![0.0; n_clusters];
        for (&i, position) in members.iter().zip(positions) {
            sums[position] += shares[i] * (forecasts.outcomes[i] - event_rate);
        }
        let variance = if n_clusters > 1 {
            let m = n_clusters as f64;
            m / (m - 1.0) * sums.iter().map(|sum| sum * sum).sum::<f64>() / (share * share)
        } else {
            let of_one = |i: &usize| shares[*i].powi(2) * forecasts.confidences[*i] * (1.0 - forecasts.confidences[*i]);
            members.iter().map(of_one).sum::<f64>() / (share * share)
        };
        let confidences = members.iter().map(|&i| forecasts.confidences[i]);
        curve.push(ReliabilityBin {
            low: confidences.clone().fold(f64::INFINITY, f64::min),
            high: confidences.fold(f64::NEG_INFINITY, f64::max),
            share,
            n: members.len(),
            n_clusters,
            mean_confidence,
            event_rate,
            variance,
        });
    }
    curve
}
