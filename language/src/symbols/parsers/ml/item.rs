//! Items of ML.

use super::super::super::Kind;
use super::dialect::{Dialect, Form};

#[derive(Clone, Copy)]
pub(super) struct Item {
    pub(super) kind: Kind,
    pub(super) part: Part,
    pub(super) is_declaration: bool,
    /// Type with constructors: no alias of Standard ML.
    pub(super) has_values: bool,
    pub(super) index: Option<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Rest,
    Name,
    /// `test` of `let%test`.
    Extension,
    BehindName,
    Type,
    Value,
    /// Behind `=` or `|`.
    Constructor,
    Values,
}

impl Default for Item {
    fn default() -> Item {
        Item {
            kind: Kind::Constant,
            part: Part::Rest,
            is_declaration: false,
            has_values: false,
            index: None,
        }
    }
}

impl Item {
    /// Item that a word begins; `and` continues the last.
    pub(super) fn of(text: &[u8], last: &Item, dialect: Dialect, form: Form) -> Option<Item> {
        let is_sml = dialect == Dialect::StandardMl;
        let (kind, is_declaration) = match text {
            b"let" | b"use" => (Kind::Constant, false),
            b"and" => (last.kind, last.is_declaration),
            b"fun" if is_sml => (Kind::Function, false),
            b"val" if form == Form::Object => (Kind::Field, false),
            b"val" => (Kind::Constant, !is_sml || form == Form::Signature),
            b"external" => (Kind::Function, true),
            b"type" | b"exception" | b"datatype" | b"eqtype" | b"abstype" => (Kind::Type, false),
            b"module" | b"structure" | b"functor" | b"namespace" => (Kind::Module, false),
            b"signature" => (Kind::Interface, false),
            b"include" => (Kind::Module, false),
            b"class" => (Kind::Class, false),
            b"abstract" => (Kind::Method, true),
            b"method" | b"member" | b"static" | b"override" | b"default" => (Kind::Method, false),
            b"open" | b"inherit" | b"initializer" | b"constraint" | b"do" | b"infix"
            | b"infixr" | b"nonfix" => {
                return Some(Item::default());
            }
            b"interface" => (Kind::Interface, false),
            _ => return None,
        };
        let kind = match kind {
            Kind::Function if text == b"and" && !is_sml => Kind::Constant,
            kind => kind,
        };
        let part = if matches!(text, b"include" | b"interface") {
            Part::Rest
        } else {
            Part::Name
        };
        let has_values = match text {
            b"and" => last.has_values,
            b"type" => !is_sml,
            text => matches!(text, b"datatype" | b"abstype"),
        };
        Some(Item {
            kind,
            part,
            is_declaration,
            has_values,
            index: None,
        })
    }

    pub(super) fn is_type(&self) -> bool {
        self.kind.is_type()
    }

    pub(super) fn with_rest(self) -> Item {
        let part = Part::Rest;
        Item { part, ..self }
    }

    pub(super) fn is_container(&self) -> bool {
        matches!(self.kind, Kind::Module | Kind::Interface | Kind::Class)
    }
}
