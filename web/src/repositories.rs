//! Git repositories of backends: parameters and errors of look-ups (`lookups`), and histories.

pub(crate) mod histories;
mod lookups;

pub(crate) use lookups::{check_name, names, path, problem};
