//! Symbols of a document in C.

use language::Language;
use language::symbols::{Class, Definition, Parent, Symbols};
use language::words::is_word;
use memchr::memmem;
use schema::message::{FileDefinition, Role};
use std::ops::Range;

pub(super) fn definitions(text: &[u8]) -> Vec<FileDefinition> {
    let symbols = symbols(text);
    let definition = |it: &Definition| {
        let (line, column) = position(text, it.name.start as usize);
        let parent = match &it.parent {
            Parent::Definition(at) => Some(*at),
            Parent::None | Parent::Name(_) => None,
        };
        FileDefinition {
            name: text[range(&it.name)].to_vec(),
            kind: it.kind as u32,
            is_declaration: it.is_declaration,
            line: line as u32 + 1,
            column: column as u32,
            end_line: position(text, it.end as usize - 1).0 as u32 + 1,
            parent: parent.map_or(Vec::new(), |at| {
                text[range(&symbols.definitions[at as usize].name)].to_vec()
            }),
            parent_index: parent,
        }
    };
    symbols.definitions.iter().map(definition).collect()
}

/// Lines, from 0, that define a name, or use it in code.
pub(super) fn lines(text: &[u8], name: &[u8], role: Role) -> Vec<usize> {
    let symbols = symbols(text);
    let is_part = |at: Option<&u8>| at.is_some_and(|&byte| is_word(byte));
    let found = memmem::find_iter(text, name).filter(|&at| {
        let end = at + name.len();
        let is_defined = symbols
            .definitions
            .iter()
            .any(|it| range(&it.name) == (at..end));
        let is_whole = !is_part(text[..at].last()) && !is_part(text.get(end));
        match role {
            Role::Definition => is_defined,
            _ => is_whole && !is_defined && is_code(&symbols, at),
        }
    });
    found.map(|at| position(text, at).0).collect()
}

fn symbols(text: &[u8]) -> Symbols {
    Symbols::of(Language::named("C"), text)
}

fn is_code(symbols: &Symbols, at: usize) -> bool {
    let runs = symbols.runs.iter();
    let run = runs.clone().find(|run| range(&run.range).contains(&at));
    run.is_none_or(|run| run.class == Class::Code)
}

fn range(of: &Range<u32>) -> Range<usize> {
    of.start as usize..of.end as usize
}

/// Line and column, from 0.
fn position(text: &[u8], at: usize) -> (usize, usize) {
    let before = &text[..at];
    let line = before.iter().filter(|&&byte| byte == b'\n').count();
    let start = before.iter().rposition(|&byte| byte == b'\n');
    (line, at - start.map_or(0, |start| start + 1))
}
