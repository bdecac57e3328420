//! Sentences about a plan that every renderer shares.

use assize_calibration::planning::components::Design;
use assize_calibration::planning::result::{Aim, Alone, Chosen, Costs, DesignRow, Figure, Plan, Rule, Scenario};

use crate::{format, text, words};

/// Returns a design in words: `620 items × 2 answers`.
pub(crate) fn design(design: &Design) -> String {
    let answers = format::counted(u64::from(design.repeats), "answer");
    let orders = if design.orders > 1 { " in each of 2 orders" } else { "" };
    format!("{} × {answers}{orders}", format::counted(design.n_items, "item"))
}

/// Returns a number of items, or that none is enough.
pub(crate) fn items(n: Option<u64>) -> String {
    n.map_or_else(|| "none".to_owned(), format::count)
}

/// Returns a chance, which near certainty is not known to more digits.
pub(crate) fn chance(share: f64) -> String {
    if share > 0.9995 { ">\u{a0}99.9\u{a0}%".to_owned() } else { format!("{:.1}\u{a0}%", 100.0 * share) }
}

/// Returns limits that cannot be planned, those with one reason together.
pub(crate) fn left_out(plan: &Plan) -> Vec<String> {
    let mut by_reason: Vec<(&str, Vec<&str>)> = Vec::new();
    for missing in &plan.pilot.left_out {
        match by_reason.iter_mut().find(|(reason, _)| *reason == missing.reason) {
            Some((_, titles)) => titles.push(format::title(&missing.id)),
            None => by_reason.push((&missing.reason, vec![format::title(&missing.id)])),
        }
    }
    by_reason.into_iter().map(|(reason, titles)| format!("{}: {}", titles.join(", "), text::visible(reason))).collect()
}

/// Returns what a design costs.
pub(crate) fn cost(costs: &Costs, row: &DesignRow) -> String {
    let total = costs.of(&row.design);
    let labels =
        if costs.label > 0.0 { format!(", {}", format::counted(row.design.n_items, "label")) } else { String::new() };
    format!(
        "{}{labels}, cost {}",
        format::counted(row.judgements, "judgement"),
        if total >= 1000.0 { format::significant(total) } else { format::plain((total * 100.0).round() / 100.0) }
    )
}

/// Returns who is planned for, and from what.
pub(crate) fn basis(plan: &Plan) -> String {
    let pilot = &plan.pilot;
    if pilot.is_assumed {
        return format!("Assumed: {}.", text::visible(&plan.source.join(", ")));
    }
    let mut judge = pilot.judge.as_deref().map_or_else(|| "the judge".to_owned(), words::name);
    if let Some(arm) = &pilot.arm {
        judge = format!("{judge} · {}", words::name(arm));
    }
    let orders = if pilot.orders > 1 { " in each of 2 orders" } else { "" };
    format!(
        "From a pilot of {judge}: {} × {}{orders}, {}.",
        format::counted(pilot.n_items, "item"),
        format::counted(u64::from(pilot.repeats), "answer"),
        format::counted(pilot.n_clusters, "independent cluster"),
    )
}

/// Returns how many limits are planned.
pub(crate) fn n_limits(plan: &Plan) -> usize {
    plan.pilot.figures.iter().filter(|figure| figure.limit.is_some()).count()
}

fn limits(plan: &Plan) -> String {
    match n_limits(plan) {
        1 => "the one limit".to_owned(),
        2 => "both limits together".to_owned(),
        n => format!("all {n} limits together"),
    }
}

/// Returns what one scenario comes to, as a sentence.
pub(crate) fn scenario(plan: &Plan, chosen: &Chosen) -> String {
    let power = format::limit(plan.power, assize_calibration::audit::catalogue::Unit::Share);
    let when = match chosen.scenario {
        Scenario::Estimate if plan.pilot.is_assumed => "If it is as assumed",
        Scenario::Estimate => "If the pilot’s estimates are right",
        Scenario::BetterEnds => "If every figure is at the better end of its interval",
        Scenario::WorseEnds => "If every figure is at the worse end of its interval",
    };
    let Some(row) = &chosen.row else {
        let says = chosen.says.as_deref().unwrap_or("nothing decides");
        return format!("{when}: {}.", text::visible(says));
    };
    let does = match chosen.aim {
        Aim::Unfit => "the judge is unfit, which is shown".to_owned(),
        _ => format!("{} are shown to be kept", limits(plan)),
    };
    let does = if n_limits(plan) == 1 { does.replace(" are shown", " is shown") } else { does };
    format!("{when}, {does} with {power} power by {}: {}.", design(&row.design), cost(&plan.costs, row))
}

/// Returns what the simulated gate came to, or `None` where it was not simulated.
pub(crate) fn simulated(chosen: &Chosen) -> Option<String> {
    let found = chosen.simulated.as_ref()?;
    let says = chosen.says.as_deref().map_or_else(String::new, |says| format!(" {}", text::sentence(says)));
    let short =
        if found.is_enough { "" } else { " That is less than wanted: plan more, or take the closed form with care." };
    Some(format!(
        "The gate itself decided {} of {} simulated studies of {} [{}, {}].{says}{short}",
        format::per_cent(found.power),
        format::count(u64::from(found.n_studies)),
        design(&found.design),
        format::per_cent(found.power_interval[0]),
        format::per_cent(found.power_interval[1]),
    ))
}

/// Returns how likely a judge is to be called fit, the pilot being uncertain.
pub(crate) fn assurance(plan: &Plan, chosen: &Chosen) -> Option<String> {
    let row = chosen.row.as_ref().filter(|_| chosen.aim == Aim::Fit && !plan.pilot.is_assumed)?;
    let assurance = row.assurance?;
    Some(format!(
        "With the estimates as uncertain as the pilot left them, the gate would say “fit” {} of the time.",
        format::per_cent(assurance)
    ))
}

/// Returns a limit: `False accepts ≤ 10 %`.
pub(crate) fn limit(alone: &Alone) -> String {
    let sign = if alone.side == "min" { "≥" } else { "≤" };
    format!("{} {sign} {}", format::title(&alone.measure), format::limit(alone.limit, format::unit(&alone.measure)))
}

/// Returns a value with its interval, as the pilot has it.
pub(crate) fn value(measure: &str, truth: f64, ends: [f64; 2]) -> String {
    let unit = format::unit(measure);
    if ends[1] - ends[0] <= 0.0 {
        return format::value(truth, unit);
    }
    let end = |end: f64| format::value(end, unit).replace("\u{a0}%", "");
    format!("{} [{}, {}]", format::value(truth, unit), end(ends[0]), end(ends[1]))
}

/// Returns the interval to expect: `[3.1, 7.2] %`.
pub(crate) fn interval(figure: &Figure, interval: Option<[f64; 2]>) -> String {
    let Some([low, high]) = interval else { return "not measured".to_owned() };
    let unit = format::unit(&figure.measure);
    let half = (high - low) / 2.0;
    if figure.rule == Rule::Mean {
        return format!("±{}", format::value(half, unit));
    }
    let end = |end: f64| format::value(end, unit).replace("\u{a0}%", "");
    format!("[{}, {}]", end(low), end(high))
}

/// Returns how many answers, to a tenth where that says more: `1 answer`, `2.1 answers`.
fn answers(number: f64) -> String {
    match (10.0 * number).round() / 10.0 {
        tenths if tenths >= 1_000.0 => "more than 1,000 answers".to_owned(),
        tenths if tenths <= 1.0 => "1 answer".to_owned(),
        tenths => format!("{} answers", format::plain(tenths)),
    }
}

/// Returns a difference of two shares: `4.8 pp`.
pub(crate) fn points(difference: f64) -> String {
    format::per_cent(difference).replace('%', "pp")
}

/// Returns what is to be said of repeats against items, a sentence each.
pub(crate) fn repeats(plan: &Plan) -> Vec<String> {
    let mut says: Vec<String> = plan
        .best_repeats
        .iter()
        .map(|best| {
            format!(
                "{}: {} an item (the variance within items is {} times that between them).",
                format::title(&best.measure),
                answers(best.repeats),
                format::significant(best.variance_ratio)
            )
        })
        .collect();
    if !says.is_empty() {
        says.insert(0, format!("Cheapest for the width of a mean, {}:", plan.costs.basis));
    }
    says
}
