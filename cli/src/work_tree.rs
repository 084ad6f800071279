//! The git work tree around the current directory: names and filters are relative to the directory.

use anyhow::{Context, Result};
use std::env;
use std::path::PathBuf;

#[derive(Clone, Debug)]
pub(crate) struct WorkTree {
    pub(crate) root: PathBuf,
    /// Path below the root, empty there.
    pub(crate) directory: PathBuf,
}

impl WorkTree {
    /// `None` without git, and if the tree is the home directory or above.
    pub(crate) fn of_this_directory() -> Option<WorkTree> {
        let here = env::current_dir().ok()?;
        let root = local::git_root(&here)?;
        let directory = here.strip_prefix(&root).ok()?.to_owned();
        Some(WorkTree { root, directory })
    }

    /// Current directory, for filters.
    pub(crate) fn base(&self) -> Result<String> {
        let base = self.directory.to_str().map(str::to_owned);
        base.context("the path of the current directory is not UTF-8; use `trawl grep`")
    }

    /// Name of a file of the tree, from its path below the root.
    pub(crate) fn name(&self, path: &[u8]) -> Vec<u8> {
        let mut rest = path;
        let mut parents = self.directory.components().count();
        for part in &self.directory {
            let below = rest.strip_prefix(part.as_encoded_bytes());
            let Some(below) = below.and_then(|below| below.strip_prefix(b"/")) else {
                break;
            };
            (rest, parents) = (below, parents - 1);
        }
        [&b"../".repeat(parents), rest].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_relative_to_the_current_directory() {
        for (directory, path, name) in [
            ("", "a/b", "a/b"),
            ("a", "a/b", "b"),
            ("a", "ab", "../ab"),
            ("a/b", "a/c/d", "../c/d"),
            ("a/b", "x", "../../x"),
        ] {
            let (root, directory) = (PathBuf::from("/r"), PathBuf::from(directory));
            let tree = WorkTree { root, directory };
            assert_eq!(tree.name(path.as_bytes()), name.as_bytes());
        }
    }
}
