//! Finds all words that lines of a text define.
//!
//! **Invariant:** exactly the words with a [`level`](super::level) above 0. It is called only if a
//! rule may hold; each test names its rules.

use super::{
    LINE_BYTES_MAX, begins_body, begins_function, begins_value, defines, is_method_modifier,
    is_modifier, is_type_keyword, level,
};

/// Calls `found` with each defined word and its level.
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

/// Most words define nothing, so text behind one is checked only if decisive, and lines are left
/// early.
fn in_line(line: &[u8], found: &mut impl FnMut(&[u8], u8)) {
    let Some(&first) = line.first() else { return };
    let is_indented = first.is_ascii_whitespace();
    // `typedef … name;`, `} name;` and `func (r *Type) name(`
    let ends_type = line.starts_with(b"typedef ") || first == b'}';
    let mut is_method = line.starts_with(b"func (");
    let mut is_template = false;
    let mut keyword: Option<(usize, usize)> = None;
    let (mut is_first, mut has_type, mut has_type_keyword) = (true, true, false);
    let mut are_modifiers = true;
    let mut classes = PLAIN | OF_TYPE;
    let mut at = 0;
    loop {
        while let Some(class) = class_at(line, at).filter(|class| class & WORD == 0) {
            classes &= class;
            at += 1;
        }
        let start = at;
        while class_at(line, at).is_some_and(|class| class & WORD != 0) {
            at += 1;
        }
        let end = at;
        if start == end {
            return;
        }
        is_template |= is_first && line[start..end].starts_with(b"template");
        // `int name(`
        has_type &= classes & OF_TYPE != 0;
        has_type_keyword &= classes & PLAIN != 0;
        let looks_behind =
            is_first || has_type || has_type_keyword || ends_type || is_method || is_template;
        // `int EXPORT(name)(`
        let is_wrapped = !is_indented && line[..start].trim_ascii_end().ends_with(b"(");
        let may_define = (looks_behind || is_wrapped) && {
            let behind = line[end..].iter().find(|byte| !byte.is_ascii_whitespace());
            let is_of_column = has_type && !is_indented;
            match behind {
                _ if is_template => true,
                Some(b')') if is_wrapped => true,
                // A function, a member of an enumeration, or another start in the first column.
                Some(b'(') => is_of_column || has_type && !is_first || is_method,
                Some(b'[') => is_of_column,
                Some(b':' | b',') => is_of_column && is_first,
                Some(b'=') => is_of_column || is_first,
                Some(b';') => ends_type,
                // Comments do not count.
                Some(b'{' | b'/') | None => has_type_keyword,
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
        let word = &line[start..end];
        if is_first {
            let rest = &line[end..];
            if is_indented {
                has_type = has_type && !is_call(rest) && memchr::memchr(b'(', rest).is_some();
                is_method = has_type && is_method_modifier(word);
            } else {
                has_type = has_type && memchr::memchr3(b'(', b'[', b'=', rest).is_some();
            }
            is_first = false;
        }
        keyword = None;
        if may_be(word, BEGINS_KEYWORD, ENDS_KEYWORD) {
            has_type_keyword |= is_type_keyword(word);
            keyword = (are_modifiers && is_keyword(word)).then_some((start, end));
        }
        are_modifiers =
            are_modifiers && may_be(word, BEGINS_MODIFIER, ENDS_MODIFIER) && is_modifier(word);
        // `EXPORT class Name {`
        let is_plain = classes & class_at(line, end).unwrap_or(0) & PLAIN != 0;
        let may_follow = are_modifiers
            || keyword.is_some()
            || has_type
            || is_plain
            || ends_type
            || is_method
            || is_template;
        if !may_follow {
            return;
        }
    }
}

/// True if an indented line ends like no method.
fn is_call(rest: &[u8]) -> bool {
    rest.trim_ascii_end().ends_with(b";") && memchr::memchr(b'/', rest).is_none()
}

#[inline]
fn class_at(line: &[u8], at: usize) -> Option<u8> {
    line.get(at).map(|&byte| CLASSES[usize::from(byte)])
}

/// True for the length, first and last letter of a keyword or modifier.
#[inline]
fn may_be(word: &[u8], begins: u8, ends: u8) -> bool {
    let [first, .., last] = word else {
        return false;
    };
    word.len() <= 11
        && CLASSES[usize::from(*first)] & begins != 0
        && CLASSES[usize::from(*last)] & ends != 0
}

fn is_keyword(word: &[u8]) -> bool {
    defines(word)
        || begins_body(word)
        || begins_function(word)
        || begins_value(word)
        || matches!(word, b"define" | b"macro_rules")
}

const WORD: u8 = 1;
const BEGINS_KEYWORD: u8 = 2;
const ENDS_KEYWORD: u8 = 4;
const BEGINS_MODIFIER: u8 = 8;
const ENDS_MODIFIER: u8 = 16;
/// White space, or a byte before a name with its type in the first column.
const OF_TYPE: u8 = 32;
/// White space, or a byte of a word.
const PLAIN: u8 = 64;

static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let is_word = (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'_';
        if is_word {
            classes[byte] |= WORD;
        }
        if is_word || (byte as u8).is_ascii_whitespace() {
            classes[byte] |= PLAIN | OF_TYPE;
        }
        byte += 1;
    }
    add(&mut classes, b"cdefilmnoprstuv", BEGINS_KEYWORD);
    add(&mut classes, b"abcdefklmnorsty", ENDS_KEYWORD);
    add(&mut classes, b"acdefgiloprstuv", BEGINS_MODIFIER);
    add(&mut classes, b"bcdefklmnsty", ENDS_MODIFIER);
    add(&mut classes, b"*&:<>,~[]\"", OF_TYPE);
    classes
};

const fn add(classes: &mut [u8; 256], bytes: &[u8], class: u8) {
    let mut index = 0;
    while index < bytes.len() {
        classes[bytes[index] as usize] |= class;
        index += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::super::LEVEL_MAX;
    use super::*;
    use proptest::prelude::*;

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
        let text = b"int f(void)\r\n{\n\tA = 1,\n}\n} T;\nfn g() -> T {\nclass X Y {";
        let expected: [(&[u8], u8); 5] = [(b"f", 4), (b"A", 2), (b"T", 3), (b"g", 4), (b"Y", 4)];
        let expected: Vec<_> = expected.map(|(word, level)| (word.to_vec(), level)).into();
        assert_eq!(found(text), expected);
        assert_eq!(naive(text), expected);
    }

    /// A type keyword may follow other words, also when indented.
    #[test]
    fn finds_types_behind_other_words() {
        for line in [
            "EXPORT class T {",
            "  EXPORT class T {",
            "\tEXPORT OTHER enum T",
        ] {
            assert_eq!(found(line.as_bytes()), [(b"T".to_vec(), 4)], "{line}");
        }
        for line in ["  SOME * enum T {", "\tsome other enum T"] {
            assert_eq!(found(line.as_bytes()), [], "{line}");
        }
    }

    proptest! {
        #[test]
        fn finds_the_words_that_have_a_level(
            pieces in prop::collection::vec(prop::sample::select(vec![
                "name", "x1", "MACRO", "9", "class", "struct", "enum", "fn", "def", "static", "macro_rules!", "#define",
                "typedef", "func (r *T)", "return", "if", "package", "type", "const", "} ", "}", "{", "(", ")", ";",
                ":", "::", "=", "==", ",", "/*", "//", "[", "]", "!", " ", " ", " ", "\t", "\n", "\r\n", "@@", "é",
                "extends", "pub", " class ", " {", "static", "<", ">", "*", "&", "interface", "let", "\x0b", "\x0c", "typedef ",
                "func (", "\n", "\n}", "template <", "template", "public", "match", "function", "int EXPORT(", ")(", ") (", "enum class", "unsafe", "virtual", "~", "#", "\"", "-", "_a",
            ]), 0..40),
        ) {
            let text = pieces.concat();
            prop_assert_eq!(found(text.as_bytes()), naive(text.as_bytes()));
        }
    }
}
