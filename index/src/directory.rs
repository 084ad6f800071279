//! Index directory: the manifest and its files.
//!
//! The manifest is replaced atomically: a reader sees one generation, never a mixture. Unnamed
//! files are then removed; processes that have them open keep them.
//! **Invariant:** a table of revisions or file of records gets its name (its hash prefix) when on
//! disk; another hash is an error.

use crate::file::AtomicFile;
use crate::manifest::{self, Manifest, NamedFile, ShardEntry, hex};
use crate::precise::Precise;
use crate::revisions::RevisionTable;
use crate::shard::{self, Shard};
use schema::message::{MessageError, Recorded};
use std::collections::HashSet;
use std::fmt::Display;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub const MANIFEST: &str = "manifest";

const LOCK: &str = "lock";
const REVISIONS: &str = "revisions";
const RECORDED: &str = "repositories";
const PRECISE: &str = "precise";

/// Content of the lock, which is created first.
const MARK: &[u8; 22] = b"a Trawl index's lock.\n";

/// Attempts to open an index that is being replaced.
const ATTEMPTS_MAX: usize = 5;

#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    #[error("{}: no Trawl index here; build one with `trawl index --index {} SOURCE...`",
            .0.display(), .0.display())]
    NotAnIndex(PathBuf),
    #[error("{}: another process is building this index: wait until it ends, or choose another directory", .0.display())]
    Locked(PathBuf),
    #[error("{}: cannot be read or written", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{}: {reason}", path.display())]
    Manifest {
        path: PathBuf,
        reason: manifest::ManifestError,
    },
    #[error(transparent)]
    Shard(#[from] shard::ShardError),
    #[error("{}: not the shard that the manifest names: remove it and build the index again with \
             `trawl index`", .0.display())]
    Swapped(PathBuf),
    #[error("{}: {reason}: remove it and build the index again with `trawl index`", path.display())]
    Damaged {
        path: PathBuf,
        /// Kind and place.
        reason: String,
    },
}

pub struct Index {
    pub manifest: Manifest,
    pub shards: Vec<Arc<Shard>>,
    pub recorded: Arc<Recorded>,
    pub precise: Option<Arc<Precise>>,
}

impl Index {
    pub fn open(directory: &Path) -> Result<Index, IndexError> {
        Index::reopen(directory, &[], None)
    }

    /// Like [`open`](Self::open), reusing undamaged shards: files stay open, pages verified.
    pub fn reopen(
        directory: &Path,
        open: &[Arc<Shard>],
        precise: Option<&Arc<Precise>>,
    ) -> Result<Index, IndexError> {
        let mut attempts = 1;
        loop {
            match Self::open_once(directory, open, precise) {
                // Replaced after it was read.
                Err(error) if error.is_missing_file() && attempts < ATTEMPTS_MAX => attempts += 1,
                done => return done,
            }
        }
    }

    fn open_once(
        directory: &Path,
        open: &[Arc<Shard>],
        precise: Option<&Arc<Precise>>,
    ) -> Result<Index, IndexError> {
        let manifest = read_manifest(directory)?;
        let recorded = match &manifest.recorded {
            Some(named) => read_recorded(directory, named)?,
            None => Recorded::default(),
        };
        let precise = manifest.precise.as_ref().map(|named| {
            let open = precise.filter(|open| open.hash == named.hash && open.intact(()).is_some());
            open.map_or_else(
                || open_precise(directory, named).map(Arc::new),
                |it| Ok(it.clone()),
            )
        });
        let precise = precise.transpose()?;
        let mut opener = ShardOpener::new(directory, &recorded);
        let shards = manifest.shards.iter();
        let shards = shards.map(|entry| opener.open(entry, open));
        Ok(Index {
            shards: shards.collect::<Result<_, _>>()?,
            manifest,
            recorded: Arc::new(recorded),
            precise,
        })
    }
}

impl IndexError {
    fn io(path: &Path) -> impl Fn(io::Error) -> IndexError {
        |source| IndexError::Io {
            path: path.to_owned(),
            source,
        }
    }

    fn is_missing_file(&self) -> bool {
        let (IndexError::Shard(shard::ShardError::Io { source, .. })
        | IndexError::Io { source, .. }) = self
        else {
            return false;
        };
        source.kind() == io::ErrorKind::NotFound
    }
}

pub(crate) struct ShardOpener<'a> {
    directory: &'a Path,
    recorded: &'a Recorded,
    /// Live packages of earlier shards.
    begun: HashSet<Vec<u8>>,
}

impl<'a> ShardOpener<'a> {
    pub(crate) fn new(directory: &'a Path, recorded: &'a Recorded) -> ShardOpener<'a> {
        ShardOpener {
            directory,
            recorded,
            begun: HashSet::new(),
        }
    }

    pub(crate) fn open(
        &mut self,
        entry: &ShardEntry,
        open: &[Arc<Shard>],
    ) -> Result<Arc<Shard>, IndexError> {
        let path = self.directory.join(&entry.file);
        let mut open = open.iter();
        let shard = match open.find(|shard| shard.file_id() == entry.id && !shard.is_damaged()) {
            Some(shard) => shard.clone(),
            None => Arc::new(Shard::open(&path)?),
        };
        if shard.file_id() != entry.id || shard.package_count() as usize != entry.packages.len() {
            return Err(IndexError::Swapped(path));
        }
        if shard.is_history() != entry.is_history {
            return Err(IndexError::Swapped(path));
        }
        let continued = self.continued(entry);
        let dead = entry.dead();
        let own_names: Arc<[u32]> = entry.own_names().into();
        let Some(named) = &entry.revisions else {
            let is_same = dead == shard.dead() && *own_names == *shard.own_names();
            if is_same && shard.revisions().is_none() {
                return Ok(shard);
            }
            let plain = shard.without_revisions();
            return Ok(Arc::new(plain.with_names(dead, Vec::new(), own_names)?));
        };
        let reused = (shard.revisions().is_some_and(|of| of.table == named.hash))
            .then(|| shard.with_records(self.recorded, &dead))
            .transpose()?
            .flatten();
        let with_table = match reused {
            Some(shard) => shard,
            None => {
                let table = read_revisions(self.directory, named)?;
                shard.with_revisions(table, named.hash, self.recorded, dead.clone())?
            }
        };
        Ok(Arc::new(with_table.with_names(dead, continued, own_names)?))
    }

    /// Live packages that continue an earlier shard, or have their history here.
    fn continued(&mut self, entry: &ShardEntry) -> Vec<u32> {
        let begun = &mut self.begun;
        entry.numbers(|package| {
            !package.is_dead && (entry.is_history || !begun.insert(package.directory.clone()))
        })
    }
}

pub fn read_manifest(directory: &Path) -> Result<Manifest, IndexError> {
    let path = directory.join(MANIFEST);
    let text = fs::read(&path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            IndexError::NotAnIndex(directory.to_owned())
        }
        _ => IndexError::io(&path)(source),
    })?;
    Manifest::parse(&text).map_err(|reason| IndexError::Manifest { path, reason })
}

pub fn write_manifest(directory: &Path, text: &str) -> io::Result<()> {
    let file = AtomicFile::create(directory, MANIFEST)?;
    file.file().write_all(text.as_bytes())?;
    file.rename(MANIFEST)
}

pub type ManifestStamp = (u64, i64, i64);

/// Changes exactly when the manifest is replaced.
pub fn manifest_stamp(directory: &Path) -> io::Result<ManifestStamp> {
    let metadata = fs::metadata(directory.join(MANIFEST))?;
    Ok((metadata.ino(), metadata.mtime(), metadata.mtime_nsec()))
}

pub fn is_named(name: &str) -> bool {
    let suffix = name.rsplit_once('.').map(|(_, suffix)| suffix);
    suffix.is_some_and(|suffix| ["shard", REVISIONS, RECORDED, PRECISE].contains(&suffix))
}

pub fn write_revisions(directory: &Path, table: &RevisionTable) -> io::Result<(NamedFile, u64)> {
    write(directory, &table.encode(), REVISIONS)
}

pub fn write_recorded(directory: &Path, recorded: &Recorded) -> io::Result<(NamedFile, u64)> {
    let bytes = recorded.encode().map_err(|error: MessageError| {
        io::Error::other(format!("a record of a repository: {error}"))
    })?;
    write(directory, &bytes, RECORDED)
}

pub fn write_precise(directory: &Path, bytes: &[u8]) -> io::Result<(NamedFile, u64)> {
    write(directory, bytes, PRECISE)
}

pub fn open_precise(directory: &Path, named: &NamedFile) -> Result<Precise, IndexError> {
    let path = directory.join(&named.file);
    let precise = Precise::open(&path).map_err(IndexError::io(&path))?;
    if precise.hash != named.hash {
        return Err(IndexError::Damaged {
            path,
            reason: "not the file that the manifest names".to_owned(),
        });
    }
    Ok(precise)
}

pub fn precise_name(bytes: &[u8]) -> NamedFile {
    named(bytes, PRECISE)
}

pub fn recorded_name(bytes: &[u8]) -> NamedFile {
    named(bytes, RECORDED)
}

pub fn read_revisions(directory: &Path, named: &NamedFile) -> Result<RevisionTable, IndexError> {
    read(directory, named, RevisionTable::decode)
}

pub fn read_recorded(directory: &Path, named: &NamedFile) -> Result<Recorded, IndexError> {
    read(directory, named, Recorded::decode)
}

fn write(directory: &Path, bytes: &[u8], suffix: &str) -> io::Result<(NamedFile, u64)> {
    let named = named(bytes, suffix);
    let file = AtomicFile::create(directory, &named.file)?;
    file.file().write_all(bytes)?;
    file.rename(&named.file)?;
    Ok((named, bytes.len() as u64))
}

fn named(bytes: &[u8], suffix: &str) -> NamedFile {
    let hash = *blake3::hash(bytes).as_bytes();
    let file = format!("{}.{suffix}", hex(&hash[..8]));
    NamedFile { hash, file }
}

/// Damage is located by the file's own checksums; otherwise it is another file.
fn read<T, E: Display>(
    directory: &Path,
    named: &NamedFile,
    decode: impl FnOnce(&[u8]) -> Result<T, E>,
) -> Result<T, IndexError> {
    let path = directory.join(&named.file);
    let bytes = fs::read(&path).map_err(IndexError::io(&path))?;
    let reason = match decode(&bytes) {
        Ok(decoded) if *blake3::hash(&bytes).as_bytes() == named.hash => return Ok(decoded),
        Ok(_) => "not the file that the manifest names".to_owned(),
        Err(error) => error.to_string(),
    };
    Err(IndexError::Damaged { path, reason })
}

pub fn is_index(directory: &Path) -> bool {
    let mut mark = [0; MARK.len()];
    let lock = File::open(directory.join(LOCK));
    lock.is_ok_and(|mut lock| lock.read_exact(&mut mark).is_ok()) && mark == *MARK
}

pub(crate) fn remove_empty(directory: &Path) -> io::Result<()> {
    fs::remove_file(directory.join(LOCK))?;
    match fs::remove_dir(directory) {
        Err(error) if error.kind() != io::ErrorKind::DirectoryNotEmpty => Err(error),
        _ => Ok(()),
    }
}

/// Exclusive write access to an index.
pub struct Lock(File);

impl Lock {
    pub fn take(directory: &Path) -> Result<Lock, IndexError> {
        let path = directory.join(LOCK);
        let open = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path);
        let file = open.map_err(IndexError::io(&path))?;
        match file.try_lock() {
            Ok(()) => {
                let marked = file.set_len(0).and_then(|()| (&file).write_all(MARK));
                marked.map_err(IndexError::io(&path))?;
                Ok(Lock(file))
            }
            Err(TryLockError::WouldBlock) => Err(IndexError::Locked(directory.to_owned())),
            Err(TryLockError::Error(source)) => Err(IndexError::io(&path)(source)),
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Explicit: a starting child process may still hold the file. On failure, closing is all
        // that remains.
        let _ = self.0.unlock();
    }
}
