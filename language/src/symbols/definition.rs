//! Definitions of a text, and all of its symbols.

use super::class::{Class, Run};
use super::kind::Kind;
use crate::words::is_word;
use std::ops::Range;

/// Name that a text defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Bytes of the name, within one line.
    pub name: Range<u32>,
    /// What it defines.
    pub kind: Kind,
    /// True for a prototype or forward declaration.
    pub is_declaration: bool,
    /// End of the body; the name's end without one.
    pub end: u32,
    /// Definition around it.
    pub parent: Parent,
}

impl Definition {
    /// Word that is defined: the name without signs around it. `None` for several words.
    pub fn word<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        let name = text.get(self.name.start as usize..self.name.end as usize)?;
        let first = name.iter().position(|&byte| is_word(byte))?;
        let last = name.iter().rposition(|&byte| is_word(byte))?;
        let word = &name[first..=last];
        word.iter().all(|&byte| is_word(byte)).then_some(word)
    }

    /// Weight of the definition in ranks, from 1 to [`LEVEL_MAX`].
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

/// Definition that another one belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Parent {
    /// Top of the file.
    #[default]
    None,
    /// Index of an earlier definition with a body around it.
    Definition(u32),
    /// Name written before it: `Class` of `Class::name`, or a receiver.
    Name(Range<u32>),
}

/// Symbols of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Symbols {
    /// Definitions, ascending by name.
    pub definitions: Vec<Definition>,
    /// Runs of one class, ascending; bytes between belong to `class`.
    pub runs: Vec<Run>,
    /// Class of the bytes outside of runs.
    pub class: Class,
    /// Reason for missing definitions.
    pub incomplete: Option<Incomplete>,
}

/// Reason for missing definitions of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incomplete {
    /// More than [`TEXT_BYTES_MAX`].
    TextTooLong,
    /// More than [`DEFINITIONS_MAX`].
    TooManyDefinitions,
}
