//! Finds the repositories below a directory.

use crate::error::RootError;
use crate::location::is_git_dir;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirEntry};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Directories between the root and a repository.
const DEPTH_MAX: usize = 8;

/// Repositories that are listed.
const REPOSITORIES_MAX: usize = 200_000;

/// Entries that one walk reads.
const ENTRIES_MAX: usize = 1_000_000;

/// The repositories below a directory, and everything else there.
#[derive(Debug, Default)]
pub struct RepositoryTree {
    /// Their paths by name: the path below the root, without `.git` at its end.
    pub repositories: BTreeMap<Vec<u8>, PathBuf>,
    /// Entries that are no repository and not entered.
    pub left_out: Vec<(PathBuf, LeftOut)>,
    /// Whether the walk ended early, at a bound.
    pub is_truncated: bool,
}

/// Why an entry of a directory of repositories is left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeftOut {
    /// A file.
    File,
    /// A symbolic link that leads to no repository, or to one that is found without it.
    Link,
    /// A hidden directory, such as that of a clone in progress.
    Hidden,
    /// A directory without a repository, and all that is in it.
    NoRepository,
    /// A repository with the name of another one, at this path.
    SameName(PathBuf),
    /// A directory that lies too deep, or that the system refuses to list.
    Unreadable(String),
}

/// Returns the names of the repositories, ascending. Directories inside a repository, hidden ones, and
/// symbolic links are not entered.
pub(crate) fn list(root: &Path) -> Result<Vec<String>, RootError> {
    let names = Walk::of(root)?.tree.repositories.into_keys();
    Ok(names
        .filter_map(|name| String::from_utf8(name).ok())
        .collect())
}

/// Finds the repositories below `root`, also those that a symbolic link leads to. Other links are not
/// followed.
///
/// # Errors
///
/// `root` cannot be listed.
pub fn repositories_below(root: &Path) -> Result<RepositoryTree, RootError> {
    let mut walk = Walk::of(root)?;
    walk.follow_links();
    walk.tree.left_out.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(walk.tree)
}

#[derive(Default)]
struct Walk {
    tree: RepositoryTree,
    /// Symbolic links by the name that a repository there would have.
    links: BTreeMap<Vec<u8>, PathBuf>,
    entries: usize,
}

impl Walk {
    fn of(root: &Path) -> Result<Walk, RootError> {
        let mut walk = Walk::default();
        walk.enter(root, b"", 0).map_err(|source| RootError {
            path: root.to_owned(),
            source,
        })?;
        Ok(walk)
    }

    fn enter(&mut self, directory: &Path, prefix: &[u8], depth: usize) -> io::Result<()> {
        let entries: io::Result<Vec<DirEntry>> = fs::read_dir(directory)?.collect();
        let mut entries = entries?;
        // Of two repositories of one name the first is taken, whatever the order in the directory.
        entries.sort_by_key(DirEntry::file_name);
        for entry in entries {
            self.entries += 1;
            let found = self.tree.repositories.len();
            if self.entries > ENTRIES_MAX || found >= REPOSITORIES_MAX {
                self.tree.is_truncated = true;
                break;
            }
            self.visit(&entry, prefix, depth);
        }
        Ok(())
    }

    fn visit(&mut self, entry: &DirEntry, prefix: &[u8], depth: usize) {
        let (path, name) = (entry.path(), entry.file_name());
        let full = [prefix, name.as_bytes()].concat();
        let kind = entry.file_type();
        if name == ".git" {
            return;
        }
        if kind.as_ref().is_ok_and(|kind| kind.is_symlink()) {
            self.links.insert(full, path);
        } else if !kind.is_ok_and(|kind| kind.is_dir()) {
            self.leave_out(path, LeftOut::File);
        } else if is_repository(&path) {
            self.add(full, path);
        } else if name.as_bytes().starts_with(b".") {
            self.leave_out(path, LeftOut::Hidden);
        } else if depth == DEPTH_MAX {
            let reason = format!("more than {DEPTH_MAX} directories deep");
            self.leave_out(path, LeftOut::Unreadable(reason));
        } else {
            self.enter_below(path, &[&full[..], b"/"].concat(), depth + 1);
        }
    }

    /// Enters a directory that is no repository. If none is below it, it is left out as a whole.
    fn enter_below(&mut self, path: PathBuf, prefix: &[u8], depth: usize) {
        let found = |walk: &Walk| walk.tree.repositories.len() + walk.links.len();
        let (before, left_out) = (found(self), self.tree.left_out.len());
        if let Err(error) = self.enter(&path, prefix, depth) {
            return self.leave_out(path, LeftOut::Unreadable(error.to_string()));
        }
        let is_plain = |it: &(PathBuf, LeftOut)| {
            matches!(
                it.1,
                LeftOut::File | LeftOut::Hidden | LeftOut::NoRepository
            )
        };
        if found(self) == before && self.tree.left_out[left_out..].iter().all(is_plain) {
            self.tree.left_out.truncate(left_out);
            self.leave_out(path, LeftOut::NoRepository);
        }
    }

    fn add(&mut self, full: Vec<u8>, path: PathBuf) {
        let name = without_suffix(&full).to_vec();
        match self.tree.repositories.get(&name) {
            Some(other) => self.leave_out(path, LeftOut::SameName(other.clone())),
            None => drop(self.tree.repositories.insert(name, path)),
        }
    }

    fn leave_out(&mut self, path: PathBuf, reason: LeftOut) {
        self.tree.left_out.push((path, reason));
    }

    /// Adds the repositories that links lead to, each once.
    fn follow_links(&mut self) {
        let real = |path: &PathBuf| fs::canonicalize(path).ok();
        let known = self.tree.repositories.values().filter_map(real);
        let mut known: BTreeSet<PathBuf> = known.collect();
        for (name, path) in std::mem::take(&mut self.links) {
            let target = real(&path).filter(|target| is_repository(target));
            if target.is_some_and(|target| known.insert(target)) {
                self.add(name, path);
            } else {
                self.leave_out(path, LeftOut::Link);
            }
        }
    }
}

/// Returns the name of a repository at a path: without `.git`, unless that is all of its last part.
pub(crate) fn without_suffix(path: &[u8]) -> &[u8] {
    let short = path.strip_suffix(b".git");
    short
        .filter(|it| !it.is_empty() && !it.ends_with(b"/"))
        .unwrap_or(path)
}

fn is_repository(path: &Path) -> bool {
    let inner = path.join(".git");
    is_git_dir(path) || inner.is_file() || is_git_dir(&inner)
}
