//! Name at a position of a line.

use crate::words::is_word;
use std::ops::Range;

/// Signs that are part of names in some languages.
const SIGNS: &[u8] = b"-?!$";

/// Range of the name around a column, or right before it. Signs are part of it if names that the
/// file defines have them.
pub fn at<'n>(
    line: &[u8],
    column: usize,
    mut defined: impl Iterator<Item = &'n [u8]> + Clone,
) -> Option<Range<usize>> {
    let plain = around(line, column, is_plain)?;
    let signs = signs_of(defined.clone());
    let has_signs = |byte: u8| is_plain(byte) || signs.contains(&byte);
    let whole = around(line, column, has_signs)?;
    if whole == plain || defined.any(|name| name == &line[whole.clone()]) {
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
fn signs_of<'n>(defined: impl Iterator<Item = &'n [u8]> + Clone) -> Vec<u8> {
    let names = defined.filter(|name| !name.iter().any(u8::is_ascii_whitespace));
    let has = |sign: &u8| names.clone().any(|name| name.contains(sign));
    SIGNS.iter().copied().filter(has).collect()
}

/// True for names in every language.
pub fn is_plain(byte: u8) -> bool {
    is_word(byte) || !byte.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, column: usize, defined: &[&str], expected: Option<&str>) {
        let defined = defined.iter().map(|name| name.as_bytes());
        let found = at(line.as_bytes(), column, defined);
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
