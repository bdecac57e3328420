//! Sinks: a log in memory, and two sinks at once.

use assize_calibration::judgement::Judgement;
use assize_calibration::log::Log;
use assize_calibration::problem::{Problem, Problems};

use super::{Part, Parts, ReadError, Sink, own_part};

/// Collects a log in memory, and the problems met on the way.
#[derive(Debug, Default)]
pub struct Collector {
    /// The judgements, in the order read.
    pub log: Log,
    /// What was wrong with the input.
    pub problems: Problems,
    /// Empty logs with room for as many rows as a part has.
    spare: Vec<Log>,
}

impl Sink for Collector {
    fn judgement(&mut self, judgement: &Judgement<'_>, line: u64) -> Result<(), ReadError> {
        self.log.push(judgement, line);
        Ok(())
    }

    fn problem(&mut self, problem: Problem) {
        self.problems.add(problem);
    }

    fn begin_source(&mut self, name: &str) {
        self.log.begin_source(name);
    }

    fn parts(&mut self) -> Option<&mut dyn Parts> {
        Some(self)
    }
}

impl Parts for Collector {
    fn part(&mut self) -> Box<dyn Part> {
        Box::new(Self { log: self.spare.pop().unwrap_or_default(), ..Self::default() })
    }

    fn append(&mut self, part: Box<dyn Part>) -> Result<(), ReadError> {
        let Self { mut log, problems, .. } = own_part(part);
        self.log.append(&mut log);
        self.spare.push(log);
        self.problems.append(problems);
        Ok(())
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

    fn begin_source(&mut self, name: &str) {
        self.first.begin_source(name);
        self.second.begin_source(name);
    }

    fn parts(&mut self) -> Option<&mut dyn Parts> {
        (self.first.parts().is_some() && self.second.parts().is_some()).then_some(self)
    }
}

const BOTH: &str = "a tee has parts only where both its sinks have";

impl Parts for Tee<'_> {
    fn part(&mut self) -> Box<dyn Part> {
        Box::new(TeePart {
            first: self.first.parts().expect(BOTH).part(),
            second: self.second.parts().expect(BOTH).part(),
        })
    }

    fn append(&mut self, part: Box<dyn Part>) -> Result<(), ReadError> {
        let TeePart { first, second } = own_part(part);
        self.first.parts().expect(BOTH).append(first)?;
        self.second.parts().expect(BOTH).append(second)
    }
}

/// Some of the rows of both sinks.
struct TeePart {
    first: Box<dyn Part>,
    second: Box<dyn Part>,
}

impl Sink for TeePart {
    fn judgement(&mut self, judgement: &Judgement<'_>, line: u64) -> Result<(), ReadError> {
        self.first.judgement(judgement, line)?;
        self.second.judgement(judgement, line)
    }

    fn problem(&mut self, problem: Problem) {
        self.first.problem(problem);
    }
}
