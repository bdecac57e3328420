//! What a gate goes by where an interval is known to end too soon: a wider end, or none.
//!
//! The interval that is reported stays as it is; here it is only asked whether a limit may rest on it. Which ends are too near, with how
//! many clusters, was found by simulation (`docs/explanation/coverage.md`).

use crate::distribution::t_quantile;
use crate::interval::{FEW_ABOVE, Spread, smallest_tail};
use crate::proportion::Interval;

use crate::audit::data::table::is;
use crate::audit::estimate::Estimated;

/// Why a gate does not take an interval at its word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// One or two ends are moved to where they would be, were one item more as far to that side as can be.
    OneMore,
    /// The upper end counts for nothing with fewer clusters than this.
    Clusters(u64),
    /// The upper end rests on few clusters that show anything at all; where the scale is known, one more is taken to go as far as it does.
    FewAbove {
        /// Whether the scale is known.
        is_bounded: bool,
    },
}

/// Measures whose upper end is too low with fewer clusters than this, where a few of them are far from the rest.
const UPPER_END: [(&str, u64); 4] = [("icc_single", 50), ("icc_mean", 50), ("pearson", 30), ("halo_excess", 50)];
/// Means over items of which most may show nothing and a few everything: the upper end.
const ONE_MORE_ABOVE: [&str; 1] = ["position_excess"];
/// The same, to either side.
const ONE_MORE: [&str; 3] = ["position_direction", "order_shift", "agreement_gap"];

/// A measure as a gate takes it.
#[derive(Clone, Copy)]
pub(crate) struct GateEnds<'a> {
    id: &'a str,
    value: &'a Estimated,
}

impl<'a> GateEnds<'a> {
    pub(crate) const fn of(id: &'a str, value: &'a Estimated) -> Self {
        Self { id, value }
    }

    /// Returns why the interval is not taken as it is, if it is not.
    pub(crate) fn doubt(self) -> Option<Doubt> {
        // Alpha of scores, told by its spread: that of categories has no shift.
        let is_of_scores = matches!(self.value.spread, Spread::FisherZ { shift, .. } if shift > 0.0);
        let of_scores = (self.id == "repeat_alpha" && is_of_scores).then_some(50);
        let least = UPPER_END.iter().find(|(id, _)| *id == self.id).map(|(_, least)| *least).or(of_scores);
        if let Some(least) = least {
            return (self.value.n_clusters < least).then_some(Doubt::Clusters(least));
        }
        match self.value.spread {
            Spread::Gamma { n_above, most, .. } if n_above < FEW_ABOVE => {
                Some(Doubt::FewAbove { is_bounded: most.is_finite() })
            }
            Spread::Student { range, .. } if self.moves_up() && is(range[0], -1.0) && is(range[1], 1.0) => {
                Some(Doubt::OneMore)
            }
            _ => None,
        }
    }

    fn moves_up(self) -> bool {
        ONE_MORE_ABOVE.contains(&self.id) || self.moves_down()
    }

    fn moves_down(self) -> bool {
        ONE_MORE.contains(&self.id)
    }

    /// Returns the ends at a level; an end that no gate can rest on is infinite. `None` where there is no interval.
    pub(crate) fn interval(self, level: f64) -> Option<Interval> {
        let (estimate, spread) = (self.value.estimate, self.value.spread);
        let shown = spread.interval(estimate, level)?;
        match (self.doubt(), spread) {
            (Some(Doubt::Clusters(_) | Doubt::FewAbove { is_bounded: false }), _) => {
                Some(Interval { high: f64::INFINITY, ..shown })
            }
            (Some(Doubt::FewAbove { is_bounded: true }), Spread::Gamma { variance, degrees, most, .. }) => {
                let (largest, n_above) = (most / (degrees + 1.0), FEW_ABOVE);
                let wider = Spread::Gamma { variance, largest, degrees, most, n_above }.interval(estimate, level)?;
                Some(Interval { high: wider.high.max(shown.high), ..shown })
            }
            (Some(Doubt::OneMore), Spread::Student { standard_error, degrees, range }) => {
                let one = 1.0 / (degrees + 1.0);
                let t = t_quantile(0.5 + level / 2.0, degrees.max(1.0));
                let reach = one + t * standard_error.hypot(one);
                Some(Interval {
                    low: if self.moves_down() { (estimate - reach).max(range[0]) } else { shown.low },
                    high: (estimate + reach).min(range[1]),
                })
            }
            _ => Some(shown),
        }
    }

    /// Returns the one-sided p value of "the truth is at most `limit`", as [`Spread::p_at_most`] does.
    pub(crate) fn p_at_most(self, limit: f64) -> Option<f64> {
        smallest_tail(|level| self.interval(level), |interval| interval.low > limit)
    }

    /// Returns the one-sided p value of "the truth is at least `limit`", as [`Spread::p_at_least`] does.
    pub(crate) fn p_at_least(self, limit: f64) -> Option<f64> {
        smallest_tail(|level| self.interval(level), |interval| interval.high < limit)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn value(estimate: f64, spread: Spread, n_clusters: u64) -> Estimated {
        Estimated {
            estimate,
            spread,
            n: n_clusters,
            n_items: n_clusters,
            n_clusters,
            method: String::new(),
            cautions: Vec::new(),
            details: BTreeMap::new(),
            worst: None,
        }
    }

    proptest! {
        #[test]
        fn ends_are_never_nearer_than_those_reported(
            estimate in 0.0..0.9_f64, standard_error in 0.0..0.4_f64, n_clusters in 2_u64..200, n_above in 0_u64..20, level in 0.5..0.999_f64,
            id in prop::sample::select(vec!["position_excess", "order_shift", "icc_single", "mean_abs_difference", "repeat_alpha", "accuracy"]),
        ) {
            let degrees = n_clusters as f64 - 1.0;
            let spreads = [
                Spread::Student { standard_error, degrees, range: [-1.0, 1.0] },
                Spread::Gamma { variance: standard_error.powi(2), largest: 0.1, degrees, most: 9.0, n_above },
                Spread::Gamma { variance: standard_error.powi(2), largest: 0.1, degrees, most: f64::INFINITY, n_above },
                Spread::LogF { draws: 3.0, standard_error, largest: 0.1, degrees },
                Spread::FisherZ { standard_error, reach: [0.1; 2], shift: 0.1, degrees },
            ];
            for spread in spreads {
                let value = value(estimate, spread, n_clusters);
                let (Some(shown), Some(ends)) = (spread.interval(estimate, level), GateEnds::of(id, &value).interval(level)) else { continue };
                prop_assert!(ends.low <= shown.low + 1e-12 && ends.high >= shown.high - 1e-12, "{spread:?}: {shown:?} {ends:?}");
                let p = GateEnds::of(id, &value).p_at_least(ends.high + 0.01);
                prop_assert!(p.is_some_and(|p| (0.0..=0.5).contains(&p)));
            }
        }
    }
}
