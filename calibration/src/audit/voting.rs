//! What voting would do: the majority of k draws, averaged over all k-subsets of the draws there are.
//!
//! Every k uses the same items, those with at least `k_max` draws, and subsets are drawn before unparsed replies are
//! set aside. The tie rule is stated, since it can look like a gain of voting: a tied vote on accept or reject rejects;
//! a tied vote on anything else counts for each of the tied answers in equal parts.

use rayon::prelude::*;

use crate::combinatorics::choose;
use crate::judgement::OutcomeKind;

use super::AuditConfig;
use super::estimate::Values;
use super::result::{Measure, Voting, VotingPoint};
use super::table::{Subject, Table, Unit, is};
use super::truth::Accepts;

/// The most draws considered when answers are of two kinds only.
const MOST_DRAWS_TWO_ANSWERS: usize = 51;
/// The most draws considered.
const MOST_DRAWS: usize = 25;
/// The most draws considered when an item got many different answers: subsets are enumerated by counts.
const MOST_DRAWS_MANY_ANSWERS: usize = 9;

/// The most pairs of draws that are enumerated for the flip rate of votes; beyond it, the rate is left out.
const MOST_PAIRS_OF_DRAWS: f64 = 50_000.0;

/// What a vote of k ends in, over all k-subsets of one cell.
#[derive(Clone, Debug, Default)]
struct Outcome {
    /// Probability that the vote goes to each answer, in the order of the counts given; tied votes in parts.
    wins: Vec<f64>,
    /// Probability of a tie before the tie rule.
    tie: f64,
    /// Probability that no drawn reply was parsed.
    empty: f64,
    /// Probability that two disjoint votes of k differ. `None` when there are no 2k draws, or too many ways to take them.
    flip: Option<f64>,
}

/// A cell's counts: parsed answers by category, and unparsed replies.
type Counts = (Vec<usize>, usize);

/// How ties are settled: in favour of the answer at this place of the counts, or in equal parts.
type TieRule = Option<usize>;

/// Returns the winner's shares of one vote, and whether it was tied.
fn settle(votes: &[usize], rule: TieRule) -> (Vec<f64>, bool) {
    let most = votes.iter().copied().max().unwrap_or(0);
    let tied = votes.iter().filter(|&&count| count == most).count();
    let shares = votes.iter().enumerate().map(|(idx, &count)| match rule {
        Some(favoured) if tied > 1 => f64::from(u8::from(idx == favoured)),
        _ if count == most => 1.0 / tied as f64,
        _ => 0.0,
    });
    (shares.collect(), tied > 1)
}

/// Calls `visit` with every way to take `k` of `counts` (unparsed last), and how many subsets take it so.
fn each_draw(counts: &[usize], k: usize, visit: &mut dyn FnMut(&[usize], f64)) {
    fn recurse(counts: &[usize], left: usize, taken: &mut Vec<usize>, ways: f64, visit: &mut dyn FnMut(&[usize], f64)) {
        let Some((&count, rest)) = counts.split_first() else {
            if left == 0 {
                visit(taken, ways);
            }
            return;
        };
        let room: usize = rest.iter().sum();
        for take in left.saturating_sub(room)..=count.min(left) {
            taken.push(take);
            recurse(rest, left - take, taken, ways * choose(count, take), visit);
            taken.pop();
        }
    }
    recurse(counts, k, &mut Vec::with_capacity(counts.len()), 1.0, visit);
}

fn vote((counts, n_unparsed): &Counts, k: usize, rule: TieRule) -> Outcome {
    let mut all = counts.clone();
    all.push(*n_unparsed);
    let n: usize = all.iter().sum();
    let total = choose(n, k);
    let mut outcome = Outcome { wins: vec![0.0; counts.len()], ..Outcome::default() };
    each_draw(&all, k, &mut |taken, ways| {
        let (votes, p) = (&taken[..counts.len()], ways / total);
        if votes.iter().all(|&count| count == 0) {
            outcome.empty += p;
            return;
        }
        let (shares, tied) = settle(votes, rule);
        outcome.wins.iter_mut().zip(shares).for_each(|(win, share)| *win += p * share);
        outcome.tie += if tied { p } else { 0.0 };
    });
    // Ways to take k of each kind of answer, and as many for the second vote.
    let n_draws = choose(k + all.len() - 1, k);
    if 2 * k <= n && n_draws * n_draws <= MOST_PAIRS_OF_DRAWS {
        outcome.flip = disjoint_flip(&all, k, rule);
    }
    outcome
}

/// Returns the probability that the majorities of two disjoint k-subsets differ, among those that both have one.
fn disjoint_flip(all: &[usize], k: usize, rule: TieRule) -> Option<f64> {
    let (mut same, mut both) = (0.0, 0.0);
    each_draw(all, k, &mut |first, ways| {
        let (votes, _) = first.split_at(all.len() - 1);
        if votes.iter().all(|&count| count == 0) {
            return;
        }
        let (shares, _) = settle(votes, rule);
        let left: Vec<usize> = all.iter().zip(first).map(|(count, taken)| count - taken).collect();
        each_draw(&left, k, &mut |second, more| {
            let (others, _) = second.split_at(all.len() - 1);
            if others.iter().any(|&count| count > 0) {
                let (other, _) = settle(others, rule);
                both += ways * more;
                same += ways * more * shares.iter().zip(other).map(|(x, y)| x * y).sum::<f64>();
            }
        });
    });
    (both > 0.0).then(|| (1.0 - same / both).max(0.0))
}

/// Returns the counts of a cell's answers in a fixed order of categories, each paired with its code.
fn counts_of(subject: &Subject, cell: &super::table::Cell, accepts: Option<Accepts>) -> (Vec<f64>, Counts) {
    if let Some(accepts) = accepts {
        let n_accept = subject.parsed(cell).filter(|draw| accepts.accepts(*draw)).count();
        return (vec![0.0, 1.0], (vec![cell.n_parsed() - n_accept, n_accept], cell.n_unparsed));
    }
    let mut draws: Vec<f64> = subject.parsed(cell).collect();
    draws.sort_unstable_by(f64::total_cmp);
    let runs: Vec<&[f64]> = draws.chunk_by(|a, b| a.total_cmp(b).is_eq()).collect();
    (runs.iter().map(|run| run[0]).collect(), (runs.iter().map(|run| run.len()).collect(), cell.n_unparsed))
}

/// Returns the k considered: odd, and as many as nine tenths of the repeated units allow.
fn draws_considered(subject: &Subject, units: &[Unit], can_be_many: bool) -> Option<usize> {
    let mut lengths = Vec::new();
    let mut answers: usize = 2;
    for unit in units {
        lengths.push(subject.cells_of(unit).iter().map(super::table::Cell::len).min().unwrap_or(0));
        if can_be_many {
            for cell in subject.cells_of(unit) {
                answers = answers.max(counts_of(subject, cell, None).0.len());
            }
        }
    }
    if lengths.is_empty() {
        return None;
    }
    lengths.sort_unstable();
    let reached = lengths[lengths.len() / 10];
    let reached = if reached < 3 { lengths[lengths.len() / 2] } else { reached };
    let most = match answers {
        ..=2 => MOST_DRAWS_TWO_ANSWERS,
        3..=4 => MOST_DRAWS,
        _ => MOST_DRAWS_MANY_ANSWERS,
    };
    let k_max = reached.min(most);
    (k_max >= 3).then_some(if k_max.is_multiple_of(2) { k_max - 1 } else { k_max })
}

/// Returns the voting curve of a judge whose answers can be counted, or `None` when items have under three draws.
pub(crate) fn voting(table: &Table<'_>, subject: &Subject, config: &AuditConfig) -> Option<Voting> {
    let accepts = Accepts::of(table, config);
    if table.kind == OutcomeKind::Score && accepts.is_none() {
        return super::ranking::voting(table, subject, config);
    }
    let k_max = draws_considered(subject, &subject.units, table.kind == OutcomeKind::Category)?;
    let rule: TieRule = accepts.map(|_| 0);
    let is_enough = |unit: &&Unit| subject.cells_of(unit).iter().all(|cell| cell.len() >= k_max);
    let units: Vec<&Unit> = subject.units.iter().filter(is_enough).collect();
    let patterns = Patterns::new(subject, &units, accepts);
    let draws: Vec<usize> = (1..=k_max).step_by(2).collect();
    let found: Vec<(VotingPoint, Vec<f64>)> =
        draws.par_iter().map(|&k| point(subject, &units, &patterns, accepts, k, rule, config.level)).collect();
    let mut gained = Values::default();
    let ends = found.first().zip(found.last());
    for ((unit, one), most) in ends.into_iter().flat_map(|((_, one), (_, most))| units.iter().zip(one).zip(most)) {
        if !one.is_nan() && !most.is_nan() {
            let n = subject.cells_of(unit).iter().map(super::table::Cell::len).sum();
            gained.push(unit, most - one, n);
        }
    }
    let points = found.into_iter().map(|(point, _)| point).collect();
    let tie_rule = if accepts.is_some() {
        "a tied vote rejects"
    } else {
        "a tied vote counts for each of the tied answers in equal parts"
    };
    Some(Voting {
        tie_rule: tie_rule.to_owned(),
        k_max: u32::try_from(k_max).expect("few draws are considered"),
        n_items: units.len() as u64,
        n_items_left_out: (subject.units.len() - units.len()) as u64,
        points,
        gain: gain(&gained, k_max, config.level),
    })
}

/// Returns what a vote of `k` gains over one draw, from the differences of units.
pub(super) fn gain(gained: &Values, k: usize, level: f64) -> Option<Measure> {
    let definition = format!("accuracy of a vote of {k} less that of one draw, item by item");
    (!gained.is_empty() && k > 1)
        .then(|| gained.mean(&definition, [-1.0, 1.0], None))?
        .map(|value| value.measure(level))
}

/// The distinct counts of answers that cells have: a vote is worked out once for each.
struct Patterns {
    distinct: Vec<(Vec<f64>, Counts)>,
    /// By unit and cell, in order.
    of_cell: Vec<u32>,
}

impl Patterns {
    fn new(subject: &Subject, units: &[&Unit], accepts: Option<Accepts>) -> Self {
        let mut patterns = Self { distinct: Vec::new(), of_cell: Vec::with_capacity(units.len()) };
        // Sorted draws with accepting ones as 1 and unparsed ones last say all that a vote depends on.
        let mut known: hashbrown::HashMap<Vec<u64>, u32, foldhash::fast::RandomState> = hashbrown::HashMap::default();
        let mut key: Vec<u64> = Vec::new();
        for cell in units.iter().flat_map(|unit| subject.cells_of(unit)) {
            key.clear();
            key.extend(subject.draws[cell.draws.clone()].iter().map(|draw| match accepts {
                Some(accepts) if !draw.is_nan() => u64::from(accepts.accepts(*draw)),
                _ => draw.to_bits(),
            }));
            key.sort_unstable();
            let idx = known.get(key.as_slice()).copied().unwrap_or_else(|| {
                let idx = u32::try_from(patterns.distinct.len()).expect("patterns are fewer than rows");
                patterns.distinct.push(counts_of(subject, cell, accepts));
                known.insert(key.clone(), idx);
                idx
            });
            patterns.of_cell.push(idx);
        }
        patterns
    }
}

/// Returns what a vote of `k` would do, and the share of right votes on each unit; NaN where there is none.
fn point(
    subject: &Subject,
    units: &[&Unit],
    patterns: &Patterns,
    accepts: Option<Accepts>,
    k: usize,
    rule: TieRule,
    level: f64,
) -> (VotingPoint, Vec<f64>) {
    let outcomes: Vec<Outcome> = patterns.distinct.iter().map(|(_, counts)| vote(counts, k, rule)).collect();
    let [mut accuracy, mut false_accepts, mut false_rejects, mut flips] = [(); 4].map(|()| Values::default());
    let (mut ties, mut empty, mut n_cells) = (0.0, 0.0, 0.0);
    let mut of_cell = patterns.of_cell.iter();
    let mut shares = Vec::with_capacity(units.len());
    for unit in units {
        let truth =
            if accepts.is_some() { unit.truth.good.map(|good| f64::from(u8::from(good))) } else { unit.truth.value };
        let (mut right, mut voted, mut flip) = (0.0, 0.0, (0.0, 0.0));
        let n: usize = subject.cells_of(unit).iter().map(super::table::Cell::len).sum();
        for &pattern in of_cell.by_ref().take(unit.cells.len()) {
            let ((codes, _), outcome) = (&patterns.distinct[pattern as usize], &outcomes[pattern as usize]);
            n_cells += 1.0;
            ties += outcome.tie;
            empty += outcome.empty;
            if let Some(differs) = outcome.flip {
                flip = (flip.0 + differs, flip.1 + 1.0);
            }
            if outcome.empty < 1.0 - 1e-12 {
                voted += 1.0;
                let is_truth = |(code, _): &(&f64, &f64)| truth.is_some_and(|truth| is(**code, truth));
                let won: f64 = codes.iter().zip(&outcome.wins).filter(is_truth).map(|(_, win)| win).sum();
                right += (won / (1.0 - outcome.empty)).min(1.0);
            }
        }
        if flip.1 > 0.0 {
            flips.push(unit, flip.0 / flip.1, n);
        }
        shares.push(f64::NAN);
        if voted > 0.0 && truth.is_some() {
            let share = right / voted;
            if let Some(last) = shares.last_mut() {
                *last = share;
            }
            accuracy.push(unit, share, n);
            match unit.truth.good.filter(|_| accepts.is_some()) {
                Some(true) => false_rejects.push(unit, 1.0 - share, n),
                Some(false) => false_accepts.push(unit, 1.0 - share, n),
                None => {}
            }
        }
    }
    let rate = |values: &Values, what: &str| {
        let method = format!("{what} of a vote of {k}, over all {k}-subsets, mean over items");
        values.proportion(&method).map(|value| value.measure(level))
    };
    let point = VotingPoint {
        k: u32::try_from(k).expect("few draws are considered"),
        accuracy: rate(&accuracy, "accuracy"),
        false_accept_rate: rate(&false_accepts, "false accepts"),
        false_reject_rate: rate(&false_rejects, "false rejects"),
        flip_rate: rate(&flips, "probability that another vote on other draws differs"),
        tie_share: if n_cells > 0.0 { ties / n_cells } else { 0.0 },
        empty_share: if n_cells > 0.0 { empty / n_cells } else { 0.0 },
    };
    (point, shares)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Votes by counting every subset of labelled draws.
    fn enumerated(draws: &[Option<usize>], n_answers: usize, k: usize, rule: TieRule) -> Outcome {
        let mut outcome = Outcome { wins: vec![0.0; n_answers], ..Outcome::default() };
        let mut n = 0.0;
        for mask in 0_u32..1 << draws.len() {
            if mask.count_ones() as usize != k {
                continue;
            }
            n += 1.0;
            let mut votes = vec![0; n_answers];
            for (_, draw) in draws.iter().enumerate().filter(|(bit, _)| mask >> bit & 1 == 1) {
                if let Some(answer) = draw {
                    votes[*answer] += 1;
                }
            }
            if votes.iter().sum::<usize>() == 0 {
                outcome.empty += 1.0;
                continue;
            }
            let (shares, tied) = settle(&votes, rule);
            outcome.wins.iter_mut().zip(shares).for_each(|(win, share)| *win += share);
            outcome.tie += f64::from(u8::from(tied));
        }
        outcome.wins.iter_mut().for_each(|win| *win /= n);
        outcome.tie /= n;
        outcome.empty /= n;
        outcome
    }

    #[test]
    fn votes_over_counts_equal_votes_over_every_subset() {
        let draws = [Some(0), Some(0), Some(1), Some(1), Some(2), None, None];
        for rule in [None, Some(0)] {
            for k in 1..=7 {
                let (got, want) = (vote(&(vec![2, 2, 1], 2), k, rule), enumerated(&draws, 3, k, rule));
                assert!(got.wins.iter().zip(&want.wins).all(|(x, y)| (x - y).abs() < 1e-12), "{k}: {got:?} {want:?}");
                assert!((got.tie - want.tie).abs() < 1e-12 && (got.empty - want.empty).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn a_vote_of_one_flips_as_often_as_two_draws_differ() {
        let outcome = vote(&(vec![3, 2], 0), 1, Some(0));
        assert!((outcome.flip.unwrap() - crate::combinatorics::pair_flip_rate(&[3, 2]).unwrap()).abs() < 1e-12);
        assert!(vote(&(vec![3, 2], 0), 3, Some(0)).flip.is_none());
    }
}
