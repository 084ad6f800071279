//! Fortran: units, procedures, types, interfaces, variables.

#[cfg(test)]
mod tests;

use super::super::Kind;
use super::super::outline::Outline;
use super::super::parser::{Line, Parser, Role, Token};
use super::words::{Scopes, Statement, Word, behind_brackets, define_list};

/// Column of a continuation's sign in fixed form.
const CONTINUATION: u32 = 5;

#[derive(Default)]
pub(crate) struct Fortran {
    statement: Statement,
    scopes: Scopes,
    end: u32,
}

impl Parser for Fortran {
    fn line(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        let tokens = match line.tokens {
            [first, ..] if first.is(b'#') => return,
            [first, rest @ ..] if self.goes_on(first, line) => rest,
            tokens => {
                if line.is_begin {
                    self.end_statement(outline);
                }
                tokens
            }
        };
        for token in tokens {
            if token.is(b';') {
                self.end_statement(outline);
            } else {
                self.statement.push(*token);
            }
        }
    }

    fn finish(&mut self, outline: &mut Outline<'_>) {
        self.end_statement(outline);
    }
}

impl Fortran {
    fn goes_on(&mut self, first: &Token, line: &Line<'_>) -> bool {
        let is_behind = self.statement.tokens.pop_if(|last| last.is(b'&')).is_some();
        let column = first.start - line.range.start;
        let is_fixed = column == CONTINUATION && first.end - first.start == 1 && !first.is_word();
        if is_behind && !first.is(b'&') {
            // Keeps the statement: the token is a part of it.
            self.statement.push(*first);
        }
        is_behind || is_fixed || first.is(b'&')
    }

    fn end_statement(&mut self, outline: &mut Outline<'_>) {
        let tokens = std::mem::take(&mut self.statement.tokens);
        let code = match tokens.as_slice() {
            [label, rest @ ..] if label.role == Role::Number => rest,
            code => code,
        };
        if code.first().is_some_and(Token::is_word) {
            self.statement(code, outline);
        }
        self.end = tokens.last().map_or(self.end, |last| last.end);
        self.statement.tokens = tokens;
        self.statement.clear();
    }

    fn statement(&mut self, tokens: &[Token], outline: &mut Outline<'_>) {
        let end = tokens.last().map_or(0, |last| last.end);
        let (first, second) = (
            Word::of(tokens.first(), outline),
            Word::of(tokens.get(1), outline),
        );
        let name = tokens.get(1).filter(|token| token.is_word());
        match first.text() {
            b"end" if tokens.len() == 1 => self.scopes.close(end, outline),
            b"end" => self.scopes.close_to(second.text(), end, outline),
            text if text.starts_with(b"end") && tokens.len() < 3 => {
                self.scopes.close_to(&text[3..], end, outline);
            }
            b"program" if tokens.len() == 2 => self.define(name, Kind::Module, "program", outline),
            b"module" if tokens.len() == 2 => self.define(name, Kind::Module, "module", outline),
            b"submodule" => {
                let name = behind_brackets(&tokens[1..]).first();
                self.define(name, Kind::Module, "submodule", outline);
            }
            b"block" if second.text() == b"data" => {
                self.define(tokens.get(2), Kind::Module, "block", outline);
            }
            b"abstract" if second.text() == b"interface" => {
                self.scopes.open("interface", None, outline);
            }
            b"interface" => match name {
                Some(_) if tokens.len() == 2 => {
                    self.define(name, Kind::Interface, "interface", outline);
                }
                _ => self.scopes.open("interface", None, outline),
            },
            b"enum" if tokens.get(1).is_some_and(|next| next.is(b',')) => {
                self.scopes.open("enum", None, outline);
            }
            b"entry" => {
                name.map(|name| outline.define(name.range(), Kind::Function));
            }
            b"type" if !tokens.get(1).is_some_and(|next| next.is(b'(')) => {
                self.derived_type(tokens, outline);
            }
            _ => self.typed(tokens, outline),
        }
    }

    fn derived_type(&mut self, tokens: &[Token], outline: &mut Outline<'_>) {
        let behind = behind_colons(tokens);
        let name = match behind.first() {
            Some(name) => Some(name),
            None if tokens.len() == 2 => tokens.get(1),
            None => None,
        };
        self.define(name, Kind::Struct, "type", outline);
    }

    /// Procedure behind prefixes and type, or variables.
    fn typed(&mut self, tokens: &[Token], outline: &mut Outline<'_>) {
        let mut rest = tokens;
        while let [token, behind @ ..] = rest {
            let word = Word::of(Some(token), outline);
            match word.text() {
                b"subroutine" => {
                    return self.define(behind.first(), Kind::Function, "subroutine", outline);
                }
                b"function" => {
                    return self.define(behind.first(), Kind::Function, "function", outline);
                }
                b"procedure" if self.scopes.innermost() == "submodule" => {
                    return self.define(behind.first(), Kind::Function, "procedure", outline);
                }
                b"pure" | b"elemental" | b"impure" | b"recursive" | b"module" | b"double"
                | b"precision" | b"non_recursive" => rest = behind,
                b"integer" | b"real" | b"complex" | b"logical" | b"character" | b"type"
                | b"class" => {
                    let behind = match behind {
                        [star, behind @ ..] if star.is(b'*') => behind,
                        behind => behind,
                    };
                    rest = match behind {
                        [open, ..] if open.is(b'(') => behind_brackets(behind),
                        [size, behind @ ..] if size.role == Role::Number => behind,
                        behind => behind,
                    };
                }
                _ => break,
            }
        }
        self.variables(tokens, rest, outline);
    }

    fn variables(&mut self, tokens: &[Token], rest: &[Token], outline: &mut Outline<'_>) {
        let names = behind_colons(tokens);
        let first = Word::of(tokens.first(), outline);
        let is_procedure = matches!(first.text(), b"procedure" | b"generic" | b"final");
        let is_typed = rest.len() < tokens.len() || is_procedure;
        let is_parameter = |token: &Token| Word::of(Some(token), outline).text() == b"parameter";
        let kind = match self.scopes.innermost() {
            "enum" if first.text() == b"enumerator" => Kind::Enumerator,
            _ if !is_typed => return,
            "type" if is_procedure => Kind::Method,
            "type" => Kind::Field,
            "module" | "submodule" if tokens.iter().any(is_parameter) => Kind::Constant,
            "module" | "submodule" => Kind::Variable,
            _ => return,
        };
        define_list(names, kind, outline);
    }

    fn define(
        &mut self,
        name: Option<&Token>,
        kind: Kind,
        word: &'static str,
        outline: &mut Outline<'_>,
    ) {
        let Some(name) = name.filter(|name| name.is_word()) else {
            return;
        };
        let is_unit = matches!(kind, Kind::Module);
        if is_unit {
            outline.leave_to(0, self.end);
            self.scopes = Scopes::default();
        }
        let in_interface = self.scopes.innermost() == "interface";
        let index = if in_interface {
            outline.declare(name.range(), kind)
        } else {
            outline.define(name.range(), kind)
        };
        self.scopes.open(word, index, outline);
    }
}

fn behind_colons(tokens: &[Token]) -> &[Token] {
    let is_colons = |pair: &[Token]| pair[0].is(b':') && pair[1].is(b':');
    let at = tokens.windows(2).position(is_colons);
    at.map_or(&[], |at| &tokens[at + 2..])
}
