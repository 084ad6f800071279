//! Evaluates whether a document matches the expression, reading as little of it as possible.

use super::request::{Evaluation, Interrupted, ShardTask};
use super::spans;
use super::unit_result::UnitResult;
use super::verify::Verifier;
use super::work::{BlockRanges, DocumentSlice, DocumentSlices};
use crate::document_matcher::{DocumentMatcher, PatternSet, TextMatcher};
use crate::line_matcher::LineMatcher;
use crate::scan;
use index::shard::Document;
use schema::message::Expr;

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
    /// Combined matchers, with the text terms they combine. They are so few that a scan finds one.
    line_matchers: Vec<(u64, LineMatcher)>,
}

impl<'a> DocumentMatchers<'a> {
    pub(super) fn new(matcher: &'a DocumentMatcher) -> Self {
        let texts = matcher.texts.iter();
        DocumentMatchers {
            matcher,
            texts: texts.map(|text| text.matcher.clone()).collect(),
            line_matchers: Vec::new(),
        }
    }

    /// Returns the matcher of lines in which one of the text terms matches.
    pub(super) fn line_matcher(&mut self, patterns: PatternSet) -> &LineMatcher {
        let key = patterns.texts;
        let known = self.line_matchers.iter().position(|(it, _)| *it == key);
        let index = known.unwrap_or_else(|| {
            if self.line_matchers.len() == LINE_MATCHERS_MAX {
                self.line_matchers.clear();
            }
            let texts = self.matcher.texts.iter().enumerate();
            let selected = texts.filter(|(index, _)| patterns.has_text(*index));
            let expr = Expr::any(selected.map(|(_, text)| text.expr.clone()));
            let joined = LineMatcher::joined(&expr);
            let joined = joined.expect("all patterns together are within the limits");
            self.line_matchers.push((key, joined));
            self.line_matchers.len() - 1
        });
        &self.line_matchers[index].1
    }

    /// Returns the matchers of the text terms in `patterns`.
    pub(super) fn selected(&self, patterns: PatternSet) -> Vec<&TextMatcher> {
        let texts = self.texts.iter().enumerate();
        let selected = texts.filter(|(index, _)| patterns.has_text(*index));
        selected.map(|(_, matcher)| matcher).collect()
    }

    /// Evaluates a document. `slice` is one of its slices in `slices`.
    pub(super) fn evaluate(
        &self,
        verifier: &mut Verifier<'a>,
        document: &Document<'a>,
        (slice, slices): (&DocumentSlice, &DocumentSlices<'_>),
        out: &mut UnitResult,
    ) -> Result<Evaluation, Interrupted> {
        let shard = verifier.task.shard;
        let bytes = shard.text_range(document.blocks.clone())?;
        if self.matcher.is_multiline() && bytes.end - bytes.start > MULTILINE_BYTES_MAX {
            return Ok(Evaluation::TooLarge);
        }
        let package = verifier.package_of(document.id)?.directory;
        let has_text = |text: usize| match &self.texts[text] {
            TextMatcher::Line(matcher) => {
                let blocks = slices.document_blocks(slice);
                has_line(matcher, verifier, document, blocks, out)
            }
            TextMatcher::MultiLine(matcher) => {
                let text = shard.text(bytes.clone())?;
                out.verified_bytes += text.len() as u64;
                Ok(spans::is_any(matcher, text))
            }
        };
        let patterns = self.matcher.evaluate(package, document.path, has_text)?;
        Ok(patterns.map_or(Evaluation::Fails, Evaluation::Matches))
    }
}

/// Returns whether a line of the candidate blocks of a document matches.
fn has_line(
    matcher: &LineMatcher,
    verifier: &mut Verifier<'_>,
    document: &Document<'_>,
    mut blocks: BlockRanges<'_>,
    out: &mut UnitResult,
) -> Result<bool, Interrupted> {
    let ShardTask { shard, request, .. } = verifier.task;
    while let Some(blocks) = blocks.next_range(u32::MAX) {
        request.cancel.check()?;
        if !document.blocks.contains(&blocks.start) {
            return Err(shard.inconsistent("a block of another document").into());
        }
        let text = shard.read_text(shard.text_range(blocks)?, &mut verifier.text)?;
        out.verified_bytes += text.len() as u64;
        if scan::next_line(matcher, text, 0).is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}
