//! What to do about anchors, in words.

use super::super::catalogue::{Unit, info};
use super::super::findings::{finding, per_cent};
use super::super::result::{AnchorDifference, AnchorFigure, AnchorPoint, Finding, FindingWeight};

/// An amount of a measure.
fn amount(id: &str, value: f64) -> String {
    match info(id).map(|info| info.unit) {
        Some(Unit::Points) => format!("{value:.2} points"),
        _ => format!("{:.1} pp", 100.0 * value + 0.0),
    }
}

/// A difference with its interval.
fn signed(id: &str, difference: &AnchorDifference) -> String {
    let is_points = info(id).is_some_and(|info| info.unit == Unit::Points);
    let plain =
        |value: f64| if is_points { format!("{:.2}", value + 0.0) } else { format!("{:.1}", 100.0 * value + 0.0) };
    let measure = &difference.difference;
    let estimate = plain(measure.estimate);
    let sign = if measure.estimate > 0.0 { "+" } else { "" };
    let unit = if is_points { "points" } else { "pp" };
    match (measure.low, measure.high) {
        (Some(low), Some(high)) => format!("{sign}{estimate} {unit} [{}, {}]", plain(low), plain(high)),
        _ => format!("{sign}{estimate} {unit}"),
    }
}

fn title(id: &str) -> String {
    info(id).map_or(id, |info| info.title).to_lowercase()
}

/// Returns the figure that says most: accuracy, else the distance from labels.
fn chief(point: &AnchorPoint) -> Option<&AnchorFigure> {
    let of = |id: &str| point.figures.iter().find(|figure| figure.measure == id);
    of("accuracy").or_else(|| of("mean_absolute_error"))
}

pub(super) fn findings(point: &AnchorPoint, has_none: bool) -> Vec<Finding> {
    let mut found = Vec::new();
    let Some(chief) = chief(point).filter(|_| point.anchors != Some(0)) else { return found };
    let (id, words) = (chief.measure.as_str(), point.words.as_str());
    // "1 anchor helps", "2 anchors help".
    let s = if point.anchors == Some(1) { "s" } else { "" };
    let verb = if point.anchors == Some(1) { "is" } else { "are" };
    if let Some(difference) = &chief.minus_none {
        let figures = format!(
            "{} is {} against no anchors on the same {} items",
            title(id),
            signed(id, difference),
            super::super::decide::grouped(difference.n_items)
        );
        let (weight, what, advice) = match difference.standing.as_str() {
            "better" => (FindingWeight::Good, format!("With {words} it does better: {figures}."), ""),
            "worse" => (
                FindingWeight::Bad,
                format!("With {words} it does worse: {figures}."),
                "Take the anchors out of the prompt, or choose others and audit again.",
            ),
            _ => {
                let seen = difference.minimal_detectable.map_or_else(String::new, |smallest| {
                    format!(" A difference of {} or more would have been seen (80 % power).", amount(id, smallest))
                });
                (
                    FindingWeight::Note,
                    format!("{words} {verb} not shown to help: {figures}.{seen}"),
                    "Leave them out unless more items show a gain: anchors cost tokens in every call.",
                )
            }
        };
        // A number or a judge's own words may begin the sentence.
        found.push(finding(weight, &[id], what, advice));
    } else if !has_none {
        found.push(finding(
            FindingWeight::Note,
            &[id],
            format!("Whether {words} help{s} is not known: nothing was judged without anchors."),
            "Judge the same items without anchors too (`anchors` 0): a prompt with fewer examples is cheaper.",
        ));
    }
    if point.is_deployed {
        return found;
    }
    match chief.sd_between_sets {
        None => found.push(finding(
            FindingWeight::Note,
            &[id],
            format!("Its {words} {verb} one choice: by how much another would move the figures is not known, nor in any interval."),
            "Judge under several sets chosen at random, five or more, each leaving out the item's own group, and name them in `anchor_set`.",
        )),
        Some(deviation) if deviation > 0.0 => {
            let range = chief.sets.iter().map(|set| set.estimate);
            let (low, high) = range.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
            let shown = |value: f64| {
                if info(id).is_some_and(|info| info.unit == Unit::Points) { format!("{value:.2}") } else { per_cent(value) }
            };
            let beyond = match chief.p_sets {
                Some(p) if p < 0.05 => "",
                _ => ", which may be chance",
            };
            found.push(finding(
                FindingWeight::Note,
                &[id],
                format!(
                    "Another choice of {words} moves {} by about ±{} (standard deviation between sets; the {} sets here lie from {} \
                     to {}{beyond}). The intervals of its errors hold it.",
                    title(id),
                    amount(id, deviation),
                    point.n_sets,
                    shown(low),
                    shown(high)
                ),
                if point.n_sets < 5 { "Five sets or more make those intervals narrower." } else { "" },
            ));
        }
        Some(_) => {}
    }
    found
}
