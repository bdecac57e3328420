//! How often the gate would come out otherwise on the same items.

use assize_calibration::audit::result::{GateRisk, RuleRisk};
use serde::Serialize;

use super::Mark;
use crate::{format, text};

#[derive(Serialize)]
struct RuleRow {
    name: &'static str,
    explanation: &'static str,
    now: Mark,
    risk: String,
    interval: String,
    uncertain: String,
}

#[derive(Serialize)]
struct LimitRow {
    name: String,
    state: Mark,
    estimate: String,
    changes: String,
    not_met: String,
    past: String,
}

#[derive(Serialize)]
struct RemedyRow {
    what: String,
    further: String,
    risk: String,
    interval: String,
    enough: Mark,
}

/// The section, ready to lay out.
#[derive(Serialize)]
pub(super) struct RiskView {
    lead: String,
    rules: Vec<RuleRow>,
    limits: Vec<LimitRow>,
    remedies: Vec<RemedyRow>,
    untried: Vec<String>,
    method: String,
}

fn ends([low, high]: [f64; 2]) -> String {
    format!("[{}, {}]", format::per_cent(low).replace("\u{a0}%", ""), format::per_cent(high).replace("\u{a0}%", ""))
}

fn rule(name: &'static str, explanation: &'static str, of: &RuleRisk) -> RuleRow {
    let now = if of.is_green { Mark { class: "good", word: "green" } } else { Mark { class: "bad", word: "red" } };
    RuleRow {
        name,
        explanation,
        now,
        risk: format::per_cent(of.risk),
        interval: ends(of.risk_interval),
        uncertain: format::per_cent(of.risk_with_uncertain_shares),
    }
}

/// Builds the section.
pub(super) fn risk(found: &GateRisk) -> RiskView {
    let limits = found.limits.iter().map(|limit| {
        let unit = format::unit(&limit.measure);
        let sign = if limit.side == "min" { "≥" } else { "≤" };
        LimitRow {
            name: format!("{} {sign} {}", format::title(&limit.measure), format::limit(limit.limit, unit)),
            state: limit.state.into(),
            estimate: format!(
                "{} ± {}",
                format::value(limit.estimate, unit),
                format::value(limit.standard_error, unit)
            ),
            changes: format::per_cent(limit.changes),
            not_met: format::per_cent(limit.not_met),
            past: format::per_cent(limit.past),
        }
    });
    let remedies = found.remedies.iter().map(|remedy| RemedyRow {
        what: text::visible(&remedy.what),
        further: format::count(remedy.further_judgements),
        risk: format::per_cent(remedy.risk),
        interval: ends(remedy.risk_interval),
        enough: if remedy.is_enough { Mark { class: "good", word: "yes" } } else { Mark { class: "none", word: "no" } },
    });
    RiskView {
        lead: format!(
            "Nothing changes but the judge’s own noise: two answers to the same question differ {} of the time. In {} simulated \
             repetitions on the same items the gate came out otherwise in {}.",
            format::per_cent(found.flip_rate),
            format::count(u64::from(found.n_redraws)),
            format::per_cent(found.interval_rule.risk)
        ),
        rules: vec![
            rule("Interval rule", "this gate: green is fit, every interval keeping its limit", &found.interval_rule),
            rule("Point rule", "a gate that looks at estimates alone, for comparison", &found.point_rule),
        ],
        limits: limits.collect(),
        remedies: remedies.collect(),
        untried: found.untried.iter().map(|says| text::prose(says)).collect(),
        method: text::sentence(&found.method),
    }
}
