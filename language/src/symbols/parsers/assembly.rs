//! Assembly: labels, but for local ones, macros, constants and procedures.

#[cfg(test)]
mod tests;

use super::super::Kind::*;
use super::super::forms::Act::*;
use super::super::forms::{REPEATED, Table};

#[rustfmt::skip]
pub(super) static ASSEMBLY: Table = Table::of(&[
    (r"[ \t]*([A-Za-z_$?][\w.$?@]*):", Define(Label)),
    (r"[ \t]*#[ \t]*define[ \t]+(\w+)", Define(Macro)),
    (r#"[ \t]*\.type[ \t]+([\w.$]+)[ \t]*,?[ \t]*(?:[@%#"]?function|STT_FUNC)"#, Later(Function)),
    (r"[ \t]*[.%]?(?i:i?macro)[ \t]+([\w.$]+)", Level(Macro, 0)),
    (r"[ \t]*[.%]?(?i:endm|endmacro)\b", Close),
    (r"[ \t]*[.%](?i:x?define)[ \t]+(\w+)", Define(Macro)),
    (r"[ \t]*[.%](?i:set|equ|equiv|eqv|assign)[ \t]+([A-Za-z_$][\w.$]*)", Define(Constant)),
    (r"[ \t]*(?i:struct?)[ \t]+(\w+)", Define(Struct)),
    (r"[ \t]*[.%]?(?i:proc|cglobal)[ \t]+([A-Za-z_$][\w.$]*)", Define(Function)),
    (r"[ \t]*TEXT[ \t]+(?:[^\s(<]*·)?([\w.]+)", Define(Function)),
    (r"[ \t]*GLOBL[ \t]+(?:[^\s(<]*·)?([\w.]+)", Define(Variable)),
    (r"[ \t]*(?:ENTRY|SYM_(?:FUNC|CODE)_START\w*)[ \t]*\(?[ \t]*(\w+)", Define(Function)),
    (r"[ \t]*(\w+)[ \t]+(?i:proc)\b", Define(Function)),
    (r"[ \t]*(\w+)[ \t]+(?i:macro)\b", Define(Macro)),
    (r"[ \t]*(\w+)[ \t]+(?i:struct?)\b", Define(Struct)),
    (r"[ \t]*([A-Za-z_$][\w$?@]*)(?:[ \t]+(?i:equ)\b|[ \t]*=[^=])", Define(Constant)),
])
.with(REPEATED)
.goes_on(b"\\");
