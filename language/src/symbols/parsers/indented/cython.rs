//! Cython: `cdef` and its blocks declare in the manner of C.

use super::*;

impl Indented {
    /// Takes declarations behind `cdef`, or in its block.
    pub(super) fn c_statement(
        &mut self,
        line: &Line<'_>,
        mut at: usize,
        outline: &mut Outline<'_>,
    ) {
        let mut is_block = line.is(at, b':');
        while let b"public" | b"readonly" | b"inline" | b"api" | b"packed" | b"extern" | b"cdef"
        | b"cpdef" | b"ctypedef" = line.text(at, outline)
        {
            is_block |= line.text(at, outline) == b"extern";
            at += 1;
        }
        let kind = match line.text(at, outline) {
            b"class" | b"cppclass" => Kind::Class,
            b"struct" => Kind::Struct,
            b"union" => Kind::Union,
            b"enum" => Kind::Enum,
            b"fused" => Kind::Type,
            _ if is_block && line.tokens.last().is_some_and(|it| it.is(b':')) => {
                let indent = self.block.unwrap_or(self.indent).min(self.indent);
                self.block = Some(indent);
                return;
            }
            _ => return self.c_declaration(line, at, outline),
        };
        self.class(line, at + 1, kind, outline);
    }

    /// `int f(int x):`, or `int x = 1, y`.
    fn c_declaration(&mut self, line: &Line<'_>, at: usize, outline: &mut Outline<'_>) {
        let is_name = |name: usize| name >= at && line.is_word(name);
        let rest = line.tokens.get(at..).unwrap_or_default();
        let open = rest.iter().position(|it| it.is(b'(') || it.is(b'='));
        if let Some(open) = open.filter(|open| line.is(at + open, b'(')) {
            if at + open > 0 && is_name(at + open - 1) {
                self.function(line, at + open - 1, outline);
            }
            return;
        }
        let kind = match outline.innermost_kind() {
            Some(Kind::Enum) => Kind::Enumerator,
            Some(kind) if kind.is_type() => Kind::Field,
            None if line.text(0, outline) == b"ctypedef" => Kind::Type,
            None => Kind::Variable,
            _ => return,
        };
        let mut is_value = false;
        for name in at..line.tokens.len() {
            let ends = name + 1 == line.tokens.len() || line.is(name + 1, b',');
            let is_assigned = line.is_assignment(name + 1);
            if is_name(name) && !is_value && (ends || is_assigned) {
                self.names.define(line.tokens[name].range(), kind, outline);
            }
            is_value = (is_value || line.is(name, b'=')) && !line.is(name, b',');
        }
    }
}
