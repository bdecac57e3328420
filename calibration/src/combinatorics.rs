//! Averages over all k-subsets of n draws: exact, so that a figure at k repeats does not depend on which k were drawn.

use crate::distribution::binomial_point;

/// Returns the number of k-subsets of n things, as a real number; 0 when k > n.
#[must_use]
pub fn choose(n: usize, k: usize) -> f64 {
    if k > n {
        return 0.0;
    }
    let k = k.min(n - k);
    (0..k).fold(1.0, |product, idx| product * (n - idx) as f64 / (idx + 1) as f64)
}

/// Returns C(m, k)/C(n, k), m at most n, where either may be too large for a number.
fn share_of_subsets(m: usize, n: usize, k: usize) -> f64 {
    if m < k {
        return 0.0;
    }
    (0..k).map(|idx| (m - idx) as f64 / (n - idx) as f64).product()
}

/// Returns the probability that two draws without replacement differ: 1 − Σ c(c−1)/(n(n−1)).
///
/// `counts` are the draws of each answer. `None` with fewer than two draws.
#[must_use]
pub fn pair_flip_rate(counts: &[usize]) -> Option<f64> {
    let n: usize = counts.iter().sum();
    (n >= 2).then(|| {
        // Pairs that differ over all pairs: whole numbers, so that 0 stays 0 and equal counts give equal rates.
        let same: usize = counts.iter().map(|count| count * count.saturating_sub(1)).sum();
        (n * (n - 1) - same) as f64 / (n * (n - 1)) as f64
    })
}

/// Returns the expected share of the commonest answer among k draws, over all k-subsets.
///
/// `None` when k is 0 or there are fewer than k draws.
#[must_use]
pub fn expected_modal_share(counts: &[usize], k: usize) -> Option<f64> {
    let n: usize = counts.iter().sum();
    if k == 0 || n < k {
        return None;
    }
    let largest = counts.iter().copied().max().unwrap_or(0);
    if n == k {
        return Some(largest as f64 / k as f64);
    }
    // E[max] = Σ_t P(max > t); P(max ≤ t) counts the subsets that take at most t of each answer.
    let all = choose(n, k);
    // Beyond what a number can hold, every way is weighed with binomial probabilities instead: the factor cancels.
    let share = k as f64 / n as f64;
    let scaled = |count: usize, taken: usize| binomial_point(taken as u64, count as u64, share);
    let (all, is_scaled) = if all.is_finite() { (all, false) } else { (scaled(n, k), true) };
    let mut expected = 0.0;
    let mut ways = vec![0.0; k + 1];
    for most in 0..k.min(largest) {
        ways.fill(0.0);
        ways[0] = 1.0;
        for &count in counts {
            for taken in (0..=k).rev() {
                ways[taken] = (0..=most.min(taken).min(count))
                    .map(|from| {
                        let ways_of_count = if is_scaled { scaled(count, from) } else { choose(count, from) };
                        ways[taken - from] * ways_of_count
                    })
                    .sum();
            }
        }
        expected += 1.0 - ways[k] / all;
    }
    Some(expected / k as f64)
}

/// Returns the probability that k draws are not all the same, over all k-subsets. `None` with fewer than k draws.
#[must_use]
pub fn any_flip(counts: &[usize], k: usize) -> Option<f64> {
    let n: usize = counts.iter().sum();
    (k > 0 && n >= k).then(|| {
        if counts.contains(&n) {
            return 0.0;
        }
        let all = choose(n, k);
        let same: f64 = if all.is_finite() {
            counts.iter().map(|&count| choose(count, k)).sum::<f64>() / all
        } else {
            counts.iter().map(|&count| share_of_subsets(count, n, k)).sum()
        };
        1.0 - same
    })
}

/// Returns the probability that k draws span more than `points`, over all k-subsets of `sorted` draws.
///
/// Each subset within `points` is counted at its lowest draw: 1 − Σⱼ C(mⱼ, k−1)/C(n, k), with mⱼ the later draws at most
/// `points` (+ 1e−9, for scores such as 0.1 + 0.2) above draw j. `None` when k is 0 or there are fewer than k draws.
#[must_use]
pub fn span_exceeds(sorted: &[f64], k: usize, points: f64) -> Option<f64> {
    let n = sorted.len();
    if k == 0 || n < k {
        return None;
    }
    if sorted[n - 1] - sorted[0] <= points + 1e-9 {
        return Some(0.0);
    }
    let all = choose(n, k);
    let mut within = 0.0;
    let mut end = 0;
    for (idx, &low) in sorted.iter().enumerate() {
        while end < n && sorted[end] <= low + points + 1e-9 {
            end += 1;
        }
        let later = end - idx - 1;
        // C(m, k−1)/C(n, k) is C(m, k−1)/C(n−1, k−1) · k/n.
        within += if all.is_finite() {
            choose(later, k - 1) / all
        } else {
            share_of_subsets(later, n - 1, k - 1) * k as f64 / n as f64
        };
    }
    Some((1.0 - within).max(0.0))
}

/// Returns the mean absolute difference of two draws without replacement, from `sorted` draws. `None` with fewer than two.
#[must_use]
pub fn mean_absolute_difference(sorted: &[f64]) -> Option<f64> {
    let n = sorted.len();
    (n >= 2).then(|| {
        let sum: f64 =
            sorted.iter().enumerate().map(|(rank, value)| (2.0 * rank as f64 + 1.0 - n as f64) * value).sum();
        // Equal draws leave a rounding error of either sign.
        if sorted[0].total_cmp(&sorted[n - 1]).is_eq() { 0.0 } else { 2.0 * sum / (n * (n - 1)) as f64 }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected modal shares at p = ½ that show why k must be stated.
    #[test]
    fn expected_modal_share_falls_with_k_on_an_even_split() {
        let counts = [1_000_000, 1_000_000];
        for (k, share) in [(3, 0.75), (5, 0.6875), (10, 0.623_046_875)] {
            let got = expected_modal_share(&counts, k).unwrap();
            assert!((got - share).abs() < 1e-4, "k = {k}: {got}");
        }
    }

    #[test]
    fn k_subsets_agree_with_enumeration() {
        let draws = [1.0, 1.0, 2.0, 2.5, 4.0, 4.0, 4.0];
        let counts = [2, 1, 1, 3];
        for k in 1..=7 {
            let (mut n, mut modal, mut any, mut span) = (0.0, 0.0, 0.0, 0.0);
            for mask in 0_u32..128 {
                let subset: Vec<f64> = (0..7).filter(|bit| mask >> bit & 1 == 1).map(|bit| draws[bit]).collect();
                if subset.len() != k {
                    continue;
                }
                let most =
                    subset.iter().map(|a| subset.iter().filter(|b| a.total_cmp(b).is_eq()).count()).max().unwrap();
                n += 1.0;
                modal += most as f64 / k as f64;
                any += f64::from(u8::from(most < k));
                span += f64::from(u8::from(subset[k - 1] - subset[0] > 1.0 + 1e-9));
            }
            assert!((expected_modal_share(&counts, k).unwrap() - modal / n).abs() < 1e-12);
            assert!((any_flip(&counts, k).unwrap() - any / n).abs() < 1e-12);
            assert!((span_exceeds(&draws, k, 1.0).unwrap() - span / n).abs() < 1e-12);
        }
        assert_eq!(span_exceeds(&draws, 8, 1.0), None);
    }

    /// C(4000, 400) is beyond any floating-point number.
    #[test]
    fn subsets_too_many_to_count_give_the_same_shares() {
        let (n, k) = (4000, 400);
        assert!(choose(n, k).is_infinite());
        assert!((any_flip(&[n - 1, 1], k).unwrap() - 0.1).abs() < 1e-12);
        let mut sorted = vec![1.0; n - 1];
        sorted.push(9.0);
        assert!((span_exceeds(&sorted, k, 1.0).unwrap() - 0.1).abs() < 1e-9);
    }

    #[test]
    fn pairs_agree_with_enumeration() {
        let draws: [f64; 5] = [1.0, 1.0, 2.0, 2.5, 4.0];
        let (mut n, mut flips, mut difference) = (0.0, 0.0, 0.0);
        for (idx, a) in draws.iter().enumerate() {
            for b in &draws[idx + 1..] {
                n += 1.0;
                flips += f64::from(u8::from((a - b).abs() > 0.0));
                difference += (a - b).abs();
            }
        }
        assert!((pair_flip_rate(&[2, 1, 1, 1]).unwrap() - flips / n).abs() < 1e-15);
        assert!((mean_absolute_difference(&draws).unwrap() - difference / n).abs() < 1e-15);
        assert_eq!(pair_flip_rate(&[1]), None);
    }
}
