//! How languages are written: comments, strings, words. One row may be of several languages.
//!
//! A row is written from the language's own documentation, and short: what is rare stays without colour. Of
//! forms that begin alike the longer one comes first.

mod brackets;
mod documents;
mod functional;
mod scripts;
mod settings;

use super::row::SyntaxRow;

/// All rows.
pub(super) fn rows() -> impl Iterator<Item = &'static SyntaxRow> {
    let tables = [
        brackets::ROWS,
        scripts::ROWS,
        functional::ROWS,
        settings::ROWS,
        documents::ROWS,
    ];
    tables.into_iter().flatten()
}
