//! Look-ups of commits, answered from git repositories or the index.

pub(crate) mod git_repositories;
pub(crate) mod recorded;
pub mod repositories;
