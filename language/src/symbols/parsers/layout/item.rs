//! Signatures, equations and types.

use super::super::super::Kind;
use super::super::super::outline::Outline;
use super::super::super::parser::{Role, Token};
use super::{Dialect, Form, Layout, NAMES_MAX};
use std::ops::Range;

impl Layout {
    pub(super) fn token(&mut self, tokens: &[Token], outline: &mut Outline<'_>) -> usize {
        let operator = operator(tokens);
        match self.form {
            Form::Skip => return tokens.len(),
            Form::Begin => {
                self.form = Form::Binding;
                return self.first(tokens, outline);
            }
            Form::Module => return self.module(tokens, outline),
            _ => {}
        }
        if let Some(operator) = operator {
            if self.depth == 0 {
                self.operator(operator, &tokens[operator.len()..], outline);
            } else if self.in_fields()
                && outline.bytes(tokens[0].start..operator[operator.len() - 1].end) == self.colon()
            {
                self.define_names(Kind::Field, outline);
            }
            return operator.len();
        }
        match tokens[0].role {
            Role::Sign(b'(' | b'[' | b'{') => return self.open(tokens, outline),
            Role::Sign(b')' | b']' | b'}') => self.depth = self.depth.saturating_sub(1),
            Role::Sign(b',') if self.depth == 0 || self.in_fields() => self.expects_name = true,
            Role::Sign(b'`') if self.depth == 0 => {
                self.candidate = tokens.get(1).map(Token::range);
                return tokens.len().min(3);
            }
            _ if tokens[0].is_word() => self.word(tokens[0], outline),
            _ => {}
        }
        1
    }

    pub(super) fn end_item(&mut self, outline: &mut Outline<'_>) {
        match self.form {
            Form::Head { .. } => self.define_type(outline),
            Form::Constructors => self.define_constructor(outline),
            _ => {}
        }
        self.form = Form::Skip;
    }

    fn colon(&self) -> &'static [u8] {
        if self.dialect == Dialect::Haskell {
            b"::"
        } else {
            b":"
        }
    }

    fn in_fields(&self) -> bool {
        self.depth == 1 && matches!(self.form, Form::Constructors | Form::Alias)
    }

    fn first(&mut self, tokens: &[Token], outline: &mut Outline<'_>) -> usize {
        let text = tokens[0].text(outline);
        let next = tokens.get(1).map_or(&b""[..], |next| next.text(outline));
        let is_name = next.first().is_some_and(u8::is_ascii_uppercase)
            || next == b"(" && tokens.get(2).is_some_and(|it| it.is(b':'));
        let head = |kind, has_values| Form::Head {
            kind,
            has_values,
            is_named: false,
        };
        let of_instance = self.is_in(Kind::Implementation);
        self.form = match text {
            b"module" => Form::Module,
            b"port" | b"effect" if next == b"module" => Form::Begin,
            b"port" => Form::Begin,
            b"type" if of_instance || matches!(next, b"instance" | b"role") => Form::Skip,
            // New values of an old name.
            b"data" | b"newtype" if of_instance || next == b"instance" => Form::Head {
                kind: Kind::Type,
                has_values: true,
                is_named: true,
            },
            b"data" | b"newtype" => head(Kind::Type, true),
            b"type" => head(Kind::Type, self.dialect == Dialect::Elm && next != b"alias"),
            b"class" => head(Kind::Interface, false),
            b"instance" => head(Kind::Implementation, false),
            b"pattern" if is_name => Form::Pattern,
            b"foreign" if next == b"import" => Form::Foreign,
            b"import" | b"infix" | b"infixl" | b"infixr" | b"deriving" | b"derive" | b"where" => {
                Form::Skip
            }
            b"default" | b"else" | b"then" | b"in" | b"of" | b"$" => Form::Skip,
            _ if self.dialect == Dialect::Dependent => self.first_of_dependent(text, outline),
            _ => Form::Binding,
        };
        if self.form == Form::Binding {
            self.token(tokens, outline)
        } else {
            1
        }
    }

    fn operator(&mut self, operator: &[Token], next: &[Token], outline: &mut Outline<'_>) {
        let range = operator[0].start..operator[operator.len() - 1].end;
        let is_before = next.first().is_some_and(|next| next.start == range.end);
        match self.form {
            Form::Binding | Form::Pattern | Form::Foreign => {
                self.operator_of_binding(range, is_before, outline);
            }
            Form::Head {
                kind, has_values, ..
            } => self.operator_of_head(range, kind, has_values, outline),
            Form::Constructors => match outline.bytes(range.clone()) {
                b"|" | b"=" => self.define_constructor(outline),
                b"=>" => {
                    self.candidate = None;
                    self.expects_name = true;
                }
                text @ [b':', _, ..] if text != self.colon() => self.candidate = Some(range),
                _ => {}
            },
            _ => {}
        }
    }

    fn operator_of_binding(
        &mut self,
        range: Range<u32>,
        is_before: bool,
        outline: &mut Outline<'_>,
    ) {
        let is_between = !is_before && self.end_is(b' ', range.start, outline);
        match outline.bytes(range.clone()) {
            text if text == self.colon() => self.signature(outline),
            b"=" | b"|" => self.equation(outline),
            b"<-" if self.form == Form::Pattern => self.equation(outline),
            b"=>" | b"->" | b"<-" => self.form = Form::Skip,
            b"." if is_between => self.candidate = self.candidate.take().or(Some(range)),
            b"@" | b"." | b":" => {}
            // `name#`
            b"#" | b"##" if !self.end_is(b' ', range.start, outline) => {
                let name = self.names.last_mut().filter(|name| name.end == range.start);
                if let Some(name) = name {
                    name.end = range.end;
                }
            }
            b"!" | b"~" if is_before => {}
            _ => self.candidate = self.candidate.take().or(Some(range)),
        }
    }

    fn operator_of_head(
        &mut self,
        range: Range<u32>,
        kind: Kind,
        has_values: bool,
        outline: &mut Outline<'_>,
    ) {
        let text = outline.bytes(range.clone());
        let is_colon = text == self.colon();
        match text {
            b"=>" => {
                self.candidate = None;
                self.of_type = None;
            }
            b"=" => {
                self.define_type(outline);
                self.form = match self.dialect {
                    _ if has_values => Form::Constructors,
                    Dialect::Elm => Form::Alias,
                    _ => Form::Skip,
                };
                self.expects_name = true;
            }
            // PureScript: named instance.
            _ if is_colon && kind == Kind::Implementation => self.candidate = None,
            _ if is_colon && kind == Kind::Type && !has_values && self.expects_name => {
                self.declare_type(outline);
            }
            _ if is_colon || text == b"|" => {
                self.form = Form::Head {
                    kind,
                    has_values,
                    is_named: true,
                };
            }
            b"!" | b"~" | b"." | b"->" | b"@" => {}
            _ if kind != Kind::Implementation => self.set_candidate(range),
            _ => {}
        }
    }

    fn set_candidate(&mut self, range: Range<u32>) {
        if let Form::Head { is_named, .. } = self.form
            && !is_named
        {
            self.candidate = Some(range);
        }
    }

    fn open(&mut self, tokens: &[Token], outline: &mut Outline<'_>) -> usize {
        let inside = operator(&tokens[1..]).filter(|_| self.depth == 0);
        if let Some(inside) = inside
            && tokens.get(1 + inside.len()).is_some_and(|it| it.is(b')'))
        {
            let name = inside[0].start..inside[inside.len() - 1].end;
            match self.form {
                Form::Binding | Form::Pattern | Form::Foreign if self.expects_name => {
                    self.push_name(name)
                }
                Form::Constructors if self.expects_name => self.candidate = Some(name),
                Form::Head { kind, .. } if kind != Kind::Implementation => self.set_candidate(name),
                _ => {}
            }
            return inside.len() + 2;
        }
        if self.form == Form::Constructors && self.depth == 0 && tokens[0].is(b'{') {
            self.define_constructor(outline);
        }
        self.depth += 1;
        self.expects_name = self.in_fields() && tokens[0].is(b'{');
        1
    }

    fn push_name(&mut self, name: Range<u32>) {
        self.expects_name = false;
        if self.names.len() < NAMES_MAX {
            self.names.push(name);
        }
    }

    fn word(&mut self, token: Token, outline: &mut Outline<'_>) {
        let text = token.text(outline);
        let is_upper = is_upper(text);
        let is_part = self.end_is(b'.', token.start, outline);
        match self.form {
            Form::Binding | Form::Pattern if self.depth == 0 && self.expects_name => {
                self.push_name(token.range());
            }
            Form::Foreign => {
                self.names.clear();
                self.push_name(token.range());
            }
            Form::Head { kind, .. } => match text {
                b"where" if self.depth == 0 => self.open_where(kind, outline),
                b"family" => self.expects_name = false,
                _ if !is_upper => {}
                _ if is_part && self.of_type.is_none() => self.set_candidate(token.range()),
                _ if self.candidate.is_some() && kind == Kind::Implementation => {
                    let is_new = self.of_type.is_none() || is_part;
                    self.of_type = is_new.then(|| token.range()).or(self.of_type.take());
                }
                _ if self.depth == 0 && self.candidate.is_none() => {
                    self.set_candidate(token.range())
                }
                _ => {}
            },
            Form::Constructors if self.depth == 0 => match text {
                b"deriving" => self.end_item(outline),
                _ if is_upper && self.expects_name => {
                    self.candidate = Some(token.range());
                    self.expects_name = false;
                }
                _ => {}
            },
            Form::Constructors | Form::Alias if self.in_fields() && self.expects_name => {
                self.push_name(token.range());
            }
            _ => {}
        }
    }
}

pub(super) fn is_upper(name: &[u8]) -> bool {
    name.first().is_some_and(u8::is_ascii_uppercase)
}

fn operator(tokens: &[Token]) -> Option<&[Token]> {
    let mut end = None;
    let signs = tokens.iter().take_while(|token| {
        let is_sign =
            matches!(token.role, Role::Sign(sign) if b"!#$%&*+./<=>?@\\^|-~:".contains(&sign));
        let is_next = is_sign && end.is_none_or(|end| end == token.start);
        end = Some(token.end);
        is_next
    });
    let count = signs.count();
    (count > 0).then(|| &tokens[..count])
}
