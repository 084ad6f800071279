//! Files with their matches in zoekt's shape, with at most the wanted number of ranges.

use super::lines::FileLines;
use super::links::repository_id;
use super::names::NameRanges;
use super::request::SearchOptions;
use super::shape::{Bytes, ChunkMatch, FileMatch, LineFragment, LineMatch, Location, Range};
use crate::compat::FoundFile;
use frontend::query::zoekt::{ResultType, ZoektQuery};
use frontend::{Document, Match};
use std::sync::Arc;

#[derive(Default)]
pub(super) struct Writer {
    options: SearchOptions,
    names: NameRanges,
    pub(super) names_only: bool,
    ranges_left: usize,
    /// Written matches.
    pub(super) lines: u64,
    pub(super) ranges: u64,
    score: f64,
}

impl Writer {
    pub(super) fn new(zoekt: &ZoektQuery, options: &SearchOptions) -> Writer {
        Writer {
            options: options.clone(),
            names: NameRanges::of(&zoekt.parsed.query.expr),
            names_only: zoekt.results == ResultType::Names,
            ranges_left: options.matches_max.unwrap_or(usize::MAX),
            lines: 0,
            ranges: 0,
            score: f64::MAX,
        }
    }

    /// `None` once the ranges are used up.
    pub(super) fn file(&mut self, file: FoundFile) -> Option<LimitedFile> {
        let FoundFile { mut matches, .. } = file;
        let document = Arc::clone(&matches[0].document);
        let best = matches.iter().map(|found| f64::from(found.rank));
        self.score = best.fold(f64::MIN, f64::max).min(self.score);
        let mut head = self.head(&document);
        if self.names_only || matches[0].is_name() {
            if self.ranges_left == 0 {
                return None;
            }
            let mut ranges = self.names.find(&document.path);
            ranges.truncate(self.ranges_left);
            self.count(1, ranges.len());
            name_match(&document, &ranges, self.options.chunks, &mut head);
            matches.clear();
        } else {
            self.limit(&mut matches);
            if matches.is_empty() {
                return None;
            }
        }
        Some(LimitedFile {
            head,
            matches,
            chunks: self.options.chunks,
            context_lines: self.options.context_lines,
        })
    }

    fn head(&self, document: &Document) -> FileMatch {
        FileMatch {
            file_name: String::from_utf8_lossy(&document.path).into_owned(),
            repository: String::from_utf8_lossy(&document.package).into_owned(),
            version: document.revisions.commit.clone(),
            language: document.language.clone(),
            branches: document.revisions.names.clone(),
            checksum: Bytes(document.hash.clone()),
            score: self.score,
            repository_id: repository_id(&document.package),
            source: (document.package.clone(), document.path.clone()),
            ..FileMatch::default()
        }
    }

    fn limit(&mut self, matches: &mut Vec<Match>) {
        let mut keep = 0;
        for found in matches.iter_mut() {
            if self.ranges_left == 0 {
                break;
            }
            if found.ranges.is_empty() {
                found.ranges.push(0..found.text.len());
            }
            found.ranges.truncate(self.ranges_left);
            self.count(1, found.ranges.len());
            keep += 1;
        }
        matches.truncate(keep);
    }

    fn count(&mut self, lines: u64, ranges: usize) {
        self.ranges_left -= ranges;
        self.lines += lines;
        // Without chunks, zoekt counts lines.
        self.ranges += if self.options.chunks {
            ranges as u64
        } else {
            lines
        };
    }
}

/// A file within the limits, whose lines are not written yet.
pub(super) struct LimitedFile {
    pub(super) head: FileMatch,
    matches: Vec<Match>,
    chunks: bool,
    context_lines: u32,
}

impl LimitedFile {
    pub(super) fn write(self) -> FileMatch {
        let mut file = self.head;
        if self.matches.is_empty() {
            return file;
        }
        let lines = FileLines::new(&self.matches, self.context_lines);
        if self.chunks {
            file.chunk_matches = lines.chunks();
        } else {
            file.line_matches = lines.line_matches();
        }
        file
    }
}

/// One chunk or line with all ranges.
fn name_match(
    document: &Document,
    ranges: &[std::ops::Range<usize>],
    is_chunk: bool,
    to: &mut FileMatch,
) {
    let path = &document.path;
    if !is_chunk {
        let fragment = |range: &std::ops::Range<usize>| LineFragment {
            line_offset: range.start as u64,
            offset: range.start as u64,
            match_length: range.len() as u64,
            symbol_info: None,
        };
        to.line_matches.push(LineMatch {
            line: Bytes(path.clone()),
            file_name: true,
            line_fragments: ranges.iter().map(fragment).collect(),
            ..LineMatch::default()
        });
        return;
    }
    let location = |at: usize| Location {
        byte_offset: at as u64,
        line_number: 1,
        column: String::from_utf8_lossy(&path[..at]).chars().count() as u64 + 1,
    };
    let range = |range: &std::ops::Range<usize>| Range {
        start: location(range.start),
        end: location(range.end),
    };
    to.chunk_matches.push(ChunkMatch {
        content: Bytes(path.clone()),
        content_start: location(0),
        ranges: ranges.iter().map(range).collect(),
        file_name: true,
        ..ChunkMatch::default()
    });
}
