//! Documents, markup and patches. Languages without a row have no colours: CSV, Text.

use super::super::Colour::{Added, Comment, Key, Keyword, Meta, Removed, String};
use super::super::quote::{block, line, raw};
use super::super::row::{MARKUP, SyntaxRow};

#[rustfmt::skip]
pub(in super::super) static ROWS: &[SyntaxRow] = &[
    SyntaxRow::new(&["HTML", "XML", "SVG", "XSLT", "Mustache", "Twig"], &[]).features(MARKUP),
    SyntaxRow::new(&["Markdown"], &[
        block("<!--", "-->"), raw("```", "```").coloured(String), raw("~~~", "~~~").coloured(String),
        raw("`", "`").coloured(String).within_line(), line("#").column().coloured(Keyword), line(">").first(),
    ]),
    SyntaxRow::new(&["AsciiDoc"], &[
        raw("////", "////").coloured(Comment), line("//").column(), raw("----", "----").coloured(String),
        line("=").column().coloured(Keyword), raw("`", "`").coloured(String).within_line(), line(":").column().coloured(Key),
    ]),
    SyntaxRow::new(&["reStructuredText"], &[
        line(".. ").first().coloured(Meta), raw("``", "``").coloured(String).within_line(), raw("`", "`").coloured(String).within_line(),
    ]),
    SyntaxRow::new(&["Org"], &[
        line("#+").first().coloured(Meta), line("# ").first(), line("*").column().coloured(Keyword),
    ]),
    SyntaxRow::new(&["Roff"], &[
        line(".\\\"").column(), line("'\\\"").column(), line("\\\""), line(".").column().coloured(Meta),
    ]),
    SyntaxRow::new(&["Diff"], &[
        line("+++").column().coloured(Meta), line("---").column().coloured(Meta), line("@@").column().coloured(Meta),
        line("diff ").column().coloured(Meta), line("index ").column().coloured(Meta),
        line("+").column().coloured(Added), line("-").column().coloured(Removed),
    ]),
];
