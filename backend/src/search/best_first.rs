//! Finds the best matches or documents, and proves that no unsearched document has a better one.
//!
//! A match scores at most as much as its document and a line that defines the searched word.
//! Documents come from three sources with bounds: those that define the word, those with it in
//! their path, and the others. The most promising one is searched next, until the worst kept match
//! beats every bound. A phrase takes passes: lines with the phrase, then with its words.
//!
//! **Invariant:** the matches are those of a search of all candidates. If [`BLOCKS_MAX`] or
//! [`DOCUMENTS_MAX`] do not suffice, there is no answer.

use super::document_matches::UnitResult;
use super::plan::{SLOW_LINE_BYTES, ShardCandidates};
use super::request::{Interrupted, Request, ShardTask, SharedEvaluations, Sink, Stopped};
use super::slices::BlockRanges;
use super::top_k::{DocumentPlace, PendingMatch, Threshold, TopMatches};
use super::verify::Verifier;
use super::{Matchers, Worker};
use crate::batch::Packed;
use crate::compiled_query::Strategy;
use crate::document_matcher::PatternSet;
use crate::line_matcher::{self, LineMatcher};
use crate::phrase::{Phrase, Tier};
use crate::rank::{self, Defined};
use fnv::{FnvHashMap, FnvHashSet};
use index::document;
use index::plan::TrigramQuery;
use index::shard::{BlockId, Candidates, DocId, Document, PackageId, ShardError};
use memchr::memmem::Finder;
use schema::definition::LEVEL_MAX;
use schema::message::{Progress, ShardEnd, Want};
use schema::order::RankKey;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::mem;
use std::ops::{Range, RangeInclusive};
use std::slice;

/// Verified blocks: the work of a light search.
const BLOCKS_MAX: u64 = 8192;

/// Documents seen in a shard. Each costs about a microsecond.
const DOCUMENTS_MAX: usize = 16 << 10;

/// Blocks of a shard that define the searched words.
const DEFINING_BLOCKS_MAX: usize = 64 << 10;

/// Paths of a shard searched for a literal.
const PATHS_MAX: usize = 128 << 10;

/// First blocks searched in a document if blocks without a definition score the same.
const FIRST_BLOCKS: usize = 8;

/// Longer ORs beside other conditions are left out: their lists cost more than verifying the blocks
/// only they rule out.
const OR_OPERANDS_MAX: usize = 8;

/// Documents with their own candidate computation. For more, that of the whole shard is cheaper.
const SINGLE_DOCUMENTS: usize = 32;

/// Unit of the limit in a best-first search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Best {
    /// Whatever the request wants.
    Matches,
    /// Documents, each as good as its best match. Sends one match with the best score, and others
    /// of the same and following blocks.
    Documents {
        /// Matches of each, from 1 to [`PER_DOCUMENT_MAX`].
        matches: usize,
    },
}

/// Matches per document, at most.
pub const PER_DOCUMENT_MAX: usize = 10;

impl Request<'_> {
    /// Finds the best matches or documents without counting all. `None` if a search of all
    /// candidates may be as cheap.
    pub fn run_best_first(
        &self,
        best: Best,
        sink: &mut dyn Sink,
    ) -> Result<Option<Vec<ShardEnd>>, Stopped> {
        let (Some(limit), Some(passes)) = (self.top_k(), self.passes()) else {
            return Ok(None);
        };
        let mut top = TopMatches::new(limit);
        let threshold = Threshold::default();
        let evaluations = SharedEvaluations::default();
        let shards = 0..self.shards.len();
        let task = |index| ShardTask::new(self, index, 0.0, &threshold, &evaluations);
        let mut searches: Vec<Found<'_>> = shards.map(|index| Found::new(task(index))).collect();
        let mut blocks = 0;
        for pass in &passes {
            for found in searches.iter_mut().filter(|it| it.end.failure.is_empty()) {
                let mut search = ShardSearch::new(found, pass, (best, &mut top), blocks);
                match search.run() {
                    Ok(Proof::Complete) => {}
                    Ok(Proof::TooMuch) => return Ok(None),
                    Err(Interrupted::Stopped) => return Err(Stopped),
                    Err(Interrupted::Failed(error)) => search.found.end.failure = error.to_string(),
                }
                blocks = search.blocks;
            }
            // Later passes find worse matches.
            if top.is_full() {
                break;
            }
        }
        let finds_all = passes.last().is_some_and(|pass| pass.is_last);
        if !finds_all && !top.is_full() {
            return Ok(None);
        }
        let mut progress = Progress::default();
        let mut ends = Vec::with_capacity(searches.len());
        for search in searches {
            let (mut found, mut skips, mut end) = (search.matches, search.skips, search.end);
            if best == Best::Matches {
                found.retain(|pending| !top.leaves_out(&pending.key));
            } else {
                let of_documents = found.chunk_by(|a, b| a.document == b.document);
                let wanted = of_documents.filter(|of_one| !top.leaves_out(&of_one[0].key));
                found = wanted.flatten().cloned().collect();
            }
            found.sort_unstable_by_key(|pending| (pending.document, pending.position.number));
            let mut packed = Packed::default();
            if !found.is_empty() {
                match Worker::new(search.task, 0).pack(&found) {
                    Ok(all) => packed = all,
                    Err(Interrupted::Stopped) => return Err(Stopped),
                    Err(Interrupted::Failed(error)) => end.failure = error.to_string(),
                }
            }
            let Packed { mut frames, keys } = packed;
            frames.append(&mut skips);
            end.matches += keys.len() as u64;
            let matches = keys.iter().map(|&(document, line)| (document.0, line));
            end.hash = ShardEnd::keys_hash(end.hash, matches);
            progress.matches += keys.len() as u64;
            progress.blocks_done += end.candidates;
            progress.blocks_total = progress.blocks_done;
            progress.documents += end.documents;
            sink.frames(frames, &progress)?;
            ends.push(end);
        }
        Ok(Some(ends))
    }

    /// Passes, best matches first. `None` if the query needs another kind of search.
    fn passes(&self) -> Option<Vec<Pass>> {
        match (&self.query.strategy, &self.query.phrase) {
            (Strategy::Lines { matcher, query }, None) => Some(vec![Pass::last(matcher, query)]),
            (_, Some(_)) if self.want == Want::Documents => None,
            (Strategy::Lines { matcher, query }, Some(phrase)) => {
                let query_of_phrase = TrigramQuery::and([query.clone(), phrase.plan()]);
                let first = Pass {
                    query: query_of_phrase,
                    tiers: Tier::PHRASE..=Tier::MAX,
                    is_last: false,
                    ..Pass::last(matcher, query)
                };
                Some(vec![first, Pass::last(matcher, query)])
            }
            (Strategy::Documents(_), Some(phrase)) if phrase.is_condition => Pass::of_words(phrase),
            (Strategy::Documents(_), _) => None,
        }
    }
}

struct Pass {
    query: TrigramQuery,
    matcher: LineMatcher,
    /// Lines of other tiers are left to other passes.
    tiers: RangeInclusive<Tier>,
    /// Contributing patterns, for an expression of documents.
    patterns: PatternSet,
    /// No match is left after it.
    is_last: bool,
}

impl Pass {
    fn last(matcher: &LineMatcher, query: &TrigramQuery) -> Pass {
        Pass {
            query: query.clone(),
            matcher: matcher.for_blocks(0),
            tiers: Tier::default()..=Tier::default(),
            patterns: PatternSet::default(),
            is_last: true,
        }
    }

    fn of_words(phrase: &Phrase) -> Option<Vec<Pass>> {
        let line = phrase.on_one_line();
        let matcher = LineMatcher::joined(&line, &phrase.compiler).ok()?;
        let query = line_matcher::plan(&line).ok()?;
        let pass = |tiers, query| Pass {
            tiers,
            is_last: false,
            patterns: PatternSet::of_texts(phrase.word_count()),
            ..Pass::last(&matcher, &query)
        };
        let query_of_phrase = TrigramQuery::and([query.clone(), phrase.plan()]);
        Some(vec![
            pass(Tier::PHRASE..=Tier::MAX, query_of_phrase),
            pass(Tier::LINE..=Tier::LINE, query),
        ])
    }

    fn is_of_phrase(&self) -> bool {
        *self.tiers.end() > Tier::default()
    }
}

struct Found<'a> {
    task: ShardTask<'a>,
    /// Grouped by document, the best first, in a search for documents.
    matches: Vec<PendingMatch>,
    /// Documents of `matches`, in a search for the best documents.
    documents: FnvHashSet<u32>,
    skips: Vec<u8>,
    end: ShardEnd,
}

impl<'a> Found<'a> {
    fn new(task: ShardTask<'a>) -> Found<'a> {
        Found {
            task,
            matches: Vec::new(),
            documents: FnvHashSet::default(),
            skips: Vec::new(),
            end: task.end(),
        }
    }
}

enum Proof {
    /// No unsearched document can have a wanted match.
    Complete,
    /// The search would exceed its bounds.
    TooMuch,
}

type Entry = Reverse<(DocumentPlace, DocId, Part)>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Defining,
    /// All blocks not searched yet.
    Rest,
    /// Like `Rest`, in a group of the last source.
    OfGroup(usize),
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    Paths,
    Others,
}

struct ShardSearch<'s, 'a> {
    task: ShardTask<'a>,
    pass: &'s Pass,
    query: Cow<'s, TrigramQuery>,
    best: Best,
    /// Best matches, or one for each of the best documents.
    top: &'s mut TopMatches,
    worker: Worker<'a>,
    queue: BinaryHeap<Entry>,
    groups: Vec<Range<usize>>,
    sources: Vec<(DocumentPlace, Source)>,
    /// Highest level of lines that define none of the words.
    other_level: u8,
    defining: FnvHashMap<u32, (u8, Vec<u32>)>,
    searched: FnvHashSet<u32>,
    candidates: Option<Candidates>,
    /// Documents with candidates computed one by one.
    single: usize,
    blocks: u64,
    /// Lines of the tiers of the pass.
    kept: u64,
    found: &'s mut Found<'a>,
    out: UnitResult,
}

impl<'s, 'a> ShardSearch<'s, 'a> {
    fn new(
        found: &'s mut Found<'a>,
        pass: &'s Pass,
        (best, top): (Best, &'s mut TopMatches),
        blocks: u64,
    ) -> Self {
        let task = found.task;
        ShardSearch {
            task,
            pass,
            query: without_long_ors(&pass.query),
            best,
            top,
            worker: Worker {
                verifier: Verifier::new(task),
                matchers: Matchers::Line(Box::new(pass.matcher.clone())),
            },
            queue: BinaryHeap::new(),
            groups: Vec::new(),
            sources: Vec::new(),
            other_level: LEVEL_MAX,
            defining: FnvHashMap::default(),
            searched: FnvHashSet::default(),
            candidates: None,
            single: 0,
            blocks,
            kept: 0,
            found,
            out: UnitResult::default(),
        }
    }

    fn run(&mut self) -> Result<Proof, Interrupted> {
        let shard = self.task.shard;
        shard.intact()?;
        if !self.find_defining()? {
            return Ok(Proof::TooMuch);
        }
        if !self.add_candidates()? {
            self.add_defining()?;
            self.add_sources()?;
        }
        let mut looked_at = 0;
        loop {
            self.task.request.cancel.check()?;
            let head = self.queue.peek().map(|Reverse((place, ..))| *place);
            let source = self.sources.last().copied();
            let next = match (head, source) {
                (None, None) => break,
                (Some(head), None) => head,
                (None, Some((bound, _))) => bound,
                (Some(head), Some((bound, _))) => head.min(bound),
            };
            if self.top.worst_place().is_some_and(|worst| worst < next) {
                break;
            }
            if let Some((bound, source)) = source
                && head.is_none_or(|head| bound <= head)
            {
                self.sources.pop();
                if !self.open(source)? {
                    return Ok(Proof::TooMuch);
                }
                continue;
            }
            let Some(Reverse((_, document, part))) = self.queue.pop() else {
                break;
            };
            if let Part::OfGroup(group) = part {
                self.push_next(group)?;
            }
            looked_at += 1;
            if looked_at > DOCUMENTS_MAX {
                return Ok(Proof::TooMuch);
            }
            if part != Part::Defining && !self.searched.insert(document.0) {
                continue;
            }
            if !self.search(document, part)? {
                return Ok(Proof::TooMuch);
            }
            if part == Part::Defining {
                self.add(document, 0, Part::Rest)?;
            }
        }
        shard.intact()?;
        if self.task.request.query.phrase.is_some() && self.out.skipped > 0 {
            // Several passes may skip a document, but it must be named once.
            return Ok(Proof::TooMuch);
        }
        self.count();
        Ok(Proof::Complete)
    }

    fn count(&mut self) {
        let (out, end) = (&mut self.out, &mut self.found.end);
        end.documents += out.documents;
        end.matched_documents += out.matched_documents;
        end.matched_blocks += out.matched_blocks;
        end.verified_bytes += out.verified_bytes;
        end.skipped += out.skipped;
        end.found += match self.task.request.want {
            _ if self.task.request.query.phrase.is_some() => self.kept,
            Want::Documents => out.matched_documents,
            Want::Matches | Want::Count | Want::Estimate => out.lines,
        };
        self.found.skips.append(&mut out.skips);
    }

    /// Adds the documents of all candidates for a phrase, if few. Returns `false` otherwise.
    fn add_candidates(&mut self) -> Result<bool, ShardError> {
        let ShardTask { shard, request, .. } = self.task;
        if !self.pass.is_of_phrase() {
            return Ok(false);
        }
        let stop = || request.cancel.is_cancelled();
        let all = shard.candidates_within(&self.query, shard.live_blocks(), &stop)?;
        let Candidates::Blocks(blocks) = self.candidates.insert(all) else {
            return Ok(false);
        };
        if blocks.len() as u64 > BLOCKS_MAX {
            return Ok(false);
        }
        let mut documents = FnvHashSet::default();
        for &block in &*blocks {
            documents.extend(shard.text_with(BlockId(block))?.documents);
        }
        for document in documents {
            let defining = self.defining.get(&document);
            let level = defining.map_or(self.other_level, |(level, _)| *level);
            self.add(DocId(document), level, Part::Rest)?;
        }
        Ok(true)
    }

    fn add_sources(&mut self) -> Result<(), ShardError> {
        let ShardTask { shard, request, .. } = self.task;
        let static_rank = shard.static_rank_from(PackageId(0))?;
        let other = self.other_definition();
        let bound = |document_rank| place(self.score(document_rank, other), 0);
        let others = bound(rank::other_document_rank(static_rank));
        let paths = bound(rank::best_document_rank(static_rank));
        self.sources = vec![(others, Source::Others)];
        if !request.query.literals.is_empty() {
            self.sources.push((paths, Source::Paths));
        }
        Ok(())
    }

    fn score(&self, document_rank: f32, defined: Defined) -> f32 {
        rank::defined_bound(
            rank::with_tier(document_rank, *self.pass.tiers.end()),
            defined,
        )
    }

    /// True if documents are searched whole, not by defining blocks first.
    fn searches_whole_documents(&self) -> bool {
        // The first line of a document may be in any block.
        self.task.request.want == Want::Documents
            || self.best != Best::Matches
            || self.pass.is_of_phrase()
    }

    /// Finds documents that may define a word. Returns `false` if too many.
    fn find_defining(&mut self) -> Result<bool, ShardError> {
        let ShardTask { shard, request, .. } = self.task;
        let Some(words) = &request.query.defined_words else {
            return Ok(true);
        };
        let stop = || request.cancel.is_cancelled();
        let other_cases = match &words.other_cases {
            TrigramQuery::None => Candidates::Blocks(Vec::new()),
            query => shard.candidates_within(query, shard.live_blocks(), &stop)?,
        };
        let Candidates::Blocks(other_cases) = other_cases else {
            return Ok(true);
        };
        let mut read = other_cases.len();
        self.note_defining(other_cases, LEVEL_MAX)?;
        for level in (1..=LEVEL_MAX).rev() {
            for word in &words.words {
                let Some(blocks) = shard.definitions(word, level)? else {
                    self.defining.clear();
                    return Ok(true);
                };
                read += blocks.len();
                if read > DEFINING_BLOCKS_MAX {
                    return Ok(false);
                }
                self.note_defining(blocks, level)?;
            }
        }
        self.other_level = 0;
        for (_, blocks) in self.defining.values_mut() {
            blocks.sort_unstable();
            blocks.dedup();
        }
        Ok(true)
    }

    fn add_defining(&mut self) -> Result<(), ShardError> {
        let part = match self.searches_whole_documents() {
            true => Part::Rest,
            false => Part::Defining,
        };
        let documents = self.defining.iter();
        let documents: Vec<_> = documents.map(|(id, (level, _))| (*id, *level)).collect();
        for (document, level) in documents {
            self.add(DocId(document), level, part)?;
        }
        Ok(())
    }

    /// Notes blocks that may define a word. Higher levels come first.
    fn note_defining(&mut self, blocks: Vec<u32>, level: u8) -> Result<(), ShardError> {
        for block in blocks {
            for document in self.task.shard.text_with(BlockId(block))?.documents {
                let (path, _) = self.task.shard.path_and_rank(DocId(document))?;
                if !document::may_define(path) {
                    continue;
                }
                let of_document = self.defining.entry(document);
                let (_, blocks) = of_document.or_insert_with(|| (level, Vec::new()));
                blocks.push(block);
            }
        }
        Ok(())
    }

    fn other_definition(&self) -> Defined {
        Defined {
            level: self.other_level,
            // The highest, if the defined words are known.
            favour: f32::from(u8::from(self.task.request.query.defined_words.is_some())),
        }
    }

    /// True if a line without a definition can be a wanted match.
    fn may_be_wanted(&self, document_rank: f32) -> bool {
        let best = place(self.score(document_rank, self.other_definition()), 0);
        self.top.worst_place().is_none_or(|worst| worst >= best)
    }

    /// Queues a part of a document, unless filters refuse it or enough matches are better.
    fn add(&mut self, id: DocId, level: u8, part: Part) -> Result<(), ShardError> {
        let ShardTask { shard, request, .. } = self.task;
        let (path, static_rank) = shard.path_and_rank(id)?;
        let document_rank = rank::document_rank(static_rank, path, &request.query.literals);
        let favour = if level > 0 { self.favour(id)? } else { 0.0 };
        let score = self.score(document_rank, Defined { level, favour });
        let worst = self.top.worst_place();
        if worst.is_some_and(|worst| worst < place(score, 0))
            || !shard.is_accepted(&request.query.filters, id)?
        {
            return Ok(());
        }
        let place = place(score, shard.document_hash(id)?);
        if worst.is_none_or(|worst| worst >= place) {
            self.queue.push(Reverse((place, id, part)));
        }
        Ok(())
    }

    fn favour(&self, id: DocId) -> Result<f32, ShardError> {
        let ShardTask { shard, request, .. } = self.task;
        let document = shard.document(id)?;
        let package = shard.package(document.package)?.directory;
        let is_own = request.query.is_own(package, document.path);
        Ok(rank::favour(is_own, false, document.path))
    }

    fn open(&mut self, source: Source) -> Result<bool, ShardError> {
        let ShardTask { shard, request, .. } = self.task;
        match source {
            Source::Paths => {
                let all = 0..shard.document_count();
                let mut lower_case = Vec::new();
                for literal in &request.query.literals {
                    let ranges = shard.documents_with_path(literal.as_bytes())?;
                    let ranges = ranges.unwrap_or_else(|| vec![all.clone()]);
                    let paths: usize = ranges.iter().map(ExactSizeIterator::len).sum();
                    if paths > PATHS_MAX {
                        return Ok(false);
                    }
                    let literal = literal.to_ascii_lowercase();
                    let literal = Finder::new(literal.as_bytes());
                    for id in ranges.into_iter().flatten() {
                        let (path, static_rank) = shard.path_and_rank(DocId(id))?;
                        if !self.may_be_wanted(rank::best_document_rank(static_rank)) {
                            continue;
                        }
                        lower_case.clear();
                        lower_case.extend_from_slice(path);
                        lower_case.make_ascii_lowercase();
                        if literal.find(&lower_case).is_some() && !self.defining.contains_key(&id) {
                            self.add(DocId(id), self.other_level, Part::Rest)?;
                        }
                    }
                }
            }
            Source::Others => {
                let groups = &shard.best_first()?.groups;
                self.groups = groups.iter().map(|(_, range)| range.clone()).collect();
                for group in 0..self.groups.len() {
                    self.push_next(group)?;
                }
            }
        }
        Ok(true)
    }

    fn push_next(&mut self, group: usize) -> Result<(), ShardError> {
        let ShardTask { shard, request, .. } = self.task;
        let documents = &shard.best_first()?.documents;
        for at in self.groups[group].by_ref() {
            let id = documents[at];
            if self.searched.contains(&id)
                || !shard.is_accepted(&request.query.filters, DocId(id))?
            {
                continue;
            }
            // Its own place may beat the documents before it; it was searched then.
            let rank = rank::other_document_rank(shard.document(DocId(id))?.static_rank);
            let score = self.score(rank, self.other_definition());
            let place = place(score, shard.document_hash(DocId(id))?);
            self.queue
                .push(Reverse((place, DocId(id), Part::OfGroup(group))));
            break;
        }
        Ok(())
    }

    /// Returns `false` if it would verify too many blocks.
    fn search(&mut self, id: DocId, part: Part) -> Result<bool, Interrupted> {
        if let Best::Documents { matches } = self.best {
            return self.search_for_score(id, matches);
        }
        let document = self.task.shard.document(id)?;
        let is_whole = self.searches_whole_documents();
        let defining = self.defining.get(&id.0).map(|(_, blocks)| blocks.clone());
        let candidates = match (part, defining) {
            (Part::Defining, defining) => Candidates::Blocks(defining.unwrap_or_default()),
            (Part::Rest | Part::OfGroup(_), Some(defining)) if !is_whole => {
                let is_new = |block: &u32| defining.binary_search(block).is_err();
                Candidates::Blocks(match self.candidates_of(&document.blocks)? {
                    Candidates::Blocks(mut blocks) => {
                        blocks.retain(is_new);
                        blocks
                    }
                    Candidates::Ranges(_) => document.blocks.clone().filter(is_new).collect(),
                })
            }
            (Part::Rest | Part::OfGroup(_), _) => self.candidates_of(&document.blocks)?,
        };
        let Some(pending) = self.verify(document, candidates)? else {
            return Ok(false);
        };
        pending
            .iter()
            .for_each(|pending| self.top.offer(&pending.key));
        self.task.threshold.raise_to(self.top);
        let matches = &mut self.found.matches;
        matches.extend(pending);
        matches.retain(|pending| !self.top.leaves_out(&pending.key));
        Ok(true)
    }

    /// Searches a document until its best score is known, and keeps the best matches seen. Returns
    /// `false` if it would verify too many blocks.
    fn search_for_score(&mut self, id: DocId, matches: usize) -> Result<bool, Interrupted> {
        if self.found.documents.contains(&id.0) {
            return Ok(true);
        }
        let document = self.task.shard.document(id)?;
        let mut blocks: Vec<u32> = match self.candidates_of(&document.blocks)? {
            Candidates::Blocks(blocks) => blocks,
            Candidates::Ranges(_) => document.blocks.clone().collect(),
        };
        // Lines of one tier without a definition score the same, so a few blocks suffice.
        let mut at_once = blocks.len();
        if self.other_level == 0 && self.pass.tiers.start() == self.pass.tiers.end() {
            let defining = self.defining.get(&id.0).map(|(_, blocks)| &blocks[..]);
            let defining = defining.unwrap_or_default();
            at_once = defining.len() + FIRST_BLOCKS;
            blocks.sort_by_key(|block| defining.binary_search(block).is_err());
        }
        while !blocks.is_empty() {
            let rest = blocks.split_off(at_once.min(blocks.len()));
            blocks.sort_unstable();
            let verified = self.verify(document.clone(), Candidates::Blocks(blocks))?;
            let Some(mut pending) = verified else {
                return Ok(false);
            };
            pending.sort_unstable_by(|a, b| a.key.cmp(&b.key));
            pending.truncate(matches);
            if let Some(first) = pending.first() {
                if !self.top.leaves_out(&first.key) {
                    self.top.offer(&first.key);
                    // The threshold stays: matches of the best documents may be worse than the best
                    // of others.
                    self.found.matches.extend(pending);
                }
                self.found.documents.insert(id.0);
                break;
            }
            blocks = rest;
        }
        Ok(true)
    }

    fn verify(
        &mut self,
        document: Document<'a>,
        candidates: Candidates,
    ) -> Result<Option<Vec<PendingMatch>>, Interrupted> {
        let ShardTask { shard, .. } = self.task;
        let candidates = ShardCandidates::Blocks(candidates);
        let blocks = candidates.blocks();
        if blocks == 0 {
            return Ok(Some(Vec::new()));
        }
        self.blocks += blocks;
        self.found.end.candidates += blocks;
        let has_slow_line = self.pass.matcher.is_slow(0)
            && candidates.has_block_longer_than(SLOW_LINE_BYTES, shard)?;
        if self.blocks > BLOCKS_MAX || has_slow_line {
            return Ok(None);
        }
        let Worker { verifier, matchers } = &mut self.worker;
        let Matchers::Line(matcher) = &*matchers else {
            unreachable!("only lines are searched best first");
        };
        let blocks_of_document = document.blocks.clone();
        let mut matches = verifier.begin(document)?;
        matches.patterns = self.pass.patterns;
        let blocks = match &candidates {
            ShardCandidates::Blocks(Candidates::Blocks(blocks)) => BlockRanges::listed(blocks),
            _ => BlockRanges::all(blocks_of_document),
        };
        verifier.search_blocks(matcher, blocks, &mut matches, &mut self.out)?;
        verifier.finish(matches, &mut self.out)?;
        let mut pending = mem::take(&mut self.out.pending).0;
        pending.retain(|it| self.pass.tiers.contains(&it.tier));
        self.kept += pending.len() as u64;
        Ok(Some(pending))
    }

    fn candidates_of(&mut self, of: &Range<u32>) -> Result<Candidates, ShardError> {
        let ShardTask { shard, request, .. } = self.task;
        let stop = || request.cancel.is_cancelled();
        if of.is_empty() {
            return Ok(Candidates::Blocks(Vec::new()));
        }
        if self.candidates.is_none() && self.single < SINGLE_DOCUMENTS {
            self.single += 1;
            return shard.candidates_within(&self.query, slice::from_ref(of), &stop);
        }
        let all = match &mut self.candidates {
            Some(all) => all,
            none => {
                none.insert(shard.candidates_within(&self.query, shard.live_blocks(), &stop)?)
            }
        };
        Ok(match all {
            Candidates::Blocks(blocks) => {
                let start = blocks.partition_point(|&block| block < of.start);
                let own = blocks[start..].partition_point(|&block| block < of.end);
                Candidates::Blocks(blocks[start..start + own].to_vec())
            }
            Candidates::Ranges(_) => Candidates::Ranges(vec![of.clone()]),
        })
    }
}

/// Query with fewer lists that rules out no more blocks.
fn without_long_ors(query: &TrigramQuery) -> Cow<'_, TrigramQuery> {
    let TrigramQuery::And(parts) = query else {
        return Cow::Borrowed(query);
    };
    let is_long = |part: &&TrigramQuery| matches!(part, TrigramQuery::Or(parts) if parts.len() > OR_OPERANDS_MAX);
    let short: Vec<TrigramQuery> = parts
        .iter()
        .filter(|part| !is_long(part))
        .cloned()
        .collect();
    if short.is_empty() || short.len() == parts.len() {
        Cow::Borrowed(query)
    } else {
        Cow::Owned(TrigramQuery::And(short))
    }
}

fn place(score: f32, hash: u64) -> DocumentPlace {
    let score = RankKey::of(score).score;
    DocumentPlace { score, hash }
}
