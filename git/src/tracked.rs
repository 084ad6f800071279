//! Files that git tracks in a work tree, from its index file.
//!
//! Keeps 24 bytes and the path per file. Split indexes (`core.splitIndex`) are joined; a sparse one
//! may name a directory in place of its files.
//!
//! Bytes of an index, as in gitformat-index(5); versions 2 to 4:
//!
//! ```text
//! DIRC  version  number of entries           4 bytes each, big-endian
//! entry: 24 bytes of times and numbers, mode (4), 12 bytes more, hash, flags (2, or 4 with bit 14 from version 3 on),
//!        path, NUL, and NULs up to a multiple of 8; in version 4: how many bytes of the path before are dropped, the
//!        rest of the path, NUL
//! extension: name (4), length (4), bytes. `sdir`: there are directories; `link`: the other part is in another file
//! hash of all that, or zeros
//! ```
//!
//! The length of a hash is that of the last one, verified before all else.
//! **Invariant:** any bytes give an error or a list of paths, in bounded memory.

use gix::hash::{Kind as HashKind, ObjectId, hasher};
use std::fs;
use std::io::Read;
use std::ops::Range;
use std::path::Path;

/// Bytes of an index. A million files have about 100 MB.
const INDEX_BYTES_MAX: u64 = 512 << 20;

/// Tracked files of a work tree, relative to its root.
#[derive(Debug)]
pub struct TrackedFiles(ParsedIndex);

impl TrackedFiles {
    /// Reads an index.
    /// Fails if it is missing, damaged or too large; in words.
    pub fn read(index: &Path) -> Result<TrackedFiles, String> {
        let (mut parsed, split) = ParsedIndex::parse(&bytes(index)?).map_err(damaged)?;
        if let Some(Split { shared, deleted }) = split {
            let path = index.with_file_name(format!("sharedindex.{shared}"));
            let name = |reason| format!("{}: {reason}", path.display());
            let (shared, split) = bytes(&path)
                .and_then(|bytes| ParsedIndex::parse(&bytes).map_err(damaged))
                .map_err(name)?;
            if split.is_some() {
                return Err(name(damaged("it has a shared part, too")));
            }
            parsed.join(&shared, &deleted);
        }
        Ok(TrackedFiles(parsed))
    }

    /// True for a tracked file, or a possible one in a directory left out of a sparse checkout.
    pub fn has_file(&self, path: &[u8]) -> bool {
        self.0.kind(path) == Some(TrackedKind::File) || self.is_left_out(path)
    }

    /// True for a submodule, or a directory with tracked files.
    pub fn has_below(&self, directory: &[u8]) -> bool {
        self.0.has_prefix(&[directory, b"/"].concat())
            || self.0.kind(directory) == Some(TrackedKind::Submodule)
            || self.is_left_out(directory)
    }

    fn is_left_out(&self, path: &[u8]) -> bool {
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        let mut above = slashes.map(|(at, _)| &path[..=at]);
        self.0.is_sparse && above.any(|above| self.0.kind(above) == Some(TrackedKind::Directory))
    }
}

fn damaged(reason: &str) -> String {
    format!("damaged: {reason}")
}

/// Reads a regular file: opening a pipe would block.
fn bytes(path: &Path) -> Result<Vec<u8>, String> {
    let words = |error: std::io::Error| error.to_string();
    if !fs::metadata(path).map_err(words)?.is_file() {
        return Err("not a regular file".to_owned());
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(words)?;
    let read = file.take(INDEX_BYTES_MAX + 1).read_to_end(&mut bytes);
    if read.map_err(words)? as u64 > INDEX_BYTES_MAX {
        return Err("larger than INDEX_BYTES_MAX".to_owned());
    }
    Ok(bytes)
}

/// Bytes of all paths. A million files have about 60 MB, but version 4 could inflate few bytes.
const PATHS_BYTES_MAX: usize = 512 << 20;

/// git rewrites both parts at a fifth of differing entries.
const DELETED_MAX: usize = 4_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TrackedKind {
    /// Or a symbolic link.
    File,
    Submodule,
    /// All files below, in a sparse index. The path ends with a slash.
    Directory,
}

#[derive(Debug, Default)]
struct ParsedIndex {
    paths: Vec<u8>,
    entries: Vec<(usize, usize, TrackedKind)>,
    is_sparse: bool,
}

#[derive(Debug)]
struct Split {
    /// Hash in its name.
    shared: ObjectId,
    deleted: Vec<Range<u64>>,
}

type Parsed = (ParsedIndex, Option<Split>);

impl ParsedIndex {
    fn parse(bytes: &[u8]) -> Result<Parsed, &'static str> {
        let kinds = [HashKind::Sha1, HashKind::Sha256];
        let sums = kinds.into_iter().filter(|kind| has_sum(bytes, *kind));
        let mut sums = sums.peekable();
        sums.peek().ok_or("its checksum differs")?;
        // Zeros fit either kind.
        sums.find_map(|kind| parse_with(bytes, kind))
            .ok_or("its entries cannot be read")
    }

    /// Adds entries of a shared part, except deleted ones.
    fn join(&mut self, shared: &ParsedIndex, deleted: &[Range<u64>]) {
        let mut deleted = deleted.iter().peekable();
        for (number, &(start, end, kind)) in (0..).zip(&shared.entries) {
            while deleted.next_if(|range| range.end <= number).is_some() {}
            if deleted.peek().is_none_or(|range| number < range.start) {
                let at = self.paths.len();
                self.paths.extend_from_slice(&shared.paths[start..end]);
                self.entries.push((at, self.paths.len(), kind));
            }
        }
        self.is_sparse |= shared.is_sparse;
        self.sort();
    }

    fn kind(&self, path: &[u8]) -> Option<TrackedKind> {
        let &(start, end, kind) = self.entries.get(self.place(path))?;
        (self.paths[start..end] == *path).then_some(kind)
    }

    fn has_prefix(&self, prefix: &[u8]) -> bool {
        let first = self.entries.get(self.place(prefix));
        first.is_some_and(|&(start, end, _)| self.paths[start..end].starts_with(prefix))
    }

    fn place(&self, path: &[u8]) -> usize {
        let is_before =
            |&(start, end, _): &(usize, usize, TrackedKind)| self.paths[start..end] < *path;
        self.entries.partition_point(is_before)
    }

    fn sort(&mut self) {
        let paths = &self.paths;
        self.entries
            .sort_by(|a, b| paths[a.0..a.1].cmp(&paths[b.0..b.1]));
    }

    /// The last path without its `dropped` bytes, and `rest`.
    fn push(&mut self, dropped: Option<usize>, rest: &[u8], kind: TrackedKind) -> Option<()> {
        let start = self.paths.len();
        if let (Some(dropped), Some(&(before, end, _))) = (dropped, self.entries.last()) {
            let kept = before..end.checked_sub(dropped).filter(|end| *end >= before)?;
            self.paths.extend_from_within(kept);
        }
        self.paths.extend_from_slice(rest);
        self.entries.push((start, self.paths.len(), kind));
        (self.paths.len() <= PATHS_BYTES_MAX).then_some(())
    }
}

/// Zeros are valid (`index.skipHash`).
fn has_sum(bytes: &[u8], kind: HashKind) -> bool {
    let Some((content, sum)) = split_sum(bytes, kind) else {
        return false;
    };
    let mut hasher = hasher(kind);
    hasher.update(content);
    sum.iter().all(|byte| *byte == 0)
        || hasher
            .try_finalize()
            .is_ok_and(|found| found.as_bytes() == sum)
}

fn split_sum(bytes: &[u8], kind: HashKind) -> Option<(&[u8], &[u8])> {
    bytes.split_at_checked(bytes.len().checked_sub(kind.len_in_bytes())?)
}

fn parse_with(bytes: &[u8], kind: HashKind) -> Option<Parsed> {
    let (content, _) = split_sum(bytes, kind)?;
    let mut rest = Cursor(content);
    (rest.take(4)? == b"DIRC").then_some(())?;
    let (version, entries) = (rest.number()?, rest.number()?);
    (2..=4).contains(&version).then_some(())?;
    let mut index = ParsedIndex::default();
    for _ in 0..entries {
        entry(&mut rest, &mut index, version, kind)?;
    }
    let mut split = None;
    while !rest.0.is_empty() {
        let (name, length) = (rest.take(4)?, rest.number()?);
        let bytes = rest.take(length as usize)?;
        match name {
            b"sdir" => index.is_sparse = true,
            b"link" => split = Some(link(Cursor(bytes), kind)?),
            // Lower-case names are mandatory for readers.
            _ => (!name[0].is_ascii_lowercase()).then_some(())?,
        }
    }
    if split.is_some() {
        // Entries without a path replace those of the other part, which has the path.
        index.entries.retain(|(start, end, _)| start < end);
    }
    index.sort();
    Some((index, split))
}

fn entry(
    rest: &mut Cursor<'_>,
    index: &mut ParsedIndex,
    version: u32,
    hash: HashKind,
) -> Option<()> {
    let before = rest.0.len();
    rest.take(24)?;
    let kind = match rest.number()? & 0o170_000 {
        0o160_000 => TrackedKind::Submodule,
        0o040_000 => TrackedKind::Directory,
        _ => TrackedKind::File,
    };
    rest.take(12 + hash.len_in_bytes())?;
    let flags = rest.take(2)?;
    if version >= 3 && flags[0] & 0x40 != 0 {
        rest.take(2)?;
    }
    let dropped = if version == 4 {
        Some(rest.varint()?)
    } else {
        None
    };
    let path = rest.take(rest.0.iter().position(|byte| *byte == 0)?)?;
    if version == 4 {
        rest.take(1)?;
    } else {
        let length = before - rest.0.len();
        rest.take(8 - length % 8)?;
    }
    index.push(dropped, path, kind)
}

/// Parses the link to the other part. Bitmaps mark deleted and replaced entries.
fn link(mut rest: Cursor<'_>, kind: HashKind) -> Option<Split> {
    let shared = ObjectId::try_from(rest.take(kind.len_in_bytes())?).ok()?;
    let deleted = if rest.0.is_empty() {
        Vec::new()
    } else {
        bitmap(&mut rest)?
    };
    Some(Split { shared, deleted })
}

/// Parses a compressed bitmap (EWAH): runs, each followed by literal words. Returns the set bits.
fn bitmap(rest: &mut Cursor<'_>) -> Option<Vec<Range<u64>>> {
    let _bits = rest.number()?;
    let length = (rest.number()? as usize).checked_mul(8)?;
    let mut words = Cursor(rest.take(length)?);
    let _last_run = rest.number()?;
    let (mut set, mut at) = (Vec::new(), 0_u64);
    while !words.0.is_empty() {
        let run = words.word()?;
        let end = at.checked_add(64 * ((run >> 1) & 0xffff_ffff))?;
        set.extend((run & 1 == 1).then_some(at..end));
        at = end;
        for _ in 0..run >> 33 {
            let word = words.word()?;
            let bits = (0..64).filter(|bit| (word >> bit) & 1 == 1);
            let next = at.checked_add(64)?;
            set.extend(bits.map(|bit| at + bit..at + bit + 1));
            at = next;
            (set.len() <= DELETED_MAX).then_some(())?;
        }
    }
    Some(set)
}

struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    fn word(&mut self) -> Option<u64> {
        Some(u64::from_be_bytes(self.take(8)?.try_into().ok()?))
    }

    /// Seven bits a byte, highest first; each further byte adds one to the value before.
    fn varint(&mut self) -> Option<usize> {
        let mut value = 0_usize;
        loop {
            let byte = self.take(1)?[0];
            value = value.checked_add(usize::from(byte & 0x7f))?;
            if byte & 0x80 == 0 {
                return Some(value);
            }
            value = value.checked_add(1)?.checked_mul(128)?;
        }
    }
}

#[cfg(test)]
mod tests;
