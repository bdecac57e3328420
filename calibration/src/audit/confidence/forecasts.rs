//! Values stated (confidences, or scores) with what came of them, gathered so that what follows works on distinct values and not
//! on rows.

use hashbrown::HashMap;
use smallvec::SmallVec;

use crate::audit::data::table::Table;
use crate::audit::data::table::Unit;
use crate::audit::estimate::Values;
use crate::audit::lots::deal;

/// Folds by which maps are fitted and judged.
pub(in crate::audit) const FOLDS: usize = 5;
/// The most distinct values that are told apart; beyond it, neighbours are taken together in as many groups of equal size.
pub(in crate::audit) const MOST_VALUES: usize = 20_000;

/// One value that was stated of a unit, with its share of the unit's weight.
#[derive(Clone, Copy)]
pub(in crate::audit) struct Observation<'a> {
    pub unit: &'a Unit,
    pub value: f64,
    pub is_event: bool,
    pub weight: f64,
    pub n: usize,
}

/// Adds what was stated of a unit, equal values as one, so that units count the same.
pub(in crate::audit) fn observe<'a>(
    observations: &mut Vec<Observation<'a>>,
    unit: &'a Unit,
    stated: &mut SmallVec<[(f64, bool); 8]>,
) {
    let n_all = stated.len() as f64;
    stated.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    for run in stated.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq() && a.1 == b.1) {
        let (value, is_event) = run[0];
        observations.push(Observation { unit, value, is_event, weight: run.len() as f64 / n_all, n: run.len() });
    }
}

/// One observation, or as many as are alike and alone in their clusters.
pub(in crate::audit) struct Entry<'a> {
    unit: &'a Unit,
    pub value: f64,
    /// Its place among the distinct values.
    pub group: usize,
    pub fold: usize,
    pub is_event: bool,
    weight: f64,
    n: usize,
    /// How many clusters it stands for; 0 is itself, in a cluster that holds others.
    n_alike: u64,
}

impl Entry<'_> {
    pub(in crate::audit) fn outcome(&self) -> f64 {
        f64::from(u8::from(self.is_event))
    }

    pub(in crate::audit) fn mass(&self) -> f64 {
        if self.n_alike > 0 { self.n_alike as f64 } else { self.weight }
    }

    /// Returns how many clusters of its own it stands for, or `None` where its cluster holds others.
    pub(in crate::audit) fn alone(&self) -> Option<u64> {
        (self.n_alike > 0).then_some(self.n_alike)
    }

    pub(in crate::audit) fn weight(&self) -> f64 {
        self.weight
    }

    pub(in crate::audit) fn cluster(&self) -> u32 {
        self.unit.cluster
    }

    pub(in crate::audit) fn push(&self, values: &mut Values, value: f64) {
        if self.n_alike > 0 {
            values.push_alike(value, self.n, self.n_alike);
        } else {
            values.push_weighted(self.unit, value, self.weight, self.n);
        }
    }
}

/// What was stated, ready to measure.
pub(in crate::audit) struct Forecast<'a> {
    /// Those that stand for many first, then the others in order of clusters.
    pub entries: Vec<Entry<'a>>,
    /// The lowest value of each group, ascending.
    pub lows: Vec<f64>,
    /// The mean value of each group.
    pub means: Vec<f64>,
    pub is_grouped: bool,
    /// Whether there are clusters enough to deal out.
    pub has_folds: bool,
    pub n_observations: usize,
    pub mass: f64,
    pub event_mass: f64,
}

impl<'a> Forecast<'a> {
    /// Gathers observations, which come in order of clusters. `None` without any.
    pub(in crate::audit) fn new(table: &Table<'_>, observations: &[Observation<'a>], seed: u64) -> Option<Self> {
        if observations.is_empty() {
            return None;
        }
        let groups = Groups::new(observations);
        let mut clusters: Vec<u32> = observations.iter().map(|observation| observation.unit.cluster).collect();
        clusters.dedup();
        let folds = (clusters.len() >= 2 * FOLDS).then(|| deal(table, &clusters, FOLDS, seed));
        let mut alike: HashMap<(usize, usize, bool, usize), (u64, usize), foldhash::fast::RandomState> =
            HashMap::default();
        let mut rows = Vec::new();
        let mut first = 0;
        let by_cluster = observations.chunk_by(|a, b| a.unit.cluster == b.unit.cluster);
        for (cluster_idx, of_cluster) in by_cluster.enumerate() {
            let fold = folds.as_ref().map_or(0, |folds| folds[cluster_idx]);
            for (idx, observation) in (first..).zip(of_cluster) {
                let group = groups.of(observation.value);
                if of_cluster.len() == 1 && !groups.is_coarse {
                    let known = alike.entry((group, fold, observation.is_event, observation.n)).or_insert((0, idx));
                    known.0 += 1;
                } else {
                    rows.push(entry(observation, group, fold, 0));
                }
            }
            first += of_cluster.len();
        }
        let mut alike: Vec<_> = alike.into_iter().collect();
        alike.sort_unstable_by_key(|(key, _)| *key);
        let mut entries: Vec<Entry<'a>> = alike
            .into_iter()
            .map(|((group, fold, ..), (n_alike, idx))| entry(&observations[idx], group, fold, n_alike))
            .collect();
        entries.append(&mut rows);
        let mass = entries.iter().map(Entry::mass).sum();
        let event_mass = entries.iter().filter(|entry| entry.is_event).map(Entry::mass).sum();
        let means = groups.means(observations);
        Some(Self {
            entries,
            means,
            is_grouped: groups.is_coarse,
            lows: groups.lows,
            has_folds: folds.is_some(),
            n_observations: observations.len(),
            mass,
            event_mass,
        })
    }

    pub(in crate::audit) fn event_share(&self) -> f64 {
        self.event_mass / self.mass
    }
}

fn entry<'a>(observation: &Observation<'a>, group: usize, fold: usize, n_alike: u64) -> Entry<'a> {
    let Observation { unit, value, is_event, weight, n } = *observation;
    Entry { unit, value, group, fold, is_event, weight, n, n_alike }
}

/// The distinct values, or groups of neighbours.
struct Groups {
    lows: Vec<f64>,
    is_coarse: bool,
}

impl Groups {
    fn new(observations: &[Observation<'_>]) -> Self {
        let mut distinct: hashbrown::HashSet<u64, foldhash::fast::RandomState> = hashbrown::HashSet::default();
        let is_coarse = observations
            .iter()
            .any(|observation| distinct.insert(observation.value.to_bits()) && distinct.len() > MOST_VALUES);
        let mut lows: Vec<f64> = if is_coarse {
            let mut values: Vec<f64> = observations.iter().map(|observation| observation.value).collect();
            values.sort_unstable_by(f64::total_cmp);
            (0..MOST_VALUES).map(|idx| values[idx * values.len() / MOST_VALUES]).collect()
        } else {
            distinct.into_iter().map(f64::from_bits).collect()
        };
        lows.sort_unstable_by(f64::total_cmp);
        lows.dedup();
        Self { lows, is_coarse }
    }

    fn of(&self, value: f64) -> usize {
        self.lows.partition_point(|low| *low <= value).saturating_sub(1)
    }

    fn means(&self, observations: &[Observation<'_>]) -> Vec<f64> {
        if !self.is_coarse {
            return self.lows.clone();
        }
        let mut sums = vec![[0.0; 2]; self.lows.len()];
        for observation in observations {
            let group = self.of(observation.value);
            sums[group][0] += observation.weight * (observation.value - self.lows[group]);
            sums[group][1] += observation.weight;
        }
        self.lows.iter().zip(sums).map(|(low, [sum, weight])| low + sum / weight).collect()
    }
}
