//! What errors cost at the base rate.

use crate::interval::Spread;

use crate::audit::AuditConfig;
use crate::audit::estimate::Estimated;

/// What a false accept and a false reject cost, and the share of right items they are reckoned at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Costs {
    pub false_accept: f64,
    pub false_reject: f64,
    pub base_rate: f64,
}

impl Costs {
    /// Returns the costs stated, at the base rate stated or else that of the labels; `None` without either.
    pub(crate) fn of(config: &AuditConfig, n_good: f64, n_bad: f64) -> Option<Self> {
        let [false_accept, false_reject] = config.costs?;
        let base_rate = config.base_rate.unwrap_or(n_good / (n_good + n_bad));
        base_rate.is_finite().then_some(Self { false_accept, false_reject, base_rate })
    }

    /// What one false accept, and one false reject, add per item of the stream.
    fn weights(self) -> [f64; 2] {
        [(1.0 - self.base_rate) * self.false_accept, self.base_rate * self.false_reject]
    }

    /// Returns the cost of an answer at these rates.
    pub(crate) fn at(self, false_accepts: f64, false_rejects: f64) -> f64 {
        let [accept, reject] = self.weights();
        accept * false_accepts + reject * false_rejects
    }

    /// Returns the cost at two rates measured on the same items.
    pub(crate) fn expected(
        self,
        false_accepts: &Estimated,
        false_rejects: &Estimated,
        shared: Shared,
    ) -> Option<Estimated> {
        let mut value = self.sum(false_accepts, false_rejects, shared)?;
        if false_accepts.worst.is_some() || false_rejects.worst.is_some() {
            let worst = |rate: &'_ Estimated| rate.worst.as_deref().cloned().unwrap_or_else(|| rate.clone());
            value.worst = self.sum(&worst(false_accepts), &worst(false_rejects), shared).map(Box::new);
        }
        Some(value)
    }

    fn sum(self, false_accepts: &Estimated, false_rejects: &Estimated, shared: Shared) -> Option<Estimated> {
        let (Spread::Proportion(first), Spread::Proportion(second)) = (false_accepts.spread, false_rejects.spread)
        else {
            return None;
        };
        let [nothing, everything] = [self.at(0.0, 1.0), self.at(1.0, 0.0)];
        Some(Estimated {
            estimate: self.at(false_accepts.estimate, false_rejects.estimate),
            spread: Spread::Sum { first, second, weights: self.weights(), correlation: shared.correlation },
            n: false_accepts.n + false_rejects.n,
            n_items: false_accepts.n_items + false_rejects.n_items,
            n_clusters: shared.n_clusters,
            method: format!(
                "{} · false accepts · {:.4} + {} · false rejects · {:.4}, shares of wrong and right items taken as known; MOVER interval \
                 of both rates over clusters",
                self.false_accept,
                1.0 - self.base_rate,
                self.false_reject,
                self.base_rate
            ),
            cautions: Vec::new(),
            details: [
                ("base_rate".to_owned(), self.base_rate),
                ("accepting_everything".to_owned(), everything),
                ("accepting_nothing".to_owned(), nothing),
                ("correlation_of_rates".to_owned(), shared.correlation),
            ]
            .into(),
            worst: None,
        })
    }
}

/// What two rates measured on the same items share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shared {
    /// Correlation of both estimates through clusters that hold right and wrong items.
    pub correlation: f64,
    /// Clusters of both.
    pub n_clusters: u64,
}

impl Shared {
    /// Returns what the rates share. Units come in order of clusters, as cluster, whether the item is good, and its error rate.
    pub(crate) fn of(units: impl Iterator<Item = (u32, bool, f64)>, false_accepts: f64, false_rejects: f64) -> Self {
        let (mut squares, mut product) = ([0.0; 2], 0.0);
        let mut n_clusters = 0;
        let mut close = |sums: [f64; 2]| {
            squares[0] += sums[0] * sums[0];
            squares[1] += sums[1] * sums[1];
            product += sums[0] * sums[1];
        };
        let mut open: Option<(u32, [f64; 2])> = None;
        for (cluster, is_good, error) in units {
            if open.is_none_or(|(known, _)| known != cluster) {
                if let Some((_, sums)) = open.take() {
                    close(sums);
                }
                n_clusters += 1;
            }
            let (_, sums) = open.get_or_insert((cluster, [0.0; 2]));
            sums[usize::from(is_good)] += error - if is_good { false_rejects } else { false_accepts };
        }
        if let Some((_, sums)) = open {
            close(sums);
        }
        let scale = (squares[0] * squares[1]).sqrt();
        Self { correlation: if scale > 0.0 { (product / scale).clamp(-1.0, 1.0) } else { 0.0 }, n_clusters }
    }
}
