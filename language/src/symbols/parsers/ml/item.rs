//! Items of ML.

use super::super::super::Kind;
use super::super::super::words::{self, Words};

#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Dialect {
    #[default]
    OCaml,
    Reason,
    FSharp,
    StandardMl,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Structure,
    Signature,
    Object,
}

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

const WORDS: &str = "constant: let use and val fun; function: external; class: class;
    type: type exception datatype eqtype abstype; module: module structure functor namespace;
    module: include; interface: signature interface;
    method: abstract method member static override default;
    none: open inherit initializer constraint do infix infixr nonfix";

pub(super) fn words() -> Words<Option<Kind>> {
    Words::of(&[WORDS], words::kind)
}

impl Item {
    /// Item that a word begins; `and` continues the last.
    pub(super) fn of(
        text: &[u8],
        kind: Option<Kind>,
        last: &Item,
        dialect: Dialect,
        form: Form,
    ) -> Item {
        let Some(kind) = kind else {
            return Item::default();
        };
        let is_sml = dialect == Dialect::StandardMl;
        let (kind, is_declaration) = match text {
            b"and" if last.kind == Kind::Function && !is_sml => (kind, last.is_declaration),
            b"and" => (last.kind, last.is_declaration),
            b"fun" => (Kind::Function, false),
            b"val" if form == Form::Object => (Kind::Field, false),
            b"val" => (kind, !is_sml || form == Form::Signature),
            text => (kind, matches!(text, b"external" | b"abstract")),
        };
        let has_values = match text {
            b"and" => last.has_values,
            b"type" => !is_sml,
            text => matches!(text, b"datatype" | b"abstype"),
        };
        let has_name = !matches!(text, b"include" | b"interface");
        Item {
            kind,
            part: if has_name { Part::Name } else { Part::Rest },
            is_declaration,
            has_values,
            index: None,
        }
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
