//! Finds repositories below a directory.

use crate::error::RootError;
use crate::location::is_git_dir;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirEntry};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

const DEPTH_MAX: usize = 8;

const REPOSITORIES_MAX: usize = 200_000;

const ENTRIES_MAX: usize = 1_000_000;

/// Repositories below a directory, and the rest of it.
#[derive(Debug, Default)]
pub struct RepositoryTree {
    /// Paths by name, the path below the root without `.git`.
    pub repositories: BTreeMap<Vec<u8>, PathBuf>,
    pub left_out: Vec<(PathBuf, LeftOut)>,
    /// True if the walk ended at a bound.
    pub is_truncated: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeftOut {
    File,
    /// Link to no repository, or to one found without it.
    Link,
    /// Hidden directory, such as of a clone in progress.
    Hidden,
    /// Directory tree without repositories.
    NoRepository,
    SameName(PathBuf),
    /// Directory too deep or unreadable.
    Unreadable(String),
}

/// Enters no repositories, hidden directories or links.
pub(crate) fn list(root: &Path) -> Result<Vec<String>, RootError> {
    let names = Walk::of(root)?.tree.repositories.into_keys();
    let names = names.filter_map(|name| String::from_utf8(name).ok());
    Ok(names.collect())
}

/// Finds repositories below `root`, also behind links, without following other links.
/// Fails if `root` is unreadable.
pub fn repositories_below(root: &Path) -> Result<RepositoryTree, RootError> {
    let mut walk = Walk::of(root)?;
    walk.follow_links();
    walk.tree.left_out.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(walk.tree)
}

#[derive(Default)]
struct Walk {
    tree: RepositoryTree,
    /// Symbolic links by the name of a repository there.
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
        // Of equal names the first is taken, independent of the directory's order.
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

    /// Without repositories, the directory is left out as a whole.
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

/// Path without `.git`, unless its last part is just that.
pub(crate) fn without_suffix(path: &[u8]) -> &[u8] {
    let short = path.strip_suffix(b".git");
    let short = short.filter(|it| !it.is_empty() && !it.ends_with(b"/"));
    short.unwrap_or(path)
}

fn is_repository(path: &Path) -> bool {
    let inner = path.join(".git");
    is_git_dir(path) || inner.is_file() || is_git_dir(&inner)
}
