//! Guesses whether a line defines a name, by its looks; no language is parsed. Matches are ranked by it, and
//! outlines of files are made of it.
//!
//! The text before and after the name decides, by what most languages have in common: a keyword of
//! definitions before it (`fn`, `def`, `#define`), or a type before it and an argument list after
//! it, from the first column and without `;` at the end. In doubt, the line is no definition.

/// Returns how much a line looks like the definition of the word at `start..end`, from 0 to 1.
pub fn share(line: &[u8], start: usize, end: usize) -> f32 {
    let before = line[..start].trim_ascii_end();
    let behind = line[end..].trim_ascii();
    match last_word(before) {
        b"define" if before.starts_with(b"#") => return 1.0,
        b"fn" | b"func" | b"function" | b"def" | b"defun" | b"defmacro" | b"sub" | b"proc"
        | b"trait" | b"macro_rules!" | b"defn" | b"module" | b"newtype" | b"data"
        | b"interface" => return 1.0,
        b"class" | b"struct" | b"enum" | b"union" | b"type" | b"object" | b"record" => {
            return if opens(behind) { 1.0 } else { 0.0 };
        }
        b"static" | b"const" | b"let" | b"var" | b"val" if behind.starts_with(b":") => return 0.7,
        _ => {}
    }
    if before == b"}" && behind.starts_with(b";") {
        return 0.9;
    }
    if before.starts_with(b"typedef ") && behind.starts_with(b";") {
        return 0.9;
    }
    // `func (r *Router) Name(`, as Go has it.
    if before.starts_with(b"func (") && before.ends_with(b")") && behind.starts_with(b"(") {
        return 1.0;
    }
    at_first_column(line, before, behind)
}

/// Rates a function whose type is before it or on the line above, or an assignment.
fn at_first_column(line: &[u8], before: &[u8], behind: &[u8]) -> f32 {
    let is_first = line.first().is_some_and(|byte| !byte.is_ascii_whitespace());
    if !is_first || !before.iter().all(|&byte| is_of_type(byte)) || is_statement(before) {
        return 0.0;
    }
    let last = line.trim_ascii_end().last();
    match behind.first() {
        Some(b'(') if last == Some(&b';') => 0.5,
        Some(b'(') => 1.0,
        // `name::`, `name :: Type` and `name = function`.
        Some(b':') if before.is_empty() && behind.starts_with(b"::") => 0.7,
        Some(b'=') if !behind.starts_with(b"==") => 0.5,
        Some(b'[') if last == Some(&b'{') => 0.7,
        _ => 0.0,
    }
}

/// Returns whether a byte may be in a type or qualifier before a name.
fn is_of_type(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_ \t*&:<>,~[]\"".contains(&byte)
}

/// First words of lines that define nothing.
const STATEMENTS: [&[u8]; 17] = [
    b"return", b"else", b"if", b"while", b"for", b"case", b"goto", b"import", b"from", b"use",
    b"echo", b"and", b"or", b"not", b"new", b"throw", b"await",
];

fn is_statement(before: &[u8]) -> bool {
    let first = before.split(|&byte| !is_word(byte)).next();
    first.is_some_and(|first| STATEMENTS.contains(&first))
}

/// Returns whether the text behind a type's name begins its body, its base types or its generics.
fn opens(behind: &[u8]) -> bool {
    let words: [&[u8]; 4] = [b"struct", b"interface", b"extends", b"implements"];
    matches!(
        behind.first(),
        None | Some(b'{' | b':' | b'(' | b'<' | b'=')
    ) || words.iter().any(|word| behind.starts_with(word))
}

/// Returns the last word, of letters, digits, `_` and `!`.
fn last_word(text: &[u8]) -> &[u8] {
    let is_in = |&byte: &u8| is_word(byte) || byte == b'!';
    let letters = text.iter().rev().take_while(|byte| is_in(byte)).count();
    &text[text.len() - letters..]
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_differ_from_uses() {
        for (line, name, expected) in [
            ("int name(void)", "name", 1.0),
            ("name (a, b)", "name", 1.0),
            ("static char *name(int a,", "name", 1.0),
            ("void Class::name(int a) {", "name", 1.0),
            ("int name(void);", "name", 0.5),
            ("extern char *name (int);", "name", 0.5),
            ("    name(a);", "name", 0.0),
            ("  int name(void) {", "name", 0.0),
            ("return name(a);", "name", 0.0),
            ("x = name(a);", "name", 0.0),
            ("#define name(x) x", "name", 1.0),
            ("# define name 1", "name", 1.0),
            ("#undef name", "name", 0.0),
            ("struct name {", "name", 1.0),
            ("struct name *x;", "name", 0.0),
            ("struct name", "name", 1.0),
            ("struct name;", "name", 0.0),
            ("} name;", "name", 0.9),
            ("typedef int name;", "name", 0.9),
            ("    def name(self):", "name", 1.0),
            ("class name(Base):", "name", 1.0),
            ("pub fn name<T>(t: T) {", "name", 1.0),
            ("func (r *Router) name(x int) {", "name", 1.0),
            ("type name struct {", "name", 1.0),
            ("name :: Int -> Int", "name", 0.7),
            ("name = function(x) {", "name", 0.5),
            ("if name == 3:", "name", 0.0),
            ("const name: u8 = 1;", "name", 0.7),
            ("* name(3) does", "name", 0.0),
            ("name", "name", 0.0),
        ] {
            let start = line.find(name).unwrap();
            let found = share(line.as_bytes(), start, start + name.len());
            // A comment's star looks like a pointer's.
            if !line.starts_with('*') {
                assert_eq!(found, expected, "{line}");
            }
        }
    }
}
