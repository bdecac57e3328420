//! Whether anchors (worked examples in the judge's prompt) help, and by how much another choice of them would move the figures.
//!
//! Sets of one number are a sample of the sets one might choose: their differences enter the intervals of a judge's errors. The deployed
//! set is one set, taken as it is, and reported apart. How a study chooses sets is in [`crate::anchors`].

mod conditions;
mod findings;

use std::collections::BTreeMap;

use super::AuditConfig;
use super::catalogue::{Better, info};
use super::data::table::{Subject, Table, Unit};
use super::difference::{difference, shared_units};
use super::estimate::{Estimated, Measured};
use super::figures::{Figure, figures};
use super::result::{AnchorDifference, AnchorFigure, AnchorPoint, AnchorStudy, JudgeAudit, SetFigure};
use crate::crossed::{CrossedMean, CrossedValue, crossed_mean};
use crate::interval::Spread;
use crate::log::{Log, NONE};
use crate::paired::holm;
use crate::problem::{Problem, Problems, Severity};

pub(crate) use conditions::{Shown, anchored, is_under_fixed, set_of, shown, told_apart};

/// What is asked of anchors: whether answers are right. All are means over items, which another choice of sets moves as a whole.
const ASKED: [&str; 4] = ["accuracy", "false_accept_rate", "false_reject_rate", "mean_absolute_error"];

/// Returns the parts of a unit answered under one set each.
fn by_set<'a>(subject: &'a Subject, unit: &'a Unit) -> impl Iterator<Item = (u32, Unit)> + 'a {
    let mut start = unit.cells.start;
    subject.cells_of(unit).chunk_by(|a, b| a.anchor_set == b.anchor_set).map(move |cells| {
        let range = start..start + cells.len();
        start = range.end;
        (cells[0].anchor_set, Unit { cells: range, ..unit.clone() })
    })
}

/// Returns the values of units under each set, less what `without` says of the unit. A unit's sets share its weight.
fn crossed_values(
    figure: &Figure<'_>,
    subject: &Subject,
    units: &mut dyn Iterator<Item = (&Unit, f64)>,
) -> Vec<CrossedValue> {
    let mut values: Vec<CrossedValue> = Vec::new();
    for (unit, without) in units {
        let first = values.len();
        for (set, part) in by_set(subject, unit) {
            let Some(value) = (figure.of)(subject, &part).and_then(|found| found.value) else { continue };
            values.push(CrossedValue { value: value - without, weight: unit.weight, cluster: unit.cluster, set });
        }
        let n = (values.len() - first) as f64;
        values[first..].iter_mut().for_each(|value| value.weight /= n);
    }
    values
}

fn n_sets(subject: &Subject) -> usize {
    let mut sets: Vec<u32> = subject.cells.iter().map(|cell| cell.anchor_set).collect();
    sets.sort_unstable();
    sets.dedup();
    sets.len()
}

/// Enlarges the intervals of a judge's errors by what another choice of anchors would change, where it has several sets.
pub(crate) fn widen(table: &Table<'_>, subject: &Subject, config: &AuditConfig, measured: &mut Measured) {
    if table.log.anchor_set.is_empty() || n_sets(subject) < 2 {
        return;
    }
    for figure in figures(table, config).iter().filter(|figure| ASKED.contains(&figure.id)) {
        let Some(value) = measured.values.get_mut(figure.id) else { continue };
        let mut units = subject.units.iter().map(|unit| (unit, 0.0));
        let Some(crossed) = crossed_mean(&crossed_values(figure, subject, &mut units)) else { continue };
        over_sets(value, &crossed);
        if let Some(worst) = &mut value.worst {
            over_sets(worst, &crossed);
        }
    }
}

/// Adds to an estimate's spread what sets add.
fn over_sets(value: &mut Estimated, crossed: &CrossedMean) {
    if crossed.n_sets < 2 {
        return;
    }
    let (between, degrees) = (crossed.between_sets(), crossed.n_sets as f64 - 1.0);
    value.details.insert("n_sets".to_owned(), crossed.n_sets as f64);
    value.details.insert("sd_between_sets".to_owned(), crossed.set_deviation().unwrap_or(f64::NAN));
    value.spread = match value.spread {
        Spread::Proportion(proportion) => Spread::ProportionOfSets { proportion, between, degrees },
        Spread::Student { standard_error, degrees: of_clusters, range } => {
            Spread::StudentOfSets { standard_error, degrees: of_clusters, between, set_degrees: degrees, range }
        }
        // Where only the scale bounds what cannot be negative, its square root of the variance stands in.
        Spread::Gamma { variance, degrees: of_clusters, most, .. } => Spread::StudentOfSets {
            standard_error: variance.sqrt(),
            degrees: of_clusters,
            between,
            set_degrees: degrees,
            range: [0.0, most],
        },
        // Items that were each judged under one set: yes and no, and yet not independent of one another.
        Spread::PairedProportions { only_first, only_second, n } if between > 0.0 => {
            "b less a, item by item, mean; t interval over clusters".clone_into(&mut value.method);
            Spread::StudentOfSets {
                standard_error: variance_of_pairs([only_first, only_second], n).sqrt(),
                degrees: n as f64 - 1.0,
                between,
                set_degrees: degrees,
                range: [-1.0, 1.0],
            }
        }
        // Nothing varies, or sets add nothing.
        _ => return,
    };
    value.method.push_str(", widened by what another choice of sets would change (two-way: clusters and sets)");
}

/// Returns the variance of a mean difference of pairs of yes and no, by how many differ to either side.
fn variance_of_pairs(discordant: [u64; 2], n: u64) -> f64 {
    let [first, second] = discordant.map(|n| n as f64);
    let n = n as f64;
    (first + second - (first - second).powi(2) / n) / (n * (n - 1.0))
}

/// Judges under one arm but for the anchors.
struct Family {
    judge: u32,
    /// The arm without its anchors.
    arm: u32,
    subjects: Vec<(Shown, usize)>,
}

/// Returns the judges whose anchors can be held against each other. `log` is the log as given, whose arms say nothing of anchors if `table`'s
/// do not have the same names.
fn families(table: &Table<'_>, log: &Log, problems: &mut Problems) -> Vec<Family> {
    let is_renamed = table.log.arms.len() != log.arms.len() || !table.log.arms.iter().eq(log.arms.iter());
    let mut by_name: BTreeMap<(u32, u32), Family> = BTreeMap::new();
    for (idx, subject) in table.subjects.iter().enumerate() {
        let Some(&row) = subject.rows.first() else { continue };
        let Some(shown) = shown(table.log, row as usize) else { continue };
        let arm = if is_renamed { log.arm.at(row as usize) } else { NONE };
        let family = by_name.entry((subject.judge, arm)).or_insert_with(|| Family {
            judge: subject.judge,
            arm,
            subjects: Vec::new(),
        });
        family.subjects.push((shown, idx));
    }
    let mut found: Vec<Family> = by_name.into_values().collect();
    for family in &mut found {
        family.subjects.sort_unstable();
    }
    found.retain(|family| {
        let is_clear = family.subjects.windows(2).all(|pair| pair[0].0 != pair[1].0);
        if !is_clear {
            let message = "several arms of one judge have as many anchors, so that nothing says which of them differ by anchors alone; \
                           give all of them one `arm`, and the number in `anchors`";
            problems.add(Problem::new(Severity::Note, "anchors-ambiguous", message).in_column("arm"));
        }
        is_clear
    });
    found
}

/// Returns what anchors come to, judge by judge, and adds what was found to the judges.
pub(crate) fn studies(
    table: &Table<'_>,
    log: &Log,
    judges: &mut [JudgeAudit],
    config: &AuditConfig,
    problems: &mut Problems,
) -> Vec<AnchorStudy> {
    if log.anchors.is_empty() && log.anchor_set.is_empty() {
        return Vec::new();
    }
    let figures: Vec<Figure<'_>> =
        figures(table, config).into_iter().filter(|figure| ASKED.contains(&figure.id)).collect();
    let mut studies = Vec::new();
    for family in families(table, log, problems) {
        let has_sets = family.subjects.iter().any(|(_, idx)| n_sets(&table.subjects[*idx]) > 1);
        if family.subjects.len() < 2 && !has_sets {
            continue;
        }
        let none = family.subjects.iter().find(|(shown, _)| shown.is_none()).map(|(_, idx)| &table.subjects[*idx]);
        let mut points: Vec<AnchorPoint> = family
            .subjects
            .iter()
            .map(|&(shown, idx)| {
                let subject = &table.subjects[idx];
                let found = figures.iter().filter_map(|figure| {
                    let value = judges[idx].measures.get(figure.id)?.clone();
                    let none = none.filter(|_| !shown.is_none());
                    Some(of_figure(table, figure, subject, value, none, config))
                });
                AnchorPoint {
                    anchors: shown.n,
                    arm: judges[idx].arm.clone(),
                    words: shown.words(),
                    is_deployed: shown.is_deployed,
                    n_sets: if shown.is_none() { 0 } else { n_sets(subject) as u64 },
                    n_items: judges[idx].n_items,
                    n_judgements: judges[idx].n_judgements,
                    figures: found.collect(),
                }
            })
            .collect();
        correct(&mut points, 1.0 - config.level);
        for ((_, idx), point) in family.subjects.iter().zip(&points) {
            judges[*idx].findings.extend(findings::findings(point, none.is_some()));
            super::decision::findings::sort(&mut judges[*idx].findings);
        }
        studies.push(AnchorStudy {
            judge: if family.judge == NONE { String::new() } else { table.log.judges.name(family.judge).to_owned() },
            arm: (family.arm != NONE).then(|| log.arms.name(family.arm).to_owned()),
            has_none: none.is_some(),
            points,
        });
    }
    studies
}

fn of_figure(
    table: &Table<'_>,
    figure: &Figure<'_>,
    subject: &Subject,
    value: super::result::Measure,
    none: Option<&Subject>,
    config: &AuditConfig,
) -> AnchorFigure {
    let values = crossed_values(figure, subject, &mut subject.units.iter().map(|unit| (unit, 0.0)));
    let crossed = crossed_mean(&values).filter(|crossed| crossed.n_sets > 1);
    AnchorFigure {
        measure: figure.id.to_owned(),
        value,
        sd_between_sets: crossed.and_then(|crossed| crossed.set_deviation()),
        p_sets: crossed.and_then(|crossed| crossed.p_sets()),
        sets: if crossed.is_some() { of_sets(table, &values) } else { Vec::new() },
        minus_none: none.and_then(|none| minus(table, figure, [none, subject], config)),
    }
}

/// Returns the mean of each set.
fn of_sets(table: &Table<'_>, values: &[CrossedValue]) -> Vec<SetFigure> {
    let mut sums: BTreeMap<u32, (f64, f64, u64)> = BTreeMap::new();
    for one in values {
        let sum = sums.entry(one.set).or_default();
        sum.0 += one.weight;
        sum.1 += (one.value - sum.1) * one.weight / sum.0;
        sum.2 += 1;
    }
    let name = |set: u32| if set == NONE { "" } else { table.log.anchor_sets.name(set) }.to_owned();
    let mut sets: Vec<SetFigure> =
        sums.into_iter().map(|(set, (_, estimate, n_items))| SetFigure { set: name(set), estimate, n_items }).collect();
    sets.sort_by(|a, b| a.set.cmp(&b.set));
    sets
}

/// Returns the difference to no anchors on the same items.
fn minus(
    table: &Table<'_>,
    figure: &Figure<'_>,
    [none, subject]: [&Subject; 2],
    config: &AuditConfig,
) -> Option<AnchorDifference> {
    let shared = shared_units(none, subject);
    let found = difference(table, figure, [none, subject], &shared)?;
    let (mut estimated, mut p_value, mut test) = (found.estimated, found.p_value, found.test.to_owned());
    let values = shared.iter().filter_map(|(of_none, unit)| Some((*unit, (figure.of)(none, of_none)?.value?)));
    let crossed = crossed_mean(&crossed_values(figure, subject, &mut values.collect::<Vec<_>>().into_iter()));
    if let Some(crossed) = crossed.filter(|crossed| crossed.n_sets > 1) {
        over_sets(&mut estimated, &crossed);
        if matches!(estimated.spread, Spread::StudentOfSets { .. }) {
            p_value = two_sided(&estimated);
            "two-way over clusters and sets".clone_into(&mut test);
        }
    }
    Some(AnchorDifference {
        n_items: estimated.n_items,
        minimal_detectable: estimated.minimal_detectable().or_else(|| of_pairs(&estimated, config.level)),
        difference: estimated.measure(config.level),
        p_value,
        test,
        p_holm: None,
        standing: "undecided".to_owned(),
    })
}

/// Returns the smallest difference that would have been seen, of paired proportions.
fn of_pairs(estimated: &Estimated, level: f64) -> Option<f64> {
    use crate::distribution::normal_quantile;
    let standard_error = super::difference::standard_error(estimated, level)?;
    Some((normal_quantile(0.975) + normal_quantile(0.8)) * standard_error)
}

fn two_sided(estimated: &Estimated) -> Option<f64> {
    let spread = estimated.spread;
    let (above, below) = (spread.p_at_most(estimated.estimate, 0.0)?, spread.p_at_least(estimated.estimate, 0.0)?);
    Some((2.0 * above.min(below)).min(1.0))
}

/// Corrects each measure's p values for the numbers of anchors asked about, and says what holds.
fn correct(points: &mut [AnchorPoint], alpha: f64) {
    for id in ASKED {
        let mut asked: Vec<&mut AnchorDifference> = points
            .iter_mut()
            .flat_map(|point| &mut point.figures)
            .filter(|figure| figure.measure == id)
            .filter_map(|figure| figure.minus_none.as_mut())
            .collect();
        let p_values: Vec<f64> = asked.iter().map(|one| one.p_value.unwrap_or(f64::NAN)).collect();
        for (one, adjusted) in asked.iter_mut().zip(holm(&p_values)) {
            one.p_holm = (!adjusted.is_nan()).then_some(adjusted);
            if one.p_holm.is_some_and(|p| p < alpha) {
                let is_more = one.difference.estimate > 0.0;
                let more_is_better = info(id).is_some_and(|info| info.better == Better::Higher);
                if is_more == more_is_better { "better" } else { "worse" }.clone_into(&mut one.standing);
            }
        }
    }
}
