//! Paths that changed since an update of the index began, and the texts of small files among them:
//! clients open only those that match.

use super::snapshot;
use super::text::{self, TEXT_BYTES_MAX, TEXTS_BYTES_MAX};
use crate::watch::absolute;
use std::collections::{HashMap, HashSet};
use std::io::ErrorKind;
use std::mem;
use std::path::Path;

/// Changed paths; beyond, all files are compared.
const PATHS_MAX: usize = 50_000;

#[derive(Default)]
pub(super) struct Changes {
    /// Since the last update began.
    changed: HashSet<Vec<u8>>,
    /// Before; the update that runs clears it.
    updating: HashSet<Vec<u8>>,
    /// Contents that were read after their last change.
    contents: HashMap<Vec<u8>, Content>,
    bytes: usize,
}

enum Content {
    Text(Vec<u8>),
    /// No such file.
    None,
    /// No file, too large, or not to be read: it may always match.
    Open,
}

impl Changes {
    pub(super) fn add(&mut self, path: Vec<u8>) {
        self.forget(&path);
        self.changed.insert(path);
    }

    pub(super) fn len(&self) -> usize {
        self.changed.len() + self.updating.len()
    }

    /// Paths since the last update began.
    pub(super) fn new_len(&self) -> usize {
        self.changed.len()
    }

    pub(super) fn is_full(&self) -> bool {
        self.changed.len() > PATHS_MAX
    }

    /// Forgets what is known: all files will be compared.
    pub(super) fn clear(&mut self) {
        self.changed.clear();
        self.contents.clear();
        self.bytes = 0;
    }

    pub(super) fn begin_update(&mut self) -> HashSet<Vec<u8>> {
        let changed = mem::take(&mut self.changed);
        self.updating.extend(changed);
        self.updating.clone()
    }

    pub(super) fn end_update(&mut self) {
        for path in mem::take(&mut self.updating) {
            if !self.changed.contains(&path) {
                self.forget(&path);
            }
        }
    }

    /// Reads files that changed since they were read.
    pub(super) fn read(&mut self, root: &Path) {
        for path in self.changed.iter().chain(&self.updating) {
            if self.bytes >= TEXTS_BYTES_MAX {
                return;
            }
            if self.contents.contains_key(path) {
                continue;
            }
            let content = match text::searched(&absolute(root, path), TEXT_BYTES_MAX) {
                // Its mistakes are reported.
                _ if snapshot::is_ignore_file(path) => Content::Open,
                Ok(Some(text)) => Content::Text(text),
                Err(error) if error.kind() == ErrorKind::NotFound => Content::None,
                _ => Content::Open,
            };
            self.bytes += content.bytes();
            self.contents.insert(path.clone(), content);
        }
    }

    /// Paths that may always match.
    pub(super) fn open(&self) -> impl Iterator<Item = &Vec<u8>> {
        let paths = self.changed.iter().chain(&self.updating);
        paths.filter(|&path| matches!(self.contents.get(path), None | Some(Content::Open)))
    }

    /// Other paths, with what ripgrep searches of the file.
    pub(super) fn texts(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.contents
            .iter()
            .filter_map(|(path, content)| match content {
                Content::Text(text) => Some((&path[..], &text[..])),
                Content::None | Content::Open => None,
            })
    }

    fn forget(&mut self, path: &[u8]) {
        if let Some(content) = self.contents.remove(path) {
            self.bytes -= content.bytes();
        }
    }
}

impl Content {
    fn bytes(&self) -> usize {
        match self {
            Content::Text(text) => text.len(),
            Content::None | Content::Open => 0,
        }
    }
}
