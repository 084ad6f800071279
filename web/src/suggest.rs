//! Alternatives to names and words without a match: similar words, packages and files, the versions
//! of a package, and the reason for a file outside of the index (`left_out`).

pub(crate) mod left_out;
mod near_files;
mod near_packages;
mod near_words;
mod versions;

pub(crate) use near_files::near_files;
pub(crate) use near_packages::near_packages;
pub(crate) use near_words::near_words;
pub(crate) use versions::versions;
