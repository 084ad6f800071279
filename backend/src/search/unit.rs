//! One unit: verifies some candidate blocks and packs their matches.

use super::{Interrupted, Task, UnitBlocks};
use crate::batch::{Collected, Packed, Packer, Place};
use crate::{rank, scan};
use grep_regex::RegexMatcher;
use index::shard::{BlockId, DocId, Document, Package};
use std::mem;
use std::ops::{ControlFlow, Range};

/// What a unit gave.
#[derive(Default)]
pub(super) struct Unit {
    pub(super) packed: Packed,
    pub(super) blocks: u64,
    pub(super) documents: u64,
    pub(super) matched_documents: u64,
    pub(super) matched_blocks: u64,
    pub(super) verified_bytes: u64,
    /// Its first document, and whether that had a match.
    pub(super) first: Option<DocId>,
    pub(super) first_matched: bool,
    /// Its last document, and whether that had a match.
    pub(super) last: Option<(DocId, bool)>,
    /// No document behind this unit has a higher static rank.
    pub(super) static_rank_after: f32,
}

/// A worker's state: what it keeps from unit to unit.
pub(super) struct Searcher<'a> {
    task: Task<'a>,
    /// The task's own, with caches that are this worker's: shared ones are taken and put back for
    /// every line, which two workers contend for.
    matcher: RegexMatcher,
    package: Option<Package<'a>>,
    /// Of the line in hand.
    ranges: Vec<(usize, usize)>,
    /// For the next packer.
    collected: Collected,
    /// For the text of the next run.
    text: Vec<u8>,
}

impl<'a> Searcher<'a> {
    pub(super) fn new(task: Task<'a>) -> Self {
        Searcher {
            task,
            matcher: task.compiled.matcher.clone(),
            package: None,
            ranges: Vec::new(),
            collected: Collected::default(),
            text: Vec::new(),
        }
    }

    /// Verifies some candidates. What was read of the shard is true when there is no error.
    pub(super) fn search(&mut self, blocks: UnitBlocks<'_>) -> Result<Unit, Interrupted> {
        let mut blocks = Runs::new(blocks);
        let mut unit = Unit::default();
        while let Some(block) = blocks.peek() {
            if self.task.cancel.is_cancelled() {
                return Err(Interrupted::Stopped);
            }
            let document = self.task.shard.document_of(BlockId(block))?;
            let document = self.task.shard.document(document)?;
            if !document.blocks.contains(&block) {
                return Err(self
                    .task
                    .shard
                    .inconsistent("a block of no document")
                    .into());
            }
            self.search_document(document, &mut blocks, &mut unit)?;
        }
        unit.static_rank_after = self.static_rank_after(&unit)?;
        self.task.shard.intact()?;
        Ok(unit)
    }

    fn static_rank_after(&self, unit: &Unit) -> Result<f32, Interrupted> {
        let Some((last, _)) = unit.last else {
            return Ok(0.0);
        };
        Ok(self.task.shard.static_rank_bound(last)?)
    }

    fn search_document(
        &mut self,
        document: Document<'a>,
        blocks: &mut Runs<'_>,
        unit: &mut Unit,
    ) -> Result<(), Interrupted> {
        let id = document.id;
        let mut found = Found {
            task: self.task,
            package: self.package_of(id)?.directory,
            rank: rank::document_rank(
                document.static_rank,
                document.path,
                self.task.compiled.literal.as_deref(),
            ),
            document,
            collected: mem::take(&mut self.collected),
            packer: None,
        };
        while let Some(run) = blocks.next_run(found.document.blocks.end) {
            self.search_run(run, &mut found, unit)?;
        }
        let matched = found.packer.is_some();
        self.collected = match found.packer {
            Some(packer) => packer.finish(&mut unit.packed)?,
            None => found.collected,
        };
        if unit.documents == 0 {
            unit.first = Some(id);
            unit.first_matched = matched;
        }
        unit.documents += 1;
        unit.matched_documents += u64::from(matched);
        unit.last = Some((id, matched));
        Ok(())
    }

    /// Verifies consecutive blocks of one document.
    fn search_run(
        &mut self,
        run: Range<u32>,
        found: &mut Found<'a>,
        unit: &mut Unit,
    ) -> Result<(), Interrupted> {
        let Task { shard, cancel, .. } = self.task;
        let mut buffer = mem::take(&mut self.text);
        let text = shard.read_text(shard.text_range(run.clone())?, &mut buffer)?;
        unit.blocks += u64::from(run.end - run.start);
        unit.verified_bytes += text.len() as u64;
        let mut lines = Lines::new(shard, run)?;
        let mut result = Ok(());
        let _ = scan::matching_lines(&self.matcher, text, |line| {
            result = lines.place(text, &line).and_then(|place| {
                let line = &text[line];
                scan::ranges(&self.matcher, scan::without_end(line), &mut self.ranges);
                found.push(place, line, &self.ranges, &mut unit.packed)
            });
            match result.is_err() || cancel.is_cancelled() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        unit.matched_blocks += lines.matched_blocks;
        self.text = buffer;
        Ok(result?)
    }

    fn package_of(&mut self, document: DocId) -> Result<Package<'a>, Interrupted> {
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
}

/// The document in hand, and the packer that its first match makes.
struct Found<'a> {
    task: Task<'a>,
    document: Document<'a>,
    package: &'a [u8],
    /// What all its matches share of their rank.
    rank: f32,
    /// What the packer will collect in.
    collected: Collected,
    packer: Option<Packer<'a>>,
}

impl Found<'_> {
    /// Adds a match; `line` has its end, and `ranges` are in what is before it.
    fn push(
        &mut self,
        place: Place,
        line: &[u8],
        ranges: &[(usize, usize)],
        out: &mut Packed,
    ) -> Result<(), index::shard::Error> {
        let packer = match &mut self.packer {
            Some(packer) => packer,
            none => none.insert(Packer::new(
                (self.task.shard, self.task.index),
                self.document.clone(),
                self.package,
                self.task.context_lines,
                mem::take(&mut self.collected),
            )?),
        };
        let rank = rank::line_rank(scan::without_end(line), ranges.iter().copied());
        packer.push(place, line, self.rank + rank, ranges, out)
    }
}

/// Takes runs of consecutive blocks off the front of a unit.
struct Runs<'a> {
    range: Range<u32>,
    list: &'a [u32],
}

impl<'a> Runs<'a> {
    fn new(blocks: UnitBlocks<'a>) -> Self {
        match blocks {
            UnitBlocks::Range(range) => Runs { range, list: &[] },
            UnitBlocks::List(list) => Runs { range: 0..0, list },
        }
    }

    fn peek(&self) -> Option<u32> {
        self.list
            .first()
            .copied()
            .or((!self.range.is_empty()).then_some(self.range.start))
    }

    /// The next consecutive blocks that are below `end`.
    fn next_run(&mut self, end: u32) -> Option<Range<u32>> {
        let start = self.peek().filter(|&start| start < end)?;
        if !self.range.is_empty() {
            let run = start..end.min(self.range.end);
            self.range.start = run.end;
            return Some(run);
        }
        let consecutive = (start..end)
            .zip(self.list)
            .take_while(|(a, b)| a == *b)
            .count();
        self.list = &self.list[consecutive..];
        Some(start..start + consecutive as u32)
    }
}

/// Says where the matching lines of a run are, which ascend.
struct Lines<'a> {
    shard: &'a index::shard::Shard,
    run: Range<u32>,
    /// Where the run begins in the text of all documents.
    base: u64,
    /// The block of the last line, and where it ends.
    block: u32,
    block_end: u64,
    /// A place up to which lines have been counted, and the number of the line that begins there.
    counted: usize,
    number: u32,
    matched_blocks: u64,
    last_matched: Option<u32>,
}

impl<'a> Lines<'a> {
    fn new(shard: &'a index::shard::Shard, run: Range<u32>) -> Result<Self, index::shard::Error> {
        let base = shard.text_range(run.start..run.start + 1)?;
        Ok(Lines {
            shard,
            block: run.start,
            base: base.start,
            block_end: base.end,
            counted: 0,
            number: shard.first_line(BlockId(run.start))?,
            run,
            matched_blocks: 0,
            last_matched: None,
        })
    }

    fn place(&mut self, text: &[u8], line: &Range<usize>) -> Result<Place, index::shard::Error> {
        let start = self.base + line.start as u64;
        while start >= self.block_end && self.block + 1 < self.run.end {
            self.block += 1;
            let range = self.shard.text_range(self.block..self.block + 1)?;
            self.block_end = range.end;
            self.counted = range.start.saturating_sub(self.base) as usize;
            self.number = self.shard.first_line(BlockId(self.block))?;
        }
        let between = text.get(self.counted..line.start);
        let between = between.ok_or_else(|| self.shard.inconsistent("where a block begins"))?;
        let lines = memchr::memchr_iter(b'\n', between).count() as u32;
        self.number = self.number.saturating_add(lines);
        self.counted = line.start;
        if self.last_matched != Some(self.block) {
            self.last_matched = Some(self.block);
            self.matched_blocks += 1;
        }
        let end = self.base + line.end as u64;
        Ok(Place {
            number: self.number,
            start,
            end,
            block: self.block,
        })
    }
}
