//! Ada and VHDL: `is` begins a body, which `end` closes; `end if` and the like are skipped.

#[cfg(test)]
mod tests;

use super::super::Kind::*;
use super::super::forms::Act::*;
use super::super::forms::{Endings, FOLD, SCOPES, Table};

pub(super) static ADA_ENDS: Endings = Endings {
    alone: "generic",
    after: "is begin then else loop do declare record",
    ..Endings::NONE
};

pub(super) static VHDL_ENDS: Endings = Endings {
    before: "port generic",
    after: "is begin then else loop record generate",
    ..Endings::NONE
};

#[rustfmt::skip]
pub(super) static ADA: Table = Table::of(&[
    (r"end (?:if|loop|case|select|return)\b", Skip),
    (r"end (record) ", CloseTo),
    (r"end\b", Close),
    (r"typehead~\( (?<list>.*)", Turn(Enum, "")),
    (r"typehead~.*\bnull record $", Turn(Struct, "")),
    (r"typehead~.*\brecord $", Turn(Struct, "record")),
    (r"typehead~", Close),
    (r"[a-z]+head~(?:new|separate|null|\(|<)", Close),
    (r"[a-z]+head~abstract\b", Forward),
    (r"codehead~", Retry("code")),
    (r"taskhead~", Retry("task")),
    (r"unithead~", Retry("unit")),
    (r"(?:unit|task|code|)~generic ", Enter("generic")),
    (r"generic~(?:private |limited )*(?:procedure|function|package)\b", Leave),
    (r"generic~", Skip),
    (r"{PREFIX}(?:procedure|function) {NAME}.*\bis $", Open(Function, "codehead")),
    (r"{PREFIX}(?:procedure|function) {NAME}", Declare(Function)),
    (r"entry (\w+) .*\bis $", Open(Method, "codehead")),
    (r"entry (\w+) ", Declare(Method)),
    (r"{PREFIX}package (?:body )?{NAME}.*\bis $", Open(Module, "unithead")),
    (r"{PREFIX}package (?:body )?{NAME}", Declare(Module)),
    (r"{PREFIX}(?:task|protected) (?:body |type )?(\w+) .*\bis $", Open(Class, "taskhead")),
    (r"{PREFIX}(?:task|protected) (?:type )?(\w+) ", Declare(Class)),
    (r"{PREFIX}type (\w+) .*\bis $", Open(Type, "typehead")),
    (r"{PREFIX}type (\w+) ", Declare(Type)),
    (r"{PREFIX}subtype (\w+) ", Define(Type)),
    (r"(?:unit|code|task)~.*\bbegin $", Rename("begun")),
    (r"(?:.*\bbegin|accept .*\bdo) $", Enter("begun")),
    (r".*\bdeclare $", Enter("code")),
    (r"record~(\w+ (?:, \w+ )*): ", List(Field)),
    (r"unit~{PREFIX}(\w+ (?:, \w+ )*): constant\b", List(Constant)),
    (r"unit~{PREFIX}(\w+ (?:, \w+ )*): exception\b", List(Type)),
    (r"unit~{PREFIX}(\w+ (?:, \w+ )*): ", List(Variable)),
    (r"task~{PREFIX}(\w+ (?:, \w+ )*): ", List(Field)),
])
.with(FOLD | SCOPES)
.parts(&[
    ("{PREFIX}", r"(?:(?:overriding|not|private|limited) )*"),
    ("{NAME}", r"(\x22|\w+ (?:\. \w+ )*)"),
]);

#[rustfmt::skip]
pub(super) static VHDL: Table = Table::of(&[
    (r"end (?:if|loop|case|generate|process|block|units)\b", Skip),
    (r"end (record) ", CloseTo),
    (r"end\b", Close),
    (r"typehead~\( (?<list>.*)", Turn(Enum, "")),
    (r"typehead~.*\brecord $", Turn(Struct, "record")),
    (r"typehead~", Close),
    (r"[a-z]+head~(?:new|\(|<)", Close),
    (r"codehead~", Retry("code")),
    (r"unithead~", Retry("unit")),
    (r"{PREFIX}(?:procedure|function) {NAME}.*\bis $", Open(Function, "codehead")),
    (r"{PREFIX}(?:procedure|function) {NAME}", Declare(Function)),
    (r"(?:package|configuration|entity) (?:body )?{NAME}.*\bis $", Open(Module, "unithead")),
    (r"architecture (\w+) of (?<of>\w+) is ", Open(Implementation, "unit")),
    (r"component (\w+) (?:is )?$", Prototype(Module, "unit")),
    (r"type (\w+) is $", Open(Type, "typehead")),
    (r"type (\w+) ", Declare(Type)),
    (r"subtype (\w+) ", Define(Type)),
    (r"port \( (.*)", List(Field)),
    (r"unit~(?:signal|shared variable) (\w+ (?:, \w+ )*): ", List(Variable)),
    (r"unit~constant (\w+ (?:, \w+ )*): ", List(Constant)),
    (r"record~(\w+ (?:, \w+ )*): ", List(Field)),
])
.with(FOLD | SCOPES)
.parts(&[
    ("{PREFIX}", r"(?:(?:pure|impure) )*"),
    ("{NAME}", r"(\x22|\w+ )"),
]);
