//! Verifies candidates: finds matching lines in their bytes.
//!
//! A [`Verifier`] searches blocks text by text. Lines go to the text's document, or are kept
//! ([`FoundLines`]) for each of several.

use super::document_matches::{DocumentMatches, GIVEN_UP, LineSink, UnitResult};
use super::line_locator::LineLocator;
use super::lone_byte::LoneByte;
use super::request::{Interrupted, ShardTask};
use super::slices::{BlockRanges, Slice, Slices};
use super::symbols::{self, Needed};
use crate::matcher::line_matcher::{LineMatcher, LineSearch};
use crate::matcher::long_line::Effort;
use crate::matcher::phrase::Phrase;
use crate::matcher::place::{Haystack, TextSymbols};
use crate::pack::{LinePosition, Match, PackBuffers};
use index::shard::{DocId, Document, Package, PackageId, ShardError, TextBytes, TextCache, TextId};
use schema::message::Want;
use std::mem;
use std::ops::Range;
use std::rc::Rc;

pub(super) struct Verifier<'a> {
    pub(super) task: ShardTask<'a>,
    package: Option<Package<'a>>,
    documents: Vec<DocId>,
    pub(super) ranges: Vec<(usize, usize)>,
    /// Copy with its own caches.
    phrase: Option<Rc<Phrase>>,
    pub(super) buffers: PackBuffers,
    pub(super) texts: Rc<TextCache>,
    /// Symbols of the last text that needed them.
    symbols: Option<(TextId, Rc<TextSymbols>)>,
    /// Touch mapped text instead of reading it.
    pub(super) touches: bool,
}

impl<'a> Verifier<'a> {
    pub(super) fn new(task: ShardTask<'a>) -> Self {
        Verifier {
            task,
            package: None,
            documents: Vec::new(),
            ranges: Vec::new(),
            phrase: task.request.query.phrase.clone().map(Rc::new),
            buffers: PackBuffers::default(),
            texts: Rc::default(),
            symbols: None,
            touches: false,
        }
    }

    pub(super) fn text(&self, blocks: Range<u32>) -> Result<TextBytes<'a>, ShardError> {
        let shard = self.task.shard;
        let range = shard.text_range(blocks)?;
        if self.touches {
            shard.text(range, &self.texts)
        } else {
            shard.read_text(range, &self.texts)
        }
    }

    /// Symbols of a document's text, if they are needed.
    pub(super) fn symbols_for(
        &mut self,
        are_needed: bool,
        document: &Document<'_>,
    ) -> Result<Option<Rc<TextSymbols>>, ShardError> {
        if !are_needed {
            return Ok(None);
        }
        match &self.symbols {
            Some((text, symbols)) if *text == document.text => Ok(Some(Rc::clone(symbols))),
            _ => {
                let ShardTask { shard, request, .. } = self.task;
                let needed = Needed {
                    parents: request.query.has_parents,
                    runs: true,
                };
                let symbols = symbols::read(shard, document, needed, &self.texts)?;
                let symbols = Rc::new(symbols);
                self.symbols = Some((document.text, Rc::clone(&symbols)));
                Ok(Some(symbols))
            }
        }
    }

    pub(super) fn begin(
        &mut self,
        document: Document<'a>,
    ) -> Result<DocumentMatches<'a>, Interrupted> {
        let package = self.package_of(document.package)?.directory;
        let buffers = mem::take(&mut self.buffers);
        let buffers = (buffers, Rc::clone(&self.texts), self.phrase.clone());
        Ok(DocumentMatches::new(self.task, document, package, buffers))
    }

    pub(super) fn search_texts(
        &mut self,
        matcher: &LineMatcher,
        slices: &[Slice],
        all: &Slices<'_>,
        out: &mut UnitResult,
    ) -> Result<(), Interrupted> {
        let ShardTask { shard, request, .. } = self.task;
        for slice in slices {
            request.cancel.check()?;
            out.blocks += all.weight(slice);
            self.find_accepted(slice)?;
            let matched_before = out.matched_blocks;
            if let [id] = self.documents[..] {
                let mut matches = self.begin(shard.document(id)?)?;
                matches.is_whole = slice.is_whole;
                let blocks = all.block_ranges(slice.blocks.clone());
                let document = matches.document.clone();
                self.search_blocks(matcher, &document, blocks, (&mut matches, &mut *out))?;
                self.finish(matches, out)?;
            } else if !self.documents.is_empty() {
                self.search_copies(matcher, (slice, all), out)?;
            }
            if shard.has_accepted(&request.query.filters, slice.earlier.clone())? {
                // An earlier slice counted them.
                out.matched_blocks = matched_before;
            }
        }
        Ok(())
    }

    fn search_copies(
        &mut self,
        matcher: &LineMatcher,
        (slice, all): (&Slice, &Slices<'_>),
        out: &mut UnitResult,
    ) -> Result<(), Interrupted> {
        let ShardTask { shard, request, .. } = self.task;
        let mut copies = Vec::with_capacity(self.documents.len());
        for index in 0..self.documents.len() {
            let mut matches = self.begin(shard.document(self.documents[index])?)?;
            matches.is_whole = slice.is_whole;
            copies.push(matches);
        }
        let mut found = FoundLines {
            counts_only: copies.iter().all(DocumentMatches::counts_only),
            want: request.search.want,
            ..FoundLines::default()
        };
        let blocks = all.block_ranges(slice.blocks.clone());
        // Copies of a text have the same symbols.
        let document = shard.document(self.documents[0])?;
        self.search_blocks(matcher, &document, blocks, (&mut found, &mut *out))?;
        for mut matches in copies {
            request.cancel.check()?;
            found.replay(&mut matches, out)?;
            self.finish(matches, out)?;
        }
        Ok(())
    }

    pub(super) fn finish(
        &mut self,
        matches: DocumentMatches<'a>,
        out: &mut UnitResult,
    ) -> Result<(), ShardError> {
        let ShardTask { shard, request, .. } = self.task;
        if matches.has_given_up {
            out.skip(&matches, GIVEN_UP.clone());
        } else if request.query.is_placed
            && let Some(gap) = shard.incomplete(matches.document.text)?
        {
            out.skip(&matches, format!("{gap}; sym:, uses: and in: need them"));
        }
        let (id, matched) = (matches.document.id, matches.matched);
        self.buffers = matches.finish(&mut out.packed)?;
        out.count_document(id, matched);
        Ok(())
    }

    /// A text's only document is accepted already.
    fn find_accepted(&mut self, slice: &Slice) -> Result<(), ShardError> {
        let ShardTask { shard, request, .. } = self.task;
        self.documents.clear();
        for id in slice.documents.clone().map(DocId) {
            if !slice.is_shared || shard.is_accepted(&request.query.filters, id)? {
                self.documents.push(id);
            }
        }
        Ok(())
    }

    pub(super) fn search_blocks(
        &mut self,
        matcher: &LineMatcher,
        document: &Document<'_>,
        blocks: BlockRanges<'_>,
        (sink, out): (&mut impl LineSink, &mut UnitResult),
    ) -> Result<(), Interrupted> {
        let symbols = self.symbols_for(matcher.is_placed(), document)?;
        let start = self.task.shard.text_range(document.blocks.clone())?.start;
        let text = (symbols.as_deref(), start);
        for mut range in blocks {
            while !range.is_empty() && !sink.is_done() {
                let run = self.task.shard.first_run(range.clone())?;
                range.start = run.end;
                self.verify_run(matcher, (run, text), sink, out)?;
                self.task.request.cancel.check()?;
            }
        }
        Ok(())
    }

    fn verify_run(
        &mut self,
        matcher: &LineMatcher,
        (blocks, (symbols, text_start)): (Range<u32>, (Option<&TextSymbols>, u64)),
        sink: &mut impl LineSink,
        out: &mut UnitResult,
    ) -> Result<(), Interrupted> {
        let ShardTask { shard, request, .. } = self.task;
        let text = self.text(blocks.clone())?;
        let run_start = shard.text_range(blocks.clone())?.start;
        let offset = run_start.saturating_sub(text_start);
        let haystack = Haystack::new(&text, symbols, offset);
        let text = haystack.bytes;
        out.verified_bytes += text.len() as u64;
        let mut locator: Option<LineLocator<'_>> = None;
        let mut result = Ok(());
        let stop = || request.cancel.is_cancelled();
        let mut effort = Effort::new(&stop);
        let mut lines = LineSearch::new(matcher, haystack, 0);
        let mut lone = request
            .single_byte(matcher)
            .map(|byte| LoneByte::new(text, byte));
        while let Some(line) = lines.next(&mut effort) {
            sink.count(1, out);
            let locator = match &mut locator {
                Some(locator) => locator,
                none => none.insert(LineLocator::new(shard, blocks.clone())?),
            };
            result = if sink.counts_only() {
                locator.enter(&line)
            } else {
                locator.locate(text, &line).and_then(|position| {
                    let is_unranked = lone.as_mut().is_some_and(|lone| !lone.is_in(&line));
                    let may_define = self.task.defining.contains(position.start);
                    let body = haystack.part(line.clone()).without_end();
                    let (body, line) = ((body, is_unranked), &text[line]);
                    let ranges = &mut self.ranges;
                    request.find_ranges(matcher, may_define, body, &mut effort, ranges);
                    sink.push(&Match::new(position, line, &self.ranges), out)
                })
            };
            if result.is_err() || sink.is_done() || effort.is_stopped() {
                break;
            }
        }
        if effort.has_given_up {
            sink.give_up();
        }
        out.matched_blocks += locator.map_or(0, |locator| locator.matched_blocks);
        Ok(result?)
    }

    pub(super) fn package_of(&mut self, id: PackageId) -> Result<Package<'a>, Interrupted> {
        match &self.package {
            Some(package) if package.id == id => Ok(package.clone()),
            _ => {
                let package = self.task.shard.package(id)?;
                self.package = Some(package.clone());
                Ok(package)
            }
        }
    }
}

/// Matching lines of a text with several documents: found once, emitted for each.
#[derive(Default)]
pub(super) struct FoundLines {
    /// No document sends lines.
    counts_only: bool,
    want: Want,
    pub(super) count: u64,
    pub(super) has_given_up: bool,
    lines: Vec<(LinePosition, Range<usize>)>,
    ranges: Vec<(usize, usize)>,
}

impl FoundLines {
    /// Takes one line, without its place.
    pub(super) fn of_any() -> FoundLines {
        FoundLines {
            counts_only: true,
            want: Want::Documents,
            ..FoundLines::default()
        }
    }

    fn replay(
        &self,
        matches: &mut DocumentMatches<'_>,
        out: &mut UnitResult,
    ) -> Result<(), ShardError> {
        matches.count(self.count, out);
        if self.has_given_up {
            matches.give_up();
        }
        if matches.counts_only() {
            return Ok(());
        }
        let (shard, texts) = (matches.task.shard, Rc::clone(&matches.texts));
        for (position, ranges) in &self.lines {
            let line = shard.text(position.start..position.end, &texts)?;
            let ranges = &self.ranges[ranges.clone()];
            matches.push(&Match::new(*position, &line, ranges), out)?;
        }
        Ok(())
    }
}

impl LineSink for FoundLines {
    fn counts_only(&self) -> bool {
        self.counts_only
    }

    fn is_done(&self) -> bool {
        self.count > 0 && self.want == Want::Documents
    }

    fn count(&mut self, lines: u64, _: &mut UnitResult) {
        self.count += lines;
    }

    fn push(&mut self, found: &Match<'_>, _: &mut UnitResult) -> Result<(), ShardError> {
        let first = self.ranges.len();
        self.ranges.extend_from_slice(found.ranges);
        self.lines.push((found.position, first..self.ranges.len()));
        Ok(())
    }

    fn give_up(&mut self) {
        self.has_given_up = true;
    }
}
