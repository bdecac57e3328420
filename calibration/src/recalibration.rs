//! Turning a judge's scores into probabilities that mean what they say: isotonic regression and Platt's sigmoid.
//!
//! A map fitted on the items it is judged by looks better than it is. [`cross_fitted`] gives each item the prediction of a map
//! fitted without it and without its cluster; only those go into [`crate::reliability`].
//!
//! Higher scores are taken to mean that the event is likelier; turn the others round first.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use thiserror::Error;

use crate::influence::cluster_positions;
use crate::rank::{TieGroups, shares};

/// How scores are mapped to probabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The step function nearest to the outcomes that never falls. Wants some hundreds of items; needs no shape.
    Isotonic,
    /// A sigmoid of the score. Two parameters, for few items; wrong where the truth is no sigmoid.
    Platt,
}

/// A map from scores to probabilities.
#[derive(Clone, Debug, PartialEq)]
pub enum Recalibration {
    /// A step function.
    Isotonic(Isotonic),
    /// A sigmoid.
    Platt(Platt),
}

impl Recalibration {
    /// Fits a map by `method`; undefined (`None`) as [`Isotonic::fit`] and [`Platt::fit`].
    #[must_use]
    pub fn fit(method: Method, scores: &[f64], outcomes: &[f64], weights: Option<&[f64]>) -> Option<Self> {
        match method {
            Method::Isotonic => Isotonic::fit(scores, outcomes, weights).map(Self::Isotonic),
            Method::Platt => Platt::fit(scores, outcomes, weights).map(Self::Platt),
        }
    }

    /// Returns the probability of a score, 0..=1; NaN of NaN.
    #[must_use]
    pub fn apply(&self, score: f64) -> f64 {
        match self {
            Self::Isotonic(isotonic) => isotonic.apply(score),
            Self::Platt(platt) => platt.apply(score),
        }
    }
}

/// A step function that never falls.
#[derive(Clone, Debug, PartialEq)]
pub struct Isotonic {
    /// The lowest score of each step, ascending.
    starts: Vec<f64>,
    /// The value of each step, ascending.
    values: Vec<f64>,
}

impl Isotonic {
    /// Fits weighted least squares under the order of the scores. Equal scores are pooled first, so that they get one value.
    ///
    /// Outcomes are 0..=1. Undefined (`None`): nothing of positive weight, lengths that differ, a score that is NaN, an outcome
    /// outside 0..=1, a weight that is negative or not finite.
    ///
    /// Source: Ayer et al. 1955 (pool adjacent violators); Zadrozny & Elkan 2002 for probabilities. At the scores fitted it agrees with
    /// scikit-learn 1.9 `IsotonicRegression`. Cost: n log n.
    #[must_use]
    pub fn fit(scores: &[f64], outcomes: &[f64], weights: Option<&[f64]>) -> Option<Self> {
        let shares = checked(scores, outcomes, weights)?;
        // −0 and 0 are one score.
        let scores: Vec<f64> = scores.iter().map(|score| score + 0.0).collect();
        let groups = TieGroups::new(&scores);
        // Blocks as (lowest score, weight, weighted sum); sums are merged, so that no mean is rounded twice.
        let mut blocks: Vec<(f64, f64, f64)> = Vec::new();
        for group_idx in 0..groups.n_groups() {
            let members = groups.members(group_idx);
            let weight: f64 = members.iter().map(|&i| shares[i]).sum();
            if weight <= 0.0 {
                continue;
            }
            let mut block = (scores[members[0]], weight, members.iter().map(|&i| shares[i] * outcomes[i]).sum::<f64>());
            while let Some(&(start, weight, sum)) = blocks.last() {
                if sum * block.1 < block.2 * weight {
                    break;
                }
                blocks.pop();
                block = (start, weight + block.1, sum + block.2);
            }
            blocks.push(block);
        }
        Some(Self {
            starts: blocks.iter().map(|block| block.0).collect(),
            values: blocks.iter().map(|block| (block.2 / block.1).clamp(0.0, 1.0)).collect(),
        })
    }

    /// Returns the value of the step that holds `score`: of the last step that begins at or below it, and below all steps that of the
    /// first. Between two steps it is therefore the lower one (scikit-learn draws a line there). NaN of NaN.
    #[must_use]
    pub fn apply(&self, score: f64) -> f64 {
        if score.is_nan() {
            return f64::NAN;
        }
        let step = self.starts.partition_point(|start| *start <= score);
        self.values[step.saturating_sub(1)]
    }

    /// Returns the steps as (lowest score, value), both ascending; never empty.
    pub fn steps(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.starts.iter().copied().zip(self.values.iter().copied())
    }
}

/// A sigmoid: 1 / (1 + exp(−(slope · score + intercept))).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Platt {
    /// Log odds a point of score; −A in Platt's notation.
    pub slope: f64,
    /// Log odds at score 0; −B in Platt's notation.
    pub intercept: f64,
}

impl Platt {
    /// Fits the sigmoid by maximum likelihood to Platt's smoothed targets: events count as (N₊ + 1)/(N₊ + 2), others as 1/(N₋ + 2),
    /// where N are sums of weights. Outcomes between 0 and 1 are taken as that share of an event. The targets keep the fit finite where
    /// the classes are apart. With one class, or one score, the slope is 0.
    ///
    /// Undefined (`None`) as [`Isotonic::fit`], and for scores that are not finite.
    ///
    /// Source: Platt 1999; Lin, Lin & Weng 2007, "A note on Platt's probabilistic outputs", algorithm 1 (Newton with backtracking),
    /// carried on until the gradient vanishes to rounding. scikit-learn 1.9 stops its optimiser earlier and agrees to about 1e-5.
    #[must_use]
    pub fn fit(scores: &[f64], outcomes: &[f64], weights: Option<&[f64]>) -> Option<Self> {
        checked(scores, outcomes, weights)?;
        if !scores.iter().all(|score| score.is_finite()) {
            return None;
        }
        let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
        let n = scores.len();
        let positive: f64 = (0..n).map(|i| weight(i) * outcomes[i]).sum();
        let negative: f64 = (0..n).map(|i| weight(i) * (1.0 - outcomes[i])).sum();
        let (high, low) = ((positive + 1.0) / (positive + 2.0), 1.0 / (negative + 2.0));
        // Scores around their mean in units of their spread: the Hessian is then well conditioned whatever the scale.
        let total = positive + negative;
        let mean = scores[0] + (0..n).map(|i| weight(i) * (scores[i] - scores[0])).sum::<f64>() / total;
        let spread = ((0..n).map(|i| weight(i) * (scores[i] - mean).powi(2)).sum::<f64>() / total).sqrt();
        let scale = if spread > 1e-12 * (1.0 + mean.abs()) { spread } else { f64::INFINITY };
        let rows: Vec<[f64; 3]> = (0..n)
            .map(|i| [(scores[i] - mean) / scale, outcomes[i] * high + (1.0 - outcomes[i]) * low, weight(i) / total])
            .collect();
        let [slope, offset] = newton(&rows, ((positive + 1.0) / (negative + 1.0)).ln());
        let slope = slope / scale;
        Some(Self { slope, intercept: offset - slope * mean })
    }

    /// Returns the probability of a score, 0..=1; NaN of NaN.
    #[must_use]
    pub fn apply(&self, score: f64) -> f64 {
        if score.is_nan() {
            return f64::NAN;
        }
        // A slope of 0 ignores the score, also an infinite one.
        let log_odds = if self.slope == 0.0 { 0.0 } else { self.slope * score };
        1.0 / (1.0 + (-(log_odds + self.intercept)).exp())
    }
}

/// Minimises the cross entropy of rows of score, target and weight; returns slope and intercept.
fn newton(rows: &[[f64; 3]], start: f64) -> [f64; 2] {
    const MAX_STEPS: usize = 100;
    const SMALLEST_STEP: f64 = 1e-10;
    // ln(1 + e^f) − t f, without overflow.
    let loss = |[a, b]: [f64; 2]| -> f64 {
        rows.iter()
            .map(|[score, target, weight]| {
                let odds = a * score + b;
                weight * (odds.max(0.0) + (-odds.abs()).exp().ln_1p() - target * odds)
            })
            .sum()
    };
    let mut at = [0.0, start];
    let mut value = loss(at);
    for _ in 0..MAX_STEPS {
        let (mut h11, mut h12, mut h22, mut g1, mut g2) = (1e-12, 0.0, 1e-12, 0.0, 0.0);
        for [score, target, weight] in rows {
            let p = 1.0 / (1.0 + (-(at[0] * score + at[1])).exp());
            let (residual, curvature) = (weight * (p - target), weight * p * (1.0 - p));
            h11 += curvature * score * score;
            h12 += curvature * score;
            h22 += curvature;
            g1 += residual * score;
            g2 += residual;
        }
        if g1.abs().max(g2.abs()) < 1e-15 {
            break;
        }
        let determinant = h11 * h22 - h12 * h12;
        let step = [-(h22 * g1 - h12 * g2) / determinant, -(h11 * g2 - h12 * g1) / determinant];
        let descent = g1 * step[0] + g2 * step[1];
        let mut length = 1.0;
        let moved = loop {
            let next = [at[0] + length * step[0], at[1] + length * step[1]];
            let lower = loss(next);
            if lower < value + 1e-4 * length * descent {
                break Some((next, lower));
            }
            // Next to the minimum the loss is flat to rounding, and a full step is right.
            if step[0].abs().max(step[1].abs()) < 1e-6 {
                break Some((next, lower.min(value)));
            }
            length *= 0.5;
            if length < SMALLEST_STEP {
                break None;
            }
        };
        let Some((next, lower)) = moved else { break };
        let is_still = step[0].abs().max(step[1].abs()) < 1e-14;
        (at, value) = (next, lower);
        if is_still {
            break;
        }
    }
    at
}

fn checked(scores: &[f64], outcomes: &[f64], weights: Option<&[f64]>) -> Option<Vec<f64>> {
    let fits = !scores.is_empty()
        && scores.len() == outcomes.len()
        && !scores.iter().any(|score| score.is_nan())
        && outcomes.iter().all(|outcome| (0.0..=1.0).contains(outcome));
    if fits { shares(scores.len(), weights) } else { None }
}

/// Returns a fold 0..`n_folds` for each observation, one fold a cluster: clusters are shuffled by the seed and dealt in turn, so that the
/// numbers of clusters differ by at most 1.
///
/// Undefined (`None`): fewer clusters than folds, fewer than two folds. The result depends on which ids there are in ascending order,
/// not on the order of observations.
#[must_use]
pub fn assign_folds(clusters: &[u32], n_folds: usize, seed: u64) -> Option<Vec<usize>> {
    let (positions, n_clusters) = cluster_positions(clusters);
    if n_folds < 2 || clusters.is_empty() || n_clusters < n_folds {
        return None;
    }
    let mut fold_of: Vec<usize> = (0..n_clusters).map(|cluster_idx| cluster_idx % n_folds).collect();
    fold_of.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    Some(positions.into_iter().map(|position| fold_of[position]).collect())
}

/// Why there are no cross-fitted predictions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CrossFitError {
    /// Lengths differ, or a score, outcome or weight is out of its range.
    #[error("scores, outcomes, weights, clusters and folds are not of matching lengths and within their ranges")]
    Malformed,
    /// All observations are in one fold.
    #[error("cross-fitting needs at least two folds")]
    OneFold,
    /// A cluster is in two folds, so that a map would be judged by the items that fitted it.
    #[error("cluster {0} is in more than one fold")]
    SplitCluster(u32),
    /// No map can be fitted without one fold: nothing else has weight.
    #[error("nothing is left to fit without fold {0}")]
    NothingLeft(usize),
}

/// Returns each observation's probability by the map fitted on the other folds; in the order given.
///
/// `folds` are those of [`assign_folds`] or the caller's own, any numbers; `clusters` are checked against them.
///
/// # Errors
/// As [`CrossFitError`] says.
pub fn cross_fitted(
    method: Method,
    scores: &[f64],
    outcomes: &[f64],
    weights: Option<&[f64]>,
    clusters: Option<&[u32]>,
    folds: &[usize],
) -> Result<Vec<f64>, CrossFitError> {
    let n = scores.len();
    let fits = folds.len() == n && clusters.is_none_or(|clusters| clusters.len() == n);
    if !fits || checked(scores, outcomes, weights).is_none() {
        return Err(CrossFitError::Malformed);
    }
    if method == Method::Platt && !scores.iter().all(|score| score.is_finite()) {
        return Err(CrossFitError::Malformed);
    }
    if let Some(clusters) = clusters {
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by_key(|&i| clusters[i]);
        if let Some(split) = order.windows(2).find(|w| clusters[w[0]] == clusters[w[1]] && folds[w[0]] != folds[w[1]]) {
            return Err(CrossFitError::SplitCluster(clusters[split[0]]));
        }
    }
    let mut ids = folds.to_vec();
    ids.sort_unstable();
    ids.dedup();
    if ids.len() < 2 {
        return Err(CrossFitError::OneFold);
    }
    let mut predictions = vec![f64::NAN; n];
    for fold in ids {
        let others: Vec<usize> = (0..n).filter(|&i| folds[i] != fold).collect();
        let of_others = |values: &[f64]| others.iter().map(|&i| values[i]).collect::<Vec<f64>>();
        let other_weights = weights.map(of_others);
        let map = Recalibration::fit(method, &of_others(scores), &of_others(outcomes), other_weights.as_deref())
            .ok_or(CrossFitError::NothingLeft(fold))?;
        for i in (0..n).filter(|&i| folds[i] == fold) {
            predictions[i] = map.apply(scores[i]);
        }
    }
    Ok(predictions)
}
