//! Packs the matches of one document as text, or in batches.
//!
//! Workers render lines. Adjacent lines in the total order form a run, so a frontend sorts and
//! copies runs without reading lines.
//!
//! **Invariant:** no other match comes between two lines of a run. If one frame has all matches of
//! the document, a run has all lines of one score; otherwise of one rank, since lines of another
//! frame may come between two ranks.

use super::batch::{BatchBuffers, BatchPacker, LINE_BYTES_MAX, Match, Packed};
use index::shard::ShardError;
use schema::line_text::LineText;
use schema::message::{TextBatch, TextOrder, TextParts, TextRun};
use schema::order::RankKey;

/// Larger frames would hold more whole documents, but readers hold a run in memory.
const TEXT_BYTES: usize = 128 << 10;

/// Numbers and runs take up to 20 bytes a line.
const TEXT_LINES: usize = 8 << 10;

/// Growth of text by repeated names. Beyond it, the rest is sent in batches.
const GROWTH_MAX: usize = 8;

/// Bytes exempt from the growth limit.
const SMALL_BYTES: usize = 16 << 10;

pub(crate) struct Packer<'a> {
    /// Packs matches not sent as text.
    batches: BatchPacker<'a>,
    /// `None` sends all matches in batches.
    text: Option<TextBuffers>,
    order: TextOrder,
    /// True if the next frame has all matches of the document.
    is_whole: bool,
    /// Bytes of the lines, and of their text.
    line_bytes: usize,
    text_bytes: usize,
}

/// Empty between documents, only memory is reused.
#[derive(Default)]
pub(crate) struct PackBuffers {
    pub(crate) batches: BatchBuffers,
    /// Set by the first match in a search for text.
    pub(crate) text: Option<TextBuffers>,
}

/// Lines of the next frame.
#[derive(Default)]
pub(crate) struct TextBuffers {
    write: LineText,
    /// In document order.
    text: Vec<u8>,
    lines: Vec<TextLine>,
    numbers: Vec<u32>,
    runs: Vec<TextRun>,
    parts: Vec<(u32, u32)>,
}

#[derive(Clone, Copy)]
struct TextLine {
    key: RankKey,
    number: u32,
    part: (u32, u32),
}

impl<'a> Packer<'a> {
    /// `batches` takes other matches. `is_whole`: the packer gets all matches of the document.
    pub(crate) fn new(
        (batches, text): (BatchPacker<'a>, Option<TextBuffers>),
        order: TextOrder,
        is_whole: bool,
    ) -> Self {
        let text = (order != TextOrder::None).then(|| {
            let mut text = text.unwrap_or_default();
            text.write.begin(batches.package, batches.document.path);
            text
        });
        Packer {
            is_whole: is_whole && batches.options.first_line == 0,
            batches,
            text,
            order,
            line_bytes: 0,
            text_bytes: 0,
        }
    }

    pub(crate) fn push(&mut self, found: &Match<'_>, out: &mut Packed) -> Result<(), ShardError> {
        let Some(buffers) = &self.text else {
            return self.batches.push(found, out);
        };
        let (position, line) = (found.position, found.line);
        let is_full = buffers.text.len() > TEXT_BYTES || buffers.numbers.len() >= TEXT_LINES;
        let body = line.strip_suffix(b"\n").unwrap_or(line);
        if self.text_bytes > SMALL_BYTES + GROWTH_MAX * self.line_bytes {
            self.is_whole = false;
            self.encode(out);
            return self.batches.push(found, out);
        }
        if position.lines > 1 || body.len() > LINE_BYTES_MAX {
            self.is_whole = false;
            self.encode(out);
            self.batches.push(found, out)?;
            self.batches.encode(&mut out.frames);
            return Ok(());
        }
        self.batches.check(position)?;
        if position.number < self.batches.options.first_line {
            return Ok(());
        }
        if is_full {
            self.is_whole = false;
            self.encode(out);
        }
        let buffers = self.text.as_mut().expect("matches are sent as text");
        let start = buffers.text.len() as u32;
        let number = position.number;
        buffers.write.push(number, body, &mut buffers.text);
        self.line_bytes += line.len();
        self.text_bytes += buffers.text.len() - start as usize;
        buffers.numbers.push(number);
        if self.order == TextOrder::Ranked {
            buffers.lines.push(TextLine {
                key: RankKey::of(found.rank),
                number,
                part: (start, buffers.text.len() as u32),
            });
        }
        out.keys.push((self.batches.document.id, position.number));
        Ok(())
    }

    pub(crate) fn push_name(&mut self, rank: f32, ranges: &[(usize, usize)], out: &mut Packed) {
        self.batches.push_name(rank, ranges, out);
    }

    /// Encodes the rest, and returns the empty buffers.
    pub(crate) fn finish(mut self, out: &mut Packed) -> Result<PackBuffers, ShardError> {
        self.encode(out);
        Ok(PackBuffers {
            batches: self.batches.finish(out)?,
            text: self.text,
        })
    }

    fn encode(&mut self, out: &mut Packed) {
        let batches = &mut self.batches;
        let Some(buffers) = self.text.as_mut().filter(|text| !text.numbers.is_empty()) else {
            return;
        };
        match self.order {
            TextOrder::Ranked => buffers.run_by_rank(self.is_whole),
            TextOrder::Found | TextOrder::None => buffers.run_all(),
        }
        let batch = TextBatch {
            shard: batches.shard_index,
            document: batches.document.id.0,
            package: batches.package,
            path: batches.document.path,
            hash: batches.document.hash,
            is_revision: batches.revisions.count > 0,
            numbers: &buffers.numbers,
            runs: &buffers.runs,
            text: TextParts {
                buffer: &buffers.text,
                parts: &buffers.parts,
            },
        };
        let encoded = batch.encode(&mut out.frames);
        encoded.expect("a batch of text is smaller than a frame");
        buffers.text.clear();
        buffers.lines.clear();
        buffers.numbers.clear();
        buffers.runs.clear();
        buffers.parts.clear();
    }
}

impl TextBuffers {
    fn run_all(&mut self) {
        self.parts.push((0, self.text.len() as u32));
        self.runs.push(TextRun {
            rank: 0.0,
            number: self.numbers[0],
            lines: self.numbers.len() as u32,
            text_bytes: self.text.len() as u32,
        });
    }

    /// A run per rank or, if `by_score`, per score.
    fn run_by_rank(&mut self, by_score: bool) {
        // Lines of one rank keep their order.
        self.lines.sort_by_key(|line| line.key);
        let is_one = |a: &TextLine, b: &TextLine| {
            a.key.score == b.key.score && (by_score || a.key.place == b.key.place)
        };
        for run in self.lines.chunk_by(is_one) {
            let bytes = run.iter().map(|line| line.part.1 - line.part.0);
            self.runs.push(TextRun {
                rank: run[0].key.rank(),
                number: run[0].number,
                lines: run.len() as u32,
                text_bytes: bytes.sum(),
            });
            for neighbours in run.chunk_by(|a, b| a.part.1 == b.part.0) {
                let last = &neighbours[neighbours.len() - 1];
                self.parts.push((neighbours[0].part.0, last.part.1));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::order;

    fn buffers(lines: &[(f32, f32)]) -> TextBuffers {
        let mut buffers = TextBuffers::default();
        for (index, &(score, place)) in (0..).zip(lines) {
            buffers.lines.push(TextLine {
                key: RankKey::of(order::rank(score, place)),
                number: 10 + index,
                part: (index * 2, index * 2 + 2),
            });
        }
        buffers
    }

    fn check(by_score: bool, runs: &[(u32, u32, u32)]) {
        let lines = [(1.0, 0.5), (1.0, 0.5), (1.5, 0.0), (1.0, 1.0), (1.0, 0.5)];
        let mut buffers = buffers(&lines);
        buffers.run_by_rank(by_score);
        let found = buffers.runs.iter();
        let found: Vec<_> = found
            .map(|run| (run.number, run.lines, run.text_bytes))
            .collect();
        assert_eq!(found, runs);
        assert_eq!(buffers.parts, [(4, 6), (6, 8), (0, 4), (8, 10)]);
    }

    #[test]
    fn a_run_has_the_lines_of_one_rank_or_of_one_score() {
        check(false, &[(12, 1, 2), (13, 1, 2), (10, 3, 6)]);
        check(true, &[(12, 1, 2), (13, 4, 8)]);
    }
}
