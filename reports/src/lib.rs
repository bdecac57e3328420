//! Audit results turned into what people and machines read: HTML, Markdown, `JUnit`, terminal text, JSON.
//!
//! Every renderer is a pure function from an [`Audit`] to a string. It opens no file, reads no clock or environment,
//! logs nothing; what it needs besides the audit comes in its options. Names, labels and answers in an audit are
//! untrusted text: they are shown as data and can change neither markup nor terminal.

mod chart;
pub mod comparison;
mod corrections;
mod escalation;
mod format;
mod html;
mod json;
mod junit;
mod markdown;
mod plan;
mod plan_words;
mod sentinel;
mod style_words;
mod terminal;
mod text;
mod view;
mod words;

pub use assize_calibration::audit::result::Audit;
pub use escalation::escalation_terminal;
pub use html::{HtmlOptions, html, plan_html};
pub use json::json;
pub use junit::junit;
pub use markdown::markdown;
pub use plan::plan_terminal;
pub use sentinel::{sentinel_markdown, sentinel_terminal};
pub use terminal::{Charset, Colour, TerminalOptions, terminal};
pub use text::visible;

/// Why a report could not be rendered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RenderError {
    /// The page's template failed.
    #[error("failed to render the HTML page")]
    Template(#[source] minijinja::Error),
    /// The plotting library failed.
    #[error("failed to draw a chart: {0}")]
    Chart(String),
    /// The audit could not be written as JSON.
    #[error("failed to write the audit as JSON")]
    Json(#[source] serde_json::Error),
    /// The `JUnit` document could not be written.
    #[error("failed to write the JUnit report")]
    Junit(#[source] quick_junit::SerializeError),
}
