//! What recalibration would give: maps fitted on some clusters and judged on others.

use crate::recalibration::{Method, Recalibration};

use super::forecasts::{Entry, FOLDS, Forecast};
use crate::audit::accuracy::curves::{Probabilities, scores};
use crate::audit::estimate::Values;
use crate::audit::result::{RecalibrationAudit, RecalibrationMap};

/// Returns what isotonic regression and Platt's sigmoid would give; nothing with too few clusters, or where everything or nothing
/// came true.
pub(in crate::audit) fn recalibrations(
    forecast: &Forecast<'_>,
    is_probability: bool,
    level: f64,
    seed: u64,
) -> Vec<RecalibrationAudit> {
    if !forecast.has_folds || forecast.event_mass <= 0.0 || forecast.event_mass >= forecast.mass {
        return Vec::new();
    }
    let tallies = Tallies::new(forecast);
    [(Method::Isotonic, "isotonic"), (Method::Platt, "platt")]
        .into_iter()
        .filter_map(|(method, name)| {
            let map = tallies.fit(method, None)?;
            let by_fold: Option<Vec<Vec<f64>>> = (0..FOLDS)
                .map(|fold| {
                    let map = tallies.fit(method, Some(fold))?;
                    Some(tallies.values(method).iter().map(|value| map.apply(*value)).collect())
                })
                .collect();
            let by_fold = by_fold?;
            let predicted = |entry: &Entry<'_>| by_fold[entry.fold][entry.group];
            let of = Probabilities { forecast, of: &predicted, by_mass: false };
            Some(RecalibrationAudit {
                method: name.to_owned(),
                folds: u32::try_from(FOLDS).expect("there are few folds"),
                scores: scores(&of, level, seed)?,
                brier_gain: is_probability
                    .then(|| gain(forecast, &predicted))
                    .flatten()
                    .map(|gain| gain.measure(level)),
                map: match map {
                    Recalibration::Isotonic(isotonic) => {
                        RecalibrationMap::Isotonic(isotonic.steps().map(|(from, value)| [from, value]).collect())
                    }
                    Recalibration::Platt(platt) => RecalibrationMap::Platt([platt.slope, platt.intercept]),
                },
            })
        })
        .collect()
}

/// How much nearer the recalibrated probabilities are to what came, item by item.
fn gain(forecast: &Forecast<'_>, predicted: &dyn Fn(&Entry<'_>) -> f64) -> Option<crate::audit::estimate::Estimated> {
    let mut gains = Values::default();
    for entry in &forecast.entries {
        let distance = |probability: f64| (probability - entry.outcome()).powi(2);
        entry.push(&mut gains, distance(entry.value) - distance(predicted(entry)));
    }
    gains.mean("Brier score as stated less that of the recalibrated, mean over items", [-1.0, 1.0], None)
}

/// By value and fold: the weight, and the weight of what came true.
struct Tallies<'a> {
    forecast: &'a Forecast<'a>,
    sums: Vec<[[f64; 2]; FOLDS]>,
}

impl<'a> Tallies<'a> {
    fn new(forecast: &'a Forecast<'a>) -> Self {
        let mut sums = vec![[[0.0; 2]; FOLDS]; forecast.lows.len()];
        for entry in &forecast.entries {
            let tally = &mut sums[entry.group][entry.fold];
            tally[0] += entry.mass();
            tally[1] += entry.mass() * entry.outcome();
        }
        Self { forecast, sums }
    }

    /// Returns what stands for each group: steps begin at its lowest value, a sigmoid goes through its mean.
    fn values(&self, method: Method) -> &'a [f64] {
        match method {
            Method::Isotonic => &self.forecast.lows,
            Method::Platt => &self.forecast.means,
        }
    }

    fn fit(&self, method: Method, left_out: Option<usize>) -> Option<Recalibration> {
        let (mut values, mut outcomes, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        for (value, by_fold) in self.values(method).iter().zip(&self.sums) {
            let [weight, events] = by_fold
                .iter()
                .enumerate()
                .filter(|(fold, _)| Some(*fold) != left_out)
                .fold([0.0; 2], |sums, (_, tally)| [sums[0] + tally[0], sums[1] + tally[1]]);
            if weight > 0.0 {
                values.push(*value);
                outcomes.push((events / weight).clamp(0.0, 1.0));
                weights.push(weight);
            }
        }
        Recalibration::fit(method, &values, &outcomes, Some(&weights))
    }
}
