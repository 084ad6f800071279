//! Families: comments, strings and words of languages. One may describe several languages.
//!
//! A family is short: rare forms have no colour. Of forms with the same beginning, the longer one
//! comes first.

#[rustfmt::skip]
pub(crate) mod brackets;
#[rustfmt::skip]
pub(crate) mod documents;
#[rustfmt::skip]
pub(crate) mod functional;
#[rustfmt::skip]
pub(crate) mod scripts;
#[rustfmt::skip]
pub(crate) mod settings;
