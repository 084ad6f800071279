//! Generations: the files of an index, and the pointer HEAD.
//!
//! ```text
//! trawl-generation 1
//! store 0123...(32 digits)
//! number 17
//! written 1769212345
//! replicas 2
//! file 5c7e...(64 digits) 1048576 91d0fedcba987654.shard
//! index
//! trawl-index 3
//! ...
//! ```
//!
//! A generation is an object named by its number and BLAKE3, so damage is detected. `index` is
//! followed by a manifest (see [`index::manifest`]). Each file of it has a record: BLAKE3, length,
//! and name in an index directory. The file is the object `files/HASH`. `store` is the fixed id of
//! the store. HEAD is two lines: `trawl-store 1 ID`, and the name of the current generation.
//!
//! **Invariant:** numbers only grow, also when an earlier generation becomes current again.

use crate::error::{Result, StoreError};
use crate::objects::{Objects, Version};
use index::file::AtomicFile;
use index::manifest::{Manifest, ManifestError, Options, ShardEntry, hex};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;
use std::time::SystemTime;

/// Default number of replicas.
pub const REPLICAS: u8 = 2;

pub const REPLICAS_MAX: u8 = 16;

pub(crate) const HEAD: &str = "HEAD";

const VERSION: u32 = 1;

const GENERATION: &str = "trawl-generation ";
const STORE: &str = "trawl-store ";

const GENERATIONS: &str = "generations";

pub(crate) const FILES: &str = "files";

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GenerationId {
    /// From 1.
    pub number: u64,
    pub hash: [u8; 32],
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFile {
    pub hash: [u8; 32],
    pub bytes: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generation {
    pub store: String,
    /// From 1.
    pub number: u64,
    /// Publication in seconds since 1970, by the publisher's clock.
    pub written: u64,
    /// Nodes that have each shard.
    pub replicas: u8,
    pub files: BTreeMap<String, StoredFile>,
    pub manifest: Manifest,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    pub store: String,
    pub generation: GenerationId,
}

impl GenerationId {
    pub(crate) fn object(&self) -> String {
        format!("{GENERATIONS}/{self}")
    }

    pub(crate) fn parse(text: &str) -> Option<GenerationId> {
        let (number, hash) = text.split_once('-')?;
        let id = GenerationId {
            number: number.parse().ok()?,
            hash: *blake3::Hash::from_hex(hash).ok()?.as_bytes(),
        };
        (id.to_string() == text && id.number > 0).then_some(id)
    }
}

impl std::fmt::Display for GenerationId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Fixed width: names sort by number.
        write!(f, "{:020}-{}", self.number, hex(&self.hash))
    }
}

impl StoredFile {
    pub(crate) fn object(&self) -> String {
        format!("{FILES}/{}", hex(&self.hash))
    }
}

impl Generation {
    pub(crate) fn render(&self) -> (GenerationId, String) {
        let mut text = format!(
            "{GENERATION}{VERSION}\nstore {}\nnumber {}\nwritten {}\nreplicas {}\n",
            self.store, self.number, self.written, self.replicas
        );
        for (name, file) in &self.files {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "file {} {} {name}", hex(&file.hash), file.bytes);
        }
        text.push_str("index\n");
        text.push_str(&self.manifest.render());
        let hash = *blake3::hash(text.as_bytes()).as_bytes();
        let id = GenerationId {
            number: self.number,
            hash,
        };
        (id, text)
    }

    pub fn parse(object: &str, text: &[u8]) -> Result<Generation> {
        let damaged = |line: usize| StoreError::damaged(object, format!("damaged at line {line}"));
        let text = str::from_utf8(text).map_err(|_| damaged(1))?;
        let title = text.lines().next().unwrap_or_default();
        check_version(object, title.strip_prefix(GENERATION).unwrap_or_default())?;
        let (head, manifest) = text.split_once("\nindex\n").ok_or_else(|| damaged(1))?;
        let manifest = Manifest::parse(manifest.as_bytes()).map_err(|error| match error {
            ManifestError::Newer(version) => StoreError::Newer {
                object: object.to_owned(),
                version,
                known: index::manifest::VERSION,
            },
            error => StoreError::damaged(object, error.to_string()),
        })?;
        let mut generation = Generation {
            store: String::new(),
            number: 0,
            written: 0,
            replicas: REPLICAS,
            files: BTreeMap::new(),
            manifest,
        };
        for (number, line) in head.lines().enumerate().skip(1) {
            generation.record(line).ok_or_else(|| damaged(number + 1))?;
        }
        let named: BTreeSet<&str> = generation.manifest.files().collect();
        if !named.into_iter().eq(generation.files.keys()) {
            return Err(StoreError::damaged(
                object,
                "its files are not those of its manifest",
            ));
        }
        Ok(generation)
    }

    fn record(&mut self, line: &str) -> Option<()> {
        let (kind, rest) = line.split_once(' ')?;
        match kind {
            "store" => self.store = Some(rest).filter(|id| is_store_id(id))?.to_owned(),
            "number" => self.number = rest.parse().ok()?,
            "written" => self.written = rest.parse().ok()?,
            "replicas" => {
                let replicas = rest.parse().ok()?;
                self.replicas = Some(replicas).filter(|it| (1..=REPLICAS_MAX).contains(it))?;
            }
            "file" => {
                let (hash, rest) = rest.split_once(' ')?;
                let (bytes, name) = rest.split_once(' ')?;
                let file = StoredFile {
                    hash: *blake3::Hash::from_hex(hash).ok()?.as_bytes(),
                    bytes: bytes.parse().ok()?,
                };
                if self.files.insert(name.to_owned(), file).is_some() {
                    return None;
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// Fails if it is missing.
    pub(crate) fn read(objects: &Objects, id: &GenerationId) -> Result<Generation> {
        let name = id.object();
        let at = objects.at(&name);
        let damaged = |reason: &str| StoreError::damaged(&at, reason);
        let missing = || damaged("the generation that HEAD names is missing");
        let (text, _) = objects.read(&name)?.ok_or_else(missing)?;
        if *blake3::hash(&text).as_bytes() != id.hash {
            return Err(damaged("its bytes have another hash"));
        }
        let generation = Generation::parse(&at, &text)?;
        if generation.number != id.number {
            return Err(damaged("has another number than its name"));
        }
        Ok(generation)
    }

    pub fn current(objects: &Objects) -> Result<Generation> {
        let (head, _) = Head::read(objects)?.ok_or_else(|| StoreError::Empty(objects.url()))?;
        Generation::read(objects, &head.generation)
    }

    pub(crate) fn write(&self, directory: &Path, name: &str) -> io::Result<()> {
        let file = AtomicFile::create(directory, name)?;
        file.file().write_all(self.render().1.as_bytes())?;
        file.rename(name)
    }

    pub(crate) fn part(&self, has: &dyn Fn(&ShardEntry) -> bool) -> Generation {
        let mut manifest = self.manifest.clone();
        manifest.shards.retain(has);
        self.with(manifest, self)
    }

    /// Replaces the manifest. Its files are those of this generation or of `earlier`.
    pub(crate) fn with(&self, manifest: Manifest, earlier: &Generation) -> Generation {
        let file = |name: &str| self.files.get(name).or_else(|| earlier.files.get(name));
        let named = manifest.files();
        let files = named.filter_map(|name| Some((name.to_owned(), file(name)?.clone())));
        Generation {
            files: files.collect(),
            manifest,
            store: self.store.clone(),
            ..*self
        }
    }

    pub fn bytes(&self) -> u64 {
        self.files.values().map(|file| file.bytes).sum()
    }
}

impl Head {
    fn render(&self) -> String {
        let Head { store, generation } = self;
        format!("{STORE}{VERSION} {store}\n{generation}\n")
    }

    /// `None` in an empty store.
    pub(crate) fn read(objects: &Objects) -> Result<Option<(Head, Version)>> {
        let Some((bytes, version)) = objects.read(HEAD)? else {
            return Ok(None);
        };
        let head = Head::parse(&objects.at(HEAD), &bytes)?;
        Ok(Some((head, version)))
    }

    pub fn parse(object: &str, bytes: &[u8]) -> Result<Head> {
        let damaged = || {
            StoreError::damaged(
                object,
                "damaged; `trawl store history` lists the generations, and `trawl store rollback` makes one of them current",
            )
        };
        let text = str::from_utf8(bytes).map_err(|_| damaged())?;
        let title = text.lines().next();
        let title = title.and_then(|line| line.strip_prefix(STORE)?.split_once(' '));
        let (version, store) = title.ok_or_else(damaged)?;
        check_version(object, version)?;
        let generation = text.lines().nth(1).and_then(GenerationId::parse);
        let head = Head {
            store: store.to_owned(),
            generation: generation.ok_or_else(damaged)?,
        };
        (is_store_id(store) && head.render() == text)
            .then_some(head)
            .ok_or_else(damaged)
    }

    /// Makes an uploaded generation current. Returns false if another publisher was faster.
    pub(crate) fn advance(
        objects: &Objects,
        before: Option<&(Head, Version)>,
        store: &str,
        generation: GenerationId,
    ) -> Result<bool> {
        let head = Head {
            store: store.to_owned(),
            generation,
        };
        let expected = before.map(|(_, version)| version);
        let swapped = objects.swap(HEAD, expected, head.render().as_bytes())?;
        // A repeated request finds its own write.
        Ok(swapped.is_some() || Head::read(objects)?.is_some_and(|(now, _)| now == head))
    }
}

pub(crate) fn ids(objects: &Objects) -> Result<Vec<GenerationId>> {
    let written = written(objects)?;
    Ok(written.into_iter().map(|(id, _)| id).collect())
}

/// Names and times of all generations, by the store's clock, ascending.
pub fn written(objects: &Objects) -> Result<Vec<(GenerationId, SystemTime)>> {
    let listed = objects.list(GENERATIONS)?;
    let named = listed.iter().filter_map(|object| {
        let (_, name) = object.name.rsplit_once('/')?;
        Some((GenerationId::parse(name)?, object.modified))
    });
    let mut ids: Vec<_> = named.collect();
    ids.sort();
    Ok(ids)
}

pub(crate) fn no_shards(options: Options) -> Manifest {
    Manifest {
        options,
        shards: Vec::new(),
        beside: Vec::new(),
        recorded: None,
        precise: None,
    }
}

fn is_store_id(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn check_version(object: &str, version: &str) -> Result<()> {
    match version.parse() {
        Ok(VERSION) => Ok(()),
        Ok(version) => Err(StoreError::Newer {
            object: object.to_owned(),
            version,
            known: VERSION,
        }),
        Err(_) => Err(StoreError::damaged(object, "not of a store of Trawl")),
    }
}

#[cfg(test)]
mod tests;
