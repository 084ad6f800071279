//! Queries: from typed text to a checked expression, or an error that says what to change.
//!
//! [`Query::parse`] reads a [`QueryInput`] in the native language, [`dcs::parse`] and the like
//! those of other products. `parse` (with `lex`) makes a syntax tree, `input` lowers it to an
//! expression, `checked` makes a [`Query`]. `phrase` chooses preferred lines; `forms` adds other
//! spellings; `render` writes native text.
//!
//! A backend may still refuse a query; [`ParsedQuery::locate`] finds the position of the error.
//!
//! A [`Scope`] is what a caller may see; it is part of the identity of an execution. Pure.
//!
//! **Invariant:** a [`Query`] has been checked and can be sent to a backend.

#![deny(clippy::disallowed_methods)]

mod case;
mod checked;
mod completion;
mod date;
pub mod dcs;
mod error;
pub mod filter;
mod forms;
pub mod github;
mod input;
mod keys;
mod lex;
pub mod limits;
mod parse;
mod phrase;
mod place;
mod re2;
mod regexp;
mod render;
mod revision_name;
mod scope;
mod similar;
mod source_text;
pub mod sourcegraph;
pub mod zoekt;

pub use checked::Query;
pub use completion::{PartOf, TypedPart, keys_with};
pub use date::{DATE_EXPECTED, date_shown, seconds_of};
pub use error::{BadQuery, Notice};
pub use filter::selecting;
pub use input::{ParsedQuery, QueryInput};
pub use keys::{names as key_names, time};
pub use render::interpreted_as;
pub use scope::{NameSet, PackageNames, Scope};
pub use similar::similar;

#[cfg(test)]
mod tests;
