//! Former name of a moved file: as in git, a removed file with half of its bytes in common.
//!
//! In git's order: same content; the only one of that last name with three quarters in common; the
//! most similar. Ties go to the same last name, then the first path. Git's line hashes may collide,
//! so near ties may differ.

use crate::error::Result;
use crate::objects::Objects;
use crate::similar::{Content, NAMED_SCORE_MIN, SCORE_MIN, last_name, may_be_similar};
use crate::tree::is_file;
use gix::ObjectId;
use gix::objs::tree::EntryKind;
use std::collections::BTreeMap;

const ENTRIES_MAX: usize = 100_000;

const DEPTH_MAX: usize = 64;

/// Removed files of the same content, as in git.
const SAME_MAX: usize = 100;

const COMPARED_MAX: usize = 200;

/// Path before a commit; `None` if new, or if too much moved.
pub(crate) fn path(
    objects: &Objects<'_>,
    (before, after): (ObjectId, ObjectId),
    (now, file): (&[u8], ObjectId),
    bytes_max: u64,
) -> Result<Option<Vec<u8>>> {
    let names: Vec<&[u8]> = now.split(|&byte| byte == b'/').collect();
    let old = objects.entry(before, &names)?;
    if old.is_some_and(|(mode, _)| mode != EntryKind::Tree as u16) {
        return Ok(None);
    }
    let mut search = Search {
        objects,
        removed: Vec::new(),
        entries: 0,
    };
    search.compare(Some(before), Some(after), &mut Vec::new(), 0)?;
    if search.entries > ENTRIES_MAX {
        return Ok(None);
    }
    let mut removed = search.removed;
    removed.sort_unstable();
    let has_name = |path: &[u8]| last_name(path) == last_name(now);
    let same = removed.iter().filter(|(_, id)| *id == file).take(SAME_MAX);
    if let Some((path, _)) = same.min_by_key(|(path, _)| !has_name(path)) {
        return Ok(Some(path.clone()));
    }
    let Some(content) = Content::read(objects, file, bytes_max)? else {
        return Ok(None);
    };
    let size = objects.size(file).unwrap_or(u64::MAX);
    let score = |id| {
        let other = Content::read(objects, id, bytes_max)?;
        Ok(other.map_or(0, |other| content.score(&other)))
    };
    let mut named = removed.iter().filter(|(path, _)| has_name(path));
    if let (Some((path, id)), None) = (named.next(), named.next())
        && score(*id)? >= NAMED_SCORE_MIN
    {
        return Ok(Some(path.clone()));
    }
    let mut best = None;
    let mut compared = 0;
    for (path, id) in &removed {
        let other = objects.size(*id).unwrap_or(u64::MAX);
        if !may_be_similar(other, size) {
            continue;
        }
        compared += 1;
        if compared > COMPARED_MAX {
            break;
        }
        let rank = (score(*id)?, has_name(path));
        if rank.0 >= SCORE_MIN && best.is_none_or(|(known, _)| rank > known) {
            best = Some((rank, path));
        }
    }
    Ok(best.map(|(_, path)| path.clone()))
}

struct Search<'o, 'r> {
    objects: &'o Objects<'r>,
    removed: Vec<(Vec<u8>, ObjectId)>,
    entries: usize,
}

/// Directories, and other entries: files, and links and submodules without an id.
#[derive(Default)]
struct Entries {
    directories: BTreeMap<Vec<u8>, ObjectId>,
    others: BTreeMap<Vec<u8>, Option<ObjectId>>,
}

impl Search<'_, '_> {
    fn compare(
        &mut self,
        before: Option<ObjectId>,
        after: Option<ObjectId>,
        path: &mut Vec<u8>,
        depth: usize,
    ) -> Result<()> {
        if before == after || self.entries > ENTRIES_MAX || depth > DEPTH_MAX {
            return Ok(());
        }
        let (before, after) = (self.read(before)?, self.read(after)?);
        let length = path.len();
        for (name, id) in before.others {
            if let Some(id) = id
                && !after.others.contains_key(&name)
            {
                self.removed.push(([&path[..], &name].concat(), id));
            }
        }
        for (name, id) in before.directories {
            path.extend_from_slice(&name);
            path.push(b'/');
            let same = after.directories.get(&name).copied();
            self.compare(Some(id), same, path, depth + 1)?;
            path.truncate(length);
        }
        Ok(())
    }

    fn read(&mut self, tree: Option<ObjectId>) -> Result<Entries> {
        let mut read = Entries::default();
        let Some(tree) = tree else {
            return Ok(read);
        };
        let entries = &mut self.entries;
        self.objects.children(tree, |name, mode, id| {
            *entries += 1;
            if mode.is_tree() {
                read.directories.insert(name.to_vec(), id);
            } else {
                let file = is_file(mode.kind() as u16).then_some(id);
                read.others.insert(name.to_vec(), file);
            }
            *entries <= ENTRIES_MAX
        })?;
        Ok(read)
    }
}
