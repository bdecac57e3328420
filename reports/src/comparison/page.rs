//! The comparison as one HTML file, laid out as the report of an audit is.

use assize_calibration::audit::catalogue::Unit;
use assize_calibration::audit::result::{ComparedSide, MeasuredDifference, SideBySide, Standing};
use minijinja::value::{Serde, Value};
use serde::Serialize;

use super::{agreement, beside, extent};
use crate::chart::Scale;
use crate::html::environment;
use crate::view::forest::{self, Forest};
use crate::view::{Cell, Fact, Mark, ProblemRow, fact, problems};
use crate::{RenderError, format, text, words};

/// One measure.
#[derive(Serialize)]
struct Row {
    id: String,
    title: String,
    explanation: &'static str,
    a: String,
    b: String,
    chart: String,
    cell: Cell,
    counts: String,
    mark: Mark,
    why: String,
    beside: Vec<String>,
    p: String,
    p_holm: String,
    p_equivalence: String,
    p_worse: String,
    test: String,
    margin: String,
    method: String,
    cautions: Vec<String>,
}

/// Measures on one scale.
#[derive(Serialize)]
struct Table {
    title: String,
    axis: String,
    rows: Vec<Row>,
}

/// The page.
#[derive(Serialize)]
struct View {
    word: String,
    class: &'static str,
    a: String,
    b: String,
    why: String,
    extent: String,
    agreement: Option<String>,
    agreement_forests: Vec<Forest>,
    notes: Vec<String>,
    primary: Vec<Table>,
    others: Vec<Table>,
    not_compared: Vec<Fact>,
    margins: String,
    correction: String,
    sides: Vec<Side>,
    problems: Vec<ProblemRow>,
    command: String,
    level: String,
    version: String,
    schema: String,
}

/// Where one side's judgements came from.
#[derive(Serialize)]
struct Side {
    letter: &'static str,
    facts: Vec<Fact>,
}

const fn class(standing: Standing) -> &'static str {
    match standing {
        Standing::Better | Standing::Equivalent => "good",
        Standing::Worse => "bad",
        Standing::Undecided | Standing::Different => "open",
    }
}

/// Returns the comparison as one self-contained HTML page.
///
/// # Errors
/// [`RenderError::Template`] or [`RenderError::Chart`] when template engine or plotting library fail; no comparison is known to make
/// them.
pub fn html(compared: &SideBySide) -> Result<String, RenderError> {
    let view = View {
        word: format::standing(compared.standing).to_uppercase(),
        class: class(compared.standing),
        a: words::name(&compared.a.name),
        b: words::name(&compared.b.name),
        why: text::prose(&compared.why),
        extent: extent(compared),
        agreement: agreement(compared),
        agreement_forests: match compared.agreement.as_slice() {
            [only] => forest::of_agreement(&only.measures)?,
            _ => Vec::new(),
        },
        notes: compared.notes.iter().map(|note| text::prose(note)).collect(),
        primary: tables(compared, true)?,
        others: tables(compared, false)?,
        not_compared: compared
            .not_compared
            .iter()
            .map(|one| fact(format::title(&one.measure), text::sentence(&one.reason)))
            .collect(),
        margins: text::prose(&compared.margins),
        correction: text::prose(&compared.correction),
        sides: vec![side("A", &compared.a), side("B", &compared.b)],
        problems: problems(&compared.problems),
        command: command(compared),
        level: format::level(compared.config.level),
        version: text::visible(&compared.version),
        schema: text::visible(&compared.schema),
    };
    let template = environment().get_template("compare.html.j2").map_err(RenderError::Template)?;
    template.render(Value::from(Serde(view))).map_err(RenderError::Template)
}

fn side(letter: &'static str, side: &ComparedSide) -> Side {
    let mut facts = vec![
        fact("Judge", words::name(&side.judge)),
        fact("Arm", side.arm.as_deref().map(words::name).unwrap_or_default()),
        fact("File", text::cut(&side.source.files.join(", "), 300)),
        fact("Read as", text::cut(&side.source.formats.join(", "), 120)),
        fact("Answers", format::count(side.n_judgements)),
        fact("Unparsed", format::count(side.n_unparsed)),
        fact("Items", format::count(side.n_items)),
        fact("Items that the other did not judge", format::count(side.n_items_only_here)),
    ];
    if let Some([first, last]) = side.asked_ms {
        let date = assize_calibration::time::date;
        facts.push(fact("Asked (UTC)", format!("{} to {}", date(first), date(last))));
    }
    facts.retain(|fact| !fact.is_empty());
    Side { letter, facts }
}

fn command(compared: &SideBySide) -> String {
    let mut files: Vec<String> = compared.a.source.files.clone();
    if compared.b.source.files != compared.a.source.files || compared.a.source.options.iter().all(|word| word != "--b")
    {
        files.extend(compared.b.source.files.clone());
    }
    words::command_of("assize compare", &files, &compared.a.source.options)
}

fn tables(compared: &SideBySide, is_primary: bool) -> Result<Vec<Table>, RenderError> {
    let mut tables = Vec::new();
    for (unit, title) in [
        (Unit::Share, "Shares, in percentage points"),
        (Unit::Points, "Points of the score"),
        (Unit::Coefficient, "Coefficients"),
        (Unit::Loss, "Losses and costs"),
    ] {
        let of_unit: Vec<&MeasuredDifference> = compared
            .measures
            .iter()
            .filter(|one| one.is_primary == is_primary && format::unit(&one.measure) == unit)
            .collect();
        if of_unit.is_empty() {
            continue;
        }
        let scale = scale(&of_unit);
        let rows = of_unit.iter().map(|one| row(one, unit, &scale)).collect::<Result<_, _>>()?;
        tables.push(Table { title: title.to_owned(), axis: forest::axis(&scale, unit)?, rows });
    }
    Ok(tables)
}

/// Holds all differences, 0 and the margins, so that what lies within is seen.
fn scale(measures: &[&MeasuredDifference]) -> Scale {
    let margin = measures.iter().filter_map(|one| one.margin).fold(0.0, f64::max);
    let ends = measures
        .iter()
        .flat_map(|one| [Some(one.difference.estimate), one.difference.low, one.difference.high])
        .flatten()
        .filter(|end| end.is_finite());
    let (low, high) = ends.fold((-margin, margin), |(low, high), end| (f64::min(low, end), f64::max(high, end)));
    Scale::holding(low, high, 4)
}

fn row(one: &MeasuredDifference, unit: Unit, scale: &Scale) -> Result<Row, RenderError> {
    let p = |p: Option<f64>| p.map_or_else(|| "not defined".to_owned(), format::p_value);
    let info = assize_calibration::audit::catalogue::info(&one.measure);
    Ok(Row {
        id: text::visible(&one.measure),
        title: text::visible(format::title(&one.measure)),
        explanation: info.map_or("", |info| info.explanation),
        a: format::value(one.a, unit),
        b: format::value(one.b, unit),
        chart: forest::draw_difference(&one.difference, unit, scale, one.margin)?,
        cell: Cell::difference(&one.difference, unit),
        counts: forest::counts(&one.difference),
        mark: Mark { class: class(one.standing), word: format::standing(one.standing) },
        why: text::sentence(&one.why),
        beside: beside(one),
        p: p(one.p_value),
        p_holm: p(one.p_holm),
        p_equivalence: p(one.p_equivalence),
        p_worse: p(one.p_worse),
        test: text::visible(&one.test),
        margin: one
            .margin
            .map_or_else(|| "none known".to_owned(), |margin| format::limit(margin, unit).replace('%', "pp")),
        method: text::visible(&one.difference.method),
        cautions: one.difference.cautions.iter().map(|caution| text::sentence(caution)).collect(),
    })
}
