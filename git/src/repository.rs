//! An open repository: reused gix handles, and values read once.
//!
//! Gix notices new packs, loose objects and references. Its inputs at opening (configuration,
//! replace refs, alternates) and the directories are stamped: `is_current` tells if it must be
//! reopened.

use crate::error::{Result, unreadable};
use crate::location::Location;
use crate::mailmap::Mailmap;
use crate::objects::{Grafts, Objects};
use crate::references::References;
use crate::tags::{Stamp, Tags};
use gix::ObjectId;
use gix::objs::tree::EntryKind;
use gix::odb::pack::cache::lru::MemoryCappedHashmap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const OBJECT_CACHE_BYTES: usize = 4 << 20;

/// Idle handles kept. More threads make more, dropped afterwards.
const HANDLES_MAX: usize = 4;

/// Larger objects are errors.
const OBJECT_BYTES_MAX: u64 = 64 << 20;

const MAILMAP_BYTES_MAX: u64 = 1 << 20;

const GRAFT_BYTES_MAX: usize = 16 << 20;

pub(crate) struct Repository {
    location: Location,
    shared: gix::ThreadSafeRepository,
    delta_cache_bytes: usize,
    handles_max: usize,
    idle: Mutex<Vec<gix::Repository>>,
    stamps: Vec<(PathBuf, Stamp)>,
    grafts: Grafts,
    tags: Mutex<Option<Arc<Tags>>>,
    mailmap: Mutex<Option<(ObjectId, Arc<Mailmap>)>>,
}

pub(crate) struct ObjectStore {
    pub(crate) object_bytes_max: u64,
    pub(crate) delta_cache_bytes: usize,
    pub(crate) handles_max: usize,
    pub(crate) directory: Option<PathBuf>,
}

impl Default for ObjectStore {
    fn default() -> ObjectStore {
        ObjectStore {
            object_bytes_max: OBJECT_BYTES_MAX,
            delta_cache_bytes: 0,
            handles_max: HANDLES_MAX,
            directory: None,
        }
    }
}

pub(crate) struct Session<'r> {
    pub(crate) objects: Objects<'r>,
    pub(crate) references: References<'r>,
    pub(crate) hash: gix::hash::Kind,
    pub(crate) handle: &'r gix::Repository,
}

impl Repository {
    /// Uses its own configuration only, not that of system, user, includes or environment.
    pub(crate) fn open(location: Location, store: &ObjectStore) -> Result<Repository> {
        check_reference_format(&location)?;
        let stamps = Stamp::of_paths(stamped_paths(&location));
        // Trusted, otherwise gix ignores the format of another user's repository.
        let limit = format!("gitoxide.objects.allocLimit={}", store.object_bytes_max);
        let options = gix::open::Options::isolated()
            .open_path_as_is(true)
            .with(gix::sec::Trust::Full)
            .config_overrides([limit]);
        let mut shared =
            gix::ThreadSafeRepository::open_opts(&location.git_dir, options).map_err(|_| {
                unreadable!(
                    "the repository cannot be opened: its configuration is damaged or asks for a \
                 format that is not supported; run git fsck"
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
            mailmap: Mutex::new(None),
        })
    }

    /// True if the disk still has the values read at opening.
    pub(crate) fn is_current(&self) -> bool {
        self.stamps
            .iter()
            .all(|(path, stamp)| Stamp::of(path).is_same(stamp))
    }

    pub(crate) fn look_up<T>(&self, look: impl FnOnce(&Session<'_>) -> Result<T>) -> Result<T> {
        let idle = lock(&self.idle).pop();
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
        let mut idle = lock(&self.idle);
        if idle.len() < self.handles_max {
            idle.push(handle);
        }
        answer
    }

    pub(crate) fn mailmap(
        &self,
        session: &Session<'_>,
        commit: &gix::Object<'_>,
    ) -> Result<Arc<Mailmap>> {
        let objects = &session.objects;
        let file = objects.entry(objects.tree(commit)?, &[b".mailmap"])?;
        let is_file = |mode: u16| mode == EntryKind::Blob as u16;
        let Some((_, id)) = file.filter(|(mode, _)| is_file(*mode)) else {
            return Ok(Arc::default());
        };
        let known = lock(&self.mailmap).clone();
        if let Some((_, map)) = known.filter(|(known, _)| *known == id) {
            return Ok(map);
        }
        let text = objects.text(id, MAILMAP_BYTES_MAX)?;
        let map = Arc::new(Mailmap::parse(&text.unwrap_or_default()));
        *lock(&self.mailmap) = Some((id, Arc::clone(&map)));
        Ok(map)
    }

    pub(crate) fn tags(&self, session: &Session<'_>) -> Result<Arc<Tags>> {
        let known = lock(&self.tags).clone();
        if let Some(tags) = known.filter(|tags| tags.is_current()) {
            return Ok(tags);
        }
        let tags = Tags::read(&self.location, &session.references, &session.objects)?;
        let tags = Arc::new(tags);
        *lock(&self.tags) = Some(Arc::clone(&tags));
        Ok(tags)
    }
}

/// Ignores poisoning: each value is replaced as a whole.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `HEAD` of a reftable repository: an impossible reference.
const REFTABLE_HEAD: &[u8] = b"ref: refs/heads/.invalid";

/// Refuses the reftable format, which gix does not read.
fn check_reference_format(location: &Location) -> Result<()> {
    let head = std::fs::read(location.git_dir.join("HEAD")).unwrap_or_default();
    if head.trim_ascii_end() == REFTABLE_HEAD {
        return Err(unreadable!(
            "its references are in the reftable format, which is not supported; `git refs migrate \
             --ref-format=files` converts them"
        ));
    }
    Ok(())
}

fn open_objects(
    directory: &Path,
    own: &gix::odb::Store,
    store: &ObjectStore,
) -> Result<gix::odb::Store> {
    let options = gix::odb::store::init::Options {
        alloc_limit_bytes: usize::try_from(store.object_bytes_max).ok(),
        ..Default::default()
    };
    let (directory, hash) = (directory.to_owned(), own.object_hash());
    let mut replacements = own.replacements();
    let opened = gix::odb::Store::at_opts(directory, hash, &mut replacements, options);
    opened.map_err(|error| unreadable!("the directories of objects cannot be read: {error}"))
}

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

/// A commit id and its parents per line.
fn read_grafts(location: &Location, hash: gix::hash::Kind) -> Result<Grafts> {
    let path = location.common_dir.join("info/grafts");
    let Ok(text) = std::fs::read(&path) else {
        return Ok(Grafts::default());
    };
    if text.len() > GRAFT_BYTES_MAX {
        return Err(unreadable!(
            "the file `info/grafts` has more than {GRAFT_BYTES_MAX} bytes"
        ));
    }
    let lines = text.split(|byte| *byte == b'\n');
    let graft = |line: &[u8]| {
        let ids = line.trim_ascii_end().split(|byte| *byte == b' ');
        let mut ids = ids.map(|id| ObjectId::from_hex(id).ok().filter(|id| id.kind() == hash));
        let commit = ids.next()??;
        // Like git, ignores a line with a malformed id.
        let parents: Option<Vec<ObjectId>> = ids.collect();
        Some((commit, parents?))
    };
    let lines = lines.filter(|line| !line.starts_with(b"#"));
    Ok(lines.filter_map(graft).collect())
}
