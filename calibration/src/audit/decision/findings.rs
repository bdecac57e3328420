//! What is wrong with a judge and what to change, in plain words: rules on measures, each with its figures.

use crate::judgement::OutcomeKind;

use crate::audit::accuracy::in_use;
use crate::audit::estimate::{Estimated, Measured};
use crate::audit::result::{
    Baseline, Biases, ErrorClusters, Finding, FindingWeight, Reliability, StyleEffects, Thresholds, Unmeasured, Voting,
};

/// What findings are made from.
pub(crate) struct Evidence<'a> {
    pub kind: OutcomeKind,
    pub level: f64,
    pub measured: &'a Measured,
    pub voting: Option<&'a Voting>,
    pub thresholds: Option<&'a Thresholds>,
    pub baselines: &'a [Baseline],
    pub error_clusters: Option<&'a ErrorClusters>,
    pub biases: Option<&'a Biases>,
    pub style: Option<&'a StyleEffects>,
    pub n_items: u64,
    /// The one answer to everything, where there is no other.
    pub only_answer: Option<&'a str>,
    pub is_cached: bool,
    /// Whether the prompt was tuned on these items.
    pub is_tuned: bool,
    pub reliability: &'a [Reliability],
}

/// A share in per cent. A small one keeps a digit that is not zero: 14 of 55,488 are not none.
pub(in crate::audit) fn per_cent(share: f64) -> String {
    if (0.0001..0.001).contains(&share) { format!("{:.2} %", 100.0 * share) } else { format!("{:.1} %", 100.0 * share) }
}

/// Says from what size on a difference of shares would have been seen, which no more than 100 percentage points can be.
pub(in crate::audit) fn points_or_more(what: &str, smallest: f64) -> String {
    if smallest > 1.0 {
        format!("Not even {} of 100 percentage points", what.to_lowercase())
    } else {
        format!("{what} of {:.1} percentage points or more", 100.0 * smallest)
    }
}

impl Evidence<'_> {
    pub(in crate::audit) fn get(&self, id: &str) -> Option<&Estimated> {
        self.measured.values.get(id)
    }

    pub(in crate::audit) fn interval(&self, value: &Estimated) -> (f64, f64) {
        let interval = value.spread.interval(value.estimate, self.level);
        interval.map_or((f64::NEG_INFINITY, f64::INFINITY), |interval| (interval.low, interval.high))
    }

    /// Whether an effect is found once all that were looked for are counted.
    pub(in crate::audit) fn is_found(&self, id: &str) -> bool {
        self.biases.and_then(|biases| biases.test(id)).is_some_and(|test| test.is_found)
    }

    /// A share with its interval, in words.
    pub(in crate::audit) fn share(&self, value: &Estimated) -> String {
        let (low, high) = self.interval(value);
        if low.is_finite() {
            format!("{} [{}, {}]", per_cent(value.estimate), per_cent(low), per_cent(high))
        } else {
            per_cent(value.estimate)
        }
    }
}

pub(in crate::audit) fn finding(weight: FindingWeight, measures: &[&str], what: String, advice: &str) -> Finding {
    Finding { what, advice: advice.to_owned(), measures: measures.iter().map(|&id| id.to_owned()).collect(), weight }
}

/// Returns what is found, family by family.
pub(crate) fn findings(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    in_use::tuned(evidence, &mut found);
    alike(evidence, &mut found);
    small(evidence, &mut found);
    parsing(evidence, &mut found);
    truth(evidence, &mut found);
    in_use::confidence(evidence, &mut found);
    in_use::costs(evidence, &mut found);
    in_use::threshold(evidence, &mut found);
    in_use::stream(evidence, &mut found);
    position(evidence, &mut found);
    crate::audit::biases::findings(evidence, &mut found);
    stability(evidence, &mut found);
    sort(&mut found);
    found
}

/// Puts the gravest first, and among equals what can be acted on.
pub(crate) fn sort(found: &mut [Finding]) {
    found.sort_by_key(|finding| (std::cmp::Reverse(finding.weight), finding.advice.is_empty()));
}

fn parsing(evidence: &Evidence<'_>, found: &mut Vec<Finding>) {
    let Some(value) = evidence.get("unparsed_rate").filter(|value| value.estimate > 0.0) else { return };
    let (low, _) = evidence.interval(value);
    let weight = if low > 0.05 { FindingWeight::Bad } else { FindingWeight::Note };
    let advice = if value.estimate >= 0.01 {
        "Ask for structured output (a JSON schema) and look at the raw replies; unparsed replies are not random."
    } else {
        ""
    };
    found.push(finding(
        weight,
        &["unparsed_rate"],
        format!("No answer could be read from {} of its replies.", evidence.share(value)),
        advice,
    ));
}

/// Grades an interval: bad where all of it lies below `bad`, good where all of it reaches `good`.
fn graded((low, high): (f64, f64), bad: f64, good: f64) -> FindingWeight {
    if high < bad {
        FindingWeight::Bad
    } else if low >= good {
        FindingWeight::Good
    } else {
        FindingWeight::Note
    }
}

fn truth(evidence: &Evidence<'_>, found: &mut Vec<Finding>) {
    if let Some(value) = evidence.get("accuracy") {
        let weight = graded(evidence.interval(value), 0.8, 0.8);
        found.push(finding(
            weight,
            &["accuracy"],
            format!("It agrees with the labels on {} of items.", evidence.share(value)),
            "",
        ));
    }
    let lacks_bar = |unmeasured: &Unmeasured| {
        unmeasured.id == "false_accept_rate" && unmeasured.needs.iter().any(|need| need == "--good-at")
    };
    if evidence.measured.unmeasured.iter().any(lacks_bar) {
        found.push(finding(
            FindingWeight::Note,
            &["false_accept_rate", "false_reject_rate"],
            "The labels are scores, and nothing says which of them are good: false accepts and rejects are not measured."
                .to_owned(),
            "Say from which label on an item is good with --good-at, and which scores accept with --accept-at.",
        ));
    }
    baseline(evidence, found);
    accept_errors(evidence, found);
    if let Some(value) = evidence.get("auc") {
        let weight = graded(evidence.interval(value), 0.7, 0.8);
        found.push(finding(
            weight,
            &["auc"],
            format!(
                "A right item scores higher than a wrong one {} of the time (ties half; AUC).",
                evidence.share(value)
            ),
            "",
        ));
    }
    if let Some(value) = evidence.get("mean_error") {
        let (low, high) = evidence.interval(value);
        if evidence.is_found("mean_error") {
            let (word, weight) =
                if value.estimate > 0.0 { ("higher", FindingWeight::Bad) } else { ("lower", FindingWeight::Note) };
            found.push(finding(
                weight,
                &["mean_error"],
                format!(
                    "It scores {:.2} points {word} than the labels, on average [{low:.2}, {high:.2}].",
                    value.estimate.abs()
                ),
                "Try one or two already scored samples as anchors, and demand evidence for high scores; audit both ways as arms, since anchors do not always help.",
            ));
        }
    }
    if let Some(thresholds) = evidence.thresholds {
        let what = match thresholds.chosen {
            Some(at) => {
                let point = thresholds.points.iter().find(|point| point.threshold.total_cmp(&at).is_eq());
                let price = point.map_or_else(String::new, |point| {
                    format!("; it rejects {} of right items", per_cent(point.false_reject_rate.estimate))
                });
                format!(
                    "Accepting at {at} or more is the loosest threshold shown to keep false accepts under {}{price}.",
                    per_cent(thresholds.cap)
                )
            }
            None => format!("No threshold is shown to keep false accepts under {}.", per_cent(thresholds.cap)),
        };
        // Where even the strictest threshold is beyond the cap it is the judge; else it may be too little data.
        let strictest = thresholds.points.last().and_then(|point| point.false_accept_rate.low);
        let is_hopeless = strictest.is_some_and(|low| low > thresholds.cap);
        let (weight, advice) = match thresholds.chosen {
            None if !is_hopeless => {
                (FindingWeight::Note, "Judge more items that are labelled wrong, or do without a threshold.")
            }
            Some(_) => (
                FindingWeight::Note,
                "Do not accept below it. The cross-validated rates say what choosing it on these data costs.",
            ),
            None => (FindingWeight::Bad, "Do not let this score accept anything by itself."),
        };
        found.push(finding(weight, &["false_accept_rate"], what, advice));
    }
}

/// Sets the judge beside the best of the judges that do not look; the others say nothing more.
fn baseline(evidence: &Evidence<'_>, found: &mut Vec<Finding>) {
    let best = evidence.baselines.iter().rev().max_by(|a, b| a.accuracy.estimate.total_cmp(&b.accuracy.estimate));
    let Some((best, difference)) = best.and_then(|best| Some((best, best.judge_minus_baseline.as_ref()?))) else {
        return;
    };
    let (Some(low), Some(high)) = (difference.low, difference.high) else { return };
    if low > 0.0 {
        return;
    }
    let (weight, verb, advice) = if high < 0.0 {
        (FindingWeight::Bad, "is worse than", "It adds nothing: change the prompt or the model.")
    } else {
        (FindingWeight::Note, "is not shown to beat", "Until it is, nothing shows that it adds anything.")
    };
    let guess = per_cent(best.accuracy.estimate);
    let seen = difference.details.get("minimal_detectable").filter(|_| high >= 0.0);
    let seen = seen.map_or_else(String::new, |smallest| {
        format!(" {} would have been seen (80 % power).", points_or_more("An advantage", *smallest))
    });
    let what = format!("It {verb} a judge that {} ({guess} right).{seen}", best.explanation);
    found.push(finding(weight, &["accuracy"], what, advice));
}

fn accept_errors(evidence: &Evidence<'_>, found: &mut Vec<Finding>) {
    let pairs = [
        (
            "false_accept_rate",
            "false_accept",
            "false accepts",
            "accepts",
            "wrong",
            0.10,
            "Raise the bar: vote, use a stricter prompt with reject as the default, or another model family as a second check.",
        ),
        (
            "false_reject_rate",
            "false_reject",
            "false rejects",
            "rejects",
            "right",
            0.20,
            "Read the rejected items: either the judge asks for more than the labels do, or the bar is too high for what its answers can tell apart.",
        ),
    ];
    for (id, error, name, verb, label, limit, advice) in pairs {
        let Some(value) = evidence.get(id) else { continue };
        let (low, high) = evidence.interval(value);
        // An estimate beyond the limit is no fault while the interval holds the limit.
        let weight = if low > limit {
            FindingWeight::Bad
        } else if high <= limit {
            FindingWeight::Good
        } else {
            FindingWeight::Note
        };
        let advice = if value.estimate > limit { advice } else { "" };
        found.push(finding(weight, &[id], format!("It {verb} {} of {label} items.", evidence.share(value)), advice));
        let Some(clusters) = evidence.error_clusters else { continue };
        let (Some(half), Some(all)) = (clusters.half_of_errors_in.get(error), clusters.clusters_with_error.get(error))
        else {
            continue;
        };
        if clusters.unit == "group" && *all > 0 && clusters.design_effect.get(error).is_some_and(|deff| *deff > 1.5) {
            found.push(finding(
                FindingWeight::Note,
                &[id],
                format!("Half of all {name} come from {half} of the {all} groups that show any."),
                "Read those groups first: an ambiguous specification misleads judge and maker alike.",
            ));
        }
    }
}

fn position(evidence: &Evidence<'_>, found: &mut Vec<Finding>) {
    if let Some(value) = evidence.get("position_excess") {
        if evidence.is_found("position_excess") {
            found.push(finding(
                if value.estimate >= 0.05 { FindingWeight::Bad } else { FindingWeight::Note },
                &["position_excess", "swap_consistency"],
                format!(
                    "The place shown changes its answer beyond noise: swapping adds {} to the disagreement that repeating shows.",
                    evidence.share(value)
                ),
                "Ask in both orders and count a change of mind as a tie; more repeats in one order do not help.",
            ));
        }
    } else if let Some(value) = evidence.get("swap_consistency") {
        let (_, high) = evidence.interval(value);
        let weight = if high < 0.75 { FindingWeight::Bad } else { FindingWeight::Note };
        found.push(finding(
            weight,
            &["swap_consistency"],
            format!("It names the same candidate after swapping {} of the time.", evidence.share(value)),
            "Ask in both orders and count a change of mind as a tie; repeat each order to tell bias from noise.",
        ));
    }
    if let Some(value) = evidence.get("first_position_preference")
        && evidence.is_found("first_position_preference")
    {
        let is_first = value.estimate > 0.5;
        let which = if is_first { "first" } else { "second" };
        let shown = if is_first { value.estimate } else { 1.0 - value.estimate };
        found.push(finding(
            if shown > 0.6 { FindingWeight::Bad } else { FindingWeight::Note },
            &["first_position_preference"],
            format!("It prefers the candidate shown {which}: {} of decided answers choose it.", per_cent(shown)),
            "Shuffle the order, or judge both orders and average.",
        ));
    }
    if let Some(value) = evidence.get("order_shift") {
        let (low, high) = evidence.interval(value);
        if evidence.is_found("order_shift") {
            found.push(finding(
                FindingWeight::Bad,
                &["order_shift"],
                format!("The order shown shifts its answers by {:.3} [{low:.3}, {high:.3}].", value.estimate),
                "Judge both orders and average.",
            ));
        }
    }
    if let Some(value) = evidence.get("place_slope") {
        let (low, high) = evidence.interval(value);
        if evidence.is_found("place_slope") {
            found.push(finding(
                FindingWeight::Bad,
                &["place_slope"],
                format!("Each place later changes a part's score by {:.3} [{low:.3}, {high:.3}].", value.estimate),
                "Shuffle the parts, judge each order and average; or judge part by part.",
            ));
        }
    }
}

fn stability(evidence: &Evidence<'_>, found: &mut Vec<Finding>) {
    if evidence.kind == OutcomeKind::Score {
        if let Some(value) = evidence.get("moved_over_one_point") {
            let k = value.details.get("k").copied().unwrap_or(0.0);
            let (low, _) = evidence.interval(value);
            let weight = if low > 0.10 { FindingWeight::Bad } else { FindingWeight::Note };
            found.push(finding(
                weight,
                &["moved_over_one_point"],
                format!("The scores of {} of items move by more than one point over {k} judgements.", evidence.share(value)),
                if value.estimate > 0.10 {
                    "Fix the judge before tuning anything by it: temperature 0, a rubric with described levels, or the mean of several draws."
                } else {
                    ""
                },
            ));
        }
    } else if let Some(value) = evidence.get("flip_rate") {
        let (low, _) = evidence.interval(value);
        let weight = if low > 0.15 { FindingWeight::Bad } else { FindingWeight::Note };
        found.push(finding(
            weight,
            &["flip_rate"],
            format!("Asked twice, it answers differently {} of the time.", evidence.share(value)),
            if value.estimate > 0.15 { "Vote over several draws, or lower the temperature." } else { "" },
        ));
    }
    voting(evidence, found);
    if evidence.is_cached {
        found.push(finding(
            FindingWeight::Note,
            &["flip_rate"],
            "Every repeat is identical: the repeats may come from a cache, and say nothing of other wordings."
                .to_owned(),
            "Check that each repeat was asked afresh.",
        ));
    }
}

fn voting(evidence: &Evidence<'_>, found: &mut Vec<Finding>) {
    let Some(voting) = evidence.voting else { return };
    let accuracy = |point: &crate::audit::result::VotingPoint| point.accuracy.as_ref().map(|measure| measure.estimate);
    let (Some(first), Some(last)) = (voting.points.first(), voting.points.last()) else { return };
    let (Some(one), Some(most)) = (accuracy(first), accuracy(last)) else { return };
    if last.k == first.k {
        return;
    }
    let gain = most - one;
    let what = format!(
        "Voting over {} draws takes accuracy from {} to {} ({}).",
        last.k,
        per_cent(one),
        per_cent(most),
        voting.tie_rule
    );
    let gained = voting.gain.as_ref();
    let (low, high) = gained.and_then(|gained| gained.low.zip(gained.high)).unwrap_or((gain, gain));
    // What could have gone unseen belongs beside what was not found.
    let is_shown = low > 0.0 || high < 0.0;
    let seen = gained.and_then(|gained| gained.details.get("minimal_detectable")).filter(|_| !is_shown);
    let seen = seen.map_or_else(String::new, |smallest| {
        let points = |share: f64| format!("{:.1}", 100.0 * share);
        format!(
            " The difference is {} [{}, {}] percentage points, so that none is shown. {} would have been seen (80 % power).",
            points(gain),
            points(low),
            points(high),
            points_or_more("One", *smallest)
        )
    });
    let what = what + &seen;
    if gain >= 0.02 && low > 0.0 {
        // The fewest votes that give nine tenths of the gain.
        let enough = voting.points.iter().find(|point| accuracy(point).is_some_and(|value| value - one >= 0.9 * gain));
        let k = enough.map_or(last.k, |point| point.k);
        let beyond = if k < last.k { "more add little" } else { "more were not measured" };
        found.push(finding(FindingWeight::Note, &["accuracy"], what, &format!("Let {k} draws vote; {beyond}.")));
    } else {
        // As long as a gain that would pay is possible, nothing is said against votes.
        let advice = if high < 0.02 {
            "Votes do not pay here: its errors are systematic, not noise."
        } else {
            "Do not pay for votes before more items have shown that they gain."
        };
        found.push(finding(FindingWeight::Note, &["accuracy"], what, advice));
    }
}

fn alike(evidence: &Evidence<'_>, found: &mut Vec<Finding>) {
    let Some(answer) = evidence.only_answer.filter(|_| evidence.n_items > 1) else { return };
    found.push(finding(
        FindingWeight::Bad,
        &[],
        format!("It gives every item the same answer, {answer}: it tells nothing apart."),
        "Look at the raw replies first: a judge that fails, or a parser that reads a default, looks like this.",
    ));
}

fn small(evidence: &Evidence<'_>, found: &mut Vec<Finding>) {
    if evidence.n_items == 1 {
        found.push(finding(
            FindingWeight::Note,
            &[],
            "It judged one item only: nothing said of it holds for others.".to_owned(),
            "Judge more items before signing.",
        ));
    } else if evidence.n_items < 30 {
        found.push(finding(
            FindingWeight::Note,
            &[],
            format!(
                "{} items are few: they can show that a judge is bad, hardly that it is good. It takes 72 items without one failure to show that at most 5 % fail.",
                evidence.n_items
            ),
            "Judge more items before signing.",
        ));
    }
}
