//! Definitions of small texts, and bounds that hold for any text.

mod forms;

use super::*;
use std::ops::Range;

/// Renders definitions of a text: kind, parents and name, `;` for a declaration, line of the name
/// and last line of the body if that is another one.
fn outline(language: &str, text: &str) -> String {
    let language = Language::named(language).unwrap();
    let symbols = Symbols::of(Some(language), text.as_bytes());
    let line = |at: u32| 1 + text[..at as usize].matches('\n').count();
    let name = |range: &Range<u32>| &text[range.start as usize..range.end as usize];
    let mut rendered = String::new();
    for it in &symbols.definitions {
        let mut path = name(&it.name).to_owned();
        let mut parent = &it.parent;
        loop {
            match parent {
                Parent::None => break,
                Parent::Name(range) => {
                    path = format!("{}.{path}", name(range));
                    break;
                }
                Parent::Definition(index) => {
                    let of = &symbols.definitions[*index as usize];
                    path = format!("{}.{path}", name(&of.name));
                    parent = &of.parent;
                }
            }
        }
        let (first, last) = (line(it.name.start), line(it.end.max(1) - 1));
        rendered += &format!("{} {path}", it.kind.name());
        if it.is_declaration {
            rendered += ";";
        }
        rendered += &format!(" {first}");
        if last > first {
            rendered += &format!("-{last}");
        }
        rendered += "\n";
    }
    rendered
}

#[track_caller]
pub(super) fn check(language: &str, text: &str, expected: &str) {
    let expected: Vec<_> = expected.trim().lines().map(str::trim).collect();
    let found = outline(language, text);
    assert_eq!(found.trim().lines().collect::<Vec<_>>(), expected, "{text}");
}

/// Like [`check`], with several definitions in a row.
#[track_caller]
pub(super) fn check_rows(language: &str, text: &str, expected: &str) {
    check(language, text, &expected.replace(" | ", "\n"));
}
