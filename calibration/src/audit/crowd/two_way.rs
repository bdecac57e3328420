//! Intraclass correlations of a complete table of units × raters: of raters that are a sample of raters (ICC(2), agreement), and of these
//! raters with their levels taken out (ICC(3), consistency).
//!
//! The interval is the cluster jackknife of log F, as that of the one-way form; the interval from F, which assumes normal scores and
//! independent items, is in the details.

use std::collections::BTreeMap;

use crate::icc::{Icc, IccModel, IccUnit, MeanSquares, icc, icc_mean};
use crate::interval::{Spread, log_f};

use crate::audit::estimate::Estimated;
use crate::audit::noise::alpha::Counts;

/// The sums of one cluster's units, or of all.
#[derive(Clone)]
struct Sums {
    n_units: f64,
    /// Of each rater.
    raters: Vec<f64>,
    /// Σ over units of the square of the unit's sum.
    units_squared: f64,
    squares: f64,
}

impl Sums {
    fn new(n_raters: usize) -> Self {
        Self { n_units: 0.0, raters: vec![0.0; n_raters], units_squared: 0.0, squares: 0.0 }
    }

    fn add(&mut self, other: &Self, sign: f64) {
        self.n_units += sign * other.n_units;
        self.raters.iter_mut().zip(&other.raters).for_each(|(sum, part)| *sum += sign * part);
        self.units_squared += sign * other.units_squared;
        self.squares += sign * other.squares;
    }

    fn mean_squares(&self) -> Option<MeanSquares> {
        /// What is below this share of all squares is rounding.
        const ROUNDING: f64 = 1e-12;
        let (n, k) = (self.n_units, self.raters.len() as f64);
        if n < 1.5 || k < 1.5 {
            return None;
        }
        let mean = self.raters.iter().sum::<f64>() / (n * k);
        let centre = n * k * mean * mean;
        let clean = |squares: f64| if squares > ROUNDING * self.squares { squares } else { 0.0 };
        let items = clean(self.units_squared / k - centre);
        let raters = clean(self.raters.iter().map(|sum| sum * sum).sum::<f64>() / n - centre);
        let within = clean(self.squares - self.units_squared / k);
        let residual = clean(within - raters);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of units")]
        let n_items = n.round() as usize;
        Some(MeanSquares {
            n_items,
            n_raters: self.raters.len(),
            items: items / (n - 1.0),
            raters: raters / (k - 1.0),
            residual: residual / ((n - 1.0) * (k - 1.0)),
            within: within / (n * (k - 1.0)),
        })
    }
}

/// Units that every rater scored once, by cluster.
pub(crate) struct TwoWay {
    by_cluster: BTreeMap<u32, Sums>,
    centre: f64,
    n_raters: usize,
}

impl TwoWay {
    /// `centre` is subtracted from scores before they are squared; any value near the middle of the scale serves.
    pub(crate) const fn new(n_raters: usize, centre: f64) -> Self {
        Self { by_cluster: BTreeMap::new(), centre, n_raters }
    }

    /// Adds a unit's scores, one a rater.
    pub(crate) fn add(&mut self, cluster: u32, scores: impl Iterator<Item = f64>) {
        let sums = self.by_cluster.entry(cluster).or_insert_with(|| Sums::new(self.n_raters));
        let mut of_unit = 0.0;
        for (rater, score) in sums.raters.iter_mut().zip(scores) {
            let x = score - self.centre;
            *rater += x;
            of_unit += x;
            sums.squares += x * x;
        }
        sums.n_units += 1.0;
        sums.units_squared += of_unit * of_unit;
    }

    /// Returns agreement and consistency of single scores. Empty where nothing varies, or too few units are complete.
    pub(crate) fn finish(&self, level: f64, basis: Counts) -> Vec<(&'static str, Estimated)> {
        let mut total = Sums::new(self.n_raters);
        self.by_cluster.values().for_each(|sums| total.add(sums, 1.0));
        let Some(squares) = total.mean_squares() else { return Vec::new() };
        let forms = [
            ("icc_agreement", IccModel::TwoWayRandom, "two-way ICC of absolute agreement, ICC(2,1)"),
            ("icc_consistency", IccModel::TwoWayMixed, "two-way ICC of consistency, ICC(3,1)"),
        ];
        let estimated = |(id, model, name): (&'static str, IccModel, &str)| {
            let of = |squares: &MeanSquares| icc(squares, model, IccUnit::Single, level);
            let found: Icc = of(&squares).filter(|found| found.estimate.is_finite())?;
            let k = self.n_raters as f64;
            let value = Estimated {
                estimate: found.estimate,
                spread: self.spread(&total, found.estimate, of),
                n: basis.n,
                n_items: basis.n_items,
                n_clusters: self.by_cluster.len() as u64,
                method: format!("{name}, over units that every rater scored once; cluster jackknife of log F"),
                cautions: Vec::new(),
                details: [
                    ("f_interval_low".to_owned(), found.low),
                    ("f_interval_high".to_owned(), found.high),
                    ("of_the_mean".to_owned(), icc_mean(found.estimate, k).unwrap_or(f64::NAN)),
                    ("n_raters".to_owned(), k),
                    ("n_units".to_owned(), total.n_units),
                ]
                .into(),
                worst: None,
            };
            Some((id, value))
        };
        forms.into_iter().filter_map(estimated).collect()
    }

    fn spread(&self, total: &Sums, estimate: f64, of: impl Fn(&MeanSquares) -> Option<Icc>) -> Spread {
        let (k, m) = (self.n_raters as f64, self.by_cluster.len() as f64);
        let centre = log_f(estimate, k);
        let (mut sum, mut squares, mut least) = (0.0, 0.0, 0.0_f64);
        for own in self.by_cluster.values() {
            let mut left = total.clone();
            left.add(own, -1.0);
            let rho = left.mean_squares().and_then(|squares| of(&squares));
            let change = rho.map_or(f64::NAN, |found| log_f(found.estimate, k) - centre);
            least = least.min(change);
            sum += change;
            squares += change * change;
        }
        let standard_error = ((m - 1.0) / m * (squares - sum * sum / m)).max(0.0).sqrt();
        if m < 2.0 || !standard_error.is_finite() || !centre.is_finite() {
            return Spread::None;
        }
        let largest = (m - 1.0) / m * (sum / m - least).max(0.0);
        Spread::LogF { draws: k, standard_error, largest, degrees: m - 1.0 }
    }
}
