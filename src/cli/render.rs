//! The renderers, and the ways a report can be asked for.

use anyhow::Context as _;
use assize_calibration::audit::result::{Audit, SideBySide};
use clap::ValueEnum;

use super::printer;
use super::status::Failure;
use assize_reports::{
    Charset, Colour, HtmlOptions, TerminalOptions, comparison, html, json, junit, markdown, terminal,
};

/// A form in which an audit can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// One page with charts, for a browser
    Html,
    /// Markdown, for a pull request
    Md,
    /// Everything, for programs
    Json,
    /// One test a limit, for continuous integration
    Junit,
    /// The summary that audit prints
    Terminal,
}

/// Returns the audit in a format. Only the terminal's depends on where it is printed.
pub(super) fn render(audit: &Audit, format: Format) -> Result<String, Failure> {
    let text = match format {
        Format::Html => html(audit, &HtmlOptions::default()).context("failed to render the report as HTML")?,
        Format::Md => markdown(audit),
        Format::Json => json(audit).context("failed to render the report as JSON")?,
        Format::Junit => junit(audit).context("failed to render the report as JUnit XML")?,
        Format::Terminal => terminal(audit, &terminal_options()),
    };
    Ok(text)
}

/// Returns a comparison in a format.
pub(super) fn render_comparison(compared: &SideBySide, format: Format) -> Result<String, Failure> {
    let text = match format {
        Format::Html => comparison::html(compared).context("failed to render the comparison as HTML")?,
        Format::Md => comparison::markdown(compared),
        Format::Json => comparison::json(compared).context("failed to render the comparison as JSON")?,
        Format::Junit => comparison::junit(compared).context("failed to render the comparison as JUnit XML")?,
        Format::Terminal => comparison::terminal(compared, &terminal_options()),
    };
    Ok(text)
}

fn terminal_options() -> TerminalOptions {
    TerminalOptions {
        width: printer::width(),
        colour: if printer::colour() { Colour::Ansi } else { Colour::Plain },
        charset: if printer::unicode() { Charset::Unicode } else { Charset::Ascii },
    }
}
