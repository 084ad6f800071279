//! Definitions and symbols.

use super::class::{Class, Run};
use super::kind::Kind;
use crate::words::is_word;
use std::ops::Range;

/// Name that a text defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Name in one line.
    pub name: Range<u32>,
    /// Kind.
    pub kind: Kind,
    /// Prototype or forward declaration.
    pub is_declaration: bool,
    /// End of the body; the name's end without one.
    pub end: u32,
    /// Owner.
    pub parent: Parent,
}

impl Definition {
    /// Name without signs around it, unless of several words.
    pub fn word<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        let name = text.get(self.name.start as usize..self.name.end as usize)?;
        let first = name.iter().position(|&byte| is_word(byte))?;
        let last = name.iter().rposition(|&byte| is_word(byte))?;
        let word = &name[first..=last];
        word.iter().all(|&byte| is_word(byte)).then_some(word)
    }

    /// Weight in ranks, from 1 to [`LEVEL_MAX`].
    pub fn level(&self) -> u8 {
        if self.is_declaration {
            return 2;
        }
        match self.kind {
            Kind::Implementation => 1,
            Kind::Field | Kind::Enumerator | Kind::Key | Kind::Selector | Kind::Id => 2,
            Kind::Type
            | Kind::Constant
            | Kind::Variable
            | Kind::Label
            | Kind::Section
            | Kind::Macro => 3,
            _ => LEVEL_MAX,
        }
    }
}

/// Highest [`Definition::level`].
pub const LEVEL_MAX: u8 = 4;

/// Owner of a definition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Parent {
    /// Top of the file.
    #[default]
    None,
    /// Index of an earlier definition.
    Definition(u32),
    /// `Class` of `Class::name`, or a receiver.
    Name(Range<u32>),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Symbols {
    /// Definitions, ascending by name.
    pub definitions: Vec<Definition>,
    /// Runs, ascending.
    pub runs: Vec<Run>,
    /// Class of the bytes between runs.
    pub class: Class,
    /// Gap in the definitions.
    pub incomplete: Option<Incomplete>,
}

/// Reason for missing definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incomplete {
    /// More than [`TEXT_BYTES_MAX`](super::TEXT_BYTES_MAX).
    TextTooLong,
    /// More than [`DEFINITIONS_MAX`](super::DEFINITIONS_MAX).
    TooManyDefinitions,
}
