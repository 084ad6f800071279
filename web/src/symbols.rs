//! Definitions of a file ([`outline`]), and places that define or use the name at a position
//! ([`definitions`], [`references`]).
//!
//! Places of a symbol that a SCIP file resolved are [`precise`]. Other names are searched as words of
//! code, so places may belong to other symbols of the same name. Their [`PlaceReason`](crate::model::PlaceReason) orders them.
//!
//! **Invariant:** an answer takes at most two searches, with a limit, and [`found::FILES_MAX`]
//! reads of files.

mod file;
mod found;
mod imports;
mod precise;
mod word;

pub(crate) use file::definitions_of;
pub use file::outline;
pub use found::{LIMIT_MAX, SymbolRequest, definitions, references};
pub use word::SymbolTarget;
