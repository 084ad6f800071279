//! Words, operators, and brackets with their content.

use crate::symbols::{Role, Token};
use std::ops::Range;

pub(super) enum Atom<'t> {
    Word(&'t Token),
    /// True before a word.
    Operator(Range<u32>, bool),
    /// Operator in brackets, or word in back quotes.
    Name(Range<u32>, u8),
    Comma,
    Group(u8, &'t [Token]),
    Other,
}

pub(super) struct Atoms<'t>(pub(super) &'t [Token]);

impl<'t> Iterator for Atoms<'t> {
    type Item = Atom<'t>;

    fn next(&mut self) -> Option<Atom<'t>> {
        let first = self.0.first()?;
        let signs = operator(self.0);
        if signs > 0 {
            let range = range(&self.0[..signs]);
            self.0 = &self.0[signs..];
            let is_prefix = self.0.first().is_some_and(|next| next.start == range.end);
            return Some(Atom::Operator(range, is_prefix));
        }
        let (piece, length) = match first.role {
            Role::Sign(open @ (b'(' | b'[' | b'{')) => self.group(open),
            Role::Sign(b'`') => match self.0.get(1) {
                Some(name) => (Atom::Name(name.range(), b'`'), 3),
                None => (Atom::Other, 1),
            },
            Role::Sign(b',') => (Atom::Comma, 1),
            _ if first.is_word() => (Atom::Word(first), 1),
            _ => (Atom::Other, 1),
        };
        self.0 = self.0.get(length..).unwrap_or_default();
        Some(piece)
    }
}

impl<'t> Atoms<'t> {
    fn group(&self, open: u8) -> (Atom<'t>, usize) {
        let inside = &self.0[1..];
        let signs = operator(inside);
        if signs > 0 && inside.get(signs).is_some_and(|it| it.is(b')')) {
            return (Atom::Name(range(&inside[..signs]), b'('), signs + 2);
        }
        let mut depth = 1;
        let end = inside.iter().position(|token| {
            depth += token.nesting();
            depth == 0
        });
        let length = end.unwrap_or(inside.len());
        (Atom::Group(open, &inside[..length]), length + 2)
    }
}

fn range(tokens: &[Token]) -> Range<u32> {
    let end = tokens.last().map_or(0, |last| last.end);
    tokens.first().map_or(0, |first| first.start)..end
}

fn operator(tokens: &[Token]) -> usize {
    const SIGNS: &[u8] = b"!#$%&*+./<=>?@\\^|-~:";
    let is_sign = |token: &Token| matches!(token.role, Role::Sign(sign) if SIGNS.contains(&sign));
    let mut end = tokens.first().map_or(0, |first| first.start);
    let signs = tokens.iter().take_while(|token| {
        let is_next = is_sign(token) && token.start == end;
        end = token.end;
        is_next
    });
    signs.count()
}
