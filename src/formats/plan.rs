//! From a table's columns and a mapping to a plan: which cell becomes which field.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use assize_calibration::judgement::{Choice, ChosenPosition, Order, STYLE_PREFIX, Verdict};

use super::columns::{ColumnMap, LabelFile, Part, Reading, TextSource};
use super::fields::{Field, nearest};
use super::table::{Cell, Cells};

/// Where a text comes from, columns found.
#[derive(Clone, Debug)]
pub(super) enum Text {
    Column(usize),
    Constant(String),
    Joined(Vec<Self>),
}

impl Text {
    /// Returns the text of a row, or `None` if it (or any part of it) is empty.
    #[inline]
    pub(super) fn get<'r, C: Cells>(&'r self, cells: &'r C) -> Option<Cow<'r, str>> {
        match self {
            // Nearly always, and so short that it belongs where it is asked for.
            Self::Column(idx) => cells.cell(*idx).text(),
            _ => self.composed(cells),
        }
    }

    #[inline(never)]
    fn composed<'r, C: Cells>(&'r self, cells: &'r C) -> Option<Cow<'r, str>> {
        match self {
            Self::Column(idx) => cells.cell(*idx).text(),
            Self::Constant(text) => Some(Cow::Borrowed(text)),
            Self::Joined(parts) => joined(parts, cells),
        }
    }

    /// Adds the columns it is made of.
    pub(super) fn columns(&self, into: &mut BTreeSet<usize>) {
        match self {
            Self::Column(idx) => {
                into.insert(*idx);
            }
            Self::Constant(_) => {}
            Self::Joined(parts) => parts.iter().for_each(|part| part.columns(into)),
        }
    }
}

/// Returns the parts with `/` between them.
fn joined<'r, C: Cells>(parts: &'r [Text], cells: &'r C) -> Option<Cow<'r, str>> {
    let mut joined = String::new();
    for (part_idx, part) in parts.iter().enumerate() {
        if part_idx > 0 {
            joined.push('/');
        }
        joined.push_str(&part.get(cells)?);
    }
    Some(Cow::Owned(joined))
}

/// What one of several outcome cells of a row stands for.
#[derive(Clone, Debug)]
pub(super) enum Axis {
    Repeat(u32),
    /// One order; whether its word names the place chosen.
    Order(Order, ShownAs),
    Judge(String),
    Arm(String),
    Dimension(String),
    Rater(String),
    /// All repeats, in order, in one cell.
    Repeats,
    /// Several people's ratings in one cell.
    Ratings,
}

/// In whose terms a choice is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShownAs {
    /// The candidate's name, whatever the order.
    Candidate,
    /// The place at which it was shown.
    Place,
}

/// One of several outcome cells of a row.
#[derive(Clone, Debug)]
pub(super) struct OutcomeCell {
    pub column_idx: usize,
    pub axis: Axis,
}

/// The columns of one mark of style.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StyleColumns {
    pub name: String,
    /// Of candidate A (or the only text), and of B. Of several for one side (`style_x`, `style_x_a`) the first that is not empty counts.
    pub columns: [Vec<usize>; 2],
}

/// Which cell becomes which field.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub columns: Vec<String>,
    pub texts: BTreeMap<Field, Text>,
    /// Marks of style, in the order of their columns.
    pub style: Vec<StyleColumns>,
    /// Where several outcomes stand in one judgement: how each is read, and its column.
    pub outcomes: Vec<(Reading, usize)>,
    /// Where one row is several judgements.
    pub cells: Vec<OutcomeCell>,
    /// People's ratings in columns.
    pub raters: Vec<OutcomeCell>,
    /// How `cells` and `raters` are read.
    pub reading: Option<Reading>,
    pub shown: Option<(usize, usize)>,
    pub people: Vec<String>,
    pub values: BTreeMap<String, String>,
    pub label_values: BTreeMap<String, String>,
    pub only: Vec<(usize, Vec<String>)>,
    pub label_file: Option<LabelFile>,
    pub skip_empty: bool,
    /// Columns that nothing uses.
    pub unused: Vec<String>,
    /// Columns recognised by a name that is not the field's own.
    pub recognised: Vec<(Field, String)>,
    /// All fields that a name decides about, with their columns.
    pub by_name: Vec<(Field, usize)>,
    /// Names that are not to be recognised in a later row.
    pub ignored: Vec<String>,
    /// How many columns the table really has; those beyond may turn up in a later row.
    pub n_own: usize,
}

/// The word that, in a vocabulary, says there is no answer.
pub(super) const UNPARSED: &str = "unparsed";

impl Plan {
    /// Makes the plan. `open`: any field's own name may turn up in a later row.
    ///
    /// # Errors
    /// Says which column is missing, and which there are.
    pub(super) fn new(map: &ColumnMap, columns: &[String], open: bool) -> Result<Self, PlanError> {
        let mut plan = Self { columns: columns.to_vec(), n_own: columns.len(), ..Self::default() };
        for (field, source) in &map.fields {
            plan.texts.insert(*field, plan.resolve_text(source).map_err(PlanError::Columns)?);
        }
        let mapped = plan.map_shapes(map).map_err(PlanError::Columns)?;
        let outcome_is_named = map.names_outcome();
        let mut taken = mapped;
        for text in plan.texts.values() {
            text.columns(&mut taken);
        }
        for name in &map.ignored {
            match plan.resolve(name) {
                Ok(idx) => {
                    taken.insert(idx);
                }
                // It may turn up in a later row, and would be recognised.
                Err(_) if open && Field::any_is_called(name) => plan.ignored.push(name.clone()),
                Err(message) => return Err(PlanError::Columns(message)),
            }
        }
        plan.recognise(&mut taken, outcome_is_named, map.has_raters(), open);
        plan.recognise_style(&mut taken);
        plan.set_outcomes(map);
        plan.check(map)?;
        plan.unused = (0..columns.len())
            .filter(|idx| !taken.contains(idx))
            .map(|idx| columns[idx].clone())
            .filter(|name| !name.is_empty())
            .collect();
        Ok(plan)
    }

    /// Finds the column that a mapping names.
    pub(super) fn resolve(&self, name: &str) -> Result<usize, String> {
        let found = self.columns.iter().position(|column| column == name);
        let found = found.or_else(|| self.columns.iter().position(|column| column.eq_ignore_ascii_case(name)));
        found.ok_or_else(|| {
            let near = nearest(name, self.columns.iter().map(String::as_str));
            let hint = match near {
                _ if name.contains("..") => " (a range of columns goes with `repeats=` or `raters=`)".to_owned(),
                Some(near) => format!(" (did you mean `{near}`?)"),
                None => String::new(),
            };
            format!("there is no column `{name}`{hint}. The table has: {}", listed(&self.columns))
        })
    }

    fn resolve_text(&self, source: &TextSource) -> Result<Text, String> {
        let part = |part: &Part| {
            Ok::<_, String>(match part {
                Part::Column(name) => Text::Column(self.resolve(name)?),
                Part::Constant(text) => Text::Constant(text.clone()),
            })
        };
        let mut parts = source.0.iter().map(part).collect::<Result<Vec<_>, _>>()?;
        Ok(if parts.len() == 1 { parts.swap_remove(0) } else { Text::Joined(parts) })
    }

    /// Takes over what the map says about rows that hold several answers; returns the columns used.
    fn map_shapes(&mut self, map: &ColumnMap) -> Result<BTreeSet<usize>, String> {
        let mut cells = Vec::new();
        for (repeat, name) in (1..).zip(&map.repeats) {
            cells.push((name, Axis::Repeat(repeat)));
        }
        cells.extend(map.repeats_in.iter().map(|name| (name, Axis::Repeats)));
        for (column, order, key) in [(&map.order_ab, Order::Ab, "order_ab"), (&map.order_ba, Order::Ba, "order_ba")] {
            let Some(name) = column else { continue };
            let as_place =
                map.reading() == Reading::Position || map.as_shown.iter().any(|shown| shown == name || shown == key);
            cells.push((name, Axis::Order(order, if as_place { ShownAs::Place } else { ShownAs::Candidate })));
        }
        cells.extend(map.judges.iter().map(|name| (name, Axis::Judge(name.clone()))));
        cells.extend(map.arms.iter().map(|name| (name, Axis::Arm(name.clone()))));
        cells.extend(map.dimensions.iter().map(|name| (name, Axis::Dimension(name.clone()))));
        let mut raters: Vec<_> = map.raters.iter().map(|name| (name, Axis::Rater(name.clone()))).collect();
        raters.extend(map.ratings_in.iter().map(|name| (name, Axis::Ratings)));
        let resolve = |cells: Vec<(&String, Axis)>| {
            let resolve_one = |(name, axis): (&String, Axis)| Ok(OutcomeCell { column_idx: self.resolve(name)?, axis });
            cells.into_iter().map(resolve_one).collect::<Result<Vec<_>, String>>()
        };
        let (cells, raters) = (resolve(cells)?, resolve(raters)?);
        let mut used: BTreeSet<_> = cells.iter().chain(&raters).map(|cell| cell.column_idx).collect();
        if let Some((first, second)) = &map.shown {
            let shown = (self.resolve(first)?, self.resolve(second)?);
            used.extend([shown.0, shown.1]);
            self.shown = Some(shown);
        }
        for (column, words) in &map.only {
            let idx = self.resolve(column)?;
            used.insert(idx);
            self.only.push((idx, words.clone()));
        }
        self.people.clone_from(&map.people);
        self.values.clone_from(&map.values);
        self.label_values.clone_from(&map.label_values);
        self.label_file.clone_from(&map.labels);
        self.skip_empty = map.skip_empty;
        (self.cells, self.raters) = (cells, raters);
        Ok(used)
    }

    /// Recognises by name the fields that the map does not mention.
    fn recognise(&mut self, taken: &mut BTreeSet<usize>, outcome_is_named: bool, has_raters: bool, open: bool) {
        let mut has_outcome = false;
        for field in Field::ALL {
            if self.texts.contains_key(&field) || (field == Field::Label && self.label_file.is_some()) {
                continue;
            }
            if field.is_outcome() && outcome_is_named {
                continue;
            }
            // A category often names the topic of the item: it is the outcome only where nothing else is.
            if field == Field::Category && (has_outcome || has_raters) {
                continue;
            }
            if let Some(idx) = field.find(&self.columns[..self.n_own], |idx| taken.contains(&idx)) {
                taken.insert(idx);
                has_outcome |= field.is_outcome();
                self.texts.insert(field, Text::Column(idx));
                self.by_name.push((field, idx));
                let own_name = super::fields::folded(&self.columns[idx]) == field.name();
                if !own_name {
                    self.recognised.push((field, self.columns[idx].clone()));
                }
            } else if open && field != Field::Preference && !(has_raters && field.is_outcome()) {
                // The field's own name may come in a later object.
                self.columns.push(field.name().to_owned());
                let idx = self.columns.len() - 1;
                taken.insert(idx);
                self.texts.insert(field, Text::Column(idx));
                self.by_name.push((field, idx));
            }
        }
    }

    /// Recognises marks of style: `style_NAME`, or `style_NAME_a` and `style_NAME_b`.
    fn recognise_style(&mut self, taken: &mut BTreeSet<usize>) {
        for idx in 0..self.n_own {
            let column = super::fields::folded(&self.columns[idx]);
            let Some(name) = column.strip_prefix(STYLE_PREFIX).filter(|name| !name.is_empty()) else { continue };
            if taken.contains(&idx) {
                continue;
            }
            let of = |suffix: &str| name.strip_suffix(suffix).filter(|name| !name.is_empty());
            let (name, side) = match (of("_a"), of("_b")) {
                (Some(name), _) => (name, 0),
                (_, Some(name)) => (name, 1),
                _ => (name, 0),
            };
            let place = self.style.iter().position(|known| known.name == name).unwrap_or_else(|| {
                self.style.push(StyleColumns { name: name.to_owned(), columns: [Vec::new(), Vec::new()] });
                self.style.len() - 1
            });
            self.style[place].columns[side].push(idx);
            taken.insert(idx);
        }
    }

    /// Settles how outcomes are read.
    fn set_outcomes(&mut self, map: &ColumnMap) {
        let of_field = |field: Field, shown: bool| match Reading::of(field)? {
            // With the candidates shown named by columns, the answer is a place.
            Reading::Verdict | Reading::Choice if shown && !map.fields.contains_key(&field) => Some(Reading::Position),
            reading => Some(reading),
        };
        for (field, text) in &self.texts {
            if let (Some(reading), Text::Column(idx)) = (of_field(*field, self.shown.is_some()), text) {
                self.outcomes.push((reading, *idx));
            }
        }
        if !self.cells.is_empty() {
            self.outcomes.clear();
        }
        let plain = self.outcomes.first().map(|(reading, _)| *reading);
        self.reading = map.outcome.or(plain).or((map.has_shape() || map.has_raters()).then_some(Reading::Score));
    }

    /// Checks that there is what a judgement needs, among the columns that the table really has.
    fn check(&self, map: &ColumnMap) -> Result<(), PlanError> {
        let is_own = |field: Field| match self.texts.get(&field) {
            Some(Text::Column(idx)) => *idx < self.n_own,
            Some(_) => true,
            None => false,
        };
        if !is_own(Field::Item) {
            return Err(PlanError::NoItem);
        }
        // A log of failures only has no outcome, and is a log all the same.
        let has_plain =
            self.outcomes.iter().any(|(_, idx)| *idx < self.n_own) || is_own(Field::Raw) || is_own(Field::Error);
        if !has_plain && self.cells.is_empty() && self.raters.is_empty() {
            return Err(PlanError::NoOutcome);
        }
        for (from, to) in &map.values {
            let (Some(reading), false) = (self.reading, to == UNPARSED) else { continue };
            if !is_word_of(reading, to) {
                return Err(PlanError::Columns(format!(
                    "`values`: \"{from}\" = \"{to}\" is not a {}; write {}, or `{UNPARSED}`",
                    reading.name(),
                    words_of(reading)
                )));
            }
        }
        Ok(())
    }

    /// Returns all columns that are looked at, with their names.
    pub(super) fn columns_used(&self) -> BTreeMap<usize, String> {
        let mut used: BTreeSet<usize> = self.cells.iter().chain(&self.raters).map(|cell| cell.column_idx).collect();
        for text in self.texts.values() {
            text.columns(&mut used);
        }
        used.extend(self.shown.iter().flat_map(|(first, second)| [*first, *second]));
        used.extend(self.only.iter().map(|(idx, _)| *idx));
        used.extend(self.style.iter().flat_map(|style| style.columns.iter().flatten()));
        used.into_iter().map(|idx| (idx, self.columns[idx].clone())).collect()
    }

    /// Returns the single column of a field.
    pub(super) fn column(&self, field: Field) -> Option<usize> {
        match self.texts.get(&field) {
            Some(Text::Column(idx)) => Some(*idx),
            _ => None,
        }
    }

    /// Returns whether the row is one that is asked for.
    pub(super) fn wants<C: Cells>(&self, cells: &C) -> bool {
        self.only.iter().all(|(idx, words)| {
            let cell = cells.cell(*idx);
            match cell {
                Cell::Text(text) => words.iter().any(|word| word == text),
                cell => cell.text().is_some_and(|text| words.iter().any(|word| *word == text)),
            }
        })
    }
}

/// Why no plan could be made.
#[derive(Debug)]
pub(super) enum PlanError {
    /// No column names the item.
    NoItem,
    /// No column holds an outcome.
    NoOutcome,
    /// The mapping does not fit the table.
    Columns(String),
}

impl ColumnMap {
    fn reading(&self) -> Reading {
        self.outcome.unwrap_or(Reading::Score)
    }
}

/// Returns whether `word` is an answer in the terms of `reading`.
fn is_word_of(reading: Reading, word: &str) -> bool {
    match reading {
        Reading::Score | Reading::Preference => word.parse::<f64>().is_ok_and(f64::is_finite),
        Reading::Verdict => Verdict::parse(word).is_some(),
        Reading::Choice => Choice::parse(word).is_some(),
        Reading::Position => ChosenPosition::parse(word).is_some(),
        Reading::Category => true,
    }
}

fn words_of(reading: Reading) -> &'static str {
    match reading {
        Reading::Score => "a number",
        Reading::Preference => "a number from 1 to 2",
        Reading::Verdict => "`accept` or `reject`",
        Reading::Choice => "`a`, `b` or `tie`",
        Reading::Position => "`first`, `second` or `tie`",
        Reading::Category => "a word",
    }
}

/// Returns names as a list for a message, cut if there are very many.
pub(super) fn listed(names: &[String]) -> String {
    const MOST: usize = 40;
    let list = names.iter().take(MOST).map(String::as_str).collect::<Vec<_>>().join(", ");
    if names.len() > MOST { format!("{list}, … ({} in all)", names.len()) } else { list }
}
