//! TeX, Texinfo, Roff, BibTeX, Markdown, AsciiDoc and Org: headings and macros.

#[cfg(test)]
mod tests;

use super::super::Kind::*;
use super::super::forms::Act::*;
use super::super::forms::{ANYWHERE, BLANKS, FOLD, NEXT, SETTINGS, Table};

#[rustfmt::skip]
pub(super) static TEX: Table = Table::of(&[
    (r"\\part{TITLE}", Level(Section, 0)),
    (r"\\chapter{TITLE}", Level(Section, 1)),
    (r"\\section{TITLE}", Level(Section, 2)),
    (r"\\subsection{TITLE}", Level(Section, 3)),
    (r"\\subsubsection{TITLE}", Level(Section, 4)),
    (r"\\paragraph{TITLE}", Level(Section, 5)),
    (r"\\subparagraph{TITLE}", Level(Section, 6)),
    (r"\\(?:renewcommand|new(?:command|if)|providecommand|Declare(?:RobustCommand|MathOperator)|NewDocumentCommand|[gex]?def|let)\*?\s*(?:\{\s*)?\\(@*[A-Za-z][A-Za-z@]*)", Define(Macro)),
    (r"\\new(?:environment|theorem|counter)\*?\{([^{}]+)", Define(Macro)),
    (r"\\label\{([^{}]+)", Define(Label)),
])
.with(ANYWHERE | BLANKS)
.needs(b'\\')
.parts(&[("{TITLE}", r"\*?[ \t]*(?:\[[^\]]*\])?\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)")]);

#[rustfmt::skip]
pub(super) static TEXINFO: Table = Table::of(&[
    (r"@node\s+([^,]*[^,\s])", Root(Label)),
    (r"@r?macro\s+([\w-]+)", Define(Macro)),
    (r"@part{TITLE}", Level(Section, 0)),
    (r"@(?:top|chapter|unnumbered|appendix|majorheading|chapheading|centerchap){TITLE}", Level(Section, 1)),
    (r"@(?:section|unnumberedsec|appendixsec(?:tion)?|heading){TITLE}", Level(Section, 2)),
    (r"@(?:subsection|(?:unnumbered|appendix)subsec|subheading){TITLE}", Level(Section, 3)),
    (r"@(?:subsubsection|(?:unnumbered|appendix)subsubsec|subsubheading){TITLE}", Level(Section, 4)),
])
.with(BLANKS)
.needs(b'@')
.parts(&[("{TITLE}", r"\s+(\S.*\S|\S)\s*$")]);

#[rustfmt::skip]
pub(super) static ROFF: Table = Table::of(&[
    (r#"\.[ \t]*(?:TH|Dt)[ \t]+"([^"\n]+)"#, Level(Section, 0)),
    (r"\.[ \t]*(?:TH|Dt)[ \t]+(\S+)", Level(Section, 0)),
    (r#"\.[ \t]*S[Hh]{NEXT}"?([^"\s](?:.*[^"\s])?)"#, Level(Section, 1)),
    (r#"\.[ \t]*S[Ss]{NEXT}"?([^"\s](?:.*[^"\s])?)"#, Level(Section, 2)),
    (r"\.[ \t]*de[ \t]+(\S+)", Define(Macro)),
])
.with(BLANKS | NEXT)
.needs(b'.')
.parts(&[("{NEXT}", r"[ \t]*(?:\r?\n(?:\.[BI]R?[ \t])?)?[ \t]*")]);

pub(super) static BIBTEX: Table = Table::of(&[
    (r"\s*@comment\b", Skip),
    (r"\s*@string\s*[{(]\s*([^,{}()=\s]+)", Define(Constant)),
    (r"\s*@\w+\s*[{(]\s*([^,{}()=\s]+)", Define(Key)),
])
.with(FOLD);

/// Lists, quotes, tables and the like are no headings, even with a row below.
#[rustfmt::skip]
pub(super) static MARKDOWN: Table = Table::of(&[
    (r" {0,3}#{1,6}[ \t]+([^\s#]\S*(?:[ \t][ \t#]*[^\s#]\S*)*)", Depth(Section)),
    (r" {0,3}(?:#|[-*+][ \t]|[>|<]|\d+[.)][ \t]|```|~~~|=+[ \t]*\r?$|-+[ \t]*\r?$)", Skip),
    (r" {0,3}(\S(?:.*\S)?)[ \t]*\r?\n {0,3}=+[ \t]*\r?$", Level(Section, 1)),
    (r" {0,3}(\S(?:.*\S)?)[ \t]*\r?\n {0,3}-+[ \t]*\r?$", Level(Section, 2)),
])
.with(BLANKS | NEXT | SETTINGS);

#[rustfmt::skip]
pub(super) static ASCIIDOC: Table = Table::of(&[
    (r"(?:-{4,}|\.{4,}|\+{4,}|/{4,})[ \t]*\r?$|```", Fence),
    (r"(?:=+|#+) +(\S.*?)[ \t]*\r?$", Depth(Section)),
    (r"\[[\[#]([^\],.%\[\r\n]+)", Define(Label)),
    (r"[ \t\[.:|*/]|[=~^+`-]{2,}[ \t]*\r?$", Skip),
    (r"(.*\S)[ \t]*\r?\n(?<of>==+)[ \t]*\r?$", Underlined(Section, 1)),
    (r"(.*\S)[ \t]*\r?\n(?<of>--+)[ \t]*\r?$", Underlined(Section, 2)),
    (r"(.*\S)[ \t]*\r?\n(?<of>~~+)[ \t]*\r?$", Underlined(Section, 3)),
    (r"(.*\S)[ \t]*\r?\n(?<of>\^\^+)[ \t]*\r?$", Underlined(Section, 4)),
    (r"(.*\S)[ \t]*\r?\n(?<of>\+\++)[ \t]*\r?$", Underlined(Section, 5)),
])
.with(BLANKS | NEXT);

pub(super) static ORG: Table = Table::of(&[
    (
        r"\*+ +(?:(?:TODO|DONE) +)?(?:\[#[ABC]\] +)?(\S.*?)(?:[ \t]+:\S*:)?[ \t]*$",
        Depth(Section),
    ),
    (r"\*+ +()$", Depth(Section)),
    (r"#\+(?i:name):[ \t]*(\S.*?)[ \t]*$", Define(Label)),
])
.with(BLANKS);
