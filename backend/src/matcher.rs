//! Matchers of lines, documents and phrases, compiled from an expression.

#![deny(clippy::disallowed_methods)]

pub(crate) mod bad_expr;
pub(crate) mod bounded_matcher;
pub(crate) mod compile_cost;
pub mod compiled_query;
pub mod compiler;
pub mod document_matcher;
pub(crate) mod filters;
pub mod line_matcher;
pub(crate) mod literal;
pub mod long_line;
pub mod pattern;
pub(crate) mod phrase;
pub mod place;
pub(crate) mod ranges;
