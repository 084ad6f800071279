//! Ada and VHDL: `is` begins a body, which `end` closes; `end if` and the like are skipped.

#[cfg(test)]
mod tests;

use super::super::outline::Outline;
use super::super::parser::{Line, Parser, Role, Token};
use super::super::{Kind, Parent};
use super::words::{Scopes, Statement, Word, define_list, define_members};
use std::ops::Range;

pub(crate) struct Ada {
    is_vhdl: bool,
    statement: Statement,
    scopes: Scopes,
    in_generic: bool,
    /// Unit before the token that shows a body.
    unit: Option<u32>,
    of_type: Option<u32>,
}

impl Parser for Ada {
    fn line(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        for token in line.tokens {
            self.token(*token, outline);
        }
    }
}

impl Ada {
    pub(crate) fn new(is_vhdl: bool) -> Ada {
        Ada {
            is_vhdl,
            statement: Statement::default(),
            scopes: Scopes::default(),
            in_generic: false,
            unit: None,
            of_type: None,
        }
    }

    fn token(&mut self, token: Token, outline: &mut Outline<'_>) {
        if let Some(unit) = self.unit.take() {
            self.open_unit(unit, token, outline);
        }
        let may_end = self.statement.depth == 0;
        if token.is(b';') && may_end {
            self.end_statement(b";", token, outline);
        } else if token.role == Role::Keyword && may_end && !self.is_end(outline) {
            let word = Word::of(Some(&token), outline);
            let is_first = self.statement.tokens.is_empty();
            match word.text() {
                b"is" | b"begin" | b"then" | b"else" | b"loop" | b"do" | b"declare" | b"record"
                | b"generate" => self.end_statement(word.text(), token, outline),
                b"generic" if is_first => self.in_generic = !self.is_vhdl,
                // A component without `is`.
                b"port" | b"generic" if !is_first => {
                    self.end_statement(b"is", token, outline);
                    self.token(token, outline);
                }
                _ => self.statement.push(token),
            }
        } else {
            self.statement.push(token);
        }
    }

    fn is_end(&self, outline: &Outline<'_>) -> bool {
        let first = self.statement.tokens.first();
        first.is_some_and(|first| first.text(outline).eq_ignore_ascii_case(b"end"))
    }

    fn open_unit(&mut self, unit: u32, first: Token, outline: &mut Outline<'_>) {
        match Word::of(Some(&first), outline).text() {
            b"new" | b"separate" | b"null" => {}
            b"abstract" => outline.definition(unit).is_declaration = true,
            _ if first.is(b'(') || first.is(b'<') => {}
            _ => {
                let kind = outline.definition(unit).kind;
                let is_code = matches!(kind, Kind::Function | Kind::Method);
                let word = if is_code { "code" } else { "unit" };
                self.scopes.open(word, Some(unit), outline);
            }
        }
    }

    fn end_statement(&mut self, ending: &[u8], token: Token, outline: &mut Outline<'_>) {
        let tokens = std::mem::take(&mut self.statement.tokens);
        let first = Word::of(tokens.first(), outline);
        match (first.text(), ending) {
            (b"end", _) => self.end(&tokens, token.end, outline),
            (_, b"is" | b";") => self.declaration(&tokens, ending == b";", outline),
            (_, b"begin") if !self.is_vhdl => {
                if matches!(self.scopes.innermost(), "code" | "unit") {
                    self.scopes.rename("begun");
                } else {
                    self.scopes.open("begun", None, outline);
                }
            }
            (_, b"declare") => self.scopes.open("code", None, outline),
            (b"accept", b"do") => self.scopes.open("begun", None, outline),
            (_, b"record") => {
                let last = Word::of(tokens.last(), outline);
                let of_type = self.of_type.take();
                if let Some(index) = of_type {
                    outline.definition(index).kind = Kind::Struct;
                }
                if last.text() != b"null" {
                    self.scopes.open("record", of_type, outline);
                }
            }
            _ => {}
        }
        self.statement.tokens = tokens;
        self.statement.clear();
    }

    fn end(&mut self, tokens: &[Token], end: u32, outline: &mut Outline<'_>) {
        match Word::of(tokens.get(1), outline).text() {
            b"if" | b"loop" | b"case" | b"select" | b"return" | b"generate" | b"process"
            | b"block" | b"units" => {}
            b"record" => self.scopes.close_to(b"record", end, outline),
            _ => self.scopes.close(end, outline),
        }
    }

    fn declaration(&mut self, tokens: &[Token], is_short: bool, outline: &mut Outline<'_>) {
        if let Some(of_type) = self.of_type.take() {
            if tokens.first().is_some_and(|open| open.is(b'(')) {
                outline.definition(of_type).kind = Kind::Enum;
                outline.enter(Some(of_type));
                define_members(tokens, Kind::Enumerator, outline);
                outline.leave(tokens.last().map_or(0, |last| last.end));
            }
            return;
        }
        let is_before = |token: &&Token| is_prefix(Word::of(Some(token), outline).text());
        let skipped = tokens.iter().take_while(is_before).count();
        let tokens = &tokens[skipped..];
        let word = Word::of(tokens.first(), outline);
        let second = Word::of(tokens.get(1), outline);
        let skipped = usize::from(matches!(second.text(), b"body" | b"type"));
        let rest = tokens.get(1 + skipped..).unwrap_or(&[]);
        let kind = match word.text() {
            b"procedure" | b"function" => Kind::Function,
            b"entry" => Kind::Method,
            b"package" | b"entity" | b"configuration" | b"component" => Kind::Module,
            b"architecture" => Kind::Implementation,
            b"task" | b"protected" => Kind::Class,
            b"type" | b"subtype" if self.in_generic => return,
            b"type" | b"subtype" => {
                self.of_type = rest
                    .first()
                    .and_then(|it| outline.define(it.range(), Kind::Type));
                return self.end_type(is_short, word.text() == b"subtype", outline);
            }
            _ => return self.objects(tokens, outline),
        };
        self.in_generic = false;
        let Some(name) = name(rest, outline) else {
            return;
        };
        let parent = match (kind, rest.get(2)) {
            (Kind::Implementation, Some(entity)) => Some(Parent::Name(entity.range())),
            _ => None,
        };
        let unit = match parent {
            Some(parent) => outline.define_in(parent, name, kind),
            None if is_short || word.text() == b"component" => outline.declare(name, kind),
            None => outline.define(name, kind),
        };
        self.unit = unit.filter(|_| !is_short);
    }

    fn end_type(&mut self, is_short: bool, is_subtype: bool, outline: &mut Outline<'_>) {
        if let Some(index) = self.of_type.take_if(|_| is_short || is_subtype) {
            outline.definition(index).is_declaration = is_short && !is_subtype;
        }
    }

    /// `signal a : bit;`, `port (a : in bit; …);`
    fn objects(&mut self, tokens: &[Token], outline: &mut Outline<'_>) {
        let word = Word::of(tokens.first(), outline);
        let inside = self.scopes.innermost();
        let (kind, names) = match word.text() {
            b"port" if self.is_vhdl => {
                if tokens.get(1).is_some_and(|open| open.is(b'(')) {
                    ports(&tokens[1..], outline);
                }
                return;
            }
            b"signal" | b"shared" if inside == "unit" => (Kind::Variable, &tokens[1..]),
            b"constant" if inside == "unit" => (Kind::Constant, &tokens[1..]),
            b"for" | b"pragma" | b"use" | b"with" => return,
            _ if inside == "record" => (Kind::Field, tokens),
            _ if inside == "unit" && !self.is_vhdl && !self.in_generic => (Kind::Variable, tokens),
            _ => return,
        };
        let Some(colon) = names.iter().position(|token| token.is(b':')) else {
            return;
        };
        let kind = match Word::of(names.get(colon + 1), outline).text() {
            b"constant" => Kind::Constant,
            b"exception" => Kind::Type,
            _ if outline.innermost_kind() == Some(Kind::Class) => Kind::Field,
            _ => kind,
        };
        let is_list = |token: &Token| token.is_word() || token.is(b',');
        if names[..colon].iter().all(is_list) {
            define_list(&names[..colon], kind, outline);
        }
    }
}

fn ports(tokens: &[Token], outline: &mut Outline<'_>) {
    let (mut depth, mut expects) = (0_usize, false);
    for token in tokens {
        match token.role {
            Role::Sign(b'(') => {
                depth += 1;
                expects = depth == 1;
            }
            Role::Sign(b')') => depth = depth.saturating_sub(1),
            Role::Sign(b';') if depth == 1 => expects = true,
            Role::Sign(b':') => expects = false,
            _ if expects && depth == 1 && token.role == Role::Word => {
                outline.define(token.range(), Kind::Field);
            }
            _ => {}
        }
    }
}

fn name(tokens: &[Token], outline: &Outline<'_>) -> Option<Range<u32>> {
    let first = tokens.first()?;
    if first.role == Role::String {
        let text = first.text(outline);
        return (text.len() > 2).then_some(first.start + 1..first.end - 1);
    }
    let mut end = first.is_word().then_some(first.end)?;
    for pair in tokens[1..].chunks_exact(2) {
        if !(pair[0].is(b'.') && pair[1].is_word()) {
            break;
        }
        end = pair[1].end;
    }
    Some(first.start..end)
}

fn is_prefix(word: &[u8]) -> bool {
    matches!(
        word,
        b"overriding" | b"not" | b"private" | b"pure" | b"impure" | b"limited"
    )
}
