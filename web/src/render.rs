//! Matches and lists for people and programs: HTML, JSON, CSV and plain text.
//!
//! Each form says what happens to bytes that are not UTF-8 or not printable: text keeps them, JSON
//! carries them exactly beside a readable form, HTML makes them visible and harmless.

pub(crate) mod html;
pub(crate) mod visible;
