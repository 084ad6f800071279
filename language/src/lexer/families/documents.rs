//! Documents, markup, patches, and files of settings and data. Languages without a row have no
//! colours: CSV, Text.

use crate::lexer::Colour::{Added, Comment, Key, Keyword, Meta, Removed, String};
use crate::lexer::quote::{block, line, raw, string, text};
use super::{Family, KEYS, MARKUP, STRING_KEYS};

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
pub(crate) static JSON: Family = Family::new(&[line("//"), block("/*", "*/"), string("\""), string("'")])
    .words(&[(Keyword, "true false null")]).features(STRING_KEYS);
pub(crate) static YAML: Family = Family::new(&[line("#").blank(), line("---").column().coloured(Meta), text("\"", "\"").blank(), raw("'", "'").blank()])
    .words(&[(Keyword, "true false null yes no on off True False")]).features(KEYS | STRING_KEYS);
pub(crate) static TOML: Family = Family::new(&[
    line("#"), line("[").first().coloured(Meta), text("\"\"\"", "\"\"\""), raw("'''", "'''"), string("\""), string("'"),
]).words(&[(Keyword, "true false inf nan")]).features(KEYS);
pub(crate) static INI: Family = Family::new(&[
    line("#").first(), line(";").first(), line("!").first(), line("[").first().coloured(Meta),
]).features(KEYS);
pub(crate) static OPAM: Family = Family::new(&[line("#"), block("(*", "*)"), text("\"\"\"", "\"\"\""), text("\"", "\"")])
    .words(&[(Keyword, "true false")]).features(KEYS);
pub(crate) static GETTEXT: Family = Family::new(&[line("#").column(), string("\"")])
    .words(&[(Keyword, "msgid msgid_plural msgstr msgctxt domain")]);
