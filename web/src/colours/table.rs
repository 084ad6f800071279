//! Table of languages: comments, strings, words. One row may cover several languages.
//!
//! A row is short: rare forms have no colour. Of forms with the same beginning, the longer one
//! comes first.

mod brackets;
mod documents;
mod functional;
mod scripts;
mod settings;

use super::row::SyntaxRow;

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
