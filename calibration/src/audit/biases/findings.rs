//! What is said of the effects looked for: those found, with what to change, and those not found, with what would have been seen.

use super::super::catalogue::{self, Unit};
use super::super::decision::findings::{Evidence, finding};
use super::super::estimate::Estimated;
use super::super::result::{Finding, FindingWeight};
use crate::judgement::OutcomeKind;

pub(crate) fn findings(evidence: &Evidence<'_>, found: &mut Vec<Finding>) {
    length(evidence, found);
    style(evidence, found);
    own_model(evidence, found);
    not_found(evidence, found);
}

/// An effect in the words of its unit: points, or points of a hundred.
fn effect(evidence: &Evidence<'_>, id: &str, value: &Estimated) -> String {
    let is_share = catalogue::info(id).is_some_and(|info| info.unit == Unit::Share);
    let (low, high) = evidence.interval(value);
    if is_share {
        let percent = |share: f64| format!("{:.1}", 100.0 * share);
        format!("{} percentage points [{}, {}]", percent(value.estimate), percent(low), percent(high))
    } else {
        format!("{:.2} points [{low:.2}, {high:.2}]", value.estimate)
    }
}

fn length(evidence: &Evidence<'_>, found: &mut Vec<Finding>) {
    for (id, does) in [("length_effect", "scores"), ("length_effect_share", "favours")] {
        let Some(value) = evidence.get(id).filter(|_| evidence.is_found(id)) else { continue };
        let (word, advice) = if value.estimate > 0.0 {
            (
                "longer",
                "Tell it that length is no merit, bound the length of what it judges, or compare texts of like length; audit the change as an arm.",
            )
        } else {
            ("shorter", "Look whether long texts are cut before they reach it.")
        };
        found.push(finding(
            FindingWeight::Bad,
            &[id],
            format!("It {does} {word} texts more, whatever their label: {} a doubling.", effect(evidence, id, value)),
            advice,
        ));
    }
}

/// Marks of style that move it, given the label and the length.
fn style(evidence: &Evidence<'_>, found: &mut Vec<Finding>) {
    let Some(style) = evidence.style else { return };
    let is_share = matches!(evidence.kind, OutcomeKind::Choice | OutcomeKind::Verdict);
    for one in style.effects.iter().filter(|one| one.is_found) {
        let Some(effect) = &one.effect else { continue };
        let (factor, unit, digits) = if is_share { (100.0, "percentage points", 1) } else { (1.0, "points", 2) };
        let figure = |value: f64| format!("{:.digits$}", factor * value);
        let interval = match (effect.low, effect.high) {
            (Some(low), Some(high)) => format!(" [{}, {}]", figure(low), figure(high)),
            _ => String::new(),
        };
        let direction = if effect.estimate > 0.0 { "more" } else { "less" };
        let given = match style.given.as_slice() {
            [] => "the other marks of style being equal".to_owned(),
            given => format!("{} and the other marks of style being equal", given.join(", ")),
        };
        found.push(finding(
            FindingWeight::Bad,
            &[],
            format!(
                "It favours texts with {direction} {:?}, {given}: {} {unit}{interval} for one standard deviation ({:.3}).",
                one.name,
                figure(effect.estimate),
                one.sd
            ),
            "Tell it that form is no merit, or take the form off before it judges (plain text on both sides); audit the change as an arm.",
        ));
    }
}

fn own_model(evidence: &Evidence<'_>, found: &mut Vec<Finding>) {
    for id in ["self_preference", "self_preference_share"] {
        let Some(value) = evidence.get(id).filter(|_| evidence.is_found(id)) else { continue };
        let word = if value.estimate > 0.0 { "favours" } else { "disfavours" };
        found.push(finding(
            FindingWeight::Bad,
            &[id],
            format!("It {word} what its own model made: by {}.", effect(evidence, id, value)),
            "Let a model of another family judge what this one made.",
        ));
    }
    let id = "own_false_accepts";
    let Some(value) = evidence.get(id).filter(|_| evidence.is_found(id)) else { return };
    if value.estimate > 0.0 {
        found.push(finding(
            FindingWeight::Bad,
            &[id],
            format!(
                "It shares errors with the model that made the items: it accepts wrong items of its own model more often, by {}.",
                effect(evidence, id, value)
            ),
            "Let a model of another family judge what this one made; more draws or votes of the same one do not help.",
        ));
    } else {
        found.push(finding(
            FindingWeight::Note,
            &[id],
            format!("It accepts wrong items of its own model less often, by {}.", effect(evidence, id, value)),
            "",
        ));
    }
}

/// Says which effects were looked for and not found, and how large they would have had to be.
fn not_found(evidence: &Evidence<'_>, found: &mut Vec<Finding>) {
    let Some(biases) = evidence.biases else { return };
    let mut ids = Vec::new();
    let mut shown = Vec::new();
    for test in biases.tests.iter().filter(|test| !test.is_found) {
        let Some(info) = catalogue::info(&test.measure) else { continue };
        ids.push(info.id);
        let title = info.title.to_lowercase();
        shown.push(match (test.minimal_detectable, info.unit) {
            (Some(smallest), Unit::Share) if smallest > 1.0 => format!("{title} (too little data to see any)"),
            (Some(smallest), Unit::Share) => {
                format!("{title} ({:.1} percentage points or more would have been seen)", 100.0 * smallest)
            }
            (Some(smallest), _) => format!("{title} ({smallest:.2} or more would have been seen)"),
            (None, _) => title,
        });
    }
    let is_share = matches!(evidence.kind, OutcomeKind::Choice | OutcomeKind::Verdict);
    let styles = evidence.style.into_iter().flat_map(|style| &style.effects);
    for one in styles.filter(|one| !one.is_found && one.effect.is_some()) {
        shown.push(match one.minimal_detectable {
            Some(smallest) if is_share => {
                format!("style {:?} ({:.1} percentage points or more would have been seen)", one.name, 100.0 * smallest)
            }
            Some(smallest) => format!("style {:?} ({smallest:.2} or more would have been seen)", one.name),
            None => format!("style {:?}", one.name),
        });
    }
    if shown.is_empty() {
        return;
    }
    let looked_for = match biases.n_looked_for {
        1 => "One effect was looked for".to_owned(),
        n => format!("{n} effects were looked for, corrected together (Holm)"),
    };
    let what = format!("{looked_for}; not found, with 80 % power to see what is stated: {}.", shown.join(", "));
    found.push(finding(FindingWeight::Note, &ids, what, ""));
}
