//! Anchors for a study: worked examples in the judge's prompt, chosen so that they tell nothing of the item judged.
//!
//! An item must not be judged with itself in the prompt, nor with one of its group, which shares what makes it hard. Labels of anchors
//! are balanced, since a judge copies the answers it is shown. And there are several sets, since one set is one throw of the dice: how much the
//! figures depend on it is measured by [`crate::audit`]. Nothing here asks a judge or reads an item's text.

use std::collections::{BTreeMap, BTreeSet};

use rand::SeedableRng;
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;

/// An item that may stand in the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnchorCandidate<'a> {
    /// The item.
    pub item: &'a str,
    /// What is true of it.
    pub label: &'a str,
    /// What its errors may cluster in. Absent: it is alone.
    pub group: Option<&'a str>,
}

/// How many anchors, and how many sets of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnchorPlan {
    /// Anchors in a prompt.
    pub n_anchors: usize,
    /// Sets, each for all items. Five or more tell by how much another would move the figures.
    pub n_sets: usize,
    /// Seed of the choice; each set has a stream of its own.
    pub seed: u64,
}

/// Why no anchors can be chosen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnchorError {
    /// No anchors, or no sets, were asked for.
    #[error("{0} must be at least 1")]
    Nothing(&'static str),
    /// An item stands twice among the candidates.
    #[error("the item {0:?} is twice among the candidates")]
    Twice(String),
    /// An item named as an anchor is no candidate.
    #[error("the item {0:?} is not among the candidates")]
    Unknown(String),
    /// Without one group there are fewer candidates than anchors.
    #[error(
        "{n_anchors} anchors take more candidates: with {left_out} left out, as for its own items, {n_left} are left"
    )]
    TooFew {
        /// Anchors asked for.
        n_anchors: usize,
        /// The group, or the item that is a group of its own.
        left_out: String,
        /// Candidates outside it.
        n_left: usize,
    },
}

/// What makes an item's anchors off limits: its group, or itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kin<'a> {
    Group(&'a str),
    Alone(&'a str),
}

impl<'a> AnchorCandidate<'a> {
    fn kin(&self) -> Kin<'a> {
        self.group.map_or(Kin::Alone(self.item), Kin::Group)
    }
}

/// Sets of anchors, each with a version for every group: the same but for anchors of that group, whose places others take.
#[derive(Clone, Debug)]
pub struct AnchorSets<'a> {
    candidates: Vec<AnchorCandidate<'a>>,
    n_anchors: usize,
    /// By set: candidates of each label in the order in which they are taken.
    orders: Vec<Vec<Vec<usize>>>,
    /// By set: the places of the prompt, each of a label.
    places: Vec<Vec<usize>>,
    /// What a reader must know, in words.
    pub warnings: Vec<String>,
}

/// Attempts at a set that differs from those before it.
const ATTEMPTS: u64 = 50;

/// Chooses sets of anchors among `candidates`, which may be in any order.
///
/// Each set holds as many anchors of every label as can be; of those left over (one, with an odd number and two labels) the labels get one more by
/// turns from set to set, so that over all sets they are balanced. Within a set anchors come from different groups as far as there are
/// enough. Where a label has too few candidates others take their places, and a warning says so. Deterministic: the same
/// candidates and seed give the same sets. Cost: sets × candidates · log.
///
/// # Errors
/// [`AnchorError::Nothing`] for no anchors or sets, [`AnchorError::Twice`] for an item given twice, [`AnchorError::TooFew`] where some group's own
/// items could not be given that many anchors from outside it.
pub fn choose_anchors<'a>(candidates: &[AnchorCandidate<'a>], plan: AnchorPlan) -> Result<AnchorSets<'a>, AnchorError> {
    for (what, n) in [("the number of anchors", plan.n_anchors), ("the number of sets", plan.n_sets)] {
        if n == 0 {
            return Err(AnchorError::Nothing(what));
        }
    }
    let mut candidates = candidates.to_vec();
    candidates.sort_by_key(|candidate| candidate.item);
    if let Some(pair) = candidates.windows(2).find(|pair| pair[0].item == pair[1].item) {
        return Err(AnchorError::Twice(pair[0].item.to_owned()));
    }
    let mut of_kin: BTreeMap<Kin<'_>, usize> = BTreeMap::new();
    for candidate in &candidates {
        *of_kin.entry(candidate.kin()).or_default() += 1;
    }
    if let Some((kin, largest)) = of_kin.iter().max_by_key(|(_, n)| **n)
        && candidates.len() - largest < plan.n_anchors
    {
        let left_out = match kin {
            Kin::Group(name) => format!("the group {name:?}"),
            Kin::Alone(name) => format!("the item {name:?}"),
        };
        return Err(AnchorError::TooFew { n_anchors: plan.n_anchors, left_out, n_left: candidates.len() - largest });
    }
    if candidates.is_empty() {
        return Err(AnchorError::TooFew { n_anchors: plan.n_anchors, left_out: "nothing".to_owned(), n_left: 0 });
    }
    let labels: BTreeSet<&str> = candidates.iter().map(|candidate| candidate.label).collect();
    let labels: Vec<&str> = labels.into_iter().collect();
    let mut sets = AnchorSets {
        candidates,
        n_anchors: plan.n_anchors,
        orders: Vec::new(),
        places: Vec::new(),
        warnings: Vec::new(),
    };
    let mut seen: BTreeSet<Vec<usize>> = BTreeSet::new();
    let mut n_alike = 0;
    for set_idx in 0..plan.n_sets {
        for attempt in 0..ATTEMPTS {
            let mut rng = ChaCha8Rng::seed_from_u64(plan.seed);
            rng.set_stream(1 + (set_idx as u64) * ATTEMPTS + attempt);
            sets.add(&labels, set_idx, &mut rng);
            let mut chosen = sets.of_kin(set_idx, None);
            chosen.sort_unstable();
            if seen.insert(chosen) {
                break;
            }
            if attempt + 1 < ATTEMPTS {
                sets.orders.pop();
                sets.places.pop();
            } else {
                n_alike += 1;
            }
        }
    }
    sets.warn(&labels, n_alike);
    Ok(sets)
}

impl<'a> AnchorSets<'a> {
    /// Adds a set at random.
    fn add(&mut self, labels: &[&str], set_idx: usize, rng: &mut ChaCha8Rng) {
        let n_labels = labels.len();
        let mut orders: Vec<Vec<usize>> = Vec::with_capacity(n_labels);
        for label in labels {
            let mut order: Vec<usize> =
                (0..self.candidates.len()).filter(|idx| self.candidates[*idx].label == *label).collect();
            order.shuffle(rng);
            orders.push(order);
        }
        // Who gets one more goes round: set 0 begins with the first label, the next where that one ended.
        let (each, more) = (self.n_anchors / n_labels, self.n_anchors % n_labels);
        let first = set_idx * more % n_labels;
        let mut places: Vec<usize> = (0..n_labels)
            .flat_map(|label_idx| {
                let has_more = (label_idx + n_labels - first) % n_labels < more;
                std::iter::repeat_n(label_idx, each + usize::from(has_more))
            })
            .collect();
        places.shuffle(rng);
        self.orders.push(orders);
        self.places.push(places);
    }

    /// Returns how many sets there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns whether there are none, which [`choose_anchors`] never gives.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Returns the anchors of a set for an item of this name and group, in the order of the prompt: none of them is the item, or of
    /// its group. The item need be no candidate.
    ///
    /// # Panics
    /// If there is no such set.
    #[must_use]
    pub fn for_item(&self, set_idx: usize, item: &str, group: Option<&str>) -> Vec<AnchorCandidate<'a>> {
        let kin = group.map_or(Kin::Alone(item), Kin::Group);
        self.of_kin(set_idx, Some((kin, item))).into_iter().map(|idx| self.candidates[idx]).collect()
    }

    /// The base set where nothing is left out.
    fn of_kin(&self, set_idx: usize, left_out: Option<(Kin<'_>, &str)>) -> Vec<usize> {
        let (orders, places) = (&self.orders[set_idx], &self.places[set_idx]);
        let base = self.fill(orders, places, None, &[]);
        let Some(left_out) = left_out else { return base };
        let is_out = |idx: usize| {
            let candidate = &self.candidates[idx];
            candidate.kin() == left_out.0 || candidate.item == left_out.1
        };
        if base.iter().any(|idx| is_out(*idx)) { self.fill(orders, places, Some(left_out), &base) } else { base }
    }

    /// Fills the places; those of `base` stay where they are if they may.
    fn fill(
        &self,
        orders: &[Vec<usize>],
        places: &[usize],
        left_out: Option<(Kin<'_>, &str)>,
        base: &[usize],
    ) -> Vec<usize> {
        let may = |idx: usize| {
            let candidate = &self.candidates[idx];
            left_out.is_none_or(|(kin, item)| candidate.kin() != kin && candidate.item != item)
        };
        let mut chosen: Vec<Option<usize>> = if base.is_empty() {
            vec![None; places.len()]
        } else {
            base.iter().map(|idx| Some(*idx).filter(|idx| may(*idx))).collect()
        };
        for place in 0..places.len() {
            if chosen[place].is_some() {
                continue;
            }
            let is_free = |idx: &usize| may(*idx) && !chosen.contains(&Some(*idx));
            let is_new = |idx: &usize| {
                let kin = self.candidates[*idx].kin();
                is_free(idx) && !chosen.iter().flatten().any(|other| self.candidates[*other].kin() == kin)
            };
            let own = &orders[places[place]];
            // Its label from a group not there yet, its label, then any label.
            let found = own.iter().find(|idx| is_new(idx)).or_else(|| own.iter().find(|idx| is_free(idx)));
            // The label of which most are free, so that what is lost of balance is least.
            let found = found.copied().or_else(|| {
                let free = |order: &&Vec<usize>| order.iter().filter(|idx| is_free(idx)).count();
                orders.iter().rev().max_by_key(free).and_then(|order| order.iter().find(|idx| is_free(idx)).copied())
            });
            chosen[place] = found;
        }
        chosen.into_iter().flatten().collect()
    }

    fn warn(&mut self, labels: &[&str], n_alike: usize) {
        let per_label = self.n_anchors.div_ceil(labels.len());
        for label in labels {
            let mut of_kin: BTreeMap<Kin<'_>, usize> = BTreeMap::new();
            for candidate in self.candidates.iter().filter(|candidate| candidate.label == *label) {
                *of_kin.entry(candidate.kin()).or_default() += 1;
            }
            let (n, largest) = (of_kin.values().sum::<usize>(), of_kin.values().copied().max().unwrap_or(0));
            if n - largest < per_label {
                self.warnings.push(format!(
                    "{n} candidates have the label {label:?}, {} once the largest group is left out, and a set takes up to {per_label}: \
                     others take their places, so that some sets are not balanced",
                    n - largest
                ));
            }
        }
        if let [only] = labels {
            self.warnings
                .push(format!("all candidates have the label {only:?}: a judge shown one answer tends to give it"));
        }
        if n_alike > 0 {
            self.warnings.push(format!(
                "{n_alike} of {} sets hold the same anchors as another: there are too few candidates for so many sets",
                self.places.len()
            ));
        }
    }
}

/// The one set that a judge will work with, and what may be measured with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixedAnchors<'a> {
    /// The anchors, in the order given.
    pub anchors: Vec<AnchorCandidate<'a>>,
    /// Candidates that are anchors, or share a group with one: nothing is measured on them.
    pub left_out: Vec<AnchorCandidate<'a>>,
    /// What a reader must know, in words.
    pub warnings: Vec<String>,
}

/// Takes the anchors that a judge will work with as they are, and says which candidates they leave nothing to be learnt from.
///
/// # Errors
/// [`AnchorError::Unknown`] for an anchor that is no candidate, [`AnchorError::Nothing`] for none.
pub fn fixed_anchors<'a>(
    candidates: &[AnchorCandidate<'a>],
    anchors: &[&str],
) -> Result<FixedAnchors<'a>, AnchorError> {
    if anchors.is_empty() {
        return Err(AnchorError::Nothing("the number of anchors"));
    }
    let by_item: BTreeMap<&str, AnchorCandidate<'a>> =
        candidates.iter().map(|candidate| (candidate.item, *candidate)).collect();
    let chosen: Vec<AnchorCandidate<'a>> = anchors
        .iter()
        .map(|item| by_item.get(item).copied().ok_or_else(|| AnchorError::Unknown((*item).to_owned())))
        .collect::<Result<_, _>>()?;
    let kin: BTreeSet<Kin<'_>> = chosen.iter().map(AnchorCandidate::kin).collect();
    let left_out = candidates.iter().filter(|candidate| kin.contains(&candidate.kin())).copied().collect();
    let mut counts: BTreeMap<&str, usize> = candidates.iter().map(|candidate| (candidate.label, 0)).collect();
    for anchor in &chosen {
        *counts.entry(anchor.label).or_default() += 1;
    }
    let (fewest, most) = (counts.values().min().copied().unwrap_or(0), counts.values().max().copied().unwrap_or(0));
    let mut warnings = Vec::new();
    if most > fewest + 1 {
        let counts: Vec<String> = counts.iter().map(|(label, n)| format!("{label}: {n}")).collect();
        warnings.push(format!(
            "the anchors are not balanced ({}): a judge leans to the answer it sees most",
            counts.join(", ")
        ));
    }
    Ok(FixedAnchors { anchors: chosen, left_out, warnings })
}
