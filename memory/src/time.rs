//! A moment, as people write it. What time it is now is for the caller to say.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

const MS_PER_DAY: i64 = 86_400_000;
/// Years 0000 to 9999, which RFC 3339 can write.
const FIRST_MS: i64 = -719_528 * MS_PER_DAY;
const LAST_MS: i64 = 2_932_897 * MS_PER_DAY - 1;

/// A moment to the millisecond, in the years 0000 to 9999.
///
/// Written as RFC 3339 in UTC with three decimals, `2026-11-30T20:53:32.000Z`. Read with any offset and any number of
/// decimals, of which the first three are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(i64);

/// A text that is no moment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no time; write it like 2026-11-30T20:53:32Z or 2026-11-30T20:53:32+01:00")]
pub struct TimeError {
    text: String,
}

impl Time {
    /// Returns the moment so many milliseconds after 1970 began, in UTC; `None` outside the years 0000 to 9999.
    pub const fn from_unix_ms(unix_ms: i64) -> Option<Self> {
        if FIRST_MS <= unix_ms && unix_ms <= LAST_MS { Some(Self(unix_ms)) } else { None }
    }

    /// Returns the milliseconds since 1970 began, in UTC.
    pub const fn unix_ms(self) -> i64 {
        self.0
    }
}

/// Returns the days from 1970-01-01 to a date of the Gregorian calendar, by Hinnant's algorithm
/// (H. Hinnant, "chrono-compatible low-level date algorithms", `days_from_civil`).
fn days_from_date(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March, so that the leap day comes last.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// Returns year, month and day, the reverse of [`days_from_date`].
fn date_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, month, day_of_year - (153 * shifted + 2) / 5 + 1)
}

/// Reads a number of exactly `n_digits` digits and returns it with the rest.
fn number(text: &str, n_digits: usize) -> Option<(i64, &str)> {
    let digits = text.get(..n_digits).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    Some((digits.parse().ok()?, &text[n_digits..]))
}

fn parse(text: &str) -> Option<Time> {
    let (year, rest) = number(text, 4)?;
    let (month, rest) = number(rest.strip_prefix('-')?, 2)?;
    let (day, rest) = number(rest.strip_prefix('-')?, 2)?;
    let (hour, rest) = number(rest.strip_prefix(['T', 't', ' '])?, 2)?;
    let (minute, rest) = number(rest.strip_prefix(':')?, 2)?;
    let (second, mut rest) = number(rest.strip_prefix(':')?, 2)?;
    let mut ms = 0;
    if let Some(decimals) = rest.strip_prefix('.') {
        let n_digits = decimals.bytes().take_while(u8::is_ascii_digit).count();
        let kept = format!("{:0<3}", &decimals[..n_digits.min(3)]);
        (ms, _) = number(&kept, 3).filter(|_| n_digits > 0)?;
        rest = &decimals[n_digits..];
    }
    let offset_minutes = match rest {
        "Z" | "z" => 0,
        _ => {
            let sign = if rest.starts_with('-') { -1 } else { 1 };
            let (hours, rest) = number(rest.strip_prefix(['+', '-'])?, 2)?;
            let (minutes, rest) = number(rest.strip_prefix(':')?, 2)?;
            if hours > 23 || minutes > 59 || !rest.is_empty() {
                return None;
            }
            sign * (hours * 60 + minutes)
        }
    };
    let days = days_from_date(year, month, day);
    // The way back shows whether there is such a day.
    if date_from_days(days) != (year, month, day) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let minutes = days * 1_440 + hour * 60 + minute - offset_minutes;
    Time::from_unix_ms(minutes * 60_000 + second * 1_000 + ms)
}

impl FromStr for Time {
    type Err = TimeError;

    /// Reads RFC 3339: date, time and offset. A leap second (`:60`) is not taken.
    fn from_str(text: &str) -> Result<Self, TimeError> {
        parse(text).ok_or_else(|| TimeError { text: text.chars().take(40).collect() })
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = date_from_days(self.0.div_euclid(MS_PER_DAY));
        let ms = self.0.rem_euclid(MS_PER_DAY);
        let (hour, minute, second, ms) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1_000 % 60, ms % 1_000);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Cow::<'de, str>::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl JsonSchema for Time {
    fn schema_name() -> Cow<'static, str> {
        "Time".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, unix_ms: i64, written: &str) {
        let time: Time = text.parse().unwrap();
        assert_eq!((time.unix_ms(), time.to_string().as_str()), (unix_ms, written), "{text}");
    }

    // Expected values: GNU date, `date -u -d TEXT +%s`.
    #[test]
    fn times_are_read_with_offsets_and_written_in_utc() {
        check("1970-01-01T00:00:00Z", 0, "1970-01-01T00:00:00.000Z");
        check("2000-02-29T12:30:45.5+01:30", 951_822_045_500, "2000-02-29T11:00:45.500Z");
        check("2026-11-30 20:53:32.123999-05:00", 1_796_090_012_123, "2026-12-01T01:53:32.123Z");
        check("1969-12-31T23:59:59.999Z", -1, "1969-12-31T23:59:59.999Z");
        check("0000-01-01T00:00:00Z", FIRST_MS, "0000-01-01T00:00:00.000Z");
        check("9999-12-31t23:59:59.999z", LAST_MS, "9999-12-31T23:59:59.999Z");
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "",
            "2026-11-30",
            "2026-11-30T20:53:32",
            "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-00-01T00:00:00Z",
            "2026-01-00T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:00:60Z",
            "2026-01-01T00:00:00.Z",
            "2026-01-01T00:00:00+1:00",
            "2026-01-01T00:00:00+24:00",
            "２026-01-01T00:00:00Z",
            "0000-01-01T00:00:00+00:01",
            "9999-12-31T23:59:59-00:01",
            "年年年年-01-01T00:00:00Z",
        ] {
            text.parse::<Time>().unwrap_err();
        }
    }

    proptest! {
        #[test]
        fn every_time_is_read_as_it_was_written(unix_ms in FIRST_MS..=LAST_MS) {
            let time = Time::from_unix_ms(unix_ms).unwrap();
            prop_assert_eq!(time.to_string().parse(), Ok(time));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "\\PC*") {
            text.parse::<Time>().ok();
        }
    }
}
