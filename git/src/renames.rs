//! Pairs removed with added files by git's rules.

use crate::blame::{NAMED_SCORE_MIN, Parts, SCORE_MAX, SCORE_MIN, last_name, may_be_similar};
use crate::objects::Objects;
use crate::tree::is_file;
use gix::ObjectId;
use gix::objs::tree::EntryMode;
use schema::message::{Change, ChangeKind};
use std::cmp::Reverse;
use std::collections::HashMap;

const COMPARED_MAX: usize = 10_000;

const FILE_BYTES_MAX: u64 = 1 << 20;

const READ_BYTES_MAX: u64 = 32 << 20;

pub(crate) type Entry = (EntryMode, ObjectId);

pub(crate) struct Pair {
    pub(crate) path: Vec<u8>,
    pub(crate) was: Option<Vec<u8>>,
    pub(crate) before: Option<Entry>,
    pub(crate) after: Option<Entry>,
}

impl Pair {
    pub(crate) fn change(self) -> Change {
        let kind = match (&self.was, self.before, self.after) {
            (Some(_), ..) => ChangeKind::Renamed,
            (None, None, _) => ChangeKind::Added,
            (None, _, None) => ChangeKind::Removed,
            _ => ChangeKind::Modified,
        };
        let id = |entry: Option<Entry>| entry.map_or(String::new(), |(_, id)| id.to_string());
        let mode = |entry: Option<Entry>| entry.map_or(0, |(mode, _)| mode.kind() as u16);
        Change {
            path: self.path,
            kind,
            was: self.was.unwrap_or_default(),
            before: id(self.before),
            after: id(self.after),
            mode_before: mode(self.before),
            mode_after: mode(self.after),
        }
    }
}

struct Content {
    bytes: usize,
    parts: Parts,
}

impl Content {
    fn score(&self, other: &Content) -> usize {
        let largest = self.bytes.max(other.bytes).max(1);
        self.parts.shared(&other.parts) * SCORE_MAX / largest
    }
}

struct Renames<'o, 'r> {
    objects: &'o Objects<'r>,
    pairs: Vec<Pair>,
    contents: HashMap<ObjectId, Option<Content>>,
    bytes_left: u64,
}

/// A damaged or missing file is not renamed.
pub(crate) fn joined(objects: &Objects<'_>, pairs: Vec<Pair>) -> Vec<Pair> {
    let mut renames = Renames {
        objects,
        pairs,
        contents: HashMap::new(),
        bytes_left: READ_BYTES_MAX,
    };
    renames.same();
    renames.named();
    renames.similar();
    let mut pairs = renames.pairs;
    pairs.retain(|pair| pair.before.is_some() || pair.after.is_some());
    pairs
}

impl Renames<'_, '_> {
    fn lone(&self, is_removed: bool) -> Vec<(usize, Entry)> {
        let of = |(at, pair): (usize, &Pair)| match (pair.before, pair.after) {
            (Some(entry), None) if is_removed => Some((at, entry)),
            (None, Some(entry)) if !is_removed => Some((at, entry)),
            _ => None,
        };
        self.pairs.iter().enumerate().filter_map(of).collect()
    }

    fn files(&self, are_removed: bool) -> Vec<(usize, ObjectId)> {
        let entries = self.lone(are_removed).into_iter();
        let files = entries.filter(|(_, (mode, _))| is_file(mode.kind() as u16));
        files.map(|(at, (_, id))| (at, id)).collect()
    }

    fn name(&self, at: usize) -> Option<&[u8]> {
        last_name(&self.pairs[at].path)
    }

    fn join(&mut self, removed: usize, added: usize) {
        let before = self.pairs[removed].before.take();
        let was = self.pairs[removed].path.clone();
        self.pairs[added].before = before;
        self.pairs[added].was = Some(was);
    }

    fn same(&mut self) {
        // Links and submodules are no files.
        let key = |(mode, id): Entry| (id, (!is_file(mode.kind() as u16)).then_some(mode));
        let mut by_id: HashMap<_, Vec<usize>> = HashMap::new();
        for (at, entry) in self.lone(true) {
            by_id.entry(key(entry)).or_default().push(at);
        }
        for (added, entry) in self.lone(false) {
            let Some(removed) = by_id
                .get_mut(&key(entry))
                .filter(|removed| !removed.is_empty())
            else {
                continue;
            };
            let named = removed
                .iter()
                .position(|at| self.name(*at) == self.name(added));
            let at = removed.remove(named.unwrap_or(0));
            self.join(at, added);
        }
    }

    fn named(&mut self) {
        let mut by_name: HashMap<Vec<u8>, [Vec<(usize, ObjectId)>; 2]> = HashMap::new();
        for (side, files) in [self.files(true), self.files(false)]
            .into_iter()
            .enumerate()
        {
            for file in files {
                let name = self.name(file.0).unwrap_or_default().to_vec();
                by_name.entry(name).or_default()[side].push(file);
            }
        }
        for [removed, added] in by_name.into_values() {
            if let (&[(old, before)], &[(new, after)]) = (&removed[..], &added[..])
                && self.score(before, after) >= NAMED_SCORE_MIN
            {
                self.join(old, new);
            }
        }
    }

    fn similar(&mut self) {
        let (removed, added) = (self.files(true), self.files(false));
        if removed.len().saturating_mul(added.len()) > COMPARED_MAX {
            return;
        }
        let mut found = Vec::new();
        for &(new, after) in &added {
            for &(old, before) in &removed {
                let score = self.score(before, after);
                let has_name = self.name(old) == self.name(new);
                if score >= SCORE_MIN {
                    found.push((Reverse((score, has_name)), new, old));
                }
            }
        }
        found.sort_unstable();
        for (_, new, old) in found {
            if self.pairs[new].before.is_none() && self.pairs[old].before.is_some() {
                self.join(old, new);
            }
        }
    }

    fn score(&mut self, before: ObjectId, after: ObjectId) -> usize {
        let size = |id| self.objects.size(id).unwrap_or(u64::MAX);
        if !may_be_similar(size(before), size(after)) {
            return 0;
        }
        self.read(before);
        self.read(after);
        match (&self.contents[&before], &self.contents[&after]) {
            (Some(before), Some(after)) => before.score(after),
            _ => 0,
        }
    }

    fn read(&mut self, id: ObjectId) {
        if self.contents.contains_key(&id) {
            return;
        }
        let bytes_max = FILE_BYTES_MAX.min(self.bytes_left);
        let text = self.objects.text(id, bytes_max).ok().flatten();
        let content = text.map(|text| Content {
            bytes: text.len(),
            parts: Parts::of(&text),
        });
        self.bytes_left -= content.as_ref().map_or(0, |content| content.bytes as u64);
        self.contents.insert(id, content);
    }
}
