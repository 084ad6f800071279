//! One repository opened by path for indexing: its revisions, their files, and the text of each.
//!
//! Unlike look-ups it may take objects from allowed directories and from the environment of git's
//! hooks. It is opened for a run of an indexer, not for a server.

use crate::attributes::Attributes;
use crate::error::{LookupError, Result, refused, unreadable};
use crate::files::{self, Files};
use crate::location::{self, Location, Roots};
use crate::names;
use crate::repository::{ObjectStore, Repository};
use crate::selection::{self, Selection};
use crate::tree;
use gix::ObjectId;
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// Larger files are left out.
pub const BLOB_BYTES_MAX: u64 = 1 << 30;

pub const ATTRIBUTE_BYTES_MAX: u64 = 1 << 20;

#[derive(Clone, Debug, Default)]
pub struct SourceOptions {
    /// Directories allowed for alternates and work trees, besides the repository and its parent.
    pub alternates_roots: Vec<PathBuf>,
    /// `GIT_OBJECT_DIRECTORY`, if not the repository's own.
    pub object_directory: Option<PathBuf>,
    /// `GIT_ALTERNATE_OBJECT_DIRECTORIES`.
    pub alternate_object_directories: Vec<PathBuf>,
    /// Bytes of decoded objects per thread, for git's deltas.
    pub cache_bytes: usize,
    pub threads: usize,
}

/// Shared by several threads.
pub struct SourceRepository {
    path: PathBuf,
    repository: Arc<Repository>,
    /// Stands in for the directory of objects.
    _objects: Option<TempDir>,
}

impl SourceRepository {
    /// Opens a repository: a git directory, or a work tree with one.
    /// Fails if it is missing, damaged, or partly outside of the allowed directories.
    pub fn open(path: &Path, options: &SourceOptions) -> Result<SourceRepository> {
        let fail = |error: io::Error| unreadable!("{} cannot be read: {error}", path.display());
        let real = fs::canonicalize(path).map_err(fail)?;
        let mut roots = vec![holder(&real).to_owned()];
        let environment = options.object_directory.iter();
        let environment = environment.chain(&options.alternate_object_directories);
        for root in options.alternates_roots.iter().chain(environment) {
            roots.push(fs::canonicalize(root).map_err(|error| {
                unreadable!(
                    "{}, from which objects may be taken, cannot be read: {error}",
                    root.display()
                )
            })?);
        }
        let roots = Roots::of_source(roots);
        let Some(location) = location::locate_at(&roots, &real)? else {
            return Err(refused!(
                "it is no git repository, neither a bare one nor a work tree"
            ));
        };
        let objects = stand_in(&location, options)?;
        let store = ObjectStore {
            object_bytes_max: BLOB_BYTES_MAX,
            delta_cache_bytes: options.cache_bytes,
            handles_max: options.threads.max(1),
            directory: objects.as_ref().map(|it| it.path().join("all")),
        };
        Ok(SourceRepository {
            repository: Arc::new(Repository::open(location, &store)?),
            path: real,
            _objects: objects,
        })
    }

    pub(crate) fn repository(&self) -> &Repository {
        &self.repository
    }

    /// Path without symbolic links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Name of its directory, without `.git`.
    pub fn name(&self) -> Option<Vec<u8>> {
        repository_name(&self.path)
    }

    /// Chooses revisions by patterns, or the default branch. A pattern is a reference (`main`,
    /// `refs/tags/v1`), a glob (`v1.*`), `all` for branches and tags, a commit id, or `HEAD`.
    /// Without a match it fails: `UnknownRevision`, with names like the first pattern.
    pub fn select(&self, patterns: &[String]) -> Result<Selection> {
        self.repository
            .look_up(|session| selection::select(session, &self.repository, patterns))
    }

    /// Files of commits, each path and id once.
    /// Fails if a commit's tree is unreadable, or if there are too many files.
    pub fn files(&self, trees: &[String]) -> Result<Files> {
        files::list(&self.repository, trees)
    }

    /// Passes a file's bytes to `take`, or its size if over `bytes_max`.
    /// Fails if the object is missing, damaged, or no file.
    pub fn blob<T>(
        &self,
        id: ObjectId,
        bytes_max: u64,
        take: impl FnOnce(Result<&[u8], u64>) -> T,
    ) -> Result<T> {
        let read = tree::with_blob(&self.repository, id, bytes_max, take);
        read.map_err(|error| missing(id, error))
    }

    /// Does not read the file.
    /// Fails if the object is missing, damaged, or no file.
    pub fn size(&self, id: ObjectId) -> Result<u64> {
        let size = self
            .repository
            .look_up(|session| tree::size_of(session, id));
        size.map_err(|error| missing(id, error))
    }

    pub fn attributes(&self, files: &Files, revision: u32) -> Attributes {
        let mut attributes = Attributes::default();
        let named = (files.files.iter()).filter(|file| file.is_named(b".gitattributes"));
        for file in named.filter(|file| files.sets[file.revisions as usize].contains(&revision)) {
            // An unreadable one has no rules; the file itself is listed as unreadable.
            let _ = self.blob(file.id, ATTRIBUTE_BYTES_MAX, |bytes| {
                attributes.add(&file.path, bytes.unwrap_or_default());
            });
        }
        attributes.finish();
        attributes
    }
}

fn missing(id: ObjectId, error: LookupError) -> LookupError {
    match error {
        LookupError::UnknownRevision { .. } => {
            unreadable!("the repository does not have object {id}: fetch it, or run git fsck")
        }
        error => error,
    }
}

/// True for a git directory, or a work tree with one. Opens nothing.
pub fn is_repository(path: &Path) -> bool {
    location::is_git_dir(path) || path.join(".git").exists()
}

fn holder(path: &Path) -> &Path {
    let repository = match path.file_name() {
        Some(name) if name == ".git" => path.parent().unwrap_or(path),
        _ => path,
    };
    repository.parent().unwrap_or(repository)
}

/// Name of a directory without symbolic links and `.git`.
pub fn repository_name(path: &Path) -> Option<Vec<u8>> {
    let path = match path.file_name() {
        Some(name) if name == ".git" => path.parent()?,
        _ => path,
    };
    let name = path.file_name()?.as_bytes();
    Some(names::without_suffix(name).to_vec())
}

/// Object directory for those of the environment: gix takes alternates only from a file. It holds
/// links to contents, so gix follows no further alternates.
fn stand_in(location: &Location, options: &SourceOptions) -> Result<Option<TempDir>> {
    if options.object_directory.is_none() && options.alternate_object_directories.is_empty() {
        return Ok(None);
    }
    let own = match &options.object_directory {
        Some(directory) => directory.clone(),
        None => location.common_dir.join("objects"),
    };
    let mut directories: Vec<PathBuf> = Vec::new();
    for directory in [&own]
        .into_iter()
        .chain(&options.alternate_object_directories)
    {
        let real = fs::canonicalize(directory).map_err(|error| {
            let directory = directory.display();
            unreadable!("the directory of objects {directory}: {error}")
        })?;
        for found in location::object_directories(&location.roots, real)? {
            if !directories.contains(&found) {
                directories.push(found);
            }
        }
    }
    let made = link_directories(&directories);
    made.map(Some)
        .map_err(|error| unreadable!("no temporary directory for its objects: {error}"))
}

fn link_directories(directories: &[PathBuf]) -> io::Result<TempDir> {
    let made = tempfile::tempdir()?;
    let mut alternates = Vec::new();
    for (number, directory) in directories.iter().enumerate() {
        let links = made.path().join(number.to_string());
        fs::create_dir(&links)?;
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            if entry.file_name() != "info" {
                std::os::unix::fs::symlink(entry.path(), links.join(entry.file_name()))?;
            }
        }
        alternates.extend(links.into_os_string().into_vec());
        alternates.push(b'\n');
    }
    let info = made.path().join("all/info");
    fs::create_dir_all(&info)?;
    fs::write(info.join("alternates"), alternates)?;
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_has_the_name_of_its_directory() {
        for (path, name) in [
            ("/srv/trawl.git", "trawl"),
            ("/home/me/trawl", "trawl"),
            ("/home/me/trawl/.git", "trawl"),
            ("/home/me/.git.git", ".git"),
        ] {
            let found = repository_name(Path::new(path));
            assert_eq!(found.as_deref(), Some(name.as_bytes()), "{path}");
        }
        assert_eq!(repository_name(Path::new("/")), None);
    }
}
