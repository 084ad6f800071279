//! Queries: from what the user typed to a checked expression, or to an error that says what to change.
//!
//! [`Query::parse`] reads a [`QueryInput`] in the native language, [`dcs::parse`] in the language
//! of Debian Code Search; the caller says which, it is never guessed. Both pass through the same
//! steps: `parse` (with `lex`) to a syntax tree, `input` lowers that to one expression, and
//! `checked` makes a [`Query`] of it; `phrase` says which lines come first, and `render` writes a
//! query in the native language again. Page, page size and grouping are not part of a query: they
//! are ways to look at its result.
//!
//! A backend may still refuse a query, for example when a compiled pattern is too large. That arrives as
//! a [`BadQuery`] too, and [`ParsedQuery::locate`] finds its position in the input.
//!
//! **Invariant:** a [`Query`] has been checked; every one can be sent to a backend.

mod case;
mod checked;
mod completion;
pub mod dcs;
mod directory;
mod error;
pub mod filter;
mod input;
mod keys;
mod lex;
pub mod limits;
mod parse;
mod phrase;
mod regexp;
mod render;
mod revision_name;
mod source_text;

pub use checked::Query;
pub use completion::{PartOf, TypedPart, keys_with};
pub use directory::selecting;
pub use error::{BadQuery, Notice};
pub use input::{ParsedQuery, QueryInput};
pub use keys::{names as key_names, time};
pub use render::interpreted_as;

#[cfg(test)]
mod property;
#[cfg(test)]
mod spec;
#[cfg(test)]
mod tests;
