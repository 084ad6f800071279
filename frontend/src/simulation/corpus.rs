//! Simulated corpus: documents with matches, and their frames.

use super::random::Random;
use crate::execution::memory::CHUNK_LEN;
use results::{ContextLine, Match, ShardId};
use schema::message::{Batch, DocumentKind, Line, Range};
use schema::order::{RankKey, path_hash};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub(super) const CONTEXT_LINES: u32 = 1;

/// Needs a second chunk or spills.
const LARGE_LEN: u32 = CHUNK_LEN as u32 + 1000;

const FOUND: std::ops::Range<u32> = 0..6;

/// Packages and directories. Equal names in the first two collide in the path hash.
const HOMES: [(&str, &str); 4] = [("p/q", ""), ("p", "q/"), ("p", ""), ("r", "src/")];

const SHORT_NAMES: [&str; 4] = ["a.c", "b.c", "c.c", "d.c"];

const SHARED_TEXTS: usize = 10;

#[derive(Clone, Copy)]
pub(super) struct Habits {
    /// Documents with equal text may have different matches.
    pub(super) depends: bool,
    /// Many documents, and therefore copies.
    pub(super) copies: bool,
}

pub(super) type Used = BTreeSet<(&'static str, Vec<u8>)>;

pub(super) struct Shard {
    pub(super) id: ShardId,
    pub(super) documents: Vec<Document>,
}

pub(super) struct Document {
    pub(super) number: u32,
    names: Arc<results::Document>,
    lines: Vec<Vec<u8>>,
    pub(super) matches: Vec<(u32, f32)>,
}

impl Shard {
    pub(super) fn new(
        random: &mut Random,
        used: &mut Used,
        (stream, shard): (usize, usize),
        large: bool,
        habits: Habits,
    ) -> Shard {
        let (mut number, mut documents) = (0, Vec::new());
        let most = if habits.copies { 20 } else { 4 };
        for index in 0..random.below(most) + usize::from(large) {
            number += 1 + random.below(3) as u32;
            let name = format!("{stream}-{shard}-{number}.c");
            documents.push(Document::new(
                random,
                used,
                number,
                &name,
                large && index == 0,
                habits,
            ));
        }
        Shard {
            id: [(stream * 16 + shard) as u8; 32],
            documents,
        }
    }
}

impl Document {
    fn new(
        random: &mut Random,
        used: &mut Used,
        number: u32,
        name: &str,
        large: bool,
        habits: Habits,
    ) -> Document {
        let (package, directory) = random.pick(&HOMES);
        let path = |name: &str| format!("{directory}{name}").into_bytes();
        // Names are unique, but some share a path hash.
        let short = path(SHORT_NAMES[random.below(SHORT_NAMES.len())]);
        let is_free = used.insert((package, short.clone()));
        let is_copy = !large && random.one_in(2);
        let (text, count) = if is_copy {
            let text = random.below(SHARED_TEXTS);
            (format!("text {text}"), 3 + text as u32)
        } else if large {
            (name.to_owned(), LARGE_LEN)
        } else {
            (name.to_owned(), 1 + random.below(12) as u32)
        };
        let mut hash = text.clone().into_bytes();
        hash.resize(32, 0);
        let names = results::Document {
            revisions: results::DocumentRevisions::default(),
            package: package.into(),
            path: if is_free { short } else { path(name) },
            language: random.pick(&["C", "", "Rust"]).to_owned(),
            hash,
            change: None,
        };
        // Many documents share a score.
        let document_rank = random.below(4) as f32 - 1.0;
        let (mut lines, mut matches) = (Vec::new(), Vec::new());
        for line in 1..=count {
            let is_match = if is_copy {
                line % 3 == 1 && !(habits.depends && line > 1 && random.one_in(2))
            } else {
                large || line == 1 || random.one_in(2)
            };
            let is_needle = is_match || is_copy;
            let word = if is_needle { "needle " } else { "" };
            lines.push(format!("{word}{line} of {text}").into_bytes());
            if is_match {
                let level = if is_copy {
                    line * 5 % 3
                } else {
                    random.below(3) as u32
                };
                matches.push((line, document_rank + level as f32));
            }
        }
        Document {
            number,
            names: Arc::new(names),
            lines,
            matches,
        }
    }

    pub(super) fn package(&self) -> &[u8] {
        &self.names.package
    }

    pub(super) fn path(&self) -> &[u8] {
        &self.names.path
    }

    pub(super) fn language(&self) -> &str {
        &self.names.language
    }

    pub(super) fn shown(&self) -> impl Iterator<Item = Match> {
        let context = |line: u32| {
            let text = self.lines.get((line as usize).checked_sub(1)?)?.clone();
            let window = None;
            Some(ContextLine { line, text, window })
        };
        self.matches.iter().map(move |&(line, rank)| Match {
            document: Arc::clone(&self.names),
            line,
            lines: 1,
            text: self.lines[line as usize - 1].clone(),
            ranges: vec![FOUND.start as usize..FOUND.end as usize],
            before: context(line - 1).into_iter().collect(),
            after: context(line + 1).into_iter().collect(),
            rank,
            offset: self.offset(line),
            window: None,
            kinds: 0,
            copies: None,
            changed: None,
        })
    }

    fn offset(&self, line: u32) -> u64 {
        let before = &self.lines[..line as usize - 1];
        // Approximate, since summing a large document's lines for each match takes too long.
        match before.len() {
            0..1000 => before.iter().map(|line| line.len() as u64 + 1).sum(),
            lines => 100 * lines as u64,
        }
    }

    pub(super) fn batch(&self, shard: u32, matches: &[(u32, f32)]) -> Vec<u8> {
        let (mut text, mut lines, mut ranges) = (Vec::new(), Vec::new(), Vec::new());
        let mut matches = matches.iter().peekable();
        let (first, last) = (matches.peek().unwrap().0, self.lines.len() as u32);
        let mut number = first.saturating_sub(CONTEXT_LINES).max(1);
        let mut until = 0;
        while number <= last && (number <= until || matches.peek().is_some()) {
            let found = matches.next_if(|(line, _)| *line == number);
            if found.is_some() {
                until = number + CONTEXT_LINES;
                ranges.push(Range {
                    start: FOUND.start,
                    end: FOUND.end,
                });
            }
            let next = matches.peek().map_or(u32::MAX, |(line, _)| *line);
            if number <= until || number + CONTEXT_LINES >= next {
                let bytes = &self.lines[number as usize - 1];
                text.extend_from_slice(bytes);
                lines.push(Line {
                    number,
                    rank: found.map_or(0.0, |(_, rank)| *rank),
                    offset: self.offset(number),
                    text_bytes: bytes.len() as u32,
                    ranges: u32::from(found.is_some()),
                });
            }
            number += 1;
        }
        let batch = Batch {
            shard,
            document: self.number,
            package: self.package(),
            path: self.path(),
            language: self.language(),
            kind: DocumentKind::ALL[self.number as usize % DocumentKind::ALL.len()],
            hash: &self.names.hash,
            text: &text,
            lines: &lines,
            ranges: &ranges,
            windows: &[],
            spans: &[],
            revisions: &[],
            revision_count: 0,
            commit: "",
            kinds: &[],
            change: None,
            changed_lines: &[],
        };
        let mut frame = Vec::new();
        batch.encode(&mut frame).unwrap();
        frame
    }
}

pub(super) struct Copies {
    pub(super) copies: u64,
    pub(super) is_folded: bool,
}

pub(super) fn copies(matches: &[Match]) -> BTreeMap<(&[u8], &[u8]), Copies> {
    let mut documents: BTreeMap<(&[u8], &[u8]), Vec<&Match>> = BTreeMap::new();
    for each in matches {
        let name = (&each.document.package[..], &each.document.path[..]);
        documents.entry(name).or_default().push(each);
    }
    let text = |found: &[&Match]| {
        let lines: BTreeSet<u32> = found.iter().map(|each| each.line).collect();
        (found[0].document.hash.clone(), lines)
    };
    let place = |found: &[&Match]| (RankKey::of(found[0].rank).score, hash(found[0]));
    let mut texts: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for found in documents.values() {
        texts.entry(text(found)).or_default().push(place(found));
    }
    let mut all = BTreeMap::new();
    for (name, found) in &documents {
        let places = &texts[&text(found)];
        let best = places.iter().min();
        let all_tie = places.iter().all(|each| Some(each) == best);
        let copies = Copies {
            copies: if all_tie { 0 } else { places.len() as u64 - 1 },
            is_folded: Some(&place(found)) != best,
        };
        all.insert(*name, copies);
    }
    all
}

/// Order of the top matches: colliding documents are ordered only at the end.
pub(super) fn places(matches: &[Match]) -> Vec<(u16, u64)> {
    // Ranks with one score differ only where names with one hash differ.
    let place = |each: &Match| (RankKey::of(each.rank).score, hash(each));
    matches.iter().map(place).collect()
}

fn hash(shown: &Match) -> u64 {
    path_hash(&shown.document.package, &shown.document.path)
}

pub(super) fn order(a: &Match, b: &Match) -> Ordering {
    let name = |each: &Match| (each.document.package.clone(), each.document.path.clone());
    let (key, other) = (RankKey::of(a.rank), RankKey::of(b.rank));
    (key.score.cmp(&other.score))
        .then_with(|| hash(a).cmp(&hash(b)))
        .then_with(|| name(a).cmp(&name(b)))
        .then_with(|| key.place.cmp(&other.place))
        .then_with(|| a.line.cmp(&b.line))
}
