//! Answers drawn afresh from what a judge was seen to answer: the same items judged again, or other items like them.
//!
//! Each cell (item × order) answers again by its own observed answers. A few answers understate noise: a cell that said
//! "accept" three times of three would never say anything else, though such cells do. So an answer is with probability
//! k/(k + α) one of the cell's own k answers, and else one of a cell *like it*: with the same label, order, criterion and usual
//! answer (or, where those hold less noise than was measured, whatever their usual answer). Those pools keep every rate where it was measured. α is the value at which two redrawn answers differ as often as
//! two measured ones do (the flip rate, which has no bias), so that the redrawn noise is the measured one. This is the mean
//! of a Dirichlet posterior whose prior was fitted to the data (empirical Bayes; Efron & Morris 1973), its strength by moments.
//!
//! Scores with more than [`MOST_CODES`] values keep their cell's mean, and the deviations are widened by √(k/(k−1)).
//!
//! Nothing is measured or decided here.

use std::collections::BTreeMap;

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;

use crate::judgement::OutcomeKind;

use crate::audit::data::table::{Cell, Subject, Table, Unit};

/// Answers that are counted as kinds; with more of them scores count as continuous.
pub(crate) const MOST_CODES: usize = 50;
/// Beyond this a cell's own answers count for nothing.
const MOST_CONCENTRATION: f64 = 1e4;

/// What is known of how a cell answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shares {
    /// Its shares are as estimated.
    Known,
    /// They are known from the answers seen only: each answer drawn also teaches (Pólya's urn), as the posterior has it.
    Uncertain,
}

/// How often a cell is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repeats {
    /// So many times as often as in the log.
    Times(usize),
    /// So often, each cell.
    Each(usize),
}

/// Which orders are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Orders {
    /// All that the log has.
    All,
    /// One of those an item has, drawn anew for each.
    One,
}

/// A judge's answers, ready to be drawn from.
pub(crate) struct Redraw<'a> {
    subject: &'a Subject,
    scale: Option<[f64; 2]>,
    /// The pool of each cell.
    pool_of: Vec<u32>,
    /// Cells by pool, and where each pool begins.
    members: Vec<u32>,
    starts: Vec<usize>,
    /// The means of cells of continuous scores.
    means: Option<Vec<f64>>,
    /// Units by cluster.
    clusters: Vec<std::ops::Range<usize>>,
    /// α.
    pub(crate) concentration: f64,
    /// How often two measured answers of a cell differ, an unparsed reply being an answer of its own.
    pub(crate) flip_rate: f64,
    /// How often two answers drawn from the observed shares alone would differ.
    pub(crate) plain_flip_rate: f64,
    /// Which cells are like one another.
    pub(crate) alike: Alike,
}

/// In what cells must be alike to share a pool, besides order and criterion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alike {
    /// In their label and their usual answer.
    InUsualAnswer,
    /// In their label.
    InLabel,
}

impl<'a> Redraw<'a> {
    /// Returns the answers of a judge, or `None` when nothing was asked twice, so that its noise is unknown.
    pub(crate) fn new(table: &Table<'_>, subject: &'a Subject) -> Option<Self> {
        if !subject.cells.iter().any(|cell| cell.len() > 1) {
            return None;
        }
        let codes = codes(subject);
        let mut redraw = Self {
            subject,
            scale: table.scale,
            pool_of: Vec::new(),
            members: Vec::new(),
            starts: vec![0],
            means: None,
            clusters: clusters(&subject.units),
            concentration: 0.0,
            flip_rate: 0.0,
            plain_flip_rate: 0.0,
            alike: Alike::InUsualAnswer,
        };
        match codes {
            Some(codes) => {
                redraw.gather_pools(table.kind, Alike::InUsualAnswer);
                if !redraw.calibrate(&codes) {
                    // Cells that differ by chance only: their usual answers part what is alike.
                    redraw.alike = Alike::InLabel;
                    redraw.gather_pools(table.kind, Alike::InLabel);
                    redraw.calibrate(&codes);
                }
            }
            None => redraw.means = Some(subject.cells.iter().map(|cell| mean(subject, cell)).collect()),
        }
        Some(redraw)
    }

    fn gather_pools(&mut self, kind: OutcomeKind, alike: Alike) {
        (self.members, self.starts) = (Vec::new(), vec![0]);
        type Key = (Option<bool>, u64, u32, Option<u8>, u64);
        let mut pools: BTreeMap<Key, Vec<u32>> = BTreeMap::new();
        for unit in &self.subject.units {
            // Of scores as labels there may be as many as items.
            let value = unit.truth.value.filter(|_| kind != OutcomeKind::Score);
            for cell_idx in unit.cells.clone() {
                let cell = &self.subject.cells[cell_idx];
                let key = (
                    unit.truth.good,
                    value.map_or(u64::MAX, f64::to_bits),
                    unit.dimension,
                    cell.order.map(|order| order as u8),
                    match alike {
                        Alike::InUsualAnswer => usual_answer(self.subject, cell, kind).to_bits(),
                        Alike::InLabel => 0,
                    },
                );
                pools.entry(key).or_default().push(u32::try_from(cell_idx).expect("cells are fewer than rows"));
            }
        }
        self.pool_of = vec![0; self.subject.cells.len()];
        for (pool_idx, cells) in (0_u32..).zip(pools.into_values()) {
            for &cell in &cells {
                self.pool_of[cell as usize] = pool_idx;
            }
            self.members.extend(cells);
            self.starts.push(self.members.len());
        }
    }

    /// Finds α: two answers of a cell differ with probability 1 − Σ p̃², p̃ = (1 − w) p̂ + w π, w = α/(k + α). Returns whether the pools
    /// hold as much noise as was measured; if not, α is the largest.
    fn calibrate(&mut self, codes: &[f64]) -> bool {
        let place = |draw: f64| codes.partition_point(|code| code.total_cmp(&draw).is_lt());
        // Of each cell with repeats: answers, Σ p̂², Σ p̂ π, Σ π².
        let mut sums: Vec<[f64; 4]> = Vec::new();
        let (mut flips, mut plain) = (0.0, 0.0);
        for pool in self.starts.windows(2) {
            let members = &self.members[pool[0]..pool[1]];
            let mut shares = vec![0.0; codes.len()];
            for &cell_idx in members {
                let draws = &self.subject.draws[self.subject.cells[cell_idx as usize].draws.clone()];
                let weight = 1.0 / (draws.len() * members.len()) as f64;
                for &draw in draws {
                    shares[place(draw)] += weight;
                }
            }
            let squares: f64 = shares.iter().map(|share| share * share).sum();
            let mut counts = vec![0.0; codes.len()];
            for &cell_idx in members {
                let draws = &self.subject.draws[self.subject.cells[cell_idx as usize].draws.clone()];
                let k = draws.len() as f64;
                if draws.len() < 2 {
                    continue;
                }
                for &draw in draws {
                    counts[place(draw)] += 1.0;
                }
                let own: f64 = counts.iter().map(|count| count * count).sum::<f64>() / (k * k);
                let both: f64 = counts.iter().zip(&shares).map(|(count, share)| count * share).sum::<f64>() / k;
                counts.fill(0.0);
                plain += 1.0 - own;
                flips += (1.0 - own) * k / (k - 1.0);
                sums.push([k, own, both, squares]);
            }
        }
        let n = sums.len() as f64;
        (self.flip_rate, self.plain_flip_rate) = (flips / n, plain / n);
        let redrawn = |alpha: f64| {
            let of_cell = |&[k, own, both, squares]: &[f64; 4]| {
                let w = alpha / (k + alpha);
                1.0 - (1.0 - w) * (1.0 - w) * own - 2.0 * w * (1.0 - w) * both - w * w * squares
            };
            sums.iter().map(of_cell).sum::<f64>() / n
        };
        let target = self.flip_rate;
        self.concentration = 0.0;
        if redrawn(0.0) >= target - 1e-12 {
            return true;
        }
        let (mut low, mut high) = (0.0, MOST_CONCENTRATION);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if redrawn(middle) < target { low = middle } else { high = middle }
        }
        self.concentration = high;
        redrawn(high) >= target - 1e-9
    }

    /// Returns the same items judged again.
    pub(crate) fn again(&self, rng: &mut ChaCha8Rng, repeats: Repeats, shares: Shares) -> Subject {
        let mut new = Built::of(self.subject);
        for unit in &self.subject.units {
            self.add(&mut new, rng, unit, (unit.cluster, unit.item), (repeats, Orders::All, shares));
        }
        new.0
    }

    /// Returns other items like those at hand, at least `n_items`: clusters drawn with replacement.
    pub(crate) fn others(
        &self,
        rng: &mut ChaCha8Rng,
        n_items: usize,
        repeats: Repeats,
        orders: Orders,
    ) -> (Subject, usize) {
        let mut new = Built::of(self.subject);
        let (mut n_drawn, mut n_clusters) = (0_u32, 0_u32);
        while (n_drawn as usize) < n_items {
            let cluster = self.clusters[rng.random_range(0..self.clusters.len())].clone();
            let mut last = None;
            for unit in &self.subject.units[cluster] {
                n_drawn += u32::from(last.replace(unit.item) != Some(unit.item));
                self.add(&mut new, rng, unit, (n_clusters, n_drawn - 1), (repeats, orders, Shares::Known));
            }
            n_clusters += 1;
        }
        (new.0, n_clusters as usize)
    }

    fn add(
        &self,
        Built(new): &mut Built,
        rng: &mut ChaCha8Rng,
        unit: &Unit,
        (cluster, item): (u32, u32),
        (repeats, orders, shares): (Repeats, Orders, Shares),
    ) {
        let first_cell = new.cells.len();
        let cells = match orders {
            Orders::All => unit.cells.clone(),
            Orders::One => {
                let one = rng.random_range(unit.cells.clone());
                one..one + 1
            }
        };
        for cell_idx in cells {
            let cell = &self.subject.cells[cell_idx];
            let n = match repeats {
                Repeats::Times(times) => times * cell.len(),
                Repeats::Each(n) => n,
            };
            let first_draw = new.draws.len();
            for drawn in 0..n {
                let answer = self.answer(rng, cell_idx, &new.draws[first_draw..], shares);
                new.draws.push(answer);
                new.repeats.push(u32::try_from(drawn + 1).expect("repeats are fewer than rows"));
            }
            let n_unparsed = new.draws[first_draw..].iter().filter(|draw| draw.is_nan()).count();
            new.n_unparsed += n_unparsed as u64;
            new.cells.push(Cell {
                order: cell.order,
                place: cell.place,
                anchor_set: cell.anchor_set,
                draws: first_draw..new.draws.len(),
                n_unparsed,
            });
        }
        let cells = first_cell..new.cells.len();
        new.units.push(Unit {
            item,
            dimension: unit.dimension,
            cluster,
            weight: unit.weight,
            truth: unit.truth,
            cells,
        });
    }

    /// Draws one answer of a cell, of which `drawn` were drawn before.
    fn answer(&self, rng: &mut ChaCha8Rng, cell_idx: usize, drawn: &[f64], shares: Shares) -> f64 {
        let cell = &self.subject.cells[cell_idx];
        let own = |rng: &mut ChaCha8Rng, cell: &Cell| self.subject.draws[rng.random_range(cell.draws.clone())];
        let k = cell.len() as f64;
        if let Some(means) = &self.means {
            let (mean, n) = (means[cell_idx], cell.n_parsed() as f64);
            let answer = own(rng, cell);
            if n < 2.0 || answer.is_nan() {
                return answer;
            }
            let wider = mean + (n / (n - 1.0)).sqrt() * (answer - mean);
            return self.scale.map_or(wider, |[low, high]| wider.clamp(low, high));
        }
        let learnt = if shares == Shares::Uncertain { drawn.len() as f64 } else { 0.0 };
        let place = rng.random::<f64>() * (k + self.concentration + learnt);
        if place < k {
            own(rng, cell)
        } else if place < k + self.concentration || learnt == 0.0 {
            let pool = self.pool_of[cell_idx] as usize;
            let other = self.members[rng.random_range(self.starts[pool]..self.starts[pool + 1])];
            own(rng, &self.subject.cells[other as usize])
        } else {
            drawn[rng.random_range(0..drawn.len())]
        }
    }
}

/// A subject in the making.
struct Built(Subject);

impl Built {
    fn of(subject: &Subject) -> Self {
        let n = subject.draws.len();
        Self(Subject {
            judge: subject.judge,
            arm: subject.arm,
            units: Vec::with_capacity(subject.units.len()),
            cells: Vec::with_capacity(subject.cells.len()),
            draws: Vec::with_capacity(n),
            repeats: Vec::with_capacity(n),
            rows: Vec::new(),
            n_unparsed: 0,
        })
    }
}

/// Returns the units of each cluster.
fn clusters(units: &[Unit]) -> Vec<std::ops::Range<usize>> {
    let mut start = 0;
    let ranges = units.chunk_by(|a, b| a.cluster == b.cluster).map(|of_cluster| {
        let range = start..start + of_cluster.len();
        start = range.end;
        range
    });
    ranges.collect()
}

/// Returns the distinct answers, unparsed among them, or `None` when there are too many to be kinds.
fn codes(subject: &Subject) -> Option<Vec<f64>> {
    let mut codes: Vec<f64> = Vec::new();
    for &draw in &subject.draws {
        let at = codes.partition_point(|code| code.total_cmp(&draw).is_lt());
        if codes.get(at).is_none_or(|code| code.total_cmp(&draw).is_ne()) {
            if codes.len() == MOST_CODES {
                return None;
            }
            codes.insert(at, draw);
        }
    }
    Some(codes)
}

/// Returns the answer in the middle of a cell's scores, or its commonest answer; NaN where none was parsed.
fn usual_answer(subject: &Subject, cell: &Cell, kind: OutcomeKind) -> f64 {
    let mut draws: Vec<f64> = subject.parsed(cell).collect();
    draws.sort_unstable_by(f64::total_cmp);
    if kind == OutcomeKind::Score {
        return draws.get(draws.len().saturating_sub(1) / 2).copied().unwrap_or(f64::NAN);
    }
    let commonest = draws.chunk_by(|a, b| a.total_cmp(b).is_eq()).rev().max_by_key(|alike| alike.len());
    commonest.map_or(f64::NAN, |alike| alike[0])
}

fn mean(subject: &Subject, cell: &Cell) -> f64 {
    let n = cell.n_parsed() as f64;
    subject.parsed(cell).map(|draw| draw / n).sum()
}
