//! Entries of trees and content of files, read from the object store, never checked out.
//!
//! Paths are bytes of the tree. A path that a file system would change, or that leaves the tree,
//! has a [`Hazard`], but remains a name.
//! **Invariant:** no link leaves the tree: `..` above its root, and absolute targets, name no file.

use crate::error::{LookupError, Result, refused, unreadable};
use crate::expression::Peel;
use crate::repository::{Repository, Session};
use gix::ObjectId;
use gix::objs::Kind;
use gix::objs::tree::EntryKind;

/// As in Linux.
const LINKS_MAX: usize = 40;

/// Bytes of a link's target, as of a Linux path.
const TARGET_BYTES_MAX: u64 = 4096;

/// Largest pointer of Git LFS, by its specification.
const LFS_POINTER_BYTES_MAX: usize = 1_024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreeEntryKind {
    File,
    /// Its blob is the target.
    Link,
    /// Commit of another repository, not read.
    Submodule,
}

/// Unusual property of a path's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hazard {
    /// Empty, `.`, `..`, or with a slash: leaves its directory.
    Traversal,
    /// A spelling of `.git` to some file system.
    GitDirectory,
    /// Line end or other control character.
    Control,
    /// Final dot or space, dropped by Windows.
    TrailingDot,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Blob {
    Content(Vec<u8>),
    /// Number of bytes, over the limit and not read.
    TooLarge(u64),
}

pub(crate) fn is_file(mode: u16) -> bool {
    mode == EntryKind::Blob as u16 || mode == EntryKind::BlobExecutable as u16
}

pub(crate) fn directory(
    session: &Session<'_>,
    tree: ObjectId,
    path: &[&[u8]],
) -> Result<Vec<Vec<u8>>> {
    let mut names = Vec::new();
    let found = session.objects.entry(tree, path)?;
    let is_directory = |mode| path.is_empty() || mode == EntryKind::Tree as u16;
    if let Some((_, id)) = found.filter(|(mode, _)| is_directory(*mode)) {
        session.objects.children(id, |name, mode, _| {
            let is_name = !name.contains(&b'/') && hazard(name) != Some(Hazard::Traversal);
            if is_name && mode.kind() != EntryKind::Commit {
                let slash: &[u8] = if mode.is_tree() { b"/" } else { b"" };
                names.push([name, slash].concat());
            }
            true
        })?;
    }
    Ok(names)
}

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

/// Passes a blob's bytes to `take`, or their number if over `bytes_max`.
pub(crate) fn with_blob<T>(
    repository: &Repository,
    id: ObjectId,
    bytes_max: u64,
    take: impl FnOnce(Result<&[u8], u64>) -> T,
) -> Result<T> {
    repository.look_up(|session| {
        let bytes = size_of(session, id)?;
        if bytes > bytes_max {
            return Ok(take(Err(bytes)));
        }
        let object = session.objects.get(id, "a tree")?;
        let blob = session.objects.peel(object, Peel::Blob)?;
        let blob = blob.ok_or_else(|| unreadable!("{id} is not a file"))?;
        Ok(take(Ok(&blob.data)))
    })
}

pub(crate) fn size_of(session: &Session<'_>, id: ObjectId) -> Result<u64> {
    let header = session
        .handle
        .try_find_header(id)
        .map_err(|_| unreadable!("object {id} cannot be read: run git fsck"))?;
    let header = header.ok_or_else(|| LookupError::UnknownRevision {
        candidates: Vec::new(),
    })?;
    if header.kind() != Kind::Blob {
        return Err(refused!("{} {id} is not a file", header.kind()));
    }
    Ok(header.size())
}

/// SHA-256 and size in a pointer of Git LFS, if the content is one.
pub fn lfs_pointer(content: &[u8]) -> Option<(String, u64)> {
    if content.len() > LFS_POINTER_BYTES_MAX {
        return None;
    }
    let mut lines = std::str::from_utf8(content).ok()?.lines();
    let version = lines.next()?.strip_prefix("version ")?;
    if version != "https://git-lfs.github.com/spec/v1" {
        return None;
    }
    let (mut id, mut size) = (None, None);
    for line in lines {
        match line.split_once(' ') {
            Some(("oid", value)) => id = value.strip_prefix("sha256:"),
            Some(("size", value)) => size = value.parse().ok(),
            _ => {}
        }
    }
    Some((id?.to_owned(), size?))
}

pub(crate) fn hazard(path: &[u8]) -> Option<Hazard> {
    path.split(|byte| *byte == b'/').find_map(|name| {
        let bare = name.trim_ascii_end();
        let bare = bare.strip_suffix(b"::$INDEX_ALLOCATION").unwrap_or(bare);
        let last = bare.iter().rposition(|byte| !b". ".contains(byte));
        let bare = &bare[..last.map_or(0, |last| last + 1)];
        if matches!(name, b"" | b"." | b"..") {
            Some(Hazard::Traversal)
        } else if bare.eq_ignore_ascii_case(b".git") || bare.eq_ignore_ascii_case(b"git~1") {
            Some(Hazard::GitDirectory)
        } else if name.iter().any(u8::is_ascii_control) {
            Some(Hazard::Control)
        } else {
            matches!(name.last(), Some(b'.' | b' ')).then_some(Hazard::TrailingDot)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_is_unusual_has_its_hazard() {
        let check = |path: &str, expected: Option<Hazard>| {
            assert_eq!(hazard(path.as_bytes()), expected, "{path:?}")
        };
        check("a/b.c", None);
        check(".github/x", None);
        check("a/../b", Some(Hazard::Traversal));
        check("a//b", Some(Hazard::Traversal));
        check(".GIT/config", Some(Hazard::GitDirectory));
        check("a/.git. ", Some(Hazard::GitDirectory));
        check("git~1", Some(Hazard::GitDirectory));
        check("a\nb", Some(Hazard::Control));
        check("a./b", Some(Hazard::TrailingDot));
    }

    #[test]
    fn a_pointer_of_lfs_names_an_id_and_a_size() {
        let text = "version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 12\n";
        assert_eq!(lfs_pointer(text.as_bytes()), Some(("ab".to_owned(), 12)));
        assert_eq!(lfs_pointer(b"version 2\n"), None);
        assert_eq!(lfs_pointer(&text.repeat(100).into_bytes()), None);
    }
}
