//! Former name of a moved file: as in git, a removed file with half of its bytes in common.
//!
//! In git's order: same content; the only one of that last name with three quarters in common; the
//! most similar. Ties go to the same last name, then the first path. Git's line hashes may collide,
//! so near ties may differ.

use crate::error::Result;
use crate::objects::Objects;
use crate::tree::is_file;
use gix::ObjectId;
use gix::objs::tree::EntryKind;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hasher};

const ENTRIES_MAX: usize = 100_000;

const DEPTH_MAX: usize = 64;

/// Removed files of the same content, as in git.
const SAME_MAX: usize = 100;

const COMPARED_MAX: usize = 200;

/// Bytes of a compared part without a line end.
const PART_BYTES: usize = 64;

/// Start of a file searched for a NUL that marks it binary, as in git.
const BINARY_BYTES: usize = 8_000;

/// Score of equal files, as in git.
pub(crate) const SCORE_MAX: usize = 60_000;

/// Lowest score of a moved file.
pub(crate) const SCORE_MIN: usize = SCORE_MAX / 2;

/// Score of the only file of a last name that ends the search.
const NAMED_SCORE_MIN: usize = SCORE_MAX / 4 * 3;

/// Path before a commit; `None` if new, or if too much moved.
pub(super) fn path(
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
    let Some(text) = objects.text(file, bytes_max)? else {
        return Ok(None);
    };
    let parts = Parts::of(&text);
    let score = |id| score(objects, (&text, &parts), id, bytes_max);
    let mut named = removed.iter().filter(|(path, _)| has_name(path));
    if let (Some((path, id)), None) = (named.next(), named.next())
        && score(*id)? >= NAMED_SCORE_MIN
    {
        return Ok(Some(path.clone()));
    }
    let mut best = None;
    let mut compared = 0;
    for (path, id) in &removed {
        let size = objects.size(*id).unwrap_or(u64::MAX);
        if !may_be_similar(size, text.len() as u64) {
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

pub(crate) fn last_name(path: &[u8]) -> Option<&[u8]> {
    path.rsplit(|&byte| byte == b'/').next()
}

/// True if texts of these sizes can share half.
pub(crate) fn may_be_similar(one: u64, other: u64) -> bool {
    one.abs_diff(other) <= one.max(other) / 2
}

/// 0 if over `bytes_max`.
fn score(
    objects: &Objects<'_>,
    (text, parts): (&[u8], &Parts),
    id: ObjectId,
    bytes_max: u64,
) -> Result<usize> {
    let Some(other) = objects.text(id, bytes_max)? else {
        return Ok(0);
    };
    let largest = text.len().max(other.len()).max(1);
    Ok(parts.shared(&Parts::of(&other)) * SCORE_MAX / largest)
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

/// Bytes by hash of a line, long ones in parts. CRLF counts as one byte.
pub(crate) struct Parts(HashMap<u64, usize>);

impl Parts {
    pub(crate) fn of(text: &[u8]) -> Parts {
        let is_binary = text[..text.len().min(BINARY_BYTES)].contains(&0);
        let mut parts = HashMap::new();
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            let line = match line.strip_suffix(b"\r\n") {
                Some(line) if !is_binary => Cow::Owned([line, b"\n"].concat()),
                _ => Cow::Borrowed(line),
            };
            for part in line.chunks(PART_BYTES) {
                let mut hasher = DefaultHasher::new();
                hasher.write(part);
                *parts.entry(hasher.finish()).or_default() += part.len();
            }
        }
        Parts(parts)
    }

    pub(crate) fn shared(&self, other: &Parts) -> usize {
        let shared =
            |(part, bytes): (&u64, &usize)| other.0.get(part).map(|other| *bytes.min(other));
        self.0.iter().filter_map(shared).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_share_the_lines_that_both_have() {
        let shared =
            |one: &str, other: &str| Parts::of(one.as_bytes()).shared(&Parts::of(other.as_bytes()));
        assert_eq!(shared("a\nb\n", "b\nc\n"), 2);
        assert_eq!(shared("a\na\n", "a\n"), 2);
        assert_eq!(shared("a", "b"), 0);
        assert_eq!(shared("a\r\n", "a\n"), 2);
        assert_eq!(shared("a\r\n\0", "a\n"), 0);
        let long = "x".repeat(100);
        assert_eq!(shared(&long, &format!("{long}\n")), 64);
    }

    #[test]
    fn texts_of_too_different_sizes_are_not_similar() {
        assert!(may_be_similar(50, 100) && !may_be_similar(49, 100));
    }
}
