//! When something was asked, as logs write it. What time it is now nobody here knows.

use chrono::{DateTime, NaiveDate, NaiveDateTime};

/// Numbers below this are seconds (until the year 5138), those from it on milliseconds (from 1973 on).
const MILLISECONDS_FROM: f64 = 1e11;
/// The year 9999 ends before this.
const LAST_MS: f64 = 253_402_300_800_000.0;

/// Returns the milliseconds since 1970 (UTC) of a time: RFC 3339 (`2026-11-30T20:53:32Z`, with any offset and decimals; a blank may
/// stand for the `T`), the same without an offset or without the time of day, which are taken as UTC, or Unix time in seconds or, from
/// 100,000,000,000 on, milliseconds.
///
/// Undefined (`None`): any other text, and times beyond the year 9999.
#[must_use]
pub fn unix_ms(text: &str) -> Option<i64> {
    let text = text.trim();
    // A date begins with a year and a dash; numbers have no dash but at their front.
    if text.get(1..).is_none_or(|rest| !rest.contains('-')) {
        return of_number(text.parse().ok()?);
    }
    let ms = match DateTime::parse_from_rfc3339(text) {
        Ok(time) => time.timestamp_millis(),
        Err(_) => without_offset(text)?.and_utc().timestamp_millis(),
    };
    ((ms as f64).abs() <= LAST_MS).then_some(ms)
}

fn without_offset(text: &str) -> Option<NaiveDateTime> {
    let form = if text.as_bytes().get(10).is_some_and(|byte| *byte == b' ') {
        "%Y-%m-%d %H:%M:%S%.f"
    } else {
        "%Y-%m-%dT%H:%M:%S%.f"
    };
    NaiveDateTime::parse_from_str(text, form)
        .ok()
        .or_else(|| NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?.and_hms_opt(0, 0, 0))
}

fn of_number(number: f64) -> Option<i64> {
    let ms = if number.abs() < MILLISECONDS_FROM { number * 1e3 } else { number };
    #[expect(clippy::cast_possible_truncation, reason = "far below 2^53")]
    (ms.is_finite() && ms.abs() <= LAST_MS).then(|| ms.round() as i64)
}

/// Returns the date of a time, `2026-11-30`.
#[must_use]
pub fn date(unix_ms: i64) -> String {
    DateTime::from_timestamp_millis(unix_ms).map_or_else(String::new, |time| time.date_naive().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_logs_write_them() {
        let noon = Some(1_796_126_400_000);
        for text in [
            "2026-12-01T12:00:00Z",
            "2026-12-01t12:00:00z",
            "2026-12-01 12:00:00+00:00",
            "2026-12-01T13:00:00+01:00",
            "2026-12-01T12:00:00.000Z",
            "2026-12-01T12:00:00",
            "2026-12-01 12:00:00.0",
            "1796126400",
            "1796126400.0",
            "1796126400000",
            " 1.7961264e9 ",
        ] {
            assert_eq!(unix_ms(text), noon, "{text}");
        }
        assert_eq!(unix_ms("2026-12-01"), noon.map(|ms| ms - 43_200_000));
        assert_eq!(unix_ms("1969-12-31T23:59:59Z"), Some(-1000));
        for wrong in
            ["", "yesterday", "12:00", "2026-13-01", "01/12/2026", "NaN", "1e300", "2026-12-01T25:00:00Z", "é-", "-"]
        {
            assert_eq!(unix_ms(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn dates_are_those_of_utc() {
        assert_eq!(date(1_796_126_400_000), "2026-12-01");
        assert_eq!(date(-1), "1969-12-31");
    }
}
