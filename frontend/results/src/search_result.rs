//! Result of a finished search: ordered matches and completeness.
//!
//! Immutable. Matches and order are in the spool, so memory does not grow with them. A range reads
//! each frame once.

use super::documents::{DocumentGroup, DocumentList};
use super::matches::{Copies, Document, MATCH_BYTES, Match};
use super::outcome::{CorpusSize, Counts, Explain, Missing, Outcome, Skipped};
use super::packages::{self, PackageGroup};
use super::{copies, folded};
use crate::order::{self, FrameAt, Pointer, unpack_frame};
use crate::spool::{OpenFile, ResultFiles, SpoolError};
use query::Query;
use rustc_hash::FxHashMap;
use schema::frame;
use schema::message::{SpoolFacets, Want};
use std::collections::BinaryHeap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use zerocopy::IntoBytes;

/// Approximate memory of a chunk when all matches are read.
const CHUNK_BYTES: usize = 64 << 20;

/// Bytes rendered without a thread, in under a millisecond.
const SMALL_BYTES: u64 = 64 << 10;

/// 2 MiB.
const POINTERS_AT_ONCE: usize = 64 << 10;

const CHUNK_LEN_MIN: usize = 1000;

#[derive(Debug)]
pub struct SearchResult {
    /// Identity of query, generation and scope.
    pub identity: String,
    /// Id of the set of shards.
    pub generation: String,
    pub query: Query,
    /// Hash of the clients' scope, as [`Scope::hash`](query::Scope::hash).
    pub scope: [u8; 16],
    pub outcome: Outcome,
    /// Size of the corpus when the query began.
    pub known: CorpusSize,
    /// Lengths of the lists in the spool.
    pub counts: Counts,
    pub documents: u64,
    /// Matches or documents as reported by backends.
    pub found: u64,
    pub spool: Arc<ResultFiles>,
    /// Reading failed once.
    pub damaged: AtomicBool,
}

/// Matches of one document, ascending by line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ByLine {
    pub positions: Vec<u64>,
    /// Number of matches in earlier lines.
    pub before: u64,
}

impl SearchResult {
    /// Identity of query, generation and scope.
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// Id of the set of shards.
    pub fn generation(&self) -> &str {
        &self.generation
    }

    pub fn query(&self) -> &Query {
        &self.query
    }

    /// Number of matches, or of documents if wanted, sent or not. Exact if complete and
    /// [counted](Self::is_counted); otherwise as reported, at least those that arrived.
    pub fn found(&self) -> u64 {
        if self.is_counted() {
            self.found.max(self.counts.pointers)
        } else {
            // Backends stop at different points.
            self.query.limit
        }
    }

    /// True if [`found`](Self::found) counts all matches, not a minimum.
    pub fn is_counted(&self) -> bool {
        !self.query.uncounted || self.found.max(self.counts.pointers) < self.query.limit
    }

    /// Number of readable matches that arrived, up to the limit; 0 for a count. Results [as
    /// text](Query::with_text) count runs of lines.
    pub fn len(&self) -> usize {
        self.counts.pointers as usize
    }

    /// Number of matches outside copies; `None` if unknown: with a limit, or
    /// if no matches were sent.
    pub fn unique(&self) -> Option<usize> {
        let is_known =
            self.query.limit == 0 && matches!(self.query.want, Want::Matches | Want::Documents);
        is_known.then_some(self.counts.unique as usize)
    }

    /// Positions in the order of a range of the [`unique`](Self::unique) matches. Of documents with
    /// equal text, the one with the best match counts. Blocks on the disk.
    ///
    /// # Panics
    /// If the range is not within `0..unique()`.
    pub fn unique_positions(&self, range: Range<usize>) -> Result<Vec<u64>, SpoolError> {
        let (counts, range) = (self.counts, range.start as u64..range.end as u64);
        assert!(range.end <= counts.unique, "unique {range:?}");
        let folded = &self.spool.folded;
        self.checked(folded::positions(folded, counts.pointers, range))
    }

    /// Number of copies of each match's document. Blocks on the disk.
    pub fn copies(&self, positions: &[u64]) -> Result<Vec<u64>, SpoolError> {
        if self.spool.copy_frames.is_empty() {
            return Ok(vec![0; positions.len()]);
        }
        let pointers = self.pointers_at(positions)?;
        let mut copies = Vec::with_capacity(pointers.len());
        for run in pointers.chunk_by(|a, b| a.frame() == b.frame()) {
            let group = copies::group_of(&self.spool, run[0].frame());
            let count = self.checked(group)?.map_or(0, |group| group.documents - 1);
            copies.resize(copies.len() + run.len(), count);
        }
        Ok(copies)
    }

    /// Reads a range of the documents with the text and matching lines of the match at `position`,
    /// itself included, best first; and their total. Blocks on the disk.
    pub fn documents_with_text(
        &self,
        position: u64,
        range: Range<u64>,
    ) -> Result<(Vec<Document>, u64), SpoolError> {
        let pointers = self.pointers_at(&[position])?;
        let frame = pointers[0].frame();
        let group = self.checked(copies::group_of(&self.spool, frame))?;
        let (frames, count) = match group {
            None => (vec![frame], 1),
            Some(group) => {
                let range = range.start.min(group.documents)..range.end.min(group.documents);
                let frames = copies::frames_of(&self.spool, group, range);
                (self.checked(frames)?, group.documents)
            }
        };
        let mut reader = self.spool.reader();
        let document = |frame| reader.batch(frame, |batch| Some(Document::of(batch)));
        let documents = frames.into_iter().map(document).collect();
        Ok((self.checked(documents)?, count))
    }

    /// True if there is no match to read.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn documents(&self) -> u64 {
        if self.query.uncounted {
            // Backends count the documents they looked at.
            let listed = DocumentList::open(&self.spool.packages);
            return listed.ok().flatten().map_or(0, |list| list.count() as u64);
        }
        self.documents
    }

    /// Packages with a match to read.
    pub fn packages(&self) -> usize {
        self.counts.packages as usize
    }

    /// True if every shard was searched to its end.
    pub fn is_complete(&self) -> bool {
        self.outcome.is_complete()
    }

    /// True if all backends were lost and nothing was found.
    pub fn is_unavailable(&self) -> bool {
        self.outcome.is_unavailable && self.found() == 0
    }

    pub fn was_stopped(&self) -> bool {
        self.outcome.was_stopped && !self.is_complete()
    }

    pub fn missing(&self) -> &[Missing] {
        &self.outcome.missing
    }

    pub fn skipped(&self) -> &Skipped {
        &self.outcome.skipped
    }

    pub fn explain(&self) -> &Explain {
        &self.outcome.explain
    }

    /// Reads a range of the order. Blocks on the disk. Each frame is read once, so
    /// large ranges are cheaper.
    ///
    /// # Panics
    /// If the range is not within `0..len()`.
    pub fn matches(&self, range: Range<usize>) -> Result<Vec<Match>, SpoolError> {
        self.read(&self.pointers(range)?)
    }

    fn read(&self, pointers: &[Pointer]) -> Result<Vec<Match>, SpoolError> {
        let context_lines = self.query.context_lines;
        self.checked(read(&self.spool, pointers, context_lines))
    }

    /// Marks the result as damaged on an error, so it is not shared.
    pub(super) fn checked<T>(&self, result: Result<T, SpoolError>) -> Result<T, SpoolError> {
        if result.is_err() {
            self.damaged.store(true, Relaxed);
        }
        result
    }

    /// True if it is small and in memory, so that reading does not block.
    pub fn is_in_memory(&self) -> bool {
        let (on_disk, in_memory) = self.spool.held_bytes();
        on_disk == 0 && in_memory <= SMALL_BYTES
    }

    /// True if reading failed once.
    pub fn is_damaged(&self) -> bool {
        self.damaged.load(Relaxed)
    }

    /// Range length for [`matches`](Self::matches) to read all. Larger ranges
    /// read each frame less often.
    pub fn chunk_len(&self) -> usize {
        let spooled = self.spool.frame_bytes() as usize / self.len().max(1);
        (CHUNK_BYTES / (MATCH_BYTES + spooled)).max(CHUNK_LEN_MIN)
    }

    /// At most `most` first matches, with copies.
    pub fn matches_of(
        &self,
        package: &PackageGroup,
        most: usize,
    ) -> Result<Vec<Match>, SpoolError> {
        self.matches_with_copies(&package.first[..package.first.len().min(most)])
    }

    /// Length of [`document_list`](Self::document_list), at most
    /// [`DOCUMENTS_MAX`](super::DOCUMENTS_MAX).
    pub fn documents_listed(&self) -> Result<usize, SpoolError> {
        self.listed(|list| Ok(list.count()))
    }

    /// Length of [`unique_documents`](Self::unique_documents).
    pub fn unique_documents_listed(&self) -> Result<usize, SpoolError> {
        self.listed(|list| Ok(list.count_unfolded()))
    }

    /// Reads a range of the listed documents that are no copies, by best match.
    pub fn unique_documents(&self, range: Range<usize>) -> Result<Vec<DocumentGroup>, SpoolError> {
        self.listed(|list| list.read_unfolded(range))
    }

    pub fn document_list(&self, range: Range<usize>) -> Result<Vec<DocumentGroup>, SpoolError> {
        self.listed(|list| list.read(range))
    }

    /// Default if ordering failed: nothing is listed.
    fn listed<T: Default>(
        &self,
        read: impl FnOnce(&mut DocumentList<'_>) -> Result<T, SpoolError>,
    ) -> Result<T, SpoolError> {
        let list = self.checked(DocumentList::open(&self.spool.packages))?;
        list.map_or_else(
            || Ok(T::default()),
            |mut list| self.checked(read(&mut list)),
        )
    }

    /// Finds at most `most` matches from line `first` on, in a result with one
    /// document. Reads the whole order.
    pub fn by_line(&self, first: u32, most: usize) -> Result<ByLine, SpoolError> {
        // Max-heap of the lowest lines.
        let mut lowest = BinaryHeap::with_capacity(most + 1);
        let mut before = 0;
        for start in (0..self.len()).step_by(POINTERS_AT_ONCE) {
            let end = self.len().min(start + POINTERS_AT_ONCE);
            let pointers = self.pointers(start..end)?;
            for (position, pointer) in (start as u64..).zip(pointers) {
                if pointer.line() < first {
                    before += 1;
                    continue;
                }
                lowest.push((pointer.line(), position));
                if lowest.len() > most {
                    lowest.pop();
                }
            }
        }
        let ascending = lowest.into_sorted_vec().into_iter();
        Ok(ByLine {
            positions: ascending.map(|(_, position)| position).collect(),
            before,
        })
    }

    /// Reads the best `most` matches of listed documents, each document's by line. Costs a pass
    /// over the order, from the first match to the last.
    pub fn matches_of_documents(
        &self,
        documents: &[DocumentGroup],
        most: usize,
    ) -> Result<Vec<Vec<Match>>, SpoolError> {
        let mut firsts: Vec<_> = documents.iter().map(|it| it.first[0]).zip(0..).collect();
        firsts.sort_unstable();
        let before = firsts.first().map_or(self.len(), |first| first.0 as usize);
        let mut firsts = firsts.into_iter().peekable();
        let wanted = documents.iter().map(|it| it.total.unwrap_or(u64::MAX));
        let wanted = wanted.fold(0, u64::saturating_add).min(most as u64) as usize;
        let mut numbers = FxHashMap::default();
        let mut found: Vec<(usize, Pointer)> = Vec::new();
        for start in (before..self.len()).step_by(POINTERS_AT_ONCE) {
            let end = self.len().min(start + POINTERS_AT_ONCE);
            let pointers = (start as u64..).zip(self.pointers(start..end)?);
            let of_document = |(position, pointer): (u64, Pointer)| {
                let key = (pointer.hash(), pointer.package);
                if let Some((_, number)) = firsts.next_if(|first| first.0 == position) {
                    numbers.insert(key, number);
                }
                Some((*numbers.get(&key)?, pointer))
            };
            found.extend(pointers.filter_map(of_document).take(wanted - found.len()));
            if found.len() == wanted {
                break;
            }
        }
        found.sort_by_key(|(number, pointer)| (*number, pointer.spool_order()));
        let (numbers, pointers): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        let mut matches = vec![Vec::new(); documents.len()];
        for (number, found) in numbers.into_iter().zip(self.read(&pointers)?) {
            matches[number].push(found);
        }
        Ok(matches)
    }

    pub fn matches_at(&self, positions: &[u64]) -> Result<Vec<Match>, SpoolError> {
        self.read(&self.pointers_at(positions)?)
    }

    pub fn matches_with_copies(&self, positions: &[u64]) -> Result<Vec<Match>, SpoolError> {
        let mut matches = self.matches_at(positions)?;
        let copies = self.copies(positions)?;
        for ((found, &position), count) in matches.iter_mut().zip(positions).zip(copies) {
            found.copies = (count > 0).then_some(Copies { count, position });
        }
        Ok(matches)
    }

    fn pointers_at(&self, positions: &[u64]) -> Result<Vec<Pointer>, SpoolError> {
        let mut pointers = Vec::with_capacity(positions.len());
        for run in positions.chunk_by(|a, b| a + 1 == *b) {
            let (start, end) = (run[0], run[0] + run.len() as u64);
            if end > self.counts.pointers {
                return Err(self.spool.packages.corrupt(0));
            }
            pointers.append(&mut self.pointers(start as usize..end as usize)?);
        }
        Ok(pointers)
    }

    /// Reads a range of the packages, by best match. Blocks on the disk.
    ///
    /// # Panics
    /// If the range is not within `0..packages()`.
    pub fn package_list(&self, range: Range<usize>) -> Result<Vec<PackageGroup>, SpoolError> {
        assert!(range.end <= self.packages(), "packages {range:?}");
        let count = self.counts.packages;
        self.checked(packages::read(&self.spool.packages, count, range))
    }

    /// Reads the readable matches by language and directory; `None` with a
    /// limit. Blocks on the disk.
    pub fn facets(&self) -> Result<Option<SpoolFacets>, SpoolError> {
        if self.query.limit > 0 {
            return Ok(None);
        }
        let blob = &self.spool.facets;
        if blob.is_empty() {
            return Ok(Some(SpoolFacets::default()));
        }
        let mut words = vec![0_u64; blob.len().div_ceil(8) as usize];
        self.checked(blob.read_at(words.as_mut_bytes(), 0, &mut OpenFile::default()))?;
        let frame = frame::decode(words.as_bytes()).ok().flatten();
        let facets = frame.and_then(|frame| SpoolFacets::decode(frame.payload).ok());
        self.checked(facets.map(Some).ok_or_else(|| blob.corrupt(0)))
    }

    pub(crate) fn pointers(&self, range: Range<usize>) -> Result<Vec<Pointer>, SpoolError> {
        assert!(range.end <= self.len(), "matches {range:?}");
        let range = range.start as u64..range.end as u64;
        self.checked(self.spool.order.read(range))
    }
}

/// Reads matches of a running or finished search, in the pointers' order.
pub fn read(
    files: &ResultFiles,
    pointers: &[Pointer],
    context_lines: u32,
) -> Result<Vec<Match>, SpoolError> {
    let positions = in_spool_order(pointers);
    let mut matches = vec![Match::default(); pointers.len()];
    let mut reader = files.reader();
    for group in positions.chunk_by(|a, b| a.frame() == b.frame()) {
        let lines: Vec<u32> = group.iter().map(|line| line.line_index()).collect();
        reader.batch(group[0].frame(), |batch| {
            for (line, found) in group.iter().zip(Match::each(batch, &lines, context_lines)) {
                matches[line.pointer_index()] = found?;
            }
            Some(())
        })?;
    }
    Ok(matches)
}

/// Spool position of a match ([`Pointer::spool_order`], 96 bits) and index of its pointer (32
/// bits). One number sorts several times faster than a tuple.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LinePosition(u128);

impl LinePosition {
    fn new(index: u32, pointer: &Pointer) -> LinePosition {
        LinePosition(pointer.spool_order() << 32 | u128::from(index))
    }

    pub(super) fn frame(self) -> FrameAt {
        unpack_frame((self.0 >> 64) as u64)
    }

    pub(super) fn line_index(self) -> u32 {
        (self.0 >> 32) as u32
    }

    pub(super) fn pointer_index(self) -> usize {
        self.0 as u32 as usize
    }
}

pub(super) fn in_spool_order(pointers: &[Pointer]) -> Vec<LinePosition> {
    let indexed = (0..).zip(pointers);
    let positions = indexed.map(|(index, pointer)| LinePosition::new(index, pointer));
    let mut positions: Vec<LinePosition> = positions.collect();
    let hash = |position: &LinePosition| pointers[position.pointer_index()].hash();
    order::sort_groups(
        &mut positions,
        |a, b| hash(a) == hash(b),
        |position| position.line_index() as usize,
        |position| *position,
        |position| position.frame(),
    );
    positions
}
