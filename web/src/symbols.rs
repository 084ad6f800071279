//! Definitions of a file ([`outline`]), and places that define or use the name at a position
//! ([`definitions`], [`references`]).
//!
//! A name is searched as a word of code: it is not resolved, so places may belong to other symbols
//! of the same name. Their [`PlaceReason`](crate::model::PlaceReason) orders them.
//!
//! **Invariant:** an answer takes at most two searches, with a limit, and [`found::FILES_MAX`]
//! reads of files.

mod enclosing;
mod file;
mod found;
mod imports;
mod word;

pub(crate) use enclosing::{Enclosing, enclosing};
pub(crate) use file::definitions_of;
pub use file::outline;
pub(crate) use found::pattern;
pub use found::{LIMIT_MAX, SymbolRequest, definitions, references};
pub use word::SymbolTarget;
