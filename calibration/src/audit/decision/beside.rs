//! What is found of a judge beside people, of its scale and of its labels, in plain words.

use crate::gate::LimitState;

use super::findings::per_cent;
use crate::audit::decision::findings::points_or_more;
use crate::audit::estimate::{Estimated, Measured};
use crate::audit::result::{AlternativeTest, Finding, FindingWeight, Halo, LabelNoise, ScaleUse};

/// A verdict that so few labels in a hundred could undo hangs on them.
const FEW_LABELS: f64 = 0.03;

/// Returns the findings, in no order of weight.
pub(crate) fn findings(
    measured: &Measured,
    alternative: Option<&AlternativeTest>,
    label_noise: Option<&LabelNoise>,
    scale_use: &[ScaleUse],
    halo: Option<&Halo>,
    level: f64,
) -> Vec<Finding> {
    let mut found = Vec::new();
    people(measured, level, &mut found);
    place(measured, alternative, &mut found);
    labels(label_noise, &mut found);
    scale(scale_use, &mut found);
    impression(measured, halo, level, &mut found);
    found
}

fn finding(weight: FindingWeight, measures: &[&str], what: String, advice: &str) -> Finding {
    Finding { what, advice: advice.to_owned(), measures: measures.iter().map(|&id| id.to_owned()).collect(), weight }
}

fn ends(value: &Estimated, level: f64) -> Option<(f64, f64)> {
    value.spread.interval(value.estimate, level).map(|interval| (interval.low, interval.high))
}

fn people(measured: &Measured, level: f64, found: &mut Vec<Finding>) {
    let get = |id: &str| measured.values.get(id);
    if let (Some(own), Some(ceiling), Some(gap)) =
        (get("agreement_with_people"), get("people_agreement"), get("agreement_gap"))
        && let Some((low, high)) = ends(gap, level)
    {
        let figures = format!(
            "it says what most of them say {} of the time, one of them {}",
            per_cent(own.estimate),
            per_cent(ceiling.estimate)
        );
        let smallest = gap.minimal_detectable().map(|smallest| points_or_more("A difference", smallest));
        found.push(against_people(
            low,
            high,
            &figures,
            smallest.as_deref(),
            &["agreement_gap", "agreement_with_people", "people_agreement"],
        ));
    }
    if let (Some(own), Some(floor), Some(gap)) =
        (get("distance_to_people"), get("people_distance"), get("distance_gap"))
        && let Some((low, high)) = ends(gap, level)
    {
        let figures = format!(
            "its scores are {:.2} points from the mean of the others, one person's {:.2}",
            own.estimate, floor.estimate
        );
        // Less is nearer.
        let smallest = gap.minimal_detectable().map(|smallest| format!("A difference of {smallest:.2} points or more"));
        found.push(against_people(
            -high,
            -low,
            &figures,
            smallest.as_deref(),
            &["distance_gap", "distance_to_people", "people_distance"],
        ));
    }
}

/// `low` and `high` bound how much nearer to people the judge is than a person; `smallest` is what would have been seen.
fn against_people(low: f64, high: f64, figures: &str, smallest: Option<&str>, measures: &[&str]) -> Finding {
    if low > 0.0 {
        let what = format!("It is nearer to people than they are to each other: {figures}.");
        finding(FindingWeight::Good, measures, what, "")
    } else if high < 0.0 {
        let what = format!("It is further from people than they are from each other: {figures}.");
        let advice = "Read items on which people agree and it does not: more is to be had there than people's own agreement bounds.";
        finding(FindingWeight::Note, measures, what, advice)
    } else {
        let seen =
            smallest.map_or_else(String::new, |smallest| format!(" {smallest} would have been seen (80 % power)."));
        let what = format!(
            "It is not shown to be nearer to people than they are to each other, nor further: {figures}.{seen}"
        );
        finding(FindingWeight::Note, measures, what, "")
    }
}

fn place(measured: &Measured, alternative: Option<&AlternativeTest>, found: &mut Vec<Finding>) {
    let (Some(test), Some(rate)) = (alternative, measured.values.get("winning_rate")) else { return };
    let share = per_cent(rate.estimate);
    let epsilon = per_cent(test.epsilon);
    let measures = &["winning_rate", "advantage_probability"];
    found.push(if test.passed {
        let what = format!("It may take a person's place, if a judge may be nearest {epsilon} less often for what it saves: it wins against {share} of people (alternative-annotator test).");
        finding(FindingWeight::Good, measures, what, "")
    } else {
        let what = format!("It is not shown that it may take a person's place: it wins against {share} of people, and half are needed (alternative-annotator test, ε {epsilon}).{}", needed(test));
        finding(FindingWeight::Note, measures, what, "")
    });
}

/// Says how much better than ε asks a judge has to be, for these data to show it against those people against whom it does not win.
fn needed(test: &AlternativeTest) -> String {
    let lost = test.people.iter().filter(|person| !person.is_won).filter_map(|person| person.minimal_detectable);
    // No difference of shares is larger.
    let (least, most) = lost
        .filter(|size| *size <= 1.0)
        .fold((f64::INFINITY, 0.0_f64), |(least, most), one| (least.min(one), most.max(one)));
    if most <= 0.0 {
        return String::new();
    }
    let points = |share: f64| format!("{:.1}", 100.0 * share);
    let (least, most) = (points(least), points(most));
    let range = if least == most { least } else { format!("{least} to {most}") };
    let by = if range.contains(" to ") { " (by person)" } else { "" };
    format!(" A judge better than ε asks by {range} percentage points{by} would have been seen to be so (80 % power).")
}

fn labels(label_noise: Option<&LabelNoise>, found: &mut Vec<Finding>) {
    let Some(noise) = label_noise else { return };
    let turned = noise.limits.iter().filter_map(|limit| Some((limit, limit.n_labels?, limit.share?)));
    let Some((limit, n_labels, share)) = turned.min_by_key(|(_, n_labels, _)| *n_labels) else { return };
    if share > FEW_LABELS {
        return;
    }
    let title = crate::audit::catalogue::info(&limit.measure).map_or(limit.measure.as_str(), |info| info.title);
    let state = if limit.state == LimitState::Met { "met" } else { "broken" };
    let labels = if n_labels == 1 { "one label".to_owned() } else { format!("{n_labels} labels") };
    found.push(finding(
        FindingWeight::Note,
        &[limit.measure.as_str()],
        format!(
            "That the limit on {} is {state} hangs on {labels} ({} of {}): were the worst ones wrong, it would not be.",
            title.to_lowercase(),
            per_cent(share),
            noise.n_labelled
        ),
        "Have the labels checked by a second person, first those that the judge contradicts.",
    ));
}

fn scale(scale_use: &[ScaleUse], found: &mut Vec<Finding>) {
    for one in scale_use {
        let of = one.dimension.as_deref().map_or_else(String::new, |dimension| format!(" for {dimension}"));
        let n_possible = one.n_possible.unwrap_or(one.n_used) as f64;
        let measures = &["effective_levels", "ceiling_share"];
        if one.ceiling.low.is_some_and(|low| low > 0.5) {
            found.push(finding(
                FindingWeight::Note,
                measures,
                format!("{} of its scores{of} are the highest of the scale.", per_cent(one.ceiling.estimate)),
                "It cannot tell good from better: describe what the highest score takes, or widen the scale at the top.",
            ));
        } else if n_possible >= 5.0 && one.effective_levels.high.is_some_and(|high| high < 0.4 * n_possible) {
            found.push(finding(
                FindingWeight::Note,
                measures,
                format!(
                    "Its scores{of} are as varied as {:.1} equally used levels, of {n_possible} on the scale.",
                    one.effective_levels.estimate
                ),
                "Describe each level in the rubric, or use a scale with fewer.",
            ));
        }
    }
}

fn impression(measured: &Measured, halo: Option<&Halo>, level: f64, found: &mut Vec<Finding>) {
    let Some(halo) = halo else { return };
    const ADVICE: &str =
        "Ask for one criterion a call, and describe what an item looks like that is good in one and bad in another.";
    let own = halo.judge.mean_correlation.estimate;
    if let Some(excess) = measured.values.get("halo_excess") {
        let reference = excess.details.get("reference").copied().unwrap_or(f64::NAN);
        if ends(excess, level).is_some_and(|(low, _)| low > 0.1) {
            found.push(finding(
                FindingWeight::Bad,
                &["halo_excess"],
                format!("Its criteria follow one impression: their mean correlation is {own:.2}, and {reference:.2} of the labels."),
                ADVICE,
            ));
        }
    } else if halo.judge.mean_correlation.low.is_some_and(|low| low > 0.8) {
        found.push(finding(
            FindingWeight::Note,
            &["halo_excess"],
            format!("Its criteria say nearly the same: their mean correlation is {own:.2}, and no label says whether it should be."),
            ADVICE,
        ));
    }
}
