//! Prints matches as ripgrep does: lines, file names, counts or JSON.
//!
//! A [`Printer`] orders matches by its [`PrintOptions`]; [`fetch_lines`] validates and completes
//! them.

mod counts;
mod fetch_lines;
mod group_buffer;
mod json;
mod lines;
mod links;
mod print_options;
mod printer;
mod rows;
mod summary;

pub(crate) use fetch_lines::ReadFile;
pub(crate) use print_options::{OutputKind, PrintFlags, PrintOptions};
pub(crate) use printer::Printer;
pub(crate) use summary::{overlaps_in_words, plan_in_words, report_missing, report_search};
