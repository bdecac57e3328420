//! The log rearranged for measuring: subjects (a judge under an arm), their units (item × dimension), and the cells
//! (unit × order × place) within which noise is measured.
//!
//! Here rows become draws: duplicates are collapsed, labels read in the outcome's terms, items gathered into clusters.
//! Nothing is estimated.

use std::collections::BTreeMap;
use std::ops::Range;

use rayon::prelude::*;

use crate::judgement::{Choice, Order, OutcomeKind, Verdict};
use crate::log::{Answer, Log, NONE, number};
use crate::problem::{Problem, Problems, Severity};

use super::clusters::{Clusters, GROUP};
use crate::audit::AuditConfig;

/// The code of an accepting verdict, of candidate A, and so on: answers of every kind as numbers.
pub(crate) const REJECT: f64 = 0.0;
pub(crate) const ACCEPT: f64 = 1.0;
pub(crate) const CHOICE_A: f64 = 0.0;
pub(crate) const CHOICE_B: f64 = 1.0;
pub(crate) const CHOICE_TIE: f64 = 2.0;

/// Returns whether two codes are the same. Codes are compared, never computed with, so that equality is exact.
#[inline]
pub(crate) fn is(a: f64, b: f64) -> bool {
    a.total_cmp(&b).is_eq()
}

/// Returns the number that stands for an answer.
#[inline]
pub(crate) fn code(answer: Answer) -> f64 {
    match answer {
        // There is one zero only.
        Answer::Score(score) => score + 0.0,
        Answer::Verdict(Verdict::Reject) => REJECT,
        Answer::Verdict(Verdict::Accept) => ACCEPT,
        Answer::Choice(Choice::A) => CHOICE_A,
        Answer::Choice(Choice::B) => CHOICE_B,
        Answer::Choice(Choice::Tie) => CHOICE_TIE,
        Answer::Category(id) => f64::from(id),
    }
}

/// What is true of a unit, as the outcome's number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Truth {
    /// The label in the outcome's terms (for scores: a score).
    pub value: Option<f64>,
    /// Whether the item is right, where labels say so of it.
    pub good: Option<bool>,
}

/// One item under one dimension.
#[derive(Clone, Debug)]
pub(crate) struct Unit {
    pub item: u32,
    pub dimension: u32,
    pub cluster: u32,
    pub truth: Truth,
    /// How much its item counts; 1 where the log states no weights.
    pub weight: f64,
    /// Its cells, in the subject's list.
    pub cells: Range<usize>,
}

impl Unit {
    /// Returns what units are sorted by. Those of a cluster follow one another, and of it those of an item.
    #[inline]
    pub(crate) fn place(&self) -> (u32, u32, u32) {
        (self.cluster, self.item, self.dimension.wrapping_add(1))
    }
}

/// The draws of one unit in one order and at one place.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub order: Option<Order>,
    pub place: u32,
    /// The set of anchors its answers were given under; [`NONE`] where none is named. Cells of one set follow one another.
    pub anchor_set: u32,
    /// Its draws, in the subject's list, in order of repeats; NaN is unparsed.
    pub draws: Range<usize>,
    pub n_unparsed: usize,
}

impl Cell {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.draws.len()
    }

    #[inline]
    pub(crate) fn n_parsed(&self) -> usize {
        self.draws.len() - self.n_unparsed
    }
}

/// One judge under one arm.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    pub judge: u32,
    pub arm: u32,
    /// In order of clusters, items and dimensions: see [`Unit::place`].
    pub units: Vec<Unit>,
    pub cells: Vec<Cell>,
    pub draws: Vec<f64>,
    /// The repeat number of each draw.
    pub repeats: Vec<u32>,
    /// The log's row of each draw.
    pub rows: Vec<u32>,
    pub n_unparsed: u64,
}

impl Subject {
    /// Returns the parsed draws of a cell.
    #[inline]
    pub(crate) fn parsed(&self, cell: &Cell) -> impl Iterator<Item = f64> + Clone + '_ {
        self.draws[cell.draws.clone()].iter().copied().filter(|draw| !draw.is_nan())
    }

    #[inline]
    pub(crate) fn cells_of(&self, unit: &Unit) -> &[Cell] {
        &self.cells[unit.cells.clone()]
    }

    /// Returns the parsed draws of a unit, over all its cells.
    #[inline]
    pub(crate) fn parsed_of(&self, unit: &Unit) -> impl Iterator<Item = f64> + Clone + '_ {
        self.cells_of(unit).iter().flat_map(|cell| self.parsed(cell))
    }
}

/// The whole log, rearranged.
pub(crate) struct Table<'a> {
    pub log: &'a Log,
    pub kind: OutcomeKind,
    pub subjects: Vec<Subject>,
    /// Ratings of people, one subject a rater (`judge` is the rater's id).
    pub raters: Vec<Subject>,
    /// Names of categories, labels included, when the outcome is a category.
    pub categories: Vec<String>,
    pub n_clusters: usize,
    pub n_groups: usize,
    pub n_duplicates: u64,
    pub n_conflicts: u64,
    pub label_source: &'static str,
    pub n_labelled_items: u64,
    pub scale: Option<[f64; 2]>,
    scale_is_declared: bool,
    /// log₂ of the length of each item, or of the ratio of its candidates'; empty where not stated.
    pub lengths: Vec<f64>,
    /// Marks of style of each item, or by how much candidate A has more of them than B.
    pub styles: Vec<crate::audit::biases::StyleColumn>,
    /// Who made the items.
    pub makers: crate::audit::biases::Makers,
    /// Whether items have weights.
    pub is_weighted: bool,
    /// The name of each cluster: the group's, else the item's.
    pub cluster_is_group: bool,
    cluster_names: Vec<u32>,
}

impl<'a> Table<'a> {
    /// Rearranges `log` for the outcome `kind`; what is wrong with it goes to `problems`.
    pub(crate) fn new(log: &'a Log, kind: OutcomeKind, config: &AuditConfig, problems: &mut Problems) -> Self {
        let clusters = Clusters::new(log, problems);
        let anchored = crate::audit::anchors::anchored(log, &clusters, config, problems);
        let mut categories: Vec<String> = log.categories.iter().map(str::to_owned).collect();
        let mut label_problems = Problems::default();
        let ((mut subjects, mut raters, duplicates), mut labels) = rayon::join(
            || arranged(log, kind, &clusters.of_item, &anchored),
            || super::labels::Labels::read(log, kind, config, &mut categories, &mut label_problems),
        );
        duplicates.report(log, problems);
        problems.append(label_problems);
        let weights = super::weights::of_items(log, problems);
        let is_weighted = !weights.is_empty();
        let scale = config.scale.or_else(|| observed_scale(log, kind));
        if labels.is_empty() && !raters.is_empty() {
            labels = super::labels::Labels::from_raters(&raters, kind, config, problems);
        }
        for subject in subjects.iter_mut().chain(&mut raters) {
            for unit in &mut subject.units {
                unit.truth = labels.of(unit.item, unit.dimension);
            }
            if is_weighted {
                subject.units.iter_mut().for_each(|unit| unit.weight = weights[unit.item as usize]);
            }
        }
        let makers = crate::audit::biases::Makers::new(log, kind, &subjects, config);
        Self {
            log,
            kind,
            subjects,
            raters,
            categories,
            n_clusters: clusters.names.len(),
            n_groups: log.groups.len(),
            n_duplicates: duplicates.n_identical,
            n_conflicts: duplicates.n_conflicts,
            label_source: labels.source,
            n_labelled_items: labels.n_items(),
            scale,
            scale_is_declared: config.scale.is_some(),
            lengths: crate::audit::biases::lengths(log, kind),
            styles: crate::audit::biases::styles(log, kind),
            makers,
            is_weighted,
            cluster_is_group: !log.group.is_empty(),
            cluster_names: clusters.names,
        }
    }

    /// Returns what measuring needs of the table, for answers drawn afresh in so many clusters. It has no judges of its own.
    pub(crate) fn for_redraws(&self, n_clusters: usize) -> Self {
        Self {
            log: self.log,
            kind: self.kind,
            subjects: Vec::new(),
            raters: Vec::new(),
            categories: self.categories.clone(),
            n_clusters,
            n_groups: self.n_groups,
            n_duplicates: 0,
            n_conflicts: 0,
            label_source: self.label_source,
            n_labelled_items: self.n_labelled_items,
            scale: self.scale,
            scale_is_declared: self.scale_is_declared,
            lengths: Vec::new(),
            styles: Vec::new(),
            makers: crate::audit::biases::Makers::default(),
            is_weighted: self.is_weighted,
            cluster_is_group: self.cluster_is_group,
            cluster_names: Vec::new(),
        }
    }

    /// Returns the width of the score's scale: as declared, or as seen where enough was seen to trust it.
    pub(crate) fn trusted_width(&self) -> Option<f64> {
        const ENOUGH_CLUSTERS: usize = 30;
        let is_trusted = self.scale_is_declared || self.n_clusters >= ENOUGH_CLUSTERS;
        self.scale.map(|[low, high]| high - low).filter(|width| is_trusted && *width > 0.0)
    }

    /// Returns the scores that could have been given: the whole numbers of the declared scale where those seen are such, else those
    /// seen, which are ascending.
    pub(crate) fn levels(&self, seen: Vec<f64>) -> Vec<f64> {
        const MOST: f64 = 1_000.0;
        let Some([low, high]) = self.scale.filter(|_| self.scale_is_declared) else { return seen };
        let is_whole = |value: &f64| is(value.fract().abs(), 0.0) && (low..=high).contains(value);
        if high - low > MOST || ![low, high].iter().chain(&seen).all(is_whole) {
            return seen;
        }
        let mut levels = vec![low];
        while levels.last().is_some_and(|last| *last < high) {
            levels.push(low + levels.len() as f64);
        }
        levels
    }

    /// Returns the name of a cluster; clusters drawn afresh have none.
    pub(crate) fn cluster_name(&self, cluster: u32) -> &str {
        let Some(&name) = self.cluster_names.get(cluster as usize) else { return "" };
        // Names of groups and of items share one list: groups are stored with the high bit set.
        if name & GROUP == 0 { self.log.items.name(name) } else { self.log.groups.name(name & !GROUP) }
    }

    /// Returns the name of an answer's code.
    pub(crate) fn answer_name(&self, code: f64) -> String {
        if code.is_nan() {
            return "unparsed".to_owned();
        }
        match self.kind {
            OutcomeKind::Score => format!("{code}"),
            OutcomeKind::Verdict => if is(code, ACCEPT) { "accept" } else { "reject" }.to_owned(),
            OutcomeKind::Choice => {
                if is(code, CHOICE_A) {
                    "a"
                } else if is(code, CHOICE_B) {
                    "b"
                } else {
                    "tie"
                }
            }
            .to_owned(),
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "codes of categories are small ids"
            )]
            OutcomeKind::Category => self.categories[code as usize].clone(),
        }
    }
}

/// The first number of repeats that have none, in a cell where others have.
const BESIDE_NUMBERED: u32 = 1 << 31;

/// What rows are sorted by. The row's own number comes last, so that repeats without a number keep the file's order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    cluster: u32,
    item: u32,
    /// 0 is "none"; ids are one more.
    dimension: u32,
    /// 0 is "none"; ids are one more.
    anchor_set: u32,
    order: u8,
    place: u32,
    /// [`NONE`], which comes last, where not stated.
    repeat: u32,
    row: u32,
}

impl Key {
    #[inline]
    fn of(log: &Log, cluster_of: &[u32], row: u32) -> Self {
        let row_idx = row as usize;
        let item = log.item[row_idx];
        Self {
            cluster: cluster_of[item as usize],
            item,
            dimension: log.dimension.at(row_idx).wrapping_add(1),
            anchor_set: crate::audit::anchors::set_of(log, row_idx).wrapping_add(1),
            order: log.order(row_idx).map_or(0, |order| 1 + order as u8),
            place: log.place.at(row_idx),
            repeat: log.repeat.at(row_idx),
            row,
        }
    }

    /// Returns what the rows of one cell share.
    #[inline]
    fn cell(&self) -> (u32, u32, u32, u8, u32) {
        (self.item, self.dimension, self.anchor_set, self.order, self.place)
    }
}

/// Judge and arm (or rater and none), and the rows.
type RowsOfSubject = ((u32, u32), Vec<u32>);

/// Splits rows by judge and arm, and by rater, each in order of first sight.
///
/// Judgements of clusters that are `anchored`, under the anchors in question, are left out.
fn by_subject(log: &Log, cluster_of: &[u32], anchored: &[bool]) -> (Vec<RowsOfSubject>, Vec<RowsOfSubject>) {
    let n_rows = u32::try_from(log.len()).expect("a log has fewer than 2^32 rows");
    if log.judges.len() <= 1 && log.arms.is_empty() && log.raters.is_empty() && anchored.is_empty() {
        // The usual log.
        return (vec![((log.judge.at(0), NONE), (0..n_rows).collect())], Vec::new());
    }
    let (mut judged, mut rated): (Vec<RowsOfSubject>, Vec<RowsOfSubject>) = (Vec::new(), Vec::new());
    let mut index: BTreeMap<(bool, u32, u32), usize> = BTreeMap::new();
    let mut last = None;
    for row in 0..n_rows {
        let row_idx = row as usize;
        let rater = log.rater.at(row_idx);
        let is_rating = rater != NONE;
        let is_anchor = || anchored[cluster_of[log.item[row_idx] as usize] as usize];
        if !anchored.is_empty() && !is_rating && is_anchor() && crate::audit::anchors::is_under_fixed(log, row_idx) {
            continue;
        }
        let (who, arm) = if is_rating { (rater, NONE) } else { (log.judge.at(row_idx), log.arm.at(row_idx)) };
        let list = if is_rating { &mut rated } else { &mut judged };
        let here = (is_rating, who, arm);
        let idx = match last {
            Some((there, idx)) if there == here => idx,
            _ => *index.entry(here).or_insert_with(|| {
                list.push(((who, arm), Vec::new()));
                list.len() - 1
            }),
        };
        last = Some((here, idx));
        list[idx].1.push(row);
    }
    (judged, rated)
}

/// Returns the judges under their arms, the raters, and what was said twice.
fn arranged(
    log: &Log,
    kind: OutcomeKind,
    cluster_of: &[u32],
    anchored: &[bool],
) -> (Vec<Subject>, Vec<Subject>, Duplicates) {
    let (judged, rated) = by_subject(log, cluster_of, anchored);
    let arrange = |subjects: Vec<RowsOfSubject>| {
        let arranged: Vec<(Subject, Duplicates)> = subjects
            .into_par_iter()
            .map(|((judge, arm), rows)| arrange_subject(log, kind, &sorted(log, cluster_of, rows), judge, arm))
            .collect();
        let mut duplicates = Duplicates::default();
        let gather = |(subject, of_subject)| {
            duplicates.append(&of_subject);
            subject
        };
        (arranged.into_iter().map(gather).collect::<Vec<_>>(), duplicates)
    };
    let (judged, mut duplicates) = arrange(judged);
    let (rated, of_raters) = arrange(rated);
    // A person's rating stands in every row of its item where it is a column: said again, it is nothing to warn of.
    duplicates.append(&Duplicates { n_identical: 0, first_identical: None, ..of_raters });
    (judged, rated, duplicates)
}

/// Returns the keys of one subject's rows, sorted.
fn sorted(log: &Log, cluster_of: &[u32], rows: Vec<u32>) -> Vec<Key> {
    let mut keys: Vec<Key> = rows.into_par_iter().map(|row| Key::of(log, cluster_of, row)).collect();
    if !keys.is_sorted() {
        keys.sort_unstable();
    }
    keys
}

#[derive(Default)]
struct Duplicates {
    n_identical: u64,
    n_conflicts: u64,
    /// The row of the first one.
    first_identical: Option<usize>,
    first_conflict: Option<usize>,
}

impl Duplicates {
    fn append(&mut self, next: &Self) {
        self.n_identical += next.n_identical;
        self.n_conflicts += next.n_conflicts;
        self.first_identical = self.first_identical.or(next.first_identical);
        self.first_conflict = self.first_conflict.or(next.first_conflict);
    }

    fn report(&self, log: &Log, problems: &mut Problems) {
        let mut add = |severity, code: &str, count, row_idx: usize, message: &str| {
            let item = log.items.name(log.item[row_idx]);
            let problem = Problem::new(severity, code, format!("{message} (first: item {item:?})"));
            problems.add(log.locate(row_idx, problem.times(count).in_column("repeat")));
        };
        if let Some(row_idx) = self.first_identical {
            add(
                Severity::Warning,
                "duplicate-rows",
                self.n_identical,
                row_idx,
                "rows repeat another with the same item, condition, repeat number and answer; they are counted once",
            );
        }
        if let Some(row_idx) = self.first_conflict {
            add(
                Severity::Error,
                "conflicting-rows",
                self.n_conflicts,
                row_idx,
                "rows give different answers for the same item, condition and repeat number; all of them are left out. \
                 Number the repeats, or drop the repeat column to have them numbered in order",
            );
        }
    }
}

/// Gathers one subject's rows into units and cells, collapsing duplicates.
fn arrange_subject(log: &Log, kind: OutcomeKind, rows: &[Key], judge: u32, arm: u32) -> (Subject, Duplicates) {
    let n = rows.len();
    let mut duplicates = Duplicates::default();
    let mut subject = Subject {
        judge,
        arm,
        units: Vec::new(),
        cells: Vec::new(),
        draws: Vec::with_capacity(n),
        repeats: Vec::with_capacity(n),
        rows: Vec::with_capacity(n),
        n_unparsed: 0,
    };
    let mut start = 0;
    while start < n {
        let key = rows[start];
        let end = start + rows[start..].iter().take_while(|other| other.cell() == key.cell()).count();
        let first_draw = subject.draws.len();
        // Beside repeats that have numbers, those without get none of theirs.
        let first_number = if key.repeat == NONE { 1 } else { BESIDE_NUMBERED };
        let mut n_unparsed = 0;
        let mut n_unnumbered = 0;
        let mut at = start;
        while at < end {
            // Rows with one repeat number are one draw, if they agree.
            let repeat = rows[at].repeat;
            let value = log.answer(rows[at].row as usize, kind).map_or(f64::NAN, code);
            let mut next = at + 1;
            let mut conflict = false;
            while repeat != NONE && next < end && rows[next].repeat == repeat {
                let other = log.answer(rows[next].row as usize, kind).map_or(f64::NAN, code);
                conflict |= other.to_bits() != value.to_bits();
                next += 1;
            }
            let extra = (next - at - 1) as u64;
            let here = || rows[at + 1].row as usize;
            if conflict {
                duplicates.n_conflicts += extra + 1;
                duplicates.first_conflict.get_or_insert_with(here);
            } else {
                if extra > 0 {
                    duplicates.n_identical += extra;
                    duplicates.first_identical.get_or_insert_with(here);
                }
                n_unparsed += usize::from(value.is_nan());
                let number = if repeat == NONE {
                    n_unnumbered += 1;
                    first_number + n_unnumbered - 1
                } else {
                    repeat
                };
                subject.draws.push(value);
                subject.repeats.push(number);
                subject.rows.push(rows[at].row);
            }
            at = next;
        }
        start = end;
        if subject.draws.len() == first_draw {
            continue;
        }
        let dimension = key.dimension.wrapping_sub(1);
        match subject.units.last_mut() {
            Some(unit) if unit.item == key.item && unit.dimension == dimension => unit.cells.end += 1,
            _ => subject.units.push(Unit {
                item: key.item,
                dimension,
                cluster: key.cluster,
                truth: Truth::default(),
                weight: 1.0,
                cells: subject.cells.len()..subject.cells.len() + 1,
            }),
        }
        subject.n_unparsed += n_unparsed as u64;
        subject.cells.push(Cell {
            order: match key.order {
                1 => Some(Order::Ab),
                2 => Some(Order::Ba),
                _ => None,
            },
            place: key.place,
            anchor_set: key.anchor_set.wrapping_sub(1),
            draws: first_draw..subject.draws.len(),
            n_unparsed,
        });
    }
    (subject, duplicates)
}

/// Returns the lowest and highest score in the log.
fn observed_scale(log: &Log, kind: OutcomeKind) -> Option<[f64; 2]> {
    if kind != OutcomeKind::Score {
        return None;
    }
    let mut scale: Option<[f64; 2]> = None;
    for row_idx in 0..log.score.len() {
        if let Some(score) = number(&log.score, row_idx) {
            scale = Some(scale.map_or([score, score], |[low, high]| [low.min(score), high.max(score)]));
        }
    }
    scale
}
