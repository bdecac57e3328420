//! Drift in plain words.

use std::fmt::Write as _;

use super::super::catalogue::{Unit, info};
use super::super::result::{Drift, DriftFigure, Finding, FindingWeight, Measure};
use crate::time::date;

/// Returns what is to be said of a judge over time.
pub(crate) fn findings(drift: &Drift) -> Vec<Finding> {
    let moved: Vec<&DriftFigure> = drift.figures.iter().filter(|figure| figure.has_drifted).collect();
    if moved.is_empty() {
        return Vec::from_iter(steady(drift));
    }
    moved.into_iter().map(|figure| changed(drift, figure)).collect()
}

fn changed(drift: &Drift, figure: &DriftFigure) -> Finding {
    let name = name(&figure.measure);
    let mut what = format!("Its {name} changed over time");
    if let (Some(Some(first)), Some(Some(last))) = (figure.windows.first(), figure.windows.last()) {
        write!(
            what,
            ": {} in the first of {} windows, {} in the last",
            value(first.estimate, &figure.measure),
            drift.windows.len(),
            value(last.estimate, &figure.measure)
        )
        .expect("writing to memory");
    }
    what.push('.');
    if let Some(odd) = figure.odd_window.as_ref().filter(|odd| odd.p_value < 0.05)
        && let Some(window) = usize::try_from(odd.window).ok().and_then(|idx| drift.windows.get(idx))
    {
        write!(
            what,
            " The window of {} departs most: by {}.",
            dates(window.first_ms, window.last_ms),
            change(&odd.difference, &figure.measure)
        )
        .expect("writing to memory");
    }
    if let Some(point) = &figure.change_point {
        if point.is_gradual {
            what.push_str(" A steady change explains it as well as a change at one moment: no moment stands out.");
        } else {
            write!(
                what,
                " If it changed once, then about {} (between {} and {}).",
                date(point.at_ms),
                date(point.low_ms),
                date(point.high_ms)
            )
            .expect("writing to memory");
        }
    }
    let of_same = figure.same_items.as_ref();
    let is_shown = figure.p_same_items.is_some_and(|p| p < 0.05);
    let advice = match of_same {
        Some(same) if is_shown => {
            write!(
                what,
                " On the {} items asked again later it changed by {}.",
                same.n_items,
                change(same, &figure.measure)
            )
            .expect("writing to memory");
            "The same items are answered otherwise: the judge changed, not what it judged. Look what did (the model behind the name, \
             the prompt, a parser), pin it, and audit what came after by itself."
        }
        Some(same) => {
            write!(
                what,
                " On the {} items asked again later it changed by {}, which may be chance.",
                same.n_items,
                change(same, &figure.measure)
            )
            .expect("writing to memory");
            "The same items do not show it: later items may be others. Ask more of the same items in every window before you blame \
             the judge."
        }
        None => {
            "No item was asked in two windows, so that it may be the judge or what it judged that changed. Ask some items, always the \
             same, in every window."
        }
    };
    Finding {
        what,
        advice: advice.to_owned(),
        measures: info(&figure.measure).map(|info| info.id.to_owned()).into_iter().collect(),
        weight: FindingWeight::Bad,
    }
}

/// Says that nothing moved, with what could have gone unseen.
fn steady(drift: &Drift) -> Option<Finding> {
    let figure = drift.figures.iter().find(|figure| figure.trend.as_ref().is_some_and(|trend| trend.low.is_some()))?;
    let (first, last) = (drift.windows.first()?, drift.windows.last()?);
    let trend = figure.trend.as_ref()?;
    let seen = trend.details.get("minimal_detectable").map_or_else(String::new, |smallest| {
        let smallest = match *smallest {
            smallest if is_points(&figure.measure) => format!("{smallest:.2}"),
            smallest if smallest > 1.0 => return " There is too little data to see any change.".to_owned(),
            smallest => format!("{:.1} pp", 100.0 * smallest),
        };
        format!(" A change of {smallest} or more would have been seen (80 % power).")
    });
    let what = format!(
        "From {} no drift was found: along that time its {} changed by {}.{seen}",
        dates(first.first_ms, last.last_ms),
        name(&figure.measure),
        change(trend, &figure.measure)
    );
    Some(Finding {
        what,
        advice: String::new(),
        measures: info(&figure.measure).map(|info| info.id.to_owned()).into_iter().collect(),
        weight: FindingWeight::Note,
    })
}

fn name(id: &str) -> &str {
    match id {
        "accept_rate" => "share of accepted items",
        "mean_score" => "mean score",
        "win_rate" => "preference for B",
        "unparsed_rate" => "share of unparsed replies",
        "flip_rate" => "flip rate",
        other => other,
    }
}

fn is_points(id: &str) -> bool {
    id == "mean_score" || info(id).is_some_and(|info| info.unit == Unit::Points)
}

fn value(number: f64, id: &str) -> String {
    if is_points(id) { format!("{number:.2}") } else { super::super::decision::findings::per_cent(number) }
}

fn change(measure: &Measure, id: &str) -> String {
    let size = |value: f64| if is_points(id) { format!("{value:+.2}") } else { format!("{:+.1}", 100.0 * value) };
    let unit = if is_points(id) { "" } else { " pp" };
    match (measure.low, measure.high) {
        (Some(low), Some(high)) => format!("{}{unit} [{}, {}]", size(measure.estimate), size(low), size(high)),
        _ => format!("{}{unit}", size(measure.estimate)),
    }
}

fn dates(first: i64, last: i64) -> String {
    let (first, last) = (date(first), date(last));
    if first == last { first } else { format!("{first} to {last}") }
}
