//! What sways a judge beside the quality of an item: its length, and who made it.
//!
//! An observation is a unit's mean answer. Effects are coefficients of regressions with errors clustered by the log's clusters (CR2,
//! Satterthwaite's t), so that few of them do not pass for many. Position is measured apart, in [`position`]; what all
//! of them come to together, and the correction for having looked for several, is in [`family`].

mod family;
mod findings;
mod length;
mod makers;
mod names;
pub(crate) mod null;
pub(super) mod position;
pub(super) mod scale_use;
mod style;

use crate::interval::Spread;
use crate::judgement::OutcomeKind;
use crate::log::{Log, NONE, number};
use crate::regression::{Adjustment, Coefficient, Design, Regression, least_squares, least_squares_and_scores};

use super::AuditConfig;
use super::data::table::{ACCEPT, CHOICE_A, CHOICE_TIE, Subject, Table, Unit, is};
use super::estimate::{Estimated, Measured};

pub(crate) use family::family;
pub(crate) use findings::findings;
pub(crate) use makers::{Makers, by_generator, generators_called};
pub(crate) use style::{StyleColumn, style, styles};

/// Fewer degrees of freedom than this make a t interval rough (Pustejovsky & Tipton 2018).
const FEW_DEGREES: f64 = 4.0;
/// A standard error this small beside its estimate is rounding: the order of rows would decide it.
const ROUNDING: f64 = 1e-12;
/// Labels of up to so many different scores are taken one by one; more, as a number.
const MOST_LEVELS: usize = 6;

/// Returns log₂ of the length of each item, or of the ratio of both candidates' lengths; NaN where not stated, and empty where none
/// is. Lengths that are not positive count as not stated.
pub(crate) fn lengths(log: &Log, kind: OutcomeKind) -> Vec<f64> {
    let is_pair = kind == OutcomeKind::Choice;
    if log.length_a.is_empty() || (is_pair && log.length_b.is_empty()) || kind == OutcomeKind::Category {
        return Vec::new();
    }
    let positive = |column: &[f64], row_idx: usize| number(column, row_idx).filter(|length| *length > 0.0);
    let mut lengths = vec![f64::NAN; log.items.len()];
    for (row_idx, &item) in log.item.iter().enumerate() {
        let known = &mut lengths[item as usize];
        if !known.is_nan() {
            continue;
        }
        let Some(a) = positive(&log.length_a, row_idx) else { continue };
        if !is_pair {
            *known = a.log2();
        } else if let Some(b) = positive(&log.length_b, row_idx) {
            *known = a.log2() - b.log2();
        }
    }
    lengths
}

/// Measures what sways one judge; without a seed nothing is said of what chance alone would show.
pub(crate) fn measure(
    table: &Table<'_>,
    subject: &Subject,
    units: &[Unit],
    config: &AuditConfig,
    seed_of_nulls: Option<u64>,
    measured: &mut Measured,
) {
    if table.kind == OutcomeKind::Category {
        return;
    }
    length::measure(table, subject, units, seed_of_nulls, measured);
    makers::measure(table, subject, units, config, seed_of_nulls, measured);
}

/// Returns a unit's mean answer: its score, the share that accepts, or the share for candidate A with ties half. `None` where no
/// answer was parsed. Orders weigh the same, so that an effect of place does not pass for another.
fn answer(kind: OutcomeKind, subject: &Subject, unit: &Unit) -> Option<f64> {
    let value = |draw: f64| match kind {
        OutcomeKind::Choice if is(draw, CHOICE_A) => 1.0,
        OutcomeKind::Choice if is(draw, CHOICE_TIE) => 0.5,
        OutcomeKind::Choice => 0.0,
        OutcomeKind::Verdict => f64::from(u8::from(is(draw, ACCEPT))),
        _ => draw,
    };
    let (mut sum, mut n) = (0.0, 0.0);
    for cell in subject.cells_of(unit).iter().filter(|cell| cell.n_parsed() > 0) {
        let of = cell.n_parsed() as f64;
        sum += subject.parsed(cell).map(|draw| value(draw) / of).sum::<f64>();
        n += 1.0;
    }
    (n > 0.0).then(|| sum / n)
}

/// Whether an answer is a share, so that an effect on it is one of points of a hundred.
const fn is_share(kind: OutcomeKind) -> bool {
    matches!(kind, OutcomeKind::Choice | OutcomeKind::Verdict)
}

/// Units with an outcome and what may explain it.
#[derive(Default)]
struct Observations<'a> {
    units: Vec<&'a Unit>,
    outcomes: Vec<f64>,
    /// What is looked for.
    explanation: Vec<f64>,
    n: u64,
}

impl<'a> Observations<'a> {
    fn push(&mut self, subject: &Subject, unit: &'a Unit, outcome: f64, explanation: f64) {
        self.n += subject.cells_of(unit).iter().map(|cell| cell.n_parsed() as u64).sum::<u64>();
        self.units.push(unit);
        self.outcomes.push(outcome);
        self.explanation.push(explanation);
    }

    fn is_labelled(unit: &Unit) -> bool {
        unit.truth.value.is_some() || unit.truth.good.is_some()
    }

    /// Keeps the labelled units where there are any, and returns whether there are.
    fn keep_labelled(&mut self, subject: &Subject) -> bool {
        if !self.units.iter().any(|unit| Self::is_labelled(unit)) {
            return false;
        }
        let mut kept = Self::default();
        for (idx, unit) in self.units.iter().enumerate().filter(|(_, unit)| Self::is_labelled(unit)) {
            kept.push(subject, unit, self.outcomes[idx], self.explanation[idx]);
        }
        *self = kept;
        true
    }

    /// Returns the columns that stand for the label: one a level, or the label as a number where it has many.
    fn label_columns(&self) -> Vec<Vec<f64>> {
        let code = |unit: &&Unit| unit.truth.value.or_else(|| unit.truth.good.map(|good| f64::from(u8::from(good))));
        let codes: Vec<f64> = self.units.iter().map(|unit| code(unit).unwrap_or(f64::NAN)).collect();
        let mut levels: Vec<f64> = Vec::new();
        for code in codes.iter().filter(|code| !code.is_nan()) {
            if let Err(place) = levels.binary_search_by(|known| known.total_cmp(code)) {
                levels.insert(place, *code);
                if levels.len() > MOST_LEVELS {
                    return vec![codes];
                }
            }
        }
        let indicator = |level: &f64| codes.iter().map(|code| f64::from(u8::from(is(*code, *level)))).collect();
        levels.iter().skip(1).map(indicator).collect()
    }

    /// Returns the effect of what is looked for on the outcome, given `others`. `None` where they explain it, or it does not vary.
    fn effect(&self, others: Vec<Vec<f64>>, stream: u64, seed_of_null: Option<u64>) -> Option<Effect> {
        let (weights, clusters) = self.weights_and_clusters();
        let mut columns = others;
        // Last, so that what others explain is not blamed on it.
        columns.push(self.explanation.clone());
        let design = Design {
            outcomes: &self.outcomes,
            columns: &columns,
            weights: weights.as_deref(),
            clusters: Some(&clusters),
        };
        let (fit, scores) = least_squares_and_scores(&design, Adjustment::Cr2)?;
        let scores = scores?;
        let null = seed_of_null.and_then(|seed| null::sign_flip(clusters.iter().copied().zip(scores), seed, stream));
        Effect::new(&fit, fit.coefficients.last().copied().flatten()?, null)
    }

    /// Returns the mean of the outcomes, as an effect to be held against none.
    fn mean(&self, stream: u64, seed_of_null: Option<u64>) -> Option<Effect> {
        let (weights, clusters) = self.weights_and_clusters();
        let design =
            Design { outcomes: &self.outcomes, columns: &[], weights: weights.as_deref(), clusters: Some(&clusters) };
        let fit = least_squares(&design, Adjustment::Cr2)?;
        let contributions =
            (0..self.units.len()).map(|idx| (clusters[idx], self.units[idx].weight * self.outcomes[idx]));
        let null = seed_of_null.and_then(|seed| null::sign_flip(contributions, seed, stream));
        Effect::new(&fit, fit.intercept, null)
    }

    fn weights_and_clusters(&self) -> (Option<Vec<f64>>, Vec<u32>) {
        let is_weighted = self.units.iter().any(|unit| !is(unit.weight, 1.0));
        let weights = is_weighted.then(|| self.units.iter().map(|unit| unit.weight).collect());
        (weights, self.units.iter().map(|unit| unit.cluster).collect())
    }

    fn n_items(&self) -> u64 {
        super::count_distinct(self.units.iter().map(|unit| unit.item))
    }
}

/// A coefficient with its test.
struct Effect {
    estimate: f64,
    standard_error: f64,
    degrees: f64,
    n_clusters: u64,
    null: Option<null::Null>,
}

impl Effect {
    fn new(fit: &Regression, found: Coefficient, null: Option<null::Null>) -> Option<Self> {
        let Coefficient { estimate, standard_error, degrees } = found;
        let n_clusters = fit.n_clusters as u64;
        estimate.is_finite().then_some(Self { estimate, standard_error, degrees, n_clusters, null })
    }

    fn estimated(self, n: u64, n_items: u64, definition: &str) -> Estimated {
        // An error that is nothing but rounding is none.
        let least = ROUNDING * self.estimate.abs();
        let has_error = self.standard_error.is_finite() && self.standard_error > least && self.degrees.is_finite();
        let (standard_error, degrees) = (self.standard_error, self.degrees);
        let spread = if has_error {
            Spread::Student { standard_error, degrees, range: [f64::NEG_INFINITY, f64::INFINITY] }
        } else {
            Spread::None
        };
        let mut value = Estimated {
            estimate: self.estimate,
            spread,
            n,
            n_items,
            n_clusters: self.n_clusters,
            method: format!("{definition}; errors clustered (CR2), t with Satterthwaite's degrees of freedom"),
            cautions: Vec::new(),
            details: [("standard_error".to_owned(), standard_error), ("degrees_of_freedom".to_owned(), degrees)].into(),
            worst: None,
        };
        if degrees < FEW_DEGREES {
            value =
                value.caution("under 4 degrees of freedom: few clusters carry the effect, and its interval is rough");
        }
        match self.null {
            Some(null) => null.details(value),
            None => value,
        }
    }
}

/// Returns the maker of each item and of candidate B, by item; [`NONE`] where not stated, and empty where none is.
fn makers_of_items(log: &Log) -> Vec<[u32; 2]> {
    if log.generator.is_empty() && log.generator_b.is_empty() {
        return Vec::new();
    }
    let mut makers = vec![[NONE; 2]; log.items.len()];
    for (row_idx, &item) in log.item.iter().enumerate() {
        let known = &mut makers[item as usize];
        for (known, stated) in known.iter_mut().zip([log.generator.at(row_idx), log.generator_b.at(row_idx)]) {
            if *known == NONE {
                *known = stated;
            }
        }
    }
    makers
}
