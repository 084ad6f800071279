//! Definitions of a statement, at its `;` or where a brace opens.

use super::declarator::{Declarator, Form, Name, Reader, closing};
use super::group::{declares, is_macro, name_before_group, name_in_macro};
use super::objective::method;
use super::{C, Context};
use crate::symbols::{Kind, Outline, Role, Token};
use std::ops::Range;

/// Scope and its definition.
type Opened = (Context, Option<u32>);

impl C {
    /// Reads the statement before a brace.
    pub(super) fn opened(&mut self, outline: &mut Outline<'_>) -> Opened {
        if self.is_method() {
            return (Context::Body, method(self.statement(), outline));
        }
        if self.context() == Context::Objective && self.statement().is_empty() {
            return (Context::Type, None);
        }
        let mut reader = Reader::new(self.statement(), true, outline);
        let mut context = Context::Body;
        while let Some(Declarator { name, form }) = reader.next() {
            let is_type = matches!(form, Form::Type(_));
            if self.context() == Context::Body && !is_type {
                return (context, None);
            }
            let is_value = matches!(form, Form::Variable { .. } | Form::Alias | Form::Concept);
            if let (Form::Variable { has_value: false }, Some(name), true) =
                (&form, &name, self.is_shader)
            {
                let block = define(name, Kind::Struct, outline);
                self.end();
                return (Context::Type, block);
            }
            if !is_value {
                return self.opened_by(&reader, name, form, outline);
            }
            context = Context::Value;
        }
        if reader.is_linkage() {
            context = Context::File;
        }
        (context, None)
    }

    fn opened_by(
        &self,
        reader: &Reader<'_>,
        name: Option<Name>,
        form: Form,
        outline: &mut Outline<'_>,
    ) -> Opened {
        let (context, kind) = match form {
            Form::Function(inside) if reader.is_typedef => {
                // `typedef NS_ENUM(type, name) {`
                let name = reader.inside(&inside).last();
                let definition = name.and_then(|it| outline.define(it.range(), Kind::Enum));
                return (Context::Enum, definition);
            }
            Form::Function(_) if self.is_value(reader) => return (Context::Value, None),
            Form::Function(inside) => {
                let name = match name {
                    Some(name) if is_macro(reader, &name) => name_in_macro(reader, inside, name),
                    name => name,
                };
                return (
                    Context::Body,
                    name.and_then(|name| self.function(&name, outline)),
                );
            }
            Form::Type(Kind::Enum) => (Context::Enum, Kind::Enum),
            Form::Type(kind) => (Context::Type, kind),
            _ => (Context::File, Kind::Module),
        };
        (context, name.and_then(|name| define(&name, kind, outline)))
    }

    /// Recognises a brace of a constructor's initialiser.
    fn is_value(&self, reader: &Reader<'_>) -> bool {
        let last = reader.tokens.last();
        let is_open = last.is_some_and(|last| last.is_word() || last.is(b'>'));
        if self.is_shader || !is_open {
            return false;
        }
        let (mut at, mut colons) = (reader.at, 0);
        while let Some(token) = reader.tokens.get(at) {
            match token.role {
                Role::Sign(b'(' | b'[') => at = closing(reader.tokens, at),
                Role::Sign(b':') => colons += 1,
                _ if colons == 1 => return true,
                _ => colons = 0,
            }
            at += 1;
        }
        false
    }

    fn function(&self, name: &Name, outline: &mut Outline<'_>) -> Option<u32> {
        let is_method = self.context() == Context::Type || name.qualifier.is_some();
        define(name, Kind::of_function(is_method), outline)
    }

    /// Defines a function whose body is behind the branch of `#if`.
    pub(super) fn define_head(&mut self, outline: &mut Outline<'_>) {
        let is_head = self.statement().last().is_some_and(|last| last.is(b')'));
        if !is_head || !matches!(self.context(), Context::File | Context::Type) || self.brackets > 0
        {
            return;
        }
        let mut reader = Reader::new(self.statement(), true, outline);
        if let Some(Declarator {
            name: Some(name),
            form: Form::Function(_),
        }) = reader.next()
            && (reader.is_typed() || name.qualifier.is_some())
        {
            self.function(&name, outline);
        }
    }

    pub(super) fn declare(&mut self, outline: &mut Outline<'_>) {
        let begin = self.begin();
        let mut tokens = std::mem::take(&mut self.tokens);
        let end = self.declare_all(&tokens[begin..], outline);
        tokens.truncate(begin + end);
        self.tokens = tokens;
        (self.brackets, self.opens) = (0, 0);
        self.nameless = None;
    }

    /// Returns the number of tokens of a head of K&R to keep.
    fn declare_all(&mut self, statement: &[Token], outline: &mut Outline<'_>) -> usize {
        let context = self.context();
        let is_local = context == Context::Body;
        if context == Context::Enum || self.objective_end(statement, outline) {
            return 0;
        }
        let first = statement.first().map(|it| it.text(outline));
        let is_property = first == Some(b"@property");
        let statement = if is_property {
            behind_property(statement)
        } else {
            statement
        };
        let mut reader = Reader::new(statement, false, outline);
        while let Some(found) = reader.next() {
            if let Form::Function(inside) = &found.form
                && context != Context::Type
                && reader.is_old_style(inside.clone())
            {
                return inside.end + 1;
            }
            let Some(name) = found.name else { continue };
            if is_local && !reader.is_typedef && found.form != Form::Alias {
                return 0;
            }
            if let Some(first) = self.nameless.take() {
                outline.name_parent(first, &name.range);
            }
            let is_field = context == Context::Type || is_property;
            declare_one(&mut reader, &name, found.form, is_field, outline);
        }
        0
    }
}

fn declare_one(
    reader: &mut Reader<'_>,
    name: &Name,
    form: Form,
    is_field: bool,
    outline: &mut Outline<'_>,
) {
    match form {
        Form::Alias => _ = define(name, Kind::Type, outline),
        Form::Concept => _ = define(name, Kind::Interface, outline),
        Form::Type(_) | Form::Namespace if reader.is_typedef || reader.is_friend => {}
        Form::Type(kind) => {
            let index = define(name, kind, outline);
            outline.set_declaration(index);
        }
        Form::Namespace => {}
        Form::Function(inside) => prototype(reader, name, inside, is_field, outline),
        Form::Variable { .. } if reader.is_typedef => _ = define(name, Kind::Type, outline),
        Form::Variable { has_value } => {
            let kind = match (is_field, reader.is_const) {
                (true, _) => Kind::Field,
                (false, true) => Kind::Constant,
                (false, false) => Kind::Variable,
            };
            let index = define(name, kind, outline);
            if reader.is_extern && !has_value {
                outline.set_declaration(index);
            }
        }
    }
}

fn prototype(
    reader: &mut Reader<'_>,
    name: &Name,
    inside: Range<usize>,
    is_method: bool,
    outline: &mut Outline<'_>,
) {
    let mut name = name.clone();
    let first = reader.inside(&inside).first().map(|first| first.role);
    let is_value = matches!(first, Some(Role::Number | Role::String));
    let is_constructor = name.is_special || is_method && reader.is_class(&name);
    let is_function = if reader.is_typed() || is_constructor {
        !is_value
    } else {
        match name_before_group(reader, inside) {
            Some(inner) if reader.is_typedef || declares(reader.bytes(&name.range)) => {
                name.range = inner
            }
            _ => return,
        }
        true
    };
    let kind = if reader.is_typedef {
        Kind::Type
    } else if !is_function {
        Kind::Variable
    } else {
        Kind::of_function(is_method || name.qualifier.is_some())
    };
    let index = define(&name, kind, outline);
    let last = reader.tokens.last();
    let is_default = last.is_some_and(|last| reader.bytes(&last.range()) == b"default");
    if !is_default && matches!(kind, Kind::Function | Kind::Method) {
        outline.set_declaration(index);
    }
    reader.skip_to_next();
}

fn define(name: &Name, kind: Kind, outline: &mut Outline<'_>) -> Option<u32> {
    outline.define_of(name.qualifier.clone(), name.range.clone(), kind)
}

fn behind_property(statement: &[Token]) -> &[Token] {
    let has_group = statement.get(1).is_some_and(|it| it.is(b'('));
    let skipped = usize::from(has_group) * closing(statement, 1);
    statement.get(skipped + 1..).unwrap_or_default()
}
