//! The way to a file: its commit's tree, the directories, and the file itself.
//!
//! If two commits have the same directory (the same id), they have the same files below it. So the way to a file in a
//! parent is followed only until an id equals the known one, mostly at the first or second tree.

use crate::LookupError;
use crate::objects::Objects;
use crate::tree::is_file;
use gix::ObjectId;

/// The ids on the way to a file, the tree of the commit first and the file last.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Trail(Vec<ObjectId>);

impl Trail {
    /// The way to the file at a path below a tree; `None` if there is no regular file. `known` is the way to the same
    /// path below another tree.
    pub(super) fn of(
        objects: &Objects<'_>,
        tree: ObjectId,
        path: &[&[u8]],
        known: Option<&Trail>,
    ) -> Result<Option<Trail>, LookupError> {
        let known = known.map_or(&[][..], |known| &known.0);
        let mut ids = vec![tree];
        for (depth, name) in path.iter().enumerate() {
            let id = ids[depth];
            if known.get(depth) == Some(&id) {
                ids.extend(&known[depth + 1..]);
                break;
            }
            let Some((mode, id)) = objects.child(id, name)? else {
                return Ok(None);
            };
            let is_last = depth + 1 == path.len();
            let fits = if is_last {
                is_file(mode.kind() as u16)
            } else {
                mode.is_tree()
            };
            if !fits {
                return Ok(None);
            }
            ids.push(id);
        }
        Ok((ids.len() == path.len() + 1 && !path.is_empty()).then_some(Trail(ids)))
    }

    /// The tree of the commit.
    pub(super) fn root(&self) -> ObjectId {
        self.0[0]
    }

    /// The file.
    pub(super) fn file(&self) -> ObjectId {
        *self.0.last().expect("a way has an end")
    }
}
