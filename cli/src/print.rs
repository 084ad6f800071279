//! Prints matches as ripgrep does: lines, file names, counts or JSON.
//!
//! A [`Printer`] receives matches as found, and selects and orders them by its [`PrintOptions`].
//! Before that, [`fetch_lines`] validates matches and completes partial lines.

mod copies;
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

pub(crate) use print_options::{OutputKind, PrintFlags, PrintOptions};
pub(crate) use printer::Printer;
pub(crate) use summary::{SearchSummary, overlaps_in_words, plan_in_words, report_missing};
