//! Moved files of a commit, as in git: a removed file with the same content, or half in common.

use super::{BlobCache, CHANGE_BYTES_MAX, ChangedFile, FileVersion};
use crate::blame::{Parts, SCORE_MAX, SCORE_MIN, last_name, may_be_similar};
use crate::error::Result;
use crate::objects::Objects;
use gix::ObjectId;
use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

/// Compared pairs of a commit. With more, only files of the same content are followed.
const PAIRS_MAX: usize = 10_000;

pub(super) fn join(
    objects: &Objects<'_>,
    files: &mut Vec<ChangedFile>,
    cache: &mut BlobCache,
) -> Result<()> {
    let mut moves = Moves::of(files);
    if moves.removed.is_empty() || moves.added.is_empty() {
        return Ok(());
    }
    moves.same();
    moves.similar(objects, cache)?;
    let from: BTreeMap<usize, usize> = moves.found.into_iter().collect();
    for (&added, &removed) in &from {
        files[added].former = Some(files[removed].path.clone());
        files[added].before = files[removed].before.clone();
    }
    let gone: Vec<usize> = from.into_values().collect();
    let mut index = 0;
    files.retain(|_| {
        index += 1;
        !gone.contains(&(index - 1))
    });
    Ok(())
}

struct File {
    index: usize,
    path: Vec<u8>,
    version: FileVersion,
}

struct Moves {
    removed: Vec<File>,
    added: Vec<File>,
    found: Vec<(usize, usize)>,
}

impl Moves {
    fn of(files: &[ChangedFile]) -> Moves {
        let pick = |of: fn(&ChangedFile) -> Option<FileVersion>| {
            let picked = files.iter().enumerate().filter_map(|(index, file)| {
                let version = of(file).filter(|it| !it.is_submodule())?;
                let path = file.path.clone();
                Some(File {
                    index,
                    path,
                    version,
                })
            });
            picked.collect::<Vec<_>>()
        };
        Moves {
            removed: pick(|it| it.only_before().filter(|_| it.after.is_none())),
            added: pick(|it| it.after.filter(|_| it.only_before().is_none())),
            found: Vec::new(),
        }
    }

    fn same(&mut self) {
        let mut by_id: HashMap<ObjectId, Vec<&File>> = HashMap::new();
        for file in &self.removed {
            by_id.entry(file.version.id).or_default().push(file);
        }
        let mut taken = Vec::new();
        for file in &self.added {
            let Some(same) = by_id.get_mut(&file.version.id) else {
                continue;
            };
            let is_kind = |it: &&File| it.version.mode.is_link() == file.version.mode.is_link();
            let has_name = |it: &File| last_name(&it.path) == last_name(&file.path);
            let candidates = same.iter().enumerate().filter(|(_, it)| is_kind(it));
            let best = candidates.min_by_key(|(_, it)| !has_name(it));
            if let Some(at) = best.map(|(at, _)| at) {
                taken.push((file.index, same.remove(at).index));
            }
        }
        self.take(taken);
    }

    fn take(&mut self, taken: Vec<(usize, usize)>) {
        let is_left = |file: &File| {
            let mut ends = taken.iter().flat_map(|&(new, old)| [new, old]);
            !ends.any(|index| index == file.index)
        };
        self.removed.retain(is_left);
        self.added.retain(is_left);
        self.found.extend(taken);
    }

    fn similar(&mut self, objects: &Objects<'_>, cache: &mut BlobCache) -> Result<()> {
        if self.removed.len() * self.added.len() > PAIRS_MAX {
            return Ok(());
        }
        let mut pairs = Vec::new();
        let mut parts: HashMap<ObjectId, Parts> = HashMap::new();
        for new in &self.added {
            for old in &self.removed {
                let score = score(objects, cache, &mut parts, old.version, new.version)?;
                if score >= SCORE_MIN {
                    let has_name = last_name(&old.path) == last_name(&new.path);
                    pairs.push((score, has_name, new.index, old.index));
                }
            }
        }
        pairs.sort_by_key(|&(score, has_name, ..)| Reverse((score, has_name)));
        let mut taken: Vec<(usize, usize)> = Vec::new();
        for (_, _, new, old) in pairs {
            if !taken.iter().any(|it| it.0 == new || it.1 == old) {
                taken.push((new, old));
            }
        }
        self.take(taken);
        Ok(())
    }
}

fn score(
    objects: &Objects<'_>,
    cache: &mut BlobCache,
    parts: &mut HashMap<ObjectId, Parts>,
    old: FileVersion,
    new: FileVersion,
) -> Result<usize> {
    if old.mode.is_link() || new.mode.is_link() {
        return Ok(0);
    }
    let sizes = [old, new].map(|it| objects.size(it.id).unwrap_or(u64::MAX));
    let largest = sizes[0].max(sizes[1]);
    if largest > CHANGE_BYTES_MAX || largest == 0 || !may_be_similar(sizes[0], sizes[1]) {
        return Ok(0);
    }
    for version in [old, new] {
        if let Entry::Vacant(entry) = parts.entry(version.id) {
            let Ok(Some(text)) = cache.text(objects, version.id, CHANGE_BYTES_MAX) else {
                return Ok(0);
            };
            entry.insert(Parts::of(&text));
        }
    }
    let shared = parts[&old.id].shared(&parts[&new.id]);
    Ok(shared * SCORE_MAX / largest as usize)
}
