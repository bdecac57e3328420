//! How scores use their scale, and halo: whether the dimensions of an item follow one impression.
//!
//! Nothing here knows what is right; only where labels or people's scores have the same dimensions is there something to hold
//! likeness against.

use std::collections::BTreeMap;

use crate::agreement::consistency::{
    Consistency, consistency, cronbach_standard_error, mean_correlation_standard_error,
};
use crate::cluster::influence_standard_error;
use crate::influence::sums_by_cluster;
use crate::interval::Spread;
use crate::judgement::OutcomeKind;
use crate::log::NONE;

use crate::audit::AuditConfig;
use crate::audit::data::table::{Subject, Table, Unit, is};
use crate::audit::estimate::{Estimated, Measured, Values};
use crate::audit::result::{Halo, Likeness, ScaleUse};

/// The most whole numbers of a scale that are listed.
const MOST_LEVELS: f64 = 101.0;
/// The most dimensions compared with each other.
const MOST_DIMENSIONS: usize = 30;
/// Distinct scores beyond which they are no levels: a continuous scale has no ceiling that many share.
const MOST_DISTINCT: usize = 1000;

/// Returns how scores use the scale, dimension by dimension.
pub(crate) fn scale_use(
    table: &Table<'_>,
    subject: &Subject,
    units: &[Unit],
    config: &AuditConfig,
    measured: &mut Measured,
) -> Vec<ScaleUse> {
    if table.kind != OutcomeKind::Score {
        return Vec::new();
    }
    let Some(scale) = table.scale else { return Vec::new() };
    let mut dimensions: Vec<u32> = Vec::new();
    let mut last = None;
    for unit in units {
        if last.replace(unit.dimension) != Some(unit.dimension) && !dimensions.contains(&unit.dimension) {
            dimensions.push(unit.dimension);
        }
    }
    dimensions.sort_unstable();
    if dimensions.len() < 2 {
        let all = one(table, subject, units, scale, None, config.level);
        if let Some((_, [ceiling, floor, levels])) = &all {
            measured.record("ceiling_share", Some(ceiling.clone()), "", &[]);
            measured.record("floor_share", Some(floor.clone()), "", &[]);
            measured.record("effective_levels", Some(levels.clone()), "", &[]);
        }
        return all.map(|(found, _)| found).into_iter().collect();
    }
    let of = |dimension: &u32| one(table, subject, units, scale, Some(*dimension), config.level);
    dimensions.iter().filter_map(of).map(|(found, _)| found).collect()
}

fn one(
    table: &Table<'_>,
    subject: &Subject,
    units: &[Unit],
    scale: [f64; 2],
    dimension: Option<u32>,
    level: f64,
) -> Option<(ScaleUse, [Estimated; 3])> {
    let own = |unit: &&Unit| dimension.is_none_or(|own| unit.dimension == own);
    let mut levels = Levels::default();
    let mut of_labels: BTreeMap<u64, f64> = BTreeMap::new();
    let (mut ceiling, mut floor) = (Values::default(), Values::default());
    let mut draws: Vec<f64> = Vec::new();
    for unit in units.iter().filter(own) {
        draws.clear();
        draws.extend(subject.parsed_of(unit));
        let n = draws.len() as f64;
        if draws.is_empty() {
            continue;
        }
        let share = |end: f64| draws.iter().filter(|draw| is(**draw, end)).count() as f64 / n;
        ceiling.push(unit, share(scale[1] + 0.0), draws.len());
        floor.push(unit, share(scale[0] + 0.0), draws.len());
        for draw in &draws {
            levels.add(*draw, 1.0 / n);
        }
        // Means of people's scores are on no scale of levels.
        if let Some(label) = unit.truth.value.filter(|_| table.label_source == "label") {
            *of_labels.entry((label + 0.0).to_bits()).or_insert(0.0) += 1.0;
        }
        if levels.counts.len() > MOST_DISTINCT {
            return None;
        }
    }
    if levels.counts.len() < 2 && dimension.is_none() && units.len() < 2 {
        return None;
    }
    let ends = [
        ceiling.proportion("scores at the highest of the scale, mean over items")?,
        floor.proportion("scores at the lowest of the scale, mean over items")?,
    ];
    let effective = levels.effective(table, subject, units.iter().filter(own), &ends[0])?;
    let used: Vec<f64> = levels.counts.iter().map(|(bits, _)| from_order(*bits)).collect();
    // Beyond this, one more is no other number.
    let is_small = scale.iter().all(|end| end.abs() < 1e15);
    let width = scale[1] - scale[0] + 1.0;
    let is_whole =
        is_small && width <= MOST_LEVELS && used.iter().chain(&scale).all(|level| level.fract().abs() < f64::EPSILON);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of at most 101")]
    let n_possible = is_whole.then_some(width as u32);
    let levels_of_scale = (0..n_possible.unwrap_or(0)).map(|step| scale[0] + f64::from(step) + 0.0);
    let unused: Vec<f64> = levels_of_scale.filter(|level| !used.iter().any(|known| is(*known, *level))).collect();
    let found = ScaleUse {
        dimension: dimension.filter(|id| *id != NONE).map(|id| table.log.dimensions.name(id).to_owned()),
        scale,
        ceiling: ends[0].measure(level),
        floor: ends[1].measure(level),
        effective_levels: effective.measure(level),
        effective_levels_of_labels: (!of_labels.is_empty()).then(|| exp_entropy(of_labels.values().copied())),
        n_used: used.len() as u64,
        n_possible: n_possible.map(u64::from),
        unused,
    };
    let [ceiling, floor] = ends;
    Some((found, [ceiling, floor, effective]))
}

/// How often each score was given, items counting alike, in ascending order.
#[derive(Default)]
struct Levels {
    /// Sorted: scores take few levels, which are found sooner so than in a tree.
    counts: Vec<(u64, f64)>,
}

/// Returns bits that sort as the numbers do.
const fn in_order(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}

const fn from_order(bits: u64) -> f64 {
    f64::from_bits(if bits >> 63 == 1 { bits & !(1 << 63) } else { !bits })
}

fn exp_entropy(counts: impl Iterator<Item = f64> + Clone) -> f64 {
    let total: f64 = counts.clone().sum();
    counts.map(|count| count / total).filter(|share| *share > 0.0).map(|share| -share * share.ln()).sum::<f64>().exp()
}

impl Levels {
    fn add(&mut self, value: f64, weight: f64) {
        let bits = in_order(value);
        match self.counts.binary_search_by_key(&bits, |(known, _)| *known) {
            Ok(place) => self.counts[place].1 += weight,
            Err(place) => self.counts.insert(place, (bits, weight)),
        }
    }

    /// Returns exp(H) with the influence of each item: exp(H) · (mean −log share − H) / items.
    fn effective<'a>(
        &self,
        table: &Table<'_>,
        subject: &Subject,
        units: impl Iterator<Item = &'a Unit>,
        basis: &Estimated,
    ) -> Option<Estimated> {
        let total: f64 = self.counts.iter().map(|(_, n)| n).sum();
        let estimate = exp_entropy(self.counts.iter().map(|(_, n)| *n));
        let entropy = estimate.ln();
        let surprise: Vec<f64> = self.counts.iter().map(|(_, n)| -(n / total).ln()).collect();
        let mut influence = Vec::new();
        for unit in units {
            let (mut sum, mut n) = (0.0, 0.0);
            for draw in subject.parsed_of(unit) {
                let place = self.counts.binary_search_by_key(&in_order(draw), |(known, _)| *known).ok()?;
                sum += surprise[place];
                n += 1.0;
            }
            if n > 0.0 {
                influence.push((unit.cluster, (sum / n - entropy) / total));
            }
        }
        let (standard_error, n_clusters) = influence_standard_error(influence.into_iter(), table.n_clusters);
        let spread = if standard_error > 1e-12 {
            Spread::Log { standard_error, degrees: n_clusters as f64 - 1.0 }
        } else {
            Spread::None
        };
        let n_used = self.counts.len() as f64;
        let mut value = Estimated {
            estimate,
            spread,
            n: basis.n,
            n_items: basis.n_items,
            n_clusters,
            method:
                "exp of the entropy of scores, items counting alike; infinitesimal jackknife over clusters, log scale"
                    .to_owned(),
            cautions: Vec::new(),
            details: BTreeMap::new(),
            worst: None,
        };
        value = value.detail("n_levels_used", n_used);
        // What counting instead of knowing shares takes from the entropy (Miller 1955).
        Some(value.detail("corrected_for_few_items", (entropy + (n_used - 1.0) / (2.0 * total)).exp()))
    }
}

/// Returns whether dimensions follow one impression, or `None` where there are fewer than two, or too few items have all.
pub(crate) fn halo(
    table: &Table<'_>,
    subject: &Subject,
    units: &[Unit],
    config: &AuditConfig,
    measured: &mut Measured,
) -> Option<Halo> {
    let log = table.log;
    if table.kind != OutcomeKind::Score || log.dimensions.len() < 2 || log.dimensions.len() > MOST_DIMENSIONS {
        return None;
    }
    let k = log.dimensions.len();
    // By item: the judge's means, and the labels, by dimension.
    let mut items: Vec<(u32, u32, Vec<f64>, Vec<f64>)> = Vec::new();
    for unit in units.iter().filter(|unit| unit.dimension != NONE) {
        let (sum, n) = subject.parsed_of(unit).fold((0.0, 0.0), |(sum, n), draw| (sum + draw, n + 1.0));
        if items.last().is_none_or(|last| last.0 != unit.item) {
            items.push((unit.item, unit.cluster, vec![f64::NAN; k], vec![f64::NAN; k]));
        }
        let last = items.last_mut()?;
        last.2[unit.dimension as usize] = sum / n;
        last.3[unit.dimension as usize] = unit.truth.value.unwrap_or(f64::NAN);
    }
    // Dimensions that this judge scored at all.
    let kept: Vec<usize> = (0..k).filter(|&idx| items.iter().any(|item| item.2[idx].is_finite())).collect();
    let pick = |values: &[f64]| kept.iter().map(|&idx| values[idx]).collect::<Vec<f64>>();
    let is_whole = |values: &[f64]| kept.iter().all(|&idx| values[idx].is_finite());
    items.retain(|item| is_whole(&item.2));
    if kept.len() < 2 || items.len() < 3 {
        return None;
    }
    let judge = Table2::of(items.iter().map(|item| (item.1, pick(&item.2))), kept.len(), table.n_clusters);
    let likeness = judge.likeness(config.level)?;
    // Labels of dimensions that all are the item's are one label, not several.
    let labelled: Vec<_> = items.iter().filter(|item| is_whole(&item.3)).collect();
    let differ = labelled.iter().any(|item| pick(&item.3).windows(2).any(|pair| !is(pair[0], pair[1])));
    let mut reference = None;
    if differ && labelled.len() > 2 {
        let labels = Table2::of(labelled.iter().map(|item| (item.1, pick(&item.3))), kept.len(), table.n_clusters);
        let same = Table2::of(labelled.iter().map(|item| (item.1, pick(&item.2))), kept.len(), table.n_clusters);
        reference = labels.likeness(config.level);
        measured.record("halo_excess", same.less(&labels), "dimensions of scores or labels do not vary", &[]);
    } else {
        let reason = "no item has labels, or people's scores, of its own for every dimension";
        measured.unmeasured("halo_excess", reason, &["label", "dimension"]);
    }
    Some(Halo {
        dimensions: kept
            .iter()
            .filter_map(|&idx| u32::try_from(idx).ok())
            .map(|id| log.dimensions.name(id).to_owned())
            .collect(),
        judge: likeness,
        reference_source: reference
            .is_some()
            .then(|| if table.label_source == "label" { "labels" } else { "raters (mean)" }.to_owned()),
        reference,
    })
}

/// Complete scores of items, with their clusters.
struct Table2 {
    scores: Vec<f64>,
    clusters: Vec<u32>,
    n_dimensions: usize,
    n_all_clusters: usize,
}

impl Table2 {
    fn of(items: impl Iterator<Item = (u32, Vec<f64>)>, n_dimensions: usize, n_all_clusters: usize) -> Self {
        let (mut scores, mut clusters) = (Vec::new(), Vec::new());
        for (cluster, values) in items {
            clusters.push(cluster);
            scores.extend(values);
        }
        Self { scores, clusters, n_dimensions, n_all_clusters }
    }

    fn found(&self) -> Option<Consistency> {
        consistency(&self.scores, self.n_dimensions)
    }

    fn estimated(&self, estimate: f64, spread: Spread, n_clusters: u64, method: &str) -> Estimated {
        Estimated {
            estimate,
            spread,
            n: self.scores.len() as u64,
            n_items: self.clusters.len() as u64,
            n_clusters,
            method: method.to_owned(),
            cautions: Vec::new(),
            details: BTreeMap::new(),
            worst: None,
        }
    }

    fn likeness(&self, level: f64) -> Option<Likeness> {
        let found = self.found()?;
        let (error, n_clusters) = mean_correlation_standard_error(&found, &self.clusters, self.n_all_clusters);
        let spread = Spread::fisher_z(found.mean_correlation, error, n_clusters as f64 - 1.0);
        let method = "mean correlation of every two dimensions over items; infinitesimal jackknife over clusters, scale of atanh";
        let mean = self.estimated(found.mean_correlation, spread, n_clusters, method);
        let alpha = found.cronbach_alpha.map(|alpha| {
            let error = cronbach_standard_error(&self.scores, self.n_dimensions, &self.clusters, self.n_all_clusters);
            let (spread, n_clusters) = error.map_or((Spread::None, 0), |(standard_error, n_clusters)| {
                let spread = Spread::FromOne { standard_error, degrees: n_clusters as f64 - 1.0 };
                (spread, n_clusters)
            });
            let method = "k/(k − 1) · (1 − Σ variances / variance of the sum), signed (Cronbach 1951); cluster jackknife of log(1 − alpha)";
            self.estimated(alpha, spread, n_clusters, method).measure(level)
        });
        Some(Likeness {
            n_items: self.clusters.len() as u64,
            mean_correlation: mean.measure(level),
            one_factor_share: found.one_factor_share,
            cronbach_alpha: alpha,
        })
    }

    /// Returns the mean correlation less that of the same items' reference.
    fn less(&self, reference: &Self) -> Option<Estimated> {
        let (own, theirs) = (self.found()?, reference.found()?);
        let influence = own.influence.iter().zip(&theirs.influence).map(|(own, theirs)| own - theirs);
        let influence: Vec<f64> = influence.collect();
        let (standard_error, n_clusters) =
            influence_standard_error(self.clusters.iter().copied().zip(influence.iter().copied()), self.n_all_clusters);
        // One cluster more like the one that moves it most: few items say little of the spread.
        let farthest = sums_by_cluster(&influence, Some(&self.clusters))?
            .into_iter()
            .fold(0.0, |far: f64, one| far.max(one.abs()));
        let spread = if standard_error > 1e-12 {
            Spread::Student {
                standard_error: standard_error.hypot(farthest),
                degrees: n_clusters as f64 - 1.0,
                range: [-2.0, 2.0],
            }
        } else {
            Spread::None
        };
        let method = "mean correlation of the judge's dimensions less that of the reference's, same items; infinitesimal jackknife over clusters and one more like the one that moves it most, t";
        let value = self.estimated(own.mean_correlation - theirs.mean_correlation, spread, n_clusters, method);
        Some(value.detail("judge", own.mean_correlation).detail("reference", theirs.mean_correlation))
    }
}
