//! Evaluates whether a document matches the expression, reading as little of it as possible.

use super::document_slices::{DocumentSlice, DocumentSlices};
use super::request::Interrupted;
use super::shard_task::Evaluation;
use super::spans;
use super::unit_result::UnitResult;
use super::verify::Verifier;
use crate::document_matcher::{DocumentMatcher, DocumentSource, PatternSet, TextMatcher};
use crate::line_matcher::LineMatcher;
use crate::scan;
use index::shard::Document;
use schema::message::Expr;
use std::collections::HashMap;
use std::ops::Range;

/// Bytes of a document that is searched for matches over several lines. It is searched as a whole,
/// and all its matches are sent at once. A larger one is skipped with a message.
pub(super) const MULTILINE_BYTES_MAX: u64 = 64 << 20;

/// Combined matchers that a worker keeps, of which each may take as much memory as all patterns of
/// a query together. A query needs one or two of them, but can be written to need a new one for
/// each document.
const LINE_MATCHERS_MAX: usize = 4;

/// A worker's copy of the matchers of a query that is evaluated document by document.
pub(super) struct DocumentMatchers<'a> {
    pub(super) matcher: &'a DocumentMatcher,
    texts: Vec<TextMatcher>,
    /// Combined matchers, by the text terms they combine.
    line_matchers: HashMap<u64, LineMatcher>,
}

impl<'a> DocumentMatchers<'a> {
    pub(super) fn new(matcher: &'a DocumentMatcher) -> Self {
        let texts = matcher.texts.iter();
        DocumentMatchers {
            matcher,
            texts: texts.map(|text| text.matcher.clone()).collect(),
            line_matchers: HashMap::new(),
        }
    }

    /// Returns the matcher of lines in which one of the text terms matches.
    pub(super) fn line_matcher(&mut self, patterns: PatternSet) -> &LineMatcher {
        let key = patterns.texts;
        let is_known = self.line_matchers.contains_key(&key);
        if !is_known && self.line_matchers.len() == LINE_MATCHERS_MAX {
            self.line_matchers.clear();
        }
        self.line_matchers.entry(key).or_insert_with(|| {
            let texts = self.matcher.texts.iter().enumerate();
            let selected = texts.filter(|(index, _)| patterns.has_text(*index));
            let expr = Expr::any(selected.map(|(_, text)| text.expr.clone()));
            LineMatcher::joined(&expr).expect("all patterns together are within the limits")
        })
    }

    /// Returns the matchers of the text terms in `patterns`.
    pub(super) fn selected(&self, patterns: PatternSet) -> Vec<&TextMatcher> {
        let texts = self.texts.iter().enumerate();
        let selected = texts.filter(|(index, _)| patterns.has_text(*index));
        selected.map(|(_, matcher)| matcher).collect()
    }

    /// Evaluates a document. `slice` is one of its slices in `slices`.
    pub(super) fn evaluate<'s>(
        &'s self,
        verifier: &'s mut Verifier<'a>,
        document: &'s Document<'a>,
        (slice, slices): (&'s DocumentSlice, &'s DocumentSlices<'s>),
        out: &'s mut UnitResult,
    ) -> Result<Evaluation, Interrupted> {
        let bytes = verifier.task.shard.text_range(document.blocks.clone())?;
        if self.matcher.is_multiline() && bytes.end - bytes.start > MULTILINE_BYTES_MAX {
            return Ok(Evaluation::TooLarge);
        }
        let patterns = self.matcher.evaluate(&mut ShardDocument {
            package: verifier.package_of(document.id)?.directory,
            verifier,
            texts: &self.texts,
            document,
            bytes,
            slice,
            slices,
            out,
        })?;
        Ok(patterns.map_or(Evaluation::Fails, Evaluation::Matches))
    }
}

/// A document in its shard.
struct ShardDocument<'s, 'a> {
    verifier: &'s mut Verifier<'a>,
    texts: &'s [TextMatcher],
    package: &'a [u8],
    document: &'s Document<'a>,
    /// Where its text is.
    bytes: Range<u64>,
    slice: &'s DocumentSlice,
    slices: &'s DocumentSlices<'s>,
    out: &'s mut UnitResult,
}

impl DocumentSource for ShardDocument<'_, '_> {
    type Error = Interrupted;

    fn package(&self) -> &[u8] {
        self.package
    }

    fn path(&self) -> &[u8] {
        self.document.path
    }

    fn matches(&mut self, text: usize) -> Result<bool, Interrupted> {
        match &self.texts[text] {
            TextMatcher::Line(matcher) => self.has_line(matcher),
            TextMatcher::MultiLine(matcher) => {
                let text = self.verifier.task.shard.text(self.bytes.clone())?;
                self.out.verified_bytes += text.len() as u64;
                Ok(spans::is_any(matcher, text))
            }
        }
    }
}

impl ShardDocument<'_, '_> {
    /// Returns whether a line of the candidate blocks matches.
    fn has_line(&mut self, matcher: &LineMatcher) -> Result<bool, Interrupted> {
        let (shard, request) = (self.verifier.task.shard, self.verifier.task.request);
        let mut blocks = self.slices.document_blocks(self.slice);
        while let Some(blocks) = blocks.next_range(u32::MAX) {
            request.cancel.check()?;
            if !self.document.blocks.contains(&blocks.start) {
                return Err(shard.inconsistent("a block of another document").into());
            }
            let text = shard.read_text(shard.text_range(blocks)?, &mut self.verifier.text)?;
            self.out.verified_bytes += text.len() as u64;
            if scan::next_line(matcher, text, 0).is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
