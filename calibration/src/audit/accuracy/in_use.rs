//! Findings about putting a judge to use: items its prompt was tuned on, what its confidence is worth, what its errors cost, what of
//! the items without labels is right.

use crate::audit::decision::findings::{Evidence, finding, per_cent};
use crate::audit::result::{Finding, FindingWeight};

/// The prompt was tuned on the items it is audited on.
pub(in crate::audit) fn tuned(evidence: &Evidence<'_>, found: &mut Vec<Finding>) {
    if evidence.is_tuned {
        found.push(finding(
            FindingWeight::Bad,
            &[],
            "Its prompt was tuned on these items: every figure here flatters it, by how much nobody can say."
                .to_owned(),
            "Before trusting a verdict of fit, audit it on items that nobody looked at while writing the prompt.",
        ));
    }
}

/// Whether confidences mean what they say.
pub(in crate::audit) fn confidence(evidence: &Evidence<'_>, found: &mut Vec<Finding>) {
    let Some(excess) = evidence.get("overconfidence") else { return };
    if excess.details.get("rejections_above_half").is_some_and(|share| *share > 0.5) {
        found.push(finding(
            FindingWeight::Bad,
            &["overconfidence", "ece"],
            "Most of its rejections state a confidence above one half. Read as the probability that the item is good, as here, they \
             contradict themselves."
                .to_owned(),
            "If the confidence is that of the verdict being right, write 1 − confidence for rejections before auditing.",
        ));
        return;
    }
    let (low, high) = evidence.interval(excess);
    let stated = per_cent(excess.estimate + excess.details.get("event_share").copied().unwrap_or(f64::NAN));
    // −0 is 0.
    let came = per_cent(excess.details.get("event_share").copied().unwrap_or(f64::NAN).max(0.0) + 0.0);
    let points = |share: f64| format!("{:.1}", 100.0 * share);
    let ends = format!("[{}, {}] percentage points", points(low), points(high));
    let advice = recalibration(evidence);
    if low > 0.0 || high < 0.0 {
        let word = if low > 0.0 { "too sure" } else { "not sure enough" };
        let weight = if low > 0.05 || high < -0.05 { FindingWeight::Bad } else { FindingWeight::Note };
        found.push(finding(
            weight,
            &["overconfidence", "ece"],
            format!("It is {word}: it states {stated} on average and {came} come true (difference {ends})."),
            &advice,
        ));
    }
    let Some(error) = evidence.get("ece") else { return };
    let (Some(mean), Some(upper)) = (error.details.get("of_perfect"), error.details.get("of_perfect_upper")) else {
        return;
    };
    let figures = format!(
        "its calibration error is {}, where a judge that means what it says would show {} by chance",
        per_cent(error.estimate),
        per_cent(*mean)
    );
    if error.estimate > *upper {
        let what = format!("Its confidence does not mean what it says: {figures}.");
        found.push(finding(FindingWeight::Note, &["ece", "ece_excess"], what, &advice));
    } else {
        let what = format!("Nothing shows that its confidence means other than it says: {figures}.");
        found.push(finding(FindingWeight::Note, &["ece", "ece_excess"], what, ""));
    }
}

/// What recalibration would do, where it is shown to help.
fn recalibration(evidence: &Evidence<'_>) -> String {
    let confidences = evidence.reliability.iter().find(|reliability| reliability.of == "confidence");
    let best = confidences.and_then(|reliability| {
        let gains = reliability.recalibrations.iter().filter_map(|audit| Some((audit, audit.brier_gain.as_ref()?)));
        gains
            .filter(|(_, gain)| gain.low.is_some_and(|low| low > 0.0))
            .max_by(|(_, a), (_, b)| a.estimate.total_cmp(&b.estimate))
    });
    match best {
        Some((audit, gain)) => format!(
            "Map its confidences by the {} printed below: on items that did not fit it, it lowers the Brier score by {:.3}.",
            if audit.method == "platt" { "sigmoid" } else { "steps" },
            gain.estimate
        ),
        None => "Do not take its confidence for a probability; no recalibration is shown to mend it on these items."
            .to_owned(),
    }
}

/// Whether errors cost less than not looking.
pub(in crate::audit) fn costs(evidence: &Evidence<'_>, found: &mut Vec<Finding>) {
    let detail = |name: &str| evidence.get("expected_cost")?.details.get(name).copied();
    let (Some(value), Some(everything), Some(nothing)) =
        (evidence.get("expected_cost"), detail("accepting_everything"), detail("accepting_nothing"))
    else {
        return;
    };
    let (low, high) = evidence.interval(value);
    let (word, least) =
        if everything <= nothing { ("accepting everything", everything) } else { ("rejecting everything", nothing) };
    let figures = format!(
        "One of its answers costs {:.3} on average [{low:.3}, {high:.3}]; {word} without looking costs {least:.3}",
        value.estimate
    );
    let (weight, verdict, advice) = if low >= least {
        (FindingWeight::Bad, "it costs more than it saves", "Do without it, or choose the threshold by cost.")
    } else if high < least {
        (FindingWeight::Good, "it pays", "")
    } else {
        (
            FindingWeight::Note,
            "nothing shows that it pays",
            "Judge more labelled items, or choose the threshold by cost.",
        )
    };
    found.push(finding(weight, &["expected_cost"], format!("{figures}: {verdict}."), advice));
}

/// The threshold that costs least.
pub(in crate::audit) fn threshold(evidence: &Evidence<'_>, found: &mut Vec<Finding>) {
    let Some(costs) = evidence.thresholds.and_then(|thresholds| thresholds.costs.as_ref()) else { return };
    let [everything, nothing] = costs.without_looking;
    let measure = costs.cheapest.cross_validated.as_ref().unwrap_or(&costs.cheapest.expected_cost);
    let (what, advice) = match costs.cheapest.threshold {
        None => (
            format!(
                "At these costs no threshold is worth its false accepts: accepting nothing costs least, {nothing:.3} an answer."
            ),
            "Do not let this score accept anything by itself.",
        ),
        Some(at) => (
            format!(
                "At these costs accepting at {at} or more costs least: {:.3} an answer{}, where {} without looking costs {:.3}.",
                measure.estimate,
                if costs.cheapest.cross_validated.is_some() { ", chosen on other items" } else { "" },
                if everything < nothing { "accepting everything" } else { "rejecting everything" },
                everything.min(nothing)
            ),
            "Costs are guesses: see whether half and double of them choose another threshold.",
        ),
    };
    found.push(finding(FindingWeight::Note, &["expected_cost"], what, advice));
}

/// What of the items without labels is right.
pub(in crate::audit) fn stream(evidence: &Evidence<'_>, found: &mut Vec<Finding>) {
    let (Some(raw), Some(value)) = (evidence.get("pass_rate"), evidence.get("corrected_pass_rate")) else { return };
    let passes = format!("It passes {} of the items without labels", evidence.share(raw));
    let is_identified = value.details.get("youden_low").is_some_and(|low| *low > 0.0);
    let (what, advice) = if !is_identified {
        (
            format!("{passes}, which says nothing of how many are right: it may be guessing."),
            "Label more items, right and wrong ones, before quoting its pass rate.",
        )
    } else if matches!(evidence.interval(value), (low, high) if low <= 0.0 && high >= 1.0) {
        (
            format!("{passes}; how many are right cannot be told: the corrected rate may be anything."),
            "Label more items, right and wrong ones, before quoting its pass rate.",
        )
    } else if !(0.0..=1.0).contains(&value.estimate) {
        (
            format!("{passes}; corrected for its errors that would be {}, which cannot be.", per_cent(value.estimate)),
            "The labelled items are easier or harder than the others: label some of the stream itself.",
        )
    } else {
        (
            format!("{passes}; corrected for its errors, {} are right.", evidence.share(value)),
            "Quote the corrected rate. It holds if the judge errs on these items as it does on the labelled ones.",
        )
    };
    found.push(finding(FindingWeight::Note, &["pass_rate", "corrected_pass_rate"], what, advice));
    if let Some(value) = evidence.get("corrected_pass_rate_ppi") {
        found.push(finding(
            FindingWeight::Note,
            &["corrected_pass_rate_ppi"],
            format!(
                "From the labels of the random sample and its answers on the rest, {} are right.",
                evidence.share(value)
            ),
            "",
        ));
    }
}
