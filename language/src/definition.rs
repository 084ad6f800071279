//! Guesses from patterns if a line defines a name, without parsing. Used for ranks and outlines.
//!
//! Text around the name decides: a keyword of definitions before it (`fn`, `def`, `#define`), or a
//! type before and an argument list behind it. In doubt, it is no definition. The line gives the
//! highest level ([`level`]); lines behind it may lower it for a declaration ([`body`]).

pub mod body;
mod scan;

pub use scan::for_each;

/// Level of a certain definition; 0 means none.
pub const LEVEL_MAX: u8 = 4;

/// Level of a mere declaration.
const DECLARES: u8 = 2;

/// Bytes of a line, without its end, that may define something. Longer lines are data or generated.
pub const LINE_BYTES_MAX: usize = 255;

/// Version of the rules. An index lists defined names, so it holds only for its own rules: raise
/// this with every change of them.
pub const RULES: u32 = 3;

macro_rules! words {
    ($($(#[$doc:meta])* $name:ident: $($word:literal)*;)*) => {$(
        $(#[$doc])*
        fn $name(word: &[u8]) -> bool {
            matches!(word, $($word)|*)
        }
    )*};
}

words! {
    begins_function: b"fn" b"func" b"function" b"sub" b"proc";

    /// True if the defined name always follows.
    defines: b"def" b"defun" b"defmacro" b"trait" b"macro_rules!" b"defn" b"module" b"newtype"
        b"data" b"interface" b"package";

    /// True if the name that follows is defined only where its body opens.
    begins_body: b"class" b"struct" b"enum" b"union" b"type" b"object" b"record";

    begins_value: b"static" b"const" b"let" b"var" b"val";

    is_type_keyword: b"class" b"struct" b"enum" b"union" b"interface";

    is_modifier: b"abstract" b"async" b"class" b"const" b"crate" b"declare" b"default" b"enum"
        b"export" b"extern" b"final" b"global" b"inline" b"internal" b"local" b"open" b"override"
        b"partial" b"private" b"protected" b"pub" b"public" b"readonly" b"sealed" b"static"
        b"strict" b"typedef" b"unsafe" b"virtual";

    is_method_modifier: b"abstract" b"constexpr" b"explicit" b"final" b"inline" b"internal"
        b"override" b"private" b"protected" b"public" b"static" b"synchronized" b"virtual";
}

const STATEMENTS: [&[u8]; 20] = [
    b"return", b"else", b"if", b"while", b"for", b"case", b"goto", b"import", b"from", b"use",
    b"echo", b"and", b"or", b"not", b"new", b"throw", b"await", b"switch", b"sizeof", b"elif",
];

/// First words of indented lines that define nothing, besides [`STATEMENTS`]. All also name
/// functions.
const CALLS: [&[u8]; 15] = [
    b"match", b"assert", b"raise", b"unless", b"elsif", b"with", b"yield", b"delete", b"do",
    b"defer", b"go", b"catch", b"when", b"print", b"in",
];

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

/// Level, up to [`LEVEL_MAX`], of a line as a definition of `start..end`.
pub fn level(line: &[u8], start: usize, end: usize) -> u8 {
    let name = &line[start..end];
    let is_hunk = line.starts_with(b"@@");
    if line.len() > LINE_BYTES_MAX || is_hunk || name.first().is_none_or(u8::is_ascii_digit) {
        return 0;
    }
    let before = line[..start].trim_ascii_end();
    let behind = without_comment(line[end..].trim_ascii());
    let (keyword, are_modifiers) = keyword(before);
    match keyword {
        _ if !are_modifiers => {}
        b"define" if before.starts_with(b"#") => return if is_alias(name, behind) { 2 } else { 3 },
        _ if begins_function(keyword) => return if behind.ends_with(b";") { DECLARES } else { 4 },
        _ if defines(keyword) => return 4,
        _ if begins_body(keyword) => {
            return match () {
                () if opens(behind) => 4,
                // `type Name map[string]int`
                () if before.trim_ascii_start() == b"type" && begins_type(behind) => 3,
                () => 0,
            };
        }
        _ if begins_value(keyword) && behind.starts_with(b":") => return 3,
        _ => {}
    }
    if before == b"}" && behind.starts_with(b";") {
        return 3;
    }
    if before.starts_with(b"typedef ") && behind.starts_with(b";") {
        return 3;
    }
    // `func (r *Router) Name(` in Go.
    if before.starts_with(b"func (") && before.ends_with(b")") && behind.starts_with(b"(") {
        return 4;
    }
    // `class EXPORT Name {`
    if has_type_keyword(without_template(before)) && matches!(behind.first(), Some(b'{') | None) {
        return 4;
    }
    if is_statement(name) {
        return 0;
    }
    // `NAME = 3,`: a member of an enumeration.
    if before.is_empty() && is_member(behind) {
        return 2;
    }
    if is_indented(line) {
        return if behind.starts_with(b"(") && !behind.ends_with(b";") {
            method(before)
        } else {
            0
        };
    }
    let (before, behind) = without_wrapper(before, behind);
    at_first_column(before, behind)
}

/// True if only a part of a program can use the definition.
pub fn is_local(line: &[u8], start: usize) -> bool {
    words(&line[..start]).any(|word| matches!(word, b"static" | b"private"))
}

fn at_first_column(before: &[u8], behind: &[u8]) -> u8 {
    if !before.iter().all(|&byte| is_of_type(byte)) || is_statement(before) {
        return 0;
    }
    match behind.first() {
        // A call may look the same.
        Some(b'(') if behind.ends_with(b";") && before.is_empty() => 1,
        Some(b'(') if behind.ends_with(b";") => DECLARES,
        Some(b'(') => 4,
        // `name,(arguments)`: a macro writes the declaration.
        Some(b',') if before.is_empty() && behind.starts_with(b",(") => 4,
        // `name::`, `name :: Type` and `name = function`.
        Some(b':') if before.is_empty() && behind.starts_with(b"::") => 3,
        Some(b'=') if !behind.starts_with(b"==") => 2,
        Some(b'[') if behind.ends_with(b"{") => 3,
        _ => 0,
    }
}

/// By the modifiers or type before the name.
fn method(before: &[u8]) -> u8 {
    let before = before.trim_ascii_start();
    // A comment's line begins with a star.
    if !before.first().is_some_and(|&first| is_word(first)) || is_statement(before) {
        return 0;
    }
    let first = words(before).next().unwrap_or_default();
    if is_method_modifier(first) && !before.iter().any(|byte| b"=(\"".contains(byte)) {
        4
    } else if !CALLS.contains(&first) && before.iter().all(|&byte| is_of_type(byte)) {
        3
    } else {
        0
    }
}

fn is_indented(line: &[u8]) -> bool {
    line.first().is_none_or(u8::is_ascii_whitespace)
}

fn keyword(before: &[u8]) -> (&[u8], bool) {
    let keyword = last_word(before);
    let modifiers = without_template(&before[..before.len() - keyword.len()]);
    (keyword, words(modifiers).all(is_modifier))
}

fn without_template(before: &[u8]) -> &[u8] {
    let parameters = before.trim_ascii_start().strip_prefix(b"template");
    let end = parameters.and_then(|_| before.iter().rposition(|&byte| byte == b'>'));
    end.map_or(before, |end| &before[end + 1..])
}

fn without_comment(code: &[u8]) -> &[u8] {
    let begins = |&at: &usize| matches!(code.get(at + 1), Some(b'*' | b'/'));
    let comment = memchr::memchr_iter(b'/', code).find(begins);
    comment.map_or(code, |comment| code[..comment].trim_ascii_end())
}

/// Text around a wrapped name: `int EXPORT(name)(int a)`.
fn without_wrapper<'l>(before: &'l [u8], behind: &'l [u8]) -> (&'l [u8], &'l [u8]) {
    let Some((outer, inner)) = before.strip_suffix(b"(").zip(behind.strip_prefix(b")")) else {
        return (before, behind);
    };
    let inner = inner.trim_ascii_start();
    if inner.starts_with(b"(") {
        (outer, inner)
    } else {
        (before, behind)
    }
}

/// Renaming macro: `#define name other_name`, `#define name(a) name(a)`.
fn is_alias(name: &[u8], behind: &[u8]) -> bool {
    if behind.starts_with(b"(")
        && let Some(end) = memchr::memchr(b')', behind)
    {
        let value = behind[end + 1..].trim_ascii_start().strip_prefix(name);
        return value.is_some_and(|rest| rest.starts_with(b"("));
    }
    let is_one_word = !behind.is_empty() && behind.iter().all(|&byte| is_word(byte));
    let mut parts = behind.windows(name.len());
    is_one_word && parts.any(|part| part.eq_ignore_ascii_case(name))
}

/// `behind` may be the type of a Go type name.
fn begins_type(behind: &[u8]) -> bool {
    let first = behind.first();
    first.is_some_and(|&first| is_word(first) || b"[*(".contains(&first)) && !behind.ends_with(b".")
}

/// A value and a comma.
fn is_member(behind: &[u8]) -> bool {
    behind.starts_with(b"=") && !behind.starts_with(b"==") && behind.ends_with(b",")
}

fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let parts = text.split(|&byte| !is_word(byte));
    parts.filter(|word| !word.is_empty())
}

/// A type keyword among modifiers and upper-case words, which are macros. Sentences have other
/// words.
fn has_type_keyword(before: &[u8]) -> bool {
    let is_plain = |&byte: &u8| is_word(byte) || byte == b' ' || byte == b'\t';
    let is_macro = |word: &[u8]| !word.iter().any(u8::is_ascii_lowercase);
    before.iter().all(is_plain)
        && words(before).any(is_type_keyword)
        && words(before).all(|word| is_type_keyword(word) || is_modifier(word) || is_macro(word))
}

fn is_of_type(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_ \t*&:<>,~[]\"".contains(&byte)
}

fn is_statement(before: &[u8]) -> bool {
    let first = before.split(|&byte| !is_word(byte)).next();
    first.is_some_and(|first| STATEMENTS.contains(&first))
}

/// `behind` begins a type's body, base types or generics.
fn opens(behind: &[u8]) -> bool {
    let words: [&[u8]; 5] = [b"struct", b"interface", b"extends", b"implements", b"final"];
    matches!(
        behind.first(),
        None | Some(b'{' | b':' | b'(' | b'<' | b'=')
    ) || words.iter().any(|word| behind.starts_with(word))
}

fn last_word(text: &[u8]) -> &[u8] {
    let is_in = |&byte: &u8| is_word(byte) || byte == b'!';
    let letters = text.iter().rev().take_while(|byte| is_in(byte)).count();
    &text[text.len() - letters..]
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

    #[test]
    fn statements_numbers_and_long_lines_define_nothing() {
        assert_eq!(level(b"return(a)", 0, 6), 0);
        assert_eq!(level(b"pub fn new(a)", 7, 10), 4);
        assert_eq!(level(b"123(a)", 0, 3), 0);
        let long = [&b"fn name() "[..], &[b'x'; LINE_BYTES_MAX]].concat();
        assert_eq!(level(&long, 3, 7), 0);
        assert_eq!(level(&long[..LINE_BYTES_MAX], 3, 7), 4);
    }

    #[test]
    fn definitions_differ_from_uses() {
        for (line, name, expected) in [
            ("int name(void)", "name", 4),
            ("name (a, b)", "name", 4),
            ("static char *name(int a,", "name", 4),
            ("void Class::name(int a) {", "name", 4),
            ("int name(void);", "name", 2),
            ("extern char *name (int);", "name", 2),
            ("    name(a);", "name", 0),
            ("  int name(void) {", "name", 3),
            ("  int name(void);", "name", 0),
            ("  return name(void) {", "name", 0),
            ("  match name(a) {", "name", 0),
            ("  a.name(void) {", "name", 0),
            ("  static <T> Map.Entry<T> name(T t) {", "name", 4),
            ("  public void name(", "name", 4),
            ("  static T a = name(", "name", 0),
            (" the name (as it is)", "name", 3),
            ("name(a);", "name", 1),
            ("fn name(a: u8);", "name", 2),
            ("sub name($$);", "name", 2),
            ("#define name other_name", "name", 2),
            ("#define name(a) name(a)", "name", 2),
            ("#define name other", "name", 3),
            ("int EXPORT(name)(int a)", "name", 4),
            ("int EXPORT( name ) (int a);", "name", 2),
            ("  int EXPORT(name)(int a)", "name", 0),
            ("int other(name)", "name", 0),
            ("struct name /* {{{ */", "name", 4),
            ("template <class T> class name {", "name", 4),
            ("template <class T> class API name {", "name", 4),
            ("type name map[string]int", "name", 3),
            ("// type name of it", "name", 0),
            ("return name(a);", "name", 0),
            ("x = name(a);", "name", 0),
            ("#define name(x) x", "name", 3),
            ("# define name 1", "name", 3),
            ("#undef name", "name", 0),
            ("struct name {", "name", 4),
            ("struct name *x;", "name", 0),
            ("struct name", "name", 4),
            ("@@ -1,2 +3,4 @@ struct name {", "name", 0),
            ("class EXPORT name {", "name", 4),
            ("  API enum class name", "name", 4),
            ("of the class that always", "always", 0),
            ("of the class always", "always", 0),
            ("class EXPORT name : public Base {", "name", 0),
            ("class name : public Base {", "name", 4),
            ("class Other : public name {", "name", 0),
            ("package name;", "name", 4),
            ("  name = 3, /* three */", "name", 2),
            ("  name = 3;", "name", 0),
            ("name,(int a))", "name", 4),
            ("struct name;", "name", 0),
            ("} name;", "name", 3),
            ("typedef int name;", "name", 3),
            ("    def name(self):", "name", 4),
            ("class name(Base):", "name", 4),
            ("pub fn name<T>(t: T) {", "name", 4),
            ("func (r *Router) name(x int) {", "name", 4),
            ("type name struct {", "name", 4),
            ("name :: Int -> Int", "name", 3),
            ("name = function(x) {", "name", 2),
            ("if name == 3:", "name", 0),
            ("const name: u8 = 1;", "name", 3),
            ("* name(3) does", "name", 0),
            ("name", "name", 0),
        ] {
            let start = line.find(name).unwrap();
            let found = level(line.as_bytes(), start, start + name.len());
            // A comment's star looks like a pointer's.
            if !line.starts_with('*') {
                assert_eq!(found, expected, "{line}");
            }
        }
    }
}
