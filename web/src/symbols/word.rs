//! Name at a position of a line.

use language::words::is_word;
use schema::message::FileDefinition;
use std::ops::Range;

/// Name to search for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SymbolTarget {
    /// Name at a line, from 1, and a column, in bytes from 0.
    At {
        /// Line, from 1.
        line: u32,
        /// Bytes before the position in its line.
        column: u32,
    },
    Name(String),
}

/// Signs that are part of names in some languages.
const SIGNS: &[u8] = b"-?!$";

/// Range of the name around a column, or right before it. Signs are part of it if definitions of
/// the file have such names.
pub(super) fn at(
    line: &[u8],
    column: usize,
    definitions: &[FileDefinition],
) -> Option<Range<usize>> {
    let is_plain = |byte: u8| is_word(byte) || !byte.is_ascii();
    let plain = around(line, column, is_plain)?;
    let signs = signs_of(definitions);
    let has_signs = |byte: u8| is_plain(byte) || signs.contains(&byte);
    let whole = around(line, column, has_signs)?;
    if whole == plain || is_defined(&line[whole.clone()], definitions) {
        return Some(whole);
    }
    Some(trimmed(line, whole))
}

fn around(line: &[u8], column: usize, is_part: impl Fn(u8) -> bool) -> Option<Range<usize>> {
    let (before, behind) = line.split_at_checked(column)?;
    let start = before.iter().rev().take_while(|byte| is_part(**byte));
    let end = behind.iter().take_while(|byte| is_part(**byte));
    let range = column - start.count()..column + end.count();
    (!range.is_empty()).then_some(range)
}

/// Leaves out signs that are mostly operators at an end: `-` and `!` before a name, `-` behind it.
fn trimmed(line: &[u8], mut range: Range<usize>) -> Range<usize> {
    while range.len() > 1 && b"-!?".contains(&line[range.start]) {
        range.start += 1;
    }
    while range.len() > 1 && b"-$".contains(&line[range.end - 1]) {
        range.end -= 1;
    }
    range
}

/// Signs in the defined names. Headings are no names.
fn signs_of(definitions: &[FileDefinition]) -> Vec<u8> {
    let names = definitions.iter().map(|it| &it.name[..]);
    let names = names.filter(|name| !name.iter().any(u8::is_ascii_whitespace));
    let has = |sign: &u8| names.clone().any(|name| name.contains(sign));
    SIGNS.iter().copied().filter(has).collect()
}

fn is_defined(name: &[u8], definitions: &[FileDefinition]) -> bool {
    definitions.iter().any(|it| it.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, column: usize, defined: &[&str], expected: Option<&str>) {
        let definition = |name: &&str| FileDefinition {
            name: name.as_bytes().to_vec(),
            kind: 0,
            is_declaration: false,
            line: 1,
            column: 0,
            end_line: 1,
            parent: Vec::new(),
            parent_index: None,
        };
        let defined: Vec<_> = defined.iter().map(definition).collect();
        let found = at(line.as_bytes(), column, &defined);
        assert_eq!(found.map(|range| &line[range]), expected, "{line} {column}");
    }

    #[test]
    fn a_name_is_around_the_position_or_ends_there() {
        check("int add(int a)", 4, &[], Some("add"));
        check("int add(int a)", 6, &[], Some("add"));
        check("int add(int a)", 7, &[], Some("add"));
        check("int add(  a)", 9, &[], None);
        check("x", 2, &[], None);
        check("", 0, &[], None);
        check("größe = 1", 1, &[], Some("größe"));
    }

    #[test]
    fn signs_belong_to_names_where_the_file_defines_such_names() {
        check("(read-all x)", 2, &[], Some("read"));
        check("(read-all x)", 2, &["write-all"], Some("read-all"));
        check("a->b", 0, &["x-y"], Some("a"));
        check("(-main)", 3, &["-main"], Some("-main"));
        check("(-x)", 2, &["a-b"], Some("x"));
        check("return !valid?;", 9, &["empty?", "save!"], Some("valid?"));
        check("$el.x", 1, &["$root"], Some("$el"));
        check("a-b", 0, &["A - B"], Some("a"));
    }
}
