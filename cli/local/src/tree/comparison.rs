//! Files that can match, without the index process: each is compared with the record of the index.

use super::CANDIDATES_MAX;
use super::record::Record;
use super::snapshot::Snapshot;
use crate::condition::Condition;
use crate::place::{self, Place};
use anyhow::{Context, Result, ensure};
use std::collections::HashSet;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub(crate) struct Comparison {
    pub(crate) root: PathBuf,
    record: Record,
    candidates: HashSet<Vec<u8>>,
}

impl Comparison {
    /// Opens the index of the nearest tree around a directory.
    ///
    /// # Errors
    /// There is none, it is not this user's alone, or it is no faster than a scan.
    pub(crate) fn open(
        place: &Place,
        directory: &Path,
        condition: &Condition,
    ) -> Result<Comparison> {
        ensure!(
            place::is_private(&place.indexes),
            "others can write indexes"
        );
        ensure!(!condition.query.is_all(), "every file can match");
        let known = directory.ancestors().find_map(|root| {
            let of = place.directory_of(root);
            place::record_in(&of).exists().then_some((root, of))
        });
        let (root, of) = known.context("no index")?;
        let record = Record::read(&place::record_in(&of))?;
        let snapshot = Snapshot::open_with_superseded(&place::index_in(&of))?;
        ensure!(record.is_of(root, &snapshot), "another index");
        let mut candidates = HashSet::new();
        let is_complete = snapshot.each_candidate(&condition.query, |path| {
            candidates.insert(path.to_vec());
            candidates.len() <= CANDIDATES_MAX
        })?;
        ensure!(is_complete, "too many files can match");
        Ok(Comparison {
            root: root.to_owned(),
            record,
            candidates,
        })
    }

    /// Tests if a file can match: a path relative to the root.
    pub(crate) fn can_match(&self, path: &[u8], found: &Metadata) -> bool {
        self.candidates.contains(path) || !self.record.has(path, found)
    }
}
