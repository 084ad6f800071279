//! Record beside an index: the states of its files when they were read.
//!
//! ```text
//! record:  magic (8 bytes), BLAKE3 of the manifest, begin of the update in ns (i128),
//!          bytes of the root (u32), root, fingerprints of files (16 bytes each), ascending
//! ```
//!
//! Numbers are little-endian. A fingerprint is of path, size, times and inode.
//! **Invariant:** a listed file that did not change since [`TICK_NS`] before the update has its
//! text in the index of this manifest.

use super::snapshot::Snapshot;
use crate::fields;
use anyhow::{Context, Result};
use index::corpus::{self, Source};
use index::plan::DocumentQuery;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 8] = b"trawltr1";

/// Times of files move in ticks, and clocks differ a little.
pub(super) const TICK_NS: i128 = 2_000_000_000;

/// Longer paths have no record.
const ROOT_BYTES_MAX: usize = 4096;

type Fingerprint = [u8; 16];

/// Files of a tree, listed before an update reads them.
pub(super) struct Listing {
    root: PathBuf,
    began_ns: i128,
    files: Vec<corpus::File>,
}

#[derive(Debug)]
pub(super) struct Record {
    manifest: [u8; 32],
    pub(super) began_ns: i128,
    root: Vec<u8>,
    files: Vec<u8>,
}

impl Listing {
    pub(super) fn new(source: &Source, began_ns: i128) -> Result<Listing> {
        Ok(Listing {
            root: source.directory.clone(),
            began_ns,
            files: corpus::walk(source, true, 1)?.files,
        })
    }

    /// Writes the record of an index that was updated after the listing.
    pub(super) fn write(&self, index: &Path, to: &Path) -> Result<()> {
        let snapshot = Snapshot::open(index)?;
        let exceptions = snapshot.exceptions(&self.root)?;
        let mut open = exceptions.open;
        open.extend(fields::pairs(&exceptions.texts.0).map(|(path, _)| path.to_vec()));
        let mut known = HashSet::new();
        snapshot.each_candidate(&DocumentQuery::ALL, |path| {
            if !open.contains(path) {
                known.insert(path.to_vec());
            }
            true
        })?;
        let files = self.files.iter().filter(|file| known.contains(&file.path));
        let mut fingerprints: Vec<Fingerprint> = files
            .map(|file| {
                let times = [file.modified_ns, file.changed_ns];
                fingerprint(&file.path, file.bytes, times, file.inode)
            })
            .collect();
        fingerprints.sort_unstable();
        let root = self.root.as_os_str().as_bytes();
        let bytes = [
            MAGIC,
            &snapshot.hash()[..],
            &self.began_ns.to_le_bytes(),
            &(root.len() as u32).to_le_bytes(),
            root,
            fingerprints.as_flattened(),
        ]
        .concat();
        let aside = to.with_extension("new");
        fs::write(&aside, bytes).and_then(|()| fs::rename(&aside, to))?;
        Ok(())
    }
}

impl Record {
    pub(super) fn read(path: &Path) -> Result<Record> {
        let mut file = File::open(path)?;
        let mut record = Record::read_head(&mut file)?;
        file.read_to_end(&mut record.files)?;
        Ok(record)
    }

    pub(super) fn read_head(file: &mut File) -> Result<Record> {
        let magic: [u8; 8] = take(file)?;
        let manifest = take(file)?;
        let began_ns = i128::from_le_bytes(take(file)?);
        let root_bytes = u32::from_le_bytes(take(file)?) as usize;
        anyhow::ensure!(magic == *MAGIC && root_bytes <= ROOT_BYTES_MAX);
        let mut root = vec![0; root_bytes];
        file.read_exact(&mut root)?;
        Ok(Record {
            manifest,
            began_ns,
            root,
            files: Vec::new(),
        })
    }

    pub(super) fn root(&self) -> PathBuf {
        OsStr::from_bytes(&self.root).into()
    }

    pub(super) fn is_of(&self, root: &Path, snapshot: &Snapshot) -> bool {
        self.root == root.as_os_str().as_bytes() && self.manifest == snapshot.hash()
    }

    /// Tests if the index has the text of a file in this state.
    pub(super) fn has(&self, path: &[u8], found: &Metadata) -> bool {
        let modified_ns = nanoseconds(found.mtime(), found.mtime_nsec());
        let changed_ns = nanoseconds(found.ctime(), found.ctime_nsec());
        let from_ns = self.began_ns - TICK_NS;
        if modified_ns.max(changed_ns) >= from_ns {
            return false;
        }
        let times = [modified_ns, changed_ns];
        let wanted = fingerprint(path, found.len(), times, found.ino());
        let (files, _) = self.files.as_chunks();
        files.binary_search(&wanted).is_ok()
    }
}

fn fingerprint(path: &[u8], bytes: u64, times: [i128; 2], inode: u64) -> Fingerprint {
    let mut hasher = blake3::Hasher::new();
    hasher.update(path);
    hasher.update(&bytes.to_le_bytes());
    for time in times {
        hasher.update(&time.to_le_bytes());
    }
    hasher.update(&inode.to_le_bytes());
    let mut fingerprint = Fingerprint::default();
    hasher.finalize_xof().fill(&mut fingerprint);
    fingerprint
}

fn nanoseconds(seconds: i64, nanoseconds: i64) -> i128 {
    i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds)
}

fn take<const N: usize>(file: &mut File) -> Result<[u8; N]> {
    let mut bytes = [0; N];
    file.read_exact(&mut bytes)
        .context("a record that is cut")?;
    Ok(bytes)
}
