//! Publication of a watched tree for clients: its index, and the paths that it may not cover.

use super::snapshot::Snapshot;
use crate::fields::{self, Fields};
use crate::place;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Names in the directory of publications: the doorbell, and what is published.
const BELL: &str = "bell";
const PUBLISHED: &str = "published";

/// Directory of publications of one tree, for clients of one build.
pub(super) struct Publications(PathBuf);

/// Fixed by an update of the index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Base {
    pub(super) root: Vec<u8>,
    pub(super) device: u64,
    pub(super) inode: u64,
    /// Name of the directory with the files of the index.
    pub(super) index: Vec<u8>,
    /// Paths that may always match: files and directories without a text in the index, and those
    /// that notifications do not cover.
    pub(super) open: HashSet<Vec<u8>>,
    /// Symbolic links, which matter to those who follow them.
    pub(super) links: Vec<Vec<u8>>,
    /// Binary files with the bytes before the first NUL. ripgrep searches only these.
    pub(super) binary: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Publications {
    /// `directory`: that of the tree, for the processes of one build.
    pub(super) fn new(directory: PathBuf) -> Publications {
        Publications(directory)
    }

    pub(super) fn bell(&self) -> PathBuf {
        self.0.join(BELL)
    }

    /// Creates an empty directory.
    pub(super) fn create(&self) -> io::Result<()> {
        place::remove(&self.0)?;
        fs::create_dir_all(&self.0)
    }

    /// Keeps the files of an index by links, so that the next update removes none that clients
    /// read. Returns the name of their directory.
    pub(super) fn link(&self, index: &Path, name: &str) -> io::Result<Vec<u8>> {
        let directory = self.0.join(name);
        if !directory.exists() {
            place::link(index, &directory)?;
        }
        Ok(name.into())
    }

    /// Removes the links of other indexes.
    pub(super) fn retain(&self, index: &[u8]) {
        for entry in fs::read_dir(&self.0).into_iter().flatten().flatten() {
            let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_directory && entry.file_name().as_bytes() != index {
                // A client that reads it has its files open, or compares.
                let _ = place::remove(&entry.path());
            }
        }
    }

    /// Publishes an index with the paths that changed since.
    pub(super) fn write<'a>(
        &self,
        base: &'a Base,
        changed: impl Iterator<Item = &'a Vec<u8>>,
    ) -> io::Result<()> {
        let open: HashSet<&Vec<u8>> = base.open.iter().chain(changed).collect();
        let mut fields = Fields::default();
        fields.bytes(&base.root);
        fields.number(base.device);
        fields.number(base.inode);
        fields.bytes(&base.index);
        fields.number(open.len() as u64);
        open.into_iter().for_each(|path| fields.bytes(path));
        fields.number(base.links.len() as u64);
        base.links.iter().for_each(|path| fields.bytes(path));
        for (path, head) in &base.binary {
            fields.bytes(path);
            fields.bytes(head);
        }
        let aside = self.0.join(PUBLISHED).with_extension("new");
        fs::write(&aside, fields.0)?;
        fs::rename(aside, self.0.join(PUBLISHED))
    }

    /// Takes the publication back.
    pub(super) fn withdraw(&self) -> io::Result<()> {
        match fs::remove_file(self.0.join(PUBLISHED)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Reads what is published of the tree at `root`, if this process sees the same tree.
    pub(super) fn read(&self, root: &Path) -> Option<Base> {
        let file = fs::read(self.0.join(PUBLISHED)).ok()?;
        let base = Base::parse(&mut &file[..])?;
        let found = fs::symlink_metadata(root).ok()?;
        let is_same = base.root == root.as_os_str().as_bytes()
            && (base.device, base.inode) == (found.dev(), found.ino());
        is_same.then_some(base)
    }

    pub(super) fn open(&self, base: &Base) -> anyhow::Result<Snapshot> {
        Ok(Snapshot::open_with_superseded(
            &self.0.join(OsStr::from_bytes(&base.index)),
        )?)
    }

    /// Removes everything: clients then compare.
    pub(super) fn end(&self) {
        // A leftover is ignored: no process answers its doorbell.
        let _ = place::remove(&self.0);
    }
}

impl Base {
    fn parse(rest: &mut &[u8]) -> Option<Base> {
        let mut base = Base {
            root: fields::bytes(rest)?.to_vec(),
            device: fields::number(rest)?,
            inode: fields::number(rest)?,
            index: fields::bytes(rest)?.to_vec(),
            ..Base::default()
        };
        for _ in 0..fields::number(rest)? {
            base.open.insert(fields::bytes(rest)?.to_vec());
        }
        for _ in 0..fields::number(rest)? {
            base.links.push(fields::bytes(rest)?.to_vec());
        }
        while !rest.is_empty() {
            let path = fields::bytes(rest)?.to_vec();
            base.binary.push((path, fields::bytes(rest)?.to_vec()));
        }
        Some(base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_publication_is_read_by_those_who_see_the_same_tree() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path();
        let found = fs::symlink_metadata(root).unwrap();
        let base = Base {
            root: root.as_os_str().as_bytes().to_vec(),
            device: found.dev(),
            inode: found.ino(),
            index: b"0123".to_vec(),
            open: HashSet::from([b"a\xff".to_vec()]),
            links: vec![b"l".to_vec()],
            binary: vec![(b"b".to_vec(), b"ELF".to_vec())],
        };
        let publications = Publications::new(root.join("p"));
        publications.create().unwrap();
        assert_eq!(publications.read(root), None);
        let changed = [b"c/d".to_vec()];
        publications.write(&base, changed.iter()).unwrap();
        let read = publications.read(root).unwrap();
        assert_eq!(
            read.open,
            HashSet::from([b"a\xff".to_vec(), b"c/d".to_vec()])
        );
        assert_eq!(
            (read.index, read.links, read.binary),
            (base.index.clone(), base.links.clone(), base.binary.clone())
        );
        assert_eq!(publications.read(&root.join("p")), None);
        let other = Base { inode: 0, ..base };
        publications.write(&other, [].iter()).unwrap();
        assert_eq!(publications.read(root), None);
        publications.withdraw().unwrap();
        publications.withdraw().unwrap();
    }
}
