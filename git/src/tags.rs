//! Tags by commit, cached until a tag changes; stamps detect changes of files and directories.

use crate::commit;
use crate::error::Result;
use crate::location::Location;
use crate::objects::Objects;
use crate::references::References;
use gix::ObjectId;
use schema::message::Commit;
use std::collections::{BTreeSet, HashMap};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

const TAGS_OF_COMMIT_MAX: usize = 100;

pub(crate) struct Tags {
    by_commit: HashMap<ObjectId, Vec<Vec<u8>>>,
    /// `packed-refs`, and directories of tags.
    stamps: Vec<(PathBuf, Stamp)>,
}

impl Tags {
    pub(crate) fn read(
        location: &Location,
        references: &References<'_>,
        objects: &Objects<'_>,
    ) -> Result<Tags> {
        let tags = location.common_dir.join("refs/tags");
        let mut paths = BTreeSet::from([location.common_dir.join("packed-refs"), tags.clone()]);
        add_directories(&tags, &mut paths);
        let stamps = Stamp::of_paths(paths);
        let mut by_commit: HashMap<ObjectId, Vec<Vec<u8>>> = HashMap::new();
        for (name, (id, peeled)) in references.list("refs/tags")? {
            let id = match peeled {
                Some(id) => Some(id),
                // A damaged tag affects no others.
                None => objects.commit(id).ok().flatten().map(|it| it.id),
            };
            let known = id.map(|id| by_commit.entry(id).or_default());
            if let Some(known) = known.filter(|known| known.len() < TAGS_OF_COMMIT_MAX) {
                known.push(name[b"refs/tags/".len()..].to_vec());
            }
        }
        Ok(Tags { by_commit, stamps })
    }

    pub(crate) fn commit(&self, object: &gix::Object<'_>) -> Result<Commit> {
        let mut commit = commit::decode(&object.id, &object.data)?;
        commit.tags = self.by_commit.get(&object.id).cloned().unwrap_or_default();
        Ok(commit)
    }

    pub(crate) fn is_current(&self) -> bool {
        self.stamps
            .iter()
            .all(|(path, stamp)| stamp.is_settled() && Stamp::of(path) == *stamp)
    }
}

fn add_directories(directory: &Path, paths: &mut BTreeSet<PathBuf>) {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    for entry in entries {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) && paths.insert(entry.path()) {
            add_directories(&entry.path(), paths);
        }
    }
}

/// A second change within this time may go unnoticed.
const RACY_NS: i128 = 2_000_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp(Option<Seen>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Seen {
    device: u64,
    inode: u64,
    bytes: u64,
    changed_ns: i128,
    is_dir: bool,
}

impl Stamp {
    pub(crate) fn of(path: &Path) -> Stamp {
        let seen = |metadata: Metadata| Seen {
            device: metadata.dev(),
            inode: metadata.ino(),
            bytes: metadata.len(),
            changed_ns: i128::from(metadata.mtime()) * 1_000_000_000
                + i128::from(metadata.mtime_nsec()),
            is_dir: metadata.is_dir(),
        };
        Stamp(path.metadata().ok().map(seen))
    }

    pub(crate) fn of_paths(paths: impl IntoIterator<Item = PathBuf>) -> Vec<(PathBuf, Stamp)> {
        let stamped = |path: PathBuf| (path.clone(), Stamp::of(&path));
        paths.into_iter().map(stamped).collect()
    }

    /// A directory may have changed content.
    pub(crate) fn is_same(&self, earlier: &Stamp) -> bool {
        match (self.0, earlier.0) {
            (Some(now), Some(then)) if now.is_dir && then.is_dir => {
                (now.device, now.inode) == (then.device, then.inode)
            }
            (now, then) => now == then,
        }
    }

    /// True if a later change would show.
    pub(crate) fn is_settled(&self) -> bool {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let now = since.map_or(0, |since| since.as_nanos() as i128);
        self.0.is_none_or(|seen| now - seen.changed_ns > RACY_NS)
    }
}
