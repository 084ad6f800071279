//! One unit: verifies some candidate blocks, and packs, keeps or counts what matches in them.

use super::evaluate::WorkerMatchers;
use super::line_locator::LineLocator;
use super::top_k::{DocumentName, PendingMatch, PendingMatches, SortKey};
use super::work::{BlockRanges, WorkUnit};
use super::{Interrupted, ShardTask};
use crate::batch::{BatchBuffers, BatchPacker, LinePosition, Packed};
use crate::compiled_query::Strategy;
use crate::document_matcher::PatternSet;
use crate::line_matcher::LineMatcher;
use crate::{rank, scan};
use index::shard::{BlockId, DocId, Document, Package, ShardError};
use schema::message::Want;
use std::mem;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

/// What a unit gave.
#[derive(Default)]
pub(super) struct WorkResult {
    /// Unless only the best are wanted.
    pub(super) packed: Packed,
    /// When only the best are wanted: what may be among them, in order.
    pub(super) kept: Vec<PendingMatch>,
    /// Bytes of the frames of its first document.
    first_bytes: usize,
    /// Lines that were seen to match: all, or one a document when documents are wanted.
    pub(super) lines: u64,
    pub(super) blocks: u64,
    pub(super) documents: u64,
    pub(super) matched_documents: u64,
    pub(super) matched_blocks: u64,
    pub(super) verified_bytes: u64,
    /// Frames that tell of documents that were given up, and how many.
    pub(super) skips: Vec<u8>,
    pub(super) skipped: u64,
    /// Its first document, and whether that had a match.
    pub(super) first: Option<DocId>,
    pub(super) first_matched: bool,
    /// Its last document, and whether that had a match.
    pub(super) last: Option<(DocId, bool)>,
    /// No document behind this unit has a higher static rank.
    pub(super) static_rank_after: f32,
}

impl WorkResult {
    /// Takes back the one match of its first document, if it was not left out already.
    pub(super) fn forget_first(&mut self) {
        let is_first = |document: DocId| Some(document) == self.first;
        if self.packed.keys.first().is_some_and(|key| is_first(key.0)) {
            self.packed.keys.remove(0);
            self.packed.frames.drain(..self.first_bytes);
        }
        if self
            .kept
            .first()
            .is_some_and(|kept| is_first(kept.document))
        {
            self.kept.remove(0);
        }
    }

    pub(super) fn count_document(&mut self, id: DocId, matched: bool) {
        if self.documents == 0 {
            self.first = Some(id);
            self.first_matched = matched;
            self.first_bytes = self.packed.frames.len();
        }
        self.documents += 1;
        self.matched_documents += u64::from(matched);
        self.last = Some((id, matched));
    }
}

/// A worker's state: what it keeps from unit to unit.
pub(super) struct Worker<'a> {
    pub(super) task: ShardTask<'a>,
    /// The request's own, when lines are judged, with caches that are this worker's.
    matcher: Option<Arc<LineMatcher>>,
    /// When documents are.
    pub(super) judges: Option<WorkerMatchers<'a>>,
    package: Option<Package<'a>>,
    /// Of the line in hand.
    pub(super) ranges: Vec<(usize, usize)>,
    /// For the next packer.
    collected: BatchBuffers,
    /// For the text of the next run.
    pub(super) text: Vec<u8>,
    /// Of the unit in hand.
    pub(super) keeping: PendingMatches,
}

impl<'a> Worker<'a> {
    pub(super) fn new(task: ShardTask<'a>) -> Self {
        Worker {
            task,
            matcher: match &task.request.compiled.strategy {
                Strategy::Lines { matcher, .. } => Some(Arc::new(LineMatcher::clone(matcher))),
                Strategy::Documents(_) => None,
            },
            judges: WorkerMatchers::new(task),
            package: None,
            ranges: Vec::new(),
            collected: BatchBuffers::default(),
            text: Vec::new(),
            keeping: PendingMatches::default(),
        }
    }

    /// Verifies some candidates. What was read of the shard is true when there is no error.
    pub(super) fn search(&mut self, of: WorkUnit<'_>) -> Result<WorkResult, Interrupted> {
        let mut unit = WorkResult::default();
        let shard = self.task.shard;
        match of {
            WorkUnit::Range(range) => {
                self.search_blocks(BlockRanges::from_range(range), &mut unit)?
            }
            WorkUnit::List(list) => self.search_blocks(BlockRanges::from_list(list), &mut unit)?,
            WorkUnit::DocumentSlices(items, all) => self.search_items(items, all, &mut unit)?,
        }
        unit.kept = mem::take(&mut self.keeping).finish();
        unit.static_rank_after = self.static_rank_after(&unit)?;
        shard.intact()?;
        Ok(unit)
    }

    fn search_blocks(
        &mut self,
        mut blocks: BlockRanges<'_>,
        unit: &mut WorkResult,
    ) -> Result<(), Interrupted> {
        let shard = self.task.shard;
        let matcher = self.matcher.clone().expect("lines are judged");
        while let Some(block) = blocks.peek() {
            self.go_on()?;
            let document = shard.document(shard.document_of(BlockId(block))?)?;
            if !document.blocks.contains(&block) {
                return Err(shard.inconsistent("a block of no document").into());
            }
            self.search_document(&matcher, document, &mut blocks, unit)?;
        }
        Ok(())
    }

    pub(super) fn go_on(&self) -> Result<(), Interrupted> {
        match self.task.request.cancel.is_cancelled() {
            true => Err(Interrupted::Stopped),
            false => Ok(()),
        }
    }

    fn static_rank_after(&self, unit: &WorkResult) -> Result<f32, Interrupted> {
        let Some((last, _)) = unit.last else {
            return Ok(0.0);
        };
        Ok(self.task.shard.static_rank_bound(last)?)
    }

    fn search_document(
        &mut self,
        matcher: &LineMatcher,
        document: Document<'a>,
        blocks: &mut BlockRanges<'_>,
        unit: &mut WorkResult,
    ) -> Result<(), Interrupted> {
        let id = document.id;
        let mut found = self.begin(document)?;
        while let Some(run) = blocks.next_range(found.document.blocks.end) {
            unit.blocks += u64::from(run.end - run.start);
            if !found.is_done() {
                self.search_run(matcher, run, &mut found, unit)?;
            }
            self.go_on()?;
        }
        let matched = found.matched;
        self.end(found, &mut unit.packed)?;
        unit.count_document(id, matched);
        Ok(())
    }

    pub(super) fn begin(
        &mut self,
        document: Document<'a>,
    ) -> Result<DocumentMatches<'a>, Interrupted> {
        let request = self.task.request;
        let literals = &request.compiled.literals;
        let rank = rank::document_rank(document.static_rank, document.path, literals);
        let reach = rank::document_bound(rank, request.compiled.names);
        Ok(DocumentMatches {
            task: self.task,
            package: self.package_of(document.id)?.directory,
            rank,
            counts_only: request.want == Want::Count || self.task.threshold.leaves_out(reach),
            document,
            matched: false,
            marks: PatternSet::default(),
            name: None,
            collected: mem::take(&mut self.collected),
            packer: None,
        })
    }

    pub(super) fn end(
        &mut self,
        found: DocumentMatches<'a>,
        out: &mut Packed,
    ) -> Result<(), ShardError> {
        self.collected = match found.packer {
            Some(packer) => packer.finish(out)?,
            None => found.collected,
        };
        Ok(())
    }

    /// Verifies consecutive blocks of one document.
    pub(super) fn search_run(
        &mut self,
        matcher: &LineMatcher,
        run: Range<u32>,
        found: &mut DocumentMatches<'a>,
        unit: &mut WorkResult,
    ) -> Result<(), Interrupted> {
        let ShardTask { shard, request, .. } = self.task;
        let mut buffer = mem::take(&mut self.text);
        let text = shard.read_text(shard.text_range(run.clone())?, &mut buffer)?;
        unit.verified_bytes += text.len() as u64;
        let mut lines = LineLocator::new(shard, run)?;
        let mut result = Ok(());
        let _ = scan::matching_lines(matcher, text, |line| {
            found.matched = true;
            unit.lines += 1;
            result = match found.counts_only {
                true => lines.enter(&line),
                false => lines.place(text, &line).and_then(|place| {
                    let line = &text[line];
                    scan::ranges(&matcher.finder, scan::without_end(line), &mut self.ranges);
                    let out = (&mut unit.packed, &mut self.keeping);
                    found.push(place, line, &self.ranges, out)
                }),
            };
            match result.is_err() || found.is_done() || request.cancel.is_cancelled() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        unit.matched_blocks += lines.matched_blocks;
        self.text = buffer;
        Ok(result?)
    }

    pub(super) fn package_of(&mut self, document: DocId) -> Result<Package<'a>, Interrupted> {
        match &self.package {
            Some(package) if package.documents.contains(&document.0) => Ok(package.clone()),
            _ => {
                let id = self.task.shard.package_of(document)?;
                let package = self.task.shard.package(id)?;
                self.package = Some(package.clone());
                Ok(package)
            }
        }
    }

    /// Packs matches that were kept, in the order of the shard.
    pub(super) fn pack(&mut self, kept: &[PendingMatch]) -> Result<Packed, Interrupted> {
        let mut packed = Packed::default();
        let shard = self.task.shard;
        for matches in kept.chunk_by(|a, b| a.document == b.document) {
            let mut found = self.begin(shard.document(matches[0].document)?)?;
            for kept in matches {
                self.go_on()?;
                let Some(matcher) = &self.matcher else {
                    self.pack_marked(kept, &mut found, &mut packed)?;
                    continue;
                };
                let place = kept.place;
                let line = shard.text(place.start..place.end)?;
                scan::ranges(&matcher.finder, scan::without_end(line), &mut self.ranges);
                let rank = found.line_rank(line, &self.ranges);
                found.pack(place, line, rank, &self.ranges, &mut packed)?;
            }
            self.end(found, &mut packed)?;
        }
        shard.intact()?;
        Ok(packed)
    }
}

/// The document in hand, and the packer that its first match makes.
pub(super) struct DocumentMatches<'a> {
    task: ShardTask<'a>,
    pub(super) document: Document<'a>,
    pub(super) package: &'a [u8],
    /// What all its matches share of their rank.
    rank: f32,
    /// Nothing of it will be sent: there is no need to know where its matches are.
    pub(super) counts_only: bool,
    pub(super) matched: bool,
    /// Which patterns contribute, when it was judged.
    pub(super) marks: PatternSet,
    /// Once one of its matches has been kept.
    name: Option<Arc<DocumentName>>,
    /// What the packer will collect in.
    collected: BatchBuffers,
    packer: Option<BatchPacker<'a>>,
}

impl<'a> DocumentMatches<'a> {
    /// Whether its other matches are not wanted.
    pub(super) fn is_done(&self) -> bool {
        self.matched && self.task.request.want == Want::Documents
    }

    pub(super) fn line_rank(&self, line: &[u8], ranges: &[(usize, usize)]) -> f32 {
        self.rank + rank::line_rank(scan::without_end(line), ranges.iter().copied())
    }

    /// Adds a match; `line` has its end, and `ranges` are in what is before it.
    pub(super) fn push(
        &mut self,
        place: LinePosition,
        line: &[u8],
        ranges: &[(usize, usize)],
        (packed, keeping): (&mut Packed, &mut PendingMatches),
    ) -> Result<(), ShardError> {
        let rank = self.line_rank(line, ranges);
        match self.task.request.best_limit() {
            Some(limit) => {
                if !self.task.threshold.leaves_out(rank) {
                    keeping.push(self.keep(place, rank), limit);
                }
                Ok(())
            }
            None => self.pack(place, line, rank, ranges, packed),
        }
    }

    /// Adds the document's name; `ranges` are in its path.
    pub(super) fn push_name(
        &mut self,
        ranges: &[(usize, usize)],
        (packed, keeping): (&mut Packed, &mut PendingMatches),
    ) -> Result<(), ShardError> {
        let rank = self.name_rank(ranges);
        match self.task.request.best_limit() {
            Some(limit) => {
                if !self.task.threshold.leaves_out(rank) {
                    let place = LinePosition::of_name(&self.document, 0);
                    keeping.push(self.keep(place, rank), limit);
                }
                Ok(())
            }
            None => self.pack_name(ranges, packed),
        }
    }

    /// Of a document whose name is looked for, how good it is; else as that of a line that it is.
    fn name_rank(&self, ranges: &[(usize, usize)]) -> f32 {
        let (path, compiled) = (self.document.path, self.task.request.compiled);
        self.rank
            + match compiled.names {
                true => rank::name_rank(path, &compiled.literals),
                false => rank::line_rank(path, ranges.iter().copied()),
            }
    }

    pub(super) fn pack_name(
        &mut self,
        ranges: &[(usize, usize)],
        out: &mut Packed,
    ) -> Result<(), ShardError> {
        let rank = self.name_rank(ranges);
        self.packer()?.push_name(rank, ranges, out);
        Ok(())
    }

    fn keep(&mut self, place: LinePosition, rank: f32) -> PendingMatch {
        let (package, path) = (self.package, self.document.path);
        let name = self
            .name
            .get_or_insert_with(|| DocumentName::new(package, path));
        PendingMatch {
            key: SortKey::new(rank, Arc::clone(name), place.number),
            document: self.document.id,
            place,
            marks: self.marks,
        }
    }

    pub(super) fn pack(
        &mut self,
        place: LinePosition,
        line: &[u8],
        rank: f32,
        ranges: &[(usize, usize)],
        out: &mut Packed,
    ) -> Result<(), ShardError> {
        self.packer()?.push(place, line, rank, ranges, out)
    }

    fn packer(&mut self) -> Result<&mut BatchPacker<'a>, ShardError> {
        Ok(match &mut self.packer {
            Some(packer) => packer,
            none => none.insert(BatchPacker::new(
                (self.task.shard, self.task.index),
                self.document.clone(),
                self.package,
                self.task.request.context_lines,
                mem::take(&mut self.collected),
            )?),
        })
    }
}
