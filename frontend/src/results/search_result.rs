//! A finished run: its matches in order, and how complete they are.
//!
//! An answer never changes, and its matches and their order are in the spool: what it holds in memory
//! does not grow with them.

use super::documents::{self, DocumentGroup};
use super::matches::Match;
use super::outcome::{CorpusSize, Counts, Explain, Missing, Outcome, Skipped, Timings};
use super::packages::{self, PackageGroup};
use super::read::read;
use crate::order::Pointer;
use crate::query::Query;
use crate::spool::{OpenFile, ResultFiles, SpoolError};
use schema::frame;
use schema::message::{Phases, SpoolFacets};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use zerocopy::IntoBytes;

/// Memory that the matches of a chunk take, about, when all are read chunk by chunk.
const CHUNK_BYTES: usize = 64 << 20;

/// What a match takes in memory beside its bytes, about.
const MATCH_BYTES: usize = 256;

/// What is rendered without a thread of its own: some tenths of a millisecond of work.
const SMALL_BYTES: u64 = 64 << 10;

/// Matches in a chunk, at least.
const CHUNK_LEN_MIN: usize = 1000;

/// The answer to a query.
#[derive(Debug)]
pub struct SearchResult {
    pub(crate) id: String,
    pub(crate) generation: String,
    pub(crate) query: Query,
    pub(crate) outcome: Outcome,
    pub(crate) known: CorpusSize,
    pub(crate) counts: Counts,
    pub(crate) documents: u64,
    pub(crate) found: u64,
    pub(crate) timings: Timings,
    pub(crate) spool: Arc<ResultFiles>,
    /// What is read is not what was written.
    pub(crate) damaged: AtomicBool,
}

impl SearchResult {
    /// Names the run.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Names the set of shards that the query was about.
    pub fn generation(&self) -> &str {
        &self.generation
    }

    /// The query.
    pub fn query(&self) -> &Query {
        &self.query
    }

    /// How many matches there are, or documents when those are wanted, whether they were sent or not.
    /// Exact when the answer is complete; else as far as backends said it, and at least what arrived.
    pub fn found(&self) -> u64 {
        self.found.max(self.counts.pointers)
    }

    /// How many matches can be read. Without a limit all that there are when the answer is complete;
    /// else how many arrived. Of a count there are none.
    pub fn len(&self) -> usize {
        self.counts.pointers as usize
    }

    /// Whether no match can be read.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Documents with a match.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// Packages with a match that can be read.
    pub fn packages(&self) -> usize {
        self.counts.packages as usize
    }

    /// Whether every shard was searched to its end.
    pub fn is_complete(&self) -> bool {
        let outcome = &self.outcome;
        outcome.missing.is_empty() && outcome.refused.is_none() && !outcome.shed
    }

    /// What is missing, by backend.
    pub fn missing(&self) -> &[Missing] {
        &self.outcome.missing
    }

    /// Documents that were given up.
    pub fn skipped(&self) -> &Skipped {
        &self.outcome.skipped
    }

    /// How the matches were found.
    pub fn explain(&self) -> &Explain {
        &self.outcome.explain
    }

    /// How much there was to search when the query began, searched or not.
    pub fn known(&self) -> CorpusSize {
        self.known
    }

    /// How long each phase took inside of the backends: of the slowest one each.
    pub fn phases(&self) -> &Phases {
        &self.timings.phases
    }

    /// How long it took.
    pub fn timings(&self) -> &Timings {
        &self.timings
    }

    /// The matches in a range of the order, read from the spool. Blocks on the disk. Each frame is
    /// read once, so that a large range is cheaper than its parts.
    ///
    /// # Panics
    /// When the range is not within `0..len()`.
    pub fn matches(&self, range: Range<usize>) -> Result<Vec<Match>, SpoolError> {
        let pointers = self.pointers(range)?;
        self.read(&pointers)
    }

    fn read(&self, pointers: &[Pointer]) -> Result<Vec<Match>, SpoolError> {
        self.checked(read(&self.spool, pointers, self.query.context_lines()))
    }

    /// Remembers that the answer cannot be read, so that nobody else is given it.
    fn checked<T>(&self, result: Result<T, SpoolError>) -> Result<T, SpoolError> {
        if result.is_err() {
            self.damaged.store(true, Relaxed);
        }
        result
    }

    /// Whether reading it touches no disk. It is small then.
    pub fn is_in_memory(&self) -> bool {
        let (on_disk, in_memory) = self.spool.held_bytes();
        on_disk == 0 && in_memory <= SMALL_BYTES
    }

    /// Whether it is to be searched for again.
    pub(crate) fn is_damaged(&self) -> bool {
        self.damaged.load(Relaxed)
    }

    /// How many matches to ask [`matches`](Self::matches) for at a time when all are wanted: the
    /// order jumps from frame to frame, so fewer, larger ranges read each frame less often.
    pub fn chunk_len(&self) -> usize {
        let spooled = self.spool.frame_bytes() as usize / self.len().max(1);
        (CHUNK_BYTES / (MATCH_BYTES + spooled)).max(CHUNK_LEN_MIN)
    }

    /// The first matches of a package, at most so many.
    pub fn matches_of(
        &self,
        package: &PackageGroup,
        most: usize,
    ) -> Result<Vec<Match>, SpoolError> {
        self.matches_at(&package.first[..package.first.len().min(most)])
    }

    /// How many documents are listed in the order of their best match: all, or as many as are kept.
    pub fn documents_listed(&self) -> Result<usize, SpoolError> {
        match self.is_empty() {
            true => Ok(0),
            false => self.checked(documents::count(&self.spool.packages)),
        }
    }

    /// Documents in the order of their best match, those with these numbers of the listed.
    pub fn document_list(&self, range: Range<usize>) -> Result<Vec<DocumentGroup>, SpoolError> {
        self.checked(documents::read(&self.spool.packages, range))
    }

    /// The matches with these places in the order.
    pub fn matches_at(&self, places: &[u64]) -> Result<Vec<Match>, SpoolError> {
        let mut pointers = Vec::new();
        for &place in places {
            if place >= self.counts.pointers {
                return Err(self.spool.packages.corrupt(0));
            }
            let place = place as usize;
            pointers.append(&mut self.pointers(place..place + 1)?);
        }
        self.read(&pointers)
    }

    /// Packages in the order of their best match, those with these numbers. Blocks on the disk.
    ///
    /// # Panics
    /// When the range is not within `0..packages()`.
    pub fn package_list(&self, range: Range<usize>) -> Result<Vec<PackageGroup>, SpoolError> {
        assert!(range.end <= self.packages(), "packages {range:?}");
        self.checked(packages::read(
            &self.spool.packages,
            self.counts.packages,
            range,
        ))
    }

    /// How many matches have which language and directory, of those that can be read. With a limit
    /// nobody has counted that. Blocks on the disk.
    pub fn facets(&self) -> Result<Option<SpoolFacets>, SpoolError> {
        if self.query.limit() > 0 {
            return Ok(None);
        }
        let blob = &self.spool.facets;
        if blob.len() == 0 {
            // The matches could not be put in order, and there are none to be read.
            return Ok(Some(SpoolFacets::default()));
        }
        let mut words = vec![0_u64; blob.len().div_ceil(8) as usize];
        blob.read_at(words.as_mut_bytes(), 0, &mut OpenFile::default())?;
        let frame = frame::decode(words.as_bytes()).ok().flatten();
        let facets = frame.and_then(|frame| SpoolFacets::decode(frame.payload).ok());
        self.checked(facets.map(Some).ok_or_else(|| blob.corrupt(0)))
    }

    /// Pointers in a range of the order.
    pub(crate) fn pointers(&self, range: Range<usize>) -> Result<Vec<Pointer>, SpoolError> {
        assert!(range.end <= self.len(), "matches {range:?}");
        let range = range.start as u64..range.end as u64;
        self.checked(self.spool.order.read(range))
    }
}
