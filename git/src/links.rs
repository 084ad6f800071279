//! File at a path of a tree, behind symbolic links.
//!
//! **Invariant:** no link leaves the tree: `..` above its root, and absolute targets, name no file.

use crate::error::Result;
use crate::repository::Session;
use crate::tree::{is_file, size_of};
use gix::ObjectId;
use gix::objs::tree::EntryKind;

/// Links followed for a path, as in Linux.
const LINKS_MAX: usize = 40;

/// Bytes of a link's target, as of a Linux path.
const TARGET_BYTES_MAX: u64 = 4096;

/// `None` for directories, submodules or nothing. A broken link is a file with its target as text.
pub(crate) fn file_at(
    session: &Session<'_>,
    tree: ObjectId,
    path: &[&[u8]],
) -> Result<Option<ObjectId>> {
    if let Some(file) = behind_links(session, tree, path)? {
        return Ok(Some(file));
    }
    let entry = session.objects.entry(tree, path)?;
    let link = entry.filter(|(mode, _)| *mode == EntryKind::Link as u16);
    Ok(link.map(|(_, id)| id))
}

fn behind_links(session: &Session<'_>, tree: ObjectId, path: &[&[u8]]) -> Result<Option<ObjectId>> {
    // Trees on the way, and remaining names, next one last.
    let mut trees = vec![tree];
    let mut left: Vec<Vec<u8>> = path.iter().rev().map(|name| name.to_vec()).collect();
    let mut followed = 0;
    while let (Some(name), Some(&directory)) = (left.pop(), trees.last()) {
        match &name[..] {
            b"" | b"." => continue,
            b".." => {
                trees.pop();
                continue;
            }
            _ => {}
        }
        let Some((mode, id)) = session.objects.child(directory, &name)? else {
            return Ok(None);
        };
        if mode.is_tree() {
            trees.push(id);
        } else if mode.kind() == EntryKind::Link {
            followed += 1;
            match target(session, id)? {
                Some(target) if followed <= LINKS_MAX => {
                    left.extend(target.rsplit(|&byte| byte == b'/').map(<[u8]>::to_vec));
                }
                _ => return Ok(None),
            }
        } else {
            let is_it = left.is_empty() && is_file(mode.kind() as u16);
            return Ok(is_it.then_some(id));
        }
    }
    Ok(None)
}

/// Target of a link; `None` out of every tree.
fn target(session: &Session<'_>, id: ObjectId) -> Result<Option<Vec<u8>>> {
    if size_of(session, id)? > TARGET_BYTES_MAX {
        return Ok(None);
    }
    let link = session.objects.get(id, "a link")?;
    Ok((!link.data.starts_with(b"/")).then(|| link.data.clone()))
}
