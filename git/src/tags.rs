//! Tags by commit, cached until a tag changes.

use crate::commit;
use crate::error::Result;
use crate::location::Location;
use crate::objects::Objects;
use crate::references::References;
use crate::stamp::Stamp;
use gix::ObjectId;
use schema::message::Commit;
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

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

    /// Decodes a commit, with its tags.
    pub(crate) fn commit(&self, object: &gix::Object<'_>) -> Result<Commit> {
        let mut commit = commit::decode(&object.id, &object.data)?;
        commit.tags = self.by_commit.get(&object.id).cloned().unwrap_or_default();
        Ok(commit)
    }

    pub(crate) fn is_current(&self) -> bool {
        (self.stamps.iter()).all(|(path, stamp)| stamp.is_settled() && Stamp::of(path) == *stamp)
    }
}

fn add_directories(directory: &std::path::Path, paths: &mut BTreeSet<PathBuf>) {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    for entry in entries {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) && paths.insert(entry.path()) {
            add_directories(&entry.path(), paths);
        }
    }
}
