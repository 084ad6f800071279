//! Python, Cython and Starlark, by logical lines.

mod cython;
#[cfg(test)]
mod tests;

use super::super::Kind;
use super::super::outline::Outline;
use super::super::parser::{Line, Parser, Role, Token};
use super::super::scopes::{Head, Names, Scopes, unquoted};

#[derive(Default)]
pub(crate) struct Python {
    dialect: Dialect,
    scopes: Scopes,
    names: Names,
    brackets: usize,
    is_continued: bool,
    end: u32,
    /// Function in its head.
    header: Option<u32>,
    /// Indentation of a `cdef extern from` or `cdef:`.
    block: Option<usize>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Dialect {
    #[default]
    Python,
    Cython,
    Starlark,
}

impl Parser for Python {
    fn line(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        let (Some(first), Some(last)) = (line.tokens.first(), line.tokens.last()) else {
            return;
        };
        let is_inside = self.is_continued || self.brackets > 0;
        // Recovery: no expression begins with these words.
        let resumes = first.role == Role::Keyword
            && is_inside
            && matches!(first.text(outline), b"def" | b"class" | b"cdef");
        if line.is_begin && !line.begins_inside {
            if resumes || !is_inside {
                self.brackets = 0;
                self.statement(line, outline);
            } else if self.dialect == Dialect::Starlark && self.brackets == 1 {
                rule(line, outline);
            }
        }
        for token in line.tokens {
            match token.role {
                Role::Sign(b'(' | b'[' | b'{') => self.brackets += 1,
                Role::Sign(b')' | b']' | b'}') => self.brackets = self.brackets.saturating_sub(1),
                _ => {}
            }
        }
        self.end = last.end;
        self.is_continued = last.is(b'\\');
        if self.brackets == 0 && !self.is_continued && line.is_end && !line.ends_inside {
            self.end_header(line, outline);
        }
    }

    fn finish(&mut self, outline: &mut Outline<'_>) {
        self.scopes.close_from(0, self.end, outline);
    }
}

impl Python {
    pub(crate) fn new(dialect: Dialect) -> Python {
        Python {
            dialect,
            ..Python::default()
        }
    }

    fn statement(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        let indent = line.indent(outline);
        self.scopes.close_from(indent, self.end, outline);
        self.block = self.block.filter(|block| indent > *block);
        let role = line.tokens[0].role;
        if !matches!(role, Role::Keyword | Role::Type | Role::Word) {
            return;
        }
        match line.text(0, outline) {
            b"def" => self.function(line, 1, indent, outline),
            b"async" if line.text(1, outline) == b"def" => {
                self.function(line, 2, indent, outline);
            }
            b"class" => self.class(line, 1, Kind::Class, indent, outline),
            b"type" if line.is_word(1) && (line.is(2, b'=') || line.is(2, b'[')) => {
                outline.define(line.tokens[1].range(), Kind::Type);
            }
            b"cdef" | b"cpdef" | b"ctypedef" => self.c_statement(line, 1, indent, outline),
            _ if self.block.is_some() || is_c(outline) => {
                self.c_statement(line, 0, indent, outline)
            }
            b"match" => self.assignment(line, outline),
            _ if role != Role::Keyword => self.assignment(line, outline),
            _ => {}
        }
    }

    fn function(&mut self, line: &Line<'_>, at: usize, indent: usize, outline: &mut Outline<'_>) {
        let Some(name) = line.tokens.get(at).filter(|it| it.is_word()) else {
            return;
        };
        let is_method = outline.innermost_kind().is_some_and(Kind::is_type);
        let kind = if is_method {
            Kind::Method
        } else {
            Kind::Function
        };
        self.header = outline.define(name.range(), kind);
        self.open(self.header, indent, outline);
    }

    fn class(
        &mut self,
        line: &Line<'_>,
        at: usize,
        kind: Kind,
        indent: usize,
        outline: &mut Outline<'_>,
    ) {
        let Some(name) = line.tokens.get(at).filter(|it| it.is_word()) else {
            return;
        };
        let is_enum = |token: &Token| {
            let names: [&[u8]; 5] = [b"Enum", b"IntEnum", b"StrEnum", b"Flag", b"IntFlag"];
            token.role == Role::Word && names.contains(&token.text(outline))
        };
        let is_enum = line.tokens[at + 1..].iter().any(is_enum);
        let kind = if is_enum { Kind::Enum } else { kind };
        let index = outline.define(name.range(), kind);
        self.open(index, indent, outline);
    }

    fn open(&mut self, definition: Option<u32>, indent: usize, outline: &mut Outline<'_>) {
        let head = Head {
            indent,
            column: indent,
        };
        self.scopes.open(definition, head, outline);
    }

    /// `a = b = 1`, `a, b = c`, `a: int`
    fn assignment(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        let kind = match outline.innermost_kind() {
            None => Kind::Variable,
            Some(Kind::Enum) => Kind::Enumerator,
            Some(kind) if kind.is_type() => Kind::Field,
            _ => return,
        };
        let (mut at, mut first) = (0, 0);
        if self.dialect == Dialect::Cython && kind == Kind::Enumerator && line.tokens.len() == 1 {
            outline.define(line.tokens[0].range(), kind);
        }
        while line.is_word(at) {
            if line.is_assignment(at + 1) || line.is(at + 1, b':') && at == 0 {
                let is_function = line.text(at + 2, outline) == b"lambda";
                for name in line.tokens[first..=at].iter().step_by(2) {
                    self.variable(name, kind, is_function, outline);
                }
                first = at + 2;
                if line.is(at + 1, b':') {
                    break;
                }
            } else if !line.is(at + 1, b',') {
                break;
            }
            at += 2;
        }
    }

    fn variable(&mut self, name: &Token, kind: Kind, is_function: bool, outline: &mut Outline<'_>) {
        let text = name.text(outline);
        let kind = match kind {
            Kind::Variable if is_function => Kind::Function,
            Kind::Field if is_function => Kind::Method,
            Kind::Variable if is_constant(text) => Kind::Constant,
            kind => kind,
        };
        if text != b"_" {
            self.names.define(name.range(), kind, outline);
        }
    }

    /// Recognises stubs with `...`, and declarations of C.
    fn end_header(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        let Some(index) = self.header.take() else {
            return;
        };
        let is_stub = line
            .tokens
            .last_chunk()
            .is_some_and(|[colon, dots @ ..]: &[Token; 4]| {
                colon.is(b':') && dots.iter().all(|it| it.is(b'.'))
            });
        let has_body = self.dialect != Dialect::Cython || line.tokens.iter().any(|it| it.is(b':'));
        if is_stub || !has_body {
            outline.definition(index).is_declaration = true;
        }
    }
}

/// `name = "x"` of Starlark.
fn rule(line: &Line<'_>, outline: &mut Outline<'_>) {
    if let [name, sign, value, ..] = line.tokens
        && value.role == Role::String
        && sign.is(b'=')
        && name.text(outline) == b"name"
        && outline.innermost().is_none()
    {
        outline.define(unquoted(value, outline), Kind::Target);
    }
}

fn is_constant(name: &[u8]) -> bool {
    name.iter().any(u8::is_ascii_uppercase) && !name.iter().any(u8::is_ascii_lowercase)
}

fn is_c(outline: &Outline<'_>) -> bool {
    let kind = outline.innermost_kind();
    matches!(kind, Some(Kind::Struct | Kind::Union))
}
