//! Two judges, or two versions of one, on the same items: by how much they differ, and whether one may take the other's place.
//!
//! Measures that are means over units are compared unit by unit, all others by a jackknife that leaves the same items out of both. Items
//! that only one judged take no part and are counted.

mod config;
mod decide;
mod jackknife;
mod terms;

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::biases::generators_called;
use super::catalogue::{self, MEASURES};
use super::data::table::{Subject, Table, Unit};
use super::difference::{Difference, difference, shared_units, test};
use super::figures::figures;
use super::result::{COMPARE_SCHEMA, ComparedSide, MeasuredDifference, NotCompared, SideBySide, Source, Standing};
use super::{AuditConfig, BadSetting, count_distinct};
use crate::judgement::OutcomeKind;
use crate::log::{Log, NONE};
use crate::problem::Problems;

pub use config::CompareConfig;

/// One of two judges: a log, and who in it is meant.
#[derive(Debug)]
pub struct Side {
    /// The log. Both sides may be the same one.
    pub log: Log,
    /// A judge, an arm, or `judge:arm`. Absent: the only judge of the log.
    pub name: Option<String>,
}

/// Why two judges cannot be compared.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// A setting is out of its range.
    #[error(transparent)]
    Config(#[from] BadSetting),
    /// A log holds no judgements.
    #[error("{0} holds no judgements")]
    Empty(char),
    /// A log holds several judges and none is named.
    #[error("{side} holds {n} judges, and which one is meant is not said; it has: {has}")]
    Several {
        /// `A` or `B`.
        side: char,
        /// How many.
        n: usize,
        /// Their names.
        has: String,
    },
    /// No judge or arm of a log has this name.
    #[error("{side} has no judge and no arm named {name:?}; it has: {has}")]
    Unknown {
        /// `A` or `B`.
        side: char,
        /// The name.
        name: String,
        /// Those it has.
        has: String,
    },
    /// A name stands for several.
    #[error("{name:?} is {n} in {side}; name one of them: {has}")]
    Ambiguous {
        /// `A` or `B`.
        side: char,
        /// The name.
        name: String,
        /// How many it stands for.
        n: usize,
        /// Their names.
        has: String,
    },
    /// Both sides are the same judge of the same log.
    #[error("both are {0:?}: there is nothing to compare")]
    Same(String),
    /// The judges answer in different terms.
    #[error("A answers with {0} and B with {1}: answers of one kind can be compared, such as both with verdicts")]
    Kinds(String, String),
    /// Scores reach so differently far that they are not of one scale.
    #[error("A's scores go from {} to {} and B's from {} to {}: they hardly share a scale", .a[0], .a[1], .b[0], .b[1])]
    Scales {
        /// A's lowest and highest.
        a: [f64; 2],
        /// B's.
        b: [f64; 2],
    },
    /// The items are the same, the dimensions are not.
    #[error("the two judge the same items under different dimensions: A under {0}, B under {1}")]
    Dimensions(String, String),
    /// No item was judged by both.
    #[error("no item was judged by both: of A's {0} items and B's {1} none has the same name")]
    NothingShared(u64, u64),
    /// Items were judged by both, but no question was put to both in the same way, which only a sentinel asks for.
    #[error(
        "{0} items were judged both times, and none in the same condition: their order, place or set of anchors differ (or one has more than 65,535 different answers)"
    )]
    NothingAlike(u64),
}

/// Where the two judges stand.
#[derive(Debug)]
pub enum Sides {
    /// Each in its own log.
    Apart(Box<Side>, Box<Side>),
    /// Both in one log, by name.
    Together(Box<Log>, String, String),
}

/// Marks the judges of the two logs, which may be called alike, until they are told apart.
const MARKS: [char; 2] = ['A', 'B'];
/// The most names that an error lists.
const MOST_NAMES: usize = 12;

/// Compares two judges on the items both judged. Differences are B less A.
///
/// The result depends on the arguments alone; rows in another order, or more threads, change nothing. Exchanging the sides
/// exchanges the signs of all differences. Where the judgements came from and the version of the tool are the caller's to fill in.
///
/// # Errors
/// Returns an error when a side is not one judge, when nothing is shared, or when a setting is out of range.
pub fn compare_sides(sides: Sides, config: &AuditConfig, compare: &CompareConfig) -> Result<SideBySide, CompareError> {
    config.check()?;
    compare.check()?;
    with_pair(sides, config, |table, pair, described, problems| {
        result(table, pair, described, config, compare, problems)
    })
}

/// Finds the two judges meant and hands them over, in one table, with what there is of each.
pub(super) fn with_pair<T>(
    sides: Sides,
    config: &AuditConfig,
    then: impl FnOnce(&Table<'_>, [&Subject; 2], [ComparedSide; 2], Problems) -> Result<T, CompareError>,
) -> Result<T, CompareError> {
    let is_together = matches!(sides, Sides::Together(..));
    let (log, names) = match sides {
        Sides::Apart(a, b) => {
            let (Side { mut log, name: a }, Side { log: mut other, name: b }) = (*a, *b);
            for (log, side) in [(&log, 'A'), (&other, 'B')] {
                if log.is_empty() {
                    return Err(CompareError::Empty(side));
                }
            }
            log.rename_judges(|name| format!("{}{name}", MARKS[0]));
            other.rename_judges(|name| format!("{}{name}", MARKS[1]));
            log.append(&mut other);
            (log, [a, b])
        }
        Sides::Together(log, a, b) if !log.is_empty() => (*log, [Some(a), Some(b)]),
        Sides::Together(..) => return Err(CompareError::Empty('A')),
    };
    let named = match super::anchors::told_apart(&log) {
        Cow::Owned(named) => Some(named),
        Cow::Borrowed(_) => None,
    };
    let log = named.unwrap_or(log);
    let candidates = |side: usize| -> Vec<(u32, u32)> {
        let (mut found, mut last) = (Vec::new(), None);
        for row_idx in 0..log.len() {
            let (judge, arm) = (log.judge.at(row_idx), log.arm.at(row_idx));
            if last.replace((judge, arm)) == Some((judge, arm)) && log.rater.is_empty() {
                continue;
            }
            let is_mine = is_together || (judge != NONE && log.judges.name(judge).starts_with(MARKS[side]));
            if log.rater.at(row_idx) == NONE && is_mine && !found.contains(&(judge, arm)) {
                found.push((judge, arm));
            }
        }
        found
    };
    let of_judge = |judge: u32| match judge {
        NONE => "",
        id if is_together => log.judges.name(id),
        id => &log.judges.name(id)[1..],
    };
    let of_arm = |arm: u32| if arm == NONE { "" } else { log.arms.name(arm) };
    let chosen = [0, 1].map(|side| {
        let all: Vec<Candidate<'_>> =
            candidates(side).into_iter().map(|id| Candidate { id, judge: of_judge(id.0), arm: of_arm(id.1) }).collect();
        choose(MARKS[side], &all, names[side].as_deref())
    });
    let [a, b] = chosen;
    let (a, b) = (a?, b?);
    if a.id == b.id {
        return Err(CompareError::Same(a.full()));
    }
    let names = told_apart(&a, &b);
    let kind = kind_of_both(&log, [a.id, b.id], config)?;
    let mut problems = Problems::default();
    let own_config = AuditConfig { own_generators: own_generators(&log, is_together, config), ..config.clone() };
    let mut table = Table::new(&log, kind, &own_config, &mut problems);
    table.subjects.retain(|subject| [a.id, b.id].contains(&(subject.judge, subject.arm)));
    super::settings::report(&table, config, &mut problems);
    let subject = |id: (u32, u32)| table.subjects.iter().find(|subject| (subject.judge, subject.arm) == id);
    let (Some(first), Some(second)) = (subject(a.id), subject(b.id)) else {
        // Every row of one contradicts another.
        return Err(CompareError::NothingShared(0, 0));
    };
    let pair = [first, second];
    let described = [0, 1].map(|side| {
        let candidate = [&a, &b][side];
        ComparedSide {
            name: names[side].clone(),
            judge: candidate.judge.to_owned(),
            arm: (candidate.id.1 != NONE).then(|| candidate.arm.to_owned()),
            ..described(&log, pair[side], pair[1 - side])
        }
    });
    then(&table, pair, described, problems)
}

/// Returns the generators that are a judge's own model, by the names judges have in the log of both.
fn own_generators(log: &Log, is_together: bool, config: &AuditConfig) -> BTreeMap<String, Vec<String>> {
    if is_together {
        return config.own_generators.clone();
    }
    let of_judge = |marked: &str| {
        // Without its mark.
        let name = &marked[1..];
        let own = config.own_generators.get(name).cloned();
        (marked.to_owned(), own.unwrap_or_else(|| generators_called(log, name)))
    };
    log.judges.iter().filter(|marked| marked.starts_with(MARKS)).map(of_judge).collect()
}

/// Someone who judges in a log.
#[derive(Clone, Copy)]
struct Candidate<'a> {
    id: (u32, u32),
    judge: &'a str,
    arm: &'a str,
}

impl Candidate<'_> {
    fn full(&self) -> String {
        if self.arm.is_empty() { self.judge.to_owned() } else { format!("{}:{}", self.judge, self.arm) }
    }
}

fn choose<'a>(side: char, all: &[Candidate<'a>], name: Option<&str>) -> Result<Candidate<'a>, CompareError> {
    let listed = |some: &[Candidate<'_>]| {
        let names: Vec<String> = some.iter().take(MOST_NAMES).map(Candidate::full).collect();
        format!("{}{}", names.join(", "), if some.len() > MOST_NAMES { ", …" } else { "" })
    };
    let Some(name) = name else {
        return match all {
            [] => Err(CompareError::Empty(side)),
            [only] => Ok(*only),
            several => Err(CompareError::Several { side, n: several.len(), has: listed(several) }),
        };
    };
    let matching = |is_meant: &dyn Fn(&Candidate<'_>) -> bool| -> Vec<Candidate<'a>> {
        all.iter().filter(|candidate| is_meant(candidate)).copied().collect()
    };
    // The full name first: a judge may be called as an arm is.
    for found in [
        matching(&|candidate| candidate.full() == name),
        matching(&|candidate| candidate.judge == name),
        matching(&|candidate| candidate.arm == name),
    ] {
        match found.as_slice() {
            [] => {}
            [only] => return Ok(*only),
            several => {
                let (name, n, has) = (name.to_owned(), several.len(), listed(several));
                return Err(CompareError::Ambiguous { side, name, n, has });
            }
        }
    }
    Err(CompareError::Unknown { side, name: name.to_owned(), has: listed(all) })
}

/// Returns what the two are called: what tells them apart, else their letters with it.
fn told_apart(a: &Candidate<'_>, b: &Candidate<'_>) -> [String; 2] {
    let names = if a.judge != b.judge && a.arm == b.arm {
        [a.judge.to_owned(), b.judge.to_owned()]
    } else if a.judge == b.judge && a.arm != b.arm && !a.arm.is_empty() && !b.arm.is_empty() {
        [a.arm.to_owned(), b.arm.to_owned()]
    } else {
        [a.full(), b.full()]
    };
    if names[0] != names[1] {
        return names;
    }
    [0, 1].map(|side| {
        if names[side].is_empty() { MARKS[side].to_string() } else { format!("{} ({})", names[side], MARKS[side]) }
    })
}

/// Returns the kind of answer that both give: the one asked for, else the first of the usual order.
fn kind_of_both(log: &Log, ids: [(u32, u32); 2], config: &AuditConfig) -> Result<OutcomeKind, CompareError> {
    const PREFERENCE: [OutcomeKind; 4] =
        [OutcomeKind::Choice, OutcomeKind::Verdict, OutcomeKind::Score, OutcomeKind::Category];
    let mut has = [[false; 4]; 2];
    for row_idx in 0..log.len() {
        if log.rater.at(row_idx) != NONE {
            continue;
        }
        let id = (log.judge.at(row_idx), log.arm.at(row_idx));
        let Some(side) = ids.iter().position(|known| *known == id) else { continue };
        for (known, kind) in has[side].iter_mut().zip(PREFERENCE) {
            *known = *known || log.answer(row_idx, kind).is_some();
        }
    }
    let is_meant = |kind: OutcomeKind| config.outcome.is_none_or(|asked| asked == kind);
    let shared = PREFERENCE.into_iter().enumerate().find(|(idx, kind)| has[0][*idx] && has[1][*idx] && is_meant(*kind));
    shared.map(|(_, kind)| kind).ok_or_else(|| {
        let [a, b] = has.map(|has| {
            let kinds: Vec<&str> =
                PREFERENCE.into_iter().zip(has).filter(|(_, has)| *has).map(|(kind, _)| kind.column()).collect();
            if kinds.is_empty() { "nothing that could be read".to_owned() } else { kinds.join(", ") }
        });
        CompareError::Kinds(a, b)
    })
}

/// Returns what there is of one side, its names aside.
fn described(log: &Log, subject: &Subject, other: &Subject) -> ComparedSide {
    let items = |subject: &Subject| {
        let mut items: Vec<u32> = subject.units.iter().map(|unit| unit.item).collect();
        items.sort_unstable();
        items.dedup();
        items
    };
    let (own, others) = (items(subject), items(other));
    let n_items_only_here = own.iter().filter(|item| others.binary_search(item).is_err()).count() as u64;
    ComparedSide {
        n_judgements: subject.draws.len() as u64,
        n_unparsed: subject.n_unparsed,
        n_items: own.len() as u64,
        n_items_only_here,
        asked_ms: super::drift::asked(log, subject),
        source: Source::default(),
        ..ComparedSide::default()
    }
}

fn result(
    table: &Table<'_>,
    pair: [&Subject; 2],
    [a, b]: [ComparedSide; 2],
    config: &AuditConfig,
    compare: &CompareConfig,
    problems: Problems,
) -> Result<SideBySide, CompareError> {
    let shared = shared_units(pair[0], pair[1]);
    if shared.is_empty() {
        return Err(terms::nothing_shared(table, pair, [a.n_items, b.n_items]));
    }
    let of_scales = terms::scales(table, pair, &shared, config)?;
    let found = all_differences(table, pair, &shared, config);
    let primary = primary(&found.differences, table.kind, compare);
    let decided = decide::decide(table, &found.differences, &primary, config, compare);
    let names = [a.name.clone(), b.name.clone()];
    let mut notes = notes(&a, &b, &found.differences, &primary, compare);
    notes.extend(of_scales);
    notes.extend(terms::notes(table, pair, &shared));
    let is_labelled = |unit: &&Unit| unit.truth.value.is_some() || unit.truth.good.is_some();
    Ok(SideBySide {
        schema: COMPARE_SCHEMA.to_owned(),
        version: String::new(),
        config: config.clone(),
        compare: compare.clone(),
        outcome: table.kind,
        n_items: count_distinct(shared.iter().map(|(unit, _)| unit.item)),
        n_clusters: count_distinct(shared.iter().map(|(unit, _)| unit.cluster)),
        n_labelled: count_distinct(shared.iter().map(|(unit, _)| *unit).filter(is_labelled).map(|unit| unit.item)),
        standing: decided.standing,
        why: decided.why,
        is_not_worse: decided.is_not_worse,
        further_items: decided.further_items,
        correction: decided.correction,
        margins: decided.margins,
        measures: decided.measures,
        not_compared: found.not_compared,
        agreement: super::crowd::panel::agreement_of_two(table, config, pair, &names),
        notes,
        problems: problems.into_vec(),
        a,
        b,
    })
}

/// The differences of two by all that both have.
struct Found {
    differences: BTreeMap<&'static str, Difference>,
    not_compared: Vec<NotCompared>,
}

/// Measures that are not compared, and why.
const NOT_COMPARABLE: [(&str, &str); 6] = [
    (
        "within_item_range_max",
        "it is the extreme of a sample; compare the difference of two draws, or what moved over one point",
    ),
    (
        "ece",
        "it is above 0 by chance alone, by how much depends on what is to be compared; compare the Brier score, the log loss or the overconfidence",
    ),
    (
        "ece_excess",
        "its distribution near 0 depends on what is to be compared; compare the Brier score, the log loss or the overconfidence",
    ),
    ("people_agreement", "it describes people, not the judges; compare the agreement with people"),
    ("people_distance", "it describes people, not the judges; compare the distance to people"),
    ("winning_rate", "it is a count of tests won, which jumps; compare the advantage probability"),
];

fn all_differences(table: &Table<'_>, pair: [&Subject; 2], shared: &[(&Unit, &Unit)], config: &AuditConfig) -> Found {
    let mut differences: BTreeMap<&'static str, Difference> = BTreeMap::new();
    let figures = figures(table, config);
    for figure in &figures {
        if let Some(found) = difference(table, figure, pair, shared) {
            differences.insert(figure.id, found);
        }
    }
    let units = [
        shared.iter().map(|(unit, _)| (*unit).clone()).collect(),
        shared.iter().map(|(_, unit)| (*unit).clone()).collect(),
    ];
    let is_left = |id: &str| {
        !figures.iter().any(|figure| figure.id == id) && !NOT_COMPARABLE.iter().any(|(other, _)| *other == id)
    };
    let both = jackknife::differences(table, pair, &units, config, is_left);
    for (id, found) in both.differences {
        let (p_value, test) = test(&found.difference);
        let (p_value, test) = match found.difference.spread {
            crate::interval::Spread::None => (None, "none: there is no interval"),
            _ => (p_value, if test.starts_with("paired t") { "t of the paired jackknife" } else { test }),
        };
        let difference = Difference { means: found.values, estimated: found.difference, bounds: None, p_value, test };
        differences.insert(id, difference);
    }
    let mut not_compared = Vec::new();
    for info in MEASURES.iter().filter(|info| !differences.contains_key(info.id)) {
        let has = [0, 1].map(|side| both.measured[side].values.get(info.id));
        let lacking = [0, 1].map(|side| both.measured[side].unmeasured.iter().find(|one| one.id == info.id));
        let reason = match (has, lacking) {
            ([Some(_), Some(_)], _) => match NOT_COMPARABLE.iter().find(|(id, _)| *id == info.id) {
                Some((_, reason)) => (*reason).to_owned(),
                None => {
                    "the two are stated at different numbers of repeats, held against different things (labels, other judges), or on \
                     no item that both can be measured on"
                        .to_owned()
                }
            },
            ([Some(_), None], [_, Some(why)]) => format!("B has none: {}", why.reason),
            ([None, Some(_)], [Some(why), _]) => format!("A has none: {}", why.reason),
            ([Some(_), None], _) => "B has none".to_owned(),
            ([None, Some(_)], _) => "A has none".to_owned(),
            // Neither can be measured by it: there is nothing to say that an audit would not.
            _ => continue,
        };
        not_compared.push(NotCompared { measure: info.id.to_owned(), reason });
    }
    Found { differences, not_compared }
}

/// Returns the measures that the decision rests on.
fn primary(found: &BTreeMap<&'static str, Difference>, kind: OutcomeKind, compare: &CompareConfig) -> Vec<String> {
    if !compare.primary.is_empty() {
        let mut asked: Vec<String> = Vec::new();
        for id in &compare.primary {
            if !asked.contains(id) {
                asked.push(id.clone());
            }
        }
        return asked;
    }
    const BY_TRUTH: [&[&str]; 4] =
        [&["false_accept_rate", "false_reject_rate"], &["accuracy"], &["auc"], &["mean_absolute_error"]];
    let has_all = |ids: &&&[&str]| ids.iter().all(|id| found.contains_key(id));
    let without_truth: &[&str] =
        if kind == OutcomeKind::Choice { &["flip_rate", "swap_consistency"] } else { &["flip_rate"] };
    let chosen = BY_TRUTH.iter().find(has_all).copied().unwrap_or(without_truth);
    chosen.iter().filter(|id| found.contains_key(*id)).map(|id| (*id).to_owned()).collect()
}

/// What a reader must know before believing the comparison.
fn notes(
    a: &ComparedSide,
    b: &ComparedSide,
    found: &BTreeMap<&'static str, Difference>,
    primary: &[String],
    compare: &CompareConfig,
) -> Vec<String> {
    let mut notes = Vec::new();
    let only: Vec<String> = [(a, "A"), (b, "B")]
        .into_iter()
        .filter(|(side, _)| side.n_items_only_here > 0)
        .map(|(side, letter)| format!("{} of {}'s {} items", side.n_items_only_here, letter, side.n_items))
        .collect();
    if !only.is_empty() {
        notes.push(format!(
            "Left out, because the other did not judge them: {}. What is said holds for the items both judged.",
            only.join(" and ")
        ));
    }
    let title = |id: &str| catalogue::info(id).map_or_else(|| id.to_owned(), |info| info.title.to_lowercase());
    let missing: Vec<String> =
        primary.iter().filter(|id| !found.contains_key(id.as_str())).map(|id| title(id)).collect();
    if !missing.is_empty() {
        notes.push(format!("The decision was to rest on what could not be compared: {}.", missing.join(", ")));
    }
    let rests_on_truth =
        primary.iter().any(|id| catalogue::info(id).is_some_and(|info| info.family == catalogue::Family::Truth));
    if !rests_on_truth && compare.primary.is_empty() {
        notes.push(
            "Without labels nothing says which of the two is right: a judge that always gives the same answer is the most \
             stable."
                .to_owned(),
        );
    }
    if let (Some([first_a, last_a]), Some([first_b, last_b])) = (a.asked_ms, b.asked_ms)
        && (last_a < first_b || last_b < first_a)
    {
        notes.push(
            "The two were asked at times that do not overlap: whatever changed in between (the model behind the name, its \
             load, the prompt) is part of the difference."
                .to_owned(),
        );
    }
    notes
}
