//! What errors cost, and what of the items without labels is right.

use assize_calibration::audit::catalogue::Unit;
use assize_calibration::audit::result::{CorrectedPassRate, CostedThreshold, JudgeAudit, Measure, ThresholdCosts};
use serde::Serialize;

use super::forest::{self, Cell};
use crate::format;

#[derive(Serialize)]
struct CostRow {
    name: &'static str,
    threshold: String,
    here: Cell,
    elsewhere: Option<Cell>,
}

/// Thresholds weighed by cost.
#[derive(Serialize)]
pub(crate) struct CostsView {
    says: String,
    rows: Vec<CostRow>,
    bases: Vec<String>,
}

/// Words what thresholds cost.
pub(super) fn costs(costs: &ThresholdCosts) -> CostsView {
    let [accept, reject] = costs.costs;
    let [everything, nothing] = costs.without_looking;
    let row = |name, costed: &CostedThreshold| CostRow {
        name,
        threshold: costed.threshold.map_or("accept nothing".to_owned(), format::plain),
        here: Cell::new(&costed.expected_cost, Unit::Loss),
        elsewhere: costed.cross_validated.as_ref().map(|measure| Cell::new(measure, Unit::Loss)),
    };
    let crossed = costs.cheapest.cross_validated.as_ref().unwrap_or(&costs.cheapest.expected_cost);
    CostsView {
        says: format!(
            "A false accept costs {}, a false reject {}, and {} of items are right. Accepting everything would cost {} an answer, accepting \
             nothing {}.",
            format::plain(accept),
            format::plain(reject),
            format::per_cent(costs.base_rate),
            format::value(everything, Unit::Loss),
            format::value(nothing, Unit::Loss)
        ),
        rows: vec![row("least cost", &costs.cheapest), row("cap on false accepts", &costs.by_cap)],
        bases: forest::bases([("Cost", crossed)].into_iter()),
    }
}

#[derive(Serialize)]
struct RateRow {
    name: &'static str,
    cell: Cell,
    counts: String,
}

/// What of the items without labels is right.
#[derive(Serialize)]
pub(crate) struct PassingView {
    says: String,
    rows: Vec<RateRow>,
    cautions: Vec<String>,
    bases: Vec<String>,
}

/// Words what the pass rate comes to.
pub(super) fn passing(judge: &JudgeAudit, rate: &CorrectedPassRate) -> PassingView {
    let corrected = judge.measures.get("corrected_pass_rate");
    let powered = judge.measures.get("corrected_pass_rate_ppi");
    let youden =
        format!("J is {}, at least {}", format::significant(rate.youden), format::significant(rate.youden_low));
    let says = if rate.is_identified {
        format!("A pass is not yet a right item: the judge lets wrong ones pass and turns right ones away. {youden}.")
    } else {
        format!(
            "Not identified: {youden}, so that the judge may be guessing. The share of right items may be anything from 0 to 1."
        )
    };
    let all: Vec<(&'static str, &Measure)> = [
        ("Passed, of items without a label", Some(&rate.pass_rate)),
        ("Accepted, of items labelled right", Some(&rate.true_accept_rate)),
        ("Rejected, of items labelled wrong", Some(&rate.true_reject_rate)),
        ("Right, of items without a label (by error rates)", corrected),
        ("Right, of all items (by a random sample)", powered),
    ]
    .into_iter()
    .filter_map(|(name, measure)| Some((name, measure?)))
    .collect();
    let row = |&(name, measure): &(&'static str, &Measure)| RateRow {
        name,
        cell: Cell::new(measure, Unit::Share),
        counts: format::counted(measure.n_items, "item"),
    };
    PassingView {
        says,
        rows: all.iter().map(row).collect(),
        cautions: corrected
            .into_iter()
            .flat_map(|measure| &measure.cautions)
            .map(|text| crate::text::sentence(text))
            .collect(),
        bases: forest::bases(all.into_iter()),
    }
}
