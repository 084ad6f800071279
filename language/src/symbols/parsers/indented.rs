//! Python, Cython, Starlark, Meson, Nim and CoffeeScript, by logical lines.

mod coffeescript;
mod cython;
mod nim;
mod python;
#[cfg(test)]
mod tests;

use crate::symbols::scopes::{Head, Names, Scopes, unquoted};
use crate::symbols::{Kind, Line, Outline, Parser, Role, Token};
use std::ops::Range;

#[derive(Default)]
pub(crate) struct Indented {
    dialect: Dialect,
    scopes: Scopes,
    names: Names,
    indent: usize,
    brackets: usize,
    is_continued: bool,
    end: u32,
    /// Function in its head.
    header: Option<u32>,
    /// Indentation of a `cdef extern from` or `cdef:`.
    block: Option<usize>,
    section: Option<Section>,
    /// `when` of Nim in the first column.
    is_in_when: bool,
}

/// `type`, without a kind, `const`, `let` or `var`.
#[derive(Clone, Copy)]
struct Section {
    indent: usize,
    kind: Option<Kind>,
    entries: Option<usize>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Dialect {
    #[default]
    Python,
    Cython,
    Starlark,
    Nim,
    CoffeeScript,
}

impl Parser for Indented {
    fn line(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        let (Some(first), Some(last)) = (line.tokens.first(), line.tokens.last()) else {
            return;
        };
        if line.is_begin && !line.begins_inside {
            let is_inside = self.is_continued || self.brackets > 0;
            self.indent = line.indent(outline);
            if !is_inside || self.resumes(first, outline) {
                self.brackets = 0;
                self.close(outline);
                self.statement(line, outline);
            } else if self.dialect == Dialect::Starlark && self.brackets == 1 {
                self.rule(line, outline);
            }
        }
        self.count(line.tokens);
        self.end = last.end;
        self.is_continued = last.is(b'\\');
        let is_over = line.is_end && !line.ends_inside && !self.is_continued;
        let ends_header = self.brackets == 0 && is_over && self.dialect != Dialect::Nim;
        if ends_header && self.header.is_some() {
            self.end_header(line, outline);
        }
    }

    fn finish(&mut self, outline: &mut Outline<'_>) {
        self.indent = 0;
        self.close(outline);
    }
}

impl Indented {
    pub(crate) fn new(dialect: Dialect) -> Indented {
        Indented {
            dialect,
            ..Indented::default()
        }
    }

    /// Recovery: no expression begins with these words.
    fn resumes(&self, first: &Token, outline: &Outline<'_>) -> bool {
        let text = first.text(outline);
        match self.dialect {
            Dialect::CoffeeScript => self.indent == 0 && first.is_word(),
            Dialect::Nim => self.indent == 0 && self.begins_routine(first, outline),
            _ => first.role == Role::Keyword && matches!(text, b"def" | b"class" | b"cdef"),
        }
    }

    fn close(&mut self, outline: &mut Outline<'_>) {
        let depth = outline.depth();
        self.scopes.close_from(self.indent, self.end, outline);
        if outline.depth() < depth && self.dialect == Dialect::Nim {
            self.declare_header(outline);
        }
    }

    fn statement(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        match self.dialect {
            Dialect::Nim => self.nim(line.tokens, outline),
            Dialect::CoffeeScript => self.coffeescript(line.tokens, outline),
            _ => self.python(line, outline),
        }
    }

    fn count(&mut self, tokens: &[Token]) {
        for token in tokens {
            match token.role {
                Role::Sign(b'{' | b'}') if self.dialect == Dialect::CoffeeScript => {}
                Role::Sign(b'=') if self.brackets == 0 && self.dialect == Dialect::Nim => {
                    self.header = None;
                }
                Role::Sign(_) => {
                    self.brackets = self.brackets.saturating_add_signed(token.nesting());
                }
                _ => {}
            }
        }
    }

    fn open(&mut self, definition: Option<u32>, outline: &mut Outline<'_>) {
        self.scopes.open(definition, Head::at(self.indent), outline);
    }

    /// Recognises stubs with `...`, and declarations of C.
    fn end_header(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        let is_colon = |it: &Token| it.is(b':');
        let is_stub = line
            .tokens
            .last_chunk()
            .is_some_and(|[colon, dots @ ..]: &[Token; 4]| {
                is_colon(colon) && dots.iter().all(|it| it.is(b'.'))
            });
        let has_body = self.dialect != Dialect::Cython || line.tokens.iter().any(is_colon);
        if is_stub || !has_body {
            self.declare_header(outline);
        }
        self.header = None;
    }

    fn declare_header(&mut self, outline: &mut Outline<'_>) {
        outline.set_declaration(self.header.take());
    }
}
