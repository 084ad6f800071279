//! Publishing: uploads the files that the store lacks, and makes the result current.
//!
//! The file `published-ID` records the last published generation, to find new files and other
//! publishers' changes. HEAD is swapped last. After a conflict the directory is merged with the new
//! generation, and only HEAD and the generation are written again.
//!
//! **Invariant:** the files of a generation are in the store before HEAD names it.

use crate::error::{Result, StoreError};
use crate::generation::{self, Generation, GenerationId, Head, REPLICAS, StoredFile};
use crate::merge;
use crate::objects::{Objects, random_name, seconds};
use index::directory::{self, Lock};
use index::file::Bytes;
use index::manifest::{Manifest, NamedFile};
use index::precise::{Builder, Precise};
use schema::message::Recorded;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, SystemTime};

const ATTEMPTS_MAX: u32 = 1000;

/// Maximum pause between attempts, random so that publishers do not stay in step. Growing pauses
/// made 16 publishers slower by half.
const PAUSE_MILLIS_MAX: u64 = 250;

/// Age up to which an existing file is reused: much less than the garbage collection's limit.
const FRESH_MAX: Duration = Duration::from_secs(60 * 60);

/// Progress of an upload or a download, readable by other threads.
#[derive(Debug, Default)]
pub struct Transfer {
    /// Bytes to transfer, as far as known.
    pub total: AtomicU64,
    pub bytes: AtomicU64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    pub generation: u64,
    /// False if there was nothing to publish.
    pub is_new: bool,
    pub packages: u64,
    pub shards: u64,
    pub uploaded_files: u64,
    pub uploaded_bytes: u64,
}

/// Publishes the index in `directory`. `replicas` sets the number of nodes that have each shard.
/// With `replace_versions`, added packages replace other publishers' versions.
pub fn publish(
    objects: &Objects,
    directory: &Path,
    replicas: Option<u8>,
    replace_versions: bool,
    progress: &Transfer,
) -> Result<Published> {
    // Fails before anything is written.
    directory::read_manifest(directory)?;
    let now = objects.check()?;
    let _lock = Lock::take(directory)?;
    let manifest = directory::read_manifest(directory)?;
    let recorded = match &manifest.recorded {
        Some(file) => directory::read_recorded(directory, file)?,
        None => Recorded::default(),
    };
    let mut publisher = Publisher {
        objects,
        directory,
        progress,
        replace_versions,
        now,
        manifest,
        recorded,
        hashed: BTreeMap::new(),
        fresh: BTreeSet::new(),
        has_kept: None,
        uploaded_files: 0,
        uploaded_bytes: 0,
    };
    for attempt in 0..ATTEMPTS_MAX {
        if attempt > 0 {
            let mut random = [0; 8];
            getrandom::fill(&mut random).expect("the system has random numbers");
            let millis = u64::from_le_bytes(random) % PAUSE_MILLIS_MAX;
            thread::sleep(Duration::from_millis(millis));
        }
        if let Some(published) = publisher.attempt(replicas)? {
            return Ok(published);
        }
    }
    Err(StoreError::Contended {
        store: objects.url(),
        attempts: ATTEMPTS_MAX,
    })
}

struct Publisher<'a> {
    objects: &'a Objects,
    directory: &'a Path,
    progress: &'a Transfer,
    replace_versions: bool,
    /// Begin of publishing, by the store's clock.
    now: SystemTime,
    manifest: Manifest,
    recorded: Recorded,
    hashed: BTreeMap<String, StoredFile>,
    fresh: BTreeSet<[u8; 32]>,
    has_kept: Option<bool>,
    uploaded_files: u64,
    uploaded_bytes: u64,
}

impl Publisher<'_> {
    /// `None` if another publisher was faster.
    fn attempt(&mut self, replicas: Option<u8>) -> Result<Option<Published>> {
        let head = Head::read(self.objects)?;
        let theirs = match &head {
            Some((head, _)) => Some(Generation::read(self.objects, &head.generation)?),
            None => None,
        };
        let known = head.as_ref().and_then(|(head, _)| self.base(head));
        let seen = known.as_ref().map_or(0, |known| known.number);
        let base = match (known, &head) {
            (Some(known), Some((head, _))) if self.has_kept(&known, head)? => Some(known),
            _ => None,
        };
        let mut next = self.next(base.as_ref(), theirs.as_ref(), replicas)?;
        // Numbers are never reused, also if HEAD was set back.
        next.number = next.number.max(seen + 1);
        let is_new = theirs.as_ref().is_none_or(|theirs| {
            (&theirs.manifest, &theirs.files, theirs.replicas)
                != (&next.manifest, &next.files, next.replicas)
        });
        let current = match theirs {
            Some(theirs) if !is_new => theirs,
            _ => next.clone(),
        };
        if is_new {
            let id = put(self.objects, &next)?;
            if !Head::advance(self.objects, head.as_ref(), &next.store, id.clone())? {
                self.objects.delete(&id.object())?;
                return Ok(None);
            }
        }
        self.remember(&current)?;
        Ok(Some(Published {
            generation: current.number,
            is_new,
            packages: next.manifest.live().count() as u64,
            shards: next.manifest.shards.len() as u64,
            uploaded_files: self.uploaded_files,
            uploaded_bytes: self.uploaded_bytes,
        }))
    }

    fn base(&mut self, head: &Head) -> Option<Generation> {
        let path = self.directory.join(base_name(&head.store));
        let text = fs::read(&path).ok()?;
        let base = Generation::parse(&path.display().to_string(), &text).ok()?;
        for (name, file) in &base.files {
            self.hashed.insert(name.clone(), file.clone());
        }
        Some(base)
    }

    /// Returns false if the store was restored from an older copy: files that it lacks were not
    /// dropped, and are published again.
    fn has_kept(&mut self, base: &Generation, head: &Head) -> Result<bool> {
        if base.number > head.generation.number {
            return Ok(false);
        }
        if let Some(known) = self.has_kept {
            return Ok(known);
        }
        let ids = generation::ids(self.objects)?;
        let mut of_number = ids.iter().filter(|id| id.number == base.number).peekable();
        let kept = match of_number.peek() {
            // Generations are removed in order: a gap was never filled.
            None => ids.first().is_none_or(|first| first.number > base.number),
            // Older versions did not record the time.
            Some(_) if base.written == 0 => true,
            Some(_) => of_number.any(|id| {
                let found = Generation::read(self.objects, id);
                found.is_ok_and(|found| found.written == base.written)
            }),
        };
        self.has_kept = Some(kept);
        Ok(kept)
    }

    fn next(
        &mut self,
        base: Option<&Generation>,
        theirs: Option<&Generation>,
        replicas: Option<u8>,
    ) -> Result<Generation> {
        let empty = generation::no_shards(self.manifest.options);
        let current = theirs.map_or(&empty, |theirs| &theirs.manifest);
        if current.options != self.manifest.options && !current.shards.is_empty() {
            return Err(StoreError::OtherOptions {
                theirs: options(current),
                ours: options(&self.manifest),
            });
        }
        let base = base.map(|base| &base.manifest);
        let mut manifest = merge::manifests(base, &self.manifest, current, self.replace_versions);
        let stored = theirs.map(|theirs| &theirs.files);
        let recorded = self.merged_records(&manifest, theirs)?;
        let precise = self.merged_precise(&manifest, theirs)?;
        let mut files = BTreeMap::new();
        let mut uploads = Vec::new();
        for name in manifest.files() {
            // Shards with equal ids have equal answers, whatever their bytes.
            match stored.and_then(|stored| stored.get(name)) {
                Some(file) => drop(files.insert(name.to_owned(), file.clone())),
                None => uploads.push(name.to_owned()),
            }
        }
        self.upload(uploads, &mut files)?;
        if let Some((named, bytes)) = recorded {
            self.put_named(&named, &bytes, &mut files)?;
            manifest.recorded = Some(named);
        }
        if let Some((named, bytes)) = precise {
            self.put_named(&named, &bytes, &mut files)?;
            manifest.precise = Some(named);
        }
        Ok(Generation {
            store: theirs.map_or_else(random_name, |theirs| theirs.store.clone()),
            number: theirs.map_or(0, |theirs| theirs.number) + 1,
            written: seconds(SystemTime::now()),
            replicas: replicas
                .or(theirs.map(|theirs| theirs.replicas))
                .unwrap_or(REPLICAS),
            files,
            manifest,
        })
    }

    fn put_named(
        &mut self,
        named: &NamedFile,
        bytes: &[u8],
        files: &mut BTreeMap<String, StoredFile>,
    ) -> Result<()> {
        let file = StoredFile {
            hash: *blake3::hash(bytes).as_bytes(),
            bytes: bytes.len() as u64,
        };
        if !self.is_fresh(&file)? {
            self.put_file(&file, &mut &bytes[..])?;
        }
        self.fresh.insert(file.hash);
        files.insert(named.file.clone(), file);
        Ok(())
    }

    /// File of another publisher, and its address.
    fn stored(&self, theirs: &Generation, named: &NamedFile) -> Result<(Vec<u8>, String)> {
        let object = theirs.files[&named.file].object();
        let at = self.objects.at(&object);
        let stored = self.objects.read(&object)?;
        let (bytes, _) = stored.ok_or_else(|| StoreError::damaged(&at, "missing"))?;
        Ok((bytes, at))
    }

    /// Precise places of ours, and of other packages of theirs.
    fn merged_precise(
        &self,
        manifest: &Manifest,
        theirs: Option<&Generation>,
    ) -> Result<Option<(NamedFile, Vec<u8>)>> {
        let mut builder = Builder::default();
        let live: BTreeSet<&[u8]> = manifest.live().map(|it| &it.directory[..]).collect();
        let mut known = BTreeSet::new();
        if let Some(named) = &self.manifest.precise {
            let ours = directory::open_precise(self.directory, named)?;
            known = ours.packages().map(<[u8]>::to_vec).collect();
            builder.keep(&ours, |package| live.contains(package));
        }
        if let Some(theirs) = theirs
            && let Some(named) = &theirs.manifest.precise
        {
            let (bytes, at) = self.stored(theirs, named)?;
            let theirs = Precise::of(Bytes::Owned(bytes))
                .map_err(|error| StoreError::damaged(&at, error.to_string()))?;
            builder.keep(&theirs, |it| live.contains(it) && !known.contains(it));
        }
        let bytes = builder.finish();
        Ok(bytes.map(|bytes| (directory::precise_name(&bytes), bytes)))
    }

    fn merged_records(
        &self,
        manifest: &Manifest,
        theirs: Option<&Generation>,
    ) -> Result<Option<(NamedFile, Vec<u8>)>> {
        let mut recorded = Recorded::default();
        if let Some(theirs) = theirs
            && let Some(named) = &theirs.manifest.recorded
        {
            let (bytes, at) = self.stored(theirs, named)?;
            recorded = Recorded::decode(&bytes)
                .map_err(|error| StoreError::damaged(&at, error.to_string()))?;
        }
        let merged = merge::recorded(manifest, self.recorded.clone(), recorded);
        if merged == Recorded::default() {
            return Ok(None);
        }
        let bytes = merged
            .encode()
            .map_err(|error| StoreError::damaged(self.objects.url(), error.to_string()))?;
        Ok(Some((directory::recorded_name(&bytes), bytes)))
    }

    fn upload(
        &mut self,
        names: Vec<String>,
        files: &mut BTreeMap<String, StoredFile>,
    ) -> Result<()> {
        let mut total = 0;
        for name in &names {
            let path = self.directory.join(name);
            total += fs::metadata(&path).map_err(StoreError::io(&path))?.len();
        }
        self.progress.total.store(total, Relaxed);
        self.progress.bytes.store(0, Relaxed);
        for name in names {
            let file = self.upload_file(&name)?;
            files.insert(name, file);
        }
        Ok(())
    }

    fn upload_file(&mut self, name: &str) -> Result<StoredFile> {
        let path = self.directory.join(name);
        let file = match self.hashed.get(name) {
            Some(known) => known.clone(),
            None => hashed(&path)?,
        };
        self.hashed.insert(name.to_owned(), file.clone());
        if self.is_fresh(&file)? {
            self.progress.bytes.fetch_add(file.bytes, Relaxed);
            self.fresh.insert(file.hash);
            return Ok(file);
        }
        let mut reader = HashingReader {
            file: File::open(&path).map_err(StoreError::io(&path))?,
            hasher: blake3::Hasher::new(),
            progress: self.progress,
        };
        self.put_file(&file, &mut reader)?;
        if *reader.hasher.finalize().as_bytes() != file.hash {
            // Its name would not be its hash.
            self.objects.delete(&file.object())?;
            let reason = "its bytes have changed since they were hashed: build the index again";
            return Err(StoreError::damaged(path.display().to_string(), reason));
        }
        self.fresh.insert(file.hash);
        Ok(file)
    }

    fn put_file(&mut self, file: &StoredFile, from: &mut dyn Read) -> Result<()> {
        self.objects.upload(&file.object(), from, file.bytes)?;
        self.uploaded_files += 1;
        self.uploaded_bytes += file.bytes;
        Ok(())
    }

    /// Returns whether a garbage collection spares the file. Older files could be collected before
    /// HEAD names them.
    fn is_fresh(&self, file: &StoredFile) -> Result<bool> {
        if self.fresh.contains(&file.hash) {
            return Ok(true);
        }
        let Some(found) = self.objects.head(&file.object())? else {
            return Ok(false);
        };
        // A future time: written after publishing began.
        let age = self.now.duration_since(found.modified).unwrap_or_default();
        Ok(found.bytes == file.bytes && age < FRESH_MAX)
    }

    fn remember(&self, current: &Generation) -> Result<()> {
        let mut files = BTreeMap::new();
        for name in self.manifest.files() {
            let path = self.directory.join(name);
            let known = match self.hashed.get(name) {
                Some(known) => known.clone(),
                None => hashed(&path)?,
            };
            files.insert(name.to_owned(), known);
        }
        let base = Generation {
            store: current.store.clone(),
            number: current.number,
            written: current.written,
            replicas: REPLICAS,
            files,
            manifest: self.manifest.clone(),
        };
        let name = base_name(&base.store);
        base.write(self.directory, &name)
            .map_err(StoreError::io(&self.directory.join(&name)))
    }
}

pub(crate) fn put(objects: &Objects, generation: &Generation) -> Result<GenerationId> {
    let (id, text) = generation.render();
    // Refused if there is an object with the same hash, which is equal.
    objects.swap(&id.object(), None, text.as_bytes())?;
    Ok(id)
}

fn base_name(store: &str) -> String {
    format!("published-{store}")
}

fn options(manifest: &Manifest) -> String {
    let ignore = if manifest.options.no_ignore {
        ", --no-ignore"
    } else {
        ""
    };
    format!("--block-size {}{ignore}", manifest.options.block_bytes)
}

pub(crate) fn hashed(path: &Path) -> Result<StoredFile> {
    let mut hasher = blake3::Hasher::new();
    let file = File::open(path).map_err(StoreError::io(path))?;
    hasher.update_reader(file).map_err(StoreError::io(path))?;
    let (hash, bytes) = (*hasher.finalize().as_bytes(), hasher.count());
    Ok(StoredFile { hash, bytes })
}

struct HashingReader<'a> {
    file: File,
    hasher: blake3::Hasher,
    progress: &'a Transfer,
}

impl Read for HashingReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.hasher.update(&buffer[..read]);
        self.progress.bytes.fetch_add(read as u64, Relaxed);
        Ok(read)
    }
}
