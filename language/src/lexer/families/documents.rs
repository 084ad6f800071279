//! Documents, markup, patches, settings and data.

use crate::lexer::Colour::{Added, Key, Keyword, Meta, Removed, String};
use crate::lexer::quote::{block, column_block, doubled, line, raw, string, text};
use super::{BLOCKS, Family, KEYS, MARKUP, PLAIN, PROSE, STRING_KEYS};

pub(crate) static MARKUP_CODE: Family = Family::new(&[]).features(MARKUP);
pub(crate) static XML: Family = Family::new(&[]).features(MARKUP | PROSE);
pub(crate) static MARKDOWN: Family = Family::new(&[
    block("<!--", "-->"), raw("````", "````").coloured(String).fence(), raw("```", "```").coloured(String).fence(),
    raw("~~~", "~~~").coloured(String).fence(), raw("```", "```").closed(), raw("``", "``").closed(), raw("`", "`").closed(),
    line("#").column().coloured(Keyword), line(">").first().coloured(Meta),
]).features(PROSE | PLAIN);
pub(crate) static ASCIIDOC: Family = Family::new(&[
    column_block("////", "////"), line("//").column(), column_block("----", "----").coloured(String),
    line("=").column().coloured(Keyword), raw("`", "`").closed(), line(":").column().coloured(Key),
]).features(PROSE | PLAIN);
pub(crate) static RESTRUCTUREDTEXT: Family = Family::new(&[
    line(".. ").first().coloured(Meta), raw("``", "``").closed(), raw("`", "`").closed(),
]).features(PROSE | PLAIN);
pub(crate) static ORG: Family = Family::new(&[
    line("#+").first().coloured(Meta), line("# ").first(), line("*").column().coloured(Keyword),
]).features(PROSE | PLAIN);
pub(crate) static POD: Family = Family::new(&[column_block("=", "=cut").plain()]).features(PROSE).begins_in(0);
pub(crate) static ROFF: Family = Family::new(&[
    line(".\\\"").column(), line("'\\\"").column(), line("\\\""), line(".").column().coloured(Meta),
]).features(PROSE);
pub(crate) static DIFF: Family = Family::new(&[
    line("+++").column().coloured(Meta), line("---").column().coloured(Meta), line("@@").column().coloured(Meta),
    line("diff ").column().coloured(Meta), line("index ").column().coloured(Meta),
    line("+").column().coloured(Added), line("-").column().coloured(Removed),
]);
pub(crate) static JSON: Family = Family::new(&[line("//"), block("/*", "*/"), string("\""), string("'")])
    .words(&[(Keyword, "true false null")]).features(STRING_KEYS);
pub(crate) static YAML: Family = Family::new(&[line("#").blank(), line("---").column().coloured(Meta), text("\"", "\"").value(), doubled("'", "'").lines().value()])
    .words(&[(Keyword, "true false null yes no on off True False")]).features(KEYS | STRING_KEYS | BLOCKS);
pub(crate) static TOML: Family = Family::new(&[
    line("#"), line("[").first().coloured(Meta), text("\"\"\"", "\"\"\""), raw("'''", "'''"), string("\""), string("'"),
]).words(&[(Keyword, "true false inf nan")]).features(KEYS);
pub(crate) static INI: Family = Family::new(&[
    line("#").first(), line(";").first(), line("!").first(), line("[").first().coloured(Meta),
]).features(KEYS);
pub(crate) static OPAM: Family = Family::new(&[line("#"), block("(*", "*)"), text("\"\"\"", "\"\"\""), text("\"", "\"")])
    .words(&[(Keyword, "true false")]).features(KEYS);
pub(crate) static GETTEXT: Family = Family::new(&[line("#").column(), string("\"")])
    .words(&[(Keyword, "msgid msgid_plural msgstr msgctxt domain")]).features(PROSE);
