//! Documents to search, with bounds of their scores: those that define a word, those with it in
//! their path, and the others.

use super::{BLOCKS_MAX, Part, ShardSearch, Source, place};
use crate::rank::{self, Defined};
use crate::search::request::ShardTask;
use fnv::FnvHashSet;
use index::document;
use index::plan::TrigramQuery;
use index::shard::{BlockId, Candidates, DocId, PackageId, ShardError};
use language::symbols::LEVEL_MAX;
use memchr::memmem::Finder;
use std::cmp::Reverse;

/// Blocks of a shard that define the searched words.
const DEFINING_BLOCKS_MAX: usize = 64 << 10;

/// Paths of a shard searched for a literal.
const PATHS_MAX: usize = 128 << 10;

impl ShardSearch<'_, '_> {
    /// Adds the documents of all candidates for a phrase, if few. Returns `false` otherwise.
    pub(super) fn add_candidates(&mut self) -> Result<bool, ShardError> {
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

    pub(super) fn add_sources(&mut self) -> Result<(), ShardError> {
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

    /// Finds documents that may define a word. Returns `false` if too many.
    pub(super) fn find_defining(&mut self) -> Result<bool, ShardError> {
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

    pub(super) fn add_defining(&mut self) -> Result<(), ShardError> {
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

    /// Queues a part of a document, unless filters refuse it or enough matches are better.
    pub(super) fn add(&mut self, id: DocId, level: u8, part: Part) -> Result<(), ShardError> {
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

    pub(super) fn open(&mut self, source: Source) -> Result<bool, ShardError> {
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

    pub(super) fn push_next(&mut self, group: usize) -> Result<(), ShardError> {
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
}
