//! The pass rate of a stream that only a judge has seen, corrected for the judge's errors.
//!
//! Two ways. [`rogan_gladen`] needs the judge's true positive and true negative rates, from labelled items of either class; the
//! labels may be balanced, but the rates must be those of the stream. [`ppi_mean`] needs labels of a random sample of the stream
//! itself, and is refused otherwise: on labels balanced by class its interval misses nearly always.
//!
//! Neither mends labels that are wrong, and neither knows of unparsed replies: count them before.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::distribution::{normal_quantile, t_quantile};
use crate::influence::cluster_positions;
use crate::proportion::{ClusteredProportion, Interval, clopper_pearson, wilson};
use crate::rank::shares;

/// A rate and the number of independent trials it rests on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trials {
    rate: f64,
    n: f64,
}

impl Trials {
    /// Returns the rate of `successes` in independent trials; neither need be whole.
    ///
    /// Undefined (`None`): no trials, more successes than trials, a number that is negative or not finite.
    #[must_use]
    pub fn counted(successes: f64, trials: f64) -> Option<Self> {
        let is_count = trials > 0.0 && trials.is_finite() && successes >= 0.0 && successes <= trials;
        is_count.then(|| Self { rate: successes / trials, n: trials })
    }

    /// Returns the rate of clustered (or weighted) trials, with its effective sample size at `level` as the number of trials.
    ///
    /// Undefined (`None`): no clusters, an estimate outside 0..=1.
    ///
    /// Source: Korn & Graubard 1998, by [`ClusteredProportion::effective_sample_size`].
    #[must_use]
    pub fn effective(proportion: &ClusteredProportion, level: f64) -> Option<Self> {
        let n = proportion.effective_sample_size(level);
        Self::counted(proportion.estimate * n, n)
    }

    /// Returns the same rate of `factor` times as many trials; `factor` is positive.
    #[must_use]
    pub(crate) fn scaled(self, factor: f64) -> Self {
        Self { n: self.n * factor, ..self }
    }

    /// Returns the rate, 0..=1.
    #[must_use]
    pub const fn rate(self) -> f64 {
        self.rate
    }

    /// Returns the number of trials, positive.
    #[must_use]
    pub const fn n(self) -> f64 {
        self.n
    }
}

/// A pass rate corrected for the judge's errors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CorrectedRate {
    /// (pass rate + TNR − 1) / J as it comes out: below 0 or above 1 where the judge passes less or more than its error rates
    /// allow, which says that those rates are not the stream's. `None` at J = 0.
    pub estimate: Option<f64>,
    /// The interval of Lang and Reiczigel, cut to 0..=1; all of it where nothing is identified. It need not hold an estimate near 0 or
    /// 1. Simulated coverage: .950 to .983 at 95 % with 20 to 100 labels a class, at most .035 missing on one side.
    pub interval: Interval,
    /// The interval by the method of variance estimates recovery, cut and undecided as the other: each rate is moved to the ends of its
    /// Clopper–Pearson interval, and the three moves are added in squares. Simulated in the same settings: .959 to .989, at most .024 on one
    /// side, mostly a tenth wider.
    pub mover: Interval,
    /// J = TPR + TNR − 1 (Youden), −1..=1: what is left of a difference between streams after the judge has seen them.
    pub youden: f64,
    /// Lower bound of J at the same level.
    pub youden_low: f64,
    /// Whether that bound is above 0. If not, the judge may be guessing, and its pass rate says nothing.
    pub is_identified: bool,
}

/// Returns the true pass rate behind the judge's, with the interval of Lang and Reiczigel at `level` (0..1, two-sided).
///
/// `passed` are the judge's passes in the unlabelled stream; `accepted` its passes among labelled right items (rate TPR);
/// `rejected` its rejections among labelled wrong items (rate TNR). The three samples must be independent: the labelled items are
/// not counted in the stream. Where J's lower bound is not above 0 the interval is 0..=1.
///
/// Undefined (`None`): a level outside 0..1.
///
/// Source: Rogan & Gladen 1978 for the estimate; Lang & Reiczigel 2014, "Confidence limits for prevalence of disease adjusted for
/// estimated sensitivity and specificity", with their +1/+2 and +z²/2 adjustments; Newcombe 1998 (method 10, Wilson limits) for
/// the bound of J; Zou & Donner 2008 for the recovery of variances. The estimate agrees with judgy 0.1 where that does not clip it.
#[must_use]
pub fn rogan_gladen(passed: Trials, accepted: Trials, rejected: Trials, level: f64) -> Option<CorrectedRate> {
    if !(level > 0.0 && level < 1.0) {
        return None;
    }
    let youden = accepted.rate + rejected.rate - 1.0;
    let below =
        |trials: Trials| wilson(trials.rate * trials.n, trials.n, level).map(|interval| trials.rate - interval.low);
    let youden_low = youden - below(accepted)?.hypot(below(rejected)?);
    let estimate = (youden != 0.0).then(|| (passed.rate + rejected.rate - 1.0) / youden);

    let z = normal_quantile(0.5 * (1.0 + level));
    let adjusted = |trials: Trials, added: f64| Trials {
        rate: (trials.n * trials.rate + 0.5 * added) / (trials.n + added),
        n: trials.n + added,
    };
    let variance = |trials: Trials| trials.rate * (1.0 - trials.rate) / trials.n;
    let (pass, sensitivity, specificity) = (adjusted(passed, z * z), adjusted(accepted, 2.0), adjusted(rejected, 2.0));
    let informedness = sensitivity.rate + specificity.rate - 1.0;
    let is_identified = youden_low > 0.0 && informedness > 0.0;
    let interval = if is_identified {
        let prevalence = (pass.rate + specificity.rate - 1.0) / informedness;
        let absence = 1.0 - prevalence;
        let (of_right, of_wrong) = (variance(sensitivity), variance(specificity));
        let centre = prevalence + 2.0 * z * z * (prevalence * of_right - absence * of_wrong);
        let spread = variance(pass) + prevalence * prevalence * of_right + absence * absence * of_wrong;
        let half = z * spread.sqrt() / informedness;
        Interval { low: (centre - half).clamp(0.0, 1.0), high: (centre + half).clamp(0.0, 1.0) }
    } else {
        Interval { low: 0.0, high: 1.0 }
    };
    let mover = match estimate {
        Some(estimate) if is_identified => moved(estimate, passed, accepted, rejected, level)?,
        _ => Interval { low: 0.0, high: 1.0 },
    };
    Some(CorrectedRate { estimate, interval, mover, youden, youden_low, is_identified })
}

/// Moves each rate to both ends of its interval and adds what the estimate moves down, and up, in squares.
fn moved(estimate: f64, passed: Trials, accepted: Trials, rejected: Trials, level: f64) -> Option<Interval> {
    let rate = |passed: f64, accepted: f64, rejected: f64| {
        let youden = accepted + rejected - 1.0;
        (youden > 0.0).then(|| (passed + rejected - 1.0) / youden)
    };
    let ends = |trials: Trials| clopper_pearson(trials.rate * trials.n, trials.n, level);
    let (of_passed, of_accepted, of_rejected) = (ends(passed)?, ends(accepted)?, ends(rejected)?);
    let (mut down, mut up) = (0.0, 0.0);
    for [first, second] in [
        [of_passed.low, of_passed.high].map(|end| rate(end, accepted.rate, rejected.rate)),
        [of_accepted.low, of_accepted.high].map(|end| rate(passed.rate, end, rejected.rate)),
        [of_rejected.low, of_rejected.high].map(|end| rate(passed.rate, accepted.rate, end)),
    ] {
        // Where the judge may be guessing at that end, the rate may be anything.
        let (Some(first), Some(second)) = (first, second) else { return Some(Interval { low: 0.0, high: 1.0 }) };
        let (below, above) = (estimate - first.min(second), first.max(second) - estimate);
        down += below.max(0.0).powi(2);
        up += above.max(0.0).powi(2);
    }
    Some(Interval { low: (estimate - down.sqrt()).clamp(0.0, 1.0), high: (estimate + up.sqrt()).clamp(0.0, 1.0) })
}

/// How the labelled items were chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LabelSampling {
    /// A random sample of the stream whose rate is asked for.
    Random,
    /// By their labels, say half right and half wrong.
    ByLabel,
    /// Nobody knows.
    #[default]
    Unknown,
}

impl LabelSampling {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
    pub(crate) const fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown)
    }

    /// Returns the word for it in settings and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::ByLabel => "by_label",
            Self::Unknown => "unknown",
        }
    }
}

/// Items with both a label and the judge's answer.
#[derive(Clone, Copy, Debug)]
pub struct Labelled<'a> {
    /// What is true, 0..=1 (1: right).
    pub truths: &'a [f64],
    /// What the judge said, 0..=1 (1: passed; or its pass rate over repeats, or its score).
    pub judged: &'a [f64],
    /// What each counts for; `None`: the same.
    pub weights: Option<&'a [f64]>,
    /// Which are not independent of each other; `None`: all are.
    pub clusters: Option<&'a [u32]>,
}

/// Items with the judge's answer only, none of them among the labelled, and none in a cluster with one.
#[derive(Clone, Copy, Debug)]
pub struct Unlabelled<'a> {
    /// What the judge said, 0..=1.
    pub judged: &'a [f64],
    /// What each counts for; `None`: the same.
    pub weights: Option<&'a [f64]>,
    /// Which are not independent of each other; `None`: all are.
    pub clusters: Option<&'a [u32]>,
}

/// How much the judge's answers count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PowerTuning {
    /// As much as makes the variance smallest, estimated from the same data and cut to 0..=1. With little data, or a judge that
    /// says little, about 0: the labels alone.
    Tuned,
    /// This much: 0 is the mean of the labels alone, 1 is PPI without tuning.
    Fixed(f64),
}

/// A mean powered by predictions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PpiMean {
    /// mean(truths) + λ (mean(judged, unlabelled) − mean(judged, labelled)); may leave 0..=1 by a little.
    pub estimate: f64,
    /// √(labelled variance + unlabelled variance).
    pub standard_error: f64,
    /// The interval: Wilson's, of as many trials as would have this variance, with t of Welch–Satterthwaite degrees in place of z; the
    /// labelled variance reckons with one cluster more like the one farthest off. Simulated from 30 to 200 labels it covers .952 to
    /// .991 and misses at most .026 on one side; symmetric around the estimate it missed up to .039, its low end being too high. Where
    /// nothing varies among the labelled, as far as one other item in m clusters could move it.
    pub interval: Interval,
    /// λ, the weight of the judge's answers.
    pub lambda: f64,
    /// Variance of mean(truths − λ judged) over labelled clusters.
    pub labelled_variance: f64,
    /// Variance of λ mean(judged) over unlabelled clusters.
    pub unlabelled_variance: f64,
    /// Standard error of the labels' mean alone, to see what the judge has added.
    pub classical_standard_error: f64,
    /// Labelled clusters.
    pub n_labelled_clusters: usize,
    /// Unlabelled clusters.
    pub n_unlabelled_clusters: usize,
    /// Labelled clusters in which the judge and the label differ. Few of them make the interval miss more on one side than on the other.
    pub n_clusters_in_error: usize,
}

/// Why there is no mean powered by predictions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PpiError {
    /// The labelled items are no random sample of the stream.
    #[error(
        "labelled items were chosen {}, and only a random sample of the same stream allows prediction-powered inference; correct by the \
         judge's error rates instead",
        .0.name()
    )]
    NotRandom(LabelSampling),
    /// Fewer than two clusters are labelled, or unlabelled.
    #[error("prediction-powered inference needs at least two labelled and two unlabelled clusters")]
    TooFew,
    /// Lengths differ, a value is outside 0..=1, a weight is negative or not finite, or λ or the level is out of range.
    #[error("values, weights, clusters, tuning or level are not of matching lengths and within their ranges")]
    Malformed,
}

/// Returns the mean of what is true in a stream from a few labels and many judgements, with an interval at `level` (0..1, two-sided).
///
/// # Errors
/// [`PpiError::NotRandom`] unless `sampling` is [`LabelSampling::Random`]; [`PpiError::TooFew`]; [`PpiError::Malformed`].
///
/// Source: Angelopoulos, Duchi & Zrnic 2023, "PPI++", arXiv 2311.01453, section 2 and equation 8 (λ). As ppi-python 0.2.3, save that
/// variances have m/(m − 1), that λ divides by the same, and that the interval is Student's with the caution said there; ppi-python's default level is .9.
pub fn ppi_mean(
    labelled: Labelled<'_>,
    unlabelled: Unlabelled<'_>,
    sampling: LabelSampling,
    tuning: PowerTuning,
    level: f64,
) -> Result<PpiMean, PpiError> {
    if sampling != LabelSampling::Random {
        return Err(PpiError::NotRandom(sampling));
    }
    let is_tuning = match tuning {
        PowerTuning::Tuned => true,
        PowerTuning::Fixed(lambda) => (0.0..=1.0).contains(&lambda),
    };
    let is_usable = is_tuning && level > 0.0 && level < 1.0;
    if !is_usable || labelled.truths.len() != labelled.judged.len() {
        return Err(PpiError::Malformed);
    }
    if labelled.truths.is_empty() || unlabelled.judged.is_empty() {
        return Err(PpiError::TooFew);
    }
    let known = Sample::new(labelled.judged.len(), labelled.weights, labelled.clusters).ok_or(PpiError::Malformed)?;
    let open =
        Sample::new(unlabelled.judged.len(), unlabelled.weights, unlabelled.clusters).ok_or(PpiError::Malformed)?;
    let is_share = |values: &[f64]| values.iter().all(|value| (0.0..=1.0).contains(value));
    if !is_share(labelled.truths) || !is_share(labelled.judged) || !is_share(unlabelled.judged) {
        return Err(PpiError::Malformed);
    }
    if known.n_clusters < 2 || open.n_clusters < 2 {
        return Err(PpiError::TooFew);
    }
    let truth = known.mean(labelled.truths);
    let (judged_known, judged_open) = (known.mean(labelled.judged), open.mean(unlabelled.judged));
    let truth_sums = known.cluster_sums(labelled.truths, truth);
    let judged_sums = known.cluster_sums(labelled.judged, judged_known);
    let lambda = match tuning {
        PowerTuning::Fixed(lambda) => lambda,
        PowerTuning::Tuned => {
            let pooled = pooled_variance(&known, labelled.judged, &open, unlabelled.judged);
            let tuned = known.covariance(&truth_sums, &judged_sums) / pooled;
            // A judge that always says the same has nothing to add: 0/0.
            if tuned.is_finite() { tuned.clamp(0.0, 1.0) } else { 0.0 }
        }
    };
    let rectified: Vec<f64> =
        truth_sums.iter().zip(&judged_sums).map(|(truth, judged)| truth - lambda * judged).collect();
    let open_sums = open.cluster_sums(unlabelled.judged, judged_open);
    let labelled_variance = known.covariance(&rectified, &rectified);
    let unlabelled_variance = lambda * lambda * open.covariance(&open_sums, &open_sums);
    let variance = labelled_variance + unlabelled_variance;
    let estimate = truth + lambda * (judged_open - judged_known);
    let (known_degrees, open_degrees) = ((known.n_clusters - 1) as f64, (open.n_clusters - 1) as f64);
    let centre = estimate.clamp(0.0, 1.0);
    let interval = if labelled_variance > 1e-24 {
        // One labelled cluster more like the one that is farthest off: with few errors the t interval alone covers .91 to .94.
        let largest = rectified.iter().fold(0.0_f64, |largest, sum| largest.max(sum * sum));
        let cautious = labelled_variance + largest;
        let variance = cautious + unlabelled_variance;
        let degrees = variance * variance
            / (cautious * cautious / known_degrees + unlabelled_variance * unlabelled_variance / open_degrees);
        let size = if centre > 0.0 && centre < 1.0 {
            (centre * (1.0 - centre) / variance).clamp(1.0, (known.n_clusters + open.n_clusters) as f64)
        } else {
            known.n_clusters as f64
        };
        score_interval(centre, size, t_quantile(0.5 * (1.0 + level), degrees))
    } else {
        let unseen = clopper_pearson(0.0, known.n_clusters as f64, level).map_or(1.0, |interval| interval.high);
        let half = unseen.hypot(t_quantile(0.5 * (1.0 + level), open_degrees) * unlabelled_variance.sqrt());
        Interval { low: (estimate - half).clamp(0.0, 1.0), high: (estimate + half).clamp(0.0, 1.0) }
    };
    let mut is_in_error = vec![false; known.n_clusters];
    for (i, (truth, judged)) in labelled.truths.iter().zip(labelled.judged).enumerate() {
        is_in_error[known.positions[i]] |= known.shares[i] > 0.0 && (truth - judged).abs() > 1e-12;
    }
    Ok(PpiMean {
        estimate,
        standard_error: variance.sqrt(),
        interval,
        lambda,
        labelled_variance,
        unlabelled_variance,
        classical_standard_error: known.covariance(&truth_sums, &truth_sums).sqrt(),
        n_labelled_clusters: known.n_clusters,
        n_unlabelled_clusters: open.n_clusters,
        n_clusters_in_error: is_in_error.iter().filter(|is_in_error| **is_in_error).count(),
    })
}

/// Returns Wilson's interval of a share of so many trials with this quantile. Wilson 1927.
fn score_interval(share: f64, trials: f64, quantile: f64) -> Interval {
    let square = quantile * quantile / trials;
    let centre = (share + 0.5 * square) / (1.0 + square);
    let half = (share * (1.0 - share) * square + 0.25 * square * square).sqrt() / (1.0 + square);
    Interval { low: (centre - half).max(0.0), high: (centre + half).min(1.0) }
}

/// Units' shares of the weight and their clusters.
struct Sample {
    shares: Vec<f64>,
    positions: Vec<usize>,
    n_clusters: usize,
    n: f64,
}

impl Sample {
    /// Returns `None` where lengths differ or weights are unusable. Units that weigh nothing make no cluster.
    fn new(n: usize, weights: Option<&[f64]>, clusters: Option<&[u32]>) -> Option<Self> {
        let shares = shares(n, weights)?;
        if clusters.is_some_and(|clusters| clusters.len() != n) {
            return None;
        }
        let ids: Vec<u32> = match clusters {
            Some(clusters) => clusters.to_vec(),
            None => (0..u32::try_from(n).ok()?).collect(),
        };
        let weighing: Vec<u32> =
            ids.iter().zip(&shares).filter(|(_, share)| **share > 0.0).map(|(id, _)| *id).collect();
        let (of_weighing, n_clusters) = cluster_positions(&weighing);
        let mut of_weighing = of_weighing.into_iter();
        // Where a unit of no weight points does not matter, as it adds 0.
        let positions =
            shares.iter().map(|share| if *share > 0.0 { of_weighing.next().unwrap_or(0) } else { 0 }).collect();
        Some(Self { shares, positions, n_clusters, n: weighing.len() as f64 })
    }

    fn mean(&self, values: &[f64]) -> f64 {
        // From the first value, so that equal values have exactly their own mean.
        let origin = values[0];
        origin + self.shares.iter().zip(values).map(|(share, value)| share * (value - origin)).sum::<f64>()
    }

    /// Returns each cluster's Σ share (value − centre).
    fn cluster_sums(&self, values: &[f64], centre: f64) -> Vec<f64> {
        let mut sums = vec![0.0; self.n_clusters];
        for ((share, value), &position) in self.shares.iter().zip(values).zip(&self.positions) {
            sums[position] += share * (value - centre);
        }
        sums
    }

    /// Returns the covariance of two means: m/(m − 1) Σ over clusters.
    fn covariance(&self, a: &[f64], b: &[f64]) -> f64 {
        let m = self.n_clusters as f64;
        m / (m - 1.0) * a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>()
    }
}

/// Returns the variance of mean(judged, labelled) − mean(judged, unlabelled), both taken as samples of one stream.
fn pooled_variance(known: &Sample, judged_known: &[f64], open: &Sample, judged_open: &[f64]) -> f64 {
    let n = known.n + open.n;
    let centre = (known.n * known.mean(judged_known) + open.n * open.mean(judged_open)) / n;
    let squares = |sample: &Sample, values: &[f64]| {
        sample.n * sample.n * sample.cluster_sums(values, centre).iter().map(|sum| sum * sum).sum::<f64>()
    };
    let m = (known.n_clusters + open.n_clusters) as f64;
    let of_one = m / (m - 1.0) * (squares(known, judged_known) + squares(open, judged_open)) / n;
    of_one * (1.0 / known.n + 1.0 / open.n)
}
