//! Facts about a document from names alone: popularity of its package, class.
//!
//! No file is opened, so the same tree gives the same answer everywhere. Deliberately a guess: it
//! only orders results and feeds filters; [`crate::corpus`] decides what is searchable.

mod class;
mod own_name;

pub use class::{Class, classify, classify_as, may_define};
pub use own_name::is_named_in;

/// Popularity of a package.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Popularity {
    /// Share of installations.
    pub inst: f32,
    /// Share of reverse dependencies.
    pub rdep: f32,
}

impl Popularity {
    /// Package's part of the static rank, with the weights of Debian Code Search.
    pub fn rank(self) -> f32 {
        0.3840 * self.inst + 0.3427 * self.rdep
    }
}
