//! Matches of a document, and the result of a work unit.
//!
//! [`DocumentMatches`] are ranked and packed at once, or deferred if only top matches are wanted. A
//! [`UnitResult`] collects both, and counts.

use super::request::ShardTask;
use super::symbols::{self, Needed};
use super::top_k::{DocumentName, PendingMatch, PendingMatches, SortKey};
use crate::matcher::document_matcher::PatternSet;
use crate::matcher::line_matcher;
use crate::matcher::long_line::{Effort, LINE_STEPS_MAX};
use crate::matcher::phrase::{NEAR_BYTES, Phrase};
use crate::matcher::place::TextSymbols;
use crate::pack::{LinePosition, Match, PackBuffers, Packed, Packer};
use crate::rank::{self, Defined, Tier};
use index::document;
use index::shard::{DocId, Document, ShardError, TextCache};
use language::words::is_local;
use schema::message::{Progress, ShardEnd, Skip, TextOrder, Want};
use schema::order;
use std::cell::{Cell, OnceCell};
use std::convert::Infallible;
use std::mem;
use std::rc::Rc;
use std::sync::{Arc, LazyLock};

pub(super) static GIVEN_UP: LazyLock<String> = LazyLock::new(|| {
    format!(
        "a part of the document was not searched: a match in one line may take at most \
         {LINE_STEPS_MAX} steps (LINE_STEPS_MAX); use a pattern with smaller repetitions"
    )
});

/// Bytes of a line that may define something. Longer lines are data or generated.
const DEFINING_BYTES_MAX: usize = 512;

/// Matches of the current document. The first one packed creates the packer.
pub(super) struct DocumentMatches<'a> {
    pub(super) task: ShardTask<'a>,
    pub(super) document: Document<'a>,
    pub(super) package: &'a [u8],
    document_rank: f32,
    /// Set by the first line that may define something.
    may_define: Cell<Option<bool>>,
    /// No match will be sent, so positions do not matter.
    pub(super) counts_only: bool,
    pub(super) matched: bool,
    pub(super) has_given_up: bool,
    pub(super) patterns: PatternSet,
    name: Option<Arc<DocumentName>>,
    buffers: PackBuffers,
    pub(super) texts: Rc<TextCache>,
    phrase: Option<Rc<Phrase>>,
    /// Read for the first line that may define something.
    symbols: OnceCell<TextSymbols>,
    packer: Option<Packer<'a>>,
    /// All its matches are in this unit.
    pub(super) is_whole: bool,
}

impl<'a> DocumentMatches<'a> {
    /// `buffers` are empty.
    pub(super) fn new(
        task: ShardTask<'a>,
        document: Document<'a>,
        package: &'a [u8],
        (buffers, texts, phrase): (PackBuffers, Rc<TextCache>, Option<Rc<Phrase>>),
    ) -> Self {
        let query = task.request.query;
        let rank = rank::document_rank(document.static_rank, document.path, &query.literals);
        let highest = rank::with_tier(rank, query.best_tier());
        let highest = rank::document_bound(highest, query.finds_names);
        DocumentMatches {
            task,
            document,
            package,
            document_rank: rank,
            may_define: Cell::new(None),
            counts_only: task.request.search.want == Want::Count
                || task.threshold.leaves_out(highest),
            matched: false,
            has_given_up: false,
            patterns: PatternSet::default(),
            name: None,
            buffers,
            texts,
            phrase,
            symbols: OnceCell::new(),
            packer: None,
            is_whole: false,
        }
    }

    /// Adds the document's name as a match; `ranges` are in its path.
    pub(super) fn push_name(
        &mut self,
        ranges: &[(usize, usize)],
        out: &mut UnitResult,
    ) -> Result<(), ShardError> {
        if let Some(limit) = self.task.request.top_k() {
            let position = LinePosition::of_name(&self.document, 0);
            let rank = (self.name_rank(ranges), Tier::default());
            self.defer(position, rank, limit, &mut out.pending);
            return Ok(());
        }
        self.pack_name(ranges, &mut out.packed)
    }

    /// Rank of a file name in a search for names, else that of a line.
    fn name_rank(&self, ranges: &[(usize, usize)]) -> f32 {
        let (path, query) = (self.document.path, self.task.request.query);
        if query.finds_names {
            order::rank(
                self.document_rank + rank::name_rank(path, &query.literals),
                0.0,
            )
        } else {
            let ranges = ranges.iter().copied();
            let Ok(rank) = rank::line_rank(self.document_rank, path, ranges, |_| {
                Ok::<_, Infallible>(Defined::default())
            });
            rank
        }
    }

    fn line_rank(&self, found: &Match<'_>) -> Result<(f32, Tier), ShardError> {
        let (position, line) = (found.position, line_matcher::without_end(found.line));
        let tier = self.tier(position, line)?;
        let document_rank = rank::with_tier(self.document_rank, tier);
        let ranges = found.ranges.iter().copied();
        let rank = rank::line_rank(document_rank, line, ranges, |words| {
            self.defined(position, line, words)
        })?;
        Ok((rank, tier))
    }

    /// Best definition of a line among these words.
    fn defined(
        &self,
        position: LinePosition,
        line: &[u8],
        words: &mut dyn Iterator<Item = (usize, usize)>,
    ) -> Result<Defined, ShardError> {
        let (path, query) = (self.document.path, self.task.request.query);
        let defining = self.task.defining;
        if line.len() > DEFINING_BYTES_MAX || !defining.contains(position.start) {
            return Ok(Defined::default());
        }
        let may_define = self.may_define.get();
        let may_define = may_define.unwrap_or_else(|| document::may_define(path));
        self.may_define.set(Some(may_define));
        if !may_define {
            return Ok(Defined::default());
        }
        let (symbols, offset) = self.symbols_at(position)?;
        let best = symbols.best_of(line, offset, words);
        Ok(best.map_or(Defined::default(), |(level, at)| Defined {
            level,
            favour: rank::favour(query.is_own(self.package, path), is_local(line, at), path),
        }))
    }

    /// Also returns the offset of a line in its text.
    fn symbols_at(&self, position: LinePosition) -> Result<(&TextSymbols, u32), ShardError> {
        let shard = self.task.shard;
        let start = shard.text_range(self.document.blocks.clone())?.start;
        let offset = u32::try_from(position.start.saturating_sub(start)).unwrap_or(u32::MAX);
        if let Some(symbols) = self.symbols.get() {
            return Ok((symbols, offset));
        }
        let symbols = symbols::read(shard, &self.document, Needed::default(), &self.texts)?;
        Ok((self.symbols.get_or_init(|| symbols), offset))
    }

    fn defer(
        &mut self,
        position: LinePosition,
        (rank, tier): (f32, Tier),
        limit: usize,
        pending: &mut PendingMatches,
    ) {
        if self.task.threshold.leaves_out(rank) {
            return;
        }
        let (package, path) = (self.package, self.document.path);
        let has_revisions = !self.task.shard.revisions_of(self.document.id).is_empty();
        let text = has_revisions.then_some(&self.document.hash[..]);
        let name = self
            .name
            .get_or_insert_with(|| DocumentName::new(package, path, text));
        let pending_match = PendingMatch {
            key: SortKey::new(rank, Arc::clone(name), position.number),
            document: self.document.id,
            position,
            patterns: self.patterns,
            tier,
        };
        pending.push(pending_match, limit);
    }

    fn tier(&self, position: LinePosition, line: &[u8]) -> Result<Tier, ShardError> {
        let Some(phrase) = &self.phrase else {
            return Ok(Tier::default());
        };
        let ShardTask { shard, request, .. } = self.task;
        let around = || {
            let document = shard.text_range(self.document.blocks.clone())?;
            let (from, to) = (
                document.start.min(position.start),
                document.end.max(position.end),
            );
            let start = position.start.saturating_sub(NEAR_BYTES).max(from);
            let end = position.end.saturating_add(NEAR_BYTES).min(to);
            let line = (position.start - start) as usize..(position.end - start) as usize;
            Ok((shard.text(start..end, &self.texts)?, line))
        };
        let stop = || request.cancel.is_cancelled();
        phrase.tier(line, around, &mut Effort::new(&stop))
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

    pub(super) fn pack(&mut self, found: &Match<'_>, out: &mut Packed) -> Result<(), ShardError> {
        let mut kinds = 0;
        if self.task.request.query.finds_symbols {
            let (symbols, offset) = self.symbols_at(found.position)?;
            kinds = symbols.kinds(offset, found.ranges);
        }
        self.packer()?.push(&Match { kinds, ..*found }, out)
    }

    #[inline]
    fn packer(&mut self) -> Result<&mut Packer<'a>, ShardError> {
        if self.packer.is_none() {
            let search = self.task.request.search;
            let packer = Packer::new(
                (self.task.shard, self.task.index),
                self.document.clone(),
                self.package,
                (
                    search,
                    self.task.first_line(self.document.id),
                    self.is_whole,
                ),
                (mem::take(&mut self.buffers), Rc::clone(&self.texts)),
            )?;
            self.packer = Some(packer);
        }
        Ok(self.packer.as_mut().expect("it was just created"))
    }

    pub(super) fn finish(self, out: &mut Packed) -> Result<PackBuffers, ShardError> {
        match self.packer {
            Some(packer) => packer.finish(out),
            None => Ok(self.buffers),
        }
    }
}

pub(super) fn frames_of(
    packed: Packed,
    skips: &[Skip],
    end: &mut ShardEnd,
    progress: &mut Progress,
) -> Vec<u8> {
    let Packed { mut frames, keys } = packed;
    for skip in skips {
        let encoded = skip.encode(&mut frames);
        encoded.expect("two names and a reason are smaller than a frame");
    }
    end.matches += keys.len() as u64;
    progress.matches += keys.len() as u64;
    let matches = keys.iter().map(|&(document, line)| (document.0, line));
    end.hash = ShardEnd::keys_hash(end.hash, matches);
    frames
}

/// Receives the matching lines of a text, ascending.
pub(super) trait LineSink {
    fn counts_only(&self) -> bool;

    fn is_done(&self) -> bool;

    fn count(&mut self, lines: u64, out: &mut UnitResult);

    /// Counted, without a rank.
    fn push(&mut self, found: &Match<'_>, out: &mut UnitResult) -> Result<(), ShardError>;

    fn give_up(&mut self);
}

impl LineSink for DocumentMatches<'_> {
    fn counts_only(&self) -> bool {
        self.counts_only
    }

    fn is_done(&self) -> bool {
        self.matched && self.task.request.search.want == Want::Documents
    }

    fn count(&mut self, lines: u64, out: &mut UnitResult) {
        self.matched |= lines > 0;
        out.lines += lines;
    }

    fn push(&mut self, found: &Match<'_>, out: &mut UnitResult) -> Result<(), ShardError> {
        let (rank, tier) = match self.task.request.search.text {
            TextOrder::Found => (0.0, Tier::default()),
            _ => self.line_rank(found)?,
        };
        if let Some(limit) = self.task.request.top_k() {
            self.defer(found.position, (rank, tier), limit, &mut out.pending);
            return Ok(());
        }
        self.pack(&Match { rank, ..*found }, &mut out.packed)
    }

    fn give_up(&mut self) {
        self.has_given_up = true;
    }
}

#[derive(Default)]
pub(super) struct UnitResult {
    pub(super) packed: Packed,
    pub(super) pending: PendingMatches,
    first_bytes: usize,
    /// Matching lines: all, or one per document if documents are wanted.
    pub(super) lines: u64,
    pub(super) blocks: u64,
    pub(super) documents: u64,
    pub(super) matched_documents: u64,
    pub(super) matched_blocks: u64,
    pub(super) verified_bytes: u64,
    pub(super) skips: Vec<Skip>,
    /// First document, and true if it matched in this unit.
    pub(super) first: Option<(DocId, bool)>,
    /// Last document, and true if it matched in this unit.
    pub(super) last: Option<(DocId, bool)>,
    /// No document after this unit has a higher static rank.
    pub(super) static_rank_after: f32,
}

impl UnitResult {
    pub(super) fn skip(&mut self, matches: &DocumentMatches<'_>, reason: String) {
        let document = matches.document.id;
        let is_named = |skip: &Skip| skip.document == document.0;
        if matches.task.has_named(document) || self.skips.iter().any(is_named) {
            return;
        }
        self.skips.push(Skip {
            shard: matches.task.index,
            document: document.0,
            package: matches.package.to_vec(),
            path: matches.document.path.to_vec(),
            reason,
        });
    }

    /// Removes the first document's only match, unless left out already.
    pub(super) fn remove_first(&mut self) {
        let Some((first, _)) = self.first else {
            return;
        };
        if self.packed.keys.first().is_some_and(|key| key.0 == first) {
            self.packed.keys.remove(0);
            self.packed.frames.drain(..self.first_bytes);
        }
        let pending = &mut self.pending.0;
        if pending.first().is_some_and(|it| it.document == first) {
            pending.remove(0);
        }
    }

    pub(super) fn count_in(&self, end: &mut ShardEnd, want: Want) {
        end.documents += self.documents;
        end.matched_documents += self.matched_documents;
        end.matched_blocks += self.matched_blocks;
        end.verified_bytes += self.verified_bytes;
        end.skipped += self.skips.len() as u64;
        end.found += match want {
            Want::Documents => self.matched_documents,
            Want::Matches | Want::Count | Want::Estimate => self.lines,
        };
    }

    pub(super) fn count_document(&mut self, id: DocId, matched: bool) {
        if self.documents == 0 {
            self.first = Some((id, matched));
            self.first_bytes = self.packed.frames.len();
        }
        self.documents += 1;
        self.matched_documents += u64::from(matched);
        self.last = Some((id, matched));
    }
}
