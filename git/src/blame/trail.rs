//! Path to a file: commit tree, directories, and the file.
//!
//! Equal directory ids mean equal contents. So a path in a parent is followed only to the first
//! known id, mostly the first or second tree.

use crate::error::Result;
use crate::objects::Objects;
use crate::tree::is_file;
use gix::ObjectId;

/// Ids from the commit tree to the file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Trail(Vec<ObjectId>);

impl Trail {
    /// `None` without a regular file. `known` is the same path below another tree.
    pub(super) fn of(
        objects: &Objects<'_>,
        tree: ObjectId,
        path: &[&[u8]],
        known: Option<&Trail>,
    ) -> Result<Option<Trail>> {
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

    pub(super) fn root(&self) -> ObjectId {
        self.0[0]
    }

    pub(super) fn file(&self) -> ObjectId {
        *self.0.last().expect("a way has an end")
    }
}
