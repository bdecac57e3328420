//! What a sentinel's figures come to, in words.

use super::super::estimate::Estimated;
use super::super::findings::per_cent;
use super::{ComparedSide, SentinelFigure, Steadiness};

/// Whether the whole interval lies within the margin.
fn is_within(change: &Estimated, margin: Option<f64>, level: f64) -> bool {
    let ends = change.spread.interval(change.estimate, level);
    ends.zip(margin).is_some_and(|(ends, margin)| ends.low > -margin && ends.high < margin)
}

/// The answers themselves.
pub(super) fn of_answers(excess: Option<Estimated>, p_value: Option<f64>, margin: f64, level: f64) -> SentinelFigure {
    let note = match (&excess, p_value) {
        (Some(_), _) => "answers before and now, against answers of one time: noise cancels",
        (None, Some(_)) => {
            "whether answers changed is tested, since one side was asked more than once; by how much takes two answers a condition on both sides"
        }
        (None, None) => {
            "not identified: with one answer before and one now, an answer that changed cannot be told from noise; ask each item at \
             least twice, both times"
        }
    };
    SentinelFigure {
        figure: "answers".to_owned(),
        before: None,
        now: None,
        is_within: excess.as_ref().is_some_and(|excess| is_within(excess, Some(margin), level)),
        change: excess.map(|excess| excess.measure(level)),
        p_value,
        p_holm: None,
        margin: Some(margin),
        note: note.to_owned(),
    }
}

pub(super) fn of_figure(
    id: &str,
    change: &Estimated,
    [before, now]: [f64; 2],
    p_value: f64,
    margin: Option<f64>,
    level: f64,
) -> SentinelFigure {
    let note = if margin.is_none() {
        "no margin, since the scale is not known: state it (--scale)"
    } else {
        "these fixed items; chance is that of their answers alone"
    };
    SentinelFigure {
        figure: id.to_owned(),
        before: Some(before),
        now: Some(now),
        change: Some(change.measure(level)),
        p_value: Some(p_value),
        p_holm: None,
        margin,
        is_within: is_within(change, margin, level),
        note: note.to_owned(),
    }
}

fn title(id: &str) -> &str {
    match id {
        "answers" => "the answers to single items",
        "accept_rate" => "the share accepted",
        "mean_score" => "the mean score",
        "preference_for_b" => "the preference for candidate B",
        "accuracy" => "agreement with the labels",
        "unparsed_rate" => "the share without an answer",
        other => other,
    }
}

fn listed(figures: &[&SentinelFigure]) -> String {
    figures.iter().map(|figure| title(&figure.figure)).collect::<Vec<_>>().join(", ")
}

pub(super) fn conclude(
    figures: &[SentinelFigure],
    n_items_changed: u64,
    margin: f64,
    level: f64,
) -> (Steadiness, String) {
    let changed: Vec<&SentinelFigure> =
        figures.iter().filter(|figure| figure.p_holm.is_some_and(|p| p < 1.0 - level)).collect();
    if !changed.is_empty() {
        let items = match n_items_changed {
            0 => ", though no single item stands out".to_owned(),
            1 => "; one item stands out".to_owned(),
            n => format!("; {n} items stand out"),
        };
        return (Steadiness::Changed, format!("By more than its own noise it changed in {}{items}.", listed(&changed)));
    }
    let open: Vec<&SentinelFigure> = figures.iter().filter(|figure| !figure.is_within).collect();
    if open.is_empty() {
        let text =
            format!("On these items nothing changed by {} or more, as far as anything was asked.", per_cent(margin));
        return (Steadiness::Unchanged, text);
    }
    let is_blind = figures.iter().any(|figure| figure.figure == "answers" && figure.change.is_none());
    let text = if is_blind && open.len() == 1 {
        "Its averages are as they were, but whether single answers changed cannot be seen: ask each item at least twice, both times."
            .to_owned()
    } else {
        format!(
            "No change beyond noise is seen, but one of more than {} is not ruled out in {}: ask each item more often, or more items.",
            per_cent(margin),
            listed(&open)
        )
    };
    (Steadiness::Undecided, text)
}

pub(super) fn notes(before: &ComparedSide, now: &ComparedSide, n_cells: u64, n_repeated: u64) -> Vec<String> {
    let mut notes = vec![
        "What is said holds for these items: their answers are taken as chance, the items as given. How good the judge is on others, an \
         audit says; its intervals are wider and are of another thing."
            .to_owned(),
    ];
    let only: Vec<String> = [(before, "before"), (now, "now")]
        .into_iter()
        .filter(|(side, _)| side.n_items_only_here > 0)
        .map(|(side, when)| format!("{} judged only {when}", side.n_items_only_here))
        .collect();
    if !only.is_empty() {
        notes.push(format!("Items left out: {}.", only.join(", ")));
    }
    if n_repeated > 0 && n_repeated < n_cells {
        notes.push(format!(
            "{} of {n_cells} conditions were asked once each time; they say nothing of single answers, only of averages.",
            n_cells - n_repeated
        ));
    }
    if let (Some([first, last]), Some([first_now, last_now])) = (before.asked_ms, now.asked_ms)
        && last_now >= first
        && last >= first_now
    {
        notes
            .push("The two logs overlap in time: answers of one time cannot show what changed between two.".to_owned());
    }
    notes
}
