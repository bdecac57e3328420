//! Correlations: Pearson's r, Spearman's rho (midranks for ties) and Kendall's tau-b, each with influence values.
//!
//! Observations may carry weights: an item judged n times gives n observations of weight 1/n, so that each item counts
//! once. Standard errors come from [`WithInfluence`], by cluster if judgements repeat.
//!
//! All are undefined (`None`) for fewer than two observations of positive weight, lengths that differ, a value that is
//! not finite, a weight that is negative or not finite, or no variance in either variable.
//!
//! Cost: n log n; n where there are few distinct values, as of scores and labels.

use crate::influence::WithInfluence;

/// Returns Pearson's correlation with influence values; -1..=1.
///
/// Source of the influence function: Devlin, Gnanadesikan & Kettenring 1975.
///
/// Undefined (`None`): fewer than two observations; lengths that differ; a value that is not finite; a weight that is negative or
/// not finite, or none that is positive; no variance in `x` or in `y` among the observations of positive weight.
#[must_use]
pub fn pearson(x: &[f64], y: &[f64], weights: Option<&[f64]>) -> Option<WithInfluence> {
    Pairs::new(x, y, weights)?.correlate(pearson_of_shares)
}

fn pearson_of_shares(shares: &[f64], x: &[f64], y: &[f64]) -> Option<WithInfluence> {
    let centred = |values: &[f64]| {
        // From the first value, so that equal values differ by exactly 0.
        let origin = values[0];
        let mean: f64 = shares.iter().zip(values).map(|(share, value)| share * (value - origin)).sum();
        values.iter().map(|value| value - origin - mean).collect::<Vec<f64>>()
    };
    if is_constant(x, shares) || is_constant(y, shares) {
        return None;
    }
    let (a, b) = (centred(x), centred(y));
    let (variance_a, variance_b) = (moment(shares, &a, &a), moment(shares, &b, &b));
    let scale = (variance_a * variance_b).sqrt();
    if !(scale > 0.0 && scale.is_finite()) {
        return None;
    }
    let estimate = (moment(shares, &a, &b) / scale).clamp(-1.0, 1.0);
    let influence = shares
        .iter()
        .zip(a.iter().zip(&b))
        .map(|(share, (a, b))| share * (a * b / scale - 0.5 * estimate * (a * a / variance_a + b * b / variance_b)))
        .collect();
    Some(WithInfluence { estimate, influence })
}

/// Returns Spearman's rank correlation with influence values; -1..=1. Ties have midranks.
///
/// The influence of an observation counts its effect on the others' ranks. Source: Spearman 1904; Croux & Dehon 2010 for
/// the influence function.
///
/// Undefined (`None`): fewer than two observations; lengths that differ; a value that is not finite; a weight that is negative or
/// not finite, or none that is positive; ties of all `x` or of all `y` among the observations of positive weight.
#[must_use]
pub fn spearman(x: &[f64], y: &[f64], weights: Option<&[f64]>) -> Option<WithInfluence> {
    Pairs::new(x, y, weights)?.correlate(spearman_of_shares)
}

fn spearman_of_shares(shares: &[f64], x: &[f64], y: &[f64]) -> Option<WithInfluence> {
    let (groups_x, groups_y) = (TieGroups::new(x), TieGroups::new(y));
    let (a, b) = (groups_x.centred_ranks(shares), groups_y.centred_ranks(shares));
    if is_constant(x, shares) || is_constant(y, shares) {
        return None;
    }
    let covariance = moment(shares, &a, &b);
    let (variance_a, variance_b) = (moment(shares, &a, &a), moment(shares, &b, &b));
    let scale = (variance_a * variance_b).sqrt();
    if !(scale > 0.0 && scale.is_finite()) {
        return None;
    }
    let estimate = (covariance / scale).clamp(-1.0, 1.0);
    // What adding an observation does to the others through their ranks: it lifts all above it by 1, its ties by ½.
    let lifted_covariance: Vec<f64> = {
        let by_x = groups_x.mass_above(shares, &b);
        let by_y = groups_y.mass_above(shares, &a);
        by_x.iter().zip(&by_y).map(|(x, y)| x + y).collect()
    };
    let (lifted_a, lifted_b) = (groups_x.mass_above(shares, &a), groups_y.mass_above(shares, &b));
    let influence = (0..shares.len())
        .map(|i| {
            let of_covariance = a[i] * b[i] - 3.0 * covariance + lifted_covariance[i];
            let of_variance_a = a[i] * a[i] - 3.0 * variance_a + 2.0 * lifted_a[i];
            let of_variance_b = b[i] * b[i] - 3.0 * variance_b + 2.0 * lifted_b[i];
            shares[i]
                * (of_covariance / scale - 0.5 * estimate * (of_variance_a / variance_a + of_variance_b / variance_b))
        })
        .collect();
    Some(WithInfluence { estimate, influence })
}

/// Returns Kendall's tau-b with influence values; -1..=1.
///
/// Source: Kendall 1945, "The treatment of ties in ranking problems"; concordance by a Fenwick tree (Knight 1966 sorts).
///
/// Undefined (`None`): fewer than two observations; lengths that differ; a value that is not finite; a weight that is negative or
/// not finite, or none that is positive; ties of all `x` or of all `y` among the observations of positive weight.
#[must_use]
pub fn kendall_tau_b(x: &[f64], y: &[f64], weights: Option<&[f64]>) -> Option<WithInfluence> {
    Pairs::new(x, y, weights)?.correlate(kendall_tau_b_of_shares)
}

fn kendall_tau_b_of_shares(shares: &[f64], x: &[f64], y: &[f64]) -> Option<WithInfluence> {
    if is_constant(x, shares) || is_constant(y, shares) {
        return None;
    }
    let (groups_x, groups_y) = (TieGroups::new(x), TieGroups::new(y));
    let (ties_x, ties_y) = (groups_x.masses(shares), groups_y.masses(shares));
    let untied = |masses: &[f64]| 1.0 - masses.iter().map(|mass| mass * mass).sum::<f64>();
    let (untied_x, untied_y) = (untied(&ties_x), untied(&ties_y));
    let scale = (untied_x * untied_y).sqrt();
    if scale.is_nan() || scale <= 0.0 {
        return None;
    }
    let concordance = concordance(&groups_x, &groups_y, shares);
    let total: f64 = shares.iter().zip(&concordance).map(|(share, value)| share * value).sum();
    let estimate = (total / scale).clamp(-1.0, 1.0);
    let influence = (0..shares.len())
        .map(|i| {
            let of_total = concordance[i] - total;
            let of_x = (1.0 - ties_x[groups_x.group_of[i]] - untied_x) / untied_x;
            let of_y = (1.0 - ties_y[groups_y.group_of[i]] - untied_y) / untied_y;
            shares[i] * (2.0 * of_total / scale - estimate * (of_x + of_y))
        })
        .collect();
    Some(WithInfluence { estimate, influence })
}

/// Returns, for each observation, the mass concordant with it less the mass discordant.
fn concordance(groups_x: &TieGroups, groups_y: &TieGroups, shares: &[f64]) -> Vec<f64> {
    let n_y = groups_y.n_groups();
    let mut result = vec![0.0; shares.len()];
    // Upwards in x, all that came before is below in x; downwards, above. A tie group is entered after it is read.
    for (direction, is_upwards) in [(1.0, true), (-1.0, false)] {
        let mut tree = Fenwick::new(n_y);
        for step in 0..groups_x.n_groups() {
            let group_idx = if is_upwards { step } else { groups_x.n_groups() - 1 - step };
            let members = groups_x.members(group_idx);
            for &i in members {
                let group_y = groups_y.group_of[i];
                let (below, up_to) = (tree.sum_before(group_y), tree.sum_before(group_y + 1));
                result[i] += direction * (below - (tree.total - up_to));
            }
            for &i in members {
                tree.add(groups_y.group_of[i], shares[i]);
            }
        }
    }
    result
}

/// A correlation of observations whose weights sum to 1.
type OfShares = fn(&[f64], &[f64], &[f64]) -> Option<WithInfluence>;

/// Returns Spearman's, Kendall's and Pearson's correlation of the same observations, for which pairs are gathered once.
pub(crate) fn spearman_kendall_pearson(x: &[f64], y: &[f64], weights: Option<&[f64]>) -> [Option<WithInfluence>; 3] {
    let pairs = Pairs::new(x, y, weights);
    let all: [OfShares; 3] = [spearman_of_shares, kendall_tau_b_of_shares, pearson_of_shares];
    all.map(|compute| pairs.as_ref()?.correlate(compute))
}

/// Observations that passed the checks all correlations make.
struct Pairs {
    shares: Vec<f64>,
    x: Vec<f64>,
    y: Vec<f64>,
    distinct: Option<DistinctPairs>,
}

/// The pairs of values that occur, where these are few.
struct DistinctPairs {
    masses: Vec<f64>,
    x: Vec<f64>,
    y: Vec<f64>,
    /// Each observation's pair.
    of_observation: Vec<usize>,
}

impl DistinctPairs {
    fn new(x: &[f64], y: &[f64], weights: Option<&[f64]>) -> Option<Self> {
        let ((values_x, groups_x), (values_y, groups_y)) = (few_values(x)?, few_values(y)?);
        let n_pairs = values_x.len() * values_y.len();
        if n_pairs > x.len() / 4 {
            return None;
        }
        let mut masses = vec![0.0; n_pairs];
        let (mut pairs_x, mut pairs_y) = (vec![0.0; n_pairs], vec![0.0; n_pairs]);
        let mut of_observation = groups_x;
        for (i, (pair, group_y)) in of_observation.iter_mut().zip(groups_y).enumerate() {
            *pair = *pair * values_y.len() + group_y;
            // Weights, not shares: counts add up exactly.
            masses[*pair] += weights.map_or(1.0, |weights| weights[i]);
            (pairs_x[*pair], pairs_y[*pair]) = (x[i], y[i]);
        }
        let total: f64 = masses.iter().sum();
        for mass in &mut masses {
            *mass /= total;
        }
        Some(Self { masses, x: pairs_x, y: pairs_y, of_observation })
    }
}

impl Pairs {
    fn new(x: &[f64], y: &[f64], weights: Option<&[f64]>) -> Option<Self> {
        let (shares, x, y) = checked(x, y, weights)?;
        let distinct = DistinctPairs::new(&x, &y, weights);
        Some(Self { shares, x, y, distinct })
    }

    /// Computes a correlation over distinct pairs where these are few, and shares their influence out to the observations.
    fn correlate(&self, compute: OfShares) -> Option<WithInfluence> {
        let Some(DistinctPairs { masses, x, y, of_observation }) = &self.distinct else {
            return compute(&self.shares, &self.x, &self.y);
        };
        let seen: Vec<usize> = (0..masses.len()).filter(|&pair| masses[pair] > 0.0).collect();
        let pick = |values: &[f64]| seen.iter().map(|&pair| values[pair]).collect::<Vec<f64>>();
        let merged = compute(&pick(masses), &pick(x), &pick(y))?;
        let mut per_mass = vec![0.0; masses.len()];
        for (&pair, influence) in seen.iter().zip(&merged.influence) {
            per_mass[pair] = influence / masses[pair];
        }
        let influence = self.shares.iter().zip(of_observation).map(|(share, &pair)| share * per_mass[pair]).collect();
        Some(WithInfluence { estimate: merged.estimate, influence })
    }
}

/// Observations, as shares of the total weight, that passed the checks all correlations make.
type Checked = (Vec<f64>, Vec<f64>, Vec<f64>);

fn checked(x: &[f64], y: &[f64], weights: Option<&[f64]>) -> Option<Checked> {
    if x.len() != y.len() || x.len() < 2 {
        return None;
    }
    let shares = shares(x.len(), weights)?;
    // Adding 0 turns −0 into 0, which would otherwise sort apart.
    let usable = |values: &[f64]| {
        let all_finite = values.iter().all(|value| value.is_finite());
        all_finite.then(|| values.iter().map(|value| value + 0.0).collect::<Vec<f64>>())
    };
    Some((shares, usable(x)?, usable(y)?))
}

/// Returns weights as shares of their sum; equal shares for `None`.
pub(crate) fn shares(n: usize, weights: Option<&[f64]>) -> Option<Vec<f64>> {
    let Some(weights) = weights else { return Some(vec![1.0 / n as f64; n]) };
    if weights.len() != n || !weights.iter().all(|&weight| weight >= 0.0 && weight.is_finite()) {
        return None;
    }
    let total: f64 = weights.iter().sum();
    let is_usable = total > 0.0 && total.is_finite();
    is_usable.then(|| weights.iter().map(|weight| weight / total).collect())
}

fn is_constant(values: &[f64], shares: &[f64]) -> bool {
    let mut used = values.iter().zip(shares).filter(|&(_, &share)| share > 0.0).map(|(value, _)| value);
    let first = used.next();
    used.all(|value| first.is_some_and(|first| first.to_bits() == value.to_bits()))
}

fn moment(shares: &[f64], a: &[f64], b: &[f64]) -> f64 {
    shares.iter().zip(a.iter().zip(b)).map(|(share, (a, b))| share * a * b).sum()
}

/// Returns a whole number that sorts as the value does.
fn ascending_key(value: f64) -> u64 {
    const SIGN: u64 = 1 << 63;
    let bits = value.to_bits();
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}

/// Returns the distinct values' keys, ascending, and each value's position among them; `None` where they are many.
fn few_values(values: &[f64]) -> Option<(Vec<u64>, Vec<usize>)> {
    const FEW: usize = 256;
    let mut distinct: Vec<u64> = Vec::new();
    for &value in values {
        let key = ascending_key(value);
        if let Err(position) = distinct.binary_search(&key) {
            if distinct.len() == FEW {
                return None;
            }
            distinct.insert(position, key);
        }
    }
    let position = |&value: &f64| distinct.partition_point(|&key| key < ascending_key(value));
    let positions = values.iter().map(position).collect();
    Some((distinct, positions))
}

/// Returns each value's place among the distinct values, ascending, and how many of these there are.
pub(crate) fn groups(values: &[f64]) -> (Vec<usize>, usize) {
    if let Some((distinct, group_of)) = few_values(values) {
        return (group_of, distinct.len());
    }
    let groups = TieGroups::by_sorting(values);
    let n_groups = groups.n_groups();
    (groups.group_of, n_groups)
}

/// Observations sorted by value and cut into groups of equal values.
pub(crate) struct TieGroups {
    order: Vec<usize>,
    /// Where each group begins in `order`, and the end.
    starts: Vec<usize>,
    /// Each observation's group.
    pub(crate) group_of: Vec<usize>,
}

impl TieGroups {
    pub(crate) fn new(values: &[f64]) -> Self {
        Self::of_few_values(values).unwrap_or_else(|| Self::by_sorting(values))
    }

    /// Scores mostly take few values: then the groups are found by counting, without a sort.
    fn of_few_values(values: &[f64]) -> Option<Self> {
        let (distinct, group_of) = few_values(values)?;
        let mut starts = vec![0; distinct.len() + 1];
        for &group in &group_of {
            starts[group + 1] += 1;
        }
        for group_idx in 0..distinct.len() {
            starts[group_idx + 1] += starts[group_idx];
        }
        let mut next = starts.clone();
        let mut order = vec![0; values.len()];
        for (i, &group) in group_of.iter().enumerate() {
            order[next[group]] = i;
            next[group] += 1;
        }
        Some(Self { order, starts, group_of })
    }

    fn by_sorting(values: &[f64]) -> Self {
        let mut keys: Vec<(u64, usize)> = values.iter().map(|&value| ascending_key(value)).zip(0..).collect();
        keys.sort_unstable();
        let mut starts = Vec::new();
        let mut group_of = vec![0; values.len()];
        let mut previous = None;
        for (position, &(key, i)) in keys.iter().enumerate() {
            if previous != Some(key) {
                starts.push(position);
                previous = Some(key);
            }
            group_of[i] = starts.len() - 1;
        }
        starts.push(values.len());
        Self { order: keys.into_iter().map(|(_, i)| i).collect(), starts, group_of }
    }

    pub(crate) fn n_groups(&self) -> usize {
        self.starts.len() - 1
    }

    pub(crate) fn members(&self, group_idx: usize) -> &[usize] {
        &self.order[self.starts[group_idx]..self.starts[group_idx + 1]]
    }

    /// Returns each group's share of the weight.
    fn masses(&self, shares: &[f64]) -> Vec<f64> {
        let mass = |group_idx| self.members(group_idx).iter().map(|&i| shares[i]).sum();
        (0..self.n_groups()).map(mass).collect()
    }

    /// Returns each observation's midrank as a share of the total, less ½.
    fn centred_ranks(&self, shares: &[f64]) -> Vec<f64> {
        let mut below = 0.0;
        let ranks: Vec<f64> = self
            .masses(shares)
            .iter()
            .map(|mass| {
                below += mass;
                below - 0.5 * mass - 0.5
            })
            .collect();
        self.group_of.iter().map(|&group| ranks[group]).collect()
    }

    /// Returns, for each observation, Σ share·value over those above it plus half of that over its ties.
    fn mass_above(&self, shares: &[f64], values: &[f64]) -> Vec<f64> {
        let mut by_group = vec![0.0; self.n_groups()];
        let mut above = 0.0;
        for group_idx in (0..self.n_groups()).rev() {
            let own: f64 = self.members(group_idx).iter().map(|&i| shares[i] * values[i]).sum();
            by_group[group_idx] = above + 0.5 * own;
            above += own;
        }
        self.group_of.iter().map(|&group| by_group[group]).collect()
    }
}

/// Prefix sums under point updates. Fenwick 1994.
struct Fenwick {
    nodes: Vec<f64>,
    total: f64,
}

impl Fenwick {
    fn new(n: usize) -> Self {
        Self { nodes: vec![0.0; n + 1], total: 0.0 }
    }

    fn add(&mut self, position: usize, value: f64) {
        self.total += value;
        let mut node = position + 1;
        while node < self.nodes.len() {
            self.nodes[node] += value;
            node += node & node.wrapping_neg();
        }
    }

    /// Returns the sum over positions before `end`.
    fn sum_before(&self, end: usize) -> f64 {
        let mut node = end;
        let mut sum = 0.0;
        while node > 0 {
            sum += self.nodes[node];
            node &= node - 1;
        }
        sum
    }
}
