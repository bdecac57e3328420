//! What marks of style do to a judge, in words that every renderer shares.

use assize_calibration::audit::catalogue::Unit;
use assize_calibration::audit::result::{JudgeAudit, StyleEffect, StyleEffects};
use assize_calibration::judgement::OutcomeKind;

use crate::{format, text};

/// Returns the unit of an effect: points of a score, or of a hundred.
pub(crate) const fn unit(outcome: OutcomeKind) -> Unit {
    match outcome {
        OutcomeKind::Score => Unit::Points,
        _ => Unit::Share,
    }
}

/// Returns the size of an effect: `0.31`, `4.2 pp`.
pub(crate) fn figure(size: f64, outcome: OutcomeKind) -> String {
    format::value(size, unit(outcome)).replace('%', "pp")
}

/// Returns what stands in the table, in two sentences.
pub(crate) fn says(outcome: OutcomeKind, style: &StyleEffects) -> String {
    let what = match outcome {
        OutcomeKind::Choice => {
            "how much more often a candidate is chosen that has one standard deviation more of a mark"
        }
        OutcomeKind::Verdict => "how much more often a text passes that has one standard deviation more of a mark",
        _ => "how many points more a text gets that has one standard deviation more of a mark",
    };
    let given = match style.given.as_slice() {
        [] => String::new(),
        given => format!("{} and ", text::visible(&given.join(", "))),
    };
    let left_out = match style.n_left_out {
        0 => String::new(),
        n => format!(" {} left out: a mark or the length is not stated.", format::counted(n, "answered item")),
    };
    format!("An effect is {what}, {given}the other marks being equal: all stand in one regression.{left_out}")
}

/// Returns one line for each mark: its effect, or why there is none. For renderers without tables.
pub(crate) fn lines(judge: &JudgeAudit) -> Vec<String> {
    let effects = judge.style.iter().flat_map(|style| &style.effects);
    effects.map(|one| line(one, judge.outcome)).collect()
}

fn line(one: &StyleEffect, outcome: OutcomeKind) -> String {
    let name = text::visible(&one.name);
    let Some(effect) = &one.effect else {
        return format!(
            "{name}: not measured, {}",
            text::visible(one.why.as_deref().unwrap_or("for no stated reason"))
        );
    };
    let value = format::measure(effect, unit(outcome)).replace('%', "pp");
    let verdict = if one.is_found { "found" } else { "not found" };
    let p = one.p_holm.map_or_else(String::new, |p| format!(", corrected {}", format::p_value(p)));
    format!("{name}: {value} for one standard deviation ({}); {verdict}{p}", format::value(one.sd, Unit::Coefficient))
}
