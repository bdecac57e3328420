//! Where the variance of a figure comes from, and what a design makes of it.
//!
//! The mean of n items, each asked k times in each of o orders, in groups of g items, has the variance
//! `(g·σ²_group + σ²_item + σ²_order/o + σ²_within/(k·o)) / n`. Repeats narrow the last part only.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How many items are asked how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Design {
    /// Items.
    pub n_items: u64,
    /// Answers of an item in each order.
    pub repeats: u32,
    /// Orders in which each item is shown, 1 or 2.
    pub orders: u32,
}

impl Design {
    /// Returns how many judgements it takes.
    #[must_use]
    pub fn judgements(&self) -> u64 {
        self.n_items * u64::from(self.repeats) * u64::from(self.orders)
    }
}

/// The variance of an item's figure, in parts. All at least 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Components {
    /// Between groups of items.
    pub between_groups: f64,
    /// Between items, within groups.
    pub between_items: f64,
    /// Between the orders of one item, beyond a shift common to all.
    pub between_orders: f64,
    /// Between answers to the same question.
    pub within: f64,
    /// For shares of pairs of answers that differ: what pairs add, which falls faster with k.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs: Option<PairNoise>,
    /// Whether a second order changes what the figure is made of: then it is known for the pilot's orders only.
    #[serde(default)]
    pub is_fixed: bool,
}

/// The variance of a share of pairs around an item's own: that of a U statistic (Hoeffding 1948),
/// 2/(k(k−1)) · [2(k−2)ζ₁ + ζ₂], mean over items.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PairNoise {
    /// The variance of a pair's mean given one of its answers.
    pub one: f64,
    /// The variance of one pair.
    pub both: f64,
}

impl PairNoise {
    /// Returns the noise from the mean over items of θ and θ², θ the chance that two answers to an item differ: with two
    /// answers p and q = 1 − p, ζ₁ = pq − 4p²q² and ζ₂ = 2pq − 4p²q².
    #[must_use]
    pub fn of_moments(mean: f64, square: f64) -> Self {
        Self { one: (mean / 2.0 - square).max(0.0), both: (mean - square).max(0.0) }
    }

    /// Returns the variance with `k` answers; `None` for fewer than two.
    #[must_use]
    pub fn variance(&self, k: f64) -> Option<f64> {
        (k >= 2.0).then(|| 2.0 / (k * (k - 1.0)) * (2.0 * (k - 2.0) * self.one + self.both))
    }
}

impl Components {
    /// Returns the parts of a rate p at which answers of one item correlate by `icc`, and items of one group by `group_icc`.
    #[must_use]
    pub fn of_rate(p: f64, icc: f64, group_icc: f64) -> Self {
        let spread = p * (1.0 - p);
        Self {
            between_groups: group_icc * spread,
            between_items: (icc - group_icc).max(0.0) * spread,
            within: (1.0 - icc) * spread,
            ..Self::default()
        }
    }

    /// Returns the parts of a flip rate where answers are of two kinds, one of them with mean share `share`, and items'
    /// shares have a beta distribution. `None` where that share cannot flip as often.
    #[must_use]
    pub fn of_flips(flip_rate: f64, share: f64) -> Option<Self> {
        let most = 2.0 * share * (1.0 - share);
        if !(flip_rate > 0.0 && flip_rate < most) {
            return (flip_rate == 0.0)
                .then(|| Self { pairs: Some(PairNoise { one: 0.0, both: 0.0 }), ..Self::default() });
        }
        // The sum a + b of Beta(a, b), from 2E[pq] = most · s/(s + 1).
        let s = flip_rate / (most - flip_rate);
        let (a, b) = (share * s, (1.0 - share) * s);
        let fourth = a * (a + 1.0) * b * (b + 1.0) / (s * (s + 1.0) * (s + 2.0) * (s + 3.0));
        let square = 4.0 * fourth;
        Some(Self {
            between_items: (square - flip_rate * flip_rate).max(0.0),
            pairs: Some(PairNoise::of_moments(flip_rate, square)),
            ..Self::default()
        })
    }

    /// Returns the variance of an item's figure under a design, groups holding `items_per_group` items: that of the mean
    /// times the items. `None` where the design cannot measure it.
    #[must_use]
    pub fn of_item(&self, design: &Design, items_per_group: f64) -> Option<f64> {
        let (k, o) = (f64::from(design.repeats), f64::from(design.orders));
        let pairs = match self.pairs {
            Some(pairs) => pairs.variance(k)?,
            None => 0.0,
        };
        let groups = self.between_groups * items_per_group.max(1.0);
        Some(groups + self.between_items + self.between_orders / o + self.within / (k * o) + pairs / o)
    }

    /// Returns the variance between items, whatever their groups and however often they are asked.
    #[must_use]
    pub fn between(&self) -> f64 {
        self.between_groups + self.between_items
    }
}

/// Returns how often an item is best asked for the least variance of a mean at a given cost: `k* = max(1, √(cost ratio · σ²_within/σ²_between))`, the cost of a labelled
/// item over that of one judgement. Cochran 1977, 10.6.
///
/// Undefined (`None`): no variance between items (then one item, asked for ever), or a cost that is not positive.
#[must_use]
pub fn best_repeats(cost_of_item: f64, cost_of_judgement: f64, components: &Components) -> Option<f64> {
    let between = components.between();
    let is_cost = |cost: f64| cost.is_finite() && cost > 0.0;
    // What rounding leaves of nothing is nothing.
    let varies = between > 1e-9 * components.within;
    let is_defined = is_cost(cost_of_judgement) && cost_of_item.is_finite() && cost_of_item >= 0.0 && varies;
    if !is_defined {
        return None;
    }
    Some((cost_of_item / cost_of_judgement * components.within / between).sqrt().max(1.0))
}
