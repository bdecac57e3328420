//! The gate watched while the log grows: evidence after every completed cluster that is valid at all looks together.
//!
//! Means over clusters are watched by bets ([`LimitTest`]), each cluster's value being what the audit measures of it alone. What is not a mean
//! (a rank correlation, an AUC) is measured anew at 25, 50, 100, … clusters, each look spending a share of the error. Where the number of
//! items is planned, everything is measured anew at shares of the plan ([`crate::audit::decision::looks_planned`]).

use std::collections::BTreeMap;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::distribution::normal_cdf;
use crate::gate::{Gate, LimitState};
use crate::proportion::Interval;
use crate::sequential::{LimitTest, spent, unrejected_means};

use super::decide::{Side, Watched, decide};
use crate::audit::config::LookOrder;
use crate::audit::crowd::people::People;
use crate::audit::data::table::{Subject, Table, Unit};
use crate::audit::decision::gate_ends::GateEnds;
use crate::audit::decision::looks_planned::{Planned, follow};
use crate::audit::estimate::{Estimated, Measured};
use crate::audit::noise::stability;
use crate::audit::subject::{Extent, measure_cluster, measure_to_compare};

use crate::audit::AuditConfig;
use crate::audit::result::{Decided, Fitness, Futile, LimitLooks, Looks};
use crate::audit::subject::count_distinct;

/// Measures that are means over clusters of values in a range known beforehand.
const MEANS: [(&str, [f64; 2]); 14] = [
    ("unparsed_rate", [0.0, 1.0]),
    ("flip_rate", [0.0, 1.0]),
    ("moved_over_one_point", [0.0, 1.0]),
    ("repeat_consistency", [0.0, 1.0]),
    ("any_flip_rate", [0.0, 1.0]),
    ("swap_consistency", [0.0, 1.0]),
    ("primacy_rate", [0.0, 1.0]),
    ("recency_rate", [0.0, 1.0]),
    ("position_excess", [-1.0, 1.0]),
    ("position_direction", [-1.0, 1.0]),
    ("accuracy", [0.0, 1.0]),
    ("accuracy_both_orders", [0.0, 1.0]),
    ("false_accept_rate", [0.0, 1.0]),
    ("false_reject_rate", [0.0, 1.0]),
];
/// The first look at what is no mean; each next at twice as many clusters.
const FIRST_LOOK: usize = 25;
/// A run of labels less likely than this is not taken for chance.
const UNLIKELY: f64 = 1e-4;

/// One cluster's units and how many judgements they hold.
pub(in crate::audit) struct Completed {
    pub units: Vec<Unit>,
    pub n_items: u64,
    pub n_judgements: u64,
    /// Whether no reply of it could be read.
    is_unparsed: bool,
    /// The log's last row of it.
    last_row: u32,
}

/// One limit under watch.
pub(in crate::audit) struct Watch<'a> {
    pub id: &'a str,
    pub side: Side,
    pub limit: f64,
    pub kind: Kind,
    pub p_met: f64,
    pub p_broken: f64,
    pub decided_after: Option<u64>,
}

/// How a limit is watched.
#[expect(clippy::large_enum_variant, reason = "a gate has a dozen limits")]
pub(in crate::audit) enum Kind {
    Mean {
        parsed: LimitTest,
        /// With every unparsed reply counted against the judge.
        against: LimitTest,
        /// The values that `parsed` was told, and their range.
        values: Vec<f64>,
        range: [f64; 2],
    },
    /// The estimate at the last look and its interval at the level left to it.
    Looks {
        n: u32,
        last: Option<(f64, Option<Interval>)>,
    },
    Planned(Planned),
}

impl Watch<'_> {
    /// Takes the values of one cluster; returns whether the limit has become met or broken, or may have.
    fn take(&mut self, cluster: &Completed, values: &Measured) -> bool {
        let Kind::Mean { parsed, against, values: taken, .. } = &mut self.kind else { return false };
        let value = values.values.get(self.id);
        if let Some(value) = value {
            let worst = value.worst.as_ref().map_or(value.estimate, |worst| worst.estimate);
            // Rounding may leave a mean of shares a hair outside; the sequence is of values in the range.
            if parsed.update(value.estimate).is_err() {
                return false;
            }
            taken.push(value.estimate);
            if against.update(worst).is_err() {
                return false;
            }
        } else if let Some(worst) = worst_of_unparsed(self.id, cluster) {
            if against.update(worst).is_err() {
                return false;
            }
        } else {
            return false;
        }
        (self.p_met, self.p_broken) = match self.side {
            Side::Max => (against.p_at_least(), parsed.p_at_most()),
            Side::Min => (against.p_at_most(), parsed.p_at_least()),
        };
        true
    }

    /// Looks at the measure over all clusters so far; returns whether there was anything to see.
    fn look(&mut self, so_far: &Measured, level: f64) -> bool {
        let Kind::Looks { n, last } = &mut self.kind else { return false };
        let share = spent(*n);
        *n += 1;
        let Some(value) = so_far.values.get(self.id) else { return false };
        *last = Some((value.estimate, value.spread.interval(value.estimate, 1.0 - (1.0 - level) * share)));
        let worst = value.worst.as_deref().unwrap_or(value);
        let p = |value: &Estimated, at_most: bool| {
            let ends = GateEnds::of(self.id, value);
            let p = if at_most { ends.p_at_most(self.limit) } else { ends.p_at_least(self.limit) };
            (p.unwrap_or(1.0) / share).min(1.0)
        };
        let is_max = self.side == Side::Max;
        self.p_met = self.p_met.min(p(worst, !is_max));
        self.p_broken = self.p_broken.min(p(value, is_max));
        true
    }

    fn estimate(&self) -> Option<f64> {
        match &self.kind {
            Kind::Mean { values, .. } => (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64),
            Kind::Looks { last, .. } => last.as_ref().map(|(estimate, _)| *estimate),
            Kind::Planned(planned) => planned.estimate,
        }
    }

    /// Returns the interval that belongs to the evidence: for bets, what they do not reject, which takes a while.
    fn interval(&self, level: f64) -> Option<Interval> {
        match &self.kind {
            Kind::Mean { values, range, .. } => unrejected_means(values, *range, level, self.limit).ok().flatten(),
            Kind::Looks { last, .. } => last.as_ref().and_then(|(_, interval)| *interval),
            Kind::Planned(planned) => planned.interval(),
        }
    }

    /// Whether no value is left that all looks allow.
    fn is_contradicted(&self, interval: Option<Interval>) -> bool {
        match &self.kind {
            Kind::Mean { .. } => interval.is_none(),
            Kind::Looks { .. } => false,
            Kind::Planned(planned) => planned.is_contradicted(),
        }
    }

    fn result(&self, interval: Option<Interval>, state: LimitState) -> LimitLooks {
        let (method, n) = match &self.kind {
            Kind::Planned(planned) => (
                "measured at every twentieth of the plan, t^1.5 of the error spent by when t of it is there",
                u64::from(planned.n_looks),
            ),
            Kind::Mean { parsed, .. } => ("bets after every cluster (mixture over 64 shares)", parsed.n()),
            Kind::Looks { n, .. } => {
                ("measured at 25, 50, 100, … clusters, look j at 1/(j(j + 1)) of the error", u64::from(*n))
            }
        };
        LimitLooks {
            measure: self.id.to_owned(),
            side: self.side.name().to_owned(),
            limit: self.limit,
            method: method.to_owned(),
            n,
            estimate: self.estimate(),
            low: interval.map(|interval| interval.low),
            high: interval.map(|interval| interval.high),
            p_met: self.p_met,
            p_broken: self.p_broken,
            decided_after: self.decided_after,
            chances: if let Kind::Planned(planned) = &self.kind { planned.chances } else { None },
            state,
        }
    }
}

/// Returns the worst value that a cluster of which no reply could be read may have, where its labels make it one of a rate's items.
fn worst_of_unparsed(id: &str, cluster: &Completed) -> Option<f64> {
    let has = |is_of: fn(&Unit) -> bool| cluster.is_unparsed && cluster.units.iter().any(is_of);
    match id {
        "accuracy" | "accuracy_both_orders" => {
            has(|unit| unit.truth.good.is_some() || unit.truth.value.is_some()).then_some(0.0)
        }
        "false_accept_rate" => has(|unit| unit.truth.good == Some(false)).then_some(1.0),
        "false_reject_rate" => has(|unit| unit.truth.good == Some(true)).then_some(1.0),
        _ => None,
    }
}

/// Returns what the evidence so far makes of each limit.
fn watched(watches: &[Watch<'_>], intervals: &[Option<Interval>]) -> BTreeMap<(String, Side), Watched> {
    let of = |(idx, watch): (usize, &Watch<'_>)| {
        let found = Watched {
            p_met: watch.p_met,
            p_broken: watch.p_broken,
            estimate: watch.estimate(),
            interval: intervals.get(idx).copied().flatten(),
            outlook: if let Kind::Planned(planned) = &watch.kind { Some(planned.outlook()) } else { None },
        };
        ((watch.id.to_owned(), watch.side), found)
    };
    watches.iter().enumerate().map(of).collect()
}

/// Says so where items of one label come together: such a log is not in random order. A test of runs (Wald & Wolfowitz 1940).
fn sorted_labels(clusters: &[Completed]) -> Option<String> {
    let labels: Vec<bool> =
        clusters.iter().filter_map(|cluster| cluster.units.iter().find_map(|unit| unit.truth.good)).collect();
    let n = labels.len() as f64;
    let n_good = labels.iter().filter(|good| **good).count() as f64;
    let n_runs = labels.chunk_by(|a, b| a == b).count() as f64;
    let pairs = 2.0 * n_good * (n - n_good);
    let (mean, variance) = (pairs / n + 1.0, pairs * (pairs - n) / (n * n * (n - 1.0)));
    let is_sorted = variance > 0.0 && normal_cdf((n_runs + 0.5 - mean) / variance.sqrt()) < UNLIKELY;
    is_sorted.then(|| {
        "items of one label stand together in the log, so that it is not in random order, which looking early rests on; take them shuffled"
            .to_owned()
    })
}

/// What is looked at.
#[derive(Clone, Copy)]
pub(in crate::audit) struct Looking<'a> {
    pub table: &'a Table<'a>,
    pub people: Option<&'a People>,
    pub subject: &'a Subject,
    /// What is measured of the whole log.
    pub measured: &'a Measured,
    pub gate: &'a Gate,
    pub config: &'a AuditConfig,
}

impl Looking<'_> {
    /// Measures whatever a gate may ask for over the clusters so far.
    pub(in crate::audit) fn measure(&self, clusters: &[Completed]) -> Measured {
        let mut units: Vec<Unit> = clusters.iter().flat_map(|cluster| cluster.units.iter().cloned()).collect();
        units.sort_by_key(Unit::place);
        measure_to_compare(self.table, self.people, self.subject, &units, self.config, Extent::Part)
    }

    /// Returns the verdict on the evidence so far.
    pub(in crate::audit) fn fitness(&self, watches: &[Watch<'_>]) -> Fitness {
        let evidence = watched(watches, &[]);
        decide(self.gate, self.measured, self.table.kind, self.config.level, Some(&evidence)).0
    }
}

/// How far looking went, and where it could have ended.
#[derive(Default)]
pub(in crate::audit) struct Course {
    pub n_clusters: u64,
    pub n_items: u64,
    pub n_judgements: u64,
    pub decided: Option<Decided>,
    pub futile: Option<Futile>,
}

impl Course {
    pub(in crate::audit) fn take(&mut self, cluster: &Completed) {
        self.n_clusters += 1;
        self.n_items += cluster.n_items;
        self.n_judgements += cluster.n_judgements;
    }

    /// Notes which limits are decided now, and the first verdict. Returns whether one stands.
    pub(in crate::audit) fn decide(&mut self, looking: &Looking<'_>, watches: &mut [Watch<'_>]) -> bool {
        let alpha = (1.0 - looking.config.level) / 2.0;
        for watch in &mut *watches {
            if watch.p_met < alpha || watch.p_broken < alpha {
                watch.decided_after.get_or_insert(self.n_clusters);
            }
        }
        if self.decided.is_none() {
            let fitness = looking.fitness(watches);
            if fitness != Fitness::Inconclusive {
                let Self { n_clusters, n_items, n_judgements, .. } = *self;
                self.decided = Some(Decided { n_clusters, n_items, n_judgements, fitness });
            }
        }
        self.decided.is_some()
    }
}

/// Returns what looking after every cluster came to, and what it makes of each limit.
pub(crate) fn looks(
    table: &Table<'_>,
    people: Option<&People>,
    subject: &Subject,
    measured: &Measured,
    gate: &Gate,
    config: &AuditConfig,
    order: LookOrder,
) -> (Looks, BTreeMap<(String, Side), Watched>) {
    let clusters = completed(subject, order, config.seed);
    // Figures at k repeats are stated at one k throughout, however many repeats a single item has.
    let k = stability::stated_repeats(subject, &subject.units, config.stability_repeats as usize);
    let config = &AuditConfig { stability_repeats: u32::try_from(k).unwrap_or(u32::MAX), ..config.clone() };
    let looking = Looking { table, people, subject, measured, gate, config };
    let mut watches = watches(&looking);
    let course = match config.planned_items {
        Some(n_planned) => follow(&looking, &clusters, &mut watches, n_planned),
        None => bet(&looking, &clusters, &mut watches),
    };
    let intervals: Vec<Option<Interval>> = watches.par_iter().map(|watch| watch.interval(config.level)).collect();
    let found = watched(&watches, &intervals);
    let (_, _, results) = decide(gate, measured, table.kind, config.level, Some(&found));
    let state = |watch: &Watch<'_>| {
        let of = |result: &&crate::gate::LimitResult| result.measure == watch.id && result.side == watch.side.name();
        results.iter().find(of).map_or(LimitState::Unmeasured, |result| result.state)
    };
    let of_watches = || watches.iter().zip(&intervals);
    let limits = of_watches().map(|(watch, interval)| watch.result(*interval, state(watch))).collect();
    let mut cautions = Vec::new();
    if order == LookOrder::Log {
        cautions.extend(sorted_labels(&clusters));
    }
    if of_watches().any(|(watch, interval)| watch.is_contradicted(*interval)) {
        cautions.push(
            "the values contradict each other over time: the items did not come in random order, or the judge changed; look once, at the end"
                .to_owned(),
        );
    }
    let looks = Looks {
        order: if order == LookOrder::Log { "log" } else { "shuffled" }.to_owned(),
        unit: if table.cluster_is_group { "group" } else { "item" }.to_owned(),
        n_clusters: course.n_clusters,
        n_judgements: course.n_judgements,
        n_items: course.n_items,
        planned_items: config.planned_items,
        decided: course.decided,
        futile: course.futile,
        limits,
        cautions,
    };
    (looks, found)
}

/// Bets after every cluster on what is a mean, and measures anew now and then what is none.
fn bet(looking: &Looking<'_>, clusters: &[Completed], watches: &mut [Watch<'_>]) -> Course {
    let Looking { table, subject, config, .. } = *looking;
    // Each is the only cluster of a table of one: sums by cluster are not laid out for all of them again and again.
    let alone = table.for_redraws(1);
    let measure = |cluster: &Completed| {
        let units: Vec<Unit> = cluster.units.iter().map(|unit| Unit { cluster: 0, ..unit.clone() }).collect();
        measure_cluster(&alone, subject, &units, config)
    };
    let values: Vec<Measured> = clusters.par_iter().map(measure).collect();
    let mut course = Course::default();
    let mut next_look = FIRST_LOOK;
    let has_looks = watches.iter().any(|watch| matches!(watch.kind, Kind::Looks { .. }));
    for (idx, (cluster, values)) in clusters.iter().zip(&values).enumerate() {
        course.take(cluster);
        let mut has_news = false;
        for watch in &mut *watches {
            has_news |= watch.take(cluster, values);
        }
        if has_looks && idx + 1 == next_look {
            let so_far = looking.measure(&clusters[..=idx]);
            for watch in &mut *watches {
                has_news |= watch.look(&so_far, config.level);
            }
            next_look *= 2;
        }
        if has_news {
            course.decide(looking, watches);
        }
    }
    course
}

/// Returns the subject's clusters in the order in which they were completed, or shuffled.
fn completed(subject: &Subject, order: LookOrder, seed: u64) -> Vec<Completed> {
    let mut clusters: Vec<Completed> = subject
        .units
        .chunk_by(|a, b| a.cluster == b.cluster)
        .map(|units| {
            let draws = || units.iter().flat_map(|unit| subject.cells_of(unit)).flat_map(|cell| cell.draws.clone());
            Completed {
                units: units.to_vec(),
                n_items: count_distinct(units.iter().map(|unit| unit.item)),
                n_judgements: draws().count() as u64,
                is_unparsed: draws().all(|draw| subject.draws[draw].is_nan()),
                last_row: draws().map(|draw| subject.rows[draw]).max().unwrap_or(0),
            }
        })
        .collect();
    match order {
        LookOrder::Log => clusters.sort_by_key(|cluster| cluster.last_row),
        LookOrder::Shuffled => clusters.shuffle(&mut ChaCha8Rng::seed_from_u64(seed)),
    }
    clusters
}

fn watches<'a>(looking: &Looking<'a>) -> Vec<Watch<'a>> {
    let Looking { table, measured, gate, config, .. } = *looking;
    let mut watches = Vec::new();
    for (id, limit) in gate.limits.iter().filter(|(_, limit)| limit.is_for(table.kind)) {
        let is_gatable = crate::audit::catalogue::info(id).is_none_or(|info| info.ungatable.is_none());
        if !is_gatable || !measured.values.contains_key(id.as_str()) {
            continue;
        }
        for (side, limit) in [(Side::Min, limit.min), (Side::Max, limit.max)] {
            let Some(limit) = limit else { continue };
            let mean = || {
                let (_, range) = MEANS.iter().find(|(mean, _)| mean == id)?;
                let test = LimitTest::new(limit, *range).ok()?;
                Some(Kind::Mean { parsed: test.clone(), against: test, values: Vec::new(), range: *range })
            };
            let kind = if config.planned_items.is_some() {
                Kind::Planned(Planned::default())
            } else {
                mean().unwrap_or(Kind::Looks { n: 0, last: None })
            };
            watches.push(Watch { id, side, limit, kind, p_met: 1.0, p_broken: 1.0, decided_after: None });
        }
    }
    watches
}
