//! Finds the best matches or documents, and proves that no unsearched document has a better one.
//!
//! A match scores at most as much as its document and a line that defines the searched word.
//! Documents come from three sources with bounds: those that define the word, those with it in
//! their path, and the others. The most promising one is searched next, until the worst kept match
//! beats every bound. A phrase takes passes: lines with the phrase, then with its words.
//!
//! **Invariant:** the matches are those of a search of all candidates. If [`BLOCKS_MAX`] or
//! [`DOCUMENTS_MAX`] do not suffice, there is no answer.

mod document;
mod sources;

use super::Worker;
use super::document_matches::{UnitResult, frames_of};
use super::request::{Interrupted, Request, ShardTask, SharedEvaluations, Sink, Stopped};
use super::symbols::Defining;
use super::top_k::{DocumentPlace, PendingMatch, Threshold, TopMatches};
use super::verify::Verifier;
use crate::matcher::compiled_query::Strategy;
use crate::matcher::document_matcher::PatternSet;
use crate::matcher::line_matcher::{self, LineMatcher};
use crate::matcher::phrase::Phrase;
use crate::pack::Packed;
use crate::rank::{self, Defined, Tier};
use fnv::{FnvHashMap, FnvHashSet};
use index::plan::TrigramQuery;
use index::shard::{Candidates, DocId};
use language::symbols::LEVEL_MAX;
use schema::message::{Progress, ShardEnd, Skip, Want};
use schema::order::RankKey;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::{Range, RangeInclusive};

/// Verified blocks: the work of a light search.
const BLOCKS_MAX: u64 = 8192;

/// Documents seen in a shard. Each costs about a microsecond.
const DOCUMENTS_MAX: usize = 16 << 10;

/// Matches per document, at most.
const PER_DOCUMENT_MAX: u32 = 10;

impl Request<'_> {
    /// Finds the best matches without counting all or, with `per_document`, the best documents,
    /// each as good as its best match. Of these it sends one match with the best score, and others
    /// of the same and following blocks. `None` if a search of all candidates may be as cheap.
    pub fn run_best_first(&self, sink: &mut dyn Sink) -> Result<Option<Vec<ShardEnd>>, Stopped> {
        let (Some(limit), Some(passes)) = (self.top_k(), self.passes()) else {
            return Ok(None);
        };
        let mut top = TopMatches::new(limit);
        let threshold = Threshold::default();
        let evaluations = SharedEvaluations::default();
        let defining = self.shards.iter().map(|shard| {
            // The search meets an unreadable shard again.
            self.defining(shard).unwrap_or(Defining::Anywhere)
        });
        let defining: Vec<_> = defining.collect();
        let tasks = defining.iter().enumerate();
        let tasks = tasks.map(|(index, defining)| {
            ShardTask::new(self, index, &threshold, &evaluations, defining)
        });
        let found = tasks.map(|task| Found {
            task,
            matches: Vec::new(),
            documents: FnvHashSet::default(),
            skips: Vec::new(),
            end: task.end(),
        });
        let mut searches: Vec<Found<'_>> = found.collect();
        let mut blocks = 0;
        for pass in &passes {
            let in_histories = self.query.filters.in_histories;
            let searched = searches.iter_mut().filter(|it| {
                it.end.failure.is_empty() && it.task.shard.is_history() == in_histories
            });
            for found in searched {
                let mut search = ShardSearch::new(found, pass, &mut top, blocks);
                match search.run() {
                    Ok(true) => {}
                    Ok(false) => return Ok(None),
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
        let finds_all = passes.last().is_some_and(|pass| !pass.is_of_phrase());
        if !finds_all && !top.is_full() {
            return Ok(None);
        }
        let mut progress = Progress::default();
        let mut ends = Vec::with_capacity(searches.len());
        for search in searches {
            let (mut found, mut end) = (search.matches, search.end);
            if self.search.per_document == 0 {
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
            let frames = frames_of(packed, &search.skips, &mut end, &mut progress);
            progress.blocks_done += end.candidates;
            progress.blocks_total = progress.blocks_done;
            progress.documents += end.documents;
            sink.frames(frames, &progress)?;
            ends.push(end);
        }
        Ok(Some(ends))
    }
}

impl Request<'_> {
    /// Passes, best matches first. `None` if the query needs another kind of search.
    fn passes(&self) -> Option<Vec<Pass>> {
        match (&self.query.strategy, &self.query.phrase) {
            (Strategy::Lines { matcher, query }, None) => Some(vec![Pass::last(matcher, query)]),
            (_, Some(_)) if self.search.want == Want::Documents => None,
            (Strategy::Lines { matcher, query }, Some(phrase)) => {
                let query_of_phrase = TrigramQuery::and([query.clone(), phrase.plan()]);
                let first = Pass {
                    query: query_of_phrase,
                    tiers: Tier::PHRASE..=Tier::MAX,
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
}

impl Pass {
    fn last(matcher: &LineMatcher, query: &TrigramQuery) -> Pass {
        Pass {
            query: query.clone(),
            matcher: matcher.for_blocks(0),
            tiers: Tier::default()..=Tier::default(),
            patterns: PatternSet::default(),
        }
    }

    fn of_words(phrase: &Phrase) -> Option<Vec<Pass>> {
        let line = phrase.on_one_line();
        let matcher = LineMatcher::new(&line, &phrase.compiler.for_all()).ok()?;
        let query = line_matcher::plan(&line).ok()?;
        let pass = |tiers, query| Pass {
            tiers,
            patterns: PatternSet::of_texts(phrase.word_count()),
            ..Pass::last(&matcher, &query)
        };
        let query_of_phrase = TrigramQuery::and([query.clone(), phrase.plan()]);
        Some(vec![
            pass(Tier::PHRASE..=Tier::MAX, query_of_phrase),
            pass(Tier::LINE..=Tier::LINE, query),
        ])
    }

    /// False if no match is left after it.
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
    skips: Vec<Skip>,
    end: ShardEnd,
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
    /// Best matches, or one for each of the best documents.
    top: &'s mut TopMatches,
    verifier: Verifier<'a>,
    matcher: LineMatcher,
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
    fn new(found: &'s mut Found<'a>, pass: &'s Pass, top: &'s mut TopMatches, blocks: u64) -> Self {
        let task = found.task;
        ShardSearch {
            task,
            pass,
            query: without_long_ors(&pass.query),
            top,
            verifier: Verifier::new(task),
            matcher: pass.matcher.clone(),
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

    /// Searches until no unsearched document can have a wanted match. Returns `false` if the search
    /// would exceed its bounds.
    fn run(&mut self) -> Result<bool, Interrupted> {
        let shard = self.task.shard;
        shard.intact()?;
        if !self.find_defining()? {
            return Ok(false);
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
            let bounds = head.into_iter().chain(source.map(|(bound, _)| bound));
            let Some(next) = bounds.min() else {
                break;
            };
            if self.top.worst_place().is_some_and(|worst| worst < next) {
                break;
            }
            if let Some((bound, source)) = source
                && head.is_none_or(|head| bound <= head)
            {
                self.sources.pop();
                if !self.open(source)? {
                    return Ok(false);
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
                return Ok(false);
            }
            if part != Part::Defining && !self.searched.insert(document.0) {
                continue;
            }
            if !self.search(document, part)? {
                return Ok(false);
            }
            if part == Part::Defining {
                self.add(document, 0, Part::Rest)?;
            }
        }
        shard.intact()?;
        if self.task.request.query.phrase.is_some() {
            if !self.out.skips.is_empty() {
                // Several passes may skip a document, but it must be named once.
                return Ok(false);
            }
            self.out.lines = self.kept;
        }
        self.out
            .count_in(&mut self.found.end, self.task.request.search.want);
        self.found.skips.append(&mut self.out.skips);
        Ok(true)
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
        let search = self.task.request.search;
        search.want == Want::Documents || search.per_document > 0 || self.pass.is_of_phrase()
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
}

/// Longer ORs beside other conditions are left out: their lists cost more than verifying the blocks
/// only they rule out.
const OR_OPERANDS_MAX: usize = 8;

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
