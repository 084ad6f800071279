//! Names, constructors and fields.

use super::*;

impl Ml {
    pub(super) fn part(&mut self, token: Token, next: Option<&Token>, outline: &mut Outline<'_>) {
        match token.role {
            Role::Sign(b'(') if self.item.part == Part::Name && self.depth == 0 => {
                self.operator(token, outline);
                self.depth += 1;
            }
            Role::Sign(b'(' | b'[' | b'{') => {
                self.depth += 1;
                if self.depth == 1 && self.item.part == Part::BehindName {
                    self.set_function(outline);
                }
            }
            Role::Sign(b')' | b']' | b'}') => self.depth = self.depth.saturating_sub(1),
            _ if self.depth == 1 => self.field(token, next, outline),
            _ if self.depth > 0 => {}
            Role::Sign(b'`') if self.item.part == Part::Name => self.quoted_name(token, outline),
            Role::Sign(sign) => self.sign(sign, next, outline),
            Role::Word | Role::Keyword | Role::Type => self.word(token, next, outline),
            _ if self.item.part == Part::Name => self.item.part = Part::Rest,
            _ => {}
        }
    }

    /// `( + )`
    fn operator(&mut self, open: Token, outline: &mut Outline<'_>) {
        let rest = rest(open, 32, outline);
        let blanks = rest.iter().take_while(|byte| **byte == b' ').count();
        let rest = &rest[blanks..];
        let is_sign = |byte: &&u8| b"!$%&*+-./:<=>?@^|~#".contains(byte);
        let count = rest.iter().take_while(is_sign).count();
        let behind = rest[count..].iter().find(|byte| **byte != b' ');
        if count > 0 && behind == Some(&b')') {
            let start = open.end + blanks as u32;
            self.define(start..start + count as u32, Kind::Function, outline);
        } else if self.item.kind != Kind::Type && self.item.kind != Kind::Class {
            self.item.part = Part::Rest;
        }
    }

    fn set_function(&mut self, outline: &mut Outline<'_>) {
        if let Some(index) = self.item.index
            && self.item.kind == Kind::Constant
        {
            outline.definition(index).kind = Kind::Function;
            self.item.kind = Kind::Function;
        }
        self.item.part = Part::Rest;
    }

    /// Record: `name :`
    fn field(&mut self, token: Token, next: Option<&Token>, outline: &mut Outline<'_>) {
        let in_type = matches!(self.item.part, Part::Constructor | Part::Values);
        if in_type && self.last.is_some_and(|last| last.is(b'`')) {
            outline.define(token.range(), Kind::Enumerator);
        }
        if !in_type || !token.is_word() || !next.is_some_and(|next| next.is(b':')) {
            return;
        }
        let Some(last) = self.last else { return };
        let is_begin = matches!(last.role, Role::Sign(b'{' | b';' | b',' | b']'));
        let is_first = self.dialect == Dialect::FSharp && self.is_first;
        if is_begin || is_first || last.text(outline) == b"mutable" {
            outline.define(token.range(), Kind::Field);
        }
    }

    /// F#: ``` ``name with blanks`` ```
    fn quoted_name(&mut self, sign: Token, outline: &mut Outline<'_>) {
        let rest = rest(sign, 256, outline);
        self.item.part = Part::Rest;
        if let Some(name) = rest.strip_prefix(b"`")
            && let Some(count) = memchr::memchr(b'`', name)
        {
            let start = sign.end + 1;
            self.define(start..start + count as u32, self.item.kind, outline);
        }
    }

    fn sign(&mut self, sign: u8, next: Option<&Token>, outline: &mut Outline<'_>) {
        let is_next = |sign: u8| next.is_some_and(|next| next.is(sign));
        let part = match (self.item.part, sign) {
            (Part::BehindName, b'=') if self.item.has_values => Part::Constructor,
            (Part::Constructor | Part::Values, b'=' | b'|') => Part::Constructor,
            (Part::BehindName | Part::Type, b'=')
                if self.item.kind != Kind::Type && !is_next(b'>') =>
            {
                Part::Value
            }
            (Part::BehindName, b':') => Part::Type,
            (Part::Type, b'-' | b'=') if is_next(b'>') => return self.set_function(outline),
            (Part::Value, b'=') if is_next(b'>') => return self.set_function(outline),
            // Tuple, or receiver of F#.
            (Part::BehindName, b',') if self.item.kind == Kind::Constant => Part::Name,
            (Part::BehindName, b'~' | b'?' | b'_') => return self.set_function(outline),
            (Part::Name, b'%') => Part::Extension,
            (Part::BehindName, b';') => Part::Rest,
            (part, _) => part,
        };
        self.item.part = part;
    }

    fn word(&mut self, token: Token, next: Option<&Token>, outline: &mut Outline<'_>) {
        let text = token.text(outline);
        match self.item.part {
            Part::Extension => self.item.part = Part::Name,
            Part::Name => self.name(text, token, next, outline),
            Part::BehindName => match text {
                b"with" | b"of" | b"when" => self.item.part = Part::Rest,
                _ if matches!(self.item.kind, Kind::Constant | Kind::Function) => {
                    self.set_function(outline);
                }
                _ => {}
            },
            Part::Value => match text {
                b"fun" | b"function" | b"fn" => self.set_function(outline),
                _ if next.is_some_and(|next| next.is(b'=')) => {}
                _ => self.item.part = Part::Rest,
            },
            Part::Constructor => self.constructor(token, next, outline),
            _ => {}
        }
    }

    fn name(&mut self, text: &[u8], token: Token, next: Option<&Token>, outline: &mut Outline<'_>) {
        let is_fsharp = self.dialect == Dialect::FSharp;
        match text {
            b"rec" | b"nonrec" | b"inline" | b"private" | b"internal" | b"public" | b"op" => {}
            b"member" | b"lazy" | b"of" if token.role == Role::Keyword => {}
            b"mutable" if self.item.kind == Kind::Constant => self.item.kind = Kind::Variable,
            b"mutable" => {}
            b"virtual" => self.item.is_declaration = self.item.kind == Kind::Method,
            b"let" if self.item.kind == Kind::Method => self.item.kind = Kind::Constant,
            b"val" if self.item.kind == Kind::Method => self.item.kind = Kind::Field,
            b"type" => self.item.kind = Kind::Interface,
            b"new" | b"open" | b"exception" | b"do" if !is_fsharp => self.item.part = Part::Rest,
            b"_" if !next.is_some_and(|next| next.is(b'.')) => self.item.part = Part::Rest,
            [b'\'', ..] => {}
            _ if next.is_some_and(|next| next.is(b'.')) => {
                if self.item.kind == Kind::Module {
                    self.item.index.get_or_insert(token.start);
                }
            }
            _ => {
                let start = match self.item.kind {
                    Kind::Module => self.item.index.take().unwrap_or(token.start),
                    _ => token.start,
                };
                self.define(start..token.end, self.item.kind, outline);
            }
        }
    }

    fn define(&mut self, name: std::ops::Range<u32>, kind: Kind, outline: &mut Outline<'_>) {
        // Another name of a tuple.
        if self.item.index.is_some() {
            outline.leave(name.end);
            if self.dialect == Dialect::FSharp {
                outline.enter(None);
            }
        }
        let index = outline.define(name, kind);
        outline.set_declaration(index.filter(|_| self.item.is_declaration));
        self.item.index = index;
        self.item.part = match kind {
            Kind::Function if !matches!(self.item.kind, Kind::Constant) => Part::Rest,
            _ => Part::BehindName,
        };
        self.enter(index.filter(|_| !self.item.is_declaration), outline);
    }

    fn constructor(&mut self, token: Token, next: Option<&Token>, outline: &mut Outline<'_>) {
        let text = token.text(outline);
        if matches!(text, b"private" | b"mutable") {
            return;
        }
        let is_next = |sign: u8| next.is_some_and(|next| next.is(sign));
        let is_behind_bar = self.last.is_some_and(|last| last.is(b'|'));
        let is_upper = text.first().is_some_and(u8::is_ascii_uppercase);
        let is_before = || is_next(b'|') || next.is_some_and(|it| it.text(outline) == b"of");
        let is_value = match self.dialect {
            Dialect::StandardMl => token.role == Role::Word,
            Dialect::FSharp => is_upper && (is_behind_bar || is_before()),
            _ => is_upper && !is_next(b'.'),
        };
        if is_value {
            outline.define(token.range(), Kind::Enumerator);
        }
        self.item.part = Part::Values;
    }
}

fn rest<'t>(token: Token, bytes_max: usize, outline: &Outline<'t>) -> &'t [u8] {
    let rest = &outline.text[token.end as usize..];
    &rest[..rest.len().min(bytes_max)]
}
