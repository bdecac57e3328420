//! An estimate on its way to the report: the number, how it varies, and what it rests on.

use std::collections::BTreeMap;

use crate::cluster::{ClusteredMean, ClusteredSums, UnitValue};
use crate::distribution::normal_quantile;
use crate::interval::Spread;
use crate::proportion::ClusteredProportion;

use super::data::table::{Unit, is};
use super::result::{Measure, Unmeasured};

/// A number that can still give its interval at any level.
#[derive(Clone, Debug)]
pub(crate) struct Estimated {
    pub estimate: f64,
    pub spread: Spread,
    pub n: u64,
    pub n_items: u64,
    pub n_clusters: u64,
    pub method: String,
    pub cautions: Vec<String>,
    pub details: BTreeMap<String, f64>,
    /// The same with every unparsed reply counted against the judge. A gate is met only if this meets it too.
    pub worst: Option<Box<Self>>,
}

impl Estimated {
    pub(crate) fn measure(&self, level: f64) -> Measure {
        let interval = self.spread.interval(self.estimate, level);
        let finite = |value: f64| value.is_finite().then_some(value);
        let mut details: BTreeMap<String, f64> = self
            .details
            .iter()
            .filter(|(_, value)| value.is_finite())
            .map(|(key, value)| (key.clone(), *value))
            .collect();
        if let Some(worst) = &self.worst {
            details.insert("unparsed_against".to_owned(), worst.estimate);
            if let Some(interval) = worst.spread.interval(worst.estimate, level) {
                details.insert("unparsed_against_low".to_owned(), interval.low);
                details.insert("unparsed_against_high".to_owned(), interval.high);
            }
        }
        if let (Some(smallest), Spread::Student { .. }) = (self.minimal_detectable(), self.spread) {
            details.insert("minimal_detectable".to_owned(), smallest);
        }
        let mut cautions = self.cautions.clone();
        if interval.is_none() && cautions.is_empty() {
            cautions.push("no interval: nothing varies between clusters, or there are too few".to_owned());
        }
        Measure {
            estimate: self.estimate,
            low: interval.and_then(|interval| finite(interval.low)),
            high: interval.and_then(|interval| finite(interval.high)),
            level,
            n: self.n,
            n_items: self.n_items,
            n_clusters: self.n_clusters,
            method: self.method.clone(),
            cautions,
            details,
        }
    }

    /// Returns the smallest distance from no effect that such data show with 80 % power, at a two-sided level of .95: the quantiles of
    /// both, times the standard error. `None` for what is no mean, and where nothing varies.
    pub(crate) fn minimal_detectable(&self) -> Option<f64> {
        let standard_error = match self.spread {
            Spread::Student { standard_error, .. } => standard_error,
            Spread::Proportion(proportion) => proportion.variance.sqrt(),
            Spread::StudentOfSets { standard_error, between, .. } => standard_error.hypot(between.sqrt()),
            Spread::ProportionOfSets { proportion, between, .. } => (proportion.variance + between).sqrt(),
            _ => return None,
        };
        minimal_detectable(standard_error)
    }

    pub(crate) fn detail(mut self, name: &str, value: f64) -> Self {
        self.details.insert(name.to_owned(), value);
        self
    }

    pub(crate) fn caution(mut self, text: impl Into<String>) -> Self {
        self.cautions.push(text.into());
        self
    }
}

/// Returns the smallest effect that an estimate with this standard error shows with 80 % power, at a two-sided level of .95. `None` where nothing
/// varies.
pub(crate) fn minimal_detectable(standard_error: f64) -> Option<f64> {
    let smallest = (normal_quantile(0.975) + normal_quantile(0.8)) * standard_error;
    (smallest.is_finite() && smallest > 0.0).then_some(smallest)
}

/// Values of units gathered for a mean, with the judgements they rest on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Values {
    sums: ClusteredSums,
    n: u64,
    n_items: u64,
    last_item: Option<u32>,
    weights: UnevenWeights,
}

/// Units whose items do not count 1.
#[derive(Clone, Copy, Debug, Default)]
struct UnevenWeights {
    n: f64,
    sum: f64,
    squares: f64,
}

impl UnevenWeights {
    /// Returns n Σw² / (Σw)² over all units: the factor by which uneven weights enlarge a variance (Kish 1965). 1 without any.
    fn design_effect(self, n_units: u64) -> f64 {
        if self.n == 0.0 {
            return 1.0;
        }
        let ones = n_units as f64 - self.n;
        let sum = self.sum + ones;
        (n_units as f64 * (self.squares + ones) / (sum * sum)).max(1.0)
    }
}

impl Values {
    pub(crate) fn is_empty(&self) -> bool {
        self.sums.is_empty()
    }

    /// Adds a unit's value with the weight of its item, resting on `n` judgements. Units come in order of clusters and items.
    #[inline]
    pub(crate) fn push(&mut self, unit: &Unit, value: f64, n: usize) {
        self.push_weighted(unit, value, 1.0, n);
    }

    /// Adds a unit's value with a weight beside that of its item.
    #[inline]
    pub(crate) fn push_weighted(&mut self, unit: &Unit, value: f64, weight: f64, n: usize) {
        self.sums.push(UnitValue { value, weight: weight * unit.weight, cluster: unit.cluster });
        if !is(unit.weight, 1.0) {
            self.weights.n += 1.0;
            self.weights.sum += unit.weight;
            self.weights.squares += unit.weight * unit.weight;
        }
        self.n += n as u64;
        if self.last_item != Some(unit.item) {
            self.n_items += 1;
            self.last_item = Some(unit.item);
        }
    }

    /// Adds the value of `n_units` units that count 1, each alone in its cluster, each resting on `n` judgements.
    pub(crate) fn push_alike(&mut self, value: f64, n: usize, n_units: u64) {
        self.sums.push_alike(value, n_units);
        self.n += n as u64 * n_units;
        self.n_items += n_units;
    }

    /// Adds the values of other clusters.
    pub(crate) fn merge(&mut self, other: Self) {
        self.sums.merge(other.sums);
        self.n += other.n;
        self.n_items += other.n_items;
        self.weights.n += other.weights.n;
        self.weights.sum += other.weights.sum;
        self.weights.squares += other.weights.squares;
    }

    fn finish(&self, mean: &ClusteredMean, spread: Spread, method: String) -> Estimated {
        Estimated {
            estimate: mean.estimate,
            spread,
            n: self.n,
            n_items: self.n_items,
            n_clusters: mean.n_clusters,
            method,
            cautions: Vec::new(),
            details: BTreeMap::new(),
            worst: None,
        }
    }

    /// Returns the mean as a proportion with the interval of Korn and Graubard. `None` without units.
    pub(crate) fn proportion(&self, definition: &str) -> Option<Estimated> {
        let mean = self.sums.mean()?;
        // So many clusters of even weights would tell as much.
        let design_effect = self.weights.design_effect(mean.n_units);
        let proportion = ClusteredProportion {
            estimate: mean.estimate.clamp(0.0, 1.0),
            variance: mean.variance,
            n_observations: self.n as f64 / design_effect,
            n_clusters: mean.n_clusters as f64 / design_effect,
            n_clusters_with_event: mean.n_clusters_with_event,
            n_clusters_with_absence: mean.n_clusters_with_absence,
        };
        let method = format!("{definition}; Korn–Graubard interval, clusters independent");
        let value = self.finish(&mean, Spread::Proportion(proportion), method);
        Some(if design_effect > 1.0 { value.detail("weights_design_effect", design_effect) } else { value })
    }

    /// Returns the mean with a t interval over clusters. `None` without units.
    ///
    /// Values that cannot be negative and have no upper end of their own (`range` from 0 to infinity) get the gamma interval.
    /// `size` is the largest value possible, where it is known; where nothing varies it bounds what was not seen.
    pub(crate) fn mean(&self, definition: &str, range: [f64; 2], size: Option<f64>) -> Option<Estimated> {
        let mean = self.sums.mean()?;
        let design_effect = self.weights.design_effect(mean.n_units);
        let m = mean.n_clusters as f64 / design_effect;
        let is_constant = mean.variance == 0.0 || mean.n_clusters < 2;
        let finite = |width: f64| width.is_finite().then_some(width);
        let (spread, interval) = match size {
            // Values that are all the same have shown no variation; what one other value could amount to bounds the mean.
            _ if is_constant => match size.or_else(|| finite((range[1] - mean.estimate).max(mean.estimate - range[0])))
            {
                Some(size) => (
                    Spread::Constant { n_clusters: m, size, range },
                    "as far as one other value in m clusters could move it (Clopper–Pearson)",
                ),
                None => (Spread::None, "no interval, since nothing varies and the scale is not declared"),
            },
            // Where values cannot be negative and only the scale bounds them, known or not.
            _ if range == [0.0, f64::INFINITY] => {
                let (variance, degrees, most) = (mean.variance, m - 1.0, size.unwrap_or(f64::INFINITY));
                let spread = Spread::Gamma {
                    variance,
                    largest: mean.largest_share,
                    degrees,
                    most,
                    n_above: mean.n_clusters_with_event,
                };
                (spread, "gamma interval over clusters (Fay & Feuer 1997)")
            }
            _ => {
                let standard_error = mean.variance.sqrt();
                (Spread::Student { standard_error, degrees: m - 1.0, range }, "t interval over clusters")
            }
        };
        let mut estimated = self.finish(&mean, spread, format!("{definition}; {interval}"));
        if design_effect > 1.0 {
            estimated = estimated.detail("weights_design_effect", design_effect);
        }
        if mean.n_clusters < 2 {
            estimated = estimated.caution("one cluster says nothing about others");
        }
        Some(estimated)
    }
}

/// The measures of a judge, and those that could not be had.
#[derive(Default)]
pub(crate) struct Measured {
    pub values: BTreeMap<&'static str, Estimated>,
    pub unmeasured: Vec<Unmeasured>,
}

impl Measured {
    /// Adds what another family measured.
    pub(crate) fn append(&mut self, other: Self) {
        self.values.extend(other.values);
        self.unmeasured.extend(other.unmeasured);
    }

    /// Records a measure, or why it is undefined here.
    pub(crate) fn record(&mut self, id: &'static str, value: Option<Estimated>, reason: &str, needs: &[&str]) {
        match value.filter(|value| value.estimate.is_finite()) {
            Some(value) => {
                self.values.insert(id, value);
            }
            None => self.unmeasured(id, reason, needs),
        }
    }

    pub(crate) fn unmeasured(&mut self, id: &str, reason: &str, needs: &[&str]) {
        self.unmeasured.push(Unmeasured {
            id: id.to_owned(),
            reason: reason.to_owned(),
            needs: needs.iter().map(|&column| column.to_owned()).collect(),
        });
    }
}
