//! The renderers, and the ways a report can be asked for.

use anyhow::Context as _;
use assize_calibration::audit::result::{Audit, Escalation, Sentinel, SideBySide};
use assize_calibration::planning::result::Plan;
use assize_calibration::self_test::SelfTest;
use clap::ValueEnum;
use serde::Serialize;

use super::escalate::csv;
use super::printer;
use super::self_test::table;
use super::status::Failure;
use assize_reports::{
    Charset, Colour, HtmlOptions, TerminalOptions, comparison, escalation_terminal, html, json, junit, markdown,
    plan_html, plan_terminal, sentinel_markdown, sentinel_terminal, terminal,
};

/// A form in which a result can be written.
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
    /// Items to label, as a table
    Csv,
    /// The summary that the command prints
    Terminal,
}

/// Returns the audit in a format. Only the terminal's depends on where it is printed.
pub(super) fn render(audit: &Audit, format: Format) -> Result<String, Failure> {
    let text = match format {
        Format::Html => html(audit, &HtmlOptions::default()).context("failed to render the report as HTML")?,
        Format::Md => markdown(audit),
        Format::Json => json(audit).context("failed to render the report as JSON")?,
        Format::Junit => junit(audit).context("failed to render the report as JUnit XML")?,
        Format::Csv => return Err(not_offered("an audit", format, "html, md, json, junit and terminal")),
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
        Format::Csv => return Err(not_offered("a comparison", format, "html, md, json, junit and terminal")),
        Format::Terminal => comparison::terminal(compared, &terminal_options()),
    };
    Ok(text)
}

/// Returns what a sentinel found in a format.
pub(super) fn render_sentinel(found: &Sentinel, format: Format) -> Result<String, Failure> {
    match format {
        Format::Md => Ok(sentinel_markdown(found)),
        Format::Json => pretty(found),
        Format::Terminal => Ok(sentinel_terminal(found, &terminal_options())),
        Format::Html | Format::Junit | Format::Csv => {
            Err(not_offered("what a sentinel found", format, "md, json and terminal"))
        }
    }
}

/// Returns a plan in a format.
pub(super) fn render_plan(plan: &Plan, format: Format) -> Result<String, Failure> {
    match format {
        Format::Html => Ok(plan_html(plan).context("failed to render the plan as HTML")?),
        Format::Json => pretty(plan),
        Format::Terminal => Ok(plan_terminal(plan, &terminal_options())),
        Format::Md | Format::Junit | Format::Csv => Err(not_offered("a plan", format, "html, json and terminal")),
    }
}

/// Returns a list of items to look at in a format.
pub(super) fn render_escalation(found: &Escalation, format: Format) -> Result<String, Failure> {
    match format {
        Format::Csv => csv(found),
        Format::Json => pretty(found),
        Format::Terminal => Ok(escalation_terminal(found, &terminal_options())),
        Format::Html | Format::Md | Format::Junit => {
            Err(not_offered("a list of items to look at", format, "csv, json and terminal"))
        }
    }
}

/// Returns a self-test in a format.
pub(super) fn render_self_test(result: &SelfTest, format: Format) -> Result<String, Failure> {
    match format {
        Format::Json => pretty(result),
        Format::Terminal => Ok(table(result)),
        Format::Html | Format::Md | Format::Junit | Format::Csv => {
            Err(not_offered("a self-test", format, "json and terminal"))
        }
    }
}

fn pretty(result: &impl Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(result).context("failed to render the result as JSON")?;
    Ok(format!("{text}\n"))
}

fn not_offered(what: &str, format: Format, offered: &str) -> Failure {
    let name = format.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
    Failure::usage(format!("{what} is not written as {name}")).help(format!("it has {offered}"))
}

pub(super) fn terminal_options() -> TerminalOptions {
    TerminalOptions {
        width: printer::width(),
        colour: if printer::colour() { Colour::Ansi } else { Colour::Plain },
        charset: if printer::unicode() { Charset::Unicode } else { Charset::Ascii },
    }
}
