//! Sections and keys.

mod json;
#[cfg(test)]
mod tests;

pub(super) use json::Json;

use super::super::Kind::*;
use super::super::forms::Act::*;
use super::super::forms::{BRACKETS, FOLD, Table};

/// Keys that are indented further than the first one go on a value.
#[rustfmt::skip]
pub(super) static INI: Table = Table::of(&[
    (r#"\s*\[{1,2}\s*((?:"[^"]*"|'[^']*'|[^\]"'])*?)\s*\]"#, Level(Section, 0)),
    (r".*\{\s*$", Skip),
    (r#"\s*((?:[^\s<>(){}"'`$@|&;,?*~=!#:+]|::)(?:[^\s<>(){}"'`$@|&;,?*~=!:+]|::)*(?:[ \t]+(?:[^\s<>(){}"'`$@|&;,?*~=!:+]|::)+){0,2})\s*\+?=(?:[^=~]|$)"#, Margin(Key)),
    (r#"\s*((?:[^\s<>(){}"'`$@|&;,?*~=!#:]|::)(?:[^\s<>(){}"'`$@|&;,?*~=!:]|::)*)\s*:(?:[^:=~]|$)"#, Margin(Key)),
]);

pub(super) static PROPERTIES: Table = Table::of(&[(
    r#"\s*((?:[^\s<>(){}"'`$@|&;,?*~=!#:\\]|\\.)+)\s*[=:](?:[^=~]|$)"#,
    Define(Key),
)])
.goes_on(b"\\");

#[rustfmt::skip]
pub(super) static TOML: Table = Table::of(&[
    (r#"\s*\[{1,2}\s*(?:(?<of>(?:[^"'\].]|"[^"]*"|'[^']*'|\.)*)\.\s*)?["']?([^"'\]\s](?:[^"'\]]*[^"'\]\s])?)["']?\s*\]"#, Level(Section, 0)),
    (r#"\s*"([^"]*)"\s*=(?:[^=~]|$)"#, Define(Key)),
    (r#"\s*'([^']*)'\s*=(?:[^=~]|$)"#, Define(Key)),
    (r#"\s*([^\s<>(){}\[\]"'`$@|&;,?*~=!#]+)\s*=(?:[^=~]|$)"#, Define(Key)),
])
.with(BRACKETS);

#[rustfmt::skip]
pub(super) static CABAL: Table = Table::of(&[
    (r"(?:library|executable|test-suite|benchmark|flag|common|foreign-library|source-repository|package)\s+(\S.*?)\s*$", Level(Section, 0)),
    (r"(library|custom-setup)\s*$", Level(Section, 0)),
])
.with(FOLD);

pub(super) static OPAM: Table =
    Table::of(&[(r"([\w-]+)\s*:(?:[^:=~]|$)", Define(Key))]).with(BRACKETS);

#[rustfmt::skip]
pub(super) static YAML: Table = Table::of(&[
    (r#" *(?:- +)*"([^"]*)"\s*:(?:\s|$)"#, Column(Key)),
    (r" *(?:- +)*'([^']*)'\s*:(?:\s|$)", Column(Key)),
    (r#" *(?:- +)*((?:[^\s{}\[\]!%@|>?&*#,"'-]|-\S)(?:\S|[ \t]+[^\s#])*?)\s*:(?:\s|$)"#, Column(Key)),
    (r"---", Level(Key, 0)),
    (r" *(?:- +)*-()(?:\s|$)", Column(Key)),
    (r" *(?:- +)+()", Column(Key)),
]);
