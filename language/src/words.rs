//! Words of a line: ASCII letters, digits and underscores.

/// Words in a range and the text between: `name` of `name (`. `None` without a word, or if the
/// range cuts one.
#[inline]
pub fn words_in(line: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    let range = line.get(start..end)?;
    let first = range.iter().position(|&byte| is_word(byte))?;
    let last = range.iter().rposition(|&byte| is_word(byte))?;
    let (start, end) = (start + first, start + last + 1);
    let is_cut = |at: Option<&u8>| at.is_some_and(|&byte| is_word(byte));
    if is_cut(line[..start].last()) || is_cut(line.get(end)) {
        return None;
    }
    Some((start, end))
}

/// True if only a part of a program can use a definition at `start`: `static`, `private`.
pub fn is_local(line: &[u8], start: usize) -> bool {
    let mut words = line[..start].split(|&byte| !is_word(byte));
    words.any(|word| matches!(word, b"static" | b"private"))
}

/// Without branches, for loops over many bytes.
#[inline]
pub fn is_word(byte: u8) -> bool {
    ((byte | 0x20).wrapping_sub(b'a') < 26) | (byte.wrapping_sub(b'0') < 10) | (byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_letters_digits_and_underscores() {
        for byte in 0..=u8::MAX {
            let expected = byte.is_ascii_alphanumeric() || byte == b'_';
            assert_eq!(is_word(byte), expected, "{byte}");
        }
    }

    #[test]
    fn words_of_a_range_are_whole() {
        fn words<'a>(line: &'a str, range: &str) -> Option<&'a str> {
            let start = line.find(range).unwrap();
            let found = words_in(line.as_bytes(), start, start + range.len())?;
            Some(&line[found.0..found.1])
        }
        assert_eq!(words("a name (b)", "name"), Some("name"));
        assert_eq!(words("a name (b)", " name ("), Some("name"));
        assert_eq!(words("a name (b)", "name (b"), Some("name (b"));
        assert_eq!(words("a names", "name"), None);
        assert_eq!(words("a b::name", "b::name"), Some("b::name"));
        assert_eq!(words("a b::name", ":na"), None);
        assert_eq!(words("a; b", ";"), None);
        assert_eq!(words_in(b"a", 0, 9), None);
    }
}
