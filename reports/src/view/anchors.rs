//! What anchors come to, as the page shows it.

use assize_calibration::audit::catalogue::Unit;
use assize_calibration::audit::result::{AnchorFigure, AnchorPoint, AnchorStudy, Audit, Measure};
use serde::Serialize;

use super::Mark;
use super::forest::{self, Cell};
use crate::{RenderError, format, text, words};

/// Most sets listed of one number of anchors.
const MAX_SETS: usize = 12;

/// One number of anchors, by one measure.
#[derive(Serialize)]
struct PointRow {
    anchors: String,
    extent: String,
    value: Cell,
    chart: String,
    difference: Option<Cell>,
    mark: Option<Mark>,
    test: String,
    sets: String,
}

/// One measure.
#[derive(Serialize)]
struct FigureTable {
    title: String,
    axis: String,
    rows: Vec<PointRow>,
}

/// One judge.
#[derive(Serialize)]
pub(crate) struct AnchorView {
    name: String,
    lead: String,
    tables: Vec<FigureTable>,
    methods: String,
}

pub(super) fn anchors(audit: &Audit) -> Result<Vec<AnchorView>, RenderError> {
    audit.anchors.iter().map(study).collect()
}

fn study(study: &AnchorStudy) -> Result<AnchorView, RenderError> {
    let arm = study.arm.as_deref().map_or_else(String::new, |arm| format!(" · {}", words::name(arm)));
    let mut ids: Vec<&str> = Vec::new();
    for figure in study.points.iter().flat_map(|point| &point.figures) {
        if !ids.contains(&figure.measure.as_str()) {
            ids.push(&figure.measure);
        }
    }
    let tables = ids.into_iter().map(|id| table(study, id)).collect::<Result<_, _>>()?;
    let figures = study.points.iter().flat_map(|point| &point.figures);
    let measures: Vec<&Measure> = figures
        .flat_map(|figure| [Some(&figure.value), figure.minus_none.as_ref().map(|minus| &minus.difference)])
        .flatten()
        .collect();
    Ok(AnchorView {
        name: format!("{}{arm}", words::name(&study.judge)),
        lead: lead(study),
        tables,
        methods: forest::methods(measures.into_iter()),
    })
}

fn lead(study: &AnchorStudy) -> String {
    let is_sampled = study.points.iter().any(|point| point.n_sets > 1);
    let is_single = study.points.iter().any(|point| point.n_sets == 1 && !point.is_deployed);
    let mut lead = "Anchors are worked examples with their answers in the judge’s prompt.".to_owned();
    lead.push_str(if study.has_none {
        " Each number of them is held against none, item by item; p values are corrected for the numbers asked about (Holm)."
    } else {
        " Nothing was judged without any, so that whether they help is not known."
    });
    if is_sampled {
        lead.push_str(" Intervals of several sets hold what another choice of sets would change.");
    }
    if is_single {
        lead.push_str(" Of one set alone nobody knows what another would do; no interval here holds that.");
    }
    if study.points.iter().any(|point| point.is_deployed) {
        lead.push_str(" The deployed set is one set, taken as it is.");
    }
    lead
}

fn table(study: &AnchorStudy, id: &str) -> Result<FigureTable, RenderError> {
    let unit = format::unit(id);
    let with: Vec<(&AnchorPoint, &AnchorFigure)> = study
        .points
        .iter()
        .filter_map(|point| Some((point, point.figures.iter().find(|figure| figure.measure == id)?)))
        .collect();
    let differences = || with.iter().filter_map(|(_, figure)| figure.minus_none.as_ref());
    let has_differences = differences().next().is_some();
    let scale = if has_differences {
        forest::difference_scale(differences().map(|minus| &minus.difference))
    } else {
        forest::close_scale(with.iter().map(|(_, figure)| &figure.value))
    };
    let rows = with.iter().map(|(point, figure)| {
        let minus = figure.minus_none.as_ref();
        Ok(PointRow {
            anchors: text::visible(&point.words),
            extent: format!(
                "{}, {}",
                format::counted(point.n_items, "item"),
                format::counted(point.n_judgements, "judgement")
            ),
            value: Cell::new(&figure.value, unit),
            chart: match minus {
                Some(minus) => forest::draw_difference(&minus.difference, unit, &scale, None)?,
                None if has_differences => String::new(),
                None => forest::draw(&figure.value, unit, &scale, &[], None)?,
            },
            difference: minus.map(|minus| Cell::difference(&minus.difference, unit)),
            mark: minus.map(|minus| match minus.standing.as_str() {
                "better" => Mark { class: "good", word: "better" },
                "worse" => Mark { class: "bad", word: "worse" },
                _ => Mark { class: "open", word: "undecided" },
            }),
            test: minus.map_or_else(String::new, |minus| {
                let corrected = minus.p_holm.map_or_else(|| format::UNDEFINED.to_owned(), format::p_value);
                let seen = minus
                    .minimal_detectable
                    .map_or_else(String::new, |smallest| format!("; {} would have been seen", apart(smallest, unit)));
                format!("{}, corrected: {corrected}{seen}", minus.test)
            }),
            sets: sets(point, figure),
        })
    });
    Ok(FigureTable {
        title: text::visible(format::title(id)),
        axis: forest::axis(&scale, unit)?,
        rows: rows.collect::<Result<_, RenderError>>()?,
    })
}

fn sets(point: &AnchorPoint, figure: &AnchorFigure) -> String {
    let unit = format::unit(&figure.measure);
    let Some(deviation) = figure.sd_between_sets else {
        return match point.n_sets {
            0 => String::new(),
            _ if point.is_deployed => "the one that will be used".to_owned(),
            _ => "one".to_owned(),
        };
    };
    let chance = match figure.p_sets {
        Some(p) => format!(" (if sets did not differ: {})", format::p_value(p)),
        None => String::new(),
    };
    let listed: Vec<String> = figure
        .sets
        .iter()
        .take(MAX_SETS)
        .map(|set| format!("{} {}", words::name(&set.set), format::value(set.estimate, unit)))
        .collect();
    let more = if figure.sets.len() > MAX_SETS { ", …" } else { "" };
    format!(
        "{}; another choice moves it by about ±{}{chance}: {}{more}",
        point.n_sets,
        apart(deviation, unit),
        listed.join(", ")
    )
}

/// Returns how far apart two figures are: of shares in percentage points.
fn apart(size: f64, unit: Unit) -> String {
    format::value(size, unit).replace('%', "pp")
}
