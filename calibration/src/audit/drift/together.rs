//! What times say of the log: those that could not be read, and arms or judges asked at different times.

use super::super::data::table::{Subject, Table};
use crate::log::NONE;
use crate::problem::{Problem, Problems, Severity};

const HOUR_MS: i64 = 3_600_000;

/// Reports times that could not be read, and judges or arms whose difference may be one of time.
pub(crate) fn report(table: &Table<'_>, problems: &mut Problems) {
    let log = table.log;
    let (n_unread, row_idx) = log.unread_times;
    if n_unread > 0 {
        let message = "is no time and was left out; the row is used. Write RFC 3339 (2026-11-30T20:53:32Z) or Unix time in \
                       seconds or milliseconds";
        let problem = Problem::new(Severity::Warning, "unreadable-time", message);
        problems.add(log.locate(row_idx, problem.times(n_unread).in_column("time")));
    }
    if log.time.is_empty() || table.subjects.len() < 2 {
        return;
    }
    let asked: Vec<Option<Asked>> = table.subjects.iter().map(|subject| Asked::of(table, subject)).collect();
    let mut apart: Option<(usize, usize, &str)> = None;
    let mut n_apart = 0;
    for (b, of_b) in asked.iter().enumerate() {
        for (a, of_a) in asked[..b].iter().enumerate() {
            let (one, other) = (&table.subjects[a], &table.subjects[b]);
            let are_compared = one.judge == other.judge || one.arm == other.arm;
            let Some((x, y)) = of_a.as_ref().zip(of_b.as_ref()).filter(|_| are_compared) else { continue };
            let how = if x.last < y.first || y.last < x.first {
                "at times that do not overlap"
            } else if x.hours & y.hours == 0 {
                "at different hours of the day"
            } else {
                continue;
            };
            n_apart += 1;
            apart.get_or_insert((a, b, how));
        }
    }
    if let Some((a, b, how)) = apart {
        let name = |subject: &Subject| {
            let part = |names: &crate::names::Names, id: u32| (id != NONE).then(|| names.name(id).to_owned());
            let parts = [part(&log.judges, subject.judge), part(&log.arms, subject.arm)];
            parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
        };
        let message = format!(
            "{} and {} were asked {how}: what changed in between is part of their difference; ask them by turns",
            name(&table.subjects[a]),
            name(&table.subjects[b])
        );
        problems.add(Problem::new(Severity::Note, "asked-apart", message).times(n_apart).in_column("time"));
    }
}

/// When a judge was asked.
struct Asked {
    first: i64,
    last: i64,
    /// A bit for each hour of the day (UTC).
    hours: u32,
}

impl Asked {
    fn of(table: &Table<'_>, subject: &Subject) -> Option<Self> {
        let times = subject.rows.iter().filter_map(|&row| table.log.asked_ms(row as usize));
        times.fold(None, |asked: Option<Self>, time| {
            let hour = 1_u32 << time.div_euclid(HOUR_MS).rem_euclid(24);
            Some(match asked {
                None => Self { first: time, last: time, hours: hour },
                Some(known) => {
                    Self { first: known.first.min(time), last: known.last.max(time), hours: known.hours | hour }
                }
            })
        })
    }
}
