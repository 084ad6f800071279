//! Python and Starlark.

use super::*;

impl Indented {
    pub(super) fn python(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        self.block = self.block.filter(|block| self.indent > *block);
        let role = line.tokens[0].role;
        if !matches!(role, Role::Keyword | Role::Type | Role::Word) {
            return;
        }
        match line.text(0, outline) {
            b"def" => self.function(line, 1, outline),
            b"async" if line.text(1, outline) == b"def" => self.function(line, 2, outline),
            b"class" => self.class(line, 1, Kind::Class, outline),
            b"type" if line.is_word(1) && (line.is(2, b'=') || line.is(2, b'[')) => {
                outline.define(line.tokens[1].range(), Kind::Type);
            }
            b"cdef" | b"cpdef" | b"ctypedef" => self.c_statement(line, 1, outline),
            _ if self.block.is_some() || is_c(outline) => self.c_statement(line, 0, outline),
            b"match" => self.assignment(line, outline),
            _ if role != Role::Keyword => self.assignment(line, outline),
            _ => {}
        }
    }

    pub(super) fn function(&mut self, line: &Line<'_>, at: usize, outline: &mut Outline<'_>) {
        let is_method = outline.innermost_kind().is_some_and(Kind::is_type);
        let kind = Kind::of_function(is_method);
        if let Some(name) = line.tokens.get(at).filter(|it| it.is_word()) {
            self.header = outline.define(name.range(), kind);
            self.open(self.header, outline);
        }
    }

    pub(super) fn class(
        &mut self,
        line: &Line<'_>,
        at: usize,
        kind: Kind,
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
        self.open(index, outline);
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
            let is_typed = line.is(at + 1, b':') && at == 0;
            if line.is_assignment(at + 1) || is_typed {
                let is_function = line.text(at + 2, outline) == b"lambda";
                for name in line.tokens[first..=at].iter().step_by(2) {
                    self.variable(name, kind, is_function, outline);
                }
                first = at + 2;
            }
            if is_typed || first != at + 2 && !line.is(at + 1, b',') {
                break;
            }
            at += 2;
        }
    }

    fn variable(&mut self, name: &Token, kind: Kind, is_function: bool, outline: &mut Outline<'_>) {
        let text = name.text(outline);
        let is_upper = text.iter().any(u8::is_ascii_uppercase);
        let kind = match kind {
            Kind::Variable if is_function => Kind::Function,
            Kind::Field if is_function => Kind::Method,
            Kind::Variable if is_upper && !text.iter().any(u8::is_ascii_lowercase) => {
                Kind::Constant
            }
            kind => kind,
        };
        if text != b"_" {
            self.names.define(name.range(), kind, outline);
        }
    }

    /// `name = "x"` of Starlark.
    pub(super) fn rule(&self, line: &Line<'_>, outline: &mut Outline<'_>) {
        if let [name, sign, value, ..] = line.tokens
            && value.role == Role::String
            && sign.is(b'=')
            && name.text(outline) == b"name"
            && outline.innermost().is_none()
        {
            outline.define(unquoted(value, outline), Kind::Target);
        }
    }
}

fn is_c(outline: &Outline<'_>) -> bool {
    let kind = outline.innermost_kind();
    matches!(kind, Some(Kind::Struct | Kind::Union))
}
