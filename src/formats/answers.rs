//! The answers of one row: words to outcomes, one cell or several.
//!
//! A word that is not understood is unparsed: it is kept as it is, counted, and never becomes an outcome.

use std::borrow::Cow;

use assize_calibration::judgement::{Choice, ChosenPosition, Judgement, Order, Verdict};
use assize_calibration::problem::Severity;

use super::columns::Reading;
use super::plan::{Axis, OutcomeCell, Plan, ShownAs, UNPARSED};
use super::table::{Cell, Cells, Complaints, LIST_END, excerpt};
use super::{ReadError, Sink};

/// Reads the answers of one row and hands them on.
pub(super) struct Answers<'a, 'r> {
    pub plan: &'r Plan,
    pub complaints: &'a mut Complaints,
    pub sink: &'a mut dyn Sink,
    pub line: u64,
    /// The candidates shown first and second, where columns name them.
    pub shown: Option<(Cow<'r, str>, Cow<'r, str>)>,
    /// Whether the row states an order that is none.
    pub order_is_unknown: bool,
}

/// What became of one cell.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Became {
    Outcome,
    Empty,
    /// The vocabulary says that there is no answer, or the word is not understood.
    Unparsed,
}

impl<'r> Answers<'_, 'r> {
    /// One judgement whose outcome stands in a column of its own.
    pub(super) fn plain<C: Cells>(&mut self, judgement: &mut Judgement<'r>, cells: &'r C) -> Result<(), ReadError> {
        if self.plan.outcomes.is_empty() && (!self.plan.cells.is_empty() || !self.plan.raters.is_empty()) {
            return Ok(());
        }
        let mut all_empty = true;
        for (reading, idx) in &self.plan.outcomes {
            all_empty &= self.answer(judgement, *reading, *idx, cells.cell(*idx), ShownAs::Candidate) == Became::Empty;
        }
        if all_empty {
            self.no_answer(judgement, None);
        }
        self.sink.judgement(judgement, self.line)
    }

    /// Several judgements, each in a cell of its own.
    pub(super) fn spread<C: Cells>(
        &mut self,
        judgement: &mut Judgement<'r>,
        cells: &'r C,
        outcome_cells: &'r [OutcomeCell],
    ) -> Result<(), ReadError> {
        let Some(reading) = self.plan.reading else { return Ok(()) };
        for OutcomeCell { column_idx, axis } in outcome_cells {
            let cell = cells.cell(*column_idx);
            let mut shown_as = ShownAs::Candidate;
            match axis {
                Axis::Rater(_) if cell == Cell::Empty => continue,
                _ if cell == Cell::Empty && self.plan.skip_empty => continue,
                Axis::Repeats | Axis::Ratings => {
                    self.tokens(judgement, reading, *column_idx, cell, axis)?;
                    continue;
                }
                Axis::Repeat(repeat) => judgement.repeat = Some(*repeat),
                Axis::Order(order, terms) => {
                    judgement.order = Some(*order);
                    shown_as = *terms;
                }
                Axis::Judge(judge) => judgement.judge = Cow::Borrowed(judge),
                Axis::Arm(arm) => judgement.arm = Some(Cow::Borrowed(arm)),
                Axis::Dimension(dimension) => judgement.dimension = Some(Cow::Borrowed(dimension)),
                Axis::Rater(rater) => set_rater(judgement, Cow::Borrowed(rater)),
            }
            self.one_of_several(judgement, reading, *column_idx, cell, shown_as)?;
        }
        Ok(())
    }

    /// Several answers in one cell, separated by blanks; `-` stands for none.
    fn tokens(
        &mut self,
        judgement: &mut Judgement<'r>,
        reading: Reading,
        column_idx: usize,
        cell: Cell<'r>,
        axis: &Axis,
    ) -> Result<(), ReadError> {
        let Cell::Text(text) = cell else {
            return self.token(judgement, reading, column_idx, cell, axis, 1);
        };
        if let Some(list) = text.strip_suffix(LIST_END) {
            for (number, token) in (1..).zip(list.split(LIST_END)) {
                self.token(judgement, reading, column_idx, Cell::of(token), axis, number)?;
            }
        } else {
            for (number, token) in (1..).zip(text.split_whitespace()) {
                self.token(judgement, reading, column_idx, Cell::Text(token), axis, number)?;
            }
        }
        Ok(())
    }

    fn token(
        &mut self,
        judgement: &mut Judgement<'r>,
        reading: Reading,
        column_idx: usize,
        cell: Cell<'r>,
        axis: &Axis,
        number: u32,
    ) -> Result<(), ReadError> {
        let cell = if cell == Cell::Text("-") { Cell::Empty } else { cell };
        match axis {
            Axis::Ratings if cell == Cell::Empty => return Ok(()),
            Axis::Ratings => set_rater(judgement, Cow::Owned(format!("rater {number}"))),
            _ => judgement.repeat = Some(number),
        }
        self.one_of_several(judgement, reading, column_idx, cell, ShownAs::Candidate)
    }

    fn one_of_several(
        &mut self,
        judgement: &mut Judgement<'r>,
        reading: Reading,
        column_idx: usize,
        cell: Cell<'r>,
        shown_as: ShownAs,
    ) -> Result<(), ReadError> {
        judgement.score = None;
        judgement.verdict = None;
        judgement.choice = None;
        judgement.category = None;
        judgement.raw = None;
        if self.answer(judgement, reading, column_idx, cell, shown_as) == Became::Empty {
            self.no_answer(judgement, Some(column_idx));
        }
        if judgement.rater.is_some() && !self.plan.raters.is_empty() {
            // A person's rating is one of the candidates', whatever the order of the judge's row.
            let order = judgement.order.take();
            let taken = self.sink.judgement(judgement, self.line);
            judgement.order = order;
            return taken;
        }
        self.sink.judgement(judgement, self.line)
    }

    fn no_answer(&mut self, judgement: &Judgement<'_>, column_idx: Option<usize>) {
        // A failed call says itself why there is no answer.
        if judgement.error.is_none() {
            let column = column_idx.map(|idx| (idx, self.plan.columns[idx].as_str()));
            self.complaints.add(Severity::Note, "empty-outcome", self.line, column, || {
                "the judge's answer is empty; counted as unparsed".to_owned()
            });
        }
    }

    /// Reads one cell into the judgement.
    fn answer(
        &mut self,
        judgement: &mut Judgement<'r>,
        reading: Reading,
        column_idx: usize,
        written: Cell<'r>,
        shown_as: ShownAs,
    ) -> Became {
        if written == Cell::Empty {
            return Became::Empty;
        }
        let mut cell = written;
        if !self.plan.values.is_empty()
            && let Some(word) = written.text().and_then(|text| self.plan.values.get(text.as_ref()))
        {
            if word == UNPARSED {
                keep_raw(judgement, written);
                return Became::Unparsed;
            }
            cell = Cell::of(word);
        }
        let understood = match reading {
            Reading::Score => {
                let number = cell.number();
                judgement.score = number.filter(|number| number.is_finite());
                if number.is_some() && judgement.score.is_none() {
                    self.complain(column_idx, "non-finite-score", written, "is not a finite number");
                    keep_raw(judgement, written);
                    return Became::Unparsed;
                }
                number.is_some()
            }
            Reading::Verdict => {
                judgement.verdict = verdict(cell);
                judgement.verdict.is_some()
            }
            Reading::Preference => {
                judgement.choice = cell.number().and_then(preferred);
                judgement.choice.is_some()
            }
            Reading::Category => {
                judgement.category = cell.text().filter(|_| !cell.is_inexact());
                judgement.category.is_some()
            }
            Reading::Choice if shown_as == ShownAs::Candidate => {
                judgement.choice = cell.text().and_then(|word| {
                    let named =
                        self.place_of(&word).map(|place| Choice::at(place, judgement.order.unwrap_or(Order::Ab)));
                    named.or_else(|| Choice::parse(&word))
                });
                judgement.choice.is_some()
            }
            Reading::Choice | Reading::Position => {
                let place = cell.text().and_then(|word| self.place_of(&word).or_else(|| ChosenPosition::parse(&word)));
                if place.is_some() && self.order_is_unknown {
                    self.complain(
                        column_idx,
                        "place-without-order",
                        written,
                        "is a place, but the order shown is not known",
                    );
                    keep_raw(judgement, written);
                    return Became::Unparsed;
                }
                if place.is_some() && judgement.order.is_none() {
                    let column = Some((column_idx, self.plan.columns[column_idx].as_str()));
                    self.complaints.add(Severity::Warning, "order-assumed", self.line, column, || {
                        "the order shown is not stated; the candidate shown first was taken as candidate a".to_owned()
                    });
                    judgement.order = Some(Order::Ab);
                }
                judgement.choice = place.map(|place| Choice::at(place, judgement.order.unwrap_or(Order::Ab)));
                place.is_some()
            }
        };
        if understood {
            return Became::Outcome;
        }
        self.complain(column_idx, "unparsed-outcome", written, &format!("is not a {}", reading.name()));
        keep_raw(judgement, written);
        Became::Unparsed
    }

    /// Returns the place of the candidate that is called `word`.
    fn place_of(&self, word: &str) -> Option<ChosenPosition> {
        let (first, second) = self.shown.as_ref()?;
        match word {
            word if word == first => Some(ChosenPosition::First),
            word if word == second => Some(ChosenPosition::Second),
            _ => None,
        }
    }

    fn complain(&mut self, column_idx: usize, code: &'static str, cell: Cell<'_>, what: &str) {
        let column = Some((column_idx, self.plan.columns[column_idx].as_str()));
        self.complaints.add(Severity::Warning, code, self.line, column, || {
            let word = cell.text().unwrap_or_default();
            format!("`{}` {what}; counted as unparsed", excerpt(&word))
        });
    }
}

fn verdict(cell: Cell<'_>) -> Option<Verdict> {
    match cell {
        Cell::Text(word) => Verdict::parse(word),
        Cell::Truth(true) | Cell::Int(1) => Some(Verdict::Accept),
        Cell::Truth(false) | Cell::Int(0) => Some(Verdict::Reject),
        Cell::Empty | Cell::Int(_) => None,
        Cell::Number(number) => Verdict::parse(&number.to_string()),
    }
}

/// Returns the candidate that a preference of 1 to 2 favours; exactly 1.5 is a tie.
fn preferred(preference: f64) -> Option<Choice> {
    if !(1.0..=2.0).contains(&preference) {
        None
    } else if preference < 1.5 {
        Some(Choice::A)
    } else if preference > 1.5 {
        Some(Choice::B)
    } else {
        Some(Choice::Tie)
    }
}

/// Keeps what the judge answered, unless its whole reply is known.
fn keep_raw<'r>(judgement: &mut Judgement<'r>, cell: Cell<'r>) {
    if judgement.raw.is_none() {
        judgement.raw = cell.text();
    }
}

fn set_rater<'r>(judgement: &mut Judgement<'r>, rater: Cow<'r, str>) {
    judgement.rater = Some(rater);
    judgement.judge = Cow::Borrowed("");
}
