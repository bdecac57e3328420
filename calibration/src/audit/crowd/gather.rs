//! The ratings of a panel as the models take them: one a rater and item, items in order of clusters.

use smallvec::SmallVec;

use crate::judgement::OutcomeKind;
use crate::log::NONE;
use crate::raters::ballots::Ballots;
use crate::raters::{Rating, Ratings};

use super::super::AuditConfig;
use super::super::accuracy::truth::Accepts;
use super::super::data::table::{ACCEPT, CHOICE_A, CHOICE_B, REJECT, Subject, Table, Unit, is};

/// The most levels of a score that count as categories.
const MOST_LEVELS: usize = 10;
/// The most categories.
const MOST_CATEGORIES: usize = 100;

/// Ratings of one dimension.
pub(super) struct Gathered<'a> {
    /// What every rater said, in parts where its own answers tie.
    pub ballots: Ballots,
    /// The ballots for one category: what the models take.
    pub ratings: Ratings,
    /// One an item.
    pub units: Vec<&'a Unit>,
    /// Each item's label as a category, where known.
    pub labels: Vec<Option<u32>>,
    pub clusters: Vec<u32>,
    /// Names of the categories.
    pub categories: Vec<String>,
    /// Categories that reject and accept, where there are two such.
    pub accepts: bool,
    pub n_items_left_out: u64,
}

impl Gathered<'_> {
    /// Returns whether items count differently.
    pub(super) fn is_weighted(&self) -> bool {
        self.units.iter().any(|unit| !is(unit.weight, self.units[0].weight))
    }
}

/// Returns what every answer of this audit is a category of: itself, or whether it accepts.
struct Reading {
    accepts: Option<Accepts>,
}

impl Reading {
    fn value(&self, draw: f64) -> f64 {
        match self.accepts {
            Some(accepts) if accepts.accepts(draw) => ACCEPT,
            Some(_) => REJECT,
            None => draw,
        }
    }

    fn label(&self, unit: &Unit) -> Option<f64> {
        match self.accepts {
            Some(_) => unit.truth.good.map(|good| if good { ACCEPT } else { REJECT }),
            None => unit.truth.value,
        }
    }
}

/// One rating on its way; of answers that tie, each.
#[derive(Clone, Copy)]
struct Given<'a> {
    place: (u32, u32, u32),
    rater: u32,
    value: f64,
    unit: &'a Unit,
}

/// Returns the dimensions that these raters rated, or `None` alone where there is one.
pub(super) fn dimensions(raters: &[&Subject]) -> Vec<Option<u32>> {
    let mut dimensions: Vec<u32> = Vec::new();
    for rater in raters {
        let mut last = None;
        for unit in &rater.units {
            if last.replace(unit.dimension) != Some(unit.dimension) && !dimensions.contains(&unit.dimension) {
                dimensions.push(unit.dimension);
            }
        }
    }
    dimensions.sort_unstable();
    if dimensions.len() > 1 { dimensions.into_iter().map(Some).collect() } else { vec![None] }
}

/// Gathers the ratings of one dimension, no more than `most_ratings` of evenly spaced items; or says why they make no panel (`None`:
/// there is nothing to say).
pub(super) fn gather<'a>(
    table: &'a Table<'_>,
    config: &AuditConfig,
    raters: &[&'a Subject],
    dimension: Option<u32>,
    has_labels: bool,
    most_ratings: usize,
) -> Option<Gathered<'a>> {
    let accepts = Accepts::of(table, config);
    // Scores without a bar, or with labels that no bar cuts, are categories themselves.
    let cuts = |unit: &Unit| unit.truth.good.is_some();
    let any_good = raters.iter().any(|rater| rater.units.iter().take(1000).any(cuts));
    let reading = Reading { accepts: accepts.filter(|_| table.kind == OutcomeKind::Verdict || any_good) };
    let mut given: Vec<Given<'a>> = Vec::new();
    let mut draws = Vec::new();
    let mut n_ballots = 0_usize;
    for (rater, subject) in (0_u32..).zip(raters) {
        for unit in subject.units.iter().filter(|unit| dimension.is_none_or(|own| unit.dimension == own)) {
            draws.clear();
            draws.extend(subject.parsed_of(unit).map(|draw| reading.value(draw)));
            let said = commonest(&mut draws);
            n_ballots += usize::from(!said.is_empty());
            given.extend(said.into_iter().map(|value| Given { place: unit.place(), rater, value, unit }));
        }
    }
    given.sort_unstable_by(|a, b| (a.place, a.rater).cmp(&(b.place, b.rater)).then(a.value.total_cmp(&b.value)));
    let n_items = given.chunk_by(|a, b| a.place == b.place).count();
    let step = n_ballots.div_ceil(most_ratings.max(1)).max(1);
    let mut levels: Vec<f64> = given.iter().map(|one| one.value).collect();
    levels.sort_unstable_by(f64::total_cmp);
    levels.dedup_by(|a, b| is(*a, *b));
    if table.kind == OutcomeKind::Score && reading.accepts.is_none() && levels.len() > MOST_LEVELS {
        return None;
    }
    match table.kind {
        _ if reading.accepts.is_some() => levels = vec![REJECT, ACCEPT],
        OutcomeKind::Choice if levels.len() < 2 => levels = vec![CHOICE_A, CHOICE_B],
        _ => {}
    }
    if has_labels && table.kind != OutcomeKind::Score {
        levels.extend(given.iter().filter_map(|one| reading.label(one.unit)));
        levels.sort_unstable_by(f64::total_cmp);
        levels.dedup_by(|a, b| is(*a, *b));
    }
    if levels.len() < 2 || levels.len() > MOST_CATEGORIES {
        return None;
    }
    let place_of = |value: f64| levels.binary_search_by(|level| level.total_cmp(&value)).ok();
    let code = |value: f64| place_of(value).and_then(|idx| u32::try_from(idx).ok());
    let mut ballots = Ballots::new(levels.len());
    let mut categories: SmallVec<[u32; 4]> = SmallVec::new();
    let (mut ratings, mut units, mut labels) = (Vec::new(), Vec::new(), Vec::new());
    for of_item in given.chunk_by(|a, b| a.place == b.place).step_by(step) {
        let item = u32::try_from(units.len()).ok()?;
        let unit = of_item[0].unit;
        units.push(unit);
        labels.push(reading.label(unit).filter(|_| has_labels).and_then(code));
        for ballot in of_item.chunk_by(|a, b| a.rater == b.rater) {
            categories.clear();
            categories.extend(ballot.iter().filter_map(|one| code(one.value)));
            ballots.push(ballot[0].rater, &categories);
            if let [category] = *categories.as_slice() {
                ratings.push(Rating { item, rater: ballot[0].rater, category });
            }
        }
        ballots.end_item();
    }
    let clusters = units.iter().map(|unit| unit.cluster).collect();
    Some(Gathered {
        ballots,
        ratings: Ratings::new(&ratings, units.len(), raters.len(), levels.len()).ok()?,
        n_items_left_out: (n_items - units.len()) as u64,
        units,
        labels,
        clusters,
        categories: levels
            .iter()
            .map(|level| match reading.accepts {
                Some(_) => if is(*level, ACCEPT) { "accept" } else { "reject" }.to_owned(),
                None => table.answer_name(*level),
            })
            .collect(),
        accepts: reading.accepts.is_some(),
    })
}

/// Returns the commonest draws, ascending: several where they tie, so that nothing hangs on the order of draws. Sorts the draws.
pub(in super::super) fn commonest(draws: &mut [f64]) -> SmallVec<[f64; 1]> {
    draws.sort_unstable_by(f64::total_cmp);
    let alike = || draws.chunk_by(|a, b| is(*a, *b));
    let most = alike().map(<[f64]>::len).max();
    alike().filter(|alike| Some(alike.len()) == most).map(|alike| alike[0]).collect()
}

/// Returns the name of the dimension, where there are several.
pub(super) fn dimension_name(table: &Table<'_>, dimension: Option<u32>) -> Option<String> {
    dimension.filter(|id| *id != NONE).map(|id| table.log.dimensions.name(id).to_owned())
}
