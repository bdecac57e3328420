//! What a panel shows, in plain words.

use super::super::decision::findings::per_cent;
use super::super::result::{Finding, FindingWeight, Panel, PanelMethod};

fn finding(weight: FindingWeight, what: String, advice: &str) -> Finding {
    Finding { what, advice: advice.to_owned(), measures: Vec::new(), weight }
}

/// Returns the findings, the gravest first.
pub(super) fn findings(panel: &Panel) -> Vec<Finding> {
    let mut found = Vec::new();
    worth(panel, &mut found);
    vote(panel, &mut found);
    pair(panel, &mut found);
    best(panel, &mut found);
    found.sort_by_key(|finding| std::cmp::Reverse(finding.weight));
    found
}

fn worth(panel: &Panel, found: &mut Vec<Finding>) {
    let Some(worth) = &panel.worth else { return };
    let Some(n_effective) = &worth.n_effective else { return };
    let range = |low: Option<f64>, high: Option<f64>| {
        low.zip(high).map_or_else(String::new, |(low, high)| format!(" [{low:.1}, {high:.1}]"))
    };
    let seem = if worth.against == "labels" { "are worth" } else { "seem to be worth, by a model's own guess," };
    let n = worth.n_raters as f64;
    let per_item = n_effective.details.get("ratings_per_item").copied().unwrap_or(n);
    let (what, share) = match n_effective.details.get("effective_per_item") {
        // Of a crowd, an item meets a few.
        Some(of_item) if per_item < 0.8 * n => {
            (format!("The {per_item:.1} ratings an item has {seem} {of_item:.1} independent ones."), of_item / per_item)
        }
        _ => (
            format!(
                "The {n:.0} {} {seem} {:.1}{} independent ones.",
                panel.among,
                n_effective.estimate,
                range(n_effective.low, n_effective.high)
            ),
            n_effective.high.unwrap_or(n_effective.estimate) / n,
        ),
    };
    let advice = if share < 0.6 && worth.against == "labels" {
        "They make the same mistakes: more of the same kind add little. Take another model family, another prompt, or people of another training."
    } else {
        ""
    };
    found.push(finding(FindingWeight::Note, what, advice));
}

fn vote(panel: &Panel, found: &mut Vec<Finding>) {
    let Some(vote) = &panel.vote else { return };
    let lost = vote.majority_if_independent - vote.majority;
    let what = format!(
        "One rater is right on {} of items, the majority on {}; if their errors did not meet, the majority would be right on {}.",
        per_cent(vote.one_rater),
        per_cent(vote.majority),
        per_cent(vote.majority_if_independent)
    );
    let is_lost = vote.majority < vote.shuffles[0] && lost >= 0.02;
    let (weight, advice) = match vote.majority - vote.one_rater {
        gain if gain < 0.02 && is_lost => (
            FindingWeight::Bad,
            "The vote gains nothing: its raters err together. Ask the best one alone, or raters that differ more.",
        ),
        _ if is_lost => (
            FindingWeight::Note,
            "Errors that go together cost the vote: more votes of the same raters do not win it back.",
        ),
        _ => (FindingWeight::Note, ""),
    };
    found.push(finding(weight, what, advice));
}

fn pair(panel: &Panel, found: &mut Vec<Finding>) {
    let Some(worst) = panel.error_pairs.first() else { return };
    if worst.p_holm.is_none_or(|p| p >= 0.05) || worst.correlation.estimate <= 0.0 {
        return;
    }
    found.push(finding(
        FindingWeight::Note,
        format!(
            "{} and {} err together most: both are wrong on {} of the items they share, where their accuracies alone would give {}.",
            worst.a,
            worst.b,
            per_cent(worst.both_wrong),
            per_cent(worst.expected)
        ),
        "Keep one of the two if they are of one family.",
    ));
}

fn best(panel: &Panel, found: &mut Vec<Finding>) {
    let accuracy = |method: &&PanelMethod| method.accuracy.as_ref().map(|measure| measure.estimate);
    let Some(majority) = panel.methods.iter().find(|method| method.method == "majority").as_ref().and_then(accuracy)
    else {
        return;
    };
    let best = panel.methods.iter().filter_map(|method| Some((method, accuracy(&method)?)));
    let Some((method, value)) = best.max_by(|a, b| a.1.total_cmp(&b.1)) else { return };
    if value - majority < 0.02 {
        return;
    }
    let name = match method.method.as_str() {
        "one_rater" => "A single rater drawn at random",
        "weighted_majority" => "A majority weighted by accuracy on other items",
        "dawid_skene" => "Dawid and Skene's model",
        "mace" => "MACE",
        "glad" => "GLAD",
        other => other,
    };
    found.push(finding(
        FindingWeight::Note,
        format!("{name} is right on {} of items, the plain majority on {}.", per_cent(value), per_cent(majority)),
        "Weigh raters, if the difference holds on items that were not used to choose the method.",
    ));
}
