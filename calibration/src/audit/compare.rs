//! Arms of one judge, and judges under one arm, compared item by item on the items they share.

use std::collections::BTreeMap;

use crate::distribution::t_cdf;
use crate::interval::Spread;
use crate::judgement::OutcomeKind;
use crate::log::NONE;
use crate::paired::{McNemarTest, holm, mcnemar};
use crate::problem::{Problem, Problems, Severity};

use super::AuditConfig;
use super::estimate::Values;
use super::result::Comparison;
use super::table::{Subject, Table, Unit, is};
use super::truth::{Accepts, Hits, is_right};

/// Up to this many subjects of a kind, all pairs are compared; beyond it, each with the first.
const ALL_PAIRS: usize = 16;

pub(crate) fn comparisons(table: &Table<'_>, config: &AuditConfig, problems: &mut Problems) -> Vec<Comparison> {
    let (mut by_judge, mut by_arm): (BTreeMap<u32, Vec<usize>>, BTreeMap<u32, Vec<usize>>) = Default::default();
    for (idx, subject) in table.subjects.iter().enumerate() {
        by_judge.entry(subject.judge).or_default().push(idx);
        by_arm.entry(subject.arm.wrapping_add(1)).or_default().push(idx);
    }
    let mut found = Vec::new();
    for (what, sets) in [("arms", by_judge), ("judges", by_arm)] {
        let mut of_kind = Vec::new();
        for set in sets.into_values() {
            if set.len() > ALL_PAIRS {
                let message = format!(
                    "{} {what} are too many to compare every two of them: each is compared with the first; audit those that \
                     matter in a log of their own",
                    set.len()
                );
                problems.add(Problem::new(Severity::Note, "comparisons-limited", message));
            }
            for (position, &b) in set.iter().enumerate() {
                let firsts = if set.len() <= ALL_PAIRS { &set[..position] } else { &set[..position.min(1)] };
                for &a in firsts {
                    of_kind.extend(compare(table, what, &table.subjects[a], &table.subjects[b], config));
                }
            }
        }
        correct(&mut of_kind, 1.0 - config.level);
        found.extend(of_kind);
    }
    found
}

/// What can be compared of two judges: a name, whether more is better (if either is), and its value of a unit.
type Figure<'a> = (&'static str, Option<bool>, Box<dyn Fn(&Subject, &Unit) -> Option<f64> + 'a>);

fn figures<'a>(table: &'a Table<'a>, config: &AuditConfig) -> Vec<Figure<'a>> {
    let accepts = Accepts::of(table, config);
    let right = is_right(table, accepts);
    let mut figures: Vec<Figure<'a>> = Vec::new();
    figures.push((
        "accuracy",
        Some(true),
        Box::new(move |subject, unit| {
            right(unit, 0.0)?;
            let hits = Hits::of(subject, unit, None, |draw| right(unit, draw) == Some(true));
            (hits.n > 0).then(|| hits.n_met as f64 / hits.n as f64)
        }),
    ));
    if let Some(accepts) = accepts {
        for (id, is_good) in [("false_accept_rate", false), ("false_reject_rate", true)] {
            let value = move |subject: &Subject, unit: &Unit| {
                unit.truth.good.filter(|good| *good == is_good)?;
                let hits = Hits::of(subject, unit, None, |draw| accepts.accepts(draw) != is_good);
                (hits.n > 0).then(|| hits.n_met as f64 / hits.n as f64)
            };
            figures.push((id, Some(false), Box::new(value)));
        }
    }
    if table.kind == OutcomeKind::Score {
        figures.push((
            "mean_score",
            None,
            Box::new(|subject, unit| {
                let (sum, n) = subject.parsed_of(unit).fold((0.0, 0.0), |(sum, n), draw| (sum + draw, n + 1.0));
                (n > 0.0).then(|| sum / n)
            }),
        ));
    }
    figures.push((
        "flip_rate",
        Some(false),
        Box::new(|subject, unit| {
            let (mut sum, mut n) = (0.0, 0.0);
            for cell in subject.cells_of(unit).iter().filter(|cell| cell.n_parsed() > 1) {
                let mut draws: Vec<f64> = subject.parsed(cell).collect();
                draws.sort_unstable_by(f64::total_cmp);
                let counts: Vec<usize> = draws.chunk_by(|a, b| a.total_cmp(b).is_eq()).map(<[f64]>::len).collect();
                sum += crate::combinatorics::pair_flip_rate(&counts)?;
                n += 1.0;
            }
            (n > 0.0).then(|| sum / n)
        }),
    ));
    if table.kind == OutcomeKind::Choice {
        figures.push(("swap_consistency", Some(true), Box::new(super::position::unit_swap_consistency)));
    }
    figures
}

fn compare(table: &Table<'_>, what: &str, a: &Subject, b: &Subject, config: &AuditConfig) -> Vec<Comparison> {
    let name = |subject: &Subject| {
        let name = |names: &crate::names::Names, id: u32| if id == NONE { "" } else { names.name(id) }.to_owned();
        if what == "arms" {
            let arm = name(&table.log.arms, subject.arm);
            let judge = name(&table.log.judges, subject.judge);
            if table.log.judges.len() > 1 { format!("{judge}: {arm}") } else { arm }
        } else {
            name(&table.log.judges, subject.judge)
        }
    };
    let shared = shared_units(a, b);
    figures(table, config)
        .into_iter()
        .filter_map(|(measure, more_is_better, value)| {
            let mut differences = Values::default();
            let (mut mean_a, mut mean_b) = (0.0, 0.0);
            let mut discordant = [0_u64; 2];
            let mut is_binary = ["accuracy", "false_accept_rate", "false_reject_rate"].contains(&measure);
            let (mut n_units, mut weight) = (0_u64, 0.0);
            for &(unit_a, unit_b) in &shared {
                let (Some(x), Some(y)) = (value(a, unit_a), value(b, unit_b)) else { continue };
                n_units += 1;
                // Running means: the sum of large scores may not be a number.
                weight += unit_a.weight;
                mean_a += (x - mean_a) * unit_a.weight / weight;
                mean_b += (y - mean_b) * unit_a.weight / weight;
                is_binary &= [x, y].iter().all(|value| is(*value, 0.0) || is(*value, 1.0));
                discordant[0] += u64::from(x > y);
                discordant[1] += u64::from(y > x);
                differences.push(unit_a, y - x, 2);
            }
            let range = if table.kind == OutcomeKind::Score && measure == "mean_score" {
                let width = table.trusted_width().unwrap_or(f64::INFINITY);
                [-width, width]
            } else {
                [-1.0, 1.0]
            };
            let difference = differences.mean("b less a, item by item, mean", range, None)?;
            // Dimensions of one item err together, as items of one group do; and a test of counts knows no weights.
            let independent = difference.n_clusters == n_units;
            let (p_value, test) = if is_binary && independent && !table.is_weighted {
                (Some(mcnemar(discordant[0], discordant[1], McNemarTest::MidP)), "McNemar, mid-p")
            } else {
                match difference.spread {
                    Spread::Student { standard_error, degrees, .. } if standard_error > 0.0 && degrees >= 1.0 => {
                        let t = (difference.estimate / standard_error).abs();
                        (Some(2.0 * t_cdf(-t, degrees)), "paired t over clusters")
                    }
                    // No item differs: nothing speaks against equality.
                    _ if difference.estimate == 0.0 => (Some(1.0), "no item differs"),
                    // All differ alike, which leaves no variance to judge by: as if by the toss of a coin for each cluster.
                    Spread::Constant { .. } | Spread::None => (
                        Some(0.5_f64.powf(difference.n_clusters as f64 - 1.0)),
                        "sign test over clusters, all of which differ alike",
                    ),
                    _ => (None, "paired t over clusters"),
                }
            };
            let better = match more_is_better {
                None => "neither",
                Some(more) if (difference.estimate > 0.0) == more => "b",
                Some(_) => "a",
            };
            Some(Comparison {
                what: what.to_owned(),
                a: name(a),
                b: name(b),
                measure: measure.to_owned(),
                mean_a,
                mean_b,
                difference: difference.measure(config.level),
                p_value,
                test: test.to_owned(),
                p_holm: None,
                better: better.to_owned(),
            })
        })
        .collect()
}

/// Returns the units both have, in order.
fn shared_units<'a>(a: &'a Subject, b: &'a Subject) -> Vec<(&'a Unit, &'a Unit)> {
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

/// Corrects p values for the number of pairs and withdraws what does not hold. Each measure is a question of its own, and
/// accuracy is made of the errors of either side: the pairs asked about are what grows with the log.
fn correct(comparisons: &mut [Comparison], alpha: f64) {
    let mut by_measure: BTreeMap<String, Vec<&mut Comparison>> = BTreeMap::new();
    for comparison in comparisons {
        by_measure.entry(comparison.measure.clone()).or_default().push(comparison);
    }
    for asked in by_measure.into_values() {
        correct_pairs(asked, alpha);
    }
}

fn correct_pairs(comparisons: Vec<&mut Comparison>, alpha: f64) {
    // NaN stands for a test that is undefined; it takes no part.
    let p_values: Vec<f64> = comparisons.iter().map(|comparison| comparison.p_value.unwrap_or(f64::NAN)).collect();
    for (comparison, adjusted) in comparisons.into_iter().zip(holm(&p_values)) {
        comparison.p_holm = (!adjusted.is_nan()).then_some(adjusted);
        if comparison.p_holm.is_none_or(|p| p >= alpha) && comparison.better != "neither" {
            "undecided".clone_into(&mut comparison.better);
        }
    }
}
