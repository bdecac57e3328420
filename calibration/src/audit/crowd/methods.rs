//! Ways to make one label of several ratings, held against known labels.

use crate::raters::ballots::{add, part};
use crate::raters::correlated::share_of_greatest;
use crate::raters::dawid_skene::{DawidSkene, DawidSkeneConfig, dawid_skene};
use crate::raters::glad::{Glad, glad};
use crate::raters::mace::{Mace, MaceConfig, mace};
use crate::raters::{EmConfig, Posterior, log_odds_weight};

use super::super::AuditConfig;
use super::super::estimate::Values;
use super::super::result::PanelMethod;
use super::gather::Gathered;

/// What the models make of a panel.
pub(super) struct Models {
    /// Each item's shares of what its raters said, items × categories.
    majority: Vec<f64>,
    n_categories: usize,
    /// Three raters or more.
    pub fitted: Option<Fitted>,
}

pub(super) struct Fitted {
    pub dawid_skene: DawidSkene,
    pub mace: Mace,
    pub glad: Glad,
}

impl Models {
    pub(super) fn fit(gathered: &Gathered<'_>, config: &AuditConfig) -> Self {
        let ratings = &gathered.ratings;
        let n_active = ratings.n_by_rater().iter().filter(|n| **n > 0).count();
        let em = EmConfig::default();
        let fitted = (n_active > 2).then(|| {
            // Each of MACE's starts costs as much as a whole model.
            let n_restarts = if ratings.n_ratings() > 20_000 { 4 } else { 10 };
            // Each use of the seed has a value of its own.
            let seed = config.seed ^ 0x6d61_6365;
            let (dawid_skene, (mace, glad)) = rayon::join(
                || {
                    // Labels near a tie turn late: its turns cost little, so that it may go on to the end.
                    let em = EmConfig { max_iterations: 200, tolerance: 1e-8 };
                    dawid_skene(ratings, DawidSkeneConfig { em, pseudo_count: 0.01 })
                },
                || {
                    rayon::join(
                        || mace(ratings, MaceConfig { n_restarts, ..MaceConfig::with_seed(seed) }),
                        || glad(ratings, em),
                    )
                },
            );
            Fitted { dawid_skene, mace, glad }
        });
        let (n_categories, ballots) = (ratings.n_categories(), &gathered.ballots);
        let mut majority = vec![0.0; gathered.units.len() * n_categories];
        for (item, shares) in majority.chunks_exact_mut(n_categories).enumerate() {
            ballots.votes(item, shares);
            let total = ballots.n_of_item(item) as f64;
            for share in shares.iter_mut() {
                *share /= total;
            }
        }
        Self { majority, n_categories, fitted }
    }

    /// Returns an item's shares of what its raters said, one a category.
    pub(super) fn of_majority(&self, item: usize) -> &[f64] {
        &self.majority[item * self.n_categories..(item + 1) * self.n_categories]
    }

    /// Returns every method with its rates.
    pub(super) fn methods(&self, gathered: &Gathered<'_>, level: f64) -> Vec<PanelMethod> {
        let has_labels = gathered.labels.iter().any(Option::is_some);
        let mut methods = Vec::new();
        if has_labels {
            methods.push(self.one_rater(gathered, level));
        }
        methods.push(self.method_of("majority", &|item| self.of_majority(item), None, gathered, level));
        if has_labels && let Some(weighted) = weighted(gathered) {
            let rows = |item: usize| weighted[item].as_slice();
            methods.push(self.method_of("weighted_majority", &rows, None, gathered, level));
        }
        if let Some(Fitted { dawid_skene, mace, glad }) = &self.fitted {
            for (name, posterior, converged) in [
                ("dawid_skene", &dawid_skene.posterior, dawid_skene.converged),
                ("mace", &mace.posterior, mace.converged),
                ("glad", &glad.posterior, glad.converged),
            ] {
                methods.push(self.method(name, posterior, Some(converged), gathered, level));
            }
        }
        methods
    }

    /// One of the item's raters drawn at random.
    fn one_rater(&self, gathered: &Gathered<'_>, level: f64) -> PanelMethod {
        let share = |item: usize, category: u32| self.of_majority(item)[category as usize];
        let mut method = blank("one_rater");
        rates(&mut method, &share, None, gathered, level);
        method
    }

    fn method(
        &self,
        name: &str,
        posterior: &Posterior,
        converged: Option<bool>,
        gathered: &Gathered<'_>,
        level: f64,
    ) -> PanelMethod {
        self.method_of(name, &|item| posterior.of_item(item), converged, gathered, level)
    }

    fn method_of<'a>(
        &self,
        name: &str,
        weights: &dyn Fn(usize) -> &'a [f64],
        converged: Option<bool>,
        gathered: &Gathered<'_>,
        level: f64,
    ) -> PanelMethod {
        let mut method = blank(name);
        method.converged = converged;
        let (mut same, mut both) = (0.0, 0.0);
        for item in 0..gathered.units.len() {
            let [own, theirs] = [weights(item), self.of_majority(item)].map(only_greatest);
            method.n_tied += u64::from(own.is_none());
            if let (Some(own), Some(theirs)) = (own, theirs) {
                let weight = gathered.units[item].weight;
                both += weight;
                same += if own == theirs { weight } else { 0.0 };
            }
        }
        method.same_as_majority = (both > 0.0).then(|| same / both);
        let one = |item: usize, category: u32| self.of_majority(item)[category as usize];
        rates(&mut method, &|item, category| share_of_greatest(weights(item), category), Some(&one), gathered, level);
        method
    }
}

/// Returns the one greatest, or `None` where two tie.
pub(super) fn only_greatest(weights: &[f64]) -> Option<u32> {
    (0_u32..).zip(weights).map(|(category, _)| category).find(|category| share_of_greatest(weights, *category) > 0.99)
}

fn blank(name: &str) -> PanelMethod {
    PanelMethod {
        method: name.to_owned(),
        accuracy: None,
        gain: None,
        false_accept_rate: None,
        false_reject_rate: None,
        n_tied: 0,
        same_as_majority: None,
        converged: None,
    }
}

type Share<'a> = &'a dyn Fn(usize, u32) -> f64;

/// Fills in the rates. `share` is the share of an item's label that goes to a category; ties are split.
fn rates(method: &mut PanelMethod, share: Share<'_>, one: Option<Share<'_>>, gathered: &Gathered<'_>, level: f64) {
    const SPLIT: &str = "right label / items, ties in parts";
    let [mut right, mut gain, mut accepted, mut rejected] = [Values::default(); 4];
    let mut n_ratings = vec![0_usize; gathered.units.len()];
    for (item, n) in n_ratings.iter_mut().enumerate() {
        *n = gathered.ballots.n_of_item(item);
    }
    for (item, (unit, label)) in gathered.units.iter().zip(&gathered.labels).enumerate() {
        let Some(label) = *label else { continue };
        let (own, n) = (share(item, label), n_ratings[item]);
        right.push(unit, own, n);
        if let Some(one) = one {
            gain.push(unit, own - one(item, label), n);
        }
        if gathered.accepts {
            let class = if label == 0 { &mut accepted } else { &mut rejected };
            class.push(unit, 1.0 - own, n);
        }
    }
    let measure = |values: &Values, definition: &str| Some(values.proportion(definition)?.measure(level));
    method.accuracy = measure(&right, SPLIT);
    let definition = "accuracy less that of one of the item's raters, item by item";
    method.gain = gain.mean(definition, [-1.0, 1.0], None).map(|value| value.measure(level));
    method.false_accept_rate = measure(&accepted, "accepted / items labelled wrong, ties in parts");
    method.false_reject_rate = measure(&rejected, "rejected / items labelled right, ties in parts");
}

/// Returns each item's weights of the categories: raters weigh log((K − 1)a/(1 − a)), a their accuracy on the labelled items of *other*
/// clusters, with one right and one wrong rating added. `None` where no rating weighs anything.
fn weighted(gathered: &Gathered<'_>) -> Option<Vec<Vec<f64>>> {
    let (ballots, n_categories) = (&gathered.ballots, gathered.ballots.n_categories());
    let mut totals = vec![[0.0; 2]; gathered.ratings.n_raters()];
    let right = |item: usize, said: &[u32]| gathered.labels[item].map(|label| part(said, label));
    for item in 0..gathered.units.len() {
        for (rater, said) in ballots.of_item(item) {
            if let Some(right) = right(item, said) {
                totals[rater as usize][0] += right;
                totals[rater as usize][1] += 1.0;
            }
        }
    }
    let mut rows = vec![vec![0.0; n_categories]; gathered.units.len()];
    let mut any = false;
    let mut start = 0;
    // Items of a cluster follow one another.
    for same in gathered.clusters.chunk_by(|a, b| a == b) {
        let items = start..start + same.len();
        start = items.end;
        let mut own: std::collections::BTreeMap<u32, [f64; 2]> = std::collections::BTreeMap::new();
        for item in items.clone() {
            for (rater, said) in ballots.of_item(item) {
                let sums = own.entry(rater).or_default();
                if let Some(right) = right(item, said) {
                    sums[0] += right;
                    sums[1] += 1.0;
                }
            }
        }
        for item in items {
            for (rater, said) in ballots.of_item(item) {
                let ([hits, n], [own_hits, own_n]) = (totals[rater as usize], own[&rater]);
                let accuracy = (hits - own_hits + 1.0) / (n - own_n + 2.0);
                let weight = log_odds_weight(accuracy, n_categories).unwrap_or(0.0);
                any |= weight > 0.0;
                add(&mut rows[item], said, weight);
            }
        }
    }
    any.then_some(rows)
}
