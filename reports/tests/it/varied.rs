//! The parts of an audit by hand that are about what was varied: marks of style, anchors in the prompt.

use assize_calibration::audit::result::{
    AnchorDifference, AnchorFigure, AnchorPoint, AnchorStudy, SetFigure, StyleEffect, StyleEffects,
};

use crate::fixture::{HOSTILE, measure};

/// A mark found, one not found, and one that could not be looked at.
pub(crate) fn style() -> StyleEffects {
    let effect = |name: &str, p_value: Option<f64>, is_found| StyleEffect {
        name: name.to_owned(),
        sd: 2.25,
        effect: p_value.map(|_| measure(0.06, 0.02, 0.1)),
        why: p_value.is_none().then(|| "it does not vary".to_owned()),
        p_value,
        p_holm: p_value.map(|p| 2.0 * p),
        p_permutation: p_value,
        minimal_detectable: p_value.map(|_| 0.051),
        is_found,
    };
    StyleEffects {
        given: vec!["label".to_owned(), "length".to_owned()],
        n_left_out: 3,
        effects: vec![
            effect("headings", Some(0.0002), true),
            effect(HOSTILE, Some(0.4), false),
            effect("bold", None, false),
        ],
        length: Some(measure(0.01, -0.02, 0.04)),
    }
}

/// Two anchors against none, under two sets.
pub(crate) fn anchor_study() -> AnchorStudy {
    let figure = |estimate: f64, minus: Option<AnchorDifference>| AnchorFigure {
        measure: "accuracy".to_owned(),
        value: measure(estimate, estimate - 0.04, estimate + 0.04),
        sd_between_sets: minus.as_ref().map(|_| 0.021),
        p_sets: minus.as_ref().map(|_| 0.03),
        sets: ["<b>s1</b>", "s2"].map(|set| SetFigure { set: set.to_owned(), estimate, n_items: 80 }).to_vec(),
        minus_none: minus,
    };
    let point = |anchors: u32, n_sets, figures| AnchorPoint {
        anchors: Some(anchors),
        arm: None,
        words: format!("{anchors} anchors"),
        is_deployed: false,
        n_sets,
        n_items: 80,
        n_judgements: 160,
        figures,
    };
    let minus = AnchorDifference {
        difference: measure(-0.02, -0.045, 0.005),
        n_items: 80,
        p_value: Some(0.12),
        test: "two-way over clusters and sets".to_owned(),
        p_holm: Some(0.12),
        minimal_detectable: Some(0.035),
        standing: "undecided".to_owned(),
    };
    AnchorStudy {
        judge: "gpt".to_owned(),
        arm: None,
        has_none: true,
        points: vec![point(0, 0, vec![figure(0.86, None)]), point(2, 2, vec![figure(0.84, Some(minus))])],
    }
}
