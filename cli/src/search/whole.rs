//! Makes matches whole: what came in part of a long line is fetched, and of a line with more ranges
//! than are sent, all are found.

use super::checked::check;
use anyhow::{Result, bail};
use frontend::Query;
use frontend::render::{ContextLine, Document, Match};
use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use schema::message::{Pattern, Syntax};
use std::cell::OnceCell;
use std::ops::Range;

/// Ranges that a backend reports of a line, at most (`backend::scan::RANGES_MAX`).
const RANGES_SENT_MAX: usize = backend::scan::RANGES_MAX;

/// Reads a part of a document: from an offset so many bytes, or fewer.
pub(super) type Read<'a> = &'a dyn Fn(&Document, u64, u64) -> Result<Vec<u8>>;

/// Makes the matches of one query whole.
pub(super) struct Whole<'a> {
    patterns: Vec<&'a Pattern>,
    matchers: OnceCell<Vec<RegexMatcher>>,
    wants_text: bool,
    wants_all_ranges: bool,
}

impl<'a> Whole<'a> {
    pub(super) fn new(query: &'a Query, look: &super::look::Look) -> Whole<'a> {
        let patterns = query.expr().patterns().into_iter();
        Whole {
            patterns: patterns.filter(|pattern| !pattern.in_path).collect(),
            matchers: OnceCell::new(),
            wants_text: look.wants_text(),
            wants_all_ranges: look.wants_all_ranges(),
        }
    }

    /// The same match with all of its line, its context, and its ranges, as far as they are wanted.
    /// What contradicts itself is an error.
    pub(super) fn make(&self, mut found: Match, read: Read<'_>) -> Result<Match> {
        check(&found)?;
        let is_cut = found.window.is_some();
        let has_more = is_cut || found.ranges.len() >= RANGES_SENT_MAX;
        let wants_ranges = self.wants_all_ranges && has_more && found.line > 0;
        if self.wants_text {
            fetch_context(&mut found, read)?;
        }
        if let Some(window) = found.window.filter(|_| self.wants_text || wants_ranges) {
            found.text = fetch(&found.document, found.offset, window.line_bytes, read)?;
            let start = window.start as usize;
            let shift = |range: &mut Range<usize>| *range = range.start + start..range.end + start;
            found.ranges.iter_mut().for_each(shift);
            found.window = None;
        }
        if wants_ranges {
            found.ranges = self.ranges(&found.text, found.ranges);
        }
        Ok(found)
    }

    /// What matches in a line: of several patterns the union, without what lies in another.
    fn ranges(&self, text: &[u8], sent: Vec<Range<usize>>) -> Vec<Range<usize>> {
        let matchers = self.matchers.get_or_init(|| {
            let compiled = self.patterns.iter().map(|pattern| compile(pattern));
            compiled.collect::<Result<_, _>>().unwrap_or_default()
        });
        let mut ranges = Vec::new();
        for matcher in matchers {
            // It has no errors.
            let _ = matcher.find_iter(text, |found| {
                ranges.push(found.start()..found.end());
                true
            });
        }
        ranges.sort_unstable_by_key(|range| (range.start, usize::MAX - range.end));
        let mut end = 0;
        ranges.retain(|range| {
            let is_next = range.start >= end;
            end = end.max(range.end);
            is_next
        });
        // What only some other alternative matches is no worse than what was sent.
        if ranges.len() >= sent.len() {
            ranges
        } else {
            sent
        }
    }
}

/// A pattern, set as a backend sets it.
fn compile(pattern: &Pattern) -> Result<RegexMatcher, grep_regex::Error> {
    RegexMatcherBuilder::new()
        .multi_line(true)
        .crlf(true)
        .fixed_strings(pattern.syntax == Syntax::Literal)
        .case_insensitive(pattern.ignore_case)
        .word(pattern.word)
        .build(&pattern.text)
}

/// Fetches the context lines of which only the length is there.
fn fetch_context(found: &mut Match, read: Read<'_>) -> Result<()> {
    let bytes = |line: &ContextLine| {
        line.window
            .map_or(line.text.len() as u64, |window| window.line_bytes)
            + 1
    };
    let mut at = found.offset;
    for line in found.before.iter_mut().rev() {
        at = at.saturating_sub(bytes(line));
        complete(&found.document, line, at, read)?;
    }
    let line_bytes = found
        .window
        .map_or(found.text.len() as u64, |window| window.line_bytes);
    let mut at = found.offset + line_bytes + 1;
    for line in &mut found.after {
        let bytes = bytes(line);
        complete(&found.document, line, at, read)?;
        at += bytes;
    }
    Ok(())
}

fn complete(document: &Document, line: &mut ContextLine, at: u64, read: Read<'_>) -> Result<()> {
    if let Some(window) = line.window.take() {
        line.text = fetch(document, at, window.line_bytes, read)?;
    }
    Ok(())
}

fn fetch(document: &Document, offset: u64, bytes: u64, read: Read<'_>) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    while (text.len() as u64) < bytes {
        let done = text.len() as u64;
        let part = read(document, offset + done, bytes - done)?;
        if part.is_empty() {
            bail!("a file has changed in the index while it was searched");
        }
        text.extend_from_slice(&part);
    }
    Ok(text)
}
