//! The difference of two judges by one figure, unit by unit over what both judged, with its interval and test.

use crate::distribution::{normal_quantile, t_cdf};
use crate::interval::Spread;
use crate::paired::{McNemarTest, equivalence_of_paired_proportions, mcnemar};

use super::data::table::{Subject, Table, Unit, is};
use super::estimate::{Estimated, Values};
use super::figures::Figure;

/// Figures of which every value is 0 or 1 where a unit has one answer.
const OF_HITS: [&str; 7] = [
    "accuracy",
    "accuracy_ab",
    "accuracy_ba",
    "false_accept_rate",
    "false_reject_rate",
    "accept_rate",
    "unparsed_rate",
];

/// Two judges by one measure.
pub(crate) struct Difference {
    /// Mean of the first and of the second on the units compared.
    pub means: [f64; 2],
    /// Second less first.
    pub estimated: Estimated,
    /// The same with every unparsed reply read so that it is lowest, and highest. `None` where nothing is unparsed, or no bound is
    /// known.
    pub bounds: Option<[Estimated; 2]>,
    /// Two-sided, of no difference. `None` where undefined.
    pub p_value: Option<f64>,
    /// The test, named.
    pub test: &'static str,
}

/// Returns the units both have, in order.
pub(crate) fn shared_units<'a>(a: &'a Subject, b: &'a Subject) -> Vec<(&'a Unit, &'a Unit)> {
    let mut others = b.units.iter().peekable();
    let mut shared = Vec::new();
    for unit in &a.units {
        while others.next_if(|other| other.place() < unit.place()).is_some() {}
        if let Some(other) = others.peek().filter(|other| other.place() == unit.place()) {
            shared.push((unit, *other));
        }
    }
    shared
}

/// Differences of units gathered, with what a test of yes and no needs.
#[derive(Default)]
struct Gathered {
    values: Values,
    n_units: u64,
    discordant: [u64; 2],
    is_not_binary: bool,
}

impl Gathered {
    fn push(&mut self, unit: &Unit, x: f64, y: f64, n: usize) {
        self.n_units += 1;
        self.is_not_binary |= ![x, y].iter().all(|value| is(*value, 0.0) || is(*value, 1.0));
        self.discordant[0] += u64::from(x > y);
        self.discordant[1] += u64::from(y > x);
        self.values.push(unit, y - x, n);
    }

    /// Returns the mean difference; where each unit is an independent yes or no, with the score interval.
    fn estimate(&self, range: [f64; 2], may_be_binary: bool) -> Option<Estimated> {
        const WHAT: &str = "b less a, item by item, mean";
        let found = self.values.mean(WHAT, range, None)?;
        // Dimensions of one item err together, as items of one group do.
        if !may_be_binary || self.is_not_binary || found.n_clusters != self.n_units {
            return Some(found);
        }
        let [only_second, only_first] = self.discordant;
        let spread = Spread::PairedProportions { only_first, only_second, n: self.n_units };
        Some(Estimated {
            spread,
            method: format!("{WHAT}; score interval of paired proportions (Tango 1998)"),
            ..found
        })
    }
}

/// Returns the difference by one figure over the units for which both have a value. `None` where there are none.
pub(crate) fn difference(
    table: &Table<'_>,
    figure: &Figure<'_>,
    [a, b]: [&Subject; 2],
    shared: &[(&Unit, &Unit)],
) -> Option<Difference> {
    let [mut parsed, mut lowest, mut highest] = [(); 3].map(|()| Gathered::default());
    let (mut means, mut weight) = ([0.0; 2], 0.0);
    let mut is_bounded = true;
    let has_unparsed = a.n_unparsed + b.n_unparsed > 0;
    for &(unit_a, unit_b) in shared {
        let (Some(x), Some(y)) = ((figure.of)(a, unit_a), (figure.of)(b, unit_b)) else { continue };
        match x.bounds.zip(y.bounds).filter(|_| has_unparsed) {
            Some(([x_low, x_high], [y_low, y_high])) => {
                lowest.push(unit_a, x_high, y_low, x.n + y.n);
                highest.push(unit_a, x_low, y_high, x.n + y.n);
            }
            None => is_bounded = false,
        }
        let (n, Some((x, y))) = (x.n + y.n, x.value.zip(y.value)) else { continue };
        parsed.push(unit_a, x, y, n);
        weight += unit_a.weight;
        // Running means: the sum of large scores may not be a number.
        for (mean, value) in means.iter_mut().zip([x, y]) {
            *mean += (value - *mean) * unit_a.weight / weight;
        }
    }
    let range = if figure.is_points {
        let width = table.trusted_width().unwrap_or(f64::INFINITY);
        [-width, width]
    } else {
        [-1.0, 1.0]
    };
    // Counts of pairs know no weights.
    let may_be_binary = OF_HITS.contains(&figure.id) && !table.is_weighted;
    let difference = parsed.estimate(range, may_be_binary)?;
    let bounds =
        is_bounded.then(|| Some([lowest.estimate(range, may_be_binary)?, highest.estimate(range, may_be_binary)?]));
    let (p_value, test) = test(&difference);
    Some(Difference { means, estimated: difference, bounds: bounds.flatten(), p_value, test })
}

/// Returns the two-sided p value of no difference, and the name of the test.
pub(crate) fn test(difference: &Estimated) -> (Option<f64>, &'static str) {
    let estimate = difference.estimate;
    match difference.spread {
        Spread::PairedProportions { only_first, only_second, .. } => {
            (Some(mcnemar(only_first, only_second, McNemarTest::MidP)), "McNemar, mid-p")
        }
        Spread::Student { standard_error, degrees, .. } if standard_error > 0.0 && degrees >= 1.0 => {
            (Some(2.0 * t_cdf(-(estimate / standard_error).abs(), degrees)), "paired t over clusters")
        }
        // No item differs: nothing speaks against equality.
        _ if estimate == 0.0 => (Some(1.0), "no item differs"),
        // All differ alike, which leaves no variance to judge by: as if by the toss of a coin for each cluster.
        Spread::Constant { .. } | Spread::None => (
            Some(0.5_f64.powf(difference.n_clusters as f64 - 1.0)),
            "sign test over clusters, all of which differ alike",
        ),
        _ => (None, "paired t over clusters"),
    }
}

/// Returns the one-sided p value of "the difference is at most `limit`": small where it is shown to be above. `None` where no
/// interval is defined.
pub(crate) fn p_at_most(difference: &Estimated, limit: f64) -> Option<f64> {
    match difference.spread {
        Spread::Student { standard_error, degrees, .. } if standard_error > 0.0 && degrees >= 1.0 => {
            Some(t_cdf((limit - difference.estimate) / standard_error, degrees))
        }
        Spread::PairedProportions { only_first, only_second, n } if limit > -1.0 && limit < 1.0 => {
            equivalence_of_paired_proportions(only_first, only_second, n, limit, f64::midpoint(limit, 1.0))
                .map(|tests| tests.p_above_low)
        }
        spread => spread.p_at_most(difference.estimate, limit),
    }
}

/// Returns the one-sided p value of "the difference is at least `limit`": small where it is shown to be below.
pub(crate) fn p_at_least(difference: &Estimated, limit: f64) -> Option<f64> {
    match difference.spread {
        Spread::Student { standard_error, degrees, .. } if standard_error > 0.0 && degrees >= 1.0 => {
            Some(t_cdf((difference.estimate - limit) / standard_error, degrees))
        }
        Spread::PairedProportions { only_first, only_second, n } if limit > -1.0 && limit < 1.0 => {
            equivalence_of_paired_proportions(only_first, only_second, n, f64::midpoint(-1.0, limit), limit)
                .map(|tests| tests.p_below_high)
        }
        spread => spread.p_at_least(difference.estimate, limit),
    }
}

/// Returns the standard error that the interval at `level` stands for. `None` without an interval.
pub(crate) fn standard_error(difference: &Estimated, level: f64) -> Option<f64> {
    let interval = difference.spread.interval(difference.estimate, level)?;
    let half_width = (interval.high - interval.low) / 2.0;
    (half_width > 0.0 && half_width.is_finite()).then(|| half_width / normal_quantile(0.5 + level / 2.0))
}
