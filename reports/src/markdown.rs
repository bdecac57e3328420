//! The report condensed for a comment on a pull request.
//!
//! Text from the log can neither mark up the comment, nor link, nor mention anyone.

use std::fmt::Write;

use assize_calibration::audit::result::{Audit, Finding, FindingWeight, Fitness, GateRisk, JudgeAudit};
use assize_calibration::gate::LimitState;

use crate::{format, style_words, text, words};

/// Most judges shown in full; the others are rows of the table.
const MAX_DETAILED: usize = 5;
/// Most rows of the table of judges: comments have a largest size.
const MAX_ROWS: usize = 200;
/// Most findings and measures shown of one judge.
const MAX_FINDINGS: usize = 8;
const MAX_MEASURES: usize = 10;
/// Most panels told of.
const MAX_PANELS: usize = 3;

/// Returns the audit as Markdown: verdict, findings, gate, key measures.
#[must_use]
pub fn markdown(audit: &Audit) -> String {
    let mut out = String::new();
    let title = match audit.judges.as_slice() {
        [only] => escape(&words::judge_name(only)),
        judges => format!("{} judges", judges.len()),
    };
    line(&mut out, &format!("## {} {}: {title}", shape(audit.fitness), format::fitness(audit.fitness)));
    if audit.judges.is_empty() {
        line(&mut out, "The log holds no judge to audit.");
    }
    if let [only] = audit.judges.as_slice() {
        judge_body(&mut out, only);
    } else {
        many(&mut out, audit);
    }
    for said in audit.anchors.iter().take(MAX_PANELS).filter_map(words::anchors) {
        line(&mut out, &escape(&said));
    }
    for panel in audit.panels.iter().filter(|panel| !panel.findings.is_empty()).take(MAX_PANELS) {
        let dimension = panel.dimension.as_deref().map_or_else(String::new, |name| format!(" · {}", words::name(name)));
        line(&mut out, &format!("**Together: {}{}**", escape(&panel.among), escape(&dimension)));
        for finding in &panel.findings {
            finding_line(&mut out, finding);
        }
        out.push('\n');
    }
    let bad =
        audit.problems.iter().filter(|problem| problem.severity > assize_calibration::problem::Severity::Note).count();
    if bad > 0 {
        line(&mut out, &format!("The log has {}; see the full report.", format::counted(bad as u64, "problem")));
    }
    if let Some(corrections) = crate::corrections::corrections(audit) {
        line(&mut out, &format!("<sub>{}</sub>", escape(&corrections)));
    }
    line(
        &mut out,
        &format!(
            "<sub>{} intervals · seed {} · gate: {} · assize {}</sub>",
            format::level(audit.config.level),
            audit.config.seed,
            escape(&words::name(&audit.gate.name)),
            escape(&audit.version)
        ),
    );
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

/// Writes a paragraph.
fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push_str("\n\n");
}

/// A shape for each verdict, since colour alone says nothing.
const fn shape(fitness: Fitness) -> &'static str {
    match fitness {
        Fitness::Fit => "✅",
        Fitness::Inconclusive => "❔",
        Fitness::Unfit => "❌",
    }
}

fn many(out: &mut String, audit: &Audit) {
    if audit.judges.is_empty() {
        return;
    }
    line(out, &format!("{}. The verdict on the whole is the worst of them.", words::tally(audit)));
    let judges = words::by_gravity(audit);
    let columns = words::shared_measures(audit, 3);
    out.push_str("| Judge | Verdict |");
    for info in &columns {
        write!(out, " {} |", info.title).expect("writing to memory");
    }
    out.push_str("\n| --- | --- |");
    out.push_str(&" ---: |".repeat(columns.len()));
    out.push('\n');
    for judge in judges.iter().take(MAX_ROWS) {
        let verdict = format!("{} {}", shape(judge.fitness), format::fitness(judge.fitness));
        write!(out, "| {} | {verdict} |", escape(&words::judge_name(judge))).expect("writing to memory");
        for info in &columns {
            let figure = judge.measures.get(info.id).map(|measure| format::measure(measure, info.unit));
            write!(out, " {} |", figure.unwrap_or_else(|| "not measured".to_owned())).expect("writing to memory");
        }
        out.push('\n');
    }
    out.push('\n');
    if judges.len() > MAX_ROWS {
        line(out, &format!("{} further judges are in report.json.", judges.len() - MAX_ROWS));
    }
    for judge in judges.iter().take(MAX_DETAILED) {
        line(
            out,
            &format!(
                "<details><summary>{} {}: {}</summary>",
                shape(judge.fitness),
                format::fitness(judge.fitness),
                escape_in_html(&words::judge_name(judge))
            ),
        );
        judge_body(out, judge);
        line(out, "</details>");
    }
    if judges.len() > MAX_DETAILED {
        line(out, &format!("Details of the other {} are in the full report.", judges.len() - MAX_DETAILED));
    }
}

fn judge_body(out: &mut String, judge: &JudgeAudit) {
    line(out, &format!("**{}**", escape(&judge.why)));
    line(out, &escape(&words::extent(judge)));
    for finding in judge.findings.iter().take(MAX_FINDINGS) {
        finding_line(out, finding);
    }
    if !judge.findings.is_empty() {
        out.push('\n');
    }
    if let Some(more) = words::more_data(judge) {
        line(out, &format!("**How much more data decides.** {}", escape(&more)));
    }
    if !judge.limits.is_empty() {
        out.push_str("| Limit | | Value | State |\n| --- | --- | ---: | --- |\n");
        for limit in &judge.limits {
            let value = words::limit_measure(judge, limit)
                .map_or("no value".to_owned(), |measure| format::measure(&measure, format::unit(&limit.measure)));
            let shape = match limit.state {
                LimitState::Met => "✅",
                LimitState::Broken => "❌",
                LimitState::Undecided => "❔",
                LimitState::Unmeasured => "➖",
            };
            writeln!(
                out,
                "| {} | {} | {value} | {shape} {} |",
                escape(format::title(&limit.measure)),
                words::limit(limit),
                format::state(limit.state)
            )
            .expect("writing to memory");
        }
        out.push('\n');
    }
    if let Some(looks) = words::looks(judge) {
        line(out, &escape(&looks));
    }
    if let Some(risk) = &judge.gate_risk {
        gate_risk(out, risk);
    }
    let key = words::key_measures(judge, MAX_MEASURES);
    if !key.is_empty() {
        out.push_str("| Measure | Value | n | |\n| --- | ---: | ---: | --- |\n");
        for (info, measure) in key {
            let value = format::measure(measure, info.unit);
            writeln!(out, "| {} | {value} | {} | {} |", info.title, format::count(measure.n), info.explanation)
                .expect("writing to memory");
        }
        out.push('\n');
    }
    let style = style_words::lines(judge);
    if !style.is_empty() {
        line(out, "**Marks of style**, each given the others, label and length:");
        for one in style {
            writeln!(out, "- {}", escape(&one)).expect("writing to memory");
        }
        out.push('\n');
    }
}

/// Writes how often the gate would come out otherwise on the same items, and what helps.
fn gate_risk(out: &mut String, risk: &GateRisk) {
    let end = |end: f64| format::per_cent(end).replace("\u{a0}%", "");
    let [low, high] = risk.interval_rule.risk_interval;
    line(
        out,
        &escape(&format!(
            "If the same items were judged again and nothing had changed, the gate would come out otherwise {} [{}, {}] of the time, by the \
             judge's own noise; a gate that looks at estimates alone, {} of the time ({} simulated repetitions).",
            format::per_cent(risk.interval_rule.risk),
            end(low),
            end(high),
            format::per_cent(risk.point_rule.risk),
            format::count(u64::from(risk.n_redraws))
        )),
    );
    let shaky: Vec<_> = risk.limits.iter().filter(|limit| limit.changes > 0.0).collect();
    if !shaky.is_empty() {
        out.push_str(
            "| Limit | Now | Estimate ± noise | Judged again, in another state |\n| --- | --- | ---: | ---: |\n",
        );
        for limit in shaky {
            let unit = format::unit(&limit.measure);
            writeln!(
                out,
                "| {} {} {} | {} | {} ± {} | {} |",
                escape(format::title(&limit.measure)),
                if limit.side == "min" { "≥" } else { "≤" },
                format::limit(limit.limit, unit),
                format::state(limit.state),
                format::value(limit.estimate, unit),
                format::value(limit.standard_error, unit),
                format::per_cent(limit.changes)
            )
            .expect("writing to memory");
        }
        out.push('\n');
    }
    for remedy in &risk.remedies {
        let enough = if remedy.is_enough { "enough" } else { "more than 5 %" };
        writeln!(
            out,
            "- {}: then otherwise {} of the time, {enough}",
            escape(&remedy.what),
            format::per_cent(remedy.risk)
        )
        .expect("writing to memory");
    }
    if !risk.remedies.is_empty() {
        out.push('\n');
    }
}

fn finding_line(out: &mut String, finding: &Finding) {
    let weight = match finding.weight {
        FindingWeight::Bad => "**Change:**",
        FindingWeight::Note => "**Note:**",
        FindingWeight::Good => "**Good:**",
    };
    write!(out, "- {weight} {}", escape(&finding.what)).expect("writing to memory");
    if !finding.advice.is_empty() {
        write!(out, " → {}", escape(&finding.advice)).expect("writing to memory");
    }
    out.push('\n');
}

/// Returns text for inside an HTML element, where Markdown's marks mean nothing but mentions and addresses still do.
fn escape_in_html(text: &str) -> String {
    let text = text::visible(text);
    let mut out = String::with_capacity(text.len() + 16);
    for (idx, c) in text.char_indices() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '@' => out.push_str("@&#8203;"),
            '#' => out.push_str("#&#8203;"),
            // "https:" and "www." make links without any mark.
            ':' if text[idx..].starts_with("://") => out.push_str(":&#8203;"),
            '.' if text[..idx].to_ascii_lowercase().ends_with("www") => out.push_str("&#8203;."),
            c => out.push(c),
        }
    }
    out
}

/// Returns text that Markdown shows as it is: marks are escaped, `@`, `#` and addresses broken by a zero-width space.
pub(crate) fn escape(text: &str) -> String {
    let html = escape_in_html(text);
    let mut out = String::with_capacity(html.len() + 16);
    for (idx, c) in html.char_indices() {
        let is_mark = match c {
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '(' | ')' | '|' | '~' | '!' | '$' => true,
            // The "#" of an entity stays: escaped, it would no longer be one.
            '#' => !html[..idx].ends_with('&'),
            '+' | '-' => idx == 0,
            _ => false,
        };
        if is_mark {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn text_cannot_mark_up_link_or_mention() {
        let cases = [
            ("a|b", "a\\|b"),
            ("<img src=x>", "&lt;img src=x&gt;"),
            ("@octocat #1", "@&#8203;octocat \\#&#8203;1"),
            ("[x](https://e.org)", "\\[x\\]\\(https:&#8203;//e.org\\)"),
            ("see www.e.org", "see www&#8203;.e.org"),
            ("`rm`\u{1b}[31m", "\\`rm\\`"),
            ("一\n二", "一 二"),
        ];
        for (text, expected) in cases {
            assert_eq!(escape(text), expected);
        }
    }
}
