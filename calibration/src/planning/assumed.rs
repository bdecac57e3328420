//! A pilot that was not run: figures as someone expects them.

use crate::audit::catalogue::info;
use crate::audit::result::Unmeasured;
use crate::gate::Gate;
use crate::judgement::OutcomeKind;

use super::comparing::independent_discordance;
use super::components::Components;
use super::result::{Figure, Pilot, PilotComparison, PlannedLimit, Rule};

/// What is assumed of a judge that accepts or rejects. Shares are in 0..=1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Assumed {
    /// False accepts.
    pub far: Option<f64>,
    /// False rejects.
    pub frr: Option<f64>,
    /// Right answers; from both errors where not stated.
    pub accuracy: Option<f64>,
    /// Two answers to the same question that differ; from the rates and `icc` where not stated.
    pub flip: Option<f64>,
    /// Unparsed replies.
    pub unparsed: Option<f64>,
    /// The share of items labelled right.
    pub right_share: f64,
    /// The correlation of two answers to the same item about its being right: 1 means that repeats say nothing new. Where not stated,
    /// from `flip` and both errors, else 0.7.
    pub icc: Option<f64>,
    /// The correlation of two items of a group.
    pub group_icc: f64,
    /// Items of a group.
    pub items_per_group: f64,
}

/// Assumptions this near to one another are the same, stated with fewer digits.
const ROUNDED: f64 = 0.006;
/// The correlation of two answers to an item that is taken where nothing says it: of the judges in the examples, an ordinary one.
const USUAL_ICC: f64 = 0.7;

impl Default for Assumed {
    fn default() -> Self {
        Self {
            far: None,
            frr: None,
            accuracy: None,
            flip: None,
            unparsed: None,
            right_share: 0.5,
            icc: None,
            group_icc: 0.1,
            items_per_group: 1.0,
        }
    }
}

/// An assumption that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} {must}")]
pub struct BadAssumption {
    /// Which.
    pub name: &'static str,
    /// What it must be.
    pub must: String,
}

impl Assumed {
    /// Returns what there is to plan.
    ///
    /// # Errors
    /// Refuses shares outside 0..=1 and fewer than one item a group.
    pub fn pilot(&self, gate: &Gate) -> Result<Pilot, BadAssumption> {
        self.check()?;
        let mut notes = Vec::new();
        let both = self.far.zip(self.frr);
        let spread = |p: f64| p * (1.0 - p);
        let noisiest =
            both.map(|(far, frr)| 2.0 * (self.right_share * spread(frr) + (1.0 - self.right_share) * spread(far)));
        let from_flips = || Some((1.0 - self.flip? / noisiest.filter(|most| *most > 0.0)?).clamp(0.0, 1.0));
        let icc = self.icc.or_else(from_flips).unwrap_or(USUAL_ICC);
        let group_icc = if self.items_per_group > 1.0 { self.group_icc.min(icc) } else { 0.0 };
        let rate = |measure: &'static str, p: f64, class_share: f64| {
            let per_group = (self.items_per_group * class_share).max(1.0);
            figure(gate, measure, p, class_share, per_group, Components::of_rate(p, icc, group_icc))
        };
        let mut figures = Vec::new();
        let accuracy = self
            .accuracy
            .or_else(|| both.map(|(far, frr)| self.right_share * (1.0 - frr) + (1.0 - self.right_share) * (1.0 - far)));
        figures.extend(self.unparsed.map(|p| rate("unparsed_rate", p, 1.0)));
        figures.extend(accuracy.map(|p| rate("accuracy", p, 1.0)));
        figures.extend(self.far.map(|p| rate("false_accept_rate", p, 1.0 - self.right_share)));
        figures.extend(self.frr.map(|p| rate("false_reject_rate", p, self.right_share)));
        // Answers flip as often as the noise of either class has it.
        let implied = noisiest.map(|most| (1.0 - icc) * most);
        if let Some(flip) = self.flip.or(implied) {
            // Where it is not known how often it accepts, as often as not: of all shares the noisiest.
            let accepts =
                both.map_or(0.5, |(far, frr)| self.right_share * (1.0 - frr) + (1.0 - self.right_share) * far);
            let Some(components) = Components::of_flips(flip, accepts) else {
                let most = 2.0 * spread(accepts);
                return Err(BadAssumption {
                    name: "flip",
                    must: format!(
                        "must be below {most:.3}: answers that accept {accepts:.2} of the time cannot differ more often"
                    ),
                });
            };
            figures.push(Figure {
                needs_repeats: 2,
                ..figure(gate, "flip_rate", flip, 1.0, self.items_per_group, components)
            });
            if let (Some(stated), Some(implied)) = (self.flip, implied)
                && (stated - implied).abs() > 0.25 * stated.max(implied)
            {
                notes.push(format!(
                    "flip = {stated} and icc = {icc} do not go together: with these rates that icc means a flip rate of {implied:.3}. The \
                     icc is used for the rates, the flip rate for its own limit; state one of them."
                ));
            }
        }
        if let (Some(stated), Some((far, frr))) = (self.accuracy, both) {
            let implied = self.right_share * (1.0 - frr) + (1.0 - self.right_share) * (1.0 - far);
            let (least, most) = ((1.0 - far).min(1.0 - frr), (1.0 - far).max(1.0 - frr));
            if stated < least - ROUNDED || stated > most + ROUNDED {
                return Err(BadAssumption {
                    name: "accuracy",
                    must: format!(
                        "must be from {least} to {most} with far = {far} and frr = {frr}, whatever the share of right items; leave it out, and it \
                         follows from them"
                    ),
                });
            }
            if (stated - implied).abs() > ROUNDED {
                // stated = r (1 − frr) + (1 − r)(1 − far).
                let share = (stated - (1.0 - far)) / (far - frr);
                notes.push(format!(
                    "accuracy = {stated} does not go together with far = {far}, frr = {frr} and right share = {}, which make it {implied:.3}; it \
                     would with right share = {share:.2}. Each is planned for as stated.",
                    self.right_share
                ));
            }
        }
        figures.sort_by_key(|figure| figure.limit.is_none());
        let comparisons = accuracy.map(|right| supposed_others(right, self.flip.or(implied).unwrap_or(0.0)));
        // Of a judge that accepts or rejects.
        let asked = gate.limits.iter().filter(|(_, limit)| limit.is_for(OutcomeKind::Verdict)).map(|(id, _)| id);
        let left_out = asked.filter(|id| !figures.iter().any(|figure| figure.measure == **id));
        let left_out = left_out.map(|id| Unmeasured {
            id: id.clone(),
            reason: "nothing is assumed of it".to_owned(),
            needs: Vec::new(),
        });
        Ok(Pilot {
            is_assumed: true,
            judge: None,
            arm: None,
            n_items: 0,
            n_clusters: 0,
            n_judgements: 0,
            repeats: 1,
            orders: 1,
            left_out: left_out.collect(),
            figures,
            comparisons: comparisons.unwrap_or_default(),
            price: None,
            notes,
        })
    }

    fn check(&self) -> Result<(), BadAssumption> {
        let shares = [
            ("far", self.far),
            ("frr", self.frr),
            ("accuracy", self.accuracy),
            ("flip", self.flip),
            ("unparsed", self.unparsed),
            ("icc", self.icc),
            ("group icc", Some(self.group_icc)),
        ];
        for (name, value) in shares {
            if let Some(value) = value.filter(|value| !(0.0..=1.0).contains(value)) {
                return Err(BadAssumption { name, must: format!("must be a share from 0 to 1, not {value}") });
            }
        }
        if !(self.right_share > 0.0 && self.right_share < 1.0) {
            let must = format!("must be a share above 0 and below 1, not {}", self.right_share);
            return Err(BadAssumption { name: "right share", must });
        }
        if !(self.items_per_group >= 1.0 && self.items_per_group.is_finite()) {
            let must = format!("must be at least 1, not {}", self.items_per_group);
            return Err(BadAssumption { name: "items per group", must });
        }
        if self.far.is_none()
            && self.frr.is_none()
            && self.accuracy.is_none()
            && self.flip.is_none()
            && self.unparsed.is_none()
        {
            let must = "or frr, accuracy, flip or unparsed must be stated: nothing is assumed of the judge".to_owned();
            return Err(BadAssumption { name: "far", must });
        }
        Ok(())
    }
}

fn figure(
    gate: &Gate,
    measure: &str,
    p: f64,
    class_share: f64,
    items_per_group: f64,
    components: Components,
) -> Figure {
    debug_assert!(info(measure).is_some());
    Figure {
        measure: measure.to_owned(),
        limit: limits_of(gate, measure).into_iter().next(),
        truth: p,
        ends: [p, p],
        ends_90: [p, p],
        rule: Rule::Rate,
        class_share,
        items_per_group,
        components,
        needs_repeats: 1,
        needs_orders: 1,
    }
}

/// Returns judges to compare with where there is none: one with errors of its own, and one that is the same but for noise. `noise` is the
/// chance that of two answers to an item just one is right.
pub(crate) fn supposed_others(right: f64, noise: f64) -> Vec<PilotComparison> {
    let pair = |other: &str, discordance: f64| PilotComparison {
        other: other.to_owned(),
        difference: None,
        discordance,
        variance: None,
    };
    let pairs = [
        pair("a judge as right as this one, with errors of its own", independent_discordance(right, right)),
        pair("a judge that differs from this one as it does from itself", noise),
    ];
    pairs.into_iter().filter(|pair| pair.discordance > 0.0).collect()
}

/// Returns the limits of a measure, one a side.
pub(crate) fn limits_of(gate: &Gate, measure: &str) -> Vec<PlannedLimit> {
    let Some(limit) = gate.limits.get(measure) else { return Vec::new() };
    let sides = [("max", limit.max), ("min", limit.min)];
    let stated =
        sides.into_iter().filter_map(|(side, value)| Some(PlannedLimit { side: side.to_owned(), value: value? }));
    stated.collect()
}
