//! Bytes of the symbols of a text in a shard: definitions, then runs of classes.
//!
//! ```text
//! 1  bits 0 and 1: class of the bytes outside of runs; bits 2 and 3: reason for missing
//!    definitions (0: none)
//! varint  number of definitions; each is
//!    1       bits 0 to 4: kind; bit 5: a declaration; bits 6 and 7: parent
//!    varint  start of the name, from the start of the name before
//!    varint  bytes of the name
//!    varint  end of the body, from the end of the name
//!    parent  0: innermost body around the name, of a name before it, if any; 1: none
//!            2: varint, index from the own one, in zigzag; 3: varints, in zigzag the distance
//!            from the start of the name to that of the parent's name, and bytes of the latter
//! then, up to the end, runs: varint, 2 x bytes from the run before + (0: comment, 1: string);
//!    varint, bytes of the run
//! ```
//!
//! A text without lexer or findings takes 0 or 1 byte.

use crate::change::{self, Change};
use crate::posting::{decode_varint, encode_varint, from_zigzag, zigzag};
use language::symbols::{Class, Definition, Incomplete, Kind, Parent, Run, Symbols};
use std::ops::Range;

/// Blocks of a text with symbols: a block has half of its target size or more on average.
pub(crate) const DOCUMENT_BLOCKS_MAX: u32 = 1 << 18;

const NESTED: u8 = 0;
const TOP: u8 = 1;
const INDEX: u8 = 2;
const NAME: u8 = 3;

const IS_DECLARATION: u8 = 1 << 5;

pub(crate) fn encode(symbols: &Symbols) -> Vec<u8> {
    let incomplete = match symbols.incomplete {
        None => 0,
        Some(Incomplete::TextTooLong) => 1,
        Some(Incomplete::TooManyDefinitions) => 2,
    };
    let first = symbols.class as u8 | incomplete << 2;
    let mut out = Vec::new();
    let is_empty = symbols.definitions.is_empty() && symbols.runs.is_empty();
    if first != 0 || !is_empty {
        out.push(first);
    }
    if is_empty {
        return out;
    }
    encode_varint(symbols.definitions.len() as u64, &mut out);
    let (mut start, mut open) = (0, Open::default());
    for (index, it) in symbols.definitions.iter().enumerate() {
        encode_definition(it, index, start, open.around(it.name.start), &mut out);
        start = it.name.start;
        open.push(index as u32, it.end);
    }
    let mut end = 0;
    for run in &symbols.runs {
        let is_string = u64::from(run.class == Class::String);
        encode_varint(2 * u64::from(run.range.start - end) + is_string, &mut out);
        encode_varint(u64::from(run.range.end - run.range.start), &mut out);
        end = run.range.end;
    }
    out
}

fn encode_definition(
    it: &Definition,
    index: usize,
    start: u32,
    around: Option<u32>,
    out: &mut Vec<u8>,
) {
    let parent = match (&it.parent, around) {
        (Parent::None, None) => NESTED,
        (Parent::Definition(index), Some(around)) if *index == around => NESTED,
        (Parent::None, Some(_)) => TOP,
        (Parent::Definition(_), _) => INDEX,
        (Parent::Name(_), _) => NAME,
    };
    let declaration = if it.is_declaration { IS_DECLARATION } else { 0 };
    out.push(it.kind as u8 | declaration | parent << 6);
    encode_varint(u64::from(it.name.start - start), out);
    encode_varint(u64::from(it.name.end - it.name.start), out);
    encode_varint(u64::from(it.end - it.name.end), out);
    match (&it.parent, parent) {
        (Parent::Definition(parent), INDEX) => {
            let delta = i64::from(*parent) - index as i64;
            encode_varint(zigzag(delta), out);
        }
        (Parent::Name(name), _) => {
            encode_varint(
                zigzag(i64::from(name.start) - i64::from(it.name.start)),
                out,
            );
            encode_varint(u64::from(name.end - name.start), out);
        }
        _ => {}
    }
}

/// `None` for other bytes. Leaves out the runs unless they are wanted.
pub(crate) fn decode(bytes: &[u8], text_bytes: u32, with_runs: bool) -> Option<Symbols> {
    if change::is_change(bytes) {
        return Change::decode(bytes)?.symbols(text_bytes);
    }
    let mut symbols = Symbols::default();
    let Some((first, mut rest)) = bytes.split_first() else {
        return Some(symbols);
    };
    symbols.class = *Class::ALL.get(usize::from(first & 3))?;
    symbols.incomplete = decode_incomplete(*first)?;
    if rest.is_empty() {
        return Some(symbols);
    }
    let count = decode_varint(&mut rest)?;
    // A definition takes four bytes or more.
    if count > rest.len() as u64 / 4 {
        return None;
    }
    let count = count as u32;
    symbols.definitions.reserve(count as usize);
    let (mut start, mut open) = (0, Open::default());
    for index in 0..count {
        let it = decode_definition(&mut rest, (index, count), start, text_bytes, &mut open)?;
        start = it.name.start;
        open.push(index, it.end);
        symbols.definitions.push(it);
    }
    let mut end = 0;
    while with_runs && !rest.is_empty() {
        let gap = decode_varint(&mut rest)?;
        let class = [Class::Comment, Class::String][(gap & 1) as usize];
        let range = range(end, gap >> 1, decode_varint(&mut rest)?, text_bytes)?;
        end = range.end;
        symbols.runs.push(Run { range, class });
    }
    Some(symbols)
}

pub(crate) fn decode_incomplete(first: u8) -> Option<Option<Incomplete>> {
    match first >> 2 {
        0 => Some(None),
        1 => Some(Some(Incomplete::TextTooLong)),
        2 => Some(Some(Incomplete::TooManyDefinitions)),
        _ => None,
    }
}

fn decode_definition(
    rest: &mut &[u8],
    (index, count): (u32, u32),
    start: u32,
    text_bytes: u32,
    open: &mut Open,
) -> Option<Definition> {
    let (&head, behind) = rest.split_first()?;
    *rest = behind;
    let kind = *Kind::ALL.get(usize::from(head & 31))?;
    let name = range(
        start,
        decode_varint(rest)?,
        decode_varint(rest)?,
        text_bytes,
    )?;
    let end = range(name.end, decode_varint(rest)?, 0, text_bytes)?.start;
    let parent = match head >> 6 {
        NESTED => open
            .around(name.start)
            .map_or(Parent::None, Parent::Definition),
        TOP => Parent::None,
        INDEX => {
            let delta = from_zigzag(decode_varint(rest)?);
            let parent = i64::from(index).checked_add(delta)?;
            Parent::Definition(
                u32::try_from(parent)
                    .ok()
                    .filter(|parent| *parent < count)?,
            )
        }
        _ => {
            let delta = from_zigzag(decode_varint(rest)?);
            let start = i64::from(name.start).checked_add(delta)?;
            let start = u32::try_from(start).ok()?;
            Parent::Name(range(start, 0, decode_varint(rest)?, text_bytes)?)
        }
    };
    Some(Definition {
        name,
        kind,
        is_declaration: head & IS_DECLARATION != 0,
        end,
        parent,
    })
}

/// Range of `bytes` bytes, `gap` bytes behind `from`, inside of the text.
fn range(from: u32, gap: u64, bytes: u64, text_bytes: u32) -> Option<Range<u32>> {
    let start = u64::from(from).checked_add(gap)?;
    let end = start.checked_add(bytes)?;
    (end <= u64::from(text_bytes)).then_some(start as u32..end as u32)
}

/// Definitions with a body that may be open, innermost last.
#[derive(Default)]
struct Open(Vec<(u32, u32)>);

impl Open {
    fn around(&mut self, at: u32) -> Option<u32> {
        while self.0.pop_if(|(_, end)| *end <= at).is_some() {}
        self.0.last().map(|(index, _)| *index)
    }

    fn push(&mut self, index: u32, end: u32) {
        self.0.push((index, end));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use language::Language;
    use proptest::prelude::*;

    #[test]
    fn symbols_of_a_text_are_read_as_written() {
        let text = "impl A {\n    /* c */ fn f() { \"s\" }\n}\nfn g();\n";
        let symbols = Symbols::of(Language::named("rust"), text.as_bytes());
        assert_eq!(symbols.definitions.len(), 3);
        let bytes = encode(&symbols);
        assert_eq!(decode(&bytes, text.len() as u32, true), Some(symbols));
        assert_eq!(
            decode(&bytes, text.len() as u32 - 9, true),
            None,
            "a shorter text"
        );
        assert_eq!(bytes.len(), 1 + 1 + 3 * 4 + 2 * 2);
        assert_eq!(encode(&Symbols::default()), []);
    }

    fn definitions() -> impl Strategy<Value = Vec<Definition>> {
        let one = (
            0..200_u32,
            0..20_u32,
            0..300_u32,
            0..24_usize,
            0..8_u32,
            any::<bool>(),
        );
        prop::collection::vec(one, 0..20).prop_map(|list| {
            let count = list.len() as u32;
            let mut start = 10;
            let define = |(gap, bytes, body, kind, parent, is_declaration)| {
                start += gap;
                let name = start..start + bytes;
                Definition {
                    kind: Kind::ALL[kind],
                    is_declaration,
                    end: name.end + body,
                    parent: match parent {
                        0..3 => Parent::None,
                        3 => Parent::Name(start - 7..start - 3),
                        4 => Parent::Name(name.end + 2..name.end + 9),
                        other => Parent::Definition(other * 7 % count),
                    },
                    name,
                }
            };
            list.into_iter().map(define).collect()
        })
    }

    proptest! {
        #[test]
        fn any_symbols_are_read_as_written(
            definitions in definitions(),
            gaps in prop::collection::vec((0..300_u32, 0..300_u32, any::<bool>()), 0..20),
            class in 0..4_usize,
        ) {
            let mut end = 0;
            let run = |(gap, bytes, is_string)| {
                let range = end + gap..end + gap + bytes;
                end = range.end;
                let class = if is_string { Class::String } else { Class::Comment };
                Run { range, class }
            };
            let symbols = Symbols {
                definitions,
                runs: gaps.into_iter().map(run).collect(),
                class: Class::ALL[class],
                incomplete: None,
            };
            prop_assert_eq!(decode(&encode(&symbols), 20_000, true), Some(symbols));
        }

        #[test]
        fn any_bytes_are_decoded_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            if let Some(symbols) = decode(&bytes, 1000, true) {
                let ends = symbols.definitions.iter().map(|it| it.end.max(it.name.end));
                let runs = symbols.runs.iter().map(|run| run.range.end);
                prop_assert!(ends.chain(runs).all(|end| end <= 1000));
            }
        }
    }
}
