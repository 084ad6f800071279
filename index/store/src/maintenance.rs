//! Maintenance of a store: history, verification, rollback and garbage collection.

use crate::error::{Result, StoreError};
use crate::generation::{self, FILES, Generation, GenerationId, Head, StoredFile};
use crate::objects::{Objects, seconds};
use crate::publish;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::{Duration, SystemTime};

/// Age of unnamed files before removal: their generation may not be published yet.
/// [`publish`](crate::publish) reuses much younger files only.
const UNNAMED_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// Much less than [`UNNAMED_AGE`].
const CLOCKS_APART_MAX: Duration = Duration::from_secs(60 * 60);

/// Generations to keep: the current one, the last `count`, and those younger than `age`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keep {
    pub count: usize,
    pub age: Duration,
    pub dry_run: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Collected {
    pub kept: u64,
    pub generations: u64,
    pub files: u64,
    pub bytes: u64,
    /// Young unnamed files, which are kept.
    pub young: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    pub object: String,
    pub reason: String,
    pub generations: Vec<u64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    pub generations: u64,
    pub files: u64,
    pub bytes: u64,
    pub unnamed: u64,
    pub damage: Vec<Damage>,
}

/// Newest first, with the number of the current one.
#[allow(clippy::type_complexity)]
pub fn history(objects: &Objects) -> Result<(Option<u64>, Vec<(u64, Result<Generation>)>)> {
    let current = match Head::read(objects) {
        Ok(head) => head.map(|(head, _)| head.generation.number),
        Err(error) if error.is_damage() => None,
        Err(error) => return Err(error),
    };
    let mut ids = generation::ids(objects)?;
    ids.reverse();
    let read = |id: GenerationId| (id.number, Generation::read(objects, &id));
    Ok((current, ids.into_iter().map(read).collect()))
}

/// Makes an earlier generation current. Returns its new number.
pub fn rollback(objects: &Objects, number: Option<u64>) -> Result<u64> {
    objects.check()?;
    // The version of a damaged HEAD is still that of the object.
    let head = match Head::read(objects) {
        Ok(head) => head,
        Err(error) if error.is_damage() && number.is_some() => {
            let _ = found(objects, number.unwrap_or_default())?;
            objects.delete(generation::HEAD)?;
            return rollback(objects, number);
        }
        Err(error) => return Err(error),
    };
    let current = head.as_ref().map_or(0, |(head, _)| head.generation.number);
    let number = number.unwrap_or(current.saturating_sub(1));
    let (ids, mut generation) = found(objects, number)?;
    for file in generation.files.values() {
        let name = file.object();
        let found = objects.head(&name)?.map(|found| found.bytes);
        has_length(objects.at(&name), found, file)?;
    }
    let last = ids.last().map_or(0, |id| id.number);
    generation.number = current.max(last) + 1;
    generation.written = seconds(SystemTime::now());
    let id = publish::put(objects, &generation)?;
    if !Head::advance(objects, head.as_ref(), &generation.store, id)? {
        return Err(StoreError::Contended {
            store: objects.url(),
            attempts: 1,
        });
    }
    Ok(generation.number)
}

fn found(objects: &Objects, number: u64) -> Result<(Vec<GenerationId>, Generation)> {
    let ids = generation::ids(objects)?;
    let mut with_number = ids.iter().filter(|id| id.number == number);
    let id = with_number.next().ok_or_else(|| StoreError::NoGeneration {
        store: objects.url(),
        number,
    })?;
    let generation = Generation::read(objects, id)?;
    Ok((ids, generation))
}

fn has_length(object: String, found: Option<u64>, file: &StoredFile) -> Result<()> {
    let reason = match found {
        Some(bytes) if bytes == file.bytes => return Ok(()),
        Some(bytes) => format!("has {bytes} bytes instead of {}", file.bytes),
        None => "missing".to_owned(),
    };
    Err(StoreError::damaged(object, reason))
}

/// Removes generations that are not kept, and the files that only they name. Files must be a day
/// old by the store's clock, so fresh uploads are safe.
pub fn collect(objects: &Objects, keep: Keep) -> Result<Collected> {
    let now = objects.check()?;
    check_clocks(objects, now, SystemTime::now())?;
    let (head, _) = Head::read(objects)?.ok_or_else(|| StoreError::Empty(objects.url()))?;
    let ids = generation::ids(objects)?;
    let mut collected = Collected::default();
    let (mut kept, mut dropped) = (Vec::new(), Vec::new());
    for (place, id) in ids.iter().rev().enumerate() {
        // A generation above HEAD is about to become current.
        let is_kept = place < keep.count || id.number >= head.generation.number;
        let is_young = || -> Result<bool> {
            let found = objects.head(&id.object())?;
            Ok(found.is_some_and(|found| is_younger(found.modified, now, keep.age)))
        };
        if is_kept || is_young()? {
            kept.push(id);
        } else {
            dropped.push(id);
        }
    }
    let mut named = HashSet::new();
    for id in &kept {
        let files = Generation::read(objects, id)?.files;
        named.extend(files.values().map(StoredFile::object));
    }
    if !keep.dry_run {
        for id in &dropped {
            objects.delete(&id.object())?;
        }
        objects.remove_incomplete(now - UNNAMED_AGE)?;
    }
    collected.kept = kept.len() as u64;
    collected.generations = dropped.len() as u64;
    let unnamed: Vec<_> = (objects.list(FILES)?.into_iter())
        .filter(|object| !named.contains(&object.name) && is_ours(&object.name))
        .collect();
    // It may have changed since.
    let newest = Generation::current(objects)?;
    named.extend(newest.files.values().map(StoredFile::object));
    for object in unnamed {
        // It may have been rewritten since.
        let Some(found) = objects.head(&object.name)? else {
            continue;
        };
        if named.contains(&object.name) || is_younger(found.modified, now, UNNAMED_AGE) {
            collected.young += 1;
            continue;
        }
        if !keep.dry_run {
            objects.delete(&object.name)?;
        }
        collected.files += 1;
        collected.bytes += found.bytes;
    }
    Ok(collected)
}

/// Foreign objects are left alone.
fn is_ours(name: &str) -> bool {
    let name = name.strip_prefix(FILES);
    let hash = name.and_then(|name| name.strip_prefix('/'));
    hash.is_some_and(|hash| blake3::Hash::from_hex(hash).is_ok())
}

/// Fresh uploads would look old by a wrong clock.
fn check_clocks(objects: &Objects, store: SystemTime, here: SystemTime) -> Result<()> {
    let apart = store
        .duration_since(here)
        .unwrap_or_else(|error| error.duration());
    if apart > CLOCKS_APART_MAX {
        return Err(StoreError::Clocks {
            store: objects.url(),
            minutes: apart.as_secs() / 60,
        });
    }
    Ok(())
}

/// Times in the future are young.
fn is_younger(modified: SystemTime, now: SystemTime, age: Duration) -> bool {
    now.duration_since(modified)
        .map_or(true, |since| since < age)
}

/// Checks HEAD, all generations, and names and lengths of their files; with `reads` every byte.
/// Calls `on_file` with the number of files, and after each.
pub fn verify(objects: &Objects, reads: bool, on_file: &dyn Fn(u64, u64)) -> Result<Verified> {
    let mut verified = Verified::default();
    let damaged = |object: String, error: &StoreError, generations: Vec<u64>| {
        let reason = match error {
            StoreError::Damaged { reason, .. } => reason.clone(),
            other => other.to_string(),
        };
        Damage {
            object,
            reason,
            generations,
        }
    };
    let mut damage = Vec::new();
    match Head::read(objects) {
        Ok(None) => return Err(StoreError::Empty(objects.url())),
        Ok(Some((head, _))) => {
            // Checked below, unless it is missing.
            if objects.head(&head.generation.object())?.is_none() {
                let error = StoreError::damaged("", "missing, and HEAD names it");
                let number = vec![head.generation.number];
                damage.push(damaged(head.generation.object(), &error, number));
            }
        }
        Err(error) if error.is_damage() => {
            damage.push(damaged("HEAD".to_owned(), &error, Vec::new()))
        }
        Err(error) => return Err(error),
    }
    let mut files: BTreeMap<String, (StoredFile, Vec<u64>)> = BTreeMap::new();
    for id in generation::ids(objects)? {
        verified.generations += 1;
        match Generation::read(objects, &id) {
            Ok(generation) => {
                for file in generation.files.into_values() {
                    let entry = files.entry(file.object());
                    let (_, generations) = entry.or_insert_with(|| (file, Vec::new()));
                    generations.push(id.number);
                }
            }
            Err(error) => damage.push(damaged(id.object(), &error, vec![id.number])),
        }
    }
    let listed: HashMap<String, u64> = (objects.list(FILES)?.into_iter())
        .map(|object| (object.name, object.bytes))
        .collect();
    verified.unnamed = (listed.keys().filter(|name| !files.contains_key(*name))).count() as u64;
    let total = files.len() as u64;
    for (done, (name, (file, generations))) in (1..).zip(files) {
        let mut checked = has_length(String::new(), listed.get(&name).copied(), &file);
        if reads && checked.is_ok() {
            checked = hash_is(objects, &name, &file);
        }
        match checked {
            Ok(()) => {
                verified.files += 1;
                verified.bytes += file.bytes;
            }
            Err(error) if error.is_damage() => damage.push(damaged(name, &error, generations)),
            Err(error) => return Err(error),
        }
        on_file(done, total);
    }
    verified.damage = damage;
    Ok(verified)
}

fn hash_is(objects: &Objects, name: &str, file: &StoredFile) -> Result<()> {
    let mut hasher = blake3::Hasher::new();
    if !objects.download(name, 0, &mut hasher)? {
        return Err(StoreError::damaged("", "missing"));
    }
    if *hasher.finalize().as_bytes() != file.hash {
        let reason = "its bytes have another hash than its name";
        return Err(StoreError::damaged("", reason));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_collected_if_a_clock_is_off_by_a_day() {
        let directory = tempfile::tempdir().unwrap();
        let objects = Objects::open(directory.path().to_str().unwrap()).unwrap();
        let (day, now) = (Duration::from_secs(86_400), SystemTime::now());
        check_clocks(&objects, now, now).unwrap();
        check_clocks(&objects, now, now + CLOCKS_APART_MAX).unwrap();
        for (store, here) in [(now + day, now), (now, now + day)] {
            let error = check_clocks(&objects, store, here).unwrap_err().to_string();
            assert!(error.contains("differ by 1440 minutes"), "{error}");
            assert!(error.contains("set the clocks right"), "{error}");
        }
    }
}
