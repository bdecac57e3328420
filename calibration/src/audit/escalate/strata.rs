//! Items cut into strata, and labels allotted to them.

use rand::SeedableRng as _;
use rand::seq::index::sample;
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;

use crate::audit::data::table::{ACCEPT, REJECT, Table, is};
use crate::audit::result::Stratum;
use crate::judgement::OutcomeKind;

use super::{Item, is_against, is_labelled};

/// A prior counts for so many labels.
const PRIOR_LABELS: f64 = 2.0;
const STREAM: u64 = 0x6573_6361 << 32;

/// A stratum in the making.
pub(super) struct Layer {
    name: String,
    n_items: f64,
    n_labelled: f64,
    n_wrong: f64,
    n_bad: f64,
    prior: f64,
    weight: f64,
    n_picked: u64,
}

impl Layer {
    fn error_rate(&self) -> f64 {
        (self.n_wrong + PRIOR_LABELS * self.prior) / (self.n_labelled + PRIOR_LABELS)
    }

    /// By how much one label more is expected to lower the variance, after `n_picked` others.
    pub(super) fn value(&self, n_picked: u64) -> f64 {
        let e = self.error_rate();
        // A stratum without labels counts as having one, so that the first is worth a finite amount.
        let n = self.n_labelled + n_picked as f64 + 1.0;
        self.weight * self.weight * e * (1.0 - e) * (1.0 / n - 1.0 / (n + 1.0))
    }

    pub(super) fn told(&self) -> Stratum {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts of items")]
        let count = |n: f64| n as u64;
        Stratum {
            name: self.name.clone(),
            n_items: count(self.n_items),
            n_labelled: count(self.n_labelled),
            error_rate: self.error_rate(),
            n_picked: self.n_picked,
        }
    }
}

/// Cuts items into strata, and says of each item which it is in.
pub(super) fn strata(table: &Table<'_>, items: &mut [Item<'_>]) -> Vec<Layer> {
    const BANDS: [(&str, f64); 3] = [("of one mind", 0.05), ("some doubt", 0.2), ("torn", 0.45)];
    let is_number =
        table.kind == OutcomeKind::Score && items.iter().any(|item| !is(item.usual, ACCEPT) && !is(item.usual, REJECT));
    let key = |item: &Item<'_>| {
        let band = if item.doubt < 0.02 {
            0_usize
        } else if item.doubt < 0.5 {
            1
        } else {
            2
        };
        // Scores as such are not cut by their value.
        (if is_number { 0 } else { item.usual.to_bits() }, band)
    };
    let mut found: BTreeMap<(u64, usize), usize> = BTreeMap::new();
    for item in items.iter() {
        found.entry(key(item)).or_insert(0);
    }
    let mut layers = Vec::new();
    for ((usual, band), place) in &mut found {
        *place = layers.len();
        let (word, prior) = BANDS[*band];
        let usual = f64::from_bits(*usual);
        let answer = match table.kind {
            _ if usual.is_nan() => "no answer".to_owned(),
            OutcomeKind::Score if is_number => "scored".to_owned(),
            OutcomeKind::Score => if is(usual, ACCEPT) { "accept" } else { "reject" }.to_owned(),
            _ => table.answer_name(usual),
        };
        let name = format!("{answer}, {word}");
        let n = 0.0;
        layers.push(Layer { name, n_items: n, n_labelled: n, n_wrong: n, n_bad: n, prior, weight: n, n_picked: 0 });
    }
    let total = items.len() as f64;
    for item in items.iter_mut() {
        item.stratum = found[&key(item)];
        let layer = &mut layers[item.stratum];
        layer.n_items += 1.0;
        layer.weight = layer.n_items / total;
        if is_labelled(item.unit) {
            layer.n_labelled += 1.0;
            layer.n_bad += f64::from(u8::from(item.unit.truth.good == Some(false)));
            layer.n_wrong += f64::from(u8::from(is_against(item, item.usual) == Some(true)));
        }
    }
    layers
}

/// How much a label in each stratum says about what is open: the chance that it falls into the class of items that an open rate is over.
pub(super) fn relevance(items: &[Item<'_>], strata: &[Layer], open: &[String]) -> Vec<f64> {
    let only = |id: &str| !open.is_empty() && open.iter().all(|limit| limit == id);
    let labelled = items.iter().filter(|item| item.unit.truth.good.is_some()).count() as f64;
    let bad = items.iter().filter(|item| item.unit.truth.good == Some(false)).count() as f64;
    let overall = (bad + 1.0) / (labelled + 2.0);
    let of = |layer: &Layer| {
        let bad = (layer.n_bad + PRIOR_LABELS * overall) / (layer.n_labelled + PRIOR_LABELS);
        if only("false_accept_rate") {
            bad
        } else if only("false_reject_rate") {
            1.0 - bad
        } else {
            1.0
        }
    };
    strata.iter().map(of).collect()
}

/// Draws items without a label by lot.
pub(super) fn lots(items: &[Item<'_>], seed: u64, n: usize) -> Vec<usize> {
    let unlabelled: Vec<usize> = (0..items.len()).filter(|&idx| !is_labelled(items[idx].unit)).collect();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(STREAM);
    sample(&mut rng, unlabelled.len(), n.min(unlabelled.len())).into_iter().map(|at| unlabelled[at]).collect()
}

/// Picks items to label one by one, with what each is worth when it is picked.
pub(super) fn pick(
    items: &[Item<'_>],
    strata: &mut [Layer],
    relevance: &[f64],
    by_lot: &[usize],
    top: usize,
) -> Vec<(usize, f64)> {
    let mut taken = vec![false; items.len()];
    for &idx in by_lot {
        taken[idx] = true;
    }
    let mut queues: Vec<Vec<usize>> = vec![Vec::new(); strata.len()];
    for (idx, item) in items.iter().enumerate() {
        if !taken[idx] && !is_labelled(item.unit) {
            queues[item.stratum].push(idx);
        }
    }
    for queue in &mut queues {
        let doubtful = |a: &usize, b: &usize| items[*b].doubt.total_cmp(&items[*a].doubt).then(a.cmp(b));
        queue.sort_by(doubtful);
        // Groups take turns: first the most doubtful of each, then the second of each.
        let mut turns: BTreeMap<u32, u32> = BTreeMap::new();
        let mut with_turn: Vec<(u32, usize)> = Vec::with_capacity(queue.len());
        for &idx in queue.iter() {
            let turn = turns.entry(items[idx].unit.cluster).or_insert(0);
            with_turn.push((*turn, idx));
            *turn += 1;
        }
        with_turn.sort_by_key(|(turn, _)| *turn);
        *queue = with_turn.into_iter().rev().map(|(_, idx)| idx).collect();
    }
    let mut picked = Vec::new();
    while picked.len() < top {
        let value = |at: usize| strata[at].value(strata[at].n_picked) * relevance[at];
        // Of equals the first stratum.
        let best =
            (0..strata.len()).rev().filter(|&at| !queues[at].is_empty()).max_by(|&a, &b| value(a).total_cmp(&value(b)));
        let Some(best) = best else { break };
        let value = value(best);
        strata[best].n_picked += 1;
        picked.extend(queues[best].pop().map(|idx| (idx, value)));
    }
    picked
}
