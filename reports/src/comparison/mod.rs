//! A comparison of two judges turned into what people and machines read.

mod page;

use std::fmt::Write as _;

use assize_calibration::audit::result::{MeasuredDifference, SideBySide, Standing};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use crate::markdown::escape;
use crate::{RenderError, TerminalOptions, format, text, words};

pub use page::html;

/// Returns the comparison as text for a terminal, ending in a line feed.
#[must_use]
pub fn terminal(compared: &SideBySide, options: &TerminalOptions) -> String {
    crate::terminal::side_by_side(compared, options)
}

/// Returns the comparison as indented JSON with a final newline.
///
/// # Errors
/// [`RenderError::Json`] when a value cannot be written as JSON.
pub fn json(compared: &SideBySide) -> Result<String, RenderError> {
    let mut text = serde_json::to_string_pretty(compared).map_err(RenderError::Json)?;
    text.push('\n');
    Ok(text)
}

/// Returns the comparison condensed for a comment on a pull request. Text from the logs can neither mark up the comment,
/// nor link, nor mention anyone.
#[must_use]
pub fn markdown(compared: &SideBySide) -> String {
    let mut out = String::new();
    let mut line = |text: &str| {
        out.push_str(text);
        out.push_str("\n\n");
    };
    let word = format::standing(compared.standing).to_uppercase();
    line(&format!(
        "## {} {word}: {} against {}",
        shape(compared.standing),
        escape(&words::name(&compared.b.name)),
        escape(&words::name(&compared.a.name))
    ));
    line(&format!("**{}**", escape(&compared.why)));
    line(&escape(&extent(compared)));
    let mut table = "| Measure | A | B | B − A | |\n| --- | ---: | ---: | ---: | --- |\n".to_owned();
    for one in &compared.measures {
        let unit = format::unit(&one.measure);
        let title = escape(format::title(&one.measure));
        let title = if one.is_primary { format!("**{title}**") } else { title };
        writeln!(
            table,
            "| {title} | {} | {} | {} | {} {} |",
            format::value(one.a, unit),
            format::value(one.b, unit),
            format::difference(&one.difference, unit),
            shape(one.standing),
            format::standing(one.standing)
        )
        .expect("writing to memory");
    }
    line(table.trim_end());
    for one in compared.measures.iter().filter(|one| one.is_primary && one.standing == Standing::Undecided) {
        line(&format!("- **{}:** {}", escape(format::title(&one.measure)), escape(&text::sentence(&one.why))));
    }
    if let Some(agreement) = agreement(compared) {
        line(&escape(&agreement));
    }
    for note in &compared.notes {
        line(&format!("- **Note:** {}", escape(note)));
    }
    line(&format!("{} {}", escape(&compared.margins), escape(&compared.correction)));
    line(&format!(
        "<sub>{} intervals · bold: what decides · assize {}</sub>",
        format::level(compared.config.level),
        escape(&compared.version)
    ));
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

/// A shape for each standing, since colour alone says nothing.
const fn shape(standing: Standing) -> &'static str {
    match standing {
        Standing::Better | Standing::Equivalent => "✅",
        Standing::Undecided | Standing::Different => "❔",
        Standing::Worse => "❌",
    }
}

/// Returns the primary measures as a `JUnit` XML document, a case each, and one for the decision. Only what is better or equivalent
/// succeeds.
///
/// # Errors
/// [`RenderError::Junit`] when the document cannot be written.
pub fn junit(compared: &SideBySide) -> Result<String, RenderError> {
    let name = text::visible(&format!("{} against {}", words::name(&compared.b.name), words::name(&compared.a.name)));
    let mut suite = TestSuite::new(name.as_str());
    let mut add = |title: String, standing: Standing, why: &str| {
        let status = match standing {
            Standing::Better | Standing::Equivalent => TestCaseStatus::success(),
            other => {
                let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
                status.set_type(format::standing(other)).set_message(text::visible(why));
                status
            }
        };
        let mut case = TestCase::new(title, status);
        case.set_classname(name.as_str());
        suite.add_test_case(case);
    };
    for one in compared.measures.iter().filter(|one| one.is_primary) {
        let figures = format::difference(&one.difference, format::unit(&one.measure)).replace('\u{a0}', " ");
        add(text::visible(&one.measure), one.standing, &format!("{figures}: {}", one.why));
    }
    add("decision".to_owned(), compared.standing, &compared.why);
    let mut report = Report::new("assize compare");
    report.add_test_suite(suite);
    report.to_string().map_err(RenderError::Junit)
}

/// Returns on what the two were compared.
pub(crate) fn extent(compared: &SideBySide) -> String {
    let mut parts = vec![
        format!("{} judged by both", format::counted(compared.n_items, "item")),
        format!("{} labelled", format::count(compared.n_labelled)),
    ];
    if compared.n_clusters != compared.n_items {
        parts.push(format::counted(compared.n_clusters, "independent cluster"));
    }
    for (letter, side) in [("A", &compared.a), ("B", &compared.b)] {
        let mut part = format!("{letter}: {}", format::counted(side.n_judgements, "answer"));
        if side.n_unparsed > 0 {
            write!(part, ", {} unparsed", format::count(side.n_unparsed)).expect("writing to memory");
        }
        if side.n_items_only_here > 0 {
            write!(part, ", {} left out", format::counted(side.n_items_only_here, "item")).expect("writing to memory");
        }
        parts.push(part);
    }
    parts.join(" · ")
}

/// Returns how far the two agree with each other, in a sentence.
pub(crate) fn agreement(compared: &SideBySide) -> Option<String> {
    let [agreement] = compared.agreement.as_slice() else { return None };
    const KNOWN: [(&str, &str); 5] = [
        ("percent_agreement", "they give the same answer {} of the time"),
        ("kappa", "Cohen's kappa {}"),
        ("weighted_kappa", "quadratic weighted kappa {}"),
        ("icc_single", "intraclass correlation {}"),
        ("alpha_interval", "Krippendorff's alpha {}"),
    ];
    let said: Vec<String> = KNOWN
        .iter()
        .filter_map(|(id, words)| {
            let measure = agreement.measures.get(*id)?;
            Some(words.replace("{}", &format::measure(measure, format::unit(id))))
        })
        .collect();
    (!said.is_empty()).then(|| format!("With each other, whoever is right: {}.", said.join("; ")))
}

/// Returns what more a row may say of a measure.
pub(crate) fn beside(one: &MeasuredDifference) -> Vec<String> {
    let unit = format::unit(&one.measure);
    let mut said = Vec::new();
    if let Some([lowest, highest]) = &one.unparsed_bounds {
        said.push(format!(
            "With unparsed replies read for A: {}; for B: {}.",
            format::difference(if one.better == "lower" { highest } else { lowest }, unit),
            format::difference(if one.better == "lower" { lowest } else { highest }, unit)
        ));
    }
    if let Some(n) = one.further_items {
        said.push(format!("About {} would decide, if the estimate is right.", format::counted(n, "further item")));
    }
    if one.is_not_worse == Some(true) && one.standing == Standing::Undecided {
        said.push("It is shown that B is not worse by the margin or more.".to_owned());
    }
    said
}
