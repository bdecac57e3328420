//! The shortest way from a row to a judgement, for tables whose columns are fields as they stand: nearly every large log.
//!
//! Whatever is not understood at once is left to [`super::rows`], which knows what to say about it; so the two cannot
//! differ in what they make of a row, only in what it costs.

use std::borrow::Cow;

use assize_calibration::judgement::{Judgement, LabelText, Verdict};

use super::columns::Reading;
use super::fields::Field;
use super::plan::{Plan, Text};
use super::table::{Cell, Cells};

/// The columns of an ordinary table.
pub(super) struct Ordinary {
    item: usize,
    judge: Option<usize>,
    label: Option<usize>,
    arm: Option<usize>,
    dimension: Option<usize>,
    group: Option<usize>,
    repeat: Option<usize>,
    outcome: usize,
    is_score: bool,
}

impl Ordinary {
    /// Returns the columns, or `None` if the plan asks for anything else than to read them.
    pub(super) fn of(plan: &Plan) -> Option<Self> {
        const FIELDS: [Field; 9] = [
            Field::Item,
            Field::Judge,
            Field::Label,
            Field::Arm,
            Field::Dimension,
            Field::Group,
            Field::Repeat,
            Field::Score,
            Field::Verdict,
        ];
        let asks_for_more = !plan.cells.is_empty()
            || !plan.raters.is_empty()
            || !plan.people.is_empty()
            || !plan.only.is_empty()
            || !plan.values.is_empty()
            || !plan.label_values.is_empty()
            || plan.shown.is_some()
            || !plan.style.is_empty()
            || plan.label_file.is_some()
            || Field::ALL.iter().any(|field| !FIELDS.contains(field) && plan.texts.contains_key(field));
        let (is_score, outcome) = match plan.outcomes.as_slice() {
            [(Reading::Score, idx)] => (true, *idx),
            [(Reading::Verdict, idx)] => (false, *idx),
            _ => return None,
        };
        let is_column = |field: &Field| matches!(plan.texts.get(field), None | Some(Text::Column(_)));
        let may_be = !asks_for_more && FIELDS.iter().all(is_column);
        may_be.then_some(())?;
        Some(Self {
            item: plan.column(Field::Item)?,
            judge: plan.column(Field::Judge),
            label: plan.column(Field::Label),
            arm: plan.column(Field::Arm),
            dimension: plan.column(Field::Dimension),
            group: plan.column(Field::Group),
            repeat: plan.column(Field::Repeat),
            outcome,
            is_score,
        })
    }

    /// Returns the row's judgement, or `None` if any of it takes a second look. `stem` names the judge where no column does.
    #[inline]
    pub(super) fn judgement<'r, C: Cells>(&self, cells: &'r C, stem: &'r str) -> Option<Judgement<'r>> {
        // Numbers and truth values of typed tables take a second look.
        let word = |idx: Option<usize>| match idx.map_or(Cell::Empty, |idx| cells.cell(idx)) {
            Cell::Text(text) => Some(Some(text)),
            Cell::Empty => Some(None),
            _ => None,
        };
        let outcome = cells.cell(self.outcome);
        let (score, verdict) = if self.is_score {
            (Some(outcome.number().filter(|score| score.is_finite())?), None)
        } else {
            let Cell::Text(word) = outcome else { return None };
            (None, Some(Verdict::parse(word)?))
        };
        let repeat = match self.repeat {
            None => None,
            Some(idx) => Some(cells.cell(idx).repeat()?),
        };
        Some(Judgement {
            item: Cow::Borrowed(word(Some(self.item))??),
            judge: Cow::Borrowed(word(self.judge)?.unwrap_or(stem)),
            score,
            verdict,
            repeat,
            arm: word(self.arm)?.map(Cow::Borrowed),
            dimension: word(self.dimension)?.map(Cow::Borrowed),
            label: word(self.label)?.map(LabelText::from),
            group: word(self.group)?.map(Cow::Borrowed),
            ..Judgement::default()
        })
    }
}
