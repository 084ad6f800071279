//! Finds all words of a text that its lines define.
//!
//! **Invariant:** exactly the words of which [`level`](super::level) is above 0. That function is asked only about words
//! that one of its rules may hold for; each test below names the rules.

use super::{LINE_BYTES_MAX, is_modifier, level};

/// Calls `found` with each word that a line of `text` defines, and how much the line looks like it.
pub fn for_each(text: &[u8], mut found: impl FnMut(&[u8], u8)) {
    let mut rest = text;
    while !rest.is_empty() {
        let (line, next) = match memchr::memchr(b'\n', rest) {
            Some(end) => (&rest[..end], &rest[end + 1..]),
            None => (rest, &[][..]),
        };
        let is_whole = line.len() < rest.len();
        rest = next;
        let line = match line.strip_suffix(b"\r") {
            Some(line) if is_whole => line,
            _ => line,
        };
        if line.len() <= LINE_BYTES_MAX {
            in_line(line, &mut found);
        }
    }
}

/// Most words of most lines cannot define anything, so what follows a word is looked at only where that may decide.
fn in_line(line: &[u8], found: &mut impl FnMut(&[u8], u8)) {
    let is_indented = line.first().is_none_or(u8::is_ascii_whitespace);
    // `typedef … name;` and `} name;`
    let ends_type = line.starts_with(b"typedef ") || line.starts_with(b"}");
    // The last word, if it is a keyword.
    let mut keyword: Option<(usize, usize)> = None;
    let (mut is_first, mut has_type_keyword) = (true, false);
    // Whether all words so far are modifiers.
    let mut are_modifiers = true;
    for (start, end) in (Words { line, at: 0 }) {
        let looks_behind = is_first || !is_indented || has_type_keyword;
        let may_define = looks_behind && {
            let behind = line[end..].iter().find(|byte| !byte.is_ascii_whitespace());
            match behind {
                // A function, a member of an enumeration, and what else begins in the first column.
                Some(b'(' | b'[' | b':' | b',') => !is_indented,
                Some(b'=') => !is_indented || is_first,
                Some(b';') => ends_type,
                Some(b'{') | None => has_type_keyword,
                Some(_) => false,
            }
        };
        let is_behind_keyword = keyword.is_some_and(|(_, to)| {
            let between = line[to..start].trim_ascii_end();
            between.is_empty() || between == b"!"
        });
        if may_define || is_behind_keyword {
            let level = level(line, start, end);
            if level > 0 {
                found(&line[start..end], level);
            }
        }
        is_first = false;
        keyword = None;
        let word = &line[start..end];
        if may_be_keyword(word) {
            has_type_keyword |= is_type_keyword(word);
            keyword = (are_modifiers && is_keyword(word)).then_some((start, end));
        }
        are_modifiers &= is_modifier(word);
        // An indented line that begins with other words defines nothing more.
        if is_indented && !are_modifiers && !has_type_keyword && keyword.is_none() {
            return;
        }
    }
}

/// Whether a word has the length, the first and the last letter of a keyword. Few others do.
fn may_be_keyword(word: &[u8]) -> bool {
    let [first, .., last] = word else {
        return false;
    };
    word.len() <= 11
        && CLASSES[usize::from(*first)] & BEGINS_KEYWORD != 0
        && CLASSES[usize::from(*last)] & ENDS_KEYWORD != 0
}

fn is_type_keyword(word: &[u8]) -> bool {
    matches!(
        word,
        b"class" | b"struct" | b"enum" | b"union" | b"interface"
    )
}

/// Returns whether a word directly before a name may make the line a definition.
fn is_keyword(word: &[u8]) -> bool {
    is_type_keyword(word)
        || matches!(
            word,
            b"define"
                | b"fn"
                | b"func"
                | b"function"
                | b"def"
                | b"defun"
                | b"defmacro"
                | b"sub"
                | b"proc"
                | b"trait"
                | b"macro_rules"
                | b"defn"
                | b"module"
                | b"newtype"
                | b"data"
                | b"package"
                | b"type"
                | b"object"
                | b"record"
                | b"static"
                | b"const"
                | b"let"
                | b"var"
                | b"val"
        )
}

const WORD: u8 = 1;
const BEGINS_KEYWORD: u8 = 2;
const ENDS_KEYWORD: u8 = 4;

/// What each byte is.
static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        if (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'_' {
            classes[byte] |= WORD;
        }
        byte += 1;
    }
    let (first, last) = (b"cdefilmnoprstuv", b"abcdefklmnorsty");
    let mut index = 0;
    while index < first.len() {
        classes[first[index] as usize] |= BEGINS_KEYWORD;
        classes[last[index] as usize] |= ENDS_KEYWORD;
        index += 1;
    }
    classes
};

/// The ranges of the words of a line, one after the other.
struct Words<'a> {
    line: &'a [u8],
    at: usize,
}

impl Iterator for Words<'_> {
    type Item = (usize, usize);

    fn next(&mut self) -> Option<(usize, usize)> {
        let is_word = |byte: &u8| CLASSES[usize::from(*byte)] & WORD != 0;
        let rest = &self.line[self.at..];
        let start = self.at + rest.iter().position(is_word)?;
        let rest = &self.line[start..];
        let length = rest.iter().position(|byte| !is_word(byte));
        self.at = length.map_or(self.line.len(), |length| start + length);
        Some((start, self.at))
    }
}

#[cfg(test)]
mod tests {
    use super::super::LEVEL_MAX;
    use super::*;
    use proptest::prelude::*;

    fn found(text: &[u8]) -> Vec<(Vec<u8>, u8)> {
        let mut all = Vec::new();
        for_each(text, |word, level| all.push((word.to_vec(), level)));
        all
    }

    fn naive(text: &[u8]) -> Vec<(Vec<u8>, u8)> {
        let mut all = Vec::new();
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            let line = match line.strip_suffix(b"\n") {
                Some(line) => line.strip_suffix(b"\r").unwrap_or(line),
                None => line,
            };
            for (start, end) in (Words { line, at: 0 }) {
                let level = level(line, start, end);
                assert!(level <= LEVEL_MAX);
                if level > 0 {
                    all.push((line[start..end].to_vec(), level));
                }
            }
        }
        all
    }

    #[test]
    fn finds_words_of_all_levels() {
        let text = b"int f(void)\r\n{\n\tA = 1,\n}\n} T;\nfn g() -> T;\nclass X Y {";
        let expected: [(&[u8], u8); 5] = [(b"f", 4), (b"A", 2), (b"T", 3), (b"g", 4), (b"Y", 4)];
        let expected: Vec<_> = expected.map(|(word, level)| (word.to_vec(), level)).into();
        assert_eq!(found(text), expected);
        assert_eq!(naive(text), expected);
    }

    proptest! {
        #[test]
        fn finds_the_words_that_have_a_level(
            pieces in prop::collection::vec(prop::sample::select(vec![
                "name", "x1", "9", "class", "struct", "enum", "fn", "def", "static", "macro_rules!", "#define",
                "typedef", "func (r *T)", "return", "if", "package", "type", "const", "} ", "}", "{", "(", ")", ";",
                ":", "::", "=", "==", ",", "/*", "//", "[", "]", "!", " ", " ", " ", "\t", "\n", "\r\n", "@@", "é",
                "extends", "pub", "static", "<", ">", "*", "&", "interface", "let", "\x0b",
            ]), 0..40),
        ) {
            let text = pieces.concat();
            prop_assert_eq!(found(text.as_bytes()), naive(text.as_bytes()));
        }
    }
}
