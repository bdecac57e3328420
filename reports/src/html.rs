//! The report as one HTML file: no script, no request, works from disk, in light, dark, on a phone and on paper.

use std::sync::OnceLock;

use assize_calibration::audit::result::Audit;
use assize_calibration::planning::result::Plan;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value};
use minijinja::{Environment, HtmlEscape};

use crate::{RenderError, view};

/// What a page needs besides the audit.
#[derive(Clone, Debug)]
pub struct HtmlOptions {
    /// The title. Absent: the judge's name, or how many judges there are.
    pub title: Option<String>,
    /// When the report was prepared, as it is to be written. Absent: not stated.
    pub prepared: Option<String>,
    /// The command that makes this report again. Absent: `assize audit` with the audit's files and gate.
    pub command: Option<String>,
    /// Judges shown in full, at least 1, the gravest verdicts first. The others are in the overview only.
    pub max_detailed_judges: usize,
}

impl Default for HtmlOptions {
    fn default() -> Self {
        Self { title: None, prepared: None, command: None, max_detailed_judges: 20 }
    }
}

pub(crate) fn environment() -> &'static Environment<'static> {
    static ENVIRONMENT: OnceLock<Environment<'static>> = OnceLock::new();
    ENVIRONMENT.get_or_init(|| {
        let mut environment = Environment::new();
        let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
        environment.set_syntax(syntax.expect("only white space differs from the usual syntax"));
        // Names end in .html.j2: the engine escapes whatever they print, unless marked safe. Only charts and icons are.
        for (name, source) in [
            ("report.html.j2", include_str!("../templates/report.html.j2")),
            ("judge.html.j2", include_str!("../templates/judge.html.j2")),
            ("panel.html.j2", include_str!("../templates/panel.html.j2")),
            ("people.html.j2", include_str!("../templates/people.html.j2")),
            ("in_use.html.j2", include_str!("../templates/in_use.html.j2")),
            ("biases.html.j2", include_str!("../templates/biases.html.j2")),
            ("compare.html.j2", include_str!("../templates/compare.html.j2")),
            ("drift.html.j2", include_str!("../templates/drift.html.j2")),
            ("macros.html.j2", include_str!("../templates/macros.html.j2")),
            ("risk.html.j2", include_str!("../templates/risk.html.j2")),
            ("plan.html.j2", include_str!("../templates/plan.html.j2")),
        ] {
            environment.add_template(name, source).expect("the templates are part of the program and parse");
        }
        environment.add_filter("marked", marked);
        environment.add_global("style", include_str!("../templates/style.css"));
        environment
    })
}

/// Escapes a sentence, and sets as code what stands between backticks in it.
fn marked(text: &str) -> Value {
    let escaped = HtmlEscape(text).to_string();
    let parts: Vec<&str> = escaped.split('`').collect();
    // Backticks come in pairs: an odd one out is a character like any other.
    let n_paired = (parts.len() - 1) / 2 * 2;
    let mut out = String::with_capacity(escaped.len());
    for (idx, part) in parts.into_iter().enumerate() {
        match idx {
            0 => {}
            idx if idx > n_paired => out.push('`'),
            idx if idx % 2 == 1 => out.push_str("<code>"),
            _ => out.push_str("</code>"),
        }
        out.push_str(part);
    }
    Value::from_safe_string(out)
}

/// Returns the report as one self-contained HTML page.
///
/// # Errors
/// [`RenderError::Template`] or [`RenderError::Chart`] when template engine or plotting library fail; no audit is known
/// to make them.
pub fn html(audit: &Audit, options: &HtmlOptions) -> Result<String, RenderError> {
    let view = view::build(audit, options)?;
    let template = environment().get_template("report.html.j2").map_err(RenderError::Template)?;
    template.render(Value::from(Serde(view))).map_err(RenderError::Template)
}

/// Returns a plan as one self-contained HTML page.
///
/// # Errors
/// As [`html`].
pub fn plan_html(plan: &Plan) -> Result<String, RenderError> {
    let view = view::plan::build(plan)?;
    let template = environment().get_template("plan.html.j2").map_err(RenderError::Template)?;
    template.render(Value::from(Serde(view))).map_err(RenderError::Template)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backticks_set_code_and_nothing_gets_out_of_it() {
        for (text, expected) in [
            ("plain", "plain"),
            ("run `assize plan` first", "run <code>assize plan</code> first"),
            ("`a` and `b", "<code>a</code> and `b"),
            ("`<b>`", "<code>&lt;b&gt;</code>"),
            ("", ""),
        ] {
            assert_eq!(marked(text).to_string(), expected);
        }
    }
}
