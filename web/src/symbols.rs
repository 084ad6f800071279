//! Definitions of a file ([`outline`]), and places that define or use the name at a position
//! ([`definitions`], [`references`]).
//!
//! Places of a symbol that a SCIP file resolved are [`precise`]. Other names are searched as words
//! of code, and may be other symbols. [`PlaceReason`](crate::model::PlaceReason) orders them.
//!
//! **Invariant:** at most a search everywhere and one for each reason, with a limit.

mod enclosing;
mod file;
mod found;
mod imports;
mod origin;
mod precise;

pub(crate) use enclosing::{Enclosing, enclosing};
pub(crate) use file::definitions_of;
pub use file::outline;
pub use found::{LIMIT_MAX, definitions, references};
pub(crate) use origin::pattern;
pub use origin::{SymbolRequest, SymbolTarget};
