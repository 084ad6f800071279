//! Human-readable numbers: `512M`, `449.1 MB`, `77,807`, `2 files`, `3 days`.

use indicatif::HumanCount;

const NOT_A_SIZE: &str = "not a size; write bytes, or a number and K, M, G or T, as in 512M";

/// Bytes with an optional K, M, G or T (powers of 1,024), also with `B` or `iB`.
pub(crate) fn parse_size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = text[digits.len()..].to_ascii_uppercase();
    let shift = match unit.trim_end_matches('B').trim_end_matches('I') {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return Err(NOT_A_SIZE.to_owned()),
    };
    let number: u64 = digits.parse().map_err(|_| NOT_A_SIZE.to_owned())?;
    let bytes = number.checked_mul(1 << shift);
    bytes.ok_or_else(|| "larger than 2^64 bytes".to_owned())
}

/// Powers of 1,000: `449.1 MB`.
pub(crate) fn size(bytes: u64) -> String {
    let units = ["B", "kB", "MB", "GB", "TB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 999.95 && unit + 1 < units.len() {
        value /= 1000.0;
        unit += 1;
    }
    if unit == 0 {
        format!("{bytes} B")
    } else {
        format!("{value:.1} {}", units[unit])
    }
}

/// `77,807`.
pub(crate) fn count(count: u64) -> String {
    HumanCount(count).to_string()
}

/// `1 file`, `2 files`, `2 matches`.
pub(crate) fn plural(number: u64, noun: &str) -> String {
    let (stem, end) = match noun.strip_suffix('y') {
        _ if number == 1 => (noun, ""),
        Some(stem) => (stem, "ies"),
        None if noun.ends_with("ch") => (noun, "es"),
        None => (noun, "s"),
    };
    format!("{} {stem}{end}", count(number))
}

/// `3 of 24 (12.500 %)`.
pub(crate) fn share(part: u64, whole: u64) -> String {
    let percent = 100.0 * part as f64 / whole.max(1) as f64;
    format!("{} of {} ({percent:.3} %)", count(part), count(whole))
}

/// The largest unit with two: `3 days`.
pub(crate) fn age(seconds: u64) -> String {
    let units = [(86_400, "day"), (3_600, "hour"), (60, "minute")];
    let unit = units.into_iter().find(|(length, _)| seconds >= 2 * length);
    let (length, unit) = unit.unwrap_or((1, "second"));
    plural(seconds / length, unit)
}

/// `0.3 ms`, `31 ms`, `1.2 s`.
pub(crate) fn duration(milliseconds: f64) -> String {
    match milliseconds {
        short if short < 10.0 => format!("{short:.1} ms"),
        middle if middle < 1000.0 => format!("{middle:.0} ms"),
        long => format!("{:.1} s", long / 1000.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_sizes_with_and_without_unit() {
        assert_eq!(parse_size("512M"), Ok(512 << 20));
        assert_eq!(parse_size("4GiB"), Ok(4 << 30));
        assert_eq!(parse_size("1k"), Ok(1024));
        assert_eq!(parse_size("77"), Ok(77));
        for bad in ["", "M", "4X", "-1", "1.5G", "99999999999T"] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn formats_sizes_and_counts() {
        assert_eq!(size(999), "999 B");
        assert_eq!(size(449_100_000), "449.1 MB");
        assert_eq!(size(999_999), "1.0 MB");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(count(77), "77");
    }
}
