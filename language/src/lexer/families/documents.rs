//! Documents, markup and patches. Languages without a row have no colours: CSV, Text.

use crate::lexer::Colour::{Added, Comment, Key, Keyword, Meta, Removed, String};
use crate::lexer::quote::{block, line, raw};
use crate::lexer::family::{Family, MARKUP};

pub(crate) static XML: Family = Family::new(&[]).features(MARKUP);
pub(crate) static MARKDOWN: Family = Family::new(&[
    block("<!--", "-->"), raw("```", "```").coloured(String), raw("~~~", "~~~").coloured(String),
    raw("`", "`").coloured(String).within_line(), line("#").column().coloured(Keyword), line(">").first(),
]);
pub(crate) static ASCIIDOC: Family = Family::new(&[
    raw("////", "////").coloured(Comment), line("//").column(), raw("----", "----").coloured(String),
    line("=").column().coloured(Keyword), raw("`", "`").coloured(String).within_line(), line(":").column().coloured(Key),
]);
pub(crate) static RESTRUCTUREDTEXT: Family = Family::new(&[
    line(".. ").first().coloured(Meta), raw("``", "``").coloured(String).within_line(), raw("`", "`").coloured(String).within_line(),
]);
pub(crate) static ORG: Family = Family::new(&[
    line("#+").first().coloured(Meta), line("# ").first(), line("*").column().coloured(Keyword),
]);
pub(crate) static ROFF: Family = Family::new(&[
    line(".\\\"").column(), line("'\\\"").column(), line("\\\""), line(".").column().coloured(Meta),
]);
pub(crate) static DIFF: Family = Family::new(&[
    line("+++").column().coloured(Meta), line("---").column().coloured(Meta), line("@@").column().coloured(Meta),
    line("diff ").column().coloured(Meta), line("index ").column().coloured(Meta),
    line("+").column().coloured(Added), line("-").column().coloured(Removed),
]);
