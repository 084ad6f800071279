//! Erlang and Prolog: a name in the first column, behind a point, begins a clause. The first of a
//! name defines.

#[cfg(test)]
mod tests;

use super::super::Kind;
use super::super::outline::Outline;
use super::super::parser::{Line, Parser, Role, Token};
use std::ops::Range;

pub(crate) struct Clauses {
    is_erlang: bool,
    name: Range<u32>,
    last: Option<Token>,
    /// Open brackets in a record's fields.
    record: Option<usize>,
}

impl Parser for Clauses {
    fn line(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        let Some(first) = line.tokens.first() else {
            return;
        };
        let is_margin = line.is_begin && !line.begins_inside && first.start == line.range.start;
        if is_margin && self.may_begin(first, outline) {
            self.begin(line.tokens, outline);
        }
        for token in line.tokens {
            self.field(*token, outline);
            self.last = Some(*token);
        }
    }

    fn finish(&mut self, outline: &mut Outline<'_>) {
        outline.leave_to(0, self.end());
    }
}

impl Clauses {
    pub(crate) fn new(is_erlang: bool) -> Clauses {
        Clauses {
            is_erlang,
            name: 0..0,
            last: None,
            record: None,
        }
    }

    fn end(&self) -> u32 {
        self.last.map_or(0, |last| last.end)
    }

    fn may_begin(&self, first: &Token, outline: &Outline<'_>) -> bool {
        let is_other = || first.text(outline) != outline.bytes(self.name.clone());
        let is_behind_point = self.last.is_none_or(|last| last.is(b'.'));
        is_behind_point || self.is_erlang && (first.is(b'-') || first.is_word() && is_other())
    }

    fn begin(&mut self, tokens: &[Token], outline: &mut Outline<'_>) {
        let is_attribute = tokens[0].is(b'-') || tokens[0].is(b':');
        if is_attribute {
            outline.leave_to(0, self.end());
            self.record = None;
            return self.attribute(tokens, outline);
        }
        let Some(name) = name(tokens[0], outline) else {
            return;
        };
        let is_head = match tokens.get(1).map(|token| token.role) {
            Some(Role::Sign(b'(')) => true,
            Some(Role::Sign(b':' | b'.' | b'-')) | None => !self.is_erlang,
            _ => false,
        };
        if !is_head {
            return;
        }
        let is_next_clause =
            !self.is_erlang && outline.bytes(name.clone()) == outline.bytes(self.name.clone());
        if !is_next_clause {
            outline.leave_to(0, self.end());
            let index = outline.define(name.clone(), Kind::Function);
            outline.enter(index);
            self.name = name;
        }
    }

    /// `-record(name, {…}).`
    fn attribute(&mut self, tokens: &[Token], outline: &mut Outline<'_>) {
        let words = tokens.iter().skip_while(|token| token.is_sign());
        let mut words = words.filter(|token| !token.is(b'('));
        let (Some(attribute), Some(token)) = (words.next(), words.next()) else {
            return;
        };
        let Some(name) = name(*token, outline).or_else(|| token.is_word().then(|| token.range()))
        else {
            return;
        };
        let (kind, is_declaration) = match attribute.text(outline) {
            b"module" => (Kind::Module, false),
            _ if !self.is_erlang => return,
            b"define" => (Kind::Macro, false),
            b"record" => (Kind::Struct, false),
            b"type" | b"opaque" | b"nominal" => (Kind::Type, false),
            b"spec" | b"callback" => (Kind::Function, true),
            _ => return,
        };
        if is_declaration {
            outline.declare(name, kind);
            return;
        }
        let index = outline.define(name, kind);
        if kind != Kind::Module {
            outline.enter(index);
        }
        self.record = (kind == Kind::Struct).then_some(0);
    }

    fn field(&mut self, token: Token, outline: &mut Outline<'_>) {
        let Some(depth) = &mut self.record else {
            return;
        };
        match token.role {
            Role::Sign(b'(' | b'[' | b'{') => *depth += 1,
            Role::Sign(b')' | b']' | b'}') => *depth = depth.saturating_sub(1),
            _ if *depth == 2 && self.last.is_some_and(|it| it.is(b'{') || it.is(b',')) => {
                if let Some(name) = name(token, outline) {
                    outline.define(name, Kind::Field);
                }
            }
            _ => {}
        }
    }
}

impl Token {
    fn is_sign(&self) -> bool {
        matches!(self.role, Role::Sign(_))
    }
}

fn name(token: Token, outline: &Outline<'_>) -> Option<Range<u32>> {
    let text = token.text(outline);
    match text {
        [b'\'', inside @ .., b'\''] if !inside.is_empty() => Some(token.start + 1..token.end - 1),
        [first, ..] if first.is_ascii_lowercase() && token.is_word() => Some(token.range()),
        _ => None,
    }
}
