//! Words of a statement: declarations and paths.

use super::{Awaited, Dialect, Form, Head, JavaScript, Place, Value};
use crate::symbols::{Kind, Outline, Role, Token};
use std::ops::Range;

impl JavaScript {
    pub(super) fn word(&mut self, token: Token, outline: &mut Outline<'_>) {
        let text = token.text(outline);
        if token.role == Role::Keyword && !self.is_member_name() {
            match text {
                b"function" => return self.function(outline),
                b"class" => return self.declare(Place::Class, outline),
                _ => {}
            }
        }
        if self.name_of_awaited(token, outline) || self.head.brackets > 0 {
            return;
        }
        if self.head.value != Value::None {
            return self.value_word(token, text);
        }
        match self.place() {
            Place::Class | Place::Interface | Place::Object | Place::NamedObject => {
                self.member(token, text);
            }
            Place::Enum => self.enumerator(token, outline),
            Place::Component if self.component_word(text) => {}
            _ => self.statement_word(token, text, outline),
        }
    }

    fn function(&mut self, outline: &mut Outline<'_>) {
        if self.head.brackets == 0 && self.head.value == Value::Start {
            let definition = self.define_value(Kind::Function, outline);
            self.head.value = Value::Other;
            self.expect(Place::Body, definition);
        } else {
            self.declare(Place::Body, outline);
        }
    }

    fn declare(&mut self, place: Place, outline: &mut Outline<'_>) {
        let mut definition = None;
        if self.head.brackets == 0 && self.head.value == Value::Start {
            definition = self.define_value(Kind::Class, outline);
            self.head.value = Value::Other;
        } else if self.head.is_outside_value() {
            self.head.form = Form::Declaration;
        }
        self.expect(place, definition);
    }

    fn expect(&mut self, place: Place, definition: Option<u32>) {
        let brackets = self.head.brackets;
        self.head.awaited = Some(Awaited {
            place,
            definition,
            brackets,
        });
    }

    /// Defines the name behind `function` and the like.
    fn name_of_awaited(&mut self, token: Token, outline: &mut Outline<'_>) -> bool {
        let (brackets, last) = (self.head.brackets, self.last);
        let Some(awaited) = self.head.awaited.as_mut() else {
            return false;
        };
        if awaited.brackets != brackets {
            return false;
        }
        let is_path = awaited.place == Place::Top && last.is_some_and(|last| last.is(b'.'));
        let is_clause = matches!(token.text(outline), b"extends" | b"implements");
        let is_behind = !is_clause && is_before_name(last, outline);
        if let Some(index) = awaited.definition {
            let definition = outline.definition(index);
            let name = definition.name.clone();
            if is_path {
                (definition.name.end, definition.end) = (token.end, token.end);
            }
            // Its own name, not the variable's.
            let is_function = last.is_some_and(|it| it.is(b'*') || it.text(outline) == b"function");
            if is_function && outline.bytes(name) != token.text(outline) {
                outline.define(token.range(), Kind::Function);
            }
            return is_path || is_function;
        }
        let is_module = awaited.place == Place::Top;
        if !is_behind && !is_module {
            return false;
        }
        let kind = match awaited.place {
            Place::Class => Kind::Class,
            Place::Interface => Kind::Interface,
            Place::Enum => Kind::Enum,
            Place::Top => Kind::Module,
            _ => Kind::Function,
        };
        let kind = match outline.innermost_kind() {
            _ if kind != Kind::Function => kind,
            Some(Kind::Class) => Kind::Method,
            _ if self.dialect == Dialect::Qml => Kind::Method,
            _ => kind,
        };
        awaited.definition = outline.define(token.range(), kind);
        true
    }

    fn statement_word(&mut self, token: Token, text: &[u8], outline: &mut Outline<'_>) {
        if !matches!(self.head.form, Form::Statement | Form::Variable(_)) {
            return self.other_name(token, outline);
        }
        if self.head.is_call || self.head.angles > 0 && self.head.form == Form::Statement {
            return;
        }
        let next = self.next;
        let before_word = next.is_some_and(|next| next.is_word() || next.role == Role::String);
        match text {
            _ if token.role == Role::Word && (text != b"module" || !before_word) => {
                self.path(token, outline);
            }
            b"var" | b"let" => self.head.form = Form::Variable(Kind::Variable),
            b"const" => self.head.form = Form::Variable(Kind::Constant),
            b"enum" => self.declare(Place::Enum, outline),
            b"interface" if before_word => self.declare(Place::Interface, outline),
            b"namespace" | b"module" if before_word => self.declare(Place::Top, outline),
            b"type" if before_word => self.head.form = Form::Alias,
            b"import" => self.head.form = Form::Other,
            b"case" | b"default" if !self.last_is_keyword() => self.head.form = Form::Case,
            _ if text == b"this" || token.role == Role::Type => self.path(token, outline),
            b"get" | b"set" | b"of" | b"from" | b"as" | b"async" | b"type" | b"static"
                if !before_word =>
            {
                self.path(token, outline);
            }
            _ => (self.head.name, self.head.qualifier) = (None, None),
        }
    }

    fn last_is_keyword(&self) -> bool {
        self.last.is_some_and(|last| last.role == Role::Keyword)
    }

    fn other_name(&mut self, token: Token, outline: &mut Outline<'_>) {
        match self.head.form {
            Form::Alias if self.head.definition.is_none() => {
                self.head.definition = outline.define(token.range(), Kind::Type);
            }
            Form::Property(_) => self.head.name = Some(token),
            _ => {}
        }
    }

    fn path(&mut self, token: Token, outline: &Outline<'_>) {
        let head = &mut self.head;
        let is_in_path = self.last.is_some_and(|last| last.is(b'.'));
        if matches!(head.form, Form::Variable(_)) {
            head.name = head.name.or(Some(token));
            return;
        }
        let is_prototype = |of: Token| outline.bytes(of.range()) == b"prototype";
        if !is_in_path {
            head.qualifier = None;
        } else if !head.name.is_some_and(is_prototype) {
            head.qualifier = head.name;
        }
        head.name = Some(token);
    }

    pub(super) fn define_variable(&mut self, outline: &mut Outline<'_>) {
        let (Form::Variable(kind), Some(name), None) =
            (self.head.form, self.head.name, self.head.definition)
        else {
            return;
        };
        if self.place() == Place::Top {
            self.head.definition = outline.define(name.range(), kind);
        }
    }

    pub(super) fn end_statement(&mut self, outline: &mut Outline<'_>) {
        let head = &self.head;
        match (head.form, head.awaited) {
            (Form::Variable(_), _) => self.define_variable(outline),
            (Form::Declaration, Some(awaited)) if awaited.place == Place::Body => {
                outline.set_declaration(awaited.definition);
            }
            (Form::Property(kind), _) => drop(outline.define_token(head.name, kind)),
            (Form::Statement, _) if matches!(self.place(), Place::Class | Place::Interface) => {
                self.end_member(outline);
            }
            _ => {}
        }
        self.head = Head::at(self.head.indent);
    }

    /// `A` of `A.prototype = {`
    pub(super) fn owner(&self, outline: &Outline<'_>) -> Option<Token> {
        let is = |token: Token, text: &[u8]| outline.bytes(token.range()) == text;
        let name = self.head.name?;
        let name = if is(name, b"prototype") || is(name, b"fn") {
            self.head.qualifier?
        } else {
            name
        };
        (!is(name, b"exports")).then_some(name)
    }

    pub(super) fn parent_of_path(&self, outline: &Outline<'_>) -> (Option<Range<u32>>, Kind) {
        let Some(of) = self.head.qualifier else {
            return (None, Kind::Function);
        };
        match outline.bytes(of.range()) {
            b"exports" | b"module" | b"window" | b"global" | b"root" | b"self" => {
                (None, Kind::Function)
            }
            b"this" => (None, Kind::Method),
            _ => (Some(of.range()), Kind::Method),
        }
    }
}

fn is_before_name(last: Option<Token>, outline: &Outline<'_>) -> bool {
    last.is_some_and(|last| {
        let is_clause = || matches!(last.text(outline), b"extends" | b"implements");
        last.is(b'*') || last.role == Role::Keyword && !is_clause()
    })
}
