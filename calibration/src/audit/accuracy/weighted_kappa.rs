//! Quadratic weighted kappa: scores against labels that are scores, and two raters' scores against each other.

use crate::agreement::concordance::{Concordance, PairSums};
use crate::agreement::kappa::{Weighting, cohen_kappa};
use crate::cluster::Tallies;
use crate::interval::Spread;

use crate::audit::data::table::{Subject, Table, Unit, is};
use crate::audit::estimate::{Estimated, Measured};

/// Up to so many different scores and labels, the share of each is printed.
pub(in crate::audit) const MOST_LEVELS: usize = 30;
/// Where fewer clusters than this disagree, how they vary is hardly seen.
const FEW_CLUSTERS: usize = 10;
/// From so many clusters on, simulated intervals hold the truth as often as they say, lopsided labels included.
const ENOUGH_CLUSTERS: u64 = 100;
/// A mean squared difference smaller than this, beside the expected one, is rounding.
const ROUNDING: f64 = 1e-12;

/// Pairs of scores of a judge and a label, or of two raters, gathered by cluster.
pub(crate) struct Pairs {
    centre: f64,
    tallies: Tallies<6>,
    levels: Levels,
    disagreeing: Disagreeing,
    n: u64,
    n_items: u64,
    last_item: Option<u32>,
}

/// Which clusters hold a pair that differs. Pairs of a cluster follow one another.
#[derive(Default)]
struct Disagreeing {
    n_clusters: usize,
    last: Option<u32>,
    /// The largest squared difference.
    largest: f64,
}

impl Pairs {
    pub(crate) fn new(table: &Table<'_>) -> Self {
        Self {
            centre: table.scale.map_or(0.0, |[low, high]| f64::midpoint(low, high)),
            tallies: Tallies::new(table.n_clusters),
            levels: Levels::default(),
            disagreeing: Disagreeing::default(),
            n: 0,
            n_items: 0,
            last_item: None,
        }
    }

    /// Adds a unit: each first number against each second one, in shares of the unit's `weight`. Units come in order of clusters and
    /// items; `n` is how many answers they are.
    pub(crate) fn add<X, Y>(&mut self, unit: &Unit, weight: f64, first: X, second: &Y, n: usize)
    where
        X: Iterator<Item = f64> + Clone,
        Y: Iterator<Item = f64> + Clone,
    {
        let of_pair = weight / (first.clone().count() * second.clone().count()) as f64;
        for x in first {
            for y in second.clone() {
                let pair = PairSums::of_pair(x - self.centre, y - self.centre, of_pair);
                self.tallies.add(unit.cluster, pair.to_array());
                self.levels.add(x, y, of_pair);
                if !is(x, y) {
                    let seen = &mut self.disagreeing;
                    seen.n_clusters += usize::from(seen.last.replace(unit.cluster) != Some(unit.cluster));
                    seen.largest = seen.largest.max((x - y) * (x - y));
                }
            }
        }
        self.n += n as u64;
        self.n_items += u64::from(self.last_item.replace(unit.item) != Some(unit.item));
    }

    /// Returns the coefficient. `width` is that of the scale, where it is known; `names` are those of both numbers in the details.
    pub(crate) fn finish(&self, width: Option<f64>, names: [&str; 2], between: &str) -> Option<Estimated> {
        let kappa = |sums: &[f64; 6]| PairSums::from_array(*sums).concordance().map(|found| found.kappa);
        let (estimate, standard_error) = self.tallies.jackknife(kappa)?;
        let sums = PairSums::from_array(self.tallies.total());
        let Concordance { observed, expected, .. } = sums.concordance()?;
        let n_clusters = self.tallies.n_clusters();
        let m = n_clusters as f64;
        let spread = if observed <= ROUNDING * expected {
            // One pair at the two ends of the scale is the most that was not seen.
            match width {
                Some(width) => Spread::Unseen { n_clusters: m, size: -(width * width / expected).min(2.0) },
                None => Spread::None,
            }
        } else {
            // Where few clusters disagree each counts as one trial at most, as it does for rates: of the largest difference seen.
            let trials = (observed * (self.disagreeing.largest - observed).max(0.0) / m).sqrt() / expected;
            let is_rare = self.disagreeing.n_clusters < FEW_CLUSTERS;
            let standard_error = if is_rare { standard_error.max(trials) } else { standard_error };
            Spread::fisher_z(estimate, standard_error, m - 1.0)
        };
        let [sd_first, sd_second] = sums.standard_deviations();
        let mut value = Estimated {
            estimate,
            spread,
            n: self.n,
            n_items: self.n_items,
            n_clusters,
            method: format!(
                "Cohen's kappa with quadratic weights, by value, {between}; cluster jackknife on the scale of atanh"
            ),
            cautions: Vec::new(),
            details: [
                ("standard_error".to_owned(), standard_error),
                ("mean_squared_difference".to_owned(), observed),
                ("mean_squared_difference_by_chance".to_owned(), expected),
                (format!("mean_{}", names[0]), self.centre + sums.first / sums.weight),
                (format!("mean_{}", names[1]), self.centre + sums.second / sums.weight),
                (format!("sd_{}", names[0]), sd_first),
                (format!("sd_{}", names[1]), sd_second),
            ]
            .into(),
            worst: None,
        };
        self.levels.describe(names, &mut value);
        Some(if n_clusters < ENOUGH_CLUSTERS {
            value.caution(
                "under 100 clusters the interval may cover .92, and then lies too low, where a few items score far from the rest",
            )
        } else {
            value
        })
    }
}

/// The table of both numbers, as long as they have few values.
#[derive(Default)]
struct Levels {
    values: Vec<f64>,
    /// The weight of each pair of values, by their places; as wide as there may be levels.
    cells: Vec<f64>,
    has_too_many: bool,
}

impl Levels {
    fn add(&mut self, x: f64, y: f64, weight: f64) {
        if self.has_too_many {
            return;
        }
        let (Some(x), Some(y)) = (self.place(x), self.place(y)) else {
            self.has_too_many = true;
            return;
        };
        if self.cells.is_empty() {
            self.cells.resize(MOST_LEVELS * MOST_LEVELS, 0.0);
        }
        self.cells[x * MOST_LEVELS + y] += weight;
    }

    /// Returns the place of a value in the order in which they came, or `None` where there are too many.
    fn place(&mut self, value: f64) -> Option<usize> {
        if let Some(place) = self.values.iter().position(|known| is(*known, value)) {
            return Some(place);
        }
        self.values.push(value);
        (self.values.len() <= MOST_LEVELS).then_some(self.values.len() - 1)
    }

    /// Adds the share of each level on either side, and the coefficient with other weights.
    fn describe(&self, names: [&str; 2], value: &mut Estimated) {
        let q = self.values.len();
        if self.has_too_many || q < 2 {
            return;
        }
        let mut order: Vec<usize> = (0..q).collect();
        order.sort_by(|a, b| self.values[*a].total_cmp(&self.values[*b]));
        let mut place = vec![0; q];
        order.iter().enumerate().for_each(|(position, &level)| place[level] = position);
        let mut table = vec![0.0; q * q];
        for x in 0..q {
            for y in 0..q {
                table[place[x] * q + place[y]] = self.cells[x * MOST_LEVELS + y];
            }
        }
        let total: f64 = table.iter().sum();
        let ascending: Vec<f64> = order.iter().map(|&level| self.values[level]).collect();
        for (position, level) in ascending.iter().enumerate() {
            let row: f64 = table[position * q..(position + 1) * q].iter().sum();
            let column: f64 = table.iter().skip(position).step_by(q).sum();
            value.details.insert(format!("{}_share.{level}", names[0]), row / total);
            value.details.insert(format!("{}_share.{level}", names[1]), column / total);
        }
        let mut of = |name: &str, weighting: Weighting| {
            if let Some(found) = cohen_kappa(&table, q, &weighting) {
                value.details.insert(name.to_owned(), found.kappa);
            }
        };
        of("by_position_of_levels", Weighting::Quadratic);
        of("linear_weights", Weighting::LinearByValue(ascending));
        of("unweighted", Weighting::Unweighted);
    }
}

/// Measures the agreement of scores with labels that are scores.
pub(in crate::audit) fn measure(table: &Table<'_>, subject: &Subject, units: &[Unit], measured: &mut Measured) {
    let mut pairs = Pairs::new(table);
    for unit in units {
        let Some(label) = unit.truth.value else { continue };
        let n = subject.parsed_of(unit).count();
        if n > 0 {
            pairs.add(unit, unit.weight, subject.parsed_of(unit), &std::iter::once(label), n);
        }
    }
    let value = pairs.finish(table.trusted_width(), ["answer", "label"], "single scores with labels");
    measured.record("weighted_kappa", value, "scores and labels do not vary", &["label"]);
}
