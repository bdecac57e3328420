//! Raters and judges taken together: how they are listed, which way of taking them together is best, whose errors go together.

use assize_calibration::audit::catalogue::Unit;
use assize_calibration::audit::result::{Audit, FindingWeight, Measure, Panel, PanelMethod};
use serde::Serialize;

use super::Mark;
use super::forest::{self, Cell};
use crate::{RenderError, format, text, words};

/// Most panels shown in full.
const MAX_PANELS: usize = 6;

#[derive(Serialize)]
struct FindingRow {
    mark: Mark,
    what: String,
    advice: String,
}

#[derive(Serialize)]
struct MethodRow {
    name: &'static str,
    explanation: &'static str,
    chart: String,
    accuracy: Option<Cell>,
    gain: Option<Cell>,
    false_accepts: Option<Cell>,
    false_rejects: Option<Cell>,
    tied: String,
    same: String,
    is_unfinished: bool,
}

#[derive(Serialize)]
struct RaterRow {
    name: String,
    items: String,
    accuracy: Option<Cell>,
    agrees: String,
    dawid_skene: String,
    mace: String,
    glad: String,
}

#[derive(Serialize)]
struct PairRow {
    a: String,
    b: String,
    items: String,
    both: String,
    expected: String,
    chart: String,
    correlation: Cell,
    within: String,
    p: String,
}

#[derive(Serialize)]
struct DoubtRow {
    item: String,
    majority: String,
    share: String,
    model: String,
    probability: String,
    label: String,
}

/// One panel, ready to lay out.
#[derive(Serialize)]
pub(crate) struct PanelView {
    title: String,
    extent: String,
    rule: String,
    notes: Vec<String>,
    findings: Vec<FindingRow>,
    worth: Option<String>,
    vote: Option<String>,
    is_labelled: bool,
    is_verdict: bool,
    is_modelled: bool,
    axis: String,
    methods: Vec<MethodRow>,
    bases: Vec<String>,
    raters: Vec<RaterRow>,
    raters_left_out: Option<String>,
    pair_axis: String,
    pairs: Vec<PairRow>,
    pairs_looked_at: String,
    doubtful: Vec<DoubtRow>,
}

pub(super) fn panels(audit: &Audit) -> Result<Vec<PanelView>, RenderError> {
    audit.panels.iter().take(MAX_PANELS).map(panel).collect()
}

pub(super) fn n_omitted(audit: &Audit) -> usize {
    audit.panels.len().saturating_sub(MAX_PANELS)
}

const fn method(name: &str) -> (&'static str, &'static str) {
    match name.as_bytes() {
        b"one_rater" => ("One rater", "Any one of the item's raters."),
        b"majority" => ("Majority", "The commonest label."),
        b"weighted_majority" => {
            ("Weighted majority", "Raters weigh by how often they are right on the labelled items of other clusters.")
        }
        b"dawid_skene" => ("Dawid–Skene", "Each rater has a table of errors, guessed without labels."),
        b"mace" => ("MACE", "Each rater knows or does not look, guessed without labels."),
        b"glad" => ("GLAD", "Raters differ in ability, items in difficulty, guessed without labels."),
        _ => ("Another method", ""),
    }
}

fn number(value: Option<f64>, write: fn(f64) -> String) -> String {
    value.map_or_else(|| "–".to_owned(), write)
}

fn methods(panel: &Panel) -> Result<(String, Vec<MethodRow>), RenderError> {
    let of = |method: &PanelMethod| method.accuracy.clone();
    let measures: Vec<Measure> = panel.methods.iter().filter_map(of).collect();
    let scale = forest::close_scale(measures.iter());
    let share = |measure: &Option<Measure>| measure.as_ref().map(|measure| Cell::new(measure, Unit::Share));
    let rows = panel
        .methods
        .iter()
        .map(|row| {
            let (name, explanation) = method(&row.method);
            Ok(MethodRow {
                name,
                explanation,
                chart: match &row.accuracy {
                    Some(measure) => forest::draw(measure, Unit::Share, &scale, &[], None)?,
                    None => String::new(),
                },
                accuracy: share(&row.accuracy),
                gain: row.gain.as_ref().map(|measure| Cell::difference(measure, Unit::Share)),
                false_accepts: share(&row.false_accept_rate),
                false_rejects: share(&row.false_reject_rate),
                tied: format::count(row.n_tied),
                same: number(row.same_as_majority, format::per_cent),
                is_unfinished: row.converged == Some(false),
            })
        })
        .collect::<Result<_, RenderError>>()?;
    let axis = if measures.is_empty() { String::new() } else { forest::axis(&scale, Unit::Share)? };
    Ok((axis, rows))
}

fn panel(panel: &Panel) -> Result<PanelView, RenderError> {
    let (axis, methods) = methods(panel)?;
    let pair_scale = forest::difference_scale(panel.error_pairs.iter().map(|pair| &pair.correlation));
    let pairs = panel
        .error_pairs
        .iter()
        .map(|pair| {
            Ok(PairRow {
                a: words::name(&pair.a),
                b: words::name(&pair.b),
                items: format::count(pair.n_items),
                both: format::per_cent(pair.both_wrong),
                expected: format::per_cent(pair.expected),
                chart: forest::draw(&pair.correlation, Unit::Coefficient, &pair_scale, &[], Some(0.0))?,
                correlation: Cell::new(&pair.correlation, Unit::Coefficient),
                within: number(pair.within_label, format::significant),
                p: pair.p_holm.map_or_else(|| "not defined".to_owned(), format::p_value),
            })
        })
        .collect::<Result<_, RenderError>>()?;
    let mut title = text::sentence(&panel.among).trim_end_matches('.').to_owned();
    for part in [&panel.arm, &panel.dimension].into_iter().flatten() {
        title = format!("{title} · {}", words::name(part));
    }
    let mut extent = format!(
        "{} by {} {} on {}, {} labelled",
        format::counted(panel.n_ratings, "rating"),
        format::count(panel.n_raters),
        text::visible(&panel.among),
        format::counted(panel.n_items, "item"),
        format::count(panel.n_labelled)
    );
    if panel.n_items_left_out > 0 {
        extent = format!(
            "{extent}; {} left out, since there are too many ratings: evenly spaced items were taken",
            format::counted(panel.n_items_left_out, "item")
        );
    }
    let accuracies = panel.methods.iter().filter_map(|row| Some((method(&row.method).0, row.accuracy.as_ref()?)));
    Ok(PanelView {
        title,
        extent,
        rule: text::sentence(&panel.rule),
        notes: panel.notes.iter().map(|note| text::sentence(note)).collect(),
        findings: panel
            .findings
            .iter()
            .map(|finding| {
                let (class, word) = match finding.weight {
                    FindingWeight::Bad => ("bad", "change"),
                    FindingWeight::Note => ("note", "note"),
                    FindingWeight::Good => ("good", "good"),
                };
                FindingRow {
                    mark: Mark { class, word },
                    what: text::prose(&finding.what),
                    advice: text::prose(&finding.advice),
                }
            })
            .collect(),
        worth: panel.worth.as_ref().map(|worth| {
            let correlation = format::measure(&worth.correlation, Unit::Coefficient);
            let independent = worth.n_effective.as_ref().map_or_else(
                || "Their errors cancel out".to_owned(),
                |value| format!("Worth {} independent ones of {}", format::measure(value, Unit::Points), worth.n_raters),
            );
            let against = if worth.against == "labels" {
                "errors against the labels"
            } else {
                "errors against Dawid and Skene's guess, which calls right what most get wrong together"
            };
            format!("{independent}; mean correlation of two raters' errors {correlation} ({against}). The interval is approximate.")
        }),
        vote: panel.vote.as_ref().map(|vote| {
            format!(
                "One rater {}, majority {}; with errors that do not meet, {} ({} to {} over {} shuffles of each rater's answers among items of one label).",
                format::per_cent(vote.one_rater),
                format::per_cent(vote.majority),
                format::per_cent(vote.majority_if_independent),
                format::per_cent(vote.shuffles[0]),
                format::per_cent(vote.shuffles[1]),
                vote.n_shuffles
            )
        }),
        is_labelled: panel.methods.iter().any(|row| row.accuracy.is_some()),
        is_verdict: panel.methods.iter().any(|row| row.false_accept_rate.is_some() || row.false_reject_rate.is_some()),
        is_modelled: panel.methods.iter().any(|row| row.method == "dawid_skene"),
        axis,
        bases: forest::bases(accuracies),
        methods,
        raters: panel
            .raters
            .iter()
            .map(|rater| RaterRow {
                name: words::name(&rater.name),
                items: format::count(rater.n_items),
                accuracy: rater.accuracy.as_ref().map(|measure| Cell::new(measure, Unit::Share)),
                agrees: number(rater.agrees_with_others, format::per_cent),
                dawid_skene: number(rater.dawid_skene, format::per_cent),
                mace: number(rater.mace, format::per_cent),
                glad: number(rater.glad, format::significant),
            })
            .collect(),
        raters_left_out: (panel.n_raters_left_out > 0).then(|| {
            format!("The best and the worst are shown; {} between them are left out.", format::count(panel.n_raters_left_out))
        }),
        pair_axis: if panel.error_pairs.is_empty() { String::new() } else { forest::axis(&pair_scale, Unit::Coefficient)? },
        pairs,
        pairs_looked_at: format::count(panel.n_error_pairs),
        doubtful: panel
            .doubtful
            .iter()
            .map(|item| DoubtRow {
                item: text::cut(&item.item, 160),
                majority: item.majority.as_deref().map_or_else(|| "tie".to_owned(), words::name),
                share: format::per_cent(item.majority_share),
                model: item.dawid_skene.as_deref().map_or_else(|| "tie".to_owned(), words::name),
                probability: format::per_cent(item.probability),
                label: item.label.as_deref().map_or_else(|| "none".to_owned(), words::name),
            })
            .collect(),
    })
}
