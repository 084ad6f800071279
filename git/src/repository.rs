//! One open repository: handles of gix that look-ups take in turn, and what is read once.
//!
//! Gix itself notices new packs, loose objects and references. What it reads only when it opens (the
//! configuration, replace refs, alternates) is stamped, and so are the directories themselves: `is_current`
//! says whether the repository must be opened again.

use crate::LookupError;
use crate::location::Location;
use crate::objects::{Grafts, Objects};
use crate::references::References;
use crate::stamp::Stamp;
use crate::tags::Tags;
use gix::ObjectId;
use gix::odb::pack::cache::lru::MemoryCappedHashmap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of decoded objects that an open repository keeps, in all its handles.
const OBJECT_CACHE_BYTES: usize = 4 << 20;

/// Handles that an open repository of look-ups keeps. More are made while more threads ask, and dropped afterwards.
const HANDLES_MAX: usize = 4;

/// Bytes of an object that a look-up reads: a commit, a tag, a tree or a file. Larger ones are an error of
/// that object.
const OBJECT_BYTES_MAX: u64 = 64 << 20;

/// Bytes of `info/grafts` that are read.
const GRAFT_BYTES_MAX: usize = 16 << 20;

/// A repository that is open.
pub(crate) struct Repository {
    location: Location,
    shared: gix::ThreadSafeRepository,
    delta_cache_bytes: usize,
    handles_max: usize,
    idle: Mutex<Vec<gix::Repository>>,
    stamps: Vec<(PathBuf, Stamp)>,
    grafts: Grafts,
    tags: Mutex<Option<Arc<Tags>>>,
}

/// Where objects are read from, and how much of them is kept.
pub(crate) struct ObjectStore {
    /// Bytes of the largest object that is read.
    pub(crate) object_bytes_max: u64,
    /// Bytes of decoded objects that a handle keeps to resolve git's deltas.
    pub(crate) delta_cache_bytes: usize,
    /// Handles that are kept.
    pub(crate) handles_max: usize,
    /// A directory of objects to read instead of the repository's own.
    pub(crate) directory: Option<PathBuf>,
}

/// What a look-up reads from.
pub(crate) struct Session<'r> {
    pub(crate) objects: Objects<'r>,
    pub(crate) references: References<'r>,
    pub(crate) hash: gix::hash::Kind,
    pub(crate) handle: &'r gix::Repository,
}

impl Repository {
    /// Opens the repository at a location, with its own configuration alone: no file of the system or the
    /// user, no include, no environment variable.
    pub(crate) fn open(location: Location) -> Result<Repository, LookupError> {
        let store = ObjectStore {
            object_bytes_max: OBJECT_BYTES_MAX,
            delta_cache_bytes: 0,
            handles_max: HANDLES_MAX,
            directory: None,
        };
        Repository::open_with(location, &store)
    }

    /// Like [`open`](Self::open), with other objects or bounds.
    pub(crate) fn open_with(
        location: Location,
        store: &ObjectStore,
    ) -> Result<Repository, LookupError> {
        check_reference_format(&location)?;
        let stamps = stamped_paths(&location)
            .map(|path| {
                let stamp = Stamp::of(&path);
                (path, stamp)
            })
            .collect();
        // Trusted, since otherwise gix ignores the format of a repository of another user.
        let options = gix::open::Options::isolated()
            .open_path_as_is(true)
            .with(gix::sec::Trust::Full)
            .config_overrides([format!(
                "gitoxide.objects.allocLimit={}",
                store.object_bytes_max
            )]);
        let mut shared =
            gix::ThreadSafeRepository::open_opts(&location.git_dir, options).map_err(|_| {
                LookupError::unreadable(
                    "the repository cannot be opened: its configuration is damaged or asks for a \
                 format that is not supported; run git fsck",
                )
            })?;
        if let Some(directory) = &store.directory {
            shared.objects = Arc::new(open_objects(directory, &shared.objects, store)?);
        }
        let grafts = read_grafts(&location, shared.to_thread_local().object_hash())?;
        Ok(Repository {
            location,
            shared,
            delta_cache_bytes: store.delta_cache_bytes,
            handles_max: store.handles_max,
            idle: Mutex::new(Vec::new()),
            stamps,
            grafts,
            tags: Mutex::new(None),
        })
    }

    /// Returns whether what was read at opening is still what the disk has.
    pub(crate) fn is_current(&self) -> bool {
        (self.stamps.iter()).all(|(path, stamp)| Stamp::of(path).is_same(stamp))
    }

    /// Runs a look-up with a handle of its own.
    pub(crate) fn look_up<T>(
        &self,
        look: impl FnOnce(&Session<'_>) -> Result<T, LookupError>,
    ) -> Result<T, LookupError> {
        let idle = self.lock_idle().pop();
        let handle = idle.unwrap_or_else(|| {
            let mut handle = self.shared.to_thread_local();
            handle.object_cache_size(OBJECT_CACHE_BYTES / self.handles_max.max(HANDLES_MAX));
            let bytes = self.delta_cache_bytes;
            if bytes > 0 {
                let cache = move || Box::new(MemoryCappedHashmap::new(bytes)) as Box<_>;
                handle.objects.set_pack_cache(cache);
            }
            handle
        });
        let answer = Objects::new(&handle, &self.grafts).and_then(|objects| {
            look(&Session {
                objects,
                references: References::new(&handle, &self.location),
                hash: handle.object_hash(),
                handle: &handle,
            })
        });
        let mut idle = self.lock_idle();
        if idle.len() < self.handles_max {
            idle.push(handle);
        }
        answer
    }

    /// Returns the tags by commit, read again if a tag changed.
    pub(crate) fn tags(&self, session: &Session<'_>) -> Result<Arc<Tags>, LookupError> {
        let known = self
            .tags
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        if let Some(tags) = known.filter(|tags| tags.is_current()) {
            return Ok(tags);
        }
        let tags = Tags::read(&self.location, &session.references, &session.objects)?;
        let tags = Arc::new(tags);
        *self.tags.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&tags));
        Ok(tags)
    }

    fn lock_idle(&self) -> std::sync::MutexGuard<'_, Vec<gix::Repository>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What `HEAD` has in a repository with the reftable format: a reference that cannot exist.
const REFTABLE_HEAD: &[u8] = b"ref: refs/heads/.invalid";

/// Refuses a repository with references in the reftable format, which gix does not read.
fn check_reference_format(location: &Location) -> Result<(), LookupError> {
    let head = std::fs::read(location.git_dir.join("HEAD")).unwrap_or_default();
    if head.trim_ascii_end() == REFTABLE_HEAD {
        return Err(LookupError::unreadable(
            "its references are in the reftable format, which is not supported; `git refs migrate \
             --ref-format=files` converts them",
        ));
    }
    Ok(())
}

/// Opens a directory of objects that stands in for that of a repository.
fn open_objects(
    directory: &Path,
    own: &gix::odb::Store,
    store: &ObjectStore,
) -> Result<gix::odb::Store, LookupError> {
    let options = gix::odb::store::init::Options {
        alloc_limit_bytes: usize::try_from(store.object_bytes_max).ok(),
        ..Default::default()
    };
    let mut replacements = own.replacements();
    let opened = gix::odb::Store::at_opts(
        directory.to_owned(),
        own.object_hash(),
        &mut replacements,
        options,
    );
    opened.map_err(|error| {
        LookupError::unreadable(format!(
            "the directories of objects cannot be read: {error}"
        ))
    })
}

/// Returns the files and directories whose change makes an open repository stale.
fn stamped_paths(location: &Location) -> impl Iterator<Item = PathBuf> {
    let common = &location.common_dir;
    let own =
        ["config", "info/grafts", "refs/replace", "packed-refs"].map(|name| common.join(name));
    let alternates =
        (location.objects.iter()).flat_map(|it| [it.clone(), it.join("info/alternates")]);
    [location.git_dir.clone()]
        .into_iter()
        .chain(own)
        .chain(alternates)
}

/// Reads `info/grafts`: a line for each commit, its id and those of its parents.
fn read_grafts(location: &Location, hash: gix::hash::Kind) -> Result<Grafts, LookupError> {
    let path = location.common_dir.join("info/grafts");
    let Ok(text) = std::fs::read(&path) else {
        return Ok(Grafts::default());
    };
    if text.len() > GRAFT_BYTES_MAX {
        return Err(LookupError::unreadable(format!(
            "the file `info/grafts` has more than {GRAFT_BYTES_MAX} bytes"
        )));
    }
    let lines = text.split(|byte| *byte == b'\n');
    let graft = |line: &[u8]| {
        let ids = line.trim_ascii_end().split(|byte| *byte == b' ');
        let mut ids = ids.map(|id| ObjectId::from_hex(id).ok().filter(|id| id.kind() == hash));
        let commit = ids.next()??;
        // As in git, a line with a malformed id does not count.
        let parents: Option<Vec<ObjectId>> = ids.collect();
        Some((commit, parents?))
    };
    Ok(lines
        .filter(|line| !line.starts_with(b"#"))
        .filter_map(graft)
        .collect())
}
