//! Sizes as people write them: `512M`, `4G`, `65536`.

const NOT_A_SIZE: &str = "not a size; write bytes, or a number and K, M, G or T, as in 512M";

/// Parses a number of bytes, with an optional K, M, G or T (powers of 1,024; a `B` or `iB` behind
/// it changes nothing).
pub(crate) fn parse(text: &str) -> Result<u64, String> {
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
    number
        .checked_mul(1 << shift)
        .ok_or_else(|| "too large".to_owned())
}

/// A number of bytes for people: `449.1 MB`.
pub(crate) fn show(bytes: u64) -> String {
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

/// A count for people: `77,807`.
pub(crate) fn count(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        assert_eq!(parse("512M"), Ok(512 << 20));
        assert_eq!(parse("4GiB"), Ok(4 << 30));
        assert_eq!(parse("1k"), Ok(1024));
        assert_eq!(parse("77"), Ok(77));
        for bad in ["", "M", "4X", "-1", "1.5G", "99999999999T"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes_are_shown_to_people() {
        assert_eq!(show(999), "999 B");
        assert_eq!(show(449_100_000), "449.1 MB");
        assert_eq!(show(999_999), "1.0 MB");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(count(77), "77");
    }
}
