//! Names in the arguments of macros that stand for a function's head.

use super::declarator::{Name, Reader};
use super::words::{Word, is_upper};
use crate::symbols::Token;
use std::ops::Range;

/// `DEFUN(name)`
pub(super) fn is_macro(reader: &Reader<'_>, name: &Name) -> bool {
    !reader.is_typed() && name.qualifier.is_none() && is_upper(reader.bytes(&name.range))
}

/// `EXPORT(int, name, (int a));`
pub(super) fn declares(name: &[u8]) -> bool {
    let words: [&[u8]; 3] = [b"EXPORT", b"FUNCTION", b"METHOD"];
    let has = |word: &&[u8]| name.windows(word.len()).any(|part| part == *word);
    is_upper(name) && words.iter().any(has)
}

/// `TEST(Class, name)`, `FUNCTION(int, name, (int a))`, `DEFUN("text", name, …)`
pub(super) fn name_in_macro(reader: &Reader<'_>, inside: Range<usize>, of: Name) -> Option<Name> {
    let arguments = reader.inside(&inside);
    let is_test = reader
        .bytes(&of.range)
        .windows(4)
        .any(|part| part == b"TEST");
    let mut name = Name {
        qualifier: None,
        ..of
    };
    match arguments {
        [] => {}
        [class, comma, test] if is_test && comma.is(b',') && class.is_word() && test.is_word() => {
            name.qualifier = Some(class.range());
            name.range = test.range();
        }
        _ => {
            let first = || arguments.iter().find(|it| it.is_word()).map(Token::range);
            let inner = || name_before_group(reader, inside).or_else(|| name_of_call(arguments));
            name.range = inner().or_else(first)?;
        }
    }
    Some(name)
}

/// `UNUSED(static int name(void))`
fn name_of_call(arguments: &[Token]) -> Option<Range<u32>> {
    let mut triples = arguments.windows(3);
    let found = triples.find(|it| it[0].is_word() && it[1].is_word() && it[2].is(b'('))?;
    Some(found[1].range())
}

/// Word before `, (` or `), (`.
pub(super) fn name_before_group(reader: &Reader<'_>, inside: Range<usize>) -> Option<Range<u32>> {
    let is_name = |it: &&Token| it.is_word() && Word::of(reader.bytes(&it.range())) == Word::Name;
    let mut parts = reader.inside(&inside).windows(4);
    parts.find_map(|it| match it {
        [name, close, comma, open] if close.is(b')') && comma.is(b',') && open.is(b'(') => {
            Some(name).filter(is_name).map(Token::range)
        }
        [_, name, comma, open] if comma.is(b',') && open.is(b'(') => {
            Some(name).filter(is_name).map(Token::range)
        }
        _ => None,
    })
}
