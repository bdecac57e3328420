//! Sentences that every renderer shares: what a limit asks, what would decide it, what a family of measures says.

use std::borrow::Cow;
use std::fmt::Write as _;

use assize_calibration::audit::catalogue::{Family, MEASURES, MeasureInfo};
use assize_calibration::audit::result::AnchorStudy;
use assize_calibration::audit::result::{Audit, Fitness, JudgeAudit, Looks, Measure};
use assize_calibration::gate::{LimitResult, LimitState};

use crate::{format, text};

/// Longest name shown; a longer one is cut.
const NAME_CHARS: usize = 120;

/// The measures that a short summary shows, the weightiest first.
const KEY_MEASURES: [&str; 17] = [
    "accuracy",
    "false_accept_rate",
    "false_reject_rate",
    "accuracy_both_orders",
    "auc",
    "spearman",
    "top_of_group_accuracy",
    "mean_absolute_error",
    "kappa",
    "weighted_kappa",
    "flip_rate",
    "mean_abs_difference",
    "moved_over_one_point",
    "icc_single",
    "swap_consistency",
    "position_excess",
    "unparsed_rate",
];

/// Returns the name of a judge with its arm: `gpt-4o · cold`.
pub(crate) fn judge_name(judge: &JudgeAudit) -> String {
    let name = name(&judge.judge);
    judge.arm.as_deref().map_or(name.clone(), |arm| format!("{name} · {}", text::cut(arm, NAME_CHARS)))
}

/// Returns a name fit to show, never empty.
pub(crate) fn name(name: &str) -> String {
    let shown = text::cut(name, NAME_CHARS);
    if shown.is_empty() { "(no name)".to_owned() } else { shown }
}

/// Returns what a limit asks: `at most 10 %`.
pub(crate) fn limit(result: &LimitResult) -> String {
    let side = if result.side == "min" { "at least" } else { "at most" };
    format!("{side} {}", format::limit(result.limit, format::unit(&result.measure)))
}

/// Returns the figures that a limit's state rests on: of the measure, or of looking at it again and again. `None` where nothing was measured.
pub(crate) fn limit_measure<'a>(judge: &'a JudgeAudit, limit: &LimitResult) -> Option<Cow<'a, Measure>> {
    let measure = judge.measures.get(&limit.measure).filter(|_| limit.state != LimitState::Unmeasured)?;
    let Some(looks) = &judge.looks else { return Some(Cow::Borrowed(measure)) };
    let watched = looks.limits.iter().find(|one| one.measure == limit.measure && one.side == limit.side)?;
    Some(Cow::Owned(Measure {
        estimate: watched.estimate?,
        low: watched.low,
        high: watched.high,
        method: watched.method.clone(),
        ..measure.clone()
    }))
}

/// Returns which look this is and when the verdict could have been given, where the audit was looked at after every item,
/// along a plan, or again; else `None`.
pub(crate) fn looks(judge: &JudgeAudit) -> Option<String> {
    let history = judge.look_history.as_ref().map(|history| text::sentence(&history.words));
    match (history, followed(judge)) {
        (Some(history), Some(followed)) => Some(format!("{history} {followed}")),
        (history, followed) => history.or(followed),
    }
}

/// Returns when the verdict could have been given, where the audit was looked at after every item or along a plan; else `None`.
fn followed(judge: &JudgeAudit) -> Option<String> {
    let looks = judge.looks.as_ref()?;
    let all = format!(
        "{} ({})",
        format::counted(looks.n_clusters, &looks.unit),
        format::counted(looks.n_judgements, "answer")
    );
    let mut text = match looks.planned_items {
        Some(n_planned) => planned(looks, n_planned, &all),
        None => watched(looks, &all),
    };
    for caution in &looks.cautions {
        write!(text, " {}", text::sentence(caution)).expect("writing to memory");
    }
    Some(text)
}

/// Without a plan.
fn watched(looks: &Looks, all: &str) -> String {
    match &looks.decided {
        Some(decided) => format!(
            "Looked at after every {}, the verdict stood after {} of {all}: {} answers, {} of all.",
            looks.unit,
            format::count(decided.n_clusters),
            format::count(decided.n_judgements),
            format::per_cent(decided.n_judgements as f64 / looks.n_judgements.max(1) as f64)
        ),
        None => {
            format!(
                "Looked at after every item or group, no verdict stood after all {all}. You may go on and look again."
            )
        }
    }
}

/// Along a plan of so many items.
fn planned(looks: &Looks, n_planned: u64, all: &str) -> String {
    let plan = format!("Looked at along a plan of {}", format::counted(n_planned, "item"));
    let of_plan = |n_items: u64| format::per_cent(n_items as f64 / n_planned.max(1) as f64);
    let decided = looks.decided.as_ref().map(|decided| {
        format!(
            "the verdict stood after {} ({}), {} of the plan",
            format::counted(decided.n_items, "item"),
            format::counted(decided.n_judgements, "answer"),
            of_plan(decided.n_items)
        )
    });
    let futile = looks.futile.as_ref().map(|futile| {
        let titles: Vec<String> =
            futile.because.iter().map(|id| text::visible(format::title(id)).to_lowercase()).collect();
        let because = if titles.is_empty() { String::new() } else { format!(", because of {}", titles.join(", ")) };
        format!(
            "it could have been given up after {} ({}), {} of the plan: as things stood, the chance that one look at the whole plan would say fit \
             was at most {}{because}, and that it would say unfit at most {}",
            format::counted(futile.n_items, "item"),
            format::counted(futile.n_judgements, "answer"),
            of_plan(futile.n_items),
            format::per_cent(futile.chance_fit),
            format::per_cent(futile.chance_unfit)
        )
    });
    match (futile, decided) {
        (Some(futile), Some(decided)) => format!("{plan}, {futile}. The log went on, and {decided}."),
        (Some(futile), None) => format!("{plan}, {futile}. No verdict stood after all {all} either."),
        (None, Some(decided)) => format!("{plan}, {decided}."),
        (None, None) if looks.n_items >= n_planned => format!("{plan}, no verdict stood at its end, after {all}."),
        (None, None) => format!("{plan}, no verdict stands yet, after {all}. Go on, and look again."),
    }
}

/// Returns what anchors come to in a line, by the first measure of being right: each number against none. `None` where nothing was judged
/// without.
pub(crate) fn anchors(study: &AnchorStudy) -> Option<String> {
    let said: Vec<String> = study
        .points
        .iter()
        .filter_map(|point| {
            let figure = point.figures.first()?;
            let minus = figure.minus_none.as_ref()?;
            let unit = format::unit(&figure.measure);
            let title = format::title(&figure.measure).to_lowercase();
            let difference = format::difference(&minus.difference, unit);
            Some(format!("{}: {title} {difference}, {}", text::visible(&point.words), text::visible(&minus.standing)))
        })
        .collect();
    let judge = name(&study.judge);
    let whose = if judge.is_empty() { String::new() } else { format!(" of {judge}") };
    (!said.is_empty()).then(|| format!("Worked examples in the prompt{whose}, against none: {}.", said.join("; ")))
}

/// Returns what would decide an undecided limit, or `None` for one that needs no deciding.
pub(crate) fn further_items(result: &LimitResult) -> Option<String> {
    if result.state != LimitState::Undecided {
        return None;
    }
    let Some(n) = result.further_items else {
        return Some("more items alone do not decide this".to_owned());
    };
    let mut sentence = format!("about {} would decide it if the estimate is right", further(n));
    if let Some(ends) = result.further_items_range {
        let end = |n: Option<u64>| n.map_or("no number of items decides".to_owned(), format::count);
        write!(
            sentence,
            "; if the truth is the lower end of the interval: {}, the upper end: {}",
            end(ends[0]),
            end(ends[1])
        )
        .expect("writing to memory");
    }
    Some(sentence)
}

fn further(n: u64) -> String {
    format::counted(n, "further item")
}

/// Returns a sentence on how much more data decides the verdict, or `None` if it is decided, or no number is known.
///
/// Limits are to be met jointly: the sentence takes the largest number, and says that each has 80 % power alone.
pub(crate) fn more_data(judge: &JudgeAudit) -> Option<String> {
    // Who looks after every item just goes on.
    if judge.fitness != Fitness::Inconclusive || judge.looks.is_some() {
        return None;
    }
    let undecided = || judge.limits.iter().filter(|limit| limit.state == LimitState::Undecided);
    let largest = undecided().filter_map(|limit| limit.further_items.map(|n| (n, limit))).max_by_key(|(n, _)| *n);
    let stuck: Vec<_> =
        undecided().filter(|limit| limit.further_items.is_none()).map(|limit| format::title(&limit.measure)).collect();
    let unmeasured: Vec<_> = judge
        .limits
        .iter()
        .filter(|limit| limit.state == LimitState::Unmeasured)
        .map(|limit| format::title(&limit.measure))
        .collect();
    let mut sentences = Vec::new();
    if let Some((n, limit)) = largest {
        sentences.push(format!(
            "About {} would decide every open limit, each with 80 % power, if the estimates are right; {} needs the most.",
            further(n),
            text::visible(format::title(&limit.measure))
        ));
    }
    if !stuck.is_empty() {
        sentences.push(format!("More items alone do not decide: {}.", text::visible(&stuck.join(", "))));
    }
    if !unmeasured.is_empty() {
        sentences.push(format!("This log cannot measure: {}.", text::visible(&unmeasured.join(", "))));
    }
    if sentences.is_empty() { None } else { Some(sentences.join(" ")) }
}

/// Returns how much data a judge was seen on.
pub(crate) fn extent(judge: &JudgeAudit) -> String {
    let mut parts = vec![
        format!("{} on {}", format::counted(judge.n_judgements, "answer"), format::counted(judge.n_items, "item")),
        format!("{} labelled", format::count(judge.n_labelled)),
    ];
    if judge.n_clusters != judge.n_items {
        parts.push(format::counted(judge.n_clusters, "independent cluster"));
    }
    parts.push(match judge.repeats {
        [1, 1] => "one answer a question".to_owned(),
        [few, many] if few == many => format!("{} answers a question", format::count(few)),
        [few, many] => format!("{}–{} answers a question", format::count(few), format::count(many)),
    });
    if judge.n_unparsed > 0 {
        parts.push(format!("{} unparsed", format::count(judge.n_unparsed)));
    }
    parts.join(" · ")
}

/// Returns the weightiest measures, at most `max`, in the order of the catalogue.
pub(crate) fn key_measures(judge: &JudgeAudit, max: usize) -> Vec<(&'static MeasureInfo, &Measure)> {
    let mut chosen: Vec<&str> = Vec::new();
    for id in KEY_MEASURES {
        if chosen.len() < max && judge.measures.contains_key(id) {
            chosen.push(id);
        }
    }
    MEASURES
        .iter()
        .filter(|info| chosen.contains(&info.id))
        .filter_map(|info| judge.measures.get(info.id).map(|measure| (info, measure)))
        .collect()
}

/// Returns the measures that a table of many judges shows, at most `max`: those that most of them have.
pub(crate) fn shared_measures(audit: &Audit, max: usize) -> Vec<&'static MeasureInfo> {
    let having = |id: &str| audit.judges.iter().filter(|judge| judge.measures.contains_key(id)).count();
    let chosen: Vec<_> = KEY_MEASURES.into_iter().filter(|id| having(id) * 2 > audit.judges.len()).take(max).collect();
    chosen.into_iter().filter_map(assize_calibration::audit::catalogue::info).collect()
}

/// Returns the judges, those that need a look first: unfit, inconclusive, fit, else in the order of the audit.
pub(crate) fn by_gravity(audit: &Audit) -> Vec<&JudgeAudit> {
    let mut judges: Vec<_> = audit.judges.iter().collect();
    judges.sort_by_key(|judge| std::cmp::Reverse(judge.fitness));
    judges
}

/// Returns how many judges got each verdict, in words: `2 fit, 1 unfit`.
pub(crate) fn tally(audit: &Audit) -> String {
    [Fitness::Unfit, Fitness::Inconclusive, Fitness::Fit]
        .into_iter()
        .map(|fitness| (audit.judges.iter().filter(|judge| judge.fitness == fitness).count(), fitness))
        .filter(|(n, _)| *n > 0)
        .map(|(n, fitness)| format!("{n} {}", format::fitness(fitness).to_lowercase()))
        .collect::<Vec<_>>()
        .join(", ")
}

/// How the leading measures of a family are said in a sentence. `{}` is the value with its interval.
const SENTENCES: [(&str, Family, &str); 33] = [
    ("unparsed_rate", Family::Parsing, "{} of its replies held no answer that could be read."),
    ("flip_rate", Family::Stability, "Asked the same question twice, it answers differently {} of the time."),
    ("mean_abs_difference", Family::Stability, "Two scores of the same item are {} points apart on average."),
    ("moved_over_one_point", Family::Stability, "On {} of items its repeated scores span more than one point."),
    ("icc_single", Family::Stability, "Of the variance of one score, a part of {} is due to the item."),
    ("swap_consistency", Family::Position, "It chooses the same candidate after swapping {} of the time."),
    ("position_excess", Family::Position, "Swapping adds {} to the disagreement that repeating alone shows."),
    ("position_direction", Family::Position, "Being shown first changes how often a candidate is chosen by {}."),
    ("first_position_preference", Family::Position, "{} of its decided answers go to the candidate shown first."),
    ("order_shift", Family::Position, "Scores in order ab differ from those in order ba by {} points."),
    ("place_slope", Family::Position, "Each later place changes a score by {} points."),
    ("length_effect", Family::Bias, "Twice the length changes a score by {} points, labels being equal."),
    ("length_effect_share", Family::Bias, "Twice the length changes how often a text passes, or is chosen, by {}."),
    ("self_preference", Family::Bias, "Being its own model's changes an item's score by {} points."),
    ("self_preference_share", Family::Bias, "Being its own model's changes how often it favours an item by {}."),
    ("own_false_accepts", Family::Bias, "Being its own model's changes how often a wrong item is accepted by {}."),
    ("accuracy", Family::Truth, "One answer on a random labelled item is right {} of the time."),
    ("false_accept_rate", Family::Truth, "It accepts {} of wrong items."),
    ("false_reject_rate", Family::Truth, "It rejects {} of right items."),
    ("accuracy_both_orders", Family::Truth, "It is right in both orders {} of the time."),
    ("auc", Family::Truth, "A right item scores higher than a wrong one with probability {}."),
    ("ceiling_share", Family::Scale, "{} of its scores are the highest of the scale."),
    ("effective_levels", Family::Scale, "Its scores are as varied as {} equally used levels."),
    ("halo_excess", Family::Scale, "Its criteria correlate more than they should by {}."),
    ("agreement_with_people", Family::People, "It says what most people say {} of the time."),
    ("people_agreement", Family::People, "One of these people does so {} of the time."),
    ("distance_to_people", Family::People, "Its scores are {} points from the mean of people's."),
    ("people_distance", Family::People, "One person's are {} points from the mean of the others'."),
    ("advantage_probability", Family::People, "It is as near to the others as a person is, or nearer, {} of the time."),
    ("spearman", Family::Truth, "Its scores follow the labels with a rank correlation of {}."),
    ("weighted_kappa", Family::Truth, "Its scores agree with the labels with a quadratic weighted kappa of {}."),
    ("mean_error", Family::Truth, "Its scores are off by {} points on average; positive is inflation."),
    ("mean_absolute_error", Family::Truth, "Its scores are {} points away from the labels on average."),
];

/// Returns what a family of measures says, in plain sentences; empty when nothing of it was measured.
pub(crate) fn family(judge: &JudgeAudit, family: Family) -> Vec<String> {
    const MOST: usize = 4;
    SENTENCES
        .iter()
        .filter(|(_, of, _)| *of == family)
        .filter_map(|(id, _, sentence)| {
            let measure = judge.measures.get(*id).filter(|measure| measure.estimate.is_finite())?;
            let value = format::measure(measure, format::unit(id));
            // Differences of shares are no shares.
            let is_difference = matches!(
                *id,
                "position_excess"
                    | "position_direction"
                    | "length_effect_share"
                    | "self_preference_share"
                    | "own_false_accepts"
            );
            let value = if is_difference { value.replace('%', "percentage points") } else { value };
            Some(sentence.replace("{}", &value))
        })
        .take(MOST)
        .collect()
}

/// Returns the command that makes this audit again.
pub(crate) fn command(audit: &Audit) -> String {
    command_of("assize audit", &audit.source.files, &audit.source.options)
}

/// Returns a command line of a command, its files and its options.
pub(crate) fn command_of(command: &str, files: &[String], options: &[String]) -> String {
    let quoted = |word: &String| {
        let word = text::visible(word);
        let is_plain = !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "-_./=,:+@%".contains(c));
        if is_plain { word } else { format!("'{}'", word.replace('\'', "'\\''")) }
    };
    let words = [command.to_owned()].into_iter().chain(files.iter().chain(options).map(quoted));
    words.collect::<Vec<_>>().join(" ")
}
