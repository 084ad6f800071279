//! Lines that end statements, recovery from unbalanced braces, tags of scripts; members of classes
//! and objects.

use super::{Dialect, Form, Head, JavaScript, Place, Value};
use crate::symbols::{Kind, Line, Outline, Role, Token, is_of};

impl JavaScript {
    pub(super) fn begin_line(&mut self, first: Token, indent: usize, outline: &mut Outline<'_>) {
        if indent == 0 && self.is_declaration(first, outline) {
            self.close_nested(outline);
        }
        let ends = match self.place() {
            Place::Object | Place::NamedObject | Place::Enum => false,
            _ => self.head.brackets == 0 && !self.continues(first, outline),
        };
        if ends {
            self.end_statement(outline);
        }
        if ends || self.head.form == Form::Statement && self.head.name.is_none() {
            self.head.indent = indent;
        }
    }

    fn continues(&self, first: Token, outline: &Outline<'_>) -> bool {
        if self.last_is_of(b"=,.(+-*/&|?:<~^%") || self.is_arrow {
            return true;
        }
        if let Some(last) = self.last.filter(|last| last.role == Role::Keyword) {
            let words = "return break continue this null true false undefined super get set of \
                         from debugger void";
            let is_as_const = self.head.value != Value::None && last.text(outline) == b"const";
            let ends = is_as_const || is_of(words, last.text(outline));
            let is_name = self.head.name.is_some_and(|name| Some(name) == self.last);
            if !ends && !is_name {
                return true;
            }
        }
        match first.role {
            Role::Sign(b'{') => {
                self.head.awaited.is_some() || self.head.is_call && self.is_in_members()
            }
            Role::Sign(sign) => b".?:=,)]&|+%<>".contains(&sign),
            Role::Keyword => matches!(
                first.text(outline),
                b"in" | b"instanceof" | b"extends" | b"implements"
            ),
            _ => false,
        }
    }

    fn is_declaration(&self, first: Token, outline: &Outline<'_>) -> bool {
        let is_open = self.head.brackets > 0 || !self.scopes.is_empty();
        let words = "function class export import interface namespace abstract declare";
        is_open && first.role == Role::Keyword && is_of(words, first.text(outline))
    }

    /// Closes scopes that a declaration in column 0 cannot be in.
    fn close_nested(&mut self, outline: &mut Outline<'_>) {
        let holds = |scope: &super::Scope| {
            let Head {
                form, definition, ..
            } = scope.head;
            let is_inner = definition.is_none() || scope.head.brackets > 0;
            let is_wrapper = form != Form::Declaration && scope.place == Place::Body && is_inner;
            scope.head.indent == 0 && (is_wrapper || scope.place == Place::Top)
        };
        let kept = self.scopes.iter().take_while(|scope| holds(scope)).count();
        let end = self.last.map_or(0, |last| last.end);
        self.deeper = 0;
        while self.scopes.len() > kept {
            self.scopes.pop();
            outline.leave(end);
        }
        self.head = Head::default();
    }

    pub(super) fn is_outside_script(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) -> bool {
        let text = outline.bytes(line.range.clone()).trim_ascii_start();
        let is_tag = text.starts_with(b"<script") || text.starts_with(b"</script");
        if is_tag {
            self.scopes.clear();
            (self.deeper, self.last) = (0, None);
            self.head = Head::default();
            outline.leave_to(0, line.range.start);
            self.in_script = text.starts_with(b"<script");
        }
        is_tag || !self.in_script
    }

    /// True if a keyword before `next` is a member's name.
    pub(super) fn is_member_name(&self) -> bool {
        let has_name = self.head.name.is_some() || self.head.is_call;
        let is_at_name = self.is_in_members() && self.head.is_outside_value() && !has_name;
        let is_object = !matches!(self.place(), Place::Class | Place::Interface);
        let ends = |next: Token| match next.role {
            Role::Sign(b'(') => !is_object,
            Role::Sign(sign) => b":=;,?".contains(&sign),
            _ => false,
        };
        is_at_name && self.next.is_none_or(ends)
    }

    /// True for the `(` of a method without a class around it.
    pub(super) fn is_fragment_of_class(&self, bracket: Token) -> bool {
        let is_behind = self.last == self.head.name || self.last_is(b'>') && !self.is_arrow;
        let is_name = self.head.name.is_some() && self.head.qualifier.is_none();
        let is_statement = self.head.form == Form::Statement && is_name;
        self.place() == Place::Top && is_statement && is_behind && bracket.is(b'(')
    }

    pub(super) fn is_key_of_function(&self, outline: &Outline<'_>) -> bool {
        let is_function = self.next.is_some_and(|next| {
            next.is(b'(') || matches!(next.text(outline), b"function" | b"async")
        });
        let name = self.head.name.filter(|_| self.last == self.head.name);
        is_function && name.is_some_and(|name| outline.begins_line(name.start))
    }

    pub(super) fn member(&mut self, token: Token, text: &[u8]) {
        if self.head.name.is_some() || self.head.is_call {
            return;
        }
        let ends = self.next.is_none_or(|next| next.is_of(b"(=:;,?!<}"));
        let is_statement = token.role == Role::Keyword
            && match self.place() {
                Place::Class => false,
                Place::Interface => text == b"new",
                _ => is_of("if for while switch catch with return new", text),
            };
        let is_computed = self.next.is_some_and(|next| next.is(b'['));
        if ends && !is_statement && !is_computed {
            self.head.name = Some(token);
        }
    }

    pub(super) fn literal(&mut self, token: Token, outline: &mut Outline<'_>) {
        if token.role == Role::Meta {
            return;
        }
        let is_member = self.is_in_members() || self.place() == Place::Enum;
        if self.head.value != Value::None {
            if matches!(self.head.value, Value::Start | Value::Word | Value::Group) {
                self.head.value = Value::Other;
            }
        } else if is_member && token.role == Role::String && self.head.name.is_none() {
            let is_key = self.next.is_some_and(|next| next.is_of(b":(="));
            match (unquoted(token, outline).filter(|_| is_key), self.place()) {
                (Some(name), Place::Enum) => self.enumerator(name, outline),
                (Some(name), _) => self.head.name = Some(name),
                (None, _) => self.head.is_call |= is_key,
            }
        } else if self.head.form == Form::Statement && !is_member {
            self.head.name = None;
        }
    }

    pub(super) fn enumerator(&mut self, token: Token, outline: &mut Outline<'_>) {
        if self.head.name.is_none() {
            self.head.name = Some(token);
            outline.define(token.range(), Kind::Enumerator);
        }
    }

    pub(super) fn method(&mut self, has_body: bool, outline: &mut Outline<'_>) -> Option<u32> {
        let name = self.head.name?;
        let index = self.define_member(name, Kind::Method, outline)?;
        outline.definition(index).is_declaration = !has_body;
        Some(index)
    }

    pub(super) fn define_field(&mut self, outline: &mut Outline<'_>) {
        if let (Some(name), None) = (self.head.name, self.head.definition) {
            self.head.definition = self.define_member(name, Kind::Field, outline);
        }
    }

    pub(super) fn end_member(&mut self, outline: &mut Outline<'_>) {
        if self.head.is_call {
            self.method(false, outline);
        } else {
            self.define_field(outline);
        }
    }

    pub(super) fn component_word(&mut self, text: &[u8]) -> bool {
        if self.dialect != Dialect::Qml || self.head.form != Form::Statement {
            return false;
        }
        match text {
            b"property" => self.head.form = Form::Property(Kind::Field),
            b"signal" => self.head.form = Form::Property(Kind::Method),
            b"component" => self.head.form = Form::Property(Kind::Type),
            b"readonly" => {}
            _ => return false,
        }
        true
    }

    pub(super) fn component_colon(&mut self, outline: &mut Outline<'_>) {
        if matches!(self.head.form, Form::Property(_)) {
            self.end_statement(outline);
        }
        let name = self.head.name.map(|name| outline.bytes(name.range()));
        if name == Some(b"id") {
            (self.head.form, self.head.name) = (Form::Property(Kind::Id), None);
        } else {
            self.head.value = Value::Other;
        }
    }
}

/// Content of a string that could be a name.
fn unquoted(token: Token, outline: &Outline<'_>) -> Option<Token> {
    let inside = token.start + 1..token.end.saturating_sub(1);
    let inside = Token::new(inside, Role::Word);
    if inside.start >= inside.end {
        return None;
    }
    let is_of_name =
        |byte: &u8| byte.is_ascii_alphanumeric() || b"_$-".contains(byte) || *byte >= 0x80;
    let is_name = inside.text(outline).iter().all(is_of_name);
    is_name.then_some(inside)
}
