//! Erlang and Prolog: the first clause of a name, in the first column, defines it.

#[cfg(test)]
mod tests;

use crate::symbols::{Kind, Line, Outline, Parser, Role, Token};
use std::ops::Range;

#[derive(Default)]
pub(crate) struct Clauses {
    is_erlang: bool,
    name: Range<u32>,
    last: Option<Token>,
    /// Open brackets in a record.
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
            ..Clauses::default()
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
        let is_head = match tokens.get(1).map(|token| token.role) {
            Some(Role::Sign(b'(')) => true,
            Some(Role::Sign(b':' | b'.' | b'-')) | None => !self.is_erlang,
            _ => false,
        };
        let Some(name) = name(tokens[0], outline).filter(|_| is_head) else {
            return;
        };
        let is_same = outline.bytes(name.clone()) == outline.bytes(self.name.clone());
        if self.is_erlang || !is_same {
            outline.leave_to(0, self.end());
            let index = outline.define(name.clone(), Kind::Function);
            outline.enter(index);
            self.name = name;
        }
    }

    fn attribute(&mut self, tokens: &[Token], outline: &mut Outline<'_>) {
        let is_sign = |token: &&Token| matches!(token.role, Role::Sign(_));
        let words = tokens.iter().skip_while(is_sign);
        let mut words = words.filter(|token| !token.is(b'('));
        let (Some(attribute), Some(token)) = (words.next(), words.next()) else {
            return;
        };
        let Some(name) = name(*token, outline).or_else(|| token.is_word().then(|| token.range()))
        else {
            return;
        };
        let kind = match attribute.text(outline) {
            b"module" => Kind::Module,
            _ if !self.is_erlang => return,
            b"define" => Kind::Macro,
            b"record" => Kind::Struct,
            b"type" | b"opaque" | b"nominal" => Kind::Type,
            b"spec" | b"callback" => {
                outline.declare(name, Kind::Function);
                return;
            }
            _ => return,
        };
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
            Role::Sign(_) => *depth = depth.saturating_add_signed(token.nesting()),
            _ if *depth == 2 && self.last.is_some_and(|it| it.is(b'{') || it.is(b',')) => {
                if let Some(name) = name(token, outline) {
                    outline.define(name, Kind::Field);
                }
            }
            _ => {}
        }
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
