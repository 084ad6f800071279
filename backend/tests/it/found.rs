//! Searches shards, and decodes frames.

use backend::CompiledQuery;
use backend::search::{Cancel, Request, Sink, Stopped};
use index::shard::Shard;
use schema::frame::{self, Decoder, Frame, Kind};
use schema::message::{
    BatchReader, BatchView, ChangedLine, CommitChange, LineView, Progress, ResumePoint, Search,
    ShardEnd, TextOrder, TextReader, TextRun, Want,
};
use schema::order::document_hash;
use std::ops::Range;
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    /// 0 stands for the path.
    pub(crate) number: u32,
    pub(crate) lines: u32,
    pub(crate) rank: f32,
    pub(crate) offset: u64,
    pub(crate) text: Vec<u8>,
    /// Offset of `text`, and length of the whole line.
    pub(crate) start: u64,
    pub(crate) line_bytes: u64,
    /// Matched ranges; none for context.
    pub(crate) ranges: Vec<Range<usize>>,
    pub(crate) changed: Option<ChangedLine>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Batch {
    pub(crate) shard: u32,
    pub(crate) document: u32,
    pub(crate) package: Vec<u8>,
    pub(crate) path: Vec<u8>,
    pub(crate) hash: Vec<u8>,
    pub(crate) revisions: Vec<String>,
    pub(crate) revision_count: u32,
    pub(crate) commit: String,
    pub(crate) change: Option<Box<CommitChange>>,
    pub(crate) lines: Vec<Line>,
}

impl Batch {
    pub(crate) fn decode(payload: &[u8]) -> Batch {
        let reader = BatchReader::new(payload).unwrap();
        let view: BatchView<'_> = reader.view().unwrap();
        Batch {
            shard: view.shard,
            document: view.document,
            package: view.package.to_vec(),
            path: view.path.to_vec(),
            hash: view.hash.to_vec(),
            revisions: view.revisions().map(str::to_owned).collect(),
            revision_count: view.revision_count,
            commit: view.commit.to_owned(),
            change: view.change().map(Box::new),
            lines: view.lines().map(|line| Line::of(&line)).collect(),
        }
    }

    /// Package, path and text hash: a repository's path may have several texts.
    pub(crate) fn name(&self) -> (Vec<u8>, Vec<u8>, Vec<u8>) {
        (self.package.clone(), self.path.clone(), self.hash.clone())
    }

    pub(crate) fn matches(&self) -> impl Iterator<Item = &Line> {
        self.lines.iter().filter(|line| line.is_match())
    }
}

impl Line {
    fn of(line: &LineView<'_>) -> Line {
        let start = line.start as usize;
        let range = |range: schema::message::Range| {
            start + range.start as usize..start + range.end as usize
        };
        Line {
            number: line.number,
            lines: line.lines,
            rank: line.rank,
            offset: line.offset,
            text: line.text.to_vec(),
            start: line.start,
            line_bytes: line.line_bytes,
            ranges: line.ranges().map(range).collect(),
            changed: line.changed,
        }
    }

    pub(crate) fn is_match(&self) -> bool {
        !self.ranges.is_empty()
    }
}

#[derive(Debug, PartialEq)]
pub(crate) struct Found {
    pub(crate) frames: Vec<u8>,
    pub(crate) ends: Vec<ShardEnd>,
}

pub(crate) enum Matches {
    Batch(Batch),
    Text(Text),
}

#[derive(Debug)]
pub(crate) struct Text {
    pub(crate) shard: u32,
    pub(crate) document: u32,
    /// [`document_hash`] of its names.
    pub(crate) hash: u64,
    pub(crate) numbers: Vec<u32>,
    pub(crate) runs: Vec<(TextRun, Vec<u8>)>,
}

impl Matches {
    pub(crate) fn decode(frame: &Frame<'_>) -> Matches {
        if frame.kind == Kind::Batch {
            return Matches::Batch(Batch::decode(frame.payload));
        }
        assert_eq!(frame.kind, Kind::Text);
        let reader = TextReader::new(frame.payload).unwrap();
        let view = reader.view().unwrap();
        let mut rest = view.text;
        let run = |run: TextRun| {
            let text = rest.split_off(..run.text_bytes as usize).unwrap();
            (run, text.to_vec())
        };
        Matches::Text(Text {
            shard: view.shard,
            document: view.document,
            hash: document_hash(
                view.package,
                view.path,
                view.is_revision.then_some(view.hash),
            ),
            numbers: view.numbers().collect(),
            runs: view.runs().map(run).collect(),
        })
    }

    pub(crate) fn shard(&self) -> u32 {
        match self {
            Matches::Batch(batch) => batch.shard,
            Matches::Text(text) => text.shard,
        }
    }

    pub(crate) fn keys(&self) -> Vec<(u32, u32)> {
        match self {
            Matches::Batch(batch) => {
                let matches = batch.matches();
                matches.map(|line| (batch.document, line.number)).collect()
            }
            Matches::Text(text) => {
                let numbers = text.numbers.iter();
                numbers.map(|&number| (text.document, number)).collect()
            }
        }
    }

    fn best_rank(&self) -> f32 {
        match self {
            Matches::Batch(batch) => batch.matches().map(|line| line.rank).fold(0.0, f32::max),
            Matches::Text(text) => {
                let ranks = text.runs.iter().map(|(run, _)| run.rank);
                ranks.fold(0.0, f32::max)
            }
        }
    }
}

impl Found {
    pub(crate) fn batches(&self) -> Vec<Batch> {
        let batches = self.matches().into_iter();
        let batches = batches.map(|frame| match frame {
            Matches::Batch(batch) => batch,
            Matches::Text(text) => panic!("{text:?}"),
        });
        batches.collect()
    }

    pub(crate) fn matches(&self) -> Vec<Matches> {
        let mut decoder = Decoder::new();
        let mut batches = Vec::new();
        let mut rest = &self.frames[..];
        while !rest.is_empty() {
            let space = decoder.space();
            let bytes = space.len().min(rest.len());
            space[..bytes].copy_from_slice(&rest[..bytes]);
            decoder.filled(bytes);
            rest = &rest[bytes..];
            while let Some(frame) = decoder.decode().unwrap() {
                if frame.kind != Kind::Skip {
                    batches.push(Matches::decode(&frame));
                }
            }
        }
        decoder.finish().unwrap();
        batches
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct How {
    pub(crate) workers: usize,
    pub(crate) context_lines: u32,
    pub(crate) want: Want,
    pub(crate) limit: u64,
    pub(crate) first_range: bool,
    pub(crate) text: TextOrder,
}

impl How {
    /// All matches, one worker.
    pub(crate) fn all(context_lines: u32) -> How {
        How {
            workers: 1,
            context_lines,
            want: Want::Matches,
            limit: 0,
            first_range: false,
            text: TextOrder::None,
        }
    }

    fn search(self) -> Search {
        Search {
            want: self.want,
            limit: self.limit,
            context_lines: self.context_lines,
            first_range: self.first_range,
            text: self.text,
            ..Search::default()
        }
    }
}

pub(crate) fn find(shards: &[Arc<Shard>], compiled: &CompiledQuery, how: How) -> Found {
    find_rest(shards, compiled, how, &[])
}

/// Searches from these points on.
pub(crate) fn find_rest(
    shards: &[Arc<Shard>],
    compiled: &CompiledQuery,
    how: How,
    resume: &[ResumePoint],
) -> Found {
    let cancel = Cancel::default();
    let search = Search {
        resume: resume.to_vec(),
        ..how.search()
    };
    let request = Request {
        shards,
        query: compiled,
        search: &search,
        workers: how.workers,
        cancel: &cancel,
    };
    let plan = request.plan(true).expect("not cancelled");
    let mut sink = Collect {
        frames: Vec::new(),
        last: plan.progress,
    };
    let ends = request.run(plan, &mut sink).expect("not cancelled");
    let sent: u64 = ends.iter().map(|end| end.matches).sum();
    let before: u64 = resume.iter().map(|point| point.matches).sum();
    assert_eq!(sink.last.matches, sent - before);
    assert_eq!(sink.last.blocks_done, sink.last.blocks_total);
    let documents: u64 = ends.iter().map(|end| end.documents).sum();
    assert_eq!(sink.last.documents, documents);
    Found {
        frames: sink.frames,
        ends,
    }
}

/// Searches best first, if possible: for matches, or for documents with up to `per_document`.
pub(crate) fn find_best_first(
    shards: &[Arc<Shard>],
    compiled: &CompiledQuery,
    how: How,
    per_document: u32,
) -> Option<Found> {
    let cancel = Cancel::default();
    let search = Search {
        per_document,
        ..how.search()
    };
    let request = Request {
        shards,
        query: compiled,
        search: &search,
        workers: how.workers,
        cancel: &cancel,
    };
    let mut frames = Frames::default();
    let ends = request
        .run_best_first(&mut frames)
        .expect("not cancelled")?;
    let sent: u64 = ends.iter().map(|end| end.matches).sum();
    assert_eq!(frames.matches, sent);
    Some(Found {
        frames: frames.bytes,
        ends,
    })
}

#[derive(Default)]
struct Frames {
    bytes: Vec<u8>,
    matches: u64,
}

impl Sink for Frames {
    fn frames(&mut self, frames: Vec<u8>, after: &Progress) -> Result<(), Stopped> {
        self.bytes.extend(frames);
        self.matches = after.matches;
        Ok(())
    }
}

/// Collects frames, and checks the progress before them.
struct Collect {
    frames: Vec<u8>,
    last: Progress,
}

impl Sink for Collect {
    fn frames(&mut self, frames: Vec<u8>, after: &Progress) -> Result<(), Stopped> {
        let (mut rest, mut matches) = (&frames[..], self.last.matches);
        while let Some(frame) = frame::decode(rest).unwrap() {
            rest = &rest[frame.bytes..];
            if frame.kind == Kind::Skip {
                continue;
            }
            let found = Matches::decode(&frame);
            matches += found.keys().len() as u64;
            let (best, bound) = (found.best_rank(), self.last.bound);
            assert!(best <= bound, "{best} above {bound}");
        }
        assert!(rest.is_empty(), "frames are whole");
        assert_eq!(after.matches, matches);
        assert_eq!(after.blocks_total, self.last.blocks_total);
        self.last = *after;
        self.frames.extend(frames);
        Ok(())
    }
}
