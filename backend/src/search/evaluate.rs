//! Documents as wholes: judged once, and then searched with those patterns that contribute.
//!
//! A document of which several units have a part is judged by whoever comes to it first; the others
//! wait for that.

use super::document_slices::{DocumentSlice, DocumentSlices};
use super::spans;
use super::worker::{DocumentMatches, WorkResult, Worker};
use super::{Interrupted, ShardTask};
use crate::compiled_query::Strategy;
use crate::document_matcher::{DocumentMatcher, DocumentSource, PatternSet, TextMatcher};
use crate::line_matcher::LineMatcher;
use crate::scan;
use index::shard::{DocId, Document};
use schema::message::{Expr, Skip};
use std::collections::HashMap;
use std::ops::{ControlFlow, Range};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of a document that is searched for matches over lines: it is searched as a whole, and what is
/// found in it is sent at once. A larger one is skipped, and said to be.
pub(super) const ACROSS_BYTES_MAX: u64 = 64 << 20;

/// Matchers of several patterns together that a worker keeps, of which each may take as much as all
/// patterns of a query: a query has one or two of them, but could be made to have a new one for each
/// document.
const MATCHERS_MAX: usize = 4;

/// By shard and number, what is known of the documents of which several units have a part: one in
/// 64 blocks at most, and what was known of a shard is forgotten with its last unit.
#[derive(Default)]
pub(super) struct SharedEvaluations(Mutex<HashMap<(u32, u32), Entry>>);

/// Is held by whoever judges the document.
type Entry = Arc<Mutex<Option<Evaluation>>>;

impl SharedEvaluations {
    /// Forgets what a shard's documents were judged to be.
    pub(super) fn forget(&self) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }
}

/// What has come of judging a document.
#[derive(Clone, Copy, Debug)]
enum Evaluation {
    Holds(PatternSet),
    DoesNot,
    /// It is too large to be judged.
    TooLarge,
}

/// A worker's own judges.
pub(super) struct WorkerMatchers<'a> {
    matcher: &'a DocumentMatcher,
    texts: Vec<TextMatcher>,
    /// By the texts that they are of.
    lines: HashMap<u64, Arc<LineMatcher>>,
}

impl<'a> WorkerMatchers<'a> {
    pub(super) fn new(task: ShardTask<'a>) -> Option<Self> {
        match &task.request.compiled.strategy {
            Strategy::Lines { .. } => None,
            Strategy::Documents(matcher) => Some(WorkerMatchers {
                matcher,
                texts: matcher
                    .texts
                    .iter()
                    .map(|text| text.judge.clone())
                    .collect(),
                lines: HashMap::new(),
            }),
        }
    }

    /// The judge of a line that one of the marked texts matches.
    fn lines(&mut self, marks: PatternSet) -> Arc<LineMatcher> {
        if let Some(matcher) = self.lines.get(&marks.texts) {
            return Arc::clone(matcher);
        }
        let texts = self.matcher.texts.iter().enumerate();
        let marked = texts.filter(|(index, _)| marks.texts >> index & 1 == 1);
        let expr = Expr::any(marked.map(|(_, text)| text.expr.clone()));
        let matcher = LineMatcher::joined(&expr).expect("all patterns together are within bounds");
        if self.lines.len() == MATCHERS_MAX {
            self.lines.clear();
        }
        let matcher = Arc::new(matcher);
        self.lines.insert(marks.texts, Arc::clone(&matcher));
        matcher
    }

    fn marked(&self, marks: PatternSet) -> Vec<&TextMatcher> {
        let texts = self.texts.iter().enumerate();
        let marked = texts.filter(|(index, _)| marks.texts >> index & 1 == 1);
        marked.map(|(_, judge)| judge).collect()
    }
}

impl<'a> Worker<'a> {
    pub(super) fn search_items(
        &mut self,
        items: &[DocumentSlice],
        all: &DocumentSlices<'_>,
        unit: &mut WorkResult,
    ) -> Result<(), Interrupted> {
        for item in items {
            self.go_on()?;
            let document = self.task.shard.document(DocId(item.document))?;
            self.search_item(item, all, document, unit)?;
        }
        Ok(())
    }

    fn search_item(
        &mut self,
        item: &DocumentSlice,
        all: &DocumentSlices<'_>,
        document: Document<'a>,
        unit: &mut WorkResult,
    ) -> Result<(), Interrupted> {
        let id = document.id;
        unit.blocks += item.weight();
        let resolution = self.resolve(item, all, &document, unit)?;
        let mut found = self.begin(document)?;
        match resolution {
            Evaluation::DoesNot => {}
            Evaluation::TooLarge if item.is_first => self.skip(&found, unit)?,
            Evaluation::TooLarge => {}
            Evaluation::Holds(marks) if marks.texts == 0 => {
                // Its parts behind the first one have nothing of it.
                if item.is_first {
                    self.find_name(marks, &mut found, unit)?;
                }
                found.matched = true;
            }
            Evaluation::Holds(marks) if self.crosses_lines() => {
                if item.is_first {
                    self.search_whole(marks, &mut found, unit)?;
                }
                found.matched = true;
            }
            Evaluation::Holds(marks) => self.search_lines(item, all, marks, &mut found, unit)?,
        }
        let matched = found.matched;
        self.end(found, &mut unit.packed)?;
        unit.count_document(id, matched);
        Ok(())
    }

    fn crosses_lines(&self) -> bool {
        let judges = self.judges.as_ref();
        judges.is_some_and(|judges| judges.matcher.crosses_lines())
    }

    /// The lines of an item's blocks that the marked texts match.
    fn search_lines(
        &mut self,
        item: &DocumentSlice,
        all: &DocumentSlices<'_>,
        marks: PatternSet,
        found: &mut DocumentMatches<'a>,
        unit: &mut WorkResult,
    ) -> Result<(), Interrupted> {
        let matcher = self.judges().lines(marks);
        found.marks = marks;
        let mut blocks = all.runs(item);
        while let Some(run) = blocks.next_range(u32::MAX) {
            if !found.is_done() {
                self.search_run(&matcher, run, found, unit)?;
            }
            self.go_on()?;
        }
        Ok(())
    }

    /// The runs of lines of a whole document that the marked texts match.
    fn search_whole(
        &mut self,
        marks: PatternSet,
        found: &mut DocumentMatches<'a>,
        unit: &mut WorkResult,
    ) -> Result<(), Interrupted> {
        found.marks = marks;
        let judges = self.judges.take().expect("documents are judged");
        let result = self.search_whole_with(&judges.marked(marks), found, unit);
        self.judges = Some(judges);
        result
    }

    fn search_whole_with(
        &mut self,
        judges: &[&TextMatcher],
        found: &mut DocumentMatches<'a>,
        unit: &mut WorkResult,
    ) -> Result<(), Interrupted> {
        let ShardTask { shard, request, .. } = self.task;
        let blocks = found.document.blocks.clone();
        if blocks.is_empty() {
            return Ok(());
        }
        let text = shard.text(shard.text_range(blocks.clone())?)?;
        unit.verified_bytes += text.len() as u64;
        let mut lines = super::line_locator::LineLocator::new(shard, blocks)?;
        let mut result = Ok(());
        let stop = || request.cancel.is_cancelled();
        spans::for_each(judges, text, 0, &stop, |run, ranges| {
            found.matched = true;
            unit.lines += 1;
            result = match found.counts_only {
                true => lines.enter(&run),
                false => lines.place_run(text, &run).and_then(|place| {
                    let out = (&mut unit.packed, &mut self.keeping);
                    found.push(place, &text[run], ranges, out)
                }),
            };
            match result.is_err() || found.is_done() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        unit.matched_blocks += lines.matched_blocks;
        self.go_on()?;
        Ok(result?)
    }

    fn find_name(
        &mut self,
        marks: PatternSet,
        found: &mut DocumentMatches<'a>,
        unit: &mut WorkResult,
    ) -> Result<(), Interrupted> {
        found.marks = marks;
        unit.lines += 1;
        if found.counts_only {
            return Ok(());
        }
        let matcher = self.judges().matcher;
        let ranges = matcher.path_ranges(marks, found.document.path);
        Ok(found.push_name(&ranges, (&mut unit.packed, &mut self.keeping))?)
    }

    /// Packs a match of a document that was judged before.
    pub(super) fn pack_marked(
        &mut self,
        kept: &super::top_k::PendingMatch,
        found: &mut DocumentMatches<'a>,
        out: &mut crate::batch::Packed,
    ) -> Result<(), Interrupted> {
        let (shard, place) = (self.task.shard, kept.place);
        if place.number == 0 {
            let matcher = self.judges().matcher;
            let ranges = matcher.path_ranges(kept.marks, found.document.path);
            return Ok(found.pack_name(&ranges, out)?);
        }
        let line = shard.text(place.start..place.end)?;
        let mut ranges = std::mem::take(&mut self.ranges);
        if self.crosses_lines() {
            let whole = shard.text_range(found.document.blocks.clone())?;
            // What matches in the run ends with it, so nothing behind it need be looked at.
            let text = shard.text(whole.start..place.end)?;
            let at = place.start.saturating_sub(whole.start) as usize;
            let judges = self.judges().marked(kept.marks);
            spans::for_each(&judges, text, at, &|| false, |_, all| {
                ranges.clone_from(all);
                ControlFlow::Break(())
            });
        } else {
            let matcher = self.judges().lines(kept.marks);
            scan::ranges(&matcher.finder, scan::without_end(line), &mut ranges);
        }
        let packed = found.pack(place, line, kept.key.rank(), &ranges, out);
        self.ranges = ranges;
        Ok(packed?)
    }

    fn judges(&mut self) -> &mut WorkerMatchers<'a> {
        self.judges.as_mut().expect("documents are judged")
    }

    /// What has come of judging an item's document; it is judged if nobody has.
    fn resolve(
        &mut self,
        item: &DocumentSlice,
        all: &DocumentSlices<'_>,
        document: &Document<'a>,
        unit: &mut WorkResult,
    ) -> Result<Evaluation, Interrupted> {
        if item.is_whole {
            return self.judge(item, all, document, unit);
        }
        let entry = {
            // A worker that panicked has left the map whole.
            let known = self.task.resolved.0.lock();
            let mut known = known.unwrap_or_else(PoisonError::into_inner);
            Arc::clone(known.entry((self.task.index, item.document)).or_default())
        };
        let mut entry = entry.lock().unwrap_or_else(PoisonError::into_inner);
        match *entry {
            Some(resolution) => Ok(resolution),
            None => {
                let resolution = self.judge(item, all, document, unit)?;
                *entry = Some(resolution);
                Ok(resolution)
            }
        }
    }

    fn judge(
        &mut self,
        item: &DocumentSlice,
        all: &DocumentSlices<'_>,
        document: &Document<'a>,
        unit: &mut WorkResult,
    ) -> Result<Evaluation, Interrupted> {
        let shard = self.task.shard;
        let bytes = shard.text_range(document.blocks.clone())?;
        if self.crosses_lines() && bytes.end - bytes.start > ACROSS_BYTES_MAX {
            return Ok(Evaluation::TooLarge);
        }
        let directory = self.package_of(document.id)?.directory;
        let judges = self.judges.take().expect("documents are judged");
        let mut look = ShardDocument {
            searcher: self,
            judges: &judges,
            directory,
            document,
            bytes,
            item,
            all,
            unit,
        };
        let marks = judges.matcher.judge(&mut look);
        self.judges = Some(judges);
        Ok(match marks? {
            Some(marks) => Evaluation::Holds(marks),
            None => Evaluation::DoesNot,
        })
    }

    fn skip(
        &mut self,
        found: &DocumentMatches<'a>,
        unit: &mut WorkResult,
    ) -> Result<(), Interrupted> {
        let skip = Skip {
            shard: self.task.index,
            document: found.document.id.0,
            package: found.package.to_vec(),
            path: found.document.path.to_vec(),
            reason: format!(
                "it is too large to be searched for what goes over lines: the most is \
                 {ACROSS_BYTES_MAX} bytes (ACROSS_BYTES_MAX)"
            ),
        };
        unit.skipped += 1;
        skip.encode(&mut unit.skips)
            .expect("names and a reason are far below a frame's bound");
        Ok(())
    }
}

/// A document in its shard.
struct ShardDocument<'s, 'a, 'i> {
    searcher: &'s mut Worker<'a>,
    judges: &'s WorkerMatchers<'a>,
    directory: &'a [u8],
    document: &'s Document<'a>,
    /// Where its text is.
    bytes: Range<u64>,
    item: &'s DocumentSlice,
    all: &'s DocumentSlices<'i>,
    unit: &'s mut WorkResult,
}

impl DocumentSource for ShardDocument<'_, '_, '_> {
    type Error = Interrupted;

    fn directory(&self) -> &[u8] {
        self.directory
    }

    fn path(&self) -> &[u8] {
        self.document.path
    }

    fn matches(&mut self, text: usize) -> Result<bool, Interrupted> {
        match &self.judges.texts[text] {
            TextMatcher::Line(matcher) => self.matches_in_line(matcher),
            TextMatcher::MultiLine(matcher) => {
                let text = self.searcher.task.shard.text(self.bytes.clone())?;
                self.unit.verified_bytes += text.len() as u64;
                Ok(spans::is_any(matcher, text))
            }
        }
    }
}

impl ShardDocument<'_, '_, '_> {
    fn matches_in_line(&mut self, matcher: &LineMatcher) -> Result<bool, Interrupted> {
        let shard = self.searcher.task.shard;
        let mut runs = self.all.document_runs(self.item);
        let mut buffer = std::mem::take(&mut self.searcher.text);
        let mut found = Ok(false);
        while let Some(run) = runs.next_range(u32::MAX) {
            self.searcher.go_on()?;
            if !self.document.blocks.contains(&run.start) {
                found = Err(shard.inconsistent("a block of another document"));
                break;
            }
            let text = shard
                .text_range(run)
                .and_then(|range| shard.read_text(range, &mut buffer));
            found = text.map(|text| {
                self.unit.verified_bytes += text.len() as u64;
                scan::next_line(matcher, text, 0).is_some()
            });
            if !matches!(found, Ok(false)) {
                break;
            }
        }
        self.searcher.text = buffer;
        Ok(found?)
    }
}
