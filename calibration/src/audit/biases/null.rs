//! What chance alone would show: seeded permutation tests, cheap for many items.
//!
//! Where swapping, or relabelling, would leave the answers of an item as likely as they are, the signs of clusters' contributions are
//! as likely to be turned as not. All turns are gone through where there are few, else a seeded sample of them is drawn; the
//! p value counts the data themselves among these, `(b + 1) / (n + 1)`, so that it is never 0.
//!
//! Sources: Fisher 1935; Phipson & Smyth 2010; for contributions to regression coefficients Hemerik, Goeman & Finos 2020.

use std::collections::BTreeMap;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::distribution::{binomial_point, normal_cdf};

use super::super::estimate::Estimated;

/// How many turns are drawn.
const N_PERMUTATIONS: u32 = 1_999;
/// Up to so many clusters, all turns are gone through.
const MOST_ENUMERATED: usize = 12;
/// Beyond so many contributions, none of which counts for much, the sum is as good as normal.
const MOST_DRAWN: usize = 20_000;
/// The largest share that one contribution may have in the variance of a sum that is taken as normal.
const MOST_OF_VARIANCE: f64 = 1e-3;
/// The most ways of dealing out answers that are kept.
const MOST_WAYS: u64 = 4_000_000;
/// Sums that differ by less than this, relative to what is summed, are equal.
const ROUNDING: f64 = 1e-12;

/// A p value under the null of no effect, and how it was come by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Null {
    pub p: f64,
    /// Permutations looked at; 0 where their normal limit stands for them.
    pub n: u32,
}

impl Null {
    pub(crate) fn details(self, value: Estimated) -> Estimated {
        value.detail("p_permutation", self.p).detail("n_permutations", f64::from(self.n))
    }
}

/// Returns the two-sided p value of contributions whose signs mean nothing under the null. `None` without contributions.
///
/// Those of a cluster are summed and turned together; a cluster's must follow one another, as units do.
pub(crate) fn sign_flip(contributions: impl Iterator<Item = (u32, f64)>, seed: u64, stream: u64) -> Option<Null> {
    let mut sums: Vec<f64> = Vec::new();
    let mut last = None;
    for (cluster, value) in contributions {
        match sums.last_mut() {
            Some(sum) if last == Some(cluster) => *sum += value,
            _ => sums.push(value),
        }
        last = Some(cluster);
    }
    if sums.is_empty() || sums.iter().any(|sum| !sum.is_finite()) {
        return None;
    }
    let observed: f64 = sums.iter().sum::<f64>().abs();
    let most: f64 = sums.iter().map(|sum| sum.abs()).sum();
    if !most.is_finite() {
        return None;
    }
    let least = observed - ROUNDING * most;
    sums.retain(|sum| sum.abs() > ROUNDING * most);
    if sums.is_empty() {
        return Some(Null { p: 1.0, n: 1 });
    }
    if sums.len() <= MOST_ENUMERATED {
        return Some(all_turns(&sums, least));
    }
    let variance: f64 = sums.iter().map(|sum| sum * sum).sum();
    let is_even = sums.iter().all(|sum| sum * sum <= MOST_OF_VARIANCE * variance);
    if sums.len() > MOST_DRAWN && is_even && variance.is_finite() {
        return Some(Null { p: (2.0 * normal_cdf(-observed / variance.sqrt())).clamp(f64::MIN_POSITIVE, 1.0), n: 0 });
    }
    // Contributions of one size are turned by counting bits.
    let mut sizes: BTreeMap<u64, u32> = BTreeMap::new();
    for sum in &sums {
        *sizes.entry(sum.abs().to_bits()).or_insert(0) += 1;
    }
    let sizes: Vec<(f64, u32)> = sizes.into_iter().map(|(bits, n)| (f64::from_bits(bits), n)).collect();
    let mut bits = Bits::new(seed, stream);
    let is_as_large = |_| sizes.iter().map(|&(size, n)| size * bits.net(n)).sum::<f64>().abs() >= least;
    let n_as_large = (0..N_PERMUTATIONS).map(is_as_large).filter(|is| *is).count();
    Some(drawn(n_as_large))
}

fn drawn(n_as_large: usize) -> Null {
    Null { p: (n_as_large as f64 + 1.0) / (f64::from(N_PERMUTATIONS) + 1.0), n: N_PERMUTATIONS }
}

/// Goes through all turns of signs, the data's own among them.
fn all_turns(sums: &[f64], least: f64) -> Null {
    let n = 1_u32 << sums.len();
    let sum = |turns: &u32| {
        let turned = |idx: usize| if turns >> idx & 1 == 1 { -sums[idx] } else { sums[idx] };
        (0..sums.len()).map(turned).sum::<f64>()
    };
    let n_as_large = (0..n).filter(|turns| sum(turns).abs() >= least).count();
    Null { p: n_as_large as f64 / f64::from(n), n }
}

/// Fair coins, many at a time.
struct Bits {
    rng: ChaCha8Rng,
    left: u64,
    n_left: u32,
}

impl Bits {
    fn new(seed: u64, stream: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(stream);
        Self { rng, left: 0, n_left: 0 }
    }

    /// Returns heads less tails of `n` coins.
    fn net(&mut self, n: u32) -> f64 {
        let (mut heads, mut wanted) = (0_u32, n);
        while wanted > 0 {
            if self.n_left == 0 {
                (self.left, self.n_left) = (self.rng.next_u64(), u64::BITS);
            }
            let taken = wanted.min(self.n_left);
            let mask = if taken == u64::BITS { u64::MAX } else { (1 << taken) - 1 };
            heads += (self.left & mask).count_ones();
            self.left = self.left.checked_shr(taken).unwrap_or(0);
            self.n_left -= taken;
            wanted -= taken;
        }
        2.0 * f64::from(heads) - f64::from(n)
    }
}

/// What an item's answers in two orders may look like, were the order to mean nothing: every way to deal them out.
struct Deals {
    /// The value of each deal, and the probability of it or one before it.
    values: Vec<f64>,
    cumulated: Vec<f64>,
    mean: f64,
    variance: f64,
}

/// An item's answers: how many there are of each kind, and how many of them in the first order.
type Answers = ([u32; 3], u32);

/// Returns the one-sided p value of a sum over items of `value(first order's counts, second's)`, where all of an item's answers could
/// have come in either order. Items are independent. `None` without items, or where so many repeats differ that there are more than
/// four million ways.
pub(crate) fn dealt(
    items: &[(Answers, f64)],
    observed: f64,
    value: impl Fn([f64; 3], [f64; 3]) -> f64,
    seed: u64,
    stream: u64,
) -> Option<Null> {
    if items.is_empty() {
        return None;
    }
    let kinds: std::collections::BTreeSet<Answers> = items.iter().map(|(answers, _)| *answers).collect();
    let n_ways = |([a, b, _], n_first): &Answers| u64::from((*a).min(*n_first) + 1) * u64::from((*b).min(*n_first) + 1);
    if kinds.iter().map(n_ways).sum::<u64>() > MOST_WAYS {
        return None;
    }
    let mut known: BTreeMap<Answers, usize> = BTreeMap::new();
    let mut deals: Vec<Deals> = Vec::new();
    let of_item: Vec<(usize, f64)> = items
        .iter()
        .map(|(answers, weight)| {
            let idx = *known.entry(*answers).or_insert_with(|| {
                deals.push(Deals::new(*answers, &value));
                deals.len() - 1
            });
            (idx, *weight)
        })
        .collect();
    // Items that can be dealt in one way only add the same to every sum.
    let fixed: f64 =
        of_item.iter().filter(|(idx, _)| deals[*idx].values.len() == 1).map(|(idx, w)| w * deals[*idx].mean).sum();
    let free: Vec<(usize, f64)> = of_item.into_iter().filter(|(idx, _)| deals[*idx].values.len() > 1).collect();
    let most: f64 = observed.abs() + fixed.abs() + free.iter().map(|(_, weight)| weight).sum::<f64>();
    let least = observed - fixed - ROUNDING * most;
    if free.len() > MOST_DRAWN {
        let mean: f64 = free.iter().map(|(idx, weight)| weight * deals[*idx].mean).sum();
        let variance: f64 = free.iter().map(|(idx, weight)| weight * weight * deals[*idx].variance).sum();
        return Some(Null { p: normal_cdf((mean - least) / variance.sqrt()).max(f64::MIN_POSITIVE), n: 0 });
    }
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(stream);
    let mut sum = || free.iter().map(|(idx, weight)| weight * deals[*idx].draw(&mut rng)).sum::<f64>();
    Some(drawn((0..N_PERMUTATIONS).filter(|_| sum() >= least).count()))
}

impl Deals {
    fn new((answers, n_first): Answers, value: impl Fn([f64; 3], [f64; 3]) -> f64) -> Self {
        let [n_a, n_b, n_tie] = answers;
        // The share of the first order in each factor cancels; it keeps large numbers of ways apart from infinity.
        let share = f64::from(n_first) / f64::from(n_a + n_b + n_tie);
        let ways = |n: u32, k: u32| binomial_point(u64::from(k), u64::from(n), share);
        let mut deals = Self { values: Vec::new(), cumulated: Vec::new(), mean: 0.0, variance: 0.0 };
        let (mut total, mut squares) = (0.0, 0.0);
        for a in 0..=n_a.min(n_first) {
            for b in 0..=n_b.min(n_first - a) {
                let tie = n_first - a - b;
                if tie > n_tie {
                    continue;
                }
                let probability = ways(n_a, a) * ways(n_b, b) * ways(n_tie, tie);
                let first = [a, b, tie].map(f64::from);
                let second = [n_a - a, n_b - b, n_tie - tie].map(f64::from);
                let value = value(first, second);
                total += probability;
                deals.mean += probability * value;
                squares += probability * value * value;
                deals.values.push(value);
                deals.cumulated.push(total);
            }
        }
        deals.cumulated.iter_mut().for_each(|known| *known /= total);
        deals.mean /= total;
        squares /= total;
        deals.variance = (squares - deals.mean * deals.mean).max(0.0);
        deals
    }

    fn draw(&self, rng: &mut ChaCha8Rng) -> f64 {
        use rand::RngExt as _;
        let at: f64 = rng.random();
        let idx = self.cumulated.partition_point(|known| *known <= at);
        self.values[idx.min(self.values.len() - 1)]
    }
}
