//! Pointers and counts of one stream.
//!
//! Pointers are sorted as they arrive, in bounded memory. When the execution ends, `finalize`
//! merges those of all streams.
//!
//! **Invariant:** a pointer is counted or written only after its frame is written. Pointers to
//! frames that could not be written are dropped.

use crate::execution::memory::Share;
use crate::execution::sorter::PointerSorter;
use results::facets::{Facets, FacetsSoFar};
use results::order::{
    Continued, DocumentPointer, FrameAt, Origin, Pointer, StringPool, TextGroup, TextHash,
};
use results::spool::{ResultFiles, SpoolError};
use std::sync::Arc;

/// Remembered frames of a document: 512 KiB. A document with more is never folded.
const FRAMES_LEN_MAX: usize = 64 << 10;

#[derive(Debug)]
pub(crate) struct Collector {
    /// Pointers of matches. A receive buffer fills at most four chunks before the next
    /// [`spill_if_full`](Self::spill_if_full).
    pub(crate) sorter: PointerSorter,
    /// False: matches are only counted.
    pub(crate) is_ordered: bool,
    /// Matches without a pointer: only counted, or represented by another.
    pub(crate) uncollected: u64,
    /// Documents with matches, to find equal texts after all streams end. Unsorted, since most
    /// searches have no copies.
    pub(crate) log: PointerSorter,
    pub(crate) packages: StringPool,
    pub(crate) continued: Continued,
    pub(crate) facets: Facets,
    /// Matches by package id, including frames that could not be written.
    package_matches: Vec<u64>,
    pub(crate) matches: u64,
    pub(crate) documents: u64,
    /// Matches, or documents if the query asks for those, sent or not.
    pub(crate) found: u64,
}

impl Collector {
    pub(crate) fn new(stream: u16, share: Arc<Share>) -> Collector {
        let mut log = PointerSorter::new(format!("documents-{stream}"), Arc::clone(&share));
        log.sorts = false;
        Collector {
            sorter: PointerSorter::new(format!("run-{stream}"), share),
            log,
            is_ordered: true,
            uncollected: 0,
            packages: StringPool::default(),
            continued: Continued::default(),
            facets: Facets::default(),
            package_matches: Vec::new(),
            matches: 0,
            documents: 0,
            found: 0,
        }
    }

    pub(crate) fn count_package(&mut self, package: u32, matches: u64) {
        let package = package as usize;
        if self.package_matches.len() <= package {
            self.package_matches.resize(package + 1, 0);
        }
        self.package_matches[package] += matches;
    }

    pub(crate) fn facets_so_far(&self) -> FacetsSoFar {
        FacetsSoFar::of_stream(&self.facets, &self.package_matches, &self.packages)
    }

    pub(crate) fn len(&self) -> usize {
        self.sorter.in_memory + self.uncollected as usize
    }

    pub(crate) fn mark_written(&mut self) -> u64 {
        let all = self.sorter.len() + self.uncollected;
        let before = std::mem::replace(&mut self.matches, all);
        all - before
    }

    /// Drops pointers to frames at or after `offset`. No more may be added.
    pub(crate) fn drop_from(&mut self, offset: u64) {
        self.sorter.retain(|pointer| pointer.offset() < offset);
        let is_before = |pointer: &_| DocumentPointer(*pointer).frame().1 < offset;
        self.log.retain(is_before);
    }

    /// All frames so far must be written.
    pub(crate) fn spill_if_full(&mut self, spool: &ResultFiles) -> Result<(), SpoolError> {
        if !self.sorter.is_full && !self.log.is_full {
            return Ok(());
        }
        self.log.spill(spool)?;
        self.sorter.spill(spool)
    }
}

/// A document with matches still arriving, and the data that its copies share.
#[derive(Debug)]
pub(crate) struct BegunDocument {
    pub(crate) document: u32,
    pub(crate) first: u64,
    /// Hash of its text; `None` if it must not be folded.
    pub(crate) text: Option<TextHash>,
    path_hash: u64,
    lines: u64,
    /// Best score, encoded as in pointers.
    score: u16,
    frames: Vec<u64>,
}

impl BegunDocument {
    /// `text` is the hash of its text; empty to prevent folding.
    pub(crate) fn new(document: u32, origin: &Origin, text: &[u8]) -> BegunDocument {
        BegunDocument {
            document,
            first: origin.offset,
            text: text.first_chunk().copied(),
            path_hash: origin.hash,
            lines: 0,
            score: u16::MAX,
            frames: Vec::new(),
        }
    }

    pub(crate) fn continue_at(&mut self, offset: u64) {
        if self.frames.len() < FRAMES_LEN_MAX {
            self.frames.push(offset);
        } else {
            self.text = None;
        }
    }

    pub(crate) fn add(&mut self, pointer: &Pointer, line: u32) {
        self.score = self.score.min(pointer.score());
        self.lines =
            (self.lines.rotate_left(5) ^ u64::from(line)).wrapping_mul(0x517c_c1b7_2722_0a95);
        if line == 0 {
            // The name matches, which copies do not share.
            self.text = None;
        }
    }

    pub(crate) fn finish(self, stream: u16, collector: &mut Collector) {
        let Some(text) = self.text else {
            return;
        };
        let group = TextGroup::new(&text, self.lines);
        let mut push = |frame: FrameAt, is_first| {
            let document = DocumentPointer::new(group, self.score, self.path_hash, frame, is_first);
            collector.log.push(document.0);
        };
        push((stream, self.first), true);
        self.frames
            .iter()
            .for_each(|&offset| push((stream, offset), false));
    }
}

#[cfg(test)]
pub(crate) mod tests;
