//! Pascal and Delphi: routines, types with members, constants, variables.

#[cfg(test)]
mod tests;

use super::super::Kind::*;
use super::super::forms::Act::*;
use super::super::forms::{Endings, FOLD, METHODS, SCOPES, Table};

pub(super) static ENDS: Endings = Endings {
    alone: "begin end try asm type const resourcestring var threadvar implementation \
        initialization finalization private public protected published strict",
    before: "procedure function constructor destructor property case uses label exports",
    after: "class record object interface dispinterface",
    ..Endings::NONE
};

/// Lists of an interface are `itypes` and so on: its routines are declarations. The statement
/// behind `class` tells a forward declaration.
#[rustfmt::skip]
pub(super) static PASCAL: Table = Table::of(&[
    (r"head~;", Forward),
    (r"head~\( [^()]* \) ;", Close),
    (r"head~of\b", Turn(Type, "")),
    (r"head~", Retry("class")),
    (r"routine~(?:forward|external)\b", Forward),
    (r"routine~(?:begin|asm) ", Rename("begun")),
    (r"begun~{ROUTINE}", Unit(Function, "routine")),
    (r"(?:begin|try|asm) ", Enter("begun")),
    (r"begun~case\b", Enter("begun")),
    (r"end ", Close),
    (r"i[a-z]+~type ", Group("itypes")),
    (r"i[a-z]+~(?:const|resourcestring) ", Group("iconsts")),
    (r"i[a-z]+~(?:thread)?var ", Group("ivars")),
    (r"i[a-z]+~(?:uses|label|exports)\b", Group("iuses")),
    (r"(?:types|consts|vars|uses|)~type ", Group("types")),
    (r"(?:types|consts|vars|uses|)~(?:const|resourcestring) ", Group("consts")),
    (r"(?:types|consts|vars|uses|)~(?:thread)?var ", Group("vars")),
    (r"(?:types|consts|vars|uses|)~interface $", Group("iuses")),
    (r"[a-z]*s|~(?:implementation|initialization|finalization) ", Group("uses")),
    (r"(?:types|consts|vars|uses|)~(?:uses|label|exports)\b", Group("uses")),
    (r"class~{ROUTINE}", Declare(Method)),
    (r"i[a-z]+~{ROUTINE}", Declare(Function)),
    (r"{ROUTINE}", Open(Function, "routine")),
    (r"(?:unit|program|library|package) (\w+ (?:\. \w+ )*)", Define(Module)),
    (r"i?types~{NAME}(?:packed )?(?:class|object) $", Open(Class, "head")),
    (r"i?types~{NAME}(?:packed )?record $", Open(Struct, "class")),
    (r"i?types~{NAME}(?:disp)?interface $", Open(Interface, "head")),
    (r"i?types~(\w+) = \( (?<list>.*)", Define(Enum)),
    (r"i?types~{NAME}", Define(Type)),
    (r".*\brecord $", Enter("record")),
    (r"i?consts~(\w+) (?:: .*)?= ", Define(Constant)),
    (r"i?vars~(\w+ (?:, \w+ )*): ", List(Variable)),
    (r"class~property (\w+)", Define(Field)),
    (r"class~(?:[\[(] .*? [\])] )*(\w+ (?:, \w+ )*): ", List(Field)),
])
.with(FOLD | SCOPES | METHODS)
.parts(&[
    ("{ROUTINE}", r"(?:procedure|function|constructor|destructor|operator) (?:\w+ \. )*?(?:(?<of>\w+) (?:< [^>]*> )?\. )?(\w+)"),
    ("{NAME}", r"(\w+) (?:< [^>]*> )?= "),
]);
