//! Which questions of a report are corrected for their number, with which others, and how.

use std::collections::BTreeMap;

use assize_calibration::audit::result::{Audit, JudgeAudit};

use crate::format;

/// Returns the families of questions that are corrected together, with their sizes in this report, in a sentence or two. `None` where no
/// question was asked.
pub(crate) fn corrections(audit: &Audit) -> Option<String> {
    let of_judges = |size: fn(&JudgeAudit) -> usize| audit.judges.iter().map(size).collect::<Vec<_>>();
    let mut by_measure: BTreeMap<&str, usize> = BTreeMap::new();
    for comparison in audit.comparisons.iter().filter(|comparison| comparison.p_value.is_some()) {
        *by_measure.entry(&comparison.measure).or_default() += 1;
    }
    let mut anchors: BTreeMap<(usize, &str), usize> = BTreeMap::new();
    for (idx, study) in audit.anchors.iter().enumerate() {
        for figure in study.points.iter().flat_map(|point| &point.figures) {
            if figure.minus_none.as_ref().is_some_and(|minus| minus.p_value.is_some()) {
                *anchors.entry((idx, &figure.measure)).or_default() += 1;
            }
        }
    }
    let panel_pairs = audit.panels.iter().map(|panel| usize::try_from(panel.n_error_pairs).unwrap_or(usize::MAX));
    let families = [
        (of_judges(limits), "limit of the gate", "judge", HOLM),
        (of_judges(effects), "effect that may sway it", "judge", HOLM),
        (of_judges(drift), "test of change over time", "judge", HOLM),
        (of_judges(people), "person beside it", "judge", "Benjamini–Yekutieli"),
        (by_measure.into_values().collect(), "pair compared", "measure", HOLM),
        (anchors.into_values().collect(), "number of anchors against none", "measure", HOLM),
        (panel_pairs.collect(), "pair of raters that may err together", "panel", HOLM),
    ];
    let said: Vec<String> =
        families.iter().filter_map(|(sizes, what, each, how)| family(sizes, what, each, how)).collect();
    (!said.is_empty()).then(|| {
        format!(
            "Corrected for having asked many questions, each family by itself: {}. Intervals are not corrected, nor is a verdict of fit, \
             for which every limit must be met.",
            said.join("; ")
        )
    })
}

const HOLM: &str = "Holm";

/// Returns what one family is: `2 to 5 limits of the gate for each judge (Holm)`.
fn family(sizes: &[usize], what: &str, each: &str, how: &str) -> Option<String> {
    let sizes: Vec<u64> = sizes.iter().filter(|size| **size > 0).map(|size| *size as u64).collect();
    let (least, most) = (*sizes.iter().min()?, *sizes.iter().max()?);
    let plural = if most == 1 { what.to_owned() } else { plural(what) };
    let count = if least == most {
        format::count(most)
    } else {
        format!("{} to {}", format::count(least), format::count(most))
    };
    let each = if sizes.len() > 1 || each == "measure" { format!(" for each {each}") } else { String::new() };
    Some(format!("{count} {plural}{each} ({how})"))
}

/// The first word in the plural.
fn plural(what: &str) -> String {
    let (first, rest) = what.split_once(' ').map_or((what, ""), |(first, rest)| (first, rest));
    let first = if first == "person" { "people".to_owned() } else { format!("{first}s") };
    if rest.is_empty() { first } else { format!("{first} {rest}") }
}

fn limits(judge: &JudgeAudit) -> usize {
    judge.limits.iter().filter(|limit| limit.p_broken.is_some()).count()
}

fn effects(judge: &JudgeAudit) -> usize {
    judge.biases.as_ref().map_or(0, |biases| biases.tests.iter().filter(|test| test.p_holm.is_some()).count())
}

fn drift(judge: &JudgeAudit) -> usize {
    let figures = judge.drift.iter().flat_map(|drift| &drift.figures);
    figures
        .map(|figure| {
            [figure.p_trend.is_some(), figure.p_same_items.is_some(), figure.odd_window.is_some()]
                .into_iter()
                .filter(|is_asked| *is_asked)
                .count()
        })
        .sum()
}

fn people(judge: &JudgeAudit) -> usize {
    judge.alternative.as_ref().map_or(0, |test| test.people.len())
}
