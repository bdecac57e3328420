//! From rows to judgements: the plan carried out, row by row, into a [`Sink`].

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assize_calibration::judgement::{Judgement, LabelText, Order, StyleMark};
use assize_calibration::problem::Severity;

use super::answers::Answers;
use super::columns::ColumnMap;
use super::fields::{Field, is_called};
use super::labels::{self, Labels};
use super::ordinary::Ordinary;
use super::plan::{Plan, PlanError, Text, UNPARSED, listed};
use super::rare::{RARE, set_rare, style_number};
use super::table::{Cell, Cells, Complaints, LateColumn, Needs, RowSink, Rows, excerpt};
use super::{Part, ReadError, ReadSummary, Sink};

/// Turns the rows of one table into judgements.
pub(super) struct PlainRows<'s> {
    path: PathBuf,
    stem: String,
    map: &'s ColumnMap,
    sink: &'s mut dyn Sink,
    rules: Arc<Rules>,
    tally: Tally,
}

/// Turns some of the rows, on a thread of its own.
pub(super) struct PlainPart {
    sink: Box<dyn Part>,
    rules: Arc<Rules>,
    tally: Tally,
}

/// What is the same for all rows.
#[derive(Default)]
struct Rules {
    stem: String,
    plan: Plan,
    fast: Fast,
    ordinary: Option<Ordinary>,
    labels: Option<Labels>,
}

/// What was seen of the rows so far.
#[derive(Default)]
struct Tally {
    complaints: Complaints,
    /// How many ratings of an item were seen of people who have no name of their own.
    n_ratings: HashMap<String, u32>,
    n_rows: u64,
    n_bad_rows: u64,
    n_unwanted: u64,
    n_unlabelled: u64,
    /// Rows whose judge is called as the file is.
    n_named_by_file: u64,
}

/// The plan's fields, looked up once.
#[derive(Default)]
struct Fast {
    item: Option<Text>,
    judge: Option<Text>,
    label: Option<Text>,
    arm: Option<Text>,
    dimension: Option<Text>,
    rater: Option<Text>,
    group: Option<Text>,
    generator: Option<Text>,
    generator_b: Option<Text>,
    content: Option<Text>,
    anchor_set: Option<Text>,
    repeat: Option<usize>,
    order: Option<usize>,
    raw: Option<usize>,
    error: Option<usize>,
    /// The rest, which most logs do not have.
    rare: Vec<(Field, usize)>,
    /// The columns that names are made of, and what they name.
    names: Vec<(&'static str, usize)>,
}

impl<'s> PlainRows<'s> {
    pub(super) fn new(path: &Path, stem: &str, map: &'s ColumnMap, sink: &'s mut dyn Sink) -> Self {
        let tally = Tally { complaints: Complaints::new(path), ..Tally::default() };
        Self { path: path.to_path_buf(), stem: stem.to_owned(), map, sink, rules: Arc::default(), tally }
    }

    /// Hands the complaints on, and returns what was read. Called once, also after a failure.
    pub(super) fn finish(self) -> ReadSummary {
        let Self { stem, sink, tally, .. } = self;
        let Tally { mut complaints, n_rows, n_bad_rows, n_unwanted, n_unlabelled, n_named_by_file, .. } = tally;
        complaints.flush(sink);
        if n_unwanted > 0 {
            let message = format!("{n_unwanted} rows were left out, as `where` asks");
            sink.problem(complaints.about_file(Severity::Note, "rows-left-out", n_unwanted, message));
        }
        if n_unlabelled > 0 {
            let message = "items have no label in the file of labels; they are read without one".to_owned();
            sink.problem(complaints.about_file(Severity::Warning, "item-not-in-labels", n_unlabelled, message));
        }
        let judge_by_file_name = (n_named_by_file > 0).then_some(stem);
        ReadSummary { format: String::new(), n_rows, n_bad_rows, judge_by_file_name }
    }

    fn explain(&self, error: PlanError, names: &[String]) -> ReadError {
        let columns = listed(names);
        let looks_headless = names.iter().any(|name| name.parse::<f64>().is_ok());
        let message = match error {
            PlanError::Columns(message) => return ReadError::Columns(format!("{message} ({})", self.path.display())),
            PlanError::NoItem | PlanError::NoOutcome if looks_headless => format!(
                "the first line looks like data ({columns}); add a line with the columns' names, such as \
                 `item,judge,verdict,label` or `item,repeat,score`"
            ),
            PlanError::NoItem => format!(
                "no column names the item that was judged. Recognised: {}. Found: {columns}. \
                 Say which it is: --columns \"item=…\"",
                Field::Item.names().join(", ")
            ),
            PlanError::NoOutcome => format!(
                "no column holds the judge's answer. Recognised: score, verdict, choice, chosen_position, category. \
                 Found: {columns}. Say which it is: --columns \"score=…\" (or verdict, choice, …)"
            ),
        };
        ReadError::Unusable { path: self.path.clone(), message }
    }

    /// Reports what was recognised by another name than its own, and what was left aside.
    fn report_columns(&mut self, plan: &Plan) {
        if !plan.recognised.is_empty() {
            let pairs: Vec<_> =
                plan.recognised.iter().map(|(field, column)| format!("{} = {column}", field.name())).collect();
            let message = format!("read as: {} (to change it: --columns)", pairs.join(", "));
            let count = pairs.len() as u64;
            let note = self.tally.complaints.about_file(Severity::Note, "columns-recognised", count, message);
            self.sink.problem(note);
        }
        let twice: BTreeSet<String> = plan
            .columns_used()
            .into_values()
            .filter(|name| plan.columns.iter().filter(|other| *other == name).count() > 1)
            .collect();
        if !twice.is_empty() {
            let names = twice.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
            let message = format!(
                "several columns are called {names}; the first of them is used. If another is meant, rename it"
            );
            let count = twice.len() as u64;
            let warning = self.tally.complaints.about_file(Severity::Warning, "column-twice", count, message);
            self.sink.problem(warning);
        }
        if !plan.unused.is_empty() {
            let message = format!("columns not used: {}", listed(&plan.unused));
            let count = plan.unused.len() as u64;
            let note = self.tally.complaints.about_file(Severity::Note, "columns-ignored", count, message);
            self.sink.problem(note);
        }
    }
}

impl RowSink for PlainRows<'_> {
    type Part = PlainPart;

    fn start(&mut self, columns: &[String], open: bool) -> Result<Needs, ReadError> {
        let plan = Plan::new(self.map, columns, open).map_err(|error| self.explain(error, columns))?;
        self.report_columns(&plan);
        let fast = Fast::of(&plan);
        let labels = plan.label_file.as_ref().map(|file| labels::read(file, &self.path)).transpose()?;
        let needs =
            Needs { columns: plan.columns_used(), by_name: plan.by_name.clone(), ignored: plan.ignored.clone() };
        let ordinary = Ordinary::of(&plan);
        self.rules = Arc::new(Rules { stem: self.stem.clone(), plan, fast, ordinary, labels });
        Ok(needs)
    }

    fn late_column(&mut self, late: LateColumn, line: u64) {
        let LateColumn { name, field, column_idx, is_beside, after } = late;
        let (plan, of_field) = (&self.rules.plan, field.name());
        let known = plan.columns[column_idx].as_str();
        let rank = |wanted: &str| field.names().iter().position(|name| is_called(wanted, name));
        let is_preferred = rank(name) < rank(known);
        let column = Some((column_idx, name));
        let complaints = &mut self.tally.complaints;
        if let Some(other) = after {
            complaints.add(Severity::Warning, "two-late-columns", line, column, || {
                format!(
                    "first stands in this row, beside `{other}`, which was read as the {of_field}; it was left out. Say which of them is, as in \
                     --columns \"{of_field}={name}\""
                )
            });
            return;
        }
        match (is_beside, column_idx < plan.n_own) {
            (false, false) => complaints.add(Severity::Note, "late-column", line, column, || {
                format!(
                    "first stands in this row, and was read as the {of_field} from here on; to leave it out, say \
                     --columns \"ignore={name}\""
                )
            }),
            (false, true) => complaints.add(Severity::Warning, "mixed-columns", line, column, || {
                format!(
                    "first stands in this row, which has no `{known}`; both were read as the {of_field}. If only `{known}` \
                     is, say --columns \"{of_field}={known}\""
                )
            }),
            (true, _) if is_preferred => complaints.add(Severity::Warning, "mixed-columns", line, column, || {
                format!(
                    "first stands in this row, beside `{known}`, which was read as the {of_field}; it was left out. Say \
                     --columns \"{of_field}={known}\" if that is right; else take `{known}` out of the file"
                )
            }),
            (true, _) => complaints.add(Severity::Note, "late-column", line, column, || {
                format!("first stands in this row, beside `{known}`, which is the {of_field}; it was left out")
            }),
        }
    }

    fn cut_short(&mut self, line: u64, message: &str) {
        self.tally.complaints.add(Severity::Error, "damaged-file", line, None, || message.to_owned());
    }

    fn part(&mut self) -> Option<PlainPart> {
        // People without a name are numbered in the order in which they rate.
        if !self.rules.plan.people.is_empty() {
            return None;
        }
        let tally = Tally { complaints: self.tally.complaints.for_part(), ..Tally::default() };
        Some(PlainPart { sink: self.sink.parts()?.part(), rules: Arc::clone(&self.rules), tally })
    }

    fn append(&mut self, part: PlainPart) -> Result<(), ReadError> {
        self.tally.append(part.tally);
        self.sink.parts().expect("a sink that gave a part takes it back").append(part.sink)
    }
}

impl Rows for PlainRows<'_> {
    fn row<C: Cells>(&mut self, cells: &C, line: u64) -> Result<(), ReadError> {
        self.rules.row(&mut self.tally, self.sink, cells, line)
    }

    fn bad_row(&mut self, code: &'static str, line: u64, message: impl FnOnce() -> String) {
        self.tally.bad_row(code, line, None, message);
    }
}

impl Rows for PlainPart {
    fn row<C: Cells>(&mut self, cells: &C, line: u64) -> Result<(), ReadError> {
        self.rules.row(&mut self.tally, &mut *self.sink, cells, line)
    }

    fn bad_row(&mut self, code: &'static str, line: u64, message: impl FnOnce() -> String) {
        self.tally.bad_row(code, line, None, message);
    }
}

impl Fast {
    fn of(plan: &Plan) -> Self {
        let text = |field| plan.texts.get(&field).cloned();
        Self {
            item: text(Field::Item),
            judge: text(Field::Judge),
            label: text(Field::Label),
            arm: text(Field::Arm),
            dimension: text(Field::Dimension),
            rater: text(Field::Rater),
            group: text(Field::Group),
            generator: text(Field::Generator),
            generator_b: text(Field::GeneratorB),
            content: text(Field::Content),
            anchor_set: text(Field::AnchorSet),
            repeat: plan.column(Field::Repeat),
            order: plan.column(Field::Order),
            raw: plan.column(Field::Raw),
            error: plan.column(Field::Error),
            rare: RARE.iter().filter_map(|field| Some((*field, plan.column(*field)?))).collect(),
            names: names(plan),
        }
    }
}

/// Returns the columns that names are made of.
fn names(plan: &Plan) -> Vec<(&'static str, usize)> {
    const NAMES: [Field; 10] = [
        Field::Item,
        Field::Judge,
        Field::Arm,
        Field::Dimension,
        Field::Label,
        Field::Rater,
        Field::Group,
        Field::Generator,
        Field::GeneratorB,
        Field::Content,
    ];
    let mut names = Vec::new();
    for field in NAMES {
        let mut columns = BTreeSet::new();
        if let Some(text) = plan.texts.get(&field) {
            text.columns(&mut columns);
        }
        names.extend(columns.into_iter().map(|idx| (field.name(), idx)));
    }
    names.extend(plan.shown.iter().flat_map(|(first, second)| [("candidate", *first), ("candidate", *second)]));
    names
}

impl Tally {
    /// Counts a row that could not be read.
    fn bad_row(
        &mut self,
        code: &'static str,
        line: u64,
        column: Option<(usize, &str)>,
        message: impl FnOnce() -> String,
    ) {
        self.n_rows += 1;
        self.n_bad_rows += 1;
        self.complaints.add(Severity::Error, code, line, column, message);
    }

    /// Adds what was seen of the rows that follow.
    fn append(&mut self, next: Self) {
        self.complaints.append(next.complaints);
        self.n_rows += next.n_rows;
        self.n_bad_rows += next.n_bad_rows;
        self.n_unwanted += next.n_unwanted;
        self.n_unlabelled += next.n_unlabelled;
        self.n_named_by_file += next.n_named_by_file;
    }
}

impl Rules {
    #[inline]
    fn row<C: Cells>(&self, tally: &mut Tally, sink: &mut dyn Sink, cells: &C, line: u64) -> Result<(), ReadError> {
        let ordinary = self.ordinary.as_ref();
        match ordinary.and_then(|ordinary| ordinary.judgement(cells, &self.stem)) {
            Some(judgement) => {
                tally.n_rows += 1;
                let is_stem = std::ptr::eq(judgement.judge.as_ref(), self.stem.as_str());
                tally.n_named_by_file += u64::from(is_stem);
                sink.judgement(&judgement, line)
            }
            None => self.any_row(tally, sink, cells, line),
        }
    }

    fn any_row<'r, C: Cells>(
        &'r self,
        tally: &mut Tally,
        sink: &mut dyn Sink,
        cells: &'r C,
        line: u64,
    ) -> Result<(), ReadError> {
        if !self.plan.wants(cells) {
            tally.n_rows += 1;
            tally.n_unwanted += 1;
            return Ok(());
        }
        let Self { plan, fast, labels, stem, .. } = self;
        let Some(mut item) = fast.item.as_ref().and_then(|item| item.get(cells)) else {
            tally.bad_row("missing-item", line, None, || "the item is empty; the row was left out".to_owned());
            return Ok(());
        };
        if let Some((what, idx)) = fast.names.iter().find(|(_, idx)| cells.cell(*idx).is_inexact()) {
            let code = if *what == Field::Item.name() { "item-not-exact" } else { "name-not-exact" };
            tally.bad_row(code, line, Some((*idx, &plan.columns[*idx])), || {
                let number = cells.cell(*idx).text().unwrap_or_default();
                format!("{number} has more digits than a number keeps, so that two of them could be taken for the same {what}; write them in quotes")
            });
            return Ok(());
        }
        let repeat = match fast.repeat.map(|idx| (idx, cells.cell(idx))) {
            None | Some((_, Cell::Empty)) => None,
            Some((idx, cell)) => {
                let Some(number) = cell.repeat() else {
                    tally.bad_row("bad-repeat", line, Some((idx, &plan.columns[idx])), || {
                        format!(
                            "`{}` is not the number of a repeat, counted from 0 or 1; the row was left out. If the column means \
                             something else, say --columns \"ignore={}\"",
                            excerpt(&cell.text().unwrap_or_default()),
                            plan.columns[idx]
                        )
                    });
                    return Ok(());
                };
                Some(number)
            }
        };
        let label = match labels {
            Some(labels) => {
                let found = labels.get(&item);
                tally.n_unlabelled += u64::from(found.is_none());
                found.map(Cow::Borrowed)
            }
            None => fast.label.as_ref().and_then(|label| label_text(label, cells)),
        };
        let mut label = label.and_then(|label| translated_label(plan, label));
        let mut generators =
            [&fast.generator, &fast.generator_b].map(|text| text.as_ref().and_then(|text| text.get(cells)));
        // The candidate shown first, by the name of its maker.
        let by_maker = |word: &str| match &generators {
            [Some(a), Some(b)] if a == b => None,
            [Some(a), Some(_)] if a == word => Some(Order::Ab),
            [Some(_), Some(b)] if b == word => Some(Order::Ba),
            _ => None,
        };
        let mut order = None;
        let mut order_is_unknown = false;
        if let Some((idx, cell)) = fast.order.map(|idx| (idx, cells.cell(idx))).filter(|(_, c)| *c != Cell::Empty) {
            order = cell.text().and_then(|word| by_maker(word.trim()).or_else(|| Order::parse(&word)));
            if order.is_none() {
                order_is_unknown = true;
                tally.complaints.add(Severity::Warning, "unknown-order", line, Some((idx, &plan.columns[idx])), || {
                    let word = cell.text().unwrap_or_default();
                    format!(
                        "`{}` is not an order (ab, ba, or the maker of the candidate shown first where generator and \
                         generator_b name both); it was read as not stated",
                        excerpt(&word)
                    )
                });
            }
        }
        let mut shown = None;
        if let Some((first_idx, second_idx)) = plan.shown {
            let (first, second) = (cells.cell(first_idx).text(), cells.cell(second_idx).text());
            let (Some(first), Some(second)) = (first, second) else {
                tally.bad_row("missing-candidate", line, None, || {
                    "a candidate's name is empty; the row was left out".to_owned()
                });
                return Ok(());
            };
            if first == second {
                tally.bad_row("same-candidates", line, None, || {
                    format!("both candidates are `{}`; the row was left out", excerpt(&first))
                });
                return Ok(());
            }
            let is_ab = first < second;
            order = Some(if is_ab { Order::Ab } else { Order::Ba });
            let (a, b) = if is_ab { (&first, &second) } else { (&second, &first) };
            item = Cow::Owned(format!("{item}/{a}/{b}"));
            if let Some(word) = &label {
                let named = if word == a {
                    Some("a")
                } else if word == b {
                    Some("b")
                } else {
                    None
                };
                label = named.map(Cow::Borrowed).or(label);
            }
            // Candidates are called by their makers, unless a column says otherwise.
            if generators.iter().all(Option::is_none) {
                generators = [Some(Cow::Owned(a.clone().into_owned())), Some(Cow::Owned(b.clone().into_owned()))];
            }
            shown = Some((first, second));
        }
        let [generator, generator_b] = generators;
        let mut judgement = Judgement {
            item,
            judge: fast.judge.as_ref().and_then(|judge| judge.get(cells)).unwrap_or_default(),
            repeat,
            order,
            arm: fast.arm.as_ref().and_then(|arm| arm.get(cells)),
            dimension: fast.dimension.as_ref().and_then(|dimension| dimension.get(cells)),
            label: label.map(LabelText),
            rater: fast.rater.as_ref().and_then(|rater| rater.get(cells)),
            group: fast.group.as_ref().and_then(|group| group.get(cells)),
            content: fast.content.as_ref().and_then(|content| content.get(cells)),
            anchors: None,
            anchor_set: fast.anchor_set.as_ref().and_then(|set| set.get(cells)),
            generator,
            generator_b,
            weight: None,
            raw: fast.raw.and_then(|idx| cells.cell(idx).text()),
            error: fast.error.and_then(|idx| cells.cell(idx).text()),
            score: None,
            verdict: None,
            choice: None,
            category: None,
            place: None,
            confidence: None,
            length_a: None,
            length_b: None,
            style: Vec::new(),
            tokens_in: None,
            tokens_out: None,
            price: None,
            latency_ms: None,
            time: None,
        };
        for (field, idx) in &fast.rare {
            set_rare(&mut judgement, *field, cells.cell(*idx), |wrong| {
                tally
                    .complaints
                    .add(Severity::Warning, "bad-number", line, Some((*idx, &plan.columns[*idx])), || wrong);
            });
        }
        for style in &plan.style {
            let [a, b] = style.columns.each_ref().map(|columns| {
                let (idx, cell) =
                    columns.iter().map(|idx| (*idx, cells.cell(*idx))).find(|(_, cell)| *cell != Cell::Empty)?;
                let number = style_number(cell);
                if number.is_none() {
                    let word = cell.text().unwrap_or_default();
                    let message = || format!("`{}` is not a number and was left out; the row is used", excerpt(&word));
                    tally.complaints.add(
                        Severity::Warning,
                        "bad-number",
                        line,
                        Some((idx, &plan.columns[idx])),
                        message,
                    );
                }
                number
            });
            if a.is_some() || b.is_some() {
                judgement.style.push(StyleMark { name: Cow::Borrowed(&style.name), a, b });
            }
        }
        if !plan.people.is_empty() && judgement.rater.is_none() && plan.people.iter().any(|p| *p == judgement.judge) {
            let key = format!(
                "{}\u{1f}{}\u{1f}{}\u{1f}{}",
                judgement.item,
                judgement.judge,
                judgement.arm.as_deref().unwrap_or_default(),
                judgement.dimension.as_deref().unwrap_or_default()
            );
            let n_seen = tally.n_ratings.entry(key).or_insert(0);
            *n_seen += 1;
            judgement.rater = Some(Cow::Owned(format!("{} {n_seen}", judgement.judge)));
            judgement.judge = Cow::Borrowed("");
        }
        if judgement.rater.is_none() && judgement.judge.is_empty() {
            judgement.judge = Cow::Borrowed(stem);
            tally.n_named_by_file += 1;
        }
        tally.n_rows += 1;
        let complaints = &mut tally.complaints;
        let mut answers = Answers { plan, complaints, sink, line, shown, order_is_unknown };
        let people = (!plan.raters.is_empty()).then(|| of_item(&judgement));
        answers.plain(&mut judgement, cells)?;
        answers.spread(&mut judgement, cells, &plan.cells)?;
        if let Some(mut people) = people {
            answers.spread(&mut people, cells, &plan.raters)?;
        }
        Ok(())
    }
}

/// Returns what a person's rating in the row shares with the judge's answer: what belongs to the item. A person was not
/// asked under the judge's arm or at its price, and rated once, however many rows the item has. The order stays, since a
/// rating may name a place by it.
fn of_item<'r>(judgement: &Judgement<'r>) -> Judgement<'r> {
    let row = judgement.clone();
    Judgement {
        item: row.item,
        repeat: Some(1),
        order: row.order,
        dimension: row.dimension,
        label: row.label,
        group: row.group,
        content: row.content,
        length_a: row.length_a,
        length_b: row.length_b,
        style: row.style,
        generator: row.generator,
        generator_b: row.generator_b,
        weight: row.weight,
        ..Judgement::default()
    }
}

/// Returns the label's text. A truth value of a typed table is `1` or `0`.
fn label_text<'r, C: Cells>(label: &'r Text, cells: &'r C) -> Option<Cow<'r, str>> {
    let Text::Column(idx) = label else { return label.get(cells) };
    match cells.cell(*idx) {
        Cell::Truth(truth) => Some(Cow::Borrowed(if truth { "1" } else { "0" })),
        cell => cell.text(),
    }
}

/// Translates a label by the map's vocabulary. `unparsed` means that there is none.
fn translated_label<'r>(plan: &'r Plan, label: Cow<'r, str>) -> Option<Cow<'r, str>> {
    if plan.label_values.is_empty() {
        return Some(label);
    }
    match plan.label_values.get(label.as_ref()) {
        None => Some(label),
        Some(word) if word == UNPARSED => None,
        Some(word) => Some(Cow::Borrowed(word)),
    }
}
