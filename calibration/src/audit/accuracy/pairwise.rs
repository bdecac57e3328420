//! Of pairs of items, how many do scores order, or call tied, as labels do?

use crate::interval::Spread;
use crate::judgement::OutcomeKind;
use crate::pairwise::{PairwiseAccuracy, Rated, pairwise_accuracy};

use crate::audit::data::table::{Subject, Table, Unit};
use crate::audit::estimate::{Estimated, Measured};
use crate::audit::lots::deal;

const ID: &str = "pairwise_accuracy";
/// Scores that are paired: what there are more of is thinned evenly, since pairs grow with the square.
const MOST: usize = 600;

pub(crate) fn measure(table: &Table<'_>, subject: &Subject, units: &[Unit], measured: &mut Measured) {
    if table.kind != OutcomeKind::Score {
        return;
    }
    let mut labelled = units
        .iter()
        .filter_map(|unit| unit.truth.value.map(|label| (unit, label)))
        .filter(|(unit, _)| subject.parsed_of(unit).next().is_some());
    let n_labelled = labelled.clone().count();
    if n_labelled == 0 {
        measured.unmeasured(ID, "no item has a label that is a score", &["label"]);
        return;
    }
    let first = labelled.clone().next().map(|(_, label)| label);
    if labelled.all(|(_, label)| Some(label) == first) {
        measured.unmeasured(ID, "labels do not vary", &[]);
        return;
    }
    let ratings = Ratings::of(table, subject, units);
    let value = pairwise_accuracy(&ratings.kept).map(|found| ratings.estimated(&found));
    measured.record(ID, value, "labels do not vary between the items that were paired", &[]);
}

/// Single scores of labelled items.
struct Ratings {
    kept: Vec<Rated>,
    n_items: u64,
    n_all: usize,
}

impl Ratings {
    fn of(table: &Table<'_>, subject: &Subject, units: &[Unit]) -> Self {
        let scores = || {
            units.iter().filter_map(|unit| unit.truth.value.map(|label| (unit, label))).flat_map(|(unit, label)| {
                let n = subject.parsed_of(unit).count() as f64;
                subject.parsed_of(unit).map(move |score| Rated {
                    score,
                    label,
                    weight: unit.weight / n,
                    item: unit.item,
                    cluster: unit.cluster,
                })
            })
        };
        let n_all = scores().count();
        // Of n scores the i-th is taken where i · most / n passes a whole number.
        let most = MOST.min(n_all);
        let is_kept = |i: usize| i * most / n_all != (i + 1) * most / n_all;
        let mut kept: Vec<Rated> = scores().enumerate().filter(|(i, _)| is_kept(*i)).map(|(_, rated)| rated).collect();
        // Every other cluster is one half of what is cross-fitted: numbered by lot, not in the order of the rows.
        let mut clusters: Vec<u32> = kept.iter().map(|rated| rated.cluster).collect();
        clusters.dedup();
        let turns = deal(table, &clusters, clusters.len().max(1), 0);
        for rated in &mut kept {
            // Units come in order of clusters, of which each is found.
            let place = clusters.partition_point(|cluster| *cluster < rated.cluster);
            rated.cluster = u32::try_from(turns[place]).expect("clusters are numbered by u32");
        }
        let n_items = kept.chunk_by(|a, b| a.item == b.item).count() as u64;
        Self { kept, n_items, n_all }
    }

    fn estimated(&self, found: &PairwiseAccuracy) -> Estimated {
        let (estimate, m) = (found.accuracy, found.n_clusters as f64);
        let spread = match found.standard_error {
            // Half as many pairs as clusters are independent of each other.
            _ if estimate >= 1.0 => Spread::Unseen { n_clusters: (m / 2.0).floor(), size: -1.0 },
            Some(standard_error) if standard_error > 1e-12 && estimate > 0.0 => {
                Spread::Logit { standard_error: standard_error / (estimate * (1.0 - estimate)), degrees: m - 1.0 }
            }
            _ => Spread::None,
        };
        let mut value = Estimated {
            estimate,
            spread,
            n: self.kept.len() as u64,
            n_items: self.n_items,
            n_clusters: found.n_clusters,
            method: format!(
                "pairs of single scores of different items, ordered or tied as their labels; ties are scores at most {} apart, the \
                 tolerance that is best here; delete-one-cluster jackknife at that tolerance, logit scale",
                rounded(found.epsilon)
            ),
            cautions: vec![
                "the tolerance for ties was chosen on these items: see cross_fitted in the details".to_owned(),
            ],
            details: [
                ("epsilon".to_owned(), found.epsilon),
                ("accuracy_at_zero".to_owned(), found.at_zero),
                ("accuracy_of_all_tied".to_owned(), found.all_tied),
                ("n_pairs".to_owned(), found.n_pairs as f64),
            ]
            .into(),
            worst: None,
        };
        if let Some(cross_fitted) = found.cross_fitted {
            value = value.detail("cross_fitted", cross_fitted);
        }
        if self.kept.len() < self.n_all {
            value = value.caution(format!(
                "{} scores spread evenly over {} were paired, since pairs grow with the square",
                self.kept.len(),
                self.n_all
            ));
        }
        value
    }
}

/// To six digits after the point, without zeros at the end.
fn rounded(value: f64) -> String {
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
