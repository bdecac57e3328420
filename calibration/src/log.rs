//! The log in memory: one column a field, names interned, absent columns not stored.
//!
//! A million judgements take some 60 MB. Nothing is decided here (what is a duplicate, what a label means): the
//! audit does that. The raw text of replies is not kept; readers that need it write it to the plain log as they go.

use crate::judgement::{Choice, Judgement, Order, OutcomeKind, StyleMark, Verdict};
use crate::names::Names;
use crate::problem::Problem;

/// No name: the field was empty.
pub const NONE: u32 = u32::MAX;

/// A column that is stored from the first row that has a value on.
#[derive(Clone, Debug)]
pub struct Sparse<T> {
    absent: T,
    values: Vec<T>,
}

impl<T: Copy + PartialEq> Sparse<T> {
    const fn new(absent: T) -> Self {
        Self { absent, values: Vec::new() }
    }

    #[inline]
    fn push(&mut self, row_idx: usize, value: Option<T>) {
        if value.is_some() || !self.values.is_empty() {
            // Only the first value finds rows before it.
            if self.values.len() < row_idx {
                self.values.resize(row_idx, self.absent);
            }
            self.values.push(value.unwrap_or(self.absent));
        }
    }

    /// Adds the `n_rows` rows of `other` behind the `row_idx` rows that are here.
    fn append(&mut self, row_idx: usize, other: &mut Self, n_rows: usize, own: impl Fn(T) -> T) {
        if other.is_empty() {
            if !self.values.is_empty() {
                self.values.resize(row_idx + n_rows, self.absent);
            }
            return;
        }
        self.values.resize(row_idx, self.absent);
        self.values.extend(other.values.drain(..).map(own));
        self.values.resize(row_idx + n_rows, self.absent);
    }

    /// Returns the value of a row, or the column's mark of absence.
    #[must_use]
    #[inline]
    pub fn at(&self, row_idx: usize) -> T {
        self.values.get(row_idx).copied().unwrap_or(self.absent)
    }

    /// Returns whether no row has a value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}

/// One answer, in the terms of one [`OutcomeKind`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Answer {
    /// A number on a scale.
    Score(f64),
    /// Accept or reject.
    Verdict(Verdict),
    /// A, B or a tie.
    Choice(Choice),
    /// An id in [`Log::categories`].
    Category(u32),
}

/// Marks of style: a column a name and side, absent numbers NaN.
#[derive(Clone, Debug, Default)]
pub struct StyleLog {
    /// Names of marks.
    pub names: Names,
    /// Of each name: numbers of candidate A (or of the only text) and of B, as long as their last number needs.
    pub columns: Vec<[Vec<f64>; 2]>,
}

impl StyleLog {
    fn push(&mut self, row_idx: usize, marks: &[StyleMark<'_>]) {
        for mark in marks {
            let id = self.names.intern(&mark.name) as usize;
            self.columns.resize_with(self.columns.len().max(id + 1), <[Vec<f64>; 2]>::default);
            for (column, value) in self.columns[id].iter_mut().zip([mark.a, mark.b]) {
                // A name given twice in one row keeps its first number.
                if value.is_some() && column.len() <= row_idx {
                    push_number(column, row_idx, value.filter(|value| value.is_finite()));
                }
            }
        }
    }

    fn append(&mut self, row_idx: usize, other: &mut Self, n_rows: usize) {
        if other.columns.is_empty() {
            return;
        }
        let ids: Vec<u32> = other.names.iter().map(|name| self.names.intern(name)).collect();
        other.names.clear();
        for (id, columns) in ids.into_iter().zip(other.columns.drain(..)) {
            let id = id as usize;
            self.columns.resize_with(self.columns.len().max(id + 1), <[Vec<f64>; 2]>::default);
            for (own, mut theirs) in self.columns[id].iter_mut().zip(columns) {
                append_numbers(own, row_idx, &mut theirs, n_rows);
            }
        }
    }
}

/// The judgements collected. Columns have one entry a row, in the order of the input.
#[derive(Clone, Debug)]
pub struct Log {
    /// Names of items.
    pub items: Names,
    /// Names of judges.
    pub judges: Names,
    /// Names of arms. Row value [`NONE`]: no arm.
    pub arms: Names,
    /// Names of sets of anchors. Row value [`NONE`]: none is named.
    pub anchor_sets: Names,
    /// Names of dimensions. Row value [`NONE`]: no dimension.
    pub dimensions: Names,
    /// Names of raters. Row value [`NONE`]: the judge's own judgement.
    pub raters: Names,
    /// Names of groups. Row value [`NONE`]: no group.
    pub groups: Names,
    /// Distinct labels, as written.
    pub labels: Names,
    /// Names of categories.
    pub categories: Names,
    /// Names of generators.
    pub generators: Names,
    /// Item of each row.
    pub item: Vec<u32>,
    /// Judge of each row.
    pub judge: Sparse<u32>,
    /// Arm of each row.
    pub arm: Sparse<u32>,
    /// Anchors in the prompt of each row; [`NONE`] where not stated.
    pub anchors: Sparse<u32>,
    /// Set of anchors of each row.
    pub anchor_set: Sparse<u32>,
    /// Dimension of each row.
    pub dimension: Sparse<u32>,
    /// Rater of each row.
    pub rater: Sparse<u32>,
    /// Group of each row.
    pub group: Sparse<u32>,
    /// Label of each row.
    pub label: Sparse<u32>,
    /// Generator of each row: of the item, or of candidate A.
    pub generator: Sparse<u32>,
    /// Generator of candidate B of each row, among the same names.
    pub generator_b: Sparse<u32>,
    /// Score of each row; NaN where absent.
    pub score: Vec<f64>,
    verdict: Sparse<u8>,
    choice: Sparse<u8>,
    category: Sparse<u32>,
    order: Sparse<u8>,
    /// Repeat of each row as stated, which may be 0; [`NONE`] where absent.
    pub repeat: Sparse<u32>,
    /// Place of each row; 0 where absent.
    pub place: Sparse<u32>,
    /// Digest of the content of each row; 0 where absent.
    pub content: Sparse<u64>,
    /// Line of each row in its file; 0 where unknown.
    line: Sparse<u32>,
    /// The files the rows came from, each with its first row.
    sources: Vec<(usize, String)>,
    has_score: bool,
    /// Whether any row has one of the columns that few logs have.
    has_more: bool,
    /// Confidence of each row; NaN where absent.
    pub confidence: Vec<f64>,
    /// Length of candidate A of each row; NaN where absent.
    pub length_a: Vec<f64>,
    /// Length of candidate B of each row; NaN where absent.
    pub length_b: Vec<f64>,
    /// Marks of style of each row.
    pub style: StyleLog,
    /// Weight of each row's item; NaN where absent.
    pub weight: Vec<f64>,
    /// Sum of prices, and how many rows state one.
    pub price: (f64, u64),
    /// Sum of tokens sent and received, and how many rows state them.
    pub tokens: (u64, u64, u64),
    /// How many rows carry an error.
    pub n_errors: u64,
    /// When each row was asked, in milliseconds since 1970 (UTC); `i64::MIN` where absent or unreadable.
    pub time: Sparse<i64>,
    /// How many times could not be read, and the first row of one.
    pub unread_times: (u64, usize),
}

impl Default for Log {
    fn default() -> Self {
        Self {
            items: Names::default(),
            judges: Names::default(),
            arms: Names::default(),
            anchor_sets: Names::default(),
            dimensions: Names::default(),
            raters: Names::default(),
            groups: Names::default(),
            labels: Names::default(),
            categories: Names::default(),
            generators: Names::default(),
            item: Vec::new(),
            judge: Sparse::new(NONE),
            arm: Sparse::new(NONE),
            anchors: Sparse::new(NONE),
            anchor_set: Sparse::new(NONE),
            dimension: Sparse::new(NONE),
            rater: Sparse::new(NONE),
            group: Sparse::new(NONE),
            label: Sparse::new(NONE),
            generator: Sparse::new(NONE),
            generator_b: Sparse::new(NONE),
            score: Vec::new(),
            verdict: Sparse::new(u8::MAX),
            choice: Sparse::new(u8::MAX),
            category: Sparse::new(NONE),
            order: Sparse::new(u8::MAX),
            repeat: Sparse::new(NONE),
            place: Sparse::new(0),
            content: Sparse::new(0),
            line: Sparse::new(0),
            sources: Vec::new(),
            has_score: false,
            has_more: false,
            confidence: Vec::new(),
            length_a: Vec::new(),
            length_b: Vec::new(),
            style: StyleLog::default(),
            weight: Vec::new(),
            price: (0.0, 0),
            tokens: (0, 0, 0),
            n_errors: 0,
            time: Sparse::new(i64::MIN),
            unread_times: (0, 0),
        }
    }
}

/// Adds a column of numbers behind the `row_idx` rows that are here.
fn append_numbers(column: &mut Vec<f64>, row_idx: usize, other: &mut Vec<f64>, n_rows: usize) {
    if !other.is_empty() || !column.is_empty() {
        column.resize(row_idx, f64::NAN);
        column.append(other);
        column.resize(row_idx + n_rows, f64::NAN);
    }
}

/// Adds a number to a column that is stored only once a row has one; absent numbers are NaN.
#[inline]
fn push_number(column: &mut Vec<f64>, row_idx: usize, value: Option<f64>) {
    if value.is_some() || !column.is_empty() {
        if column.len() < row_idx {
            column.resize(row_idx, f64::NAN);
        }
        column.push(value.unwrap_or(f64::NAN));
    }
}

/// Returns whether a number can be the weight of an item: above 0, and neither so large nor so small that sums of it fail.
#[must_use]
pub fn is_weight(number: f64) -> bool {
    (1e-60..=1e60).contains(&number)
}

impl Log {
    /// Returns how many rows there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.item.len()
    }

    /// Returns whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.item.is_empty()
    }

    /// Says that the rows pushed from here on come from the file `name`.
    pub fn begin_source(&mut self, name: &str) {
        self.sources.push((self.len(), name.to_owned()));
    }

    /// Returns the line of a row in its file, counted from 1, or 0 where unknown.
    #[must_use]
    #[inline]
    pub fn line(&self, row_idx: usize) -> u64 {
        u64::from(self.line.at(row_idx))
    }

    /// Returns the problem as first met in this row: in its file, at its line.
    #[must_use]
    pub fn locate(&self, row_idx: usize, problem: Problem) -> Problem {
        let problem = problem.at_line(self.line(row_idx));
        let n_begun = self.sources.partition_point(|(first_row_idx, _)| *first_row_idx <= row_idx);
        match self.sources[..n_begun].last() {
            Some((_, name)) => problem.in_file(name),
            None => problem,
        }
    }

    /// Adds one judgement. `line` is its place in its file, 0 if unknown.
    ///
    /// A score that is not finite is taken as absent: readers report it before it comes here.
    #[inline]
    pub fn push(&mut self, judgement: &Judgement<'_>, line: u64) {
        fn name(names: &mut Names, value: Option<&str>) -> Option<u32> {
            value.filter(|text| !text.is_empty()).map(|text| names.intern(text))
        }
        let row_idx = self.item.len();
        self.item.push(self.items.intern(&judgement.item));
        self.judge.push(row_idx, name(&mut self.judges, Some(&judgement.judge)));
        self.arm.push(row_idx, name(&mut self.arms, judgement.arm.as_deref()));
        self.dimension.push(row_idx, name(&mut self.dimensions, judgement.dimension.as_deref()));
        self.group.push(row_idx, name(&mut self.groups, judgement.group.as_deref()));
        self.label.push(row_idx, name(&mut self.labels, judgement.label.as_ref().map(|label| label.0.as_ref())));
        let score = judgement.score.filter(|score| score.is_finite());
        self.has_score |= score.is_some();
        push_number(&mut self.score, row_idx, score);
        self.verdict.push(row_idx, judgement.verdict.map(|verdict| verdict as u8));
        self.repeat.push(row_idx, judgement.repeat);
        self.line.push(row_idx, u32::try_from(line).ok().filter(|&line| line > 0));
        // Most logs have none of the rest, which is seen sooner at once than column by column.
        let has_more = judgement.choice.is_some()
            || judgement.order.is_some()
            || judgement.rater.is_some()
            || judgement.generator.is_some()
            || judgement.generator_b.is_some()
            || judgement.weight.is_some()
            || judgement.category.is_some()
            || judgement.place.is_some()
            || judgement.content.is_some()
            || judgement.confidence.is_some()
            || judgement.length_a.is_some()
            || judgement.length_b.is_some()
            || judgement.anchors.is_some()
            || judgement.anchor_set.is_some()
            || judgement.time.is_some();
        self.has_more |= has_more;
        if self.has_more {
            self.choice.push(row_idx, judgement.choice.map(|choice| choice as u8));
            self.order.push(row_idx, judgement.order.map(|order| order as u8));
            self.rater.push(row_idx, name(&mut self.raters, judgement.rater.as_deref()));
            self.generator.push(row_idx, name(&mut self.generators, judgement.generator.as_deref()));
            self.generator_b.push(row_idx, name(&mut self.generators, judgement.generator_b.as_deref()));
            self.category.push(row_idx, name(&mut self.categories, judgement.category.as_deref()));
            self.place.push(row_idx, judgement.place);
            self.content.push(row_idx, judgement.content.as_deref().map(digest));
            push_number(&mut self.confidence, row_idx, judgement.confidence);
            push_number(&mut self.length_a, row_idx, judgement.length_a);
            push_number(&mut self.length_b, row_idx, judgement.length_b);
            push_number(&mut self.weight, row_idx, judgement.weight.filter(|weight| is_weight(*weight)));
            self.anchors.push(row_idx, judgement.anchors);
            self.anchor_set.push(row_idx, name(&mut self.anchor_sets, judgement.anchor_set.as_deref()));
            self.push_time(row_idx, judgement.time.as_deref());
        }
        if !judgement.style.is_empty() {
            self.style.push(row_idx, &judgement.style);
        }
        if let Some(price) = judgement.price {
            self.price.0 += price;
            self.price.1 += 1;
        }
        if judgement.tokens_in.is_some() || judgement.tokens_out.is_some() {
            self.tokens.0 += judgement.tokens_in.unwrap_or(0);
            self.tokens.1 += judgement.tokens_out.unwrap_or(0);
            self.tokens.2 += 1;
        }
        self.n_errors += u64::from(judgement.error.is_some());
    }

    fn push_time(&mut self, row_idx: usize, written: Option<&str>) {
        let time = written.and_then(crate::time::unix_ms);
        if written.is_some() && time.is_none() {
            if self.unread_times.0 == 0 {
                self.unread_times.1 = row_idx;
            }
            self.unread_times.0 += 1;
        }
        self.time.push(row_idx, time);
    }

    /// Returns when a row was asked, in milliseconds since 1970 (UTC), if stated.
    #[must_use]
    #[inline]
    pub fn asked_ms(&self, row_idx: usize) -> Option<i64> {
        Some(self.time.at(row_idx)).filter(|time| *time != i64::MIN)
    }

    /// Gives every judge another name; rows that name no judge (and no person) are by `name("")` from here on.
    pub fn rename_judges(&mut self, name: impl Fn(&str) -> String) {
        let names = std::mem::take(&mut self.judges);
        let ids: Vec<u32> = names.iter().map(|old| self.judges.intern(&name(old))).collect();
        let is_rating = |row_idx: usize| self.rater.at(row_idx) != NONE;
        let mut renamed = Sparse::new(NONE);
        for row_idx in 0..self.item.len() {
            let id = match self.judge.at(row_idx) {
                NONE if is_rating(row_idx) => None,
                NONE => Some(self.judges.intern(&name(""))),
                id => Some(ids[id as usize]),
            };
            renamed.push(row_idx, id);
        }
        self.judge = renamed;
    }

    /// Gives every row another arm: `arm` is told the row and returns its name, or `None` for no arm.
    pub fn rename_arms(&mut self, arm: impl Fn(&Self, usize) -> Option<String>) {
        let mut arms = Names::default();
        let mut renamed = Sparse::new(NONE);
        for row_idx in 0..self.item.len() {
            renamed.push(row_idx, arm(self, row_idx).map(|name| arms.intern(&name)));
        }
        (self.arms, self.arm) = (arms, renamed);
    }

    /// Numbers the sets of anchors in order of their names, so that nothing depends on which row comes first.
    pub(crate) fn sort_anchor_sets(&mut self) {
        let mut sorted: Vec<&str> = self.anchor_sets.iter().collect();
        sorted.sort_unstable();
        let mut names = Names::default();
        for name in sorted {
            names.intern(name);
        }
        let mut column = Sparse::new(NONE);
        for row_idx in 0..self.item.len() {
            let set = Some(self.anchor_set.at(row_idx)).filter(|set| *set != NONE);
            column.push(row_idx, set.and_then(|set| names.id(self.anchor_sets.name(set))));
        }
        (self.anchor_sets, self.anchor_set) = (names, column);
    }

    /// Moves the rows of `other` behind those that are here, as if they had been pushed one by one. `other` is empty
    /// afterwards and keeps its room, to be filled again.
    pub fn append(&mut self, other: &mut Self) {
        let (row_idx, n_rows) = (self.len(), other.len());
        self.sources.extend(other.sources.drain(..).map(|(first, name)| (row_idx + first, name)));
        let item = self.items.absorb(&other.items);
        other.items.clear();
        self.item.extend(other.item.drain(..).map(|id| item[id as usize]));
        let named = |names: &mut Names, own: &mut Sparse<u32>, theirs: &mut Names, column: &mut Sparse<u32>| {
            let ids = names.absorb(theirs);
            theirs.clear();
            own.append(row_idx, column, n_rows, |id| ids.get(id as usize).copied().unwrap_or(NONE));
        };
        named(&mut self.judges, &mut self.judge, &mut other.judges, &mut other.judge);
        named(&mut self.arms, &mut self.arm, &mut other.arms, &mut other.arm);
        named(&mut self.anchor_sets, &mut self.anchor_set, &mut other.anchor_sets, &mut other.anchor_set);
        named(&mut self.dimensions, &mut self.dimension, &mut other.dimensions, &mut other.dimension);
        named(&mut self.raters, &mut self.rater, &mut other.raters, &mut other.rater);
        named(&mut self.groups, &mut self.group, &mut other.groups, &mut other.group);
        named(&mut self.labels, &mut self.label, &mut other.labels, &mut other.label);
        named(&mut self.categories, &mut self.category, &mut other.categories, &mut other.category);
        let generators = self.generators.absorb(&other.generators);
        other.generators.clear();
        let own = |id: u32| generators.get(id as usize).copied().unwrap_or(NONE);
        self.generator.append(row_idx, &mut other.generator, n_rows, own);
        self.generator_b.append(row_idx, &mut other.generator_b, n_rows, own);
        self.has_score |= std::mem::take(&mut other.has_score);
        self.has_more |= std::mem::take(&mut other.has_more);
        self.verdict.append(row_idx, &mut other.verdict, n_rows, |code| code);
        self.choice.append(row_idx, &mut other.choice, n_rows, |code| code);
        self.order.append(row_idx, &mut other.order, n_rows, |code| code);
        self.repeat.append(row_idx, &mut other.repeat, n_rows, |repeat| repeat);
        self.anchors.append(row_idx, &mut other.anchors, n_rows, |anchors| anchors);
        self.place.append(row_idx, &mut other.place, n_rows, |place| place);
        self.content.append(row_idx, &mut other.content, n_rows, |digest| digest);
        self.line.append(row_idx, &mut other.line, n_rows, |line| line);
        append_numbers(&mut self.score, row_idx, &mut other.score, n_rows);
        append_numbers(&mut self.confidence, row_idx, &mut other.confidence, n_rows);
        append_numbers(&mut self.length_a, row_idx, &mut other.length_a, n_rows);
        append_numbers(&mut self.length_b, row_idx, &mut other.length_b, n_rows);
        append_numbers(&mut self.weight, row_idx, &mut other.weight, n_rows);
        self.style.append(row_idx, &mut other.style, n_rows);
        let (sum, n) = std::mem::take(&mut other.price);
        self.price = (self.price.0 + sum, self.price.1 + n);
        let (sent, received, n) = std::mem::take(&mut other.tokens);
        self.tokens = (self.tokens.0 + sent, self.tokens.1 + received, self.tokens.2 + n);
        self.n_errors += std::mem::take(&mut other.n_errors);
        self.time.append(row_idx, &mut other.time, n_rows, |time| time);
        let (n, first) = std::mem::take(&mut other.unread_times);
        if self.unread_times.0 == 0 && n > 0 {
            self.unread_times.1 = row_idx + first;
        }
        self.unread_times.0 += n;
    }

    /// Returns whether any row carries this kind of outcome.
    #[must_use]
    pub fn has(&self, kind: OutcomeKind) -> bool {
        match kind {
            OutcomeKind::Score => self.has_score,
            OutcomeKind::Verdict => !self.verdict.is_empty(),
            OutcomeKind::Choice => !self.choice.is_empty(),
            OutcomeKind::Category => !self.category.is_empty(),
        }
    }

    /// Returns the answer of a row in the terms of `kind`, or `None` if it has none (unparsed).
    #[must_use]
    #[inline]
    pub fn answer(&self, row_idx: usize, kind: OutcomeKind) -> Option<Answer> {
        match kind {
            OutcomeKind::Score => number(&self.score, row_idx).map(Answer::Score),
            OutcomeKind::Verdict => match self.verdict.at(row_idx) {
                0 => Some(Answer::Verdict(Verdict::Accept)),
                1 => Some(Answer::Verdict(Verdict::Reject)),
                _ => None,
            },
            OutcomeKind::Choice => match self.choice.at(row_idx) {
                0 => Some(Answer::Choice(Choice::A)),
                1 => Some(Answer::Choice(Choice::B)),
                2 => Some(Answer::Choice(Choice::Tie)),
                _ => None,
            },
            OutcomeKind::Category => match self.category.at(row_idx) {
                NONE => None,
                id => Some(Answer::Category(id)),
            },
        }
    }

    /// Returns the order shown, if stated.
    #[must_use]
    #[inline]
    pub fn order(&self, row_idx: usize) -> Option<Order> {
        match self.order.at(row_idx) {
            0 => Some(Order::Ab),
            1 => Some(Order::Ba),
            _ => None,
        }
    }

    /// Returns whether any row states the order shown.
    #[must_use]
    pub fn has_orders(&self) -> bool {
        !self.order.is_empty()
    }
}

/// Returns the number of a row in a column whose absent numbers are NaN.
#[must_use]
#[inline]
pub fn number(column: &[f64], row_idx: usize) -> Option<f64> {
    column.get(row_idx).copied().filter(|value| !value.is_nan())
}

/// Returns a 64-bit digest of `text` (FNV-1a), never 0. Used only to see that two texts are the same.
pub(crate) fn digest(text: &str) -> u64 {
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    hash.max(1)
}
