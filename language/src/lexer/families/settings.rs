//! Files of settings and data.

use crate::lexer::Colour::{Keyword, Meta};
use crate::lexer::quote::{block, line, raw, string, text};
use crate::lexer::family::{Family, KEYS, STRING_KEYS};

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
