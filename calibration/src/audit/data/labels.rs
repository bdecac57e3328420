//! Labels: what is true of an item, read in the terms of the outcome, or made from people's ratings.

use std::collections::BTreeMap;

use crate::judgement::{Choice, OutcomeKind, Verdict};
use crate::log::{Answer, Log, NONE};
use crate::names::Names;
use crate::problem::{Problem, Problems, Severity};

use super::table::{ACCEPT, Subject, Truth, code, is};
use crate::audit::AuditConfig;

/// The labels of a log, by item and dimension.
pub(crate) struct Labels {
    /// Where labels came from, in words.
    pub source: &'static str,
    by_item: Vec<Truth>,
    by_unit: BTreeMap<(u32, u32), Truth>,
}

impl Labels {
    pub(crate) fn is_empty(&self) -> bool {
        self.by_item.is_empty() && self.by_unit.is_empty()
    }

    /// Returns the label of a unit: its dimension's own, else the item's.
    pub(crate) fn of(&self, item: u32, dimension: u32) -> Truth {
        let own = self.by_unit.get(&(item, dimension)).copied();
        own.or_else(|| self.by_item.get(item as usize).copied()).unwrap_or_default()
    }

    pub(crate) fn n_items(&self) -> u64 {
        let is_labelled = |truth: &Truth| truth.value.is_some() || truth.good.is_some();
        let whole = (0_u32..).zip(&self.by_item).filter(|(_, truth)| is_labelled(truth)).map(|(item, _)| item);
        let parts = self.by_unit.iter().filter(|(_, truth)| is_labelled(truth)).map(|((item, _), _)| *item);
        let mut items: Vec<u32> = whole.chain(parts).collect();
        items.sort_unstable();
        items.dedup();
        items.len() as u64
    }

    /// Reads the label column. A label stated with a dimension holds for that dimension only; one stated without, for those
    /// of the item's dimensions that have none of their own.
    pub(crate) fn read(
        log: &Log,
        kind: OutcomeKind,
        config: &AuditConfig,
        categories: &mut Vec<String>,
        problems: &mut Problems,
    ) -> Self {
        let mut labels = Self { source: "none", by_item: Vec::new(), by_unit: BTreeMap::new() };
        if log.label.is_empty() {
            return labels;
        }
        labels.source = "label";
        let words = read_words(log, kind, config, categories, problems);
        let mut conflicts = Conflicts { same_as: first_alike(&words), ..Conflicts::default() };
        let mut of_item = vec![NONE; log.items.len()];
        let mut of_unit: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        for (row_idx, &item) in log.item.iter().enumerate() {
            let known = match log.dimension.at(row_idx) {
                NONE => &mut of_item[item as usize],
                dimension => of_unit.entry((item, dimension)).or_insert(NONE),
            };
            conflicts.settle(known, log, row_idx);
        }
        // A label in conflict is none, and none of the item's takes its place.
        let truth = |id: u32| words.get(id as usize).copied().unwrap_or_default();
        labels.by_item = of_item.into_iter().map(truth).collect();
        let stated = of_unit.into_iter().filter(|(_, id)| *id != NONE);
        labels.by_unit = stated.map(|(unit, id)| (unit, truth(id))).collect();
        conflicts.report(log, problems);
        labels
    }

    /// Makes labels from people's ratings: the plurality (no label where it is tied), or the mean of scores.
    pub(crate) fn from_raters(
        raters: &[Subject],
        kind: OutcomeKind,
        config: &AuditConfig,
        problems: &mut Problems,
    ) -> Self {
        let mut ratings: BTreeMap<(u32, u32), Vec<f64>> = BTreeMap::new();
        for rater in raters {
            for unit in &rater.units {
                ratings.entry((unit.item, unit.dimension)).or_default().extend(rater.parsed_of(unit));
            }
        }
        let mut n_tied = 0;
        let (mut by_item, mut by_unit) = (Vec::new(), BTreeMap::new());
        for ((item, dimension), values) in ratings {
            let value = match kind {
                OutcomeKind::Score if values.is_empty() => None,
                OutcomeKind::Score => Some(values.iter().sum::<f64>() / values.len() as f64),
                _ => plurality(&values),
            };
            n_tied += u64::from(value.is_none() && !values.is_empty());
            let Some(truth) = value.map(|value| truth_of(value, kind, config, false)) else { continue };
            if dimension == NONE {
                let item = item as usize;
                by_item.resize(by_item.len().max(item + 1), Truth::default());
                by_item[item] = truth;
            } else {
                by_unit.insert((item, dimension), truth);
            }
        }
        if n_tied > 0 {
            let message = "items on which people's ratings tie have no label";
            problems.add(Problem::new(Severity::Note, "tied-raters", message).times(n_tied).in_column("rater"));
        }
        let source = if kind == OutcomeKind::Score { "raters (mean)" } else { "raters (plurality)" };
        Self { source, by_item, by_unit }
    }
}

/// Returns the commonest value, or `None` when there is none or it is tied.
pub(crate) fn plurality(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let mut best: Option<(usize, f64, bool)> = None;
    for run in sorted.chunk_by(|a, b| a.total_cmp(b).is_eq()) {
        best = Some(match best {
            Some((n, value, _)) if n > run.len() => (n, value, best.is_some_and(|best| best.2)),
            Some((n, value, _)) if n == run.len() => (n, value, true),
            _ => (run.len(), run[0], false),
        });
    }
    best.filter(|(_, _, tied)| !tied).map(|(_, value, _)| value)
}

/// Returns for each label the first that says the same: `1`, `1.0` and `accept` may be one.
fn first_alike(words: &[Truth]) -> Vec<u32> {
    let mut first = BTreeMap::new();
    (0_u32..)
        .zip(words)
        .map(|(id, truth)| match (truth.value, truth.good) {
            (None, None) => id,
            (value, good) => *first.entry((value.map(f64::to_bits), good)).or_insert(id),
        })
        .collect()
}

/// One label a unit; units that state two have none.
#[derive(Default)]
struct Conflicts {
    /// For each label the first that says the same.
    same_as: Vec<u32>,
    n: u64,
    first: Option<usize>,
}

/// The mark of a unit whose rows state different labels.
const CONFLICT: u32 = NONE - 1;

impl Conflicts {
    fn settle(&mut self, known: &mut u32, log: &Log, row_idx: usize) {
        let Some(&label) = self.same_as.get(log.label.at(row_idx) as usize) else { return };
        if *known == label || *known == CONFLICT {
            return;
        }
        if *known == NONE {
            *known = label;
        } else {
            *known = CONFLICT;
            self.n += 1;
            self.first.get_or_insert(row_idx);
        }
    }

    fn report(&self, log: &Log, problems: &mut Problems) {
        let Some(row_idx) = self.first else { return };
        let message = format!(
            "items carry two different labels and are taken as unlabelled (first: item {:?})",
            log.items.name(log.item[row_idx])
        );
        let problem = Problem::new(Severity::Error, "conflicting-labels", message);
        problems.add(log.locate(row_idx, problem.times(self.n).in_column("label")));
    }
}

/// Reads each distinct label once, in the outcome's terms.
fn read_words(
    log: &Log,
    kind: OutcomeKind,
    config: &AuditConfig,
    categories: &mut Vec<String>,
    problems: &mut Problems,
) -> Vec<Truth> {
    // With scores, labels that are all 0 or 1 say right or wrong, and so do −1 and 1 where no score is below 0; any other
    // number makes all of them scores.
    // There is one zero only.
    let number =
        |word: &str| word.trim().parse::<f64>().ok().filter(|number| number.is_finite()).map(|number| number + 0.0);
    let all_are =
        |bad: f64| log.labels.iter().all(|word| number(word).is_none_or(|value| is(value, bad) || is(value, 1.0)));
    let is_binary = kind == OutcomeKind::Score
        && config.good_at.is_none()
        && (all_are(0.0) || (all_are(-1.0) && !log.score.iter().any(|score| *score < 0.0)));
    let mut added = BTreeMap::new();
    let mut unknown: Vec<&str> = Vec::new();
    let truths: Vec<Truth> = log
        .labels
        .iter()
        .map(|word| {
            let value = match kind {
                OutcomeKind::Verdict => Verdict::parse(word).map(|verdict| code(Answer::Verdict(verdict))),
                OutcomeKind::Choice => choice_label(word).map(|choice| code(Answer::Choice(choice))),
                OutcomeKind::Category => Some(category_code(log, &mut added, categories, word)),
                OutcomeKind::Score => number(word),
            };
            if let Some(value) = value {
                return truth_of(value, kind, config, is_binary);
            }
            // A score may be held against labels that say right or wrong in words.
            if let (OutcomeKind::Score, Some(verdict)) = (kind, Verdict::parse(word)) {
                return Truth { value: None, good: Some(verdict == Verdict::Accept) };
            }
            unknown.push(word);
            Truth::default()
        })
        .collect();
    if !unknown.is_empty() {
        let shown: Vec<String> = unknown.iter().take(5).map(|word| format!("{word:?}")).collect();
        let message = format!(
            "labels that name no {} leave their items unlabelled: {}{}. Map them in the column map's label_values",
            kind.column(),
            shown.join(", "),
            if unknown.len() > 5 { ", …" } else { "" }
        );
        let is_unknown = |row_idx: &usize| {
            let id = log.label.at(*row_idx);
            id != NONE && unknown.contains(&log.labels.name(id))
        };
        let first = (0..log.len()).find(is_unknown).unwrap_or_default();
        let problem = Problem::new(Severity::Warning, "unknown-label", message);
        problems.add(log.locate(first, problem.times(unknown.len() as u64).in_column("label")));
    }
    if kind == OutcomeKind::Category && log.labels.iter().all(|word| log.categories.id(word).is_none()) {
        let some = |names: &Names| names.iter().take(5).map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
        let message = format!(
            "no label is a category that the judge ever answered (labels: {}; answers: {}), so that no answer can be right. \
             Map the labels in the column map's label_values",
            some(&log.labels),
            some(&log.categories)
        );
        problems.add(Problem::new(Severity::Warning, "labels-unlike-answers", message).in_column("label"));
    }
    truths
}

/// Reads a label of a choice: the words of a choice, or the candidate's number.
fn choice_label(word: &str) -> Option<Choice> {
    match word.trim() {
        "1" | "1.0" => Some(Choice::A),
        "2" | "2.0" => Some(Choice::B),
        word => Choice::parse(word),
    }
}

/// Returns the code of a category, giving one to a word that only labels use.
fn category_code(log: &Log, added: &mut BTreeMap<String, usize>, categories: &mut Vec<String>, word: &str) -> f64 {
    if let Some(id) = log.categories.id(word) {
        return f64::from(id);
    }
    let idx = *added.entry(word.to_owned()).or_insert_with(|| {
        categories.push(word.to_owned());
        categories.len() - 1
    });
    idx as f64
}

fn truth_of(value: f64, kind: OutcomeKind, config: &AuditConfig, is_binary: bool) -> Truth {
    match kind {
        OutcomeKind::Verdict => Truth { value: Some(value), good: Some(is(value, ACCEPT)) },
        OutcomeKind::Score if is_binary => Truth { value: None, good: Some(is(value, 1.0)) },
        OutcomeKind::Score => Truth { value: Some(value), good: config.good_at.map(|good_at| value >= good_at) },
        _ => Truth { value: Some(value), good: None },
    }
}
