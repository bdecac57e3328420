//! Sinks: a log in memory, and two sinks at once.

use assize_calibration::judgement::Judgement;
use assize_calibration::log::Log;
use assize_calibration::problem::{Problem, Problems};

use super::{ReadError, Sink};

/// Collects a log in memory, and the problems met on the way.
#[derive(Debug, Default)]
pub struct Collector {
    /// The judgements, in the order read.
    pub log: Log,
    /// What was wrong with the input.
    pub problems: Problems,
}

impl Sink for Collector {
    fn judgement(&mut self, judgement: &Judgement<'_>, line: u64) -> Result<(), ReadError> {
        self.log.push(judgement, line);
        Ok(())
    }

    fn problem(&mut self, problem: Problem) {
        self.problems.add(problem);
    }
}

/// Hands everything to two sinks: first the one, then the other.
pub struct Tee<'a> {
    /// The first; problems go to it alone, so that none is told twice.
    pub first: &'a mut dyn Sink,
    /// The second.
    pub second: &'a mut dyn Sink,
}

impl Sink for Tee<'_> {
    fn judgement(&mut self, judgement: &Judgement<'_>, line: u64) -> Result<(), ReadError> {
        self.first.judgement(judgement, line)?;
        self.second.judgement(judgement, line)
    }

    fn problem(&mut self, problem: Problem) {
        self.first.problem(problem);
    }
}
