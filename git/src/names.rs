//! Finds the repositories below a directory.

use crate::error::RootError;
use crate::location::is_git_dir;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Directories between the root and a repository.
const DEPTH_MAX: usize = 8;

/// Repositories that are listed.
const REPOSITORIES_MAX: usize = 200_000;

/// Directories that one walk reads.
const DIRECTORIES_MAX: usize = 1_000_000;

/// Returns the names of the repositories, ascending. Directories inside a repository, and symbolic links,
/// are not entered.
pub(crate) fn list(root: &Path) -> Result<Vec<String>, RootError> {
    let mut walk = Walk {
        names: BTreeSet::new(),
        directories: 0,
    };
    let entries = fs::read_dir(root).map_err(|source| RootError {
        path: root.to_owned(),
        source,
    })?;
    walk.enter(entries, "", 0);
    Ok(walk.names.into_iter().collect())
}

struct Walk {
    names: BTreeSet<String>,
    directories: usize,
}

impl Walk {
    fn enter(&mut self, entries: fs::ReadDir, prefix: &str, depth: usize) {
        for entry in entries.flatten() {
            self.directories += 1;
            if self.directories > DIRECTORIES_MAX || self.names.len() >= REPOSITORIES_MAX {
                return;
            }
            let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            if !is_directory || name == ".git" {
                continue;
            }
            let path = entry.path();
            let full = format!("{prefix}{name}");
            if is_repository(&path) {
                let short = full.strip_suffix(".git").filter(|it| !it.ends_with('/'));
                self.names.insert(short.unwrap_or(&full).to_owned());
            } else if depth < DEPTH_MAX
                && let Ok(entries) = fs::read_dir(&path)
            {
                self.enter(entries, &format!("{full}/"), depth + 1);
            }
        }
    }
}

fn is_repository(path: &Path) -> bool {
    let inner = path.join(".git");
    is_git_dir(path) || inner.is_file() || is_git_dir(&inner)
}
