//! Ruby, Crystal, Elixir, Lua, Julia, fish: words open scopes, and `end` closes them.

mod heads;
mod named;
#[cfg(test)]
mod tests;
mod words;

use crate::symbols::scopes::{Names, Scopes, define_qualified, is_container, unquoted};
use crate::symbols::words::Words;
use crate::symbols::{Kind, Line, Outline, Parser, Role, Token};
use std::ops::Range;
use words::Word;

pub(crate) use words::Dialect;

#[derive(Default)]
pub(crate) struct Ends {
    dialect: Dialect,
    words: Words<Word>,
    scopes: Scopes,
    names: Names,
    /// Elixir's function before its `do`.
    pending: Option<u32>,
    /// Loop whose `do` opens nothing.
    has_loop: bool,
    brackets: usize,
    squares: usize,
    is_continued: bool,
    /// Set behind `__END__`.
    is_over: bool,
    indent: usize,
    end: u32,
}

impl Parser for Ends {
    fn line(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        let Some(last) = line.tokens.last() else {
            return;
        };
        self.is_over |= line.text(0, outline) == b"__END__";
        if self.is_over {
            return;
        }
        if line.is_begin {
            self.has_loop = false;
            self.indent = line.indent(outline);
            if !line.begins_inside && !self.is_continued {
                self.head(line, outline);
            }
        }
        let mut at = 0;
        while let Some(token) = line.tokens.get(at) {
            at = match token.role {
                Role::Keyword => self.keyword(line, at, outline),
                Role::Sign(sign) => self.sign(sign, at),
                _ => at + 1,
            };
        }
        self.end = last.end;
        self.is_continued = last.is(b'\\');
    }

    fn finish(&mut self, outline: &mut Outline<'_>) {
        self.drop_pending(outline);
        self.scopes.close_from(0, self.end, outline);
    }
}

impl Ends {
    pub(crate) fn new(dialect: Dialect) -> Ends {
        Ends {
            dialect,
            words: words::of(dialect),
            ..Ends::default()
        }
    }

    fn sign(&mut self, sign: u8, at: usize) -> usize {
        match sign {
            b'(' | b'{' => self.brackets += 1,
            b')' | b'}' => self.brackets = self.brackets.saturating_sub(1),
            b'[' => self.squares += 1,
            b']' => self.squares = self.squares.saturating_sub(1),
            b';' => self.has_loop = false,
            _ => {}
        }
        at + 1
    }

    /// Returns the next token to read.
    fn keyword(&mut self, line: &Line<'_>, at: usize, outline: &mut Outline<'_>) -> usize {
        let word = self.words.get(line.text(at, outline));
        let word = word.unwrap_or_default();
        if word == Word::Other {
            return at + 1;
        }
        if is_name(line, at) {
            if word == Word::Do {
                self.pending = None;
            }
            return at + 1;
        }
        match word {
            Word::Define(kind) => return self.define(At { line, at, kind }, outline),
            Word::End => self.close(line, at, outline),
            _ if self.dialect == Dialect::Julia && self.squares > 0 => {}
            Word::Do if self.has_loop => self.has_loop = false,
            Word::Do | Word::Open => {
                let definition = self.pending.take().filter(|_| word == Word::Do);
                self.open(line, at, definition, outline);
            }
            Word::Statement | Word::Loop if self.begins_statement(line, at, outline) => {
                self.has_loop = word == Word::Loop;
                self.open(line, at, None, outline);
            }
            _ => {}
        }
        at + 1
    }

    /// Excludes modifiers, as in `x if y`.
    fn begins_statement(&self, line: &Line<'_>, at: usize, outline: &Outline<'_>) -> bool {
        let Some(before) = at.checked_sub(1).and_then(|at| line.tokens.get(at)) else {
            return !self.is_continued;
        };
        match before.role {
            Role::Sign(sign) => !b")]}".contains(&sign),
            Role::Keyword => words::is_operator(self.dialect, before.text(outline)),
            _ => false,
        }
    }

    fn open(&mut self, line: &Line<'_>, at: usize, of: Option<u32>, outline: &mut Outline<'_>) {
        let head = line.head(at, self.indent);
        self.scopes.open(of, head, outline);
    }

    fn close(&mut self, line: &Line<'_>, at: usize, outline: &mut Outline<'_>) {
        if self.dialect == Dialect::Julia && self.squares > 0 {
            if at > 0 {
                return;
            }
            self.squares = 0;
        }
        self.drop_pending(outline);
        let end = line.tokens[at].end;
        if at == 0 {
            self.scopes.close_at(self.indent, end, outline);
        } else {
            self.scopes.close(end, outline);
        }
    }

    /// Closes forgotten scopes.
    fn align(&mut self, outline: &mut Outline<'_>) {
        self.scopes.align(self.indent, self.end, outline);
        if self.indent == 0 {
            (self.brackets, self.squares) = (0, 0);
        }
    }

    fn drop_pending(&mut self, outline: &mut Outline<'_>) {
        outline.set_declaration(self.pending.take());
    }

    fn define(&mut self, mut it: At<'_>, outline: &mut Outline<'_>) -> usize {
        if it.line.is_head(it.at) {
            self.align(outline);
        }
        let is_inside = outline.innermost_kind().is_some_and(is_container);
        if it.kind == Kind::Method && !is_inside {
            it.kind = Kind::Function;
        }
        match self.dialect {
            Dialect::Ruby | Dialect::Crystal => self.define_ruby(it, outline),
            Dialect::Elixir => self.define_elixir(it, outline),
            Dialect::Lua => self.define_lua(it, outline),
            Dialect::Julia | Dialect::Fish => self.define_named(it, outline),
        }
    }
}

#[derive(Clone, Copy)]
struct At<'l> {
    line: &'l Line<'l>,
    at: usize,
    kind: Kind,
}

/// `:if`, `if: 1`
fn is_name(line: &Line<'_>, at: usize) -> bool {
    let is_symbol = line.touches(at) && line.is(at - 1, b':');
    let is_key = line.touches(at + 1)
        && line.is(at + 1, b':')
        && !(line.touches(at + 2) && line.is(at + 2, b':'));
    is_symbol || is_key
}

fn behind_parameters(line: &Line<'_>, at: usize) -> usize {
    if line.is(at, b'(') {
        line.behind_brackets(at, b'(', b')')
    } else {
        at
    }
}
