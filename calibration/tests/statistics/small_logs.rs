//! Small logs made in a few words, and what they are audited to.

use assize_calibration::audit::result::{Audit, JudgeAudit, Measure};
use assize_calibration::audit::{AuditConfig, audit};
use assize_calibration::gate::{Gate, Limit};
use assize_calibration::judgement::{Choice, Judgement, Order, Verdict};
use assize_calibration::log::Log;

/// Answers that choose one of two, in order of repeats; `None` is an unparsed reply.
pub(crate) type Choices<'a> = &'a [Option<Choice>];

/// Rows of a log, as few words as a test needs.
#[derive(Default)]
pub(crate) struct Rows(pub(crate) Log);

impl Rows {
    pub(crate) fn push(&mut self, item: usize, row: Judgement<'_>) {
        self.0.push(&Judgement { item: item.to_string().into(), ..row }, 0);
    }

    /// A verdict on an item labelled 1 or 0; none is an unparsed reply.
    pub(crate) fn verdict(&mut self, item: usize, accepts: Option<bool>, label: bool) {
        let verdict = accepts.map(|accepts| if accepts { Verdict::Accept } else { Verdict::Reject });
        let label = if label { "1" } else { "0" };
        self.push(item, Judgement { verdict, label: Some(label.into()), ..Judgement::default() });
    }

    pub(crate) fn score(&mut self, item: usize, score: f64) {
        self.push(item, Judgement { score: Some(score), ..Judgement::default() });
    }

    pub(crate) fn scores(&mut self, scores: &[(usize, f64)]) {
        for &(item, score) in scores {
            self.score(item, score);
        }
    }

    pub(crate) fn choice(&mut self, item: usize, choice: Choice, order: Order, repeat: u32) {
        let row = Judgement { choice: Some(choice), order: Some(order), repeat: Some(repeat), ..Judgement::default() };
        self.push(item, row);
    }

    /// Answers to an item in order ab and in order ba; `row` has the rest.
    pub(crate) fn in_orders(&mut self, item: usize, row: &Judgement<'_>, ab: Choices<'_>, ba: Choices<'_>) {
        for (order, choices) in [(Order::Ab, ab), (Order::Ba, ba)] {
            for &choice in choices {
                self.push(item, Judgement { choice, order: Some(order), ..row.clone() });
            }
        }
    }

    pub(crate) fn audit(&self) -> Audit {
        audit(&self.0, &AuditConfig::default(), &Gate::built_in()).unwrap()
    }

    pub(crate) fn judge(&self) -> JudgeAudit {
        self.audit().judges.remove(0)
    }

    pub(crate) fn with_limit(&self, id: &str, limit: Limit) -> JudgeAudit {
        let gate = Gate { limits: [(id.to_owned(), limit)].into(), ..Gate::built_in() };
        let gate = Gate { name: "test".to_owned(), truth_optional: true, ..gate };
        audit(&self.0, &AuditConfig::default(), &gate).unwrap().judges.remove(0)
    }
}

pub(crate) fn at_most(max: f64) -> Limit {
    Limit { max: Some(max), ..Limit::default() }
}

#[track_caller]
pub(crate) fn close(actual: f64, expected: f64, tolerance: f64) {
    assert!((actual - expected).abs() <= tolerance, "{actual} is not {expected}");
}

pub(crate) fn high(measure: &Measure) -> f64 {
    measure.high.unwrap()
}
