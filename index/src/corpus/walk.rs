//! Lists the regular files of a package, except excluded ones.
//!
//! An own stack bounds the depth by memory, and each thread has only one directory open. The walk
//! reads names and metadata; binary files are found when they are [`read`](super::read). Paths may
//! exceed `PATH_MAX`, but `.gitignore` files that deep are not read.
//!
//! **Invariant:** the result depends on the tree alone, not on the listing order or the threads.

mod shared;

use super::rules::{Rules, Verdict, parents};
use super::sources::{Source, check_length, explain};
use super::{CorpusError, SkipReason, Skipped};
use crate::directory::is_index;
use crate::document::classify;
use crate::revisions::ObjectId;
use fnv::FnvHasher;
use std::fs;
use std::hash::Hasher;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Directories that are worth more threads.
const SHARED_MIN: usize = 16;

#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Walk {
    /// Regular files by [`Class`](crate::document::Class), best first, then by path bytes.
    pub files: Vec<File>,
    /// Unsearchable entries, by path bytes.
    pub skipped: Vec<Skipped>,
}

#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct File {
    /// Relative to the package, `/`-separated.
    pub path: Vec<u8>,
    pub bytes: u64,
    /// Modification time in nanoseconds since 1970; negative before.
    pub modified_ns: i128,
    /// Change time in nanoseconds since 1970. Programs cannot set it.
    pub changed_ns: i128,
    pub inode: u64,
    /// By `.gitattributes`, unset by a walk.
    pub is_foreign: Option<bool>,
    pub language: Option<&'static str>,
}

/// Absolute places where a change may change [`Walk`].
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Watched {
    pub directories: Vec<PathBuf>,
    /// Outside files that decide exclusion: patterns and git indexes. They need not exist.
    pub deciding: Vec<PathBuf>,
}

/// Walks with up to `threads`, if there are many directories. With `no_ignore`, lists excluded ones
/// too.
///
/// # Errors
/// Only if the package directory is gone or no directory. Other failures are in [`Walk::skipped`].
pub fn walk(source: &Source, no_ignore: bool, threads: usize) -> Result<Walk, CorpusError> {
    let metadata = fs::symlink_metadata(&source.directory)
        .map_err(|error| explain(&source.directory, error))?;
    if !metadata.is_dir() {
        return Err(CorpusError::NotADirectory(source.directory.clone()));
    }
    let mut walk = Walker::new(source, no_ignore).run(threads).walk;
    walk.files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    walk.files.sort_by_cached_key(|file| classify(&file.path));
    walk.skipped.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(walk)
}

pub fn watched(directory: &Path, no_ignore: bool) -> Watched {
    let source = Source {
        directory: directory.to_owned(),
        name: Vec::new(),
        is_versioned: false,
    };
    let mut walker = Walker::new(&source, no_ignore);
    let mut watched = Watched::default();
    if let Some(root) = walker.pending.first().and_then(|root| root.rules.as_ref()) {
        let above = parents(directory).into_iter();
        (watched.deciding).extend(above.map(|above| above.join(".gitignore")));
        watched
            .deciding
            .extend(root.work_tree().iter().flat_map(|tree| tree.deciding()));
    }
    walker.watched = Some(watched);
    walker.run(1).watched.unwrap_or_default()
}

/// Hash of a package's tree: FNV-1a over path, size, times and inode of files, and path and reason
/// of skipped ones, in order.
///
/// Rewriting or replacing a file changes its change time or inode. Silent disk errors are found by
/// [`Changes::verify`](crate::indexing::Changes::verify).
pub fn signature(walk: &Walk) -> u64 {
    let mut hasher = FnvHasher::default();
    hasher.write(&(walk.files.len() as u64).to_le_bytes());
    for file in &walk.files {
        write_bytes(&mut hasher, &file.path);
        write_metadata(&mut hasher, file);
    }
    for skipped in &walk.skipped {
        write_bytes(&mut hasher, &skipped.path);
        write_bytes(&mut hasher, skipped.reason.key().as_bytes());
        write_bytes(&mut hasher, skipped.reason.detail().as_bytes());
    }
    hasher.finish()
}

pub(crate) fn stamp(file: &File) -> ObjectId {
    let mut hasher = FnvHasher::default();
    write_metadata(&mut hasher, file);
    ObjectId::new(&hasher.finish().to_le_bytes()).unwrap_or(ObjectId::NONE)
}

fn write_metadata(hasher: &mut FnvHasher, file: &File) {
    hasher.write(&file.bytes.to_le_bytes());
    hasher.write(&file.modified_ns.to_le_bytes());
    hasher.write(&file.changed_ns.to_le_bytes());
    hasher.write(&file.inode.to_le_bytes());
}

/// With the length, so that `ab`, `c` and `a`, `bc` differ.
fn write_bytes(hasher: &mut FnvHasher, bytes: &[u8]) {
    hasher.write(&(bytes.len() as u64).to_le_bytes());
    hasher.write(bytes);
}

struct Walker<'a> {
    source: &'a Source,
    pending: Vec<Directory>,
    /// If set, only places are noted and files ignored.
    watched: Option<Watched>,
    walk: Walk,
}

struct Directory {
    path: Vec<u8>,
    /// Inherited rules; `None` with `no_ignore`.
    rules: Option<Rules>,
}

impl<'a> Walker<'a> {
    fn new(source: &'a Source, no_ignore: bool) -> Walker<'a> {
        let rules = (!no_ignore).then(|| Rules::above(&source.directory));
        Walker {
            source,
            watched: None,
            pending: vec![Directory {
                path: Vec::new(),
                rules,
            }],
            walk: Walk::default(),
        }
    }

    fn run(mut self, threads: usize) -> Self {
        while let Some(directory) = self.pending.pop() {
            self.directory(directory);
            if threads > 1 && self.pending.len() >= SHARED_MIN {
                return self.run_in(threads);
            }
        }
        self
    }

    fn directory(&mut self, directory: Directory) {
        let absolute = self.source.absolute(&directory.path);
        let reached = self.source.reach(&directory.path);
        let entries = reached.and_then(|reached| Ok((fs::read_dir(&reached.path)?, reached)));
        let (entries, _open) = match entries {
            Ok(entries) => entries,
            Err(error) => return self.skip(directory.path, unreadable(&error)),
        };
        let label = join(&directory.path, b"");
        if let Some(watched) = &mut self.watched {
            watched.directories.push(absolute.clone());
        }
        let rules = directory
            .rules
            .map(|above| self.enter(&above, &absolute, &label));
        for entry in entries {
            match entry {
                Ok(entry) => self.entry(&directory.path, rules.as_ref(), &entry),
                Err(error) => return self.skip(directory.path, unreadable(&error)),
            }
        }
        let work_tree = rules.as_ref().and_then(Rules::work_tree);
        let problem = work_tree.and_then(|tree| tree.take_problem());
        self.walk.skipped.extend(problem);
    }

    fn enter(&mut self, above: &Rules, absolute: &Path, label: &[u8]) -> Rules {
        let rules = above.enter(absolute, label);
        if let (Some(watched), Some(tree)) = (&mut self.watched, rules.work_tree())
            && !above
                .work_tree()
                .is_some_and(|above| Arc::ptr_eq(above, tree))
        {
            watched.deciding.extend(tree.deciding());
        }
        rules
    }

    fn entry(&mut self, directory: &[u8], rules: Option<&Rules>, entry: &fs::DirEntry) {
        let name = entry.file_name().into_vec();
        let path = join(directory, &name);
        if name == b".git" {
            return self.skip(path, SkipReason::GitDirectory);
        }
        let kind = match entry.file_type() {
            Ok(kind) => kind,
            Err(error) => return self.skip(path, unreadable(&error)),
        };
        if self.watched.is_some() && !kind.is_dir() {
            return;
        }
        let mut rules = rules.cloned();
        let absolute = self.source.absolute(&path);
        match rules
            .as_ref()
            .map(|rules| rules.judge(&absolute, kind.is_dir()))
        {
            None | Some(Verdict::Searchable) => {}
            Some(Verdict::PartlyTracked(rule)) => {
                rules = rules.map(|rules| rules.excluded_by(&rule));
            }
            Some(Verdict::Excluded(rule)) => return self.skip(path, SkipReason::Ignored(rule)),
        }
        match kind {
            _ if kind.is_dir() && is_index(&entry.path()) => self.skip(path, SkipReason::Index),
            _ if kind.is_dir() => self.pending.push(Directory { path, rules }),
            _ if kind.is_symlink() => self.skip(path, SkipReason::Symlink),
            _ if kind.is_file() => self.file(path, entry),
            _ => self.skip(path, SkipReason::NotRegular),
        }
    }

    fn file(&mut self, path: Vec<u8>, entry: &fs::DirEntry) {
        if let Err(reason) = check_length(&path) {
            return self.skip(path, SkipReason::Unreadable(reason));
        }
        match entry.metadata() {
            Ok(metadata) => self.walk.files.push(File {
                path,
                bytes: metadata.len(),
                modified_ns: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
                changed_ns: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
                inode: metadata.ino(),
                ..File::default()
            }),
            Err(error) => self.skip(path, unreadable(&error)),
        }
    }

    fn skip(&mut self, path: Vec<u8>, reason: SkipReason) {
        self.walk.skipped.push(Skipped { path, reason });
    }
}

fn nanoseconds(seconds: i64, nanoseconds: i64) -> i128 {
    i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds)
}

pub(super) fn unreadable(error: &io::Error) -> SkipReason {
    match error.kind() {
        io::ErrorKind::NotFound => SkipReason::Changed,
        _ => SkipReason::Unreadable(error.to_string()),
    }
}

fn join(directory: &[u8], name: &[u8]) -> Vec<u8> {
    if directory.is_empty() {
        return name.to_vec();
    }
    [directory, b"/", name].concat()
}

#[cfg(test)]
mod tests;
