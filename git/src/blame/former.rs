//! The former name of a file that a commit has moved: as in git, a file that the commit removed and that has at least
//! half of its bytes in common with it.
//!
//! The same content counts first, then the same last name, then what is most similar. Git also weighs other files that
//! a commit moved against each other; where several were moved and changed at once, it may find another one.

use crate::LookupError;
use crate::objects::Objects;
use crate::tree::is_file;
use gix::ObjectId;
use std::collections::{BTreeMap, HashMap};

/// Entries of trees that are compared.
const ENTRIES_MAX: usize = 100_000;

/// Directories below each other.
const DEPTH_MAX: usize = 64;

/// Removed files whose content is compared.
const COMPARED_MAX: usize = 200;

/// Bytes of a part of a text that is compared, if it has no line end before.
const PART_BYTES: usize = 64;

/// Returns the path that a file had before a commit, whose tree was `before` and is now `after`; `None` if it is new, or
/// if too much was moved to tell.
pub(super) fn path(
    objects: &Objects<'_>,
    (before, after): (ObjectId, ObjectId),
    (now, file): (&[u8], ObjectId),
    bytes_max: u64,
) -> Result<Option<Vec<u8>>, LookupError> {
    let mut search = Search {
        objects,
        removed: Vec::new(),
        entries: 0,
    };
    search.compare(Some(before), Some(after), &mut Vec::new(), 0)?;
    if search.entries > ENTRIES_MAX {
        return Ok(None);
    }
    let name = |path: &[u8]| path.rsplit(|&byte| byte == b'/').next().map(<[u8]>::to_vec);
    let has_name = |path: &[u8]| name(path) == name(now);
    let mut removed = search.removed;
    // Stable: paths stay in order.
    removed.sort_by_key(|(path, id)| (*id != file, !has_name(path)));
    match removed.first() {
        None => return Ok(None),
        Some((path, id)) if *id == file => return Ok(Some(path.clone())),
        Some(_) => {}
    }
    let Some(text) = objects.text(file, bytes_max)? else {
        return Ok(None);
    };
    let parts = Parts::of(&text);
    let mut best: Option<(usize, Vec<u8>)> = None;
    for (path, id) in removed.into_iter().take(COMPARED_MAX) {
        let is_named = has_name(&path);
        if best.is_some() && !is_named && best.as_ref().is_some_and(|(_, best)| has_name(best)) {
            break;
        }
        let Some(other) = objects.text(id, bytes_max)? else {
            continue;
        };
        let shared = parts.shared(&Parts::of(&other));
        let largest = text.len().max(other.len());
        let is_better = best.as_ref().is_none_or(|(most, _)| {
            // Of texts of different length the share counts.
            shared * 1000 / largest.max(1) > *most
        });
        if 2 * shared >= largest && largest > 0 && is_better {
            best = Some((shared * 1000 / largest, path));
        }
    }
    Ok(best.map(|(_, path)| path))
}

/// Compares two trees.
struct Search<'o, 'r> {
    objects: &'o Objects<'r>,
    /// The files that are in the first one alone.
    removed: Vec<(Vec<u8>, ObjectId)>,
    entries: usize,
}

/// The directories and the files of a tree.
#[derive(Default)]
struct Entries {
    directories: BTreeMap<Vec<u8>, ObjectId>,
    files: BTreeMap<Vec<u8>, ObjectId>,
}

impl Search<'_, '_> {
    fn compare(
        &mut self,
        before: Option<ObjectId>,
        after: Option<ObjectId>,
        path: &mut Vec<u8>,
        depth: usize,
    ) -> Result<(), LookupError> {
        if before == after || self.entries > ENTRIES_MAX || depth > DEPTH_MAX {
            return Ok(());
        }
        let (before, after) = (self.read(before)?, self.read(after)?);
        let length = path.len();
        for (name, id) in before.files {
            if !after.files.contains_key(&name) {
                self.removed.push(([&path[..], &name].concat(), id));
            }
        }
        for (name, id) in before.directories {
            path.extend_from_slice(&name);
            path.push(b'/');
            self.compare(
                Some(id),
                after.directories.get(&name).copied(),
                path,
                depth + 1,
            )?;
            path.truncate(length);
        }
        Ok(())
    }

    fn read(&mut self, tree: Option<ObjectId>) -> Result<Entries, LookupError> {
        let mut read = Entries::default();
        let Some(tree) = tree else {
            return Ok(read);
        };
        let entries = &mut self.entries;
        self.objects.children(tree, |name, mode, id| {
            *entries += 1;
            if mode.is_tree() {
                read.directories.insert(name.to_vec(), id);
            } else if is_file(mode.kind() as u16) {
                read.files.insert(name.to_vec(), id);
            }
            *entries <= ENTRIES_MAX
        })?;
        Ok(read)
    }
}

/// The lines of a text, long ones in parts, and how many bytes each has in all its places.
struct Parts<'t>(HashMap<&'t [u8], usize>);

impl Parts<'_> {
    fn of(text: &[u8]) -> Parts<'_> {
        let mut parts = HashMap::new();
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            for part in line.chunks(PART_BYTES) {
                *parts.entry(part).or_default() += part.len();
            }
        }
        Parts(parts)
    }

    /// The bytes of the parts that both have.
    fn shared(&self, other: &Parts<'_>) -> usize {
        let shared =
            |(part, bytes): (&&[u8], &usize)| other.0.get(part).map(|other| *bytes.min(other));
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
        let long = "x".repeat(100);
        assert_eq!(shared(&long, &format!("{long}\n")), 64);
    }
}
