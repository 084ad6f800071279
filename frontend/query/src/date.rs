//! Times of `before:` and `after:`: dates, RFC 3339, or seconds since 1970. Dates are in UTC.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

const DAY_SECONDS: i64 = 24 * 60 * 60;

/// Digits from which a number is in seconds; fewer are a year.
const SECONDS_DIGITS_MIN: usize = 5;

pub const DATE_EXPECTED: &str =
    "a date such as 2024-05-31, 2024-05 or 2024, or 2024-05-31T12:00:00Z";

/// Seconds since 1970 of a typed time; of a date, year or month those of its beginning.
pub fn seconds_of(typed: &str) -> Option<i64> {
    let digits = typed.trim_start_matches('-').len();
    if digits >= SECONDS_DIGITS_MIN
        && let Ok(seconds) = typed.parse()
    {
        return Some(seconds);
    }
    let date = match typed.len() {
        4 => format!("{typed}-01-01"),
        7 => format!("{typed}-01"),
        _ => typed.to_owned(),
    };
    if let Ok(time) = date.parse::<Timestamp>() {
        return Some(time.as_second());
    }
    let date = date.parse::<Date>().ok().filter(|_| date.len() == 10)?;
    let time = date.to_zoned(TimeZone::UTC).ok()?;
    Some(time.timestamp().as_second())
}

pub fn date_shown(seconds: i64) -> String {
    match Timestamp::from_second(seconds) {
        Ok(time) if time.as_second() % DAY_SECONDS == 0 => time.strftime("%Y-%m-%d").to_string(),
        Ok(time) => time.to_string(),
        Err(_) => seconds.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_they_are_shown() {
        for (text, expected, shown) in [
            ("2024", 1_704_067_200, "2024-01-01"),
            ("2024-05", 1_714_521_600, "2024-05-01"),
            ("2024-05-31", 1_717_113_600, "2024-05-31"),
            (
                "2024-05-31T12:00:00Z",
                1_717_156_800,
                "2024-05-31T12:00:00Z",
            ),
            (
                "2024-05-31T12:00:00+02:00",
                1_717_149_600,
                "2024-05-31T10:00:00Z",
            ),
            ("86401", 86_401, "1970-01-02T00:00:01Z"),
            ("-86400", -86_400, "1969-12-31"),
            ("99999999999999", 99_999_999_999_999, "99999999999999"),
        ] {
            assert_eq!(seconds_of(text), Some(expected), "{text}");
            assert_eq!(date_shown(expected), shown);
            assert_eq!(seconds_of(shown), Some(expected));
        }
        for other in ["", "24", "May", "2024-5-1", "2024-13-01", "yesterday"] {
            assert_eq!(seconds_of(other), None, "{other}");
        }
    }
}
