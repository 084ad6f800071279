//! Fortran: units, procedures, types, interfaces, variables.

#[cfg(test)]
mod tests;

use super::super::Kind::*;
use super::super::forms::Act::*;
use super::super::forms::{Endings, FOLD, SCOPES, Table};

pub(super) static ENDS: Endings = Endings {
    lines: Some(b'&'),
    directive: b'#',
    ..Endings::NONE
};

#[rustfmt::skip]
pub(super) static FORTRAN: Table = Table::of(&[
    ("#", Skip),
    (r"(?:\d+ )?end (?:[;]|$)", Close),
    (r"(?:\d+ )?end ?(program|(?:sub)?module|subroutine|function|procedure|type|interface|enum|block)\b", CloseTo),
    (r"program (\w+) $", Unit(Module, "program")),
    (r"module (\w+) $", Unit(Module, "module")),
    (r"submodule \( .*? \) (\w+)", Unit(Module, "submodule")),
    (r"block data (\w+)", Unit(Module, "block")),
    (r"submodule~module procedure (\w+)", Open(Function, "procedure")),
    (r"interface~{TYPE}subroutine (\w+)", Prototype(Function, "subroutine")),
    (r"interface~{TYPE}function (\w+)", Prototype(Function, "function")),
    (r"{TYPE}subroutine (\w+)", Open(Function, "subroutine")),
    (r"{TYPE}function (\w+)", Open(Function, "function")),
    (r"type (?:(?:, .*)?: : )?(\w+) (?:$|\()", Open(Struct, "type")),
    (r"interface (\w+) $", Open(Interface, "interface")),
    (r"(?:abstract )?interface\b", Enter("interface")),
    (r"enum ,", Enter("enum")),
    (r"enum~enumerator (?:: : )?(.*)", List(Enumerator)),
    (r"type~(?:procedure|generic|final)\b.*?: : (.*)", List(Method)),
    (r"type~{DATA}.*?: : (.*)", List(Field)),
    (r"(?:sub)?module~{DATA}.*?\bparameter\b.*?: : (.*)", List(Constant)),
    (r"(?:sub)?module~{DATA}.*?: : (.*)", List(Variable)),
])
.with(FOLD | SCOPES)
.parts(&[
    ("{TYPE}", r"(?:(?:pure|elemental|impure|recursive|module|non_recursive|double|precision|integer|real|complex|logical|character|type|class) (?:\* )?(?:\d+ )?(?:\( (?:[^()]|\([^()]*\))*\) )?)*"),
    ("{DATA}", r"(?:integer|real|double|complex|logical|character|type|class|procedure)\b"),
]);
