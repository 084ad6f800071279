//! Completes matches: partial lines, and ranges that a backend does not send. Validates matches of
//! untrusted servers.
//!
//! Long unchanged lines come in pieces of [`PIECE_BYTES`], so they need not fit in memory.
//!
//! **Invariant:** in a valid match, ranges and windows are inside their lines; no offset or line
//! number overflows.

use super::print_options::PrintOptions;
use crate::terminal::escaped;
use anyhow::{Result, anyhow, bail, ensure};
use backend::line_matcher::RANGES_MAX;
use frontend::{ContextLine, Document, Match, Query, Window};
use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use schema::message::Pattern;
use std::cell::OnceCell;
use std::ops::Range;

/// Room for the line end, and characters inspected by `\b` or `$`.
const LOOKAHEAD_BYTES: u64 = 16;

const PIECE_BYTES: u64 = 1 << 20;

/// Reads at an offset. May return fewer bytes.
pub(crate) type ReadFile<'a> = &'a dyn Fn(&Document, u64, u64) -> Result<Vec<u8>>;

pub(crate) struct LineFetcher<'a> {
    patterns: Vec<&'a Pattern>,
    matchers: OnceCell<Vec<PatternMatcher>>,
    options: PrintOptions,
}

impl<'a> LineFetcher<'a> {
    pub(crate) fn new(query: &'a Query, options: &PrintOptions) -> LineFetcher<'a> {
        let patterns = query.expr.patterns().into_iter();
        LineFetcher {
            patterns: patterns.filter(|pattern| !pattern.in_path).collect(),
            matchers: OnceCell::new(),
            options: options.clone(),
        }
    }

    /// Lines printed in pieces keep their window. Rejects invalid matches.
    pub(crate) fn complete(&self, mut found: Match, read: ReadFile<'_>) -> Result<Match> {
        validate(&found)?;
        let is_cut = found.window.is_some();
        if is_cut && self.options.takes_pieces() && found.line > 0 && found.lines <= 1 {
            return Ok(found);
        }
        let has_more = is_cut || found.ranges.len() >= RANGES_MAX;
        let wants_ranges = self.options.wants_all_ranges() && has_more && found.line > 0;
        let wants_text = self.options.wants_text();
        if wants_text {
            fetch_context(&mut found, read)?;
        }
        if let Some(window) = found.window.filter(|_| wants_text || wants_ranges) {
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

    /// Union over all patterns, without nested ranges.
    fn ranges(&self, found: &Match, read: ReadFile<'_>) -> Result<Vec<Range<usize>>> {
        let matchers = self.matchers()?;
        let mut ranges = Vec::new();
        for matcher in matchers.iter().filter(|matcher| !matcher.multi_line) {
            matcher.find(&found.text, 0, found.text.len(), &mut ranges);
        }
        if matchers.iter().any(|matcher| matcher.multi_line) {
            let (text, start) = with_surroundings(found, read)?;
            for matcher in matchers.iter().filter(|matcher| matcher.multi_line) {
                matcher.find(&text, start, found.text.len(), &mut ranges);
            }
        }
        ranges.sort_unstable_by_key(|range| (range.start, usize::MAX - range.end));
        let mut end = 0;
        ranges.retain(|range| {
            let is_next = range.start >= end;
            end = end.max(range.end);
            is_next
        });
        // Several patterns can find fewer ranges than the backend.
        if ranges.len() < found.ranges.len() {
            ranges.clone_from(&found.ranges);
        }
        Ok(ranges)
    }

    /// Lazy: few outputs need them.
    fn matchers(&self) -> Result<&[PatternMatcher]> {
        if let Some(matchers) = self.matchers.get() {
            return Ok(matchers);
        }
        let patterns = self.patterns.iter();
        let matchers = patterns.map(|pattern| PatternMatcher::new(pattern, self.patterns.len()));
        let matchers = matchers.collect::<Result<_>>()?;
        Ok(self.matchers.get_or_init(|| matchers))
    }
}

struct PatternMatcher {
    regex: RegexMatcher,
    multi_line: bool,
}

impl PatternMatcher {
    fn new(pattern: &Pattern, patterns: usize) -> Result<PatternMatcher> {
        let regex = backend::pattern::compile(pattern, patterns)
            .map_err(|bad| anyhow!("{}: {}", pattern.text, bad.reason))?;
        Ok(PatternMatcher {
            regex,
            multi_line: backend::pattern::is_multiline(pattern),
        })
    }

    /// Ranges in `length` bytes from `start`, relative to `start`.
    fn find(&self, text: &[u8], start: usize, length: usize, out: &mut Vec<Range<usize>>) {
        let within = |at: usize| (at - start).min(length);
        let found = self.regex.find_iter_at(text, start, |found| {
            // The last line end belongs to the span, later text does not.
            let end = text.len().min(start + length + 1);
            let is_within = !self.multi_line || found.start() < end;
            if is_within {
                out.push(within(found.start())..within(found.end()));
            }
            is_within
        });
        found.expect("matching a text in memory cannot fail");
    }
}

/// Adds surroundings, so `\A` and `\z` match only at the ends of the document, and the last line
/// end is included.
fn with_surroundings(found: &Match, read: ReadFile<'_>) -> Result<(Vec<u8>, usize)> {
    // A line end precedes every line but the first.
    let mut text = vec![b'\n'; usize::from(found.offset > 0)];
    let start = text.len();
    text.extend_from_slice(&found.text);
    let end = found.offset + found.text.len() as u64;
    text.extend(read(&found.document, end, LOOKAHEAD_BYTES)?);
    Ok((text, start))
}

fn fetch_context(found: &mut Match, read: ReadFile<'_>) -> Result<()> {
    let bytes = |text: &[u8], window: Option<Window>| {
        window.map_or(text.len() as u64, |window| window.line_bytes) + 1
    };
    let complete = |line: &mut ContextLine, at| {
        if let Some(window) = line.window.take() {
            line.text = fetch(&found.document, at, window.line_bytes, read)?;
        }
        anyhow::Ok(())
    };
    let mut at = found.offset;
    for line in found.before.iter_mut().rev() {
        at = at.saturating_sub(bytes(&line.text, line.window));
        complete(line, at)?;
    }
    let mut at = found.offset + bytes(&found.text, found.window);
    for line in &mut found.after {
        let bytes = bytes(&line.text, line.window);
        complete(line, at)?;
        at += bytes;
    }
    Ok(())
}

fn fetch(document: &Document, offset: u64, bytes: u64, read: ReadFile<'_>) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    for_each_piece(document, offset, bytes, read, |piece| {
        text.extend_from_slice(piece);
        Ok(())
    })?;
    Ok(text)
}

pub(super) fn for_each_piece(
    document: &Document,
    offset: u64,
    bytes: u64,
    read: ReadFile<'_>,
    mut each: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let mut done = 0;
    while done < bytes {
        let piece = read(document, offset + done, PIECE_BYTES.min(bytes - done))?;
        let rest = usize::try_from(bytes - done).unwrap_or(usize::MAX);
        let piece = &piece[..piece.len().min(rest)];
        if piece.is_empty() {
            let (package, path) = (escaped(&document.package), escaped(&document.path));
            bail!("{package}/{path}: the index changed during the search; search again");
        }
        each(piece)?;
        done += piece.len() as u64;
    }
    Ok(())
}

fn validate(found: &Match) -> Result<()> {
    ensure!(
        is_valid(found),
        "invalid match from the server: {}/{}:{}: a range is outside of its line, or a line outside of its \
         file; is this a Trawl server of the same version?",
        String::from_utf8_lossy(&found.document.package),
        String::from_utf8_lossy(&found.document.path),
        found.line
    );
    Ok(())
}

fn is_valid(found: &Match) -> bool {
    let mut ranges = found.ranges.iter();
    let lines = found.before.iter().chain(&found.after);
    let lengths = lines.map(|ContextLine { text, window, .. }| length(text, *window));
    // Line ends take one byte.
    let mut lengths = lengths.chain([length(&found.text, found.window)]);
    let end = lengths.try_fold(found.offset, |at, it| at.checked_add(it?)?.checked_add(1));
    ranges.all(|range| range.start <= range.end && range.end <= found.text.len())
        && found.line.checked_add(found.lines).is_some()
        && end.is_some()
}

/// `None` if the window is outside.
fn length(text: &[u8], window: Option<Window>) -> Option<u64> {
    let Some(Window { start, line_bytes }) = window else {
        return Some(text.len() as u64);
    };
    let end = start.checked_add(text.len() as u64)?;
    (end <= line_bytes).then_some(line_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use frontend::Document;
    use std::sync::Arc;

    fn found() -> Match {
        Match {
            document: Arc::new(Document::default()),
            line: 7,
            lines: 1,
            text: b"abc".to_vec(),
            ranges: vec![0..1, 3..3],
            before: vec![],
            after: vec![ContextLine {
                line: 8,
                text: b"after".to_vec(),
                window: None,
            }],
            rank: 1.0,
            offset: 40,
            window: None,
            kinds: 0,
            copies: None,
            changed: None,
        }
    }

    #[test]
    fn rejects_matches_that_contradict_themselves() {
        let windowed = |start, line_bytes| Some(Window { start, line_bytes });
        let reversed = std::ops::Range { start: 2, end: 1 };
        assert!(is_valid(&found()));
        let rejects = |change: fn(&mut Match)| {
            let mut found = found();
            change(&mut found);
            let error = validate(&found).unwrap_err().to_string();
            assert!(
                error.contains("invalid match from the server: /:"),
                "{error}"
            );
        };
        rejects(|it| it.ranges.push(3..4));
        rejects(|it| it.ranges.push(usize::MAX..usize::MAX));
        rejects(|it| it.offset = u64::MAX - 5);
        rejects(|it| it.line = u32::MAX);
        for (window, ranges) in [
            (windowed(1, 3), vec![]),
            (windowed(u64::MAX, 3), vec![]),
            (windowed(1, u64::MAX), vec![]),
            (windowed(0, 3), vec![reversed]),
        ] {
            assert!(
                !is_valid(&Match {
                    window,
                    ranges,
                    ..found()
                }),
                "{window:?}"
            );
        }
        let window = windowed(1, 4);
        assert!(is_valid(&Match { window, ..found() }));
    }
}
