//! Files of settings and data.

use super::super::Colour::{Keyword, Meta};
use super::super::quote::{block, line, raw, string, text};
use super::super::row::{KEYS, STRING_KEYS, SyntaxRow};

#[rustfmt::skip]
pub(in super::super) static ROWS: &[SyntaxRow] = &[
    SyntaxRow::new(&["JSON", "Jupyter Notebook"], &[line("//"), block("/*", "*/"), string("\""), string("'")])
        .words(&[(Keyword, "true false null")]).features(STRING_KEYS),
    SyntaxRow::new(&["YAML"], &[line("#").blank(), line("---").column().coloured(Meta), text("\"", "\"").blank(), raw("'", "'").blank()])
        .words(&[(Keyword, "true false null yes no on off True False")]).features(KEYS | STRING_KEYS),
    SyntaxRow::new(&["TOML"], &[
        line("#"), line("[").first().coloured(Meta), text("\"\"\"", "\"\"\""), raw("'''", "'''"), string("\""), string("'"),
    ]).words(&[(Keyword, "true false inf nan")]).features(KEYS),
    SyntaxRow::new(&["INI", "Java Properties"], &[
        line("#").first(), line(";").first(), line("!").first(), line("[").first().coloured(Meta),
    ]).features(KEYS),
    SyntaxRow::new(&["Opam"], &[line("#"), block("(*", "*)"), text("\"\"\"", "\"\"\""), text("\"", "\"")])
        .words(&[(Keyword, "true false")]).features(KEYS),
    SyntaxRow::new(&["Gettext Catalog"], &[line("#").column(), string("\"")])
        .words(&[(Keyword, "msgid msgid_plural msgstr msgctxt domain")]),
];
