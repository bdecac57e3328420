//! Time cut into windows: calendar days, calendar weeks, or stretches with as many judgements each. All in UTC.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::data::table::Subject;
use crate::log::Log;

const DAY_MS: i64 = 86_400_000;
/// 1970 began on a Thursday; weeks begin on Mondays.
const WEEK_OFFSET_MS: i64 = 3 * DAY_MS;
/// The most windows: more would each hold little, and be more than anyone reads.
const MOST_WINDOWS: usize = 60;
/// Windows of as many judgements each, where nothing else is asked for.
const USUAL_COUNT: usize = 4;
/// Judgements that such a window has at least.
const FEWEST_JUDGEMENTS: usize = 10;

/// How time is cut into windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Windows {
    /// So many windows, with as many judgements each.
    Count(u32),
    /// Days or weeks.
    Calendar(Calendar),
}

/// A stretch of the calendar, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Calendar {
    /// From midnight to midnight.
    Day,
    /// From Monday to Sunday.
    Week,
}

/// Windows of a judge's judgements.
pub(super) struct Cut {
    /// When each window begins, ascending; the first at or before the first judgement.
    begins: Vec<i64>,
    /// How it was cut, in words.
    pub words: String,
}

impl Cut {
    /// Cuts the time of `times` (ascending). `None` where that leaves fewer than two windows.
    pub(super) fn new(times: &[i64], asked: Option<Windows>) -> Option<Self> {
        let (first, last) = (*times.first()?, *times.last()?);
        let days = (last - first) / DAY_MS;
        let asked = asked.unwrap_or_else(|| match days {
            // Enough of either that three windows are whole.
            28.. => Windows::Calendar(Calendar::Week),
            4.. => Windows::Calendar(Calendar::Day),
            _ => Windows::Count(u32::try_from((times.len() / FEWEST_JUDGEMENTS).clamp(2, USUAL_COUNT)).unwrap_or(2)),
        });
        let (mut begins, mut words) = match asked {
            Windows::Calendar(Calendar::Day) => (calendar(times, DAY_MS, 0), "calendar days (UTC)".to_owned()),
            Windows::Calendar(Calendar::Week) => {
                (calendar(times, 7 * DAY_MS, WEEK_OFFSET_MS), "calendar weeks from Monday (UTC)".to_owned())
            }
            Windows::Count(n) => by_count(times, n as usize),
        };
        if begins.len() > MOST_WINDOWS {
            (begins, words) = by_count(times, MOST_WINDOWS);
            words.push_str(", since there would be too many others");
        }
        (begins.len() > 1).then_some(Self { begins, words })
    }

    /// Returns the window of a time.
    pub(super) fn of(&self, time: i64) -> usize {
        self.begins.partition_point(|begin| *begin <= time).saturating_sub(1)
    }

    pub(super) fn len(&self) -> usize {
        self.begins.len()
    }
}

/// Returns where stretches of the calendar begin that hold a time.
fn calendar(times: &[i64], length: i64, offset: i64) -> Vec<i64> {
    let mut begins: Vec<i64> = times.iter().map(|time| (time + offset).div_euclid(length) * length - offset).collect();
    begins.dedup();
    begins
}

/// Returns where windows begin that hold as many times each; the same time is never in two.
fn by_count(times: &[i64], n: usize) -> (Vec<i64>, String) {
    let n = n.clamp(1, times.len().min(MOST_WINDOWS));
    let mut begins: Vec<i64> = (0..n).map(|idx| times[idx * times.len() / n]).collect();
    begins.dedup();
    let words = format!("{} stretches of as many judgements each", begins.len());
    (begins, words)
}

/// Returns the times of a judge's judgements, ascending.
pub(super) fn times(log: &Log, subject: &Subject) -> Vec<i64> {
    let mut times: Vec<i64> = subject.rows.iter().filter_map(|&row| log.asked_ms(row as usize)).collect();
    if !times.is_sorted() {
        times.sort_unstable();
    }
    times
}
