//! Verilog and SystemVerilog: modules, types, members, parameters, variables, ports.

#[cfg(test)]
mod tests;

use super::super::Kind::*;
use super::super::forms::Act::*;
use super::super::forms::{Endings, METHODS, SCOPES, Table};

pub(super) static ENDS: Endings = Endings {
    alone: "begin fork end join join_any join_none endmodule endinterface endprogram endpackage \
        endclass endfunction endtask endcase endgenerate generate endproperty endsequence \
        endgroup endclocking endspecify",
    block: b"constraint",
    directive: b'`',
    ..Endings::NONE
};

/// `begin : name` and `endmodule : name` leave `: name` before a statement.
#[rustfmt::skip]
pub(super) static VERILOG: Table = Table::of(&[
    (r"`define (\w+)", Define(Macro)),
    (r"`(?:ifdef|ifndef|elsif|else|endif|include|timescale|undef|default_nettype|resetall)\b", Skip),
    (r"(?:begin|fork) ", Enter("begin")),
    (r"begin~(?:end|join\w*) $", Close),
    (r"end(module|interface|program|package|class|function|task) ", CloseTo),
    (r"{LABEL}(?:extern|pure|import|export)\b.*?\b(?:function|task) {ROUTINE}", Declare(Function)),
    (r"{LABEL}function {ROUTINE}", Open(Function, "function")),
    (r"{LABEL}task {ROUTINE}", Open(Function, "task")),
    (r"{LABEL}(?:macro)?module (?:(?:automatic|static) )?(\w+)", Ports(Module, "module")),
    (r"{LABEL}package (?:(?:automatic|static) )?(\w+)", Open(Module, "package")),
    (r"{LABEL}program (?:(?:automatic|static) )?(\w+)", Ports(Module, "program")),
    (r"{LABEL}interface (?:(?:automatic|static) )?(\w+)", Ports(Interface, "interface")),
    (r"{LABEL}class (?:(?:automatic|static) )?(\w+)", Open(Class, "class")),
    (r"{LABEL}typedef enum\b[^{]*\{ (?<list>.*)\} (\w+)", Define(Enum)),
    (r"{LABEL}typedef struct\b[^{]*\{ (?<list>.*)\} (\w+)", Define(Struct)),
    (r"{LABEL}typedef union\b[^{]*\{ (?<list>.*)\} (\w+)", Define(Union)),
    (r"{LABEL}typedef (?:interface )?class (\w+)", Declare(Class)),
    (r"{LABEL}typedef (?:enum|struct|union) (\w+)", Declare(Struct)),
    (r"{LABEL}typedef .*?(\w+) (?:\[[^\]]*\] )*; $", Define(Type)),
    (r"{LABEL}(?:property|sequence) (\w+)", Define(Function)),
    (r"{LABEL}covergroup (\w+)", Define(Class)),
    (r"{LABEL}constraint (\w+)", Define(Field)),
    (r"(?:module|package|program|interface|class|)~{LABEL}(?:parameter|localparam) (.*)", List(Constant)),
    (r"(?:module|package|program|interface|class|)~{LABEL}(?:input|output|inout|randc?) (.*)", List(Field)),
    (r"class~{LABEL}{DATA}(.*)", List(Field)),
    (r"(?:module|package|program|interface|)~{LABEL}{DATA}(.*)", List(Variable)),
])
.with(SCOPES | METHODS)
.parts(&[
    ("{LABEL}", r"(?:: \w+ )?(?:(?:virtual|static|protected|local|automatic) )*"),
    ("{ROUTINE}", r"(?:\[[^\]]*\] |# \([^)]*\) |: : |[\w$.]+ )*?(?:(?<of>\w+) : : )?(\w+) [(;]"),
    ("{DATA}", r"(?:wire|tri|wand|wor|supply[01]|reg|logic|bit|byte|int|integer|longint|shortint|time|real|string|const|var|genvar) "),
]);
