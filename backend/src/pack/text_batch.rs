//! Packs the matches of one document as text.
//!
//! Workers render lines. Adjacent lines in the total order form a run, so a frontend sorts and
//! copies runs without reading lines.
//!
//! **Invariant:** no other match comes between two lines of a run. If one frame has all matches of
//! the document, a run has all lines of one score; otherwise of one rank, since lines of another
//! frame may come between two ranks.

use super::{LINE_BYTES_MAX, Match, Packed, Packer, TextBuffers, TextLine};
use index::shard::ShardError;
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

impl Packer<'_> {
    pub(super) fn push_as_text(
        &mut self,
        found: &Match<'_>,
        out: &mut Packed,
    ) -> Result<(), ShardError> {
        let (position, line) = (found.position, found.line);
        let body = line.strip_suffix(b"\n").unwrap_or(line);
        if self.text_bytes > SMALL_BYTES + GROWTH_MAX * self.line_bytes {
            self.encode_part(out);
            return self.push_to_batch(found, out);
        }
        if position.lines > 1 || body.len() > LINE_BYTES_MAX {
            self.encode_part(out);
            self.push_to_batch(found, out)?;
            self.encode(&mut out.frames);
            return Ok(());
        }
        self.check(position)?;
        if position.number < self.first_line {
            return Ok(());
        }
        if (self.buffers.as_text.as_ref()).is_some_and(TextBuffers::is_full) {
            self.encode_part(out);
        }
        let buffers = self.buffers.as_text.get_or_insert_default();
        let start = buffers.text.len() as u32;
        let number = position.number;
        buffers.write.push(number, body, &mut buffers.text);
        self.line_bytes += line.len();
        self.text_bytes += buffers.text.len() - start as usize;
        buffers.numbers.push(number);
        if self.search.text == TextOrder::Ranked {
            buffers.lines.push(TextLine {
                key: RankKey::of(found.rank),
                number,
                part: (start, buffers.text.len() as u32),
            });
        }
        out.keys.push((self.document.id, position.number));
        Ok(())
    }

    /// Encodes lines of a document that has others.
    fn encode_part(&mut self, out: &mut Packed) {
        self.is_whole = false;
        self.encode_text(out);
    }

    pub(super) fn encode_text(&mut self, out: &mut Packed) {
        let buffers = self.buffers.as_text.as_mut();
        let Some(buffers) = buffers.filter(|text| !text.numbers.is_empty()) else {
            return;
        };
        match self.search.text {
            TextOrder::Ranked => buffers.run_by_rank(self.is_whole),
            TextOrder::Found | TextOrder::None => buffers.run_all(),
        }
        let batch = TextBatch {
            shard: self.shard_index,
            document: self.document.id.0,
            package: self.package,
            path: self.document.path,
            hash: self.document.hash,
            is_revision: self.revisions.count > 0,
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
    fn is_full(&self) -> bool {
        self.text.len() > TEXT_BYTES || self.numbers.len() >= TEXT_LINES
    }

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
