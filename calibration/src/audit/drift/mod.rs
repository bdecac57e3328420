//! Whether a judge changed over time.

use super::table::Subject;
use crate::log::Log;

/// Returns when a judge was asked first and last, in milliseconds since 1970; `None` where the log does not say.
pub(crate) fn asked(log: &Log, subject: &Subject) -> Option<[i64; 2]> {
    if log.time.is_empty() {
        return None;
    }
    let times = subject.rows.iter().filter_map(|&row| log.asked_ms(row as usize));
    times.fold(None, |range: Option<[i64; 2]>, time| {
        Some(range.map_or([time, time], |[first, last]| [first.min(time), last.max(time)]))
    })
}
