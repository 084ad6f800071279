//! Publication of a watched tree for clients: its index, and the paths that it may not cover.

use super::changes::Changes;
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

/// Name of the doorbell in the directory of publications, which have numbers as names.
const BELL: &str = "bell";

/// Publications that clients may still read.
const KEPT: u64 = 2;

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
    /// Other files without a text in the index: their paths and what ripgrep searches, as fields.
    pub(super) texts: Vec<u8>,
}

impl Publications {
    /// `directory`: that of the tree, for the processes of one build.
    pub(super) fn new(directory: PathBuf) -> Publications {
        Publications(directory)
    }

    pub(super) fn bell(&self) -> PathBuf {
        self.0.join(BELL)
    }

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

    /// Publishes an index with the changes since.
    pub(super) fn write(
        &self,
        number: u64,
        base: &Base,
        changes: &Changes,
        mounts: &[Vec<u8>],
    ) -> io::Result<()> {
        let open = base.open.iter().chain(changes.open()).chain(mounts);
        let open: HashSet<&Vec<u8>> = open.collect();
        let mut fields = Fields::default();
        fields.bytes(&base.root);
        fields.number(base.device);
        fields.number(base.inode);
        fields.bytes(&base.index);
        fields.number(open.len() as u64);
        open.into_iter().for_each(|path| fields.bytes(path));
        fields.number(base.links.len() as u64);
        base.links.iter().for_each(|path| fields.bytes(path));
        fields.0.extend(&base.texts);
        for (path, text) in changes.texts() {
            fields.bytes(path);
            fields.bytes(text);
        }
        // A new name: some file systems flush a file that replaces another.
        fs::write(self.path(number), fields.0)?;
        if let Some(old) = number.checked_sub(KEPT) {
            let _ = fs::remove_file(self.path(old));
        }
        Ok(())
    }

    fn path(&self, number: u64) -> PathBuf {
        self.0.join(number.to_string())
    }

    /// Reads a publication of the tree at `root`, if this process sees the same tree.
    ///
    /// # Errors
    /// It was removed, since newer ones followed.
    pub(super) fn read(&self, number: u64, root: &Path) -> io::Result<Option<Base>> {
        let file = fs::read(self.path(number))?;
        let is_same = |base: &Base| {
            let found = fs::symlink_metadata(root);
            base.root == root.as_os_str().as_bytes()
                && found.is_ok_and(|found| (base.device, base.inode) == (found.dev(), found.ino()))
        };
        Ok(Base::parse(&mut &file[..]).filter(is_same))
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
        base.texts = rest.to_vec();
        Some(base)
    }

    pub(super) fn each_text(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        fields::pairs(&self.texts)
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
        let mut texts = Fields::default();
        texts.bytes(b"b");
        texts.bytes(b"ELF");
        let base = Base {
            root: root.as_os_str().as_bytes().to_vec(),
            device: found.dev(),
            inode: found.ino(),
            index: b"0123".to_vec(),
            open: HashSet::from([b"a\xff".to_vec()]),
            links: vec![b"l".to_vec()],
            texts: texts.0,
        };
        let publications = Publications::new(root.join("p"));
        publications.create().unwrap();
        assert!(publications.read(1, root).is_err());
        let mut changes = Changes::default();
        fs::create_dir(root.join("c")).unwrap();
        fs::write(root.join("d"), "text").unwrap();
        changes.add(b"c".to_vec());
        changes.add(b"d".to_vec());
        changes.read(root);
        publications.write(1, &base, &changes, &[]).unwrap();
        let read = publications.read(1, root).unwrap().unwrap();
        assert_eq!(read.open, HashSet::from([b"a\xff".to_vec(), b"c".to_vec()]));
        assert_eq!((&read.index, &read.links), (&base.index, &base.links));
        let texts: Vec<_> = read.each_text().collect();
        assert_eq!(texts, [(&b"b"[..], &b"ELF"[..]), (b"d", b"text")]);
        assert_eq!(publications.read(1, &root.join("p")).unwrap(), None);
        let other = Base { inode: 0, ..base };
        publications.write(2, &other, &changes, &[]).unwrap();
        assert_eq!(publications.read(2, root).unwrap(), None);
        assert!(publications.read(1, root).is_ok());
        publications.write(3, &other, &changes, &[]).unwrap();
        assert!(publications.read(1, root).is_err());
    }
}
