//! Forth, PostScript and Eiffel: a word defines the name beside it.

#[cfg(test)]
mod tests;

use super::super::Kind::*;
use super::super::forms::Act::*;
use super::super::forms::{ANYWHERE, BRACKETS, FOLD, NEXT, Table};

pub(super) static FORTH: Table = Table::of(&[
    (r"(?:^|\s)(?::|code)\s+(\S+)", Level(Function, 0)),
    (r"(?:^|\s)defer\s+(\S+)", Define(Function)),
    (
        r"(?:^|\s)(?:[2f]?variable|create|value|user)\s+(\S+)",
        Outer(Variable),
    ),
    (r"(?:^|\s)[2f]?constant\s+(\S+)", Outer(Constant)),
    (r"(?:^|\s)(?:;|end-code)()(?:\s|$)", Close),
])
.with(ANYWHERE | FOLD);

/// `/name {…} def`, `/name … def`
pub(super) static POSTSCRIPT: Table = Table::of(&[
    (r"\s*/([^\s/{}\[\]()<>%]+)\s*\{", Braced(Function)),
    (
        r"\s*/([^\s/{}\[\]()<>%]+)\s.*\b(?:def|bind)\b",
        Outer(Constant),
    ),
])
.with(BRACKETS);

/// Features have one tab before them, and sections none.
pub(super) static EIFFEL: Table = Table::of(&[
    (
        r"(?:(?:deferred|expanded|frozen)\s+)*class\s+(\w+)",
        Level(Class, 0),
    ),
    (
        r"(?:create|note|indexing|inherit|convert|invariant|end)\b",
        Until(""),
    ),
    (r"(?:\t|  ? ?)([a-z]\w*)[ \t]*(?:\(|\r?$)", Define(Method)),
    (r"(?:\t|  ? ?)([a-z]\w*)[ \t]*[:,]", Define(Field)),
    (
        r"\s+(?:do|once|deferred|external|require|local)\b",
        Become(Method),
    ),
])
.with(NEXT);
