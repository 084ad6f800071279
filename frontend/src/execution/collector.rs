//! Pointers and counts of one stream.
//!
//! Pointers are sorted as they arrive, in bounded memory. When the execution ends, `finalize`
//! merges those of all streams.
//!
//! **Invariant:** a pointer is counted or written only after its frame is written. Pointers to
//! frames that could not be written are dropped.

use crate::execution::document_log::DocumentLog;
use crate::execution::memory::Share;
use crate::execution::sorter::{PointerSorter, Source};
use query::Query;
use results::facets::{Facets, FacetsSoFar};
use results::order::{Continued, DocumentPointer, Pointer, StringPool};
use results::spool::{ResultFiles, SpoolError};
use schema::message::End;
use std::sync::Arc;

#[derive(Debug)]
pub(crate) struct Collector {
    sorter: PointerSorter,
    /// False: matches are only counted.
    is_ordered: bool,
    /// Matches without a pointer: only counted, or represented by another.
    uncollected: u64,
    pub(crate) log: DocumentLog,
    pub(crate) share: Arc<Share>,
    pub(crate) packages: StringPool,
    /// Frames that continue an earlier frame's document.
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
    pub(crate) fn new(backend: u16, share: Share) -> Collector {
        let share = Arc::new(share);
        Collector {
            sorter: PointerSorter::new(format!("run-{backend}"), Arc::clone(&share)),
            log: DocumentLog::new(Arc::clone(&share)),
            is_ordered: true,
            uncollected: 0,
            share,
            packages: StringPool::default(),
            continued: Continued::default(),
            facets: Facets::default(),
            package_matches: Vec::new(),
            matches: 0,
            documents: 0,
            found: 0,
        }
    }

    pub(crate) fn of_query(self, query: &Query) -> Collector {
        Collector {
            facets: Facets::of_query(query),
            ..self
        }
    }

    pub(crate) fn ordered(self, is_ordered: bool) -> Collector {
        Collector { is_ordered, ..self }
    }

    pub(crate) fn is_ordered(&self) -> bool {
        self.is_ordered
    }

    pub(crate) fn count(&mut self, matches: u64) {
        self.uncollected += matches;
    }

    /// Adds the pointer of a match in a frame about to be written. A receive buffer fills at most
    /// four chunks before the next [`spill_if_full`](Self::spill_if_full).
    pub(crate) fn push(&mut self, pointer: Pointer) {
        self.sorter.push(pointer);
    }

    pub(crate) fn push_document(&mut self, document: DocumentPointer) {
        self.log.push(document);
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
        self.sorter.in_memory() + self.uncollected as usize
    }

    pub(crate) fn end(&mut self, end: &End) {
        self.documents = end.shards.iter().map(|shard| shard.matched_documents).sum();
        self.found = end.shards.iter().map(|shard| shard.found).sum();
    }

    /// Takes the counts of a stream lost after `documents` documents.
    pub(crate) fn end_early(&mut self, documents: u64) {
        self.documents = documents;
        self.found = self.matches;
    }

    /// Returns the number of new pointers.
    pub(crate) fn mark_written(&mut self) -> u64 {
        let all = self.sorter.len() + self.uncollected;
        let before = std::mem::replace(&mut self.matches, all);
        all - before
    }

    /// Drops pointers to frames at or after `offset`. No more may be added.
    pub(crate) fn drop_from(&mut self, offset: u64) {
        self.sorter.retain(|pointer| pointer.offset() < offset);
        self.log.drop_from(offset);
    }

    /// All frames so far must be written.
    pub(crate) fn spill_if_full(
        &mut self,
        backend: u16,
        spool: &ResultFiles,
    ) -> Result<(), SpoolError> {
        if !self.sorter.is_full() && !self.log.is_full() {
            return Ok(());
        }
        self.log.spill(&format!("documents-{backend}"), spool)?;
        self.sorter.spill(spool)
    }

    pub(crate) fn seal(&mut self) {
        self.sorter.seal();
    }

    pub(crate) fn sources(&self) -> impl Iterator<Item = Source<'_>> {
        self.sorter.sources()
    }

    pub(crate) fn clear_pointers(&mut self, spool: &ResultFiles) {
        self.sorter.clear(spool);
    }
}

#[cfg(test)]
pub(crate) mod tests;
