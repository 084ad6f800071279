//! Makes matches whole: what came in part of a long line is fetched, and of a line with more ranges
//! than are sent, all are found.

use super::checked::check;
use anyhow::{Result, anyhow, bail};
use frontend::Query;
use frontend::{ContextLine, Document, Match};
use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use schema::message::Pattern;
use std::cell::OnceCell;
use std::ops::Range;

/// Ranges that a backend reports of a line, at most (`backend::scan::RANGES_MAX`).
const RANGES_SENT_MAX: usize = backend::scan::RANGES_MAX;

/// Bytes behind a match over lines that a pattern may look at: the line's end, and a letter or two for
/// what asserts that there is one, or none.
const BEHIND_BYTES: u64 = 16;

/// Reads a part of a document: from an offset so many bytes, or fewer.
pub(super) type Read<'a> = &'a dyn Fn(&Document, u64, u64) -> Result<Vec<u8>>;

/// Makes the matches of one query whole.
pub(super) struct Whole<'a> {
    patterns: Vec<&'a Pattern>,
    judges: OnceCell<Vec<Judge>>,
    wants_text: bool,
    wants_all_ranges: bool,
}

impl<'a> Whole<'a> {
    pub(super) fn new(query: &'a Query, look: &super::look::Look) -> Whole<'a> {
        let patterns = query.expr().patterns().into_iter();
        Whole {
            patterns: patterns.filter(|pattern| !pattern.in_path).collect(),
            judges: OnceCell::new(),
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
            found.ranges = self.ranges(&found, read)?;
        }
        Ok(found)
    }

    /// What matches in a line or run: of several patterns the union, without what lies in another.
    fn ranges(&self, found: &Match, read: Read<'_>) -> Result<Vec<Range<usize>>> {
        let judges = self.judges()?;
        let mut ranges = Vec::new();
        for judge in judges.iter().filter(|judge| !judge.across) {
            judge.find(&found.text, 0, found.text.len(), &mut ranges);
        }
        if judges.iter().any(|judge| judge.across) {
            let (text, start) = with_surroundings(found, read)?;
            for judge in judges.iter().filter(|judge| judge.across) {
                judge.find(&text, start, found.text.len(), &mut ranges);
            }
        }
        ranges.sort_unstable_by_key(|range| (range.start, usize::MAX - range.end));
        let mut end = 0;
        ranges.retain(|range| {
            let is_next = range.start >= end;
            end = end.max(range.end);
            is_next
        });
        // What only some other alternative matches is no worse than what was sent.
        Ok(match ranges.len() >= found.ranges.len() {
            true => ranges,
            false => found.ranges.clone(),
        })
    }

    /// The patterns, set as a backend sets them. What it has searched for can be compiled here too.
    fn judges(&self) -> Result<&[Judge]> {
        if let Some(judges) = self.judges.get() {
            return Ok(judges);
        }
        let judges = self.patterns.iter();
        let judges = judges.map(|pattern| Judge::new(pattern, self.patterns.len()));
        let judges = judges.collect::<Result<_>>()?;
        Ok(self.judges.get_or_init(|| judges))
    }
}

/// Tells what of a text a pattern matches.
struct Judge {
    matcher: RegexMatcher,
    across: bool,
}

impl Judge {
    fn new(pattern: &Pattern, patterns: usize) -> Result<Judge> {
        let matcher = backend::pattern::compile(pattern, patterns)
            .map_err(|bad| anyhow!("{}: {}", pattern.text, bad.reason))?;
        Ok(Judge {
            matcher,
            across: backend::pattern::is_multiline(pattern),
        })
    }

    /// Appends what matches in `length` bytes of `text` from `start`, counted from there.
    fn find(&self, text: &[u8], start: usize, length: usize, out: &mut Vec<Range<usize>>) {
        let within = |at: usize| (at - start).min(length);
        let found = self.matcher.find_iter_at(text, start, |found| {
            // The last line's end is in the match's lines, what stands behind it is not.
            let end = text.len().min(start + length + 1);
            let is_within = !self.across || found.start() < end;
            if is_within {
                out.push(within(found.start())..within(found.end()));
            }
            is_within
        });
        // It has no errors.
        let _ = found;
    }
}

/// A match's lines between what stands in front of them and behind, and where they start: so that `\A`
/// and `\z` match at the document's ends alone, and the last line's end is there.
fn with_surroundings(found: &Match, read: Read<'_>) -> Result<(Vec<u8>, usize)> {
    // In front of a line stands a line's end, if anything.
    let mut text = vec![b'\n'; usize::from(found.offset > 0)];
    let start = text.len();
    text.extend_from_slice(&found.text);
    let behind = found.offset + found.text.len() as u64;
    text.extend(read(&found.document, behind, BEHIND_BYTES)?);
    Ok((text, start))
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
