//! The answers of both times to the same question, and exchanges of them.

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;

use super::super::table::{Subject, Unit};
use crate::judgement::OutcomeKind;

/// One item in one condition, answered both times.
pub(super) struct Pair {
    /// Its unit, by its place among the shared ones.
    pub unit: usize,
    /// Its weight in means: the share of a unit that it is.
    pub weight: f64,
    /// Distinct answers, ascending, unparsed (NaN) last.
    pub levels: Vec<f64>,
    /// All answers, as places among the levels: first those before, then those now.
    pub answers: Vec<u16>,
    /// How many were before.
    pub n_before: usize,
}

impl Pair {
    pub(super) fn n_now(&self) -> usize {
        self.answers.len() - self.n_before
    }

    /// Whether exchanging answers can change anything.
    pub(super) fn varies(&self) -> bool {
        self.levels.len() > 1
    }

    /// Whether exchanging answers tells a change of answers from noise: with one answer each time it changes sides only.
    pub(super) fn is_repeated(&self) -> bool {
        self.answers.len() > 2
    }
}

/// Most different answers of one cell that are kept apart.
const MOST_LEVELS: usize = u16::MAX as usize;

/// Returns all conditions of the shared units that were answered both times.
pub(super) fn pairs(before: &Subject, now: &Subject, shared: &[(&Unit, &Unit)]) -> Vec<Pair> {
    let mut pairs: Vec<Pair> = Vec::new();
    for (unit_idx, (old_unit, new_unit)) in shared.iter().enumerate() {
        let first = pairs.len();
        for old in before.cells_of(old_unit) {
            let key = |cell: &super::super::table::Cell| (cell.anchor_set, cell.order, cell.place);
            let Some(new) = now.cells_of(new_unit).iter().find(|cell| key(cell) == key(old)) else { continue };
            let draws = [&before.draws[old.draws.clone()], &now.draws[new.draws.clone()]];
            let mut levels: Vec<f64> = draws.iter().flat_map(|draws| draws.iter().copied()).collect();
            levels.sort_unstable_by(f64::total_cmp);
            levels.dedup_by(|a, b| a.total_cmp(b).is_eq());
            if levels.len() > MOST_LEVELS {
                continue;
            }
            let place = |draw: &f64| {
                let at = levels.partition_point(|level| level.total_cmp(draw).is_lt());
                u16::try_from(at).expect("levels are few")
            };
            let answers = draws.iter().flat_map(|draws| draws.iter().map(place)).collect();
            pairs.push(Pair { unit: unit_idx, weight: 0.0, levels, answers, n_before: draws[0].len() });
        }
        let n = (pairs.len() - first) as f64;
        pairs[first..].iter_mut().for_each(|pair| pair.weight = 1.0 / n);
    }
    pairs
}

/// How far answers may be apart, and what they count for in the figures.
pub(super) struct Scoring {
    pub kind: OutcomeKind,
    /// Width of the scale, for scores.
    pub width: f64,
}

impl Scoring {
    /// Returns how far the two times are apart in their shares of answers, weighted so that cells with more answers count more: kk′/(k + k′)
    /// times Σ (p − p′)² over answers, or over scores twice the squared distance of their distribution functions (the energy distance of
    /// Székely & Rizzo 2013) and of their unparsed shares. `counts` are of each level, before and now.
    pub(super) fn apart(&self, pair: &Pair, counts: &[[u32; 2]]) -> f64 {
        let (k, l) = (pair.n_before as f64, pair.n_now() as f64);
        let weight = k * l / (k + l);
        if self.kind != OutcomeKind::Score {
            return weight
                * counts.iter().map(|[old, new]| (f64::from(*old) / k - f64::from(*new) / l).powi(2)).sum::<f64>();
        }
        let n_parsed = pair.levels.partition_point(|level| !level.is_nan());
        let sum = |side: usize| counts[..n_parsed].iter().map(|count| f64::from(count[side])).sum::<f64>();
        let (old, new) = (sum(0), sum(1));
        let unparsed = (1.0 - old / k) - (1.0 - new / l);
        let mut apart = unparsed * unparsed;
        if old > 0.0 && new > 0.0 {
            let (mut below_old, mut below_new) = (0.0, 0.0);
            for (idx, step) in pair.levels[..n_parsed].windows(2).enumerate() {
                below_old += f64::from(counts[idx][0]) / old;
                below_new += f64::from(counts[idx][1]) / new;
                apart += 2.0 * (below_old - below_new).powi(2) * (step[1] - step[0]) / self.width;
            }
        }
        weight * apart
    }

    /// Returns the distance of two answers, 0..=1.
    pub(super) fn distance(&self, a: f64, b: f64) -> f64 {
        if self.kind == OutcomeKind::Score && !a.is_nan() && !b.is_nan() {
            ((a - b).abs() / self.width).min(1.0)
        } else {
            f64::from(u8::from(a.total_cmp(&b).is_ne()))
        }
    }
}

/// Counts each level before and now.
pub(super) fn count(pair: &Pair, answers: &[u16], counts: &mut Vec<[u32; 2]>) {
    counts.clear();
    counts.resize(pair.levels.len(), [0; 2]);
    for (idx, answer) in answers.iter().enumerate() {
        counts[usize::from(*answer)][usize::from(idx >= pair.n_before)] += 1;
    }
}

/// Draws anew which answers were before.
pub(super) fn exchange(rng: &mut ChaCha8Rng, pair: &Pair, answers: &mut Vec<u16>) {
    answers.clear();
    answers.extend_from_slice(&pair.answers);
    for idx in 0..pair.n_before {
        let other = rng.random_range(idx..answers.len());
        answers.swap(idx, other);
    }
}
