//! Sections and keys.

mod ini;
mod json;
mod yaml;

pub(super) use ini::{Dialect, Ini};
pub(super) use json::Json;
pub(super) use yaml::Yaml;
