//! Finds documents with copies after all streams have ended, and marks the matches of folded ones.
//!
//! A bitmap over hashes of the texts rules out most documents in two passes;
//! only the rest is sorted.
//!
//! **Invariant:** the result depends only on the documents and their matches, not on streams,
//! shards or arrival order. Memory does not grow with matches or documents.

use crate::execution::memory::Share;
use crate::execution::sorter::PointerSorter;
use rayon::prelude::*;
use results::folded::{FoldedWriter, MATCHES_A_RECORD};
use results::order::{CopyGroup, DocumentPointer, FrameEntry, Pointer};
use results::spool::{PointerReader, PointerWriter, ResultFiles, SpoolError, len_of_pointers};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// Bitmap bits per document, so that one of sixteen is taken for a copy.
const BITS_A_DOCUMENT: u64 = 16;

/// Bits of each of the two bitmaps: 8 MiB. Past four million documents, more documents without
/// copies are sorted.
const BITS_MAX: u64 = 1 << 26;

/// Folded frames in memory: 9 MiB. With more, matches are read several times.
const FOLDED_LEN_MAX: u64 = 1 << 19;

/// Frames of a text's best document and its ties: 4 MiB. Others are not folded, nor their copies
/// counted.
const BEST_LEN_MAX: usize = 128 << 10;

/// Matches marked before their bits are written: 2 MiB of bits.
const WINDOW_LEN: u64 = 4096 * MATCHES_A_RECORD as u64;

/// Matches read at a time: 2 MiB of pointers.
const READ_LEN: u64 = 16 * MATCHES_A_RECORD as u64;

/// Finds copies and marks their matches in the written order of `pointers` matches. Returns the
/// number of matches that are not folded.
pub(crate) fn fold(
    logs: &[&PointerSorter],
    spool: &ResultFiles,
    pointers: u64,
) -> Result<u64, SpoolError> {
    let Some(share) = logs.first().map(|log| &log.share) else {
        return Ok(pointers);
    };
    let mut candidates = candidates(logs, share, spool)?;
    if candidates.len() > 0 {
        let frames = group(&candidates, share, spool);
        candidates.clear(spool);
        frames?;
    }
    if spool.copy_frames.is_empty() {
        return Ok(pointers);
    }
    mark(spool, pointers, FOLDED_LEN_MAX)
}

fn candidates(
    logs: &[&PointerSorter],
    share: &Arc<Share>,
    spool: &ResultFiles,
) -> Result<PointerSorter, SpoolError> {
    let mut sorter = PointerSorter::new("texts".to_owned(), Arc::clone(share));
    let documents: u64 = logs.iter().map(|log| log.len()).sum();
    if documents < 2 {
        return Ok(sorter);
    }
    let mut seen = Seen::new(documents);
    for log in logs {
        log.scan(|pointer| {
            let document = DocumentPointer(pointer);
            if document.is_first() {
                seen.add(&document);
            }
            Ok(())
        })?;
    }
    if !seen.any_twice {
        return Ok(sorter);
    }
    for log in logs {
        log.scan(|pointer| {
            if seen.is_twice(&DocumentPointer(pointer)) {
                push(&mut sorter, pointer, spool)?;
            }
            Ok(())
        })?;
    }
    sorter.seal();
    Ok(sorter)
}

fn push(
    sorter: &mut PointerSorter,
    pointer: Pointer,
    spool: &ResultFiles,
) -> Result<(), SpoolError> {
    sorter.push(pointer);
    if sorter.is_full {
        sorter.spill(spool)?;
    }
    Ok(())
}

/// Bits by text group: seen once, seen twice.
struct Seen {
    once: Vec<u64>,
    twice: Vec<u64>,
    any_twice: bool,
    mask: u64,
}

impl Seen {
    fn new(documents: u64) -> Seen {
        let bits = documents.saturating_mul(BITS_A_DOCUMENT).min(BITS_MAX);
        let bits = bits.next_power_of_two().max(64);
        Seen {
            once: vec![0; bits as usize / 64],
            twice: vec![0; bits as usize / 64],
            any_twice: false,
            mask: bits - 1,
        }
    }

    fn place(&self, document: &DocumentPointer) -> (usize, u64) {
        let bit = document.scattered() & self.mask;
        ((bit / 64) as usize, 1 << (bit % 64))
    }

    fn add(&mut self, document: &DocumentPointer) {
        let (word, bit) = self.place(document);
        if self.once[word] & bit != 0 {
            self.twice[word] |= bit;
            self.any_twice = true;
        }
        self.once[word] |= bit;
    }

    fn is_twice(&self, document: &DocumentPointer) -> bool {
        let (word, bit) = self.place(document);
        self.twice[word] & bit != 0
    }
}

fn group(
    candidates: &PointerSorter,
    share: &Arc<Share>,
    spool: &ResultFiles,
) -> Result<(), SpoolError> {
    let mut groups = Groups {
        spool,
        documents: PointerWriter::new(spool, &spool.copies),
        groups: PointerWriter::new(spool, &spool.copy_groups),
        start: 0,
        frames: PointerSorter::new("frames".to_owned(), Arc::clone(share)),
        best: Vec::new(),
        has_copies: false,
    };
    candidates.read(|pointer| groups.push(DocumentPointer(pointer)))?;
    groups.end()?;
    let Groups {
        documents,
        groups,
        mut frames,
        ..
    } = groups;
    documents.finish()?;
    groups.finish()?;
    frames.seal();
    let mut sorted = PointerWriter::new(spool, &spool.copy_frames);
    frames.read(|entry| sorted.push(&entry))?;
    frames.clear(spool);
    sorted.finish().map(drop)
}

struct Groups<'a> {
    spool: &'a ResultFiles,
    documents: PointerWriter<'a>,
    groups: PointerWriter<'a>,
    start: u64,
    frames: PointerSorter,
    best: Vec<DocumentPointer>,
    has_copies: bool,
}

impl Groups<'_> {
    fn push(&mut self, document: DocumentPointer) -> Result<(), SpoolError> {
        let first = self.best.first().copied();
        match first {
            Some(first) if first.group() != document.group() => self.end()?,
            Some(first) if first.order() != document.order() => return self.fold(document),
            _ => {}
        }
        if self.best.len() < BEST_LEN_MAX {
            self.best.push(document);
        }
        Ok(())
    }

    fn fold(&mut self, document: DocumentPointer) -> Result<(), SpoolError> {
        if !self.has_copies {
            self.has_copies = true;
            for best in std::mem::take(&mut self.best) {
                self.write(best, false)?;
                if self.best.is_empty() {
                    self.best.push(best);
                }
            }
        }
        self.write(document, true)
    }

    fn write(&mut self, document: DocumentPointer, is_folded: bool) -> Result<(), SpoolError> {
        if document.is_first() {
            self.documents.push(&document.0)?;
        }
        let entry = FrameEntry::new(document.frame(), self.groups.len, is_folded);
        push(&mut self.frames, entry.0, self.spool)
    }

    fn end(&mut self) -> Result<(), SpoolError> {
        self.best.clear();
        if std::mem::take(&mut self.has_copies) {
            let group = CopyGroup {
                start: self.start,
                documents: self.documents.len - self.start,
            };
            self.start = self.documents.len;
            self.groups.push(&group.entry())?;
        }
        Ok(())
    }
}

/// Marks folded matches, with at most `folded_max` frames in memory. Returns the number not folded.
fn mark(spool: &ResultFiles, pointers: u64, folded_max: u64) -> Result<u64, SpoolError> {
    let frames = len_of_pointers(&spool.copy_frames);
    let slices = frames.div_ceil(folded_max);
    let mut folded = FxHashSet::default();
    let mut writer = FoldedWriter::new(spool);
    for start in (0..pointers).step_by(WINDOW_LEN as usize) {
        let end = pointers.min(start + WINDOW_LEN);
        let mut bits = vec![0; (end - start).div_ceil(64) as usize];
        for slice in 0..slices {
            if slices > 1 || start == 0 {
                let range = slice * folded_max..frames.min((slice + 1) * folded_max);
                load(spool, range, &mut folded)?;
            }
            for at in (start..end).step_by(READ_LEN as usize) {
                let read = spool.order.read(at..end.min(at + READ_LEN))?;
                let bits = &mut bits[(at - start) as usize / 64..];
                set(&folded, &read, bits);
            }
        }
        writer.push(&bits, (end - start) as usize)?;
    }
    Ok(writer.unfolded)
}

fn load(
    spool: &ResultFiles,
    range: std::ops::Range<u64>,
    folded: &mut FxHashSet<u64>,
) -> Result<(), SpoolError> {
    folded.clear();
    let mut reader = PointerReader::new(&spool.copy_frames, range);
    while let Some(entry) = reader.advance()? {
        let entry = FrameEntry(entry);
        if entry.is_folded() {
            folded.insert(entry.packed_frame());
        }
    }
    Ok(())
}

fn set(folded: &FxHashSet<u64>, pointers: &[Pointer], bits: &mut [u64]) {
    let chunks = pointers.par_chunks(MATCHES_A_RECORD);
    let bits = bits.par_chunks_mut(MATCHES_A_RECORD / 64);
    chunks.zip(bits).for_each(|(pointers, bits)| {
        for (pointers, word) in pointers.chunks(64).zip(bits) {
            for (bit, pointer) in pointers.iter().enumerate() {
                let is_folded = folded.contains(&pointer.packed_frame());
                *word |= u64::from(is_folded) << bit;
            }
        }
    });
}

#[cfg(test)]
mod tests;
