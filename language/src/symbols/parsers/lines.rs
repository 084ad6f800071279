//! Languages with a definition a line. Functions do not nest.

mod build;
mod commands;
mod make;
#[cfg(test)]
mod tests;

use super::super::Kind;
use super::super::outline::Outline;
use super::super::parser::{Line, Parser};
use super::super::scopes::{Names, define_qualified};
use std::ops::Range;

/// Ends of what is before a name of Vim: `s:name`, `file#name`.
const SCOPES: &[u8] = b":#";

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Make,
    QMake,
    Ninja,
    Kconfig,
    CMake,
    M4,
    Dockerfile,
    Batchfile,
    Vim,
    Tcsh,
}

pub(crate) struct Lines {
    dialect: Dialect,
    names: Names,
    is_continued: bool,
    is_in_define: bool,
    /// Rule, in which a tab begins a recipe.
    is_in_rule: bool,
    end: u32,
}

impl Parser for Lines {
    fn line(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        let text = outline.bytes(line.range.clone());
        let goes_on = text.ends_with(self.continuation());
        let is_first = line.is_begin && !line.begins_inside && !self.is_continued;
        self.is_continued = goes_on;
        let Some(last) = line.tokens.last() else {
            return;
        };
        match self.dialect {
            Dialect::M4 => self.m4(line, outline),
            _ if !is_first => {}
            Dialect::Make | Dialect::QMake | Dialect::Ninja => self.make(line, outline),
            Dialect::Kconfig => self.kconfig(line, outline),
            Dialect::CMake => self.cmake(line, outline),
            Dialect::Dockerfile => self.dockerfile(line, outline),
            Dialect::Batchfile => self.batchfile(line, outline),
            Dialect::Vim => self.vim(line, outline),
            Dialect::Tcsh => self.tcsh(line, outline),
        }
        self.end = last.end;
    }

    fn finish(&mut self, outline: &mut Outline<'_>) {
        self.leave_all(outline);
    }
}

impl Lines {
    pub(crate) fn new(dialect: Dialect) -> Lines {
        Lines {
            dialect,
            names: Names::default(),
            is_continued: false,
            is_in_define: false,
            is_in_rule: false,
            end: 0,
        }
    }

    fn continuation(&self) -> &'static [u8] {
        match self.dialect {
            Dialect::Ninja => b"$",
            Dialect::Batchfile => b"^",
            Dialect::CMake | Dialect::M4 | Dialect::Vim => b"\n",
            _ => b"\\",
        }
    }

    fn begin(&mut self, name: Range<u32>, kind: Kind, outline: &mut Outline<'_>) {
        self.leave_all(outline);
        let signs: &[u8] = if self.dialect == Dialect::Vim {
            SCOPES
        } else {
            b""
        };
        let index = define_qualified(name, signs, kind, outline);
        outline.enter(index);
    }

    fn leave_all(&self, outline: &mut Outline<'_>) {
        outline.leave_to(0, self.end);
    }

    fn leave_here(&self, line: &Line<'_>, outline: &mut Outline<'_>) {
        outline.leave_to(0, line.range.end);
    }
}
