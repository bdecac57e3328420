//! The audit as the page shows it: every number already written, every text already fit to show, every chart drawn.
//!
//! Templates only lay out what is here. Text is not yet escaped: the template engine does that.

mod anchors;
mod biases;
mod drift;
pub(crate) mod forest;
mod judge;
mod panel;
mod passing;
mod people;
pub(crate) mod plan;
mod plots;
mod probabilities;
mod risk;
mod style;
mod tables;

use std::fmt::Write as _;

use assize_calibration::audit::catalogue::Unit;
use assize_calibration::audit::result::{Audit, Fitness};
use assize_calibration::audit::{Calendar, Windows};
use assize_calibration::gate::LimitState;
use assize_calibration::prevalence::LabelSampling;
use assize_calibration::problem::{Problem, Severity};
use serde::Serialize;

use crate::html::HtmlOptions;
use crate::{RenderError, format, text, words};

pub(crate) use forest::Cell;

/// Most rows of the overview of judges, and of any table of pairs.
const MAX_ROWS: usize = 500;
/// Most pairs shown of one kind of comparison.
const MAX_PAIRS: usize = 60;

/// A word with a shape and a colour, so that no meaning hangs on colour alone.
#[derive(Serialize)]
pub(crate) struct Mark {
    /// CSS class and name of the shape.
    pub(crate) class: &'static str,
    /// The word.
    pub(crate) word: &'static str,
}

impl From<Fitness> for Mark {
    fn from(fitness: Fitness) -> Self {
        let class = match fitness {
            Fitness::Fit => "good",
            Fitness::Inconclusive => "open",
            Fitness::Unfit => "bad",
        };
        Self { class, word: format::fitness(fitness) }
    }
}

impl From<LimitState> for Mark {
    fn from(state: LimitState) -> Self {
        let class = match state {
            LimitState::Met => "good",
            LimitState::Broken => "bad",
            LimitState::Undecided => "open",
            LimitState::Unmeasured => "none",
        };
        Self { class, word: format::state(state) }
    }
}

/// A name and what belongs to it.
#[derive(Serialize)]
pub(crate) struct Fact {
    name: String,
    value: String,
}

impl Fact {
    /// Returns whether nothing is known.
    pub(crate) const fn is_empty(&self) -> bool {
        self.value.is_empty()
    }
}

/// Returns a name and what belongs to it.
pub(crate) fn fact(name: &str, value: impl Into<String>) -> Fact {
    Fact { name: name.to_owned(), value: value.into() }
}

#[derive(Serialize)]
struct OverviewRow {
    name: String,
    anchor: Option<String>,
    verdict: Mark,
    items: String,
    chart: String,
    cells: Vec<Option<Cell>>,
}

/// All judges in one table.
#[derive(Serialize)]
pub(crate) struct Overview {
    columns: Vec<&'static str>,
    /// What the chart shows, and its scale.
    charted: Option<&'static str>,
    axis: String,
    rows: Vec<OverviewRow>,
    n_omitted: usize,
}

/// What is wrong with a log, as a row.
#[derive(Serialize)]
pub(crate) struct ProblemRow {
    mark: Mark,
    code: String,
    message: String,
    count: String,
    place: String,
}

#[derive(Serialize)]
struct Term {
    term: &'static str,
    meaning: &'static str,
}

/// The page.
#[derive(Serialize)]
pub(crate) struct View {
    title: String,
    version: String,
    schema: String,
    prepared: Option<String>,
    verdict: Mark,
    tally: String,
    source: String,
    extent: String,
    gate_name: String,
    level: String,
    overview: Option<Overview>,
    judges: Vec<judge::JudgeView>,
    n_judges_omitted: usize,
    comparisons: Vec<tables::ComparisonView>,
    anchors: Vec<anchors::AnchorView>,
    agreement: Vec<tables::AgreementView>,
    panels: Vec<panel::PanelView>,
    n_panels_omitted: usize,
    data: Vec<Fact>,
    problems: Vec<ProblemRow>,
    config: Vec<Fact>,
    command: String,
    glossary: Vec<Term>,
    corrections: Option<String>,
}

/// Builds the page from an audit.
pub(crate) fn build(audit: &Audit, options: &HtmlOptions) -> Result<View, RenderError> {
    let ordered = words::by_gravity(audit);
    let n_detailed = ordered.len().min(options.max_detailed_judges.max(1));
    let judges = ordered[..n_detailed]
        .iter()
        .enumerate()
        .map(|(idx, judge)| judge::build(audit, judge, idx + 1))
        .collect::<Result<Vec<_>, _>>()?;
    let default_title = match audit.judges.as_slice() {
        [only] => words::judge_name(only),
        judges => format!("{} judges", judges.len()),
    };
    Ok(View {
        title: options.title.as_deref().map_or(default_title, words::name),
        version: text::visible(&audit.version),
        schema: text::visible(&audit.schema),
        prepared: options.prepared.as_deref().map(text::visible),
        verdict: audit.fitness.into(),
        tally: words::tally(audit),
        source: text::cut(&audit.source.files.join(", "), 160),
        extent: extent(audit),
        gate_name: words::name(&audit.gate.name),
        level: format::level(audit.config.level),
        overview: overview(audit, n_detailed)?,
        judges,
        n_judges_omitted: ordered.len() - n_detailed,
        comparisons: tables::comparisons(audit, MAX_PAIRS)?,
        anchors: anchors::anchors(audit)?,
        agreement: tables::agreement(audit)?,
        panels: panel::panels(audit)?,
        n_panels_omitted: panel::n_omitted(audit),
        data: data(audit),
        problems: problems(&audit.problems),
        config: config(audit),
        command: options.command.as_deref().map_or_else(|| words::command(audit), text::visible),
        glossary: glossary(),
        corrections: crate::corrections::corrections(audit),
    })
}

fn extent(audit: &Audit) -> String {
    let data = &audit.data;
    format!(
        "{} on {}, {} labelled",
        format::counted(data.n_judgements, "judgement"),
        format::counted(data.n_items, "item"),
        format::count(data.n_labelled)
    )
}

fn overview(audit: &Audit, n_detailed: usize) -> Result<Option<Overview>, RenderError> {
    const COLUMNS: usize = 3;
    if audit.judges.len() < 2 {
        return Ok(None);
    }
    let columns = words::shared_measures(audit, COLUMNS);
    let charted = columns.first();
    let judges = words::by_gravity(audit);
    let scale = charted.map(|info| forest::close_scale(judges.iter().filter_map(|judge| judge.measures.get(info.id))));
    let mut rows = Vec::new();
    for (idx, judge) in judges.iter().take(MAX_ROWS).enumerate() {
        let chart = match (charted, &scale) {
            (Some(info), Some(scale)) => match judge.measures.get(info.id) {
                Some(measure) => forest::draw(measure, info.unit, scale, &[], None)?,
                None => String::new(),
            },
            _ => String::new(),
        };
        rows.push(OverviewRow {
            name: words::judge_name(judge),
            anchor: (idx < n_detailed).then(|| format!("judge-{}", idx + 1)),
            verdict: judge.fitness.into(),
            items: format::count(judge.n_items),
            chart,
            cells: columns
                .iter()
                .map(|info| judge.measures.get(info.id).map(|measure| Cell::new(measure, info.unit)))
                .collect(),
        });
    }
    Ok(Some(Overview {
        columns: columns.iter().map(|info| info.title).collect(),
        charted: charted.map(|info| info.title),
        axis: match (charted, &scale) {
            (Some(info), Some(scale)) => forest::axis(scale, info.unit)?,
            _ => String::new(),
        },
        n_omitted: audit.judges.len() - rows.len(),
        rows,
    }))
}

fn data(audit: &Audit) -> Vec<Fact> {
    let data = &audit.data;
    let joined = |names: &[String]| names.iter().map(|name| text::cut(name, 300)).collect::<Vec<_>>().join(", ");
    let mut facts = vec![
        fact("Files", joined(&audit.source.files)),
        fact("Read as", joined(&audit.source.formats)),
        fact("Rows read", format::count(data.n_rows)),
        fact("Judgements", format::count(data.n_judgements)),
        fact("Ratings by people", format::count(data.n_ratings)),
        fact("Items", format::count(data.n_items)),
        fact("Groups", if data.n_groups == 0 { "none stated".to_owned() } else { format::count(data.n_groups) }),
        fact("Labelled items", format::count(data.n_labelled)),
        fact("Labels from", text::visible(&data.label_source)),
        fact("Rows left out: unreadable", format::count(data.n_bad_rows)),
        fact("Rows left out: contradicting another", format::count(data.n_conflicts)),
        fact("Rows counted once: exact repeats", format::count(data.n_duplicates)),
    ];
    if let Some([low, high]) = data.scale {
        let source = data.scale_source.as_deref().map(|source| format!(" ({})", text::visible(source)));
        facts.push(fact(
            "Scale of scores",
            format!("{} to {}{}", format::plain(low), format::plain(high), source.unwrap_or_default()),
        ));
    }
    if let Some([sent, received]) = data.tokens {
        facts.push(fact("Tokens", format!("{} sent, {} received", format::count(sent), format::count(received))));
    }
    if let Some(price) = data.price {
        facts.push(fact("Price, as stated in the log", format::significant(price)));
    }
    facts.retain(|fact| !fact.value.is_empty());
    facts
}

pub(crate) fn problems(problems: &[Problem]) -> Vec<ProblemRow> {
    let mut problems: Vec<_> = problems.iter().collect();
    problems.sort_by_key(|problem| std::cmp::Reverse(problem.severity));
    problems
        .into_iter()
        .take(MAX_ROWS)
        .map(|problem| {
            let mut place = problem.file.as_deref().map(|file| text::cut(file, 200)).unwrap_or_default();
            if let Some(line) = problem.line {
                write!(place, "{}line {line}", if place.is_empty() { "" } else { ", " }).expect("writing to memory");
            }
            if let Some(column) = &problem.column {
                write!(place, "{}column “{}”", if place.is_empty() { "" } else { ", " }, text::cut(column, 80))
                    .expect("writing to memory");
            }
            let (class, word) = match problem.severity {
                Severity::Error => ("bad", "error"),
                Severity::Warning => ("open", "warning"),
                Severity::Note => ("none", "note"),
            };
            ProblemRow {
                mark: Mark { class, word },
                code: text::visible(&problem.code),
                message: text::cut(&problem.message, 600),
                count: format::count(problem.count),
                place,
            }
        })
        .collect()
}

fn config(audit: &Audit) -> Vec<Fact> {
    let config = &audit.config;
    let share = |value: Option<f64>, otherwise: &str| {
        value.map_or(otherwise.to_owned(), |value| format::limit(value, Unit::Share))
    };
    let number = |value: Option<f64>, otherwise: &str| value.map_or(otherwise.to_owned(), format::plain);
    let only = |name: &Option<String>| name.as_deref().map_or("all".to_owned(), words::name);
    vec![
        fact("Confidence level", format!("{}, two-sided", format::level(config.level))),
        fact("Seed", config.seed.to_string()),
        fact("Outcome", config.outcome.map_or("the first the log carries", format::outcome)),
        fact(
            "Scale",
            config.scale.map_or("as seen in the log".to_owned(), |[low, high]| {
                format!("{} to {}", format::plain(low), format::plain(high))
            }),
        ),
        fact("A score accepts at", number(config.accept_at, "no threshold set; thresholds are swept")),
        fact("A label that is a score is right at", number(config.good_at, "not set")),
        fact("Share of right items in production", share(config.base_rate, "as among the labels")),
        fact(
            "Looks planned",
            config.planned_looks.map_or("one, or nobody said".to_owned(), |planned| planned.to_string()),
        ),
        fact(
            "Items that are anchors",
            if config.anchor_items.is_empty() {
                "none named".to_owned()
            } else {
                text::cut(&config.anchor_items.join(", "), 300)
            },
        ),
        fact("Repeats at which stability is stated", config.stability_repeats.to_string()),
        fact("Cap on false accepts for the chosen threshold", format::limit(config.false_accept_cap, Unit::Share)),
        fact(
            "Cost of a false accept to that of a false reject",
            config.costs.map_or("not weighed".to_owned(), |[accept, reject]| {
                format!("{} to {}", format::plain(accept), format::plain(reject))
            }),
        ),
        fact("How the labelled items were chosen", sampling(config.label_sampling)),
        fact("Prompt tuned on these items", if config.tuned_on_items { "yes" } else { "not that the audit knows" }),
        fact("Items planned", config.planned_items.map_or("no plan".to_owned(), format::count)),
        fact("Windows of time", config.windows.map_or("by the span of the log".to_owned(), windows)),
        fact("Judges audited", only(&config.judge)),
        fact("Arms audited", only(&config.arm)),
        fact("Gate", words::name(&audit.gate.name)),
        fact(
            "Fit without a limit on being right",
            if audit.gate.truth_optional { "allowed by the gate" } else { "not allowed" },
        ),
    ]
}

const fn sampling(chosen: LabelSampling) -> &'static str {
    match chosen {
        LabelSampling::Random => "a random sample of the stream",
        LabelSampling::ByLabel => "by their labels",
        LabelSampling::Unknown => "unknown",
    }
}

fn windows(windows: Windows) -> String {
    match windows {
        Windows::Count(n) => format!("{n}, with as many judgements each"),
        Windows::Calendar(Calendar::Day) => "days".to_owned(),
        Windows::Calendar(Calendar::Week) => "weeks".to_owned(),
    }
}

fn glossary() -> Vec<Term> {
    const TERMS: [(&str, &str); 20] = [
        (
            "Fit",
            "Every limit of the gate is met, and not only by the estimate: the unfavourable end of the interval meets it too.",
        ),
        ("Unfit", "At least one limit is broken, and even the favourable end of the interval breaks it."),
        ("Inconclusive", "The data show neither. It is not a pass: the judge may be fit or unfit."),
        (
            "Interval",
            "The range of values that the data do not rule out, at the stated confidence level. Written [low, high] in the unit of the value.",
        ),
        ("Item", "What is judged: a text, a pair of texts, a program."),
        ("Judgement, answer", "One answer about one item under one condition."),
        ("Unparsed", "A reply from which no answer could be read. It is counted, and never taken for a yes or a no."),
        ("Label", "What is held to be true of an item."),
        (
            "Cluster",
            "The unit taken as independent: the group if the log states one, else the item. Judgements of one cluster say much the same, so intervals count clusters, not judgements.",
        ),
        ("n", "How many judgements (or pairs of judgements, as the method says) a number rests on."),
        ("pp", "Percentage points: the difference of two shares."),
        ("Coefficient", "A number that is at most 1; 0 is what chance would give, unless its method says otherwise."),
        (
            "AUC",
            "The chance that a right item scores higher than a wrong one, ties counting half: the area under the ROC curve. One half is guessing, 1 a perfect order.",
        ),
        (
            "ICC",
            "Intraclass correlation: the part of the variance of scores that is due to the items. 1: repeated scores of an item are the same; 0: they are as far apart as those of different items.",
        ),
        (
            "AC1",
            "Gwet's coefficient of agreement beyond chance. Unlike kappa it does not fall to next to nothing where nearly all answers are the same.",
        ),
        (
            "Design effect",
            "By how much answers that go together enlarge the variance: with one of 3, 300 answers tell as much as 100 independent ones.",
        ),
        ("Baseline", "What a judge would score that does not look at the items."),
        ("Arm", "A named condition under which a judge was asked: a temperature, a prompt, a number of anchors."),
        ("Holm", "A correction of p values for asking many questions of the same data (Holm 1979)."),
        (
            "Further items",
            "How many more items of the same kind decide a limit with 80 % power, if the estimate is right. Looking again after each addition needs another method.",
        ),
    ];
    TERMS.into_iter().map(|(term, meaning)| Term { term, meaning }).collect()
}
