//! Agreement with labels beyond chance: Cohen's kappa, Gwet's AC1, Krippendorff's alpha, each item weighing the same.
//!
//! A unit with several answers counts as a distribution over answers. Variances are infinitesimal jackknives over
//! clusters; with one answer a unit and no groups they are the usual large-sample ones.

use smallvec::SmallVec;

use crate::agreement::kappa::{self as agreement, Chance, Weighting};
use crate::cluster::influence_standard_error;
use crate::interval::Spread;
use crate::judgement::OutcomeKind;

use super::truth::Accepts;
use crate::audit::data::table::{Subject, Table, Unit};
use crate::audit::estimate::Estimated;

/// Fewer clusters than this with a disagreement say little about its variance.
pub(crate) const FEW_CLUSTERS: usize = 10;

/// The most categories for which agreement beyond chance is worked out: its table is their square, and answers that are
/// nearly all different are texts, not categories.
pub(crate) const MOST_CATEGORIES: usize = 500;

/// The three coefficients; each may be undefined.
#[derive(Default)]
pub(crate) struct ChanceCorrected {
    pub kappa: Option<Estimated>,
    pub ac1: Option<Estimated>,
    pub alpha: Option<Estimated>,
}

/// One unit: its label's category, and the shares of its answers by category.
pub(crate) struct LabelledUnit {
    pub label: usize,
    pub answers: SmallVec<[(usize, f64); 3]>,
    pub cluster: u32,
    pub n: usize,
    pub weight: f64,
}

/// Returns the categories of a unit's parsed answers; none where answers are of no category.
#[inline]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "codes of answers are small ids")]
fn answer_categories<'a>(
    subject: &'a Subject,
    unit: &Unit,
    kind: OutcomeKind,
    accepts: Option<Accepts>,
) -> impl Iterator<Item = usize> + use<'a> {
    let cells = subject.cells[unit.cells.clone()].iter();
    let category = move |draw: f64| match (kind, accepts) {
        (OutcomeKind::Choice | OutcomeKind::Category, _) => Some(draw as usize),
        (_, Some(accepts)) => Some(usize::from(accepts.accepts(draw))),
        _ => None,
    };
    cells.flat_map(|cell| subject.parsed(cell)).filter_map(category)
}

/// Returns the category of a unit's label.
#[inline]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "codes of answers are small ids")]
fn label_category(kind: OutcomeKind, unit: &Unit) -> Option<usize> {
    match kind {
        OutcomeKind::Choice | OutcomeKind::Category => unit.truth.value.map(|value| value as usize),
        OutcomeKind::Verdict | OutcomeKind::Score => unit.truth.good.map(usize::from),
    }
}

/// Returns the units that have a label and a parsed answer, with categories numbered densely.
pub(crate) fn labelled_units(
    table: &Table<'_>,
    subject: &Subject,
    units: &[Unit],
    accepts: Option<Accepts>,
) -> Vec<LabelledUnit> {
    let mut labelled = Vec::with_capacity(units.len());
    for unit in units {
        let Some(label) = label_category(table.kind, unit) else { continue };
        let mut answers = SmallVec::new();
        let mut n = 0;
        for category in answer_categories(subject, unit, table.kind, accepts) {
            n += 1;
            match answers.iter_mut().find(|(known, _): &&mut (usize, f64)| *known == category) {
                Some((_, count)) => *count += 1.0,
                None => answers.push((category, 1.0)),
            }
        }
        if n > 0 {
            for (_, count) in &mut answers {
                *count /= n as f64;
            }
            labelled.push(LabelledUnit { label, answers, cluster: unit.cluster, n, weight: unit.weight });
        }
    }
    labelled
}

/// Returns the coefficients of answers with labels. Undefined where fewer than two categories occur.
pub(crate) fn chance_corrected(
    table: &Table<'_>,
    subject: &Subject,
    units: &[Unit],
    accepts: Option<Accepts>,
) -> ChanceCorrected {
    let labelled = labelled_units(table, subject, units, accepts);
    let Some(basis) = Basis::new(table, &labelled) else { return ChanceCorrected::default() };
    let n = labelled.len() as f64;
    // Krippendorff's expected disagreement is that of two of all 2n values without replacement, Scott's that with.
    let krippendorff = (2.0 * n - 1.0) / (2.0 * n);
    ChanceCorrected {
        kappa: basis.coefficient(Chance::Cohen, 1.0, "Cohen's kappa").map(|kappa| basis.with_marginals(kappa)),
        ac1: basis.coefficient(Chance::Gwet, 1.0, "Gwet's AC1"),
        alpha: basis.coefficient(Chance::Scott, krippendorff, "Krippendorff's alpha (nominal)"),
    }
}

/// The table of labels against answers over the categories that occur, items weighing the same.
struct Basis<'a> {
    table: &'a Table<'a>,
    labelled: &'a [LabelledUnit],
    /// The categories that occur, ascending.
    categories: Vec<usize>,
    /// The position of each category among them.
    place: Vec<usize>,
    /// Rows are labels, columns answers.
    cells: Vec<f64>,
    n_clusters_that_disagree: usize,
}

impl<'a> Basis<'a> {
    fn new(table: &'a Table<'a>, labelled: &'a [LabelledUnit]) -> Option<Self> {
        let largest = labelled
            .iter()
            .flat_map(|unit| unit.answers.iter().map(|(category, _)| *category).chain([unit.label]))
            .max()?;
        let mut place = vec![usize::MAX; largest + 1];
        for unit in labelled {
            for category in unit.answers.iter().map(|(category, _)| *category).chain([unit.label]) {
                place[category] = 0;
            }
        }
        if place.iter().filter(|place| **place == 0).count() > MOST_CATEGORIES {
            return None;
        }
        let categories: Vec<usize> = (0..=largest).filter(|&category| place[category] == 0).collect();
        for (position, &category) in categories.iter().enumerate() {
            place[category] = position;
        }
        let n = categories.len();
        let mut cells = vec![0.0; n * n];
        for unit in labelled {
            for &(category, share) in &unit.answers {
                cells[place[unit.label] * n + place[category]] += unit.weight * share;
            }
        }
        let differs = |unit: &&LabelledUnit| unit.answers.iter().any(|(category, _)| *category != unit.label);
        // Units of one cluster follow each other.
        let clusters = labelled.chunk_by(|a, b| a.cluster == b.cluster);
        let n_clusters_that_disagree = clusters.filter(|units| units.iter().find(differs).is_some()).count();
        (n >= 2).then_some(Self { table, labelled, categories, place, cells, n_clusters_that_disagree })
    }

    /// Returns 1 − (1 − coefficient) · `correction`, with the variance between clusters of its influence values.
    fn coefficient(&self, chance: Chance, correction: f64, name: &str) -> Option<Estimated> {
        let n_categories = self.categories.len();
        let found = agreement::chance_corrected(&self.cells, n_categories, chance, &Weighting::Unweighted)?;
        let cells = agreement::cell_influence(&self.cells, n_categories, chance, &Weighting::Unweighted)?;
        let n: f64 = self.labelled.iter().map(|unit| unit.weight).sum();
        let estimate = 1.0 - (1.0 - found.kappa) * correction;
        let influence = self.labelled.iter().map(|unit| {
            let row = self.place[unit.label] * n_categories;
            let sum: f64 =
                unit.answers.iter().map(|&(category, share)| share * cells[row + self.place[category]]).sum();
            (unit.cluster, correction * unit.weight * sum / n)
        });
        let (standard_error, n_clusters) = influence_standard_error(influence, self.table.n_clusters);
        // With disagreement in few clusters their variance is hardly seen: then each cluster counts as one trial at most, as
        // it does for rates.
        let standard_error = if self.n_clusters_that_disagree < FEW_CLUSTERS {
            let spread = found.observed * (1.0 - found.observed) / n_clusters as f64;
            standard_error.max(correction * spread.sqrt() / (1.0 - found.expected))
        } else {
            standard_error
        };
        let degrees = n_clusters as f64 - 1.0;
        let spread = if found.observed >= 1.0 - 1e-12 {
            Spread::Unseen { n_clusters: n_clusters as f64, size: -1.0 / (1.0 - found.expected) }
        } else {
            Spread::fisher_z(estimate, standard_error, degrees)
        };
        Some(Estimated {
            estimate,
            spread,
            n: self.labelled.iter().map(|unit| unit.n as u64).sum(),
            n_items: self.labelled.len() as u64,
            n_clusters,
            method: format!(
                "{name} with the labels, items weighing the same; infinitesimal jackknife over clusters, scale of atanh"
            ),
            cautions: Vec::new(),
            details: [
                ("observed_agreement".to_owned(), found.observed),
                ("chance_agreement".to_owned(), found.expected),
                ("standard_error".to_owned(), standard_error),
            ]
            .into(),
            worst: None,
        })
    }

    /// Prints both marginals beside kappa, which means little without them.
    fn with_marginals(&self, mut kappa: Estimated) -> Estimated {
        let n = self.categories.len();
        let total: f64 = self.cells.iter().sum();
        for (position, &category) in self.categories.iter().enumerate() {
            let row: f64 = self.cells[position * n..(position + 1) * n].iter().sum();
            let column: f64 = self.cells.iter().skip(position).step_by(n).sum();
            let name = category_name(self.table, category);
            kappa.details.insert(format!("label_share.{name}"), row / total);
            kappa.details.insert(format!("answer_share.{name}"), column / total);
        }
        kappa
    }
}

/// Returns the name of a category of [`labelled_units`].
fn category_name(table: &Table<'_>, category: usize) -> String {
    match table.kind {
        OutcomeKind::Score => if category == 1 { "accept" } else { "reject" }.to_owned(),
        _ => table.answer_name(category as f64),
    }
}

/// The most categories of which the table of labels against answers is shown.
const MOST_SHOWN: usize = 30;

/// Returns the table of labels against answers, item-weighted and as counts. `None` without labelled answers, or with more
/// categories than can be shown.
pub(crate) fn confusion(
    table: &Table<'_>,
    subject: &Subject,
    units: &[Unit],
    accepts: Option<Accepts>,
) -> Option<crate::audit::result::Confusion> {
    let kind = table.kind;
    let mut used: Vec<usize> = Vec::new();
    let mut any_parsed = false;
    for unit in units {
        // A label beside unparsed replies alone is a row too: that nothing could be read of it is what is to be seen.
        let Some(label) = label_category(kind, unit) else { continue };
        let answers = answer_categories(subject, unit, kind, accepts).inspect(|_| any_parsed = true);
        for category in answers.chain([label]) {
            if let Err(place) = used.binary_search(&category) {
                used.insert(place, category);
            }
        }
        if used.len() > MOST_SHOWN {
            return None;
        }
    }
    if used.is_empty() || !any_parsed {
        return None;
    }
    let n = used.len();
    let mut found = crate::audit::result::Confusion {
        categories: used.iter().map(|&category| category_name(table, category)).collect(),
        weights: vec![vec![0.0; n]; n],
        counts: vec![vec![0; n]; n],
        unparsed: vec![0; n],
    };
    let mut of_unit = vec![0_u64; n];
    for unit in units {
        let Some(row) = label_category(kind, unit).and_then(|label| used.binary_search(&label).ok()) else { continue };
        of_unit.fill(0);
        for category in answer_categories(subject, unit, kind, accepts) {
            if let Ok(column) = used.binary_search(&category) {
                of_unit[column] += 1;
            }
        }
        let n_answers: u64 = of_unit.iter().sum();
        for (column, &count) in of_unit.iter().enumerate().filter(|(_, count)| **count > 0) {
            found.weights[row][column] += unit.weight * count as f64 / n_answers as f64;
            found.counts[row][column] += count;
        }
        found.unparsed[row] += subject.cells_of(unit).iter().map(|cell| cell.n_unparsed as u64).sum::<u64>();
    }
    Some(found)
}
