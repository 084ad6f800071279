//! Values: a function or class gives its kind to the name before `=` or `:`.

use super::{Form, Head, JavaScript, Place, Value};
use crate::symbols::{Kind, Outline, Role, Token};

impl JavaScript {
    pub(super) fn sign(&mut self, token: Token, sign: u8, outline: &mut Outline<'_>) {
        let in_type = matches!(
            self.head.value,
            Value::None | Value::Generic | Value::Annotation | Value::Start
        );
        match sign {
            b'=' => self.equals(token, outline),
            b'>' if self.last_is(b'=') => self.arrow(outline),
            b'<' if in_type => {
                self.head.angles = self.head.angles.saturating_add(1);
                if self.head.value == Value::Start {
                    self.head.value = Value::Generic;
                }
            }
            b'>' => self.head.angles = self.head.angles.saturating_sub(1),
            b',' if self.head.angles == 0 || !in_type => self.comma(outline),
            b':' => self.colon(outline),
            b'.' if self.head.is_call && !self.is_in_members() => self.other_value(),
            b'.' | b'?' | b'!' | b'*' | b'@' | b'#' if self.head.value == Value::None => {}
            b'.' if self.head.value == Value::Word => {}
            _ => self.other_value(),
        }
    }

    fn other_value(&mut self) {
        match self.head.value {
            Value::None if self.head.angles > 0 => {}
            Value::None if self.head.form == Form::Statement && !self.is_in_members() => {
                (self.head.name, self.head.is_call) = (None, false);
            }
            Value::Start | Value::Word | Value::Group => self.head.value = Value::Other,
            _ => {}
        }
    }

    pub(super) fn is_in_members(&self) -> bool {
        matches!(
            self.place(),
            Place::Class | Place::Interface | Place::Object | Place::NamedObject
        )
    }

    fn equals(&mut self, token: Token, outline: &mut Outline<'_>) {
        let touches = |other: &Token| other.start == token.end;
        let next = self.next.filter(touches);
        if next.is_some_and(|next| next.is(b'>')) {
            return;
        }
        let is_behind = self.last.is_some_and(|last| last.end == token.start);
        let is_operator = self.last_is_of(b"=!<+-*/%&|^?") && is_behind;
        if is_operator || next.is_some_and(|next| next.is(b'=')) {
            return self.other_value();
        }
        match self.head.value {
            // The default of a type parameter.
            Value::None if self.head.angles > 0 => {}
            Value::None => self.begin_value(outline),
            Value::Word => {
                let (name, qualifier) = self.head.next;
                self.head = Head {
                    name,
                    qualifier,
                    indent: self.head.indent,
                    ..Head::default()
                };
                self.begin_value(outline);
            }
            _ => {}
        }
    }

    fn begin_value(&mut self, outline: &mut Outline<'_>) {
        self.head.angles = 0;
        self.head.value = Value::Start;
        match (self.head.form, self.place()) {
            (Form::Alias, _) => {}
            (_, Place::Enum | Place::Object | Place::NamedObject) => self.head.value = Value::Other,
            (Form::Variable(_), _) => self.define_variable(outline),
            (_, Place::Class) => self.define_field(outline),
            (_, Place::Interface) => self.head.value = Value::Other,
            _ if self.head.name.is_none() => self.head.value = Value::Other,
            _ => self.define_export(outline),
        }
    }

    fn define_export(&mut self, outline: &mut Outline<'_>) {
        if let (Some(of), Some(name)) = (self.head.qualifier, self.head.name)
            && outline.bytes(of.range()) == b"exports"
        {
            self.head.definition = outline.define(name.range(), Kind::Variable);
        }
    }

    /// Defines the name, or changes the kind of its definition.
    pub(super) fn define_value(&mut self, kind: Kind, outline: &mut Outline<'_>) -> Option<u32> {
        let is_exports = |name: &Token| name.text(outline) == b"exports";
        let name = self.head.name.filter(|name| !is_exports(name))?;
        let is_member = self.is_in_members();
        let kind_of = |of: Kind| if kind == Kind::Class { kind } else { of };
        if let Some(index) = self.head.definition {
            if self.head.form != Form::Alias {
                outline.definition(index).kind = kind_of(Kind::of_function(is_member));
            }
        } else if is_member {
            self.head.definition = self.define_member(name, kind_of(Kind::Method), outline);
        } else {
            let (of, kind) = match self.head.form {
                Form::Variable(_) => (None, Kind::Function),
                _ => self.parent_of_path(outline),
            };
            self.head.definition = outline.define_of(of, name.range(), kind_of(kind));
        }
        self.head.definition
    }

    pub(super) fn define_member(
        &mut self,
        name: Token,
        kind: Kind,
        outline: &mut Outline<'_>,
    ) -> Option<u32> {
        let of = self.scopes.last().and_then(|scope| scope.owner);
        outline.define_of(of.map(|of| of.range()), name.range(), kind)
    }

    fn arrow(&mut self, outline: &mut Outline<'_>) {
        if matches!(
            self.head.value,
            Value::Word | Value::Group | Value::Annotation
        ) {
            self.define_value(Kind::Function, outline);
            self.head.value = Value::Arrow;
        }
    }

    fn comma(&mut self, outline: &mut Outline<'_>) {
        if let Form::Variable(_) = self.head.form {
            let (form, indent) = (self.head.form, self.head.indent);
            self.define_variable(outline);
            self.head = Head {
                form,
                indent,
                ..Head::default()
            };
        } else if self.head.form != Form::Declaration && self.head.form != Form::Other {
            self.end_statement(outline);
        }
    }

    fn colon(&mut self, outline: &mut Outline<'_>) {
        match (self.head.value, self.place()) {
            (Value::None, Place::Object | Place::NamedObject) if !self.head.is_call => {
                self.head.value = Value::Start;
                if self.place() == Place::NamedObject {
                    self.define_field(outline);
                }
            }
            (Value::None, Place::Class | Place::Interface) if !self.head.is_call => {
                self.define_field(outline);
            }
            (Value::None, Place::Component) => self.component_colon(outline),
            (Value::Group, _) => self.head.value = Value::Annotation,
            // The type of a method.
            (Value::None, Place::Top) if self.head.is_call => {}
            (Value::None, Place::Top) if self.is_key_of_function(outline) => {
                self.head.value = Value::Start;
            }
            _ => self.other_value(),
        }
    }

    pub(super) fn value_word(&mut self, token: Token, text: &[u8]) {
        let is_word = token.role == Role::Word || text == b"this" || text == b"module";
        let head = &mut self.head;
        match head.value {
            Value::Start if text == b"async" => {}
            Value::Start if is_word => {
                head.value = Value::Word;
                head.next = (Some(token), None);
            }
            Value::Word if self.last.is_some_and(|last| last.is(b'.')) => {
                let (name, of) = head.next;
                let is_prototype = name.is_some_and(|name| name.end - name.start == 9);
                head.next = (Some(token), if is_prototype { of } else { name });
            }
            Value::Start | Value::Word | Value::Group => head.value = Value::Other,
            _ => {}
        }
    }

    pub(super) fn open_bracket(&mut self, token: Token, outline: &mut Outline<'_>) {
        let is_round = token.is(b'(');
        match self.head.value {
            Value::Start | Value::Generic if is_round => self.head.value = Value::Group,
            Value::None if self.is_in_members() => {
                let is_decorator = self.last.is_some_and(|last| last.role == Role::Meta);
                let is_behind = self.last == self.head.name
                    || self.last_is_of(b">?")
                    || self.last.is_some_and(|last| last.role == Role::String);
                self.head.is_call |= match self.head.name {
                    Some(_) => is_round && is_behind,
                    // A computed name, or a signature without one.
                    None => !is_decorator,
                };
            }
            Value::None if matches!(self.head.form, Form::Property(_)) => {
                self.end_statement(outline);
            }
            Value::None if self.is_fragment_of_class(token) => self.head.is_call = true,
            _ => self.other_value(),
        }
    }
}
