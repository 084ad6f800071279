//! Visual Basic, VBScript, MATLAB and COBOL: a statement a line.

#[cfg(test)]
mod tests;

use super::super::Kind::*;
use super::super::forms::Act::*;
use super::super::forms::{Endings, FOLD, MARGIN, METHODS, SCOPES, Table};

pub(super) static BASIC_ENDS: Endings = Endings {
    signs: b"",
    lines: Some(b'_'),
    ..Endings::NONE
};

#[rustfmt::skip]
pub(super) static BASIC: Table = Table::of(&[
    (r"end (\w+)", CloseTo),
    (r"interface~{MODIFIERS}(?:sub|function) (\w+)", Declare(Method)),
    (r"interface~{MODIFIERS}(?:property|event) (\w+)", Declare(Field)),
    (r"{MODIFIERS}(?:mustoverride|declare|delegate) {MODIFIERS}(?:sub|function) (\w+)", Declare(Function)),
    (r"{MODIFIERS}class (\w+)", Open(Class, "class")),
    (r"{MODIFIERS}structure (\w+)", Open(Struct, "structure")),
    (r"{MODIFIERS}type (\w+) $", Open(Struct, "type")),
    (r"{MODIFIERS}module (\w+)", Open(Module, "module")),
    (r"{MODIFIERS}namespace (\w+)", Open(Module, "namespace")),
    (r"{MODIFIERS}interface (\w+)", Open(Interface, "interface")),
    (r"{MODIFIERS}enum (\w+)", Open(Enum, "enum")),
    (r"{MODIFIERS}sub (\w+)", Open(Function, "sub")),
    (r"{MODIFIERS}function (\w+)", Open(Function, "function")),
    (r"{MODIFIERS}operator (\w+)", Open(Function, "operator")),
    (r"{MODIFIERS}(?:property|event) (?:(?:get|let|set) )?(\w+)", Define(Field)),
    (r"enum~(\w+)", Define(Enumerator)),
    (r"type~(\w+)", Define(Field)),
    (r"(?:module|class|structure|)~{MODIFIERS}const (\w+)", Define(Constant)),
    (r"(?:module|)~{MODIFIER}{MODIFIERS}(.*)", List(Variable)),
    (r"(?:class|structure)~{MODIFIER}{MODIFIERS}(\w+)", Define(Field)),
])
.with(FOLD | SCOPES | METHODS)
.parts(&[
    ("{MODIFIERS}", r"{MODIFIER}*"),
    ("{MODIFIER}", r"(?:(?:public|private|protected|friend|global|dim|static|shared|partial|mustinherit|notinheritable|shadows|default|overridable|overrides|notoverridable|overloads|async|iterator|readonly|writeonly|withevents|ptrsafe|widening|narrowing|custom) )"),
]);

pub(super) static MATLAB_ENDS: Endings = Endings {
    signs: b";,",
    lines: Some(b'\n'),
    ..Endings::NONE
};

/// A function without indentation ends all before it, as functions of a file may have no `end`.
#[rustfmt::skip]
pub(super) static MATLAB: Table = Table::of(&[
    (r"-function (?:.*?= )?(?:\w+ \. )?(\w+)", Unit(Function, "function")),
    (r"function (?:.*?= )?(?:\w+ \. )?(\w+)", Open(Function, "function")),
    (r"-?classdef (?:\( .*? \) )?(\w+)", Open(Class, "classdef")),
    (r"properties\b", Enter("properties")),
    (r"enumeration\b", Enter("enumeration")),
    (r"methods\b", Enter("methods")),
    (r"-?(?:if|for|while|switch|try|parfor|spmd|events|arguments|unwind_protect|do)\b", Enter("block")),
    (r"-?(?:end|end(?:if|for|while|switch|function|classdef|methods|properties)|end_try_catch|end_unwind_protect|until)\b", Close),
    (r"properties~(\w+)", Define(Field)),
    (r"enumeration~(\w+)", Define(Enumerator)),
])
.with(SCOPES | MARGIN | METHODS);

/// In fixed form, a sign in column 7 begins a comment, and paragraphs begin before column 12.
#[rustfmt::skip]
pub(super) static COBOL: Table = Table::of(&[
    (r".{6}[*/]", Skip),
    (r"{LEFT}\s*(?:program|class|function)-id\s*\.?\s*([\w-]+)", Unit(Module, "data")),
    (r"{LEFT}\s*procedure\s+division\b", Enter("procedure")),
    (r"procedure~{LEFT}\s*(?:exit|goback|continue|else|declaratives|end|end-[\w-]+)\b", Skip),
    (r"procedure~{LEFT} {0,4}([\w-]+)(?:\s+section\b|\s*\.\s*$)", Define(Function)),
    (r"data~{LEFT}\s*\d+\s+(?:filler|pic|picture)\b", Skip),
    (r"data~{LEFT}\s*(?:0?1|77)\s+([a-z][\w-]*)", Define(Variable)),
    (r"data~{LEFT}\s*78\s+([a-z][\w-]*)", Define(Constant)),
    (r"data~{LEFT}\s*88\s+([a-z][\w-]*)", Define(Enumerator)),
    (r"data~{LEFT}\s*\d\d?\s+([a-z][\w-]*)", Define(Field)),
])
.with(FOLD | SCOPES | METHODS)
.parts(&[("{LEFT}", r"(?:\d{6}|      )? ?")]);
