//! Agreement with labels beyond chance: Cohen's kappa, Gwet's AC1, Krippendorff's alpha, each item weighing the same.
//!
//! A unit with several answers counts as a distribution over answers. Variances are infinitesimal jackknives over
//! clusters; with one answer a unit and no groups they are the usual large-sample ones.

use std::collections::BTreeMap;

use crate::cluster::influence_standard_error;
use crate::interval::Spread;
use crate::judgement::OutcomeKind;

use super::estimate::Estimated;
use super::table::{Subject, Table, Unit};
use super::truth::Accepts;

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
    pub answers: Vec<(usize, f64)>,
    pub cluster: u32,
    pub n: usize,
}

/// Returns the units that have a label and a parsed answer, with categories numbered densely.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "codes of answers are small ids")]
pub(crate) fn labelled_units(
    table: &Table<'_>,
    subject: &Subject,
    units: &[Unit],
    accepts: Option<Accepts>,
) -> Vec<LabelledUnit> {
    let category = |draw: f64| match (table.kind, accepts) {
        (OutcomeKind::Choice | OutcomeKind::Category, _) => Some(draw as usize),
        (_, Some(accepts)) => Some(usize::from(accepts.accepts(draw))),
        _ => None,
    };
    let label = |unit: &Unit| match table.kind {
        OutcomeKind::Choice | OutcomeKind::Category => unit.truth.value.map(|value| value as usize),
        OutcomeKind::Verdict | OutcomeKind::Score => unit.truth.good.map(usize::from),
    };
    let mut labelled = Vec::with_capacity(units.len());
    for unit in units {
        let Some(label) = label(unit) else { continue };
        let mut answers: Vec<(usize, f64)> = Vec::new();
        let mut n = 0;
        for draw in subject.parsed_of(unit) {
            let Some(category) = category(draw) else { continue };
            n += 1;
            match answers.iter_mut().find(|(known, _)| *known == category) {
                Some((_, count)) => *count += 1.0,
                None => answers.push((category, 1.0)),
            }
        }
        if n > 0 {
            for (_, count) in &mut answers {
                *count /= n as f64;
            }
            labelled.push(LabelledUnit { label, answers, cluster: unit.cluster, n });
        }
    }
    labelled
}

pub(crate) fn chance_corrected(
    table: &Table<'_>,
    subject: &Subject,
    units: &[Unit],
    accepts: Option<Accepts>,
) -> ChanceCorrected {
    let labelled = labelled_units(table, subject, units, accepts);
    let n = labelled.len() as f64;
    let n_categories =
        labelled.iter().flat_map(|unit| unit.answers.iter().map(|(category, _)| *category).chain([unit.label])).max();
    let Some(n_categories) = n_categories.map(|largest| largest + 1) else { return ChanceCorrected::default() };
    let (mut rows, mut columns) = (vec![0.0; n_categories], vec![0.0; n_categories]);
    let mut observed = 0.0;
    for unit in &labelled {
        rows[unit.label] += 1.0 / n;
        for &(category, share) in &unit.answers {
            columns[category] += share / n;
            if category == unit.label {
                observed += share / n;
            }
        }
    }
    let basis = Basis { table, labelled: &labelled, observed, rows: &rows, columns: &columns };
    let used = rows.iter().zip(&columns).filter(|(row, column)| **row + **column > 0.0).count();
    if used < 2 {
        return ChanceCorrected::default();
    }
    let kappa_chance: f64 = rows.iter().zip(&columns).map(|(row, column)| row * column).sum();
    let kappa = basis.coefficient(
        kappa_chance,
        1.0,
        |unit| {
            let columns_at_label = columns[unit.label];
            let rows_at_answers: f64 = unit.answers.iter().map(|&(category, share)| share * rows[category]).sum();
            columns_at_label + rows_at_answers - 2.0 * kappa_chance
        },
        "Cohen's kappa with the labels, items weighing equally; infinitesimal jackknife over clusters, scale of atanh",
    );
    let mean: Vec<f64> = rows.iter().zip(&columns).map(|(row, column)| f64::midpoint(*row, *column)).collect();
    // Categories that the log's vocabulary has but nobody used are not counted: as in irrCAC with observed categories.
    let spread = (used - 1) as f64;
    let ac1_chance = mean.iter().map(|share| share * (1.0 - share)).sum::<f64>() / spread;
    let along = |unit: &LabelledUnit, weight: &dyn Fn(f64) -> f64| {
        let at_label = 0.5 * weight(mean[unit.label]);
        let at_answers: f64 = unit.answers.iter().map(|&(category, share)| 0.5 * share * weight(mean[category])).sum();
        at_label + at_answers - mean.iter().map(|share| share * weight(*share)).sum::<f64>()
    };
    let ac1 = basis.coefficient(
        ac1_chance,
        1.0,
        |unit| along(unit, &|share| 1.0 - 2.0 * share) / spread,
        "Gwet's AC1 with the labels, items weighing equally; infinitesimal jackknife over clusters, scale of atanh",
    );
    // Krippendorff's expected disagreement is that of two values drawn without replacement from all 2n.
    let alpha_chance: f64 = mean.iter().map(|share| share * share).sum();
    let alpha = basis.coefficient(
        alpha_chance,
        (2.0 * n - 1.0) / (2.0 * n),
        |unit| along(unit, &|share| 2.0 * share),
        "Krippendorff's alpha (nominal) of answer and label; infinitesimal jackknife over clusters, scale of atanh",
    );
    ChanceCorrected { kappa: kappa.map(|kappa| basis.with_marginals(kappa)), ac1, alpha }
}

/// What all three coefficients are made from.
struct Basis<'a> {
    table: &'a Table<'a>,
    labelled: &'a [LabelledUnit],
    observed: f64,
    rows: &'a [f64],
    columns: &'a [f64],
}

impl Basis<'_> {
    /// Returns 1 − (1 − observed)/(1 − chance) · correction, with the influence of each unit on chance given.
    fn coefficient(
        &self,
        chance: f64,
        correction: f64,
        chance_influence: impl Fn(&LabelledUnit) -> f64,
        method: &str,
    ) -> Option<Estimated> {
        let room = 1.0 - chance;
        if room <= 1e-12 {
            return None;
        }
        let n = self.labelled.len() as f64;
        let estimate = 1.0 - (1.0 - self.observed) / room * correction;
        let influence = self.labelled.iter().map(|unit| {
            let agreed: f64 =
                unit.answers.iter().filter(|(category, _)| *category == unit.label).map(|(_, share)| share).sum();
            let slope =
                ((agreed - self.observed) * room - (1.0 - self.observed) * chance_influence(unit)) / (room * room);
            (unit.cluster, correction * slope / n)
        });
        let (standard_error, n_clusters) = influence_standard_error(influence, self.table.n_clusters);
        let degrees = n_clusters as f64 - 1.0;
        let spread = if self.observed >= 1.0 - 1e-12 {
            Spread::Unseen { n_clusters: n_clusters as f64, size: -1.0 / room }
        } else if standard_error.is_finite() && standard_error > 0.0 {
            Spread::FisherZ { standard_error: standard_error / (1.0 - estimate * estimate).max(1e-12), degrees }
        } else {
            Spread::None
        };
        Some(Estimated {
            estimate,
            spread,
            n: self.labelled.iter().map(|unit| unit.n as u64).sum(),
            n_items: self.labelled.len() as u64,
            n_clusters,
            method: method.to_owned(),
            cautions: Vec::new(),
            details: [
                ("observed_agreement".to_owned(), self.observed),
                ("chance_agreement".to_owned(), chance),
                ("standard_error".to_owned(), standard_error),
            ]
            .into(),
            worst: None,
        })
    }

    /// Prints both marginals beside kappa, which means little without them.
    fn with_marginals(&self, mut kappa: Estimated) -> Estimated {
        for (prefix, shares) in [("label_share", self.rows), ("answer_share", self.columns)] {
            for (category, share) in shares.iter().enumerate() {
                let name = if self.table.kind == OutcomeKind::Score {
                    if category == 1 { "accept" } else { "reject" }.to_owned()
                } else {
                    self.table.answer_name(category as f64)
                };
                kappa.details.insert(format!("{prefix}.{name}"), *share);
            }
        }
        kappa.details.retain(|name, value| *value > 0.0 || !name.contains("_share."));
        kappa
    }
}

/// Returns the table of labels against answers, item-weighted and as counts.
pub(crate) fn confusion(
    table: &Table<'_>,
    subject: &Subject,
    units: &[Unit],
    accepts: Option<Accepts>,
) -> Option<super::result::Confusion> {
    let labelled = labelled_units(table, subject, units, accepts);
    let mut used: BTreeMap<usize, usize> = BTreeMap::new();
    for unit in &labelled {
        for category in unit.answers.iter().map(|(category, _)| *category).chain([unit.label]) {
            used.insert(category, 0);
        }
    }
    if used.is_empty() || used.len() > 30 {
        return None;
    }
    for (idx, position) in used.values_mut().enumerate() {
        *position = idx;
    }
    let n = used.len();
    let mut found = super::result::Confusion {
        categories: used
            .keys()
            .map(|&category| match table.kind {
                OutcomeKind::Score => if category == 1 { "accept" } else { "reject" }.to_owned(),
                _ => table.answer_name(category as f64),
            })
            .collect(),
        weights: vec![vec![0.0; n]; n],
        counts: vec![vec![0; n]; n],
        unparsed: vec![0; n],
    };
    for unit in &labelled {
        for &(category, share) in &unit.answers {
            let (row, column) = (used[&unit.label], used[&category]);
            found.weights[row][column] += share;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a share of n is a whole number"
            )]
            let count = (share * unit.n as f64).round() as u64;
            found.counts[row][column] += count;
        }
    }
    for unit in units {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "codes of answers are small ids")]
        let label = match table.kind {
            OutcomeKind::Choice | OutcomeKind::Category => unit.truth.value.map(|value| value as usize),
            OutcomeKind::Verdict | OutcomeKind::Score => unit.truth.good.map(usize::from),
        };
        if let Some(row) = label.and_then(|label| used.get(&label)) {
            found.unparsed[*row] += subject.cells_of(unit).iter().map(|cell| cell.n_unparsed as u64).sum::<u64>();
        }
    }
    Some(found)
}
