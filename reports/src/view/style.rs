//! What marks of style do to a judge's answers.

use assize_calibration::audit::catalogue::Unit;
use assize_calibration::audit::result::{JudgeAudit, StyleEffect};
use assize_calibration::judgement::OutcomeKind;
use serde::Serialize;

use super::{Cell, Mark};
use crate::{format, style_words, text};

/// The effects of marks of style.
#[derive(Serialize)]
pub(crate) struct StyleView {
    says: String,
    effects: Vec<StyleRow>,
    length: Option<Cell>,
}

#[derive(Serialize)]
struct StyleRow {
    name: String,
    sd: String,
    /// Absent where there is none; then `why` says so.
    cell: Option<Cell>,
    why: String,
    smallest: Option<String>,
    p_holm: Option<String>,
    p_permutation: Option<String>,
    mark: Mark,
}

pub(super) fn style(judge: &JudgeAudit) -> Option<StyleView> {
    let style = judge.style.as_ref()?;
    let unit = style_words::unit(judge.outcome);
    // Twice the length changes a score by points, a share by points of a hundred, as a mark does.
    let length = style.length.as_ref().map(|measure| Cell::difference(measure, unit));
    Some(StyleView {
        says: style_words::says(judge.outcome, style),
        effects: style.effects.iter().map(|one| row(one, judge.outcome, unit)).collect(),
        length,
    })
}

fn row(one: &StyleEffect, outcome: OutcomeKind, unit: Unit) -> StyleRow {
    let mark = if one.is_found {
        Mark { class: "bad", word: "found" }
    } else if one.p_holm.is_some() {
        Mark { class: "open", word: "not found" }
    } else {
        Mark { class: "none", word: "not tested" }
    };
    StyleRow {
        name: text::visible(&one.name),
        sd: format::value(one.sd, Unit::Coefficient),
        cell: one.effect.as_ref().map(|measure| Cell::difference(measure, unit)),
        why: text::visible(one.why.as_deref().unwrap_or_default()),
        smallest: one.minimal_detectable.map(|size| style_words::figure(size, outcome)),
        p_holm: one.p_holm.map(format::p_value),
        p_permutation: one.p_permutation.map(format::p_value),
        mark,
    }
}
